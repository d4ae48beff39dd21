package functiontest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// send sends a request with the given path and query as they stand and returns what the fake
// handler saw.
func send(t *testing.T, h *Host, method, target string, body io.Reader, header ...string) seen {
	t.Helper()
	res := exchange(t, h, method, target, body, header...)
	var s seen
	require.NoError(t, json.Unmarshal(res.body, &s), "%d %s", res.status, res.body)
	return s
}

func exchange(t *testing.T, h *Host, method, target string, body io.Reader, header ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, h.URL()+target, body)
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		req.Header.Add(header[i], header[i+1])
	}
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
		req.Header.Del("Host")
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Empty(t, res.Trailer)
	return answer{res.StatusCode, res.Header, b}
}

func TestForward(t *testing.T) {
	t.Parallel()
	h := up(t, application(nil), Options{})

	t.Run("request", func(t *testing.T) {
		got := send(t, h, http.MethodPut, "/api/items/42?x=1&x=2&y=a+b", strings.NewReader("hello"),
			"Host", "app.example", "User-Agent", "curl/8", "Content-Type", "text/x", "Content-Encoding", "gzip",
			"Content-Language", "de", "Expires", "0", "Last-Modified", "x", "If-Match", `"7"`,
			"Accept", "a", "Accept", "b",
			"X-Azure-Functions-InvocationId", "mine")
		require.Equal(t, http.MethodPut, got.Method)
		require.Equal(t, "/api/items/42?x=1,2&y=a%20b", got.URI, "repeated keys become one")
		require.Equal(t, "app.example", got.Host)
		require.Equal(t, "hello", got.Body)
		require.EqualValues(t, 5, got.Length)
		require.Equal(t, []string{"text/x"}, got.Header["Content-Type"])
		for _, name := range []string{"Content-Encoding", "Content-Language", "Expires", "Last-Modified"} {
			require.NotContains(t, got.Header, name)
		}
		require.Equal(t, []string{`"7"`}, got.Header["If-Match"])
		require.Equal(t, []string{"a, b"}, got.Header["Accept"], "lines of one name become one")
		require.Equal(t, []string{"curl/8 Azure-Functions-Host/" + version}, got.Header["User-Agent"])
		require.Equal(t, []string{version}, got.Header["X-Azure-Functions-Hostversion"])
		ids := got.Header["X-Azure-Functions-Invocationid"]
		last := h.Invocations()[len(h.Invocations())-1]
		require.Equal(t, []string{"mine, " + last.ID}, ids, "added, not replaced")
		require.Equal(t, Invocation{Function: "zz_rest", ID: last.ID, Forwarded: true, Status: 200, Done: true}, last)
		for name := range got.Header {
			require.False(t, strings.HasPrefix(name, "X-Forwarded"), "without a front end there is no %s", name)
		}
	})
	t.Run("headers of the connection", func(t *testing.T) {
		names := []string{
			"Connection", "Keep-Alive", "Te", "Upgrade", "Proxy-Authorization",
			"Proxy-Connection", "Expect", "Trailer",
		}
		request := "GET /api/x HTTP/1.1\r\nHost: h\r\n"
		for _, name := range names {
			request += name + ": X-Mine\r\n"
		}
		var got seen
		require.NoError(t, json.Unmarshal(
			raw(t, h, strings.Replace(request, "Expect: X-Mine", "Expect: 100-continue", 1)+"\r\n").body, &got))
		for _, name := range names {
			require.Len(t, got.Header[name], 1, name)
		}
		for _, name := range ofConnection {
			if name != "Transfer-Encoding" {
				a := raw(t, h, "GET /api/header?name="+name+"&value=a HTTP/1.1\r\nHost: h\r\n\r\n")
				require.Equal(t, []string{"a"}, a.header[name])
			}
		}
	})
	t.Run("no body", func(t *testing.T) {
		got := send(t, h, http.MethodPost, "/api/x", nil, "Content-Type", "text/x")
		require.Zero(t, got.Length)
		require.NotContains(t, got.Header, "Content-Type")
	})
	t.Run("chunked body", func(t *testing.T) {
		a := exchange(t, h, http.MethodPost, "/api/x", io.NopCloser(strings.NewReader("hello")))
		require.Equal(t, http.StatusInternalServerError, a.status)
		require.Empty(t, a.body)
	})
	t.Run("large body", func(t *testing.T) {
		big := bytes.Repeat([]byte("x"), 1<<20)
		got := send(t, h, http.MethodPost, "/api/x", bytes.NewReader(big))
		require.Len(t, got.Body, 1<<20)
	})
	t.Run("answer", func(t *testing.T) {
		for _, code := range []string{"201", "302", "404", "503"} {
			a := exchange(t, h, http.MethodGet, "/api/answer?status="+code, nil)
			require.Equal(t, code, http.StatusText(a.status)[:0]+string(must(json.Marshal(a.status))))
			require.Equal(t, "answered", string(a.body))
			require.Equal(t, []string{"a=1", "b=2"}, a.header["Set-Cookie"])
			require.Equal(t, "/elsewhere", a.header.Get("Location"), "redirects are the client's business")
			require.NotContains(t, a.header, "X-Trailer")
		}
	})
}

