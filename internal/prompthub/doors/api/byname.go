package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

func (a *api) byName() {
	route(a, reader, huma.Operation{
		OperationID: "get-prompt-by-name", Method: http.MethodGet, Path: "/users/{handle}/prompts/{slug}",
		Tags:    []string{"prompts"},
		Summary: "A prompt by its name or slug", Errors: []int{404, 410, 422},
		Description: "A former name leads to the prompt too, until another prompt of the author takes it. With version or label, another version than the current one: label=production is what programs should ask for.",
	}, a.getByName)
}

// ByName names a prompt as programs do.
type ByName struct {
	Handle string `path:"handle" doc:"Whose prompt: a handle, an authorId, or me" example:"me"`
	Slug   string `path:"slug" doc:"The slug of the prompt, or its name, or one that it had, with / as %2F" example:"reviews-code"`
	Which
}

func (a *api) getByName(ctx context.Context, c call, in *ByName) (*promptOutput, error) {
	owner, err := a.Service.OwnerID(ctx, c.User, in.Handle)
	if err != nil {
		return nil, err
	}
	want, one, err := in.wanted()
	if err != nil {
		return nil, err
	}
	v, err := a.Service.GetByName(ctx, c.User, owner, in.Slug, want)
	if err != nil {
		return nil, err
	}
	if one {
		a.Service.Fetched(ctx, c.User, v)
	}
	return a.output(v), nil
}
