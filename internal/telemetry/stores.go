package telemetry

import (
	"context"
	"time"

	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
	"prompthub/internal/storage/transact"
)

// Tables returns a store whose calls are counted for the request or invocation that makes them,
// measured and traced. A read fails if the request has no room for the rows. The texts of its
// errors hold no keys.
func (t *Telemetry) Tables(db table.DB) table.DB { return tables{t, db} }

type tables struct {
	t  *Telemetry
	db table.DB
}

// Transact is Tables for transactions, each of which is one call. A nil f stays nil.
func (t *Telemetry) Transact(f transact.Func) transact.Func {
	if f == nil {
		return nil
	}
	return func(ctx context.Context, c transact.Transaction) (etags []string, err error) {
		err = t.call(ctx, "transact", c.Table, func(ctx context.Context) error {
			etags, err = f(ctx, c)
			return err
		})
		return etags, err
	}
}

func (s tables) Get(ctx context.Context, name string, key table.Key) (row table.Row, err error) {
	err = s.t.call(ctx, "get", name, func(ctx context.Context) error {
		row, err = s.db.Get(ctx, name, key)
		return err
	})
	if err == nil {
		err = hold(ctx, row)
	}
	return row, err
}

func (s tables) List(ctx context.Context, name string, r table.Range, limit int,
	next string,
) (page table.Page, err error) {
	err = s.t.call(ctx, "list", name, func(ctx context.Context) error {
		page, err = s.db.List(ctx, name, r, limit, next)
		return err
	})
	if err == nil {
		err = hold(ctx, page.Rows...)
	}
	return page, err
}

func (s tables) Write(ctx context.Context, name string, ops ...table.Op) (etags []string, err error) {
	what := "batch"
	if len(ops) == 1 {
		what = ops[0].Kind.String()
	}
	err = s.t.call(ctx, what, name, func(ctx context.Context) error {
		etags, err = s.db.Write(ctx, name, ops...)
		return err
	})
	return etags, err
}

func (s tables) Create(ctx context.Context, names ...string) error {
	return s.t.call(ctx, "create", "tables", func(ctx context.Context) error { return s.db.Create(ctx, names...) })
}

// Queues returns queues whose calls are counted, measured and traced like those of Tables.
func (t *Telemetry) Queues(q queue.Queues) queue.Queues { return queues{t, q} }

type queues struct {
	t *Telemetry
	q queue.Queues
}

func (s queues) Send(ctx context.Context, name, text string, delay time.Duration) (r queue.Receipt, err error) {
	err = s.t.call(ctx, "send", name, func(ctx context.Context) error {
		r, err = s.q.Send(ctx, name, text, delay)
		return err
	})
	return r, err
}

func (s queues) Receive(ctx context.Context, name string, limit int,
	lock time.Duration,
) (ms []queue.Message, err error) {
	err = s.t.call(ctx, "receive", name, func(ctx context.Context) error {
		ms, err = s.q.Receive(ctx, name, limit, lock)
		return err
	})
	return ms, err
}

func (s queues) Hide(ctx context.Context, name string, r queue.Receipt,
	delay time.Duration,
) (renewed queue.Receipt, err error) {
	err = s.t.call(ctx, "hide", name, func(ctx context.Context) error {
		renewed, err = s.q.Hide(ctx, name, r, delay)
		return err
	})
	return renewed, err
}

func (s queues) Delete(ctx context.Context, name string, r queue.Receipt) error {
	return s.t.call(ctx, "delete", name, func(ctx context.Context) error { return s.q.Delete(ctx, name, r) })
}

func (s queues) Peek(ctx context.Context, name string) (texts []string, err error) {
	err = s.t.call(ctx, "peek", name, func(ctx context.Context) error {
		texts, err = s.q.Peek(ctx, name)
		return err
	})
	return texts, err
}

func (s queues) Len(ctx context.Context, name string) (n int, err error) {
	err = s.t.call(ctx, "len", name, func(ctx context.Context) error {
		n, err = s.q.Len(ctx, name)
		return err
	})
	return n, err
}

func (s queues) Create(ctx context.Context, names ...string) error {
	return s.t.call(ctx, "create", "queues", func(ctx context.Context) error { return s.q.Create(ctx, names...) })
}

// Blobs returns blobs whose calls are counted, measured and traced like those of Tables.
func (t *Telemetry) Blobs(b blob.Store) blob.Store { return blobs{t, b} }

type blobs struct {
	t *Telemetry
	b blob.Store
}

func (s blobs) Put(ctx context.Context, container, name string, body []byte) error {
	return s.t.call(ctx, "put", container, func(ctx context.Context) error {
		return s.b.Put(ctx, container, name, body)
	})
}

func (s blobs) Get(ctx context.Context, container, name string) (got blob.Blob, err error) {
	err = s.t.call(ctx, "get", container, func(ctx context.Context) error {
		got, err = s.b.Get(ctx, container, name)
		return err
	})
	return got, err
}

func (s blobs) Delete(ctx context.Context, container, name string) error {
	return s.t.call(ctx, "delete", container, func(ctx context.Context) error {
		return s.b.Delete(ctx, container, name)
	})
}

func (s blobs) List(ctx context.Context, container, prefix string, limit int, next string) (page blob.Page, err error) {
	err = s.t.call(ctx, "list", container, func(ctx context.Context) error {
		page, err = s.b.List(ctx, container, prefix, limit, next)
		return err
	})
	return page, err
}

func (s blobs) Create(ctx context.Context, containers ...string) error {
	return s.t.call(ctx, "create", "containers", func(ctx context.Context) error {
		return s.b.Create(ctx, containers...)
	})
}
