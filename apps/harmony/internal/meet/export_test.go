package meet

import (
	"context"
	"errors"
	"time"

	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/storage/table"
)

// Enter makes a member without a password and signs them in: a hash would take most of a test.
func (s *Service) Enter(ctx context.Context, name string) (Claim, error) {
	now := s.Now().UTC()
	u := User{
		ID: s.newID(), Email: name + "@example.com", Name: name, Gender: "female", Role: Member, registered: true,
		BirthDate: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), CreatedAt: now, UpdatedAt: now, LastSeen: now,
	}
	x, tokens := s.newSession(u, "test")
	c, _ := ParseAccess(tokens.Access)
	for _, write := range []listed{
		{s.Tables.Users, u.row(now)},
		{s.Tables.Sessions, x.row()},
		{s.Tables.UserSettings, privacyRow(u.ID, rules.NewPrivacy("en"), now)},
		{s.Tables.UserPreferences, preferencesRow(u.ID, rules.NewPreferences(), now)},
	} {
		if err := s.put(ctx, write.table, write.row); err != nil {
			return Claim{}, err
		}
	}
	return c, nil
}

// KeepSession has a session go on whose access would be over.
func (s *Service) KeepSession(ctx context.Context, c Claim) error {
	return s.merge(ctx, s.Tables.Sessions, sessionKey(c.UserID, c.SessionID), table.Props{{Name: "AccessEndsAt", Value: table.Time(s.Now().Add(AccessFor))}})
}

// Truth is what the row of a pair says: whether a likes b, b likes a, and they match.
func (s *Service) Truth(ctx context.Context, a, b string) (likes [2]bool, matched, blocked bool, err error) {
	p, err := s.pair(ctx, a, b)
	i := p.side(a)
	return [2]bool{p.like[i] > 0, p.like[1-i] > 0}, p.matched(), p.blocked(), err
}

// Later returns a function that has Matches follow a pair as it is now.
func (s *Service) Later(ctx context.Context, a, b string) (func(context.Context) error, error) {
	p, err := s.pair(ctx, a, b)
	return func(ctx context.Context) error {
		return errors.Join(s.followMatch(ctx, p, 0), s.followMatch(ctx, p, 1))
	}, err
}

// Follows returns the keys of the list rows that follow from a pair, by tables.
func (s *Service) Follows(ctx context.Context, a, b string) (map[string][]table.Key, error) {
	p, err := s.pair(ctx, a, b)
	keys := map[string][]table.Key{}
	for _, l := range s.lists(p) {
		keys[l.table] = append(keys[l.table], l.row.Key)
	}
	return keys, err
}
