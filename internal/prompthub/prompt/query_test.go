package prompt_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
)

func parse(t testing.TB, q string) prompt.Query {
	t.Helper()
	query, err := prompt.ParseQuery(q)
	require.NoError(t, err, "%+q", q)
	return query
}

func TestMatch(t *testing.T) {
	t.Parallel()
	tests := []struct {
		query string
		finds []string
		not   []string
	}{
		{"", []string{"anything", "🚀", ""}, nil},
		{" \u3000", []string{"anything"}, nil},
		{"🚀", nil, []string{"🚀", "anything", ""}},
		{"?!", nil, []string{"?!", ""}},
		{"...", nil, []string{"..."}},
		{"\u200d", nil, []string{"\u200d"}},
		{"wri", []string{"Writing", "To write", "WRI"}, []string{"wr", "rewrite", "w r i"}},
		{"writings", []string{"Writings"}, []string{"Writing", "Writinx"}},
		{"wr", []string{"Write"}, []string{"w"}},
		{"c", []string{"C", "C++", "c#", "objective-c", "a.c", "c.d"}, []string{"cc", "code", ""}},
		{"act poet", []string{"Act as a poet", "poets' acts"}, []string{"act", "poet"}},
		{"act act", []string{"act"}, nil},
		{"c++", []string{"C++", "Modern C++17", "Ｃ＋＋", "c+++", "a.c++"}, []string{"c", "c+", "c + +", "c#", "cc++"}},
		{"c+", []string{"c++", "c+"}, []string{"c", "c#", "cpp"}},
		{"c#", []string{"C#", "c#.net"}, []string{"c", "c++", "c #"}},
		{".ne", []string{".NET", "ASP.NET", "use .net."}, []string{"net", "end. Next", "network"}},
		{".net", []string{".NET", "c#.net"}, []string{"net", "internet", ".ne"}},
		{"net", []string{".NET", "ASP.NET", "network"}, []string{"internet"}},
		{"node.js", []string{"Node.js", "node.jsx", "my.node.js"}, []string{"node js", "nodejs", "anode.js"}},
		{"node.j", []string{"Node.js"}, []string{"node", "node.x"}},
		{"node.", []string{"Node.js", "node", "nodes."}, []string{"nod"}},
		{"js", []string{"node.js"}, []string{"nodejs"}},
		{"5.2", []string{"3.5.2", "5.2", "5.21"}, []string{"3.15.2", "52", "5 2"}},
		{"ci/cd", []string{"CI/CD", "cd and ci", "ci-cd"}, []string{"ci", "cicd"}},
		{"#tag", []string{"tag", "#tags"}, []string{"hashtag"}},
		{"2024", []string{"2024", "in 2024-05"}, []string{"12024", "202"}},
		{"strasse", []string{"Straße", "STRASSE", "STRAẞE"}, []string{"strase"}},
		{"straß", []string{"Straße", "strasse"}, nil},
		{"οδος", []string{"ΟΔΟΣ", "οδος", "οδοσήμανση"}, nil},
		{"istanbul", []string{"İstanbul", "ISTANBUL"}, []string{"ıstanbul"}},
		{"fine", []string{"ﬁne"}, nil},
		{"poem", []string{"po\u00adem", "poem\ufe0f"}, []string{"po\u200bem"}},
		{"1", []string{"1️⃣ step", "step 1", "1.5"}, []string{"10"}},
		{"שלום", []string{"שלום עולם"}, []string{"עולם"}},
		{"提示", []string{"提示词", "写提示词", "AI提示"}, []string{"提 示", "提x示", "示提"}},
		{"提示词", []string{"好提示词！"}, []string{"提示示词"}},
		{"猫", []string{"猫", "my 猫!", "a猫b"}, []string{"猫犬", "子猫"}},
		{"ザー", []string{"ユーザー", "ﾕｰｻﾞｰ"}, []string{"ザ"}},
		{"국어", []string{"한국어", "국어"}, []string{"국 어"}},
		{"ไทย", []string{"ภาษาไทย"}, []string{"ไท"}},
		{"python入門", []string{"Python3 の入門", "入門 python"}, []string{"python", "入門"}},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%q", tt.query), func(t *testing.T) {
			t.Parallel()
			q := parse(t, tt.query)
			for _, title := range tt.finds {
				require.True(t, q.Match(prompt.NormalizeTitle(title)), title)
			}
			for _, title := range tt.not {
				require.False(t, q.Match(prompt.NormalizeTitle(title)), title)
			}
		})
	}
}

func TestQueryTokens(t *testing.T) {
	t.Parallel()
	tests := []struct {
		query string
		want  []string
	}{
		{"", nil},
		{"🚀", nil},
		{"c", []string{"c"}},
		{"Po", []string{"po"}},
		{"writings", []string{"writings"}},
		{"write writing writings", []string{"write", "writi", "writings"}},
		{"b a b", []string{"a", "b"}},
		{"c++ node.js .net", []string{".ne", "c++", "node."}},
		{"提示词", []string{"提示", "示词"}},
		{"猫", []string{"猫"}},
		{"入門入門 python", []string{"pytho", "入門", "門入"}},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%q", tt.query), func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, parse(t, tt.query).Tokens())
		})
	}
}

func TestQueryTokensAreFew(t *testing.T) {
	t.Parallel()
	var run []rune
	for i := range rune(100) {
		run = append(run, '一'+i)
	}
	q := parse(t, string(run)+" zebra")
	require.Len(t, q.Tokens(), 20)
	require.Contains(t, q.Tokens(), "zebra", "each word has its token")
	require.True(t, q.Match(string(run)+" zebra"))
	run[90] = 'x'
	require.False(t, q.Match(string(run)+" zebra"), "what has no token is matched all the same")
}

