package meet

import (
	"context"
	"io"
	"time"

	"prompthub/internal/delivery/mail"
	"prompthub/internal/fault"
	"prompthub/internal/http/auth/attempts"
	"prompthub/internal/http/auth/password"
	"prompthub/internal/http/auth/session"
	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/blob/picture"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
	"prompthub/internal/storage/transact"
)

// A Service is what members may do. New makes one.
type Service struct {
	Config
	sessions *session.Sessions[User]
	attempts *attempts.Counter
	signUps  *attempts.Counter
	asked    *attempts.Counter // mails that were asked for
	copies   *attempts.Counter // copies of members' own data
}

// A Config is what a Service needs. Every field is required, but Transact and the fields of mails.
type Config struct {
	*rowstore.Store
	Tables Tables // prefixed
	Queues queue.Queues

	// Transact changes tables together; nil if the store cannot.
	Transact transact.Func

	Entropy io.Reader // random bytes, for keys too

	Passwords *password.Hasher
	Blobs     blob.Store
	Pictures  *picture.Maker
	LikesADay int // -1: no limit

	// SignUpsAnHour is how many accounts one address may make; 0 and less: no limit.
	SignUpsAnHour int

	// Mail sends mails, with links that begin with Site, up to MailsADay on a day (negative: no
	// limit). nil: none are sent.
	Mail      mail.Sender
	Site      string
	MailsADay int

	// EraseAfter is how long a deleted account can be restored; negative: for ever.
	EraseAfter time.Duration
}

// New returns the service.
func New(c Config) *Service {
	s := &Service{
		Config: c, copies: attempts.Count(c.Now, dataEvery, DataTooOften,
			"you got a copy of your data in this hour; wait"), attempts: attempts.New(c.Now),
		asked: attempts.Count(c.Now, time.Hour, TooManyMails,
			"too many mails were asked for from your address in this hour; wait"),
		signUps: attempts.Count(c.Now, time.Hour, TooManySignUps,
			"too many accounts were made from your address in this hour; wait, or sign in"),
	}
	s.sessions = s.newSessions()
	return s
}

// Create makes what is missing of queues, containers and tables. The tables come last: Ready asks
// one of them, and then all is there.
func (s *Service) Create(ctx context.Context) error {
	if err := s.Queues.Create(ctx, QueueLists, queue.Poison(QueueLists), QueuePairs, queue.Poison(QueuePairs),
		QueueMails, queue.Poison(QueueMails)); err != nil {
		return err
	}
	if err := s.Blobs.Create(ctx, ContainerProfiles, ContainerChats, ContainerRemoved); err != nil {
		return err
	}
	return s.DB.Create(ctx, s.Tables.All()...)
}

// Ready asks the storage for something.
func (s *Service) Ready(ctx context.Context) error {
	_, err := s.GetRow(ctx, s.Tables.Pairs, table.Key{Partition: "ready"}) // the last that is made
	return err
}

// The codes of errors.
const (
	Unauthenticated               = session.GuestCode
	InvalidCredentials fault.Code = "INVALID_CREDENTIALS" //nolint:gosec // a code, no secret
	InvalidToken       fault.Code = "INVALID_TOKEN"
	RefreshReused                 = session.ReusedCode
	AccountDeleted     fault.Code = "ACCOUNT_DELETED"
	NotDeleted         fault.Code = "NOT_DELETED"
	AccountSuspended   fault.Code = "ACCOUNT_SUSPENDED"
	NotYours           fault.Code = "NOT_YOURS"
	RoleRequired       fault.Code = "ROLE_REQUIRED"
	UserNotFound       fault.Code = "USER_NOT_FOUND"
	ImageNotFound      fault.Code = "IMAGE_NOT_FOUND"
	TooManyImages      fault.Code = "TOO_MANY_IMAGES"
	EmailTaken         fault.Code = "EMAIL_TAKEN"
	NotYourself        fault.Code = "NOT_YOURSELF"
	TooManySignUps     fault.Code = "TOO_MANY_SIGN_UPS"
	TooManyMails       fault.Code = "TOO_MANY_MAILS"
	TooManyAttempts               = attempts.TooMany
)

func noUser() error {
	return fault.Coded(fault.NotFound, UserNotFound, "there is no such member")
}

func invalidCredentials() error {
	return fault.Coded(fault.Unauthenticated, InvalidCredentials, "the e-mail address or the password is wrong")
}

func invalidToken() error {
	return fault.Coded(fault.Unauthenticated, InvalidToken, "the token is not valid, or not any more; sign in again")
}

// mergeProps changes some properties of a row of any version. They must be right whichever of two
// such writes lands last.
func (s *Service) mergeProps(ctx context.Context, name string, key table.Key, props table.Props) error {
	return s.writeAgain(func() error {
		return s.Write(ctx, name, []table.Op{
			{Kind: table.Merge, Row: table.Row{Key: key, ETag: table.Any, Props: props}},
		})
	})
}

// writeAgain calls a write that may be done twice, a second time if the first one fails.
func (s *Service) writeAgain(write func() error) error {
	err := write()
	if err != nil && !rowstore.Overtaken(err) {
		err = write()
	}
	if err != nil {
		return rowstore.Unavailable(err)
	}
	return nil
}
