// Package langfuse is the door for programs that speak to Langfuse: its routes for prompts and
// skills, as its SDKs use them, over the Service. A user takes the part of a project there, and an
// access token is the pair of keys: its id the public one, its secret the secret one. They see the
// user's own prompts, by name.
//
// Errors have the shape of Langfuse, {message, error}.
package langfuse

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	lru "github.com/hashicorp/golang-lru/v2"

	"prompthub/internal/fault"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/doors"
	"prompthub/internal/prompthub/library"
)

// Prefix is the path that all routes begin with: what the SDKs are given as base URL.
const Prefix = "/lf"

const (
	prompts  = Prefix + "/api/public/v2/prompts"
	old      = Prefix + "/api/public/prompts" // before there were labels
	projects = Prefix + "/api/public/projects"
	skills   = Prefix + "/api/public/unstable/skills"
	contents = skills + "/files/content"
)

type server struct {
	doors.Foreign
	seen *lru.Cache[seenKey, library.Numbered] // versions with the files that were named last
}

// New returns a handler for everything under Prefix. It takes paths as they are: a mux around it
// must not clean them.
func New(f doors.Foreign) http.Handler {
	seen, _ := lru.New[seenKey, library.Numbered](maxSeen) // whose size is above 0
	s := &server{f, seen}
	return f.Handler(fail, http.HandlerFunc(s.serve))
}

// A request is one that was let in.
type request struct {
	doors.Caller
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
	"GET " + projects:                                 (*server).project,
	"GET " + skills:                                   (*server).listSkills,
	"POST " + skills:                                  (*server).createSkill,
	"GET " + skills + "/{name}":                       (*server).getSkill,
	"PATCH " + skills + "/{name}":                     (*server).tagSkill,
	"PATCH " + skills + "/{name}/versions/{version}":  (*server).labelSkill,
	"DELETE " + skills + "/{name}/versions/{version}": (*server).deleteSkill,
	"GET " + contents:                                 (*server).getContents,
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

// find returns the route of a path, and the values in it. A name whose / were decoded on the way
// here is taken as it was meant.
func find(method, path string) (pattern, name, version string) {
	rest, below := strings.CutPrefix(path, prompts+"/")
	switch {
	case !below && (path == prompts || path == old || path == projects || path == skills || path == contents):
		return path, "", ""
	case strings.HasPrefix(path, skills+"/"):
		return findSkill(strings.TrimPrefix(path, skills+"/"))
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

// findSkill is find below the path of skills. Their names have no slash.
func findSkill(rest string) (pattern, name, version string) {
	name, version, numbered := strings.Cut(rest, "/versions/")
	pattern = skills + "/{name}"
	if numbered {
		pattern += "/versions/{version}"
	}
	name, err := url.PathUnescape(name)
	if err != nil || name == "" || numbered && version == "" || strings.Contains(version, "/") {
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
		httpjson.Refuse(w, r, missing(r.Context(), path))
		return
	}
	httpjson.SetRoute(r.Context(), method+" "+path)
	limit := doors.BodyLimit(s.MaxText)
	if method == http.MethodPost && path == skills {
		limit = doors.MaxFilesBody
	}
	s.Take(w, r, limit, func(c doors.Caller, body []byte) error {
		req := request{c, name, version, r.URL.Query(), body}
		if err := req.readable(); err != nil {
			return err
		}
		status, answer, err := act(s, r.Context(), req)
		if err != nil {
			return err
		}
		if p, ok := answer.(wirePrompt); ok && p.loss != "" {
			w.Header().Set("X-PromptHub-Loss", p.loss)
		}
		if path == contents {
			w.Header().Set("Cache-Control", "no-store")
		}
		write(w, status, c.MayKnow(answer))
		return nil
	})
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
func missing(ctx context.Context, path string) error {
	var methods []string
	for _, pattern := range Patterns() {
		if method, of, _ := strings.Cut(pattern, " "); of == path {
			methods = append(methods, method)
		}
	}
	if methods == nil {
		return fault.Coded(fault.NotFound, httpjson.NoSuchRoute,
			"there is no such route: this service has prompts and skills, and takes no traces, scores or datasets")
	}
	p := httpjson.NewProblem(ctx, http.StatusMethodNotAllowed, "there is no such route for this method")
	p.SetHeader("Allow", strings.Join(methods, ", "))
	return p
}
