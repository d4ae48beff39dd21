package promptdb_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
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

// TestCountAuthors: the catalog tells who has shared the most prompts, called as in the newest, and
// how many authors there are. Erasing one leaves no trace of them.
func TestCountAuthors(t *testing.T) {
	w := newWorldOn(t, memory.NewShortPages(2))
	ctx := t.Context()
	for i := range promptdb.MaxAuthorsKept + 3 {
		for n := range 1 + i%5 {
			w.add(prompt.UserID(fmt.Sprintf("u%02d", i)), draft(numbered(10*i+n)))
		}
	}
	w.clock.Advance(40 * 24 * time.Hour)
	renamed := draft("Renamed")
	p := w.add(leaver, renamed)
	for range 6 {
		w.add(leaver, draft("Renamed"))
	}
	private := draft("Private")
	private.Visibility = prompt.Private
	w.add("secretive", private)
	counted := func() promptdb.Catalog {
		t.Helper()
		w.clock.Advance(time.Minute)
		_, err := w.CountTags(ctx)
		require.NoError(t, err)
		c, err := w.Catalog(ctx)
		require.NoError(t, err)
		return c
	}
	c := counted()
	require.Equal(t, promptdb.MaxAuthorsKept+4, c.Authors)
	require.Len(t, c.Prolific, promptdb.MaxAuthorsKept)
	require.Equal(t, promptdb.AuthorCount{ID: leaver, Name: p.AuthorName, Prompts: 7}, c.Prolific[0])
	require.Equal(t, promptdb.AuthorCount{ID: "u04", Name: c.Prolific[1].Name, Prompts: 5}, c.Prolific[1])
	require.True(t, slices.IsSortedFunc(c.Prolific, func(a, b promptdb.AuthorCount) int {
		return b.Prompts - a.Prompts
	}))

	w.eraseToday(leaver)
	require.Empty(t, w.traces(leaver))
	c = counted()
	require.NotContains(t, c.Prolific, leaver)
	require.Equal(t, promptdb.MaxAuthorsKept+3, c.Authors)
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
