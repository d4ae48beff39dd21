package promptdb_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/chaos"
	"prompthub/internal/testing/golden"
)

// A crashCase is a command or job, and the conditions after it was tried and everything came to
// rest.
type crashCase struct {
	name  string
	setup func(r *ring, p *prompt.Prompt) // before, without faults
	// setup leaves work to do: the queues are not drained after it
	open bool
	do   func(ctx context.Context, db *promptdb.DB, r *ring, p prompt.Prompt) error
	// after checks the state at rest. ok says whether the last try answered success.
	after func(t *testing.T, r *ring, p prompt.Prompt, ok bool)
}

// TestCrashTable stops the process at every call of every command, before the call and after it
// landed, and also lets the call fail there while the process goes on. Then the queues do the rest,
// Verify must find nothing, and the same command again must succeed. The calls are listed in
// testdata: a new one shows there.
func TestCrashTable(t *testing.T) {
	t.Parallel()
	crashTable(t, false, "calls.txt")
}

// TestCrashTableWhole does the same where the storage changes tables and queues together.
func TestCrashTableWhole(t *testing.T) {
	t.Parallel()
	crashTable(t, true, "calls_whole.txt")
}

func crashTable(t *testing.T, whole bool, file string) {
	var calls strings.Builder
	cells := 0
	all := sow(t, whole)
	for _, c := range crashCases() {
		s := all.furnished(t, c)
		labels := s.record(t, c)
		require.NotEmpty(t, labels, c.name)
		fmt.Fprintf(&calls, "# %s: %d calls\n%s\n\n", c.name, len(labels), strings.Join(labels, "\n"))
		for n := range labels {
			for _, f := range mishaps {
				if cells++; testing.Short() && cells%sampled != 0 {
					continue
				}
				s.inject(t, c, n, f, fmt.Sprintf("%s, call %d (%s) %s", c.name, n, labels[n], f.name))
			}
		}
	}
	t.Logf("%d commands and jobs, %d cells", len(crashCases()), cells)
	golden.Check(t, filepath.Join("testdata", file), calls.String())
}

// sampled is the part of the cells that is tried where time is short: some at every call, and each
// mishap as often, as its number and theirs have no divisor in common.
const sampled = 5

// A mishap is what becomes of one call.
type mishap struct {
	name string
	hit  func(r *ring, c *chaos.Call)
}

var mishaps = []mishap{
	{"stopped before", func(_ *ring, c *chaos.Call) { c.Stop(false) }},
	{"stopped after it landed", func(_ *ring, c *chaos.Call) { c.Stop(true) }},
	{"failed", func(_ *ring, c *chaos.Call) { c.Fail(chaos.ErrTimeout) }},
	{"landed and reported as failed", func(_ *ring, c *chaos.Call) { c.Lose(chaos.ErrTimeout) }},
	{"lands 29 s late", func(r *ring, c *chaos.Call) {
		r.late = append(r.late, landing{r.Now().Add(29 * time.Second), c.Delay(chaos.ErrTimeout)})
	}},
	{"throttled", func(_ *ring, c *chaos.Call) { c.Fail(table.ErrBusy) }},
}

// ids and keys hide what differs from run to run in a label: ids of prompts, and keys of authors.
var (
	ids  = regexp.MustCompile(`[0-9]{19}\|[0-9A-Z]{26}|[0-9A-Z]{26}`)
	keys = regexp.MustCompile(`a_[a-z2-7]{26}`)
)

// A sown is a store as it is when all rests after a prompt and its votes were written, which every
// cell begins with, and what else its case wants to be there.
type sown struct {
	store  *memory.Tables
	whole  bool
	prompt prompt.Prompt
	at     time.Time
}

func sow(t *testing.T, whole bool) (s sown) {
	bubble(t, func(t *testing.T) {
		r := newRingOf(t, whole)
		s = sown{whole: whole, prompt: r.seeded(9)}
		s.store, s.at = r.store, r.Now()
	})
	return s
}

// furnished returns the store with the rows that a case needs, if all rests after that too. Each
// cell itself starts work that must be under way.
func (s sown) furnished(t *testing.T, c crashCase) sown {
	if c.setup == nil || c.open {
		return s
	}
	bubble(t, func(t *testing.T) {
		r := ringOver(t, s.whole, s.store.Clone(), s.at)
		c.setup(r, &s.prompt)
		require.NoError(t, r.drain())
		r.Advance(time.Hour)
		require.Empty(t, r.timers)
		s.store, s.at = r.store, r.Now()
	})
	return s
}

