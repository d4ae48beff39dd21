// Package query reads one prompt as a user sees it, lists prompts, searches them and resolves what
// they include.
package query

import (
	"context"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/scopes"
	"prompthub/internal/prompthub/promptdb/truth"
)

// Queries answers what users ask. It keeps first pages of lists for a moment.
type Queries struct {
	*truth.Reader
	scopes     *scopes.Scopes
	partitions partitionCache
	pages      pageCache
	// Rules returns the rules of an owner for labels, as they were at most a few seconds ago. A person
	// has none.
	Rules func(ctx context.Context, owner prompt.UserID) (prompt.LabelRules, error)
}

// New returns the queries of what r reads. It searches in the indexes of s.
func New(r *truth.Reader, s *scopes.Scopes) *Queries { return &Queries{Reader: r, scopes: s} }
