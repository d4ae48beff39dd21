package events_test

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/events"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/meettest"
	"prompthub/internal/fault"
	"prompthub/internal/testing/calls"
)

// waitFor has a member wait, and returns the place on the waiting list.
func (w *world) waitFor(name, id string) (int, error) {
	w.T.Helper()
	wait, _, err := w.events.WaitFor(w.T.Context(), w.Members[name], id, "", name)
	return wait.Place, err
}

// full makes an event with one place, which anna has.
func (w *world) full(visibility string) string {
	w.T.Helper()
	id := w.make(places(draft(visibility), 1))
	_, err := w.events.NewInvite(w.T.Context(), w.Members["admin"], id, events.InviteDraft{Code: "open-it"})
	require.NoError(w.T, err)
	_, err = w.register(w.Members["anna"], id, "open-it")
	require.NoError(w.T, err)
	return id
}

// told returns the events at which a member is told to have been given a place.
func (w *world) told(name string) (ids []string) {
	w.T.Helper()
	all, err := w.events.NewPlaces(w.T.Context(), w.Members[name])
	require.NoError(w.T, err)
	for _, v := range all {
		ids = append(ids, v.ID)
	}
	return ids
}

// TestWaiting is the story of waiters: they get places in their order, and are told.
func TestWaiting(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, admin, bob, carol := t.Context(), w.Members["admin"], w.Members["bob"], w.Members["carol"]
	id := w.full(events.Public)
	free := w.make(draft(events.Public))
	_, err := w.waitFor("bob", free)
	meettest.RequireCode(t, events.EventHasPlaces, err)
	_, err = w.waitFor("anna", id)
	meettest.RequireCode(t, events.AlreadyAttends, err)
	_, _, err = w.events.WaitFor(ctx, meet.Claim{}, id, "", "x")
	meettest.RequireCode(t, meet.Unauthenticated, err)
	for place, name := range []string{"bob", "carol", "moderator"} {
		w.Clock.Pass(time.Second)
		for again := range 2 {
			wait, created, err := w.events.WaitFor(ctx, w.Members[name], id, "", name)
			require.NoError(t, err)
			require.Equal(t, []any{place + 1, again == 0}, []any{wait.Place, created})
		}
	}
	_, err = w.register(bob, id, "")
	meettest.RequireCode(t, events.EventFull, err)
	v, err := w.events.Event(ctx, carol, id, "", "x")
	require.NoError(t, err)
	require.Equal(t, []any{2, 3, false, true}, []any{v.WaitingPlace, v.Waiting, v.Attends, v.Waits})
	require.Equal(t, []string{id}, w.mine(carol))
	guests, err := w.events.Attendees(ctx, admin, id, "", 50)
	require.NoError(t, err)
	require.Len(t, guests.Guests, 1, "who waits does not attend")

	// One leaves, and the first has the place.
	require.NoError(t, w.events.WaitNoMore(ctx, w.Members["moderator"], id))
	require.NoError(t, w.events.WaitNoMore(ctx, w.Members["moderator"], id))
	require.Empty(t, w.mine(w.Members["moderator"]))
	require.NoError(t, w.events.Unregister(ctx, w.Members["anna"], id))
	w.consistent()
	v, err = w.events.Event(ctx, bob, id, "", "x")
	require.NoError(t, err)
	require.Equal(t, []any{0, 1, true, true, 1}, []any{v.WaitingPlace, v.Waiting, v.Attends, v.NewPlace, v.Attendees})
	require.NotEmpty(t, v.ChatID)
	require.Equal(t, []string{id}, w.told("bob"))
	require.Empty(t, w.told("carol"))
	require.NoError(t, w.events.SeePlace(ctx, bob, id))
	require.Empty(t, w.told("bob"))
	v, err = w.events.Event(ctx, carol, id, "", "x")
	require.NoError(t, err)
	require.Equal(t, 1, v.WaitingPlace)
	require.NoError(t, w.events.WaitNoMore(ctx, bob, id), "who has the place keeps it")
	require.Equal(t, []string{id}, w.mine(bob))

	// Places are added.
	_, err = w.events.Edit(ctx, admin, id, places(draft(events.Public), 3))
	require.NoError(t, err)
	require.Equal(t, []string{id}, w.told("carol"))
	created, err := w.register(w.Members["anna"], id, "")
	require.NoError(t, err)
	require.True(t, created)
	require.NoError(t, w.events.Unregister(ctx, carol, id))
	require.Empty(t, w.told("carol"))
	w.consistent()
}

