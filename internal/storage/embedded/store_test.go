package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
	"prompthub/internal/storage/transact"
)

func insert(partition, row string) table.Op {
	return table.Op{Kind: table.Insert, Row: table.Row{
		Key:   table.Key{Partition: partition, Row: row},
		Props: table.Props{{Name: "Text", Value: table.String(strings.Repeat(row, 10))}},
	}}
}

func mustWrite(t testing.TB, s *Store, ops ...table.Op) []string {
	t.Helper()
	etags, err := s.Tables.Write(t.Context(), "Rows", ops...)
	require.NoError(t, err)
	return etags
}

func TestFileInUse(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "data.db")
	open(t, path)
	_, err := Open(path, time.Now)
	require.EqualError(t, err, path+" is in use by another process")
}

func TestOpenRefusesForeignFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "data.db")
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("no database ", 1000)), 0o600))
	_, err := Open(path, time.Now)
	require.ErrorContains(t, err, "open "+path)

	_, err = Open(filepath.Join(path, "below", "data.db"), time.Now)
	require.Error(t, err)
}

// TestOpenExisting: a file that is no store is left as it is, and a new one takes the place of
// nothing.
func TestOpenExisting(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := OpenExisting(filepath.Join(dir, "none.db"), time.Now)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoFileExists(t, filepath.Join(dir, "none.db"))

	empty, bare, foreign := filepath.Join(dir, "empty.db"), filepath.Join(dir, "bare.db"),
		filepath.Join(dir, "foreign.db")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	for _, path := range []string{bare, foreign} {
		db, err := bbolt.Open(path, 0o600, nil)
		require.NoError(t, err)
		require.NoError(t, db.Update(func(tx *bbolt.Tx) error {
			if path == bare {
				return nil
			}
			_, err := tx.CreateBucket([]byte("theirs"))
			return err
		}))
		require.NoError(t, db.Close())
	}
	for _, path := range []string{empty, bare, foreign} {
		before, err := os.ReadFile(path)
		require.NoError(t, err)
		_, err = OpenExisting(path, time.Now)
		require.ErrorIs(t, err, ErrForeign, path)
		require.ErrorIs(t, Compact(path, func(int) {}), ErrForeign, path)
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, before, after, path)
	}
	_, err = Open(foreign, time.Now)
	require.ErrorIs(t, err, ErrForeign)
	for _, path := range []string{empty, bare} {
		require.NoError(t, open(t, path).Close())
		s, err := OpenExisting(path, time.Now)
		require.NoError(t, err)
		require.NoError(t, s.Close())
	}
}

// TestOpenRefusesHalfAFile: a file that was cut, as by a copy that was stopped, or whose list of
// free pages is none, is refused.
func TestOpenRefusesHalfAFile(t *testing.T) {
	t.Parallel()
	path, s := crowded(t)
	require.NoError(t, s.Close())
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	page := os.Getpagesize()
	half, cut, spoilt := path+".half", path+".cut", path+".spoilt"
	require.NoError(t, os.WriteFile(half, b[:len(b)/2], 0o600))
	require.NoError(t, os.WriteFile(cut, b[:3*page], 0o600))
	require.NoError(t, os.WriteFile(spoilt, slices.Concat(b[:2*page], make([]byte, len(b)-2*page)), 0o600))
	for _, path := range []string{half, half, cut, spoilt} {
		_, err = OpenExisting(path, time.Now)
		require.ErrorContains(t, err, "open "+path+": the file is damaged or cut short")
	}
	require.NoError(t, open(t, path).Close())
}

func TestReopen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "data.db")
	s, err := Open(path, time.Now)
	require.NoError(t, err)
	require.NoError(t, s.Tables.Create(t.Context(), "Rows"))
	seen := map[string]bool{}
	for i := range 10 {
		seen[mustWrite(t, s, insert("p", fmt.Sprint(i)))[0]] = true
	}
	page, err := s.Tables.List(t.Context(), "Rows", table.Range{}, 4, "")
	require.NoError(t, err)
	before, err := s.Tables.Get(t.Context(), "Rows", table.Key{Partition: "p", Row: "3"})
	require.NoError(t, err)
	require.NoError(t, s.Close())

	s = open(t, path)
	after, err := s.Tables.Get(t.Context(), "Rows", before.Key)
	require.NoError(t, err)
	require.Equal(t, before, after)
	rest, err := s.Tables.List(t.Context(), "Rows", table.Range{}, 100, page.Next)
	require.NoError(t, err)
	require.Len(t, rest.Rows, 6)
	require.Equal(t, "4", rest.Rows[0].Row)
	for i := range 10 {
		etag := mustWrite(t, s, insert("new", fmt.Sprint(i)))[0]
		require.False(t, seen[etag], "ETag %s was given before the restart", etag)
	}
}

