// Package legible finds what readers of a text do not see in it.
package legible

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"prompthub/internal/fault"
)

// Codes of lines whose readers do not see what they say.
const (
	InvisibleCharacters fault.Code = "INVISIBLE_CHARACTERS"
	NothingVisible      fault.Code = "NOTHING_VISIBLE"
)

// shows reports whether a reader sees r.
func shows(r rune) bool { return !unicode.IsSpace(r) && !unicode.IsControl(r) && !hides(r) }

// hides reports whether r is a character that shows nothing. White space is not among them.
func hides(r rune) bool {
	if r < 0x80 || unicode.Is(unicode.Prepended_Concatenation_Mark, r) {
		return false
	}
	return r == '\u2800' || r == '\U0001d159' ||
		unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// stands reports whether a reader sees r where it stands alone. A mark without a letter can hardly
// be told from another, and characters of private use or of none are empty boxes to most.
func stands(r rune) bool { return shows(r) && !unicode.Is(unicode.M, r) && !empty(r) && r != '\ufffc' }

// empty reports whether r is of no meaning that readers share.
func empty(r rune) bool { return unicode.In(r, unicode.Co, unicode.Noncharacter_Code_Point) }

// unassigned reports whether r is no character yet.
func unassigned(r rune) bool { return unicode.Is(unicode.Cn, r) }

// misleads reports whether r makes of a line another one than its reader sees: it changes the
// direction of its neighbors, or is a tag, which a model reads like a letter. The marks U+061C,
// U+200E and U+200F are among them, though Hebrew and Arabic use them too: a title is shown in the
// direction of its first letter without them.
func misleads(r rune) bool {
	return unicode.Is(unicode.Bidi_Control, r) || 0xe0000 <= r && r <= 0xe007f
}

// Breaks reports whether r ends a line, or is for machines: no text of one line has it.
func Breaks(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }

// Invisible yields where in a text characters stand that cannot be seen, from and to, those that
// follow one another together. A variation selector after a visible character is none of them, nor
// is a joiner or a non-joiner between two: emoji and many scripts are written with these.
func Invisible(text string) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		begin := -1                  // of those that are invisible
		seen, chosen := false, false // whether the character before is seen, and has a variation selector
		for i := 0; i < len(text); {
			r, size := utf8.DecodeRuneInString(text[i:])
			unseen := hides(r)
			switch {
			case !unseen:
				seen, chosen = shows(r), false
			case seen && !chosen && unicode.Is(unicode.Variation_Selector, r):
				unseen, chosen = false, true
			case seen && joins(r):
				next, _ := utf8.DecodeRuneInString(text[i+size:])
				unseen = i+size == len(text) || !shows(next)
			}
			if unseen {
				seen = false
			}
			switch {
			case unseen && begin < 0:
				begin = i
			case !unseen && begin >= 0:
				if !yield(begin, i) {
					return
				}
				begin = -1
			}
			i += size
		}
		if begin >= 0 {
			yield(begin, len(text))
		}
	}
}

// joins reports whether r is a joiner or a non-joiner.
func joins(r rune) bool { return r == '\u200c' || r == '\u200d' }

// Count returns how many characters of a text cannot be seen; see Invisible.
func Count(text string) int {
	n := 0
	for from, to := range Invisible(text) {
		n += utf8.RuneCountInString(text[from:to])
	}
	return n
}

// Visible reports whether a text has a character that can be seen.
func Visible(text string) bool { return strings.ContainsFunc(text, stands) }

// Line returns which rule a title or the name of a thing breaks because its readers do not see what
// it says, and what to do. The code is empty if it breaks none; an empty line breaks none.
func Line(line string) (code fault.Code, message string) {
	switch {
	case strings.ContainsFunc(line, misleads):
		return InvisibleCharacters, "remove the characters that no reader sees: those that change the direction of writing, such as U+202E and the marks U+200E and U+200F, and tags, U+E0000 to U+E007F; a title is shown in the direction of its first letter"
	case line != "" && !Visible(line):
		return NothingVisible, "write at least one character that can be seen"
	}
	return "", ""
}

// Name is as Line, for the name of a person. It may have no character that cannot be seen, or that
// looks like any other of its kind: it would look like the name of another.
func Name(name string) (code fault.Code, message string) {
	unseen := Count(name) > 0 || strings.ContainsFunc(name, empty) || strings.ContainsFunc(name, unassigned) ||
		selectsNothing(name) || joinsNothing(name)
	switch code, message = Line(name); {
	case code != "":
		return code, message
	case unseen:
		return InvisibleCharacters,
			"remove the characters that no reader sees, such as U+200B, and those of private use"
	case spacedOddly(name):
		return InvisibleCharacters,
			"write one space between two words, U+0020 or U+3000: readers do not see others, or how many there are"
	}
	return "", ""
}

// spacedOddly reports whether a line has two spaces together, or a space other than that of the
// keyboards of the world.
func spacedOddly(line string) bool {
	space := false
	for _, r := range strings.TrimSpace(line) {
		was := space
		if space = unicode.IsSpace(r); space && (was || r != ' ' && r != '\u3000') {
			return true
		}
	}
	return false
}

// joining are the scripts whose letters change their form by a joiner or a non-joiner.
var joining = []*unicode.RangeTable{
	unicode.Adlam, unicode.Arabic, unicode.Balinese, unicode.Bengali, unicode.Devanagari, unicode.Gujarati,
	unicode.Gurmukhi, unicode.Javanese,
	unicode.Kannada, unicode.Khmer, unicode.Malayalam, unicode.Mandaic, unicode.Mongolian, unicode.Myanmar, unicode.Nko,
	unicode.Oriya, unicode.Sinhala,
	unicode.Syriac, unicode.Tamil, unicode.Telugu, unicode.Tibetan,
}

// joinsNothing reports whether a text has a joiner or a non-joiner that changes nothing that is
// seen: one between two characters that are neither symbols, as emoji are, nor of a script of
// joining. Accents and variation selectors before it do not count.
func joinsNothing(text string) bool {
	var before, joiner rune
	for _, r := range text {
		switch {
		case joins(r):
			joiner = r
		case unicode.Is(unicode.Inherited, r):
		default:
			symbols := unicode.Is(unicode.S, before) && unicode.Is(unicode.S, r)
			script := unicode.In(before, joining...) && unicode.In(r, joining...)
			if joiner != 0 && !symbols && !script {
				return true
			}
			before, joiner = r, 0
		}
	}
	return false
}

// selectsNothing reports whether a text has a variation selector that changes nothing that is seen:
// one that follows neither a symbol nor an ideograph, and is no part of a keycap.
func selectsNothing(text string) bool {
	var before rune
	for _, r := range strings.ReplaceAll(text, "\ufe0f\u20e3", "\u20e3") {
		if unicode.Is(unicode.Variation_Selector, r) && !unicode.In(before, unicode.S) &&
			(r < '\U000e0100' || !unicode.Is(unicode.Ideographic, before)) {
			return true
		}
		before = r
	}
	return false
}

// Clean returns a line without what Line refuses in it: "" if nothing is left to see.
func Clean(line string) string {
	line = strings.Map(func(r rune) rune {
		if misleads(r) {
			return -1
		}
		return r
	}, line)
	if !Visible(line) {
		return ""
	}
	return line
}
