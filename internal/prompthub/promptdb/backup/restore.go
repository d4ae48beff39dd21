package backup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sync/errgroup"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/promptdb/verify"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Restore reads what Backup wrote into a store without prompts and votes, and makes the index rows.
// The tag catalog becomes that of the backup. A file that is no backup changes nothing. After a
// later failure the store must be emptied before another try, or reindexed if the error is
// ErrNotIndexed, and is refused until then. It reports
// rows that Reindex leaves alone, how many rows it has read and, after that, how many prompts have
// their index rows, and returns the number of rows.
func (db *Backups) Restore(ctx context.Context, r io.Reader, report func(verify.Difference), progress func(rows int),
	indexed func(prompts int),
) (int, error) {
	if err := db.mustBeEmpty(ctx); err != nil {
		return 0, err
	}
	re := newRestore(db, progress)
	if err := re.lines(ctx, bufio.NewReaderSize(r, 1<<16)); err != nil {
		return re.rows, err
	}
	if db.verify.Loads() { // of which, after a failure, no part is of use
		_, err := db.verify.IndexRestored(ctx, report, indexed)
		return re.rows, err
	}
	if err := db.verify.Restoring(ctx, indexRows); err != nil {
		return re.rows, err
	}
	if _, err := db.verify.IndexRestored(ctx, report, indexed); err != nil {
		return re.rows, fmt.Errorf("%w: %w", ErrNotIndexed, err)
	}
	return re.rows, nil
}

// MarkRestore prepares a store for a backup that begins with a line, which is restored elsewhere
// and will take the place of the store. Until then the store is refused. A line that begins no
// backup changes nothing.
func (db *Backups) MarkRestore(ctx context.Context, first []byte) error {
	if err := db.mustBeEmpty(ctx); err != nil {
		return err
	}
	l, err := parseFirst(first)
	if err == nil {
		_, err = newRestore(db, nil).read(ctx, &parsed{n: 1, line: l})
	}
	if err != nil {
		return fmt.Errorf("line 1: %w", err)
	}
	return nil
}

// ErrNotIndexed ends a Restore that has read all of the backup, and refuses its store.
var ErrNotIndexed error = fault.Coded(fault.Unavailable, verify.RestoreIncomplete,
	"the rows of a backup are restored, their index rows are not; run reindex")

const (
	allRows   = "rows"
	indexRows = "index rows"
)

// Ready reports whether the storage answers, and has a library: half of a backup is none.
func (db *Backups) Ready(ctx context.Context) error {
	row, err := db.GetRow(ctx, db.T.SystemState, verify.RestoringKey())
	switch {
	case err != nil || row == nil:
		return err
	case row.Props.Get("Lacks").Str() == indexRows:
		return ErrNotIndexed
	}
	return verify.ErrHalfRestored
}

func (db *Backups) mustBeEmpty(ctx context.Context) error {
	for _, name := range []string{db.T.Prompts, db.T.Files, db.T.Votes, db.T.AccessTokens, db.T.Users, db.T.Favorites} {
		rows, _, err := db.Budget().Rows(ctx, name, table.Range{}, 1)
		if err != nil {
			return err
		}
		if len(rows) > 0 {
			return fault.New(fault.Invalid, "the store is not empty: table "+name+" has rows; restore into a new one")
		}
	}
	return nil
}

func (db *Backups) clearTags(ctx context.Context) error {
	tags, err := db.accounts.ReadTags(ctx)
	if err != nil {
		return err
	}
	for _, t := range tags {
		op := rowstore.Removal(schema.CatalogKey(t.Tag))
		if err := db.Write(ctx, db.T.TagCatalog, []table.Op{op}); err != nil && !errors.Is(err, table.ErrNotFound) {
			return rowstore.Unavailable(err)
		}
	}
	return nil
}

type restore struct {
	db       *Backups
	progress func(int)
	line     int // that is being read
	rows     int
	batches  map[string]*batch // by their tables
	writing  errgroup.Group
	failed   atomic.Bool          // a write has
	tallies  map[int]prompt.Tally // of the prompt whose votes are being read
	voted    prompt.ID
	prompts  map[prompt.ID]prompt.UserID // that are in the backup, and their authors
	of       prompt.ID                   // whose versions are being read
	versions map[int64][]table.Key
	sizes    map[int64]int64  // of those
	beside   schema.LabelsRow // moves and proposals of that prompt, for its labels row
}

