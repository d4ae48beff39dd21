// Package blobtest holds the tests that every blob.Store passes, wherever it keeps its blobs.
package blobtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/blob"
)

// TestStore runs the suite against the store that open returns. It uses containers of its own under
// names that were never used.
func TestStore(t *testing.T, open func(testing.TB) blob.Store) {
	store := open(t)
	tests := []struct {
		name string
		run  func(fixture)
	}{
		{"put, get, delete", testLife},
		{"a blob never changes", testExists},
		{"create is idempotent", testCreate},
		{"what is missing", testMissing},
		{"cancelled context", testCancelled},
		{"containers are separate", testSeparate},
		{"types", testTypes},
		{"names", testNames},
		{"limits", testLimits},
		{"sizes", testSizes},
		{"bodies are copies", testCopies},
		{"a list is in the order of bytes", testOrder},
		{"a list has a prefix", testPrefix},
		{"pages", testPages},
		{"a list goes on while blobs come and go", testChanges},
		{"one of many puts lands", testRace},
		{"puts and deletes in one folder", testFolder},
		{"prefixed containers", testPrefixed},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := fixture{T: t, Store: store, name: newName()}
			require.NoError(t, store.Create(t.Context(), f.name))
			test.run(f)
		})
	}
}

// newName returns the name of a container that was never used.
func newName() string { return "c-" + strings.ToLower(rand.Text()) }

// A fixture is a test with a container of its own.
type fixture struct {
	*testing.T
	blob.Store
	name string
}

func (f fixture) put(name, body string) {
	f.Helper()
	require.NoError(f, f.Put(f.Context(), f.name, name, []byte(body)), name)
}

func (f fixture) get(name string) blob.Blob {
	f.Helper()
	b, err := f.Get(f.Context(), f.name, name)
	require.NoError(f, err, name)
	return b
}

func (f fixture) remove(name string) {
	f.Helper()
	require.NoError(f, f.Delete(f.Context(), f.name, name), name)
}

func (f fixture) absent(name string) {
	f.Helper()
	_, err := f.Get(f.Context(), f.name, name)
	require.ErrorIs(f, err, blob.ErrNotFound, name)
}

// list returns the names of all blobs, read in pages of limit.
func (f fixture) list(prefix string, limit int) (names []string) {
	f.Helper()
	for next := ""; ; {
		p, err := f.List(f.Context(), f.name, prefix, limit, next)
		require.NoError(f, err)
		require.LessOrEqual(f, len(p.Items), limit)
		for _, item := range p.Items {
			names = append(names, item.Name)
		}
		if next = p.Next; next == "" {
			return names
		}
	}
}

func testLife(f fixture) {
	const name = "user/picture.jpg"
	f.absent(name)
	f.put(name, "body")
	b := f.get(name)
	require.Equal(f, "body", string(b.Body))
	require.Equal(f, "image/jpeg", b.Type)
	require.Equal(f, blob.ETag([]byte("body")), b.ETag)
	require.WithinDuration(f, time.Now(), b.Stored, 5*time.Minute)
	p, err := f.List(f.Context(), f.name, "", 10, "")
	require.NoError(f, err)
	require.Empty(f, p.Next)
	require.Len(f, p.Items, 1)
	require.Equal(f, name, p.Items[0].Name)
	require.EqualValues(f, 4, p.Items[0].Size)
	require.True(f, b.Stored.Truncate(time.Second).Equal(p.Items[0].Stored.Truncate(time.Second)))
	f.remove(name)
	f.absent(name)
	require.Empty(f, f.list("", 10))
	f.remove(name)
	f.put(name, "another")
	require.Equal(f, blob.ETag([]byte("another")), f.get(name).ETag)
	require.NotEqual(f, b.ETag, f.get(name).ETag)
}

func testExists(f fixture) {
	f.put("a.txt", "first")
	for _, body := range []string{"second", "", "first"} {
		require.ErrorIs(f, f.Put(f.Context(), f.name, "a.txt", []byte(body)), blob.ErrExists)
		require.Equal(f, "first", string(f.get("a.txt").Body))
	}
}