// TestWaitingMatrix: an event that gives no places lets none wait, and shows no more than it does
// to others; one who waits sees it, but nothing that is for attendees.
func TestWaitingMatrix(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, admin, bob := t.Context(), w.Members["admin"], w.Members["bob"]
	for visibility, code := range map[string]fault.Code{
		events.SecretTeaser: events.InviteRequired,
		events.SecretHidden: events.EventNotFound,
	} {
		id := w.full(visibility)
		_, err := w.waitFor("bob", id)
		meettest.RequireCode(t, code, err)
		require.Equal(t, map[string]fault.Code{events.SecretHidden: events.EventNotFound}[visibility],
			fault.CodeOf(w.events.WaitNoMore(ctx, bob, id)))
		_, _, err = w.events.WaitFor(ctx, bob, id, "open-it", "x")
		require.NoError(t, err)
		v, err := w.events.Event(ctx, bob, id, "", "x")
		require.NoError(t, err)
		require.Equal(t, []any{events.Full, ""}, []any{v.Sight, v.ChatID})
		require.Len(t, v.Topics, map[string]int{events.SecretTeaser: 1}[visibility], "as before")
		_, err = w.events.Attendees(ctx, bob, id, "", 50)
		meettest.RequireCode(t, events.AttendeesOnly, err)
		require.NoError(t, w.events.Revoke(ctx, admin, id, "open-it"))
		require.NoError(t, w.events.Unregister(ctx, w.Members["anna"], id))
		require.Contains(t, w.told("bob"), id, "by an invite that was good when it was shown")
	}
	id := w.full(events.Public)
	_, err := w.waitFor("bob", id)
	require.NoError(t, err)
	off := places(draft(events.Public), 1)
	yes, no := true, false
	off.Cancelled = &yes
	_, err = w.events.Edit(ctx, admin, id, off)
	require.NoError(t, err)
	_, err = w.waitFor("carol", id)
	meettest.RequireCode(t, events.EventCancelled, err)
	require.NoError(t, w.events.Unregister(ctx, w.Members["anna"], id))
	require.NotContains(t, w.told("bob"), id, "an event that is cancelled gives no places")
	off.Cancelled = &no
	_, err = w.events.Edit(ctx, admin, id, off)
	require.NoError(t, err)
	require.Contains(t, w.told("bob"), id)
	off.Start = meettest.Began.Add(time.Second).Format(time.RFC3339)
	_, err = w.events.Edit(ctx, admin, id, off)
	require.NoError(t, err)
	w.Clock.Pass(time.Second)
	_, err = w.waitFor("carol", id)
	meettest.RequireCode(t, events.EventStarted, err)
}

