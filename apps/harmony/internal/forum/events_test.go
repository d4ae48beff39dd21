package forum_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/events"
	"prompthub/apps/harmony/internal/forum"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/meettest"
	"prompthub/apps/harmony/internal/topic"
	"prompthub/internal/fault"
	"prompthub/internal/testing/calls"
)

// draft is an event in ten days.
func draft(visibility string) events.Draft {
	return events.Draft{
		Title: "Concert", Start: meettest.Began.Add(240 * time.Hour).Format(time.RFC3339), Category: "concert",
		Visibility: visibility, Published: true,
	}
}

// event makes an event.
func (w *world) event(d events.Draft) string {
	w.T.Helper()
	v, err := w.events.NewEvent(w.T.Context(), w.Members["admin"], d)
	require.NoError(w.T, err)
	return v.ID
}

// ofEvent returns the topics of an event that a caller is shown in the list, read one at a time,
// and those that the event itself shows to a caller with an invite. Both are in the order of the
// list.
func (w *world) ofEvent(c meet.Claim, event, invite string) (listed, shown []string) {
	w.T.Helper()
	for after, more := "", true; more; more = after != "" {
		p, err := w.forum.Topics(w.T.Context(), c, topic.Section(event), after, 1)
		if fault.CodeOf(err) == forum.SectionNotFound {
			break
		}
		require.NoError(w.T, err)
		for _, t := range p.Topics {
			listed = append(listed, t.ID)
		}
		after = p.Next
	}
	v, err := w.events.Event(w.T.Context(), c, event, invite, "x")
	if fault.CodeOf(err) == events.EventNotFound {
		return listed, nil
	}
	require.NoError(w.T, err)
	for _, t := range v.Topics {
		shown = append(shown, t.ID)
	}
	return listed, shown
}

