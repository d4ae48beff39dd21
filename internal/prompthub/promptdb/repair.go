package promptdb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// messageVersion is the highest version of a message that this binary understands.
const messageVersion = 1

// A message names a prompt that may need a projection, and where its truth row is. Its
// property names are none that the Functions host gives a meaning to.
type message struct {
	Version int           `json:"v"`
	Author  prompt.UserID `json:"author"`
	Prompt  prompt.ID     `json:"prompt"`
	Voter   prompt.UserID `json:"voter,omitempty"` // of a vote
}

func (m message) text() string {
	m.Version = messageVersion
	b, err := json.Marshal(m)
	if err != nil {
		panic(err) // unreachable: strings and a number
	}
	return string(b)
}

func parseMessage(text string) (message, error) {
	var m message
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return m, fmt.Errorf("message: %w", err)
	}
	if m.Version < 1 || m.Version > messageVersion {
		return m, fmt.Errorf("message has version %d, this binary knows 1 to %d", m.Version, messageVersion)
	}
	if id, ok := parseID(string(m.Prompt)); !ok || m.Author == "" {
		return m, fmt.Errorf("message names prompt %q, and an author: %t", id, m.Author != "")
	}
	return m, nil
}

// minProjectionInterval is how long the projections of votes on one prompt are apart, so that a
// storm of votes makes few of them and never keeps the author from hiding the prompt.
const minProjectionInterval = 3 * time.Second

// Repair is the job of a message on QueueRepairs: it finishes what an interrupted writer left.
// It may run twice, late, in any order, next to anything else.
func (db *DB) Repair(ctx context.Context, text string) error {
	m, err := parseMessage(text)
	if err != nil {
		return err
	}
	o, err := db.reconcile(ctx, m.writer(db), upToDate, entries{})
	if err != nil || o.isDone() {
		return err
	}
	return db.requeue(ctx, QueueRepairs, text, o.retryAt)
}

// Move is the job of a message on QueueMoves, put there by a vote: it makes the voter's index
// row and the counts in all index rows follow, which moves the prompt between score buckets.
func (db *DB) Move(ctx context.Context, text string) error {
	m, err := parseMessage(text)
	if err != nil {
		return err
	}
	if m.Voter == "" {
		return errors.New("message names no voter")
	}
	var o outcome
	var unclear error
	var g errgroup.Group // the one neither needs nor stops the other
	g.Go(func() error {
		err := db.followVote(ctx, m)
		if errors.Is(err, errUnclear) {
			unclear = err
			return nil
		}
		return err
	})
	g.Go(func() (err error) {
		o, err = db.reconcile(ctx, m.writer(db), counts, entries{})
		return err
	})
	err = g.Wait()
	if unclear != nil {
		// It may land for 30 s yet, after all that a second try could see.
		return errors.Join(err, db.requeue(ctx, QueueMoves, text, db.now().Add(db.times.lease)))
	}
	if err != nil || o.isDone() {
		return err
	}
	until := o.retryAt
	if now := db.now(); until.Sub(now) <= minProjectionInterval && db.requeued.between(m.Prompt, now, until) {
		// the copy that another vote's message left comes later, and counts this vote too; what
		// waits for a lease it does not wait for
		return nil
	}
	if err := db.requeue(ctx, QueueMoves, text, until); err != nil {
		return err
	}
	db.requeued.put(m.Prompt, until)
	return nil
}

// A requeued remembers for which prompts this instance has put a message back, and for when. A
// storm of votes on one prompt leaves one message, not one for each vote.
type requeued struct {
	mu sync.Mutex
	m  map[prompt.ID]time.Time
}

func (d *requeued) between(id prompt.ID, now, until time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := d.m[id]
	return at.After(now) && !at.After(until)
}

func (d *requeued) put(id prompt.ID, at time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.m == nil || len(d.m) >= maxAuthors {
		d.m = make(map[prompt.ID]time.Time)
	}
	d.m[id] = at
}

// requeue puts a copy of a message back for later. Being busy is no failure.
func (db *DB) requeue(ctx context.Context, name, text string, until time.Time) error {
	delay := max(until.Sub(db.now()), 0) + db.jitter(time.Second)
	_, err := db.send(ctx, name, text, delay)
	return err
}

