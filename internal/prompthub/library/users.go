package library

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

// Me names the caller where a handle is asked for.
const Me = "me"

// A User is a user as everyone may see him.
type User struct {
	Key string // stands for the user where the id must not be told
	prompt.Profile
}

// IDOf returns the id by which prompts and votes know a caller, "" for an anonymous one.
func IDOf(who auth.User) prompt.UserID { return prompt.UserID(who.ID) }

// AsAccount returns a caller with the id of his account, which is not the one that he signed in
// with if an operator moved him. Every door calls it for a caller that it lets in. An access token
// has the id of the account already. On an error the caller is as he was.
func (s *Service) AsAccount(ctx context.Context, who auth.User) (auth.User, error) {
	if !who.Known() || who.Grant != nil {
		return who, nil
	}
	if prompt.LooksLikeWorkspace(who.ID) {
		return auth.User{}, fault.New(fault.Unauthenticated,
			"no user may have an id that begins with w:, as those of workspaces do; sign in as another one")
	}
	id, err := s.db.AccountOf(ctx, IDOf(who))
	if err == nil {
		who.ID = string(id)
	}
	return who, err
}

// MakeKnown has a handle and a key lead to the caller, after the answer: others can name them then.
func (s *Service) MakeKnown(ctx context.Context, who auth.User) {
	s.db.TouchUser(ctx, IDOf(who), who.Name)
}

// LearnAuthorKeys readies AuthorKey. Every door calls it before it answers a caller that it lets
// in.
func (s *Service) LearnAuthorKeys(ctx context.Context) error { return s.db.LearnAuthorKeys(ctx) }

// AuthorKey returns the key that stands for a user in public, and is empty before LearnAuthorKeys.
func (s *Service) AuthorKey(user prompt.UserID) string { return s.db.AuthorKey(user) }

func errNobody() error {
	return fault.New(fault.NotFound,
		"there is no such user: name one by the handle of their profile, or by the key of an author (a_…)")
}

// Profile returns what others see of the caller.
func (s *Service) Profile(ctx context.Context, who auth.User) (User, error) {
	p, err := s.db.Profile(ctx, IDOf(who))
	if err != nil {
		return User{}, err
	}
	p.Name = cmp.Or(p.Name, who.Name)
	return User{Key: s.AuthorKey(IDOf(who)), Profile: p}, nil
}

// PutProfile changes what others see of the caller. A handle is chosen once: no handle leaves the
// one there is, and one is Invalid where another was chosen.
func (s *Service) PutProfile(ctx context.Context, who auth.User, p prompt.Profile) (User, error) {
	if err := Needs(who, auth.ScopePublish); err != nil {
		return User{}, err
	}
	if err := isPerson(who); err != nil {
		return User{}, err
	}
	p, err := p.Check()
	if err != nil {
		return User{}, err
	}
	p.Name = cmp.Or(p.Name, who.Name)
	p, err = s.db.PutProfile(ctx, IDOf(who), p)
	return User{Key: s.AuthorKey(IDOf(who)), Profile: p}, err
}

// OwnerID returns the id of the user that a handle, a key or Me names.
func (s *Service) OwnerID(ctx context.Context, who auth.User, handle string) (prompt.UserID, error) {
	if handle == Me {
		if !who.Known() {
			return "", fault.New(fault.Unauthenticated, "sign in to use this")
		}
		return IDOf(who), nil
	}
	if !prompt.NamesUser(handle) {
		return "", errNobody()
	}
	id, err := s.db.UserID(ctx, handle)
	if err == nil && prompt.IsWorkspace(id) {
		var known bool
		if known, err = s.knows(ctx, who, id); err == nil && !known {
			id = ""
		}
	}
	if err == nil && id == "" {
		err = errNobody()
	}
	return id, err
}

