package embedded

import (
	"context"
	"fmt"
	"slices"

	"go.etcd.io/bbolt"

	"prompthub/internal/table"
)

// Write applies operations in one transaction, which it may share with other writes.
func (t *Tables) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	if err := table.Check(ops); err != nil {
		return nil, fmt.Errorf("write to %s: %w", name, err)
	}
	if err := t.s.learn(ctx, ops); err != nil {
		return nil, fmt.Errorf("write to %s: %w", name, err)
	}
	steps := prepare(ops, t.s.names.Load())
	var etags []string
	err := t.s.update(ctx, func(tx *bbolt.Tx) (func() error, error) {
		b, err := rowsOf(tx, name)
		if err != nil {
			return nil, err
		}
		if err := check(b, steps, t.s.names.Load()); err != nil {
			return nil, err
		}
		return func() (err error) {
			etags, err = t.s.apply(b, steps)
			return err
		}, nil
	})
	if err != nil {
		return nil, fmt.Errorf("write to %s: %w", name, err) // etags may still be written to
	}
	return etags, nil
}

// A step is an operation made ready outside of the writer, with nothing in it that the
// caller could change while it waits.
type step struct {
	kind  table.Kind
	key   table.Key
	etag  string
	props table.Props // of a Merge, until it is checked
	dbKey []byte
	value []byte // what to store, but for the ETag
}

func prepare(ops []table.Op, names *dictionary) []step {
	steps := make([]step, len(ops))
	for i, op := range ops {
		s := step{kind: op.Kind, key: op.Row.Key, etag: op.Row.ETag, dbKey: rowKey(op.Row.Partition, op.Row.Row)}
		switch op.Kind {
		case table.Merge:
			s.props = slices.Clone(op.Row.Props)
		case table.Insert, table.Replace, table.Upsert:
			s.value = names.encode(op.Row.Props)
		}
		steps[i] = s
	}
	return steps
}

// check tests the conditions of all steps and completes the merges. The rows differ, so
// no step depends on another.
func check(b *bbolt.Bucket, steps []step, names *dictionary) error {
	for i := range steps {
		s := &steps[i]
		old := b.Get(s.dbKey)
		failed, err := s.failed(old)
		if err != nil {
			return err
		}
		if failed != nil {
			return &table.OpError{Index: i, Key: s.key, Err: failed}
		}
		if s.kind == table.Merge {
			if err := s.merge(old, names); err != nil {
				return err
			}
		}
	}
	return nil
}

// failed returns the sentinel of the condition that does not hold for the stored row,
// which is nil where there is none.
func (s *step) failed(old []byte) (condition, err error) {
	switch {
	case s.kind == table.Upsert:
		return nil, nil
	case s.kind == table.Insert && old != nil:
		return table.ErrExists, nil
	case s.kind == table.Insert:
		return nil, nil
	case old == nil:
		return table.ErrNotFound, nil
	case s.etag == table.Any:
		return nil, nil
	}
	etag, _, err := header(old)
	if err != nil {
		return nil, fmt.Errorf("%w under the row to write", err)
	}
	if string(etag[:]) != s.etag {
		return table.ErrConflict, nil
	}
	return nil, nil
}

func (s *step) merge(old []byte, names *dictionary) error {
	row, err := names.decode(s.dbKey, old)
	if err != nil {
		return err
	}
	props := merge(row.Props, s.props)
	if len(props) > table.MaxProps {
		return fmt.Errorf("%w: the row would have %d properties, want at most %d", table.ErrInvalid, len(props), table.MaxProps)
	}
	s.value = names.encode(props)
	return nil
}

func (s *Store) apply(b *bbolt.Bucket, steps []step) ([]string, error) {
	etags := make([]string, len(steps))
	for i, step := range steps {
		if step.kind == table.Delete {
			if err := b.Delete(step.dbKey); err != nil {
				return nil, err
			}
			continue
		}
		etags[i] = seal(step.value, s.nextStamp())
		if err := b.Put(step.dbKey, step.value); err != nil {
			return nil, err
		}
	}
	return etags, nil
}
