package format

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Much front matter is not YAML: people write a colon, a star or a quote into a value and put no
// quotes around it. So what YAML refuses is read once more, one member at a time: each is YAML of
// its own, or else a text up to the end of its line, and a warning says so.

// memberLine begins a member of front matter: a name at the beginning of a line, and a colon.
var memberLine = regexp.MustCompile(`^([A-Za-z_][\w.-]*|"[^"\n]+"|'[^'\n]+')[ \t]*:(?:[ \t]|\r?$)`)

// A noYAML is what YAML refuses: how it is written, and not how much there is of it or what it
// means.
type noYAML struct{ error }

func (e noYAML) Unwrap() error { return e.error }

// leniently reads YAML that is refused as a whole. It begins after some lines of its file.
func leniently(y []byte, before int, texts []string, refused error) (object, []Warning, error) {
	if !errors.As(refused, &noYAML{}) {
		return nil, nil, refused
	}
	var o object
	var warnings []Warning
	seen := make(map[string]bool)
	for _, m := range memberLines(y) {
		if len(o) >= maxMembers {
			return nil, nil, fmt.Errorf("it has more than %d members", maxMembers)
		}
		line := before + m.line
		if m.name == "" {
			warnings = append(warnings,
				Warning{
					Line: line,
					Text: "is no member, such as name: value, and is left out: give it a name, or remove it",
				})
			continue
		}
		if seen[m.name] {
			warnings = append(warnings,
				Warning{Line: line, Text: fmt.Sprintf(
					"%.40q stands there twice, and only the first counts: remove one", m.name)})
			continue
		}
		seen[m.name] = true
		one, err := parseYAML(m.text, texts...)
		if err != nil || len(one) != 1 || one[0].name != m.name {
			// tabs, where YAML wants spaces
			one, err = parseYAML(withoutTabs(m.text), texts...)
		}
		if err == nil && len(one) == 1 && one[0].name == m.name {
			o = append(o, one[0])
			continue
		}
		if err != nil && !errors.As(err, &noYAML{}) {
			return nil, nil, err
		}
		value := m.value()
		quoted, err := jsontext.AppendQuote(nil, value)
		if err != nil {
			return nil, nil, fmt.Errorf("line %d: %w", line, err)
		}
		o = append(o, member{m.name, quoted})
		warnings = append(warnings, Warning{
			Line: line, Text: fmt.Sprintf(
				"%.40s is not valid YAML and was read as the text up to the end of its line: write %.40s: %.200s",
				m.name, m.name, strconv.Quote(value)),
		})
	}
	if len(o) == 0 {
		return nil, nil, cmp.Or(refused, errNoObject)
	}
	return o, warnings, nil
}

// A lineMember is a member of front matter with the lines that belong to it.
type lineMember struct {
	name string // "" for lines that belong to none
	line int    // from 1
	text []byte
}

// memberLines cuts front matter into its members. Lines that are indented, items of lists, empty
// lines and comments belong to the member before them.
func memberLines(y []byte) (all []lineMember) {
	n, begin, end := 0, 0, 0
	for line := range bytes.Lines(y) {
		n++
		at := end
		end += len(line)
		name := memberLine.FindSubmatch(bytes.TrimSuffix(line, newline))
		goesOn := isBlank(bytes.TrimSuffix(line, newline)) || bytes.ContainsAny(line[:1], " \t#-]}")
		switch {
		case name != nil:
			begin = at
			all = append(all, lineMember{strings.Trim(string(name[1]), `"'`), n, y[begin:end]})
		case !goesOn:
			begin = at
			all = append(all, lineMember{"", n, y[begin:end]})
		case len(all) > 0:
			all[len(all)-1].text = y[begin:end]
		}
	}
	return all
}

// value returns the member as a text: the rest of its line, and the lines that go on with it.
func (m lineMember) value() string {
	_, text, _ := strings.Cut(string(m.text), ":")
	var words []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			words = append(words, line)
		}
	}
	if len(words) > 1 && (words[0] == "|" || words[0] == ">" || words[0] == "|-" || words[0] == ">-") {
		words = words[1:]
	}
	return unquoted(strings.Join(words, " "))
}

// unquoted returns a text without the quotes around it, if they are around all of it: the first one
// inside of them does not end a word.
func unquoted(s string) string {
	if len(s) < 2 || s[0] != '"' && s[0] != '\'' || s[len(s)-1] != s[0] {
		return s
	}
	inner := s[1 : len(s)-1]
	if i := strings.IndexByte(inner, s[0]); i > 0 && inner[i-1] != ' ' && strings.Count(inner, s[:1])%2 == 0 {
		return s
	}
	return inner
}

// withoutTabs returns YAML with two spaces for each tab that begins a line, or stands between a
// name and its value.
func withoutTabs(y []byte) []byte {
	var b bytes.Buffer
	for line := range bytes.Lines(y) {
		rest := bytes.TrimLeft(line, " \t")
		b.Write(bytes.ReplaceAll(line[:len(line)-len(rest)], []byte("\t"), []byte("  ")))
		b.Write(bytes.Replace(rest, []byte(":\t"), []byte(": "), 1))
	}
	return b.Bytes()
}

// spelled returns the members with those that a format reads under their names: one that differs in
// capitals counts if there is no other.
func (o object) spelled(names []string) object {
	for _, name := range names {
		if o.has(name) {
			continue
		}
		if i := slices.IndexFunc(o, func(m member) bool { return strings.EqualFold(m.name, name) }); i >= 0 {
			o = slices.Clone(o)
			o[i].name = name
		}
	}
	return o
}
