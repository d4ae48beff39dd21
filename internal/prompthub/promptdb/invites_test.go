package promptdb_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// anInvite is an invitation of ann's to the shelf, for one person.
func anInvite(db *promptdb.DB, id string, at time.Time) prompt.Invite {
	return prompt.Invite{
		ID: id, Secret: [32]byte{1, 2, 3}, Uses: 1, By: "ann", CreatedAt: at, ExpiresAt: at.AddDate(0, 0, 30),
		Offers: []prompt.Offer{{
			Workspace: shelf, Role: prompt.RoleAuthor,
			ViaKind: prompt.Person, Via: db.AuthorKey("ann"),
		}},
	}
}

const inviteID = "aaaaaaaaaaaaaaab"

func makeInvite(ctx context.Context, db *promptdb.DB, r *ring, _ prompt.Prompt) error {
	if err := db.LearnAuthorKeys(ctx); err != nil {
		return err
	}
	r.tokens++
	return db.AddInvite(ctx, anInvite(db, strings.Repeat(string('a'+rune(r.tokens)), 16), r.Now()))
}

// invitesListed checks that ann and the workspace see each invitation that can be accepted.
func invitesListed(t *testing.T, r *ring, _ prompt.Prompt, ok bool) {
	ctx := context.Background()
	for _, owner := range []prompt.UserID{"ann", shelf} {
		all, err := r.truth.Invites(ctx, owner)
		require.NoError(t, err)
		seen := map[string]bool{}
		for _, i := range all {
			seen[i.ID] = true
		}
		for n := range r.tokens {
			id := strings.Repeat(string('b'+rune(n)), 16)
			i, err := r.truth.InviteByID(ctx, id)
			require.NoError(t, err)
			require.False(t, i.ID != "" && !seen[id], "an invitation that nobody can withdraw")
		}
		require.False(t, ok && len(all) == 0)
	}
}

func withInvite(r *ring, p *prompt.Prompt) {
	withWorkspace(r, p)
	require.NoError(r.t, r.truth.AddInvite(context.Background(), anInvite(r.truth, inviteID, r.Now())))
}

func withdrawInvite(ctx context.Context, db *promptdb.DB, r *ring, _ prompt.Prompt) error {
	if err := db.LearnAuthorKeys(ctx); err != nil {
		return err
	}
	return db.RemoveInvite(ctx, anInvite(db, inviteID, r.Now()))
}

func inviteGone(t *testing.T, r *ring, _ prompt.Prompt, ok bool) {
	_, err := r.truth.AcceptInvite(context.Background(), "ann", inviteID, [32]byte{1, 2, 3}, nil)
	if ok {
		require.Equal(t, prompt.NoSuchInvite, fault.CodeOf(err))
	}
}

func acceptInvite(ctx context.Context, db *promptdb.DB, _ *ring, _ prompt.Prompt) error {
	_, err := db.AcceptInvite(ctx, "bob", inviteID, [32]byte{1, 2, 3}, nil)
	if fault.CodeOf(err) == prompt.AlreadyMember { // the same request again
		return nil
	}
	return err
}

// accepted checks that bob is a member where he was told so, by one use that no one else gets, and
// that he stays away once he was removed.
func accepted(t *testing.T, r *ring, p prompt.Prompt, ok bool) {
	isMember(true)(t, r, p, ok)
	i, err := r.truth.InviteByID(context.Background(), inviteID)
	require.NoError(t, err)
	m, err := r.truth.ReadWorkspace(context.Background(), shelf)
	require.NoError(t, err)
	if m.Of(prompt.Person, r.truth.AuthorKey("bob")) != nil {
		require.Zero(t, i.Left())
		_, err = r.truth.AcceptInvite(context.Background(), "eve", inviteID, [32]byte{1, 2, 3}, nil)
		require.Equal(t, prompt.InviteUsed, fault.CodeOf(err))
	}
	require.False(t, ok && !i.Takers[0].Done)
}

