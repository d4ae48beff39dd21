// Package erase takes members out of the store for good who have deleted their accounts, once they
// cannot be restored any more.
//
// # Rows
//
//	State  DUE_{yyyyMMdd} / {t}_account_{userId}   an account that was deleted at {t}, and since when it is marked
//	       erase / round                           the accounts that are being erased, and how far the walk is
//
// A timer runs it. It marks an account first, which then counts as gone for every request. An hour
// later, when no write of a request that has seen the account can land any more, a round begins: it
// walks all rows that may name a member, a slice at a time over as many runs as it takes, and has
// each room take the accounts of the round out of its rows. Files and messages that were set aside
// follow, then the address, the account, and the row that has led here. A run may stop anywhere:
// what it does can be done again.
package erase

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/host/function"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Name is the timer's and its function's.
const Name = "erase"

const (
	runsFor   = 2 * time.Minute // a run begins no slice after it
	slice     = 500             // rows of a slice
	roundSize = 100             // accounts of a round
	markedFor = time.Hour       // before a round begins
)

// A Job erases accounts of a service. Traces are those of all rooms.
type Job struct {
	*meet.Service
	Traces []meet.Trace
}

// Trigger returns the timer.
func (j Job) Trigger() function.Trigger {
	return function.Trigger{
		Name: Name, Schedule: "0 20 * * * *",
		Run: func(ctx context.Context, _ function.Invocation) error { return j.Run(ctx) },
	}
}

// A round is the walk that erases some accounts.
type round struct {
	ids   []string
	trace int    // the one that the walk is in
	place string // in its range
}

var roundKey = table.Key{Partition: Name, Row: "round"}

// Run marks accounts that are due, and goes on with the round, or begins one.
func (j Job) Run(ctx context.Context) error {
	if j.EraseAfter < 0 {
		return nil
	}
	until := j.Now().Add(runsFor)
	ready, err := j.markAccounts(ctx)
	if err != nil {
		return err
	}
	row, err := j.GetRow(ctx, j.Tables.State, roundKey)
	if err != nil {
		return err
	}
	var r round
	switch {
	case row != nil:
		p := row.Props
		r = round{strings.Fields(p.Get("Accounts").Str()), int(p.Get("Trace").Int()), p.Get("Place").Str()}
	case len(ready) == 0:
		return nil
	default:
		r.ids = ready[:min(len(ready), roundSize)]
		if err := j.keepRound(ctx, r); err != nil {
			return err
		}
	}
	for r.trace < len(j.Traces) {
		if !j.Now().Before(until) {
			return nil
		}
		next, failed := j.stepRound(ctx, r)
		if failed != nil {
			next = r
			next.place = "" // a place that the storage does not know any more must not stop all runs
		}
		if err := errors.Join(failed, j.keepRound(ctx, next)); err != nil {
			return err
		}
		r = next
	}
	return j.endRound(ctx, r)
}

// keepRound keeps how far a round is.
func (j Job) keepRound(ctx context.Context, r round) error {
	return j.Upsert(ctx, j.Tables.State, table.Row{Key: roundKey, Props: table.Props{
		{Name: "Accounts", Value: table.String(strings.Join(r.ids, " "))},
		{Name: "Trace", Value: table.Int32(int32(r.trace))},
		{Name: "Place", Value: table.String(r.place)},
		{Name: "UpdatedAt", Value: table.Time(j.Now())},
	}})
}

// markAccounts marks the accounts that are due, and returns those that were marked long enough ago.
func (j Job) markAccounts(ctx context.Context) (ready []string, err error) {
	last := account.DueRows + j.Now().Add(-j.EraseAfter).UTC().Format("20060102")
	due := table.Range{FromPartition: account.DueRows, ToPartition: last + "~"}
	for next, more := "", true; more; more = next != "" {
		page, err := j.DB.List(ctx, j.Tables.State, due, slice, next)
		if err != nil {
			return nil, rowstore.Unavailable(err)
		}
		for _, row := range page.Rows {
			id, err := j.markOne(ctx, row)
			if err != nil {
				return nil, err
			}
			if id != "" {
				ready = append(ready, id)
			}
		}
		next = page.Next
	}
	return ready, nil
}

