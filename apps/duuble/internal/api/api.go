// Package api is the door for JSON over HTTP: which routes there are, what they take and answer,
// and the OpenAPI document that says so. A person sends an access token; each route says whether a
// guest may ask for it.
package api

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/apps/duuble/internal/assets"
	"prompthub/apps/duuble/internal/discussions"
	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/pictures"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/apps/duuble/internal/stream"
	"prompthub/internal/http/auth"
	"prompthub/internal/http/auth/session"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/openapi"
	"prompthub/internal/storage/blob/picture"
	"prompthub/internal/telemetry"
)

// Prefix is the path that all routes begin with.
const Prefix = openapi.Prefix

// Config is what the API needs. Every field is required but those that say what their zero means.
type Config struct {
	People      *people.Service
	Posts       *posts.Service
	Hubs        *hubs.Service
	Discussions *discussions.Service
	Pictures    *pictures.Service
	Streams     *stream.Service
	// the address before the paths of links that people send; "" if it is not known
	Site      string
	VoteMin   int                         // how many votes are counted together
	Ready     func(context.Context) error // asks the storage for something
	Admission *httpjson.Admission
	Origins   httpjson.Origins // none where there are none
	Log       *slog.Logger
	Now       func() time.Time
	Telemetry *telemetry.Telemetry // nil collects nothing
	Version   string
}

// The pages to which links of hubs lead, before their tokens.
const (
	InvitationPage = "/app/invitations/"
	JoinPage       = "/app/join/"
)

type api struct {
	Config
	service openapi.Service[visit]
}

// A Bound is that of a route, by its steps and its calls.
type Bound openapi.Bound

// New returns a handler for everything under Prefix.
func New(c Config) http.Handler {
	a, mux := build(c)
	return a.service.Handler(mux.handler())
}

// Bounds returns the bounds of all routes by their operation ids.
func Bounds() map[string]openapi.Bound {
	a, _ := build(Config{
		People: &people.Service{}, Posts: &posts.Service{}, Hubs: &hubs.Service{},
		Discussions: &discussions.Service{},
	})
	return a.service.Bounds()
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
	a := &api{Config: c}
	a.service = openapi.Service[visit]{
		Admission: c.Admission, Origins: c.Origins, Log: c.Log, Now: c.Now, Telemetry: c.Telemetry,
		Version: c.Version, Ready: c.Ready,
		Document: openapi.Document{Problem: httpjson.Problem{}, Meanings: meanings, ETag: `"6b3e1f0a9c24d785"`},
		Scheme:   bearerScheme, MaxBody: maxBody, MaxFile: assets.MaxBytes,
		Identify: a.identify, LogKey: session.LogKey,
		Secret: func(method, path string) bool {
			return method == http.MethodPost && strings.HasPrefix(path, "/auth/") || strings.HasPrefix(path, "/dev/")
		},
	}
	a.service.Document.Examples = map[string]any{}
	for _, t := range picture.Types {
		a.service.Document.Examples[t] = "the bytes of a file"
	}
	mux := routes{http.NewServeMux(), http.NewServeMux()}
	a.service.Begin(mux, a.settings())
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
	a.assets()
	a.service.Finish()
	return a, mux
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
		{Name: "pictures", Description: "To upload and to see them"},
		{Name: "notifications", Description: "What people are told of, and how"},
		{Name: "admin", Description: "For the people who manage the service, whose numbers are in ADMIN_PHONES"},
		{Name: "system", Description: "Whether the service is up, and this document"},
	}
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		bearerScheme: {Type: "http", Scheme: "bearer", Description: "The accessToken of a session."},
	}
	return c
}

// The kinds of access to a route.
const (
	anyone  = openapi.Anyone
	visitor = openapi.Visitor
	person  = openapi.SignedIn
)

// none is the input of a route that takes nothing.
type none = struct{}

// The sizes of bodies of JSON, in bytes.
const (
	maxBody = 64 << 10
	maxPost = 512 << 10
)

