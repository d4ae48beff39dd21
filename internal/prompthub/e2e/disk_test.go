package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/testing/disktest"
	"prompthub/internal/testing/functiontest"
)

// underFault returns a command that runs the program under strace, and where its trace will be.
func underFault(t *testing.T, f disktest.Fault, args ...string) (cmd *exec.Cmd, trace string) {
	t.Helper()
	cmd, trace = disktest.Command(t, f, append([]string{binary(t)}, args...)...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=4") // a goroutine keeps its thread while it waits for the disk
	return cmd, trace
}

// failing runs a command of the program with one call to the disk failing, and returns its exit
// code, what it printed on stderr and its trace.
func failing(t *testing.T, f disktest.Fault, args ...string) (code int, stderr string, trace disktest.Trace) {
	t.Helper()
	cmd, log := underFault(t, f, args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	_ = cmd.Run() // the exit code says it
	return cmd.ProcessState.ExitCode(), errs.String(), disktest.Read(t, log)
}

// backedUp returns the backup of a store.
func backedUp(t *testing.T, data string) string {
	t.Helper()
	code, out, errs := command(t, nil, "backup", "-", "--data", data)
	require.Zero(t, code, errs)
	return out
}

// noRows is the backup of a store without any but the author secret, which each store has.
var noRows = regexp.MustCompile(`^{"kind":"backup","version":\d+}
({"kind":"secret",.*}
)?{"kind":"end","rows":[01]}
{"part":"0001",.*}
{"parts":1,.*}
$`)

// stocked makes a store with three prompts and votes, and returns its directory and the prompts.
func stocked(t *testing.T) (data string, prompts []shown) {
	t.Helper()
	a := startLocal(t, "embedded")
	ann := user{t: t, url: a.url(), name: "ann"}
	for i := range 3 {
		p := ann.create(fmt.Sprint("Stocked ", i))
		require.NoError(t, user{t: t, url: a.url(), name: "bob"}.vote(p.ID, "like"))
		prompts = append(prompts, p)
	}
	a.quit(t)
	return a.data(), prompts
}

// copyOf returns a new directory with the file of a store that no process has open.
func copyOf(t *testing.T, data string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(data, "prompthub.db"))
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "prompthub.db"), b, 0o600))
	return dir
}

// A change is a request that changes a store. A backup has its mark in that many rows afterwards
// where it was made.
type change struct {
	by, method, path string
	body             any
	status           int // of success
	mark             string
	rows             int
}

// firstPrompt is what a new store gets.
var firstPrompt = []change{{
	"ann", "POST", "/prompts",
	map[string]any{"title": "First", "text": "First text", "tags": []string{"text"}, "visibility": "public"},
	http.StatusCreated, `"text":"First text"`, 2, // the prompt and its version
}}

// changesOf are changes of each kind to a store that stocked made, whose prompts are these.
func changesOf(prompts []shown) []change {
	return append([]change{
		{
			"ann", "PATCH", "/prompts/" + prompts[0].ID,
			map[string]string{"title": "Edited", "text": "Edited text"},
			http.StatusOK, `"text":"Edited text"`, 2,
		},
		{"ann", "DELETE", "/prompts/" + prompts[1].ID, nil, http.StatusNoContent, `"deletedAt"`, 1},
		{
			"carol", "PUT", "/prompts/" + prompts[2].ID + "/vote",
			map[string]string{"value": "like"},
			http.StatusOK, `"voter":"carol"`, 1,
		},
	}, firstPrompt...)
}

// TestDiskFails has each call to the disk that the program makes fail in turn. What the program
// acknowledged is there afterwards, and what it refused is absent or whole.
func TestDiskFails(t *testing.T) {
	disktest.Need(t)
	t.Parallel()
	done := work(t)
	data, prompts := stocked(t)
	backup := backedUp(t, data)
	file := filepath.Join(t.TempDir(), "backup.jsonl")
	require.NoError(t, os.WriteFile(file, []byte(backup), 0o600))
	done() // the parts take places of their own
	for name, part := range map[string]func(t *testing.T, f disktest.Fault) disktest.Trace{
		"compact": func(t *testing.T, f disktest.Fault) disktest.Trace {
			dir := copyOf(t, data)
			_, _, trace := failing(t, f, "compact", "--data", dir)
			require.NoFileExists(t, filepath.Join(dir, "prompthub.db.compact"))
			require.Equal(t, backup, backedUp(t, dir))
			return trace
		},
		"backup": func(t *testing.T, f disktest.Fault) disktest.Trace {
			dir, to := copyOf(t, data), filepath.Join(t.TempDir(), "backup.jsonl")
			code, _, trace := failing(t, f, "backup", to, "--data", dir)
			if b, err := os.ReadFile(to); err == nil || code == 0 {
				require.NoError(t, err)
				require.Equal(t, backup, string(b))
			}
			return trace
		},
		"restore": func(t *testing.T, f disktest.Fault) disktest.Trace {
			dir := filepath.Join(t.TempDir(), "data")
			code, errs, trace := failing(t, f, "restore", file, "--data", dir)
			switch {
			case code == 0:
				require.Equal(t, backup, backedUp(t, dir), errs)
			case !refused(t, dir):
				if got := backedUp(t, dir); got != backup {
					require.Regexp(t, noRows, got)
				}
			}
			return trace
		},
		"create": func(t *testing.T, f disktest.Fault) disktest.Trace {
			dir := t.TempDir()
			made, trace := serve(t, f, dir, firstPrompt)
			if made[0] || !refused(t, dir) {
				checkChanges(t, dir, firstPrompt, made)
			}
			return trace
		},
		"write": func(t *testing.T, f disktest.Fault) disktest.Trace {
			dir, changes := copyOf(t, data), changesOf(prompts)
			made, trace := serve(t, f, dir, changes)
			checkChanges(t, dir, changes, made)
			return trace
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			work(t)
			disktest.EachFails(t, part)
		})
	}
}

