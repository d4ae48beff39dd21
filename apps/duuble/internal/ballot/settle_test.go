package ballot_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/ballot"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// dueOf returns the keys of the rows by which SettleDue finds posts.
func (w *world) dueOf() (all []string) {
	w.t.Helper()
	for row, err := range table.All(w.t.Context(), w.db, due, table.Range{}) {
		require.NoError(w.t, err)
		all = append(all, row.Key.String())
	}
	return all
}

// TestSettleJoinsShards: votes of one class that wait in several shards are counted in all their
// scopes once the first is old enough, and not before.
func TestSettleJoinsShards(t *testing.T) {
	t.Parallel()
	for name, together := range map[string]bool{"apart": false, "together": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for n, shards := 0, 0; shards < 3; n++ { // as many as it takes until three shards have votes
				require.Less(t, n, 1000)
				// A process of its own, since each stays with its shard.
				w.Store = w.over(w.db, w.queues, func(c *ballot.Config) {
					if together {
						c.Transact = memory.Together(w.db, w.queues)
					}
				})
				_, err := w.Cast(t.Context(),
					ballot.Vote{Post: post, Voter: voter(n), Position: ballot.Left, Hubs: []string{"hub"}, Shards: 16})
				require.NoError(t, err)
				shards = 0
				for _, row := range rowsOf(t, w.db, ballot.BoxRows) {
					if row.Props.Get("waiting_votes").Int() > 0 {
						shards++
					}
				}
			}
			total := w.result("hub").Total
			require.GreaterOrEqual(t, w.result("hub").Waiting(), int64(3))
			require.Equal(t, []string{"due|settle|2026110112 / " + post}, w.dueOf())
			w.clock.Pass(24*time.Hour - time.Second)
			require.NoError(t, w.SettleDue(t.Context()))
			require.GreaterOrEqual(t, w.result("hub").Waiting(), int64(3))
			require.Len(t, w.dueOf(), 1)
			w.clock.Pass(time.Second)
			require.NoError(t, w.SettleDue(t.Context()))
			w.shows("hub", total, total, 0)
			w.shows(ballot.Global, total, total, 0)
			require.Empty(t, w.dueOf())
		})
	}
}

// TestSettleCommonScopes: votes of several classes are counted in the scopes that all of them
// have, and withheld in their other hubs.
func TestSettleCommonScopes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cast("ann", ballot.Left, "hub1", "hub2")
	w.cast("bob", ballot.Right, "hub1", "hub3")
	w.cast("cid", ballot.Right, "hub1")
	w.cast("dan", ballot.Neutral)
	w.clock.Pass(24 * time.Hour)
	require.NoError(t, w.SettleDue(t.Context()))
	w.shows("hub1", 3, 3, 0)
	w.shows("hub2", 1, 0, 1)
	w.shows("hub3", 1, 0, 1)
	w.shows(ballot.Global, 4, 3, 0)
	require.Equal(t, ballot.Counts{0, 1, 0, 2, 0}, w.result(ballot.Global).Counts)
	require.Empty(t, w.dueOf(), "the one that waits is looked at again when others vote")

	w.cast("eva", ballot.Neutral, "hub2")
	w.cast("fay", ballot.Neutral, "hub3")
	require.NoError(t, w.SettleDue(t.Context()))
	w.shows(ballot.Global, 6, 3, 0)
	w.clock.Pass(24 * time.Hour)
	require.NoError(t, w.SettleDue(t.Context()))
	w.shows(ballot.Global, 6, 6, 0)
	w.shows("hub2", 2, 0, 2)
	require.Empty(t, w.dueOf())
}

// TestSettleTakesOneClassFirst: votes that are enough in their own class are withheld nowhere.
func TestSettleTakesOneClassFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for n := 0; ; n++ {
		require.Less(t, n, 1000)
		_, err := w.over(w.db, w.queues).Cast(t.Context(), ballot.Vote{Post: post, Voter: voter(n), Shards: 16})
		require.NoError(t, err)
		if w.result(ballot.Global).Waiting() == 4 {
			break
		}
	}
	_, err := w.Cast(t.Context(), ballot.Vote{Post: post, Voter: "ann", Hubs: []string{"hub"}, Shards: 16})
	require.NoError(t, err)
	w.clock.Pass(24 * time.Hour)
	require.NoError(t, w.SettleDue(t.Context()))
	w.shows("hub", 1, 0, 0)
	require.Equal(t, int64(1), w.result(ballot.Global).Waiting())
}

