package gitdoor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/fault"
	"prompthub/internal/git"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

const (
	heads    = "refs/heads/"
	tags     = "refs/tags/"
	mainName = "main" // of the branch that is the latest version
)

// keptMade is how many versions of a text alone an instance knows as folders.
const keptMade = 50_000

// A madeOf is what a SKILL.md is made of: a version, and what the prompt says of all of them.
type madeOf struct {
	id                 prompt.ID
	version            int64
	hash               string
	slug, title, about string
}

// A made is a SKILL.md that is made of a text, without its bytes. A prompt that has no SKILL.md has
// a zero one.
type made struct {
	tree   git.ID
	digest string
}

// A state is a version as git has it.
type state struct {
	library.LineageVersion
	tree   git.ID
	digest string
}

// promptRepository returns the repository of a prompt: a commit for each version that the reader
// may have.
func (x reader) promptRepository(ctx context.Context) (*repository, error) {
	l, err := x.Service.Lineage(ctx, x.as, x.owner, x.address.prompt)
	if err != nil {
		return nil, err
	}
	states, err := x.states(ctx, l)
	if err != nil {
		return nil, err
	}
	if len(states) == 0 {
		return nil,
			&git.Refusal{Text: "no version of the prompt is a skill: each has no text, or includes other prompts"}
	}
	r := newRepository(x.Service)
	at := make(map[int64]git.ID)
	var last git.ID
	for _, s := range states {
		c := x.commitOf(l, s, last)
		last, _ = c.Encode()
		r.commits[last], at[s.Number] = c, last
		r.folders[s.tree] = func(ctx context.Context) (git.ID, error) {
			f, err := x.folderOf(ctx, l, s)
			return r.putFolder(f), err
		}
		r.refs = append(r.refs, git.Ref{Name: fmt.Sprint(tags, "v", s.Number), ID: last})
	}
	r.refs = append(r.refs, git.Ref{Name: heads + mainName, ID: last})
	for label, n := range l.Labels {
		if id, ok := at[n]; ok && isBranch(label) {
			r.refs = append(r.refs, git.Ref{Name: heads + label, ID: id})
		}
	}
	slices.SortFunc(r.refs, func(a, b git.Ref) int { return strings.Compare(a.Name, b.Name) })
	if r.head = heads + mainName; l.Released {
		r.head = heads + prompt.Production
	}
	return r, nil
}

// isBranch reports whether a label is the name of a branch: git refuses some names, and main is the
// latest version.
func isBranch(label string) bool {
	return label != mainName && !strings.HasPrefix(label, ".") && !strings.HasPrefix(label, "-") &&
		!strings.HasSuffix(label, ".") && !strings.HasSuffix(label, ".lock") && !strings.Contains(label, "..")
}

// commitOf returns the commit of a version. It has the public key of who made the version, and no
// name: names change.
func (x reader) commitOf(l library.Lineage, s state, parent git.ID) git.Commit {
	by := cmp.Or(x.Service.KeyOf(l.AuthorID, cmp.Or(s.By, l.AuthorID)), "unknown")
	return git.Commit{
		Tree: s.tree, Parent: parent, Name: by, Email: by + "@users.prompthub.invalid", At: s.At.Truncate(time.Second),
		Message: fmt.Sprintf("%s\n\nPrompt: %s\nVersion: %d\nDigest: %s\n",
			cmp.Or(strings.TrimSpace(s.Message), fmt.Sprint("Version ", s.Number)), l.ID, s.Number, s.digest),
	}
}

// states returns the versions of a prompt that are folders, the lowest first.
func (x reader) states(ctx context.Context, l library.Lineage) ([]state, error) {
	all := make([]state, len(l.Versions))
	var unknown []int
	for i, v := range l.Versions {
		all[i] = state{LineageVersion: v, digest: v.Digest}
		if v.Tree != "" {
			all[i].tree, _ = git.ParseID(v.Tree)
		} else if m, ok := x.made.Get(madeOfVersion(l, v)); ok {
			all[i].tree, all[i].digest = m.tree, m.digest
		} else {
			unknown = append(unknown, i)
		}
	}
	var mu sync.Mutex
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(readsAtOnce)
	for _, i := range unknown {
		g.Go(func() error {
			f, err := x.folderOf(gctx, l, all[i])
			if fault.Of(err) != fault.NotFound && err != nil {
				return err
			}
			var m made
			if err == nil {
				m.tree, _ = git.ParseID(f.files.Tree())
				m.digest = f.files.Digest()
			}
			mu.Lock()
			defer mu.Unlock()
			all[i].tree, all[i].digest = m.tree, m.digest
			x.made.Add(madeOfVersion(l, l.Versions[i]), m)
			return nil
		})
	}
	err := g.Wait()
	return slices.DeleteFunc(all, func(s state) bool { return s.tree.IsZero() }), err
}

func madeOfVersion(l library.Lineage, v library.LineageVersion) madeOf {
	m := madeOf{id: l.ID, version: v.Number, hash: v.Hash, slug: l.Slug, title: l.Title}
	if v.Undescribed {
		m.about = l.Description
	}
	return m
}

// folderOf reads the files of a version, without their bytes unless they are made. The error is
// NotFound for a version that is no folder.
func (x reader) folderOf(ctx context.Context, l library.Lineage, s state) (folder, error) {
	v, err := x.Service.VersionOf(ctx, l.Prompt, s.Number)
	if err != nil {
		return folder{}, err
	}
	files, bytes, err := library.FilesOf(l.At(v))
	return folder{l.ID, files, bytes}, err
}
