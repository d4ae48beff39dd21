package api

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"prompthub/internal/fault"
	"prompthub/internal/http/openapi"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

const (
	textType   = "text/plain"
	valueQuery = "var." // how query parameters begin that give a variable its value
)

func (a *api) rendering() {
	route(a, reader, huma.Operation{
		OperationID: "render-prompt", Method: http.MethodPost, Path: "/prompts/{id}/render", Tags: []string{"prompts"},
		DefaultStatus: http.StatusOK,
		Summary:       "The text of a prompt, filled in. Every value that is missing or wrong is named at once. What it includes stands in its place", Errors: fails(badBody, 404, 409, 410),
		Description: "Without version or label, it takes the version with the label production, or else the latest. Fills placeholders such as {{name}} and {{name:default}} with values. A value is put in as it is, and is never read for placeholders. Nothing is kept.",
	}, a.renderPrompt)
	route(a, reader, huma.Operation{
		OperationID: "get-prompt-text", Method: http.MethodGet, Path: "/prompts/{id}/text", Tags: []string{"prompts"},
		Summary: "The text of a prompt, filled in, and nothing else: for a shell. Without version or label, that with the label production, or else the latest", Errors: fails(badQuery, 404, 409, 410),
		Description: "Placeholders are filled from parameters of the query that begin with var., such as var.name=Ann.",
		Parameters: []*huma.Param{{
			Name: valueQuery + "NAME", In: "query", Schema: &huma.Schema{Type: huma.TypeString}, Example: "Ann",
			Description: "The value of the variable NAME; one parameter for each; those given twice are one value, joined with a comma. As in POST /prompts/{id}/render",
		}},
		Responses: map[string]*huma.Response{"200": {
			Description: "The text", Content: map[string]*huma.MediaType{
				textType: {Schema: &huma.Schema{Type: huma.TypeString}, Example: "Write to Ann."},
			},
		}},
	}, a.promptText)
}

// filled is the value of a variable: a JSON string, number or boolean, the latter two as they are
// written.
type filled string

// UnmarshalJSON reads a value that the schema let pass.
func (f *filled) UnmarshalJSON(b []byte) error {
	if jsontext.Value(b).Kind() != '"' {
		*f = filled(b)
		return nil
	}
	return json.Unmarshal(b, (*string)(f))
}

// Schema says which JSON a value can be.
func (filled) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{
		{Type: huma.TypeString},
		{Type: huma.TypeNumber},
		{Type: huma.TypeBoolean},
	}}
}

type renderInput struct {
	ByID
	Body Filling
}

type renderOutput struct {
	Body Rendered
}

func (a *api) renderPrompt(ctx context.Context, c call, in *renderInput) (*renderOutput, error) {
	id, err := in.prompt()
	if err != nil {
		return nil, err
	}
	values := make(map[string]string, len(in.Body.Values))
	for name, value := range in.Body.Values {
		values[name] = string(value)
	}
	want, err := Which{in.Body.Version, in.Body.Label}.rendered("body.label")
	if err != nil {
		return nil, err
	}
	r, err := a.Service.Render(ctx, c.User, id, want, values)
	if err != nil {
		return nil, err
	}
	out := &renderOutput{Rendered{Version: r.Version}}
	if _, out.Body.Messages, _, _ = encodeContent(r.Content); out.Body.Messages == nil {
		out.Body.Text = &r.Text // an empty one too
	}
	return out, nil
}

// rendered returns the version to fill in: without a version or a label, the one that programs get.
func (in Which) rendered(location string) (library.WantedVersion, error) {
	want, one, err := in.wanted()
	switch {
	case err != nil:
		return want, openapi.Invalid(location, "name a version or a label, not both", in.Label)
	case !one:
		return library.ForPrograms, nil
	}
	return want, nil
}

type textInput struct {
	ByID
	Which
}

func (a *api) promptText(ctx context.Context, c call, in *textInput) (*rawOutput, error) {
	id, err := in.prompt()
	if err != nil {
		return nil, err
	}
	values := make(map[string]string)
	for name, value := range c.url.Query() {
		if name, ok := strings.CutPrefix(name, valueQuery); ok {
			values[name] = value[0]
		}
	}
	want, err := in.rendered("query.label")
	if err != nil {
		return nil, err
	}
	r, err := a.Service.Render(ctx, c.User, id, want, values)
	if err != nil {
		return nil, inQuery(err)
	}
	return &rawOutput{ContentType: textType + "; charset=utf-8", Body: []byte(r.Words())}, nil
}

// inQuery makes an error say where the query has the values that it names.
func inQuery(err error) error {
	var f *fault.Error
	if errors.As(err, &f) {
		for i, field := range f.Fields {
			if name, ok := strings.CutPrefix(field.Name, prompt.ValuesField); ok {
				f.Fields[i].Name = "query." + strings.TrimSuffix(valueQuery, ".") + name
			}
		}
	}
	return err
}
