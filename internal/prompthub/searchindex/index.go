package searchindex

import (
	"iter"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/oklog/ulid/v2"

	"prompthub/internal/prompthub/prompt"
)

// An Index has the prompts of one scope. It may be used by several goroutines at once.
type Index struct {
	now atomic.Pointer[view]

	mu      sync.Mutex // held by each change of the index, but not while segments are merged
	removed map[ulid.ULID]int64
	merging bool
	merged  *sync.Cond // a merge has ended
}

// A view is an index at one moment. It does not change.
type view struct {
	parts     []*part
	tombstone int // prompts whose removal is remembered
}

// A part is a segment and which of its documents are still alive. It does not change.
type part struct {
	*segment
	dead     []uint64 // a bit for each document, nil if all are alive
	alive    int
	titleSum uint64 // places in the titles of the living, together
	textSum  uint64
}

func newPart(s *segment) *part {
	p := &part{segment: s, alive: s.len()}
	for i := range s.len() {
		p.titleSum += uint64(s.titleLens[i])
		p.textSum += uint64(s.textLens[i])
	}
	return p
}

func (p *part) isDead(doc uint32) bool { return p.dead != nil && p.dead[doc/64]>>(doc%64)&1 == 1 }

// eachDead yields the dead documents in their order.
func (p *part) eachDead() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for i, word := range p.dead {
			for ; word != 0; word &= word - 1 {
				if !yield(uint32(64*i + bits.TrailingZeros64(word))) {
					return
				}
			}
		}
	}
}

// without returns the part with other documents dead too.
func (p *part) without(docs ...int) *part {
	q := *p
	if q.dead == nil {
		q.dead = make([]uint64, (p.len()+63)/64)
	} else {
		q.dead = slices.Clone(q.dead)
	}
	for _, d := range docs {
		if q.isDead(uint32(d)) {
			continue
		}
		q.dead[d/64] |= 1 << (d % 64)
		q.alive--
		q.titleSum -= uint64(p.titleLens[d])
		q.textSum -= uint64(p.textLens[d])
	}
	return &q
}

// New returns an index without prompts.
func New() *Index {
	x := &Index{removed: map[ulid.ULID]int64{}}
	x.merged = sync.NewCond(&x.mu)
	x.now.Store(&view{})
	return x
}

// A decoded doc is one with its id in bytes.
type decoded struct {
	Doc
	id ulid.ULID
}

// Add adds prompts, and replaces those that it has of a lower or the same Revision. A prompt whose
// id is none is passed over. Many prompts are added quickest together.
func (x *Index) Add(docs ...Doc) {
	latest := make(map[ulid.ULID]int, len(docs))
	all := make([]decoded, 0, len(docs))
	for _, d := range docs {
		id, err := ulid.ParseStrict(string(d.ID))
		if err != nil {
			continue
		}
		if i, ok := latest[id]; !ok {
			latest[id] = len(all)
			all = append(all, decoded{d, id})
		} else if d.Revision >= all[i].Revision {
			all[i].Doc = d
		}
	}
	made := newSegment(all) // before others are kept waiting
	x.mu.Lock()
	defer x.mu.Unlock()
	for x.merging && len(x.now.Load().parts) >= mostParts {
		x.merged.Wait()
	}
	added := newPart(made)
	parts := slices.Clone(x.now.Load().parts)
	gone := make([][]int, len(parts))
	var late []int // of those added
	for i, id := range made.ids {
		revision := made.revisions[i]
		if removed, ok := x.removed[id]; ok {
			if removed >= revision {
				late = append(late, i)
				continue
			}
			delete(x.removed, id)
		}
		if at, doc, ok := find(parts, id); ok {
			if parts[at].revisions[doc] > revision {
				late = append(late, i)
			} else {
				gone[at] = append(gone[at], doc)
			}
		}
	}
	for i, docs := range gone {
		if len(docs) > 0 {
			parts[i] = parts[i].without(docs...)
		}
	}
	if len(late) > 0 {
		added = added.without(late...)
	}
	if added.alive > 0 {
		parts = append(parts, added)
	}
	x.store(parts)
}

// find returns the part that has a living prompt, and its place there.
func find(parts []*part, id ulid.ULID) (at, doc int, ok bool) {
	for i, p := range parts {
		if doc, ok := p.find(id); ok && !p.isDead(uint32(doc)) {
			return i, doc, true
		}
	}
	return 0, 0, false
}

// Remove takes a prompt away, unless it has a higher Revision. That Revision of it, and lower ones,
// stay away if they come later.
func (x *Index) Remove(id prompt.ID, revision int64) {
	bytes, err := ulid.ParseStrict(string(id))
	if err != nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	parts := x.now.Load().parts
	at, doc, ok := find(parts, bytes)
	if ok && parts[at].revisions[doc] > revision {
		return
	}
	x.removed[bytes] = max(revision, x.removed[bytes])
	if ok {
		parts = slices.Clone(parts)
		parts[at] = parts[at].without(doc)
	}
	x.store(parts)
}

// store shows parts to searches, and has them merged if that is due. The lock is held.
func (x *Index) store(parts []*part) {
	parts = slices.DeleteFunc(parts, func(p *part) bool { return p.alive == 0 })
	x.now.Store(&view{parts, len(x.removed)})
	if due := dueParts(parts); len(due) > 0 && !x.merging {
		x.merging = true
		go x.mergeDue(due)
	}
}

// Has returns the Revision of a prompt that the index has.
func (x *Index) Has(id prompt.ID) (revision int64, ok bool) {
	bytes, err := ulid.ParseStrict(string(id))
	if err != nil {
		return 0, false
	}
	parts := x.now.Load().parts
	at, doc, ok := find(parts, bytes)
	if !ok {
		return 0, false
	}
	return parts[at].revisions[doc], true
}

// Len returns how many prompts there are.
func (x *Index) Len() (n int) {
	for _, p := range x.now.Load().parts {
		n += p.alive
	}
	return n
}

// Bytes returns how much memory the index takes. Parts that are being merged take as much again for
// a while.
func (x *Index) Bytes() int64 {
	const ofTombstone = 64
	v := x.now.Load()
	n := int64(v.tombstone) * ofTombstone
	for _, p := range v.parts {
		n += p.memory() + int64(8*len(p.dead))
	}
	return n
}
