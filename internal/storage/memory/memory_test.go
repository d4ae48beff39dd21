package memory_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/blob/blobtest"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/queue/queuetest"
	"prompthub/internal/storage/table"
	"prompthub/internal/storage/table/tabletest"
	"prompthub/internal/storage/transact/transacttest"
)

func TestTables(t *testing.T) {
	t.Parallel()
	tabletest.TestDB(t, func(testing.TB) table.DB { return memory.NewTables() })
}

func TestShortPages(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			tabletest.TestDB(t, func(testing.TB) table.DB { return memory.NewShortPages(seed) })
		})
	}
}

func TestQueues(t *testing.T) {
	t.Parallel()
	queuetest.TestQueues(t, func(testing.TB) queue.Queues { return memory.NewQueues(time.Now) })
}

func TestTransactions(t *testing.T) {
	t.Parallel()
	transacttest.TestTransact(t, func(testing.TB) transacttest.Storage {
		tables, queues := memory.NewTables(), memory.NewQueues(time.Now)
		return transacttest.Storage{Tables: tables, Queues: queues, Transact: memory.Together(tables, queues)}
	})
}

func TestPrefixedQueues(t *testing.T) {
	t.Parallel()
	queuetest.TestQueues(t, func(testing.TB) queue.Queues { return queue.Prefixed(memory.NewQueues(time.Now), "one-") })
	all := memory.NewQueues(time.Now)
	one, two := queue.Prefixed(all, "one-"), queue.Prefixed(all, "two-")
	require.NoError(t, one.Create(t.Context(), "jobs"))
	require.NoError(t, two.Create(t.Context(), "jobs"))
	_, err := one.Send(t.Context(), "jobs", "text", 0)
	require.NoError(t, err)
	for _, q := range []struct {
		queue.Queues
		name string
		want int
	}{{one, "jobs", 1}, {two, "jobs", 0}, {all, "one-jobs", 1}} {
		n, err := q.Len(t.Context(), q.name)
		require.NoError(t, err)
		require.Equal(t, q.want, n, q.name)
	}
}

func upsert(row string, props ...table.Prop) table.Op {
	return table.Op{Kind: table.Upsert, Row: table.Row{Key: table.Key{Partition: "p", Row: row}, Props: props}}
}

// store returns tables with one that holds ten rows.
func store(t *testing.T, db *memory.Tables) *memory.Tables {
	t.Helper()
	require.NoError(t, db.Create(t.Context(), "Rows"))
	for i := range 10 {
		_, err := db.Write(t.Context(), "Rows",
			upsert(fmt.Sprint(i), table.Prop{Name: "N", Value: table.Int64(int64(i))}))
		require.NoError(t, err)
	}
	return db
}

// A reader that is tested against short pages meets every kind there is.
func TestShortPagesAreShort(t *testing.T) {
	t.Parallel()
	db := store(t, memory.NewShortPages(1))
	var empty, short, full, emptyEnd int
	for range 50 {
		for next, started := "", false; next != "" || !started; started = true {
			page, err := db.List(t.Context(), "Rows", table.Range{Partition: "p"}, 3, next)
			require.NoError(t, err)
			next = page.Next
			switch {
			case len(page.Rows) == 0 && next == "":
				emptyEnd++
			case len(page.Rows) == 0:
				empty++
			case len(page.Rows) < 3:
				short++
			default:
				full++
			}
		}
	}
	for _, n := range []int{empty, short, full, emptyEnd} {
		require.Positive(t, n)
	}
}

func TestTokenOfAnotherRange(t *testing.T) {
	t.Parallel()
	db := store(t, memory.NewTables())
	r := table.Range{Partition: "p"}
	page, err := db.List(t.Context(), "Rows", r, 3, "")
	require.NoError(t, err)
	_, err = db.List(t.Context(), "Rows", r, 5, page.Next)
	require.NoError(t, err)
	_, err = db.List(t.Context(), "Rows", table.Range{Partition: "p", To: "9"}, 3, page.Next)
	require.ErrorIs(t, err, table.ErrInvalid)
	_, err = db.List(t.Context(), "Rows", r, 3, "made up")
	require.ErrorIs(t, err, table.ErrInvalid)
}

