package ballot_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/ballot"
	"prompthub/apps/duuble/internal/duubletest"
	"prompthub/internal/fault"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/repeatable"
)

const (
	posts = "Posts"
	due   = "Admin"
	post  = "01POST"
)

var began = time.Date(2026, 11, 1, 12, 10, 0, 0, time.UTC)

// secret returns a key that a number decides.
func secret(n byte) []byte { return slices.Repeat([]byte{n}, ballot.KeyBytes) }

func keys(t testing.TB, numbers ...byte) ballot.Keys {
	t.Helper()
	var all [][]byte
	for _, n := range numbers {
		all = append(all, secret(n))
	}
	k, err := ballot.NewKeys(all...)
	require.NoError(t, err)
	return k
}

// config returns a store's configuration over a storage. Three votes are enough for a release, so
// that few of them show each case.
func config(t testing.TB, db table.DB, queues queue.Queues, now func() time.Time, seed uint64) ballot.Config {
	t.Helper()
	return ballot.Config{
		Store: duubletest.Rows(db, now),
		Posts: posts, Due: due, Queues: queues, Keys: keys(t, 1), VoteMin: 1, SettleAfter: 24 * time.Hour,
		Entropy: repeatable.Seeded(seed),
		Follow:  func(context.Context, []ballot.Receipt) error { return nil },
	}
}

// A world is a store over memory.
type world struct {
	*ballot.Store
	t      testing.TB
	clock  *repeatable.Clock
	db     *memory.Tables
	queues *memory.Queues
}

func newWorld(t testing.TB, change ...func(*ballot.Config)) *world {
	t.Helper()
	c := repeatable.NewClock(began)
	w := &world{t: t, clock: c, db: memory.NewTables(), queues: memory.NewQueues(c.Now)}
	prepare(t, w.db, w.queues, 1)
	w.Store = w.over(w.db, w.queues, change...)
	return w
}

// prepare makes tables, queues and a post.
func prepare(t testing.TB, db table.DB, queues queue.Queues, shards int32) {
	t.Helper()
	require.NoError(t, db.Create(t.Context(), posts, due))
	require.NoError(t, queues.Create(t.Context(), ballot.QueueOutbox))
	_, err := db.Write(t.Context(), posts, table.Op{Kind: table.Insert, Row: table.Row{
		Key:   table.Key{Partition: ballot.Partition(post), Row: "!post"},
		Props: table.Props{{Name: "shards", Value: table.Int32(shards)}},
	}})
	require.NoError(t, err)
}

// processes counts stores, so that no two draw the same ids.
var processes = struct {
	sync.Mutex
	n uint64
}{}

// over returns a store over another storage, as another process.
func (w *world) over(db table.DB, queues queue.Queues, change ...func(*ballot.Config)) *ballot.Store {
	processes.Lock()
	defer processes.Unlock()
	processes.n++
	c := config(w.t, db, queues, w.clock.Now, processes.n)
	for _, f := range change {
		f(&c)
	}
	return ballot.New(c)
}

func (w *world) cast(voter string, p ballot.Position, hubs ...string) ballot.Receipt {
	w.t.Helper()
	r, err := w.Cast(w.t.Context(), ballot.Vote{Post: post, Voter: voter, Position: p, Hubs: hubs})
	require.NoError(w.t, err)
	return r
}

// result returns what a scope shows.
func (w *world) result(scope string) ballot.Result {
	w.t.Helper()
	if scope == ballot.Global {
		all, err := w.Results(w.t.Context(), post)
		require.NoError(w.t, err)
		return all[0]
	}
	all, err := w.Results(w.t.Context(), post, scope)
	require.NoError(w.t, err)
	return all[1]
}

// shows holds a scope to how many votes are cast, counted and withheld.
func (w *world) shows(scope string, total, counted, withheld int64) {
	w.t.Helper()
	r := w.result(scope)
	require.Equal(w.t, [3]int64{total, counted, withheld}, [3]int64{r.Total, r.Counted, r.Withheld}, scope)
	require.Equal(w.t, r.Counted, r.Counts.Sum())
}

// rows returns the rows of the post whose key begins so.
func rowsOf(t testing.TB, db table.DB, prefix string) (all []table.Row) {
	t.Helper()
	for row, err := range table.All(t.Context(), db, posts, table.Range{Partition: ballot.Partition(post)}) {
		require.NoError(t, err)
		if strings.HasPrefix(row.Row, prefix) {
			all = append(all, row)
		}
	}
	return all
}

func requireCode(t testing.TB, want fault.Code, err error) {
	t.Helper()
	require.Equal(t, want, fault.CodeOf(err), "%v", err)
}

func voter(n int) string { return fmt.Sprintf("voter%03d", n) }

// follows takes note of votes, or fails.
func follows(all *[]ballot.Receipt, failure *error) func(context.Context, []ballot.Receipt) error {
	return func(_ context.Context, votes []ballot.Receipt) error {
		if *failure == nil {
			*all = append(*all, votes...)
		}
		return *failure
	}
}

// races lets others change the first tally of a batch before it is written.
type races struct {
	table.DB
	lose int
	each func()
}

func (r *races) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	if name == posts && len(ops) > 1 && r.lose > 0 {
		r.lose--
		if r.each != nil {
			r.each()
		}
		return nil, &table.OpError{Index: len(ops) - 2, Key: ops[len(ops)-2].Row.Key, Err: table.ErrConflict}
	}
	return r.DB.Write(ctx, name, ops...)
}
