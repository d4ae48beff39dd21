package people

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"sync"
	"time"

	"prompthub/apps/duuble/internal/rules"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

const (
	codeDigits  = 6
	maxAttempts = 5
)

const tooManyCodes = "too many codes were asked for; wait and try again"

// Purposes are what a code may be for.
var Purposes = []string{"sign_in"}

// Channels are the ways that a code may go.
var Channels = []string{"sms"}

// IsPhone reports whether a text is a phone number with its country.
func IsPhone(s string) bool { return phones.MatchString(s) }

// phones are numbers as E.164 writes them.
var phones = regexp.MustCompile(`^\+[1-9][0-9]{7,14}$`)

// A Challenge is a code that was sent.
type Challenge struct {
	ID        string
	ExpiresAt time.Time
}

// A codeBook keeps the codes of a developer's process.
type codeBook struct {
	mu    sync.Mutex
	codes map[string]string
}

// codeRows begins the partitions of challenges.
const codeRows = "otp|"

func challengeKey(id string) table.Key { return table.Key{Partition: codeRows + id, Row: "c"} }

func newCode() (string, error) {
	n, err := rand.Int(rand.Reader, big.NewInt(1_000_000))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%0*d", codeDigits, n), nil
}

// RequestCode sends a code to a number. The answer is the same whether the number has an account
// or not. address is where the request comes from.
func (s *Service) RequestCode(ctx context.Context, channel, destination, purpose, address string) (Challenge, error) {
	var b rules.Broken
	b.OneOf("channel", channel, Channels)
	b.OneOf("purpose", purpose, Purposes)
	b.Add(phones.MatchString(destination), "destination", "give a phone number with its country, such as +34600000001")
	if err := b.Err(); err != nil {
		return Challenge{}, err
	}
	c := Challenge{ID: s.newID(), ExpiresAt: s.Now().UTC().Add(s.CodeLasts)}
	number := s.Number(destination)
	older, err := s.take(ctx, [2]Limit{
		{Bucket: "p" + number, Size: phoneWindow, Gap: ResendAfter, Most: s.PerPhone, Code: OTPLimited, Text: tooManyCodes},
		{Bucket: "a" + s.Keys.LastMAC("address", address), Size: addressWindow, Most: s.PerAddress, Code: OTPLimited, Text: tooManyCodes},
	}, c.ID)
	if err != nil {
		return Challenge{}, err
	}
	code, err := newCode()
	if err != nil {
		return Challenge{}, err
	}
	row := table.Row{Key: challengeKey(c.ID), Props: table.Props{
		{Name: "channel", Value: table.String(channel)},
		{Name: "destination", Value: table.String(s.Keys.Seal("destination", c.ID, destination))},
		{Name: "phone", Value: table.String(number)},
		{Name: "code_hash", Value: table.String(s.Keys.MACs("code", c.ID+code)[0])},
		{Name: "attempts", Value: table.Int32(0)},
		{Name: "purpose", Value: table.String(purpose)},
		{Name: "expires_at", Value: table.Time(c.ExpiresAt)},
	}}
	err = rowstore.Both(ctx, func(ctx context.Context) error {
		return s.insert(ctx, s.Tables.Sessions, row)
	}, func(ctx context.Context) error {
		if older == "" {
			return nil
		}
		return s.RemoveKey(ctx, s.Tables.Sessions, challengeKey(older))
	})
	if err != nil {
		return Challenge{}, err
	}
	if s.KeepCodes {
		s.codes.keep(c.ID, code)
	}
	text := fmt.Sprintf("%s is your Duuble code. It is good until %s UTC. Do not tell it to anybody.", code, c.ExpiresAt.Format("15:04:05"))
	if err := s.SMS.Send(ctx, destination, text); err != nil {
		return Challenge{}, &fault.Error{Kind: fault.Unavailable, Code: SMSFailed, Text: "the code could not be sent; check the number and try again", RetryAfter: ResendAfter, Cause: err}
	}
	return c, nil
}

const maxKeptCodes = 1000

func (b *codeBook) keep(challenge, code string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.codes == nil || len(b.codes) >= maxKeptCodes {
		b.codes = map[string]string{}
	}
	b.codes[challenge] = code
}

// Code returns the code of a challenge of this process, in development.
func (s *Service) Code(challenge string) (string, error) {
	s.codes.mu.Lock()
	defer s.codes.mu.Unlock()
	code, ok := s.codes.codes[challenge]
	if !ok {
		return "", fault.Coded(fault.NotFound, CodeNotFound, "this process keeps no such code")
	}
	return code, nil
}

