package prompt

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Shown returns as much of a description as skills show.
func Shown(about string) string { return begun(about, MaxShown) }

// Brief returns as much of a description as lists show.
func Brief(about string) string { return begun(about, MaxBrief) }

// begun returns the beginning of a description that is longer than most, in UTF-16 code units.
func begun(about string, most int) string {
	n := 0
	for i, r := range about {
		if n++; r > 0xffff {
			n++
		}
		if n > most {
			cut := strings.TrimRightFunc(about[:i], unicode.IsSpace)
			_, last := utf8.DecodeLastRuneInString(cut) // the ellipsis has its place
			return strings.TrimRightFunc(cut[:len(cut)-last], unicode.IsSpace) + "…"
		}
	}
	return about
}

// maxExcerpt is how much of a text a list shows, in characters (code points).
const maxExcerpt = 200

// Excerpt returns how a text begins, as a list shows it: in one line, at most 200 characters, with
// an ellipsis where more follows.
func Excerpt(text string) string {
	var b strings.Builder
	b.Grow(min(len(text), maxExcerpt+len("…")))
	n := 0
	for word := range strings.FieldsSeq(text) {
		if n > 0 {
			b.WriteByte(' ')
			n++
		}
		if n+len(word) <= maxExcerpt && utf8.ValidString(word) { // which is quicker than each character by itself
			b.WriteString(word)
			n += utf8.RuneCountInString(word)
			continue
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

// Excerpt returns how a content begins for people.
func (c Content) Excerpt() string { return Excerpt(body(c.Words())) }

// body returns what people read of a text that was written for a program: the text below front
// matter, or the first message of a chat as JSON. Any other text is its own body.
func body(text string) string {
	trimmed := strings.TrimLeft(text, "\ufeff \t\r\n")
	switch {
	case strings.HasPrefix(trimmed, "---"):
		if below := belowFrontMatter(trimmed); strings.TrimSpace(below) != "" {
			return below
		}
	case strings.HasPrefix(trimmed, "[") || strings.HasPrefix(trimmed, "{"):
		if said := firstMessage(trimmed); said != "" {
			return said
		}
	}
	return text
}

// belowFrontMatter returns what follows the YAML between two lines of dashes that a text begins
// with, "" if it begins with none.
func belowFrontMatter(text string) string {
	dashes := func(line string) bool { return strings.TrimRight(line, " \t\r") == "---" }
	first, rest, _ := strings.Cut(text, "\n")
	for found := dashes(first); found && rest != ""; {
		var line string
		if line, rest, _ = strings.Cut(rest, "\n"); dashes(line) {
			return rest
		}
	}
	return ""
}

// firstMessage returns the first text of a chat that is written as JSON: a list of messages with
// roles and contents, or an object that has one.
func firstMessage(text string) string {
	if !strings.Contains(text, `"content"`) { // most JSON is none; this is quick
		return ""
	}
	var chat struct{ Messages json.RawMessage }
	list := json.RawMessage(text)
	if json.Unmarshal(list, &chat) == nil {
		list = chat.Messages
	}
	var messages []struct {
		Role    string
		Content json.RawMessage // a text, or a list of parts
	}
	if json.Unmarshal(list, &messages) != nil {
		return ""
	}
	for _, m := range messages {
		var said string
		var parts []struct{ Text string }
		if json.Unmarshal(m.Content, &said) != nil && json.Unmarshal(m.Content, &parts) == nil && len(parts) > 0 {
			said = parts[0].Text
		}
		if m.Role != "" && strings.TrimSpace(said) != "" {
			return said
		}
	}
	return ""
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
