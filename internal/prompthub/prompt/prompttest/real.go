// Package prompttest has real prompts, and searches as people type them.
package prompttest

import (
	"encoding/csv"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
)

// Real reads the real prompts of the file that PROMPTS_CSV names. Without such a file the test is
// skipped.
func Real(t testing.TB) []prompt.Draft {
	t.Helper()
	path := os.Getenv("PROMPTS_CSV")
	if path == "" {
		t.Skip("PROMPTS_CSV names no file of real prompts")
	}
	ds, err := Read(path, prompt.Rules{})
	require.NoError(t, err)
	return ds
}

// Read reads a thousand real prompts from a file as prompts.chat publishes it, as far as they keep
// to the rules, with the tags that an import gives them.
func Read(path string, rules prompt.Rules) ([]prompt.Draft, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, err
	}
	var ds []prompt.Draft
	for _, row := range rows[1:] {
		d := prompt.Draft{
			Title: row[0], Text: row[1], Tags: []prompt.Tag{prompt.Tag(strings.ToLower(row[3]))},
			Visibility: prompt.Public,
		}
		if row[2] == "TRUE" {
			d.Tags = append(d.Tags, "development")
		}
		if d, err := rules.Check(d); err == nil {
			ds = append(ds, d)
		}
	}
	return ds, nil
}
