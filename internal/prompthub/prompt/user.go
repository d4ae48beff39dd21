package prompt

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"strings"
)

// A UserID names a user: what a directory or a token says of him, opaque and stable. It has a type
// of its own so that no id of a prompt, no name and no title passes for one. In every list of
// parameters who sees something comes before what he sees.
type UserID string

// An AuthorSecret makes the keys by which a deployment names users in public: in answers to others
// and in the log. Ids can often be guessed, so without it a key must not follow from an id.
type AuthorSecret [32]byte

// Key returns the key of a user, which is the same on every instance of a deployment. It is "a_"
// and 26 of a-z and 2-7: the first 130 bits of an HMAC-SHA-256 of the id.
func (s AuthorSecret) Key(user UserID) string {
	mac := hmac.New(sha256.New, s[:])
	mac.Write([]byte(user))
	return "a_" + strings.ToLower(base32.StdEncoding.EncodeToString(mac.Sum(nil))[:26])
}

// NamesUser reports whether s can be a handle or a key of an author. What cannot is no key of a
// row either: it may have any length.
func NamesUser(s string) bool {
	key, ok := strings.CutPrefix(s, "a_")
	return ValidSlug(s) || ok && len(key) == 26 && ValidSlug(key)
}
