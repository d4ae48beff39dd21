package promptdb_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/chaos"
)

func toVisibility(v prompt.Visibility) func(context.Context, *promptdb.DB, prompt.ID) error {
	return func(ctx context.Context, db *promptdb.DB, id prompt.ID) error {
		_, err := db.Change(ctx, "ann", id, func(p prompt.Prompt) (prompt.Prompt, error) {
			if p.Visibility == v {
				return p, promptdb.ErrUnchanged
			}
			p.Visibility = v
			p.Revision++
			return p, nil
		})
		return err
	}
}

// TestLatePublish: publish without an answer, then un-publish answered, then publish lands.
func TestLatePublish(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRing(t)
		p := r.seeded(1)
		require.NoError(t, toVisibility(prompt.Private)(t.Context(), r.truth, p.ID))
		require.Zero(t, r.publicRows(p.ID))
		tk := r.start("publish", func(ctx context.Context, db *promptdb.DB) error {
			return toVisibility(prompt.Public)(ctx, db, p.ID)
		})
		land := upTo(r, "write Prompts ").Delay(chaos.ErrKilled) // sent; the process dies
		tk.process.Kill()
		synctest.Wait()
		require.True(t, tk.settled())
		require.Error(t, tk.err)
		r.Advance(6 * time.Second)
		// answered: it is private
		require.NoError(t, toVisibility(prompt.Private)(t.Context(), r.truth, p.ID))
		r.Advance(6 * time.Second)
		land()
		r.rest()
		require.Empty(t, r.differences())
		require.Zero(t, r.publicRows(p.ID), "public rows after un-publishing answered success")
	})
}

// TestLateCommitOfAJob: a Move job whose commit lands late, and two votes that cancel each other.
func TestLateCommitOfAJob(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRing(t)
		p := r.seeded(9)
		votes("vera", prompt.Like)(r, &p)
		r.loseMessages(promptdb.QueueMoves)
		job := r.start("job", func(ctx context.Context, db *promptdb.DB) error {
			return db.Move(ctx, `{"v":1,"author":"ann","prompt":"`+string(p.ID)+`","voter":"vera"}`)
		})
		commit := upTo(r, "write Prompts ")
		r.Advance(5 * time.Second)
		land := commit.Delay(chaos.ErrTimeout)
		synctest.Wait()
		// The voter takes the like back; its own job runs and finds nothing to do.
		votes("vera", prompt.None)(r, &p)
		require.NoError(t, r.drain())
		_ = finishAll(r, job) // the task keeps its error
		t.Log("job answers", job.err, "the commit lands", r.Now().Sub(commit.Sent), "after it was sent")
		land()
		if job.err != nil {
			require.NoError(t, r.job(t.Context(), r.truth.Move, promptdb.QueueMoves,
				`{"v":1,"author":"ann","prompt":"`+string(p.ID)+`","voter":"vera"}`))
		}
		r.rest()
		r.Advance(5 * time.Minute)
		require.Empty(t, r.differences())
	})
}

// TestOldTally: a job reads the tally; a vote comes and its job projects it; only then the first
// reads the truth row, and projects the older tally.
func TestOldTally(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRing(t)
		p := r.seeded(8)
		votes("vera", prompt.Like)(r, &p)
		r.loseMessages(promptdb.QueueMoves)
		job := r.start("job", func(ctx context.Context, db *promptdb.DB) error { return repair(ctx, db, r, p) })
		synctest.Wait()
		for _, c := range r.Pending() {
			if strings.HasPrefix(c.Label, "list PromptVotes ") {
				c.Pass()
			}
		}
		synctest.Wait()
		require.Len(t, r.Pending(), 1, "the truth row is still to be read")
		votes("tenth", prompt.Like)(r, &p)
		require.NoError(t, r.drain())
		require.Empty(t, r.differences())
		require.NoError(t, finishAll(r, job))
		require.NotEmpty(t, r.differences(), "the job projected what it had read: else this test shows nothing")
		r.rest()
		require.Empty(t, r.differences())
	})
}

