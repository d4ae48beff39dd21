package account

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"time"

	"github.com/google/uuid"

	"prompthub/internal/http/auth"
	"prompthub/internal/http/auth/session"
)

// DeviceFor is how long a device is known to have signed a member in.
const DeviceFor = 90 * 24 * time.Hour

const (
	drawnBytes = 8
	timeBytes  = 8
)

// DeviceForm is how the tokens of devices read. The id has the member, bytes that were drawn and
// the time of the sign-in. The secret is the code of the id under the hash of the password, so
// nothing is stored, and a new password ends all of them.
var DeviceForm = auth.TokenForm{Prefix: "hd_", IDBytes: idBytes + drawnBytes + timeBytes}

// NewDevice returns the token of a device that has signed the member in now.
func (u User) NewDevice(drawn [drawnBytes]byte, now time.Time) string {
	user := uuid.MustParse(u.ID)
	id := binary.BigEndian.AppendUint64(append(user[:], drawn[:]...), uint64(now.Unix()))
	return DeviceForm.Format(id, u.deviceSecret(id))
}

// Device returns the name of a device whose token says that it has signed the member in.
func (u User) Device(token string, now time.Time) (name string, ok bool) {
	id, given, ok := DeviceForm.Bytes(token)
	if !ok || uuid.UUID(id[:idBytes]).String() != u.ID {
		return "", false
	}
	secret := u.deviceSecret(id)
	since := time.Unix(int64(binary.BigEndian.Uint64(id[idBytes+drawnBytes:])), 0)
	return hex.EncodeToString(id), hmac.Equal(secret[:], given[:]) && now.Before(since.Add(DeviceFor))
}

func (u User) deviceSecret(id []byte) session.Secret {
	mac := hmac.New(sha256.New, []byte(u.PasswordHash))
	mac.Write([]byte("device"))
	mac.Write(id)
	return session.Secret(mac.Sum(nil))
}
