// Package keyring has the keys of the application. The first one seals and signs, each of them
// opens. For every purpose another key is derived, so that no text is of use for another purpose.
package keyring

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// KeyBytes is how long a key is.
const KeyBytes = 32

// A Ring is keys, the first of which is the newest.
type Ring [][]byte

// Parse reads keys of KeyBytes bytes in base64, separated by commas. Its error holds no part of
// them.
func Parse(text string) (Ring, error) {
	var r Ring
	for i, one := range strings.Split(text, ",") {
		key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(one))
		if err != nil || len(key) != KeyBytes {
			return nil, fmt.Errorf("must be keys of %d random bytes in base64, separated by commas; number %d is not: make one with openssl rand -base64 32", KeyBytes, i+1)
		}
		for _, other := range r {
			if string(other) == string(key) {
				return nil, fmt.Errorf("has one key twice, as number %d too", i+1)
			}
		}
		r = append(r, key)
	}
	return r, nil
}

// Derive returns the key of each key of the ring for a purpose, in order.
func (r Ring) Derive(purpose string) [][]byte {
	var all [][]byte
	for _, key := range r {
		derived, err := hkdf.Key(sha256.New, key, nil, "duuble "+purpose, KeyBytes)
		if err != nil {
			panic(err) // unreachable: the length is a constant
		}
		all = append(all, derived)
	}
	return all
}

// LastMAC names something secret under the last key: the same text has the same name until that key
// goes.
func (r Ring) LastMAC(purpose, text string) string {
	all := r.Derive(purpose)
	return mac(all[len(all)-1], text)
}

// MACs returns the codes of a text under each key, the newest first.
func (r Ring) MACs(purpose, text string) []string {
	var all []string
	for _, key := range r.Derive(purpose) {
		all = append(all, mac(key, text))
	}
	return all
}

func mac(key []byte, text string) string {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(text))
	return hex.EncodeToString(m.Sum(nil))
}

// errSealed says no more, because the text is not for logs.
var errSealed = errors.New("none of the keys opens what is sealed")

// Seal returns a text that opens in the same place only, under a key of the ring.
func (r Ring) Seal(purpose, place, text string) string {
	sealed := aead(r.Derive(purpose)[0]).Seal(nil, nil, []byte(text), []byte(place)) //nolint:gosec // the nonce is random, and put before the text by the AEAD
	return base64.RawURLEncoding.EncodeToString(sealed)
}

// Open returns what was sealed for a place.
func (r Ring) Open(purpose, place, sealed string) (string, error) {
	b, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		return "", errSealed
	}
	for _, key := range r.Derive(purpose) {
		if text, err := aead(key).Open(nil, nil, b, []byte(place)); err == nil {
			return string(text), nil
		}
	}
	return "", errSealed
}

func aead(key []byte) cipher.AEAD {
	block, err := aes.NewCipher(key)
	if err == nil {
		var sealer cipher.AEAD
		if sealer, err = cipher.NewGCMWithRandomNonce(block); err == nil {
			return sealer
		}
	}
	panic(err) // unreachable: the length of the key is a constant
}
