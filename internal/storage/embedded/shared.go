package embedded

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"maps"
	"slices"

	"github.com/oklog/ulid/v2"
	"go.etcd.io/bbolt"

	"prompthub/internal/storage/table"
)

// Each list that a prompt is in has a row that shows it, with how its text begins: the same for all
// of them. Texts of properties that Open is told of are stored once for the rows that end with a
// bar and the same ULID, in any tables:
//
//	ULID number → how many rows refer to it, text
//
// A row has the number of the text, and a checksum by which another text that a damaged file has
// under this number is known. New ULIDs come last, so that these texts are written side by side. A
// row that is a ULID alone has its texts itself: what it says is not said by others, of which it
// could be made again.
const (
	sharedBytes = 16      // a text that is shorter stands in its row
	maxShared   = 32      // texts of one ULID; further ones stand in their rows, so that a write reads few
	maxSharing  = 1 << 32 // rows that refer to a text; a number above it is damaged
	sharedFill  = 0.95    // of a page that is split: the next keys lie after it
)

var sharedBucket = []byte("shared")

// A ref is what a row has of a text that it shares: its number, and two bytes of its checksum.
type ref [3]byte

func refTo(number byte, text []byte) ref {
	sum := crc32.ChecksumIEEE(text)
	return ref{number, byte(sum >> 8), byte(sum)}
}

func (r ref) number() byte { return r[0] }

// texts are those that rows share.
type texts interface {
	// text returns one that is valid as long as the transaction is.
	text(owner string, at ref) (string, bool)
}

// ownerOf returns what rows end with that a row shares texts with, as long as a ULID; "" where it
// shares none.
func ownerOf(key table.Key) string {
	owner := keyText(key, ofRow)
	if len(owner) != ulid.EncodedSize || len(owner) == len(key.Row) {
		return ""
	}
	return owner
}

// shares reports whether a text of rows with this owner is stored once for all of them.
func (d *dictionary) shares(owner string, p table.Prop) bool {
	return owner != "" && p.Value.Type() == table.TypeString && len(p.Value.Str()) >= sharedBytes &&
		slices.Contains(d.shared, p.Name)
}

func sharedKey(b []byte, owner string, number byte) []byte {
	return append(append(b, owner...), number)
}

// sharedText takes what is stored of a text apart.
func sharedText(stored []byte) (rows uint64, text []byte, ok bool) {
	rows, n := binary.Uvarint(stored)
	if n <= 0 || rows == 0 || rows > maxSharing {
		return 0, nil, false
	}
	return rows, stored[n:], true
}

// A lookup reads texts. Those of a row mostly follow each other.
type lookup struct {
	tx     *bbolt.Tx
	cursor *bbolt.Cursor
	want   []byte
	k, v   []byte // where the cursor is
}

func (l *lookup) text(owner string, at ref) (string, bool) {
	if l.cursor == nil {
		l.cursor = l.tx.Bucket(sharedBucket).Cursor()
	}
	l.want = sharedKey(l.want[:0], owner, at.number())
	if bytes.HasPrefix(l.k, l.want[:len(owner)]) && bytes.Compare(l.k, l.want) < 0 {
		l.k, l.v = l.cursor.Next()
	}
	if !bytes.Equal(l.k, l.want) {
		l.k, l.v = l.cursor.Seek(l.want)
	}
	if !bytes.Equal(l.k, l.want) {
		return "", false
	}
	_, text, ok := sharedText(l.v)
	return alias(text), ok && refTo(at.number(), text) == at
}

// A sharing is what a transaction changes of the texts. It is written at the end, since most rows
// that go are followed by another one with the same texts.
type sharing struct {
	b      *bbolt.Bucket
	owners map[string][]entry // by the number
	bytes  int                // of the texts
}

// An entry is one text.
type entry struct {
	rows   uint64 // that refer to it; a text without any is not stored
	text   string
	stored uint64 // rows that the file has for this text, 0 where it has another one or none
	// damaged numbers are never given out again: rows may still have them, and would count for another
	// text when they go. A damaged row is stored without any text.
	damaged, newly bool
}

func newSharing(tx *bbolt.Tx) *sharing {
	b := tx.Bucket(sharedBucket)
	b.FillPercent = sharedFill
	return &sharing{b: b, owners: make(map[string][]entry)}
}

