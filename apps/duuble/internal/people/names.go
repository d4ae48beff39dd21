package people

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"prompthub/apps/duuble/internal/assets"
	"prompthub/apps/duuble/internal/due"
	"prompthub/apps/duuble/internal/rules"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Lengths of texts of a profile, in characters.
const (
	MaxName    = 100
	MaxBio     = 500
	maxVersion = 50 // of terms
)

// nameRows begins the reservations of usernames.
const nameRows = "name|"

// purged marks the reservation of a username whose account was purged, and which no one gets again.
const purged = "purged"

// NameLasts is how long a reservation of a username holds whose user has no name.
const NameLasts = 10 * time.Minute

// usernames are those that somebody may have.
var usernames = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._]{2,99}$`)

var reserved = []string{"admin", "api", "app", "deleted", "duuble", "help", "me", "null", "root", "support", "system"}

// The reasons why a name cannot be had.
const (
	ReasonInvalid  = "invalid"
	ReasonReserved = "reserved"
	ReasonTaken    = "taken"
)

// Reasons are all of them.
var Reasons = []string{ReasonInvalid, ReasonReserved, ReasonTaken}

func badName(name string) string {
	switch {
	case !usernames.MatchString(name):
		return ReasonInvalid
	case slices.Contains(reserved, strings.ToLower(name)):
		return ReasonReserved
	}
	return ""
}

// NameAvailable returns why the caller cannot have a name, "" if they can.
func (s *Service) NameAvailable(ctx context.Context, c Claim, name string) (reason string, err error) {
	var row *table.Row
	reason = badName(name)
	u, err := s.Caller(ctx, c, func(ctx context.Context) (err error) {
		if reason == "" {
			row, err = s.GetRow(ctx, s.Tables.Names, nameKey(nameRows+strings.ToLower(name)))
		}
		return err
	})
	if row != nil && row.Props.Get("user_id").Str() != u.ID {
		reason = ReasonTaken
	}
	return reason, err
}

func nameTaken() error {
	return &fault.Error{
		Kind: fault.Conflict, Code: UsernameTaken, Text: "this username is taken; choose another one",
		Fields: []fault.Field{{Name: "body.username", Message: "is taken"}},
	}
}

func nameFixed() error {
	return &fault.Error{
		Kind: fault.Conflict, Code: UsernameTaken, Text: "you have a username already, and it never changes",
		Fields: []fault.Field{{Name: "body.username", Message: "never changes"}},
	}
}

// Basics are changes of a profile. A nil member leaves what there is.
type Basics struct{ Username, FullName, Bio, Picture *string }

// pictureOf names the user whose picture an asset is.
func pictureOf(user string) string { return "user|" + user }

// SetBasics changes the caller's profile, and gives it a username if it has none.
func (s *Service) SetBasics(ctx context.Context, c Claim, change Basics) (Me, error) {
	var b rules.Broken
	if change.Username != nil {
		name := *change.Username
		switch reason := badName(name); {
		case reason == ReasonReserved:
			b.Add(false, "username", "this name is kept for Duuble itself; choose another one")
		case reason != "" && (len(name) < 3 || len(name) > 100):
			b.Add(false, "username", "give 3 to 100 characters")
		default:
			b.Add(reason == "", "username", "give letters from a to z, digits, dots and _ alone, with a letter first")
		}
	}
	if change.FullName != nil {
		b.Name("fullName", *change.FullName, MaxName)
	}
	if change.Bio != nil {
		b.Lines("bio", *change.Bio, 0, MaxBio)
	}
	var me Me
	u, err := s.Caller(ctx, c, s.readMine(&me, c.UserID))
	if err == nil {
		err = b.Err()
	}
	if err != nil {
		return Me{}, err
	}
	if change.Username != nil && u.Username == "" {
		if err := s.reserveName(ctx, u.ID, strings.ToLower(*change.Username)); err != nil {
			return Me{}, err
		}
	}
	next := u
	if change.Username != nil && u.Username == "" {
		next.Username = *change.Username
	}
	if change.FullName != nil {
		next.FullName = *change.FullName
	}
	if was, words := u.searchWords(), next.searchWords(); !slices.Equal(words, was) {
		if err := s.searchIndex().Before(ctx, u.ID, len(was) > 0, words); err != nil {
			return Me{}, err
		}
	}
	if change.Picture != nil && *change.Picture != u.Picture {
		err := s.Assets.Attach(ctx, u.ID, *change.Picture, assets.Profile, pictureOf(u.ID), "profileAssetId")
		if err == nil {
			err = s.Assets.Release(ctx, u.Picture)
		}
		if err != nil {
			return Me{}, err
		}
	}
	me.User, err = s.changeUser(ctx, u, func(u *User) error {
		if change.Username != nil {
			if u.Username != "" && u.Username != *change.Username {
				return nameFixed()
			}
			u.Username = *change.Username
		}
		if change.FullName != nil {
			u.FullName = *change.FullName
		}
		if change.Bio != nil {
			u.Bio = *change.Bio
		}
		if change.Picture != nil {
			u.Picture = *change.Picture
		}
		return nil
	})
	if fault.CodeOf(err) == UsernameTaken && u.Username == "" {
		s.giveBackName(ctx, u.ID, strings.ToLower(*change.Username))
	}
	return me, err
}

// dropMissing takes off a user a picture that is not there: after a restore it may have gone.
func (s *Service) dropMissing(ctx context.Context, u User) error {
	missing, err := s.Assets.IsMissing(ctx, pictureOf(u.ID), u.Picture)
	if missing {
		err = s.DropPicture(ctx, u.ID, u.Picture)
	}
	return err
}

// DropPicture takes the picture off a user, unless the user has another one by now.
func (s *Service) DropPicture(ctx context.Context, user, picture string) error {
	u, err := s.readUser(ctx, user)
	if err != nil || u == nil || u.Picture != picture {
		return err
	}
	_, err = s.changeUser(ctx, *u, func(u *User) error {
		if u.Picture == picture {
			u.Picture = ""
		}
		return nil
	})
	return err
}

// PictureOf returns the asset of the picture of a user, also of one who has left, "" if there is
// none.
func (s *Service) PictureOf(ctx context.Context, user string) (string, error) {
	u, err := s.readUser(ctx, user)
	if err != nil || u == nil {
		return "", err
	}
	return u.Picture, nil
}

// reserveName takes a name for a user who has none.
func (s *Service) reserveName(ctx context.Context, user, lower string) error {
	key := nameKey(nameRows + lower)
	return s.Change(ctx, s.Tables.Names, func(ctx context.Context) ([]table.Op, error) {
		row := table.Row{Key: key, Props: table.Props{
			{Name: "user_id", Value: table.String(user)},
			{Name: "created_at", Value: table.Time(s.Now().UTC())},
		}}
		var there *table.Row
		err := rowstore.Both(ctx, func(ctx context.Context) (err error) {
			there, err = s.GetRow(ctx, s.Tables.Names, key)
			return err
		}, func(ctx context.Context) error { return s.reservationRows().Add(ctx, s.Now(), lower) })
		if err != nil {
			return nil, err
		}
		if there != nil {
			free, err := s.mayTakeOver(ctx, *there, user)
			if err != nil {
				return nil, err
			}
			if !free {
				return nil, nameTaken()
			}
			// Replaced under its ETag: no writer that goes by the older row can go on.
			row.ETag = there.ETag
		}
		return []table.Op{rowstore.Put(row)}, nil
	})
}

// mayTakeOver reports whether a user may take over a reservation: it is the user's own, or one that
// came to nothing.
func (s *Service) mayTakeOver(ctx context.Context, row table.Row, user string) (bool, error) {
	if row.Props.Get(purged).Bool() {
		return false, nil
	}
	owner := row.Props.Get("user_id").Str()
	if owner == user {
		return true, nil
	}
	u, err := s.readUser(ctx, owner)
	if err != nil {
		return false, err
	}
	switch {
	case u != nil && strings.EqualFold(u.Username, strings.TrimPrefix(row.Partition, nameRows)):
		return false, nil
	case u != nil && u.Username != "":
		return true, nil
	}
	return s.Now().Sub(row.Props.Get("created_at").Time()) >= NameLasts, nil
}

// giveBackName gives back a name that the user did not get. One that stays because this fails is
// taken over by the next person to ask for it.
func (s *Service) giveBackName(ctx context.Context, user, lower string) {
	row, err := s.GetRow(ctx, s.Tables.Names, nameKey(nameRows+lower))
	if err != nil || row == nil || row.Props.Get("user_id").Str() != user {
		return
	}
	u, err := s.readUser(ctx, user)
	if err == nil && u != nil && !strings.EqualFold(u.Username, lower) {
		_ = s.RemoveRow(ctx, s.Tables.Names, *row)
	}
}

// reservationRows are the rows by which Expire finds reservations of usernames.
func (s *Service) reservationRows() due.Rows {
	return due.Rows{Store: s.Store, Table: s.Tables.Admin, Prefix: "due|name|"}
}

// sweepName removes a reservation that came to nothing. One that is made anew meanwhile has another
// ETag, and a row of its own by which it is found.
func (s *Service) sweepName(ctx context.Context, lower string) error {
	row, err := s.GetRow(ctx, s.Tables.Names, nameKey(nameRows+lower))
	if err != nil || row == nil {
		return err
	}
	nothing, err := s.mayTakeOver(ctx, *row, "")
	if err == nil && nothing {
		err = s.RemoveRow(ctx, s.Tables.Names, *row)
	}
	return err
}

// AcceptTerms keeps which terms the caller has accepted.
func (s *Service) AcceptTerms(ctx context.Context, c Claim, terms, privacy string) (Me, error) {
	var b rules.Broken
	b.Line("termsVersion", terms, 1, maxVersion)
	b.Line("privacyVersion", privacy, 1, maxVersion)
	var me Me
	u, err := s.Caller(ctx, c, s.readMine(&me, c.UserID))
	if err == nil {
		err = b.Err()
	}
	if err != nil {
		return Me{}, err
	}
	now := s.Now().UTC()
	me.User, err = s.changeUser(ctx, u, func(u *User) error {
		u.TermsVersion, u.PrivacyVersion, u.AcceptedAt = terms, privacy, now
		return nil
	})
	return me, err
}