// TestSettleKeepsWhatIsYoung: the row by which a post is found stays as long as a box needs it.
func TestSettleKeepsWhatIsYoung(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cast("ann", ballot.Left)
	w.clock.Pass(30 * time.Minute) // of the same hour
	w.cast("bob", ballot.Left, "hub")
	w.clock.Pass(time.Hour)
	w.cast("cid", ballot.Left, "hub2")
	require.Len(t, w.dueOf(), 2)
	w.clock.Pass(23*time.Hour - time.Minute)
	require.NoError(t, w.SettleDue(t.Context()))
	require.Len(t, w.dueOf(), 2, "bob's box is not old enough")
	w.clock.Pass(time.Minute)
	require.NoError(t, w.SettleDue(t.Context()))
	require.Equal(t, []string{"due|settle|2026110113 / " + post}, w.dueOf())
	w.clock.Pass(time.Hour)
	require.NoError(t, w.SettleDue(t.Context()))
	w.shows(ballot.Global, 3, 3, 0)
	require.Empty(t, w.dueOf())
}

// TestOldestOfABox: a box is as old as its first vote, however many come after it, and whichever
// of two processes with different clocks is the first to write.
func TestOldestOfABox(t *testing.T) {
	t.Parallel()
	for name, cast := range map[string]func(w *world){
		"in order": func(w *world) {
			w.cast("ann", ballot.Left, "hub")
			w.clock.Pass(10 * time.Hour)
			w.cast("bob", ballot.Left, "hub")
		},
		"out of order": func(w *world) {
			w.clock.Pass(10 * time.Hour)
			w.cast("bob", ballot.Left, "hub")
			w.clock.Pass(-10 * time.Hour)
			w.cast("ann", ballot.Left, "hub")
			w.clock.Pass(10 * time.Hour)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.cast("cid", ballot.Right)
			cast(w)
			w.clock.Pass(14*time.Hour - time.Second)
			require.NoError(t, w.SettleDue(t.Context()))
			w.shows(ballot.Global, 3, 0, 0)
			w.clock.Pass(time.Second)
			require.NoError(t, w.SettleDue(t.Context()))
			w.shows(ballot.Global, 3, 3, 0)
			w.shows("hub", 2, 0, 2)
		})
	}
}

// TestSettleLeavesLateVotes: the row by which a post is found stays until no vote of it can
// land.
func TestSettleLeavesLateVotes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Store = w.over(w.db, w.queues, func(c *ballot.Config) { c.SettleAfter = time.Second })
	w.cast("ann", ballot.Left)
	w.clock.Pass(2 * time.Second)
	require.NoError(t, w.SettleDue(t.Context()))
	require.Len(t, w.dueOf(), 1)
	w.clock.Pass(time.Minute)
	require.NoError(t, w.SettleDue(t.Context()))
	require.Empty(t, w.dueOf())
}

