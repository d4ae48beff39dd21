package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	slowConnections = 400
	ordinaryUsers   = 16
)

// slowFor is how long they are slow. Within a second all are connected, and nothing changes after
// that.
func slowFor() time.Duration {
	if full() {
		return 15 * time.Second
	}
	return 7 * time.Second
}

// TestManySlowConnections has hundreds of connections of one address send their bodies slowly, to
// pages and API, as one user and as a page of another site, while others work: none of them is
// refused. With -v it prints how long those took that were served. PROMPTHUB_BINARY measures
// another build.
func TestManySlowConnections(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds, and both processors")
	}
	t.Parallel()
	work(t)
	l := startLocal(t, "embedded")
	begin := func(i int) string {
		head := "POST /app/prompts/new HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example\r\nContent-Type: application/x-www-form-urlencoded\r\n"
		if i%4 > 0 { // more than there are places at work
			head = "POST /api/v1/prompts HTTP/1.1\r\nHost: localhost\r\nX-Dev-User: eve\r\nContent-Type: application/json\r\n"
		}
		return head + "Content-Length: 2000\r\n\r\n{"
	}
	end := time.Now().Add(slowFor())
	var slow, users sync.WaitGroup
	for i := range slowConnections {
		slow.Go(func() {
			for time.Now().Before(end) {
				drip(l.addr, begin(i), end)
			}
		})
	}
	var took []time.Duration
	var mu sync.Mutex
	var failed atomic.Int64
	for u := range ordinaryUsers {
		users.Go(func() {
			for n := 0; time.Now().Before(end); n++ {
				start := time.Now()
				if ordinary(t, l.url(), fmt.Sprintf("user%d", u), n) {
					mu.Lock()
					took = append(took, time.Since(start))
					mu.Unlock()
				} else {
					failed.Add(1)
				}
				time.Sleep(100 * time.Millisecond)
			}
		})
	}
	users.Wait()
	slow.Wait()
	slices.Sort(took)
	t.Logf("%d slow connections, %d users: %d served, %d refused; of those served median %v, p99 %v, longest %v",
		slowConnections, ordinaryUsers,
		len(took), failed.Load(), took[len(took)/2], took[len(took)*99/100], took[len(took)-1])
	if os.Getenv("PROMPTHUB_BINARY") == "" {
		require.Zero(t, failed.Load())
	}
}

// drip sends the beginning of a request and then a byte a second, until it is answered or the time
// is over.
func drip(addr, begin string, end time.Time) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, begin); err != nil {
		return
	}
	answer := make([]byte, 1)
	for time.Now().Before(end) {
		if conn.SetReadDeadline(time.Now().Add(time.Second)) != nil {
			return
		}
		if n, err := conn.Read(answer); n > 0 || err != nil && !strings.Contains(err.Error(), "timeout") {
			time.Sleep(200 * time.Millisecond) // answered: begin again, not at once
			return
		}
		if _, err := io.WriteString(conn, " "); err != nil {
			return
		}
	}
}

// ordinary makes a request as users do: a list, a page, a new prompt. It reports whether it was
// served.
func ordinary(t *testing.T, url, who string, n int) bool {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/api/v1/prompts?limit=20", nil)
	switch n % 4 {
	case 1:
		r, err = http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/app", nil)
	case 2:
		r, err = http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/api/v1/prompts",
			strings.NewReader(`{"title":"T","text":"x","visibility":"public"}`))
	}
	if err != nil {
		return false
	}
	r.Header.Set("X-Dev-User", who)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err == nil && resp.StatusCode/100 == 2
}
