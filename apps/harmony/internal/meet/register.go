package meet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/fault"
	"prompthub/internal/host/function"
	"prompthub/internal/http/auth/attempts"
	"prompthub/internal/storage/outbox"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// QueueLists is the queue, and the function of the same name, that finishes what follows from a
// change of a user.
const QueueLists = "list-changes"

// A Registration is what a new member sends.
type Registration struct {
	Email, Password, Name, BirthDate, Gender string
	account.About
	Language string // one of rules.Languages
	Back     string // the page that they wanted before, if any: the link of the mail leads on there
	By       Asker
}

// A SignedIn is a member with the tokens of a new session.
type SignedIn struct {
	Me     Me
	Tokens Tokens
	Device string // the token of the device, with which it signs in next time
}

// writeWithin is how long after its message was sent a write of a change may begin: a registration
// reads, waits for a place to hash a password, and writes twice.
const writeWithin = 25 * time.Second

// wakeAfter is when the message of a change is seen, unless the change was finished before.
const wakeAfter = 30 * time.Second

// KindUser is the kind of messages about a change of a user.
const KindUser = "user"

// A userChange is the text of a message: a change of a user may be half-way, and must be finished.
type userChange struct {
	Kind     string    `json:"kind"` // user
	ID       string    `json:"id"`
	Language string    `json:"language,omitempty"` // of a registration; none of a change of pictures
	Deletes  []string  `json:"deletes,omitempty"`  // ids of pictures
	Until    time.Time `json:"until"`              // from then on no write of the change can land
}

// Register makes an account and signs it in.
func (s *Service) Register(ctx context.Context, r Registration) (SignedIn, error) {
	u, err := s.newUser(&r)
	if err != nil {
		return SignedIn{}, err
	}
	if err := s.countSignUp(r.By); err != nil {
		return SignedIn{}, err
	}
	return s.makeAccount(ctx, u, r)
}

// makeAccount makes the account of a registration, and signs it in. Its password is hashed unless
// the account has the hash.
func (s *Service) makeAccount(ctx context.Context, u User, r Registration) (SignedIn, error) {
	ctx = s.Outbox().Begin(ctx)
	var taken string
	var wake queue.Receipt
	err := rowstore.Both(ctx, func(ctx context.Context) (err error) {
		taken, err = s.ownerOf(ctx, u.Email)
		return err
	}, func(ctx context.Context) (err error) {
		wake, err = s.Outbox().Send(ctx,
			userChange{Kind: KindUser, ID: u.ID, Language: r.Language, Until: s.Outbox().Landed(ctx)})
		return err
	})
	if err == nil && taken != "" {
		err = emailTaken()
	}
	if err == nil && u.PasswordHash == "" {
		u.PasswordHash, err = s.Passwords.Hash(ctx, r.By.hasherOf(""), r.Password)
	}
	if err != nil {
		s.Outbox().Cancel(ctx, wake)
		return SignedIn{}, err
	}
	u.CreatedAt = s.Now().UTC()
	u.UpdatedAt, u.LastSeen = u.CreatedAt, u.CreatedAt
	// From here on the message stays unless everything is done: a write may land late.
	if err := s.Write(ctx, s.Tables.Users, []table.Op{{Kind: table.Insert, Row: u.Row(s.Now())}}); err != nil {
		return SignedIn{}, rowstore.Unavailable(err)
	}
	if err := s.takeEmail(ctx, u); err != nil {
		if fault.CodeOf(err) == EmailTaken && s.RemoveKey(ctx, s.Tables.Users, account.UserKey(u.ID)) == nil {
			s.Outbox().Cancel(ctx, wake)
		}
		return SignedIn{}, err
	}
	g := s.sessions.New(u.ID, r.By.Agent, u.SessionsAfter)
	var completed, opened error
	var wg sync.WaitGroup
	wg.Go(func() { completed = s.completeAccount(ctx, u, r.Language) })
	g, opened = s.sessions.Open(ctx, g)
	wg.Wait()
	if completed == nil {
		s.Outbox().Cancel(ctx, wake) // nothing follows any more
	}
	if opened != nil {
		return SignedIn{}, fault.Wrap(fault.Unavailable,
			"the account is made, but you are not signed in yet; sign in", opened)
	}
	return SignedIn{s.meOf(u, Images{}), account.TokensOf(g, s.Now()), s.newDevice(u)}, nil
}

