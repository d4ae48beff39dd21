package infra

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/infra/bicep"
)

const root = "../.."

// files are Bicep files by their paths.
type files map[string]*bicep.File

var parsed = sync.OnceValues(func() (map[string]*bicep.File, error) {
	texts, err := bicep.Read(root + "/infra")
	if err != nil {
		return nil, err
	}
	return bicep.Parse(context.Background(), root, texts)
})

// infrastructure returns the parsed files of infra/, or skips the test where the grammar is missing
// and CI does not ask for it.
func infrastructure(t *testing.T) files {
	t.Helper()
	all, err := parsed()
	if errors.Is(err, bicep.ErrNotInstalled) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	require.NoError(t, err)
	return all
}

func file(t *testing.T, name string) *bicep.File {
	t.Helper()
	all := infrastructure(t)
	require.Contains(t, all, name)
	return all[name]
}

func content(t *testing.T, path ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(append([]string{root}, path...)...))
	require.NoError(t, err)
	return data
}

// texts returns the elements of an array or an object of strings.
func texts(t *testing.T, n *bicep.Node) []string {
	t.Helper()
	require.NotNil(t, n)
	var all []string
	for _, e := range n.Elements() {
		text, ok := e.Literal()
		require.True(t, ok, e.Text())
		all = append(all, text)
	}
	return all
}

// is requires that a member of an object has a value, written as in Bicep.
func is(t *testing.T, n *bicep.Node, want string, path ...string) {
	t.Helper()
	v := n.Get(path...)
	require.NotNil(t, v, path)
	require.Equal(t, want, v.Text(), path)
}
