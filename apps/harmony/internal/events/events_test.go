package events_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/events"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/meettest"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/fault"
	"prompthub/internal/storage/table"
)

// said is the answer about an event in a word: how much of it is seen, or the code and the text of
// the error.
func said(v events.View, err error) string {
	switch {
	case err != nil:
		return fmt.Sprint(fault.CodeOf(err), ": ", err)
	case v.Sight == events.Full:
		return "full"
	case v.Sight == events.Teaser && v.Description == "" && v.Location == "" && v.Price == nil &&
		v.OrganizerID == "" && v.Attendees == 0:
		return "teaser"
	}
	return "a leak"
}

// TestMatrix holds each cell of the matrix of secret events. A hidden event is answered as one that
// does not exist, to the letter.
func TestMatrix(t *testing.T) {
	t.Parallel()
	absent := newWorld(t)
	_, err := absent.events.Event(t.Context(), meet.Claim{}, absent.NewID(), "", "x")
	notThere := said(events.View{}, err)
	require.Contains(t, notThere, "EVENT_NOT_FOUND")
	for row := range strings.SplitSeq(strings.TrimSpace(`
		public | guest | full | 401 | full / full | 401 / 401 / 401
		public | member | full | – | full / full | 201 / 201 / 201
		public | attendee | full | full | full / full | 200 / 200 / 200
		public | moderator | full | – | full / full | 201 / 201 / 201
		public | admin | full | – | full / full | 201 / 201 / 201
		secretTeaser | guest | teaser | 401 | teaser / full | 401 / 401 / 401
		secretTeaser | member | teaser | – | teaser / full | 403 INVITE_REQUIRED / 403 INVALID_INVITE_CODE / 201
		secretTeaser | attendee | teaser | full | full / full | 200 / 200 / 200
		secretTeaser | moderator | teaser | – | full / full | 201 / 201 / 201
		secretTeaser | admin | teaser | – | full / full | 201 / 201 / 201
		secretHidden | guest | – | 401 | 404 / full | 401 / 401 / 401
		secretHidden | member | – | – | 404 / full | 404 / 404 / 201
		secretHidden | attendee | – | full | full / full | 200 / 200 / 200
		secretHidden | moderator | – | – | full / full | 201 / 201 / 201
		secretHidden | admin | – | – | full / full | 201 / 201 / 201
		hidden and deleted | guest | – | 401 | 404 / 404 | 401 / 401 / 401
		hidden and deleted | member | – | – | 404 / 404 | 404 / 404 / 404
		hidden and deleted | attendee | – | – | 404 / 404 | 404 / 404 / 404
		hidden and deleted | admin | – | – | 404 / 404 | 404 / 404 / 404
		not published | guest | – | 401 | 404 / 404 | 401 / 401 / 401
		not published | member | – | – | 404 / 404 | 404 / 404 / 404
		not published | attendee | – | – | 404 / 404 | 404 / 404 / 404
		not published | moderator | – | – | full / full | 201 / 201 / 201`), "\n") {
		var cell []string
		for c := range strings.SplitSeq(row, "|") {
			cell = append(cell, strings.TrimSpace(c))
		}
		t.Run(cell[0]+" "+cell[1], func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ctx := t.Context()
			mode := cell[0]
			if mode == "hidden and deleted" || mode == "not published" {
				mode = events.SecretHidden
			}
			id := w.make(draft(mode))
			_, err := w.events.NewInvite(ctx, w.Members["admin"], id, events.InviteDraft{Code: "open-it"})
			require.NoError(t, err)
			other := w.make(draft(mode))
			_, err = w.events.NewInvite(ctx, w.Members["admin"], other, events.InviteDraft{Code: "other"})
			require.NoError(t, err)
			c := w.Members[map[string]string{"member": "anna", "attendee": "anna"}[cell[1]]]
			if meet.Role(cell[1]).Staff() {
				c = w.Members[cell[1]]
			}
			if cell[1] == "attendee" {
				_, err := w.register(c, id, "OPEN-IT")
				require.NoError(t, err)
			}
			switch cell[0] {
			case "hidden and deleted":
				require.NoError(t, w.events.Delete(ctx, w.Members["admin"], id))
			case "not published":
				d := draft(mode)
				d.Published = false
				_, err := w.events.Edit(ctx, w.Members["admin"], id, d)
				require.NoError(t, err)
			}

			found := "–"
			p, err := w.events.List(ctx, c, events.Query{}, "", 50)
			require.NoError(t, err)
			for _, e := range p.Events {
				if e.ID == id {
					found = said(e, nil)
				}
			}
			require.Equal(t, cell[2], found, "GET /events")
			found = "–"
			p, err = w.events.Mine(ctx, c, "", 50)
			if fault.CodeOf(err) == meet.Unauthenticated {
				found = "401"
			} else {
				require.NoError(t, err)
			}
			for _, e := range p.Events {
				found = said(e, nil)
			}
			require.Equal(t, cell[3], found, "GET /events?mine=true")

			letter := func(what string) string { return strings.ReplaceAll(what, notThere, "404") }
			want := strings.Split(cell[4], " / ")
			for code, want := range map[string]string{
				"": want[0], "WRONG": want[0], "OTHER": want[0],
				"x": want[0], " open-it ": want[1],
			} {
				require.Equal(t, want, letter(said(w.events.Event(ctx, c, id, code, "x"))), "GET with %q", code)
			}
			for i, code := range []string{"", "WRONG", "open-it"} {
				_, created, err := w.events.Register(ctx, c, id, code, "x")
				got := map[bool]string{true: "201", false: "200"}[created]
				switch {
				case fault.CodeOf(err) == meet.Unauthenticated:
					got = "401"
				case fault.Of(err) == fault.Forbidden:
					got = "403 " + string(fault.CodeOf(err))
				case err != nil:
					got = letter(said(events.View{}, err))
				case created:
					require.NoError(t, w.events.Unregister(ctx, c, id))
				}
				require.Equal(t, strings.Split(cell[5], " / ")[i], got, "POST register with %q", code)
			}
			w.consistent()
		})
	}
}

