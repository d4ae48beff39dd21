// Package api is the door for JSON over HTTP: which routes there are, what they take and answer,
// and the OpenAPI document that says so. A person sends an access token; each route says whether a
// guest may ask for it.
package api

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"prompthub/apps/duuble/internal/discussions"
	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/apps/duuble/internal/stream"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/openapi"
	"prompthub/internal/telemetry"
)

// Prefix is the path that all routes begin with.
const Prefix = "/api/v1"

// Config is what the API needs. Every field is required but those that say what their zero means.
type Config struct {
	People      *people.Service
	Posts       *posts.Service
	Hubs        *hubs.Service
	Discussions *discussions.Service
	Streams     *stream.Service
	Site        string                      // the address before the paths of links that people send; "" if it is not known
	VoteMin     int                         // how many votes are counted together
	Ready       func(context.Context) error // asks the storage for something
	Admission   *httpjson.Admission
	Origins     httpjson.Origins // none where there are none
	Log         *slog.Logger
	Now         func() time.Time
	Telemetry   *telemetry.Telemetry // nil collects nothing
	Version     string
}

// The pages to which links of hubs lead, before their tokens.
const (
	InvitationPage = "/app/invitations/"
	JoinPage       = "/app/join/"
)

type api struct {
	Config
	huma     huma.API
	document openapi.Document
	about    openapi.System
	bounds   map[string]Bound
}

// A Bound is what a route may cost.
type Bound struct {
	Steps int // calls of the storage of which each waits for the one before, after the session
	Calls int // all calls, those after the answer too; of a list those of a page of 20
}

// New returns a handler for everything under Prefix.
func New(c Config) http.Handler {
	a, mux := build(c)
	watch := httpjson.Observer{Log: c.Log, Now: c.Now, Telemetry: c.Telemetry}
	return watch.Observe(httpjson.Secure(httpjson.CORS(c.Origins, httpjson.Single(httpjson.JoinQuery(httpjson.ETags(a.uncached(mux.handler())))))))
}

// Bounds returns the bounds of all routes by their operation ids.
func Bounds() map[string]Bound {
	a, _ := build(Config{People: &people.Service{}, Posts: &posts.Service{}, Hubs: &hubs.Service{}, Discussions: &discussions.Service{}})
	return a.bounds
}

// routes are the routes by which an action is found. One mux cannot have
// /users/by-username/{username} next to /users/{id}/posts, because both are right for
// /users/by-username/posts. So what is found by a name has a mux of its own, which is asked first.
type routes struct{ byName, others *http.ServeMux }

// byNames begin the paths of things that are found by a name.
var byNames = []string{Prefix + "/users/by-username/", Prefix + "/hubs/by-link/"}

func isByName(path string) bool {
	return slices.ContainsFunc(byNames, func(prefix string) bool { return strings.HasPrefix(path, prefix) })
}

func (m routes) of(path string) *http.ServeMux {
	if isByName(path) {
		return m.byName
	}
	return m.others
}

// HandleFunc registers an action for a method and a path.
func (m routes) HandleFunc(pattern string, act func(http.ResponseWriter, *http.Request)) {
	_, path, _ := strings.Cut(pattern, " ")
	m.of(path).HandleFunc(pattern, act)
}

// ServeHTTP answers as the route of the path does.
func (m routes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.of(r.URL.Path).ServeHTTP(w, r)
}

func (m routes) handler() http.Handler {
	byName, others := httpjson.Routes(m.byName), httpjson.Routes(m.others)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isByName(r.URL.Path) {
			byName.ServeHTTP(w, r)
			return
		}
		others.ServeHTTP(w, r)
	})
}

func build(c Config) (*api, routes) {
	a := &api{Config: c, bounds: map[string]Bound{}, about: openapi.System{Version: c.Version, Ready: openapi.Readiness{Ask: c.Ready, Now: c.Now}}}
	mux := routes{http.NewServeMux(), http.NewServeMux()}
	a.huma = humago.NewWithPrefix(mux, Prefix, a.settings())
	a.document = openapi.Document{API: a.huma, Problem: httpjson.Problem{}, Meanings: meanings, ETag: `"6b3e1f0a9c24d785"`}
	a.account()
	a.profiles()
	a.posts()
	a.comments()
	a.shares()
	a.feeds()
	a.notices()
	a.stream()
	a.reports()
	a.ties()
	a.hubs()
	a.discussions()
	a.invitations()
	a.system()
	a.about.Rendered = a.document.Render()
	return a, mux
}

