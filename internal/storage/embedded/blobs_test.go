package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
)

// killBlobs makes the test binary a process that puts blobs until it is killed.
const killBlobs = "EMBEDDED_KILL_BLOBS"

// bodyOf returns the bytes that every process puts under a name, 1 byte to 8 MiB: a kill should hit
// the middle of one.
func bodyOf(name string) []byte {
	sum := uint64(0)
	for _, c := range []byte(name) {
		sum = sum*31 + uint64(c)
	}
	r := rand.New(rand.NewPCG(sum, 0))
	return bytes.Repeat([]byte{byte(r.Uint32())}, 1+r.IntN(8<<20))
}

// putUntilKilled puts blobs, deletes every second one, and tells each step.
func putUntilKilled(path string) error {
	s, err := Open(path, time.Now)
	if err != nil {
		return err
	}
	ctx := context.Background()
	if err := s.Blobs.Create(ctx, "pictures"); err != nil {
		return err
	}
	errs := make(chan error)
	for w := range killWriters {
		go func() {
			for n := 0; ; n++ {
				name := fmt.Sprintf("user-%d/%d-%d.jpg", n%3, w, rand.Uint64())
				err := s.Blobs.Put(ctx, "pictures", name, bodyOf(name))
				fmt.Println("put", name)
				if err == nil && n%2 == 0 {
					fmt.Println("deleting", name)
					err = s.Blobs.Delete(ctx, "pictures", name)
					fmt.Println("deleted", name)
				}
				if err != nil {
					errs <- err
					return
				}
			}
		}()
	}
	return <-errs
}

// TestKillBlobs has a process put blobs until it is killed at a random moment: each blob is whole,
// what it said to be put is there, and what it said to be deleted is not. Nothing half-written is
// left once the store was opened again.
func TestKillBlobs(t *testing.T) {
	t.Parallel()
	rounds := 10
	if s := os.Getenv(killRounds); s != "" {
		var err error
		rounds, err = strconv.Atoi(s)
		require.NoError(t, err)
	}
	path := filepath.Join(t.TempDir(), "data.db")
	last := map[string]string{} // the last word about a name
	halves := 0
	for round := range rounds {
		runAndKill(t, killBlobs+"="+path, func(t *testing.T, words []string) {
			t.Helper()
			require.Contains(t, []string{"put", "deleting", "deleted"}, words[0], "%q", words)
			last[words[1]] = words[0]
		}, round%3 == 2)
		left, err := os.ReadDir(filepath.Join(blobsDir(path), unfinished))
		if round%3 != 2 {
			require.NoError(t, err)
		}
		halves += len(left)
		s, err := Open(path, time.Now)
		require.NoError(t, err)
		require.NoError(t, s.Blobs.Create(t.Context(), "pictures"))
		left, err = os.ReadDir(filepath.Join(blobsDir(path), unfinished))
		require.NoError(t, err)
		require.Empty(t, left)
		there := listed(t, s)
		for name := range there {
			b, err := s.Blobs.Get(t.Context(), "pictures", name)
			require.NoError(t, err)
			require.True(t, bytes.Equal(bodyOf(name), b.Body), "%s has %d bytes", name, len(b.Body))
		}
		for name, what := range last {
			require.True(t, what == "deleting" || there[name] == (what == "put"), "%s: %s", name, what)
		}
		require.NoError(t, s.Close())
	}
	t.Logf("%d rounds: %d blobs told of, %d half-written", rounds, len(last), halves)
	require.NotEmpty(t, last)
}

// listed returns the names of all blobs.
func listed(t *testing.T, s *Store) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for next := ""; ; {
		p, err := s.Blobs.List(t.Context(), "pictures", "", 100, next)
		require.NoError(t, err)
		for _, item := range p.Items {
			names[item.Name] = true
		}
		if next = p.Next; next == "" {
			return names
		}
	}
}

