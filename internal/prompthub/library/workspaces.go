package library

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

// A Workspace is a workspace as one of its members sees it.
type Workspace struct {
	prompt.Workspace
	Role prompt.Role // of the caller
}

// A Member is a member of a workspace with the name that a person goes by.
type Member struct {
	prompt.Member
	Profile prompt.Profile // of a person
}

// is reports whether a caller with a public key is a member: by name, or by a group or role of the
// directory.
func is(who auth.User, key string, m prompt.Member) bool {
	switch m.Kind {
	case prompt.InGroup:
		return who.Groups.Has(m.Name)
	case prompt.InRole:
		return slices.Contains(who.Roles, m.Name)
	}
	return m.Name == key
}

// role returns what a caller may do in a workspace, "" for nothing: the highest role of those that
// they have by name and by groups and roles of the directory. An access token of a person has the
// first alone, and no token is an administrator.
func (s *Service) role(who auth.User, m *promptdb.Members) prompt.Role {
	if m == nil || m.Deleted() || !who.Known() {
		return ""
	}
	if IDOf(who) == m.ID {
		return roleOf(who.Grant)
	}
	var role prompt.Role
	key := s.AuthorKey(IDOf(who))
	for _, one := range m.All {
		if is(who, key, one) {
			role = role.Higher(one.Role)
		}
	}
	if who.Grant == nil || role == "" {
		return role
	}
	may := roleOf(who.Grant)
	if may.Includes(role) {
		return role
	}
	return may
}

// roleOf returns the role that an access token stands for at most.
func roleOf(g *auth.Grant) prompt.Role {
	switch {
	case g == nil || !slices.Contains(g.Scopes, auth.ScopeRead):
		return ""
	case !slices.Contains(g.Scopes, auth.ScopeWrite):
		return prompt.RoleReader
	case !slices.Contains(g.Scopes, auth.ScopePublish):
		return prompt.RoleAuthor
	}
	return prompt.RolePublisher
}

// administer is the right to change a workspace and its members.
const administer = "administer"

// Rights returns what a role lets a member do: scopes and, for an administrator, administer.
func Rights(r prompt.Role) []string {
	all := append(auth.Scopes(), administer)
	return all[:1+slices.Index(prompt.Roles(), r)]
}

// actor returns the caller as they act on prompts of an owner. That is as the owner, with a grant,
// if it is a workspace and they are a member; else it is as they are, and false.
func (s *Service) actor(ctx context.Context, who auth.User, owner prompt.UserID) (auth.User, bool, error) {
	if !prompt.IsWorkspace(owner) || !who.Known() || prompt.IsWorkspace(IDOf(who)) {
		return who, false, nil
	}
	m, err := s.db.Workspace(ctx, owner)
	if err != nil {
		return who, false, err
	}
	role := s.role(who, m)
	if role == "" {
		return who, false, nil
	}
	return auth.User{
		ID: string(owner), Name: m.Name,
		Grant: &auth.Grant{Scopes: Rights(role), By: s.AuthorKey(IDOf(who))},
	}, true, nil
}

// acting has do work on a prompt for the caller, or, if its owner is a workspace of which they are
// a member, for the workspace. Where this instance does not know the owner yet, do runs for the
// caller first: it finds a prompt of a stranger, so it changes nothing.
func (s *Service) acting(ctx context.Context, who auth.User, id prompt.ID, do func(who auth.User) error) error {
	owner, known := s.db.Authors.Get(id)
	if known && !prompt.IsWorkspace(owner) {
		return do(who)
	}
	var err error
	if !known {
		err = do(who)
		if owner, _ = s.db.Authors.Get(id); !prompt.IsWorkspace(owner) {
			return err
		}
	}
	as, isMember, failed := s.actor(ctx, who, owner)
	switch {
	case failed != nil:
		return failed
	case isMember:
		return do(as)
	case !known:
		return err
	}
	return do(who)
}

// Needs returns an error unless the caller may do what a scope stands for: a member of a workspace
// by their role there, and by the scopes of the access token that they brought.
func Needs(who auth.User, scope string) error {
	err := who.Needs(scope)
	if err == nil || who.Grant.By == "" {
		return err
	}
	if scope == auth.ScopePublish {
		return prompt.ErrNeedsRole(prompt.RolePublisher)
	}
	return prompt.ErrNeedsRole(prompt.RoleAuthor)
}

