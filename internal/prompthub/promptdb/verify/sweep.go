package verify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// sweepFor is how long one run of Sweep looks at rows, and sweepRepairs how long it repairs beyond
// that. A table that was walked to its end is left alone for sweepRest: looking costs operations,
// and there is nothing to find on a healthy store.
const (
	sweepFor     = 2 * time.Minute
	sweepRepairs = time.Minute
	sweepRest    = 24 * time.Hour
)

// Sweep is anti-entropy: it walks the truth and every index table a slice at a time, from where the
// last run stopped, inside the votes of one prompt if need be, and repairs what differs. It returns
// how many rows it looked at and how many differences it found; on a healthy store there are none.
// It repairs what no repair message can: what a process did that was frozen for longer than the
// storage and the lease allow for. A row that it cannot read or repair is part of the error, and
// keeps it from none of the others.
func (db *Verifier) Sweep(ctx context.Context) (rows, differences int, err error) {
	ctx, cancel := context.WithTimeout(ctx, rowstore.JobEnds)
	defer cancel()
	until := db.Now().Add(sweepFor)
	slices, err := db.slices(ctx)
	if err != nil {
		return 0, 0, err
	}
	var failed rowstore.Failures
	for i, s := range slices {
		left := until.Sub(db.Now())
		if left <= 0 {
			break
		}
		err := s.sweep(ctx, db.Now().Add(left/time.Duration(len(slices)-i)))
		rows, differences = rows+s.rows, differences+s.differences
		if err != nil && !failed.Record(fmt.Errorf("sweep %s: %w", s.table, err)) {
			break
		}
	}
	db.commit.Count(ctx, "differences", differences)
	return rows, differences, failed.Join()
}

// Swept returns since when each table has been walked to its end once more. It is zero until the
// first pass has ended.
func (db *Verifier) Swept(ctx context.Context) (oldest time.Time, err error) {
	rows, _, err := db.Budget().Rows(ctx, db.T.SystemState, table.Range{Partition: schema.SweepPartition},
		table.MaxPage)
	if err != nil {
		return oldest, rowstore.Unavailable(err)
	}
	full := make(map[string]time.Time, len(rows))
	for _, row := range rows {
		full[row.Row] = row.Props.Get("FullPassAt").Time()
	}
	for _, p := range db.parts() {
		at := full[p.table]
		switch {
		case at.IsZero():
			return at, nil
		case oldest.IsZero() || at.Before(oldest):
			oldest = at
		}
	}
	return oldest, nil
}

// A slice is what one run of Sweep does of a table.
type slice struct {
	part
	db   *Verifier
	next string    // where the next page begins
	full time.Time // when the table was last walked to its end

	rows, differences int
}

// slices returns the tables whose turn it is, and where the last run stopped.
func (db *Verifier) slices(ctx context.Context) ([]*slice, error) {
	var all []*slice
	for _, p := range db.parts() {
		state, err := db.GetRow(ctx, db.T.SystemState, schema.SweepKey(p.table))
		if err != nil {
			return nil, err
		}
		s := &slice{part: p, db: db}
		if state != nil {
			s.next, s.full = state.Props.Get("Next").Str(), state.Props.Get("FullPassAt").Time()
			if text := state.Props.Get("Votes").Str(); p.votes != nil && text != "" &&
				json.Unmarshal([]byte(text), &p.votes.at) != nil {
				s.next = "" // a place that cannot be read
			}
		}
		if rested := db.Now().Sub(s.full); s.next != "" || rested < 0 || rested >= sweepRest {
			all = append(all, s)
		}
	}
	return all, nil
}

// sweep walks on until a time and keeps its place. The page in which it is cut short comes again.
func (s *slice) sweep(ctx context.Context, until time.Time) error {
	var failed rowstore.Failures
	for {
		page, damaged, err := s.db.page(ctx, s.part, s.next)
		if errors.Is(err, table.ErrInvalid) {
			s.begin() // the place is of another kind of store
			break
		}
		if err != nil {
			failed.Record(rowstore.Unavailable(err))
			break
		}
		for _, d := range damaged {
			failed.Record(s.repair(ctx, d))
		}
		if !s.page(ctx, page, until, &failed) {
			break
		}
		if s.next = page.Next; s.next == "" {
			if len(failed) == 0 { // else the next run begins again
				s.full = s.db.Now()
			}
			break
		}
		if !s.db.Now().Before(until) {
			break
		}
	}
	return errors.Join(failed.Join(), s.keepPlace(context.WithoutCancel(ctx)))
}

func (s *slice) begin() {
	if s.next = ""; s.votes != nil {
		s.votes.at = VotesAt{}
	}
}

