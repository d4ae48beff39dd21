package posts_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/ballot"
	"prompthub/apps/duuble/internal/duubletest"
	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/notices"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/internal/fault"
	"prompthub/internal/host/function"
	"prompthub/internal/storage/queue"
	"prompthub/internal/testing/calls"
)

// told returns the notifications of a person, page after page: a type and the name of the actor
// each. Each names its hub and its post.
func (w *world) told(c people.Claim, unread bool) (all []string) {
	w.t.Helper()
	after := ""
	for {
		page, err := w.posts.Notifications(w.t.Context(), c, unread, after, 2)
		require.NoError(w.t, err)
		for _, n := range page.Items {
			all = append(all, n.Type+" "+n.Actor.Username)
			kind := notices.KindOf(n.Type)
			require.Equal(w.t, kind.OfHub || kind.InHub, n.HubName == "Tea", n)
			require.Equal(w.t, n.Post != "", n.Title != "", n)
		}
		if after = page.Next; after == "" {
			return all
		}
	}
}

// settled lets a second go by and the jobs do what is due, those that other jobs ask for too.
func (w *world) settled() {
	w.t.Helper()
	w.Pass(time.Second)
	w.pump(0)
	w.pump(0)
}

// TestNotifications: people are told once of acts of others around their posts, comments and
// accounts, and of posts in their hubs; not of their own acts, and of nothing that they may not see
// now.
func TestNotifications(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	bob, cid := w.enter(2), w.enter(3)
	id := w.post(w.ann, posts.Public)
	for _, c := range []people.Claim{w.ann, bob} {
		_, err := w.posts.Vote(ctx, c, id, ballot.Left)
		require.NoError(t, err)
	}
	w.settled()
	require.Equal(t, []string{"post_voted Person2"}, w.told(w.ann, false))
	comment := w.say(bob, id, "text", "")
	w.settled()
	reply := w.say(cid, id, "text", comment)
	w.say(w.ann, id, "text", "")
	w.settled()
	require.Equal(t, []string{"post_commented Person3", "post_commented Person2", "post_voted Person2"},
		w.told(w.ann, false))
	require.Equal(t, []string{"post_commented Person3"}, w.told(bob, false), "a reply to a comment of Bob")
	thought := "x"
	repost, err := w.posts.Create(ctx, bob, posts.Draft{Source: id, Thought: &thought}, "")
	require.NoError(t, err)
	w.settled()
	_, err = w.posts.Share(ctx, bob, id, nil, "", "")
	require.NoError(t, err)
	w.settled()
	for _, live := range []bool{true, false, true} {
		_, err = w.people.Follow(ctx, bob, w.ann.UserID, live)
		require.NoError(t, err)
		w.settled()
	}
	require.Equal(t, []string{"user_followed Person2", "post_shared_to_feed Person2", "post_reposted Person2"},
		w.told(w.ann, false)[:3])
	page, err := w.posts.Notifications(ctx, w.ann, false, "", 20)
	require.NoError(t, err)
	require.Len(t, page.Items, 6)
	require.Equal(t, []string{repost.ID, id}, []string{page.Items[2].Post, page.Items[2].Thing})

	// One is read, then all are, and a new one is not.
	unread := func(c people.Claim) int {
		n, err := w.posts.Unread(ctx, c)
		require.NoError(t, err)
		return n
	}
	require.Equal(t, 6, unread(w.ann))
	for range 2 {
		require.NoError(t, w.posts.ReadNotification(ctx, w.ann, page.Items[0].ID()))
	}
	require.Equal(t, 5, unread(w.ann))
	require.Equal(t, notices.NotFound, fault.CodeOf(w.posts.ReadNotification(ctx, bob, page.Items[0].ID())),
		"of another person")
	require.NoError(t, w.posts.ReadNotification(ctx, w.ann, ""))
	require.Zero(t, unread(w.ann))
	require.Empty(t, w.told(w.ann, true))
	require.Len(t, w.told(w.ann, false), 6)
	w.Pass(time.Second)
	_, err = w.posts.Vote(ctx, cid, id, ballot.Left)
	require.NoError(t, err)
	w.settled()
	require.Equal(t, []string{"post_voted Person3"}, w.told(w.ann, true))

	// People are told of nothing that is gone, and again of things that come back.
	require.NoError(t, w.posts.DeleteComment(ctx, cid, id, reply))
	require.NotContains(t, fmt.Sprint(w.told(w.ann, false)), "post_commented Person3")
	require.Empty(t, w.told(bob, false))
	require.NoError(t, w.posts.Delete(ctx, bob, repost.ID))
	require.NotContains(t, fmt.Sprint(w.told(w.ann, false)), "post_reposted")
	_, err = w.people.Block(ctx, w.ann, cid.UserID, true)
	require.NoError(t, err)
	require.Zero(t, unread(w.ann))
	require.NoError(t, w.people.Leave(ctx, bob))
	w.settled()
	require.Empty(t, w.told(w.ann, false))
	bob = w.comeBack(2)
	require.Len(t, w.told(w.ann, false), 4)
	require.NoError(t, w.posts.Delete(ctx, w.ann, id))
	require.Equal(t, []string{"user_followed Person2"}, w.told(w.ann, false))
	w.Pass(31 * 24 * time.Hour)
	require.Empty(t, w.told(w.again(1), false), "all are too old")
	require.NoError(t, w.posts.Purge(ctx))
	require.NotContains(t, fmt.Sprint(w.traces("user_followed")), "Notifications", "and gone")
	_ = bob
}

