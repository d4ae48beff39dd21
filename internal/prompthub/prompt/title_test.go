package prompt_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"prompthub/internal/prompthub/prompt"
)

func TestNormalizeTitle(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"empty", "", ""},
		{"blank", " \u3000\t", ""},
		{"lower case", "Act As A Poet", "act as a poet"},
		{"trimmed, inside kept", "  a  b ", "a  b"},
		{"full width", "Ｃ＋＋　１２", "c++ 12"},
		{"half-width katakana", "ｶﾞｲﾄﾞ", "ガイド"},
		{"ligature", "ﬁne", "fine"},
		{"composed", "e\u0301", "é"},
		{"composed only in lower case", "H\u0331", "\u1e96"},
		{"sharp s", "Straße ẞ", "straße ß"},
		{"dotted capital I", "İstanbul I\u0307", "istanbul i"},
		{"dotless i", "ırmak", "ırmak"},
		{"sigmas", "ΟΔΟΣ οδος", "οδοσ οδος"},
		{"a space that NFKC makes is trimmed", "´a", "\u0301a"},
		{"ellipsis", "wait…", "wait..."},
		{"Kelvin and Ångström", "\u212a\u212b", "kå"},
		{"a character that becomes eighteen", "\ufdfa", "صلى الله عليه وسلم"},
		{"emoji stay", "🚀 GO", "🚀 go"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, prompt.NormalizeTitle(tt.in))
			require.Equal(t, tt.want, prompt.NormalizeTitle(tt.want))
		})
	}
}

func FuzzNormalizeTitle(f *testing.F) {
	for _, s := range []string{
		"İ", "H\u0331", "ΟΔΟΣ", "\u1e9e", "´", "\ufdfa", "\u1100\u1161\u11a8",
		"a" + strings.Repeat("\u0301\u0323", 40),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n := prompt.NormalizeTitle(s)
		require.Equal(t, n, prompt.NormalizeTitle(n), "%+q", s)
		require.Equal(t, n, prompt.NormalizeTitle("\u3000"+n+" "))
		require.Equal(t, n, strings.TrimSpace(n))
		require.Equal(t, n, strings.ToLower(n))
		if utf8.ValidString(s) {
			require.True(t, utf8.ValidString(n))
			require.True(t, norm.NFKC.IsNormalString(n))
		}
	})
}

