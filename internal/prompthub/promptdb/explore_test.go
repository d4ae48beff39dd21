package promptdb_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/chaos"
)

// TestExplore runs one to four commands of several users on two prompts with their calls
// interleaved by priorities (PCT), time moving, answers lost, and at most one crash; then lets the
// queues do the rest. In half of the schedules time is hostile: see temper. It asserts that what an
// answer promised holds: while running, that no public table holds a prompt that was taken away; at
// rest, that Verify and the schema find nothing and no acknowledged change is lost.
//
// EXPLORE_SCHEDULES sets their number, EXPLORE_SEED runs one alone.
func TestExplore(t *testing.T) { exploreAll(t, 400, false, (*explorer).begin) }

// TestExplorePurge does the same with a prompt that was deleted long ago: in the end it is gone
// with all its rows, or it was restored and is whole.
func TestExplorePurge(t *testing.T) { exploreAll(t, 200, false, (*explorer).beginDeleted) }

// TestExploreKeys creates prompts under one Idempotency-Key, whose first prompt is mostly on its
// way out.
func TestExploreKeys(t *testing.T) { exploreAll(t, 200, false, (*explorer).beginKeyed) }

// TestExploreWhole does all of these where the storage changes tables and queues together.
func TestExploreWhole(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(*explorer){
		"edits": (*explorer).begin, "purge": (*explorer).beginDeleted, "keys": (*explorer).beginKeyed,
		"slow": (*explorer).beginTimed, "files": (*explorer).beginFiles,
		"purge of files": (*explorer).beginDeletedFiles,
	} {
		t.Run(name, func(t *testing.T) { exploreAll(t, 200, true, begin) })
	}
}

func exploreAll(t *testing.T, n uint64, whole bool, begin func(*explorer)) {
	t.Parallel()
	if s := os.Getenv("EXPLORE_SEED"); s != "" {
		seed, err := strconv.ParseUint(s, 10, 64)
		require.NoError(t, err)
		e := explore(t, seed, whole, begin, promptdb.Times{}, true)
		t.Log(strings.Join(e.trace, "\n"))
		require.Empty(t, e.problem, "seed %d", seed)
		return
	}
	if testing.Short() {
		n /= 8
	}
	if s := os.Getenv("EXPLORE_SCHEDULES"); s != "" {
		var err error
		n, err = strconv.ParseUint(s, 10, 64)
		require.NoError(t, err)
	}
	distinct := map[uint64]bool{}
	crashed, lost, held := 0, 0, 0
	for seed := range n {
		e := explore(t, seed, whole, begin, promptdb.Times{}, false)
		if e.problem != "" {
			t.Errorf("EXPLORE_SEED=%d %.400s", seed, e.problem)
		}
		distinct[e.hash.Sum64()] = true
		crashed += e.crashes
		lost += e.lost
		held += e.holds
	}
	t.Logf("%d schedules, %d distinct, %d with a crash, %d answers lost, %d answers that a process stood still at", n,
		len(distinct), crashed, lost, held)
	most := int(n)
	if whole { // which has few calls to interleave
		most = int(min(n, 1000))
	}
	require.Greater(t, len(distinct), most*9/10)
}

// An explorer runs one schedule.
type explorer struct {
	*ring
	rnd      *rand.Rand
	temper   temper
	bent     promptdb.Times // constants of the protocol that are not as they should be
	subjects []*subject
	tasks    []*task
	prio     map[string]float64
	changes  map[int]bool // steps at which the running task falls back
	crashAt  int
	steps    int
	nextJob  int
	commands int
	hosts    [2]*host
	seen     map[*chaos.Call]bool
	doomed   map[*chaos.Call]bool // no answer comes in time, and they land late
	held     []held
	landed   bool // something did since the last look
	watch    *watch
	follower *follower

	last func() error // what a timer does when all is done, before the look at the state at rest
	// a sweep was cut short: what it wrote last may land after all others, and the next one mends
	// it
	unswept   atomic.Bool
	promises  []promise
	rests     []func() string // further looks at the state at rest
	crashes   int
	lost      int
	holds     int
	problem   string
	trace     []string
	keepTrace bool
	hash      interface {
		Write([]byte) (int, error)
		Sum64() uint64
	}
}

