package gitdoor_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
)

// snapshots returns how many rows of snapshots and lines there are.
func (w *world) snapshots() (n int) {
	w.t.Helper()
	for _, err := range table.All(w.t.Context(), w.store, promptdb.DefaultTables().Git, table.Range{}) {
		require.NoError(w.t, err)
		n++
	}
	return n
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

type catalogue struct {
	Name    string
	Plugins []struct{ Name, Description, Version, Source string }
}

func (c clone) catalogue() (all catalogue) {
	c.t.Helper()
	require.NoError(c.t, json.Unmarshal([]byte(c.read(".claude-plugin/marketplace.json")), &all))
	return all
}

func (c catalogue) names() (names []string) {
	for _, p := range c.Plugins {
		names = append(names, p.Name)
	}
	return names
}

// TestCloneShelf: the skills of an author are plugins in one repository, each in the version that
// programs get. A pull follows every change but a withdrawal.
func TestCloneShelf(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prompt.Rules{}, true)
	greet := w.public("greet", "Say hello.")
	forms := w.write(user("ann"),
		w.folder("pdf-forms", library.SentFile{Path: "scripts/fill.py", Bytes: []byte("print(1)\n"), Executable: true}))
	w.public("part", "A part.")
	w.public("whole", "With @@@langfusePrompt:name=part|version=1@@@")
	w.write(user("ann"), prompt.Draft{Name: "secret", Title: "Secret", Text: "Private.", Visibility: prompt.Private})
	url := w.url + "/u/ann.git"
	c := w.clone(url)
	all := c.catalogue()
	require.Equal(t, "prompthub-ann", all.Name)
	require.Equal(t, []string{"greet", "part", "pdf-forms", "library"}, all.names())
	require.Equal(t, "./plugins/greet", all.Plugins[0].Source)
	require.Contains(t, c.read("plugins/greet/skills/greet/SKILL.md"), "Say hello.")
	require.Contains(t, c.read("plugins/greet/plugin.json"), `"version": "1.0.0"`)
	require.Contains(t, c.read("plugins/library/.mcp.json"), "https://hub.test/mcp/u/ann")
	require.Contains(t, c.read("README.md"), "Skills: 3")
	require.Equal(t, w.tree(forms.ID, 1), c.git("rev-parse", "HEAD:plugins/pdf-forms/skills/pdf-forms"))
	require.Equal(t, w.tree(greet.ID, 1), c.git("rev-parse", "HEAD:plugins/greet/skills/greet"))
	require.Equal(t, "main", c.git("branch", "--show-current"))
	require.Contains(t, c.git("ls-files", "-s", "plugins/pdf-forms/skills/pdf-forms/scripts/fill.py"), "100755")

	written := w.snapshots()
	require.Equal(t, 2, written, "a line and a snapshot")
	w.clone(url)
	w.clone(url, "--depth", "1")
	require.Equal(t, written, w.snapshots(), "a reader writes nothing where nothing has changed")

	_, _, other := w.instance()
	second := strings.Replace(url, w.url, other, 1)
	shallow := w.clone(second, "--depth", "1")
	for name, change := range map[string]func(){
		"a version":     func() { w.edit(greet.ID, func(d *prompt.Draft) { d.Text = "Say hello twice." }) },
		"a description": func() { w.edit(greet.ID, func(d *prompt.Draft) { d.Description = "Another" }) },
		"a label":       func() { w.label(forms.ID, prompt.Production, 1); w.settle() },
		"a label moves": func() {
			w.edit(forms.ID, func(d *prompt.Draft) { d.Text = "Two." })
			w.label(forms.ID, prompt.Production, 2)
			w.label(forms.ID, prompt.Production, 1)
			w.settle()
		},
		"a new name": func() { w.edit(forms.ID, func(d *prompt.Draft) { d.Name = "forms" }) },
		"a new one":  func() { w.public("more", "More.") },
		"a tag":      func() { w.edit(greet.ID, func(d *prompt.Draft) { d.Tags = []prompt.Tag{"text"} }) },
	} {
		change()
		at := c.git("ls-remote", second, "refs/heads/main")
		c.git("pull", "-q", "--ff-only")
		c.git("fsck", "--strict")
		require.Contains(t, at, c.git("rev-parse", "HEAD"), name)
		shallow.git("pull", "-q", "--ff-only")
		require.Equal(t, c.git("rev-parse", "HEAD"), shallow.git("rev-parse", "HEAD"), name)
		require.Equal(t, c.git("rev-parse", "HEAD"), w.clone(second).git("rev-parse", "HEAD"), name)
	}
	require.Contains(t, c.git("log", "--format=%B"), "forms 1")
	require.Contains(t, c.git("log", "--format=%an <%ae>"), "PromptHub <git@prompthub.invalid>")
	deep := w.clone(second, "--depth", "2")
	deep.git("fetch", "-q", "--unshallow")
	deep.git("fsck", "--strict")
	require.Equal(t, c.git("rev-list", "HEAD"), deep.git("rev-list", "HEAD"))
	require.NotContains(t, c.git("log", "-p"), "Private.")
}

