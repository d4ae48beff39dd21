package meet

import (
	"context"
	"net/url"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/letters"
	"prompthub/internal/delivery/mail"
	"prompthub/internal/fault"
	"prompthub/internal/http/auth/attempts"
	"prompthub/internal/http/auth/session"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Join keeps a registration until its mail is answered. It does the same for an address that has an
// account and for one that has none, in the same time: the job of mails finds out which it is.
func (s *Service) Join(ctx context.Context, r Registration) error {
	if s.Mail == nil {
		return mailOff()
	}
	u, err := s.newUser(&r)
	if err != nil {
		return err
	}
	if err := s.countSignUp(r.By); err != nil {
		return err
	}
	if u.PasswordHash, err = s.Passwords.Hash(ctx, r.By.hasherOf(""), r.Password); err != nil {
		return err
	}
	u.CreatedAt = s.Now().UTC()
	u.UpdatedAt, u.LastSeen = u.CreatedAt, u.CreatedAt
	row := table.Row{Key: account.JoinKey(u.ID), Props: append(u.Row(s.Now()).Props,
		table.Prop{Name: "Language", Value: table.String(r.Language)},
		table.Prop{Name: "EndsAt", Value: table.Time(s.Now().Add(account.JoinFor))},
	)}
	if r.Back != "" {
		row.Props = append(row.Props, table.Prop{Name: "Back", Value: table.String(r.Back)})
	}
	if err := s.Insert(ctx, s.Tables.Mails, row); err != nil {
		return err
	}
	return s.tellMail(ctx, mailing{Kind: mailJoin, ID: u.ID})
}

// writeJoin returns the mail of a registration: a link that confirms it, or to a member the news
// that there is an account. The last link that was sent is the one that works.
func (s *Service) writeJoin(ctx context.Context, id string, may mayMail) (*mail.Message, error) {
	key := account.JoinKey(id)
	row, err := s.GetRow(ctx, s.Tables.Mails, key)
	if err != nil || row == nil {
		return nil, err
	}
	u := account.ParseUser(*row)
	if may, err := may(u.Email); err != nil || !may {
		return nil, err
	}
	owner, err := s.ownerOf(ctx, u.Email)
	if err != nil {
		return nil, err
	}
	if owner != "" {
		language, err := s.languageOf(ctx, owner)
		letter := letters.JoinKnown(language, u.Email, s.Site+askPage)
		return &letter, err // the row stays for another try, and leads nowhere
	}
	var secret session.Secret
	s.sessions.Fill(secret[:])
	err = s.mergeProps(ctx, s.Tables.Mails, key,
		table.Props{{Name: "SecretHash", Value: table.String(session.Hash(secret[:]))}})
	link := s.Site + joinPage + account.JoinForm.Format(account.IDBytes(id), secret)
	if back := row.Props.Get("Back").Str(); back != "" {
		link += "&back=" + url.QueryEscape(back)
	}
	letter := letters.Join(row.Props.Get("Language").Str(), u.Email, link)
	return &letter, err
}

// Confirm makes the account of a registration by the token of its mail, and signs it in. It asks
// for the password of the registration: else a stranger could register the address of another
// person with a password of their own, and wait for that person to confirm it. Of two that confirm
// one gets the address.
func (s *Service) Confirm(ctx context.Context, token, password string, by Asker) (SignedIn, error) {
	b, secret, ok := account.JoinForm.Bytes(token)
	if !ok {
		return SignedIn{}, invalidToken()
	}
	key := account.JoinKey(account.TokenID(b))
	row, err := s.GetRow(ctx, s.Tables.Mails, key)
	if err != nil {
		return SignedIn{}, err
	}
	if row == nil || row.Props.Get("SecretHash").Str() != session.Hash(secret[:]) ||
		!s.Now().Before(row.Props.Get("EndsAt").Time()) {
		return SignedIn{}, invalidToken()
	}
	u := account.ParseUser(*row)
	done, err := s.attempts.Begin(attempts.Limit{Name: "join " + u.ID, Most: attempts.Most})
	if err != nil {
		return SignedIn{}, err
	}
	_, err = s.verifyPassword(ctx, by.hasherOf(""), &u, password)
	done(fault.CodeOf(err) == InvalidCredentials)
	if err != nil {
		return SignedIn{}, wrongPassword(err, "body.password")
	}
	u.ID, u.ETag = s.newID(), ""
	in, err := s.makeAccount(ctx, u, Registration{Language: row.Props.Get("Language").Str(), By: by})
	if err == nil {
		ctx = context.WithoutCancel(ctx)
		s.Background(func() { // if it stays it leads to an address that is taken, and goes after a day
			ctx, cancel := context.WithTimeout(ctx, rowstore.CallWithin)
			defer cancel()
			_ = s.RemoveKey(ctx, s.Tables.Mails, key)
		})
	}
	return in, err
}