// keyOf returns the public key of a caller, a person.
func (s *Service) keyOf(who auth.User) prompt.UserID { return prompt.UserID(s.AuthorKey(IDOf(who))) }

// KeyOf returns the public key of a user or token that did something to a prompt of an owner.
func (s *Service) KeyOf(owner, by prompt.UserID) string {
	if prompt.IsWorkspace(owner) { // its rows hold keys
		return string(by)
	}
	return s.AuthorKey(by)
}

// writer returns who writes a prompt of a workspace, as its rows say it, and "" where persons write
// their own.
func writer(who auth.User) prompt.UserID {
	switch {
	case !prompt.IsWorkspace(IDOf(who)):
		return ""
	case who.Grant.By != "":
		return prompt.UserID(who.Grant.By)
	}
	return prompt.TokenKey(who.Grant.TokenID)
}

// actorOf returns the caller as changes of a prompt take them.
func actorOf(who auth.User) prompt.Actor {
	return prompt.Actor{Key: writer(who), Publishes: publishes(who, true) == nil}
}

// workspace returns the workspace of a handle and the role of the caller: they need one, or a
// certain one.
func (s *Service) workspace(ctx context.Context, who auth.User, handle string,
	needed prompt.Role,
) (Workspace, *promptdb.Members, error) {
	if !who.Known() {
		return Workspace{}, nil, fault.New(fault.Unauthenticated, "sign in to use this")
	}
	if !prompt.NamesUser(handle) {
		return Workspace{}, nil, prompt.ErrNoWorkspace()
	}
	id, err := s.db.UserID(ctx, handle)
	if err != nil {
		return Workspace{}, nil, err
	}
	read := s.db.Workspace
	if needed == prompt.RoleAdministrator { // one who was removed a moment ago must not come back
		read = s.db.ReadWorkspace
	}
	m, err := read(ctx, id)
	if err != nil {
		return Workspace{}, nil, err
	}
	role := s.role(who, m)
	switch {
	case role == "":
		return Workspace{}, m, prompt.ErrNoWorkspace()
	case !role.Includes(needed):
		return Workspace{}, m, prompt.ErrNeedsRole(needed)
	}
	return Workspace{m.Workspace, role}, m, nil
}

// In returns the caller as they act for a workspace of which they are a member.
func (s *Service) In(ctx context.Context, who auth.User, handle string) (auth.User, error) {
	w, _, err := s.workspace(ctx, who, handle, prompt.RoleReader)
	if err != nil || IDOf(who) == w.ID {
		return who, err
	}
	as, _, err := s.actor(ctx, who, w.ID)
	return as, err
}

// CreateWorkspace makes a workspace whose first administrator is the caller. The same call again
// finds the handle taken.
func (s *Service) CreateWorkspace(ctx context.Context, who auth.User, p prompt.Profile) (Workspace, error) {
	if err := s.MayMake(who); err != nil {
		return Workspace{}, err
	}
	p, err := p.Check()
	if err != nil {
		return Workspace{}, err
	}
	if p.Handle == "" {
		return Workspace{}, &fault.Error{
			Kind: fault.Invalid, Text: "the workspace breaks the rules named here",
			Fields: []fault.Field{
				{Name: "handle", Message: "choose a handle: addresses and programs name the workspace by it"},
			},
		}
	}
	p.Name = strings.TrimSpace(p.Name)
	if p.Name == "" {
		p.Name = p.Handle
	}
	now := s.now().UTC().Truncate(time.Millisecond)
	id, err := prompt.NewWorkspaceID(now, rand.Reader)
	if err != nil {
		return Workspace{}, err
	}
	m, err := s.db.AddWorkspace(ctx, IDOf(who), prompt.Workspace{ID: id, Profile: p, CreatedAt: now, Revision: 1})
	if err != nil {
		return Workspace{}, err
	}
	s.MakeKnown(ctx, who) // members are named by their handles
	return Workspace{m.Workspace, s.role(who, m)}, nil
}

// Workspaces returns those of which the caller is a member, by their handles: at most
// prompt.MaxWorkspacesOf.
func (s *Service) Workspaces(ctx context.Context, who auth.User) ([]Workspace, error) {
	all, _, err := s.MemberOf(ctx, who)
	return all, err
}

// Workspace returns a workspace of which the caller is a member.
func (s *Service) Workspace(ctx context.Context, who auth.User, handle string) (Workspace, error) {
	w, _, err := s.workspace(ctx, who, handle, prompt.RoleReader)
	return w, err
}

