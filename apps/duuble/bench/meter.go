package main

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"prompthub/internal/storage/queue"
	"prompthub/internal/testing/calls"
)

// A meter counts the calls of tables and of queues, and the bytes of the rows that the former
// carry: keys, names and values.
type meter struct{ tables, queues, bytes atomic.Int64 }

// A cost is what something has cost.
type cost struct{ tables, queues, bytes int64 }

func (m *meter) cost() cost { return cost{m.tables.Load(), m.queues.Load(), m.bytes.Load()} }

func (c cost) less(before cost) cost {
	return cost{c.tables - before.tables, c.queues - before.queues, c.bytes - before.bytes}
}

// countTables is a hook.
func (m *meter) countTables(ctx context.Context, c calls.Call) error {
	m.tables.Add(1)
	bytes, err := c.Do(ctx)
	m.bytes.Add(int64(bytes))
	return err
}

// countQueues is a hook. A look at an empty queue is counted apart.
func (m *meter) countQueues(ctx context.Context, c calls.Call) error {
	if !strings.HasPrefix(c.Label, "receive ") {
		m.queues.Add(1)
	}
	_, err := c.Do(ctx)
	return err
}

// mails counts the messages that are taken.
type mails struct {
	queue.Queues
	m *meter
}

// Receive implements queue.Queues.
func (q mails) Receive(ctx context.Context, name string, limit int, lock time.Duration) ([]queue.Message, error) {
	list, err := q.Queues.Receive(ctx, name, limit, lock)
	q.m.queues.Add(int64(len(list))) // the host takes one at a time
	return list, err
}

// slow is a hook that takes a while for each call.
func slow(ctx context.Context, c calls.Call) error {
	time.Sleep(slowCall)
	_, err := c.Do(ctx)
	return err
}
