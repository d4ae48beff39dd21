package promptdb_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/chaos"
	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/table"
)

// TestExplore runs one, two or three commands on one prompt with their calls interleaved by priorities (PCT), time
// moving, answers lost, writes landing up to 30 s late, and at most one crash; then lets the queues do the rest. It asserts that
// what an answer promised holds: while running, that no public table holds a prompt that was taken
// away; at rest, that Verify finds nothing and no acknowledged change is lost.
//
// EXPLORE_SCHEDULES sets their number, EXPLORE_SEED runs one alone.
func TestExplore(t *testing.T) { exploreAll(t, 10_000, (*explorer).begin) }

// TestExplorePurge does the same with a prompt that was deleted long ago: in the end it is gone with all its rows, or it was restored and
// is whole.
func TestExplorePurge(t *testing.T) { exploreAll(t, 3000, (*explorer).beginDeleted) }

func exploreAll(t *testing.T, n uint64, begin func(*explorer)) {
	if s := os.Getenv("EXPLORE_SEED"); s != "" {
		seed, err := strconv.ParseUint(s, 10, 64)
		require.NoError(t, err)
		e := explore(t, seed, begin, true)
		t.Log(strings.Join(e.trace, "\n"))
		require.Empty(t, e.problem, "seed %d", seed)
		return
	}
	distinct := map[uint64]bool{}
	if testing.Short() {
		n /= 10
	}
	if s := os.Getenv("EXPLORE_SCHEDULES"); s != "" {
		var err error
		n, err = strconv.ParseUint(s, 10, 64)
		require.NoError(t, err)
	}
	crashed, lost := 0, 0
	for seed := range n {
		e := explore(t, seed, begin, false)
		if e.problem != "" {
			t.Errorf("EXPLORE_SEED=%d %.300s", seed, e.problem)
		}
		distinct[e.hash.Sum64()] = true
		crashed += e.crashes
		lost += e.lost
	}
	t.Logf("%d schedules, %d distinct, %d with a crash, %d answers lost", n, len(distinct), crashed, lost)
	require.Greater(t, len(distinct), int(n)*9/10)
}

// An explorer runs one schedule.
type explorer struct {
	*ring
	rnd     *rand.Rand
	id      prompt.ID
	tasks   []*task
	prio    map[string]float64
	changes map[int]bool // steps at which the running task falls back
	crashAt int
	steps   int
	nextJob int
	hosts   [2]*host

	listings  int  // how often the prompt became listed
	listed    bool // it is now
	gone      bool // an answer said that it is in no public table
	stays     bool // no command takes it away
	purges    bool // timers purge
	promises  []promise
	crashes   int
	lost      int
	problem   string
	trace     []string
	keepTrace bool
	hash      interface {
		Write([]byte) (int, error)
		Sum64() uint64
	}
}

type host struct {
	process *chaos.Process
	db      *promptdb.DB
}

func (e *explorer) host(i int) *host {
	if h := e.hosts[i]; h != nil && !h.process.Dead() {
		return h
	}
	e.nextJob++
	p := e.Process(fmt.Sprintf("host %d %03d", i, e.nextJob))
	e.prio[p.Name] = e.rnd.Float64()
	e.hosts[i] = &host{p, e.database(p.Tables(e.store), p.Queues(e.queues), p.Sleep, func(f func()) { go f() })}
	return e.hosts[i]
}

// A promise is what a successful answer means for the state at rest.
type promise struct {
	task *task
	kept func() error
}

