package meet_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/meet"
)

// TestNewMatches: a match is new until its member has seen it in the list, for each of the two by
// themselves; one with a member who is hidden is not counted.
func TestNewMatches(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		a, b, c, d := w.enter("a"), w.enter("b"), w.enter("c"), w.enter("d")
		fresh := func(of meet.Claim) (ids []string) {
			t.Helper()
			all, err := w.NewMatches(ctx, of, 20)
			require.NoError(t, err)
			for _, e := range all {
				require.True(t, e.Match)
				ids = append(ids, e.ID)
			}
			return ids
		}
		require.Empty(t, fresh(a))
		w.match(a, b)
		w.clock.Pass(time.Second)
		w.match(a, c)
		require.Equal(t, []string{c.UserID, b.UserID}, fresh(a), "the newest first")
		require.Equal(t, []string{a.UserID}, fresh(b))
		p, err := w.Matches(ctx, a, "", 20)
		require.NoError(t, err)
		require.NoError(t, w.SeeMatches(ctx, a, p.Entries[0].At))
		require.Empty(t, fresh(a))
		require.Equal(t, []string{a.UserID}, fresh(b), "b has not looked")
		w.clock.Pass(time.Second)
		w.match(a, d)
		require.Equal(t, []string{d.UserID}, fresh(a))
		require.NoError(t, w.Block(ctx, d, a.UserID))
		require.Empty(t, fresh(a))
		require.NoError(t, w.Unmatch(ctx, a, b.UserID))
		w.clock.Pass(time.Second)
		w.match(a, b)
		require.Equal(t, []string{b.UserID}, fresh(a), "again")
		require.NoError(t, w.Unmatch(ctx, b, a.UserID))
		require.Empty(t, fresh(a))
	})
}

// TestNewsTag: the tag changes with a like, a match, a message and a look at the matches, and stays
// otherwise; a secret like, and all that becomes of it, leaves it.
func TestNewsTag(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		a, b, c := w.enter("a"), w.enter("b"), w.enter("c")
		yes, no := true, false
		was := ""
		changes := func() bool {
			t.Helper()
			is, err := w.NewsTag(ctx, a)
			require.NoError(t, err)
			changed := is != was
			was = is
			return changed
		}
		require.True(t, changes())
		require.False(t, changes())
		_, _, err := w.Like(ctx, c, a.UserID, &yes)
		require.NoError(t, err)
		require.False(t, changes(), "a secret like")
		require.NoError(t, w.Block(ctx, c, a.UserID))
		require.False(t, changes())
		_, _, err = w.Like(ctx, b, a.UserID, &no)
		require.NoError(t, err)
		require.True(t, changes())
		l, _, err := w.Like(ctx, a, b.UserID, &no)
		require.NoError(t, err)
		require.True(t, changes())
		w.clock.Pass(time.Second)
		w.send(b, l.ChatID, "hello")
		require.True(t, changes())
		require.NoError(t, w.SeeMatches(ctx, a, w.clock.Now()))
		require.True(t, changes())
		require.False(t, changes())
	})
}
