package mcp

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
)

const toldNames = 10 // of arguments that a tool does not have, in an error

// fitted returns the arguments of a call as a schema has them, and the mistakes in them: the
// library of the protocol would name the first mistake alone, in terms of schemas. Clients with
// strict schemas send null where there is no argument, and models write a number, a boolean, a list
// or an object as a text of JSON: fitted takes both as the client means them.
func fitted(takes *jsonschema.Schema, arguments jsontext.Value) (made jsontext.Value, wrong []string) {
	given := make(map[string]jsontext.Value)
	if v := meant(takes, arguments); v != nil && json.Unmarshal(v, &given) != nil {
		return nil, []string{"the arguments must be " + wanted["object"]}
	}
	maps.DeleteFunc(given, func(_ string, v jsontext.Value) bool { return v.Kind() == 'n' })
	for _, name := range takes.Required {
		if _, ok := given[name]; !ok {
			wrong = append(wrong, name+" is missing")
		}
	}
	unknown := maps.Clone(given)
	for _, name := range takes.PropertyOrder {
		delete(unknown, name)
		value, ok := given[name]
		if !ok {
			continue
		}
		if value = meant(takes.Properties[name], value); value == nil {
			delete(given, name)
			continue
		}
		given[name] = value
		wrong = append(wrong, mistyped(name, takes.Properties[name], value)...)
	}
	for i, name := range slices.Sorted(maps.Keys(unknown)) {
		if i == toldNames {
			wrong = append(wrong, fmt.Sprintf("and no %d others", len(unknown)-i))
			break
		}
		wrong = append(wrong, fmt.Sprintf("there is no argument %.40q", name))
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	made, err := json.Marshal(given)
	if err != nil {
		return nil, []string{err.Error()}
	}
	return made, nil
}

// meant returns what a client means by a value: nil for none. Where a schema wants no text, a text
// is the JSON in it, and an empty one is none.
func meant(s *jsonschema.Schema, value jsontext.Value) jsontext.Value {
	var text string
	if value.Kind() == '"' && s != nil && s.Type != "string" && json.Unmarshal(value, &text) == nil {
		text = strings.TrimSpace(text)
		if said := jsontext.Value(text); text == "" {
			return nil
		} else if lower := jsontext.Value(strings.ToLower(text)); s.Type == "boolean" && fits(s, lower) {
			value = lower // True, as Python writes it
		} else if said.IsValid() && (said.Kind() == 'n' || fits(s, said)) {
			value = said
		}
	}
	var n float64
	switch {
	case len(value) == 0 || value.Kind() == 'n':
		return nil
	case s == nil:
	case s.Type == "integer" && fits(s, value) && json.Unmarshal(value, &n) == nil && math.Abs(n) < 1<<53:
		return strconv.AppendInt(nil, int64(n), 10) // 5.0 is 5
	case s.Type == "object" && s.AdditionalProperties != nil && s.AdditionalProperties.Type == "string":
		return withTexts(value)
	}
	return value
}

// mistyped says of an argument, or of the first part of it that is wrong, which type it must have,
// and nothing if it has that.
func mistyped(name string, s *jsonschema.Schema, value jsontext.Value) []string {
	if !fits(s, value) {
		return []string{name + " must be " + wanted[s.Type]}
	}
	var elements []jsontext.Value
	if s != nil && s.Type == "array" && json.Unmarshal(value, &elements) == nil {
		for i, e := range elements {
			if wrong := mistyped(fmt.Sprintf("%s[%d]", name, i), s.Items, e); wrong != nil {
				return wrong
			}
		}
	}
	var members map[string]jsontext.Value
	if s == nil || s.Type != "object" || json.Unmarshal(value, &members) != nil {
		return nil
	}
	for _, member := range slices.Sorted(maps.Keys(members)) {
		of := s.AdditionalProperties
		if s.Properties != nil {
			if of = s.Properties[member]; of == nil {
				return []string{fmt.Sprintf("there is no %.40q in %s, which has %s", member, name,
					strings.Join(s.PropertyOrder, ", "))}
			}
			if members[member].Kind() == 'n' {
				delete(members, member) // none, as of an argument
				continue
			}
		}
		if wrong := mistyped(fmt.Sprintf("%s.%.40s", name, member), of, members[member]); wrong != nil {
			return wrong
		}
	}
	for _, member := range s.Required {
		if _, ok := members[member]; !ok {
			return []string{name + "." + member + " is missing"}
		}
	}
	return nil
}

// wanted says for people what the types of schemas are.
var wanted = map[string]string{
	"string": "a text", "integer": "a whole number", "number": "a number", "boolean": "true or false",
	"array": "a list", "object": "an object of names and values",
}

// fits reports whether a value has the type of a schema, as far as that says one.
func fits(s *jsonschema.Schema, value jsontext.Value) bool {
	if s == nil || wanted[s.Type] == "" {
		return true
	}
	switch kind := value.Kind(); s.Type {
	case "string":
		return kind == '"'
	case "integer":
		var n float64
		return kind == '0' && json.Unmarshal(value, &n) == nil && n == math.Trunc(n)
	case "number":
		return kind == '0'
	case "boolean":
		return kind == 't' || kind == 'f'
	case "array":
		return kind == '['
	default:
		return kind == '{'
	}
}
