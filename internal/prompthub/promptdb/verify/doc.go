// Package verify compares every row with what the truth says it must be, and repairs what differs:
// at once for an operator, and a slice at a time on a timer (anti-entropy).
package verify

import (
	"time"

	"prompthub/internal/prompthub/promptdb/accounts"
	"prompthub/internal/prompthub/promptdb/commit"
	"prompthub/internal/prompthub/promptdb/query"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/storage/transact"
)

// A Verifier compares and repairs.
type Verifier struct {
	*truth.Reader
	EventsFor time.Duration // how long events of workspaces are kept; 0: for ever

	commit   *commit.Committer
	query    *query.Queries
	accounts *accounts.Accounts
	load     transact.Loader
}

// New returns a Verifier that repairs by way of c. A storage without a load has nil.
func New(r *truth.Reader, c *commit.Committer, q *query.Queries, a *accounts.Accounts, load transact.Loader) *Verifier {
	return &Verifier{Reader: r, commit: c, query: q, accounts: a, load: load}
}