func explore(t *testing.T, seed uint64, begin func(*explorer), keepTrace bool) *explorer {
	var e *explorer
	bubble(t, func(t *testing.T) {
		e = &explorer{
			ring: newRing(t), rnd: rand.New(rand.NewPCG(seed, 7)), prio: map[string]float64{}, changes: map[int]bool{},
			listed: true, stays: true, keepTrace: keepTrace, hash: fnv.New64a(), crashAt: -1,
		}
		e.id = e.seeded(9 + e.rnd.IntN(2)).ID // at the edge of a bucket
		for range 3 {
			e.changes[e.rnd.IntN(120)] = true
		}
		if e.rnd.IntN(2) == 0 {
			e.crashAt = e.rnd.IntN(100)
		}
		begin(e)
		e.problem = e.run()
		for _, tk := range e.tasks {
			tk.process.Kill() // of a schedule that failed: nothing may stay behind
		}
		synctest.Wait()
	})
	return e
}

// begin starts one to three commands.
func (e *explorer) begin() {
	pool := []func(int){e.edit, e.edit, e.retag, e.unpublish, e.remove, e.restoreAgain, e.vote, e.vote, e.unvote, e.waver, e.waverNone, e.waverNone, e.hide, e.unhide, e.sweep, e.reproject}
	e.rnd.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
	for i, command := range pool[:1+e.rnd.IntN(3)] {
		command(i)
	}
}

// beginDeleted starts one to three commands on a prompt that is to be purged.
func (e *explorer) beginDeleted() {
	with(deleted)(e.ring, &prompt.Prompt{ID: e.id})
	require.NoError(e.t, e.drain())
	e.Advance(32 * 24 * time.Hour)
	e.listed, e.stays, e.purges = false, false, true
	pool := []func(int){e.purge, e.purge, e.purge, e.undelete, e.undelete, e.vote, e.unvote, e.sweep, e.reproject}
	e.rnd.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
	e.purge(9) // a run that was begun by a timer
	for i, command := range pool[:1+e.rnd.IntN(2)] {
		command(i)
	}
}

func (e *explorer) purge(i int) {
	e.command(fmt.Sprintf("%d purge", i), false, func(ctx context.Context, db *promptdb.DB) error { _, err := db.Purge(ctx); return err }, nil)
}

// undelete restores the prompt.
func (e *explorer) undelete(i int) {
	name := fmt.Sprintf("%d undelete", i)
	e.command(name, false, func(ctx context.Context, db *promptdb.DB) error {
		_, err := db.Change(ctx, "ann", e.id, func(p prompt.Prompt) (prompt.Prompt, error) {
			if !p.Deleted() {
				return p, promptdb.ErrUnchanged
			}
			p.DeletedAt = time.Time{}
			return p, nil
		})
		return err
	}, func() error {
		p, err := e.record()
		if err != nil || p.Deleted() {
			return fmt.Errorf("%s was acknowledged, and the prompt is gone: %w", name, err)
		}
		return nil
	})
}

func (e *explorer) command(name string, hides bool, do func(context.Context, *promptdb.DB) error, kept func() error) {
	e.stays = e.stays && !hides
	t := e.start(name, do)
	t.hides, t.begun = hides, e.listings
	e.tasks = append(e.tasks, t)
	e.prio[name] = e.rnd.Float64()
	if kept != nil {
		e.promises = append(e.promises, promise{t, kept})
	}
}

// change is a command that edits the prompt and leaves its name in the text.
func (e *explorer) change(name string, hides bool, edit func(*prompt.Prompt)) {
	do := func(ctx context.Context, db *promptdb.DB) error {
		_, err := db.Change(ctx, "ann", e.id, func(p prompt.Prompt) (prompt.Prompt, error) {
			if strings.Contains(p.Text, name+";") {
				return p, promptdb.ErrUnchanged
			}
			edit(&p)
			p.Text += name + ";"
			p.Revision++
			return p, nil
		})
		return err
	}
	e.command(name, hides, do, func() error {
		v, err := e.record()
		if err == nil && !strings.Contains(v.Text, name+";") {
			return fmt.Errorf("%s was acknowledged and is lost; the text is %q", name, v.Text)
		}
		return err
	})
}

