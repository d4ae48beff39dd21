package library

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/files/skill"
	"prompthub/internal/prompthub/prompt"
)

// A Collection is a collection as one reader sees it.
type Collection struct {
	prompt.Collection
	By     User   // its owner
	Skills []View // those that the reader may see, in order, each in the version that programs get
	Own    bool   // whether the reader acts for its owner
	May    May    // what the reader may do with it
}

// NotShown returns the prompts that the collection has and that are not among its skills now: their
// authors withdrew them, they are not released, or another one has their name. Its owner alone is
// told of them.
func (c Collection) NotShown() []prompt.ID {
	if !c.Own {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(c.Prompts), func(id prompt.ID) bool {
		return slices.ContainsFunc(c.Skills, func(v View) bool { return v.ID == id })
	})
}

// PluginVersion returns the version of the plugin that the collection is for a reader: installers
// bring it anew where it differs from the one that they have. It begins with the number of changes
// of the collection; the rest is another where a skill has another version, or is left out.
func (c Collection) PluginVersion() string {
	h := sha256.New()
	for _, v := range c.Skills {
		fmt.Fprintf(h, "%s %d\n", v.ID, v.ShownVersion.Number)
	}
	return fmt.Sprintf("%d.%d.0", c.Version, binary.BigEndian.Uint32(h.Sum(nil)))
}

// Budget returns what the skills of the collection take of the list that hosts show to an agent.
func (c Collection) Budget() skill.Budget {
	list := make([]skill.Listed, len(c.Skills))
	for i, v := range c.Skills {
		list[i] = skill.List(c.Slug, v.Prompt)
	}
	return skill.Measure(list)
}

// A Collector is an owner of collections as a caller sees them.
type Collector struct {
	User
	Own bool      // whether the caller acts for the owner
	As  auth.User // the caller as they act for the owner, if they do
	May May       // make a private collection; and a public one
}

// Collections returns the collections of an owner, whom a handle, a key or Me names, by their names
// in addresses and without their skills: of others those that are public.
func (s *Service) Collections(ctx context.Context, who auth.User, owner string) ([]Collection, error) {
	all, _, err := s.CollectionsOf(ctx, who, owner)
	return all, err
}

// CollectionsOf is Collections, and tells of the owner.
func (s *Service) CollectionsOf(ctx context.Context, who auth.User, owner string) ([]Collection, Collector, error) {
	by, as, err := s.collector(ctx, who, owner)
	if err != nil {
		return nil, Collector{}, err
	}
	c := Collector{User: by.User, Own: by.own, As: as}
	if c.Own {
		c.May = May{Edit: mayCollect(as, "", prompt.Private) == nil, Publish: mayCollect(as, "", prompt.Public) == nil}
	}
	all, err := s.db.Collections(ctx, by.id)
	var shown []Collection
	for _, c := range all {
		if c := by.shows(c, as); c.Own || c.Visibility == prompt.Public {
			shown = append(shown, c)
		}
	}
	return shown, c, err
}

// A collector is the owner of collections.
type collector struct {
	User
	id  prompt.UserID
	own bool // whether the caller acts for them
}

// shows returns a collection as a caller sees it.
func (by collector) shows(c prompt.Collection, as auth.User) Collection {
	shown := Collection{Collection: c, By: by.User, Own: by.own}
	if by.own {
		shown.May = May{
			Edit:    mayCollect(as, c.Visibility, c.Visibility) == nil,
			Publish: mayCollect(as, prompt.Public, prompt.Public) == nil,
		}
	}
	return shown
}

// mayCollect returns why a caller that acts for the owner may not change a collection from one
// visibility to another. A public one is for those with the right to publish.
func mayCollect(as auth.User, was, now prompt.Visibility) error {
	if err := Needs(as, auth.ScopeWrite); err != nil {
		return err
	}
	return publishes(as, was == prompt.Public || now == prompt.Public)
}

// collector returns the owner that a handle, a key or Me names, and the caller as they act for that
// owner.
func (s *Service) collector(ctx context.Context, who auth.User, owner string) (by collector, as auth.User, err error) {
	if by.id, by.User, err = s.userAt(ctx, who, owner); err != nil {
		return by, who, err
	}
	as, _, err = s.actor(ctx, who, by.id)
	by.own = err == nil && as.Known() && IDOf(as) == by.id
	return by, as, err
}

