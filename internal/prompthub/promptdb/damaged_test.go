package promptdb_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// damaged is a store with a row that cannot be read, until it is written.
type damaged struct {
	table.DB
	name   string
	key    table.Key
	healed atomic.Bool
}

func (d *damaged) hits(name string, key table.Key) bool {
	return !d.healed.Load() && name == d.name && key == d.key
}

func (d *damaged) Get(ctx context.Context, name string, key table.Key) (table.Row, error) {
	if d.hits(name, key) {
		return table.Row{}, fmt.Errorf("get from %s: %w", name, table.ErrDamaged)
	}
	return d.DB.Get(ctx, name, key)
}

func (d *damaged) List(ctx context.Context, name string, r table.Range, limit int, next string) (table.Page, error) {
	page, err := d.DB.List(ctx, name, r, limit, next)
	switch at := slices.IndexFunc(page.Rows, func(row table.Row) bool { return d.hits(name, row.Key) }); {
	case at < 0:
		return page, err
	case at == 0:
		page, err = d.DB.List(ctx, name, r, 1, next)
		if err != nil {
			return page, err
		}
		return table.Page{}, fmt.Errorf("list %s: %w", name, &table.DamagedError{Key: d.key, Next: page.Next})
	default:
		return d.DB.List(ctx, name, r, at, next)
	}
}

func (d *damaged) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	etags, err := d.DB.Write(ctx, name, ops...)
	if err == nil && slices.ContainsFunc(ops, func(op table.Op) bool { return d.hits(name, op.Row.Key) }) {
		d.healed.Store(true)
	}
	return etags, err
}

// TestDamagedRowStopsNothing damages one row after the other. Verify, backup and reindex name it
// and go on to their end, and no votes go with --remove-orphans.
func TestDamagedRowStopsNothing(t *testing.T) {
	t.Parallel()
	whole := memory.NewTables()
	w := newWorldOn(t, whole)
	mixed(w)
	w.clock.Advance(2 * time.Hour)
	tables := promptdb.DefaultTables()
	votes := rowsOf(t, whole, tables.Votes)
	backedUp := []string{
		tables.Prompts, tables.Votes, tables.Users, tables.AccessTokens,
		tables.Favorites, tables.TagCatalog,
	}
	n, every := 0, 5
	if testing.Short() {
		every = 61
	}
	for _, name := range tables.All() {
		for _, row := range rowsOf(t, whole, name) {
			if n++; n%every != 0 || name == tables.SystemState {
				continue
			}
			store := &damaged{DB: whole.Clone(), name: name, key: row.Key}
			db := w.over(store)
			at := name + ": " + row.Key.String() + ": is damaged"
			var reported []string
			report := func(d promptdb.Difference) { reported = append(reported, d.String()) }
			names := func() bool {
				defer func() { reported = nil }()
				return slices.ContainsFunc(reported, func(s string) bool { return strings.HasPrefix(s, at) })
			}

			if name != tables.TagCatalog {
				_, err := db.Verify(t.Context(), report, func(int) {})
				require.NoError(t, err, at)
				require.True(t, names(), "verify: %s", at)
			}
			var out bytes.Buffer
			_, err := db.Backup(t.Context(), &out, report, func(int) {})
			require.NoError(t, err, at)
			require.Equal(t, slices.Contains(backedUp, name), names(), "backup: %s", at)
			err = restore(t.Context(), newWorldOn(t, memory.NewTables()).DB, &out)
			require.NoError(t, err, at)

			_, err = db.Reindex(t.Context(), true, report, func(int) {})
			require.NoError(t, err, at)
			require.True(t, names() || store.healed.Load() || name == tables.TagCatalog, "reindex: %s", at)
			require.Len(t, rowsOf(t, store.DB, tables.Votes), len(votes), at)
		}
	}
}

func rowsOf(t *testing.T, store table.DB, name string) (rows []table.Row) {
	t.Helper()
	for row, err := range table.All(t.Context(), store, name, table.Range{}) {
		require.NoError(t, err)
		rows = append(rows, row)
	}
	return rows
}

// TestVotesOfADamagedPromptStay: votes that nothing leads to may be those of a prompt whose row is
// damaged.
func TestVotesOfADamagedPromptStay(t *testing.T) {
	w := newWorldOn(t, memory.NewTables())
	p := w.add("ann", draft("one", "text"))
	w.vote("bob", p.ID, prompt.Like)
	w.run()
	w.clock.Advance(2 * time.Hour)
	locator := table.Key{Partition: "p|" + string(p.ID), Row: "!prompt"}
	w.must("PromptVotes", table.Op{Kind: table.Delete, Row: table.Row{Key: locator, ETag: table.Any}})
	votes := rowsOf(t, w.store, "PromptVotes")
	require.NotEmpty(t, votes)
	db := w.over(&damaged{DB: w.store, name: "Prompts", key: table.Key{Partition: "u|ann", Row: string(p.ID)}})
	_, err := db.Reindex(t.Context(), true, func(promptdb.Difference) {}, func(int) {})
	require.NoError(t, err)
	require.Equal(t, votes, rowsOf(t, w.store, "PromptVotes"))
}

// TestDamagedRowIsNoOutage: to try again is of no use.
func TestDamagedRowIsNoOutage(t *testing.T) {
	w := newWorld(t)
	p := w.add("ann", draft("one", "text"))
	w.run()
	db := w.over(&damaged{DB: w.store, name: "Prompts", key: table.Key{Partition: "u|ann", Row: string(p.ID)}})
	_, err := db.Get(t.Context(), "ann", p.ID)
	require.Equal(t, fault.Internal, fault.Of(err))
	require.ErrorContains(t, err, "damaged")
	require.NotContains(t, err.Error(), "try again")
}
