package gitdoor_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

// TestClonePrompt: versions are commits, with the bytes, names and modes of their files; labels are
// branches, and every version has a tag. Every instance has the same ids.
func TestClonePrompt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prompt.Rules{}, true)
	w.handle()
	binary := string([]byte{0, 1, 255, 10, 13})
	d := w.folder("pdf-forms",
		library.SentFile{Path: "scripts/deep/fill.py", Bytes: []byte("print(1)\n"), Executable: true},
		library.SentFile{Path: "assets/logo.png", Bytes: []byte(binary)}, library.SentFile{Path: "empty"},
		library.SentFile{Path: "grün/ж.md", Bytes: []byte("ж\n")},
		library.SentFile{Path: "a-b/c", Bytes: []byte("1")}, library.SentFile{Path: "a/c", Bytes: []byte("1")},
		library.SentFile{Path: "a.b", Bytes: []byte("1")},
	)
	d.Message = "The first\nauthor X <x@y> 1 +0000"
	v := w.write(user("ann"), d)
	url := w.url + "/u/ann/pdf-forms.git"

	c := w.clone(url)
	require.Equal(t, binary, c.read("assets/logo.png"))
	require.Equal(t, "ж\n", c.read("grün/ж.md"))
	require.Empty(t, c.read("empty"))
	info, err := os.Stat(filepath.Join(c.dir, "scripts/deep/fill.py"))
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&0o111)
	require.Equal(t, w.tree(v.ID, 1), c.git("rev-parse", "HEAD^{tree}"))
	key := w.hub.AuthorKey("ann")
	require.Equal(t, key+" <"+key+"@users.prompthub.invalid>", c.git("log", "-1", "--format=%an <%ae>"))
	require.Equal(t, c.git("log", "-1", "--format=%an%ae%ad"), c.git("log", "-1", "--format=%cn%ce%cd"))
	require.Contains(t, c.git("log", "-1", "--format=%B"), "Prompt: "+string(v.ID)+"\nVersion: 1\nDigest: sha256:")
	require.Equal(t, "main", c.git("branch", "--show-current"))

	w.edit(v.ID, func(d *prompt.Draft) { d.Text = "Use it twice." })
	w.edit(v.ID, func(d *prompt.Draft) { d.Text = "Use it thrice."; d.Message = "Thrice" })
	c.git("pull", "-q", "--ff-only")
	require.Equal(t, w.tree(v.ID, 3), c.git("rev-parse", "HEAD^{tree}"))
	require.Equal(t, "Thrice\nVersion 2\nThe first author X <x@y> 1 +0000", c.git("log", "--format=%s"))

	shallow := w.clone(url, "--depth", "1")
	require.Equal(t, "1", shallow.git("rev-list", "--count", "HEAD"))
	shallow.git("fetch", "-q", "--unshallow")
	shallow.git("fsck", "--strict")
	require.Equal(t, "3", shallow.git("rev-list", "--count", "HEAD"))

	w.label(v.ID, prompt.Production, 2)
	w.label(v.ID, "main", 1)
	w.label(v.ID, "odd..name", 1)
	w.label(v.ID, "staging", 3)
	fresh := w.clone(url)
	require.Equal(t, "production", fresh.git("branch", "--show-current"))
	require.Equal(t, c.git("rev-parse", "HEAD~1"), fresh.git("rev-parse", "HEAD"))
	refs := fresh.git("ls-remote", "origin")
	names := fresh.git("ls-remote", "--refs", "origin")
	for _, name := range []string{
		"refs/heads/main", "refs/heads/production", "refs/heads/staging", "refs/tags/v1",
		"refs/tags/v2", "refs/tags/v3",
	} {
		require.Contains(t, names, name)
	}
	require.NotContains(t, names, "odd")
	require.Equal(t, c.git("rev-parse", "HEAD"), fresh.git("rev-parse", "origin/main"))

	_, _, other := w.instance()
	require.Equal(t, refs, fresh.git("ls-remote", strings.Replace(url, w.url, other, 1)))
	require.Equal(t, refs, fresh.git("ls-remote", strings.TrimSuffix(url, ".git")))
}

