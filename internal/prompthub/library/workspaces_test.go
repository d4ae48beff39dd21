package library_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// A shelf is a workspace with ann as administrator, a member of each role, and a private prompt.
type shelf struct {
	*timed
	t       *testing.T
	prompt  prompt.Prompt
	members map[prompt.Role]auth.User
}

func newShelf(t *testing.T) *shelf {
	s := &shelf{timed: newTimed(t), t: t, members: map[prompt.Role]auth.User{}}
	ctx, ann := t.Context(), auth.User{ID: "ann", Name: "Ann"}
	_, err := s.CreateWorkspace(ctx, ann, prompt.Profile{Handle: "shelf", Name: "Shelf"})
	require.NoError(t, err)
	for _, role := range prompt.Roles() {
		who := auth.User{ID: "the " + string(role), Name: string(role)}
		s.MakeKnown(ctx, who)
		_, err := s.PutMember(ctx, ann, "shelf", prompt.Person, s.AuthorKey(library.IDOf(who)), role)
		require.NoError(t, err)
		s.members[role] = who
	}
	as, err := s.In(ctx, ann, "shelf")
	require.NoError(t, err)
	v, _, err := s.Create(ctx, as, prompt.Draft{Title: "T", Name: "t", Text: "One.", Visibility: prompt.Private}, "")
	require.NoError(t, err)
	s.prompt = v.Prompt
	return s
}

// may returns what a caller may do with the prompt: "", or of r, w and p for reading, writing and
// publishing.
func (s *shelf) may(who auth.User) (may string) {
	ctx, t := s.t.Context(), s.t
	if _, err := s.Get(ctx, who, s.prompt.ID); err == nil {
		may += "r"
	} else {
		require.Equal(t, fault.NotFound, fault.Of(err))
	}
	text := "Two by " + who.ID + fmt.Sprint(s.Now().UnixNano())
	if _, err := s.Patch(ctx, who, s.prompt.ID, library.Match{Any: true}, func(d *prompt.Draft) {
		d.Text = text
	}); err == nil {
		may += "w"
	}
	show := func(to prompt.Visibility) error {
		_, err := s.Patch(ctx, who, s.prompt.ID, library.Match{Any: true}, func(d *prompt.Draft) { d.Visibility = to })
		return err
	}
	if show(prompt.Public) == nil {
		may += "p"
		require.NoError(t, show(prompt.Private))
	}
	v, err := s.Get(ctx, s.members[prompt.RoleAdministrator], s.prompt.ID)
	require.NoError(t, err)
	require.Equal(t, prompt.Private, v.Visibility)
	return may
}

// TestRoles: what each role may do, and what an access token leaves of it.
func TestRoles(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	for role, want := range map[prompt.Role]string{
		prompt.RoleReader: "r", prompt.RoleAuthor: "rw",
		prompt.RolePublisher: "rwp", prompt.RoleAdministrator: "rwp",
	} {
		who := s.members[role]
		require.Equal(t, want, s.may(who), role)
		for n := range 4 {
			who.Grant = &auth.Grant{TokenID: "t", Scopes: auth.Scopes()[:n]}
			require.Equal(t, want[:min(n, len(want))], s.may(who), "%s with a token for %v", role, who.Grant.Scopes)
			_, err := s.PutMember(t.Context(), who, "shelf", prompt.Person, library.Me, prompt.RoleAdministrator)
			require.Error(t, err, "an access token manages nothing")
		}
	}
	require.Empty(t, s.may(auth.User{ID: "eve", Name: "Eve"}))
	require.Empty(t, s.may(auth.User{}))
	require.Equal(t, "rw", s.may(s.cook(prompt.RoleAuthor)), "by a role of the directory")
	admin := s.members[prompt.RoleReader]
	admin.Roles = []string{"cooks"}
	require.Equal(t, "rw", s.may(admin), "the highest of two roles counts")
}