// of returns the texts of an owner.
func (s *sharing) of(owner string) []entry {
	all, ok := s.owners[owner]
	if ok {
		return all
	}
	c := s.b.Cursor()
	for k, v := c.Seek([]byte(owner)); len(k) == len(owner)+1 && string(k[:len(owner)]) == owner &&
		k[len(owner)] < maxShared; k, v = c.Next() {
		free := int(k[len(owner)]) - len(all)
		if free < 0 { // keys of a damaged file have no order
			continue
		}
		rows, text, ok := sharedText(v)
		all = append(append(all, make([]entry, free)...),
			entry{rows: rows, text: string(text), stored: rows, damaged: !ok})
		s.bytes += len(text)
	}
	s.owners[owner] = all
	return all
}

// text returns one as the transaction has it so far.
func (s *sharing) text(owner string, at ref) (string, bool) {
	all := s.of(owner)
	if int(at.number()) >= len(all) {
		return "", false
	}
	e := all[at.number()]
	return e.text, e.rows > 0 && refTo(at.number(), []byte(e.text)) == at
}

// refer counts a row that refers to a text. It reports false where there are too many.
func (s *sharing) refer(owner, text string) (at ref, ok bool) {
	all := s.of(owner)
	n := slices.IndexFunc(all, func(e entry) bool { return e.text == text && !e.damaged })
	if n < 0 {
		n = slices.IndexFunc(all, func(e entry) bool { return e.rows == 0 && !e.damaged })
	}
	if n < 0 {
		n = len(all)
		if all = s.grown(owner, n); all == nil {
			return at, false
		}
	}
	if e := &all[n]; e.text == text {
		e.rows++
	} else {
		*e = entry{rows: 1, text: text}
		s.bytes += len(text)
	}
	return refTo(byte(n), []byte(text)), true
}

// grown returns the texts of an owner with room for a number, nil where it is none.
func (s *sharing) grown(owner string, number int) []entry {
	if number >= maxShared {
		return nil
	}
	all := s.of(owner)
	all = append(all, make([]entry, max(0, number+1-len(all)))...)
	s.owners[owner] = all
	return all
}

// release counts a row less that refers to a text. Where there is no such text, others may have
// lost it too.
func (s *sharing) release(owner string, at ref) {
	if _, ok := s.text(owner, at); ok {
		s.owners[owner][at.number()].rows--
		return
	}
	if all := s.grown(owner, int(at.number())); all != nil && all[at.number()].rows == 0 && !all[at.number()].damaged {
		all[at.number()] = entry{damaged: true, newly: true}
	}
}

// replace counts what a row refers to, in place of what it referred to before. It returns the row
// with its references filled in, and with those texts in it that find no number.
func (s *sharing) replace(key table.Key, before []ref, value []byte, refs []reference) []byte {
	owner := ownerOf(key)
	for _, at := range before {
		s.release(owner, at)
	}
	for _, p := range slices.Backward(refs) { // so that the places before stay
		if at, ok := s.refer(owner, p.text); ok {
			copy(value[p.at:], at[:])
			continue
		}
		value[p.head] = value[p.head]&^typeMask | byte(table.TypeString)
		value = slices.Replace(value, p.at, p.at+len(ref{}), appendText(nil, p.text)...)
	}
	return value
}

// referred returns what a stored row refers to, nothing where it is damaged.
func (d *dictionary) referred(key table.Key, value []byte) []ref {
	if len(value) == 0 || !sharesTexts(value[0]) {
		return nil
	}
	var all wanted
	v := d.viewer(&all, nil)
	if _, err := v.view(plainKey(key), value); err != nil {
		return nil
	}
	return all
}

// wanted are the texts that somebody looked up.
type wanted []ref

func (w *wanted) text(_ string, at ref) (string, bool) {
	*w = append(*w, at)
	return "", true
}

// flush writes what has changed.
func (s *sharing) flush() error {
	for _, owner := range slices.Sorted(maps.Keys(s.owners)) {
		for n, e := range s.owners[owner] {
			var err error
			switch key := sharedKey(nil, owner, byte(n)); {
			case e.newly:
				err = s.b.Put(key, nil)
			case e.damaged, e.rows == e.stored && e.rows > 0:
			case e.rows == 0:
				err = s.b.Delete(key)
			default:
				err = s.b.Put(key, append(binary.AppendUvarint(nil, e.rows), e.text...))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
