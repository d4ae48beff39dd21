package meet_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/fault"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
)

var errLost = errors.New("no answer in time")

// An accident happens to one call of a process.
type accident struct {
	name   string
	lands  bool          // whether the call does what it was sent for
	after  time.Duration // how much later, if it lands
	goesOn bool          // whether the process goes on
}

var accidents = []accident{
	{"not landed, and the process stops", false, 0, false},
	{"landed, and the process stops", true, 0, false},
	{"lands late, and the process stops", true, 20 * time.Second, false},
	{"not landed", false, 0, true},
	{"landed, its answer lost", true, 0, true},
	{"lands late", true, 20 * time.Second, true},
	{"lands after the job", true, 39 * time.Second, true},
}

// A crash lets an accident happen to the n-th call.
type crash struct {
	table.DB
	queue.Queues
	accident
	mu   sync.Mutex
	left int
	late []func() // calls that land later
}

func crashed[T any](c *crash, do func() (T, error)) (none T, err error) {
	c.mu.Lock()
	c.left--
	left := c.left
	if left == 0 && c.lands && c.after > 0 {
		c.late = append(c.late, func() { _, _ = do() })
	}
	c.mu.Unlock()
	if left > 0 || left < 0 && c.goesOn {
		return do()
	}
	if left == 0 && c.lands && c.after == 0 {
		_, _ = do() // no caller hears of it
	}
	return none, errLost
}

func (c *crash) Get(ctx context.Context, name string, key table.Key) (table.Row, error) {
	return crashed(c, func() (table.Row, error) { return c.DB.Get(ctx, name, key) })
}

func (c *crash) List(ctx context.Context, name string, r table.Range, limit int, next string) (table.Page, error) {
	return crashed(c, func() (table.Page, error) { return c.DB.List(ctx, name, r, limit, next) })
}

func (c *crash) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	ctx = context.WithoutCancel(ctx) // one that lands late has outlived its caller
	return crashed(c, func() ([]string, error) { return c.DB.Write(ctx, name, ops...) })
}

// Create makes tables; messages has that of queues.
func (c *crash) Create(ctx context.Context, names ...string) error { return c.DB.Create(ctx, names...) }

type messages struct{ *crash }

func (m messages) Create(ctx context.Context, names ...string) error {
	return m.Queues.Create(ctx, names...)
}

func (m messages) Send(ctx context.Context, name, text string, d time.Duration) (queue.Receipt, error) {
	return crashed(m.crash, func() (queue.Receipt, error) { return m.Queues.Send(ctx, name, text, d) })
}

func (m messages) Delete(ctx context.Context, name string, r queue.Receipt) error {
	_, err := crashed(m.crash, func() (struct{}, error) { return struct{}{}, m.Queues.Delete(ctx, name, r) })
	return err
}

// crashes runs do with each accident at each of its calls. then looks at what is left, told whether
// do has succeeded.
func crashes(t *testing.T, setup func(*world) table.DB, do func(*world, *meet.Service) error, then func(w *world, err error)) {
	t.Helper()
	all := accidents
	if testing.Short() {
		all = all[:2]
	}
	for _, a := range all {
		met := 0
		for n, done := 1, false; !done; n++ {
			ok := t.Run(fmt.Sprintf("call %d, %s", n, a.name), func(t *testing.T) {
				w := newWorld(t)
				c := &crash{DB: setup(w), Queues: w.queues, accident: a, left: n}
				err := do(w, w.over(c, messages{c}))
				done = c.left > 0 // there is no such call
				if !done {
					met++
				}
				if len(c.late) > 0 {
					w.pump(a.after - time.Second) // a job may come before
					w.clock.pass(time.Second)
					for _, land := range c.late {
						land()
					}
				}
				then(w, err)
			})
			if !ok {
				return
			}
		}
		require.Greater(t, met, 1, "accidents never happened")
	}
}