// TestInsertOfVoterRow: the voter's own row is inserted by a job after the vote was taken back.
func TestInsertOfVoterRow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRing(t)
		p := r.seeded(1)
		votes("vera", prompt.Like)(r, &p)
		// The vote's own write of the index row failed (time-out, never landed).
		vv := promptdb.DefaultTables().VotesByVoter
		for row, err := range table.All(t.Context(), r.store, vv, table.Range{Partition: "u|vera"}) {
			require.NoError(t, err)
			_, err := r.store.Write(t.Context(), vv,
				table.Op{Kind: table.Delete, Row: table.Row{Key: row.Key, ETag: table.Any}})
			require.NoError(t, err)
		}
		r.loseMessages(promptdb.QueueMoves)
		job := r.start("job", func(ctx context.Context, db *promptdb.DB) error {
			return move("vera")(ctx, db, r, p)
		})
		for synctest.Wait(); !r.Pending()[0].Write; synctest.Wait() {
			r.Pending()[0].Pass()
		}
		sent := r.Now()
		votes("vera", prompt.None)(r, &p)
		require.NoError(t, r.drain()) // its job, a second later, finds no row
		t.Log("the insert lands", r.Now().Sub(sent), "after it was sent")
		_ = finishAll(r, job) // the task keeps its error
		require.NoError(t, job.err)
		r.rest()
		require.Empty(t, r.differences())
	})
}

// TestPurgeTakesKey: purge removes the key that a later prompt has just taken over.
func TestPurgeTakesKey(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRing(t)
		key := &promptdb.Idempotency{Key: "k", Body: "b"}
		make := func(entropy string) (prompt.Prompt, bool) {
			id, err := prompt.NewID(r.Now(), strings.NewReader(entropy))
			require.NoError(t, err)
			p, isNew, err := r.truth.Add(t.Context(),
				prompt.Prompt{
					ID: id, AuthorID: "ann", Draft: draft("Keyed", "text"), CreatedAt: id.Time(),
					UpdatedAt: id.Time(), Revision: 1,
				}, key)
			require.NoError(t, err)
			return p, isNew
		}
		p, _ := make("first entropy")
		with(deleted)(r, &p)
		require.NoError(t, r.drain())
		r.Advance(32 * 24 * time.Hour)
		tk := startPurge(r)
		upTo(r, "write Prompts u|ann: delete !idem|")
		p2, isNew := make("other entropy")
		require.True(t, isNew)
		_ = finishAll(r, tk) // the task keeps its error
		require.NoError(t, tk.err)
		p3, isNew := make("third entropy!!")
		require.False(t, isNew, "the same key made %s and %s", p2.ID, p3.ID)
		r.rest()
		require.Empty(t, r.differences())
	})
}

// TestSweepVoterRow: a missing voter row.
func TestSweepVoterRow(t *testing.T) {
	w := newWorld(t)
	p := w.add("ann", draft("One"))
	w.vote("vera", p.ID, prompt.Like)
	w.run()
	vv := promptdb.DefaultTables().VotesByVoter
	for row, err := range table.All(t.Context(), w.store, vv, table.Range{}) {
		require.NoError(t, err)
		_, err := w.store.Write(t.Context(), vv,
			table.Op{Kind: table.Delete, Row: table.Row{Key: row.Key, ETag: table.Any}})
		require.NoError(t, err)
	}
	for range 3 {
		_, n, err := w.Sweep(t.Context())
		require.NoError(t, err)
		t.Log("differences", n)
		w.clock.Advance(25 * time.Hour)
		w.run()
	}
	w.check()
}

// TestSweepStuck: one row that cannot be read stops sweep and purge for all others.
func TestSweepStuck(t *testing.T) {
	w := newWorld(t)
	a := w.add("ann", draft("One", "text"))
	w.clock.Advance(time.Second)
	b := w.add("ben", draft("Two", "image"))
	w.run()
	_, err := w.store.Write(t.Context(), "Prompts", table.Op{Kind: table.Merge, Row: table.Row{
		Key: table.Key{Partition: "u|ann", Row: string(a.ID)}, ETag: table.Any,
		Props: table.Props{{Name: "RowsVersion", Value: table.Int32(promptdb.RowsVersion + 1)}},
	}})
	require.NoError(t, err)
	// Another prompt's index row is missing and a stray is there.
	for _, row := range w.IndexRows(b) {
		if row.Table == promptdb.DefaultTables().TagIndex {
			row.Row.Partition = "t|zzz"
			_, err = w.store.Write(t.Context(), row.Table, table.Op{Kind: table.Insert, Row: row.Row})
			require.NoError(t, err)
		}
	}
	for range 5 {
		_, n, err := w.Sweep(t.Context())
		t.Log("sweep", n, err)
		w.clock.Advance(25 * time.Hour)
	}
	rows := 0
	for _, err := range table.All(t.Context(), w.store, "TagIndex", table.Range{Partition: "t|zzz"}) {
		require.NoError(t, err)
		rows++
	}
	require.Zero(t, rows, "the stray row of another prompt is never removed")
}

