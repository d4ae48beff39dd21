package functiontest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// raw sends a request as it stands and returns the answer.
func raw(t *testing.T, h *Host, request string) answer {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(h.URL(), "http://"))
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, request)
	require.NoError(t, err)
	method, _, _ := strings.Cut(request, " ")
	res, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	require.NoError(t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return answer{res.StatusCode, res.Header, b}
}

// Some requests are refused by the host's web server, or by its copying, without the handler.
func TestRefusedBeforeTheHandler(t *testing.T) {
	t.Parallel()
	h := up(t, application(nil), Options{})
	get := func(line string, headers ...string) string {
		return line + "\r\n" + strings.Join(append(headers, ""), "\r\n") + "\r\n"
	}
	post := func(headers ...string) string {
		return get("POST /api/x HTTP/1.1", append(headers, "Host: h", "Content-Length: 2")...) + "{}"
	}
	many := func(n int) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprintf("X-%d: x", i))
		}
		return all
	}
	for name, tt := range map[string]struct {
		request string
		status  int
	}{
		"fine":                      {get("GET /api/x HTTP/1.1", "Host: h"), 200},
		"method in lower case":      {get("get /api/x HTTP/1.1", "Host: h"), 200},
		"empty lines before":        {"\r\n\r\n" + get("GET /api/x HTTP/1.1", "Host: h"), 200},
		"a stray percent sign":      {get("GET /api/%zz HTTP/1.1", "Host: h"), 200},
		"Content-Type that is none": {post("Content-Type: nonsense"), 500},
		"two Content-Types":         {post("Content-Type: text/plain", "Content-Type: text/plain"), 500},
		"no Content-Type":           {post(), 200},
		"UTF-8 in a header":         {get("GET /api/x HTTP/1.1", "Host: h", "X-A: \u00e9"), 500},
		"Latin-1 in a header":       {get("GET /api/x HTTP/1.1", "Host: h", "X-A: \xe9"), 400},
		"UTF-8 in the path":         {get("GET /api/\u00e9 HTTP/1.1", "Host: h"), 400},
		"zero in the path":          {get("GET /api/%00 HTTP/1.1", "Host: h"), 400},
		"host with two dots":        {get("GET /api/x HTTP/1.1", "Host: x..y"), 500},
		"host with a port too high": {get("GET /api/x HTTP/1.1", "Host: h:99999"), 500},
		"empty host":                {get("GET /api/x HTTP/1.1", "Host:"), 500},
		"old and without host":      {get("GET /api/x HTTP/1.0"), 500},
		"no host":                   {get("GET /api/x HTTP/1.1"), 400},
		"host with a space":         {get("GET /api/x HTTP/1.1", "Host: a b"), 400},
		"host with a slash":         {get("GET /api/x HTTP/1.1", "Host: a/b"), 400},
		"host with a user":          {get("GET /api/x HTTP/1.1", "Host: a@b"), 400},
		"host with a comma":         {get("GET /api/x HTTP/1.1", "Host: a,b"), 400},
		"two hosts":                 {get("GET /api/x HTTP/1.1", "Host: a", "Host: a"), 400},
		"an absolute address":       {get("GET http://h/api/x HTTP/1.1", "Host: h"), 400},
		"chunks": {
			get("POST /api/x HTTP/1.1", "Host: h", "Transfer-Encoding: chunked") + "1\r\nx\r\n0\r\n\r\n", 500,
		},
		"a line of 8 KiB":             {get("GET /api/"+strings.Repeat("x", 8000)+" HTTP/1.1", "Host: h"), 200},
		"a longer line":               {get("GET /api/"+strings.Repeat("x", 8200)+" HTTP/1.1", "Host: h"), 414},
		"100 headers":                 {get("GET /api/x HTTP/1.1", append(many(99), "Host: h")...), 200},
		"101 headers":                 {get("GET /api/x HTTP/1.1", append(many(100), "Host: h")...), 431},
		"32 KiB of headers":           {get("GET /api/x HTTP/1.1", "Host: h", "X-A: "+strings.Repeat("x", 32000)), 200},
		"more than 32 KiB of headers": {get("GET /api/x HTTP/1.1", "Host: h", "X-A: "+strings.Repeat("x", 33000)), 431},
		"a body of more than 100 MiB": {get("POST /api/x HTTP/1.1", "Host: h", "Content-Length: 104857601"), 500},
	} {
		t.Run(name, func(t *testing.T) {
			a := raw(t, h, tt.request)
			require.Equal(t, tt.status, a.status)
			if tt.status != http.StatusOK {
				require.Empty(t, a.body)
			}
			require.Equal(t, "Kestrel", a.header.Get("Server"))
		})
	}
}

// A request without a body comes again if it was cut before the first byte of its answer.
func TestRepeats(t *testing.T) {
	t.Parallel()
	h := up(t, application(nil), Options{})
	for _, tt := range []struct {
		method, query string
		body          io.Reader
		times         int
	}{
		{"GET", "", nil, 4},
		{"POST", "", nil, 4},
		{"DELETE", "", nil, 4},
		{"PUT", "", strings.NewReader("x"), 1},
		{"PATCH", "?begun=1", nil, 1},
	} {
		a := exchange(t, h, tt.method, "/api/cut"+tt.query, tt.body)
		require.Equal(t, http.StatusInternalServerError, a.status)
		require.Empty(t, a.body)
		printed(t, h, tt.times, "hung up on "+tt.method)
	}
	require.Len(t, h.Invocations(), 5, "a repeat is no other invocation")
}

