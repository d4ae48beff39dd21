package meet

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"hash"
)

// Cover makes a text that only the server can read, and that is good for one member and one list.
// A place in the deck names members, some of whom the reader may not see, and the order of all of
// them; one in a list of attendees names a member whom the reader may know by the name alone.
//
// The key comes from the hash of the member's password: no answer tells it, every instance has it,
// and it is read with the caller. So a new password ends walks. The same text is covered in the
// same way, which takes no random numbers: no member can choose a text to be covered.
func Cover(u User, list, text string) string {
	sealer, sum := coverKeys(u)
	sum.Write([]byte(list + "\x00" + text))
	nonce := sum.Sum(nil)[:sealer.NonceSize()]
	return base64.RawURLEncoding.EncodeToString(sealer.Seal(nonce, nonce, []byte(text), []byte(list)))
}

// Uncover returns a text that was covered for the member and the list, or "".
func Uncover(u User, list, covered string) string {
	sealer, _ := coverKeys(u)
	b, err := base64.RawURLEncoding.Strict().DecodeString(covered)
	if err != nil || len(b) < sealer.NonceSize() {
		return ""
	}
	text, err := sealer.Open(nil, b[:sealer.NonceSize()], b[sealer.NonceSize():], []byte(list))
	if err != nil {
		return ""
	}
	return string(text)
}

// coverKeys returns the cipher of a member, and the keyed hash that makes its nonces.
func coverKeys(u User) (cipher.AEAD, hash.Hash) {
	derived := func(use string) []byte {
		h := hmac.New(sha256.New, []byte(u.PasswordHash))
		h.Write([]byte(use + u.ID))
		return h.Sum(nil)
	}
	block, err := aes.NewCipher(derived("seal"))
	if err != nil {
		panic(err) // the key has 32 bytes
	}
	sealer, err := cipher.NewGCM(block)
	if err != nil {
		panic(err) // the block is that of AES
	}
	return sealer, hmac.New(sha256.New, derived("nonce"))
}