// record returns the calls of a command that meets no fault.
func (s sown) record(t *testing.T, c crashCase) []string {
	var labels []string
	bubble(t, func(t *testing.T) {
		r, p := s.prepare(t, c)
		ok := r.attempt(c, p, func(call *chaos.Call) {
			label := keys.ReplaceAllString(ids.ReplaceAllString(call.Label, "{id}"), "{key}")
			labels = append(labels, strings.ReplaceAll(label, "\x00", `\x00`)) // the file stays a text
			call.Pass()
		})
		require.True(t, ok, c.name)
		r.rest()
		require.Empty(t, r.differences(), c.name)
		c.after(t, r, p, true)
	})
	return labels
}

// inject runs a command with a fault at its call n, and again after that.
func (s sown) inject(t *testing.T, c crashCase, n int, f mishap, cell string) {
	bubble(t, func(t *testing.T) {
		r, p := s.prepare(t, c)
		i := 0
		ok := r.attempt(c, p, func(call *chaos.Call) {
			if i == n {
				f.hit(r, call)
			} else {
				call.Pass()
			}
			i++
		})
		r.rest()
		require.Empty(t, r.differences(), cell)
		c.after(t, r, p, ok)
		again := r.attempt(c, p, func(call *chaos.Call) { call.Pass() })
		require.True(t, again, "%s: the same command again", cell)
		r.rest()
		require.Empty(t, r.differences(), cell)
		c.after(t, r, p, true)
	})
}

func (s sown) prepare(t *testing.T, c crashCase) (*ring, prompt.Prompt) {
	r, p := ringOver(t, s.whole, s.store.Clone(), s.at), s.prompt
	if c.open {
		c.setup(r, &p)
	}
	return r, p
}

// attempt runs a command in a process of its own, one call at a time, and reports whether it
// answered success.
func (r *ring) attempt(c crashCase, p prompt.Prompt, let func(*chaos.Call)) bool {
	tk := r.start("p", func(ctx context.Context, db *promptdb.DB) error { return c.do(ctx, db, r, p) })
	for range 20_000 {
		synctest.Wait()
		calls := r.Pending()
		if len(calls) == 0 {
			if tk.settled() {
				return tk.err == nil
			}
			continue
		}
		call := calls[0]
		if call.Wake.After(r.Now()) {
			r.pass(call.Wake.Sub(r.Now()))
			call.Pass()
			continue
		}
		let(call)
	}
	r.t.Error("no end")
	return false
}

// pass lets time go by, and late writes land.
func (r *ring) pass(d time.Duration) {
	r.Advance(d)
	var still []landing
	for _, l := range r.late {
		if l.at.After(r.Now()) {
			still = append(still, l)
		} else {
			l.land()
		}
	}
	r.late = still
}

// rest lets late writes land and the queues drain.
func (r *ring) rest() {
	r.pass(30 * time.Second)
	require.NoError(r.t, r.drain())
	r.Advance(10 * time.Minute) // the lock of a message that a stopped job held
	require.NoError(r.t, r.drain())
	if len(r.timers) > 0 {
		r.Advance(25 * time.Hour) // until the next pass
	}
	for _, timer := range r.timers {
		require.NoError(r.t, timer())
	}
	r.timers = nil
	require.NoError(r.t, r.drain())
}

func change(edit func(r *ring, p *prompt.Prompt)) func(context.Context, *promptdb.DB, *ring, prompt.Prompt) error {
	return func(ctx context.Context, db *promptdb.DB, r *ring, p prompt.Prompt) error {
		_, err := db.Change(ctx, "ann", p.ID, func(now prompt.Prompt) (prompt.Prompt, error) {
			next := now
			edit(r, &next)
			if next.Title == now.Title && next.Visibility == now.Visibility && next.Deleted() == now.Deleted() &&
				next.Hidden() == now.Hidden() && len(next.Tags) == len(now.Tags) {
				return now, promptdb.ErrUnchanged
			}
			next.Revision++
			return next, nil
		})
		return err
	}
}

