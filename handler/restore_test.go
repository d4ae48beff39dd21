package main

import (
	"errors"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/host/command"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/embedded"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/azurite"
)

const cutOff = "a restore into this store was cut off, and a part of the backup is missing; empty the data directory, or remove the tables, and restore again\n"

// halfABackup returns a backup without its last line, which restore misses when all else is
// written.
func halfABackup(t *testing.T) string {
	t.Helper()
	clean(t)
	data := t.TempDir()
	p, url := startLocal(t, data)
	status, body := send(t, "POST", url+"/api/v1/prompts",
		`{"title":"t","text":"x","tags":["text"],"visibility":"public"}`)
	require.Equal(t, http.StatusCreated, status, body)
	p.stop()
	require.Equal(t, command.OK, <-p.code)
	code, out, errs := handler(t, "backup", "-", "--data", data)
	require.Equal(t, command.OK, code, errs)
	return out[:strings.LastIndex(out, `{"kind":"end"`)]
}

// TestHalfRestored: what a restore that was cut off has left passes for no library.
func TestHalfRestored(t *testing.T) {
	half, data := halfABackup(t), filepath.Join(t.TempDir(), "data")
	code, _, errs := withInput(t, half, "restore", "-", "--data", data)
	require.Equal(t, command.Failed, code)
	require.Contains(t, errs, "the backup ends early")
	for _, args := range [][]string{
		{"local", "--addr", "127.0.0.1:0"},
		{"verify"},
		{"backup", "-"},
		{"reindex"},
		{"redrive"},
		{"erase", "ann"},
		{"restore", "-"},
	} {
		code, out, errs := withInput(t, half, append(args, "--data", data)...)
		require.Equal(t, command.Failed, code, args)
		require.Empty(t, out, args)
		require.True(t, strings.HasSuffix(errs, "handler: "+cutOff), "%s: %s", args, errs)
	}
}

// TestHostRefusesHalfABackup: a function app on such a store answers what to do, with a code.
func TestHostRefusesHalfABackup(t *testing.T) {
	storage := azurite.Start(t)
	half := halfABackup(t)
	settings := []string{
		"AzureWebJobsStorage", storage, "AUTH_MODE", "dev", "AZURE_FUNCTIONS_ENVIRONMENT",
		"Development", "TABLE_PREFIX", "half", "QUEUE_PREFIX", "half-",
	}
	clean(t, settings...)
	code, _, errs := withInput(t, half, "restore", "-")
	require.Equal(t, command.Failed, code)
	require.Contains(t, errs, "the backup ends early")
	code, _, errs = handler(t, "verify")
	require.Equal(t, command.Failed, code)
	require.Contains(t, errs, cutOff)
	_, url := startHost(t, settings...)
	require.Eventually(t, func() bool {
		status, body := send(t, "GET", url+"/api/v1/prompts", "")
		return status == http.StatusServiceUnavailable && strings.Contains(body, `"code":"RESTORE_INCOMPLETE"`)
	}, 30*time.Second, 50*time.Millisecond)
	status, body := send(t, "GET", url+"/api/v1/ready", "")
	require.Equal(t, http.StatusServiceUnavailable, status, body)
	require.Contains(t, body, "a restore into this store was cut off")
	status, _ = send(t, "GET", url+"/api/v1/health", "")
	require.Equal(t, http.StatusOK, status)
}

