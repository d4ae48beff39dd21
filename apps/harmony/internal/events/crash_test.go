package events_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/events"
	"prompthub/apps/harmony/internal/meettest"
	"prompthub/internal/fault"
	"prompthub/internal/testing/calls"
)

// crashes runs do with each accident at each of its calls, in a world that setup prepares. Then the
// lists must follow the truth, and then looks at it, told whether do has succeeded.
func crashes(t *testing.T, setup func(*world) string, do func(w *world, s *events.Service, id string) error,
	then func(w *world, id string, err error),
) {
	t.Helper()
	calls.Crashes(t, func(t *testing.T, c *calls.Crash) {
		w := newWorld(t)
		id := setup(w)
		err := do(w, events.New(w.Over(c.Over(w.DB, w.Queues)), tables, meettest.ForumTables), id)
		c.Land(w.Pump, w.Clock.Pass)
		w.consistentTruth()
		w.Settle()
		w.consistent()
		then(w, id, err)
	})
}

// consistentTruth holds that no more attend than there are places, before any job has run.
func (w *world) consistentTruth() {
	w.T.Helper()
	n := 0
	for _, row := range w.Rows("EventAttendees") {
		if row.Key.Row[0] != '!' && row.Key.Row[0] != '~' {
			n++
		}
	}
	require.LessOrEqual(w.T, n, 1)
}

// TestCrashesOfRegister: after any accident to any call the last place has one member or none, and
// one who was told so has it.
func TestCrashesOfRegister(t *testing.T) {
	t.Parallel()
	crashes(t, func(w *world) string { return w.make(places(draft(events.Public), 1)) },
		func(w *world, s *events.Service, id string) error {
			_, _, err := s.Register(t.Context(), w.Members["anna"], id, "", "")
			return err
		}, func(w *world, id string, err error) {
			mine := w.mine(w.Members["anna"])
			if err == nil {
				require.Equal(w.T, []string{id}, mine)
			}
			created, again := w.register(w.Members["bob"], id, "")
			if len(mine) == 0 {
				require.NoError(w.T, again)
				require.True(w.T, created)
			} else {
				meettest.RequireCode(w.T, events.EventFull, again)
			}
			w.consistent()
		})
}

// TestCrashesOfLeave: after any accident to any call the place is given back or not, and one who
// was told so has none.
func TestCrashesOfLeave(t *testing.T) {
	t.Parallel()
	crashes(t, func(w *world) string {
		id := w.make(places(draft(events.Public), 1))
		_, err := w.register(w.Members["anna"], id, "")
		require.NoError(w.T, err)
		return id
	}, func(w *world, s *events.Service, id string) error {
		return s.Unregister(t.Context(), w.Members["anna"], id)
	}, func(w *world, id string, err error) {
		mine := w.mine(w.Members["anna"])
		if err == nil {
			require.Empty(w.T, mine)
			_, err := w.register(w.Members["bob"], id, "")
			require.NoError(w.T, err)
		}
		w.consistent()
	})
}

// TestCrashesOfEdit: after any accident to any call of an edit that moves an event in the lists, it
// is in the lists where it belongs, once.
func TestCrashesOfEdit(t *testing.T) {
	t.Parallel()
	crashes(t, func(w *world) string { return w.make(draft(events.Public)) },
		func(w *world, s *events.Service, id string) error {
			d := draft(events.SecretTeaser)
			d.Category, d.End = "party", on(20)
			_, err := s.Edit(t.Context(), w.Members["admin"], id, d)
			return err
		}, func(w *world, id string, err error) {
			v, unread := w.events.Event(w.T.Context(), w.Members["admin"], id, "", "")
			require.NoError(w.T, unread)
			if err == nil {
				require.Equal(w.T, "party", v.Category)
			}
			for _, category := range []string{"party", "concert"} {
				want := []string(nil)
				if category == v.Category {
					want = []string{id}
				}
				require.Equal(w.T, want, w.upcoming(w.Members["anna"], events.Query{Category: category}))
			}
			require.Equal(w.T, []string{id}, w.upcoming(w.Members["anna"], events.Query{}))
			require.Len(w.T, w.Rows("Events"), 5, "a reader has removed what was left of the earlier place")
		})
}

// TestRival: a change that lands between the reads of a request and its commit counts.
func TestRival(t *testing.T) {
	t.Parallel()
	type act = func(*world, *events.Service, string) error
	register := func(name string) act {
		return func(w *world, s *events.Service, id string) error {
			_, _, err := s.Register(w.T.Context(), w.Members[name], id, "", "")
			return err
		}
	}
	edit := func(change func(*events.Draft)) act {
		return func(w *world, s *events.Service, id string) error {
			d := places(draft(events.Public), 1)
			change(&d)
			_, err := s.Edit(w.T.Context(), w.Members["admin"], id, d)
			return err
		}
	}
	leave := func(w *world, s *events.Service, id string) error {
		return s.Unregister(w.T.Context(), w.Members["anna"], id)
	}
	for what, c := range map[string]struct {
		before, rival, do act
		code              fault.Code
		attend            int
	}{
		"the last place":  {nil, register("bob"), register("anna"), events.EventFull, 1},
		"the same member": {nil, register("anna"), register("anna"), "", 1},
		"hidden meanwhile": {
			nil, edit(func(d *events.Draft) { d.Visibility = events.SecretHidden }),
			register("anna"), events.EventNotFound, 0,
		},
		"an edit":             {nil, register("anna"), edit(func(d *events.Draft) { d.Title = "Another" }), "", 1},
		"leave at once":       {register("anna"), leave, leave, "", 0},
		"an edit while leave": {register("anna"), edit(func(d *events.Draft) { d.Title = "Another" }), leave, "", 0},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			id := w.make(places(draft(events.Public), 1))
			if c.before != nil {
				require.NoError(t, c.before(w, w.events, id))
			}
			r := &calls.Rival{DB: w.DB, Before: calls.WritesTo(tables.EventAttendees), Do: func() {
				require.NoError(t, c.rival(w, w.events, id))
			}}
			err := c.do(w, events.New(w.Over(r, w.Queues), tables, meettest.ForumTables), id)
			require.Equal(t, c.code, fault.CodeOf(err), "%v", err)
			if c.code == "" {
				require.NoError(t, err)
			}
			w.consistent()
			require.Len(t, w.Rows("UserEvents"), c.attend)
		})
	}
}
