package embedded

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"prompthub/internal/storage/table"
)

// The key of a row begins with its partition and 0x00, which no partition holds, so rows are
// ordered by partition first. Where a key is read, it is plain: the row follows as it is. Where it
// is stored, it is packed: fewer bytes follow, which have the order of the rows.
//
// Nearly all rows of lists are a time as 19 digits, which count back, a bar, and a ULID, which has
// that time again: 46 characters, of which a packed key makes 20 bytes. These are packed rows:
//
//	01 row                          it begins below all digits, or is empty
//	ff row                          it begins above all digits
//	number class rest               it begins with digits
//	number class random class rest  with a time, a bar and a ULID of this time
//
// A number is 8 bytes, of 19 digits, and random the last 10 bytes of a ULID, which are 16
// characters. Where a row has fewer of them, they are made as many: by the least character where
// the next sorts below all characters of their kind, else by the greatest one, so that the
// class, which says how many there were, decides between those of the same number.
const (
	belowDigits  = 0x01
	aboveDigits  = 0xff
	numberOffset = 2 << 56 // is added to numbers, so that they begin with neither
	numberBytes  = 8
	digits       = 19
	timeChars    = 10 // of a ULID
	randomChars  = ulid.EncodedSize - timeChars
	timeBytes    = 6
	randomBytes  = len(ulid.ULID{}) - timeBytes

	lastNumber uint64 = 1e19 - 1
)

// Classes, in the order of the rows. Up to 18 they are how many digits there are, with something
// below digits after them, and from 237 on 255 less how many, with something above digits after
// them. Those of random bytes are alike: up to 16 characters, and from 240 on.
const (
	belowBar = digits + iota
	earlierULID
	sameULID // of this time
	laterULID
	aboveBar

	followedAbove = 0xff
)

const ticksOfMilli = uint64(time.Millisecond / 100)

// milliOf1970 is the time of the first ULID.
var milliOf1970 = uint64(table.Ticks(time.Unix(0, 0))) / ticksOfMilli

// plainKey returns the plain key of a row.
func plainKey(k table.Key) []byte {
	key := append(make([]byte, 0, len(k.Partition)+len(k.Row)+1), k.Partition...)
	return append(append(key, 0), k.Row...)
}

// packedKey returns the key that a row is stored under.
func packedKey(k table.Key) []byte {
	return appendPackedKey(make([]byte, 0, len(k.Partition)+len(k.Row)+2), k)
}

func appendPackedKey(b []byte, k table.Key) []byte {
	return appendPacked(append(append(b, k.Partition...), 0), k.Row)
}

// appendPacked appends to a key what stands for a row in it.
func appendPacked(key []byte, row string) []byte {
	n := leading(row, digits, isDigit)
	switch rest := row[n:]; {
	case n == digits:
		number := padded(row, '0')
		return appendBehindTime(appendNumber(key, number), number, rest)
	case n > 0 && below(rest, '0'):
		return append(append(appendNumber(key, padded(row[:n], '0')), byte(n)), rest...)
	case n > 0:
		return append(append(appendNumber(key, padded(row[:n], '9')), followedAbove-byte(n)), rest...)
	case below(rest, '0'):
		return append(append(key, belowDigits), row...)
	}
	return append(append(key, aboveDigits), row...)
}

