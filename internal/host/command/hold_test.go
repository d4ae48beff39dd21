package command

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/host/function"
	"prompthub/internal/http/httpjson"
)

// asked asks a server whose answers are held and must come within a time, and returns the answer
// and the log.
func asked(t *testing.T, within time.Duration, h http.HandlerFunc) (res *http.Response, body, log string, err error) {
	t.Helper()
	var logged bytes.Buffer
	server := httptest.NewServer(hold(slog.New(slog.NewTextHandler(&logged, nil)), within, h))
	res, err = http.Post(server.URL, "", nil) // Go's client does not repeat it
	if err == nil {
		var b []byte
		b, err = io.ReadAll(res.Body)
		require.NoError(t, res.Body.Close())
		body = string(b)
	}
	server.Close()
	return res, body, logged.String(), err
}

// The host repeats a request whose connection ends before the answer begins, so that never happens.
func TestAnswersAreWholeOrAnError(t *testing.T) {
	t.Parallel()
	begin := func(w http.ResponseWriter) {
		w.Header().Set("Etag", `"1"`)
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, strings.Repeat("x", 100<<10))
	}
	for name, tt := range map[string]struct {
		within time.Duration
		do     http.HandlerFunc
		logged string
	}{
		"a panic": {time.Minute, func(http.ResponseWriter, *http.Request) {
			panic("at the disco")
		}, "at the disco"},
		"a panic in the middle": {time.Minute, func(w http.ResponseWriter, _ *http.Request) {
			begin(w)
			panic("at the disco")
		}, "at the disco"},
		"cut": {time.Minute, func(http.ResponseWriter, *http.Request) {
			panic(http.ErrAbortHandler)
		}, ""},
		"cut in the middle": {time.Minute, func(w http.ResponseWriter, _ *http.Request) {
			begin(w)
			panic(http.ErrAbortHandler)
		}, ""},
		"past the deadline": {0, late, ""},
		"past it in the middle": {time.Millisecond, func(w http.ResponseWriter, r *http.Request) {
			begin(w)
			late(w, r)
		}, ""},
		"cut by the observer": {
			time.Minute, observed(func(w http.ResponseWriter, _ *http.Request) {
				begin(w)
				panic("at the disco")
			}), "",
		},
		"panic below the observer": {
			time.Minute, observed(func(http.ResponseWriter, *http.Request) { panic("at the disco") }), "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res, body, logged, err := asked(t, tt.within, tt.do)
			require.NoError(t, err)
			require.Equal(t, http.StatusInternalServerError, res.StatusCode)
			require.Equal(t, httpjson.ProblemType, res.Header.Get("Content-Type"))
			require.Empty(t, res.Header.Get("Etag"))
			var p httpjson.Problem
			require.NoError(t, json.Unmarshal([]byte(body), &p))
			require.NotEmpty(t, p.Detail)
			require.Contains(t, logged, tt.logged)
		})
	}
}

// late goes on until it sees that the answer is over. It writes little: an answer of more than is
// held is begun, and has to be cut.
func late(w http.ResponseWriter, r *http.Request) {
	<-r.Context().Done()
	_, _ = w.Write([]byte("more"))
	for {
		if _, err := w.Write(nil); err != nil {
			return
		}
	}
}

func observed(h http.HandlerFunc) http.HandlerFunc {
	return httpjson.Observer{Log: slog.New(slog.DiscardHandler), Now: time.Now}.Observe(h).ServeHTTP
}

func TestWholeAnswersPass(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, heldUpTo, heldUpTo + 1, 3 * heldUpTo} {
		res, body, _, err := asked(t, time.Minute, func(w http.ResponseWriter, _ *http.Request) {
			require.NoError(t, http.NewResponseController(w).SetReadDeadline(time.Time{}))
			require.NoError(t, http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Hour)))
			w.Header()["Set-Cookie"] = []string{"a=1", "b=2"}
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusAccepted)
			w.WriteHeader(http.StatusTeapot) // as with a server: the first counts
			for part := strings.Repeat("x", 1000); n > 0; n -= len(part) {
				part = part[:min(n, len(part))]
				_, _ = io.WriteString(w, part)
			}
		})
		require.NoError(t, err)
		require.Equal(t, http.StatusAccepted, res.StatusCode)
		require.Equal(t, []string{"a=1", "b=2"}, res.Header["Set-Cookie"])
		require.Equal(t, strings.Repeat("x", len(body)), body)
	}
}

// The deadline for a client that reads slowly does not pass while the answer is held.
func TestDeadlinesOfTheHandlerDoNotCut(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2 * heldUpTo} {
		res, body, _, err := asked(t, time.Minute, func(w http.ResponseWriter, _ *http.Request) {
			control := http.NewResponseController(w)
			_ = control.SetWriteDeadline(time.Unix(1, 0))
			_, _ = io.WriteString(w, strings.Repeat("x", n))
			_ = control.SetWriteDeadline(time.Time{})
		})
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, res.StatusCode)
		require.Len(t, body, n)
	}
}

