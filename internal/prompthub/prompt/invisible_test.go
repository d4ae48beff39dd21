package prompt_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
)

// TestInvisible: what no reader sees is found, and what emoji and scripts are written with is not.
func TestInvisible(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"": 0, "plain": 0, "a\u00a0b\u2003c\n\td": 0, "e\u0301": 0, "1\ufe0f\u20e3": 0, "\u0600١": 0,
		"👩\u200d👩\u200d👧": 0, "❤\ufe0f\u200d🔥": 0, "❤\ufe0f": 0, "می\u200cخواهم": 0, "क्\u200dष": 0, "葛\U000e0100": 0,
		"a\u200b": 1, "a\u200d": 1, "\u200da": 1, "a\u200d\u200db": 2, "a \u200db": 1, "\ufe0f": 1, "a\ufe0f\ufe0e": 1, "❤\ufe0f\U000e0101\U000e0102x": 2,
		"\u202eabc\u202c": 2, "\u2066\u2067x": 2, "\u3164": 1, "\u2800": 1, "\ufeff": 1, "soft\u00adhyphen": 1, "x\U000e0041\U000e0042\U000e007f": 3,
		"\xff\U000e0041": 1,
	} {
		require.Equal(t, want, prompt.CountInvisible(text), "%+q", text)
		at := 0
		for from, to := range prompt.Invisible(text) {
			require.Less(t, from, to)
			require.GreaterOrEqual(t, from, at)
			at = to
		}
	}
	chat := prompt.Content{Kind: prompt.KindChat, Messages: []prompt.Message{{Role: "user", Content: "a\u200b"}, {Placeholder: "p"}, {Role: "user", Content: "\u202eb"}}}
	require.Equal(t, 2, chat.Invisible())
}

// TestTitlesAndNamesAreReadable: a title or name says what its readers see.
func TestTitlesAndNamesAreReadable(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]struct {
		code     fault.Code
		readable string
	}{
		"\u202etxt.exe":         {prompt.InvisibleCharacters, "txt.exe"},
		"a\u2066\u2067x":        {prompt.InvisibleCharacters, "ax"},
		"a\u200fb":              {prompt.InvisibleCharacters, "ab"},
		"T\U000e0049\U000e0067": {prompt.InvisibleCharacters, "T"},
		"\u202e":                {prompt.InvisibleCharacters, ""},
		"\u200b":                {prompt.NothingVisible, ""},
		"\u3164 \u2800":         {prompt.NothingVisible, ""},
		"\u200d\ufe0f":          {prompt.NothingVisible, ""},
		"a\u200b":               {"", "a\u200b"},
		"❤\ufe0f":               {"", "❤\ufe0f"},
	} {
		for field, d := range map[string]prompt.Draft{"title": titled(line), "name": draft(func(d *prompt.Draft) { d.Name = line }), "oldNames[0]": draft(func(d *prompt.Draft) { d.PreviousNames.OldNames = []string{line} })} {
			_, err := prompt.Rules{}.Check(d)
			if want.code == "" {
				require.NoError(t, err, "%+q", line)
				continue
			}
			broken := refused(t, prompt.Rules{}, d)
			require.Len(t, broken, 1, "%+q", line)
			require.Equal(t, field, broken[0].Name)
			require.Equal(t, want.code, broken[0].Code)
			_, err = prompt.Rules{}.CheckEdit(d, d)
			require.Equal(t, field == "oldNames[0]", err != nil, "what is stored already stays")
		}
		require.Equal(t, want.readable, prompt.Readable(line), "%+q", line)
	}
	_, err := prompt.Profile{Handle: "ann", Name: "A\u202enn"}.Check()
	broken, ok := err.(*fault.Error) //nolint:errorlint // it is not wrapped
	require.True(t, ok)
	require.Equal(t, prompt.InvisibleCharacters, broken.Fields[0].Code)
}