// TestInvites: an invite opens its event until it is revoked or over, and wrong ones are counted.
func TestInvites(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, admin := t.Context(), w.Members["admin"]
	id := w.make(draft(events.SecretHidden))
	opens := func(code, from string) bool {
		_, err := w.events.Event(ctx, meet.Claim{}, id, code, from)
		return err == nil
	}
	drawn, err := w.events.NewInvite(ctx, admin, id, events.InviteDraft{})
	require.NoError(t, err)
	require.Regexp(t, `^[0-9A-HJKMNP-TV-Z]{10}$`, drawn.Code)
	require.True(t, opens(strings.ToLower(drawn.Code), "a"))
	brief, err := w.events.NewInvite(ctx, admin, id, events.InviteDraft{Code: "brief", ExpiresAt: on(1)})
	require.NoError(t, err)
	require.Equal(t, "BRIEF", brief.Code)
	_, err = w.events.NewInvite(ctx, admin, id, events.InviteDraft{Code: "brief"})
	meettest.RequireCode(t, events.CodeTaken, err)
	for _, bad := range []string{"abc", "with space", strings.Repeat("A", 33), "ÄÄÄÄ"} {
		_, err = w.events.NewInvite(ctx, admin, id, events.InviteDraft{Code: bad})
		require.Equal(t, fault.Invalid, fault.Of(err), bad)
	}
	require.True(t, opens("BRIEF", "a"))
	w.Clock.Pass(10 * time.Minute)
	_, err = w.register(w.Members["anna"], id, "brief")
	require.NoError(t, err)
	_, err = w.register(w.Members["bob"], id, "brief")
	require.NoError(t, err)
	p, err := w.events.Invites(ctx, admin, id, "", 50)
	require.NoError(t, err)
	uses := map[string]int{}
	for _, i := range p.Invites {
		uses[i.Code] = i.Uses
	}
	require.Equal(t, map[string]int{drawn.Code: 0, "BRIEF": 2}, uses)
	_, err = w.events.NewInvite(ctx, admin, id, events.InviteDraft{Code: "new-one", Rotate: true})
	require.NoError(t, err)
	require.False(t, opens(drawn.Code, "a"))
	require.False(t, opens("BRIEF", "a"))
	require.True(t, opens("NEW-ONE", "a"))
	require.NoError(t, w.events.Revoke(ctx, admin, id, "new-one"))
	require.NoError(t, w.events.Revoke(ctx, admin, id, "new-one"))
	meettest.RequireCode(t, events.InviteNotFound, w.events.Revoke(ctx, admin, id, "never"))
	require.False(t, opens("NEW-ONE", "a"))
	_, err = w.events.Event(ctx, w.Members["anna"], id, "", "anna")
	require.NoError(t, err, "who attends by an invite that is over goes on")

	// Ten wrong ones, whether the event is there or not; then the right one is refused too.
	_, err = w.events.NewInvite(ctx, admin, id, events.InviteDraft{Code: "right"})
	require.NoError(t, err)
	for n := range 10 {
		at := id
		if n%2 == 0 {
			at = w.NewID()
		}
		_, err := w.events.Event(ctx, meet.Claim{}, at, "wrong", "guesser")
		meettest.RequireCode(t, events.EventNotFound, err)
	}
	for _, at := range []string{id, w.NewID()} {
		_, err = w.events.Event(ctx, meet.Claim{}, at, "right", "guesser")
		meettest.RequireCode(t, meet.TooManyAttempts, err)
	}
	require.True(t, opens("right", "somebody else"))
	w.Clock.Pass(15 * time.Minute)
	require.True(t, opens("right", "guesser"))
}

