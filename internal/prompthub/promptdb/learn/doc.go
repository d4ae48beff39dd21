// Package learn computes on timers what no request should wait for: counts of tags, sketches by
// which similar prompts are found, and the words that suggest tags.
package learn

import (
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/accounts"
	"prompthub/internal/prompthub/promptdb/query"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/storage/rowstore"
)

// A Learner computes and keeps what it learned.
type Learner struct {
	*truth.Reader
	query    *query.Queries
	accounts *accounts.Accounts
	sketches rowstore.Cached[[]Sketch]
	tagWords rowstore.Cached[*prompt.TagWords]
}

// New returns a Learner that learns from what q lists.
func New(r *truth.Reader, q *query.Queries, a *accounts.Accounts) *Learner {
	return &Learner{Reader: r, query: q, accounts: a}
}
