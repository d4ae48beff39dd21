package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"regexp"
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

// TestOneNameOneAddress: a request names the prompt that it means or none, through both modes of
// the host, with names from pieces of escapes. A delete removes that prompt alone.
func TestOneNameOneAddress(t *testing.T) {
	t.Parallel()
	for _, older := range []bool{false, true} {
		if !older && os.Getenv("OLDER_HOST") == "true" {
			continue // every host is an older one
		}
		t.Run(map[bool]string{true: "older host", false: "host"}[older], func(t *testing.T) {
			t.Parallel()
			at := hostOn(t, azureEnv(t), functiontest.Options{Older: older}).url() + "/lf/api/public/v2/prompts"
			made := map[string]bool{}
			for _, name := range escapedNames(older) {
				status, answer := sendJSON(t, http.MethodPost, at,
					map[string]any{"name": name, "prompt": "x", "labels": []string{"production"}})
				if strings.Contains(strings.ToLower(strings.ReplaceAll(name, "%25", "%")), "%2f") {
					require.Equal(t, http.StatusBadRequest, status, "%q: %v", name, answer)
					continue
				}
				require.Equal(t, http.StatusCreated, status, "%q: %v", name, answer)
				made[name] = true
			}
			require.Greater(t, len(made), 10)
			for name := range made {
				status, got := sendJSON(t, http.MethodGet, at+"/"+url.PathEscape(name), nil)
				require.Equal(t, http.StatusOK, status, name)
				require.Equal(t, name, got["name"])
			}
			for name := range made {
				status, _ := sendJSON(t, http.MethodDelete, at+"/"+url.PathEscape(name), nil)
				require.Equal(t, http.StatusNoContent, status, "%q, or another one's delete took it", name)
			}
		})
	}
}

// escapedNames returns names made of pieces of escapes. An older host decodes a path twice, so its
// names have no escape but that of a slash.
func escapedNames(older bool) (names []string) {
	escapes := regexp.MustCompile(`(?i)%[0-9a-f]{2}`)
	random := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "/", "%", "2F", "%2f", "%25", "20", "b", "G", "%252F"}
	seen := map[string]bool{}
	for len(names) < 45 {
		var b strings.Builder
		for range 2 + random.IntN(5) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		name := b.String()
		rest := escapes.ReplaceAllString(strings.ReplaceAll(strings.ToLower(name), "%2f", ""), "%41")
		if seen[name] || strings.Trim(name, "/") != name || strings.Contains(name, "//") ||
			older && strings.Contains(rest, "%41") {
			continue
		}
		seen[name] = true
		names = append(names, name)
	}
	return names
}

func named(t *testing.T, base string, more ...string) {
	t.Helper()
	at := base + "/lf/api/public/v2/prompts"
	for _, name := range append(more, "folder/hello world", "a/versions/2", "100%", "q&;+=@!", "名前 🚀", "[brac]es]") {
		what := fmt.Sprintf("%q at %s", name, base)
		status, _ := sendJSON(t, http.MethodPost, at,
			map[string]any{"name": name, "prompt": "of " + name, "labels": []string{"production"}})
		require.Equal(t, http.StatusCreated, status, what)
		status, got := sendJSON(t, http.MethodGet, at+"/"+url.PathEscape(name), nil)
		require.Equal(t, http.StatusOK, status, what)
		require.Equal(t, name, got["name"])
		status, got = sendJSON(t, http.MethodGet, base+"/ls/repos/-/"+url.PathEscape(name), nil)
		require.Equal(t, http.StatusOK, status, "%s at the door of LangSmith: %v", what, got)
		status, got = sendJSON(t, http.MethodGet, base+"/ls/commits/-/"+url.PathEscape(name)+"/latest", nil)
		require.Equal(t, http.StatusOK, status, "%s at the door of LangSmith: %v", what, got)
		status, got = sendJSON(t, http.MethodPatch, at+"/"+url.PathEscape(name)+"/versions/1",
			map[string]any{"newLabels": []string{"a"}})
		require.Equal(t, http.StatusOK, status, "%s: %v", what, got)
		status, _ = sendJSON(t, http.MethodDelete, at+"/"+url.PathEscape(name), nil)
		require.Equal(t, http.StatusNoContent, status, what)
	}
}

// sendJSON sends a body as ann, and returns the status and the object of the answer.
func sendJSON(t *testing.T, method, address string, body any) (int, map[string]any) {
	t.Helper()
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
