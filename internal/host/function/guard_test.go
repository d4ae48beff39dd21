package function_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGuard sends what an outside client could get forwarded to the triggers.
func TestGuard(t *testing.T) {
	t.Parallel()
	header := func(name string) func(*http.Request) {
		return func(r *http.Request) { r.Header[name] = []string{"x"} }
	}
	host := func(host string) func(*http.Request) { return func(r *http.Request) { r.Host = host } }
	method := func(m string) func(*http.Request) { return func(r *http.Request) { r.Method = m } }
	tests := map[string]func(*http.Request){
		"public host":                       host("app.azurewebsites.net"),
		"no host":                           host(""),
		"host without port":                 host("127.0.0.1"),
		"host with another port":            host("127.0.0.1:80"),
		"localhost":                         host("localhost:4711"),
		"host with a dot":                   host("127.0.0.1.:4711"),
		"IPv6 host":                         host("[::1]:4711"),
		"short host":                        host("127.1:4711"),
		"Forwarded":                         header("Forwarded"),
		"X-Forwarded-For":                   header("X-Forwarded-For"),
		"X-Forwarded-Host":                  header("X-Forwarded-Host"),
		"X-Forwarded-Proto":                 header("X-Forwarded-Proto"),
		"X-Forwarded-TlsVersion":            header("X-Forwarded-Tlsversion"),
		"X-ARR-LOG-ID":                      header("X-Arr-Log-Id"),
		"X-ARR-SSL":                         header("X-Arr-Ssl"),
		"X-MS-CLIENT-PRINCIPAL":             header("X-Ms-Client-Principal"),
		"X-MS, not canonical":               header("X-MS-CLIENT-PRINCIPAL"),
		"x-ms-invocation-id":                header("X-Ms-Invocation-Id"),
		"X-Original-URL":                    header("X-Original-Url"),
		"Origin":                            header("Origin"),
		"Sec-Fetch-Site":                    header("Sec-Fetch-Site"),
		"Sec-Fetch-Mode":                    header("Sec-Fetch-Mode"),
		"Cookie":                            header("Cookie"),
		"header without value":              func(r *http.Request) { r.Header["X-Forwarded-For"] = nil },
		"a length, as the host forwards it": func(r *http.Request) { r.ContentLength = int64(len(message)) },
		"no body":                           func(r *http.Request) { r.ContentLength = 0 },
		"GET":                               method(http.MethodGet),
		"HEAD":                              method(http.MethodHead),
		"PUT":                               method(http.MethodPut),
		"OPTIONS":                           method(http.MethodOptions),
		"method in lower case":              method("post"),
		"query":                             func(r *http.Request) { r.URL.RawQuery = "code=x" },
		"question mark, no query":           func(r *http.Request) { r.URL.ForceQuery = true },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			r := invocation("/score-bucket-moves", message)
			change(r)
			rec := w.send(r)
			require.Equal(t, http.StatusNotFound, rec.Code)
			require.Equal(t, "yes", rec.Header().Get("X-Unknown"),
				"answered by anything but the handler of unknown routes")
			require.Empty(t, w.runs)
			require.Empty(t, w.log.String())
		})
	}
}

// TestGuardSpellings sends raw request lines, as only a real server shows what becomes of them.
// The sender passes for the host, so only the path stands between it and the trigger.
func TestGuardSpellings(t *testing.T) {
	t.Parallel()
	w := newWorld()
	srv := httptest.NewUnstartedServer(nil)
	// The world believes in its own address; the requests carry that.
	srv.Config.Handler = w
	srv.Start()
	t.Cleanup(srv.Close)
	for _, path := range []string{
		"//score-bucket-moves", "/score-bucket-moves/", "/./score-bucket-moves", "/x/../score-bucket-moves",
		"/../score-bucket-moves", "/api/../score-bucket-moves", "/api/..%2Fscore-bucket-moves",
		"/api/..%5Cscore-bucket-moves",
		"/%2e/score-bucket-moves", "/x/%2e%2e/score-bucket-moves", "/%73core-bucket-moves",
		"/score%2Dbucket-moves", "/score-bucket-move%73",
		"/Score-Bucket-Moves", "/SCORE-BUCKET-MOVES", "/score-bucket-moves?",
		"/score-bucket-moves?x=1", "/score-bucket-moves%3F",
		"/score-bucket-moves%23", "/score-bucket-moves%00", "/score-bucket-moves%20",
		"/score-bucket-moves;a", "/score-bucket-moves%2F",
		"/%2Fscore-bucket-moves", "/%5Cscore-bucket-moves", `\score-bucket-moves`,
		`/\score-bucket-moves`, "/api/score-bucket-moves",
		"/score_bucket_moves", "/score-bucket-moves.", "/score-bucket-moves#x", "", "/", "*",
	} {
		t.Run(path, func(t *testing.T) {
			status := post(t, srv.Listener.Addr().String(), path)
			// The server itself refuses a target that is no path. It never redirects.
			require.Contains(t, []int{http.StatusNotFound, http.StatusBadRequest}, status)
			require.Empty(t, w.runs)
		})
	}
	require.Equal(t, http.StatusOK, post(t, srv.Listener.Addr().String(), "/score-bucket-moves"),
		"the one spelling that works")
	require.Len(t, w.runs, 1)
}

// post sends an invocation with the path as it stands and returns the status.
func post(t *testing.T, to, path string) int {
	t.Helper()
	conn, err := net.Dial("tcp", to)
	require.NoError(t, err)
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", path, addr, len(message), message)
	require.NoError(t, err)
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	defer res.Body.Close()
	return res.StatusCode
}
