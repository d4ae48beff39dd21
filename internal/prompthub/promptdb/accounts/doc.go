// Package accounts keeps users with their profiles, sign-in ids, access tokens, favorites
// and collections, workspaces with their members, and the catalog of tags.
package accounts

import (
	"sync/atomic"

	lru "github.com/hashicorp/golang-lru/v2"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/storage/rowstore"
)

// Accounts keeps what belongs to users.
type Accounts struct {
	*truth.Reader
	tags         []prompt.TagInfo
	catalog      catalog
	tokens       tokens
	fetches      fetches
	moved        moved
	workspaces   workspaces
	Known        *lru.Cache[prompt.UserID, struct{}] // users whose key leads to them
	handled      *lru.Cache[prompt.UserID, struct{}] // users who have a handle
	AuthorSecret atomic.Pointer[prompt.AuthorSecret] // nil until it is read
}

// New returns the accounts in the tables of r. An empty catalog is filled with tags.
func New(r *truth.Reader, tags []prompt.TagInfo) *Accounts {
	return &Accounts{
		Reader: r, tags: tags, tokens: newTokens(), fetches: newFetches(), moved: newMoved(),
		workspaces: newWorkspaces(), Known: rowstore.NewLRU[prompt.UserID, struct{}](truth.MaxAuthors),
		handled: rowstore.NewLRU[prompt.UserID, struct{}](truth.MaxAuthors),
	}
}
