package command

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
	"sync/atomic"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/host/function"
	"prompthub/internal/http/auth"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/telemetry"
)

// serveHost is the custom handler. It opens its port before it asks the storage anything, and
// a configuration that it refuses does not end it: a crash loop would hide the reason. It never
// returns nil, see Restart.
func (s Service) serveHost(ctx context.Context, std Streams) error {
	set, build, refused := s.read()
	if set.Port == 0 {
		return UsageError("FUNCTIONS_CUSTOMHANDLER_PORT is not set: the Functions host starts the handler and sets it. By hand, run \"handler local\"")
	}
	log := slog.New(slog.NewJSONHandler(std.Out, &slog.HandlerOptions{Level: set.LogLevel}))
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(int(set.Port)))
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	t := s.startTelemetry(ctx, log, telemetry.Options{})
	defer func() { _ = t.Stop(ctx) }() // what cannot be sent now never can
	a, doors := s.assemble(ctx, set, build, refused, log, t)
	if a.Create != nil {
		creating := make(chan struct{})
		store := new(atomic.Pointer[fault.Error])
		doors = s.unlessRefused(store, doors, log)
		go func() { defer close(creating); a.create(ctx, log, store) }()
		defer a.Wait()
		defer func() { <-creating }()
	}
	version, commit := Built()
	log.InfoContext(ctx, "started", slog.String("version", version), slog.String("commit", commit),
		slog.String("address", addr))
	dog := new(watchdog)
	go guard(ctx, dog.moves, StuckAfter, func() { hung(log, "nothing was finished for longer than the host waits") })
	// The triggers come before all routes, as their endpoints must not be reached by another spelling
	// of a path. The watchdog is inside of hold, whose answers do not mean that something was
	// finished.
	err = serve(ctx, l, hold(log, AnswerWithin,
		dog.watch(function.Handler(a.Triggers, addr, log, s.asSent(set, log, doors)))), log)
	if ctx.Err() == nil {
		return err
	}
	if err != nil {
		log.WarnContext(ctx, "ending", slog.String("error", err.Error()))
	}
	return errSignal
}

// asSent serves doors to the requests of clients as they were sent.
func (s Service) asSent(set Settings, log *slog.Logger, doors http.Handler) http.Handler {
	onPlatform := set.Site != ""
	doors = SentAgain(s.begunChanges(), log, doors)
	return function.AsSent(onPlatform, s.withFront(s.tellArrived(onPlatform, set.Proxies, doors)))
}

// hung ends the process with the stacks of all goroutines in the log. Nothing is waited for,
// because the cause would hang the end too.
func hung(log *slog.Logger, why string) {
	var doing strings.Builder
	_ = pprof.Lookup("goroutine").WriteTo(&doing, 1) // a Builder takes everything
	log.Error("stuck: "+why+"; ending, to be started anew", slog.String("goroutines", doing.String()))
	os.Exit(Failed)
}

// assemble builds what can be built; an App without Create is none. Triggers need no identity, so a
// wrong AUTH_MODE does not send their messages to the poison queue.
func (s Service) assemble(ctx context.Context, set Settings, build Build, refused error, log *slog.Logger,
	t *telemetry.Telemetry,
) (App, http.Handler) {
	if refused != nil {
		return App{}, s.refuse(refused, log)
	}
	if err := set.namesQueues(); err != nil {
		return App{}, s.refuse(err, log)
	}
	st, err := s.openAzure(set.QueuePrefix)
	if err != nil {
		return App{}, s.refuse(err, log)
	}
	a := s.open(ctx, set, build, st, log, t)
	identify, sessions, err := s.signing(ctx, set)
	if err != nil {
		return a, s.refuse(err, log)
	}
	r := running{service: s, app: a, store: st, started: time.Now()}
	return a, a.Doors(Serving{identify, sessions, r.facts})
}

// refuse answers every route but health with the mistake in the settings.
func (s Service) refuse(err error, log *slog.Logger) http.Handler {
	log.Error("refused configuration", slog.String("error", err.Error()))
	answer := &fault.Error{
		Kind: fault.Unavailable, Code: httpjson.NotConfigured,
		Text: "the application is not configured", RetryAfter: time.Minute,
	}
	if r := (*auth.Refusal)(nil); errors.As(err, &r) {
		answer.Text = r.Error()
	}
	return s.refusing(answer, log)
}

// unlessRefused serves doors but while the store is refused, for a reason that has a code.
func (s Service) unlessRefused(store *atomic.Pointer[fault.Error], doors http.Handler, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f := store.Load(); f != nil {
			s.refusing(f, log).ServeHTTP(w, r)
			return
		}
		doors.ServeHTTP(w, r)
	})
}

// refusing answers every route but health with an error.
func (s Service) refusing(answer *fault.Error, log *slog.Logger) http.Handler {
	version, _ := Built()
	return httpjson.Observer{Log: log, Now: time.Now}.Observe(
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == s.Health {
				w.Header().Set("Content-Type", "application/json")
				// A client that is gone needs no answer.
				_ = json.NewEncoder(w).Encode(map[string]string{"status": "ok", "version": version})
				return
			}
			httpjson.WriteProblem(w, httpjson.Describe(r.Context(), answer))
		}))
}
