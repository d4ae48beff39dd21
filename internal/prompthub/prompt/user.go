package prompt

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"
)

// A UserID names a user: what a directory or a token says of him, opaque and stable. It has a type
// of its own so that no id of a prompt, no name and no title passes for one. In every list of
// parameters who sees something comes before what he sees.
type UserID string

// authorKey separates keys of authors from other hashes of user ids.
const authorKey = "prompthub author\x00"

// AuthorKey returns the name of a user in public: in answers to others and in the log. It follows
// from the id of the user alone, on every instance and for ever; the id does not follow from it,
// and is good for nothing elsewhere. It is "a_" and 26 of a-z and 2-7: the first 130 bits of a
// SHA-256 of the id. Who knows an id can tell its key, and who can guess ids may try them: the ids
// of a directory are random.
func AuthorKey(user UserID) string {
	sum := sha256.Sum256([]byte(authorKey + string(user)))
	return "a_" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:])[:26])
}

// NamesUser reports whether s can be a handle or an AuthorKey. What cannot is no key of a row
// either: it may have any length.
func NamesUser(s string) bool {
	key, ok := strings.CutPrefix(s, "a_")
	return ValidSlug(s) || ok && len(key) == 26 && ValidSlug(key)
}
