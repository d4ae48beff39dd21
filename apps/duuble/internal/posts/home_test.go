package posts_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/ballot"
	"prompthub/apps/duuble/internal/duubletest"
	"prompthub/apps/duuble/internal/feed"
	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/manage"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/fault"
	"prompthub/internal/host/function"
	"prompthub/internal/storage/queue"
	"prompthub/internal/testing/calls"
)

// home returns what is in the home of a person, page after page: a type and the id of a post each.
func (w *world) home(c people.Claim) (all []string) {
	w.t.Helper()
	after := ""
	for {
		page, err := w.posts.Home(w.t.Context(), c, after, 2)
		require.NoError(w.t, err)
		for _, one := range page.Items {
			if page.Default {
				all = append(all, "default "+one.ID)
				continue
			}
			require.Equal(w.t, one.Actor.ID, one.Activity.Actor)
			all = append(all, one.Activity.Type+" "+one.ID)
		}
		if after = page.Next; after == "" {
			return all
		}
	}
}

// hub makes a hub of a person with others as members.
func (w *world) hub(owner people.Claim, members ...int) string {
	w.t.Helper()
	h := duubletest.NewHub(w.t, w.posts.Hubs, owner, hubs.Draft{Name: "Tea"})
	for _, i := range members {
		w.join(owner, h.ID, i)
	}
	return h.ID
}

func (w *world) join(owner people.Claim, hub string, i int) {
	w.t.Helper()
	invited, err := w.posts.Hubs.Invite(w.t.Context(), owner, hub, []string{duubletest.Number(i)}, hubs.Lasts)
	require.NoError(w.t, err)
	_, err = w.posts.Hubs.Accept(w.t.Context(), w.again(i), hubs.Key{Token: invited[0].Token})
	require.NoError(w.t, err)
}

// post posts a question, and lets some time go by.
func (w *world) post(c people.Claim, visibility string, in ...string) string {
	w.t.Helper()
	made, err := w.posts.Create(w.t.Context(), c,
		posts.Draft{Visibility: visibility, Hubs: in, Slider: &posts.Slider{Text: "Tea?"}}, "")
	require.NoError(w.t, err)
	w.Pass(time.Second)
	return made.ID
}

// TestHome: a home has activities of people that the reader follows, posts of the reader's hubs,
// activities of members of those hubs, and those around posts where the reader took part. Each
// shows as long as its reason, its post and its deed are there.
func TestHome(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	bob, cid, dan, eve := w.enter(2), w.enter(3), w.enter(4), w.enter(5)
	follow := func(c, other people.Claim, live bool) {
		_, err := w.people.Follow(ctx, c, other.UserID, live)
		require.NoError(t, err)
		w.pump(0)
	}
	first := w.post(bob, posts.Public)
	require.Empty(t, w.home(w.ann), "the default feed, in which is no one")
	follow(w.ann, bob, true)
	require.Equal(t, []string{"post_created " + first}, w.home(w.ann), "what was before the follow comes with it")
	require.Empty(t, w.home(bob), "nothing of one's own")
	second := w.post(bob, posts.Public)
	w.pump(0)
	require.Equal(t, []string{"post_created " + second, "post_created " + first}, w.home(w.ann))

	// The newest activity on a post shows, and each post once a page.
	_, err := w.posts.Vote(ctx, bob, first, ballot.Left)
	require.NoError(t, err)
	w.Pass(time.Second)
	w.pump(0) // the outbox
	w.pump(0)
	page, err := w.posts.Home(ctx, w.ann, "", 10)
	require.NoError(t, err)
	require.Len(t, page.Items, 2)
	require.Equal(t, []string{feed.Voted, first, "Person2"},
		[]string{page.Items[0].Activity.Type, page.Items[0].ID, page.Items[0].Actor.Username})
	comment := w.say(bob, first, "text", "")
	w.Pass(time.Second)
	w.pump(0)
	require.Equal(t, "post_commented "+first, w.home(w.ann)[0])
	require.NoError(t, w.posts.DeleteComment(ctx, bob, first, comment))
	require.Equal(t, "post_voted "+first, w.home(w.ann)[0], "the comment is not there any more")
	_, err = w.posts.Share(ctx, bob, second, nil, "", "")
	require.NoError(t, err)
	w.Pass(time.Second)
	w.pump(0)
	require.Equal(t, "post_shared_to_feed "+second, w.home(w.ann)[0])
	require.NoError(t, w.posts.Delete(ctx, bob, second))
	require.NotContains(t, fmt.Sprint(w.home(w.ann)), second)
	_, err = w.posts.Restore(ctx, bob, second)
	require.NoError(t, err)
	require.Contains(t, fmt.Sprint(w.home(w.ann)), second)
	follow(w.ann, bob, false)
	require.Empty(t, w.home(w.ann), "the default feed again")
	follow(w.ann, bob, true)

	// In a hub all see what is posted there, and what the others do elsewhere.
	tea := w.hub(bob, 3)
	third := w.post(bob, posts.PublicHub, tea)
	locked := w.post(bob, posts.Locked, tea)
	w.pump(0)
	require.Equal(t, []string{"post_created " + locked, "post_created " + third}, w.home(cid))
	page, err = w.posts.Home(ctx, cid, "", 10)
	require.NoError(t, err)
	require.Equal(t, tea, page.Items[0].HubID)
	require.Contains(t, fmt.Sprint(w.home(w.ann)), third, "whoever follows Bob sees what is not locked")
	require.NotContains(t, fmt.Sprint(w.home(w.ann)), locked)
	other := w.post(dan, posts.Public)
	_, err = w.posts.Share(ctx, bob, other, []string{tea}, "", "")
	require.NoError(t, err)
	w.Pass(time.Second)
	w.pump(0)
	require.Equal(t, "post_shared_to_hub "+other, w.home(cid)[0])
	require.NotContains(t, fmt.Sprint(w.home(w.ann)), other, "a share into a hub is for its members")
	elsewhere := w.post(bob, posts.Public)
	w.pump(0)
	require.Equal(t, "post_created "+elsewhere, w.home(cid)[0])
	require.NoError(t, w.posts.Hubs.Remove(ctx, cid, tea, cid.UserID))
	require.Empty(t, w.home(cid), "who leaves sees nothing of it")
	w.join(bob, tea, 3)
	require.Len(t, w.home(cid), 4)

	// A person who voted or commented sees the activities of others there.
	for _, c := range []people.Claim{dan, eve} {
		w.say(c, elsewhere, "text", "")
		w.Pass(time.Second)
		w.pump(0)
	}
	require.Equal(t, []string{"post_commented " + elsewhere}, w.home(dan))
	_, err = w.people.Block(ctx, eve, dan.UserID, true)
	require.NoError(t, err)
	require.Empty(t, w.home(dan))
	require.Equal(t, "post_created "+elsewhere, w.home(cid)[0], "Cid did not take part")
	require.NoError(t, w.people.Leave(ctx, bob))
	w.pump(0)
	require.NotContains(t, fmt.Sprint(w.home(cid)), "post_created", "nothing of who has left")
	w.Pass(31 * 24 * time.Hour)
	for _, i := range []int{1, 3, 4, 5} {
		require.Empty(t, w.home(w.again(i)), "all are too old")
	}
}

