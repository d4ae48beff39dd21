package promptdb

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// A Difference is a row that does not agree with the truth.
type Difference struct {
	Table string
	Key   table.Key
	What  string // what is wrong with it

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

// left reports whether nothing but a person can tell what is right: Reindex and anti-entropy leave
// the row alone.
func (d Difference) left() bool {
	_, tally := parseTallyShard(d.Key.Row)
	return tally || d.orphan || d.user == "" && d.voter == "" && d.id == ""
}

func (d Difference) String() string { return fmt.Sprintf("%s: %s: %s", d.Table, d.Key, d.What) }

// checkTruth compares everything that follows from a truth row with it. A prompt that is being
// projected is not looked at. Rows of the text index are compared where text says so.
func (db *DB) checkTruth(ctx context.Context, row table.Row, text func(prompt.ID) bool) ([]Difference, error) {
	rec, err := parseRecord(row)
	if err != nil {
		return []Difference{{Table: db.t.Prompts, Key: row.Key, What: err.Error()}}, nil //nolint:nilerr // the error is the finding
	}
	if rec.rowsVersion > RowsVersion {
		return []Difference{{Table: db.t.Prompts, Key: row.Key, What: errNewer.Error(), newer: true}}, nil
	}
	if rec.purging || rec.lease.held(db.now()) {
		return nil, nil
	}
	var ds []Difference
	differ := func(name string, key table.Key, format string, args ...any) {
		ds = append(ds, Difference{Table: name, Key: key, What: fmt.Sprintf(format, args...), author: rec.AuthorID, id: rec.ID})
	}
	if rec.lease != nil {
		differ(db.t.Prompts, row.Key, "a projection was begun and not finished by %s", rec.lease.Until.Format("2006-01-02 15:04:05"))
	}
	tally, err := db.tally(ctx, rec.ID)
	if err != nil {
		return nil, err
	}
	if tally != rec.Tally {
		what := "counts are %d and %d, the tally says %d and %d"
		if tally.Unweighed() == rec.Unweighed() {
			what = "counts are %d and %d, as the tally's %d and %d, which has another weight"
		}
		differ(db.t.Prompts, row.Key, what, rec.Likes, rec.Dislikes, tally.Likes, tally.Dislikes)
		ds[len(ds)-1].counts = true
	}
	released, err := db.releasedNow(ctx, rec)
	if err != nil {
		return nil, err
	}
	if !sameProgramSummary(released, rec.InProduction) {
		differ(db.t.Prompts, row.Key, "does not tell what the version with the label %s takes", prompt.Production)
		ds[len(ds)-1].labels = true
	}
	if err := db.checkLibrary(ctx, rec, differ); err != nil {
		return nil, err
	}
	if own, err := rec.row(); err == nil && rec.lease == nil && !own.Props.Equal(row.Props) {
		differ(db.t.Prompts, row.Key, "contradicts itself: %s", unlike(row.Props, own.Props))
	}
	want := append(db.rows(rec.Prompt), indexRow{db.t.Prompts, rec.mineRow()})
	switch {
	case rec.backlog.overdue(db.now()):
		differ(db.t.Prompts, row.Key, "has had rows to write in the text index since %s", rec.backlog.Since.Format("2006-01-02 15:04:05"))
	case rec.backlog == nil && text(rec.ID):
		want = append(want, db.textRows(rec.Prompt)...)
	}
	for _, r := range want {
		got, err := db.get(ctx, r.table, r.row.Key)
		switch {
		case err != nil:
			return nil, err
		case got == nil:
			differ(r.table, r.row.Key, "is missing")
		case !got.Props.Equal(r.row.Props):
			differ(r.table, r.row.Key, "is out of date: %s", unlike(got.Props, r.row.Props))
		}
	}
	return ds, nil
}

// judge reads the truth row that others are compared with; a missing one is nil. It is not ok where
// this version cannot judge by it, because it cannot be read or is newer. Then it is a finding
// itself, and what follows from it none.
func (db *DB) judge(ctx context.Context, author prompt.UserID, id prompt.ID) (rec *record, ok bool, err error) {
	rec, err = db.read(ctx, author, id)
	if unreadable(err) || rec != nil && rec.rowsVersion > RowsVersion {
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
func (db *DB) checkIndex(ctx context.Context, name string, row table.Row) ([]Difference, error) {
	d := Difference{Table: name, Key: row.Key, author: userIn(row.Props, "AuthorId"), id: prompt.ID(row.Props.Get("PromptId").Str()), stray: &row}
	e, id, ok := db.entry(name, row.Key)
	if db.isText(name) {
		d.id = id // which is in its key alone
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
	case rec.lease.held(db.now()) || rec.purging && name == db.t.DeletedIndex || rec.backlog != nil && db.isText(name):
		return nil, nil
	case !e.of(rec.Prompt):
		d.What = "should not be there"
	default:
		return nil, nil
	}
	return []Difference{d}, nil
}

// checkMine reports a row of the author's list whose prompt does not exist.
func (db *DB) checkMine(ctx context.Context, row table.Row) ([]Difference, error) {
	author, okUser := parseUser(row.Partition)
	id, okID := parseMine(row.Row)
	d := Difference{Table: db.t.Prompts, Key: row.Key, author: author, id: id, stray: &row}
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
func (db *DB) checkIdem(ctx context.Context, row table.Row) ([]Difference, error) {
	author, okUser := parseUser(row.Partition)
	id, okID := parseID(row.Props.Get("PromptId").Str())
	d := Difference{Table: db.t.Prompts, Key: row.Key, stray: &row}
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
	case idemKey(author, rec.idem) != row.Key:
		// which of the two is right only a person can tell
		d.What = "leads to a prompt that another key made, or none"
	default:
		return nil, nil
	}
	return []Difference{d}, nil
}

// checkVoter reports a voter's own row without a vote behind it.
func (db *DB) checkVoter(ctx context.Context, row table.Row) ([]Difference, error) {
	voter, okUser := parseUser(row.Partition)
	id, okID := parseByAge(row.Row)
	d := Difference{Table: db.t.VotesByVoter, Key: row.Key, author: userIn(row.Props, "AuthorId"), id: id, voter: voter, stray: &row}
	if !okUser || !okID {
		d.What, d.id = "is no row that this version writes", ""
		return []Difference{d}, nil
	}
	vote, err := db.get(ctx, db.t.Votes, voteKey(voter, id))
	if err != nil {
		return nil, err
	}
	if _, stale := followOp(message{Author: d.author, Prompt: id, Voter: voter}, &row, vote); !stale {
		return nil, nil
	}
	d.What = "does not say what the vote does"
	return []Difference{d}, nil
}
