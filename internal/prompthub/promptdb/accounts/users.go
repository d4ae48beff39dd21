package accounts

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A user has a row with the profile, and rows that lead from names to their id: one for their
// public key, and one for the handle that they have chosen. These are inserted and never changed,
// and the insert of a handle is its reservation. They are written before the profile names them, so
// even if a writer is stopped, a handle that is shown leads to its user; and a handle that led to a
// user never leads to another one.

// Profile returns the profile of a user or a workspace, the zero one where there is none.
func (db *Accounts) Profile(ctx context.Context, user prompt.UserID) (prompt.Profile, error) {
	if prompt.IsWorkspace(user) {
		m, err := db.Workspace(ctx, user)
		if err != nil || m == nil {
			return prompt.Profile{}, err
		}
		return m.Profile, nil
	}
	row, err := db.GetRow(ctx, db.T.Users, schema.ProfileKey(user))
	if err != nil || row == nil {
		return prompt.Profile{}, err
	}
	return schema.ParseProfile(*row), nil
}

// PutProfile writes the profile of a user. A handle that he has stays; the zero one leaves it.
func (db *Accounts) PutProfile(ctx context.Context, user prompt.UserID, p prompt.Profile) (prompt.Profile, error) {
	for range rowstore.MaxTries {
		op, was, err := db.profileOp(ctx, user)
		if err != nil {
			return p, err
		}
		next, err := db.handle(ctx, user, was, p)
		if err != nil {
			return p, err
		}
		if op.Kind == table.Replace && next == was {
			return next, nil
		}
		op.Row.Props = schema.ProfileProps(user, next)
		err = db.Write(ctx, db.T.Users, []table.Op{op})
		switch {
		case errors.Is(err, table.ErrConflict) || errors.Is(err, table.ErrExists):
			continue // the user himself was faster, in another window
		case err != nil:
			return p, rowstore.Unavailable(fmt.Errorf("write a profile: %w", err))
		}
		return next, nil
	}
	return p, truth.Busy(time.Second)
}

// profileOp returns the write of a profile without its properties, and the profile as it was.
func (db *Accounts) profileOp(ctx context.Context, user prompt.UserID) (op table.Op, was prompt.Profile, err error) {
	row, err := db.GetRow(ctx, db.T.Users, schema.ProfileKey(user))
	op = table.Op{Kind: table.Insert, Row: table.Row{Key: schema.ProfileKey(user)}}
	if row != nil {
		op.Kind, op.Row.ETag, was = table.Replace, row.ETag, schema.ParseProfile(*row)
	}
	return op, was, err
}

// handle returns the profile with the handle that the user has, or takes one for him.
func (db *Accounts) handle(ctx context.Context, user prompt.UserID, was, p prompt.Profile) (prompt.Profile, error) {
	p.Given, p.Former = false, was.Former
	switch {
	case p.Handle == "" || p.Handle == was.Handle:
		if p.Handle, p.Given = was.Handle, was.Given; was.Handle != "" {
			return p, nil
		}
	case was.Given:
		p.Former = was.Handle
	case was.Handle != "":
		return p, prompt.HandleChosen(was.Handle)
	}
	if err := db.WriteUserByKey(ctx, user); err != nil {
		return p, err
	}
	if p.Handle == "" {
		return p, nil
	}
	err := db.writeUserRow(ctx, user, schema.HandleKey(p.Handle))
	if errors.Is(err, rowstore.ErrConflict) {
		return p, prompt.HandleTaken(p.Handle)
	}
	return p, err
}

