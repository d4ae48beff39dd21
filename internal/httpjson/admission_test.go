package httpjson_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/httpjson"
)

// TestPlaces holds that one caller has at most an eighth of the places, and all together no more
// than there are.
func TestPlaces(t *testing.T) {
	t.Parallel()
	a := httpjson.NewAdmission(httpjson.Limits{AtWork: 16}, fixed)
	var leave []func()
	enter := func(caller string) fault.Kind {
		l, err := a.Enter(caller)
		if err == nil {
			leave = append(leave, l)
		}
		return fault.Of(err)
	}
	for i := range 8 {
		caller := string(rune('a' + i))
		require.Zero(t, enter(caller))
		require.Zero(t, enter(caller))
		require.Equal(t, fault.Limited, enter(caller))
	}
	require.Equal(t, fault.Unavailable, enter("another"))
	leave[0]()
	require.Zero(t, enter("another"))
	require.Equal(t, fault.Unavailable, enter("a"))
	for _, l := range leave[1:] {
		l()
	}
	require.Zero(t, enter("a"))
}

// An arriving body says when it is waited for, and ends when it is told to.
type arriving struct{ waited, end chan struct{} }

func (b arriving) Read([]byte) (int, error) {
	b.waited <- struct{}{}
	<-b.end
	return 0, io.EOF
}

func (arriving) Close() error { return nil }

// TestBodiesShareMemory holds that bodies on their way have a bounded size together, however long
// each may be, and that one caller does not fill it.
func TestBodiesShareMemory(t *testing.T) {
	t.Parallel()
	a := httpjson.NewAdmission(httpjson.Limits{AtWork: 1024}, fixed)
	const size = 1 << 20
	b := arriving{make(chan struct{}), make(chan struct{})}
	var sent sync.WaitGroup
	begin := func(caller string, length int64, body io.ReadCloser) error {
		r := httptest.NewRequest(http.MethodPost, "/", body)
		r.ContentLength = length
		_, err := a.ReadBody(httptest.NewRecorder(), r, caller, size)
		return err
	}
	for caller := range 8 {
		for range 8 {
			sent.Go(func() { _ = begin(fmt.Sprint(caller), -1, b) })
			<-b.waited
		}
		var p *httpjson.Problem
		require.ErrorAs(t, begin(fmt.Sprint(caller), 1, http.NoBody), &p)
		require.Equal(t, http.StatusTooManyRequests, p.Status, "one caller has an eighth")
	}
	var p *httpjson.Problem
	require.ErrorAs(t, begin("another", 1, http.NoBody), &p)
	require.Equal(t, http.StatusServiceUnavailable, p.Status)
	require.NoError(t, begin("another", 0, http.NoBody))
	close(b.end)
	sent.Wait()
	require.NoError(t, begin("another", 1, io.NopCloser(strings.NewReader("x"))))
}

// TestWholeFreesPlacesFirst holds that an answer goes out when its handler has returned, with what
// it is made of.
func TestWholeFreesPlacesFirst(t *testing.T) {
	t.Parallel()
	returned := false
	out := &recorder{ResponseRecorder: httptest.NewRecorder(), on: func() { require.True(t, returned) }}
	h := httpjson.Whole(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
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
