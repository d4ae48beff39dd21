package e2e

import (
	"context"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/testing/azurite"
	"prompthub/internal/testing/functiontest"
)

// A fault decides what becomes of a request to the storage. It calls pass at most once to let it
// through.
type fault func(w http.ResponseWriter, pass func(http.ResponseWriter))

// hangUp closes the connection without an answer.
func hangUp(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close() // that is the point
	}
}

// faults are what a storage does to its callers now and then, here to three requests of ten.
var faults = []struct {
	name string
	fault
}{
	{"throttled", func(w http.ResponseWriter, _ func(http.ResponseWriter)) {
		w.Header().Set("x-ms-error-code", "ServerBusy")
		w.WriteHeader(http.StatusServiceUnavailable)
	}},
	{"too many requests", func(w http.ResponseWriter, _ func(http.ResponseWriter)) {
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
	}},
	{"reset", func(w http.ResponseWriter, _ func(http.ResponseWriter)) { hangUp(w) }},
	{"landed, answer lost", func(w http.ResponseWriter, pass func(http.ResponseWriter)) {
		pass(httptest.NewRecorder())
		hangUp(w)
	}},
	{"landed, answered with an error", func(w http.ResponseWriter, pass func(http.ResponseWriter)) {
		pass(httptest.NewRecorder())
		w.Header().Set("x-ms-error-code", "OperationTimedOut")
		w.WriteHeader(http.StatusInternalServerError)
	}},
	{"slow", func(w http.ResponseWriter, pass func(http.ResponseWriter)) {
		time.Sleep(rand.N(400 * time.Millisecond)) // stands for the network
		pass(w)
	}},
}

// A faulty stands before a service of the storage.
type faulty struct {
	mu    sync.Mutex
	fault fault
	away  atomic.Bool
}

func (f *faulty) set(fault fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault = fault
}

// endpoint is where a service listens, in a connection string.
var endpoint = regexp.MustCompile(`127\.0\.0\.1:\d+`)

// before returns the connection string with the faulty in the place of each service.
func (f *faulty) before(t *testing.T, connection string) string {
	t.Helper()
	require.Len(t, endpoint.FindAllString(connection, -1), 2, "of tables and queues")
	return endpoint.ReplaceAllStringFunc(connection, func(addr string) string { return f.proxy(t, addr) })
}

// proxy returns the address of the faulty before a service.
func (f *faulty) proxy(t *testing.T, addr string) string {
	t.Helper()
	to := &url.URL{Scheme: "http", Host: addr}
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.ErrorLog = log.New(io.Discard, "", 0) // callers hang up
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		fault := f.fault
		f.mu.Unlock()
		pass := func(w http.ResponseWriter) {
			defer func() { _ = recover() }() // the proxy panics where the caller hung up
			proxy.ServeHTTP(w, r)
		}
		switch {
		case f.away.Load():
			hangUp(w)
		case fault != nil && rand.N(10) < 3:
			fault(w, pass)
		default:
			pass(w)
		}
	}))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

// TestStorageFaults runs a mixed load while the storage throttles, hangs up, loses answers, is
// slow, and is away. Every request is answered with success, with 404, or with 503 and Retry-After.
// Afterwards nothing that was acknowledged is missing, nothing is there twice, and verify finds
// nothing.
func TestStorageFaults(t *testing.T) {
	done := workOnAzurite(t)
	t.Parallel()
	f := &faulty{}
	connection := f.before(t, azurite.Account(t))
	a := hostOn(t, []string{"AzureWebJobsStorage=" + connection, "QUEUE_PREFIX=" + queuePrefix}, functiontest.Options{})
	clear503, odd := new(atomic.Int64), new(sync.Map)
	see := func(status int, h http.Header) {
		switch {
		case status == http.StatusServiceUnavailable && h.Get("Retry-After") != "":
			clear503.Add(1)
		case status >= 300 && status != http.StatusNotFound:
			odd.Store(status, true)
		}
	}
	workers := make([]*worker, 6)
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	for i := range workers {
		workers[i] = &worker{
			user: user{t: t, url: a.url(), name: fmt.Sprintf("worker %d", i), see: see},
			rnd:  rand.New(rand.NewPCG(uint64(i), 9)), all: workers,
		}
		wg.Go(func() { workers[i].work(ctx) })
	}
	under, away := loaded()
	for _, fault := range faults {
		f.set(fault.fault)
		time.Sleep(under) // this fault
	}
	f.set(nil)
	f.away.Store(true)
	time.Sleep(away) // without storage
	f.away.Store(false)
	time.Sleep(under) // nothing of the kind
	cancel()
	wg.Wait()
	done()
	acked := 0
	for _, w := range workers {
		acked += w.acked
	}
	t.Logf("%d requests acknowledged, %d answered 503", acked, clear503.Load())
	require.NotZero(t, clear503.Load())
	odd.Range(func(status, _ any) bool {
		t.Errorf("a request was answered %v", status)
		return true
	})
	require.Less(t, residentKiB(t, "AzureWebJobsStorage="+connection), 256<<10)
	require.Eventually(t, func() bool { return depth(t, a) == 0 }, 8*time.Minute,
		time.Second, "the queues do not drain")
	finish(t, a)
	for _, w := range workers {
		w.check(t)
		titles := map[string]bool{}
		for _, p := range w.walk("/me/prompts?limit=100", func() {}) {
			require.False(t, titles[p.Title], "%s was made twice", p.Title)
			titles[p.Title] = true
		}
	}
}

// loaded is how long there is load under each fault, and while the storage is away.
func loaded() (under, away time.Duration) {
	if full() {
		return 2 * time.Second, time.Minute
	}
	return time.Second, 5 * time.Second
}

// residentKiB returns how much memory the handler has that was started with a setting.
func residentKiB(t *testing.T, setting string) int {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(t, err)
	for _, dir := range dirs {
		exe, _ := os.Readlink(dir + "/exe")
		env, _ := os.ReadFile(dir + "/environ")
		if exe != binary(t) || !strings.Contains(string(env), setting) {
			continue
		}
		text, err := os.ReadFile(dir + "/status")
		require.NoError(t, err)
		for _, line := range lines(string(text)) {
			var n int
			if _, err := fmt.Sscanf(line, "VmRSS: %d kB", &n); err == nil {
				return n
			}
		}
	}
	t.Fatal("no such process")
	return 0
}