// newcomer is who makes an account by the invitation.
func newcomer(at time.Time) *promptdb.Newcomer {
	return &promptdb.Newcomer{
		Account: promptdb.Account{
			ID: "bob", Name: "Bob", PasswordHash: "hash of bob", Admin: true,
			Invite: inviteID, CreatedAt: at,
		},
		Handle: "bob-b", Same: func(hash string) (bool, error) { return hash == "hash of bob", nil },
	}
}

func joinAnew(ctx context.Context, db *promptdb.DB, r *ring, _ prompt.Prompt) error {
	_, err := db.AcceptInvite(ctx, "bob", inviteID, [32]byte{1, 2, 3}, newcomer(r.Now()))
	if fault.CodeOf(err) == prompt.InviteUsed { // it was done, and the same person signs in
		return nil
	}
	return err
}

func joined(t *testing.T, r *ring, p prompt.Prompt, ok bool) {
	accepted(t, r, p, ok)
	a, err := r.truth.Account(context.Background(), "bob")
	require.NoError(t, err)
	i, err := r.truth.InviteByID(context.Background(), inviteID)
	require.NoError(t, err)
	require.False(t, a != nil && i.Left() > 0, "an account that took no use")
	has, err := r.truth.HasAdmin(context.Background())
	require.NoError(t, err)
	require.Equal(t, a != nil, has)
	if ok {
		require.Equal(t, "hash of bob", a.PasswordHash)
		id, err := r.truth.UserID(context.Background(), "bob-b")
		require.NoError(t, err)
		require.EqualValues(t, "bob", id)
		profile, err := r.truth.Profile(context.Background(), "bob")
		require.NoError(t, err)
		require.Equal(t, "bob-b", profile.Handle)
	}
}

// furnish puts an account with a password, an invitation of a user, a session and a sign-in under
// way into a world with the shelf.
func (w *world) furnish(user prompt.UserID) {
	w.t.Helper()
	ctx := w.t.Context()
	_, err := w.AddWorkspace(ctx, "first", aShelf())
	require.NoError(w.t, err)
	i := anInvite(w.DB, inviteID, w.clock.Now())
	i.By, i.Offers[0].Via = user, w.AuthorKey("first")
	require.NoError(w.t, w.AddInvite(ctx, i))
	n := newcomer(w.clock.Now())
	n.ID, n.Handle, n.Name = user, "ann-lee", "Ann"
	_, err = w.AcceptInvite(ctx, user, i.ID, i.Secret, n)
	require.NoError(w.t, err)
	site := prompt.Invite{
		ID: "aaaaaaaaaaaaaaac", Secret: [32]byte{4}, Uses: 2, Admin: true, CreatedAt: w.clock.Now(),
		ExpiresAt: w.clock.Now().Add(time.Hour),
	}
	require.NoError(w.t, w.AddInvite(ctx, site))
	require.NoError(w.t, w.PutSession(ctx,
		table.Row{
			Key:   table.Key{Partition: promptdb.SessionPrefix + rowstore.Encode(string(user)), Row: "x"},
			Props: table.Props{{Name: "Device", Value: table.String("a browser")}},
		}))
	require.NoError(w.t, w.AddLogin(ctx,
		promptdb.Login{
			ID: "aaaaaaaaaaaaaaad", User: user, UserName: "Ann", Name: "laptop", Code: "c", Challenge: "d",
			ExpiresAt: w.clock.Now().Add(time.Minute),
		}))
	w.check()
}

