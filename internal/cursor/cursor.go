// Package cursor makes page tokens: a position in a list, opaque, versioned, and bound to the query
// that gave it out. A token is no secret and needs none: a forged one can only start elsewhere
// in the same list.
package cursor

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
)

// ErrInvalid means that a token is damaged, of an unknown version, or of another query.
var ErrInvalid = errors.New("invalid cursor")

const (
	version = 1
	sumLen  = 8
	// MaxLen is the length of the longest token that Open looks at.
	MaxLen = 2048
)

// Seal returns the token for a position in the list that scope names: every detail of the query but
// the page size.
func Seal(scope, position string) string {
	b := append([]byte{version}, sum(scope, position)...)
	return base64.RawURLEncoding.EncodeToString(append(b, position...))
}

// Open returns the position in a token, or ErrInvalid.
func Open(scope, token string) (string, error) {
	if len(token) > MaxLen {
		return "", ErrInvalid
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(b) <= 1+sumLen || b[0] != version {
		return "", ErrInvalid
	}
	position := string(b[1+sumLen:])
	if string(b[1:1+sumLen]) != string(sum(scope, position)) {
		return "", ErrInvalid
	}
	return position, nil
}

func sum(scope, position string) []byte {
	h := sha256.New()
	h.Write([]byte{version})
	h.Write([]byte(scope))
	h.Write([]byte{0})
	h.Write([]byte(position))
	return h.Sum(nil)[:sumLen]
}
