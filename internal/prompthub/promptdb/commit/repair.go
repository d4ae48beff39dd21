package commit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/errgroup"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// messageVersion is the highest version of a message that this binary understands.
const messageVersion = 1

// A Message names a prompt that may need a projection, and where its truth row is. Its
// property names are none that the Functions host gives a meaning to.
type Message struct {
	Version int           `json:"v"`
	Author  prompt.UserID `json:"author"`
	Prompt  prompt.ID     `json:"prompt"`
	Voter   prompt.UserID `json:"voter,omitempty"` // of a vote
}

func (m Message) text() string {
	m.Version = messageVersion
	b, err := json.Marshal(m)
	if err != nil {
		panic(err) // unreachable: strings and a number
	}
	return string(b)
}

func parseMessage(text string) (Message, error) {
	var m Message
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return m, fmt.Errorf("message: %w", err)
	}
	if m.Version < 1 || m.Version > messageVersion {
		return m, fmt.Errorf("message has version %d, this binary knows 1 to %d", m.Version, messageVersion)
	}
	if id, ok := schema.ParseID(string(m.Prompt)); !ok || m.Author == "" {
		return m, fmt.Errorf("message names prompt %q, and an author: %t", id, m.Author != "")
	}
	return m, nil
}

// minProjectionInterval is how long the projections of votes on one prompt are apart, so that a
// storm of votes makes few of them and never keeps the author from hiding the prompt.
const minProjectionInterval = 3 * time.Second

// Repair is the job of a message on QueueRepairs: it finishes what an interrupted writer left.
// It may run twice, late, in any order, next to anything else.
func (db *Committer) Repair(ctx context.Context, text string) error {
	m, err := parseMessage(text)
	if err != nil {
		return err
	}
	o, err := db.Reconcile(ctx, m.writer(db), upToDate, schema.Entries{})
	if err != nil || o.IsDone() {
		return err
	}
	return db.requeue(ctx, QueueRepairs, text, o.RetryAt)
}

// Move is the job of a message on QueueMoves, put there by a vote: it makes the voter's index
// row and the counts in all index rows follow, which moves the prompt between score buckets.
func (db *Committer) Move(ctx context.Context, text string) error {
	m, err := parseMessage(text)
	if err != nil {
		return err
	}
	if m.Voter == "" {
		return errors.New("message names no voter")
	}
	var o Outcome
	var unclear error
	w := m.writer(db)
	var g errgroup.Group // the one neither needs nor stops the other
	g.Go(func() error {
		err := db.FollowVote(ctx, m)
		if errors.Is(err, errUnclear) {
			unclear = err
			return nil
		}
		return err
	})
	g.Go(func() (err error) {
		o, err = db.Reconcile(ctx, w, counts, schema.Entries{})
		return err
	})
	err = g.Wait()
	if unclear != nil || err != nil && w.unknown > 0 {
		// A write may land for 30 s yet, after all that a second try could see.
		return errors.Join(err, db.requeue(ctx, QueueMoves, text, db.Now().Add(db.Protocol.Lease)))
	}
	if err != nil || o.IsDone() {
		return err
	}
	until := o.RetryAt
	if now := db.Now(); until.Sub(now) <= minProjectionInterval && db.requeued.between(m.Prompt, now, until) {
		// the copy that another vote's message left comes later, and counts this vote too; it waits for
		// no lease
		return nil
	}
	if err := db.requeue(ctx, QueueMoves, text, until); err != nil {
		return err
	}
	db.requeued.m.Add(m.Prompt, until)
	return nil
}

// A requeued remembers for which prompts this instance has put a message back, and for when. A
// storm of votes on one prompt leaves one message, not one for each vote.
type requeued struct {
	m *lru.Cache[prompt.ID, time.Time]
}

func (d requeued) between(id prompt.ID, now, until time.Time) bool {
	at, _ := d.m.Get(id)
	return at.After(now) && !at.After(until)
}

// requeue puts a copy of a message back for later. Being busy is no failure.
func (db *Committer) requeue(ctx context.Context, name, text string, until time.Time) error {
	delay := max(until.Sub(db.Now()), 0) + db.Jitter(time.Second)
	_, err := db.send(ctx, name, text, delay)
	return err
}

// A Reason is what a projection is for.
type Reason int

// The reasons.
const (
	upToDate Reason = iota // finish what is pending, follow the tally
	counts                 // the same, not too often
	Rewrite                // write every index row again, whatever they hold
)

