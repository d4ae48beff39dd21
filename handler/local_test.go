package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"prompthub/internal/host/command"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	backups "prompthub/internal/storage/backup"
	"prompthub/internal/storage/embedded"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/apptest"
)

// send makes a request as ann and returns the status and the body.
func send(t *testing.T, method, url, body string) (int, string) {
	t.Helper()
	return sendAs(t, "ann", method, url, body)
}

func sendAs(t *testing.T, user, method, url, body string) (int, string) {
	t.Helper()
	return apptest.Send(t, method, url, body, "X-Dev-User", user, "Content-Type", "application/json")
}

// A list is what lists of prompts answer.
type list struct {
	Items []struct {
		ID, Title string
		Likes     int
	}
}

func prompts(t *testing.T, url, query string) list {
	t.Helper()
	// A voter sees the vote at once; others see the lists as they are.
	status, body := sendAs(t, "zoe", "GET", url+"/api/v1/prompts?"+query, "")
	require.Equal(t, 200, status, body)
	var l list
	require.NoError(t, json.Unmarshal([]byte(body), &l))
	return l
}

// startLocal runs "local" on a free port and returns where it listens.
func startLocal(t *testing.T, data string, flags ...string) (*process, string) {
	t.Helper()
	p := start(t, append([]string{"local", "--addr", "127.0.0.1:0", "--data", data}, flags...)...)
	return p, await(t, &p.err, `PromptHub listens on (http://127\.0\.0\.1:\d+)\n`)
}

const csvFile = `act,prompt,for_devs,type,contributor
Linux Terminal,"I want you to act
as a linux terminal",TRUE,TEXT,"bob,ann"
,no title,FALSE,TEXT,bob
Logo,Draw it,FALSE,IMAGE,cleo
Logo,Draw it,FALSE,IMAGE,cleo
Poem,Write it,FALSE,HAIKU,cleo
Short,x
Nobody,x,FALSE,TEXT,
`

const rejections = `row 2 (line 4) "no title" warning: there is no title, and the prompt is called as its text begins, "no title": give it one
row 6 (line 8) "Short" rejected: contributor: names nobody
row 7 (line 9) "Nobody" rejected: contributor: names nobody
rows with warnings: 1; mend the file and import it again: prompthub import --update `

func TestTheWholeLife(t *testing.T) {
	clean(t)
	data := filepath.Join(t.TempDir(), "data")
	p, url := startLocal(t, data)
	require.Contains(t, p.err.String(), "Data is in "+filepath.Join(data, "prompthub.db"))
	require.Contains(t, p.err.String(), "\n  export PROMPTHUB_URL="+url+" ", "as commands look for it elsewhere")
	require.NotContains(t, try(command.Settings{}, defaultURL), "PROMPTHUB_URL")
	csv := file(t, "prompts.csv", "\ufeff"+csvFile)

	code, out, errs := handler(t, "import", csv, "--as-contributor", "--public", "--url", url)
	require.Equal(t, command.LeftOut, code, errs)
	require.Equal(t, rejections+fmt.Sprintf("%q\n", csv)+"created 4, unchanged 1, rejected 2\n", out)
	require.Empty(t, errs, "what is held: the contributor is the author")
	code, out, _ = handler(t, "import", csv, "--as-contributor", "--public", "--url", url)
	require.Equal(t, command.LeftOut, code)
	require.Equal(t, rejections+fmt.Sprintf("%q\n", csv)+"created 0, unchanged 5, rejected 2\n", out)

	newest := prompts(t, url, "sort=newest")
	require.Len(t, newest.Items, 4)
	terminal := newest.Items[0]
	for _, p := range newest.Items {
		if p.Title == "Linux Terminal" {
			terminal = p
		}
	}

	// A vote comes to the lists through the queue.
	status, body := send(t, "PUT", url+"/api/v1/prompts/"+terminal.ID+"/vote", `{"value":"like"}`)
	require.Equal(t, 200, status, body)
	require.Eventually(t, func() bool {
		l := prompts(t, url, "sort=most-liked")
		return len(l.Items) == 4 && l.Items[0].ID == terminal.ID && l.Items[0].Likes == 1
	}, 20*time.Second, 50*time.Millisecond)

	code, exported, errs := handler(t, "export", "--user", "bob", "--url", url)
	require.Equal(t, command.OK, code)
	require.Equal(t, "2 prompts\n", errs)
	require.Contains(t, exported, `"title":"Linux Terminal","text":"I want you to act\nas a linux terminal","tags":["development","text"],"visibility":"public"`)
	require.Equal(t, 2, strings.Count(exported, "\n"))
	code, out, _ = withInput(t, exported, "import", "-", "--user", "dora", "--url", url)
	require.Equal(t, command.OK, code)
	require.Equal(t, "created 2, unchanged 0, rejected 0\n", out)

	for _, name := range []string{"reindex", "compact"} {
		code, _, errs = handler(t, name, "--data", data)
		require.Equal(t, command.Failed, code)
		require.Contains(t, errs,
			`is in use by another process (it belongs to one process: is "handler local" running?)`)
	}

	p.stop()
	require.Equal(t, command.OK, <-p.code)
	checkStore(t, data)
}