func TestClosed(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	require.NoError(t, s.Tables.Create(t.Context(), "Rows"))
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	_, err := s.Tables.Write(t.Context(), "Rows", insert("p", "r"))
	require.ErrorIs(t, err, errClosed)
	_, err = s.Tables.Get(t.Context(), "Rows", table.Key{Partition: "p", Row: "r"})
	require.Error(t, err)
	require.NotErrorIs(t, err, table.ErrNotFound)
}

func TestMissingTableIsNamed(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	_, err := s.Tables.Get(t.Context(), "Absent", table.Key{Partition: "p", Row: "r"})
	require.ErrorContains(t, err, "table Absent does not exist")
	_, err = s.Queues.Len(t.Context(), "absent")
	require.ErrorContains(t, err, "absent: the queue does not exist")
}

// TestGapInNames: a file whose dictionary of names lost one is refused, for rows would be read
// under wrong names.
func TestGapInNames(t *testing.T) {
	t.Parallel()
	path, s := crowded(t)
	require.NoError(t, s.Close())
	file, err := bbolt.Open(path, 0o600, nil)
	require.NoError(t, err)
	require.NoError(t, file.Update(func(tx *bbolt.Tx) error { return tx.Bucket(namesBucket).Delete([]byte{0, 1}) }))
	require.NoError(t, file.Close())
	_, err = Open(path, time.Now)
	require.ErrorIs(t, err, table.ErrDamaged)
}

// TestDamagedRow: a row that lost its end is met by everybody who reads it, and can be passed.
func TestDamagedRow(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	require.NoError(t, s.Tables.Create(t.Context(), "Rows"))
	mustWrite(t, s, insert("p", "a"), insert("p", "b"), insert("p", "c"), insert("p", "d"), insert("p", "e"))
	require.NoError(t, s.db.Update(func(tx *bbolt.Tx) error {
		b := tx.Bucket(rowsBucket("Rows"))
		for _, row := range []string{"b", "c", "e"} {
			v := b.Get(packedKey(table.Key{Partition: "p", Row: row}))
			if err := b.Put(packedKey(table.Key{Partition: "p", Row: row}), v[:len(v)-3]); err != nil {
				return err
			}
		}
		return nil
	}))
	_, err := s.Tables.Get(t.Context(), "Rows", table.Key{Partition: "p", Row: "b"})
	require.ErrorIs(t, err, table.ErrDamaged)
	_, err = s.Tables.List(t.Context(), "Rows", table.Range{Partition: "p", From: "b"}, 10, "")
	require.ErrorIs(t, err, table.ErrDamaged)
	page, err := s.Tables.List(t.Context(), "Rows", table.Range{}, 10, "")
	require.NoError(t, err)
	require.Len(t, page.Rows, 1)
	require.NotEmpty(t, page.Next, "the damaged row is not left out")

	var met []string
	for row, err := range table.All(t.Context(), s.Tables, "Rows", table.Range{}) {
		if d := (*table.DamagedError)(nil); errors.As(err, &d) {
			require.EqualError(t, err, "list Rows: a damaged row")
			met = append(met, "damaged "+d.Key.Row)
			continue
		}
		require.NoError(t, err)
		met = append(met, row.Row)
	}
	require.Equal(t, []string{"a", "damaged b", "damaged c", "d", "damaged e"}, met)
}

