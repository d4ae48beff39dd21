package people

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A User is an account and a profile.
type User struct {
	ID                   string
	Username             string // "" until it is chosen
	FullName, Bio        string
	Picture              string // the asset of the picture, "" if there is none
	TermsVersion         string // "" until accepted, together with PrivacyVersion
	PrivacyVersion       string
	AcceptedAt           time.Time
	CreatedAt, UpdatedAt time.Time
	DeletedAt            time.Time // when the person has left; zero of one who is there
	Life                 int64     // how often the person has left or come back
	Version              int64
	Suspension           Suspension
	Erased               bool // the account goes by Erase, so activities of late may name it
	purging              bool // the account is going for good
	etag                 string
}

// The steps of onboarding.
const (
	StepVerified = "verified_identity"
	StepBasics   = "profile_basics"
	StepTerms    = "accepted_terms"
	StepDone     = "completed"
)

// Steps are all of them.
var Steps = []string{StepVerified, StepBasics, StepTerms, StepDone}

// Missing returns what is still missing until the onboarding is complete.
func (u User) Missing() []string {
	missing := []string{}
	if u.Username == "" {
		missing = append(missing, "username")
	}
	if u.FullName == "" {
		missing = append(missing, "fullName")
	}
	if u.TermsVersion == "" {
		missing = append(missing, "terms")
	}
	return missing
}

// Step returns how far the onboarding is.
func (u User) Step() string {
	basics, terms := u.Username != "" && u.FullName != "", u.TermsVersion != ""
	switch {
	case basics && terms:
		return StepDone
	case terms:
		return StepTerms
	case basics:
		return StepBasics
	}
	return StepVerified
}

// Onboarded reports whether the onboarding is complete.
func (u User) Onboarded() bool { return u.Step() == StepDone }

// meRow is the row of a user.
const meRow = "me"

// erased says that an account goes by Erase, in its row, and then in the row by which it is due
// again.
const erased = "erased"

func userKey(id string) table.Key { return table.Key{Partition: schema.User(id), Row: meRow} }

// userColumns are the properties of an account.
var userColumns = rowstore.Columns[User]{
	rowstore.Text("full_name", func(u *User) *string { return &u.FullName }),
	rowstore.Text("bio", func(u *User) *string { return &u.Bio }),
	rowstore.Text("profile_asset_id", func(u *User) *string { return &u.Picture }).Optional(),
	rowstore.Derived("onboarding_step", func(u *User) table.Value { return table.String(u.Step()) }),
	rowstore.Derived("is_onboarding_completed", func(u *User) table.Value { return table.Bool(u.Onboarded()) }),
	rowstore.Instant("created_at", func(u *User) *time.Time { return &u.CreatedAt }),
	rowstore.Instant("updated_at", func(u *User) *time.Time { return &u.UpdatedAt }),
	rowstore.Long("version", func(u *User) *int64 { return &u.Version }),
	rowstore.Derived(deleted, func(u *User) table.Value { return table.Bool(!u.DeletedAt.IsZero()) }),
	rowstore.Long("life", func(u *User) *int64 { return &u.Life }),
	rowstore.Instant("deleted_at", func(u *User) *time.Time { return &u.DeletedAt }).Optional(),
	rowstore.Flag("purging", func(u *User) *bool { return &u.purging }).Optional(),
	rowstore.Flag(erased, func(u *User) *bool { return &u.Erased }).Optional(),
	rowstore.Text("username", func(u *User) *string { return &u.Username }).Optional(),
	rowstore.Text("accepted_terms_version", func(u *User) *string { return &u.TermsVersion }).Optional(),
	rowstore.Text("accepted_privacy_version", func(u *User) *string { return &u.PrivacyVersion }).Optional(),
	rowstore.Instant("accepted_at", func(u *User) *time.Time { return &u.AcceptedAt }).Optional(),
	rowstore.Instant("suspended_until", func(u *User) *time.Time { return &u.Suspension.Until }).Optional(),
	rowstore.Text("suspended_reason", func(u *User) *string { return &u.Suspension.Reason }).Optional(),
}

