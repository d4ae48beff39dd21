package verify

import (
	"context"
	"slices"
	"strings"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// repairAuthorKey has the key of a user lead to him, and removes a row under a key that another
// secret made, or none: of a secret that was lost, of an instance that was at work during a
// restore, or of a version before there was a secret.
func (db *Verifier) repairAuthorKey(ctx context.Context, d Difference) error {
	if err := db.accounts.WriteUserByKey(ctx, d.user); err != nil {
		return err
	}
	if strings.HasPrefix(d.Key.Partition, schema.KnownPrefix) &&
		d.Key != schema.KnownKey(db.accounts.AuthorKey(d.user)) {
		return db.RemoveKey(ctx, db.T.Users, d.Key)
	}
	return nil
}

// checkFavorite reports a favorite that its own key contradicts.
func (db *Verifier) checkFavorite(_ context.Context, row table.Row) ([]Difference, error) {
	_, okUser := schema.ParseUser(row.Partition)
	id, okID := schema.ParseByAge(row.Row)
	if okUser && okID && row.Props.Get("PromptId").Str() == string(id) {
		return nil, nil
	}
	return []Difference{{Table: db.T.Favorites, Key: row.Key, What: "is no row that this version writes"}}, nil
}

// checkCollection reports a collection that cannot be read.
func (db *Verifier) checkCollection(row table.Row) []Difference {
	if _, ok := schema.ParseCollection(row); ok {
		return nil
	}
	return []Difference{{Table: db.T.Prompts, Key: row.Key, What: "is no row that this version writes"}}
}

// forgetFavorite removes the favorite of a prompt that does not exist any more.
func (db *Verifier) forgetFavorite(ctx context.Context, row table.Row) error {
	id, ok := schema.ParseByAge(row.Row)
	if !ok || db.Now().Sub(row.Props.Get("AddedAt").Time()) < schema.VoteSettled { // that of a new prompt of his own
		return nil
	}
	where, err := db.GetRow(ctx, db.T.Votes, schema.LocatorKey(id))
	if err != nil || where != nil {
		return err
	}
	return db.RemoveRow(ctx, db.T.Favorites, row)
}

// checkToken reports an access token that lets somebody in whom its owner does not see, or under
// other conditions than he sees. A row of a list alone is what a writer left that was stopped: its
// owner sees it, and can remove it.
func (db *Verifier) checkToken(ctx context.Context, row table.Row) ([]Difference, error) {
	t := schema.ParseToken(row)
	d := Difference{Table: db.T.AccessTokens, Key: row.Key}
	isIn := strings.HasPrefix(row.Partition, schema.AccessPrefix)
	if row.Key != schema.AccessKey(t.ID) && row.Key != schema.OwnAccessKey(t.OwnerID, t.ID) {
		d.What = "is no row that this version writes"
		return []Difference{d}, nil
	}
	if !isIn {
		return nil, nil
	}
	own, err := db.GetRow(ctx, db.T.AccessTokens, schema.OwnAccessKey(t.OwnerID, t.ID))
	if err != nil {
		return nil, err
	}
	if own == nil {
		d.What = "is an access token that its owner does not see"
		return []Difference{d}, nil
	}
	unused := slices.DeleteFunc(slices.Clone(own.Props), func(p table.Prop) bool { return p.Name == schema.UsedOn })
	if !unused.Equal(schema.TokenProps(t)) {
		d.What = "is not what its owner sees: " + unlike(unused, schema.TokenProps(t))
		return []Difference{d}, nil
	}
	return nil, nil
}

// checkUser reports a row of the users that leads astray: a handle or a key that is another's, or a
// profile whose handle or key leads elsewhere. A handle without a profile that names it is what a
// writer left that was stopped: it is its user's.
func (db *Verifier) checkUser(ctx context.Context, row table.Row) ([]Difference, error) {
	d := Difference{Table: db.T.Users, Key: row.Key}
	user := schema.UserIn(row.Props, "UserId")
	differ := func(what string) ([]Difference, error) {
		d.What = what
		return []Difference{d}, nil
	}
	_, err := db.accounts.ReadAuthorSecret(ctx)
	switch {
	case fault.CodeOf(err) == schema.AuthorSecretDamaged:
		return differ("has a key that the damaged secret of author keys made")
	case err != nil:
		return nil, err
	}
	handle, isHandle := strings.CutPrefix(row.Partition, schema.HandlePrefix)
	switch {
	case isHandle && prompt.ValidSlug(handle) && row.Key == schema.HandleKey(handle),
		row.Key == schema.KnownKey(db.accounts.AuthorKey(user)):
		return nil, nil
	case row.Key == schema.ErasureKey(user):
		return db.checkErasure(ctx, row, d)
	case row.Partition == schema.MovedPartition:
		return db.checkMoved(ctx, row, d)
	case strings.HasPrefix(row.Row, schema.MembershipPrefix):
		return db.checkMembership(row, d)
	case signsIn(row):
		return db.checkSignIn(ctx, row, d)
	// what a writer left that was stopped, at worst
	case strings.HasPrefix(row.Partition, schema.ErasePrefix) && row.Row == rowstore.Encode(string(user)):
		return nil, nil
	case strings.HasPrefix(row.Partition, schema.KnownPrefix):
		d.user = user
		return differ("is under a key that its user does not have")
	case row.Key != schema.ProfileKey(user):
		return differ("is no row that this version writes")
	}
	names := []table.Key{schema.KnownKey(db.accounts.AuthorKey(user))}
	p := schema.ParseProfile(row)
	for _, handle := range []string{p.Handle, p.Former} {
		if handle != "" {
			names = append(names, schema.HandleKey(handle))
		}
	}
	for _, key := range names {
		there, err := db.GetRow(ctx, db.T.Users, key)
		if err != nil {
			return nil, err
		}
		if there == nil && strings.HasPrefix(key.Partition, schema.KnownPrefix) {
			d.user = user
		}
		if there == nil || schema.UserIn(there.Props, "UserId") != user {
			return differ("is not where " + key.String() + " leads")
		}
	}
	return nil, nil
}

// checkMembership reports a row that leads to no workspace. That the workspace does not know of it
// is what a writer left that was stopped.
func (db *Verifier) checkMembership(row table.Row, d Difference) ([]Difference, error) {
	if m, ok := schema.ParseMembership(row); ok && prompt.IsWorkspace(m.ID) {
		return nil, nil
	}
	d.What = "is no row that this version writes"
	return []Difference{d}, nil
}

// checkWorkspace reports a workspace whose handle leads elsewhere, and a member without a role or
// without a row that leads to it.
func (db *Verifier) checkWorkspace(ctx context.Context, row table.Row) ([]Difference, error) {
	d := Difference{Table: db.T.Prompts, Key: row.Key}
	leads := schema.HandleKey(schema.ParseWorkspace(row).Handle)
	if id := schema.ParseWorkspace(row).ID; row.Key != schema.WorkspaceKey(id) {
		m, ok := schema.ParseMember(row)
		id, _ := schema.ParseUser(row.Partition)
		if !ok || !prompt.IsWorkspace(id) || !m.Role.Valid() {
			d.What = "is no row that this version writes"
			return []Difference{d}, nil
		}
		var user prompt.UserID
		if m.Kind == prompt.Person {
			if _, err := db.accounts.ReadAuthorSecret(ctx); err != nil &&
				fault.CodeOf(err) != schema.AuthorSecretDamaged {
				return nil, err
			}
			var err error
			if user, err = db.accounts.UserID(ctx, m.Name); err != nil {
				return nil, err
			}
		}
		leads = schema.MembershipKey(user, m.Kind, m.Name, id)
	}
	there, err := db.GetRow(ctx, db.T.Users, leads)
	if err != nil {
		return nil, err
	}
	isHandle := row.Row == schema.WorkspacePrefix
	if there != nil && (!isHandle || schema.UserPart(schema.UserIn(there.Props, "UserId")) == row.Partition) {
		return nil, nil
	}
	d.What = "is not where " + leads.String() + " leads"
	return []Difference{d}, nil
}

// checkErasure reports a mark that no job would find.
func (db *Verifier) checkErasure(ctx context.Context, row table.Row, d Difference) ([]Difference, error) {
	key := schema.DueKey(schema.UserIn(row.Props, "UserId"), schema.Day(row.Props.Get("EraseAt").Time()))
	due, err := db.GetRow(ctx, db.T.Users, key)
	if err != nil || due != nil {
		return nil, err
	}
	d.What = "is not among those that are to be erased on " + key.Partition
	return []Difference{d}, nil
}

// checkMoved reports a sign-in id that leads to an account while something is stored under the id
// itself, which its user does not see: an instance that had not read the row yet let him write it.
func (db *Verifier) checkMoved(ctx context.Context, row table.Row, d Difference) ([]Difference, error) {
	m, ok := schema.ParseMoved(row)
	if !ok {
		d.What = "is no row that this version writes"
		return []Difference{d}, nil
	}
	if m.SignIn == m.Account {
		return nil, nil
	}
	holds, err := db.accounts.Holds(ctx, m.SignIn)
	if err != nil || !holds {
		return nil, err
	}
	d.What = "leads to another account, and something is stored under this id too"
	return []Difference{d}, nil
}
