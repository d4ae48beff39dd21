package library

import (
	"context"
	"fmt"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/prompt"
)

// Fork stores a private copy of a prompt that the caller may read, or of a version of it, as a
// prompt of the caller's that knows where it comes from. With a key, the same call again answers
// the same prompt and false.
func (s *Service) Fork(ctx context.Context, who auth.User, id prompt.ID, want WantedVersion,
	key string,
) (View, bool, error) {
	if want == (WantedVersion{}) {
		want.Label = prompt.Latest
	}
	v, err := s.GetVersion(ctx, who, id, want)
	if err != nil {
		return View{}, false, err
	}
	content, err := s.portable(ctx, IDOf(who), v)
	if err != nil {
		return View{}, false, err
	}
	d := v.With(content)
	if d.FileBytes, err = s.db.FileBytes(ctx, v.ID, v.Files.Written()); err != nil {
		return View{}, false, err
	}
	d.Name, d.OwnTags, d.Visibility = "", nil, prompt.Private
	d.Message = fmt.Sprintf("Forked from version %d of %q", v.Version, v.Title)
	// A tag that was retired since stays with those that have it.
	if d.Tags, _, err = s.SplitTags(ctx, tagTexts(v.Tags), nil); err != nil {
		return View{}, false, err
	}
	return s.create(ctx, who, d, prompt.ForkedFrom{ID: v.ID, Version: v.Version}, key)
}

// portable returns the content of a prompt as another owner can have it: names in a text are those
// of its author, so what another's prompt includes stands in its place.
func (s *Service) portable(ctx context.Context, owner prompt.UserID, v View) (prompt.Content, error) {
	c := v.Content()
	if v.AuthorID == owner || len(c.Includes()) == 0 {
		return c, nil
	}
	resolved, err := s.Resolve(ctx, v)
	return resolved.Content, err
}

func tagTexts(tags []prompt.Tag) []string {
	list := make([]string, len(tags))
	for i, t := range tags {
		list[i] = string(t)
	}
	return list
}

// An Upstream is what a fork comes from.
type Upstream struct {
	Origin prompt.ForkedFrom // that of the fork
	// the version that it names; without a number where the caller cannot read it any more
	Base prompt.Version
	// what the prompt there is now; without an id where the caller cannot read it any more
	Now View
}

// Changed reports whether there is something to merge.
func (u Upstream) Changed() bool {
	return u.Base.Number > 0 && u.Now.ID != "" && !u.Base.Says(u.Now.Current())
}

// Upstream returns what became of what a prompt of the caller's was forked from.
func (s *Service) Upstream(ctx context.Context, who auth.User, id prompt.ID) (Upstream, error) {
	v, err := s.look(ctx, who, id)
	switch {
	case err != nil:
		return Upstream{}, err
	case !v.IsOwn():
		return Upstream{}, fault.New(fault.Forbidden, "only its author may see what a fork comes from")
	}
	return s.upstream(ctx, who, v.ForkedFrom)
}

func (s *Service) upstream(ctx context.Context, who auth.User, o prompt.ForkedFrom) (Upstream, error) {
	u := Upstream{Origin: o}
	if o.ID == "" {
		return u, fault.New(fault.Conflict, "this prompt is no fork")
	}
	now, err := s.GetVersion(ctx, who, o.ID, WantedVersion{Label: prompt.Latest})
	if fault.Of(err) == fault.NotFound {
		return u, nil
	}
	if err != nil {
		return u, err
	}
	u.Now = now
	base, _, err := s.Compare(ctx, who, o.ID, o.Version, o.Version)
	if fault.Of(err) == fault.NotFound {
		return u, nil
	}
	u.Base = base.ShownVersion
	return u, err
}

// A Side is one of those whose changes clash.
type Side string

// The sides.
const (
	Mine   Side = "mine"
	Theirs Side = "theirs"
)

// MergeUpstream makes a new version of the caller's fork with the changes since then of the prompt
// that it comes from. If both changed the same place in different ways, it is a Conflict that says
// where, unless take says whose content and files to use. Files are merged one by one. If the fork
// has all changes already, no version is made.
func (s *Service) MergeUpstream(ctx context.Context, who auth.User, id prompt.ID,
	take Side,
) (v View, made bool, err error) {
	return s.makeVersion(ctx, who, id, func(p prompt.Prompt) (prompt.Prompt, error) {
		u, err := s.upstream(ctx, who, p.ForkedFrom)
		if err != nil {
			return p, err
		}
		base, theirs, err := s.changed(ctx, p.AuthorID, u, take)
		if err != nil {
			return p, err
		}
		files, err := s.mergeFiles(ctx, p, u, take)
		if err != nil {
			return p, err
		}
		d, err := u.into(p.Draft, base, theirs, files, take)
		if err != nil {
			return p, err
		}
		d = files.into(d, p.Slug)
		d.Message = fmt.Sprintf("Merges version %d of %q", u.Now.Version, u.Now.Title)
		p.ForkedFrom.Version = u.Now.Version
		p.Draft, err = s.rules.CheckEdit(d, p.Draft)
		return p, err
	})
}

// changed returns what a fork comes from, and what became of that, as its owner can have them.
// Where what the former includes is gone since, it is as it was written.
func (s *Service) changed(ctx context.Context, owner prompt.UserID, u Upstream,
	take Side,
) (base, theirs prompt.Content, err error) {
	if u.Now.ID == "" || take == Mine {
		return base, theirs, nil
	}
	if theirs, err = s.portable(ctx, owner, u.Now); err != nil {
		return base, theirs, err
	}
	before := u.Now
	before.Draft = before.With(u.Base.Content)
	if base, err = s.portable(ctx, owner, before); fault.Of(err) == fault.Conflict {
		return u.Base.Content, theirs, nil
	}
	return base, theirs, err
}

// into returns what becomes of a fork.
func (u Upstream) into(mine prompt.Draft, base, theirs prompt.Content, files *filesMerge,
	take Side,
) (prompt.Draft, error) {
	switch {
	case u.Now.ID == "":
		return mine, fault.New(fault.Conflict,
			"the prompt that this one was forked from does not exist any more, or you may not read it")
	case take == Mine:
		return mine, nil
	case take == Theirs:
		mine.Description = u.Now.Description
		return mine.With(theirs), nil
	case u.Base.Number == 0:
		return mine, fault.New(fault.Conflict,
			fmt.Sprintf("version %d, which both come from, does not exist any more: choose mine or theirs",
				u.Origin.Version))
	}
	content, clashes := prompt.Merge(base, mine.Content(), theirs)
	about, others := prompt.MergeDescriptions(u.Base, mine.Description, u.Now.Description)
	if clashes = append(clashes, others...); files != nil {
		clashes = append(clashes, files.clashes...)
	}
	if len(clashes) == 0 {
		mine.Description = about
		return mine.With(content), nil
	}
	f := &fault.Error{
		Kind: fault.Conflict,
		Text: "both changed the same: change yours as you want it and choose mine, or choose theirs",
	}
	for _, c := range clashes {
		f.Fields = append(f.Fields, fault.Field{Name: c.Field, Message: c.String()})
	}
	return mine, f
}
