package azure

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

var errMalformed = errors.New("malformed JSON from storage")

// maxDepth is how deep values may nest; the service sends three levels.
const maxDepth = 100

// A scanner reads a JSON text once, front to back. Strings without escapes share the
// memory of the text. It trusts the service with small things, such as raw controls in strings,
// but not with the structure: a text that was cut short is never taken for a whole one.
// After an error every method returns at once.
type scanner struct {
	text string
	pos  int
	err  error
}

func (s *scanner) fail() {
	s.err = errMalformed
	s.pos = len(s.text)
}

// peek skips white space and returns the byte that follows, zero at the end.
func (s *scanner) peek() byte {
	for s.pos < len(s.text) {
		switch c := s.text[s.pos]; c {
		case ' ', '\t', '\r', '\n':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

// next is peek that steps over the byte.
func (s *scanner) next() byte {
	c := s.peek()
	if s.pos < len(s.text) {
		s.pos++
	}
	return c
}

func (s *scanner) expect(c byte) {
	if s.next() != c {
		s.fail()
	}
}

// end fails unless nothing follows.
func (s *scanner) end() {
	if s.peek() != 0 || s.pos < len(s.text) {
		s.fail()
	}
}

// object calls member with every name of an object; it must consume the value.
func (s *scanner) object(member func(name string)) {
	s.expect('{')
	if s.peek() == '}' {
		s.pos++
		return
	}
	for s.err == nil {
		name := s.string()
		s.expect(':')
		member(name)
		if !s.more('}') {
			return
		}
	}
}

// array calls element for every element of an array; it must consume the value.
func (s *scanner) array(element func()) {
	s.expect('[')
	if s.peek() == ']' {
		s.pos++
		return
	}
	for s.err == nil {
		element()
		if !s.more(']') {
			return
		}
	}
}

// more steps over the comma or the end that follows a value and reports which it was.
func (s *scanner) more(end byte) bool {
	switch c := s.next(); {
	case c == ',':
		return true
	case c != end:
		s.fail()
	}
	return false
}

// string reads a string.
func (s *scanner) string() string {
	s.expect('"')
	rest := s.text[s.pos:]
	n := strings.IndexByte(rest, '"')
	if n < 0 {
		s.fail()
		return ""
	}
	if strings.IndexByte(rest[:n], '\\') >= 0 {
		return s.escaped()
	}
	s.pos += n + 1
	return rest[:n]
}

// escaped reads the rest of a string that holds escapes.
func (s *scanner) escaped() string {
	var out []byte
	for s.err == nil {
		rest := s.text[s.pos:]
		n := strings.IndexAny(rest, `"\`)
		if n < 0 {
			break
		}
		out = append(out, rest[:n]...)
		s.pos += n + 1
		if rest[n] == '"' {
			return string(out)
		}
		out = s.escape(out)
	}
	s.fail()
	return ""
}

// escape appends the character that the escape sequence after a backslash stands for.
func (s *scanner) escape(out []byte) []byte {
	if s.pos == len(s.text) {
		s.fail()
		return out
	}
	c := s.text[s.pos]
	s.pos++
	if c == 'u' {
		return utf8.AppendRune(out, s.unicode())
	}
	i := strings.IndexByte(`"\/bfnrt`, c)
	if i < 0 {
		s.fail()
		return out
	}
	return append(out, "\"\\/\b\f\n\r\t"[i])
}

// unicode reads the digits of a \u escape, and of a second one if the two make a pair.
func (s *scanner) unicode() rune {
	r := s.unit()
	if !utf16.IsSurrogate(r) {
		return r
	}
	if strings.HasPrefix(s.text[s.pos:], `\u`) {
		back := s.pos
		s.pos += 2
		if pair := utf16.DecodeRune(r, s.unit()); pair != utf8.RuneError {
			return pair
		}
		if s.err == nil {
			s.pos = back
		}
	}
	return utf8.RuneError
}

func (s *scanner) unit() rune {
	if len(s.text)-s.pos < 4 {
		s.fail()
		return 0
	}
	n, err := strconv.ParseUint(s.text[s.pos:s.pos+4], 16, 16)
	if err != nil {
		s.fail()
		return 0
	}
	s.pos += 4
	return rune(n)
}

// word reads a number, true, false or null.
func (s *scanner) word() string {
	s.peek()
	start := s.pos
	for s.pos < len(s.text) && strings.IndexByte(",]} \t\r\n", s.text[s.pos]) < 0 {
		s.pos++
	}
	return s.text[start:s.pos]
}

// skip reads a value of any kind.
func (s *scanner) skip(depth int) {
	if depth > maxDepth {
		s.fail()
		return
	}
	switch s.peek() {
	case '{':
		s.object(func(string) { s.skip(depth + 1) })
	case '[':
		s.array(func() { s.skip(depth + 1) })
	case '"':
		s.string()
	default:
		if s.word() == "" {
			s.fail()
		}
	}
}
