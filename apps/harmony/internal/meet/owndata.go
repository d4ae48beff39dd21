package meet

import (
	"context"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth/attempts"
	"prompthub/internal/http/auth/session"
)

// DataTooOften is the code of a copy of one's own data that is asked for again too soon.
const DataTooOften fault.Code = "DATA_TOO_OFTEN"

// dataEvery is how often a member gets a copy of their data.
const dataEvery = time.Hour

// Own is the data of a member, without that of others.
type Own struct {
	Me       Me
	Settings Settings
	Sessions []session.Info
}

// OwnData returns the data of the caller. first says that a copy begins: one an hour.
func (s *Service) OwnData(ctx context.Context, c Claim, first bool) (own Own, err error) {
	caller, err := s.callerSuspended(ctx, c, func(ctx context.Context) (err error) {
		own.Me.Images, err = s.readImages(ctx, c.UserID)
		return err
	}, func(ctx context.Context) (err error) {
		own.Settings.Preferences, own.Settings.PreferencesUpdated, err = s.readPreferences(ctx, c.UserID)
		return err
	}, func(ctx context.Context) (err error) {
		own.Settings.Privacy, own.Settings.PrivacyUpdated, err = s.readPrivacy(ctx, c.UserID)
		return err
	})
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
	own.Sessions, err = s.sessions.List(ctx, c, nil)
	return own, err
}
