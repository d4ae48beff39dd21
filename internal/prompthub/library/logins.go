package library

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/promptdb"
)

// A command line signs in by a browser on its own machine. It listens there and opens a page with
// a challenge, the SHA-256 of a secret that it keeps. The person allows it, and the browser brings
// a code to the address on its own machine: so who sends the page to somebody else gets nothing,
// and a code without the secret is worth nothing.

// loginForm is how codes of such sign-ins read.
var loginForm = auth.TokenForm{Prefix: "phc_", IDBytes: 10}

// loginFor is how long a code is good.
const loginFor = 2 * time.Minute

// NoSuchLogin is the code of a sign-in that is over.
const NoSuchLogin fault.Code = "NO_SUCH_LOGIN"

var challenges = regexp.MustCompile(`^[0-9a-f]{64}$`)

// IsChallenge reports whether a text is the challenge of a command line.
func IsChallenge(s string) bool { return challenges.MatchString(s) }

// AllowLogin returns a code with which the command line that has the secret of a challenge gets an
// access token of the caller, once and within two minutes.
func (s *Service) AllowLogin(ctx context.Context, who auth.User, machine, challenge string) (code string, err error) {
	if err := signedIn(who); err != nil {
		return "", err
	}
	name := loginName(machine)
	if !IsChallenge(challenge) {
		return "", fault.New(fault.Invalid, "this address is not one of prompthub login; run the command again")
	}
	if err := (TokenDraft{Name: name, Scopes: auth.Scopes(), ExpiresAt: s.now().AddDate(0, 0, tokenDays)}).check(
		s.now()); err != nil {
		return "", err
	}
	after, err := s.sessionsAfter(ctx, IDOf(who))
	if err != nil {
		return "", err
	}
	from := s.now().UTC()
	if from.Before(after) { // as a session that is opened now
		from = after
	}
	text, id, secret := loginForm.New()
	return text, s.db.AddLogin(ctx, promptdb.Login{
		ID: id, User: IDOf(who), UserName: who.Name, Name: name, Code: hex.EncodeToString(secret[:]),
		Challenge: challenge,
		ExpiresAt: from.Add(loginFor),
	})
}

// loginName is what the access token of a machine is called.
func loginName(machine string) string {
	return strings.TrimSpace(fmt.Sprintf("prompthub on %.60s", strings.TrimSpace(machine)))
}

// TakeLogin makes the access token of such a sign-in for the command line that has the secret.
// Claimed is as in TokenDraft.
func (s *Service) TakeLogin(ctx context.Context, code, secret string, claimed bool) (Token, string, error) {
	gone := fault.Coded(fault.NotFound, NoSuchLogin, "this sign-in was used or has expired; run prompthub login again")
	id, hash, ok := loginForm.Parse(strings.TrimSpace(code))
	if !ok {
		return Token{}, "", gone
	}
	l, err := s.db.TakeLogin(ctx, id)
	if err != nil {
		return Token{}, "", err
	}
	sum := sha256.Sum256([]byte(secret))
	same := func(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
	if l == nil || !same(l.Code, hex.EncodeToString(hash[:])) || !same(l.Challenge, hex.EncodeToString(sum[:])) ||
		!s.now().Before(l.ExpiresAt) {
		return Token{}, "", gone
	}
	switch after, err := s.sessionsAfter(ctx, l.User); {
	case err != nil:
		return Token{}, "", err
	case l.ExpiresAt.Add(-loginFor).Before(after): // allowed by a session that has ended
		return Token{}, "", gone
	}
	who := auth.User{ID: string(l.User), Name: l.UserName}
	return s.CreateToken(ctx, who, TokenDraft{Name: l.Name, Scopes: auth.Scopes(), Claimed: claimed})
}
