package promptdb_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// TestCountTags: within a minute the catalog tells how many public prompts there are, and how many
// of each tag: no private, hidden or deleted one.
func TestCountTags(t *testing.T) {
	w := newWorldOn(t, memory.NewShortPages(2))
	counts := func() (all, text, data int) {
		t.Helper()
		_, err := w.CountTags(t.Context())
		require.NoError(t, err)
		w.clock.Advance(time.Minute) // the caches of instances have ended
		c, err := w.Catalog(t.Context())
		require.NoError(t, err)
		for _, info := range c.Tags {
			switch info.Tag {
			case "text":
				text = info.Prompts
			case "data":
				data = info.Prompts
			default:
				require.Zero(t, info.Prompts, info.Tag)
			}
		}
		return c.Prompts, text, data
	}
	all, _, _ := counts()
	require.Zero(t, all)
	var ps []prompt.Prompt
	for i := range 40 {
		tags := []prompt.Tag{"text", "data"}[:i%3]
		if i == 20 {
			w.clock.Advance(40 * 24 * time.Hour)
		}
		ps = append(ps, w.add("ann", draft(numbered(i), tags...)))
	}
	private := draft("private", "text")
	private.Visibility = prompt.Private
	w.add("ann", private)
	all, text, data := counts()
	require.Equal(t, []int{40, 26, 13}, []int{all, text, data})
	for how := range 3 {
		w.goes(ps[2+3*how], how) // with both tags
	}
	all, text, data = counts()
	require.Equal(t, []int{37, 23, 10}, []int{all, text, data})
}

// TestCountsRest: a count that takes long is not begun again for four times as long.
func TestCountsRest(t *testing.T) {
	store := &slowLists{DB: memory.NewTables()}
	w := newWorldOn(t, store)
	w.add("ann", draft("One"))
	store.list = func() { w.clock.Advance(30 * time.Second) }
	n, err := w.CountTags(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, n)
	w.clock.Advance(time.Minute)
	n, err = w.CountTags(t.Context())
	require.NoError(t, err)
	require.Zero(t, n, "two minutes of rest are not over")
	w.clock.Advance(time.Minute)
	n, err = w.CountTags(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, n)
}

// slowLists does something at each list.
type slowLists struct {
	table.DB
	list func()
}

func (s *slowLists) List(ctx context.Context, name string, r table.Range, limit int, next string) (table.Page, error) {
	if s.list != nil {
		s.list()
	}
	return s.DB.List(ctx, name, r, limit, next)
}
