package legible_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/legible"
)

// TestInvisible: what no reader sees is found, and what emoji and scripts are written with is not.
func TestInvisible(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"": 0, "plain": 0, "a\u00a0b\u2003c\n\td": 0, "e\u0301": 0, "1\ufe0f\u20e3": 0, "\u0600١": 0,
		"👩\u200d👩\u200d👧": 0, "❤\ufe0f\u200d🔥": 0, "❤\ufe0f": 0, "می\u200cخواهم": 0, "क्\u200dष": 0, "葛\U000e0100": 0,
		"a\u200b": 1, "a\u200d": 1, "\u200da": 1, "a\u200d\u200db": 2, "a \u200db": 1, "\ufe0f": 1, "a\ufe0f\ufe0e": 1,
		"❤\ufe0f\U000e0101\U000e0102x": 2,
		"\u202eabc\u202c":              2, "\u2066\u2067x": 2, "\u3164": 1, "\u2800": 1,
		"\ufeff": 1, "soft\u00adhyphen": 1,
		"x\U000e0041\U000e0042\U000e007f": 3,
		"\xff\U000e0041":                  1,
	} {
		require.Equal(t, want, legible.Count(text), "%+q", text)
		at := 0
		for from, to := range legible.Invisible(text) {
			require.Less(t, from, to)
			require.GreaterOrEqual(t, from, at)
			at = to
		}
	}
}

// TestLinesAndNames: a line says what its readers see, and the name of a person has nothing else.
func TestLinesAndNames(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]struct {
		line, name fault.Code
		clean      string
	}{
		"":                      {"", "", ""},
		"Анна-Мария":            {"", "", "Анна-Мария"},
		"می\u200cخواهم":         {"", "", "می\u200cخواهم"},
		"❤\ufe0f":               {"", "", "❤\ufe0f"},
		"👩\u200d👧":              {"", "", "👩\u200d👧"},
		"\u202etxt.exe":         {legible.InvisibleCharacters, legible.InvisibleCharacters, "txt.exe"},
		"a\u200fb":              {legible.InvisibleCharacters, legible.InvisibleCharacters, "ab"},
		"T\U000e0049\U000e0067": {legible.InvisibleCharacters, legible.InvisibleCharacters, "T"},
		"\u202e":                {legible.InvisibleCharacters, legible.InvisibleCharacters, ""},
		"\u200b":                {legible.NothingVisible, legible.NothingVisible, ""},
		"\u3164 \u2800":         {legible.NothingVisible, legible.NothingVisible, ""},
		"\u2060":                {legible.NothingVisible, legible.NothingVisible, ""},
		"\u200d\ufe0f":          {legible.NothingVisible, legible.NothingVisible, ""},
		"\ue000":                {legible.NothingVisible, legible.NothingVisible, ""},
		"\U000f0000 \ufdd0":     {legible.NothingVisible, legible.NothingVisible, ""},
		"\u0301\u20e3":          {legible.NothingVisible, legible.NothingVisible, ""},
		"\ufffc":                {legible.NothingVisible, legible.NothingVisible, ""},
		"e\u0301":               {"", "", "e\u0301"},
		"Bea\uf8ff":             {"", legible.InvisibleCharacters, "Bea\uf8ff"},
		"Bea\ufffe":             {"", legible.InvisibleCharacters, "Bea\ufffe"},
		"Bea\u200b":             {"", legible.InvisibleCharacters, "Bea\u200b"},
		"Be\u00ada":             {"", legible.InvisibleCharacters, "Be\u00ada"},
		"Bea\u2800":             {"", legible.InvisibleCharacters, "Bea\u2800"},
		"Bea\ufe0f":             {"", legible.InvisibleCharacters, "Bea\ufe0f"},
		"Bea 1\ufe0f":           {"", legible.InvisibleCharacters, "Bea 1\ufe0f"},
		"王\ufe0f":               {"", legible.InvisibleCharacters, "王\ufe0f"},
		"Bea 1\ufe0f\u20e3":     {"", "", "Bea 1\ufe0f\u20e3"},
		"葛\U000e0100城":          {"", "", "葛\U000e0100城"},
		"Bea\u200d":             {"", legible.InvisibleCharacters, "Bea\u200d"},
		"Be\u200ca":             {"", legible.InvisibleCharacters, "Be\u200ca"},
		"Be\u0301\u200da":       {"", legible.InvisibleCharacters, "Be\u0301\u200da"},
		"Бе\u200cа":             {"", legible.InvisibleCharacters, "Бе\u200cа"},
		"山\u200d田":              {"", legible.InvisibleCharacters, "山\u200d田"},
		"क्\u200dष":             {"", "", "क्\u200dष"},
		"🏳\ufe0f\u200d🌈":        {"", "", "🏳\ufe0f\u200d🌈"},
		"Be\u0378a":             {"", legible.InvisibleCharacters, "Be\u0378a"},
		"Bea \U0001d159":        {"", legible.InvisibleCharacters, "Bea \U0001d159"},
		"\U0001d159":            {legible.NothingVisible, legible.NothingVisible, ""},
		"Ann Lee":               {"", "", "Ann Lee"},
		"山田\u3000太郎":            {"", "", "山田\u3000太郎"},
		" Ann ":                 {"", "", " Ann "},
		"Ann  Lee":              {"", legible.InvisibleCharacters, "Ann  Lee"},
		"Ann\u00a0Lee":          {"", legible.InvisibleCharacters, "Ann\u00a0Lee"},
		"A\u200an\u200an":       {"", legible.InvisibleCharacters, "A\u200an\u200an"},
	} {
		code, message := legible.Line(line)
		require.Equal(t, want.line, code, "%+q", line)
		require.Equal(t, code == "", message == "")
		code, message = legible.Name(line)
		require.Equal(t, want.name, code, "%+q", line)
		require.Equal(t, code == "", message == "")
		require.Equal(t, want.clean, legible.Clean(line), "%+q", line)
		code, _ = legible.Line(legible.Clean(line))
		require.Empty(t, code, "what is left")
	}
}
