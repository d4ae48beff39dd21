package meet_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/host/function"
	"prompthub/internal/storage/table"
)

// TestSettlersLook: a message comes again if a settler looked before the last write could have
// landed, also if the rest of its job looked after that.
func TestSettlersLook(t *testing.T) {
	w := newWorld(t)
	id := w.register("anna").Me.ID
	ctx := t.Context()
	text, _ := json.Marshal(map[string]any{
		"kind": meet.KindUser, "id": id,
		"until": w.Outbox().Landed(w.Outbox().Begin(ctx)),
	})
	w.clock.Pass(74 * time.Second) // a delivery a second before the last write can land
	saw := true
	s := meet.Settler{Kind: meet.KindUser, Settle: func(ctx context.Context, _ function.Invocation) (err error) {
		saw, err = w.Left(ctx, id) // as events.settleUser does
		require.NoError(t, err)
		// the deletion lands, in time
		require.NoError(t, w.Write(ctx, w.Tables.Users, []table.Op{{Kind: table.Merge, Row: table.Row{
			Key: account.UserKey(id), ETag: table.Any,
			Props: table.Props{{Name: "DeletedAt", Value: table.Time(w.clock.Now())}},
		}}}))
		w.clock.Pass(2 * time.Second) // the settler works on
		return nil
	}}
	before, err := w.queues.Len(ctx, meet.QueueLists)
	require.NoError(t, err)
	require.NoError(t, w.Triggers(s)[0].Run(ctx, function.Invocation{Text: string(text)}))
	left, err := w.Left(ctx, id)
	require.NoError(t, err)
	require.True(t, left)
	require.False(t, saw)
	after, err := w.queues.Len(ctx, meet.QueueLists)
	require.NoError(t, err)
	require.Greater(t, after, before, "the settler has not seen the deletion, and no message comes again")
}

// TestUnknownMessage: a message of a newer version waits for one, and is not taken for done.
func TestUnknownMessage(t *testing.T) {
	w := newWorld(t)
	require.Error(t, w.Triggers()[0].Run(t.Context(), function.Invocation{Text: `{"kind":"newer"}`}))
}
