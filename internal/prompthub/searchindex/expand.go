package searchindex

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"prompthub/internal/prompthub/prompt"
)

// What a word gives in another form, in parts of a hundred of what it gives as it was typed.
const (
	asTyped  = 100
	asForm   = 50 // another ending, other accents, joined or split
	asBegin  = 60 // the beginning of a word of a title
	asSlip   = 70 // one edit
	asSlips  = 40 // two edits
	ofStop   = 30 // a stop word
	maxSlips = 4  // known words in place of one
	minSplit = 5  // characters of a word that may be two

	// maxSlots is how many words a search has: pieces of runs count each.
	maxSlots = 40
)

// A slot is a word that a search wants, and the forms that are found in its place.
type slot struct {
	word   string
	term   int // the place of the typed term that it is of
	last   bool
	stop   bool
	quoted bool
	run    bool

	rarity int32 // of the word as typed, or where nothing has that of its other forms; 0: nothing has any
	forms  []form
	begins bool // it is found by the beginning of words of titles
}

// A form is a word that is found in place of another.
type form struct {
	word string
	next string   // follows it in a title, if the form is two words
	per  int      // of a hundred
	in   language // documents of other languages do not have the form
}

// slotsOf returns the words of a query.
func slotsOf(q Query) (slots []slot) {
	for i, w := range q.Words.Wanted() {
		run := prompt.IsRun(w.Term)
		words := prompt.AppendWords(nil, w.Term)
		if !run {
			words = words[:1]
		}
		for _, word := range words {
			if len(slots) == maxSlots {
				break
			}
			slots = append(slots, slot{word: word, term: i, stop: prompt.IsStopWord(word), quoted: w.Quoted, run: run})
		}
	}
	if n := len(slots); n > 0 {
		slots[n-1].last = true
	}
	return slots
}

// expand finds for each slot what is found in its place, and how rare it is.
func (s *Search) expand() {
	for i := range s.slots {
		x := &s.slots[i]
		n := s.count(x.word, inAny)
		if !x.quoted && !x.run {
			n = s.addForms(i, n)
		}
		if n > 0 {
			x.rarity = s.rarityOf(n, x.stop)
		}
	}
}

// addForms finds other forms of a slot that n prompts have as it was typed. It returns how many
// prompts have it, where none has it as typed in another form.
func (s *Search) addForms(i, n int) int {
	x := &s.slots[i]
	if !s.query.Verbatim {
		s.stemForms(i)
	}
	if n == 0 {
		for _, f := range x.forms {
			n = max(n, s.countForm(f))
		}
	}
	if utf8.RuneCountInString(x.word) > 1 && (s.query.InTitle || !s.query.Verbatim && (x.last || n == 0)) {
		begun := s.countBegun(i)
		if x.begins = begun > 0; n == 0 {
			n = begun
		}
	}
	if n == 0 && !x.stop && !s.query.Verbatim {
		return s.addSlips(x)
	}
	return n
}

// stemForms adds the words that share a stem with a slot, or with it and a neighbour, and what it
// is in two words.
func (s *Search) stemForms(i int) {
	x := &s.slots[i]
	found := map[form]language{}
	add := func(f form, l language) {
		if f.word != x.word || f.next != "" {
			found[f] |= l
		}
	}
	for _, l := range languagesOf(x.word) {
		if !x.stop {
			s.eachStem(l, l.stem(x.word), func(word string) { add(form{word: word, per: asForm}, l) })
			s.eachSplit(x.word, l, func(first, next string) { add(form{word: first, next: next, per: asForm}, l) })
		}
		for _, j := range [...]int{i - 1, i} {
			if j < 0 || j+1 == len(s.slots) || !s.joins(j) {
				continue
			}
			joined := s.slots[j].word + s.slots[j+1].word
			s.eachStem(l, l.stem(joined), func(word string) {
				if word != s.slots[j].word && word != s.slots[j+1].word {
					add(form{word: word, per: asForm}, l)
				}
			})
		}
	}
	var forms []form
	for f, in := range found {
		if f.in = in; cyrillic(f.word) {
			f.in = inAny
		}
		if s.anyHas(f) {
			forms = append(forms, f)
		}
	}
	slices.SortFunc(forms, func(a, b form) int {
		return cmp.Or(strings.Compare(a.word, b.word), strings.Compare(a.next, b.next))
	})
	x.forms = append(x.forms, forms...)
}

// joins reports whether a slot and the next one may be one word elsewhere.
func (s *Search) joins(i int) bool {
	a, b := s.slots[i], s.slots[i+1]
	return !a.run && !b.run && !a.quoted && !b.quoted && (!a.stop || !b.stop)
}

