package embedded

import (
	"context"
	"fmt"
	"slices"

	"go.etcd.io/bbolt"

	"prompthub/internal/storage/table"
	"prompthub/internal/storage/transact"
)

// Write applies operations in one transaction, which it may share with other writes.
func (t *Tables) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	etags, err := t.s.write(ctx, transact.Transaction{Table: name, Ops: ops})
	if err != nil {
		return nil, fmt.Errorf("write to %s: %w", name, err)
	}
	return etags, nil
}

// Transact carries out a transaction: a transact.Func.
func (s *Store) Transact(ctx context.Context, t transact.Transaction) ([]string, error) {
	etags, err := s.write(ctx, t)
	if err != nil {
		return nil, fmt.Errorf("write to %s and others: %w", t.Table, err)
	}
	return etags, nil
}

func (s *Store) write(ctx context.Context, t transact.Transaction) ([]string, error) {
	c, err := s.ready(ctx, t)
	if err != nil {
		return nil, err
	}
	err = s.update(ctx, len(c.steps)+len(t.Messages), func(tx *bbolt.Tx) (func() error, error) {
		if err := s.check(tx, c); err != nil {
			return nil, err
		}
		return func() error { return s.apply(tx, c) }, nil
	})
	if err != nil {
		return nil, err
	}
	return c.etags[:len(t.Ops)], nil
}

// A ready is a transaction as the writer takes it, with nothing in it that the caller could change
// while it waits.
type ready struct {
	steps    []step
	messages []transact.Message
	etags    []string // of the steps
}

func (s *Store) ready(ctx context.Context, t transact.Transaction) (*ready, error) {
	if err := transact.Check(t); err != nil {
		return nil, err
	}
	puts := make([]table.Op, len(t.Put))
	for i, r := range t.Put {
		puts[i] = table.Op{Kind: table.Upsert, Row: r.Row}
	}
	more := make([]table.Op, len(t.More))
	for i, op := range t.More {
		more[i] = op.Op
	}
	if err := s.learn(ctx, t.Ops, more, puts); err != nil {
		return nil, err
	}
	names := s.names.Load()
	c := &ready{steps: make([]step, 0, len(t.Ops)+len(more)+len(puts)+len(t.Drop)), messages: slices.Clone(t.Messages)}
	for _, op := range t.Ops {
		c.steps = append(c.steps, newStep(t.Table, op, names))
	}
	for i, op := range more {
		c.steps = append(c.steps, newStep(t.More[i].Table, op, names))
	}
	for i, op := range puts {
		name := t.Put[i].Table
		c.steps = append(c.steps, newStep(name, op, names))
	}
	for _, k := range t.Drop {
		drop := newStep(k.Table, table.Op{Kind: table.Delete, Row: table.Row{Key: k.Key}}, names)
		drop.lenient = true
		c.steps = append(c.steps, drop)
	}
	return c, nil
}

// A step is an operation of a transaction.
type step struct {
	table   string
	kind    table.Kind
	key     table.Key
	etag    string
	lenient bool        // a row to delete need not be there
	props   table.Props // of a Merge, until it is checked
	rows    *bbolt.Bucket
	dbKey   []byte
	value   []byte // what to store, but for the ETag and these:
	refs    []reference
	freed   []ref // what the row refers to until then
}

func newStep(name string, op table.Op, names *dictionary) step {
	s := step{table: name, kind: op.Kind, key: op.Row.Key, etag: op.Row.ETag, dbKey: packedKey(op.Row.Key)}
	switch op.Kind {
	case table.Merge:
		s.props = slices.Clone(op.Row.Props)
	case table.Insert, table.Replace, table.Upsert:
		s.value, s.refs = names.encode(op.Row.Key, op.Row.Props)
	}
	return s
}

// check tests the conditions of all steps and completes the merges. The rows differ, so
// no step depends on another.
func (s *Store) check(tx *bbolt.Tx, c *ready) (err error) {
	names := s.names.Load()
	for i := range c.steps {
		step := &c.steps[i]
		if step.rows, err = rowsOf(tx, step.table); err != nil {
			return err
		}
		old := step.rows.Get(step.dbKey)
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
	for _, m := range c.messages {
		if _, err := messagesOf(tx, m.Queue); err != nil {
			return err
		}
	}
	return nil
}

// failed returns the sentinel of the condition that does not hold for the stored row,
// which is nil where there is none.
func (s *step) failed(old []byte) (condition, err error) {
	switch {
	case s.kind == table.Upsert, s.lenient:
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
	if err == nil && !isIntact(s.dbKey, old) {
		err = table.ErrDamaged
	}
	if err != nil {
		return nil, fmt.Errorf("%w under the row to write", err)
	}
	if string(etag[:]) != s.etag {
		return table.ErrConflict, nil
	}
	return nil, nil
}

func (s *step) merge(old []byte, names *dictionary, texts texts) error {
	if !isIntact(s.dbKey, old) {
		return fmt.Errorf("%w under the row to write", table.ErrDamaged)
	}
	row, err := names.decode(plainKey(s.key), old, texts)
	if err != nil {
		return err
	}
	props := merge(row.Props, s.props)
	if len(props) > table.MaxProps {
		return fmt.Errorf("%w: the row would have %d properties, want at most %d",
			table.ErrInvalid, len(props), table.MaxProps)
	}
	s.value, s.refs = names.encode(s.key, props)
	return nil
}

func (s *Store) apply(tx *bbolt.Tx, c *ready) error {
	c.etags = make([]string, len(c.steps))
	for i, step := range c.steps {
		value := s.shared.replace(step.key, step.freed, step.value, step.refs)
		if step.kind == table.Delete {
			if err := step.rows.Delete(step.dbKey); err != nil {
				return err
			}
			continue
		}
		c.etags[i] = seal(step.dbKey, value, s.nextStamp())
		if s.filling {
			step.rows.FillPercent = compactFill
		}
		if err := step.rows.Put(step.dbKey, value); err != nil {
			return err
		}
	}
	for _, m := range c.messages {
		if _, err := s.put(tx, m.Queue, m.Text, m.Delay); err != nil {
			return err
		}
	}
	return nil
}
