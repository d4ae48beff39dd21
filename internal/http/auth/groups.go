package auth

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
)

// Groups are the groups of the directory with a user, each by the beginning of the SHA-256 of its
// name: a browser keeps them in a cookie, and names would not fit.
type Groups []byte

const (
	groupKey  = 10  // bytes: too many to find a name with the key of another
	maxGroups = 200 // of a user: Microsoft Entra puts no more into a token, and a cookie takes no more
)

// GroupsOf returns groups by their names. Of more than 200 it takes the first by name.
func GroupsOf(names []string) Groups {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	var g Groups
	for _, name := range names[:min(len(names), maxGroups)] {
		g = append(g, keyOfGroup(name)...)
	}
	return g
}

// Has reports whether the user is in a group.
func (g Groups) Has(name string) bool {
	key := keyOfGroup(name)
	for one := range slices.Chunk(g, groupKey) {
		if bytes.Equal(one, key) {
			return true
		}
	}
	return false
}

// Keys returns the keys of the groups, as hexadecimal digits.
func (g Groups) Keys() []string {
	var keys []string
	for one := range slices.Chunk(g, groupKey) {
		keys = append(keys, hex.EncodeToString(one))
	}
	return keys
}

func keyOfGroup(name string) []byte {
	sum := sha256.Sum256([]byte(name))
	return sum[:groupKey]
}