func TestPurgeStuck(t *testing.T) {
	w := newWorld(t)
	a := w.add("ann", draft("One", "text"))
	b := w.add("ben", draft("Two", "image"))
	for _, p := range []prompt.Prompt{a, b} {
		_, err := w.Change(t.Context(), p.AuthorID, p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
			p.DeletedAt = w.clock.Now()
			return p, nil
		})
		require.NoError(t, err)
	}
	w.run()
	_, err := w.store.Write(t.Context(), "Prompts", table.Op{Kind: table.Merge, Row: table.Row{
		Key: table.Key{Partition: "u|ann", Row: string(a.ID)}, ETag: table.Any,
		Props: table.Props{{Name: "RowsVersion", Value: table.Int32(promptdb.RowsVersion + 1)}},
	}})
	require.NoError(t, err)
	w.clock.Advance(33 * 24 * time.Hour)
	n, err := w.Purge(t.Context())
	t.Log(n, err)
	_, err = w.Record(t.Context(), "ben", b.ID)
	require.Error(t, err, "ben's prompt is not purged because ann's cannot be")
}

// TestDueLag: a vote's message is dropped for a copy that comes a minute later.
func TestDueLag(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRing(t)
		p := r.seeded(0)
		// A crashed writer's lease lets a Move put a copy back for a minute.
		tk := startEdit(r, p)
		votes("v1", prompt.Like)(r, &p)
		r.Advance(2 * time.Second)
		ms, err := r.queues.Receive(t.Context(), promptdb.QueueMoves, 1, time.Minute)
		require.NoError(t, err)
		require.Len(t, ms, 1)
		// put back for the lease's end
		require.NoError(t, r.finish(promptdb.QueueMoves, ms[0], r.truth.Move(t.Context(), ms[0].Text)))
		// the task keeps its error
		_ = finishAll(r, tk)
		// the edit is done a moment later
		require.NoError(t, tk.err)
		begun := r.Now()
		// Two votes 1 s apart: the first projects, the second is calmed.
		for _, v := range []prompt.UserID{"v2", "v3"} {
			votes(v, prompt.Like)(r, &p)
			r.Advance(1100 * time.Millisecond)
			ms, err := r.queues.Receive(t.Context(), promptdb.QueueMoves, 1, time.Minute)
			require.NoError(t, err)
			require.Len(t, ms, 1)
			require.NoError(t, r.finish(promptdb.QueueMoves, ms[0], r.truth.Move(t.Context(), ms[0].Text)))
		}
		for {
			got, err := r.truth.Record(t.Context(), "ann", p.ID)
			require.NoError(t, err)
			if got.Likes == 3 {
				break
			}
			r.Advance(time.Second)
			for range 3 {
				ms, _ := r.queues.Receive(t.Context(), promptdb.QueueMoves, 1, time.Minute)
				for _, m := range ms {
					require.NoError(t, r.finish(promptdb.QueueMoves, m, r.truth.Move(t.Context(), m.Text)))
				}
			}
		}
		tk.process.Kill()
		require.Less(t, r.Now().Sub(begun), 15*time.Second, "lists lag behind votes by seconds")
	})
}

// TestLateIndexWrite: a writer that was throttled and slept through the end of its lease sends no
// index row any more.
func TestLateIndexWrite(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRing(t)
		p := r.seeded(1)
		tk := r.start("edit", func(ctx context.Context, db *promptdb.DB) error { return change(title)(ctx, db, r, p) })
		for hit := false; !hit; {
			synctest.Wait()
			calls := r.Pending()
			for _, c := range calls {
				if hit = strings.HasPrefix(c.Label, "write TitleSearchIndex q|new: upsert"); hit {
					c.Fail(table.ErrBusy)
					break
				}
			}
			if !hit {
				calls[0].Pass()
			}
		}
		synctest.Wait()
		for _, c := range r.Pending() { // its other rows land
			if c.Wake.IsZero() {
				c.Pass()
			}
		}
		r.Advance(promptdb.Lease + 5*time.Second)
		require.NoError(t, change(private)(t.Context(), r.truth, r, p))
		_ = finishAll(r, tk) // the task keeps its error
		tk.process.Kill()
		require.Zero(t, r.publicRows(p.ID))
	})
}

