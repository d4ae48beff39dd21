package auth

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/json"
)

// sealKey is the length of a key, for AES-256.
const sealKey = 32

// A sealer makes texts that a browser can keep for us and neither read nor change.
type sealer struct{ keys []cipher.AEAD } // the first seals, each opens

func newSealer(keys [][]byte) (sealer, error) {
	var s sealer
	for _, key := range keys {
		block, err := aes.NewCipher(key)
		if err != nil {
			return sealer{}, err
		}
		aead, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return sealer{}, err
		}
		s.keys = append(s.keys, aead)
	}
	return s, nil
}

// seal returns a value as a text that opens under the same name only.
func (s sealer) seal(name string, value any) (string, error) {
	plain, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	sealed := s.keys[0].Seal(nil, nil, plain, []byte(name)) //nolint:gosec // the nonce is random, and put before the text by the AEAD
	return base64.RawURLEncoding.EncodeToString(sealed), nil
}

// open reads what seal wrote. It reports whether one of the keys did.
func (s sealer) open(name, text string, value any) bool {
	sealed, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return false
	}
	for _, key := range s.keys {
		if plain, err := key.Open(nil, nil, sealed, []byte(name)); err == nil {
			return json.Unmarshal(plain, value) == nil
		}
	}
	return false
}
