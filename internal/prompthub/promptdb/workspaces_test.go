package promptdb_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	rows "prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/table"
)

const shelf prompt.UserID = "w:01M8KP3KDN57NKYZH6ZD4ZBZ2N"

// aShelf is the workspace that the tests make: the same each time that a command is sent.
func aShelf() prompt.Workspace {
	return prompt.Workspace{
		ID: shelf, Profile: prompt.Profile{Handle: "billing", Name: "Billing"}, Revision: 1,
		CreatedAt: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC),
	}
}

func makeWorkspace(ctx context.Context, db *promptdb.DB, _ *ring, _ prompt.Prompt) error {
	m, err := db.ReadWorkspace(ctx, shelf)
	if err != nil || m != nil { // the same request again
		return err
	}
	_, err = db.AddWorkspace(ctx, "ann", aShelf())
	return err
}

// workspaceMade checks that a workspace has an administrator, and that both lists and its handle
// lead to it.
func workspaceMade(t *testing.T, r *ring, _ prompt.Prompt, ok bool) {
	m, err := r.truth.ReadWorkspace(context.Background(), shelf)
	require.NoError(t, err)
	if ok {
		require.NotNil(t, m)
	}
	if m == nil {
		return
	}
	require.True(t, m.Administrated())
	id, err := r.truth.UserID(context.Background(), "billing")
	require.NoError(t, err)
	require.Equal(t, shelf, id)
	require.Equal(t, []prompt.UserID{shelf}, workspacesOf(t, r.truth, "ann"))
}

func withWorkspace(r *ring, _ *prompt.Prompt) {
	require.NoError(r.t, makeWorkspace(context.Background(), r.truth, r, prompt.Prompt{}))
}