// TestDamagedKey: a key that no row has is met once, as such, wherever pages end, and all rows are.
func TestDamagedKey(t *testing.T) {
	t.Parallel()
	good := []string{"12", listKey[:20], listKey, listKey + "0", "a"}
	damaged := []string{
		"no row", "\x00a", "\x00z", "p\x00", "p\x00\x00b", "p\x00\x02", "p\x00\x20\x01",
		"p\x00\x01zz", "p\x00\xff!x", // on the wrong side of digits
	}
	number := string(packedKey(table.Key{Partition: "p", Row: listKey})[:len("p\x00")+numberBytes])
	for _, class := range []byte{0, 1, earlierULID, sameULID, aboveBar + 1, followedAbove} {
		damaged = append(damaged, number+string([]byte{class})+"x")
	}
	twelve := string(packedKey(table.Key{Partition: "p", Row: "12"}))
	whole := string(packedKey(table.Key{Partition: "p", Row: listKey}))
	damaged = append(damaged, twelve[:len(twelve)-1]+"\x01", whole[:len(whole)-1]+"\x03", whole[:len(whole)-1]+"\xef")

	for _, select1 := range [][]string{nil, {"N"}} {
		s := newStore(t)
		require.NoError(t, s.Tables.Create(t.Context(), "Rows"))
		for _, row := range good {
			mustWrite(t, s, insert("p", row))
		}
		require.NoError(t, s.db.Update(func(tx *bbolt.Tx) error {
			b := tx.Bucket(rowsBucket("Rows"))
			v := bytes.Clone(b.Get(packedKey(table.Key{Partition: "p", Row: "a"})))
			for _, k := range damaged {
				if err := b.Put([]byte(k), v); err != nil {
					return err
				}
			}
			return nil
		}))
		for _, limit := range []int{1, 2, 1000} {
			met, rows := 0, []string(nil)
			for next, page := "", 0; ; page++ {
				require.Less(t, page, 50, "it comes to an end")
				got, err := s.Tables.List(t.Context(), "Rows", table.Range{Select: select1}, limit, next)
				next = got.Next
				if d := (*table.DamagedError)(nil); errors.As(err, &d) {
					met, next = met+1, d.Next
				} else {
					require.NoError(t, err)
				}
				for _, row := range got.Rows {
					rows = append(rows, row.Row)
				}
				if next == "" {
					break
				}
			}
			require.Equal(t, len(damaged), met)
			require.Equal(t, good, rows)
		}
	}
}

// TestMaxMatches: no row is read after the last one that is wanted.
func TestMaxMatches(t *testing.T) {
	s := newStore(t)
	require.NoError(t, s.Tables.Create(t.Context(), "Rows"))
	var ops []table.Op
	for i := range 50 {
		ops = append(ops, table.Op{Kind: table.Insert, Row: benchRow(i)})
	}
	mustWrite(t, s, ops...)
	asked := 0
	r := table.Range{MaxMatches: 3, Filter: func(table.Props) bool { asked++; return asked%5 == 0 }}
	page, err := s.Tables.List(t.Context(), "Rows", r, 50, "")
	require.NoError(t, err)
	require.Len(t, page.Rows, 15)
	require.Equal(t, 15, asked)
	require.NotEmpty(t, page.Next)
}

func TestForeignToken(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	require.NoError(t, s.Tables.Create(t.Context(), "Rows"))
	_, err := s.Tables.List(t.Context(), "Rows", table.Range{}, 1, "no token!")
	require.ErrorIs(t, err, table.ErrInvalid)

	mustWrite(t, s, insert("a", "1"), insert("a", "2"))
	page, err := s.Tables.List(t.Context(), "Rows", table.Range{}, 1, "")
	require.NoError(t, err)
	mustWrite(t, s, insert("b", "1"))
	page, err = s.Tables.List(t.Context(), "Rows", table.Range{FromPartition: "b"}, 10, page.Next)
	require.NoError(t, err)
	require.Len(t, page.Rows, 1, "a token does not lead out of the range")
}

// A group holds changes that succeed, that are refused, and whose callers have left.
func TestGroup(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	require.NoError(t, s.Tables.Create(t.Context(), "Rows"))
	put := func(key string) *change {
		return &change{done: make(chan error, 1), plan: func(tx *bbolt.Tx) (func() error, error) {
			b, err := rowsOf(tx, "Rows")
			if err != nil {
				return nil, err
			}
			if b.Get([]byte(key)) != nil {
				return nil, table.ErrExists
			}
			return func() error { return b.Put([]byte(key), []byte("value")) }, nil
		}}
	}
	group := []*change{put("a"), put("a"), put("b"), put("a"), put("c")}
	refused, last := group[1].done, group[4].plan
	group[4].plan = func(tx *bbolt.Tx) (func() error, error) {
		require.Empty(t, refused, "answered before the row that refuses it is there")
		return last(tx)
	}
	s.commit(group)
	want := []error{nil, table.ErrExists, nil, table.ErrExists, nil}
	for i, c := range group {
		require.Equal(t, want[i], <-c.done, "change %d", i)
	}

	broken := errors.New("broken")
	bad := &change{done: make(chan error, 1), plan: func(*bbolt.Tx) (func() error, error) {
		return func() error { return broken }, nil
	}}
	group = []*change{put("d"), put("d"), bad, put("e")}
	s.commit(group)
	for i, c := range group {
		require.ErrorIs(t, <-c.done, broken, "change %d: nothing has landed", i)
	}
	require.NoError(t, s.db.View(func(tx *bbolt.Tx) error {
		require.Nil(t, tx.Bucket(rowsBucket("Rows")).Get([]byte("d")))
		require.NotNil(t, tx.Bucket(rowsBucket("Rows")).Get([]byte("c")))
		return nil
	}))
}

