package promptdb_test

import (
	"context"
	"errors"
	"strings"
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

// upTo lets calls pass until one begins with a label, which it returns.
func upTo(r *ring, label string) *chaos.Call {
	for {
		synctest.Wait()
		waiting := r.Pending()
		require.NotEmpty(r.t, waiting, "all is done, and no call began with %q", label)
		for _, c := range waiting {
			if strings.HasPrefix(c.Label, label) {
				return c
			}
		}
		waiting[0].Pass()
	}
}

func finishAll(r *ring, tk *task) error {
	for synctest.Wait(); !tk.settled(); synctest.Wait() {
		for _, c := range r.Pending() {
			c.Pass()
		}
	}
	return tk.err
}

func startPurge(r *ring) *task {
	return r.start("purge", func(ctx context.Context, db *promptdb.DB) error { _, err := db.Purge(ctx); return err })
}

// TestRowsUnderWayAreNoDifference: what an edit has committed and not yet written is no finding of
// verify or of anti-entropy, which would alert.
func TestRowsUnderWayAreNoDifference(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRing(t)
		p := r.seeded(1)
		tk := r.start("edit", func(ctx context.Context, db *promptdb.DB) error {
			_, err := db.Change(ctx, "ann", p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
				p.Title, p.Tags = "New words", nil
				return p, nil
			})
			return err
		})
		upTo(r, "write Prompts ").Pass()
		upTo(r, "write ")
		under := r.differences()
		_, differences, err := r.truth.Sweep(t.Context())
		require.NoError(t, err)
		require.NoError(t, finishAll(r, tk))
		for _, c := range r.Pending() {
			c.Pass()
		}
		synctest.Wait()
		require.Zero(t, differences)
		require.Empty(t, under)
		require.Empty(t, r.differences())
	})
}

// TestLabelOfWhatIsBeingDeleted: a label is not moved once the prompt is deleted, though the move
// began before.
func TestLabelOfWhatIsBeingDeleted(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRing(t)
		p := r.seeded(1)
		_, err := r.truth.SetLabels(t.Context(), "ann", p.ID, []string{"staging"}, 1, prompt.Actor{}, allow)
		require.NoError(t, err)
		tk := r.start("label", func(ctx context.Context, db *promptdb.DB) error {
			_, err := db.SetLabels(ctx, "ann", p.ID, []string{"production"}, 1, prompt.Actor{}, allow)
			return err
		})
		upTo(r, "write Prompts ")
		_, err = r.truth.Change(t.Context(), "ann", p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
			p.DeletedAt = r.Now()
			return p, nil
		})
		require.NoError(t, err)
		require.Equal(t, fault.NotFound, fault.Of(finishAll(r, tk)))
		for _, c := range r.Pending() { // its repair message goes
			c.Pass()
		}
		synctest.Wait()
	})
}

// TestGivenUpEditKeepsItsWakeUp: an edit that gave up while its commit may still land leaves its
// repair message.
func TestGivenUpEditKeepsItsWakeUp(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRing(t)
		p := r.seeded(1)
		n := 0
		tk := r.start("edit", func(ctx context.Context, db *promptdb.DB) error {
			_, err := db.Change(ctx, "ann", p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
				if n++; n > 1 {
					return p, errors.New("the catalog does not answer")
				}
				p.Title = "New words"
				return p, nil
			})
			return err
		})
		land := upTo(r, "write Prompts ").Delay(chaos.ErrTimeout)
		require.Error(t, finishAll(r, tk))
		for _, c := range r.Pending() {
			c.Pass()
		}
		synctest.Wait()
		r.Advance(25 * time.Second)
		land()
		r.rest()
		r.Advance(2 * time.Minute)
		require.Empty(t, r.differences())
	})
}

// TestPurgeAndRestore: purge marks a prompt under its ETag: one that was restored meanwhile stays.
func TestPurgeAndRestore(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRing(t)
		p := r.seeded(1)
		old(r, &p)
		tk := startPurge(r)
		upTo(r, "write Prompts u|ann: merge")
		with(restored)(r, &p) // by an instance whose clock is slow
		require.NoError(t, finishAll(r, tk))
		r.rest()
		require.Empty(t, r.differences())
		got, err := r.truth.Record(t.Context(), "ann", p.ID)
		require.NoError(t, err)
		require.True(t, got.Listed())
		require.Equal(t, int64(1), int64(r.rowsIn("PromptVotesByVoter", p.ID)))
	})
}

