package searchindex

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/oklog/ulid/v2"

	"prompthub/internal/prompthub/prompt"
)

// A Query says what a search wants.
type Query struct {
	Words    prompt.Query
	Tags     []prompt.Tag  // in addition to those of Words
	Author   prompt.UserID // whom Words.Author leads to; "" if there is none: it may be a name
	By       prompt.UserID // whose prompts are searched, "" for everybody's
	InTitle  bool          // words, and beginnings of words, are looked for in titles alone
	Verbatim bool          // words count as they were typed alone
	All      bool          // a prompt must have all words; else they are wanted, not demanded
	Newest   bool          // by age, and not by score; a prompt must have all words
	Loose    bool          // a prompt need not have a share of what the words ask for, as long as it has one
}

// A Hit is a prompt that a search found.
type Hit struct {
	ID       prompt.ID
	Author   prompt.UserID
	Revision int64
	Scope    int   // which of the indexes that were asked has it
	Score    int64 // the same on each instance for the same statistics
	// Found has for each of Search.Words what the prompt has of it: the word itself, another form of
	// it, two words with a space between them, or the one in place of a slip; "" if it has none.
	Found []string

	candidate
	near bool // it is one of those that nearness ranks
}

// A Search is a query to some indexes, as they are at the moment in which it is asked.
type Search struct {
	query   Query
	slots   []slot
	typed   []string
	targets []target

	prompts             int // living ones, of all indexes
	titlePlaces         float64
	textPlaces          float64 // of one prompt, on average
	all                 bool    // a hit must have all words
	living              uint64  // slots that a prompt has
	must, want, telling uint64  // slots that each hit needs, all but stop words, those that it needs one of
	asks                int32   // the rarities of all slots together
	shares              shares

	first   []candidate // ranked by nearness too
	edge    candidate   // the last of those by score alone
	ranked  bool        // first is made
	resumed *position
	rest    heap
	hits    int
	least   int32 // hits with lower scores are not in rest yet
}

// A target is a part of one of the indexes that are asked.
type target struct {
	*part
	scope   int
	found   [][]found       // of each slot
	begun   map[int][]begun // of slots, as far as it was asked for
	scores  []int32
	has     []uint64 // which slots each document has
	allowed []uint64 // a bit for each document that the filters let through, nil if they let all through
}

// A candidate is a document that a search may show.
type candidate struct {
	score  int64
	id     ulid.ULID
	target int
	doc    uint32
}

// before orders candidates: the one with the higher score first, of the same score the newest.
func (c candidate) before(d candidate) bool { return c.compare(d) < 0 }

func (c candidate) compare(d candidate) int {
	return cmp.Or(cmp.Compare(d.score, c.score), byAge(c.id, d.id))
}

// How much each part of a prompt counts (BM25F).
const (
	inTitle     = 3.0
	titleLength = 0.5 // how far a long title lowers the score of its words
	textLength  = 0.75
	saturation  = 1.2
	fraction    = 1 << 10 // of a rarity, so that scores are whole
	exactTitle  = 1 << 30
	nearest     = 50 // prompts that nearness ranks
)

const (
	shown  = 1 << 63 // the bit of what a document has that says that it is a hit
	atOnce = 1000    // hits that are ordered before others are looked at, unless there are fewer
	steps  = 1 << 12 // from the lowest score to the highest, to tell which hits come first
)

// share is what a hit must have of what a search asks for, by rarity, in parts of a hundred.
const share = 20

// Ask searches some indexes as if they were one.
func Ask(q Query, indexes ...*Index) *Search {
	s := newSearch(q, indexes)
	var titles, texts uint64
	for _, t := range s.targets {
		s.prompts += t.alive
		titles += t.titleSum
		texts += t.textSum
	}
	s.titlePlaces, s.textPlaces = average(titles, s.prompts), average(texts, s.prompts)
	s.expand()
	s.score()
	return s
}

// perPlace is how exact an average length is, so that a cursor has the same.
const perPlace = 16

func average(sum uint64, n int) float64 {
	return math.Max(math.Round(perPlace*float64(sum)/math.Max(float64(n), 1)), 1) / perPlace
}

func newSearch(q Query, indexes []*Index) *Search {
	s := &Search{query: q, slots: slotsOf(q)}
	for _, w := range q.Words.Wanted() {
		s.typed = append(s.typed, w.Term)
	}
	for scope, x := range indexes {
		for _, p := range x.now.Load().parts {
			s.targets = append(s.targets, target{part: p, scope: scope})
		}
	}
	return s
}

