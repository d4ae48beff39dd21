package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
	"prompthub/internal/storage/transact"
	"prompthub/internal/testing/disktest"
)

const (
	diskFile = "EMBEDDED_DISK_FILE" // makes the test binary a process whose calls to the disk fail
	diskWork = "EMBEDDED_DISK_WORK" // what that does
)

// A deed is one change that the process makes, and how to see whether it was made. Where the
// process is told that it failed it was made as a whole, or not at all.
type deed struct {
	name string
	do   func(s *Store) error
	made func(t *testing.T, s *Store) bool
}

// rowsThere reports whether rows are there, of which it wants all or none.
func rowsThere(t *testing.T, s *Store, keys ...string) bool {
	t.Helper()
	n := 0
	for _, key := range keys {
		name, row, _ := strings.Cut(key, "/")
		_, err := s.Tables.Get(t.Context(), name, table.Key{Partition: "p", Row: row})
		if !errors.Is(err, table.ErrNotFound) {
			require.NoError(t, err)
			n++
		}
	}
	require.Contains(t, []int{0, len(keys)}, n, "all of %v, or none", keys)
	return n > 0
}

// messagesThere returns the texts of the messages of a queue, which the next Open frees.
func messagesThere(t *testing.T, s *Store) (texts []string) {
	t.Helper()
	ms, err := s.Queues.Receive(t.Context(), "jobs", queue.MaxReceive, time.Hour)
	require.NoError(t, err)
	for _, m := range ms {
		texts = append(texts, m.Text)
	}
	return texts
}

const (
	largeRows      = 40
	callsOfOpening = 10 // at most, of a kind
)

func largeOp(i int) table.Op {
	op := insert("p", fmt.Sprint("large", i))
	op.Row.Props[0].Value = table.String(strings.Repeat("x", 30_000))
	return op
}

var ctx = context.Background()

var deeds = []deed{
	{
		"write", func(s *Store) error {
			_, err := s.Tables.Write(ctx, "Rows", insert("p", "a"), insert("p", "b"))
			return err
		},
		func(t *testing.T, s *Store) bool { return rowsThere(t, s, "Rows/a", "Rows/b") },
	},
	{
		"transact", func(s *Store) error {
			_, err := s.Transact(ctx, transact.Transaction{
				Table: "Rows", Ops: []table.Op{insert("p", "c")},
				Put:      []transact.Row{{Table: "Others", Row: insert("p", "d").Row}},
				Messages: []transact.Message{{Queue: "jobs", Text: "transacted"}},
			})
			return err
		},
		func(t *testing.T, s *Store) bool {
			there := rowsThere(t, s, "Rows/c", "Others/d")
			require.Equal(t, there, slices.Contains(messagesThere(t, s), "transacted"))
			return there
		},
	},
	{
		"delete", func(s *Store) error {
			_, err := s.Tables.Write(ctx, "Rows",
				table.Op{
					Kind: table.Delete,
					Row:  table.Row{Key: table.Key{Partition: "p", Row: "old"}, ETag: table.Any},
				})
			return err
		},
		func(t *testing.T, s *Store) bool { return !rowsThere(t, s, "Rows/old") },
	},
	{
		"new name", func(s *Store) error {
			_, err := s.Tables.Write(ctx, "Rows",
				table.Op{
					Kind: table.Insert,
					Row: table.Row{
						Key:   table.Key{Partition: "p", Row: "new"},
						Props: table.Props{{Name: "New", Value: table.Bool(true)}},
					},
				})
			return err
		},
		func(t *testing.T, s *Store) bool { return rowsThere(t, s, "Rows/new") },
	},
	{
		"large", func(s *Store) error {
			ops := make([]table.Op, largeRows)
			for i := range ops {
				ops[i] = largeOp(i)
			}
			_, err := s.Tables.Write(ctx, "Rows", ops...)
			return err
		},
		func(t *testing.T, s *Store) bool {
			keys := make([]string, largeRows)
			for i := range keys {
				keys[i] = fmt.Sprint("Rows/large", i)
			}
			return rowsThere(t, s, keys...)
		},
	},
	{
		"take", func(s *Store) error {
			ms, err := s.Queues.Receive(ctx, "jobs", 1, time.Hour)
			if err != nil {
				return err
			}
			return s.Queues.Delete(ctx, "jobs", ms[0].Receipt)
		},
		func(t *testing.T, s *Store) bool { return !slices.Contains(messagesThere(t, s), "old") },
	},
	{
		"put", func(s *Store) error { return s.Blobs.Put(ctx, "pictures", "new/a.jpg", bodyOf("new/a.jpg")) },
		func(t *testing.T, s *Store) bool { return blobThere(t, s, "new/a.jpg") },
	},
	{
		"remove", func(s *Store) error { return s.Blobs.Delete(ctx, "pictures", "old/a.jpg") },
		func(t *testing.T, s *Store) bool { return !blobThere(t, s, "old/a.jpg") },
	},
}

