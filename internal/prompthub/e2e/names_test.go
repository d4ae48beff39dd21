package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/testing/functiontest"
)

// Names with / and other characters stand in the paths of Langfuse as one segment. They come
// through alone, and under the host, but for those with ? or #, or with % before two hexadecimal
// digits: the host decodes a path once, and sends on what it reads then.
func TestNamesInPaths(t *testing.T) {
	t.Parallel()
	t.Run("local", func(t *testing.T) {
		t.Parallel()
		named(t, startLocal(t, "embedded", "AUTH_MODE=dev").url(), "percent%20encoded", "q?x#y")
	})
	t.Run("host", func(t *testing.T) {
		t.Parallel()
		named(t, startHosted(t, functiontest.Faults{}).url())
	})
}

func named(t *testing.T, base string, more ...string) {
	t.Helper()
	at := base + "/lf/api/public/v2/prompts"
	send := func(method, address string, body any) (int, map[string]any) {
		b, err := json.Marshal(body)
		require.NoError(t, err)
		r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(string(b)))
		require.NoError(t, err)
		r.Header.Set("X-Dev-User", "ann")
		resp, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		defer resp.Body.Close()
		var answer map[string]any
		if text := readAll(resp.Body); text != "" {
			require.NoError(t, json.Unmarshal([]byte(text), &answer), text)
		}
		return resp.StatusCode, answer
	}
	for _, name := range append(more, "folder/hello world", "a/versions/2", "100%", "q&;+=@!", "名前 🚀", "[brac]es]") {
		what := fmt.Sprintf("%q at %s", name, base)
		status, _ := send(http.MethodPost, at, map[string]any{"name": name, "prompt": "of " + name, "labels": []string{"production"}})
		require.Equal(t, http.StatusCreated, status, what)
		status, got := send(http.MethodGet, at+"/"+url.PathEscape(name), nil)
		require.Equal(t, http.StatusOK, status, what)
		require.Equal(t, name, got["name"])
		status, got = send(http.MethodPatch, at+"/"+url.PathEscape(name)+"/versions/1", map[string]any{"newLabels": []string{"a"}})
		require.Equal(t, http.StatusOK, status, "%s: %v", what, got)
		status, _ = send(http.MethodDelete, at+"/"+url.PathEscape(name), nil)
		require.Equal(t, http.StatusNoContent, status, what)
	}
}
