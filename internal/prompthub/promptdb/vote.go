package promptdb

import (
	"context"
	"errors"
	"hash/fnv"
	"log/slog"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
)

// shards is how many rows share the tally of a prompt, so that as many voters can write at once.
const shards = 8

// voteRepairAfter is how long the repair message of a vote waits: its batch, which is sent within
// repairFresh, has landed or never will.
const voteRepairAfter = repairFresh + landWithin

// maxVoteTries bounds how often a vote is tried against others on the same share of the tally.
const maxVoteTries = 100

func shard(voter prompt.UserID) int {
	h := fnv.New32a()
	h.Write([]byte(voter))
	return int(h.Sum32() % shards)
}

// voteRows are what a vote reads before it writes: one partition.
type voteRows struct {
	vote    *table.Row // the voter's, nil for none
	locator *table.Row
	share   *table.Row // of the tally, where this voter counts
	tally   prompt.Tally
}

// voteOf returns what a row of a vote says, the vote's own or the voter's.
func voteOf(row table.Row) prompt.Vote { return prompt.Vote(row.Props.Get("VoteValue").Int()) }

// castOf returns that vote, and since when it is what it is.
func castOf(row table.Row) prompt.Cast {
	return prompt.Cast{Vote: voteOf(row), At: row.Props.Get("UpdatedAt").Time()}
}

// cast returns the voter's vote as it was read.
func (b voteRows) cast() prompt.Cast {
	if b.vote == nil {
		return prompt.Cast{}
	}
	return castOf(*b.vote)
}

func (b voteRows) value() prompt.Vote { return b.cast().Vote }

// voteRows reads the voter's row and the headers of the prompt's partition, at once.
func (db *DB) voteRows(ctx context.Context, voter prompt.UserID, id prompt.ID) (voteRows, error) {
	var b voteRows
	var rows []table.Row
	err := both(ctx, func(ctx context.Context) (err error) {
		b.vote, err = db.get(ctx, db.t.Votes, voteKey(voter, id))
		return err
	}, func(ctx context.Context) (err error) {
		rows, err = db.header(ctx, id)
		return err
	})
	if err != nil {
		return voteRows{}, err
	}
	own := tallyKey(id, shard(voter))
	for i, row := range rows {
		switch row.Key {
		case locatorKey(id):
			b.locator = &rows[i]
		case own:
			b.share = &rows[i]
		}
	}
	b.tally = sum(rows)
	return b, nil
}

// header reads the locator and the tally rows of a prompt.
func (db *DB) header(ctx context.Context, id prompt.ID) ([]table.Row, error) {
	r := table.Prefix(locatorKey(id).Partition, headerPrefix)
	var rows []table.Row
	for next := ""; ; {
		page, err := db.store.List(ctx, db.t.Votes, r, 100, next)
		if err != nil {
			return nil, unavailable(err)
		}
		rows = append(rows, page.Rows...)
		if next = page.Next; next == "" {
			return rows, nil
		}
	}
}

// tally reads the votes of a prompt as one number each.
func (db *DB) tally(ctx context.Context, id prompt.ID) (prompt.Tally, error) {
	rows, err := db.header(ctx, id)
	return sum(rows), err
}

func sum(rows []table.Row) prompt.Tally {
	var t prompt.Tally
	var weights []prompt.Weight
	for _, row := range rows {
		t.Likes += int32(row.Props.Get("Likes").Int())
		t.Dislikes += int32(row.Props.Get("Dislikes").Int())
		if w := row.Props.Get("Weight").Str(); w != "" {
			weights = append(weights, prompt.Weight(w))
		}
	}
	t.Weight = prompt.SumOf(weights)
	return t
}

// Vote sets a voter's vote on a prompt that the voter may see, and returns the tally with it. Every
// vote that was answered before this one began is in it.
func (db *DB) Vote(ctx context.Context, voter prompt.UserID, id prompt.ID, v prompt.Vote) (prompt.Tally, error) {
	p := voteOp{db: db, id: id, voter: voter, value: v}
	return p.run(ctx)
}

