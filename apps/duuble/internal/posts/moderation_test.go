package posts_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/assets"
	"prompthub/apps/duuble/internal/discussions"
	"prompthub/apps/duuble/internal/duubletest"
	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/manage"
	"prompthub/apps/duuble/internal/notices"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/internal/fault"
	"prompthub/internal/http/auth/session"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/calls"
)

// A tea is a hub with everything that is moderated. Ann manages the service and is not in it; Boss
// is its super_admin, Chief an admin, Author wrote the post, the comment and the message, Member is
// one and nothing else, Target is one whom others ban, Stranger is from outside.
type tea struct {
	*world
	by                                          map[string]people.Claim
	hub, locked, open, comment, talk, message   string
	reportOfPost, reportOfComment, reportOfTalk string
}

func (w *world) tea() *tea {
	w.t.Helper()
	ctx := w.t.Context()
	w.people.Admins = []string{duubletest.Number(1)}
	x := &tea{world: w, by: map[string]people.Claim{"guest": {}, "manager": w.ann}}
	for i, name := range []string{"boss", "chief", "author", "member", "target", "stranger"} {
		x.by[name] = w.enter(2 + i)
	}
	boss, author := x.by["boss"], x.by["author"]
	x.hub = w.group(boss, map[int]people.Claim{3: x.by["chief"], 4: author, 5: x.by["member"], 6: x.by["target"]})
	_, err := w.posts.Hubs.SetRole(ctx, boss, x.hub, x.by["chief"].UserID, hubs.Admin)
	require.NoError(w.t, err)
	x.locked = w.locked(author, x.hub)
	w.Pass(time.Second) // so that their order is known
	x.open = w.post(author, posts.PublicHub, x.hub)
	x.comment = w.say(author, x.locked, "my comment", "")
	x.talk = w.discussed(author, x.hub, x.locked)
	x.message = w.writes(author, x.hub, x.talk, "my message", "")
	report := func(of manage.Target) string {
		r, _, err := w.posts.Manage.Report(ctx, boss, of, "abuse", "")
		require.NoError(w.t, err)
		w.Pass(time.Second)
		return r.ID
	}
	x.reportOfPost, x.reportOfComment, x.reportOfTalk = report(x.aPost()), report(x.aComment()), report(x.aMessage())
	x.pump(2 * time.Minute)
	return x
}

func (x *tea) aPost() manage.Target { return manage.Target{Kind: manage.APost, ID: x.locked} }

func (x *tea) aComment() manage.Target {
	return manage.Target{Kind: manage.AComment, ID: x.locked + "|" + x.comment}
}

func (x *tea) aMessage() manage.Target {
	return manage.Target{Kind: manage.AMessage, ID: x.hub + "|" + x.talk + "|" + x.message}
}