// TestCloneText: a prompt of a text alone is a folder with the SKILL.md that all doors show.
func TestCloneText(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prompt.Rules{}, true)
	v := w.public("greet", "Say hello to {{name}}.")
	c := w.clone(w.url + "/u/ann/greet.git")
	require.Contains(t, c.read("SKILL.md"), "Say hello to {{name}}.")
	require.Equal(t, w.tree(v.ID, 1), c.git("rev-parse", "HEAD^{tree}"))
	w.edit(v.ID, func(d *prompt.Draft) { d.Description = "Another" })
	c.git("pull", "-q", "--ff-only")
	require.Contains(t, c.read("SKILL.md"), "Another")
	w.public("part", "A part.")
	w.public("whole", "With @@@langfusePrompt:name=part|version=1@@@")
	require.Contains(t, w.refused(w.url+"/u/ann/whole.git"), "is a skill")
}

// TestWithdrawnVersions: a version that may not be seen is in no clone, on every instance at once,
// also if it is wanted by an id that was shown before.
func TestWithdrawnVersions(t *testing.T) {
	t.Parallel()
	for name, withdraw := range map[string]func(w *world, id prompt.ID) (isGone bool){
		"un-publish": func(w *world, id prompt.ID) bool {
			w.edit(id, func(d *prompt.Draft) { d.Visibility = prompt.Private })
			return true
		},
		"un-publish, publish again": func(w *world, id prompt.ID) bool {
			w.edit(id, func(d *prompt.Draft) { d.Visibility = prompt.Private })
			w.edit(id, func(d *prompt.Draft) { d.Text = "Four."; d.Visibility = prompt.Public })
			return false
		},
		"hide": func(w *world, id prompt.ID) bool {
			admin := auth.User{ID: "root", Roles: []string{auth.RoleAdmin}}
			require.NoError(w.t, w.hub.Hide(w.t.Context(), admin, id, "Bad"))
			return true
		},
		"delete": func(w *world, id prompt.ID) bool {
			require.NoError(w.t, w.hub.Delete(w.t.Context(), user("ann"), id, library.Match{Any: true}))
			return true
		},
		"delete a version": func(w *world, id prompt.ID) bool {
			require.NoError(w.t, w.hub.DeleteVersion(w.t.Context(), user("ann"), id, 2))
			return false
		},
		"recall a version": func(w *world, id prompt.ID) bool {
			require.NoError(w.t, w.hub.Recall(w.t.Context(), user("ann"), id, 2, "Bad"))
			return false
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, prompt.Rules{}, true)
			w.handle()
			v := w.write(user("ann"), w.folder("greet", library.SentFile{Path: "a", Bytes: []byte("one")}))
			w.edit(v.ID, func(d *prompt.Draft) { d.Text = "Secret two." })
			w.edit(v.ID, func(d *prompt.Draft) { d.Text = "Three." })
			_, _, other := w.instance()
			const path = "/u/ann/greet.git"
			urls := []string{w.url + path, other + path}
			clones := []clone{w.clone(urls[0]), w.clone(urls[1])}
			ids := []string{clones[0].git("rev-parse", "v2"), clones[0].git("rev-parse", "v3")}
			gone := withdraw(w, v.ID)
			for i, url := range urls {
				for _, id := range ids {
					into := clone{t, t.TempDir()}
					into.git("init", "-q", ".")
					require.Regexp(t, "not our ref|not found", into.fails("fetch", "-q", url, id))
				}
				if gone {
					require.Contains(t, w.refused(url), "not found")
					continue
				}
				now := w.clone(url)
				require.NotContains(t, now.git("log", "-p", "--all"), "Secret two.")
				require.Contains(t, clones[i].fails("pull", "-q", "--ff-only", "origin", "main"), "fatal")
				clones[i].git("reset", "-q", "--hard", "FETCH_HEAD")
				require.Equal(t, now.git("rev-parse", "HEAD"), clones[i].git("rev-parse", "HEAD"))
			}
		})
	}
}

