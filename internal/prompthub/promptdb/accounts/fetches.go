package accounts

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Fetches by programs are noted in memory, and written after the answer: for a prompt and a token
// at most once an hour. A fetch within that hour is written by a later one of any program, and is
// lost if the process ends before.

const (
	fetchEvery  = time.Hour
	maxDue      = 2 // fetches that one request writes; the next ones write the rest
	maxFetchers = 10_000
	maxFetches  = 1000 // that a list tells
)

// A fetcher is an access token at a prompt, or all programs without one.
type fetcher struct {
	prompt prompt.ID
	token  string
}

// A fetched is what a fetcher fetched last.
type fetched struct {
	schema.Fetch           // with the count that is not written yet
	wrote        time.Time // when it was written last
	waits        bool      // to be written
}

type fetches struct {
	mu      sync.Mutex
	last    *lru.Cache[fetcher, *fetched]
	waiting []fetcher // those that wait, in their order
}

func newFetches() fetches {
	return fetches{last: rowstore.NewLRU[fetcher, *fetched](maxFetchers)}
}

// note keeps a fetch, and returns those that are written now.
func (f *fetches) note(by fetcher, version int64, now time.Time) map[fetcher]schema.Fetch {
	f.mu.Lock()
	defer f.mu.Unlock()
	due := make(map[fetcher]schema.Fetch)
	was, known := f.last.Get(by)
	if !known {
		was = &fetched{Fetch: schema.Fetch{Token: by.token}}
		if f.last.Len() == maxFetchers {
			if old, x, _ := f.last.RemoveOldest(); x.waits {
				due[old] = x.take(now)
			}
		}
		f.last.Add(by, was)
	}
	if was.Version, was.At = version, now.UTC().Truncate(time.Millisecond); by.token == "" {
		was.Count++
	}
	switch {
	case was.waits:
	case now.Sub(was.wrote) >= fetchEvery:
		due[by] = was.take(now)
	default:
		was.waits = true
		f.waiting = append(f.waiting, by)
	}
	for len(f.waiting) > 0 && len(due) < maxDue {
		first := f.waiting[0]
		x, there := f.last.Peek(first)
		if there && x.waits && now.Sub(x.wrote) < fetchEvery {
			break
		}
		if f.waiting = f.waiting[1:]; there && x.waits {
			due[first] = x.take(now)
		}
	}
	return due
}

// take returns the fetch to write, which counts as written then.
func (x *fetched) take(now time.Time) schema.Fetch {
	f := x.Fetch
	x.wrote, x.waits, x.Count = now, false, 0
	return f
}

// Fetched notes, after the answer, that a program got a version of a prompt with an access token,
// or "" for none.
func (db *Accounts) Fetched(ctx context.Context, id prompt.ID, token string, version int64) {
	due := db.fetches.note(fetcher{id, token}, version, db.Now())
	if len(due) == 0 {
		return
	}
	ctx = context.WithoutCancel(ctx)
	db.Background(func() {
		for by, f := range due {
			if err := db.writeFetch(ctx, by.prompt, f); err != nil {
				db.Log.DebugContext(ctx, "a fetch was not noted", slog.String("prompt", string(by.prompt)),
					slog.Any("error", err))
			}
		}
	})
}

func (db *Accounts) writeFetch(ctx context.Context, id prompt.ID, f schema.Fetch) error {
	ctx, cancel := context.WithTimeout(ctx, rowstore.CallWithin)
	defer cancel()
	key := schema.FetchKey(id, f)
	for range rowstore.MaxTries { // other instances note fetches too
		row, err := db.GetRow(ctx, db.T.Fetches, key)
		if err != nil {
			return err
		}
		op := table.Op{Kind: table.Insert, Row: table.Row{Key: key, Props: schema.FetchProps(f)}}
		if row != nil {
			_, was, _ := schema.ParseFetch(*row)
			if f.Token != "" && was.At.After(f.At) {
				return nil
			}
			sum := f
			sum.Count += was.Count
			op = table.Op{Kind: table.Replace, Row: table.Row{Key: key, ETag: row.ETag, Props: schema.FetchProps(sum)}}
		}
		if err = db.Write(ctx, db.T.Fetches, []table.Op{op}); err == nil || !rowstore.Overtaken(err) {
			return err
		}
	}
	return errors.New("others write at the same time")
}

// Fetches returns what access tokens fetched of a prompt last within the last thirty days, how
// often programs without one did, and whether there are more tokens than are told.
func (db *Accounts) Fetches(ctx context.Context,
	id prompt.ID,
) (byToken []schema.Fetch, without int64, more bool, err error) {
	rows, more, err := db.Budget().Rows(ctx, db.T.Fetches, table.Range{Partition: schema.FetchesPartition(id)},
		maxFetches)
	if err != nil {
		return nil, 0, false, err
	}
	all := make(map[string]schema.Fetch)
	oldest := db.Now().Add(-schema.FetchesKept)
	for _, row := range rows {
		switch _, f, ok := schema.ParseFetch(row); {
		case !ok || f.At.Before(oldest):
		case f.Token == "":
			without += f.Count
		default:
			all[f.Token] = f
		}
	}
	db.fetches.mu.Lock()
	defer db.fetches.mu.Unlock()
	for _, by := range db.fetches.last.Keys() {
		if by.prompt != id {
			continue
		}
		if x, ok := db.fetches.last.Peek(by); ok && by.token == "" {
			without += x.Count
		} else if ok && !x.At.Before(all[by.token].At) && !x.At.Before(oldest) {
			all[by.token] = x.Fetch
		}
	}
	for _, f := range all {
		byToken = append(byToken, f)
	}
	return byToken, without, more, nil
}
