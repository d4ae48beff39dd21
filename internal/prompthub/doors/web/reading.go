package web

import (
	"cmp"
	"fmt"
	"html/template"
	"strings"

	"prompthub/internal/legible"
	"prompthub/internal/prompthub/doors/web/markdown"
	"prompthub/internal/prompthub/prompt"
)

// A reading is a content as a page shows it: rendered, and as it is.
type reading struct {
	Address   string    // of the page
	AtSource  string    // the address of the page that shows them as they are
	Passages  []passage // the text, or the messages of a chat
	Source    bool      // whether they are shown as they are
	Plain     bool      // whether they cannot be shown rendered
	Invisible int       // characters that cannot be seen
	marks     *int      // how many places of such characters can still be marked
}

// maxMarks is how many places of characters that cannot be seen a page marks, each with up to
// maxMarked of their numbers. With all of these it is about as long as one without them.
const (
	maxMarks  = 100
	maxMarked = 8
	// aroundMark is the most that stands around such a place in HTML, in bytes.
	aroundMark = 40 + 9*maxMarked
)

// Exact returns a text as HTML that says the very same characters, and marks those that cannot be
// seen by what copying does not take.
func (r reading) Exact(text string) template.HTML {
	var b strings.Builder
	at := 0
	for from, to := range legible.Invisible(text) {
		if *r.marks == 0 {
			break
		}
		*r.marks--
		b.WriteString(string(markdown.Exact(text[at:from])) + `<span class="invisible" data-is="`)
		n := 0
		for _, c := range text[from:to] {
			if n++; n > maxMarked {
				b.WriteString(" …")
				break
			}
			if n > 1 {
				b.WriteByte(' ')
			}
			fmt.Fprintf(&b, "U+%04X", c)
		}
		b.WriteString(`">` + string(markdown.Exact(text[from:to])) + `</span>`)
		at = to
	}
	b.WriteString(string(markdown.Exact(text[at:])))
	return template.HTML(b.String()) //nolint:gosec // all of it is escaped, or numbers
}

// A passage is a text, or a message.
type passage struct {
	Role        string // of a message
	Placeholder string // the name of messages that must be put here, which has nothing else
	Parts       []prompt.Part
	Rendered    template.HTML
}

// Heading returns what to call a message, "" for the text of a prompt that is no chat.
func (p passage) Heading() string { return cmp.Or(p.Role, p.Placeholder) }

// readingOf returns a content with texts in the places of its own; none: as they are.
func readingOf(c prompt.Content, texts [][]prompt.Part) reading {
	marks := maxMarks
	r := reading{marks: &marks}
	add := func(p passage, text string) {
		if i := len(r.Passages); i < len(texts) {
			p.Parts = texts[i]
		} else {
			p.Parts = []prompt.Part{{Text: text, Variable: -1}}
		}
		for _, part := range p.Parts {
			r.Invisible += legible.Count(part.Text)
		}
		r.Passages = append(r.Passages, p)
	}
	if c.Kind != prompt.KindChat {
		add(passage{}, c.Text)
	}
	for _, m := range c.Messages {
		add(passage{Role: m.Role, Placeholder: m.Placeholder}, m.Content)
	}
	return r
}

// show sets how a page at an address shows the passages first: as the request asks for.
func (r *reading) show(address string, request *request) {
	r.Address, r.AtSource = address, address+"?view=source"
	if strings.Contains(address, "?") {
		r.AtSource = address + "&view=source"
	}
	r.Source = r.Plain || request.URL.Query().Get("view") == "source"
}

// aroundPart and aroundPassage are about what stands around a variable and a message in HTML, in
// bytes.
const (
	aroundPart    = 48
	aroundPassage = 128
)

// size returns how many bytes the texts take on a page, as they are.
func (r reading) size() int {
	n := aroundMark * min(r.Invisible, maxMarks)
	for _, p := range r.Passages {
		n += aroundPassage + len(p.Heading())
		for _, part := range p.Parts {
			n += len(markdown.Exact(part.Text))
			if part.Variable >= 0 {
				n += aroundPart
			}
		}
	}
	return n
}

// render adds the passages rendered, as far as all of them fit into what is left of a page.
func (r *reading) render(m *markdown.Markdown, left *budget) {
	for i := range r.Passages {
		p := &r.Passages[i]
		html, ok := m.Render(p.Parts, int(*left))
		if !ok || !left.take(len(html)+aroundPassage+len(p.Heading())) {
			r.plain()
			return
		}
		p.Rendered = html
	}
}

// A text that has more than these is shown folded at first, where a script can unfold it.
const (
	foldedLines = 60
	foldedBytes = 8000
)

// Lines returns how many lines the texts have.
func (r reading) Lines() int {
	n := 0
	for _, p := range r.Passages {
		n++
		for _, part := range p.Parts {
			n += strings.Count(part.Text, "\n")
		}
	}
	return n
}

// Long reports whether the texts are shown folded at first.
func (r reading) Long() bool {
	n := 0
	for _, p := range r.Passages {
		for _, part := range p.Parts {
			n += len(part.Text)
		}
	}
	return n > foldedBytes || r.Lines() > foldedLines
}

// plain leaves the texts as they are.
func (r *reading) plain() {
	for i := range r.Passages {
		r.Passages[i].Rendered = ""
	}
	r.Plain = true
}
