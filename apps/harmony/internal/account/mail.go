package account

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/google/uuid"

	"prompthub/internal/http/auth"
	"prompthub/internal/http/auth/session"
	"prompthub/internal/storage/table"
)

// JoinFor is how long a registration waits for its mail to be answered, and MoveFor a new address.
const (
	JoinFor = 24 * time.Hour
	MoveFor = 24 * time.Hour
)

// The forms of tokens in mails, besides ResetForm.
var (
	JoinForm = auth.TokenForm{Prefix: "hj_", IDBytes: idBytes}             // confirms a registration
	MoveForm = auth.TokenForm{Prefix: "hm_", IDBytes: idBytes + timeBytes} // confirms a new address
	StopForm = auth.TokenForm{Prefix: "hu_", IDBytes: idBytes}             // ends mails of news
)

// IDBytes returns an id as tokens have it.
func IDBytes(id string) []byte {
	b := uuid.MustParse(id)
	return b[:]
}

// TokenID returns the id that the bytes of a token begin with.
func TokenID(b []byte) string { return uuid.UUID(b[:idBytes]).String() }

// NewMove returns the token that confirms the address that the account moves to. It follows
// from the account, so nothing is stored, and it is over when the address, the password or the wish
// changes.
func (u User) NewMove(now time.Time) string {
	id := binary.BigEndian.AppendUint64(IDBytes(u.ID), uint64(now.Add(MoveFor).Unix()))
	return MoveForm.Format(id, u.moveSecret(id))
}

// ConfirmsMove reports whether a token confirms the new address of the account. id and given are
// its parts.
func (u User) ConfirmsMove(id []byte, given session.Secret, now time.Time) bool {
	secret := u.moveSecret(id)
	return u.NewEmail != "" && hmac.Equal(secret[:], given[:]) &&
		now.Before(time.Unix(int64(binary.BigEndian.Uint64(id[idBytes:])), 0))
}

func (u User) moveSecret(id []byte) session.Secret {
	mac := hmac.New(sha256.New, []byte(u.PasswordHash))
	mac.Write([]byte("address"))
	mac.Write(id)
	mac.Write([]byte(u.Email + "\n" + u.NewEmail))
	return session.Secret(mac.Sum(nil))
}

// Rows of the table Mails.
const (
	// JoinRows begins the partitions of registrations that wait for a mail to be answered, by the
	// first character of their ids.
	JoinRows = "JOIN_"
	// MailRows begins the partitions of counts of mails, by the day.
	MailRows = "DAY_"
	// WaitRows is the partition of members for whom there is news, by their ids.
	WaitRows = "WAIT"
)

// JoinKey is the key of a registration that waits for its mail to be answered.
func JoinKey(id string) table.Key { return table.Key{Partition: JoinRows + id[:1], Row: id} }
