package api

import (
	"context"
	"net/http"
	"net/url"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"prompthub/internal/http/auth"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/openapi"
	"prompthub/internal/prompthub/doors"
	"prompthub/internal/prompthub/library"
)

// An access says who may use a route.
type access int

const (
	open    access = iota // anyone, without identification
	reader                // anyone where reading is public, else a user
	user                  // somebody who was identified
	visitor               // anyone; identified if they want to be
)

// A call is a request as an action sees it, besides its input.
type call struct {
	doors.Caller
	url url.URL

	header        http.Header
	origin        string // the address of the service, as the caller knows it
	site, network string // where the request comes from
}

type callKey struct{}

// route registers an action. op.Errors names the statuses of its errors beyond those that every
// route has.
func route[I, O any](a *api, who access, op huma.Operation, act func(context.Context, call, *I) (*O, error)) {
	op.Middlewares = huma.Middlewares{a.identify(who)}
	if who != open {
		op.Middlewares = append(op.Middlewares, openapi.CheckQuery, a.readBody, a.enter)
	}
	op.BodyReadTimeout = -1 // readBody has its own
	a.document.AddErrors(&op, statuses(who, op)...)
	// of which nothing may be kept
	if op.Method == http.MethodGet && !openapi.IsProbe(op.Path) {
		openapi.Conditional(&op)
	}
	op.Security = security(who, a.PublicRead)
	huma.Register(a.huma, op, func(ctx context.Context, in *I) (*O, error) {
		c, _ := ctx.Value(callKey{}).(call)
		out, err := act(ctx, c, in)
		if err != nil {
			return nil, a.problem(ctx, c, library.Told(c.User, err))
		}
		return out, nil
	})
}

// identify finds out who is calling, and how often, before anything else of the request is looked
// at.
func (a *api) identify(who access) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		c := call{url: ctx.URL()}
		r, w := humago.Unwrap(ctx)
		var err error
		switch {
		case who != open:
			c.note(ctx, a.Public)
			d := a.door()
			d.PublicRead = d.PublicRead || who == visitor
			c.Caller, err = d.Admit(w, r,
				doors.Need{Users: who == user, Write: httpjson.IsWrite(r), Scope: scope(who, r)})
		case openapi.IsProbe(ctx.Operation().Path):
			err = a.Admission.Probe(w, r)
		default:
			err = a.Admission.Open(w, r)
		}
		if err != nil {
			httpjson.Refuse(w, r, err)
			return
		}
		next(huma.WithValue(ctx, callKey{}, c))
	}
}

// enter waits for nothing: there is room for the call now, or it is refused.
func (a *api) enter(ctx huma.Context, next func(huma.Context)) {
	c, _ := ctx.Context().Value(callKey{}).(call)
	leave, err := a.Admission.Enter(ctx.Context(), c.Key)
	if err != nil {
		r, w := humago.Unwrap(ctx)
		httpjson.Refuse(w, r, err)
		return
	}
	defer leave()
	next(ctx)
}

func (a *api) door() doors.Door {
	return doors.Door{Identify: a.Identify, PublicRead: a.PublicRead, Admission: a.Admission, Service: a.Service}
}

// scope returns what an access token must allow for a route.
func scope(who access, r *http.Request) string {
	if who == reader {
		return auth.ScopeRead // with any method: rendering only reads
	}
	return doors.Scope(r)
}

const (
	bearer = "bearer"
	basic  = "basic"
	apiKey = "apiKey"
	dev    = "dev"
	roles  = "devRoles"
)

func security(who access, publicRead bool) []map[string][]string {
	if who == open {
		return nil
	}
	either := []map[string][]string{{bearer: {}}, {basic: {}}, {apiKey: {}}, {dev: {}}, {dev: {}, roles: {}}}
	if who == reader && publicRead || who == visitor {
		either = append(either, map[string][]string{}) // or no user
	}
	return either
}

// statuses returns those that report an error of a route.
func statuses(who access, op huma.Operation) []int {
	// A query with a byte that is no UTF-8 is refused on every route.
	all := append([]int{
		http.StatusBadRequest, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusServiceUnavailable,
	}, op.Errors...)
	if who != open {
		all = append(all, http.StatusUnauthorized, http.StatusForbidden, http.StatusUnprocessableEntity)
	}
	if op.Method != http.MethodGet {
		all = append(all, http.StatusForbidden) // to pages of other sites, if to no one else
	}
	return all
}
