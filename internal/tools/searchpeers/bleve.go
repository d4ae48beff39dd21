package main

import (
	"context"
	"path/filepath"
	"strconv"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/search/query"
)

// newBleve makes an index of Bleve. A word of a search may have a slip.
func newBleve(dir string, words query.MatchQueryOperator) (*engine, error) {
	mapping := bleve.NewIndexMapping()
	mapping.DefaultAnalyzer = en.AnalyzerName
	index, err := bleve.New(filepath.Join(dir, "search.bleve"), mapping)
	if err != nil {
		return nil, err
	}
	n := 0
	return &engine{
		add: func(ps []prompt) error {
			b := index.NewBatch()
			for _, p := range ps {
				n++
				if err := b.Index(strconv.Itoa(n), p); err != nil {
					return err
				}
			}
			return index.Batch(b)
		},
		find: func(ctx context.Context, q string, limit int) (hits []hit, err error) {
			in := func(field string, boost float64) query.Query {
				m := bleve.NewMatchQuery(q)
				m.SetField(field)
				m.SetBoost(boost)
				m.SetFuzziness(1)
				m.SetOperator(words)
				return m
			}
			r := bleve.NewSearchRequestOptions(bleve.NewDisjunctionQuery(in("title", 10), in("text", 1)),
				limit, 0, false)
			r.Fields = []string{"title"}
			r.Highlight = bleve.NewHighlight()
			r.Highlight.AddField("text")
			found, err := index.SearchInContext(ctx, r)
			if err != nil {
				return nil, err
			}
			for _, d := range found.Hits {
				h := hit{}
				h.Title, _ = d.Fields["title"].(string)
				if fs := d.Fragments["text"]; len(fs) > 0 {
					h.Excerpt = fs[0]
				}
				hits = append(hits, h)
			}
			return hits, nil
		},
		stop: index.Close,
	}, nil
}
