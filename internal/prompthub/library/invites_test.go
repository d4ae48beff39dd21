package library_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/http/auth/attempts"
	"prompthub/internal/http/auth/password"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

const aPassword = "correct horse battery"

// invited returns a shelf where people have passwords, and the first administrator of the site.
func invited(t *testing.T) (*shelf, auth.User) {
	s := newShelf(t)
	sleep := func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	s.Service = s.WithPasswords(library.NewPasswords(password.NewTestHasher(), s.Now, sleep))
	secret, err := s.AdminInvite(t.Context(), false)
	require.NoError(t, err)
	return s, s.join(secret, "chief")
}

// join makes an account by an invitation.
func (s *shelf) join(secret, handle string) auth.User {
	s.t.Helper()
	got, err := s.AcceptInvite(s.t.Context(), auth.User{}, secret,
		library.NewPerson{Handle: handle, Password: aPassword}, library.Asker{})
	require.NoError(s.t, err)
	require.Equal(s.t, handle, got.Handle)
	who, err := s.Session(s.t.Context(), got.Session)
	require.NoError(s.t, err)
	return who
}

// invite makes an invitation to the shelf.
func (s *shelf) invite(role prompt.Role, uses int) (id, secret string) {
	s.t.Helper()
	i, secret, err := s.CreateInvite(s.t.Context(), s.members[prompt.RoleAdministrator], library.WantedInvite{
		Offers: []library.WantedOffer{{Workspace: "shelf", Role: role}}, Uses: uses, Days: 7,
	})
	require.NoError(s.t, err)
	return i.ID, secret
}

// inviteByAdmin makes an invitation of an admin of the site to the shelf, as its administrator.
func (s *shelf) inviteByAdmin(root auth.User, role prompt.Role, uses int) (secret string) {
	s.t.Helper()
	ann := s.members[prompt.RoleAdministrator]
	_, err := s.PutMember(s.t.Context(), ann, "shelf", prompt.Person,
		s.AuthorKey(library.IDOf(root)), prompt.RoleAdministrator)
	require.NoError(s.t, err)
	offer := library.WantedOffer{Workspace: "shelf", Role: role}
	_, secret, err = s.CreateInvite(s.t.Context(), root,
		library.WantedInvite{Offers: []library.WantedOffer{offer}, Uses: uses, Days: 7})
	require.NoError(s.t, err)
	return secret
}

// accept returns the code of what the caller is told who accepts an invitation.
func (s *shelf) accept(who auth.User, secret string) fault.Code {
	_, err := s.AcceptInvite(s.t.Context(), who, secret, library.NewPerson{}, library.Asker{})
	return fault.CodeOf(err)
}

func (s *shelf) uses(id string) int {
	s.t.Helper()
	all, err := s.ListInvites(s.t.Context(), s.members[prompt.RoleAdministrator], "shelf")
	require.NoError(s.t, err)
	for _, i := range all {
		if i.ID == id {
			return i.Left()
		}
	}
	return -1
}

