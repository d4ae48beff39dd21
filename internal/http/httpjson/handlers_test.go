package httpjson_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/httpjson"
)

var discard = slog.New(slog.DiscardHandler)

func fixed() time.Time { return time.UnixMilli(0) }

// observe runs one request through Observe and returns the answer and the log line.
func observe(t *testing.T, r *http.Request, h http.HandlerFunc) (*httptest.ResponseRecorder, map[string]any) {
	t.Helper()
	var b bytes.Buffer
	w := httptest.NewRecorder()
	func() {
		defer func() {
			if v := recover(); v != nil {
				require.Equal(t, http.ErrAbortHandler, v)
				w.Code = -1
			}
		}()
		httpjson.Observer{Log: slog.New(slog.NewJSONHandler(&b, nil)), Now: fixed}.Observe(h).ServeHTTP(w, r)
	}()
	require.Equal(t, 1, strings.Count(b.String(), "\n"), "one line: %s", b.String())
	var line map[string]any
	require.NoError(t, json.Unmarshal(b.Bytes(), &line))
	return w, line
}

func get(path string) *http.Request { return httptest.NewRequest(http.MethodGet, path, nil) }

func TestObserve(t *testing.T) {
	t.Parallel()
	var id string
	w, line := observe(t, get("/x?q=secret"), func(w http.ResponseWriter, r *http.Request) {
		id = httpjson.RequestID(r.Context())
		httpjson.SetUser(r.Context(), "ann")
		w.WriteHeader(http.StatusTeapot)
		_, err := w.Write([]byte("hello"))
		require.NoError(t, err)
	})
	require.Len(t, id, 26)
	require.Equal(t, id, w.Header().Get("X-Request-Id"))
	delete(line, "time")
	require.Equal(t, map[string]any{
		"level": "INFO", "msg": "request", "method": "GET", "route": "", "status": 418.0, "duration_ms": 0.0,
		"bytes": 5.0, "storage_ops": 0.0, "request_id": id, "user": "ann",
	}, line)
	_, line = observe(t, httptest.NewRequest("INVENTED", "/", nil), func(http.ResponseWriter, *http.Request) {})
	require.Equal(t, "other", line["method"])
	require.EqualValues(t, 200, line["status"])
	require.NotContains(t, line, "user")
}

func TestRequestID(t *testing.T) {
	t.Parallel()
	const guid = "8b1f6a52-6c5a-4d0e-9f2c-3a1b7c9d0e4f"
	tests := []struct {
		name  string
		ids   []string
		taken bool
	}{
		{"one", []string{guid}, true},
		{"two", []string{guid, guid}, false},
		{"two in one", []string{guid + "," + guid}, false},
		{"ill-formed", []string{"x\" y"}, false},
		{"line break", []string{guid + "\n"}, false},
		{"empty", []string{""}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := get("/")
			r.Header["X-Azure-Functions-Invocationid"] = tt.ids
			w, line := observe(t, r, func(http.ResponseWriter, *http.Request) {})
			require.Equal(t, tt.taken, w.Header().Get("X-Request-Id") == guid)
			require.Equal(t, w.Header().Get("X-Request-Id"), line["request_id"])
		})
	}
}

func TestPanic(t *testing.T) {
	t.Parallel()
	w, line := observe(t, get("/"), func(http.ResponseWriter, *http.Request) { panic("a defect") })
	require.Equal(t, 500, w.Code)
	require.Contains(t, w.Body.String(), w.Header().Get("X-Request-Id"))
	require.NotContains(t, w.Body.String(), "defect")
	require.Equal(t, "ERROR", line["level"])
	require.Contains(t, line["error"], "a defect")
	require.Contains(t, line["error"], "handlers_test.go", "with a stack")

	w, line = observe(t, get("/"), func(w http.ResponseWriter, _ *http.Request) {
		_, err := w.Write([]byte(`{"half":`))
		require.NoError(t, err)
		panic("a defect")
	})
	require.Equal(t, -1, w.Code, "half an answer is cut off")
	require.Equal(t, `{"half":`, w.Body.String())
	require.Contains(t, line["error"], "a defect")

	w, line = observe(t, get("/"), func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	require.Equal(t, -1, w.Code)
	require.NotContains(t, line, "error")
}

func TestSecure(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	httpjson.Secure(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
	})).ServeHTTP(w, get("/"))
	require.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
	require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
}

