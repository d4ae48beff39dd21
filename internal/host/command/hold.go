package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"prompthub/internal/host/function"
	"prompthub/internal/http/httpjson"
)

// heldUpTo is how many bytes of an answer are held back. A longer answer is sent as it grows, of
// which the host makes a 500 if it ends early. Only texts and exports are so long.
// No more answers are held than requests are at work: with the default LIMIT_AT_WORK of 256 these
// are 64 MiB. The host reads an answer at once, so none stays after its request.
const heldUpTo = 256 << 10

// AnswerWithin is how long an answer may take under the host. It is less than functionTimeout in
// host.json, after which the host kills the process with everything that runs in it, and more than
// the longest job takes.
const AnswerWithin = 4*time.Minute + 30*time.Second

// ProxiedWithin is how long an answer may take that a host in its proxying mode waits for. After
// 240 seconds without a byte that host ends the request with a bare 500.
const ProxiedWithin = 3*time.Minute + 45*time.Second

// hold sends the answers of next when they are whole. The Functions host sends a request without a
// body again if the connection ends before the first byte of the answer, a change too.
// So an answer that has no end becomes a 500 that is sent: after a panic, after the time within
// which answers must be there, and after the end of the request's context, as when a shutdown has
// run out of time.
func hold(log *slog.Logger, within time.Duration, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ends := within
		if function.Proxied(r) {
			ends = min(ends, ProxiedWithin)
		}
		ctx, cancel := context.WithTimeout(r.Context(), ends)
		defer cancel()
		h := &held{to: w, header: make(http.Header)}
		done := make(chan bool, 1)
		go func() {
			whole := false
			defer func() {
				if v := recover(); v != nil && v != http.ErrAbortHandler { //nolint:errorlint // net/http compares it so too
					log.ErrorContext(ctx, "panic", slog.String("error", fmt.Sprintf("%v\n%s", v, debug.Stack())))
				}
				done <- whole
			}()
			next.ServeHTTP(h, r.WithContext(ctx))
			whole = true
		}()
		whole := false
		select {
		case whole = <-done:
			readRest(w, r)
		case <-ctx.Done():
			// The handler goes on in its goroutine until it sees the end of its context. Nothing
			// waits for it, and all that it still writes is dropped.
		}
		h.end(whole)
	})
}

const (
	// mostBody is the longest body that a host sends.
	mostBody = 100 << 20
	// restWithin is how long it may send what is left of a body. It has most bodies whole before it
	// sends a byte.
	restWithin = 10 * time.Second
)

// readRest reads what a handler that refused a body has left of it. A host that cannot send a body
// to its end shows the client a bare 500 in place of the answer.
func readRest(w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	if control.SetReadDeadline(time.Now().Add(restWithin)) != nil {
		return
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, mostBody)) // a client that has gone away gets no answer
	_ = control.SetReadDeadline(time.Time{})
}

// held is an answer that waits for its end.
type held struct {
	header http.Header // the handler's

	mu     sync.Mutex
	to     http.ResponseWriter
	status int
	sent   http.Header // the headers as they were when the handler wrote the status
	body   bytes.Buffer
	begun  bool // to has the status and more
	over   bool // to must not be touched any more
}

// Header returns the headers to come.
func (h *held) Header() http.Header { return h.header }

// WriteHeader keeps the status. The host does not pass on the informational ones.
func (h *held) WriteHeader(status int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.keep(status)
}

func (h *held) keep(status int) {
	if h.status == 0 && status >= http.StatusOK {
		h.status, h.sent = status, h.header.Clone()
	}
}

// Write keeps a part of the body.
func (h *held) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.keep(http.StatusOK)
	switch {
	case h.over:
		return 0, http.ErrHandlerTimeout
	case !h.begun && h.body.Len()+len(b) <= heldUpTo:
		return h.body.Write(b)
	}
	if err := h.send(); err != nil {
		return 0, err
	}
	return h.to.Write(b)
}

// SetWriteDeadline is for http.ResponseController: it is that of the connection once something is
// sent there. Before that it would pass while the answer is held, and cut it.
func (h *held) SetWriteDeadline(t time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over || !h.begun {
		return nil
	}
	return http.NewResponseController(h.to).SetWriteDeadline(t)
}

// SetReadDeadline is for http.ResponseController: it is that of the connection.
func (h *held) SetReadDeadline(t time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over {
		return http.ErrHandlerTimeout
	}
	return http.NewResponseController(h.to).SetReadDeadline(t)
}

// send sends the held part.
func (h *held) send() error {
	if h.begun {
		return nil
	}
	h.begun = true
	maps.Copy(h.to.Header(), h.sent)
	h.to.WriteHeader(h.status)
	_, err := h.to.Write(h.body.Bytes())
	h.body = bytes.Buffer{}
	return err
}

// end sends the held answer if it is whole, else a 500. If a part was sent it cuts the
// connection: a part must not pass for the whole.
func (h *held) end(whole bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
	switch {
	case whole:
		h.keep(http.StatusOK)
		_ = h.send() // a host that has gone away cannot be told
	case h.begun:
		panic(http.ErrAbortHandler)
	default:
		httpjson.WriteProblem(h.to, httpjson.Cut(context.Background()))
	}
}