// TestBeyond: the homes of followers beyond MaxFans have the same posts as the homes of the others,
// also after a follow ended and began again, and while a post is hidden from one of them.
func TestBeyond(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.posts.MaxFans = 3
	star := w.enter(2)
	var fans []people.Claim
	follow := func(c people.Claim, live bool) {
		_, err := w.people.Follow(ctx, c, star.UserID, live)
		require.NoError(t, err)
		w.Pass(time.Second)
		w.pump(0)
	}
	for i := range 6 {
		fans = append(fans, w.enter(3+i))
		follow(fans[i], true)
	}
	follow(fans[0], false) // is not there when the others are marked
	leaver := fans[1]
	require.NoError(t, w.people.Leave(ctx, leaver))
	w.pump(0)
	first := w.post(star, posts.Public)
	w.pump(0)
	tea := w.hub(star, 5) // in which is one from beyond
	locked := w.post(star, posts.Locked, tea)
	second := w.post(star, posts.Public)
	w.pump(0)
	follow(fans[0], true)
	leaver = w.comeBack(4)
	w.pump(0)
	third := w.post(star, posts.Public)
	w.pump(0)
	all := []string{"post_created " + third, "post_created " + second, "post_created " + first}
	for i, c := range []people.Claim{fans[0], leaver, fans[3], fans[4], fans[5]} {
		require.Equal(t, all, w.home(c), i)
	}
	require.Equal(t, []string{all[0], all[1], "post_created " + locked, all[2]}, w.home(fans[2]))
	require.Empty(t, w.differences())
	require.Len(t, w.each("Users", schema.User(leaver.UserID), func(key string) bool {
		return strings.HasPrefix(key, "fb|")
	}), 1)
	follow(leaver, false)
	require.Empty(t, w.home(leaver))
	_, err := w.people.Block(ctx, star, fans[0].UserID, true)
	require.NoError(t, err)
	require.Empty(t, w.home(fans[0]))
	require.NoError(t, w.posts.Erase(ctx, star.UserID))
	w.purge()
	require.Empty(t, slices.DeleteFunc(w.traces(star.UserID), func(row string) bool {
		return strings.HasPrefix(row, "Admin due|")
	}))
	require.Empty(t, w.home(fans[2]))
	require.Empty(t, w.differences())
}

