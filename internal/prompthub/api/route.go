package api

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"prompthub/internal/auth"
	"prompthub/internal/fault"
	"prompthub/internal/httpjson"
	"prompthub/internal/prompthub/prompt"
)

// An access says who may use a route.
type access int

const (
	open   access = iota // anyone, and nobody is asked who he is
	reader               // anyone where reading is public, else a user
	user                 // somebody who was identified
)

// A call is a request as an action sees it, besides its input.
type call struct {
	auth.User
	url    url.URL
	caller string // for the limits
}

type callKey struct{}

// route registers an action. op.Errors names the statuses of its errors beyond those that every
// route has.
func route[I, O any](a *api, who access, op huma.Operation, act func(context.Context, call, *I) (*O, error)) {
	op.Middlewares = huma.Middlewares{a.identify(who)}
	if who != open {
		op.Middlewares = append(op.Middlewares, checkQuery, a.readBody, a.enter)
	}
	op.BodyReadTimeout = -1 // readBody has its own
	op.Responses = a.responses(who, op)
	// of which nothing may be kept
	if op.Method == http.MethodGet && op.Path != healthPath && op.Path != readyPath {
		conditional(&op)
	}
	op.Errors = nil
	op.Security = security(who, a.PublicRead)
	huma.Register(a.huma, op, func(ctx context.Context, in *I) (*O, error) {
		c, _ := ctx.Value(callKey{}).(call)
		out, err := act(ctx, c, in)
		if err != nil {
			return nil, problem(ctx, err)
		}
		return out, nil
	})
}

// identify finds out who is calling, and how often, before anything else of the request is looked
// at.
func (a *api) identify(who access) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		c := call{url: ctx.URL()}
		if who != open {
			r, w := humago.Unwrap(ctx)
			var err error
			if c.User, c.caller, err = a.admit(w, r, who); err != nil {
				httpjson.Refuse(w, r, err)
				return
			}
		}
		next(huma.WithValue(ctx, callKey{}, c))
	}
}

// admit returns who is calling, or why the call goes no further. Those who are not identified share
// what their address may ask for.
func (a *api) admit(w http.ResponseWriter, r *http.Request, who access) (auth.User, string, error) {
	u, err := a.Identify(r)
	if err == nil && !u.Known() && (who == user || !a.PublicRead) {
		err = fault.New(fault.Unauthenticated, "sign in to use this")
	}
	if u.Known() {
		httpjson.SetUser(r.Context(), prompt.AuthorKey(u.ID))
	}
	caller := httpjson.Caller(r, u.ID)
	if limited := a.Admission.Admit(w.Header(), caller, httpjson.IsWrite(r)); limited != nil {
		return u, caller, limited
	}
	if err == nil {
		err = u.Needs(scope(who, r))
	}
	return u, caller, err
}

// enter waits for nothing: there is room for the call now, or it is refused.
func (a *api) enter(ctx huma.Context, next func(huma.Context)) {
	c, _ := ctx.Context().Value(callKey{}).(call)
	leave, err := a.Admission.Enter(c.caller)
	if err != nil {
		r, w := humago.Unwrap(ctx)
		httpjson.Refuse(w, r, err)
		return
	}
	defer leave()
	next(ctx)
}

// scope returns what an access token must allow for a route. What others see of a change, the
// Service asks about.
func scope(who access, r *http.Request) string {
	if who == user && httpjson.IsWrite(r) {
		return auth.ScopeWrite
	}
	return auth.ScopeRead
}

// conditional documents what httpjson.ETags does for every GET.
func conditional(op *huma.Operation) {
	op.Parameters = append(op.Parameters, &huma.Param{
		Name: "If-None-Match", In: "header", Description: "ETags of answers that the caller has",
		Schema: &huma.Schema{Type: huma.TypeString},
	})
	op.Responses["304"] = &huma.Response{Description: "The caller has the answer"}
}

const (
	bearer = "bearer"
	basic  = "basic"
	apiKey = "apiKey"
	dev    = "dev"
)

func security(who access, publicRead bool) []map[string][]string {
	if who == open {
		return nil
	}
	either := []map[string][]string{{bearer: {}}, {basic: {}}, {apiKey: {}}, {dev: {}}}
	if who == reader && publicRead {
		either = append(either, map[string][]string{}) // or nobody
	}
	return either
}

// responses returns the errors of a route beside what it documents of its successes.
func (a *api) responses(who access, op huma.Operation) map[string]*huma.Response {
	// A query that cannot be decoded is refused on every route.
	statuses := append([]int{http.StatusBadRequest, http.StatusInternalServerError}, op.Errors...)
	if who != open {
		statuses = append(statuses, http.StatusUnauthorized, http.StatusForbidden, http.StatusUnprocessableEntity, http.StatusTooManyRequests, http.StatusServiceUnavailable)
	}
	if op.Method != http.MethodGet {
		statuses = append(statuses, http.StatusForbidden) // to pages of other sites, if to nobody else
	}
	responses := map[string]*huma.Response{}
	maps.Copy(responses, op.Responses)
	for _, s := range statuses {
		responses[strconv.Itoa(s)] = &huma.Response{Ref: a.errorResponse(s)}
	}
	return responses
}
