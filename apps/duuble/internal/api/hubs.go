package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/apps/duuble/internal/hubs"
	"prompthub/internal/cursor"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/openapi"
)

// pageOf returns the answer to a page of a list.
func pageOf[T, I any](list string, page []T, next string, err error, of func(T) I) (*openapi.Body[Items[I]], error) {
	items := Items[I]{Items: []I{}, NextCursor: cursor.Seal(list, next)}
	for _, one := range page {
		items.Items = append(items.Items, of(one))
	}
	return openapi.Answer(items, err)
}

// lasts returns how long something is good.
func lasts(ms *int64) time.Duration {
	if ms == nil {
		return hubs.Lasts
	}
	if *ms > hubs.MostLasts.Milliseconds() {
		return hubs.MostLasts + 1 // which is refused
	}
	return time.Duration(*ms) * time.Millisecond
}

// newHub is the answer to a new hub.
type newHub struct {
	Location string `header:"Location" doc:"Where the hub is" example:"/api/v1/hubs/01KA0000000000000000000004"`
	Body     Hub
}

// A ByMember names a member of a hub.
type ByMember struct {
	ByID
	Member string `path:"member" doc:"The id of the person" example:"01KA0000000000000000000001"`
}

// A ByHubPost names a post of a hub.
type ByHubPost struct {
	ByID
	Post string `path:"post" doc:"The id of the post" example:"01KA0000000000000000000003"`
}

