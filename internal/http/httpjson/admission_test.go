package httpjson_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/http/httpjson"
)

// from returns a caller who is not signed in.
func from(address string) httpjson.Caller {
	r := get("/")
	r.RemoteAddr = netip.AddrPortFrom(netip.MustParseAddr(address), 1).String()
	return httpjson.CallerOf(r, "")
}

func user(id string) httpjson.Caller { return httpjson.CallerOf(get("/"), id) }

// TestPlaces holds that one caller has at most an eighth of the places, and all together no more
// than there are.
func TestPlaces(t *testing.T) {
	t.Parallel()
	a := httpjson.NewAdmission(httpjson.Limits{AtWork: 16}, fixed)
	var leave []func()
	enter := func(id string) fault.Kind {
		l, err := a.Enter(t.Context(), user(id))
		if err == nil {
			leave = append(leave, l)
		}
		return fault.Of(err)
	}
	for i := range 8 {
		id := string(rune('a' + i))
		require.Zero(t, enter(id))
		require.Zero(t, enter(id))
		require.Equal(t, fault.Limited, enter(id))
	}
	require.Equal(t, fault.Unavailable, enter("another"))
	leave[0]()
	leave[0]() // as if not called again
	require.Zero(t, enter("another"))
	require.Equal(t, fault.Unavailable, enter("a"))
	for _, l := range leave[1:] {
		l()
	}
	require.Zero(t, enter("a"))
}

// TestHalfIsForUsers holds that callers who are not signed in have half of the places together, and
// that a network of IPv6 has no more than two of its addresses.
func TestHalfIsForUsers(t *testing.T) {
	t.Parallel()
	a := httpjson.NewGate(32, "requests")
	enter := func(c httpjson.Caller) fault.Kind {
		_, err := a.Enter(c)
		return fault.Of(err)
	}
	for i := range 8 {
		require.Zero(t, enter(from(fmt.Sprintf("2001:db8:0:%x::1", i))), "other addresses of one network")
	}
	require.Equal(t, fault.Limited, enter(from("2001:db8:0:ff::1")), "all that the network may have")
	for range 4 {
		require.Zero(t, enter(from("2001:db8:1::1")))
	}
	require.Equal(t, fault.Limited, enter(from("2001:db8:1::2")), "all that the address may have")
	for range 4 {
		require.Zero(t, enter(from("203.0.113.1")))
	}
	require.Equal(t, fault.Unavailable, enter(from("203.0.113.2")))
	for i := range 16 {
		require.Zero(t, enter(user(strconv.Itoa(i))))
	}
	require.Equal(t, fault.Unavailable, enter(user("another")))
}

// A piece of a body says that it is read, and ends when it is told to.
type piece struct {
	io.Reader
	read, end chan struct{}
}

func (p piece) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	if err != nil {
		p.read <- struct{}{}
		<-p.end
	}
	return n, err
}

func (piece) Close() error { return nil }