// TestWhoModerates is the matrix of the people that may take out, delete, ban, suspend and report.
// All others are refused with the code that the row gives.
func TestWhoModerates(t *testing.T) {
	t.Parallel()
	const ok = fault.Code("")
	everybody := []string{"guest", "stranger", "member", "author", "chief", "boss", "manager"}
	m := func(w *world) *manage.Service { return w.posts.Manage }
	for name, row := range map[string]struct {
		do  func(context.Context, *tea, people.Claim) error
		may map[string]bool
		not map[string]fault.Code // by "", or by one of everybody
	}{
		"take a post out": {
			func(ctx context.Context, x *tea, c people.Claim) error {
				return x.posts.TakeOut(ctx, c, x.hub, x.locked)
			},
			map[string]bool{"chief": true, "boss": true},
			map[string]fault.Code{"": hubs.NotAMember, "member": hubs.Forbidden, "author": hubs.Forbidden},
		},
		"put it back": {
			func(ctx context.Context, x *tea, c people.Claim) error {
				require.NoError(x.t, x.posts.TakeOut(ctx, x.by["boss"], x.hub, x.locked))
				return x.posts.PutBack(ctx, c, x.hub, x.locked)
			},
			map[string]bool{"chief": true, "boss": true},
			map[string]fault.Code{"": hubs.NotAMember, "member": hubs.Forbidden, "author": hubs.Forbidden},
		},
		"delete a message": {
			func(ctx context.Context, x *tea, c people.Claim) error {
				return x.talks.DeleteMessage(ctx, c, x.hub, x.talk, x.message)
			},
			map[string]bool{"author": true, "chief": true, "boss": true},
			map[string]fault.Code{"": hubs.NotAMember, "member": hubs.Forbidden},
		},
		"delete a comment": {
			func(ctx context.Context, x *tea, c people.Claim) error {
				return x.posts.DeleteComment(ctx, c, x.locked, x.comment)
			},
			map[string]bool{"author": true},
			map[string]fault.Code{
				"": posts.PostNotFound, "member": hubs.Forbidden,
				"chief": hubs.Forbidden, "boss": hubs.Forbidden,
			},
		},
		"ban a member": {
			func(ctx context.Context, x *tea, c people.Claim) error {
				_, err := x.posts.Hubs.Ban(ctx, c, x.hub, x.by["target"].UserID)
				return err
			},
			map[string]bool{"chief": true, "boss": true},
			map[string]fault.Code{"": hubs.NotAMember, "member": hubs.Forbidden, "author": hubs.Forbidden},
		},
		"ban somebody from outside": {
			func(ctx context.Context, x *tea, c people.Claim) error {
				_, err := x.posts.Hubs.Ban(ctx, c, x.hub, x.ann.UserID)
				return err
			},
			map[string]bool{"chief": true, "boss": true},
			map[string]fault.Code{"": hubs.NotAMember, "member": hubs.Forbidden, "author": hubs.Forbidden},
		},
		"ban a super_admin": {
			func(ctx context.Context, x *tea, c people.Claim) error {
				_, err := x.posts.Hubs.SetRole(ctx, x.by["boss"], x.hub, x.by["target"].UserID, hubs.SuperAdmin)
				require.NoError(x.t, err)
				_, err = x.posts.Hubs.Ban(ctx, c, x.hub, x.by["target"].UserID)
				return err
			},
			map[string]bool{"boss": true},
			map[string]fault.Code{
				"": hubs.NotAMember, "member": hubs.Forbidden,
				"author": hubs.Forbidden, "chief": hubs.Forbidden,
			},
		},
		"see and end a ban": {
			func(ctx context.Context, x *tea, c people.Claim) error {
				b, err := x.posts.Hubs.Ban(ctx, x.by["boss"], x.hub, x.by["target"].UserID)
				require.NoError(x.t, err)
				_, err = x.posts.Hubs.Bans(ctx, c, x.hub, "", 10)
				ended := x.posts.Hubs.EndBan(ctx, c, x.hub, b.ID)
				require.Equal(x.t, fault.CodeOf(err), fault.CodeOf(ended))
				return err
			},
			map[string]bool{"chief": true, "boss": true},
			map[string]fault.Code{"": hubs.NotAMember, "member": hubs.Forbidden, "author": hubs.Forbidden},
		},
		"report the post": {
			func(ctx context.Context, x *tea, c people.Claim) error {
				_, _, err := m(x.world).Report(ctx, c, x.aPost(), "spam", "")
				return err
			},
			map[string]bool{"member": true, "author": true, "chief": true, "boss": true},
			map[string]fault.Code{"": posts.PostNotFound},
		},
		"report the comment": {
			func(ctx context.Context, x *tea, c people.Claim) error {
				_, _, err := m(x.world).Report(ctx, c, x.aComment(), "spam", "")
				return err
			},
			map[string]bool{"member": true, "author": true, "chief": true, "boss": true},
			map[string]fault.Code{"": posts.PostNotFound},
		},
		"report the message": {
			func(ctx context.Context, x *tea, c people.Claim) error {
				_, _, err := m(x.world).Report(ctx, c, x.aMessage(), "spam", "")
				return err
			},
			map[string]bool{"member": true, "author": true, "chief": true, "boss": true},
			map[string]fault.Code{"": discussions.DiscussionNotFound},
		},
		"see reports": {func(ctx context.Context, x *tea, c people.Claim) error {
			_, err := m(x.world).Reports(ctx, c, manage.Open, "", 10)
			return err
		}, map[string]bool{"manager": true}, map[string]fault.Code{"": people.Forbidden}},
		"decide a report": {func(ctx context.Context, x *tea, c people.Claim) error {
			_, err := m(x.world).Decide(ctx, c, x.reportOfTalk, manage.Resolved)
			return err
		}, map[string]bool{"manager": true}, map[string]fault.Code{"": people.Forbidden}},
		"delete what is reported": {func(ctx context.Context, x *tea, c people.Claim) (err error) {
			for _, id := range []string{x.reportOfTalk, x.reportOfComment, x.reportOfPost} {
				if _, err = m(x.world).DeleteReported(ctx, c, id); err != nil {
					return err
				}
			}
			return nil
		}, map[string]bool{"manager": true}, map[string]fault.Code{"": people.Forbidden}},
		"suspend": {func(ctx context.Context, x *tea, c people.Claim) error {
			_, err := x.people.Suspend(ctx, c, x.by["target"].UserID, 7, "spam")
			return err
		}, map[string]bool{"manager": true}, map[string]fault.Code{"": people.Forbidden}},
		"end a suspension": {func(ctx context.Context, x *tea, c people.Claim) error {
			return x.people.EndSuspension(ctx, c, x.by["target"].UserID)
		}, map[string]bool{"manager": true}, map[string]fault.Code{"": people.Forbidden}},
		"suspend a manager": {func(ctx context.Context, x *tea, c people.Claim) error {
			_, err := x.people.Suspend(ctx, c, x.ann.UserID, 7, "spam")
			return err
		}, nil, map[string]fault.Code{"": people.Forbidden}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, who := range everybody {
				x := newWorld(t).tea()
				want := row.not[""]
				if code, ok := row.not[who]; ok {
					want = code
				}
				if row.may[who] {
					want = ok
				}
				err := row.do(t.Context(), x, x.by[who])
				if who == "guest" {
					require.Equal(t, fault.Of(session.SignIn()), fault.Of(err))
					continue
				}
				require.Equal(t, want, fault.CodeOf(err), "%s: %v", who, err)
				x.pump(2 * time.Minute)
				require.Empty(t, x.differences(), who)
			}
		})
	}
}