// While one transaction holds the file, writers queue up; then one more carries all.
func TestWaitingWritesShareOneTransaction(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // where all can be waited for until they wait
		s := newStore(t)
		require.NoError(t, s.Tables.Create(t.Context(), "Rows"))
		_, err := s.Tables.Write(t.Context(), "Rows", insert("p", "first")) // which learns the names of properties
		require.NoError(t, err)
		var id int
		block := make(chan struct{})
		results := make(chan error)
		go func() {
			results <- s.update(t.Context(), 1, func(tx *bbolt.Tx) (func() error, error) {
				id = tx.ID()
				<-block
				return func() error { return nil }, nil
			})
		}()
		synctest.Wait()
		const n = 50
		for i := range n {
			go func() {
				_, err := s.Tables.Write(t.Context(), "Rows", insert("p", fmt.Sprint(i)))
				results <- err
			}()
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			_, err := s.Tables.Write(ctx, "Rows", insert("p", "left"))
			results <- err
		}()
		synctest.Wait()
		cancel()
		require.ErrorIs(t, <-results, context.Canceled, "a caller need not wait")
		close(block)
		for range n + 1 {
			require.NoError(t, <-results)
		}
		require.NoError(t, s.db.View(func(tx *bbolt.Tx) error {
			require.Equal(t, id+1, tx.ID(), "of the transaction of %d writes", n)
			return nil
		}))
	})
}

// TestTextsOfWritesThatShareATransaction: each of them counts what its rows refer to.
func TestTextsOfWritesThatShareATransaction(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, keys, props := sharers(t)
		var all sync.WaitGroup
		all.Go(func() { assert.NoError(t, s.update(t.Context(), 1, lasting(time.Millisecond))) })
		synctest.Wait()
		for _, partition := range []string{"r", "s"} { // which wait, and then share one
			key := table.Key{Partition: partition, Row: listKey}
			keys = append(keys, key)
			all.Go(func() {
				_, err := s.Tables.Write(t.Context(), "Rows",
					table.Op{Kind: table.Insert, Row: table.Row{Key: key, Props: props}})
				assert.NoError(t, err)
			})
		}
		all.Wait()
		for _, key := range keys[:3] {
			mustWrite(t, s, table.Op{Kind: table.Delete, Row: table.Row{Key: key, ETag: table.Any}})
		}
		row, err := s.Tables.Get(t.Context(), "Rows", keys[3])
		require.NoError(t, err)
		require.Equal(t, props, row.Props)
	})
}

// TestGivingUpLeavesTheOutcomeOpen: a caller who does not wait for the end of a write is not told
// that nothing was done: it may have been.
func TestGivingUpLeavesTheOutcomeOpen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan error)
		go func() { gone <- s.update(ctx, 1, lasting(time.Second)) }()
		synctest.Wait() // until it is carried out
		cancel()
		err := <-gone
		require.ErrorIs(t, err, context.Canceled)
		require.NotErrorIs(t, err, table.ErrBusy)
		require.ErrorContains(t, err, "the write may have landed")
	})
}

// TestCommitFails: a write whose commit fails is refused and absent, and the next one goes on.
func TestCommitFails(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	require.NoError(t, s.Tables.Create(t.Context(), "Rows"))
	mustWrite(t, s, insert("p", "names"))
	large := insert("p", "large")
	large.Row.Props[0].Value = table.String(strings.Repeat("x", 30_000))
	s.db.MaxSize = 1 // bbolt takes no more room
	_, err := s.Tables.Write(t.Context(), "Rows", large)
	require.ErrorContains(t, err, "commit: ")
	_, err = s.Tables.Get(t.Context(), "Rows", large.Row.Key)
	require.ErrorIs(t, err, table.ErrNotFound)
	s.db.MaxSize = 0
	mustWrite(t, s, large)
}