// comeBack has a person who has left come back.
func (w *world) comeBack(i int) people.Claim {
	w.t.Helper()
	_, c := w.signIn(i)
	_, err := w.people.Return(w.t.Context(), c)
	require.NoError(w.t, err)
	w.settled()
	return c
}

// TestMutes: a mute keeps away posts and shares of its hub, and nothing else. It ends by
// itself, and with the membership.
func TestMutes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	bob, cid := w.enter(2), w.enter(3)
	tea, coffee := w.hub(w.ann, 2, 3), w.hub(w.ann, 2)
	mute := func(to hubs.Mute) {
		m, err := w.posts.Hubs.SetMuted(ctx, bob, tea, to)
		require.NoError(t, err)
		require.Equal(t, to, m)
		m, err = w.posts.Hubs.Muted(ctx, bob, tea)
		require.NoError(t, err)
		require.Equal(t, to, m)
	}
	said := func() int {
		w.post(w.ann, posts.Locked, tea)
		shared := w.post(w.ann, posts.Public)
		_, err := w.posts.Share(ctx, w.ann, shared, []string{tea}, "", "")
		require.NoError(t, err)
		w.settled()
		n := len(w.told(bob, true))
		require.NoError(t, w.posts.ReadNotification(ctx, bob, ""))
		w.Pass(time.Second)
		return n
	}
	require.Equal(t, 2, said())
	require.Equal(t, []string{"post_shared_to_hub Person1", "hub_post_created Person1"}, w.told(cid, false))
	mute(hubs.Mute{Always: true})
	require.Zero(t, said())
	require.Len(t, w.told(cid, false), 4, "whoever mutes it mutes it for no one else")
	w.post(w.ann, posts.PublicHub, coffee)
	w.settled()
	require.Equal(t, []string{"hub_post_created Person1"}, w.told(bob, true))
	mine := w.post(bob, posts.Locked, tea)
	_, err := w.posts.Vote(ctx, w.ann, mine, ballot.Left)
	require.NoError(t, err)
	w.settled()
	require.Equal(t, "post_voted Person1", w.told(bob, true)[0], "a mute is of posts")
	require.NoError(t, w.posts.ReadNotification(ctx, bob, ""))
	w.Pass(time.Second)
	mute(hubs.Mute{})
	require.Equal(t, 2, said())
	mute(hubs.Mute{Until: w.Now().Add(time.Hour)})
	require.Zero(t, said())
	w.Pass(time.Hour)
	require.Equal(t, 2, said())
	mute(hubs.Mute{Always: true})
	require.NoError(t, w.posts.Hubs.Remove(ctx, bob, tea, bob.UserID))
	require.Equal(t, []string{"post_voted Person1", "hub_post_created Person1"}, w.told(bob, false),
		"of the hub that Bob has left his own post alone")
	_, err = w.posts.Hubs.SetMuted(ctx, bob, tea, hubs.Mute{Always: true})
	require.Equal(t, hubs.NotAMember, fault.CodeOf(err))
	w.join(w.ann, tea, 2)
	require.Len(t, w.told(bob, false), 8, "and all of it again")
	require.Equal(t, 2, said())
	require.Empty(t, w.differences())
}

// TestNewsOfTwoHubs: news of a post in two hubs name the hub that has the reader as a member.
func TestNewsOfTwoHubs(t *testing.T) {
	t.Parallel()
	for left := range 2 {
		w := newWorld(t)
		bob := w.enter(2)
		in := []string{w.hub(w.ann, 2), w.hub(w.ann, 2)}
		w.post(w.ann, posts.Locked, in...)
		w.settled()
		require.Equal(t, []string{"hub_post_created Person1"}, w.told(bob, false))
		require.NoError(t, w.posts.Hubs.Remove(t.Context(), bob, in[left], bob.UserID))
		require.Equal(t, []string{"hub_post_created Person1"}, w.told(bob, false))
	}
}

