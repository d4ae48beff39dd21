package meet

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/letters"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/delivery/mail"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// This file has how an account gets another address. The row of Users says which one it has; rows
// of UserEmails follow it:
//
//	message              says that the account may have rows of two addresses; it is seen after 30 s
//	insert UserEmails    the new address is taken: one account gets it
//	replace Users        the commit, under its ETag
//	delete UserEmails    of the old address
//	delete message       after the answer
//
// The job of the message removes the row of the address that the account does not have.

// changesOfAddress is how many addresses a member may give in an hour.
const changesOfAddress = 5

// MoveTo has the caller's account get another address. Where mail is sent that happens when the
// mail there is answered, and mailed is true: the answer is the same whether the address has an
// account.
func (s *Service) MoveTo(ctx context.Context, c Claim, password, address string) (mailed bool, err error) {
	caller, err := s.identifyCaller(ctx, c)
	if err != nil {
		return false, err
	}
	if err := s.provePassword(ctx, caller, password, "body.password"); err != nil {
		return false, err
	}
	var b rules.Broken
	normal := b.Email("email", address)
	if err := b.Err(); err != nil || normal == caller.Email {
		return false, err
	}
	if err := (Asker{Site: "member " + c.UserID}).count(s.asked, changesOfAddress); err != nil {
		return false, err
	}
	if s.Mail == nil {
		return false, s.move(ctx, caller.User, normal)
	}
	if _, err := s.changeUser(ctx, caller.User, func(u *User) error { u.NewEmail = normal; return nil }); err != nil {
		return false, err
	}
	return true, s.tellMail(ctx, mailing{Kind: mailMove, ID: caller.ID})
}

// writeMove asks at the new address of an account, or tells the old one that it has another.
func (s *Service) writeMove(ctx context.Context, m mailing, may mayMail) (*mail.Message, error) {
	u, err := s.readUser(ctx, m.ID)
	if err != nil || u == nil || u.Deleted() {
		return nil, err
	}
	language, err := s.languageOf(ctx, u.ID)
	if err != nil {
		return nil, err
	}
	if m.Kind == mailMoved {
		if u.Email == m.To {
			return nil, nil
		}
		if may, err := may(m.To); err != nil || !may {
			return nil, err
		}
		letter := letters.Moved(language, m.To, s.Site+homePage)
		return &letter, nil
	}
	if u.NewEmail == "" {
		return nil, nil
	}
	if may, err := may(u.NewEmail); err != nil || !may {
		return nil, err
	}
	letter := letters.Move(language, u.NewEmail, s.Site+movePage+u.NewMove(s.Now()))
	owner, err := s.ownerOf(ctx, u.NewEmail)
	if owner != "" && owner != u.ID {
		letter = letters.JoinKnown(language, u.NewEmail, s.Site+askPage)
	}
	return &letter, err
}

// ConfirmMove gives an account the address at which a mail was answered, and tells the old one.
func (s *Service) ConfirmMove(ctx context.Context, token string) error {
	id, secret, ok := account.MoveForm.Bytes(token)
	if !ok {
		return invalidToken()
	}
	u, err := s.readUser(ctx, account.TokenID(id))
	if err != nil {
		return err
	}
	if u == nil || u.Deleted() || !u.ConfirmsMove(id, secret, s.Now()) {
		return invalidToken()
	}
	return s.move(ctx, *u, u.NewEmail)
}

// kindAddress is the kind of messages about accounts that get another address.
const kindAddress = "address"

// An addressChange is the text of a message: an account may have rows of two addresses.
type addressChange struct {
	Kind  string       `json:"kind"` // address
	ID    string       `json:"id"`
	Rows  []addressRow `json:"rows"`
	Until time.Time    `json:"until"` // from then on no write of the change can land
}

// An addressRow is a row of UserEmails as one change has written it. A later change may take the
// same address again; the job of the earlier change must leave the later row alone.
type addressRow struct {
	Hash string `json:"hash"`
	Move string `json:"move"`
}

