package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"prompthub/apps/duuble/internal/ballot"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/internal/storage/embedded"
	"prompthub/internal/testing/calls"
)

// An asked is one request, with the jobs that follow from it.
type asked struct {
	name   string
	aMonth float64 // how often an active person asks for it
	run    func(ctx context.Context, r *room, c *community) error
}

// waits is what an open page does: it waits for notifications, which are looked for every
// lookSeconds, and asks again after waitSeconds.
const (
	waits       = "25 seconds of an open page"
	waitSeconds = 25
	lookSeconds = 5
	// rests is what a page does that no one has touched for two minutes.
	rests       = "a look of an open page that rests"
	restSeconds = 60
)

// requests are those whose costs are counted. An active person comes on twenty days, looks at three
// pages of the home and five posts, votes on three, and says something now and then.
var requests = []asked{
	{"a page of 20 of the home", 60, func(ctx context.Context, r *room, c *community) error {
		_, err := r.Home(ctx, c.posters[2].Claim, "", 20)
		return err
	}},
	{"a post on which all have voted", 100, func(ctx context.Context, r *room, c *community) error {
		_, err := r.Card(ctx, c.posters[2].Claim, c.hot[0])
		return err
	}},
	{"its results", 60, func(ctx context.Context, r *room, c *community) error {
		_, _, err := r.Result(ctx, c.posters[2].Claim, c.hot[0])
		return err
	}},
	{"the newest 20 posts", 20, func(ctx context.Context, r *room, c *community) error {
		_, err := r.Newest(ctx, c.posters[2].Claim, "", 20)
		return err
	}},
	{"20 followers of a person", 5, func(ctx context.Context, r *room, c *community) error {
		_, err := r.People.Followers(ctx, c.posters[2].Claim, c.posters[3].UserID, "", 20)
		return err
	}},
	{waits, 300, func(ctx context.Context, r *room, c *community) error { // 250 pages, each for half a minute
		_, err := r.People.Caller(ctx, c.posters[2].Claim)
		for range waitSeconds / lookSeconds {
			if err == nil {
				_, err = r.NewNotifications(ctx, c.posters[2].Claim, "", time.Now())
			}
		}
		return err
	}},
	{rests, 60, func(ctx context.Context, r *room, c *community) error { // an hour of pages that were left open
		_, err := r.People.Caller(ctx, c.posters[2].Claim)
		if err == nil {
			_, err = r.NewNotifications(ctx, c.posters[2].Claim, "", time.Now())
		}
		return err
	}},
	{"a vote on it", 60, func(ctx context.Context, r *room, c *community) error {
		_, err := r.Vote(ctx, c.posters[2].Claim, c.hot[0], ballot.Left)
		return err
	}},
	{"a comment on it", 10, func(ctx context.Context, r *room, c *community) error {
		_, err := r.Comment(ctx, c.posters[2].Claim, c.hot[0], posts.Said{Text: "Why not?"}, "", "")
		return err
	}},
	{"a post", 4, func(ctx context.Context, r *room, c *community) error {
		thought := "four cups"
		_, err := r.Create(ctx, c.posters[2].Claim,
			posts.Draft{Thought: &thought, Slider: &posts.Slider{Text: "Tea?"}}, "")
		return err
	}},
	{"a follow", 3, func(ctx context.Context, r *room, c *community) error {
		_, err := r.People.Follow(ctx, c.posters[2].Claim, c.posters[0].UserID, true)
		return err
	}},
}

// count makes a community of n people in a file, has n vote on one post, and counts what each
// request costs.
func count(ctx context.Context, dir string, n int) (all []cost, err error) {
	store, err := embedded.Open(filepath.Join(dir, fmt.Sprintf("count%d.db", n)), time.Now)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	r, err := over(store.Tables, store.Queues, store.Transact)
	if err != nil {
		return nil, err
	}
	c, err := r.fill(ctx, n, 0, 16)
	if err == nil {
		err = r.vote(ctx, c.hot[0], n)
	}
	if err == nil {
		err = r.jobs(ctx)
	}
	if err != nil {
		return nil, err
	}
	m := &meter{}
	metered, err := over(calls.Tables(store.Tables, m.countTables),
		mails{calls.Queues(store.Queues, m.countQueues), m}, nil)
	if err != nil {
		return nil, err
	}
	for _, one := range requests {
		before := m.cost()
		if err := one.run(ctx, metered, c); err != nil {
			return nil, fmt.Errorf("%s: %w", one.name, err)
		}
		for range 2 { // what a job sends comes then
			if err := metered.jobs(ctx); err != nil {
				return nil, err
			}
		}
		all = append(all, m.cost().less(before))
	}
	return all, nil
}