// refused reports whether a backup refuses the store that a failed start or restore has left. It
// must say what is missing. Where that is the index rows, reindex makes them.
func refused(t *testing.T, data string) bool {
	t.Helper()
	code, _, errs := command(t, nil, "backup", "-", "--data", data)
	if code == 0 {
		return false
	}
	require.Regexp(t, "no store: |there is no store in|there is no library|tables are missing|a restore into this store was cut off|run reindex", errs)
	if !strings.Contains(errs, "run reindex") {
		return true
	}
	code, out, errs := command(t, nil, "reindex", "--data", data)
	require.Zero(t, code, "%s%s", out, errs)
	return false
}

// checkChanges requires that every acknowledged change is in a store, and that each change is there
// as a whole or not at all.
func checkChanges(t *testing.T, data string, changes []change, made []bool) {
	t.Helper()
	got := backedUp(t, data)
	for i, c := range changes {
		rows := strings.Count(got, c.mark)
		require.Contains(t, []int{0, c.rows}, rows, "rows of %s %s", c.method, c.path)
		require.True(t, rows > 0 || !made[i], "%s %s was acknowledged", c.method, c.path)
	}
	code, out, errs := command(t, nil, "reindex", "--data", data) // for what a message should finish
	require.Zero(t, code, "%s%s", out, errs)
	code, out, errs = command(t, nil, "verify", "--data", data)
	require.Zero(t, code, "%s%s", out, errs)
}

// serve runs the service with one call to the disk failing, and asks it for changes. made says
// which it acknowledged.
func serve(t *testing.T, f disktest.Fault, dir string, changes []change) (made []bool, trace disktest.Trace) {
	t.Helper()
	port, err := functiontest.UnusedPort()
	require.NoError(t, err)
	addr := fmt.Sprintf("127.0.0.1:%d", port)
	cmd, log := underFault(t, f, "local", "--addr", addr, "--data", dir)
	require.NoError(t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // with whatever code
		close(ended)
	}()
	answers := func() bool {
		r, err := http.Get("http://" + addr + "/api/v1/ready")
		if err == nil {
			r.Body.Close()
		}
		return err == nil
	}
	over := func() bool {
		select {
		case <-ended:
			return true
		default:
			return false
		}
	}
	require.Eventually(t, func() bool { return answers() || over() }, time.Minute, 10*time.Millisecond)
	for _, c := range changes {
		// no answer is no success
		status, _, _ := user{t: t, url: "http://" + addr, name: c.by}.try(c.method, c.path,
			c.body, nil, "If-Match", "*")
		made = append(made, status == c.status)
	}
	if !over() {
		interrupt(t, log)
	}
	<-ended
	return made, disktest.Read(t, log)
}

// interrupt ends the program that a trace is of: strace itself would let it go.
func interrupt(t *testing.T, trace string) {
	t.Helper()
	b, err := os.ReadFile(trace)
	require.NoError(t, err)
	first, _, _ := strings.Cut(string(b), " ")
	pid, err := strconv.Atoi(first)
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGINT))
}

// TestDiskOrder: what the program did to the disk lasts through a loss of power.
func TestDiskOrder(t *testing.T) {
	disktest.Need(t)
	t.Parallel()
	work(t)
	data, prompts := stocked(t)
	file := filepath.Join(t.TempDir(), "backup.jsonl")
	require.NoError(t, os.WriteFile(file, []byte(backedUp(t, data)), 0o600))
	run := func(t *testing.T, dir string, there []string, args ...string) {
		t.Helper()
		code, errs, trace := failing(t, disktest.Fault{}, args...)
		require.Zero(t, code, errs)
		trace.CheckOrder(t, dir, there...)
	}
	t.Run("compact", func(t *testing.T) {
		dir := copyOf(t, data)
		run(t, dir, []string{filepath.Join(dir, "prompthub.db")}, "compact", "--data", dir)
	})
	t.Run("backup", func(t *testing.T) {
		dir := t.TempDir()
		run(t, dir, nil, "backup", filepath.Join(dir, "backup.jsonl"), "--data", copyOf(t, data))
	})
	t.Run("restore", func(t *testing.T) {
		dir := t.TempDir()
		run(t, dir, nil, "restore", file, "--data", filepath.Join(dir, "data"))
	})
	t.Run("create", func(t *testing.T) {
		dir := t.TempDir()
		made, trace := serve(t, disktest.Fault{}, dir, firstPrompt)
		require.NotContains(t, made, false)
		trace.CheckOrder(t, dir)
	})
	t.Run("write", func(t *testing.T) {
		dir := copyOf(t, data)
		made, trace := serve(t, disktest.Fault{}, dir, changesOf(prompts))
		require.NotContains(t, made, false)
		trace.CheckOrder(t, dir, filepath.Join(dir, "prompthub.db"))
	})
}
