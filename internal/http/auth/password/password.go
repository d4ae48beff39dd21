// Package password keeps passwords as argon2id hashes. A hash costs memory and processor time on
// purpose, so only a few are computed at a time and the others wait.
package password

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"golang.org/x/crypto/argon2"
)

// maxWait is how long a caller waits for others.
const maxWait = 10 * time.Second

// A cost says what a hash costs: memory in KiB, passes over it, and lanes.
type cost struct {
	memory, passes uint32
	lanes          uint8
}

// today is what new hashes cost: 19 MiB and 2 passes, as OWASP recommends.
var today = cost{memory: 19 << 10, passes: 2, lanes: 1}

// most is what a hash may ask for. More would be a damaged row, and must not take the process down.
var most = cost{memory: 64 << 10, passes: 16, lanes: 4}

const (
	saltBytes = 16
	hashBytes = 32
)

// A Hasher makes and verifies hashes, as many at a time as there are processors, 2 to 8. Half of
// the places are for callers who have signed in before, and half for all others.
type Hasher struct {
	cost          cost // of new hashes
	known, others *line
}

// NewHasher returns a Hasher for a process.
func NewHasher() *Hasher { return newHasher(today) }

// NewTestHasher returns a Hasher for tests that make many accounts: its hashes cost next to
// nothing, and protect nothing.
func NewTestHasher() *Hasher { return newHasher(cost{memory: 8, passes: 1, lanes: 1}) }

func newHasher(c cost) *Hasher {
	half := min(max(runtime.GOMAXPROCS(0), 2), 8) / 2
	return &Hasher{c, newLine(half), newLine(half)}
}

// Hash returns the hash of a password, with a salt of its own, as
// $argon2id$v=19$m=19456,t=2,p=1$salt$hash.
func (h *Hasher) Hash(ctx context.Context, by By, password string) (string, error) {
	k := hash{cost: h.cost, salt: make([]byte, saltBytes)}
	rand.Read(k.salt) // it never fails
	var err error
	k.key, err = h.key(ctx, by, password, k)
	return k.String(), err
}

// Verify reports whether a hash is of a password, and whether it costs less than new hashes do:
// then the caller keeps a new one. An empty hash, of an account that is not there, takes as long as
// any other and is of no password.
func (h *Hasher) Verify(ctx context.Context, by By, password, hashed string) (ok, renew bool, err error) {
	k := hash{cost: h.cost, salt: make([]byte, saltBytes), key: make([]byte, hashBytes)}
	if hashed != "" {
		if k, err = parse(hashed); err != nil {
			return false, false, err
		}
	}
	got, err := h.key(ctx, by, password, k)
	if err != nil || hashed == "" || subtle.ConstantTimeCompare(got, k.key) != 1 {
		return false, false, err
	}
	return true, k.memory < h.cost.memory || k.passes < h.cost.passes, nil
}

// key computes a hash once there is a place for it.
func (h *Hasher) key(ctx context.Context, by By, password string, k hash) ([]byte, error) {
	in := h.others
	if by.Known {
		in = h.known
	}
	leave, err := in.enter(ctx, by)
	if err != nil {
		return nil, err
	}
	defer leave()
	return argon2.IDKey([]byte(password), k.salt, k.passes, k.memory, k.lanes, hashBytes), nil
}

// A hash is one in its parts.
type hash struct {
	cost
	salt, key []byte
}

// String writes a hash in the PHC string format.
func (h hash) String() string {
	b := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, h.memory, h.passes, h.lanes,
		b.EncodeToString(h.salt), b.EncodeToString(h.key))
}

var errDamaged = errors.New("the hash of a password is damaged")

// parse reads what String writes, and nothing else.
func parse(s string) (h hash, err error) {
	var version int
	parts := strings.Split(s, "$")
	if len(parts) != 6 {
		return hash{}, errDamaged
	}
	_, errCost := fmt.Sscanf(parts[2]+"$"+parts[3], "v=%d$m=%d,t=%d,p=%d", &version, &h.memory, &h.passes, &h.lanes)
	h.salt, err = base64.RawStdEncoding.DecodeString(parts[4])
	if err == nil {
		h.key, err = base64.RawStdEncoding.DecodeString(parts[5])
	}
	within := h.passes > 0 && h.passes <= most.passes && h.lanes > 0 && h.lanes <= most.lanes && h.memory <= most.memory
	if err != nil || errCost != nil || !within || len(h.salt) != saltBytes ||
		len(h.key) != hashBytes || h.String() != s {
		return hash{}, errDamaged
	}
	return h, nil
}