// TestBlobFolders: no folder is there before a container, and none of a user after the last blob.
// Files of other programs are left alone.
func TestBlobFolders(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "data.db")
	s := open(t, path)
	dir := filepath.Join(filepath.Dir(path), "data-blobs")
	require.NoDirExists(t, dir)
	require.NoError(t, s.Blobs.Create(t.Context(), "pictures"))
	require.NoError(t, s.Blobs.Put(t.Context(), "pictures", "a/b/c.jpg", []byte("body")))
	require.NoError(t, s.Blobs.Put(t.Context(), "pictures", "a/d.jpg", nil))
	file := filepath.Join(dir, "pictures", "a", "b", "c.jpg")
	require.FileExists(t, file)
	for path, mode := range map[string]fs.FileMode{file: 0o600, filepath.Dir(file): fs.ModeDir | 0o700} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode())
	}
	require.NoError(t, s.Blobs.Delete(t.Context(), "pictures", "a/b/c.jpg"))
	require.NoDirExists(t, filepath.Dir(file))
	require.NoError(t, s.Blobs.Delete(t.Context(), "pictures", "a/d.jpg"))
	require.NoDirExists(t, filepath.Join(dir, "pictures", "a"))
	require.DirExists(t, filepath.Join(dir, "pictures"))

	for _, name := range []string{".DS_Store", "Thumbs.db", "a.jpg~"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "pictures", name), nil, 0o600))
	}
	require.Empty(t, listed(t, s))
	big := filepath.Join(dir, "pictures", "big.jpg")
	require.NoError(t, os.WriteFile(big, nil, 0o600))
	require.NoError(t, os.Truncate(big, blob.MaxBytes+1))
	_, err := s.Blobs.Get(t.Context(), "pictures", "big.jpg")
	require.ErrorContains(t, err, "no blob")
}

