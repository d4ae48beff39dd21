package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/host/command"
)

// TestErase removes an account from a store: a search of the backup finds nothing of it, verify no
// difference, and others lost nothing but his votes.
func TestErase(t *testing.T) {
	clean(t)
	data := t.TempDir()
	p, url := startLocal(t, data)
	do := func(user string, args ...string) {
		t.Helper()
		code, out, errs := handler(t, append(args, "--url", url, "--user", user)...)
		require.Equal(t, command.OK, code, out+errs)
	}
	long := strings.Repeat("Grandmother knows {{a}}. ", 100)
	for i := range 24 { // enough that the pages of some are not used again, whichever the file takes next
		name := fmt.Sprint("soup-", i)
		do("cook|7", "save", file(t, "x.md", long), "--name", name, "--title", name, "--public")
	}
	do("bob", "save", file(t, "y.md", "Two"), "--name", "stew", "--title", "Stew", "--public")
	like(t, url, "cook|7", "stew")
	p.stop()
	require.Equal(t, command.OK, <-p.code)
	backup := func() string {
		code, out, errs := handler(t, "backup", "-", "--data", data)
		require.Equal(t, command.OK, code, errs)
		return out
	}
	require.Contains(t, backup(), "cook|7")
	code, out, errs := handler(t, "erase", "cook|7", "--data", data)
	require.Equal(t, command.OK, code, errs)
	require.Equal(t, "erased\n", out)
	require.NotContains(t, errs, "nothing is stored")
	require.Contains(t, errs, `run "compact" now`)
	left := func() bool {
		b, err := os.ReadFile(filepath.Join(data, "prompthub.db"))
		require.NoError(t, err)
		return bytes.Contains(b, []byte("Grandmother knows"))
	}
	named := func() bool {
		b, err := os.ReadFile(filepath.Join(data, "prompthub.db"))
		require.NoError(t, err)
		return bytes.Contains(b, []byte("cook|7")) || bytes.Contains(b, []byte("cook%7C7"))
	}
	require.True(t, left(), "else the advice is needless")
	require.True(t, named())
	code, _, errs = handler(t, "compact", "--data", data)
	require.Equal(t, command.OK, code, errs)
	require.False(t, left())
	require.False(t, named(), "in rows and messages")
	code, out, errs = handler(t, "erase", "cook|7", "--data", data)
	require.Equal(t, command.OK, code, errs)
	require.Equal(t, "erased\n", out)
	require.Contains(t, errs, `nothing is stored under the id "cook|7"`)
	require.NotContains(t, backup(), "cook|7")
	require.Contains(t, backup(), "stew")
	code, out, _ = handler(t, "verify", "--data", data)
	require.Equal(t, command.OK, code, out)
	code, _, _ = handler(t, "erase", "", "--data", data)
	require.Equal(t, command.Usage, code)
	code, _, _ = handler(t, "erase", "x", "--data", filepath.Join(data, "none"))
	require.Equal(t, command.Failed, code)
}

// TestEraseWhileTheServiceRuns: the process that has the store open erases, and serves the others
// meanwhile. After compact the file has nothing of the user, as after an erasure at rest.
func TestEraseWhileTheServiceRuns(t *testing.T) {
	clean(t)
	data := t.TempDir()
	p, url := startLocal(t, data)
	for _, user := range []string{"cook|7", "bob"} {
		code, out, errs := handler(t, "save", file(t, "x.md", "Text of "+user), "--name", "soup", "--title",
			"Soup of "+user[:3], "--public", "--url", url, "--user", user)
		require.Equal(t, command.OK, code, out+errs)
	}
	like(t, url, "cook|7", "bob")
	titles := func() (all []string) {
		for _, p := range prompts(t, url, "sort=newest").Items {
			all = append(all, fmt.Sprint(p.Title, " ", p.Likes))
		}
		return all
	}
	require.Eventually(t, func() bool { return len(titles()) == 2 }, time.Minute, 10*time.Millisecond)
	code, out, errs := handler(t, "erase", "cook|7", "--data", data)
	require.Equal(t, command.OK, code, errs)
	require.Equal(t, "erased\n", out)
	require.Contains(t, errs, `stop the application when it suits, and run "compact" then`)
	require.NotContains(t, errs, "nothing is stored")
	require.Eventually(t, func() bool { return slices.Equal(titles(), []string{"Soup of bob 0"}) },
		time.Minute, 10*time.Millisecond)
	code, out, errs = handler(t, "erase", "cook|7", "--data", data)
	require.Equal(t, command.OK, code, errs)
	require.Equal(t, "erased\n", out)
	require.Contains(t, errs, `nothing is stored under the id "cook|7"`)
	code, _, errs = handler(t, "erase", "", "--data", data)
	require.Equal(t, command.Usage, code, errs)
	p.stop()
	require.Equal(t, command.OK, <-p.code)

	code, out, errs = handler(t, "verify", "--data", data)
	require.Equal(t, command.OK, code, out+errs)
	code, out, errs = handler(t, "backup", "-", "--data", data)
	require.Equal(t, command.OK, code, errs)
	require.NotContains(t, out, "cook|7")
	require.Contains(t, out, "Soup of bob")
	code, _, errs = handler(t, "compact", "--data", data)
	require.Equal(t, command.OK, code, errs)
	b, err := os.ReadFile(filepath.Join(data, "prompthub.db"))
	require.NoError(t, err)
	require.NotContains(t, string(b), "cook|7")
	require.NotContains(t, string(b), "cook%7C7")
}

// like has a user like the prompt of a title.
func like(t *testing.T, url, user, title string) {
	t.Helper()
	ask := func(method, path, body string, v any) {
		req, err := http.NewRequestWithContext(t.Context(), method, url+"/api/v1"+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Header = http.Header{"X-Dev-User": {user}, "Content-Type": {"application/json"}}
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		require.Equal(t, http.StatusOK, resp.StatusCode)
		require.NoError(t, json.NewDecoder(resp.Body).Decode(v))
	}
	var found struct{ Items []struct{ ID string } }
	ask(http.MethodGet, "/prompts?q="+title, "", &found)
	require.Len(t, found.Items, 1)
	ask(http.MethodPut, "/prompts/"+found.Items[0].ID+"/vote", `{"value":"like"}`, &struct{}{})
}