// languagesOf returns the languages that a word may be of, by its script.
func languagesOf(word string) []language {
	if cyrillic(word) {
		return []language{inRussian}
	}
	return latin[:]
}

func (s *Search) eachStem(l language, stem string, do func(word string)) {
	for _, t := range s.targets {
		t.withStem(l, stem, func(word int) { do(string(t.key(word))) })
	}
}

// eachSplit calls do with each two words that a word is, or of which the second is another form of
// its end.
func (s *Search) eachSplit(word string, l language, do func(first, next string)) {
	if utf8.RuneCountInString(word) < minSplit || !replaceable(word) {
		return
	}
	for i := range word {
		if i == 0 || !s.known(word[:i]) {
			continue
		}
		s.eachStem(l, l.stem(word[i:]), func(next string) { do(word[:i], next) })
	}
}

// known reports whether a document has a word, be it dead.
func (s *Search) known(word string) bool {
	return slices.ContainsFunc(s.targets, func(t target) bool { return t.word(word) >= 0 })
}

// addSlips adds the known words that differ least from a slot that nothing has: by one edit if it
// has four characters at least, by two if it has eight. An edit is a character more, less or
// another, or two neighbours that are swapped. Of several, words with the same first character come
// first, then those that most prompts have. It returns how many prompts have the one that most
// have.
func (s *Search) addSlips(x *slot) int {
	about := shapeOf(x.word)
	if about.length() < oneEdit {
		return 0
	}
	most := 1
	if about.length() >= twoEdits {
		most = 2
	}
	typed := []rune(folded(x.word))
	near := map[string]int{} // edits
	for _, t := range s.targets {
		for i, shape := range t.shapes {
			if shape == 0 || !about.mayBe(shape, most) {
				continue
			}
			word := string(t.key(i))
			if _, seen := near[word]; seen {
				continue
			}
			if n := edits(typed, []rune(folded(word)), most); n <= most && s.count(word, inAny) > 0 {
				near[word] = n
				most = n
			}
		}
	}
	type slip struct {
		word  string
		count int
	}
	var slips []slip
	for word, n := range near {
		if n == most {
			slips = append(slips, slip{word, s.count(word, inAny)})
		}
	}
	slices.SortFunc(slips, func(a, b slip) int {
		return cmp.Or(
			-cmp.Compare(sameBeginning(a.word, x.word), sameBeginning(b.word, x.word)),
			cmp.Compare(b.count, a.count),
			strings.Compare(a.word, b.word),
		)
	})
	per := asSlip
	if most == 2 {
		per = asSlips
	}
	n := 0
	for _, f := range slips[:min(len(slips), maxSlips)] {
		x.forms = append(x.forms, form{word: f.word, per: per, in: inAny})
		n = max(n, f.count)
	}
	return n
}

// sameBeginning returns 1 if two words begin with the same character, else 0.
func sameBeginning(a, b string) int {
	ra, _ := utf8.DecodeRuneInString(a)
	rb, _ := utf8.DecodeRuneInString(b)
	if ra == rb {
		return 1
	}
	return 0
}

// rarityOf returns how much it tells that a prompt has what n of them have, at least 1.
func (s *Search) rarityOf(n int, stop bool) int32 {
	n = min(n, s.prompts)
	rarity := int32(math.Round(1024 * math.Log(1+(float64(s.prompts-n)+0.5)/(float64(n)+0.5))))
	if stop {
		rarity = rarity * ofStop / 100
	}
	return max(rarity, 1)
}

// count returns how many living prompts, of some languages, have a word.
func (s *Search) count(word string, in language) (n int) {
	for _, t := range s.targets {
		if i := t.word(word); i >= 0 {
			n += t.living(i, in, s.query.InTitle)
		}
	}
	return n
}

// countForm returns how many living prompts have a form.
func (s *Search) countForm(f form) (n int) {
	if f.next == "" {
		return s.count(f.word, f.in)
	}
	for _, t := range s.targets {
		t.each(f, s.query.InTitle, func(uint32) bool {
			n++
			return true
		})
	}
	return n
}

// anyHas reports whether a living prompt has a form.
func (s *Search) anyHas(f form) (has bool) {
	for _, t := range s.targets {
		t.each(f, s.query.InTitle, func(uint32) bool {
			has = true
			return false
		})
	}
	return has
}