// checkStore runs the commands that work on a store with prompts and a vote.
func checkStore(t *testing.T, data string) {
	t.Helper()
	code, out, errs := handler(t, "verify", "--data", data)
	require.Equal(t, command.OK, code, out)
	require.Empty(t, out)
	require.Regexp(t, `^Data is in .*prompthub.db\n\d+ rows\nno difference\n$`, errs)

	first, copied := filepath.Join(t.TempDir(), "first.jsonl"), filepath.Join(t.TempDir(), "copy")
	code, out, errs = handler(t, "backup", first, "--data", data)
	require.Equal(t, command.OK, code, errs)
	require.Empty(t, out)
	entries, err := os.ReadDir(filepath.Dir(first))
	require.NoError(t, err)
	require.Len(t, entries, 1, "no other file is left")

	code, _, errs = handler(t, "restore", first, "--data", copied)
	require.Equal(t, command.OK, code, errs)
	require.Regexp(t, `\n\d+ rows\n\d+ prompts indexed\n$`, errs)
	code, second, _ := handler(t, "backup", "-", "--data", copied)
	require.Equal(t, command.OK, code)
	b, err := os.ReadFile(first)
	require.NoError(t, err)
	require.Equal(t, string(b), second)
	code, _, errs = handler(t, "restore", first, "--data", copied)
	require.Equal(t, command.Failed, code, "the store is not empty")
	require.NotEmpty(t, errs)

	spoil(t, copied)
	code, out, errs = handler(t, "verify", "--data", copied)
	require.Equal(t, command.Failed, code)
	require.Contains(t, out, "TagIndex: ")
	require.Contains(t, errs, "verify: differences: 1")
	code, _, errs = handler(t, "reindex", "--data", copied)
	require.Equal(t, command.OK, code)
	require.Contains(t, errs, " prompts\n")
	code, out, _ = handler(t, "verify", "--data", copied)
	require.Equal(t, command.OK, code, out)
	code, out, errs = handler(t, "compact", "--data", copied)
	require.Equal(t, command.OK, code, errs)
	require.Regexp(t, `^\d+\.\d MB before, \d+\.\d MB now\n$`, out)
	code, out, _ = handler(t, "verify", "--data", copied)
	require.Equal(t, command.OK, code, out)
	code, third, _ := handler(t, "backup", "-", "--data", copied)
	require.Equal(t, command.OK, code)
	require.Equal(t, second, third)
}

