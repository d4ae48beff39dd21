package embedded

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"prompthub/internal/storage/queue"
)

// Queues are the queues of a Store: a queue.Queues.
type Queues struct{ s *Store }

var _ queue.Queues = (*Queues)(nil)

const queuePrefix = "q/"

func queueBucket(name string) []byte { return []byte(queuePrefix + name) }

func messagesOf(tx *bbolt.Tx, name string) (*bbolt.Bucket, error) {
	b := tx.Bucket(queueBucket(name))
	if b == nil {
		return nil, fmt.Errorf("%s: %w", name, queue.ErrNoQueue)
	}
	return b, nil
}

// Create makes the queues that do not exist yet.
func (q *Queues) Create(ctx context.Context, queues ...string) error {
	buckets := make([][]byte, len(queues))
	for i, name := range queues {
		buckets[i] = queueBucket(name)
	}
	if err := q.s.update(ctx, len(buckets), create(buckets)); err != nil {
		return fmt.Errorf("create queues %q: %w", queues, err)
	}
	return nil
}

// Send puts a message on a queue, invisible for delay.
func (q *Queues) Send(ctx context.Context, name, text string, delay time.Duration) (queue.Receipt, error) {
	var r queue.Receipt
	err := queue.CheckSend(text, delay)
	if err == nil {
		err = q.s.update(ctx, 1, q.send(name, text, delay, &r))
	}
	if err != nil {
		return queue.Receipt{}, fmt.Errorf("send to %s: %w", name, err)
	}
	return r, nil
}

func (q *Queues) send(name, text string, delay time.Duration, r *queue.Receipt) plan {
	return func(tx *bbolt.Tx) (func() error, error) {
		if _, err := messagesOf(tx, name); err != nil {
			return nil, err
		}
		return func() (err error) {
			*r, err = q.s.put(tx, name, text, delay)
			return err
		}, nil
	}
}

// put stores a new message of a queue.
func (s *Store) put(tx *bbolt.Tx, name, text string, delay time.Duration) (queue.Receipt, error) {
	b, err := messagesOf(tx, name)
	if err != nil {
		return queue.Receipt{}, err
	}
	now := s.now()
	id := s.nextStamp()
	key := messageKey(now.Add(delay), id)
	return receipt(id, key), b.Put(key, message{id: id, inserted: now.UnixNano(), text: []byte(text)}.encode())
}

// Receive takes up to limit visible messages and hides them for lock. An empty queue
// costs a read only, so it may be polled.
func (q *Queues) Receive(ctx context.Context, name string, limit int, lock time.Duration) ([]queue.Message, error) {
	var got []queue.Message
	err := queue.CheckReceive(limit, lock)
	if err == nil {
		err = q.receive(ctx, name, limit, lock, &got)
	}
	if err != nil {
		return nil, fmt.Errorf("receive from %s: %w", name, err)
	}
	return got, nil
}

func (q *Queues) receive(ctx context.Context, name string, limit int, lock time.Duration, got *[]queue.Message) error {
	empty := true
	err := q.s.view(ctx, func(tx *bbolt.Tx) error {
		b, err := messagesOf(tx, name)
		if err != nil {
			return err
		}
		first, _ := b.Cursor().First()
		empty = first == nil || !visible(first, q.s.now())
		return nil
	})
	if err != nil || empty {
		return err
	}
	return q.s.update(ctx, limit, func(tx *bbolt.Tx) (func() error, error) {
		b, err := messagesOf(tx, name)
		if err != nil {
			return nil, err
		}
		now := q.s.now()
		found, err := front(b, limit, now)
		if err != nil || len(found) == 0 {
			return nil, err
		}
		return func() (err error) {
			*got, err = q.s.lock(b, found, now.Add(lock))
			return err
		}, nil
	})
}

// A stored message is one with the key it has now.
type stored struct {
	key []byte
	message
}

// front returns the first visible messages.
func front(b *bbolt.Bucket, limit int, now time.Time) ([]stored, error) {
	var found []stored
	c := b.Cursor()
	for k, v := c.First(); k != nil && visible(k, now) && len(found) < limit; k, v = c.Next() {
		m, err := decodeMessage(v)
		if err != nil {
			return nil, fmt.Errorf("%w under %x", err, k)
		}
		found = append(found, stored{k, m})
	}
	return found, nil
}

func (s *Store) lock(b *bbolt.Bucket, found []stored, until time.Time) ([]queue.Message, error) {
	got := make([]queue.Message, len(found))
	for i, m := range found {
		m.locked = true
		m.dequeued++
		key, err := s.move(b, m, until)
		if err != nil {
			return nil, err
		}
		got[i] = m.delivery(key)
	}
	return got, nil
}

