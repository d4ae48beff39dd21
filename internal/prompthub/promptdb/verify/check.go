package verify

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/commit"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/table"
)

// A Difference is a row that does not agree with the truth.
type Difference struct {
	Table string
	Key   table.Key
	What  string // how it differs

	// Waits says that a message is on a queue whose job makes the row agree. Verify sets it.
	Waits bool

	job    job           // which job may make the row agree
	user   prompt.UserID // whose key does not lead to him, or under another than his
	author prompt.UserID // of the prompt it belongs to
	id     prompt.ID     // "" where the row does not even say
	voter  prompt.UserID // where it is about a vote
	stray  *table.Row
	counts bool // the prompt does not follow its tally
	labels bool // nor its labels
	orphan bool // votes without a prompt
	newer  bool // written by a newer version of the application

	damaged bool // the storage cannot read it
}

// A job is one that makes rows agree with the truth if it gets its message.
type job int

const (
	noJob     job = iota
	anyJob        // any that is about the prompt
	repairJob     // not that of a vote
	voteJob       // that of the vote
)

// left reports whether nothing but a person can tell what is right: Reindex and anti-entropy leave
// the row alone.
func (d Difference) left() bool {
	_, tally := schema.ParseTallyShard(d.Key.Row)
	_, file := schema.ParseFilesPartition(d.Key.Partition)
	return tally || file || d.orphan || d.user == "" && d.voter == "" && d.id == ""
}

func (d Difference) String() string { return fmt.Sprintf("%s: %s: %s", d.Table, d.Key, d.What) }

// checkTruth compares everything that follows from a truth row with it. A prompt that is being
// projected is not looked at.
func (db *Verifier) checkTruth(ctx context.Context, row table.Row) ([]Difference, error) {
	rec, err := schema.ParseRecord(row)
	if err != nil {
		return []Difference{{Table: db.T.Prompts, Key: row.Key, What: err.Error()}}, nil //nolint:nilerr // the error is the finding
	}
	if rec.RowsVersion > schema.RowsVersion {
		return []Difference{{Table: db.T.Prompts, Key: row.Key, What: schema.ErrNewer.Error(), newer: true}}, nil
	}
	if rec.Purging || rec.Lease.Held(db.Now()) {
		return nil, nil
	}
	var ds []Difference
	differ := func(name string, key table.Key, format string, args ...any) {
		ds = append(ds, Difference{
			Table: name, Key: key, What: fmt.Sprintf(format, args...),
			author: rec.AuthorID, id: rec.ID,
		})
	}
	job := noJob // that writes the rows which follow from this one
	if rec.Lease != nil {
		job = anyJob
		differ(db.T.Prompts, row.Key, "a projection was begun and not finished by %s",
			rec.Lease.Until.Format("2006-01-02 15:04:05"))
		ds[len(ds)-1].job = job
	}
	tally, err := db.Tally(ctx, rec.ID)
	if err != nil {
		return nil, err
	}
	if tally != rec.Tally {
		what := "counts are %d and %d, the tally says %d and %d"
		if tally.Unweighed() == rec.Unweighed() {
			what = "counts are %d and %d, as the tally's %d and %d, which has another weight"
		}
		differ(db.T.Prompts, row.Key, what, rec.Likes, rec.Dislikes, tally.Likes, tally.Dislikes)
		job = anyJob
		ds[len(ds)-1].counts, ds[len(ds)-1].job = true, job
	}
	released, err := db.ReleasedNow(ctx, rec)
	if err != nil {
		return nil, err
	}
	if !schema.SameProgramSummary(released, rec.InProduction) {
		differ(db.T.Prompts, row.Key, "does not tell what the version with the label %s takes", prompt.Production)
		ds[len(ds)-1].labels, ds[len(ds)-1].job = true, repairJob
		if job == noJob {
			job = repairJob
		}
	}
	if err := db.checkLibrary(ctx, rec, differ); err != nil {
		return nil, err
	}
	if own, err := rec.Row(); err == nil && rec.Lease == nil && !own.Props.Equal(row.Props) {
		differ(db.T.Prompts, row.Key, "contradicts itself: %s", unlike(row.Props, own.Props))
	}
	want := append(db.T.Rows(rec), schema.IndexRow{Table: db.T.Prompts, Row: rec.MineRow()})
	for _, r := range want {
		got, err := db.GetRow(ctx, r.Table, r.Row.Key)
		switch {
		case err != nil:
			return nil, err
		case got == nil:
			differ(r.Table, r.Row.Key, "is missing")
			ds[len(ds)-1].job = job
		case !schema.SameRow(got.Props, r.Row.Props):
			differ(r.Table, r.Row.Key, "is out of date: %s", unlike(got.Props, r.Row.Props))
			ds[len(ds)-1].job = job
		}
	}
	return ds, nil
}

// judge reads the truth row that others are compared with; a missing one is nil. It is not ok where
// this version cannot judge by it, because it cannot be read or is newer. Then it is a finding
// itself, and the rows that follow from it are none.
func (db *Verifier) judge(ctx context.Context, author prompt.UserID,
	id prompt.ID,
) (rec *schema.Record, ok bool, err error) {
	rec, err = db.Read(ctx, author, id)
	if schema.Unreadable(err) || rec != nil && rec.RowsVersion > schema.RowsVersion {
		return nil, false, nil
	}
	return rec, err == nil, err
}

