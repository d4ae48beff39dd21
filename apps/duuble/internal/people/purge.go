package people

import (
	"context"
	"strings"
	"time"

	"prompthub/apps/duuble/internal/due"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/apps/duuble/internal/search"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Accounts and ties that were deleted longer than Keep ago are removed for good. An account is
// marked first, under the ETag of its row, so that no one brings back a part of one. Then the
// reservation of the number goes, so that the number can begin anew under another id; then rows of
// others that name the account; then its own rows, of which `me` is the last. So a purge may stop
// anywhere and run again.
//
// A request that had read the account or a post of it may write after that. So the same is removed
// once more, AgainAfter later: the writes of such a request are found by the row that points at
// them, which it had written first.

// AgainAfter is how long after it was removed for good a thing is looked at again. No request
// takes as long.
const AgainAfter = 5 * time.Minute

// leftAt, in a row that says when an account is due, is when the person left whose account was
// removed.
const leftAt = "left_at"

// IsAgain reports whether a row says that an account which was removed is due again.
func IsAgain(row table.Row) bool { return row.Props.Get(leftAt).Type() == table.TypeTime }

// endedTies are the rows by which PurgeTies finds ties that have ended.
func (s *Service) endedTies() due.Rows {
	return due.Rows{Store: s.Store, Table: s.Tables.Admin, Prefix: "due|tie|"}
}

// leaverRows are the rows by which PurgeAccounts finds people who have left.
func (s *Service) leaverRows() due.Rows {
	return due.Rows{Store: s.Store, Table: s.Tables.Admin, Prefix: "due|account|"}
}

// PurgeTies removes follows and blocks that ended longer than Keep ago, and rows by which people
// were found.
func (s *Service) PurgeTies(ctx context.Context) error {
	return s.endedTies().Run(ctx, s.Now().Add(-s.Keep), func(ctx context.Context, row table.Row) error {
		from, rest, _ := strings.Cut(row.Row, "|")
		kind, to, _ := strings.Cut(rest, "|")
		if kind+"|" == search.Rows {
			return s.searchIndex().Sweep(ctx, from)
		}
		return s.removeTie(ctx, kind+"|", from, to, func(x *tie) bool { return !x.isLive() && s.Overdue(x.deletedAt) })
	})
}

// removeTie removes a tie that is over, and its mirror or pointer before.
func (s *Service) removeTie(ctx context.Context, kind, from, to string, over func(*tie) bool) error {
	x, err := s.readTie(ctx, kind, from, to)
	if err != nil || x != nil && !over(x) {
		return err
	}
	if kind == followRows {
		err = s.Forget(ctx, Mirror{User: to, Row: fanRows + from, Column: followers},
			func(row *table.Row) bool { return isLive(row) })
	} else {
		var pointer *table.Row
		pointer, err = s.GetRow(ctx, s.Tables.Users, blockerKey(to, from))
		if err != nil || pointer != nil && !s.Overdue(pointer.Props.Get("at").Time()) {
			return err // a block comes back now, or did not in the end: its due row has this looked at again
		}
		if pointer != nil {
			err = s.RemoveRow(ctx, s.Tables.Users, *pointer)
		}
	}
	if err != nil {
		return err
	}
	return s.dropTie(ctx, kind, from, to, over)
}

// dropTie removes the row of a tie that is over.
func (s *Service) dropTie(ctx context.Context, kind, from, to string, over func(*tie) bool) error {
	return s.Change(ctx, s.Tables.Users, func(ctx context.Context) ([]table.Op, error) {
		x, err := s.readTie(ctx, kind, from, to)
		if err != nil || x == nil || !over(x) {
			return nil, err
		}
		ops := []table.Op{{Kind: table.Delete, Row: table.Row{Key: x.toRow().Key, ETag: x.etag}}}
		if !x.isLive() {
			return ops, nil
		}
		counts, err := s.userRow(ctx, from, tally)
		column := following
		if kind == blockRows {
			column = blocking
		}
		return append(append(ops, countOp(from, counts, column, false)), x.listOps(false)...), err
	})
}

// PurgeAccounts removes the accounts of people who left longer than Keep ago. others do the same
// with what other rooms have of an account, before its own rows go.
func (s *Service) PurgeAccounts(ctx context.Context, others func(context.Context, User) error) error {
	return s.leaverRows().Run(ctx, s.Now().Add(-s.Keep), func(ctx context.Context, row table.Row) error {
		u, err := s.condemnAccount(ctx, row.Row)
		left := row.Props.Get(leftAt).Time()
		again := u == nil && !left.IsZero()
		if again {
			u = &User{ID: row.Row, DeletedAt: left, Erased: row.Props.Get(erased).Bool()}
		}
		if err == nil && u != nil {
			err = s.releaseNumber(ctx, u.ID)
		}
		if err == nil && u != nil {
			err = others(ctx, *u)
		}
		if err == nil && u != nil && !again {
			err = s.leaverRows().Add(ctx, s.Again(), u.ID, table.Prop{Name: leftAt, Value: table.Time(u.DeletedAt)},
				table.Prop{Name: erased, Value: table.Bool(u.Erased)})
		}
		if err == nil && u != nil {
			err = s.eraseAccount(ctx, *u)
		}
		return err
	})
}

// Again returns the time for a row of a thing that is due again AgainAfter from now.
func (s *Service) Again() time.Time { return s.Now().Add(AgainAfter - s.Keep) }

// condemnAccount marks an account that goes for good; nil if it has come back, or is gone.
func (s *Service) condemnAccount(ctx context.Context, id string) (u *User, err error) {
	err = s.Change(ctx, s.Tables.Users, func(ctx context.Context) ([]table.Op, error) {
		if u, err = s.readUser(ctx, id); err != nil || u == nil || u.purging {
			return nil, err
		}
		if u.DeletedAt.IsZero() || !s.Overdue(u.DeletedAt) {
			u = nil
			return nil, nil
		}
		u.purging = true
		return []table.Op{rowstore.Put(u.toRow())}, nil
	})
	return u, err
}

// releaseNumber lets the number of an account begin anew.
func (s *Service) releaseNumber(ctx context.Context, id string) error {
	number, err := s.NumberOf(ctx, id)
	if err != nil || number == "" {
		return err
	}
	row, err := s.GetRow(ctx, s.Tables.Names, nameKey(phoneRows+number))
	if err != nil || row == nil || row.Props.Get("user_id").Str() != id {
		return err
	}
	return s.RemoveRow(ctx, s.Tables.Names, *row)
}

// eraseAccount removes the rows of an account here, and the rows of others that name it.
func (s *Service) eraseAccount(ctx context.Context, u User) error {
	for row, err := range table.All(ctx, s.DB, s.Tables.Users, table.Range{Partition: schema.User(u.ID)}) {
		if err != nil {
			return rowstore.Unavailable(err)
		}
		kind, other, _ := strings.Cut(row.Row, "|")
		all := func(*tie) bool { return true }
		switch kind + "|" {
		case followRows:
			err = s.Forget(ctx, Mirror{
				User: other, Row: fanRows + u.ID, Column: followers,
				Order: fanByTime + rowstore.Descending(parseTie(row).createdAt) + "|" + u.ID,
			},
				func(*table.Row) bool { return false })
		case blockRows:
			err = s.RemoveKey(ctx, s.Tables.Users, blockerKey(other, u.ID))
		case fanRows:
			err = s.dropTie(ctx, followRows, other, u.ID, all)
		case blockerRows:
			err = s.dropTie(ctx, blockRows, other, u.ID, all)
		case search.Rows:
			err = s.searchIndex().Forget(ctx, u.ID, row)
		}
		if err != nil {
			return err
		}
	}
	if u.Username != "" {
		row := table.Row{
			Key:   nameKey(nameRows + strings.ToLower(u.Username)),
			Props: table.Props{{Name: purged, Value: table.Bool(true)}},
		}
		if err := s.Upsert(ctx, s.Tables.Names, row); err != nil {
			return err
		}
	}
	if err := s.Assets.ForgetUser(ctx, u.ID); err != nil {
		return err
	}
	if err := s.Empty(ctx, s.Tables.Users, schema.User(u.ID), meRow); err != nil {
		return err
	}
	if err := s.Empty(ctx, s.Tables.Sessions, s.sessions.Partition(u.ID), ""); err != nil {
		return err
	}
	return s.RemoveKey(ctx, s.Tables.Users, userKey(u.ID))
}