// TestNormalizeEveryCharacter also stands each character next to marks that may join it.
func TestNormalizeEveryCharacter(t *testing.T) {
	t.Parallel()
	for r := rune(1); r <= unicode.MaxRune; r++ {
		if !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.S, unicode.P, unicode.Z) {
			continue
		}
		for _, after := range []string{"", "\u0301", "\u0307", "\u0323\u030c", "\u0331", "\u0345"} {
			n := prompt.NormalizeTitle(string(r) + after)
			if again := prompt.NormalizeTitle(n); again != n {
				t.Errorf("%+q: %+q, then %+q", string(r)+after, n, again)
			}
		}
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, title string
		want        string // in any order
	}{
		{"empty", "", ""},
		{"one letter", "a", "a"},
		{"two letters", "go", "go"},
		{"five letters", "poems", "po poe poems"},
		{"longer", "writing", "wr wri writi"},
		{"each once", "go gopher go", "go gop gophe"},
		{"very long", strings.Repeat("x", 200), "xx xxx xxxxx xxxxxxxx xxxxxxxxxxxx"},
		{"digits", "2024 7", "20 202 7"},
		{"apostrophe", "don’t", "do don t"},
		{"dash and underscore", "e-mail_x", "e ma mai x"},
		{"slash", "CI/CD", "ci cd"},
		{"c++", "C++", "c c+ c++"},
		{"c#", "C#", "c c#"},
		{"c++17", "c++17", "c c+ c++ 17"},
		{".net", ".NET", "ne net .n .ne .net"},
		{"asp.net", "ASP.NET", "as asp ne net asp.n .n .ne .net asp.net"},
		{"node.js", "Node.js", "no nod js node. .j .js node.js"},
		{"version", "3.5.2", "3 5 2 3. 3.5 3.5.2 5. 5.2 .5 .5. .5.2 .2"},
		{"plus in a chain", "a.c++", "a c a. a.c a.c++ .c .c+ .c++ c+ c++"},
		{"c#.net", "c#.net", "c c# ne net .n .ne .net"},
		{"hash before a word", "#1 #tag", "1 ta tag"},
		{"plus before a word", "+1", "1"},
		{"plus alone", "a + b", "a b"},
		{"full stop", "Go. Run.", "go ru run"},
		{"ellipsis", "go…run", "go ru run .r .ru .run"},
		{"punctuation", "?!-.+#/", ""},
		{"emoji", "🚀👩‍💻❤️ go 👍🏽", "go"},
		{"keycap", "1️⃣ go", "1 go"},
		{"full width", "Ｃ＋＋", "c c+ c++"},
		{"sharp s", "Straße", "st str stras"},
		{"final sigma", "ΟΔΟΣ οδος", "οδ οδο"},
		{"ligature", "ﬁne", "fi fin"},
		{"mark in a word", "x\u0302y", "x\u0302 x\u0302y"},
		{"mark without a letter", "\u0301a", "a"},
		{"soft hyphen", "po\u00adem", "po poe"},
		{"zero-width space", "po\u200bem", "po em"},
		{"Persian with a non-joiner", "می‌خواهم", "می میخ میخوا"},
		{"Hebrew with points", "ש\u05c1ל\u05b9ם", "ש\u05c1 ש\u05c1ל ש\u05c1ל\u05b9ם"},
		{"Devanagari", "हिन्दी", "हि हिन हिन्द"},
		{"Han", "提示词", "提示 示词"},
		{"one Han", "猫 犬", "猫 犬"},
		{"Han with Kana", "食べる", "食べ べる"},
		{"long vowel", "ユーザー", "ユー ーザ ザー"},
		{"Hangul", "한국어 글", "한국 국어 글"},
		{"Thai", "ภาษาไทย", "ภา าษ ษา าไ ไท ทย"},
		{"Thai with a tone mark", "ที่", "ที ี่"},
		{"Latin beside Han", "python入門", "py pyt pytho 入門"},
		{"digit beside Han", "3月", "3 月"},
		{"joiners beside Han", "入門+ .日 c++語", "入門 日 c c+ c++ 語"},
		{"numbers of other scripts", "٣٤ ४ ½", "٣٤ ४ 1 2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := strings.Fields(norm.NFKC.String(tt.want))
			slices.Sort(want)
			got := prompt.Tokens(prompt.NormalizeTitle(tt.title))
			require.Equal(t, want, append([]string{}, got...))
		})
	}
}

// TestTitleOfManyTokens holds that a title has a bounded number of rows, and which of its words are
// found then.
func TestTitleOfManyTokens(t *testing.T) {
	t.Parallel()
	letters := make([]string, 100)
	for i := range letters {
		letters[i] = string(rune('a' + i%26))
	}
	words := make([]string, 44)
	for i := range words {
		words[i] = string(rune('a'+i%26)) + string(rune('a'+i/26)) + "xyz"
	}
	tests := []struct {
		name, title string
		found       []string
		beyond      string
	}{
		{"letters joined by dots", strings.Join(letters, "."), []string{"a.b.c", "i"}, "j"},
		{"words", strings.Join(words, " "), []string{"aaxyz", words[39]}, words[40]},
		{"a run", strings.Repeat("提示词入門", 28) + "猫犬", []string{"提示词入門"}, "猫犬"},
		{"a character that becomes eighteen", strings.Repeat("\ufdfa ", 60) + "end", []string{"الله"}, "end"},
		{"the last word is cut", strings.Join(words[:37], " ") + " c.d.e", []string{words[36]}, "c.d"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			title := prompt.NormalizeTitle(tt.title)
			tokens := prompt.Tokens(title)
			require.LessOrEqual(t, len(tokens), prompt.MaxTokens)
			for _, s := range tt.found {
				q := parse(t, s)
				require.True(t, q.Match(title), s)
				require.Subset(t, tokens, q.Tokens())
			}
			require.False(t, parse(t, tt.beyond).Match(title), "%q has no row and is not found", tt.beyond)
		})
	}
}
