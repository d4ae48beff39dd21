// Package promptdb keeps prompts, votes and tags in tables. It is the only code that reads or
// writes these tables. A DB puts its rooms together:
//
//   - schema says which rows there are,
//   - truth reads the rows that say what is, commit changes them, query reads lists,
//   - accounts keeps users, tokens, favorites and the catalog of tags,
//   - learn computes on timers, verify compares and repairs, erase removes, backup writes and reads
//     everything.
//
// There is one truth row for each prompt, in the partition of its author. Every other row of a
// prompt is a pure function of it: package schema is the only code that knows which exist. Table
// Storage has no transaction across partitions, so a write follows the protocol that package commit
// describes.
package promptdb

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/accounts"
	"prompthub/internal/prompthub/promptdb/backup"
	"prompthub/internal/prompthub/promptdb/commit"
	"prompthub/internal/prompthub/promptdb/erase"
	"prompthub/internal/prompthub/promptdb/learn"
	"prompthub/internal/prompthub/promptdb/query"
	"prompthub/internal/prompthub/promptdb/scopes"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/prompthub/promptdb/verify"
	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
	"prompthub/internal/storage/transact"
)

// Config is what a DB needs. Every field but Blobs, Transact, Load, Quota, EventsFor, Tags, Jitter
// and Count is required.
type Config struct {
	Store  table.DB
	Queues queue.Queues
	Blobs  blob.Store // for backups; nil: none are kept
	Tables Tables
	// Transact changes Store and Queues together; nil if they cannot.
	Transact transact.Func
	Load     transact.Loader // of Store, for a restore; nil if it has none
	Quota    Quota           // of each user; the zero one limits no user
	// EventsFor is how long events of workspaces are kept; 0 means for ever.
	EventsFor time.Duration
	Now       func() time.Time
	Log       *slog.Logger
	Tags      []prompt.TagInfo // what an empty catalog is filled with; nil means prompt.DefaultTags
	// Background runs work that may follow the answer. It must run every function it is given, at
	// once or later; one that never runs costs a message that finds nothing to do.
	Background func(func())
	Sleep      func(context.Context, time.Duration) error // waits, or returns the context's error
	// a random duration up to the given one; nil means random
	Jitter func(time.Duration) time.Duration

	// Count is told of projections, repairs (of what another writer left) and differences (that
	// anti-entropy found); nil means that nothing is.
	Count func(ctx context.Context, kind string, n int)

	// SearchMemory is how many bytes the indexes of searches may take; 0 means a quarter of what the
	// process may use.
	SearchMemory int64
}

// DB holds the prompts. Its methods may be called at once from many goroutines and return
// errors of package fault.
type DB struct {
	*truth.Reader
	*commit.Committer
	*query.Queries
	*scopes.Scopes
	*accounts.Accounts
	*learn.Learner
	*verify.Verifier
	*erase.Eraser
	*backup.Backups

	prefix string // of the names of tables
}

// New returns a DB over a store. It reads and writes nothing.
func New(c Config) *DB {
	if c.Tags == nil {
		c.Tags = prompt.DefaultTags()
	}
	if c.Jitter == nil {
		c.Jitter = rand.N[time.Duration]
	}
	if c.Count == nil {
		c.Count = func(context.Context, string, int) {}
	}
	rows := &rowstore.Store{
		DB: c.Store, Now: c.Now, Log: c.Log, Sleep: c.Sleep,
		Random: c.Jitter, Background: c.Background,
	}
	r := truth.New(rows, c.Tables.Prefixed(), c.Quota)
	indexes := scopes.New(r, c.SearchMemory)
	q := query.New(r, indexes)
	a := accounts.New(r, c.Tags)
	q.Rules = a.LabelRules
	w := commit.New(r, c.Queues, commit.Config{
		Transact: c.Transact, Count: c.Count, OnProjected: q.Projected, OnCommitted: indexes.Told, Rules: a.LabelRules,
	})
	v := verify.New(r, w, q, a, c.Load)
	v.EventsFor = c.EventsFor
	return &DB{
		Reader: r, Committer: w, Queries: q, Scopes: indexes, Accounts: a,
		Learner: learn.New(r, q, indexes, a), Verifier: v,
		Eraser: erase.New(r, w, a, v, indexes), Backups: backup.New(r, a, v, c.Blobs),
		prefix: c.Tables.Prefix,
	}
}
