// Package transacttest holds the tests that every storage passes whose tables and queues change
// together.
package transacttest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
	"prompthub/internal/storage/transact"
)

// A Storage is what the suite runs against. It is empty.
type Storage struct {
	Tables   table.DB
	Queues   queue.Queues
	Transact transact.Func
}

// TestTransact runs the suite, each test against a storage of its own.
func TestTransact(t *testing.T, open func(testing.TB) Storage) {
	for name, run := range map[string]func(fixture){
		"all of it":                    testAll,
		"nothing of it":                testNothing,
		"invalid transactions":         testInvalid,
		"rows that are there, and not": testPutAndDrop,
		"delays":                       testDelay,
		"cancelled context":            testCancelled,
		"memory is not shared":         testCopies,
		"races":                        testRaces,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := fixture{t, open(t)}
			require.NoError(t, f.Tables.Create(t.Context(), "First", "Second"))
			require.NoError(t, f.Queues.Create(t.Context(), "jobs"))
			run(f)
		})
	}
}

type fixture struct {
	*testing.T
	Storage
}

func key(partition, row string) table.Key { return table.Key{Partition: partition, Row: row} }

// number returns a row that holds n.
func number(k table.Key, n int64) table.Row {
	return table.Row{Key: k, Props: table.Props{{Name: "N", Value: table.Int64(n)}}}
}

func insert(r table.Row) table.Op { return table.Op{Kind: table.Insert, Row: r} }

func (f fixture) insert(name string, r table.Row) (etag string) {
	f.Helper()
	etags, err := f.Tables.Write(f.Context(), name, insert(r))
	require.NoError(f, err)
	return etags[0]
}

// get returns the number of a row and its ETag; the ETag of one that is not there is empty.
func (f fixture) get(name string, k table.Key) (n int64, etag string) {
	f.Helper()
	row, err := f.Tables.Get(f.Context(), name, k)
	if errors.Is(err, table.ErrNotFound) {
		return 0, ""
	}
	require.NoError(f, err)
	return row.Props.Get("N").Int(), row.ETag
}

// messages returns the texts that can be received.
func (f fixture) messages() []string {
	f.Helper()
	ms, err := f.Queues.Receive(f.Context(), "jobs", queue.MaxReceive, time.Hour)
	require.NoError(f, err)
	var texts []string
	for _, m := range ms {
		texts = append(texts, m.Text)
	}
	return texts
}

// whole is a transaction that has all there is.
func (f fixture) whole(etag string) transact.Transaction {
	return transact.Transaction{
		Table: "First",
		Ops: []table.Op{
			insert(number(key("p", "new"), 1)),
			{Kind: table.Replace, Row: table.Row{
				Key: key("p", "old"), ETag: etag,
				Props: number(key("p", "old"), 2).Props,
			}},
		},
		More: []transact.Op{
			{Table: "Second", Op: insert(number(key("t", "more"), 5))},
			{Table: "First", Op: table.Op{
				Kind: table.Merge,
				Row: table.Row{
					Key: key("u", "merged"), ETag: table.Any,
					Props: table.Props{{Name: "M", Value: table.Int64(6)}},
				},
			}},
		},
		Put: []transact.Row{
			{Table: "First", Row: number(key("q", "put"), 3)},
			{Table: "Second", Row: number(key("r", "put"), 4)},
		},
		Drop:     []transact.Key{{Table: "Second", Key: key("s", "drop")}},
		Messages: []transact.Message{{Queue: "jobs", Text: "one"}, {Queue: "jobs", Text: "two"}},
	}
}

// furnish makes the rows that whole is about.
func (f fixture) furnish() (etag string) {
	f.Helper()
	f.insert("Second", number(key("s", "drop"), 9))
	f.insert("First", number(key("u", "merged"), 9))
	return f.insert("First", number(key("p", "old"), 9))
}

// unchanged requires that nothing of whole was done.
func (f fixture) unchanged(etag string) {
	f.Helper()
	for _, k := range []table.Key{key("p", "new"), key("q", "put")} {
		_, is := f.get("First", k)
		require.Empty(f, is, k)
	}
	_, is := f.get("First", key("p", "old"))
	require.Equal(f, etag, is)
	for _, k := range []table.Key{key("r", "put"), key("t", "more")} {
		_, is = f.get("Second", k)
		require.Empty(f, is, k)
	}
	row, err := f.Tables.Get(f.Context(), "First", key("u", "merged"))
	require.NoError(f, err)
	require.Len(f, row.Props, 1)
	n, _ := f.get("Second", key("s", "drop"))
	require.EqualValues(f, 9, n)
	require.Empty(f, f.messages())
}

