package promptdb_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/prompt/prompttest"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// similar returns the titles of prompts that are like a text.
func (w *world) similar(viewer prompt.UserID, text string, itself prompt.ID) (titles []string) {
	w.t.Helper()
	w.clock.Advance(time.Hour) // a read sketch is believed for minutes
	found, err := w.Similar(w.t.Context(), viewer, text, itself)
	require.NoError(w.t, err)
	for _, s := range found {
		titles = append(titles, s.Title)
	}
	return titles
}

func TestSimilar(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	text := strings.Repeat("Some words that say what the assistant is to do with the letter it is given. ", 3) + "And others: one two three four five six."
	d := draft("Public")
	d.Text = text
	public := w.add("ann", d)
	d.Title, d.Visibility = "Private", prompt.Private
	w.add("ann", d)
	d.Title, d.Visibility, d.Text = "Else", prompt.Public, "Nothing of this stands in the others, not even a run of three words, and there are more than twenty of them here, as one can count."
	w.add("ann", d)
	require.Empty(t, w.similar("bob", text, ""), "no sketch was made yet")
	keep := func() int {
		n, _, err := w.KeepSketches(t.Context())
		require.NoError(t, err)
		return n
	}
	require.Equal(t, 2, keep(), "a private prompt has no sketch")
	require.Equal(t, []string{"Public"}, w.similar("bob", strings.ToUpper(text), ""))
	require.Equal(t, []string{"Public"}, w.similar("ann", text+" And a little more.", ""))
	require.Empty(t, w.similar("ann", text, public.ID), "it is not like itself")
	require.Empty(t, w.similar("bob", "", ""))
	require.Empty(t, w.similar("bob", "Quite another text", ""))
	// taken back since the sketches were made
	w.edit("ann", public.ID, func(p *prompt.Prompt) { p.Visibility = prompt.Private })
	require.Empty(t, w.similar("bob", text, ""))
	require.Empty(t, w.similar("ann", text, ""))
	require.Equal(t, 1, keep())
	w.run()
	w.check()
}

// TestSimilarOfMany: the sketches of many prompts take several rows, and those that are too many
// are removed again.
func TestSimilarOfMany(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var all []prompt.Prompt
	for i := range 260 {
		d := draft(fmt.Sprint("Number ", i))
		d.Text = fmt.Sprint("Text of number ", i)
		all = append(all, w.add("ann", d))
	}
	n, _, err := w.KeepSketches(t.Context())
	require.NoError(t, err)
	require.Equal(t, 260, n)
	require.Equal(t, []string{"Number 0"}, w.similar("bob", "text of number 0", ""))
	require.Equal(t, []string{"Number 259"}, w.similar("bob", "text of number 259", ""))
	for _, p := range all[:20] {
		w.edit("ann", p.ID, func(p *prompt.Prompt) { p.Visibility = prompt.Private })
	}
	_, _, err = w.KeepSketches(t.Context())
	require.NoError(t, err)
	require.Empty(t, w.similar("bob", "text of number 0", ""))
	require.Equal(t, []string{"Number 20"}, w.similar("bob", "text of number 20", ""))
}

// TestSketchesOfTheNewest: those of the newest public prompts are kept, with any number of
// private ones between.
func TestSketchesOfTheNewest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorldOn(t, memory.NewShortPages(1))
		var public []prompt.ID
		authors := rapid.IntRange(1, 4).Draw(rt, "authors")
		for i := range rapid.IntRange(0, 60).Draw(rt, "prompts") {
			d := draft(fmt.Sprint("Number ", i))
			author := prompt.UserID(fmt.Sprint("author ", rapid.IntRange(1, authors).Draw(rt, "author")))
			if rapid.IntRange(0, 3).Draw(rt, "private") > 0 {
				d.Visibility = prompt.Private
			}
			w.clock.Advance(time.Duration(rapid.SampledFrom([]int{0, 0, 0, 40}).Draw(rt, "days later")) * 24 * time.Hour)
			if p := w.add(author, d); d.Visibility == prompt.Public {
				public = append(public, p.ID)
			}
		}
		slices.Reverse(public)
		most := rapid.IntRange(1, 30).Draw(rt, "most")
		kept, err := w.KeepSketchesOf(t.Context(), most)
		require.NoError(rt, err)
		require.Equal(rt, public[:min(len(public), most)], kept)
	})
}

