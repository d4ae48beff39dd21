package httpjson

import (
	"context"
	"net/http"
	"path"
	"strings"
)

// Routes serves the routes of a mux. What no route serves is answered with a problem, and never
// with a redirect to a path that looks better: the Functions host and clients would follow it
// with another method or to another function.
func Routes(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !clean(r.URL.EscapedPath()) {
			WriteProblem(w, notFound(r.Context()))
			return
		}
		h, pattern := mux.Handler(r)
		if pattern != "" {
			recordOf(r.Context()).route = pattern
			mux.ServeHTTP(w, r)
			return
		}
		// The mux finds out which methods the path has; only its plain text is not wanted.
		answer := &head{header: w.Header()}
		h.ServeHTTP(answer, r)
		if answer.status == http.StatusMethodNotAllowed {
			WriteProblem(w, NewProblem(r.Context(), answer.status, "use one of the methods that the header Allow names"))
			return
		}
		WriteProblem(w, notFound(r.Context()))
	})
}

func notFound(ctx context.Context) *Problem {
	return NewProblem(ctx, http.StatusNotFound, "there is no such route")
}

// clean reports whether a mux would take the path as it is.
func clean(p string) bool {
	c := path.Clean(p)
	if c != "/" && strings.HasSuffix(p, "/") {
		c += "/"
	}
	return c == p
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
