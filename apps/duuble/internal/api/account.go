package api

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/apps/duuble/internal/people"
	"prompthub/internal/fault"
	"prompthub/internal/http/auth/session"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/openapi"
)

// ByID names a thing of the path.
type ByID struct {
	ID string `path:"id" doc:"The id" example:"01KA0000000000000000000001"`
}

func operation(tag, id, method, path, summary, description string, status int, errors ...int) huma.Operation {
	return huma.Operation{
		OperationID: id, Method: method, Path: path, Tags: []string{tag}, DefaultStatus: status,
		Errors: errors, Summary: summary, Description: description,
	}
}

// once makes an operation one that is not run again, as it tells a new secret each time.
func once(op huma.Operation) huma.Operation {
	op.Metadata = map[string]any{openapi.Once: true}
	return op
}

func (a *api) account() {
	op := func(id, method, path, summary, description string, status int, errors ...int) huma.Operation {
		return operation("account", id, method, path, summary, description, status, errors...)
	}
	route(a, anyone, Bound{3, 11}, op("request-code", http.MethodPost, "/auth/otp/request", "Ask for a code", "The answer is the same whether the number has an account or not. The newest three codes that an address, or a device that has signed in to the number before, has asked for are good.", http.StatusAccepted),
		func(ctx context.Context, v visit, in *openapi.Body[CodeRequest]) (*openapi.Body[CodeSent], error) {
			by := people.Asker{Site: v.site, Network: v.network, Device: in.Body.DeviceToken}
			c, err := a.People.RequestCode(ctx, string(in.Body.Channel),
				in.Body.Destination, string(in.Body.Purpose), by)
			return openapi.Answer(CodeSent{
				c.ID, httpjson.FormatTime(c.ExpiresAt),
				int(people.ResendAfter / time.Second),
			}, err)
		})
	route(a, anyone, Bound{6, 10}, op("verify-code", http.MethodPost, "/auth/otp/verify", "Sign in by a code", "Makes the account of a number that has none. Any of the newest three codes that were asked for from where this one was is right. After five wrong codes, and after one that was right, none of them is good any more.", http.StatusOK, 401),
		func(ctx context.Context, _ visit, in *struct {
			UserAgent string `header:"User-Agent" hidden:"true"`
			Body      CodeTyped
		},
		) (*openapi.Body[Tokens], error) {
			t, err := a.People.Verify(ctx, in.Body.ChallengeID, in.Body.Code,
				cmp.Or(in.Body.Device, session.Device(in.UserAgent)))
			return openapi.Answer(tokensOf(t), err)
		})
	route(a, anyone, Bound{}, op("get-dev-code", http.MethodGet, "/dev/otp/{id}",
		"The code of a challenge, in development",
		"Answers programs on the same machine alone, and only with DEV_CODES=true.", http.StatusOK, 404),
		func(_ context.Context, v visit, in *ByID) (*openapi.Body[DevCode], error) {
			if !v.local {
				return nil, fault.Coded(fault.NotFound, people.CodeNotFound, "this process keeps no such code")
			}
			code, err := a.People.Code(in.ID)
			return openapi.Answer(DevCode{code}, err)
		})
	route(a, anyone, Bound{2, 3}, op("refresh", http.MethodPost, "/auth/refresh", "Get the next tokens", "A refresh token is replaced each time. One that was replaced before is answered 401 REFRESH_REUSED, and the session ends.", http.StatusOK, 401),
		func(ctx context.Context, _ visit, in *openapi.Body[RefreshRequest]) (*openapi.Body[Tokens], error) {
			t, err := a.People.Refresh(ctx, in.Body.RefreshToken, in.Body.RequestID)
			return openapi.Answer(tokensOf(t), err)
		})
	route(a, person, Bound{2, 4},
		op("logout", http.MethodPost, "/auth/logout", "Sign out",
			"Ends the session of the access token, or all sessions, from the next request on.", http.StatusNoContent),
		func(ctx context.Context, v visit, in *struct{ Body *Everywhere }) (*none, error) {
			return nil, a.People.Logout(ctx, v.Claim, in.Body != nil && in.Body.Everywhere)
		})
	route(a, person, Bound{1, 3}, op("list-sessions", http.MethodGet, "/auth/sessions", "Where I am signed in",
		"All sessions that have not ended.", http.StatusOK),
		func(ctx context.Context, v visit, _ *none) (*openapi.Body[Sessions], error) {
			all, err := a.People.Sessions(ctx, v.Claim)
			list := Sessions{Items: []Session{}}
			for _, x := range all {
				list.Items = append(list.Items,
					Session{x.ID, x.Device, httpjson.FormatTime(x.IssuedAt), httpjson.FormatTime(x.UsedAt), x.Current})
			}
			return openapi.Answer(list, err)
		})
	route(a, person, Bound{2, 3}, op("end-session", http.MethodDelete, "/auth/sessions/{id}", "End a session of mine",
		"One that has ended already is as good.", http.StatusNoContent),
		func(ctx context.Context, v visit, in *ByID) (*none, error) {
			return nil, a.People.EndSession(ctx, v.Claim, in.ID)
		})
	route(a, person, Bound{1, 2}, op("get-onboarding", http.MethodGet, "/onboarding", "How far my onboarding is",
		"And what is missing.", http.StatusOK),
		func(ctx context.Context, v visit, _ *none) (*openapi.Body[Onboarding], error) {
			u, err := a.People.Caller(ctx, v.Claim)
			return openapi.Answer(Onboarding{Step(u.Step()), u.Onboarded(), u.Missing()}, err)
		})
	route(a, person, Bound{7, 45},
		op("put-basics", http.MethodPut, "/onboarding/profile-basics", "Choose my username and give my name", "The username is written once and never changes: another one later, or one that somebody has, is 409 USERNAME_TAKEN.", http.StatusOK, 409),
		func(ctx context.Context, v visit, in *openapi.Body[Basics]) (*openapi.Body[Me], error) {
			me, err := a.People.SetBasics(ctx, v.Claim,
				people.Basics{
					Username: &in.Body.Username, FullName: &in.Body.FullName,
					Bio: in.Body.Bio, Picture: in.Body.Picture,
				})
			return openapi.Answer(meOf(me), err)
		})
	route(a, person, Bound{2, 5}, op("accept-terms", http.MethodPost, "/onboarding/terms", "Accept the terms",
		"The onboarding is complete when username and name are there too.", http.StatusOK),
		func(ctx context.Context, v visit, in *openapi.Body[Terms]) (*openapi.Body[Me], error) {
			me, err := a.People.AcceptTerms(ctx, v.Claim, in.Body.TermsVersion, in.Body.PrivacyVersion)
			return openapi.Answer(meOf(me), err)
		})
	route(a, person, Bound{1, 4},
		op("get-me", http.MethodGet, "/users/me", "My account", "What others see, and what they do not.",
			http.StatusOK),
		func(ctx context.Context, v visit, _ *none) (*openapi.Body[Me], error) {
			me, err := a.People.Me(ctx, v.Claim)
			return openapi.Answer(meOf(me), err)
		})
	route(a, person, Bound{5, 11}, op("leave", http.MethodDelete, "/users/me", "Leave", "Ends all sessions. At once no one finds the person; posts and comments stay, as those of a deleted user. A sign-in within 30 days gives tokens to come back with, and every other route then answers 403 ACCOUNT_DELETED.", http.StatusNoContent),
		func(ctx context.Context, v visit, _ *none) (*none, error) {
			return nil, a.People.Leave(ctx, v.Claim)
		})
	route(a, person, Bound{3, 10},
		op("return", http.MethodPost, "/users/me/restore", "Come back",
			"With all that the person had. One who is there is as good.", http.StatusOK),
		func(ctx context.Context, v visit, _ *none) (*openapi.Body[Me], error) {
			me, err := a.People.Return(ctx, v.Claim)
			return openapi.Answer(meOf(me), err)
		})
	route(a, person, Bound{6, 44},
		op("patch-profile", http.MethodPatch, "/users/me/profile", "Change my profile",
			"Members that are absent stay as they are.", http.StatusOK, 409),
		func(ctx context.Context, v visit, in *openapi.Body[ProfileChange]) (*openapi.Body[Me], error) {
			me, err := a.People.SetBasics(ctx, v.Claim,
				people.Basics{
					Username: in.Body.Username, FullName: in.Body.FullName,
					Bio: in.Body.Bio, Picture: in.Body.Picture,
				})
			return openapi.Answer(meOf(me), err)
		})
}

