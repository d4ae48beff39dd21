// Package transact is the contract of a storage whose tables and queues change together. Azure's do
// not: there a batch is of one partition, and a message is a request of its own. Those of a file
// do, and their caller needs no other means against being stopped half-way.
//
// The implementations are embedded (one bbolt file) and memory (for tests). transacttest holds the
// suite that both pass.
package transact

import (
	"context"
	"errors"
	"fmt"
	"time"

	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
)

// A Transaction is what changes together. No row may be in it twice.
type Transaction struct {
	// Table and Ops are a Write, under its limits and conditions. There must be one.
	Table string
	Ops   []table.Op

	// More are operations on any other rows, under the same limits and conditions. The Index of an
	// OpError counts them after Ops.
	More []Op

	Put      []Row // inserted or replaced; their ETags are not looked at
	Drop     []Key // deleted, if they are there
	Messages []Message
}

// An Op is an operation on a row of a table.
type Op struct {
	Table string
	table.Op
}

// A Row is one of a table.
type Row struct {
	Table string
	table.Row
}

// A Key addresses a row of a table.
type Key struct {
	Table string
	table.Key
}

// A Message must be put on a queue, invisible for Delay.
type Message struct {
	Queue, Text string
	Delay       time.Duration
}

// A Func carries out a Transaction, all of it or nothing, and returns the new ETags of Ops. Its
// errors are those of a Write and of a Send, and mean the same: one that is no sentinel leaves the
// outcome of all of it unknown, until the storage has answered a transaction that began later.
type Func func(context.Context, Transaction) (etags []string, err error)

// A Loader replaces many rows of any tables, or makes them: those that do puts, each once, in any
// order. It is for a store that has no other user meanwhile, and is no transaction: after an error
// some of the rows may be there.
type Loader func(ctx context.Context, do func(put func(Row) error) error) error

// Prefixed returns f for names of queues that stand there with a prefix before them. A nil f stays
// nil.
func Prefixed(f Func, prefix string) Func {
	if f == nil || prefix == "" {
		return f
	}
	return func(ctx context.Context, t Transaction) ([]string, error) {
		messages := make([]Message, len(t.Messages))
		for i, m := range t.Messages {
			m.Queue = prefix + m.Queue
			messages[i] = m
		}
		t.Messages = messages
		return f(ctx, t)
	}
}

// Check returns an error that wraps ErrInvalid of table or queue where a Transaction breaks a limit
// of the contract. Implementations call it before anything else.
func Check(t Transaction) error {
	if err := table.Check(t.Ops); err != nil {
		return fmt.Errorf("write to %s: %w", t.Table, err)
	}
	seen := make(map[Key]bool, len(t.Ops)+len(t.More)+len(t.Put)+len(t.Drop))
	for _, op := range t.Ops {
		seen[Key{t.Table, op.Row.Key}] = true
	}
	for _, op := range t.More {
		if err := errors.Join(table.CheckOp(op.Op), once(seen, Key{op.Table, op.Row.Key})); err != nil {
			return fmt.Errorf("write to %s: %w", op.Table, err)
		}
	}
	for _, r := range t.Put {
		r.ETag = ""
		if err := errors.Join(table.CheckOp(table.Op{Kind: table.Upsert, Row: r.Row}),
			once(seen, Key{r.Table, r.Key})); err != nil {
			return fmt.Errorf("put into %s: %w", r.Table, err)
		}
	}
	for _, k := range t.Drop {
		if err := errors.Join(table.CheckKey(k.Key), once(seen, k)); err != nil {
			return fmt.Errorf("drop from %s: %w", k.Table, err)
		}
	}
	for _, m := range t.Messages {
		if err := queue.CheckSend(m.Text, m.Delay); err != nil {
			return fmt.Errorf("send to %s: %w", m.Queue, err)
		}
	}
	return nil
}

func once(seen map[Key]bool, k Key) error {
	if seen[k] {
		return fmt.Errorf("%w: a row is there twice", table.ErrInvalid)
	}
	seen[k] = true
	return nil
}
