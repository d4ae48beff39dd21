package people

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"slices"
	"strings"
	"sync"
	"time"

	"prompthub/apps/duuble/internal/rules"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/fault"
	"prompthub/internal/http/auth/session"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// # Codes
//
// An asker is a device that has signed in to the number before, or an address. The window in which
// the codes of a number for an asker are counted also has the newest three of them, which are good
// together: five attempts at any of them, and one use. So requests and attempts of others take
// nothing away from an asker.
//
// An attempt is one write of that window under its ETag, before anybody is told whether the code
// was right: of many attempts at once no more than five are looked at, and one code signs in once.

const (
	codeDigits  = 6
	maxAttempts = 5
	keptCodes   = 3 // of an asker for a number, that are good together
	// mostWrong is how many codes for a number may be wrong in a day, of all addresses together. That
	// is one in 2,000 that one of them is right.
	mostWrong = 500
)

const (
	phoneWindow = 15 * time.Minute
	codesWindow = time.Hour // of all other limits of codes
	wrongWindow = 24 * time.Hour
	// ResendAfter is how long an asker waits for another code for a number.
	ResendAfter = 30 * time.Second
)

// Purposes are what a code may be for.
var Purposes = []string{"sign_in"}

// Channels are the ways that a code may go.
var Channels = []string{"sms"}

// A Challenge is a code that was sent.
type Challenge struct {
	ID        string
	ExpiresAt time.Time
}