// page checks a page and repairs what it finds. It reports false where it did not come to its end.
func (s *slice) page(ctx context.Context, page table.Page, until time.Time, failed *rowstore.Failures) bool {
	var before VotesAt
	if s.votes != nil {
		before = s.votes.at
	}
	ok := s.complete(ctx, page.Rows, failed)
	found, errs := s.part.page(ctx, page.Rows, page.Next == "")
	for _, err := range errs {
		ok = failed.Record(err) && ok
	}
	for _, d := range found {
		if ok = ok && s.db.Now().Before(until.Add(sweepRepairs)); !ok {
			break
		}
		ok = failed.Record(s.repair(ctx, d))
	}
	if ok = ok && ctx.Err() == nil; !ok {
		if s.votes != nil {
			s.votes.at = before
		}
		return false
	}
	s.rows += len(page.Rows)
	return true
}

// complete gives the prompts of a page what they lack that were made before there was such: a name,
// and a key that leads to their author. And it removes favorites and tombstones of prompts that are
// gone, events that are too old, and snapshots that no client needs, which is no repair.
func (s *slice) complete(ctx context.Context, rows []table.Row, failed *rowstore.Failures) bool {
	ok := true
	if s.table == s.db.T.Files {
		return failed.Record(s.db.sweepFiles(ctx, rows))
	}
	for _, row := range rows {
		switch s.table {
		case s.db.T.Favorites:
			ok = failed.Record(s.db.forgetFavorite(ctx, row)) && ok
		case s.db.T.Fetches:
			ok = failed.Record(s.db.forgetFetch(ctx, row)) && ok
		case s.db.T.Git:
			ok = failed.Record(s.db.forgetLine(ctx, row)) && ok
		case s.db.T.SearchLog:
			ok = failed.Record(s.db.forgetGone(ctx, row)) && ok
		case s.db.T.Prompts:
			ok = failed.Record(s.db.forgetEvent(ctx, row)) && ok
		}
		if s.table != s.db.T.Prompts || strings.HasPrefix(row.Row, "!") {
			continue
		}
		author, _, err := TruthKey(row.Key)
		if err == nil {
			err = s.db.accounts.TouchAuthor(ctx, author)
		}
		if schema.Unreadable(err) || errors.Is(err, schema.ErrNewer) || fault.Of(err) == fault.NotFound {
			continue // the first two are findings of the check
		}
		ok = failed.Record(err) && ok
	}
	return ok
}

// repair repairs a difference. It counts, unless it is a vote whose job is still to come, or a row
// of a newer version: both are there while all is well.
func (s *slice) repair(ctx context.Context, d Difference) error {
	if d.newer {
		return nil
	}
	moving, err := s.db.moving(ctx, d)
	if err != nil {
		return err
	}
	if !moving {
		s.differences++
		s.db.Log.WarnContext(ctx, "index row differs from the truth", slog.String("table", d.Table),
			slog.String("prompt", string(d.id)), slog.String("what", d.What))
	}
	return s.db.repair(ctx, d)
}

// moving reports whether a difference may be that of a vote, or of a moved label, of a moment ago.
// Of a prompt with more votes than are read here it says so too, because it cannot know.
func (db *Verifier) moving(ctx context.Context, d Difference) (bool, error) {
	young := func(row *table.Row) bool {
		return row != nil && db.Now().Sub(row.Props.Get("UpdatedAt").Time()) < schema.VoteSettled
	}
	switch {
	case d.voter != "":
		vote, err := db.GetRow(ctx, db.T.Votes, schema.VoteKey(d.voter, d.id))
		return young(vote) || young(d.stray), err
	case d.labels:
		return db.movedLabel(ctx, d)
	case d.counts:
		r := table.Range{Partition: schema.LocatorKey(d.id).Partition, From: schema.VotePrefix}
		rows, more, err := db.Budget().Rows(ctx, db.T.Votes, r, table.MaxPage)
		for i := range rows {
			more = more || young(&rows[i])
		}
		return more, err
	}
	return false, nil
}

// movedLabel reports whether a label of a prompt was moved a moment ago, or a move taken back.
func (db *Verifier) movedLabel(ctx context.Context, d Difference) (moved bool, err error) {
	r := table.Prefix(schema.AuthorPartition(d.author), schema.MovesOf(d.id))
	rows, _, err := db.Budget().Rows(ctx, db.T.Prompts, r, table.MaxPage) // the last first
	for _, row := range rows {
		m := schema.ParseMoveRow(row)
		moved = moved || db.Now().Sub(m.At) < schema.VoteSettled || db.Now().Sub(m.Undone.At) < schema.VoteSettled
	}
	return moved, err
}

// keepPlace remembers where the next run goes on.
func (s *slice) keepPlace(ctx context.Context) error {
	props := table.Props{{Name: "Next", Value: table.String(s.next)}}
	if !s.full.IsZero() {
		props = append(props, table.Prop{Name: "FullPassAt", Value: table.Time(s.full)})
	}
	if s.votes != nil && s.votes.at.Partition != "" {
		text, err := json.Marshal(s.votes.at)
		if err != nil {
			return err
		}
		props = append(props, table.Prop{Name: "Votes", Value: table.String(string(text))})
	}
	err := s.db.Write(ctx, s.db.T.SystemState,
		[]table.Op{{Kind: table.Upsert, Row: table.Row{Key: schema.SweepKey(s.table), Props: props}}})
	if err != nil {
		return rowstore.Unavailable(err)
	}
	return nil
}