// TestWithdrawnSkills: a skill that may not be seen any more is in no clone and not to be had by an
// id that was shown, on every instance at once.
func TestWithdrawnSkills(t *testing.T) {
	t.Parallel()
	for name, withdraw := range map[string]func(w *world, id prompt.ID){
		"un-publish": func(w *world, id prompt.ID) {
			w.edit(id, func(d *prompt.Draft) { d.Visibility = prompt.Private })
		},
		"un-publish, publish again": func(w *world, id prompt.ID) {
			w.edit(id, func(d *prompt.Draft) { d.Visibility = prompt.Private })
			w.edit(id, func(d *prompt.Draft) { d.Text = "Three."; d.Visibility = prompt.Public })
		},
		"hide": func(w *world, id prompt.ID) {
			require.NoError(w.t, w.hub.Hide(w.t.Context(), auth.User{ID: "root", Roles: []string{auth.RoleAdmin}},
				id, "Bad"))
		},
		"delete": func(w *world, id prompt.ID) {
			require.NoError(w.t, w.hub.Delete(w.t.Context(), user("ann"), id, library.Match{Any: true}))
		},
		"delete a version": func(w *world, id prompt.ID) {
			w.edit(id, func(d *prompt.Draft) { d.Text = "Three." })
			require.NoError(w.t, w.hub.DeleteVersion(w.t.Context(), user("ann"), id, 2))
		},
		"recall": func(w *world, id prompt.ID) {
			require.NoError(w.t, w.hub.Recall(w.t.Context(), user("ann"), id, 2, "Bad"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, prompt.Rules{}, true)
			other := w.public("other", "Stays.")
			v := w.public("greet", "One.")
			_, err := w.hub.CreateCollection(t.Context(), user("ann"), user("ann"), "start", prompt.CollectionDraft{
				Name: "Start", Visibility: prompt.Public, Prompts: []prompt.ID{v.ID, other.ID},
			})
			require.NoError(t, err)
			_, _, second := w.instance()
			paths := []string{"/u/ann.git", "/c/ann/start.git"}
			w.clone(w.url + paths[0])
			w.clone(w.url + paths[1])
			w.edit(v.ID, func(d *prompt.Draft) { d.Text = "Secret two." })
			clones := []clone{w.clone(w.url + paths[0]), w.clone(w.url + paths[1])}
			var ids []string
			for _, c := range clones {
				require.Contains(t, c.git("log", "-p"), "Secret two.")
				ids = append(ids, c.git("rev-parse", "HEAD"), c.git("rev-parse", "HEAD~1"))
			}
			withdraw(w, v.ID)
			for i, path := range paths {
				for _, url := range []string{w.url, second} {
					for _, id := range ids {
						into := clone{t, t.TempDir()}
						into.git("init", "-q", ".")
						require.Contains(t, into.fails("fetch", "-q", url+path, id), "not our ref")
					}
					now := w.clone(url + path)
					require.NotContains(t, now.git("log", "-p", "--all"), "Secret two.")
					require.Contains(t, now.read("plugins/other/skills/other/SKILL.md"), "Stays.")
					require.Contains(t, now.git("log", "-1", "--format=%s"), "History begins anew")
					require.Contains(t, clones[i].fails("pull", "-q", "--ff-only", url+path, "main"), "fatal")
				}
				clones[i].git("fetch", "-q")
				clones[i].git("reset", "-q", "--hard", "origin/main")
				w.edit(other.ID, func(d *prompt.Draft) { d.Text += " Still." })
				clones[i].git("pull", "-q", "--ff-only")
			}
		})
	}
}