func TestEmptyAndNothing(t *testing.T) {
	t.Parallel()
	tests := []struct {
		query          string
		empty, nothing bool
	}{
		{"", true, false},
		{"  \u00a0\u3000", true, false},
		{"🚀", false, true},
		{" - ", false, true},
		{"+#.", false, true},
		{"\u0301", false, true},
		{"\u200b", false, true},
		{"a", false, false},
		{"🚀 a", false, false},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%+q", tt.query), func(t *testing.T) {
			t.Parallel()
			q := parse(t, tt.query)
			require.Equal(t, tt.empty, q.Empty())
			require.Equal(t, tt.nothing, q.Nothing())
		})
	}
	require.True(t, prompt.Query{}.Empty())
	require.True(t, prompt.Query{}.Match("anything"))
}

func TestParseQueryLimits(t *testing.T) {
	t.Parallel()
	const clef = "\U0001d11e"
	tests := []struct {
		name, query, message string // no message: accepted
	}{
		{"200 characters", strings.Repeat("é", 200), ""},
		{"201 characters", strings.Repeat("é", 201), "at most 200 characters, it has 201"},
		{"201 with spaces around", strings.Repeat("é", 199) + "  ", "at most 200"},
		{"100 pairs", strings.Repeat(clef, 100), ""},
		{"101 pairs", strings.Repeat(clef, 101), "it has 202"},
		{"20 words", strings.Repeat("go ", 20), ""},
		{"21 words", strings.Repeat("go ", 21), "at most 20 words, these are 21"},
		{"20 words and emoji", strings.Repeat("go 🚀 ", 20), ""},
		{"invalid UTF-8", "a\xff", "UTF-8"},
		{"NUL", "a\x00b", "control"},
		{"tab", "a\tb", "control"},
		{"line break at the end", "a\n", "control"},
		{"DEL", "\x7f", "control"},
		{"C1", "\u0085", "control"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := prompt.ParseQuery(tt.query)
			if tt.message == "" {
				require.NoError(t, err)
				return
			}
			broken, ok := errors.AsType[*fault.Error](err)
			require.True(t, ok)
			require.Equal(t, fault.Malformed, broken.Kind)
			require.Len(t, broken.Fields, 1)
			require.Equal(t, "q", broken.Fields[0].Name)
			require.Contains(t, broken.Fields[0].Message, tt.message)
		})
	}
}

func TestQueryString(t *testing.T) {
	t.Parallel()
	require.Empty(t, parse(t, "  ").String())
	for _, same := range [][]string{
		{"poet act", "act poet", " ACT  Poet! ", "act act poet", "Ａｃｔ/poet"},
		{"c++ .net", ".NET, C++"},
		{"straße", "STRASSE"},
		{"🚀", "-", "?"},
		{"python入門", "入門 Python"},
	} {
		for _, q := range same {
			require.Equal(t, parse(t, same[0]).String(), parse(t, q).String(), q)
		}
	}
	different := []string{"", "🚀", "c", "c+", "c++", "c#", ".c", "a b", "ab", "a.b", "a", "入", "入門"}
	var seen []string
	for _, q := range different {
		seen = append(seen, parse(t, q).String())
	}
	slices.Sort(seen)
	require.Len(t, slices.Compact(seen), len(different))
}

func FuzzParseQuery(f *testing.F) {
	for _, s := range []string{
		`"code review" -poet -"act as" tag:development author:"Ann Lee" name:x`, `"`, `""`, `"a`, `-`, `--a`, `-"`,
		`-"a`, `tag:`, `TAG:É`, `author:"`, `author:""`,
		`author:a author:b`, `“a b”c„d`, `-tag:a`, `name:"a"b"`, `x"y" z`,
	} {
		f.Add(s)
	}
	for _, s := range []string{
		"", "🚀", "c++ node.js .net c+ a.", "入門python ภาษาไทย", strings.Repeat("a ", 21),
		"a\x00", "\xff", "1️⃣", "\ufdfa",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q, err := prompt.ParseQuery(s)
		if err != nil {
			require.Equal(t, fault.Malformed, fault.Of(err))
			require.Zero(t, q)
			return
		}
		tokens := q.Tokens()
		require.LessOrEqual(t, len(tokens), 20)
		require.Equal(t, q.Empty() || q.Nothing(), len(tokens) == 0)
		require.Equal(t, q.Empty() && !q.Qualified(), strings.TrimSpace(s) == "")
		last := 0
		for _, m := range q.Marks(s) {
			require.True(t, last <= m.From && m.From < m.To && m.To <= len(s),
				"marks stand in the text, one after the other")
			require.True(t, utf8.ValidString(s[m.From:m.To]))
			last = m.To
		}
		if title := prompt.NormalizeTitle(s); prompt.Whole(title) && !q.Qualified() {
			require.Equal(t, !q.Nothing(), q.Match(title), "a title finds itself")
		}

		canonical, err := prompt.ParseQuery(q.String())
		if err != nil {
			return // NFKC made it longer than a query may be
		}
		require.Equal(t, q.String(), canonical.String())
		again, err := prompt.ParseQuery(q.Typed())
		require.NoError(t, err)
		require.Equal(t, q.Typed(), again.Typed())
	})
}

// TestMatchWithoutFolding holds the quick look at a title against what it stands for: where it says
// that folding changes nothing, nothing changes.
func TestMatchWithoutFolding(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= unicode.MaxRune; r++ {
		for _, s := range []string{string(r), "a" + string(r) + "b"} {
			if s = prompt.NormalizeTitle(s); !prompt.Folds(s) {
				require.Equal(t, s, prompt.Fold(s), "%+q", s)
			}
		}
	}
}
