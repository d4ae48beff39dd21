package prompt_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"prompthub/internal/prompthub/prompt"
)

func TestExcerpt(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"short", "Act as a poet.", "Act as a poet."},
		{"lines become one", "  Act\r\n\tas\n\na poet. ", "Act as a poet."},
		{"exactly as long", strings.Repeat("é", 200), strings.Repeat("é", 200)},
		{"one more", strings.Repeat("😀", 201), strings.Repeat("😀", 200) + "…"},
		{"cut at a space", strings.Repeat("a", 199) + " b", strings.Repeat("a", 199) + "…"},
		{"nothing but space", " \n ", ""},
	} {
		t.Run(tc.name, func(t *testing.T) { require.Equal(t, tc.want, prompt.Excerpt(tc.text)) })
	}
}

// TestExcerptIsOfTheBody: lists show what people read, and no front matter or JSON of a program.
func TestExcerptIsOfTheBody(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"---\nname: x\ndescription: y\n---\n\n# Act as a poet.\n": "# Act as a poet.",
		"\ufeff--- \r\nname: x\r\n---\r\nAct as a poet.":          "Act as a poet.",
		"---\n---\nAct":          "Act",
		"---\nname: x\n---\n \n": "--- name: x ---", // nothing else
		"---\nname: x":           "--- name: x",
		"--- a dash":             "--- a dash",
		"Act.\n---\nx\n---\ny":   "Act. --- x --- y",
		`[{"role":"system","content":"You review code."},{"role":"user","content":"x"}]`:             "You review code.",
		` {"model":"m","messages":[{"role":"system","content":" "},{"role":"user","content":"Hi"}]}`: "Hi",
		`[{"role":"user","content":[{"type":"text","text":"Look"},{"type":"image"}]}]`:               "Look",
		`{"messages":[{"content":"no role"}]}`:                                                       `{"messages":[{"content":"no role"}]}`,
		`{"content":"an object"}`:                                                                    `{"content":"an object"}`,
		`[{"role":"user","content":"not JSON"`:                                                       `[{"role":"user","content":"not JSON"`,
		`[a list] of "content"`:                                                                      `[a list] of "content"`,
		`[{"role":"user","content":3}, null]`:                                                        `[{"role":"user","content":3}, null]`,
	} {
		require.Equal(t, want, prompt.Content{Text: text}.Excerpt(), "%q", text)
	}
	require.Equal(t, "Act as a poet.", prompt.Draft{Text: "---\nname: x\n---\nAct as a poet. Then stop."}.About())
}

// TestFirstSentence compares what a prompt is about with what a look at the whole text finds.
func TestFirstSentence(t *testing.T) {
	t.Parallel()
	require.Equal(t, "Act as a poet.", prompt.Draft{Text: "Act as\ta poet. Then stop."}.About())
	require.Equal(t, strings.Repeat("a", 200)+"…", prompt.Draft{Text: strings.Repeat("a", 201) + ". b"}.About())
	letters := []rune("aaaaabé😀.!?。 \n\t\x01\u0085")
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOfN(rapid.SampledFrom(letters), 1, 700).Draw(t, "text"))
		if rapid.Bool().Draw(t, "one sentence") {
			text = strings.NewReplacer(".", "a", "!", "b", "?", "c", "。", "d", "\n\n", "\n").Replace(text)
		}
		require.Equal(t, firstSentence(text), prompt.Draft{Text: text}.About(), "%q", text)
	})
}

func firstSentence(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n\n")
	if at := regexp.MustCompile(`[.!?][\s\x{85}\x0b\x{a0}]|。.`).FindStringIndex(
		strings.ReplaceAll(text, "\n", " ")); at != nil {
		_, size := utf8.DecodeRuneInString(text[at[0]:])
		text = text[:at[0]+size]
	}
	return prompt.Excerpt(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text))
}

// TestShown: skills show at most MaxShown characters of a description, and lists MaxBrief. Shorter
// descriptions stay as they are, and so do results.
func TestShown(t *testing.T) {
	t.Parallel()
	for most, show := range map[int]func(string) string{prompt.MaxShown: prompt.Shown, prompt.MaxBrief: prompt.Brief} {
		for _, unit := range []string{"x", "word ", "é", "🚀", "名"} {
			for _, n := range []int{0, 1, most / 2, most - 1, most, most + 1, 5000} {
				about := strings.Repeat(unit, n)
				shown := show(about)
				require.LessOrEqual(t, len(utf16.Encode([]rune(shown))), most)
				require.Equal(t, shown, show(shown))
				if len(utf16.Encode([]rune(about))) <= most {
					require.Equal(t, about, shown)
				} else {
					require.True(t, strings.HasSuffix(shown, "…") &&
						strings.HasPrefix(about, strings.TrimSuffix(shown, "…")))
				}
			}
		}
	}
}