// A subject is a prompt that commands are about.
type subject struct {
	id       prompt.ID
	author   prompt.UserID
	listings int       // how often it became listed
	listed   bool      // it is now
	gone     bool      // an answer said that it is in no public table
	goneAt   time.Time // when
	goneIn   *chaos.Process
	stays    bool // no command takes it away
	purges   bool // timers purge it
}

// A temper is how hostile time is in a schedule. One process, the victim, is slow: its clock is
// slow, it stands still at answers, its writes arrive when it has given them up and land late. At
// the edge that is by as much as the protocol allows for.
type temper struct {
	hostile bool
	edge    bool
	victim  string
	ahead   bool // the victim's clock is fast, not slow
	duel    bool // the first command is the victim, and all others are quick and do not give up
}

// A held answer reaches its process later.
type held struct {
	at     time.Time
	name   string
	answer func()
}

type host struct {
	process *chaos.Process
	db      *promptdb.DB
}

// A promise is what a successful answer means for the state at rest.
type promise struct {
	task *task
	kept func() error
}

func newExplorer(t *testing.T, seed, stream uint64, whole bool, bent promptdb.Times) *explorer {
	e := &explorer{
		ring: newRingOf(t, whole), rnd: rand.New(rand.NewPCG(seed, stream)), prio: map[string]float64{},
		changes: map[int]bool{}, seen: map[*chaos.Call]bool{},
		doomed: map[*chaos.Call]bool{}, hash: fnv.New64a(), crashAt: -1, bent: bent, landed: true,
	}
	e.watch = newWatch(e)
	e.follower = newFollower(e.ring, seed)
	return e
}

// times returns the constants that the processes go by.
func (e *explorer) times() promptdb.Times { return e.bent.OrElse() }

func explore(t *testing.T, seed uint64, whole bool, begin func(*explorer),
	bent promptdb.Times, keepTrace bool,
) *explorer {
	var e *explorer
	bubble(t, func(t *testing.T) {
		e = newExplorer(t, seed, 7, whole, bent)
		e.keepTrace = keepTrace
		e.subject("ann", e.seeded(9+e.rnd.IntN(2)).ID) // at the edge of a bucket
		for range 3 {
			e.changes[e.rnd.IntN(120)] = true
		}
		if e.rnd.IntN(2) == 0 {
			e.crashAt = e.rnd.IntN(100)
		}
		e.temper.hostile = e.rnd.IntN(2) == 0
		e.temper.edge = e.temper.hostile && e.rnd.IntN(2) == 0
		e.temper.ahead = e.rnd.IntN(2) == 0
		begin(e)
		e.problem = e.run()
		e.stop()
	})
	return e
}

// stop ends the work that a failed schedule left.
func (e *explorer) stop() {
	for calls := e.Pending(); len(calls)+len(e.held) > 0; calls = e.Pending() {
		for _, c := range calls {
			c.Process.Kill()
		}
		held := e.held
		e.held = nil
		for _, h := range held {
			h.answer()
		}
		synctest.Wait()
	}
}

// subject adds a public prompt at rest.
func (e *explorer) subject(author prompt.UserID, id prompt.ID) *subject {
	s := &subject{id: id, author: author, listed: true, stays: true}
	e.subjects = append(e.subjects, s)
	return s
}

// any returns one of the prompts.
func (e *explorer) any() *subject { return e.subjects[e.rnd.IntN(len(e.subjects))] }

// process returns a new process, whose clock is wrong where time is hostile.
func (e *explorer) process(name string) *chaos.Process {
	p := e.Process(name)
	e.prio[name] = e.rnd.Float64()
	if e.temper.duel && name == e.temper.victim {
		e.prio[name] = 2 // it begins
	}
	switch {
	case e.temper.edge && e.rnd.IntN(8) > 0:
		p.Skew = promptdb.ClockSkew / 2
		if (name == e.temper.victim) != e.temper.ahead {
			p.Skew = -p.Skew
		}
	case e.temper.hostile:
		p.Skew = time.Duration(e.rnd.Int64N(int64(promptdb.ClockSkew))) - promptdb.ClockSkew/2
	}
	return p
}

// instance returns the application in a process.
func (e *explorer) instance(p *chaos.Process) *promptdb.DB {
	db := promptdb.New(promptdb.Config{
		Store: p.Tables(e.watch.tables(p)), Queues: p.Queues(e.watch.queues(p)), Transact: e.transactOf(p),
		Tables: promptdb.DefaultTables(), Now: p.Now, Log: slog.New(slog.DiscardHandler),
		Background: func(f func()) { go f() }, Sleep: p.Sleep, Jitter: noJitter,
	})
	db.Bend(e.bent)
	return db
}

