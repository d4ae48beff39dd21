package library

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/google/uuid"
	lru "github.com/hashicorp/golang-lru/v2"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/http/auth/attempts"
	"prompthub/internal/http/auth/password"
	"prompthub/internal/http/auth/session"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

// How long a password is, in UTF-16 code units.
const (
	MinPassword = 10
	MaxPassword = 128
)

const (
	sessionFor     = 30 * 24 * time.Hour
	resetFor       = time.Hour
	maxSessions    = 20              // of a user
	sessionRead    = 8 * time.Second // how long an instance believes what it read of one
	maxSessionsCut = 10_000          // that an instance remembers
)

// The codes of refused sign-ins.
const (
	NoPasswords  fault.Code = "NO_PASSWORDS"
	WrongSignIn  fault.Code = "WRONG_NAME_OR_PASSWORD"
	SessionEnded fault.Code = "SESSION_ENDED"
	NoSuchReset  fault.Code = "NO_SUCH_RESET"
)

// Passwords has people sign in by name and password. All Services of a process share one.
type Passwords struct {
	hasher *password.Hasher
	wrong  *attempts.Counter
	sleep  func(context.Context, time.Duration) error
	known  *lru.Cache[[sha256.Size]byte, knownSession]
}

// A knownSession is whose session one was at some time.
type knownSession struct {
	auth.User
	at time.Time
}

// NewPasswords returns the Passwords of a process.
func NewPasswords(h *password.Hasher, now func() time.Time,
	sleep func(context.Context, time.Duration) error,
) *Passwords {
	known, _ := lru.New[[sha256.Size]byte, knownSession](maxSessionsCut) // whose size is above 0
	return &Passwords{h, attempts.New(now), sleep, known}
}

// WithPasswords returns a Service where people have passwords; nil for none.
func (s *Service) WithPasswords(p *Passwords) *Service {
	with := *s
	with.passwords = p
	return &with
}

// HasPasswords reports whether people sign in with passwords here.
func (s *Service) HasPasswords() bool { return s.passwords != nil }

func (s *Service) needPasswords() error {
	if s.passwords == nil {
		return fault.Coded(fault.Conflict, NoPasswords,
			"nobody has a password here: people sign in with the identity provider of this service")
	}
	return nil
}

// An Asker is who asks to be signed in: the address that the request comes from, and what the
// program calls itself.
type Asker struct {
	attempts.From
	Agent string
}

var ids = session.IDs{
	Text:  func(id [16]byte) string { return uuid.UUID(id).String() },
	Bytes: func(id string) [16]byte { return uuid.MustParse(id) },
}

// The forms of the tokens of a session, and of links to set a new password.
var (
	sessionForm = session.NewForm("phs_", ids)
	resetForm   = session.NewForm("phr_", ids)
)

func (s *Service) sessions() *session.Sessions[promptdb.Account] {
	all := &session.Sessions[promptdb.Account]{
		Store: s.db.Store, Policy: session.Policy{
			AccessFor: sessionFor, RefreshFor: sessionFor,
			SessionFor: sessionFor, Most: maxSessions,
		},
		Table: s.db.T.Users, Prefix: promptdb.SessionPrefix, Columns: session.Columns, Entropy: rand.Reader,
		Account: func(ctx context.Context, id string) (*promptdb.Account, error) {
			return s.db.Account(ctx, prompt.UserID(id))
		},
		Holds: func(x session.Session, a promptdb.Account) bool { return !x.CreatedAt.Before(a.SessionsAfter) },
		Ended: errSessionEnded,
	}
	all.NewID = func() string { return uuid.New().String() }
	return all
}

// sessionsAfter returns the time before which the sessions of a user have ended, zero for one who
// has no password.
func (s *Service) sessionsAfter(ctx context.Context, user prompt.UserID) (time.Time, error) {
	if s.passwords == nil {
		return time.Time{}, nil
	}
	a, err := s.db.Account(ctx, user)
	if err != nil || a == nil {
		return time.Time{}, err
	}
	return a.SessionsAfter, nil
}

func errSessionEnded() error {
	return fault.Coded(fault.Unauthenticated, SessionEnded, "this session has ended; sign in again")
}