// uncached keeps answers with tokens out of all caches.
func (a *api) uncached(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, Prefix+"/auth/") && r.Method == http.MethodPost || strings.HasPrefix(r.URL.Path, Prefix+"/dev/") {
			w.Header().Set("Cache-Control", "no-store")
		}
		next.ServeHTTP(w, r)
	})
}

const bearerScheme = "accessToken"

func (a *api) settings() huma.Config {
	c := openapi.Config("Duuble", a.Version)
	c.Info.Description = "A social network whose identity is a phone number and whose votes cannot be read back. Times are RFC 3339 in UTC. " +
		"Every error is a problem document with a code. HEAD answers as GET does, without a body. A caller who sends too much is answered 429."
	c.Tags = []*huma.Tag{
		{Name: "account", Description: "To sign in by a code and out, sessions, onboarding"},
		{Name: "people", Description: "Profiles and usernames, whom people follow and block"},
		{Name: "posts", Description: "Posts, comments, votes, and their results"},
		{Name: "hubs", Description: "Hubs, their members, invitations, links and requests to join"},
		{Name: "notifications", Description: "What people are told of, and how"},
		{Name: "admin", Description: "For the people who manage the service, whose numbers are in ADMIN_PHONES"},
		{Name: "system", Description: "Whether the service is up, and this document"},
	}
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		bearerScheme: {Type: "http", Scheme: "bearer", Description: "The accessToken of a session."},
	}
	return c
}

// An access says who may use a route.
type access int

const (
	anyone  access = iota
	visitor        // anyone, but a person who is signed in sees more
	person         // somebody who is signed in
)

// none is the input of a route that takes nothing.
type none = struct{}

// The sizes of bodies of JSON, in bytes.
const (
	maxBody = 64 << 10
	maxPost = 512 << 10
)

// maxBodyKey is the metadata of an operation whose body may be larger than maxBody.
const maxBodyKey = "maxBody"

// route registers an action. op.Errors names the statuses of its errors beyond those of every
// route.
func route[I, O any](a *api, who access, bound Bound, op huma.Operation, act func(context.Context, visit, *I) (*O, error)) {
	if who != anyone {
		bound.Steps++ // the session is read first, so that it is known who calls
	}
	a.bounds[op.OperationID] = bound
	op.BodyReadTimeout = -1 // openapi.ReadBody has its own
	statuses := append([]int{400, 422, 429, 500, 503}, op.Errors...)
	if op.Method != http.MethodGet {
		statuses = append(statuses, 403, 408, 413, 415) // pages of other sites, and bodies
	}
	switch who {
	case person:
		op.Security = []map[string][]string{{bearerScheme: {}}}
		statuses = append(statuses, 401, 403)
	case visitor:
		op.Security = []map[string][]string{{}, {bearerScheme: {}}}
		statuses = append(statuses, 401, 403)
	case anyone:
	}
	op.Middlewares = huma.Middlewares{func(ctx huma.Context, next func(huma.Context)) { a.admit(ctx, who, next) }}
	a.document.AddErrors(&op, statuses...)
	if op.Method == http.MethodGet && !openapi.IsProbe(op.Path) && !strings.HasPrefix(op.Path, "/dev/") && op.OperationID != streamID {
		openapi.Conditional(&op)
	}
	huma.Register(a.huma, op, func(ctx context.Context, in *I) (*O, error) {
		v, _ := ctx.Value(visitKey{}).(*visit)
		if v == nil {
			v = &visit{} // a probe
		}
		out, err := openapi.WithinPage(in, func() (*O, error) { return act(ctx, *v, in) })
		if err != nil {
			return nil, httpjson.Describe(ctx, err)
		}
		return out, nil
	})
}

// A visit is a request with what it says about its caller.
type visit struct {
	people.Claim
	site, network string // where it comes from
	local         bool   // from a program on this machine, which asked for a loopback address
}

type visitKey struct{}

// admit finds out who sends a request, counts it, reads what it sends, and finds room for it. A
// guest is refused before anything else is looked at. Requests to sign in, or for a code, count for
// their address, also with a token.
func (a *api) admit(ctx huma.Context, who access, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	if openapi.IsProbe(ctx.Operation().Path) {
		if err := a.Admission.Probe(w, r); err != nil {
			httpjson.Refuse(w, r, err)
			return
		}
		next(ctx)
		return
	}
	v := &visit{local: isLocal(r)}
	v.site, v.network = httpjson.AddressClass(r)
	find, refused := a.finds(v, r, who)
	caller, err := a.Admission.Caller(r, find)
	if err != nil {
		refused = err
	}
	if err := a.Admission.Admit(r.Context(), w.Header(), caller, httpjson.IsWrite(r)); err != nil {
		refused = err
	}
	if refused != nil {
		httpjson.Refuse(w, r, refused)
		return
	}
	if v.UserID != "" {
		httpjson.SetUser(r.Context(), people.LogKey(v.UserID))
	}
	openapi.CheckQuery(ctx, func(ctx huma.Context) {
		most, _ := ctx.Operation().Metadata[maxBodyKey].(int64)
		if ctx.Operation().RequestBody != nil && !openapi.ReadBody(ctx, a.Admission, max(most, maxBody)) {
			return
		}
		if ctx.Operation().OperationID == streamID {
			next(huma.WithValue(ctx, visitKey{}, v))
			return
		}
		leave, err := a.Admission.Enter(ctx.Context(), caller)
		if err != nil {
			httpjson.Refuse(w, r, err)
			return
		}
		defer leave()
		next(huma.WithValue(ctx, visitKey{}, v))
	})
}