// An Asker is who asks for a code.
type Asker struct {
	Site, Network string // the address, and for IPv6 the network around it, else ""
	Device        string // the token of a device that has signed in before; "" of one that has not
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

// A goodCode is a code of an asker that may still be used. It is kept as the id of its challenge
// and a hash.
type goodCode struct{ id, hash string }

// goodCodes returns the codes that a window has, as far as they are not over, the oldest first, and
// how many attempts there were at them.
func (s *Service) goodCodes(p table.Props) (codes []goodCode, attempts int64) {
	for one := range strings.SplitSeq(p.Get("codes").Str(), ";") {
		id, hash, ok := strings.Cut(one, " ")
		if ok && s.Now().Before(schema.TimeOf(id).Add(s.CodeLasts)) {
			codes = append(codes, goodCode{id, hash})
		}
	}
	if codes != nil {
		attempts = p.Get("attempts").Int()
	}
	return codes, attempts
}

func codeProps(codes []goodCode, attempts int64) table.Props {
	var all []string
	for _, one := range codes {
		all = append(all, one.id+" "+one.hash)
	}
	return table.Props{
		{Name: "codes", Value: table.String(strings.Join(all, ";"))},
		{Name: "attempts", Value: table.Int64(attempts)},
	}
}

// RequestCode sends a code to a number. The answer is the same whether the number has an account
// or not.
func (s *Service) RequestCode(ctx context.Context, channel, destination, purpose string, by Asker) (Challenge, error) {
	phone, ok := Phone(destination)
	var b rules.Broken
	b.OneOf("channel", channel, Channels)
	b.OneOf("purpose", purpose, Purposes)
	b.Add(ok, "destination", "give a phone number with its country, such as +34600000001")
	if err := b.Err(); err != nil {
		return Challenge{}, err
	}
	code, err := newCode()
	if err != nil {
		return Challenge{}, err
	}
	c := Challenge{ID: s.newID(), ExpiresAt: s.Now().UTC().Add(s.CodeLasts)}
	number := s.Number(phone)
	limits := s.codeLimits(phone, by)
	limits[0].Keep = func(was table.Props) table.Props {
		codes, attempts := s.goodCodes(was)
		codes = append(codes, goodCode{c.ID, s.Keys.MACs("code", c.ID+code)[0]})
		return codeProps(codes[max(len(codes)-keptCodes, 0):], attempts)
	}
	if err := s.takeLimits(ctx, limits, c.ID); err != nil {
		s.tellOfLimit(ctx, err)
		return Challenge{}, err
	}
	err = s.Insert(ctx, s.Tables.Sessions, table.Row{Key: challengeKey(c.ID), Props: table.Props{
		{Name: "channel", Value: table.String(channel)},
		{Name: "destination", Value: table.String(s.Keys.Seal("destination", c.ID, phone))},
		{Name: "phone", Value: table.String(number)},
		{Name: "bucket", Value: table.String(limits[0].Bucket)},
		{Name: "purpose", Value: table.String(purpose)},
		{Name: "expires_at", Value: table.Time(c.ExpiresAt)},
	}})
	if err != nil {
		return Challenge{}, err
	}
	if s.KeepCodes {
		s.codes.keepCode(c.ID, code)
	}
	text := fmt.Sprintf("%s is your Duuble code. It is good until %s UTC. Do not tell it to anybody.", code,
		c.ExpiresAt.Format("15:04:05"))
	if err := s.SMS.Send(ctx, phone, text); err != nil {
		return Challenge{}, &fault.Error{
			Kind: fault.Unavailable, Code: SMSFailed,
			Text: "the code could not be sent; check the number and try again", RetryAfter: ResendAfter, Cause: err,
		}
	}
	return c, nil
}

// ofDevice begins the buckets of devices that have signed in before.
const ofDevice = "d"

// codeLimits returns the limits of a code for a number, the first of which is that of the asker. A
// device that has signed in to the number before shares none with others.
func (s *Service) codeLimits(phone string, by Asker) []Limit {
	limit := func(bucket string, size, gap time.Duration, most int, code fault.Code, text string) Limit {
		return Limit{Bucket: bucket, Size: size, Gap: gap, Most: most, Code: code, Text: text}
	}
	const tooMany = "too many codes were asked for; wait and try again"
	named := func(kind, text string) string { return kind + s.Keys.LastMAC("address", text) }
	if device, ok := s.isDevice(by.Device, phone); ok {
		return []Limit{limit(named(ofDevice, phone+" "+device), phoneWindow, ResendAfter,
			s.PerPhone, OTPLimited, tooMany)}
	}
	all := []Limit{
		limit(named("p", phone+" "+by.Site), phoneWindow, ResendAfter, s.PerPhone, OTPLimited, tooMany),
		limit(named("a", by.Site), codesWindow, 0, s.PerAddress, OTPLimited, tooMany),
	}
	if by.Network != "" {
		all = append(all, limit(named("n", by.Network), codesWindow, 0, s.PerNetwork, OTPLimited, tooMany))
	}
	country := callingCode(phone)
	return append(all,
		limit("c"+country, codesWindow, 0, s.PerCountry, OTPFull,
			"too many codes were asked for by new devices with numbers that begin with +"+country+
				"; wait and try again, or use a device that has signed in before"),
		limit("all", codesWindow, 0, s.PerHour, OTPFull, "too many codes were asked for by new devices; wait and try again, or use a device that has signed in before"),
	)
}

// LimitReached is what the log says when no more codes go to new devices. The alert on it looks for
// these lines, of which a process writes one a minute.
const LimitReached = "no more codes go to new devices"

func (s *Service) tellOfLimit(ctx context.Context, err error) {
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != OTPFull {
		return
	}
	s.Telemetry.Count(ctx, "codes_refused", 1)
	now := s.Now().UnixNano()
	if last := s.told.Load(); now-last >= int64(time.Minute) && s.told.CompareAndSwap(last, now) {
		s.Log.WarnContext(ctx, LimitReached, slog.String("why", f.Text))
	}
}

const maxKeptCodes = 1000

func (b *codeBook) keepCode(challenge, code string) {
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

func challengeExpired() error {
	return fault.Coded(fault.Unauthenticated, OTPExpired, "this code is not good any more; ask for another one")
}

// Verify signs in by a code, and makes the account of a number that has none.
func (s *Service) Verify(ctx context.Context, challenge, code, device string) (SignedIn, error) {
	var b rules.Broken
	b.Line("device", device, 0, maxDevice)
	if err := b.Err(); err != nil {
		return SignedIn{}, err
	}
	c, owner, err := s.countAttempt(ctx, challenge, bareNumber(code))
	if err != nil {
		return SignedIn{}, err
	}
	phone, err := s.Keys.Open("destination", challenge, c.Get("destination").Str())
	if err != nil {
		return SignedIn{}, challengeExpired() // of a key that is gone
	}
	var known *User
	var all []session.Session
	if owner != "" {
		err = rowstore.Both(ctx, func(ctx context.Context) (err error) {
			known, err = s.readUser(ctx, owner)
			return err
		}, func(ctx context.Context) (err error) {
			all, err = s.sessions.All(ctx, owner)
			return err
		})
	}
	if err != nil {
		return SignedIn{}, err
	}
	isNew := known == nil
	if isNew {
		if known, err = s.makeAccount(ctx, owner, c.Get("phone").Str(), phone); err != nil {
			return SignedIn{}, err
		}
	}
	g, err := s.sessions.Open(ctx, s.sessions.New(known.ID, device, time.Time{}))
	if err != nil {
		return SignedIn{}, err
	}
	s.sessions.Trim(ctx, all, *known)
	return SignedIn{*known, s.tokensOf(g), isNew, s.newDevice(phone)}, nil
}

// countAttempt counts an attempt before it says whether the code is right: whether it is one of the
// good codes of the asker who has the challenge. It returns what the challenge says, and the owner
// of the number, "" if there is none. A code that is right ends all of them.
func (s *Service) countAttempt(ctx context.Context, challenge, code string) (table.Props, string, error) {
	if !schema.IsID(challenge) {
		return nil, "", challengeExpired()
	}
	c, err := s.GetRow(ctx, s.Tables.Sessions, challengeKey(challenge))
	if err != nil {
		return nil, "", err
	}
	if c == nil || !s.Now().Before(c.Props.Get("expires_at").Time()) {
		return nil, "", challengeExpired()
	}
	number, bucket := c.Props.Get("phone").Str(), c.Props.Get("bucket").Str()
	mistakes := Limit{
		Bucket: "w" + number, Size: wrongWindow, Most: mostWrong, Code: OTPLimited,
		Text: "too many codes for this number were wrong; wait, or use a device that has signed in before",
	}
	if strings.HasPrefix(bucket, ofDevice) {
		mistakes.Most = -1 // it has a count of its own
	}
	var wrong Window
	owner := ""
	var window *table.Row
	err = rowstore.All(ctx, func(ctx context.Context) (err error) {
		window, err = s.GetRow(ctx, s.Tables.Sessions, windowKey(bucket))
		return err
	}, func(ctx context.Context) (err error) {
		wrong, err = s.Window(ctx, mistakes)
		return err
	}, func(ctx context.Context) (err error) {
		owner, err = s.ownerOf(ctx, phoneRows+number)
		return err
	})
	if err == nil {
		err = mistakes.Check(wrong, s.Now().UTC())
	}
	for try := 0; err == nil; try++ {
		if window == nil {
			return nil, "", challengeExpired()
		}
		codes, attempts := s.goodCodes(window.Props)
		if !slices.ContainsFunc(codes, func(one goodCode) bool { return one.id == challenge }) {
			return nil, "", challengeExpired()
		}
		right := slices.ContainsFunc(codes, func(one goodCode) bool {
			return slices.ContainsFunc(s.Keys.MACs("code", one.id+code), func(mac string) bool {
				return hmac.Equal([]byte(mac), []byte(one.hash))
			})
		})
		attempts++
		if right || attempts == maxAttempts {
			codes = nil
		}
		unwritten := s.Write(ctx, s.Tables.Sessions,
			[]table.Op{{
				Kind: table.Merge,
				Row:  table.Row{Key: window.Key, ETag: window.ETag, Props: codeProps(codes, attempts)},
			}})
		switch {
		case unwritten == nil && right:
			return c.Props, owner, nil
		case unwritten == nil:
			if mistakes.Most > 0 {
				err = s.Count(ctx, mistakes, wrong, s.newID())
			}
			if err == nil {
				err = fault.Coded(fault.Unauthenticated, OTPWrong, "the code is wrong; look at the message again")
			}
			return nil, "", err
		}
		if err = s.Retry(ctx, try, unwritten); err == nil {
			window, err = s.GetRow(ctx, s.Tables.Sessions, windowKey(bucket))
		}
	}
	return nil, "", err
}
