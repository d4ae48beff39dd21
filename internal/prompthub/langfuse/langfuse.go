// Package langfuse is the door for programs that speak to Langfuse: its routes for prompts, as its
// SDKs use them, over the Service. A user is to them what a project is there, and his access token
// is the pair of keys: its id the public one, its secret the secret one. They see his own prompts,
// by name.
//
// What is wrong with a request is told in the shape of Langfuse, {message, error}, but for what is
// refused before anybody asks for a route, such as a query that cannot be decoded.
package langfuse

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"prompthub/internal/fault"
	"prompthub/internal/httpjson"
	"prompthub/internal/prompthub"
	"prompthub/internal/prompthub/door"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/telemetry"
)

// Prefix is the path that all routes begin with: what the SDKs are given as base URL.
const Prefix = "/lf"

const (
	prompts = Prefix + "/api/public/v2/prompts"
	old     = Prefix + "/api/public/prompts" // before there were labels
)

// Config is what the door needs. Every field is required but those that say what their zero means.
type Config struct {
	Service   *prompthub.Service
	Door      door.Door
	MaxText   int // UTF-16 code units of a text; zero means prompt.DefaultMaxText
	Origins   httpjson.Origins
	Log       *slog.Logger
	Now       func() time.Time
	Telemetry *telemetry.Telemetry // nil collects nothing
}

type server struct {
	Config
}

// New returns a handler for everything under Prefix. It takes paths as they are: a mux around it
// must not clean them.
func New(c Config) http.Handler {
	if c.MaxText == 0 {
		c.MaxText = prompt.DefaultMaxText
	}
	s := &server{c}
	h := httpjson.JoinQuery(httpjson.Whole(http.HandlerFunc(s.serve)))
	watch := httpjson.Observer{Log: c.Log, Now: c.Now, Telemetry: c.Telemetry}
	return watch.Observe(httpjson.Secure(httpjson.CORS(c.Origins, h)))
}

// A request is one that was let in.
type request struct {
	door.Caller
	name    string // the prompt of the path
	version string // of the path
	query   url.Values
	body    []byte
}

// An action answers with a status and a body; nil is none.
type action func(*server, context.Context, request) (status int, body any, err error)

// routes are the actions by pattern. Names stand in a path as one segment, with / as %2F.
var routes = map[string]action{
	"GET " + prompts:                                  (*server).list,
	"POST " + prompts:                                 (*server).create,
	"GET " + prompts + "/{name}":                      (*server).get,
	"DELETE " + prompts + "/{name}":                   (*server).delete,
	"PATCH " + prompts + "/{name}/versions/{version}": (*server).label,
	"GET " + old:                                      (*server).getOld,
}

// Patterns returns the routes as a ServeMux would know them.
func Patterns() []string {
	var all []string
	for pattern := range routes {
		all = append(all, pattern)
	}
	slices.Sort(all)
	return all
}

// find returns which path of routes a path is, and what stands in it. A name whose / were decoded
// on the way here is taken as it was meant.
func find(method, path string) (pattern, name, version string) {
	rest, below := strings.CutPrefix(path, prompts+"/")
	switch {
	case !below && (path == prompts || path == old):
		return path, "", ""
	case !below || rest == "":
		return "", "", ""
	}
	pattern = prompts + "/{name}"
	if method == http.MethodPatch {
		if i := strings.LastIndex(rest, "/versions/"); i >= 0 {
			rest, version, pattern = rest[:i], rest[i+len("/versions/"):], pattern+"/versions/{version}"
		}
	}
	name, err := url.PathUnescape(rest)
	if err != nil {
		return "", "", ""
	}
	return pattern, name, version
}

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	path, name, version := find(method, r.URL.EscapedPath())
	act, ok := routes[method+" "+path]
	if !ok {
		s.fail(w, r, missing(path))
		return
	}
	httpjson.SetRoute(r.Context(), method+" "+path)
	caller, err := s.Door.Admit(w, r, door.Need{Users: true, Write: httpjson.IsWrite(r), Scope: door.Scope(r)})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	req := request{Caller: caller, name: name, version: version, query: r.URL.Query()}
	if err := req.readable(); err != nil {
		s.fail(w, r, err)
		return
	}
	if method == http.MethodPost || method == http.MethodPatch {
		if req.body, err = s.Door.Admission.ReadBody(w, r, caller.Key, door.BodyLimit(s.MaxText)); err != nil {
			s.fail(w, r, err)
			return
		}
	}
	leave, err := s.Door.Admission.Enter(caller.Key)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	defer leave()
	status, body, err := act(s, r.Context(), req)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	write(w, status, body)
}

// readable reports an address whose name or query is no text.
func (r request) readable() error {
	if !utf8.ValidString(r.name) {
		return wrong("name", "Name must be valid UTF-8")
	}
	for name, values := range r.query {
		for _, value := range values {
			if !utf8.ValidString(value) {
				return wrong(strings.ToValidUTF8(name, "?"), "must be valid UTF-8")
			}
		}
	}
	return nil
}

// missing says that there is no such route, or none of this method.
func missing(path string) error {
	for pattern := range routes {
		if strings.HasSuffix(pattern, " "+path) {
			return errMethod
		}
	}
	return fault.New(fault.NotFound, "there is no such route: this service has prompts, and takes no traces, scores or datasets")
}
