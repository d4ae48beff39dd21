package schema

import (
	"strings"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// A collection is one row in the partition of its owner, and nothing else follows from it. It names
// prompts by their ids and no author, so an author who is erased leaves none there. A prompt that
// is purged stays named, and is never shown.

// CollectionPrefix begins the rows of collections.
const CollectionPrefix = "!col|"

// CollectionKey is where a collection of an owner is.
func CollectionKey(owner prompt.UserID, slug string) table.Key {
	return table.Key{Partition: UserPart(owner), Row: CollectionPrefix + slug}
}

// CollectionsOf has the collections of an owner.
func CollectionsOf(owner prompt.UserID) table.Range {
	return table.Prefix(UserPart(owner), CollectionPrefix)
}

// CollectionRow returns the row of a collection.
func CollectionRow(c prompt.Collection) table.Row {
	return table.Row{Key: CollectionKey(c.Owner, c.Slug), Props: table.Props{
		{Name: "Name", Value: table.String(c.Name)},
		{Name: "About", Value: table.String(c.About)},
		{Name: "Visibility", Value: table.String(string(c.Visibility))},
		{Name: "Skills", Value: table.String(JSONOf(c.Prompts))},
		{Name: "Version", Value: table.Int64(c.Version)},
		{Name: "CreatedAt", Value: table.Time(c.CreatedAt)},
		{Name: "UpdatedAt", Value: table.Time(c.UpdatedAt)},
	}}
}

// ParseCollection is the opposite of CollectionRow, and reports whether the row is one.
func ParseCollection(row table.Row) (c prompt.Collection, ok bool) {
	owner, isUser := ParseUser(row.Partition)
	slug, isCollection := strings.CutPrefix(row.Row, CollectionPrefix)
	p := row.Props
	c = prompt.Collection{
		Owner: owner, Slug: slug, Version: p.Get("Version").Int(), CreatedAt: p.Get("CreatedAt").Time(),
		UpdatedAt: p.Get("UpdatedAt").Time(),
		CollectionDraft: prompt.CollectionDraft{
			Name: p.Get("Name").Str(), About: p.Get("About").Str(),
			Visibility: prompt.Visibility(p.Get("Visibility").Str()),
			Prompts:    parseList[prompt.ID](p, "Skills"),
		},
	}
	checked, err := c.Check()
	return c, isUser && isCollection && err == nil && c.Version > 0 && checked.CollectionDraft.Equal(c.CollectionDraft)
}