func (u User) toRow() table.Row {
	return table.Row{Key: userKey(u.ID), ETag: u.etag, Props: userColumns.Props(&u)}
}

func parseUser(row table.Row) User {
	u := User{ID: strings.TrimPrefix(row.Partition, schema.User("")), etag: row.ETag}
	userColumns.Read(row.Props, &u)
	return u
}

// readUser reads a user; nil if there is none.
func (s *Service) readUser(ctx context.Context, id string) (*User, error) {
	row, err := s.GetRow(ctx, s.Tables.Users, userKey(id))
	if err != nil || row == nil {
		return nil, err
	}
	u := parseUser(*row)
	return &u, nil
}

// Exists reports whether there is an account, also of a person who has left.
func (s *Service) Exists(ctx context.Context, id string) (bool, error) {
	u, err := s.readUser(ctx, id)
	return u != nil, err
}

// changeUser changes the row of a user. change may be called several times. Each must come to the
// same end when its earlier write has landed.
func (s *Service) changeUser(ctx context.Context, u User, change func(*User) error) (User, error) {
	return rowstore.Rewrite(ctx, s.Store, s.Tables.Users, u, func(u *User) (table.Row, error) {
		err := change(u)
		u.Version++
		u.UpdatedAt = s.Now().UTC()
		return u.toRow(), err
	}, func(ctx context.Context) (*User, error) { return s.readUser(ctx, u.ID) }, sessionEnded)
}

func nameKey(name string) table.Key { return table.Key{Partition: name, Row: "r"} }

// ownerOf returns the user that a row of Names is for, "" if there is none.
func (s *Service) ownerOf(ctx context.Context, name string) (string, error) {
	row, err := s.GetRow(ctx, s.Tables.Names, nameKey(name))
	if err != nil || row == nil {
		return "", err
	}
	return row.Props.Get("user_id").Str(), nil
}

// makeAccount makes the account of a number under the id that its reservation names. owner is that
// id, "" if there is no reservation yet.
func (s *Service) makeAccount(ctx context.Context, owner, number, phone string) (*User, error) {
	now := s.Now().UTC()
	if owner == "" {
		owner = s.newID()
		err := s.Write(ctx, s.Tables.Names,
			[]table.Op{{Kind: table.Insert, Row: table.Row{Key: nameKey(phoneRows + number), Props: table.Props{
				{Name: "user_id", Value: table.String(owner)},
				{Name: "created_at", Value: table.Time(now)},
			}}}})
		if err != nil { // another request was first, or this one has landed
			again, unread := s.ownerOf(ctx, phoneRows+number)
			if unread != nil || again == "" {
				return nil, rowstore.Unavailable(err)
			}
			owner = again
		}
	} else {
		// A purge takes the reservation away before the account. So if it is there still, the account
		// was never made.
		again, err := s.ownerOf(ctx, phoneRows+number)
		if err != nil {
			return nil, err
		}
		if again != owner {
			return nil, rowstore.Unavailable(errors.New("the account of the number was purged meanwhile"))
		}
	}
	u := User{ID: owner, CreatedAt: now, UpdatedAt: now, Version: 1}
	err := s.Write(ctx, s.Tables.Users,
		[]table.Op{{Kind: table.Insert, Row: u.toRow()}, {Kind: table.Insert, Row: table.Row{
			Key: table.Key{Partition: schema.User(owner), Row: "id|phone"}, Props: table.Props{
				{Name: "provider_id", Value: table.String(s.Keys.Seal("phone", owner, phone))},
				{Name: "created_at", Value: table.Time(now)},
			},
		}}})
	if err == nil {
		return &u, nil
	}
	made, unread := s.readUser(ctx, owner)
	if unread != nil || made == nil {
		return nil, rowstore.Unavailable(err)
	}
	return made, nil
}

// A Person is what others see of a user. A person who has left has no id and no username.
type Person struct{ ID, Username, FullName, Picture string }

