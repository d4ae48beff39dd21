package mcp

import (
	"fmt"
	"maps"
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

// misnamed returns the refusal of a call of a tool that lacks arguments or has others than the tool
// takes, and nil of any other: the library would name the first mistake alone, in terms of schemas.
func (d *handler) misnamed(p *sdk.CallToolParamsRaw) sdk.Result {
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
