// Package queue is the contract of queues of messages that are delivered at least once, in
// no promised order, each hidden from others while one receiver works on it: what Azure
// Queue Storage gives, and no more.
//
// The implementations are azure (Queue Storage and Azurite), embedded (one bbolt file) and
// memory (for tests). queuetest holds the suite that all pass.
package queue

import (
	"context"
	"errors"
	"time"
)

// The limits that every implementation enforces.
const (
	MaxText    = 48 << 10           // bytes of a message: 64 KiB as base64 on the wire
	MaxReceive = 32                 // messages of one Receive
	MaxDelay   = 7 * 24 * time.Hour // of a delay or a lock
)

// The errors a caller branches on. Any other error leaves the outcome unknown.
var (
	// the receipt is no longer valid
	ErrGone = errors.New("message is gone or held by another receiver")
	// a limit is broken: a defect of the caller
	ErrInvalid = errors.New("invalid message or request")
	// it was never created: a defect of the caller or of the settings
	ErrNoQueue = errors.New("the queue does not exist")
)

// A Receipt lets its holder change or delete a message, until the message is received
// by another, changed or deleted.
type Receipt struct {
	ID  string
	Pop string
}

// A Message is one delivery of a message.
type Message struct {
	Receipt
	Text     string
	Dequeued int       // deliveries so far, this one included
	Inserted time.Time // when it was sent
}

// Queues is a set of named queues. All methods may be called at once from many goroutines.
// Delays are kept to the second; a message without delay is visible at once.
type Queues interface {
	// Send puts a message that never expires on a queue, invisible for delay.
	Send(ctx context.Context, queue, text string, delay time.Duration) (Receipt, error)

	// Receive takes up to limit (1 to MaxReceive) visible messages and hides them for lock.
	// It returns none, at once, where none is visible.
	Receive(ctx context.Context, queue string, limit int, lock time.Duration) ([]Message, error)

	// Hide makes a message visible again after delay and returns its new receipt, or ErrGone.
	Hide(ctx context.Context, queue string, r Receipt, delay time.Duration) (Receipt, error)

	// Delete removes a message, or returns ErrGone.
	Delete(ctx context.Context, queue string, r Receipt) error

	// Peek returns the texts of messages and changes nothing. A storage may see no more than
	// MaxReceive that are visible, as Azure's does; the others see all, visible or not.
	Peek(ctx context.Context, queue string) ([]string, error)

	// Len returns how many messages a queue holds, visible or not. Where others
	// are at work it is an approximation.
	Len(ctx context.Context, queue string) (int, error)

	// Create makes the queues that do not exist yet.
	Create(ctx context.Context, queues ...string) error
}

// Poison names the queue that messages of a queue are set aside in when their jobs failed too
// often.
func Poison(name string) string { return name + "-poison" }
