// Package learn finds out what no request should look for in all prompts: on a timer the counts of
// tags, and by the index of searches which prompts are like a text, and which tags these have.
package learn

import (
	"prompthub/internal/prompthub/promptdb/accounts"
	"prompthub/internal/prompthub/promptdb/query"
	"prompthub/internal/prompthub/promptdb/scopes"
	"prompthub/internal/prompthub/promptdb/truth"
)

// A Learner computes and asks.
type Learner struct {
	*truth.Reader
	query    *query.Queries
	scopes   *scopes.Scopes
	accounts *accounts.Accounts
}

// New returns a Learner that learns from what q reads and s has.
func New(r *truth.Reader, q *query.Queries, s *scopes.Scopes, a *accounts.Accounts) *Learner {
	return &Learner{Reader: r, query: q, scopes: s, accounts: a}
}
