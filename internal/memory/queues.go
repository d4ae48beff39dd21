package memory

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"prompthub/internal/queue"
)

// Queues are queues in memory: a queue.Queues.
type Queues struct {
	now func() time.Time

	mu     sync.Mutex
	queues map[string][]*message
	last   int // numbers messages and receipts, so that none comes back
}

var _ queue.Queues = (*Queues)(nil)

type message struct {
	queue.Message           // as last delivered, with the receipt that holds it
	visible       time.Time // from when on
	order         int       // of its last change, among messages visible from the same time on
}

// NewQueues returns a store without queues. now is its clock: a test that moves
// it moves delays and locks.
func NewQueues(now func() time.Time) *Queues {
	return &Queues{now: now, queues: map[string][]*message{}}
}

var queueName = regexp.MustCompile(`^[a-z0-9](-?[a-z0-9]){2,62}$`)

// Create makes the queues that do not exist yet.
func (q *Queues) Create(ctx context.Context, queues ...string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("create queues %q: %w", queues, err)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, name := range queues {
		if !queueName.MatchString(name) || len(name) > 63 {
			return fmt.Errorf("%w: queue name %q", queue.ErrInvalid, name)
		}
		if _, ok := q.queues[name]; !ok {
			q.queues[name] = nil
		}
	}
	return nil
}

// open returns the messages of a queue that somebody created. The caller holds the lock.
func (q *Queues) open(ctx context.Context, name string) ([]*message, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	messages, ok := q.queues[name]
	if !ok {
		return nil, fmt.Errorf("queue %s does not exist", name)
	}
	return messages, nil
}

// Send puts a message on a queue, invisible for delay.
func (q *Queues) Send(ctx context.Context, name, text string, delay time.Duration) (queue.Receipt, error) {
	if err := queue.CheckSend(text, delay); err != nil {
		return queue.Receipt{}, fmt.Errorf("send to %s: %w", name, err)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	messages, err := q.open(ctx, name)
	if err != nil {
		return queue.Receipt{}, fmt.Errorf("send to %s: %w", name, err)
	}
	m := &message{Message: queue.Message{Text: text, Inserted: q.now().UTC()}}
	q.change(m, delay)
	m.ID = "m" + m.Pop
	q.queues[name] = append(messages, m)
	return m.Receipt, nil
}

// change hides m for d and makes its receipt void.
func (q *Queues) change(m *message, d time.Duration) {
	q.last++
	m.order = q.last
	m.Pop = strconv.Itoa(q.last)
	m.visible = q.now().Add(d)
}

// Receive takes up to limit visible messages, those visible for longest first.
func (q *Queues) Receive(ctx context.Context, name string, limit int, lock time.Duration) ([]queue.Message, error) {
	if err := queue.CheckReceive(limit, lock); err != nil {
		return nil, fmt.Errorf("receive from %s: %w", name, err)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	messages, err := q.open(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("receive from %s: %w", name, err)
	}
	now := q.now()
	hidden := func(m *message) bool { return m.visible.After(now) }
	visible := slices.DeleteFunc(slices.Clone(messages), hidden)
	slices.SortFunc(visible, func(a, b *message) int {
		return cmp.Or(a.visible.Compare(b.visible), cmp.Compare(a.order, b.order))
	})
	var got []queue.Message
	for _, m := range visible[:min(limit, len(visible))] {
		m.Dequeued++
		q.change(m, lock)
		got = append(got, m.Message)
	}
	return got, nil
}

// Hide makes a message visible again after delay, or returns queue.ErrGone.
func (q *Queues) Hide(ctx context.Context, name string, r queue.Receipt, delay time.Duration) (queue.Receipt, error) {
	if err := queue.CheckDelay(delay); err != nil {
		return queue.Receipt{}, fmt.Errorf("hide message %s of %s: %w", r.ID, name, err)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	i, err := q.find(ctx, name, r)
	if err != nil {
		return queue.Receipt{}, fmt.Errorf("hide message %s of %s: %w", r.ID, name, err)
	}
	m := q.queues[name][i]
	q.change(m, delay)
	return m.Receipt, nil
}

// Delete removes a message, or returns queue.ErrGone.
func (q *Queues) Delete(ctx context.Context, name string, r queue.Receipt) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	i, err := q.find(ctx, name, r)
	if err != nil {
		return fmt.Errorf("delete message %s of %s: %w", r.ID, name, err)
	}
	q.queues[name] = slices.Delete(q.queues[name], i, i+1)
	return nil
}

// find returns the place of the message that r holds.
func (q *Queues) find(ctx context.Context, name string, r queue.Receipt) (int, error) {
	messages, err := q.open(ctx, name)
	if err != nil {
		return 0, err
	}
	i := slices.IndexFunc(messages, func(m *message) bool { return m.Receipt == r })
	if i < 0 {
		return 0, queue.ErrGone
	}
	return i, nil
}

// Len returns how many messages a queue holds.
func (q *Queues) Len(ctx context.Context, name string) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	messages, err := q.open(ctx, name)
	if err != nil {
		return 0, fmt.Errorf("length of %s: %w", name, err)
	}
	return len(messages), nil
}