// TestStoreOfBefore: a store of a lower RowsVersion is refused with what to do, by the service and
// by all commands, and under the host by its code. That of an earlier release, reindex brings over.
func TestStoreOfBefore(t *testing.T) {
	const (
		tooOld = "the library was made by a version before 1.0: export it with that version (`backup`), then `restore`"
		older  = "the library was made by an earlier release: run `reindex`, which brings it over, with the application stopped"
	)
	says := func(version int32) table.Op {
		row := table.Row{
			Key: table.Key{Partition: "sweep", Row: "rows"}, ETag: table.Any,
			Props: table.Props{{Name: "RowsVersion", Value: table.Int32(version)}},
		}
		return table.Op{Kind: table.Replace, Row: row}
	}
	clean(t)
	data := t.TempDir()
	p, url := startLocal(t, data)
	status, body := send(t, "POST", url+"/api/v1/prompts",
		`{"title":"Kept","text":"words","tags":["text"],"visibility":"public"}`)
	require.Equal(t, http.StatusCreated, status, body)
	p.stop()
	require.Equal(t, command.OK, <-p.code)
	write := func(op table.Op) {
		file, err := embedded.OpenExisting(filepath.Join(data, "prompthub.db"), time.Now)
		require.NoError(t, err)
		_, err = file.Tables.Write(t.Context(), promptdb.DefaultTables().SystemState, op)
		require.NoError(t, errors.Join(err, file.Close()))
	}
	refused := func(told string, commands ...[]string) {
		for _, args := range commands {
			code, out, errs := withInput(t, `{"kind":"backup","version":3}`+"\n", append(args, "--data", data)...)
			require.Equal(t, command.Failed, code, args)
			require.Empty(t, out, args)
			require.True(t, strings.HasSuffix(errs, "handler: "+told+"\n"), "%s: %s", args, errs)
		}
	}
	commands := [][]string{
		{"local", "--addr", "127.0.0.1:0"},
		{"verify"},
		{"backup", "-"},
		{"redrive"},
		{"erase", "ann"},
		{"restore", "-"},
	}
	write(says(6))
	refused(tooOld, append(commands, []string{"reindex"})...)
	write(says(promptdb.RowsVersion - 1))
	refused(older, commands...)
	code, out, errs := handler(t, "reindex", "--data", data)
	require.Equal(t, command.OK, code, out+errs)
	code, out, errs = handler(t, "verify", "--data", data)
	require.Equal(t, command.OK, code, out+errs)
	_, url = startLocal(t, data)
	status, body = send(t, "GET", url+"/api/v1/prompts?q=words", "")
	require.Equal(t, http.StatusOK, status, body)
	require.Contains(t, body, `"title":"Kept"`)

	storage := azurite.Start(t)
	settings := []string{
		"AzureWebJobsStorage", storage, "AUTH_MODE", "dev", "AZURE_FUNCTIONS_ENVIRONMENT",
		"Development", "TABLE_PREFIX", "before", "QUEUE_PREFIX", "before-",
	}
	clean(t, settings...)
	st, err := service().OpenStore("", "before-")
	require.NoError(t, err)
	defer func() { require.NoError(t, st.Close()) }()
	set, err := readSettings()
	require.NoError(t, err)
	require.NoError(t, newApp(set, st, slog.New(slog.DiscardHandler), nil).db.Create(t.Context()))
	_, url = startHost(t, settings...)
	for told, version := range map[string]int32{tooOld: 6, older: promptdb.RowsVersion - 1} {
		_, err = st.Tables.Write(t.Context(), "before"+promptdb.DefaultTables().SystemState, says(version))
		require.NoError(t, err)
		require.Eventually(t, func() bool {
			status, body := send(t, "GET", url+"/api/v1/prompts", "")
			return status == http.StatusServiceUnavailable && strings.Contains(body, `"code":"STORE_TOO_OLD"`) &&
				strings.Contains(body, told)
		}, 30*time.Second, 50*time.Millisecond)
	}
}

// TestBackupOfARunningService: the process that has the store open writes it, and it is one.
func TestBackupOfARunningService(t *testing.T) {
	clean(t)
	data, copied := t.TempDir(), filepath.Join(t.TempDir(), "copied")
	p, url := startLocal(t, data)
	for range 3 {
		status, body := send(t, "POST", url+"/api/v1/prompts",
			`{"title":"t","text":"x","tags":["text"],"visibility":"public"}`)
		require.Equal(t, http.StatusCreated, status, body)
	}
	path := filepath.Join(t.TempDir(), "prompts.jsonl")
	code, out, errs := handler(t, "backup", path, "--data", data)
	require.Equal(t, command.OK, code, errs)
	require.Empty(t, out)
	require.Regexp(t, `^\d+ rows, by the process that runs\n$`, errs)
	code, _, errs = handler(t, "backup", path, "--data", data)
	require.Equal(t, command.Failed, code)
	require.Contains(t, errs, "is there already")
	p.stop()
	require.Equal(t, command.OK, <-p.code)

	code, _, errs = handler(t, "restore", path, "--data", copied)
	require.Equal(t, command.OK, code, errs)
	code, out, errs = handler(t, "verify", "--data", copied)
	require.Equal(t, command.OK, code, "%s%s", out, errs)
	_, first, _ := handler(t, "backup", "-", "--data", data)
	_, second, _ := handler(t, "backup", "-", "--data", copied)
	require.Equal(t, first, second)
}

// TestRestoreLooksFirst: a file that is no backup of PromptHub, or of another version, is refused
// by name before there is a store.
func TestRestoreLooksFirst(t *testing.T) {
	clean(t)
	t.Setenv("AUTH_MODE", "dev")
	for name, tt := range map[string]struct{ text, says string }{
		"empty":       {"", "does not begin a backup of PromptHub"},
		"no JSON":     {"PK\x03\x04 is no backup\n", "does not begin a backup of PromptHub"},
		"a long line": {strings.Repeat("x", 10<<20) + "\n", "does not begin a backup of PromptHub"},
		"another application": {
			`{"backup":"Harmony","version":2}` + "\n",
			`a backup of "Harmony", and this is PromptHub`,
		},
		"newer": {
			`{"kind":"backup","version":99}` + "\n" + `{"kind":"end","rows":0}` + "\n",
			"version 99, which is newer than this program",
		},
		"older": {
			`{"kind":"backup","version":1}` + "\n" + `{"kind":"end","rows":0}` + "\n",
			"version 1, and this program reads",
		},
		"another line": {`{"kind":"end","rows":0}` + "\n", "does not begin a backup of PromptHub"},
	} {
		data := filepath.Join(t.TempDir(), "data")
		for _, args := range [][]string{{"restore", "--data", data, "-"}, {"drill", "-"}} {
			code, out, errs := withInput(t, tt.text, args...)
			require.Equal(t, command.Failed, code, name)
			require.Empty(t, out, name)
			require.Contains(t, errs, tt.says, name)
		}
		require.NoDirExists(t, data, name)
	}
}
