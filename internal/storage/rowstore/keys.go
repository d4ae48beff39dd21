package rowstore

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"prompthub/internal/storage/table"
)

// Ascending returns an instant for use in a key: of two the earlier comes first.
func Ascending(t time.Time) string { return fmt.Sprintf("%019d", table.Ticks(t)) }

// Descending returns an instant for use in a key: of two the later comes first.
func Descending(t time.Time) string { return fmt.Sprintf("%019d", table.MaxTicks-table.Ticks(t)) }

const hexDigits = "0123456789ABCDEF"

// Encode encodes text from outside for use in a key. Encoded texts are equal only where
// the texts are. What Table Storage refuses or this schema gives a meaning to
// becomes %XX, byte by byte.
func Encode(s string) string {
	plain := func(r rune) bool {
		return r > ' ' && !strings.ContainsRune(`/\#?%'|`, r) && (r < 0x7f || r > 0x9f) && r != 0x2028 &&
			r != 0x2029 && r != utf8.RuneError
	}
	if strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		for _, c := range []byte(s[i : i+n]) {
			if plain(r) {
				b.WriteByte(c)
			} else {
				b.WriteByte('%')
				b.WriteByte(hexDigits[c>>4])
				b.WriteByte(hexDigits[c&15])
			}
		}
		i += n
	}
	return b.String()
}

// Decode is the inverse of enc; ok is false for a text that enc never makes.
func Decode(s string) (text string, ok bool) {
	if !strings.Contains(s, "%") {
		return s, Encode(s) == s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", false
		}
		hi, lo := strings.IndexByte(hexDigits, s[i+1]), strings.IndexByte(hexDigits, s[i+2])
		if hi < 0 || lo < 0 {
			return "", false
		}
		b.WriteByte(byte(hi<<4 | lo))
		i += 2
	}
	text = b.String()
	return text, Encode(text) == s
}
