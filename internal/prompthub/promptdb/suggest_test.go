package promptdb_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
)

// suggested returns the tags that are suggested for what somebody writes.
func (w *world) suggested(title, text string, has ...prompt.Tag) (tags []prompt.Tag) {
	w.t.Helper()
	w.clock.Advance(time.Hour) // the read words are believed for minutes
	found, err := w.SuggestTags(w.t.Context(), title, text, has)
	require.NoError(w.t, err)
	for _, t := range found {
		tags = append(tags, t.Tag)
	}
	return tags
}

// TestSuggestTags: tags are learned from public prompts alone, and forgotten with them.
func TestSuggestTags(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	keep := func() prompt.Trial {
		_, trial, err := w.KeepSketches(t.Context())
		require.NoError(t, err)
		return trial
	}
	require.Equal(t, []prompt.Tag{"writing"}, w.suggested("Writing", "Carrots"), "nothing is learned: what title and text name")
	var public []prompt.Prompt
	for i := range 6 {
		for tag, text := range map[prompt.Tag]string{"health": "Carrots and lettuce", "legal": "Contracts of parties"} {
			d := draft(fmt.Sprint("Number ", i))
			d.Text, d.Tags = text, []prompt.Tag{tag}
			public = append(public, w.add("ann", d))
			d.Title, d.Visibility, d.Tags = "Private", prompt.Private, []prompt.Tag{"math"}
			w.add("ann", d)
		}
	}
	require.Equal(t, prompt.Trial{Prompts: 12, Learned: 12}, keep())
	require.Equal(t, []prompt.Tag{"health", "legal"}, w.suggested("Soup", "Of carrots"))
	require.Equal(t, []prompt.Tag{"legal", "health"}, w.suggested("Lawyer", "Reads contracts"))
	require.Equal(t, []prompt.Tag{"health"}, w.suggested("Lawyer", "Reads contracts", "legal"), "not what it has")
	for _, p := range public {
		w.edit("ann", p.ID, func(p *prompt.Prompt) { p.Visibility = prompt.Private })
	}
	require.Equal(t, prompt.Trial{}, keep())
	require.Empty(t, w.suggested("Soup", "Of carrots"))
	w.run()
	w.check()
}
