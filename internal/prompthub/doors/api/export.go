package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/transfer"
)

func (a *api) exports() {
	route(a, reader, huma.Operation{
		OperationID: "export-prompt", Method: http.MethodGet, Path: "/prompts/{id}/export", Tags: []string{"prompts"},
		Summary: "A prompt as a file of another program", Errors: []int{404, 410, 422},
		Description: "A version that was made of a file of this format comes back as that file, byte for byte, while it says what the prompt is. Else, and with a syntax, it is written anew, with what only the format knows put back. What the format cannot hold is named in a header of the answer.",
		Responses:   map[string]*huma.Response{"200": {Description: "The file", Content: files()}},
	}, a.exportPrompt)
}

const lossHeader = "X-PromptHub-Loss"

// files returns what a file can be.
func files() map[string]*huma.MediaType {
	types := make(map[string]*huma.MediaType)
	for _, f := range format.Formats() {
		name, _, _ := strings.Cut(f.MediaType(), ";")
		types[name] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}, Example: "Write to {{name}}."}
	}
	types[jsonType] = &huma.MediaType{
		Schema:  &huma.Schema{},
		Example: map[string]any{"name": "letter", "prompt": "Write to {{name}}."},
	}
	return types
}

type exportInput struct {
	ByID
	Which
	Format FileFormat `query:"format" required:"true" doc:"Which program's" example:"skill"`
	Syntax string     `query:"syntax" enum:"dollar,f-string,handlebars,jinja,library,mustache" doc:"Writes the placeholders of the text anew: dollar as ${name}, f-string as {name}, library as they are, the others as {{name}}. Defaults that only the text has become declared variables where they cannot stand in it. Absent: as the program of the format fills them in" example:"handlebars"`
}

type exportOutput struct {
	ContentType string `header:"Content-Type" hidden:"true"`
	Disposition string `header:"Content-Disposition" doc:"What to call the file" example:"attachment; filename=SKILL.md"`
	Loss        string `header:"X-PromptHub-Loss" doc:"What of the prompt such a file cannot hold, separated by commas; absent for nothing" example:"tags, visibility"`
	Body        []byte
}

func (a *api) exportPrompt(ctx context.Context, c call, in *exportInput) (*exportOutput, error) {
	id, want, err := FilesInput{in.ByID, in.Which}.version()
	if err != nil {
		return nil, err
	}
	want.Labels = true
	v, err := a.Service.GetVersion(ctx, c.User, id, want)
	if err != nil {
		return nil, err
	}
	a.Service.Fetched(ctx, c.User, v)
	file, err := transfer.FileOf(ctx, a.Service, v, string(in.Format), in.Syntax)
	if err != nil {
		return nil, err
	}
	return &exportOutput{
		ContentType: file.Type, Loss: strings.Join(file.Loss, ", "), Body: file.Bytes,
		Disposition: file.Disposition,
	}, nil
}