// TestOpened: a code finds the events that it opens, also by an invite that is older than the list
// of codes. A wrong code is answered like the code of an event that is gone, and counted.
func TestOpened(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, admin := t.Context(), w.Members["admin"]
	later, first := draft(events.SecretHidden), draft(events.SecretTeaser)
	first.Start, first.End = on(5), on(6)
	ids := []string{w.make(later), w.make(first)}
	for _, id := range ids {
		_, err := w.events.NewInvite(ctx, admin, id, events.InviteDraft{Code: "lampa-7"})
		require.NoError(t, err)
	}
	opened := func(c meet.Claim, code string) (found []string) {
		t.Helper()
		all, err := w.events.Opened(ctx, c, code, "x")
		require.NoError(t, err)
		require.NotNil(t, all)
		for _, v := range all {
			require.Equal(t, events.Full, v.Sight)
			found = append(found, v.ID)
		}
		return found
	}
	for _, c := range []meet.Claim{{}, w.Members["anna"]} {
		require.Equal(t, []string{ids[1], ids[0]}, opened(c, " Lampa-7 "))
	}
	require.Empty(t, opened(meet.Claim{}, "LAMPA-8"))
	require.Empty(t, opened(meet.Claim{}, "!"))
	require.NoError(t, w.events.Revoke(ctx, admin, ids[1], "LAMPA-7"))
	require.Equal(t, ids[:1], opened(meet.Claim{}, "LAMPA-7"))
	_, err := w.DB.Write(ctx, tables.EventInvites,
		table.Op{
			Kind: table.Delete,
			Row:  table.Row{Key: table.Key{Partition: "CODE_LAMPA-7", Row: ids[0]}, ETag: table.Any},
		})
	require.NoError(t, err)
	require.Empty(t, opened(meet.Claim{}, "LAMPA-7"))
	for _, check := range w.events.Checks() {
		if check.Name != "invites" {
			continue
		}
		for _, row := range w.Rows(tables.EventInvites) {
			found, err := check.Look(ctx, row)
			require.NoError(t, err)
			for _, f := range found {
				require.NoError(t, f.Mend(ctx))
			}
		}
	}
	require.Equal(t, ids[:1], opened(meet.Claim{}, "LAMPA-7"))
	require.NoError(t, w.events.Delete(ctx, admin, ids[0]))
	w.Clock.Pass(15 * time.Minute)
	for range 10 {
		require.Empty(t, opened(meet.Claim{}, "LAMPA-7"))
	}
	_, err = w.events.Opened(ctx, meet.Claim{}, "LAMPA-7", "x")
	meettest.RequireCode(t, meet.TooManyAttempts, err)
}

// TestAtOnce: thirty registrations at once for ten places, by three members and others that are
// made for it: ten get one.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.make(places(draft(events.Public), 10))
	var wg sync.WaitGroup
	var mu sync.Mutex
	outcomes := map[fault.Code]int{}
	for _, c := range w.Crowd(30) {
		wg.Go(func() {
			created, err := w.register(c, id, "")
			mu.Lock()
			defer mu.Unlock()
			outcomes[fault.CodeOf(err)]++
			require.Equal(t, err == nil, created)
		})
	}
	wg.Wait()
	require.Equal(t, map[fault.Code]int{"": 10, events.EventFull: 20}, outcomes)
	w.consistent()
	_, err := w.events.Edit(t.Context(), w.Members["admin"], id, places(draft(events.Public), 9))
	meettest.RequireCode(t, events.CapacityTooSmall, err)
	v, err := w.events.Edit(t.Context(), w.Members["admin"], id, places(draft(events.Public), 11))
	require.NoError(t, err)
	require.Equal(t, 10, v.Attendees, "an edit keeps the count")
	created, err := w.register(w.Members["anna"], id, "")
	require.NoError(t, err)
	require.True(t, created)
	_, err = w.register(w.Members["bob"], id, "")
	meettest.RequireCode(t, events.EventFull, err)
	require.NoError(t, w.events.Unregister(t.Context(), w.Members["anna"], id))
	require.NoError(t, w.events.Unregister(t.Context(), w.Members["anna"], id), "there is no harm in doing it again")
	created, err = w.register(w.Members["bob"], id, "")
	require.NoError(t, err)
	require.True(t, created, "a place that was given back is there for the next")
	w.consistent()
}