// TestScheduledBackup: a service that is told where writes a backup by itself as soon as it runs,
// and a drill restores it while the service goes on, and removes its store.
func TestScheduledBackup(t *testing.T) {
	clean(t)
	into, temp := t.TempDir(), t.TempDir()
	data := t.TempDir()
	p, url := startLocal(t, data)
	status, body := apptest.Send(t, "POST", url+"/api/v1/prompts", `{"title":"t","text":"x"}`, "X-Dev-User", "ann",
		"Content-Type", "application/json")
	require.Equal(t, 201, status, body)
	p.stop()
	require.Equal(t, command.OK, <-p.code)
	p, _ = startLocal(t, data, "--backup-dir", into)
	var backups []string
	require.Eventually(t, func() bool {
		backups, _ = filepath.Glob(filepath.Join(into, "prompthub-*Z.jsonl"))
		return len(backups) == 1
	}, time.Minute, 10*time.Millisecond)
	code, out, errs := handler(t, "drill", backups[0], "--temp", temp)
	require.Equal(t, command.OK, code, errs)
	require.Regexp(t, `^rows\t\d+\nprompts\t1\nseconds to restore\t\d+\.\d\nseconds to verify\t\d+\.\d\n$`, out)
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	require.Empty(t, left)
	p.stop()
	require.Equal(t, command.OK, <-p.code)

	b, err := os.ReadFile(backups[0])
	require.NoError(t, err)
	code, out, errs = withInput(t, string(b[:len(b)/2]), "drill", "-", "--temp", temp)
	require.Equal(t, command.Failed, code, "half a backup")
	require.Empty(t, out)
	require.NotEmpty(t, errs)
	left, err = os.ReadDir(temp)
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestLookAtARunningService: status and verify ask the process that has the store open, Prometheus
// gets metrics of it, systemd hears that it lives, and an admin sees the same on a page.
func TestLookAtARunningService(t *testing.T) {
	socket, err := net.ListenPacket("unixgram", filepath.Join(t.TempDir(), "notify"))
	require.NoError(t, err)
	defer socket.Close()
	clean(t, "METRICS_ADDR", ":0", "LOG_FORMAT", "json", "NOTIFY_SOCKET", socket.LocalAddr().String())
	data, into := t.TempDir(), t.TempDir()
	p, url := startLocal(t, data, "--backup-dir", into)
	metrics := await(t, &p.err, `Metrics for Prometheus are at (http://127\.0\.0\.1:\d+/metrics)\n`)
	status, body := apptest.Send(t, "POST", url+"/api/v1/prompts",
		`{"title":"t","text":"x","tags":["text"],"visibility":"public"}`, "X-Dev-User", "ann",
		"Content-Type", "application/json")
	require.Equal(t, 201, status, body)
	require.Eventually(t, func() bool { return len(prompts(t, url, "sort=newest").Items) == 1 },
		time.Minute, 10*time.Millisecond)
	require.NoError(t, socket.SetReadDeadline(time.Now().Add(time.Minute)))
	for _, want := range []string{"READY=1", "WATCHDOG=1"} {
		b := make([]byte, 100)
		n, _, err := socket.ReadFrom(b)
		require.NoError(t, err)
		require.Equal(t, want, string(b[:n]))
	}
	await(t, &p.err, `("msg":"backup")`)

	code, out, errs := handler(t, "status", "--data", data, "--rows")
	require.Equal(t, fine(t, data), code, errs)
	require.Regexp(t, `(?m)^Running for  +\d+ seconds?$`, out)
	require.Regexp(t, `(?m)^Newest backup  +\d+ seconds? old, and the next is due 1 day after it$`, out)
	require.Regexp(t, `(?m)^Rows in Prompts  +[1-9]\d*$`, out)
	require.NotContains(t, strings.ReplaceAll(out, " ! Make room", ""), "!")
	code, out, errs = handler(t, "status", "--data", data, "--json")
	require.Equal(t, fine(t, data), code, errs)
	var said command.Status
	require.NoError(t, json.Unmarshal([]byte(out), &said))
	require.Equal(t, promptdb.RowsVersion, said.RowsVersion)
	require.NotEmpty(t, said.Queues)

	code, _, errs = handler(t, "verify", "--data", data)
	require.Equal(t, command.OK, code, errs)
	require.Contains(t, errs, "no difference")

	status, body = apptest.Send(t, "GET", metrics, "")
	require.Equal(t, 200, status)
	for _, name := range []string{
		"prompthub_store_size_bytes", "prompthub_disk_free_bytes", "prompthub_disk_size_bytes",
		"prompthub_backup_newest_seconds", "prompthub_started_seconds",
		`prompthub_queue_length{`, `http_server_request_duration_seconds_count{`, "process_resident_memory_bytes",
	} {
		require.Contains(t, body, "\n"+name)
	}
	status, _ = apptest.Send(t, "GET", url+"/metrics", "")
	require.Equal(t, 404, status, "not where users ask")

	p.stop()
	require.Equal(t, command.OK, <-p.code)
	spoil(t, data)
	p, _ = startLocal(t, data)
	code, out, errs = handler(t, "verify", "--data", data, "--json")
	require.Equal(t, command.Failed, code, errs)
	require.Contains(t, out, `"table":"`)
	code, out, _ = handler(t, "status", "--data", data)
	require.Equal(t, command.Failed, code)
	require.Contains(t, out, " ! Start the service with --backup-dir")
	p.stop()
	require.Equal(t, command.OK, <-p.code)
	code, out, _ = handler(t, "status", "--data", data)
	require.Equal(t, fine(t, data), code, out)
	require.NotContains(t, out, "Running for")
}

// fine is what status exits with where nothing is wrong with a store: on a machine whose disk has
// little room left it asks for more.
func fine(t *testing.T, data string) int {
	t.Helper()
	_, out, errs := handler(t, "status", "--data", data, "--json")
	var said command.Status
	require.NoError(t, json.Unmarshal([]byte(out), &said), errs)
	if said.Disk.Low() {
		return command.Failed
	}
	return command.OK
}

// spoil takes an index row away.
func spoil(t *testing.T, data string) {
	t.Helper()
	s, err := embedded.Open(filepath.Join(data, "prompthub.db"), time.Now)
	require.NoError(t, err)
	page, err := s.Tables.List(t.Context(), "TagIndex", table.Range{}, 1, "")
	require.NoError(t, err)
	require.Len(t, page.Rows, 1)
	_, err = s.Tables.Write(t.Context(), "TagIndex",
		table.Op{Kind: table.Delete, Row: table.Row{Key: page.Rows[0].Key, ETag: page.Rows[0].ETag}})
	require.NoError(t, err)
	require.NoError(t, s.Close())
}

func TestRedrive(t *testing.T) {
	clean(t)
	data := t.TempDir()
	p, _ := startLocal(t, data)
	p.stop()
	require.Equal(t, command.OK, <-p.code)
	s, err := embedded.Open(filepath.Join(data, "prompthub.db"), time.Now)
	require.NoError(t, err)
	for range 2 {
		_, err = s.Queues.Send(t.Context(), queue.Poison(promptdb.QueueMoves), "set aside", 0)
		require.NoError(t, err)
	}
	require.NoError(t, s.Close())

	for _, want := range []string{"messages put back: 2\n", "messages put back: 0\n"} {
		code, out, errs := handler(t, "redrive", "--data", data)
		require.Equal(t, command.OK, code, errs)
		require.Equal(t, want, out)
	}
	s, err = embedded.Open(filepath.Join(data, "prompthub.db"), time.Now)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	n, err := s.Queues.Len(t.Context(), promptdb.QueueMoves)
	require.NoError(t, err)
	require.Equal(t, 2, n)
}

func TestLocalMountsNoTriggers(t *testing.T) {
	clean(t)
	_, url := startLocal(t, t.TempDir())
	status, body := send(t, "POST", url+"/score-bucket-moves", `{"Data":{"message":"\"x\""}}`)
	require.Equal(t, 404, status, body)
	status, body = send(t, "GET", url+"/", "")
	require.Equal(t, 200, status)
	require.Contains(t, body, "/api/v1/docs")
	for _, route := range []string{"health", "ready", "openapi.json", "docs", "tags", "me"} {
		status, body = send(t, "GET", url+"/api/v1/"+route, "")
		require.Equal(t, 200, status, "%s: %s", route, body)
	}
}

func TestLocalRefuses(t *testing.T) {
	for _, tt := range []struct {
		name     string
		settings []string
		addr     string
		want     string
	}{
		{"strangers in dev mode", nil, "0.0.0.0:0", "anybody may claim to be anybody"},
		{"a wrong setting", []string{"MAX_TEXT", "0"}, "127.0.0.1:0", "handler: setting MAX_TEXT is 0"},
		{"a wrong mode", []string{"AUTH_MODE", "none"}, "127.0.0.1:0", "handler: setting AUTH_MODE cannot be"},
		{
			"a wrong account",
			[]string{"AzureWebJobsStorage", "AccountName=x"},
			"127.0.0.1:0",
			"handler: setting AzureWebJobsStorage does not name a storage account",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			clean(t, tt.settings...)
			data := filepath.Join(t.TempDir(), "data")
			code, _, errs := handler(t, "local", "--addr", tt.addr, "--data", data)
			require.Equal(t, command.Failed, code)
			require.Contains(t, errs, tt.want)
			require.NoDirExists(t, data)
		})
	}
}