// TestTopicsOfEvents holds each cell of the matrix of topics of events. A topic that a caller may
// not see is answered as one that does not exist, to the letter, and so is the list of an event
// none of whose topics the caller sees.
func TestTopicsOfEvents(t *testing.T) {
	t.Parallel()
	for row := range strings.SplitSeq(strings.TrimSpace(`
		public | public | yes | yes | yes | yes | yes | yes
		public | attendeesOnly | 404 | 404 | yes | yes | yes | 404
		public | specificUsers | 404 | 404 | 404 | 404 | yes | yes
		secretTeaser | public | yes | yes | yes | yes | yes | yes
		secretTeaser | attendeesOnly | 404 | 404 | yes | yes | yes | 404
		secretTeaser | specificUsers | 404 | 404 | 404 | 404 | yes | yes
		secretHidden | public | 404 | 404 | yes | yes | yes | 404
		secretHidden | attendeesOnly | 404 | 404 | yes | yes | yes | 404
		secretHidden | specificUsers | 404 | 404 | 404 | 404 | yes | yes
		not published | public | 404 | 404 | 404 | 404 | yes | 404
		not published | attendeesOnly | 404 | 404 | 404 | 404 | yes | 404
		not published | specificUsers | 404 | 404 | 404 | 404 | yes | 404
		deleted | public | 404 | 404 | 404 | 404 | 404 | 404
		deleted | attendeesOnly | 404 | 404 | 404 | 404 | 404 | 404
		deleted | specificUsers | 404 | 404 | 404 | 404 | 404 | 404`), "\n") {
		var cell []string
		for c := range strings.SplitSeq(row, "|") {
			cell = append(cell, strings.TrimSpace(c))
		}
		t.Run(cell[0]+" "+cell[1], func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ctx, admin := t.Context(), w.Members["admin"]
			_, err := w.forum.Topic(ctx, w.Members["anna"], w.NewID())
			absent := err.Error()
			_, err = w.forum.Topics(ctx, w.Members["anna"], topic.Section(w.NewID()), "", 9)
			noList := err.Error()
			mode := cell[0]
			if mode == "not published" || mode == "deleted" {
				mode = events.Public
			}
			id := w.event(draft(mode))
			_, err = w.events.NewInvite(ctx, admin, id, events.InviteDraft{Code: "open-it"})
			require.NoError(t, err)
			_, _, err = w.events.Register(ctx, w.Members["bob"], id, "open-it", "bob")
			require.NoError(t, err)
			// the list has the one that is begun here alone
			for _, one := range topic.OfEvent(id, "", "", meettest.Began) {
				require.NoError(t, w.forum.Delete(ctx, admin, one.ID))
			}
			to := forum.Audience{Visibility: cell[1]}
			if cell[1] == topic.SpecificUsers {
				to.Allowed = []string{w.Members["carol"].UserID}
			}
			v, err := w.forum.NewEventTopic(ctx, admin, id, "A topic", "Enough content", to, "")
			require.NoError(t, err)
			switch cell[0] {
			case "not published":
				d := draft(mode)
				d.Published = false
				_, err = w.events.Edit(ctx, admin, id, d)
			case "deleted":
				err = w.events.Delete(ctx, admin, id)
			}
			require.NoError(t, err)
			for i, as := range []struct{ name, invite string }{
				{"anna", ""},
				{"anna", "open-it"},
				{"bob", ""},
				{"bob", "open-it"},
				{"moderator", ""},
				{"admin", "open-it"},
				{"carol", ""},
			} {
				want := cell[2+min(i, 4)]
				if as.name == "carol" {
					want = cell[7]
				}
				c, what := w.Members[as.name], fmt.Sprintf("%s with %q", as.name, as.invite)
				_, unread := w.forum.Topic(ctx, c, v.ID)
				_, unlisted := w.forum.Replies(ctx, c, v.ID, "", 9)
				reply, unwritten := w.forum.Reply(ctx, c, v.ID, "A reply", "")
				_, unseen := w.forum.Topics(ctx, c, topic.Section(id), "", 9)
				listed, shown := w.ofEvent(c, id, as.invite)
				if want == "404" {
					for _, err := range []error{unread, unlisted, unwritten} {
						require.EqualError(t, err, absent, what)
						require.Equal(t, forum.TopicNotFound, fault.CodeOf(err))
					}
					require.EqualError(t, unseen, noList, what)
					require.Empty(t, listed, what)
					require.Empty(t, shown, what)
					continue
				}
				for _, err := range []error{unread, unlisted, unwritten, unseen} {
					require.NoError(t, err, what)
				}
				require.Equal(t, []string{v.ID}, listed, what)
				if _, err := w.events.Event(ctx, c, id, as.invite, "x"); err == nil {
					require.Equal(t, []string{v.ID}, shown, what)
				}
				_, err = w.forum.EditReply(ctx, c, v.ID, reply.ID, "Another")
				require.NoError(t, err, what)
				require.NoError(t, w.forum.DeleteReply(ctx, c, v.ID, reply.ID), what)
			}
			_, err = w.forum.Topic(ctx, meet.Claim{}, v.ID)
			require.Equal(t, meet.Unauthenticated, fault.CodeOf(err), "a guest")
			_, shown := w.ofGuest(id)
			require.Empty(t, shown)
		})
	}
}

// ofGuest returns the topics that an event shows to a guest who has an invite.
func (w *world) ofGuest(event string) (events.View, []topic.Topic) {
	w.T.Helper()
	v, err := w.events.Event(w.T.Context(), meet.Claim{}, event, "open-it", "guest")
	if fault.CodeOf(err) != events.EventNotFound {
		require.NoError(w.T, err)
	}
	return v, v.Topics
}