// TestInvites: an invitation gives its role once to each person that accepts it, until it ends.
func TestInvites(t *testing.T) {
	t.Parallel()
	s := newShelf(t) // where people sign in otherwise
	admin, bob, eve := s.members[prompt.RoleAdministrator], auth.User{ID: "bob", Name: "Bob"},
		auth.User{ID: "eve", Name: "Eve"}
	id, secret := s.invite(prompt.RoleAuthor, 2)
	require.Empty(t, s.may(bob))
	require.Empty(t, s.accept(bob, secret))
	require.Equal(t, "rw", s.may(bob))
	require.Equal(t, 1, s.uses(id))

	require.Equal(t, prompt.AlreadyMember, s.accept(bob, secret), "a member uses nothing up")
	require.Equal(t, prompt.AlreadyMember, s.accept(admin, secret))
	require.Equal(t, 1, s.uses(id))
	require.Equal(t, prompt.RoleAdministrator, s.roleOf(admin), "a role that one has stays")

	// a member who was removed does not come back by the same use
	require.NoError(t, s.RemoveMember(t.Context(), admin, "shelf", prompt.Person, s.AuthorKey("bob")))
	require.Equal(t, prompt.InviteUsed, s.accept(bob, secret))
	require.Empty(t, s.accept(eve, secret))
	require.Equal(t, prompt.InviteUsed, s.accept(auth.User{ID: "dan"}, secret))

	_, late := s.invite(prompt.RoleReader, 1)
	s.pass(7*24*time.Hour - time.Second)
	require.Empty(t, s.accept(auth.User{ID: "dan", Name: "Dan"}, late))
	_, late = s.invite(prompt.RoleReader, 1)
	s.pass(7 * 24 * time.Hour)
	require.Equal(t, prompt.InviteExpired, s.accept(auth.User{ID: "fay"}, late))

	id, secret = s.invite(prompt.RoleReader, 1)
	require.Equal(t, prompt.NoSuchInvite, fault.CodeOf(s.RemoveInvite(t.Context(), eve, id)),
		"a stranger does not see it")
	require.NoError(t, s.RemoveInvite(t.Context(), admin, id))
	require.Equal(t, prompt.NoSuchInvite, s.accept(auth.User{ID: "fay"}, secret))
	require.Equal(t, -1, s.uses(id))

	for _, bad := range []string{
		"", "x", "phi_", secret[:len(secret)-1], secret + "a",
		"phi_aaaaaaaaaaaaaaaa_" + secret[21:],
	} {
		require.Equal(t, prompt.NoSuchInvite, s.accept(auth.User{ID: "fay"}, bad), bad)
	}
	require.Equal(t, fault.Unauthenticated, fault.Of(func() error {
		_, err := s.AcceptInvite(t.Context(), auth.User{}, secret, library.NewPerson{Handle: "x", Password: aPassword},
			library.Asker{})
		return err
	}()), "an account is the provider's to make")
}

func (s *shelf) roleOf(who auth.User) prompt.Role {
	w, err := s.Workspace(s.t.Context(), who, "shelf")
	require.NoError(s.t, err)
	return w.Role
}

// TestInvitesThatAreVoid: an invitation ends with its workspace, and with the rights of its maker.
func TestInvitesThatAreVoid(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	ctx, ann, maker := t.Context(), auth.User{ID: "ann", Name: "Ann"}, s.members[prompt.RoleAdministrator]
	id, secret := s.invite(prompt.RoleAuthor, 1)
	_, err := s.PutMember(ctx, ann, "shelf", prompt.Person, s.AuthorKey(library.IDOf(maker)), prompt.RolePublisher)
	require.NoError(t, err)
	require.Equal(t, prompt.InviteVoid, s.accept(auth.User{ID: "bob", Name: "Bob"}, secret))
	require.Empty(t, s.may(auth.User{ID: "bob"}))
	_, err = s.PutMember(ctx, ann, "shelf", prompt.Person, s.AuthorKey(library.IDOf(maker)), prompt.RoleAdministrator)
	require.NoError(t, err)
	require.Equal(t, 1, s.uses(id), "nothing was used up")

	require.NoError(t, s.DeleteWorkspace(ctx, ann, "shelf"))
	require.Equal(t, prompt.InviteVoid, s.accept(auth.User{ID: "bob", Name: "Bob"}, secret))
	_, err = s.RestoreWorkspace(ctx, ann, "shelf")
	require.NoError(t, err)
	require.Empty(t, s.accept(auth.User{ID: "bob", Name: "Bob"}, secret))

	// by a role of the directory, which may lose its role here
	cook := s.cook(prompt.RoleAdministrator)
	_, secret, err = s.CreateInvite(ctx, cook,
		library.WantedInvite{
			Offers: []library.WantedOffer{{Workspace: "shelf", Role: prompt.RoleReader}},
			Uses:   2, Days: 1,
		})
	require.NoError(t, err)
	require.Empty(t, s.accept(auth.User{ID: "dan", Name: "Dan"}, secret))
	s.cook(prompt.RoleAuthor)
	require.Equal(t, prompt.InviteVoid, s.accept(auth.User{ID: "eve", Name: "Eve"}, secret))
}

