package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

func (a *api) moderation() {
	route(a, user, huma.Operation{
		OperationID: "hide-prompt", Method: http.MethodPut, Path: "/prompts/{id}/hidden", Tags: []string{"moderation"},
		Summary: "Take a public prompt off all public lists; an admin may", Errors: fails(badBody, 403, 404),
		Description: "It leaves every public list before the answer is sent. Its author sees it still, with the reason.",
	}, a.hide)
	route(a, user, huma.Operation{
		OperationID: "unhide-prompt", Method: http.MethodDelete, Path: "/prompts/{id}/hidden",
		Tags:    []string{"moderation"},
		Summary: "Put a hidden prompt back; an admin may", Errors: []int{403, 404},
		Description: "It is in the public lists again, in the places that it had.",
	}, a.unhide)
	route(a, user, huma.Operation{
		OperationID: "list-hidden-prompts", Method: http.MethodGet, Path: "/moderation/hidden",
		Tags:    []string{"moderation"},
		Summary: "The hidden prompts, newest first; an admin may", Errors: fails(badQuery, 403),
		Description: "Each with when and why it was hidden.",
	}, a.hidden)
}

type hideInput struct {
	ByID
	Body Reason
}

func (a *api) hide(ctx context.Context, c call, in *hideInput) (*struct{}, error) {
	id, err := in.prompt()
	if err != nil {
		return nil, err
	}
	return nil, a.Service.Hide(ctx, c.User, id, in.Body.Reason)
}

func (a *api) unhide(ctx context.Context, c call, in *ByID) (*struct{}, error) {
	id, err := in.prompt()
	if err != nil {
		return nil, err
	}
	return nil, a.Service.Unhide(ctx, c.User, id)
}

func (a *api) hidden(ctx context.Context, c call, in *Paging) (*listOutput, error) {
	page, err := a.Service.Hidden(ctx, c.User, in.Limit, in.Cursor)
	if err != nil {
		return nil, err
	}
	return a.list(c, page), nil
}