// inHub returns the posts of a hub for a member.
func (w *world) inHub(c people.Claim, hub string) (ids []string) {
	w.t.Helper()
	page, err := w.posts.InHub(w.t.Context(), c, hub, "", 10)
	require.NoError(w.t, err)
	for _, card := range page.Cards {
		ids = append(ids, card.ID)
	}
	return ids
}

// news returns the types of what a person is told.
func (w *world) news(c people.Claim) (types []string) {
	w.t.Helper()
	page, err := w.posts.Notifications(w.t.Context(), c, false, "", 20)
	require.NoError(w.t, err)
	for _, n := range page.Items {
		types = append(types, n.Type)
	}
	return types
}

// TestTakenOut: a post that is out of a hub is not there for its members; its author sees where it
// was and is told once; no vote counts there, no one shares it there again, and put back it is as
// before.
func TestTakenOut(t *testing.T) {
	t.Parallel()
	x := newWorld(t).tea()
	ctx := t.Context()
	author, member, chief := x.by["author"], x.by["member"], x.by["chief"]
	require.Equal(t, []string{x.open, x.locked}, x.inHub(member, x.hub))
	for _, id := range []string{x.locked, x.open} {
		require.NoError(t, x.posts.TakeOut(ctx, chief, x.hub, id))
		require.NoError(t, x.posts.TakeOut(ctx, chief, x.hub, id), "again")
		x.pump(2 * time.Minute)
		x.pump(time.Minute)
	}
	for _, c := range []people.Claim{member, chief, author} {
		require.Empty(t, x.inHub(c, x.hub))
	}
	_, err := x.posts.Card(ctx, member, x.locked)
	require.Equal(t, posts.PostNotFound, fault.CodeOf(err))
	_, err = x.talks.Get(ctx, author, x.hub, x.talk)
	require.Equal(t, discussions.DiscussionNotFound, fault.CodeOf(err))
	own, err := x.posts.Card(ctx, author, x.locked)
	require.NoError(t, err)
	require.Equal(t, []posts.HubName{{ID: x.hub, Name: "Tea"}}, own.TakenOut)
	require.Empty(t, own.In)
	others, err := x.posts.Card(ctx, member, x.open)
	require.NoError(t, err, "everybody with its id sees it")
	require.Empty(t, others.TakenOut)
	told := 0
	for _, kind := range x.news(author) {
		if kind == notices.PostTakenOut {
			told++
		}
	}
	require.Equal(t, 2, told)
	require.NotContains(t, x.news(member), notices.PostTakenOut)
	for _, c := range []people.Claim{member, author} {
		_, err = x.posts.Share(ctx, c, x.open, []string{x.hub}, "", "")
		require.Equal(t, posts.TakenOut, fault.CodeOf(err))
	}
	for _, id := range []string{"x", "x|y", x.post(author, posts.Public)} {
		require.Equal(t, posts.PostNotFound, fault.CodeOf(x.posts.TakeOut(ctx, chief, x.hub, id)))
	}
	require.NoError(t, x.posts.PutBack(ctx, x.by["boss"], x.hub, x.locked))
	require.NoError(t, x.posts.PutBack(ctx, x.by["boss"], x.hub, x.locked), "again")
	require.Equal(t, []string{x.locked}, x.inHub(member, x.hub))
	_, err = x.talks.Get(ctx, member, x.hub, x.talk)
	require.NoError(t, err)
	x.pump(2 * time.Minute)
	require.Empty(t, x.differences())
	require.NoError(t, x.posts.Delete(ctx, author, x.open), "and it is purged while it is out")
	x.pump(keep + time.Hour)
	x.purge()
	require.Empty(t, x.traces(x.open))
	require.Empty(t, x.differences())
}

// crashes calls run with a hub and another process. An accident happens to one call of that
// process, to the next call in the next run, until there is no such call, after least at the
// earliest.
func crashes(t *testing.T, least int, run func(x *tea, over *posts.Service, what string)) {
	t.Helper()
	for n := 1; ; n++ {
		x := newWorld(t).tea()
		c := &calls.Crash{Left: n, Accident: calls.Accident{Lands: n%2 == 0, GoesOn: n%4 < 2}}
		what := fmt.Sprintf("call %d", n)
		run(x, x.over(c.Over(x.db, x.queues)), what)
		require.Empty(t, x.differences(), what)
		if c.Left > 0 {
			require.Greater(t, n, least, "accidents never happened")
			return
		}
	}
}

