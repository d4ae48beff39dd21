package main

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"prompthub/internal/infra/cost"
)

// TestCounts holds what every request and job costs: the calls to the storage, how many of them are made one after another,
// and what follows the answer. With -v it prints them as a table. Every call takes 5 ms there, so the steps show as time.
func TestCounts(t *testing.T) {
	var b strings.Builder
	b.WriteString("| request | steps | at 5 ms a call | table calls | queue calls | of these behind the answer | read | written | budget: steps, calls |\n")
	b.WriteString("|---|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, r := range requests() {
		t.Run(r.name, func(t *testing.T) {
			c := r.run(t)
			b.WriteString(r.line(c))
			require.Equal(t, r.steps, c.steps, "steps")
			require.Equal(t, r.tables, c.calls.tables, "calls to tables")
			require.Equal(t, r.queues, c.calls.queues, "calls to queues")
			require.Equal(t, r.behind, c.behind, "calls that need not end before the answer")
		})
	}
	if testing.Verbose() {
		fmt.Println(b.String())
	}
}

func (r request) run(t *testing.T) (c spent) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		require.EqualValues(t, indexRows, l.rows(), "index rows of the typical prompt")
		if r.setup != nil {
			r.setup(l)
		}
		if l.restart(); !r.cold {
			l.warm()
		}
		if r.again {
			l.must(r.do(t.Context(), l))
		}
		c = l.measure(r.do, r.refused)
	})
	return c
}

// line is the request as a row of the table.
func (r request) line(c spent) string {
	limit := ""
	if r.budget != nil {
		limit = fmt.Sprintf("%d, %d", r.budget.steps, r.budget.calls)
	}
	return fmt.Sprintf("| %s | %d | %d ms | %d | %d | %d | %s | %s | %s |\n", r.name, c.steps, c.steps*int(callTime.Milliseconds()),
		c.calls.tables, c.calls.queues, c.behind,
		size(c.calls.read), size(c.calls.written), limit)
}

func size(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f kB", float64(n)/1000)
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

// TestCostModelCountsTheSame holds the model that computes what a month costs against what is counted here.
func TestCostModelCountsTheSame(t *testing.T) {
	t.Parallel()
	made := map[string][]string{ // the requests and jobs behind each kind of the model
		"list": {"list newest"}, "search": {"two tags and a word, one of them scarce"}, "get": {"get, author not known"},
		"mine": {"my prompts"}, "create": {"create"}, "edit": {"edit the text"}, "vote": {"vote", "move across buckets"},
	}
	counted := make(map[string]request)
	for _, r := range requests() {
		counted[r.name] = r
	}
	for _, kind := range cost.Requests() {
		require.NotEmpty(t, made[kind.Name], kind.Name)
		var tables, queues int64
		for _, name := range made[kind.Name] {
			require.Contains(t, counted, name)
			tables, queues = tables+counted[name].tables, queues+counted[name].queues
		}
		require.EqualValues(t, tables, kind.Tables, kind.Name)
		require.EqualValues(t, queues, kind.Queue-2*kind.Jobs, "%s: the host takes and deletes the message of each job", kind.Name)
	}
}
