// Package truth reads the rows that say what is: the truth row of a prompt, the labels and versions
// next to it, its votes, and the usage of its author. Each read is by a key that is known, and
// sees the last write. Package query reads lists, which follow a moment later.
package truth

import (
	lru "github.com/hashicorp/golang-lru/v2"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
)

// A Reader reads truth rows and the rows next to them.
type Reader struct {
	*rowstore.Store
	T      schema.Tables // with the prefix before each name
	Limits schema.Quota  // of each user

	Authors *lru.Cache[prompt.ID, prompt.UserID] // of prompts: the pair never changes
	Usages  usages
}

// New returns a Reader of the tables t, in which each user is limited by q.
func New(s *rowstore.Store, t schema.Tables, q schema.Quota) *Reader {
	return &Reader{
		Store: s, T: t, Limits: q,
		Authors: rowstore.NewLRU[prompt.ID, prompt.UserID](MaxAuthors),
		Usages:  usages{m: rowstore.NewLRU[prompt.UserID, counted](MaxAuthors)},
	}
}