func TestLocalOnAPortInUse(t *testing.T) {
	clean(t)
	_, url := startLocal(t, t.TempDir())
	code, _, errs := handler(t, "local", "--addr", strings.TrimPrefix(url, "http://"), "--data", t.TempDir())
	require.Equal(t, command.Failed, code)
	require.Contains(t, errs, "another program listens there, perhaps a PromptHub: end it, or name another port")
}

func TestLocalInterruptedBeforeItBegan(t *testing.T) {
	clean(t)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var out, errs apptest.Output
	require.Zero(t, program().Run(ctx, []string{"local", "--addr", "127.0.0.1:0", "--data", t.TempDir()},
		command.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}), "%s", &errs)
}

// TestLocalWritesAtOnce: what "local" writes of a prompt, and of a vote, is one call to its store.
func TestLocalWritesAtOnce(t *testing.T) {
	clean(t)
	p, url := startLocal(t, filepath.Join(t.TempDir(), "data"))
	var made struct{ ID string }
	for range 2 { // the first one makes its author known too
		status, body := send(t, "POST", url+"/api/v1/prompts",
			`{"title":"One, two, three","text":"Count","tags":["text"],"visibility":"public"}`)
		require.Equal(t, 201, status, body)
		require.NoError(t, json.Unmarshal([]byte(body), &made))
	}
	status, body := send(t, "PUT", url+"/api/v1/prompts/"+made.ID+"/vote", `{"value":"like"}`)
	require.Equal(t, 200, status, body)
	p.stop()
	require.Zero(t, <-p.code)
	calls := regexp.MustCompile(`method=(POST|PUT) .*storage_ops=(\d+)`).FindAllStringSubmatch(p.err.String(), -1)
	require.Len(t, calls, 3, p.err.String())
	require.Equal(t, "2", calls[1][2], "a transaction in vain, as another prompt of hers has the name, and one more")
	require.Equal(t, "3", calls[2][2], "that of a vote, and two looks before it")
}

