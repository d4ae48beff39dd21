package account

import (
	"time"

	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/fault"
)

// Decks go by the gender, the position and the preferences of their reader. Changes of these are
// limited: each is a question that decks answer about others.
const (
	GenderFor                   = 30 * 24 * time.Hour // between two changes of gender
	PositionsADay               = 5
	PreferencesADay             = 20
	GenderTooOften   fault.Code = "GENDER_TOO_OFTEN"
	PositionTooOften fault.Code = "POSITION_TOO_OFTEN"
	LooksTooOften    fault.Code = "PREFERENCES_TOO_OFTEN"
)

// A Daily counts changes on a day, in UTC.
type Daily struct {
	Day   string
	Count int
}

// Next returns the count after another change, or an error beyond the most of a day.
func (d Daily) Next(now time.Time, most int, code fault.Code, field, text string) (Daily, error) {
	day := now.UTC().Format(time.DateOnly)
	if d.Day != day {
		d = Daily{Day: day}
	}
	if d.Count++; d.Count > most {
		return d, tooOften(code, field, text, now.UTC().Truncate(24*time.Hour).Add(24*time.Hour).Sub(now))
	}
	return d, nil
}

func tooOften(code fault.Code, field, text string, wait time.Duration) error {
	e := &fault.Error{Kind: fault.Limited, Code: code, Text: text, RetryAfter: wait}
	if field != "" {
		e.Fields = []fault.Field{{Name: field, Code: code, Message: text}}
	}
	return e
}

// SetGender changes the gender of a user.
func (u *User) SetGender(gender string, now time.Time) error {
	if gender == u.Gender {
		return nil
	}
	if wait := u.GenderChangedAt.Add(GenderFor).Sub(now); wait > 0 {
		return tooOften(GenderTooOften, "body.gender", "a gender can be changed once in 30 days", wait)
	}
	u.GenderBefore, u.Gender, u.GenderChangedAt = u.Gender, gender, now.UTC()
	return nil
}

// DeckGender returns the gender by which others fit into the deck of the user. It follows a change
// when there can be another one: the decks of two genders tell whom others look for.
func (u User) DeckGender(now time.Time) string {
	if now.Before(u.GenderChangedAt.Add(GenderFor)) {
		return u.GenderBefore
	}
	return u.Gender
}

// SetPosition changes the position of a user; nil takes it away, as often as they like.
func (u *User) SetPosition(at *rules.Position, now time.Time) (err error) {
	same := at == nil && u.Position == nil || at != nil && u.Position != nil && *at == *u.Position
	if !same && at != nil {
		u.Moves, err = u.Moves.Next(now, PositionsADay, PositionTooOften, "body.position",
			"a position can be changed 5 times a day, which ends at midnight UTC")
	}
	u.Position = at
	return err
}