// TestPassedOver: a suspended waiter keeps the place on the list and is passed over; a waiter who
// deletes the account leaves the list. There is a bound.
func TestPassedOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, admin := t.Context(), w.Members["admin"]
	id, crowd := w.full(events.Public), w.Crowd(201)
	for _, name := range []string{"bob", "carol", "moderator"} {
		_, err := w.waitFor(name, id)
		require.NoError(t, err)
	}
	require.NoError(t, w.Suspend(ctx, admin, w.Members["bob"].UserID, 1, "spam"))
	_, err := w.DeleteMe(ctx, w.Members["carol"], "tea under seven lamps")
	require.NoError(t, err)
	require.NoError(t, w.events.Unregister(ctx, w.Members["anna"], id))
	require.Equal(t, []string{id}, w.told("moderator"))
	w.Settle()
	w.consistent()
	v, err := w.events.Event(ctx, admin, id, "", "x")
	require.NoError(t, err)
	require.Equal(t, 1, v.Waiting, "bob does")

	// A place that is free is not kept for him, until it is over.
	require.NoError(t, w.events.Unregister(ctx, w.Members["moderator"], id))
	created, err := w.register(w.Members["anna"], id, "")
	require.NoError(t, err)
	require.True(t, created)
	require.NoError(t, w.Unsuspend(ctx, admin, w.Members["bob"].UserID))
	require.NoError(t, w.events.Unregister(ctx, w.Members["anna"], id))
	require.Equal(t, []string{id}, w.told("bob"))

	for i, c := range crowd {
		_, _, err := w.events.WaitFor(ctx, c, id, "", strconv.Itoa(i))
		if i < 200 {
			require.NoError(t, err)
		} else {
			meettest.RequireCode(t, events.WaitingListFull, err)
		}
	}
	_, err = w.events.Edit(ctx, admin, id, draft(events.Public))
	require.NoError(t, err, "no limit: all have a place")
	w.consistent()
	require.Len(t, w.Rows("UserEvents"), 201)
}

// TestWaitingAtOnce: while ten leave and others try to take their places, waiters get them, in
// their order.
func TestWaitingAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.make(places(draft(events.Public), 10))
	crowd := w.Crowd(40)
	for _, c := range crowd[:10] {
		_, err := w.register(c, id, "")
		require.NoError(t, err)
	}
	for i, c := range crowd[10:30] {
		wait, _, err := w.events.WaitFor(t.Context(), c, id, "", c.UserID)
		require.NoError(t, err)
		require.Equal(t, i+1, wait.Place)
	}
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() { require.NoError(t, w.events.Unregister(t.Context(), crowd[i], id)) })
		wg.Go(func() {
			_, err := w.register(crowd[30+i], id, "")
			meettest.RequireCode(t, events.EventFull, err)
		})
	}
	wg.Wait()
	w.Settle()
	w.consistent()
	for i, c := range crowd {
		v, err := w.events.Event(t.Context(), c, id, "", "x")
		require.NoError(t, err)
		require.Equal(t, i >= 10 && i < 20, v.Attends, i)
		require.Equal(t, map[bool]int{true: i - 19}[i >= 20 && i < 30], v.WaitingPlace, i)
	}
}

// TestCrashesOfWaiting: after any accident to any call one who was told so waits, or waits no more.
func TestCrashesOfWaiting(t *testing.T) {
	t.Parallel()
	crashes(t, func(w *world) string { return w.full(events.Public) },
		func(w *world, s *events.Service, id string) error {
			_, _, err := s.WaitFor(t.Context(), w.Members["bob"], id, "", "")
			return err
		}, func(w *world, id string, err error) {
			if err == nil {
				require.Equal(w.T, []string{id}, w.mine(w.Members["bob"]))
			}
			require.NoError(w.T, w.events.Unregister(w.T.Context(), w.Members["anna"], id))
			require.Equal(w.T, w.mine(w.Members["bob"]), w.told("bob"))
			w.consistent()
		})
	crashes(t, func(w *world) string {
		id := w.full(events.Public)
		_, err := w.waitFor("bob", id)
		require.NoError(w.T, err)
		return id
	}, func(w *world, s *events.Service, id string) error {
		return s.WaitNoMore(t.Context(), w.Members["bob"], id)
	}, func(w *world, _ string, err error) {
		if err == nil {
			require.Empty(w.T, w.mine(w.Members["bob"]))
		}
	})
}

