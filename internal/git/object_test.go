package git_test

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"prompthub/internal/git"
)

// TestObjectsAreThoseOfGit: git names contents, folders and commits as we do.
func TestObjectsAreThoseOfGit(t *testing.T) {
	t.Parallel()
	c := newClient(t, newWorld())
	c.git("init", "-q", ".")
	with := func(stdin string, args ...string) git.ID {
		out, err := c.run(stdin, args...)
		require.NoError(t, err, out)
		id, err := git.ParseID(out)
		require.NoError(t, err)
		return id
	}
	for _, s := range []string{"", "a", "\x00\xff", noise(100_000)} {
		require.Equal(t, with(s, "hash-object", "-w", "--stdin"), git.BlobID([]byte(s)))
	}

	blob := git.BlobID([]byte("a"))
	empty, _ := git.EncodeTree(nil)
	require.Equal(t, with("", "mktree"), empty)
	var entries []git.Entry
	var list strings.Builder
	for i, name := range []string{"a", "a.b", "a-b", "a0", "b", "ab", "Ä", "日本", "z z", "a\xff"} {
		e := git.Entry{Name: name, Mode: []git.Mode{git.Folder, git.File, git.Executable}[i%3], ID: blob}
		kind := "blob"
		if e.Mode == git.Folder {
			e.ID, kind = empty, "tree"
		}
		fmt.Fprintf(&list, "%06s %s %s\t%s\x00", e.Mode, kind, e.ID, name)
		entries = append(entries, e)
	}
	tree, _ := git.EncodeTree(entries)
	require.Equal(t, with(list.String(), "mktree", "-z"), tree)

	for _, commit := range []git.Commit{
		{
			Tree: tree, Name: "PromptHub", Email: "git@prompthub.invalid", At: begin,
			Message: "greet: version 7\n\n~ greet 6 to 7\n",
		},
		{
			Tree: tree, Name: "Größe <x>\nparent 1", Email: "a\n<b", At: time.Unix(-5, 0),
			Message: "\x00forged\x1b[2J\r\ntree 1\n\n\n\n",
		},
	} {
		id, b := commit.Encode()
		require.Equal(t, with(string(b), "hash-object", "-t", "commit", "-w", "--stdin"), id)
		commit.Parent = id
		next, b := commit.Encode()
		require.Equal(t, with(string(b), "hash-object", "-t", "commit", "-w", "--stdin"), next)
		require.Equal(t, id.String(), c.git("log", "-1", "--format=%P", next.String()))
		c.git("update-ref", "HEAD", next.String())
		require.Len(t, strings.Split(c.git("log", "-1", "--format=%an%n%ae", next.String()), "\n"), 2)
	}
	require.Empty(t, c.git("fsck", "--strict", "--no-dangling"))
}

// TestMakeTrees: folders made from paths are those made one in another, whatever their order.
func TestMakeTrees(t *testing.T) {
	t.Parallel()
	part := rapid.SampledFrom([]string{"a", "a.b", "a-b", "a0", "b", "c", "é"})
	rapid.Check(t, func(t *rapid.T) {
		files := make(map[string]git.ID)
		for range rapid.IntRange(0, 12).Draw(t, "files") {
			path := strings.Join(rapid.SliceOfN(part, 1, 4).Draw(t, "path"), "/")
			if !slices.ContainsFunc(slices.Collect(maps.Keys(files)), func(p string) bool {
				return strings.HasPrefix(p+"/", path+"/") || strings.HasPrefix(path+"/", p+"/")
			}) {
				files[path] = git.BlobID([]byte(path))
			}
		}
		var entries []git.Entry
		for _, path := range slices.Sorted(maps.Keys(files)) {
			entries = append(entries, git.Entry{Name: path, Mode: git.File, ID: files[path]})
		}
		made := make(map[git.ID][]git.Entry)
		root := git.MakeTrees(entries, func(id git.ID, list []git.Entry) { made[id] = list })
		require.Equal(t, root, git.MakeTrees(entries, nil))

		read := make(map[string]git.ID)
		var walk func(prefix string, tree git.ID)
		walk = func(prefix string, tree git.ID) {
			list, ok := made[tree]
			require.True(t, ok)
			id, _ := git.EncodeTree(list)
			require.Equal(t, tree, id)
			for _, e := range list {
				if e.Mode == git.Folder {
					walk(prefix+e.Name+"/", e.ID)
					continue
				}
				read[prefix+e.Name] = e.ID
			}
		}
		walk("", root)
		require.Equal(t, files, read)

		// A folder that was made before is as good as its files.
		short := slices.Clone(made[root])
		slices.SortFunc(short, func(a, b git.Entry) int { return strings.Compare(a.Name, b.Name) })
		require.Equal(t, root, git.MakeTrees(short, nil))
	})
}

func TestParseCommit(t *testing.T) {
	t.Parallel()
	text := rapid.StringMatching(`[ -~äö\n]{0,40}`)
	rapid.Check(t, func(t *rapid.T) {
		c := git.Commit{
			Tree: git.BlobID([]byte(text.Draw(t, "tree"))), Name: text.Draw(t, "name"), Email: text.Draw(t, "email"),
			At: time.Unix(rapid.Int64Range(-10, 1<<40).Draw(t, "at"), 0), Message: text.Draw(t, "message"),
		}
		if rapid.Bool().Draw(t, "child") {
			c.Parent = git.BlobID(nil)
		}
		id, b := c.Encode()
		read, err := git.ParseCommit(b)
		require.NoError(t, err, string(b))
		again, same := read.Encode()
		require.Equal(t, string(b), string(same))
		require.Equal(t, id, again)
		require.Equal(t, []git.ID{c.Tree, c.Parent}, []git.ID{read.Tree, read.Parent})
	})
	_, whole := git.Commit{Name: "a", Email: "b", Message: "c"}.Encode()
	for _, b := range []string{
		"", "tree", strings.Replace(string(whole), "tree 0", "tree x", 1),
		strings.Replace(string(whole), "author a", "author c", 1),
		strings.Replace(string(whole), "+0000", "+0100", 1), string(whole[:len(whole)-1]),
		"x" + string(whole), string(whole) + "\n",
		strings.Replace(string(whole), "author", "parent 1\nauthor", 1),
	} {
		_, err := git.ParseCommit([]byte(b))
		require.Error(t, err, b)
	}
}

func TestParseID(t *testing.T) {
	t.Parallel()
	id := git.BlobID(nil)
	require.Equal(t, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", id.String())
	read, err := git.ParseID(id.String())
	require.NoError(t, err)
	require.Equal(t, id, read)
	require.False(t, id.IsZero())
	require.True(t, git.ID{}.IsZero())
	for _, s := range []string{
		"", "e69de29", strings.ToUpper(id.String()), strings.Repeat("x", 40), id.String() + "0",
		hex.EncodeToString([]byte(id.String())),
	} {
		_, err := git.ParseID(s)
		require.Error(t, err, s)
	}
}
