package meet

import (
	"context"
	"time"

	"prompthub/apps/harmony/internal/account"
	"prompthub/internal/fault"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Until returns how long a deleted account can be restored: zero is for ever.
func (s *Service) Until(deletedAt time.Time) time.Time {
	if s.EraseAfter < 0 {
		return time.Time{}
	}
	return deletedAt.Add(s.EraseAfter)
}

func (s *Service) accountDeleted(u User) error {
	text := "this account is deleted; it can be restored"
	switch until := s.Until(u.DeletedAt); {
	case until.IsZero():
	case s.Now().Before(until):
		text += " until " + until.UTC().Format(time.RFC3339)
	default:
		text = "this account is deleted, and too long ago to be restored"
	}
	return fault.Coded(fault.Forbidden, AccountDeleted, text)
}

// DeleteMe deletes the caller's account: from the answer on no other member sees it, and its tokens
// are good for nothing. It returns until when it can be restored; zero is for ever.
func (s *Service) DeleteMe(ctx context.Context, c Claim, password string) (until time.Time, err error) {
	caller, err := s.callerSuspended(ctx, c)
	if err == nil {
		err = s.provePassword(ctx, caller, password, "body.password")
	}
	if err != nil {
		return time.Time{}, err
	}
	at, after := s.Now().UTC(), s.sessions.EndBefore()
	ctx = s.Outbox().Begin(ctx)
	change := userChange{Kind: KindUser, ID: caller.ID, Until: s.Outbox().Landed(ctx)}
	var wake queue.Receipt
	err = rowstore.Both(ctx, func(ctx context.Context) (err error) {
		wake, err = s.Outbox().Send(ctx, change)
		return err
	}, func(ctx context.Context) error {
		// It does no harm without a deletion: the timer looks at the account.
		return s.Insert(ctx, s.Tables.State,
			table.Row{
				Key:   account.DueKey(caller.ID, at),
				Props: table.Props{{Name: "UserId", Value: table.String(caller.ID)}},
			})
	})
	if err != nil {
		return time.Time{}, err
	}
	gone, err := s.changeUser(ctx, caller.User, func(u *User) error {
		if !u.Deleted() { // by another request, or a try whose answer was lost
			u.DeletedAt, u.SessionsAfter = at, after
		}
		return nil
	})
	if err == nil {
		err = s.followDeck(ctx, gone)
	}
	if err != nil {
		return time.Time{}, err // the message stays: it finishes what has landed
	}
	// Places at coming events are given back now, not after half a minute.
	ctx = context.WithoutCancel(ctx)
	s.Background(func() {
		_ = s.Outbox().Finish(ctx, wake, s.Outbox().Tell(ctx, change))
	})
	return s.Until(gone.DeletedAt), nil
}

// Restore brings a deleted account back, and signs the member in. Places at events stay given back.
func (s *Service) Restore(ctx context.Context, address, password string, by Asker) (SignedIn, error) {
	return s.enterSession(ctx, address, password, by, func(u User) (User, error) {
		if !u.Deleted() {
			return User{}, fault.Coded(fault.Conflict, NotDeleted, "this account is not deleted; sign in")
		}
		if until := s.Until(u.DeletedAt); !until.IsZero() && !s.Now().Before(until) {
			return User{}, s.accountDeleted(u)
		}
		back := u
		err := s.changeDeck(ctx, u, u, func(ctx context.Context) (err error) {
			back, err = s.changeUser(ctx, u, func(u *User) error { u.DeletedAt = time.Time{}; return nil })
			return err
		})
		return back, err
	})
}

// BeginErasure has a deleted account count as gone, for good. It reports false if the account is
// not deleted any more.
func (s *Service) BeginErasure(ctx context.Context, u User) (bool, error) {
	begun, err := s.changeUser(ctx, u, func(u *User) error {
		u.Erasing = u.Deleted()
		return nil
	})
	if fault.CodeOf(err) == UserNotFound { // a try whose answer was lost has marked it
		return true, nil
	}
	return begun.Erasing, err
}

// EndErasure removes an account, of which no other row is left, and has its address be free again.
func (s *Service) EndErasure(ctx context.Context, u User) error {
	email := account.EmailKey(u.Email)
	row, err := s.GetRow(ctx, s.Tables.UserEmails, email)
	if err == nil && row != nil && row.Props.Get("UserId").Str() == u.ID {
		err = s.RemoveKey(ctx, s.Tables.UserEmails, email)
	}
	if err != nil {
		return err
	}
	return s.RemoveKey(ctx, s.Tables.Users, account.UserKey(u.ID))
}

// Left reports whether a member has deleted the account, or is no more.
func (s *Service) Left(ctx context.Context, id string) (bool, error) {
	u, err := s.readUser(ctx, id)
	return u == nil || u.Deleted(), err
}

// Account reads an account as it is stored, one that is being erased too; nil if there is none.
func (s *Service) Account(ctx context.Context, id string) (*User, error) {
	if id == "" { // of a member who was erased
		return nil, nil
	}
	row, err := s.GetRow(ctx, s.Tables.Users, account.UserKey(id))
	if err != nil || row == nil {
		return nil, err
	}
	u := account.ParseUser(*row)
	return &u, nil
}
