package promptdb

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// The bound of one request: what it scans before it answers what it has and where to go on.
const (
	maxScan     = 4000
	maxReads    = 10 // ranges; with the caller's votes and what else goes with a list 12 operations
	maxScanTime = time.Second
)

// A Page is a part of a list. After is the position of its end, "" at the end of the list; a
// page may be short, even empty, and yet have an After.
type Page struct {
	Items []View
	After string
}

// A budget says what one request may still read. Only that request changes it.
type budget struct {
	db    *DB
	left  int // rows
	reads int // ranges left to read
	until time.Time
}

func (db *DB) budget() *budget {
	return &budget{db: db, left: maxScan, reads: maxReads, until: db.now().Add(maxScanTime)}
}

func (s *budget) spent() bool { return s.left <= 0 || s.reads <= 0 || s.db.now().After(s.until) }

// size returns how many rows to read next where n would be best.
func (s *budget) size(n int) int { return max(min(n, s.left, table.MaxPage), 1) }

// part takes rows and reads out of the budget, for a budget of its own that ends no later.
func (s *budget) part(rows, reads int) *budget {
	s.left -= rows
	s.reads -= reads
	return &budget{db: s.db, left: rows, reads: reads, until: s.until}
}

// rejoin takes back what a part has left.
func (s *budget) rejoin(part *budget) {
	s.left += part.left
	s.reads += max(part.reads, 0)
}

// A reading is a range to read, and what was found in it: no more than limit rows, and no more than
// the range says are enough, where the storage goes by that.
type reading struct {
	table string
	r     table.Range
	limit int

	rows   []table.Row
	enough bool // whether it kept as many of them as the range says are
	more   bool // whether the range may go on
}

// read reads up to limit rows, through short and empty pages.
func (rd *reading) read(ctx context.Context, store table.DB) error {
	r := rd.r
	for next := ""; ; {
		page, err := store.List(ctx, rd.table, r, min(rd.limit-len(rd.rows), table.MaxPage), next)
		if err != nil {
			return unavailable(err)
		}
		if rd.rows == nil {
			rd.rows = page.Rows // all of them, most times
		} else {
			rd.rows = append(rd.rows, page.Rows...)
		}
		if r.MaxMatches > 0 {
			r.MaxMatches -= countKept(page.Rows)
			rd.enough = r.MaxMatches <= 0
		}
		if next = page.Next; next == "" || len(rd.rows) >= rd.limit || rd.enough {
			rd.more = next != ""
			return nil
		}
	}
}

// rows reads up to limit rows of a range, through short and empty pages. more reports whether the
// range may go on.
func (s *budget) rows(ctx context.Context, name string, r table.Range, limit int) (rows []table.Row, more bool, err error) {
	one := reading{table: name, r: r, limit: limit}
	err = one.read(ctx, s.db.store)
	s.spend(&one)
	if err != nil {
		return nil, false, err
	}
	return one.rows, one.more, nil
}

// readAll reads ranges at once, the first of them, and often the only one, on the caller's
// goroutine: see both.
func (s *budget) readAll(ctx context.Context, all []*reading) error {
	if len(all) == 0 {
		return nil
	}
	var g errgroup.Group
	for _, rd := range all[1:] {
		g.Go(func() error { return rd.read(ctx, s.db.store) })
	}
	err := all[0].read(ctx, s.db.store)
	if other := g.Wait(); err == nil {
		err = other
	}
	s.spend(all...)
	return err
}

func (s *budget) spend(all ...*reading) {
	s.reads -= len(all)
	for _, rd := range all {
		s.left -= len(rd.rows)
	}
}

func badPosition() error {
	return &fault.Error{Kind: fault.Malformed, Text: "the cursor is not one that this list gave out; start again without it", Fields: []fault.Field{
		{Name: "cursor", Message: "must be the cursor that a page of the same query ended with"},
	}}
}

// Ranked returns public prompts in an order that votes change, from a position on. A prompt that is
// voted on during a walk may be seen twice or not at all, every other one exactly once. A first
// page may be a second old, but for what this DB wrote.
func (db *DB) Ranked(ctx context.Context, order Order, after string, limit int) (Page, error) {
	r := rankings[order]
	if after != "" {
		return db.ranked(ctx, r, after, limit)
	}
	return db.pages.page(ctx, db.now, firstKey{list{table: r.table(db.t)}, limit}, func(ctx context.Context) (Page, error) {
		return db.ranked(ctx, r, "", limit)
	})
}

