package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/internal/fault"
	"prompthub/internal/http/openapi"
	"prompthub/internal/prompthub/prompt"
)

func (a *api) tags() {
	route(a, reader, huma.Operation{
		OperationID: "list-tags", Method: http.MethodGet, Path: "/tags", Tags: []string{"tags"},
		Summary: "The tag catalog", Errors: []int{403, 422},
		Description: "Prompts may have tags of the catalog that are active. all=true shows admins the others too. Prompts are counted once a minute.",
	}, a.listTags)
	route(a, user, huma.Operation{
		OperationID: "put-tag", Method: http.MethodPut, Path: "/tags/{tag}", Tags: []string{"tags"},
		Summary: "Create or change a tag; an admin may", Errors: fails(badBody, 403),
		Description: "Makes a tag that was deactivated active again.",
	}, a.putTag)
	route(a, user, huma.Operation{
		OperationID: "delete-tag", Method: http.MethodDelete, Path: "/tags/{tag}", Tags: []string{"tags"},
		Summary: "Deactivate a tag: prompts that have it keep it; an admin may", Errors: []int{403, 404},
		Description: "No other prompt can have it then; PUT makes it active again.",
	}, a.retireTag)
}

type tagsInput struct {
	All bool `query:"all" doc:"With the inactive tags, for an admin"`
}

type tagsOutput struct {
	Body TagList
}

func (a *api) listTags(ctx context.Context, c call, in *tagsInput) (*tagsOutput, error) {
	catalog, err := a.Service.Catalog(ctx, c.User, in.All)
	if err != nil {
		return nil, err
	}
	items := make([]Tag, len(catalog.Tags))
	for i, t := range catalog.Tags {
		items[i] = encodeTag(t)
		items[i].Prompts = &t.Prompts
	}
	return &tagsOutput{TagList{Items: items, Prompts: catalog.Prompts}}, nil
}

func encodeTag(t prompt.TagInfo) Tag {
	return Tag{Tag: string(t.Tag), DisplayName: t.DisplayName, SortOrder: t.SortOrder, Active: t.Active}
}

// ByTag names a tag.
type ByTag struct {
	Tag string `path:"tag" doc:"1 to 40 of a-z 0-9 - . +, beginning with a letter or digit; in either case" example:"code-review"`
}

type putTagInput struct {
	ByTag
	Body TagEntry
}

type tagOutput struct {
	Body Tag
}

func (a *api) putTag(ctx context.Context, c call, in *putTagInput) (*tagOutput, error) {
	name, err := prompt.ParseTag(in.Tag)
	if err != nil {
		return nil, openapi.Invalid("path.tag", err.Error(), in.Tag)
	}
	tag, err := a.Service.PutTag(ctx, c.User, prompt.TagInfo{
		Tag: name, DisplayName: in.Body.DisplayName, SortOrder: in.Body.SortOrder, Active: *in.Body.Active,
	})
	if err != nil {
		return nil, err
	}
	return &tagOutput{encodeTag(tag)}, nil
}

func (a *api) retireTag(ctx context.Context, c call, in *ByTag) (*struct{}, error) {
	name, err := prompt.ParseTag(in.Tag)
	if err != nil {
		return nil, fault.New(fault.NotFound, "there is no such tag")
	}
	return nil, a.Service.RetireTag(ctx, c.User, name)
}
