package markdown

import (
	"html/template"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
)

func TestMarkdown(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"paragraphs", "a\n\nb", "<p>a</p>\n<p>b</p>\n"},
		{"lines stay lines", "a\nb", "<p>a<br>\nb</p>\n"},
		{
			"tags are words", "<context>\nDo <b>this</b>.\n</context>",
			"<p>&lt;context&gt;<br>\nDo &lt;b&gt;this&lt;/b&gt;.<br>\n&lt;/context&gt;</p>\n",
		},
		{"script", "<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>\n"},
		{"comment", "<!-- x -->", "<p>&lt;!-- x --&gt;</p>\n"},
		{"headings go under the page's", "# A\n### B\n# C", "<h3>A</h3>\n<h4>B</h4>\n<h3>C</h3>\n"},
		{"deep headings", "###### A\n###### B", "<h3>A</h3>\n<h4>B</h4>\n"},
		{
			"link", "[x](https://example.com)",
			`<p><a href="https://example.com" rel="nofollow noreferrer">x</a></p>` + "\n",
		},
		{
			"address", "see https://example.com.",
			`<p>see <a href="https://example.com" rel="nofollow noreferrer">https://example.com</a>.</p>` + "\n",
		},
		{"dangerous link", "[x](javascript:alert(1))", "<p>x</p>\n"},
		{"link to us", "[x](/app/signout)", "<p>x</p>\n"},
		{"link to another host", "[x](//evil.example)", "<p>x</p>\n"},
		{"link to us without a host", "[x](http:/app/signout) <https:>", "<p>x https:</p>\n"},
		{
			"image", "![a cat](https://example.com/cat.png)",
			`<p><a href="https://example.com/cat.png" rel="nofollow noreferrer">a cat</a></p>` + "\n",
		},
		{"code", "```html\n<b>\n```", "<pre><code>&lt;b&gt;\n</code></pre>\n"},
		{"placeholders", "{{a_b}} ${c_d}", "<p>{{a_b}} ${c_d}</p>\n"},
		{"list", "3. a\n4. b", "<ol start=\"3\">\n<li>a</li>\n<li>b</li>\n</ol>\n"},
	}
	m := New()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, render(t, m, tt.text))
		})
	}
	require.Contains(t, render(t, m, "|a|b|\n|:-|-|\n|1|2|"), `<th align="left">a</th>`)
}

func render(t testing.TB, m *Markdown, text string) string {
	t.Helper()
	html, ok := m.Render([]prompt.Part{{Text: text, Variable: -1}}, 1<<20)
	require.True(t, ok || len(text) > 1000, text)
	return string(html)
}

// A placeholder is marked wherever it is, is words and no Markdown or HTML, and cannot
// change where a link leads.
func TestMarkdownOfVariables(t *testing.T) {
	t.Parallel()
	show := func(before, value, after string) string {
		html, ok := New().Render([]prompt.Part{
			{Text: before, Variable: -1},
			{Text: value, Variable: 7},
			{Text: after, Variable: -1},
		}, 1<<20)
		require.True(t, ok)
		return string(html)
	}
	require.Equal(t, "<p>Dear <strong><mark data-v=\"7\">*A* &lt;b&gt;</mark></strong>!</p>\n",
		show("Dear **", "*A* <b>", "**!"))
	require.Equal(t, "<h3><mark data-v=\"7\">x</mark></h3>\n<pre><code>y\n</code></pre>\n",
		show("# ", "x", "\n```\ny\n```\n"))
	require.Equal(t, "<p><a href=\"https://a.b/?q=%22%3E%20%2F\" rel=\"nofollow noreferrer\">a</a></p>\n",
		show("[a](https://a.b/?q=", "\"> /", ")"))
	require.Equal(t, "<p>a</p>\n", show("[a](", "javascript:alert(1)", ")"), "an address that is all value is no link")
	require.NotContains(t, show("[a](https://x", "/@evil.example/", ")"), "evil.example/\"")
	require.Equal(t, "<p>%EF%B7%900%EF%B7%91 <mark data-v=\"7\">v</mark></p>\n", show("%EF%B7%900%EF%B7%91 ", "v", ""),
		"what the text has itself stays")
	_, ok := New().Render([]prompt.Part{{Text: opening + "1" + closing, Variable: -1}, {Text: "v", Variable: 0}}, 1<<20)
	require.False(t, ok)
}