func testCreate(f fixture) {
	f.put("kept.txt", "kept")
	other := newName()
	require.NoError(f, f.Create(f.Context(), f.name, other, f.name))
	require.NoError(f, f.Create(f.Context(), other))
	require.NoError(f, f.Create(f.Context()))
	require.Equal(f, "kept", string(f.get("kept.txt").Body))
}

func testMissing(f fixture) {
	f.absent("a.txt")
	f.absent("a/b/c.txt")
	f.remove("a.txt")
	f.remove("a/b/c.txt")
	require.Empty(f, f.list("", 1))
	require.Empty(f, f.list("a/", 1))
	none := f
	none.name = newName()
	require.ErrorIs(f, none.Put(f.Context(), none.name, "a.txt", nil), blob.ErrNoContainer)
	_, err := none.Get(f.Context(), none.name, "a/b.txt")
	require.ErrorIs(f, err, blob.ErrNoContainer)
	require.ErrorIs(f, none.Delete(f.Context(), none.name, "a/b.txt"), blob.ErrNoContainer)
	_, err = none.List(f.Context(), none.name, "", 1, "")
	require.ErrorIs(f, err, blob.ErrNoContainer)
}

func testCancelled(f fixture) {
	f.put("a.txt", "body")
	ctx, cancel := context.WithCancel(f.Context())
	cancel()
	require.Error(f, f.Put(ctx, f.name, "b.txt", nil))
	_, err := f.Get(ctx, f.name, "a.txt")
	require.Error(f, err)
	require.Error(f, f.Delete(ctx, f.name, "a.txt"))
	_, err = f.List(ctx, f.name, "", 1, "")
	require.Error(f, err)
	require.Error(f, f.Create(ctx, newName()))
	require.Equal(f, []string{"a.txt"}, f.list("", 10))
}

func testSeparate(f fixture) {
	second := f
	second.name = newName()
	require.NoError(f, f.Create(f.Context(), second.name))
	f.put("a.txt", "first")
	second.absent("a.txt")
	second.put("a.txt", "second")
	f.remove("a.txt")
	require.Equal(f, "second", string(second.get("a.txt").Body))
	require.Empty(f, f.list("", 10))
}

func testTypes(f fixture) {
	for name, media := range map[string]string{
		"a.jpg": "image/jpeg", "a.png": "image/png", "a.webp": "image/webp", "a.gif": "image/gif",
		"a.json": "application/json", "a.txt": "text/plain; charset=utf-8", "a.jsonl.gz": "application/gzip",
	} {
		f.put(name, `{"a":"é"}`)
		b := f.get(name)
		require.Equal(f, media, b.Type)
		require.Equal(f, `{"a":"é"}`, string(b.Body))
	}
}