// TestGroups: a group of the directory is a member as a role is. Its people are led to the
// workspace, and those who left it read nothing.
func TestGroups(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	ctx, admin := t.Context(), s.members[prompt.RoleAdministrator]
	_, err := s.PutMember(ctx, admin, "shelf", prompt.InGroup, "6f1c1a4e-chefs", prompt.RolePublisher)
	require.NoError(t, err)
	chef := auth.User{ID: "chef", Name: "Chef", Groups: auth.GroupsOf([]string{"waiters", "6f1c1a4e-chefs"})}
	require.Equal(t, "rwp", s.may(chef))
	mine, err := s.Workspaces(ctx, chef)
	require.NoError(t, err)
	require.Len(t, mine, 1)
	require.Equal(t, prompt.RolePublisher, mine[0].Role)
	for name, who := range map[string]auth.User{
		"of another group": {
			ID: "chef", Name: "Chef",
			Groups: auth.GroupsOf([]string{"waiters", "6f1c1a4e-CHEFS", ""}),
		},
		"a role of the name":     {ID: "chef", Name: "Chef", Roles: []string{"6f1c1a4e-chefs"}},
		"a person of the name":   {ID: "6f1c1a4e-chefs", Name: "Chef"},
		"a stranger with groups": {Groups: chef.Groups},
	} {
		require.Empty(t, s.may(who), name)
	}
	require.NoError(t, s.RemoveMember(ctx, admin, "shelf", prompt.InGroup, "6f1c1a4e-chefs"))
	require.Empty(t, s.may(chef))
	_, err = s.PutMember(ctx, admin, "shelf", prompt.InGroup, "6f1c1a4e-chefs", prompt.RoleAdministrator)
	require.NoError(t, err)
	ann := auth.User{ID: "ann", Name: "Ann"}
	require.NoError(t, s.RemoveMember(ctx, ann, "shelf", prompt.Person, s.AuthorKey("ann")))
	last := s.RemoveMember(ctx, admin, "shelf", prompt.Person, library.Me)
	require.Equal(t, prompt.LastAdministrator, fault.CodeOf(last), "a group may be empty tomorrow")
}

// cook returns somebody with a role of the directory that has a role in the workspace.
func (s *shelf) cook(role prompt.Role) auth.User {
	_, err := s.PutMember(s.t.Context(), s.members[prompt.RoleAdministrator], "shelf", prompt.InRole, "cooks", role)
	require.NoError(s.t, err)
	return auth.User{ID: "cook", Name: "Cook", Roles: []string{"cooks"}}
}

// TestDeletedWorkspace: its members and tokens have no rights, until who was its administrator
// restores it.
func TestDeletedWorkspace(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	ctx, admin := t.Context(), s.members[prompt.RoleAdministrator]
	_, token, err := s.CreateWorkspaceToken(ctx, admin, "shelf", library.TokenDraft{Name: "CI", Scopes: auth.Scopes()})
	require.NoError(t, err)
	_, err = s.as(token, false)
	require.NoError(t, err)
	require.NoError(t, s.DeleteWorkspace(ctx, admin, "shelf"))
	s.pass(10 * time.Second)
	for role, who := range s.members {
		require.Empty(t, s.mayRead(who), role)
	}
	_, err = s.as(token, false)
	require.Equal(t, fault.Unauthenticated, fault.Of(err))
	_, err = s.RestoreWorkspace(ctx, s.members[prompt.RolePublisher], "shelf")
	require.Equal(t, fault.NotFound, fault.Of(err))
	_, err = s.RestoreWorkspace(ctx, admin, "shelf")
	require.NoError(t, err)
	for role, who := range s.members {
		require.Equal(t, "r", s.mayRead(who), role)
	}
	at, err := s.ErasedAt(ctx, auth.User{ID: string(s.prompt.AuthorID)})
	require.NoError(t, err)
	require.Zero(t, at)
	_, err = s.Patch(ctx, admin, s.prompt.ID, library.Match{Any: true}, func(d *prompt.Draft) {
		d.Visibility = prompt.Public
	})
	require.NoError(t, err)
	require.Equal(t, library.HasPublic, fault.CodeOf(s.DeleteWorkspace(ctx, admin, "shelf")))
}

func (s *shelf) mayRead(who auth.User) string {
	if _, err := s.Get(s.t.Context(), who, s.prompt.ID); err == nil {
		return "r"
	}
	return ""
}