// TestNamesOfATransactionThatFails: names that it should teach are not taken for known.
func TestNamesOfATransactionThatFails(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "data.db")
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(path, time.Now)
		require.NoError(t, err)
		require.NoError(t, s.Tables.Create(t.Context(), "Rows"))
		var all sync.WaitGroup
		all.Go(func() { assert.NoError(t, s.update(t.Context(), 1, lasting(time.Second))) })
		synctest.Wait()
		broken := errors.New("broken")
		for _, do := range []func() error{
			func() error { _, err := s.Tables.Write(t.Context(), "Rows", insert("p", "r")); return err },
			func() error {
				return s.update(t.Context(), 1, func(*bbolt.Tx) (func() error, error) {
					return func() error { return broken }, nil
				})
			},
		} {
			all.Go(func() { assert.ErrorIs(t, do(), broken) }) // both wait for the first one, and share a transaction
			synctest.Wait()
		}
		all.Wait()
		mustWrite(t, s, insert("p", "r"))
		require.NoError(t, s.Close())
	})
	s := open(t, path)
	got, err := s.Tables.Get(t.Context(), "Rows", table.Key{Partition: "p", Row: "r"})
	require.NoError(t, err)
	require.True(t, insert("p", "r").Row.Props.Equal(got.Props))
}

// lasting is a change that takes so long.
func lasting(d time.Duration) plan {
	return func(*bbolt.Tx) (func() error, error) {
		time.Sleep(d)
		return func() error { return nil }, nil
	}
}

// TestGroupsAreBounded: a transaction takes no more changes once it has n rows and messages.
func TestGroupsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		require.NoError(t, s.Tables.Create(t.Context(), "Rows"))
		require.NoError(t, s.Queues.Create(t.Context(), "jobs"))
		mustWrite(t, s, insert("p", "names")) // which are known then
		at := func() (id int) {
			require.NoError(t, s.db.View(func(tx *bbolt.Tx) error { id = tx.ID(); return nil }))
			return id
		}
		var all sync.WaitGroup
		all.Go(func() { assert.NoError(t, s.update(t.Context(), 1, lasting(time.Millisecond))) })
		synctest.Wait()
		before := at()
		for i := range 4 * maxGroup / 100 {
			all.Go(func() { // 60 rows and 41 messages
				c := transact.Transaction{Table: "Rows", Ops: []table.Op{insert(fmt.Sprint(i), "0")}}
				for n := range 59 {
					c.Put = append(c.Put, transact.Row{Table: "Rows", Row: insert(fmt.Sprint(i), fmt.Sprint(n+1)).Row})
				}
				for range 41 {
					c.Messages = append(c.Messages, transact.Message{Queue: "jobs", Text: "text"})
				}
				_, err := s.Transact(t.Context(), c)
				assert.NoError(t, err)
			})
		}
		all.Wait()
		require.Equal(t, before+1+4, at(), "after the job")
	})
}

// TestTransactionIsCopied: a caller that has handed one over may change it while it waits.
func TestTransactionIsCopied(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		require.NoError(t, s.Tables.Create(t.Context(), "Rows", "Others"))
		require.NoError(t, s.Queues.Create(t.Context(), "jobs"))
		mustWrite(t, s, insert("p", "names"), insert("p", "merged"))
		merged := insert("p", "merged")
		merged.Kind, merged.Row.ETag = table.Merge, table.Any
		c := transact.Transaction{
			Table: "Rows", Ops: []table.Op{insert("p", "a"), merged},
			Put:      []transact.Row{{Table: "Others", Row: insert("p", "b").Row}},
			Messages: []transact.Message{{Queue: "jobs", Text: "text"}},
		}
		var all sync.WaitGroup
		all.Go(func() { assert.NoError(t, s.update(t.Context(), 1, lasting(time.Millisecond))) })
		synctest.Wait()
		all.Go(func() {
			_, err := s.Transact(t.Context(), c)
			assert.NoError(t, err)
		})
		synctest.Wait()
		for _, props := range []table.Props{c.Ops[0].Row.Props, c.Ops[1].Row.Props, c.Put[0].Props} {
			for i := range props {
				props[i].Value = table.String("changed")
			}
		}
		c.Messages[0].Text = "changed"
		all.Wait()
		for name, row := range map[string]string{"a": "Rows", "merged": "Rows", "b": "Others"} {
			got, err := s.Tables.Get(t.Context(), row, table.Key{Partition: "p", Row: name})
			require.NoError(t, err)
			require.True(t, insert("p", name).Row.Props.Equal(got.Props), "%s: %v", name, got.Props)
		}
		ms, err := s.Queues.Receive(t.Context(), "jobs", 1, time.Minute)
		require.NoError(t, err)
		require.Equal(t, "text", ms[0].Text)
	})
}

