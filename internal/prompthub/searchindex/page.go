package searchindex

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/oklog/ulid/v2"

	"prompthub/internal/prompthub/prompt"
)

// ErrPosition is the answer for a position that no search gave.
var ErrPosition = errors.New("not a position in a search")

// A heap gives candidates in their order, as far as they are asked for.
type heap []candidate

func (h heap) order() {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
}

func (h heap) down(i int) {
	for {
		first := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h); child++ {
			if h[child].before(h[first]) {
				first = child
			}
		}
		if first == i {
			return
		}
		h[i], h[first] = h[first], h[i]
		i = first
	}
}

func (h *heap) pop() candidate {
	c := (*h)[0]
	last := len(*h) - 1
	(*h)[0] = (*h)[last]
	*h = (*h)[:last]
	h.down(0)
	return c
}

// Next returns the next hits, n of them unless there are fewer.
func (s *Search) Next(n int) []Hit {
	s.rank()
	var hits []Hit
	for len(hits) < n && len(s.first) > 0 {
		hits = append(hits, s.hit(s.first[0], true))
		s.first = s.first[1:]
	}
	for len(hits) < n && s.more() {
		c := s.rest.pop()
		if s.resumed != nil && !s.resumed.near && !s.resumed.last.before(c) {
			continue
		}
		hits = append(hits, s.hit(c, false))
	}
	return hits
}

// more reports whether a hit is left.
func (s *Search) more() bool {
	if len(s.rest) == 0 && s.least > 0 {
		below := s.least - 1
		s.least = 0
		s.take(0, below)
	}
	return len(s.rest) > 0
}

// rank takes the first prompts by score alone, and orders them by nearness too.
func (s *Search) rank() {
	if s.ranked || s.query.Newest {
		return
	}
	s.ranked = true
	if s.resumed != nil && !s.resumed.near {
		return
	}
	for s.more() {
		if s.resumed == nil && len(s.first) == nearest ||
			s.resumed != nil && (s.resumed.edge.before(s.rest[0]) || len(s.first) == mostNear) {
			break
		}
		s.edge = s.rest.pop()
		c := s.edge
		c.score += s.nearness(c)
		s.first = append(s.first, c)
	}
	slices.SortFunc(s.first, candidate.compare)
	if s.resumed != nil {
		s.edge = s.resumed.edge
		i, found := slices.BinarySearchFunc(s.first, s.resumed.last, candidate.compare)
		if found {
			i++
		}
		s.first = s.first[i:]
	}
}

// nearness returns what the places of neighbouring words tell: of each two the smaller rarity, by
// half, the less the farther they stand from each other.
func (s *Search) nearness(c candidate) (n int64) {
	t := s.targets[c.target]
	has := t.has[c.doc]
	if has&(has>>1) == 0 {
		return 0
	}
	var titles, texts [2][]uint32
	for i := range s.slots {
		titles[0], texts[0] = titles[1], texts[1]
		titles[1], texts[1] = nil, nil
		if has>>i&1 == 1 {
			titles[1], texts[1] = t.places(i, c.doc)
		}
		if i == 0 {
			continue
		}
		if apart := min(distance(titles[0], titles[1]), distance(texts[0], texts[1])); apart != far {
			n += int64(min(s.slots[i-1].rarity, s.slots[i].rarity)) * fraction / 2 / int64(apart)
		}
	}
	return n
}

// places returns where a document has what is found in place of a slot.
func (t *target) places(slot int, doc uint32) (titles, texts []uint32) {
	for _, f := range t.found[slot] {
		switch {
		case t.languages[doc]&f.in == 0:
		case f.next.n > 0:
			titles = append(titles, pairPlaces(f.title, f.next, doc)...)
		case f.begun != nil:
			for _, b := range begunIn(f.begun, doc) {
				titles = t.titles(int(b.word)).places(titles, doc)
			}
		default:
			titles, texts = f.title.places(titles, doc), f.text.places(texts, doc)
		}
	}
	slices.Sort(titles)
	slices.Sort(texts)
	return titles, texts
}

// mostNear is how many prompts are ranked by nearness where new ones came between the first.
const mostNear = 10 * nearest

const far = 1 << 30

// distance returns how far the two nearest of sorted places are from each other.
func distance(a, b []uint32) int {
	least := far
	for len(a) > 0 && len(b) > 0 {
		apart := int(a[0]) - int(b[0])
		if apart < 0 {
			apart = -apart
			a = a[1:]
		} else {
			b = b[1:]
		}
		least = min(least, max(apart, 1))
	}
	return least
}

func (s *Search) hit(c candidate, near bool) Hit {
	t := s.targets[c.target]
	h := Hit{
		ID: prompt.ID(c.id.String()), Author: t.authorIDs[t.authors[c.doc]], Revision: t.revisions[c.doc],
		Scope: t.scope, Score: c.score,
		Found: make([]string, len(s.typed)), candidate: c, near: near,
	}
	missing := make([]bool, len(s.typed))
	for i, x := range s.slots {
		switch {
		case t.has[c.doc]>>i&1 == 0:
			missing[x.term] = true
		case x.run:
			h.Found[x.term] = s.typed[x.term]
		default:
			h.Found[x.term] = t.foundAs(i, c.doc)
		}
	}
	for i, m := range missing {
		if m {
			h.Found[i] = ""
		}
	}
	return h
}

