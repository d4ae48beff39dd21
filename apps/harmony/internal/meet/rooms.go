package meet

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"prompthub/internal/host/function"
	"prompthub/internal/http/auth/attempts"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// This file has what other rooms of the application need of members: events, the forum, reports.

// Admit finds out whether a claim is true, and does the first reads of a request at the same time.
func (s *Service) Admit(ctx context.Context, c Claim, reads ...func(context.Context) error) (User, error) {
	caller, err := s.identifyCaller(ctx, c, reads...)
	return caller.User, err
}

// Look is Admit for a route that guests may ask for too: a guest is the zero User.
func (s *Service) Look(ctx context.Context, c Claim, reads ...func(context.Context) error) (User, error) {
	caller, err := s.sessions.Visit(ctx, c, s.refuseSuspended, reads...)
	if c.UserID == "" {
		return User{}, err
	}
	found, err := s.noteSeen(ctx, caller, err)
	return found.User, err
}

// An Author is what a reader sees of a member who wrote or takes part in something. ID and ImageURL
// are empty if the reader may not see the profile.
type Author struct{ ID, Name, ImageURL string }

// Authors returns what a reader sees of members. One who is deleted, suspended or blocked is
// missing.
func (s *Service) Authors(ctx context.Context, reader User, ids []string) (map[string]Author, error) {
	index := map[string]int{}
	for _, id := range ids {
		if _, ok := index[id]; !ok && IsID(id) {
			index[id] = len(index)
		}
	}
	rows := make([]table.Row, len(index))
	for id, i := range index {
		rows[i].Key.Row = id
	}
	all, err := s.readMembers(ctx, reader.ID, rows)
	if err != nil {
		return nil, err
	}
	authors := map[string]Author{}
	for _, one := range all {
		if one.of == nil || !one.of.Registered {
			continue
		}
		shown := one.shows
		if sightOf(reader, *one.of, shown, one.pair, s.Now()) != Hidden {
			authors[one.of.ID] = Author{one.of.ID, one.of.Name, one.of.ProfileImageURL}
			continue
		}
		shown.Visibility = "public"
		if sightOf(reader, *one.of, shown, one.pair, s.Now()) != Hidden { // it is the profile alone that is not shown
			authors[one.of.ID] = Author{Name: one.of.Name}
		}
	}
	return authors, nil
}

// Attempt takes an attempt to guess a secret, by the name of its caller, as for a sign-in.
func (s *Service) Attempt(name string) (done func(failed bool), err error) {
	return s.attempts.Begin(attempts.Limit{Name: name, Most: attempts.Most})
}

// NewID draws the id of a new thing.
func (s *Service) NewID() string { return s.newID() }

// IDFor returns the id of what a request makes somewhere: always the same for a key of a member,
// and a new one without a key.
func (s *Service) IDFor(user, in, key string) string {
	if key == "" {
		return s.newID()
	}
	return uuid.NewHash(sha256.New(), uuid.Nil, []byte(user+"|"+in+"|"+key), 4).String()
}

// DraftID is IDFor for a thing that others may change before the request comes again, so that the
// text of the request belongs to its key: another draft with the key makes another thing.
func (s *Service) DraftID(user, in, key string, draft any) (string, error) {
	text, err := json.Marshal(draft)
	if err != nil || key == "" {
		return s.newID(), err
	}
	return s.IDFor(user, in, key+"|"+string(text)), nil
}

// A Settler finishes what messages of one kind are about. They may come twice, late and in any
// order.
type Settler struct {
	Kind   string
	Settle func(context.Context, function.Invocation) error
}

// patience is how long a request tries at a row that many change at the same time.
const patience = 5 * time.Second

// A Contest is a request that tries to change a row that many change at the same time.
type Contest struct {
	s     *Service
	until time.Time
	tries int
	lost  int
}

// Contest begins one.
func (s *Service) Contest() *Contest { return &Contest{s: s, until: s.Now().Add(patience)} }

// Cancel cancels the message of a change that is refused, unless a try may have landed, or land
// yet.
func (c *Contest) Cancel(ctx context.Context, wake queue.Receipt) {
	if c.lost == 0 {
		c.s.Outbox().Cancel(ctx, wake)
	}
}

// Again waits before another try after the error of a write. It returns an error if there must be
// none.
func (c *Contest) Again(ctx context.Context, err error) error {
	c.tries++
	if !rowstore.Overtaken(err) {
		c.lost++
	}
	if c.lost > rowstore.MaxTries || c.tries > 50*rowstore.MaxTries || c.s.Now().After(c.until) {
		return rowstore.Unavailable(err)
	}
	return c.s.Pause(ctx)
}