// writer returns the job of a message, which stays on its queue until the job is done.
func (m Message) writer(db *Committer) *Writer {
	return &Writer{db: db, author: m.Author, id: m.Prompt, Holding: true}
}

// An Outcome says what became of a reconciliation that did not fail: it is done, or to be tried
// again at a time, because somebody else is at work or was a moment ago.
type Outcome struct{ RetryAt time.Time }

var reconciled Outcome

func retryAt(t time.Time) Outcome { return Outcome{RetryAt: t} }

// IsDone reports whether nothing is left to try again.
func (o Outcome) IsDone() bool { return o == reconciled }

// Reconcile makes the index rows of a prompt agree with its truth row, and that with the tally.
// Entries beyond those of the prompt are deleted with it.
func (db *Committer) Reconcile(ctx context.Context, w *Writer, why Reason, stray schema.Entries) (Outcome, error) {
	for range rowstore.MaxTries {
		o, err := db.reconcileOnce(ctx, w, why, stray)
		switch {
		case err == nil:
			return o, nil
		case errors.Is(err, rowstore.ErrConflict):
		case w.Holding && w.unknown > 0: // the host would let the message come again too soon
			return db.afterCommits(w), nil
		default:
			return o, err
		}
	}
	return reconciled, fmt.Errorf("prompt %s: changed by others %d times", w.id, rowstore.MaxTries)
}

// reconcileOnce does it with one look at the truth, and fails with rowstore.ErrConflict where
// somebody changed that meanwhile.
func (db *Committer) reconcileOnce(ctx context.Context, w *Writer, why Reason, stray schema.Entries) (Outcome, error) {
	rec, tally, err := db.load(ctx, w)
	if err != nil || rec == nil || rec.Purging {
		return reconciled, err
	}
	if o := db.waits(*rec, why); !o.IsDone() {
		return o, nil
	}
	to, which, err := db.due(ctx, *rec, tally, why)
	if err != nil {
		return reconciled, err
	}
	if which == 0 {
		return db.afterCommits(w), nil
	}
	if err := w.scheduleRepair(ctx); err != nil {
		return reconciled, err
	}
	if err := db.dropUnwritten(ctx, rec); err != nil {
		return reconciled, err
	}
	was := *rec
	was.Lease = was.Lease.AlsoStale(stray)
	to.ProjectedAt = db.Now()
	committed, err := w.commit(ctx, &was, to, which)
	if err != nil {
		return reconciled, err
	}
	if rec.Lease != nil {
		db.Count(ctx, "repairs", 1)
	}
	o, err := db.finish(ctx, committed, why, which)
	if err != nil || !o.IsDone() || schema.SameProgramSummary(to.InProduction, rec.InProduction) {
		return o, err
	}
	// The label production may have moved between the look at it and the commit, and the job of that
	// move may have found the truth row as it should be, before this one replaced it.
	released, err := db.ReleasedNow(ctx, committed)
	if err == nil && !schema.SameProgramSummary(released, committed.InProduction) {
		err = rowstore.ErrConflict
	}
	return o, err
}

// waits says when to try again where somebody else is at work on a prompt, or was a moment ago.
func (db *Committer) waits(rec schema.Record, why Reason) Outcome {
	now := db.Now()
	if rec.Lease.Held(now) {
		return retryAt(db.next(why, rec.Lease.Until))
	}
	if next := rec.ProjectedAt.Add(minProjectionInterval); why == counts && rec.Lease == nil && now.Before(next) {
		return retryAt(next)
	}
	return reconciled
}

// due returns what a prompt must be, and which of its rows must be written: none where all agree
// with the truth row, and that with the tally.
func (db *Committer) due(ctx context.Context, rec schema.Record, tally prompt.Tally,
	why Reason,
) (to schema.Record, which schema.RowsOf, err error) {
	to = rec
	to.Tally = tally
	if why != counts { // after the truth row was read: a label that is moved later has its own message
		if to.InProduction, err = db.ReleasedNow(ctx, rec); err != nil {
			return to, 0, err
		}
	}
	agrees := why != Rewrite && rec.Lease == nil && tally == rec.Tally &&
		schema.SameProgramSummary(to.InProduction, rec.InProduction)
	if !agrees {
		which = schema.TheRows
	}
	if rec.Lease != nil || why == Rewrite { // or else they are there
		which |= schema.TheLog
	}
	return to, which, nil
}

// afterCommits is the outcome of a job that has nothing to write: it waits for commits of its own
// that may still land.
func (db *Committer) afterCommits(w *Writer) Outcome {
	if w.unknown > 0 {
		return retryAt(db.Now().Add(db.Protocol.Lease))
	}
	return reconciled
}