func errWrongSignIn() error {
	return fault.Coded(fault.Unauthenticated, WrongSignIn, "the name or the password is wrong")
}

func userOf(a promptdb.Account) auth.User {
	u := auth.User{ID: string(a.ID), Name: a.Name}
	if a.Admin {
		u.Roles = []string{auth.RoleAdmin}
	}
	return u
}

// Session returns whose session a token is of.
func (s *Service) Session(ctx context.Context, token string) (auth.User, error) {
	c, ok := session.Parse[promptdb.Account](sessionForm, token)
	if !ok || s.passwords == nil {
		return auth.User{}, errSessionEnded()
	}
	key := sha256.Sum256([]byte(token))
	if k, ok := s.passwords.known.Get(key); ok && s.now().Sub(k.at) < sessionRead {
		return k.User, nil
	}
	at := s.now()
	caller, err := s.sessions().Identify(ctx, c, nil)
	if err != nil {
		return auth.User{}, err
	}
	u := userOf(caller.Account)
	s.passwords.known.Add(key, knownSession{u, at})
	return u, nil
}

// WithSessions returns how a door finds out who is calling that takes sessions as bearer tokens in
// addition to what next believes. Guess is as for access tokens.
func (s *Service) WithSessions(next auth.Identify, guess auth.Guess) auth.Identify {
	if s.passwords == nil {
		return next
	}
	return func(r *http.Request) (auth.User, error) {
		token := auth.BearerOf(r.Header)
		if !strings.HasPrefix(token, sessionForm.Prefix) {
			return next(r)
		}
		if _, ok := session.Parse[promptdb.Account](sessionForm, token); !ok {
			return auth.User{}, errSessionEnded()
		}
		wrong, err := guess(r)
		if err != nil {
			return auth.User{}, err
		}
		u, err := s.Session(r.Context(), token)
		if fault.Of(err) == fault.Unauthenticated {
			wrong()
		}
		return u, err
	}
}

// checkPassword reports what is wrong with a password that somebody chose.
func checkPassword(pass string, others ...string) []fault.Field {
	n := len(utf16.Encode([]rune(pass)))
	message := ""
	switch {
	case n < MinPassword || n > MaxPassword || !utf8.ValidString(pass):
		message = "give 10 to 128 characters"
	case len(different(pass)) < 5:
		message = "choose another password: this one repeats a few characters"
	}
	for _, other := range others {
		if message == "" && len(other) >= 3 && strings.Contains(strings.ToLower(pass), strings.ToLower(other)) {
			message = "choose another password: this one holds your name"
		}
	}
	if message == "" {
		return nil
	}
	return []fault.Field{{Name: "password", Message: message}}
}

func different(s string) map[rune]bool {
	all := map[rune]bool{}
	for _, r := range s {
		all[r] = true
	}
	return all
}

// SignIn opens a session for a person who gives a handle and a password. Another name and another
// password are one answer, after the same work.
func (s *Service) SignIn(ctx context.Context, name, pass string, by Asker) (token string, err error) {
	a, err := s.accountWith(ctx, name, pass, by)
	if err != nil {
		return "", err
	}
	return s.open(ctx, *a, by)
}

// accountWith returns the account of a handle and a password.
func (s *Service) accountWith(ctx context.Context, name, pass string, by Asker) (*promptdb.Account, error) {
	if err := s.needPasswords(); err != nil {
		return nil, err
	}
	handle := strings.ToLower(strings.TrimPrefix(strings.TrimSpace(name), "@"))
	if !prompt.ValidSlug(handle) {
		handle = "-" // of no person; the same reads follow
	}
	done, err := s.passwords.wrong.Password(ctx, handle, by.From, s.passwords.sleep)
	if err != nil {
		return nil, err
	}
	failed := false
	defer func() { done(failed) }()
	user, err := s.db.UserID(ctx, handle)
	if err != nil {
		return nil, err
	}
	if user == "" || prompt.IsWorkspace(user) {
		user = prompt.UserID(uuid.New().String())
	}
	a, err := s.db.Account(ctx, user)
	if err != nil {
		return nil, err
	}
	hash := ""
	if a != nil {
		hash = a.PasswordHash
	}
	if len(pass) > 4*MaxPassword { // as long a password as any is looked at, and no longer one
		pass, hash = "", ""
	}
	ok, _, err := s.passwords.hasher.Verify(ctx, password.At(by.Site, by.Network), pass, hash)
	if err != nil {
		return nil, err
	}
	if !ok {
		failed = true
		return nil, errWrongSignIn()
	}
	return a, nil
}

