package ballot

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"prompthub/internal/storage/table"
)

// KeyBytes is the length of a key.
const KeyBytes = 32

// Keys seal what waits in boxes. The first seals, each opens. Keep them apart from the data
// and from its copies. The zero value has no key and must not be used.
//
// Where several processes run, give a new key to all of them as the second before it becomes the
// first of any: a process leaves boxes alone that it cannot open.
type Keys struct{ all []voteKey }

type voteKey struct {
	secret []byte
	number [numberBytes]byte // names the key, and tells nothing else of it
}

// The parts of a sealed text: the key's number in front, then the output of the AEAD, with its
// nonce.
const (
	numberBytes = 4
	countsBytes = 5 * 4 // of votes that are sealed as numbers
)

// NewKeys returns keys of KeyBytes each.
func NewKeys(secrets ...[]byte) (Keys, error) {
	if len(secrets) == 0 {
		return Keys{}, errors.New("there is no key for votes")
	}
	var k Keys
	for i, secret := range secrets {
		if len(secret) != KeyBytes {
			return Keys{}, fmt.Errorf("key %d for votes has %d bytes, want %d", i+1, len(secret), KeyBytes)
		}
		one := voteKey{secret: bytes.Clone(secret)}
		copy(one.number[:], deriveKey(secret, "duuble|number of a vote key", numberBytes))
		k.all = append(k.all, one)
	}
	return k, nil
}

func deriveKey(secret []byte, info string, n int) []byte {
	key, err := hkdf.Key(sha256.New, secret, nil, info, n)
	if err != nil {
		panic(err) // only of a length that HKDF cannot make
	}
	return key
}

// cipherOf returns the cipher of a partition, so of one post.
func (k voteKey) cipherOf(partition string) cipher.AEAD {
	block, err := aes.NewCipher(deriveKey(k.secret, "duuble|boxes of|"+partition, KeyBytes))
	if err != nil {
		panic(err) // only of a key of another length
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // only of a cipher that is not AES
	}
	return aead
}

// boundTo is what ties a sealed text to its row, so that none opens in the place of another.
func boundTo(key table.Key) []byte { return []byte(key.Partition + "\x00" + key.Row) }

// noVote fills a sealed list up to its length.
const noVote = 0xff

// sealVotes returns votes as a text that is as long for any number of them: a list of up to most,
// in their order, or five numbers.
func (k Keys) sealVotes(key table.Key, votes []Position, most int, asCounts bool) string {
	var plain []byte
	if asCounts {
		for _, n := range countsOf(votes) {
			plain = binary.BigEndian.AppendUint32(plain, uint32(n))
		}
	} else {
		size := max(most, len(votes))
		if size == countsBytes { // by which a list is told from numbers
			size++
		}
		plain = bytes.Repeat([]byte{noVote}, size)
		for i, p := range votes {
			plain[i] = byte(p)
		}
	}
	first := k.all[0]
	sealed := first.cipherOf(key.Partition).Seal(first.number[:], nil, plain, boundTo(key)) //nolint:gosec // the AEAD makes a random nonce itself
	return base64.StdEncoding.EncodeToString(sealed)
}

func parseVotes(plain []byte) (votes []Position) {
	if len(plain) == countsBytes {
		for p := range positions {
			n := binary.BigEndian.Uint32(plain[4*p:])
			votes = append(votes, slices.Repeat([]Position{Position(p)}, int(n))...)
		}
		return votes
	}
	for _, p := range plain {
		if p != noVote {
			votes = append(votes, Position(p))
		}
	}
	return votes
}

// openVotes reads what sealVotes wrote. old reports that another key than the first did.
func (k Keys) openVotes(key table.Key, text string) (votes []Position, old bool, err error) {
	sealed, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(sealed) < numberBytes {
		return nil, false, errLost
	}
	for i, one := range k.all {
		if !bytes.Equal(sealed[:numberBytes], one.number[:]) {
			continue
		}
		plain, err := one.cipherOf(key.Partition).Open(nil, nil, sealed[numberBytes:], boundTo(key))
		if err == nil {
			return parseVotes(plain), i > 0, nil
		}
	}
	return nil, false, errLost
}
