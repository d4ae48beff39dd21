package backup

import (
	"context"
	"fmt"
	"time"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/table"
)

// A collectionLine is a collection in a backup.
type collectionLine struct {
	Owner      prompt.UserID     `json:"owner"`
	Slug       string            `json:"slug"`
	Name       string            `json:"name"`
	About      string            `json:"about,omitempty"`
	Visibility prompt.Visibility `json:"visibility"`
	Prompts    []prompt.ID       `json:"prompts,omitempty"`
	Version    int64             `json:"version"`
	CreatedAt  time.Time         `json:"createdAt"`
	UpdatedAt  time.Time         `json:"updatedAt"`
}

func collectionOf(row table.Row) (*line, error) {
	c, ok := schema.ParseCollection(row)
	if !ok {
		return nil, errForeign
	}
	return &line{Kind: "collection", Collection: &collectionLine{
		Owner: c.Owner, Slug: c.Slug, Name: c.Name, About: c.About, Visibility: c.Visibility, Prompts: c.Prompts,
		Version: c.Version, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
	}}, nil
}

func (re *restore) collection(ctx context.Context, l collectionLine) error {
	row := schema.CollectionRow(prompt.Collection{
		Owner: l.Owner, Slug: l.Slug, Version: l.Version, CreatedAt: l.CreatedAt, UpdatedAt: l.UpdatedAt,
		CollectionDraft: prompt.CollectionDraft{
			Name: l.Name, About: l.About,
			Visibility: l.Visibility, Prompts: l.Prompts,
		},
	})
	if _, ok := schema.ParseCollection(row); !ok {
		return fmt.Errorf("a collection %q of %q", l.Slug, l.Owner)
	}
	return re.add(ctx, re.db.T.Prompts, row)
}