func expired() error {
	return fault.Coded(fault.Unauthenticated, OTPExpired, "this code is not good any more; ask for another one")
}

// Verify signs in by a code, and makes the account of a number that has none.
func (s *Service) Verify(ctx context.Context, challenge, code, device string) (SignedIn, error) {
	var b rules.Broken
	b.Line("device", device, 0, maxDevice)
	if err := b.Err(); err != nil {
		return SignedIn{}, err
	}
	c, err := s.attempt(ctx, challenge, code)
	if err != nil {
		return SignedIn{}, err
	}
	number := c.Props.Get("phone").Str()
	phone, err := s.Keys.Open("destination", challenge, c.Props.Get("destination").Str())
	if err != nil {
		return SignedIn{}, expired() // of a key that is gone
	}
	var owner string
	var known *User
	var all []session
	err = rowstore.Both(ctx, func(ctx context.Context) error {
		return s.use(ctx, c)
	}, func(ctx context.Context) (err error) {
		owner, err = s.owner(ctx, phoneRows+number)
		if err != nil || owner == "" {
			return err
		}
		return rowstore.Both(ctx, func(ctx context.Context) (err error) {
			known, err = s.user(ctx, owner)
			return err
		}, func(ctx context.Context) (err error) {
			all, err = s.sessions(ctx, owner)
			return err
		})
	})
	if err != nil {
		return SignedIn{}, err
	}
	isNew := known == nil
	if isNew {
		if known, err = s.makeAccount(ctx, owner, number, phone); err != nil {
			return SignedIn{}, err
		}
	}
	x, tokens := s.newSession(known.ID, device)
	if err := s.insert(ctx, s.Tables.Sessions, x.row()); err != nil {
		return SignedIn{}, err
	}
	s.forget(ctx, beyond(all, s.Now()))
	return SignedIn{*known, tokens, isNew}, nil
}

// attempt counts an attempt before it looks at the code, and returns the row of the challenge if
// the code is right.
func (s *Service) attempt(ctx context.Context, challenge, code string) (table.Row, error) {
	if !schema.IsID(challenge) {
		return table.Row{}, expired()
	}
	for try := 0; ; try++ {
		row, err := s.GetRow(ctx, s.Tables.Sessions, challengeKey(challenge))
		if err != nil {
			return table.Row{}, err
		}
		if row == nil || !s.Now().Before(row.Props.Get("expires_at").Time()) || row.Props.Get("attempts").Int() >= maxAttempts {
			return table.Row{}, expired()
		}
		attempts := row.Props.Get("attempts").Int() + 1
		etags, err := s.DB.Write(ctx, s.Tables.Sessions, table.Op{Kind: table.Merge, Row: table.Row{Key: row.Key, ETag: row.ETag, Props: table.Props{
			{Name: "attempts", Value: table.Int32(int32(attempts))},
		}}})
		if err == nil {
			row.ETag = etags[0]
			right := func(mac string) bool { return hmac.Equal([]byte(mac), []byte(row.Props.Get("code_hash").Str())) }
			if !slices.ContainsFunc(s.Keys.MACs("code", challenge+code), right) {
				return table.Row{}, fault.Coded(fault.Unauthenticated, OTPWrong, "the code is wrong; look at the message again")
			}
			return *row, nil
		}
		if try == rowstore.MaxTries || errors.Is(err, table.ErrInvalid) {
			return table.Row{}, rowstore.Unavailable(err)
		}
		if err := s.pause(ctx); err != nil {
			return table.Row{}, err
		}
	}
}

// use deletes a challenge whose code was right. Of several requests with the right code one does.
func (s *Service) use(ctx context.Context, c table.Row) error {
	for try := 0; ; try++ {
		err := s.Write(ctx, s.Tables.Sessions, []table.Op{{Kind: table.Delete, Row: table.Row{Key: c.Key, ETag: c.ETag}}})
		switch {
		case err == nil:
			return nil
		case errors.Is(err, table.ErrNotFound):
			return expired()
		case !errors.Is(err, table.ErrConflict) || try == rowstore.MaxTries:
			return rowstore.Unavailable(err)
		}
		row, err := s.GetRow(ctx, s.Tables.Sessions, c.Key) // another attempt was counted
		if err != nil {
			return err
		}
		if row == nil {
			return expired()
		}
		c.ETag = row.ETag
	}
}