// Code is shown with each of its spaces, also without fences around it.
func TestCodeIsUnharmed(t *testing.T) {
	t.Parallel()
	m := New()
	for _, text := range []string{
		"{\n  \"a\": [1,\n    2],\n  \"b\": \"{{name}}\"\n}", "[\n  {\"a\": 1},\n  {\"b\": 2}\n]",
		`{"a": {"b": "# c"}}`, `["a", "b"]`,
		"model: small\nsteps:\n  - name: one\n    run: two\n  # so\n  - name: three",
		"<root>\n  <a x=\"1\">b</a>\n</root>",
		"{\n  \"code\": \"```js\"\n}",
	} {
		require.Equal(t, "<pre><code>"+template.HTMLEscapeString(text)+"\n</code></pre>\n", render(t, m, text), text)
	}
	for text, want := range map[string]string{
		"---\nname: x\nabout:\n  - y\n---\n# Title":      "<pre><code>---\nname: x\nabout:\n  - y\n---\n</code></pre>\n<h3>Title</h3>\n",
		"Answer so:\n{\n  \"a\": 1\n}\nand **no** more.": "<p>Answer so:</p>\n<pre><code>{\n  &#34;a&#34;: 1\n}\n</code></pre>\n<p>and <strong>no</strong> more.</p>\n",
		"---\n\ntext":                    "<hr>\n<p>text</p>\n",
		"Task: do it\nInput: that":       "<p>Task: do it<br>\nInput: that</p>\n",
		"{{name}} and {{other}}":         "<p>{{name}} and {{other}}</p>\n",
		"[Role] an expert [end]":         "<p>[Role] an expert [end]</p>\n",
		"<context>\n# Title\n</context>": "<p>&lt;context&gt;</p>\n<h3>Title</h3>\n<p>&lt;/context&gt;</p>\n",
		"```\n{\n\"a\": 1\n}\n```":       "<pre><code>{\n&#34;a&#34;: 1\n}\n</code></pre>\n",
		"{\nopen":                        "<p>{<br>\nopen</p>\n", "---": "<hr>\n", "---\na: b": "<hr>\n<p>a: b</p>\n",
	} {
		require.Equal(t, want, render(t, m, text), text)
	}
}

func TestCodeTakesLinearTime(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{
		"{\n", "[\n", "```\n~~~\n", "---\na: b\n", "a:\n  b: c\n",
		"<a>\n <a>\n", "`", " {\n{\n",
	} {
		text := strings.Repeat(unit, prompt.LimitMaxText/len(unit))
		require.LessOrEqual(t, len(fenced(text)), 4*len(text)+100, unit)
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for excerpt, want := range map[string]string{
		"# Title ## Part **Bold** and *soft* `code` text": "Title Part Bold and soft code text",
		"> quote - a dash 2 * 3 [link](https://x.y/z)":    "quote - a dash 2 * 3 link",
		"--- name: x about: y --- # Do it":                "Do it",
		"--- Act as --- x":                                "Act as x",
		"1. first *** rest":                               "first rest",
		"snake_case_name and __init__ C# 5 > 3":           "snake_case_name and __init__ C# 5 > 3",
		`{ "a": "**b**" }`:                                `{ "a": "**b**" }`,
		"***":                                             "***",
		"":                                                "",
	} {
		require.Equal(t, want, Words(excerpt))
	}
}

// safeTag is all that a rendered text may hold of HTML.
var safeTag = regexp.MustCompile(`^<(?:/?(?:p|hr|h[3-6]|ul|ol|li|blockquote|pre|code|em|strong|del|table|thead|tbody|tr|th|td|a)|br/?|hr/?|ol start="\d+"|t[hd] align="(?:left|right|center)"|a href="(?:https?://|mailto:)[^"<>]*" rel="nofollow noreferrer")>`)

func requireSafe(t testing.TB, out string) {
	for i, c := range out {
		if c == '<' {
			require.Regexp(t, safeTag, out[i:min(len(out), i+4096)], out)
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, seed := range []string{
		"<img src=x onerror=alert(1)>", "[a](javascript:x)", "<http://x'onx=1>",
		"![a][b]\n\n[b]: data:text/html,<script>", "a|b\n-|-\n<td>|`|`", "http://a\"onx=1", "[x](<https://a b>)",
		"&#106;avascript:", "\x00<\x00script>",
	} {
		f.Add(seed)
	}
	m := New()
	f.Fuzz(func(t *testing.T, text string) { requireSafe(t, render(t, m, text)) })
}

func TestExact(t *testing.T) {
	t.Parallel()
	require.Equal(t, "&lt;a&gt;&#13;\n&amp;&#34;", string(Exact("<a>\r\n&\"")))
	require.True(t, utf8.ValidString(string(Exact("é"))))
}
