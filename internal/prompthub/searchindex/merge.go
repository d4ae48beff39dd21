package searchindex

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"

	"prompthub/internal/prompthub/prompt"
)

// Parts of about the same size are merged as soon as there are tier of them, so that few remain and
// each document is written a few times alone. A part of which a quarter is dead is made anew.
const (
	tier      = 8
	mostParts = 64 // from here on who adds waits for a merge
	deadShare = 4
)

// sizeOf returns which of the sizes a part has: each is tier times the one before.
func sizeOf(p *part) int { return bits.Len(uint(p.alive)) / bits.Len(tier-1) }

// dueParts returns the parts that must be merged next, none if nothing is due.
func dueParts(parts []*part) []*part {
	bySize := map[int][]*part{}
	var due []*part
	for _, p := range parts {
		size := sizeOf(p)
		bySize[size] = append(bySize[size], p)
		if len(bySize[size]) == tier && (due == nil || size < sizeOf(due[0])) {
			due = bySize[size]
		}
	}
	if due != nil {
		return due
	}
	for _, p := range parts {
		if p.len()-p.alive > p.len()/deadShare {
			return []*part{p}
		}
	}
	return nil
}

// mergeDue merges parts until nothing is due.
func (x *Index) mergeDue(due []*part) {
	for len(due) > 0 {
		made, places := merge(due)
		x.mu.Lock()
		x.replace(due, made, places)
		due = dueParts(x.now.Load().parts)
		x.merging = len(due) > 0
		x.merged.Broadcast()
		x.mu.Unlock()
	}
}

// replace puts the segment that was made of parts in their place. A prompt that died meanwhile in a
// part is dead in the segment too. The lock is held.
func (x *Index) replace(olds []*part, made *segment, places [][]uint32) {
	now := x.now.Load()
	var dead []int
	parts := slices.DeleteFunc(slices.Clone(now.parts), func(p *part) bool {
		return slices.ContainsFunc(olds, func(old *part) bool { return old.segment == p.segment })
	})
	for i, old := range olds {
		at := slices.IndexFunc(now.parts, func(p *part) bool { return p.segment == old.segment })
		for doc, place := range places[i] {
			if place != nowhere && (at < 0 || now.parts[at].isDead(uint32(doc))) {
				dead = append(dead, int(place))
			}
		}
	}
	p := newPart(made)
	if len(dead) > 0 {
		p = p.without(dead...)
	}
	if p.alive > 0 {
		parts = append(parts, p)
	}
	x.now.Store(&view{parts, len(x.removed)})
}

// Flush merges all that there is into one segment, in which nothing is left of prompts that are
// gone.
func (x *Index) Flush() {
	x.mu.Lock()
	for x.merging {
		x.merged.Wait()
	}
	all := x.now.Load().parts
	if len(all) == 0 || len(all) == 1 && all[0].dead == nil {
		x.mu.Unlock()
		return
	}
	x.merging = true
	x.mu.Unlock()
	x.mergeDue(all)
}

// nowhere is the place of a document that is dead.
const nowhere = ^uint32(0)

// merge makes a segment of the living documents of parts, and returns the place of each document of
// each part in it.
func merge(parts []*part) (s *segment, places [][]uint32) {
	type source struct{ part, doc int }
	var docs []source
	for i, p := range parts {
		for doc := range p.len() {
			if !p.isDead(uint32(doc)) {
				docs = append(docs, source{i, doc})
			}
		}
		places = append(places, slices.Repeat([]uint32{nowhere}, p.len()))
	}
	slices.SortFunc(docs, func(a, b source) int { return byAge(parts[a.part].ids[a.doc], parts[b.part].ids[b.doc]) })
	s = &segment{}
	authors := map[prompt.UserID]uint32{}
	for to, from := range docs {
		p := parts[from.part]
		places[from.part][from.doc] = uint32(to)
		s.ids = append(s.ids, p.ids[from.doc])
		s.revisions = append(s.revisions, p.revisions[from.doc])
		s.titleLens = append(s.titleLens, p.titleLens[from.doc])
		s.textLens = append(s.textLens, p.textLens[from.doc])
		s.languages = append(s.languages, p.languages[from.doc])
		s.addAuthor(authors, p.authorIDs[p.authors[from.doc]])
	}
	mergeWords(s, parts, places)
	s.clip()
	s.stemTable() // here, and not in the next search
	return s, places
}

// mergeWords merges the words of parts, which are sorted in each of them.
func mergeWords(s *segment, parts []*part, places [][]uint32) {
	next := make([]int, len(parts)) // the word of each that is not merged yet
	var titles, texts merger
	for {
		var least []byte
		for i, p := range parts {
			if next[i] < p.words() {
				if key := p.key(next[i]); least == nil || bytes.Compare(key, least) < 0 {
					least = key
				}
			}
		}
		if least == nil {
			return
		}
		var written language
		for i, p := range parts {
			if next[i] == p.words() || !bytes.Equal(p.key(next[i]), least) {
				continue
			}
			_, title, text := p.listsOf(next[i])
			titles.take(title, places[i])
			texts.take(text, places[i])
			written |= p.written[next[i]]
			next[i]++
		}
		if n := len(titles.all) + len(texts.all); n == 0 {
			continue // all documents that had it are dead
		}
		titles.sort()
		texts.sort()
		docs := unionOf(titles.all, texts.all)
		titles.write()
		texts.write()
		s.addKey(string(least), written, docs, &titles.listWriter, &texts.listWriter)
	}
}

// A moved document of a list has another place, and how often and where it has the word.
type moved struct {
	doc   uint32
	times int
	pos   []byte
}

// A merger makes one list of several.
type merger struct {
	listWriter
	all []moved
}

// take adds the documents of a list that have a place.
func (m *merger) take(l list, places []uint32) {
	r, pos := l.reader(), l.pos
	for r.next() {
		size := 0
		for range r.times {
			for pos[size] >= 0x80 {
				size++
			}
			size++
		}
		if place := places[r.doc]; place != nowhere {
			m.all = append(m.all, moved{place, r.times, pos[:size]})
		}
		pos = pos[size:]
	}
}

func (m *merger) sort() {
	byDoc := func(a, b moved) int { return cmp.Compare(a.doc, b.doc) }
	if !slices.IsSortedFunc(m.all, byDoc) {
		slices.SortFunc(m.all, byDoc)
	}
}

// write writes the list, and makes room for the next.
func (m *merger) write() {
	for _, d := range m.all {
		m.add(d.doc, d.times, d.pos)
	}
	m.all = m.all[:0]
}

// unionOf counts the documents of two sorted lists.
func unionOf(a, b []moved) (n int) {
	for ; len(a) > 0 || len(b) > 0; n++ {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].doc < b[0].doc:
			a = a[1:]
		case len(a) == 0 || b[0].doc < a[0].doc:
			b = b[1:]
		default:
			a, b = a[1:], b[1:]
		}
	}
	return n
}
