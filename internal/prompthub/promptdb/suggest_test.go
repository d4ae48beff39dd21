package promptdb_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/prompt/prompttest"
	"prompthub/internal/storage/memory"
)

// suggested returns the tags that are suggested for what somebody writes.
func (w *world) suggested(title, text string, has ...prompt.Tag) (tags []prompt.Tag) {
	w.t.Helper()
	found, err := w.SuggestTags(w.t.Context(), title, text, has)
	require.NoError(w.t, err)
	for _, t := range found {
		tags = append(tags, t.Tag)
	}
	return tags
}

// TestSuggestTags: tags are those of public prompts that are near, and forgotten with them.
func TestSuggestTags(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.Equal(t, []prompt.Tag{"writing"}, w.suggested("Writing", "Carrots"),
		"nothing is near: what title and text name")
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
	require.Equal(t, []prompt.Tag{"health"}, w.suggested("Soup", "Of carrots"))
	require.Equal(t, []prompt.Tag{"legal"}, w.suggested("Lawyer", "Reads contracts"))
	require.Empty(t, w.suggested("Lawyer", "Reads contracts", "legal"), "not what it has")
	for _, p := range public {
		w.edit("ann", p.ID, func(p *prompt.Prompt) { p.Visibility = prompt.Private })
	}
	require.Empty(t, w.suggested("Soup", "Of carrots"))
	w.run()
	w.check()
}

// TestSuggestAmongRealPrompts: of the tags that are suggested for a real prompt that the library
// does not have, one is right for nine of ten.
func TestSuggestAmongRealPrompts(t *testing.T) {
	w := newWorldOn(t, memory.NewTables())
	const fifth = 5
	real := prompttest.Real(t)
	for i, d := range real {
		if i%fifth > 0 {
			w.add("ann", d)
		}
	}
	catalog, err := w.Tags(t.Context())
	require.NoError(t, err)
	known := func(tag prompt.Tag) bool {
		return slices.ContainsFunc(catalog, func(info prompt.TagInfo) bool { return info.Tag == tag })
	}
	asked, right := 0, 0
	for i, d := range real {
		if i%fifth > 0 || !slices.ContainsFunc(d.Tags, known) {
			continue
		}
		asked++
		if slices.ContainsFunc(w.suggested(d.Title, d.Text), func(tag prompt.Tag) bool {
			return slices.Contains(d.Tags, tag)
		}) {
			right++
		}
	}
	t.Logf("of %d prompts, one of three tags is right for %d", asked, right)
	require.Greater(t, right*10, asked*9)
}
