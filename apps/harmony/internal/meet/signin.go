package meet

import (
	"context"
	"errors"
	"log/slog"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/fault"
	"prompthub/internal/http/auth/attempts"
	"prompthub/internal/http/auth/password"
	"prompthub/internal/http/auth/session"
	"prompthub/internal/storage/rowstore"
)

// An Asker is who asks to be signed in.
type Asker struct {
	Site, Network string // the address that the request comes from, and the network around it
	Device        string // the token of a device that has signed in before; "" if it gives none
	Agent         string // what the program calls itself
}

// beginAttempt takes an attempt to sign in with a password. Wrong passwords of strangers must not
// keep a member out: they count for their address, and make others who are not known wait some
// seconds. A device that has signed the member in has a count of its own.
func (s *Service) beginAttempt(ctx context.Context, address string, by Asker,
	device string,
) (done func(failed bool), err error) {
	if device != "" {
		return s.attempts.Begin(attempts.Limit{Name: "device " + device, Most: attempts.Most})
	}
	return s.attempts.Password(ctx, account.EmailKey(address).Row,
		attempts.From{Site: by.Site, Network: by.Network}, s.Sleep)
}

// hasherOf returns who has the hash of a password computed.
func (by Asker) hasherOf(device string) password.By {
	if device != "" {
		return password.By{Name: "device " + device, Known: true}
	}
	return password.At(by.Site, by.Network)
}

// ofMember is a member who is signed in.
func ofMember(id string) password.By { return password.By{Name: "member " + id, Known: true} }

// Login signs a member in. An unknown address and a wrong password are one answer, after the same
// work.
func (s *Service) Login(ctx context.Context, address, password string, by Asker) (SignedIn, error) {
	return s.enterSession(ctx, address, password, by, func(u User) (User, error) {
		if u.Deleted() {
			return User{}, s.accountDeleted(u)
		}
		return u, nil
	})
}

// enterSession signs a member in if ready allows it, after ready has done what the member asks for.
func (s *Service) enterSession(ctx context.Context, address, password string, by Asker,
	ready func(User) (User, error),
) (SignedIn, error) {
	normal, _ := rules.NormalEmail(address)
	failed := false
	var done func(bool)
	var err error
	defer func() {
		if done != nil {
			done(failed)
		}
	}()
	if by.Device == "" { // before anything is read
		if done, err = s.beginAttempt(ctx, normal, by, ""); err != nil {
			return SignedIn{}, err
		}
	}
	owner, err := s.ownerOf(ctx, normal)
	if err != nil {
		return SignedIn{}, err
	}
	if owner == "" {
		owner = s.newID() // of no user: the same reads follow
	}
	var u *User
	var all []session.Session
	err = rowstore.Both(ctx, func(ctx context.Context) (err error) {
		u, err = s.readUser(ctx, owner)
		return err
	}, func(ctx context.Context) (err error) {
		all, err = s.sessions.All(ctx, owner)
		return err
	})
	if err != nil {
		return SignedIn{}, err
	}
	if u != nil && u.Email != normal { // an address that the account is about to take, or has just given up
		u = nil
	}
	device := ""
	if name, ok := s.deviceOf(u, by.Device); ok {
		device = name
	}
	if done == nil {
		if done, err = s.beginAttempt(ctx, normal, by, device); err != nil {
			return SignedIn{}, err
		}
	}
	renew, err := s.verifyPassword(ctx, by.hasherOf(device), u, password)
	if failed = fault.CodeOf(err) == InvalidCredentials; err != nil {
		return SignedIn{}, err
	}
	is, err := ready(*u)
	if err != nil {
		return SignedIn{}, err
	}
	u = &is
	if renew {
		ctx := context.WithoutCancel(ctx)
		s.Background(func() { s.renewHash(ctx, *u, password) })
	}
	g := s.sessions.New(u.ID, by.Agent, u.SessionsAfter)
	var pictures Images
	err = rowstore.Both(ctx, func(ctx context.Context) (err error) {
		if u.ProfileImageURL != "" { // it has pictures
			pictures, err = s.readImages(ctx, u.ID)
		}
		return err
	}, func(ctx context.Context) (err error) {
		g, err = s.sessions.Open(ctx, g)
		return err
	})
	if err != nil {
		return SignedIn{}, err
	}
	s.sessions.Trim(ctx, all, *u)
	return SignedIn{s.meOf(*u, pictures), account.TokensOf(g, s.Now()), s.newDevice(*u)}, nil
}

// deviceOf returns the name of a device that has signed a user in, nil standing for one who is not
// there.
func (s *Service) deviceOf(u *User, token string) (name string, ok bool) {
	if u == nil || token == "" {
		return "", false
	}
	return u.Device(token, s.Now())
}

func (s *Service) newDevice(u User) string {
	var drawn [8]byte
	s.sessions.Fill(drawn[:])
	return u.NewDevice(drawn, s.Now())
}

// verifyPassword returns INVALID_CREDENTIALS unless a password is that of a user, nil standing for
// one who is not there. renew reports that the hash of the password is cheaper than new ones are.
func (s *Service) verifyPassword(ctx context.Context, by password.By, u *User,
	password string,
) (renew bool, err error) {
	hash := ""
	if u != nil {
		hash = u.PasswordHash
	}
	ok, renew, err := s.Passwords.Verify(ctx, by, password, hash)
	if err == nil && !ok {
		err = invalidCredentials()
	}
	return renew, err
}