// TestNotificationsOfHubs: people are told of invitations, decisions, roles and removals, and
// admins of requests and of new members, each once; not of their own acts, nor admins of a hub in
// which they are none any more.
func TestNotificationsOfHubs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	bob, cid, dan := w.enter(2), w.enter(3), w.enter(4)
	h := w.posts.Hubs
	made := duubletest.NewHub(t, h, w.ann, hubs.Draft{Name: "Tea"})
	tea := made.ID
	var token string
	for range 2 { // the second is the first one again
		all, err := h.Invite(ctx, w.ann, tea, []string{duubletest.Number(2), duubletest.Number(90)}, hubs.Lasts)
		require.NoError(t, err)
		token = all[0].Token
		w.settled()
	}
	require.Equal(t, []string{"hub_invite_received Person1"}, w.told(bob, false))
	_, err := h.Accept(ctx, bob, hubs.Key{Token: token})
	require.NoError(t, err)
	w.settled()
	require.Empty(t, w.told(bob, false), "it is accepted, and joining was his own act")
	require.Equal(t, []string{"hub_member_joined Person2"}, w.told(w.ann, false))
	_, err = h.SetRole(ctx, w.ann, tea, bob.UserID, hubs.Admin)
	require.NoError(t, err)
	w.settled()
	require.Equal(t, []string{"hub_role_changed Person1"}, w.told(bob, false))
	link, err := h.NewLink(ctx, bob, tea, hubs.Lasts)
	require.NoError(t, err)
	var requests []string
	for _, c := range []people.Claim{cid, dan} {
		for range 2 {
			id, err := h.Join(ctx, c, link.Token)
			require.NoError(t, err)
			w.settled()
			requests = append(requests, id)
		}
	}
	require.Equal(t, []string{"hub_join_request_created Person4", "hub_join_request_created Person3"},
		w.told(w.ann, false)[:2])
	require.Equal(t, []string{"hub_join_request_created Person4", "hub_join_request_created Person3"},
		w.told(bob, false)[:2])
	_, err = h.Decide(ctx, bob, tea, requests[0], true)
	require.NoError(t, err)
	_, err = h.Decide(ctx, bob, tea, requests[2], false)
	require.NoError(t, err)
	w.settled()
	require.Equal(t, []string{"hub_join_request_approved Person2"}, w.told(cid, false))
	require.Equal(t, []string{"hub_join_request_rejected Person2"}, w.told(dan, false))
	require.Equal(t, "hub_member_joined Person3", w.told(w.ann, false)[0])
	require.Len(t, w.told(bob, false), 3, "that Cid joined was the act of Bob")
	page, err := w.posts.Notifications(ctx, cid, false, "", 10)
	require.NoError(t, err)
	require.Equal(t, []string{requests[0], tea}, []string{page.Items[0].Thing, page.Items[0].Hub})
	require.NoError(t, h.Remove(ctx, bob, tea, cid.UserID))
	w.settled()
	require.Equal(t, []string{"hub_member_removed Person2", "hub_join_request_approved Person2"}, w.told(cid, false))
	_, err = h.SetRole(ctx, w.ann, tea, bob.UserID, hubs.Member)
	require.NoError(t, err)
	w.settled()
	require.Equal(t, []string{"hub_role_changed Person1", "hub_role_changed Person1"},
		w.told(bob, false), "nothing for admins alone")
	require.NoError(t, h.Remove(ctx, bob, tea, bob.UserID))
	w.settled()
	require.Empty(t, w.told(bob, false))
	require.Len(t, w.told(w.ann, false), 4, "no one is told that a member leaves")
	require.Empty(t, w.differences())
	require.Empty(t, w.traces("o|"+"0"), "no event stays")
}

// TestCrashesOfHubEvents: after any accident to any call of a request to join, of its approval and
// of their jobs, each sent again, admins and the person are told once.
func TestCrashesOfHubEvents(t *testing.T) {
	t.Parallel()
	for n := 1; ; n++ {
		w := newWorld(t)
		ctx := t.Context()
		bob := w.enter(2)
		made := duubletest.NewHub(t, w.posts.Hubs, w.ann, hubs.Draft{Name: "Tea"})
		link, err := w.posts.Hubs.NewLink(ctx, w.ann, made.ID, hubs.Lasts)
		require.NoError(t, err)
		c := &calls.Crash{Left: n, Accident: calls.Accident{Lands: n%2 == 0, GoesOn: n%4 < 2}}
		over := w.over(c.Over(w.db, w.queues))
		request, _ := over.Hubs.Join(ctx, bob, link.Token)
		if request == "" || c.Left <= 0 {
			request, err = w.posts.Hubs.Join(ctx, bob, link.Token)
			require.NoError(t, err)
		}
		if _, err = over.Hubs.Decide(ctx, w.ann, made.ID, request, true); err != nil {
			_, err = w.posts.Hubs.Decide(ctx, w.ann, made.ID, request, true)
			if fault.CodeOf(err) != hubs.AlreadyDecided { // the first one has landed
				require.NoError(t, err, "call %d", n)
			}
		}
		jobs := over.Triggers()
		list, err := w.queues.Receive(ctx, "fan-out", queue.MaxReceive, time.Second)
		require.NoError(t, err)
		for _, m := range list {
			for _, job := range jobs {
				if job.Name == "fan-out" {
					_ = job.Run(ctx, function.Invocation{Text: m.Text}) // it comes again
				}
			}
		}
		for range 2 {
			w.pump(2 * time.Minute)
		}
		require.Equal(t, []string{"hub_join_request_created Person2"}, w.told(w.ann, false), "call %d", n)
		require.Equal(t, []string{"hub_join_request_approved Person1"}, w.told(bob, false), "call %d", n)
		require.Empty(t, w.differences(), "call %d", n)
		if c.Left > 0 {
			require.Greater(t, n, 15, "accidents never happened")
			break // there is no such call
		}
	}
}