// A long answer has begun before it is whole, and the host makes a 500 of an answer that is cut
// then.
func TestLongAnswersAreCut(t *testing.T) {
	t.Parallel()
	begin := func(w http.ResponseWriter) { _, _ = io.WriteString(w, strings.Repeat("x", heldUpTo+1)) }
	_, body, _, err := asked(t, time.Minute, func(w http.ResponseWriter, _ *http.Request) {
		begin(w)
		panic(http.ErrAbortHandler)
	})
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.NotEmpty(t, body)
	synctest.Test(t, func(t *testing.T) {
		conn, end := served(t, hold(slog.New(slog.DiscardHandler), AnswerWithin,
			http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { begin(w); late(w, r) })))
		_, err := io.WriteString(conn, "GET /x HTTP/1.1\r\nHost: h\r\n\r\n")
		require.NoError(t, err)
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		_, err = io.ReadAll(res.Body)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, "when its time is over")
		require.NoError(t, end())
	})
}

// served serves one connection until the test says so, and returns what serve returned.
func served(t *testing.T, h http.Handler) (conn net.Conn, end func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	l, done := make(pipes), make(chan error, 1)
	go func() { done <- serve(ctx, l, h, slog.New(slog.DiscardHandler)) }()
	here, there := net.Pipe()
	l <- there
	return here, func() error { cancel(); return <-done }
}

// TestRefusedBodyIsRead: a client that sends its body to the end before it looks at the answer, as
// the host does, gets the answer, however much of the body the handler left.
func TestRefusedBodyIsRead(t *testing.T) {
	t.Parallel()
	refused := func(w http.ResponseWriter, r *http.Request) {
		httpjson.Refuse(w, r, fault.New(fault.Unauthenticated, "sign in"))
	}
	server := httptest.NewServer(hold(slog.New(slog.DiscardHandler), time.Minute, http.HandlerFunc(refused)))
	t.Cleanup(server.Close)
	for _, n := range []int{0, 1, 1 << 20, 9 << 20, mostBody} {
		for _, chunked := range []bool{false, true} {
			conn, err := net.Dial("tcp", server.Listener.Addr().String())
			require.NoError(t, err)
			body := io.LimitReader(zeros{}, int64(n))
			req, err := http.NewRequest(http.MethodPost, server.URL, struct{ io.Reader }{body})
			require.NoError(t, err)
			if req.ContentLength = int64(n); chunked {
				req.ContentLength = -1
			}
			require.NoError(t, req.Write(conn), "%d bytes, chunked %v", n, chunked)
			res, err := http.ReadResponse(bufio.NewReader(conn), req)
			require.NoError(t, err)
			require.Equal(t, http.StatusUnauthorized, res.StatusCode)
			require.NoError(t, res.Body.Close())
			require.NoError(t, conn.Close())
		}
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// A request that is still running when a shutdown has run out of time is answered.
func TestShutdownAnswersWhatIsRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, told, stuck := slog.New(slog.DiscardHandler), make(chan struct{}), make(chan struct{})
		conn, end := served(t, hold(log, time.Hour, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			close(told)
			<-stuck
		})))
		_, err := io.WriteString(conn, "DELETE / HTTP/1.1\r\nHost: h\r\n\r\n")
		require.NoError(t, err)
		answered := make(chan int)
		go func() {
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				close(answered)
				return
			}
			_, _ = io.Copy(io.Discard, res.Body)
			answered <- res.StatusCode
		}()
		synctest.Wait()
		ended := make(chan error, 1)
		go func() { ended <- end() }()
		require.Equal(t, http.StatusInternalServerError, <-answered)
		require.NoError(t, <-ended, "all are answered")
		<-told
		close(stuck)
	})
}

// A job of a timer may take longer than a request may take to arrive.
func TestLongJobsAreNotCutShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := slog.New(slog.DiscardHandler)
		var during error
		job := function.Trigger{
			Name: "purge", Schedule: "0 0 3 * * *",
			Run: func(ctx context.Context, _ function.Invocation) error {
				time.Sleep(4 * time.Minute) // of a clock that moves when all wait
				during = ctx.Err()
				return nil
			},
		}
		conn, end := served(t, hold(log, AnswerWithin,
			function.Handler([]function.Trigger{job}, "127.0.0.1:1", log, http.NotFoundHandler())))
		_, err := io.WriteString(conn, "POST /purge HTTP/1.1\r\nHost: 127.0.0.1:1\r\nTransfer-Encoding: chunked\r\n\r\nd\r\n{\"Data\":{\"t\":\r\n4\r\n{}}}\r\n0\r\n\r\n")
		require.NoError(t, err)
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		_, _ = io.Copy(io.Discard, res.Body)
		require.Equal(t, http.StatusOK, res.StatusCode)
		require.NoError(t, during)
		require.NoError(t, end())
	})
}

// A host that proxies ends a request after 240 seconds of silence: the answer that there is none is
// sent before.
func TestProxiedAnswersEndBeforeTheHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		conn, end := served(t, hold(slog.New(slog.DiscardHandler), AnswerWithin,
			http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })))
		_, err := io.WriteString(conn, "GET /x HTTP/1.1\r\nHost: h\r\nX-Forwarded-Host: h\r\nX-Ms-Invocation-Id: 1\r\nX-Azure-Functions-Invocationid: 1\r\n\r\n")
		require.NoError(t, err)
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		body, _ := io.ReadAll(res.Body)
		require.Contains(t, string(body), httpjson.Unfinished)
		require.Less(t, time.Since(began), 240*time.Second)
		require.NoError(t, end())
	})
}
