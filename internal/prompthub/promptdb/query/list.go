package query

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/cursor"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Favorites returns the favorites of a user that he still may see, those of a filter, newest prompt
// first.
func (db *Queries) Favorites(ctx context.Context, user prompt.UserID, f Filter, after string, limit int) (Page, error) {
	return db.kept(ctx, user, keptList{table: db.T.Favorites, partition: schema.FavoritesPartition(user), filter: f},
		after, limit)
}

// A Page is a part of a list. After is the position of its end, "" at the end of the list; a
// page may be short, even empty, and yet have an After. Of a search, Understood are words by which
// prompts of the page were found in another form, or in place of which another word was searched
// for; Searched is the search with these; and it is partial if prompts may be missing, because they
// are being loaded or there is no room for them.
type Page struct {
	Items      []truth.View
	After      string
	Understood []prompt.Understood
	Searched   prompt.Query
	Partial    bool
	Near       []truth.View // of a search that found nothing: prompts that have some of its words
}

// Ranked returns public prompts in an order that votes change, from a position on. A prompt that is
// voted on during a walk may be seen twice or not at all, every other one exactly once. A first
// page may be a second old, except for writes of this instance.
func (db *Queries) Ranked(ctx context.Context, order schema.Order, after string, limit int) (Page, error) {
	r := schema.RankingOf(order)
	if after != "" {
		return db.ranked(ctx, r, after, limit)
	}
	return db.pages.page(ctx, db.Now, firstKey{rowstore.List{Table: r.Table(db.T)}, limit},
		func(ctx context.Context) (Page, error) {
			return db.ranked(ctx, r, "", limit)
		})
}

func (db *Queries) ranked(ctx context.Context, r schema.Ranking, after string, limit int) (Page, error) {
	if _, ok := r.Bucket(after); after != "" && !ok {
		return Page{}, cursor.Refuse()
	}
	rows, _, err := db.readRanked(ctx, db.Budget(), r, after, limit+1, nil, nil)
	if err != nil {
		return Page{}, err
	}
	return pageOf(rows, limit, rowKey), nil
}

// readRanked reads n rows of a ranking, those that keep refuses by the properties asked bare: the
// bucket that after lies in, then one range over the lower ones.
func (db *Queries) readRanked(ctx context.Context, s *rowstore.Budget, r schema.Ranking, after string, n int,
	keep func(table.Props) bool, asked []string,
) (rows []table.Row, more bool, err error) {
	lower := r.Prefix
	if after != "" {
		bucket, _ := r.Bucket(after)
		rows, more, err = s.Rows(ctx, r.Table(db.T),
			table.Range{Partition: bucket, After: after, Filter: keep, FilterProps: asked}, n)
		if err != nil || more || len(rows) >= n {
			return rows, true, err
		}
		lower = bucket + "|" // after this bucket, before the next
	}
	rest, more, err := s.Rows(ctx, r.Table(db.T),
		table.Range{FromPartition: lower, ToPartition: table.After(r.Prefix), Filter: keep, FilterProps: asked},
		n-len(rows))
	return append(rows, rest...), more, err
}