// What a month costs is computed as bench/cost.go does it for PromptHub, from the same prices,
// whose sources and dates are in docs/deploy.md. All err on the dear side.
const (
	active         = 1000.0
	month          = 30 * 24 * 3600.0
	tableOperation = 0.00036 / 10_000
	queueOperation = 0.004 / 10_000
	gbSecond       = 0.000026
	execution      = 0.40 / 1e6
	logGB          = 2.30
	freeGBSeconds  = 100_000.0
	freeExecutions = 250_000.0
	freeLogGB      = 5.0
	memoryGB       = 0.5
	pollSeconds    = 2.0 // between looks at an empty queue
	watched        = 4.0 // queues
	timerRuns      = 2*month/300 + 3*month/3600 + 30
	runLogKB       = 1.5 + 0.8 // of a run and a line
)

// bill prints what a month of 1,000 active people costs.
func bill(w io.Writer, all []cost) {
	asks, waited, rested, tables, queues, jobs := 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
	for i, one := range requests {
		n := active * one.aMonth
		asks += n
		switch one.name {
		case waits:
			waited = n
		case rests:
			rested = n
		}
		tables += n * float64(all[i].tables)
		queues += n * float64(all[i].queues)
		jobs += n * float64(all[i].queues) / 3 // each message is sent, taken and deleted
	}
	queues += watched * month / pollSeconds
	operations := tables*tableOperation + queues*queueOperation
	// Seconds, of which an instance is billed one at least. It has many pages that wait at once.
	computed := func(asks, waited float64) float64 {
		busy := asks - waited + min(waited*waitSeconds, month) + min(jobs, month) + timerRuns
		return max(0, busy*memoryGB-freeGBSeconds)*gbSecond + max(0, asks+jobs+timerRuns-freeExecutions)*execution
	}
	compute := computed(asks, waited)
	logs := max(0, (asks+jobs+timerRuns)*runLogKB/1e6-freeLogGB) * logGB
	fmt.Fprintf(w, "\n%.0f active people: %.0f requests, %.1f million operations of tables, %.1f million of queues; a month $%.2f for operations, $%.2f for compute ($%.2f without open pages), $%.2f for logs, $%.2f in all, without text messages and what is stored\n",
		active, asks, tables/1e6, queues/1e6, operations, compute, computed(asks-waited-rested, 0),
		logs, operations+compute+logs)
}

// openPage prints what a page costs that is open all month.
func openPage(w io.Writer, all []cost) {
	price := func(name string, every, billed float64) float64 {
		for i, one := range requests {
			if one.name == name {
				n := month / every
				return n*(float64(all[i].tables)*tableOperation+float64(all[i].queues)*queueOperation+execution) +
					n*billed*memoryGB*gbSecond
			}
		}
		panic("no such request")
	}
	fmt.Fprintf(w, "\nA page that is open all month, beyond what is free: $%.2f while somebody uses it, of which $%.2f is the instance that all waiting pages share; $%.2f at rest; nothing while it is hidden\n",
		price(waits, waitSeconds, waitSeconds), month*memoryGB*gbSecond, price(rests, restSeconds, 1))
}

// growth prints what requests cost in a community of ten times as many people and votes.
func growth(w io.Writer, n int, small, large []cost) {
	fmt.Fprintf(w, "\n| with its jobs | calls at %d | at %d | kB at %d | at %d |\n|---|---:|---:|---:|---:|\n", n/10,
		n, n/10, n)
	for i, one := range requests {
		fmt.Fprintf(w, "| %s | %d | %d | %.1f | %.1f |\n", one.name, small[i].tables+small[i].queues,
			large[i].tables+large[i].queues, float64(small[i].bytes)/1e3, float64(large[i].bytes)/1e3)
	}
}
