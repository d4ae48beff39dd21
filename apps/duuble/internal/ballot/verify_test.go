package ballot_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/ballot"
	"prompthub/internal/storage/table"
)

// TestVerify: a quiet store has no difference, and each change of a row is found.
func TestVerify(t *testing.T) {
	t.Parallel()
	set := func(name string, v table.Value) func(table.Row) table.Op {
		return func(row table.Row) table.Op {
			return table.Op{
				Kind: table.Merge,
				Row:  table.Row{Key: row.Key, ETag: table.Any, Props: table.Props{{Name: name, Value: v}}},
			}
		}
	}
	remove := func(row table.Row) table.Op {
		return table.Op{Kind: table.Delete, Row: table.Row{Key: row.Key, ETag: table.Any}}
	}
	for _, c := range []struct {
		row  string
		do   func(table.Row) table.Op
		want []string
	}{
		{
			"!k|00", set("total_votes", table.Int64(6)),
			[]string{
				"scope global: votes 6, receipts 5",
				"scope global: votes 6, but counted 3, waiting 2 and withheld 0",
			},
		},
		{
			"!k|00", set("neutral", table.Int64(1)),
			[]string{
				"the sides of a tally are not the sums of its positions",
				"scope global: counted 3, by position 4",
			},
		},
		{
			"!k|00", set("left_count", table.Int64(7)),
			[]string{"the sides of a tally are not the sums of its positions"},
		},
		{
			"!k|00", set("withheld_votes", table.Int64(1)),
			[]string{"scope global: votes 5, but counted 3, waiting 2 and withheld 1"},
		},
		{"v|" + voter(0), remove, []string{"scope global: votes 5, receipts 4"}},
		{
			"b|g|00", set("waiting_votes", table.Int64(2)),
			[]string{
				"a damaged row: a box has other votes than it says",
				"scope global: votes 5, but counted 3, waiting 3 and withheld 0",
			},
		},
		{"k|hub|00", remove, []string{
			"scope hub: votes 0, receipts 1",
			"scope hub: votes 0, but counted 0, waiting 1 and withheld 0",
		}},
		{"k|hub|00", set("counted_votes", table.Int64(1)), []string{
			"scope hub: votes 1, but counted 1, waiting 1 and withheld 0", "scope hub: counted 1, by position 0",
			"scope hub: counted 1, fewer than a release",
		}},
	} {
		w := newWorld(t)
		for n := range 2 {
			w.cast(voter(n), ballot.Left)
		}
		w.cast(voter(2), ballot.Left, "other")
		w.clock.Pass(24 * time.Hour)
		require.NoError(t, w.SettleDue(t.Context())) // three are counted
		w.cast(voter(3), ballot.Left)
		w.cast("ann", ballot.Right, "hub")
		w.Store = w.over(w.db, w.queues, func(c *ballot.Config) { c.VoteMin = 2 })
		var found []string
		report := func(d ballot.Difference) {
			require.Equal(t, post, d.Post)
			found = append(found, d.Text)
		}
		checked, err := w.Verify(t.Context(), report)
		require.NoError(t, err)
		require.Empty(t, found)
		require.Equal(t, ballot.Checked{Posts: 1, Votes: 5}, checked)
		row, err := w.db.Get(t.Context(), posts, table.Key{Partition: ballot.Partition(post), Row: c.row})
		require.NoError(t, err)
		_, err = w.db.Write(t.Context(), posts, c.do(row))
		require.NoError(t, err)
		_, err = w.Verify(t.Context(), report)
		require.NoError(t, err)
		require.Equal(t, c.want, found, c.row)
	}
}

// TestVerifyCountsLostVotes: votes in boxes that no key opens are no difference, and are
// counted. Boxes that a smaller VoteMin would have released are one.
func TestVerifyCountsLostVotes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Store = w.over(w.db, w.queues, func(c *ballot.Config) { c.VoteMin = 5 })
	for n := range 4 {
		w.cast(voter(n), ballot.Left)
	}
	for _, c := range []struct {
		key  byte
		lost int64
		want string
	}{{2, 4, "[]"}, {1, 0, "[{" + post + " 4 votes wait in a box, which is enough for a release}]"}} {
		w.Store = w.over(w.db, w.queues, func(conf *ballot.Config) { conf.Keys = keys(t, c.key) })
		var found []ballot.Difference
		checked, err := w.Verify(t.Context(), func(d ballot.Difference) { found = append(found, d) })
		require.NoError(t, err)
		require.Equal(t, ballot.Checked{Posts: 1, Votes: 4, Lost: c.lost}, checked)
		require.Equal(t, c.want, fmt.Sprint(found))
	}
}
