package tabletest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/table"
)

const racers = 8

// race runs do in as many goroutines as there are racers and returns when all have ended.
func race(do func(i int)) {
	var wg sync.WaitGroup
	for i := range racers {
		wg.Go(func() { do(i) })
	}
	wg.Wait()
}

// testIncrements counts up one row from many goroutines, by replacing and by merging.
func testIncrements(f fixture) {
	const each = 10
	for _, kind := range []table.Kind{table.Replace, table.Merge} {
		k := key("p", kind.String())
		f.write(op(table.Insert, number(k, 0)))
		race(func(int) {
			for range each {
				if !assert.NoError(f, f.increment(kind, k)) {
					return
				}
			}
		})
		f.requireProps(k, prop("N", table.Int64(racers*each)))
	}
}

// increment adds one to the number of a row, as often as it takes.
func (f fixture) increment(kind table.Kind, k table.Key) error {
	for {
		r, err := f.Get(f.Context(), f.table, k)
		if err != nil {
			return err
		}
		n := int(r.Props.Get("N").Int()) + 1
		_, err = f.Write(f.Context(), f.table, op(kind, tagged(number(k, n), r.ETag)))
		if !errors.Is(err, table.ErrConflict) {
			return err
		}
	}
}

// testInsertRace inserts the same rows from many goroutines. A loser must find the row
// that won at once.
func testInsertRace(f fixture) {
	for round := range 10 {
		k := key("p", fmt.Sprint(round))
		var won atomic.Int64
		race(func(i int) {
			_, err := f.Write(f.Context(), f.table, op(table.Insert, number(k, i)))
			if err == nil {
				won.Add(1)
				return
			}
			assert.ErrorIs(f, err, table.ErrExists)
			_, err = f.Get(f.Context(), f.table, k)
			assert.NoError(f, err)
		})
		require.EqualValues(f, 1, won.Load())
	}
}

// testBatchRace counts up two rows in one batch under the ETag of the first, and adds a
// third that tells of it. No reader may ever see one without the other.
func testBatchRace(f fixture) {
	const each = 5
	head, copied := key("p", "!head"), key("p", "!copy")
	f.write(op(table.Insert, number(head, 0)), op(table.Insert, number(copied, 0)))
	race(func(int) {
		for range each {
			if !assert.NoError(f, f.incrementBoth(head, copied)) {
				return
			}
		}
	})
	rows := f.list(table.Range{Partition: "p"}, table.MaxPage)
	require.Len(f, rows, 2+racers*each)
	f.requireProps(head, prop("N", table.Int64(racers*each)))
	f.requireProps(copied, prop("N", table.Int64(racers*each)))
}

func (f fixture) incrementBoth(head, copied table.Key) error {
	for {
		r, err := f.Get(f.Context(), f.table, head)
		if err != nil {
			return err
		}
		n := int(r.Props.Get("N").Int()) + 1
		_, err = f.Write(f.Context(), f.table,
			op(table.Insert, number(key("p", fmt.Sprintf("%03d", n)), n)),
			op(table.Replace, tagged(number(head, n), r.ETag)),
			op(table.Upsert, number(copied, n)))
		if err == nil || !errors.Is(err, table.ErrConflict) && !errors.Is(err, table.ErrExists) {
			return err
		}
		if err := f.sameOnBoth(head.Partition); err != nil {
			return err
		}
	}
}

// sameOnBoth reads both rows in one page: they sort before the others of their partition.
func (f fixture) sameOnBoth(partition string) error {
	page, err := f.List(f.Context(), f.table, table.Range{Partition: partition, To: "0"}, 2, "")
	if err != nil || len(page.Rows) < 2 { // a short page
		return err
	}
	if a, b := page.Rows[0].Props.Get("N"), page.Rows[1].Props.Get("N"); a != b {
		return fmt.Errorf("%s is %v and %s is %v", page.Rows[0].Key, a, page.Rows[1].Key, b)
	}
	return nil
}