// Words returns the words, chains and runs that were searched for, as they were typed.
func (s *Search) Words() []string { return s.typed }

// score looks at every document that has a word of the query.
func (s *Search) score() {
	for i, x := range s.slots {
		bit := uint64(1) << i
		s.asks += x.rarity
		if x.quoted {
			s.must |= bit
		}
		if x.rarity > 0 { // else it is no word
			s.living |= bit
		}
		if !x.stop {
			s.want |= bit
		}
	}
	if s.telling = s.want; s.want == 0 { // stop words alone
		s.want = 1<<len(s.slots) - 1
		s.telling = s.want
	}
	if s.all = s.query.All || s.query.Newest; s.all {
		s.must |= s.want & s.living
	}
	s.shares = sharesOf(s.slots)
	most := int32(0)
	for i := range s.targets {
		t := &s.targets[i]
		t.allowed = s.filter(t.part)
		t.scores, t.has = make([]int32, t.len()), make([]uint64, t.len())
		s.scoreTarget(t)
		most = max(most, slices.Max(t.scores))
	}
	shift := max(bits.Len32(uint32(most))-bits.Len(steps-1), 0)
	var counts [steps]int // hits by the first bits of their scores
	for i := range s.targets {
		t := &s.targets[i]
		for doc, has := range t.has {
			switch {
			case has&s.telling == 0 && len(s.slots) > 0: // as most
				t.has[doc] = 0
			case !s.shows(t, uint32(doc)):
				t.has[doc] = 0
			default:
				t.has[doc] |= shown
				counts[t.scores[doc]>>shift]++
				s.hits++
			}
		}
		s.raiseTitles(t)
	}
	n := 0
	for i := steps - 1; i >= 0 && !s.query.Newest; i-- { // by age, all are ordered
		if n += counts[i]; n >= atOnce {
			s.least = int32(i) << shift
			break
		}
	}
	s.take(s.least, math.MaxInt32)
}

// take orders the hits whose scores are from the least up to the most.
func (s *Search) take(least, most int32) {
	for i, t := range s.targets {
		for doc, has := range t.has {
			if has&shown != 0 && least <= t.scores[doc] && t.scores[doc] <= most {
				s.rest = append(s.rest, s.candidate(i, uint32(doc)))
			}
		}
	}
	s.rest.order()
}

// shows reports whether a hit is one to show.
func (s *Search) shows(t *target, doc uint32) bool {
	has := t.has[doc]
	switch {
	case len(s.slots) > 0 && has&s.telling == 0, has&s.must != s.must, t.isDead(doc):
		return false
	case t.allowed != nil && t.allowed[doc/64]>>(doc%64)&1 == 0:
		return false
	}
	return s.all || s.query.Loose || int64(s.shares.sum(has))*100 >= int64(s.asks)*share
}

func (s *Search) candidate(at int, doc uint32) candidate {
	t := s.targets[at]
	c := candidate{id: t.ids[doc], target: at, doc: doc}
	if !s.query.Newest {
		c.score = int64(t.scores[doc])
	}
	return c
}

// raiseTitles brings the hits to the top whose titles have just the words of the query, in their
// order.
func (s *Search) raiseTitles(t *target) {
	if n := len(s.slots); n == 0 || n == maxSlots || s.query.Newest {
		return
	}
	titles := make([]list, len(s.slots))
	few := 0
	for i, x := range s.slots {
		if titles[i] = t.titlesOf(x.word); titles[i].n < titles[few].n {
			few = i
		}
	}
	var places []uint32
	for r := titles[few].reader(); r.next(); {
		if int(t.titleLens[r.doc]) != len(titles) || t.has[r.doc]&shown == 0 {
			continue
		}
		exact := true
		for i := 0; i < len(titles) && exact; i++ {
			places = titles[i].places(places[:0], r.doc)
			exact = slices.Contains(places, uint32(i))
		}
		if exact {
			t.scores[r.doc] += exactTitle
		}
	}
}

// Shares add up what some slots tell, quickly.
type shares [][256]int32

func sharesOf(slots []slot) shares {
	all := make(shares, (len(slots)+7)/8)
	for i := range all {
		x := &all[i]
		for set := 1; set < 256; set++ {
			x[set] = x[set&(set-1)]
			if at := 8*i + bits.TrailingZeros(uint(set)); at < len(slots) {
				x[set] += slots[at].rarity
			}
		}
	}
	return all
}

func (x shares) sum(has uint64) (n int32) {
	for i := range x {
		n += x[i][has>>(8*i)&255]
	}
	return n
}