func (db *DB) ranked(ctx context.Context, r ranking, after string, limit int) (Page, error) {
	if _, ok := r.bucket(after); after != "" && !ok {
		return Page{}, badPosition()
	}
	rows, _, err := db.readRanked(ctx, db.budget(), r, after, limit+1, nil)
	if err != nil {
		return Page{}, err
	}
	return pageOf(rows, limit, rowKey), nil
}

// readRanked reads n rows of a ranking, those that keep refuses bare: the bucket that after lies in,
// then one range over the lower ones.
func (db *DB) readRanked(ctx context.Context, s *budget, r ranking, after string, n int, keep func(table.Props) bool) (rows []table.Row, more bool, err error) {
	lower := r.prefix
	if after != "" {
		bucket, _ := r.bucket(after)
		rows, more, err = s.rows(ctx, r.table(db.t), table.Range{Partition: bucket, After: after, Filter: keep, FilterProps: signed}, n)
		if err != nil || more || len(rows) >= n {
			return rows, true, err
		}
		lower = bucket + "|" // behind this bucket, before the next
	}
	rest, more, err := s.rows(ctx, r.table(db.t), table.Range{FromPartition: lower, ToPartition: table.After(r.prefix), Filter: keep, FilterProps: signed}, n-len(rows))
	return append(rows, rest...), more, err
}

// Hidden returns the prompts that moderators took off the lists, newest first.
func (db *DB) Hidden(ctx context.Context, after string, limit int) (Page, error) {
	if _, ok := parseByAge(after); after != "" && !ok {
		return Page{}, badPosition()
	}
	rows, _, err := db.budget().rows(ctx, db.t.HiddenIndex, table.Range{Partition: hiddenPartition, After: after}, limit+1)
	if err != nil {
		return Page{}, err
	}
	return pageOf(rows, limit, rowKey), nil
}

// pageOf cuts rows to limit, drops a second sight of a prompt, and says where the next page begins
// if there is one.
func pageOf(rows []table.Row, limit int, position func(table.Row) string) Page {
	var page Page
	if len(rows) > limit {
		rows = rows[:limit]
		page.After = position(rows[limit-1])
	}
	page.Items = make([]View, 0, len(rows))
	seen := make(map[prompt.ID]bool, len(rows))
	for _, row := range rows {
		p := parseSummary(row)
		if !seen[p.ID] {
			seen[p.ID] = true
			page.Items = append(page.Items, View{
				Prompt: p, Excerpt: excerptOf(row),
				programSummary: row.Props.Get("Outline").Str(), forOthers: row.Props.Get("OutlineForOthers").Str(),
			})
		}
	}
	return page
}

func excerptOf(row table.Row) string { return row.Props.Get("Excerpt").Str() }

func rowKey(row table.Row) string { return row.Row }

// maxVotesRead is how many of the viewer's votes one list reads in a row; prompts beyond that are
// looked up one by one.
const maxVotesRead = 1000

// MarkVotes sets MyVote in a page.
func (db *DB) MarkVotes(ctx context.Context, viewer prompt.UserID, items []View) error {
	if viewer == "" || len(items) == 0 {
		return nil
	}
	keys := make([]string, len(items))
	for i, it := range items {
		keys[i] = byAge(it.ID)
	}
	r := table.Range{
		Partition: voterKey(viewer, items[0].ID).Partition,
		// "~" sorts behind every character of an id
		From: slices.Min(keys), To: slices.Max(keys) + "~",
	}
	rows, more, err := db.budget().rows(ctx, db.t.VotesByVoter, r, maxVotesRead)
	if err != nil {
		return err
	}
	votes := make(map[string]table.Row, len(rows))
	for _, row := range rows {
		votes[row.Row] = row
	}
	var recent []*View
	for i, key := range keys {
		row := votes[key]
		items[i].MyVote = voteOf(row)
		recent = db.alsoRecent(recent, &items[i], row)
	}
	if err := db.countAgain(ctx, recent); err != nil || !more {
		return err
	}
	return db.markOneByOne(ctx, viewer, items, keys, rows[len(rows)-1].Row)
}

// Counts in lists lag behind votes: by at most voteLag while jobs run. A viewer who voted since
// sees his own vote counted, in the first prompts of a page.
const (
	voteLag   = 10 * time.Second
	maxRecent = 20
)

