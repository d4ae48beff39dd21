package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/internal/prompthub/library"
)

func (a *api) favorites() {
	route(a, user, huma.Operation{
		OperationID: "set-favorite", Method: http.MethodPut, Path: "/prompts/{id}/favorite", Tags: []string{"me"},
		DefaultStatus: http.StatusNoContent,
		Summary:       "Make a prompt a favorite of mine", Errors: []int{http.StatusNotFound},
		Description: "Other users do not see it. The same request again changes nothing.",
	}, a.favorite)
	route(a, user, huma.Operation{
		OperationID: "delete-favorite", Method: http.MethodDelete, Path: "/prompts/{id}/favorite", Tags: []string{"me"},
		DefaultStatus: http.StatusNoContent,
		Summary:       "Take that back", Errors: []int{http.StatusNotFound},
		Description: "Of any prompt, whether it is a favorite, can still be seen, or exists. 404 means that it is no id.",
	}, a.unfavorite)
	route(a, user, huma.Operation{
		OperationID: "list-my-favorites", Method: http.MethodGet, Path: "/me/favorites", Tags: []string{"me"},
		Summary: "My favorites that I still may see, newest prompt first", Errors: badQuery,
		Description: "A prompt that was deleted, hidden or made private since is left out, and is back when it is. Words must all be there, as they are, in title or text. With words or tags, one request looks at up to 200 favorites: a page may be short, even empty, and have a nextCursor.",
	}, a.myFavorites)
}

func (a *api) favorite(ctx context.Context, c call, in *ByID) (*struct{}, error) {
	id, err := in.prompt()
	if err != nil {
		return nil, err
	}
	return nil, a.Service.Favorite(ctx, c.User, id, true)
}

func (a *api) unfavorite(ctx context.Context, c call, in *ByID) (*struct{}, error) {
	id, err := in.prompt()
	if err != nil {
		return nil, err
	}
	return nil, a.Service.Favorite(ctx, c.User, id, false)
}

type favoritesInput struct {
	Filter
	Paging
}

func (a *api) myFavorites(ctx context.Context, c call, in *favoritesInput) (*listOutput, error) {
	tags, words, err := in.wanted()
	if err != nil {
		return nil, err
	}
	page, err := a.Service.Favorites(ctx, c.User,
		library.FavoriteQuery{Tags: tags, Words: words, Titles: in.titles(), Limit: in.Limit, Cursor: in.Cursor})
	if err != nil {
		return nil, err
	}
	return a.list(c, page), nil
}