func (a *api) hubs() {
	op := func(id, method, path, summary, description string, status int, errors ...int) huma.Operation {
		return operation("hubs", id, method, path, summary, description, status, errors...)
	}
	route(a, person, Bound{9, 44},
		op("create-hub", http.MethodPost, "/hubs", "Make a hub",
			"With a picture of its own. The caller is its first super_admin.", http.StatusCreated, 409),
		func(ctx context.Context, v visit, in *openapi.Body[NewHub]) (*newHub, error) {
			h, err := a.Hubs.Create(ctx, v.Claim,
				hubs.Draft{
					Name: in.Body.Name, Description: in.Body.Description,
					Link: in.Body.CustomLink, Picture: in.Body.Picture,
				})
			if err != nil {
				return nil, err
			}
			return &newHub{Prefix + "/hubs/" + h.ID, hubOf(h)}, nil
		})
	route(a, person, Bound{2, 66}, op("search-hubs", http.MethodGet, "/hubs/search", "Find hubs", "With a word in their names that begins as each word of q does; case and accents do not count. In the order of these words.", http.StatusOK),
		func(ctx context.Context, v visit, in *Searched) (*openapi.Body[Items[Hub]], error) {
			list := "hubs with " + in.Q
			after, err := in.after(list)
			if err != nil {
				return nil, err
			}
			page, err := a.Hubs.Search(ctx, v.Claim, in.Q, after, in.Limit)
			return pageOf(list, page.Items, page.Next, err, hubOf)
		})
	route(a, visitor, Bound{2, 6},
		op("get-hub", http.MethodGet, "/hubs/{id}", "A hub",
			"Everybody sees what it is called. What is in it its members see.", http.StatusOK, 404),
		func(ctx context.Context, v visit, in *ByID) (*openapi.Body[Hub], error) {
			h, err := a.Hubs.Get(ctx, v.Claim, in.ID)
			return openapi.Answer(hubOf(h), err)
		})
	route(a, visitor, Bound{2, 6},
		op("get-hub-by-link", http.MethodGet, "/hubs/by-link/{link}", "A hub by its custom link",
			"In any case.", http.StatusOK, 404),
		func(ctx context.Context, v visit, in *struct {
			Link string `path:"link" doc:"The custom link" example:"tea"`
		},
		) (*openapi.Body[Hub], error) {
			h, err := a.Hubs.ByLink(ctx, v.Claim, in.Link)
			return openapi.Answer(hubOf(h), err)
		})
	route(a, person, Bound{14, 51}, op("patch-hub", http.MethodPatch, "/hubs/{id}", "Change a hub", "Admins do. Members that are absent stay as they are. A custom link that is given up is free for others after 30 days.", http.StatusOK, 404, 409),
		func(ctx context.Context, v visit, in *struct {
			ByID
			Body HubChange
		},
		) (*openapi.Body[Hub], error) {
			h, err := a.Hubs.Edit(ctx, v.Claim, in.ID,
				hubs.Change{
					Name: in.Body.Name, Description: in.Body.Description,
					Link: in.Body.CustomLink, Picture: in.Body.Picture,
				})
			return openapi.Answer(hubOf(h), err)
		})
	route(a, person, Bound{4, 1070},
		op("list-my-hubs", http.MethodGet, "/users/me/hubs", "My hubs",
			"Of which the caller is a member now, the one in which somebody posted, shared or wrote last first.",
			http.StatusOK),
		func(ctx context.Context, v visit, in *Paged) (*openapi.Body[Items[Hub]], error) {
			list := "hubs " + v.UserID
			after, err := in.after(list)
			if err != nil {
				return nil, err
			}
			page, err := a.Hubs.Mine(ctx, v.Claim, after, in.Limit)
			return pageOf(list, page.Items, page.Next, err, hubOf)
		})
	route(a, person, Bound{2, 45},
		op("list-members", http.MethodGet, "/hubs/{id}/members", "The members of a hub",
			"For its members, who joined last first.", http.StatusOK, 404),
		func(ctx context.Context, v visit, in *struct {
			ByID
			Role string `query:"role" enum:"member,admin,super_admin" doc:"Those of a role alone" example:"admin"`
			Paged
		},
		) (*openapi.Body[Items[HubMember]], error) {
			list := "members " + in.ID + in.Role
			after, err := in.after(list)
			if err != nil {
				return nil, err
			}
			page, err := a.Hubs.Members(ctx, v.Claim, in.ID, in.Role, after, in.Limit)
			return pageOf(list, page.Items, page.Next, err, memberOf)
		})
	route(a, person, Bound{8, 26}, op("ban", http.MethodPost, "/hubs/{id}/bans", "Ban a person", "Admins do; of an admin a super_admin. The phone number of the person cannot join the hub any more, nor ask for it: 403 BANNED. A member is removed, and a request rejected. One who is banned stays so.", http.StatusOK, 404, 409),
		func(ctx context.Context, v visit, in *struct {
			ByID
			Body NewBan
		},
		) (*openapi.Body[Ban], error) {
			b, err := a.Hubs.Ban(ctx, v.Claim, in.ID, in.Body.UserID)
			return openapi.Answer(banOf(b), err)
		})
	route(a, person, Bound{2, 25},
		op("list-bans", http.MethodGet, "/hubs/{id}/bans", "The bans of a hub",
			"For its admins, the newest first.", http.StatusOK, 404),
		func(ctx context.Context, v visit, in *struct {
			ByID
			Paged
		},
		) (*openapi.Body[Items[Ban]], error) {
			list := "bans " + in.ID
			after, err := in.after(list)
			if err != nil {
				return nil, err
			}
			page, err := a.Hubs.Bans(ctx, v.Claim, in.ID, after, in.Limit)
			return pageOf(list, page.Items, page.Next, err, banOf)
		})
	route(a, person, Bound{5, 9},
		op("end-ban", http.MethodDelete, "/hubs/{id}/bans/{ban}", "End a ban",
			"Admins do. The number may join again then, and is no member by it.", http.StatusNoContent, 404),
		func(ctx context.Context, v visit, in *struct {
			ByID
			Ban string `path:"ban" doc:"The id of the ban" example:"01KA0000000000000000000012"`
		},
		) (*none, error) {
			return nil, a.Hubs.EndBan(ctx, v.Claim, in.ID, in.Ban)
		})
	route(a, person, Bound{6, 13},
		op("take-out-post", http.MethodDelete, "/hubs/{id}/posts/{post}", "Take a post out of a hub", "Admins do, also with posts that they do not see because of a block. The author is told. Members do not see it in the hub any more, and no one shares it into the hub again. One that is out already is as good.", http.StatusNoContent, 404),
		func(ctx context.Context, v visit, in *ByHubPost) (*none, error) {
			return nil, a.Posts.TakeOut(ctx, v.Claim, in.ID, in.Post)
		})
	route(a, person, Bound{3, 9},
		op("put-back-post", http.MethodPut, "/hubs/{id}/posts/{post}", "Put a post back into a hub",
			"Admins do, with one that was taken out. One that is in it is as good.", http.StatusNoContent, 404),
		func(ctx context.Context, v visit, in *ByHubPost) (*none, error) {
			return nil, a.Posts.PutBack(ctx, v.Claim, in.ID, in.Post)
		})
	route(a, person, Bound{5, 10},
		op("set-role", http.MethodPatch, "/hubs/{id}/members/{member}", "Give a member a role",
			"A super_admin does. One of them there always is.", http.StatusOK, 404, 409),
		func(ctx context.Context, v visit, in *struct {
			ByMember
			Body NewRole
		},
		) (*openapi.Body[HubMember], error) {
			m, err := a.Hubs.SetRole(ctx, v.Claim, in.ID, in.Member, string(in.Body.Role))
			return openapi.Answer(memberOf(m), err)
		})
	route(a, person, Bound{5, 11},
		op("remove-member", http.MethodDelete, "/hubs/{id}/members/{member}", "Remove a member",
			"Admins remove members, a super_admin also admins. At once the person sees nothing of the hub.",
			http.StatusNoContent, 404, 409),
		func(ctx context.Context, v visit, in *ByMember) (*none, error) {
			return nil, a.Hubs.Remove(ctx, v.Claim, in.ID, in.Member)
		})
	route(a, person, Bound{4, 9}, op("leave-hub", http.MethodDelete, "/hubs/{id}/members/me", "Leave a hub",
		"The last super_admin cannot.", http.StatusNoContent, 404, 409),
		func(ctx context.Context, v visit, in *ByID) (*none, error) {
			return nil, a.Hubs.Remove(ctx, v.Claim, in.ID, v.UserID)
		})
	route(a, person, Bound{3, 45},
		op("list-requests", http.MethodGet, "/hubs/{id}/join-requests", "Who asks to join a hub",
			"For its admins, the newest first.", http.StatusOK, 404),
		func(ctx context.Context, v visit, in *struct {
			ByID
			Status string `query:"status" enum:"pending_admin_approval,approved,rejected,cancelled" default:"pending_admin_approval" doc:"Those of a status" example:"pending_admin_approval"`
			Paged
		},
		) (*openapi.Body[Items[JoinRequest]], error) {
			list := "requests " + in.ID + in.Status
			after, err := in.after(list)
			if err != nil {
				return nil, err
			}
			page, err := a.Hubs.Requests(ctx, v.Claim, in.ID, in.Status, after, in.Limit)
			return pageOf(list, page.Items, page.Next, err, requestOf)
		})
	for _, decision := range []struct {
		name, summary, description string
		approve                    bool
	}{
		{"approve", "Let somebody in", "Admins do, once for each request.", true},
		{"reject", "Let somebody not in", "Admins do, once for each request. The person may ask again.", false},
	} {
		route(a, person, Bound{9, 15},
			op(decision.name+"-request", http.MethodPost, "/hubs/{id}/join-requests/{request}/"+decision.name,
				decision.summary, decision.description, http.StatusOK, 404, 409),
			func(ctx context.Context, v visit, in *struct {
				ByID
				Request string `path:"request" doc:"The id of the request" example:"01KA0000000000000000000006"`
			},
			) (*openapi.Body[JoinRequest], error) {
				r, err := a.Hubs.Decide(ctx, v.Claim, in.ID, in.Request, decision.approve)
				return openapi.Answer(requestOf(r), err)
			})
	}
	route(a, person, Bound{4, 85},
		op("list-my-requests", http.MethodGet, "/users/me/join-requests", "Where I have asked to join",
			"The newest first.", http.StatusOK),
		func(ctx context.Context, v visit, in *Paged) (*openapi.Body[Items[MyRequest]], error) {
			list := "requests " + v.UserID
			after, err := in.after(list)
			if err != nil {
				return nil, err
			}
			page, err := a.Hubs.MyRequests(ctx, v.Claim, after, in.Limit)
			return pageOf(list, page.Items, page.Next, err, myRequestOf)
		})
	route(a, person, Bound{4, 6},
		op("cancel-request", http.MethodDelete, "/users/me/join-requests/{id}", "Take a request back",
			"One that was taken back before is as good.", http.StatusNoContent, 404, 409),
		func(ctx context.Context, v visit, in *ByID) (*none, error) {
			return nil, a.Hubs.CancelRequest(ctx, v.Claim, in.ID)
		})
}

