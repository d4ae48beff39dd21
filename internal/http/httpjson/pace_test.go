package httpjson_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/httpjson"
)

// A pipe is a listener for connections that need no network, whose deadlines follow the clock of
// the test.
type pipe chan net.Conn

func (p pipe) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (p pipe) Close() error   { close(p); return nil }
func (p pipe) Addr() net.Addr { return &net.UnixAddr{} }

// server serves a handler and returns what connects to it.
func server(t *testing.T, h http.HandlerFunc) (connect func() net.Conn) {
	t.Helper()
	l := make(pipe)
	srv := &http.Server{Handler: httpjson.Observer{Log: discard, Now: fixed}.Observe(httpjson.Buffered(h))}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() {
		_ = srv.Close()
		time.Sleep(time.Minute) // by the clock of the test: nothing goes on after it
	})
	return func() net.Conn {
		client, conn := net.Pipe()
		t.Cleanup(func() { _ = client.Close() })
		l <- conn
		return client
	}
}

// sink reads the body of each request and tells when it has ended.
func sink(a *httpjson.Admission, ended chan<- error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_ = a.Admit(r.Context(), w.Header(), from("203.0.113.1"), true)
		_, err := a.ReadBody(w, r, 16<<20)
		ended <- err
		if err != nil {
			httpjson.Refuse(w, r, err)
		}
	}
}

// TestSlowBodies holds that a body comes as long as it needs at 16 KiB in a second, and that a
// client which stops is cut after 5 s, whatever it has sent before.
func TestSlowBodies(t *testing.T) {
	t.Parallel()
	const second = 16 << 10
	for _, tt := range []struct {
		name         string
		first, drops int // bytes at first, and in each second
		want         time.Duration
		ok           bool
	}{
		{"no byte", 0, 0, 5 * time.Second, false},
		{"a byte a second", 0, 1, 5 * time.Second, false},
		{"much, and then nothing", 100 * second, 0, 5 * time.Second, false},
		{"a little less than it must", 0, second / 2, 10 * time.Second, false},
		{"as much as it must", 0, second + 1024, 60 * time.Second, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ended := make(chan error, 1)
				client := server(t, sink(httpjson.NewAdmission(httpjson.Limits{}, fixed), ended))()
				size := 60 * (second + 1024)
				if !tt.ok {
					size = 8 << 20
				}
				answered := make(chan *http.Response, 1)
				go func() {
					r, err := http.ReadResponse(bufio.NewReader(client), nil)
					if err == nil {
						answered <- r
					}
				}()
				_, err := fmt.Fprintf(client, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", size,
					strings.Repeat("x", tt.first))
				require.NoError(t, err)
				start := time.Now()
				go func() {
					for err == nil {
						time.Sleep(time.Second) // of the clock of the test
						_, err = io.WriteString(client, strings.Repeat("x", tt.drops))
					}
				}()
				if err := <-ended; tt.ok {
					require.NoError(t, err)
				} else {
					require.Error(t, err)
				}
				require.InDelta(t, tt.want.Seconds(), time.Since(start).Seconds(), 1.1)
				r := <-answered
				require.Equal(t, tt.ok, r.StatusCode == http.StatusOK)
				require.Equal(t, !tt.ok, r.StatusCode == http.StatusRequestTimeout)
				_ = client.Close()
			})
		})
	}
}

// TestSlowReaders holds that an answer counts until it is sent, that it goes to a client that takes
// 16 KiB in a second, and that a client which takes less is cut.
func TestSlowReaders(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	for _, tt := range []struct {
		name    string
		drops   int // bytes that are read in each second
		ok      bool
		unlucky time.Duration // when it is cut
	}{
		{"no byte", 0, false, 5 * time.Second},
		{"a byte a second", 1, false, 5 * time.Second},
		{"as much as it must", 20 << 10, true, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a := httpjson.NewAdmission(httpjson.Limits{}, fixed)
				connect := server(t, func(w http.ResponseWriter, r *http.Request) {
					_ = a.Admit(r.Context(), w.Header(), from("203.0.113.1"), false)
					_, _ = w.Write(make([]byte, size))
				})
				var slow []net.Conn
				ask := func() net.Conn {
					client := connect()
					_, err := io.WriteString(client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
					require.NoError(t, err)
					return client
				}
				status := func() int {
					client := ask()
					defer client.Close()
					r, err := http.ReadResponse(bufio.NewReader(client), nil)
					require.NoError(t, err)
					return r.StatusCode
				}
				for range 16 {
					slow = append(slow, ask())
				}
				synctest.Wait()
				require.Equal(t, http.StatusTooManyRequests, status(), "answers that are not sent count")
				start := time.Now()
				for _, client := range slow {
					go func() {
						var err error
						b := make([]byte, tt.drops)
						for err == nil && tt.drops > 0 {
							time.Sleep(time.Second)
							_, err = io.ReadFull(client, b)
						}
					}()
				}
				if tt.ok {
					time.Sleep(20 * time.Second)
					require.Equal(t, http.StatusTooManyRequests, status())
					time.Sleep(40 * time.Second) // more than it needs
				} else {
					time.Sleep(tt.unlucky + 2*time.Second)
				}
				synctest.Wait()
				require.Equal(t, http.StatusOK, status(), time.Since(start))
				for _, client := range slow {
					_ = client.Close()
				}
			})
		})
	}
}

// TestAnswerWithoutRoom holds that a caller is told of an answer that is larger than the caller may
// have on the way, and gets nothing of it.
func TestAnswerWithoutRoom(t *testing.T) {
	t.Parallel()
	a := httpjson.NewAdmission(httpjson.Limits{}, fixed)
	w, _ := observe(t, get("/"), httpjson.ETags(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = a.Admit(r.Context(), w.Header(), user("ann"), false)
		w.Header().Set("Content-Disposition", "attachment")
		w.Header().Set("ETag", `"x"`)
		for range 17 {
			_, _ = w.Write(make([]byte, 1<<20))
		}
	})).ServeHTTP)
	require.Equal(t, http.StatusTooManyRequests, w.Code)
	require.Equal(t, httpjson.ProblemType, w.Header().Get("Content-Type"))
	require.Empty(t, w.Header().Get("Content-Disposition"))
	require.Empty(t, w.Header().Get("ETag"))
	require.Contains(t, w.Body.String(), `"TOO_MANY_AT_ONCE"`)
}
