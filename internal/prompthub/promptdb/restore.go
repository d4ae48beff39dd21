package promptdb

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// Restore reads what Backup wrote into a store without prompts and votes, and makes the index rows.
// The tag catalog becomes that of the backup. What is no backup changes nothing; where it fails
// later, the store must be emptied before it is tried again, and nobody takes it for a library
// until then. It tells what Reindex leaves alone,
// how many rows it has read and, after that, how many prompts have their index rows, and returns
// the number of rows.
func (db *DB) Restore(ctx context.Context, r io.Reader, report func(Difference), progress func(rows int), indexed func(prompts int)) (int, error) {
	if err := db.mustBeEmpty(ctx); err != nil {
		return 0, err
	}
	re := &restore{db: db, progress: progress, tallies: map[int]prompt.Tally{}, prompts: map[prompt.ID]bool{}}
	if err := re.lines(ctx, bufio.NewReaderSize(r, 1<<16)); err != nil {
		return re.rows, err
	}
	if err := db.restoring(ctx, indexRows); err != nil {
		return re.rows, err
	}
	if _, err := db.Reindex(ctx, false, report, indexed); err != nil {
		return re.rows, fmt.Errorf("%w: %w", ErrNotIndexed, err)
	}
	return re.rows, nil
}

// RestoreIncomplete is the code by which a store is refused into which a Restore did not come to
// its end: it has a part of a library, which looks like all of it.
const RestoreIncomplete fault.Code = "RESTORE_INCOMPLETE"

// ErrNotIndexed ends a Restore that has read all of the backup, and refuses its store.
var ErrNotIndexed error = fault.Coded(fault.Unavailable, RestoreIncomplete, "the rows of a backup are restored, their index rows are not; run reindex")

var errHalfRestored error = fault.Coded(fault.Unavailable, RestoreIncomplete, "a restore into this store was cut off, and a part of the backup is missing; "+
	"empty the data directory, or remove the tables, and restore again")

// restoringKey is that of a row which is there from before the first write of a Restore until its
// end, and says what is still to be written.
func restoringKey() table.Key { return sweepKey("restoring") }

const (
	allRows   = "rows"
	indexRows = "index rows"
)

func (db *DB) restoring(ctx context.Context, lacks string) error {
	err := db.write(ctx, db.t.SystemState, []table.Op{{Kind: table.Upsert, Row: table.Row{
		Key: restoringKey(), Props: table.Props{{Name: "Lacks", Value: table.String(lacks)}},
	}}})
	if err != nil {
		return unavailable(err)
	}
	return nil
}

// restored says that a store lacks nothing of a backup.
func (db *DB) restored(ctx context.Context) error {
	err := db.write(ctx, db.t.SystemState, []table.Op{{Kind: table.Delete, Row: table.Row{Key: restoringKey(), ETag: table.Any}}})
	if err != nil && !errors.Is(err, table.ErrNotFound) {
		return unavailable(err)
	}
	return nil
}

// Ready reports whether the storage answers, and has a library: half of a backup is none.
func (db *DB) Ready(ctx context.Context) error {
	row, err := db.get(ctx, db.t.SystemState, restoringKey())
	switch {
	case err != nil || row == nil:
		return err
	case row.Props.Get("Lacks").Str() == indexRows:
		return ErrNotIndexed
	}
	return errHalfRestored
}

func (db *DB) mustBeEmpty(ctx context.Context) error {
	for _, name := range []string{db.t.Prompts, db.t.Votes, db.t.AccessTokens, db.t.Users, db.t.Favorites} {
		rows, _, err := db.budget().rows(ctx, name, table.Range{}, 1)
		if err != nil {
			return err
		}
		if len(rows) > 0 {
			return fault.New(fault.Invalid, "the store is not empty: table "+name+" has rows; restore into a new one")
		}
	}
	return nil
}

