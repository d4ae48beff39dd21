package web

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
)

// A fill is a text with its variables, and with the values that a form sent for them.
type fill struct {
	Fields []field
	Text   []prompt.Part
	Wrong  string // why there is no text
}

// given reports whether a reader gave a value.
func (f fill) given() bool {
	return slices.ContainsFunc(f.Fields, func(v field) bool { return v.Value != "" })
}

// markup is about what stands around a variable in HTML, in bytes.
const markup = 32

// size returns how many bytes the text takes on a page.
func (f fill) size() int {
	n := 0
	for _, p := range f.Text {
		n += len(exact(p.Text)) + markup
	}
	return n
}

// A field is where a reader gives a variable its value.
type field struct {
	prompt.Variable
	Value string
	Wrong string // with the value
}

// Title returns what to call the variable.
func (f field) Title() string { return cmp.Or(f.Label, f.Name) }

// Blank returns what stands for the variable while it has no value.
func (f field) Blank() string {
	if f.Needed() {
		return "{{" + f.Name + "}}"
	}
	return f.Hint()
}

// Hint returns the default.
func (f field) Hint() string {
	if f.Default == nil {
		return ""
	}
	return *f.Default
}

// Options returns what the value can be chosen from, nil where it is written.
func (f field) Options() []string {
	switch {
	case f.Type == prompt.Boolean:
		return []string{"true", "false"}
	case f.Type == prompt.Choice:
		return f.Choices
	}
	return nil
}

// fill fills in a prompt with the values of a form. A field that is left empty has none.
func (s *web) fill(c prompt.Content, r *http.Request) fill {
	template := c.Template()
	values := make(map[string]string)
	var f fill
	for i, v := range template.Variables {
		value := strings.ReplaceAll(r.PostFormValue("v"+strconv.Itoa(i)), "\r\n", "\n")
		if value != "" {
			values[v.Name] = value
		}
		f.Fields = append(f.Fields, field{Variable: v, Value: value})
	}
	filled, err := template.Fill(values, s.MaxText)
	if err == nil {
		for i, parts := range filled.Texts {
			if i > 0 {
				f.Text = append(f.Text, prompt.Part{Text: "\n\n", Variable: -1}) // between messages
			}
			f.Text = append(f.Text, parts...)
		}
		return f
	}
	f.Wrong = f.explain(err)
	return f
}

// explain puts what is wrong with values beside their fields, and returns what to say of the whole.
func (f *fill) explain(err error) string {
	var wrong *fault.Error
	if !errors.As(err, &wrong) {
		return err.Error() // unreachable: Fill returns no other
	}
	text := wrong.Text
	for _, w := range wrong.Fields {
		if w.Name == prompt.ValuesField {
			text = w.Message
		}
		for i := range f.Fields {
			if w.Name == prompt.ValuesField+"."+f.Fields[i].Name {
				f.Fields[i].Wrong = sentence(w.Message)
			}
		}
	}
	return sentence(text)
}