// TestShelves: repositories of one's own, of a workspace and of collections, and their readers.
func TestShelves(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prompt.Rules{}, true)
	greet := w.public("greet", "Hello.")
	secret := w.write(user("ann"),
		prompt.Draft{Name: "secret", Title: "Secret", Text: "Private.", Visibility: prompt.Private})
	_, err := w.hub.CreateWorkspace(t.Context(), user("ann"), prompt.Profile{Handle: "team-a"})
	require.NoError(t, err)
	as, err := w.hub.In(t.Context(), user("ann"), "team-a")
	require.NoError(t, err)
	w.write(as, prompt.Draft{Name: "plan", Title: "Plan", Text: "A plan.", Visibility: prompt.Private})
	_, ann := w.token("ann", auth.ScopeRead)
	_, bob := w.token("bob", auth.ScopeRead)
	collection := prompt.CollectionDraft{
		Name: "To start", About: "Begin <here>", Visibility: prompt.Public,
		Prompts: []prompt.ID{secret.ID, greet.ID},
	}
	_, err = w.hub.CreateCollection(t.Context(), user("ann"), user("ann"), "start", collection)
	require.NoError(t, err)

	own := w.clone(with(w.url, ann) + "/me.git")
	require.Equal(t, []string{"greet", "secret", "library"}, own.catalogue().names())
	require.Equal(t, "prompthub-me", own.catalogue().Name)
	require.Contains(t, own.read("plugins/library/mcp.json"), "PROMPTHUB_TOKEN")
	require.Equal(t, []string{"plan", "library"}, w.clone(with(w.url, ann)+"/w/team-a.git").catalogue().names())
	require.Equal(t, []string{"library"}, w.clone(with(w.url, bob)+"/me").catalogue().names())

	public := w.clone(w.url + "/c/ann/start.git")
	require.Equal(t, []string{"start", "greet"}, public.catalogue().names())
	require.Contains(t, public.read("plugins/start/skills/greet/SKILL.md"), "Hello.")
	require.Contains(t, public.read("plugins/start/plugin.json"), public.catalogue().Plugins[0].Version)
	require.Contains(t, public.read("README.md"), "Begin &lt;here&gt;")
	for _, token := range []string{ann, bob} {
		require.Equal(t, public.git("rev-parse", "HEAD"),
			w.clone(with(w.url, token)+"/c/ann/start.git").git("rev-parse", "HEAD"), "one repository for everybody")
	}
	set := func(change func(*prompt.CollectionDraft)) {
		t.Helper()
		_, err := w.hub.EditCollection(t.Context(), user("ann"), "ann", "start", library.Match{Any: true}, change)
		require.NoError(t, err)
	}
	set(func(d *prompt.CollectionDraft) { d.About = "Begin there" })
	public.git("pull", "-q", "--ff-only")
	require.Contains(t, public.read("plugins/start/plugin.json"), "Begin there")

	const service = "/info/refs?service=git-upload-pack"
	set(func(d *prompt.CollectionDraft) { d.Visibility, d.About = prompt.Private, "Hush" })
	require.Equal(t, 401, w.status("GET", w.url+"/c/ann/start"+service, "").StatusCode, "git asks for a token then")
	require.Equal(t, 401, w.status("GET", w.url+"/c/ann/none"+service, "").StatusCode)
	require.Equal(t, 401, w.status("GET", w.url+"/c/nobody/none"+service, "").StatusCode)
	require.Equal(t, 404, w.status("GET", w.url+"/c/ann/start"+service, bob).StatusCode)
	require.Equal(t, 404, w.status("GET", w.url+"/c/ann/none"+service, ann).StatusCode)
	private := w.clone(with(w.url, ann) + "/c/ann/start.git")
	require.Equal(t, []string{"start", "greet", "secret"}, private.catalogue().names())
	set(func(d *prompt.CollectionDraft) { d.Visibility, d.About = prompt.Public, "Come in" })
	again := w.clone(w.url + "/c/ann/start.git")
	require.NotContains(t, again.git("log", "-p"), "Private.")
	require.NotContains(t, again.git("log", "-p"), "Hush")
	set(func(d *prompt.CollectionDraft) {
		d.Visibility, d.About, d.Prompts = prompt.Private, "Psst", []prompt.ID{greet.ID}
	})
	w.clone(with(w.url, ann) + "/c/ann/start.git")
	set(func(d *prompt.CollectionDraft) { d.Visibility, d.About = prompt.Public, "Welcome" })
	require.NotContains(t, w.clone(w.url+"/c/ann/start.git").git("log", "-p"), "Psst", "though all skills were public")

	require.Equal(t, 404, w.status("GET", w.url+"/u/nobody"+service, "").StatusCode)
	require.Equal(t, 404, w.status("GET", w.url+"/u/team-a"+service, "").StatusCode)
	require.Equal(t, 401, w.status("GET", w.url+"/me"+service, "").StatusCode)
	require.Equal(t, 401, w.status("GET", w.url+"/w/team-a"+service, "").StatusCode)
	require.Equal(t, 404, w.status("GET", w.url+"/w/team-a"+service, bob).StatusCode)

	_, err = w.hub.PutProfile(t.Context(), user("cy"), prompt.Profile{Handle: "cy"})
	require.NoError(t, err)
	require.Equal(t, []string{"library"}, w.clone(w.url+"/u/cy.git").catalogue().names(),
		"an author without public prompts")
}

