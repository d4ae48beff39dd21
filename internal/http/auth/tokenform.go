package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"hash/crc32"
	"strings"
)

// A TokenForm is how tokens of one kind read: PREFIX, the id, "_" and the secret. The secret ends
// with a checksum of all that stands before it, so that a mistyped token costs no look into the
// storage, and programs that search for lost secrets know one when they see it.
type TokenForm struct {
	Prefix  string // such as "ph_"
	IDBytes int    // the length of an id
}

// SecretBytes is the length of the secret of a token.
const SecretBytes = 32

var letters = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// A Secret is what is kept of the secret of an access token: its SHA-256, as the token has it.
type Secret [sha256.Size]byte

// New makes a token of random bytes. Nothing but the id and the Secret must be kept of it.
func (f TokenForm) New() (token, id string, secret Secret) {
	random := make([]byte, f.IDBytes+SecretBytes)
	rand.Read(random) // it never fails
	token = f.Format(random[:f.IDBytes], [SecretBytes]byte(random[f.IDBytes:]))
	id, secret, _ = f.Parse(token)
	return token, id, secret
}

// Format makes the token that has an id of IDBytes bytes and a secret.
func (f TokenForm) Format(id []byte, secret [SecretBytes]byte) string {
	name, text := letters.EncodeToString(id), letters.EncodeToString(secret[:])
	return f.Prefix + name + "_" + text + f.checksum(name, text)
}

func (f TokenForm) checksum(id, secret string) string {
	sum := crc32.ChecksumIEEE([]byte(f.Prefix + id + "_" + secret))
	return letters.EncodeToString(binary.BigEndian.AppendUint32(nil, sum))
}

// Bytes returns what Format made a token of. ok is false for what Format never makes.
func (f TokenForm) Bytes(token string) (id []byte, secret [SecretBytes]byte, ok bool) {
	name, text, ok := f.cut(token)
	if !ok || !f.is(name, text) {
		return nil, secret, false
	}
	id, _ = letters.DecodeString(name)
	b, err := letters.DecodeString(text[:letters.EncodedLen(SecretBytes)])
	if err != nil || f.Format(id, [SecretBytes]byte(b)) != token {
		return nil, secret, false
	}
	return id, [SecretBytes]byte(b), true
}

// Parse returns the parts of a token. ok is false for what New never makes.
func (f TokenForm) Parse(token string) (id string, secret Secret, ok bool) {
	id, text, ok := f.cut(token)
	if !ok {
		return "", Secret{}, false
	}
	return f.parseParts(id, text)
}

func (f TokenForm) cut(token string) (id, text string, ok bool) {
	rest, ok := strings.CutPrefix(token, f.Prefix)
	id, text, both := strings.Cut(rest, "_")
	return id, text, ok && both
}

func (f TokenForm) parseParts(id, text string) (string, Secret, bool) {
	if !f.is(id, text) {
		return "", Secret{}, false
	}
	return id, sha256.Sum256([]byte(text)), true
}

// is reports whether an id and a secret with its checksum are a token.
func (f TokenForm) is(id, text string) bool {
	n := letters.EncodedLen(SecretBytes)
	return f.HasID(id) && len(text) == n+letters.EncodedLen(crc32.Size) && f.checksum(id, text[:n]) == text[n:]
}

// HasID reports whether s can be the id of a token.
func (f TokenForm) HasID(s string) bool {
	b, err := letters.DecodeString(s)
	return err == nil && len(b) == f.IDBytes && letters.EncodeToString(b) == s
}