// TestCrashesOfTakingOut: after any accident to any call, sent again, the post is out and its
// author is told once.
func TestCrashesOfTakingOut(t *testing.T) {
	t.Parallel()
	crashes(t, 8, func(x *tea, over *posts.Service, what string) {
		ctx := t.Context()
		_ = over.TakeOut(ctx, x.by["chief"], x.hub, x.locked)
		require.NoError(t, x.posts.TakeOut(ctx, x.by["chief"], x.hub, x.locked), what)
		x.pump(2 * time.Minute)
		require.Empty(t, x.inHub(x.by["boss"], x.hub)[1:], what)
		told := 0
		for _, kind := range x.news(x.by["author"]) {
			if kind == notices.PostTakenOut {
				told++
			}
		}
		require.Equal(t, 1, told, what)
	})
}

// TestCrashesOfDeletedMessages: after any accident to any call, sent again, a message has neither
// its text nor its picture any more, and its place.
func TestCrashesOfDeletedMessages(t *testing.T) {
	t.Parallel()
	crashes(t, 5, func(x *tea, over *posts.Service, what string) {
		ctx := t.Context()
		files := len(x.files())
		shown := x.upload(x.by["author"], assets.Message)
		m, err := x.talks.Say(ctx, x.by["author"], x.hub, x.talk, posts.Said{Text: "four cups", Picture: shown}, "", "")
		require.NoError(t, err)
		_ = discussions.New(over).DeleteMessage(ctx, x.by["chief"], x.hub, x.talk, m.ID)
		require.NoError(t, x.talks.DeleteMessage(ctx, x.by["chief"], x.hub, x.talk, m.ID), what)
		x.pump(2 * time.Minute)
		x.Pass(15 * time.Minute)
		require.NoError(t, x.shown.Sweep(ctx))
		require.Empty(t, x.traces("four cups"), what)
		require.Len(t, x.files(), files, what)
		page, err := x.talks.Messages(ctx, x.by["author"], x.hub, x.talk, "", "", 10)
		require.NoError(t, err)
		require.Len(t, page.Items, 2, what)
		require.Equal(t, discussions.ByAdmin, page.Items[0].DeletedBy, what)
	})
}

// TestDeletedMessages: a message that is deleted keeps its place, its author and its replies, and
// no row has its text any more; a report of it has.
func TestDeletedMessages(t *testing.T) {
	t.Parallel()
	x := newWorld(t).tea()
	ctx := t.Context()
	member, chief := x.by["member"], x.by["chief"]
	x.writes(member, x.hub, x.talk, "my reply", x.message)
	own := x.writes(member, x.hub, x.talk, "my other", "")
	for range 2 {
		require.NoError(t, x.talks.DeleteMessage(ctx, chief, x.hub, x.talk, x.message))
		require.NoError(t, x.talks.DeleteMessage(ctx, member, x.hub, x.talk, own))
	}
	page, err := x.talks.Messages(ctx, x.by["author"], x.hub, x.talk, "", "", 10)
	require.NoError(t, err)
	require.Len(t, page.Items, 2)
	require.Equal(t, []string{"", discussions.ByAuthor}, []string{page.Items[0].Text, page.Items[0].DeletedBy})
	require.Equal(t, []string{"", discussions.ByAdmin}, []string{page.Items[1].Text, page.Items[1].DeletedBy})
	require.Equal(t, int64(1), page.Items[1].Replies)
	require.Equal(t, []string{"my reply"}, x.read(member, x.hub, x.talk, x.message))
	require.Empty(t, x.traces("my other"))
	require.Len(t, x.traces("my message"), 1, "the report")
	_, _, err = x.posts.Manage.Report(ctx, member, x.aMessage(), "spam", "")
	require.Equal(t, discussions.MessageNotFound, fault.CodeOf(err), "it is deleted")
	require.Equal(t, discussions.MessageNotFound, fault.CodeOf(x.talks.DeleteMessage(ctx, chief, x.hub, x.talk, "x|y")))
	require.Equal(t, discussions.DiscussionNotFound,
		fault.CodeOf(x.talks.DeleteMessage(ctx, chief, x.hub, "x", x.message)))

	// A block keeps no admin away, and others as if nothing were there.
	_, err = x.people.Block(ctx, x.by["author"], chief.UserID, true)
	require.NoError(t, err)
	again := x.writes(x.by["author"], x.hub, x.talk, "once more", "")
	require.NoError(t, x.talks.DeleteMessage(ctx, chief, x.hub, x.talk, again))
	x.pump(2 * time.Minute)
	require.Empty(t, x.differences())
}

