package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/testing/functiontest"
)

// raw sends a request exactly as it is written and returns the status, 0 where the connection was
// cut, and the body.
func raw(t testing.TB, addr, request string) (int, string) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(30*time.Second)))
	_, err = io.WriteString(conn, request)
	require.NoError(t, err)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	return resp.StatusCode, readAll(resp.Body)
}

// spellings are paths that some server on the way may take for /score-bucket-moves.
var spellings = []string{
	"/score-bucket-moves", "/Score-Bucket-Moves", "/SCORE-BUCKET-MOVES",
	"//score-bucket-moves", "/./score-bucket-moves",
	"/score-bucket-moves/", "/score-bucket-moves?", "/score-bucket-moves?x=1", "/score-bucket-moves%2F",
	"/score-bucket-moves%00", "/score-bucket-moves%20",
	"/score-bucket-moves;x", "/score-bucket-moves%3F", "/score-bucket-moves%23", "/%73core-bucket-moves",
	"/score%2Dbucket%2Dmoves", "/%2Fscore-bucket-moves",
	"/x/../score-bucket-moves", "/api/../score-bucket-moves", "/api/..%2Fscore-bucket-moves",
	"/api/..%2fscore-bucket-moves", "/api/%2e%2e/score-bucket-moves",
	"/api/%2E%2E%2Fscore-bucket-moves", "/api/..%5Cscore-bucket-moves", "/api/..%5cscore-bucket-moves",
	`/api/..\score-bucket-moves`,
	"/api/v1/..%5C..%5Cscore-bucket-moves", "/api/v1/../../score-bucket-moves",
	"/api/v1/prompts/..%5C..%5C..%5Cscore-bucket-moves",
	"/api/v1/prompts/..%2F..%2F..%2Fscore-bucket-moves", "/api/v1/prompts/x/..%5C..%5C..%5C..%5Cscore-bucket-moves",
	"/api/v1/prompts/%252e%252e%252f%252e%252e%252fscore-bucket-moves", "/api/score-bucket-moves",
	"/api/v1/score-bucket-moves",
	"/admin/functions/score-bucket-moves", "/runtime/webhooks/score-bucket-moves",
	"http://127.0.0.1/score-bucket-moves",
}

const envelope = `{"Data":{"message":"\"{\\\"version\\\":1,\\\"author\\\":\\\"ann\\\",\\\"prompt\\\":\\\"01ARZ3NDEKTSV4RRFFQ69G5FAV\\\"}\""},"Metadata":{"DequeueCount":"1"}}`

// forge sends an invocation of its own to every spelling, with each Host, and expects to find
// nothing there.
func forge(t *testing.T, addr string, hosts []string) {
	t.Helper()
	for _, host := range hosts {
		for _, path := range spellings {
			status, body := raw(t, addr,
				fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\nContent-Type: application/json\r\n"+
					"X-Azure-Functions-InvocationId: 8b1f6a52-6c5a-4d0e-9f2c-3a1b7c9d0e4f\r\nUser-Agent: Azure-Functions-Host/4.1037.0.0\r\n"+
					"X-Dev-User: ann\r\nContent-Length: %d\r\n\r\n%s", path, host, len(envelope), envelope))
			want := []int{404}
			if strings.Contains(path, "%00") || strings.HasPrefix(path, "http:") {
				want = append(want, 400) // the host's server takes no such line
			}
			if strings.HasPrefix(path, "/api/v1/prompts/") {
				want = append(want, 405) // nothing is posted to a prompt, be its id as odd as this
			}
			require.Contains(t, want, status, "%s to %s: %s", path, host, body)
			require.NotContains(t, body, "Outputs", "%s to %s", path, host)
		}
	}
}

var startedAt = regexp.MustCompile(`"started".*"address":"([0-9.:]+)"`)

// TestForgedTriggerCalls holds that no caller from outside starts a trigger function, also one who
// knows the inside.
func TestForgedTriggerCalls(t *testing.T) {
	t.Parallel()
	t.Run("host", func(t *testing.T) {
		t.Parallel()
		h := startHosted(t, functiontest.Faults{})
		inside := ""
		for _, line := range h.Logs() {
			if m := startedAt.FindStringSubmatch(line.Text); m != nil {
				inside = m[1]
			}
		}
		require.NotEmpty(t, inside)
		addr := strings.TrimPrefix(h.URL(), "http://")
		forge(t, addr, []string{addr, "app.azurewebsites.net", inside, "127.0.0.1"})
		for _, in := range h.Invocations() {
			require.NotEqual(t, "score-bucket-moves", in.Function)
		}
	})
	t.Run("local", func(t *testing.T) {
		t.Parallel()
		l := startLocal(t, "embedded")
		forge(t, l.addr, []string{l.addr, "localhost", "app.example.com"})
		require.NotContains(t, l.printed(t), "score-bucket-moves")
	})
}

