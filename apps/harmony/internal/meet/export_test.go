package meet

import (
	"context"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"time"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/pairs"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/storage/table"
)

// Enter makes a member without a password and signs them in: a hash would take most of a test.
func (s *Service) Enter(ctx context.Context, name string) (Claim, error) {
	now := s.Now().UTC()
	u := User{
		ID: s.newID(), Email: name + "@example.com", Name: name, Gender: "female", Role: Member, Registered: true,
		Shuffle:   fmt.Sprintf("%016x", mathrand.Uint64()),
		BirthDate: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), CreatedAt: now, UpdatedAt: now, LastSeen: now,
	}
	g := s.sessions.New(u.ID, "test", u.SessionsAfter)
	c, _ := ParseAccess(account.TokensOf(g, now).Access)
	for _, write := range []pairs.Listed{
		{Table: s.Tables.Users, Row: u.Row(now)},
		{Table: s.Tables.Sessions, Row: s.sessions.Row(g.Session)},
		{Table: s.Tables.UserSettings, Row: account.PrivacyRow(u.ID, rules.NewPrivacy("en"), now)},
		{
			Table: s.Tables.UserPreferences,
			Row:   account.PreferencesRow(u.ID, rules.NewPreferences(), account.Daily{}, now),
		},
	} {
		if err := s.Upsert(ctx, write.Table, write.Row); err != nil {
			return Claim{}, err
		}
	}
	return c, s.followDeck(ctx, u)
}

// KeepSession has a session go on whose access would be over.
func (s *Service) KeepSession(ctx context.Context, c Claim) error {
	return s.mergeProps(ctx, s.Tables.Sessions, s.sessions.Key(c.UserID, c.SessionID), table.Props{
		{Name: "AccessEndsAt", Value: table.Time(s.Now().Add(account.AccessFor))},
		{Name: "EndsAt", Value: table.Time(s.Now().Add(account.AccessFor))},
	})
}

// Truth is what the row of a pair says: whether a likes b, b likes a, and they match.
func (s *Service) Truth(ctx context.Context, a, b string) (likes [2]bool, matched, blocked bool, err error) {
	p, err := s.readPair(ctx, a, b)
	i := p.Side(a)
	return [2]bool{p.Like[i] > 0, p.Like[1-i] > 0}, p.Matched(), p.Blocked(), err
}

// Later returns a function that has Matches and the chat follow a pair as it is now.
func (s *Service) Later(ctx context.Context, a, b string) (func(context.Context) error, error) {
	p, err := s.readPair(ctx, a, b)
	return func(ctx context.Context) error {
		return errors.Join(s.followMatch(ctx, p, 0), s.followMatch(ctx, p, 1), s.followChat(ctx, p))
	}, err
}

// Follows returns the keys of the list rows that follow from a pair, by tables.
func (s *Service) Follows(ctx context.Context, a, b string) (map[string][]table.Key, error) {
	p, err := s.readPair(ctx, a, b)
	keys := map[string][]table.Key{}
	for _, l := range p.Lists(s.PairTables()) {
		keys[l.Table] = append(keys[l.Table], l.Row.Key)
	}
	return keys, err
}

// MadeUp is a member that a test makes up.
type MadeUp struct {
	Gender    string
	BirthDate time.Time
	Position  *rules.Position
	Looks     rules.Preferences
	Shows     string
	Deleted   bool
	Suspended bool
}

// MakeUp makes up a member with a session.
func (s *Service) MakeUp(ctx context.Context, name string, m MadeUp) (Claim, error) {
	c, err := s.Enter(ctx, name)
	if err != nil {
		return c, err
	}
	now := s.Now().UTC()
	u, err := s.readUser(ctx, c.UserID)
	if err != nil {
		return c, err
	}
	was := *u
	u.Gender, u.BirthDate, u.Position = m.Gender, m.BirthDate, m.Position
	if m.Deleted {
		u.DeletedAt = now
	}
	if m.Suspended {
		u.SuspendedUntil = now.Add(24 * time.Hour)
	}
	row := u.Row(now)
	row.ETag = ""
	shows := rules.NewPrivacy("en")
	shows.Visibility = m.Shows
	return c, errors.Join(s.Upsert(ctx, s.Tables.Users, row),
		s.Upsert(ctx, s.Tables.UserPreferences, account.PreferencesRow(u.ID, m.Looks, account.Daily{}, now)),
		s.Upsert(ctx, s.Tables.UserSettings, account.PrivacyRow(u.ID, shows, now)), s.followDeck(ctx, was))
}

// Forget has a member have made no change of preferences on this day.
func (s *Service) Forget(ctx context.Context, id string) error {
	return s.mergeProps(ctx, s.Tables.UserPreferences, account.PreferencesKey(id),
		table.Props{{Name: "Changes", Value: table.Int32(0)}})
}

// DeckKeys returns where a member has rows in Deck.
func (s *Service) DeckKeys(ctx context.Context, id string) ([]table.Key, error) {
	u, err := s.readUser(ctx, id)
	if err != nil {
		return nil, err
	}
	return DeckEntry(*u, rules.Preferences{}, rules.Privacy{}).Keys(), nil
}

// FillMatches writes rows of Matches as those of n matches of a member; then others are ended ones.
func (s *Service) FillMatches(ctx context.Context, user string, n, ended int) error {
	for i := range n + ended {
		row := table.Row{
			Key:   table.Key{Partition: user, Row: s.newID()},
			Props: table.Props{{Name: "IsActive", Value: table.Bool(i < n)}},
		}
		if err := s.Upsert(ctx, s.Tables.Matches, row); err != nil {
			return err
		}
	}
	return nil
}

// KeepOut keeps a member out for a day.
func (s *Service) KeepOut(ctx context.Context, id string) error {
	return s.mergeProps(ctx, s.Tables.Users, account.UserKey(id),
		table.Props{{Name: "SuspendedUntil", Value: table.Time(s.Now().Add(24 * time.Hour))}})
}

// Appoint makes a member an admin.
func (s *Service) Appoint(ctx context.Context, id string) error {
	return s.mergeProps(ctx, s.Tables.Users, account.UserKey(id),
		table.Props{{Name: "Role", Value: table.String(string(Admin))}})
}

// Drift changes a member; if follow is false no row of decks follows, else those that it makes.
func (s *Service) Drift(ctx context.Context, id string, follow bool, change func(*User)) error {
	u, err := s.readUser(ctx, id)
	if err != nil {
		return err
	}
	change(u)
	row := u.Row(s.Now())
	row.ETag = ""
	if err := s.Upsert(ctx, s.Tables.Users, row); err != nil || !follow {
		return err
	}
	return s.followDeck(ctx, *u)
}