// Person returns what others see of u.
func (u User) Person() Person { return Person{u.ID, u.Username, u.FullName, u.Picture} }

// People reads what others see of users. Those who have left are all alike. An id may be there more
// than once, or "".
func (s *Service) People(ctx context.Context, ids []string) (map[string]Person, error) {
	ids = slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(ids))), func(id string) bool { return id == "" })
	found := make([]*User, len(ids))
	err := rowstore.Each(ctx, len(ids), rowstore.MaxParallel, func(ctx context.Context, i int) (err error) {
		found[i], err = s.readUser(ctx, ids[i])
		return err
	})
	people := map[string]Person{}
	for i, u := range found {
		people[ids[i]] = Person{FullName: DeletedName}
		if u != nil && u.DeletedAt.IsZero() {
			people[u.ID] = u.Person()
		}
	}
	return people, err
}

// Counts are the numbers that go with an account.
type Counts struct {
	Posts, VotesCast     int64
	LockedPosts          int64 // which the person alone may know of
	Followers, Following int64
}

// AllPosts is how many posts there are for the person alone.
func (c Counts) AllPosts() int64 { return c.Posts + c.LockedPosts }

// Counts reads the numbers of a user, which follow what the user did.
func (s *Service) Counts(ctx context.Context, id string) (c Counts, err error) {
	rows, _, err := s.Budget().Rows(ctx, s.Tables.Users, table.Prefix(schema.User(id), "c|"), table.MaxPage)
	for _, row := range rows {
		c.Posts += row.Props.Get("posts_count").Int()
		c.LockedPosts += row.Props.Get("locked_posts_count").Int()
		c.Followers += row.Props.Get(followers).Int()
		c.Following += row.Props.Get(following).Int()
		c.VotesCast += row.Props.Get("votes_cast_count").Int()
	}
	return c, err
}

// A Me is a user's own account.
type Me struct {
	User
	Phone  string // in part
	Counts Counts
}

// Me returns the caller's account.
func (s *Service) Me(ctx context.Context, c Claim) (Me, error) {
	var me Me
	u, err := s.Caller(ctx, c, s.readMine(&me, c.UserID))
	me.User = u
	return me, err
}

// readMine reads what belongs to an account besides the row of the user.
func (s *Service) readMine(me *Me, id string) func(context.Context) error {
	return func(ctx context.Context) error {
		return rowstore.Both(ctx, func(ctx context.Context) (err error) {
			me.Counts, err = s.Counts(ctx, id)
			return err
		}, func(ctx context.Context) error {
			row, err := s.GetRow(ctx, s.Tables.Users, table.Key{Partition: schema.User(id), Row: "id|phone"})
			if err != nil || row == nil {
				return err
			}
			phone, err := s.Keys.Open("phone", id, row.Props.Get("provider_id").Str())
			if me.Phone = Shown(phone); err != nil {
				me.Phone = "?" // of a key that is gone
			}
			return nil
		})
	}
}

// Shown returns what an answer tells of a phone number.
func Shown(phone string) string {
	if len(phone) < 5 {
		return ""
	}
	return phone[:3] + strings.Repeat("•", 5) + phone[len(phone)-2:]
}

// Number names a phone number in keys.
func (s *Service) Number(phone string) string { return s.Keys.LastMAC("phone", phone) }

// OfNumber returns the user with a phone number. There is none after the person has left.
func (s *Service) OfNumber(ctx context.Context, phone string) (User, error) {
	u, err := s.ByNumber(ctx, s.Number(phone))
	if err == nil && u == nil {
		err = noUser()
	}
	if err != nil {
		return User{}, err
	}
	return *u, nil
}

// ByNumber returns the user whose phone number has a name in keys; nil if there is none, also after
// the person has left.
func (s *Service) ByNumber(ctx context.Context, number string) (*User, error) {
	id, err := s.ownerOf(ctx, phoneRows+number)
	if err != nil || id == "" {
		return nil, err
	}
	u, err := s.readUser(ctx, id)
	if err != nil || !u.isThere() {
		return nil, err
	}
	return u, nil
}

