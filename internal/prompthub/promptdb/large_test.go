package promptdb_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// A distant store takes its time for every call, that of a bubble, and counts them.
type distant struct {
	table.DB
	takes time.Duration
	away  bool // else it answers at once
	calls atomic.Int64
}

func (d *distant) wait(ctx context.Context) error {
	if !d.away {
		return nil
	}
	d.calls.Add(1)
	return sleep(ctx, d.takes)
}

func (d *distant) Get(ctx context.Context, name string, key table.Key) (table.Row, error) {
	if err := d.wait(ctx); err != nil {
		return table.Row{}, err
	}
	return d.DB.Get(ctx, name, key)
}

func (d *distant) List(ctx context.Context, name string, r table.Range, limit int, next string) (table.Page, error) {
	if err := d.wait(ctx); err != nil {
		return table.Page{}, err
	}
	return d.DB.List(ctx, name, r, limit, next)
}

func (d *distant) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	if err := d.wait(ctx); err != nil {
		return nil, err
	}
	return d.DB.Write(ctx, name, ops...)
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// newDistant returns a database on a distant store that answers at once as yet. It must be called
// in a bubble.
func newDistant(t *testing.T, takes time.Duration) (*promptdb.DB, *distant) {
	store := &distant{DB: memory.NewTables(), takes: takes}
	db := promptdb.New(promptdb.Config{
		Store: store, Queues: memory.NewQueues(time.Now), Tables: promptdb.DefaultTables(), Now: time.Now,
		Log:        slog.New(slog.DiscardHandler),
		Background: func(f func()) { go f() }, Sleep: sleep,
	})
	require.NoError(t, db.Create(t.Context()))
	return db, store
}