// TestPurgeLeavesAKeyTakenOver: purge leaves a key that a later prompt has taken over.
func TestPurgeLeavesAKeyTakenOver(t *testing.T) {
	w := newWorld(t)
	key := &promptdb.Idempotency{Key: "k", Body: "b"}
	first, _, err := w.Add(t.Context(), w.made("ann", draft("one")), key)
	require.NoError(t, err)
	_, err = w.Change(t.Context(), "ann", first.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
		p.DeletedAt = w.clock.Now()
		return p, nil
	})
	require.NoError(t, err)
	w.clock.Advance(time.Millisecond)
	second, made, err := w.Add(t.Context(), w.made("ann", draft("one")), key)
	require.NoError(t, err)
	require.True(t, made)
	w.clock.Advance(32 * 24 * time.Hour)
	n, err := w.Purge(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, n)
	again, made, err := w.Add(t.Context(), w.made("ann", draft("one")), key)
	require.NoError(t, err)
	require.False(t, made)
	require.Equal(t, second.ID, again.ID)
	w.run()
	w.check()
}

// TestRedriveStopped: redrive is stopped between its two calls: the message is on one queue at
// least.
func TestRedriveStopped(t *testing.T) {
	for n := range 3 {
		for _, landed := range []bool{false, true} {
			bubble(t, func(t *testing.T) {
				r := newRing(t)
				poison := queue.Poison(promptdb.QueueMoves)
				_, err := r.queues.Send(t.Context(), poison, "m", 0)
				require.NoError(t, err)
				r.start("redrive", func(ctx context.Context, db *promptdb.DB) error {
					_, err := db.Redrive(ctx)
					return err
				})
				for range n {
					synctest.Wait()
					r.Pending()[0].Pass()
				}
				synctest.Wait()
				r.Pending()[0].Stop(landed)
				synctest.Wait()
				a, _ := r.queues.Len(t.Context(), poison)
				b, _ := r.queues.Len(t.Context(), promptdb.QueueMoves)
				require.NotZero(t, a+b, "call %d, landed %v", n, landed)
			})
		}
	}
}

// TestPurgeLeavesAlone: purge leaves a prompt that is being projected, and one that is not due.
func TestPurgeLeavesAlone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRing(t)
		p := r.seeded(1)
		with(deleted)(r, &p) // today
		require.NoError(t, r.drain())
		_, err := r.store.Write(t.Context(), "DeletedPromptsIndex", table.Op{Kind: table.Insert, Row: table.Row{
			Key: table.Key{Partition: "deleted|20200101", Row: string(p.ID)},
			Props: table.Props{
				{Name: "PromptId", Value: table.String(string(p.ID))},
				{Name: "AuthorId", Value: table.String("ann")},
			},
		}})
		require.NoError(t, err)
		n, err := r.truth.Purge(t.Context())
		require.NoError(t, err)
		require.Zero(t, n, "deleted today")
		r.Advance(32 * 24 * time.Hour)
		r.start("edit", func(ctx context.Context, db *promptdb.DB) error { return change(title)(ctx, db, r, p) })
		upTo(r, "write Prompts ").Stop(true)
		synctest.Wait()
		n, err = r.truth.Purge(t.Context())
		require.NoError(t, err)
		require.Zero(t, n, "somebody is at work on it")
	})
}

// TestNothingRevivesAPurgingPrompt: nothing revives a prompt that is being purged.
func TestNothingRevivesAPurgingPrompt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRing(t)
		p := r.seeded(1)
		old(r, &p)
		tk := startPurge(r)
		upTo(r, "write Prompts u|ann: delete !mine") // paused
		require.Error(t, change(restored)(t.Context(), r.truth, r, p))
		require.NoError(t, r.truth.Repair(t.Context(), `{"v":1,"author":"ann","prompt":"`+string(p.ID)+`"}`))
		require.NoError(t, move("early 0")(t.Context(), r.truth, r, p))
		require.NoError(t, finishAll(r, tk))
		purged(t, r, p, true)
	})
}