// TestComeAndGo: many who come and go while the capacity changes; counts, places and lists agree.
func TestComeAndGo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.make(places(draft(events.Public), 3))
	var wg sync.WaitGroup
	for _, c := range w.Crowd(8) {
		wg.Go(func() {
			for range 10 {
				if _, err := w.register(c, id, ""); err != nil && fault.CodeOf(err) != events.EventFull {
					require.NoError(t, err)
				}
				require.NoError(t, w.events.Unregister(t.Context(), c, id))
			}
		})
	}
	wg.Go(func() {
		for n := range 10 {
			_, err := w.events.Edit(t.Context(), w.Members["admin"], id, places(draft(events.Public), 2+n%3))
			if fault.CodeOf(err) != events.CapacityTooSmall {
				require.NoError(t, err)
			}
		}
	})
	wg.Wait()
	w.Settle()
	w.consistent()
	require.Empty(t, w.Rows("UserEvents"))
}

// TestTimes: an event that is over is past, and registration ends with the beginning.
func TestTimes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, anna := t.Context(), w.Members["anna"]
	d := draft(events.Public)
	long := w.make(d)
	d.Start, d.End, d.Category = on(1), "", "party"
	short := w.make(d)
	d.Start, d.End = on(-2), on(-1)
	over := w.make(d)
	past := func(q events.Query) []string { q.Past = true; return w.upcoming(anna, q) }
	require.Equal(t, []string{short, long}, w.upcoming(anna, events.Query{}))
	require.Equal(t, []string{short}, w.upcoming(anna, events.Query{Category: "party"}))
	require.Equal(t, []string{over}, past(events.Query{}))
	_, err := w.register(anna, over, "")
	meettest.RequireCode(t, events.EventStarted, err)
	_, err = w.register(anna, short, "")
	require.NoError(t, err)
	w.Clock.Pass(time.Minute)
	_, err = w.register(anna, long, "")
	require.NoError(t, err)
	require.Equal(t, []string{long, short}, w.mine(anna), "the newest registration first")
	_, err = w.events.SetAttended(ctx, w.Members["admin"], short, anna.UserID, true)
	meettest.RequireCode(t, events.EventNotStarted, err)

	d.Start, d.End, d.Category = on(-5), on(-4), "meetup"
	_, err = w.events.Edit(ctx, w.Members["admin"], short, d)
	require.NoError(t, err)
	require.Equal(t, []string{long}, w.upcoming(anna, events.Query{}))
	require.Equal(t, []string{over, short}, past(events.Query{}), "the latest first")
	require.Empty(t, w.upcoming(anna, events.Query{Category: "party"}))
	require.Equal(t, []string{short}, past(events.Query{Category: "meetup"}))
	require.Equal(t, []string{long, short}, w.mine(anna), "past ones too")
	meettest.RequireCode(t, events.EventStarted, w.events.Unregister(ctx, anna, short))
	_, created, err := w.events.Register(ctx, anna, short, "", "")
	require.NoError(t, err)
	require.False(t, created)
	g, err := w.events.SetAttended(ctx, w.Members["admin"], short, anna.UserID, true)
	require.NoError(t, err)
	require.True(t, g.Attended)
	require.NoError(t, w.events.Remove(ctx, w.Members["admin"], short, anna.UserID),
		"an admin takes a place back at any time")
	require.Equal(t, []string{long}, w.mine(anna))
	require.Len(t, w.Rows("Events"), 3*5, "earlier versions left the lists")
	require.NoError(t, w.events.Delete(ctx, w.Members["admin"], long))
	require.Empty(t, w.mine(anna))
	require.Len(t, w.Rows("Events"), 2*5)
	_, err = w.events.Edit(ctx, w.Members["admin"], long, d)
	meettest.RequireCode(t, events.EventNotFound, err)
}

