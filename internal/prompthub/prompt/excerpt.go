package prompt

import "strings"

// maxExcerpt is how much of a text a list shows, in characters (code points).
const maxExcerpt = 200

// Excerpt returns how a text begins, as a list shows it: in one line, at most 200 characters, with an ellipsis
// where more follows.
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
