package langsmith_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/doors/langsmith"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/testing/heap"
)

// TestMemory asks every GET route for its largest page of the largest prompts, of which one has
// many versions, and fails if sixteen callers of one of them hold more memory than they may. A
// route whose things are not there fails, so that a new one brings its own.
func TestMemory(t *testing.T) { // alone: others would be measured, too
	if testing.Short() {
		t.Skip("makes many of the largest prompts")
	}
	w := newWorldOf(t, prompt.Rules{MaxText: prompt.LimitMaxText})
	_, ann := w.token("ann", library.TokenDraft{})
	draft := func(i int) prompt.Draft {
		return prompt.Draft{
			Name: fmt.Sprintf("prompt-%04d", i), Title: strings.Repeat("字", prompt.MaxTitle),
			Description: strings.Repeat("字", prompt.MaxDescription), Message: strings.Repeat("字", prompt.MaxMessage),
			Text:       fmt.Sprintf("number%d ", i) + strings.Repeat("ж", prompt.LimitMaxText-100),
			Visibility: prompt.Public,
		}
	}
	var last library.View
	for i := range 1999 { // with a skill as many as a list takes
		d := draft(i)
		if i%80 > 0 {
			d.Text = fmt.Sprintf("short %d", i)
		}
		var err error
		last, _, err = w.service.Create(t.Context(), user("ann"), d, "")
		require.NoError(t, err)
	}
	for i := range 200 {
		_, err := w.service.Patch(t.Context(), user("ann"), last.ID, library.Match{Any: true}, func(d *prompt.Draft) {
			d.Text = draft(1000 + i).Text
			d.Message = strings.Repeat("字", prompt.MaxMessage)
		})
		require.NoError(t, err)
	}
	large := []library.SentFile{
		{Path: "SKILL.md", Bytes: []byte(toolMD)},
		{Path: "a.txt", Bytes: []byte(strings.Repeat("xyz\"", 3<<18))},
		{Path: "b.txt", Bytes: []byte(strings.Repeat("жж", 3<<18))},
	}
	d, err := library.WithFiles(prompt.Draft{Visibility: prompt.Public}, large, nil)
	require.NoError(t, err)
	_, _, err = w.service.Create(t.Context(), user("ann"), d, "")
	require.NoError(t, err)
	values := map[string][]string{"owner": {"-"}, "repo": {last.Name, "tool"}, "commit": {"latest"}}
	var ways []heap.Way
	for _, query := range []string{"?limit=100", "?limit=100&offset=100&query=prompt"} {
		ways = append(ways, func(page string) (status int, answer string) {
			a := w.do(ann, "GET", strings.TrimPrefix(page, langsmith.Prefix)+query, "")
			return a.Code, a.Body.String()
		})
	}
	heap.CheckPages(t, langsmith.Patterns(), values, nil, ways...)
}
