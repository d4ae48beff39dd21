package main

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
)

// A meter counts the calls that are made to tables and queues, and the bytes of rows that they
// carry. Every call takes delay.
type meter struct {
	delay          time.Duration
	tables, queues atomic.Int64
	read, written  atomic.Int64 // bytes of keys, names and values
	conflicts      atomic.Int64 // votes that others were faster than
	refuse         string       // the table that takes no writes
	scanned        atomic.Int64 // rows
	rows           table.DB
	messages       queue.Queues
}

// A count is what a meter has counted.
type count struct{ tables, queues, read, written int64 }

func (m *meter) count() count {
	return count{m.tables.Load(), m.queues.Load(), m.read.Load(), m.written.Load()}
}

func (c count) minus(d count) count {
	return count{c.tables - d.tables, c.queues - d.queues, c.read - d.read, c.written - d.written}
}

func (m *meter) call(n *atomic.Int64) {
	n.Add(1)
	if m.delay > 0 {
		time.Sleep(m.delay)
	}
}

// bytes is about what a row weighs, without what a wire format puts around it.
func bytes(row table.Row) int64 {
	n := len(row.Partition) + len(row.Row)
	for _, p := range row.Props {
		n += len(p.Name) + max(len(p.Value.Str()), 8)
	}
	return int64(n)
}

func (m *meter) Get(ctx context.Context, name string, key table.Key) (table.Row, error) {
	m.call(&m.tables)
	row, err := m.rows.Get(ctx, name, key)
	m.read.Add(bytes(row))
	m.scanned.Add(1)
	return row, err
}

func (m *meter) List(ctx context.Context, name string, r table.Range, limit int, next string) (table.Page, error) {
	m.call(&m.tables)
	page, err := m.rows.List(ctx, name, r, limit, next)
	m.scanned.Add(int64(len(page.Rows)))
	for _, row := range page.Rows {
		m.read.Add(bytes(row))
	}
	return page, err
}

func (m *meter) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	m.call(&m.tables)
	if name == m.refuse {
		return nil, table.ErrBusy
	}
	for _, op := range ops {
		m.written.Add(bytes(op.Row))
	}
	etags, err := m.rows.Write(ctx, name, ops...)
	if failed := (*table.OpError)(nil); errors.As(err, &failed) && name == promptdb.DefaultTables().Votes {
		m.conflicts.Add(1)
	}
	return etags, err
}

func (m *meter) Create(ctx context.Context, names ...string) error {
	return m.rows.Create(ctx, names...)
}

// A meteredQueues is the side of a meter that is a queue.Queues.
type meteredQueues struct{ m *meter }

func (q meteredQueues) Send(ctx context.Context, name, text string, delay time.Duration) (queue.Receipt, error) {
	q.m.call(&q.m.queues)
	return q.m.messages.Send(ctx, name, text, delay)
}

func (q meteredQueues) Receive(ctx context.Context, name string, limit int,
	lock time.Duration,
) ([]queue.Message, error) {
	q.m.call(&q.m.queues)
	return q.m.messages.Receive(ctx, name, limit, lock)
}

func (q meteredQueues) Hide(ctx context.Context, name string, r queue.Receipt,
	delay time.Duration,
) (queue.Receipt, error) {
	q.m.call(&q.m.queues)
	return q.m.messages.Hide(ctx, name, r, delay)
}

func (q meteredQueues) Delete(ctx context.Context, name string, r queue.Receipt) error {
	q.m.call(&q.m.queues)
	return q.m.messages.Delete(ctx, name, r)
}

func (q meteredQueues) Peek(ctx context.Context, name string) ([]string, error) {
	q.m.call(&q.m.queues)
	return q.m.messages.Peek(ctx, name)
}

func (q meteredQueues) Len(ctx context.Context, name string) (int, error) {
	q.m.call(&q.m.queues)
	return q.m.messages.Len(ctx, name)
}

func (q meteredQueues) Create(ctx context.Context, names ...string) error {
	return q.m.messages.Create(ctx, names...)
}
