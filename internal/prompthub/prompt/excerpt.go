package prompt

import (
	"strings"
	"unicode"
)

// maxExcerpt is how much of a text a list shows, in characters (code points).
const maxExcerpt = 200

// Excerpt returns how a text begins, as a list shows it: in one line, at most 200 characters, with
// an ellipsis where more follows.
func Excerpt(text string) string {
	var b strings.Builder
	n := 0
	for word := range strings.FieldsSeq(text) {
		if n > 0 {
			b.WriteByte(' ')
			n++
		}
		for _, r := range word {
			if n++; n > maxExcerpt {
				return strings.TrimRight(b.String(), " ") + "…"
			}
			b.WriteRune(r)
		}
	}
	return b.String()
}

// fullStop reports whether r ends a sentence whatever follows.
func fullStop(r rune) bool { return r == '。' || r == '！' || r == '？' }

// sentence returns the first sentence of a text, as Excerpt would show it: up to the first full
// stop or the like that ends a word, and no further than the first paragraph.
func sentence(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n\n")
	text, _, _ = strings.Cut(text, "\r\n\r\n")
	var last rune
	seen := 0 // of what Excerpt counts at least, which looks no further
	for i, r := range text {
		if seen > maxExcerpt || fullStop(last) || (last == '.' || last == '!' || last == '?') && unicode.IsSpace(r) {
			text = text[:i]
			break
		}
		if last = r; !unicode.IsSpace(r) && !unicode.IsControl(r) {
			seen++
		}
	}
	return Excerpt(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text))
}
