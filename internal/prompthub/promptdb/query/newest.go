package query

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"prompthub/internal/cursor"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// endOfMonth is the position after every row of a month: as the key of the last id that its first
// millisecond can have.
func endOfMonth(m yearMonth) string {
	id, err := prompt.NewID(m.begin(), bytes.NewReader(bytes.Repeat([]byte{0xff}, 10)))
	if err != nil {
		panic(err) // unreachable: the months are those of ids
	}
	return schema.ByAge(id)
}

// Newest returns public prompts, newest first, from a position on. A first page may be a second
// old, except for writes of this instance.
func (db *Queries) Newest(ctx context.Context, after string, limit int) (Page, error) {
	if after != "" {
		return db.NewestPage(ctx, after, limit)
	}
	return db.pages.page(ctx, db.Now, firstKey{rowstore.List{Table: db.T.Newest}, limit},
		func(ctx context.Context) (Page, error) {
			return db.NewestPage(ctx, "", limit)
		})
}

// NewestPage is Newest without the cache of first pages.
func (db *Queries) NewestPage(ctx context.Context, after string, limit int) (Page, error) {
	s := db.Budget()
	var at yearMonth
	if after != "" {
		id, ok := schema.ParseByAge(after)
		if !ok {
			return Page{}, cursor.Refuse()
		}
		at = monthOf(id.Time())
	}
	at, rows, more, err := db.newestMonth(ctx, s, at, after, limit+1)
	if err != nil {
		return Page{}, err
	}
	var rest yearMonth
	if len(rows) <= limit && !more {
		var older []table.Row
		if older, rest, err = db.olderMonths(ctx, s, at, limit+1-len(rows)); err != nil {
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

// newestMonth reads n rows of a month after a key, or, if at is 0, of the latest month that has
// prompts, and returns which it was. That is mostly this month, which is read during the look for a
// later one: ids lie there that a wrong clock made.
func (db *Queries) newestMonth(ctx context.Context, s *rowstore.Budget, at yearMonth, after string,
	n int,
) (read yearMonth, rows []table.Row, more bool, err error) {
	get := func(ctx context.Context) (err error) {
		rows, more, err = s.Rows(ctx, db.T.Newest,
			table.Range{Partition: schema.NewestPrefix + read.key(), After: after}, n)
		return err
	}
	now, latest := monthNow(db.Now()), yearMonth(0)
	if read = cmp.Or(at, now); at != 0 && at <= now {
		err = get(ctx)
		return read, rows, more, err
	}
	read = now
	err = rowstore.Both(ctx, func(ctx context.Context) (err error) {
		latest, err = db.latestMonth(ctx)
		return err
	}, get)
	if at != 0 {
		latest = min(at, latest) // a position may name any time
	}
	if err == nil && read != latest {
		read = latest
		err = get(ctx)
	}
	return read, rows, more, err
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

func (m yearMonth) key() string { return schema.Month(m.begin()) }

// A span is some months, both ends among them.
type span struct{ from, to yearMonth }

// recent are the widths of the spans, in months, in which older months are looked at first; all
// months before them are one more. refined is how many parts are made of a span that holds too much
// to be read as one. So a library that slept for years is read on in one request.
var recent = []int{1, 4, 18}

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

// olderMonths reads the first n rows of the months before one. Where it does not come to the end of
// the list, and has fewer, rest is the month down to which it has come.
func (db *Queries) olderMonths(ctx context.Context, s *rowstore.Budget, before yearMonth,
	n int,
) (rows []table.Row, rest yearMonth, err error) {
	oldest, err := db.oldestMonth(ctx)
	if err != nil {
		return nil, 0, err
	}
	rows, full, err := db.spans(ctx, s, spansBefore(before, oldest), n)
	if err != nil || full == nil {
		return rows, 0, err
	}
	older, fuller, err := db.spans(ctx, s, full.parts(), n-len(rows))
	if rows = append(rows, older...); err != nil || len(rows) >= n {
		return rows, 0, err
	}
	if fuller != nil {
		return rows, fuller.to + 1, nil
	}
	return rows, full.from, nil
}

// spans reads the first n rows of spans that follow on each other, all at once. A range of several
// months begins with the oldest, so one that does not end within n rows tells nothing: full is the
// first such, and rows are those before it.
func (db *Queries) spans(ctx context.Context, s *rowstore.Budget, all []span,
	n int,
) (rows []table.Row, full *span, err error) {
	found := make([]*rowstore.Reading, len(all))
	for i, months := range all {
		found[i] = &rowstore.Reading{Table: db.T.Newest, Range: table.Range{
			FromPartition: schema.NewestPrefix + months.from.key(),
			ToPartition:   schema.NewestPrefix + (months.to + 1).key(),
		}, Limit: n}
	}
	if err := s.ReadAll(ctx, found); err != nil {
		return nil, nil, err
	}
	for i, part := range found {
		if part.More && all[i].from < all[i].to && full == nil {
			full = &all[i]
		}
		if full == nil {
			// the key is by age
			slices.SortFunc(part.Rows, func(a, b table.Row) int { return cmp.Compare(a.Row, b.Row) })
			rows = append(rows, part.Rows...)
		}
	}
	if len(rows) >= n {
		return rows[:n], nil, nil
	}
	return rows, full, nil
}

// monthNow is the month in which prompts are made now. The clock of another instance may be ahead.
func monthNow(now time.Time) yearMonth { return monthOf(now.Add(10 * time.Minute)) }

// partitionCache remembers the first and the last month that have prompts: before and after them no
// partition needs a look.
type partitionCache struct {
	mu          sync.Mutex
	first, last yearMonth
	firstAt     time.Time
	lastAt      time.Time
}

// monthsFor is how long an instance believes what it read of the months, and maxLater how often it
// reads on among months to come.
const (
	monthsFor = time.Minute
	maxLater  = 3
)

// oldestMonth returns the first month that has prompts.
func (db *Queries) oldestMonth(ctx context.Context) (yearMonth, error) {
	m := &db.partitions
	began := db.Now()
	was, fresh := m.believed(&m.first, &m.firstAt, began)
	if fresh {
		return was, nil
	}
	r := table.Range{FromPartition: schema.NewestPrefix, ToPartition: table.After(schema.NewestPrefix)}
	rows, _, err := db.Budget().Rows(ctx, db.T.Newest, r, 1)
	if err != nil {
		return 0, err
	}
	found := monthNow(began)
	if len(rows) > 0 {
		if id, ok := schema.ParseByAge(rows[0].Row); ok {
			found = monthOf(id.Time())
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.first != was { // listed meanwhile, and perhaps not found
		found = min(found, m.first)
	}
	m.first, m.firstAt = found, began
	return found, nil
}

// latestMonth returns the last month that has prompts, or this one where none is later.
func (db *Queries) latestMonth(ctx context.Context) (yearMonth, error) {
	m := &db.partitions
	began := db.Now()
	found := monthNow(began)
	was, fresh := m.believed(&m.last, &m.lastAt, began)
	if fresh {
		return max(was, found), nil
	}
	s, more := db.Budget(), true
	for i := 0; i < maxLater && more; i++ {
		r := table.Range{
			FromPartition: schema.NewestPrefix + (found + 1).key(),
			ToPartition:   table.After(schema.NewestPrefix),
		}
		var rows []table.Row
		var err error
		if rows, more, err = s.Rows(ctx, db.T.Newest, r, table.MaxPage); err != nil {
			return 0, err
		}
		if len(rows) > 0 {
			if id, ok := schema.ParseByAge(rows[len(rows)-1].Row); ok {
				found = max(found, monthOf(id.Time()))
			}
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.last != was {
		found = max(found, m.last)
	}
	m.last, m.lastAt = found, began
	return found, nil
}

// believed returns what is kept of a month, and whether it must be believed still.
func (m *partitionCache) believed(month *yearMonth, at *time.Time, now time.Time) (yearMonth, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return *month, !at.IsZero() && now.Sub(*at) < monthsFor
}

// listed takes note of the month of a prompt that this instance has just listed. Others see it
// within monthsFor.
func (m *partitionCache) listed(month yearMonth) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if month < m.first {
		m.first = month
	}
	m.last = max(m.last, month)
}
