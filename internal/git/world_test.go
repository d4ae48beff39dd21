package git_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/git"
)

// A file of a test.
type file struct {
	content    string
	executable bool
}

// A world is a repository in memory, which a test fills, and which is served as a door would.
type world struct {
	mu      sync.Mutex // held by a request while it is answered, else by a test with a client
	head    string
	refs    map[string]git.ID
	commits map[git.ID]git.Commit
	trees   map[git.ID][]git.Entry
	blobs   map[git.ID][]byte
	read    int      // contents that were read
	posted  []string // requests
}

func newWorld() *world {
	return &world{
		head: "refs/heads/main", refs: make(map[string]git.ID), commits: make(map[git.ID]git.Commit),
		trees: make(map[git.ID][]git.Entry), blobs: make(map[git.ID][]byte),
	}
}

// begin is the time of the first commit of a world; each next one is an hour later.
var begin = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// commit puts a commit after the one of a ref, and moves the ref there.
func (w *world) commit(ref string, files map[string]file) git.ID {
	var entries []git.Entry
	for _, path := range slices.Sorted(maps.Keys(files)) {
		e := git.Entry{Name: path, Mode: git.File, ID: git.BlobID([]byte(files[path].content))}
		if files[path].executable {
			e.Mode = git.Executable
		}
		w.blobs[e.ID] = []byte(files[path].content)
		entries = append(entries, e)
	}
	c := git.Commit{
		Tree: git.MakeTrees(entries, func(id git.ID, list []git.Entry) { w.trees[id] = list }), Parent: w.refs[ref],
		Name: "ann", Email: "ann@users.prompthub.invalid", At: begin.Add(time.Duration(len(w.commits)) * time.Hour),
		Message: fmt.Sprintf("Version %d\n\nPrompt: 1", len(w.commits)+1),
	}
	id, _ := c.Encode()
	w.commits[id], w.refs[ref] = c, id
	return id
}

func (w *world) Head() string { return w.head }

func (w *world) Refs() []git.Ref {
	var refs []git.Ref
	for _, name := range slices.Sorted(maps.Keys(w.refs)) {
		refs = append(refs, git.Ref{Name: name, ID: w.refs[name]})
	}
	return refs
}

func (w *world) Commit(id git.ID) (git.Commit, bool) {
	c, ok := w.commits[id]
	return c, ok
}

func (w *world) Tree(_ context.Context, id git.ID) ([]git.Entry, error) {
	list, ok := w.trees[id]
	if !ok {
		return nil, fmt.Errorf("there is no tree %s", id)
	}
	return list, nil
}

func (w *world) Blobs(_ context.Context, ids []git.ID) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, id := range slices.Backward(ids) {
			w.read++
			if !yield(w.blobs[id], nil) {
				return
			}
		}
	}
}

// ServeHTTP answers as the git door does.
func (w *world) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var refusal *git.Refusal
	switch {
	case r.Method == http.MethodGet && r.URL.Path == "/r.git/info/refs" && r.URL.RawQuery == "service=git-upload-pack":
		out.Header().Set("Content-Type", git.AdvertisementType)
		_, _ = out.Write(git.Advertise(r.Header.Get("Git-Protocol")))
	case r.Method == http.MethodPost && r.URL.Path == "/r.git/git-upload-pack":
		out.Header().Set("Content-Type", git.ResultType)
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		w.posted = append(w.posted, string(body))
		parts, err := w.answer(r.Context(), bytes.NewReader(body))
		switch {
		case errors.As(err, &refusal):
			_, _ = out.Write(refusal.Packet())
		case err != nil:
			http.Error(out, err.Error(), http.StatusInternalServerError)
		}
		for _, b := range parts {
			_, _ = out.Write(b)
		}
	default:
		http.NotFound(out, r)
	}
}

func (w *world) answer(ctx context.Context, body io.Reader) ([][]byte, error) {
	q, err := git.ReadRequest(body)
	if err != nil {
		return nil, err
	}
	return q.Answer(ctx, w)
}

// count returns how many contents were read since it was last asked.
func (w *world) count() int {
	n := w.read
	w.read = 0
	return n
}

// A client is the git of this machine, with a world to clone.
type client struct {
	*testing.T
	*world
	url, dir string
}

func newClient(t *testing.T, w *world) *client {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("git is not installed")
		}
		t.Skip("git is not installed")
	}
	server := httptest.NewServer(w)
	t.Cleanup(server.Close)
	w.mu.Lock()
	t.Cleanup(w.mu.Unlock)
	return &client{T: t, world: w, url: server.URL + "/r.git", dir: t.TempDir()}
}

// run runs git with an input, and returns all that it prints.
func (c *client) run(stdin string, args ...string) (string, error) {
	cmd := exec.CommandContext(c.Context(), "git", args...)
	cmd.Stdin = strings.NewReader(stdin)
	cmd.Dir = c.dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + c.dir, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0", "LC_ALL=C", "TZ=UTC",
		"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=core.quotePath", "GIT_CONFIG_VALUE_0=false",
		"GIT_CONFIG_KEY_1=core.fsync", "GIT_CONFIG_VALUE_1=none",
	}
	c.mu.Unlock()
	defer c.mu.Lock()
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (c *client) git(args ...string) string {
	c.Helper()
	out, err := c.run("", args...)
	require.NoError(c, err, "git %s\n%s", strings.Join(args, " "), out)
	return out
}

// fails runs git and returns what it prints as it fails.
func (c *client) fails(args ...string) string {
	c.Helper()
	out, err := c.run("", args...)
	require.Error(c, err, "git %s\n%s", strings.Join(args, " "), out)
	return out
}

// clone clones into a folder.
func (c *client) clone(into string, args ...string) {
	c.Helper()
	c.git(slices.Concat([]string{"clone", "-q"}, args, []string{c.url, into})...)
	c.sound(into)
}

// sound has git check all objects of a clone, and its files against its commit.
func (c *client) sound(clone string) {
	c.Helper()
	require.Empty(c, c.git("-C", clone, "fsck", "--strict", "--no-progress", "--no-dangling"))
	require.Empty(c, c.git("-C", clone, "status", "--porcelain"))
}

// files returns the files of a clone as they lie there.
func (c *client) files(clone string) map[string]file {
	c.Helper()
	all := make(map[string]file)
	root := filepath.Join(c.dir, clone)
	require.NoError(c, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Name() == ".git":
			return filepath.SkipDir
		case d.IsDir():
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		b, err := os.ReadFile(path)
		name, _ := filepath.Rel(root, path)
		all[filepath.ToSlash(name)] = file{string(b), info.Mode()&0o100 != 0}
		return err
	}))
	return all
}

// log returns the commits of a clone, newest first.
func (c *client) log(clone string, args ...string) []string {
	c.Helper()
	return strings.Fields(c.git(slices.Concat([]string{"-C", clone, "log", "--format=%H"}, args)...))
}

// line returns the commits of a ref of the world, newest first.
func (w *world) line(ref string) []string {
	var all []string
	for id := w.refs[ref]; !id.IsZero(); id = w.commits[id].Parent {
		all = append(all, id.String())
	}
	return all
}

// post sends a request as it is, and returns the answer.
func (w *world) post(t require.TestingT, body string) string {
	parts, err := w.answer(context.Background(), strings.NewReader(body))
	refusal := new(git.Refusal)
	if errors.As(err, &refusal) {
		return string(refusal.Packet())
	}
	require.NoError(t, err)
	return string(bytes.Join(parts, nil))
}