// TestDueKeepsUnknown: a job whose commit may still land asks to come again in a minute. Another
// vote's copy comes in 3 s, which is before the commit lands.
func TestDueKeepsUnknown(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRing(t)
		p := r.seeded(8)
		votes("vera", prompt.Like)(r, &p)
		r.loseMessages(promptdb.QueueMoves)
		edit := startEdit(r, p)
		second := make(chan struct{})
		job := r.start("jobs", func(ctx context.Context, db *promptdb.DB) error { // of one instance
			err := move("early 0")(ctx, db, r, p) // finds the edit at work: a copy is put back
			<-second
			return errors.Join(err, move("vera")(ctx, db, r, p))
		})
		passCalls(r, job)
		require.False(t, job.settled())
		passCalls(r, edit)
		require.True(t, edit.settled())
		require.NoError(t, edit.err)
		close(second)
		commit := upTo(r, "write Prompts ")
		land := commit.Delay(errors.New("connection reset"))
		synctest.Wait()
		votes("vera", prompt.None)(r, &p) // now the tally is that of the truth row again
		passCalls(r, job)
		require.True(t, job.settled())
		require.NoError(t, job.err)
		runUntil(r, commit.Sent.Add(20*time.Second))
		land()
		r.rest()
		r.Advance(5 * time.Minute)
		require.Empty(t, r.differences())
	})
}

// TestUnknownWhenResolveFails: nor can the row be read that would tell what became of a job's
// commit.
func TestUnknownWhenResolveFails(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRing(t)
		p := r.seeded(8)
		votes("vera", prompt.Like)(r, &p)
		r.loseMessages(promptdb.QueueMoves)
		job := r.start("job", func(ctx context.Context, db *promptdb.DB) error { return move("vera")(ctx, db, r, p) })
		commit := upTo(r, "write Prompts ")
		land := commit.Delay(errors.New("connection reset"))
		synctest.Wait()
		require.Len(t, r.Pending(), 1)
		r.Pending()[0].Fail(errors.New("connection refused"))
		votes("vera", prompt.None)(r, &p)
		require.NoError(t, finishAll(r, job), "it comes again by itself: the host would let it come too soon")
		runUntil(r, commit.Sent.Add(25*time.Second))
		land()
		r.rest()
		r.Advance(5 * time.Minute)
		require.Empty(t, r.differences())
	})
}

// TestLateRowOfAFailedJob: a vote's job writes the voter's own row, which lands late, and fails for
// another reason. The host lets it come again before that row has landed, when the voter has taken
// the vote back and there is nothing to do.
func TestLateRowOfAFailedJob(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRing(t)
		p := r.seeded(1)
		own := "write " + promptdb.DefaultTables().VotesByVoter
		vote := r.start("vote", func(ctx context.Context, db *promptdb.DB) error {
			return castVote(prompt.Like)(ctx, db, r, p)
		})
		for synctest.Wait(); !vote.settled(); synctest.Wait() {
			for _, c := range r.Pending() {
				if strings.HasPrefix(c.Label, own) {
					c.Fail(errors.New("connection reset"))
				} else {
					c.Pass()
				}
			}
		}
		require.NoError(t, vote.err)
		r.Advance(2 * time.Minute)
		ms, err := r.queues.Receive(t.Context(), promptdb.QueueMoves, 1, 10*time.Minute)
		require.NoError(t, err)
		require.Len(t, ms, 1)
		job := r.start("job", func(ctx context.Context, db *promptdb.DB) error { return db.Move(ctx, ms[0].Text) })
		var row *chaos.Call
		var land func()
		for synctest.Wait(); !job.settled(); synctest.Wait() {
			for _, c := range r.Pending() {
				switch {
				case strings.HasPrefix(c.Label, own):
					row, land = c, c.Delay(errors.New("connection reset"))
				case strings.HasPrefix(c.Label, "get Prompts "):
					c.Fail(errors.New("connection refused"))
				default:
					c.Pass()
				}
			}
		}
		require.Error(t, job.err)
		require.NotNil(t, row)
		require.NoError(t, r.finish(promptdb.QueueMoves, ms[0], job.err))
		votes("vera", prompt.None)(r, &p)
		runUntil(r, row.Sent.Add(25*time.Second))
		land()
		r.rest()
		r.Advance(5 * time.Minute)
		require.Empty(t, r.differences())
	})
}