func (db *DB) clearTags(ctx context.Context) error {
	tags, err := db.readTags(ctx)
	if err != nil {
		return err
	}
	for _, t := range tags {
		op := table.Op{Kind: table.Delete, Row: table.Row{Key: catalogKey(t.Tag), ETag: table.Any}}
		if err := db.write(ctx, db.t.TagCatalog, []table.Op{op}); err != nil && !errors.Is(err, table.ErrNotFound) {
			return unavailable(err)
		}
	}
	return nil
}

type restore struct {
	db       *DB
	progress func(int)
	rows     int
	name     string // the table of ops
	ops      []table.Op
	size     int                  // of ops, in bytes
	tallies  map[int]prompt.Tally // of the prompt whose votes are being read
	voted    prompt.ID
	prompts  map[prompt.ID]bool // that are in the backup
	of       prompt.ID          // whose versions are being read
	versions map[int64][]table.Key
	sizes    map[int64]int64 // of those
	moves    int64           // of the labels of that prompt
	movedAt  time.Time       // when the labels of that prompt moved last
}

// lines reads the whole backup. A line's number is part of every error.
func (re *restore) lines(ctx context.Context, r *bufio.Reader) error {
	for n := 1; ; n++ {
		text, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(text) == 0 {
			return fmt.Errorf("line %d: the backup ends early: it has no last line", n)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		done, err := re.line(ctx, n, text)
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if done {
			return nil
		}
	}
}

func (re *restore) line(ctx context.Context, n int, text []byte) (done bool, err error) {
	var l line
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&l); err != nil {
		return false, err
	}
	switch {
	case n == 1 && (l.Kind != "backup" || l.Version < backupVersion-1 || l.Version > backupVersion):
		return false, fmt.Errorf("not a backup of version %d or %d", backupVersion-1, backupVersion)
	case n == 1: // not before: what is no backup changes nothing
		if err := re.db.restoring(ctx, allRows); err != nil {
			return false, err
		}
		return false, re.db.clearTags(ctx)
	case l.Kind == "end" && l.Rows != nil:
		if *l.Rows != re.rows {
			return false, fmt.Errorf("the backup says %d rows, these were %d", *l.Rows, re.rows)
		}
		return true, errors.Join(re.endVotes(ctx), re.flush(ctx))
	}
	if re.rows++; re.rows%progressEvery == 0 {
		re.progress(re.rows)
	}
	return false, re.row(ctx, l)
}

// row puts one line into the batch.
func (re *restore) row(ctx context.Context, l line) error {
	switch {
	case l.Keys != "":
		return re.secret(ctx, l.Keys)
	case l.Tag != nil:
		return re.add(ctx, re.db.t.TagCatalog, tagRow(prompt.TagInfo{Tag: l.Tag.Tag, DisplayName: l.Tag.DisplayName, SortOrder: l.Tag.SortOrder, Active: l.Tag.Active}))
	case l.Idem != nil:
		return re.add(ctx, re.db.t.Prompts, table.Row{Key: idemKey(l.Idem.Author, l.Idem.Key), Props: idemProps(l.Idem.Prompt, l.Idem.Body)})
	case l.Prompt != nil:
		rec, err := l.Prompt.record(re.db.now())
		if err != nil {
			return err
		}
		re.prompts[rec.ID] = true
		row, err := rec.row()
		if err != nil {
			return err
		}
		if err := errors.Join(re.add(ctx, re.db.t.Prompts, row), re.add(ctx, re.db.t.Prompts, rec.mineRow())); err != nil {
			return err
		}
		return re.library(ctx, rec, l.Prompt.Library)
	case l.Content != nil:
		return re.content(ctx, *l.Content)
	case l.Move != nil:
		return re.move(ctx, *l.Move)
	case l.Vote != nil:
		return re.vote(ctx, *l.Vote)
	case l.Token != nil:
		return re.token(ctx, *l.Token)
	case l.User != nil:
		return re.user(ctx, *l.User)
	case l.Favorite != nil:
		return re.favorite(ctx, *l.Favorite)
	}
	return fmt.Errorf("a line of kind %q", l.Kind)
}