// TestAccess: rights to clone.
func TestAccess(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prompt.Rules{}, true)
	w.public("greet", "Hello.")
	w.write(user("ann"), prompt.Draft{Name: "secret", Title: "Secret", Text: "Private.", Visibility: prompt.Private})
	_, err := w.hub.CreateWorkspace(t.Context(), user("ann"), prompt.Profile{Handle: "team-a"})
	require.NoError(t, err)
	as, err := w.hub.In(t.Context(), user("ann"), "team-a")
	require.NoError(t, err)
	w.write(as, prompt.Draft{Name: "plan", Title: "Plan", Text: "A plan.", Visibility: prompt.Private})
	token, ann := w.token("ann", auth.ScopeRead)
	_, bob := w.token("bob", auth.ScopeRead)
	_, writes := w.token("ann", auth.ScopeWrite)

	require.Contains(t, w.clone(with(w.url, ann)+"/me/secret.git").read("SKILL.md"), "Private.")
	require.Contains(t, w.clone(with(w.url, ann)+"/me/greet").read("SKILL.md"), "Hello.")
	require.Contains(t, w.clone(with(w.url, ann)+"/w/team-a/plan.git").read("SKILL.md"), "A plan.")
	require.Contains(t, w.clone(w.url+"/me/secret.git", "-c", "http.extraHeader=Authorization: Bearer "+ann).read(
		"SKILL.md"), "Private.")

	const service = "/info/refs?service=git-upload-pack"
	for _, c := range []struct {
		path, token string
		status      int
	}{
		{"/u/ann/greet.git", "", 200},
		{"/u/ann/greet.git", bob, 200},
		{"/u/ann/secret.git", "", 404},
		{"/u/ann/secret.git", ann, 404},
		{"/u/ann/nothing.git", "", 404},
		{"/u/nobody/greet.git", "", 404},
		{"/u/me/greet.git", ann, 404},
		{"/u/team-a/plan.git", "", 404},
		{"/me/secret.git", "", 401},
		{"/me/secret.git", bob, 404},
		{"/me/secret.git", writes, 403},
		{"/me/secret.git", ann[:len(ann)-1] + "x", 401},
		{"/w/team-a/plan.git", "", 401},
		{"/w/team-a/plan.git", bob, 404},
		{"/w/nothing/plan.git", bob, 404},
		{"/w/team-a/nothing.git", ann, 404},
	} {
		a := w.status(http.MethodGet, w.url+c.path+service, c.token)
		require.Equal(t, c.status, a.StatusCode, c.path)
		if c.status == http.StatusUnauthorized {
			require.Equal(t, `Basic realm="PromptHub"`, a.Header.Get("WWW-Authenticate"))
		}
	}
	require.Equal(t, 403, w.status(http.MethodGet, w.url+"/u/ann/greet.git/info/refs?service=git-receive-pack",
		"").StatusCode)
	require.Equal(t, 403, w.status(http.MethodPost, w.url+"/u/ann/greet.git/git-receive-pack", "").StatusCode)
	require.Equal(t, 400, w.status(http.MethodGet, w.url+"/u/ann/greet.git/info/refs", "").StatusCode)
	require.Equal(t, 404, w.status(http.MethodGet, w.url+"/u/ann/greet.git/HEAD", "").StatusCode)
	require.Equal(t, 415, w.status(http.MethodPost, w.url+"/u/ann/greet.git/git-upload-pack", "").StatusCode)
	c := w.clone(w.url + "/u/ann/greet.git")
	require.Contains(t, c.fails("push", "origin", "main"), "read only")
	require.Contains(t, w.refused(w.url+"/u/ann/greet.git", "-c", "protocol.version=0"), "protocol.version=2")

	require.NoError(t, w.hub.RevokeToken(t.Context(), user("ann"), token.ID))
	require.Equal(t, 401, w.status(http.MethodGet, w.url+"/me/secret.git"+service, ann).StatusCode)

	closed := newWorld(t, prompt.Rules{}, false)
	closed.public("greet", "Hello.")
	for _, path := range []string{"/u/ann/greet.git", "/u/nobody/x.git", "/me/x", "/w/x/y.git"} {
		require.Equal(t, 401, closed.status(http.MethodGet, closed.url+path+service, "").StatusCode, path)
	}
	_, bob = closed.token("bob", auth.ScopeRead)
	closed.clone(with(closed.url, bob) + "/u/ann/greet.git")
}