// TestNamedForAHiddenEvent: a member that a topic names reads it, and does not learn which event
// it is of. A member who leaves an event loses the topics of its attendees at once.
func TestNamedForAHiddenEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, admin, bob, carol := t.Context(), w.Members["admin"], w.Members["bob"], w.Members["carol"]
	id := w.event(draft(events.SecretHidden))
	v, err := w.forum.NewEventTopic(ctx, admin, id, "A topic", "Enough content",
		forum.Audience{Visibility: topic.SpecificUsers, Allowed: []string{carol.UserID, carol.UserID}}, "")
	require.NoError(t, err)
	require.Equal(t, []string{carol.UserID}, v.Allowed)
	require.Equal(t, []any{id, topic.Section(id)}, []any{v.EventID, v.SectionID})
	seen, err := w.forum.Topic(ctx, carol, v.ID)
	require.NoError(t, err)
	require.Equal(t, []any{"", "", "A topic"}, []any{seen.EventID, seen.SectionID, seen.Title})
	p, err := w.forum.Topics(ctx, carol, topic.Section(id), "", 9)
	require.NoError(t, err)
	require.Equal(t, []any{"", "", ""}, []any{p.EventID, p.Section.Name, p.Topics[0].EventID})
	require.NotContains(t, fmt.Sprint(p.Topics[0].Author, seen.Author), id)

	_, err = w.events.NewInvite(ctx, admin, id, events.InviteDraft{Code: "open-it"})
	require.NoError(t, err)
	_, _, err = w.events.Register(ctx, bob, id, "open-it", "bob")
	require.NoError(t, err)
	listed, shown := w.ofEvent(bob, id, "")
	require.Len(t, listed, 2)
	require.Equal(t, listed, shown)
	p, err = w.forum.Topics(ctx, bob, topic.Section(id), "", 9)
	require.NoError(t, err)
	require.Equal(t, []any{id, "Concert"}, []any{p.EventID, p.Section.Name})
	require.NoError(t, w.events.Unregister(ctx, bob, id))
	listed, shown = w.ofEvent(bob, id, "")
	require.Empty(t, listed)
	require.Empty(t, shown)
	meettest.RequireCode(t, forum.TopicNotFound, second(w.forum.Reply(ctx, bob, p.Topics[0].ID, "Still here", "")))
}

// TestAudience: admins alone begin topics of events and say which members they are for.
func TestAudience(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, admin, anna := t.Context(), w.Members["admin"], w.Members["anna"]
	id := w.event(draft(events.Public))
	begin := func(c meet.Claim, event string, a forum.Audience) error {
		return second(w.forum.NewEventTopic(ctx, c, event, "A topic", "Enough content", a, ""))
	}
	all := forum.Audience{Visibility: topic.Public}
	for _, name := range []string{"anna", "moderator"} {
		meettest.RequireCode(t, meet.RoleRequired, begin(w.Members[name], id, all))
		meettest.RequireCode(t, meet.RoleRequired, second(w.forum.SetAudience(ctx, w.Members[name], w.NewID(), all)))
	}
	meettest.RequireCode(t, events.EventNotFound, begin(admin, w.NewID(), all))
	meettest.RequireCode(t, events.EventNotFound, begin(admin, "x", all))
	for _, wrong := range []forum.Audience{
		{},
		{Visibility: "all"},
		{Visibility: topic.SpecificUsers},
		{Visibility: topic.SpecificUsers, Allowed: []string{"x"}},
		{Visibility: topic.Public, Allowed: []string{anna.UserID}},
		{Visibility: topic.SpecificUsers, Allowed: slices.Collect(func(yield func(string) bool) {
			for range 201 {
				yield(w.NewID())
			}
		})},
	} {
		require.Equal(t, fault.Invalid, fault.Of(begin(admin, id, wrong)), "%v", wrong)
	}
	v, err := w.forum.NewEventTopic(ctx, admin, id, "A topic", "Enough content",
		forum.Audience{Visibility: topic.AttendeesOnly}, "")
	require.NoError(t, err)
	meettest.RequireCode(t, forum.TopicNotFound, second(w.forum.Topic(ctx, anna, v.ID)))
	changed, err := w.forum.SetAudience(ctx, admin, v.ID,
		forum.Audience{Visibility: topic.SpecificUsers, Allowed: []string{anna.UserID}})
	require.NoError(t, err)
	require.Equal(t, topic.SpecificUsers, changed.Visibility)
	require.NoError(t, second(w.forum.Topic(ctx, anna, v.ID)))
	require.NoError(t, second(w.forum.SetAudience(ctx, admin, v.ID, all)))
	require.NoError(t, second(w.forum.Topic(ctx, w.Members["bob"], v.ID)))
	meettest.RequireCode(t, forum.TopicNotFound, second(w.forum.SetAudience(ctx, admin, w.topic("Of the forum"), all)))
	meettest.RequireCode(t, forum.TopicNotFound, second(w.forum.SetAudience(ctx, admin, "x", all)))

	for n := 3; n < events.MaxTopics; n++ {
		require.NoError(t, begin(admin, id, all))
	}
	meettest.RequireCode(t, forum.TooManyTopics, begin(admin, id, all))
	listed, shown := w.ofEvent(admin, id, "")
	require.Len(t, listed, events.MaxTopics)
	require.Equal(t, listed, shown)
	require.NoError(t, w.forum.Delete(ctx, admin, v.ID))
	require.NoError(t, begin(admin, id, all))
}

