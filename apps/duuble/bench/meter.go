package main

import (
	"context"
	"sync/atomic"
	"time"

	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
)

// A meter counts the calls of tables and of queues, and the bytes of the rows that the former
// carry: keys, names and values.
type meter struct {
	table.DB
	tables, queues, bytes atomic.Int64
}

// A cost is what something has cost.
type cost struct{ tables, queues, bytes int64 }

func (m *meter) cost() cost { return cost{m.tables.Load(), m.queues.Load(), m.bytes.Load()} }

func (c cost) less(before cost) cost {
	return cost{c.tables - before.tables, c.queues - before.queues, c.bytes - before.bytes}
}

func (m *meter) weigh(row table.Row) {
	n := len(row.Partition) + len(row.Key.Row)
	for _, p := range row.Props {
		n += len(p.Name) + max(len(p.Value.Str()), 8)
	}
	m.bytes.Add(int64(n))
}

// Get implements table.DB.
func (m *meter) Get(ctx context.Context, name string, key table.Key) (table.Row, error) {
	m.tables.Add(1)
	row, err := m.DB.Get(ctx, name, key)
	m.weigh(row)
	return row, err
}

// List implements table.DB.
func (m *meter) List(ctx context.Context, name string, r table.Range, limit int, next string) (table.Page, error) {
	m.tables.Add(1)
	page, err := m.DB.List(ctx, name, r, limit, next)
	for _, row := range page.Rows {
		m.weigh(row)
	}
	return page, err
}

// Write implements table.DB.
func (m *meter) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	m.tables.Add(1)
	for _, op := range ops {
		m.weigh(op.Row)
	}
	return m.DB.Write(ctx, name, ops...)
}

// A slow storage takes a while for each call.
type slow struct {
	table.DB
	call time.Duration
}

// Get implements table.DB.
func (s slow) Get(ctx context.Context, name string, key table.Key) (table.Row, error) {
	time.Sleep(s.call)
	return s.DB.Get(ctx, name, key)
}

// List implements table.DB.
func (s slow) List(ctx context.Context, name string, r table.Range, limit int, next string) (table.Page, error) {
	time.Sleep(s.call)
	return s.DB.List(ctx, name, r, limit, next)
}

// Write implements table.DB.
func (s slow) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	time.Sleep(s.call)
	return s.DB.Write(ctx, name, ops...)
}

// mails counts the calls of queues.
type mails struct {
	queue.Queues
	m *meter
}

// Send implements queue.Queues.
func (q mails) Send(ctx context.Context, name, text string, d time.Duration) (queue.Receipt, error) {
	q.m.queues.Add(1)
	return q.Queues.Send(ctx, name, text, d)
}

// Receive implements queue.Queues. A look at an empty queue is counted apart.
func (q mails) Receive(ctx context.Context, name string, limit int, lock time.Duration) ([]queue.Message, error) {
	list, err := q.Queues.Receive(ctx, name, limit, lock)
	q.m.queues.Add(int64(len(list))) // the host takes one at a time
	return list, err
}

// Hide implements queue.Queues.
func (q mails) Hide(ctx context.Context, name string, r queue.Receipt, d time.Duration) (queue.Receipt, error) {
	q.m.queues.Add(1)
	return q.Queues.Hide(ctx, name, r, d)
}

// Delete implements queue.Queues.
func (q mails) Delete(ctx context.Context, name string, r queue.Receipt) error {
	q.m.queues.Add(1)
	return q.Queues.Delete(ctx, name, r)
}
