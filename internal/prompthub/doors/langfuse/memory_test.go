package langfuse_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/doors/langfuse"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/testing/heap"
)

// TestMemory asks every GET route for its largest page of the largest prompts, and fails if sixteen
// callers of one of them hold more memory than they may. A route whose things are not there fails,
// so that a new one brings its own.
func TestMemory(t *testing.T) { // alone: others would be measured, too
	if testing.Short() {
		t.Skip("makes many of the largest prompts")
	}
	w := newWorldOf(t, prompt.Rules{MaxText: prompt.LimitMaxText})
	ann := w.client("ann")
	long := map[string]any{"x": strings.Repeat("字", prompt.MaxConfig-100)}
	short := map[string]any{"x": strings.Repeat("字", 3000)}
	for i := range 125 {
		p := fields{
			"name":   fmt.Sprintf("prompt %03d", i),
			"prompt": fmt.Sprintf("number%d ", i) + strings.Repeat("ж", prompt.LimitMaxText-100),
			"config": long, "labels": []string{"production"},
		}
		if i >= 25 { // a page of as many as there may be
			p["config"], p["tags"] = short, []string{"short"}
		}
		ann.made(p)
	}
	ann.files(file{"path": "SKILL.md", "content": md})
	v, err := w.service.OwnSkill(t.Context(), ann.user, "pdf-forms", library.WantedVersion{})
	require.NoError(t, err)
	largest := library.SentFile{Path: "a.txt", Bytes: []byte(strings.Repeat("\"xyz", prompt.MaxFile/4-100))}
	_, err = w.service.PatchFiles(t.Context(), ann.user, v.ID, library.Match{Any: true},
		library.FilesChange{Set: []library.SentFile{largest}}, func(*prompt.Draft) {})
	require.NoError(t, err)
	for i := range 100 {
		ann.skill(fmt.Sprint("skill-", i), strings.Repeat("ж", 100_000))
	}
	ann.gotSkill("pdf-forms", "?label=latest") // so that the instance knows its files
	hashes := "sha256Hashes=" + url.QueryEscape(hashOf(md)+","+hashOf(string(largest.Bytes)))
	values := map[string][]string{"name": {url.PathEscape("prompt 024"), "pdf-forms"}}
	var ways []heap.Way
	named := "name=" + values["name"][0]
	for _, query := range []string{
		"?limit=100&tag=short", "?limit=5", "?" + named, "?resolve=false&" + named,
		"?label=latest", "?" + hashes, "?limit=100",
	} {
		ways = append(ways, func(page string) (status int, answer string) {
			a := ann.do(http.MethodGet, page+query, "")
			return a.status, a.body
		})
	}
	heap.CheckPages(t, langfuse.Patterns(), values, nil, ways...)
}
