// Package cursor makes page tokens: a position in a list, opaque, versioned, and bound to the query
// that gave it out. A token is no secret and needs none: a forged one can only start elsewhere
// in the same list.
package cursor

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"

	"prompthub/internal/fault"
)

// ErrInvalid means that a token is damaged, of an unknown version, or of another query.
var ErrInvalid = errors.New("invalid cursor")

const (
	version = 1
	sumLen  = 8
	// MaxLen is the length of the longest token that Open looks at.
	MaxLen = 2048
)

// Seal returns the token for a position in the list that scope names (every detail of the query but
// the page size), "" for none, at the end.
func Seal(scope, position string) string {
	if position == "" {
		return ""
	}
	b := append([]byte{version}, sum(scope, position)...)
	return base64.RawURLEncoding.EncodeToString(append(b, position...))
}

// Resume returns the position in a token, "" if there is none, at the beginning. Its error is for
// the caller who sent the token.
func Resume(scope, token string) (string, error) {
	if token == "" {
		return "", nil
	}
	position, err := Open(scope, token)
	if err != nil {
		return "", Refuse()
	}
	return position, nil
}

// Refuse returns the error for a cursor that no list gave out.
func Refuse() error {
	return &fault.Error{
		Kind: fault.Malformed,
		Text: "the cursor is not one that this list gave out; start again without it", Fields: []fault.Field{
			{Name: "cursor", Message: "must be the cursor that a page of the same query ended with"},
		},
	}
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
