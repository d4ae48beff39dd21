package git_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"prompthub/internal/git"
)

// packed returns a text as gzip.
func packed(s string) string {
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	_, _ = zip.Write([]byte(s))
	_ = zip.Close()
	return b.String()
}

// TestRequestsRefused: bodies that are no requests, or ask for too much or for a thing that is not
// served, get a sentence that says so.
func TestRequestsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.grow(2)
	tip := w.refs[main].String()
	zero := strings.Repeat("0", 40)
	fetch := request("want " + tip)
	many := make([]string, 20_000)
	for i := range many {
		many[i] = fmt.Sprintf("have %040x", i)
	}
	for body, refusal := range map[string]string{
		"":                                   "the request is cut short: it has no end",
		"00":                                 "the request is cut short: it has no end",
		fetch[:len(fetch)-4]:                 "the request is cut short: it has no end",
		fetch[:30]:                           "the request is cut short in a pkt-line",
		"ffff" + strings.Repeat("a", 70_000): `"ffff" does not begin a pkt-line`,
		"hello":                              `"hell" does not begin a pkt-line`,
		"-001":                               `"-001" does not begin a pkt-line`,
		"0003":                               `"0003" does not begin a pkt-line`,
		"0002":                               `"0002" does not begin a pkt-line`,
		"00040000":                           `capability "" is not served`,
		"0032want " + tip +
			"\n00000009done\n": "older versions of the protocol are not served: use git 2.26 or later, or git -c protocol.version=2",
		"00010000":                                   `capability "" is not served`,
		"0015command=ls-refs\n\n0000":                `command "ls-refs\n" is not served: ls-refs and fetch are, one in a request`,
		"0018command=object-info\n0000":              `command "object-info" is not served: ls-refs and fetch are, one in a request`,
		"0012command=fetch\n0012command=fetch\n0000": `command "fetch" is not served: ls-refs and fetch are, one in a request`,
		"0018object-format=sha256\n0000":             `object format "sha256" is not served: sha1 is`,
		"0014command=ls-refs\n00010007all0000":       `argument "all" of ls-refs is not served`,
		request("want " + zero):                      "upload-pack: not our ref " + zero,
		request(
			"want main"): `want: "main" is no id of an object: it has 40 digits of 0-9a-f`,
		request("want " + strings.ToUpper(tip)): fmt.Sprintf(
			"want: %q is no id of an object: it has 40 digits of 0-9a-f", strings.ToUpper(tip)),
		request("want " + strings.Repeat("g", 40)): fmt.Sprintf(
			"want: %q is no id of an object: it has 40 digits of 0-9a-f", strings.Repeat("g", 40)),
		request("want "+tip, "filter blob:none"): "filters are not served: clone without --filter",
		request(
			"want-ref refs/heads/main"): `argument "want-ref refs/heads/main" of fetch is not served`,
		request("want "+tip, "deepen 0"): `"0" is no depth: it is a number of 1 or more`,
		request("want "+tip,
			"deepen 99999999999999999999"): `"99999999999999999999" is no depth: it is a number of 1 or more`,
		request("want "+tip, "deepen-since yesterday"): `"yesterday" is no time: it is in seconds since 1970`,
		request("want "+tip, "deepen-not v1"):          `deepen-not: there is no ref "v1"`,
		request("want "+tip, "deepen 1",
			"deepen-not main"): "deepen cannot be used together with deepen-since or deepen-not",
		request(append(many, "want "+
			tip)...): "the request has more than 20000 wants, haves and shallow commits: clone into a new folder",
		request(many...) + strings.Repeat("x",
			1<<20): "the request is larger than 1 MiB: clone into a new folder",
		packed(strings.Repeat("0000", 1<<18) +
			"0000"): "the request is larger than 1 MiB: clone into a new folder",
		packed(fetch)[:40]:                   "the request is no whole gzip: unexpected EOF",
		"\x1f\x8bhello":                      "the request is no gzip: unexpected EOF",
		"\x1f\x8b" + strings.Repeat("x", 40): "the request is no gzip: gzip: invalid header",
	} {
		require.Equal(t, "ERR "+refusal+"\n", lines(t, w.post(t, body))[0], "%.100q", body)
	}

	_, err := git.ReadRequest(iotest.ErrReader(io.ErrUnexpectedEOF))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

func TestRequestsAnswered(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.grow(2)
	tip := w.refs[main].String()
	list := fmt.Sprintf("003d%s refs/heads/main\n0000", tip)
	require.Empty(t, w.post(t, "0000"), "a client tries whether it is let in")
	require.Empty(t, w.post(t, "0012command=fetch\n0000"), "it wants nothing")
	require.Equal(t, "0032"+tip+" HEAD\n"+list, w.post(t, "0014command=ls-refs\n0000"))
	require.Equal(t, "0032"+tip+" HEAD\n"+list,
		w.post(t, "0013command=ls-refs0010agent=git/3\n0017object-format=sha1\n00010009peel\n0000"))
	require.Equal(t, list, w.post(t, "0014command=ls-refs\n00010015ref-prefix refs/\n0000"))
	require.Equal(t, "0000", w.post(t, "0014command=ls-refs\n0001001aref-prefix refs/tags/\n0000"))
	require.Equal(t, "0032"+tip+" HEAD\n"+list,
		w.post(t, "0014command=ls-refs\n0001"+strings.Repeat("0018ref-prefix refs/a/b\n", 1_001)+"0000"))
	require.Equal(t, w.post(t, request("want "+tip)), w.post(t, packed(request("want "+tip))))

	ask := func(args ...string) []string {
		return lines(t, w.post(t, strings.Replace(request(args...), "0009done\n", "", 1)))
	}
	zero := strings.Repeat("0", 40)
	require.Equal(t, []string{"acknowledgments\n", "NAK\n", "0000"}, ask("want "+tip, "have "+zero))
	first := w.id(main, 1).String()
	require.Equal(t, []string{"acknowledgments\n", "ACK " + first + "\n", "ready\n", "0001", "packfile\n"},
		ask("want "+tip, "have "+zero, "have "+first)[:5])
	require.Equal(t, []string{"shallow-info\n", "shallow " + tip + "\n", "0001", "packfile\n"},
		ask("want "+tip, "deepen 1")[:4])
	require.Equal(t, []string{"shallow-info\n", "0001", "packfile\n"}, ask("want "+tip, "shallow "+zero)[:3])
}

