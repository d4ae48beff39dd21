package api_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/api"
	"prompthub/apps/harmony/internal/blog"
	"prompthub/apps/harmony/internal/chats"
	"prompthub/apps/harmony/internal/events"
	"prompthub/apps/harmony/internal/forum"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/meettest"
	"prompthub/apps/harmony/internal/reports"
	"prompthub/apps/harmony/internal/shop"
	"prompthub/apps/harmony/internal/web"
	"prompthub/internal/http/auth/password"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/storage/blob/picture"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/testing/calls"
	"prompthub/internal/testing/repeatable"
)

// A world is the API over stores in memory.
type world struct {
	t *testing.T
	http.Handler
	service    *meet.Service
	events     *events.Service
	forum      *forum.Service
	calls      calls.Recorder
	background sync.WaitGroup
	// over returns the API with an admission of its own, and pages returns the pages.
	over, pages func(*httpjson.Admission) http.Handler
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t}
	w.service = meet.New(meet.Config{
		Store: &rowstore.Store{
			DB: calls.Tables(memory.NewTables(), w.calls.Make), Now: time.Now,
			Log: slog.New(slog.DiscardHandler), Background: w.background.Go,
			Sleep:  func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
			Random: func(time.Duration) time.Duration { return 0 },
		},
		Tables: meettest.Tables, Queues: calls.Queues(memory.NewQueues(time.Now), w.calls.Make),
		Entropy: repeatable.Seeded(1), Passwords: password.NewHasher(),
		Blobs: calls.Blobs(memory.NewBlobs(time.Now), w.calls.Make), Pictures: picture.NewMaker(), LikesADay: 200,
		EraseAfter: 30 * 24 * time.Hour,
	})
	require.NoError(t, w.service.Create(t.Context()))
	w.events = events.New(w.service, meettest.EventTables, meettest.ForumTables)
	require.NoError(t, w.events.Create(t.Context()))
	w.forum = forum.New(w.service, w.events, meettest.ForumTables)
	require.NoError(t, w.forum.Create(t.Context()))
	told := reports.New(w.service, chats.New(w.service, w.events), w.forum, rowstore.DefaultTables[reports.Tables]())
	require.NoError(t, told.Create(t.Context()))
	sold := shop.New(w.service, rowstore.DefaultTables[shop.Tables]())
	require.NoError(t, sold.Create(t.Context()))
	posts := blog.New(w.service, rowstore.DefaultTables[blog.Tables]())
	require.NoError(t, posts.Create(t.Context()))
	w.over = func(admission *httpjson.Admission) http.Handler {
		return api.New(api.Config{
			Service: w.service, Events: w.events, Chats: chats.New(w.service, w.events), Forum: w.forum, Reports: told,
			Shop: sold, Blog: posts, Admission: admission, Log: slog.New(slog.DiscardHandler),
			Now: time.Now, Version: "test",
		})
	}
	w.pages = func(admission *httpjson.Admission) http.Handler {
		return web.New(web.Config{
			Service: w.service, Events: w.events, Chats: chats.New(w.service, w.events), Forum: w.forum, Reports: told,
			Shop: sold, Blog: posts, Admission: admission, Log: slog.New(slog.DiscardHandler), Now: time.Now,
		})
	}
	w.Handler = w.over(httpjson.NewAdmission(httpjson.Limits{}, time.Now))
	return w
}

// ask sends a request, its body as it is.
func (w *world) ask(method, path, token, body string) (int, map[string]any) {
	w.t.Helper()
	r := httptest.NewRequestWithContext(w.t.Context(), method, api.Prefix+path, strings.NewReader(body))
	if strings.HasPrefix(body, "\x89PNG") {
		r.Header.Set("Content-Type", "image/png")
	} else if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, r)
	var answer map[string]any
	if rec.Body.Len() > 0 && strings.Contains(rec.Header().Get("Content-Type"), "json") {
		require.NoError(w.t, json.Unmarshal(rec.Body.Bytes(), &answer), "%s", rec.Body)
	}
	return rec.Code, answer
}

// account registers a member, and returns the id and the tokens.
func (w *world) account(name string) (id, access, refresh string) {
	w.t.Helper()
	status, s := w.ask("POST", "/auth/register", "",
		`{"email":"`+name+`@example.com","password":"tea under seven lamps","name":"Анна","birthDate":"2000-02-29","gender":"female"}`)
	require.Equal(w.t, 201, status, s)
	return s["user"].(map[string]any)["userId"].(string), s["accessToken"].(string), s["refreshToken"].(string)
}
