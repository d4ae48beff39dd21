package ballot_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/ballot"
	"prompthub/internal/storage/table"
)

// addEnd gives the post an end.
func addEnd(t testing.TB, db table.DB, at time.Time, members ...string) {
	t.Helper()
	_, err := db.Write(t.Context(), posts, table.Op{Kind: table.Insert, Row: ballot.NewEnd(post, at, members)})
	require.NoError(t, err)
}

// votes casts votes on a post with an end, of voters that a name begins.
func (w *world) votes(name string, n int, hubs ...string) {
	w.t.Helper()
	for i := range n {
		_, err := w.Cast(w.t.Context(),
			ballot.Vote{
				Post: post, Voter: name + voter(i), Position: ballot.Position(i % 5),
				Hubs: hubs, Shards: 4, Ends: true,
			})
		require.NoError(w.t, err)
	}
}

// late holds that no vote is taken any more.
func (w *world) late() {
	w.t.Helper()
	_, err := w.Cast(w.t.Context(), ballot.Vote{Post: post, Voter: "late", Ends: true})
	requireCode(w.t, ballot.VoteEnded, err)
	require.Empty(w.t, rowsOf(w.t, w.db, ballot.ReceiptRows+"late"))
}

// quiet holds that verify finds nothing.
func (w *world) quiet() {
	w.t.Helper()
	_, err := w.Verify(w.t.Context(), func(d ballot.Difference) { require.Fail(w.t, d.Text) })
	require.NoError(w.t, err)
}

// TestEndByTime: nothing is counted before the end by any job, and all votes then.
func TestEndByTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Store = w.over(w.db, w.queues, func(c *ballot.Config) { c.VoteMin = 3 })
	at := began.Add(72 * time.Hour)
	require.NoError(t, w.AwaitEnd(t.Context(), post, at))
	addEnd(t, w.db, at)
	w.votes("", 40, "hub")
	w.clock.Pass(48 * time.Hour)
	require.NoError(t, w.SettleDue(t.Context()))
	require.NoError(t, w.SettleAll(t.Context()))
	require.NoError(t, w.EndDue(t.Context()))
	require.NoError(t, w.EndPost(t.Context(), post))
	w.shows(ballot.Global, 40, 0, 0)
	w.shows("hub", 40, 0, 0)
	w.quiet()
	w.clock.Pass(24*time.Hour + time.Second)
	w.late()
	w.shows(ballot.Global, 40, 0, 0)
	require.NoError(t, w.EndDue(t.Context()))
	w.shows("hub", 40, 40, 0)
	require.Equal(t, ballot.Counts{8, 8, 8, 8, 8}, w.result(ballot.Global).Counts)
	require.NoError(t, w.EndPost(t.Context(), post), "again")
	w.shows("hub", 40, 40, 0)
	w.late()
	w.quiet()
}

// TestEndWhenAllVoted: the last vote that a post waits for counts all of them, and ends it.
func TestEndWhenAllVoted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Store = w.over(w.db, w.queues, func(c *ballot.Config) { c.VoteMin = 3 })
	var members []string
	for n := range 5 {
		members = append(members, voter(n))
	}
	addEnd(t, w.db, began.Add(time.Hour), members...)
	row := rowsOf(t, w.db, "!end")[0]
	require.NotContains(t, row.Props.Get("left").Str(), "voter", "no ids")
	w.votes("guest", 1, "hub")
	w.votes("", 4, "hub")
	w.shows("hub", 5, 0, 0)
	w.quiet()
	_, err := w.Cast(t.Context(),
		ballot.Vote{Post: post, Voter: voter(4), Position: ballot.Neutral, Hubs: []string{"hub"}, Ends: true})
	require.NoError(t, err)
	w.shows("hub", 6, 6, 0)
	require.Equal(t, ballot.Counts{2, 1, 2, 1, 0}, w.result("hub").Counts)
	w.late()
	w.quiet()
}

// TestEndOfFew: fewer votes than an end counts together are never counted.
func TestEndOfFew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Store = w.over(w.db, w.queues, func(c *ballot.Config) { c.VoteMin = 3 })
	addEnd(t, w.db, began.Add(time.Hour))
	w.votes("", 4, "hub")
	w.clock.Pass(time.Hour)
	require.NoError(t, w.EndPost(t.Context(), post))
	w.shows(ballot.Global, 4, 0, 0)
	w.late()
	w.clock.Pass(48 * time.Hour)
	require.NoError(t, w.SettleAll(t.Context()))
	w.shows(ballot.Global, 4, 0, 0)
	w.quiet()
}

// TestEndOfClasses: votes of classes that are too small are counted with others, in the scopes that
// they have in common, and each of them for everybody.
func TestEndOfClasses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Store = w.over(w.db, w.queues, func(c *ballot.Config) { c.VoteMin = 3 })
	addEnd(t, w.db, began.Add(time.Hour))
	w.votes("a", 6, "hub1")
	w.votes("b", 7, "hub1", "hub2")
	w.votes("c", 3, "hub2")
	w.votes("d", 1)
	w.clock.Pass(time.Hour)
	require.NoError(t, w.EndPost(t.Context(), post))
	w.shows(ballot.Global, 17, 17, 0)
	var parts []string
	for _, row := range rowsOf(t, w.db, ballot.BoxRows) {
		require.Zero(t, row.Props.Get("waiting_votes").Int())
		parts = append(parts, row.Props.Get("scopes").Str())
	}
	require.Len(t, parts, 4, strings.Join(parts, " "))
	for _, hub := range []string{"hub1", "hub2"} {
		r := w.result(hub)
		require.Zero(t, r.Waiting())
		require.True(t, r.Counted == 0 || r.Counted >= 5, "%d", r.Counted)
	}
	w.quiet()
}
