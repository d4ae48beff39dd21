package game_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/ricochet/internal/game"
	"prompthub/internal/fault"
	"prompthub/internal/host/function"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/queue"
	"prompthub/internal/testing/chaos"
)

// TestExplore runs hosts, players, messages and the timer with their calls interleaved, time
// moving, answers lost, writes that land late, processes that stop, and messages that come twice.
// While that goes on at most one round is active; at rest everything holds that check holds, what
// was accepted took part, and nothing is left to do.
//
// EXPLORE_SCHEDULES sets their number, which is 10,000 in "make -C apps/ricochet soak";
// EXPLORE_SEED runs one alone.
func TestExplore(t *testing.T) {
	t.Parallel()
	if s := os.Getenv("EXPLORE_SEED"); s != "" {
		seed, err := strconv.ParseUint(s, 10, 64)
		require.NoError(t, err)
		e := explore(t, seed)
		t.Log(strings.Join(e.trace, "\n"))
		require.NoError(t, e.wrong)
		return
	}
	n := uint64(1_000)
	if testing.Short() {
		n = 300
	}
	if s := os.Getenv("EXPLORE_SCHEDULES"); s != "" {
		var err error
		n, err = strconv.ParseUint(s, 10, 64)
		require.NoError(t, err)
	}
	distinct, met := map[uint64]bool{}, map[string]int{}
	for seed := range n {
		e := explore(t, seed)
		if e.wrong != nil {
			t.Errorf("EXPLORE_SEED=%d %v", seed, e.wrong)
		}
		sum := fnv.New64a()
		fmt.Fprint(sum, e.trace)
		distinct[sum.Sum64()] = true
		for what, times := range e.met {
			met[what] += times
		}
	}
	t.Logf("%d schedules, %d distinct: %v", n, len(distinct), met)
	require.Greater(t, len(distinct), int(n)*9/10)
	for _, what := range []string{
		"crash", "lost", "failed", "late", "twice", "accepted", "ROUND_ENDED",
		"ROUND_ALREADY_ACTIVE", "ROUND_ALREADY_ENDED",
		"completed", "skipped", "expired", "extended", "deleted",
	} {
		require.Positive(t, met[what], what)
	}
}

// An explorer runs one schedule.
type explorer struct {
	t      *testing.T
	rnd    *rand.Rand
	world  *chaos.World
	db     *memory.Tables
	queues *memory.Queues
	calm   *game.Games // whose calls pass at once
	id     string
	wrong  error
	trace  []string
	met    map[string]int

	running  int
	late     []landing
	accepted []accepted
	secrets  map[string]string // that names were given with
	closed   map[int]int       // how often a host was told that he closed a round
	started  map[int]int
	gone     bool // a host was told that the game is deleted
	deletes  bool // somebody tried
}

// A landing is a write that its process takes for failed.
type landing struct {
	by   time.Time
	land func()
}

// accepted is what a player was told.
type accepted struct {
	player string
	round  int
	moves  int
}

func explore(t *testing.T, seed uint64) *explorer {
	t.Helper()
	e := &explorer{
		t: t, rnd: rand.New(rand.NewPCG(seed, 1)), world: chaos.NewWorld(began), db: memory.NewShortPages(seed),
		met: map[string]int{}, secrets: map[string]string{}, closed: map[int]int{}, started: map[int]int{},
	}
	e.queues = memory.NewQueues(e.world.Now)
	e.calm = over(e.world.Now, e.db, e.queues, seed)
	e.id = create(t, e.calm).ID
	synctest.Test(t, func(*testing.T) {
		e.run()
		e.rest()
	})
	return e
}

// run begins commands and lets their calls do what luck says.
func (e *explorer) run() {
	commands := 6 + e.rnd.IntN(8)
	e.begin("start")
	for steps := 0; steps < 600; steps++ {
		synctest.Wait()
		if e.wrong == nil {
			e.wrong = e.oneActive()
		}
		calls := e.world.Pending()
		if commands > 0 && (len(calls) == 0 || e.rnd.IntN(4) == 0) {
			commands--
			e.begin(e.any())
			continue
		}
		if len(calls) == 0 {
			return
		}
		e.act(calls[e.rnd.IntN(len(calls))])
	}
}

// any returns what is done next.
func (e *explorer) any() string {
	return []string{
		"submit", "submit", "submit", "submit", "submit", "close", "close", "skip", "extend", "start", "start", "start",
		"message", "message", "message", "sweep", "sweep", "wait", "wait", "wait", "delete",
	}[e.rnd.IntN(20+e.rnd.IntN(2))]
}

