package accounts

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"slices"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A person that accepts an invitation takes a use of it first, under its ETag, then gets its
// offers, and then the use is noted to be done. So a use is never given twice; a person that was
// stopped in between goes on with the same use, which their key tells. A membership is written
// under the ETag of its workspace, with a look whether who made the invitation is its
// administrator still.

// maxListedInvites is how many invitations a list shows.
const maxListedInvites = 200

// invitesKept is how long an invitation is listed after its end.
const invitesKept = 7 * 24 * time.Hour

// invitesAtOnce is how many invitations of a list are read together.
const invitesAtOnce = 10

// AddInvite stores a new invitation, and removes those of its maker that ended long ago.
func (db *Accounts) AddInvite(ctx context.Context, i prompt.Invite) error {
	mine, err := db.Invites(ctx, i.By)
	if err != nil {
		return err
	}
	left := prompt.MaxInvites
	for _, old := range mine {
		if db.Now().Sub(old.ExpiresAt) < invitesKept {
			left--
		} else if err := db.RemoveInvite(ctx, old); err != nil {
			return err
		}
	}
	for _, owner := range schema.InviteLists(i) {
		rows, _, err := db.Budget().Rows(ctx, db.T.Users, schema.InvitesOf(owner), maxListedInvites)
		if err != nil {
			return err
		}
		left = min(left, maxListedInvites-len(rows))
	}
	if left <= 0 {
		return prompt.ErrTooManyInvites()
	}
	return db.PutInvite(ctx, i)
}

// PutInvite writes an invitation in place of one with its id, as it is now: a write that lands late
// must not take back what was taken since.
func (db *Accounts) PutInvite(ctx context.Context, i prompt.Invite) error {
	was, err := db.GetRow(ctx, db.T.Users, schema.InviteKey(i.ID))
	if err != nil {
		return err
	}
	ops := []table.Op{}
	for _, owner := range schema.InviteLists(i) {
		ops = append(ops, table.Op{Kind: table.Upsert, Row: schema.ListedInvite(owner, i.ID)})
	}
	last := table.Op{Kind: table.Insert, Row: schema.InviteRow(i)}
	if was != nil {
		last.Kind, last.Row.ETag = table.Replace, was.ETag
	}
	for _, op := range append(ops, last) {
		if err := db.Write(ctx, db.T.Users, []table.Op{op}); err != nil {
			return rowstore.Unavailable(fmt.Errorf("write an invitation: %w", err))
		}
	}
	return nil
}

