package meet

import (
	"context"
	"encoding/hex"
	"errors"
	"time"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/chat"
	"prompthub/apps/harmony/internal/letters"
	"prompthub/internal/delivery/mail"
	"prompthub/internal/fault"
	"prompthub/internal/host/function"
	"prompthub/internal/http/auth/session"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// This file has the mails that tell a member the news. A like, a match or a message leaves a row
// for its receiver, unless one waits already. A timer looks at these rows; once one is old enough,
// the job of mails collects all news, and tells them in one mail.

// TimerNews is the timer that looks for members who wait to be told, and its function.
const TimerNews = "news"

const mailNews = "news" // ID is of an account

const (
	// newsAfter is how long a thing may wait to be seen before a mail tells of it.
	newsAfter = 15 * time.Minute
	newsADay  = 3
	// newsShare is the share of all mails of a day that tell news: the others are for accounts.
	newsShare = 2
	newsChats = 20 // chats that are looked at, the newest
	newsRows  = 100
	newsSlice = 500

	offPage = "/app/unsubscribe?token="
)

// HasNews notes that there is something new for a member, after the answer. To lose one does no
// harm.
func (s *Service) HasNews(ctx context.Context, id string) {
	if s.Mail == nil || id == "" {
		return
	}
	ctx = context.WithoutCancel(ctx)
	s.Background(func() {
		ctx, cancel := context.WithTimeout(ctx, rowstore.CallWithin)
		defer cancel()
		_ = s.Insert(ctx, s.Tables.Mails, waiting(id, s.Now()))
	})
}

// waiting is the row of a member for whom there is news since an instant.
func waiting(id string, since time.Time) table.Row {
	return table.Row{
		Key:   table.Key{Partition: account.WaitRows, Row: id},
		Props: table.Props{{Name: "Since", Value: table.Time(since)}},
	}
}

// NewsTrigger returns the timer.
func (s *Service) NewsTrigger() function.Trigger {
	return function.Trigger{Name: TimerNews, Schedule: "30 */5 * * * *", Run: s.tellNews}
}

// EventChanged notes for a member that an event which they attend changed, as it is now. The row
// goes when it was told.
func (s *Service) EventChanged(ctx context.Context, id string, e letters.EventChange) error {
	row := waiting(id, s.Now())
	if err := s.Upsert(ctx, s.Tables.Mails,
		table.Row{Key: table.Key{Partition: account.WaitRows, Row: id + "_" + e.ID}, Props: table.Props{
			{Name: "Title", Value: table.String(e.Title)},
			{Name: "IsCancelled", Value: table.Bool(e.Cancelled)},
			{Name: "StartDate", Value: table.Time(e.Start)},
			{Name: "TimeZone", Value: table.String(e.Zone)},
			{Name: "Location", Value: table.String(e.Location)},
		}}); err != nil {
		return err
	}
	return s.Insert(ctx, s.Tables.Mails, row)
}

// changedEvents reads the events of EventChanged of a member.
func (s *Service) changedEvents(ctx context.Context,
	id string,
) (rows []table.Row, all []letters.EventChange, err error) {
	rows, _, err = s.Budget().Rows(ctx, s.Tables.Mails,
		table.Range{Partition: account.WaitRows, From: id + "_", To: id + "_~"}, newsRows)
	for _, row := range rows {
		p := row.Props
		all = append(all, letters.EventChange{
			Title: p.Get("Title").Str(), Cancelled: p.Get("IsCancelled").Bool(), Start: p.Get("StartDate").Time(),
			Zone: p.Get("TimeZone").Str(), Location: p.Get("Location").Str(),
		})
	}
	return rows, all, err
}

// forgetEvents removes rows of EventChanged as they were read: an event that changed since is told.
func (s *Service) forgetEvents(ctx context.Context, rows []table.Row) error {
	for _, row := range rows {
		if err := s.RemoveRow(ctx, s.Tables.Mails, row); err != nil {
			return err
		}
	}
	return nil
}

// tellNews sends the messages of members with news that are old enough. A process that stopped in
// between sends a message twice; the member gets one mail, as the job keeps what it has told.
func (s *Service) tellNews(ctx context.Context, _ function.Invocation) error {
	for next, more := "", s.Mail != nil; more; more = next != "" {
		page, err := s.DB.List(ctx, s.Tables.Mails, table.Range{Partition: account.WaitRows}, newsSlice, next)
		if err != nil {
			return rowstore.Unavailable(err)
		}
		err = rowstore.Each(ctx, len(page.Rows), rowstore.MaxParallel, func(ctx context.Context, i int) error {
			row := page.Rows[i]
			// of an event that changed, or too new
			if since := row.Props.Get("Since").Time(); since.IsZero() || s.Now().Sub(since) < newsAfter {
				return nil
			}
			if err := s.tellMail(ctx, mailing{Kind: mailNews, ID: row.Key.Row}); err != nil {
				return err
			}
			return s.RemoveRow(ctx, s.Tables.Mails, row)
		})
		if err != nil {
			return err
		}
		next = page.Next
	}
	return nil
}

// toldKey is the key of the row with the time up to which a member was told the news, and with the
// secret that ends these mails.
func toldKey(user string) table.Key { return table.Key{Partition: user, Row: "TOLD"} }

// writeNews returns the mail that tells a member the news: nil without news, and for a member who
// wants no such mail, or is here. It keeps first what it tells: at most once.
func (s *Service) writeNews(ctx context.Context, id string, may mayMail) (*mail.Message, error) {
	u, err := s.readUser(ctx, id)
	if err != nil || u == nil || !s.isPresent(u) {
		return nil, err
	}
	looked := s.Now() // things that come from now on are told by the next mail
	shows, _, err := s.readPrivacy(ctx, id)
	if err != nil {
		return nil, err
	}
	if !shows.Notifications || !shows.Emails {
		rows, _, err := s.changedEvents(ctx, id)
		if err != nil {
			return nil, err
		}
		return nil, s.forgetEvents(ctx, rows)
	}
	if s.Now().Sub(u.LastSeen) < onlineFor {
		return nil, s.Insert(ctx, s.Tables.Mails, waiting(id, s.Now())) // and looks again
	}
	was, err := s.GetRow(ctx, s.Tables.UserPreferences, toldKey(id))
	if err != nil {
		return nil, err
	}
	var told time.Time
	var secret string
	if was != nil {
		told, secret = was.Props.Get("At").Time(), was.Props.Get("Secret").Str()
	} else {
		var drawn session.Secret
		s.sessions.Fill(drawn[:])
		secret = hex.EncodeToString(drawn[:])
	}
	n, err := s.countNews(ctx, *u, told)
	if err != nil {
		return nil, err
	}
	rows, events, err := s.changedEvents(ctx, id)
	if err != nil || n == (letters.News{}) && len(events) == 0 {
		return nil, err
	}
	if may, err := may(u.Email); err != nil || !may {
		tomorrow := s.Now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour) // when counts begin anew
		return nil, errors.Join(err, s.Insert(ctx, s.Tables.Mails, waiting(id, tomorrow)))
	}
	row := table.Row{
		Key:   toldKey(id),
		Props: table.Props{{Name: "At", Value: table.Time(looked)}, {Name: "Secret", Value: table.String(secret)}},
	}
	if was != nil {
		row.ETag = was.ETag
	}
	if err := s.Write(ctx, s.Tables.UserPreferences, []table.Op{rowstore.Put(row)}); err != nil {
		if rowstore.Overtaken(err) { // another run tells it
			return nil, nil
		}
		return nil, rowstore.Unavailable(err)
	}
	if err := s.forgetEvents(ctx, rows); err != nil {
		return nil, err
	}
	b, err := hex.DecodeString(secret)
	if err != nil || len(b) != len(session.Secret{}) {
		return nil, err
	}
	letter := letters.Tell(shows.Language, u.Email, n, events, s.Site+homePage,
		s.Site+offPage+account.StopForm.Format(account.IDBytes(id), session.Secret(b)))
	return &letter, nil
}