func (r addressRow) key() table.Key { return account.EmailKeyOf(r.Hash) }

// move gives an account another address.
func (s *Service) move(ctx context.Context, u User, address string) error {
	was, err := s.GetRow(ctx, s.Tables.UserEmails, account.EmailKey(u.Email))
	if err != nil {
		return err
	}
	old := addressRow{Hash: account.EmailKey(u.Email).Row}
	if was != nil {
		old.Move = was.Props.Get("Move").Str()
	}
	next := addressRow{account.EmailKey(address).Row, s.newID()}
	ctx = s.Outbox().Begin(ctx)
	until := s.Outbox().Landed(ctx)
	wake, err := s.Outbox().Send(ctx, addressChange{kindAddress, u.ID, []addressRow{old, next}, until})
	if err != nil {
		return err
	}
	if err := s.claimAddress(ctx, u.ID, next); err != nil {
		if fault.CodeOf(err) == EmailTaken {
			s.Outbox().Cancel(ctx, wake)
		}
		return err
	}
	if s.Mail != nil { // before the change: its job looks whether the account has moved
		if err := s.mailbox().Again(ctx, mailing{Kind: mailMoved, ID: u.ID, To: u.Email, Asked: until}, until,
			until); err != nil {
			return err
		}
	}
	_, err = s.changeUser(ctx, u, func(now *User) error {
		if now.Email != u.Email && now.Email != address {
			return fault.Coded(fault.Conflict, "", "your address was changed by another request; try again")
		}
		now.Email, now.NewEmail = address, ""
		return nil
	})
	if err == nil {
		err = s.dropAddress(ctx, u.ID, old)
	}
	return s.Outbox().Finish(ctx, wake, err)
}

// claimAddress has an account take an address, which another account may have: EMAIL_TAKEN.
func (s *Service) claimAddress(ctx context.Context, id string, r addressRow) error {
	return s.Change(ctx, s.Tables.UserEmails, func(ctx context.Context) ([]table.Op, error) {
		row, err := s.GetRow(ctx, s.Tables.UserEmails, r.key())
		if err != nil {
			return nil, err
		}
		mine := table.Row{
			Key:   r.key(),
			Props: table.Props{{Name: "UserId", Value: table.String(id)}, {Name: "Move", Value: table.String(r.Move)}},
		}
		switch {
		case row == nil:
		case row.Props.Get("UserId").Str() != id:
			return nil, emailTaken()
		case row.Props.Get("Move").Str() == r.Move:
			return nil, nil
		default: // by an earlier change that came to nothing
			mine.ETag = row.ETag
		}
		return []table.Op{rowstore.Put(mine)}, nil
	})
}

// dropAddress removes the row of an address of an account, if it is still that of a change.
func (s *Service) dropAddress(ctx context.Context, id string, r addressRow) error {
	row, err := s.GetRow(ctx, s.Tables.UserEmails, r.key())
	if err != nil || row == nil || row.Props.Get("UserId").Str() != id || row.Props.Get("Move").Str() != r.Move {
		return err
	}
	return s.RemoveRow(ctx, s.Tables.UserEmails, *row)
}

// settleMove removes the rows of the addresses that an account has not, once no write of the change
// can land any more: before, one under way may be about to give it the address.
func (s *Service) settleMove(ctx context.Context, text string, looked time.Time) error {
	var c addressChange
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return fmt.Errorf("read message: %w", err)
	}
	if !looked.After(c.Until) {
		return s.Outbox().Again(ctx, c, c.Until, looked)
	}
	u, err := s.Account(ctx, c.ID)
	if err != nil {
		return err
	}
	for _, r := range c.Rows {
		if u != nil && account.EmailKey(u.Email) == r.key() {
			continue
		}
		if err := s.dropAddress(ctx, c.ID, r); err != nil {
			return err
		}
	}
	return nil
}
