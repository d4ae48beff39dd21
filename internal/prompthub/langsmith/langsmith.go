// Package langsmith is the door for programs that keep prompts in the hub of LangSmith: its routes
// for prompts, as the clients of LangSmith and LangChain use them, over the Service. A prompt is a
// repository there, a version a commit, a label a tag of a commit, and a vote a like.
//
// A manifest is what LangChain makes of a prompt. It is made from the prompt, unless what was
// pushed says more than a prompt can: then it is kept beside it, and counts while the content does.
package langsmith

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"prompthub/internal/fault"
	"prompthub/internal/httpjson"
	"prompthub/internal/prompthub"
	"prompthub/internal/prompthub/door"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/telemetry"
)

// Prefix is the path that all routes begin with: what clients are given as their endpoint.
const Prefix = "/ls"

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
	mux      *http.ServeMux
	patterns []string // of the mux
}

// New returns a handler for everything under Prefix.
func New(c Config) http.Handler {
	h := httpjson.JoinQuery(httpjson.Whole(httpjson.Routes(build(c).mux)))
	watch := httpjson.Observer{Log: c.Log, Now: c.Now, Telemetry: c.Telemetry}
	return watch.Observe(httpjson.Secure(httpjson.CORS(c.Origins, h)))
}

// Patterns returns the routes as a ServeMux knows them.
func Patterns() []string { return build(Config{}).patterns }

func build(c Config) *server {
	if c.MaxText == 0 {
		c.MaxText = prompt.DefaultMaxText
	}
	s := &server{Config: c, mux: http.NewServeMux()}
	s.handle("GET /settings", s.settings)
	s.handle("GET /repos", s.listRepos)
	s.handle("POST /repos/{$}", s.createRepo)
	s.handle("GET /repos/{owner}/{repo}", s.getRepo)
	s.handle("PATCH /repos/{owner}/{repo}", s.updateRepo)
	s.handle("DELETE /repos/{owner}/{repo}", s.deleteRepo)
	s.handle("POST /repos/{owner}/{repo}/tags", s.tag)
	s.handle("GET /commits/{owner}/{repo}/{$}", s.listCommits)
	s.handle("POST /commits/{owner}/{repo}", s.commit)
	s.handle("GET /commits/{owner}/{repo}/{commit}", s.pull)
	s.handle("POST /likes/{owner}/{repo}", s.like)
	return s
}

// A request is one that was let in.
type request struct {
	door.Caller
	owner, repo, commit string
	query               url.Values
	body                []byte
}

// handle registers an action, which answers with a body; nil is none.
func (s *server) handle(pattern string, act func(context.Context, request) (any, error)) {
	method, path, _ := strings.Cut(pattern, " ")
	pattern = method + " " + Prefix + path
	s.patterns = append(s.patterns, pattern)
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		body, err := s.serve(w, r, act)
		if err != nil {
			httpjson.Refuse(w, r, err)
			return
		}
		write(w, body)
	})
}

func (s *server) serve(w http.ResponseWriter, r *http.Request, act func(context.Context, request) (any, error)) (any, error) {
	caller, err := s.Door.Admit(w, r, door.Need{Users: true, Write: httpjson.IsWrite(r), Scope: door.Scope(r)})
	if err != nil {
		return nil, err
	}
	req := request{Caller: caller, owner: r.PathValue("owner"), repo: r.PathValue("repo"), commit: r.PathValue("commit"), query: r.URL.Query()}
	if r.Method == http.MethodPost || r.Method == http.MethodPatch {
		if req.body, err = s.Door.Admission.ReadBody(w, r, caller.Key, door.BodyLimit(s.MaxText)); err != nil {
			return nil, err
		}
	}
	leave, err := s.Door.Admission.Enter(caller.Key)
	if err != nil {
		return nil, err
	}
	defer leave()
	return act(r.Context(), req)
}

// decode reads a body. What it says beside the members of v is not looked at.
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
	_, _ = w.Write(b) //nolint:gosec // JSON, as its type says; who does not listen any more cannot be told
}