// TestAttendees: those who attend see who comes, as far as profiles may be seen.
func TestAttendees(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, anna, bob, carol := t.Context(), w.Members["anna"], w.Members["bob"], w.Members["carol"]
	see := func(c meet.Claim, id string) (names []string, err error) {
		for after, more := "", true; more; more = after != "" {
			p, err := w.events.Attendees(ctx, c, id, after, 1)
			if err != nil {
				return nil, err
			}
			for _, g := range p.Guests {
				if g.Author.ID == "" {
					names = append(names, g.Author.Name+" alone")
				} else {
					names = append(names, g.Author.Name)
				}
			}
			after = p.Next
		}
		return names, nil
	}
	open, teaser, hidden := w.make(draft(events.Public)), w.make(draft(events.SecretTeaser)),
		w.make(draft(events.SecretHidden))
	_, err := see(carol, open)
	meettest.RequireCode(t, events.AttendeesOnly, err)
	for _, id := range []string{teaser, hidden, w.NewID(), "x"} {
		_, err := see(carol, id)
		meettest.RequireCode(t, events.EventNotFound, err)
		require.Equal(t, "there is no such event", err.Error())
	}
	for _, c := range []meet.Claim{anna, bob} {
		_, err := w.register(c, open, "")
		require.NoError(t, err)
	}
	names, err := see(anna, open)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"anna", "bob"}, names)
	settings, err := w.Settings(ctx, bob)
	require.NoError(t, err)
	settings.Privacy.Visibility = "private"
	require.NoError(t, w.SetPrivacy(ctx, bob, settings.Privacy))
	names, err = see(anna, open)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"anna", "bob alone"}, names)
	require.NoError(t, w.Block(ctx, bob, anna.UserID))
	names, err = see(anna, open)
	require.NoError(t, err)
	require.Equal(t, []string{"anna"}, names)
	names, err = see(w.Members["moderator"], open)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"anna", "bob"}, names)
}

// TestAttendeesHaveNoGaps: pages of attendees are full whoever is hidden between them, and where
// the next one begins names no member and is good for the reader alone, in this list.
func TestAttendeesHaveNoGaps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, anna, bob := t.Context(), w.Members["anna"], w.Members["bob"]
	id, other := w.make(draft(events.Public)), w.make(draft(events.Public))
	var ids []string
	for _, c := range []meet.Claim{anna, bob} {
		for _, event := range []string{id, other} {
			_, err := w.register(c, event, "")
			require.NoError(t, err)
		}
	}
	want := []string{anna.UserID, bob.UserID}
	for i, c := range w.Crowd(20) {
		ids = append(ids, c.UserID)
		_, err := w.register(c, id, "")
		require.NoError(t, err)
		switch i % 5 {
		case 0:
			want = append(want, c.UserID)
		case 1:
			require.NoError(t, w.Block(ctx, anna, c.UserID))
		default:
			require.NoError(t, w.Block(ctx, c, anna.UserID))
		}
	}
	for _, limit := range []int{1, 2, 5, 50} {
		var got []string
		pages := 0
		for after, more := "", true; more; more = after != "" {
			p, err := w.events.Attendees(ctx, anna, id, after, limit)
			require.NoError(t, err)
			for _, g := range p.Guests {
				got = append(got, g.Author.ID)
			}
			after = p.Next
			pages++
			text, err := base64.RawURLEncoding.DecodeString(after)
			require.NoError(t, err)
			for _, one := range ids {
				require.NotContains(t, after+string(text), one)
			}
			if after == "" {
				continue
			}
			for _, wrong := range []func() (events.GuestPage, error){
				func() (events.GuestPage, error) { return w.events.Attendees(ctx, bob, id, after, limit) },
				func() (events.GuestPage, error) { return w.events.Attendees(ctx, anna, other, after, limit) },
				func() (events.GuestPage, error) { return w.events.Attendees(ctx, anna, id, ids[0], limit) },
			} {
				_, err := wrong()
				require.Equal(t, fault.Malformed, fault.Of(err))
			}
		}
		require.ElementsMatch(t, want, got, "pages of %d", limit)
		require.Equal(t, (len(want)+limit-1)/limit, pages, "pages of %d", limit)
	}
}

