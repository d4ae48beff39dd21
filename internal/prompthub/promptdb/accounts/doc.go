// Package accounts keeps users with their profiles, access tokens, favorites, and the catalog of
// tags.
package accounts

import (
	"sync/atomic"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/truth"
)

// Accounts keeps what belongs to users.
type Accounts struct {
	*truth.Reader
	tags         []prompt.TagInfo
	catalog      catalog
	tokens       tokens
	Known        users
	AuthorSecret atomic.Pointer[prompt.AuthorSecret] // nil until it is read
}

// New returns the accounts in the tables of r. An empty catalog is filled with tags.
func New(r *truth.Reader, tags []prompt.TagInfo) *Accounts { return &Accounts{Reader: r, tags: tags} }