// alsoRecent adds an item whose vote in a row is younger than the counts of lists may be.
func (db *DB) alsoRecent(recent []*View, it *View, vote table.Row) []*View {
	if at := vote.Props.Get("UpdatedAt").Time(); at.IsZero() || db.now().Sub(at) >= voteLag || len(recent) == maxRecent {
		return recent
	}
	return append(recent, it)
}

// countAgain sets the tallies of items to what they are now.
func (db *DB) countAgain(ctx context.Context, items []*View) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(maxParallel)
	for _, it := range items {
		g.Go(func() (err error) {
			it.Tally, err = db.tally(ctx, it.ID)
			return err
		})
	}
	return g.Wait()
}

// markOneByOne sets MyVote of the items whose key lies behind the last one read.
func (db *DB) markOneByOne(ctx context.Context, viewer prompt.UserID, items []View, keys []string, last string) error {
	var g errgroup.Group
	g.SetLimit(maxParallel)
	for i, key := range keys {
		if key <= last {
			continue
		}
		g.Go(func() error {
			row, err := db.get(ctx, db.t.VotesByVoter, voterKey(viewer, items[i].ID))
			if err == nil && row != nil {
				items[i].MyVote = voteOf(*row)
			}
			return err
		})
	}
	return g.Wait()
}

// MyVotes returns the prompts that a voter voted on and still may see, newest prompt first. A value
// other than None restricts them to that vote.
func (db *DB) MyVotes(ctx context.Context, voter prompt.UserID, value prompt.Vote, after string, limit int) (Page, error) {
	l := keptList{table: db.t.VotesByVoter, partition: voterPartition(voter)}
	if value != prompt.None {
		l.unwanted = func(row table.Row) bool { return voteOf(row) != value }
	}
	return db.kept(ctx, voter, l, after, limit)
}

// A keptList is what a user keeps of prompts: a row for each, the newest prompt first.
type keptList struct {
	table, partition string
	unwanted         func(table.Row) bool // nil for none
}

// kept returns the prompts behind a list that its user may see. Each is looked up by itself, and so
// are those that are gone: a page with some of these is shorter.
func (db *DB) kept(ctx context.Context, user prompt.UserID, l keptList, after string, limit int) (Page, error) {
	if _, ok := parseByAge(after); after != "" && !ok {
		return Page{}, badPosition()
	}
	s := db.budget()
	var items []View
	r := table.Range{Partition: l.partition, After: after}
	lookups := limit + 1
	for size := limit + 1; ; size *= 4 {
		rows, more, err := s.rows(ctx, l.table, r, s.size(size))
		if err != nil {
			return Page{}, err
		}
		if len(rows) > 0 {
			r.After = rows[len(rows)-1].Row
		}
		if l.unwanted != nil {
			rows = slices.DeleteFunc(rows, l.unwanted)
		}
		if len(rows) > lookups {
			rows, more = rows[:lookups], true
			r.After = rows[lookups-1].Row
		}
		lookups -= len(rows)
		found, err := db.summariesOf(ctx, user, rows)
		if err != nil {
			return Page{}, err
		}
		items = append(items, found...)
		switch {
		case len(items) > limit:
			return Page{Items: items[:limit], After: byAge(items[limit-1].ID)}, nil
		case !more:
			return Page{Items: items}, nil
		case lookups == 0 || s.spent():
			return Page{Items: items, After: r.After}, nil
		}
	}
}

// summariesOf returns the summaries of the prompts that rows of a kept list name, those that the
// user may see.
func (db *DB) summariesOf(ctx context.Context, user prompt.UserID, rows []table.Row) ([]View, error) {
	found := make([]*table.Row, len(rows))
	var g errgroup.Group
	g.SetLimit(maxParallel)
	for i, row := range rows {
		id := prompt.ID(row.Props.Get("PromptId").Str())
		name, key := db.t.Newest, newestKey(id)
		if userIn(row.Props, "AuthorId") == user || row.Props.Get("IsOwn").Bool() {
			name, key = db.t.Prompts, mineKey(user, id)
		}
		g.Go(func() (err error) {
			found[i], err = db.get(ctx, name, key)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	items := make([]View, 0, len(found)) // none moves while others are pointed at
	var recent []*View
	for i, row := range found {
		if row == nil {
			continue
		}
		if p := parseSummary(*row); !p.Deleted() {
			items = append(items, View{Prompt: p, Excerpt: excerptOf(*row), MyVote: voteOf(rows[i])})
			recent = db.alsoRecent(recent, &items[len(items)-1], rows[i])
		}
	}
	return items, db.countAgain(ctx, recent)
}