// TestRoles: moderators see all events, and admins alone write them.
func TestRoles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	id := w.make(draft(events.SecretHidden))
	for name, staff := range map[string]bool{"anna": false, "moderator": true, "admin": true} {
		_, err := w.events.All(ctx, w.Members[name], "", 10)
		require.Equal(t, !staff, fault.CodeOf(err) == meet.RoleRequired, name)
	}
	require.Equal(t, []string{id}, w.listed(func(after string, limit int) (events.Page, error) {
		return w.events.All(ctx, w.Members["moderator"], after, limit)
	}))
	for _, name := range []string{"anna", "moderator"} {
		c := w.Members[name]
		for _, at := range []string{id, "x"} {
			for what, err := range map[string]error{
				"make":    second(w.events.NewEvent(ctx, c, events.Draft{})),
				"edit":    second(w.events.Edit(ctx, c, at, events.Draft{})),
				"delete":  w.events.Delete(ctx, c, at),
				"invite":  second(w.events.NewInvite(ctx, c, at, events.InviteDraft{})),
				"invites": second(w.events.Invites(ctx, c, at, "", 1)),
				"revoke":  w.events.Revoke(ctx, c, at, "CODE"),
				"remove":  w.events.Remove(ctx, c, at, c.UserID),
				"attend":  second(w.events.SetAttended(ctx, c, at, c.UserID, true)),
			} {
				require.Equal(t, meet.RoleRequired, fault.CodeOf(err), "%s %s", name, what)
			}
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestDraft: the rules of what staff write.
func TestDraft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	zero := 0
	for what, change := range map[string]func(*events.Draft){
		"title":                     func(d *events.Draft) { d.Title = "ab" },
		"title ":                    func(d *events.Draft) { d.Title = strings.Repeat("𝄞", 61) },
		"description":               func(d *events.Draft) { d.Description = strings.Repeat("x", 10_001) },
		"location":                  func(d *events.Draft) { d.Location = strings.Repeat("x", 201) },
		"startDate":                 func(d *events.Draft) { d.Start = "2026-12-31 20:00" },
		"timeZone":                  func(d *events.Draft) { d.Zone = "MSK" },
		"startDate no such day":     func(d *events.Draft) { d.Start = "2026-02-29T20:00:00Z" },
		"endDate":                   func(d *events.Draft) { d.End = on(9) },
		"endDate of no form":        func(d *events.Draft) { d.End = "tomorrow" },
		"capacity":                  func(d *events.Draft) { d.Capacity = &zero },
		"category":                  func(d *events.Draft) { d.Category = "all" },
		"price":                     func(d *events.Draft) { d.Price = &rules.Price{Minor: -1, Currency: "RUB"} },
		"price in another currency": func(d *events.Draft) { d.Price = &rules.Price{Minor: 1, Currency: "rub"} },
		"visibility":                func(d *events.Draft) { d.Visibility = "secret" },
	} {
		d := draft(events.Public)
		change(&d)
		_, err := w.events.NewEvent(t.Context(), w.Members["admin"], d)
		var f *fault.Error
		require.ErrorAs(t, err, &f, what)
		require.Len(t, f.Fields, 1, what)
		name, _, _ := strings.Cut(what, " ")
		require.Equal(t, "body."+name, f.Fields[0].Name, what)
	}
	require.Empty(t, w.Rows("EventAttendees"))
	d := draft(events.Public)
	d.Title, d.Start, d.End = strings.Repeat("𝄞", 60), "2028-02-29T23:00:00+03:00", "2028-02-29T20:00:00Z"
	v, err := w.events.NewEvent(t.Context(), w.Members["admin"], d)
	require.NoError(t, err)
	require.Equal(t, "2028-02-29T20:00:00Z", v.Start.Format(time.RFC3339))
}

// TestCodesAreSecret: the code of a request with a key is made of what only the service knows, too.
func TestCodesAreSecret(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, admin := t.Context(), w.Members["admin"]
	id := w.make(draft(events.SecretHidden))
	keyed := func() string {
		i, err := w.events.NewInvite(ctx, admin, id, events.InviteDraft{Key: "1"})
		require.NoError(t, err)
		return i.Code
	}
	first := keyed()
	require.Equal(t, first, keyed())
	for _, row := range w.Rows(meettest.Tables.Users) { // nothing else changes that the code could be made of
		if row.Props.Get("UserId").Str() == admin.UserID || strings.Contains(row.Key.String(), admin.UserID) {
			_, err := w.DB.Write(ctx, meettest.Tables.Users, table.Op{Kind: table.Merge, Row: table.Row{
				Key: row.Key, ETag: table.Any,
				Props: table.Props{{Name: "PasswordHash", Value: table.String("another")}},
			}})
			require.NoError(t, err)
		}
	}
	require.NotEqual(t, first, keyed(), "a key that can be guessed would tell a code")
}