// TestCrashesOfGiving: after any accident to any call of one who leaves, of an edit that adds a
// place, or of a newcomer who finds it, the first who waits has the place, and the second waits.
func TestCrashesOfGiving(t *testing.T) {
	t.Parallel()
	queue := func(w *world) string {
		id := w.full(events.Public)
		for place, name := range []string{"bob", "carol"} {
			is, err := w.waitFor(name, id)
			require.NoError(w.T, err)
			require.Equal(w.T, place+1, is)
		}
		return id
	}
	then := func(w *world, id string, err error) {
		left := len(w.mine(w.Members["anna"])) == 0
		if err == nil {
			require.True(w.T, left)
		}
		bob, unread := w.events.Event(w.T.Context(), w.Members["bob"], id, "", "x")
		require.NoError(w.T, unread)
		require.Equal(w.T, left, bob.Attends)
		require.Equal(w.T, left, bob.ChatID != "")
		require.Equal(w.T, left, len(w.told("bob")) == 1)
		carol, unread := w.events.Event(w.T.Context(), w.Members["carol"], id, "", "x")
		require.NoError(w.T, unread)
		require.Equal(w.T, map[bool]int{true: 1, false: 2}[left], carol.WaitingPlace)
	}
	crashes(t, queue, func(w *world, s *events.Service, id string) error {
		return s.Unregister(t.Context(), w.Members["anna"], id)
	}, then)
	crashes(t, func(w *world) string {
		id := queue(w)
		require.NoError(w.T, w.Suspend(w.T.Context(), w.Members["admin"], w.Members["bob"].UserID, 1, "spam"))
		require.NoError(w.T, w.Suspend(w.T.Context(), w.Members["admin"], w.Members["carol"].UserID, 1, "spam"))
		require.NoError(w.T, w.events.Unregister(w.T.Context(), w.Members["anna"], id))
		require.NoError(w.T, w.Unsuspend(w.T.Context(), w.Members["admin"], w.Members["bob"].UserID))
		require.NoError(w.T, w.Unsuspend(w.T.Context(), w.Members["admin"], w.Members["carol"].UserID))
		return id
	}, func(w *world, s *events.Service, id string) error {
		_, _, err := s.Register(t.Context(), w.Members["anna"], id, "", "")
		return err
	}, func(w *world, id string, err error) {
		require.Error(w.T, err)
		if fault.CodeOf(err) == events.EventFull {
			then(w, id, nil)
		}
	})
}

// TestRivalsOfWaiting: a change that lands between the reads of a request and its commit counts.
func TestRivalsOfWaiting(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		rival, do func(*world, *events.Service, string) error
		code      fault.Code
	}{
		"the place is given back": {
			func(w *world, s *events.Service, id string) error {
				return s.Unregister(w.T.Context(), w.Members["anna"], id)
			},
			func(w *world, s *events.Service, id string) error {
				_, _, err := s.WaitFor(w.T.Context(), w.Members["bob"], id, "", "")
				return err
			}, events.EventHasPlaces,
		},
		"one comes to wait while the place is given back": {
			func(w *world, s *events.Service, id string) error {
				_, _, err := s.WaitFor(w.T.Context(), w.Members["bob"], id, "", "")
				return err
			},
			func(w *world, s *events.Service, id string) error {
				return s.Unregister(w.T.Context(), w.Members["anna"], id)
			}, "",
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			id := w.full(events.Public)
			r := &calls.Rival{DB: w.DB, Before: calls.WritesTo(tables.EventAttendees), Do: func() {
				require.NoError(t, c.rival(w, w.events, id))
			}}
			err := c.do(w, events.New(w.Over(r, w.Queues), tables, meettest.ForumTables), id)
			require.Equal(t, c.code, fault.CodeOf(err), "%v", err)
			w.consistent()
			if c.code == "" {
				require.Equal(t, []string{id}, w.told("bob"))
			}
		})
	}
}
