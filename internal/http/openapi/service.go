package openapi

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"prompthub/internal/http/httpjson"
	"prompthub/internal/telemetry"
)

// Prefix is the path that all routes begin with.
const Prefix = "/api/v1"

// An Access is the identity that a route asks for.
type Access int

// The kinds of Access.
const (
	Anyone   Access = iota
	Visitor         // anyone, but a caller who is signed in sees more
	SignedIn        // a caller who is signed in
)

// A Bound is what a route may cost.
type Bound struct {
	Steps int // calls of the storage of which each waits for the one before, after the session
	Calls int // all calls, those after the answer too; of a list those of a page of 20
}

// Waits is the metadata of an operation that answers after something has happened: it takes no
// place at work, and its answers have no ETag.
const Waits = "waits"

// Once is the metadata of an operation that makes another thing each time, such as a token that is
// told once. A host may send it again, over a handler that was killed: then it is not run, and its
// caller must look. An operation without it does nothing twice.
const Once = "once"

// A Service is the JSON API of an application. Its actions take a C: a request with what it says
// about its caller. Begin comes first, then Route for each action, then Finish. Every field is
// required but those that say what their zero means.
type Service[C any] struct {
	Admission *httpjson.Admission
	Origins   httpjson.Origins // none where there are none
	Log       *slog.Logger
	Now       func() time.Time
	Telemetry *telemetry.Telemetry // nil collects nothing
	Version   string
	Ready     func(context.Context) error // asks the storage for something

	Document Document // without its API
	Scheme   string   // the security scheme of callers who are signed in
	MaxBody  int64    // of JSON, in bytes, unless an operation has its own MaxBodyBytes
	MaxFile  int64    // of any other body
	// Identify returns a request as its action sees it, and the search for the session that it names,
	// nil for a guest. The search returns the id of the caller, and completes the C. Without Identify
	// all are guests.
	Identify func(r *http.Request, who Access) (call *C, find func() (user string, err error), err error)
	LogKey   func(user string) string // names a caller in the log
	// Secret reports whether the answers of a path (without Prefix) hold secrets, so that no cache may
	// keep them. Nil: none does.
	Secret func(method, path string) bool

	api    huma.API
	about  System
	bounds map[string]Bound
}

// Begin makes the API, whose routes are registered with a mux.
func (s *Service[C]) Begin(mux humago.Mux, settings huma.Config) {
	s.about = System{Version: s.Version, Ready: Readiness{Ask: s.Ready, Now: s.Now}}
	s.bounds = map[string]Bound{}
	s.api = humago.NewWithPrefix(mux, Prefix, settings)
	s.Document.API = s.api
}

// Finish registers the routes that every API has, and completes the document.
func (s *Service[C]) Finish() {
	Route(s, Anyone, Bound{}, HealthRoute(), Unclaimed[C](s.about.Health))
	Route(s, Anyone, Bound{1, 1}, ReadyRoute(), Unclaimed[C](s.about.IsReady))
	Route(s, Anyone, Bound{}, DocumentRoute(), Unclaimed[C](s.about.Document))
	s.about.Rendered = s.Document.Render()
}

// Bounds returns the bounds of all routes by their operation ids.
func (s *Service[C]) Bounds() map[string]Bound { return s.bounds }

// Handler returns a handler for everything under Prefix, over the routes that were registered.
func (s *Service[C]) Handler(routes http.Handler) http.Handler {
	watch := httpjson.Observer{Log: s.Log, Now: s.Now, Telemetry: s.Telemetry}
	return watch.Observe(httpjson.Secure(
		httpjson.CORS(s.Origins, httpjson.Single(httpjson.JoinQuery(httpjson.ETags(s.uncached(routes)))))))
}