// TestBeyondIsBounded: a home reads the lists of MaxBeyond people, the last that its reader
// followed, however many of them have many followers.
func TestBeyondIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.posts.MaxFans = 1
	var newest string
	crowd := w.enter(2)
	for i := range posts.MaxBeyond + 5 {
		star := w.enter(10 + i)
		for _, c := range []people.Claim{w.ann, crowd} {
			_, err := w.people.Follow(ctx, c, star.UserID, true)
			require.NoError(t, err)
			w.Pass(time.Second)
		}
		newest = w.post(star, posts.Public)
		w.pump(0)
	}
	var read atomic.Int32
	counted := calls.Tables(w.db, func(ctx context.Context, c calls.Call) error {
		if strings.Contains(c.Label, "act|") {
			read.Add(1)
		}
		_, err := c.Do(ctx)
		return err
	})
	page, err := w.over(counted, w.queues).Home(ctx, w.ann, "", 100)
	require.NoError(t, err)
	require.EqualValues(t, posts.MaxBeyond, read.Load())
	require.Equal(t, newest, page.Items[0].ID)
	require.Len(t, page.Items, posts.MaxBeyond)
}

// TestHomeOfLocked: an activity around a locked post is written into homes of members alone.
func TestHomeOfLocked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	bob, cid, dan := w.enter(2), w.enter(3), w.enter(4)
	for _, c := range []people.Claim{cid, dan} {
		_, err := w.people.Follow(ctx, c, bob.UserID, true)
		require.NoError(t, err)
	}
	eve := w.enter(5)
	tea := w.hub(bob, 3, 5)
	w.hub(bob, 4)
	require.NoError(t, w.posts.Hubs.Remove(ctx, eve, tea, eve.UserID))
	id := w.post(bob, posts.Locked, tea)
	_, err := w.posts.Vote(ctx, bob, id, ballot.Left)
	require.NoError(t, err)
	w.Pass(time.Second)
	w.say(bob, id, "text", "")
	w.pump(0)
	w.pump(0)
	rows := func(of people.Claim) int {
		n := 0
		for _, row := range w.traces(id) {
			if strings.HasPrefix(row, "Lists home|"+of.UserID) {
				n++
			}
		}
		return n
	}
	require.Equal(t, 3, rows(cid))
	require.Zero(t, rows(dan))
	require.Zero(t, rows(eve), "who has left")
	require.Zero(t, rows(bob))
	require.Equal(t, []string{"post_commented " + id}, w.home(cid))
	require.Empty(t, w.home(dan))

	// A share into a hub is for its members: a follower must be one of them, too.
	shared := w.post(w.ann, posts.Public)
	_, err = w.posts.Share(ctx, bob, shared, []string{tea}, "", "")
	require.NoError(t, err)
	w.Pass(time.Second)
	w.pump(0)
	require.Equal(t, "post_shared_to_hub "+shared, w.home(cid)[0])
	require.NoError(t, w.posts.Hubs.Remove(ctx, cid, tea, cid.UserID))
	require.Empty(t, w.home(cid))
}

