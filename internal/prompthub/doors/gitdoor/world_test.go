package gitdoor_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/doors"
	"prompthub/internal/prompthub/doors/gitdoor"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
)

// A world is the door over stores in memory, as one instance or more.
type world struct {
	t     testing.TB
	store table.DB
	db    *promptdb.DB
	hub   *library.Service
	door  http.Handler // of the instance that was started last
	url   string       // of the first instance
	jobs  queue.Queues
	now   time.Time
	rules prompt.Rules
	read  bool
}

func newWorld(t testing.TB, rules prompt.Rules, publicRead bool) *world {
	w := &world{
		t: t, now: time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC), store: memory.NewTables(),
		rules: rules, read: publicRead,
	}
	w.jobs = memory.NewQueues(w.clock)
	w.db, w.hub, w.url = w.instance()
	return w
}

func (w *world) clock() time.Time { return w.now }

// instance starts another instance over the same store.
func (w *world) instance() (*promptdb.DB, *library.Service, string) {
	w.t.Helper()
	db := promptdb.New(promptdb.Config{
		Store: w.store, Queues: w.jobs, Tables: promptdb.DefaultTables(), Now: w.clock,
		Log:        slog.New(slog.DiscardHandler),
		Background: func(f func()) { f() }, Sleep: func(context.Context, time.Duration) error { return nil },
	})
	require.NoError(w.t, db.Create(w.t.Context()))
	hub := library.New(db, w.rules, w.clock)
	admission := httpjson.NewAdmission(httpjson.Limits{}, w.clock)
	w.door = gitdoor.New(gitdoor.Config{
		Door: doors.Door{
			Identify: hub.WithTokens(auth.Dev(), true, admission.Guess), PublicRead: w.read,
			Admission: admission, Service: hub,
		},
		Public: "https://hub.test", Log: slog.New(slog.DiscardHandler), Now: w.clock,
	})
	server := httptest.NewServer(w.door)
	w.t.Cleanup(server.Close)
	return db, hub, server.URL + gitdoor.Prefix
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

// folder returns a draft of a skill with files.
func (w *world) folder(name string, files ...library.SentFile) prompt.Draft {
	w.t.Helper()
	skill := "---\nname: " + name + "\ndescription: About " + name + ".\n---\n\nUse " + name + ".\n"
	d, err := library.WithFiles(prompt.Draft{Visibility: prompt.Public},
		append(files, library.SentFile{Path: "SKILL.md", Bytes: []byte(skill)}), nil)
	require.NoError(w.t, err)
	return d
}

// public stores a public prompt of Ann's, and gives her a handle.
func (w *world) public(name, text string) library.View {
	w.t.Helper()
	w.handle()
	return w.write(user("ann"), prompt.Draft{
		Name: name, Title: name, Description: "About " + name,
		Text: text, Visibility: prompt.Public,
	})
}

func (w *world) handle() {
	w.t.Helper()
	_, err := w.hub.PutProfile(w.t.Context(), user("ann"), prompt.Profile{Handle: "ann"})
	require.NoError(w.t, err)
}

func (w *world) edit(id prompt.ID, change func(d *prompt.Draft)) library.View {
	w.t.Helper()
	w.now = w.now.Add(time.Second)
	v, err := w.hub.Patch(w.t.Context(), user("ann"), id, library.Match{Any: true}, change)
	require.NoError(w.t, err)
	return v
}

func (w *world) label(id prompt.ID, label string, n int64) {
	w.t.Helper()
	w.now = w.now.Add(time.Second)
	require.NoError(w.t, w.hub.SetLabel(w.t.Context(), user("ann"), id, label, n))
}

// tree returns the tree of a version as the API tells it.
func (w *world) tree(id prompt.ID, n int64) string {
	w.t.Helper()
	list, err := w.hub.ListFiles(w.t.Context(), user("ann"), id, library.WantedVersion{Number: n})
	require.NoError(w.t, err)
	return list.Files.Tree()
}

func (w *world) token(who string, scopes ...string) (library.Token, string) {
	w.t.Helper()
	token, text, err := w.hub.CreateToken(w.t.Context(), user(who),
		library.TokenDraft{Name: "x", Scopes: scopes, Claimed: true})
	require.NoError(w.t, err)
	return token, text
}

// A clone is a folder in which git runs.
type clone struct {
	t   testing.TB
	dir string
}

func run(t testing.TB, dir string, args ...string) (string, error) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "git", args...)
	c.Dir = dir
	c.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_ASKPASS=true", "LC_ALL=C",
	}
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	return strings.TrimSpace(out.String()), err
}

// clone clones a repository.
func (w *world) clone(url string, args ...string) clone {
	w.t.Helper()
	dir := w.t.TempDir()
	out, err := run(w.t, dir, append(append([]string{"clone", "-q"}, args...), url, "it")...)
	require.NoError(w.t, err, out)
	c := clone{w.t, filepath.Join(dir, "it")}
	c.git("fsck", "--strict")
	return c
}

// refused returns what git says of a clone that fails.
func (w *world) refused(url string, args ...string) string {
	w.t.Helper()
	out, err := run(w.t, w.t.TempDir(), append(append([]string{"clone", "-q"}, args...), url, "it")...)
	require.Error(w.t, err)
	return out
}

func (c clone) git(args ...string) string {
	c.t.Helper()
	out, err := run(c.t, c.dir, args...)
	require.NoError(c.t, err, "%s: %s", args, out)
	return out
}

func (c clone) fails(args ...string) string {
	c.t.Helper()
	out, err := run(c.t, c.dir, args...)
	require.Error(c.t, err, "%s: %s", args, out)
	return out
}

func (c clone) read(path string) string {
	c.t.Helper()
	b, err := os.ReadFile(filepath.Join(c.dir, filepath.FromSlash(path)))
	require.NoError(c.t, err)
	return string(b)
}

// status asks with an access token, "" for none.
func (w *world) status(method, url, token string) *http.Response {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, url, nil)
	require.NoError(w.t, err)
	if token != "" {
		r.SetBasicAuth("anything", token)
	}
	a, err := http.DefaultClient.Do(r)
	require.NoError(w.t, err)
	_ = a.Body.Close()
	return a
}

// with returns an address with an access token in it.
func with(url, token string) string {
	return strings.Replace(url, "http://", "http://any:"+token+"@", 1)
}
