package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"prompthub/internal/storage/table"
	"prompthub/internal/storage/transact"
)

// crowded makes a file of many rows, most of which have gone again, and of messages.
func crowded(t *testing.T) (path string, s *Store) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "data.db")
	s, err := Open(path, time.Now)
	require.NoError(t, err)
	require.NoError(t, s.Tables.Create(t.Context(), "Rows", "Empty"))
	require.NoError(t, s.Queues.Create(t.Context(), "jobs"))
	for p := range 40 {
		_, err := s.Tables.Write(t.Context(), "Rows", crowd(p, table.Insert)...)
		require.NoError(t, err)
	}
	for p := 4; p < 40; p++ {
		_, err := s.Tables.Write(t.Context(), "Rows", crowd(p, table.Delete)...)
		require.NoError(t, err)
	}
	_, err = s.Queues.Send(t.Context(), "jobs", "later", time.Hour)
	require.NoError(t, err)
	return path, s
}

func crowd(p int, kind table.Kind) []table.Op {
	ops := make([]table.Op, table.MaxBatch)
	for i := range ops {
		row := table.Row{Key: table.Key{Partition: fmt.Sprint("p", p), Row: fmt.Sprintf("%03d", i*37%table.MaxBatch)}}
		if kind == table.Delete {
			row.ETag = table.Any
		} else {
			row.Props = table.Props{
				{Name: "N", Value: table.Int32(int32(i))},
				{Name: "Text", Value: table.String(strings.Repeat("x", 3000))},
			}
		}
		ops[i] = table.Op{Kind: kind, Row: row}
	}
	return ops
}

// whole returns all that a file holds, byte by byte.
func whole(t *testing.T, path string) []string {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true})
	require.NoError(t, err)
	defer db.Close()
	var all []string
	require.NoError(t, db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
			all = append(all, fmt.Sprintf("%q", name))
			return b.ForEach(func(k, v []byte) error {
				all = append(all, fmt.Sprintf("%x %x", k, v))
				return nil
			})
		})
	}))
	return all
}

// TestCompact: the file is smaller and holds the same, and no ETag comes back.
func TestCompact(t *testing.T) {
	t.Parallel()
	path, s := crowded(t)
	require.EqualError(t, Compact(path, func(int) {}), path+" is in use by another process")
	require.NoError(t, s.Close())
	before, held := sizeOf(t, path), whole(t, path)
	require.NoError(t, os.Chmod(path, 0o640))

	told := 0
	require.NoError(t, Compact(path, func(mb int) { told = mb }))
	require.Equal(t, held, whole(t, path))
	require.Less(t, sizeOf(t, path), before/3)
	require.Equal(t, 1, told)
	require.NoFileExists(t, path+compactTemp)
	if info, err := os.Stat(path); runtime.GOOS != "windows" {
		require.NoError(t, err)
		require.EqualValues(t, 0o640, info.Mode().Perm())
	}

	s, err := Open(path, time.Now)
	require.NoError(t, err)
	defer s.Close()
	key := table.Key{Partition: "p0", Row: "000"}
	old, err := s.Tables.Get(t.Context(), "Rows", key)
	require.NoError(t, err)
	etags, err := s.Tables.Write(t.Context(), "Rows", table.Op{Kind: table.Upsert, Row: table.Row{Key: key}})
	require.NoError(t, err)
	require.Greater(t, etags[0], old.ETag)
	n, err := s.Queues.Len(t.Context(), "jobs")
	require.NoError(t, err)
	require.Equal(t, 1, n)
}

// TestOpenRemovesHalfACompact: what a Compact that was killed has written goes with the next start,
// and not before another process has let the file go: that may be writing it.
func TestOpenRemovesHalfACompact(t *testing.T) {
	t.Parallel()
	path, s := crowded(t)
	half := path + compactTemp
	require.NoError(t, os.WriteFile(half, []byte("half"), 0o600))
	_, err := Open(path, time.Now)
	require.ErrorIs(t, err, ErrInUse)
	require.FileExists(t, half)
	require.NoError(t, s.Close())
	s, err = Open(path, time.Now)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.NoFileExists(t, half)
}

func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.Size()
}

// TestCompactFails: where the file cannot be written anew, it is as it was.
func TestCompactFails(t *testing.T) {
	t.Parallel()
	path, s := crowded(t)
	require.NoError(t, s.Close())
	held := whole(t, path)
	require.NoError(t, os.MkdirAll(filepath.Join(path+compactTemp, "full"), 0o700))
	require.Error(t, Compact(path, func(int) {}))
	require.Equal(t, held, whole(t, path))
	require.ErrorIs(t, Compact(filepath.Join(t.TempDir(), "none.db"), func(int) {}), os.ErrNotExist)
}