// TestDefaultFeed: the managers of the service choose up to 20 people, of whom the newest post of
// each comes first, and then the second newest of each. New posts do not change pages.
func TestDefaultFeed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	bob, cid, dan := w.enter(2), w.enter(3), w.enter(4)
	_, err := w.posts.Manage.SetDefaultUser(ctx, bob, cid.UserID, 1, true)
	require.Equal(t, people.Forbidden, fault.CodeOf(err))
	_, err = w.posts.Manage.DefaultUsers(ctx, bob)
	require.Equal(t, people.Forbidden, fault.CodeOf(err))
	require.Equal(t, people.Forbidden, fault.CodeOf(w.posts.Manage.RemoveDefaultUser(ctx, bob, cid.UserID)))
	w.people.Admins = []string{duubletest.Number(1)}
	_, err = w.posts.Manage.SetDefaultUser(ctx, w.ann, "nobody", 1, true)
	require.Equal(t, people.UserNotFound, fault.CodeOf(err))
	_, err = w.posts.Manage.SetDefaultUser(ctx, w.ann, cid.UserID, 0, true)
	require.Equal(t, fault.Invalid, fault.Of(err))
	set := func(c people.Claim, order int, active bool) {
		one, err := w.posts.Manage.SetDefaultUser(ctx, w.ann, c.UserID, order, active)
		require.NoError(t, err)
		require.Equal(t, c.UserID, one.Person.ID)
	}
	set(cid, 7, true)
	set(cid, 2, true)
	set(bob, 1, true)
	set(dan, 1, false)
	tea := w.hub(cid)
	b1, c1, c2 := w.post(bob, posts.Public), w.post(cid, posts.Public), w.post(cid, posts.Public)
	w.post(cid, posts.PublicHub, tea)
	w.post(cid, posts.Locked, tea)
	w.post(dan, posts.Public)
	_, err = w.posts.Share(ctx, bob, c1, nil, "", "")
	require.NoError(t, err)
	c3 := w.post(cid, posts.Public)
	read := func(c people.Claim, then func()) (all []string) {
		after := ""
		for {
			page, err := w.posts.Default(ctx, c, after, 1)
			require.NoError(t, err)
			for _, card := range page.Cards {
				all = append(all, card.ID)
			}
			if after = page.Next; after == "" {
				return all
			}
			then()
		}
	}
	require.Equal(t, []string{b1, c3, c2, c1},
		read(people.Claim{}, func() { w.Pass(time.Second); w.post(bob, posts.Public) }),
		"posts that come meanwhile are on no page")
	all, err := w.posts.Manage.DefaultUsers(ctx, w.ann)
	require.NoError(t, err)
	require.Len(t, all, 3)
	require.Equal(t, []any{2, true}, []any{all[2].Order, all[2].IsActive})
	require.NoError(t, w.posts.Manage.RemoveDefaultUser(ctx, w.ann, bob.UserID))
	require.NoError(t, w.posts.Manage.RemoveDefaultUser(ctx, w.ann, bob.UserID))
	require.Equal(t, []string{c3, c2, c1}, read(dan, func() {}))
	require.Equal(t, []string{"default " + c3, "default " + c2, "default " + c1}, w.home(dan))
	_, err = w.people.Block(ctx, dan, cid.UserID, true)
	require.NoError(t, err)
	require.Empty(t, read(dan, func() {}))
	require.NoError(t, w.people.Leave(ctx, cid))
	require.Empty(t, read(people.Claim{}, func() {}))
	for _, after := range []string{"x", "1", "1 x", "1 -1", "1 99999"} {
		_, err = w.posts.Default(ctx, people.Claim{}, after, 10)
		require.Equal(t, fault.Malformed, fault.Of(err), after)
	}
	for i := range manage.MaxDefaultUsers {
		more := w.enter(10 + i)
		_, err = w.posts.Manage.SetDefaultUser(ctx, w.ann, more.UserID, 5, true)
	}
	require.Equal(t, people.TooMany, fault.CodeOf(err))
}

// TestCrashesOfFeeds: after any accident to any call of the jobs that carry a post, a vote, a
// comment and a follow into homes, and the repeats of their messages, the homes are as without one.
func TestCrashesOfFeeds(t *testing.T) {
	t.Parallel()
	want := ""
	for n := 0; ; n++ {
		w := newWorld(t)
		ctx := t.Context()
		w.posts.MaxFans = 1
		bob, cid := w.enter(2), w.enter(3)
		tea := w.hub(bob, 1)
		for _, c := range []people.Claim{w.ann, cid} { // Ann is beyond
			_, err := w.people.Follow(ctx, c, bob.UserID, true)
			require.NoError(t, err)
			w.Pass(time.Second)
		}
		for _, id := range []string{w.post(bob, posts.Public), w.post(bob, posts.Locked, tea)} {
			_, err := w.posts.Vote(ctx, bob, id, ballot.Left)
			require.NoError(t, err)
			w.Pass(time.Second)
			w.say(bob, id, "text", "")
			w.Pass(time.Second)
		}
		c := &calls.Crash{Left: n, Accident: calls.Accident{Lands: n%2 == 0, GoesOn: n%4 < 2}}
		if n == 0 {
			c.Left = 1 << 30 // no accident
		}
		jobs := w.over(c.Over(w.db, w.queues))
		jobs.MaxFans = 1
		for range 3 { // a job may send another message
			for _, trigger := range append(jobs.Triggers(), jobs.People.Triggers()...) {
				if trigger.Queue == "" {
					continue
				}
				list, err := w.queues.Receive(ctx, trigger.Queue, queue.MaxReceive, time.Second)
				require.NoError(t, err)
				for _, m := range list {
					if trigger.Run(ctx, function.Invocation{Text: m.Text}) == nil {
						require.NoError(t, w.queues.Delete(ctx, trigger.Queue, m.Receipt))
					}
				}
			}
		}
		for range 3 {
			w.pump(2 * time.Minute)
		}
		// that come with a follow, or later
		stored := slices.DeleteFunc(w.traces("post_"), func(row string) bool {
			return strings.HasPrefix(row, "Lists home|")
		})
		got := fmt.Sprint(w.home(w.ann), w.home(cid), len(stored), len(w.traces("fb|")))
		if n == 0 {
			want = got
			require.Contains(t, want, "post_commented")
			continue
		}
		require.Equal(t, want, got, "call %d", n)
		require.Empty(t, w.differences(), "call %d", n)
		if c.Left > 0 {
			require.Greater(t, n, 20, "accidents never happened")
			break // there is no such call
		}
	}
}
