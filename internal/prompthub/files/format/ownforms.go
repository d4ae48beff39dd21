package format

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Some members of front matter have a form that their tools read and write, and that is no YAML, or
// other YAML: globs of Cursor (*.go,**/*.mod), which takes quotes for a part of the pattern, the
// argument-hint of Claude Code ([from] [to]), and tools: * of agents. Each stands in one line, and
// is a text up to the end of that.

// ownNames are the names of such members.
var ownNames = []string{"globs", argumentHint, "tools"}

const argumentHint = "argument-hint"

// An ownMembers is those of a file, with the names of all its members in their order.
type ownMembers struct {
	members object
	order   []string
}

// ownForms takes the members that have a form of their own out of front matter. Lines stay where
// they are.
func ownForms(y []byte) (rest []byte, own ownMembers) {
	if !slices.ContainsFunc(ownNames, func(name string) bool { return bytes.Contains(y, []byte(name+":")) }) {
		return y, own
	}
	for _, m := range memberLines(y) {
		if rest == nil { // comments stand before the first one
			rest = bytes.Repeat(newline, m.line-1)
		}
		if m.name == "" || slices.Contains(own.order, m.name) {
			rest = append(rest, m.text...)
			continue
		}
		own.order = append(own.order, m.name)
		value, ok := m.ownForm()
		if !ok {
			rest = append(rest, m.text...)
			continue
		}
		quoted, err := jsontext.AppendQuote(nil, value)
		if err != nil { // which YAML tells of
			rest = append(rest, m.text...)
			continue
		}
		own.members = append(own.members, member{m.name, quoted})
		rest = append(rest, bytes.Repeat(newline, bytes.Count(m.text, newline))...)
	}
	return rest, own
}

// among returns the members of the rest with those that have a form of their own in their places.
func (own ownMembers) among(rest object) object {
	if len(own.members) == 0 {
		return rest
	}
	var all object
	for _, name := range own.order {
		for _, o := range []object{own.members, rest} {
			if v, ok := o.raw(name); ok && !all.has(name) {
				all = append(all, member{name, v})
			}
		}
	}
	all.add(rest)
	return all
}

// ownForm returns the text of a member in a form of its own, and false for one that is plain YAML.
func (m lineMember) ownForm() (string, bool) {
	if !slices.Contains(ownNames, m.name) {
		return "", false
	}
	line, below, _ := bytes.Cut(m.text, newline)
	_, value, _ := strings.Cut(string(line), ":")
	if value = strings.TrimSpace(value); value == "" || strings.ContainsAny(value[:1], "\"'|>") ||
		len(bytes.TrimSpace(below)) > 0 {
		return "", false
	}
	one, err := parseYAML(m.text)
	if err == nil && len(one) == 1 && (one[0].value.Kind() != '[' || m.name != argumentHint) {
		return "", false
	}
	if at := strings.Index(value, " #"); at >= 0 { // a comment, which the tools leave out too
		value = strings.TrimSpace(value[:at])
	}
	return value, true
}

// ownForm returns a member as a line of front matter that has a form of its own, and false for one
// that must be written as YAML.
func ownForm(m member) (line []byte, ok bool) {
	var value string
	if !slices.Contains(ownNames, m.name) || json.Unmarshal(m.value, &value) != nil || value == "" ||
		strings.ContainsAny(value, "\n\r") {
		return nil, false
	}
	line = []byte(m.name + ": " + value + "\n")
	rest, own := ownForms(line)
	back, err := parseYAML(rest)
	if err != nil {
		return nil, false
	}
	was, _ := own.among(back).raw(m.name)
	return line, len(own.among(back)) == 1 && sameJSON(was, m.value)
}
