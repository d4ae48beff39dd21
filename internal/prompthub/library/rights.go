package library

import (
	"context"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

// AdminsMake is the code of a refusal to make a workspace, where admins of the site alone do.
const AdminsMake fault.Code = "ADMINS_MAKE_WORKSPACES"

// WithAdminsMaking returns a Service where, if is is set, admins of the site alone make workspaces.
func (s *Service) WithAdminsMaking(is bool) *Service {
	with := *s
	with.adminsMake = is
	return &with
}

// MayMake returns why the caller may not make a workspace, nil if they may.
func (s *Service) MayMake(who auth.User) error {
	if err := signedIn(who); err != nil {
		return err
	}
	if s.adminsMake && !who.Admin() {
		return fault.Coded(fault.Forbidden, AdminsMake, "admins of this service alone make workspaces; ask one of them")
	}
	return nil
}

// A May is what a caller may do with a prompt.
type May struct {
	Edit    bool // save changes of it
	Publish bool // change what others rely on: labels, visibility, that it is there
}

// May returns what a member of the workspace may do with a prompt of it.
func (w Workspace) May(v prompt.Visibility) May {
	needed := prompt.RoleAuthor
	if v == prompt.Public {
		needed = prompt.RolePublisher
	}
	return May{Edit: w.Role.Includes(needed), Publish: w.Role.Includes(prompt.RolePublisher)}
}

// Owning returns the workspace that an owner is, with the role of the caller there, "" for none. It
// is nil for a person, of whom nothing is read.
func (s *Service) Owning(ctx context.Context, who auth.User, owner prompt.UserID) (*Workspace, error) {
	m, err := s.db.Workspace(ctx, owner)
	if err != nil || m == nil {
		return nil, err
	}
	return &Workspace{m.Workspace, s.role(who, m)}, nil
}

// OwnerKnown is Owning for a prompt that this instance has met.
func (s *Service) OwnerKnown(ctx context.Context, who auth.User, id prompt.ID) (*Workspace, error) {
	owner, _ := s.db.Authors.Get(id)
	return s.Owning(ctx, who, owner)
}

// ForOwner returns the caller as they act on prompts of an owner: for a workspace of which they are
// a member, else as they are.
func (s *Service) ForOwner(ctx context.Context, who auth.User, owner prompt.UserID) (auth.User, error) {
	as, _, err := s.actor(ctx, who, owner)
	return as, err
}

// MayEdit returns why the caller may not save changes of a prompt that they see, nil if they may.
func (s *Service) MayEdit(ctx context.Context, who auth.User, v View) error {
	if !v.IsOwn() {
		return errAuthorAlone()
	}
	w, err := s.Owning(ctx, who, v.AuthorID)
	if err != nil || w == nil || w.May(v.Visibility).Edit {
		return err
	}
	if v.Visibility == prompt.Public {
		return prompt.ErrNeedsRole(prompt.RolePublisher)
	}
	return prompt.ErrNeedsRole(prompt.RoleAuthor)
}

// ListWorkspace returns prompts of a workspace of which the caller is a member, as Mine returns
// their own.
func (s *Service) ListWorkspace(ctx context.Context, who auth.User, w Workspace, q MineQuery) (Page, error) {
	as, err := s.ForOwner(ctx, who, w.ID)
	if err != nil {
		return Page{}, err
	}
	q.NoVotes = true // those of the workspace: it has none
	p, err := s.Mine(ctx, as, q)
	if err != nil || IDOf(who) == w.ID {
		return p, err
	}
	return p, s.db.MarkVotes(ctx, IDOf(who), p.Items)
}

// atOnce is how many people are looked up at the same time.
const atOnce = 10

// People returns the profiles of people by their keys, which the rows of a workspace hold. A key
// that leads to no user, and that of an access token, has none. Each of the others takes two reads.
func (s *Service) People(ctx context.Context, keys []prompt.UserID) (map[prompt.UserID]prompt.Profile, error) {
	keys = slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(keys))), func(key prompt.UserID) bool {
		return !prompt.NamesUser(string(key))
	})
	found := make([]*prompt.Profile, len(keys))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i, key := range keys {
		g.Go(func() error {
			user, err := s.db.UserID(ctx, string(key))
			if err != nil || user == "" {
				return err
			}
			p, err := s.db.Profile(ctx, user)
			found[i] = &p
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	people := make(map[prompt.UserID]prompt.Profile, len(keys))
	for i, p := range found {
		if p != nil {
			people[keys[i]] = *p
		}
	}
	return people, nil
}

// profilesOf adds to members the profiles of people.
func (s *Service) profilesOf(ctx context.Context, members []Member) error {
	var keys []prompt.UserID
	for _, m := range members {
		if m.Kind == prompt.Person {
			keys = append(keys, prompt.UserID(m.Name))
		}
	}
	people, err := s.People(ctx, keys)
	for i, m := range members {
		members[i].Profile = people[prompt.UserID(m.Name)]
	}
	return err
}

// MemberOf returns the workspaces of which the caller is a member, by their handles, and those that
// were deleted and that they may restore: at most prompt.MaxWorkspacesOf.
func (s *Service) MemberOf(ctx context.Context, who auth.User) (alive, deleted []Workspace, err error) {
	var found []promptdb.Members
	if prompt.IsWorkspace(IDOf(who)) {
		var m *promptdb.Members
		if m, err = s.db.Workspace(ctx, IDOf(who)); m != nil {
			found = append(found, *m)
		}
	} else {
		found, err = s.db.Memberships(ctx, IDOf(who), who.Roles, who.Groups.Keys())
	}
	if err != nil {
		return nil, nil, err
	}
	for _, m := range found {
		if role := s.role(who, &m); role != "" {
			alive = append(alive, Workspace{m.Workspace, role})
		} else if s.wasAdministrator(who, &m) {
			deleted = append(deleted, Workspace{m.Workspace, prompt.RoleAdministrator})
		}
	}
	byHandle := func(a, b Workspace) int { return strings.Compare(a.Handle, b.Handle) }
	slices.SortFunc(alive, byHandle)
	slices.SortFunc(deleted, byHandle)
	return alive, deleted, nil
}

// wasAdministrator reports whether the caller was an administrator of a workspace that is deleted.
func (s *Service) wasAdministrator(who auth.User, m *promptdb.Members) bool {
	if m == nil || !m.Deleted() {
		return false
	}
	alive := *m
	alive.DeletedAt = time.Time{}
	return s.role(who, &alive) == prompt.RoleAdministrator
}
