package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/internal/http/httpjson"
)

func (a *api) account() {
	route(a, user, huma.Operation{
		OperationID: "erase-me", Method: http.MethodDelete, Path: "/me", Tags: []string{"me"},
		DefaultStatus: http.StatusAccepted,
		Summary:       "Have my account erased, 30 days from now",
		Description: "Prompts, versions, votes, profile, access tokens. Until then all stays as it is. " +
			"Forks that others made stay. No other user can take my handle.",
	}, a.eraseMe)
	route(a, user, huma.Operation{
		OperationID: "restore-me", Method: http.MethodPost, Path: "/me/restore", Tags: []string{"me"},
		Summary:     "Keep my account after all: it is not erased",
		Description: "Within the 30 days; of an account that is not to be erased, nothing changes.",
	}, a.keepMe)
}

type erasureOutput struct {
	Body Erasure
}

func (a *api) eraseMe(ctx context.Context, c call, _ *struct{}) (*erasureOutput, error) {
	at, err := a.Service.Erase(ctx, c.User)
	return &erasureOutput{Erasure{httpjson.FormatTime(at)}}, err
}

func (a *api) keepMe(ctx context.Context, c call, _ *struct{}) (*struct{}, error) {
	return nil, a.Service.CancelErase(ctx, c.User)
}