// NumberOf names the phone number of a user, "" if that cannot be known.
func (s *Service) NumberOf(ctx context.Context, user string) (string, error) {
	phone, err := s.PhoneOf(ctx, user)
	if err != nil || phone == "" {
		return "", err
	}
	return s.Number(phone), nil
}

// PhoneOf returns the phone number of a user, "" if that cannot be known.
func (s *Service) PhoneOf(ctx context.Context, user string) (string, error) {
	row, err := s.GetRow(ctx, s.Tables.Users, table.Key{Partition: schema.User(user), Row: "id|phone"})
	if err != nil || row == nil {
		return "", err
	}
	phone, err := s.Keys.Open("phone", user, row.Props.Get("provider_id").Str())
	if err != nil {
		return "", nil //nolint:nilerr // of a key that is gone
	}
	return phone, nil
}

// A Profile is what others see of a user on the page of the user.
type Profile struct {
	Person
	Bio       string
	CreatedAt time.Time
	Counts    Counts // but for what the person alone may know

	Follows    bool      // whether the viewer follows the person
	FollowedAt time.Time // since when
	FollowsYou bool
}

func noUser() error { return fault.Coded(fault.NotFound, UserNotFound, "there is no such person") }

// Profile returns the profile of a user with an id. A person who has no username yet is not there,
// nor one who is hidden from the viewer.
func (s *Service) Profile(ctx context.Context, c Claim, id string) (p Profile, err error) {
	_, err = s.Visitor(ctx, c, func(ctx context.Context) (err error) {
		p, err = s.readProfile(ctx, c.UserID, id)
		return err
	})
	return p, err
}

func (s *Service) readProfile(ctx context.Context, viewer, id string) (Profile, error) {
	if !schema.IsID(id) {
		return Profile{}, noUser()
	}
	var u *User
	var counts Counts
	var mine, theirs *tie
	hidden := false
	reads := []func(context.Context) error{
		func(ctx context.Context) (err error) { u, err = s.readUser(ctx, id); return err },
		func(ctx context.Context) (err error) { counts, err = s.Counts(ctx, id); return err },
		func(ctx context.Context) (err error) { hidden, err = s.Hidden(ctx, viewer, id); return err },
		func(ctx context.Context) (err error) { mine, err = s.readTie(ctx, followRows, viewer, id); return err },
		func(ctx context.Context) (err error) {
			theirs, err = s.readTie(ctx, followRows, id, viewer)
			return err
		},
	}
	if viewer == "" {
		reads = reads[:2]
	}
	err := rowstore.All(ctx, reads...)
	if err == nil && (!u.isThere() || hidden) {
		err = noUser()
	}
	if err != nil {
		return Profile{}, err
	}
	counts.LockedPosts, counts.VotesCast = 0, 0
	p := Profile{
		Person: u.Person(), Bio: u.Bio, CreatedAt: u.CreatedAt, Counts: counts,
		Follows: mine.isLive(), FollowsYou: theirs.isLive(),
	}
	if p.Follows {
		p.FollowedAt = mine.createdAt
	}
	return p, nil
}

// ProfileByName returns the profile of the user with a name, in any case.
func (s *Service) ProfileByName(ctx context.Context, c Claim, name string) (Profile, error) {
	id := ""
	if _, err := s.Visitor(ctx, c, func(ctx context.Context) (err error) {
		if usernames.MatchString(name) {
			id, err = s.ownerOf(ctx, nameRows+strings.ToLower(name))
		}
		return err
	}); err != nil {
		return Profile{}, err
	}
	p, err := s.readProfile(ctx, c.UserID, id)
	if err == nil && !strings.EqualFold(p.Username, name) {
		err = noUser() // a reservation that came to nothing
	}
	return p, err
}

// ETag names the state of an account.
func (u User) ETag() string { return strconv.FormatInt(u.Version, 10) }