// act decides what becomes of a call.
func (e *explorer) act(c *chaos.Call) {
	e.trace = append(e.trace, c.Process.Name+" "+c.Label)
	switch n := e.rnd.IntN(100); {
	case n < 4:
		e.met["lost"]++
		c.Lose(chaos.ErrTimeout)
	case n < 7:
		e.met["failed"]++
		c.Fail(chaos.ErrTimeout)
	case n < 10 && c.Write:
		e.met["late"]++
		e.late = append(e.late, landing{
			e.world.Now().Add(time.Duration(e.rnd.IntN(30)) * time.Second),
			c.Delay(chaos.ErrTimeout),
		})
	case n < 12:
		e.met["crash"]++
		c.Stop(e.rnd.IntN(2) == 0)
	default:
		c.Pass()
	}
}

// wait lets time go by, and late writes land.
func (e *explorer) wait(d time.Duration) {
	e.world.Advance(d)
	e.trace = append(e.trace, "wait "+d.String())
	var still []landing
	for _, l := range e.late {
		if l.by.After(e.world.Now()) {
			still = append(still, l)
		} else {
			l.land()
		}
	}
	e.late = still
}

// begin runs a command in a process of its own.
func (e *explorer) begin(what string) {
	if what == "wait" {
		e.wait(time.Duration(1+e.rnd.IntN(40)) * time.Second)
		return
	}
	e.running++
	p := e.world.Process(fmt.Sprintf("%02d %s", e.running, what))
	p.Skew = time.Duration(e.rnd.IntN(2000)-1000) * time.Millisecond
	e.trace = append(e.trace, "begin "+p.Name)
	gs := &game.Games{
		Tables: tables, Store: p.Tables(e.db), Queues: p.Queues(e.queues), Now: p.Now, Random: seeded(e.rnd.Uint64()),
		Log: slog.New(slog.DiscardHandler), Solve: shortest,
	}
	ctx := context.Background()
	number := e.latest()
	switch what {
	case "start":
		go func() {
			r, err := gs.Start(ctx, e.id, hostKey, 0)
			e.heard(err, func() { e.started[r.Number]++ })
		}()
	case "submit":
		e.submit(gs, number)
	case "close", "skip":
		go func() {
			_, err := gs.Close(ctx, e.id, hostKey, number, what == "skip")
			e.heard(err, func() { e.closed[number]++ })
		}()
	case "extend":
		go func() {
			_, err := gs.Extend(ctx, e.id, hostKey, number, game.Extension{By: 20 * time.Second})
			e.heard(err, func() { e.met["extended"]++ })
		}()
	case "delete":
		e.deletes = true
		go func() {
			err := gs.Delete(ctx, e.id, hostKey)
			e.heard(err, func() { e.gone = true; e.met["deleted"]++ })
		}()
	case "message":
		e.message(gs)
	case "sweep":
		go func() { _ = gs.SweepAll(ctx) }() // the next one goes on
	}
}

// latest returns the number of the last round that there is.
func (e *explorer) latest() int {
	g, err := e.calm.Game(context.Background(), e.id)
	if err != nil {
		return 1
	}
	return max(g.Rounds, 1)
}

// heard takes note of what somebody was told.
func (e *explorer) heard(err error, ok func()) {
	if err == nil {
		ok()
		return
	}
	e.met[string(fault.CodeOf(err))]++
}

func (e *explorer) submit(gs *game.Games, number int) {
	ctx := context.Background()
	g, err := e.calm.Game(ctx, e.id)
	if err != nil {
		return
	}
	r, err := e.calm.Round(ctx, e.id, number)
	if err != nil {
		return
	}
	moves, player := detour(e.t, g.Board, r, e.rnd, e.rnd.IntN(3)), fmt.Sprint("player ", e.rnd.IntN(4))
	go func() {
		a, err := gs.Submit(ctx, e.id, number, game.Submission{Player: player, Secret: e.secrets[player], Moves: moves})
		e.heard(err, func() {
			e.secrets[player] += a.Secret
			e.met["accepted"]++
			e.accepted = append(e.accepted, accepted{player, number, len(moves)})
		})
	}()
}

