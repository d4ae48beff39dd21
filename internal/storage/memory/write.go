package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"prompthub/internal/storage/table"
)

// Write applies operations on one partition, all or none.
func (t *Tables) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	etags, err := t.write(ctx, name, ops)
	if err != nil {
		return nil, fmt.Errorf("write to %s: %w", name, err)
	}
	return etags, nil
}

func (t *Tables) write(ctx context.Context, name string, ops []table.Op) ([]string, error) {
	if err := table.Check(ops); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	rs, err := t.open(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := rs.checkAll(ops); err != nil {
		return nil, err
	}
	return t.apply(rs, ops), nil
}

// checkAll returns why operations cannot be applied. All rows differ, so they can be judged one by
// one.
func (rs *rows) checkAll(ops []table.Op) error {
	for i, op := range ops {
		if err := rs.check(op); err != nil {
			return &table.OpError{Index: i, Key: op.Row.Key, Err: err}
		}
		if n := len(rs.result(op)); n > table.MaxProps {
			return fmt.Errorf("%w: the row would have %d properties, want at most %d",
				table.ErrInvalid, n, table.MaxProps)
		}
	}
	return nil
}

func (t *Tables) apply(rs *rows, ops []table.Op) []string {
	etags := make([]string, len(ops))
	for i, op := range ops {
		if op.Kind == table.Delete {
			rs.remove(op.Row.Key)
			continue
		}
		etags[i] = t.nextETag()
		rs.put(table.Row{Key: op.Row.Key, ETag: etags[i], Props: rs.result(op)})
	}
	return etags
}

// check returns the sentinel of the condition of op that does not hold.
func (rs *rows) check(op table.Op) error {
	old, ok := rs.get(op.Row.Key)
	switch {
	case op.Kind == table.Upsert:
		return nil
	case op.Kind == table.Insert && ok:
		return table.ErrExists
	case op.Kind == table.Insert:
		return nil
	case !ok:
		return table.ErrNotFound
	case op.Row.ETag != table.Any && op.Row.ETag != old.ETag:
		return table.ErrConflict
	}
	return nil
}

// result returns the properties that op leaves, sorted by name: a caller that relies on
// the order in which they were written shall notice.
func (rs *rows) result(op table.Op) table.Props {
	props := slices.Clone(op.Row.Props)
	if op.Kind == table.Merge {
		row, _ := rs.get(op.Row.Key)
		for _, old := range row.Props {
			if props.Get(old.Name) == (table.Value{}) {
				props = append(props, old)
			}
		}
	}
	slices.SortFunc(props, func(a, b table.Prop) int { return strings.Compare(a.Name, b.Name) })
	return props
}

// nextETag returns an ETag as awkward as the service's.
func (t *Tables) nextETag() string {
	t.writes++
	return fmt.Sprintf(`W/"datetime'%d%%3A00'"`, t.writes)
}
