package load

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A Result is what a load met.
type Result struct {
	Kind     string
	Load     string // "16" connections or "500 a second"
	Times    *hdrhistogram.Histogram
	Took     time.Duration
	Requests int64
	Failed   map[int]int64 // by status; 0: no answer
	CPU      time.Duration // of the program, for all requests
}

// PerSecond counts what succeeded.
func (r Result) PerSecond() float64 {
	n := r.Requests
	for _, failed := range r.Failed {
		n -= failed
	}
	return float64(n) / r.Took.Seconds()
}

// At returns the time that a percentage of the requests took at most.
func (r Result) At(percentile float64) time.Duration {
	return time.Duration(r.Times.ValueAtPercentile(percentile)) * time.Microsecond
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

// NewClient returns a client with up to a number of connections.
func NewClient(connections int) *http.Client {
	return &http.Client{
		Timeout: 30 * time.Second,
		Transport: &http.Transport{
			MaxIdleConnsPerHost: connections,
			MaxConnsPerHost:     connections, DisableCompression: true,
		},
	}
}

// Send makes one request and returns its status, 0 if there was no answer.
func Send(ctx context.Context, client *http.Client, url string, r Request) int {
	req, err := r(ctx, url)
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

// A Maker makes the requests of a load.
type Maker func(*rand.Rand) Request

// Closed keeps a number of connections busy: each sends the next request when the last was
// answered.
func (p *Program) Closed(ctx context.Context, kind string, requests Maker, connections int,
	each time.Duration,
) (Result, error) {
	client := NewClient(connections)
	defer client.CloseIdleConnections()
	t := newTally()
	return p.measured(kind, fmt.Sprint(connections), t, func() {
		end := time.Now().Add(each)
		var all sync.WaitGroup
		for i := range connections {
			all.Go(func() {
				r := rand.New(rand.NewPCG(uint64(i), uint64(time.Now().UnixNano())))
				for time.Now().Before(end) && ctx.Err() == nil {
					c, began := requests(r), time.Now()
					status := Send(ctx, client, p.URL, c)
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

// Open sends requests at a rate, without waiting for those before. A request's time counts from
// when it was due, so a program that stands still is not asked less.
func (p *Program) Open(ctx context.Context, kind string, requests Maker, perSecond float64,
	each time.Duration,
) (Result, error) {
	client := NewClient(maxOpen)
	defer client.CloseIdleConnections()
	t := newTally()
	return p.measured(kind, fmt.Sprintf("%.0f a second", perSecond), t, func() {
		began, total := time.Now(), int64(perSecond*each.Seconds())
		var next atomic.Int64
		var all sync.WaitGroup
		for i := range maxOpen {
			all.Go(func() {
				r := rand.New(rand.NewPCG(uint64(i), uint64(began.UnixNano())))
				for n := next.Add(1) - 1; n < total && ctx.Err() == nil; n = next.Add(1) - 1 {
					due := began.Add(time.Duration(float64(n) / perSecond * float64(time.Second)))
					time.Sleep(time.Until(due))
					status := Send(ctx, client, p.URL, requests(r))
					t.add(time.Since(due), status)
				}
			})
		}
		all.Wait()
	})
}

// measured runs a load and adds what it took of the program's processor time.
func (p *Program) measured(kind, load string, t *tally, run func()) (Result, error) {
	before, err := p.CPU()
	if err != nil {
		return Result{}, err
	}
	began := time.Now()
	run()
	took := time.Since(began)
	after, err := p.CPU()
	return Result{
		Kind: kind, Load: load, Times: t.times, Took: took, Requests: t.times.TotalCount(),
		Failed: t.failed, CPU: after - before,
	}, err
}

// A Side is one of two programs that are compared, with the requests of a load to it.
type Side struct {
	Program  *Program
	Requests Maker
}

// A Comparison is what two programs did under the same load, in turns.
type Comparison struct {
	Rates  [2][]float64 // requests a second that succeeded, by rounds
	Times  [2]*hdrhistogram.Histogram
	CPU    [2]time.Duration // of a request, with the jobs that a write leaves
	Failed [2]map[int]int64 // of the last round that had failures, by status
}

// InTurns puts two programs under the same load, one after the other, in some rounds. Each begins
// as often as the other, nearly.
func InTurns(ctx context.Context, sides [2]Side, rounds, connections int, each time.Duration,
	write bool,
) (Comparison, error) {
	var c Comparison
	var requests [2]int64
	for i := range sides {
		c.Times[i] = newTally().times
	}
	for round := range rounds {
		for turn := range sides {
			i := (turn + round) % 2
			p := sides[i].Program
			before, err := p.CPU()
			if err != nil {
				return c, err
			}
			one, err := p.Closed(ctx, "", sides[i].Requests, connections, each)
			if err != nil {
				return c, err
			}
			if write {
				if _, err := p.Quiet(ctx); err != nil {
					return c, err
				}
			}
			after, err := p.CPU()
			if err != nil {
				return c, err
			}
			c.Rates[i] = append(c.Rates[i], one.PerSecond())
			c.Times[i].Merge(one.Times)
			c.CPU[i] += after - before
			requests[i] += one.Requests
			if len(one.Failed) > 0 {
				c.Failed[i] = one.Failed
			}
		}
	}
	for i := range sides {
		c.CPU[i] /= time.Duration(max(requests[i], 1))
	}
	return c, nil
}

// Ratios returns how many times the rate of the second program the first one has: the median of
// the rounds, the lowest and the highest.
func (c Comparison) Ratios() (median, low, high float64) {
	all := make([]float64, len(c.Rates[0]))
	for i := range all {
		all[i] = c.Rates[0][i] / c.Rates[1][i]
	}
	slices.Sort(all)
	return all[len(all)/2], all[0], all[len(all)-1]
}

// Head prints the head of the table of which Report prints the rows.
func Head(w io.Writer, ours string) {
	fmt.Fprintf(w, "| request | connections | a second: PocketBase | %s | ratio: median | lowest and highest | goal | p50, p99 ms: PocketBase | %[1]s | processor time, ms: PocketBase | %[1]s | failed |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|\n", ours)
}

// Report prints the row of a comparison of our program with PocketBase.
func (c Comparison) Report(w io.Writer, ours, request string, connections int, goal float64) {
	ms := func(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()*1000) }
	span := func(i int) string {
		return fmt.Sprintf("%.0f–%.0f", slices.Min(c.Rates[i]), slices.Max(c.Rates[i]))
	}
	times := func(i int) string {
		at := func(percentile float64) time.Duration {
			return time.Duration(c.Times[i].ValueAtPercentile(percentile)) * time.Microsecond
		}
		return ms(at(50)) + ", " + ms(at(99))
	}
	failed := "none"
	if c.Failed[0] != nil || c.Failed[1] != nil {
		failed = fmt.Sprintf("PocketBase %v, %s %v", c.Failed[1], ours, c.Failed[0])
	}
	median, low, high := c.Ratios()
	fmt.Fprintf(w, "| %s | %d | %s | %s | %.2f | %.2f–%.2f | %.1f | %s | %s | %s | %s | %s |\n", request, connections,
		span(1), span(0), median, low, high, goal, times(1), times(0), ms(c.CPU[1]), ms(c.CPU[0]), failed)
}