// EditWorkspace changes the name and the note of a workspace; nil leaves one as it is.
func (s *Service) EditWorkspace(ctx context.Context, who auth.User, handle string, match Match,
	name, about *string,
) (Workspace, error) {
	w, _, err := s.workspace(ctx, who, handle, prompt.RoleAdministrator)
	if err != nil {
		return Workspace{}, err
	}
	m, err := s.db.EditWorkspace(ctx, w.ID, s.keyOf(who), func(now *prompt.Workspace) error {
		if !match.holds(now.Revision) {
			return staleWorkspace()
		}
		p := now.Profile
		Set(&p.Name, name)
		Set(&p.About, about)
		p, err := p.Check()
		if p.Name == "" {
			p.Name = p.Handle
		}
		now.Profile = p
		return err
	})
	if err != nil {
		return Workspace{}, err
	}
	return Workspace{m.Workspace, w.Role}, nil
}

func staleWorkspace() error {
	return fault.New(fault.Stale,
		"the workspace or its members were changed since you read it; read it again and send its ETag in If-Match")
}

// HasPublic is the code of a deletion of a workspace that still shows prompts or collections to
// others.
const HasPublic fault.Code = "WORKSPACE_HAS_PUBLIC"

// DeleteWorkspace takes a workspace away from its members. An administrator can restore it for
// prompt.RestoreDays; then all of it is erased, and its handle stays taken. One with public prompts
// or collections is a Conflict. Deleting it again does nothing.
func (s *Service) DeleteWorkspace(ctx context.Context, who auth.User, handle string) error {
	w, err := s.WorkspaceOrDeleted(ctx, who, handle)
	if err != nil {
		return err
	}
	public, err := s.hasPublic(ctx, w.ID)
	if err != nil {
		return err
	}
	if public {
		return fault.Coded(fault.Conflict, HasPublic,
			"the workspace has public prompts or collections; make them private or delete them first")
	}
	now := s.now().UTC().Truncate(time.Millisecond)
	_, err = s.db.EditWorkspace(ctx, w.ID, s.keyOf(who), func(w *prompt.Workspace) error {
		if !w.Deleted() {
			w.DeletedAt = now
		}
		return nil
	})
	if err == nil {
		_, err = s.db.EraseAt(ctx, w.ID, now.AddDate(0, 0, prompt.RestoreDays))
	}
	return err
}

// RestoreWorkspace undoes DeleteWorkspace.
func (s *Service) RestoreWorkspace(ctx context.Context, who auth.User, handle string) (Workspace, error) {
	w, err := s.WorkspaceOrDeleted(ctx, who, handle)
	if err != nil {
		return Workspace{}, err
	}
	if w.Deleted() && !s.now().Before(w.DeletedAt.AddDate(0, 0, prompt.RestoreDays)) { // it is being erased
		return Workspace{}, prompt.ErrNoWorkspace()
	}
	if err := s.db.CancelErase(ctx, w.ID); err != nil {
		return Workspace{}, err
	}
	m, err := s.db.EditWorkspace(ctx, w.ID, s.keyOf(who), func(w *prompt.Workspace) error {
		w.DeletedAt = time.Time{}
		return nil
	})
	if err != nil {
		return Workspace{}, err
	}
	return Workspace{m.Workspace, w.Role}, nil
}

// WorkspaceOrDeleted returns a workspace with the caller among its administrators, now or, if it is
// deleted, until then.
func (s *Service) WorkspaceOrDeleted(ctx context.Context, who auth.User, handle string) (Workspace, error) {
	w, m, err := s.workspace(ctx, who, handle, prompt.RoleAdministrator)
	if s.wasAdministrator(who, m) {
		return Workspace{m.Workspace, prompt.RoleAdministrator}, nil
	}
	return w, err
}

// Members returns the members of a workspace from a position on, people first.
func (s *Service) Members(ctx context.Context, who auth.User, handle string, limit int,
	token string,
) (members []Member, next string, err error) {
	w, m, err := s.workspace(ctx, who, handle, prompt.RoleReader)
	if err != nil {
		return nil, "", err
	}
	scope := fmt.Sprintf("members %q", w.ID)
	var page promptdb.Page
	_, err = open(scope, token, func(after string) (promptdb.Page, error) {
		for _, one := range m.All {
			if one.Place() <= after {
				continue
			}
			if len(members) == limit {
				page.After = members[limit-1].Place()
				break
			}
			members = append(members, Member{Member: one})
		}
		return page, nil
	})
	if err != nil {
		return nil, "", err
	}
	if err := s.profilesOf(ctx, members); err != nil {
		return nil, "", err
	}
	return members, sealed(scope, page).Next, nil
}

