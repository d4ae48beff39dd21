package scopes

import (
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/searchindex"
	"prompthub/internal/storage/table"
)

// docOf returns a prompt as an index has it. Its revision there is its stamp.
func docOf(rec schema.Record) searchindex.Doc {
	d := searchindex.Doc{
		ID: rec.ID, Revision: table.Ticks(rec.LoggedAt), Author: rec.AuthorID, AuthorName: rec.AuthorName,
		Name: rec.Name, Slug: rec.Slug,
		Tags: rec.Tags, Title: prompt.Terms(rec.Title), Text: schema.TermsOf(rec.Prompt),
	}
	if !rec.Listed() {
		for _, tag := range rec.OwnTags {
			d.Tags = append(d.Tags[:len(d.Tags):len(d.Tags)], prompt.Tag(tag))
		}
	}
	return d
}

// docIn reads it from a row of a log.
func docIn(row table.Row, stamp int64) (searchindex.Doc, error) {
	p := row.Props
	d := searchindex.Doc{
		ID: prompt.ID(p.Get("PromptId").Str()), Revision: stamp, Author: schema.UserIn(p, "AuthorId"),
		AuthorName: p.Get("AuthorName").Str(), Name: p.Get("Name").Str(), Slug: p.Get("Slug").Str(),
		Title: prompt.Terms(p.Get("Title").Str()),
	}
	for _, tag := range schema.AllTags(p) {
		d.Tags = append(d.Tags, prompt.Tag(tag))
	}
	var err error
	d.Text, err = schema.TermsIn(p)
	return d, err
}
