package promptdb_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// TestLaterMonthsAreListed: a backup of a machine whose clock was wrong has ids of months to come.
func TestLaterMonthsAreListed(t *testing.T) {
	w := newWorld(t)
	w.add("ann", draft("of last year", "text"))
	w.clock.Advance(300 * 24 * time.Hour)
	w.add("ann", draft("of today", "text"))
	for range 3 {
		w.clock.Advance(60 * 24 * time.Hour)
		w.add("ann", draft("of "+w.clock.Now().Format(time.DateOnly), "text"))
	}
	w.run()
	w.clock.Advance(-180 * 24 * time.Hour)
	want := []string{"of 2027-07-24", "of 2027-05-25", "of 2027-03-26", "of today", "of last year"}
	other := w.another()
	for _, limit := range []int{1, 2, 3, 10} {
		require.Equal(t, want, w.titles(limit, func(after string) (promptdb.Page, error) {
			return other.Newest(t.Context(), after, limit)
		}))
		require.Equal(t, want, w.newest(limit), "by the instance that listed them")
	}
}

// TestEarlierMonthIsListedAtOnce: an author who publishes a prompt older than all public ones sees
// it in the list at once, though the instance had read a moment ago where the list ends.
func TestEarlierMonthIsListedAtOnce(t *testing.T) {
	for name, begin := range map[string]func(testing.TB) *world{"apart": newWorld, "together": newWholeWorld} {
		t.Run(name, func(t *testing.T) { earlierMonth(t, begin(t)) })
	}
}

func earlierMonth(t *testing.T, w *world) {
	old := w.made("ann", prompt.Draft{Title: "old", Text: "text", Visibility: prompt.Private})
	_, _, err := w.Add(t.Context(), old, nil)
	require.NoError(t, err)
	w.clock.Advance(300 * 24 * time.Hour)
	w.add("ann", draft("new"))
	require.Equal(t, []string{"new"}, w.newest(10))
	w.edit("ann", old.ID, func(p *prompt.Prompt) { p.Visibility = prompt.Public })
	require.Equal(t, []string{"new", "old"}, w.newest(10))
}

// TestCursorBehindAllPrompts: a cursor is no secret, so anybody can make one that lies in the year
// 9999.
func TestCursorBehindAllPrompts(t *testing.T) {
	store := &counted{DB: memory.NewTables()}
	w := newWorldOn(t, store)
	w.add("ann", draft("one", "text"))
	last, err := prompt.NewID(time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC), strings.NewReader("entropy of an id"))
	require.NoError(t, err)
	position := fmt.Sprintf("%019d|%s", 3155378975999999999-table.Ticks(last.Time()), last)
	store.calls = 0
	page, err := w.Newest(t.Context(), position, 20)
	require.NoError(t, err)
	require.Len(t, page.Items, 1)
	require.Less(t, store.calls, 10)
}