// TestRebinding holds that a page of a foreign name, once the name leads to this machine, gets
// nothing.
func TestRebinding(t *testing.T) {
	t.Parallel()
	l := startLocal(t, "embedded", "PUBLIC_READ=true")
	ann := user{t: t, url: l.url(), name: "ann"}
	p := ann.create("Rebinding secret")
	_, port, err := net.SplitHostPort(l.addr)
	require.NoError(t, err)
	for _, host := range []string{
		"evil.example.com:" + port, "127.0.0.1.evil.example.com",
		"localhost.evil.example.com:" + port, "0.0.0.0:" + port, "",
	} {
		for _, request := range []string{
			"GET /api/v1/prompts", "GET /api/v1/prompts/" + p.ID, "GET /api/v1/me",
			"GET /api/v1/tags", "DELETE /api/v1/prompts/" + p.ID, "POST /api/v1/prompts",
		} {
			for _, as := range []string{"", "X-Dev-User: ann\r\n", "X-Dev-User: ann\r\nX-Dev-Roles: admin\r\n"} {
				status, body := raw(t, l.addr, request+" HTTP/1.1\r\nHost: "+host+
					"\r\nConnection: close\r\nContent-Length: 0\r\n"+as+"\r\n")
				require.Contains(t, []int{400, 401}, status, "%s at %q", request, host)
				require.NotContains(t, body, "secret")
			}
		}
	}
	ann.do(200, "GET", "/prompts/"+p.ID, nil, nil)
}

// TestSlowClients holds that clients that begin requests and do not end them delay no other client,
// and are let go.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	const slow = 400
	l := startLocal(t, "embedded")
	var wg sync.WaitGroup
	released := make(chan time.Duration, 2*slow)
	begin := func(request string) {
		conn, err := net.Dial("tcp", l.addr)
		require.NoError(t, err)
		t.Cleanup(func() { conn.Close() })
		_, err = io.WriteString(conn, request)
		require.NoError(t, err)
		start := time.Now()
		wg.Go(func() {
			_ = conn.SetReadDeadline(start.Add(time.Minute))
			// Either an answer that refuses, or the end of the connection.
			if _, err := io.Copy(io.Discard, conn); err == nil || !strings.Contains(err.Error(), "timeout") {
				released <- time.Since(start)
			}
		})
	}
	for range slow {
		begin("GET /api/v1/prompts HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
		begin("GET /api/v1/prom")
	}
	ann := user{t: t, url: l.url(), name: "ann"}
	for i := range 20 {
		ann.create(fmt.Sprintf("While others are slow %d", i))
	}
	wg.Wait()
	require.Len(t, released, 2*slow, "every slow client is let go within a minute")
}

// TestRefusedBeforeTheBody holds that a client that may not send a body is told at once, and not
// when it has arrived.
func TestRefusedBeforeTheBody(t *testing.T) {
	t.Parallel()
	l := startLocal(t, "embedded")
	rest := "Content-Length: 1000\r\n\r\n{"
	for request, want := range map[string]int{
		"POST /app/prompts/new HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example\r\n":                   403,
		"POST /app/prompts/new HTTP/1.1\r\nHost: localhost\r\n":                                                   401,
		"POST /app/prompts HTTP/1.1\r\nHost: localhost\r\n":                                                       405,
		"POST /nothing HTTP/1.1\r\nHost: localhost\r\n":                                                           404,
		"POST /api/v1/prompts HTTP/1.1\r\nHost: localhost\r\nX-Dev-User: ann\r\nOrigin: https://evil.example\r\n": 403,
		"POST /api/v1/prompts HTTP/1.1\r\nHost: localhost\r\n":                                                    401,
		"POST /api/v1/prompts HTTP/1.1\r\nHost: localhost\r\nX-Dev-User: ann\r\nContent-Type: text/plain\r\n":     415,
		"POST /api/v1/prompts?x=1 HTTP/1.1\r\nHost: localhost\r\nX-Dev-User: ann\r\n":                             422,
	} {
		// which waits for less than the server for a body that is not read
		status, _ := raw(t, l.addr, request+rest)
		require.Equal(t, want, status, request)
	}
}

// TestSlowBodies holds that callers who send their bodies slowly are let go too, and take no places
// at work. Bodies of which little has come hold little, so a caller may have many of them.
func TestSlowBodies(t *testing.T) {
	t.Parallel()
	l := startLocal(t, "embedded", "LIMIT_AT_WORK=8")
	statuses := make(chan int, 8)
	for range 8 {
		go func() {
			status, _ := raw(t, l.addr, "POST /api/v1/prompts HTTP/1.1\r\nHost: localhost\r\nX-Dev-User: ann\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{")
			statuses <- status
		}()
	}
	bob := user{t: t, url: l.url(), name: "bob"}
	status := func() int {
		status, _, _ := bob.try("GET", "/me", nil, nil) // a 503 is an error to try
		return status
	}
	got := map[int]int{}
	for answered := 0; answered < 8; {
		select {
		case s := <-statuses:
			got[s]++
			answered++
		case <-time.After(20 * time.Millisecond):
			require.Equal(t, 200, status(), "nobody else waits for the slow")
		}
	}
	require.Equal(t, map[int]int{408: 8}, got)
	require.Equal(t, 200, status())
}

func TestLargeHeaders(t *testing.T) {
	t.Parallel()
	l := startLocal(t, "embedded")
	large := "X-Large: " + strings.Repeat("x", 64<<10) + "\r\n"
	status, _ := raw(t, l.addr, "GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n"+large+"\r\n")
	require.Equal(t, 431, status)
	user{t: t, url: l.url(), name: "ann"}.do(200, "GET", "/health", nil, nil)
}
