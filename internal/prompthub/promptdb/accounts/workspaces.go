package accounts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A workspace is reserved before it is shown: its handle leads to it before its row is there. The
// row that leads from a member to a workspace is written before the member's own and removed after
// it, so whoever is stopped half-way leaves one that shows nothing.

// Members is a workspace with its members, by their places.
type Members struct {
	prompt.Workspace
	All  []prompt.Member
	etag string
}

// Of returns the member of a kind and a name, nil for none.
func (m *Members) Of(kind prompt.MemberKind, name string) *prompt.Member {
	for i := range m.All {
		if m.All[i].Kind == kind && m.All[i].Name == name {
			return &m.All[i]
		}
	}
	return nil
}

// count returns how many members are people, and how many groups and roles of the directory.
func (m *Members) count() (people, directory int) {
	for _, one := range m.All {
		if one.Kind == prompt.Person {
			people++
		} else {
			directory++
		}
	}
	return people, directory
}

// Administrated reports whether any person is an administrator.
func (m *Members) Administrated() bool { return m.administrated("") }

// administrated reports whether a person other than one is an administrator.
func (m *Members) administrated(but string) bool {
	return slices.ContainsFunc(m.All, func(one prompt.Member) bool {
		return one.Kind == prompt.Person && one.Role == prompt.RoleAdministrator && one.Name != but
	})
}

// membersFor is how long an instance believes what it read of a workspace, from before it read.
const membersFor = tokenFor

// maxWorkspacesKept bounds the memory for workspaces that were read: 550 members take some 100 kB.
const maxWorkspacesKept = 256

// workspaces is what was read of workspaces.
type workspaces struct {
	reading singleflight.Group
	read    *lru.Cache[prompt.UserID, readMembers]
	led     *lru.Cache[string, led] // by user and roles
}

// A readMembers is a workspace, or nil for none, as it was at some time.
type readMembers struct {
	*Members
	at time.Time
}

func newWorkspaces() workspaces {
	return workspaces{
		read: rowstore.NewLRU[prompt.UserID, readMembers](maxWorkspacesKept),
		led:  rowstore.NewLRU[string, led](maxLedKept),
	}
}

// AddWorkspace makes a workspace with one member, its first administrator. A try that
// was stopped after it had reserved the handle is brought to its end by the next, under the id that
// the first one chose.
func (db *Accounts) AddWorkspace(ctx context.Context, first prompt.UserID, w prompt.Workspace) (*Members, error) {
	if err := db.mayJoin(ctx, first); err != nil {
		return nil, err
	}
	if err := db.WriteUserByKey(ctx, first); err != nil {
		return nil, err
	}
	w.CreatedBy = prompt.UserID(db.AuthorKey(first))
	err := db.writeUserRow(ctx, w.ID, schema.HandleKey(w.Handle))
	if errors.Is(err, rowstore.ErrConflict) {
		w.ID, err = db.reserved(ctx, w.Handle)
	}
	if err != nil {
		return nil, err
	}
	if err := db.WriteUserByKey(ctx, w.ID); err != nil {
		return nil, err
	}
	m := prompt.Member{
		Kind: prompt.Person, Name: string(w.CreatedBy), Role: prompt.RoleAdministrator,
		AddedBy: w.CreatedBy, AddedAt: w.CreatedAt,
	}
	if err := db.writeMembership(ctx, first, m, w.ID); err != nil {
		return nil, err
	}
	err = db.Write(ctx, db.T.Prompts, []table.Op{
		{Kind: table.Insert, Row: schema.WorkspaceRow(w)},
		{Kind: table.Insert, Row: schema.MemberRow(w.ID, m)},
		db.EventOp(w.ID, prompt.Event{Type: prompt.WorkspaceCreated, By: w.CreatedBy}),
	})
	db.workspaces.read.Remove(w.ID)
	if err != nil && !errors.Is(err, table.ErrExists) {
		return nil, rowstore.Unavailable(fmt.Errorf("write a workspace: %w", err))
	}
	made, err := db.ReadWorkspace(ctx, w.ID)
	switch {
	case err != nil:
		return nil, err
	case made == nil || !made.Workspace.Equal(w): // somebody made it before
		return nil, prompt.HandleTaken(w.Handle)
	}
	return made, nil
}

