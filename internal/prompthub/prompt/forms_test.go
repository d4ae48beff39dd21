package prompt_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
)

// expanded returns a query whose words are found with an s too, and each two of them joined.
func expanded(q prompt.Query) prompt.Query {
	return q.Expand(
		func(word string) []string { return []string{word + "s"} },
		func(first, second string) []string { return []string{first + second} },
	)
}

// TestFormsAndPhrases: words of a phrase are found as they are alone, and never are replaced.
// Qualifiers stay in each case.
func TestFormsAndPhrases(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		query, title, text string
		want               prompt.Where
	}{
		{`poet`, "Poets", "", prompt.InTitle},
		{`poet`, "", "some poets", prompt.InText},
		{`"poet"`, "Poets", "some poets", prompt.Nowhere},
		{`"sea poet"`, "Sea poets", "", prompt.Nowhere},
		{`poet "sea poet"`, "Sea poets", "", prompt.Nowhere},
		{`poet "sea"`, "Of the sea", "some poets", prompt.InText},
		{`sea poet`, "Seapoet", "", prompt.InTitle},
		{`"sea" poet`, "Seapoet", "", prompt.Nowhere},
		{`"sea poet"`, "Seapoet", "", prompt.Nowhere},
		{`poet -rhyme`, "Poets", "rhyme", prompt.Nowhere},
		{`poet -rhyme`, "Poets", "rhymes", prompt.InTitle}, // words to leave out have no other forms either
	} {
		q := expanded(parse(t, c.query))
		require.Equal(t, c.want, q.MatchText(prompt.NormalizeTitle(c.title), prompt.NewText(c.text)), "%s in %q, %q", c.query, c.title, c.text)
	}
	require.False(t, expanded(parse(t, `"sea poet" tag:a`)).Expanded())

	q := parse(t, `"sae poet" "lniux" lniux sae -poet tag:a author:Ann name:b`)
	require.Equal(t, []string{"lniux", "sae"}, q.Unknown(func(string) bool { return false }))
	rs := []prompt.Replacement{{Word: "lniux", By: []string{"linux", "lines"}}, {Word: "sae", By: []string{"sea"}}}
	require.Equal(t, `"sae poet" "lniux" linux or lines sea -"poet" tag:a author:"Ann" name:"b"`, q.Meant(rs))
	for query, meant := range map[string]string{`make a logo`: "logo", `make "a logo" for a`: `"a logo"`, `make of it`: "of it"} {
		require.Equal(t, meant, parse(t, query).Meant([]prompt.Replacement{{Word: "make"}}), "without what says nothing by itself")
	}
	require.Equal(t, "a logo", parse(t, "a lgo").Meant([]prompt.Replacement{{Word: "lgo", By: []string{"logo"}}}))
	instead := q.Replace(rs)
	require.Equal(t, `linux sea "lniux" "sae poet" -"poet" tag:a author:"Ann" name:"b"`, instead.String())
	require.Equal(t, "sae poet lniux linux sea", instead.Typed())
	require.Equal(t, prompt.InText, parse(t, "sae linux").Replace(rs).MatchText("lines", prompt.NewText("sea")), "found by the form of one")
	require.True(t, parse(t, "poet").Plainly())
	for _, more := range []string{`"poet"`, "poet -sea", "poet tag:a"} {
		require.False(t, parse(t, more).Plainly(), more)
	}
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
	split := parse(t, "database").Expand(func(string) []string { return []string{"data base"} }, func(string, string) []string { return nil })
	require.Equal(t, "a [data base] of data", marked(split, "a data base of data"))
	require.Equal(t, "With poets.", expanded(parse(t, "poet")).Snippet("With  poets."))
}
