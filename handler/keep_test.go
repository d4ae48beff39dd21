package main

import (
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/host/command"
	"prompthub/internal/prompthub/doors/worker"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	backups "prompthub/internal/storage/backup"
	"prompthub/internal/storage/blob"
	"prompthub/internal/testing/azurite"
)

// TestBackupAlert: the alert on the age of backups counts the lines that the timer logs.
func TestBackupAlert(t *testing.T) {
	main, err := os.ReadFile("../infra/main.bicep")
	require.NoError(t, err)
	require.Contains(t, string(main), "backupDone: '"+worker.BackupDone+"'\n")
	require.Contains(t, string(main), "backups: '${containerPrefix}"+promptdb.BackupContainer+"/'\n")
}

// TestKeptBackup: on Azure Storage (Azurite) the timer keeps what "backup" writes, and drill and
// restore read its folder. A folder that lacks a part, or its manifest, is refused.
func TestKeptBackup(t *testing.T) {
	clean(t)
	t.Setenv("AzureWebJobsStorage", azurite.WithBlobs(t, azurite.Start(t)))
	t.Setenv("TABLE_PREFIX", "Keep")
	t.Setenv("QUEUE_PREFIX", "keep-")
	t.Setenv("CONTAINER_PREFIX", "keep-")
	s, err := readSettings()
	require.NoError(t, err)
	st, err := service().OpenStore("", s.QueuePrefix)
	require.NoError(t, err)
	a := newApp(s, st, slog.New(slog.DiscardHandler), nil)
	require.NoError(t, a.db.Create(t.Context()))
	a.db.MaxPart = 3000
	for i := range 10 {
		id, err := prompt.NewID(time.Now(), rand.Reader)
		require.NoError(t, err)
		p := prompt.Prompt{
			ID: id, AuthorID: "ann", AuthorName: "Ann", CreatedAt: id.Time(), UpdatedAt: id.Time(),
			Revision: 1, Draft: prompt.Draft{
				Title: fmt.Sprint("Prompt ", i), Text: strings.Repeat("words ", 100), Visibility: prompt.Public,
			},
		}
		_, _, err = a.db.Add(t.Context(), p, nil)
		require.NoError(t, err)
	}
	a.behind.Wait()
	k, err := a.db.Keep(t.Context(), func(d promptdb.Difference) { t.Error(d) })
	require.NoError(t, err)
	require.True(t, k.Done)

	dir := filepath.Join(t.TempDir(), k.Name)
	require.NoError(t, os.Mkdir(dir, 0o700))
	page, err := st.Blobs.List(t.Context(), "keep-backups", "", blob.MaxPage, "")
	require.NoError(t, err)
	require.Greater(t, len(page.Items), 3)
	for _, item := range page.Items {
		got, err := st.Blobs.Get(t.Context(), "keep-backups", item.Name)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.Base(item.Name)), got.Body, 0o600))
	}
	code, written, errs := handler(t, "backup", "-")
	require.Equal(t, command.OK, code, errs)
	lines, _, err := openBackup(nil, dir)
	require.NoError(t, err)
	text, err := io.ReadAll(lines)
	require.NoError(t, err)
	unsealed, err := io.ReadAll(backups.Unseal(strings.NewReader(written)))
	require.NoError(t, err)
	require.Equal(t, string(unsealed), string(text))
	code, out, errs := handler(t, "drill", dir)
	require.Equal(t, command.OK, code, errs)
	require.Contains(t, out, "prompts\t10\n")
	t.Setenv("AzureWebJobsStorage", "")
	data := t.TempDir()
	code, _, errs = handler(t, "restore", "--data", data, dir)
	require.Equal(t, command.OK, code, errs)

	require.NoError(t, os.Remove(filepath.Join(dir, "0002.jsonl.gz")))
	code, _, errs = handler(t, "drill", dir)
	require.Equal(t, command.Failed, code)
	require.Contains(t, errs, "part 0002.jsonl.gz")
	require.NoError(t, os.Remove(filepath.Join(dir, "manifest.json")))
	code, _, errs = handler(t, "drill", dir)
	require.Equal(t, command.Failed, code)
	require.Contains(t, errs, "needs its manifest.json")
}
