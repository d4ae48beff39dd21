package format

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

// frontMatter is a file that begins with YAML between two lines of dashes. Comments may stand
// before it, such as those of a licence.
var frontMatter = regexp.MustCompile(`^(?:(?:#[^\n]*|[ \t]*)\r?\n)*---[ \t]*\r?\n`)

var frontMatterEnd = regexp.MustCompile(`(?m)^---[ \t]*\r?(?:\n|$)`)

// HasFrontMatter reports whether a file begins with front matter, whatever that says.
func HasFrontMatter(file []byte) bool {
	file = bytes.TrimPrefix(file, bom)
	begin := frontMatter.FindIndex(file)
	return begin != nil && frontMatterEnd.Match(file[begin[1]:])
}

// splitFrontMatter returns the members of the front matter and the text below it: without the empty
// line that begins it and without its last line end. Without front matter all is text.
func splitFrontMatter(file []byte) (object, string, error) {
	file = bytes.TrimPrefix(file, bom)
	begin := frontMatter.FindIndex(file)
	if begin == nil {
		return nil, trimLineEnd(string(file)), nil
	}
	end := frontMatterEnd.FindIndex(file[begin[1]:])
	if end == nil {
		return nil, "", fmt.Errorf("the front matter has no end: a line of three dashes")
	}
	o, err := parseYAML(file[begin[1] : begin[1]+end[0]])
	if err != nil {
		return nil, "", fmt.Errorf("the front matter: %w", err)
	}
	body := string(file[begin[1]+end[1]:])
	if rest, ok := strings.CutPrefix(body, "\r\n"); ok {
		body = rest
	} else {
		body = strings.TrimPrefix(body, "\n")
	}
	return o, trimLineEnd(body), nil
}

// trimLineEnd returns s without its last line end.
func trimLineEnd(s string) string {
	if rest, ok := strings.CutSuffix(s, "\r\n"); ok {
		return rest
	}
	return strings.TrimSuffix(s, "\n")
}

// ended returns s with a line end that trimLineEnd takes away again.
func ended(s string) string {
	if strings.HasSuffix(s, "\r") {
		return s + "\r\n"
	}
	return s + "\n"
}

// joinFrontMatter is the other way.
func joinFrontMatter(o object, text string) ([]byte, error) {
	y, err := writeYAML(o)
	if err != nil {
		return nil, err
	}
	return []byte("---\n" + string(y) + "---\n\n" + ended(text)), nil
}
