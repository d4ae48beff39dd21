package promptdb_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"prompthub/internal/memory"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/table"
)

// rankKeys returns the keys of a prompt in the orders hot and best.
func rankKeys(t require.TestingT, p prompt.Prompt) (hot, best table.Key) {
	db := promptdb.New(promptdb.Config{Tables: promptdb.DefaultTables()})
	for _, row := range db.IndexRows(p) {
		switch row.Table {
		case "PublicPromptsHotIndex":
			hot = row.Row.Key
		case "PublicPromptsBestIndex":
			best = row.Row.Key
		}
	}
	require.NotEmpty(t, hot)
	require.NotEmpty(t, best)
	return hot, best
}

func withVotes(t require.TestingT, at time.Time, likes, dislikes int32) prompt.Prompt {
	id, err := prompt.NewID(at, zeros{})
	require.NoError(t, err)
	return prompt.Prompt{
		ID: id, AuthorID: "ann", CreatedAt: at, Tally: prompt.Tally{Likes: likes, Dislikes: dislikes},
		Draft: prompt.Draft{Title: "T", Visibility: prompt.Public},
	}
}

func TestHotKeys(t *testing.T) {
	t.Parallel()
	at := time.Unix(1763683200, 0)
	for _, tt := range []struct {
		likes, dislikes int32
		weeks           int
		partition, row  string
	}{
		{0, 0, 0, "pub|hot|999902", "0999998029"},
		{10, 0, 0, "pub|hot|999901", "0999998009"},
		{0, 0, 1, "pub|hot|999901", "0999998009"},
		{100, 0, 0, "pub|hot|999900", "0999997989"},
		{0, 10, 0, "pub|hot|999903", "0999998049"},
	} {
		hot, best := rankKeys(t, withVotes(t, at.AddDate(0, 0, 7*tt.weeks), tt.likes, tt.dislikes))
		require.Equal(t, tt.partition, hot.Partition)
		require.Equal(t, tt.row, hot.Row[:10])
		require.Equal(t, tt.likes+tt.dislikes < 3, best.Partition[:10] == "pub|best|h")
	}
}

// TestMovesPerThousandLikes counts how often rows change their place on the way to a thousand
// likes.
func TestMovesPerThousandLikes(t *testing.T) {
	t.Parallel()
	at := time.Unix(1763683200, 0)
	var hotMoves, bestMoves, buckets int
	hotWas, bestWas := rankKeys(t, withVotes(t, at, 0, 0))
	for likes := range int32(1000) {
		hot, best := rankKeys(t, withVotes(t, at, likes+1, 0))
		if hot != hotWas {
			hotMoves++
		}
		if best != bestWas {
			bestMoves++
		}
		if hot.Partition != hotWas.Partition || best.Partition != bestWas.Partition {
			buckets++
		}
		hotWas, bestWas = hot, best
	}
	require.Equal(t, 49, hotMoves)
	require.Equal(t, 34, bestMoves, "with 2 as hot moves, with 3 to those with votes enough, then 32 times")
	require.Equal(t, 8, buckets, "the others are one batch in one partition")
}

// TestRankKeysKeepTheOrder holds that ascending keys are descending numbers, across partitions too,
// from the first time that an id can have to the last, and that every key tells its prompt.
func TestRankKeysKeepTheOrder(t *testing.T) {
	t.Parallel()
	db := promptdb.New(promptdb.Config{Tables: promptdb.DefaultTables()})
	draw := func(t *rapid.T, name string) prompt.Prompt {
		at := time.UnixMilli(rapid.OneOf(rapid.Int64Range(0, 253402300799999), rapid.Int64Range(1.7e12, 1.8e12)).Draw(t, name+" made"))
		votes := rapid.OneOf(rapid.Int32Range(0, 5), rapid.Int32Range(0, 1<<30))
		return withVotes(t, at, votes.Draw(t, name+" likes"), votes.Draw(t, name+" dislikes"))
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t, "a"), draw(t, "b")
		hotA, bestA := rankKeys(t, a)
		hotB, bestB := rankKeys(t, b)
		for key, p := range map[table.Key]prompt.Prompt{hotA: a, hotB: b} {
			require.Equal(t, p.ID, db.OwnerOf("PublicPromptsHotIndex", key))
		}
		for key, p := range map[table.Key]prompt.Prompt{bestA: a, bestB: b} {
			require.Equal(t, p.ID, db.OwnerOf("PublicPromptsBestIndex", key))
		}
		if hotness(a) > hotness(b) {
			require.Less(t, hotA.Row, hotB.Row)
			require.LessOrEqual(t, hotA.Partition, hotB.Partition)
		}
		if a.ID != b.ID && better(a, b) < 0 {
			require.Less(t, bestA.Row, bestB.Row)
			require.LessOrEqual(t, bestA.Partition, bestB.Partition)
		}
	})
}

