package main

// This file computes the costs of PromptHub a month in Azure, from the storage operations of each
// request and from the requests of users. docs/deploy.md shows the tables that -cost prints.

import (
	"maps"
	"math"
)

// monthlyOperations are the storage operations of one request and of the jobs that follow from it.
type monthlyOperations struct {
	Name   string
	Tables float64 // of Table Storage
	Queue  float64 // of Queue Storage, those of the Functions host included
	Jobs   float64 // executions of queue functions
}

// A typical public prompt: three tags, a title of five words of which each gives three tokens, a
// row in each of five orders, and one that says where it is. One more is in the log of searches.
const indexRows = 3 + 5*3 + 6

// costedRequests returns the operations of every kind of request; a test counts them and compares.
// If the count depends on the prompt, it is that of a typical one; if it depends on luck, the most.
func costedRequests() []monthlyOperations {
	return []monthlyOperations{
		{Name: "list", Tables: 2},
		// a page of prompts, my votes, and what the log of searches has had since a second ago
		{Name: "search", Tables: 20 + 3},
		{Name: "get", Tables: 4},
		{Name: "mine", Tables: 2},
		// with a row of the log
		{Name: "create", Tables: 2 + indexRows + 1, Queue: 2},
		{Name: "edit", Tables: 6 + indexRows + 1, Queue: 2},
		// The job that follows reads five times, writes the truth row twice and the index rows, of
		// which those of four orders come to another bucket; the host takes and deletes its message.
		{Name: "vote", Tables: 4 + 7 + indexRows + 4, Queue: 2 + 2, Jobs: 1},
		// in a workspace, whose prompts have no index rows
		{Name: "list of a workspace", Tables: 3},
		{Name: "get in a workspace", Tables: 6},
		{Name: "edit in a workspace", Tables: 12, Queue: 2},
		{Name: "propose", Tables: 14, Queue: 2},
		{Name: "review", Tables: 13, Queue: 2},
		{Name: "events", Tables: 3},
	}
}

// A usage is what one user does in a month, in requests by their names.
type usage map[string]float64

// activeUser opens the library on twenty days, looks at ten lists and five prompts each time, votes
// on one, and adds a prompt a month.
func activeUser() usage {
	return usage{"list": 140, "search": 60, "get": 100, "mine": 20, "create": 1, "edit": 2, "vote": 20}
}

// memberOfTeam is an active user who also works in a workspace: on twenty days they look at five of
// its lists and ten of its prompts, and every day something is edited, proposed and reviewed.
func memberOfTeam() usage {
	u := activeUser()
	maps.Copy(u, usage{
		"list of a workspace": 100, "get in a workspace": 200, "edit in a workspace": 20,
		"propose": 20, "review": 20, "events": 20,
	})
	return u
}

// prices are list prices in US dollars, East US, locally redundant storage, pay as you go. Sources
// and dates are in docs/deploy.md.
type prices struct {
	TableOperations float64 // each
	QueueOperations float64 // each
	TableGB         float64 // and month
	GBSecond        float64 // of memory
	Execution       float64
	LogGB           float64
	FreeGBSeconds   float64
	FreeExecutions  float64
	FreeLogGB       float64
}

// listPrices returns the prices that the table is made with.
func listPrices() prices {
	return prices{
		TableOperations: 0.00036 / 10_000, QueueOperations: 0.004 / 10_000, TableGB: 0.045,
		GBSecond: 0.000026, Execution: 0.40 / 1e6, LogGB: 2.30,
		FreeGBSeconds: 100_000, FreeExecutions: 250_000, FreeLogGB: 5,
	}
}

// What the model takes for granted in addition to the operations. All err on the dear side.
const (
	costMonth      = 30 * 24 * 3600  // seconds
	memoryGB       = 0.5             // GB of an instance
	requestSeconds = 1.0             // an instance is billed for at least a second of being at work
	busyInstances  = 2.0             // of HTTP, when there is always something to do
	pollSeconds    = 2.0             // between looks at an empty queue, for two queues
	sweepRuns      = costMonth / 900 // of anti-entropy
	sweepOps       = 24_000.0        // at most in a run: two minutes, five milliseconds each
	countRuns      = costMonth / 60  // of the job that counts tags
	timerRuns      = sweepRuns + countRuns + 3*costMonth/3600 + costMonth/86400
	countRows      = 1000.0 // that it reads with one operation
	sweepPasses    = 30.0   // over everything: one a day
	promptMonths   = 12     // for how long the library has grown
	rowKB          = 1.2    // of an index row
	logRowKB       = 2.0    // of one of the log of searches
	promptKB       = 5.0    // of a truth row with its own summary
	requestLogKB   = 1.5    // a run of any function, never sampled
	traceLogKB     = 0.8    // a line
	queueLines     = 4.0    // of a run that a message started: three of the host; other runs have one, ours
	traceRate      = 20.0   // lines a second that an instance sends at most
)

// A bill is what a month costs.
type bill struct {
	Users                                              float64
	Requests, TableOps, QueueOps, Prompts, GB, LogGB   float64
	Operations, Storage, Compute, Logs, Total, PerUser float64 // US dollars
}

// billFor returns the bill of a library with n active users.
func billFor(users float64, u usage, p prices) bill {
	b := bill{Users: users}
	jobs := 0.0
	for _, r := range costedRequests() {
		n := users * u[r.Name]
		b.Requests += n
		b.TableOps += n * r.Tables
		b.QueueOps += n * r.Queue
		jobs += n * r.Jobs
	}
	b.Prompts = users * u["create"] * promptMonths
	sweep := math.Min(sweepRuns*sweepOps, b.Prompts*3*sweepPasses*(indexRows+1))
	// less often where it takes long
	b.TableOps += sweep + countRuns*(2+math.Ceil(b.Prompts/countRows))/math.Max(1, b.Prompts/100_000)
	b.QueueOps += 2 * costMonth / pollSeconds
	b.GB = b.Prompts * (promptKB + indexRows*rowKB + logRowKB) / 1e6

	http := math.Min(b.Requests*requestSeconds, costMonth*busyInstances)
	queues := math.Min(jobs*requestSeconds, costMonth)
	busy := http + queues + timerRuns + sweep/200
	lines := b.Requests + timerRuns + queueLines*jobs
	b.LogGB = ((b.Requests+timerRuns+jobs)*requestLogKB + math.Min(lines, busy*traceRate)*traceLogKB) / 1e6

	b.Operations = b.TableOps*p.TableOperations + b.QueueOps*p.QueueOperations
	b.Storage = b.GB * p.TableGB
	b.Compute = math.Max(0, busy*memoryGB-p.FreeGBSeconds)*p.GBSecond +
		math.Max(0, b.Requests+jobs+timerRuns-p.FreeExecutions)*p.Execution
	b.Logs = math.Max(0, b.LogGB-p.FreeLogGB) * p.LogGB
	b.Total = b.Operations + b.Storage + b.Compute + b.Logs
	b.PerUser = b.Total / users
	return b
}
