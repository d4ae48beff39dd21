package promptdb

import (
	"context"
	"iter"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

const (
	bulkloadChunk = 8000 // prompts whose rows are sorted together, so that writes lie side by side
	fillBytes     = 2 << 20
)

// BulkLoad writes prompts, each with those who like it, and all rows that follow from them, at
// rest: a large library for measurements. The store must have no other user, and a prompt must not
// be there yet. The tally that a prompt comes with has no votes behind it. So many batches are
// under way at once. Fill returns how many rows it wrote.
func (db *DB) BulkLoad(ctx context.Context, prompts iter.Seq2[prompt.Prompt, []prompt.UserID], parallel int) (rows int, err error) {
	next, stop := iter.Pull2(prompts)
	defer stop()
	for {
		f := bulkload{}
		n := 0
		for ; n < bulkloadChunk; n++ {
			p, likers, ok := next()
			if !ok {
				break
			}
			if err := db.add(&f, p, likers); err != nil {
				return rows, err
			}
		}
		if n == 0 {
			return rows, nil
		}
		err := db.bulkload(ctx, &f, parallel)
		if err != nil {
			return rows, unavailable(err)
		}
		rows += len(f.rows)
	}
}

// A bulkload is the rows of a chunk of prompts on their way into the store.
type bulkload struct{ rows []indexRow }

func (db *DB) add(f *bulkload, p prompt.Prompt, likers []prompt.UserID) error {
	var tallies [shards]prompt.Tally
	tallies[0] = p.Tally
	for _, voter := range likers {
		like := prompt.Cast{Vote: prompt.Like, At: p.CreatedAt}
		n := shard(voter)
		tallies[n] = tallies[n].Add(prompt.Cast{}, like)
		p.Tally = p.Tally.Add(prompt.Cast{}, like)
		f.rows = append(f.rows,
			indexRow{db.t.Votes, table.Row{Key: voteKey(voter, p.ID), Props: voteProps(voter, p.ID, prompt.Like, p.CreatedAt)}},
			indexRow{db.t.VotesByVoter, table.Row{Key: voterKey(voter, p.ID), Props: voterProps(p.ID, p.AuthorID, prompt.Like, p.CreatedAt)}})
	}
	for i, t := range tallies {
		if t != (prompt.Tally{}) {
			f.rows = append(f.rows, indexRow{db.t.Votes, table.Row{Key: tallyKey(p.ID, i), Props: tallyProps(t)}})
		}
	}
	p = prompt.First(p)
	_, p.Slug = prompt.Slugs(p.Title, p.ID) // each its own
	p.Name = p.Slug
	rec := record{Prompt: p, rowsVersion: RowsVersion}
	truth, err := rec.row()
	if err != nil {
		return err
	}
	f.rows = append(f.rows, indexRow{db.t.Prompts, truth}, indexRow{db.t.Prompts, rec.mineRow()})
	version := versionRow(p.AuthorID, p.ID, p.Current(), 0)
	c := labelsRow{bytes: sizeIn(version)}.of(p)
	f.rows = append(f.rows,
		indexRow{db.t.Prompts, c.row(p.AuthorID, p.ID)},
		indexRow{db.t.Prompts, version},
		indexRow{db.t.Prompts, table.Row{Key: nameKey(p.AuthorID, p.Name), Props: nameProps(p, c)}})
	f.rows = append(append(f.rows, db.rows(p)...), db.textRows(p)...)
	return nil
}

func (db *DB) bulkload(ctx context.Context, f *bulkload, parallel int) error {
	slices.SortFunc(f.rows, func(a, b indexRow) int {
		if c := strings.Compare(a.table, b.table); c != 0 {
			return c
		}
		if c := strings.Compare(a.row.Partition, b.row.Partition); c != 0 {
			return c
		}
		return strings.Compare(a.row.Row, b.row.Row)
	})
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	for name, ops := range f.batches() {
		g.Go(func() error {
			_, err := db.store.Write(ctx, name, ops...)
			return err
		})
	}
	return g.Wait()
}

// batches yields the sorted rows as batches of one partition each.
func (f *bulkload) batches() iter.Seq2[string, []table.Op] {
	return func(yield func(string, []table.Op) bool) {
		var ops []table.Op
		name, size := "", 0
		for _, r := range f.rows {
			n := 100 // the overhead of a row
			for _, p := range r.row.Props {
				n += len(p.Name) + len(p.Value.Str()) + 8
			}
			full := len(ops) == table.MaxBatch || size+n > fillBytes
			if len(ops) > 0 && (full || name != r.table || ops[0].Row.Partition != r.row.Partition) {
				if !yield(name, ops) {
					return
				}
				ops, size = nil, 0
			}
			name, size = r.table, size+n
			ops = append(ops, table.Op{Kind: table.Insert, Row: r.row})
		}
		if len(ops) > 0 {
			yield(name, ops)
		}
	}
}
