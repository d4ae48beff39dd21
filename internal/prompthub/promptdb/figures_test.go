package promptdb_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/prompt/prompttest"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
)

// TestTextSearchFigures asks for real prompts by their titles and by words of their texts, as they
// are and as people type them wrong, and counts how often the prompt is among the first: of public
// prompts, and of private ones. "make search" prints the figures.
func TestTextSearchFigures(t *testing.T) {
	ds := prompttest.Real(t)
	w := newWorldOn(t, memory.NewTables())
	for _, d := range ds {
		w.add("ann", d)
	}
	w.run()
	scopes := map[string]promptdb.Search{
		"public": {}, "own": {Author: "ann", Scopes: []promptdb.Scope{{}, {Owner: "ann"}}},
	}
	for scope, want := range scopes {
		if scope == "own" {
			w = newWorldOn(t, memory.NewTables())
			for _, d := range ds {
				d.Visibility = prompt.Private
				w.add("ann", d)
			}
		}
		for _, way := range prompttest.Ways(ds) {
			t.Run(scope+": "+way.Name, func(t *testing.T) {
				w.figure(t, want, way, ds, func(d prompt.Draft) string { return d.Title })
			})
		}
		for _, way := range prompttest.Phrases(ds) {
			t.Run(scope+": "+way.Name, func(t *testing.T) {
				w.figure(t, want, way, ds, func(d prompt.Draft) string { return d.Text })
			})
		}
	}
}

// figure asks for each prompt in one way.
func (w *world) figure(t *testing.T, want promptdb.Search, way prompttest.Way, ds []prompt.Draft,
	of func(prompt.Draft) string,
) {
	want.Text, want.Order = true, promptdb.Relevance
	asked, found := 0, 0
	var missed []string
	for _, d := range ds {
		words, ok := way.Type(of(d))
		q, err := prompt.ParseQuery(words)
		if !ok || err != nil || q.Empty() || q.Nothing() {
			continue
		}
		want.Words = q
		page, err := w.Find(t.Context(), want, "", way.First)
		require.NoError(t, err)
		if asked++; slices.ContainsFunc(page.Items, func(v promptdb.View) bool {
			return strings.EqualFold(v.Title, d.Title)
		}) {
			found++
		} else {
			missed = append(missed, words+" for "+d.Title)
		}
	}
	t.Logf("%d of %d: %.1f %%", found, asked, 100*float64(found)/float64(asked))
	t.Logf("among the missed: %q", missed[:min(len(missed), 12)])
	require.GreaterOrEqual(t, float64(found)/float64(asked), way.Least)
}
