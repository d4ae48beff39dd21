package searchindex

import (
	"encoding/binary"
	"iter"
	"math/bits"
)

// A list says which documents of a segment have a word, in their order, how often, and where. It is
// bytes: of each document its distance to the one before and how often it has the word, and apart
// from that the distances between the places. Of every blockSize documents a skip says where they
// begin in both.
type list struct {
	n     int
	skips []byte
	docs  []byte
	pos   []byte
}

const (
	blockSize = 64
	skipSize  = 12 // the document before the block, and where it begins in docs and pos
)

// A listWriter makes a list.
type listWriter struct {
	n     int
	last  uint32
	skips []byte
	docs  []byte
	pos   []byte
}

// add appends a document that has the word that many times, at least once.
func (w *listWriter) add(doc uint32, times int, pos []byte) {
	if w.n > 0 && w.n%blockSize == 0 {
		w.skips = binary.LittleEndian.AppendUint32(w.skips, w.last)
		w.skips = binary.LittleEndian.AppendUint32(w.skips, uint32(len(w.docs)))
		w.skips = binary.LittleEndian.AppendUint32(w.skips, uint32(len(w.pos)))
	}
	head := uint64(doc-w.last) << 1
	if times == 1 {
		w.docs = binary.AppendUvarint(w.docs, head|1)
	} else {
		w.docs = binary.AppendUvarint(w.docs, head)
		w.docs = binary.AppendUvarint(w.docs, uint64(times-2))
	}
	w.pos = append(w.pos, pos...)
	w.last = doc
	w.n++
}

// reset makes the writer ready for the next list.
func (w *listWriter) reset() {
	*w = listWriter{skips: w.skips[:0], docs: w.docs[:0], pos: w.pos[:0]}
}

// list returns the list without places.
func (w *listWriter) list() list { return list{n: w.n, skips: w.skips, docs: w.docs} }

// append writes the list.
func (w *listWriter) append(to []byte) []byte {
	to = binary.AppendUvarint(to, uint64(w.n))
	if w.n == 0 {
		return to
	}
	to = binary.AppendUvarint(to, uint64(len(w.docs)))
	to = binary.AppendUvarint(to, uint64(len(w.pos)))
	to = append(to, w.skips...)
	to = append(to, w.docs...)
	return append(to, w.pos...)
}

// cutList reads a list that append wrote, and returns what follows it.
func cutList(b []byte) (l list, rest []byte) {
	n, size := binary.Uvarint(b)
	b = b[size:]
	if n == 0 {
		return list{}, b
	}
	docs, size := binary.Uvarint(b)
	b = b[size:]
	pos, size := binary.Uvarint(b)
	b = b[size:]
	skips := (int(n) - 1) / blockSize * skipSize
	l = list{n: int(n), skips: b[:skips:skips], docs: b[skips : skips+int(docs)]}
	b = b[skips+int(docs):]
	l.pos = b[:pos]
	return l, b[pos:]
}

// uvarint is binary.Uvarint for bytes that this package wrote, with the length of one inlined.
func uvarint(b []byte) (v uint64, size int) {
	if b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	return binary.Uvarint(b)
}

// A reader walks a list.
type reader struct {
	list
	off   int // bytes of docs that were read
	read  int // documents that were read
	doc   uint32
	times int
}

func (l list) reader() reader { return reader{list: l} }

// next goes to the next document, if there is one.
func (r *reader) next() bool {
	if r.read == r.n {
		return false
	}
	v, size := uvarint(r.docs[r.off:])
	r.off += size
	r.read++
	r.doc += uint32(v >> 1)
	if r.times = 1; v&1 == 0 {
		more, size := uvarint(r.docs[r.off:])
		r.off += size
		r.times = int(more) + 2
	}
	return true
}

// seek goes to the first document from one on, which is no earlier than where it is.
func (r *reader) seek(doc uint32) bool {
	if r.read > 0 && r.doc >= doc {
		return true
	}
	r.skip(doc)
	for r.next() {
		if r.doc >= doc {
			return true
		}
	}
	return false
}

// skip goes to the beginning of the last block that may have a document, if that lies ahead, and
// returns where its places begin.
func (r *reader) skip(doc uint32) (pos int) {
	low, high := r.read/blockSize, len(r.skips)/skipSize // blocks: the document is in one from low to high
	first := low
	for low < high {
		middle := int(uint(low+high+1) / 2)
		if binary.LittleEndian.Uint32(r.skips[(middle-1)*skipSize:]) < doc {
			low = middle
		} else {
			high = middle - 1
		}
	}
	if low == first {
		return 0
	}
	s := r.skips[(low-1)*skipSize:]
	r.doc, r.off, r.read = binary.LittleEndian.Uint32(s), int(binary.LittleEndian.Uint32(s[4:])), low*blockSize
	return int(binary.LittleEndian.Uint32(s[8:]))
}

// at reports whether a document, which is no earlier than the last one asked for, has the word.
func (r *reader) at(doc uint32) bool { return r.seek(doc) && r.doc == doc }

// both yields the documents of two lists, each once.
func both(a, b list) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		x, y := a.reader(), b.reader()
		more, also := x.next(), y.next()
		for more || also {
			doc := x.doc
			if !more || also && y.doc < doc {
				doc = y.doc
			}
			if !yield(doc) {
				return
			}
			if more && x.doc == doc {
				more = x.next()
			}
			if also && y.doc == doc {
				also = y.next()
			}
		}
	}
}

// places appends where a document has the word.
func (l list) places(to []uint32, doc uint32) []uint32 {
	r := l.reader()
	pos := l.pos[r.skip(doc):]
	before := 0 // places of documents before it, from the beginning of its block on
	for r.next() {
		if r.doc < doc {
			before += r.times
			continue
		}
		if r.doc > doc {
			return to
		}
		pos = pos[uvarints(pos, before):]
		at := uint32(0)
		for range r.times {
			gap, size := uvarint(pos)
			pos = pos[size:]
			at += uint32(gap)
			to = append(to, at)
		}
		return to
	}
	return to
}

// uvarints returns how many bytes n numbers take.
func uvarints(b []byte, n int) (size int) {
	const follows = 0x8080808080808080 // the bits of bytes that are not the last of a number
	for n >= 8 && len(b)-size >= 8 {   // eight bytes end eight numbers at most
		n -= bits.OnesCount64(^binary.LittleEndian.Uint64(b[size:]) & follows)
		size += 8
	}
	for ; n > 0; size++ {
		if b[size] < 0x80 {
			n--
		}
	}
	return size
}
