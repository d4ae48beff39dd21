package embedded

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"time"

	"prompthub/internal/storage/queue"
)

// A message is stored under the time from which on it is visible and a stamp, so that those to be
// received next stand at the front of their bucket. Each change gives it a new key with a new
// stamp, and its receipt names the key: an old receipt finds nothing, for ever.
//
// The stored form is one byte of version and one of state, the id, the deliveries and
// the time of sending as varints, and the text.
const (
	messageVersion = 1
	stateWaiting   = 0
	stateLocked    = 1 // by a Receive
	messageKeyLen  = 16
)

var errDamagedMessage = errors.New("damaged message")

type message struct {
	id       uint64
	locked   bool
	dequeued uint64
	inserted int64 // ns since 1970
	text     []byte
}

func messageKey(visible time.Time, stamp uint64) []byte {
	key := make([]byte, 0, messageKeyLen)
	key = binary.BigEndian.AppendUint64(key, uint64(visible.UnixNano()))
	return binary.BigEndian.AppendUint64(key, stamp)
}

// visible reports whether a message under key can be received at now.
func visible(key []byte, now time.Time) bool {
	return binary.BigEndian.Uint64(key) <= uint64(now.UnixNano())
}

func (m message) encode() []byte {
	b := make([]byte, 2, 2+3*binary.MaxVarintLen64+len(m.text))
	b[0] = messageVersion
	if m.locked {
		b[1] = stateLocked
	}
	b = binary.AppendUvarint(b, m.id)
	b = binary.AppendUvarint(b, m.dequeued)
	b = binary.AppendVarint(b, m.inserted)
	return append(b, m.text...)
}

// decodeMessage returns the stored message. Its text is a view of b.
func decodeMessage(b []byte) (message, error) {
	if len(b) < 2 || b[0] != messageVersion || b[1] > stateLocked {
		return message{}, errDamagedMessage
	}
	m := message{locked: b[1] == stateLocked}
	b = b[2:]
	var n [3]int
	m.id, n[0] = binary.Uvarint(b)
	m.dequeued, n[1] = binary.Uvarint(b[max(n[0], 0):])
	m.inserted, n[2] = binary.Varint(b[max(n[0], 0)+max(n[1], 0):])
	if min(n[0], n[1], n[2]) <= 0 {
		return message{}, errDamagedMessage
	}
	m.text = b[n[0]+n[1]+n[2]:]
	return m, nil
}

// delivery returns what a receiver of the message under key gets.
func (m message) delivery(key []byte) queue.Message {
	return queue.Message{
		Receipt:  receipt(m.id, key),
		Text:     string(m.text),
		Dequeued: int(m.dequeued),
		Inserted: time.Unix(0, m.inserted).UTC(),
	}
}

func receipt(id uint64, key []byte) queue.Receipt {
	return queue.Receipt{ID: strconv.FormatUint(id, 36), Pop: fmt.Sprintf("%x", key)}
}
