package memory

import (
	"context"
	"errors"
	"fmt"

	"prompthub/internal/storage/table"
	"prompthub/internal/storage/transact"
)

// Together returns what changes tables and queues in one transaction.
func Together(t *Tables, q *Queues) transact.Func {
	return func(ctx context.Context, c transact.Transaction) ([]string, error) {
		etags, err := together(ctx, t, q, c)
		if err != nil {
			return nil, fmt.Errorf("write to %s and others: %w", c.Table, err)
		}
		return etags, nil
	}
}

func together(ctx context.Context, t *Tables, q *Queues, c transact.Transaction) ([]string, error) {
	if err := transact.Check(c); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	q.mu.Lock()
	defer q.mu.Unlock()
	rs, err := t.open(ctx, c.Table)
	if err != nil {
		return nil, err
	}
	if err := rs.checkAll(c.Ops); err != nil {
		return nil, err
	}
	more, err := t.more(ctx, c)
	if err != nil {
		return nil, err
	}
	others, err := t.others(ctx, c)
	if err != nil {
		return nil, err
	}
	for _, m := range c.Messages {
		if _, err := q.open(ctx, m.Queue); err != nil {
			return nil, err
		}
	}
	etags := t.apply(rs, c.Ops)
	for _, do := range append(more, others...) {
		do()
	}
	for _, m := range c.Messages {
		q.put(q.queues[m.Queue], m.Text, m.Delay)
	}
	return etags, nil
}

// more returns what carries out the further operations, if their conditions hold.
func (t *Tables) more(ctx context.Context, c transact.Transaction) (all []func(), err error) {
	for i, op := range c.More {
		rs, err := t.open(ctx, op.Table)
		if err != nil {
			return nil, err
		}
		err = rs.checkAll([]table.Op{op.Op})
		if failed := (*table.OpError)(nil); errors.As(err, &failed) {
			failed.Index = len(c.Ops) + i
		}
		if err != nil {
			return nil, err
		}
		all = append(all, func() { t.apply(rs, []table.Op{op.Op}) })
	}
	return all, nil
}

// others returns what puts and drops rows.
func (t *Tables) others(ctx context.Context, c transact.Transaction) (all []func(), err error) {
	for _, r := range c.Put {
		rs, err := t.open(ctx, r.Table)
		if err != nil {
			return nil, err
		}
		all = append(all, func() { t.apply(rs, []table.Op{{Kind: table.Upsert, Row: r.Row}}) })
	}
	for _, k := range c.Drop {
		rs, err := t.open(ctx, k.Table)
		if err != nil {
			return nil, err
		}
		all = append(all, func() { rs.remove(k.Key) })
	}
	return all, nil
}