// eraseVote removes a user's vote on a prompt, and from its tally, whether they may see it or not.
func (db *DB) eraseVote(ctx context.Context, voter prompt.UserID, id prompt.ID) error {
	p := voteOp{db: db, id: id, voter: voter, value: prompt.None, erase: true}
	_, err := p.run(ctx)
	return err
}

// A voteOp is one vote being cast.
type voteOp struct {
	db            *DB
	id            prompt.ID
	author, voter prompt.UserID
	value         prompt.Vote
	receipt       queue.Receipt
	repairSentAt  time.Time
	unknown       int  // batches whose outcome was not known at once
	wrote         bool // a write was sent
	late          bool // a write may land after its answer was given up
	erase         bool // the vote itself must go, whether its voter may see the prompt or not
}

func (p *voteOp) message() message { return message{Author: p.author, Prompt: p.id, Voter: p.voter} }

// scheduleRepair puts a repair message on the queue unless one is there that is fresh enough for a
// write now.
func (p *voteOp) scheduleRepair(ctx context.Context) (err error) {
	if !p.repairSentAt.IsZero() && p.db.now().Sub(p.repairSentAt) < p.db.times.fresh || p.author == "" || p.db.transact != nil {
		return nil // nobody knows whose prompt to project, or the write has the message with it
	}
	sent := p.db.now()
	if p.receipt, err = p.db.send(ctx, QueueMoves, p.message().text(), p.db.times.vote); err == nil {
		p.repairSentAt = sent
	}
	return err
}

func (p *voteOp) run(ctx context.Context) (prompt.Tally, error) {
	wait := 5 * time.Millisecond
	for range maxVoteTries {
		b, err := p.look(ctx)
		if err != nil {
			return prompt.Tally{}, err
		}
		if p.over(b) {
			return b.tally, nil
		}
		if err := p.scheduleRepair(ctx); err != nil {
			return prompt.Tally{}, err
		}
		now := prompt.Cast{Vote: p.value, At: p.db.now()}
		err = p.cast(ctx, b, now)
		if err == nil {
			return b.tally.Add(b.cast(), now), nil
		}
		if !settled(err) {
			// It may have landed: the next look at the row tells.
			if p.unknown++; p.unknown >= maxUnknown {
				return prompt.Tally{}, unavailable(err)
			}
		}
		if err := p.db.sleep(ctx, p.db.jitter(wait)); err != nil {
			return prompt.Tally{}, unavailable(err)
		}
		wait = min(wait*2, 200*time.Millisecond)
	}
	return prompt.Tally{}, busy(time.Second)
}

// look reads the rows of a vote and checks that the voter may see the prompt. Nothing is sent
// before that: how long an answer takes, and what is on the queue, must not tell a prompt that the
// voter may not know of from one that does not exist. A vote that a try before left half written,
// and that must not or need not be tried again, is mended by its repair message: soon, or in its
// own time where a write may still land.
func (p *voteOp) look(ctx context.Context) (voteRows, error) {
	b, err := p.db.voteRows(ctx, p.voter, p.id)
	switch {
	case err == nil && p.erase && b.locator != nil:
		p.author = parseLocator(*b.locator).author
	case err == nil && !p.erase:
		p.author, err = p.db.mayVote(ctx, p.voter, b.locator, p.id)
	}
	over := err == nil && p.over(b) || fault.Of(err) == fault.NotFound
	if over && p.wrote && !p.late {
		p.runNow()
	}
	return b, err
}

// over reports whether the vote is as it should be.
func (p *voteOp) over(b voteRows) bool {
	if p.erase {
		return b.vote == nil
	}
	return b.value() == p.value
}

// cast writes the vote and its share of the tally in one batch, and the voter's index row beside
// it.
func (p *voteOp) cast(ctx context.Context, b voteRows, now prompt.Cast) error {
	ctx = context.WithoutCancel(ctx) // half of it must not depend on who is still listening
	p.wrote = true
	if p.db.transact != nil {
		return p.castAtomic(ctx, b, now)
	}
	var g errgroup.Group
	var batchErr, indexErr error
	g.Go(func() error {
		batchErr = p.db.write(ctx, p.db.t.Votes, p.ops(b, now))
		return nil
	})
	g.Go(func() error {
		indexErr = p.index(ctx, now.At)
		return nil
	})
	_ = g.Wait() // both report by themselves
	p.late = p.late || !settled(batchErr) || !settled(indexErr)
	if batchErr == nil && !p.late {
		p.runNow()
	}
	return batchErr
}

