package api

import (
	"context"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

func (a *api) mine() {
	route(a, user, huma.Operation{
		OperationID: "get-me", Method: http.MethodGet, Path: "/me", Tags: []string{"me"},
		Summary:     "Who I am",
		Description: "Who the token, the access token or the platform says that the caller is. A caller who asks has a handle from then on, made of the name, by which others can name them. authorId is what others see in prompts, storage what the caller takes of what one user may store.",
	}, a.me)
	route(a, user, huma.Operation{
		OperationID: "list-my-prompts", Method: http.MethodGet, Path: "/me/prompts", Tags: []string{"me"},
		Summary: "My own prompts", Errors: badQuery,
		Description: "Private, public and hidden ones; with deleted=true those alone that can still be restored. By newest, a page costs the same however many there are; updated and title sort in memory, up to 2,000 prompts. Words in q are searched for as GET /prompts does with scope=mine; by updated and title, and of deleted prompts, all must be there, as they are, in title or text, and one request reads up to 200 texts: a page may be short, even empty, and have a nextCursor.",
	}, a.myPrompts)
	route(a, user, huma.Operation{
		OperationID: "list-my-votes", Method: http.MethodGet, Path: "/me/votes", Tags: []string{"me"},
		Summary: "The prompts that I voted on and still may see, newest prompt first", Errors: badQuery,
		Description: "With value=like or dislike. A prompt that was deleted, hidden or made private since is left out.",
	}, a.myVotes)
}

type meOutput struct {
	Body Me
}

func (a *api) me(ctx context.Context, c call, _ *struct{}) (*meOutput, error) {
	me := Me{
		ID: c.ID, AuthorID: a.Service.AuthorKey(library.IDOf(c.User)), Name: c.Name,
		Roles: append([]string{}, slices.Compact(slices.Sorted(slices.Values(c.Roles)))...),
	}
	if c.Grant != nil {
		me.Scopes = c.Grant.Scopes
	}
	a.Service.MakeKnown(ctx, c.User)
	s, err := a.Service.Storage(ctx, c.User)
	if err != nil {
		return nil, err
	}
	me.Storage = Storage{
		Bytes: s.Bytes, MaxBytes: s.Limit.Bytes, Prompts: s.Prompts, MaxPrompts: s.Limit.Prompts,
		Favorites: s.Favorites, MaxFavorites: s.MaxFavorites, Warning: s.Warning(),
	}
	return &meOutput{me}, nil
}

// An OwnQuery chooses among the prompts of an owner.
type OwnQuery struct {
	Sort       string `query:"sort" enum:"relevance,newest,updated,title" doc:"The order: by creation or last edit, the latest first, or by title; without one relevance if q has words, else newest. Authors of more than 2,000 prompts have relevance and newest only"`
	Visibility string `query:"visibility" enum:"private,public" doc:"Only prompts with this visibility"`
	Name       string `query:"name" doc:"Only the prompt with this name or slug, or that had this name"`
	Deleted    bool   `query:"deleted" doc:"The deleted prompts, instead of the others"`
	Filter
	Fields
	Paging
}

func (a *api) myPrompts(ctx context.Context, c call, in *OwnQuery) (*foundOutput, error) {
	return a.listOwn(ctx, c, in, func(q library.MineQuery) (library.Page, error) {
		return a.Service.Mine(ctx, c.User, q)
	})
}

// listOwn lists prompts of an owner.
func (a *api) listOwn(ctx context.Context, c call, in *OwnQuery,
	of func(library.MineQuery) (library.Page, error),
) (*foundOutput, error) {
	tags, words, err := in.wanted()
	if err != nil {
		return nil, err
	}
	if err := in.check(in.Paging); err != nil {
		return nil, err
	}
	return a.found(ctx, c, in.Fields, in.Limit, func(limit int) (library.Page, error) {
		return of(library.MineQuery{
			Filter: library.Filter{
				Name: in.Name, Deleted: in.Deleted, Visibility: prompt.Visibility(in.Visibility),
				Tags: tags, Words: words, Titles: in.titles(),
			},
			Sort: library.Sort(in.Sort), Limit: limit, Cursor: in.Cursor,
		})
	})
}

type votesInput struct {
	Value string `query:"value" enum:"like,dislike" doc:"Only prompts with this vote of mine"`
	Paging
}

func (a *api) myVotes(ctx context.Context, c call, in *votesInput) (*listOutput, error) {
	value, _ := prompt.ParseVote(in.Value) // both for none
	page, err := a.Service.MyVotes(ctx, c.User, value, in.Limit, in.Cursor)
	if err != nil {
		return nil, err
	}
	return a.list(c, page), nil
}
