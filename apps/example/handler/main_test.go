package main

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/example/internal/api"
	"prompthub/apps/example/internal/notes"
	"prompthub/apps/example/internal/web"
	"prompthub/internal/host/command"
	"prompthub/internal/testing/apptest"
)

// root is the root of the repository, and folder where in it this application is.
const (
	root   = "../../.."
	folder = "apps/example"
)

var who = api.Credentials{Name: "ann", Password: "correct horse battery staple"}

// signed returns the headers of a caller who has tokens.
func signed(t api.Tokens) []string {
	return []string{"Content-Type", "application/json", "Authorization", "Bearer " + t.AccessToken}
}

// ready waits until the service is.
func ready(t *testing.T, url string) {
	t.Helper()
	require.Eventually(t, func() bool {
		resp, err := http.Get(url + api.Prefix + "/ready") //nolint:noctx // in a loop with an end
		return err == nil && resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
	}, 30*time.Second, 20*time.Millisecond)
}

// works signs up, writes a note, sees it on the page and deletes it. It returns the headers of the
// caller.
func works(t *testing.T, url string) []string {
	t.Helper()
	ready(t, url)
	tokens := apptest.Ask[api.Tokens](t, 200, http.MethodPost, url+api.Prefix+"/auth/sign-up", who,
		"Content-Type", "application/json")
	ann := signed(tokens)
	note := apptest.Ask[api.Note](t, 201, http.MethodPost, url+api.Prefix+"/notes",
		api.NewNote{Text: "Buy milk"}, ann...)
	status, page := apptest.Send(t, http.MethodGet, url+web.Prefix, "", "Cookie",
		"example-session="+tokens.AccessToken+"."+tokens.RefreshToken)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, page, "Buy milk")
	apptest.Ask[struct{}](t, 204, http.MethodDelete, url+api.Prefix+"/notes/"+note.ID, nil, ann...)
	require.Empty(t, apptest.Ask[api.NoteList](t, 200, http.MethodGet, url+api.Prefix+"/notes", nil, ann...).Items)
	return ann
}

// does runs a command.
func does(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	require.Equal(t, command.OK, program().Run(t.Context(), args, command.Streams{Out: &out, Err: &out}), "%s", &out)
	return out.String()
}

// TestLocal: a backup of what people wrote can be read into another store, where they sign in
// again.
func TestLocal(t *testing.T) {
	local := func(data string) (string, func() int) {
		return apptest.Local(t, data, func(ctx context.Context, args []string, in io.Reader, out io.Writer) int {
			return program().Run(ctx, args, command.Streams{In: in, Out: out, Err: out})
		})
	}
	data, elsewhere := t.TempDir(), t.TempDir()
	url, stop := local(data)
	ann := works(t, url)
	note := apptest.Ask[api.Note](t, 201, http.MethodPost, url+api.Prefix+"/notes",
		api.NewNote{Text: "Buy bread"}, ann...)
	file := filepath.Join(t.TempDir(), "backup.jsonl")
	does(t, "backup", file, "--data", data)
	require.Equal(t, command.OK, stop())
	require.FileExists(t, filepath.Join(data, "example.db"))

	does(t, "restore", file, "--data", elsewhere)
	require.Contains(t, does(t, "verify", "--data", elsewhere), "rows are as they must be\n")
	url, _ = local(elsewhere)
	ready(t, url)
	status, _ := apptest.Send(t, http.MethodGet, url+api.Prefix+"/notes", "", ann...)
	require.Equal(t, http.StatusUnauthorized, status)
	ann = signed(apptest.Ask[api.Tokens](t, 200, http.MethodPost, url+api.Prefix+"/auth/sign-in", who,
		"Content-Type", "application/json"))
	require.Equal(t, []api.Note{note},
		apptest.Ask[api.NoteList](t, 200, http.MethodGet, url+api.Prefix+"/notes", nil, ann...).Items)
}

// TestDoctor: all that a deployment makes is looked for.
func TestDoctor(t *testing.T) {
	apptest.Examined(t, func(ctx context.Context, args []string, in io.Reader, out io.Writer) int {
		return program().Run(ctx, args, command.Streams{In: in, Out: out, Err: out})
	}, "AUTH_MODE=easyauth", "WEBSITE_AUTH_ENABLED=true")
}

// TestUnderTheHost stages the application as a deployment does and runs it under the test host.
func TestUnderTheHost(t *testing.T) {
	h := apptest.UnderTheHost(t, folder, "TABLE_PREFIX=Example", "QUEUE_PREFIX=example-", "CONTAINER_PREFIX=example-")
	works(t, h.URL())
	require.NoError(t, h.TestRun(t.Context(), notes.QueueChanges, `{"User":"none","Note":"none"}`))
	require.NoError(t, h.Timer(t.Context(), "ended-notes"))
}

func TestHelp(t *testing.T) {
	var out, errs bytes.Buffer
	require.Equal(t, command.OK, program().Run(t.Context(), []string{"help"}, command.Streams{Out: &out, Err: &errs}))
	require.Contains(t, out.String(), "  local       run everything in this process")
	require.Equal(t, command.Usage,
		program().Run(t.Context(), []string{"nonsense"}, command.Streams{Out: &out, Err: &errs}))
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
