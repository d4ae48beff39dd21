// Package gitdoor is the door for git: the library as repositories that are cloned and fetched, and
// never pushed to. A prompt is a repository whose commits are its versions. Commits follow from the
// rows of the prompt alone, so every instance gives them the same ids. The skills of an author, a
// workspace or a collection are a repository too, which is a marketplace of plugins: its commits
// are snapshots, which are recorded when a client asks and something has changed.
package gitdoor

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"prompthub/internal/fault"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/doors"
	"prompthub/internal/telemetry"
)

// Prefix is the path that all routes begin with.
const Prefix = "/git"

// Config is what the door needs. Every field is required but those that say what their zero means.
type Config struct {
	doors.Door
	Public    string // the URL of this service, which repositories have; "" for none
	Log       *slog.Logger
	Now       func() time.Time
	Telemetry *telemetry.Telemetry // nil collects nothing
}

type handler struct {
	Config
	mux      *http.ServeMux
	patterns []string // of the mux
	made     *lru.Cache[madeOf, made]
	plugins  *lru.Cache[listed, plugin]
	packs    *httpjson.Gate // that are made
	sends    *httpjson.Gate // of large ones
}

// New returns a handler for everything under Prefix.
func New(c Config) http.Handler {
	watch := httpjson.Observer{Log: c.Log, Now: c.Now, Telemetry: c.Telemetry, WriteProblem: refuse}
	d := build(c)
	return watch.Observe(httpjson.Secure(httpjson.Single(httpjson.JoinQuery(d.readOnly(httpjson.Routes(d.mux))))))
}

// Patterns returns the routes of the door, as a ServeMux knows them.
func Patterns() []string { return build(Config{}).patterns }

func build(c Config) *handler {
	kept, _ := lru.New[madeOf, made](keptMade) // whose size is above 0
	plugins, _ := lru.New[listed, plugin](keptPlugins)
	d := &handler{
		Config: c, mux: http.NewServeMux(), made: kept, plugins: plugins,
		packs: httpjson.NewGate(packsAtOnce, "clones and fetches"),
		sends: httpjson.NewGate(sentAtOnce, "large clones and fetches"),
	}
	for _, path := range []string{
		"/me", "/me.git", "/u/{handle}", "/w/{workspace}", "/c/{handle}/{collection}", "/me/{prompt}",
		"/u/{handle}/{prompt}", "/w/{workspace}/{prompt}",
	} {
		d.handle("GET "+Prefix+path+"/info/refs", d.advertise)
		d.handle("POST "+Prefix+path+"/"+uploadPack, d.fetch)
	}
	return d
}

func (d *handler) handle(pattern string, h func(http.ResponseWriter, *http.Request) error) {
	d.patterns = append(d.patterns, pattern)
	d.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		if err := h(w, r); err != nil {
			httpjson.Refuse(w, r, err)
		}
	})
}

// readOnly refuses pushes, to whatever repository.
func (d *handler) readOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/"+receivePack) {
			next.ServeHTTP(w, r)
			return
		}
		err := d.Admission.Open(w, r)
		httpjson.Refuse(w, r, cmp.Or(err, errReadOnly()))
	})
}

// refuse answers with a problem in words that git shows, with its code.
func refuse(w http.ResponseWriter, p *httpjson.Problem) {
	h := w.Header()
	if p.Status == http.StatusUnauthorized { // by which git asks for a password, and Bearer says nothing to it
		h.Set("WWW-Authenticate", `Basic realm="PromptHub"`)
	}
	h.Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(p.Status)
	_, _ = fmt.Fprintf(w, "%s (%s)\n", p.Detail, p.Code) // the client may have gone away
}

func errNoRepository() error { return fault.New(fault.NotFound, "there is no such repository") }

// errReadOnly refuses a push.
func errReadOnly() error {
	return fault.New(fault.Forbidden,
		"these repositories are read only: make a new version with prompthub push, or on the page of the prompt")
}
