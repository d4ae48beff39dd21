package prompt

import "slices"

// A ProgramSummary is what lists tell programs of a version in place of its content: what it takes,
// and which file it is as a skill. The JSON is that of stored rows.
type ProgramSummary struct {
	Format    int        `json:"f"` // of the file: another one's digest tells nothing
	Version   int64      `json:"v"` // 0 where recalls left programs none
	About     string     `json:"about,omitempty"`
	System    bool       `json:"system,omitempty"` // whether it has a message of the system
	Arguments []Argument `json:"args,omitempty"`
	Digest    string     `json:"digest,omitempty"`  // of SKILL.md; "" for a prompt that is no skill
	Size      int        `json:"size,omitempty"`    // of SKILL.md, in bytes
	Package   string     `json:"package,omitempty"` // as in Bundle
	// nil for a version of a text or messages alone
	Files *FilesSummary `json:"files,omitempty"`
}

// IsNone reports whether programs get no version.
func (o ProgramSummary) IsNone() bool { return o.Version == 0 }

// A FilesSummary is what lists tell of the files of a version.
type FilesSummary struct {
	Count   int    `json:"n"`
	Bytes   int    `json:"bytes"`
	Scripts int    `json:"scripts,omitempty"`
	Archive string `json:"archive"` // as in Bundle
}

// An Argument is a variable as lists tell of it.
type Argument struct {
	Name     string `json:"n"`
	Hint     string `json:"h,omitempty"`
	Required bool   `json:"r,omitempty"`
}

// maxHints is how long the hints of one prompt may be together, in bytes: rows of lists hold them.
const maxHints = 2 << 10

// Arguments returns what the content takes values for. Programs that have but one line for all of
// them give the last one the most, so a long text comes last.
func (c Content) Arguments() []Argument {
	variables := c.Template().Variables
	slices.SortStableFunc(variables, func(a, b Variable) int { return a.rank() - b.rank() })
	list := make([]Argument, len(variables))
	room := maxHints
	for i, v := range variables {
		hint := v.Hint()
		if room -= len(hint); room < 0 {
			hint = ""
		}
		list[i] = Argument{Name: v.Name, Hint: hint, Required: v.Needed()}
	}
	return list
}

// HasSystem reports whether a message is of the system.
func (c Content) HasSystem() bool {
	return slices.ContainsFunc(c.Messages, func(m Message) bool { return m.Role == "system" })
}

func (v Variable) rank() int {
	switch {
	case v.Type == Multiline:
		return 2
	case !v.Needed():
		return 1
	}
	return 0
}
