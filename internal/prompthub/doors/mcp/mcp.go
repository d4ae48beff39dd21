// Package mcp is the door for assistants: prompts, tools and skills over the Model Context
// Protocol, and prompts as Agent Skills at well-known addresses. What they do is prompthub's; how a
// skill looks is package skill's.
//
// There are no sessions. Each POST says who is calling and is answered by itself, whatever instance
// it reaches, so one endpoint serves the protocol of 2026-07-28 and the versions before it.
package mcp

import (
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/doors"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/telemetry"
)

// Prefix is the path of the endpoint for assistants.
const Prefix = "/mcp"

// Config is what the door needs. Every field is required but those that say what their zero means.
type Config struct {
	doors.Door
	MaxText int      // of a text; zero means prompt.DefaultMaxText
	Issuers []string // the signers of the tokens that count here
	Scopes  []string // the scopes that clients ask an issuer for
	Public  string   // the URL of this service; "" for the one that a request names
	// of pages elsewhere that may use the endpoint; none is right where there are none
	Origins   httpjson.Origins
	Log       *slog.Logger
	Now       func() time.Time
	Telemetry *telemetry.Telemetry // nil collects nothing
	Version   string               // of the binary
}

type handler struct {
	Config
	protocol http.Handler
	mux      *http.ServeMux
	patterns []string // of the mux
}

// New returns a handler for everything that Serves says.
func New(c Config) http.Handler {
	d := build(c)
	watch := httpjson.Observer{Log: c.Log, Now: c.Now, Telemetry: c.Telemetry}
	return watch.Observe(httpjson.Secure(
		httpjson.CORS(c.Origins, httpjson.Single(httpjson.ETags(httpjson.Routes(d.mux))))))
}

// Patterns returns the routes of the door, as a ServeMux knows them.
func Patterns() []string { return build(Config{}).patterns }

// Mount returns a handler that hands requests for assistants to door, and all others to next.
func Mount(next, door http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if serves(r.URL.Path) {
			door.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// serves reports whether a path belongs to the door.
func serves(path string) bool {
	return path == Prefix || strings.HasPrefix(path, Prefix+"/") || strings.HasPrefix(path, wellKnown) ||
		(strings.HasPrefix(path, "/u/") || strings.HasPrefix(path, "/t/") || strings.HasPrefix(path, "/c/")) &&
			strings.Contains(path, wellKnown)
}

func build(c Config) *handler {
	if c.MaxText == 0 {
		c.MaxText = prompt.DefaultMaxText
	}
	d := &handler{Config: c, mux: http.NewServeMux()}
	server := sync.OnceValue(d.server) // schemas of its tools take as long as all other routes
	d.protocol = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server {
		return server()
	}, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, PropagateRequestCancellation: true,
		MaxRequestBodyBytes: doors.BodyLimit(d.MaxText),
		// under the Functions host every request comes from this machine; auth.Dev has its own
		DisableLocalhostProtection: true,
	})
	for _, set := range []string{"", "/t/{tag}", "/u/{handle}", "/c/{handle}/{collection}"} {
		d.handle("POST "+Prefix+set, d.serve)
		d.handle("GET "+set+agentSkills+"/index.json", d.index)
		d.handle("GET "+set+agentSkills+"/{skill}/"+prompt.SkillFile, d.file)
		d.handle("GET "+set+agentSkills+"/{skill}/"+archiveName, d.file)
	}
	d.handle("POST "+Prefix+"/w/{workspace}", d.serve)
	for _, path := range []string{"", Prefix, Prefix + "/{rest...}"} {
		d.handle("GET "+resourceMetadata+path, d.metadata)
	}
	return d
}

func (d *handler) handle(pattern string, h func(http.ResponseWriter, *http.Request) error) {
	d.patterns = append(d.patterns, pattern)
	d.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			d.refuse(w, r, err)
		}
	})
}

// How long clients may keep what is not asked for with every call.
const (
	keepLists  = time.Minute
	keepStatic = 5 * time.Minute // derived from the version of the program
)

const instructions = "A library of prompts. Your own prompts are listed; search_prompts finds them, those of your workspaces and public ones, get_prompt reads one, and render_prompt fills one in. " +
	"save_prompt keeps a new prompt that only its author sees."

// server returns the one server of all callers. The caller is in the context of each request.
func (d *handler) server() *sdk.Server {
	capabilities := &sdk.ServerCapabilities{
		Prompts: &sdk.PromptCapabilities{}, Tools: &sdk.ToolCapabilities{}, Resources: &sdk.ResourceCapabilities{},
	}
	capabilities.AddExtension(skillsExtension, map[string]any{"directoryRead": true})
	s := sdk.NewServer(&sdk.Implementation{Name: "prompthub", Title: "PromptHub", Version: d.Version},
		&sdk.ServerOptions{
			Instructions: instructions, Capabilities: capabilities, CompletionHandler: d.complete, SetCacheable: keep,
		})
	s.AddPrompt(&sdk.Prompt{Name: found}, d.renderFound)
	d.tools(s)
	d.skills(s)
	s.AddReceivingMiddleware(d.receive)
	return s
}
