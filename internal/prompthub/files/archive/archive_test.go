package archive_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/files/archive"
	"prompthub/internal/prompthub/prompt"
)

func TestBoth(t *testing.T) {
	t.Parallel()
	files := []prompt.FileBytes{
		{Path: "SKILL.md", Bytes: []byte("---\nname: a\n---\n")},
		{Path: "assets/ä 1.bin", Bytes: []byte{0, 1, 2}},
		{Path: "scripts/run.sh", Bytes: []byte("#!/bin/sh\n"), Executable: true},
	}
	folder, err := archive.Read(archive.Write(files))
	require.NoError(t, err)
	require.Equal(t, archive.Folder{Files: files}, folder)
}
