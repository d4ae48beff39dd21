package people

import (
	"context"
	"strings"
	"time"

	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/fault"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A person who leaves keeps all rows for Keep, and the row `me` says since when the person has
// left. Each read of a person looks at that row, so profile, lists and names are gone at once. The
// counts of followers of others follow by a message. A sign-in meanwhile gives tokens with which
// one can come back or sign out, and nothing else. PurgeAccounts removes the account for good then.

// AccountDeleted is the code of whatever a person who has left asks for.
const AccountDeleted fault.Code = "ACCOUNT_DELETED"

// DeletedName is what others read for the name of a person who has left.
const DeletedName = "Deleted user"

func accountDeleted() error {
	return fault.Coded(fault.Forbidden, AccountDeleted,
		"you have left Duuble; come back first, within 30 days of leaving")
}

// Overdue reports whether what was deleted at a time is gone for good.
func (s *Service) Overdue(at time.Time) bool { return s.Now().Sub(at) > s.Keep }

// isThere reports whether others find a person.
func (u *User) isThere() bool { return u != nil && u.Username != "" && u.DeletedAt.IsZero() }

// Leave deletes the account of the caller and ends all sessions, also during a suspension.
func (s *Service) Leave(ctx context.Context, c Claim) error {
	u, err := s.identifyCaller(ctx, c)
	if err == nil {
		err = refuseLeft(u)
	}
	if err != nil {
		return err
	}
	now := s.Now()
	// The caller's session began before, also where the clock that its id is of is ahead of this one.
	if began := schema.TimeOf(c.SessionID).Add(time.Millisecond); began.After(now) {
		now = began
	}
	now = table.TimeOf(table.Ticks(now))
	_, r, err := s.turnAccount(ctx, u, func(ctx context.Context) error {
		return s.leaverRows().Add(ctx, now, u.ID)
	}, func(u *User) error {
		if u.DeletedAt.IsZero() {
			u.DeletedAt = now
			u.Life++
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := s.endSessions(ctx, u.ID, now); err != nil {
		return err
	}
	s.followLife(ctx, u.ID, r)
	return nil
}

// Erase has the account of a person be as if the person had left longer than Keep ago: the next
// purge removes it for good.
func (s *Service) Erase(ctx context.Context, id string) error {
	if !schema.IsID(id) {
		return noUser()
	}
	u, err := s.readUser(ctx, id)
	if err == nil && u == nil {
		err = noUser()
	}
	if err != nil || u.purging {
		return err
	}
	now := table.TimeOf(table.Ticks(s.Now()))
	at := now.Add(-s.Keep - time.Second)
	_, r, err := s.turnAccount(ctx, *u, func(ctx context.Context) error {
		return s.leaverRows().Add(ctx, at, id)
	}, func(u *User) error {
		if u.DeletedAt.IsZero() {
			u.Life++
		}
		if u.DeletedAt.IsZero() || u.DeletedAt.After(at) {
			u.DeletedAt = at
		}
		u.Erased = true
		return nil
	})
	if err == nil {
		err = s.endSessions(ctx, id, now)
	}
	if err == nil {
		err = s.reflectLife(ctx, id)
	}
	return s.tieOutbox().Finish(ctx, r, err)
}

// Return brings the account of the caller back with all that it had.
func (s *Service) Return(ctx context.Context, c Claim) (Me, error) {
	var me Me
	u, err := s.identifyCaller(ctx, c, s.readMine(&me, c.UserID))
	if err != nil {
		return Me{}, err
	}
	me.User, err = s.bringBack(ctx, u)
	return me, err
}

// RestoreUser has somebody who manages the service bring the account of a person back. One that is
// there is as good.
func (s *Service) RestoreUser(ctx context.Context, c Claim, id string) (Person, error) {
	var u *User
	_, err := s.Admin(ctx, c, func(ctx context.Context) (err error) {
		if schema.IsID(id) {
			u, err = s.readUser(ctx, id)
		}
		return err
	})
	if err == nil && (u == nil || u.Username == "" || !u.DeletedAt.IsZero() && (u.purging || s.Overdue(u.DeletedAt))) {
		err = noUser()
	}
	if err != nil {
		return Person{}, err
	}
	back, err := s.bringBack(ctx, *u)
	return back.Person(), err
}

// bringBack brings an account back with all that it had.
func (s *Service) bringBack(ctx context.Context, u User) (User, error) {
	if u.DeletedAt.IsZero() {
		return u, nil
	}
	u, r, err := s.turnAccount(ctx, u, func(context.Context) error { return nil }, func(u *User) error {
		switch {
		case u.DeletedAt.IsZero():
			return nil
		case u.purging || s.Overdue(u.DeletedAt):
			return fault.Coded(fault.Forbidden, AccountDeleted,
				"you left Duuble more than 30 days ago, so the account does not come back")
		}
		u.DeletedAt = time.Time{}
		u.Life++
		return nil
	})
	if err == nil {
		s.followLife(ctx, u.ID, r)
	}
	return u, err
}

// turnAccount changes whether an account is there, after a message that has the rest follow, and
// after what else must be first.
func (s *Service) turnAccount(ctx context.Context, u User, first func(context.Context) error,
	change func(*User) error,
) (User, queue.Receipt, error) {
	ctx = s.tieOutbox().Begin(ctx)
	var r queue.Receipt
	err := rowstore.Both(ctx, func(ctx context.Context) (err error) {
		r, err = s.tieOutbox().Send(ctx, pair{User: u.ID})
		return err
	}, first)
	if err != nil {
		return User{}, r, err
	}
	u, err = s.changeUser(ctx, u, change)
	return u, r, err
}

func (s *Service) followLife(ctx context.Context, user string, r queue.Receipt) {
	ctx = context.WithoutCancel(ctx)
	s.Background(func() {
		if s.reflectLife(ctx, user) == nil {
			s.tieOutbox().Cancel(ctx, r)
		}
	})
}

// endSessions ends the sessions of a user that began before a time.
func (s *Service) endSessions(ctx context.Context, user string, before time.Time) error {
	all, err := s.sessions.All(ctx, user)
	if err != nil {
		return err
	}
	return rowstore.Each(ctx, len(all), rowstore.MaxParallel, func(ctx context.Context, i int) error {
		if all[i].CreatedAt.After(before) {
			return nil // a sign-in of a person who had left
		}
		return s.sessions.End(ctx, user, all[i].ID)
	})
}

// reflectLife writes what follows from leaving and from coming back: the mirrors of the follows of
// the user, and the end of sessions.
func (s *Service) reflectLife(ctx context.Context, user string) error {
	u, err := s.readUser(ctx, user)
	if err != nil || u == nil || u.purging {
		return err
	}
	if !u.DeletedAt.IsZero() {
		if err := s.endSessions(ctx, user, u.DeletedAt); err != nil {
			return err
		}
	}
	var others []string
	for row, err := range table.All(ctx, s.DB, s.Tables.Users, table.Prefix(schema.User(user), followRows)) {
		if err != nil {
			return rowstore.Unavailable(err)
		}
		others = append(others, strings.TrimPrefix(row.Row, followRows))
	}
	return rowstore.Each(ctx, len(others), rowstore.MaxParallel, func(ctx context.Context, i int) error {
		return s.reflectFollow(ctx, user, others[i])
	})
}