// workspacesOf returns the workspaces of which a user is a member: "in x" names the group x.
func workspacesOf(t *testing.T, db *promptdb.DB, user prompt.UserID, roles ...string) (ids []prompt.UserID) {
	t.Helper()
	var groups []string
	for _, name := range roles {
		if group, ok := strings.CutPrefix(name, "in "); ok {
			groups = append(groups, rows.GroupKey(group))
		}
	}
	all, err := db.Memberships(context.Background(), user, roles, groups)
	require.NoError(t, err)
	for _, m := range all {
		if len(m.All) > 0 {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// of returns a member that is a person.
func of(db *promptdb.DB, user prompt.UserID, role prompt.Role) prompt.Member {
	return prompt.Member{
		Kind: prompt.Person, Name: db.AuthorKey(user), Role: role,
		AddedBy: "a_x", AddedAt: aShelf().CreatedAt,
	}
}

func putMember(ctx context.Context, db *promptdb.DB, _ *ring, _ prompt.Prompt) error {
	if err := db.WriteUserByKey(ctx, "bob"); err != nil {
		return err
	}
	_, err := db.PutMember(ctx, shelf, "bob", of(db, "bob", prompt.RoleAuthor))
	return err
}

// isMember checks that a row leads each member to the workspace.
func isMember(is bool) func(t *testing.T, r *ring, _ prompt.Prompt, ok bool) {
	return func(t *testing.T, r *ring, _ prompt.Prompt, ok bool) {
		m, err := r.truth.ReadWorkspace(context.Background(), shelf)
		require.NoError(t, err)
		there := m.Of(prompt.Person, r.truth.AuthorKey("bob")) != nil
		if ok {
			require.Equal(t, is, there)
		}
		require.Equal(t, there, len(workspacesOf(t, r.truth, "bob")) > 0)
	}
}

func withMember(r *ring, p *prompt.Prompt) {
	withWorkspace(r, p)
	require.NoError(r.t, putMember(context.Background(), r.truth, r, *p))
}

func removeMember(ctx context.Context, db *promptdb.DB, _ *ring, _ prompt.Prompt) error {
	if err := db.LearnAuthorKeys(ctx); err != nil {
		return err
	}
	return db.RemoveMember(ctx, shelf, "a_x", "bob", prompt.Person, db.AuthorKey("bob"))
}

// shared makes the workspace of a world with bob as an author, and a private prompt in it.
func (w *world) shared(first prompt.UserID) prompt.Prompt {
	w.t.Helper()
	ctx := w.t.Context()
	_, err := w.AddWorkspace(ctx, first, aShelf())
	require.NoError(w.t, err)
	require.NoError(w.t, w.WriteUserByKey(ctx, "bob"))
	_, err = w.PutMember(ctx, shelf, "bob", of(w.DB, "bob", prompt.RoleAuthor))
	require.NoError(w.t, err)
	for _, kind := range []prompt.MemberKind{prompt.InRole, prompt.InGroup} {
		_, err = w.PutMember(ctx, shelf, "",
			prompt.Member{
				Kind: kind, Name: "a|b cooks", Role: prompt.RoleReader,
				AddedBy: "a_x", AddedAt: w.clock.Now(),
			})
		require.NoError(w.t, err)
	}
	d := draft("Shared")
	d.Visibility, d.By, d.Labels = prompt.Private, prompt.Actor{Key: prompt.UserID(w.AuthorKey("bob"))},
		[]string{"production"}
	p := w.add(shelf, d)
	w.check()
	return p
}

func TestWorkspacesInABackup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.shared("ann")
	first, left := w.backedUp()
	require.Empty(t, left)
	require.NotContains(t, first.String(), `"createdBy":"ann"`, "rows of a workspace name no user")
	other := restoredFrom(t, bytes.NewBuffer(bytes.Clone(first.Bytes())))
	m, err := other.ReadWorkspace(t.Context(), shelf)
	require.NoError(t, err)
	want, err := w.ReadWorkspace(t.Context(), shelf)
	require.NoError(t, err)
	require.Equal(t, want.Workspace, m.Workspace)
	require.Equal(t, want.All, m.All)
	for user, roles := range map[prompt.UserID][]string{
		"ann": nil, "bob": nil,
		"eve": {"a|b cooks"}, "max": {"in a|b cooks"},
	} {
		require.Equal(t, []prompt.UserID{shelf}, workspacesOf(t, other.DB, user, roles...), user)
	}
	v, err := other.GetVersion(t.Context(), shelf, p.ID, promptdb.WantedVersion{Label: "production"})
	require.NoError(t, err)
	require.Equal(t, w.AuthorKey("bob"), string(v.Current().By))
	require.Empty(t, workspacesOf(t, other.DB, "tim", "cooks", "in cooks", "in a|b"))
	second, _ := other.backedUp()
	require.Equal(t, first.String(), second.String())
}

// TestVerifyWorkspaces: each row of a workspace that is gone or spoiled is a finding.
func TestVerifyWorkspaces(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]table.Key{
		"handle":              {Partition: "h|billing", Row: "r"},
		"membership":          {Partition: "u|bob", Row: "w"},
		"membership by group": {Partition: "g|", Row: "w"},
		"membership by role":  {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.shared("ann")
			users := promptdb.DefaultTables().Users
			if row.Row == "" {
				for r, err := range table.All(t.Context(), w.store, users,
					table.Range{FromPartition: "r|", ToPartition: "r}"}) {
					require.NoError(t, err)
					row = r.Key
				}
			}
			for r, err := range table.All(t.Context(), w.store, users, table.Range{Partition: row.Partition}) {
				require.NoError(t, err)
				if name != "membership" || r.Row[0] == 'w' {
					row = r.Key
				}
			}
			w.userRow(table.Delete, table.Row{Key: row, ETag: table.Any})
			require.Len(t, w.found(), 1)
		})
	}
}

// TestLastAdministrator: of two administrators who remove one another, or make one another readers,
// at the same time, one stays.
func TestLastAdministrator(t *testing.T) {
	t.Parallel()
	for range 30 {
		w := newWorld(t)
		w.shared("ann")
		ctx := t.Context()
		_, err := w.PutMember(ctx, shelf, "bob", of(w.DB, "bob", prompt.RoleAdministrator))
		require.NoError(t, err)
		other := w.another()
		require.NoError(t, other.LearnAuthorKeys(ctx))
		var both sync.WaitGroup
		both.Go(func() { _ = w.RemoveMember(ctx, shelf, "a_x", "ann", prompt.Person, w.AuthorKey("ann")) })
		both.Go(func() { _, _ = other.PutMember(ctx, shelf, "bob", of(other, "bob", prompt.RoleReader)) })
		both.Wait()
		m, err := w.ReadWorkspace(ctx, shelf)
		require.NoError(t, err)
		require.True(t, m.Administrated())
		if m.Of(prompt.Person, w.AuthorKey("ann")) != nil {
			require.Equal(t, prompt.LastAdministrator,
				fault.CodeOf(w.RemoveMember(ctx, shelf, "a_x", "ann", prompt.Person, w.AuthorKey("ann"))))
		} else {
			_, err = w.PutMember(ctx, shelf, "bob", of(w.DB, "bob", prompt.RolePublisher))
			require.Equal(t, prompt.LastAdministrator, fault.CodeOf(err))
		}
		w.check()
	}
}

