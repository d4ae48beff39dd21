package people

import (
	"crypto/hmac"
	"encoding/hex"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"

	"prompthub/internal/http/auth"
	"prompthub/internal/http/auth/session"
)

// DeviceFor is how long a device is known to have signed in to a number.
const DeviceFor = 90 * 24 * time.Hour

// deviceForm is how the tokens of devices read. The id has the time of the sign-in, and the secret
// is the code of the id and the number, so that nothing is stored and the token tells no number.
var deviceForm = auth.TokenForm{Prefix: "dd_", IDBytes: len(ulid.ULID{})}

// newDevice returns the token of a device that has signed in to a number now.
func (s *Service) newDevice(phone string) string {
	id := ulid.MustParse(s.newID())
	return deviceForm.Format(id[:], s.deviceSecrets(phone, id)[0])
}

// isDevice returns the id of a device whose token says that it has signed in to a number.
func (s *Service) isDevice(token, phone string) (id string, ok bool) {
	b, given, ok := deviceForm.Bytes(token)
	if !ok {
		return "", false
	}
	device := ulid.ULID(b)
	right := slices.ContainsFunc(s.deviceSecrets(phone, device), func(one session.Secret) bool {
		return hmac.Equal(one[:], given[:])
	})
	return device.String(), right && s.Now().Before(ulid.Time(device.Time()).Add(DeviceFor))
}

// deviceSecrets returns the secret of a device under each key, the newest first.
func (s *Service) deviceSecrets(phone string, id ulid.ULID) (all []session.Secret) {
	for _, mac := range s.Keys.MACs("device", id.String()+" "+phone) {
		var one session.Secret
		if _, err := hex.Decode(one[:], []byte(mac)); err != nil {
			panic(err) // unreachable: it is 32 bytes in hex
		}
		all = append(all, one)
	}
	return all
}