// message delivers a message, if there is one, and now and then leaves it for another time.
func (e *explorer) message(gs *game.Games) {
	ctx := context.Background()
	name := []string{game.QueueDue, game.QueueSolve}[e.rnd.IntN(2)]
	list, err := e.queues.Receive(ctx, name, 1, 30*time.Second)
	if err != nil || len(list) == 0 {
		return
	}
	again := e.rnd.IntN(5) == 0
	go func() {
		if err := deliver(ctx, gs, name, list[0]); err != nil {
			return // it comes back
		}
		if again {
			e.met["twice"]++
			return
		}
		_ = e.queues.Delete(ctx, name, list[0].Receipt) // or another has it
	}()
}

// rest lets everything pass from now on, until nothing is left to do, and looks at what there is.
func (e *explorer) rest() {
	for {
		synctest.Wait()
		calls := e.world.Pending()
		if len(calls) == 0 {
			break
		}
		for _, c := range calls {
			c.Pass()
			synctest.Wait()
		}
	}
	ctx := context.Background()
	e.wait(time.Minute)
	var failed error
	for range 10 {
		e.wait(time.Minute)
		failed = errors.Join(e.pump(game.QueueDue), e.pump(game.QueueSolve), e.calm.SweepAll(ctx))
	}
	if e.wrong == nil {
		e.wrong = errors.Join(failed, e.atRest(ctx))
	}
}

// pump delivers all messages that can be seen.
func (e *explorer) pump(name string) error {
	ctx := context.Background()
	for {
		list, err := e.queues.Receive(ctx, name, 1, time.Minute)
		if err != nil || len(list) == 0 {
			return err
		}
		if err := deliver(ctx, e.calm, name, list[0]); err != nil {
			return err
		}
		if err := e.queues.Delete(ctx, name, list[0].Receipt); err != nil {
			return err
		}
	}
}

func deliver(ctx context.Context, gs *game.Games, name string, m queue.Message) error {
	for _, trigger := range gs.Triggers() {
		if trigger.Queue == name {
			return trigger.Run(ctx, function.Invocation{Text: m.Text})
		}
	}
	return fmt.Errorf("no trigger for %s", name)
}

// oneActive holds that never two rounds are active.
func (e *explorer) oneActive() error {
	locks, err := rowsOf(context.Background(), e.db, tables.Games, "active|")
	if err == nil && len(locks) > 1 {
		err = fmt.Errorf("%d rounds are active", len(locks))
	}
	return err
}

// atRest looks at what there is once nothing happens any more.
func (e *explorer) atRest(ctx context.Context) error {
	due, err := rowsOf(ctx, e.db, tables.Due, "")
	if err != nil || len(due) > 0 {
		return errors.Join(err, fmt.Errorf("left to do: %v", due))
	}
	g, err := e.calm.Game(ctx, e.id)
	if err != nil {
		rows, lost := rowsOf(ctx, e.db, tables.Games, "")
		if !e.deletes || lost != nil || len(rows) > 0 {
			return fmt.Errorf("%w, with %d rows", err, len(rows))
		}
		return nil
	}
	if e.gone || g.Current > 0 {
		return fmt.Errorf("the game is there (deleted: %t), with round %d active", e.gone, g.Current)
	}
	if err := check(ctx, e.calm, e.db, e.id); err != nil {
		return err
	}
	for n := 1; n <= g.Rounds; n++ {
		r, err := e.calm.Round(ctx, e.id, n)
		if err != nil || r.Optimum.State != game.Solved {
			return fmt.Errorf("round %d is not solved: %w", n, err)
		}
		e.met[string(r.Status)]++
		if e.closed[n] > 1 || e.started[n] > 1 {
			return fmt.Errorf("round %d was started %d times and closed %d times", n, e.started[n], e.closed[n])
		}
	}
	for n := range e.started {
		if n > g.Rounds {
			return fmt.Errorf("round %d was started and is lost", n)
		}
	}
	return e.tookPart(ctx)
}

// tookPart holds that each accepted solution is among the solutions of its round.
func (e *explorer) tookPart(ctx context.Context) error {
	for _, a := range e.accepted {
		rows, err := rowsOf(ctx, e.db, tables.Games, fmt.Sprintf("solution|%04d|%04d|", a.round, a.moves))
		if err != nil {
			return err
		}
		found := false
		for _, row := range rows {
			found = found || strings.HasSuffix(row.Row, "|"+a.player)
		}
		if !found {
			return fmt.Errorf("%v was accepted and is lost", a)
		}
	}
	return nil
}
