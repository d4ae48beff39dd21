package library

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

// The limits of access tokens.
const (
	MaxTokenName = 100 // UTF-16 code units
	MaxTokenDays = 366
	tokenDays    = 90 // unless its owner says otherwise
)

// Tokens is how access tokens read.
var Tokens = auth.TokenForm{Prefix: "ph_", IDBytes: 10}

// A Token is an access token, without its secret.
type Token = promptdb.Token

// A TokenDraft is what a user wants of a new access token.
type TokenDraft struct {
	Name      string
	Scopes    []string
	ExpiresAt time.Time // zero: in 90 days
	// Claimed says that users here only claim to be who they are. Such a token counts in development
	// mode and nowhere else: a caller who claimed to be Ann there is not Ann once users sign in.
	Claimed bool
}

// CreateToken makes an access token and returns it with its secret, which is never shown again. A
// caller with an access token cannot make another.
func (s *Service) CreateToken(ctx context.Context, who auth.User, d TokenDraft) (Token, string, error) {
	if err := signedIn(who); err != nil {
		return Token{}, "", err
	}
	return s.createToken(ctx, Token{OwnerID: IDOf(who), OwnerName: who.Name}, d)
}

// createToken makes a token of an owner out of a draft.
func (s *Service) createToken(ctx context.Context, t Token, d TokenDraft) (Token, string, error) {
	now := s.now().UTC().Truncate(time.Millisecond)
	if d.ExpiresAt.IsZero() {
		d.ExpiresAt = now.AddDate(0, 0, tokenDays)
	}
	d.Name = strings.TrimSpace(d.Name)
	if err := d.check(now); err != nil {
		return Token{}, "", err
	}
	text, id, secret := Tokens.New()
	t.ID, t.Name, t.Scopes = id, d.Name, slices.Compact(slices.Sorted(slices.Values(d.Scopes)))
	t.Secret, t.Claimed, t.CreatedAt, t.ExpiresAt = secret, d.Claimed, now, d.ExpiresAt.UTC().Truncate(time.Millisecond)
	return t, text, s.db.AddToken(ctx, t)
}

func signedIn(who auth.User) error {
	if who.Grant != nil {
		return fault.New(fault.Forbidden,
			"access tokens manage neither access tokens nor the account; sign in yourself")
	}
	return nil
}

func (d TokenDraft) check(now time.Time) error {
	var fields []fault.Field
	broken := func(location, message string) {
		fields = append(fields, fault.Field{Name: location, Message: message})
	}
	if n := len(utf16.Encode([]rune(d.Name))); n == 0 || n > MaxTokenName || !utf8.ValidString(d.Name) ||
		strings.ContainsFunc(d.Name, unicode.IsControl) {
		broken("name", fmt.Sprintf("give the token a name of 1 to %d characters in one line", MaxTokenName))
	}
	if len(d.Scopes) == 0 {
		broken("scopes", "give the token at least one scope")
	}
	for i, scope := range d.Scopes {
		if !slices.Contains(auth.Scopes(), scope) {
			broken(fmt.Sprintf("scopes[%d]", i), "must be one of "+strings.Join(auth.Scopes(), ", "))
			break
		}
	}
	if !d.ExpiresAt.After(now) || d.ExpiresAt.After(now.AddDate(0, 0, MaxTokenDays)) {
		broken("expiresAt", fmt.Sprintf("must be within the next %d days", MaxTokenDays))
	}
	if fields == nil {
		return nil
	}
	return &fault.Error{Kind: fault.Invalid, Text: "the token breaks the rules named here", Fields: fields}
}

// Tokens returns the access tokens of the caller or, to an admin, of any user by handle or key, the
// newest first.
func (s *Service) Tokens(ctx context.Context, who auth.User, owner string) ([]Token, error) {
	if err := signedIn(who); err != nil {
		return nil, err
	}
	if owner == "" {
		return s.db.Tokens(ctx, IDOf(who))
	}
	if !who.Admin() {
		return nil, fault.New(fault.Forbidden, "only admins see the access tokens of others")
	}
	id, err := s.OwnerID(ctx, who, owner)
	if err != nil {
		return nil, err
	}
	return s.db.Tokens(ctx, id)
}

