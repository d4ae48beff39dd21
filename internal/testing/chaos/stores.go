package chaos

import (
	"context"
	"time"

	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
	"prompthub/internal/storage/transact"
	"prompthub/internal/testing/calls"
)

// Tables returns a store whose calls this process makes.
func (p *Process) Tables(db table.DB) table.DB { return calls.Tables(db, p.make) }

// Transact returns what makes the transactions of this process, each of which is one call.
func (p *Process) Transact(f transact.Func) transact.Func { return calls.Transact(f, p.make) }

// Queues returns queues whose calls this process makes.
func (p *Process) Queues(q queue.Queues) queue.Queues { return calls.Queues(q, p.make) }

// Blobs returns blobs whose calls this process makes.
func (p *Process) Blobs(b blob.Store) blob.Store { return calls.Blobs(b, p.make) }

// make makes a call. One that lands late finds no caller to return something to, and a context that
// has ended meanwhile stops no call that was sent.
func (p *Process) make(ctx context.Context, c calls.Call) error {
	return p.call(ctx, c.Label, c.Write, time.Time{}, func() error {
		_, err := c.Do(context.WithoutCancel(ctx))
		return err
	})
}
