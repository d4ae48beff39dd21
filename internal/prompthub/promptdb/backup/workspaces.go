package backup

import (
	"context"
	"fmt"
	"strings"
	"time"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/table"
)

// A workspaceLine is a workspace in a backup.
type workspaceLine struct {
	ID        prompt.UserID     `json:"id"`
	Handle    string            `json:"handle"`
	Name      string            `json:"name"`
	About     string            `json:"about,omitempty"`
	CreatedBy prompt.UserID     `json:"createdBy"`
	CreatedAt time.Time         `json:"createdAt"`
	DeletedAt time.Time         `json:"deletedAt,omitzero"`
	Rules     prompt.LabelRules `json:"rules,omitempty"`
	RulesAt   time.Time         `json:"rulesAt,omitzero"`
	Revision  int64             `json:"revision"`
}

// A memberLine is a member of a workspace in a backup.
type memberLine struct {
	Workspace prompt.UserID     `json:"workspace"`
	Kind      prompt.MemberKind `json:"kind"`
	Name      string            `json:"name"`
	Role      prompt.Role       `json:"role"`
	AddedBy   prompt.UserID     `json:"addedBy"`
	AddedAt   time.Time         `json:"addedAt"`
}

// A membershipLine is what leads a person, or those in a group or role of the directory, to a
// workspace.
type membershipLine struct {
	User      prompt.UserID `json:"user,omitempty"`
	InGroup   string        `json:"group,omitempty"`
	InRole    string        `json:"role,omitempty"`
	Workspace prompt.UserID `json:"workspace"`
}

func workspaceOf(row table.Row) (*line, error) {
	if w := schema.ParseWorkspace(row); row.Key == schema.WorkspaceKey(w.ID) {
		return &line{Kind: "workspace", Workspace: &workspaceLine{
			ID: w.ID, Handle: w.Handle, Name: w.Name, About: w.About, CreatedBy: w.CreatedBy, CreatedAt: w.CreatedAt,
			DeletedAt: w.DeletedAt, Rules: w.Rules, RulesAt: w.RulesAt, Revision: w.Revision,
		}}, nil
	}
	id, okID := schema.ParseUser(row.Partition)
	m, ok := schema.ParseMember(row)
	if !ok || !okID {
		return nil, errForeign
	}
	return &line{Kind: "member", Member: &memberLine{
		Workspace: id, Kind: m.Kind, Name: m.Name, Role: m.Role,
		AddedBy: m.AddedBy, AddedAt: m.AddedAt,
	}}, nil
}

func membershipOf(row table.Row) (*line, error) {
	m, ok := schema.ParseMembership(row)
	if !ok {
		return nil, errForeign
	}
	l := membershipLine{User: m.User, Workspace: m.ID}
	switch m.Kind {
	case prompt.InGroup:
		l.InGroup = m.Name
	case prompt.InRole:
		l.InRole = m.Name
	case prompt.Person:
	}
	return &line{Kind: "membership", Membership: &l}, nil
}

func (re *restore) workspace(ctx context.Context, l workspaceLine) error {
	if !prompt.IsWorkspace(l.ID) || !prompt.ValidSlug(l.Handle) {
		return fmt.Errorf("a workspace %q with the handle %q", l.ID, l.Handle)
	}
	return re.add(ctx, re.db.T.Prompts, schema.WorkspaceRow(prompt.Workspace{
		ID: l.ID, Profile: prompt.Profile{Handle: l.Handle, Name: l.Name, About: l.About},
		CreatedBy: l.CreatedBy, CreatedAt: l.CreatedAt, DeletedAt: l.DeletedAt, Rules: l.Rules,
		RulesAt: l.RulesAt, Revision: l.Revision,
	}))
}

func (re *restore) member(ctx context.Context, l memberLine) error {
	m := prompt.Member{Kind: l.Kind, Name: l.Name, Role: l.Role, AddedBy: l.AddedBy, AddedAt: l.AddedAt}
	if err := m.Check(); err != nil || !prompt.IsWorkspace(l.Workspace) {
		return fmt.Errorf("a member %q of %q with the role %q", l.Name, l.Workspace, l.Role)
	}
	return re.add(ctx, re.db.T.Prompts, schema.MemberRow(l.Workspace, m))
}

func (re *restore) membership(ctx context.Context, l membershipLine) error {
	kind, given := prompt.Person, 0
	for k, name := range map[prompt.MemberKind]string{
		prompt.Person:  string(l.User),
		prompt.InGroup: l.InGroup, prompt.InRole: l.InRole,
	} {
		if strings.TrimSpace(name) != "" {
			kind, given = k, given+1
		}
	}
	if !prompt.IsWorkspace(l.Workspace) || given != 1 {
		return fmt.Errorf("a membership of %q", l.Workspace)
	}
	return re.add(ctx, re.db.T.Users,
		table.Row{
			Key:   schema.MembershipKey(l.User, kind, l.InGroup+l.InRole, l.Workspace),
			Props: schema.MembershipProps(l.Workspace),
		})
}
