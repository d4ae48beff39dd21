package promptdb_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/prompt/prompttest"
)

// similar returns the titles of what is like a text.
func (w *world) similar(viewer prompt.UserID, text string, itself prompt.ID) (titles []string) {
	w.t.Helper()
	w.clock.Advance(time.Hour) // what was read is believed for minutes
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