// record reads the prompt whatever its state.
func (e *explorer) record() (prompt.Prompt, error) {
	return e.truth.Record(context.Background(), "ann", e.id)
}

func (e *explorer) edit(i int) {
	e.change(fmt.Sprintf("%d edit", i), false, func(p *prompt.Prompt) { p.Title = fmt.Sprintf("New title %d", i) })
}

func (e *explorer) retag(i int) {
	e.change(fmt.Sprintf("%d retag", i), false, func(p *prompt.Prompt) { p.Tags = []prompt.Tag{"image", "data"} })
}

func (e *explorer) unpublish(i int) {
	e.change(fmt.Sprintf("%d unpublish", i), true, func(p *prompt.Prompt) { p.Visibility = prompt.Private })
}

func (e *explorer) remove(i int) {
	e.change(fmt.Sprintf("%d delete", i), true, func(p *prompt.Prompt) { p.DeletedAt = e.Now() })
}

// restoreAgain deletes and restores.
func (e *explorer) restoreAgain(i int) {
	name := fmt.Sprintf("%d restore", i)
	e.stays = false
	e.command(name, false, func(ctx context.Context, db *promptdb.DB) error {
		if _, err := db.Change(ctx, "ann", e.id, func(p prompt.Prompt) (prompt.Prompt, error) { p.DeletedAt = e.Now(); return p, nil }); err != nil {
			return err
		}
		_, err := db.Change(ctx, "ann", e.id, func(p prompt.Prompt) (prompt.Prompt, error) {
			p.DeletedAt = time.Time{}
			p.Visibility = prompt.Public
			return p, nil
		})
		return err
	}, nil)
}

func (e *explorer) vote(i int) {
	e.ballot(fmt.Sprintf("%d vote", i), fmt.Sprint("voter ", i), prompt.Like)
}
func (e *explorer) unvote(i int) { e.ballot(fmt.Sprintf("%d unvote", i), "early 3", prompt.None) }

func (e *explorer) ballot(name, voter string, v prompt.Vote) {
	e.command(name, false, func(ctx context.Context, db *promptdb.DB) error {
		_, err := db.Vote(ctx, voter, e.id, v)
		return err
	}, func() error {
		got, err := e.truth.VoteRow(context.Background(), voter, e.id)
		if err == nil && got != v {
			return fmt.Errorf("the vote %s of %s was acknowledged and is %s", v, voter, got)
		}
		return err
	})
}

// waver votes one way and the other.
func (e *explorer) waver(i int) {
	voter := fmt.Sprint("wavering ", i)
	e.command(fmt.Sprintf("%d waver", i), false, func(ctx context.Context, db *promptdb.DB) error {
		for _, v := range []prompt.Vote{prompt.Like, prompt.Dislike, prompt.Like, prompt.Dislike} {
			if _, err := db.Vote(ctx, voter, e.id, v); err != nil {
				return err
			}
		}
		return nil
	}, nil)
}

func (e *explorer) waverNone(i int) {
	voter := fmt.Sprint("wavering ", i)
	e.command(fmt.Sprintf("%d waverNone", i), false, func(ctx context.Context, db *promptdb.DB) error {
		for _, v := range []prompt.Vote{prompt.Like, prompt.None, prompt.Like, prompt.None} {
			if _, err := db.Vote(ctx, voter, e.id, v); err != nil {
				return err
			}
			if err := db.Sleep(ctx, 2*time.Second); err != nil {
				return err
			}
		}
		return nil
	}, nil)
}

func (e *explorer) hide(i int) {
	e.change(fmt.Sprintf("%d hide", i), true, func(p *prompt.Prompt) { p.HiddenAt, p.HiddenBy, p.HiddenReason = e.Now(), "mod", "why" })
}

func (e *explorer) unhide(i int) {
	e.change(fmt.Sprintf("%d unhide", i), false, func(p *prompt.Prompt) { p.HiddenAt, p.HiddenBy, p.HiddenReason = time.Time{}, "", "" })
}