func testAll(f fixture) {
	etags, err := f.Transact(f.Context(), f.whole(f.furnish()))
	require.NoError(f, err)
	require.Len(f, etags, 2)
	n, etag := f.get("First", key("p", "new"))
	require.EqualValues(f, 1, n)
	require.Equal(f, etags[0], etag)
	n, etag = f.get("First", key("p", "old"))
	require.EqualValues(f, 2, n)
	require.Equal(f, etags[1], etag)
	n, etag = f.get("Second", key("t", "more"))
	require.EqualValues(f, 5, n)
	require.NotContains(f, etags, etag)
	row, err := f.Tables.Get(f.Context(), "First", key("u", "merged"))
	require.NoError(f, err)
	require.EqualValues(f, 6, row.Props.Get("M").Int())
	require.EqualValues(f, 9, row.Props.Get("N").Int(), "the others stay")
	n, etag = f.get("First", key("q", "put"))
	require.EqualValues(f, 3, n)
	require.NotContains(f, etags, etag)
	n, _ = f.get("Second", key("r", "put"))
	require.EqualValues(f, 4, n)
	_, etag = f.get("Second", key("s", "drop"))
	require.Empty(f, etag)
	require.ElementsMatch(f, []string{"one", "two"}, f.messages())
}

func testNothing(f fixture) {
	etag := f.furnish()
	for _, c := range []struct {
		spoil func(*transact.Transaction)
		want  error
		at    *table.OpError
	}{
		{
			func(t *transact.Transaction) { t.Ops[1].Row.ETag = "another" }, table.ErrConflict,
			&table.OpError{Index: 1, Key: key("p", "old"), Err: table.ErrConflict},
		},
		{
			func(t *transact.Transaction) { t.Ops[0].Row.Key = key("p", "old"); t.Ops = t.Ops[:1] }, table.ErrExists,
			&table.OpError{Index: 0, Key: key("p", "old"), Err: table.ErrExists},
		},
		{func(t *transact.Transaction) {
			t.Ops[1] = table.Op{Kind: table.Delete, Row: table.Row{Key: key("p", "none"), ETag: table.Any}}
		}, table.ErrNotFound, &table.OpError{Index: 1, Key: key("p", "none"), Err: table.ErrNotFound}},
		{
			func(t *transact.Transaction) { t.More[0].Row.Key = key("s", "drop"); t.Drop = nil }, table.ErrExists,
			&table.OpError{Index: 2, Key: key("s", "drop"), Err: table.ErrExists},
		},
		{
			func(t *transact.Transaction) { t.More[1].Row.Key = key("u", "none") }, table.ErrNotFound,
			&table.OpError{Index: 3, Key: key("u", "none"), Err: table.ErrNotFound},
		},
		{
			func(t *transact.Transaction) { t.More[1].Row.ETag = "another" }, table.ErrConflict,
			&table.OpError{Index: 3, Key: key("u", "merged"), Err: table.ErrConflict},
		},
		{func(t *transact.Transaction) { t.More[0].Table = "Missing" }, table.NoTableError("Missing"), nil},
		{func(t *transact.Transaction) { t.Table = "Missing" }, table.NoTableError("Missing"), nil},
		{func(t *transact.Transaction) { t.Put[1].Table = "Missing" }, table.NoTableError("Missing"), nil},
		{func(t *transact.Transaction) { t.Drop[0].Table = "Missing" }, table.NoTableError("Missing"), nil},
		{func(t *transact.Transaction) { t.Messages[1].Queue = "missing" }, queue.ErrNoQueue, nil},
	} {
		t := f.whole(etag)
		c.spoil(&t)
		etags, err := f.Transact(f.Context(), t)
		require.ErrorIs(f, err, c.want)
		require.Empty(f, etags)
		var at *table.OpError
		require.Equal(f, c.at != nil, errors.As(err, &at))
		require.Equal(f, c.at, at)
		require.NotContains(f, err.Error(), "old", "keys hold what nobody may read in a log")
		f.unchanged(etag)
	}
}

func testInvalid(f fixture) {
	etag := f.furnish()
	for _, c := range []struct {
		spoil func(*transact.Transaction)
		want  error
	}{
		{func(t *transact.Transaction) { t.Ops = nil }, table.ErrInvalid},
		{func(t *transact.Transaction) { t.Ops[1].Row.Partition = "another" }, table.ErrInvalid},
		{func(t *transact.Transaction) { t.Put[0].Partition = "" }, table.ErrInvalid},
		{func(t *transact.Transaction) { t.More[0].Row.Partition = "" }, table.ErrInvalid},
		{func(t *transact.Transaction) { t.More[0] = transact.Op{Table: t.Table, Op: t.Ops[0]} }, table.ErrInvalid},
		{
			func(t *transact.Transaction) { t.Put[1] = transact.Row{Table: "Second", Row: t.More[0].Row} },
			table.ErrInvalid,
		},
		{func(t *transact.Transaction) {
			t.Put[1].Props = table.Props{{Name: "no name", Value: table.Bool(true)}}
		}, table.ErrInvalid},
		{func(t *transact.Transaction) { t.Drop[0].Key.Row = "a/b" }, table.ErrInvalid},
		{func(t *transact.Transaction) {
			t.Put = append(t.Put, transact.Row{Table: "First", Row: number(key("p", "old"), 3)})
		}, table.ErrInvalid},
		{func(t *transact.Transaction) { t.Put = append(t.Put, t.Put[0]) }, table.ErrInvalid},
		{func(t *transact.Transaction) { t.Drop = append(t.Drop, t.Drop[0]) }, table.ErrInvalid},
		{func(t *transact.Transaction) {
			t.Drop = append(t.Drop, transact.Key{Table: t.Put[1].Table, Key: t.Put[1].Key})
		}, table.ErrInvalid},
		{func(t *transact.Transaction) { t.Messages[0].Text = strings.Repeat("x", queue.MaxText+1) }, queue.ErrInvalid},
		{func(t *transact.Transaction) { t.Messages[0].Delay = -1 }, queue.ErrInvalid},
	} {
		t := f.whole(etag)
		c.spoil(&t)
		_, err := f.Transact(f.Context(), t)
		require.ErrorIs(f, err, c.want)
		f.unchanged(etag)
	}
}

