package meet

import (
	"context"
	"time"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Settings are what a member looks for and shows.
type Settings struct {
	Preferences        rules.Preferences
	Privacy            rules.Privacy
	PreferencesUpdated time.Time
	PrivacyUpdated     time.Time
}

// readPreferences reads what a member looks for. An account that is not complete yet has those of a
// new member.
func (s *Service) readPreferences(ctx context.Context, user string) (rules.Preferences, time.Time, error) {
	row, err := s.GetRow(ctx, s.Tables.UserPreferences, account.PreferencesKey(user))
	if err != nil || row == nil {
		return rules.NewPreferences(), time.Time{}, err
	}
	return account.ParsePreferences(*row), row.Props.Get("UpdatedAt").Time(), nil
}

// readPrivacy reads what a member shows. An account that is not complete yet has that of a new
// member.
func (s *Service) readPrivacy(ctx context.Context, user string) (rules.Privacy, time.Time, error) {
	row, err := s.GetRow(ctx, s.Tables.UserSettings, account.SettingsKey(user))
	if err != nil || row == nil {
		return rules.NewPrivacy(rules.Languages[0]), time.Time{}, err
	}
	return account.ParsePrivacy(*row), row.Props.Get("UpdatedAt").Time(), nil
}

// Settings returns the caller's settings.
func (s *Service) Settings(ctx context.Context, c Claim) (all Settings, err error) {
	_, err = s.identifyCaller(ctx, c, func(ctx context.Context) (err error) {
		all.Preferences, all.PreferencesUpdated, err = s.readPreferences(ctx, c.UserID)
		return err
	}, func(ctx context.Context) (err error) {
		all.Privacy, all.PrivacyUpdated, err = s.readPrivacy(ctx, c.UserID)
		return err
	})
	return all, err
}

// Visitor is Recognize for pages: it also returns the caller's own account, and the language that
// pages speak to them.
func (s *Service) Visitor(ctx context.Context, c Claim) (Claim, Me, string, error) {
	var shows rules.Privacy
	c, u, err := s.Recognize(ctx, c, func(ctx context.Context) (err error) {
		shows, _, err = s.readPrivacy(ctx, c.UserID)
		return err
	})
	return c, s.meOf(u, Images{}), shows.Language, err
}

// SetPreferences changes what the caller looks for.
func (s *Service) SetPreferences(ctx context.Context, c Claim, p rules.Preferences) error {
	var was *table.Row
	read := func(ctx context.Context) (err error) {
		was, err = s.GetRow(ctx, s.Tables.UserPreferences, account.PreferencesKey(c.UserID))
		return err
	}
	caller, err := s.identifyCaller(ctx, c, read)
	if err != nil {
		return err
	}
	if err := p.Check(); err != nil {
		return err
	}
	next := func() (table.Op, error) {
		var changes account.Daily
		if was == nil { // the account is not complete yet
			was = &table.Row{Props: account.PreferencesRow(c.UserID, rules.NewPreferences(), changes, s.Now()).Props}
		}
		if changes = account.ParseChanges(*was); account.ParsePreferences(*was) != p {
			var err error
			if changes, err = changes.Next(s.Now(), account.PreferencesADay, account.LooksTooOften, "",
				"preferences can be changed 20 times a day, which ends at midnight UTC"); err != nil {
				return table.Op{}, err
			}
		}
		row := account.PreferencesRow(c.UserID, p, changes, s.Now())
		row.ETag = was.ETag
		return rowstore.Put(row), nil
	}
	put := func(ctx context.Context) error {
		first := true
		return s.Change(ctx, s.Tables.UserPreferences, func(ctx context.Context) ([]table.Op, error) {
			if !first { // it was read with the caller
				if err := read(ctx); err != nil {
					return nil, err
				}
			}
			first = false
			op, err := next()
			return []table.Op{op}, err
		})
	}
	if _, err := next(); err != nil {
		return err
	}
	if account.ParsePreferences(*was) == p {
		return put(ctx)
	}
	return s.changeDeck(ctx, caller.User, caller.User, put)
}

// SetPrivacy changes what the caller shows, and in which language they are told.
func (s *Service) SetPrivacy(ctx context.Context, c Claim, p rules.Privacy) error {
	var was rules.Privacy
	caller, err := s.identifyCaller(ctx, c, func(ctx context.Context) (err error) {
		was, _, err = s.readPrivacy(ctx, c.UserID)
		return err
	})
	if err != nil {
		return err
	}
	if err := p.Check(); err != nil {
		return err
	}
	put := func(ctx context.Context) error {
		return s.Upsert(ctx, s.Tables.UserSettings, account.PrivacyRow(c.UserID, p, s.Now()))
	}
	if p.Visibility == was.Visibility {
		return put(ctx)
	}
	return s.changeDeck(ctx, caller.User, caller.User, put)
}
