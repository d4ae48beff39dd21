package httpjson_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/httpjson"
	"prompthub/internal/storage/table"
	"prompthub/internal/telemetry"
)

// A clock goes on when it is told to.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// A slow is a store whose reads take time.
type slow struct {
	table.DB
	clock *clock
}

func (s slow) Get(context.Context, string, table.Key) (table.Row, error) {
	s.clock.pass(2 * time.Millisecond)
	return table.Row{}, nil
}

// TestCharge holds what requests cost besides their own token, and that the answer says what is
// left.
func TestCharge(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name       string
		write      bool
		works      time.Duration
		operations int
		want       int
	}{
		{"ordinary", false, time.Millisecond, 3, 1},
		{"long, and much of the storage", false, 4 * time.Millisecond, 63, 2},
		{"long", false, 50 * time.Millisecond, 0, 11},
		{"long write", true, 50 * time.Millisecond, 0, 3},
		{"much of the storage", false, 0, 128, 3},
		{"more than a caller may have", false, time.Minute, 0, 300},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := &clock{now: time.UnixMilli(0)}
			// a token a second: a request that passes here gives none back but in the last
			a := httpjson.NewAdmission(httpjson.Limits{Reads: 1, ReadBurst: 300, Writes: 1, WriteBurst: 300}, c.Now)
			store := (*telemetry.Telemetry)(nil).Tables(slow{clock: c})
			w := httptest.NewRecorder()
			h := httpjson.Buffered(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				require.NoError(t, a.Admit(r.Context(), w.Header(), user("ann"), tt.write))
				leave, err := a.Enter(r.Context(), user("ann"))
				require.NoError(t, err)
				defer leave()
				c.pass(tt.works)
				for range tt.operations {
					_, _ = store.Get(r.Context(), "", table.Key{})
				}
				_, _ = w.Write([]byte("x"))
			}))
			httpjson.Observer{Log: discard, Now: fixed}.Observe(h).ServeHTTP(w, get("/"))
			require.Equal(t, fmt.Sprint(300-tt.want), w.Header().Get("RateLimit-Remaining"))
		})
	}
}

// TestChargeUnderLoad holds that a request costs the same when others share the processors with it.
func TestChargeUnderLoad(t *testing.T) {
	t.Parallel()
	c := &clock{now: time.UnixMilli(0)}
	a := httpjson.NewAdmission(httpjson.Limits{Reads: 1, ReadBurst: 300}, c.Now)
	n := 4 * runtime.GOMAXPROCS(0)
	var working, done sync.WaitGroup
	working.Add(n)
	end := make(chan struct{})
	left := make([]string, n)
	for i := range n {
		done.Go(func() {
			w := httptest.NewRecorder()
			h := func(w http.ResponseWriter, r *http.Request) {
				who := user(fmt.Sprint(i))
				_ = a.Admit(r.Context(), w.Header(), who, false)
				leave, err := a.Enter(r.Context(), who)
				working.Done()
				if err == nil {
					<-end
					leave()
				}
			}
			httpjson.Observer{Log: discard, Now: fixed}.Observe(http.HandlerFunc(h)).ServeHTTP(w, get("/"))
			left[i] = w.Header().Get("RateLimit-Remaining")
		})
	}
	working.Wait()
	c.pass(40 * time.Millisecond) // of which each has had 10
	close(end)
	done.Wait()
	for _, l := range left {
		require.Equal(t, "297", l)
	}
}

// TestTurns holds that few requests of callers who are not signed in run at a time, that users do
// not wait for them, and that a client which goes away leaves its place.
func TestTurns(t *testing.T) {
	t.Parallel()
	a := httpjson.NewAdmission(httpjson.Limits{AtWork: 4096}, fixed)
	n := 8 * runtime.GOMAXPROCS(0)
	var leave func()
	for i := range n {
		var err error
		leave, err = a.Enter(t.Context(), from(fmt.Sprint("203.0.113.", i)))
		require.NoError(t, err)
	}
	gone, stop := context.WithCancel(t.Context())
	stop()
	_, err := a.Enter(gone, from("198.51.100.1"))
	require.ErrorIs(t, err, context.Canceled)
	_, err = a.Enter(gone, user("ann"))
	require.NoError(t, err)
	entered := make(chan error)
	go func() {
		_, err := a.Enter(t.Context(), from("198.51.100.1"))
		entered <- err
	}()
	leave()
	require.NoError(t, <-entered)
}