// finish writes the index rows of a record that was just committed, and looks whether votes came
// meanwhile.
func (db *Committer) finish(ctx context.Context, rec schema.Record, why Reason, which schema.RowsOf) (Outcome, error) {
	var after prompt.Tally
	var g errgroup.Group
	g.Go(func() error { return db.project(ctx, rec, which) })
	g.Go(func() (err error) {
		after, err = db.Tally(ctx, rec.ID)
		return err
	})
	if err := g.Wait(); err != nil {
		return reconciled, err
	}
	if !db.clear(ctx, rec) {
		// Its message is what would clear it: it must come again.
		return retryAt(db.next(why, rec.Lease.Until)), nil
	}
	if after != rec.Tally {
		// Votes came between the first look at the tally and the commit. Their jobs may have found
		// nothing to do, or have projected a newer tally, which this one has just replaced.
		return retryAt(db.Now().Add(minProjectionInterval)), nil
	}
	return reconciled, nil
}

// load reads the truth row and the tally of a prompt at once. Either may be the older one:
// reconcile looks at the tally again.
func (db *Committer) load(ctx context.Context, w *Writer) (rec *schema.Record, tally prompt.Tally, err error) {
	err = rowstore.Both(ctx, func(ctx context.Context) (err error) {
		tally, err = db.Tally(ctx, w.id)
		return err
	}, func(ctx context.Context) (err error) {
		rec, err = db.Record(ctx, w.author, w.id)
		return err
	})
	return rec, tally, err
}

// next says when to look again at a prompt that somebody else is at work on until a time. That is
// mostly done in a moment; the lists must follow votes within seconds, and a job that rewrites many
// prompts waits for each.
func (db *Committer) next(why Reason, until time.Time) time.Time {
	if soon := db.Now().Add(minProjectionInterval); why != upToDate && soon.Before(until) {
		return soon
	}
	return until
}

// FollowVote sets the voter's index row to what the vote row says. The index row is read
// first: a vote that comes in between makes the write fail, and the job run again.
func (db *Committer) FollowVote(ctx context.Context, m Message) error {
	for range rowstore.MaxTries {
		done, err := db.followOnce(ctx, m)
		if done || err != nil {
			return err
		}
	}
	return fault.New(fault.Unavailable, "the vote was changed meanwhile")
}

// errUnclear means that a write may have landed, or will, or never.
var errUnclear = errors.New("outcome unknown")

// followOnce does it once. It is not done where another look is needed: somebody changed the row,
// or it was not there, so that no ETag guards it against a vote that came in between.
func (db *Committer) followOnce(ctx context.Context, m Message) (done bool, err error) {
	key := schema.VoterKey(m.Voter, m.Prompt)
	index, err := db.GetRow(ctx, db.T.VotesByVoter, key)
	if err != nil {
		return false, err
	}
	vote, err := db.GetRow(ctx, db.T.Votes, schema.VoteKey(m.Voter, m.Prompt))
	if err != nil {
		return false, err
	}
	op, ok := FollowOp(m, index, vote)
	if !ok {
		return true, nil
	}
	err = db.Write(ctx, db.T.VotesByVoter, []table.Op{op})
	var failed *table.OpError
	switch {
	case err != nil && !settled(err):
		return false, fmt.Errorf("%w: %w", errUnclear, err)
	case err != nil && !errors.As(err, &failed):
		return false, rowstore.Unavailable(err)
	}
	return err == nil && op.Kind != table.Insert, nil
}

// FollowOp returns the write that makes the voter's index row follow the vote row, if one is
// needed.
func FollowOp(m Message, index, vote *table.Row) (table.Op, bool) {
	v := prompt.None
	if vote != nil {
		v = schema.VoteIn(*vote)
	}
	key := schema.VoterKey(m.Voter, m.Prompt)
	switch {
	case v == prompt.None && index == nil:
		return table.Op{}, false
	case v == prompt.None:
		return table.Op{Kind: table.Delete, Row: table.Row{Key: key, ETag: index.ETag}}, true
	}
	row := table.Row{Key: key, Props: schema.VoterProps(m.Prompt, m.Author, v, vote.Props.Get("UpdatedAt").Time())}
	switch {
	case index == nil:
		return table.Op{Kind: table.Insert, Row: row}, true
	case index.Props.Equal(row.Props):
		return table.Op{}, false
	}
	row.ETag = index.ETag
	return table.Op{Kind: table.Replace, Row: row}, true
}