// markOne marks the account of a row if it is due, and returns it if it was marked long enough ago.
// A row of an account that was restored, or erased, goes.
func (j Job) markOne(ctx context.Context, row table.Row) (ready string, err error) {
	u, err := j.Account(ctx, row.Props.Get("UserId").Str())
	switch {
	case err != nil:
		return "", err
	case u == nil || !u.Deleted() || account.DueKey(u.ID, u.DeletedAt) != row.Key:
		return "", j.RemoveKey(ctx, j.Tables.State, row.Key)
	case j.Now().Before(j.Until(u.DeletedAt)):
		return "", nil
	}
	if at := row.Props.Get("MarkedAt").Time(); u.Erasing && !at.IsZero() {
		if j.Now().Sub(at) < markedFor {
			return "", nil
		}
		return u.ID, nil
	}
	if !u.Erasing {
		if begun, err := j.BeginErasure(ctx, *u); err != nil || !begun {
			return "", err
		}
	}
	row.Props = append(row.Props, table.Prop{Name: "MarkedAt", Value: table.Time(j.Now())})
	row.ETag = ""
	return "", j.Upsert(ctx, j.Tables.State, row)
}

// stepRound takes the accounts of a round out of a slice of rows, and returns where the round goes
// on.
func (j Job) stepRound(ctx context.Context, r round) (round, error) {
	t := j.Traces[r.trace]
	page, err := j.DB.List(ctx, t.Table, t.Range, slice, r.place)
	if err != nil {
		return r, rowstore.Unavailable(err)
	}
	err = rowstore.Each(ctx, len(page.Rows), rowstore.MaxParallel, func(ctx context.Context, i int) error {
		return j.forgetAccounts(ctx, t, page.Rows[i], r.ids)
	})
	if r.place = page.Next; r.place == "" {
		r.trace++
	}
	return r, err
}

// forgetAccounts takes accounts out of a row.
func (j Job) forgetAccounts(ctx context.Context, t meet.Trace, row table.Row, ids []string) error {
	changed := false
	for _, id := range ids {
		if !namesAccount(row, id) {
			continue
		}
		if changed { // for another account
			now, err := j.GetRow(ctx, t.Table, row.Key)
			if err != nil || now == nil {
				return err
			}
			row = *now
		}
		if err := t.Forget(ctx, row, id); err != nil {
			return err
		}
		changed = true
	}
	return nil
}

// namesAccount reports whether a row has an id in its keys or in a text.
func namesAccount(row table.Row, id string) bool {
	return strings.Contains(row.Partition, id) || strings.Contains(row.Key.Row, id) ||
		slices.ContainsFunc(row.Props, func(p table.Prop) bool {
			return p.Value.Type() == table.TypeString && strings.Contains(p.Value.Str(), id)
		})
}

// endRound removes the rest of the accounts of a round: no row names them any more.
func (j Job) endRound(ctx context.Context, r round) error {
	for _, id := range r.ids {
		if err := j.removeFiles(ctx, id); err != nil {
			return err
		}
	}
	for _, name := range []string{meet.QueueLists, meet.QueuePairs, meet.QueueMails} {
		if err := j.removeMessages(ctx, queue.Poison(name), r.ids); err != nil {
			return err
		}
	}
	for _, id := range r.ids {
		u, err := j.Account(ctx, id)
		if err != nil {
			return err
		}
		if u == nil { // an earlier run has come so far
			continue
		}
		if err := j.EndErasure(ctx, *u); err != nil {
			return err
		}
		if err := j.RemoveKey(ctx, j.Tables.State, account.DueKey(id, u.DeletedAt)); err != nil {
			return err
		}
	}
	return j.RemoveKey(ctx, j.Tables.State, roundKey)
}

// removeFiles removes the files of pictures of an account, also those that tidy has taken out.
func (j Job) removeFiles(ctx context.Context, id string) error {
	for _, of := range []struct{ container, prefix string }{ // in the order of DropFiles
		{meet.ContainerProfiles, id + "/"},
		{meet.ContainerRemoved, meet.ContainerProfiles + "/" + id + "/"},
	} {
		for next, more := "", true; more; more = next != "" {
			page, err := j.Blobs.List(ctx, of.container, of.prefix, slice, next)
			if err != nil {
				return rowstore.Unavailable(err)
			}
			for _, item := range page.Items {
				if err := j.Blobs.Delete(ctx, of.container, item.Name); err != nil {
					return rowstore.Unavailable(err)
				}
			}
			next = page.Next
		}
	}
	return nil
}

// removeMessages removes messages that name an account from a queue of those that were set aside.
// The others are seen again soon.
func (j Job) removeMessages(ctx context.Context, name string, ids []string) error {
	for {
		some, err := j.Queues.Receive(ctx, name, queue.MaxReceive, 5*time.Minute)
		if err != nil {
			return rowstore.Unavailable(err)
		}
		if len(some) == 0 {
			return nil
		}
		for _, m := range some {
			if !slices.ContainsFunc(ids, func(id string) bool { return strings.Contains(m.Text, id) }) {
				continue
			}
			if err := j.Queues.Delete(ctx, name, m.Receipt); err != nil && !errors.Is(err, queue.ErrGone) {
				return rowstore.Unavailable(err)
			}
		}
	}
}
