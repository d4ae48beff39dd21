package accounts

import (
	"context"
	"fmt"
	"slices"
	"time"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// maxLedKept bounds the memory for where rows lead users: to 100 workspaces each, 5 kB.
const maxLedKept = 1024

// led is the workspaces to which rows led a user at some time.
type led struct {
	ids []prompt.UserID
	at  time.Time
}

// How the workspaces of a caller are looked for.
const (
	maxRolesAsked   = 20    // by how many of their roles
	maxGroupsAsked  = 20    // by how many of their groups; a caller with more is looked for among all
	maxGroupsLooked = 3_000 // of all groups that are members of workspaces
)

// LedTo returns the workspaces to which rows led a user, by name and by some of their roles and
// groups of the directory, at most a few seconds ago: the one that was made last first. Groups are
// named by their keys. Whether they are a member the workspace itself says.
func (db *Accounts) LedTo(ctx context.Context, user prompt.UserID, roles, groups []string) ([]prompt.UserID, error) {
	key := fmt.Sprintf("%q %q %t", user, roles[:min(len(roles), maxRolesAsked)], len(groups) > 0)
	if l, ok := db.workspaces.led.Get(key); ok && db.Now().Sub(l.at) < membersFor {
		return l.ids, nil
	}
	at := db.Now()
	found, err := db.readLedTo(ctx, user, roles, groups)
	if err != nil {
		return nil, err
	}
	ids := slices.Concat(found...)
	slices.Sort(ids)
	ids = slices.Compact(ids)
	slices.Reverse(ids)
	ids = slices.Clone(ids[:min(len(ids), prompt.MaxWorkspacesOf)])
	db.workspaces.led.Add(key, led{ids, at})
	return ids, nil
}

// readLedTo returns the workspaces to which rows lead a user: first those by name, then those by
// each of some roles, and by groups.
func (db *Accounts) readLedTo(ctx context.Context, user prompt.UserID,
	roles, groups []string,
) ([][]prompt.UserID, error) {
	type look struct {
		table.Range
		most int // rows
	}
	looked := []look{{schema.MembershipsOf(user, prompt.Person, ""), prompt.MaxWorkspacesOf}}
	for _, role := range roles[:min(len(roles), maxRolesAsked)] {
		looked = append(looked, look{schema.MembershipsOf("", prompt.InRole, role), prompt.MaxWorkspacesOf})
	}
	if len(groups) > maxGroupsAsked {
		looked = append(looked, look{schema.MembershipsOfGroups(), maxGroupsLooked})
	} else {
		for _, key := range groups {
			looked = append(looked, look{schema.MembershipsOfGroup(key), prompt.MaxWorkspacesOf})
		}
	}
	found := make([][]prompt.UserID, len(looked))
	err := rowstore.Each(ctx, len(looked), len(looked), func(ctx context.Context, i int) error {
		rows, _, err := db.Budget().Rows(ctx, db.T.Users, looked[i].Range, looked[i].most)
		for _, row := range rows {
			if m, ok := schema.ParseMembership(row); ok &&
				(m.Kind != prompt.InGroup || slices.Contains(groups, schema.GroupKey(m.Name))) {
				found[i] = append(found[i], m.ID)
			}
		}
		return err
	})
	return found, err
}