// PutMember gives a person, whom a handle or a key names, or a group or role of the directory, a
// role in a workspace. An admin of the site may make themselves administrator of a workspace that
// has none.
func (s *Service) PutMember(ctx context.Context, who auth.User, handle string, kind prompt.MemberKind, name string,
	role prompt.Role,
) (Member, error) {
	w, m, err := s.workspace(ctx, who, handle, prompt.RoleAdministrator)
	takesOver := kind == prompt.Person && name == Me && role == prompt.RoleAdministrator && mayTakeOver(who, m)
	if err != nil && !takesOver {
		return Member{}, err
	}
	w.Workspace = m.Workspace
	one := prompt.Member{
		Kind: kind, Name: strings.TrimSpace(name), Role: role, AddedBy: s.keyOf(who),
		AddedAt: s.now().UTC().Truncate(time.Millisecond),
	}
	if err := one.Check(); err != nil {
		return Member{}, err
	}
	var user prompt.UserID
	if kind == prompt.Person {
		if user, err = s.person(ctx, who, one.Name); err != nil {
			return Member{}, err
		}
		one.Name = s.AuthorKey(user)
	}
	if m, err = s.db.PutMember(ctx, w.ID, user, one); err != nil {
		return Member{}, err
	}
	made := Member{Member: *m.Of(kind, one.Name)}
	if kind == prompt.Person {
		made.Profile, err = s.db.Profile(ctx, user)
	}
	return made, err
}

// mayTakeOver reports whether a workspace has no administrator and the caller is an admin of the
// site.
func mayTakeOver(who auth.User, m *promptdb.Members) bool {
	return m != nil && who.Admin() && who.Grant == nil && !m.Deleted() && !m.Administrated()
}

// person returns the user that a handle, a key or Me names: a workspace is none.
func (s *Service) person(ctx context.Context, who auth.User, name string) (prompt.UserID, error) {
	user, err := s.OwnerID(ctx, who, name)
	if err == nil && prompt.IsWorkspace(user) {
		err = errNobody()
	}
	return user, err
}

// RemoveMember ends the membership of somebody. Members may leave themselves. It does nothing where
// there is none.
func (s *Service) RemoveMember(ctx context.Context, who auth.User, handle string,
	kind prompt.MemberKind, name string,
) error {
	var user prompt.UserID
	var err error
	if kind == prompt.Person {
		if user, err = s.person(ctx, who, name); err != nil {
			return err
		}
		name = s.AuthorKey(user)
	}
	needed := prompt.RoleAdministrator
	if kind == prompt.Person && user == IDOf(who) && who.Grant == nil {
		needed = prompt.RoleReader
	}
	w, _, err := s.workspace(ctx, who, handle, needed)
	if err != nil {
		return err
	}
	if !prompt.NamesMember(name) {
		return nil
	}
	return s.db.RemoveMember(ctx, w.ID, s.keyOf(who), user, kind, name)
}

// WorkspaceTokens returns the access tokens of a workspace, the newest first.
func (s *Service) WorkspaceTokens(ctx context.Context, who auth.User, handle string) ([]Token, error) {
	w, _, err := s.workspace(ctx, who, handle, prompt.RoleAdministrator)
	if err != nil {
		return nil, err
	}
	return s.db.Tokens(ctx, w.ID)
}

// CreateWorkspaceToken is CreateToken for a token of a workspace, which outlives the membership of
// its maker.
func (s *Service) CreateWorkspaceToken(ctx context.Context, who auth.User, handle string,
	d TokenDraft,
) (Token, string, error) {
	w, _, err := s.workspace(ctx, who, handle, prompt.RoleAdministrator)
	if err != nil {
		return Token{}, "", err
	}
	return s.createToken(ctx, Token{OwnerID: w.ID, OwnerName: w.Name, By: s.keyOf(who)}, d)
}

// RevokeWorkspaceToken ends an access token of a workspace.
func (s *Service) RevokeWorkspaceToken(ctx context.Context, who auth.User, handle, id string) error {
	w, _, err := s.workspace(ctx, who, handle, prompt.RoleAdministrator)
	if err != nil {
		return err
	}
	return s.revokeToken(ctx, w.ID, id, s.keyOf(who))
}
