// Package langsmith is the door for programs that keep prompts in the hub of LangSmith: its routes
// for prompts and skills, as the clients of LangSmith and LangChain use them, over the Service. A
// prompt is a repository there, a version a commit, a label a tag of a commit, and a vote a like.
//
// A manifest is what LangChain makes of a prompt. It is made from the prompt, unless the pushed one
// says more than a prompt can: then it is kept next to it, and counts while the content does.
//
// An error is told as everywhere here: the sentence is in detail, where
// LangSmith has it.
package langsmith

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"

	"prompthub/internal/fault"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/doors"
)

// Prefix is the path that all routes begin with: the endpoint of clients.
const Prefix = "/ls"

// directories is where the files of a skill are.
const directories = "/v1/platform/hub/repos/{owner}/{repo}/directories"

type server struct {
	doors.Foreign
	mux      *http.ServeMux
	patterns []string // of the mux
}

// New returns a handler for everything under Prefix.
func New(f doors.Foreign) http.Handler {
	return f.Handler(httpjson.WriteProblem, withoutSlash(httpjson.Routes(build(f).mux)))
}

// withoutSlash takes a slash from the end of a path, where it means nothing: LangSmith has it in
// some routes, the client of JavaScript sends it there, and that of Python drops it.
func withoutSlash(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.EscapedPath(), "/") {
			u := *r.URL
			u.Path, u.RawPath = strings.TrimSuffix(u.Path, "/"), strings.TrimSuffix(u.RawPath, "/")
			r = r.WithContext(r.Context()) // a copy: the caller's request stays as it is
			r.URL = &u
		}
		next.ServeHTTP(w, r)
	})
}

// Patterns returns the routes as a ServeMux knows them.
func Patterns() []string { return build(doors.Foreign{}).patterns }

func build(f doors.Foreign) *server {
	s := &server{Foreign: f, mux: http.NewServeMux()}
	s.handle("GET /info", s.info)
	s.handle("GET /settings", s.settings)
	s.handle("GET /repos", s.listRepos)
	s.handle("POST /repos", s.createRepo)
	s.handle("GET /repos/{owner}/{repo}", s.getRepo)
	s.handle("PATCH /repos/{owner}/{repo}", s.updateRepo)
	s.handle("DELETE /repos/{owner}/{repo}", s.deleteRepo)
	s.handle("POST /repos/{owner}/{repo}/tags", s.tag)
	s.handle("GET /commits/{owner}/{repo}", s.listCommits)
	s.handle("POST /commits/{owner}/{repo}", s.commit)
	s.handle("GET /commits/{owner}/{repo}/{commit}", s.pull)
	s.handle("POST /likes/{owner}/{repo}", s.like)
	s.handle("GET "+directories, s.pullDirectory)
	s.handle("DELETE "+directories, s.deleteDirectory)
	s.handle("POST "+directories+"/commits", s.commitDirectory)
	return s
}

// A request is one that was let in.
type request struct {
	doors.Caller
	owner, repo, commit string
	query               url.Values
	body                []byte
}

// handle registers an action, which answers with a body; nil is none.
func (s *server) handle(pattern string, act func(context.Context, request) (any, error)) {
	method, path, _ := strings.Cut(pattern, " ")
	pattern = method + " " + Prefix + path
	s.patterns = append(s.patterns, pattern)
	limit := doors.BodyLimit(s.MaxText)
	if path == directories+"/commits" {
		limit = doors.MaxFilesBody
	}
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		s.Take(w, r, limit, func(c doors.Caller, body []byte) error {
			answer, err := act(r.Context(),
				request{c, r.PathValue("owner"), r.PathValue("repo"), r.PathValue("commit"), r.URL.Query(), body})
			if err == nil {
				write(w, c.MayKnow(answer))
			}
			return err
		})
	})
}

// decode reads a body. What it says in addition to the members of v is not looked at.
func (r request) decode(v any) error {
	if err := json.Unmarshal(r.body, v); err != nil {
		return fault.Wrap(fault.Malformed, "the body is no JSON of the form that this route takes", err)
	}
	return nil
}

// write answers with JSON, or with nothing.
func write(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	if body == nil {
		body = struct{}{}
	}
	b, err := json.Marshal(body)
	if err != nil {
		panic(err) // of texts, numbers and JSON that was checked
	}
	_, _ = w.Write(b) // the client has gone away
}