func testPutAndDrop(f fixture) {
	there, gone := key("p", "there"), key("p", "gone")
	f.insert("Second", table.Row{Key: there, Props: table.Props{{Name: "Other", Value: table.Bool(true)}}})
	do := func(t transact.Transaction) {
		f.Helper()
		t.Table, t.Ops = "First", []table.Op{{Kind: table.Upsert, Row: number(key("p", "r"), 1)}}
		_, err := f.Transact(f.Context(), t)
		require.NoError(f, err)
	}
	put := number(there, 5)
	put.ETag = "of a row that was read before"
	do(transact.Transaction{
		Put:  []transact.Row{{Table: "Second", Row: put}},
		Drop: []transact.Key{{Table: "Second", Key: gone}},
	})
	row, err := f.Tables.Get(f.Context(), "Second", there)
	require.NoError(f, err)
	require.True(f, row.Props.Equal(put.Props), "it takes the place of the other: %v", row.Props)
	require.NotEqual(f, put.ETag, row.ETag)
	do(transact.Transaction{Drop: []transact.Key{{Table: "Second", Key: there}}})
	_, etag := f.get("Second", there)
	require.Empty(f, etag)
	do(transact.Transaction{})
}

func testDelay(f fixture) {
	t := f.whole(f.furnish())
	t.Messages[1].Delay = time.Hour
	_, err := f.Transact(f.Context(), t)
	require.NoError(f, err)
	require.Equal(f, []string{"one"}, f.messages())
	n, err := f.Queues.Len(f.Context(), "jobs")
	require.NoError(f, err)
	require.Equal(f, 2, n)
}

func testCancelled(f fixture) {
	etag := f.furnish()
	ctx, cancel := context.WithCancel(f.Context())
	cancel()
	_, err := f.Transact(ctx, f.whole(etag))
	require.ErrorIs(f, err, context.Canceled)
	f.unchanged(etag)
}

// testCopies changes what it has handed over.
func testCopies(f fixture) {
	t := f.whole(f.furnish())
	_, err := f.Transact(f.Context(), t)
	require.NoError(f, err)
	t.Ops[0].Row.Props[0].Value, t.More[0].Row.Props[0].Value, t.Put[0].Props[0].Value = table.Int64(99),
		table.Int64(99), table.Int64(99)
	n, _ := f.get("First", key("p", "new"))
	require.EqualValues(f, 1, n)
	n, _ = f.get("Second", key("t", "more"))
	require.EqualValues(f, 5, n)
	n, _ = f.get("First", key("q", "put"))
	require.EqualValues(f, 3, n)
}

// testRaces counts a number up from many sides, with a copy of it in another table and a message
// for each. A reader of the one after the other finds the second no older.
func testRaces(f fixture) {
	const callers, each = 4, 25
	count, copied := key("p", "count"), key("q", "copy")
	f.insert("First", number(count, 0))
	f.insert("Second", number(copied, 0))
	stop := make(chan struct{})
	var reader, writers sync.WaitGroup
	reader.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			c1, _ := f.get("Second", copied)
			n, _ := f.get("First", count)
			c2, _ := f.get("Second", copied)
			if c1 > n || n > c2 {
				f.Errorf("the copy is %d, then the number %d, then the copy %d", c1, n, c2)
				return
			}
		}
	})
	for range callers {
		writers.Go(func() {
			for done := 0; done < each; {
				n, etag := f.get("First", count)
				row := number(count, n+1)
				row.ETag = etag
				_, err := f.Transact(f.Context(), transact.Transaction{
					Table: "First", Ops: []table.Op{{Kind: table.Replace, Row: row}},
					Put:      []transact.Row{{Table: "Second", Row: number(copied, n+1)}},
					Messages: []transact.Message{{Queue: "jobs", Text: "counted"}},
				})
				switch {
				case err == nil:
					done++
				case !errors.Is(err, table.ErrConflict):
					f.Error(err)
					return
				}
			}
		})
	}
	writers.Wait()
	close(stop)
	reader.Wait()
	n, _ := f.get("First", count)
	require.EqualValues(f, callers*each, n)
	n, _ = f.get("Second", copied)
	require.EqualValues(f, callers*each, n)
	sent, err := f.Queues.Len(f.Context(), "jobs")
	require.NoError(f, err)
	require.Equal(f, callers*each, sent)
}