// TestWhoMayInvite: administrators of each workspace, admins to an account, and no access token.
func TestWhoMayInvite(t *testing.T) {
	t.Parallel()
	s, root := invited(t)
	to := func(handles ...string) (w library.WantedInvite) {
		for _, h := range handles {
			w.Offers = append(w.Offers, library.WantedOffer{Workspace: h, Role: prompt.RoleReader})
		}
		w.Uses, w.Days = 1, 7
		return w
	}
	kind := func(who auth.User, w library.WantedInvite) fault.Kind {
		_, _, err := s.CreateInvite(t.Context(), who, w)
		return fault.Of(err)
	}
	for role, who := range s.members {
		want := fault.Forbidden
		if role == prompt.RoleAdministrator {
			want = 0
		}
		require.Equal(t, want, kind(who, to("shelf")), role)
		require.Equal(t, fault.Forbidden, kind(who, to()), "an account is for admins to give")
		who.Grant = &auth.Grant{Scopes: auth.Scopes()}
		require.Equal(t, fault.Forbidden, kind(who, to("shelf")))
	}
	require.Zero(t, kind(root, to()))
	require.Equal(t, fault.NotFound, kind(root, to("shelf")), "an admin of the site is no member")
	require.Equal(t, fault.NotFound, kind(s.members[prompt.RoleAdministrator], to("shelf", "no-such")))
	require.Equal(t, fault.Invalid, kind(s.members[prompt.RoleAdministrator], to("shelf", "shelf")))
	for _, bad := range []library.WantedInvite{
		{Uses: 0, Days: 1},
		{Uses: 11, Days: 1},
		{Uses: 1, Days: 0},
		{Uses: 1, Days: 31},
	} {
		require.Equal(t, fault.Invalid, kind(root, bad))
	}
	admin := to("shelf")
	admin.Admin = true
	require.Equal(t, fault.Forbidden, kind(s.members[prompt.RoleAdministrator], admin))
	many := to()
	for range prompt.MaxInvites - 1 {
		require.Zero(t, kind(root, many))
	}
	require.Equal(t, fault.Conflict, kind(root, many))
	s.pass(15 * 24 * time.Hour)
	require.Zero(t, kind(root, many), "those that ended long ago make room")
	all, err := s.ListInvites(t.Context(), root, "")
	require.NoError(t, err)
	require.LessOrEqual(t, len(all), 2, "and the first")
}

// TestWhoGivesAccounts: an account is by an invitation of an admin of the site; those of others are
// for people who are there. Admins see all that are open, and withdraw them.
func TestWhoGivesAccounts(t *testing.T) {
	t.Parallel()
	s, root := invited(t)
	ctx := t.Context()
	stranger := library.NewPerson{Handle: "stranger", Password: aPassword}
	join := func(secret string) fault.Code {
		_, err := s.AcceptInvite(ctx, auth.User{}, secret, stranger, library.Asker{})
		return fault.CodeOf(err)
	}
	bob := s.join(s.inviteByAdmin(root, prompt.RoleAdministrator, 1), "bob")
	made, secret, err := s.CreateInvite(ctx, bob,
		library.WantedInvite{
			Offers: []library.WantedOffer{{Workspace: "shelf", Role: prompt.RoleReader}},
			Uses:   2, Days: 1,
		})
	require.NoError(t, err)
	require.Equal(t, prompt.NeedsAccount, join(secret))
	opened, err := s.OpenInvite(ctx, secret)
	require.NoError(t, err)
	require.False(t, opened.ForNew)
	require.Equal(t, 2, opened.Left(), "nothing was used up")

	_, account, err := s.CreateInvite(ctx, root, library.WantedInvite{Uses: 1, Days: 1})
	require.NoError(t, err)
	opened, err = s.OpenInvite(ctx, account)
	require.NoError(t, err)
	require.True(t, opened.ForNew)
	who := s.join(account, "stranger") // the handle is not lost
	require.Empty(t, s.accept(who, secret))

	ids := func(who auth.User) (ids []string) {
		all, err := s.ListInvites(ctx, who, "")
		require.NoError(t, err)
		for _, i := range all {
			ids = append(ids, i.ID)
		}
		return ids
	}
	require.Contains(t, ids(root), made.ID)
	require.Empty(t, ids(who))
	require.Equal(t, prompt.NoSuchInvite, fault.CodeOf(s.RemoveInvite(ctx, who, made.ID)))
	require.NoError(t, s.RemoveInvite(ctx, root, made.ID))
	require.NotContains(t, ids(root), made.ID)
	require.Equal(t, prompt.NoSuchInvite, s.accept(auth.User{ID: "dan", Name: "Dan"}, secret))
}