// sweep walks all tables once, a day after the last time.
func (w *world) sweep() {
	w.t.Helper()
	w.now = w.now.Add(25 * time.Hour)
	_, differences, err := w.db.Sweep(w.t.Context())
	require.NoError(w.t, err)
	require.Zero(w.t, differences)
	_, err = w.db.Verify(w.t.Context(), func(d promptdb.Difference) {
		require.Fail(w.t, "a difference", "%v", d)
	}, func(int) {})
	require.NoError(w.t, err)
}

// TestForgottenLines: anti-entropy removes ended epochs, lines that no client asked for in a month,
// and those that have shown a prompt which is purged; an erasure removes those of the user at once.
func TestForgottenLines(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prompt.Rules{}, true)
	greet := w.public("greet", "Hello.")
	url := w.url + "/u/ann.git"
	w.clone(url)
	w.edit(greet.ID, func(d *prompt.Draft) { d.Text = "Two." })
	c := w.clone(url)
	w.sweep()
	require.Equal(t, 3, w.snapshots())
	c.git("fetch", "-q")
	require.NoError(t, w.hub.DeleteVersion(t.Context(), user("ann"), greet.ID, 1))
	c.git("fetch", "-q")
	require.Equal(t, 4, w.snapshots())
	w.sweep()
	require.Equal(t, 2, w.snapshots(), "the line and its last epoch")

	for range 3 { // somebody asks for it each fortnight
		w.now = w.now.AddDate(0, 0, 14)
		c.git("fetch", "-q")
		w.sweep()
		require.Equal(t, 2, w.snapshots())
	}
	w.now = w.now.AddDate(0, 0, 30)
	w.sweep()
	w.sweep()
	require.Zero(t, w.snapshots())
	require.Contains(t, w.clone(url).read("plugins/greet/skills/greet/SKILL.md"), "Two.")

	// another one's collection has a prompt of Ann's, and she leaves
	_, err := w.hub.CreateCollection(t.Context(), user("bob"), user("bob"), "bobs",
		prompt.CollectionDraft{Name: "Bob's", Visibility: prompt.Public, Prompts: []prompt.ID{greet.ID}})
	require.NoError(t, err)
	_, err = w.hub.PutProfile(t.Context(), user("bob"), prompt.Profile{Handle: "bob"})
	require.NoError(t, err)
	w.clone(w.url + "/c/bob/bobs.git")
	require.Equal(t, 4, w.snapshots())
	_, err = w.db.EraseAt(t.Context(), "ann", w.now)
	require.NoError(t, err)
	for done := false; !done; {
		w.now = w.now.Add(time.Minute)
		done, err = w.db.EraseNow(t.Context(), "ann", w.now.Add(time.Minute))
		require.NoError(t, err)
	}
	require.Equal(t, 2, w.snapshots(), "Bob's")
	w.sweep()
	w.sweep()
	require.Zero(t, w.snapshots())
	require.Empty(t, w.clone(w.url+"/c/bob/bobs.git").catalogue().Plugins)
}