// reserved returns the workspace for which a stopped try has reserved a handle. The handle of a
// user, and that of a workspace which is there or is being erased, is taken.
func (db *Accounts) reserved(ctx context.Context, handle string) (prompt.UserID, error) {
	id, err := db.UserID(ctx, handle)
	if err != nil {
		return "", err
	}
	if !prompt.IsWorkspace(id) {
		return "", prompt.HandleTaken(handle)
	}
	there, err := db.GetRow(ctx, db.T.Prompts, schema.WorkspaceKey(id))
	if err != nil {
		return "", err
	}
	goes, err := db.GetRow(ctx, db.T.Users, schema.ErasureKey(id))
	if err != nil {
		return "", err
	}
	if there != nil || goes != nil {
		return "", prompt.HandleTaken(handle)
	}
	return id, nil
}

// mayJoin refuses a user who is a member of as many workspaces as one may be.
func (db *Accounts) mayJoin(ctx context.Context, user prompt.UserID) error {
	rows, _, err := db.Budget().Rows(ctx, db.T.Users, schema.MembershipsOf(user, prompt.Person, ""),
		prompt.MaxWorkspacesOf)
	if err == nil && len(rows) >= prompt.MaxWorkspacesOf {
		return prompt.ErrTooManyMembers()
	}
	return err
}

func (db *Accounts) writeMembership(ctx context.Context, user prompt.UserID, m prompt.Member, id prompt.UserID) error {
	row := table.Row{Key: schema.MembershipKey(user, m.Kind, m.Name, id), Props: schema.MembershipProps(id)}
	if err := db.Write(ctx, db.T.Users, []table.Op{{Kind: table.Upsert, Row: row}}); err != nil {
		return rowstore.Unavailable(fmt.Errorf("lead a member to a workspace: %w", err))
	}
	db.workspaces.led.Purge()
	return nil
}

// Workspace returns a workspace with its members as they were at most a few seconds ago, nil for
// none.
func (db *Accounts) Workspace(ctx context.Context, id prompt.UserID) (*Members, error) {
	if !prompt.IsWorkspace(id) {
		return nil, nil //nolint:nilnil // as documented
	}
	if m, ok := db.workspaces.read.Get(id); ok && db.Now().Sub(m.at) < membersFor {
		return m.Members, nil
	}
	return rowstore.Shared(ctx, &db.workspaces.reading, string(id), func(ctx context.Context) (*Members, error) {
		at := db.Now()
		m, err := db.ReadWorkspace(ctx, id)
		if err == nil {
			db.workspaces.read.Add(id, readMembers{m, at})
		}
		return m, err
	})
}

// ReadWorkspace is Workspace as it is now.
func (db *Accounts) ReadWorkspace(ctx context.Context, id prompt.UserID) (*Members, error) {
	rows, _, err := db.Budget().Rows(ctx, db.T.Prompts, schema.WorkspaceRange(id),
		1+prompt.MaxPeople+prompt.MaxDirectory)
	if err != nil || len(rows) == 0 || rows[0].Key != schema.WorkspaceKey(id) {
		return nil, err
	}
	m := &Members{Workspace: schema.ParseWorkspace(rows[0]), etag: rows[0].ETag}
	for _, row := range rows[1:] {
		if one, ok := schema.ParseMember(row); ok {
			m.All = append(m.All, one)
		}
	}
	slices.SortFunc(m.All, func(a, b prompt.Member) int {
		return cmp.Compare(a.Place(), b.Place())
	})
	return m, nil
}

// changeWorkspace changes a workspace, with the event of it. Edit gets it as it is and may run
// again; it returns rows of members to write with the change, and no event where nothing changes.
func (db *Accounts) changeWorkspace(ctx context.Context, id, by prompt.UserID,
	edit func(*Members) ([]table.Op, prompt.Event, error),
) (*Members, error) {
	for range rowstore.MaxTries {
		m, err := db.ReadWorkspace(ctx, id)
		if err != nil {
			return nil, err
		}
		if m == nil {
			return nil, prompt.ErrNoWorkspace()
		}
		ops, e, err := edit(m)
		if err != nil || e.Type == "" {
			return m, err
		}
		e.By = by
		m.Revision++
		row := schema.WorkspaceRow(m.Workspace)
		row.ETag = m.etag
		err = db.Write(ctx, db.T.Prompts,
			append([]table.Op{{Kind: table.Replace, Row: row}, db.EventOp(id, e)}, ops...))
		db.workspaces.read.Remove(id)
		switch {
		case errors.Is(err, table.ErrConflict) || errors.Is(err, table.ErrExists) || errors.Is(err, table.ErrNotFound):
			continue // somebody was faster
		case err != nil:
			return nil, rowstore.Unavailable(fmt.Errorf("change a workspace: %w", err))
		}
		return m, nil
	}
	return nil, truth.Busy(time.Second)
}