// TestLastUse: of many who accept at once, as many get in as there are uses.
func TestLastUse(t *testing.T) {
	t.Parallel()
	s, root := invited(t)
	secret := s.inviteByAdmin(root, prompt.RoleReader, 3)
	var in atomic.Int32
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			who, p := auth.User{ID: "user " + string(rune('a'+i)), Name: "U"}, library.NewPerson{}
			if i%2 == 0 {
				who, p = auth.User{}, library.NewPerson{Handle: "new-" + string(rune('a'+i)), Password: aPassword}
			}
			for {
				_, err := s.AcceptInvite(t.Context(), who, secret, p, library.Asker{})
				if fault.Of(err) == fault.Unavailable {
					continue // others were faster, and there may be a use left
				}
				if err == nil {
					in.Add(1)
				} else if fault.CodeOf(err) != prompt.InviteUsed {
					t.Error(err)
				}
				return
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 3, in.Load())
	members, _, err := s.Members(t.Context(), s.members[prompt.RoleAdministrator], "shelf", 50, "")
	require.NoError(t, err)
	require.Len(t, members, 1+4+1+3)
}

// TestPasswords: accounts by invitations, sign-in, sign-out, and a new password.
func TestPasswords(t *testing.T) {
	t.Parallel()
	s, root := invited(t)
	ctx := t.Context()
	require.True(t, root.Admin())
	none, err := s.AdminInvite(ctx, false)
	require.NoError(t, err)
	require.Empty(t, none, "there is an administrator")
	secret := s.inviteByAdmin(root, prompt.RoleAuthor, 2)
	bob := s.join(secret, "bob")
	require.False(t, bob.Admin())
	require.Equal(t, "rw", s.may(bob))
	_, err = s.AcceptInvite(ctx, auth.User{}, secret, library.NewPerson{Handle: "bob", Password: "another password"},
		library.Asker{})
	require.Equal(t, []fault.Field{
		{Name: "handle", Message: "choose another handle: somebody has this one", Value: "bob"},
	}, fields(err))
	for _, p := range []library.NewPerson{
		{Handle: "b ob", Password: aPassword},
		{Handle: "carl", Password: "short"},
		{Handle: "carl", Password: "aaaaaaaaaaaaaa"},
		{Handle: "carlotta", Password: "carlotta and more"},
		{Password: aPassword},
		{Handle: "shelf", Password: aPassword},
	} {
		_, err = s.AcceptInvite(ctx, auth.User{}, secret, p, library.Asker{})
		require.Equal(t, fault.Invalid, fault.Of(err), "%+v", p)
	}

	token, err := s.SignIn(ctx, " @BOB ", aPassword, library.Asker{})
	require.NoError(t, err)
	who, err := s.Session(ctx, token)
	require.NoError(t, err)
	require.Equal(t, bob, who)
	for _, bad := range [][2]string{
		{"bob", "wrong"},
		{"nobody", aPassword},
		{"shelf", aPassword},
		{"", ""},
		{"a_x", aPassword},
	} {
		_, err := s.SignIn(ctx, bad[0], bad[1], library.Asker{})
		require.Equal(t, library.WrongSignIn, fault.CodeOf(err), bad)
	}
	require.NoError(t, s.SignOut(ctx, token))
	_, err = s.Session(ctx, token)
	require.Equal(t, library.SessionEnded, fault.CodeOf(err))
	require.NoError(t, s.SignOut(ctx, token), "as often as one likes")

	token, err = s.SignIn(ctx, "bob", aPassword, library.Asker{})
	require.NoError(t, err)
	_, _, err = s.ResetPassword(ctx, bob, "bob")
	require.Equal(t, fault.Forbidden, fault.Of(err))
	_, _, err = s.ResetPassword(ctx, root, "ann")
	require.Equal(t, fault.NotFound, fault.Of(err))
	reset, _, err := s.ResetPassword(ctx, root, "bob")
	require.NoError(t, err)
	_, err = s.Session(ctx, reset)
	require.Error(t, err, "it is no session")
	require.Equal(t, library.NoSuchReset, fault.CodeOf(s.reset(ctx, token, "a new password", library.Asker{})))
	_, _, err = s.CreateToken(ctx, bob, library.TokenDraft{Name: "CI", Scopes: auth.Scopes()})
	require.NoError(t, err)
	require.Equal(t, fault.Invalid, fault.Of(s.reset(ctx, reset, "xyBOB-1234567", library.Asker{})),
		"the handle, as in another place")
	require.NoError(t, s.reset(ctx, "https://x.example/app/reset#"+reset+" ", "a new password", library.Asker{}))
	tokens, err := s.Tokens(ctx, bob, "")
	require.NoError(t, err)
	require.Empty(t, tokens, "whoever had the password may have made one")
	require.Equal(t, library.NoSuchReset, fault.CodeOf(s.reset(ctx, reset, "a third password", library.Asker{})),
		"it is good once")
	_, err = s.Session(ctx, token)
	require.Equal(t, library.SessionEnded, fault.CodeOf(err))
	_, err = s.SignIn(ctx, "bob", aPassword, library.Asker{})
	require.Equal(t, library.WrongSignIn, fault.CodeOf(err))
	token, err = s.SignIn(ctx, "bob", "a new password", library.Asker{})
	require.NoError(t, err)
	_, err = s.Session(ctx, token)
	require.NoError(t, err)
	reset, _, err = s.ResetPassword(ctx, root, "bob")
	require.NoError(t, err)
	s.pass(time.Hour)
	require.Equal(t, library.NoSuchReset, fault.CodeOf(s.reset(ctx, reset, "a third password", library.Asker{})))
	s.pass(31 * 24 * time.Hour)
	_, err = s.Session(ctx, token)
	require.Equal(t, library.SessionEnded, fault.CodeOf(err))
}

