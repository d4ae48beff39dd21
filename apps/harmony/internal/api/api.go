// Package api is the door for JSON over HTTP: which routes there are, what they take and answer,
// and the OpenAPI document that says so. A member sends an access token; each route says whether a
// guest may ask for it.
package api

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/blog"
	"prompthub/apps/harmony/internal/chats"
	"prompthub/apps/harmony/internal/cookie"
	"prompthub/apps/harmony/internal/events"
	"prompthub/apps/harmony/internal/forum"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/reports"
	"prompthub/apps/harmony/internal/shop"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/openapi"
	"prompthub/internal/storage/blob/picture"
	"prompthub/internal/telemetry"
)

// Prefix is the path that all routes begin with.
const Prefix = "/api/v1"

// maxBody is how large a body of JSON may be, in bytes: 64 KiB, and 9 for each character of the
// longest texts that a route takes.
const maxBody = 64<<10 + 9*31_000

// Config is what the API needs. Every field is required but those that say what their zero means.
type Config struct {
	Service   *meet.Service
	Events    *events.Service
	Chats     *chats.Service
	Forum     *forum.Service
	Reports   *reports.Service
	Shop      *shop.Service
	Blog      *blog.Service
	Admission *httpjson.Admission
	Origins   httpjson.Origins // none where there are none
	Log       *slog.Logger
	Now       func() time.Time
	Telemetry *telemetry.Telemetry // nil collects nothing
	Version   string
}

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
	return watch.Observe(httpjson.Secure(httpjson.CORS(c.Origins, httpjson.Single(httpjson.JoinQuery(httpjson.ETags(a.uncached(httpjson.Routes(mux))))))))
}

// Bounds returns the bounds of all routes by their operation ids.
func Bounds() map[string]Bound {
	a, _ := build(Config{Service: &meet.Service{}})
	return a.bounds
}

func build(c Config) (*api, *http.ServeMux) {
	a := &api{Config: c, bounds: map[string]Bound{}, about: openapi.System{Version: c.Version, Ready: openapi.Readiness{Ask: c.Service.Ready, Now: c.Now}}}
	mux := http.NewServeMux()
	a.huma = humago.NewWithPrefix(mux, Prefix, a.settings())
	a.document = openapi.Document{API: a.huma, Problem: httpjson.Problem{}, Meanings: meanings, ETag: `"6b3e1f0a9c24d785"`, Examples: map[string]any{}}
	for _, t := range imageTypes {
		a.document.Examples[t] = "the bytes of a file"
	}
	a.account()
	a.people()
	a.images()
	a.pairs()
	a.events()
	a.forum()
	a.moderation()
	a.deck()
	a.chats()
	a.reports()
	a.shop()
	a.blog()
	a.preferences()
	a.admin()
	a.system()
	a.about.Rendered = a.document.Render()
	return a, mux
}

// uncached keeps answers with tokens out of all caches.
func (a *api) uncached(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, Prefix+"/auth/") && r.Method == http.MethodPost {
			w.Header().Set("Cache-Control", "no-store")
		}
		next.ServeHTTP(w, r)
	})
}

const bearerScheme = "accessToken"

