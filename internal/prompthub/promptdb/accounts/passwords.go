package accounts

import (
	"context"
	"errors"
	"fmt"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Account returns the account of a user with a password, nil where there is none.
func (db *Accounts) Account(ctx context.Context, user prompt.UserID) (*schema.Account, error) {
	row, err := db.GetRow(ctx, db.T.Users, schema.AccountKey(user))
	if err != nil || row == nil {
		return nil, err
	}
	a := schema.ParseAccount(*row)
	return &a, nil
}

// ErrNoAccount answers for a person without a password here.
func ErrNoAccount() error {
	return fault.Coded(fault.NotFound, NoAccount, "nobody of this name has an account with a password here")
}

// NoAccount is the code of that.
const NoAccount fault.Code = "NO_ACCOUNT"

// ChangeAccount changes the account of a user. Edit may run again.
func (db *Accounts) ChangeAccount(ctx context.Context, user prompt.UserID,
	edit func(*schema.Account) error,
) (*schema.Account, error) {
	for range rowstore.MaxTries {
		a, err := db.Account(ctx, user)
		if err != nil {
			return nil, err
		}
		if a == nil {
			return nil, ErrNoAccount()
		}
		if err := edit(a); err != nil {
			return nil, err
		}
		err = db.Write(ctx, db.T.Users, []table.Op{{Kind: table.Replace, Row: schema.AccountRowOf(*a)}})
		switch {
		case errors.Is(err, table.ErrConflict) || errors.Is(err, table.ErrNotFound):
			continue
		case err != nil:
			return nil, rowstore.Unavailable(fmt.Errorf("change an account: %w", err))
		}
		return a, nil
	}
	return nil, truth.Busy(time.Second)
}

// maxAdminsRead is how many administrators of the site are looked at for one.
const maxAdminsRead = 1000

// HasAdmin reports whether an account with a password is an administrator of the site.
func (db *Accounts) HasAdmin(ctx context.Context) (bool, error) {
	rows, _, err := db.Budget().Rows(ctx, db.T.Users, table.Range{Partition: schema.AdminsPartition}, maxAdminsRead)
	for _, row := range rows {
		if err != nil {
			break
		}
		var a *schema.Account
		if a, err = db.Account(ctx, schema.UserIn(row.Props, "UserId")); a != nil && a.Admin {
			return true, err
		}
	}
	return false, err
}

// EndAccount removes the account of a user with all its sessions.
func (db *Accounts) EndAccount(ctx context.Context, user prompt.UserID) error {
	for _, key := range []table.Key{schema.AccountKey(user), schema.AdminRow(user).Key} {
		if err := db.RemoveKey(ctx, db.T.Users, key); err != nil {
			return err
		}
	}
	for row, err := range table.All(ctx, db.DB, db.T.Users, schema.SessionsOf(user)) {
		if err != nil {
			return rowstore.Unavailable(err)
		}
		if err := db.RemoveKey(ctx, db.T.Users, row.Key); err != nil {
			return err
		}
	}
	return nil
}

// AddLogin notes that a person allowed a command line to sign in.
func (db *Accounts) AddLogin(ctx context.Context, l schema.Login) error {
	if err := db.Write(ctx, db.T.Users, []table.Op{{Kind: table.Insert, Row: schema.LoginRow(l)}}); err != nil {
		return rowstore.Unavailable(fmt.Errorf("write a sign-in: %w", err))
	}
	return nil
}

// TakeLogin returns such a sign-in and removes it, once. It is nil where there is none.
func (db *Accounts) TakeLogin(ctx context.Context, id string) (*schema.Login, error) {
	row, err := db.GetRow(ctx, db.T.Users, schema.LoginKey(id))
	if err != nil || row == nil {
		return nil, err
	}
	err = db.Write(ctx, db.T.Users, []table.Op{{Kind: table.Delete, Row: table.Row{Key: row.Key, ETag: row.ETag}}})
	switch {
	case errors.Is(err, table.ErrNotFound) || errors.Is(err, table.ErrConflict):
		return nil, nil //nolint:nilnil // another took it
	case err != nil:
		return nil, rowstore.Unavailable(err)
	}
	l := schema.ParseLogin(*row)
	return &l, nil
}

// PutSession writes the row of a session, or of a link to set a new password.
func (db *Accounts) PutSession(ctx context.Context, row table.Row) error {
	if err := db.Write(ctx, db.T.Users, []table.Op{{Kind: table.Insert, Row: row}}); err != nil {
		return rowstore.Unavailable(fmt.Errorf("write a session: %w", err))
	}
	return nil
}