func (e *explorer) sweep(i int) {
	e.command(fmt.Sprintf("%d sweep", i), false, func(ctx context.Context, db *promptdb.DB) error { _, _, err := db.Sweep(ctx); return err }, nil)
}

func (e *explorer) reproject(i int) {
	e.command(fmt.Sprintf("%d reproject", i), false, func(ctx context.Context, db *promptdb.DB) error {
		return db.Rewrite(ctx, "ann", e.id)
	}, nil)
}

// run schedules calls until all is at rest.
func (e *explorer) run() string {
	for e.steps = 0; e.steps < 5000; e.steps++ {
		synctest.Wait()
		e.collect()
		if p := e.check(); p != "" {
			return p
		}
		e.expire()
		synctest.Wait()
		calls := e.Pending()
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
		e.trace = append(e.trace, fmt.Sprintf("%4d %s %s", e.steps, e.Now().Format("15:04:05"), text))
	}
}

// tick moves the clock and lets late writes land.
func (e *explorer) tick(d time.Duration) {
	e.Advance(d)
	e.late = slices.DeleteFunc(e.late, func(l landing) bool {
		due := !l.at.After(e.Now())
		if due {
			e.say("a late write lands")
			l.land()
		}
		return due
	})
}

// wait moves the clock to the next thing that happens by itself, and reports whether there is one.
func (e *explorer) wait() bool {
	left := len(e.late)
	for name := range jobs(e.truth) {
		n, err := e.queues.Len(context.Background(), name)
		require.NoError(e.t, err)
		left += n
	}
	e.tick(time.Second)
	return left > 0
}

// expire answers calls that have waited for longer than their sender does.
func (e *explorer) expire() {
	for _, c := range e.Pending() {
		if c.Wake.IsZero() && e.Now().Sub(c.Sent) >= 5*time.Second {
			e.lose(c)
		}
	}
}

// lose answers a call with a time-out. It landed, never does, or lands within 30 s of being sent.
func (e *explorer) lose(c *chaos.Call) {
	e.lost++
	switch n := e.rnd.IntN(3); {
	case n == 0:
		e.say("%s: %s: lost", c.Process.Name, c.Label)
		c.Fail(chaos.ErrTimeout)
	case n == 1 || !c.Write:
		e.say("%s: %s: landed, answer lost", c.Process.Name, c.Label)
		c.Lose(chaos.ErrTimeout)
	default:
		e.say("%s: %s: will land late", c.Process.Name, c.Label)
		e.delay(c.Sent, c.Delay(chaos.ErrTimeout))
	}
}

func (e *explorer) delay(sent time.Time, land func()) {
	end := sent.Add(30 * time.Second)
	room := end.Sub(e.Now())
	if room <= 0 {
		return
	}
	e.late = append(e.late, landing{e.Now().Add(time.Duration(e.rnd.Int64N(int64(room)) + 1)), land})
}

// choose lets one call go on: of the task with the highest priority, or of any.
func (e *explorer) choose(calls []*chaos.Call) {
	awake := slices.DeleteFunc(calls, func(c *chaos.Call) bool { return c.Wake.After(e.Now()) })
	if len(awake) == 0 {
		e.tick(time.Second)
		return
	}
	best := awake[0]
	for _, c := range awake {
		if e.prio[c.Process.Name] > e.prio[best.Process.Name] {
			best = c
		}
	}
	// Calls of one task that wait together are in flight together: any may land first.
	same := slices.DeleteFunc(awake, func(c *chaos.Call) bool { return c.Process != best.Process })
	c := same[e.rnd.IntN(len(same))]
	if e.changes[e.steps] {
		e.prio[c.Process.Name] = -e.rnd.Float64()
	}
	switch {
	case e.steps == e.crashAt:
		e.crash(c)
	case c.Wake.IsZero() && e.rnd.IntN(40) == 0:
		e.lose(c)
	case c.Wake.IsZero() && e.rnd.IntN(60) == 0:
		e.say("%s: %s: throttled", c.Process.Name, c.Label)
		c.Fail(table.ErrBusy)
	default:
		e.say("%s: %s", c.Process.Name, c.Label)
		c.Pass()
	}
}

