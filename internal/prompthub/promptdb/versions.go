package promptdb

import (
	"slices"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/table"
)

// contentProps returns what truth rows and version rows keep of a content.
func contentProps(c prompt.Content) table.Props { return parts("PromptText", c.Text) }

func parseContent(row table.Row) prompt.Content {
	return prompt.Content{Text: whole(row, "PromptText")}
}

// versionRow returns the row of a version. Inserting it takes its number.
func versionRow(author string, id prompt.ID, v prompt.Version) table.Row {
	return table.Row{Key: versionKey(author, id, v.Number), Props: slices.Concat(table.Props{
		{Name: "PromptId", Value: table.String(string(id))},
		{Name: "Version", Value: table.Int64(v.Number)},
		{Name: "Message", Value: table.String(v.Message)},
		{Name: "CreatedBy", Value: table.String(v.By)},
		{Name: "CreatedAt", Value: table.Time(v.At)},
		{Name: "ContentHash", Value: table.String(v.Hash())},
	}, contentProps(v.Content))}
}

func parseVersionRow(row table.Row) prompt.Version {
	return prompt.Version{
		Number: row.Props.Get("Version").Int(), Content: parseContent(row), Message: row.Props.Get("Message").Str(),
		By: row.Props.Get("CreatedBy").Str(), At: row.Props.Get("CreatedAt").Time(),
	}
}
