package memory

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/google/btree"

	"prompthub/internal/storage/queue"
)

// Queues are queues in memory: a queue.Queues.
type Queues struct {
	now func() time.Time

	mu     sync.Mutex
	queues map[string]*messages
	last   int // numbers messages and receipts, so that none comes back
}

var _ queue.Queues = (*Queues)(nil)

type message struct {
	queue.Message           // as last delivered, with the receipt that holds it
	visible       time.Time // from when on
	order         int       // of its last change, among messages visible from the same time on
}

// messages are those of one queue, by their IDs and in the order in which they are received: a test
// may leave thousands.
type messages struct {
	byID  map[string]*message
	order *btree.BTreeG[*message]
}

func newMessages() *messages {
	return &messages{map[string]*message{}, btree.NewG(degree, func(a, b *message) bool {
		return cmp.Or(a.visible.Compare(b.visible), cmp.Compare(a.order, b.order)) < 0
	})}
}

// NewQueues returns a store without queues. now is its clock: a test that moves
// it moves delays and locks.
func NewQueues(now func() time.Time) *Queues {
	return &Queues{now: now, queues: map[string]*messages{}}
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
			q.queues[name] = newMessages()
		}
	}
	return nil
}

// open returns the messages of a queue that somebody created. The caller holds the lock.
func (q *Queues) open(ctx context.Context, name string) (*messages, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	messages, ok := q.queues[name]
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, queue.ErrNoQueue)
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
	return q.put(messages, text, delay), nil
}

// put adds a message. The caller holds the lock.
func (q *Queues) put(messages *messages, text string, delay time.Duration) queue.Receipt {
	m := &message{Message: queue.Message{Text: text, Inserted: q.now().UTC()}}
	m.ID = "m" + strconv.Itoa(q.last+1)
	messages.byID[m.ID] = m
	q.change(messages, m, delay)
	return m.Receipt
}

// change hides m for d and makes its receipt void.
func (q *Queues) change(messages *messages, m *message, d time.Duration) {
	messages.order.Delete(m)
	q.last++
	m.order = q.last
	m.Pop = strconv.Itoa(q.last)
	m.visible = q.now().Add(d)
	messages.order.ReplaceOrInsert(m)
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
	var due []*message
	messages.order.Ascend(func(m *message) bool {
		if m.visible.After(now) || len(due) == limit {
			return false
		}
		due = append(due, m)
		return true
	})
	var got []queue.Message
	for _, m := range due {
		m.Dequeued++
		q.change(messages, m, lock)
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
	messages, m, err := q.find(ctx, name, r)
	if err != nil {
		return queue.Receipt{}, fmt.Errorf("hide message %s of %s: %w", r.ID, name, err)
	}
	q.change(messages, m, delay)
	return m.Receipt, nil
}

// Delete removes a message, or returns queue.ErrGone.
func (q *Queues) Delete(ctx context.Context, name string, r queue.Receipt) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	messages, m, err := q.find(ctx, name, r)
	if err != nil {
		return fmt.Errorf("delete message %s of %s: %w", r.ID, name, err)
	}
	delete(messages.byID, m.ID)
	messages.order.Delete(m)
	return nil
}

// find returns the message that r holds, and those of its queue.
func (q *Queues) find(ctx context.Context, name string, r queue.Receipt) (*messages, *message, error) {
	messages, err := q.open(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	m, ok := messages.byID[r.ID]
	if !ok || m.Receipt != r {
		return nil, nil, queue.ErrGone
	}
	return messages, m, nil
}

// Peek returns the texts of all messages, those visible for longest first.
func (q *Queues) Peek(ctx context.Context, name string) ([]string, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	messages, err := q.open(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("peek at %s: %w", name, err)
	}
	texts := make([]string, 0, len(messages.byID))
	messages.order.Ascend(func(m *message) bool {
		texts = append(texts, m.Text)
		return true
	})
	return texts, nil
}

// Len returns how many messages a queue holds.
func (q *Queues) Len(ctx context.Context, name string) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	messages, err := q.open(ctx, name)
	if err != nil {
		return 0, fmt.Errorf("length of %s: %w", name, err)
	}
	return len(messages.byID), nil
}