// TestRemovedAdministrator: an administrator who was removed a moment ago manages nothing, though
// the instance that they ask still believes them one.
func TestRemovedAdministrator(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	ctx, bob, other := t.Context(), s.members[prompt.RoleAdministrator], s.instance(t)
	_, err := other.Workspace(ctx, bob, "shelf")
	require.NoError(t, err)
	require.NoError(t, s.RemoveMember(ctx, auth.User{ID: "ann", Name: "Ann"}, "shelf", prompt.Person,
		s.AuthorKey(library.IDOf(bob))))
	_, err = other.Workspace(ctx, bob, "shelf")
	require.NoError(t, err, "it is believed")
	_, err = other.PutMember(ctx, bob, "shelf", prompt.Person, library.Me, prompt.RoleAdministrator)
	require.Equal(t, fault.NotFound, fault.Of(err))
	_, _, err = other.CreateWorkspaceToken(ctx, bob, "shelf", library.TokenDraft{Name: "CI", Scopes: auth.Scopes()})
	require.Equal(t, fault.NotFound, fault.Of(err))
	require.Equal(t, fault.NotFound, fault.Of(other.DeleteWorkspace(ctx, bob, "shelf")))
}

// TestMembersInPages: pages of any size have each member once, people first.
func TestMembersInPages(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.cook(prompt.RoleReader)
	_, err := s.PutMember(t.Context(), s.members[prompt.RoleAdministrator], "shelf", prompt.InGroup,
		"a group", prompt.RoleReader)
	require.NoError(t, err)
	var want []library.Member
	for limit := 1; limit < 8; limit++ {
		var all []library.Member
		for cursor := ""; ; {
			page, next, err := s.Members(t.Context(), s.members[prompt.RoleReader], "shelf", limit, cursor)
			require.NoError(t, err)
			all = append(all, page...)
			if cursor = next; next == "" {
				break
			}
		}
		require.Len(t, all, 7)
		require.Equal(t, []prompt.MemberKind{prompt.InGroup, prompt.InRole},
			[]prompt.MemberKind{all[5].Kind, all[6].Kind})
		if want == nil {
			want = all
		}
		require.Equal(t, want, all)
	}
}

// TestRestoredTooLate: after its days a workspace is being erased, and is not brought back.
func TestRestoredTooLate(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	admin := s.members[prompt.RoleAdministrator]
	require.NoError(t, s.DeleteWorkspace(t.Context(), admin, "shelf"))
	s.pass(30 * 24 * time.Hour)
	_, err := s.RestoreWorkspace(t.Context(), admin, "shelf")
	require.Equal(t, fault.NotFound, fault.Of(err))
}

// TestHandlesTellNothing: the handle of a workspace without public prompts is as one that is free,
// to all but its members; with one it is an author's as any other.
func TestHandlesTellNothing(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	ctx, eve := t.Context(), auth.User{ID: "eve", Name: "Eve"}
	for _, who := range []auth.User{eve, {}} {
		_, hidden := s.UserByHandle(ctx, who, "shelf")
		_, free := s.UserByHandle(ctx, who, "nothing")
		require.Equal(t, free, hidden)
		_, hidden = s.ByAuthor(ctx, who, library.AuthorSearch{Handle: "shelf", Limit: 1})
		require.Equal(t, free, hidden)
		_, hidden = s.Lookup(ctx, who, prompt.Ref{Owner: "shelf", Name: "t"})
		require.Equal(t, free, hidden)
	}
	_, err := s.UserByHandle(ctx, s.members[prompt.RoleReader], "shelf")
	require.NoError(t, err)
	_, err = s.Patch(ctx, s.members[prompt.RolePublisher], s.prompt.ID, library.Match{Any: true},
		func(d *prompt.Draft) { d.Visibility = prompt.Public })
	require.NoError(t, err)
	u, err := s.UserByHandle(ctx, eve, "shelf")
	require.NoError(t, err)
	require.Equal(t, "Shelf", u.Name)
	_, err = s.AsAccount(ctx, auth.User{ID: string(s.prompt.AuthorID)})
	require.Equal(t, fault.Unauthenticated, fault.Of(err), "no user signs in as a workspace")
}