func TestQuery(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]string{
		"": "", "x=1&x=2": "x=1,2", "z=1&a=2&m=3": "z=1&a=2&m=3", "A=1&a=2": "a=1,2", "a=2&A=1": "A=2,1",
		"a&a=1": "a=1", "a=&a=x": "a=x", "a=x&a=": "a=x", "a=&a=": "a=",
		"q=%zz": "q=%25zz", "q=100%": "q=100%25", "q=%FF": "q=%25FF", "%FF=1": "%25FF=1", "q=%C3%28": "q=%25C3(",
		"a=1;b=2": "a=1;b%3D2", "flag": "flag=", "a=1&&b=2": "a=1&b=2", "a#b=c": "a%23b=c", "q=%23": "q=%23",
		"q=a+b%2Bc%20d": "q=a%20b%2Bc%20d", "q=gr%C3%BC%C3%9F": "q=gr%C3%BC%C3%9F", "q=%00": "q=%00",
		"q=%21$()*,-.;@_~'\"": "q=!$()*,-.;@_~%27%22", "q=[]{}|": "q=%5B%5D%7B%7D%7C",
	} {
		require.Equal(t, want, merge(sent), sent)
		require.Equal(t, want, merge(want), "written once, it stays")
	}
}

// The headers of an answer are parsed and written anew.
func TestAnswerHeaders(t *testing.T) {
	t.Parallel()
	h := up(t, application(nil), Options{})
	for _, tt := range []struct {
		name   string
		values []string
		want   []string
	}{
		{"Cache-Control", []string{"private, no-cache"}, []string{"no-cache, private"}},
		{
			"Cache-Control",
			[]string{"private, max-age=0, must-revalidate"},
			[]string{"must-revalidate, max-age=0, private"},
		},
		{"Cache-Control", []string{"no-cache", "no-transform"}, []string{"no-transform, no-cache"}},
		{"Allow", []string{"GET, HEAD"}, []string{"GET", "HEAD"}},
		{"X-Empty", []string{""}, nil},
		{"Set-Cookie", []string{"a=1", "b=2"}, []string{"a=1", "b=2"}},
		{"Server", []string{"mine"}, []string{"mine"}},
	} {
		q := url.Values{"name": {tt.name}}
		// A query would join them.
		to, err := passed(http.Header{tt.name: tt.values})
		require.NoError(t, err)
		require.Equal(t, tt.want, to[tt.name])
		q["value"] = tt.values[:1]
		a := exchange(t, h, http.MethodGet, "/api/header?"+q.Encode(), nil)
		require.Equal(t, http.StatusOK, a.status)
		require.Equal(t, []string{"0"}, a.header["Content-Length"])
	}
	for _, value := range []string{"gr\u00fc\u00df", strings.Repeat("x", 66000)} {
		_, err := passed(http.Header{"X-A": {value}})
		require.Error(t, err)
	}
	_, err := passed(http.Header{"X-A": {strings.Repeat("x", 65000)}})
	require.NoError(t, err)
}

// The handler does not see that a client goes away.
func TestClientThatGoesAway(t *testing.T) {
	t.Parallel()
	h := up(t, application(nil), Options{})
	ctx, leave := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, h.URL()+"/api/pause", nil)
	require.NoError(t, err)
	gone := make(chan error, 1)
	go func() {
		res, err := http.DefaultTransport.RoundTrip(req)
		if err == nil {
			_ = res.Body.Close()
		}
		gone <- err
	}()
	printed(t, h, 1, "paused")
	leave()
	require.ErrorIs(t, <-gone, context.Canceled)
	require.Equal(t, http.StatusOK, exchange(t, h, http.MethodGet, "/api/goon", nil).status)
	printed(t, h, 1, "went on")
	eventually(t, func() bool { return h.Invocations()[0].Done })
	require.Equal(t, http.StatusOK, h.Invocations()[0].Status)
}

// A connection takes one request after the other.
func TestPipeline(t *testing.T) {
	t.Parallel()
	h := up(t, application(nil), Options{})
	conn, err := net.Dial("tcp", strings.TrimPrefix(h.URL(), "http://"))
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	_, err = io.WriteString(conn,
		"POST /api/a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
	require.NoError(t, err)
	in := bufio.NewReader(conn)
	line, err := in.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "HTTP/1.1 100 Continue\r\n", line)
	_, err = in.ReadString('\n')
	require.NoError(t, err)
	_, err = io.WriteString(conn, "one"+"HEAD /api/answer?status=200 HTTP/1.1\r\nHost: h\r\n\r\n"+
		"GET /api/b HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
	require.NoError(t, err)
	for _, method := range []string{"POST", "HEAD", "GET"} {
		res, err := http.ReadResponse(in, &http.Request{Method: method})
		require.NoError(t, err)
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, res.StatusCode)
		require.Equal(t, method == "HEAD", len(body) == 0)
	}
	_, err = in.ReadByte()
	require.ErrorIs(t, err, io.EOF)
}
