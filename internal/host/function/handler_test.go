package function_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/host/function"
)

const (
	addr    = "127.0.0.1:4711"
	message = `{"Data":{"msg":"\"secret\""},"Metadata":{"DequeueCount":"2"}}`
)

// A world is a handler with one queue and one timer trigger, and what it saw.
type world struct {
	http.Handler
	runs []function.Invocation
	err  error // what the functions return
	log  bytes.Buffer
}

func newWorld() *world {
	w := &world{}
	run := func(_ context.Context, in function.Invocation) error {
		w.runs = append(w.runs, in)
		if in.Text == "panic" {
			panic("at the disco")
		}
		return w.err
	}
	w.Handler = function.Handler([]function.Trigger{
		{Name: "score-bucket-moves", Queue: "moves", Run: run},
		{Name: "purge", Schedule: "0 0 3 * * *", Run: run},
	}, addr, slog.New(slog.NewJSONHandler(&w.log, nil)), http.HandlerFunc(unknown))
	return w
}

// unknown stands for how the application answers a route it does not have.
func unknown(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("X-Unknown", "yes")
	w.WriteHeader(http.StatusNotFound)
}

// invocation is a request as the host sends it.
func invocation(path, body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Host, r.ContentLength = addr, -1
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	r.Header.Set("User-Agent", "Azure-Functions-Host/4.1037.0.0")
	r.Header.Set("X-Azure-Functions-HostVersion", "4.1037.0.0")
	r.Header.Set("X-Azure-Functions-InvocationId", "8b1f")
	return r
}

func (w *world) send(r *http.Request) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, r)
	return rec
}

// line returns the only line of the log.
func (w *world) line(t *testing.T) map[string]any {
	t.Helper()
	require.Equal(t, 1, bytes.Count(w.log.Bytes(), []byte("\n")), "one line for each invocation: %s", w.log.String())
	var line map[string]any
	require.NoError(t, json.Unmarshal(w.log.Bytes(), &line))
	return line
}

func TestHandlerRunsMessage(t *testing.T) {
	t.Parallel()
	w := newWorld()
	rec := w.send(invocation("/score-bucket-moves", message))
	require.Equal(t, http.StatusOK, rec.Code)
	require.Equal(t, "application/json", rec.Header().Get("Content-Type"))
	require.Equal(t, `{"Outputs":{},"Logs":[],"ReturnValue":null}`, rec.Body.String())
	require.Equal(t, []function.Invocation{{Function: "score-bucket-moves", ID: "8b1f", Text: "secret", Dequeued: 2}},
		w.runs)

	line := w.line(t)
	require.Equal(t, "score-bucket-moves", line["function"])
	require.Equal(t, "8b1f", line["invocation"])
	require.Equal(t, "ok", line["status"])
	require.EqualValues(t, 2, line["dequeued"])
	require.Contains(t, line, "duration_ms")
	require.NotContains(t, line, "error")
	require.NotContains(t, w.log.String(), "secret")
}

func TestHandlerRunsTimer(t *testing.T) {
	t.Parallel()
	w := newWorld()
	rec := w.send(invocation("/purge", `{"Data":{"timer":{"IsPastDue":true}},"Metadata":{}}`))
	require.Equal(t, http.StatusOK, rec.Code)
	require.Equal(t, []function.Invocation{{Function: "purge", ID: "8b1f", Timer: true, PastDue: true}}, w.runs)
	require.NotContains(t, w.line(t), "dequeued")
}

func TestHandlerReportsFailure(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body string
		err        error
		log        string // part of the error in the log
		runs       int
	}{
		{"the function fails", message, errors.New("storage is away"), "storage is away", 1},
		{"the function panics", `{"Data":{"msg":"\"panic\""}}`, nil, "panic: at the disco", 1},
		{"not an envelope", `nonsense`, nil, "envelope", 0},
		{"too long", `{"Data":{"msg":"` + strings.Repeat("x", 1<<20) + `"}}`, nil, "too large", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			w.err = tt.err
			rec := w.send(invocation("/score-bucket-moves", tt.body))
			require.Equal(t, http.StatusInternalServerError, rec.Code)
			require.Equal(t, "application/json", rec.Header().Get("Content-Type"))
			var reply map[string]string
			require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &reply))
			require.NotEmpty(t, reply["error"])
			require.Len(t, w.runs, tt.runs)

			line := w.line(t)
			require.Equal(t, "ERROR", line["level"])
			require.Equal(t, "failed", line["status"])
			require.Equal(t, "score-bucket-moves", line["function"])
			require.Equal(t, "8b1f", line["invocation"])
			require.Contains(t, line["error"], tt.log)
		})
	}
}

func TestHandlerPanicsOnBadTriggers(t *testing.T) {
	t.Parallel()
	require.Panics(t, func() {
		function.Handler([]function.Trigger{{Name: "a"}}, addr, slog.Default(), http.NotFoundHandler())
	})
}
