package schema

import (
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/files/skill"
	"prompthub/internal/prompthub/prompt"
)

// TestSummarizedVersion: the version is read alone where the whole summary is read, and only there.
func TestSummarizedVersion(t *testing.T) {
	for _, o := range []prompt.ProgramSummary{
		{Format: skill.Format, Version: 1},
		{Format: skill.Format, Version: 987654321, About: `a "b",}`, System: true},
		{Format: skill.Format + 1, Version: 2},
	} {
		text := JSONOf(o)
		whole := int64(0)
		if read := ParseProgramSummary(text); read != nil {
			whole = read.Version
		}
		require.Equal(t, whole, SummarizedVersion(text), text)
	}
	for _, text := range []string{
		"", "{", summaryBegins, summaryBegins + "x}",
		summaryBegins + "99999999999999999999}",
	} {
		require.Zero(t, SummarizedVersion(text), text)
	}
}
