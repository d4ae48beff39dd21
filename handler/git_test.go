package main

import (
	"bytes"
	"compress/gzip"
	crand "crypto/rand"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/testing/apptest"
	"prompthub/internal/testing/functiontest"
)

// TestGitBehindTheHost: git itself clones and fetches through the host, which hides that a body is
// packed.
func TestGitBehindTheHost(t *testing.T) {
	inBothModes(t, func(t *testing.T, older bool) {
		h := onAzurite(t, functiontest.Options{Older: older})
		handle := "git-" + strings.ToLower(crand.Text()) // the store is that of other tests too
		ann := as(t, h, handle)
		ann.did("PUT", "/api/v1/me/profile", fmt.Sprintf(`{"handle":%q}`, handle))
		at := ann.made(1)
		token := ann.did("POST", "/api/v1/me/tokens", `{"name":"t","scopes":["read"]}`)["token"].(string)
		dir := t.TempDir()
		run := func(args ...string) (string, error) {
			t.Helper()
			c := exec.CommandContext(t.Context(), "git", args...)
			c.Dir = dir
			c.Env = []string{
				"PATH=/usr/bin:/bin", "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
				"GIT_ASKPASS=true", "LC_ALL=C",
			}
			out, err := c.CombinedOutput()
			return strings.TrimSpace(string(out)), err
		}
		did := func(args ...string) string {
			t.Helper()
			out, err := run(args...)
			require.NoError(t, err, "%s: %s", args, out)
			return out
		}
		author := "/git/u/" + handle + ".git"
		url := strings.Replace(h.URL(), "://", "://any:"+token+"@", 1)
		change := func(n int) {
			ann.did("PUT", at, fmt.Sprintf(
				`{"title":"A prompt","text":"Text %d","tags":["text"],"visibility":"public"}`, n))
		}
		change(100)
		did("clone", "-q", url+author, "all")
		did("clone", "-q", "--depth", "1", url+"/git/me/a-prompt", "one")
		for n := range 40 { // then git packs the list of those that it has
			change(n)
		}
		did("-C", "one", "fetch", "-q", "--unshallow")
		change(40)
		for _, folder := range []string{"all", "one"} {
			did("-C", folder, "pull", "-q", "--ff-only")
			did("-C", folder, "fsck", "--strict")
		}
		require.Equal(t, did("-C", "one", "rev-parse", "HEAD^{tree}"),
			did("-C", "all", "rev-parse", "HEAD:plugins/a-prompt/skills/a-prompt"))
		require.Equal(t, "43", did("-C", "one", "rev-list", "--count", "HEAD"))

		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, _ = w.Write([]byte("0014command=ls-refs\n00010009peel\n0000"))
		require.NoError(t, w.Close())
		status, body := apptest.Send(t, http.MethodPost, h.URL()+author+"/git-upload-pack", packed.String(),
			"Authorization", "Bearer "+token, "Content-Type", "application/x-git-upload-pack-request",
			"Content-Encoding", "gzip")
		require.Equal(t, http.StatusOK, status, body)
		require.Contains(t, body, did("-C", "all", "rev-parse", "HEAD")+" refs/heads/main")

		ann.did("POST", at+"/versions/43/recall", `{"reason":"It insults people"}`)
		out, err := run("-C", "all", "pull", "-q", "--ff-only")
		require.Error(t, err, out)
		require.Contains(t, did("-C", "one", "ls-remote", "origin", "refs/heads/main"),
			did("-C", "one", "rev-parse", "HEAD~1"))
		for address, want := range map[string]int{author: 401, "/git/u/nothing-here.git": 401, "/git/me.git": 401} {
			status, body := apptest.Send(t, http.MethodGet, h.URL()+address+"/info/refs?service=git-upload-pack", "")
			require.Equal(t, want, status, body)
			require.Contains(t, body, "(UNAUTHENTICATED)")
		}
		status, body = apptest.Send(t, http.MethodGet,
			h.URL()+"/git/u/nothing-here.git/info/refs?service=git-upload-pack", "", "Authorization", "Bearer "+token)
		require.Equal(t, http.StatusNotFound, status, body)
		status, body = apptest.Send(t, http.MethodGet, h.URL()+author+"/info/refs?service=git-receive-pack", "",
			"Authorization", "Bearer "+token)
		require.Equal(t, http.StatusForbidden, status, body)
		require.Contains(t, body, "read only")
	})
}
