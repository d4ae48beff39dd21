package git

import (
	"fmt"
	"strconv"
	"strings"
)

// A Refusal is an answer that says why there is no other. Git shows the sentence to its user.
type Refusal struct{ Text string }

func (r *Refusal) Error() string { return r.Text }

// Packet returns the refusal as the body of an answer with status 200: clients show no sentence of
// an answer with another.
func (r *Refusal) Packet() []byte { return appendLine(nil, "ERR %s\n", r.Text) }

func refuse(format string, args ...any) *Refusal { return &Refusal{fmt.Sprintf(format, args...)} }

// A pkt-line is four hexadecimal digits, which tell how many bytes it has with them, and a text.
// Lines without a text have numbers that are too small for one.
const (
	maxLine = 65520 // bytes of a line with its digits

	flush     = "0000" // ends a request or an answer
	delimiter = "0001" // ends a section
)

func appendLine(b []byte, format string, args ...any) []byte {
	start := len(b)
	b = fmt.Appendf(append(b, flush...), format, args...)
	copy(b[start:], fmt.Appendf(nil, "%04x", len(b)-start))
	return b
}

// lines are the pkt-lines of a body.
type lines struct{ rest string }

// next returns the text of the next line without its line feed, and its four digits.
func (l *lines) next() (text, digits string, err error) {
	if len(l.rest) < len(flush) {
		return "", "", refuse("the request is cut short: it has no end")
	}
	digits = l.rest[:len(flush)]
	size, err := strconv.ParseUint(digits, 16, 16)
	switch {
	case err != nil || size == 2 || size == 3 || size > maxLine:
		return "", "", refuse("%.4q does not begin a pkt-line", digits)
	case size < uint64(len(flush)):
		l.rest = l.rest[len(flush):]
		return "", digits, nil
	case size > uint64(len(l.rest)):
		return "", "", refuse("the request is cut short in a pkt-line")
	}
	text, l.rest = l.rest[len(flush):size], l.rest[size:]
	return strings.TrimSuffix(text, "\n"), digits, nil
}