// countSignUp counts a registration for its address, also one that is refused because an account
// has the e-mail address: else it would tell whether there is one.
func (s *Service) countSignUp(by Asker) error {
	if s.SignUpsAnHour <= 0 {
		return nil
	}
	return by.count(s.signUps, s.SignUpsAnHour)
}

// asksAnHour is how many mails one address of the internet may ask for in an hour.
const asksAnHour = 10

// countAsked counts a mail that a person asks for.
func (s *Service) countAsked(by Asker) error { return by.count(s.asked, asksAnHour) }

// count counts an act for the address that it comes from, and for its network, which may do it
// twice as often.
func (by Asker) count(in *attempts.Counter, most int) error {
	if by.Site == "" {
		return nil
	}
	limits := []attempts.Limit{{Name: by.Site, Most: most}}
	if by.Network != "" {
		limits = append(limits, attempts.Limit{Name: by.Network, Most: 2 * most})
	}
	done, err := in.Begin(limits...)
	if err == nil {
		done(true)
	}
	return err
}

// newUser checks a registration, and returns the user that it makes but for the password.
func (s *Service) newUser(r *Registration) (User, error) {
	var b rules.Broken
	now := s.Now()
	u := User{
		ID: s.newID(), Email: b.Email("email", r.Email), Name: b.Name(r.Name), BirthDate: b.BirthDate(r.BirthDate, now),
		About: r.Check(&b), Gender: r.Gender, Role: Member,
	}
	var place [8]byte
	s.sessions.Fill(place[:])
	u.Shuffle = fmt.Sprintf("%x", place)
	b.OneOf("gender", r.Gender, rules.Genders, rules.GenderUnknown)
	b.OneOf("language", r.Language, rules.Languages, rules.LanguageUnknown)
	b.Password("password", r.Password, u.Email, u.Name)
	return u, b.Err()
}

func emailTaken() error {
	return &fault.Error{
		Kind: fault.Conflict, Code: EmailTaken,
		Text:   "an account has this e-mail address already; sign in, or give another address",
		Fields: []fault.Field{{Name: "body.email", Code: EmailTaken, Message: "an account has this address already"}},
	}
}

// takeEmail commits an account. The error has the code EMAIL_TAKEN if another account has the
// address; any other leaves the outcome to the job.
func (s *Service) takeEmail(ctx context.Context, u User) error {
	row := table.Row{Key: account.EmailKey(u.Email), Props: table.Props{{Name: "UserId", Value: table.String(u.ID)}}}
	err := s.Write(ctx, s.Tables.UserEmails, []table.Op{{Kind: table.Insert, Row: row}})
	if err == nil {
		return nil
	}
	owner, unread := s.ownerOf(ctx, u.Email)
	switch {
	case unread != nil:
		return unread
	case owner == u.ID:
		return nil // it landed, and its answer was lost
	case owner != "":
		return emailTaken()
	}
	return rowstore.Unavailable(err)
}