// Collection returns a collection of an owner, whom a handle, a key or Me names, with those of its
// skills that the caller may see now.
func (s *Service) Collection(ctx context.Context, who auth.User, owner, slug string) (Collection, error) {
	by, as, err := s.collectorOf(ctx, who, owner, slug)
	if err != nil {
		return Collection{}, err
	}
	c, err := s.db.Collection(ctx, by.id, slug)
	if err != nil {
		return Collection{}, err
	}
	if c == nil || !by.own && c.Visibility != prompt.Public {
		return Collection{}, prompt.ErrNoCollection()
	}
	return s.withSkills(ctx, who, by.shows(*c, as))
}

// collectorOf is collector for one of the owner's collections. An owner who is not there is
// answered as one without the collection.
func (s *Service) collectorOf(ctx context.Context, who auth.User, owner, slug string) (collector, auth.User, error) {
	by, as, err := s.collector(ctx, who, owner)
	if fault.Of(err) == fault.NotFound || err == nil && !prompt.ValidSlug(slug) {
		err = prompt.ErrNoCollection()
	}
	return by, as, err
}

// withSkills adds to a collection those of its skills that the caller may see, as programs get
// them. The second of two that have the same slug now is left out: their folders would be one.
func (s *Service) withSkills(ctx context.Context, who auth.User, c Collection) (Collection, error) {
	found := make([]*View, len(c.Prompts))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i, id := range c.Prompts {
		g.Go(func() error {
			v, err := s.GetVersion(gctx, who, id, ForPrograms)
			switch {
			case fault.Of(err) == fault.NotFound, fault.Of(err) == fault.Gone: // or recalled just now
				return nil
			case err == nil && isSkill(v):
				found[i] = &v
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return Collection{}, err
	}
	slugs := make(map[string]bool)
	c.Skills = nil
	for _, v := range found {
		if v != nil && !slugs[v.Slug] {
			slugs[v.Slug] = true
			c.Skills = append(c.Skills, *v)
		}
	}
	return c, nil
}

// isSkill reports whether a prompt can be in a collection.
func isSkill(v View) bool { return prompt.ValidSlug(v.Slug) && len(v.Content().Includes()) == 0 }

// CreateCollection makes a collection of the caller, or of an owner for whom they act.
func (s *Service) CreateCollection(ctx context.Context, who, owner auth.User, slug string,
	d prompt.CollectionDraft,
) (Collection, error) {
	now := s.now().UTC().Truncate(time.Millisecond)
	c, err := prompt.Collection{
		Owner: IDOf(owner), Slug: slug, CollectionDraft: d, Version: 1,
		CreatedAt: now, UpdatedAt: now,
	}.Check()
	if err != nil {
		return Collection{}, err
	}
	if err := mayCollect(owner, c.Visibility, c.Visibility); err != nil {
		return Collection{}, err
	}
	if err := s.checkSkills(ctx, owner, c.Prompts, nil); err != nil {
		return Collection{}, err
	}
	if err := s.db.AddCollection(ctx, writer(owner), c); err != nil {
		return Collection{}, err
	}
	s.MakeKnown(ctx, who)
	return s.collected(ctx, who, owner, c)
}

// collected returns a collection that was changed by a caller who acts for its owner.
func (s *Service) collected(ctx context.Context, who, as auth.User, c prompt.Collection) (Collection, error) {
	p, err := s.db.Profile(ctx, c.Owner)
	if err != nil {
		return Collection{}, err
	}
	by := collector{User: User{Key: s.AuthorKey(c.Owner), Profile: p}, id: c.Owner, own: true}
	return s.withSkills(ctx, who, by.shows(c, as))
}

// checkSkills returns an error that names each prompt that an owner cannot have in a collection.
// One that it had stays, whatever became of it: its author may share it again.
func (s *Service) checkSkills(ctx context.Context, owner auth.User, ids, had []prompt.ID) error {
	views, errs := make([]View, len(ids)), make([]error, len(ids))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i, id := range ids {
		g.Go(func() error {
			views[i], errs[i] = s.look(gctx, owner, id)
			if fault.Of(errs[i]) == fault.NotFound {
				return nil
			}
			return errs[i]
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	var fields []fault.Field
	slugs := make(map[string]bool)
	for i, v := range views {
		f := fault.Field{Name: fmt.Sprintf("items[%d]", i), Value: string(ids[i])}
		switch has := slices.Contains(had, ids[i]); {
		case has && (errs[i] != nil || !isSkill(v)):
			continue
		case errs[i] != nil:
			f = prompt.NoSuchPrompt(i, ids[i])
		case !isSkill(v):
			f.Code, f.Message = prompt.NotASkill,
				"this prompt includes others, so it is no skill; put their texts in their places"
		case slugs[v.Slug]:
			f.Code, f.Message = prompt.SameSkillName,
				fmt.Sprintf("another skill of the collection is called %s; rename one, or leave it out", v.Slug)
		}
		if f.Message != "" {
			fields = append(fields, f)
		}
		slugs[v.Slug] = true
	}
	if fields == nil {
		return nil
	}
	return &fault.Error{Kind: fault.Invalid, Text: "the collection has prompts that cannot be in it", Fields: fields}
}

// MayEditCollection returns why the caller may not change a collection, nil if they may.
func (s *Service) MayEditCollection(ctx context.Context, who auth.User, owner, slug string) error {
	by, as, err := s.mayChange(ctx, who, owner, slug)
	if err != nil {
		return err
	}
	c, err := s.db.Collection(ctx, by.id, slug)
	if err == nil && c == nil {
		err = prompt.ErrNoCollection()
	}
	if err != nil {
		return err
	}
	return mayCollect(as, c.Visibility, c.Visibility)
}

// EditCollection changes a collection. Change gets what the owner says of it, with all the prompts
// that it names, and may run again. Prompts that it adds must be skills that the owner may read.
func (s *Service) EditCollection(ctx context.Context, who auth.User, owner, slug string, m Match,
	change func(*prompt.CollectionDraft),
) (Collection, error) {
	by, as, err := s.mayChange(ctx, who, owner, slug)
	if err != nil {
		return Collection{}, err
	}
	c, err := s.db.EditCollection(ctx, by.id, writer(as), slug, func(c *prompt.Collection) error {
		was := *c
		if err := Needs(as, auth.ScopeWrite); err != nil {
			return err
		}
		if !m.holds(c.Version) && !m.replays(c.Version) {
			return staleCollection()
		}
		change(&c.CollectionDraft)
		next, err := c.Check()
		if err != nil {
			return err
		}
		if *c = next; c.CollectionDraft.Equal(was.CollectionDraft) {
			return nil
		}
		if !m.holds(c.Version) {
			return staleCollection()
		}
		if err := mayCollect(as, was.Visibility, c.Visibility); err != nil {
			return err
		}
		return s.checkSkills(ctx, as, c.Prompts, was.Prompts)
	})
	if err != nil {
		return Collection{}, err
	}
	return s.collected(ctx, who, as, c)
}

func staleCollection() error {
	return fault.New(fault.Stale,
		"the collection was changed since you read it; read it again and send its ETag in If-Match")
}

// mayChange returns the owner of a collection, and the caller as they act for that owner. Others
// learn that a collection which they may see is not theirs.
func (s *Service) mayChange(ctx context.Context, who auth.User, owner, slug string) (collector, auth.User, error) {
	if !who.Known() {
		return collector{}, who, fault.New(fault.Unauthenticated, "sign in to use this")
	}
	by, as, err := s.collectorOf(ctx, who, owner, slug)
	if err != nil || by.own {
		return by, as, err
	}
	c, err := s.db.Collection(ctx, by.id, slug)
	switch {
	case err != nil:
	case c == nil || c.Visibility != prompt.Public:
		err = prompt.ErrNoCollection()
	default:
		err = fault.New(fault.Forbidden, "only its owner may change a collection")
	}
	return by, as, err
}

// DeleteCollection takes a collection away. Deleting it again does nothing.
func (s *Service) DeleteCollection(ctx context.Context, who auth.User, owner, slug string, m Match) error {
	by, as, err := s.mayChange(ctx, who, owner, slug)
	if err != nil {
		return err
	}
	if err := Needs(as, auth.ScopePublish); err != nil {
		return err
	}
	return s.db.RemoveCollection(ctx, by.id, writer(as), slug, func(c prompt.Collection) error {
		if !m.holds(c.Version) {
			return staleCollection()
		}
		return nil
	})
}
