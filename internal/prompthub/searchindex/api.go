package searchindex

import (
	"errors"

	"prompthub/internal/prompthub/prompt"
)

// A Query says what a search wants.
type Query struct {
	Words    prompt.Query
	Tags     []prompt.Tag  // in addition to those of Words
	Author   prompt.UserID // whom Words.Author leads to; "" if there is none: it may be a name
	InTitle  bool          // words are looked for in titles alone
	Verbatim bool          // words count as they were typed alone
	All      bool          // a prompt must have all words; else they are wanted, not demanded
}

// A Hit is a prompt that a search found, and why.
type Hit struct {
	ID     prompt.ID
	Author prompt.UserID
	Scope  int   // which of the indexes that were asked has it
	Score  int64 // whole, and the same on each instance for the same statistics
	// Found has for each word of Search.Words the word of the prompt that it was found by: itself,
	// another form, a slip's nearest; "" if the prompt lacks it.
	Found []string
	place place
}

// Errors of Decode. Whoever gets one reads the log from its beginning.
var (
	ErrDamaged = errors.New("the snapshot of a search index is damaged")
	ErrForeign = errors.New("the snapshot of a search index is of another version or another scope")
)
