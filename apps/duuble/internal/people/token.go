package people

import (
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/fault"
	"prompthub/internal/http/auth/session"
)

// accessClaims are what an access token says.
type accessClaims struct {
	Subject string           `json:"sub"`
	Session string           `json:"sid"`
	Issued  *jwt.NumericDate `json:"iat"`
	Expires *jwt.NumericDate `json:"exp"`
}

// accessKeys fills in the keys of access tokens, and returns what signs by the first one.
func (s *Service) accessKeys() jose.Signer {
	var first []byte
	newest := ""
	for _, key := range s.Keys.Derive("access") {
		kid := session.Hash(key)[:8]
		s.checks[kid] = key
		if newest == "" {
			first, newest = key, kid
		}
	}
	if first == nil {
		return nil // a service that only tells which routes there are
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: first},
		(&jose.SignerOptions{}).WithType("JWT").WithHeader("kid", newest))
	if err != nil {
		panic(err) // unreachable: the algorithm and the length of the key are constants
	}
	return signer
}

// accessToken returns the access token of a session, as of the last change of its secret.
func (s *Service) accessToken(x session.Session) (token string, expires time.Time) {
	issued := x.UsedAt.Truncate(time.Second)
	expires = issued.Add(AccessFor)
	token, err := jwt.Signed(s.signer).Claims(
		accessClaims{x.User, x.ID, jwt.NewNumericDate(issued), jwt.NewNumericDate(expires)}).Serialize()
	if err != nil {
		panic(err) // unreachable: the claims are texts and numbers
	}
	return token, expires
}

// A Claim is what an access token says, whether or not the storage was asked if its session goes
// on. The zero Claim is that of a guest.
type Claim = session.Claim[User]

func invalidToken() error {
	return fault.Coded(fault.Unauthenticated, InvalidToken,
		"the token is not valid, or not any more; get a new one by the refresh token, or sign in")
}

// ParseAccess reads an access token: its signature must be ours, by HS256, and its time not over.
func (s *Service) ParseAccess(token string) (Claim, error) {
	signed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.HS256})
	if err != nil || len(signed.Headers) != 1 {
		return Claim{}, invalidToken()
	}
	key, ok := s.checks[signed.Headers[0].KeyID]
	var c accessClaims
	if !ok || signed.Claims(key, &c) != nil || c.Expires == nil || !s.Now().Before(c.Expires.Time()) ||
		!schema.IsID(c.Subject) || !schema.IsID(c.Session) {
		return Claim{}, invalidToken()
	}
	return session.SignedClaim[User](c.Subject, c.Session), nil
}
