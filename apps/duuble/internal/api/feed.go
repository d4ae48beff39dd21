package api

import (
	"context"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/apps/duuble/internal/feed"
	"prompthub/apps/duuble/internal/manage"
	"prompthub/internal/cursor"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/openapi"
)

// An ActivityType says what the actor did.
type ActivityType string

// Schema returns the values.
func (ActivityType) Schema(huma.Registry) *huma.Schema { return openapi.OneOf(feed.Types) }

// A Did is an activity, by which a post is in a home.
type Did struct {
	Type  ActivityType `json:"type" doc:"What the person did" example:"post_voted"`
	Actor Person       `json:"actor" doc:"The person"`
	At    string       `json:"at" format:"date-time" doc:"When" example:"2026-11-01T12:00:00.000Z"`
	HubID *string      `json:"hubId" doc:"The hub of the caller in which it is, or null" example:"01KA0000000000000000000004"`
}

// An Activity is one that may be null.
type Activity Did

// Schema returns an activity that may be null.
func (Activity) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{r.Schema(reflect.TypeFor[Did](), true, "Did"), {Type: "null"}}}
}

// A HomeItem is a post in a home.
type HomeItem struct {
	Activity *Activity `json:"activity" doc:"By which it is there, or null in the default feed"`
	Post     Card      `json:"post" doc:"The post"`
}

// A Home is a page of one.
type Home struct {
	Items      []HomeItem `json:"items" nullable:"false" doc:"The newest activities first, each post once"`
	Source     string     `json:"source" enum:"home,default" doc:"default for a caller who follows no one, is in no hub, and has neither voted nor commented" example:"home"`
	NextCursor string     `json:"nextCursor,omitempty" doc:"Where the next page begins; absent at the end. A page may have fewer posts than its limit" example:"AYm1Wq2kK3xPdWJ8"`
}

// A DefaultUser is a person of the default feed.
type DefaultUser struct {
	User         Person `json:"user" doc:"The person"`
	UserID       string `json:"userId" doc:"The id of the person, also of one who has left" example:"01KA0000000000000000000001"`
	DisplayOrder int    `json:"displayOrder" doc:"Lower ones come first" example:"1"`
	IsActive     bool   `json:"isActive" doc:"Whether posts of the person are shown" example:"true"`
}

// A DefaultPlace is the place of a person in the default feed.
type DefaultPlace struct {
	DisplayOrder int  `json:"displayOrder" doc:"1 to 999,999: lower ones come first" example:"1"`
	IsActive     bool `json:"isActive" doc:"Whether posts of the person are shown" example:"true"`
}

func defaultUserOf(u manage.DefaultUser) DefaultUser {
	return DefaultUser{personOf(u.Person), u.UserID, u.Order, u.IsActive}
}

func (a *api) feeds() {
	op := func(tag, id, method, path, summary, description string, status int, errors ...int) huma.Operation {
		return operation(tag, id, method, path, summary, description, status, errors...)
	}
	route(a, person, Bound{11, 254}, op("posts", "get-home", http.MethodGet, "/feed/home", "My home", "What others did in the last 30 days: those whom the caller follows, members of hubs of the caller, and those who act around a post on which the caller voted or commented. Each shows while its reason, its post and what it follows from are there.", http.StatusOK),
		func(ctx context.Context, v visit, in *Paged) (*openapi.Body[Home], error) {
			list := "home " + v.UserID
			after, err := in.after(list)
			if err != nil {
				return nil, err
			}
			page, err := a.Posts.Home(ctx, v.Claim, after, in.Limit)
			home := Home{Items: []HomeItem{}, Source: "home", NextCursor: cursor.Seal(list, page.Next)}
			if page.Default {
				home.Source = "default"
			}
			for _, one := range page.Items {
				item := HomeItem{Post: a.cardOf(one.Card)}
				if x := one.Activity; x != nil {
					item.Activity = &Activity{
						ActivityType(x.Type), personOf(one.Actor), httpjson.FormatTime(x.At),
						httpjson.OptionalText(one.HubID),
					}
				}
				home.Items = append(home.Items, item)
			}
			return openapi.Answer(home, err)
		})
	route(a, visitor, Bound{8, 180},
		op("posts", "get-default-feed", http.MethodGet, "/feed/default", "The default feed", "Public posts of people whom the managers of the service choose: first the newest of each, then the second newest of each, up to 50 of each.", http.StatusOK),
		func(ctx context.Context, v visit, in *Paged) (*openapi.Body[Cards], error) {
			after, err := in.after("default")
			if err != nil {
				return nil, err
			}
			page, err := a.Posts.Default(ctx, v.Claim, after, in.Limit)
			return a.cardsAnswer("default", page, err)
		})
	route(a, person, Bound{2, 24},
		op("admin", "list-default-feed", http.MethodGet, "/admin/default-feed",
			"The people of the default feed", "Up to 20.", http.StatusOK),
		func(ctx context.Context, v visit, _ *none) (*openapi.Body[Items[DefaultUser]], error) {
			all, err := a.Posts.Manage.DefaultUsers(ctx, v.Claim)
			return pageOf("", all, "", err, defaultUserOf)
		})
	route(a, person, Bound{3, 6}, op("admin", "put-default-user", http.MethodPut, "/admin/default-feed/{id}",
		"Put a person into the default feed", "Or change the place of one.", http.StatusOK, 404, 409),
		func(ctx context.Context, v visit, in *struct {
			ByID
			Body DefaultPlace
		},
		) (*openapi.Body[DefaultUser], error) {
			one, err := a.Posts.Manage.SetDefaultUser(ctx, v.Claim, in.ID, in.Body.DisplayOrder, in.Body.IsActive)
			return openapi.Answer(defaultUserOf(one), err)
		})
	route(a, person, Bound{3, 5}, op("admin", "remove-default-user", http.MethodDelete, "/admin/default-feed/{id}",
		"Take a person out of the default feed", "One who is not in it is as good.", http.StatusNoContent),
		func(ctx context.Context, v visit, in *ByID) (*none, error) {
			return nil, a.Posts.Manage.RemoveDefaultUser(ctx, v.Claim, in.ID)
		})
}