// writeUserRow has a row lead to a user. It is rowstore.ErrConflict if it leads to another.
func (db *Accounts) writeUserRow(ctx context.Context, user prompt.UserID, key table.Key) error {
	for range rowstore.MaxTries {
		row, err := db.GetRow(ctx, db.T.Users, key)
		switch {
		case err != nil:
			return err
		case row != nil && schema.UserIn(row.Props, "UserId") != user:
			return rowstore.ErrConflict
		case row != nil:
			return nil
		}
		op := table.Op{
			Kind: table.Insert,
			Row:  table.Row{Key: key, Props: table.Props{{Name: "UserId", Value: table.String(string(user))}}},
		}
		if err = db.Write(ctx, db.T.Users, []table.Op{op}); err == nil {
			return nil
		}
		if !errors.Is(err, table.ErrExists) {
			return rowstore.Unavailable(fmt.Errorf("write where a user is: %w", err))
		}
	}
	return truth.Busy(time.Second)
}

// UserID returns the id of the user that a handle or a key leads to, "" for none.
func (db *Accounts) UserID(ctx context.Context, name string) (prompt.UserID, error) {
	key := schema.HandleKey(name)
	if strings.Contains(name, "_") { // no handle has one
		key = schema.KnownKey(name)
	}
	row, err := db.GetRow(ctx, db.T.Users, key)
	if err != nil || row == nil {
		return "", err
	}
	user := schema.UserIn(row.Props, "UserId")
	if key == schema.KnownKey(name) && name != db.AuthorKey(user) {
		return "", nil // a key of before there was a secret, which anybody can make of an id
	}
	return user, nil
}

// TouchUser makes the key of a user lead to them and gives them a handle, which is made of their
// name, if they have none: after the answer, once in a while in each instance.
func (db *Accounts) TouchUser(ctx context.Context, user prompt.UserID, name string) {
	if prompt.IsWorkspace(user) { // which had both before its first prompt
		return
	}
	known, _ := db.Known.ContainsOrAdd(user, struct{}{})
	handled, _ := db.handled.ContainsOrAdd(user, struct{}{})
	if known && (handled || name == "") {
		return
	}
	ctx = context.WithoutCancel(ctx)
	db.Background(func() {
		ctx, cancel := context.WithTimeout(ctx, 2*rowstore.CallWithin)
		defer cancel()
		err := db.WriteUserByKey(ctx, user)
		if err == nil && name != "" {
			err = db.giveHandle(ctx, user, name)
		}
		if err != nil || name == "" {
			db.handled.Remove(user) // the next time
		}
	})
}

// giveHandle gives a user the first handle of those made of a name that is free, if they have none.
func (db *Accounts) giveHandle(ctx context.Context, user prompt.UserID, name string) error {
	for _, handle := range prompt.GivenHandles(name, db.AuthorKey(user)) {
		op, p, err := db.profileOp(ctx, user)
		if err != nil || p.Handle != "" {
			return err
		}
		err = db.writeUserRow(ctx, user, schema.HandleKey(handle))
		if errors.Is(err, rowstore.ErrConflict) {
			continue // somebody has it
		}
		if err != nil {
			return err
		}
		p.Handle, p.Given = handle, true
		op.Row.Props = schema.ProfileProps(user, p)
		if err := db.Write(ctx, db.T.Users, []table.Op{op}); err != nil { // or the user saved a profile meanwhile
			return rowstore.Unavailable(fmt.Errorf("give a handle: %w", err))
		}
		return nil
	}
	return nil
}

// TouchAuthor is Known, done when it returns: for authors who wrote before there were keys, and
// those whose Known was lost.
func (db *Accounts) TouchAuthor(ctx context.Context, author prompt.UserID) error {
	if known, _ := db.Known.ContainsOrAdd(author, struct{}{}); known {
		return nil
	}
	return db.WriteUserByKey(ctx, author)
}

// WriteUserByKey writes the row that leads from the key of a user, which stands for them in public,
// to the user.
func (db *Accounts) WriteUserByKey(ctx context.Context, user prompt.UserID) error {
	err := db.LearnAuthorKeys(ctx)
	if err == nil {
		err = db.writeUserRow(ctx, user, schema.KnownKey(db.AuthorKey(user)))
	}
	if err != nil {
		db.Known.Remove(user)
	}
	return err
}
