package format

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// frontMatterAt returns where the YAML begins in a file that begins with YAML between two lines of
// dashes, and -1 for any other. In some formats comments may stand before it, such as those of a
// licence; in the others a heading is text, and so is a rule below it.
func frontMatterAt(file []byte, comments bool) int {
	for at := 0; ; {
		end := bytes.IndexByte(file[at:], '\n')
		if end < 0 {
			return -1
		}
		line := file[at : at+end]
		at += end + 1
		switch {
		case isDashes(line):
			return at
		case !comments, !bytes.HasPrefix(line, []byte("#")) && !isBlank(line):
			return -1
		}
	}
}

// frontMatterEnd returns where the YAML of front matter ends, and where the text below it begins;
// -1 for YAML without an end.
func frontMatterEnd(front []byte) (end, below int) {
	for at := 0; at < len(front); at = below {
		line, _, _ := bytes.Cut(front[at:], newline)
		below = min(at+len(line)+1, len(front))
		if isDashes(line) {
			return at, below
		}
	}
	return -1, 0
}

// isDashes reports whether a line is one of three dashes.
func isDashes(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("---"))
	return ok && isBlank(rest)
}

// isBlank reports whether a line, or the rest of one, has nothing but spaces.
func isBlank(line []byte) bool {
	return len(bytes.Trim(bytes.TrimSuffix(line, []byte("\r")), " \t")) == 0
}

// HasFrontMatter reports whether a file begins with front matter, whatever that says.
func HasFrontMatter(file []byte) bool {
	front, _, err := cutFrontMatter(bytes.TrimPrefix(file, bom), false)
	return front != nil && err == nil
}

// cutFrontMatter returns the YAML that a file begins with, nil for none, and the rest. A rule at
// the top of a text looks like the beginning of front matter, but no members follow it.
func cutFrontMatter(file []byte, comments bool) (front, body []byte, err error) {
	begin := frontMatterAt(file, comments)
	if begin < 0 {
		return nil, file, nil
	}
	front = file[begin:]
	end, below := frontMatterEnd(front)
	switch {
	case end < 0 && beginsMember(front):
		return front, nil, errors.New("the front matter has no end: a line of three dashes")
	case end < 0, len(bytes.TrimSpace(front[:end])) > 0 && !hasMember(front[:end]):
		return nil, file, nil
	}
	return front[:end], front[below:], nil
}

// anyMember is the beginning of a line that has a member of YAML with any name, or of a list or a
// mapping in one line.
var anyMember = regexp.MustCompile(`(?m)^(?:[^\s#:-][^\n:]*:(?:[ \t\r]|$)|[{\[])`)

// hasMember reports whether a line of YAML may be a member.
func hasMember(y []byte) bool { return anyMember.Match(y) }

// beginsMember reports whether the first line that is not empty is a member.
func beginsMember(y []byte) bool {
	first, _, _ := bytes.Cut(bytes.TrimLeft(y, "\r\n"), newline)
	return memberLine.Match(first)
}

// frontMatter returns the members of the front matter, see parse, and the text below it: without
// the empty line that begins it and without its last line end. Without front matter all is text.
func (in *input) frontMatter(texts []string, others ...string) (object, string, error) {
	file := bytes.TrimPrefix(in.file, bom)
	front, below, err := cutFrontMatter(file, in.comments)
	if err != nil {
		return nil, "", err
	}
	body := string(below)
	if front == nil {
		return nil, trimLineEnd(body), nil
	}
	front, own := ownForms(front)
	o, err := in.parse(front, bytes.Count(file[:frontMatterAt(file, in.comments)], newline), texts, others)
	if err != nil {
		return nil, "", fmt.Errorf("the front matter: %w", err)
	}
	o = own.among(o)
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
	var b bytes.Buffer
	b.WriteString("---\n")
	for _, m := range o {
		line, ok := ownForm(m)
		if !ok {
			var err error
			if line, err = writeYAML(object{m}); err != nil {
				return nil, err
			}
		}
		b.Write(line)
	}
	b.WriteString("---\n\n" + ended(text))
	return b.Bytes(), nil
}
