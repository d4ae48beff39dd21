package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/openapi/openapitest"
	"prompthub/internal/testing/heap"
)

// TestMemory asks every GET route of the document about a game with rounds, and fails if sixteen
// callers of one of them hold more memory than they may. A route whose things are not there fails,
// so that a new one brings its own.
func TestMemory(t *testing.T) { // alone: others would be measured, too
	h := service(t)
	_, g := ask(t, h, "POST", "/api/v1/games", "", `{"gameName":"`+strings.Repeat("字", 60)+`"}`)
	id, key := g["gameId"].(string), g["hostKey"].(string)
	at := "/api/v1/games/" + id
	const rounds = 16 // every goal of the board once
	for n := range rounds {
		status, r := ask(t, h, "POST", at+"/rounds", key, "")
		require.Equal(t, 201, status, r)
		if n < rounds-1 {
			status, r = ask(t, h, "POST", fmt.Sprintf("%s/rounds/%d/close", at, n+1), key, "")
			require.Equal(t, 200, status, r)
		}
	}
	get := func(path string) int {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		r.Header.Set("X-Host-Key", key)
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		return rec.Code
	}
	for _, o := range openapitest.New(t, h).Operations() {
		if o.Method != http.MethodGet {
			continue
		}
		found := false
		for _, page := range heap.Filled("/api/v1"+strings.TrimPrefix(o.Path, "/api/v1"), map[string][]string{"gameId": {id}, "n": {"1"}}) {
			for _, path := range []string{page + "?limit=100", page} {
				if get(path) == http.StatusOK {
					found = true
					heap.Check(t, path, func(int) { get(path) })
				}
			}
		}
		require.True(t, found, "nothing was found by GET %s: have this test make some", o.Path)
	}
}
