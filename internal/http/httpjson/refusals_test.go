package httpjson

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestRefusalsFillNoLog: a sender of refused requests has one line a second, and the others are
// counted. Each request of a user, and each answered one, has a line.
func TestRefusalsFillNoLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		h := Observer{Log: slog.New(slog.NewTextHandler(&log, nil)), Now: time.Now}.Observe(
			http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if user := r.Header.Get("User"); user != "" {
					SetUser(r.Context(), user)
				}
				var status int
				_, _ = fmt.Sscan(r.URL.Path[1:], &status)
				w.WriteHeader(status)
			}))
		send := func(n, status int, address, user string) {
			for range n {
				r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprint("/", status), http.NoBody)
				r.RemoteAddr = address + ":1"
				r.Header.Set("User", user)
				h.ServeHTTP(httptest.NewRecorder(), r)
			}
		}
		lines := func() []string {
			time.Sleep(2 * logEvery) // of the bubble: the second ends
			synctest.Wait()
			all := strings.Split(strings.TrimSpace(log.String()), "\n")
			log.Reset()
			return all
		}
		send(1000, http.StatusUnauthorized, "192.0.2.1", "")
		send(500, http.StatusNotFound, "192.0.2.1", "")
		send(10, http.StatusTooManyRequests, "192.0.2.2", "ann")
		all := lines()
		require.Len(t, all, 3)
		require.Contains(t, all[2], `msg="more requests were refused" count=1508 addresses=2`)

		send(1, http.StatusUnauthorized, "192.0.2.1", "")
		require.Len(t, lines(), 1, "one alone has its line, and no number")

		send(20, http.StatusOK, "192.0.2.1", "")
		send(20, http.StatusNotFound, "192.0.2.1", "ann")
		send(20, http.StatusInternalServerError, "192.0.2.1", "")
		require.Len(t, lines(), 60)

		for i := range 3 * maxAddresses {
			send(2, http.StatusUnauthorized, fmt.Sprintf("10.0.%d.%d", i/200, i%200), "")
		}
		all = lines()
		require.Len(t, all, maxAddresses+1)
		require.Contains(t, all[maxAddresses], "count=500 addresses=100")
	})
}