// TestTransactionIsOneChange: however many tables it is of.
func TestTransactionIsOneChange(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	require.NoError(t, s.Tables.Create(t.Context(), "Rows", "Others"))
	require.NoError(t, s.Queues.Create(t.Context(), "jobs"))
	mustWrite(t, s, insert("p", "there")) // and its names are known
	last := func() (id int) {
		require.NoError(t, s.db.View(func(tx *bbolt.Tx) error { id = tx.ID(); return nil }))
		return id
	}
	before := last()
	c := transact.Transaction{
		Table: "Rows", Ops: []table.Op{insert("p", "a")},
		Put:      []transact.Row{{Table: "Others", Row: insert("q", "b").Row}},
		Messages: []transact.Message{{Queue: "jobs", Text: "text"}},
	}
	_, err := s.Transact(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, before+1, last())
	_, err = s.Transact(t.Context(), c)
	require.ErrorIs(t, err, table.ErrExists)
	require.Equal(t, before+1, last(), "what is refused costs no sync")

	require.NoError(t, s.Close())
	_, err = s.Transact(t.Context(), c)
	require.ErrorIs(t, err, errClosed)
}

func TestMergeKeepsRowWithinLimits(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	require.NoError(t, s.Tables.Create(t.Context(), "Rows"))
	o := insert("p", "r")
	mustWrite(t, s, o)
	o.Kind, o.Row.ETag, o.Row.Props = table.Merge, table.Any, nil
	for i := range table.MaxProps {
		o.Row.Props = append(o.Row.Props, table.Prop{Name: fmt.Sprintf("P%d", i), Value: table.Bool(true)})
	}
	_, err := s.Tables.Write(t.Context(), "Rows", o)
	require.ErrorIs(t, err, table.ErrInvalid)
	o.Row.Props[0].Name = "Text"
	mustWrite(t, s, o)
}

func TestReopenFreesLocks(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "data.db")
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	s, err := Open(path, clock)
	require.NoError(t, err)
	q := s.Queues
	require.NoError(t, q.Create(t.Context(), "jobs"))
	for _, text := range []string{"locked", "put back"} {
		_, err = q.Send(t.Context(), "jobs", text, 0)
		require.NoError(t, err)
	}
	_, err = q.Send(t.Context(), "jobs", "delayed", time.Hour)
	require.NoError(t, err)
	held, err := q.Receive(t.Context(), "jobs", 2, 24*time.Hour)
	require.NoError(t, err)
	_, err = q.Hide(t.Context(), "jobs", held[1].Receipt, 2*time.Hour)
	require.NoError(t, err)
	require.NoError(t, s.Close())

	q = openAt(t, path, clock).Queues
	texts := func() (all []string) {
		got, err := q.Receive(t.Context(), "jobs", queue.MaxReceive, 24*time.Hour)
		require.NoError(t, err)
		for _, m := range got {
			all = append(all, fmt.Sprint(m.Text, " ", m.Dequeued))
		}
		return all
	}
	require.Equal(t, []string{"locked 2"}, texts())
	require.ErrorIs(t, q.Delete(t.Context(), "jobs", held[0].Receipt), queue.ErrGone)
	now = now.Add(time.Hour)
	require.Equal(t, []string{"delayed 1"}, texts())
	now = now.Add(time.Hour)
	require.Equal(t, []string{"put back 2"}, texts())
	n, err := q.Len(t.Context(), "jobs")
	require.NoError(t, err)
	require.Equal(t, 3, n)
}

// A receipt must not come to life again when a later one is for the same time.
func TestReceiptsOfTheSameTime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	q := openAt(t, filepath.Join(t.TempDir(), "data.db"), func() time.Time { return now }).Queues
	require.NoError(t, q.Create(t.Context(), "jobs"))
	_, err := q.Send(t.Context(), "jobs", "text", 0)
	require.NoError(t, err)
	got, err := q.Receive(t.Context(), "jobs", 1, time.Minute)
	require.NoError(t, err)
	_, err = q.Hide(t.Context(), "jobs", got[0].Receipt, time.Minute)
	require.NoError(t, err)
	require.ErrorIs(t, q.Delete(t.Context(), "jobs", got[0].Receipt), queue.ErrGone)
	require.ErrorIs(t, q.Delete(t.Context(), "jobs", queue.Receipt{ID: got[0].ID, Pop: "no hex"}), queue.ErrGone)
	require.ErrorIs(t, q.Delete(t.Context(), "jobs", queue.Receipt{}), queue.ErrGone)
}