// TestOrdersStayAsTimePasses walks both orders page by page, finds each public prompt once, and the
// same a year later.
func TestOrdersStayAsTimePasses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var all []prompt.Prompt
	for i := range 40 {
		p := w.add("ann", draft(fmt.Sprint(i), "text"))
		for v := range i % 7 {
			value := prompt.Like
			if v%3 == 2 {
				value = prompt.Dislike
			}
			w.vote(prompt.UserID(fmt.Sprint("voter", v)), p.ID, value)
		}
		w.clock.Advance(26 * time.Hour)
		all = append(all, p)
	}
	w.run()
	all = w.truth(all)
	for range 2 {
		for _, order := range []promptdb.Order{promptdb.MostLiked, promptdb.Hot, promptdb.Best} {
			var want []string
			for _, p := range sorted(all, order) {
				want = append(want, p.Title)
			}
			for _, limit := range []int{1, 7, 100} {
				require.Equal(t, want, w.titles(limit, func(after string) (promptdb.Page, error) { return w.Ranked(t.Context(), order, after, limit) }), "%s, limit %d", order, limit)
			}
		}
		w.clock.Advance(365 * 24 * time.Hour)
	}
}

// TestForgedRanks holds that what is no position of an order is told so.
func TestForgedRanks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hot, best := rankKeys(t, withVotes(t, time.Unix(1763683200, 0), 5, 0))
	for _, order := range []promptdb.Order{promptdb.Hot, promptdb.Best} {
		for _, after := range []string{"x", "|", "h", "h|", "101" + best.Row[3:], "-01" + best.Row[3:], "+79" + best.Row[3:], "h" + best.Row, "9999999999999999999" + hot.Row[10:], "00" + hot.Row} {
			_, err := w.Ranked(t.Context(), order, after, 5)
			require.ErrorContains(t, err, "the cursor is not one that this list gave out", "%s %q", order, after)
		}
	}
}

// TestOrdersOfAnEarlierVersion opens a store that has no rows of the orders: anti-entropy writes
// them as it comes by, and reindex at once.
func TestOrdersOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	for name, mend := range map[string]func(w *world) error{
		"anti-entropy": func(w *world) error {
			_, _, err := w.Sweep(w.t.Context())
			w.run()
			return err
		},
		"reindex": func(w *world) error {
			_, err := w.Reindex(w.t.Context(), false, func(promptdb.Difference) {}, func(int) {})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorldOn(t, memory.NewTables())
			p := w.add("ann", draft("Old", "text"))
			_, best := rankKeys(t, p)
			hot, _ := rankKeys(t, p)
			tables := promptdb.DefaultTables()
			for name, op := range map[string]table.Op{
				tables.Hot:         {Kind: table.Delete, Row: table.Row{Key: hot, ETag: table.Any}},
				tables.Best:        {Kind: table.Delete, Row: table.Row{Key: best, ETag: table.Any}},
				tables.SystemState: {Kind: table.Upsert, Row: table.Row{Key: promptdb.RowsKey(), Props: table.Props{{Name: "RowsVersion", Value: table.Int32(2)}}}},
				tables.Prompts: {Kind: table.Merge, Row: table.Row{
					Key: promptdb.PromptKey(p.AuthorID, p.ID), ETag: table.Any, Props: table.Props{{Name: "RowsVersion", Value: table.Int32(2)}},
				}},
			} {
				_, err := w.store.Write(t.Context(), name, op)
				require.NoError(t, err)
			}
			w.DB = w.another()
			require.NoError(t, w.Create(t.Context()))
			require.NotEmpty(t, w.found(), "what is missing is found")
			require.NoError(t, mend(w))
			w.check()
			for _, order := range []promptdb.Order{promptdb.Hot, promptdb.Best} {
				page, err := w.Ranked(t.Context(), order, "", 5)
				require.NoError(t, err)
				require.Len(t, page.Items, 1, order)
			}
		})
	}
}
