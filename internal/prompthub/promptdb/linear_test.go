package promptdb_test

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

// An act is one operation of a history.
type act struct {
	voter int // -1: reads the tally
	set   bool
	value prompt.Vote
}

// A seen is what an operation answered.
type seen struct {
	value prompt.Vote
	tally prompt.Tally
}

// ofHistories is in the hour in which all votes of a history are cast.
var ofHistories = time.Date(2026, 3, 1, 13, 0, 0, 0, time.UTC)

// ballots is the state of a prompt: the vote of each voter.
type ballots [4]prompt.Vote

func (b ballots) tally() prompt.Tally {
	var t prompt.Tally
	for _, v := range b {
		t = t.Add(prompt.Cast{}, prompt.Cast{Vote: v, At: ofHistories})
	}
	return t
}

// votesModel says which histories of votes and of reads of the tally are possible if each operation
// happens at one moment between its call and its answer.
var votesModel = porcupine.Model{
	Init: func() any { return ballots{} },
	Step: func(state, input, output any) (bool, any) {
		b, in := state.(ballots), input.(act)
		switch {
		case in.set:
			b[in.voter] = in.value
			return true, b
		case in.voter >= 0:
			return output.(seen).value == b[in.voter], b
		}
		return output.(seen).tally == b.tally(), b
	},
	DescribeOperation: func(in, out any) string { return fmt.Sprintf("%+v → %+v", in, out) },
}

// TestVotesAreLinearizable records histories of four voters and a reader whose calls are
// interleaved at random, with lost answers, late writes and crashes, and lets porcupine look for an
// order that explains each. An operation that was not answered may have happened at any time after
// its call, or never. In a quarter of them the storage changes tables and queues together.
func TestVotesAreLinearizable(t *testing.T) {
	t.Parallel()
	n := 1500
	if testing.Short() {
		n = 150
	}
	unanswered := 0
	for seed := range n {
		ops := history(t, uint64(seed), seed%4 == 3)
		for _, op := range ops {
			if op.Return == math.MaxInt64 {
				unanswered++
			}
		}
		result := porcupine.CheckOperationsTimeout(votesModel, ops, time.Minute)
		require.Equal(t, porcupine.Ok, result, "seed %d: %+v", seed, ops)
	}
	t.Logf("%d histories, %d operations without an answer", n, unanswered)
	require.NotZero(t, unanswered)
}

// history runs one.
func history(t *testing.T, seed uint64, whole bool) []porcupine.Operation {
	var ops []porcupine.Operation
	bubble(t, func(t *testing.T) {
		e := newExplorer(t, seed, 3, whole, promptdb.Times{})
		p := e.seeded(0)
		if seed%2 == 0 {
			e.crashAt = e.rnd.IntN(60)
		}
		rec := &recorder{}
		for voter := range 4 {
			acts := make([]act, 3)
			for i := range acts {
				acts[i] = act{voter: voter, set: e.rnd.IntN(3) > 0, value: prompt.Vote(e.rnd.IntN(3) - 1)}
			}
			e.tasks = append(e.tasks, e.ring.start(fmt.Sprint("voter ", voter), rec.run(p.ID, voter, acts)))
		}
		reads := []act{{voter: -1}, {voter: -1}, {voter: -1}, {voter: -1}}
		e.tasks = append(e.tasks, e.ring.start("reader", rec.run(p.ID, 4, reads)))
		e.mix()
		ops = rec.ops
	})
	return ops
}

// mix lets calls go on in random order until all tasks have ended.
func (e *explorer) mix() {
	for e.steps = 0; ; e.steps++ {
		synctest.Wait()
		e.expire()
		synctest.Wait()
		calls := e.Pending()
		if len(calls) == 0 {
			return
		}
		for _, c := range calls {
			e.prio[c.Process.Name] = e.rnd.Float64()
		}
		if e.rnd.IntN(10) == 0 {
			e.tick(time.Duration(e.rnd.IntN(3)) * time.Second)
		}
		e.choose(calls)
	}
}

// A recorder takes down when operations begin and end.
type recorder struct {
	clock atomic.Int64
	mu    sync.Mutex
	ops   []porcupine.Operation
}

func (r *recorder) run(id prompt.ID, client int, acts []act) func(context.Context, *promptdb.DB) error {
	return func(ctx context.Context, db *promptdb.DB) error {
		for _, a := range acts {
			op := porcupine.Operation{ClientId: client, Input: a, Call: r.clock.Add(1), Return: math.MaxInt64}
			out, err := perform(ctx, db, id, a)
			if err == nil {
				op.Output, op.Return = out, r.clock.Add(1)
			}
			if err == nil || a.set { // a read without an answer says nothing
				r.mu.Lock()
				r.ops = append(r.ops, op)
				r.mu.Unlock()
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
}

func perform(ctx context.Context, db *promptdb.DB, id prompt.ID, a act) (seen, error) {
	voter := prompt.UserID(fmt.Sprint("voter ", a.voter))
	switch {
	case a.set:
		_, err := db.Vote(ctx, voter, id, a.value)
		return seen{}, err
	case a.voter >= 0:
		v, _, err := db.VoteOf(ctx, voter, id)
		return seen{value: v}, err
	}
	v, err := db.Get(ctx, "reader", id)
	return seen{tally: v.Tally}, err
}