// open opens a session of an account.
func (s *Service) open(ctx context.Context, a promptdb.Account, by Asker) (string, error) {
	sessions := s.sessions()
	all, err := sessions.All(ctx, string(a.ID))
	if err != nil {
		return "", err
	}
	g, err := sessions.Open(ctx, sessions.New(string(a.ID), session.Device(by.Agent), a.SessionsAfter))
	if err != nil {
		return "", err
	}
	sessions.Trim(ctx, all, a)
	return sessionForm.Token(g.Session, g.Access), nil
}

// SignOut ends a session.
func (s *Service) SignOut(ctx context.Context, token string) error {
	c, ok := session.Parse[promptdb.Account](sessionForm, token)
	if !ok || s.passwords == nil {
		return nil
	}
	if _, err := s.sessions().Identify(ctx, c, nil); err != nil {
		if fault.Of(err) == fault.Unauthenticated {
			return nil // it has ended
		}
		return err
	}
	s.passwords.known.Remove(sha256.Sum256([]byte(token)))
	return s.sessions().End(ctx, c.UserID, c.SessionID)
}

// forgetSessions has this instance look at all sessions of a user again.
func (s *Service) forgetSessions(user prompt.UserID) {
	for _, key := range s.passwords.known.Keys() {
		if k, ok := s.passwords.known.Peek(key); ok && k.ID == string(user) {
			s.passwords.known.Remove(key)
		}
	}
}

// ResetPassword makes the secret of a link with which a person sets a new password, once and for
// an hour. Admins may.
func (s *Service) ResetPassword(ctx context.Context, who auth.User,
	handle string,
) (secret string, ends time.Time, err error) {
	if err := signedIn(who); err != nil {
		return "", ends, err
	}
	if !who.Admin() {
		return "", ends, errNeedsAdmin()
	}
	return s.NewReset(ctx, handle)
}

// NewReset is ResetPassword for operators.
func (s *Service) NewReset(ctx context.Context, handle string) (secret string, ends time.Time, err error) {
	if err := s.needPasswords(); err != nil {
		return "", ends, err
	}
	handle = strings.ToLower(strings.TrimPrefix(strings.TrimSpace(handle), "@"))
	var a *promptdb.Account
	if prompt.NamesUser(handle) {
		user, err := s.db.UserID(ctx, handle)
		if err != nil {
			return "", ends, err
		}
		if user != "" && !prompt.IsWorkspace(user) {
			if a, err = s.db.Account(ctx, user); err != nil {
				return "", ends, err
			}
		}
	}
	if a == nil {
		return "", ends, promptdb.ErrNoAccount()
	}
	x, made := s.sessions().NewToken(string(a.ID), "reset", a.SessionsAfter, resetFor)
	return resetForm.Token(x, made), x.Ends, s.db.PutSession(ctx, s.sessions().Row(x))
}

// AcceptReset sets a new password by such a secret, and returns the handle of the person. All their
// sessions and access tokens end, as another who had the password may have made them. Their wrong
// passwords from where they are count no more.
func (s *Service) AcceptReset(ctx context.Context, secret, pass string, by Asker) (handle string, err error) {
	if err := s.needPasswords(); err != nil {
		return "", err
	}
	gone := fault.Coded(fault.NotFound, NoSuchReset,
		"this link was not copied whole, has been used or has expired; ask an administrator for a new one")
	c, ok := session.Parse[promptdb.Account](resetForm, secretIn(secret))
	if !ok {
		return "", gone
	}
	sessions := s.sessions()
	a, x, err := sessions.Find(ctx, c)
	if err != nil {
		return "", err
	}
	if a == nil || x == nil || sessions.IsSignIn(*x) || !sessions.Lives(*x, *a) || !c.Proves(x.RefreshHash) {
		return "", gone
	}
	profile, hash, err := s.newHash(ctx, *a, pass, by)
	if err != nil {
		return "", err
	}
	if err := s.revokeAll(ctx, a.ID); err != nil { // first: the link is good still if it fails
		return "", err
	}
	if _, err := s.setPassword(ctx, a.ID, hash, func(a promptdb.Account) error {
		if !sessions.Lives(*x, a) {
			return gone // another request has used the link
		}
		return nil
	}); err != nil {
		return "", err
	}
	s.passwords.wrong.Forgive(profile.Handle, by.From)
	return profile.Handle, s.revokeAll(ctx, a.ID) // those that a session made in between
}

