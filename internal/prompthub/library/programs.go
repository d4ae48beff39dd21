package library

import (
	"cmp"
	"context"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

// Lookup returns the prompt that a reference names, in the version that it names, or else in that
// with the label production, or else as it is. A name without an owner is of the caller. The caller
// may be anonymous.
func (s *Service) Lookup(ctx context.Context, who auth.User, ref prompt.Ref) (View, error) {
	v, err := s.lookUp(ctx, who, ref)
	if err == nil {
		s.Fetched(ctx, who, v)
	}
	return v, err
}

func (s *Service) lookUp(ctx context.Context, who auth.User, ref prompt.Ref) (View, error) {
	want := WantedVersion{Number: ref.Version, Label: ref.Label}
	if want == (WantedVersion{}) {
		want = ForPrograms
	}
	if id, ok := prompt.ParseID(ref.Name); ok {
		return s.GetVersion(ctx, who, id, want)
	}
	owner := IDOf(who)
	if ref.Owner != "" {
		var err error
		if owner, err = s.OwnerID(ctx, who, ref.Owner); err != nil {
			return View{}, err
		}
	}
	if owner == "" {
		return View{}, prompt.ErrUnknown()
	}
	return s.GetByName(ctx, who, owner, ref.Name, want)
}

// ForPrograms asks for the version that programs get by default: the one with the label production,
// or else what the prompt holds.
var ForPrograms = promptdb.ForPrograms

// LatestForPrograms asks for what a program gets that expects the latest version: that one, or,
// where a rule is for the label production, the one with that label.
var LatestForPrograms = promptdb.LatestForPrograms

// LatestNotRecalled asks for what the prompt holds or, where that was recalled, for the version
// that programs get who name none: for people who take a prompt along as files.
var LatestNotRecalled = promptdb.LatestNotRecalled

// Served returns those prompts of a list of which programs get a version that name none. Where a
// workspace has a rule for the label production, they get none until that label stands; where the
// version in production was recalled, and there was none before it, they get none either.
func (s *Service) Served(ctx context.Context, who auth.User, items []View) ([]View, error) {
	serves := make([]bool, len(items))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i, v := range items {
		if v.ServesNone(cmp.Or(v.Viewer, IDOf(who))) {
			continue
		}
		g.Go(func() (err error) {
			serves[i], err = s.db.Serves(gctx, v.Prompt)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var kept []View
	for i, v := range items {
		if serves[i] {
			kept = append(kept, v)
		}
	}
	return kept, nil
}

// MaxTexts is how many prompts WithTexts takes.
const MaxTexts = 20

// maxPage is how many bytes the contents of a page have together; the last prompt may go beyond.
const maxPage = 1 << 20

// WithTexts returns the page of at most limit prompts that read returns, with what each prompt
// holds now. A page whose contents are too long ends early, as one of a smaller limit. Those that
// the caller may not know of any more are left out.
func (s *Service) WithTexts(ctx context.Context, who auth.User, limit int,
	read func(limit int) (Page, error),
) (Page, error) {
	for {
		p, err := read(limit)
		if err != nil {
			return Page{}, err
		}
		items, looked, err := s.db.WithTexts(ctx, IDOf(who), p.Items, maxPage)
		if err != nil || looked == len(p.Items) {
			p.Items = items
			return p, err
		}
		limit = looked
	}
}
