package git_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"prompthub/internal/git"
)

const main = "refs/heads/main"

// grow puts commits after main: each changes one file of five, and one of 40 in a folder.
func (w *world) grow(commits int) {
	for range commits {
		n := len(w.commits)
		files := map[string]file{"SKILL.md": {content: fmt.Sprintf("version %d\n", n)}}
		for i := range 40 {
			at := 0
			if i == n%40 {
				at = n
			}
			files[fmt.Sprintf("skills/s%d/SKILL.md", i)] = file{content: fmt.Sprintf("skill %d of %d\n", i, at)}
		}
		w.commit(main, files)
	}
}

func TestClone(t *testing.T) {
	t.Parallel()
	w := newWorld()
	c := newClient(t, w)
	w.commit(main, map[string]file{"SKILL.md": {content: "one\n"}})
	files := map[string]file{
		"SKILL.md":           {content: "two\n"},
		"scripts/run.sh":     {"#!/bin/sh\necho hallo\n", true},
		"a/b/c/d/e/f/g.txt":  {content: "deep"},
		"a.txt":              {content: "before the folder a/"},
		"a/x":                {content: ""},
		"a0":                 {content: "after the folder a/"},
		"Größe/日本語 🙂.md":     {content: "\x00\xff binary"},
		"50% #1 and 'more'":  {content: "two\n"},
		"large":              {content: strings.Repeat("0123456789", 100_000)},
		"many/random/as/can": {content: noise(300_000)},
	}
	w.commit(main, files)

	c.clone("whole")
	require.Equal(t, files, c.files("whole"))
	require.Equal(t, w.line(main), c.log("whole"))
	require.Equal(t, "Version 2\n\nPrompt: 1", c.git("-C", "whole", "log", "-1", "--format=%B"))
	require.Equal(t, "ann ann@users.prompthub.invalid 2026-11-01 13:00:00 +0000",
		c.git("-C", "whole", "log", "-1", "--format=%an %ce %ci"))

	c.clone("shallow", "--depth", "1")
	require.Equal(t, files, c.files("shallow"))
	require.Equal(t, w.line(main)[:1], c.log("shallow"))
}

// noise returns bytes that cannot be packed.
func noise(n int) string {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{}).Read(b)
	return string(b)
}

// TestDeepen: a clone that begins shallow gets what is before, as much as it asks, and nothing that
// it has.
func TestDeepen(t *testing.T) {
	t.Parallel()
	w := newWorld()
	c := newClient(t, w)
	w.grow(12)
	w.refs["refs/tags/v3"] = w.id(main, 9)
	all := w.line(main)
	c.clone("clone", "--depth", "1")
	require.Equal(t, 41, w.count())

	step := func(commits, contents int, args ...string) {
		t.Helper()
		c.git(slices.Concat([]string{"-C", "clone", "fetch", "-q"}, args)...)
		c.sound("clone")
		require.Equal(t, all[:commits], c.log("clone"), args)
		require.LessOrEqual(t, w.count(), contents, args)
	}
	step(3, 6, "--deepen", "2")
	step(5, 6, "--depth", "5")
	step(2, 0, "--depth", "2")
	step(7, 15, "--shallow-since", begin.Add(5*time.Hour).Format(time.RFC3339))
	step(9, 6, "--shallow-exclude", "v3")
	step(9, 0)
	step(12, 9, "--unshallow")
	step(12, 0, "--deepen", "5")
	step(1, 0, "--shallow-since", begin.Add(500*time.Hour).Format(time.RFC3339))
}

// id returns the commit that is some before a ref.
func (w *world) id(ref string, before int) git.ID {
	id := w.refs[ref]
	for range before {
		id = w.commits[id].Parent
	}
	return id
}

// TestFetch: a clone gets what is new and nothing else, a shallow one too.
func TestFetch(t *testing.T) {
	t.Parallel()
	w := newWorld()
	c := newClient(t, w)
	w.grow(3)
	c.clone("whole")
	c.clone("shallow", "--depth", "1")
	c.clone("reset", "--depth", "1")
	w.count()
	for range 3 {
		w.grow(2)
		c.git("-C", "whole", "pull", "-q", "--ff-only")
		require.Equal(t, 5, w.count())
		c.git("-C", "shallow", "pull", "-q", "--ff-only")
		require.Equal(t, 5, w.count())
		c.git("-C", "reset", "fetch", "-q", "--depth", "1")
		c.git("-C", "reset", "reset", "-q", "--hard", "origin/main")
		require.LessOrEqual(t, w.count(), 4)
		for _, clone := range []string{"whole", "shallow", "reset"} {
			c.sound(clone)
			require.Equal(t, c.files("whole"), c.files(clone))
		}
		c.git("-C", "whole", "fetch", "-q")
		require.Zero(t, w.count())
	}
	require.Equal(t, w.line(main), c.log("whole"))
	require.Equal(t, w.line(main)[:7], c.log("shallow"))
	require.Equal(t, w.line(main)[:1], c.log("reset"))
	c.git("-C", "reset", "fetch", "-q", "--unshallow")
	require.Equal(t, w.line(main), c.log("reset"))
	c.sound("reset")
}

