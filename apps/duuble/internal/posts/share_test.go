package posts_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/ballot"
	"prompthub/apps/duuble/internal/duubletest"
	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/internal/fault"
	"prompthub/internal/testing/calls"
)

// inFeed returns the notes of the shares in the list of a person.
func (w *world) inFeed(c people.Claim, of string) (notes []string) {
	w.t.Helper()
	page, err := w.posts.Of(w.t.Context(), c, of, "", 10)
	require.NoError(w.t, err)
	for _, card := range page.Cards {
		if card.Share != nil {
			notes = append(notes, card.Share.Note)
		}
	}
	return notes
}

// TestShares: a share to one's own list is there for everybody, one to hubs for their members.
// Votes count in those hubs once the author of the post has shared it there, and not by a share of
// somebody else. A locked post stays in its hubs.
func TestShares(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	bob, cid := w.enter(2), w.enter(3)
	var in []string
	for range 2 {
		h := duubletest.NewHub(t, w.posts.Hubs, bob, hubs.Draft{Name: "Tea"})
		in = append(in, h.ID)
		w.Pass(time.Second) // so that their order is known
	}
	made, err := w.posts.Create(ctx, w.ann, posts.Draft{Slider: &posts.Slider{Text: "Tea?"}}, "")
	require.NoError(t, err)
	_, err = w.posts.Vote(ctx, bob, made.ID, ballot.Left)
	require.NoError(t, err)
	w.Pass(time.Second)
	_, err = w.posts.Share(ctx, bob, made.ID, nil, "to all", "")
	require.NoError(t, err)
	w.Pass(time.Second)
	_, err = w.posts.Share(ctx, bob, made.ID, in[:1], "to hubs", "")
	require.NoError(t, err)
	_, err = w.posts.Share(ctx, bob, made.ID, in, "again", "")
	require.NoError(t, err, "shares repeat")
	w.pump(2 * time.Minute)
	require.Empty(t, w.differences())
	for _, c := range []people.Claim{bob, cid, {}} {
		require.Equal(t, []string{"to all"}, w.inFeed(c, bob.UserID))
		page, err := w.posts.Shares(ctx, c, made.ID, "", 10)
		require.NoError(t, err)
		require.Len(t, page.Items, map[bool]int{true: 3, false: 1}[c == bob])
		card, err := w.posts.Card(ctx, c, made.ID)
		require.NoError(t, err)
		require.EqualValues(t, 3, card.Shares)
		require.Len(t, card.In, map[bool]int{true: 2}[c == bob])
	}
	feed, err := w.posts.InHub(ctx, bob, in[0], "", 10)
	require.NoError(t, err)
	require.Len(t, feed.Cards, 2)
	require.Equal(t, []any{"Person2", made.ID}, []any{feed.Cards[0].Share.By.Username, feed.Cards[0].ID})

	// Bob's vote was cast before, and Dan's before Ann, who wrote the post, has shared it into the
	// hub: they count for everybody alone.
	join := func(i int) people.Claim {
		c := w.enter(i)
		w.joinHub(bob, c, i, in[0])
		return c
	}
	dan, eva := join(4), join(5)
	receipt, err := w.posts.Vote(ctx, dan, made.ID, ballot.Left)
	require.NoError(t, err)
	require.Empty(t, receipt.Hubs)
	results, err := w.posts.HubResults(ctx, bob, made.ID)
	require.NoError(t, err)
	require.Empty(t, results)
	w.joinHub(bob, w.ann, 1, in[0])
	_, err = w.posts.Share(ctx, w.ann, made.ID, in[:1], "mine", "")
	require.NoError(t, err)
	receipt, err = w.posts.Vote(ctx, eva, made.ID, ballot.Left)
	require.NoError(t, err)
	require.Equal(t, in[:1], receipt.Hubs)
	results, err = w.posts.HubResults(ctx, bob, made.ID)
	require.NoError(t, err)
	require.Len(t, results, 1)
	require.EqualValues(t, 1, results[0].Total)

	refused := func(code fault.Code, c people.Claim, id string, to ...string) {
		_, err := w.posts.Share(ctx, c, id, to, "", "")
		require.Equal(t, code, fault.CodeOf(err))
	}
	own, err := w.posts.Create(ctx, bob,
		posts.Draft{Visibility: posts.Locked, Hubs: in[:1], Slider: &posts.Slider{Text: "Tea?"}}, "")
	require.NoError(t, err)
	refused(posts.LockedContent, bob, own.ID)
	refused(posts.LockedContent, bob, own.ID, in[1])
	refused(posts.PostNotFound, cid, own.ID)
	refused(hubs.NotAMember, cid, made.ID, in[0])
	_, err = w.posts.Share(ctx, bob, made.ID, nil, strings.Repeat("x", posts.MaxNote+1), "")
	require.Equal(t, fault.Invalid, fault.Of(err))

	_, err = w.people.Block(ctx, cid, bob.UserID, true)
	require.NoError(t, err)
	page, err := w.posts.Shares(ctx, cid, made.ID, "", 10)
	require.NoError(t, err)
	require.Empty(t, page.Items, "of a person who is hidden")
	require.NoError(t, w.posts.Delete(ctx, w.ann, made.ID))
	require.Empty(t, w.inFeed(bob, bob.UserID))
	_, err = w.posts.Shares(ctx, bob, made.ID, "", 10)
	require.Equal(t, posts.PostNotFound, fault.CodeOf(err))
	_, err = w.posts.Restore(ctx, w.ann, made.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"to all"}, w.inFeed(bob, bob.UserID))
	require.NoError(t, w.people.Leave(ctx, bob))
	page, err = w.posts.Shares(ctx, dan, made.ID, "", 10)
	require.NoError(t, err)
	require.Len(t, page.Items, 4)
	require.Equal(t, people.Person{FullName: people.DeletedName}, page.Items[1].By)
	require.NoError(t, w.posts.Delete(ctx, w.ann, made.ID))
	w.pump(2 * time.Minute)
	w.Pass(keep + time.Second)
	w.purge()
	require.NoError(t, w.posts.Ballot.SettleDue(ctx))
	require.Empty(t, w.differences())
	require.Len(t, w.rest(made.ID), 2, "in the lists of votes of Dan and Eva")
}