// reset sets a new password by a link.
func (s *shelf) reset(ctx context.Context, secret, pass string, by library.Asker) error {
	_, err := s.AcceptReset(ctx, secret, pass, by)
	return err
}

// TestResetEndsLockOut: somebody who forgot a password has tried some, and signs in at once with
// the new one.
func TestResetEndsLockOut(t *testing.T) {
	t.Parallel()
	s, root := invited(t)
	ctx := t.Context()
	s.join(s.inviteByAdmin(root, prompt.RoleAuthor, 1), "bob")
	by := library.Asker{From: attempts.From{Site: "192.0.2.1"}}
	for range attempts.Most {
		_, err := s.SignIn(ctx, "bob", "a wrong password", by)
		require.Equal(t, library.WrongSignIn, fault.CodeOf(err))
	}
	_, err := s.SignIn(ctx, "bob", aPassword, by)
	require.Equal(t, fault.Limited, fault.Of(err))
	reset, _, err := s.ResetPassword(ctx, root, "bob")
	require.NoError(t, err)
	require.NoError(t, s.reset(ctx, reset, "a new password", by))
	_, err = s.SignIn(ctx, "bob", "a new password", by)
	require.NoError(t, err)
}

// TestChangesEndLogins: a new password ends the sessions before it, however short ago it was set,
// and sign-ins of command lines that they had allowed. Those after it work at once.
func TestChangesEndLogins(t *testing.T) {
	t.Parallel()
	s, root := invited(t)
	ctx := t.Context()
	bob := s.join(s.inviteByAdmin(root, prompt.RoleAuthor, 1), "bob")
	sum := sha256.Sum256([]byte("secret"))
	allow := func() string {
		code, err := s.AllowLogin(ctx, bob, "laptop", hex.EncodeToString(sum[:]))
		require.NoError(t, err)
		return code
	}
	code := allow()
	reset, _, err := s.ResetPassword(ctx, root, "bob")
	require.NoError(t, err)
	require.NoError(t, s.reset(ctx, reset, "a new password", library.Asker{}))
	_, _, err = s.TakeLogin(ctx, code, "secret", false)
	require.Equal(t, library.NoSuchLogin, fault.CodeOf(err))
	_, _, err = s.TakeLogin(ctx, allow(), "secret", false)
	require.NoError(t, err)
	var before string
	for i, pass := range []string{"a new password", "a third password", "a fourth password"} {
		token, err := s.ChangePassword(ctx, bob, pass,
			[]string{"a third password", "a fourth password", "a fifth password"}[i], library.Asker{})
		require.NoError(t, err)
		_, err = s.Session(ctx, token)
		require.NoError(t, err)
		if before != "" {
			_, err = s.Session(ctx, before)
			require.Equal(t, library.SessionEnded, fault.CodeOf(err))
		}
		before = token
	}
}