// is returns a check that the prompt is as the edit makes it if that was answered with success.
func is(want func(p prompt.Prompt) bool, public bool) func(*testing.T, *ring, prompt.Prompt, bool) {
	return func(t *testing.T, r *ring, p prompt.Prompt, ok bool) {
		got, err := r.truth.Record(context.Background(), "ann", p.ID)
		require.NoError(t, err)
		if ok {
			require.True(t, want(got), "%+v", got)
			require.Equal(t, public, r.publicRows(p.ID) > 0)
		}
	}
}

func with(edit func(r *ring, p *prompt.Prompt)) func(*ring, *prompt.Prompt) {
	return func(r *ring, p *prompt.Prompt) {
		require.NoError(r.t, change(edit)(context.Background(), r.truth, r, *p))
	}
}

func title(_ *ring, p *prompt.Prompt)   { p.Title = "New words" }
func tags(_ *ring, p *prompt.Prompt)    { p.Tags = []prompt.Tag{"image"} }
func private(_ *ring, p *prompt.Prompt) { p.Visibility = prompt.Private }
func public(_ *ring, p *prompt.Prompt)  { p.Visibility = prompt.Public }
func deleted(r *ring, p *prompt.Prompt) {
	if !p.Deleted() {
		p.DeletedAt = r.Now()
	}
}
func restored(_ *ring, p *prompt.Prompt) { p.DeletedAt = time.Time{} }
func hidden(r *ring, p *prompt.Prompt) {
	if !p.Hidden() {
		p.HiddenAt, p.HiddenBy, p.HiddenReason = r.Now(), "mod", "why"
	}
}

func unhidden(_ *ring, p *prompt.Prompt) {
	p.HiddenAt, p.HiddenBy, p.HiddenReason = time.Time{}, "", ""
}