// provePassword returns an error that names a field unless a password is that of the caller. Each
// session has a count of its own.
func (s *Service) provePassword(ctx context.Context, c Caller, password, field string) error {
	done, err := s.attempts.Begin(attempts.Limit{Name: "session " + c.session.ID, Most: attempts.Most})
	if err != nil {
		return err
	}
	_, err = s.verifyPassword(ctx, ofMember(c.ID), &c.User, password)
	done(fault.CodeOf(err) == InvalidCredentials)
	return wrongPassword(err, field)
}

// wrongPassword returns an error of verifyPassword that names the field of a wrong password.
func wrongPassword(err error, field string) error {
	if fault.CodeOf(err) != InvalidCredentials {
		return err
	}
	return &fault.Error{
		Kind: fault.Unauthenticated, Code: InvalidCredentials, Text: "the password is wrong",
		Fields: []fault.Field{{Name: field, Code: InvalidCredentials, Message: "is wrong"}},
	}
}

// renewHash keeps a new hash of the same password. The next sign-in tries again if it fails.
func (s *Service) renewHash(ctx context.Context, u User, password string) {
	hash, err := s.Passwords.Hash(ctx, ofMember(u.ID), password)
	if err == nil {
		was := u.PasswordHash
		_, err = s.changeUser(ctx, u, func(u *User) error {
			if u.PasswordHash != was && u.PasswordHash != hash {
				return errors.New("the password was changed")
			}
			u.PasswordHash = hash
			return nil
		})
	}
	if err != nil {
		s.Log.WarnContext(ctx, "the hash of a password is not renewed yet", slog.String("error", err.Error()))
	}
}

// ChangePassword gives the caller a new password. All other sessions end.
func (s *Service) ChangePassword(ctx context.Context, c Claim, current, changed string) error {
	caller, err := s.identifyCaller(ctx, c)
	if err != nil {
		return err
	}
	if err := s.provePassword(ctx, caller, current, "body.currentPassword"); err != nil {
		return err
	}
	var b rules.Broken
	b.Password("newPassword", changed, caller.Email, caller.Name)
	if err := b.Err(); err != nil {
		return err
	}
	hash, err := s.Passwords.Hash(ctx, ofMember(caller.ID), changed)
	if err != nil {
		return err
	}
	after := s.sessions.EndBefore()
	// The caller's session is made as young as it must be first: alone that changes nothing.
	if err := s.keepSession(ctx, c, after); err != nil {
		return err
	}
	was := caller.PasswordHash
	_, err = s.changeUser(ctx, caller.User, func(u *User) error {
		if u.PasswordHash != was && u.PasswordHash != hash {
			return fault.Coded(fault.Conflict, "", "your password was changed by another request; try again")
		}
		u.PasswordHash, u.SessionsAfter = hash, after
		return nil
	})
	return err
}

// Reset sets a new password for the member that a token names. A token can be used once. All
// sessions of the member end.
func (s *Service) Reset(ctx context.Context, token, password string) error {
	c, ok := session.Parse[User](account.ResetForm, token)
	if !ok {
		return invalidToken()
	}
	u, x, err := s.sessions.Find(ctx, c)
	if err != nil {
		return err
	}
	if u == nil || x == nil || s.sessions.IsSignIn(*x) || !s.sessions.Lives(*x, *u) || !c.Proves(x.RefreshHash) ||
		x.Device != resetOf(*u) {
		return invalidToken()
	}
	var b rules.Broken
	b.Password("password", password, u.Email, u.Name)
	if err := b.Err(); err != nil {
		return err
	}
	hash, err := s.Passwords.Hash(ctx, ofMember(u.ID), password) // the token is as good as a session
	if err != nil {
		return err
	}
	after := s.sessions.EndBefore()
	_, err = s.changeUser(ctx, *u, func(u *User) error {
		if u.PasswordHash != hash && (x.Device != resetOf(*u) || !s.sessions.Lives(*x, *u)) {
			return invalidToken() // another request has used the token, or changed the address
		}
		u.PasswordHash, u.SessionsAfter = hash, after
		return nil
	})
	return err
}

// NewReset returns a token with which the member with an address can set a new password once. It is
// for operators.
func (s *Service) NewReset(ctx context.Context, address string) (token string, err error) {
	u, err := s.userByAddress(ctx, address)
	if err != nil {
		return "", err
	}
	return s.newReset(ctx, u)
}

// newReset returns a token with which a member can set a new password once.
func (s *Service) newReset(ctx context.Context, u User) (token string, err error) {
	x, secret := s.sessions.NewToken(u.ID, resetOf(u), u.SessionsAfter, account.ResetFor)
	return account.ResetForm.Token(x, secret), s.Insert(ctx, s.Tables.Sessions, s.sessions.Row(x))
}

// resetOf is the name of a token for a forgotten password. It is good for the address that the
// account had: a reader of mails at one that the account has left sets no password.
func resetOf(u User) string { return "reset " + account.EmailKey(u.Email).Row }
