package promptdb_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/prompt/prompttest"
)

// similar returns the titles of prompts that are like a text.
func (w *world) similar(viewer prompt.UserID, text string, itself prompt.ID) (titles []string) {
	w.t.Helper()
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
	text := strings.Repeat("Some words that say what the assistant is to do with the letter it is given. ", 3) +
		"And others: one two three four five six."
	d := draft("Public")
	d.Text = text
	public := w.add("ann", d)
	d.Title, d.Visibility = "Private", prompt.Private
	w.add("ann", d)
	d.Title, d.Visibility, d.Text = "Else", prompt.Public, "Nothing of this stands in the others, not even a run of three words, and there are more than twenty of them here, as one can count."
	w.add("ann", d)
	require.Equal(t, []string{"Public"}, w.similar("bob", strings.ToUpper(text), ""))
	require.Equal(t, []string{"Public"}, w.similar("ann", text+" And a little more.", ""))
	require.Empty(t, w.similar("ann", text, public.ID), "it is not like itself")
	require.Empty(t, w.similar("bob", "", ""))
	require.Empty(t, w.similar("bob", "Quite another text", ""))
	w.edit("ann", public.ID, func(p *prompt.Prompt) { p.Visibility = prompt.Private })
	require.Empty(t, w.similar("bob", text, ""))
	require.Empty(t, w.similar("ann", text, ""))
	w.run()
	w.check()
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
	pairs, same := 0, 0
	for i := range all {
		var want []string
		for j := range all {
			like := runs[i].Like(runs[j])
			if i == j || like < prompt.Alike {
				continue
			}
			want = append(want, all[j].Title)
			pairs++
			if like >= prompt.Same {
				same++
			}
		}
		if len(want) > 0 {
			require.ElementsMatch(t, want, w.similar("bob", all[i].Text, all[i].ID), all[i].Title)
		}
	}
	t.Logf("%d prompts: %d pairs are alike, %d of them the same", len(all), pairs/2, same/2)
	require.Positive(t, same)
}
