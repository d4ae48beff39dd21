package rowstore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/calls"
	"prompthub/internal/testing/repeatable"
)

// TestChange: all of many changes of one row at once are in it, and a change whose answer was lost
// is made once.
func TestChange(t *testing.T) {
	t.Parallel()
	tables := memory.NewTables()
	require.NoError(t, tables.Create(t.Context(), "Rows"))
	lost := &losesAnswers{DB: tables}
	db := &rowstore.Store{
		DB: lost, Now: time.Now, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		Random: func(time.Duration) time.Duration { return 0 },
	}
	key := table.Key{Partition: "p", Row: "r"}
	add := func(id string) error {
		return db.Change(t.Context(), "Rows", func(ctx context.Context) ([]table.Op, error) {
			row, err := db.GetRow(ctx, "Rows", key)
			if err != nil {
				return nil, err
			}
			if row == nil {
				row = &table.Row{Key: key}
			}
			if row.Props.Get(id).Bool() {
				return nil, nil
			}
			row.Props = append(row.Props, table.Prop{Name: id, Value: table.Bool(true)})
			return []table.Op{rowstore.Put(*row)}, nil
		})
	}
	names := []string{"a", "b", "c", "d", "e"}
	var wg sync.WaitGroup
	for _, name := range names {
		wg.Go(func() { require.NoError(t, add(name)) })
	}
	wg.Wait()
	row, err := db.GetRow(t.Context(), "Rows", key)
	require.NoError(t, err)
	require.Len(t, row.Props, len(names))

	lost.loses = 1
	require.NoError(t, add("f"))
	row, err = db.GetRow(t.Context(), "Rows", key)
	require.NoError(t, err)
	require.Len(t, row.Props, len(names)+1)
	lost.loses = rowstore.MaxTries + 1
	err = db.Change(t.Context(), "Rows", func(context.Context) ([]table.Op, error) {
		return []table.Op{{Kind: table.Upsert, Row: table.Row{Key: key}}}, nil
	})
	require.Equal(t, fault.Unavailable, fault.Of(err))
	require.Zero(t, lost.loses, "it gives up")
}

// TestRewrite: a change of a row is made of the newest one, and no row comes back.
func TestRewrite(t *testing.T) {
	t.Parallel()
	tables := memory.NewTables()
	require.NoError(t, tables.Create(t.Context(), "Rows"))
	lost := &losesAnswers{DB: tables}
	db := &rowstore.Store{
		DB: lost, Now: time.Now, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		Random: func(time.Duration) time.Duration { return 0 },
	}
	key := table.Key{Partition: "p", Row: "r"}
	read := func(ctx context.Context) (*table.Row, error) { return db.GetRow(ctx, "Rows", key) }
	gone := errors.New("gone")
	add := func(was table.Row, name string) (table.Row, error) {
		return rowstore.Rewrite(t.Context(), db, "Rows", was, func(row *table.Row) (table.Row, error) {
			if !row.Props.Get(name).Bool() {
				row.Props = append(slices.Clone(row.Props), table.Prop{Name: name, Value: table.Bool(true)})
			}
			return *row, nil
		}, read, func() error { return gone })
	}
	require.NoError(t, db.Upsert(t.Context(), "Rows", table.Row{Key: key}))
	first, err := read(t.Context())
	require.NoError(t, err)
	_, err = add(*first, "a")
	require.NoError(t, err)
	lost.loses = 1
	last, err := add(*first, "b")
	require.NoError(t, err)
	require.True(t, last.Props.Get("a").Bool() && last.Props.Get("b").Bool())
	refused := errors.New("refused")
	_, err = rowstore.Rewrite(t.Context(), db, "Rows", last, func(*table.Row) (table.Row, error) {
		return table.Row{}, refused
	}, read, nil)
	require.ErrorIs(t, err, refused)
	require.NoError(t, db.RemoveKey(t.Context(), "Rows", key))
	_, err = add(last, "c")
	require.ErrorIs(t, err, gone)
	now, err := read(t.Context())
	require.NoError(t, err)
	require.Nil(t, now)
}

// losesAnswers loses the answers of the next writes, which land.
type losesAnswers struct {
	table.DB
	loses int
}

func (l *losesAnswers) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	etags, err := l.DB.Write(ctx, name, ops...)
	if l.loses > 0 {
		l.loses--
		return nil, errors.New("no answer in time")
	}
	return etags, err
}

// TestEmpty: all rows of a partition go but one, also with a writer that takes some away at the
// same time, and no row of another partition does.
func TestEmpty(t *testing.T) {
	t.Parallel()
	tables := memory.NewTables()
	require.NoError(t, tables.Create(t.Context(), "Rows"))
	lost := &losesAnswers{DB: tables}
	db := &rowstore.Store{DB: lost, Now: time.Now}
	for i := range 2*table.MaxBatch + 10 {
		for _, partition := range []string{"p", "q"} {
			require.NoError(t, db.Upsert(t.Context(), "Rows",
				table.Row{Key: table.Key{Partition: partition, Row: fmt.Sprintf("%03d", i)}}))
		}
	}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() { require.NoError(t, db.Empty(t.Context(), "Rows", "p", "105")) })
	}
	wg.Wait()
	left := map[string]int{}
	for row, err := range table.All(t.Context(), tables, "Rows", table.Range{}) {
		require.NoError(t, err)
		left[row.Partition]++
	}
	require.Equal(t, map[string]int{"p": 1, "q": 2*table.MaxBatch + 10}, left)
	row, err := db.GetRow(t.Context(), "Rows", table.Key{Partition: "p", Row: "105"})
	require.NoError(t, err)
	require.NotNil(t, row)

	lost.loses = 1
	require.NoError(t, db.Upsert(t.Context(), "Rows", table.Row{Key: row.Key}),
		"one whose answer was lost is written again")
	lost.loses = 1
	require.Error(t, db.Empty(t.Context(), "Rows", "q", ""))
	require.NoError(t, db.Empty(t.Context(), "Rows", "q", ""), "run again")
}

// TestNoLateWrites: a change whose time is over begins no other write, and the loop ends at once.
// An earlier end stays.
func TestNoLateWrites(t *testing.T) {
	t.Parallel()
	tables := memory.NewTables()
	require.NoError(t, tables.Create(t.Context(), "Rows"))
	silence := &calls.Silence{Table: "Rows"}
	clock := repeatable.NewClock(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))
	began, tries := clock.Now(), 0
	silence.Pass = func(d time.Duration) { tries++; clock.Pass(d) }
	db := &rowstore.Store{
		DB: silence.Over(tables), Now: clock.Now, Sleep: func(ctx context.Context, _ time.Duration) error {
			return ctx.Err()
		},
		Random: func(time.Duration) time.Duration { return 0 },
	}
	ctx := rowstore.WriteBefore(rowstore.WriteBefore(t.Context(), began.Add(10*time.Second)), began.Add(time.Hour))
	row := table.Row{Key: table.Key{Partition: "p", Row: "r"}}
	reads := 0
	err := db.Change(ctx, "Rows", func(context.Context) ([]table.Op, error) {
		reads++
		return []table.Op{rowstore.Put(row)}, nil
	})
	require.ErrorIs(t, err, rowstore.ErrTooLate)
	require.Equal(t, 3, reads)
	require.Equal(t, fault.Unavailable, fault.Of(err))
	require.Equal(t, 2, tries, "at 0 and 5 seconds; the third would begin at 10")
}
