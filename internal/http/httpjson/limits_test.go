package httpjson_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/http/httpjson"
)

func TestLimitDefaults(t *testing.T) {
	t.Parallel()
	type limits = httpjson.Limits
	tests := []struct {
		name      string
		set, want limits
		dev       bool
	}{
		{"not set", limits{}, limits{20, 100, 100, 500, 256}, false},
		{"dev", limits{}, limits{-1, -5, -1, -5, 256}, true},
		{"set in dev", limits{Writes: 3, AtWork: 9}, limits{3, 15, -1, -5, 9}, true},
		{"none", limits{Writes: -1, Reads: -1, ReadBurst: 7}, limits{-1, -5, -1, 7, 256}, false},
		{"burst", limits{Writes: 3, WriteBurst: 4}, limits{3, 4, 100, 500, 256}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, tt.set.Complete(tt.dev))
			require.Equal(t, tt.want, tt.want.Complete(tt.dev), "completing again changes nothing")
		})
	}
}

// TestLimiterForgets holds that a Limiter remembers those who come back, however many others come
// once.
func TestLimiterForgets(t *testing.T) {
	t.Parallel()
	l := httpjson.NewLimiter(httpjson.Limits{Reads: 1, ReadBurst: 3}, fixed)
	ask := func(caller string) error { return l.Admit(http.Header{}, user(caller), false) }
	for i := range 100_000 {
		require.NoError(t, ask(fmt.Sprint("other ", i)))
		if i%3000 == 0 {
			require.Equal(t, i/3000 < 3, ask("regular") == nil, i)
		}
	}
}

func TestLimiterInParallel(t *testing.T) {
	t.Parallel()
	l := httpjson.NewLimiter(httpjson.Limits{Writes: 1, WriteBurst: 100}, fixed)
	var mu sync.Mutex
	admitted := 0
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				err := l.Admit(http.Header{}, user("ann"), true)
				mu.Lock()
				if err == nil {
					admitted++
				} else if fault.Of(err) != fault.Limited {
					t.Error(err)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	require.Equal(t, 100, admitted)
}

func TestAddressClass(t *testing.T) {
	t.Parallel()
	tests := []struct {
		peer string
		xff  []string
		want string
	}{
		{"203.0.113.9:1234", nil, "203.0.113.9"},
		// a direct caller may claim anything
		{"203.0.113.9:1234", []string{"198.51.100.1"}, "203.0.113.9"},
		{"127.0.0.1:1", nil, "127.0.0.1"},
		{"127.0.0.1:1", []string{"203.0.113.9:4711"}, "203.0.113.9"},
		{"127.0.0.1:1", []string{"198.51.100.1, 203.0.113.9"}, "203.0.113.9"},
		{"127.0.0.1:1", []string{"198.51.100.1", "203.0.113.9:1"}, "203.0.113.9"},
		{"127.0.0.1:1", []string{"203.0.113.9, nonsense"}, "127.0.0.1"},
		{"127.0.0.1:1", []string{"[2001:db8:1:2:3:4:5:6]:99"}, "2001:db8:1:2::/64"},
		{"[::1]:5", []string{"2001:db8:1:2:ffff::1"}, "2001:db8:1:2::/64"},
		{"[::ffff:203.0.113.9]:5", nil, "203.0.113.9"},
		{"[fe80::1%eth0]:5", nil, "fe80::/64"},
		{"@", nil, "invalid IP"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.peer, tt.xff), func(t *testing.T) {
			t.Parallel()
			r := get("/")
			r.RemoteAddr = tt.peer
			r.Header["X-Forwarded-For"] = tt.xff
			site, network := httpjson.AddressClass(r)
			require.Equal(t, tt.want, site)
			if prefix, err := netip.ParsePrefix(tt.want); err == nil {
				require.Equal(t, netip.PrefixFrom(prefix.Addr(), 48).Masked().String(), network)
			} else {
				require.Empty(t, network)
			}
		})
	}
}

func TestOrigins(t *testing.T) {
	t.Parallel()
	var o httpjson.Origins
	require.NoError(t, o.Decode("https://a.example.com, http://localhost:5173"))
	require.Equal(t, httpjson.Origins{"https://a.example.com", "http://localhost:5173"}, o)
	for _, bad := range []string{
		"*", "null", "a.example.com", "https://a.example.com/", "https://*.example.com",
		"https://A.example.com", "https://a.example.com,", "ftp://a", "https://u@a.example.com/x", "https://a?x",
	} {
		require.Error(t, o.Decode(bad), bad)
	}
}

func TestTraceIsTakenOver(t *testing.T) {
	t.Parallel()
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	for header, want := range map[string]any{
		"00-" + id + "-00f067aa0ba902b7-01":                       id,
		"00-" + id + "-0000000000000000-01":                       nil,
		"00-00000000000000000000000000000000-00f067aa0ba902b7-01": nil,
		"\"};drop": nil,
		"":         nil,
	} {
		r := get("/")
		r.Header.Set("Traceparent", header)
		_, line := observe(t, r, func(http.ResponseWriter, *http.Request) {})
		require.Equal(t, want, line["trace_id"], header)
	}
}

// TestDeadlineEndsWithTheAnswer holds that the deadline of an answer is not that of the next one on
// the same connection.
func TestDeadlineEndsWithTheAnswer(t *testing.T) {
	t.Parallel()
	var deadlines []bool
	next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 3000)) })
	rec := &deadliner{ResponseRecorder: httptest.NewRecorder(), set: &deadlines}
	httpjson.Observer{Log: discard, Now: fixed}.Observe(next).ServeHTTP(rec, get("/"))
	require.Equal(t, []bool{true, true, false}, deadlines, "of the body, of what the server holds still, none")
	require.True(t, rec.Flushed)
}

type deadliner struct {
	*httptest.ResponseRecorder
	set *[]bool
}

func (d *deadliner) SetWriteDeadline(t time.Time) error {
	*d.set = append(*d.set, !t.IsZero())
	return nil
}
