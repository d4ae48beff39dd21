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

	"prompthub/apps/harmony/internal/blog"
	"prompthub/apps/harmony/internal/chats"
	"prompthub/apps/harmony/internal/cookie"
	"prompthub/apps/harmony/internal/events"
	"prompthub/apps/harmony/internal/forum"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/reports"
	"prompthub/apps/harmony/internal/shop"
	"prompthub/internal/http/auth/session"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/openapi"
	"prompthub/internal/storage/blob/picture"
	"prompthub/internal/telemetry"
)

// Prefix is the path that all routes begin with.
const Prefix = openapi.Prefix

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
	service openapi.Service[visit]
}

// A Bound is that of a route, by its steps and its calls.
type Bound openapi.Bound

// New returns a handler for everything under Prefix.
func New(c Config) http.Handler {
	a, mux := build(c)
	return a.service.Handler(httpjson.Routes(mux))
}

// Bounds returns the bounds of all routes by their operation ids.
func Bounds() map[string]openapi.Bound {
	a, _ := build(Config{Service: &meet.Service{}})
	return a.service.Bounds()
}

func build(c Config) (*api, *http.ServeMux) {
	a := &api{Config: c}
	a.service = openapi.Service[visit]{
		Admission: c.Admission, Origins: c.Origins, Log: c.Log, Now: c.Now, Telemetry: c.Telemetry,
		Version: c.Version, Ready: c.Service.Ready,
		Document: openapi.Document{
			Problem: httpjson.Problem{}, Meanings: meanings,
			ETag: `"6b3e1f0a9c24d785"`, Examples: map[string]any{},
		},
		Scheme: bearerScheme, MaxBody: maxBody, MaxFile: picture.MaxBytes,
		Identify: a.identify, LogKey: session.LogKey,
		Secret: func(method, path string) bool {
			return method == http.MethodPost && strings.HasPrefix(path, "/auth/")
		},
	}
	for _, t := range imageTypes {
		a.service.Document.Examples[t] = "the bytes of a file"
	}
	a.service.Document.Examples[calendarType] = "BEGIN:VCALENDAR\r\n"
	mux := http.NewServeMux()
	a.service.Begin(mux, a.settings())
	a.account()
	a.people()
	a.ownData()
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
	a.service.Finish()
	return a, mux
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

// The kinds of access to a route. The browser of a visitor may send its cookie instead of a token.
const (
	anyone  = openapi.Anyone
	visitor = openapi.Visitor
	member  = openapi.SignedIn
)

// none is the input of a route that takes nothing.
type none = struct{}

// route registers an action. op.Errors names the statuses of its errors beyond those of every
// route.
func route[I, O any](a *api, who openapi.Access, bound Bound, op huma.Operation,
	act func(context.Context, meet.Claim, *I) (*O, error),
) {
	openapi.Route(&a.service, who, openapi.Bound(bound), op, func(ctx context.Context, v visit, in *I) (*O, error) {
		return act(ctx, v.claim, in)
	})
}

// A visit is a request with what it says about its caller.
type visit struct {
	claim         meet.Claim
	site, network string // where it comes from
	origin        string // of this service, as the caller knows it
}

// from names the caller of a request, whose guesses at secrets are counted: the member, or the
// address of a guest.
func from(ctx context.Context) string {
	v := openapi.CallOf[visit](ctx)
	return cmp.Or(v.claim.UserID, v.site)
}

// asker is who asks to be signed in, by what they send of their device.
func asker(ctx context.Context, device, agent string) meet.Asker {
	v := openapi.CallOf[visit](ctx)
	return meet.Asker{Device: device, Agent: session.Device(agent), Site: v.site, Network: v.network}
}

// identify returns a request and the search for the session that it names, nil for a guest.
func (a *api) identify(r *http.Request, who openapi.Access) (v *visit, find func() (string, error), err error) {
	v = &visit{origin: httpjson.Origin(r, "")}
	v.site, v.network = httpjson.AddressClass(r)
	if who == anyone {
		return v, nil, nil
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if scheme == "" && who == visitor {
		if token, _ = cookie.Read(r); token == "" {
			return v, nil, nil
		}
	} else if !strings.EqualFold(scheme, "Bearer") {
		return v, nil, session.SignIn()
	}
	return v, func() (string, error) {
		c, err := meet.ParseAccess(strings.TrimSpace(token))
		if err == nil {
			v.claim, _, err = a.Service.Recognize(r.Context(), c)
		}
		return v.claim.UserID, err
	}, nil
}

// meanings says what each status that reports an error means here, with an example. Those that mean
// the same everywhere package openapi knows.
var meanings = map[int]openapi.Meaning{
	400: {Doc: "The query or the body cannot be read", Detail: "the body is not valid JSON"},
	401: {
		Doc:    "The caller is not signed in: UNAUTHENTICATED, INVALID_TOKEN, INVALID_CREDENTIALS, REFRESH_REUSED",
		Detail: "the token is not valid, or not any more; sign in again",
	},
	403: {Doc: "The caller may not: NOT_YOURS, ROLE_REQUIRED, ACCOUNT_SUSPENDED, ACCOUNT_DELETED, INVITE_REQUIRED, INVALID_INVITE_CODE, ATTENDEES_ONLY, or a page of another site asks", Detail: "only its owner may change this"},
	404: {Doc: "There is no such thing, or the caller may not see it: USER_NOT_FOUND, IMAGE_NOT_FOUND, LIKE_NOT_FOUND, MATCH_NOT_FOUND, EVENT_NOT_FOUND, INVITE_NOT_FOUND, SECTION_NOT_FOUND, TOPIC_NOT_FOUND, REPLY_NOT_FOUND, CHAT_NOT_FOUND, MESSAGE_NOT_FOUND, REPORT_NOT_FOUND, ITEM_NOT_FOUND, POST_NOT_FOUND", Detail: "there is no such member"},
	409: {Doc: "It cannot be as things are: EMAIL_TAKEN, TOO_MANY_IMAGES, LIKE_MATCHED, EVENT_FULL, EVENT_STARTED, EVENT_NOT_STARTED, EVENT_CANCELLED, CAPACITY_TOO_SMALL, TOO_MANY_EVENTS, CODE_TAKEN, SECTION_TAKEN, SECTION_NOT_EMPTY, TOPIC_LOCKED, NOT_DELETED, TOO_MANY_ITEMS, TOO_MANY_TOPICS, TOO_MANY_MATCHES, CHAT_CLOSED, CHAT_FULL, EDIT_TOO_LATE, NOT_A_TEXT, MAIL_OFF", Detail: "an account has this e-mail address already; sign in, or give another address"},
	412: {
		Doc:    "The thing was changed since the caller read it",
		Detail: "the profile was changed since you read it; read it again",
	},
	413: {Doc: "The body is too large", Detail: "the body is larger than 336 KiB"},
	429: {Doc: "The caller sends more than one caller may, or too much at once: RATE_LIMITED, TOO_MANY_AT_ONCE, TOO_MANY_ATTEMPTS, TOO_MANY_SIGN_UPS, TOO_MANY_MAILS, DATA_TOO_OFTEN, LIKES_USED_UP, PICTURES_USED_UP, GENDER_TOO_OFTEN, POSITION_TOO_OFTEN, PREFERENCES_TOO_OFTEN", Detail: "you send more requests than this service takes from one caller; wait and send it again"},
	422: {Doc: "The request breaks rules, which are named: VALIDATION_ERROR, UNDERAGE, WEAK_PASSWORD, NOT_YOURSELF, NOT_AN_IMAGE, KEY_REUSED", Detail: "the request breaks the rules named here", Fields: []httpjson.Field{{Location: "body.name", Message: "give 1 to 50 characters", Code: "NAME_LENGTH"}}},
}
