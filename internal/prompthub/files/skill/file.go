package skill

import (
	"bytes"
	"regexp"
	"strings"
)

// A SKILL.md that its author wrote keeps its bytes. Another text, description or name of the prompt
// is put into it, and all other lines of its head stay.

// Split parts a SKILL.md into its head, the lines from --- to --- with their ends, and what
// follows. It is false for a file without a head.
func Split(b []byte) (head, rest []byte, ok bool) {
	line, after, found := bytes.Cut(bytes.TrimPrefix(b, []byte("\ufeff")), []byte("\n"))
	if !found || strings.TrimRight(string(line), " \t\r") != "---" {
		return nil, b, false
	}
	for len(after) > 0 {
		line, next, _ := bytes.Cut(after, []byte("\n"))
		after = next
		if strings.TrimRight(string(line), " \t\r") == "---" {
			return b[:len(b)-len(after)], after, true
		}
	}
	return nil, b, false
}

// TextOf returns the text of a SKILL.md: all below its head, without blank lines at its ends.
func TextOf(b []byte) string {
	_, rest, _ := Split(b)
	text := strings.TrimRight(string(rest), " \t\r\n")
	for {
		line, after, more := strings.Cut(text, "\n")
		if !more || strings.TrimSpace(line) != "" {
			return text
		}
		text = after
	}
}

// WithText returns a SKILL.md with another text.
func WithText(b []byte, text string) []byte {
	head, _, ok := Split(b)
	if !ok {
		return b
	}
	if !bytes.HasSuffix(head, []byte("\n")) {
		head = append(bytes.Clone(head), '\n')
	}
	return append(append(bytes.Clone(head), '\n'), text+"\n"...)
}

// WithDescription returns a SKILL.md with another description in its head.
func WithDescription(b []byte, text string) []byte {
	return withKey(b, "description", quote(printable(text)))
}

// WithName returns a SKILL.md whose head names it by a slug, as its folder must be called.
func WithName(b []byte, slug string) []byte {
	if is := NameIn(b); is == slug || is == "" {
		return b
	}
	return withKey(b, "name", slug)
}

var nameLine = regexp.MustCompile(`(?m)^name:[ \t]*["']?([a-z0-9-]*)["']?[ \t]*(?:#.*)?\r?$`)

// NameIn returns the name in the head of a SKILL.md, "" for none that a folder can have.
func NameIn(b []byte) string {
	head, _, _ := Split(b)
	m := nameLine.FindSubmatch(head)
	if m == nil {
		return ""
	}
	return string(m[1])
}

var licenseLine = regexp.MustCompile(
	`(?m)^license:[ \t]*(?:"([^"\\\r\n]*)"|'([^'\r\n]*)'|([^\s"'#|>&*!%@\[\]{}][^\r\n]*?))[ \t]*(?:[ \t]#.*)?\r?$`)

// LicenseIn returns the license that the head of a SKILL.md says in one line, "" for none.
func LicenseIn(b []byte) string {
	head, _, _ := Split(b)
	m := licenseLine.FindSubmatch(head)
	if m == nil {
		return ""
	}
	return printable(string(bytes.Join(m[1:], nil)))
}

// Editable reports whether the head of a SKILL.md says name and description where WithName and
// WithDescription change them: each once, at the beginning of a line.
func Editable(b []byte) bool {
	head, _, ok := Split(b)
	count := func(key string) int { return bytes.Count(head, []byte("\n"+key+":")) }
	return ok && count("name") == 1 && count("description") == 1
}

// withKey replaces the lines of a key of the head, or puts one at its end.
func withKey(b []byte, key, value string) []byte {
	head, rest, ok := Split(b)
	if !ok {
		return b
	}
	var lines, empty []string // empty lines belong to the value if an indented one follows
	put, within := false, false
	for i, line := range strings.SplitAfter(string(head), "\n") {
		isKey := strings.HasPrefix(line, key+":")
		switch {
		case within && strings.TrimSpace(line) == "":
			empty = append(empty, line)
			continue
		case within && (strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")):
			empty = nil
			continue
		}
		lines, empty, within = append(lines, empty...), nil, false
		if !put && (isKey || i > 0 && strings.HasPrefix(line, "---")) {
			lines = append(lines, key+": "+value+"\n")
			if put, within = true, isKey; isKey {
				continue
			}
		}
		lines = append(lines, line)
	}
	return append([]byte(strings.Join(append(lines, empty...), "")), rest...)
}