func TestJoinQuery(t *testing.T) {
	t.Parallel()
	tests := []struct {
		query string
		want  url.Values
	}{
		{"a=1&b=2", url.Values{"a": {"1"}, "b": {"2"}}},
		{"a=1&a=2&a=", url.Values{"a": {"1,2"}}},
		{"a=1%2C2&a=3", url.Values{"a": {"1,2,3"}}},
		{"a=x;y&b", url.Values{"a": {"x;y"}, "b": {""}}},
		{"a=%2B+%26", url.Values{"a": {"+ &"}}},
		{"a=%zz&b=100%", url.Values{"a": {"%zz"}, "b": {"100%"}}},
		{"%=1&%FF=2", url.Values{"%": {"1"}, "%FF": {"2"}}},
		{"a=%FF%C3%BC%C3%28%c3%F0%9F%98%80", url.Values{"a": {"%FFü%C3(%c3😀"}}},
		{"A=1&a=2", url.Values{"a": {"1,2"}}},
		{"a=2&b=x&A=1", url.Values{"A": {"2,1"}, "b": {"x"}}},
		{"a&a=x&a=&a=y", url.Values{"a": {"x,y"}}},
		{"a=&&a=", url.Values{"a": {""}}},
		{"a=\xff", url.Values{"a": {"\xff"}}}, // for a check of the value to refuse
	}
	for _, tt := range tests {
		t.Run(tt.query, func(t *testing.T) {
			t.Parallel()
			var got url.Values
			r := get("/")
			r.URL.RawQuery = tt.query
			w := httptest.NewRecorder()
			httpjson.JoinQuery(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				got = r.URL.Query()
			})).ServeHTTP(w, r)
			require.Equal(t, tt.want, got)
			require.Equal(t, tt.query, r.URL.RawQuery, "the caller's request stays as it is")
		})
	}
}

func TestParseETags(t *testing.T) {
	t.Parallel()
	type list = httpjson.ETagList
	tests := []struct {
		in   []string
		want list
	}{
		{nil, list{}},
		{[]string{""}, list{}},
		{[]string{" * "}, list{Any: true}},
		{[]string{`"a"`}, list{Tags: []string{"a"}}},
		{[]string{`W/"a"`}, list{Tags: []string{"a"}}},
		{[]string{`"a" , W/"b,c",,"d"`}, list{Tags: []string{"a", "b,c", "d"}}},
		{[]string{`"a"`, `"b"`}, list{Tags: []string{"a", "b"}}},
		{[]string{`""`}, list{Tags: []string{""}}},
		{[]string{`a`}, list{}},
		{[]string{`"a`}, list{}},
		{[]string{`"a" "b"`}, list{}},
		{[]string{`w/"a"`}, list{}},
		{[]string{`"a", *`}, list{}},
		{[]string{`"a", b`}, list{}},
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.in, "|"), func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, httpjson.ParseETags(tt.in))
		})
	}
}

func FuzzParseETags(f *testing.F) {
	f.Add(`"a", W/"b"`)
	f.Add(`*`)
	f.Fuzz(func(t *testing.T, s string) {
		l := httpjson.ParseETags([]string{s})
		require.False(t, l.Any && len(l.Tags) > 0)
		for _, tag := range l.Tags {
			require.True(t, l.Match(`"`+tag+`"`))
			require.True(t, l.Match(`W/"`+tag+`"`))
			require.Contains(t, s, `"`+tag+`"`)
		}
	})
}

func TestETagsLeaveOtherAnswersAlone(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, method string
		handler      http.HandlerFunc
		status       int
	}{
		{"error", http.MethodGet, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }, 404},
		{"not stored", http.MethodGet, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Cache-Control", "no-store")
		}, 200},
		{"change", http.MethodPut, func(http.ResponseWriter, *http.Request) {}, 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(tt.method, "/", nil)
			r.Header.Set("If-None-Match", "*")
			w := httptest.NewRecorder()
			httpjson.ETags(tt.handler).ServeHTTP(w, r)
			require.Equal(t, tt.status, w.Code)
			require.Empty(t, w.Header().Get("ETag"))
		})
	}
}
