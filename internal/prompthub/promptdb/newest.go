package promptdb

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/table"
)

// Newest returns public prompts, newest first, from a position on. A first page may be a second old, but for
// what this DB wrote.
func (db *DB) Newest(ctx context.Context, after string, limit int) (Page, error) {
	if after != "" {
		return db.newest(ctx, after, limit)
	}
	return db.firsts.page(ctx, db.Now, firstKey{list{table: db.t.Newest}, limit}, func(ctx context.Context) (Page, error) {
		return db.newest(ctx, "", limit)
	})
}

func (db *DB) newest(ctx context.Context, after string, limit int) (Page, error) {
	s := db.scan()
	at := monthOf(db.Now().Add(10 * time.Minute)) // the clock of another instance may be ahead
	if after != "" {
		id, ok := parseByAge(after)
		if !ok {
			return Page{}, badPosition()
		}
		at = min(at, monthOf(id.Time())) // a position may name any time
	}
	rows, more, err := s.rows(ctx, db.t.Newest, table.Range{Partition: newestPrefix + at.key(), After: after}, limit+1)
	if err != nil {
		return Page{}, err
	}
	var rest yearMonth
	if len(rows) <= limit && !more {
		var older []table.Row
		if older, rest, err = s.olderMonths(ctx, at, limit+1-len(rows)); err != nil {
			return Page{}, err
		}
		rows = append(rows, older...)
	}
	page := pageOf(rows, limit, rowKey)
	if page.After == "" && rest > 0 {
		page.After = endOfMonth(rest)
	}
	return page, nil
}

// A yearMonth is a month, counted from the year 0.
type yearMonth int

func monthOf(t time.Time) yearMonth {
	t = t.UTC()
	return yearMonth(t.Year()*12 + int(t.Month()) - 1)
}

func (m yearMonth) begin() time.Time {
	return time.Date(int(m)/12, time.Month(int(m)%12+1), 1, 0, 0, 0, 0, time.UTC)
}

func (m yearMonth) key() string { return month(m.begin()) }

// A span is some months, both ends among them.
type span struct{ from, to yearMonth }

// recent are the widths of the spans, in months, in which older months are looked at first; what is before
// them is one more. refined is how many parts are made of a span that holds too much to be read as one. So a library
// that slept for years is read on in one request.
var recent = []int{1, 1, 4, 18}

const refined = 4

// spansBefore cuts the months from oldest to before, which is left out, into spans, newest first.
func spansBefore(before, oldest yearMonth) []span {
	var all []span
	for _, width := range append(slices.Clone(recent), int(before-oldest)) {
		if before > oldest {
			all = append(all, span{max(before-yearMonth(width), oldest), before - 1})
			before = all[len(all)-1].from
		}
	}
	return all
}

// parts cuts a span into smaller ones, newest first.
func (s span) parts() []span {
	width := (s.to - s.from + refined) / refined
	var all []span
	for to := s.to; to >= s.from; to -= width {
		all = append(all, span{max(to-width+1, s.from), to})
	}
	return all
}

// olderMonths reads the first n rows of the months before one. Where it does not come to the end of the list, and
// has fewer, rest is the month down to which it has come.
func (s *scan) olderMonths(ctx context.Context, before yearMonth, n int) (rows []table.Row, rest yearMonth, err error) {
	oldest, err := s.db.oldest.get(ctx, s.db)
	if err != nil {
		return nil, 0, err
	}
	rows, full, err := s.spans(ctx, spansBefore(before, oldest), n)
	if err != nil || full == nil {
		return rows, 0, err
	}
	older, fuller, err := s.spans(ctx, full.parts(), n-len(rows))
	if rows = append(rows, older...); err != nil || len(rows) >= n {
		return rows, 0, err
	}
	if fuller != nil {
		return rows, fuller.to + 1, nil
	}
	return rows, full.from, nil
}

// spans reads the first n rows of spans that follow on each other, all at once. A range of several months begins with the
// oldest, so one that does not end within n rows tells nothing: full is the first such, and rows are those before it.
func (s *scan) spans(ctx context.Context, all []span, n int) (rows []table.Row, full *span, err error) {
	found := make([][]table.Row, len(all))
	more := make([]bool, len(all))
	var g errgroup.Group
	for i, months := range all {
		g.Go(func() (err error) {
			r := table.Range{FromPartition: newestPrefix + months.from.key(), ToPartition: newestPrefix + (months.to + 1).key()}
			one := *s
			found[i], more[i], err = one.rows(ctx, s.db.t.Newest, r, n)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, nil, err
	}
	s.reads -= len(all)
	for i, part := range found {
		s.left -= len(part)
		if more[i] && all[i].from < all[i].to && full == nil {
			full = &all[i]
		}
		if full == nil {
			slices.SortFunc(part, func(a, b table.Row) int { return cmp.Compare(a.Row, b.Row) }) // the key is by age
			rows = append(rows, part...)
		}
	}
	if len(rows) >= n {
		return rows[:n], nil, nil
	}
	return rows, full, nil
}

// oldestMonth remembers the first month that has prompts; before it no partition needs a look.
type oldestMonth struct {
	mu    sync.Mutex
	month yearMonth
	at    time.Time
}

const oldestFor = time.Minute

func (o *oldestMonth) get(ctx context.Context, db *DB) (yearMonth, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.at.IsZero() && db.Now().Sub(o.at) < oldestFor {
		return o.month, nil
	}
	s := db.scan()
	rows, _, err := s.rows(ctx, db.t.Newest, table.Range{FromPartition: newestPrefix, ToPartition: table.After(newestPrefix)}, 1)
	if err != nil {
		return 0, err
	}
	o.month, o.at = monthOf(db.Now().Add(10*time.Minute)), db.Now()
	if len(rows) > 0 {
		if id, ok := parseByAge(rows[0].Row); ok {
			o.month = monthOf(id.Time())
		}
	}
	return o.month, nil
}

// lower takes note of a prompt in an older month, which this instance has just listed. Others see it within oldestFor.
func (o *oldestMonth) lower(month yearMonth) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if month < o.month {
		o.month = month
	}
}