// countBegun returns how many words of living titles begin with a slot and are longer.
func (s *Search) countBegun(slot int) (n int) {
	for i := range s.targets {
		t := &s.targets[i]
		for _, b := range t.begunWith(slot, s.slots[slot].word) {
			if !t.isDead(b.doc) {
				n++
			}
		}
	}
	return n
}

// living returns how many living documents, of some languages, have a word.
func (p *part) living(word int, in language, inTitle bool) int {
	docs, title, text := p.listsOf(word)
	switch {
	case inTitle:
		return p.livingIn(title, in)
	case p.written[word]&^in != 0: // in others too
		n := 0
		for doc := range both(title, text) {
			if p.languages[doc]&in != 0 && !p.isDead(doc) {
				n++
			}
		}
		return n
	case p.dead == nil:
		return docs
	}
	titles, texts := title.reader(), text.reader()
	for doc := range p.eachDead() {
		if titles.at(doc) || texts.at(doc) {
			docs--
		}
	}
	return docs
}

// livingIn returns how many living documents, of some languages, are in a list.
func (p *part) livingIn(l list, in language) int {
	n := l.n
	switch {
	case in == inAny && p.dead == nil:
		return n
	case in == inAny && len(p.dead) < n: // else there is less to read in the list
		r := l.reader()
		for doc := range p.eachDead() {
			if r.at(doc) {
				n--
			}
		}
		return n
	}
	for r := l.reader(); r.next(); {
		if p.languages[r.doc]&in == 0 || p.isDead(r.doc) {
			n--
		}
	}
	return n
}

// A begun is a word of a title that begins with a slot.
type begun struct {
	doc, word, times uint32
}

// begunWith returns the words of titles that begin with a slot and are longer, by document and by
// word. Thousands may: they are put together once, and not asked one by one for each document.
func (t *target) begunWith(slot int, begin string) []begun {
	if all, known := t.begun[slot]; known {
		return all
	}
	var byWord []begun
	ends := make([]uint32, t.len()+1) // of each document, how many those before it have
	for i := t.from(begin); i < t.words() && bytes.HasPrefix(t.key(i), []byte(begin)); i++ {
		if len(t.key(i)) == len(begin) {
			continue
		}
		for r := t.titles(i).reader(); r.next(); {
			byWord = append(byWord, begun{r.doc, uint32(i), uint32(r.times)})
			ends[r.doc+1]++
		}
	}
	for i := 1; i < len(ends); i++ {
		ends[i] += ends[i-1]
	}
	byDoc := make([]begun, len(byWord))
	for _, b := range byWord {
		byDoc[ends[b.doc]] = b
		ends[b.doc]++
	}
	if t.begun == nil {
		t.begun = map[int][]begun{}
	}
	t.begun[slot] = byDoc
	return byDoc
}

// begunIn returns what a document has.
func begunIn(all []begun, doc uint32) []begun {
	from, _ := slices.BinarySearchFunc(all, doc, func(b begun, doc uint32) int { return cmp.Compare(b.doc, doc) })
	to := from
	for to < len(all) && all[to].doc == doc {
		to++
	}
	return all[from:to]
}

// titlesOf returns the titles that have a word.
func (p *part) titlesOf(word string) (titles list) {
	if i := p.word(word); i >= 0 {
		titles = p.titles(i)
	}
	return titles
}

// each calls do with the living documents that have a form, until it returns false.
func (p *part) each(f form, inTitle bool, do func(doc uint32) bool) {
	lets := func(doc uint32) bool { return p.languages[doc]&f.in == 0 || p.isDead(doc) || do(doc) }
	if f.next != "" {
		pairsOf(p.titlesOf(f.word), p.titlesOf(f.next), lets)
		return
	}
	i := p.word(f.word)
	if i < 0 {
		return
	}
	_, title, text := p.listsOf(i)
	if inTitle {
		text = list{}
	}
	for doc := range both(title, text) {
		if !lets(doc) {
			return
		}
	}
}

// pairsOf calls do with each document in which one word follows another, until it returns false.
func pairsOf(first, next list, do func(doc uint32) bool) {
	few, many := first.reader(), next.reader()
	if few.n > many.n {
		few, many = many, few
	}
	for few.next() {
		if many.at(few.doc) && len(pairPlaces(first, next, few.doc)) > 0 && !do(few.doc) {
			return
		}
	}
}

// pairPlaces returns where one word stands in a document and another follows it.
func pairPlaces(first, next list, doc uint32) (places []uint32) {
	after := next.places(nil, doc)
	for _, place := range first.places(nil, doc) {
		if _, ok := slices.BinarySearch(after, place+1); ok {
			places = append(places, place)
		}
	}
	return places
}
