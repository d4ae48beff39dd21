// Package markdown shows a text of a prompt as HTML, and its beginning as plain words.
package markdown

import (
	"fmt"
	"html/template"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"prompthub/internal/http/markdown"
	"prompthub/internal/prompthub/prompt"
)

// A Markdown shows the text of a prompt as its author meant it. Prompts are full of <context> and
// <rules>: tags are words for a model, and stay to be read.
type Markdown struct{ text *markdown.Markdown }

// New returns what shows texts.
func New() *Markdown { return &Markdown{markdown.New(3, "")} }

// Render returns a text, with the places of its variables marked, as HTML of at most n bytes. It
// reports false where there would be more: nested quotes and lists, and references that are
// repeated, make much of little.
func (m *Markdown) Render(parts []prompt.Part, most int) (template.HTML, bool) {
	text, ok := blanked(parts)
	if !ok {
		return "", false
	}
	clean, ok := m.text.Render(fenced(text), most)
	if !ok {
		return "", false
	}
	marked, ok := unblanked(string(clean), parts, most)
	return template.HTML(marked), ok //nolint:gosec // that was the sanitizer, and the places of variables are escaped
}

// The mark of a variable while a text is rendered: its number between two characters that no text
// means anything by.
const (
	opening = "\uFDD0"
	closing = "\uFDD1"
)

// blanked returns a text with the numbers of parts in the places of variables, and false where it
// cannot be told from them.
func blanked(parts []prompt.Part) (string, bool) {
	var b strings.Builder
	for i, p := range parts {
		switch {
		case p.Variable >= 0:
			b.WriteString(opening + strconv.Itoa(i) + closing)
		case strings.Contains(p.Text, opening):
			return "", false
		default:
			b.WriteString(p.Text)
		}
	}
	return b.String(), true
}

// blank finds what blanked left: in a text, and in the address of a link.
var blank = regexp.MustCompile(opening + `(\d{1,6})` + closing + `|%EF%B7%90(\d{1,6})%EF%B7%91`)

// unblanked puts what stands for variables into their places in HTML.
func unblanked(html string, parts []prompt.Part, most int) (string, bool) {
	var b strings.Builder
	at := 0
	for _, m := range blank.FindAllStringSubmatchIndex(html, -1) {
		inText := m[2] >= 0
		var i int
		if inText {
			i, _ = strconv.Atoi(html[m[2]:m[3]])
		} else {
			i, _ = strconv.Atoi(html[m[4]:m[5]])
		}
		if i >= len(parts) || parts[i].Variable < 0 {
			continue // the text has it itself
		}
		b.WriteString(html[at:m[0]])
		if at = m[1]; inText {
			open := ""
			if parts[i].Open {
				open = ` class="open"`
			}
			fmt.Fprintf(&b, `<mark data-v="%d"%s>%s</mark>`, parts[i].Variable, open, Exact(parts[i].Text))
		} else {
			b.WriteString(strings.ReplaceAll(url.QueryEscape(parts[i].Text), "+", "%20"))
		}
		if b.Len() > most {
			return "", false
		}
	}
	b.WriteString(html[at:])
	return b.String(), b.Len() <= most
}

// Exact returns a text as HTML that a browser reads as the very same characters: without references
// it would read a carriage return as a line feed.
func Exact(s string) template.HTML {
	return template.HTML(strings.ReplaceAll(template.HTMLEscapeString(s), "\r", "&#13;")) //nolint:gosec // it is escaped
}
