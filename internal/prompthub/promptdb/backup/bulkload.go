package backup

import (
	"context"
	"iter"
	"slices"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

const (
	bulkloadChunk = 8000 // prompts whose rows are sorted together, so that writes lie side by side
	fillBytes     = 2 << 20
)

// BulkLoad writes prompts, each with its likers, and all rows that follow from them, at rest: a
// large library for measurements. The store must have no other user, and a prompt must not be there
// yet. The tally that a prompt comes with has no votes in the store. Parallel batches are under way
// at once. BulkLoad returns how many rows it wrote.
func (db *Backups) BulkLoad(ctx context.Context, prompts iter.Seq2[prompt.Prompt, []prompt.UserID],
	parallel int,
) (rows int, err error) {
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
			return rows, rowstore.Unavailable(err)
		}
		rows += len(f.rows)
	}
}

// A bulkload is the rows of a chunk of prompts on their way into the store.
type bulkload struct{ rows []schema.IndexRow }

func (db *Backups) add(f *bulkload, p prompt.Prompt, likers []prompt.UserID) error {
	var tallies [schema.Shards]prompt.Tally
	tallies[0] = p.Tally
	for _, voter := range likers {
		like := prompt.Cast{Vote: prompt.Like, At: p.CreatedAt}
		n := schema.Shard(voter)
		tallies[n] = tallies[n].Add(prompt.Cast{}, like)
		p.Tally = p.Tally.Add(prompt.Cast{}, like)
		f.rows = append(f.rows,
			schema.IndexRow{
				Table: db.T.Votes,
				Row: table.Row{
					Key:   schema.VoteKey(voter, p.ID),
					Props: schema.VoteProps(voter, p.ID, prompt.Like, p.CreatedAt),
				},
			},
			schema.IndexRow{
				Table: db.T.VotesByVoter,
				Row: table.Row{
					Key:   schema.VoterKey(voter, p.ID),
					Props: schema.VoterProps(p.ID, p.AuthorID, prompt.Like, p.CreatedAt),
				},
			})
	}
	for i, t := range tallies {
		if t != (prompt.Tally{}) {
			f.rows = append(f.rows, schema.IndexRow{
				Table: db.T.Votes,
				Row:   table.Row{Key: schema.TallyKey(p.ID, i), Props: schema.TallyProps(t)},
			})
		}
	}
	p = prompt.First(p)
	_, p.Slug = prompt.Slugs(p.Title, p.ID) // each its own
	p.Name = p.Slug
	rec := schema.Record{Prompt: p, RowsVersion: schema.RowsVersion}
	rec.Stamp(p.UpdatedAt)
	rows, err := db.T.AllRows(rec)
	if err != nil {
		return err
	}
	f.rows = append(f.rows, rows...)
	version := schema.VersionRow(p.AuthorID, p.ID, p.Current(), 0)
	c := schema.LabelsRow{Bytes: schema.SizeIn(version)}.Of(p)
	f.rows = append(f.rows,
		schema.IndexRow{Table: db.T.Prompts, Row: c.Row(p.AuthorID, p.ID)},
		schema.IndexRow{Table: db.T.Prompts, Row: version},
		schema.IndexRow{
			Table: db.T.Prompts,
			Row:   table.Row{Key: schema.NameKey(p.AuthorID, p.Name), Props: schema.NameProps(p, c)},
		})
	return nil
}

func (db *Backups) bulkload(ctx context.Context, f *bulkload, parallel int) error {
	slices.SortFunc(f.rows, schema.CompareRows)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	for name, ops := range f.batches() {
		g.Go(func() error {
			_, err := db.DB.Write(ctx, name, ops...)
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
			for _, p := range r.Row.Props {
				n += len(p.Name) + len(p.Value.Str()) + 8
			}
			full := len(ops) == table.MaxBatch || size+n > fillBytes
			if len(ops) > 0 && (full || name != r.Table || ops[0].Row.Partition != r.Row.Partition) {
				if !yield(name, ops) {
					return
				}
				ops, size = nil, 0
			}
			name, size = r.Table, size+n
			ops = append(ops, table.Op{Kind: table.Insert, Row: r.Row})
		}
		if len(ops) > 0 {
			yield(name, ops)
		}
	}
}
