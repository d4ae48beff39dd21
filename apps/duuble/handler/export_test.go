package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/backup"
	"prompthub/apps/duuble/internal/people"
	"prompthub/internal/storage/blob"
	"prompthub/internal/testing/azurite"
)

// TestExportAlert: the alert on the age of exports counts the line that says that one is complete,
// that on limits finds the line that says that one is reached, and the rule that removes old ones
// finds their container.
func TestExportAlert(t *testing.T) {
	t.Parallel()
	main, err := os.ReadFile("../infra/main.bicep")
	require.NoError(t, err)
	require.Contains(t, string(main), "backupDone: '"+exported+"'")
	require.Contains(t, string(main), "limitReached: '"+people.LimitReached+"'")
	require.Contains(t, string(main), "backups: '${containerPrefix}"+backup.Container+"/'\n")
}

// TestExport: on Azure Storage (Azurite) the timer exports what "backup" writes, and a restore
// reads its parts one after the other.
func TestExport(t *testing.T) {
	key := base64.StdEncoding.EncodeToString(make([]byte, 32))
	for name, value := range map[string]string{
		"AzureWebJobsStorage": azurite.WithBlobs(t, azurite.Start(t)), "TABLE_PREFIX": "Export", "QUEUE_PREFIX": "export-", "CONTAINER_PREFIX": "export-", "SECRET_KEYS": key, "VOTE_KEYS": key,
	} {
		t.Setenv(name, value)
	}
	s, err := readSettings()
	require.NoError(t, err)
	st, err := service().OpenStore("", s.QueuePrefix)
	require.NoError(t, err)
	var log strings.Builder
	d, err := build(s, st, slog.New(slog.NewTextHandler(&log, nil)), nil, func(do func()) { do() })
	require.NoError(t, err)
	require.NoError(t, d.create(t.Context()))
	_, err = d.people.RequestCode(t.Context(), "sms", "+34600000001", "sign_in", people.Asker{Site: "x"})
	require.NoError(t, err)
	require.NoError(t, d.keep(t.Context()))
	require.Contains(t, log.String(), `msg="`+exported+`"`)
	require.NoError(t, d.keep(t.Context()), "there is one of today")

	page, err := st.Blobs.List(t.Context(), "export-backups", "", blob.MaxPage, "")
	require.NoError(t, err)
	require.Len(t, page.Items, 2)
	part, err := st.Blobs.Get(t.Context(), "export-backups", page.Items[0].Name)
	require.NoError(t, err)
	z, err := gzip.NewReader(bytes.NewReader(part.Body))
	require.NoError(t, err)
	lines, err := io.ReadAll(z)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "export.jsonl")
	require.NoError(t, os.WriteFile(file, lines, 0o600))
	t.Setenv("AzureWebJobsStorage", "")
	data := t.TempDir()
	does(t, 0, "restore", file, "--data", data)
	again := filepath.Join(t.TempDir(), "again.jsonl")
	does(t, 0, "backup", again, "--data", data)
	written, err := os.ReadFile(again)
	require.NoError(t, err)
	require.Equal(t, string(lines), string(written))
}
