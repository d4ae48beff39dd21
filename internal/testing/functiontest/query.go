package functiontest

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// merge writes a query anew from a dictionary, whose names are compared without case: the values
// of a name become one, and what cannot be decoded stays as text.
func merge(query string) string {
	type entry struct {
		name   string
		values []string // without the empty ones
	}
	var all []*entry
	known := make(map[string]*entry)
	for part := range strings.SplitSeq(query, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		name, value = queryText(name), queryText(value)
		e := known[strings.ToLower(name)]
		if e == nil {
			e = &entry{}
			known[strings.ToLower(name)] = e
			all = append(all, e)
		}
		e.name = name
		if value != "" {
			e.values = append(e.values, value)
		}
	}
	var pairs []string
	for _, e := range all {
		pairs = append(pairs, queryEscape(e.name)+"="+queryEscape(strings.Join(e.values, ",")))
	}
	return strings.Join(pairs, "&")
}

// queryText decodes what is UTF-8.
func queryText(s string) string { return unescape(strings.ReplaceAll(s, "+", " "), utf8.ValidString) }

// queryEscape escapes as .NET's UrlEncoder does.
func queryEscape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; unreserved(c) || strings.IndexByte("!$()*,;@", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
