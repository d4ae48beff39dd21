// Package backup writes everything as JSON Lines, reads it back into an empty store, and loads many
// prompts at once.
package backup

import (
	"prompthub/internal/prompthub/promptdb/accounts"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/prompthub/promptdb/verify"
)

// Backups writes and reads backups.
type Backups struct {
	*truth.Reader
	accounts *accounts.Accounts
	verify   *verify.Verifier
}

// New returns the backups of what r reads.
func New(r *truth.Reader, a *accounts.Accounts, v *verify.Verifier) *Backups {
	return &Backups{Reader: r, accounts: a, verify: v}
}
