package command

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"prompthub/internal/http/httpjson"
)

// newServer returns a server with the limits of both doors. The Functions host keeps connections
// for minutes, and one that is closed under it fails a request; so the idle time is long.
func newServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       2 * time.Minute,
		IdleTimeout:       4 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			if tcp, ok := c.(*net.TCPConn); ok {
				_ = tcp.SetWriteBuffer(onTheWay) // one that cannot be set is as the system has it
			}
			return ctx
		},
	}
}

// onTheWay is how many bytes of an answer the system takes before the client does. It says that
// there is room again only when a third of it is, for which a client that is slow and fast enough
// must not need longer than its lag: of the megabytes that a system takes on its own, it would be
// cut.
const onTheWay = 64 << 10

const (
	// stopTime is how long requests may go on after the end, and lastTime how long they have when
	// they have been told to stop.
	stopTime = 10 * time.Second
	lastTime = time.Second
)

// serve answers requests until ctx ends, then waits for those that are running. Those that run for
// too long are told so by the end of their context.
func serve(ctx context.Context, l net.Listener, h http.Handler, log *slog.Logger) error {
	srv := newServer(h, log)
	closeUnused(srv)
	requests, abort := context.WithCancel(context.WithoutCancel(ctx))
	defer abort()
	srv.BaseContext = func(net.Listener) context.Context { return httpjson.WithEnding(requests, ctx) }
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	err := srv.Shutdown(stop)
	if errors.Is(err, context.DeadlineExceeded) {
		abort()
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTime)
		defer cancel()
		if srv.Shutdown(last) != nil {
			return errors.Join(errors.New("requests were still running"), srv.Close())
		}
		return nil
	}
	return err
}

// closeUnused has a server close connections that were never used when it must end, for which it
// would wait five seconds: clients open some ahead.
func closeUnused(srv *http.Server) {
	var unused sync.Map // net.Conn
	srv.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateNew {
			unused.Store(c, nil)
		} else {
			unused.Delete(c)
		}
	}
	srv.RegisterOnShutdown(func() {
		unused.Range(func(c, _ any) bool {
			_ = c.(net.Conn).Close() // its loss does no harm
			return true
		})
	})
}

// withFront answers GET / at once, which is how the Functions host asks whether the handler
// is up, and passes everything else on. Browsers are sent to the pages.
func (s Service) withFront(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" || r.Method != http.MethodGet && r.Method != http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}
		if s.Pages != "" && strings.Contains(r.Header.Get("Accept"), "text/html") {
			http.Redirect(w, r, s.Pages, http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		// A client that is gone needs no answer.
		_, _ = io.WriteString(w, s.About+"\n")
	})
}
