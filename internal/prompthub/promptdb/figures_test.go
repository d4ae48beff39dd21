package promptdb_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/prompt/prompttest"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
)

// TestTextSearchFigures asks for real prompts by their titles, as they are and as people type them
// wrong, and counts how often the prompt is among the first. "make search" prints the figures.
func TestTextSearchFigures(t *testing.T) {
	ds := prompttest.Real(t)
	w := newWorldOn(t, memory.NewTables())
	for _, d := range ds {
		w.add("ann", d)
	}
	w.run()
	w.learn()
	for _, way := range prompttest.Ways(ds) {
		t.Run(way.Name, func(t *testing.T) {
			asked, found := 0, 0
			var missed []string
			for _, d := range ds {
				words, ok := way.Type(d.Title)
				q, err := prompt.ParseQuery(words)
				if !ok || err != nil || q.Empty() || q.Nothing() {
					continue
				}
				page, err := w.Find(t.Context(), promptdb.Search{Words: q, Text: true, Order: promptdb.Relevance}, "", way.First)
				require.NoError(t, err)
				asked++
				at := -1
				for i, it := range page.Items {
					if strings.EqualFold(it.Title, d.Title) {
						at = i
					}
				}
				if at >= 0 {
					found++
				} else {
					missed = append(missed, words+" for "+d.Title)
				}
			}
			t.Logf("%d of %d: %.1f %%", found, asked, 100*float64(found)/float64(asked))
			t.Logf("among the missed: %q", missed[:min(len(missed), 12)])
			require.GreaterOrEqual(t, float64(found)/float64(asked), way.Least)
		})
	}
}