// TestOpenFreesRenewedLocks: a job that runs for longer than half its lock has it renewed by Hide;
// then the process dies.
func TestOpenFreesRenewedLocks(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "data.db")
	s, err := Open(path, time.Now)
	require.NoError(t, err)
	require.NoError(t, s.Queues.Create(t.Context(), "jobs"))
	_, err = s.Queues.Send(t.Context(), "jobs", "running", 0)
	require.NoError(t, err)
	later, err := s.Queues.Send(t.Context(), "jobs", "for later", time.Hour)
	require.NoError(t, err)
	_, err = s.Queues.Hide(t.Context(), "jobs", later, 10*time.Minute)
	require.NoError(t, err)
	got, err := s.Queues.Receive(t.Context(), "jobs", 2, 10*time.Minute)
	require.NoError(t, err)
	require.Len(t, got, 1)
	_, err = s.Queues.Hide(t.Context(), "jobs", got[0].Receipt, 10*time.Minute)
	require.NoError(t, err)
	require.NoError(t, s.Close())

	s = open(t, path)
	got, err = s.Queues.Receive(t.Context(), "jobs", 2, time.Minute)
	require.NoError(t, err)
	require.Len(t, got, 1, "what nobody has received yet keeps its time")
	require.Equal(t, "running", got[0].Text)
}

// TestFileOfAnotherFormat: a file of an older program, or of a newer one, is refused with what to
// do, and stays as it is.
func TestFileOfAnotherFormat(t *testing.T) {
	t.Parallel()
	for written, told := range map[string]string{
		"\x01": "format 1 was made by a version before 1.0: export it with that version (`backup`), then `restore`",
		"\x04": "format 4 was made by a version before 1.0: export it with that version (`backup`), then `restore`",
		"\x07": "format 07, this program knows 6: open it with the newer version that made it",
		"55":   "format 3535, this program knows 6: open it with the newer version that made it",
	} {
		path := filepath.Join(t.TempDir(), "data.db")
		s, err := Open(path, time.Now)
		require.NoError(t, err)
		require.NoError(t, s.db.Update(func(tx *bbolt.Tx) error {
			return tx.Bucket(metaBucket).Put(formatKey, []byte(written))
		}))
		require.NoError(t, s.Close())
		for _, refuse := range map[string]func() error{
			"open":    func() error { _, err := Open(path, time.Now); return err },
			"compact": func() error { return Compact(path, func(int) {}) },
		} {
			require.EqualError(t, refuse(), "open "+path+": "+told) // and lets the file go
		}
		db, err := bbolt.Open(path, 0o600, nil)
		require.NoError(t, err)
		require.NoError(t, db.View(func(tx *bbolt.Tx) error {
			require.Equal(t, []byte(written), tx.Bucket(metaBucket).Get(formatKey))
			return nil
		}))
		require.NoError(t, db.Close())
	}
}

// TestNamesAreLearntAtOnce has many writers bring new names: each row reads as it was written, also
// from the file opened again.
func TestNamesAreLearntAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "data.db")
	s, err := Open(path, time.Now)
	require.NoError(t, err)
	require.NoError(t, s.Tables.Create(t.Context(), "Rows"))
	propsOf := func(i int) table.Props {
		return table.Props{
			{Name: fmt.Sprint("Name", i%7), Value: table.Int32(int32(i))},
			{Name: fmt.Sprint("Other", i%5), Value: table.Bool(true)},
		}
	}
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			_, err := s.Tables.Write(t.Context(), "Rows",
				table.Op{
					Kind: table.Insert,
					Row:  table.Row{Key: table.Key{Partition: "p", Row: fmt.Sprint(i)}, Props: propsOf(i)},
				})
			assert.NoError(t, err)
		})
	}
	all.Wait()
	for range 2 {
		for i := range 50 {
			got, err := s.Tables.Get(t.Context(), "Rows", table.Key{Partition: "p", Row: fmt.Sprint(i)})
			require.NoError(t, err)
			require.True(t, got.Props.Equal(propsOf(i)), "%v", got.Props)
		}
		require.Len(t, s.names.Load().names, 12, "each once")
		require.NoError(t, s.Close())
		s, err = Open(path, time.Now)
		require.NoError(t, err)
	}
	require.NoError(t, s.Close())
}

// storedRow changes the stored form of a row without the store.
func storedRow(t *testing.T, s *Store, key table.Key, change func(value []byte) []byte) {
	t.Helper()
	require.NoError(t, s.db.Update(func(tx *bbolt.Tx) error {
		rows, err := rowsOf(tx, "T")
		if err != nil {
			return err
		}
		return rows.Put(packedKey(key), change(bytes.Clone(rows.Get(packedKey(key)))))
	}))
}

