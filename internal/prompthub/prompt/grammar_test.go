package prompt_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
)

// TestGrammar holds what each part of a query finds, in titles and in texts.
func TestGrammar(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		query, title, text string
		want               prompt.Where
	}{
		{`"code reviewer"`, "Act as a code reviewer", "", prompt.InTitle},
		{`"code reviewer"`, "Reviewer of code", "a reviewer, a code", prompt.Nowhere},
		{`"code reviewer"`, "Poet", "You are a Code  Reviewer.", prompt.InText},
		{`"code reviewer"`, "Code", "reviewer", prompt.Nowhere},
		{`"code review"`, "Code reviewer", "", prompt.Nowhere}, // whole words
		{`"code rev`, "Code reviewer", "", prompt.InTitle},     // still being typed
		{`“code reviewer”`, "Reviewer code", "", prompt.Nowhere},
		{`„code reviewer“`, "A code reviewer", "", prompt.InTitle},
		{`"poet"`, "Poets", "poets", prompt.Nowhere},
		{`"act as a poet"`, "", "Act as a poet.", prompt.InText},
		{`"act as a poet"`, "", "Act like a poet, as I act.", prompt.Nowhere},
		{`act "as a"`, "", "Act as a poet.", prompt.InText},
		{`act "as a"`, "", "Act as if a poet.", prompt.Nowhere},
		{`sql "code reviewer"`, "SQL", "a code reviewer", prompt.InText},
		{`"翻译助手"`, "好翻译助手吧", "", prompt.InTitle},
		{`"助手 翻译"`, "好助手 翻译吧", "", prompt.InTitle},
		{`"手 译"`, "好助手 翻译吧", "", prompt.Nowhere},
		{`poet -rhyme`, "Poet", "no verses", prompt.InTitle},
		{`poet -rhyme`, "Poet", "in rhyme", prompt.Nowhere},
		{`poet -rhyme`, "Poet of rhyme", "", prompt.Nowhere},
		{`poet -rhyme`, "Poet of rhymes", "rhymes", prompt.InTitle},
		{`poet -"free verse"`, "Poet", "a free man in verse", prompt.InTitle},
		{`poet -"free verse"`, "Poet", "in free verse", prompt.Nowhere},
		{`poet -the`, "Poet", "in the rhyme", prompt.Nowhere},
		{`poet -node`, "Poet", "with node.js", prompt.Nowhere},
		{`翻译 -助手`, "翻译助手", "", prompt.Nowhere},
		{`e-mail`, "An e-mail", "", prompt.InTitle},
		{`poet - rhyme`, "A poet's rhyme", "", prompt.InTitle},
		{`poet tag:x author:"Ann Lee" name:y`, "Poet", "", prompt.InTitle},
		{`tag: poet`, "Tag: poet", "", prompt.InTitle},
	} {
		q := parse(t, c.query)
		require.Equal(t, c.want, q.MatchText(prompt.NormalizeTitle(c.title), prompt.NewText(c.text)),
			"%s in %q, %q", c.query, c.title, c.text)
		if c.text == "" && !strings.Contains(c.query, "the") {
			require.Equal(t, c.want == prompt.InTitle, q.Match(prompt.NormalizeTitle(c.title)),
				"%s in %q", c.query, c.title)
		}
	}
}