// TestLateCommitOfAFailedJob: likewise it is the commit that lands late, while the voter's own row
// could not be read.
func TestLateCommitOfAFailedJob(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRing(t)
		p := r.seeded(8)
		votes("vera", prompt.Like)(r, &p)
		r.Advance(2 * time.Minute)
		ms, err := r.queues.Receive(t.Context(), promptdb.QueueMoves, 1, 10*time.Minute)
		require.NoError(t, err)
		require.Len(t, ms, 1)
		job := r.start("job", func(ctx context.Context, db *promptdb.DB) error { return db.Move(ctx, ms[0].Text) })
		own := "get " + promptdb.DefaultTables().VotesByVoter
		var commit *chaos.Call
		var land func()
		for synctest.Wait(); !job.settled(); synctest.Wait() {
			for _, c := range r.Pending() {
				switch {
				case strings.HasPrefix(c.Label, own), strings.HasPrefix(c.Label, "get Prompts ") && commit != nil:
					c.Fail(errors.New("connection refused"))
				case strings.HasPrefix(c.Label, "write Prompts "):
					commit, land = c, c.Delay(errors.New("connection reset"))
				default:
					c.Pass()
				}
			}
		}
		require.Error(t, job.err)
		require.NotNil(t, commit)
		require.NoError(t, r.finish(promptdb.QueueMoves, ms[0], job.err))
		votes("vera", prompt.None)(r, &p) // now the tally is that of the truth row again
		runUntil(r, commit.Sent.Add(25*time.Second))
		land()
		r.rest()
		r.Advance(5 * time.Minute)
		require.Empty(t, r.differences())
	})
}

// passCalls lets the calls of a task pass until it makes no more.
func passCalls(r *ring, tk *task) {
	for {
		synctest.Wait()
		calls := slices.DeleteFunc(r.Pending(), func(c *chaos.Call) bool { return c.Process != tk.process })
		if len(calls) == 0 {
			return
		}
		calls[0].Pass()
	}
}

// startEdit starts an edit and lets it come to its index rows.
func startEdit(r *ring, p prompt.Prompt) *task {
	tk := r.start("edit", func(ctx context.Context, db *promptdb.DB) error { return change(title)(ctx, db, r, p) })
	for range 6 {
		synctest.Wait()
		r.Pending()[0].Pass()
	}
	synctest.Wait()
	require.NotEmpty(r.t, r.Pending(), "the edit is at its index rows")
	return tk
}

// runUntil runs what the queues hold until a time.
func runUntil(r *ring, until time.Time) {
	for r.Now().Before(until) {
		_, err := r.runDue()
		require.NoError(r.t, err)
		r.Advance(time.Second)
	}
}

// TestSweepLeavesTallies: only a person can say whether the tally or the votes are right, so
// nothing is written.
func TestSweepLeavesTallies(t *testing.T) {
	w := newWorld(t)
	p := w.made("ann", draft("liked", "text"))
	p.Tally = prompt.Tally{Likes: 17}
	_, err := w.BulkLoad(t.Context(), likedByNobody([]prompt.Prompt{p}), 8)
	require.NoError(t, err)
	truth := func() table.Row {
		row, err := w.store.Get(t.Context(), promptdb.DefaultTables().Prompts,
			table.Key{Partition: "u|ann", Row: string(p.ID)})
		require.NoError(t, err)
		return row
	}
	before := truth()
	_, differences, err := w.Sweep(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, differences)
	require.Equal(t, before.ETag, truth().ETag)
}

// TestRewriteWaitsForSeconds: anti-entropy and reindex meet a prompt that is being edited. Its
// lease is a minute, the edit takes a moment.
func TestRewriteWaitsForSeconds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRing(t)
		p := r.seeded(1)
		edit := startEdit(r, p)
		rewrite := r.start("rewrite", func(ctx context.Context, db *promptdb.DB) error {
			return db.Rewrite(ctx, "ann", p.ID)
		})
		for {
			synctest.Wait()
			calls := slices.DeleteFunc(r.Pending(), func(c *chaos.Call) bool { return c.Process != rewrite.process })
			require.NotEmpty(t, calls)
			if wake := calls[0].Wake; !wake.IsZero() {
				require.LessOrEqual(t, wake.Sub(r.Now()), 5*time.Second)
				break
			}
			calls[0].Pass()
		}
		passCalls(r, edit)
		passCalls(r, rewrite)
		require.True(t, rewrite.settled())
		require.NoError(t, rewrite.err)
		r.rest()
		require.Empty(t, r.differences())
	})
}