func (e *explorer) host(i int) *host {
	if h := e.hosts[i]; h != nil && !h.process.Dead() {
		return h
	}
	e.nextJob++
	p := e.process(fmt.Sprintf("host %d %03d", i, e.nextJob))
	e.hosts[i] = &host{p, e.instance(p)}
	return e.hosts[i]
}

// command starts something that a user does: in a process of its own, or in one that others share.
func (e *explorer) command(name string, do func(context.Context, *promptdb.DB) error, kept func() error) *task {
	if e.temper.hostile && e.temper.victim == "" && (e.temper.duel || e.rnd.IntN(2) == 0) {
		e.temper.victim = name
	}
	h := &host{}
	if e.temper.victim != name && e.rnd.IntN(3) == 0 {
		h = e.host(e.rnd.IntN(2))
	} else {
		h.process = e.process(name)
		h.db = e.instance(h.process)
	}
	if e.temper.duel || e.rnd.IntN(2) == 0 {
		do = stubborn(do)
	}
	t := &task{name: name, process: h.process, done: make(chan error, 1)}
	go func() { t.done <- do(context.Background(), h.db) }()
	e.tasks = append(e.tasks, t)
	if kept != nil {
		e.promises = append(e.promises, promise{t, kept})
	}
	return t
}

// stubborn does something again when the answer says to, as a client that follows Retry-After does.
func stubborn(do func(context.Context, *promptdb.DB) error) func(context.Context, *promptdb.DB) error {
	return func(ctx context.Context, db *promptdb.DB) error {
		for n := 0; ; n++ {
			err := do(ctx, db)
			var f *fault.Error
			if n == 4 || !errors.As(err, &f) || f.Kind != fault.Unavailable {
				return err
			}
			if err := db.Sleep(ctx, max(f.RetryAfter, time.Second)); err != nil {
				return err
			}
		}
	}
}

// maxSteps is more than any schedule takes to come to rest, with some room for further indexes.
const maxSteps = 12_000

// run schedules calls until all is at rest.
func (e *explorer) run() string {
	for ; e.steps < maxSteps; e.steps++ {
		synctest.Wait()
		e.collect()
		if p := e.check(); p != "" {
			return p
		}
		if err := e.follower.maybe(); err != nil {
			return err.Error()
		}
		e.meet()
		e.expire()
		synctest.Wait()
		calls := e.ready()
		if e.rnd.IntN(7) == 0 || len(calls) == 0 {
			if e.deliver() {
				continue
			}
		}
		if len(calls) == 0 {
			if !e.wait() {
				return e.atRest()
			}
			continue
		}
		if e.rnd.IntN(10) < 3 {
			e.tick(time.Duration(e.rnd.IntN(4)*e.rnd.IntN(2)) * time.Second)
		}
		e.choose(calls)
	}
	return "no end"
}

func (e *explorer) say(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	_, _ = e.hash.Write([]byte(text))
	if e.keepTrace {
		e.trace = append(e.trace, fmt.Sprintf("%4d %s %s", e.steps, e.Now().Format("15:04:05.0"), text))
	}
}

// tick moves the clock, lets late writes land and answers arrive.
func (e *explorer) tick(d time.Duration) {
	e.Advance(d)
	slices.SortStableFunc(e.late, func(a, b landing) int { return a.at.Compare(b.at) })
	e.late = slices.DeleteFunc(e.late, func(l landing) bool {
		due := !l.at.After(e.Now())
		if due {
			e.say("a late write lands")
			e.landed = true
			l.land()
		}
		return due
	})
	e.held = slices.DeleteFunc(e.held, func(h held) bool {
		due := !h.at.After(e.Now())
		if due {
			e.say("%s: has its answer", h.name)
			h.answer()
		}
		return due
	})
}