// TestBans: a banned person is no member, and neither link nor invitation helps, nor an account
// that begins anew with the number; after the end of the ban it does.
func TestBans(t *testing.T) {
	t.Parallel()
	x := newWorld(t).tea()
	ctx := t.Context()
	h := x.posts.Hubs
	boss, target, stranger := x.by["boss"], x.by["target"], x.by["stranger"]
	link, err := h.NewLink(ctx, boss, x.hub, hubs.Lasts)
	require.NoError(t, err)
	asked, err := h.Join(ctx, stranger, link.Token)
	require.NoError(t, err)
	var bans []string
	for _, who := range []people.Claim{target, stranger} {
		b, err := h.Ban(ctx, x.by["chief"], x.hub, who.UserID)
		require.NoError(t, err)
		again, err := h.Ban(ctx, boss, x.hub, who.UserID)
		require.NoError(t, err)
		require.Equal(t, b.ID, again.ID, "it stays the same")
		bans = append(bans, b.ID)
		x.Pass(time.Second)
	}
	x.pump(time.Minute)
	require.Contains(t, x.news(target), notices.MemberRemoved)
	require.Contains(t, x.news(stranger), notices.RequestRejected)
	_, err = h.Decide(ctx, boss, x.hub, asked, true)
	require.Equal(t, hubs.AlreadyDecided, fault.CodeOf(err))
	page, err := h.Bans(ctx, boss, x.hub, "", 10)
	require.NoError(t, err)
	require.Equal(t, []string{bans[1], bans[0]}, []string{page.Items[0].ID, page.Items[1].ID})
	require.Equal(t, stranger.UserID, page.Items[0].Person.ID)
	tries := func(c people.Claim, i int) (codes []fault.Code) {
		_, err := h.Join(ctx, c, link.Token)
		codes = append(codes, fault.CodeOf(err))
		all, err := h.Invite(ctx, boss, x.hub, []string{duubletest.Number(i)}, hubs.Lasts)
		require.NoError(t, err)
		_, err = h.Accept(ctx, c, hubs.Key{Token: all[0].Token})
		return append(codes, fault.CodeOf(err))
	}
	require.Equal(t, []fault.Code{hubs.Banned, hubs.Banned}, tries(target, 6))
	require.Equal(t, []fault.Code{hubs.Banned, hubs.Banned}, tries(stranger, 7))
	for _, user := range []string{boss.UserID, "x|y", "none"} {
		_, err = h.Ban(ctx, boss, x.hub, user)
		require.Contains(t, []fault.Kind{fault.Invalid, fault.NotFound}, fault.Of(err), user)
	}
	require.Equal(t, hubs.BanNotFound, fault.CodeOf(h.EndBan(ctx, boss, x.hub, "x|y")))
	x.pump(2 * time.Minute)
	require.Empty(t, x.differences())

	// The account goes, and the number begins anew.
	require.NoError(t, x.posts.Erase(ctx, target.UserID))
	x.Pass(people.AgainAfter + time.Second)
	require.NoError(t, x.posts.Purge(ctx))
	require.Empty(t, slices.DeleteFunc(x.traces(target.UserID), func(key string) bool {
		return strings.HasPrefix(key, "Admin due|")
	}))
	require.Empty(t, x.differences())
	boss, target = x.again(2), duubletest.SignIn(t, x.people, &x.phone, 6)
	name := "Anew"
	_, err = x.people.SetBasics(ctx, target, people.Basics{Username: &name, FullName: &name})
	require.NoError(t, err)
	_, err = x.people.AcceptTerms(ctx, target, "1", "1")
	require.NoError(t, err)
	require.Equal(t, []fault.Code{hubs.Banned, hubs.Banned}, tries(target, 6))
	page, err = h.Bans(ctx, boss, x.hub, "", 10)
	require.NoError(t, err)
	require.Equal(t, people.DeletedName, page.Items[1].Person.FullName)
	require.NoError(t, h.EndBan(ctx, boss, x.hub, bans[0]))
	require.Equal(t, hubs.BanNotFound, fault.CodeOf(h.EndBan(ctx, boss, x.hub, bans[0])))
	require.Equal(t, []fault.Code{"", ""}, tries(target, 6))
	require.Equal(t, []fault.Code{hubs.Banned, hubs.Banned}, tries(stranger, 7))
	x.pump(time.Minute)
	require.Empty(t, x.differences())
}

// TestBansAtOnce: of bans and ways into the hub at the same moment no banned person is a member.
func TestBansAtOnce(t *testing.T) {
	t.Parallel()
	for range 20 {
		x := newWorld(t).tea()
		ctx := t.Context()
		h := x.posts.Hubs
		all, err := h.Invite(ctx, x.by["boss"], x.hub, []string{duubletest.Number(7)}, hubs.Lasts)
		require.NoError(t, err)
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = h.Accept(ctx, x.by["stranger"], hubs.Key{Token: all[0].Token}) })
		wg.Go(func() {
			_, err := h.Ban(ctx, x.by["chief"], x.hub, x.by["stranger"].UserID)
			require.NoError(t, err) //nolint:testifylint // the goroutine ends with it
		})
		wg.Wait()
		in, err := h.In(ctx, x.by["stranger"].UserID, []string{x.hub})
		require.NoError(t, err)
		require.Empty(t, in)
		x.pump(2 * time.Minute)
		require.Empty(t, x.differences())
	}
}

