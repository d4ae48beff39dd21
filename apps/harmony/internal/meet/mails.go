package meet

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/letters"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/delivery/mail"
	"prompthub/internal/fault"
	"prompthub/internal/host/function"
	"prompthub/internal/storage/outbox"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// QueueMails is the queue of mails, and the function of the same name: no request waits for a mail
// server, or tells by its time whether there is an account.
const QueueMails = "mails"

// The kinds of mails.
const (
	mailJoin  = "join"  // ID is of a registration that waits
	mailReset = "reset" // ID is the hash of an address, as in the key of its row
	mailMove  = "move"  // ID is of an account
	mailMoved = "moved" // likewise, To is the address that it had
)

// A mailing is the text of a message: a mail may have to be sent. Its job finds out to whom, and
// makes the link, so that no message holds a secret.
type mailing struct {
	Kind  string    `json:"kind"`
	ID    string    `json:"id"`
	To    string    `json:"to,omitempty"`
	Asked time.Time `json:"asked"`
	Tries int       `json:"tries,omitempty"`
}

// Pages that links in mails lead to, after Config.Site.
const (
	joinPage  = "/app/confirm?token="
	resetPage = "/app/reset?token="
	movePage  = "/app/confirm-email?token="
	askPage   = "/app/forgot"
	homePage  = "/app"
)

const (
	// mailWithin is how long after it was asked for a mail is still sent.
	mailWithin = time.Hour
	// mailTries is how often sending is tried; between two tries lie minutes, more each time.
	mailTries = 4
	// mailsToOne is how many mails of a kind go to an address on a day.
	mailsToOne = 5
	allMails   = "all"
)

// MailOff is the code of what cannot be done where no mail is sent.
const MailOff fault.Code = "MAIL_OFF"

func mailOff() error {
	return fault.Coded(fault.Conflict, MailOff, "this service sends no mail; ask its operators")
}

// SendsMail reports whether the service sends mail.
func (s *Service) SendsMail() bool { return s.Mail != nil }

func (s *Service) mailbox() outbox.Outbox {
	return outbox.Outbox{Store: s.Store, Queues: s.Queues, Queue: QueueMails, After: wakeAfter}
}

// tellMail has a mail sent, by the job of mails.
func (s *Service) tellMail(ctx context.Context, m mailing) error {
	m.Asked = s.Now().UTC()
	return s.mailbox().Tell(ctx, m)
}

// settleMail sends the mail of a message. One that fails is tried again some minutes later, and is
// given up after an hour. A process that stops right after the mail server has taken a mail sends
// it again: at least once.
func (s *Service) settleMail(ctx context.Context, in function.Invocation) error {
	var m mailing
	if err := json.Unmarshal([]byte(in.Text), &m); err != nil {
		return fmt.Errorf("read message: %w", err)
	}
	about := []any{slog.String("kind", m.Kind), slog.Int("try", m.Tries+1)}
	if s.Mail == nil || s.Now().Sub(m.Asked) > mailWithin {
		s.Log.WarnContext(ctx, "a mail is not sent: it is too late for it, or no mail is sent any more", about...)
		return nil
	}
	letter, err := s.writeMail(ctx, m, func(to string) (bool, error) {
		if m.Tries > 0 { // it was counted
			return true, nil
		}
		may, err := s.countMail(ctx, m.Kind, to)
		if err == nil && !may {
			s.Log.WarnContext(ctx, "a mail is not sent: as many as may be were sent today, to its address or to all",
				about...)
		}
		return may, err
	})
	if err != nil || letter == nil {
		return err
	}
	if err = s.Mail.Send(ctx, *letter); err == nil {
		return nil
	}
	why := slog.String("error", strings.ReplaceAll(err.Error(), letter.To, "…"))
	if m.Tries++; m.Tries == mailTries {
		s.Log.ErrorContext(ctx, "a mail was not sent, and is given up", append(about, why)...)
		return nil
	}
	s.Log.WarnContext(ctx, "a mail was not sent yet", append(about, why)...)
	now := s.Now()
	return s.mailbox().Again(ctx, m, now.Add(time.Minute<<(2*m.Tries-2)), now)
}

// mayMail counts a mail to an address, and reports whether it may be sent.
type mayMail func(to string) (bool, error)