// A batch is rows of one partition of a table that will be written together.
type batch struct {
	ops  []table.Op
	size int // in bytes
}

// writesAtOnce are those that share a transaction, where the storage can: enough to wait for the
// disk once for a hundred prompts.
const writesAtOnce = 64

func newRestore(db *Backups, progress func(int)) *restore {
	re := &restore{
		db: db, progress: progress, batches: map[string]*batch{}, tallies: map[int]prompt.Tally{},
		prompts: map[prompt.ID]prompt.UserID{},
	}
	re.writing.SetLimit(1)
	if db.verify.Loads() {
		re.writing.SetLimit(writesAtOnce)
	}
	return re
}

// lines reads the whole backup. A line's number is part of every error; a write that failed is of
// that line or of some before.
func (re *restore) lines(ctx context.Context, r *bufio.Reader) error {
	err := re.readLines(ctx, r)
	if failed := re.writing.Wait(); failed != nil {
		return failed // of which err may be the consequence
	}
	return err
}

// errStopped ends the reading of a backup after a write has failed.
var errStopped = errors.New("a write has failed")

// readLines reads the lines in their order, and parses some ahead.
func (re *restore) readLines(ctx context.Context, r *bufio.Reader) error {
	g, parsing := errgroup.WithContext(ctx)
	lines := make(chan *parsed, 2*runtime.GOMAXPROCS(0))
	g.Go(func() error {
		defer close(lines)
		return parseLines(parsing, g, r, lines)
	})
	g.Go(func() error {
		for p := range lines {
			if p.ready != nil {
				<-p.ready
			}
			if re.line = p.n; p.err != nil {
				return fmt.Errorf("line %d: %w", p.n, p.err)
			}
			if done, err := re.read(ctx, p); err != nil {
				return fmt.Errorf("line %d: %w", p.n, err)
			} else if done {
				return nil
			}
		}
		return ctx.Err()
	})
	return g.Wait()
}

// A parsed is a line of a backup, or why there is none.
type parsed struct {
	n int
	line
	version versionRows   // of a line with a content, once it is ready
	ready   chan struct{} // nil if it is
	err     error
}

// parseLines sends lines up to the last one, or the first that is none. Compressing the files of
// versions takes as long as all else, so versions are made meanwhile, by g.
func parseLines(ctx context.Context, g *errgroup.Group, r *bufio.Reader, to chan<- *parsed) error {
	for n := 1; ; n++ {
		p := &parsed{n: n}
		text, err := r.ReadBytes('\n')
		switch {
		case errors.Is(err, io.EOF) && len(text) == 0:
			p.err = errors.New("the backup ends early: it has no last line")
		case err != nil && !errors.Is(err, io.EOF):
			p.err = err
		case n == 1:
			p.line, p.err = parseFirst(text)
		default:
			p.line, p.err = parseLine(text)
		}
		if p.Content != nil {
			p.ready = make(chan struct{})
			g.Go(func() error {
				defer close(p.ready)
				p.version, p.err = p.Content.rows()
				return nil
			})
		}
		select {
		case to <- p:
		case <-ctx.Done():
			return ctx.Err()
		}
		if p.ready == nil && p.err != nil || p.Kind == "end" {
			return nil //nolint:nilerr // the line tells of it
		}
	}
}

// CheckFirst refuses the first line of a file that is none of PromptHub's backups, or one that this
// version does not read.
func CheckFirst(text []byte) error {
	var first struct {
		Kind    string `json:"kind"`
		Version int    `json:"version"`
		Backup  string `json:"backup"` // which begins those of other applications
	}
	switch err := json.Unmarshal(text, &first); {
	case err == nil && first.Backup != "":
		return fmt.Errorf("it is a backup of %q, and this is PromptHub", first.Backup)
	case err != nil || first.Kind != "backup":
		return errors.New("it does not begin a backup of PromptHub")
	case first.Version > backupVersion:
		return fmt.Errorf("it is a backup of version %d, which is newer than this program, which reads %d to %d: use the version of PromptHub that wrote it", first.Version, oldestBackup, backupVersion)
	case first.Version < oldestBackup:
		return fmt.Errorf("it is a backup of version %d, and this program reads %d to %d",
			first.Version, oldestBackup, backupVersion)
	}
	return nil
}

