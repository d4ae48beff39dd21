package people_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/people"
	"prompthub/internal/storage/table"
)

// stops is a store whose process stops at its first write to a table.
type stops struct {
	table.DB
	at   string
	dead bool
}

func (s *stops) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	if name == s.at || s.dead {
		s.dead = true
		return nil, errLost
	}
	return s.DB.Write(ctx, name, ops...)
}

// serial makes one call at a time.
type serial struct {
	mu sync.Mutex
	crash
}

func (s *serial) Get(ctx context.Context, name string, key table.Key) (table.Row, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.crash.Get(ctx, name, key)
}

func (s *serial) List(ctx context.Context, name string, r table.Range, limit int, next string) (table.Page, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.crash.List(ctx, name, r, limit, next)
}

func (s *serial) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.crash.Write(ctx, name, ops...)
}

// A crash is an accident to the n-th call of a process: the call lands or not, and the process goes
// on or not.
type crash struct {
	table.DB
	left          int
	lands, goesOn bool
}

func crashed[T any](c *crash, do func() (T, error)) (none T, err error) {
	c.left--
	if c.left > 0 || c.left < 0 && c.goesOn {
		return do()
	}
	if c.left == 0 && c.lands {
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
	return crashed(c, func() ([]string, error) { return c.DB.Write(ctx, name, ops...) })
}

// TestCrashes: after any accident to any call of a first sign-in or of a choice of a name, the
// person signs in to one account, and has the name or can have it.
func TestCrashes(t *testing.T) {
	t.Parallel()
	for _, lands := range []bool{false, true} {
		for _, goesOn := range []bool{false, true} {
			for name, do := range map[string]func(*world, *people.Service) error{
				"sign in": func(w *world, s *people.Service) error {
					c, err := s.RequestCode(w.t.Context(), "sms", number(1), "sign_in", people.Asker{Site: "192.0.2.1"})
					if err != nil {
						return err
					}
					_, err = s.Verify(w.t.Context(), c.ID, w.phone.code(number(1)), "")
					return err
				},
				"choose": func(w *world, s *people.Service) error {
					c := w.claim(w.enter(number(1)))
					star := "Star"
					_, err := s.SetBasics(w.t.Context(), c, people.Basics{Username: &star})
					return err
				},
			} {
				met := 0
				for n := 1; ; n++ {
					w := newWorld(t, unlimited)
					c := &serial{crash: crash{DB: w.db, left: n, lands: lands, goesOn: goesOn}}
					err := do(w, w.over(c, unlimited))
					if c.left > 0 {
						break // there is no such call
					}
					met++
					what := fmt.Sprintf("%s, call %d, lands %v, goes on %v: %v", name, n, lands, goesOn, err)
					in := w.enter(number(1))
					require.Len(t, w.keys("Names", "phone|"), 1, what)
					require.Len(t, slices.DeleteFunc(w.keys("Users", "u|"), func(key string) bool { return strings.HasSuffix(key, " / w|star") }), 2, what)
					require.NoError(t, w.choose(w.claim(in), "Star"), what)
					require.Equal(t, []string{"name|star / r"}, w.keys("Names", "name|"), what)
					require.Empty(t, w.differences(), what)
				}
				require.Greater(t, met, 3, "accidents never happened")
			}
		}
	}
}