// EditWorkspace changes what a workspace says of itself, its rules, or that it is deleted. Edit may
// run again.
func (db *Accounts) EditWorkspace(ctx context.Context, id, by prompt.UserID,
	edit func(*prompt.Workspace) error,
) (*Members, error) {
	return db.changeWorkspace(ctx, id, by, func(m *Members) ([]table.Op, prompt.Event, error) {
		was := m.Workspace
		err := edit(&m.Workspace)
		return nil, prompt.Event{Type: changeOf(was, m.Workspace)}, err
	})
}

// changeOf returns what happened to a workspace, "" for nothing.
func changeOf(was, now prompt.Workspace) prompt.EventType {
	switch {
	case was.Equal(now):
		return ""
	case !was.Deleted() && now.Deleted():
		return prompt.WorkspaceDeleted
	case was.Deleted() && !now.Deleted():
		return prompt.WorkspaceRestored
	case !was.RulesAt.Equal(now.RulesAt):
		return prompt.RulesChanged
	}
	return prompt.WorkspaceChanged
}

// LabelRules returns the rules of an owner for labels as they were at most a few seconds ago. A
// person has none.
func (db *Accounts) LabelRules(ctx context.Context, id prompt.UserID) (prompt.LabelRules, error) {
	m, err := db.Workspace(ctx, id)
	if err != nil || m == nil {
		return nil, err
	}
	return m.Rules, nil
}

// PutMember makes somebody a member of a workspace, or gives a member another role. The user is
// that of a person; a group or role of the directory has none.
func (db *Accounts) PutMember(ctx context.Context, id, user prompt.UserID, next prompt.Member) (*Members, error) {
	if next.Kind == prompt.Person {
		m, err := db.ReadWorkspace(ctx, id)
		if err != nil {
			return nil, err
		}
		if m != nil && m.Of(next.Kind, next.Name) == nil {
			if err := db.mayJoin(ctx, user); err != nil {
				return nil, err
			}
		}
	}
	if err := db.writeMembership(ctx, user, next, id); err != nil {
		return nil, err
	}
	isNew := false
	m, err := db.changeWorkspace(ctx, id, next.AddedBy, func(m *Members) ([]table.Op, prompt.Event, error) {
		op := table.Op{Kind: table.Upsert, Row: schema.MemberRow(id, next)}
		was := m.Of(next.Kind, next.Name)
		isNew = was == nil
		if was == nil {
			people, directory := m.count()
			if next.Kind == prompt.Person && people >= prompt.MaxPeople ||
				next.Kind != prompt.Person && directory >= prompt.MaxDirectory {
				return nil, prompt.Event{}, prompt.ErrTooManyMembers()
			}
			m.All = append(m.All, next)
			return []table.Op{op}, memberEvent(prompt.MemberAdded, next), nil
		}
		if was.Role == next.Role {
			return nil, prompt.Event{}, nil
		}
		if was.Role == prompt.RoleAdministrator && next.Kind == prompt.Person && !m.administrated(next.Name) {
			return nil, prompt.Event{}, prompt.ErrLastAdministrator()
		}
		*was = next
		return []table.Op{op}, memberEvent(prompt.MemberChanged, next), nil
	})
	if isNew && fault.Of(err) == fault.Conflict { // it was refused
		_ = db.RemoveKey(ctx, db.T.Users, schema.MembershipKey(user, next.Kind, next.Name, id))
	}
	return m, err
}

// RemoveMember ends the membership of somebody. It does nothing where there is none. The last
// administrator stays.
func (db *Accounts) RemoveMember(ctx context.Context, id, by, user prompt.UserID,
	kind prompt.MemberKind, name string,
) error {
	return db.removeMember(ctx, id, by, user, kind, name, false)
}

