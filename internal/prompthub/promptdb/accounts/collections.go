package accounts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Collections returns the collections of an owner, by their names in addresses.
func (db *Accounts) Collections(ctx context.Context, owner prompt.UserID) ([]prompt.Collection, error) {
	rows, _, err := db.Budget().Rows(ctx, db.T.Prompts, schema.CollectionsOf(owner), table.MaxPage)
	var all []prompt.Collection
	for _, row := range rows {
		if c, ok := schema.ParseCollection(row); ok {
			all = append(all, c)
		}
	}
	return all, err
}

// Collection returns a collection of an owner, nil for none.
func (db *Accounts) Collection(ctx context.Context, owner prompt.UserID, slug string) (*prompt.Collection, error) {
	c, _, err := db.readCollection(ctx, owner, slug)
	return c, err
}

func (db *Accounts) readCollection(ctx context.Context, owner prompt.UserID,
	slug string,
) (*prompt.Collection, string, error) {
	row, err := db.GetRow(ctx, db.T.Prompts, schema.CollectionKey(owner, slug))
	if err != nil || row == nil {
		return nil, "", err
	}
	c, ok := schema.ParseCollection(*row)
	if !ok { // a newer version wrote it, or a hand
		return nil, "", prompt.ErrNoCollection()
	}
	return &c, row.ETag, nil
}

// AddCollection makes a collection; the same one again changes nothing. Of several at once the
// owner may get a few more than prompt.MaxCollections.
func (db *Accounts) AddCollection(ctx context.Context, by prompt.UserID, c prompt.Collection) error {
	rows, _, err := db.Budget().Rows(ctx, db.T.Prompts, schema.CollectionsOf(c.Owner), prompt.MaxCollections)
	if err != nil {
		return err
	}
	isNew := !slices.ContainsFunc(rows, func(row table.Row) bool {
		return row.Key == schema.CollectionKey(c.Owner, c.Slug)
	})
	if isNew && len(rows) >= prompt.MaxCollections {
		return prompt.ErrTooManyCollections()
	}
	err = db.writeCollection(ctx, table.Insert, schema.CollectionRow(c), c, prompt.CollectionCreated, by)
	if !errors.Is(err, table.ErrExists) {
		return err
	}
	was, err := db.Collection(ctx, c.Owner, c.Slug)
	if err == nil && (was == nil || was.Version != 1 || !was.CreatedAt.Equal(c.CreatedAt) ||
		!was.CollectionDraft.Equal(c.CollectionDraft)) {
		err = prompt.CollectionTaken(c.Slug)
	}
	return err
}

// EditCollection changes a collection, and returns it. Edit gets it as it is and may run again;
// where it changes nothing, nothing is written.
func (db *Accounts) EditCollection(ctx context.Context, owner, by prompt.UserID, slug string,
	edit func(*prompt.Collection) error,
) (prompt.Collection, error) {
	var now prompt.Collection
	err := db.changeCollection(ctx, owner, slug, func(c prompt.Collection, etag string) error {
		was := c
		if err := edit(&c); err != nil {
			return err
		}
		if now = c; c.CollectionDraft.Equal(was.CollectionDraft) {
			return nil
		}
		c.Version++
		c.UpdatedAt = db.Now().UTC().Truncate(time.Millisecond)
		now = c
		row := schema.CollectionRow(c)
		row.ETag = etag
		return db.writeCollection(ctx, table.Replace, row, c, prompt.CollectionChanged, by)
	})
	return now, err
}

// RemoveCollection takes a collection away, if there is one. May gets it as it is, and says why
// not; it may run again.
func (db *Accounts) RemoveCollection(ctx context.Context, owner, by prompt.UserID, slug string,
	may func(prompt.Collection) error,
) error {
	err := db.changeCollection(ctx, owner, slug, func(c prompt.Collection, etag string) error {
		if err := may(c); err != nil {
			return err
		}
		return db.writeCollection(ctx, table.Delete, table.Row{Key: schema.CollectionKey(owner, slug), ETag: etag}, c,
			prompt.CollectionDeleted, by)
	})
	if fault.Of(err) == fault.NotFound {
		return nil
	}
	return err
}

// changeCollection has a change run until none overtakes it.
func (db *Accounts) changeCollection(ctx context.Context, owner prompt.UserID, slug string,
	change func(prompt.Collection, string) error,
) error {
	for range rowstore.MaxTries {
		c, etag, err := db.readCollection(ctx, owner, slug)
		if err != nil {
			return err
		}
		if c == nil {
			return prompt.ErrNoCollection()
		}
		if err := change(*c, etag); !rowstore.Overtaken(err) {
			return err
		}
	}
	return truth.Busy(time.Second)
}

// writeCollection writes the row of a collection, with the event of it in a workspace.
func (db *Accounts) writeCollection(ctx context.Context, kind table.Kind, row table.Row, c prompt.Collection,
	what prompt.EventType, by prompt.UserID,
) error {
	ops := []table.Op{{Kind: kind, Row: row}}
	if prompt.IsWorkspace(c.Owner) {
		ops = append(ops, db.EventOp(c.Owner, prompt.Event{Type: what, By: by, Name: c.Slug}))
	}
	err := db.Write(ctx, db.T.Prompts, ops)
	if err != nil && !rowstore.Overtaken(err) {
		return rowstore.Unavailable(fmt.Errorf("write a collection: %w", err))
	}
	return err
}
