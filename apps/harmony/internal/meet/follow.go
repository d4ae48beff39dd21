package meet

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"prompthub/internal/host/function"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// This file has the changes of rooms whose things stand in lists: events, topics, posts.

// A Change is the text of a message: rows of lists must follow a thing.
type Change struct {
	Kind  string      `json:"kind"`
	ID    string      `json:"id"`
	Stale []table.Key `json:"stale,omitempty"` // rows that an earlier version had
	Until time.Time   `json:"until"`           // from then on no write of the change can land
}

// Follower returns the settler of changes of a kind. follow has the lists follow a thing, whether
// its change has landed or not.
func (s *Service) Follower(kind string, follow func(ctx context.Context, id string, stale []table.Key) error) Settler {
	return Settler{Kind: kind, Settle: func(ctx context.Context, in function.Invocation) error {
		var c Change
		if err := json.Unmarshal([]byte(in.Text), &c); err != nil {
			return fmt.Errorf("read message: %w", err)
		}
		looked := s.Now()
		if err := follow(ctx, c.ID, c.Stale); err != nil {
			return err
		}
		return s.Outbox().Again(ctx, c, c.Until, looked)
	}}
}

// Commit makes a change that lists follow. next returns its writes to a table, one batch or none,
// and whether rows of lists must follow the thing of a kind, with those that are stale then. If
// another writer came first, read reads the thing anew and next is called again. follow has the
// lists follow; a message has it done if this process ends before.
func (s *Service) Commit(ctx context.Context, name, kind, id string,
	next func() (ops []table.Op, moved bool, stale []table.Key, err error),
	read, follow func(context.Context) error,
) error {
	ctx = s.Outbox().Begin(ctx)
	var wake queue.Receipt
	contest := s.Contest()
	for {
		ops, moved, stale, err := next()
		if err != nil {
			contest.Cancel(ctx, wake)
			return err
		}
		if moved && wake.ID == "" {
			if wake, err = s.Outbox().Send(ctx, Change{kind, id, stale, s.Outbox().Landed(ctx)}); err != nil {
				return err
			}
		}
		if len(ops) > 0 {
			err = s.Write(ctx, name, ops)
		}
		if err == nil {
			if wake.ID == "" {
				return nil
			}
			return s.Outbox().Finish(ctx, wake, follow(ctx))
		}
		if err := contest.Again(ctx, err); err != nil {
			return err
		}
		if err := read(ctx); err != nil {
			return err
		}
	}
}

// FollowLists writes rows of a table of lists, and removes those that are stale and not among them.
func (s *Service) FollowLists(ctx context.Context, name string, rows []table.Row, stale []table.Key) error {
	stale = slices.Clone(stale)
	slices.SortFunc(stale, func(a, b table.Key) int {
		return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Row, b.Row))
	})
	stale = slices.DeleteFunc(slices.Compact(stale), func(key table.Key) bool {
		return slices.ContainsFunc(rows, func(row table.Row) bool { return row.Key == key })
	})
	return rowstore.Each(ctx, len(rows)+len(stale), rowstore.MaxParallel, func(ctx context.Context, i int) error {
		if i < len(rows) {
			return s.Upsert(ctx, name, rows[i])
		}
		return s.RemoveKey(ctx, name, stale[i-len(rows)])
	})
}