// filter returns which documents the filters of a query let through, nil if they let all through.
func (s *Search) filter(p *part) []uint64 {
	q := s.query
	var keys []string
	for _, tags := range [...][]prompt.Tag{q.Tags, q.Words.Tags()} {
		for _, tag := range tags {
			keys = append(keys, markTag+string(tag))
		}
	}
	if q.By != "" {
		keys = append(keys, markAuthorID+string(q.By))
	}
	if q.Author != "" {
		keys = append(keys, markAuthorID+string(q.Author))
	} else if name := q.Words.Author(); name != "" {
		terms := prompt.Terms(name)
		for _, t := range terms {
			for _, w := range prompt.AppendWords(nil, t) {
				keys = append(keys, markAuthor+w)
			}
		}
		if len(terms) == 0 {
			return make([]uint64, (p.len()+63)/64)
		}
	}
	if name := q.Words.Name(); name != "" {
		keys = append(keys, markName+strings.ToLower(name))
	}
	var allowed []uint64
	for _, key := range keys {
		found := make([]uint64, (p.len()+63)/64)
		if i := p.word(key); i >= 0 {
			_, docs, _ := p.listsOf(i)
			for r := docs.reader(); r.next(); {
				found[r.doc/64] |= 1 << (r.doc % 64)
			}
		}
		for i := range allowed {
			found[i] &= allowed[i]
		}
		allowed = found
	}
	for _, without := range q.Words.Without() {
		if len(without) != 1 || prompt.IsRun(without[0]) {
			continue // the truth decides
		}
		if allowed == nil {
			allowed = slices.Repeat([]uint64{math.MaxUint64}, (p.len()+63)/64)
		}
		if i := p.word(prompt.AppendWords(nil, without[0])[0]); i >= 0 {
			_, title, text := p.listsOf(i)
			for doc := range both(title, text) {
				allowed[doc/64] &^= 1 << (doc % 64)
			}
		}
	}
	return allowed
}

// A found is a form of a slot that a target has.
type found struct {
	shown       string
	per         int
	in          language
	title, text list
	next        list    // of titles: the word in title counts only where this one follows it
	begun       []begun // in place of title: words of titles that begin with the slot
}

// findSlots finds the forms of each slot in a target, those first that are shown first.
func (s *Search) findSlots(t *target) {
	t.found = make([][]found, len(s.slots))
	for i, x := range s.slots {
		add := func(word string, per int, in language) {
			if at := t.word(word); at >= 0 {
				_, title, text := t.listsOf(at)
				if s.query.InTitle {
					text = list{}
				}
				t.found[i] = append(t.found[i], found{shown: word, per: per, in: in, title: title, text: text})
			}
		}
		add(x.word, asTyped, inAny)
		if x.begins {
			t.found[i] = append(t.found[i], found{per: asBegin, in: inAny, begun: t.begunWith(i, x.word)})
		}
		for _, f := range x.forms {
			if f.next == "" {
				add(f.word, f.per, f.in)
			} else if first, next := t.titlesOf(f.word), t.titlesOf(f.next); first.n > 0 && next.n > 0 {
				t.found[i] = append(t.found[i],
					found{shown: f.word + " " + f.next, per: f.per, in: f.in, title: first, next: next})
			}
		}
	}
}

// A walk is a found that is scored, document by document.
type walk struct {
	each          float64
	in            language
	titles, texts reader
	title, text   uint32 // the documents at which these are
}

// ended is the document of a reader that is at its end.
const ended = math.MaxUint32

func (r *reader) to() uint32 {
	if r.next() {
		return r.doc
	}
	return ended
}

func (t *target) walk(f found, rarity int32) walk {
	w := walk{
		each: float64(rarity) * fraction * float64(f.per) / 100, in: f.in,
		titles: f.title.reader(), texts: f.text.reader(),
	}
	if f.next.n > 0 { // where the pair stands is once for each title
		var pairs listWriter
		pairsOf(f.title, f.next, func(doc uint32) bool {
			pairs.add(doc, 1, nil)
			return true
		})
		w.titles = pairs.list().reader()
	}
	if f.begun != nil { // of some words, that which stands there most often counts
		var titles listWriter
		for i, b := range f.begun {
			if i > 0 && b.doc == f.begun[i-1].doc {
				continue
			}
			times := b.times
			for _, other := range f.begun[i+1:] {
				if other.doc != b.doc {
					break
				}
				times = max(times, other.times)
			}
			titles.add(b.doc, int(times), nil)
		}
		w.titles = titles.list().reader()
	}
	w.title, w.text = w.titles.to(), w.texts.to()
	return w
}

