package git_test

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"prompthub/internal/git"
)

// An object of a pack.
type object struct {
	kind byte
	b    []byte
}

func (o object) id() git.ID {
	kind := map[byte]string{1: "commit", 2: "tree", 3: "blob"}[o.kind]
	return sha1.Sum(append(fmt.Appendf(nil, "%s %d\x00", kind, len(o.b)), o.b...))
}

// lines returns the pkt-lines of a text, of those without a text the digits.
func lines(t require.TestingT, s string) []string {
	var all []string
	for s != "" {
		n, err := strconv.ParseUint(s[:4], 16, 16)
		require.NoError(t, err)
		if n < 4 {
			all, s = append(all, s[:4]), s[4:]
			continue
		}
		all, s = append(all, s[4:n]), s[n:]
	}
	return all
}

// unpack returns the objects of a pack: whole, each once, commits first, then trees.
func unpack(t require.TestingT, b []byte) []object {
	require.Equal(t, "PACK\x00\x00\x00\x02", string(b[:8]))
	end := len(b) - sha1.Size
	require.Equal(t, sha1.Sum(b[:end]), [sha1.Size]byte(b[end:]))
	var list []object
	met := make(map[git.ID]bool)
	r := bytes.NewReader(b[12:end])
	for r.Len() > 0 {
		head, _ := r.ReadByte()
		kind, size, shift := head>>4&7, int(head&0xf), 4
		for head&0x80 != 0 {
			head, _ = r.ReadByte()
			size, shift = size|int(head&0x7f)<<shift, shift+7
		}
		unzip, err := zlib.NewReader(r)
		require.NoError(t, err)
		content, err := io.ReadAll(unzip)
		require.NoError(t, err)
		require.Len(t, content, size)
		o := object{kind, content}
		require.False(t, met[o.id()])
		met[o.id()] = true
		list = append(list, o)
	}
	require.Equal(t, int(binary.BigEndian.Uint32(b[8:12])), len(list))
	require.True(t, slices.IsSortedFunc(list, func(a, b object) int { return cmp.Compare(a.kind, b.kind) }))
	return list
}

// A copied repository is what a client has.
type copied struct {
	objects  map[git.ID][]byte
	shallows map[git.ID]bool
}

// request returns a request of a fetch.
func request(args ...string) string {
	b := []byte("0012command=fetch\n0001")
	for _, a := range append(args, "done") {
		b = fmt.Appendf(b, "%04x%s\n", len(a)+5, a)
	}
	return string(b) + "0000"
}

// take asks for wants, and keeps what comes.
func (c *copied) take(t require.TestingT, post func(string) string, wants, haves []git.ID, args ...string) {
	for _, id := range wants {
		args = append(args, "want "+id.String())
	}
	for _, id := range haves {
		args = append(args, "have "+id.String())
	}
	for id := range c.shallows {
		args = append(args, "shallow "+id.String())
	}
	answer := lines(t, post(request(args...)))
	var packed []byte
	for i, line := range answer {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case key == "shallow" || key == "unshallow":
			id, err := git.ParseID(value)
			require.NoError(t, err)
			require.NotEqual(t, c.shallows[id], key == "shallow", "a client knows that")
			c.shallows[id] = key == "shallow"
		case line == "packfile\n":
			for _, part := range answer[i+1 : len(answer)-1] {
				require.Equal(t, byte(1), part[0])
				packed = append(packed, part[1:]...)
			}
		}
	}
	maps.DeleteFunc(c.shallows, func(_ git.ID, is bool) bool { return !is })
	require.Equal(t, "0000", answer[len(answer)-1])
	for _, o := range unpack(t, packed) {
		c.objects[o.id()] = o.b
	}
}

func (c *copied) object(t require.TestingT, id git.ID) []byte {
	b, ok := c.objects[id]
	require.True(t, ok, "the client lacks %s", id)
	return b
}

// commits returns the commits that a copy has of the line of a want, and checks that it has all
// that is in them.
func (c *copied) commits(t require.TestingT, w *world, want git.ID) []git.ID {
	var all []git.ID
	for id := want; !id.IsZero(); {
		commit, err := git.ParseCommit(c.object(t, id))
		require.NoError(t, err)
		c.whole(t, w, commit.Tree)
		all = append(all, id)
		if c.shallows[id] {
			break
		}
		id = commit.Parent
	}
	return all
}

