package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/cursor"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/openapi"
)

// NewLike is the body of a like.
type NewLike struct {
	ToUserID  string `json:"toUserId" doc:"The id of a member" example:"3f2b8c1e-9d47-4b6a-8e0f-5a7c1d2e3f40"`
	Anonymous *bool  `json:"anonymous,omitempty" doc:"Whether the like is secret until you match; your setting if it is absent" example:"false"`
}

// A Like is a like of the caller.
type Like struct {
	ToUserID  string  `json:"toUserId" format:"uuid" doc:"Whom it is for" example:"3f2b8c1e-9d47-4b6a-8e0f-5a7c1d2e3f40"`
	CreatedAt string  `json:"createdAt" format:"date-time" doc:"When it was sent" example:"2026-11-01T12:00:00.000Z"`
	Anonymous bool    `json:"anonymous" doc:"Whether it is secret until you match" example:"false"`
	IsMatch   bool    `json:"isMatch" doc:"In an answer 201: whether this like made the match; else whether you match" example:"true"`
	ChatID    *string `json:"chatId" doc:"The chat of the match, or null" example:"5d3c2b1a-0f9e-4d8c-8b7a-695847362514"`
}

// ByMember names a member.
type ByMember struct {
	UserID string `json:"userId" doc:"The id of a member" example:"3f2b8c1e-9d47-4b6a-8e0f-5a7c1d2e3f40"`
}

// Entries of lists.
type (
	// SentLike is a like of the caller.
	SentLike struct {
		User      Card   `json:"user" doc:"Whom it is for"`
		CreatedAt string `json:"createdAt" format:"date-time" doc:"When it was sent" example:"2026-11-01T12:00:00.000Z"`
		Anonymous bool   `json:"anonymous" doc:"Whether it is secret until you match" example:"false"`
		IsMatch   bool   `json:"isMatch" doc:"Whether you match" example:"false"`
	}
	// ReceivedLike is a like that waits for the caller's answer.
	ReceivedLike struct {
		User      Card   `json:"user" doc:"Who likes you"`
		CreatedAt string `json:"createdAt" format:"date-time" doc:"Since when" example:"2026-11-01T12:00:00.000Z"`
	}
	// Match is a match of the caller with a member.
	Match struct {
		User      Card   `json:"user" doc:"Whom you match"`
		ChatID    string `json:"chatId" format:"uuid" doc:"The chat of the match" example:"5d3c2b1a-0f9e-4d8c-8b7a-695847362514"`
		CreatedAt string `json:"createdAt" format:"date-time" doc:"Since when" example:"2026-11-01T12:00:00.000Z"`
	}
	// Blocked is a member that the caller has blocked.
	Blocked struct {
		UserID    string `json:"userId" format:"uuid" doc:"The id of the member" example:"3f2b8c1e-9d47-4b6a-8e0f-5a7c1d2e3f40"`
		Name      string `json:"name" doc:"Their name" example:"Анна"`
		CreatedAt string `json:"createdAt" format:"date-time" doc:"Since when" example:"2026-11-01T12:00:00.000Z"`
	}
)

// A List is a page of a list.
type List[T any] struct {
	Items      []T    `json:"items" nullable:"false" doc:"Newest first"`
	NextCursor string `json:"nextCursor,omitempty" doc:"Send it as cursor to get the next page; absent at the end" example:"AQ"`
}

// Received is a page of likes received.
type Received struct {
	List[ReceivedLike]
	AnonymousCount int `json:"anonymousCount" doc:"How many secret likes wait for an answer; 100 is 100 or more" example:"2"`
}