// TestCrashesOfRegister: after any accident to any call of a registration there is in the end a
// whole account or none. A caller who was told that there is one can sign in.
func TestCrashesOfRegister(t *testing.T) {
	t.Parallel()
	crashes(t, func(w *world) table.DB { return w.db }, func(w *world, s *meet.Service) error {
		_, err := s.Register(w.t.Context(), someone("anna"))
		return err
	}, func(w *world, err error) {
		w.settle()
		switch counts := w.counts(); counts {
		case "1 1 1 1":
			in, err := w.login("anna", secret)
			require.NoError(w.t, err)
			again, err := w.Person(w.t.Context(), claim(w.t, in.Tokens), in.Me.ID)
			require.NoError(w.t, err)
			require.Equal(w.t, "Someone", again.Name)
			other := claim(w.t, w.register("bob").Tokens)
			_, err = w.Person(w.t.Context(), other, in.Me.ID)
			require.NoError(w.t, err, "others see the account")
			require.Equal(w.t, []string{in.Me.ID}, w.deckOf(other, 10, func() {}), "and find it in the deck")
			_, err = w.Register(w.t.Context(), someone("anna"))
			requireCode(w.t, meet.EmailTaken, err)
		case "0 0 0 0":
			require.Error(w.t, err, "an account that was promised is gone")
			w.register("anna")
		default:
			require.Fail(w.t, "half an account", counts)
		}
	})
}

// A rival registers before the first row of UserEmails is written.
type rival struct {
	table.DB
	register func()
}

func (r *rival) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	if register := r.register; name == tables.UserEmails && register != nil {
		r.register = nil
		register()
	}
	return r.DB.Write(ctx, name, ops...)
}

// TestCrashesOfALoser: one who comes too late leaves nothing either.
func TestCrashesOfALoser(t *testing.T) {
	t.Parallel()
	came := false
	crashes(t, func(w *world) table.DB {
		came = false
		return &rival{w.db, func() { came = true; w.register("anna") }}
	}, func(w *world, s *meet.Service) error {
		r := someone("anna")
		r.Name = "Somebody else"
		_, err := s.Register(w.t.Context(), r)
		return err
	}, func(w *world, err error) {
		require.Error(w.t, err)
		w.settle()
		if !came { // the crash was before
			require.Equal(w.t, "0 0 0 0", w.counts())
			return
		}
		require.Equal(w.t, "1 1 1 1", w.counts())
		in, err := w.login("anna", secret)
		require.NoError(w.t, err)
		require.Equal(w.t, "Someone", in.Me.Name)
	})
}

// TestCrashesOfRefresh: after any accident to any call of a refresh the same token works again, and
// the tokens that it gives do.
func TestCrashesOfRefresh(t *testing.T) {
	t.Parallel()
	var first meet.Tokens
	var told meet.Tokens
	crashes(t, func(w *world) table.DB {
		first = w.register("anna").Tokens
		w.clock.pass(meet.AccessFor)
		return w.db
	}, func(w *world, s *meet.Service) (err error) {
		told, err = s.Refresh(w.t.Context(), first.Refresh)
		return err
	}, func(w *world, err error) {
		if err == nil {
			_, err := w.Me(w.t.Context(), claim(w.t, told))
			require.NoError(w.t, err)
		} else {
			require.Equal(w.t, fault.Unavailable, fault.Of(err))
		}
		again, err := w.Refresh(w.t.Context(), first.Refresh)
		require.NoError(w.t, err)
		_, err = w.Me(w.t.Context(), claim(w.t, again))
		require.NoError(w.t, err)
		next, err := w.Refresh(w.t.Context(), again.Refresh)
		require.NoError(w.t, err)
		_, err = w.Refresh(w.t.Context(), first.Refresh)
		requireCode(w.t, meet.RefreshReused, err)
		_, err = w.Me(w.t.Context(), claim(w.t, next))
		requireCode(w.t, meet.InvalidToken, err)
	})
}
