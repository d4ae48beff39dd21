package promptdb_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// silent is a store whose writes to Prompts get no answer in time, and do nothing.
type silent struct {
	table.DB
	clock *clock
	is    bool
}

func (s *silent) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	if s.is && name == "Prompts" {
		s.clock.Advance(5 * time.Second) // as long as a call is waited for
		return nil, context.DeadlineExceeded
	}
	return s.DB.Write(ctx, name, ops...)
}

// TestSlowStorageIsNoOtherWriter: if the storage is slow, a caller is told so, and not that
// another change of the prompt is under way.
func TestSlowStorageIsNoOtherWriter(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, memory.NewTables())
	store := &silent{DB: w.store, clock: w.clock}
	db := w.over(store)
	p := w.made("ann", draft("One"))
	_, _, err := db.Add(t.Context(), p, nil)
	require.NoError(t, err)
	store.is = true
	_, _, err = db.Add(t.Context(), w.made("ann", draft("Two")), nil)
	require.Equal(t, fault.Unavailable, fault.Of(err))
	require.ErrorContains(t, err, "the storage does not answer")
	_, err = db.Change(t.Context(), "ann", p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
		p.Title = "Another"
		p.Revision++
		return p, nil
	})
	require.Equal(t, fault.Unavailable, fault.Of(err))
	require.ErrorContains(t, err, "the storage does not answer")
}