// leading returns how many characters of a kind s begins with, at most a number of them.
func leading(s string, most int, is func(byte) bool) int {
	n := 0
	for n < min(len(s), most) && is(s[n]) {
		n++
	}
	return n
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isULID is for those that are in ulid.Encoding.
func isULID(c byte) bool {
	return isDigit(c) || c >= 'A' && c <= 'Z' && c != 'I' && c != 'L' && c != 'O' && c != 'U'
}

// below reports whether s comes before all that begins with c.
func below(s string, c byte) bool { return s == "" || s[0] < c }

// padded returns the number that s begins with, made 19 digits long.
func padded(s string, with byte) uint64 {
	var n uint64
	for i := range digits {
		c := with
		if i < len(s) {
			c = s[i]
		}
		n = n*10 + uint64(c-'0')
	}
	return n
}

func appendNumber(key []byte, n uint64) []byte {
	return binary.BigEndian.AppendUint64(key, n+numberOffset)
}

// appendBehindTime appends what follows a time.
func appendBehindTime(key []byte, number uint64, rest string) []byte {
	switch {
	case below(rest, '|'):
		return append(append(key, belowBar), rest...)
	case rest[0] > '|':
		return append(append(key, aboveBar), rest...)
	}
	rest = rest[1:]
	id, ok := ulidOf(number)
	text := id.String()
	switch same := strings.HasPrefix(rest, text[:timeChars]); {
	case !ok || !same && rest < text:
		return append(append(key, earlierULID), rest...)
	case !same:
		return append(append(key, laterULID), rest...)
	}
	return appendRandom(append(key, sameULID), []byte(text), rest[timeChars:])
}

// ulidOf returns the least ULID of a time.
func ulidOf(number uint64) (id ulid.ULID, ok bool) {
	if number > table.MaxTicks { // from which times count back
		return id, false
	}
	milli := (table.MaxTicks - number) / ticksOfMilli
	return id, milli >= milliOf1970 && id.SetTime(milli-milliOf1970) == nil
}

// appendRandom appends what follows the time of a ULID. It completes the text that begins with this
// time.
func appendRandom(key, text []byte, rest string) []byte {
	n := leading(rest, randomChars, isULID)
	copy(text[timeChars:], rest[:n])
	class := byte(n)
	if end := rest[n:]; n < randomChars && !below(end, '0') {
		class = followedAbove - class
		least := strings.IndexFunc(ulid.Encoding, func(c rune) bool { return c > rune(end[0]) })
		if least < 0 {
			least = len(ulid.Encoding)
		}
		text[timeChars+n] = ulid.Encoding[least-1]
		for i := timeChars + n + 1; i < len(text); i++ {
			text[i] = 'Z'
		}
	}
	var id ulid.ULID
	_ = id.UnmarshalText(text) // it has the length of one
	return append(append(append(key, id[timeBytes:]...), class), rest[n:]...)
}

// appendPlain appends to b the plain form of a packed key. It reports false if that is the key of
// no row, and appends as much as it can.
func appendPlain(b, key []byte) ([]byte, bool) {
	end := bytes.IndexByte(key, 0) + 1
	if end <= 1 {
		return b, false
	}
	return appendUnpacked(append(b, key[:end]...), key[end:])
}

// keyOf returns the key of a row from its plain form.
func keyOf(plain string) table.Key {
	end := strings.IndexByte(plain, 0)
	if end < 0 {
		return table.Key{Partition: plain}
	}
	return table.Key{Partition: plain[:end], Row: plain[end+1:]}
}

// appendUnpacked appends to b the row of which appendPacked made this. It takes nothing else: by a
// key that lies elsewhere than its row, a list would lead back to what it has passed.
func appendUnpacked(b, stored []byte) ([]byte, bool) {
	if len(stored) == 0 {
		return b, false
	}
	switch rest := stored[1:]; stored[0] {
	case belowDigits:
		return append(b, rest...), len(rest) == 0 || rest[0] < '0'
	case aboveDigits:
		return append(b, rest...), len(rest) > 0 && rest[0] > '9'
	}
	if len(stored) <= numberBytes {
		return b, false
	}
	number, class, rest := binary.BigEndian.Uint64(stored)-numberOffset, stored[numberBytes], stored[numberBytes+1:]
	n := digits
	switch {
	case class < digits:
		n = int(class)
	case class > followedAbove-digits:
		n = int(followedAbove - class)
	}
	if number > lastNumber {
		return b, false
	}
	start := len(b)
	b = appendDigits(b, number)
	b = b[:start+n]
	switch class {
	case sameULID:
		var whole, ok bool
		if b, whole, ok = appendULID(append(b, '|'), number, rest); whole || !ok {
			return b, ok
		}
	case earlierULID, laterULID:
		b = append(append(b, '|'), rest...)
	default:
		b = append(b, rest...)
	}
	return b, bytes.Equal(appendPacked(nil, string(b[start:])), stored)
}

// appendULID appends to b what follows the bar. It says whether this is a whole ULID.
func appendULID(b []byte, number uint64, rest []byte) (_ []byte, whole, ok bool) {
	id, ok := ulidOf(number)
	if !ok || len(rest) <= randomBytes {
		return b, false, false
	}
	copy(id[timeBytes:], rest)
	n := int(rest[randomBytes])
	whole = n == randomChars
	if n > randomChars {
		n = followedAbove - n
	}
	if n > randomChars {
		return b, false, false
	}
	var text [ulid.EncodedSize]byte
	_ = id.MarshalTextTo(text[:]) // it has the length of one
	b = append(b, text[:timeChars+n]...)
	return append(b, rest[randomBytes+1:]...), whole, true
}

// appendDigits appends 19 digits.
func appendDigits(b []byte, number uint64) []byte {
	const nine, ten = 1e9, 1e10 // digits, with a 1 before them that keeps their zeros
	var room [2 + digits]byte
	text := strconv.AppendUint(strconv.AppendUint(room[:0], nine+number/ten, 10), ten+number%ten, 10)
	return append(append(b, text[1:10]...), text[11:]...)
}
