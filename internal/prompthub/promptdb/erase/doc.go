// Package erase removes for good what is due: prompts that were deleted long enough ago, and
// everything of a user whose account ends.
package erase

import (
	"prompthub/internal/prompthub/promptdb/accounts"
	"prompthub/internal/prompthub/promptdb/commit"
	"prompthub/internal/prompthub/promptdb/scopes"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/prompthub/promptdb/verify"
)

// An Eraser removes rows for good.
type Eraser struct {
	*truth.Reader
	commit   *commit.Committer
	accounts *accounts.Accounts
	verify   *verify.Verifier
	scopes   *scopes.Scopes
}

// New returns an Eraser.
func New(r *truth.Reader, c *commit.Committer, a *accounts.Accounts, v *verify.Verifier, s *scopes.Scopes) *Eraser {
	return &Eraser{Reader: r, commit: c, accounts: a, verify: v, scopes: s}
}