// RevokeToken ends an access token of the caller or, by an admin, of anybody. Within ten seconds no
// instance accepts it.
func (s *Service) RevokeToken(ctx context.Context, who auth.User, id string) error {
	// a token may end itself
	if err := signedIn(who); err != nil && (who.Grant.TokenID == "" || who.Grant.TokenID != id) {
		return err
	}
	owner := IDOf(who)
	if who.Admin() {
		owner = ""
	}
	return s.revokeToken(ctx, owner, id, s.keyOf(who))
}

func (s *Service) revokeToken(ctx context.Context, owner prompt.UserID, id string, by prompt.UserID) error {
	there := false
	if Tokens.HasID(id) {
		var err error
		if there, err = s.db.RemoveToken(ctx, owner, id, by); err != nil {
			return err
		}
	}
	if !there {
		return fault.New(fault.NotFound, "there is no such access token")
	}
	return nil
}

// WithTokens returns how a door finds out who is calling that takes access tokens in addition to
// what next believes. Claimed is as in TokenDraft.
func (s *Service) WithTokens(next auth.Identify, claimed bool, guess auth.Guess) auth.Identify {
	return auth.AccessTokens(Tokens,
		func(ctx context.Context, id string, secret auth.Secret, look func() error) (auth.User, error) {
			return s.Bearer(ctx, id, secret, claimed, look)
		}, guess, next)
}

// Bearer returns whom an access token stands for. Claimed is as in TokenDraft, look as in
// auth.Find.
func (s *Service) Bearer(ctx context.Context, id string, secret auth.Secret, claimed bool,
	look func() error,
) (auth.User, error) {
	return s.standsFor(ctx, id, claimed, look, func(t *Token) bool {
		return subtle.ConstantTimeCompare(t.Secret[:], secret[:]) == 1
	})
}

// standsFor returns whom the access token of an id stands for, if the caller proves to know it.
func (s *Service) standsFor(ctx context.Context, id string, claimed bool, look func() error,
	proves func(*Token) bool,
) (auth.User, error) {
	t, err := s.db.Token(ctx, id, look)
	if err != nil {
		return auth.User{}, err
	}
	if t == nil || !proves(t) || t.Claimed != claimed {
		return auth.User{}, fault.New(fault.Unauthenticated, "there is no such access token, or it was revoked")
	}
	if !s.now().Before(t.ExpiresAt) {
		return auth.User{}, fault.New(fault.Unauthenticated, "the access token has expired; make a new one")
	}
	if prompt.IsWorkspace(t.OwnerID) {
		w, err := s.db.Workspace(ctx, t.OwnerID)
		if err != nil {
			return auth.User{}, err
		}
		if w == nil || w.Deleted() {
			return auth.User{}, fault.New(fault.Unauthenticated, "the workspace of this access token was deleted")
		}
	}
	s.db.TokenUsed(ctx, t)
	return auth.User{ID: string(t.OwnerID), Name: t.OwnerName, Grant: &auth.Grant{TokenID: t.ID, Scopes: t.Scopes}}, nil
}

// Sign returns a signature of a text by the access token of the caller. It shows that a bearer of
// that token was told the text, and counts as long as the token does.
func (s *Service) Sign(ctx context.Context, who auth.User, text string) (string, error) {
	if who.Grant == nil || who.Grant.TokenID == "" {
		return "", fault.New(fault.Unauthenticated, "this needs an access token; make one, and send it as Bearer")
	}
	t, err := s.db.Token(ctx, who.Grant.TokenID, func() error { return nil })
	if err != nil {
		return "", err
	}
	if t == nil {
		return "", fault.New(fault.Unauthenticated, "there is no such access token, or it was revoked")
	}
	return signature(t, text), nil
}

// Signer returns whom the access token of an id stands for, if it has signed a text.
func (s *Service) Signer(ctx context.Context, id, text, signed string, claimed bool,
	look func() error,
) (auth.User, error) {
	if !Tokens.HasID(id) {
		return auth.User{}, fault.New(fault.Unauthenticated, "there is no such access token")
	}
	return s.standsFor(ctx, id, claimed, look, func(t *Token) bool {
		return hmac.Equal([]byte(signature(t, text)), []byte(signed))
	})
}

// signature signs with the hash of the secret of a token, which no answer has.
func signature(t *Token, text string) string {
	mac := hmac.New(sha256.New, t.Secret[:])
	mac.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// publishes returns an error if a change is public and the caller lacks the right to publish.
func publishes(who auth.User, seen bool) error {
	if !seen {
		return nil
	}
	return Needs(who, auth.ScopePublish)
}