func testNames(f fixture) {
	good := []string{
		"a.jpg", ".jpg", "-.jpg", "_.jpg", "..a.jpg", "a..jpg", "a/b.jpg", ".a/b.jpg", "a.b/c.jpg",
		"a/b/c/d/e/f/g/h.jpg", "jpg/a.jpg", "a.jpeg/b.jpg", "con.jpg",
		strings.Repeat("a", blob.MaxPart-4) + ".jpg", strings.Repeat("a", blob.MaxPart) + "/" +
			strings.Repeat("b", blob.MaxPart) + "/" + strings.Repeat("c", blob.MaxName-2*blob.MaxPart-6) + ".jpg",
	}
	for _, name := range good {
		f.put(name, name)
	}
	for _, name := range good {
		require.Equal(f, name, string(f.get(name).Body))
	}
	slices.Sort(good)
	require.Equal(f, good, f.list("", blob.MaxPage))

	bad := []string{
		"", "a", "a.jpeg", "a.JPG", "A.jpg", "é.jpg", "a b.jpg", "a%20b.jpg", "a+b.jpg", "a\\b.jpg", "a:b.jpg",
		"a~.jpg", "a\x00.jpg", "a.jpg\n", "/a.jpg", "a//b.jpg", "a/", "a.jpg/",
		".", "..", "./a.jpg", "../a.jpg", "a/../b.jpg", "a./b.jpg", "a/./b.jpg", "a.jpg.", "a.jpg/b.jpg", "a.gif/b.jpg",
		"a.jsonl.gz/b.jpg", "a.gz", "a.jsonl",
		"a/b/c/d/e/f/g/h/i.jpg", strings.Repeat("a", blob.MaxPart-3) + ".jpg",
		strings.Repeat("a/", blob.MaxName/2) + "a.jpg",
	}
	for _, name := range bad {
		require.ErrorIs(f, f.Put(f.Context(), f.name, name, nil), blob.ErrInvalid, "%q", name)
		_, err := f.Get(f.Context(), f.name, name)
		require.ErrorIs(f, err, blob.ErrInvalid, "%q", name)
		require.ErrorIs(f, f.Delete(f.Context(), f.name, name), blob.ErrInvalid, "%q", name)
	}
	require.Equal(f, good, f.list("", blob.MaxPage))
	for _, container := range []string{
		"", "ab", strings.Repeat("a", 64), "A-container", "a_b", "-abc", "abc-", "a--b",
		"a.b", "../abc", "abc/def", "$logs",
	} {
		require.ErrorIs(f, f.Create(f.Context(), container), blob.ErrInvalid, container)
		require.ErrorIs(f, f.Put(f.Context(), container, "a.jpg", nil), blob.ErrInvalid, container)
		_, err := f.List(f.Context(), container, "", 1, "")
		require.ErrorIs(f, err, blob.ErrInvalid, container)
	}
}

func testLimits(f fixture) {
	for _, limit := range []int{-1, 0, blob.MaxPage + 1} {
		_, err := f.List(f.Context(), f.name, "", limit, "")
		require.ErrorIs(f, err, blob.ErrInvalid, "limit %d", limit)
	}
	for _, prefix := range []string{"A", "a b", "a\\", "é", strings.Repeat("a", blob.MaxName+1)} {
		_, err := f.List(f.Context(), f.name, prefix, 1, "")
		require.ErrorIs(f, err, blob.ErrInvalid, prefix)
	}
	require.ErrorIs(f, f.Put(f.Context(), f.name, "a.jpg", make([]byte, blob.MaxBytes+1)), blob.ErrInvalid)
	f.absent("a.jpg")
}

func testSizes(f fixture) {
	for i, size := range []int{0, 1, 1 << 16, 8 << 20, blob.MaxBytes} {
		body := make([]byte, size)
		rand.Read(body) // it never fails
		name := fmt.Sprintf("%d.jpg", i)
		require.NoError(f, f.Put(f.Context(), f.name, name, body))
		require.True(f, bytes.Equal(body, f.get(name).Body), "%d bytes", size)
	}
	p, err := f.List(f.Context(), f.name, "", 10, "")
	require.NoError(f, err)
	require.EqualValues(f, 0, p.Items[0].Size)
	require.EqualValues(f, blob.MaxBytes, p.Items[4].Size)
}

func testCopies(f fixture) {
	body := []byte("body")
	require.NoError(f, f.Put(f.Context(), f.name, "a.txt", body))
	copy(body, "BODY")
	got := f.get("a.txt")
	require.Equal(f, "body", string(got.Body))
	copy(got.Body, "BODY")
	require.Equal(f, "body", string(f.get("a.txt").Body))
}

// ordered are names in the order of their bytes, in which folders and files alternate.
var ordered = []string{
	"-.jpg", "-/a.jpg", ".a/b.jpg", "0.jpg", "a-.jpg", "a-/b.jpg", "a.b/c.jpg", "a.jpg", "a/-.jpg", "a/b/c.jpg",
	"a/b0.jpg", "a/b_.jpg", "a0.jpg", "a_.jpg", "a_/b.jpg", "aa.jpg", "b.gif", "b.jpg",
}

func (f fixture) putAll(names []string) {
	for _, i := range []int{7, 3, 12, 0, 5, 17, 9, 1, 14, 2, 16, 4, 11, 6, 13, 8, 15, 10} {
		f.put(names[i], "")
	}
}