// TestLocalBelievesNoTraceOfStrangers: the ids in the log are not theirs to choose.
func TestLocalBelievesNoTraceOfStrangers(t *testing.T) {
	const stranger = "abababababababababababababababab"
	for trusted, want := range map[string]bool{"192.0.2.1": false, "127.0.0.1": true} {
		clean(t)
		t.Setenv("TRUSTED_PROXIES", trusted)
		p, url := startLocal(t, filepath.Join(t.TempDir(), "data"))
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/api/v1/health", http.NoBody)
		require.NoError(t, err)
		req.Header.Set("Traceparent", "00-"+stranger+"-cdcdcdcdcdcdcdcd-01")
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		resp.Body.Close()
		p.stop()
		require.Zero(t, <-p.code)
		require.Contains(t, p.err.String(), "GET /api/v1/health")
		require.Equal(t, want, strings.Contains(p.err.String(), stranger), p.err.String())
	}
}

func TestLocalProfile(t *testing.T) {
	clean(t)
	profile := file(t, "cpu.out", "an older profile")
	code, _, errs := handler(t, "local", "--addr", "0.0.0.0:0", "--data", t.TempDir(), "--cpuprofile", profile)
	require.Equal(t, command.Failed, code, errs)
	kept, err := os.ReadFile(profile)
	require.NoError(t, err)
	require.Equal(t, "an older profile", string(kept), "what does not start leaves it alone")

	code, _, errs = handler(t, "local", "--addr", "127.0.0.1:0", "--data", t.TempDir(), "--cpuprofile",
		filepath.Join(t.TempDir(), "none", "cpu.out"))
	require.Equal(t, command.Failed, code)
	require.Contains(t, errs, "no such file or directory")

	p := start(t, "local", "--addr", "127.0.0.1:0", "--data", t.TempDir(), "--cpuprofile", profile)
	await(t, &p.err, `PromptHub listens on (http)`)
	p.stop()
	require.Zero(t, <-p.code)
	info, err := os.Stat(profile)
	require.NoError(t, err)
	require.EqualValues(t, 0o600, info.Mode().Perm())
	made, err := os.ReadFile(profile)
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(made, []byte{0x1f, 0x8b}), "a profile is a gzip file")
}

