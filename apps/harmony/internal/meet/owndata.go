package meet

import (
	"context"
	"strings"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth/attempts"
	"prompthub/internal/http/auth/session"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// DataTooOften is the code of a copy of one's own data that is asked for again too soon.
const DataTooOften fault.Code = "DATA_TOO_OFTEN"

// dataEvery is how often a member gets a copy of their data.
const dataEvery = time.Hour

// A Toward is something between a member and another one, as the member has brought it about.
type Toward struct {
	UserID string
	At     time.Time
}

// Own is the data of a member, but for messages.
type Own struct {
	Me       Me
	Settings Settings
	Sessions []session.Info
	Likes    []Toward
	Blocks   []Toward
	Matches  []Toward
}

// OwnData returns the data of the caller. first says that a copy begins: one an hour.
func (s *Service) OwnData(ctx context.Context, c Claim, first bool) (own Own, err error) {
	var likes, blocks, matches []table.Row
	of := func(rows *[]table.Row, name string) func(context.Context) error {
		return func(ctx context.Context) (err error) {
			*rows, _, err = s.Budget().Rows(ctx, name, table.Range{Partition: c.UserID, To: dayRows}, rowstore.MaxScan)
			return err
		}
	}
	caller, err := s.callerSuspended(ctx, c, func(ctx context.Context) (err error) {
		own.Me.Images, err = s.readImages(ctx, c.UserID)
		return err
	}, func(ctx context.Context) (err error) {
		own.Settings.Preferences, own.Settings.PreferencesUpdated, err = s.readPreferences(ctx, c.UserID)
		return err
	}, func(ctx context.Context) (err error) {
		own.Settings.Privacy, own.Settings.PrivacyUpdated, err = s.readPrivacy(ctx, c.UserID)
		return err
	}, of(&likes, s.Tables.Likes), of(&blocks, s.Tables.Blocks), of(&matches, s.Tables.Matches))
	if err != nil {
		return Own{}, err
	}
	if first {
		done, err := s.copies.Begin(attempts.Limit{Name: c.UserID, Most: 1})
		if err != nil {
			return Own{}, err
		}
		done(true)
	}
	own.Me = s.meOf(caller.User, own.Me.Images)
	if own.Sessions, err = s.sessions.List(ctx, c, nil); err != nil {
		return Own{}, err
	}
	own.Likes, own.Blocks = towards(likes), towards(blocks)
	for _, row := range matches {
		if row.Props.Get("IsActive").Bool() {
			own.Matches = append(own.Matches, Toward{row.Key.Row, row.Props.Get("CreatedAt").Time()})
		}
	}
	return own, nil
}

// towards reads rows of a list whose keys have an instant and an id.
func towards(rows []table.Row) (all []Toward) {
	for _, row := range rows {
		all = append(all, Toward{
			row.Key.Row[strings.LastIndexByte(row.Key.Row, '_')+1:],
			table.TimeOf(ticksOf(row.Key)),
		})
	}
	return all
}