func (c *copied) whole(t require.TestingT, w *world, tree git.ID) {
	c.object(t, tree)
	for _, e := range w.trees[tree] {
		if e.Mode == git.Folder {
			c.whole(t, w, e.ID)
			continue
		}
		c.object(t, e.ID)
	}
}

// set returns the commits of some lines, each up to the last.
func (w *world) set(wants []git.ID, isLast func(id git.ID, steps int) bool) map[git.ID]bool {
	all := make(map[git.ID]bool)
	for _, id := range wants {
		for steps := 0; !id.IsZero(); steps++ {
			all[id] = true
			if isLast(id, steps) {
				break
			}
			id = w.commits[id].Parent
		}
	}
	return all
}

// TestFetchesOfAnyKind: after each of many fetches with all that version 2 of the protocol can ask,
// a client has exactly the commits that it asked for, with all that is in them.
func TestFetchesOfAnyKind(t *testing.T) {
	t.Parallel()
	path := rapid.SampledFrom([]string{"a", "b", "c/a", "c/b", "c/d/a", "e/a", "e/b"})
	files := rapid.MapOfN(path, rapid.Custom(func(t *rapid.T) file {
		return file{
			rapid.SampledFrom([]string{"", "1", "2", "3"}).Draw(t, "content"),
			rapid.Bool().Draw(t, "executable"),
		}
	}), 0, 5)
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		c := &copied{make(map[git.ID][]byte), make(map[git.ID]bool)}
		var known []git.ID // commits that the client has, with those before them, up to shallow ones
		for range rapid.IntRange(1, 6).Draw(t, "fetches") {
			for range rapid.IntRange(0, 5).Draw(t, "commits") {
				w.commit(rapid.SampledFrom([]string{main, main, main, "refs/heads/other"}).Draw(t, "ref"),
					files.Draw(t, "files"))
			}
			if len(w.commits) == 0 {
				continue
			}
			all := slices.SortedFunc(maps.Keys(w.commits), func(a, b git.ID) int {
				return w.commits[a].At.Compare(w.commits[b].At)
			})
			wants := rapid.SliceOfN(rapid.SampledFrom(all), 1, 3).Draw(t, "wants")
			var haves []git.ID
			if len(known) > 0 {
				haves = rapid.SliceOfN(rapid.SampledFrom(known), 0, 3).Draw(t, "haves")
			}
			n := rapid.IntRange(1, 4).Draw(t, "n")
			shallows := maps.Clone(c.shallows)
			plain := w.set(wants, func(id git.ID, _ int) bool { return shallows[id] })
			var args []string
			expected := plain
			switch rapid.SampledFrom([]string{"plain", "depth", "relative", "since", "not", "unshallow"}).Draw(
				t, "kind") {
			case "depth":
				args = []string{fmt.Sprint("deepen ", n)}
				expected = w.set(wants, func(_ git.ID, steps int) bool { return steps == n-1 })
			case "relative":
				args = []string{fmt.Sprint("deepen ", n), "deepen-relative"}
				var from []git.ID
				for id := range plain {
					if shallows[id] {
						from = append(from, id)
					}
				}
				maps.Copy(expected, w.set(from, func(_ git.ID, steps int) bool { return steps == n }))
			case "since":
				at := w.commits[rapid.SampledFrom(all).Draw(t, "since")].At
				args = []string{fmt.Sprint("deepen-since ", at.Unix())}
				expected = w.set(wants, func(id git.ID, _ int) bool {
					return w.commits[w.commits[id].Parent].At.Before(at)
				})
			case "not":
				tag := rapid.SampledFrom(all).Draw(t, "not")
				w.refs["refs/tags/v1"] = tag
				args = []string{"deepen-not v1"}
				out := w.set([]git.ID{tag}, func(git.ID, int) bool { return false })
				expected = w.set(wants, func(id git.ID, _ int) bool { return out[w.commits[id].Parent] })
			case "unshallow":
				args = []string{"deepen 2147483647"}
				expected = w.set(wants, func(git.ID, int) bool { return false })
			}
			c.take(t, func(body string) string { return w.post(t, body) }, wants, haves, args...)
			got := make(map[git.ID]bool)
			for _, id := range wants {
				for _, id := range c.commits(t, w, id) {
					got[id] = true
				}
			}
			require.Equal(t, expected, got, args)
			known = append(known, wants...)
			for _, id := range known {
				c.commits(t, w, id)
			}
		}
	})
}
