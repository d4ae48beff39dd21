package meet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/pairs"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/fault"
)

// Me is the caller's own account.
type Me struct {
	User
	Age    int
	Images Images
}

// ETag names the version of the account, for If-Match.
func (m Me) ETag() string { return fmt.Sprintf("%d.%d", m.Version, m.Images.Version) }

func (s *Service) meOf(u User, all Images) Me {
	return Me{u, rules.Age(u.BirthDate, s.Now()), all}
}

// Me returns the caller's own account, also if it is suspended.
func (s *Service) Me(ctx context.Context, c Claim) (Me, error) {
	var all Images
	caller, err := s.callerSuspended(ctx, c, func(ctx context.Context) (err error) {
		all, err = s.readImages(ctx, c.UserID)
		return err
	})
	return s.meOf(caller.User, all), err
}

// A Profile is what a member writes about themselves.
type Profile struct {
	Name, Gender string
	account.About
	Lat, Lon float64
	Located  bool // whether Lat and Lon say where
}

// SetProfile changes the caller's profile; match are the versions that it may have, none for any.
// The profile of another member is refused.
func (s *Service) SetProfile(ctx context.Context, c Claim, id string, p Profile,
	match func(etag string) bool,
) (Me, error) {
	if id != c.UserID {
		return Me{}, s.notYours(ctx, c, id)
	}
	caller, all, err := s.ownImages(ctx, c)
	if err != nil {
		return Me{}, err
	}
	var b rules.Broken
	name, about := b.Name(p.Name), p.Check(&b)
	b.OneOf("gender", p.Gender, rules.Genders, rules.GenderUnknown)
	var position *rules.Position
	if p.Located {
		at := b.Position(p.Lat, p.Lon)
		position = &at
	}
	if err := b.Err(); err != nil {
		return Me{}, err
	}
	var u User
	change := func(ctx context.Context) (err error) {
		u, err = s.changeUser(ctx, caller.User, func(u *User) error {
			// by a try whose answer was lost
			written := u.Version == caller.Version+1 && u.Name == name && u.About == about
			if !written && !match(s.meOf(*u, all).ETag()) {
				return &fault.Error{Kind: fault.Stale, Text: "the profile was changed since you read it; read it again"}
			}
			u.Name, u.About = name, about
			if err := u.SetGender(p.Gender, s.Now()); err != nil {
				return err
			}
			return u.SetPosition(position, s.Now())
		})
		return err
	}
	if p.Gender == caller.Gender && samePosition(position, caller.Position) {
		err = change(ctx)
	} else {
		next := caller.User
		if err = errors.Join(next.SetGender(p.Gender, s.Now()), next.SetPosition(position, s.Now())); err != nil {
			return Me{}, err
		}
		err = s.changeDeck(ctx, caller.User, next, change)
	}
	return s.meOf(u, all), err
}

// notYours says why the caller may not change what belongs to another member: it is not theirs if
// they may see that member, else there is no such member.
func (s *Service) notYours(ctx context.Context, c Claim, id string) error {
	if _, err := s.Person(ctx, c, id); err != nil {
		return err
	}
	return fault.Coded(fault.Forbidden, NotYours, "only its owner may change this")
}

// A Sight is how much of a member another one sees.
type Sight int

// The sights.
const (
	Hidden Sight = iota
	Brief        // the card alone
	Whole        // pictures too
)

// sightOf says how much of a member a viewer sees. Everything that shows a person asks this.
func sightOf(viewer, of User, shows rules.Privacy, p pairs.Pair, now time.Time) Sight {
	if viewer.ID == of.ID || viewer.Role.Staff() {
		return Whole
	}
	if !of.Registered || of.Deleted() || of.Suspended(now) || p.Blocked() {
		return Hidden
	}
	i := p.Side(of.ID)
	likes := p.Like[i] > 0 && !p.Anonymous[i]
	switch {
	case shows.Visibility == "public", p.Matched(), likes && shows.Visibility == "friends":
		return Whole
	case likes:
		return Brief
	}
	return Hidden
}

// onlineFor is how long after a request a member counts as online.
const onlineFor = 5 * time.Minute

// A Card is what one member sees of another.
type Card struct {
	ID, Name, Gender string
	account.About
	Age             int
	ProfileImageURL string
	Distance        *int  // the class in km; nil beyond the last one, or if one of the two gave no position
	Online          *bool // told to matches alone
}

func cardOf(viewer, of User, p pairs.Pair, now time.Time) Card {
	c := Card{
		ID: of.ID, Name: of.Name, About: of.About, Gender: of.Gender,
		Age: rules.Age(of.BirthDate, now), ProfileImageURL: of.ProfileImageURL,
	}
	if viewer.ID != of.ID && viewer.Position != nil && of.Position != nil {
		if class, ok := rules.Near(*viewer.Position, *of.Position); ok {
			c.Distance = &class
		}
	}
	if p.Matched() {
		online := now.Sub(of.LastSeen) < onlineFor
		c.Online = &online
	}
	return c
}

// A Person is the profile of a member as another one sees it.
type Person struct {
	Card
	Sight     Sight
	Match     bool
	LikedByMe bool
	ChatID    string  // of a match
	Images    []Image // the first alone if the sight is brief
}

// A view is a member as a caller sees them.
type view struct {
	caller Caller
	of     User
	shows  rules.Privacy
	pair   pairs.Pair
	Sight
}

// readSight finds out how much of a member the caller sees, and does other reads at the same time.
// The error is USER_NOT_FOUND if the caller may not see the member.
func (s *Service) readSight(ctx context.Context, c Claim, id string,
	reads ...func(context.Context) error,
) (view, error) {
	var of *User
	var shows rules.Privacy
	var p pairs.Pair
	if !IsID(id) {
		reads = nil
	} else {
		reads = append(reads, func(ctx context.Context) (err error) {
			of, err = s.readUser(ctx, id)
			return err
		}, func(ctx context.Context) (err error) {
			shows, _, err = s.readPrivacy(ctx, id)
			return err
		})
		if id != c.UserID {
			reads = append(reads, func(ctx context.Context) (err error) {
				p, err = s.readPair(ctx, c.UserID, id)
				return err
			})
		}
	}
	caller, err := s.identifyCaller(ctx, c, reads...)
	if err != nil {
		return view{}, err
	}
	if of == nil {
		return view{}, noUser()
	}
	sight := sightOf(caller.User, *of, shows, p, s.Now())
	if sight == Hidden {
		return view{}, noUser()
	}
	return view{caller, *of, shows, p, sight}, nil
}

// Person returns the profile of a member.
func (s *Service) Person(ctx context.Context, c Claim, id string) (Person, error) {
	var all Images
	v, err := s.readSight(ctx, c, id, func(ctx context.Context) (err error) {
		all, err = s.readImages(ctx, id)
		return err
	})
	if err != nil {
		return Person{}, err
	}
	person := Person{
		Card: cardOf(v.caller.User, v.of, v.pair, s.Now()), Sight: v.Sight,
		Match: v.pair.Matched(), Images: all.All,
	}
	if v.Sight == Brief {
		person.Images = all.All[:min(len(all.All), 1)]
	}
	if id != c.UserID {
		person.LikedByMe = v.pair.Like[v.pair.Side(c.UserID)] > 0
	}
	if v.pair.Matched() {
		person.ChatID = v.pair.ChatID()
	}
	return person, nil
}
