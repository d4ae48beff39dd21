package schema

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"prompthub/internal/prompthub/files/skill"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// Programs get the version with the label production, or else what the prompt holds, and lists tell
// them of it without reading it: the rows of those lists have its outline. That of what the prompt
// holds follows from the truth row; that of another version is kept there, as Released. A label is
// moved without writing the truth row, which follows by a message, as counts follow votes.

// ProgramProps returns what the rows of public lists hold for programs.
func ProgramProps(p prompt.Prompt) table.Props {
	return table.Props{programSummaryProp("Outline", shownSummary(p))}
}

// ownSummaryProps returns what the author's own list holds for programs: the author's version, and
// that of others if it differs.
func ownSummaryProps(p prompt.Prompt, programs table.Props) table.Props {
	if p.InProduction == nil || p.InProduction.IsNone() || shownProduction(p) > 0 {
		return programs
	}
	props := table.Props{programSummaryProp("Outline", *p.InProduction)}
	if p.Listed() && p.InProduction.Version < p.From {
		props = append(props, table.Prop{Name: "OutlineForOthers", Value: programs.Get("Outline")})
	}
	return props
}

func shownSummary(p prompt.Prompt) prompt.ProgramSummary {
	if p.InProduction != nil && p.InProduction.IsNone() || shownProduction(p) > 0 {
		return *p.InProduction
	}
	return skill.Summarize(p)
}

// ListedProps returns what the rows of public lists hold for people: the version in production too,
// if it is another than the latest.
func ListedProps(p prompt.Prompt) table.Props { return listedProps(p, SummaryProps(p)) }

func listedProps(p prompt.Prompt, summary table.Props) table.Props {
	if n := shownProduction(p); p.Listed() && n > 0 && n != p.Version {
		return with(summary, table.Prop{Name: "Production", Value: table.Int64(n)})
	}
	return summary
}

// shownProduction returns the version in production, as far as others than the author see it; 0 for
// none.
func shownProduction(p prompt.Prompt) int64 {
	if p.InProduction == nil || p.InProduction.Version < p.From {
		return 0
	}
	return p.InProduction.Version
}

func programSummaryProp(name string, o prompt.ProgramSummary) table.Prop {
	return table.Prop{Name: name, Value: table.String(JSONOf(o))}
}

// ParseProgramSummary reads a summary for programs. It is nil where a row has none, or one of
// another format: those of stores of earlier versions, until their prompts are written again.
func ParseProgramSummary(text string) *prompt.ProgramSummary {
	var o prompt.ProgramSummary
	if text == "" || json.Unmarshal([]byte(text), &o) != nil || o.Format != skill.Format {
		return nil
	}
	return &o
}

// SummarizedVersion returns the version that a summary is of, 0 where ParseProgramSummary reads
// none. Lists tell it of each prompt, and to read the whole summary costs as much as to read the
// row.
func SummarizedVersion(text string) int64 {
	rest, ok := strings.CutPrefix(text, summaryBegins)
	end := strings.IndexAny(rest, ",}")
	if !ok || end < 0 {
		return 0
	}
	n, err := strconv.ParseInt(rest[:end], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// summaryBegins is how the JSON of each summary of this format begins, up to its version.
var summaryBegins = fmt.Sprintf(`{"f":%d,"v":`, skill.Format)

// SameHead reports whether two states of a prompt agree in what a summary takes of all versions.
func SameHead(a, b prompt.Prompt) bool {
	return a.Slug == b.Slug && a.Title == b.Title && a.Description == b.Description
}

// SameProgramSummary reports whether two summaries say the same; either may be nil.
func SameProgramSummary(a, b *prompt.ProgramSummary) bool {
	if a == nil || b == nil {
		return a == b
	}
	return JSONOf(a) == JSONOf(b)
}