func testOrder(f fixture) {
	require.True(f, slices.IsSorted(ordered))
	f.putAll(ordered)
	for _, limit := range []int{1, 2, 5, len(ordered), blob.MaxPage} {
		require.Equal(f, ordered, f.list("", limit), "pages of %d", limit)
	}
}

func testPrefix(f fixture) {
	f.putAll(ordered)
	for _, prefix := range []string{
		"a", "a/", "a/b", "a/b/", "a/b/c.jpg", "a.", "-", "-/", "b.jpg",
		"b.jpgx", "c", "/", ".", "z", "a//",
	} {
		var want []string
		for _, name := range ordered {
			if strings.HasPrefix(name, prefix) {
				want = append(want, name)
			}
		}
		for _, limit := range []int{1, 3, 100} {
			require.Equal(f, want, f.list(prefix, limit), "%q in pages of %d", prefix, limit)
		}
	}
}

func testPages(f fixture) {
	var want []string
	for i := range 40 {
		want = append(want, fmt.Sprintf("%02d/a.jpg", i), fmt.Sprintf("%02d/b.jpg", i))
		f.put(want[2*i], "")
		f.put(want[2*i+1], "")
	}
	for _, limit := range []int{1, 7, 79, 80, 81} {
		require.Equal(f, want, f.list("", limit), "pages of %d", limit)
	}
}

func testChanges(f fixture) {
	for i := range 20 {
		f.put(fmt.Sprintf("%02d.jpg", i), "")
	}
	p, err := f.List(f.Context(), f.name, "", 10, "")
	require.NoError(f, err)
	require.Len(f, p.Items, 10)
	f.remove("05.jpg")
	f.remove("09.jpg")
	f.remove("15.jpg")
	f.put("00a.jpg", "")
	f.put("18a.jpg", "")
	var got []string
	for next := p.Next; next != ""; next = p.Next {
		p, err = f.List(f.Context(), f.name, "", 10, next)
		require.NoError(f, err)
		for _, item := range p.Items {
			got = append(got, item.Name)
		}
	}
	require.Equal(f, []string{
		"10.jpg", "11.jpg", "12.jpg", "13.jpg", "14.jpg", "16.jpg", "17.jpg",
		"18.jpg", "18a.jpg", "19.jpg",
	}, got)
}

func testRace(f fixture) {
	const writers = 20
	var wg sync.WaitGroup
	errs := make([]error, writers)
	body := func(i int) []byte { return bytes.Repeat([]byte{byte(i)}, 10_000) }
	for i := range writers {
		wg.Go(func() { errs[i] = f.Put(f.Context(), f.name, "a/b.jpg", body(i)) })
	}
	wg.Wait()
	landed := -1
	for i, err := range errs {
		if err == nil {
			require.Equal(f, -1, landed, "two puts landed")
			landed = i
			continue
		}
		require.ErrorIs(f, err, blob.ErrExists)
	}
	require.NotEqual(f, -1, landed)
	require.Equal(f, body(landed), f.get("a/b.jpg").Body)
}

// testFolder has the last blob of a folder go while others come.
func testFolder(f fixture) {
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			name := fmt.Sprintf("a/b/%d.jpg", i)
			for range 15 {
				assert.NoError(f, f.Put(f.Context(), f.name, name, []byte(name)))
				b, err := f.Get(f.Context(), f.name, name)
				assert.NoError(f, err)
				assert.Equal(f, name, string(b.Body))
				assert.NoError(f, f.Delete(f.Context(), f.name, name))
			}
		})
	}
	wg.Wait()
	require.Empty(f, f.list("", 10))
}

func testPrefixed(f fixture) {
	p := f
	p.Store, p.name = blob.Prefixed(f.Store, newName()+"-"), "abc"
	require.NoError(f, p.Create(f.Context(), p.name))
	p.put("a.txt", "body")
	require.Equal(f, "body", string(p.get("a.txt").Body))
	require.Equal(f, []string{"a.txt"}, p.list("", 1))
	p.remove("a.txt")
	p.absent("a.txt")
}