// ChangePassword sets a new password for a caller that knows the present one, and opens a new
// session. All others of theirs end; their access tokens stay.
func (s *Service) ChangePassword(ctx context.Context, who auth.User, present, pass string,
	by Asker,
) (token string, err error) {
	if err := signedIn(who); err != nil {
		return "", err
	}
	if err := s.needPasswords(); err != nil {
		return "", err
	}
	profile, err := s.db.Profile(ctx, IDOf(who))
	if err != nil {
		return "", err
	}
	a, err := s.accountWith(ctx, profile.Handle, present, by)
	if fault.CodeOf(err) == WrongSignIn || err == nil && a.ID != IDOf(who) {
		return "", &fault.Error{
			Kind: fault.Invalid, Text: "the password breaks the rules named here",
			Fields: []fault.Field{
				{Name: "current", Message: "this is not your present password"},
			},
		}
	}
	if err != nil {
		return "", err
	}
	_, hash, err := s.newHash(ctx, *a, pass, by)
	if err != nil {
		return "", err
	}
	was := a.PasswordHash
	a, err = s.setPassword(ctx, a.ID, hash, func(a promptdb.Account) error {
		if a.PasswordHash != was {
			return fault.New(fault.Conflict, "the password was changed meanwhile; sign in with the new one")
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return s.open(ctx, *a, by)
}

// newHash returns the hash of a password that the person of an account chose, and their profile.
func (s *Service) newHash(ctx context.Context, a promptdb.Account, pass string,
	by Asker,
) (profile prompt.Profile, hash string, err error) {
	if profile, err = s.db.Profile(ctx, a.ID); err != nil {
		return profile, "", err
	}
	if wrong := checkPassword(pass, profile.Handle, profile.Name, a.Name); wrong != nil {
		return profile, "", &fault.Error{
			Kind: fault.Invalid, Text: "the password breaks the rules named here",
			Fields: wrong,
		}
	}
	hash, err = s.passwords.hasher.Hash(ctx, password.At(by.Site, by.Network), pass)
	return profile, hash, err
}

// setPassword gives an account a new password, unless may refuses it as it is now, and ends its
// sessions. The account may have that password already: then a try that got no answer has set it.
func (s *Service) setPassword(ctx context.Context, user prompt.UserID, hash string,
	may func(promptdb.Account) error,
) (*promptdb.Account, error) {
	after := s.sessions().EndBefore()
	a, err := s.db.ChangeAccount(ctx, user, func(a *promptdb.Account) error {
		if a.PasswordHash != hash {
			if err := may(*a); err != nil {
				return err
			}
			if !after.After(a.SessionsAfter) { // another change was a moment ago
				after = a.SessionsAfter.Add(time.Millisecond)
			}
		}
		a.PasswordHash, a.SessionsAfter = hash, after
		return nil
	})
	if err == nil {
		s.forgetSessions(user)
	}
	return a, err
}

// revokeAll revokes the access tokens of a person.
func (s *Service) revokeAll(ctx context.Context, user prompt.UserID) error {
	all, err := s.db.Tokens(ctx, user)
	for _, t := range all {
		if err == nil {
			_, err = s.db.RemoveToken(ctx, user, t.ID, "")
		}
	}
	return err
}

func errNeedsAdmin() error {
	return fault.New(fault.Forbidden, "this is for administrators of the site")
}
