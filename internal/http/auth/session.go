package auth

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"

	"prompthub/internal/fault"
)

const (
	sessionCookie = "-session" // after the name of the application
	groupsCookie  = "-groups"  // likewise
	maxCookie     = 3800       // bytes of a value: browsers keep 4096 with name and attributes

	renewEvery  = time.Hour          // at the latest, or when the ID token ends
	renewedLast = 7 * 24 * time.Hour // a session that is renewed
	fixedLast   = 8 * time.Hour      // one that cannot be, for want of a refresh token
	// how long a session outlives a renewal while the provider does not answer
	awayFor = 15 * time.Minute
	// the answer to a renewal: a browser asks for several things at once
	remembered  = time.Minute
	tryAgain    = 10 * time.Second // after a renewal that had no answer
	maxRenewals = 10_000
)

// A session is who signed in, as the cookie keeps it.
type session struct {
	User    User      `json:"user"`
	Renew   time.Time `json:"renew"` // when the provider is asked again; zero: never
	End     time.Time `json:"end"`
	Refresh string    `json:"refresh,omitempty"`
	Groups  []byte    `json:"groups,omitempty"` // the SHA-256 of those in the cookie of groups
}

// begin gives the browser a session.
func (s *Sessions) begin(w http.ResponseWriter, who User, payload map[string]any, refresh string) error {
	kept := session{User: who, End: s.Now().Add(fixedLast)}
	if refresh != "" {
		kept = session{User: who, End: s.Now().Add(renewedLast), Renew: s.renewal(payload), Refresh: refresh}
	}
	return s.remember(w, kept)
}

// remember puts a session into the cookie. A refresh token that does not fit is left out, and so
// the renewals.
func (s *Sessions) remember(w http.ResponseWriter, kept session) error {
	name := s.cookieName(sessionCookie)
	if kept.Groups = nil; len(kept.User.Groups) > 0 {
		sum := sha256.Sum256(kept.User.Groups)
		kept.Groups = sum[:]
	}
	if text, err := s.sealer.seal(name, kept); err == nil && len(text) > maxCookie {
		kept.Refresh, kept.Renew, kept.End = "", time.Time{}, s.Now().Add(fixedLast)
	}
	age := kept.End.Sub(s.Now())
	if len(kept.Groups) > 0 {
		if err := s.keep(w, s.cookieName(groupsCookie), kept.User.Groups, age); err != nil {
			return err
		}
	}
	return s.keep(w, name, kept, age)
}

// groups returns the groups of a session, which a browser brings in a cookie of their own. Those of
// another session are none.
func (s *Sessions) groups(r *http.Request, of session) Groups {
	name := s.cookieName(groupsCookie)
	c, err := r.Cookie(name)
	var g Groups
	if err != nil || len(of.Groups) == 0 || !s.sealer.open(name, c.Value, &g) {
		return nil
	}
	if sum := sha256.Sum256(g); !bytes.Equal(sum[:], of.Groups) {
		return nil
	}
	return g
}

// renewal returns when to ask the provider again: when what it said ends, and at least every hour.
func (s *Sessions) renewal(payload map[string]any) time.Time {
	at := s.Now().Add(renewEvery)
	if end, ok := payload["exp"].(float64); ok {
		if ends := time.Unix(int64(end), 0); ends.Before(at) {
			at = ends
		}
	}
	return at
}

// User returns who a browser's session is of, and renews it when that is due.
func (s *Sessions) User(w http.ResponseWriter, r *http.Request) (User, error) {
	name := s.cookieName(sessionCookie)
	c, err := r.Cookie(name)
	if err != nil {
		return User{}, nil //nolint:nilerr // no cookie: an anonymous caller
	}
	var kept session
	if !s.sealer.open(name, c.Value, &kept) || !s.Now().Before(kept.End) {
		s.forget(w, name)
		return User{}, nil
	}
	kept.User.Groups = s.groups(r, kept)
	if kept.Refresh == "" || s.Now().Before(kept.Renew) {
		return kept.User, nil
	}
	fresh, err := s.renewals.once(kept.Refresh, func() (session, error) {
		// Others may wait for the answer, so it is asked for even when this browser goes away.
		return s.renew(context.WithoutCancel(r.Context()), kept)
	})
	switch {
	case err == nil:
		return fresh.User, s.remember(w, fresh)
	case fault.Of(err) == fault.Unavailable && s.Now().Before(kept.Renew.Add(awayFor)):
		return kept.User, nil
	case fault.Of(err) != fault.Unavailable:
		s.forget(w, name)
	}
	return User{}, err
}

