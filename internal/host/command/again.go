package command

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"prompthub/internal/host/function"
	"prompthub/internal/http/httpjson"
)

const (
	// againWithin is how long a host may send a change again after its answer.
	againWithin = time.Minute
	// begunFor is how long a host may send a change again at all. A host that proxies ends each
	// request within minutes.
	begunFor = time.Hour
)

// SentAgain finds out which changes without a body a host sends again because the handler was
// killed over them. Such a change may be done already, or not. Run again it does what is left to
// do; next must not do it twice. If that succeeds the answer is right for either case. A refusal
// may come from the change itself: what a DELETE does not find any more is gone, as was asked,
// which is 204, and the client of any other learns that it must look.
//
// A change that has begun is an empty file in dir, named by its invocation: the host sends it again
// to a handler on the same machine, and to none after the host itself has ended.
func SentAgain(dir string, log *slog.Logger, next http.Handler) http.Handler {
	if err := sweepBegun(dir); err != nil {
		log.Warn("changes that a host sends again are not known", slog.String("error", err.Error()))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !function.Proxied(r) || !function.Bare(r) {
			next.ServeHTTP(w, r)
			return
		}
		sum := sha256.Sum256([]byte(r.Header.Get("X-Ms-Invocation-Id")))
		path := filepath.Join(dir, hex.EncodeToString(sum[:]))
		begun, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			_ = begun.Close() // nothing was written
			first := &seen{ResponseWriter: w}
			defer func() {
				if first.code >= http.StatusBadRequest {
					_ = os.Remove(path) // nothing was done, and any number of strangers may be refused
				} else {
					time.AfterFunc(againWithin, func() { _ = os.Remove(path) })
				}
			}()
			next.ServeHTTP(first, r)
			return
		}
		if !errors.Is(err, fs.ErrExist) {
			next.ServeHTTP(w, r) // without a file it is as without this handler
			return
		}
		log.WarnContext(r.Context(), "sent again", slog.String("method", r.Method),
			slog.String("invocation", r.Header.Get("X-Ms-Invocation-Id")))
		a := &again{ResponseWriter: w, method: r.Method}
		next.ServeHTTP(a, r.WithContext(httpjson.WithAgain(r.Context())))
		if a.refused {
			clear(w.Header())
			httpjson.WriteProblem(w, httpjson.Cut(r.Context()))
		}
	})
}

// begunChanges is the folder for the changes that handlers of the application have begun for this
// user of the machine.
func (s Service) begunChanges() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("%s-changes-%d", s.Name, os.Getuid()))
}

// sweepBegun makes the folder, and removes what handlers that were killed have left in it.
func sweepBegun(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > begunFor {
			_ = os.Remove(filepath.Join(dir, e.Name())) // or another handler did
		}
	}
	return nil
}

// A seen is an answer whose status is seen.
type seen struct {
	http.ResponseWriter
	code int
}

// WriteHeader writes the status.
func (s *seen) WriteHeader(code int) {
	s.code = code
	s.ResponseWriter.WriteHeader(code)
}

// Unwrap is for http.ResponseController.
func (s *seen) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// An again is the answer to a change that was sent before.
type again struct {
	http.ResponseWriter
	method  string
	written bool // the status is
	dropped bool // the body is
	refused bool // so is all
}

// WriteHeader writes the status unless the first sending may be the reason for it.
func (a *again) WriteHeader(status int) {
	switch {
	case a.written || status < http.StatusOK:
		return
	case status < http.StatusBadRequest || status == http.StatusInternalServerError:
	case a.method == http.MethodDelete && (status == http.StatusNotFound || status == http.StatusGone):
		status, a.dropped = http.StatusNoContent, true
		a.Header().Del("Content-Type")
		a.Header().Del("Content-Length")
	default:
		a.written, a.dropped, a.refused = true, true, true
		return
	}
	a.written = true
	a.ResponseWriter.WriteHeader(status)
}

// Write writes a part of the body.
func (a *again) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if a.dropped {
		return len(b), nil
	}
	return a.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (a *again) Unwrap() http.ResponseWriter { return a.ResponseWriter }