// blobThere reports whether a blob is there, which it wants whole.
func blobThere(t *testing.T, s *Store, name string) bool {
	t.Helper()
	b, err := s.Blobs.Get(t.Context(), "pictures", name)
	if errors.Is(err, blob.ErrNotFound) {
		return false
	}
	require.NoError(t, err)
	require.True(t, bytes.Equal(bodyOf(name), b.Body), "%d bytes", len(b.Body))
	return true
}

// onDisk is what the test binary does under strace. It says what it was told: done, or refused.
func onDisk(path, what string) error {
	runtime.LockOSThread() // strace counts the calls of each thread
	if what == "compact" {
		return tell("compact", Compact(path, func(int) {}))
	}
	s, err := Open(path, time.Now)
	if err != nil {
		return tell("open", err)
	}
	if err := onOneThread(s); err != nil {
		return err
	}
	if what == "create" {
		return errors.Join(tell("create",
			errors.Join(s.Tables.Create(ctx, "Rows"), s.Queues.Create(ctx, "jobs"), s.Blobs.Create(ctx, "pictures"))),
			s.Close())
	}
	for _, d := range deeds {
		if err := tell(d.name, d.do(s)); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	return s.Close()
}

// onOneThread keeps the writer on its thread, and makes enough calls there that none of the
// numbers is left which those of the opening had.
func onOneThread(s *Store) error {
	none, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	lock := func(*bbolt.Tx) (func() error, error) { runtime.LockOSThread(); return nil, none.Sync() }
	_ = s.update(ctx, 1, lock) // a device is not synced
	for range callsOfOpening {
		_ = s.update(ctx, 1, lasting(0)) // fails in its turn
	}
	return none.Close()
}

func tell(what string, err error) error {
	if err != nil {
		fmt.Println("refused", what)
		return err
	}
	fmt.Println("done", what)
	return nil
}

// furnished makes a file with what the deeds find there.
func furnished(t *testing.T, path string) {
	t.Helper()
	s, err := Open(path, time.Now)
	require.NoError(t, err)
	require.NoError(t, s.Tables.Create(t.Context(), "Rows", "Others"))
	require.NoError(t, s.Queues.Create(t.Context(), "jobs"))
	mustWrite(t, s, insert("p", "old"))
	_, err = s.Queues.Send(t.Context(), "jobs", "old", 0)
	require.NoError(t, err)
	require.NoError(t, s.Blobs.Create(t.Context(), "pictures"))
	require.NoError(t, s.Blobs.Put(t.Context(), "pictures", "old/a.jpg", bodyOf("old/a.jpg")))
	require.NoError(t, s.Close())
}

// runOnDisk has a process do work on a file under strace, with one call failing, and returns what
// it said and its trace.
func runOnDisk(t *testing.T, f disktest.Fault, path, what string) (said map[string]bool, trace disktest.Trace) {
	t.Helper()
	cmd, log := disktest.Command(t, f, os.Args[0])
	cmd.Env = append(os.Environ(), diskFile+"="+path, diskWork+"="+what)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // it says what failed
	said = map[string]bool{}
	for line := range strings.Lines(out.String()) {
		word, what, _ := strings.Cut(strings.TrimSpace(line), " ")
		said[what] = word == "done"
	}
	require.NotEmpty(t, said, "%s%s", &out, &errs)
	return said, disktest.Read(t, log)
}

// sound opens a file that a process has left, and requires that it is one.
func sound(t *testing.T, path string) *Store {
	t.Helper()
	s := open(t, path)
	require.NoError(t, s.db.View(func(tx *bbolt.Tx) error {
		for err := range tx.Check() {
			return err
		}
		return nil
	}))
	return s
}

// TestDiskFails has each call to the disk fail in turn that a process makes. A write that was
// confirmed is there afterwards, and one that was refused is absent or whole.
func TestDiskFails(t *testing.T) {
	t.Parallel()
	disktest.Need(t)
	if testing.Short() {
		t.Skip("runs a process for each call")
	}
	t.Run("writes", func(t *testing.T) {
		t.Parallel()
		disktest.EachFails(t, func(t *testing.T, f disktest.Fault) disktest.Trace {
			path := filepath.Join(t.TempDir(), "data.db")
			furnished(t, path)
			said, trace := runOnDisk(t, f, path, "write")
			s := sound(t, path)
			for _, d := range deeds {
				made := d.made(t, s)
				if said[d.name] {
					require.True(t, made, "%s was acknowledged: %v", d.name, said)
				}
			}
			return trace
		})
	})
	t.Run("create", func(t *testing.T) {
		t.Parallel()
		disktest.EachFails(t, func(t *testing.T, f disktest.Fault) disktest.Trace {
			path := filepath.Join(t.TempDir(), "data.db")
			said, trace := runOnDisk(t, f, path, "create")
			s := sound(t, path) // which makes it where nothing is there
			if said["create"] {
				_, err := s.Tables.Get(t.Context(), "Rows", table.Key{Partition: "p", Row: "r"})
				require.ErrorIs(t, err, table.ErrNotFound)
				require.Empty(t, messagesThere(t, s))
				require.False(t, blobThere(t, s, "a.jpg"))
			}
			return trace
		})
	})
	t.Run("compact", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "data.db")
		furnished(t, path)
		full, err := os.ReadFile(path)
		require.NoError(t, err)
		held := whole(t, path)
		disktest.EachFails(t, func(t *testing.T, f disktest.Fault) disktest.Trace {
			path := filepath.Join(t.TempDir(), "data.db")
			require.NoError(t, os.WriteFile(path, full, 0o600))
			before, err := os.Stat(path)
			require.NoError(t, err)
			said, trace := runOnDisk(t, f, path, "compact")
			got := whole(t, path)
			if !slices.Equal(held[2:], got[2:]) { // but for how often it was opened
				require.Equal(t, held, got)
			}
			after, err := os.Stat(path)
			require.NoError(t, err)
			require.True(t, !said["compact"] || !os.SameFile(before, after), "it is another file")
			require.NoFileExists(t, path+compactTemp)
			sound(t, path)
			return trace
		})
	})
}

// TestDiskOrder: what a process did to the disk lasts through a loss of power.
func TestDiskOrder(t *testing.T) {
	t.Parallel()
	disktest.Need(t)
	for what, prepare := range map[string]func(t *testing.T, path string){
		"create": func(*testing.T, string) {}, "write": furnished, "compact": furnished,
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "data.db")
			prepare(t, path)
			var there []string
			if what != "create" {
				there = []string{path}
			}
			said, trace := runOnDisk(t, disktest.Fault{}, path, what)
			for _, done := range slices.Sorted(maps.Keys(said)) {
				require.True(t, said[done], done)
			}
			trace.CheckOrder(t, dir, there...)
		})
	}
}