// isLocal reports whether a program on this machine asks, under a name that no page of another
// site can have, and for no other client.
func isLocal(r *http.Request) bool {
	loopback := func(hostport string) bool {
		host, _, err := net.SplitHostPort(hostport)
		if err != nil {
			host = hostport
		}
		ip := net.ParseIP(strings.Trim(host, "[]"))
		return host == "localhost" || ip != nil && ip.IsLoopback()
	}
	return loopback(r.RemoteAddr) && loopback(r.Host) && len(r.Header.Values("X-Forwarded-For")) == 0
}

// finds returns what finds out whose session a request names, nil for a guest.
func (a *api) finds(v *visit, r *http.Request, who access) (find func() (string, error), err error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if who == anyone || scheme == "" && who == visitor {
		return nil, nil
	}
	if !strings.EqualFold(scheme, "Bearer") {
		return nil, people.SignIn()
	}
	return func() (string, error) {
		c, err := a.People.ParseAccess(strings.TrimSpace(token))
		if err == nil {
			v.Claim, _, err = a.People.Recognize(r.Context(), c)
		}
		return v.UserID, err
	}, nil
}

func (a *api) system() {
	route(a, anyone, Bound{}, openapi.HealthRoute(), unclaimed(a.about.Health))
	route(a, anyone, Bound{1, 1}, openapi.ReadyRoute(), unclaimed(a.about.IsReady))
	route(a, anyone, Bound{}, openapi.DocumentRoute(), unclaimed(a.about.Document))
}

// unclaimed makes an action of one that does not ask who calls.
func unclaimed[I, O any](act func(context.Context, *I) (*O, error)) func(context.Context, visit, *I) (*O, error) {
	return func(ctx context.Context, _ visit, in *I) (*O, error) { return act(ctx, in) }
}

// meanings says what each status that reports an error means here, with an example. Those that
// mean the same everywhere package openapi knows.
var meanings = map[int]openapi.Meaning{
	400: {Doc: "The query or the body cannot be read", Detail: "the body is not valid JSON"},
	401: {Doc: "The caller is not signed in: UNAUTHENTICATED, INVALID_TOKEN, SESSION_ENDED, REFRESH_REUSED, OTP_WRONG, OTP_EXPIRED", Detail: "this session has ended; sign in again"},
	403: {Doc: "The caller may not: ONBOARDING_REQUIRED, ACCOUNT_DELETED, NOT_A_MEMBER, FORBIDDEN, INVITATION_NOT_YOURS, or a page of another site asks", Detail: "choose a username, give your name and accept the terms first"},
	404: {Doc: "There is no such thing, or the caller may not see it: USER_NOT_FOUND, POST_NOT_FOUND, COMMENT_NOT_FOUND, HUB_NOT_FOUND, MEMBER_NOT_FOUND, INVITATION_NOT_FOUND, LINK_NOT_FOUND, REQUEST_NOT_FOUND, DISCUSSION_NOT_FOUND, MESSAGE_NOT_FOUND, NOTIFICATION_NOT_FOUND, REPORT_NOT_FOUND, CODE_NOT_FOUND", Detail: "there is no such post"},
	409: {Doc: "It cannot be as things are: USERNAME_TAKEN, ALREADY_VOTED, NO_SLIDER, LINK_TAKEN, LAST_SUPER_ADMIN, ALREADY_DECIDED, HUB_FULL, TOO_MANY", Detail: "this username is taken; choose another one"},
	413: {Doc: "The body is too large", Detail: "the body is larger than 64 KiB"},
	422: {Doc: "The request breaks rules, which are named: VALIDATION_ERROR, IDEMPOTENCY_MISMATCH", Detail: "the request breaks the rules named here", Fields: []httpjson.Field{{Location: "body.fullName", Message: "give 1 to 100 characters"}}},
}
