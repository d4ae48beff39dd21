package mcp

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A toolbox is the server of the protocol, and the schemas of the arguments of its tools.
type toolbox struct {
	*sdk.Server
	inputs map[string]*jsonschema.Schema
}

const toldNames = 10 // of arguments that a tool does not have, in an error

// misfit returns the refusal of a call of a tool that lacks arguments, or has others than the tool
// takes or some of a wrong type, and nil of any other: the library would name the first mistake
// alone, in terms of schemas.
func (d *handler) misfit(p *sdk.CallToolParamsRaw) sdk.Result {
	in, ok := d.inputs[p.Name]
	var given map[string]jsontext.Value
	if !ok || len(p.Arguments) > 0 && json.Unmarshal(p.Arguments, &given) != nil {
		return nil
	}
	var wrong []string
	for _, name := range in.Required {
		if _, ok := given[name]; !ok {
			wrong = append(wrong, name+" is missing")
		}
	}
	for _, name := range in.PropertyOrder {
		if value, ok := given[name]; ok {
			wrong = append(wrong, mistyped(name, in.Properties[name], value)...)
		}
	}
	maps.DeleteFunc(given, func(name string, _ jsontext.Value) bool { return in.Properties[name] != nil })
	for i, name := range slices.Sorted(maps.Keys(given)) {
		if i == toldNames {
			wrong = append(wrong, fmt.Sprintf("and no %d others", len(given)-i))
			break
		}
		wrong = append(wrong, fmt.Sprintf("there is no argument %.40q", name))
	}
	if len(wrong) == 0 {
		return nil
	}
	takes := "no arguments"
	if len(in.PropertyOrder) > 0 {
		takes = strings.Join(in.PropertyOrder, ", ")
	}
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{
		&sdk.TextContent{Text: fmt.Sprintf("%s; %s takes %s", strings.Join(wrong, "; "), p.Name, takes)},
	}}
}

// mistyped says of an argument, or of its first element, which type it must have, and nothing if it
// has that.
func mistyped(name string, s *jsonschema.Schema, value jsontext.Value) []string {
	if !fits(s, value) {
		return []string{name + " must be " + wanted[s.Type]}
	}
	var elements []jsontext.Value
	if s.Type == "array" && json.Unmarshal(value, &elements) == nil {
		for i, e := range elements {
			if !fits(s.Items, e) {
				return []string{fmt.Sprintf("%s[%d] must be %s", name, i, wanted[s.Items.Type])}
			}
		}
	}
	var members map[string]jsontext.Value
	if s.Type == "object" && json.Unmarshal(value, &members) == nil {
		for _, member := range slices.Sorted(maps.Keys(members)) {
			if !fits(s.AdditionalProperties, members[member]) {
				return []string{fmt.Sprintf("%s.%.40s must be %s", name, member, wanted[s.AdditionalProperties.Type])}
			}
		}
	}
	return nil
}

// wanted says for people what the types of schemas are.
var wanted = map[string]string{
	"string": "a text", "integer": "a whole number", "number": "a number", "boolean": "true or false", "array": "a list", "object": "an object of names and values",
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