// writeMail returns the mail of a message; nil if there is none to be sent any more. It asks
// whether a mail may be sent before it writes anything for it: strangers ask for mails.
func (s *Service) writeMail(ctx context.Context, m mailing, may mayMail) (*mail.Message, error) {
	switch m.Kind {
	case mailJoin:
		return s.writeJoin(ctx, m.ID, may)
	case mailReset:
		return s.writeReset(ctx, m.ID, may)
	case mailMove, mailMoved:
		return s.writeMove(ctx, m, may)
	case mailNews:
		return s.writeNews(ctx, m.ID, may)
	}
	return nil, fmt.Errorf("no mail is of the kind %q", m.Kind) // it waits for a version that knows it
}

func (s *Service) languageOf(ctx context.Context, id string) (string, error) {
	shows, _, err := s.readPrivacy(ctx, id)
	return shows.Language, err
}

// writeReset leads the owner of an address to where a new password is set.
func (s *Service) writeReset(ctx context.Context, hash string, may mayMail) (*mail.Message, error) {
	row, err := s.GetRow(ctx, s.Tables.UserEmails, account.EmailKeyOf(hash))
	if err != nil || row == nil {
		return nil, err
	}
	u, err := s.readUser(ctx, row.Props.Get("UserId").Str())
	if err != nil || u == nil || u.Deleted() || account.EmailKey(u.Email).Row != hash {
		return nil, err
	}
	if may, err := may(u.Email); err != nil || !may {
		return nil, err
	}
	language, err := s.languageOf(ctx, u.ID)
	if err != nil {
		return nil, err
	}
	token, err := s.newReset(ctx, *u)
	letter := letters.Reset(language, u.Email, s.Site+resetPage+token)
	return &letter, err
}

// countMail counts a mail for its address and for all, and reports whether it may be sent. A notice
// to the address that an account had counts for all alone: no one can ask for it without the
// password.
func (s *Service) countMail(ctx context.Context, kind, to string) (bool, error) {
	day := account.MailRows + s.Now().UTC().Format("20060102")
	all, one := s.MailsADay, mailsToOne
	if kind == mailNews {
		one = newsADay
		if all > 0 {
			all /= newsShare
		}
	}
	if kind != mailMoved {
		may, err := s.count(ctx, table.Key{Partition: day, Row: kind + "_" + account.EmailKey(to).Row}, one)
		if err != nil || !may {
			return false, err
		}
	}
	return s.count(ctx, table.Key{Partition: day, Row: allMails}, all)
}

// count adds one to the number in a row, unless it is at its most or more; negative: no limit.
func (s *Service) count(ctx context.Context, key table.Key, most int) (may bool, err error) {
	err = s.Change(ctx, s.Tables.Mails, func(ctx context.Context) ([]table.Op, error) {
		row, err := s.GetRow(ctx, s.Tables.Mails, key)
		if err != nil {
			return nil, err
		}
		next, n := table.Row{Key: key}, int32(0)
		if row != nil {
			next.ETag, n = row.ETag, int32(row.Props.Get("Count").Int())
		}
		if may = most < 0 || int(n) < most; !may {
			return nil, nil
		}
		next.Props = table.Props{{Name: "Count", Value: table.Int32(n + 1)}}
		return []table.Op{rowstore.Put(next)}, nil
	})
	return may, err
}

// Forgot has a mail sent to an address, if there is an account with it, by which its owner sets a
// new password. It does the same for every address.
func (s *Service) Forgot(ctx context.Context, address string, by Asker) error {
	if s.Mail == nil {
		return mailOff()
	}
	var b rules.Broken
	normal := b.Email("email", address)
	if err := b.Err(); err != nil {
		return err
	}
	if err := s.countAsked(by); err != nil {
		return err
	}
	return s.tellMail(ctx, mailing{Kind: mailReset, ID: account.EmailKey(normal).Row})
}

// SweepMails removes registrations that were not confirmed in time, and counts of the days before
// yesterday: a walk of tidy.
func (s *Service) SweepMails(ctx context.Context, place string, limit int) (next string, err error) {
	page, err := s.DB.List(ctx, s.Tables.Mails, table.Range{ToPartition: account.WaitRows}, limit, place)
	if err != nil {
		return "", rowstore.Unavailable(err)
	}
	today := account.MailRows + s.Now().Add(-24*time.Hour).UTC().Format("20060102")
	err = rowstore.Each(ctx, len(page.Rows), rowstore.MaxParallel, func(ctx context.Context, i int) error {
		row := page.Rows[i]
		counted, joins := strings.HasPrefix(row.Partition, account.MailRows),
			strings.HasPrefix(row.Partition, account.JoinRows)
		if counted && row.Partition < today || joins && !s.Now().Before(row.Props.Get("EndsAt").Time()) {
			return s.RemoveRow(ctx, s.Tables.Mails, row)
		}
		return nil
	})
	return page.Next, err
}