// TestBodiesCountAsTheyCome holds that the length that a request states counts for nothing, that
// received bytes count until the request has ended, and that one caller does not fill the memory.
func TestBodiesCountAsTheyCome(t *testing.T) {
	t.Parallel()
	a := httpjson.NewAdmission(httpjson.Limits{}, fixed)
	const size = 4 << 20
	read, end := make(chan struct{}), make(chan struct{})
	var sent sync.WaitGroup
	begin := func(c httpjson.Caller, length int64, body io.Reader) *httptest.ResponseRecorder {
		h := func(w http.ResponseWriter, r *http.Request) {
			if err := a.Admit(r.Context(), w.Header(), c, true); err != nil {
				httpjson.Refuse(w, r, err)
			} else if _, err := a.ReadBody(w, r, size); err != nil {
				httpjson.Refuse(w, r, err)
			}
		}
		r := httptest.NewRequest(http.MethodPost, "/", body)
		r.ContentLength = length
		w := httptest.NewRecorder()
		httpjson.Observer{Log: discard, Now: fixed}.Observe(http.HandlerFunc(h)).ServeHTTP(w, r)
		return w
	}
	hold := func(c httpjson.Caller, said int64, n int) {
		sent.Go(func() { begin(c, said, piece{strings.NewReader(strings.Repeat("x", n)), read, end}) })
		<-read
	}
	whole := func(c httpjson.Caller) *httptest.ResponseRecorder {
		return begin(c, 64<<10, strings.NewReader(strings.Repeat("x", 64<<10)))
	}
	for range 1000 {
		hold(user("idle"), size, 0)
	}
	require.Equal(t, http.StatusOK, whole(user("idle")).Code, "nothing has come yet")
	for i := range 4 {
		c := from(fmt.Sprint("203.0.113.", i))
		for range 4 {
			hold(c, size-64<<10, size-64<<10)
		}
		w := whole(c)
		require.Equal(t, http.StatusTooManyRequests, w.Code, "one caller has an eighth")
		require.Contains(t, w.Body.String(), `"TOO_MANY_AT_ONCE"`)
	}
	require.Equal(t, http.StatusServiceUnavailable, whole(from("198.51.100.1")).Code, "half is for users")
	require.Equal(t, http.StatusOK, begin(from("198.51.100.1"), 100, strings.NewReader(strings.Repeat("x", 100))).Code)
	require.Equal(t, http.StatusOK, whole(user("ann")).Code)
	close(end)
	sent.Wait()
	require.Equal(t, http.StatusOK, whole(from("198.51.100.1")).Code)
}

// TestWholeFreesPlacesFirst holds that an answer goes out when its handler has returned, with what
// it is made of.
func TestWholeFreesPlacesFirst(t *testing.T) {
	t.Parallel()
	returned := false
	out := &recorder{ResponseRecorder: httptest.NewRecorder(), on: func() { require.True(t, returned) }}
	h := httpjson.Buffered(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X", "y")
		w.WriteHeader(http.StatusTeapot)
		_, err := w.Write([]byte("hello"))
		require.NoError(t, err)
		returned = true
	}))
	h.ServeHTTP(out, httptest.NewRequest(http.MethodPost, "/", nil))
	require.Equal(t, http.StatusTeapot, out.Code)
	require.Equal(t, "hello", out.Body.String())
	require.Equal(t, "y", out.Header().Get("X"))
	require.Empty(t, out.Header().Get("ETag"))
}

type recorder struct {
	*httptest.ResponseRecorder
	on func()
}

func (r *recorder) WriteHeader(status int) { r.on(); r.ResponseRecorder.WriteHeader(status) }

func (r *recorder) Write(b []byte) (int, error) { r.on(); return r.ResponseRecorder.Write(b) }

// TestForeignWordsInTheLog holds that what a client sent takes only so much of the log.
func TestForeignWordsInTheLog(t *testing.T) {
	t.Parallel()
	_, line := observe(t, get("/"), func(w http.ResponseWriter, r *http.Request) {
		err := fault.Wrap(fault.Unauthenticated, "no", errorText(strings.Repeat("é", 6000)))
		httpjson.WriteProblem(w, httpjson.Describe(r.Context(), err))
	})
	require.LessOrEqual(t, len(line["error"].(string)), 200+len("…"))
	require.NotContains(t, line["error"], "\ufffd")
}

type errorText string

func (e errorText) Error() string { return string(e) }

func TestStrictTransport(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		url, proto string
		set        bool
	}{{"http://x/", "", false}, {"http://x/", "http", false}, {"http://x/", "https", true}, {"https://x/", "", true}} {
		r := httptest.NewRequest(http.MethodGet, tt.url, nil)
		r.Header.Set("X-Forwarded-Proto", tt.proto)
		w := httptest.NewRecorder()
		httpjson.Secure(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, r)
		require.Equal(t, tt.set, w.Header().Get("Strict-Transport-Security") != "", tt)
	}
}