// route registers an action. op.Errors names the statuses of its errors beyond those of every
// route.
func route[I, O any](a *api, who openapi.Access, bound Bound, op huma.Operation,
	act func(context.Context, visit, *I) (*O, error),
) {
	openapi.Route(&a.service, who, openapi.Bound(bound), op, act)
}

// A visit is a request with what it says about its caller.
type visit struct {
	people.Claim
	site, network string // where it comes from
	local         bool   // from a program on this machine, which asked for a loopback address
}

// isLocal reports whether a program on this machine asks, under a name that no page of another
// site can have, and for no other client: a proxy may pass on what a client claims to be.
func isLocal(r *http.Request) bool {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && from.Addr().Unmap().IsLoopback() && len(r.Header.Values("X-Forwarded-For")) == 0 &&
		auth.FromHere(r)
}

// identify returns a request and the search for its session, nil for a guest. Requests
// to sign in, or for a code, count for their address, also with a token.
func (a *api) identify(r *http.Request, who openapi.Access) (v *visit, find func() (string, error), err error) {
	v = &visit{local: isLocal(r)}
	v.site, v.network = httpjson.AddressClass(r)
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if who == anyone || scheme == "" && who == visitor {
		return v, nil, nil
	}
	if !strings.EqualFold(scheme, "Bearer") {
		return v, nil, session.SignIn()
	}
	return v, func() (string, error) {
		c, err := a.People.ParseAccess(strings.TrimSpace(token))
		if err == nil {
			v.Claim, _, err = a.People.Recognize(r.Context(), c)
		}
		return v.UserID, err
	}, nil
}

// meanings says what each status that reports an error means here, with an example. Those that
// mean the same everywhere package openapi knows.
var meanings = map[int]openapi.Meaning{
	400: {Doc: "The query or the body cannot be read", Detail: "the body is not valid JSON"},
	401: {Doc: "The caller is not signed in: UNAUTHENTICATED, INVALID_TOKEN, SESSION_ENDED, REFRESH_REUSED, OTP_WRONG, OTP_EXPIRED", Detail: "this session has ended; sign in again"},
	403: {Doc: "The caller may not: ONBOARDING_REQUIRED, ACCOUNT_DELETED, ACCOUNT_SUSPENDED, NOT_A_MEMBER, FORBIDDEN, BANNED, INVITATION_NOT_YOURS, or a page of another site asks", Detail: "choose a username, give your name and accept the terms first"},
	404: {Doc: "There is no such thing, or the caller may not see it: USER_NOT_FOUND, POST_NOT_FOUND, COMMENT_NOT_FOUND, HUB_NOT_FOUND, MEMBER_NOT_FOUND, INVITATION_NOT_FOUND, LINK_NOT_FOUND, REQUEST_NOT_FOUND, DISCUSSION_NOT_FOUND, MESSAGE_NOT_FOUND, NOTIFICATION_NOT_FOUND, REPORT_NOT_FOUND, BAN_NOT_FOUND, ASSET_NOT_FOUND, CODE_NOT_FOUND", Detail: "there is no such post"},
	409: {Doc: "It cannot be as things are: USERNAME_TAKEN, ALREADY_VOTED, NO_SLIDER, LINK_TAKEN, LAST_SUPER_ADMIN, ALREADY_DECIDED, HUB_FULL, HUB_TOO_SMALL, VOTE_ENDED, TAKEN_OUT, NOT_DELETABLE, ALREADY_COMPLETED, ASSET_IN_USE, TOO_MANY", Detail: "this username is taken; choose another one"},
	413: {Doc: "The body is too large", Detail: "the body is larger than 64 KiB"},
	422: {Doc: "The request breaks rules, which are named: VALIDATION_ERROR, IDEMPOTENCY_MISMATCH, ASSET_MISMATCH, NOT_AN_IMAGE", Detail: "the request breaks the rules named here", Fields: []httpjson.Field{{Location: "body.fullName", Message: "give 1 to 100 characters"}}},
}