// TestOpenWhileReplaced: a process that waits for a file, and gets the lock when another one has
// taken its place, does not write into the old one, which no process will ever read.
func TestOpenWhileReplaced(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("looks into /proc for who waits")
	}
	path, s := crowded(t)
	require.NoError(t, s.Close())
	require.NoError(t, Compact(path, func(int) {}))
	next := path + ".next"
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(next, b, 0o600))
	holder, err := bbolt.Open(path, 0o600, nil)
	require.NoError(t, err)
	waiting := make(chan error)
	go func() {
		s, err := Open(path, time.Now)
		if err == nil {
			err = s.Close()
		}
		waiting <- err
	}()
	require.Eventually(t, func() bool { return openFiles(t, path) >= 2 }, time.Minute, time.Millisecond)
	require.NoError(t, os.Rename(next, path))
	require.NoError(t, holder.Close())
	require.ErrorContains(t, <-waiting, "is in use by another process")
	s, err = Open(path, time.Now)
	require.NoError(t, err)
	require.NoError(t, s.Close())
}

// openFiles returns how often this process has a file open.
func openFiles(t *testing.T, path string) int {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	n := 0
	for _, fd := range fds {
		if to, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && to == path {
			n++
		}
	}
	return n
}

// TestRebuild: a new store takes the place of the old one after it was filled. If that fails,
// nothing is changed and nothing is left.
func TestRebuild(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	fill := func(s *Store, row string) error {
		return errors.Join(s.Tables.Create(t.Context(), "T"), func() error {
			_, err := s.Tables.Write(t.Context(), "T",
				table.Op{Kind: table.Insert, Row: table.Row{Key: table.Key{Partition: "p", Row: row}}})
			return err
		}())
	}
	has := func(row string) {
		t.Helper()
		s, err := OpenExisting(path, time.Now)
		require.NoError(t, err)
		page, err := s.Tables.List(t.Context(), "T", table.Range{}, 10, "")
		require.NoError(t, errors.Join(err, s.Close()))
		require.Len(t, page.Rows, 1)
		require.Equal(t, row, page.Rows[0].Row)
		left, err := os.ReadDir(filepath.Dir(path))
		require.NoError(t, err)
		require.Len(t, left, 1)
	}
	s, err := Open(path, time.Now)
	require.NoError(t, err)
	require.NoError(t, fill(s, "old"))
	wrong := errors.New("no more input")
	require.ErrorIs(t, s.Rebuild(func(made *Store) error { return errors.Join(fill(made, "new"), wrong) }), wrong)
	require.NoError(t, s.Close())
	has("old")
	require.NoError(t, os.WriteFile(path+rebuildTemp, []byte("what a kill has left"), 0o600))
	s, err = Open(path, time.Now)
	require.NoError(t, err)
	require.NoError(t, s.Rebuild(func(made *Store) error { return fill(made, "new") }))
	require.NoError(t, s.Close())
	has("new")
}

// TestRebuiltIsSmall: a store that was filled in order, and by a load, is about as small as Compact
// makes it.
func TestRebuiltIsSmall(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := Open(path, time.Now)
	require.NoError(t, err)
	row := func(p, i int) table.Row {
		return table.Row{
			Key:   table.Key{Partition: fmt.Sprintf("p%03d", p), Row: fmt.Sprintf("%02d", i)},
			Props: table.Props{{Name: "Text", Value: table.String(strings.Repeat("x", 900))}},
		}
	}
	const partitions, rows = 60, 100
	require.NoError(t, s.Rebuild(func(made *Store) error {
		if err := made.Tables.Create(t.Context(), "Ordered", "Loaded"); err != nil {
			return err
		}
		for p := range partitions {
			var ops []table.Op
			for i := range rows {
				ops = append(ops, table.Op{Kind: table.Insert, Row: row(p, i)})
			}
			if _, err := made.Tables.Write(t.Context(), "Ordered", ops...); err != nil {
				return err
			}
		}
		return made.Load(t.Context(), func(put func(transact.Row) error) error {
			for n := range partitions * rows {
				n = n * 7 % (partitions * rows)
				if err := put(transact.Row{Table: "Loaded", Row: row(n/rows, n%rows)}); err != nil {
					return err
				}
			}
			return nil
		})
	}))
	require.NoError(t, s.Close())
	size := func() int64 {
		info, err := os.Stat(path)
		require.NoError(t, err)
		return info.Size()
	}
	rebuilt := size()
	require.NoError(t, Compact(path, func(int) {}))
	require.Less(t, float64(rebuilt), 1.1*float64(size()))
}
