package functiontest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// proxying is an application whose host proxies, unless it is an older one.
func proxying() files {
	return application(files{"host.json": strings.Replace(hostJSON(queues), `"enableForwardingHttpRequest":true`,
		`"enableForwardingHttpRequest":true,"enableProxyingHttpRequest":true`, 1)})
}

// TestProxy holds what a host that proxies does against the notes of the measured one, whose rows
// the names of the tests are.
func TestProxy(t *testing.T) {
	t.Parallel()
	h := up(t, proxying(), Options{})

	t.Run("P3 request", func(t *testing.T) {
		got := send(t, h, http.MethodPut, "/api/items/42?x=1&x=2&y=a+b&z=%61%zz", strings.NewReader("hello"),
			"Host", "app.example", "User-Agent", "curl/8", "Content-Type", "text/x", "Content-Type", "b",
			"Content-Encoding", "gzip", "Accept", "a", "Accept", "b",
			"Forwarded", "for=9.9.9.9", "X-Forwarded-For", "9.9.9.9", "X-Forwarded-Proto", "https",
			"X-Forwarded-Prefix", "/x", "X-Forwarded-Port", "1", "Client-Ip", "9.9.9.9",
			"X-Azure-Functions-InvocationId", "mine", "X-Ms-Invocation-Id", "mine", "Cookie", "a=1", "Cookie", "b=2")
		require.Equal(t, "/api/items/42?x=1&x=2&y=a+b&z=a%25zz", got.URI)
		require.Equal(t, h.worker.addr, got.Host)
		require.Equal(t, "hello", got.Body)
		require.EqualValues(t, 5, got.Length)
		last := h.Invocations()[len(h.Invocations())-1]
		for name, want := range map[string]string{
			"X-Forwarded-Host": "app.example", "X-Forwarded-For": "127.0.0.1", "X-Forwarded-Proto": "http",
			"X-Forwarded-Port": "1", "Client-Ip": "9.9.9.9",
			"X-Azure-Functions-Invocationid": last.ID, "X-Ms-Invocation-Id": last.ID,
			"X-Azure-Functions-Hostversion": version,
			"User-Agent":                    "curl/8", "Content-Type": "text/x, b", "Content-Encoding": "gzip",
			"Accept": "a, b", "Cookie": "a=1; b=2",
		} {
			require.Equal(t, []string{want}, got.Header[name], name)
		}
		require.NotContains(t, got.Header, "Forwarded")
		require.NotContains(t, got.Header, "X-Forwarded-Prefix")
	})
	t.Run("P3 no user agent", func(t *testing.T) {
		require.NotContains(t, raw(t, h, "GET /api/x HTTP/1.1\r\nHost: h\r\n\r\n").body, "User-Agent")
	})
	t.Run("P3 paths", func(t *testing.T) {
		for sent, want := range map[string]string{
			"/api/a%2Fb": "/api/a%252Fb", "/api/a%2fb": "/api/a%252fb", "/api/%E4": "/api/%25E4",
			"/api/a%5Cb": "/api/a%5Cb", `/api/a\b`: "/api/a%5Cb",
			"/api/..%5Cjobs": "/api/..%5Cjobs", "/api/a%3Fb%23c": "/api/a%3Fb%23c", "/api/%2541": "/api/%2541",
			"/api/%2525": "/api/%2525", "/api/x%20": "/api/x%20",
			"/api/[x]": "/api/%5Bx%5D", "/api/%41%7E": "/api/A~", "/api/x/../y": "/api/y",
			"/api/%2e%2e/api/z": "/api/z", "/api/%zz": "/api/%25zz", "/api/a;b": "/api/a;b",
		} {
			var s seen
			body := raw(t, h, "GET "+sent+" HTTP/1.1\r\nHost: h\r\n\r\n").body
			require.Contains(t, string(body), fmt.Sprintf(`"URI":%q`, want), "%s: %v", sent, s)
		}
	})
	t.Run("P3 chunks", func(t *testing.T) {
		got := send(t, h, http.MethodPost, "/api/x", io.NopCloser(strings.NewReader("hello")))
		require.Equal(t, "hello", got.Body)
		require.EqualValues(t, -1, got.Length)
	})
	t.Run("P3 expectation and trailers", func(t *testing.T) {
		var got seen
		request := "POST /api/x HTTP/1.1\r\nHost: h\r\nTrailer: X-Late\r\n"
		require.NoError(t, json.Unmarshal(raw(t, h, request+"Content-Length: 1\r\n\r\nx").body, &got))
		require.Equal(t, []string{"X-Late"}, got.Header["Trailer"])
		body := string(raw(t, h, request+"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nX-Late: late\r\n\r\n").body)
		require.Contains(t, body, `"Trailer":{"X-Late":null},"Body":"x"`)
		got = send(t, h, http.MethodPost, "/api/x", strings.NewReader("hello"), "Expect", "100-continue")
		require.Equal(t, []string{"100-continue"}, got.Header["Expect"])
		require.Equal(t, "hello", got.Body)
	})
	t.Run("P2 sendings", func(t *testing.T) {
		for name, tt := range map[string]struct {
			request string
			times   int
		}{
			"GET":           {"GET /api/cut?GET HTTP/1.1\r\nHost: h\r\n\r\n", 40},
			"DELETE":        {"DELETE /api/cut HTTP/1.1\r\nHost: h\r\n\r\n", 40},
			"PATCH, length": {"PATCH /api/cut HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n", 10},
			"POST, body":    {"POST /api/cut HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}", 1},
			"PUT, chunks": {
				"PUT /api/cut HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", 1,
			},
		} {
			a := raw(t, h, tt.request)
			require.Equal(t, http.StatusInternalServerError, a.status, name)
			require.Empty(t, a.body, name)
			method, _, _ := strings.Cut(tt.request, " ")
			eventually(t, func() bool { return h.count("hung up on "+method+" /api/cut") >= tt.times })
			require.Equal(t, tt.times, h.count("hung up on "+method+" /api/cut"), name)
		}
	})
	t.Run("P2 cut after the head", func(t *testing.T) {
		before := h.count("hung up on")
		res, err := http.Get(h.URL() + "/api/cut?begun")
		require.NoError(t, err)
		defer res.Body.Close()
		require.Equal(t, http.StatusOK, res.StatusCode)
		_, err = io.ReadAll(res.Body)
		require.Error(t, err)
		printed(t, h, before+1, "hung up on")
	})
	t.Run("P4 answer", func(t *testing.T) {
		for _, code := range []int{201, 302, 404, 503} {
			a := exchange(t, h, http.MethodGet, fmt.Sprint("/api/answer?status=", code), nil)
			require.Equal(t, code, a.status)
			require.Equal(t, "answered", string(a.body))
			require.Equal(t, []string{"a=1", "b=2"}, a.header["Set-Cookie"])
		}
		a := exchange(t, h, http.MethodGet, "/api/header?name=Cache-Control&value=no-cache,+private", nil)
		require.Equal(t, "no-cache, private", a.header.Get("Cache-Control"), "as it was sent")
		a = exchange(t, h, http.MethodGet, "/api/header?name=Allow&value=GET,+PUT", nil)
		require.Equal(t, []string{"GET, PUT"}, a.header["Allow"])
		a = exchange(t, h, http.MethodGet, "/api/header?name=X-A&value=%C3%A9", nil)
		require.Equal(t, http.StatusInternalServerError, a.status)
	})
	t.Run("P4 events come as they are sent", func(t *testing.T) {
		res, err := http.Get(h.URL() + "/api/events")
		require.NoError(t, err)
		defer res.Body.Close()
		line, err := bufio.NewReader(res.Body).ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "data: first\n", line, "while the answer goes on")
	})
	t.Run("P3 the client goes away", func(t *testing.T) {
		c, err := net.Dial("tcp", strings.TrimPrefix(h.URL(), "http://"))
		require.NoError(t, err)
		_, err = io.WriteString(c, "GET /api/pause HTTP/1.1\r\nHost: h\r\n\r\n")
		require.NoError(t, err)
		eventually(t, func() bool { return h.count("paused") == 1 })
		require.NoError(t, c.Close())
		eventually(t, func() bool { return h.count("saw the client go") == 1 })
	})
	t.Run("P2 an answer that is no HTTP", func(t *testing.T) {
		a := raw(t, h, "GET /api/raw?text=HTTP/1.1+2 HTTP/1.1\r\nHost: h\r\n\r\n")
		require.Equal(t, http.StatusInternalServerError, a.status)
		require.Empty(t, a.body)
		printed(t, h, tries, "hung up on GET /api/raw")
	})
	t.Run("P3 headers of the connection", func(t *testing.T) {
		names := []string{"Keep-Alive", "Upgrade", "Proxy-Authorization", "Proxy-Connection", "TE"}
		got := send(t, h, http.MethodGet, "/api/x", nil, "Connection", "X-Mine, X-Forwarded-For", "X-Mine", "a",
			names[0], "a", names[1], "a", names[2], "a", names[3], "a", names[4], "trailers")
		for _, name := range append(names, "Connection") {
			require.NotContains(t, got.Header, http.CanonicalHeaderKey(name))
		}
		require.Equal(t, []string{"a"}, got.Header["X-Mine"])
		require.Equal(t, []string{"127.0.0.1"}, got.Header["X-Forwarded-For"])
	})
	t.Run("P3 other headers", func(t *testing.T) {
		all := []string{
			"Via", "Max-Forwards", "Date", "Pragma", "Traceparent", "Tracestate", "Baggage", "Request-Id",
			"X-Ms-Client-Principal-Id", "X-Azure-Fdid", "X-Azure-Clientip",
			"Content-Encoding", "Content-Language", "Content-Disposition", "Content-Location", "Content-Md5",
			"Content-Range", "Expires", "Last-Modified", "Allow",
		}
		var lines []string
		for _, name := range all {
			lines = append(lines, name, "a")
		}
		got := send(t, h, http.MethodGet, "/api/x", nil, lines...)
		for _, name := range all {
			require.Equal(t, []string{"a"}, got.Header[name], name)
		}
	})
	t.Run("P3 a body of known length is read first", func(t *testing.T) {
		before := h.count("hung up on POST /api/cut")
		c, err := net.Dial("tcp", strings.TrimPrefix(h.URL(), "http://"))
		require.NoError(t, err)
		defer c.Close()
		_, err = io.WriteString(c, "POST /api/cut HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nhalf")
		require.NoError(t, err)
		require.NoError(t, c.(*net.TCPConn).CloseWrite())
		_, err = io.ReadAll(c)
		require.NoError(t, err)
		require.Equal(t, before, h.count("hung up on POST /api/cut"), "the handler is not called")
	})
	t.Run("P4 headers of an answer", func(t *testing.T) {
		for name, value := range map[string]string{"X-Empty": "", "Location": "/x y"} {
			a := raw(t, h, "GET /api/header?name="+name+"&value="+strings.ReplaceAll(value, " ", "%20")+
				" HTTP/1.1\r\nHost: h\r\n\r\n")
			require.Equal(t, []string{value}, a.header[name])
		}
		for _, name := range ofConnection[1:] {
			if name != "Transfer-Encoding" {
				a := raw(t, h, "GET /api/header?name="+name+"&value=a HTTP/1.1\r\nHost: h\r\n\r\n")
				require.NotContains(t, a.header, name)
			}
		}
		a := raw(t, h, "GET /api/raw?text=HTTP/1.1+200+OK%0D%0AContent-Length:+1%0D%0AContent-Length:+2%0D%0A%0D%0Aab HTTP/1.1\r\nHost: h\r\n\r\n")
		require.Equal(t, http.StatusInternalServerError, a.status)
		a = raw(t, h, "GET /api/answer?status=404 HTTP/1.1\r\nHost: h\r\n\r\n")
		require.Equal(t, http.StatusNotFound, a.status)
		all := h.Invocations()
		require.NoError(t, all[len(all)-1].Err, "an answer of any status is a success")
	})
	t.Run("P2 killed in flight, with a body", func(t *testing.T) {
		paused := h.count("paused")
		answered := make(chan int)
		go func() {
			res, err := http.Post(h.URL()+"/api/pause", "text/plain", strings.NewReader("x"))
			if err != nil {
				answered <- 0
				return
			}
			answered <- res.StatusCode
			res.Body.Close()
		}()
		eventually(t, func() bool { return h.count("paused") == paused+1 })
		h.Kill()
		require.Equal(t, http.StatusInternalServerError, <-answered)
		require.Equal(t, paused+1, h.count("paused"), "it is not sent again")
	})
	t.Run("P2 killed in flight", func(t *testing.T) {
		paused := h.count("paused")
		answered := make(chan int)
		go func() {
			res, err := http.Get(h.URL() + "/api/pause")
			if err != nil {
				answered <- 0
				return
			}
			answered <- res.StatusCode
			res.Body.Close()
		}()
		eventually(t, func() bool { return h.count("paused") == paused+1 })
		h.Kill()
		eventually(t, func() bool { return h.count("paused") > paused+1 })
		exchange(t, h, http.MethodGet, "/api/goon", nil)
		require.Equal(t, http.StatusOK, <-answered, "the new process answered it")
	})
}