// record returns the truth row that Reindex completes: it is marked as if its writer were gone.
func (l promptLine) record(now time.Time) (record, error) {
	id, ok := prompt.ParseID(string(l.ID))
	if !ok || id != l.ID {
		return record{}, fmt.Errorf("%q is no prompt id", l.ID)
	}
	rec := record{
		Prompt: prompt.Prompt{
			ID: id, AuthorID: l.Author, AuthorName: l.AuthorName,
			Draft:     prompt.Draft{Title: l.Title, Text: l.Text, Tags: l.Tags, Visibility: l.Visibility},
			CreatedAt: id.Time(), UpdatedAt: l.UpdatedAt, DeletedAt: l.DeletedAt,
			HiddenAt: l.HiddenAt, HiddenBy: l.HiddenBy, HiddenReason: l.HiddenReason, Revision: l.Revision,
		},
		idem: l.Idempotency, rowsVersion: RowsVersion,
		lease: &lease{Attempt: "restore", Until: now.UTC()},
	}
	if l.Library == nil {
		return record{}, fmt.Errorf("prompt %s has no name", l.ID)
	}
	l.Library.into(&rec.Prompt)
	return rec, nil
}

func (re *restore) vote(ctx context.Context, v voteLine) error {
	id, ok := prompt.ParseID(string(v.Prompt))
	if !ok || id != v.Prompt || v.Value < prompt.Dislike || v.Value > prompt.Like {
		return fmt.Errorf("a vote of %d on prompt %q", v.Value, v.Prompt)
	}
	if !re.prompts[id] {
		return nil // an older version backed up votes on prompts that were made meanwhile
	}
	if id != re.voted {
		if err := re.endVotes(ctx); err != nil {
			return err
		}
		re.voted = id
	}
	n := shard(v.Voter)
	re.tallies[n] = re.tallies[n].Add(prompt.Cast{}, prompt.Cast{Vote: v.Value, At: v.UpdatedAt})
	return re.add(ctx, re.db.t.Votes, table.Row{Key: voteKey(v.Voter, id), Props: voteProps(v.Voter, id, v.Value, v.UpdatedAt)})
}

// endVotes writes the tally of the prompt whose votes have been read.
func (re *restore) endVotes(ctx context.Context) error {
	for n := range shards {
		if t, ok := re.tallies[n]; ok {
			if err := re.add(ctx, re.db.t.Votes, table.Row{Key: tallyKey(re.voted, n), Props: tallyProps(t)}); err != nil {
				return err
			}
		}
	}
	clear(re.tallies)
	return nil
}

// add puts a row into the batch, which holds rows of one partition.
func (re *restore) add(ctx context.Context, name string, row table.Row) error {
	size := table.Size(table.Op{Row: row})
	full := len(re.ops) >= table.MaxBatch || re.size+size > table.MaxBatchBytes
	if full || len(re.ops) > 0 && (re.name != name || re.ops[0].Row.Partition != row.Partition) {
		if err := re.flush(ctx); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(re.ops, func(op table.Op) bool { return op.Row.Key == row.Key }) {
		return twice(name, row.Key)
	}
	re.name = name
	re.size += size
	re.ops = append(re.ops, table.Op{Kind: table.Insert, Row: row})
	return nil
}

func (re *restore) flush(ctx context.Context) error {
	if len(re.ops) == 0 {
		return nil
	}
	err := re.db.write(ctx, re.name, re.ops)
	re.ops, re.size = re.ops[:0], 0
	if op := (*table.OpError)(nil); errors.As(err, &op) && errors.Is(err, table.ErrExists) {
		return twice(re.name, op.Key)
	}
	if err != nil {
		return unavailable(err)
	}
	return nil
}

// twice refuses what Backup never writes. The store was empty.
func twice(name string, key table.Key) error {
	return fmt.Errorf("the backup has a row twice: %s: %s", name, key)
}