// move puts m under a new key, which it returns.
func (s *Store) move(b *bbolt.Bucket, m stored, visible time.Time) ([]byte, error) {
	value := m.encode() // before the old value goes
	if err := b.Delete(m.key); err != nil {
		return nil, err
	}
	key := messageKey(visible, s.nextStamp())
	return key, b.Put(key, value)
}

// Hide makes a message visible again after delay, or returns queue.ErrGone. A lock that is renewed
// in this way stays a lock, which the opening of the file frees; a message that is put back comes
// sooner than its lock would end.
func (q *Queues) Hide(ctx context.Context, name string, r queue.Receipt, delay time.Duration) (queue.Receipt, error) {
	var now queue.Receipt
	err := queue.CheckDelay(delay)
	if err == nil {
		err = q.s.update(ctx, 1, q.held(name, r, func(b *bbolt.Bucket, m stored) error {
			until := q.s.now().Add(delay)
			m.locked = m.locked && bytes.Compare(messageKey(until, 0), m.key) > 0
			key, err := q.s.move(b, m, until)
			now = receipt(m.id, key)
			return err
		}))
	}
	if err != nil {
		return queue.Receipt{}, fmt.Errorf("hide message %s of %s: %w", r.ID, name, err)
	}
	return now, nil
}

// Delete removes a message, or returns queue.ErrGone.
func (q *Queues) Delete(ctx context.Context, name string, r queue.Receipt) error {
	err := q.s.update(ctx, 1, q.held(name, r, func(b *bbolt.Bucket, m stored) error {
		return b.Delete(m.key)
	}))
	if err != nil {
		return fmt.Errorf("delete message %s of %s: %w", r.ID, name, err)
	}
	return nil
}

// held plans do for the message that r still holds.
func (q *Queues) held(name string, r queue.Receipt, do func(*bbolt.Bucket, stored) error) plan {
	return func(tx *bbolt.Tx) (func() error, error) {
		b, err := messagesOf(tx, name)
		if err != nil {
			return nil, err
		}
		key, err := hex.DecodeString(r.Pop)
		if err != nil {
			return nil, queue.ErrGone
		}
		v := b.Get(key)
		if v == nil {
			return nil, queue.ErrGone
		}
		m, err := decodeMessage(v)
		if err != nil {
			return nil, fmt.Errorf("%w under %x", err, key)
		}
		if receipt(m.id, key) != r {
			return nil, queue.ErrGone
		}
		return func() error { return do(b, stored{key, m}) }, nil
	}
}

// Peek returns the texts of all messages, those visible for longest first.
func (q *Queues) Peek(ctx context.Context, name string) ([]string, error) {
	return peek(ctx, q.s.view, name)
}

func peek(ctx context.Context, view viewing, name string) (texts []string, err error) {
	err = view(ctx, func(tx *bbolt.Tx) error {
		b, err := messagesOf(tx, name)
		if err != nil {
			return err
		}
		return b.ForEach(func(k, v []byte) error {
			m, err := decodeMessage(v)
			if err != nil {
				return fmt.Errorf("%w under %x", err, k)
			}
			texts = append(texts, string(m.text))
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("peek at %s: %w", name, err)
	}
	return texts, nil
}

// Len returns how many messages a queue holds.
func (q *Queues) Len(ctx context.Context, name string) (int, error) {
	return length(ctx, q.s.view, name)
}

func length(ctx context.Context, view viewing, name string) (int, error) {
	n := 0
	err := view(ctx, func(tx *bbolt.Tx) error {
		b, err := messagesOf(tx, name)
		if err == nil {
			n = b.Stats().KeyN
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("length of %s: %w", name, err)
	}
	return n, nil
}

// freeLocked makes the messages that a Receive has hidden visible now. The receiver is gone,
// because this process has just opened the file.
func (s *Store) freeLocked(tx *bbolt.Tx) error {
	now := s.now()
	return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
		if string(name[:min(len(name), len(queuePrefix))]) != queuePrefix {
			return nil
		}
		var locked []stored
		c := b.Cursor()
		for k, v := c.Seek(messageKey(now, 0)); k != nil; k, v = c.Next() {
			m, err := decodeMessage(v)
			if err != nil {
				return fmt.Errorf("%w under %x in %s", err, k, name)
			}
			if m.locked {
				locked = append(locked, stored{k, m})
			}
		}
		for _, m := range locked {
			if _, err := s.move(b, m, now); err != nil {
				return err
			}
		}
		return nil
	})
}
