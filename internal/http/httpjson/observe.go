package httpjson

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"prompthub/internal/telemetry"
)

// A record is what is known of a request besides what it asks: the parts of its log line that
// only inner handlers know. One goroutine at a time serves a request.
type record struct {
	id         string
	trace      string
	route      string
	user       string
	cause      error
	operations *telemetry.Operations
	problem    func(http.ResponseWriter, *Problem)
	header     http.Header // of the answer

	// of one that was admitted
	admission *Admission
	caller    Caller
	write     bool         // whether it counts among writes
	held      atomic.Int64 // bytes of its body, of rows that it has read, and of its answer
	rows      int          // bytes of rows that it has read
	pause     func() (resume func())
	ofRows    held
}

type recordKey struct{}

func recordOf(ctx context.Context) *record {
	if r, ok := ctx.Value(recordKey{}).(*record); ok {
		return r
	}
	return new(record) // not under Observe: it will not be read
}

// RequestID returns the id of the request that ctx belongs to.
func RequestID(ctx context.Context) string { return recordOf(ctx).id }

// SetUser tells the log who is calling, by a key that the log may hold: not by an id that is good
// for more than to see that two requests are from the same user.
func SetUser(ctx context.Context, key string) { recordOf(ctx).user = key }

// SetRoute tells the log which route a request takes, for a door that finds it without a mux.
func SetRoute(ctx context.Context, pattern string) { recordOf(ctx).route = pattern }

// note tells the log why a request failed.
func note(ctx context.Context, cause error) { recordOf(ctx).cause = cause }

// An Observer watches requests for the operator.
type Observer struct {
	Log       *slog.Logger
	Now       func() time.Time
	Telemetry *telemetry.Telemetry // nil collects nothing

	// WriteProblem answers with a problem in a form of its own, whose headers are set; nil stands for
	// the function of this name.
	WriteProblem func(http.ResponseWriter, *Problem)
}

// Observe gives every request an id and the trace that it belongs to, answers for a handler that
// panics, and writes one line into the log for each request, but for refusals that come in numbers:
// no text, no query, no token.
func (o Observer) Observe(next http.Handler) http.Handler {
	refused := &refusals{log: o.Log}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := o.Now()
		rec := &record{id: requestID(r), problem: o.WriteProblem, header: w.Header()}
		rec.ofRows.of = rec
		ctx, traced := o.Telemetry.Request(telemetry.Join(r.Context(), r.Header), method(r))
		rec.trace = telemetry.TraceID(ctx)
		ctx, rec.operations = telemetry.WithOperations(ctx)
		r = r.WithContext(context.WithValue(ctx, recordKey{}, rec))
		w.Header().Set("X-Request-Id", rec.id)
		seen := &observer{ResponseWriter: w, control: http.NewResponseController(w), patience: newPace()}
		defer rec.release()
		defer func() {
			aborted := answerPanic(seen, r, recover())
			traced.End(ctx, rec.route, seen.answered())
			if !rec.isRefusal(seen.answered()) || refused.hasLine(r) {
				seen.log(o.Log, r, rec, o.Now().Sub(start))
			}
			if aborted {
				// the server cuts the connection: the client must not take a half answer for a
				// whole one
				panic(http.ErrAbortHandler)
			}
			seen.flush()
		}()
		next.ServeHTTP(seen, r)
	})
}

const invocationHeader = "X-Azure-Functions-InvocationId"

var guid = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// requestID returns the id that the Functions host gave the invocation, so that its log and ours
// meet. The host adds its value to one that a client sent: two are no id.
func requestID(r *http.Request) string {
	if ids := r.Header.Values(invocationHeader); len(ids) == 1 && guid.MatchString(ids[0]) {
		return ids[0]
	}
	return rand.Text()
}

// answerPanic answers a request whose handler panicked with v. It reports that the answer had
// begun.
func answerPanic(w *observer, r *http.Request, v any) (aborted bool) {
	if v == nil {
		return false
	}
	if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		return true
	}
	p := Describe(r.Context(), fmt.Errorf("panic: %v\n%s", v, debug.Stack()))
	if w.status != 0 {
		return true
	}
	answer(w, r, p)
	return false
}

// An observer remembers what was answered.
type observer struct {
	http.ResponseWriter
	control  *http.ResponseController
	patience pace
	status   int
	bytes    int64
}

// WriteHeader sends the status.
func (w *observer) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write sends a part of the body to a client that takes it fast enough.
func (w *observer) Write(b []byte) (sent int, err error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	for err == nil && sent < len(b) {
		var n int
		part := b[sent:min(sent+atOnce, len(b))]
		n, err = w.patience.wait(w.control.SetWriteDeadline, func() (int, error) {
			return w.ResponseWriter.Write(part)
		})
		sent += n
	}
	w.bytes += int64(sent)
	return sent, err
}

// atOnce is how many bytes are sent before the deadline follows: what the slowest client takes in
// less than its lag.
const atOnce = 32 << 10

// Unwrap returns the writer below, for http.ResponseController.
func (w *observer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// flush has what the server still holds sent under the deadline too, and ends that: the next
// request on the connection may be none of ours.
func (w *observer) flush() {
	if w.bytes > buffered {
		_, _ = w.patience.wait(w.control.SetWriteDeadline, func() (int, error) { return 0, w.control.Flush() })
	}
	if w.bytes > 0 {
		_ = w.control.SetWriteDeadline(time.Time{})
	}
}

// buffered is how much of an answer the server sends only after the handler has returned.
const buffered = 2048

// answered returns the status.
func (w *observer) answered() int {
	if w.status == 0 {
		return http.StatusOK // what the server sends for a handler that wrote nothing
	}
	return w.status
}

func (w *observer) log(log *slog.Logger, r *http.Request, rec *record, took time.Duration) {
	status := w.answered()
	attrs := []slog.Attr{
		slog.String("method", method(r)),
		slog.String("route", rec.route),
		slog.Int("status", status),
		slog.Int64("duration_ms", took.Milliseconds()),
		slog.Int64("bytes", w.bytes),
		slog.Int64("storage_ops", rec.operations.Count()),
		slog.String("request_id", rec.id),
	}
	if rec.trace != "" {
		attrs = append(attrs, slog.String("trace_id", rec.trace))
	}
	if rec.user != "" {
		attrs = append(attrs, slog.String("user", rec.user))
	}
	if rec.cause != nil {
		attrs = append(attrs, slog.String("error", cause(rec.cause, status)))
	}
	log.LogAttrs(r.Context(), level(status), "request", attrs...)
}

const (
	maxForeign = 200     // bytes of what a client sent, or an error that quotes it
	maxCause   = 8 << 10 // bytes of a failure of ours, which may hold a stack
)

// cause returns why a request failed, as the log shows it. A refusal is about the client's data,
// and may quote it.
func cause(err error, status int) string {
	most := maxCause
	if status < http.StatusInternalServerError {
		most = maxForeign
	}
	text := err.Error()
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

func level(status int) slog.Level {
	switch {
	case status == http.StatusServiceUnavailable:
		return slog.LevelWarn
	case status >= http.StatusInternalServerError:
		return slog.LevelError
	}
	return slog.LevelInfo
}

// method returns a method as the log may hold it: clients can invent others.
func method(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch,
		http.MethodDelete, http.MethodOptions:
		return r.Method
	}
	return "other"
}