// TestClonesUnderAWriter: while an author writes, clones from two instances agree on one line,
// which has no more snapshots than there were changes.
func TestClonesUnderAWriter(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prompt.Rules{}, true)
	greet := w.public("greet", "Hello.")
	_, _, second := w.instance()
	urls := []string{w.url + "/u/ann.git", second + "/u/ann.git"}
	const changes = 20
	var g errgroup.Group
	stop := make(chan struct{})
	tips := make([][]string, 6)
	for i := range tips {
		g.Go(func() error {
			for {
				out, err := run(t, t.TempDir(), "clone", "-q", urls[i%2], "it")
				if err != nil {
					return errors.New(out)
				}
				out, err = run(t, t.TempDir(), "ls-remote", urls[(i+1)%2], "refs/heads/main")
				if err != nil {
					return errors.New(out)
				}
				tips[i] = append(tips[i], strings.Fields(out)[0])
				select {
				case <-stop:
					return nil
				default:
				}
			}
		})
	}
	for i := range changes {
		_, err := w.hub.Patch(t.Context(), user("ann"), greet.ID, library.Match{Any: true}, func(d *prompt.Draft) {
			d.Text = fmt.Sprint("Hello ", i)
		})
		require.NoError(t, err)
	}
	close(stop)
	require.NoError(t, g.Wait())
	c := w.clone(urls[0])
	require.Contains(t, c.read("plugins/greet/skills/greet/SKILL.md"), fmt.Sprint("Hello ", changes-1))
	line := strings.Fields(c.git("rev-list", "HEAD"))
	require.LessOrEqual(t, len(line), changes+1)
	for _, of := range tips {
		for _, tip := range of {
			require.Contains(t, line, tip)
		}
	}
}

// TestManySkills: the newest 500 skills are one repository, and a clone of it is fast and small.
func TestManySkills(t *testing.T) { // alone: others would be measured, too
	if testing.Short() {
		t.Skip("makes many prompts")
	}
	w := newWorld(t, prompt.Rules{}, true)
	w.handle()
	var last library.View
	for i := range 510 {
		last = w.write(user("ann"), w.folder(fmt.Sprintf("skill-%04d", i),
			library.SentFile{
				Path:  "references/a.md",
				Bytes: []byte(strings.Repeat(fmt.Sprint("line ", i, "\n"), 100)),
			}))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	c := w.clone(w.url+"/u/ann.git", "--depth", "1")
	took := time.Since(began)
	runtime.ReadMemStats(&after)
	t.Logf("clone and fsck of 500 skills at depth 1: %v, %d KiB allocated", took,
		(after.TotalAlloc-before.TotalAlloc)>>10)
	all := c.catalogue()
	require.Len(t, all.Plugins, 501)
	require.Contains(t, all.names(), last.Slug)
	require.NotContains(t, all.names(), "skill-0009")
	require.Contains(t, c.read("README.md"), "10 more are left out")
	w.edit(last.ID, func(d *prompt.Draft) { d.Text = "Another." })
	began = time.Now()
	c.git("pull", "-q", "--ff-only")
	t.Logf("pull of one change: %v", time.Since(began))
	began = time.Now()
	c.git("ls-remote", "origin")
	t.Logf("refs without a change: %v", time.Since(began))
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(128<<20))
}
