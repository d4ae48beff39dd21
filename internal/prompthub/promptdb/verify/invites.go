package verify

import (
	"context"
	"strings"

	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/table"
)

// signsIn reports whether a row of the users is of an invitation, an account with a password, or a
// sign-in.
func signsIn(row table.Row) bool {
	if row.Row == schema.AccountRow || row.Partition == schema.AdminsPartition ||
		strings.HasPrefix(row.Row, schema.InvitePrefix) {
		return true
	}
	for _, prefix := range []string{schema.InvitePrefix, schema.SessionPrefix, schema.LoginPrefix} {
		if strings.HasPrefix(row.Partition, prefix) {
			return true
		}
	}
	return false
}

// checkSignIn reports such a row that this version does not write, an invitation that a list lacks
// in which people would withdraw it, and an administrator that is not among them. A row of a list
// alone is what a writer left that was stopped.
func (db *Verifier) checkSignIn(ctx context.Context, row table.Row, d Difference) ([]Difference, error) {
	user := schema.UserIn(row.Props, "UserId")
	var need []table.Key
	ok := true
	switch {
	case row.Row == schema.AccountRow:
		a := schema.ParseAccount(row)
		ok = row.Key == schema.AccountKey(a.ID) && a.PasswordHash != ""
		if a.Admin {
			need = append(need, schema.AdminRow(a.ID).Key)
		}
	case row.Partition == schema.AdminsPartition:
		ok = row.Key == schema.AdminRow(user).Key
	case strings.HasPrefix(row.Partition, schema.InvitePrefix):
		i, isOne := schema.ParseInvite(row)
		for _, owner := range schema.InviteLists(i) {
			need = append(need, schema.ListedInvite(owner, i.ID).Key)
		}
		ok = isOne
	case strings.HasPrefix(row.Partition, schema.LoginPrefix):
		ok = row.Key == schema.LoginKey(schema.ParseLogin(row).ID)
	case strings.HasPrefix(row.Row, schema.InvitePrefix):
		_, ok = schema.ParseListedInvite(row)
	}
	if !ok {
		d.What = "is no row that this version writes"
		return []Difference{d}, nil
	}
	for _, key := range need {
		there, err := db.GetRow(ctx, db.T.Users, key)
		if err != nil {
			return nil, err
		}
		if there == nil {
			d.What = "is not where " + key.String() + " leads"
			return []Difference{d}, nil
		}
	}
	return nil, nil
}
