package gitdoor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"sync"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/git"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// A repository is what one request sees.
type repository struct {
	head    string
	refs    []git.Ref
	commits map[git.ID]git.Commit
	hub     *library.Service
	// each puts itself into trees and blobs when it is asked for
	folders map[git.ID]func(context.Context) (git.ID, error)
	trees   map[git.ID][]git.Entry
	blobs   map[git.ID]file
	// notes that a folder is not what it was; nil for none
	differs func(context.Context) error
}

// A folder is the files of a version.
type folder struct {
	prompt prompt.ID
	files  prompt.Files
	made   []byte // the bytes of SKILL.md, if it is made of the text: there are no other files then
}

// A file is a file of a prompt, or one that is made.
type file struct {
	prompt prompt.ID
	prompt.File
	make func() []byte // nil for one that is stored
}

func newRepository(hub *library.Service) *repository {
	return &repository{
		hub: hub, commits: make(map[git.ID]git.Commit), folders: make(map[git.ID]func(context.Context) (git.ID, error)),
		trees: make(map[git.ID][]git.Entry), blobs: make(map[git.ID]file),
	}
}

// Head returns what HEAD stands for.
func (r *repository) Head() string { return r.head }

// Refs returns all refs.
func (r *repository) Refs() []git.Ref { return r.refs }

// Commit returns a commit.
func (r *repository) Commit(id git.ID) (git.Commit, bool) {
	c, ok := r.commits[id]
	return c, ok
}

// Tree returns the entries of a folder.
func (r *repository) Tree(ctx context.Context, id git.ID) ([]git.Entry, error) {
	if entries, ok := r.trees[id]; ok {
		return entries, nil
	}
	read, ok := r.folders[id]
	if !ok {
		return nil, fmt.Errorf("no folder of this repository is %s", id)
	}
	if is, err := read(ctx); err != nil || is != id {
		return nil, cmp.Or(err, fmt.Errorf("%w: the folder %s is %s now", errDiffers, id, is))
	}
	return r.trees[id], nil
}

// errDiffers reports that a folder is not what it was.
var errDiffers = errors.New("a snapshot cannot be made again")

// put adds folders and the files in them, and returns the id of the outermost one.
func (r *repository) put(entries []git.Entry) git.ID {
	return git.MakeTrees(entries, func(id git.ID, entries []git.Entry) { r.trees[id] = entries })
}

// putFolder adds the folder of a version.
func (r *repository) putFolder(f folder) git.ID {
	entries := f.files.Entries()
	for i, e := range entries {
		if r.blobs[e.ID] = (file{prompt: f.prompt, File: f.files[i]}); f.made != nil {
			r.blobs[e.ID] = file{File: f.files[i], make: func() []byte { return f.made }}
		}
	}
	return r.put(entries)
}

// putMade adds a file that is made again when it is asked for, and returns its entry.
func (r *repository) putMade(path string, make func() []byte) git.Entry {
	b := make()
	e := git.Entry{Name: path, Mode: git.File, ID: git.BlobID(b)}
	r.blobs[e.ID] = file{File: prompt.File{Size: len(b)}, make: make}
	return e
}

// Bounds of how far Blobs reads ahead.
const (
	aheadFiles = 16
	aheadBytes = 4 << 20
)

// Blobs returns the contents of files.
func (r *repository) Blobs(ctx context.Context, ids []git.ID) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for len(ids) > 0 {
			n, bytes := 0, 0
			for n < len(ids) && n < aheadFiles && (n == 0 || bytes+r.blobs[ids[n]].Size <= aheadBytes) {
				bytes += r.blobs[ids[n]].Size
				n++
			}
			part, err := r.read(ctx, ids[:n])
			if err != nil {
				yield(nil, err)
				return
			}
			for _, b := range part {
				if !yield(b, nil) {
					return
				}
			}
			ids = ids[n:]
		}
	}
}

// readsAtOnce is of how many prompts one request reads files at the same time.
const readsAtOnce = 8

// read returns the contents of some files, in their order.
func (r *repository) read(ctx context.Context, ids []git.ID) ([][]byte, error) {
	stored := make(map[prompt.ID]prompt.Files)
	for _, id := range ids {
		f, ok := r.blobs[id]
		if !ok {
			return nil, fmt.Errorf("no file of this repository is %s", id)
		}
		if f.make == nil {
			stored[f.prompt] = append(stored[f.prompt], f.File)
		}
	}
	var mu sync.Mutex
	bytes := make(map[string][]byte)
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(readsAtOnce)
	for of, files := range stored {
		g.Go(func() error {
			all, err := r.hub.FileBytes(gctx, of, files)
			mu.Lock()
			defer mu.Unlock()
			maps.Copy(bytes, all)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	part := make([][]byte, len(ids))
	for i, id := range ids {
		if f := r.blobs[id]; f.make != nil {
			part[i] = f.make()
		} else {
			part[i] = bytes[f.SHA256]
		}
	}
	return part, nil
}
