package doubling

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// repeated are motifs that are the same each time.
var repeated = []string{
	// words, and what folding makes of characters
	"a ", "x", "W", "the quick brown fox ", "a.", "www.a.b.", "c++ ", "+#", ".", "\u1e01.", "\u33c2", "\ufdfa", "ß",
	"İ", "\u00bd", "翻译", "ก็", "한국 ", "e\u0301", "\u0301", "😀",
	"\u200d", "\u202e", "\U000e0041", "\ufeff", "\ufdd0", "\u200b", "\xff", "\x00", " ", "\n",
	"\r\n", "\t", "a\n", "a\n\n",
	// placeholders and includes
	"{{a}}", "{{", "{{a:b|", "${a:b|c}", "{a}", "{{#a}}", "{{/a}}", "{% if a %}", "{# ", "@@@langfusePrompt:",
	"@@@langfusePrompt:name=a|version=1@@@",
	// Markdown and HTML
	"[", "]", "[a](b)", "[a]: b\n", "![", "**", "*a ", "a*", "_a", "`", "`a``b", "~~", "> ", "- ", "1. ", "- a\n  ",
	"|a", "|a|b|\n", "|-", "# ", "#", "<b>", "<", "</", "<!--", "```\n", "~~~",
	"http://a.b/ ", "a@b.c ", "&amp;", "&#", "---\n", "===\n", "\\", "    a\n", "<a>\n </a>\n",
	// JSON, YAML and CSV
	"{", "}", "{\n", "[\n", "\"a\":{", "\"a\": 1,\n", "'", "\"", ",", ":", "a,b\n", "\"a\n", "a: b\n", "- a: b\n",
	" a:\n", "&a [*a]\n", "? ", "!a ", "%a\n", "{\"text\": \"a\"}\n", "{\"a\":[", "\\u0061", "0",
	"system:\n", "user: a\n", "\u2028",
}

// counted are motifs with a number that is another one each time.
var counted = []string{
	"word%d ", "w%d.", "{{a%d}} ", "${a%d:b} ", "@@@langfusePrompt:name=a%d|version=1@@@", "[a%[1]d]: b\n[a%[1]d]",
	"k%d: v\n", "\"k%d\": 1, ", "- name: n%d\n", "t%d,x\n",
	"{\"title\": \"t%d\", \"text\": \"x\"}\n", "# h%d\n", "<t%d>", "line %d\n", "- name: n%d\n  text: t\n",
}

// Motifs returns the motifs, and some that are put together of pieces of these.
func Motifs(more bool) []Motif {
	var all []Motif
	for _, s := range repeated {
		all = append(all, Motif{fmt.Sprintf("%q", s), func(int) string { return s }})
	}
	for _, s := range counted {
		all = append(all, Motif{fmt.Sprintf("%q with numbers", s), func(i int) string { return fmt.Sprintf(s, i) }})
	}
	generated := 20
	if more {
		generated = 60
	}
	r := rand.New(rand.NewPCG(37, 41)) // the same in each run
	for range generated {
		var b strings.Builder
		for range 2 + r.IntN(5) {
			b.WriteString(repeated[r.IntN(len(repeated))])
		}
		s := b.String()
		all = append(all, Motif{fmt.Sprintf("%q", s), func(int) string { return s }})
	}
	return all
}
