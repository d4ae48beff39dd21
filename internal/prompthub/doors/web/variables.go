package web

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"prompthub/internal/fault"
	"prompthub/internal/http/pages"
	"prompthub/internal/prompthub/prompt"
)

// A fill is the variables of a content with the values that a form sent for them.
type fill struct {
	Fields []field
	Texts  [][]prompt.Part // of the content, filled in
	Wrong  string          // why there are none
}

// given reports whether a reader gave a value.
func (f fill) given() bool {
	return slices.ContainsFunc(f.Fields, func(v field) bool { return v.Value != "" })
}

// Empty returns how many values are needed and not given.
func (f fill) Empty() (n int) {
	for _, v := range f.Fields {
		if v.Needed() && v.Value == "" {
			n++
		}
	}
	return n
}

// Opened reports whether a form was sent, so that a page shows it again.
func (f fill) Opened() bool { return f.given() || f.Wrong != "" }

// A field is where a reader gives a variable its value.
type field struct {
	prompt.Variable
	Value string
	Wrong string // with the value
}

// Title returns what to call the variable.
func (f field) Title() string { return cmp.Or(f.Label, f.Name) }

// Described returns the ids of the hints next to the field of a number.
func (f field) Described(i int) string {
	var ids []string
	if f.Description != "" {
		ids = append(ids, "d"+strconv.Itoa(i))
	}
	if f.Wrong != "" {
		ids = append(ids, "w"+strconv.Itoa(i))
	}
	return strings.Join(ids, " ")
}

// Blank returns what stands for the variable while it has neither a value nor a default.
func (f field) Blank() string {
	if f.Needed() {
		return "{{" + f.Name + "}}"
	}
	return ""
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
func (s *web) fill(r *request, c prompt.Content) fill {
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
	if err != nil {
		f.Wrong = f.explain(err)
	}
	f.Texts = filled.Texts
	return f
}

// explain puts what is wrong with values next to their fields, and returns what to say of the
// whole.
func (f *fill) explain(err error) string {
	var wrong *fault.Error
	if !errors.As(err, &wrong) {
		return err.Error() // unreachable: neither Fill nor Resolve returns another
	}
	text := wrong.Text
	for _, w := range wrong.Fields {
		if w.Name == prompt.ValuesField {
			text = w.Message
		}
		for i := range f.Fields {
			if w.Name == prompt.ValuesField+"."+f.Fields[i].Name {
				f.Fields[i].Wrong = pages.Sentence(w.Message)
			}
		}
	}
	return pages.Sentence(text)
}