func TestCommandsOnNoStore(t *testing.T) {
	clean(t)
	for _, args := range [][]string{
		{"verify"},
		{"reindex"},
		{"compact"},
		{"redrive"},
		{"backup", filepath.Join(t.TempDir(), "b")},
	} {
		dir := t.TempDir()
		code, _, errs := handler(t, append(args, "--data", dir)...)
		require.Equal(t, command.Failed, code)
		require.Contains(t, errs, "there is no store in "+dir)
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, entries, "none is made")
	}
	code, _, errs := handler(t, "restore", filepath.Join(t.TempDir(), "missing"), "--data", t.TempDir())
	require.Equal(t, command.Failed, code)
	require.Contains(t, errs, "no such file")
}

// TestCommandsOnALostStore: the remains of a lost store, or a store of another name, does not pass
// for an empty library, and the backup of the lost one stays.
func TestCommandsOnALostStore(t *testing.T) {
	all := [][]string{
		{"verify"},
		{"reindex"},
		{"redrive"},
		{"erase", "ann"},
		{"backup", "--overwrite", file(t, "nightly.jsonl", "good")},
	}
	fails := func(t *testing.T, data, want string, commands ...[]string) {
		t.Helper()
		for _, args := range commands {
			code, out, errs := handler(t, append(args, "--data", data)...)
			require.Equal(t, command.Failed, code, args)
			require.Empty(t, out)
			require.Contains(t, errs, want)
		}
		b, err := os.ReadFile(all[4][2])
		require.NoError(t, err)
		require.Equal(t, "good", string(b))
	}
	t.Run("empty file", func(t *testing.T) {
		clean(t)
		path := file(t, "prompthub.db", "")
		fails(t, filepath.Dir(path), "no store: it is empty, or another application's; name the directory",
			append(all, []string{"compact"})...)
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Empty(t, b)
	})
	t.Run("no file", func(t *testing.T) {
		clean(t)
		data := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(data, "prompthub.db"), 0o700))
		for _, args := range all {
			code, _, errs := handler(t, append(args, "--data", data)...)
			require.Equal(t, command.Failed, code)
			require.Contains(t, errs, "is a directory")
			require.NotContains(t, errs, "running?", "which is the advice where it is in use")
		}
	})
	t.Run("no tables", func(t *testing.T) {
		clean(t)
		data := t.TempDir()
		s, err := embedded.Open(filepath.Join(data, "prompthub.db"), time.Now)
		require.NoError(t, err)
		require.NoError(t, s.Close())
		fails(t, data, `there is no library with TABLE_PREFIX ""`, all...)
		s, err = embedded.Open(filepath.Join(data, "prompthub.db"), time.Now)
		require.NoError(t, err)
		require.NoError(t, s.Tables.Create(t.Context(), "Prompts"))
		require.NoError(t, s.Close())
		fails(t, data, "tables are missing: Files, Fetches, PromptVotes, PromptVotesByVoter", all...)
	})
	t.Run("no queues", func(t *testing.T) {
		clean(t)
		data := t.TempDir()
		p, _ := startLocal(t, data)
		p.stop()
		require.Equal(t, command.OK, <-p.code)
		t.Setenv("QUEUE_PREFIX", "mistyped-")
		fails(t, data, "queues are missing: score-bucket-moves, ", all[1:4]...)
	})
}

