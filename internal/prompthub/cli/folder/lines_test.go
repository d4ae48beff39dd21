package folder

import (
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
)

// TestLineEndsOfASkill: those of texts are git's and no change, those of other files are content. A
// text goes to the service with the line ends that it has there.
func TestLineEndsOfASkill(t *testing.T) {
	t.Parallel()
	const binary = "\x00\n"
	for name, tt := range map[string]struct {
		here, there string
		same        bool
		sent        string
	}{
		"as they are":             {"a\nb\n", "a\nb\n", true, "a\nb\n"},
		"a checkout on Windows":   {"a\r\nb\r\n", "a\nb\n", true, "a\nb\n"},
		"edited on Windows":       {"a\r\nc\r\n", "a\nb\n", false, "a\nc\n"},
		"one end of Windows":      {"a\r\nb\n", "a\nb\n", true, "a\nb\n"},
		"those of Windows there":  {"a\r\nc\r\n", "a\r\nb\r\n", false, "a\r\nc\r\n"},
		"a checkout without them": {"a\nb\n", "a\r\nb\r\n", true, "a\nb\n"},
		"both kinds there":        {"a\r\nc\n", "a\r\nb\n", false, "a\r\nc\n"},
		"a carriage return alone": {"a\rb", "a\nb", false, "a\rb"},
		"a file that is no text":  {"\x00\r\n", binary, false, "\x00\r\n"},
		"a text where that was":   {"a\r\n", binary, false, "a\n"},
		"that where a text was":   {"\x00\r\n", "a\n", false, "\x00\r\n"},
		"nothing":                 {"", "", true, ""},
		"an end more":             {"a\r\n\r\n", "a\r\n", false, "a\r\n\r\n"},
		"a return before the end": {"a\r\r\n", "a\r\n", false, "a\r\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := func(s string) []prompt.FileBytes { return []prompt.FileBytes{{Path: "a", Bytes: []byte(s)}} }
			i := Item{known: true, changed: true, skill: &skill{here: file(tt.here), there: file(tt.there)}}
			require.Equal(t, tt.same, i.same())
			i.skill.takeEnds()
			require.Equal(t, tt.sent, string(i.skill.here[0].Bytes))
			require.Equal(t, tt.same, i.same(), "their line ends change nothing")
		})
	}
	s := &skill{here: []prompt.FileBytes{{Path: "new", Bytes: []byte("a\r\n")}}}
	s.takeEnds()
	require.Equal(t, "a\r\n", string(s.here[0].Bytes), "a file that is not there goes as it is")
}
