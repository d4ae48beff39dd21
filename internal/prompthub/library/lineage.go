package library

import (
	"context"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

// A Lineage is a prompt with all of its versions that programs of its reader may get.
type Lineage = promptdb.Lineage

// A LineageVersion is one of them.
type LineageVersion = promptdb.LineageVersion

// Lineage returns the prompt that a name, an old name or a slug of an owner leads to, with its
// versions.
func (s *Service) Lineage(ctx context.Context, who auth.User, owner prompt.UserID, name string) (Lineage, error) {
	as, _, err := s.actor(ctx, who, owner)
	if err != nil {
		return Lineage{}, err
	}
	v, err := s.db.GetByName(ctx, IDOf(as), owner, name, WantedVersion{Label: prompt.Latest, History: true})
	if err != nil {
		return Lineage{}, err
	}
	return s.db.Lineage(ctx, IDOf(as), v.ID)
}

// VersionOf returns a version of a prompt with its content. Its caller has found it in a lineage.
func (s *Service) VersionOf(ctx context.Context, p prompt.Prompt, n int64) (prompt.Version, error) {
	return s.db.VersionOf(ctx, p.AuthorID, p.ID, n)
}

// FileBytes returns the bytes of files of a prompt by their SHA-256, in hex. Its caller has found
// them in a version that it may see.
func (s *Service) FileBytes(ctx context.Context, id prompt.ID, files prompt.Files) (map[string][]byte, error) {
	return s.db.FileBytes(ctx, id, files)
}

// A Standing is what decides which versions of a prompt its reader gets.
type Standing = promptdb.Standing

// Standings returns the prompts of an owner that everybody sees or, as the owner, all of them, the
// oldest first.
func (s *Service) Standings(ctx context.Context, as auth.User, owner prompt.UserID) ([]Standing, error) {
	return s.db.Standings(ctx, IDOf(as), owner)
}

// OwnerOf returns a user as others see them, whom a handle, a key or Me has led to. One that leads
// by a handle that was reserved, and is not shown, is none.
func (s *Service) OwnerOf(ctx context.Context, id prompt.UserID, handle string) (User, error) {
	p, err := s.db.Profile(ctx, id)
	u := User{Key: s.AuthorKey(id), Profile: p}
	if err == nil && handle != Me && handle != u.Key && !u.Leads(handle) {
		err = errNobody()
	}
	return u, err
}

// StandingsOf returns those of some prompts that there are and that the caller may know of.
func (s *Service) StandingsOf(ctx context.Context, who auth.User, ids []prompt.ID) (map[prompt.ID]Standing, error) {
	found := make([]Standing, len(ids))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i, id := range ids {
		g.Go(func() error {
			err := s.acting(gctx, who, id, func(as auth.User) (err error) {
				found[i], err = s.db.Standing(gctx, IDOf(as), id)
				return err
			})
			if fault.Of(err) == fault.NotFound {
				return nil
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	all := make(map[prompt.ID]Standing)
	for _, one := range found {
		if one.ID != "" {
			all[one.ID] = one
		}
	}
	return all, nil
}

// CollectionFor returns a collection without its skills, and the reader that stands for all of its
// readers: the public for a public one, else its owner, for whom the caller must act.
func (s *Service) CollectionFor(ctx context.Context, who auth.User, owner, slug string) (Collection, auth.User, error) {
	by, as, err := s.collectorOf(ctx, who, owner, slug)
	if err != nil {
		return Collection{}, as, err
	}
	c, err := s.db.Collection(ctx, by.id, slug)
	switch {
	case err != nil:
		return Collection{}, as, err
	case c == nil || !by.own && c.Visibility != prompt.Public:
		return Collection{}, as, prompt.ErrNoCollection()
	case c.Visibility == prompt.Public:
		as = auth.User{}
	}
	return by.shows(*c, as), as, nil
}

// A Repository names a line of snapshots.
type Repository = promptdb.Repository

// A Line is where the line of a repository has come to.
type Line = promptdb.Line

// A Snapshot is a commit of a line.
type Snapshot = promptdb.Snapshot

// The kinds of repositories.
const (
	OfPublic     = promptdb.OfPublic
	OfOwn        = promptdb.OfOwn
	OfCollection = promptdb.OfCollection
)

// Line returns the line of a repository that the caller may read, a zero one if there is none, and
// notes that a client asked for it.
func (s *Service) Line(ctx context.Context, r Repository) (Line, error) {
	l, err := s.db.Line(ctx, r)
	if err == nil {
		s.db.Asked(ctx, r, l)
	}
	return l, err
}

// Snapshots returns the snapshots of the epoch of a line, the first of them first.
func (s *Service) Snapshots(ctx context.Context, r Repository, l Line) ([]Snapshot, error) {
	return s.db.Snapshots(ctx, r, l)
}

// PutLine writes a line as it has become, with its last snapshot if that is new. It reports false
// if another one came first.
func (s *Service) PutLine(ctx context.Context, r Repository, l Line, last *Snapshot) (bool, error) {
	return s.db.PutLine(ctx, r, l, last)
}