// TestBanWhileOneJoins: a person joins when a ban has read that the person is no member, and before
// it reads how many there are, if it does that late: the person is out.
func TestBanWhileOneJoins(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x := newWorld(t).tea()
		ctx := t.Context()
		stranger := x.by["stranger"]
		var once sync.Once
		slow := calls.Tables(x.db, func(ctx context.Context, c calls.Call) error {
			if strings.Contains(c.Label, "c|00") && strings.HasPrefix(c.Label, "get") {
				time.Sleep(time.Second)
			}
			_, err := c.Do(ctx)
			if c.Label == "get Hubs h|"+x.hub+" / m|"+stranger.UserID {
				once.Do(func() { x.joins(x.by["boss"], x.hub, stranger, 7) })
			}
			return err
		})
		_, err := x.over(slow, x.queues).Hubs.Ban(ctx, x.by["boss"], x.hub, stranger.UserID)
		require.NoError(t, err)
		in, err := x.posts.Hubs.In(ctx, stranger.UserID, []string{x.hub})
		require.NoError(t, err)
		require.Empty(t, in)
	})
}

// TestCrashesOfBans: after any accident to any call of a ban and of its end, sent again, all is as
// if each had been sent once.
func TestCrashesOfBans(t *testing.T) {
	t.Parallel()
	crashes(t, 15, func(x *tea, over *posts.Service, what string) {
		ctx := t.Context()
		_, _ = over.Hubs.Ban(ctx, x.by["boss"], x.hub, x.by["target"].UserID)
		b, err := x.posts.Hubs.Ban(ctx, x.by["boss"], x.hub, x.by["target"].UserID)
		require.NoError(t, err, what)
		x.pump(2 * time.Minute)
		require.Empty(t, x.differences(), what)
		in, err := x.posts.Hubs.In(ctx, x.by["target"].UserID, []string{x.hub})
		require.NoError(t, err)
		require.Empty(t, in, what)
		if err := over.Hubs.EndBan(ctx, x.by["boss"], x.hub, b.ID); err != nil {
			// it has landed
			if err = x.posts.Hubs.EndBan(ctx, x.by["boss"], x.hub, b.ID); fault.CodeOf(err) != hubs.BanNotFound {
				require.NoError(t, err, what)
			}
		}
		x.joins(x.by["boss"], x.hub, x.by["target"], 6)
	})
}

// TestCopies: managers see what is reported as it was, after it was deleted too, without being in
// the hub; a report goes with the thing, and with the account of its author.
func TestCopies(t *testing.T) {
	t.Parallel()
	x := newWorld(t).tea()
	ctx := t.Context()
	author, member := x.by["author"], x.by["member"]
	article := strings.Repeat("a", 60_000)
	long, err := x.posts.Create(ctx, author,
		posts.Draft{Thought: new("buy this"), Article: &posts.Article{Kind: "text", Text: article}}, "")
	require.NoError(t, err)
	for _, of := range []manage.Target{
		{Kind: manage.APost, ID: long.ID},
		{Kind: manage.APerson, ID: author.UserID},
		{Kind: manage.AHub, ID: x.hub},
	} {
		x.Pass(time.Second)
		_, _, err := x.posts.Manage.Report(ctx, member, of, "spam", "")
		require.NoError(t, err)
	}
	name := "Another name"
	_, err = x.people.SetBasics(ctx, author, people.Basics{FullName: &name, Bio: &name})
	require.NoError(t, err)
	require.NoError(t, x.posts.DeleteComment(ctx, author, x.locked, x.comment))
	require.NoError(t, x.talks.DeleteMessage(ctx, author, x.hub, x.talk, x.message))
	require.NoError(t, x.posts.Delete(ctx, author, x.locked))
	page, err := x.posts.Manage.Reports(ctx, x.ann, manage.Open, "", 10)
	require.NoError(t, err)
	copies := map[string]manage.Copy{}
	for _, r := range page.Items {
		copies[r.Target.Kind+" "+r.Target.ID] = r.Copy
	}
	by := func(text string) manage.Copy {
		return manage.Copy{UserID: author.UserID, Username: "Person4", Name: "Person4", Text: text}
	}
	require.Equal(t, map[string]manage.Copy{
		"post " + x.locked:           by("Tea?"),
		"comment " + x.aComment().ID: by("my comment"),
		"message " + x.aMessage().ID: by("my message"),
		"post " + long.ID:            by("buy this\n\n" + article[:manage.MaxCopied]),
		"user " + author.UserID:      by("Person4"),
		"hub " + x.hub:               {Text: "Tea", Picture: copies["hub "+x.hub].Picture},
	}, copies)
	require.True(t, x.sees(x.ann, copies["hub "+x.hub].Picture))
	require.False(t, x.sees(author, copies["hub "+x.hub].Picture))
	x.pump(2 * time.Minute)
	require.Empty(t, x.differences())

	// A report goes with its thing: those of the comment and of the locked post after 30 days.
	x.pump(keep + time.Hour)
	x.purge()
	require.Empty(t, x.traces("my comment"))
	require.Empty(t, x.traces(x.locked))
	require.NoError(t, x.posts.Erase(ctx, author.UserID))
	x.Pass(people.AgainAfter + time.Second)
	require.NoError(t, x.posts.Purge(ctx))
	require.Empty(t, slices.DeleteFunc(x.traces(author.UserID), func(key string) bool {
		return strings.HasPrefix(key, "Admin due|")
	}))
	require.Empty(t, x.traces("buy this"))
	require.Empty(t, x.differences())
	x.ann = x.again(1)
	require.Equal(t, []string{"hub " + x.hub}, x.reports(x.ann, manage.Open))
}