func crashCases() []crashCase {
	cases := []crashCase{
		{name: "create", do: create(nil), after: created},
		{name: "create with a key", do: create(&promptdb.Idempotency{Key: "k", Body: "b"}), after: createdOnce},
		{
			name: "replace the title", do: change(title),
			after: is(func(p prompt.Prompt) bool { return p.Title == "New words" }, true),
		},
		{name: "drop a tag", do: change(tags), after: is(func(p prompt.Prompt) bool { return len(p.Tags) == 1 }, true)},
		{
			name: "un-publish", do: change(private),
			after: is(func(p prompt.Prompt) bool { return p.Visibility == prompt.Private }, false),
		},
		{
			name: "publish", setup: with(private), do: change(public),
			after: is(func(p prompt.Prompt) bool { return p.Visibility == prompt.Public }, true),
		},
		{name: "delete", do: change(deleted), after: is(prompt.Prompt.Deleted, false)},
		{
			name: "restore", setup: with(deleted), do: change(restored),
			after: is(func(p prompt.Prompt) bool { return !p.Deleted() }, true),
		},
		{name: "hide", do: change(hidden), after: is(prompt.Prompt.Hidden, false)},
		{
			name: "undo hide", setup: with(hidden), do: change(unhidden),
			after: is(func(p prompt.Prompt) bool { return !p.Hidden() }, true),
		},
		{
			name: "edit after a crash", setup: crashed, open: true, do: change(title),
			after: is(func(p prompt.Prompt) bool { return p.Title == "New words" }, true),
		},
		{
			name: "repair after a crash", setup: crashedAlone, open: true, do: repair,
			after: is(func(prompt.Prompt) bool { return true }, true),
		},
		{name: "reindex one", do: func(ctx context.Context, db *promptdb.DB, _ *ring, p prompt.Prompt) error {
			return db.Rewrite(ctx, "ann", p.ID)
		}, after: is(prompt.Prompt.Listed, true)},
		{
			name: "move inside a bucket", setup: unmoved("early 8", prompt.None), open: true, do: move("early 8"),
			after: is(func(p prompt.Prompt) bool { return p.Likes == 8 }, true),
		},
		{
			name: "move across buckets", setup: unmoved("tenth", prompt.Like), open: true, do: move("tenth"),
			after: is(func(p prompt.Prompt) bool { return p.Likes == 10 }, true),
		},
		{name: "sweep", setup: broken, open: true, do: sweep, after: is(prompt.Prompt.Listed, true)},
		{name: "count tags", do: func(ctx context.Context, db *promptdb.DB, _ *ring, _ prompt.Prompt) error {
			_, err := db.CountTags(ctx)
			return err
		}, after: is(prompt.Prompt.Listed, true)},
		{name: "snapshot of the search index", do: keepSnapshot, after: snapshotServes},
		{name: "purge", setup: old, do: purge, after: purged},
		{name: "purge with a key", setup: oldWithKey, do: purge, after: purged},
		{name: "purge what includes others", setup: oldWithIncludes, do: purge, after: purged},
		{
			name: "save a version with files", setup: twoWithFiles, do: filesAt(4, "b", "both", "c", "three"),
			after: hasFiles,
		},
		{name: "delete a version with files", setup: twoWithFiles, do: deleteVersion, after: hasFiles},
		{name: "purge what has files", setup: oldWithFiles, do: purge, after: purged},
		{name: "sweep files", setup: unnamedFiles, open: true, do: sweep, after: hasFiles},
		{name: "save a version that includes others", do: saveIncluding, after: includingSaved},
		{name: "delete a version that includes others", setup: twoIncluding, do: deleteVersion, after: versionDeleted},
		{name: "rename", do: rename, after: renamed},
		{name: "put a label on", setup: twoIncluding, do: putLabel, after: labelled(1)},
		{name: "recall a version", setup: labelOnTwo, do: recallVersion, after: recalled},
		{name: "take a recall back", setup: recallThree, do: reinstateVersion, after: labelled(3)},
		{name: "take a move of a label back", setup: labelOnTwo, do: undoLabel, after: undone},
		{name: "choose a handle", do: chooseHandle, after: handleChosen},
		{name: "give a handle", do: giveHandle, after: handleGiven},
		{name: "make a workspace", do: makeWorkspace, after: workspaceMade},
		{name: "make an invitation", setup: withWorkspace, do: makeInvite, after: invitesListed},
		{name: "withdraw an invitation", setup: withInvite, do: withdrawInvite, after: inviteGone},
		{name: "accept an invitation", setup: withInvite, do: acceptInvite, after: accepted},
		{name: "make an account by an invitation", setup: withInvite, do: joinAnew, after: joined},
		{name: "make a member", setup: withWorkspace, do: putMember, after: isMember(true)},
		{name: "end a membership", setup: withMember, do: removeMember, after: isMember(false)},
		{name: "make a collection", do: makeCollection("ann"), after: collectionIs("ann", 1)},
		{
			name: "make a collection of a workspace", setup: withWorkspace, do: makeCollection(shelf),
			after: collectionIs(shelf, 1),
		},
		{
			name: "change a collection of a workspace", setup: withCollection, do: changeCollection,
			after: collectionIs(shelf, 2),
		},
		{
			name: "delete a collection of a workspace", setup: withCollection, do: deleteCollection,
			after: collectionIs(shelf, 0),
		},
		{name: "save in a workspace", setup: ruled, do: saveRuled, after: hasEvents},
		{name: "open a proposal", setup: ruled, do: openProposal, after: proposalIs(prompt.ProposalOpen)},
		{
			name: "approve a proposal, which moves its label", setup: withProposal, do: approve,
			after: proposalIs(prompt.Merged),
		},
		{name: "reject a proposal", setup: withProposal, do: reject, after: proposalIs(prompt.Rejected)},
		{
			name: "delete a prompt with an open proposal", setup: withProposal, do: removeProposed,
			after: proposalIs(prompt.Rejected),
		},
		{name: "move a user", do: moveUser("ann", "new|ann"), after: signsInAs("new|ann", "ann")},
		{
			name: "move a user on", setup: movedUser, do: moveUser("ann", "newer|ann"),
			after: signsInAs("newer|ann", "new|ann"),
		},
		{
			name: "move a user back", setup: movedUser, do: moveUser("new|ann", "ann"),
			after: signsInAs("ann", "new|ann"),
		},
		{name: "ask to be erased", do: askToBeErased, after: toBeErased},
		{name: "keep an account", setup: markedToBeErased, do: keptAfterAll, after: is(prompt.Prompt.Listed, true)},
		{name: "erase an account", setup: markedToBeErased, do: erase, after: erased},
		{name: "make an access token", do: makeToken, after: tokenMade},
		{name: "revoke an access token", setup: hasToken, do: revokeToken, after: tokenRevoked},
		{name: "use an access token", setup: hasToken, do: useToken, after: tokenUsed},
		{
			name: "redrive", setup: poisoned, open: true, do: redriven,
			after: is(func(p prompt.Prompt) bool { return p.Likes == 10 }, true),
		},
	}
	for _, from := range []prompt.Vote{prompt.None, prompt.Like, prompt.Dislike} {
		for _, to := range []prompt.Vote{prompt.None, prompt.Like, prompt.Dislike} {
			if from != to {
				cases = append(cases, crashCase{
					name:  fmt.Sprintf("vote from %s to %s", from, to),
					setup: votes("vera", from), do: castVote(to), after: voted(to),
				})
			}
		}
	}
	return cases
}

