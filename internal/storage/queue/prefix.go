package queue

import (
	"context"
	"time"
)

// Prefixed returns queues whose names stand in q with a prefix before them, so that several
// applications can share q.
func Prefixed(q Queues, prefix string) Queues {
	if prefix == "" {
		return q
	}
	return prefixed{q, prefix}
}

type prefixed struct {
	all    Queues
	prefix string
}

func (p prefixed) Send(ctx context.Context, queue, text string, delay time.Duration) (Receipt, error) {
	return p.all.Send(ctx, p.prefix+queue, text, delay)
}

func (p prefixed) Receive(ctx context.Context, queue string, limit int, lock time.Duration) ([]Message, error) {
	return p.all.Receive(ctx, p.prefix+queue, limit, lock)
}

func (p prefixed) Hide(ctx context.Context, queue string, r Receipt, delay time.Duration) (Receipt, error) {
	return p.all.Hide(ctx, p.prefix+queue, r, delay)
}

func (p prefixed) Delete(ctx context.Context, queue string, r Receipt) error {
	return p.all.Delete(ctx, p.prefix+queue, r)
}

func (p prefixed) Peek(ctx context.Context, queue string) ([]string, error) {
	return p.all.Peek(ctx, p.prefix+queue)
}

func (p prefixed) Len(ctx context.Context, queue string) (int, error) {
	return p.all.Len(ctx, p.prefix+queue)
}

func (p prefixed) Create(ctx context.Context, queues ...string) error {
	names := make([]string, len(queues))
	for i, name := range queues {
		names[i] = p.prefix + name
	}
	return p.all.Create(ctx, names...)
}
