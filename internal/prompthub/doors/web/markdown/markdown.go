// Package markdown shows a text of a prompt as HTML, and its beginning as plain words.
package markdown

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"prompthub/internal/prompthub/prompt"
)

// A Markdown shows the text of a prompt as its author meant it. Prompts are full of <context> and
// <rules>: tags are words for a model, so HTML is not parsed at all and stays to be read.
type Markdown struct {
	convert goldmark.Markdown
	policy  *bluemonday.Policy
}

// New returns what shows texts.
func New() *Markdown {
	p := parser.NewParser(
		parser.WithBlockParsers(without(parser.DefaultBlockParsers(), parser.NewHTMLBlockParser())...),
		parser.WithInlineParsers(without(parser.DefaultInlineParsers(), parser.NewRawHTMLParser())...),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
		parser.WithASTTransformers(util.Prioritized(outline{}, 1000)),
	)
	return &Markdown{
		policy: sanitizer(),
		convert: goldmark.New(
			goldmark.WithParser(p),
			goldmark.WithExtensions(
				tables{},
				extension.Strikethrough,
				extension.NewLinkify(extension.WithLinkifyAllowedProtocols([]string{"https:", "http:"})),
			),
			goldmark.WithRendererOptions(html.WithHardWraps()), // a line of a prompt is a line
		),
	}
}

// without returns the parsers but the one of the same type as unwanted.
func without(parsers []util.PrioritizedValue, unwanted any) []util.PrioritizedValue {
	return slices.DeleteFunc(parsers, func(p util.PrioritizedValue) bool {
		return reflect.TypeOf(p.Value) == reflect.TypeOf(unwanted)
	})
}

// sanitizer is the second lock: it lets pass what the converter is known to write, and nothing
// else.
func sanitizer() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "h3", "h4", "h5", "h6", "ul", "li", "blockquote", "pre", "code", "em", "strong", "del",
		"table", "thead", "tbody", "tr", "ol")
	p.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	p.AllowAttrs("align").Matching(regexp.MustCompile(`^(left|right|center)$`)).OnElements("th", "td")
	p.AllowNoAttrs().OnElements("th", "td")
	p.AllowAttrs("href").OnElements("a")
	p.AllowURLSchemes("mailto")
	for _, scheme := range []string{"http", "https"} {
		// A browser reads http:/app, which has no host, as an address of ours.
		p.AllowURLSchemeWithCustomPolicy(scheme, func(u *url.URL) bool { return u.Host != "" })
	}
	p.AllowRelativeURLs(false) // a prompt must not link to our own pages as if it were one
	p.RequireParseableURLs(true)
	p.RequireNoFollowOnLinks(true)
	p.RequireNoReferrerOnLinks(true)
	return p
}

