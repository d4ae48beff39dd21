package format

import (
	"bytes"
	"errors"
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
	front, _, err := cutFrontMatter(bytes.TrimPrefix(file, bom))
	return front != nil && err == nil
}

// cutFrontMatter returns the YAML that a file begins with, nil for none, and what is below it.
func cutFrontMatter(file []byte) (front, body []byte, err error) {
	begin := frontMatter.FindIndex(file)
	if begin == nil {
		return nil, file, nil
	}
	front = file[begin[1]:]
	end := frontMatterEnd.FindIndex(front)
	if end == nil {
		return front, nil, errors.New("the front matter has no end: a line of three dashes")
	}
	return front[:end[0]], front[end[1]:], nil
}

// splitFrontMatter returns the members of the front matter and the text below it: without the empty
// line that begins it and without its last line end. Without front matter all is text.
func splitFrontMatter(file []byte) (object, string, error) {
	front, below, err := cutFrontMatter(bytes.TrimPrefix(file, bom))
	if err != nil {
		return nil, "", err
	}
	body := string(below)
	if front == nil {
		return nil, trimLineEnd(body), nil
	}
	o, err := parseYAML(front)
	if err != nil {
		return nil, "", fmt.Errorf("the front matter: %w", err)
	}
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