func TestHostAnswersItself(t *testing.T) {
	t.Parallel()
	h := up(t, application(files{
		"zz_rest/function.json": "",
		"items/function.json": strings.Replace(rest, `"route":"{*rest}"`,
			`"route":"items","methods":["get","head"]`, 1),
		"off/function.json": strings.Replace(rest, "{*rest}", "off", 1),
	}), Options{}, "AzureWebJobs.off.Disabled=true")
	for target, want := range map[string]int{
		"GET /": 200, "GET /api/items": 200, "HEAD /api/items": 200, "GET /API/Items/": 200, "POST /api/items": 404,
		"OPTIONS /api/items": 404, "GET /api": 404,
		"GET /items": 404, "GET /api/other": 404, "GET /api/off": 404, "GET /admin/host/status": 404,
		"GET /runtime/webhooks": 404, "POST /jobs": 404,
	} {
		method, path, _ := strings.Cut(target, " ")
		require.Equal(t, want, exchange(t, h, method, path, nil).status, target)
	}
	require.Contains(t, string(exchange(t, h, http.MethodGet, "/", nil).body), "<html>")
}

// A host without a front end marks nothing: then the guard has only what the client cannot do,
// which must send chunks, even if it knows the port of the handler.
func TestTriggersFromOutsideABareHost(t *testing.T) {
	t.Parallel()
	h := up(t, application(nil), Options{}, "AzureFunctionsJobHost__extensions__http__routePrefix=")
	const envelope = `{"Data":{"msg":"\"from outside\""}}`
	for _, target := range []string{"/guarded", "/x/..%5Cguarded", "/%2e%2e%5Cguarded"} {
		got := send(t, h, http.MethodPost, target, strings.NewReader(envelope), "Host", h.worker.addr, "User-Agent", "",
			"Content-Type", "application/json; charset=utf-8")
		require.Equal(t, "/guarded", got.URI, "the path did arrive")
		require.Equal(t, []string{"Azure-Functions-Host/" + version}, got.Header["User-Agent"])
		chunked := exchange(t, h, http.MethodPost, target, io.NopCloser(strings.NewReader(envelope)), "Host",
			h.worker.addr)
		require.Equal(t, http.StatusInternalServerError, chunked.status)
	}
	require.Zero(t, h.count("guarded ran"))
}

// TestTriggersFromOutside holds that clients do not reach a guarded trigger even where the host
// forwards everything, and that they do reach one without guard.
func TestTriggersFromOutside(t *testing.T) {
	t.Parallel()
	h := up(t, application(nil), Options{FrontEnd: true}, "AzureFunctionsJobHost__extensions__http__routePrefix=")
	const envelope = `{"Data":{"msg":"\"from outside\""}}`
	for _, target := range []string{"/guarded", "/x/..%5Cguarded", "/%2e%2e%5Cguarded"} {
		got := send(t, h, http.MethodPost, target, strings.NewReader(envelope), "Host", h.worker.addr)
		require.NotEmpty(t, got.Header["X-Forwarded-For"])
		require.NotEmpty(t, got.Header["X-Arr-Log-Id"])
		require.Equal(t, "/guarded", got.URI, "the path did arrive")
	}
	require.Zero(t, h.count("guarded ran"))
	require.Equal(t, http.StatusOK, exchange(t, h, http.MethodPost, "/jobs", strings.NewReader(envelope)).status)
}
