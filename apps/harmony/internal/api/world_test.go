package api_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
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
	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/blob/picture"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A meter counts the calls of the storage, each of which takes delay, and the bytes of the rows
// that they carry: keys, names and values.
type meter struct {
	table.DB
	delay time.Duration
	n     atomic.Int64
	bytes atomic.Int64
}

func (m *meter) weigh(row table.Row) {
	n := len(row.Partition) + len(row.Key.Row)
	for _, p := range row.Props {
		n += len(p.Name) + max(len(p.Value.Str()), 8)
	}
	m.bytes.Add(int64(n))
}

func (m *meter) call() {
	m.n.Add(1)
	if m.delay > 0 {
		time.Sleep(m.delay) // in a bubble, where it costs nothing
	}
}

func (m *meter) Get(ctx context.Context, name string, key table.Key) (table.Row, error) {
	m.call()
	row, err := m.DB.Get(ctx, name, key)
	m.weigh(row)
	return row, err
}

func (m *meter) List(ctx context.Context, name string, r table.Range, limit int, next string) (table.Page, error) {
	m.call()
	page, err := m.DB.List(ctx, name, r, limit, next)
	for _, row := range page.Rows {
		m.weigh(row)
	}
	return page, err
}

func (m *meter) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	m.call()
	for _, op := range ops {
		m.weigh(op.Row)
	}
	return m.DB.Write(ctx, name, ops...)
}

// sends counts messages.
type sends struct {
	queue.Queues
	m *meter
}

func (s sends) Send(ctx context.Context, name, text string, d time.Duration) (queue.Receipt, error) {
	s.m.call()
	return s.Queues.Send(ctx, name, text, d)
}

func (s sends) Delete(ctx context.Context, name string, r queue.Receipt) error {
	s.m.call()
	return s.Queues.Delete(ctx, name, r)
}

// files counts calls for blobs.
type files struct {
	blob.Store
	m *meter
}

func (f files) Put(ctx context.Context, container, name string, body []byte) error {
	f.m.call()
	return f.Store.Put(ctx, container, name, body)
}

func (f files) Get(ctx context.Context, container, name string) (blob.Blob, error) {
	f.m.call()
	return f.Store.Get(ctx, container, name)
}

func (f files) Delete(ctx context.Context, container, name string) error {
	f.m.call()
	return f.Store.Delete(ctx, container, name)
}

// A world is the API over stores in memory.
type world struct {
	t *testing.T
	http.Handler
	service    *meet.Service
	events     *events.Service
	forum      *forum.Service
	meter      *meter
	background sync.WaitGroup
	// over returns the API with an admission of its own, and pages returns the pages.
	over, pages func(*httpjson.Admission) http.Handler
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, meter: &meter{DB: memory.NewTables()}}
	names := meet.Tables{}
	names.Users, names.UserEmails, names.Sessions = "Users", "UserEmails", "Sessions"
	names.UserImages, names.UserPreferences, names.UserSettings, names.Pairs = "UserImages", "UserPreferences", "UserSettings", "Pairs"
	names.Likes, names.LikesReceived, names.Matches, names.Blocks = "Likes", "LikesReceived", "Matches", "Blocks"
	names.Deck, names.Chats, names.UserChats, names.Messages, names.State = "Deck", "Chats", "UserChats", "Messages", "State"
	w.service = meet.New(meet.Config{
		Store: &rowstore.Store{
			DB: w.meter, Now: time.Now, Log: slog.New(slog.DiscardHandler), Background: w.background.Go,
			Sleep:  func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
			Random: func(time.Duration) time.Duration { return 0 },
		},
		Tables: names, Queues: sends{memory.NewQueues(time.Now), w.meter}, Entropy: rand.Reader, Passwords: password.NewHasher(),
		Blobs: files{memory.NewBlobs(time.Now), w.meter}, Pictures: picture.NewMaker(), LikesADay: 200, EraseAfter: 30 * 24 * time.Hour,
	})
	require.NoError(t, w.service.Create(t.Context()))
	w.events = events.New(w.service, meettest.EventTables, meettest.ForumTables)
	require.NoError(t, w.events.Create(t.Context()))
	w.forum = forum.New(w.service, w.events, meettest.ForumTables)
	require.NoError(t, w.forum.Create(t.Context()))
	told := reports.New(w.service, chats.New(w.service, w.events), w.forum, reports.Tables{Reports: "Reports"})
	require.NoError(t, told.Create(t.Context()))
	sold := shop.New(w.service, shop.Tables{StoreItems: "StoreItems"})
	require.NoError(t, sold.Create(t.Context()))
	posts := blog.New(w.service, blog.Tables{BlogPosts: "BlogPosts"})
	require.NoError(t, posts.Create(t.Context()))
	w.over = func(admission *httpjson.Admission) http.Handler {
		return api.New(api.Config{
			Service: w.service, Events: w.events, Chats: chats.New(w.service, w.events), Forum: w.forum, Reports: told, Shop: sold, Blog: posts, Admission: admission, Log: slog.New(slog.DiscardHandler), Now: time.Now, Version: "test",
		})
	}
	w.pages = func(admission *httpjson.Admission) http.Handler {
		return web.New(web.Config{
			Service: w.service, Events: w.events, Chats: chats.New(w.service, w.events), Forum: w.forum, Reports: told, Shop: sold, Blog: posts, Admission: admission, Log: slog.New(slog.DiscardHandler), Now: time.Now,
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
	status, s := w.ask("POST", "/auth/register", "", `{"email":"`+name+`@example.com","password":"tea under seven lamps","name":"Анна","birthDate":"2000-02-29","gender":"female"}`)
	require.Equal(w.t, 201, status, s)
	return s["user"].(map[string]any)["userId"].(string), s["accessToken"].(string), s["refreshToken"].(string)
}
