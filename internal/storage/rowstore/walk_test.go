package rowstore_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// TestWalk walks a list of a thousand rows, every third of which is also in another list, and holds
// how many rows it reads for what it finds.
func TestWalk(t *testing.T) {
	t.Parallel()
	store := &rowstore.Store{DB: memory.NewTables(), Now: time.Now}
	require.NoError(t, store.DB.Create(t.Context(), "Index"))
	put := func(partition string, n int) {
		row := table.Row{
			Key:   table.Key{Partition: partition, Row: fmt.Sprintf("%04d", n)},
			Props: table.Props{{Name: "N", Value: table.Int64(int64(n))}},
		}
		_, err := store.DB.Write(t.Context(), "Index", table.Op{Kind: table.Insert, Row: row})
		require.NoError(t, err)
	}
	for n := range 1000 {
		put("dense", n)
		if n%3 == 0 {
			put("sparse", n)
		}
	}
	walk := func(keeps func(n int64) bool, partitions ...string) *rowstore.Walk {
		w := &rowstore.Walk{Budget: store.Budget(), Size: 20, Sample: 20, Decide: func() rowstore.Decide {
			return func(p table.Props) (bool, bool) {
				n := p.Get("N").Int()
				return n%3 == 0, n%3 == 0 && keeps(n)
			}
		}}
		for _, p := range partitions {
			w.Lists = append(w.Lists, rowstore.List{Table: "Index", Partition: p})
		}
		return w
	}
	all := func(int64) bool { return true }

	w := walk(all, "sparse")
	rows, done, err := w.Run(t.Context(), 5)
	require.NoError(t, err)
	require.False(t, done)
	require.Len(t, rows, 5)
	require.Equal(t, "0012", w.At)
	require.Equal(t, rowstore.MaxScan-5, w.Budget.Left, "no row behind those that are wanted")

	w = walk(all, "dense", "sparse")
	rows, done, err = w.Run(t.Context(), 334)
	require.NoError(t, err)
	require.True(t, done || w.At == "0999")
	require.Len(t, rows, 334)
	require.Less(t, rowstore.MaxScan-w.Budget.Left, 500, "the sparse list is followed")

	w = walk(func(n int64) bool { return n < 3 }, "sparse")
	rows, _, err = w.Run(t.Context(), 100)
	require.NoError(t, err)
	require.Len(t, rows, 1, "of the rows that are found one is kept")
	require.LessOrEqual(t, "0297", w.At, "but a hundred are found")
	require.Less(t, w.At, "0900")
}
