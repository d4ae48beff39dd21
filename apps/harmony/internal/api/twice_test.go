package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/api"
	"prompthub/apps/harmony/internal/blog"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/meettest"
	"prompthub/apps/harmony/internal/reports"
	"prompthub/apps/harmony/internal/shop"
	"prompthub/internal/http/openapi/openapitest"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/testing/apptest"
)

// TestChangesSentTwice: each change that needs no body is done once and answered as one that was
// done, although the host sends it to a second handler because the first one was killed.
func TestChangesSentTwice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStory(t, newWorldOfToday(t))
		names := slices.Concat(
			meettest.Tables.All(), meettest.EventTables.All(), meettest.ForumTables.All(),
			rowstore.DefaultTables[reports.Tables]().All(),
			rowstore.DefaultTables[shop.Tables]().All(), rowstore.DefaultTables[blog.Tables]().All(),
		)
		rows := func() string {
			s.background.Wait()
			return apptest.Rows(t, s.service.DB, names...)
		}
		h := s.Handler
		s.Handler = apptest.Twice(t, h, rows, func(r *http.Request) bool {
			return strings.HasSuffix(r.URL.Path, "/logout") // the session is not known any more
		})
		sent := map[string]bool{}
		tell := func(c request, _ cost) { sent[c.id] = sent[c.id] || c.body == "" }
		s.run(s.requests(), tell)
		_, eve, _ := s.account("eve")
		s.run([]request{{"logout", "POST", "/auth/logout", eve, "", 204}}, tell)
		for _, id := range openapitest.New(t, h).Bare() {
			require.True(t, sent[id], "%s is not sent", id)
		}
	})
}

// TestKeysOfAdmins: an event, an invite with a code that is drawn, an item and a post that are sent
// again with their key are one, also if four are sent at once, and if it was changed meanwhile;
// with another body they are others.
func TestKeysOfAdmins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, admin, _ := w.account("admin")
	_, err := w.service.SetRole(t.Context(), "admin@example.com", meet.Admin)
	require.NoError(t, err)
	w.Handler = openapitest.New(t, w).Enforce(t, w.Handler)
	send := func(method, path, key, body string) map[string]any {
		r := httptest.NewRequestWithContext(t.Context(), method, api.Prefix+path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+admin)
		r.Header.Set("Content-Type", "application/json")
		if key != "" {
			r.Header.Set("Idempotency-Key", key)
		}
		got := httptest.NewRecorder()
		w.ServeHTTP(got, r)
		require.Less(t, got.Code, 300, "%s: %s", path, got.Body)
		var answer map[string]any
		require.NoError(t, json.Unmarshal(got.Body.Bytes(), &answer))
		return answer
	}
	event := w.event(admin, strings.Replace(anEvent, "2026", "2126", 2))
	for path, c := range map[string]struct{ body, id, list string }{
		"/admin/events": {
			strings.Replace(anEvent, "2026", "2126", 2), "eventId",
			"/admin/events",
		},
		"/admin/store/items": {anItem, "itemId", "/store/items"},
		"/admin/blog/posts":  {aPost, "postId", "/admin/blog/posts"},
		"/admin/events/" + event + "/invites": {
			`{"expiresAt":"2126-12-31T20:00:00Z"}`, "code",
			"/admin/events/" + event + "/invites",
		},
	} {
		count := func() int { return len(send("GET", c.list, "", "")["items"].([]any)) }
		was := count()
		var ids [4]any
		var wg sync.WaitGroup
		for i := range ids {
			wg.Go(func() { ids[i] = send("POST", path, "k", c.body)[c.id] })
		}
		wg.Wait()
		require.Equal(t, [4]any{ids[0], ids[0], ids[0], ids[0]}, ids, path)
		require.Equal(t, was+1, count(), path)
		if c.id != "code" {
			other := strings.NewReplacer("Concert", "Another", "LP", "Another", "The album", "Another").Replace(c.body)
			send("PUT", path+"/"+ids[0].(string), "", other)
			again := send("POST", path, "k", c.body)
			require.Equal(t, []any{ids[0], "Another"}, []any{again[c.id], again["title"]}, "a change is kept")
			require.NotEqual(t, ids[0], send("POST", path, "k", other)[c.id])
		}
		require.NotEqual(t, ids[0], send("POST", path, "another", c.body)[c.id])
		require.NotEqual(t, ids[0], send("POST", path, "", c.body)[c.id])
	}
}
