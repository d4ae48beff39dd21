package searchindex

import (
	"cmp"
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
	shown      = 1 << 63 // the bit of what a document has that says that it is a hit
	atOnce     = 1000    // hits that are ordered before others are looked at, unless there are fewer
	scoreShift = 20
	scoreBits  = 1 << (31 - scoreShift)
)

// share is what a hit must have of what a search asks for, by rarity, in parts of a hundred.
const share = 30

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
	s.shares.of(s.slots)
	var counts [scoreBits]int // hits by the length of their scores in bits, which are many at once
	for i := range s.targets {
		t := &s.targets[i]
		t.allowed = s.filter(t.part)
		t.scores, t.has = make([]int32, t.len()), make([]uint64, t.len())
		s.scoreTarget(t)
		for doc, has := range t.has {
			switch {
			case has&s.telling == 0 && len(s.slots) > 0: // as most
				t.has[doc] = 0
			case !s.shows(t, uint32(doc)):
				t.has[doc] = 0
			default:
				t.has[doc] |= shown
				counts[t.scores[doc]>>scoreShift]++
				s.hits++
			}
		}
	}
	n := 0
	for i := scoreBits - 1; i >= 0; i-- {
		if n += counts[i]; n >= atOnce {
			s.least = int32(i) << scoreShift
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
		if s.isTitle(t, doc) {
			c.score += exactTitle
		}
	}
	return c
}

// isTitle reports whether a title has just the words of the query, in their order.
func (s *Search) isTitle(t target, doc uint32) bool {
	if n := len(s.slots); n == 0 || n == maxSlots || int(t.titleLens[doc]) != n || t.has[doc] != 1<<n-1|shown {
		return false
	}
	for i, x := range s.slots {
		word := t.word(x.word)
		if word < 0 {
			return false
		}
		_, title, _ := t.listsOf(word)
		if !slices.Contains(title.places(nil, doc), uint32(i)) {
			return false
		}
	}
	return true
}

// Shares add up what some slots tell, quickly.
type shares [maxSlots / 8][256]int32

func (x *shares) of(slots []slot) {
	for i := range x {
		for set := 1; set < 256; set++ {
			low := bits.TrailingZeros(uint(set))
			if at := 8*i + low; at < len(slots) {
				x[i][set] = x[i][set&(set-1)] + slots[at].rarity
			} else {
				x[i][set] = x[i][set&(set-1)]
			}
		}
	}
}

func (x *shares) sum(has uint64) (n int32) {
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

// scoreTarget adds up what each slot gives to each document of a target.
func (s *Search) scoreTarget(t *target) {
	w := scorer{Search: s, target: t, norms: t.normsFor(s.titlePlaces, s.textPlaces)}
	for i := range s.slots {
		w.slot(i)
	}
}

// A scorer adds up what a slot gives to the documents of a target.
type scorer struct {
	*Search
	*target
	norms   *norms
	bit     uint64
	rarity  float64
	spare   []int32  // of zeros
	most    []int32  // what each document has of the slot so far, nil if there is one list
	touched []uint32 // documents of which most is not 0
}

func (w *scorer) slot(i int) {
	x := w.slots[i]
	w.bit, w.rarity = 1<<i, float64(x.rarity)*fraction
	if w.most = nil; len(x.forms) > 0 || x.begins {
		if w.spare == nil {
			w.spare = make([]int32, w.len())
		}
		w.most = w.spare
	}
	w.word(x.word, asTyped, inAny)
	for _, f := range x.forms {
		if f.next != "" {
			w.pair(f, func(doc uint32) { w.give(doc, w.ofTitle(doc, 1), w.rarity*float64(f.per)/100, f.in) })
		} else {
			w.word(f.word, f.per, f.in)
		}
	}
	if x.begins {
		w.begun(x.word, func(_ int, title list) { w.lists(title, list{}, asBegin, inAny) })
	}
	for _, doc := range w.touched {
		w.most[doc] = 0
	}
	w.touched = w.touched[:0]
}

// word gives what a word does to each document, of some languages, that has it.
func (w *scorer) word(word string, per int, in language) {
	i := w.part.word(word)
	if i < 0 {
		return
	}
	_, title, text := w.listsOf(i)
	if w.query.InTitle {
		text = list{}
	}
	w.lists(title, text, per, in)
}

// lists gives what the documents of two lists have, which are walked side by side.
func (w *scorer) lists(title, text list, per int, in language) {
	each := w.rarity * float64(per) / 100
	titles := title.reader()
	next := uint32(math.MaxUint32) // the document of titles
	if titles.next() {
		next = titles.doc
	}
	inTitles := func(before uint32) {
		for next < before {
			w.give(next, w.ofTitle(next, titles.times), each, in)
			if next = math.MaxUint32; titles.next() {
				next = titles.doc
			}
		}
	}
	quick := w.most == nil && in == inAny
	doc := uint32(0)
	for b := text.docs; len(b) > 0; { // as a reader does: most of a search is here
		head, size := uvarint(b)
		b = b[size:]
		doc += uint32(head >> 1)
		times := 1
		if head&1 == 0 {
			more, size := uvarint(b)
			b = b[size:]
			times = int(more) + 2
		}
		if next < doc {
			inTitles(doc)
		}
		n := float64(times) * float64(w.norms.text[doc])
		if next == doc {
			n += w.ofTitle(doc, titles.times)
			if next = math.MaxUint32; titles.next() {
				next = titles.doc
			}
		}
		if quick {
			w.has[doc] |= w.bit
			w.scores[doc] += int32(each * n / (saturation + n))
		} else {
			w.give(doc, n, each, in)
		}
	}
	inTitles(math.MaxUint32)
}

// ofTitle returns what a word counts that stands that many times in a title.
func (w *scorer) ofTitle(doc uint32, times int) float64 {
	return float64(inTitle * float64(times) * float64(w.norms.title[doc])) // rounded before it is added, on all processors
}

// give adds to the score of a document what it has of a slot, unless it has more of it already.
func (w *scorer) give(doc uint32, n, each float64, in language) {
	if in != inAny && w.languages[doc]&in == 0 {
		return
	}
	c := int32(each * n / (saturation + n))
	w.has[doc] |= w.bit
	switch {
	case w.most == nil:
		w.scores[doc] += c
	case c > w.most[doc]:
		if w.most[doc] == 0 {
			w.touched = append(w.touched, doc)
		}
		w.scores[doc] += c - w.most[doc]
		w.most[doc] = c
	}
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
