package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/internal/http/openapi"
)

// newShare is the answer to a new share.
type newShare struct {
	Location string `header:"Location" doc:"The shares of the post" example:"/api/v1/posts/01KA0000000000000000000003/shares"`
	Body     Shared
}

func (a *api) shares() {
	op := func(id, method, path, summary, description string, status int, errors ...int) huma.Operation {
		return operation("posts", id, method, path, summary, description, status, errors...)
	}
	share := func(ctx context.Context, v visit, post string, hubs []string, note, key string) (*newShare, error) {
		x, err := a.Posts.Share(ctx, v.Claim, post, hubs, note, key)
		if err != nil {
			return nil, err
		}
		return &newShare{Prefix + "/posts/" + post + "/shares", sharedOf(x)}, nil
	}
	route(a, person, Bound{10, 20}, op("share", http.MethodPost, "/posts/{id}/share", "Share a post", "Into the caller's own list of posts. A person may share a post several times. A locked post stays in its hubs. The same Idempotency-Key again within a day answers with the same share.", http.StatusCreated, 403, 404),
		func(ctx context.Context, v visit, in *struct {
			ByID
			Key  string `header:"Idempotency-Key" doc:"Up to 100 characters that you choose" example:"4711"`
			Body NewShare
		},
		) (*newShare, error) {
			return share(ctx, v, in.ID, nil, in.Body.Note, in.Key)
		})
	route(a, person, Bound{10, 62},
		op("share-to-hubs", http.MethodPost, "/posts/{id}/share/hubs", "Share a post into hubs",
			"Hubs of the caller. Votes of their members count there from then on. A post is in up to 500 hubs.",
			http.StatusCreated, 403, 404, 409),
		func(ctx context.Context, v visit, in *struct {
			ByID
			Key  string `header:"Idempotency-Key" doc:"Up to 100 characters that you choose" example:"4711"`
			Body NewHubShare
		},
		) (*newShare, error) {
			return share(ctx, v, in.ID, in.Body.HubIDs, in.Body.Note, in.Key)
		})
	route(a, visitor, Bound{5, 55},
		op("list-shares", http.MethodGet, "/posts/{id}/shares", "The shares of a post",
			"The newest first: those to lists of people, and those to hubs of which the caller is a member.",
			http.StatusOK, 404),
		func(ctx context.Context, v visit, in *struct {
			ByID
			Paged
		},
		) (*openapi.Body[Items[ShareItem]], error) {
			list := "shares " + in.ID
			after, err := in.after(list)
			if err != nil {
				return nil, err
			}
			page, err := a.Posts.Shares(ctx, v.Claim, in.ID, after, in.Limit)
			return pageOf(list, page.Items, page.Next, err, shareItemOf)
		})
}