// TestOlderHost: a host that knows no proxying forwards, although host.json asks for both.
func TestOlderHost(t *testing.T) {
	t.Parallel()
	h := up(t, proxying(), Options{Older: true})
	require.Equal(t, http.StatusInternalServerError,
		exchange(t, h, http.MethodPost, "/api/x", io.NopCloser(strings.NewReader("hello"))).status)
	raw(t, h, "GET /api/raw?text=HTTP/1.1+2 HTTP/1.1\r\nHost: h\r\n\r\n")
	printed(t, h, 1, "hung up on GET /api/raw") // an answer that is no HTTP is final
	answered := make(chan int)
	go func() {
		res, err := http.Get(h.URL() + "/api/pause")
		if err != nil {
			answered <- 0
			return
		}
		answered <- res.StatusCode
		res.Body.Close()
	}()
	eventually(t, func() bool { return h.count("paused") == 1 })
	h.Kill()
	require.Equal(t, http.StatusInternalServerError, <-answered)
	require.Equal(t, 1, h.count("paused"), "nothing is sent again over a killed handler")
}

// TestProxiedTriggersFromOutside: a body in chunks comes through a host that proxies, and the guard
// still keeps every client from a trigger (P5).
func TestProxiedTriggersFromOutside(t *testing.T) {
	t.Parallel()
	const envelope = `{"Data":{"msg":"\"from outside\""}}`
	for _, front := range []bool{false, true} {
		h := up(t, proxying(), Options{FrontEnd: front}, "AzureFunctionsJobHost__extensions__http__routePrefix=")
		for _, target := range []string{"/guarded", "/x/..%5Cguarded", "/%2e%2e/guarded", "/x/..%2Fguarded"} {
			for _, more := range []string{
				"", "Connection: X-Forwarded-Host, x-ms-invocation-id\r\n",
				"X-Forwarded-For:\r\n", "Transfer-Encoding: gzip\r\n",
			} {
				request := "POST " + target + " HTTP/1.1\r\nHost: " + h.worker.addr +
					"\r\nContent-Type: application/json; charset=utf-8\r\n" + more
				if !strings.Contains(more, "Transfer") {
					request += "Transfer-Encoding: chunked\r\n"
				}
				raw(t, h, fmt.Sprintf("%s\r\n%x\r\n%s\r\n0\r\n\r\n", request, len(envelope), envelope))
			}
		}
		require.Zero(t, h.count("guarded ran"))
		unguarded := fmt.Sprintf(
			"POST /jobs HTTP/1.1\r\nHost: %s\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n",
			h.worker.addr, len(envelope), envelope)
		require.Equal(t, http.StatusOK, raw(t, h, unguarded).status, "a trigger without the guard is reached")
		h.Stop()
	}
}
