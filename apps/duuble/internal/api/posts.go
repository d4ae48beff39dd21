package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/apps/duuble/internal/ballot"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/internal/cursor"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/openapi"
)

// A Paged is the part of a list that is asked for.
type Paged struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"How many at most" example:"20"`
	Cursor string `query:"cursor" maxLength:"2048" doc:"As the page before gave it" example:"AYm1Wq2kK3xPdWJ8"`
}

// A Searched is the part of what a search finds that is asked for.
type Searched struct {
	Q string `query:"q" required:"true" doc:"2 to 50 characters, with two letters or digits in a row" example:"ann"`
	Paged
}

// after returns the position of a cursor in a list.
func (p Paged) after(list string) (string, error) { return cursor.Resume(list, p.Cursor) }

func (a *api) cardsAnswer(list string, page posts.Page, err error) (*openapi.Body[Cards], error) {
	cards := Cards{Items: []Card{}, NextCursor: cursor.Seal(list, page.Next)}
	for _, c := range page.Cards {
		cards.Items = append(cards.Items, a.cardOf(c))
	}
	return openapi.Answer(cards, err)
}

// bars returns the votes by position, none while nothing is counted.
func bars(r ballot.Result) []Bar {
	all := []Bar{}
	for i, name := range ballot.Positions() {
		if r.Counted > 0 {
			all = append(all, Bar{Position(name), r.Counts[i]})
		}
	}
	return all
}

// created is the answer to a new post.
type created struct {
	Location string `header:"Location" doc:"Where the post is" example:"/api/v1/posts/01KA0000000000000000000003"`
	Body     Card
}

func (a *api) posts() {
	op := func(id, method, path, summary, description string, status int, errors ...int) huma.Operation {
		return operation("posts", id, method, path, summary, description, status, errors...)
	}
	create := op("create-post", http.MethodPost, "/posts", "Post", "A thought, a slider, an article, or several of them, for everybody or for hubs of the caller. The same Idempotency-Key again within a day answers with the same post.", http.StatusCreated, 409)
	create.MaxBodyBytes = maxPost
	route(a, person, Bound{7, 19}, create, func(ctx context.Context, v visit, in *struct {
		Key  string `header:"Idempotency-Key" doc:"Up to 100 characters that you choose" example:"4711"`
		Body NewPost
	},
	) (*created, error) {
		d, err := in.Body.draft()
		if err != nil {
			return nil, err
		}
		c, err := a.Posts.Create(ctx, v.Claim, d, in.Key)
		if err != nil {
			return nil, err
		}
		return &created{Prefix + "/posts/" + c.ID, a.cardOf(c)}, nil
	})
	repost := op("repost", http.MethodPost, "/posts/{id}/repost", "Repost a post", "A post of one's own about another, with a thought or a slider, votes and comments of its own. A repost and a locked post cannot be reposted. The same Idempotency-Key again within a day answers with the same repost.", http.StatusCreated, 403, 404, 409)
	route(a, person, Bound{9, 32}, repost, func(ctx context.Context, v visit, in *struct {
		ByID
		Key  string `header:"Idempotency-Key" doc:"Up to 100 characters that you choose" example:"4711"`
		Body NewRepost
	},
	) (*created, error) {
		d, err := in.Body.draft(in.ID)
		if err != nil {
			return nil, err
		}
		c, err := a.Posts.Create(ctx, v.Claim, d, in.Key)
		if err != nil {
			return nil, err
		}
		return &created{Prefix + "/posts/" + c.ID, a.cardOf(c)}, nil
	})
	route(a, visitor, Bound{7, 120},
		op("list-reposts", http.MethodGet, "/posts/{id}/reposts", "The reposts of a post",
			"The newest first.", http.StatusOK, 404),
		func(ctx context.Context, v visit, in *struct {
			ByID
			Paged
		},
		) (*openapi.Body[Cards], error) {
			after, err := in.after("reposts " + in.ID)
			if err != nil {
				return nil, err
			}
			page, err := a.Posts.Reposts(ctx, v.Claim, in.ID, after, in.Limit)
			return a.cardsAnswer("reposts "+in.ID, page, err)
		})
	route(a, visitor, Bound{6, 180},
		op("list-posts", http.MethodGet, "/posts", "The newest posts",
			"All that are public, or those of a hub of which the caller is a member.", http.StatusOK, 403, 404),
		func(ctx context.Context, v visit, in *struct {
			HubID string `query:"hubId" doc:"A hub" example:"01KA0000000000000000000004"`
			Paged
		},
		) (*openapi.Body[Cards], error) {
			list := "posts " + in.HubID
			after, err := in.after(list)
			if err != nil {
				return nil, err
			}
			if in.HubID != "" {
				page, err := a.Posts.InHub(ctx, v.Claim, in.HubID, after, in.Limit)
				return a.cardsAnswer(list, page, err)
			}
			page, err := a.Posts.Newest(ctx, v.Claim, after, in.Limit)
			return a.cardsAnswer(list, page, err)
		})
	route(a, visitor, Bound{5, 16},
		op("get-post", http.MethodGet, "/posts/{id}", "A post", "With its votes, as far as they are counted.",
			http.StatusOK, 404),
		func(ctx context.Context, v visit, in *ByID) (*openapi.Body[Card], error) {
			c, err := a.Posts.Card(ctx, v.Claim, in.ID)
			if err != nil {
				return nil, err
			}
			return openapi.Answer(a.cardOf(c), nil)
		})
	route(a, visitor, Bound{7, 170},
		op("list-user-posts", http.MethodGet, "/users/{id}/posts", "The posts of a person",
			"The newest first.", http.StatusOK, 404),
		func(ctx context.Context, v visit, in *struct {
			ByID
			Paged
		},
		) (*openapi.Body[Cards], error) {
			after, err := in.after("users " + in.ID)
			if err != nil {
				return nil, err
			}
			page, err := a.Posts.Of(ctx, v.Claim, in.ID, after, in.Limit)
			return a.cardsAnswer("users "+in.ID, page, err)
		})
	route(a, person, Bound{5, 170},
		op("list-deleted-posts", http.MethodGet, "/users/me/deleted-posts", "Posts that I have deleted",
			"Those that the caller can bring back, the last deleted first.", http.StatusOK),
		func(ctx context.Context, v visit, in *Paged) (*openapi.Body[Items[DeletedPost]], error) {
			list := "deleted " + v.UserID
			after, err := in.after(list)
			if err != nil {
				return nil, err
			}
			page, next, err := a.Posts.Deleted(ctx, v.Claim, after, in.Limit)
			return pageOf(list, page, next, err, func(p posts.DeletedPost) DeletedPost {
				return DeletedPost{a.cardOf(p.Card), httpjson.FormatTime(p.DeletedAt), httpjson.FormatTime(p.GoneAt)}
			})
		})
	route(a, person, Bound{4, 17}, op("vote", http.MethodPost, "/posts/{id}/vote", "Vote on a post, once for ever", "No answer, list or stored row tells what somebody chose. Votes are counted in groups, or all together at the end that the slider has, after which none is taken (409 VOTE_ENDED). An Idempotency-Key has no meaning here: the same request again is answered 409 ALREADY_VOTED, and the vote is there once.", http.StatusCreated, 404, 409),
		func(ctx context.Context, v visit, in *struct {
			ByID
			Body NewVote
		},
		) (*openapi.Body[VoteCast], error) {
			position, err := ballot.ParsePosition(string(in.Body.Position))
			if err != nil {
				return nil, err
			}
			r, err := a.Posts.Vote(ctx, v.Claim, in.ID, position)
			return openapi.Answer(castOf(r), err)
		})
	route(a, visitor, Bound{2, 6},
		op("get-vote-summary", http.MethodGet, "/posts/{id}/vote/summary", "The votes on a post", "Each counted number goes up by nothing, or by a group of minVotes or more; with an end by nothing, and then by all.", http.StatusOK, 404, 409),
		func(ctx context.Context, v visit, in *ByID) (*openapi.Body[VoteSummary], error) {
			r, voted, err := a.Posts.Result(ctx, v.Claim, in.ID)
			s := a.summaryOf(in.ID, r)
			return openapi.Answer(VoteSummary{
				s.PostID, s.Scope, s.TotalVotes, s.CountedVotes, s.Hidden, s.MinVotes,
				s.LeftCount, s.NeutralCount, s.RightCount, voted,
			}, err)
		})
	route(a, visitor, Bound{2, 6},
		op("get-vote-distribution", http.MethodGet, "/posts/{id}/vote/distribution", "The votes on a post by position",
			"Empty while nothing is counted.", http.StatusOK, 404, 409),
		func(ctx context.Context, v visit, in *ByID) (*openapi.Body[Distribution], error) {
			r, _, err := a.Posts.Result(ctx, v.Claim, in.ID)
			d := Distribution{in.ID, r.Scope, r.Total, r.Counted, a.VoteMin, bars(r)}
			return openapi.Answer(d, err)
		})
	route(a, person, Bound{3, 14},
		op("get-hub-votes", http.MethodGet, "/posts/{id}/vote/hubs", "The votes on a post in my hubs",
			"Of each hub of the post of which the caller is a member.", http.StatusOK, 404, 409),
		func(ctx context.Context, v visit, in *ByID) (*openapi.Body[HubVotes], error) {
			all, err := a.Posts.HubResults(ctx, v.Claim, in.ID)
			list := HubVotes{Items: []HubVote{}}
			for _, r := range all {
				s := a.summaryOf(in.ID, r.Result)
				one := HubVote{
					in.ID, "hub", r.ID, r.Name, s.TotalVotes, s.CountedVotes, r.Withheld, s.Hidden,
					s.MinVotes, s.LeftCount, s.NeutralCount, s.RightCount, bars(r.Result),
				}
				list.Items = append(list.Items, one)
			}
			return openapi.Answer(list, err)
		})
	route(a, person, Bound{4, 85},
		op("list-my-votes", http.MethodGet, "/users/me/votes", "On what I have voted",
			"Without positions, which are not kept. The list follows the votes by some seconds.", http.StatusOK),
		func(ctx context.Context, v visit, in *Paged) (*openapi.Body[MyVotes], error) {
			after, err := in.after("votes " + v.UserID)
			if err != nil {
				return nil, err
			}
			all, next, err := a.Posts.Votes(ctx, v.Claim, after, in.Limit)
			list := MyVotes{Items: []MyVote{}, NextCursor: cursor.Seal("votes "+v.UserID, next)}
			for _, one := range all {
				list.Items = append(list.Items, MyVote{one.PostID, httpjson.FormatTime(one.VotedAt)})
			}
			return openapi.Answer(list, err)
		})
}
