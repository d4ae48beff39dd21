package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"

	"prompthub/internal/auth"
	"prompthub/internal/fault"
	"prompthub/internal/function"
	"prompthub/internal/httpjson"
	"prompthub/internal/prompthub/api"
	"prompthub/internal/telemetry"
)

// serveHost is the custom handler. It opens its port before it asks the storage anything, and
// a configuration that it refuses does not end it: a crash loop would show nobody the reason.
func serveHost(ctx context.Context, std streams) error {
	s, refused := readSettings()
	if s.Port == 0 {
		return usageError("FUNCTIONS_CUSTOMHANDLER_PORT is not set: the Functions host starts the handler and sets it. By hand, run \"handler local\"")
	}
	log := slog.New(slog.NewJSONHandler(std.out, &slog.HandlerOptions{Level: s.LogLevel}))
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(int(s.Port)))
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	t := startTelemetry(ctx, log)
	defer func() { _ = t.Stop(ctx) }() // what cannot be sent now never can
	a, next, triggers := assemble(ctx, s, refused, log, t)
	if a != nil {
		creating := make(chan struct{})
		go func() { defer close(creating); a.create(ctx) }()
		defer a.behind.Wait()
		defer func() { <-creating }()
	}
	version, commit := built()
	log.InfoContext(ctx, "started", slog.String("version", version), slog.String("commit", commit), slog.String("address", addr))
	dog := new(watchdog)
	go dog.guard(ctx, func() { hung(log) })
	// The triggers come before all routes, as their endpoints must not be reached by another spelling
	// of a path.
	return serve(ctx, l, dog.watch(function.Handler(triggers, addr, log, withFront(next))), log)
}

// hung ends the process with what every goroutine does in the log. Nothing is waited for: what
// hangs would hang the end too.
func hung(log *slog.Logger) {
	var doing strings.Builder
	_ = pprof.Lookup("goroutine").WriteTo(&doing, 1) // a Builder takes everything
	log.Error("stuck: nothing was finished for longer than the host waits; ending, to be started anew", slog.String("goroutines", doing.String()))
	os.Exit(exitFailed)
}

// assemble builds what can be built. Triggers need no identity, so a wrong AUTH_MODE
// does not send their messages to the poison queue.
func assemble(ctx context.Context, s settings, refused error, log *slog.Logger, t *telemetry.Telemetry) (*app, http.Handler, []function.Trigger) {
	if refused != nil {
		return nil, refuse(refused, log), nil
	}
	if s.QueuePrefix == "" {
		return nil, refuse(&auth.Refusal{Setting: "QUEUE_PREFIX", Reason: "is not set: the Functions host needs it to find the queues"}, log), nil
	}
	st, err := openAzure(s.QueuePrefix)
	if err != nil {
		return nil, refuse(err, log), nil
	}
	a := newApp(s, st, log, t)
	a.watchQueues(ctx, st.queues)
	triggers := a.triggers()
	identify, sessions, err := signing(ctx, s)
	if err != nil {
		return a, refuse(err, log), triggers
	}
	return a, a.doors(identify, sessions), triggers
}

// refuse answers every route but health with what is wrong with the settings.
func refuse(err error, log *slog.Logger) http.Handler {
	log.Error("refused configuration", slog.String("error", err.Error()))
	answer := &fault.Error{Kind: fault.Unavailable, Text: "the application is not configured", RetryAfter: time.Minute}
	if r := (*auth.Refusal)(nil); errors.As(err, &r) {
		answer.Text = r.Error()
	}
	version, _ := built()
	return httpjson.Observer{Log: log, Now: time.Now}.Observe(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == api.Prefix+"/health" {
			w.Header().Set("Content-Type", "application/json")
			// A client that is gone needs no answer.
			_ = json.NewEncoder(w).Encode(api.State{Status: "ok", Version: version})
			return
		}
		httpjson.WriteProblem(w, httpjson.Describe(r.Context(), answer))
	}))
}