// TestKeysOfMembers: a member's request that comes again makes nothing twice, and another member
// may use the same key.
func TestKeysOfMembers(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	made := map[prompt.ID]bool{}
	for range 2 {
		for _, role := range []prompt.Role{prompt.RoleAuthor, prompt.RolePublisher} {
			as, err := s.In(t.Context(), s.members[role], "shelf")
			require.NoError(t, err)
			v, isNew, err := s.Create(t.Context(), as,
				prompt.Draft{Title: string(role), Text: "x", Visibility: prompt.Private}, "key")
			require.NoError(t, err)
			require.Equal(t, !made[v.ID], isNew)
			made[v.ID] = true
			s.pass(time.Second)
		}
	}
	require.Len(t, made, 2)
}

// TestModeratorsAreNotNamed: the rows of a workspace hold no id of the moderator who hid a prompt.
func TestModeratorsAreNotNamed(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	_, err := s.Patch(t.Context(), s.members[prompt.RolePublisher], s.prompt.ID, library.Match{Any: true},
		func(d *prompt.Draft) { d.Visibility = prompt.Public })
	require.NoError(t, err)
	mod := auth.User{ID: "moderator", Name: "M", Roles: []string{auth.RoleAdmin}}
	require.NoError(t, s.Hide(t.Context(), mod, s.prompt.ID, "why"))
	v, err := s.Get(t.Context(), s.members[prompt.RoleReader], s.prompt.ID)
	require.NoError(t, err)
	require.Equal(t, "why", v.HiddenReason)
	require.Equal(t, s.AuthorKey("moderator"), string(v.HiddenBy))
}

// TestWhoWrote: versions and moves of labels name the person by the key, also after another member
// has written; what a token of the workspace did has the name of the token.
func TestWhoWrote(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	ctx := t.Context()
	author, publisher := s.members[prompt.RoleAuthor], s.members[prompt.RolePublisher]
	_, err := s.Patch(ctx, author, s.prompt.ID, library.Match{Any: true}, func(d *prompt.Draft) { d.Text = "Two." })
	require.NoError(t, err)
	_, err = s.Patch(ctx, publisher, s.prompt.ID, library.Match{Any: true}, func(d *prompt.Draft) {
		d.OwnTags, d.Labels = []string{"x"}, []string{"staging"}
	})
	require.NoError(t, err)
	require.NoError(t, s.SetLabel(ctx, author, s.prompt.ID, "staging", 1))
	made, token, err := s.CreateWorkspaceToken(ctx, s.members[prompt.RoleAdministrator], "shelf",
		library.TokenDraft{Name: "CI", Scopes: auth.Scopes()})
	require.NoError(t, err)
	ci, err := s.as(token, false)
	require.NoError(t, err)
	_, err = s.SaveNamed(ctx, ci,
		library.NamedDraft{Name: "t", Content: prompt.Content{Text: "Three."}, Labels: []string{"staging"}})
	require.NoError(t, err)

	key := func(who auth.User) string { return s.AuthorKey(library.IDOf(who)) }
	h, err := s.Versions(ctx, author, s.prompt.ID, 10, "")
	require.NoError(t, err)
	var by []string
	for _, v := range h.Items {
		by = append(by, s.KeyOf(h.AuthorID, v.By))
	}
	require.Equal(t, []string{"t_" + made.ID, key(author), s.AuthorKey("ann")}, by)
	moves, err := s.LabelHistory(ctx, author, s.prompt.ID, "staging", 10, "")
	require.NoError(t, err)
	by = nil
	for _, m := range moves.Items {
		by = append(by, s.KeyOf(moves.Owner, m.By))
	}
	require.Equal(t, []string{"t_" + made.ID, key(author), key(publisher)}, by)
	require.NoError(t, s.UndoLabel(ctx, publisher, s.prompt.ID, "staging", ""))
	moves, err = s.LabelHistory(ctx, author, s.prompt.ID, "staging", 1, "")
	require.NoError(t, err)
	require.Equal(t, key(publisher), s.KeyOf(moves.Owner, moves.Items[0].Undone.By))
}
