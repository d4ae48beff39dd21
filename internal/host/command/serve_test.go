package command

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"prompthub/internal/http/httpjson"
)

// The head of a request has a bounded length, whatever it asks for.
func TestLongHead(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(nil)
	server.Config = newServer(http.NotFoundHandler(), slog.New(slog.DiscardHandler))
	server.Start()
	defer server.Close()
	for n, status := range map[int]int{
		30 << 10: http.StatusNotFound,
		40 << 10: http.StatusRequestHeaderFieldsTooLarge,
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/?"+strings.Repeat("x", n), nil)
		require.NoError(t, err)
		resp, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, status, resp.StatusCode)
	}
}

// pipes are connections that a server has accepted.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	c, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (p pipes) Close() error {
	close(p)
	return nil
}

func (pipes) Addr() net.Addr { return nil }

// Of an answer the system takes no more ahead of a client than a slow one takes soon: it says that
// there is room only when a third is free, so with megabytes on the way such a client would be cut.
func TestLittleIsOnTheWay(t *testing.T) {
	t.Parallel()
	taken := make(chan int, 1)
	server := httptest.NewUnstartedServer(nil)
	server.Config = newServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Second))
		n := 0
		for more := 1; more > 0; n += more {
			more, _ = w.Write(make([]byte, 16<<10))
		}
		taken <- n
	}), slog.New(slog.DiscardHandler))
	server.Start()
	defer server.Close()
	c, err := net.Dial("tcp", server.Listener.Addr().String())
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.(*net.TCPConn).SetReadBuffer(4<<10))
	_, err = io.WriteString(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	require.NoError(t, err)
	require.Less(t, <-taken, 512<<10)
}

// A connection that was opened ahead, as browsers do, does not hold up the end.
func TestEndsWithUnusedConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ctx, end := context.WithCancel(t.Context())
		l, done := make(pipes), make(chan error)
		go func() { done <- serve(ctx, l, http.NotFoundHandler(), slog.New(slog.DiscardHandler)) }()
		here, there := net.Pipe()
		l <- there
		synctest.Wait()
		end()
		require.NoError(t, <-done)
		require.Less(t, time.Since(began), time.Second) // of a clock that moves when all wait
		_, err := here.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
	})
}

// A request that waits for news ends when it is told of the end, and not by the end of its context.
func TestEndsWithRequestsThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ctx, end := context.WithCancel(t.Context())
		l, done := make(pipes), make(chan error)
		waits := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			<-httpjson.Ending(r.Context()).Done()
			assert.NoError(t, r.Context().Err())
			w.WriteHeader(http.StatusTeapot)
		})
		go func() { done <- serve(ctx, l, waits, slog.New(slog.DiscardHandler)) }()
		here, there := net.Pipe()
		l <- there
		_, err := io.WriteString(here, "GET /news HTTP/1.1\r\nHost: localhost\r\n\r\n")
		require.NoError(t, err)
		synctest.Wait()
		end()
		answer, err := io.ReadAll(here)
		require.NoError(t, err)
		require.Contains(t, string(answer), "418")
		require.NoError(t, <-done)
		require.Less(t, time.Since(began), time.Second) // of a clock that moves when all wait
	})
}

// The Functions host asks for GET / whether the handler is up; browsers are led to the pages, where
// there are some.
func TestFront(t *testing.T) {
	t.Parallel()
	next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	with, without := Service{About: "It is up.", Pages: "/pages"}, Service{About: "It is up."}
	for _, tt := range []struct {
		s                    Service
		method, path, accept string
		status               int
		location, body       string
	}{
		{with, "GET", "/", "", 200, "", "It is up.\n"},
		{with, "HEAD", "/", "", 200, "", "It is up.\n"},
		{with, "GET", "/", "text/html,*/*", 302, "/pages", "<a href=\"/pages\">Found</a>.\n\n"},
		{without, "GET", "/", "text/html,*/*", 200, "", "It is up.\n"},
		{with, "POST", "/", "", http.StatusTeapot, "", ""},
		{with, "GET", "/pages", "text/html", http.StatusTeapot, "", ""},
	} {
		r := httptest.NewRequestWithContext(t.Context(), tt.method, "http://localhost"+tt.path, nil)
		r.Header.Set("Accept", tt.accept)
		w := httptest.NewRecorder()
		tt.s.withFront(next).ServeHTTP(w, r)
		require.Equal(t, tt.status, w.Code, "%s %s", tt.method, tt.path)
		require.Equal(t, tt.location, w.Header().Get("Location"))
		require.Equal(t, tt.body, w.Body.String())
	}
}