// parseFirst is parseLine for the first line.
func parseFirst(text []byte) (l line, err error) {
	if err := CheckFirst(text); err != nil {
		return l, err
	}
	return parseLine(text)
}

func parseLine(text []byte) (l line, err error) {
	err = json.Unmarshal(text, &l, json.RejectUnknownMembers(true))
	return l, err
}

func (re *restore) read(ctx context.Context, l *parsed) (done bool, err error) {
	switch {
	case l.n == 1: // not before: a file that is no backup changes nothing
		if err := re.db.verify.Restoring(ctx, allRows); err != nil {
			return false, err
		}
		return false, re.db.clearTags(ctx)
	case l.Kind == "end" && l.Rows != nil:
		if *l.Rows != re.rows {
			return false, fmt.Errorf("the backup says %d rows, these were %d", *l.Rows, re.rows)
		}
		return true, errors.Join(re.endVotes(ctx), re.flush(ctx))
	}
	if re.rows++; re.rows%verify.ProgressEvery == 0 {
		re.progress(re.rows)
	}
	return false, re.row(ctx, l)
}

// row puts one line into the batch.
func (re *restore) row(ctx context.Context, l *parsed) error {
	switch {
	case l.Keys != "":
		return re.secret(ctx, l.Keys)
	case l.Tag != nil:
		return re.add(ctx, re.db.T.TagCatalog,
			schema.TagRow(prompt.TagInfo{
				Tag: l.Tag.Tag, DisplayName: l.Tag.DisplayName,
				SortOrder: l.Tag.SortOrder, Active: l.Tag.Active,
			}))
	case l.Idem != nil:
		return re.add(ctx, re.db.T.Prompts,
			table.Row{
				Key:   schema.IdemKey(l.Idem.Author, l.Idem.Key),
				Props: schema.IdemProps(l.Idem.Prompt, l.Idem.Body),
			})
	case l.Prompt != nil:
		rec, err := l.Prompt.record(re.db.Now())
		if err != nil {
			return err
		}
		re.prompts[rec.ID] = rec.AuthorID
		row, err := rec.Row()
		if err != nil {
			return err
		}
		if err := re.add(ctx, re.db.T.Prompts, row); err != nil {
			return err
		}
		if !re.db.verify.Loads() { // which makes that row from this one
			if err := re.add(ctx, re.db.T.Prompts, rec.MineRow()); err != nil {
				return err
			}
		}
		return re.library(ctx, rec, l.Prompt.Library)
	case l.File != nil:
		return re.file(ctx, *l.File)
	case l.Content != nil:
		return re.content(ctx, l.Content.Version, l.version)
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
	case l.Workspace != nil:
		return re.workspace(ctx, *l.Workspace)
	case l.Account != nil:
		return re.account(ctx, *l.Account)
	case l.Invite != nil:
		return re.invite(ctx, *l.Invite)
	case l.Member != nil:
		return re.member(ctx, *l.Member)
	case l.Membership != nil:
		return re.membership(ctx, *l.Membership)
	case l.Event != nil:
		return re.event(ctx, *l.Event)
	case l.Collection != nil:
		return re.collection(ctx, *l.Collection)
	case l.Proposal != nil:
		return re.proposal(ctx, *l.Proposal)
	case l.Review != nil:
		return re.review(ctx, *l.Review)
	}
	return fmt.Errorf("a line of kind %q", l.Kind)
}

// record returns the truth row that Reindex completes: it is marked as if its writer were gone.
func (l promptLine) record(now time.Time) (schema.Record, error) {
	id, ok := prompt.ParseID(string(l.ID))
	if !ok || id != l.ID {
		return schema.Record{}, fmt.Errorf("%q is no prompt id", l.ID)
	}
	rec := schema.Record{
		Prompt: prompt.Prompt{
			ID: id, AuthorID: l.Author, AuthorName: l.AuthorName,
			Draft:     prompt.Draft{Title: l.Title, Text: l.Text, Tags: l.Tags, Visibility: l.Visibility},
			CreatedAt: id.Time(), UpdatedAt: l.UpdatedAt, DeletedAt: l.DeletedAt,
			HiddenAt: l.HiddenAt, HiddenBy: l.HiddenBy, HiddenReason: l.HiddenReason, Revision: l.Revision,
		},
		Idem: l.Idempotency, RowsVersion: schema.RowsVersion,
		Lease: &schema.Lease{Attempt: "restore", Until: now.UTC()},
	}
	if l.Library == nil {
		return schema.Record{}, fmt.Errorf("prompt %s has no name", l.ID)
	}
	l.Library.into(&rec.Prompt)
	return rec, nil
}

