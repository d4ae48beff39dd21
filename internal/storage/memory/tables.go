// Package memory keeps tables and queues in memory, for tests. It is stricter than what
// it stands in for: it checks names and tokens that the others trust, shares no memory
// with its callers, and can cut its pages short wherever the contract lets it.
package memory

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"sync"

	"github.com/google/btree"

	"prompthub/internal/storage/table"
)

// Tables are tables in memory: a table.DB.
type Tables struct {
	short *rand.Rand // cuts pages short; nil for full pages

	mu     sync.Mutex
	tables map[string]*rows
	writes uint64 // numbers the ETags, so that none comes back
}

var _ table.DB = (*Tables)(nil)

// rows are the rows of one table, in the order of their keys. A row is replaced, never changed.
type rows struct{ tree *btree.BTreeG[table.Row] }

const degree = 32 // of the tree

// NewTables returns a store without tables, which fills every page.
func NewTables() *Tables { return &Tables{tables: map[string]*rows{}} }

// NewShortPages returns a store whose pages hold fewer rows than were asked for, even
// none, as seed decides. Table Storage does so too, but seldom enough for a
// reader that does not expect it to pass its tests.
func NewShortPages(seed uint64) *Tables {
	t := NewTables()
	t.short = rand.New(rand.NewPCG(seed, 0))
	return t
}

// Clone returns a store with the same tables and rows, of which neither sees what is written to the
// other.
func (t *Tables) Clone() *Tables {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := &Tables{tables: map[string]*rows{}, writes: t.writes}
	for name, rs := range t.tables {
		c.tables[name] = &rows{rs.tree.Clone()}
	}
	return c
}

var tableName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{2,62}$`)

// Create makes the tables that do not exist yet.
func (t *Tables) Create(ctx context.Context, tables ...string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("create tables %q: %w", tables, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, name := range tables {
		if !tableName.MatchString(name) {
			return fmt.Errorf("%w: table name %q", table.ErrInvalid, name)
		}
		if t.tables[name] == nil {
			t.tables[name] = &rows{btree.NewG(degree, func(a, b table.Row) bool {
				return compareKeys(a.Key, b.Key) < 0
			})}
		}
	}
	return nil
}

// open returns a table. The caller holds the lock.
func (t *Tables) open(ctx context.Context, name string) (*rows, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if t.tables[name] == nil {
		return nil, table.NoTableError(name)
	}
	return t.tables[name], nil
}

// Get returns the row at key, or table.ErrNotFound.
func (t *Tables) Get(ctx context.Context, name string, key table.Key) (table.Row, error) {
	row, err := t.get(ctx, name, key)
	if err != nil {
		return table.Row{}, fmt.Errorf("get from %s: %w", name, err)
	}
	return row, nil
}

func (t *Tables) get(ctx context.Context, name string, key table.Key) (table.Row, error) {
	if err := table.CheckKey(key); err != nil {
		return table.Row{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	rs, err := t.open(ctx, name)
	if err != nil {
		return table.Row{}, err
	}
	row, ok := rs.get(key)
	if !ok {
		return table.Row{}, table.ErrNotFound
	}
	return copyRow(row), nil
}

// copyRow returns a row that shares nothing with row that can be changed.
func copyRow(row table.Row) table.Row {
	row.Props = slices.Clone(row.Props)
	return row
}

func compareKeys(a, b table.Key) int {
	return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Row, b.Row))
}

func (rs *rows) get(key table.Key) (table.Row, bool) { return rs.tree.Get(table.Row{Key: key}) }

func (rs *rows) put(row table.Row) { rs.tree.ReplaceOrInsert(row) }

func (rs *rows) remove(key table.Key) { rs.tree.Delete(table.Row{Key: key}) }
