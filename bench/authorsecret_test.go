package main

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/doors/api"
	"prompthub/internal/storage/table"
)

// A secretStore counts the calls about the secret of author keys, and fails them while it is away.
type secretStore struct {
	table.DB
	away  bool
	calls int
}

func (s *secretStore) call(key table.Key) error {
	if key != (table.Key{Partition: "author-keys", Row: "secret"}) {
		return nil
	}
	s.calls++
	if s.away {
		return errors.New("away")
	}
	return nil
}

func (s *secretStore) Get(ctx context.Context, name string, key table.Key) (table.Row, error) {
	if err := s.call(key); err != nil {
		return table.Row{}, err
	}
	return s.DB.Get(ctx, name, key)
}

func (s *secretStore) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	if err := s.call(ops[0].Row.Key); err != nil {
		return nil, err
	}
	return s.DB.Write(ctx, name, ops...)
}

// TestDoorsWithoutTheAuthorSecret: while the secret cannot be read every request that would show
// keys of authors is answered 503, those that need no key are answered as ever, and those
// that are refused anyway read nothing of it. Afterwards it is read once, and is in no answer and
// no log.
func TestDoorsWithoutTheAuthorSecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.makeToken()
		var readOnly api.ShownToken
		l.ask(call{method: http.MethodPost, path: "/me/tokens", user: ann, body: `{"name":"reader","scopes":["read"]}`},
			&readOnly)
		store := &secretStore{DB: l.meter.rows, away: true}
		l.meter.rows = store
		row, err := store.DB.Get(t.Context(), "SystemState", table.Key{Partition: "author-keys", Row: "secret"})
		require.NoError(t, err)
		secret := row.Props.Get("Secret").Str()
		require.Len(t, secret, 44)
		author := l.db.AuthorKey(ann)

		var logs strings.Builder
		l.begin(&logs)
		bearer := func(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }
		ask := func(c call) (int, string) {
			t.Helper()
			w := serve(t, l.doors, c)
			require.NotContains(t, w.Body.String(), secret)
			return w.Code, w.Body.String()
		}

		// requests that need no key
		for _, path := range []string{"/health", "/openapi.json", "/docs"} {
			status, body := ask(get(path, ""))
			require.Equal(t, http.StatusOK, status, path+" "+body)
		}
		// refused requests
		for _, r := range []struct {
			status int
			call   call
		}{
			{401, call{method: http.MethodPost, path: "/prompts", body: "{}"}},
			{401, call{method: http.MethodGet, path: "/prompts", header: bearer("ph_wrong")}},
			{403, call{
				method: http.MethodDelete, path: "/prompts/" + string(l.prompt),
				header: bearer(readOnly.Secret),
			}},
			{404, get("/nothing", ann)},
			{401, get("/ls/settings", "")},
			{401, get("/lf/api/public/v2/prompts", "")},
		} {
			status, body := ask(r.call)
			require.Equal(t, r.status, status, "%s %s: %s", r.call.method, r.call.path, body)
		}
		require.Zero(t, store.calls)

		both := http.Header{"Accept": {"application/json, text/event-stream"}, "Content-Type": {"application/json"}}
		doors := []call{
			get("/prompts", ""), get("/prompts/"+string(l.prompt), "Vera"), get("/me", ann),
			get("/users/"+author, "Vera"),
			get("/app", ""), get("/app/u/"+author, "Vera"),
			{method: http.MethodGet, path: "/ls/settings", header: bearer(l.token.Secret)},
			{method: http.MethodGet, path: "/lf/api/public/v2/prompts", header: bearer(l.token.Secret)},
			{
				method: http.MethodPost, path: "/mcp", user: ann, header: both,
				body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_prompts","arguments":{}}}`,
			},
		}
		for i, c := range doors {
			status, body := ask(c)
			require.Equal(t, http.StatusServiceUnavailable, status, "%s: %s", c.path, body)
			if i < 4 {
				require.Contains(t, body, `"code":"UNAVAILABLE"`)
			}
			require.NotContains(t, body, "a_", c.path)
		}
		require.Equal(t, len(doors), store.calls)

		store.away, store.calls = false, 0
		for range 2 {
			for _, c := range doors {
				status, body := ask(c)
				require.Equal(t, http.StatusOK, status, "%s: %s", c.path, body)
			}
		}
		require.Equal(t, 1, store.calls)
		status, body := ask(get("/prompts/"+string(l.prompt), "Vera"))
		require.Equal(t, http.StatusOK, status)
		require.Contains(t, body, author, "as the instance before called her")
		synctest.Wait()
		require.Contains(t, logs.String(), author)
		require.NotContains(t, logs.String(), secret)
	})
}
