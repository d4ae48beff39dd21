package skill

import (
	"slices"
	"strings"
	"unicode/utf16"

	"prompthub/internal/prompthub/prompt"
)

// How a host shows its skills to an agent: one line for each, in BudgetCharacters together. This is
// the rule of Claude Code 2.1.332, as it was seen to list plugins, for a model with a context of
// 200,000 tokens: it gives the list one hundredth, at four characters a token. A line is "-
// plugin:skill: description", a description is cut at maxListed, lengths are UTF-16 code units.
// Where the lines are too long together, the names stay, and a description is dropped where the
// room that is left is too short for it. Skills that were used most get room first, unused ones by
// their names. Its own skills, which it never drops, take some 5,200 characters of the list.
const (
	// BudgetCharacters is what the lines of all skills of a host may take together.
	BudgetCharacters = 8000
	maxListed        = 1536
	before, between  = "- ", ": "
)

// A Listed is a skill in such a list.
type Listed struct {
	Name       string // of the plugin and the skill
	Characters int    // of the line
	Cut        bool   // whether the description is dropped: set by Measure
}

// List returns a prompt as a host lists it, in a plugin.
func List(plugin string, p prompt.Prompt) Listed {
	about := Head(p, p.About(), p.Version).Description
	if f, has := p.Files.SkillFile(); has && !f.Made && p.Description != "" {
		about = p.Description // its file is the author's, and has all of it
	}
	return Line(plugin, p.Slug, about)
}

// Line is List by the names and the description.
func Line(plugin, slug, about string) Listed {
	name := plugin + ":" + slug
	return Listed{Name: name, Characters: len(before+name+between) + min(units(about), maxListed)}
}

func units(s string) int { return len(utf16.Encode([]rune(s))) }

// A Budget is what skills take of the list of a host that has no others.
type Budget struct {
	Skills     []Listed
	Characters int // of all lines, with the ends of lines between them
}

// Limit returns how many characters the list may have.
func (Budget) Limit() int { return BudgetCharacters }

// Cut reports how many descriptions are dropped.
func (b Budget) Cut() (n int) {
	for _, s := range b.Skills {
		if s.Cut {
			n++
		}
	}
	return n
}

// Measure returns the place that skills take together, and which of them lose their descriptions if
// none was used yet.
func Measure(list []Listed) Budget {
	b := Budget{Skills: list, Characters: max(len(list)-1, 0)}
	room := BudgetCharacters - b.Characters
	for _, s := range list {
		b.Characters += s.Characters
		room -= len(before + s.Name)
	}
	if b.Characters <= BudgetCharacters {
		return b
	}
	byName := make([]*Listed, len(list))
	for i := range list {
		byName[i] = &b.Skills[i]
	}
	slices.SortStableFunc(byName, func(a, b *Listed) int { return strings.Compare(a.Name, b.Name) })
	for _, s := range byName {
		more := s.Characters - len(before+s.Name)
		if s.Cut = more > room; !s.Cut {
			room -= more
		}
	}
	return b
}