// renew asks the provider whether the user is still one of its, and for what it says of them now.
func (s *Sessions) renew(ctx context.Context, kept session) (session, error) {
	conf, endpoints, err := s.provider(ctx)
	if err != nil {
		return session{}, err
	}
	token, err := conf.TokenSource(s.asking(ctx), &oauth2.Token{RefreshToken: kept.Refresh}).Token()
	if err != nil {
		return session{}, refused(err)
	}
	payload, err := s.says(ctx, endpoints, token)
	if err != nil {
		return session{}, err
	}
	fresh := session{User: kept.User, End: kept.End, Refresh: token.RefreshToken, Renew: s.renewal(payload)}
	if len(payload) == 0 {
		fresh.User.Groups = nil // it is still one of its, and it says no more
		return fresh, nil
	}
	if fresh.User, err = s.tokens.person(payload); err == nil && fresh.User.ID != kept.User.ID {
		err = over(errors.New("the renewed session is of another user"))
	}
	return fresh, err
}

// renewals answers the same refresh token the same for a while. Requests come in parallel, and a
// provider that takes a token once believes it stolen when it comes again.
type renewals struct {
	now    func() time.Time
	flight singleflight.Group

	answers *lru.Cache[string, answered] // by the order in which they came: they are only peeked at
	keeping sync.Mutex                   // so that none is removed for the one that it replaced
}

type answered struct {
	session session
	err     error
	until   time.Time
}

func newRenewals(now func() time.Time) *renewals {
	answers, _ := lru.New[string, answered](maxRenewals) // whose size is above 0
	return &renewals{now: now, answers: answers}
}

func (n *renewals) once(refresh string, renew func() (session, error)) (session, error) {
	sum := sha256.Sum256([]byte(refresh))
	key := string(sum[:])
	found, err, _ := n.flight.Do(key, func() (any, error) {
		if a, ok := n.answer(key); ok {
			return a.session, a.err
		}
		fresh, err := renew()
		n.keep(key, fresh, err)
		return fresh, err
	})
	fresh, _ := found.(session)
	return fresh, err
}

func (n *renewals) answer(key string) (answered, bool) {
	a, ok := n.answers.Peek(key)
	return a, ok && n.now().Before(a.until)
}

// keep keeps an answer, and no answer that has ended: it holds a refresh token.
func (n *renewals) keep(key string, fresh session, err error) {
	n.keeping.Lock()
	defer n.keeping.Unlock()
	for {
		other, a, ok := n.answers.GetOldest()
		if !ok || n.now().Before(a.until) {
			break
		}
		n.answers.Remove(other)
	}
	until := n.now().Add(remembered)
	if fault.Of(err) == fault.Unavailable {
		until = n.now().Add(tryAgain)
	}
	n.answers.Add(key, answered{fresh, err, until})
}

// cookieName returns the name of a cookie of the application. Over https it is one that a browser
// takes from this very host only.
func (s *Sessions) cookieName(name string) string {
	if s.secure {
		return "__Host-" + s.Application + name
	}
	return s.Application + name
}

// keep puts a sealed value into a cookie.
func (s *Sessions) keep(w http.ResponseWriter, name string, value any, age time.Duration) error {
	text, err := s.sealer.seal(name, value)
	if err != nil {
		return err
	}
	s.set(w, name, text, int(age.Seconds()))
	return nil
}

func (s *Sessions) forget(w http.ResponseWriter, name string) { s.set(w, name, "", -1) }

func (s *Sessions) set(w http.ResponseWriter, name, value string, age int) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure but on http, which is for a loopback address only
		Name: name, Value: value, Path: "/", MaxAge: age, HttpOnly: true,
		SameSite: http.SameSiteLaxMode, Secure: s.secure,
	})
}