func TestNames(t *testing.T) {
	t.Parallel()
	db, queues := memory.NewTables(), memory.NewQueues(time.Now)
	for _, name := range []string{"", "ab", "1ab", "a-b", "a_b"} {
		require.ErrorIs(t, db.Create(t.Context(), name), table.ErrInvalid, name)
	}
	for _, name := range []string{"", "ab", "Abc", "a--b", "-ab", "ab-", "a_b"} {
		require.ErrorIs(t, queues.Create(t.Context(), name), queue.ErrInvalid, name)
	}
}

func TestMergeKeepsRowWithinLimits(t *testing.T) {
	t.Parallel()
	db := store(t, memory.NewTables())
	op := upsert("0")
	op.Kind, op.Row.ETag = table.Merge, table.Any
	for i := range table.MaxProps {
		op.Row.Props = append(op.Row.Props, table.Prop{Name: fmt.Sprint("P", i), Value: table.Bool(true)})
	}
	_, err := db.Write(t.Context(), "Rows", op)
	require.ErrorIs(t, err, table.ErrInvalid)
	op.Row.Props[0].Name = "N"
	_, err = db.Write(t.Context(), "Rows", op)
	require.NoError(t, err)
}

func TestQueuesFollowTheClock(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	q := memory.NewQueues(func() time.Time { return now })
	require.NoError(t, q.Create(t.Context(), "jobs"))
	receive := func() []queue.Message {
		t.Helper()
		got, err := q.Receive(t.Context(), "jobs", 1, time.Minute)
		require.NoError(t, err)
		return got
	}
	_, err := q.Send(t.Context(), "jobs", "text", 90*time.Second)
	require.NoError(t, err)
	now = now.Add(90*time.Second - 1)
	require.Empty(t, receive())
	now = now.Add(1)
	first := receive()
	require.Len(t, first, 1)
	require.Equal(t, now.Add(-90*time.Second), first[0].Inserted)
	now = now.Add(time.Minute - 1)
	require.Empty(t, receive())
	now = now.Add(1)
	require.NoError(t, q.Delete(t.Context(), "jobs", first[0].Receipt), "nobody else has received it")
}

func TestClone(t *testing.T) {
	t.Parallel()
	ctx, key := t.Context(), table.Key{Partition: "p", Row: "r"}
	insert := func(db table.DB, row string) {
		_, err := db.Write(ctx, "Rows",
			table.Op{Kind: table.Insert, Row: table.Row{Key: table.Key{Partition: "p", Row: row}}})
		require.NoError(t, err)
	}
	one := memory.NewTables()
	require.NoError(t, one.Create(ctx, "Rows"))
	insert(one, "r")
	two := one.Clone()
	was, err := one.Get(ctx, "Rows", key)
	require.NoError(t, err)
	got, err := two.Get(ctx, "Rows", key)
	require.NoError(t, err)
	require.Equal(t, was, got)

	insert(one, "of one")
	insert(two, "of two")
	_, err = two.Write(ctx, "Rows", table.Op{Kind: table.Delete, Row: table.Row{Key: key, ETag: got.ETag}})
	require.NoError(t, err)
	_, err = one.Get(ctx, "Rows", key)
	require.NoError(t, err, "deleted from the other")
	for db, row := range map[*memory.Tables]string{one: "of two", two: "of one"} {
		_, err := db.Get(ctx, "Rows", table.Key{Partition: "p", Row: row})
		require.ErrorIs(t, err, table.ErrNotFound)
	}
}

func TestBlobs(t *testing.T) {
	t.Parallel()
	blobtest.TestStore(t, func(testing.TB) blob.Store { return memory.NewBlobs(time.Now) })
}