// TestDeleteReported: managers delete a post, a comment and a message by their reports, which are
// resolved; people and hubs they do not.
func TestDeleteReported(t *testing.T) {
	t.Parallel()
	x := newWorld(t).tea()
	ctx := t.Context()
	member := x.by["member"]
	for _, id := range []string{x.reportOfTalk, x.reportOfComment, x.reportOfPost} {
		for range 2 {
			r, err := x.posts.Manage.DeleteReported(ctx, x.ann, id)
			require.NoError(t, err)
			require.Equal(t, manage.Resolved, r.Status)
		}
		if id == x.reportOfTalk {
			page, err := x.talks.Messages(ctx, member, x.hub, x.talk, "", "", 10)
			require.NoError(t, err)
			require.Equal(t, discussions.ByManager, page.Items[0].DeletedBy)
		}
	}
	_, err := x.posts.Card(ctx, member, x.locked)
	require.Equal(t, posts.PostNotFound, fault.CodeOf(err))
	for _, of := range []manage.Target{
		{Kind: manage.APerson, ID: x.by["author"].UserID},
		{Kind: manage.AHub, ID: x.hub},
	} {
		r, _, err := x.posts.Manage.Report(ctx, member, of, "spam", "")
		require.NoError(t, err)
		for _, code := range map[string][]fault.Code{
			manage.APerson: {manage.NotDeletable},
			manage.AHub:    {"", ""},
		}[of.Kind] {
			_, err = x.posts.Manage.DeleteReported(ctx, x.ann, r.ID)
			require.Equal(t, code, fault.CodeOf(err), of.Kind)
		}
	}
	tea, err := x.posts.Hubs.Get(ctx, member, x.hub)
	require.NoError(t, err)
	require.Empty(t, tea.Picture, "of a hub the picture is deleted")
	_, err = x.posts.Manage.DeleteReported(ctx, x.ann, "x|y")
	require.Equal(t, manage.ReportNotFound, fault.CodeOf(err))
	x.pump(2 * time.Minute)
	require.Empty(t, x.differences())
}

// TestDeleteReportedPicture: of a person or a hub managers delete the picture that was reported,
// and no other one that is there meanwhile.
func TestDeleteReportedPicture(t *testing.T) {
	t.Parallel()
	for _, changed := range []bool{false, true} {
		x := newWorld(t).tea()
		ctx := t.Context()
		boss, other := x.by["boss"], ""
		upload := func(purpose string, file []byte) string {
			id, err := x.shown.Upload(ctx, boss, purpose, file, "")
			require.NoError(t, err)
			return id
		}
		x.face(boss, upload(assets.Profile, duubletest.PNG))
		var ids []string
		for _, of := range []manage.Target{{Kind: manage.APerson, ID: boss.UserID}, {Kind: manage.AHub, ID: x.hub}} {
			r, _, err := x.posts.Manage.Report(ctx, x.by["member"], of, "abuse", "")
			require.NoError(t, err)
			ids = append(ids, r.ID)
		}
		if changed {
			other = upload(assets.Hub, duubletest.Photo)
			_, err := x.posts.Hubs.Edit(ctx, boss, x.hub, hubs.Change{Picture: &other})
			require.NoError(t, err)
			x.face(boss, upload(assets.Profile, duubletest.Photo))
		}
		for _, id := range ids {
			for range 2 {
				r, err := x.posts.Manage.DeleteReported(ctx, x.ann, id)
				require.NoError(t, err)
				require.Equal(t, manage.Resolved, r.Status)
			}
		}
		tea, err := x.posts.Hubs.Get(ctx, boss, x.hub)
		require.NoError(t, err)
		require.Equal(t, other, tea.Picture)
		face, err := x.people.PictureOf(ctx, boss.UserID)
		require.NoError(t, err)
		require.Equal(t, changed, face != "")
		x.pump(2 * time.Minute)
		require.Empty(t, x.differences())
	}
}