// TestTwoTopics: publishing an event begins two topics, once, without what its description says.
// One that was deleted does not come back.
func TestTwoTopics(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, admin := t.Context(), w.Members["admin"]
	d := draft(events.SecretTeaser)
	d.Title, d.Description, d.Published = strings.Repeat("𝄞", 60), "At the old mill", false
	id := w.event(d)
	listed, _ := w.ofEvent(admin, id, "")
	require.Empty(t, listed, "not published")
	d.Published = true
	for range 2 {
		_, err := w.events.Edit(ctx, admin, id, d)
		require.NoError(t, err)
	}
	listed, shown := w.ofEvent(admin, id, "")
	require.Len(t, listed, 2)
	require.Equal(t, listed, shown)
	whom := map[string]string{}
	yes := true
	for _, one := range listed {
		v, err := w.forum.Topic(ctx, admin, one)
		require.NoError(t, err)
		title := map[string]string{
			topic.Public:        strings.Repeat("𝄞", 50),
			topic.AttendeesOnly: strings.Repeat("𝄞", 41) + " (для участников)",
		}[v.Visibility]
		require.Equal(t, []any{title, "", "admin"}, []any{v.Title, v.Content, v.Author.Name})
		whom[v.Visibility] = one
		_, err = w.forum.Edit(ctx, w.Members["moderator"], one, forum.Edit{Pinned: &yes})
		require.NoError(t, err, "although it has no text")
	}
	require.Len(t, whom, 2)
	require.NoError(t, w.forum.Delete(ctx, w.Members["moderator"], whom[topic.Public]))
	d.Published = false
	_, err := w.events.Edit(ctx, admin, id, d)
	require.NoError(t, err)
	d.Published = true
	_, err = w.events.Edit(ctx, admin, id, d)
	require.NoError(t, err)
	listed, shown = w.ofEvent(admin, id, "")
	require.Equal(t, []string{whom[topic.AttendeesOnly]}, listed)
	require.Equal(t, listed, shown)
}

// TestCrashesOfPublishing: after any accident to any call an event that is published has two
// topics, once, and one that is not has none.
func TestCrashesOfPublishing(t *testing.T) {
	t.Parallel()
	calls.Crashes(t, func(t *testing.T, c *calls.Crash) {
		w := newWorld(t)
		ctx, admin := t.Context(), w.Members["admin"]
		d := draft(events.Public)
		d.Published = false
		id := w.event(d)
		d.Published = true
		happens, _ := rooms(w.Over(c.Over(w.DB, w.Queues)))
		_, err := happens.Edit(ctx, admin, id, d)
		c.Land(w.Pump, w.Clock.Pass)
		w.Settle()
		v, unread := w.events.Event(ctx, admin, id, "", "")
		require.NoError(t, unread)
		if err == nil {
			require.True(t, v.Published)
		}
		listed, shown := w.ofEvent(admin, id, "")
		require.Len(t, listed, map[bool]int{true: 2}[v.Published])
		require.Equal(t, listed, shown)
		require.Len(t, w.Rows(meettest.ForumTables.ForumTopics), len(listed))
	})
}