func create(key *promptdb.Idempotency) func(context.Context, *promptdb.DB, *ring, prompt.Prompt) error {
	return func(ctx context.Context, db *promptdb.DB, r *ring, _ prompt.Prompt) error {
		id, err := prompt.NewID(r.Now(), strings.NewReader("another entropy"))
		if err != nil {
			return err
		}
		p := prompt.Prompt{
			ID: id, AuthorID: "ann", Draft: draft("Second one", "text"), CreatedAt: id.Time(),
			UpdatedAt: id.Time(), Revision: 1,
		}
		_, _, err = db.Add(ctx, p, key)
		return err
	}
}

func (r *ring) count(t *testing.T, title string) int {
	page, err := r.truth.Mine(context.Background(), "ann", promptdb.Filter{}, promptdb.ByNewest, "", 100)
	require.NoError(t, err)
	n := 0
	for _, it := range page.Items {
		if it.Title == title {
			n++
		}
	}
	return n
}

func created(t *testing.T, r *ring, _ prompt.Prompt, ok bool) {
	if ok {
		require.NotZero(t, r.count(t, "Second one"))
	}
}

func createdOnce(t *testing.T, r *ring, p prompt.Prompt, ok bool) {
	created(t, r, p, ok)
	require.LessOrEqual(t, r.count(t, "Second one"), 1)
}

// crashed leaves a prompt whose writer stopped in the middle of its index rows, a minute ago: where
// the storage changes all together, one of a version that did not know that.
func crashed(r *ring, p *prompt.Prompt) {
	whole := r.whole
	r.whole = false
	defer func() { r.whole = whole }()
	tk := r.start("crashed", func(ctx context.Context, db *promptdb.DB) error {
		return change(func(_ *ring, p *prompt.Prompt) { p.Title = "Half way" })(ctx, db, r, *p)
	})
	for i := 0; ; i++ {
		synctest.Wait()
		calls := r.Pending()
		if i == 6 {
			calls[0].Stop(true)
			break
		}
		calls[0].Pass()
	}
	synctest.Wait()
	require.True(r.t, tk.settled())
	r.Advance(promptdb.Lease + 5*time.Second) // its lease has ended, its repair message has not come
}

// crashedAlone is the same where the repair message is lost too.
func crashedAlone(r *ring, p *prompt.Prompt) {
	crashed(r, p)
	r.loseMessages(promptdb.QueueRepairs)
}

// loseMessages empties a queue, so that no other repair message helps the test.
func (r *ring) loseMessages(name string) {
	r.Advance(100 * time.Second)
	ms, err := r.queues.Receive(context.Background(), name, 32, time.Minute)
	require.NoError(r.t, err)
	for _, m := range ms {
		require.NoError(r.t, r.queues.Delete(context.Background(), name, m.Receipt))
	}
}

func repair(ctx context.Context, db *promptdb.DB, r *ring, p prompt.Prompt) error {
	return r.job(ctx, db.Repair, promptdb.QueueRepairs, fmt.Sprintf(`{"v":1,"author":"ann","prompt":"%s"}`, p.ID))
}

// job runs a job as the host does: what it fails to finish comes again.
func (r *ring) job(ctx context.Context, run func(context.Context, string) error, name, text string) error {
	err := run(ctx, text)
	if err != nil {
		_, sendErr := r.queues.Send(context.Background(), name, text, 20*time.Second)
		return errors.Join(err, sendErr)
	}
	return nil
}

