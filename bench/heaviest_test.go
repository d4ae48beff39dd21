package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestHeaviest has the search for the requests that cost most go on for a moment, so that it keeps
// working: what it finds depends on the time that it has, and the costs that it keeps are measured
// again, three times each, which takes longer than the search. Its errors about bounds are not
// asked about here, where other tests run at the same time.
func TestHeaviest(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	binary, clean, err := build(t.Context())
	require.NoError(t, err)
	defer clean()
	var out strings.Builder
	// a slow machine comes to the first shape alone, a text, which is stored
	_ = heaviest(t.Context(), options{heaviest: 3 * time.Second, seed: 4, kept: 3}, binary, &out)
	require.Contains(t, out.String(), "201:", "something was stored: %s", &out)
	require.Contains(t, out.String(), "200:", "and read")
	require.Contains(t, out.String(), "| `-try '{\"shape\":")
	require.NotContains(t, out.String(), " 0:", "every request was answered")
}

// TestHeaviestBounds: what the search finds beyond a bound is an error, and an import may take more
// for each entry that it creates.
func TestHeaviestBounds(t *testing.T) {
	for _, tt := range []struct {
		of outlay
		ok bool
	}{
		{outlay{times: 1000, held: 16}, true},
		{outlay{times: 1001}, false},
		{outlay{times: 1060, entries: 2}, true},
		{outlay{times: 1061, entries: 2}, false},
		{outlay{held: 17}, false},
	} {
		s := &hunt{kept: 1}
		s.keep(tt.of)
		err := s.report(io.Discard)
		require.Equal(t, tt.ok, err == nil, "%+v: %v", tt.of, err)
		require.Equal(t, tt.ok, tt.of.share() <= 1, "%+v", tt.of)
	}
}

// TestHeaviestRoutes: the search asks every operation of the document but for the erasure of its
// own account, and with each query parameter.
func TestHeaviestRoutes(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "internal", "prompthub", "doors", "api", "testdata", "openapi.json"))
	require.NoError(t, err)
	routes, err := documented(b)
	require.NoError(t, err)
	asked := map[string]bool{}
	for _, r := range slices.Concat(routes, otherRoutes()) {
		asked[r.String()] = true
		path, _, _ := strings.Cut(r.path, "?")
		asked[strings.ToLower(r.method)+" "+path] = true
	}
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	require.NoError(t, json.Unmarshal(b, &document))
	for path, methods := range document.Paths {
		for method := range methods {
			require.Equal(t, path != "/me" || method != "delete", asked[method+" "+path], "%s %s", method, path)
		}
	}
	for _, r := range []string{
		"GET /prompts/{id}/export?format=skill",
		"GET /prompts/{id}/export?format=agent&syntax=jinja", "GET /prompts?q={q}", "POST /suggestions Unfinished",
	} {
		require.True(t, asked[r], r)
	}
}

func TestHeapLog(t *testing.T) {
	h := new(heapLog)
	for _, part := range []string{
		"gc 1 @0.1s 2%: 0.1+1+0 ms clock, 0.1+0/1/2+0 ms cpu, 4->5->",
		"3 MB, 8 MB goal, 0 MB stacks, 0 MB globals, 2 P\nan error\n",
	} {
		_, err := h.Write([]byte(part))
		require.NoError(t, err)
	}
	n, live := h.last()
	require.Equal(t, []int{1, 3}, []int{n, live})
}