func (a *api) settings() huma.Config {
	c := openapi.Config("AloeVera Harmony Meet", a.Version)
	c.Info.Description = "The community of one band's fans: accounts, profiles and settings. Times are RFC 3339 in UTC, ids are GUIDs. " +
		"Every error is a problem document with a code. HEAD answers as GET does, without a body. A caller who sends too much is answered 429."
	c.Tags = []*huma.Tag{
		{Name: "account", Description: "To register, to sign in and out, passwords"},
		{Name: "people", Description: "Profiles and their pictures"},
		{Name: "likes", Description: "Likes, matches, passes and blocks"},
		{Name: "events", Description: "Events, some of them secret, and places at them"},
		{Name: "forum", Description: "Sections, topics and replies"},
		{Name: "store", Description: "Things that the band sells elsewhere"},
		{Name: "blog", Description: "What admins write for everybody"},
		{Name: "chats", Description: "Chats of members who match, and of events"},
		{Name: "settings", Description: "Preferences and privacy"},
		{Name: "admin", Description: "For staff"},
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
	visitor        // anyone, but a member sees more; a browser may send its cookie
	member
)

// none is the input of a route that takes nothing.
type none = struct{}

// route registers an action. op.Errors names the statuses of its errors beyond those of every
// route.
func route[I, O any](a *api, who access, bound Bound, op huma.Operation, act func(context.Context, meet.Claim, *I) (*O, error)) {
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
	case member:
		op.Security = []map[string][]string{{bearerScheme: {}}}
		statuses = append(statuses, 401, 403)
	case visitor:
		op.Security = []map[string][]string{{}, {bearerScheme: {}}}
		statuses = append(statuses, 401, 403)
	case anyone:
	}
	op.Middlewares = huma.Middlewares{func(ctx huma.Context, next func(huma.Context)) { a.admit(ctx, who, next) }}
	a.document.AddErrors(&op, statuses...)
	if op.Method == http.MethodGet && !openapi.IsProbe(op.Path) {
		openapi.Conditional(&op)
	}
	huma.Register(a.huma, op, func(ctx context.Context, in *I) (*O, error) {
		v, _ := ctx.Value(visitKey{}).(*visit)
		if v == nil {
			v = &visit{} // a probe
		}
		out, err := openapi.WithinPage(in, func() (*O, error) { return act(ctx, v.claim, in) })
		if err != nil {
			return nil, httpjson.Describe(ctx, err)
		}
		return out, nil
	})
}

// A visit is a request with what it says about its caller.
type visit struct {
	claim meet.Claim
	from  string // names the caller: the member, or the address of a guest

	site, network string // where it comes from
}

type visitKey struct{}

// from names the caller of a request, whose guesses at secrets are counted.
func from(ctx context.Context) string {
	v, _ := ctx.Value(visitKey{}).(*visit)
	if v == nil {
		return ""
	}
	return v.from
}

// asker is who asks to be signed in, by what they send of their device.
func asker(ctx context.Context, device, agent string) meet.Asker {
	by := meet.Asker{Device: device, Agent: account.Device(agent)}
	if v, _ := ctx.Value(visitKey{}).(*visit); v != nil {
		by.Site, by.Network = v.site, v.network
	}
	return by
}