// completeAccount writes what follows from an account. Each part may be there already.
func (s *Service) completeAccount(ctx context.Context, u User, language string) error {
	id, now := u.ID, s.Now()
	u.Registered = true
	writes := []func() error{
		func() error {
			return s.mergeProps(ctx, s.Tables.Users, account.UserKey(id),
				table.Props{{Name: "Registered", Value: table.Bool(true)}})
		},
		func() error {
			return s.Insert(ctx, s.Tables.UserPreferences,
				account.PreferencesRow(id, rules.NewPreferences(), account.Daily{}, now))
		},
		func() error {
			return s.Insert(ctx, s.Tables.UserSettings, account.PrivacyRow(id, rules.NewPrivacy(language), now))
		},
		func() error {
			return s.writeAgain(func() error {
				return s.deckIndex().Add(ctx, DeckEntry(u, rules.NewPreferences(), rules.NewPrivacy(language)))
			})
		},
	}
	errs := make([]error, len(writes))
	var wg sync.WaitGroup
	for i, write := range writes {
		wg.Go(func() { errs[i] = write() })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Outbox returns the messages of changes of users, and of the rooms around them.
func (s *Service) Outbox() outbox.Outbox {
	return outbox.Outbox{
		Store: s.Store, Queues: s.Queues, Queue: QueueLists,
		After: wakeAfter, WriteWithin: writeWithin,
	}
}

// Triggers returns the functions that no request starts. Each may run twice, late and in any order.
// Messages of other kinds than KindUser go to their settlers; those of users to settlers too.
func (s *Service) Triggers(others ...Settler) []function.Trigger {
	return []function.Trigger{
		{
			Name: QueueLists, Queue: QueueLists,
			Run: func(ctx context.Context, in function.Invocation) error {
				var c userChange
				if err := json.Unmarshal([]byte(in.Text), &c); err != nil {
					return fmt.Errorf("read message: %w", err)
				}
				looked := s.Now() // before anything is read: settlers look as well
				if c.Kind == kindAddress {
					return s.settleMove(ctx, in.Text, looked)
				}
				mine := c.Kind == KindUser
				known := mine
				for _, other := range others {
					if other.Kind == c.Kind {
						known = true
						if err := other.Settle(ctx, in); err != nil || !mine {
							return err
						}
					}
				}
				if !known { // it waits for a version that knows it
					return fmt.Errorf("no room settles messages of the kind %q", c.Kind)
				}
				return s.settleChange(ctx, c, looked)
			},
		},
		{Name: QueuePairs, Queue: QueuePairs, Run: s.settlePair},
		{Name: QueueMails, Queue: QueueMails, Run: s.settleMail},
	}
}

// settleChange finishes what a message is about, of a job that began to look at a time.
func (s *Service) settleChange(ctx context.Context, c userChange, looked time.Time) error {
	if c.Language != "" {
		return s.settleRegistration(ctx, c, looked)
	}
	u, err := s.readUser(ctx, c.ID)
	if err != nil || u == nil {
		return err
	}
	if err := s.followUser(ctx, *u); err != nil {
		return err
	}
	if err := s.finishDeleting(ctx, c); err != nil {
		return err
	}
	return s.Outbox().Again(ctx, c, c.Until, looked)
}

// followUser has the profile follow its pictures, and decks follow the member.
func (s *Service) followUser(ctx context.Context, u User) error {
	all, err := s.readImages(ctx, u.ID)
	if err == nil {
		err = s.followFirst(ctx, u, all.First())
	}
	if err == nil {
		err = s.followDeck(ctx, u)
	}
	return err
}

// SettleUser writes all rows that follow from an account and are missing. The language is that of
// new settings.
func (s *Service) SettleUser(ctx context.Context, id, language string) error {
	u, err := s.readUser(ctx, id)
	if err != nil || u == nil || !u.Registered {
		return err
	}
	if err := s.completeAccount(ctx, *u, language); err != nil {
		return err
	}
	return s.followUser(ctx, *u)
}

// settleRegistration finishes a registration that was committed, and removes one that was not, once
// no write of it can land any more.
func (s *Service) settleRegistration(ctx context.Context, c userChange, looked time.Time) error {
	u, err := s.readUser(ctx, c.ID)
	if err != nil {
		return err
	}
	if u == nil {
		return s.Outbox().Again(ctx, c, c.Until, looked)
	}
	owner, err := s.ownerOf(ctx, u.Email)
	switch {
	case err != nil:
		return err
	case owner == u.ID:
		return s.completeAccount(ctx, *u, c.Language)
	case owner == "" && !looked.After(c.Until):
		return s.Outbox().Again(ctx, c, c.Until, looked)
	}
	if err := s.RemoveKey(ctx, s.Tables.Users, account.UserKey(u.ID)); err != nil {
		return err
	}
	return s.Outbox().Again(ctx, c, c.Until, looked) // the row of the user itself may land again
}
