package prompt

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"prompthub/internal/fault"
)

// FillFactor is how many times the limit of a text a rendered text may be long.
const FillFactor = 4

// maxWrongValues are what one error names: enough to see what is wrong, and no answer larger than
// the request.
const maxWrongValues = 20

// A Template is the texts of a prompt, one or those of its messages, with their variables.
// Placeholders are
//
//	{{name}}  {{name:default}}  {{name:a|b|c}}  ${name}  ${name:default}  ${name:a|b|c}
//
// where a default ends at the next brace, and choices offer the first as default. Those of other
// programs are read as well: ${input:name:hint} of VS Code, {{$name}} of Semantic Kernel, and
// {{name | type:property=value}} of Open WebUI. Everything else is text.
type Template struct {
	Variables []Variable // those declared, then those found, in the order of the texts
	Lost      []string   // the names found beyond MaxVariables: their places stay text
	texts     [][]Part   // placeholders as they are written
}

// A Part is a part of a text: literal text, or the place of a variable.
type Part struct {
	Text     string
	Variable int  // index, -1 for text as it is
	Open     bool // the place of a variable that needs a value and has none
}

// ParseTemplate finds the variables of texts. A declared variable overrides one that is found under
// its name; a label or a default that only the text has counts, but that a required variable takes
// no default from it.
func ParseTemplate(declared []Variable, texts ...string) Template {
	p := parser{
		Template: Template{Variables: slices.Clone(declared)}, declared: len(declared),
		index: make(map[string]int), known: make(map[int]bool), lost: make(map[string]bool),
	}
	for i, v := range declared {
		p.index[v.Name] = i
	}
	for _, text := range texts {
		p.texts = append(p.texts, p.text(text))
	}
	return p.Template
}

type parser struct {
	Template
	declared int            // how many of the variables
	index    map[string]int // of the variables, by name
	known    map[int]bool   // whether a default was found for a variable: the first counts
	lost     map[string]bool
}

// Parts returns the texts in parts, placeholders as they are written.
func (t Template) Parts() [][]Part { return t.texts }

// text cuts a text into pieces, in one pass: whatever a placeholder holds, looking for its end
// stops at the next brace.
func (p *parser) text(text string) []Part {
	var pieces []Part
	begin := 0 // of the part that is no piece yet
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '{')
		if i < 0 {
			return append(pieces, Part{Text: text[begin:], Variable: -1})
		}
		at += i
		m, ok := scanPlaceholder(text, at)
		if !ok {
			at++
			continue
		}
		if v, ok := p.variable(m); ok {
			pieces = append(pieces, Part{Text: text[begin:m.from], Variable: -1},
				Part{Text: text[m.from:m.to], Variable: v})
			begin = m.to
		}
		at = m.to
	}
}

// A match is a placeholder in a text.
type match struct {
	from, to   int
	name       string // as the text has it
	def        string
	hasDefault bool
	typed      *Variable // what a placeholder of another program says of its variable, nil for nothing
}

// scanPlaceholder reads the placeholder whose first brace is at i, or whose second brace follows a
// dollar sign there.
func scanPlaceholder(text string, i int) (m match, ok bool) {
	m.from, m.to = i, i+1
	closing := "}"
	switch {
	case strings.HasPrefix(text[i:], "{{"):
		m.to, closing = i+2, "}}"
	case i > 0 && text[i-1] == '$':
		m.from = i - 1
	default:
		return m, false
	}
	end := strings.IndexAny(text[m.to:], "{}")
	if end < 0 || !strings.HasPrefix(text[m.to+end:], closing) {
		return m, false
	}
	inner := text[m.to : m.to+end]
	m.to += end + len(closing)
	if v, ok := ofOtherPrograms(inner, closing == "}"); ok {
		m.name, m.typed = v.Name, &v
		return m, isVariableName(m.name)
	}
	m.name, m.def, m.hasDefault = strings.Cut(inner, ":")
	m.name, m.def = strings.Trim(m.name, " "), strings.TrimSpace(m.def)
	return m, isVariableName(strings.ReplaceAll(m.name, " ", "_"))
}

// variable returns the index of the variable that a placeholder names. It is false beyond
// MaxVariables.
func (p *parser) variable(m match) (int, bool) {
	name := VariableName(m.name)
	i, ok := p.index[name]
	if !ok {
		if len(p.Variables) >= MaxVariables {
			if !p.lost[name] {
				p.lost[name] = true
				p.Lost = append(p.Lost, name)
			}
			return 0, false
		}
		i = len(p.Variables)
		p.index[name] = i
		p.Variables = append(p.Variables, Variable{Name: name, Type: Line, Required: true})
	}
	v := &p.Variables[i]
	if v.Label == "" && m.name != name {
		v.Label = m.name
	}
	switch {
	case m.typed != nil && !ok:
		*v = *m.typed
	case m.typed != nil && v.Description == "":
		v.Description = m.typed.Description
	case m.hasDefault && !p.known[i]:
		p.known[i] = true
		v.take(m.def, i < p.declared)
	}
	return i, true
}

// take gives a variable the default that a placeholder has for it, or its choices. A found one
// takes both; a declared one a default, where it neither has nor refuses one.
func (v *Variable) take(def string, isDeclared bool) {
	choices := splitChoices(def)
	if len(choices) > 0 {
		def = choices[0]
	}
	switch {
	case !isDeclared && len(choices) > 0:
		v.Type, v.Choices, v.Required, v.Default = Choice, choices, false, &def
	case !isDeclared:
		v.Required, v.Default = false, &def
	case !v.Required && v.Default == nil && v.wrong(def) == "":
		v.Default = &def
	}
}

