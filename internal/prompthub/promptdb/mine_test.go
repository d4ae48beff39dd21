package promptdb_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// TestMineAgreesWithAPlainFilter compares an author's own lists, in every order, with a filter over
// a slice.
func TestMineAgreesWithAPlainFilter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorldOn(t, memory.NewShortPages(rapid.Uint64().Draw(rt, "pages")))
		var all []prompt.Prompt
		for i := range rapid.IntRange(0, 40).Draw(rt, "prompts") {
			p := w.random(rt, i)
			switch rapid.IntRange(0, 3).Draw(rt, "fate") {
			case 0:
				w.remove(p)
			case 1:
				w.clock.Advance(time.Duration(rapid.IntRange(0, 2).Draw(rt, "later")) * time.Millisecond)
				w.touch(p)
			}
			got, err := w.Record(t.Context(), p.AuthorID, p.ID)
			require.NoError(rt, err)
			all = append(all, got)
		}
		f := promptdb.Filter{
			Deleted: rapid.Bool().Draw(rt, "deleted"),
			Visibility: rapid.SampledFrom([]prompt.Visibility{"", prompt.Public, prompt.Private}).Draw(rt,
				"visibility"),
			Tags:  rapid.SliceOfNDistinct(rapid.SampledFrom(someTags[:2]), 0, 1, rapid.ID).Draw(rt, "tags"),
			Words: query(t, rapid.SampledFrom([]string{"", "", "a", "tr", "提示"}).Draw(rt, "words")),
		}
		sort := rapid.SampledFrom([]promptdb.Sort{promptdb.ByNewest, promptdb.ByUpdated, promptdb.ByTitle}).Draw(rt,
			"sort")
		all = slices.DeleteFunc(all, func(p prompt.Prompt) bool {
			return p.Deleted() != f.Deleted || f.Visibility != "" && p.Visibility != f.Visibility ||
				!hasAll(p.Tags, f.Tags) || !f.Words.Match(prompt.NormalizeTitle(p.Title))
		})
		slices.SortFunc(all, func(a, b prompt.Prompt) int {
			switch sort {
			case promptdb.ByUpdated:
				return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), newer(a, b))
			case promptdb.ByTitle:
				return cmp.Or(cmp.Compare(prompt.NormalizeTitle(a.Title), prompt.NormalizeTitle(b.Title)), newer(a, b))
			}
			return newer(a, b)
		})
		want := make([]string, len(all))
		for i, p := range all {
			want[i] = p.Title
		}
		limit := rapid.IntRange(1, 45).Draw(rt, "limit")
		got := w.titles(limit, func(after string) (promptdb.Page, error) {
			return w.Mine(t.Context(), "ann", f, sort, after, limit)
		})
		require.Equal(rt, want, got)
	})
}

// touch edits a prompt.
func (w *world) touch(p prompt.Prompt) {
	w.t.Helper()
	_, err := w.Change(w.t.Context(), p.AuthorID, p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
		p.Text += "."
		p.UpdatedAt = w.clock.Now()
		p.Revision++
		return p, nil
	})
	require.NoError(w.t, err)
}

func TestTooManyPromptsToSort(t *testing.T) {
	w := newWorldOn(t, memory.NewTables())
	var ops []table.Op
	for i := range 2001 {
		w.clock.Advance(-time.Millisecond)
		row := w.MineRow(w.made("ann", draft(fmt.Sprint("number ", i))))
		if ops = append(ops, table.Op{Kind: table.Insert, Row: row}); len(ops) == 100 || i == 2000 {
			_, err := w.store.Write(t.Context(), promptdb.DefaultTables().Prompts, ops...)
			require.NoError(t, err)
			ops = nil
		}
	}
	_, err := w.Mine(t.Context(), "ann", promptdb.Filter{}, promptdb.ByTitle, "", 20)
	require.Equal(t, fault.Invalid, fault.Of(err))
	require.ErrorContains(t, err, "take the newest first")
	page, err := w.Mine(t.Context(), "ann", promptdb.Filter{}, promptdb.ByNewest, "", 20)
	require.NoError(t, err)
	require.Len(t, page.Items, 20)
}