// popular fills a database with one prompt that has n likes, deleted at a time unless that is zero.
func popular(t *testing.T, db *promptdb.DB, votes int, deletedAt time.Time) prompt.Prompt {
	id, err := prompt.NewID(time.Now().Add(-time.Hour), zeros{})
	require.NoError(t, err)
	p := prompt.Prompt{
		ID: id, AuthorID: "ann", AuthorName: "Ann", Draft: draft("popular", "text"),
		CreatedAt: id.Time(), UpdatedAt: id.Time(), DeletedAt: deletedAt, Revision: 1,
	}
	likers := make([]prompt.UserID, votes)
	for i := range likers {
		likers[i] = prompt.UserID(fmt.Sprintf("voter %06d", i))
	}
	_, err = db.BulkLoad(t.Context(), func(yield func(prompt.Prompt, []prompt.UserID) bool) { yield(p, likers) }, 4)
	require.NoError(t, err)
	return p
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// aCrowd is how many voted on one prompt, and how long a call of the storage takes there: 20,000 at
// 50 ms take as long as the 100,000 at 10 ms of "make deep", which sets POPULAR.
func aCrowd() (votes int, takes time.Duration) {
	if os.Getenv("POPULAR") != "" {
		return 100_000, 10 * time.Millisecond
	}
	return 20_000, 50 * time.Millisecond
}

// TestSweepOfAPopularPrompt walks the votes of a crowd on one prompt: each run ends in its time and
// goes on where the last one stopped, inside the prompt. A voter's row that is missing after all of
// them is found, and so is a tally that differs from all of them together.
func TestSweepOfAPopularPrompt(t *testing.T) {
	if testing.Short() {
		t.Skip("seeds thousands of votes")
	}
	t.Parallel()
	bubble(t, func(t *testing.T) {
		manyVotes, takes := aCrowd()
		db, store := newDistant(t, takes)
		p := popular(t, db, manyVotes, time.Time{})
		last := promptdb.VoterRow(prompt.UserID(fmt.Sprintf("voter %06d", manyVotes-1)), p.ID, prompt.Like).Key
		_, err := store.Write(t.Context(), promptdb.DefaultTables().VotesByVoter,
			table.Op{Kind: table.Delete, Row: table.Row{Key: last, ETag: table.Any}})
		require.NoError(t, err)
		miscount(t, store, p)
		store.away = true
		runs, found, longest := 0, 0, time.Duration(0)
		for began := time.Now(); found < 2; runs++ {
			require.Less(t, time.Since(began), 24*time.Hour)
			start := time.Now()
			_, differences, err := db.Sweep(t.Context())
			require.NoError(t, err)
			found += differences
			longest = max(longest, time.Since(start))
			time.Sleep(time.Until(start.Add(15 * time.Minute)))
		}
		store.away = false
		require.LessOrEqual(t, longest, promptdb.JobEnds)
		require.Greater(t, runs, 1, "else this test does not show that it goes on")
		var left []string
		_, err = db.Verify(t.Context(), func(d promptdb.Difference) {
			left = append(left, fmt.Sprint(d))
		}, func(int) {})
		require.NoError(t, err)
		require.Len(t, left, 1, "what is repaired is the voter's row")
		require.Contains(t, left[0], "the votes are", "a tally is left to a person")
		t.Logf("%d runs, the longest %s, %d calls", runs, longest, store.calls.Load())
	})
}

// miscount adds a like without a vote to a share of the tally.
func miscount(t *testing.T, store table.DB, p prompt.Prompt) {
	votes := promptdb.DefaultTables().Votes
	page, err := store.List(t.Context(), votes, table.Prefix("p|"+string(p.ID), "!tally"), 1, "")
	require.NoError(t, err)
	require.Len(t, page.Rows, 1)
	row := page.Rows[0]
	likes := row.Props.Get("Likes").Int()
	require.Positive(t, likes)
	_, err = store.Write(t.Context(), votes, table.Op{Kind: table.Merge, Row: table.Row{
		Key: row.Key, ETag: row.ETag, Props: table.Props{{Name: "Likes", Value: table.Int32(int32(likes + 1))}},
	}})
	require.NoError(t, err)
}

// TestPurgeOfAPopularPrompt removes a prompt that a crowd voted on; the first run is ended by its
// caller half-way.
func TestPurgeOfAPopularPrompt(t *testing.T) {
	if testing.Short() {
		t.Skip("seeds thousands of votes")
	}
	t.Parallel()
	bubble(t, func(t *testing.T) {
		manyVotes, takes := aCrowd()
		db, store := newDistant(t, takes)
		popular(t, db, manyVotes, time.Now().AddDate(0, 0, -40))
		store.away = true
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		n, err := db.Purge(ctx)
		cancel()
		require.Error(t, err)
		require.Zero(t, n)
		half := store.calls.Load()
		runs, longest := 0, time.Duration(0)
		for ; n == 0; runs++ {
			require.Less(t, runs, 10)
			start := time.Now()
			n, err = db.Purge(t.Context())
			require.NoError(t, err)
			longest = max(longest, time.Since(start))
		}
		require.LessOrEqual(t, longest, promptdb.JobEnds)
		require.Less(t, store.calls.Load()-half, int64(manyVotes), "it began again")
		for _, name := range promptdb.DefaultTables().All() {
			if name == promptdb.DefaultTables().SystemState {
				continue // holds which version of the rows the store has
			}
			page, err := store.DB.List(t.Context(), name, table.Range{}, 1, "")
			require.NoError(t, err)
			require.Empty(t, page.Rows, name)
		}
		t.Logf("%d more runs, the longest %s, %d calls", runs, longest, store.calls.Load())
	})
}

// TestFullPass walks a whole library with anti-entropy, 10 ms a call and a run every 15 minutes,
// and tells what it took: SWEEP_PROMPTS says how many prompts. A pass must not take longer than its
// rest.
func TestFullPass(t *testing.T) {
	t.Parallel()
	n := 500
	if s := os.Getenv("SWEEP_PROMPTS"); s != "" {
		var err error
		n, err = strconv.Atoi(s)
		require.NoError(t, err)
	}
	bubble(t, func(t *testing.T) {
		db, store := newDistant(t, 10*time.Millisecond)
		from := time.Now().Add(-time.Duration(n) * time.Minute)
		_, err := db.BulkLoad(t.Context(), func(yield func(prompt.Prompt, []prompt.UserID) bool) {
			for i := range n {
				id, _ := prompt.NewID(from.Add(time.Duration(i)*time.Minute), zeros{})
				p := prompt.Prompt{
					ID: id, AuthorID: prompt.UserID(fmt.Sprint("author ", i%1000)), AuthorName: "Ann",
					Draft:     draft(fmt.Sprintf("Five words of title %d", i), "text", "data", "games"),
					CreatedAt: id.Time(), UpdatedAt: id.Time(), Revision: 1,
				}
				if !yield(p, []prompt.UserID{"vera", prompt.UserID(fmt.Sprint("voter ", i%5000))}) {
					return
				}
			}
		}, 4)
		require.NoError(t, err)
		store.away = true
		began, busy, rows, runs := time.Now(), time.Duration(0), 0, 0
		for {
			start := time.Now()
			r, differences, err := db.Sweep(t.Context())
			require.NoError(t, err)
			require.Zero(t, differences)
			if r == 0 {
				break
			}
			rows, runs = rows+r, runs+1
			busy += time.Since(start)
			require.LessOrEqual(t, time.Since(start), promptdb.JobEnds)
			time.Sleep(time.Until(start.Add(15 * time.Minute)))
		}
		took := time.Since(began)
		require.Less(t, took, 24*time.Hour)
		t.Logf("%d prompts, %d rows: %d calls, %d runs of together %s (%.2f %% of a day), the pass took %s (%.0f %% of a day)",
			n, rows, store.calls.Load(), runs, busy.Round(time.Second), 100*busy.Hours()/24,
			took.Round(time.Minute), 100*took.Hours()/24)
	})
}