// TestNegotiate: a client with many commits that are not here names them in several requests, and
// packs the longer ones.
func TestNegotiate(t *testing.T) {
	t.Parallel()
	w := newWorld()
	c := newClient(t, w)
	w.grow(2)
	c.clone("clone")
	w.count()
	c.commits("clone", "refs/heads/mine", "main", 300)
	c.git("-C", "clone", "checkout", "-q", "mine")
	w.grow(1)
	c.git("-C", "clone", "fetch", "-q")
	require.LessOrEqual(t, w.count(), 3)
	require.Equal(t, w.line(main), c.log("clone", "origin/main"))

	// One that has nothing of here, and much else.
	c.git("init", "-q", "other")
	c.commits("other", "refs/heads/mine", "", 300)
	w.posted = nil
	c.git("-C", "other", "fetch", "-q", c.url, "main:theirs")
	require.Greater(t, len(w.posted), 3)
	require.True(t, slices.ContainsFunc(w.posted, func(s string) bool { return strings.HasPrefix(s, "\x1f\x8b") }),
		"git packs longer requests")
	require.Equal(t, w.line(main), c.log("other", "theirs"))
}

// commits puts commits of a user after one.
func (c *client) commits(clone, ref, after string, n int) {
	c.Helper()
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "commit %s\ncommitter bob <bob@example.org> %d +0000\ndata 1\n.\n", ref, begin.Unix()+int64(i))
		if i == 0 && after != "" {
			fmt.Fprintf(&b, "from %s\n", after)
		}
	}
	out, err := c.run(b.String(), "-C", clone, "fast-import", "--quiet")
	require.NoError(c, err, out)
}

func TestRefs(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.head = "refs/heads/production"
	c := newClient(t, w)
	w.grow(4)
	w.refs["refs/heads/production"] = w.id(main, 2)
	for i := range 4 {
		w.refs[fmt.Sprintf("refs/tags/v%d", 4-i)] = w.id(main, i)
	}
	all := w.line(main)
	require.Equal(t, fmt.Sprintf(
		"ref: refs/heads/production\tHEAD\n%[2]s\tHEAD\n%[1]s\trefs/heads/main\n%[2]s\trefs/heads/production",
		all[0], all[2]),
		c.git("ls-remote", "--symref", c.url, "HEAD", "refs/heads/*"))

	c.clone("clone")
	require.Equal(t, "production", c.git("-C", "clone", "branch", "--show-current"))
	require.Equal(t, all[2:], c.log("clone"))
	require.Equal(t, all, c.log("clone", "v4"))
	c.clone("tag", "--depth", "1", "--branch", "v3", "--single-branch")
	require.Equal(t, all[1:2], c.log("tag"))
	c.clone("every", "--depth", "1", "--no-single-branch")
	require.Equal(t, all, c.log("every", "origin/main"), "tags come too, so all commits are there")

	// A label goes back, and one goes away.
	w.refs["refs/heads/production"] = w.id(main, 3)
	delete(w.refs, "refs/tags/v4")
	c.git("-C", "clone", "fetch", "-q", "--prune", "--prune-tags")
	require.Equal(t, all[3:], c.log("clone", "origin/production"))
	require.Equal(t, "v1\nv2\nv3", c.git("-C", "clone", "tag"))

	// One commit, by its id.
	c.git("init", "-q", "one")
	c.git("-C", "one", "fetch", "-q", "--depth", "1", c.url, all[1])
	require.Equal(t, all[1:2], c.log("one", "FETCH_HEAD"))
}

func TestEmptyRepository(t *testing.T) {
	t.Parallel()
	w := newWorld()
	c := newClient(t, w)
	require.Contains(t, c.git("-c", "init.defaultBranch=other", "clone", c.url, "clone"),
		"warning: You appear to have cloned an empty repository.")
	require.Equal(t, "main", c.git("-C", "clone", "branch", "--show-current"))
	require.Empty(t, c.git("ls-remote", c.url))
	w.grow(1)
	c.git("-C", "clone", "pull", "-q", "--ff-only")
	require.Equal(t, w.line(main), c.log("clone"))
}