// What a projection is for.
type reason int

const (
	upToDate reason = iota // finish what is pending, follow the tally
	counts                 // the same, not too often
	rewrite                // write every index row again, whatever they hold
)

// writer returns the job of a message, which stays on its queue until the job is done.
func (m message) writer(db *DB) *writer {
	return &writer{db: db, author: m.Author, id: m.Prompt, holding: true}
}

// An outcome says what became of a reconciliation that did not fail: it is done, or to be tried
// again at a time, because somebody else is at work or was a moment ago.
type outcome struct{ retryAt time.Time }

var reconciled outcome

func retryAt(t time.Time) outcome { return outcome{retryAt: t} }

func (o outcome) isDone() bool { return o == reconciled }

// reconcile makes the index rows of a prompt agree with its truth row, and that with the tally.
// Entries beyond those of the prompt are deleted with it.
func (db *DB) reconcile(ctx context.Context, w *writer, why reason, stray entries) (outcome, error) {
	for range maxTries {
		o, err := db.reconcileOnce(ctx, w, why, stray)
		if !errors.Is(err, errConflict) {
			return o, err
		}
	}
	return reconciled, fmt.Errorf("prompt %s: changed by others %d times", w.id, maxTries)
}

// reconcileOnce does it with one look at the truth, and fails with errConflict where somebody
// changed that meanwhile.
func (db *DB) reconcileOnce(ctx context.Context, w *writer, why reason, stray entries) (outcome, error) {
	rec, tally, err := db.load(ctx, w)
	if err != nil || rec == nil || rec.purging {
		return reconciled, err
	}
	if o := db.waits(*rec, why); !o.isDone() {
		return o, nil
	}
	to, which, err := db.due(ctx, *rec, tally, why)
	if err != nil {
		return reconciled, err
	}
	if which == 0 {
		return db.afterCommits(w), nil
	}
	if which == theText {
		select {
		case db.texts <- struct{}{}:
			defer func() { <-db.texts }()
		case <-ctx.Done():
			return reconciled, unavailable(ctx.Err())
		}
	}
	if err := w.scheduleRepair(ctx); err != nil {
		return reconciled, err
	}
	was := *rec
	words, stray := stray.cutText()
	if was.lease = was.lease.alsoStale(stray); why == rewrite {
		was.backlog = was.backlog.rewriteAll(db.now(), words)
	}
	to.projectedAt = db.now()
	committed, err := w.commit(ctx, &was, to, which)
	switch {
	case errors.Is(err, errConflict):
		return reconciled, err
	case err != nil && w.holding && w.unknown > 0:
		// the host would let the message come again too soon
		return db.afterCommits(w), nil
	case err != nil:
		return reconciled, err
	}
	if rec.lease != nil {
		db.count(ctx, "repairs", 1)
	}
	return db.finish(ctx, committed, why, which)
}

// waits says when to try again where somebody else is at work on a prompt, or was a moment ago.
func (db *DB) waits(rec record, why reason) outcome {
	now := db.now()
	if rec.lease.held(now) {
		return retryAt(db.next(why, rec.lease.Until))
	}
	if next := rec.projectedAt.Add(minProjectionInterval); why == counts && rec.lease == nil && now.Before(next) {
		return retryAt(next)
	}
	return reconciled
}

// due returns what a prompt must be, and which of its rows must be written: none where all agree
// with the truth row, and that with the tally.
func (db *DB) due(ctx context.Context, rec record, tally prompt.Tally, why reason) (to record, which rowsOf, err error) {
	to = rec
	to.Tally = tally
	if why != counts { // after the truth row was read: a label that is moved later has its own message
		if to.InProduction, err = db.releasedNow(ctx, rec); err != nil {
			return to, 0, err
		}
	}
	agrees := why != rewrite && rec.lease == nil && tally == rec.Tally && sameProgramSummary(to.InProduction, rec.InProduction)
	switch {
	case !agrees:
		which = theRows | theText
	case rec.backlog != nil:
		which = theText
	}
	return to, which, nil
}

