// Package people keeps accounts: a phone number signs in by a code, a session has tokens, and a
// person chooses a username once.
//
// # How an account is made
//
// Nothing is atomic beyond one partition. So inserting the row `phone|{hmac}` of Names, which
// names the id of the account, is the commit; the rows of Users are written under that id
// afterwards, by the sign-in that finds them missing.
//
// # How a name is chosen
//
//	insert `name|{lower}`     names the user; a later request finds the name taken
//	replace `me`              under its ETag, and only if the person has no name
//	delete `name|{lower}`     if `me` has another name meanwhile
//
// A process may stop anywhere. A reservation whose user has another name is free. One whose user
// has no name is free after NameLasts: until then the writer of `me` may still be at work.
//
// # Sessions
//
// A refresh token is random, and the row of its session keeps the hash of the newest one alone. An
// access token is a JWT. Its signature says who calls, and the row of the session, which is read
// next to the first reads of each request, says that the session has not ended.
package people

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4"

	"prompthub/apps/duuble/internal/assets"
	"prompthub/apps/duuble/internal/keyring"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/delivery/sms"
	"prompthub/internal/fault"
	"prompthub/internal/host/function"
	"prompthub/internal/http/auth/session"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
	"prompthub/internal/telemetry"
)

// A Service is what people may do with their accounts. New makes one.
type Service struct {
	Config
	sessions *session.Sessions[User]
	signer   jose.Signer
	checks   map[string][]byte // keys of access tokens by their kid
	codes    codeBook
	told     atomic.Int64 // when the log was told last that a limit is reached, in nanoseconds

	// Followed is told of each follow that begins, maybe several times. Package posts sets it,
	// because this package knows no feeds; nil tells no one.
	Followed func(ctx context.Context, user, other string) error
}

// A Config is what a Service needs. Every field is required but those that say what their zero
// means.
type Config struct {
	*rowstore.Store
	Tables  schema.Tables // prefixed
	Queues  queue.Queues
	Entropy io.Reader    // random bytes, for keys too
	Keys    keyring.Ring // SECRET_KEYS
	SMS     sms.Sender
	Assets  *assets.Service

	Keep       time.Duration // how long what was deleted can come back
	CodeLasts  time.Duration
	PerPhone   int                  // codes for one number and asker in phoneWindow; -1: no limit
	PerAddress int                  // codes for one address in codesWindow; -1: no limit
	PerNetwork int                  // for one network of IPv6, likewise
	PerCountry int                  // for the numbers of one country, likewise
	PerHour    int                  // for all numbers, likewise
	KeepCodes  bool                 // for development: the codes of this process can be asked for
	Admins     []string             // the numbers of the people who manage the service; none has none
	Telemetry  *telemetry.Telemetry // nil collects nothing
}

// New returns the service.
func New(c Config) *Service {
	s := &Service{Config: c, checks: map[string][]byte{}}
	s.signer, s.sessions = s.accessKeys(), s.newSessions()
	return s
}

// The codes of errors.
const (
	InvalidToken       fault.Code = "INVALID_TOKEN"
	SessionEnded       fault.Code = "SESSION_ENDED"
	RefreshReused                 = session.ReusedCode
	OTPWrong           fault.Code = "OTP_WRONG"
	OTPExpired         fault.Code = "OTP_EXPIRED"
	OTPLimited         fault.Code = "OTP_LIMITED"
	OTPFull            fault.Code = "OTP_FULL"
	SMSFailed          fault.Code = "SMS_FAILED"
	OnboardingRequired fault.Code = "ONBOARDING_REQUIRED"
	UsernameTaken      fault.Code = "USERNAME_TAKEN"
	UserNotFound       fault.Code = "USER_NOT_FOUND"
	SessionNotFound    fault.Code = "SESSION_NOT_FOUND"
	CodeNotFound       fault.Code = "CODE_NOT_FOUND"
	KeysDoNotMatch     fault.Code = "KEYS_DO_NOT_MATCH"
)

// keysRow tells whether the keys are those that the rows of Names were made with.
var keysRow = table.Key{Partition: "cfg", Row: "keys"}

// CheckKeys refuses SECRET_KEYS whose last key is not the one that the stored numbers were named
// with: every sign-in would make another account.
func (s *Service) CheckKeys(ctx context.Context) error {
	check := s.Keys.LastMAC("check", "keys")
	err := s.Insert(ctx, s.Tables.Admin,
		table.Row{Key: keysRow, Props: table.Props{{Name: "check", Value: table.String(check)}}})
	if err != nil {
		return err
	}
	row, err := s.GetRow(ctx, s.Tables.Admin, keysRow)
	if err == nil && (row == nil || row.Props.Get("check").Str() != check) {
		err = keysDoNotMatch()
	}
	return err
}

func keysDoNotMatch() error {
	return fault.Coded(fault.Unavailable, KeysDoNotMatch, "the last of SECRET_KEYS is not the key that the stored phone numbers were named with: set the keys that belong to this data, or, where rekey did not end, run it again")
}

// Queues are the queues whose messages Triggers work on.
func Queues() []string { return []string{QueueTies} }

// Triggers returns the functions that no request starts. Each may run twice, late and in any
// order. The job expire runs others too, which remove expired rows of other rooms.
func (s *Service) Triggers(others ...func(context.Context) error) []function.Trigger {
	return []function.Trigger{
		{Name: QueueTies, Queue: QueueTies, Run: func(ctx context.Context, in function.Invocation) error {
			return s.followPair(ctx, in.Text)
		}},
		{Name: "expire", Schedule: "0 */5 * * * *", Run: func(ctx context.Context, _ function.Invocation) error {
			err := s.Expire(ctx)
			for _, expire := range others {
				err = errors.Join(err, expire(ctx))
			}
			return err
		}},
	}
}

// Expire removes codes that are too old, windows that count nothing any more, and reservations of
// usernames that came to nothing. None lives longer than two days, so most rows of these ranges are
// due.
func (s *Service) Expire(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, rowstore.JobEnds)
	defer cancel()
	now := s.Now()
	var failed rowstore.Failures
	failed.Record(s.reservationRows().Run(ctx, now.Add(-NameLasts), func(ctx context.Context, row table.Row) error {
		return s.sweepName(ctx, row.Row)
	}))
	for _, prefix := range []string{codeRows, windowRows} {
		for row, err := range table.All(ctx, s.DB, s.Tables.Sessions,
			table.Range{FromPartition: prefix, ToPartition: table.After(prefix)}) {
			if err == nil && !now.Before(row.Props.Get("expires_at").Time()) {
				err = s.RemoveRow(ctx, s.Tables.Sessions, row)
			}
			if !failed.Record(err) {
				return failed.Join()
			}
		}
	}
	return failed.Join()
}

func (s *Service) newID() string { return schema.NewID(s.Now(), s.Entropy) }
