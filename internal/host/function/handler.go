package function

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
)

// maxBody limits an envelope. A message of 64 KiB, encoded twice and with its properties
// repeated as metadata, stays far below.
const maxBody = 1 << 20

// The two replies. The host does not show the text of a failure; the log has it.
const (
	succeeded = `{"Outputs":{},"Logs":[],"ReturnValue":null}`
	failed    = `{"error":"the invocation failed, see the log of the handler"}`
)

type handler struct {
	triggers map[string]Trigger // by path
	addr     string
	log      *slog.Logger
	next     http.Handler
}

// Handler answers the host's invocations of triggers, which it sends as POST /{name} to addr,
// "127.0.0.1:<port>". Every other request, and one for a trigger that does not come from the
// host, goes to next as if there were no triggers. Handler must be the outermost handler, as a
// ServeMux around it would answer for odd spellings of a path by a redirect to the trigger.
// It panics where Check refuses the triggers.
func Handler(triggers []Trigger, addr string, log *slog.Logger, next http.Handler) http.Handler {
	if err := Check(triggers); err != nil {
		panic("function: " + err.Error())
	}
	h := &handler{make(map[string]Trigger), addr, log, next}
	for _, t := range triggers {
		h.triggers["/"+t.Name] = t
	}
	return h
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// Compared as it was sent: no other spelling of the path leads to a trigger.
	t, ok := h.triggers[r.URL.EscapedPath()]
	if !ok || !fromHost(r, h.addr) {
		h.next.ServeHTTP(w, r)
		return
	}
	if err := h.invoke(w, r, t); err != nil {
		reply(w, http.StatusInternalServerError, failed)
		return
	}
	reply(w, http.StatusOK, succeeded)
}

// invoke runs t for the envelope in r. A failure of any kind has been logged.
func (h *handler) invoke(w http.ResponseWriter, r *http.Request, t Trigger) error {
	id := r.Header.Get("X-Azure-Functions-InvocationId")
	in, err := h.read(w, r, t)
	in.ID = id
	if err != nil {
		in.Function = t.Name
		report(r.Context(), h.log, in, outcome{err: err})
		return err
	}
	return t.Invoke(r.Context(), h.log, in)
}

func (h *handler) read(w http.ResponseWriter, r *http.Request, t Trigger) (Invocation, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return Invocation{}, fmt.Errorf("read envelope: %w", err)
	}
	return decode(t, body)
}

// reply writes a JSON object, without which the host would wait for its own timeout.
func reply(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// The host sees a broken answer as a failure; there is no other way to tell.
	_, _ = io.WriteString(w, body)
}