// wait moves the clock to the next thing that happens by itself, and reports whether there is one.
func (e *explorer) wait() bool {
	left := len(e.late) + len(e.held) + len(e.Pending())
	for name := range jobs(e.truth) {
		n, err := e.queues.Len(context.Background(), name)
		require.NoError(e.t, err)
		left += n
	}
	next := e.Now().Add(time.Second)
	sooner := func(at time.Time) {
		if at.After(e.Now()) && at.Before(next) {
			next = at
		}
	}
	for _, l := range e.late {
		sooner(l.at)
	}
	for _, h := range e.held {
		sooner(h.at)
	}
	for _, c := range e.Pending() {
		sooner(c.Wake)
		sooner(c.Sent)
		sooner(c.Sent.Add(e.times().Call))
	}
	e.tick(next.Sub(e.Now()))
	return left > 0
}

// upTo returns a duration of up to d, at the edge mostly all of it.
func (e *explorer) upTo(d time.Duration) time.Duration {
	if e.temper.duel && e.rnd.IntN(16) > 0 || e.temper.edge && e.rnd.IntN(4) > 0 {
		return d
	}
	return time.Duration(e.rnd.Int64N(int64(d))) + 1
}

// meet decides what becomes of calls that were just made.
func (e *explorer) meet() {
	if !e.temper.hostile {
		return
	}
	for _, c := range e.Pending() {
		if e.seen[c] {
			continue
		}
		e.seen[c] = true
		if !strings.HasPrefix(c.Label, "write ") || strings.HasPrefix(c.Label, "write Prompts ") && e.rnd.IntN(5) > 0 {
			continue
		}
		rare := 12
		switch {
		case c.Process.Name == e.temper.victim:
			rare = 2
		case e.temper.duel:
			rare = 100
		}
		if e.rnd.IntN(rare) == 0 {
			d := e.upTo(promptdb.PauseWithin)
			e.say("%s: %s: sent %s later", c.Process.Name, c.Label, d)
			c.Sent = c.Sent.Add(d)
		}
		if e.rnd.IntN(rare*2) == 0 {
			e.doomed[c] = true
		}
	}
}

// ready returns the calls that may land now.
func (e *explorer) ready() []*chaos.Call {
	return slices.DeleteFunc(e.Pending(), func(c *chaos.Call) bool {
		return c.Wake.After(e.Now()) || c.Sent.After(e.Now()) || e.doomed[c]
	})
}

// expire answers calls that have waited for longer than their sender does.
func (e *explorer) expire() {
	for _, c := range e.Pending() {
		if c.Wake.IsZero() && e.Now().Sub(c.Sent) >= e.times().Call {
			e.lose(c)
		}
	}
}

// lose answers a call with a time-out. It landed, never does, or lands within 30 s of being
// received, which it is now at the latest.
func (e *explorer) lose(c *chaos.Call) {
	e.lost++
	n := e.rnd.IntN(3)
	if e.doomed[c] {
		n = 2
	}
	switch {
	case n == 0:
		e.say("%s: %s: lost", c.Process.Name, c.Label)
		c.Fail(chaos.ErrTimeout)
	case n == 1 || !c.Write:
		e.say("%s: %s: landed, answer lost", c.Process.Name, c.Label)
		e.landed = true
		c.Lose(chaos.ErrTimeout)
	default:
		d := e.upTo(promptdb.WriteEnd)
		e.say("%s: %s: will land after %s", c.Process.Name, c.Label, d)
		e.late = append(e.late, landing{e.Now().Add(d), c.Delay(chaos.ErrTimeout)})
		if e.doomed[c] && e.crashes == 0 && e.rnd.IntN(3) == 0 {
			e.crashes++
			e.say("%s: CRASH", c.Process.Name)
			c.Process.Kill()
		}
	}
}

// choose lets one call go on: of the task with the highest priority, or of any.
func (e *explorer) choose(calls []*chaos.Call) {
	best := calls[0]
	for _, c := range calls {
		if e.prio[c.Process.Name] > e.prio[best.Process.Name] {
			best = c
		}
	}
	// Calls of one task that wait together are in flight together: any may land first.
	same := slices.DeleteFunc(calls, func(c *chaos.Call) bool { return c.Process != best.Process })
	c := same[e.rnd.IntN(len(same))]
	if e.changes[e.steps] {
		e.prio[c.Process.Name] = -e.rnd.Float64()
	}
	e.landed = e.landed || c.Write
	switch {
	case e.steps == e.crashAt && e.crashes == 0:
		e.crash(c)
	case c.Wake.IsZero() && e.rnd.IntN(40) == 0:
		e.lose(c)
	case c.Wake.IsZero() && e.rnd.IntN(60) == 0:
		e.say("%s: %s: throttled", c.Process.Name, c.Label)
		c.Fail(table.ErrBusy)
	case c.Wake.IsZero() && e.halts(c):
		e.hold(c)
	default:
		e.say("%s: %s", c.Process.Name, c.Label)
		c.Pass()
	}
}