func votes(voter prompt.UserID, v prompt.Vote) func(*ring, *prompt.Prompt) {
	return func(r *ring, p *prompt.Prompt) {
		_, err := r.truth.Vote(context.Background(), voter, p.ID, v)
		require.NoError(r.t, err)
	}
}

// unmoved is a vote whose job has not run yet.
func unmoved(voter prompt.UserID, v prompt.Vote) func(*ring, *prompt.Prompt) {
	return func(r *ring, p *prompt.Prompt) {
		votes(voter, v)(r, p)
		r.loseMessages(promptdb.QueueMoves)
		require.NotEmpty(r.t, r.differences())
	}
}

// move is the job of a vote.
func move(voter prompt.UserID) func(context.Context, *promptdb.DB, *ring, prompt.Prompt) error {
	return func(ctx context.Context, db *promptdb.DB, r *ring, p prompt.Prompt) error {
		return r.job(ctx, db.Move, promptdb.QueueMoves,
			fmt.Sprintf(`{"v":1,"author":"ann","prompt":"%s","voter":"%s"}`, p.ID, voter))
	}
}

func castVote(v prompt.Vote) func(context.Context, *promptdb.DB, *ring, prompt.Prompt) error {
	return func(ctx context.Context, db *promptdb.DB, _ *ring, p prompt.Prompt) error {
		_, err := db.Vote(ctx, "vera", p.ID, v)
		return err
	}
}

func voted(v prompt.Vote) func(*testing.T, *ring, prompt.Prompt, bool) {
	return func(t *testing.T, r *ring, p prompt.Prompt, ok bool) {
		got, err := r.truth.VoteRow(context.Background(), "vera", p.ID)
		require.NoError(t, err)
		if ok {
			require.Equal(t, v, got)
		}
	}
}

// TestOvertakenJobOfAVote lets a job of a vote read what the voter said, and write it only after
// the voter said something else and the job of that was done.
func TestOvertakenJobOfAVote(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRing(t)
		p := r.seeded(1)
		const voter = "early 0"
		index := promptdb.DefaultTables().VotesByVoter
		rows := func() (rows []table.Row) {
			for row, err := range table.All(t.Context(), r.store, index, table.Range{Partition: "u|early%200"}) {
				require.NoError(t, err)
				rows = append(rows, row)
			}
			return rows
		}
		// The index row is old, so that the job has something to write.
		_, err := r.store.Write(t.Context(), index, table.Op{Kind: table.Merge, Row: table.Row{
			Key: rows()[0].Key, ETag: table.Any, Props: table.Props{{Name: "VoteValue", Value: table.Int32(-1)}},
		}})
		require.NoError(t, err)
		job := r.start("job", func(ctx context.Context, db *promptdb.DB) error {
			return move(voter)(ctx, db, r, p)
		})
		for synctest.Wait(); !r.Pending()[0].Write; synctest.Wait() {
			r.Pending()[0].Pass()
		}
		votes(voter, prompt.Dislike)(r, &p)
		require.NoError(t, r.drain())
		r.Advance(10 * time.Second) // so that the job does not come again by itself
		r.Pending()[0].Pass()
		_ = finishAll(r, job) // the task keeps its error
		r.rest()
		require.Empty(t, r.differences())
		require.Equal(t, int64(prompt.Dislike), rows()[0].Props.Get("VoteValue").Int())
	})
}

// TestLateRowOfAVote lets the voter's own row of a first vote land long after it was sent, when the
// voter has said something else and the job of that is done: the repair message of the first vote
// must still be to come.
func TestLateRowOfAVote(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRing(t)
		p := r.seeded(1)
		first := r.start("first", func(ctx context.Context, db *promptdb.DB) error {
			_, err := db.Vote(ctx, "vera", p.ID, prompt.Like)
			return err
		})
		var land func()
		for synctest.Wait(); !first.settled() || len(r.Pending()) > 0; synctest.Wait() {
			for _, c := range r.Pending() {
				if c.Write && strings.Contains(c.Label, promptdb.DefaultTables().VotesByVoter) {
					land = c.Delay(chaos.ErrTimeout)
				} else {
					c.Pass()
				}
			}
		}
		require.NoError(t, first.err)
		votes("vera", prompt.Dislike)(r, &p)
		for range 20 {
			r.Advance(time.Second)
			for name, job := range jobs(r.truth) {
				ms, err := r.queues.Receive(t.Context(), name, 32, 10*time.Minute)
				require.NoError(t, err)
				for _, m := range ms {
					require.NoError(t, r.finish(name, m, job(t.Context(), m.Text)))
				}
			}
		}
		land()
		r.rest()
		require.Empty(t, r.differences())
	})
}

