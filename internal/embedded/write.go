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
	etags, errs := t.s.write(ctx, table.Batch{Table: name, Ops: ops})
	return etags[0], errs[0]
}

// WriteEach applies batches in one transaction: the writer takes them as one change and gives one
// answer.
func (t *Tables) WriteEach(ctx context.Context, batches ...table.Batch) []error {
	_, errs := t.s.write(ctx, batches...)
	return errs
}

// write applies batches, each for itself, and returns the ETags and the error of each.
func (s *Store) write(ctx context.Context, batches ...table.Batch) ([][]string, []error) {
	etags, errs := make([][]string, len(batches)), make([]error, len(batches))
	writes, size := make([]*write, len(batches)), 0
	for i, b := range batches {
		if writes[i], errs[i] = s.ready(ctx, b); errs[i] == nil {
			size += len(b.Ops)
		}
	}
	var err error
	if size > 0 {
		err = s.update(ctx, size, func(tx *bbolt.Tx) (func() error, error) { return s.carryOut(tx, writes) })
	}
	for i, b := range batches {
		switch w := writes[i]; {
		case w == nil: // not even ready
		case err != nil: // and it may still be written to
			errs[i] = err
		default:
			etags[i], errs[i] = w.etags, w.refused
		}
		if errs[i] != nil {
			errs[i] = fmt.Errorf("write to %s: %w", b.Table, errs[i])
		}
	}
	return etags, errs
}

// A write is a batch made ready outside of the writer, and what became of it.
type write struct {
	table   string
	steps   []step
	rows    *bbolt.Bucket
	etags   []string
	refused error
}

// ready returns a write with nothing in it that the caller could change while it waits.
func (s *Store) ready(ctx context.Context, b table.Batch) (*write, error) {
	if err := table.Check(b.Ops); err != nil {
		return nil, err
	}
	if err := s.learn(ctx, b.Ops); err != nil {
		return nil, err
	}
	return &write{table: b.Table, steps: prepare(b.Ops, s.formOf(b.Table), s.names.Load())}, nil
}

// carryOut is a plan for writes, those that are nil left out. One that is refused keeps no other
// from being applied.
func (s *Store) carryOut(tx *bbolt.Tx, writes []*write) (apply func() error, err error) {
	names := s.names.Load()
	right := make([]*write, 0, len(writes))
	for _, w := range writes {
		if w == nil {
			continue
		}
		if w.refused = s.check(tx, w, names); w.refused == nil {
			right = append(right, w)
		}
	}
	if len(right) == 0 {
		return nil, nil
	}
	return func() error {
		for _, w := range right {
			if err := s.apply(w); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// A step is an operation of a write.
type step struct {
	kind  table.Kind
	key   table.Key
	etag  string
	props table.Props // of a Merge, until it is checked
	dbKey []byte
	value []byte // what to store, but for the ETag and these:
	refs  []reference
	freed []ref // what the row refers to until then
}

func prepare(ops []table.Op, f form, names *dictionary) []step {
	steps := make([]step, len(ops))
	for i, op := range ops {
		s := step{kind: op.Kind, key: op.Row.Key, etag: op.Row.ETag, dbKey: f.key(op.Row.Partition, op.Row.Row)}
		switch op.Kind {
		case table.Merge:
			s.props = slices.Clone(op.Row.Props)
		case table.Insert, table.Replace, table.Upsert:
			s.value, s.refs = names.encode(op.Row.Key, op.Row.Props)
		}
		steps[i] = s
	}
	return steps
}

// check tests the conditions of all steps and completes the merges. The rows differ, so
// no step depends on another.
func (s *Store) check(tx *bbolt.Tx, w *write, names *dictionary) (err error) {
	if w.rows, err = s.rowsOf(tx, w.table); err != nil {
		return err
	}
	for i := range w.steps {
		step := &w.steps[i]
		old := w.rows.Get(step.dbKey)
		failed, err := step.failed(old)
		if err != nil {
			return err
		}
		if failed != nil {
			return &table.OpError{Index: i, Key: step.key, Err: failed}
		}
		step.freed = names.referred(step.key, old)
		if step.kind == table.Merge {
			if err := step.merge(old, names, s.shared); err != nil {
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

func (s *step) merge(old []byte, names *dictionary, texts texts) error {
	row, err := names.decode(plain.key(s.key.Partition, s.key.Row), old, texts)
	if err != nil {
		return err
	}
	props := merge(row.Props, s.props)
	if len(props) > table.MaxProps {
		return fmt.Errorf("%w: the row would have %d properties, want at most %d", table.ErrInvalid, len(props), table.MaxProps)
	}
	s.value, s.refs = names.encode(s.key, props)
	return nil
}

func (s *Store) apply(w *write) error {
	w.etags = make([]string, len(w.steps))
	for i, step := range w.steps {
		value := s.shared.replace(step.key, step.freed, step.value, step.refs)
		if step.kind == table.Delete {
			if err := w.rows.Delete(step.dbKey); err != nil {
				return err
			}
			continue
		}
		w.etags[i] = seal(value, s.nextStamp())
		if err := w.rows.Put(step.dbKey, value); err != nil {
			return err
		}
	}
	return nil
}