// window is how many documents are scored at once, so that the notes on them stay near the
// processor while all slots are looked at.
const window = 1 << 12

// A scorer adds up what slots give to the documents of a target.
type scorer struct {
	*target
	norms    *norms
	from, to uint32        // the window
	bit      uint64        // of the slot
	quick    bool          // the slot has one form, which documents of all languages may have
	most     [window]int32 // what each document has of the slot so far
}

// scoreTarget adds up what each slot gives to each document of a target.
func (s *Search) scoreTarget(t *target) {
	s.findSlots(t)
	walks := make([][]walk, len(s.slots))
	for i, x := range s.slots {
		for _, f := range t.found[i] {
			walks[i] = append(walks[i], t.walk(f, x.rarity))
		}
	}
	w := scorer{target: t, norms: t.normsFor(s.titlePlaces, s.textPlaces)}
	for w.to < uint32(t.len()) {
		w.from, w.to = w.to, min(w.to+window, uint32(t.len()))
		for i, all := range walks {
			w.bit, w.quick = 1<<i, len(all) == 1 && all[0].in == inAny
			for j := range all {
				w.add(&all[j])
			}
			if !w.quick {
				clear(w.most[:w.to-w.from])
			}
		}
	}
}

// add gives what a walk gives to the documents of the window. Most of a search is here: it reads as
// a reader does, and gives as give does, without a call for each document.
func (w *scorer) add(x *walk) {
	norms, scores, has, bit, each, quick := w.norms.text, w.scores, w.has, w.bit, x.each, w.quick
	b, off := x.texts.docs, x.texts.off
	doc, times := x.text, x.texts.times
	for doc < w.to {
		if x.title < doc {
			w.addTitles(x, doc)
		}
		n := float64(times) * float64(norms[doc])
		if x.title == doc {
			n += w.ofTitle(doc, x.titles.times)
			x.title = x.titles.to()
		}
		if quick {
			has[doc] |= bit
			scores[doc] += int32(each * n / (saturation + n))
		} else {
			w.give(x, doc, n)
		}
		if off == len(b) {
			doc = ended
			break
		}
		head := uint64(b[off])
		if off++; head >= 0x80 {
			more, size := binary.Uvarint(b[off-1:])
			head, off = more, off+size-1
		}
		doc += uint32(head >> 1)
		if times = 1; head&1 == 0 {
			more := uint64(b[off])
			if off++; more >= 0x80 {
				long, size := binary.Uvarint(b[off-1:])
				more, off = long, off+size-1
			}
			times = int(more) + 2
		}
	}
	x.text, x.texts.off, x.texts.times = doc, off, times
	w.addTitles(x, w.to)
}

// addTitles gives what documents have in their titles alone, up to one.
func (w *scorer) addTitles(x *walk, before uint32) {
	for x.title < before {
		w.give(x, x.title, w.ofTitle(x.title, x.titles.times))
		x.title = x.titles.to()
	}
}

// give gives a document of the window what it has of a slot, unless another form of this gave more.
func (w *scorer) give(x *walk, doc uint32, n float64) {
	if x.in != inAny && w.languages[doc]&x.in == 0 {
		return
	}
	w.has[doc] |= w.bit
	c := int32(x.each * n / (saturation + n))
	if w.quick {
		w.scores[doc] += c
		return
	}
	if most := &w.most[doc-w.from]; c > *most {
		w.scores[doc] += c - *most
		*most = c
	}
}

// ofTitle returns what a word counts that stands that many times in a title.
func (w *scorer) ofTitle(doc uint32, times int) float64 {
	// rounded before it is added, on all processors
	return float64(inTitle * float64(times) * float64(w.norms.title[doc]))
}

// Norms are what a word counts in each document of a segment, by how long this is.
type norms struct {
	titlePlaces, textPlaces float64
	title, text             []float32
}

// normsFor returns the norms for averages, and keeps them: these change seldom.
func (s *segment) normsFor(titlePlaces, textPlaces float64) *norms {
	if n := s.norms.Load(); n != nil && n.titlePlaces == titlePlaces && n.textPlaces == textPlaces {
		return n
	}
	n := &norms{titlePlaces, textPlaces, make([]float32, s.len()), make([]float32, s.len())}
	for i := range s.len() {
		n.title[i] = normOf(titleLength, s.titleLens[i], titlePlaces)
		n.text[i] = normOf(textLength, s.textLens[i], textPlaces)
	}
	s.norms.Store(n)
	return n
}

func normOf(b float64, places uint32, average float64) float32 {
	return float32(1 / (1 - b + float64(b*float64(places)/average)))
}
