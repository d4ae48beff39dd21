package prompt

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"prompthub/internal/fault"
	"prompthub/internal/legible"
)

// Limits of variables and of their values, lengths in UTF-16 code units.
const (
	MaxVariables = 100   // of one prompt, declared and found; further ones that are found stay text
	MaxValue     = 2000  // of a value
	MaxMultiline = 32768 // of a value of the type Multiline

	maxVariableName = 64
	maxLabel        = 100
	maxAbout        = 1024
	maxChoices      = 50
	maxChoice       = 200
)

// A VariableType says which values a variable takes.
type VariableType string

// The types of variables.
const (
	Line      VariableType = "text" // a short text
	Multiline VariableType = "multiline"
	Number    VariableType = "number"  // as JSON writes numbers
	Boolean   VariableType = "boolean" // true or false
	Choice    VariableType = "choice"  // one of Choices
	Date      VariableType = "date"    // 2026-01-31
)

// VariableTypes returns all types of variables.
func VariableTypes() []VariableType {
	return []VariableType{Line, Multiline, Number, Boolean, Choice, Date}
}

// A Variable is a part of a text that users of the prompt fill in: one that its author declared, or
// one that was found in the text. The JSON is that of stored prompts.
type Variable struct {
	Name        string       `json:"name"`
	Label       string       `json:"label,omitempty"` // for people; Name where empty
	Description string       `json:"description,omitempty"`
	Type        VariableType `json:"type"`
	Required    bool         `json:"required,omitempty"`
	Default     *string      `json:"default,omitempty"` // nil: none
	Choices     []string     `json:"choices,omitempty"` // of the type Choice
}

// same reports whether two variables are equal.
func (v Variable) same(w Variable) bool {
	same := v.Name == w.Name && v.Label == w.Label && v.Description == w.Description &&
		v.Type == w.Type && v.Required == w.Required
	return same && (v.Default == nil) == (w.Default == nil) && v.fallback() == w.fallback() &&
		slices.Equal(v.Choices, w.Choices)
}

// Needed reports whether a text cannot be rendered without a value.
func (v Variable) Needed() bool { return v.Required && v.Default == nil }

// Hint says in one line what a variable is for and which values it takes.
func (v Variable) Hint() string {
	parts := []string{cmp.Or(v.Description, v.Label)}
	switch v.Type {
	case Number:
		parts = append(parts, "A number.")
	case Boolean:
		parts = append(parts, "True or false.")
	case Date:
		parts = append(parts, "A date, such as 2026-01-31.")
	case Choice:
		parts = append(parts, "One of "+quoted(v.Choices)+".")
	case Line, Multiline:
	}
	if v.Default != nil {
		parts = append(parts, "Default: "+strconv.Quote(Excerpt(*v.Default))+".")
	}
	return strings.TrimSpace(strings.Join(parts, " "))
}

// fallback returns what stands for a variable that is given no value.
func (v Variable) fallback() string {
	if v.Default != nil {
		return *v.Default
	}
	return ""
}

// VariableName returns the name of a variable that a text calls s: white space becomes underscores.
func VariableName(s string) string { return strings.Join(strings.Fields(s), "_") }

// isVariableName reports whether s can stand in a placeholder.
func isVariableName(s string) bool {
	for i, r := range s {
		if !nameRune(r, i == 0) {
			return false
		}
	}
	return s != "" && units(s) <= maxVariableName
}

// nameRune reports whether a name may hold r, or begin with it.
func nameRune(r rune, first bool) bool {
	return r == '_' || unicode.IsLetter(r) || !first && (r == '.' || r == '-' || unicode.In(r, unicode.N, unicode.M))
}

var number = regexp.MustCompile(`^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$`)

// limit returns how long a value may be.
func (v Variable) limit() int {
	if v.Type == Multiline {
		return MaxMultiline
	}
	return MaxValue
}