// TestSessionsElsewhere: a session that ended on another instance is believed for 8 s, and no
// longer.
func TestSessionsElsewhere(t *testing.T) {
	t.Parallel()
	s, root := invited(t)
	ctx := t.Context()
	s.join(s.inviteByAdmin(root, prompt.RoleAuthor, 1), "bob")
	token, err := s.SignIn(ctx, "bob", aPassword, library.Asker{})
	require.NoError(t, err)
	_, err = s.Session(ctx, token)
	require.NoError(t, err)
	sleep := func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	other := s.WithPasswords(library.NewPasswords(password.NewTestHasher(), s.Now, sleep))
	require.NoError(t, other.SignOut(ctx, token))
	_, err = other.Session(ctx, token)
	require.Equal(t, library.SessionEnded, fault.CodeOf(err))
	s.pass(8 * time.Second)
	_, err = s.Session(ctx, token)
	require.Equal(t, library.SessionEnded, fault.CodeOf(err))
}

func fields(err error) []fault.Field {
	if f := (*fault.Error)(nil); errors.As(err, &f) {
		return f.Fields
	}
	return nil
}

// TestFirstLink: each start makes a new link of the first administrator, and the one before is
// dead, until there is one.
func TestFirstLink(t *testing.T) {
	t.Parallel()
	fresh := newShelf(t)
	fresh.Service = fresh.WithPasswords(
		library.NewPasswords(password.NewTestHasher(), fresh.Now, func(ctx context.Context, _ time.Duration) error {
			return ctx.Err()
		}))
	ctx := t.Context()
	first, err := fresh.AdminInvite(ctx, false)
	require.NoError(t, err)
	second, err := fresh.AdminInvite(ctx, false)
	require.NoError(t, err)
	_, err = fresh.OpenInvite(ctx, first)
	require.Equal(t, prompt.NoSuchInvite, fault.CodeOf(err))
	fresh.pass(library.FirstInviteFor)
	_, err = fresh.AcceptInvite(ctx, auth.User{}, second, library.NewPerson{Handle: "chief", Password: aPassword},
		library.Asker{})
	require.Equal(t, prompt.InviteExpired, fault.CodeOf(err))
	third, err := fresh.AdminInvite(ctx, true)
	require.NoError(t, err)
	require.True(t, fresh.join(third, "chief").Admin())
	_, err = fresh.AcceptInvite(ctx, auth.User{}, third, library.NewPerson{Handle: "other", Password: aPassword},
		library.Asker{})
	require.Equal(t, prompt.InviteUsed, fault.CodeOf(err))
	fourth, err := fresh.AdminInvite(ctx, false)
	require.NoError(t, err)
	require.Empty(t, fourth)
	fifth, err := fresh.AdminInvite(ctx, true)
	require.NoError(t, err)
	require.True(t, fresh.join(fifth, "second").Admin(), "an operator may always make one")
}

// TestGuesses: wrong passwords of one address for one account are refused after some, and others
// sign in still.
func TestGuesses(t *testing.T) {
	t.Parallel()
	s, _ := invited(t)
	here, there := library.Asker{}, library.Asker{}
	here.Site, there.Site = "192.0.2.1", "192.0.2.2"
	for range 10 {
		_, err := s.SignIn(t.Context(), "chief", "wrong password", here)
		require.Equal(t, library.WrongSignIn, fault.CodeOf(err))
	}
	_, err := s.SignIn(t.Context(), "chief", aPassword, here)
	require.Equal(t, fault.Limited, fault.Of(err))
	_, err = s.SignIn(t.Context(), "chief", aPassword, there)
	require.NoError(t, err)
	for range 10 {
		_, err := s.SignIn(t.Context(), "nobody", "wrong password", there)
		require.Equal(t, library.WrongSignIn, fault.CodeOf(err))
	}
	_, err = s.SignIn(t.Context(), "nobody", "wrong password", there)
	require.Equal(t, fault.Limited, fault.Of(err), "of nobody, as of others")
}