// Render returns a text, with the places of its variables marked, as HTML of at most n bytes. It
// reports false where there would be more: nested quotes and lists, and references that are
// repeated, make much of little.
func (m *Markdown) Render(parts []prompt.Part, most int) (template.HTML, bool) {
	text, ok := blanked(parts)
	if text = fenced(text); !ok || intricate(text) {
		return "", false
	}
	b := &bounded{left: most}
	if err := m.convert.Convert([]byte(text), b); err != nil {
		return "", false
	}
	clean := m.policy.Sanitize(b.String())
	if len(clean) > most { // it adds attributes to links
		return "", false
	}
	marked, ok := unblanked(clean, parts, most)
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

const (
	maxNesting  = 50   // quotes and lists that begin in one line
	maxBrackets = 1500 // that may begin a link
	// that may begin or end emphasis, in lines that follow one another; of code four times fewer
	maxDelimiters = 2000
)

// intricate reports whether a text is hardly meant to be read, and takes a parser time that grows
// with the square of its length: seconds for the longest.
func intricate(s string) bool {
	if strings.Count(s, "[") > maxBrackets {
		return true
	}
	emphasis := 0
	for line := range strings.Lines(s) {
		if strings.TrimSpace(line) == "" {
			emphasis = 0
		}
		emphasis += delimiters(line)
		if nesting(line) > maxNesting || emphasis > maxDelimiters {
			return true
		}
	}
	return false
}

// delimiters returns how many runs of characters in a line may begin or end emphasis, and four for
// each that may begin code: for its end the parser reads all that is left.
func delimiters(line string) int {
	n := 0
	for i := range len(line) {
		switch c := line[i]; {
		case i > 0 && line[i-1] == c:
		case c == '`':
			n += 4
		case c == '*', c == '~', c == '_' && !within(line, i):
			n++
		}
	}
	return n
}

// within reports whether the character at i has letters or digits on both sides, as in snake_case.
func within(line string, i int) bool {
	word := func(c byte) bool { return c >= utf8.RuneSelf || unicode.IsLetter(rune(c)) || unicode.IsDigit(rune(c)) }
	return i > 0 && i+1 < len(line) && word(line[i-1]) && word(line[i+1])
}

// nesting returns how many quotes and list items begin in a line, at most.
func nesting(line string) int {
	n := 0
	for i := range len(line) {
		switch c := line[i]; {
		case c == '>':
			n++
		case strings.IndexByte("-*+.)", c) >= 0:
			if i+1 < len(line) && (line[i+1] == ' ' || line[i+1] == '\t') {
				n++
			}
		case c != ' ' && c != '\t' && (c < '0' || c > '9'):
			return n
		}
	}
	return n
}

// A bounded is a buffer of a bounded size.
type bounded struct {
	bytes.Buffer
	left int
}

var errTooLong = errors.New("too long")

// Write takes what there is room for as a whole.
func (b *bounded) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, errTooLong
	}
	return b.Buffer.Write(p)
}

// tables shows tables, but only those whose rows have about as many cells as are written: every row
// is as wide as the first, so one wide row and many short ones would be a table of their product.
type tables struct{}

// Extend adds tables to a converter.
func (tables) Extend(m goldmark.Markdown) {
	m.Parser().AddOptions(
		parser.WithParagraphTransformers(util.Prioritized(evenTable{extension.NewTableParagraphTransformer()}, 200)),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
	)
	m.Renderer().AddOptions(renderer.WithNodeRenderers(util.Prioritized(
		extension.NewTableHTMLRenderer(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)), 500)))
}

// slack is how many cells a small table may have beyond those that are written.
const slack = 64

type evenTable struct{ parser.ParagraphTransformer }

// Transform makes a table of a paragraph that is one.
func (t evenTable) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	lines, widest, size := node.Lines(), 0, 0
	for i := range lines.Len() {
		line := lines.At(i)
		size += line.Len()
		widest = max(widest, bytes.Count(line.Value(reader.Source()), []byte("|"))+1)
	}
	if widest*lines.Len() <= 2*size+slack {
		t.ParagraphTransformer.Transform(node, reader, pc)
	}
}

// An outline fits the headings of a text under those of the page, without gaps, and turns images
// into links: a page loads nothing from elsewhere.
type outline struct{}

const underPage = 3 // the level of the first heading in a text

// Transform changes the document in place.
func (outline) Transform(doc *ast.Document, _ text.Reader, _ parser.Context) {
	last := underPage - 1
	var images []*ast.Image
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			n.Level = min(n.Level+underPage-1, last+1, 6)
			last = n.Level
		case *ast.Image:
			images = append(images, n)
		}
		return ast.WalkContinue, nil
	})
	for _, image := range images {
		link := ast.NewLink()
		link.Destination, link.Title = image.Destination, image.Title
		for c := image.FirstChild(); c != nil; c = image.FirstChild() {
			link.AppendChild(link, c)
		}
		image.Parent().ReplaceChild(image.Parent(), image, link)
	}
}

// Exact returns a text as HTML that a browser reads as the very same characters: without references
// it would read a carriage return as a line feed.
func Exact(s string) template.HTML {
	return template.HTML(strings.ReplaceAll(template.HTMLEscapeString(s), "\r", "&#13;")) //nolint:gosec // it is escaped
}