// countNews counts what a member has not seen and was not told. Secret likes are not told: when one
// came would say too much of its sender.
func (s *Service) countNews(ctx context.Context, u User, told time.Time) (n letters.News, err error) {
	caller := Caller{User: u}
	var likes, matches []table.Row
	var seen *table.Row
	err = rowstore.All(ctx, func(ctx context.Context) (err error) {
		likes, _, err = s.Budget().Rows(ctx, s.Tables.LikesReceived, table.Range{Partition: u.ID}, newsRows)
		return err
	}, func(ctx context.Context) (err error) {
		matches, _, err = s.Budget().Rows(ctx, s.Tables.Matches, table.Range{Partition: u.ID}, rowstore.MaxScan)
		return err
	}, func(ctx context.Context) (err error) {
		seen, err = s.GetRow(ctx, s.Tables.UserPreferences, seenKey(u.ID))
		return err
	}, func(ctx context.Context) (err error) {
		n.Chats, err = s.countChats(ctx, u, told)
		return err
	})
	if err != nil {
		return n, err
	}
	since := later(told, u.LastSeen)
	var fresh []table.Row
	for _, row := range likes {
		if table.TimeOf(ticksOf(row.Key)).After(since) {
			fresh = append(fresh, row)
		}
	}
	shown, err := s.readMembers(ctx, u.ID, fresh)
	if err != nil {
		return n, err
	}
	for _, one := range shown {
		from := 1 - one.pair.Side(u.ID)
		if one.of != nil && !one.pair.Matched() && one.pair.Like[from] == ticksOf(one.key) &&
			sightOf(u, *one.of, one.shows, one.pair, s.Now()) != Hidden {
			n.Likes++
		}
	}
	if seen != nil {
		told = later(told, seen.Props.Get("MatchesAt").Time())
	}
	fresh = nil
	for _, row := range matches {
		if row.Props.Get("IsActive").Bool() && row.Props.Get("CreatedAt").Time().After(told) && len(fresh) < newsRows {
			fresh = append(fresh, row)
		}
	}
	entries, err := s.matchesOf(ctx, caller)(fresh)
	for _, e := range entries {
		if e != nil {
			n.Matches++
		}
	}
	return n, err
}

