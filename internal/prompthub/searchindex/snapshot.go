package searchindex

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"github.com/oklog/ulid/v2"

	"prompthub/internal/prompthub/prompt"
)

// Errors of Decode. After one the caller reads the prompts anew.
var (
	ErrDamaged = errors.New("the snapshot of a search index is damaged")
	ErrForeign = errors.New("the snapshot of a search index is of another version or another scope")
)

// A snapshot is snapshotMark, its version, the label and a segment, and the SHA-256 sum of all
// that. The version rises with every change of what a segment holds: of the form, of how words are
// cut, of stems.
const (
	snapshotMark    = "prompts by words\n"
	snapshotVersion = 1
)

// Encode returns all prompts for Decode, and nothing of prompts that are gone: the index that
// Decode returns must hear of late changes again. The label says what the index is of.
func (x *Index) Encode(label string) []byte {
	parts := x.now.Load().parts
	var s *segment
	if len(parts) == 1 && parts[0].dead == nil {
		s = parts[0].segment
	} else {
		s, _ = merge(parts)
	}
	w := encoder{[]byte(snapshotMark)}
	w.number(snapshotVersion)
	w.bytes([]byte(label))
	w.segment(s)
	sum := sha256.Sum256(w.b)
	return append(w.b, sum[:]...)
}

// Decode makes an index of what Encode returned with the same label.
func Decode(b []byte, label string) (*Index, error) {
	end := len(b) - sha256.Size
	if end < 0 {
		return nil, ErrDamaged
	}
	if sum := sha256.Sum256(b[:end]); !bytes.Equal(sum[:], b[end:]) {
		return nil, ErrDamaged
	}
	body, ok := bytes.CutPrefix(b[:end], []byte(snapshotMark))
	if !ok {
		return nil, ErrForeign
	}
	r := decoder{b: body}
	version, of := r.number(), string(r.bytes())
	switch {
	case r.damaged:
		return nil, ErrDamaged
	case version != snapshotVersion || of != label:
		return nil, ErrForeign
	}
	s := r.segment()
	if r.damaged || len(r.b) > 0 || !s.sound() {
		return nil, ErrDamaged
	}
	x := New()
	if s.len() > 0 {
		x.now.Store(&view{parts: []*part{newPart(s)}})
	}
	return x, nil
}

type encoder struct{ b []byte }

func (w *encoder) number(n uint64) { w.b = binary.LittleEndian.AppendUint64(w.b, n) }

func (w *encoder) bytes(b []byte) {
	w.number(uint64(len(b)))
	w.b = append(w.b, b...)
}

// numbers writes as many numbers, of as many bytes each.
func numbers[T ~uint8 | ~uint32 | ~uint64 | ~int64](w *encoder, all []T, size int) {
	w.number(uint64(len(all)))
	for _, n := range all {
		for i := range size {
			w.b = append(w.b, byte(uint64(n)>>(8*i)))
		}
	}
}

func (w *encoder) segment(s *segment) {
	w.number(uint64(len(s.ids)))
	for _, id := range s.ids {
		w.b = append(w.b, id[:]...)
	}
	numbers(w, s.revisions, 8)
	numbers(w, s.titleLens, 4)
	numbers(w, s.textLens, 4)
	numbers(w, s.languages, 1)
	numbers(w, s.authors, 4)
	w.number(uint64(len(s.authorIDs)))
	for _, a := range s.authorIDs {
		w.bytes([]byte(a))
	}
	w.bytes(s.keys)
	numbers(w, s.keyEnds, 4)
	w.bytes(s.lists)
	numbers(w, s.listAt, 4)
	numbers(w, s.written, 1)
	numbers(w, s.shapes, 8)
	table := s.stemTable()
	w.number(uint64(len(table)))
	for _, x := range table {
		w.b = binary.LittleEndian.AppendUint32(w.b, x.hash)
		w.b = binary.LittleEndian.AppendUint32(w.b, x.word)
	}
}

// A decoder reads what an encoder wrote. The sum tells that no byte changed by chance since, and
// not that this package wrote them: so each number is held against what is left before it counts.
type decoder struct {
	b       []byte
	damaged bool
}

func (r *decoder) cut(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.b, r.damaged = nil, true
		return nil
	}
	b := r.b[:n:n]
	r.b = r.b[n:]
	return b
}

func (r *decoder) number() uint64 {
	if b := r.cut(8); !r.damaged {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (r *decoder) bytes() []byte { return r.cut(r.number()) }

// count reads how many things follow, which take that many bytes each at least.
func (r *decoder) count(size int) int {
	n := r.number()
	if n > uint64(len(r.b)/size) {
		r.b, r.damaged = nil, true
		return 0
	}
	return int(n)
}

func readNumbers[T ~uint8 | ~uint32 | ~uint64 | ~int64](r *decoder, size int) []T {
	all := make([]T, r.count(size))
	b := r.cut(uint64(len(all) * size))
	for i := range all {
		var n uint64
		for j := range size {
			n |= uint64(b[i*size+j]) << (8 * j)
		}
		all[i] = T(n)
	}
	return all
}

func (r *decoder) segment() *segment {
	s := &segment{}
	s.ids = make([]ulid.ULID, r.count(len(ulid.ULID{})))
	for i := range s.ids {
		copy(s.ids[i][:], r.cut(uint64(len(s.ids[i]))))
	}
	s.revisions = readNumbers[int64](r, 8)
	s.titleLens = readNumbers[uint32](r, 4)
	s.textLens = readNumbers[uint32](r, 4)
	s.languages = readNumbers[language](r, 1)
	s.authors = readNumbers[uint32](r, 4)
	s.authorIDs = make([]prompt.UserID, r.count(8))
	for i := range s.authorIDs {
		s.authorIDs[i] = prompt.UserID(r.bytes())
	}
	s.keys = bytes.Clone(r.bytes())
	s.keyEnds = readNumbers[uint32](r, 4)
	s.lists = bytes.Clone(r.bytes())
	s.listAt = readNumbers[uint32](r, 4)
	s.written = readNumbers[language](r, 1)
	s.shapes = readNumbers[shape](r, 8)
	s.stems = make([]stemmed, r.count(8))
	for i := range s.stems {
		b := r.cut(8)
		if r.damaged {
			break
		}
		s.stems[i] = stemmed{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])}
	}
	return s
}