func (re *restore) vote(ctx context.Context, v voteLine) error {
	id, ok := prompt.ParseID(string(v.Prompt))
	if !ok || id != v.Prompt || v.Value < prompt.Dislike || v.Value > prompt.Like {
		return fmt.Errorf("a vote of %d on prompt %q", v.Value, v.Prompt)
	}
	author, ok := re.prompts[id]
	if !ok {
		return nil // an older version backed up votes on prompts that were made meanwhile
	}
	if id != re.voted {
		if err := re.endVotes(ctx); err != nil {
			return err
		}
		re.voted = id
	}
	n := schema.Shard(v.Voter)
	re.tallies[n] = re.tallies[n].Add(prompt.Cast{}, prompt.Cast{Vote: v.Value, At: v.UpdatedAt})
	if v.Value != prompt.None {
		if err := re.add(ctx, re.db.T.VotesByVoter,
			table.Row{
				Key:   schema.VoterKey(v.Voter, id),
				Props: schema.VoterProps(id, author, v.Value, v.UpdatedAt),
			}); err != nil {
			return err
		}
	}
	return re.add(ctx, re.db.T.Votes,
		table.Row{Key: schema.VoteKey(v.Voter, id), Props: schema.VoteProps(v.Voter, id, v.Value, v.UpdatedAt)})
}

// endVotes writes the tally of the prompt whose votes have been read.
func (re *restore) endVotes(ctx context.Context) error {
	for n := range schema.Shards {
		if t, ok := re.tallies[n]; ok {
			if err := re.add(ctx, re.db.T.Votes,
				table.Row{Key: schema.TallyKey(re.voted, n), Props: schema.TallyProps(t)}); err != nil {
				return err
			}
		}
	}
	clear(re.tallies)
	return nil
}

// add puts a row into the batch of its table, which holds rows of one partition.
func (re *restore) add(ctx context.Context, name string, row table.Row) error {
	if re.failed.Load() {
		return errStopped
	}
	b := re.batches[name]
	if b == nil {
		b = &batch{}
		re.batches[name] = b
	}
	size := table.Size(table.Op{Row: row})
	full := len(b.ops) >= table.MaxBatch || b.size+size > table.MaxBatchBytes
	if full || len(b.ops) > 0 && b.ops[0].Row.Partition != row.Partition {
		re.write(ctx, name, b)
	}
	if slices.ContainsFunc(b.ops, func(op table.Op) bool { return op.Row.Key == row.Key }) {
		return twice(name, row.Key)
	}
	b.size += size
	b.ops = append(b.ops, table.Op{Kind: table.Insert, Row: row})
	return nil
}

// write begins to write a batch, and empties it.
func (re *restore) write(ctx context.Context, name string, b *batch) {
	ops, n := b.ops, re.line
	*b = batch{}
	re.writing.Go(func() error {
		err := re.db.Write(ctx, name, ops)
		if err == nil {
			return nil
		}
		re.failed.Store(true)
		if op := (*table.OpError)(nil); errors.As(err, &op) && errors.Is(err, table.ErrExists) {
			return fmt.Errorf("line %d: %w", n, twice(name, op.Key))
		}
		return fmt.Errorf("line %d: %w", n, rowstore.Unavailable(err))
	})
}

// flush writes what has been read, and waits for it.
func (re *restore) flush(ctx context.Context) error {
	for name, b := range re.batches {
		if len(b.ops) > 0 {
			re.write(ctx, name, b)
		}
	}
	return re.writing.Wait()
}

// twice refuses what Backup never writes. The store was empty.
func twice(name string, key table.Key) error {
	return fmt.Errorf("the backup has a row twice: %s: %s", name, key)
}