// broken takes an index row away and adds one that should not be there, as no command does.
func broken(r *ring, p *prompt.Prompt) {
	ctx := context.Background()
	rows := r.truth.IndexRows(*p)
	for _, row := range rows {
		if row.Table == promptdb.DefaultTables().TagIndex {
			_, err := r.store.Write(ctx, row.Table,
				table.Op{Kind: table.Delete, Row: table.Row{Key: row.Row.Key, ETag: table.Any}})
			require.NoError(r.t, err)
			row.Row.Partition = "t|games"
			_, err = r.store.Write(ctx, row.Table, table.Op{Kind: table.Insert, Row: row.Row})
			require.NoError(r.t, err)
			break
		}
	}
	require.Len(r.t, r.differences(), 2)
}

func sweep(ctx context.Context, db *promptdb.DB, r *ring, _ prompt.Prompt) error {
	_, _, err := db.Sweep(ctx)
	if err != nil {
		r.timers = append(r.timers, func() error {
			_, _, err := r.truth.Sweep(context.Background())
			return err
		})
	}
	return err
}

func keepSnapshot(ctx context.Context, db *promptdb.DB, r *ring, _ prompt.Prompt) error {
	_, err := db.KeepSnapshotFrom(ctx, 1)
	if err != nil {
		r.timers = append(r.timers, func() error {
			_, err := r.truth.KeepSnapshotFrom(context.Background(), 1)
			return err
		})
	}
	return err
}

// snapshotServes: whatever there is of a snapshot, an index that is loaded has all.
func snapshotServes(t *testing.T, r *ring, _ prompt.Prompt, _ bool) {
	require.Empty(t, newFollower(r, 1).differences())
}

func old(r *ring, p *prompt.Prompt) {
	with(deleted)(r, p)
	r.Advance(32 * 24 * time.Hour)
}

// oldWithKey is the same for a prompt that was created with a key.
func oldWithKey(r *ring, p *prompt.Prompt) {
	key := &promptdb.Idempotency{Key: "k", Body: "b"}
	require.NoError(r.t, create(key)(context.Background(), r.truth, r, *p))
	page, err := r.truth.Mine(context.Background(), "ann", promptdb.Filter{}, promptdb.ByNewest, "", 100)
	require.NoError(r.t, err)
	for _, it := range page.Items {
		if it.Title == "Second one" {
			*p = it.Prompt
		}
	}
	old(r, p)
}

// poisoned is a vote whose message has become poison.
func poisoned(r *ring, p *prompt.Prompt) {
	unmoved("tenth", prompt.Like)(r, p)
	text := fmt.Sprintf(`{"v":1,"author":"ann","prompt":"%s","voter":"tenth"}`, p.ID)
	_, err := r.queues.Send(context.Background(), queue.Poison(promptdb.QueueMoves), text, 0)
	require.NoError(r.t, err)
}

func redriven(ctx context.Context, db *promptdb.DB, r *ring, _ prompt.Prompt) error {
	_, err := db.Redrive(ctx)
	if err != nil {
		r.timers = append(r.timers, func() error { // somebody runs it again
			_, err := r.truth.Redrive(context.Background())
			return err
		})
	}
	return nil // its success is what comes after
}

func purge(ctx context.Context, db *promptdb.DB, r *ring, _ prompt.Prompt) error {
	_, err := db.Purge(ctx)
	if err != nil {
		r.timers = append(r.timers, func() error {
			_, err := r.truth.Purge(context.Background())
			return err
		})
	}
	return err
}

func purged(t *testing.T, r *ring, p prompt.Prompt, _ bool) {
	_, err := r.truth.Record(context.Background(), "ann", p.ID)
	require.Error(t, err)
	for _, name := range promptdb.DefaultTables().All() {
		for row, err := range table.All(context.Background(), r.store, name, table.Range{}) {
			require.NoError(t, err)
			require.NotContains(t, row.Key.String(), string(p.ID), name)
			require.NotContains(t, row.Row, "!idem|", name)
		}
	}
}