// TestSketchesOfNothingPrivate: a row of the list that outlives a prompt's being public lets no one
// learn from it.
func TestSketchesOfNothingPrivate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.add("ann", draft("Public for a moment"))
	rows := w.IndexRows(p)
	w.edit("ann", p.ID, func(p *prompt.Prompt) { p.Visibility = prompt.Private })
	for _, r := range rows {
		_, err := w.store.Write(t.Context(), r.Table, table.Op{Kind: table.Upsert, Row: r.Row})
		require.NoError(t, err)
	}
	kept, err := w.KeepSketchesOf(t.Context(), 10)
	require.NoError(t, err)
	require.Empty(t, kept)
}

// TestSketchesBesideDamage: neither a prompt whose row cannot be read nor a row of the list that
// names none keeps the others from having sketches.
func TestSketchesBesideDamage(t *testing.T) {
	t.Parallel()
	store := &damaged{DB: memory.NewTables(), name: promptdb.DefaultTables().Prompts}
	w := newWorldOn(t, store)
	var want []prompt.ID
	for i := range 9 {
		p := w.add("ann", draft(fmt.Sprint("Number ", i)))
		want = append([]prompt.ID{p.ID}, want...)
		for _, r := range w.IndexRows(p) {
			if i == 0 && r.Table == promptdb.DefaultTables().Newest {
				r.Row.Row, r.Row.Props = r.Row.Row+"x", nil
				_, err := store.DB.Write(t.Context(), r.Table, table.Op{Kind: table.Insert, Row: r.Row})
				require.NoError(t, err)
			}
		}
	}
	for i := range want {
		store.key = w.MineRow(prompt.Prompt{ID: want[i], AuthorID: "ann"}).Key
		store.key.Row = string(want[i])
		kept, err := w.KeepSketchesOf(t.Context(), 20)
		require.NoError(t, err)
		require.Equal(t, slices.Delete(slices.Clone(want), i, i+1), kept)
	}
}

// TestSketchesReadLittleElse: what the job reads follows from how many sketches it keeps, and not
// from how many prompts there are.
func TestSketchesReadLittleElse(t *testing.T) {
	t.Parallel()
	store := &counted{DB: memory.NewTables()}
	w := newWorldOn(t, store)
	add := func(author prompt.UserID, public bool, n int) {
		for range n {
			d := draft("Of " + string(author))
			if !public {
				d.Visibility = prompt.Private
			}
			w.add(author, d)
		}
	}
	add("before", true, 200) // older than those that are kept
	for range 10 {
		add("ann", true, 1)
		add("ann", false, 100)
	}
	add("importer", true, 190)
	w.clock.Advance(time.Hour)
	store.reset()
	kept, err := w.KeepSketchesOf(t.Context(), 200)
	require.NoError(t, err)
	require.Len(t, kept, 200)
	// Ann's ten, each by itself in the end, and the importer's, read with the list of the newest;
	// then what is kept is written, and read here.
	require.LessOrEqual(t, store.count(), 30)
	require.LessOrEqual(t, store.rows, 2*200+50)
}

// TestSimilarAmongRealPrompts: every pair of real prompts that are alike is found, and none else.
func TestSimilarAmongRealPrompts(t *testing.T) {
	w := newWorld(t)
	var all []prompt.Prompt
	var runs []prompt.Runs
	for _, d := range prompttest.Real(t) {
		all = append(all, w.add("ann", d))
		runs = append(runs, prompt.RunsOf(d.Text))
	}
	_, _, err := w.KeepSketches(t.Context())
	require.NoError(t, err)
	pairs, same, half, found := 0, 0, 0, 0
	for i := range all {
		var want []string
		for j := range all {
			like := runs[i].Like(runs[j])
			if i == j || like < 0.5 {
				continue
			}
			half++
			if runs[i].Sketch().Common(runs[j].Sketch()) > 0 {
				found++
			}
			if like >= prompt.Alike {
				want = append(want, all[j].Title)
				pairs++
			}
			if like >= prompt.Same {
				same++
			}
		}
		if len(want) > 0 {
			require.ElementsMatch(t, want, w.similar("bob", all[i].Text, all[i].ID), all[i].Title)
		}
	}
	t.Logf("%d prompts: of %d pairs that share half of their runs sketches find %d; %d pairs are alike, %d of them the same", len(all), half/2, found/2, pairs/2, same/2)
	require.Positive(t, same)
}
