package main

import (
	"encoding/base64"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/people"
	"prompthub/internal/host/command"
	"prompthub/internal/host/function"
	"prompthub/internal/storage/backup"
	"prompthub/internal/storage/blob"
	"prompthub/internal/testing/azurite"
)

// TestLimitAlert: the alert on limits finds the line that says that one is reached.
func TestLimitAlert(t *testing.T) {
	t.Parallel()
	main, err := os.ReadFile("../infra/main.bicep")
	require.NoError(t, err)
	require.Contains(t, string(main), "limitReached: '"+people.LimitReached+"'")
}

// TestExport: on Azure Storage (Azurite) the timer exports what "backup" writes, and a restore
// reads its parts one after the other.
func TestExport(t *testing.T) {
	key := base64.StdEncoding.EncodeToString(make([]byte, 32))
	for name, value := range map[string]string{
		"AzureWebJobsStorage": azurite.WithBlobs(t, azurite.Start(t)), "TABLE_PREFIX": "Export",
		"QUEUE_PREFIX": "export-", "CONTAINER_PREFIX": "export-", "SECRET_KEYS": key, "VOTE_KEYS": key,
	} {
		t.Setenv(name, value)
	}
	s, err := readSettings()
	require.NoError(t, err)
	st, err := service().OpenStore("", s.QueuePrefix)
	require.NoError(t, err)
	var log strings.Builder
	_, build, err := read()
	require.NoError(t, err)
	a := build(s.Settings, st, slog.New(slog.NewTextHandler(&log, nil)), nil)
	require.NoError(t, a.Create(t.Context()))
	at := slices.IndexFunc(a.Triggers, func(f function.Trigger) bool { return f.Name == "export" })
	require.NoError(t, a.Triggers[at].Run(t.Context(), function.Invocation{}))
	require.Contains(t, log.String(), `msg="`+backup.Complete+`"`)
	require.NoError(t, a.Triggers[at].Run(t.Context(), function.Invocation{}), "there is one of today")

	page, err := st.Blobs.List(t.Context(), "export-backups", "", blob.MaxPage, "")
	require.NoError(t, err)
	require.Len(t, page.Items, 2)
	folder := t.TempDir()
	for _, item := range page.Items {
		got, err := st.Blobs.Get(t.Context(), "export-backups", item.Name)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, filepath.Base(item.Name)), got.Body, 0o600))
	}
	written := func(name string) string {
		b, err := command.OpenBackup(nil, name, false)
		require.NoError(t, err)
		defer b.Close()
		lines, err := b.Lines()
		require.NoError(t, err)
		text, err := io.ReadAll(lines)
		require.NoError(t, err)
		return string(text)
	}
	t.Setenv("AzureWebJobsStorage", "")
	data, again := t.TempDir(), filepath.Join(t.TempDir(), "again.jsonl")
	does(t, 0, "restore", folder, "--data", data)
	does(t, 0, "backup", again, "--data", data)
	require.Equal(t, written(folder), written(again))
}
