package searchindex

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// sound reports whether a segment that was read from a snapshot is one that searches and merges can
// walk. They look at no length twice, so all of them are looked at here, once. Whether it says the
// truth of the prompts is another question: the sum of the snapshot answers it.
func (s *segment) sound() bool {
	n := s.len()
	for _, of := range [...]int{len(s.revisions), len(s.titleLens), len(s.textLens), len(s.languages), len(s.authors)} {
		if of != n {
			return false
		}
	}
	for _, of := range [...]int{len(s.listAt), len(s.written), len(s.shapes)} {
		if of != s.words() {
			return false
		}
	}
	for i := range n {
		switch {
		case i > 0 && byAge(s.ids[i-1], s.ids[i]) >= 0:
			return false
		case s.titleLens[i] > maxLength || s.textLens[i] > maxLength, s.languages[i]&^inAny != 0:
			return false
		case s.authors[i] >= uint32(len(s.authorIDs)):
			return false
		}
	}
	return len(s.keys) <= math.MaxUint32 && len(s.lists) <= math.MaxUint32 && s.soundKeys() &&
		s.soundLists() && s.soundStems()
}

func (s *segment) soundKeys() bool {
	end := uint32(0)
	for i, next := range s.keyEnds {
		if next < end || int(next) > len(s.keys) || s.written[i]&^inAny != 0 {
			return false
		}
		key := s.keys[end:next]
		if end = next; i > 0 && bytes.Compare(s.key(i-1), key) >= 0 || isWord(string(key)) && len(key) > longestKey {
			return false
		}
	}
	return int(end) == len(s.keys)
}

func (s *segment) soundStems() bool {
	return !slices.ContainsFunc(s.stems, func(x stemmed) bool { return x.word >= uint32(s.words()) }) &&
		slices.IsSortedFunc(s.stems, func(a, b stemmed) int { return cmp.Compare(a.hash, b.hash) })
}

// soundLists walks the lists of all words, which stand one after the other.
func (s *segment) soundLists() bool {
	c := cutter{b: s.lists}
	for _, at := range s.listAt {
		if int(at) != len(s.lists)-len(c.b) {
			return false
		}
		docs := c.number()
		title, text := c.list(s.len()), c.list(s.len())
		if c.damaged || docs == 0 || docs != unionOfLists(title, text) {
			return false
		}
	}
	return len(c.b) == 0
}

func unionOfLists(a, b list) (n uint64) {
	if a.n == 0 || b.n == 0 {
		return uint64(a.n + b.n)
	}
	for range both(a, b) {
		n++
	}
	return n
}

// A cutter reads lists of which it believes nothing.
type cutter struct {
	b       []byte
	damaged bool
}

func (c *cutter) number() uint64 {
	if len(c.b) > 0 && c.b[0] < 0x80 { // as most are
		n := c.b[0]
		c.b = c.b[1:]
		return uint64(n)
	}
	n, size := binary.Uvarint(c.b)
	if c.damaged = c.damaged || size <= 0; c.damaged {
		return 0
	}
	c.b = c.b[size:]
	return n
}

func (c *cutter) cut(n uint64) []byte {
	if c.damaged = c.damaged || n > uint64(len(c.b)); c.damaged {
		return nil
	}
	b := c.b[:n:n]
	c.b = c.b[n:]
	return b
}

// list reads a list of some of that many documents.
func (c *cutter) list(all int) (l list) {
	n := c.number()
	if n == 0 || n > uint64(all) {
		c.damaged = c.damaged || n > 0
		return list{}
	}
	docs, pos := c.number(), c.number()
	l = list{n: int(n), skips: c.cut((n - 1) / blockSize * skipSize)}
	l.docs, l.pos = c.cut(docs), c.cut(pos)
	c.damaged = c.damaged || !l.sound(all)
	return l
}

// sound reports whether a list has as many documents and places as it says, each document after the
// one before, and whether its skips lead where its blocks begin.
func (l list) sound(docs int) bool {
	c, pos := cutter{b: l.docs}, cutter{b: l.pos}
	doc, places := uint64(0), uint64(0)
	for i := range l.n {
		if i > 0 && i%blockSize == 0 {
			pos.pass(places)
			places = 0
			skip := l.skips[(i/blockSize-1)*skipSize:]
			if uint64(binary.LittleEndian.Uint32(skip)) != doc ||
				int(binary.LittleEndian.Uint32(skip[4:])) != len(l.docs)-len(c.b) ||
				int(binary.LittleEndian.Uint32(skip[8:])) != len(l.pos)-len(pos.b) {
				return false
			}
		}
		head, times := c.number(), uint64(1)
		if head&1 == 0 {
			times = c.number() + 2
		}
		gap := head >> 1
		if doc += gap; c.damaged || pos.damaged || gap == 0 && i > 0 || gap >= uint64(docs) || doc >= uint64(docs) {
			return false
		}
		if places += times; times < 1 || times > uint64(len(l.pos)) {
			return false
		}
	}
	pos.pass(places)
	return !pos.damaged && len(c.b) == 0 && len(pos.b) == 0
}

// pass goes past n numbers, none of which is too long for a reader.
func (c *cutter) pass(n uint64) {
	const (
		follows = 0x8080808080808080 // the bits of bytes that are not the last of a number
		// bytes in a row that are not the last: three before a word and three in it are fewer than
		// ten
		most = 4
	)
	b, off, row := c.b, 0, 0
	for n >= 8 && len(b)-off >= 8 { // eight bytes end eight numbers at most
		f := binary.LittleEndian.Uint64(b[off:]) & follows
		if f&(f>>8)&(f>>16)&(f>>24) != 0 {
			c.damaged = true
			return
		}
		n -= 8 - uint64(bits.OnesCount64(f))
		off += 8
	}
	for ; n > 0; off++ {
		if off == len(b) || row == most {
			c.damaged = true
			return
		}
		if row++; b[off] < 0x80 {
			n, row = n-1, 0
		}
	}
	c.b = b[off:]
}