// A row in which a bit has flipped is named and not served, nor written over but by a write that
// wants nothing of it; all other rows are served.
func TestFlippedBitIsNamed(t *testing.T) {
	t.Parallel()
	s, err := Open(filepath.Join(t.TempDir(), "db"), time.Now)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	ctx := t.Context()
	require.NoError(t, s.Tables.Create(ctx, "T"))
	row := func(name string) table.Row {
		return table.Row{
			Key: table.Key{Partition: "p", Row: name},
			Props: table.Props{
				{Name: "votes", Value: table.Int64(4711)},
				{Name: "text", Value: table.String("ten cups of tea")},
			},
		}
	}
	for _, name := range []string{"a", "b", "c"} {
		_, err := s.Tables.Write(ctx, "T", table.Op{Kind: table.Insert, Row: row(name)})
		require.NoError(t, err)
	}
	b := row("b")
	was, err := s.Tables.Get(ctx, "T", b.Key)
	require.NoError(t, err)
	storedRow(t, s, b.Key, func(value []byte) []byte {
		value[len(value)-1] ^= 1 // of the text, which reads as before but for a letter
		return value
	})
	_, err = s.Tables.Get(ctx, "T", b.Key)
	require.ErrorIs(t, err, table.ErrDamaged)
	b.ETag = was.ETag
	for _, kind := range []table.Kind{table.Replace, table.Merge} {
		_, err = s.Tables.Write(ctx, "T", table.Op{Kind: kind, Row: b})
		require.ErrorIs(t, err, table.ErrDamaged)
	}
	for _, r := range []table.Range{
		{},
		{Select: []string{"votes"}},
		{FilterProps: []string{"votes"}, Filter: func(table.Props) bool { return true }},
	} {
		var served []string
		var damaged *table.DamagedError
		for row, err := range table.All(ctx, s.Tables, "T", r) {
			if err != nil {
				require.ErrorAs(t, err, &damaged)
				continue
			}
			served = append(served, row.Row)
		}
		require.Equal(t, []string{"a", "c"}, served)
		require.Equal(t, b.Key, damaged.Key)
	}
	b.ETag = ""
	_, err = s.Tables.Write(ctx, "T", table.Op{Kind: table.Upsert, Row: b})
	require.NoError(t, err)
	mended, err := s.Tables.Get(ctx, "T", b.Key)
	require.NoError(t, err)
	require.Equal(t, b.Props, mended.Props)
}

// A file of the format before has rows without checksums, which are served as they are, and get one
// when they are written.
func TestRowsWithoutSums(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "db")
	s, err := Open(path, time.Now)
	require.NoError(t, err)
	ctx := t.Context()
	require.NoError(t, s.Tables.Create(ctx, "T"))
	row := table.Row{
		Key:   table.Key{Partition: "p", Row: "a"},
		Props: table.Props{{Name: "votes", Value: table.Int64(4711)}},
	}
	_, err = s.Tables.Write(ctx, "T", table.Op{Kind: table.Insert, Row: row})
	require.NoError(t, err)
	storedRow(t, s, row.Key, func(value []byte) []byte {
		value[0] = rowVersionNoSum
		return slices.Delete(value, headerLenWithoutASum, headerLen)
	})
	require.NoError(t, s.db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket(metaBucket).Put(formatKey, []byte{sumlessFormat})
	}))
	require.NoError(t, s.Close())
	s, err = Open(path, time.Now)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	version := func() (v, f byte) {
		require.NoError(t, s.db.View(func(tx *bbolt.Tx) error {
			rows, err := rowsOf(tx, "T")
			v, f = rows.Get(packedKey(row.Key))[0], tx.Bucket(metaBucket).Get(formatKey)[0]
			return err
		}))
		return v, f
	}
	v, f := version()
	require.Equal(t, []byte{rowVersionNoSum, format}, []byte{v, f})
	got, err := s.Tables.Get(ctx, "T", row.Key)
	require.NoError(t, err)
	require.Equal(t, row.Props, got.Props)
	got.Props = table.Props{{Name: "votes", Value: table.Int64(4712)}}
	_, err = s.Tables.Write(ctx, "T", table.Op{Kind: table.Merge, Row: got})
	require.NoError(t, err)
	v, _ = version()
	require.Equal(t, byte(rowVersion), v)
	got, err = s.Tables.Get(ctx, "T", row.Key)
	require.NoError(t, err)
	require.Equal(t, int64(4712), got.Props.Get("votes").Int())
}
