package mcp

import (
	"fmt"
	"maps"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

const (
	formsSince = "2026-07-28" // the first version in which an answer can ask for more
	maxFields  = 20           // of a form; with more, the names are told
	theForm    = "values"
)

// ask returns a form for the values that a prompt needs and was not given. It is nil where nothing
// is missing, where the client cannot show a form, and where it has shown it.
func ask(req *sdk.GetPromptRequest, v library.View, given map[string]string) sdk.InputRequestMap {
	client := req.ClientCapabilities()
	asked := len(req.Params.InputResponses) > 0
	if asked || req.ProtocolVersion() < formsSince || client == nil || client.Elicitation == nil {
		return nil
	}
	form := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	for _, x := range v.Content().Template().Variables {
		if _, ok := given[x.Name]; x.Needed() && !ok {
			form.Properties[x.Name] = field(x)
			form.Required = append(form.Required, x.Name)
		}
	}
	if n := len(form.Required); n == 0 || n > maxFields {
		return nil
	}
	return sdk.InputRequestMap{theForm: &sdk.ElicitParams{
		Mode: "form", Message: "Fill in " + v.Title, RequestedSchema: form,
	}}
}

// field returns how a form asks for a value.
func field(v prompt.Variable) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string", Title: v.Label, Description: v.Hint()}
	switch v.Type {
	case prompt.Number:
		s.Type = "number"
	case prompt.Boolean:
		s.Type = "boolean"
	case prompt.Date:
		s.Format = "date"
	case prompt.Choice:
		for _, choice := range v.Choices {
			s.Enum = append(s.Enum, choice)
		}
	case prompt.Line, prompt.Multiline:
	}
	return s
}

// values returns the arguments of a request, and the fields of its form. A client that shows a form
// sends an empty text for a field that was left empty, so an empty one is none: a variable has its
// default then, or is missing.
func values(p *sdk.GetPromptParams) map[string]string {
	all := maps.Clone(p.Arguments)
	if all == nil {
		all = map[string]string{}
	}
	if filled, ok := p.InputResponses[theForm].(*sdk.ElicitResult); ok && filled.Action == "accept" {
		for name, value := range filled.Content {
			switch value.(type) {
			case string, float64, bool:
				all[name] = fmt.Sprint(value)
			}
		}
	}
	maps.DeleteFunc(all, func(_, value string) bool { return value == "" })
	return all
}
