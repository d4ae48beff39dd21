// Package query reads one prompt as a user sees it, lists prompts, searches them and resolves what
// they include.
package query

import (
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/prompthub/vocabulary"
	"prompthub/internal/storage/rowstore"
)

// Queries answers what users ask. It keeps first pages of lists for a moment, and the
// words of titles for some minutes.
type Queries struct {
	*truth.Reader
	partitions partitionCache
	pages      pageCache
	vocabulary rowstore.Cached[*vocabulary.Vocabulary]
}

// New returns the queries of what r reads.
func New(r *truth.Reader) *Queries { return &Queries{Reader: r} }
