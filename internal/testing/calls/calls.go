// Package calls hands each call of a store, of queues and of blobs to a test, by a label that is
// the same for the same call in every run.
package calls

import (
	"context"
	"fmt"
	"strings"
	"time"

	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
	"prompthub/internal/storage/transact"
)

// A Call is one that a program is about to make.
type Call struct {
	Label string
	Write bool // it changes something
	// Do makes the call, and returns how many bytes of rows it carries: keys, names and values.
	Do func(context.Context) (bytes int, err error)
}

// A Hook makes a call, or does not.
type Hook func(context.Context, Call) error

// through makes a call that returns something, by a hook. After an error it returns nothing.
func through[T any](ctx context.Context, hook Hook, label string, write bool, do func(context.Context) (T, error),
	weigh func(T) int,
) (T, error) {
	var got T
	err := hook(ctx, Call{label, write, func(ctx context.Context) (bytes int, err error) {
		got, err = do(ctx)
		return weigh(got), err
	}})
	if err != nil {
		var none T
		return none, err
	}
	return got, nil
}

// pass makes a call that returns an error alone.
func pass(ctx context.Context, hook Hook, label string, do func(context.Context) error) error {
	return hook(ctx, Call{label, true, func(ctx context.Context) (int, error) { return 0, do(ctx) }})
}

// weightless is the weight of all that is no row.
func weightless[T any](T) int { return 0 }

func weighRow(row table.Row) int {
	n := len(row.Partition) + len(row.Key.Row)
	for _, p := range row.Props {
		n += len(p.Name) + max(len(p.Value.Str()), 8)
	}
	return n
}

func weighPage(page table.Page) (n int) {
	for _, row := range page.Rows {
		n += weighRow(row)
	}
	return n
}

// Tables returns a store whose calls a hook makes.
func Tables(db table.DB, hook Hook) table.DB { return tables{db, hook} }

type tables struct {
	table.DB
	hook Hook
}

func (t tables) Get(ctx context.Context, name string, key table.Key) (table.Row, error) {
	return through(ctx, t.hook, "get "+name+" "+key.String(), false, func(ctx context.Context) (table.Row, error) {
		return t.DB.Get(ctx, name, key)
	}, weighRow)
}

func (t tables) List(ctx context.Context, name string, r table.Range, limit int, next string) (table.Page, error) {
	label := fmt.Sprintf("list %s %s%s..%s %s%s..%s", name, r.Partition, r.FromPartition,
		r.ToPartition, r.From, r.After, r.To)
	return through(ctx, t.hook, label, false, func(ctx context.Context) (table.Page, error) {
		return t.DB.List(ctx, name, r, limit, next)
	}, weighPage)
}

func (t tables) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	return through(ctx, t.hook, labelWrite(name, ops), true, func(ctx context.Context) ([]string, error) {
		return t.DB.Write(ctx, name, ops...)
	}, func([]string) (n int) {
		for _, op := range ops {
			n += weighRow(op.Row)
		}
		return n
	})
}

func labelWrite(name string, ops []table.Op) string {
	parts := make([]string, len(ops))
	for i, op := range ops {
		parts[i] = op.Kind.String() + " " + op.Row.Row
	}
	return "write " + name + " " + ops[0].Row.Partition + ": " + strings.Join(parts, ", ")
}

// Transact returns what makes transactions by a hook, each of which is one call.
func Transact(f transact.Func, hook Hook) transact.Func {
	return func(ctx context.Context, t transact.Transaction) ([]string, error) {
		parts := []string{labelWrite(t.Table, t.Ops)}
		for _, op := range t.More {
			parts = append(parts, labelWrite(op.Table, []table.Op{op.Op}))
		}
		for _, r := range t.Put {
			parts = append(parts, "put "+r.Table+" "+r.Partition+" "+r.Key.Row)
		}
		for _, k := range t.Drop {
			parts = append(parts, "drop "+k.Table+" "+k.Partition+" "+k.Row)
		}
		for _, m := range t.Messages {
			parts = append(parts, "send "+m.Queue)
		}
		return through(ctx, hook, strings.Join(parts, "; "), true, func(ctx context.Context) ([]string, error) {
			return f(ctx, t)
		}, weightless)
	}
}

// Queues returns queues whose calls a hook makes.
func Queues(q queue.Queues, hook Hook) queue.Queues { return queues{q, hook} }

type queues struct {
	queue.Queues
	hook Hook
}

func (q queues) Send(ctx context.Context, name, text string, delay time.Duration) (queue.Receipt, error) {
	return through(ctx, q.hook, "send "+name, true, func(ctx context.Context) (queue.Receipt, error) {
		return q.Queues.Send(ctx, name, text, delay)
	}, weightless)
}

func (q queues) Receive(ctx context.Context, name string, limit int, lock time.Duration) ([]queue.Message, error) {
	return through(ctx, q.hook, "receive "+name, true, func(ctx context.Context) ([]queue.Message, error) {
		return q.Queues.Receive(ctx, name, limit, lock)
	}, weightless)
}

func (q queues) Hide(ctx context.Context, name string, r queue.Receipt, delay time.Duration) (queue.Receipt, error) {
	return through(ctx, q.hook, "hide "+name, true, func(ctx context.Context) (queue.Receipt, error) {
		return q.Queues.Hide(ctx, name, r, delay)
	}, weightless)
}

func (q queues) Delete(ctx context.Context, name string, r queue.Receipt) error {
	return pass(ctx, q.hook, "delete "+name, func(ctx context.Context) error { return q.Queues.Delete(ctx, name, r) })
}

func (q queues) Peek(ctx context.Context, name string) ([]string, error) {
	return through(ctx, q.hook, "peek "+name, false, func(ctx context.Context) ([]string, error) {
		return q.Queues.Peek(ctx, name)
	}, weightless)
}

func (q queues) Len(ctx context.Context, name string) (int, error) {
	return through(ctx, q.hook, "len "+name, false, func(ctx context.Context) (int, error) {
		return q.Queues.Len(ctx, name)
	}, weightless)
}

// Blobs returns blobs whose calls a hook makes.
func Blobs(b blob.Store, hook Hook) blob.Store { return blobs{b, hook} }

type blobs struct {
	blob.Store
	hook Hook
}

func (b blobs) Put(ctx context.Context, container, name string, body []byte) error {
	return pass(ctx, b.hook, "put "+container+" "+name, func(ctx context.Context) error {
		return b.Store.Put(ctx, container, name, body)
	})
}

func (b blobs) Get(ctx context.Context, container, name string) (blob.Blob, error) {
	return through(ctx, b.hook, "get "+container+" "+name, false, func(ctx context.Context) (blob.Blob, error) {
		return b.Store.Get(ctx, container, name)
	}, weightless)
}

func (b blobs) Delete(ctx context.Context, container, name string) error {
	return pass(ctx, b.hook, "delete "+container+" "+name, func(ctx context.Context) error {
		return b.Store.Delete(ctx, container, name)
	})
}

func (b blobs) List(ctx context.Context, container, prefix string, limit int, next string) (blob.Page, error) {
	return through(ctx, b.hook, "list "+container+" "+prefix, false, func(ctx context.Context) (blob.Page, error) {
		return b.Store.List(ctx, container, prefix, limit, next)
	}, weightless)
}
