// Package marketplace is the door for programs that install plugins: catalogues of skills in the
// form of Claude Code's marketplaces, and the packages that they name. A package is a plugin of
// Agent Plugins, https://agent-plugins.org, as a ZIP archive that is made of a version alone; the
// catalogue has its SHA-256, so that an installer gets what the catalogue says, or nothing.
package marketplace

import (
	"log/slog"
	"net/http"
	"time"

	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/doors"
	"prompthub/internal/telemetry"
)

// Prefix is the path that all routes begin with.
const Prefix = "/marketplace"

// Config is what the door needs. Every field is required but those that say what their zero means.
type Config struct {
	doors.Door
	Claimed   bool   // whether users only claim to be who they are, as in library.TokenDraft
	Public    string // the URL of this service; "" for the one that a request names
	Log       *slog.Logger
	Now       func() time.Time
	Telemetry *telemetry.Telemetry // nil collects nothing
}

type handler struct {
	Config
	mux      *http.ServeMux
	patterns []string // of the mux
}

// New returns a handler for everything under Prefix.
func New(c Config) http.Handler {
	watch := httpjson.Observer{Log: c.Log, Now: c.Now, Telemetry: c.Telemetry}
	return watch.Observe(
		httpjson.Secure(httpjson.Single(httpjson.JoinQuery(httpjson.ETags(httpjson.Routes(build(c).mux))))),
	)
}

// Patterns returns the routes of the door, as a ServeMux knows them.
func Patterns() []string { return build(Config{}).patterns }

func build(c Config) *handler {
	d := &handler{Config: c, mux: http.NewServeMux()}
	for _, list := range []string{"/me", "/u/{handle}", "/w/{workspace}"} {
		d.handle("GET "+Prefix+list+"/"+catalogueName, d.catalogue)
		d.handle("GET "+Prefix+list+"/"+libraryFile, d.library)
	}
	d.handle("GET "+Prefix+packages+"{id}/{version}/{package}", d.pack)
	return d
}

func (d *handler) handle(pattern string, h func(http.ResponseWriter, *http.Request) error) {
	d.patterns = append(d.patterns, pattern)
	d.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			httpjson.Refuse(w, r, err)
		}
	})
}
