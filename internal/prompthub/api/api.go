// Package api is the door for JSON over HTTP: which routes there are, what they take and answer,
// and the OpenAPI document that says so. What they do is prompthub's.
//
// A request passes the handlers of package httpjson, then a route: who is calling, the body as strict
// JSON, its check against the schema by huma, and an action, which decodes, calls the Service and
// encodes. Every answer that reports an error is an httpjson.Problem.
package api

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"prompthub/internal/auth"
	"prompthub/internal/httpjson"
	"prompthub/internal/prompthub"
	"prompthub/internal/prompthub/prompt"
)

// Prefix is the path that all routes begin with.
const Prefix = "/api/v1"

const schemas = "#/components/schemas/"

// Config is what the API needs. Every field is required but those that say otherwise.
type Config struct {
	Service    *prompthub.Service
	Identify   auth.Identify
	PublicRead bool // whether nobody in particular may read public prompts
	MaxText    int  // what the document says of the length of a text; zero means prompt.DefaultMaxText
	Log        *slog.Logger
	Now        func() time.Time
	Version    string // of the binary
}

type api struct {
	Config
	huma     huma.API
	ready    readiness
	document []byte // the OpenAPI document
}

// strict makes huma tell "Title" from "title", as the decoder does. It is a setting of the whole
// process, so it is made once.
var strict = sync.OnceFunc(func() { huma.ValidateStrictCasing = true })

// New returns a handler for everything under Prefix. It takes paths as they are: a mux
// around it must not clean them.
func New(c Config) http.Handler {
	strict()
	if c.MaxText == 0 {
		c.MaxText = prompt.DefaultMaxText
	}
	a := &api{Config: c}
	a.ready = readiness{ask: c.Service.Ready, now: c.Now}
	mux := http.NewServeMux()
	a.huma = humago.NewWithPrefix(mux, Prefix, a.settings())
	a.prompts()
	a.votes()
	a.mine()
	a.moderation()
	a.tags()
	a.system()
	a.describe()
	h := httpjson.ETags(httpjson.Routes(mux))
	return httpjson.Observe(c.Log, c.Now, httpjson.Secure(httpjson.JoinQuery(h)))
}

func (a *api) settings() huma.Config {
	c := huma.DefaultConfig("PromptHub", a.Version)
	c.Info.Description = "The prompt library of a team: store prompts, keep them private or share them, find them by title and tag, and vote on them. " +
		"Lengths count UTF-16 code units. Every error is a problem document."
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = "", "", "" // served by routes of ours
	c.CreateHooks = nil                                   // no links to schemas in answers
	c.Transformers = []huma.Transformer{problems}
	format := huma.Format{Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: unmarshal}
	c.Formats = map[string]huma.Format{"application/json": format, "json": format}
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		bearer: {Type: "http", Scheme: "bearer", BearerFormat: "JWT", Description: "A token of the identity provider."},
		dev:    {Type: "apiKey", In: "header", Name: auth.DevUserHeader, Description: "In development mode: any name. " + auth.DevRolesHeader + " adds roles."},
	}
	return c
}

// describe completes the document with what huma would check by other rules than ours, and renders it.
func (a *api) describe() {
	doc := a.huma.OpenAPI()
	for _, name := range []string{"NewPrompt", "PromptDraft", "PromptPatch"} {
		properties := doc.Components.Schemas.Map()[name].Properties
		limit(properties["title"], "maxLength", maxTitle)
		limit(properties["text"], "maxLength", a.MaxText)
		limit(properties["tags"], "maxItems", maxTags)
	}
	delete(doc.Components.Schemas.Map(), "ErrorModel") // huma's own, which no answer has
	delete(doc.Components.Schemas.Map(), "ErrorDetail")
	doc.Components.Schemas.Map()["Problem"].Properties["current"] = &huma.Schema{
		Ref: schemas + "Prompt", Description: "With the status 412: the prompt as it is now",
	}
	var err error
	if a.document, err = json.MarshalIndent(doc, "", "  "); err != nil {
		panic(fmt.Errorf("render the OpenAPI document: %w", err)) // unreachable: the routes are the same in every process
	}
}

// limit documents a limit that only the domain enforces: it counts UTF-16 code units, after
// trimming, where huma would count code points before.
func limit(s *huma.Schema, keyword string, n int) {
	s.Extensions = map[string]any{keyword: n}
}