// TestKeys: each key opens and the first seals; a lost key costs the votes of its boxes and no
// total; settling seals anew.
func TestKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	with := func(numbers ...byte) *ballot.Store {
		return w.over(w.db, w.queues, func(c *ballot.Config) { c.Keys = keys(t, numbers...) })
	}
	w.cast("ann", ballot.Left)
	before := rowsOf(t, w.db, ballot.BoxRows)[0].Props.Get("sealed").Str()
	w.Store = with(2, 1)
	require.NoError(t, w.SettleAll(t.Context()))
	after := rowsOf(t, w.db, ballot.BoxRows)[0].Props.Get("sealed").Str()
	require.NotEqual(t, before[:5], after[:5], "the number of the key")
	require.Len(t, after, len(before))
	w.Store = with(2)
	w.cast("bob", ballot.Left)

	w.Store = with(3) // the second is lost
	for n := range 3 {
		w.shows(ballot.Global, 2+int64(n), 0, 0)
		w.cast(voter(n), ballot.Right)
	}
	counted := w.result(ballot.Global).Counted
	require.Positive(t, counted)
	require.Equal(t, ballot.Counts{0, 0, 0, counted, 0}, w.result(ballot.Global).Counts)
	w.Store = with(4) // and the third: another box takes its place
	w.cast("dan", ballot.Right)
	w.clock.Pass(25 * time.Hour)
	require.NoError(t, w.SettleAll(t.Context()))
	w.shows(ballot.Global, 6, counted, 0)
	var boxes []string
	for _, row := range rowsOf(t, w.db, ballot.BoxRows) {
		boxes = append(boxes, fmt.Sprint(row.Row, " ", row.Props.Get("waiting_votes").Int()))
	}
	require.Equal(t, []string{"b|g|00 2", fmt.Sprint("b|g|50 ", 3-counted), "b|g|66 1"}, boxes)
	w.Store = with(4, 3, 2) // both come back
	require.NoError(t, w.SettleAll(t.Context()))
	w.shows(ballot.Global, 6, 6, 0)

	_, err := ballot.NewKeys()
	require.Error(t, err)
	_, err = ballot.NewKeys(secret(1)[1:])
	require.Error(t, err)
}

// TestEmptyBoxNeedsNoKey: a key that is lost while nothing waits costs nothing.
func TestEmptyBoxNeedsNoKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for n, hub := range []string{"a", "b", "c"} {
		w.cast(voter(n), ballot.Left, hub)
	}
	w.clock.Pass(24 * time.Hour)
	require.NoError(t, w.SettleDue(t.Context()))
	w.Store = w.over(w.db, w.queues, func(c *ballot.Config) { c.Keys = keys(t, 2) })
	w.cast("ann", ballot.Left, "a")
	require.Len(t, rowsOf(t, w.db, ballot.BoxRows), 3)
}

// TestSealedIsBound: a sealed text of one box opens in no other, and not after a change.
func TestSealedIsBound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cast("ann", ballot.Left)
	w.cast("bob", ballot.Left, "hub")
	all := rowsOf(t, w.db, ballot.BoxRows)
	require.Len(t, all, 2)
	swapped := slices.Clone(all[0].Props)
	for i, p := range swapped {
		if p.Name == "sealed" {
			swapped[i].Value = all[1].Props.Get("sealed")
		}
	}
	_, err := w.db.Write(t.Context(), posts,
		table.Op{Kind: table.Replace, Row: table.Row{Key: all[0].Key, ETag: table.Any, Props: swapped}})
	require.NoError(t, err)
	for _, hubs := range [][]string{nil, {"hub"}} {
		for n := range 3 {
			w.cast(fmt.Sprint(voter(n), len(hubs)), ballot.Right, hubs...)
		}
	}
	waiting := map[string]int64{}
	for _, row := range rowsOf(t, w.db, ballot.BoxRows) {
		waiting[row.Row] = row.Props.Get("waiting_votes").Int()
	}
	require.Equal(t, int64(1), waiting[all[0].Row], "the box that does not open is left alone")
	require.Len(t, waiting, 3)
	counted := w.result(ballot.Global).Counted
	require.GreaterOrEqual(t, counted, int64(2), "those of both classes")
	w.shows(ballot.Global, 8, counted, 0)
}

// TestSettleFitsIntoABatch: boxes whose scopes do not fit into one batch are not released
// together.
func TestSettleFitsIntoABatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cast("ann", ballot.Left, hubs("a", ballot.MaxHubs)...)
	w.cast("bob", ballot.Left, hubs("b", ballot.MaxHubs)...)
	w.cast("cid", ballot.Left)
	w.cast("dan", ballot.Left, "hub")
	w.clock.Pass(24 * time.Hour)
	require.NoError(t, w.SettleDue(t.Context()))
	w.shows(ballot.Global, 4, 3, 0)
}

// hubs returns as many hubs.
func hubs(name string, n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprint(name, i))
	}
	return all
}