// TestHeadOfAPromptWithoutARelease: where programs that name no version get none, a clone checks
// out nothing. The versions are there by their tags.
func TestHeadOfAPromptWithoutARelease(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prompt.Rules{}, true)
	v := w.public("greet", "One.")
	w.edit(v.ID, func(d *prompt.Draft) { d.Text = "Two." })
	w.label(v.ID, prompt.Production, 2)
	require.NoError(t, w.hub.Recall(t.Context(), user("ann"), v.ID, 2, "Bad"))
	c := w.clone(w.url + "/u/ann/greet.git")
	c.fails("rev-parse", "HEAD^{commit}")
	require.Equal(t, w.tree(v.ID, 1), c.git("rev-parse", "v1^{tree}"))
	c.fails("rev-parse", "v2")
	require.NotContains(t, w.clone(w.url+"/u/ann.git").catalogue().names(), "greet")
}

// TestNewName: a prompt with files keeps its commits under a new name, and the old address leads
// there.
func TestNewName(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prompt.Rules{}, true)
	w.handle()
	v := w.write(user("ann"), w.folder("forms", library.SentFile{Path: "a", Bytes: []byte("a")}))
	c := w.clone(w.url + "/u/ann/forms.git")
	w.edit(v.ID, func(d *prompt.Draft) { d.Name = "papers" })
	w.edit(v.ID, func(d *prompt.Draft) { d.Text = "Two." })
	c.git("pull", "-q", "--ff-only")
	require.Equal(t, c.git("rev-parse", "HEAD"), w.clone(w.url+"/u/ann/papers.git").git("rev-parse", "HEAD"))
}

// TestRestoredBackup: a service that was restored from a backup gives the commits of prompts the
// same ids, and begins new lines.
func TestRestoredBackup(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prompt.Rules{}, true)
	v := w.public("greet", "One.")
	w.edit(v.ID, func(d *prompt.Draft) { d.Text = "Two." })
	w.write(user("ann"), w.folder("forms", library.SentFile{Path: "a", Bytes: []byte("a")}))
	const greet, forms, all = "/u/ann/greet.git", "/u/ann/forms.git", "/u/ann.git"
	before := w.clone(w.url + all)
	var backup bytes.Buffer
	differs := func(d promptdb.Difference) { require.Fail(t, "a difference", "%v", d) }
	_, err := w.db.Backup(t.Context(), &backup, differs, func(int) {})
	require.NoError(t, err)
	other := newWorld(t, prompt.Rules{}, true)
	other.now = w.now
	_, err = other.db.Restore(t.Context(), &backup, differs, func(int) {}, func(int) {})
	require.NoError(t, err)
	for _, path := range []string{greet, forms} {
		require.Equal(t, w.clone(w.url+path).git("show-ref"), other.clone(other.url+path).git("show-ref"))
	}
	require.Zero(t, other.snapshots())
	require.Equal(t, before.git("rev-parse", "HEAD^{tree}"), other.clone(other.url+all).git("rev-parse", "HEAD^{tree}"))
}