// TestBlobFoldersRace: the last blob of a folder goes while the next one comes.
func TestBlobFoldersRace(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	require.NoError(t, s.Blobs.Create(t.Context(), "pictures"))
	var g errgroup.Group
	for i := range 8 {
		g.Go(func() error {
			name := fmt.Sprintf("a/b/%d.jpg", i)
			for range 100 {
				if err := errors.Join(s.Blobs.Put(t.Context(), "pictures", name, nil),
					s.Blobs.Delete(t.Context(), "pictures", name)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	require.NoError(t, g.Wait())
	require.Empty(t, listed(t, s))
}

// TestBlobsBelongToTheStore: once the store is closed another process may have them.
func TestBlobsBelongToTheStore(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	require.NoError(t, s.Blobs.Create(t.Context(), "pictures"))
	require.NoError(t, s.Close())
	require.ErrorIs(t, s.Blobs.Create(t.Context(), "pictures"), errClosed)
	require.ErrorIs(t, s.Blobs.Put(t.Context(), "pictures", "a.jpg", nil), errClosed)
	_, err := s.Blobs.Get(t.Context(), "pictures", "a.jpg")
	require.ErrorIs(t, err, errClosed)
	_, err = s.Blobs.List(t.Context(), "pictures", "", 1, "")
	require.ErrorIs(t, err, errClosed)
	require.ErrorIs(t, s.Blobs.Delete(t.Context(), "pictures", "a.jpg"), errClosed)
}

// TestBlobErrorsNameNoUser: the names of blobs hold ids, and errors reach logs.
func TestBlobErrorsNameNoUser(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	require.NoError(t, s.Blobs.Create(t.Context(), "pictures"))
	const name = "secretid/a.jpg"
	require.NoError(t, s.Blobs.Put(t.Context(), "pictures", name, nil))
	path := s.Blobs.path("pictures", name)
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Mkdir(path, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(path, "a.jpg"), nil, 0o600))
	_, err := s.Blobs.Get(t.Context(), "pictures", name)
	gone := s.Blobs.Delete(t.Context(), "pictures", name)
	again := s.Blobs.Put(t.Context(), "pictures", name, nil)
	for _, err := range []error{err, gone, again} {
		require.Error(t, err)
		require.False(t, strings.Contains(err.Error(), "secretid"), err.Error())
	}
}

// TestSnapshotOfBlobs: a file that is deleted while a snapshot is open is there for it alone, and
// gone when the last one ends, or with the next start after a kill.
func TestSnapshotOfBlobs(t *testing.T) {
	t.Parallel()
	ctx, path := t.Context(), filepath.Join(t.TempDir(), "store.db")
	s, err := Open(path, time.Now)
	require.NoError(t, err)
	require.NoError(t, s.Blobs.Create(ctx, "pictures"))
	for _, name := range []string{"a/1.jpg", "a/2.jpg"} {
		require.NoError(t, s.Blobs.Put(ctx, "pictures", name, []byte(name)))
	}
	kept := filepath.Join(blobsDir(path), deleted)
	require.NoError(t, s.Snapshot(func(_ table.DB, _ queue.Queues, first blob.Store) error {
		require.NoError(t, s.Blobs.Delete(ctx, "pictures", "a/1.jpg"))
		require.NoError(t, s.Snapshot(func(_ table.DB, _ queue.Queues, second blob.Store) error {
			require.NoError(t, s.Blobs.Delete(ctx, "pictures", "a/2.jpg"))
			require.NoError(t, s.Blobs.Put(ctx, "pictures", "a/2.jpg", []byte("another")))
			require.NoError(t, s.Blobs.Delete(ctx, "pictures", "a/2.jpg"))
			got, err := second.Get(ctx, "pictures", "a/2.jpg")
			require.NoError(t, err)
			require.Equal(t, "a/2.jpg", string(got.Body))
			return nil
		}))
		for _, name := range []string{"a/1.jpg", "a/2.jpg"} {
			_, err := s.Blobs.Get(ctx, "pictures", name)
			require.ErrorIs(t, err, blob.ErrNotFound)
			got, err := first.Get(ctx, "pictures", name)
			require.NoError(t, err)
			require.Equal(t, name, string(got.Body))
		}
		_, err := first.Get(ctx, "pictures", "a/3.jpg")
		require.ErrorIs(t, err, blob.ErrNotFound)
		require.Error(t, first.Put(ctx, "pictures", "a/3.jpg", nil))
		require.Error(t, first.Delete(ctx, "pictures", "a/2.jpg"))
		return nil
	}))
	require.NoDirExists(t, kept)
	require.NoError(t, s.Close())
	require.NoError(t, os.Mkdir(kept, 0o700))
	s, err = Open(path, time.Now)
	require.NoError(t, err)
	require.NoDirExists(t, kept)
	require.NoError(t, s.Close())
}

// TestRebuildWithBlobs: the blobs of the new store take the place of those of the old one with its
// file, or neither does.
func TestRebuildWithBlobs(t *testing.T) {
	t.Parallel()
	ctx, path := t.Context(), filepath.Join(t.TempDir(), "store.db")
	s, err := Open(path, time.Now)
	require.NoError(t, err)
	require.NoError(t, s.Blobs.Create(ctx, "pictures"))
	require.NoError(t, s.Blobs.Put(ctx, "pictures", "old.jpg", nil))
	fill := func(made *Store) error {
		return errors.Join(made.Tables.Create(ctx, "Rows"), made.Blobs.Create(ctx, "pictures"),
			made.Blobs.Put(ctx, "pictures", "new.jpg", []byte("x")))
	}
	wrong := errors.New("wrong")
	require.ErrorIs(t, s.Rebuild(func(made *Store) error { return errors.Join(fill(made), wrong) }), wrong)
	_, err = s.Blobs.Get(ctx, "pictures", "old.jpg")
	require.NoError(t, err)
	require.NoDirExists(t, blobsDir(path+rebuildTemp))
	require.NoError(t, s.Rebuild(fill))
	require.NoError(t, s.Close())
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, left, 2)
	s, err = Open(path, time.Now)
	require.NoError(t, err)
	defer s.Close()
	page, err := s.Blobs.List(ctx, "pictures", "", 10, "")
	require.NoError(t, err)
	require.Len(t, page.Items, 1)
	require.Equal(t, "new.jpg", page.Items[0].Name)
}