func TestQualifiers(t *testing.T) {
	t.Parallel()
	q := parse(t, `TAG:Development  tag:"c++" author:"Ann  Lee" name:support/answer poet`)
	require.Equal(t, []prompt.Tag{"development", "c++"}, q.Tags())
	require.Equal(t, "Ann Lee", q.Author())
	require.Equal(t, "support/answer", q.Name())
	require.Equal(t, "poet", q.Typed())
	require.Equal(t, `poet tag:c++ tag:development author:"Ann Lee" name:"support/answer"`, q.String())
	require.True(t, q.MatchAuthor("Lee, Ann B."))
	require.False(t, q.MatchAuthor("Annette Lee"))
	require.False(t, parse(t, "author:🚀").MatchAuthor("🚀"))
	require.True(t, q.MatchName("Support/Answer", ""))
	require.True(t, q.MatchName("", "support/answer"))
	require.False(t, q.MatchName("answer", "answer"))
	for _, alone := range []string{"tag:a", "author:a", "name:a", "-a"} {
		q := parse(t, alone)
		require.True(t, q.Empty() && q.Qualified() && !q.Nothing(), alone)
	}
	for query, message := range map[string]string{
		"tag:é": "1 to 40", "author:a author:b": "once", "name:a name:b": "once", "-tag:a": "only words and phrases",
		`-author:"a b"`: "only words and phrases",
		"tag:a tag:b tag:c tag:d tag:e tag:f tag:g tag:h tag:i tag:j tag:k":      "at most 10 tags",
		`"` + strings.Repeat("a ", 11) + `" -"` + strings.Repeat("b ", 10) + `"`: "at most 20 words, these are 21",
	} {
		_, err := prompt.ParseQuery(query)
		broken, ok := errors.AsType[*fault.Error](err)
		require.True(t, ok, query)
		require.Equal(t, fault.Malformed, broken.Kind)
		require.Contains(t, broken.Fields[0].Message, message)
	}
}

func TestMarks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ query, text, want string }{
		{"code reviewer", "A Code reviewer of the code", "A [Code] [reviewer] of the [code]"},
		{"rev", "Reviewer, review!", "[Reviewer], [review]!"},
		{`"code reviewer"`, "Code: a CODE  reviewer of code", "Code: a [CODE  reviewer] of code"},
		{`"code reviewer" of`, "a code reviewer of code", "a [code reviewer] of code"},
		{"the poet", "The poet of the sea", "The [poet] of the sea"},
		{"the", "The poet of the sea", "[The] poet of [the] sea"},
		{"翻译", "好翻译助手，翻译", "好[翻译]助手，[翻译]"},
		{`"助手 翻译"`, "好助手 翻译吧", "好[助手 翻译]吧"},
		{"js", "Use node.js now.", "Use node.[js] now."},
		{"node.j", "Use node.js now.", "Use [node.js] now."},
		{".net", "For .NET.", "For [.NET]."},
		{"c++ c", "C++ and C, not CC", "[C++] and [C], not CC"},
		{"strasse", "Straße 7", "[Straße] 7"},
		{"istanbul", "In İstanbul.", "In [İstanbul.]"}, // folding changes its length
		{"poem", "po\u00adem", "[po\u00adem]"},
		{"ユーザー", "このユーザーは", "この[ユーザー]は"},
		{"a", "a b a", "[a] b [a]"},
		{"poet -sea tag:a", "the sea poet", "the sea [poet]"},
		{"", "the sea poet", "the sea poet"},
		{"poet", "", ""},
	} {
		require.Equal(t, c.want, marked(parse(t, c.query), c.text), c.query)
	}
}

// marked returns a text with brackets around what a query finds.
func marked(q prompt.Query, text string) string {
	got, last := "", 0
	for _, m := range q.Marks(text) {
		got += text[last:m.From] + "[" + text[m.From:m.To] + "]"
		last = m.To
	}
	return got + text[last:]
}

// TestSnippetOfAPhrase: the excerpt shows the phrase, though its words stand before it too.
func TestSnippetOfAPhrase(t *testing.T) {
	t.Parallel()
	text := "Code é. " + strings.Repeat("Other words. ", 40) +
		"You are a code reviewer. " + strings.Repeat("More. ", 40)
	require.Contains(t, parse(t, `"code reviewer"`).Snippet(text), "You are a code reviewer.")
	require.Contains(t, parse(t, `"code reviewer"`).Snippet(strings.ReplaceAll(text, "é", "e")),
		"You are a code reviewer.")
	require.NotContains(t, parse(t, `code reviewer`).Snippet(text), "You are a code reviewer.")
}
