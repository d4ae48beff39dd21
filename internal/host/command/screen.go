package command

import (
	"fmt"
	"io"
	"os"
	"unicode"
	"unicode/utf8"
)

// A screen is a terminal. Most of the output of commands was written by others, and a terminal
// obeys control characters: they could rename its window, hide earlier lines, or type for its
// owner. So those other than line ends and tabs are shown as \u001b, in output as in messages.
// Output to a file or to another program is never changed.
type screen struct {
	to   io.Writer
	rest []byte // the beginning of a character whose end is still to come
}

// onScreen returns streams whose terminals are screens.
func onScreen(std Streams) Streams {
	if isTerminal(std.Out) {
		std.Out = &screen{to: std.Out}
	}
	if isTerminal(std.Err) {
		std.Err = &screen{to: std.Err}
	}
	return std
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Write shows b.
func (s *screen) Write(b []byte) (int, error) {
	shown := make([]byte, 0, len(b))
	left := append(s.rest, b...)
	for len(left) > 0 && utf8.FullRune(left) {
		r, n := utf8.DecodeRune(left)
		switch {
		case r == utf8.RuneError && n == 1:
			shown = fmt.Appendf(shown, `\x%02x`, left[0])
		case r == '\r' && len(left) > 1 && left[1] == '\n':
			shown = append(shown, '\r')
		case unicode.IsControl(r) && r != '\n' && r != '\t':
			shown = fmt.Appendf(shown, `\u%04x`, r)
		default:
			shown = append(shown, left[:n]...)
		}
		left = left[n:]
	}
	s.rest = append([]byte(nil), left...)
	if _, err := s.to.Write(shown); err != nil {
		return 0, err
	}
	return len(b), nil
}