func (a *api) profiles() {
	op := func(id, path, summary, description string, errors ...int) huma.Operation {
		return operation("people", id, http.MethodGet, path, summary, description, http.StatusOK, errors...)
	}
	route(a, visitor, Bound{1, 8},
		op("get-profile", "/users/{id}", "A profile", "Of somebody who has a username.", 404),
		func(ctx context.Context, v visit, in *ByID) (*openapi.Body[Profile], error) {
			p, err := a.People.Profile(ctx, v.Claim, in.ID)
			return openapi.Answer(profileOf(p), err)
		})
	route(a, visitor, Bound{2, 9},
		op("get-profile-by-name", "/users/by-username/{username}", "A profile by its username", "In any case.", 404),
		func(ctx context.Context, v visit, in *struct {
			Username string `path:"username" doc:"The username" example:"Ann_1"`
		},
		) (*openapi.Body[Profile], error) {
			p, err := a.People.ProfileByName(ctx, v.Claim, in.Username)
			return openapi.Answer(profileOf(p), err)
		})
	route(a, person, Bound{1, 3}, op("check-name", "/users/username-availability", "Whether I can have a username",
		"A name that is free may be taken a moment later."),
		func(ctx context.Context, v visit, in *struct {
			Username string `query:"username" required:"true" doc:"The username" example:"Ann_1"`
		},
		) (*openapi.Body[Availability], error) {
			reason, err := a.People.NameAvailable(ctx, v.Claim, in.Username)
			return openapi.Answer(Availability{reason == "", reason}, err)
		})
}
