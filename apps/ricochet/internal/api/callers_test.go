package api_test

import (
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/ricochet/internal/api"
	"prompthub/apps/ricochet/internal/game"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/testing/callertest"
)

// TestCallers: see package callertest. There are no sessions: a request counts for its address,
// with any key or none.
func TestCallers(t *testing.T) {
	t.Parallel()
	games := &game.Games{
		Tables: rowstore.DefaultTables[game.Tables](), Store: memory.NewTables(),
		Queues: memory.NewQueues(time.Now), Now: time.Now,
		Random: rand.Reader, Log: slog.New(slog.DiscardHandler), Solve: game.Search,
	}
	require.NoError(t, games.Create(t.Context()))
	over := func(a *httpjson.Admission) http.Handler {
		return api.New(api.Config{
			Games: games, Admission: a, Log: slog.New(slog.DiscardHandler),
			Now: time.Now, Version: "test",
		})
	}
	_, made := ask(t, over(httpjson.NewAdmission(httpjson.Limits{}, time.Now)), "POST", "/api/v1/games", "", "")
	at, key := "/api/v1/games/"+made["gameId"].(string), made["hostKey"].(string)
	request := func(method, path string) func(io.Reader) *http.Request {
		return func(body io.Reader) *http.Request {
			r := httptest.NewRequestWithContext(t.Context(), method, path, body)
			r.Header.Set("Content-Type", "application/json")
			return r
		}
	}
	signed := func(name, value string) func(*http.Request, int) {
		return func(r *http.Request, _ int) { r.Header.Set(name, value) }
	}
	l := httpjson.Limits{Reads: 1, ReadBurst: callertest.Burst, Writes: 1, WriteBurst: callertest.Burst}
	admission := httpjson.NewAdmission(l.Complete(false), func() time.Time { return time.Unix(0, 0) })
	callertest.Check(t, callertest.Door{
		Handler: over(admission),
		Enter: func(person int) (func(), error) {
			return admission.Enter(t.Context(), httpjson.CallerOf(nil, fmt.Sprint("person ", person)))
		},
		Read: request("GET", at+"/dashboard"),
		Entry: []func(io.Reader) *http.Request{
			request("POST", "/api/v1/games/x/rounds/1/solutions"),
			request("POST", at+"/rounds/2/extend"),
		},
		EntryBody: 64 << 10,
		Kinds: []callertest.Kind{
			{Name: "a guest", Sign: func(*http.Request, int) {}},
			{Name: "a made-up key", Sign: signed("X-Host-Key", "host_made-up")},
			{Name: "a token", Sign: signed("Authorization", "Bearer made.up.token")},
			{Name: "the host", Sign: signed("X-Host-Key", key)},
		},
	})
}
