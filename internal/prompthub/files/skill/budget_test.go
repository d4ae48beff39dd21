package skill_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/files/skill"
	"prompthub/internal/prompthub/prompt"
)

func described(slug string, n int) prompt.Prompt {
	return prompt.Prompt{
		Slug:  slug,
		Draft: prompt.Draft{Title: "T", Text: "Text.", Description: strings.Repeat("d", n)},
	}
}

// TestList: a line as Claude Code 2.1.332 writes it.
func TestList(t *testing.T) {
	t.Parallel()
	s := skill.List("support", described("refund", 10))
	require.Equal(t, skill.Listed{Name: "support:refund", Characters: len("- support:refund: dddddddddd")}, s)
	wide := described("refund", 0)
	wide.Description = "𝒅翻"
	require.Equal(t, len("- support:refund: ")+3, skill.List("support", wide).Characters, "UTF-16 code units")
	require.Equal(t, len("- a:b: ")+1024, skill.List("a", described("b", 5000)).Characters,
		"a made SKILL.md has no more")
	written := described("b", 5000)
	written.Files = prompt.Files{prompt.NewFile(prompt.FileBytes{Path: prompt.SkillFile, Bytes: []byte("---\n---\n")})}
	require.Equal(t, len("- a:b: ")+1536, skill.List("a", written).Characters,
		"a host cuts the description of a written one")
	require.Equal(t, len("- a:b: Text."), skill.List("a", described("b", 0)).Characters, "the first sentence")
}

// TestMeasure: where all lines do not fit, the names stay, and a description that finds no room is
// dropped, while a shorter one that comes after it may find some.
func TestMeasure(t *testing.T) {
	t.Parallel()
	require.Zero(t, skill.Measure(nil).Characters)
	list := func(lengths ...int) (all []skill.Listed) {
		for _, n := range lengths {
			all = append(all, skill.Listed{Name: "a:b", Characters: len("- a:b: ") + n})
		}
		return all
	}
	const name = len("- a:b")
	fits := skill.BudgetCharacters - 2*len("- a:b: ") - 1
	b := skill.Measure(list(fits-1, 1))
	require.Equal(t, skill.BudgetCharacters, b.Characters)
	require.Zero(t, b.Cut())
	b = skill.Measure(list(fits, 1))
	require.Equal(t, skill.BudgetCharacters+1, b.Characters)
	require.Equal(t, 1, b.Cut())
	require.True(t, b.Skills[1].Cut)
	room := skill.BudgetCharacters - 3*name - 2
	b = skill.Measure(list(room-100-2, 200, 100-2))
	require.Equal(t, []bool{false, true, false}, []bool{b.Skills[0].Cut, b.Skills[1].Cut, b.Skills[2].Cut})
	named := list(room-100-2, room-100-2)
	named[0].Name, named[1].Name = "a:c", "a:b"
	b = skill.Measure(named)
	require.Equal(t, []bool{true, false}, []bool{b.Skills[0].Cut, b.Skills[1].Cut}, "by their names")
}