// Invites returns the invitations of a maker or a workspace, or of the site where the owner is "",
// the newest first.
func (db *Accounts) Invites(ctx context.Context, owner prompt.UserID) ([]prompt.Invite, error) {
	rows, _, err := db.Budget().Rows(ctx, db.T.Users, schema.InvitesOf(owner), maxListedInvites)
	if err != nil {
		return nil, err
	}
	all := make([]prompt.Invite, len(rows))
	err = rowstore.Each(ctx, len(rows), invitesAtOnce, func(ctx context.Context, at int) error {
		id, ok := schema.ParseListedInvite(rows[at])
		if !ok {
			return nil
		}
		i, _, err := db.readInvite(ctx, id)
		all[at] = i
		return err
	})
	all = slices.DeleteFunc(all, func(i prompt.Invite) bool { return i.ID == "" }) // begun, or half removed
	slices.SortFunc(all, func(a, b prompt.Invite) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return all, err
}

// maxReadInvites is how many invitations are looked at for a list of those of everybody.
const maxReadInvites = 4000

// OpenInvites returns the newest invitations of everybody that somebody may accept still.
func (db *Accounts) OpenInvites(ctx context.Context) ([]prompt.Invite, error) {
	rows, _, err := db.single(ctx, db.T.Users, schema.InvitePrefix, "", maxReadInvites, nil)
	var open []prompt.Invite
	for _, row := range rows {
		if i, ok := schema.ParseInvite(row); ok && i.Left() > 0 && db.Now().Before(i.ExpiresAt) {
			open = append(open, i)
		}
	}
	slices.SortFunc(open, func(a, b prompt.Invite) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return open[:min(len(open), maxListedInvites)], err
}

// readInvite returns an invitation, the zero one where there is none, and its ETag.
func (db *Accounts) readInvite(ctx context.Context, id string) (prompt.Invite, string, error) {
	row, err := db.GetRow(ctx, db.T.Users, schema.InviteKey(id))
	if err != nil || row == nil {
		return prompt.Invite{}, "", err
	}
	i, ok := schema.ParseInvite(*row)
	if !ok {
		return prompt.Invite{}, "", nil // verify reports it
	}
	return i, row.ETag, nil
}

// InviteByID returns an invitation, the zero one where there is none.
func (db *Accounts) InviteByID(ctx context.Context, id string) (prompt.Invite, error) {
	i, _, err := db.readInvite(ctx, id)
	return i, err
}

// Invite returns the invitation that a secret opens.
func (db *Accounts) Invite(ctx context.Context, id string, secret [32]byte) (prompt.Invite, error) {
	i, _, err := db.invite(ctx, id, secret)
	return i, err
}

func (db *Accounts) invite(ctx context.Context, id string, secret [32]byte) (prompt.Invite, string, error) {
	i, etag, err := db.readInvite(ctx, id)
	if err == nil && (i.ID == "" || subtle.ConstantTimeCompare(i.Secret[:], secret[:]) != 1) {
		err = prompt.ErrNoInvite()
	}
	return i, etag, err
}

// RemoveInvite withdraws an invitation.
func (db *Accounts) RemoveInvite(ctx context.Context, i prompt.Invite) error {
	if err := db.RemoveKey(ctx, db.T.Users, schema.InviteKey(i.ID)); err != nil {
		return err
	}
	for _, owner := range schema.InviteLists(i) {
		if err := db.RemoveKey(ctx, db.T.Users, schema.ListedInvite(owner, i.ID).Key); err != nil {
			return err
		}
	}
	return nil
}

// EndInvites withdraws the invitations of a maker, or to a workspace.
func (db *Accounts) EndInvites(ctx context.Context, owner prompt.UserID) error {
	for row, err := range table.All(ctx, db.DB, db.T.Users, schema.InvitesOf(owner)) {
		if err != nil {
			return rowstore.Unavailable(err)
		}
		id, _ := schema.ParseListedInvite(row)
		i, err := db.InviteByID(ctx, id)
		if err == nil && i.ID != "" {
			err = db.RemoveInvite(ctx, i)
		}
		if err == nil {
			err = db.RemoveKey(ctx, db.T.Users, row.Key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A Newcomer is who makes an account by an invitation.
type Newcomer struct {
	schema.Account
	Handle string
	Same   func(hash string) (bool, error) // whether a hash is of the newcomer's password too
}

// AcceptInvite gives somebody what an invitation offers. A newcomer, nil for those who are there,
// gets an account first.
func (db *Accounts) AcceptInvite(ctx context.Context, user prompt.UserID, id string, secret [32]byte,
	n *Newcomer,
) (prompt.Invite, error) {
	i, err := db.Invite(ctx, id, secret)
	if err != nil {
		return i, err
	}
	if err := db.LearnAuthorKeys(ctx); err != nil {
		return i, err
	}
	key := prompt.UserID(db.AuthorKey(user))
	if n != nil {
		if err := db.mayBegin(ctx, n); err != nil {
			return i, err
		}
	}
	open, err := db.openOffers(ctx, i, key)
	if err != nil {
		return i, err
	}
	begun := slices.ContainsFunc(i.Takers, func(t prompt.Taker) bool { return t.Key == key && !t.Done })
	if len(open) == 0 && n == nil && !begun {
		return i, prompt.ErrAlreadyMember()
	}
	if _, err := i.Take(key, db.Now()); err != nil {
		return i, err
	}
	for range open {
		if err := db.mayJoin(ctx, user); err != nil {
			return i, err
		}
	}
	if err := db.WriteUserByKey(ctx, user); err != nil {
		return i, err
	}
	if n != nil {
		err := db.writeUserRow(ctx, user, schema.HandleKey(n.Handle))
		if errors.Is(err, rowstore.ErrConflict) {
			err = prompt.HandleTaken(n.Handle)
		}
		if err != nil {
			return i, err
		}
	}
	take := func(i prompt.Invite) (prompt.Invite, error) { return i.Take(key, db.Now()) }
	if i, err = db.changeInvite(ctx, id, secret, take); err != nil {
		return i, err
	}
	if n != nil {
		if err := db.addAccount(ctx, n); err != nil {
			return i, err
		}
	}
	for _, o := range open {
		if err := db.join(ctx, i, o, user); err != nil {
			return i, err
		}
	}
	return db.changeInvite(ctx, id, secret, func(i prompt.Invite) (prompt.Invite, error) { return i.Took(key), nil })
}

// openOffers returns what an invitation offers to somebody who has it not. A role that they have
// stays as it is.
func (db *Accounts) openOffers(ctx context.Context, i prompt.Invite, key prompt.UserID) ([]prompt.Offer, error) {
	var open []prompt.Offer
	for _, o := range i.Offers {
		m, err := db.ReadWorkspace(ctx, o.Workspace)
		if err != nil {
			return nil, err
		}
		if !m.mayOffer(o) {
			return nil, prompt.ErrInviteVoid()
		}
		if m.Of(prompt.Person, string(key)) != nil {
			continue
		}
		if people, _ := m.count(); people >= prompt.MaxPeople {
			return nil, prompt.ErrTooManyMembers()
		}
		open = append(open, o)
	}
	return open, nil
}

// mayOffer reports whether the maker of an invitation may invite to a workspace, nil for none.
func (m *Members) mayOffer(o prompt.Offer) bool {
	if m == nil || m.Deleted() {
		return false
	}
	via := m.Of(o.ViaKind, o.Via)
	return via != nil && via.Role == prompt.RoleAdministrator
}

// changeInvite changes an invitation that a secret opens. Edit may run again.
func (db *Accounts) changeInvite(ctx context.Context, id string, secret [32]byte,
	edit func(prompt.Invite) (prompt.Invite, error),
) (prompt.Invite, error) {
	for range rowstore.MaxTries {
		was, etag, err := db.invite(ctx, id, secret)
		if err != nil {
			return was, err
		}
		next, err := edit(was)
		if err != nil {
			return was, err
		}
		row := schema.InviteRow(next)
		row.ETag = etag
		if row.Props.Equal(schema.InviteRow(was).Props) {
			return next, nil
		}
		err = db.Write(ctx, db.T.Users, []table.Op{{Kind: table.Replace, Row: row}})
		switch {
		case errors.Is(err, table.ErrConflict) || errors.Is(err, table.ErrNotFound):
			continue // somebody was faster
		case err != nil:
			return was, rowstore.Unavailable(fmt.Errorf("take a use of an invitation: %w", err))
		}
		return next, nil
	}
	return prompt.Invite{}, truth.Busy(time.Second)
}

// join makes somebody a member as an offer says, unless they are one.
func (db *Accounts) join(ctx context.Context, i prompt.Invite, o prompt.Offer, user prompt.UserID) error {
	next := prompt.Member{
		Kind: prompt.Person, Name: db.AuthorKey(user), Role: o.Role, AddedBy: prompt.UserID(db.AuthorKey(i.By)),
		AddedAt: db.Now().UTC().Truncate(time.Millisecond),
	}
	if err := db.writeMembership(ctx, user, next, o.Workspace); err != nil {
		return err
	}
	isNew := false
	_, err := db.changeWorkspace(ctx, o.Workspace, prompt.UserID(next.Name),
		func(m *Members) ([]table.Op, prompt.Event, error) {
			if isNew = m.Of(next.Kind, next.Name) == nil; !isNew {
				return nil, prompt.Event{}, nil
			}
			if !m.mayOffer(o) {
				return nil, prompt.Event{}, prompt.ErrInviteVoid()
			}
			if people, _ := m.count(); people >= prompt.MaxPeople {
				return nil, prompt.Event{}, prompt.ErrTooManyMembers()
			}
			m.All = append(m.All, next)
			return []table.Op{{Kind: table.Insert, Row: schema.MemberRow(o.Workspace, next)}},
				memberEvent(prompt.MemberAdded, next), nil
		})
	if isNew && fault.Of(err) == fault.Conflict { // it was refused
		_ = db.RemoveKey(ctx, db.T.Users, schema.MembershipKey(user, next.Kind, next.Name, o.Workspace))
	}
	return err
}

// mayBegin refuses a newcomer whose account is another's.
func (db *Accounts) mayBegin(ctx context.Context, n *Newcomer) error {
	row, err := db.GetRow(ctx, db.T.Users, schema.HandleKey(n.Handle))
	switch {
	case err != nil:
		return err
	case row != nil && schema.UserIn(row.Props, "UserId") != n.ID: // also of one who was erased
		return prompt.HandleTaken(n.Handle)
	}
	return db.sameAccount(ctx, n)
}

// sameAccount refuses a newcomer whose account is there with another password.
func (db *Accounts) sameAccount(ctx context.Context, n *Newcomer) error {
	there, err := db.Account(ctx, n.ID)
	if err != nil || there == nil {
		return err
	}
	same, err := n.Same(there.PasswordHash)
	if err == nil && !same {
		err = prompt.HandleTaken(n.Handle)
	}
	return err
}

// addAccount writes the account of a newcomer, and the profile.
func (db *Accounts) addAccount(ctx context.Context, n *Newcomer) error {
	if n.Admin {
		if err := db.Write(ctx, db.T.Users, []table.Op{{Kind: table.Upsert, Row: schema.AdminRow(n.ID)}}); err != nil {
			return rowstore.Unavailable(fmt.Errorf("write who may be an administrator: %w", err))
		}
	}
	err := db.Write(ctx, db.T.Users, []table.Op{{Kind: table.Insert, Row: schema.AccountRowOf(n.Account)}})
	switch {
	case errors.Is(err, table.ErrExists):
		err = db.sameAccount(ctx, n)
	case err != nil:
		err = rowstore.Unavailable(fmt.Errorf("write an account: %w", err))
	}
	if err == nil {
		_, err = db.PutProfile(ctx, n.ID, prompt.Profile{Handle: n.Handle, Name: n.Name})
	}
	return err
}