// uncached keeps answers with secrets out of all caches.
func (s *Service[C]) uncached(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.isSecret(r.Method, strings.TrimPrefix(r.URL.Path, Prefix)) {
			w.Header().Set("Cache-Control", "no-store")
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Service[C]) isSecret(method, path string) bool {
	return s.Secret != nil && s.Secret(method, path)
}

// Unclaimed makes an action of one that does not ask who calls.
func Unclaimed[C, I, O any](act func(context.Context, *I) (*O, error)) func(context.Context, C, *I) (*O, error) {
	return func(ctx context.Context, _ C, in *I) (*O, error) { return act(ctx, in) }
}

// Route registers an action. op.Errors names the statuses of its errors beyond those of every
// route. What op.Security asks for, the action checks.
func Route[C, I, O any](s *Service[C], who Access, bound Bound, op huma.Operation,
	act func(context.Context, C, *I) (*O, error),
) {
	if who != Anyone {
		bound.Steps++ // the session is read first, so that it is known who calls
	}
	s.bounds[op.OperationID] = bound
	op.BodyReadTimeout = -1 // ReadBody has its own
	if op.MaxBodyBytes == 0 {
		op.MaxBodyBytes = s.MaxBody
	}
	statuses := append([]int{400, 422, 429, 500, 503}, op.Errors...)
	if op.Method != http.MethodGet {
		statuses = append(statuses, 403, 408, 413, 415) // pages of other sites, and bodies
	}
	switch who {
	case SignedIn:
		op.Security = []map[string][]string{{s.Scheme: {}}}
		statuses = append(statuses, 401, 403)
	case Visitor:
		op.Security = []map[string][]string{{}, {s.Scheme: {}}}
		statuses = append(statuses, 401, 403)
	case Anyone:
		if op.Security != nil {
			statuses = append(statuses, 401)
		}
	}
	op.Middlewares = huma.Middlewares{func(ctx huma.Context, next func(huma.Context)) { s.admit(ctx, who, next) }}
	s.Document.AddErrors(&op, statuses...)
	if op.Method == http.MethodGet && !IsProbe(op.Path) && !s.isSecret(op.Method, op.Path) &&
		op.Metadata[Waits] == nil {
		Conditional(&op)
	}
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := WithinPage(in, func() (*O, error) { return act(ctx, CallOf[C](ctx), in) })
		if err != nil {
			return nil, httpjson.Describe(ctx, err)
		}
		return out, nil
	})
}

type callKey struct{}

// CallOf returns the request that an action has been called for.
func CallOf[C any](ctx context.Context) (call C) {
	if c, _ := ctx.Value(callKey{}).(*C); c != nil { // else a probe
		call = *c
	}
	return call
}

// admit identifies the caller of a request, counts it, reads its body, and finds room for it. A
// guest is refused before anything else is looked at. A caller of a route for anyone counts as
// their address, with any token.
func (s *Service[C]) admit(ctx huma.Context, who Access, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	if IsProbe(ctx.Operation().Path) {
		if err := s.Admission.Probe(w, r); err != nil {
			httpjson.Refuse(w, r, err)
			return
		}
		next(ctx)
		return
	}
	call, caller, user, err := s.identify(r, who)
	if full := s.Admission.Admit(r.Context(), w.Header(), caller, httpjson.IsWrite(r)); full != nil {
		err = full
	}
	if err != nil {
		httpjson.Refuse(w, r, err)
		return
	}
	if user != "" {
		httpjson.SetUser(r.Context(), s.LogKey(user))
	}
	if ctx.Operation().Metadata[Once] != nil && httpjson.IsAgain(r.Context()) {
		httpjson.WriteProblem(w, httpjson.Cut(r.Context()))
		return
	}
	ctx = huma.WithValue(ctx, callKey{}, call)
	CheckQuery(ctx, func(ctx huma.Context) {
		if !s.read(ctx) {
			return
		}
		if ctx.Operation().Metadata[Waits] != nil {
			next(ctx)
			return
		}
		leave, err := s.Admission.Enter(ctx.Context(), caller)
		if err != nil {
			httpjson.Refuse(w, r, err)
			return
		}
		defer leave()
		next(ctx)
	})
}

// identify identifies the caller of a request. After an error the request counts as theirs, and is
// refused.
func (s *Service[C]) identify(r *http.Request, who Access) (call *C, caller httpjson.Caller, user string, err error) {
	if s.Identify == nil {
		return new(C), httpjson.CallerOf(r, ""), "", nil
	}
	call, find, refused := s.Identify(r, who)
	if find != nil {
		session := find
		find = func() (_ string, err error) {
			user, err = session()
			return user, err
		}
	}
	if caller, err = s.Admission.Caller(r, find); err == nil {
		err = refused
	}
	return call, caller, user, err
}

// read reads the body of a request, if its route takes one. It reports whether the request goes on;
// otherwise it is answered.
func (s *Service[C]) read(ctx huma.Context) bool {
	op := ctx.Operation()
	switch {
	case op.RequestBody == nil:
		return true
	case op.RequestBody.Content[JSON] != nil:
		return ReadBody(ctx, s.Admission, op.MaxBodyBytes)
	}
	r, w := humago.Unwrap(ctx)
	_, err := s.Admission.ReadBody(w, r, s.MaxFile)
	if err != nil {
		httpjson.WriteProblem(w, httpjson.Describe(r.Context(), err))
	}
	return err == nil
}
