package promptdb

import (
	"context"
	"encoding/json"

	"prompthub/internal/prompthub/files/skill"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// Programs get the version with the label production, or else what the prompt holds, and lists tell
// them of it without reading it: the rows of those lists have its outline. That of what the prompt
// holds follows from the truth row; that of another version is kept there, as Released. A label is
// moved without writing the truth row, which follows by a message, as counts follow votes.

// summaryProps returns what the rows of public lists hold for programs.
func summaryProps(p prompt.Prompt) table.Props {
	return table.Props{programSummaryProp("Outline", shownSummary(p))}
}

// ownSummaryProps returns what the author's own list holds for programs: what he gets, and what
// others get where that is another version.
func ownSummaryProps(p prompt.Prompt) table.Props {
	if p.InProduction == nil {
		return summaryProps(p)
	}
	props := table.Props{programSummaryProp("Outline", *p.InProduction)}
	if p.Listed() && p.InProduction.Version < p.From {
		props = append(props, programSummaryProp("OutlineForOthers", shownSummary(p)))
	}
	return props
}

func shownSummary(p prompt.Prompt) prompt.ProgramSummary {
	if p.InProduction != nil && p.InProduction.Version >= p.From {
		return *p.InProduction
	}
	return skill.Summarize(p)
}

func programSummaryProp(name string, o prompt.ProgramSummary) table.Prop {
	return table.Prop{Name: name, Value: table.String(jsonOf(o))}
}

// parseProgramSummary reads a summary for programs. It is nil where a row has none, or one of
// another format: those of stores of earlier versions, until their prompts are written again.
func parseProgramSummary(text string) *prompt.ProgramSummary {
	var o prompt.ProgramSummary
	if text == "" || json.Unmarshal([]byte(text), &o) != nil || o.Format != skill.Format {
		return nil
	}
	return &o
}

// released returns what a prompt keeps of the version with the label production. Was is the prompt
// before a change of it; where it is nil, everything is made anew.
func (db *DB) released(ctx context.Context, was *record, p prompt.Prompt, c labelsRow) (*prompt.ProgramSummary, error) {
	n := c.labels[prompt.Production]
	if n == 0 || n == p.Version {
		return nil, nil
	}
	of := p
	of.AllArguments = nil
	switch {
	case was != nil && was.Version == n:
		of.Draft, of.AllArguments = p.With(was.Content()), was.AllArguments
	case was != nil && was.InProduction != nil && was.InProduction.Version == n && sameHead(was.Prompt, p):
		return was.InProduction, nil
	default:
		row, err := db.versionAt(ctx, p.AuthorID, p.ID, n)
		if err != nil || row == nil {
			return nil, err
		}
		of.Draft = p.With(parseVersionRow(*row).Content)
	}
	of.Version = n
	o := skill.Summarize(of)
	if p.InProduction != nil && p.InProduction.Version == n && len(of.Content().Includes()) > 0 {
		o.Arguments = p.InProduction.Arguments // with those of what was included when it was saved
	}
	return &o, nil
}

// sameHead reports whether two states of a prompt agree in what a summary takes of all versions.
func sameHead(a, b prompt.Prompt) bool {
	return a.Slug == b.Slug && a.Title == b.Title && a.Description == b.Description
}

// releasedNow returns what a prompt keeps of the version with the label production, as its labels
// row says now.
func (db *DB) releasedNow(ctx context.Context, rec record) (*prompt.ProgramSummary, error) {
	c, err := db.labelsRow(ctx, rec.AuthorID, rec.ID)
	if err != nil || c == nil {
		return rec.InProduction, err
	}
	return db.released(ctx, nil, rec.Prompt, *c)
}

func sameProgramSummary(a, b *prompt.ProgramSummary) bool {
	if a == nil || b == nil {
		return a == b
	}
	return jsonOf(a) == jsonOf(b)
}

// ProgramSummary returns what programs of a viewer get of a prompt of a list. It is nil where the
// list does not tell. Most who read lists do not ask, so it is not read before.
func (v View) ProgramSummary(viewer prompt.UserID) *prompt.ProgramSummary {
	if viewer != v.AuthorID {
		if o := parseProgramSummary(v.forOthers); o != nil {
			return o
		}
	}
	return parseProgramSummary(v.programSummary)
}