// A beforeWrite does something once, before the first write to a table.
type beforeWrite struct {
	table.DB
	table string
	do    func()
}

func (b *beforeWrite) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	if do := b.do; name == b.table && do != nil {
		b.do = nil
		do()
	}
	return b.DB.Write(ctx, name, ops...)
}

// TestMembersMeet: of two administrators one leaves between the other's look at the members and the
// change that it allowed. That change is decided anew, and refused.
func TestMembersMeet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.shared("ann")
	ctx := t.Context()
	_, err := w.PutMember(ctx, shelf, "bob", of(w.DB, "bob", prompt.RoleAdministrator))
	require.NoError(t, err)
	other := w.over(&beforeWrite{w.store, promptdb.DefaultTables().Prompts, func() {
		require.NoError(t, w.RemoveMember(ctx, shelf, "a_x", "ann", prompt.Person, w.AuthorKey("ann")))
	}})
	require.NoError(t, other.LearnAuthorKeys(ctx))
	_, err = other.PutMember(ctx, shelf, "bob", of(other, "bob", prompt.RoleReader))
	require.Equal(t, prompt.LastAdministrator, fault.CodeOf(err))
	w.check()
}

// TestMembersAreBelievedForSeconds: what an instance read of members counts for no more than ten
// seconds, and its own changes at once.
func TestMembersAreBelievedForSeconds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.shared("ann")
	ctx := t.Context()
	other := w.another()
	isMember := func(db *promptdb.DB) bool {
		m, err := db.Workspace(ctx, shelf)
		require.NoError(t, err)
		return m.Of(prompt.Person, w.AuthorKey("bob")) != nil
	}
	require.True(t, isMember(w.DB))
	require.True(t, isMember(other))
	require.NoError(t, w.RemoveMember(ctx, shelf, "a_x", "bob", prompt.Person, w.AuthorKey("bob")))
	require.False(t, isMember(w.DB))
	w.clock.Advance(10 * time.Second)
	require.False(t, isMember(other))
	require.Empty(t, workspacesOf(t, w.DB, "bob"))
}

// TestWorkspaceIsErased: a workspace whose days are over is gone with all that it owned, and its
// handle stays taken. A restored one is not erased, even if its restore was cut short.
func TestWorkspaceIsErased(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	p := w.shared("ann")
	require.NoError(t, w.AddCollection(ctx, "a_x", aCollection(shelf, p.ID)))
	at := w.clock.Now().AddDate(0, 0, 30)
	_, err := w.EraseAt(ctx, shelf, at)
	require.NoError(t, err)
	w.clock.Advance(32 * 24 * time.Hour)
	n, err := w.Erase(ctx)
	require.NoError(t, err)
	require.Zero(t, n, "it is not deleted, so the mark is what a restore left that was stopped")
	m, err := w.ReadWorkspace(ctx, shelf)
	require.NoError(t, err)
	require.NotNil(t, m)
	at, err = w.Erasure(ctx, shelf)
	require.NoError(t, err)
	require.Zero(t, at)

	_, err = w.EditWorkspace(ctx, shelf, "a_x", func(w *prompt.Workspace) error {
		w.DeletedAt = time.Now()
		return nil
	})
	require.NoError(t, err)
	_, err = w.EraseAt(ctx, shelf, w.clock.Now())
	require.NoError(t, err)
	w.clock.Advance(25 * time.Hour)
	n, err = w.Erase(ctx)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	w.run()
	w.check()
	require.Empty(t, w.traces(shelf))
	backup, _ := w.backedUp()
	require.NotContains(t, backup.String(), shelf)
	second := aShelf()
	second.ID = "w:01M8KP3KDN57NKYZH6ZD4ZBZ30"
	_, err = w.AddWorkspace(ctx, "bob", second)
	require.Equal(t, fault.Invalid, fault.Of(err))
}