// countChats counts chats of two with messages that a member has not read, and was not told of.
func (s *Service) countChats(ctx context.Context, u User, told time.Time) (n int, err error) {
	listed, _, err := s.Rooms().List(ctx, u.ID, "", newsChats)
	if err != nil {
		return 0, err
	}
	ids := make([]string, len(listed))
	for i, l := range listed {
		ids[i] = l.Other
	}
	others, err := s.Others(ctx, u, ids)
	if err != nil {
		return 0, err
	}
	for i, l := range listed {
		if l.Other == "" || others[i].Card == nil || !others[i].Present {
			continue
		}
		room, last, _, err := s.Rooms().Read(ctx, l.Chat, "", "", 1)
		if fault.CodeOf(err) == chat.NotFound { // the pair has not opened it yet
			continue
		}
		if err != nil {
			return 0, err
		}
		if room.Open && len(last) > 0 && last[0].SentAt.After(told) && room.Unread(u.ID) > 0 {
			n++
		}
	}
	return n, nil
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// StopNews ends the mails of news of the member that a token of such a mail names.
func (s *Service) StopNews(ctx context.Context, token string) error {
	b, secret, ok := account.StopForm.Bytes(token)
	if !ok {
		return invalidToken()
	}
	id := account.TokenID(b)
	row, err := s.GetRow(ctx, s.Tables.UserPreferences, toldKey(id))
	if err != nil {
		return err
	}
	if row == nil || session.Hash(secret[:]) != hashOfHex(row.Props.Get("Secret").Str()) {
		return invalidToken()
	}
	shows, _, err := s.readPrivacy(ctx, id)
	if err != nil {
		return err
	}
	shows.Emails = false
	return s.Upsert(ctx, s.Tables.UserSettings, account.PrivacyRow(id, shows, s.Now()))
}

func hashOfHex(text string) string {
	b, _ := hex.DecodeString(text)
	return session.Hash(b)
}
