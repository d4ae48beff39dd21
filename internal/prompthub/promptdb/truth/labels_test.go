package truth

import (
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/files/skill"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
)

// TestReleased: a list tells each reader the version that programs of that reader get, if it is
// another than the latest.
func TestReleased(t *testing.T) {
	summary := func(version int64) string {
		return schema.JSONOf(prompt.ProgramSummary{Format: skill.Format, Version: version})
	}
	of := func(v View) View {
		v.AuthorID, v.Version, v.From = "ann", 5, 3
		return v
	}
	for name, c := range map[string]struct {
		of           View
		ann, another int64
	}{
		"nothing is told":                {View{}, 0, 0},
		"a row of a public list":         {View{SummaryText: summary(4)}, 4, 4},
		"a row of the author's own list": {View{SummaryText: summary(2), SummaryForOthers: summary(4)}, 2, 4},
		"others get the latest":          {View{SummaryText: summary(2), SummaryForOthers: summary(5)}, 2, 0},
		"a list that tells people alone": {View{Production: 4}, 4, 4},
		"a prompt, which others see whole": {
			View{Prompt: prompt.Prompt{InProduction: &prompt.ProgramSummary{Version: 4}}}, 4, 4,
		},
		"a prompt, which others see later": {
			View{Prompt: prompt.Prompt{InProduction: &prompt.ProgramSummary{Version: 2}}}, 2, 0,
		},
	} {
		v := of(c.of)
		require.Equal(t, c.ann, v.Released("ann"), name)
		require.Equal(t, c.another, v.Released("vera"), name)
		require.Equal(t, c.another, v.Released(""), name)
	}
}