// halts decides whether a process stands still at an answer.
func (e *explorer) halts(c *chaos.Call) bool {
	switch {
	case !e.temper.hostile:
		return false
	case c.Process.Name != e.temper.victim:
		return !e.temper.duel && e.rnd.IntN(50) == 0
	case strings.HasPrefix(c.Label, "write Prompts "):
		return e.rnd.IntN(2) == 0 // after a commit
	case strings.HasPrefix(c.Label, "get Prompts "), strings.HasPrefix(c.Label, "list PromptVotes "):
		return e.rnd.IntN(4) == 0 // before one
	case strings.Contains(c.Label, " Files "):
		return e.rnd.IntN(3) == 0 // before the versions, the commit or the removal
	}
	return e.rnd.IntN(30) == 0
}

// hold lets a call land and its process stand still at the answer, for as long as the next call may
// still be sent.
func (e *explorer) hold(c *chaos.Call) {
	e.holds++
	end := c.Sent.Add(max(e.upTo(max(e.times().Send, e.times().Fresh))-time.Millisecond, e.Now().Sub(c.Sent)))
	e.say("%s: %s: its answer comes at %s", c.Process.Name, c.Label, end.Format("15:04:05.0"))
	e.held = append(e.held, held{end, c.Process.Name, c.Hold()})
}

// crash stops the process at a call, which lands, does not, or lands late.
func (e *explorer) crash(c *chaos.Call) {
	e.crashes++
	n := e.rnd.IntN(3)
	e.say("%s: %s: CRASH %d", c.Process.Name, c.Label, n)
	p := c.Process
	if n == 2 && c.Write {
		d := e.upTo(c.Sent.Add(e.times().Call + promptdb.WriteEnd).Sub(e.Now()))
		e.late = append(e.late, landing{e.Now().Add(d), c.Delay(chaos.ErrKilled)})
		p.Kill()
		return
	}
	c.Stop(n == 1)
}

// deliver starts the job of a message that is due, if there is one.
func (e *explorer) deliver() bool {
	for _, name := range []string{promptdb.QueueMoves, promptdb.QueueRepairs} {
		ms, err := e.queues.Receive(context.Background(), name, 1, 10*time.Minute)
		require.NoError(e.t, err)
		if len(ms) == 0 {
			continue
		}
		e.nextJob++
		m := ms[0]
		h := e.host(e.rnd.IntN(2))
		e.watch.delivered(h.process, m)
		t := &task{
			name:    fmt.Sprintf("job %03d on %s", e.nextJob, h.process.Name),
			process: h.process, done: make(chan error, 1),
		}
		go func() { t.done <- jobs(h.db)[name](context.Background(), m.Text) }()
		t.message, t.queue = &m, name
		e.tasks = append(e.tasks, t)
		e.say("%s of %s starts, delivery %d", t.name, name, m.Dequeued)
		return true
	}
	return false
}

// collect takes the answers of tasks that have ended.
func (e *explorer) collect() {
	e.observe()
	e.tasks = slices.DeleteFunc(e.tasks, func(t *task) bool {
		if !t.settled() {
			return false
		}
		e.say("%s answers %v", t.name, t.err)
		if s := t.hides; s != nil && t.err == nil && t.begun == s.listings && !s.listed && !s.gone {
			s.gone, s.goneAt, s.goneIn = true, e.Now(), t.process
			e.landed = true
		}
		// A job that was killed keeps its message locked; the host returns one that failed.
		if t.message != nil && !errors.Is(t.err, chaos.ErrKilled) {
			e.returned(t)
		}
		return true
	})
}

// returned does what the host does after a job. A message that failed too often is set aside.
func (e *explorer) returned(t *task) {
	m := *t.message
	if t.err != nil && m.Dequeued >= 5 {
		e.say("%s: its message is poison", t.name)
		_, err := e.queues.Send(context.Background(), queue.Poison(t.queue), m.Text, 0)
		require.NoError(e.t, err)
		t.err = nil
	}
	if err := e.finish(t.queue, m, t.err); err != nil {
		e.problem = err.Error()
	}
}

