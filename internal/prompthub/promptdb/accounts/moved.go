package accounts

import (
	"context"
	"errors"
	"fmt"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// An account is known by the first id that its user signed in with, and every row of the user says
// that id. If the identity provider changes, it calls the user by another id. One row then leads
// from that sign-in id to the account, and nothing else changes. A sign-in id that the account was
// moved away from is refused: a provider may give it to somebody else. All these rows stand in one
// partition. So one batch changes them, and every instance keeps all of them.

// MaxMoved is how many rows there may be that lead from sign-in ids to accounts.
const MaxMoved = 10_000

// movedFor is how long an instance believes what it read of moved sign-in ids.
const movedFor = time.Minute

// UserMoved is the code by which a sign-in id is refused whose account was moved to another one.
const UserMoved fault.Code = "USER_MOVED"

func errUserMoved() error {
	return fault.Coded(fault.Forbidden, UserMoved,
		"an operator moved this account to another sign-in: sign out, and sign in with the new one")
}

// moved is what an instance knows of sign-in ids that were moved.
type moved struct {
	rows rowstore.Cached[movedRows]
	met  *lru.Cache[prompt.UserID, struct{}] // sign-in ids that had no row when they were met
}

func newMoved() moved {
	return moved{met: rowstore.NewLRU[prompt.UserID, struct{}](truth.MaxAuthors)}
}

// movedRows are all sign-in ids that were moved.
type movedRows struct {
	bySignIn map[prompt.UserID]schema.Moved
	current  map[prompt.UserID]prompt.UserID // by account: the id that its user signs in with
}

func (db *Accounts) readMoved(ctx context.Context) (movedRows, error) {
	all := movedRows{bySignIn: map[prompt.UserID]schema.Moved{}, current: map[prompt.UserID]prompt.UserID{}}
	for row, err := range table.All(ctx, db.DB, db.T.Users, table.Range{Partition: schema.MovedPartition}) {
		if err != nil {
			return all, rowstore.Unavailable(fmt.Errorf("read who was moved: %w", err))
		}
		m, ok := schema.ParseMoved(row)
		if !ok {
			continue // verify reports it
		}
		all.bySignIn[m.SignIn] = m
		if !m.Left {
			all.current[m.Account] = m.SignIn
		}
	}
	return all, nil
}

// ReadMoved readies AccountOf, which reads again what is older than a minute.
func (db *Accounts) ReadMoved(ctx context.Context) error {
	_, err := db.moved.rows.Now(ctx, db.Now, movedFor, db.readMoved)
	return err
}

// AccountOf returns the account of somebody who has signed in. It is UserMoved if the account was
// moved to another sign-in id. An instance may be a minute late, but not with a sign-in id that it
// meets for the first time.
func (db *Accounts) AccountOf(ctx context.Context, signIn prompt.UserID) (prompt.UserID, error) {
	all, err := db.moved.rows.Now(ctx, db.Now, movedFor, db.readMoved)
	if err != nil {
		return "", err
	}
	if m, ok := all.bySignIn[signIn]; ok {
		return accountOrMoved(m)
	}
	if _, left := all.current[signIn]; left {
		return "", errUserMoved()
	}
	if db.moved.met.Contains(signIn) {
		return signIn, nil
	}
	m, err := db.movedRow(ctx, signIn)
	if err != nil {
		return "", err
	}
	if m != nil {
		return accountOrMoved(*m)
	}
	db.moved.met.Add(signIn, struct{}{})
	return signIn, nil
}

func accountOrMoved(m schema.Moved) (prompt.UserID, error) {
	if m.Left {
		return "", errUserMoved()
	}
	return m.Account, nil
}

// SignsInTo returns the account that somebody with a sign-in id has, for an operator: it asks the
// storage, and refuses no id.
func (db *Accounts) SignsInTo(ctx context.Context, signIn prompt.UserID) (prompt.UserID, error) {
	m, err := db.movedRow(ctx, signIn)
	if err != nil || m == nil || m.Left {
		return signIn, err
	}
	return m.Account, nil
}

// movedRow returns the row of a sign-in id, nil if there is none.
func (db *Accounts) movedRow(ctx context.Context, signIn prompt.UserID) (*schema.Moved, error) {
	row, err := db.GetRow(ctx, db.T.Users, schema.MovedKey(signIn))
	if err != nil || row == nil {
		return nil, err
	}
	m, ok := schema.ParseMoved(*row)
	if !ok {
		return nil, nil //nolint:nilnil // as documented
	}
	return &m, nil
}

// Holds reports whether anything is stored under the id of a user. Rows of others that name the
// user, such as a moderator's, are not looked for.
func (db *Accounts) Holds(ctx context.Context, user prompt.UserID) (bool, error) {
	for _, name := range []string{db.T.Users, db.T.Prompts, db.T.VotesByVoter, db.T.AccessTokens, db.T.Favorites} {
		for _, err := range table.All(ctx, db.DB, name, table.Range{Partition: schema.UserPart(user)}) {
			return err == nil, err
		}
	}
	return false, nil
}

// MoveUser has the account of a user, named by any of its sign-in ids, be that of another sign-in
// id from now on, and returns the account. It changes nothing if that is so already, so it may be
// stopped and run again.
func (db *Accounts) MoveUser(ctx context.Context, from, to prompt.UserID) (prompt.UserID, error) {
	if prompt.LooksLikeWorkspace(string(from)) || prompt.LooksLikeWorkspace(string(to)) {
		return "", fault.New(fault.Invalid,
			"an id that begins with w: is that of a workspace, which no user signs in as")
	}
	if from == "" || to == "" || from == to {
		return "", fault.New(fault.Invalid, "two different ids are needed: the one that the user had, and the new one")
	}
	for range rowstore.MaxTries {
		account, ops, err := db.moves(ctx, from, to)
		if err != nil || len(ops) == 0 {
			return account, err
		}
		err = db.Write(ctx, db.T.Users, ops)
		switch {
		case errors.Is(err, table.ErrConflict) || errors.Is(err, table.ErrExists) || errors.Is(err, table.ErrNotFound):
			continue // another operator was faster
		case err != nil:
			return account, rowstore.Unavailable(fmt.Errorf("move a user: %w", err))
		}
		return account, nil
	}
	return "", truth.Busy(time.Second)
}

// moves returns the account, and the changes that have it be that of another sign-in id; none if it
// is already.
func (db *Accounts) moves(ctx context.Context, from, to prompt.UserID) (prompt.UserID, []table.Op, error) {
	all, err := db.readMoved(ctx)
	if err != nil {
		return "", nil, err
	}
	account := from
	if m, ok := all.bySignIn[from]; ok {
		account = m.Account
	}
	was, known := all.bySignIn[to]
	_, another := all.current[to]
	switch {
	case known && was.Account != account:
		return account, nil, fault.New(fault.Conflict,
			fmt.Sprintf("%q signs in to the account %q, or did before", to, was.Account))
	case known && !was.Left:
		return account, nil, nil
	case !known && another && to != account:
		return account, nil, fault.New(fault.Conflict,
			fmt.Sprintf("%q is the account of another user, who was moved", to))
	case !known && len(all.bySignIn) >= MaxMoved:
		return account, nil, fault.New(fault.Conflict,
			fmt.Sprintf("%d sign-in ids lead to accounts, which is the most", MaxMoved))
	}
	if err := db.mayMove(ctx, account, to); err != nil {
		return account, nil, err
	}
	ops := []table.Op{{Kind: table.Insert, Row: schema.Moved{SignIn: to, Account: account}.Row()}}
	if known {
		ops[0].Kind, ops[0].Row.ETag = table.Replace, was.ETag
	}
	if before, ok := all.current[account]; ok {
		left := schema.Moved{SignIn: before, Account: account, Left: true}.Row()
		left.ETag = all.bySignIn[before].ETag
		ops = append(ops, table.Op{Kind: table.Replace, Row: left})
	}
	return account, ops, nil
}

// mayMove refuses an account that is none, and a sign-in id under which somebody has something.
func (db *Accounts) mayMove(ctx context.Context, account, to prompt.UserID) error {
	holds, err := db.Holds(ctx, account)
	switch {
	case err != nil:
		return err
	case !holds:
		return fault.New(fault.NotFound,
			fmt.Sprintf("nothing is stored under the id %q: is it what the identity provider called the user?",
				account))
	case to == account:
		return nil
	}
	switch holds, err = db.Holds(ctx, to); {
	case err != nil:
		return err
	case holds:
		return fault.New(fault.Conflict, fmt.Sprintf("something is stored under the id %q already: its user was here. Have it exported (export --account), erase it (erase), and move the user then", to))
	}
	return nil
}