// crash stops the process at a call, which lands, does not, or lands late.
func (e *explorer) crash(c *chaos.Call) {
	e.crashes++
	n := e.rnd.IntN(3)
	e.say("%s: %s: CRASH %d", c.Process.Name, c.Label, n)
	p := c.Process
	if n == 2 {
		e.delay(c.Sent, c.Delay(chaos.ErrKilled))
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
		t := &task{name: fmt.Sprintf("job %03d on %s", e.nextJob, h.process.Name), process: h.process, done: make(chan error, 1)}
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
		if t.hides && t.err == nil && t.begun == e.listings && !e.listed {
			e.gone = true
		}
		// A job that was killed keeps its message locked; the host returns one that failed.
		if t.message != nil && !errors.Is(t.err, chaos.ErrKilled) {
			e.returned(t)
		}
		return true
	})
}

// returned does what the host does after a job. A message that became poison is put back at once, as redrive does.
func (e *explorer) returned(t *task) {
	m := *t.message
	if t.err != nil && m.Dequeued >= 5 {
		_, err := e.queues.Send(context.Background(), t.queue, m.Text, 0)
		require.NoError(e.t, err)
		t.err = nil
	}
	if err := e.finish(t.queue, m, t.err); err != nil {
		e.problem = err.Error()
	}
}

// observe follows whether the prompt is listed.
func (e *explorer) observe() {
	p, err := e.record()
	if !e.purges || fault.Of(err) != fault.NotFound {
		require.NoError(e.t, err)
	}
	if p.Listed() && !e.listed {
		e.listings++
		e.gone = false
	}
	e.listed = p.Listed()
	if e.listed {
		e.gone = false
	}
}

func (e *explorer) check() string {
	if e.problem != "" {
		return e.problem
	}
	if e.gone && e.publicRows(e.id) > 0 {
		return "public rows after the answer that they are gone"
	}
	if e.stays && e.rowsIn(promptdb.DefaultTables().MostLiked, e.id) == 0 {
		return "a prompt that nobody took away is not in the most-liked table"
	}
	return ""
}

func (e *explorer) atRest() string {
	e.Advance(2 * time.Minute) // Verify leaves out what may still be under way
	if e.purges {
		if p := e.purged(); p != "" {
			return p
		}
	}
	if ds := e.differences(); len(ds) > 0 {
		return "at rest: " + strings.Join(ds, "; ")
	}
	for _, p := range e.promises {
		if p.task.ended && p.task.err == nil {
			if err := p.kept(); err != nil {
				return err.Error()
			}
		}
	}
	return ""
}

// purged lets the next timer purge, and reports what is left of a prompt that is gone.
func (e *explorer) purged() string {
	if _, err := e.truth.Purge(context.Background()); err != nil {
		return "the next purge: " + err.Error()
	}
	p, err := e.record()
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
	for _, name := range []string{t.Prompts, t.Newest, t.MostLiked, t.TagIndex, t.TitleIndex, t.VotesByVoter, t.DeletedIndex, t.HiddenIndex} {
		if n := e.rowsIn(name, e.id); n > 0 {
			return fmt.Sprintf("%d rows of the purged prompt are left in %s", n, name)
		}
	}
	left := 0
	err = table.All(context.Background(), e.store, t.Votes, table.Range{}, func(table.Row) (bool, error) { left++; return true, nil })
	if err != nil || left > 0 {
		return fmt.Sprintf("%d rows of the purged prompt are left in %s: %v", left, t.Votes, err)
	}
	return ""
}