// Hidden returns the prompts that moderators took off the lists, newest first.
func (db *Queries) Hidden(ctx context.Context, after string, limit int) (Page, error) {
	if _, ok := schema.ParseByAge(after); after != "" && !ok {
		return Page{}, cursor.Refuse()
	}
	rows, _, err := db.Budget().Rows(ctx, db.T.HiddenIndex,
		table.Range{Partition: schema.HiddenPartition, After: after}, limit+1)
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
	page.Items = make([]truth.View, 0, len(rows))
	seen := make(map[prompt.ID]bool, len(rows))
	for _, row := range rows {
		p := schema.ParseSummary(row)
		if !seen[p.ID] {
			seen[p.ID] = true
			page.Items = append(page.Items, truth.View{
				Prompt: p, Excerpt: excerptOf(row), Production: row.Props.Get("Production").Int(),
				SummaryText: row.Props.Get("Outline").Str(), SummaryForOthers: row.Props.Get("OutlineForOthers").Str(),
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
func (db *Queries) MarkVotes(ctx context.Context, viewer prompt.UserID, items []truth.View) error {
	if viewer == "" || len(items) == 0 {
		return nil
	}
	keys := make([]string, len(items))
	for i, it := range items {
		keys[i] = schema.ByAge(it.ID)
	}
	r := table.Range{
		Partition: schema.VoterKey(viewer, items[0].ID).Partition,
		// "~" sorts after every character of an id
		From: slices.Min(keys), To: slices.Max(keys) + "~",
	}
	rows, more, err := db.Budget().Rows(ctx, db.T.VotesByVoter, r, maxVotesRead)
	if err != nil {
		return err
	}
	votes := make(map[string]table.Row, len(rows))
	for _, row := range rows {
		votes[row.Row] = row
	}
	var recent []*truth.View
	for i, key := range keys {
		row := votes[key]
		items[i].MyVote = schema.VoteIn(row)
		recent = db.alsoRecent(recent, &items[i], row)
	}
	if err := db.countAgain(ctx, recent); err != nil || !more {
		return err
	}
	return db.markOneByOne(ctx, viewer, items, keys, rows[len(rows)-1].Row)
}

// Counts in lists follow votes within voteLag while jobs run. Viewers who voted since see their own
// vote counted, in the first prompts of a page.
const (
	voteLag   = 10 * time.Second
	maxRecent = 20
)

// alsoRecent adds an item whose vote in a row is younger than the counts of lists may be.
func (db *Queries) alsoRecent(recent []*truth.View, it *truth.View, vote table.Row) []*truth.View {
	if at := vote.Props.Get("UpdatedAt").Time(); at.IsZero() ||
		db.Now().Sub(at) >= voteLag || len(recent) == maxRecent {
		return recent
	}
	return append(recent, it)
}

// countAgain sets the tallies of items to what they are now.
func (db *Queries) countAgain(ctx context.Context, items []*truth.View) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(rowstore.MaxParallel)
	for _, it := range items {
		g.Go(func() (err error) {
			it.Tally, err = db.Tally(ctx, it.ID)
			return err
		})
	}
	return g.Wait()
}

// markOneByOne sets MyVote of the items whose key lies after the last one read.
func (db *Queries) markOneByOne(ctx context.Context, viewer prompt.UserID, items []truth.View,
	keys []string, last string,
) error {
	var g errgroup.Group
	g.SetLimit(rowstore.MaxParallel)
	for i, key := range keys {
		if key <= last {
			continue
		}
		g.Go(func() error {
			row, err := db.GetRow(ctx, db.T.VotesByVoter, schema.VoterKey(viewer, items[i].ID))
			if err == nil && row != nil {
				items[i].MyVote = schema.VoteIn(*row)
			}
			return err
		})
	}
	return g.Wait()
}

// MyVotes returns the prompts that a voter voted on and still may see, newest prompt first. A value
// other than None restricts them to that vote.
func (db *Queries) MyVotes(ctx context.Context, voter prompt.UserID, value prompt.Vote,
	after string, limit int,
) (Page, error) {
	l := keptList{table: db.T.VotesByVoter, partition: schema.VoterPartition(voter)}
	if value != prompt.None {
		l.unwanted = func(row table.Row) bool { return schema.VoteIn(row) != value }
	}
	return db.kept(ctx, voter, l, after, limit)
}

// A keptList is what a user keeps of prompts: a row for each, the newest prompt first.
type keptList struct {
	table, partition string
	unwanted         func(table.Row) bool // nil for none
	filter           Filter
}

// kept returns the prompts of a list that its user may see. Each is looked up by itself, and so are
// those that are gone: a page with some of these is shorter.
func (db *Queries) kept(ctx context.Context, user prompt.UserID, l keptList, after string, limit int) (Page, error) {
	if _, ok := schema.ParseByAge(after); after != "" && !ok {
		return Page{}, cursor.Refuse()
	}
	s := db.Budget()
	var items []truth.View
	r := table.Range{Partition: l.partition, After: after}
	lookups, search := limit+1, db.textSearch(user, l.filter)
	if l.filter.narrow() {
		lookups = maxOwnTexts
	}
	for size := limit + 1; ; size *= 4 {
		rows, more, err := s.Rows(ctx, l.table, r, s.Size(size))
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
		found, _, err = search.among(ctx, found) // which has a text for each look-up
		if err != nil {
			return Page{}, err
		}
		items = append(items, found...)
		switch {
		case len(items) > limit:
			return Page{Items: items[:limit], After: schema.ByAge(items[limit-1].ID)}, nil
		case !more:
			return Page{Items: items}, nil
		case lookups == 0 || s.Spent():
			return Page{Items: items, After: r.After}, nil
		}
	}
}

// summariesOf returns the summaries of the prompts that rows of a kept list name, those that the
// user may see.
func (db *Queries) summariesOf(ctx context.Context, user prompt.UserID, rows []table.Row) ([]truth.View, error) {
	found := make([]*table.Row, len(rows))
	var g errgroup.Group
	g.SetLimit(rowstore.MaxParallel)
	for i, row := range rows {
		id := prompt.ID(row.Props.Get("PromptId").Str())
		name, key := db.T.Newest, schema.NewestKey(id)
		if schema.UserIn(row.Props, "AuthorId") == user || row.Props.Get("IsOwn").Bool() {
			name, key = db.T.Prompts, schema.MineKey(user, id)
		}
		g.Go(func() (err error) {
			found[i], err = db.GetRow(ctx, name, key)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	items := make([]truth.View, 0, len(found)) // none moves while others are pointed at
	var recent []*truth.View
	for i, row := range found {
		if row == nil {
			continue
		}
		if p := schema.ParseSummary(*row); !p.Deleted() {
			items = append(items, truth.View{
				Prompt: p, Excerpt: excerptOf(*row),
				Production: row.Props.Get("Production").Int(), MyVote: schema.VoteIn(rows[i]),
			})
			recent = db.alsoRecent(recent, &items[len(items)-1], rows[i])
		}
	}
	return items, db.countAgain(ctx, recent)
}

// VoteOf returns a voter's vote on a prompt that the voter may see, and the tally.
func (db *Queries) VoteOf(ctx context.Context, voter prompt.UserID, id prompt.ID) (prompt.Vote, prompt.Tally, error) {
	b, err := db.VoteRows(ctx, voter, id)
	if err != nil {
		return prompt.None, prompt.Tally{}, err
	}
	if _, err := db.MayVote(ctx, voter, b.Locator, id); err != nil {
		return prompt.None, prompt.Tally{}, err
	}
	return b.Value(), b.Tally, nil
}