// ByPage says which part of a list is wanted.
type ByPage struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"50" default:"20" doc:"The size of a page" example:"20"`
	Cursor string `query:"cursor" maxLength:"512" doc:"The nextCursor of the page before"`
}

// after returns the position in a cursor of a list of a member.
func (p ByPage) after(list string, c meet.Claim) (string, error) {
	return cursor.Resume(list+" "+c.UserID, p.Cursor)
}

// listOf returns a page as it is answered.
func listOf[T any](list string, c meet.Claim, p meet.Page, entry func(meet.Entry) T) List[T] {
	return pageOf(list, c, p.Entries, p.Next, entry)
}

// lists registers a route that answers a list.
func lists[T any](a *api, bound Bound, id, path, summary string,
	read func(context.Context, meet.Claim, string, int) (meet.Page, error), answerOf func(meet.Claim, meet.Page) T,
) {
	route(a, member, bound, huma.Operation{
		OperationID: id, Method: http.MethodGet, Path: path, Tags: []string{"likes"},
		Summary: summary, Description: "In pages.",
	}, func(ctx context.Context, c meet.Claim, in *ByPage) (*openapi.Body[T], error) {
		after, err := in.after(id, c)
		if err != nil {
			return nil, err
		}
		p, err := read(ctx, c, after, in.Limit)
		return openapi.Answer(answerOf(c, p), err)
	})
}

func (a *api) pairs() {
	pair := func(id, method, path, summary, description string, errors ...int) huma.Operation {
		return huma.Operation{
			OperationID: id, Method: method, Path: path, Tags: []string{"likes"},
			DefaultStatus: http.StatusNoContent, Errors: errors,
			Summary: summary, Description: description,
		}
	}
	like := pair("like", http.MethodPost, "/likes", "Like a member", "If both like each other they match: one of the two calls answers 201 with isMatch true. A like that was there is answered 200.", 404)
	like.DefaultStatus = http.StatusCreated
	like.Responses = map[string]*huma.Response{
		"200": {
			Description: "The like was there",
			Content: map[string]*huma.MediaType{
				"application/json": {Schema: &huma.Schema{Ref: "#/components/schemas/Like"}},
			},
		},
	}
	route(a, member, Bound{5, 24}, like,
		func(ctx context.Context, c meet.Claim, in *openapi.Body[NewLike]) (*likeOutput, error) {
			l, created, err := a.Service.Like(ctx, c, in.Body.ToUserID, in.Body.Anonymous)
			if err != nil {
				return nil, err
			}
			out := &likeOutput{
				Status: http.StatusOK,
				Body: Like{
					l.To, httpjson.FormatTime(l.CreatedAt), l.Anonymous, l.Match,
					httpjson.OptionalText(l.ChatID),
				},
			}
			if created {
				out.Status = http.StatusCreated
			}
			return out, nil
		})
	byUser := func(bound Bound, op huma.Operation, act func(context.Context, meet.Claim, string) error) {
		route(a, member, bound, op, func(ctx context.Context, c meet.Claim, in *ByUser) (*none, error) {
			return nil, act(ctx, c, in.UserID)
		})
	}
	byUser(Bound{4, 9}, pair("unlike", http.MethodDelete, "/likes/{userId}", "Take a like back",
		"One that waits for an answer. A match is ended instead: 409 LIKE_MATCHED.", 404, 409), a.Service.Unlike)
	byUser(Bound{5, 15}, pair("unmatch", http.MethodDelete, "/matches/{userId}", "End a match",
		"For both; both likes are used up.", 404), a.Service.Unmatch)
	byUser(Bound{5, 15}, pair("block", http.MethodPost, "/users/{userId}/block", "Block a member",
		"Ends likes and the match. To each other the two look as if the account were gone.", 404), a.Service.Block)
	byUser(Bound{5, 14}, pair("unblock", http.MethodDelete, "/users/{userId}/block", "Take a block back",
		"Brings nothing else back."), a.Service.Unblock)
	route(a, member, Bound{3, 8},
		pair("pass", http.MethodPost, "/passes", "Pass a member",
			"Hides the member from your deck for 90 days. They see nothing of it.", 404, 409),
		func(ctx context.Context, c meet.Claim, in *openapi.Body[ByMember]) (*none, error) {
			return nil, a.Service.Pass(ctx, c, in.Body.UserID)
		})
	byUser(Bound{3, 8}, pair("unpass", http.MethodDelete, "/passes/{userId}", "Take a pass back",
		"The member may come into your deck again.", 404), a.Service.Unpass)
	lists(a, Bound{2, 66}, "list-likes-sent", "/likes/sent", "Likes that I sent", a.Service.LikesSent,
		func(c meet.Claim, p meet.Page) List[SentLike] {
			return listOf("list-likes-sent", c, p, func(e meet.Entry) SentLike {
				return SentLike{cardOf(e.Card), httpjson.FormatTime(e.At), e.Anonymous, e.Match}
			})
		})
	lists(a, Bound{3, 167}, "list-likes-received", "/likes/received", "Likes that wait for my answer",
		a.Service.LikesReceived, func(c meet.Claim, p meet.Page) Received {
			return Received{listOf("list-likes-received", c, p, func(e meet.Entry) ReceivedLike {
				return ReceivedLike{cardOf(e.Card), httpjson.FormatTime(e.At)}
			}), p.Anonymous}
		})
	lists(a, Bound{2, 67}, "list-matches", "/matches", "Whom I match", a.Service.Matches,
		func(c meet.Claim, p meet.Page) List[Match] {
			return listOf("list-matches", c, p, func(e meet.Entry) Match {
				return Match{cardOf(e.Card), e.ChatID, httpjson.FormatTime(e.At)}
			})
		})
	lists(a, Bound{2, 66}, "list-blocks", "/blocks", "Whom I have blocked", a.Service.Blocked,
		func(c meet.Claim, p meet.Page) List[Blocked] {
			return listOf("list-blocks", c, p, func(e meet.Entry) Blocked {
				return Blocked{e.ID, e.Name, httpjson.FormatTime(e.At)}
			})
		})
}

// DeckList is a part of the deck.
type DeckList struct {
	Items      []Card `json:"items" nullable:"false" doc:"Members who fit, in an order that tells nothing"`
	NextCursor string `json:"nextCursor,omitempty" doc:"Send it as cursor to go on; absent at the end" example:"AQ"`
}

// deckBound is what a part of the deck costs at most, in three rounds.
var deckBound = Bound{7, 221}

func (a *api) deck() {
	const list = "list-deck"
	route(a, member, deckBound, huma.Operation{
		OperationID: list, Method: http.MethodGet, Path: "/users", Tags: []string{"people"},
		Summary: "Members whom I may like",
		Description: "Who fits my preferences, whose preferences I fit, and whom I neither like nor have passed within 90 days. A part may hold fewer than asked for, even none, while nextCursor goes on. " +
			"A walk by nextCursor shows everybody once.",
	}, func(ctx context.Context, c meet.Claim, in *struct {
		Limit  int    `query:"limit" minimum:"1" maximum:"20" default:"10" doc:"How many at most" example:"10"`
		Cursor string `query:"cursor" maxLength:"512" doc:"The nextCursor of the part before"`
	},
	) (*openapi.Body[DeckList], error) {
		after, err := ByPage{Cursor: in.Cursor}.after(list, c)
		if err != nil {
			return nil, err
		}
		p, err := a.Service.Deck(ctx, c, after, in.Limit)
		l := DeckList{Items: make([]Card, len(p.Cards)), NextCursor: cursor.Seal(list+" "+c.UserID, p.Next)}
		for i, card := range p.Cards {
			l.Items[i] = cardOf(card)
		}
		return openapi.Answer(l, err)
	})
}

type likeOutput struct {
	Status int
	Body   Like
}