// settled reports whether a write with this error has landed or never will.
func settled(err error) bool {
	var failed *table.OpError
	return err == nil || errors.As(err, &failed) || errors.Is(err, table.ErrBusy)
}

// ops are the vote row and the share of the tally. The weight of a vote is that of the time in its
// row, so what is taken off is the weight of the row that is replaced.
func (p *voteOp) ops(b voteRows, now prompt.Cast) []table.Op {
	vote := table.Row{Key: voteKey(p.voter, p.id), Props: voteProps(p.voter, p.id, p.value, now.At)}
	var t prompt.Tally
	if b.share != nil {
		t = sum([]table.Row{*b.share})
	}
	t = t.Add(b.cast(), now)
	if p.erase {
		return p.eraseOps(b, t)
	}
	share := table.Row{Key: tallyKey(p.id, shard(p.voter)), Props: tallyProps(t)}
	return []table.Op{overwrite(vote, b.vote), overwrite(share, b.share)}
}

// eraseOps remove the vote row. Votes on a prompt that does not exist have no tally, perhaps.
func (p *voteOp) eraseOps(b voteRows, t prompt.Tally) []table.Op {
	ops := []table.Op{{Kind: table.Delete, Row: table.Row{Key: b.vote.Key, ETag: b.vote.ETag}}}
	if b.share != nil {
		ops = append(ops, overwrite(table.Row{Key: b.share.Key, Props: tallyProps(t)}, b.share))
	}
	return ops
}

// overwrite writes a row in place of the version that was read.
func overwrite(row table.Row, was *table.Row) table.Op {
	if was == nil {
		return table.Op{Kind: table.Insert, Row: row}
	}
	row.ETag = was.ETag
	return table.Op{Kind: table.Replace, Row: row}
}

func voteProps(voter prompt.UserID, id prompt.ID, v prompt.Vote, at time.Time) table.Props {
	return table.Props{
		{Name: "PromptId", Value: table.String(string(id))},
		{Name: "VoterId", Value: table.String(string(voter))},
		{Name: "VoteValue", Value: table.Int32(int32(v))},
		{Name: "UpdatedAt", Value: table.Time(at)},
	}
}

func tallyProps(t prompt.Tally) table.Props {
	props := table.Props{{Name: "Likes", Value: table.Int32(t.Likes)}, {Name: "Dislikes", Value: table.Int32(t.Dislikes)}}
	return append(props, weightProp(t)...)
}

// weightProp is what a row says of the weight of votes: nothing where there is none, as in rows of
// versions that weighed none.
func weightProp(t prompt.Tally) table.Props {
	if t.Weight == "" {
		return nil
	}
	return table.Props{{Name: "Weight", Value: table.String(string(t.Weight))}}
}

// index writes the voter's own row, without a condition: the repair message sets it right.
func (p *voteOp) index(ctx context.Context, now time.Time) error {
	row, has := p.voterRow(now)
	if has {
		return p.db.write(ctx, p.db.t.VotesByVoter, []table.Op{{Kind: table.Upsert, Row: row}})
	}
	row.ETag = table.Any
	err := p.db.write(ctx, p.db.t.VotesByVoter, []table.Op{{Kind: table.Delete, Row: row}})
	if errors.Is(err, table.ErrNotFound) {
		return nil
	}
	return err
}

// voterRow returns the voter's own row, and whether there must be one.
func (p *voteOp) voterRow(now time.Time) (row table.Row, has bool) {
	row.Key = voterKey(p.voter, p.id)
	if p.value == prompt.None {
		return row, false
	}
	row.Props = voterProps(p.id, p.author, p.value, now)
	return row, true
}

func voterProps(id prompt.ID, author prompt.UserID, v prompt.Vote, at time.Time) table.Props {
	return table.Props{
		{Name: "PromptId", Value: table.String(string(id))},
		{Name: "AuthorId", Value: table.String(string(author))},
		{Name: "VoteValue", Value: table.Int32(int32(v))},
		{Name: "UpdatedAt", Value: table.Time(at)},
	}
}

