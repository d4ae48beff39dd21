package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A result is what a load met.
type result struct {
	kind     string
	load     string // "16 connections" or "500 a second"
	times    *hdrhistogram.Histogram
	took     time.Duration
	requests int64
	failed   map[int]int64 // by status; 0: no answer
	cpu      time.Duration // of the program, for all requests
}

// perSecond counts what succeeded.
func (r result) perSecond() float64 {
	n := r.requests
	for _, failed := range r.failed {
		n -= failed
	}
	return float64(n) / r.took.Seconds()
}

func (r result) at(percentile float64) time.Duration {
	return time.Duration(r.times.ValueAtPercentile(percentile)) * time.Microsecond
}

// A tally collects what happens on many connections.
type tally struct {
	mu     sync.Mutex
	times  *hdrhistogram.Histogram
	failed map[int]int64
}

func newTally() *tally {
	return &tally{times: hdrhistogram.New(1, time.Minute.Microseconds(), 3), failed: make(map[int]int64)}
}

func (t *tally) add(took time.Duration, status int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_ = t.times.RecordValue(max(1, min(took, time.Minute).Microseconds())) // always inside its bounds
	if status < 200 || status > 299 {
		t.failed[status]++
	}
}

func newClient(connections int) *http.Client {
	return &http.Client{
		Timeout:   30 * time.Second,
		Transport: &http.Transport{MaxIdleConnsPerHost: connections, MaxConnsPerHost: connections, DisableCompression: true},
	}
}

// isWholePath reports whether the path is all of it: of a page, or of another program's API.
func (c call) isWholePath() bool {
	other := func(prefix string) bool { return strings.HasPrefix(c.path, prefix) }
	return slices.ContainsFunc([]string{"/api", "/app", "/lf/", "/ls/", "/mcp", "/u/", "/.well-known"}, other)
}

// request returns the call as a request to a program: to its API, or for a page.
func (c call) request(ctx context.Context, url string) (*http.Request, error) {
	if !c.isWholePath() {
		url += "/api/v1"
	}
	req, err := http.NewRequestWithContext(ctx, c.method, url+c.path, strings.NewReader(c.body))
	if err != nil {
		return nil, err
	}
	for name, values := range c.header {
		req.Header[name] = values
	}
	if c.user != "" {
		req.Header.Set("X-Dev-User", c.user)
	}
	if c.body != "" && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// send makes one request and returns its status, 0 if there was no answer.
func send(ctx context.Context, client *http.Client, url string, c call) int {
	req, err := c.request(ctx, url)
	if err != nil {
		return 0
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return 0
	}
	return resp.StatusCode
}

// closed keeps a number of connections busy: each sends the next request when the last was
// answered.
func closed(ctx context.Context, p *program, k kind, connections int, each time.Duration) (result, error) {
	client := newClient(connections)
	defer client.CloseIdleConnections()
	t := newTally()
	return p.measured(k.name, fmt.Sprintf("%d", connections), t, func() {
		end := time.Now().Add(each)
		var all sync.WaitGroup
		for i := range connections {
			all.Go(func() {
				r := rand.New(rand.NewPCG(uint64(i), uint64(time.Now().UnixNano())))
				for time.Now().Before(end) && ctx.Err() == nil {
					c, began := k.make(r), time.Now()
					status := send(ctx, client, p.url, c)
					t.add(time.Since(began), status)
				}
			})
		}
		all.Wait()
	})
}

// maxOpen bounds the connections of an open loop; beyond them requests wait, and their waiting is
// measured.
const maxOpen = 256

// open sends requests at a rate, without waiting for those before. A request's time counts from
// when it was due, so a program that stands still is not asked less.
func open(ctx context.Context, p *program, k kind, perSecond float64, each time.Duration) (result, error) {
	client := newClient(maxOpen)
	defer client.CloseIdleConnections()
	t := newTally()
	return p.measured(k.name, fmt.Sprintf("%.0f a second", perSecond), t, func() {
		began, total := time.Now(), int64(perSecond*each.Seconds())
		var next atomic.Int64
		var all sync.WaitGroup
		for i := range maxOpen {
			all.Go(func() {
				r := rand.New(rand.NewPCG(uint64(i), uint64(began.UnixNano())))
				for n := next.Add(1) - 1; n < total && ctx.Err() == nil; n = next.Add(1) - 1 {
					due := began.Add(time.Duration(float64(n) / perSecond * float64(time.Second)))
					time.Sleep(time.Until(due))
					status := send(ctx, client, p.url, k.make(r))
					t.add(time.Since(due), status)
				}
			})
		}
		all.Wait()
	})
}

// measured runs a load and adds what it took of the program's processor time.
func (p *program) measured(kind, load string, t *tally, run func()) (result, error) {
	before, err := p.cpu()
	if err != nil {
		return result{}, err
	}
	began := time.Now()
	run()
	took := time.Since(began)
	after, err := p.cpu()
	return result{
		kind: kind, load: load, times: t.times, took: took, requests: t.times.TotalCount(), failed: t.failed, cpu: after - before,
	}, err
}
