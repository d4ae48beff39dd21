package promptdb

import (
	"context"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/table"
)

// A card is the labels row of a prompt: the truth of its labels and of the numbers whose versions were
// deleted. Whoever writes name rows writes it under its ETag, so that their copies agree with it.
// What else it holds is what a label needs to be moved without a look at the truth row.
type card struct {
	name, slug string
	last       int64
	deleted    bool // the prompt, whose names others may take
	etag       string
}

// card reads the labels row of a prompt; a missing one is nil.
func (db *DB) card(ctx context.Context, author string, id prompt.ID) (*card, error) {
	ctx, cancel := context.WithTimeout(ctx, callWithin)
	defer cancel()
	row, err := db.get(ctx, db.t.Prompts, labelsKey(author, id))
	if err != nil || row == nil {
		return nil, err
	}
	c := parseCard(*row)
	return &c, nil
}

func parseCard(row table.Row) card {
	p := row.Props
	return card{
		name: p.Get("Name").Str(), slug: p.Get("Slug").Str(), last: p.Get("LastVersion").Int(), deleted: p.Get("IsDeleted").Bool(),
		etag: row.ETag,
	}
}

// of returns the card with what the prompt says of itself.
func (c card) of(p prompt.Prompt) card {
	c.name, c.slug, c.last, c.deleted = p.Name, p.Slug, p.Last, p.Deleted()
	return c
}

func (c card) row(author string, id prompt.ID) table.Row {
	return table.Row{Key: labelsKey(author, id), ETag: c.etag, Props: table.Props{
		{Name: "PromptId", Value: table.String(string(id))},
		{Name: "Name", Value: table.String(c.name)},
		{Name: "Slug", Value: table.String(c.slug)},
		{Name: "LastVersion", Value: table.Int64(c.last)},
		{Name: "IsDeleted", Value: table.Bool(c.deleted)},
	}}
}

// op returns the write of the labels row: under its ETag, or for the first time.
func (c card) op(author string, id prompt.ID) table.Op {
	if c.etag == "" {
		return table.Op{Kind: table.Insert, Row: c.row(author, id)}
	}
	return table.Op{Kind: table.Replace, Row: c.row(author, id)}
}
