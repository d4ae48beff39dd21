package marketplace_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/doors"
	"prompthub/internal/prompthub/doors/marketplace"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/queue"
)

const origin = "https://hub.test"

// A world is the door over stores in memory.
type world struct {
	t    testing.TB
	db   *promptdb.DB
	hub  *library.Service
	door http.Handler
	jobs queue.Queues
	now  time.Time
}

func newWorld(t testing.TB, rules prompt.Rules, publicRead bool) *world {
	w := &world{t: t, now: time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return w.now }
	w.jobs = memory.NewQueues(clock)
	w.db = promptdb.New(promptdb.Config{
		Store: memory.NewTables(), Queues: w.jobs, Tables: promptdb.DefaultTables(), Now: clock,
		Log:        slog.New(slog.DiscardHandler),
		Background: func(f func()) { f() }, Sleep: func(context.Context, time.Duration) error { return nil },
	})
	require.NoError(t, w.db.Create(t.Context()))
	w.hub = library.New(w.db, rules, clock)
	admission := httpjson.NewAdmission(httpjson.Limits{}, clock)
	w.door = marketplace.New(marketplace.Config{
		Door: doors.Door{
			Identify: w.hub.WithTokens(
				auth.Dev(),
				true,
				admission.Guess,
			), PublicRead: publicRead, Admission: admission, Service: w.hub,
		},
		Claimed: true, Public: origin, Log: slog.New(slog.DiscardHandler), Now: clock,
	})
	return w
}

func user(name string) auth.User { return auth.User{ID: name, Name: name} }

// write stores a prompt of a user, a second after the last.
func (w *world) write(who auth.User, d prompt.Draft) library.View {
	w.t.Helper()
	w.now = w.now.Add(time.Second)
	v, _, err := w.hub.Create(w.t.Context(), who, d, "")
	require.NoError(w.t, err)
	return v
}

// public stores a public prompt of Ann's, and gives her a handle.
func (w *world) public(name, text string) library.View {
	w.t.Helper()
	_, err := w.hub.PutProfile(w.t.Context(), user("ann"), prompt.Profile{Handle: "ann"})
	require.NoError(w.t, err)
	return w.write(
		user("ann"),
		prompt.Draft{Name: name, Title: name, Description: "About " + name, Text: text, Visibility: prompt.Public},
	)
}

func (w *world) edit(id prompt.ID, change func(d *prompt.Draft)) {
	w.t.Helper()
	w.now = w.now.Add(time.Second)
	_, err := w.hub.Patch(w.t.Context(), user("ann"), id, library.Match{Any: true}, change)
	require.NoError(w.t, err)
}

// settle writes what lists tell of labels that were moved.
func (w *world) settle() {
	w.t.Helper()
	w.now = w.now.Add(4 * time.Second)
	messages, err := w.jobs.Receive(w.t.Context(), promptdb.QueueRepairs, queue.MaxReceive, time.Minute)
	require.NoError(w.t, err)
	for _, m := range messages {
		require.NoError(w.t, w.db.Repair(w.t.Context(), m.Text))
		require.NoError(w.t, w.jobs.Delete(w.t.Context(), promptdb.QueueRepairs, m.Receipt))
	}
}

func (w *world) token(who string, scopes ...string) (library.Token, string) {
	w.t.Helper()
	token, text, err := w.hub.CreateToken(
		w.t.Context(),
		user(who),
		library.TokenDraft{Name: "x", Scopes: scopes, Claimed: true},
	)
	require.NoError(w.t, err)
	return token, text
}

// get asks with an access token, "" for none.
func (w *world) get(token, address string, header ...string) *httptest.ResponseRecorder {
	w.t.Helper()
	r := httptest.NewRequestWithContext(
		w.t.Context(),
		http.MethodGet,
		"http://localhost"+strings.TrimPrefix(address, origin),
		nil,
	)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	a := httptest.NewRecorder()
	w.door.ServeHTTP(a, r)
	return a
}

func (w *world) refused(a *httptest.ResponseRecorder, status int, code string) {
	w.t.Helper()
	require.Equal(w.t, status, a.Code, a.Body)
	var p struct{ Code string }
	require.NoError(w.t, json.Unmarshal(a.Body.Bytes(), &p))
	require.Equal(w.t, code, p.Code)
}

func decode(t testing.TB, a *httptest.ResponseRecorder, v any) {
	t.Helper()
	require.Equal(t, http.StatusOK, a.Code, a.Body)
	require.NoError(t, json.Unmarshal(a.Body.Bytes(), v))
}

type catalogue struct {
	Name    string
	Owner   struct{ Name string }
	Plugins []plugin
}

type plugin struct {
	Name, Description, Version string
	Source                     struct{ Source, URL, SHA256 string }
}

// catalogue reads a catalogue, without the plugin of the library itself.
func (w *world) catalogue(token, shelf string) catalogue {
	w.t.Helper()
	var c catalogue
	decode(w.t, w.get(token, marketplace.Prefix+shelf+"/marketplace.json"), &c)
	last := len(c.Plugins) - 1
	require.Equal(w.t, "library", c.Plugins[last].Name)
	c.Plugins = c.Plugins[:last]
	return c
}

// install fetches the package of a plugin without a token, and returns its files by their paths;
// those that may be run have a * after theirs.
func (w *world) install(p plugin) map[string]string {
	w.t.Helper()
	a := w.get("", p.Source.URL)
	require.Equal(w.t, http.StatusOK, a.Code, a.Body)
	sum := sha256.Sum256(a.Body.Bytes())
	require.Equal(w.t, p.Source.SHA256, hex.EncodeToString(sum[:]))
	z, err := zip.NewReader(bytes.NewReader(a.Body.Bytes()), int64(a.Body.Len()))
	require.NoError(w.t, err)
	files := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		require.NoError(w.t, err)
		b, err := io.ReadAll(r)
		require.NoError(w.t, err)
		name := f.Name
		if f.Mode()&0o111 != 0 {
			name += "*"
		}
		files[name] = string(b)
	}
	return files
}
