package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A mutant whose text is not there once is no mutant: an author who changes the code carries the
// list along.
func TestMutantsFitTheCode(t *testing.T) {
	t.Parallel()
	require.NotEmpty(t, mutants)
	names := make(map[string]bool)
	for _, m := range slices.Concat(mutants, unbounded) {
		_, err := m.apply(filepath.Join("..", "..", "..", promptdb))
		assert.NoError(t, err, m.name) // all of them, not the first
		require.False(t, names[m.name], "two are called %q", m.name)
		names[m.name] = true
	}
}

func TestMutantThatDoesNotFit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.go"), []byte("twice twice once"), 0o600))
	for from, want := range map[string]string{"twice": "stands 2 times", "gone": "stands 0 times", "once": ""} {
		bad, err := mutant{"name", "a.go", from, "other"}.apply(dir)
		if want == "" {
			require.NoError(t, err)
			require.Equal(t, "twice twice other", string(bad))
			continue
		}
		require.ErrorContains(t, err, want)
	}
	_, err := mutant{"name", "a.go", "once", "once"}.apply(dir)
	require.ErrorContains(t, err, "changes nothing")
}

func TestNothingChosenIsNoSuccess(t *testing.T) {
	t.Parallel()
	require.Equal(t, 2, run([]string{"no such mutant"}))
	require.Equal(t, 2, run([]string{"-nonsense"}))
	require.Zero(t, run([]string{"-h"}))
}
