// Package searchindex finds prompts by words, from an index in memory. It knows no table and reads
// nothing: its caller adds the prompts, and looks at the truth rows before it shows hits.
//
// An Index has the prompts of one scope: the public ones, or those of one owner. A Search asks one
// or several of them as if they were one, and gives prompts in the order of their scores, which are
// whole numbers: the same prompts have the same scores in whatever order they came.
//
// Words are wanted, not demanded. The score of a prompt is the sum of what each word of the query
// gives (BM25F): most by a word as it was typed, less by another form of it, by the beginning of a
// word of a title, and by a word that is nearest to one that nothing has. The fifty best are ranked
// again by how near to each other the words stand in them.
//
// Inside, an Index is segments that never change. A prompt that comes makes a new small one, a
// prompt that goes is marked as dead in the segment that has it, and small segments are merged in
// the background. A search works with the segments of one moment and takes no lock.
package searchindex

import "prompthub/internal/prompthub/prompt"

// A Doc is a prompt as the index has it.
type Doc struct {
	ID         prompt.ID
	Revision   int64 // of several docs of an id, the one with the highest counts
	Author     prompt.UserID
	AuthorName string
	Name       string
	Slug       string
	Tags       []prompt.Tag
	Title      []string // the words of the title in their order, as prompt.Terms cuts them
	Text       []string // those of description, tags and text
}