// TestWithdrawn: a commit that was taken away cannot be had by its id, and a clone of it goes on
// once its user says so.
func TestWithdrawn(t *testing.T) {
	t.Parallel()
	w := newWorld()
	c := newClient(t, w)
	w.grow(3)
	c.clone("clone")
	old := w.line(main)
	clear(w.commits)
	delete(w.refs, main)
	w.commit(main, map[string]file{"README.md": {content: "History begins anew\n"}})

	for _, id := range []string{old[0], w.commits[w.refs[main]].Tree.String(), strings.Repeat("0123456789", 4)} {
		c.git("init", "-q", "other")
		require.Contains(t, c.fails("-C", "other", "fetch", c.url, id), "remote error: upload-pack: not our ref "+id)
	}
	c.fails("-C", "clone", "pull", "-q", "--ff-only")
	c.git("-C", "clone", "reset", "-q", "--hard", "origin/main")
	require.Equal(t, w.line(main), c.log("clone"))
	c.sound("clone")
}

func TestOlderProtocols(t *testing.T) {
	t.Parallel()
	w := newWorld()
	c := newClient(t, w)
	w.grow(1)
	for _, version := range []string{"0", "1"} {
		require.Contains(t, c.fails("-c", "protocol.version="+version, "clone", c.url, "clone"),
			"fatal: remote error: older versions of the protocol are not served: use git 2.26 or later, or git -c protocol.version=2")
	}
	require.Contains(t, c.git("clone", "-q", "--filter=blob:none", c.url, "clone"),
		"filtering not recognized by server, ignoring")
	require.Contains(t, c.fails("-C", "clone", "push", "-q", "origin", "main:other"), "not found")
}

// TestGeneratedHistories: a clone has the same files, at each step and however it came there.
// TestFetchesOfAnyKind tries many more without git.
func TestGeneratedHistories(t *testing.T) {
	t.Parallel()
	path := rapid.SampledFrom([]string{
		"SKILL.md", "a", "a/b", "a/b/c", "a.b", "a-b", "a0", "b/c", "b/d/e", "ä/ö", "é",
		"lib/x.sh", "lib/y.sh", "lib.d/z",
	})
	content := rapid.Custom(func(t *rapid.T) file {
		return file{
			strings.Repeat(rapid.SampledFrom([]string{"", "a\n", "b", "\x00\x01\xff", "c\r\n"}).Draw(t, "content"),
				rapid.SampledFrom([]int{0, 1, 2, 7000}).Draw(t, "times")),
			rapid.Bool().Draw(t, "executable"),
		}
	})
	change := rapid.Custom(func(t *rapid.T) map[string]file {
		return rapid.MapOfN(path, content, 0, 6).Draw(t, "files")
	})
	depth := rapid.SampledFrom([]string{"--depth=1", "--depth=3", "--deepen=1", "--deepen=3", "--update-shallow"})

	w := newWorld()
	c := newClient(t, w)
	files := make(map[string]file)
	commit := func(seed int) {
		set := change.Example(seed)
		maps.DeleteFunc(files, func(name string, _ file) bool { return len(name)%3 == seed%3 })
		maps.Copy(files, set)
		// A file is no folder: the longer path stays.
		maps.DeleteFunc(files, func(name string, _ file) bool {
			return slices.ContainsFunc(slices.Collect(maps.Keys(files)), func(other string) bool {
				return strings.HasPrefix(other, name+"/")
			})
		})
		w.commit(main, files)
	}
	for seed := range 4 {
		commit(seed)
	}
	c.clone("whole")
	c.clone("shallow", "--depth", "1")
	for seed := range 10 {
		for n := range seed % 4 {
			commit(100 + 10*seed + n)
		}
		c.git("-C", "whole", "pull", "-q", "--ff-only")
		c.git("-C", "shallow", "fetch", "-q", depth.Example(seed))
		c.git("-C", "shallow", "reset", "-q", "--hard", "origin/main")
		for _, clone := range []string{"whole", "shallow"} {
			c.sound(clone)
			require.Equal(t, files, c.files(clone))
		}
		require.Equal(t, w.line(main), c.log("whole"))
		got := c.log("shallow")
		require.Equal(t, w.line(main)[:len(got)], got)
	}
}
