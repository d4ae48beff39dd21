// Package backup writes everything as JSON Lines, reads it back into an empty store, and loads many
// prompts at once.
package backup

import (
	"prompthub/internal/prompthub/promptdb/accounts"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/prompthub/promptdb/verify"
	"prompthub/internal/storage/blob"
)

// Backups writes and reads backups.
type Backups struct {
	*truth.Reader
	accounts *accounts.Accounts
	verify   *verify.Verifier
	blobs    blob.Store // nil: no backups are kept
	MaxPart  int        // bytes of lines in a part of a kept backup, 0 for as many as suit; tests have few
}

// New returns the backups of what r reads. Blobs may be nil.
func New(r *truth.Reader, a *accounts.Accounts, v *verify.Verifier, blobs blob.Store) *Backups {
	return &Backups{Reader: r, accounts: a, verify: v, blobs: blobs}
}
