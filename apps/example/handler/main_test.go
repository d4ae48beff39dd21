package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/example/internal/notes"
	"prompthub/internal/host/command"
	"prompthub/internal/testing/apptest"
	"prompthub/internal/testing/functiontest"
)

// root is the root of the repository, and folder where in it this application is.
const (
	root   = "../../.."
	folder = "apps/example"
)

// ask makes a request as ann and reads the note of the answer.
func ask(t *testing.T, method, url, text string) (int, notes.Note) {
	t.Helper()
	status, body := apptest.Send(t, method, url, text, "X-Dev-User", "ann")
	var n notes.Note
	require.NoError(t, json.Unmarshal([]byte(body), &n), "%s", body)
	return status, n
}

// works writes a note, whose length a queue function finds out.
func works(t *testing.T, url string) {
	t.Helper()
	require.Eventually(t, func() bool {
		status, _ := ask(t, http.MethodGet, url+"/api/ready", "")
		return status == http.StatusOK
	}, 30*time.Second, 20*time.Millisecond)
	status, _ := ask(t, http.MethodPost, url+"/api/notes/today", "Buy milk")
	require.Equal(t, http.StatusOK, status)
	require.Eventually(t, func() bool {
		status, n := ask(t, http.MethodGet, url+"/api/notes/today", "")
		return status == http.StatusOK && n == notes.Note{Text: "Buy milk", Length: 8}
	}, 30*time.Second, 20*time.Millisecond)
	status, _ = ask(t, http.MethodGet, url+"/api/notes/tomorrow", "")
	require.Equal(t, http.StatusNotFound, status)
}

func TestLocal(t *testing.T) {
	data := t.TempDir()
	url, stop := apptest.Local(t, data, func(ctx context.Context, args []string, in io.Reader, out io.Writer) int {
		return program().Run(ctx, args, command.Streams{In: in, Out: out, Err: out})
	})
	works(t, url)
	require.Equal(t, command.OK, stop())
	require.FileExists(t, filepath.Join(data, "example.db"))
}

// TestDoctor: all that a deployment makes is looked for.
func TestDoctor(t *testing.T) {
	apptest.Examined(t, func(ctx context.Context, args []string, in io.Reader, out io.Writer) int {
		return program().Run(ctx, args, command.Streams{In: in, Out: out, Err: out})
	}, "AUTH_MODE=easyauth", "WEBSITE_AUTH_ENABLED=true")
}

// TestUnderTheHost stages the application as a deployment does and runs it under the test host.
func TestUnderTheHost(t *testing.T) {
	h := apptest.UnderTheHost(t, folder, "AUTH_MODE=dev", "TABLE_PREFIX=Example", "QUEUE_PREFIX=example-")
	works(t, h.URL())
	// what it wrote is seen before it has answered
	require.Eventually(t, func() bool {
		return slices.ContainsFunc(h.Invocations(), func(i functiontest.Invocation) bool {
			return i.Function == notes.QueueLengths && i.Status == http.StatusOK
		})
	}, 30*time.Second, 20*time.Millisecond)
}

func TestHelp(t *testing.T) {
	var out, errs bytes.Buffer
	require.Equal(t, command.OK, program().Run(t.Context(), []string{"help"}, command.Streams{Out: &out, Err: &errs}))
	require.Contains(t, out.String(), "  local       run everything in this process")
	require.Equal(t, command.Usage, program().Run(t.Context(), []string{"nonsense"}, command.Streams{Out: &out, Err: &errs}))
	require.Contains(t, errs.String(), `there is no command "nonsense"`)
}

// TestNothingElseKnowsThisApplication holds what makes the next one a matter of one folder: no
// code, rule or workflow outside of this one names it.
func TestNothingElseKnowsThisApplication(t *testing.T) {
	skipped := []string{".git", ".cache", ".data", "dist", "bin", "node_modules"}
	read := 0
	require.NoError(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case e.IsDir() && (slices.Contains(skipped, e.Name()) || filepath.ToSlash(name) == folder):
			return fs.SkipDir
		case !e.Type().IsRegular() || filepath.Ext(path) == ".md":
			return nil
		}
		text, err := os.ReadFile(path)
		read++
		require.NotContains(t, string(text), folder, "%s names it", name)
		return err
	}))
	require.Greater(t, read, 500)
}
