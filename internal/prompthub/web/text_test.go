package web

import (
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestMarkdown(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"paragraphs", "a\n\nb", "<p>a</p>\n<p>b</p>\n"},
		{"lines stay lines", "a\nb", "<p>a<br>\nb</p>\n"},
		{"tags are words", "<context>\nDo <b>this</b>.\n</context>", "<p>&lt;context&gt;<br>\nDo &lt;b&gt;this&lt;/b&gt;.<br>\n&lt;/context&gt;</p>\n"},
		{"script", "<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>\n"},
		{"comment", "<!-- x -->", "<p>&lt;!-- x --&gt;</p>\n"},
		{"headings go under the page's", "# A\n### B\n# C", "<h3>A</h3>\n<h4>B</h4>\n<h3>C</h3>\n"},
		{"deep headings", "###### A\n###### B", "<h3>A</h3>\n<h4>B</h4>\n"},
		{"link", "[x](https://example.com)", `<p><a href="https://example.com" rel="nofollow noreferrer">x</a></p>` + "\n"},
		{"address", "see https://example.com.", `<p>see <a href="https://example.com" rel="nofollow noreferrer">https://example.com</a>.</p>` + "\n"},
		{"dangerous link", "[x](javascript:alert(1))", "<p>x</p>\n"},
		{"link to us", "[x](/app/signout)", "<p>x</p>\n"},
		{"link to another host", "[x](//evil.example)", "<p>x</p>\n"},
		{"link to us without a host", "[x](http:/app/signout) <https:>", "<p>x https:</p>\n"},
		{"image", "![a cat](https://example.com/cat.png)", `<p><a href="https://example.com/cat.png" rel="nofollow noreferrer">a cat</a></p>` + "\n"},
		{"code", "```html\n<b>\n```", "<pre><code>&lt;b&gt;\n</code></pre>\n"},
		{"placeholders", "{{a_b}} ${c_d}", "<p>{{a_b}} ${c_d}</p>\n"},
		{"list", "3. a\n4. b", "<ol start=\"3\">\n<li>a</li>\n<li>b</li>\n</ol>\n"},
	}
	m := newMarkdown()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, string(m.render(tt.text)))
		})
	}
	require.Contains(t, m.render("|a|b|\n|:-|-|\n|1|2|"), `<th align="left">a</th>`)
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
		"<img src=x onerror=alert(1)>", "[a](javascript:x)", "<http://x'onx=1>", "![a][b]\n\n[b]: data:text/html,<script>", "a|b\n-|-\n<td>|`|`", "http://a\"onx=1", "[x](<https://a b>)", "&#106;avascript:", "\x00<\x00script>",
	} {
		f.Add(seed)
	}
	m := newMarkdown()
	f.Fuzz(func(t *testing.T, text string) { requireSafe(t, string(m.render(text))) })
}

func TestVariables(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       []variable
	}{
		{"none", "plain {text} $x {{}} ${}", nil},
		{"two braces", "a {{ my name }} b", []variable{{Name: "my name"}}},
		{"dollar", "a ${language} b", []variable{{Name: "language"}}},
		{"default", "${Position:Software Developer}", []variable{{Name: "Position", Default: "Software Developer"}}},
		{"default with a colon", "${time:12:30}", []variable{{Name: "time", Default: "12:30"}}},
		{"same twice", "${a} {{a}} ${a:x} ${a:y}", []variable{{Name: "a", Default: "x"}}},
		{"other scripts", "{{имя}} ${名前}", []variable{{Name: "имя"}, {Name: "名前"}}},
		{"template commands", "{{#if x}} {{/if}} {{> y}}", nil},
		{"long name", "{{" + strings.Repeat("x", 61) + "}}", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, parseFill(tt.text).Variables)
		})
	}
}

func TestFill(t *testing.T) {
	t.Parallel()
	f := parseFill("Dear {{name}}, ${greeting:hello} from {{place}}. {{name}}!")
	show := func() string {
		var b strings.Builder
		for _, p := range f.Pieces {
			b.WriteString(f.Show(p))
		}
		return b.String()
	}
	require.Equal(t, "Dear {{name}}, hello from {{place}}. {{name}}!", show())
	f.Variables[0].Value, f.Variables[1].Value = "Ann", "<hi>"
	require.Equal(t, "Dear Ann, <hi> from {{place}}. Ann!", show())
}

func FuzzFill(f *testing.F) {
	f.Add("a ${b:c} {{d}}")
	f.Fuzz(func(t *testing.T, text string) {
		fill := parseFill(text)
		require.LessOrEqual(t, len(fill.Variables), maxVariables)
		rest := text
		for _, p := range fill.Pieces {
			if p.Variable < 0 {
				i := strings.Index(rest, p.Text)
				require.GreaterOrEqual(t, i, 0, "a piece that is no part of the text")
				rest = rest[i+len(p.Text):]
			}
		}
	})
}

func TestExact(t *testing.T) {
	t.Parallel()
	require.Equal(t, "&lt;a&gt;&#13;\n&amp;&#34;", string(exact("<a>\r\n&\"")))
	require.True(t, utf8.ValidString(string(exact("é"))))
}

func TestAge(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Hour: "just now", 59 * time.Second: "just now", time.Minute: "1 minute ago", 3 * time.Hour: "3 hours ago",
		47 * time.Hour: "1 day ago", 40 * 24 * time.Hour: "1 month ago", 800 * 24 * time.Hour: "2 years ago",
	} {
		require.Equal(t, want, age(d))
	}
}