// A ByInvitation names an invitation of a hub.
type ByInvitation struct {
	ByID
	Invitation string `path:"invitation" doc:"The id of the invitation" example:"01KA0000000000000000000005"`
}

// A ByToken names what a token stands for.
type ByToken struct {
	Token string `path:"token" doc:"The token" example:"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"`
}

func (a *api) invitations() {
	op := func(id, method, path, summary, description string, status int, errors ...int) huma.Operation {
		return operation("hubs", id, method, path, summary, description, status, errors...)
	}
	route(a, person, Bound{5, 13},
		op("invite", http.MethodPost, "/hubs/{id}/invitations", "Invite people by their numbers", "Members do. Who accepts an invitation of an admin is a member; that of a member makes a request. A number that an admin has invited is invited again by admins alone. The answer does not tell whether a number has an account. Each answer has tokens, which are shown once: send them to the people.", http.StatusCreated, 404, 409),
		func(ctx context.Context, v visit, in *struct {
			ByID
			Body Invite
		},
		) (*openapi.Body[Invitations], error) {
			all, err := a.Hubs.Invite(ctx, v.Claim, in.ID, in.Body.Phones, lasts(in.Body.ExpiresInMs))
			list := Invitations{Items: []NewInvitation{}}
			for _, one := range all {
				list.Items = append(list.Items, a.newInvitationOf(one))
			}
			return openapi.Answer(list, err)
		})
	route(a, person, Bound{4, 65},
		op("list-invitations", http.MethodGet, "/hubs/{id}/invitations", "The invitations of a hub",
			"Admins see all, others their own, the newest first.", http.StatusOK, 404),
		func(ctx context.Context, v visit, in *struct {
			ByID
			Status string `query:"status" enum:"invited,accepted_active,pending_admin_approval,declined,expired,cancelled" default:"invited" doc:"Those of a status" example:"invited"`
			Paged
		},
		) (*openapi.Body[Items[Invitation]], error) {
			list := "invitations " + in.ID + in.Status
			after, err := in.after(list)
			if err != nil {
				return nil, err
			}
			page, err := a.Hubs.Invitations(ctx, v.Claim, in.ID, in.Status, after, in.Limit)
			return pageOf(list, page.Items, page.Next, err, invitationOf)
		})
	route(a, person, Bound{4, 7}, op("cancel-invitation", http.MethodDelete, "/hubs/{id}/invitations/{invitation}",
		"Cancel an invitation", "One's own, and admins all, as long as no one has answered it.",
		http.StatusNoContent, 404, 409),
		func(ctx context.Context, v visit, in *ByInvitation) (*none, error) {
			return nil, a.Hubs.CancelInvitation(ctx, v.Claim, in.ID, in.Invitation)
		})
	route(a, person, Bound{5, 10},
		once(op("resend-invitation", http.MethodPost, "/hubs/{id}/invitations/{invitation}/resend",
			"Give an invitation a new token", "The old one is dead. It lasts seven days from now.", http.StatusOK,
			404, 409)),
		func(ctx context.Context, v visit, in *ByInvitation) (*openapi.Body[NewInvitation], error) {
			one, err := a.Hubs.Resend(ctx, v.Claim, in.ID, in.Invitation, hubs.Lasts)
			if err != nil {
				return nil, err
			}
			return openapi.Answer(a.newInvitationOf(one), nil)
		})
	route(a, visitor, Bound{3, 8}, op("get-invitation", http.MethodGet, "/invitations/{token}", "An invitation", "For whoever has the token. One that was used, cancelled or replaced, that is over, and one that never was are alike.", http.StatusOK, 404),
		func(ctx context.Context, v visit, in *ByToken) (*openapi.Body[MyInvitation], error) {
			one, err := a.Hubs.Invited(ctx, v.Claim, in.Token)
			return openapi.Answer(myInvitationOf(one), err)
		})
	route(a, person, Bound{5, 90},
		op("list-my-invitations", http.MethodGet, "/users/me/invitations", "My invitations",
			"Open ones of the caller's number, the first to expire first.", http.StatusOK),
		func(ctx context.Context, v visit, in *Paged) (*openapi.Body[Items[MyInvitation]], error) {
			list := "invitations " + v.UserID
			after, err := in.after(list)
			if err != nil {
				return nil, err
			}
			page, err := a.Hubs.MyInvitations(ctx, v.Claim, after, in.Limit)
			return pageOf(list, page.Items, page.Next, err, myInvitationOf)
		})
	for _, way := range []struct {
		name, path string
		bound      Bound
	}{
		{"", "/invitations/{token}", Bound{10, 18}},
		{"my-", "/users/me/invitations/{id}", Bound{11, 18}},
	} {
		accept := op("accept-"+way.name+"invitation", http.MethodPost, way.path+"/accept", "Accept an invitation", "Only the person with the invited number may. Makes the caller a member, or a request where a member has invited.", http.StatusOK, 404, 409)
		decline := op("decline-"+way.name+"invitation", http.MethodPost, way.path+"/decline", "Decline an invitation",
			"Only the person with the invited number may.", http.StatusNoContent, 404)
		if way.name == "" {
			route(a, person, way.bound, accept,
				func(ctx context.Context, v visit, in *ByToken) (*openapi.Body[Outcome], error) {
					out, err := a.Hubs.Accept(ctx, v.Claim, hubs.Key{Token: in.Token})
					return openapi.Answer(outcomeOf(out), err)
				})
			route(a, person, Bound{5, 9}, decline, func(ctx context.Context, v visit, in *ByToken) (*none, error) {
				return nil, a.Hubs.Decline(ctx, v.Claim, hubs.Key{Token: in.Token})
			})
			continue
		}
		route(a, person, way.bound, accept,
			func(ctx context.Context, v visit, in *ByID) (*openapi.Body[Outcome], error) {
				out, err := a.Hubs.Accept(ctx, v.Claim, hubs.Key{ID: in.ID})
				return openapi.Answer(outcomeOf(out), err)
			})
		route(a, person, Bound{5, 9}, decline, func(ctx context.Context, v visit, in *ByID) (*none, error) {
			return nil, a.Hubs.Decline(ctx, v.Claim, hubs.Key{ID: in.ID})
		})
	}
	route(a, person, Bound{4, 10},
		once(op("create-link", http.MethodPost, "/hubs/{id}/links", "Make a link to join by",
			"Members do. Who follows it asks to join, whoever made it. Its token is shown once.",
			http.StatusCreated, 404, 409)),
		func(ctx context.Context, v visit, in *struct {
			ByID
			Body *NewLink
		},
		) (*openapi.Body[LinkMade], error) {
			var ms *int64
			if in.Body != nil {
				ms = in.Body.ExpiresInMs
			}
			l, err := a.Hubs.NewLink(ctx, v.Claim, in.ID, lasts(ms))
			return openapi.Answer(LinkMade{
				l.ID, l.Token, a.Site + JoinPage + l.Token,
				httpjson.FormatTime(l.ExpiresAt),
			}, err)
		})
	route(a, person, Bound{2, 25},
		op("list-links", http.MethodGet, "/hubs/{id}/links", "The links of a hub",
			"Admins see all that are good, others their own.", http.StatusOK, 404),
		func(ctx context.Context, v visit, in *ByID) (*openapi.Body[Links], error) {
			all, err := a.Hubs.Links(ctx, v.Claim, in.ID)
			list := Links{Items: []Link{}}
			for _, l := range all {
				list.Items = append(list.Items,
					Link{
						l.ID, httpjson.OptionalText(l.CreatorID), httpjson.FormatTime(l.CreatedAt),
						httpjson.FormatTime(l.ExpiresAt),
					})
			}
			return openapi.Answer(list, err)
		})
	route(a, person, Bound{3, 6}, op("end-link", http.MethodDelete, "/hubs/{id}/links/{link}", "End a link",
		"One's own, and admins all. One that has ended already is as good.", http.StatusNoContent, 404),
		func(ctx context.Context, v visit, in *struct {
			ByID
			Link string `path:"link" doc:"The id of the link" example:"01KA0000000000000000000007"`
		},
		) (*none, error) {
			return nil, a.Hubs.EndLink(ctx, v.Claim, in.ID, in.Link)
		})
	route(a, visitor, Bound{3, 7},
		op("get-link", http.MethodGet, "/join/{token}", "The hub of a link",
			"For whoever has the token. One that has ended and one that never was are alike.", http.StatusOK, 404),
		func(ctx context.Context, v visit, in *ByToken) (*openapi.Body[Hub], error) {
			h, err := a.Hubs.Linked(ctx, v.Claim, in.Token)
			return openapi.Answer(hubOf(h), err)
		})
	join := op("join", http.MethodPost, "/join/{token}", "Ask to join by a link",
		"Makes a request, and answers with the same one while it waits. A member is told so.",
		http.StatusAccepted, 404, 409)
	join.Responses = map[string]*huma.Response{
		"200": {Description: "The caller is a member", Content: map[string]*huma.MediaType{"application/json": {
			Schema: &huma.Schema{Ref: "#/components/schemas/Joined"}, Example: Joined{Status: "member"},
		}}},
	}
	route(a, person, Bound{6, 13}, join, func(ctx context.Context, v visit, in *ByToken) (*joined, error) {
		id, err := a.Hubs.Join(ctx, v.Claim, in.Token)
		if err != nil {
			return nil, err
		}
		if id == "" {
			return &joined{http.StatusOK, Joined{Status: "member"}}, nil
		}
		return &joined{http.StatusAccepted, Joined{hubs.Pending, id}}, nil
	})
}

// joined is an answer with one of two statuses.
type joined struct {
	Status int
	Body   Joined
}