// TestHandleOfAnErasedWorkspace: while a workspace is being erased its handle and id stay taken.
func TestHandleOfAnErasedWorkspace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.shared("ann")
	_, err := w.EraseAt(ctx, shelf, w.clock.Now())
	require.NoError(t, err)
	for row, err := range table.All(ctx, w.store, promptdb.DefaultTables().Prompts,
		table.Range{Partition: "u|" + string(shelf), From: "!ws", To: "!wt"}) {
		require.NoError(t, err)
		_, err := w.store.Write(ctx, promptdb.DefaultTables().Prompts,
			table.Op{Kind: table.Delete, Row: table.Row{Key: row.Key, ETag: table.Any}})
		require.NoError(t, err)
	}
	m, err := w.ReadWorkspace(ctx, shelf)
	require.NoError(t, err)
	require.Nil(t, m, "the erasure has come so far")
	second := aShelf()
	second.ID = "w:01M8KP3KDN57NKYZH6ZD4ZBZ30"
	_, err = w.AddWorkspace(ctx, "bob", second)
	require.Equal(t, fault.Invalid, fault.Of(err))
}

// TestRefusedMembers: a member that is refused, and a workspace whose handle is taken, leave no row
// that leads there.
func TestRefusedMembers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.shared("ann")
	role := func(name string) error {
		_, err := w.PutMember(ctx, shelf, "",
			prompt.Member{
				Kind: prompt.InRole, Name: name, Role: prompt.RoleReader,
				AddedBy: "a_x", AddedAt: w.clock.Now(),
			})
		return err
	}
	for i := 2; i < prompt.MaxDirectory; i++ {
		require.NoError(t, role(fmt.Sprint("role", i)))
	}
	require.Equal(t, prompt.TooManyMembers, fault.CodeOf(role("one more")))
	found, err := w.Memberships(ctx, "eve", []string{"one more"}, nil)
	require.NoError(t, err)
	require.Empty(t, found)
	second := aShelf()
	second.ID = "w:01M8KP3KDN57NKYZH6ZD4ZBZ30"
	_, err = w.AddWorkspace(ctx, "eve", second)
	require.Equal(t, fault.Invalid, fault.Of(err))
	found, err = w.Memberships(ctx, "eve", nil, nil)
	require.NoError(t, err)
	require.Empty(t, found)
	w.check()
}

// TestErasedMember: an erased user is a member of no workspace, even as its last administrator.
func TestErasedMember(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.shared("ann")
	_, err := w.EraseAt(ctx, "ann", w.clock.Now())
	require.NoError(t, err)
	w.clock.Advance(25 * time.Hour)
	n, err := w.Erase(ctx)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	w.run()
	w.check()
	for _, trace := range w.traces("ann") {
		require.Contains(t, trace, shelf, "the key alone, which leads to nobody")
	}
	m, err := w.ReadWorkspace(ctx, shelf)
	require.NoError(t, err)
	require.False(t, m.Administrated())
	require.Len(t, m.All, 3)
}

// TestStoppedBeforeItsRow: a handle that a stopped writer reserved for a workspace serves the next
// try, under the id that the first one chose, and no workspace of another user is taken for it.
func TestStoppedBeforeItsRow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.userRow(table.Insert, table.Row{
		Key:   table.Key{Partition: "h|billing", Row: "r"},
		Props: table.Props{{Name: "UserId", Value: table.String(string(shelf))}},
	})
	second := aShelf()
	second.ID = "w:01M8KP3KDN57NKYZH6ZD4ZBZ30"
	m, err := w.AddWorkspace(t.Context(), "ann", second)
	require.NoError(t, err)
	require.Equal(t, shelf, m.ID)
	_, err = w.AddWorkspace(t.Context(), "bob", second)
	require.Equal(t, fault.Invalid, fault.Of(err))
	w.check()
}

// TestOldEvents: anti-entropy removes events that are older than they are kept, and no others; kept
// for ever they stay.
func TestOldEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.shared("ann")
	ctx, day := t.Context(), 24*time.Hour
	told := func() (types []prompt.EventType) {
		events, _, err := w.Events(ctx, shelf, promptdb.EventQuery{}, "", 100)
		require.NoError(t, err)
		for _, e := range events {
			types = append(types, e.Type)
		}
		return types
	}
	old := told()
	require.NotEmpty(t, old)
	w.clock.Advance(29 * day)
	_, err := w.EditWorkspace(ctx, shelf, "a_x", func(w *prompt.Workspace) error { w.About = "new"; return nil })
	require.NoError(t, err)
	sweep := func() {
		t.Helper()
		w.clock.Advance(day)
		_, differences, err := w.Sweep(ctx)
		require.NoError(t, err)
		require.Zero(t, differences)
	}
	w.EventsFor = 0
	sweep()
	require.Len(t, told(), 1+len(old))
	w.EventsFor = 32 * day
	sweep()
	require.Len(t, told(), 1+len(old))
	sweep()
	require.Equal(t, []prompt.EventType{prompt.WorkspaceChanged}, told())
	w.check()
}
