package prompt_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/legible"
	"prompthub/internal/prompthub/prompt"
)

func TestInvisibleCharactersOfAContent(t *testing.T) {
	t.Parallel()
	chat := prompt.Content{
		Kind: prompt.KindChat,
		Messages: []prompt.Message{
			{Role: "user", Content: "a\u200b"},
			{Placeholder: "p"},
			{Role: "user", Content: "\u202eb"},
		},
	}
	require.Equal(t, 2, chat.Invisible())
}

// TestTitlesAndNamesAreReadable: a title or name says what its readers see.
func TestTitlesAndNamesAreReadable(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]struct {
		code     fault.Code
		readable string
	}{
		"\u202etxt.exe":         {legible.InvisibleCharacters, "txt.exe"},
		"a\u2066\u2067x":        {legible.InvisibleCharacters, "ax"},
		"a\u200fb":              {legible.InvisibleCharacters, "ab"},
		"T\U000e0049\U000e0067": {legible.InvisibleCharacters, "T"},
		"\u202e":                {legible.InvisibleCharacters, ""},
		"\u200b":                {legible.NothingVisible, ""},
		"\u3164 \u2800":         {legible.NothingVisible, ""},
		"\u200d\ufe0f":          {legible.NothingVisible, ""},
		"a\u200b":               {"", "a\u200b"},
		"❤\ufe0f":               {"", "❤\ufe0f"},
	} {
		for field, d := range map[string]prompt.Draft{
			"title":       titled(line),
			"name":        draft(func(d *prompt.Draft) { d.Name = line }),
			"oldNames[0]": draft(func(d *prompt.Draft) { d.PreviousNames.OldNames = []string{line} }),
		} {
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
		require.Equal(t, want.readable, legible.Clean(line), "%+q", line)
	}
	_, err := prompt.Profile{Handle: "ann", Name: "A\u202enn"}.Check()
	broken, ok := err.(*fault.Error) //nolint:errorlint // it is not wrapped
	require.True(t, ok)
	require.Equal(t, legible.InvisibleCharacters, broken.Fields[0].Code)
}
