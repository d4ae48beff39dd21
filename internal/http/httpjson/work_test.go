package httpjson_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
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

// readers is a store whose rows have a size.
type readers struct {
	table.DB
	bytes int
}

func (r readers) Get(context.Context, string, table.Key) (table.Row, error) {
	return table.Row{Props: table.Props{{Name: "text", Value: table.String(strings.Repeat("x", r.bytes))}}}, nil
}

// TestRowsTakeMemory: rows that a request has read count for its caller until the request has
// ended, up to 6 MiB, before anything is made of them; a request that has no room for them fails.
func TestRowsTakeMemory(t *testing.T) {
	t.Parallel()
	a := httpjson.NewAdmission(httpjson.Limits{Reads: -1, Writes: -1}.Complete(false), fixed)
	var none *telemetry.Telemetry
	store := none.Tables(readers{bytes: 1 << 20})
	reads, ends := make(chan error), make(chan struct{})
	var requests sync.WaitGroup
	begin := func(c httpjson.Caller, rows int) error {
		requests.Go(func() {
			observe(t, get("/"), func(w http.ResponseWriter, r *http.Request) {
				require.NoError(t, a.Admit(r.Context(), w.Header(), c, false))
				leave, err := a.Enter(r.Context(), c)
				require.NoError(t, err)
				defer leave()
				for range rows {
					if err == nil {
						_, err = store.Get(r.Context(), "Rows", table.Key{})
					}
				}
				reads <- err
				<-ends
			})
		})
		return <-reads
	}
	require.NoError(t, begin(user("ann"), 50), "more than it may have, one after the other")
	require.NoError(t, begin(user("ann"), 7))
	require.Equal(t, fault.Limited, fault.Of(begin(user("ann"), 7)), "one caller has an eighth")
	for i := range 18 {
		require.NoError(t, begin(user(fmt.Sprint(i)), 8))
	}
	err := begin(user("bob"), 8)
	require.Equal(t, fault.Unavailable, fault.Of(err))
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	require.Positive(t, f.RetryAfter)
	require.NoError(t, begin(user("bob"), 0))
	close(ends)
	requests.Wait()
	ends = make(chan struct{})
	defer close(ends)
	require.NoError(t, begin(user("bob"), 8), "all of it is free again")
}

// TestFullIsUnavailable: an answer for which there is no room is 503 with Retry-After, also if its
// handler takes an error of a write for a fault of its own.
func TestFullIsUnavailable(t *testing.T) {
	t.Parallel()
	a := httpjson.NewAdmission(httpjson.Limits{Reads: -1, Writes: -1}.Complete(false), fixed)
	held, ends := make(chan struct{}), make(chan struct{})
	var requests sync.WaitGroup
	answer := func(c httpjson.Caller, size int, wait bool) *httptest.ResponseRecorder {
		w, _ := observe(t, get("/"), func(w http.ResponseWriter, r *http.Request) {
			require.NoError(t, a.Admit(r.Context(), w.Header(), c, false))
			httpjson.ETags(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				if _, err := w.Write(make([]byte, size)); err != nil {
					panic(err) // as huma does
				}
				if wait {
					held <- struct{}{}
					<-ends
				}
			})).ServeHTTP(w, r)
		})
		return w
	}
	for i := range 8 {
		requests.Go(func() { answer(user(fmt.Sprint(i)), 16<<20, true) })
		<-held
	}
	for _, size := range []int{5 << 10, 1 << 20} {
		w := answer(user("ann"), size, false)
		require.Equal(t, http.StatusServiceUnavailable, w.Code, w.Body)
		require.Equal(t, "1", w.Header().Get("Retry-After"))
		require.Equal(t, "application/problem+json", w.Header().Get("Content-Type"))
		require.Contains(t, w.Body.String(), `"BUSY"`)
	}
	require.Equal(t, http.StatusTooManyRequests, answer(user("1"), 5<<10, false).Code)
	require.Equal(t, http.StatusOK, answer(user("ann"), 4<<10, false).Code)
	close(ends)
	requests.Wait()
	require.Equal(t, http.StatusOK, answer(user("ann"), 1<<20, false).Code)
}

// TestCaller: a caller is the person that was found, or else an address; an address that makes up
// tokens is refused some time, and finds out nothing any more.
func TestCaller(t *testing.T) {
	t.Parallel()
	a := httpjson.NewAdmission(httpjson.Limits{Reads: 1, ReadBurst: 3}.Complete(false), fixed)
	r := get("/")
	wrong := fault.New(fault.Unauthenticated, "there is no such session")
	is := func(want httpjson.Caller, code fault.Kind, person string, err error) {
		t.Helper()
		got, err := a.Caller(r, func() (string, error) { return person, err })
		require.Equal(t, want, got)
		require.Equal(t, code, fault.Of(err))
	}
	guest := httpjson.CallerOf(r, "")
	for range 10 {
		is(user("ann"), fault.Internal, "ann", nil)
		is(guest, fault.Unavailable, "ann", fault.New(fault.Unavailable, "the storage is away"))
		is(guest, fault.Internal, "", nil)
	}
	for range 3 {
		is(guest, fault.Unauthenticated, "ann", wrong)
	}
	is(guest, fault.Limited, "ann", wrong)
	is(guest, fault.Limited, "ann", nil)
	none, err := a.Caller(r, nil)
	require.NoError(t, err)
	require.Equal(t, guest, none)
}