// unlike names the properties in which two rows differ.
func unlike(got, want table.Props) string {
	var names []string
	for _, p := range slices.Concat(got, want) {
		if got.Get(p.Name) != want.Get(p.Name) && !slices.Contains(names, p.Name) {
			names = append(names, p.Name)
		}
	}
	return strings.Join(names, ", ")
}

// checkIndex reports a row of an index table that no truth row has.
func (db *Verifier) checkIndex(ctx context.Context, name string, row table.Row) ([]Difference, error) {
	d := Difference{
		Table: name, Key: row.Key, author: schema.UserIn(row.Props, "AuthorId"),
		id: prompt.ID(row.Props.Get("PromptId").Str()), stray: &row,
	}
	e, id, ok := db.T.Entry(name, row.Key)
	if ok && name == db.T.SearchLog && isTombstone(row) {
		return nil, nil // which anti-entropy removes in its time
	}
	if !ok || id != d.id {
		d.What, d.id = "is no row that this version writes", ""
		return []Difference{d}, nil
	}
	rec, ok, err := db.judge(ctx, d.author, d.id)
	if err != nil || !ok {
		return nil, err
	}
	switch {
	case rec == nil:
		d.What = "belongs to a prompt that does not exist"
	case rec.Lease.Held(db.Now()) || rec.Purging && name == db.T.DeletedIndex:
		return nil, nil
	case !e.Of(*rec):
		d.What = "should not be there"
		if rec.Lease != nil { // which says what is stale
			d.job = anyJob
		}
	default:
		return nil, nil
	}
	return []Difference{d}, nil
}

// isTombstone reports whether a row of a log is what a purge leaves of a prompt: it names no
// author.
func isTombstone(row table.Row) bool {
	return schema.IsGone(row.Props) && schema.UserIn(row.Props, "AuthorId") == ""
}

// forgetGone removes from a log what a purge left there, once every instance has read it.
func (db *Verifier) forgetGone(ctx context.Context, row table.Row) error {
	stamp, _, ok := schema.ParseLogRow(row.Row)
	if !ok || !isTombstone(row) || db.Now().Sub(stamp) < schema.GoneFor {
		return nil
	}
	return db.RemoveRow(ctx, db.T.SearchLog, row)
}

// forgetEvent removes an event of a workspace that is older than events are kept.
func (db *Verifier) forgetEvent(ctx context.Context, row table.Row) error {
	_, e, ok := schema.ParseEvent(row)
	if !ok || db.EventsFor <= 0 || db.Now().Sub(e.At) < db.EventsFor {
		return nil
	}
	return db.RemoveRow(ctx, db.T.Prompts, row)
}

// checkMine reports a row of the author's list whose prompt does not exist.
func (db *Verifier) checkMine(ctx context.Context, row table.Row) ([]Difference, error) {
	author, okUser := schema.ParseUser(row.Partition)
	id, okID := schema.ParseMine(row.Row)
	d := Difference{Table: db.T.Prompts, Key: row.Key, author: author, id: id, stray: &row}
	if !okUser || !okID {
		d.What = "is no row that this version writes"
		return []Difference{d}, nil
	}
	rec, ok, err := db.judge(ctx, author, id)
	if err != nil || !ok || rec != nil {
		return nil, err
	}
	d.What = "belongs to a prompt that does not exist"
	return []Difference{d}, nil
}

// checkIdem reports an Idempotency-Key that leads to no prompt, or to one that it did not make. A
// prompt whose key leads elsewhere or nowhere is as it should be: it was deleted, another one took
// the key over, and it was restored, or the other one was purged with the key.
func (db *Verifier) checkIdem(ctx context.Context, row table.Row) ([]Difference, error) {
	author, okUser := schema.ParseUser(row.Partition)
	id, okID := schema.ParseID(row.Props.Get("PromptId").Str())
	d := Difference{Table: db.T.Prompts, Key: row.Key, stray: &row}
	if !okUser || !okID {
		d.What = "is no row that this version writes"
		return []Difference{d}, nil
	}
	rec, ok, err := db.judge(ctx, author, id)
	switch {
	case err != nil || !ok:
		return nil, err
	case rec == nil:
		d.author, d.id, d.What = author, id, "leads to a prompt that does not exist"
	case schema.IdemKey(author, rec.Idem) != row.Key:
		// which of the two is right only a person can tell
		d.What = "leads to a prompt that another key made, or none"
	default:
		return nil, nil
	}
	return []Difference{d}, nil
}

// checkVoter reports a voter's own row without a vote.
func (db *Verifier) checkVoter(ctx context.Context, row table.Row) ([]Difference, error) {
	voter, okUser := schema.ParseUser(row.Partition)
	id, okID := schema.ParseByAge(row.Row)
	d := Difference{
		Table: db.T.VotesByVoter, Key: row.Key, author: schema.UserIn(row.Props, "AuthorId"),
		id: id, voter: voter, stray: &row,
	}
	if !okUser || !okID {
		d.What, d.id = "is no row that this version writes", ""
		return []Difference{d}, nil
	}
	vote, err := db.GetRow(ctx, db.T.Votes, schema.VoteKey(voter, id))
	if err != nil {
		return nil, err
	}
	if _, stale := commit.FollowOp(commit.Message{Author: d.author, Prompt: id, Voter: voter}, &row, vote); !stale {
		return nil, nil
	}
	d.What, d.job = "does not say what the vote does", voteJob
	return []Difference{d}, nil
}
