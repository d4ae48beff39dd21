package prompt_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
)

func TestFiles(t *testing.T) {
	t.Parallel()
	files, err := prompt.NewFiles([]prompt.FileBytes{{Path: "a/b"}, {Path: "a.b", Bytes: []byte("x"), Executable: true}})
	require.NoError(t, err)
	require.Equal(t, "a.b", files[0].Path)
	_, err = prompt.NewFiles([]prompt.FileBytes{{Path: "a/b"}, {Path: "A"}})
	require.Equal(t, prompt.PathsCollide, fault.CodeOf(err))
}