// splitChoices returns the choices in a default, each once, or none where it is a plain text.
func splitChoices(def string) []string {
	var choices []string
	for choice := range strings.SplitSeq(def, "|") {
		choice = strings.TrimSpace(choice)
		if choice == "" || units(choice) > maxChoice || len(choices) == maxChoices {
			return nil
		}
		if !slices.Contains(choices, choice) {
			choices = append(choices, choice)
		}
	}
	if len(choices) < 2 {
		return nil
	}
	return choices
}

// A Filled is a template with values.
type Filled struct {
	Texts [][]Part
	// that are needed and have no value: their placeholders stand as they were written
	Missing []Variable
}

// Fill puts values, by the names of variables, into their places, in one pass: no value is looked
// into. The error, of the kind Invalid, names all that is wrong: values of no variable, or that
// their variable does not take, or a text that becomes longer than four times maxText, or than four
// times a stored text that is itself longer than that.
func (t Template) Fill(values map[string]string, maxText int) (Filled, error) {
	f, fields := t.fill(values, maxText)
	if len(fields) > 0 {
		return Filled{}, refused(fields)
	}
	return f, nil
}

// fill returns the texts and the missing variables, or the mistakes in values, and then no texts.
func (t Template) fill(values map[string]string, maxText int) (f Filled, fields []fault.Field) {
	given, fields := t.given(values)
	for i, v := range t.Variables {
		if given[i] == nil && v.Needed() {
			f.Missing = append(f.Missing, v)
		}
	}
	n, longest := t.length(given)
	if most := FillFactor * max(maxText, longest); n > most && len(fields) == 0 {
		fields = append(fields, fault.Field{
			Name: ValuesField, Message: fmt.Sprintf(
				"shorten the values: the text becomes %d characters long, and may be %d", n, most),
		})
	}
	if len(fields) > 0 {
		return f, fields
	}
	for _, parts := range t.texts {
		filled := make([]Part, len(parts))
		for i, p := range parts {
			filled[i] = t.part(p, given)
			filled[i].Open = p.Variable >= 0 && given[p.Variable] == nil && t.Variables[p.Variable].Needed()
		}
		f.Texts = append(f.Texts, filled)
	}
	return f, nil
}

// Render returns the texts with values in the places of all variables. In addition to the errors of
// Fill, which see, it is one if a needed value is missing. It names all that are missing, and with
// them all that are wrong. An empty value is a value.
func (t Template) Render(values map[string]string, maxText int) ([]string, error) {
	f, wrong := t.fill(values, maxText)
	var fields []fault.Field
	for _, v := range f.Missing {
		fields = append(fields, fault.Field{Name: ValuesField + "." + v.Name, Message: "is required"})
	}
	if fields = append(fields, wrong...); len(fields) > 0 {
		return nil, refused(fields)
	}
	texts := make([]string, len(f.Texts))
	for i, parts := range f.Texts {
		var b strings.Builder
		for _, p := range parts {
			b.WriteString(p.Text)
		}
		texts[i] = b.String()
	}
	return texts, nil
}

// ValuesField is where the errors of Fill and Render say that values are.
const ValuesField = "values"

func refused(fields []fault.Field) error {
	return &fault.Error{Kind: fault.Invalid, Text: "the values do not fit the variables of the prompt", Fields: fields}
}

// given returns the value of each variable, nil for none, and the mistakes in values.
func (t Template) given(values map[string]string) ([]*string, []fault.Field) {
	index := make(map[string]int, len(t.Variables))
	for i, v := range t.Variables {
		index[v.Name] = i
	}
	given := make([]*string, len(t.Variables))
	var fields []fault.Field
	for _, called := range slices.Sorted(maps.Keys(values)) {
		if len(fields) == maxWrongValues {
			break
		}
		value := values[called]
		i, ok := index[VariableName(called)]
		wrong := "is no variable of this prompt" + t.known()
		switch {
		case ok && given[i] != nil:
			wrong = fmt.Sprintf("gives the variable %q a second value", t.Variables[i].Name)
		case ok:
			wrong = t.Variables[i].wrong(value)
			given[i] = &value
		}
		if wrong != "" {
			fields = append(fields, fault.Field{
				Name:    ValuesField + "." + short(called),
				Message: wrong, Value: short(value),
			})
		}
	}
	return given, fields
}

// known says which variables there are.
func (t Template) known() string {
	if len(t.Variables) == 0 {
		return ", which has none"
	}
	names := make([]string, len(t.Variables))
	for i, v := range t.Variables {
		names[i] = v.Name
	}
	return "; it has " + quoted(names)
}

// part returns a part with the value of its variable.
func (t Template) part(p Part, given []*string) Part {
	switch {
	case p.Variable < 0:
	case given[p.Variable] != nil:
		p.Text = *given[p.Variable]
	case !t.Variables[p.Variable].Needed():
		p.Text = t.Variables[p.Variable].fallback()
	}
	return p
}

// length returns how long the texts are with values, and how long the longest is without, in UTF-16
// code units.
func (t Template) length(given []*string) (filled, longest int) {
	known := make(map[int]int, len(given)) // the lengths of the places of variables
	for _, parts := range t.texts {
		written := 0
		for _, p := range parts {
			n := units(p.Text)
			written += n
			if p.Variable >= 0 && (given[p.Variable] != nil || !t.Variables[p.Variable].Needed()) {
				of, ok := known[p.Variable]
				if !ok {
					of = units(t.part(p, given).Text)
					known[p.Variable] = of
				}
				n = of
			}
			filled += n
		}
		longest = max(longest, written)
	}
	return filled, longest
}