// afterCommits is the outcome of a job that has nothing to write: it waits for commits of its own
// that may still land.
func (db *DB) afterCommits(w *writer) outcome {
	if w.unknown > 0 {
		return retryAt(db.now().Add(db.times.lease))
	}
	return reconciled
}

// finish writes the index rows of a record that was just committed, and looks whether votes came
// meanwhile.
func (db *DB) finish(ctx context.Context, rec record, why reason, which rowsOf) (outcome, error) {
	var after prompt.Tally
	var g errgroup.Group
	g.Go(func() error { return db.project(ctx, rec, which) })
	g.Go(func() (err error) {
		after, err = db.tally(ctx, rec.ID)
		return err
	})
	if err := g.Wait(); err != nil {
		return reconciled, err
	}
	if !db.clear(ctx, rec, which) {
		// Its message is what would clear it: it must come again.
		return retryAt(db.next(why, rec.lease.Until)), nil
	}
	if after != rec.Tally {
		// Votes came between the first look at the tally and the commit. Their jobs may have found
		// nothing to do, or have projected a newer tally, which this one has just replaced.
		return retryAt(db.now().Add(minProjectionInterval)), nil
	}
	return reconciled, nil
}

// load reads the truth row and the tally of a prompt at once. Either may be the older one:
// reconcile looks at the tally again.
func (db *DB) load(ctx context.Context, w *writer) (rec *record, tally prompt.Tally, err error) {
	err = both(ctx, func(ctx context.Context) (err error) {
		tally, err = db.tally(ctx, w.id)
		return err
	}, func(ctx context.Context) (err error) {
		rec, err = db.record(ctx, w.author, w.id)
		return err
	})
	return rec, tally, err
}

// next says when to look again at a prompt that somebody else is at work on until a time. That is
// mostly done in a moment; the lists must follow votes within seconds, and who rewrites many
// prompts waits for each.
func (db *DB) next(why reason, until time.Time) time.Time {
	if soon := db.now().Add(minProjectionInterval); why != upToDate && soon.Before(until) {
		return soon
	}
	return until
}

// followVote sets the voter's index row to what the vote row says. The index row is read
// first: a vote that comes in between makes the write fail, and the job run again.
func (db *DB) followVote(ctx context.Context, m message) error {
	for range maxTries {
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
func (db *DB) followOnce(ctx context.Context, m message) (done bool, err error) {
	key := voterKey(m.Voter, m.Prompt)
	index, err := db.get(ctx, db.t.VotesByVoter, key)
	if err != nil {
		return false, err
	}
	vote, err := db.get(ctx, db.t.Votes, voteKey(m.Voter, m.Prompt))
	if err != nil {
		return false, err
	}
	op, ok := followOp(m, index, vote)
	if !ok {
		return true, nil
	}
	err = db.write(ctx, db.t.VotesByVoter, []table.Op{op})
	var failed *table.OpError
	switch {
	case err != nil && !settled(err):
		return false, fmt.Errorf("%w: %w", errUnclear, err)
	case err != nil && !errors.As(err, &failed):
		return false, unavailable(err)
	}
	return err == nil && op.Kind != table.Insert, nil
}

// followOp returns the write that makes the voter's index row follow the vote row, if one is
// needed.
func followOp(m message, index, vote *table.Row) (table.Op, bool) {
	v := prompt.None
	if vote != nil {
		v = voteOf(*vote)
	}
	key := voterKey(m.Voter, m.Prompt)
	switch {
	case v == prompt.None && index == nil:
		return table.Op{}, false
	case v == prompt.None:
		return table.Op{Kind: table.Delete, Row: table.Row{Key: key, ETag: index.ETag}}, true
	}
	row := table.Row{Key: key, Props: voterProps(m.Prompt, m.Author, v, vote.Props.Get("UpdatedAt").Time())}
	switch {
	case index == nil:
		return table.Op{Kind: table.Insert, Row: row}, true
	case index.Props.Equal(row.Props):
		return table.Op{}, false
	}
	row.ETag = index.ETag
	return table.Op{Kind: table.Replace, Row: row}, true
}
