// Package api is the door for JSON over HTTP: which routes there are, what they take and answer,
// and the OpenAPI document that says so. What they do is prompthub's.
//
// A request passes the handlers of package httpjson, then a route: the caller, the body as
// strict JSON, its check against the schema by huma, and an action, which decodes, calls the
// Service and encodes. Every answer that reports an error is an httpjson.Problem.
package api

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"prompthub/internal/http/auth"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/openapi"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/telemetry"
)

// Prefix is the path that all routes begin with.
const Prefix = "/api/v1"

const schemas = openapi.Schemas

// Config is what the API needs. Every field is required but those that say what their zero means.
type Config struct {
	Service  *library.Service
	Identify auth.Identify
	// that callers only claim to be who they are: access tokens made now count in development mode
	// only
	Claimed    bool
	PublicRead bool   // whether anonymous callers may read public prompts
	Public     string // the URL of this service; "" for the one that a request names
	MaxText    int    // what the document says of the length of a text; zero means prompt.DefaultMaxText
	Admission  *httpjson.Admission
	// of pages elsewhere that may use the API; none is right where there are none
	Origins   httpjson.Origins
	Log       *slog.Logger
	Now       func() time.Time
	Telemetry *telemetry.Telemetry // nil collects nothing
	Version   string               // of the binary
}

type api struct {
	Config
	huma     huma.API
	document openapi.Document
	about    openapi.System
}

// New returns a handler for everything under Prefix. It takes paths as they are: a mux
// around it must not clean them.
func New(c Config) http.Handler {
	_, h := build(c)
	return h
}

func build(c Config) (*api, http.Handler) {
	if c.MaxText == 0 {
		c.MaxText = prompt.DefaultMaxText
	}
	a := &api{Config: c}
	a.about = openapi.System{Version: c.Version, Ready: openapi.Readiness{Ask: c.Service.Ready, Now: c.Now}}
	mux := http.NewServeMux()
	a.huma = humago.NewWithPrefix(mux, Prefix, a.settings())
	a.document = openapi.Document{
		API: a.huma, Problem: httpjson.Problem{}, Meanings: meanings, ETag: `"3-12-2-l"`, Rare: rare,
		Optional: []string{"Link", lossHeader}, // the last page, and all is held
		Examples: map[string]any{fileType: "A text with {{name}}.", zipType: "PK\u0003\u0004…"},
	}
	a.prompts()
	a.rendering()
	a.exports()
	a.byName()
	a.versions()
	a.files()
	a.labels()
	a.forks()
	a.votes()
	a.favorites()
	a.ranks()
	a.suggestions()
	a.mine()
	a.tokens()
	a.workspaces()
	a.proposals()
	a.invites()
	a.collections()
	a.users()
	a.account()
	a.transfers()
	a.moderation()
	a.tags()
	a.system()
	a.docs()
	a.describe()
	h := httpjson.Single(httpjson.JoinQuery(httpjson.ETags(httpjson.Routes(mux))))
	watch := httpjson.Observer{Log: c.Log, Now: c.Now, Telemetry: c.Telemetry}
	return a, watch.Observe(httpjson.Secure(httpjson.CORS(c.Origins, h)))
}

// subjects are what operations are about, in the order in which the document is read.
var subjects = [][2]string{
	{"prompts", "What the library holds"},
	{"versions", "What a prompt held, and labels for that"},
	{"files", "The files of a version, which is a skill with them"},
	{"forks", "Copies that know where they come from"},
	{"votes", "What people think of prompts"},
	{"tags", "The catalog"},
	{"collections", "Lists of skills that owners have chosen"},
	{"users", "Authors, as everyone may see them"},
	{"me", "The caller, and all that belongs to them"},
	{"tokens", "Access for programs"},
	{"workspaces", "Owners of prompts that several people share"},
	{"invitations", "Links by which people become members, or get an account"},
	{"moderation", "What admins do"},
	{"system", "Whether the service is up, and this document"},
}

func (a *api) settings() huma.Config {
	c := openapi.Config("PromptHub", a.Version)
	c.Info.Description = "The prompt library of a team: store prompts, keep them private or share them, find them by title and tag, and vote on them. " +
		"Lengths count UTF-16 code units. Every error is a problem document. HEAD answers as GET does, without a body. " +
		"A caller that sends too much is answered 429; the RateLimit fields, if a limit is set, are those of draft-ietf-httpapi-ratelimit-headers-06."
	for _, t := range subjects {
		c.Tags = append(c.Tags, &huma.Tag{Name: t[0], Description: t[1]})
	}
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		bearer: {
			Type: "http", Scheme: "bearer", BearerFormat: "JWT",
			Description: "A token of the identity provider, or an access token, which begins with ph_.",
		},
		basic: {
			Type: "http", Scheme: "basic",
			Description: "An access token: its id as the name, and the token, or the part after its second _, as the password.",
		},
		apiKey: {Type: "apiKey", In: "header", Name: auth.APIKeyHeader, Description: "An access token."},
		dev:    {Type: "apiKey", In: "header", Name: auth.DevUserHeader, Description: "In development mode: any name."},
		roles: {
			Type: "apiKey", In: "header", Name: auth.DevRolesHeader,
			Description: "In development mode, together with a name: roles, such as admin. Groups of the directory go in " + auth.DevGroupsHeader + ".",
		},
	}
	return c
}
