// Package markdown shows a text of Markdown that a stranger wrote as HTML: HTML in it stays
// to be read, images are links, and links lead to other sites alone.
package markdown

import (
	"bytes"
	"errors"
	"html/template"
	"net/url"
	"reflect"
	"regexp"
	"slices"
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
)

// A Markdown shows texts. HTML is not parsed at all: to parsers its tags are words.
type Markdown struct {
	convert goldmark.Markdown
	policy  *bluemonday.Policy
	rel     string
}

// New returns a Markdown: heading is the level of the first heading of a text, and rel has words
// for the rel of links besides nofollow and noreferrer, "" for none.
func New(heading int, rel string) *Markdown {
	p := parser.NewParser(
		parser.WithBlockParsers(without(parser.DefaultBlockParsers(), parser.NewHTMLBlockParser())...),
		parser.WithInlineParsers(without(parser.DefaultInlineParsers(), parser.NewRawHTMLParser())...),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
		parser.WithASTTransformers(util.Prioritized(outline{heading}, 1000)),
	)
	return &Markdown{
		policy: sanitizer(),
		rel:    rel,
		convert: goldmark.New(
			goldmark.WithParser(p),
			goldmark.WithExtensions(
				tables{},
				extension.Strikethrough,
				extension.NewLinkify(extension.WithLinkifyAllowedProtocols([]string{"https:", "http:"})),
			),
			goldmark.WithRendererOptions(html.WithHardWraps()), // a line of a text is a line
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
	p.AllowElements("p", "br", "hr", "h2", "h3", "h4", "h5", "h6", "ul", "li", "blockquote", "pre",
		"code", "em", "strong", "del",
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
	p.AllowRelativeURLs(false) // a text must not link to our own pages as if it were one
	p.RequireParseableURLs(true)
	p.RequireNoFollowOnLinks(true)
	p.RequireNoReferrerOnLinks(true)
	return p
}

// relSafe is what the sanitizer gives each link. Of a text itself no quotation mark is left.
const relSafe = `rel="nofollow noreferrer"`

// Render returns a text as HTML of at most n bytes. It reports false where there would be more:
// nested quotes and lists, and references that are repeated, make much of little.
func (m *Markdown) Render(text string, most int) (template.HTML, bool) {
	if intricate(text) {
		return "", false
	}
	b := &bounded{left: most}
	if err := m.convert.Convert([]byte(text), b); err != nil {
		return "", false
	}
	clean := m.policy.Sanitize(b.String())
	if m.rel != "" {
		clean = strings.ReplaceAll(clean, relSafe, `rel="nofollow noreferrer `+m.rel+`"`)
	}
	return template.HTML(clean), len(clean) <= most //nolint:gosec // that was the sanitizer
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

// tables shows a table only if about as many cells are written as its rows have: every row is as
// wide as the first, so one wide row and many short ones would be a table of their product.
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

// slack is how many cells a small table may have beyond the written ones.
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

// An outline fits the headings of a text under the headings of the page, without gaps, and turns
// images into links: a page loads nothing from elsewhere.
type outline struct{ first int }

// Transform changes the document in place.
func (o outline) Transform(doc *ast.Document, _ text.Reader, _ parser.Context) {
	last := o.first - 1
	var images []*ast.Image
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			n.Level = min(n.Level+o.first-1, last+1, 6)
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
