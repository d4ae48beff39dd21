package web

import (
	"regexp"
	"strings"
)

const (
	maxVariables = 30 // more are no form any more
	maxVariable  = 60 // bytes of a name
)

// placeholder finds {{name}}, ${name} and ${name:default}.
var placeholder = regexp.MustCompile(`\{\{\s*([\p{L}_][\p{L}\p{N}_ .-]*?)\s*\}\}|\$\{\s*([\p{L}_][\p{L}\p{N}_ .-]*?)\s*(?::([^{}]*))?\}`)

// A variable is a part of a text that its reader fills in.
type variable struct {
	Name    string
	Default string
	Value   string // what the reader gave
}

// A piece is a part of a text: as it is, or a variable.
type piece struct {
	Text     string // for a variable: what stands in its place while it has no value
	Variable int    // index, -1 for none
}

// A fill is a text with its variables.
type fill struct {
	Variables []variable
	Pieces    []piece
}

// parseFill finds the variables of a text. The same name is the same variable; its first default counts.
func parseFill(text string) fill {
	var f fill
	index := make(map[string]int)
	at := 0
	for _, m := range placeholder.FindAllStringSubmatchIndex(text, -1) {
		name, def := group(text, m, 1)+group(text, m, 2), group(text, m, 3)
		i, ok := index[name]
		if !ok {
			if len(f.Variables) == maxVariables || len(name) > maxVariable {
				continue
			}
			i = len(f.Variables)
			index[name] = i
			f.Variables = append(f.Variables, variable{Name: name, Default: strings.TrimSpace(def)})
		}
		if v := &f.Variables[i]; v.Default == "" {
			v.Default = strings.TrimSpace(def)
		}
		f.Pieces = append(f.Pieces, piece{text[at:m[0]], -1}, piece{text[m[0]:m[1]], i})
		at = m[1]
	}
	f.Pieces = append(f.Pieces, piece{text[at:], -1})
	for i, p := range f.Pieces {
		if p.Variable >= 0 && f.Variables[p.Variable].Default != "" {
			f.Pieces[i].Text = f.Variables[p.Variable].Default
		}
	}
	return f
}

func group(text string, m []int, n int) string {
	if m[2*n] < 0 {
		return ""
	}
	return text[m[2*n]:m[2*n+1]]
}

// Show returns what stands at a piece now.
func (f fill) Show(p piece) string {
	if p.Variable >= 0 && f.Variables[p.Variable].Value != "" {
		return f.Variables[p.Variable].Value
	}
	return p.Text
}