// wrong returns what is wrong with a value, "" for nothing.
func (v Variable) wrong(value string) string {
	switch n := units(value); {
	case !utf8.ValidString(value) || strings.ContainsRune(value, 0):
		return "send valid UTF-8 without the character U+0000"
	case n > v.limit():
		return fmt.Sprintf("shorten the value to at most %d characters, it has %d", v.limit(), n)
	}
	switch v.Type {
	case Number:
		if !number.MatchString(value) {
			return "must be a number, such as 12 or -0.5"
		}
	case Boolean:
		if value != "true" && value != "false" {
			return "must be true or false"
		}
	case Date:
		if _, err := time.Parse(time.DateOnly, value); err != nil {
			return "must be a date, such as 2026-01-31"
		}
	case Choice:
		if !slices.Contains(v.Choices, value) {
			return "must be one of " + quoted(v.Choices)
		}
	case Line, Multiline:
	}
	return ""
}

// quoted lists texts for an error: the first ten, each cut where it is long.
func quoted(list []string) string {
	const most = 10
	var b strings.Builder
	for i, s := range list[:min(len(list), most)] {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", short(s))
	}
	if len(list) > most {
		fmt.Fprintf(&b, " and %d more", len(list)-most)
	}
	return b.String()
}

// variables returns declared variables normalised: those without a type are of the type Line.
func (c *checker) variables(list []Variable) []Variable {
	if len(list) > MaxVariables {
		c.broken("variables", fmt.Sprintf("%d variables", len(list)), "declare at most %d variables", MaxVariables)
		return nil
	}
	kept := make([]Variable, 0, len(list))
	for i, v := range list {
		location := fmt.Sprintf("variables[%d]", i)
		if v.Type == "" {
			v.Type = Line
		}
		if !isVariableName(v.Name) {
			c.broken(location+".name", v.Name,
				"name the variable with at most %d letters, digits, _, - and dots, a letter or _ first",
				maxVariableName)
		} else if slices.ContainsFunc(kept, func(k Variable) bool { return k.Name == v.Name }) {
			c.broken(location+".name", v.Name, "remove the second variable of this name")
		}
		c.line(location+".label", v.Label, maxLabel)
		c.line(location+".description", v.Description, maxAbout)
		if c.variableType(location, v) && v.Default != nil {
			if wrong := v.wrong(*v.Default); wrong != "" {
				c.broken(location+".default", *v.Default, "%s", wrong)
			}
		}
		kept = append(kept, v)
	}
	return kept
}

// variableType checks the type of a variable and its choices.
func (c *checker) variableType(location string, v Variable) bool {
	before := len(c.fields)
	switch {
	case !slices.Contains(VariableTypes(), v.Type):
		c.broken(location+".type", string(v.Type), "set the type to text, multiline, number, boolean, choice or date")
	case v.Type != Choice && len(v.Choices) > 0:
		c.broken(location+".choices", "", "only a variable of the type choice has choices")
	case v.Type == Choice && (len(v.Choices) == 0 || len(v.Choices) > maxChoices):
		c.broken(location+".choices", "", "give 1 to %d choices", maxChoices)
	}
	if len(c.fields) > before {
		return false
	}
	for i, choice := range v.Choices {
		at := fmt.Sprintf("%s.choices[%d]", location, i)
		if slices.Contains(v.Choices[:i], choice) {
			c.broken(at, choice, "remove the second choice of this text")
		}
		c.line(at, choice, maxChoice)
	}
	return len(c.fields) == before
}

// line checks a text for people in one line.
func (c *checker) line(location, s string, most int) {
	switch n := units(s); {
	case !utf8.ValidString(s) || strings.ContainsFunc(s, legible.Breaks):
		c.broken(location, s, "send one line of valid UTF-8 without control characters")
	case n > most:
		c.broken(location, s, "shorten this to at most %d characters, it has %d", most, n)
	}
}

// CheckVariables returns declared variables normalised, or an error of the kind Invalid that names
// every broken rule.
func CheckVariables(list []Variable) ([]Variable, error) {
	var c checker
	list = c.variables(list)
	if len(c.fields) > 0 {
		return nil, &fault.Error{
			Kind: fault.Invalid, Text: "the variables break the rules named here",
			Fields: c.fields,
		}
	}
	return list, nil
}
