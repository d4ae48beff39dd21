package prompt_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
)

// expanded returns a query whose words are shown with an s too, and each two of them joined.
func expanded(q prompt.Query) prompt.Query {
	var us []prompt.Understood
	before := ""
	for _, w := range q.Wanted() {
		if w.Quoted {
			before = ""
			continue
		}
		as := []string{w.Term + "s"}
		if before != "" {
			as = append(as, before+w.Term)
		}
		us = append(us, prompt.Understood{Word: w.Term, As: as})
		before = w.Term
	}
	return q.With(us)
}

// TestMarksOfForms: other forms of words are marked as the words are, and an excerpt begins at
// them.
func TestMarksOfForms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ query, text, want string }{
		{"poet", "Poets, poetics and a poet", "[Poets], [poetics] and a [poet]"},
		{"story", "Storys of a story", "[Storys] of a [story]"},
		{"sea poet", "A Seapoet of seas", "A [Seapoet] of [seas]"},
		{`"sea poet"`, "Sea poets, a seapoet, a sea poet", "Sea poets, a seapoet, a [sea poet]"},
		{"node.js", "node.jss", "[node.jss]"},
	} {
		require.Equal(t, c.want, marked(expanded(parse(t, c.query)), c.text), c.query)
	}
	split := parse(t, "database").With([]prompt.Understood{{Word: "database", As: []string{"data base"}}})
	require.Equal(t, "a [data base] of data", marked(split, "a data base of data"))
	require.Equal(t, "With poets.", expanded(parse(t, "poet")).Snippet("With  poets."))
}

// TestWordsOfTerms: a chain has its words and joined forms, a run its pieces, and of a long word
// the beginning counts.
func TestWordsOfTerms(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ü", prompt.LongestWord)
	for text, want := range map[string][]string{
		"Poets, of ASP.NET": {"poets", "of", "asp.net", "asp", "net", ".net"},
		"東京都":               {"東京", "京都"},
		long + "üü":         {long},
	} {
		var words []string
		for _, term := range prompt.Terms(text) {
			words = append(words, prompt.AppendWords(nil, term)...)
		}
		require.ElementsMatch(t, want, words, text)
	}
}