// TestBackupInvites: accounts and invitations are the same after a restore, and sessions are in no
// backup.
func TestBackupInvites(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.furnish("ann")
	first, left := w.backedUp()
	require.Empty(t, left)
	require.NotContains(t, first.String(), "a browser")
	require.NotContains(t, first.String(), "laptop")
	other := restoredFrom(t, bytes.NewBuffer(bytes.Clone(first.Bytes())))
	other.check()
	for _, id := range []string{inviteID, "aaaaaaaaaaaaaaac"} {
		want, err := w.InviteByID(t.Context(), id)
		require.NoError(t, err)
		got, err := other.InviteByID(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	want, err := w.Account(t.Context(), "ann")
	require.NoError(t, err)
	got, err := other.Account(t.Context(), "ann")
	require.NoError(t, err)
	got.ETag = want.ETag
	require.Equal(t, want, got)
	has, err := other.HasAdmin(t.Context())
	require.NoError(t, err)
	require.True(t, has)
	second, _ := other.backedUp()
	require.Equal(t, first.String(), second.String())
}

// TestVerifyInvites: each row that is gone or spoiled is a finding.
func TestVerifyInvites(t *testing.T) {
	t.Parallel()
	users := promptdb.DefaultTables().Users
	for name, spoil := range map[string]struct {
		table.Key
		op table.Kind
	}{
		"list of the maker":     {table.Key{Partition: "u|ann", Row: "i|" + inviteID}, table.Delete},
		"list of the workspace": {table.Key{Partition: "u|" + string(shelf), Row: "i|" + inviteID}, table.Delete},
		"list of the site":      {table.Key{Partition: "invites", Row: "i|aaaaaaaaaaaaaaac"}, table.Delete},
		"administrator":         {table.Key{Partition: "admins", Row: "ann"}, table.Delete},
		"account":               {table.Key{Partition: "u|ann", Row: "account"}, table.Replace},
		"invitation":            {table.Key{Partition: "i|" + inviteID, Row: "invite"}, table.Replace},
		"sign-in":               {table.Key{Partition: "l|aaaaaaaaaaaaaaad", Row: "login"}, table.Replace},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.furnish("ann")
			_, err := w.store.Get(t.Context(), users, spoil.Key)
			require.NoError(t, err)
			w.userRow(spoil.op, table.Row{
				Key: spoil.Key, ETag: table.Any,
				Props: table.Props{{Name: "Nonsense", Value: table.String("x")}},
			})
			require.Len(t, w.found(), 1)
		})
	}
}

// A beforeUse store does something before a use of the invitation is written.
type beforeUse struct {
	table.DB
	do func()
}

func (b *beforeUse) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	if do := b.do; do != nil && ops[0].Row.Partition == "i|"+inviteID {
		b.do = nil
		do()
	}
	return b.DB.Write(ctx, name, ops...)
}

// TestLastUseAtOnce: of two who take the last use of an invitation at the same moment, one is told
// that it has been used, and is no member.
func TestLastUseAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.shared("ann")
	i := anInvite(w.DB, inviteID, w.clock.Now())
	require.NoError(t, w.AddInvite(t.Context(), i))
	other := w.over(&beforeUse{w.store, func() {
		_, err := w.AcceptInvite(t.Context(), "eve", i.ID, i.Secret, nil)
		require.NoError(t, err)
	}})
	_, err := other.AcceptInvite(t.Context(), "dan", i.ID, i.Secret, nil)
	require.Equal(t, prompt.InviteUsed, fault.CodeOf(err), "%v", err)
	m, err := w.ReadWorkspace(t.Context(), shelf)
	require.NoError(t, err)
	require.NotNil(t, m.Of(prompt.Person, w.AuthorKey("eve")))
	require.Nil(t, m.Of(prompt.Person, w.AuthorKey("dan")))
	w.check()
}

// TestMakerLeavesMeanwhile: who made an invitation stops being an administrator between the look at
// that and the new membership. There is none.
func TestMakerLeavesMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.shared("ann")
	ctx := t.Context()
	_, err := w.PutMember(ctx, shelf, "cat", of(w.DB, "cat", prompt.RoleAdministrator))
	require.NoError(t, err)
	i := anInvite(w.DB, inviteID, w.clock.Now())
	require.NoError(t, w.AddInvite(ctx, i))
	other := w.over(&beforeWrite{w.store, promptdb.DefaultTables().Prompts, func() {
		_, err := w.PutMember(ctx, shelf, "ann", of(w.DB, "ann", prompt.RolePublisher))
		require.NoError(t, err)
	}})
	_, err = other.AcceptInvite(ctx, "dan", i.ID, i.Secret, nil)
	require.Equal(t, prompt.InviteVoid, fault.CodeOf(err), "%v", err)
	m, err := w.ReadWorkspace(ctx, shelf)
	require.NoError(t, err)
	require.Nil(t, m.Of(prompt.Person, w.AuthorKey("dan")))
}