// knows reports whether a caller may know of a workspace: its members may, and everybody if it has
// public prompts or collections.
func (s *Service) knows(ctx context.Context, who auth.User, id prompt.UserID) (bool, error) {
	m, err := s.db.Workspace(ctx, id)
	if err != nil || s.role(who, m) != "" {
		return err == nil, err
	}
	return s.hasPublic(ctx, id)
}

// hasPublic reports whether a workspace shows a prompt or a collection to everybody. A request sees
// some thousand of the prompts that an owner may have, so a few may be needed.
func (s *Service) hasPublic(ctx context.Context, id prompt.UserID) (bool, error) {
	for after := ""; ; {
		public, err := s.db.ByAuthor(ctx, id, Filter{}, after, 1)
		if err != nil || len(public.Items) > 0 {
			return err == nil, err
		}
		if after = public.After; after == "" {
			break
		}
	}
	collections, err := s.db.Collections(ctx, id)
	return slices.ContainsFunc(collections, func(c prompt.Collection) bool {
		return c.Visibility == prompt.Public
	}), err
}

// isPerson refuses an access token of a workspace where a person is meant.
func isPerson(who auth.User) error {
	if prompt.IsWorkspace(IDOf(who)) {
		return fault.New(fault.Forbidden, "a workspace has no votes, favorites and profile; do this as a person")
	}
	return nil
}

// UserByHandle returns a user by his handle or key.
func (s *Service) UserByHandle(ctx context.Context, who auth.User, handle string) (User, error) {
	_, u, err := s.userAt(ctx, who, handle)
	return u, err
}

// userAt is UserByHandle, and returns the id of the user.
func (s *Service) userAt(ctx context.Context, who auth.User, handle string) (prompt.UserID, User, error) {
	id, err := s.OwnerID(ctx, who, handle)
	if err != nil {
		return "", User{}, err
	}
	u, err := s.OwnerOf(ctx, id, handle)
	if err != nil {
		return "", User{}, err
	}
	return id, u, nil
}

// An AuthorSearch says which public prompts of a user are wanted.
type AuthorSearch struct {
	Handle string       // his handle or key, or Me
	Tags   []prompt.Tag // all of them
	Words  prompt.Query // each in the title or in the text, and what else it asks for
	Titles bool         // all words in the title
	Limit  int
	Cursor string
}

// authorOf returns the user that author: in a query leads to by a handle, a key or Me, "" if there
// is none. Then it is a name.
func (s *Service) authorOf(ctx context.Context, who auth.User, q prompt.Query) (prompt.UserID, error) {
	handle := strings.ToLower(strings.TrimPrefix(q.Author(), "@"))
	if handle == Me && !who.Known() || !prompt.NamesUser(handle) {
		return "", nil
	}
	id, err := s.OwnerID(ctx, who, handle)
	if err == nil {
		_, err = s.UserByHandle(ctx, who, handle) // a handle that was reserved and is not shown
	}
	if fault.Of(err) == fault.NotFound {
		return "", nil
	}
	return id, err
}

// ByAuthor returns public prompts of a user, the newest first.
func (s *Service) ByAuthor(ctx context.Context, who auth.User, q AuthorSearch) (Page, error) {
	author, err := s.OwnerID(ctx, who, q.Handle)
	if err != nil {
		return Page{}, err
	}
	scope := fmt.Sprintf("author %q", author)
	f := Filter{Tags: q.Tags, Words: q.Words, Titles: q.Titles}
	if f.Author, err = s.authorOf(ctx, who, q.Words); err != nil {
		return Page{}, err
	}
	// without, it is what cursors in use were sealed for
	if len(q.Tags) > 0 || !q.Words.Empty() || q.Words.Qualified() {
		scope += " " + Search{Tags: q.Tags, Words: q.Words}.scope() + inTexts(f)
	}
	return s.page(ctx, who, scope, q.Cursor, func(after string) (promptdb.Page, error) {
		if q.Words.Nothing() {
			return promptdb.Page{}, nil
		}
		return s.db.ByAuthor(ctx, author, f, after, q.Limit)
	})
}
