package git

import (
	"context"
	"iter"
)

// A Ref is a name for a commit, such as refs/heads/main or refs/tags/v3.
type Ref struct {
	Name string
	ID   ID
}

// A Repository is what one request sees: one state, in which nothing changes until it is answered.
// It has exactly the commits that the reader may have now. All other ids are unknown to it, also
// ids of before.
type Repository interface {
	// Head returns the name of the ref that HEAD stands for. If there is no such ref, the repository
	// is empty, or looks so to a client that asks for nothing else.
	Head() string
	// Refs returns all refs, sorted by their names. Their commits are there.
	Refs() []Ref
	// Commit returns one of the commits. Its parent is there too, if it has one. A request asks for
	// each commit a few times, so they have to be in memory.
	Commit(id ID) (Commit, bool)
	// Tree returns the entries of a folder, as MakeTrees gave them. It is asked for the tree of a
	// commit first, then for folders in it: those that differ from the folders of the same path in
	// the commit next to it that the client has or gets, and these. A folder that did not change is
	// not asked for.
	Tree(ctx context.Context, id ID) ([]Entry, error)
	// Blobs returns the contents of some files, each once, in any order. It is called once for each
	// fetch, with ids that Tree told, in the order in which it told them. A range over it may end
	// early. A slice may be used again for the next content.
	Blobs(ctx context.Context, ids []ID) iter.Seq2[[]byte, error]
}
