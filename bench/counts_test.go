package main

import (
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
)

// TestCounts holds the cost of every request and job: the calls to the storage, how many of them
// are made one after another, and the work after the answer. Every call takes 5 ms there, so the
// steps show as time. With -v it weighs them too, and prints all as a table.
func TestCounts(t *testing.T) {
	var b strings.Builder
	b.WriteString("| request | steps | at 5 ms a call | table calls | queue calls | of these behind the answer | rows read | written | body | answer | allocations | allocated | CPU | budget: steps, calls |\n")
	b.WriteString("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, r := range requests() {
		t.Run(r.name, func(t *testing.T) {
			s := r.count(t)
			require.Equal(t, r.steps, s.steps, "steps")
			require.Equal(t, r.tables, s.calls.tables, "calls to tables")
			require.Equal(t, r.queues, s.calls.queues, "calls to queues")
			require.Equal(t, r.behind, s.behind, "calls that need not end before the answer")
			if testing.Verbose() {
				b.WriteString(r.line(s, r.weigh(t)))
			}
		})
	}
	if testing.Verbose() {
		fmt.Println(b.String())
	}
}

// ready makes everything ready for the request, in a lab of its own.
func (r request) ready(t testing.TB) *lab {
	l := stocked(t)
	require.EqualValues(t, indexRows, l.rows(), "index rows of the typical prompt")
	if r.setup != nil {
		l.restart()
		r.setup(l)
	}
	r.instance(l)
	return l
}

// instance starts an instance that knows what it should.
func (r request) instance(l *lab) {
	if l.restart(); !r.cold {
		l.warm()
	}
	if r.call.user != "" && !r.unmet {
		_, err := l.db.AccountOf(l.t.Context(), prompt.UserID(r.call.user))
		require.NoError(l.t, err)
	}
	if r.again {
		r.make(l)
	}
	time.Sleep(r.pause)
}

func (r request) count(t *testing.T) (s spent) {
	synctest.Test(t, func(t *testing.T) { s = r.ready(t).measure(r) })
	return s
}

// A weight is what a request takes of the process, that of the store in memory included, and
// nothing for the collection of garbage.
type weight struct {
	allocations, bytes uint64
	cpu                time.Duration
}

// rounds is how often a request is weighed. The median counts.
const rounds = 15

func (r request) weigh(t *testing.T) weight {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	all := make([]weight, rounds)
	synctest.Test(t, func(t *testing.T) {
		var l *lab
		for i := range all {
			if l == nil || r.call.method != "GET" {
				l = r.ready(t) // a change changes the lab
				runtime.GC()
			} else {
				r.instance(l)
			}
			all[i] = l.weigh(r)
		}
	})
	return weight{
		allocations: middle(all, func(w weight) uint64 { return w.allocations }),
		bytes:       middle(all, func(w weight) uint64 { return w.bytes }),
		cpu:         middle(all, func(w weight) time.Duration { return w.cpu }),
	}
}

func middle[T cmp.Ordered](all []weight, of func(weight) T) T {
	values := make([]T, len(all))
	for i, w := range all {
		values[i] = of(w)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// weigh makes one request and takes its weight.
func (l *lab) weigh(r request) weight {
	l.t.Helper()
	synctest.Wait()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := cpu(l.t)
	r.make(l)
	synctest.Wait() // for work after the answer
	took := cpu(l.t) - began
	runtime.ReadMemStats(&after)
	return weight{after.Mallocs - before.Mallocs, after.TotalAlloc - before.TotalAlloc, took}
}

// cpu returns the processor time that this process has taken.
func cpu(t testing.TB) time.Duration {
	var u syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// line is the request as a row of the table.
func (r request) line(s spent, w weight) string {
	limit := ""
	if r.budget != nil {
		limit = fmt.Sprintf("%d, %d", r.budget.steps, r.budget.calls)
	}
	return fmt.Sprintf("| %s | %d | %d ms | %d | %d | %d | %s | %s | %s | %s | %d | %s | %d µs | %s |\n", r.name,
		s.steps, s.steps*int(callTime.Milliseconds()),
		s.calls.tables, s.calls.queues, s.behind, size(s.calls.read), size(s.calls.written),
		size(int64(len(r.call.body))), size(int64(s.body)),
		w.allocations, size(int64(w.bytes)), w.cpu.Microseconds(), limit)
}

func size(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f kB", float64(n)/1000)
}

// TestEveryRouteIsCounted holds the requests against the OpenAPI document and the doors that stand
// in for other services, and the jobs against the triggers.
func TestEveryRouteIsCounted(t *testing.T) {
	var l *lab
	synctest.Test(t, func(t *testing.T) { l = newLab(t) })
	mux, routes := l.routes()
	counted := make(map[string]bool)
	for _, r := range requests() {
		switch {
		case r.job != "":
			counted[r.job] = true
		case !r.call.isWholePath(), r.token: // of the API, or of those that take access tokens only
			counted[r.route(l, mux)] = true
		}
	}
	require.ElementsMatch(t, append(routes, slices.Collect(maps.Keys(l.jobs))...), slices.Collect(maps.Keys(counted)))
}

// TestCountsAreWithinBudget holds the table above against that of the design.
func TestCountsAreWithinBudget(t *testing.T) {
	t.Parallel()
	for _, r := range requests() {
		if r.budget != nil {
			require.LessOrEqual(t, r.steps, r.budget.steps, r.name)
			require.LessOrEqual(t, r.tables+r.queues, r.budget.calls, r.name)
		}
	}
}

// TestCostModelCountsTheSame holds the model that computes what a month costs against what is
// counted here.
func TestCostModelCountsTheSame(t *testing.T) {
	t.Parallel()
	made := map[string][]string{ // the requests and jobs of each kind of the model
		"list": {"list newest"}, "search": {"one word, a second after another search"},
		"get":  {"get, author not known"},
		"mine": {"my prompts"}, "create": {"create"}, "edit": {"edit the text"},
		"vote":                {"vote", "move across buckets"},
		"list of a workspace": {"prompts of a workspace"}, "get in a workspace": {"get a prompt of a workspace"},
		"edit in a workspace": {"edit a prompt of a workspace"},
		"propose":             {"propose a version"}, "review": {"comment on a proposal"},
		"events": {"events of a workspace"},
	}
	counted := make(map[string]request)
	for _, r := range requests() {
		counted[r.name] = r
	}
	for _, kind := range costedRequests() {
		require.NotEmpty(t, made[kind.Name], kind.Name)
		var tables, queues int64
		for _, name := range made[kind.Name] {
			require.Contains(t, counted, name)
			tables, queues = tables+counted[name].tables, queues+counted[name].queues
		}
		require.EqualValues(t, tables, kind.Tables, kind.Name)
		require.EqualValues(t, queues, kind.Queue-2*kind.Jobs,
			"%s: the host takes and deletes the message of each job", kind.Name)
	}
}

// TestBurstMakesFewMoves: a thousand votes on one prompt in ten seconds, while their jobs run.
func TestBurstMakesFewMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		before := l.projections.Load()
		for i := range 1000 {
			l.vote(fmt.Sprint("stranger ", i), prompt.Like)
			if i%100 == 99 {
				time.Sleep(time.Second)
				l.deliver(l.run)
			}
		}
		l.settle()
		var p struct{ Likes int }
		l.ask(get("/prompts?limit=1&sort=most-liked", ""), &struct{ Items []any }{[]any{&p}})
		require.Equal(t, 1000, p.Likes)
		moves := l.projections.Load() - before
		t.Logf("%d projections", moves)
		require.LessOrEqual(t, moves, int64(6)) // one every three seconds
	})
}