func memberEvent(what prompt.EventType, m prompt.Member) prompt.Event {
	return prompt.Event{Type: what, Member: string(m.Kind) + " " + m.Name, Role: m.Role}
}

// EndMembership removes a person who is erased from a workspace, even its last administrator.
func (db *Accounts) EndMembership(ctx context.Context, id, user prompt.UserID) error {
	err := db.LearnAuthorKeys(ctx)
	if err == nil {
		err = db.removeMember(ctx, id, "", user, prompt.Person, db.AuthorKey(user), true)
	}
	if fault.Of(err) == fault.NotFound { // the workspace went before
		return db.RemoveKey(ctx, db.T.Users, schema.MembershipKey(user, prompt.Person, "", id))
	}
	return err
}

// ForgetMembers removes the rows that lead the members of a workspace to it.
func (db *Accounts) ForgetMembers(ctx context.Context, id prompt.UserID) error {
	m, err := db.ReadWorkspace(ctx, id)
	if err != nil || m == nil {
		return err
	}
	for _, one := range m.All {
		var user prompt.UserID
		if one.Kind == prompt.Person {
			if user, err = db.UserID(ctx, one.Name); err != nil {
				return err
			}
		}
		if err := db.RemoveKey(ctx, db.T.Users, schema.MembershipKey(user, one.Kind, one.Name, id)); err != nil {
			return err
		}
	}
	return nil
}

func (db *Accounts) removeMember(ctx context.Context, id, by, user prompt.UserID, kind prompt.MemberKind,
	name string, force bool,
) error {
	_, err := db.changeWorkspace(ctx, id, by, func(m *Members) ([]table.Op, prompt.Event, error) {
		was := m.Of(kind, name)
		if was == nil {
			return nil, prompt.Event{}, nil
		}
		if was.Role == prompt.RoleAdministrator && kind == prompt.Person && !force && !m.administrated(name) {
			return nil, prompt.Event{}, prompt.ErrLastAdministrator()
		}
		return []table.Op{rowstore.Removal(schema.MemberKey(id, kind, name))},
			memberEvent(prompt.MemberRemoved, *was), nil
	})
	if err != nil {
		return err
	}
	return db.RemoveKey(ctx, db.T.Users, schema.MembershipKey(user, kind, name, id))
}

// Memberships returns workspaces of a user, by name and by some of their roles and groups of the
// directory, as they are now: each with those of its members alone that the user is. A workspace of
// which the user is no member any more has none.
func (db *Accounts) Memberships(ctx context.Context, user prompt.UserID, roles, groups []string) ([]Members, error) {
	if err := db.LearnAuthorKeys(ctx); err != nil {
		return nil, err
	}
	found, err := db.readLedTo(ctx, user, roles, groups)
	if err != nil {
		return nil, err
	}
	ids := slices.Concat(found...)
	slices.Sort(ids)
	ids = slices.Compact(ids)
	all := make([]Members, min(len(ids), prompt.MaxWorkspacesOf))
	err = rowstore.Each(ctx, len(all), workspacesAtOnce, func(ctx context.Context, i int) error {
		rows, _, err := db.Budget().Rows(ctx, db.T.Prompts, schema.WorkspaceAndDirectory(ids[i]), 1+prompt.MaxDirectory)
		if err != nil || len(rows) == 0 || rows[0].Key != schema.WorkspaceKey(ids[i]) {
			return err
		}
		if slices.Contains(found[0], ids[i]) {
			row, err := db.GetRow(ctx, db.T.Prompts, schema.MemberKey(ids[i], prompt.Person, db.AuthorKey(user)))
			if err != nil {
				return err
			}
			if row != nil {
				rows = append(rows, *row)
			}
		}
		all[i].Workspace = schema.ParseWorkspace(rows[0])
		for _, row := range rows[1:] {
			m, ok := schema.ParseMember(row)
			is := m.Kind == prompt.Person || m.Kind == prompt.InRole && slices.Contains(roles, m.Name) ||
				m.Kind == prompt.InGroup && slices.Contains(groups, schema.GroupKey(m.Name))
			if ok && is {
				all[i].All = append(all[i].All, m)
			}
		}
		return nil
	})
	return all, err
}

// workspacesAtOnce is how many workspaces are looked at together.
const workspacesAtOnce = 10