// TestCommandsOnADamagedRow: a row that lost its end on the disk is named, and the rest is as it
// was.
func TestCommandsOnADamagedRow(t *testing.T) {
	clean(t)
	data := t.TempDir()
	p, url := startLocal(t, data)
	for _, name := range []string{"soup", "stew"} {
		code, _, errs := handler(t, "save", file(t, "x.md", "Text"), "--name", name, "--title", name, "--public",
			"--url", url, "--user", name)
		require.Equal(t, command.OK, code, errs)
	}
	p.stop()
	require.Equal(t, command.OK, <-p.code)
	db, err := bbolt.Open(filepath.Join(data, "prompthub.db"), 0o600, nil)
	require.NoError(t, err)
	require.NoError(t, db.Update(func(tx *bbolt.Tx) error {
		rows := tx.Bucket([]byte("r/Prompts"))
		k, v := rows.Cursor().Seek([]byte("u|soup\x00\x01!labels"))
		return rows.Put(bytes.Clone(k), bytes.Clone(v[:len(v)-3]))
	}))
	require.NoError(t, db.Close())

	for _, name := range []string{"verify", "reindex"} {
		code, out, errs := handler(t, name, "--data", data)
		require.Equal(t, command.Failed, code)
		require.Contains(t, out, "Prompts: u|soup / !labels")
		require.Contains(t, out, ": is damaged in the storage\n")
		require.NotContains(t, errs, "try again")
	}
	code, out, errs := handler(t, "backup", "-", "--data", data)
	require.Equal(t, command.Failed, code)
	require.Contains(t, errs, ": is damaged in the storage; it was left out\n")
	require.Contains(t, errs, ": needs a row that is damaged in the storage; it was left out\n")
	require.Contains(t, out, `"title":"stew"`)
	require.Contains(t, out, `"kind":"end"`)
}

// TestRestoreTellsWhatDiffers: what a person must judge comes with the backup, and is told.
func TestRestoreTellsWhatDiffers(t *testing.T) {
	clean(t)
	data := t.TempDir()
	p, url := startLocal(t, data)
	status, body := apptest.Send(t, "POST", url+"/api/v1/prompts",
		`{"title":"t","text":"x","tags":["text"],"visibility":"public"}`,
		"X-Dev-User", "ann", "Content-Type", "application/json", "Idempotency-Key", "a-key-of-ann")
	require.Equal(t, 201, status, body)
	p.stop()
	require.Equal(t, command.OK, <-p.code)
	code, out, errs := handler(t, "backup", "-", "--data", data)
	require.Equal(t, command.OK, code, errs)
	const key = `"idempotency":{"author":"ann","key":"`
	require.Contains(t, out, key)
	code, _, errs = withInput(t, strings.Replace(out, key, key+"0", 1), "restore", "-", "--data", t.TempDir())
	require.Equal(t, command.Failed, code)
	require.Contains(t, errs, "part 0001 of the backup is damaged")
	lines, err := io.ReadAll(backups.Unseal(strings.NewReader(out))) // as before files had sums
	require.NoError(t, err)
	code, out, errs = withInput(t, strings.Replace(string(lines), key, key+"0", 1),
		"restore", "-", "--data", t.TempDir())
	require.Equal(t, command.Failed, code)
	require.Contains(t, out, "leads to a prompt that another key made, or none\n")
	require.Contains(t, errs, "1 prompts indexed\n")
	require.Contains(t, errs, "restore: all of the backup is there; rows that differ, and were left as they are: 1\n")
}

// TestCommandsInterrupted: an interrupted command says so once, and how to go on.
func TestCommandsInterrupted(t *testing.T) {
	clean(t)
	data := t.TempDir()
	p, _ := startLocal(t, data)
	p.stop()
	require.Equal(t, command.OK, <-p.code)
	backup := filepath.Join(t.TempDir(), "backup.jsonl")
	code, _, errs := handler(t, "backup", backup, "--data", data)
	require.Equal(t, command.OK, code, errs)
	ctx, stop := context.WithCancelCause(t.Context())
	stop(errors.New("interrupt signal received"))
	for next, commands := range map[string][][]string{
		"run the same command again": {
			{"verify"}, {"reindex"}, {"erase", "ann"}, {"backup", "-"},
		},
		"empty the data directory, or remove the tables, and restore again": {{"restore", backup}},
	} {
		for _, args := range commands {
			dir := data
			if args[0] == "restore" {
				dir = t.TempDir()
			}
			var out, errs apptest.Output
			require.Equal(t, command.Failed,
				program().Run(ctx, append(args, "--data", dir),
					command.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}))
			_, said, _ := strings.Cut(errs.String(), "\n") // after where the data is
			require.Equal(t, "handler: interrupt signal received; "+next+"\n", said)
		}
	}
}

