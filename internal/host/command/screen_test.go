package command

import (
	"bytes"
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestScreen: text of other people does not command a terminal, in any pieces.
func TestScreen(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a\x1b]0;owned\ab\x1b[2J":       `a\u001b]0;owned\u0007b\u001b[2J`,
		"C1 \u009b31m and delete \x7f":  `C1 \u009b31m and delete \u007f`,
		"raw \x9b31m":                   `raw \x9b31m`,
		"lines\nand\ttabs\r\nstay, ä 🙂": "lines\nand\ttabs\r\nstay, ä 🙂",
		"no return\rover it":            `no return\u000dover it`,
		"NUL \x00":                      `NUL \u0000`,
	} {
		var whole, pieces bytes.Buffer
		n, err := (&screen{to: &whole}).Write([]byte(text))
		require.NoError(t, err)
		require.Equal(t, len(text), n)
		require.Equal(t, want, whole.String())
		if strings.Contains(text, "\r") {
			continue // alone it is no line end
		}
		s := &screen{to: &pieces}
		for cut := range []byte(text) {
			_, err := s.Write([]byte{text[cut]})
			require.NoError(t, err)
		}
		require.Equal(t, want, pieces.String())
	}
}

// TestOnlyTerminalsAreScreens: bytes for a file or another program stay as they are. The null
// device is no terminal, but the same to the program.
func TestOnlyTerminalsAreScreens(t *testing.T) {
	t.Parallel()
	terminal, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer terminal.Close()
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	defer file.Close()
	run := func(out io.Writer) (std Streams) {
		p := Program{Commands: []Command{{Name: "get", Setup: func(*flag.FlagSet) Action {
			return func(_ context.Context, given Streams, _ []string) error { std = given; return nil }
		}}}}
		require.Equal(t, OK, p.Run(t.Context(), []string{"get"}, Streams{Out: out, Err: out}))
		return std
	}
	std := run(terminal)
	require.IsType(t, &screen{}, std.Out)
	require.IsType(t, &screen{}, std.Err)
	require.True(t, NewProgress(std.Err, "rows", 0).terminal)
	std = run(file)
	require.Equal(t, file, std.Out)
	require.Equal(t, file, std.Err)
}