// record reads a prompt whatever its state.
func (e *explorer) record(s *subject) (prompt.Prompt, error) {
	return e.truth.Record(context.Background(), s.author, s.id)
}

// observe follows whether the prompts are listed.
func (e *explorer) observe() {
	if !e.landed {
		return
	}
	for _, s := range e.subjects {
		p, err := e.record(s)
		if !s.purges || fault.Of(err) != fault.NotFound {
			require.NoError(e.t, err)
		}
		if p.Listed() && !s.listed {
			s.listings++
		}
		if s.listed = p.Listed(); s.listed {
			s.gone = false
		}
	}
}

func (e *explorer) check() string {
	if e.problem != "" || !e.landed {
		return e.problem
	}
	e.landed = false
	for _, s := range e.subjects {
		if s.gone && e.publicRows(s.id) > 0 {
			return "public rows after the answer that they are gone"
		}
		if s.stays && e.rowsIn(promptdb.DefaultTables().MostLiked, s.id) == 0 {
			return "a prompt that nobody took away is not in the most-liked table"
		}
	}
	return ""
}

func (e *explorer) atRest() string {
	if again, err := e.redriven(); again || err != nil {
		return cmp.Or(errText(err), e.run())
	}
	if e.unswept.Swap(false) {
		if err := e.sweepAgain(); err != nil {
			return "the next sweep: " + err.Error()
		}
	}
	e.Advance(2 * time.Minute) // Verify leaves out what may still be under way
	for _, s := range e.subjects {
		if s.purges {
			if p := e.purged(s); p != "" {
				return p
			}
		}
	}
	if e.last != nil {
		if err := e.last(); err != nil {
			return "the last timer: " + err.Error()
		}
	}
	if ds := e.differences(); len(ds) > 0 {
		return "at rest: " + strings.Join(ds, "; ")
	}
	if ds := bySchema(e.store); len(ds) > 0 {
		return "at rest, by the schema: " + strings.Join(ds, "; ")
	}
	if ds := e.follower.differences(); len(ds) > 0 {
		return "at rest, by the index in memory: " + strings.Join(ds, "; ")
	}
	for _, p := range e.promises {
		if p.task.ended && p.task.err == nil {
			if err := p.kept(); err != nil {
				return err.Error()
			}
		}
	}
	for _, look := range e.rests {
		if p := look(); p != "" {
			return p
		}
	}
	return ""
}

// sweepAgain lets the timer of the next day sweep.
func (e *explorer) sweepAgain() error {
	e.Advance(25 * time.Hour)
	if _, _, err := e.truth.Sweep(context.Background()); err != nil {
		return err
	}
	return e.drain()
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// redriven starts what an operator does who finds messages set aside.
func (e *explorer) redriven() (bool, error) {
	left := 0
	for _, name := range []string{promptdb.QueueMoves, promptdb.QueueRepairs} {
		n, err := e.queues.Len(context.Background(), queue.Poison(name))
		if err != nil {
			return false, err
		}
		left += n
	}
	if left > 0 {
		e.Advance(time.Minute) // an earlier one may have been cut short
		e.redrive(90)
	}
	return left > 0, nil
}

// purged lets the next timer purge, and reports what is left of a prompt that is gone.
func (e *explorer) purged(s *subject) string {
	if _, err := e.truth.Purge(context.Background()); err != nil {
		return "the next purge: " + err.Error()
	}
	p, err := e.record(s)
	switch {
	case fault.Of(err) == fault.NotFound:
	case err != nil:
		return err.Error()
	case p.Deleted():
		return "it is not purged"
	default:
		return ""
	}
	t := promptdb.DefaultTables()
	for _, name := range []string{
		t.Prompts, t.Newest, t.MostLiked, t.Hot, t.Best, t.Trending, t.TagIndex, t.TitleIndex,
		t.VotesByVoter, t.DeletedIndex, t.HiddenIndex,
	} {
		if n := e.rowsIn(name, s.id); n > 0 {
			return fmt.Sprintf("%d rows of the purged prompt are left in %s", n, name)
		}
	}
	left := 0
	for _, err := range table.All(context.Background(), e.store, t.Votes, table.Range{Partition: "p|" + string(s.id)}) {
		if err != nil {
			return err.Error()
		}
		left++
	}
	if left > 0 {
		return fmt.Sprintf("%d rows of the purged prompt are left in %s", left, t.Votes)
	}
	return ""
}