func TestBackupReplacesNothingUnasked(t *testing.T) {
	clean(t)
	data := t.TempDir()
	p, _ := startLocal(t, data)
	p.stop()
	path := file(t, "backup", "old")
	code, _, errs := handler(t, "backup", path, "--data", data)
	require.Equal(t, command.Failed, code)
	require.Contains(t, errs, path+" is there already: name another file, or replace it with --overwrite")
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "old", string(b))
	code, _, _ = handler(t, "backup", "--overwrite", path, "--data", data)
	require.Equal(t, command.OK, code)
	b, err = os.ReadFile(path)
	require.NoError(t, err)
	require.NotEqual(t, "old", string(b))
	code, out, _ := handler(t, "backup", "-", "--data", data)
	require.Equal(t, command.OK, code)
	require.Equal(t, string(b), out)
}

func TestBackupThatFailsLeavesTheOldOne(t *testing.T) {
	path := file(t, "backup", "old")
	err := command.WriteTo(nil, path, func(w io.Writer) error {
		_, err := fmt.Fprint(w, "half of the n")
		require.NoError(t, err)
		return fmt.Errorf("no more")
	})
	require.ErrorContains(t, err, "no more")
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "old", string(b))
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

func TestImportThatCannotBegin(t *testing.T) {
	clean(t)
	_, url := startLocal(t, t.TempDir())
	good := file(t, "good.csv", csvFile)
	for _, tt := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"no file", []string{filepath.Join(t.TempDir(), "none")}, command.Failed, "no such file"},
		{
			"broken file",
			[]string{file(t, "broken.csv", csvFile+"a,\"b\n")},
			command.Failed,
			"line 10, column 6: extraneous or missing",
		},
		{
			"token with contributors",
			[]string{good, "--token", "t", "--as-contributor"},
			command.Usage,
			"--as-contributor and --token exclude each other",
		},
		{"nobody it knows", []string{good, "--token", "t"}, command.Failed, "status 401"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, out, errs := handler(t, append([]string{"import", "--url", url}, tt.args...)...)
			require.Equal(t, tt.code, code)
			require.Empty(t, out)
			require.Contains(t, errs, tt.want)
		})
	}
	require.Empty(t, prompts(t, url, "").Items)
}

// TestShortImportIsQuiet: progress is told after ten seconds.
func TestShortImportIsQuiet(t *testing.T) {
	clean(t)
	rows := strings.Repeat(`{"title":"t","text":"x"}`+"\n", 250)
	code, out, errs := withInput(t, rows, "import", "-", "--dry-run")
	require.Equal(t, command.OK, code)
	require.Equal(t, "would create 250, unchanged 0, rejected 0\n", out)
	require.Empty(t, errs)
}

func TestDryRunKeepsTheLimitThatIsSet(t *testing.T) {
	clean(t, "MAX_TEXT", "4")
	code, out, _ := withInput(t, `{"title":"t","text":"12345"}`, "import", "-", "--dry-run")
	require.Equal(t, command.LeftOut, code)
	require.Contains(t, out, "shorten the text to at most 4 characters")
}

// TestPurgeAtTheStart: a machine that is off at the hour of the purge purges when it is on.
func TestPurgeAtTheStart(t *testing.T) {
	clean(t)
	data := t.TempDir()
	past := func() time.Time { return time.Now().AddDate(0, 0, -40) }
	file, err := embedded.Open(filepath.Join(data, "prompthub.db"), past)
	require.NoError(t, err)
	db := promptdb.New(promptdb.Config{
		Store: file.Tables, Queues: file.Queues, Tables: promptdb.DefaultTables(), Now: past,
		Log:        slog.New(slog.DiscardHandler),
		Background: func(do func()) { do() }, Sleep: command.Sleep,
	})
	require.NoError(t, db.Create(t.Context()))
	id, err := prompt.NewID(past(), rand.Reader)
	require.NoError(t, err)
	p := prompt.Prompt{
		ID: id, AuthorID: "ann", Draft: prompt.Draft{Title: "t", Text: "x", Visibility: prompt.Private},
		CreatedAt: past(), UpdatedAt: past(), DeletedAt: past(), Revision: 1,
	}
	_, _, err = db.Add(t.Context(), p, nil)
	require.NoError(t, err)
	require.NoError(t, file.Close())

	started, _ := startLocal(t, data)
	await(t, &started.err, `(msg=purge prompts=1)`)
}