// runNow brings the repair message forward, in the background: both writes have ended, so what it
// finds is final.
func (p *voteOp) runNow() {
	if !p.repairSentAt.IsZero() {
		p.db.runNow(QueueMoves, p.receipt)
	}
}

// runNow has a message come in a second. Where that fails it comes in its own time.
func (db *DB) runNow(name string, r queue.Receipt) {
	db.background(func() {
		ctx, cancel := context.WithTimeout(context.Background(), callWithin)
		defer cancel()
		if _, err := db.queues.Hide(ctx, name, r, time.Second); err != nil && !errors.Is(err, queue.ErrGone) {
			db.log.DebugContext(ctx, "repair message not brought forward", slog.String("queue", name), slog.Any("error", err))
		}
	})
}

// mayVote returns the author of a prompt, or NotFound where the voter may not know of it. Then it
// has asked the same of the storage, whether there is such a prompt or not.
func (db *DB) mayVote(ctx context.Context, voter prompt.UserID, locator *table.Row, id prompt.ID) (author prompt.UserID, err error) {
	if locator != nil {
		where := parseLocator(*locator)
		db.authors.put(id, where.author)
		if where.visibleTo(voter) {
			return where.author, nil
		}
	}
	// Just created and not projected yet: only its author can know of it.
	rec, err := db.read(ctx, voter, id)
	if err != nil {
		return "", err
	}
	if locator != nil || rec == nil || rec.Deleted() || rec.purging {
		return "", prompt.ErrUnknown()
	}
	return voter, nil
}

// A locator says where the truth row of a prompt is and who may know of it.
type locator struct {
	author                  prompt.UserID
	public, deleted, hidden bool
}

func locatorOf(p prompt.Prompt) locator {
	return locator{author: p.AuthorID, public: p.Visibility == prompt.Public, deleted: p.Deleted(), hidden: p.Hidden()}
}

func parseLocator(row table.Row) locator {
	return locator{
		author:  userIn(row.Props, "AuthorId"),
		public:  row.Props.Get("Visibility").Str() == string(prompt.Public),
		deleted: row.Props.Get("IsDeleted").Bool(),
		hidden:  row.Props.Get("IsHidden").Bool(),
	}
}

func (l locator) visibleTo(viewer prompt.UserID) bool {
	return !l.deleted && (viewer != "" && viewer == l.author || l.public && !l.hidden)
}

// locate returns the author of a prompt: its locator says who, or else it is the viewer's own.
func (db *DB) locate(ctx context.Context, viewer prompt.UserID, id prompt.ID) (prompt.UserID, error) {
	row, err := db.get(ctx, db.t.Votes, locatorKey(id))
	if err != nil {
		return "", err
	}
	if row != nil {
		author := parseLocator(*row).author
		db.authors.put(id, author)
		return author, nil
	}
	rec, err := db.read(ctx, viewer, id)
	if err != nil {
		return "", err
	}
	if rec == nil {
		return "", prompt.ErrUnknown()
	}
	db.authors.put(id, viewer)
	return viewer, nil
}

// VoteOf returns a voter's vote on a prompt that the voter may see, and the tally.
func (db *DB) VoteOf(ctx context.Context, voter prompt.UserID, id prompt.ID) (prompt.Vote, prompt.Tally, error) {
	b, err := db.voteRows(ctx, voter, id)
	if err != nil {
		return prompt.None, prompt.Tally{}, err
	}
	if _, err := db.mayVote(ctx, voter, b.locator, id); err != nil {
		return prompt.None, prompt.Tally{}, err
	}
	return b.value(), b.tally, nil
}

func parseTallyShard(row string) (int, bool) {
	if len(row) != len(tallyPrefix)+1 || row[:len(tallyPrefix)] != tallyPrefix {
		return 0, false
	}
	n, err := strconv.Atoi(row[len(tallyPrefix):])
	return n, err == nil && n < shards
}

// Author returns who wrote a prompt, whoever may see it, or NotFound.
func (db *DB) Author(ctx context.Context, viewer prompt.UserID, id prompt.ID) (prompt.UserID, error) {
	if author, ok := db.authors.get(id); ok {
		return author, nil
	}
	return db.locate(ctx, viewer, id)
}
