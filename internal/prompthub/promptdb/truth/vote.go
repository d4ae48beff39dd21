package truth

import (
	"context"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// VoteRows reads the voter's row and the headers of the prompt's partition, at once.
func (db *Reader) VoteRows(ctx context.Context, voter prompt.UserID, id prompt.ID) (schema.VoteRows, error) {
	var b schema.VoteRows
	var rows []table.Row
	err := rowstore.Both(ctx, func(ctx context.Context) (err error) {
		b.Vote, err = db.GetRow(ctx, db.T.Votes, schema.VoteKey(voter, id))
		return err
	}, func(ctx context.Context) (err error) {
		rows, err = db.Header(ctx, id)
		return err
	})
	if err != nil {
		return schema.VoteRows{}, err
	}
	own := schema.TallyKey(id, schema.Shard(voter))
	for i, row := range rows {
		switch row.Key {
		case schema.LocatorKey(id):
			b.Locator = &rows[i]
		case own:
			b.Share = &rows[i]
		}
	}
	b.Tally = schema.SumTally(rows)
	return b, nil
}

// Header reads the locator and the tally rows of a prompt.
func (db *Reader) Header(ctx context.Context, id prompt.ID) ([]table.Row, error) {
	r := table.Prefix(schema.LocatorKey(id).Partition, schema.HeaderPrefix)
	var rows []table.Row
	for next := ""; ; {
		page, err := db.DB.List(ctx, db.T.Votes, r, 100, next)
		if err != nil {
			return nil, rowstore.Unavailable(err)
		}
		rows = append(rows, page.Rows...)
		if next = page.Next; next == "" {
			return rows, nil
		}
	}
}

// Tally reads the votes of a prompt as one number each.
func (db *Reader) Tally(ctx context.Context, id prompt.ID) (prompt.Tally, error) {
	rows, err := db.Header(ctx, id)
	return schema.SumTally(rows), err
}

// MayVote returns the author of a prompt, or NotFound where the voter may not know of it. Then it
// has asked the same of the storage, whether there is such a prompt or not.
func (db *Reader) MayVote(ctx context.Context, voter prompt.UserID, locator *table.Row,
	id prompt.ID,
) (author prompt.UserID, err error) {
	if locator != nil {
		where := schema.ParseLocator(*locator)
		db.Authors.Add(id, where.Author)
		if where.VisibleTo(voter) {
			return where.Author, nil
		}
	}
	// Just created and not projected yet: only its author can know of it.
	rec, err := db.Read(ctx, voter, id)
	if err != nil {
		return "", err
	}
	if locator != nil || rec == nil || rec.Deleted() || rec.Purging {
		return "", prompt.ErrUnknown()
	}
	return voter, nil
}

// Locate returns the author of a prompt: its locator says who, or else it is the viewer's own.
func (db *Reader) Locate(ctx context.Context, viewer prompt.UserID, id prompt.ID) (prompt.UserID, error) {
	row, err := db.GetRow(ctx, db.T.Votes, schema.LocatorKey(id))
	if err != nil {
		return "", err
	}
	if row != nil {
		author := schema.ParseLocator(*row).Author
		db.Authors.Add(id, author)
		return author, nil
	}
	rec, err := db.Read(ctx, viewer, id)
	if err != nil {
		return "", err
	}
	if rec == nil {
		return "", prompt.ErrUnknown()
	}
	db.Authors.Add(id, viewer)
	return viewer, nil
}

// Author returns the author of a prompt, also of one that the viewer may not see, or NotFound.
func (db *Reader) Author(ctx context.Context, viewer prompt.UserID, id prompt.ID) (prompt.UserID, error) {
	if author, ok := db.Authors.Get(id); ok {
		return author, nil
	}
	return db.Locate(ctx, viewer, id)
}
