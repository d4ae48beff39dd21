package scopes

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/searchindex"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A scope is the index of one scope, and how far it has read the log.
type scope struct {
	s     *Scopes
	of    schema.Scope
	index atomic.Pointer[searchindex.Index]
	idle  *time.Timer
	used  time.Time // by the last search; s.mu guards it

	loaded  chan struct{} // closed once a load has ended
	failed  error         // why it came to nothing; valid once loaded is closed
	reading singleflight.Group

	telling sync.Mutex
	told    []searchindex.Doc // by commits, not in the index yet; telling guards it

	mu       sync.Mutex // guards all below
	partial  bool       // rows of the log are left out
	behind   bool       // the last search left some for the next one
	bytes    int64      // what the index took when it was loaded
	followed time.Time  // when the log was read last
	cleared  time.Time  // when the words of prompts that are gone went from memory last
	late     time.Time  // before it, every row is known
	seen     string     // the row key from where on rows are read whole
	seenAt   time.Time  // its stamp
	few      bool       // the last look at late rows had few of them
	looked   time.Time  // when that was
	lookOn   time.Time  // where a look that was cut short goes on; zero if none was
	lookFrom time.Time  // when that look began
}

func newScope(s *Scopes, of schema.Scope, now time.Time) *scope {
	c := &scope{s: s, of: of, loaded: make(chan struct{}), followed: now}
	c.index.Store(searchindex.New())
	c.idle = time.AfterFunc(idleFor, func() { s.drop(c) })
	return c
}

// wait waits for the scope to be loaded, and reports whether it is.
func (c *scope) wait(ctx context.Context, within time.Duration) (bool, error) {
	select {
	case <-c.loaded:
		return true, c.failed
	default:
	}
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-c.loaded:
		return true, c.failed
	case <-timer.C:
		return false, nil
	case <-ctx.Done():
		return false, rowstore.Unavailable(ctx.Err())
	}
}

// outdated reports whether the log may have lost rows that the index has not read.
func (c *scope) outdated(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return now.Sub(c.followed) >= keepFor
}

func (c *scope) isPartial() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.partial || c.behind
}

// tell has the index follow a commit: by the next search, and at once if the prompt is not in the
// scope.
func (c *scope) tell(rec schema.Record) {
	if rec.In(c.of) {
		d := docOf(rec)
		c.telling.Lock()
		c.told = append(c.told, d)
		c.telling.Unlock()
		c.addTold(mostTold)
		return
	}
	c.addTold(1) // no words of a prompt that is gone wait
	c.index.Load().Remove(rec.ID, table.Ticks(rec.LoggedAt))
}

// addTold adds what commits told to the index if there is so much of it.
func (c *scope) addTold(least int) {
	c.telling.Lock()
	defer c.telling.Unlock()
	if len(c.told) >= least {
		c.index.Load().Add(c.told...)
		c.told = nil
	}
}

// take has the index follow rows of the log, and returns how many bytes their words take. Rows that
// cannot be read are left out: verify finds them.
func (c *scope) take(ctx context.Context, rows []table.Row) (packed int) {
	docs := make([]searchindex.Doc, 0, len(rows))
	for _, row := range rows {
		id := prompt.ID(row.Props.Get("PromptId").Str())
		stamp, inKey, ok := schema.ParseLogRow(row.Row)
		if !ok || inKey != id || c.follows(row) {
			continue
		}
		d, err := docIn(row, table.Ticks(stamp))
		if err != nil {
			c.s.Log.WarnContext(ctx, "a row of the log of searches cannot be read",
				slog.String("prompt", string(id)), slog.Any("error", err))
			continue
		}
		docs = append(docs, d)
		packed += len(row.Props.Get("Terms").Str()) * 3 / 4 // of base 64
	}
	if len(docs) > 0 {
		c.index.Load().Add(docs...)
	}
	return packed
}

// follows has the index follow a row if that takes no more than its key and whether the prompt is
// gone. It reports false if the rest must be read.
func (c *scope) follows(row table.Row) bool {
	stamp, id, ok := schema.ParseLogRow(row.Row)
	if !ok {
		return true
	}
	if schema.IsGone(row.Props) {
		c.index.Load().Remove(id, table.Ticks(stamp))
		return true
	}
	known, _ := c.index.Load().Has(id)
	return known >= table.Ticks(stamp)
}
