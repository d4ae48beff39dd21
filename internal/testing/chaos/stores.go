package chaos

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

// Tables returns a store whose calls this process makes.
func (p *Process) Tables(db table.DB) table.DB { return tables{p, db} }

type tables struct {
	p  *Process
	db table.DB
}

func (t tables) Get(ctx context.Context, name string, key table.Key) (table.Row, error) {
	return result(ctx, t.p, "get "+name+" "+key.String(), false, func(ctx context.Context) (table.Row, error) {
		return t.db.Get(ctx, name, key)
	})
}

func (t tables) List(ctx context.Context, name string, r table.Range, limit int, next string) (table.Page, error) {
	label := fmt.Sprintf("list %s %s%s..%s %s%s..%s", name, r.Partition, r.FromPartition, r.ToPartition, r.From, r.After, r.To)
	return result(ctx, t.p, label, false, func(ctx context.Context) (table.Page, error) {
		return t.db.List(ctx, name, r, limit, next)
	})
}

func (t tables) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	return result(ctx, t.p, labelOf(name, ops), true, func(ctx context.Context) ([]string, error) {
		return t.db.Write(ctx, name, ops...)
	})
}

func labelOf(name string, ops []table.Op) string {
	parts := make([]string, len(ops))
	for i, op := range ops {
		parts[i] = op.Kind.String() + " " + op.Row.Row
	}
	return "write " + name + " " + ops[0].Row.Partition + ": " + strings.Join(parts, ", ")
}

// Transact returns what makes the transactions of this process, each of which is one call.
func (p *Process) Transact(f transact.Func) transact.Func {
	return func(ctx context.Context, t transact.Transaction) ([]string, error) {
		parts := []string{labelOf(t.Table, t.Ops)}
		for _, op := range t.More {
			parts = append(parts, labelOf(op.Table, []table.Op{op.Op}))
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
		return result(ctx, p, strings.Join(parts, "; "), true, func(ctx context.Context) ([]string, error) { return f(ctx, t) })
	}
}

func (t tables) Create(ctx context.Context, names ...string) error { return t.db.Create(ctx, names...) }

// Queues returns queues whose calls this process makes.
func (p *Process) Queues(q queue.Queues) queue.Queues { return queues{p, q} }

type queues struct {
	p *Process
	q queue.Queues
}

func (q queues) Send(ctx context.Context, name, text string, delay time.Duration) (queue.Receipt, error) {
	return result(ctx, q.p, "send "+name, true, func(ctx context.Context) (queue.Receipt, error) {
		return q.q.Send(ctx, name, text, delay)
	})
}

func (q queues) Receive(ctx context.Context, name string, limit int, lock time.Duration) ([]queue.Message, error) {
	return result(ctx, q.p, "receive "+name, true, func(ctx context.Context) ([]queue.Message, error) {
		return q.q.Receive(ctx, name, limit, lock)
	})
}

func (q queues) Hide(ctx context.Context, name string, r queue.Receipt, delay time.Duration) (queue.Receipt, error) {
	return result(ctx, q.p, "hide "+name, true, func(ctx context.Context) (queue.Receipt, error) {
		return q.q.Hide(ctx, name, r, delay)
	})
}

func (q queues) Delete(ctx context.Context, name string, r queue.Receipt) error {
	_, err := result(ctx, q.p, "delete "+name, true, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, q.q.Delete(ctx, name, r)
	})
	return err
}

func (q queues) Peek(ctx context.Context, name string) ([]string, error) {
	return result(ctx, q.p, "peek "+name, false, func(ctx context.Context) ([]string, error) { return q.q.Peek(ctx, name) })
}

func (q queues) Len(ctx context.Context, name string) (int, error) {
	return result(ctx, q.p, "len "+name, false, func(ctx context.Context) (int, error) { return q.q.Len(ctx, name) })
}

func (q queues) Create(ctx context.Context, names ...string) error { return q.q.Create(ctx, names...) }

// Blobs returns blobs whose calls this process makes.
func (p *Process) Blobs(b blob.Store) blob.Store { return blobs{p, b} }

type blobs struct {
	p *Process
	b blob.Store
}

func (b blobs) Put(ctx context.Context, container, name string, body []byte) error {
	_, err := result(ctx, b.p, "put "+container+" "+name, true, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, b.b.Put(ctx, container, name, body)
	})
	return err
}

func (b blobs) Get(ctx context.Context, container, name string) (blob.Blob, error) {
	return result(ctx, b.p, "get "+container+" "+name, false, func(ctx context.Context) (blob.Blob, error) {
		return b.b.Get(ctx, container, name)
	})
}

func (b blobs) Delete(ctx context.Context, container, name string) error {
	_, err := result(ctx, b.p, "delete "+container+" "+name, true, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, b.b.Delete(ctx, container, name)
	})
	return err
}

func (b blobs) List(ctx context.Context, container, prefix string, limit int, next string) (blob.Page, error) {
	return result(ctx, b.p, "list "+container+" "+prefix, false, func(ctx context.Context) (blob.Page, error) {
		return b.b.List(ctx, container, prefix, limit, next)
	})
}

func (b blobs) Create(ctx context.Context, containers ...string) error {
	return b.b.Create(ctx, containers...)
}

// result makes a call that returns something. A call that lands late finds no caller to return it
// to, and a context that has ended meanwhile stops no call that was sent.
func result[T any](ctx context.Context, p *Process, label string, write bool, do func(context.Context) (T, error)) (T, error) {
	var got T
	err := p.call(ctx, label, write, time.Time{}, func() (err error) {
		got, err = do(context.WithoutCancel(ctx))
		return err
	})
	if err != nil {
		var none T
		return none, err
	}
	return got, nil
}
