package prompt_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
)

func catalog(names ...string) (all []prompt.TagInfo) {
	for _, name := range names {
		all = append(all, prompt.TagInfo{Tag: prompt.Tag(strings.ToLower(name)), DisplayName: name, Active: true})
	}
	return all
}

func TestSuggestTags(t *testing.T) {
	t.Parallel()
	known := catalog("Games", "Kitchen", "Legal", "Poetry", "Writing")
	known[3].Active = false
	examples := []prompt.Example{
		{Tags: []prompt.Tag{"kitchen"}, Weight: 30},
		{Tags: []prompt.Tag{"legal", "poetry", "unknown"}, Weight: 20},
		{Tags: []prompt.Tag{"legal"}, Weight: 20},
	}
	for name, x := range map[string]struct {
		examples    []prompt.Example
		title, text string
		has         []prompt.Tag
		want        []prompt.Tag
	}{
		"nothing":         {},
		"the nearest":     {examples: examples, want: []prompt.Tag{"legal", "kitchen"}},
		"not what it has": {examples: examples, has: []prompt.Tag{"legal"}, want: []prompt.Tag{"kitchen"}},
		"named":           {title: "A game of GAMES", text: "for writing", want: []prompt.Tag{"games", "writing"}},
		"named before near before written": {
			examples: examples, title: "Games", text: "writing", want: []prompt.Tag{"games", "legal", "kitchen"},
		},
		"one that no prompt may have now": {title: "Poetry"},
	} {
		var tags []prompt.Tag
		for _, info := range prompt.SuggestTags(known, x.examples, x.title, x.text, x.has) {
			tags = append(tags, info.Tag)
		}
		require.Equal(t, x.want, tags, name)
	}
}

// TestTelling: it is a query, whatever the text.
func TestTelling(t *testing.T) {
	t.Parallel()
	require.Equal(t, "carrots onions soup ", prompt.Telling("", "The soup of the onions and of carrots."))
	long := strings.Repeat("x", 40)
	for _, text := range []string{
		"", "?!", "the of", "c++ node.js .net", "-author:ann \"tag:b\" in", strings.Repeat(long+"y ", 30),
		"你是一名厨师" + strings.Repeat("提示词", 100),
		strings.Join(strings.Split(strings.Repeat("abcdefghijklmnopqrstuvwxyz", 9), ""), " 1"),
	} {
		query, err := prompt.ParseQuery(prompt.Telling("A title", text))
		require.NoError(t, err, text)
		require.False(t, query.Qualified(), text)
	}
}
