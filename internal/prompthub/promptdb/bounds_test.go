package promptdb_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// walked pages through a list whose pages are mostly empty, and holds each request to the bound and
// to progress.
func walked(t *testing.T, store *counted, read func(after string) (promptdb.Page, error)) (items, pages int) {
	t.Helper()
	seen := map[string]bool{}
	for after := ""; ; pages++ {
		store.reset()
		page, err := read(after)
		require.NoError(t, err)
		require.LessOrEqual(t, store.rows, 4000+101)
		require.LessOrEqual(t, store.count(), maxCalls)
		items += len(page.Items)
		if after = page.After; after == "" {
			return items, pages
		}
		require.False(t, seen[after], "the cursor makes no progress")
		seen[after] = true
	}
}

// TestBoundOfEveryWalk asks for prompts that are rare or not there in lists that are longer than
// one request may scan.
func TestBoundOfEveryWalk(t *testing.T) {
	const n = 9000
	store := &counted{DB: memory.NewTables()}
	w := newWorldOn(t, store)
	tables := promptdb.DefaultTables()
	var mine []table.Op
	w.seed(n, func(table.Key) bool { return true }, func(i int) prompt.Prompt {
		p := w.made("ann", draft("x", []prompt.Tag{"data", "games"}[i%2]))
		p.Likes = int32(i % 97)
		if i == n-1 {
			p.Tags = []prompt.Tag{"data", "games"} // the oldest has both
			p.DeletedAt = time.Time{}
		}
		if mine = append(mine, table.Op{Kind: table.Insert, Row: w.MineRow(p)}); len(mine) == 100 {
			_, err := store.Write(t.Context(), tables.Prompts, mine...)
			require.NoError(t, err)
			mine = nil
		}
		return p
	})
	both := []prompt.Tag{"data", "games"}
	for _, limit := range []int{1, 20, 100} {
		t.Run(fmt.Sprintf("newest, limit %d", limit), func(t *testing.T) {
			items, pages := walked(t, store, func(after string) (promptdb.Page, error) {
				return w.Find(t.Context(), promptdb.Search{Tags: both}, after, limit)
			})
			require.Equal(t, 1, items)
			require.Positive(t, pages)
		})
		t.Run(fmt.Sprintf("most liked, limit %d", limit), func(t *testing.T) {
			items, pages := walked(t, store, func(after string) (promptdb.Page, error) {
				return w.Find(t.Context(), promptdb.Search{Tags: both, Order: promptdb.MostLiked}, after, limit)
			})
			require.Equal(t, 1, items)
			require.Positive(t, pages)
		})
		t.Run(fmt.Sprintf("mine, limit %d", limit), func(t *testing.T) {
			items, pages := walked(t, store, func(after string) (promptdb.Page, error) {
				return w.Mine(t.Context(), "ann", promptdb.Filter{Tags: both}, promptdb.ByNewest, after, limit)
			})
			require.Equal(t, 1, items)
			require.Positive(t, pages)
		})
	}
}

// A slow store takes its time for every list.
type slow struct {
	table.DB
	w     *world
	takes time.Duration
}

func (s *slow) List(ctx context.Context, name string, r table.Range, limit int, next string) (table.Page, error) {
	s.w.clock.Advance(s.takes)
	return s.DB.List(ctx, name, r, limit, next)
}

// newSlowWorld returns a world over a store that is slow once it is told how.
func newSlowWorld(t testing.TB) (*world, *slow) {
	t.Helper()
	store := &slow{DB: memory.NewTables()}
	w := newWorldOn(t, store.DB)
	store.w, w.store = w, store
	w.DB = w.another()
	require.NoError(t, w.Create(t.Context())) // which learns that texts are in the index
	return w, store
}

// TestASecondIsEnough stops a search when its time is over, with a cursor that goes on.
func TestASecondIsEnough(t *testing.T) {
	w, store := newSlowWorld(t)
	w.seed(4000, func(table.Key) bool { return true }, func(i int) prompt.Prompt {
		return w.made("ann", draft("x", []prompt.Tag{"data", "games"}[i%2]))
	})
	store.takes = 400 * time.Millisecond
	for _, order := range orders() {
		before := w.clock.Now()
		page, err := w.Find(t.Context(), promptdb.Search{Tags: []prompt.Tag{"data", "games"}, Order: order}, "", 1)
		require.NoError(t, err)
		require.NotEmpty(t, page.After)
		require.Less(t, w.clock.Now().Sub(before), 4*time.Second)
	}
}

// TestMyVoteBeyondAThousand marks votes in a page whose ends are more than a thousand votes apart.
func TestMyVoteBeyondAThousand(t *testing.T) {
	w := newWorldOn(t, memory.NewTables())
	first := w.made("ann", draft("oldest"))
	var ids []prompt.ID
	ids = append(ids, first.ID)
	for range 1100 {
		w.clock.Advance(time.Millisecond)
		ids = append(ids, w.made("ann", draft("in between")).ID)
	}
	for _, id := range ids {
		row := promptdb.VoterRow("bob", id, prompt.Like)
		_, err := w.store.Write(t.Context(), promptdb.DefaultTables().VotesByVoter,
			table.Op{Kind: table.Insert, Row: row})
		require.NoError(t, err)
	}
	views := make([]promptdb.View, 2)
	views[0].ID, views[1].ID = ids[len(ids)-1], ids[0]
	require.NoError(t, w.MarkVotes(t.Context(), "bob", views))
	require.Equal(t, prompt.Like, views[0].MyVote)
	require.Equal(t, prompt.Like, views[1].MyVote)
}