// TestTwoTakeAKeyOver: two requests take over the key of a deleted prompt: one makes a prompt.
func TestTwoTakeAKeyOver(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRing(t)
		key := &promptdb.Idempotency{Key: "k", Body: "b"}
		add := func(ctx context.Context, db *promptdb.DB, entropy string) (prompt.Prompt, bool, error) {
			id, err := prompt.NewID(r.Now(), strings.NewReader(entropy))
			require.NoError(t, err)
			return db.Add(ctx, prompt.Prompt{
				ID: id, AuthorID: "ann", Draft: draft("Keyed"), CreatedAt: id.Time(),
				UpdatedAt: id.Time(), Revision: 1,
			}, key)
		}
		p, _, err := add(t.Context(), r.truth, "first entropy")
		require.NoError(t, err)
		with(deleted)(r, &p)
		made := true
		tk := r.start("add", func(ctx context.Context, db *promptdb.DB) (err error) {
			_, made, err = add(ctx, db, "second entropy")
			return err
		})
		upTo(r, "write Prompts ")
		_, _, err = add(t.Context(), r.truth, "third entropy!")
		require.NoError(t, err)
		r.Advance(time.Second)
		require.NoError(t, finishAll(r, tk))
		tk.process.Kill()
		require.False(t, made)
		r.rest()
		require.Empty(t, r.differences())
	})
}

// TestSweepGoesOn: sweep goes on where it stopped.
func TestSweepGoesOn(t *testing.T) {
	w := newWorld(t)
	for i := range 700 { // six rows each, and a locator, and their author's key
		w.add("ann", prompt.Draft{Title: "t", Text: numbered(i), Visibility: prompt.Private})
	}
	seen := 0
	for range 4 {
		n, _, err := w.Sweep(t.Context())
		require.NoError(t, err)
		seen += n
		w.clock.Advance(15 * time.Minute)
	}
	require.Equal(t, 4901, seen)
}

// TestGivenUpVoteWaitsForItsLateRow: a vote that gave up does not bring its repair message forward
// while a write may land.
func TestGivenUpVoteWaitsForItsLateRow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRing(t)
		p := r.seeded(1)
		tk := r.start("vote", castIt(p.ID))
		batch := upTo(r, "write PromptVotes p|")
		land := upTo(r, "write PromptVotesByVoter").Delay(chaos.ErrTimeout)
		batch.Fail(table.ErrBusy)
		with(hidden)(r, &p)
		require.Error(t, finishAll(r, tk))
		for _, c := range r.Pending() {
			c.Pass()
		}
		synctest.Wait()
		require.Equal(t, 0, r.rowsIn("PromptVotesByVoter", p.ID)-1)
		r.Advance(2 * time.Second)
		ms, err := r.queues.Receive(t.Context(), promptdb.QueueMoves, 1, time.Minute)
		require.NoError(t, err)
		for _, m := range ms {
			require.NoError(t, r.finish(promptdb.QueueMoves, m, r.truth.Move(t.Context(), m.Text)))
		}
		r.Advance(20 * time.Second)
		land()
		r.rest()
		require.Empty(t, r.differences())
	})
}

func castIt(id prompt.ID) func(context.Context, *promptdb.DB) error {
	return func(ctx context.Context, db *promptdb.DB) error {
		_, err := db.Vote(ctx, "vera", id, prompt.Like)
		return err
	}
}

type hanging struct{ table.DB }

func (h hanging) List(context.Context, string, table.Range, int, string) (table.Page, error) {
	time.Sleep(100 * time.Millisecond) // of a bubble
	return table.Page{}, chaos.ErrTimeout
}

func TestCatalogWhileStorageHangs(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		w.store = hanging{w.store}
		db := w.another()
		begun := time.Now()
		done := make(chan bool)
		for range 20 {
			go func() { _, err := db.Tags(t.Context()); done <- err != nil }()
		}
		for range 20 {
			require.True(t, <-done)
		}
		require.Less(t, time.Since(begun), 500*time.Millisecond)
	})
}