// TestCrashesOfShares: after any accident to any call of a share, sent again by the same key, it is
// there once, in all lists and counted once.
func TestCrashesOfShares(t *testing.T) {
	t.Parallel()
	for n := 1; ; n++ {
		w := newWorld(t)
		ctx := t.Context()
		h := duubletest.NewHub(t, w.posts.Hubs, w.ann, hubs.Draft{Name: "Tea"})
		made, err := w.posts.Create(ctx, w.ann, posts.Draft{Slider: &posts.Slider{Text: "Tea?"}}, "")
		require.NoError(t, err)
		var to []string
		if n%8 >= 4 {
			to = []string{h.ID}
		}
		share := func(s *posts.Service) error { _, err := s.Share(ctx, w.ann, made.ID, to, "note", "key"); return err }
		c := &calls.Crash{Left: n, Accident: calls.Accident{Lands: n%2 == 0, GoesOn: n%4 < 2}}
		err = share(w.over(c.Over(w.db, w.queues)))
		what := fmt.Sprintf("call %d: %v", n, err)
		if c.Left > 0 {
			require.NoError(t, err, what)
			require.Greater(t, n, 8, "accidents never happened")
			break // there is no such call
		}
		require.NoError(t, share(w.posts), what)
		w.pump(2 * time.Minute)
		require.Empty(t, w.differences(), what)
		card, err := w.posts.Card(ctx, w.ann, made.ID)
		require.NoError(t, err, what)
		require.EqualValues(t, 1, card.Shares, what)
		feed, err := w.posts.InHub(ctx, w.ann, h.ID, "", 10)
		require.NoError(t, err, what)
		require.Len(t, append(w.inFeed(w.ann, w.ann.UserID), make([]string, len(feed.Cards))...), 1, what)
	}
}

// TestPurgeOfShares: with a post that goes for good its shares go from all lists.
func TestPurgeOfShares(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	bob := w.enter(2)
	h := duubletest.NewHub(t, w.posts.Hubs, bob, hubs.Draft{Name: "Tea"})
	made, err := w.posts.Create(ctx, w.ann, posts.Draft{Slider: &posts.Slider{Text: "Tea?"}}, "")
	require.NoError(t, err)
	for _, to := range [][]string{nil, {h.ID}} {
		_, err := w.posts.Share(ctx, bob, made.ID, to, "", "")
		require.NoError(t, err)
	}
	require.Greater(t, len(w.traces(made.ID)), 6)
	require.NoError(t, w.posts.Delete(ctx, w.ann, made.ID))
	w.Pass(keep + time.Second)
	w.purge()
	require.NoError(t, w.people.Expire(ctx))
	require.Empty(t, w.traces(made.ID))
	require.Empty(t, w.differences())
}