// admit finds out who sends a request, counts it, reads what it sends, and finds room for it. A
// guest is refused before anything else is looked at. A caller who signs in or up counts as their
// address, with any token.
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
	v := &visit{}
	find, refused := a.finds(v, r, who)
	caller, err := a.Admission.Caller(r, find)
	if err != nil {
		refused = err
	}
	v.site, v.network = httpjson.AddressClass(r)
	v.from = cmp.Or(v.claim.UserID, v.site)
	if err := a.Admission.Admit(r.Context(), w.Header(), caller, httpjson.IsWrite(r)); err != nil {
		refused = err
	}
	if refused != nil {
		httpjson.Refuse(w, r, refused)
		return
	}
	if v.claim.UserID != "" {
		httpjson.SetUser(r.Context(), account.LogKey(v.claim.UserID))
	}
	openapi.CheckQuery(ctx, func(ctx huma.Context) {
		if !a.read(ctx) {
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

// read reads the body of a request, if its route takes one. It reports whether the request goes on;
// otherwise it is answered.
func (a *api) read(ctx huma.Context) bool {
	switch body := ctx.Operation().RequestBody; {
	case body == nil:
		return true
	case body.Content[openapi.JSON] != nil:
		return openapi.ReadBody(ctx, a.Admission, maxBody)
	}
	r, w := humago.Unwrap(ctx)
	_, err := a.Admission.ReadBody(w, r, picture.MaxBytes)
	if err != nil {
		httpjson.WriteProblem(w, httpjson.Describe(r.Context(), err))
	}
	return err == nil
}

// finds returns what finds out whose session a request names, nil for a guest.
func (a *api) finds(v *visit, r *http.Request, who access) (find func() (string, error), err error) {
	if who == anyone {
		return nil, nil
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if scheme == "" && who == visitor {
		if token, _ = cookie.Read(r); token == "" {
			return nil, nil
		}
	} else if !strings.EqualFold(scheme, "Bearer") {
		return nil, meet.SignIn()
	}
	return func() (string, error) {
		c, err := meet.ParseAccess(strings.TrimSpace(token))
		if err == nil {
			v.claim, _, err = a.Service.Recognize(r.Context(), c)
		}
		return v.claim.UserID, err
	}, nil
}

func (a *api) system() {
	route(a, anyone, Bound{}, openapi.HealthRoute(), unclaimed(a.about.Health))
	route(a, anyone, Bound{1, 1}, openapi.ReadyRoute(), unclaimed(a.about.IsReady))
	route(a, anyone, Bound{}, openapi.DocumentRoute(), unclaimed(a.about.Document))
}

// unclaimed makes an action of one that does not ask who calls.
func unclaimed[I, O any](act func(context.Context, *I) (*O, error)) func(context.Context, meet.Claim, *I) (*O, error) {
	return func(ctx context.Context, _ meet.Claim, in *I) (*O, error) { return act(ctx, in) }
}

// meanings says what each status that reports an error means here, with an example. Those that mean
// the same everywhere package openapi knows.
var meanings = map[int]openapi.Meaning{
	400: {Doc: "The query or the body cannot be read", Detail: "the body is not valid JSON"},
	401: {Doc: "The caller is not signed in: UNAUTHENTICATED, INVALID_TOKEN, INVALID_CREDENTIALS, REFRESH_REUSED", Detail: "the token is not valid, or not any more; sign in again"},
	403: {Doc: "The caller may not: NOT_YOURS, ROLE_REQUIRED, ACCOUNT_SUSPENDED, ACCOUNT_DELETED, INVITE_REQUIRED, INVALID_INVITE_CODE, ATTENDEES_ONLY, or a page of another site asks", Detail: "only its owner may change this"},
	404: {Doc: "There is no such thing, or the caller may not see it: USER_NOT_FOUND, IMAGE_NOT_FOUND, LIKE_NOT_FOUND, MATCH_NOT_FOUND, EVENT_NOT_FOUND, INVITE_NOT_FOUND, SECTION_NOT_FOUND, TOPIC_NOT_FOUND, REPLY_NOT_FOUND, CHAT_NOT_FOUND, MESSAGE_NOT_FOUND, REPORT_NOT_FOUND, ITEM_NOT_FOUND, POST_NOT_FOUND", Detail: "there is no such member"},
	409: {Doc: "It cannot be as things are: EMAIL_TAKEN, TOO_MANY_IMAGES, LIKE_MATCHED, EVENT_FULL, EVENT_STARTED, EVENT_NOT_STARTED, CAPACITY_TOO_SMALL, TOO_MANY_EVENTS, CODE_TAKEN, SECTION_TAKEN, SECTION_NOT_EMPTY, TOPIC_LOCKED, NOT_DELETED, TOO_MANY_ITEMS, TOO_MANY_TOPICS, TOO_MANY_MATCHES, CHAT_CLOSED, CHAT_FULL, EDIT_TOO_LATE", Detail: "an account has this e-mail address already; sign in, or give another address"},
	412: {Doc: "The thing was changed since the caller read it", Detail: "the profile was changed since you read it; read it again"},
	413: {Doc: "The body is too large", Detail: "the body is larger than 336 KiB"},
	429: {Doc: "The caller sends more than one caller may, or too much at once: RATE_LIMITED, TOO_MANY_AT_ONCE, TOO_MANY_ATTEMPTS, TOO_MANY_SIGN_UPS, LIKES_USED_UP, GENDER_TOO_OFTEN, POSITION_TOO_OFTEN, PREFERENCES_TOO_OFTEN", Detail: "you send more requests than this service takes from one caller; wait and send it again"},
	422: {Doc: "The request breaks rules, which are named: VALIDATION_ERROR, UNDERAGE, WEAK_PASSWORD, NOT_YOURSELF, NOT_AN_IMAGE, KEY_REUSED", Detail: "the request breaks the rules named here", Fields: []httpjson.Field{{Location: "body.name", Message: "give 1 to 50 characters", Code: "NAME_LENGTH"}}},
}