// foundAs returns what a document has in place of a slot, that which is shown first.
func (t *target) foundAs(slot int, doc uint32) string {
	for _, f := range t.found[slot] {
		titles, texts := f.title.reader(), f.text.reader()
		switch {
		case t.languages[doc]&f.in == 0:
		case f.next.n > 0:
			if titles.at(doc) && len(pairPlaces(f.title, f.next, doc)) > 0 {
				return f.shown
			}
		case f.begun != nil:
			if in := begunIn(f.begun, doc); len(in) > 0 {
				return string(t.key(int(in[0].word)))
			}
		case titles.at(doc), texts.at(doc):
			return f.shown
		}
	}
	return ""
}

// Len returns how many hits there are.
func (s *Search) Len() int { return s.hits }

// Find returns a prompt as a hit, if the search finds it: for orders that are not the search's.
func (s *Search) Find(id prompt.ID) (Hit, bool) {
	bytes, err := ulid.ParseStrict(string(id))
	if err != nil {
		return Hit{}, false
	}
	for i := range s.targets {
		t := &s.targets[i]
		if doc, ok := t.find(bytes); ok && t.has[doc]&shown != 0 {
			return s.hit(s.candidate(i, uint32(doc)), false), true
		}
	}
	return Hit{}, false
}

// A position is where a page of a search ended.
type position struct {
	titlePlaces, textPlaces float64
	slots                   []slot // rarities, and what stood in for words that nothing had
	near                    bool   // the last hit is one of those that nearness ranks
	edge, last              candidate
}

// After returns the position after a hit, for Resume: with the statistics by which it was ranked.
func (s *Search) After(h Hit) string {
	b := binary.AppendUvarint(nil, uint64(s.titlePlaces*perPlace))
	b = binary.AppendUvarint(b, uint64(s.textPlaces*perPlace))
	b = binary.AppendUvarint(b, uint64(len(s.slots)))
	for _, x := range s.slots {
		b = binary.AppendUvarint(b, uint64(x.rarity)<<1|bit(x.begins))
		slips := slices.DeleteFunc(slices.Clone(x.forms), func(f form) bool { return !f.slip() })
		b = binary.AppendUvarint(b, uint64(len(slips)))
		for _, f := range slips {
			b = binary.AppendUvarint(b, uint64(f.per))
			b = binary.AppendUvarint(b, uint64(len(f.word)))
			b = append(b, f.word...)
		}
	}
	b = binary.AppendUvarint(b, bit(h.near))
	if h.near {
		b = s.edge.append(b)
	}
	return string(h.candidate.append(b))
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// Replaced reports whether known words are looked for in place of one of Words, as nothing has that
// in any form.
func (s *Search) Replaced(i int) bool {
	return slices.ContainsFunc(s.slots, func(x slot) bool {
		return x.term == i && slices.ContainsFunc(x.forms, form.slip)
	})
}

func (f form) slip() bool { return f.per == asSlip || f.per == asSlips }

func (c candidate) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(c.score))
	return append(b, c.id[:]...)
}

// Resume goes on after a position that After gave for the same query. A prompt that did not change
// since keeps its place.
func Resume(q Query, after string, indexes ...*Index) (*Search, error) {
	s := newSearch(q, indexes)
	p, ok := parsePosition(after, len(s.slots))
	if !ok {
		return nil, ErrPosition
	}
	s.titlePlaces, s.textPlaces, s.resumed = p.titlePlaces, p.textPlaces, &p
	for i, known := range p.slots {
		x := &s.slots[i]
		x.rarity, x.begins, x.forms = known.rarity, known.begins, known.forms
		if !q.Verbatim && !x.quoted && !x.run {
			s.stemForms(i)
		}
	}
	s.score()
	return s, nil
}

const (
	maxLength = 1 << 24 // of an average text, in places
	maxRarity = 1 << 15
)

// parsePosition reads what After wrote, and refuses all else.
func parsePosition(text string, slots int) (p position, ok bool) {
	r := positionReader{strings.NewReader(text), true}
	p.titlePlaces = float64(r.number(1, maxLength*perPlace)) / perPlace
	p.textPlaces = float64(r.number(1, maxLength*perPlace)) / perPlace
	if r.number(uint64(slots), uint64(slots)); !r.ok {
		return p, false
	}
	for range slots {
		var x slot
		n := r.number(0, 2*maxRarity)
		x.rarity, x.begins = int32(n>>1), n&1 == 1
		for range r.number(0, maxSlips) {
			per := int(r.number(asSlips, asSlip))
			f := form{per: per, word: r.text(int(r.number(1, longestKey))), in: inAny}
			r.ok = r.ok && f.slip()
			x.forms = append(x.forms, f)
		}
		p.slots = append(p.slots, x)
	}
	if p.near = r.number(0, 1) == 1; p.near {
		p.edge = r.candidate()
	}
	p.last = r.candidate()
	return p, r.ok && r.Len() == 0
}

type positionReader struct {
	*strings.Reader
	ok bool
}

// number reads one from least to most.
func (r *positionReader) number(least, most uint64) uint64 {
	n, err := binary.ReadUvarint(r)
	if r.ok = r.ok && err == nil && least <= n && n <= most; !r.ok {
		return least
	}
	return n
}

func (r *positionReader) text(n int) string {
	b := make([]byte, n)
	_, err := io.ReadFull(r, b)
	r.ok = r.ok && err == nil
	return string(b)
}

func (r *positionReader) candidate() (c candidate) {
	c.score = int64(r.number(0, 1<<40))
	copy(c.id[:], r.text(len(c.id)))
	return c
}