// A faulty repository is one whose store fails or lies.
type faulty struct {
	*world
	tree  func(git.ID) ([]git.Entry, error)
	blobs func([]git.ID) iter.Seq2[[]byte, error]
}

func (f *faulty) Tree(ctx context.Context, id git.ID) ([]git.Entry, error) {
	if f.tree != nil {
		return f.tree(id)
	}
	return f.world.Tree(ctx, id)
}

func (f *faulty) Blobs(ctx context.Context, ids []git.ID) iter.Seq2[[]byte, error] {
	if f.blobs != nil {
		return f.blobs(ids)
	}
	return f.world.Blobs(ctx, ids)
}

// TestFaultyStore: what a store gives is held to its id, so no client gets a pack that is damaged.
func TestFaultyStore(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.grow(1)
	fail := errors.New("it fails")
	for name, test := range map[string]struct {
		faulty
		says string
	}{
		"tree fails": {faulty{tree: func(git.ID) ([]git.Entry, error) { return nil, fail }}, "it fails"},
		"other tree": {faulty{tree: func(git.ID) ([]git.Entry, error) { return nil, nil }}, "is stored as"},
		"contents fail": {faulty{blobs: func([]git.ID) iter.Seq2[[]byte, error] {
			return func(yield func([]byte, error) bool) { yield(nil, fail) }
		}}, "it fails"},
		"other content": {faulty{blobs: func([]git.ID) iter.Seq2[[]byte, error] {
			return func(yield func([]byte, error) bool) { yield([]byte("other"), nil) }
		}}, "was not asked for"},
		"twice": {faulty{blobs: func(ids []git.ID) iter.Seq2[[]byte, error] {
			return func(yield func([]byte, error) bool) {
				for yield(w.blobs[ids[0]], nil) {
				}
			}
		}}, "came twice"},
		"none": {faulty{blobs: func([]git.ID) iter.Seq2[[]byte, error] {
			return func(func([]byte, error) bool) {}
		}}, "41 contents of 41 are missing"},
	} {
		t.Run(name, func(t *testing.T) {
			test.world = w
			q, err := git.ReadRequest(strings.NewReader(request("want " + w.refs[main].String())))
			require.NoError(t, err)
			require.True(t, q.IsFetch())
			_, err = q.Answer(t.Context(), &test.faulty)
			require.ErrorContains(t, err, test.says)
		})
	}

	q, err := git.ReadRequest(strings.NewReader(request("want " + w.refs[main].String())))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = q.Answer(ctx, w)
	require.ErrorIs(t, err, context.Canceled)

	id := w.refs[main]
	c := w.commits[id]
	c.Message = "another"
	w.commits[id] = c
	_, err = q.Answer(t.Context(), w)
	require.ErrorContains(t, err, "is stored as "+id.String())
}

// TestTooLarge: the work for a pack ends at its bounds.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("packs 300 MiB")
	}
	post := func(w *world) string { return lines(t, w.post(t, request("want "+w.refs[main].String())))[0] }
	w := newWorld()
	const parts = 8
	for i := range parts {
		w.commit(main, map[string]file{
			"a": {content: fmt.Sprint(i, noise(4_000_000))},
			"b": {content: strings.Repeat("packs well ", 300_000)},
		})
	}
	refused := "ERR this is larger than 32 MiB: clone with --depth 1, or a smaller repository\n"
	require.Equal(t, "packfile\n", post(w))
	large := map[string]file{}
	for i := range 12 {
		large[fmt.Sprint(i)] = file{content: fmt.Sprint(i, noise(4_000_000))}
	}
	w.commit(main, large)
	require.Equal(t, refused, post(w))
	require.Less(t, w.count(), 30)

	bomb := newWorld()
	files := make(map[string]file)
	for i := range 40 {
		files[fmt.Sprint(i)] = file{content: fmt.Sprint(i, strings.Repeat("0", 4<<20))}
	}
	bomb.commit(main, files)
	require.Equal(t, strings.Replace(refused, "32 MiB", "128 MiB unpacked", 1), post(bomb))
	require.Less(t, bomb.count(), 40)

	many := newWorld()
	clear(files)
	for i := range 500_000 {
		files[fmt.Sprintf("%d/%d/%d", i/10_000, i/100, i)] = file{content: fmt.Sprint(i)}
	}
	many.commit(main, files)
	require.Equal(t, strings.Replace(refused, "is larger than 32 MiB", "has more than 500000 files and folders", 1),
		post(many))
	require.Zero(t, many.count())
}
