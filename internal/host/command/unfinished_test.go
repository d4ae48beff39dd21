package command

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// leaves makes files, as a killed process leaves them.
func leaves(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o600))
	}
}

// TestWriteFileRemovesWhatIsLeft: a file that is written anew takes away what a killed process left
// of it, and nothing else.
func TestWriteFileRemovesWhatIsLeft(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	others := []string{".a.jsonl.x1", ".a.jsonl", ".a.jsonl.1.gz", ".b.jsonl.123", "a.jsonl.123"}
	leaves(t, dir, append(others, ".a.jsonl.123", ".a.jsonl.4")...)
	require.NoError(t, os.Mkdir(filepath.Join(dir, ".a.jsonl.5"), 0o700))
	require.NoError(t, WriteFile(filepath.Join(dir, "a.jsonl"), writesX))
	require.ElementsMatch(t, append(others, "a.jsonl", ".a.jsonl.5"), in(t, dir))
}

// TestWriteFileLeavesOthersAlone: two may write one file at once, and the last one stays.
func TestWriteFileLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "a.jsonl")
	require.NoError(t, WriteFile(file, func(w io.Writer) error {
		require.NoError(t, WriteFile(file, writesX))
		_, err := io.WriteString(w, "slow\n")
		return err
	}))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "slow\n", string(text))
	require.Equal(t, []string{"a.jsonl"}, in(t, dir))
}
