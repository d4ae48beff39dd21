package httpjson

import (
	"context"
	"net/http"
	"reflect"
	"strings"
)

// redirect is what a mux puts before a path that it would rather have with or without a slash.
var redirect = reflect.TypeOf(http.RedirectHandler("/", http.StatusTemporaryRedirect))

// Routes serves the routes of a mux. What no route serves is answered with a problem, and never
// with a redirect to a path that looks better: the Functions host and clients would follow it
// with another method or to another function.
func Routes(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, pattern := mux.Handler(r)
		if pattern == "" || reflect.TypeOf(h) == redirect {
			HangUp(w, r) // no handler reads a body
		}
		if reflect.TypeOf(h) == redirect {
			answer(w, r, notFound(r.Context()))
			return
		}
		if pattern != "" {
			SetRoute(r.Context(), pattern)
			mux.ServeHTTP(w, r)
			return
		}
		// The mux finds out which methods the path has; only its plain text is not wanted.
		seen := &head{header: w.Header()}
		h.ServeHTTP(seen, r)
		if seen.status == http.StatusMethodNotAllowed {
			answer(w, r, NewProblem(r.Context(), seen.status, "use one of the methods that the header Allow names"))
			return
		}
		answer(w, r, notFound(r.Context()))
	})
}

func notFound(ctx context.Context) *Problem {
	p := NewProblem(ctx, http.StatusNotFound, "there is no such route")
	p.Code = NoSuchRoute
	return p
}

// A head keeps the head of an answer and drops the body.
type head struct {
	header http.Header
	status int
}

// Header returns the header.
func (h *head) Header() http.Header { return h.header }

// WriteHeader keeps the status.
func (h *head) WriteHeader(status int) { h.status = status }

// Write drops a part of the body.
func (h *head) Write(b []byte) (int, error) { return len(b), nil }

// Mount returns a handler that hands requests for a prefix, and for paths under it, to own, and all
// other requests to others. Paths stay as they are.
func Mount(prefix string, others, own http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == prefix || strings.HasPrefix(r.URL.Path, prefix+"/") {
			own.ServeHTTP(w, r)
			return
		}
		others.ServeHTTP(w, r)
	})
}