// TestSuspension: a person who is suspended does nothing but sign out and leave, until the time is
// over or a manager ends it; what the person has posted stays.
func TestSuspension(t *testing.T) {
	t.Parallel()
	x := newWorld(t).tea()
	ctx := t.Context()
	author := x.by["author"]
	for days, reason := range map[int]string{0: "x", people.MaxDays + 1: "x", 1: ""} {
		_, err := x.people.Suspend(ctx, x.ann, author.UserID, days, reason)
		require.Equal(t, fault.Invalid, fault.Of(err))
	}
	_, err := x.people.Suspend(ctx, x.ann, "x|y", 1, "x")
	require.Equal(t, people.UserNotFound, fault.CodeOf(err))
	until, err := x.people.Suspend(ctx, x.ann, author.UserID, 2, "insults")
	require.NoError(t, err)
	refused := func(c people.Claim) {
		for _, err := range []error{
			func() error { _, err := x.people.Me(ctx, c); return err }(),
			func() error { _, err := x.posts.Card(ctx, c, x.open); return err }(),
			func() error { _, err := x.posts.Comment(ctx, c, x.open, posts.Said{Text: "x"}, "", ""); return err }(),
			func() error { _, err := x.people.Sessions(ctx, c); return err }(),
		} {
			require.Equal(t, people.AccountSuspended, fault.CodeOf(err))
			require.ErrorContains(t, err, until.Until.Format(time.RFC3339))
			require.ErrorContains(t, err, "insults")
		}
	}
	refused(author)
	again := duubletest.SignIn(t, x.people, &x.phone, 4)
	refused(again)
	require.NoError(t, x.people.Logout(ctx, again, false))
	_, err = x.posts.Card(ctx, x.by["member"], x.locked)
	require.NoError(t, err)
	now, _, err := x.people.SuspensionOf(ctx, x.ann, author.UserID)
	require.NoError(t, err)
	require.Equal(t, until, now)
	require.NoError(t, x.people.EndSuspension(ctx, x.ann, author.UserID))
	_, err = x.people.Me(ctx, author)
	require.NoError(t, err)
	_, err = x.people.Suspend(ctx, x.ann, author.UserID, 2, "insults")
	require.NoError(t, err)
	x.Pass(48*time.Hour - time.Second)
	_, err = x.people.Me(ctx, duubletest.SignIn(t, x.people, &x.phone, 4))
	require.Equal(t, people.AccountSuspended, fault.CodeOf(err))
	x.Pass(time.Second)
	author = x.again(4)
	_, err = x.people.Me(ctx, author)
	require.NoError(t, err)
	_, err = x.people.Suspend(ctx, x.again(1), author.UserID, 2, "insults")
	require.NoError(t, err)
	require.NoError(t, x.people.Leave(ctx, author))
	x.pump(2 * time.Minute)
	require.Empty(t, x.differences())
}

// TestQuotas: comments and messages have a quota a day, in which a request that is sent twice
// counts once.
func TestQuotas(t *testing.T) {
	t.Parallel()
	x := newWorld(t).tea()
	ctx := t.Context()
	member := x.by["member"]
	x.posts.CommentsADay, x.talks.MessagesADay = 3, 3
	for name, write := range map[string]func(key string) (string, error){
		"comments": func(key string) (string, error) {
			c, err := x.posts.Comment(ctx, member, x.locked, posts.Said{Text: "x"}, "", key)
			return c.ID, err
		},
		"messages": func(key string) (string, error) {
			m, err := x.talks.Say(ctx, member, x.hub, x.talk, posts.Said{Text: "x"}, "", key)
			return m.ID, err
		},
	} {
		var first string
		for i := range 3 {
			id, err := write(name + fmt.Sprint(i))
			require.NoError(t, err, name)
			again, err := write(name + fmt.Sprint(i))
			require.NoError(t, err, name)
			require.Equal(t, id, again, name)
			if i == 0 {
				first = id
			}
		}
		_, err := write("")
		require.Equal(t, posts.Limited, fault.CodeOf(err), name)
		id, err := write(name + "0")
		require.NoError(t, err, "what was sent before is answered as before")
		require.Equal(t, first, id)
	}
	x.Pass(48 * time.Hour)
	member = x.again(5)
	x.say(member, x.locked, "x", "")
	x.writes(member, x.hub, x.talk, "x", "")
	x.pump(2 * time.Minute)
	require.Empty(t, x.differences())
}

// TestVerifyFindsModeration: rows of bans and reports that are missing are told, and a repair
// writes those of others that name them.
func TestVerifyFindsModeration(t *testing.T) {
	t.Parallel()
	x := newWorld(t).tea()
	ctx := t.Context()
	_, err := x.posts.Hubs.Ban(ctx, x.by["boss"], x.hub, x.by["target"].UserID)
	require.NoError(t, err)
	x.pump(2 * time.Minute)
	require.Empty(t, x.differences())
	for _, key := range []table.Key{
		{Partition: "h|" + x.hub, Row: "bn|"},
		{Partition: "u|" + x.by["target"].UserID, Row: "bn|"},
		{Partition: "repa|" + x.by["author"].UserID, Row: "0"},
	} {
		found := 0
		for _, name := range duubletest.Tables.All() {
			for row, err := range table.All(ctx, x.db, name, table.Prefix(key.Partition, key.Row)) {
				require.NoError(t, err)
				found++
				require.NoError(t, x.posts.RemoveKey(ctx, name, row.Key))
				require.NotEmpty(t, x.differences(), row.Key)
				if key.Partition != "h|"+x.hub {
					require.NoError(t, x.posts.Hubs.Repair(ctx))
					require.NoError(t, x.posts.Repair(ctx))
					require.Empty(t, x.differences(), row.Key)
				}
				_, err = x.db.Write(ctx, name,
					table.Op{Kind: table.Upsert, Row: table.Row{Key: row.Key, Props: row.Props}})
				require.NoError(t, err)
			}
		}
		require.Positive(t, found, key)
	}
	require.Empty(t, x.differences())
}
