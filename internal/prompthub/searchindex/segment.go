package searchindex

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"math/bits"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"

	"prompthub/internal/prompthub/prompt"
)

// A segment is documents that never change, in the order of age, the newest first, and the words
// that they have.
type segment struct {
	ids       []ulid.ULID
	revisions []int64
	titleLens []uint32 // places in the title of each document
	textLens  []uint32
	languages []language
	authors   []uint32 // the place of each document's author among authorIDs
	authorIDs []prompt.UserID

	// The words, sorted. Those that begin with one of the marks of filters are no words, but say whose
	// a document is and what it is called.
	keys    []byte
	keyEnds []uint32
	lists   []byte   // of each word: how many documents have it, and its lists of titles and texts
	listAt  []uint32 // where these begin
	written []language
	shapes  []shape

	once  sync.Once
	stems []stemmed // made on demand, sorted
	norms atomic.Pointer[norms]
}

// Marks of filters: the first byte of their keys, which no word begins with.
const (
	markTag      = "\x01"
	markAuthor   = "\x02" // and a word of the author's name
	markAuthorID = "\x03" // and the author's id
	markName     = "\x04" // and the name or the slug
	firstOfWords = 0x05
	longestKey   = prompt.LongestWord * utf8.UTFMax
)

// A stemmed says which word has a stem of a language, by a hash of both.
type stemmed struct{ hash, word uint32 }

// byAge orders ids: the newest first, of one millisecond by id.
func byAge(a, b ulid.ULID) int {
	return cmp.Or(cmp.Compare(b.Time(), a.Time()), a.Compare(b))
}

func (s *segment) len() int { return len(s.ids) }

// find returns the place of a document.
func (s *segment) find(id ulid.ULID) (doc int, ok bool) {
	return slices.BinarySearchFunc(s.ids, id, byAge)
}

func (s *segment) words() int { return len(s.keyEnds) }

func (s *segment) key(word int) []byte {
	begin := uint32(0)
	if word > 0 {
		begin = s.keyEnds[word-1]
	}
	return s.keys[begin:s.keyEnds[word]]
}

// from returns the first word that is not before a key.
func (s *segment) from(key string) int {
	return sort.Search(s.words(), func(i int) bool { return string(s.key(i)) >= key })
}

// word returns the place of a word, -1 where no document has it.
func (s *segment) word(key string) int {
	if i := s.from(key); i < s.words() && string(s.key(i)) == key {
		return i
	}
	return -1
}

// listsOf returns how many documents have a word, and in which titles and texts.
func (s *segment) listsOf(word int) (docs int, title, text list) {
	b := s.lists[s.listAt[word]:]
	n, size := binary.Uvarint(b)
	title, b = cutList(b[size:])
	text, _ = cutList(b)
	return int(n), title, text
}

// titles returns the titles that have a word.
func (s *segment) titles(word int) list {
	b := s.lists[s.listAt[word]:]
	_, size := binary.Uvarint(b)
	title, _ := cutList(b[size:])
	return title
}

// memory returns how many bytes a segment takes.
func (s *segment) memory() int64 {
	n := 256 + len(s.ids)*(16+8+4+4+1+4+2*4) + len(s.keys) + len(s.lists) + s.words()*(4+4+1+8) + s.stemCount()*8
	for _, a := range s.authorIDs {
		n += 16 + len(a)
	}
	return int64(n)
}

// A place of a word in a document, while a segment is made.
type occurrence struct{ word, doc, pos uint32 }

// A builder makes a segment of documents.
type builder struct {
	*segment
	numbers     map[string]uint32 // of words, in the order in which they came
	keysByCome  []string
	languageSet []language
	titles      []occurrence
	texts       []occurrence
	some        []string
}

// newSegment makes a segment of documents, of which no two have the same id.
func newSegment(docs []decoded) *segment {
	slices.SortFunc(docs, func(a, b decoded) int { return byAge(a.id, b.id) })
	b := builder{segment: &segment{}, numbers: map[string]uint32{}}
	authors := map[prompt.UserID]uint32{}
	for i, d := range docs {
		b.ids = append(b.ids, d.id)
		b.revisions = append(b.revisions, d.Revision)
		b.addAuthor(authors, d.Author)
		l := languageOf(d.Title, d.Text)
		b.languages = append(b.languages, l)
		b.addFilters(uint32(i), d.Doc)
		var n uint32
		b.titles, n = b.addTerms(b.titles, uint32(i), d.Title, l)
		b.titleLens = append(b.titleLens, n)
		b.texts, n = b.addTerms(b.texts, uint32(i), d.Text, l)
		b.textLens = append(b.textLens, n)
	}
	b.finish()
	return b.segment
}

// addAuthor appends the author of a document. It knows the places of those before.
func (s *segment) addAuthor(places map[prompt.UserID]uint32, author prompt.UserID) {
	place, ok := places[author]
	if !ok {
		place = uint32(len(s.authorIDs))
		places[author] = place
		s.authorIDs = append(s.authorIDs, prompt.UserID(strings.Clone(string(author))))
	}
	s.authors = append(s.authors, place)
}

func (b *builder) number(key string) uint32 {
	n, ok := b.numbers[key]
	if !ok {
		n = uint32(len(b.keysByCome))
		key = strings.Clone(key)
		b.numbers[key] = n
		b.keysByCome = append(b.keysByCome, key)
		b.languageSet = append(b.languageSet, 0)
	}
	return n
}

// addFilters notes whose a document is, what it is called and which tags it has.
func (b *builder) addFilters(doc uint32, d Doc) {
	keys := []string{markAuthorID + string(d.Author)}
	for _, tag := range d.Tags {
		keys = append(keys, markTag+string(tag))
	}
	for _, name := range [...]string{d.Name, d.Slug} {
		if name != "" {
			keys = append(keys, markName+strings.ToLower(name))
		}
	}
	for _, t := range prompt.Terms(d.AuthorName) {
		for _, w := range prompt.AppendWords(nil, t) {
			keys = append(keys, markAuthor+w)
		}
	}
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		b.titles = append(b.titles, occurrence{b.number(key), doc, 0})
	}
}

// addTerms notes where a document has which words, and returns how many places it has.
func (b *builder) addTerms(to []occurrence, doc uint32, terms []string, l language) ([]occurrence, uint32) {
	pos := uint32(0)
	for _, t := range terms {
		b.some = prompt.AppendWords(b.some[:0], t)
		run := prompt.IsRun(t)
		for _, w := range b.some {
			n := b.number(w)
			b.languageSet[n] |= l
			to = append(to, occurrence{n, doc, pos})
			if run {
				pos++
			}
		}
		if !run && len(b.some) > 0 {
			pos++
		}
	}
	return to, pos
}

// finish sorts the words and writes their lists.
func (b *builder) finish() {
	order := make([]uint32, len(b.keysByCome)) // numbers, by their words
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(x, y uint32) int { return strings.Compare(b.keysByCome[x], b.keysByCome[y]) })
	titles, texts := byWord(b.titles, len(order)), byWord(b.texts, len(order))
	var title, text listWriter
	for _, n := range order {
		titles.write(&title, n)
		texts.write(&text, n)
		b.addKey(b.keysByCome[n], b.languageSet[n], union(titles.of(n), texts.of(n)), &title, &text)
	}
	b.clip()
}

// addKey appends a word and its lists, and makes the writers ready for the next.
func (s *segment) addKey(key string, written language, docs int, title, text *listWriter) {
	s.keys = append(s.keys, key...)
	s.keyEnds = append(s.keyEnds, uint32(len(s.keys)))
	s.written = append(s.written, written)
	s.shapes = append(s.shapes, shapeOf(key))
	s.listAt = append(s.listAt, uint32(len(s.lists)))
	s.lists = binary.AppendUvarint(s.lists, uint64(docs))
	s.lists = title.append(s.lists)
	s.lists = text.append(s.lists)
	title.reset()
	text.reset()
}

// clip gives memory back that growing took.
func (s *segment) clip() {
	s.keys, s.lists = bytes.Clone(s.keys), bytes.Clone(s.lists)
	s.keyEnds, s.listAt = slices.Clone(s.keyEnds), slices.Clone(s.listAt)
	s.written, s.shapes = slices.Clone(s.written), slices.Clone(s.shapes)
}

// Occurrences by word: those of word n are from begins[n] to begins[n+1].
type occurrences struct {
	all    []occurrence
	begins []uint32
}

// byWord sorts occurrences, which are in the order of documents and places, by word.
func byWord(all []occurrence, words int) occurrences {
	begins := make([]uint32, words+1)
	for _, o := range all {
		begins[o.word+1]++
	}
	for i := range words {
		begins[i+1] += begins[i]
	}
	at := slices.Clone(begins)
	sorted := make([]occurrence, len(all))
	for _, o := range all {
		sorted[at[o.word]] = o
		at[o.word]++
	}
	return occurrences{sorted, begins}
}

func (o occurrences) of(word uint32) []occurrence { return o.all[o.begins[word]:o.begins[word+1]] }

func (o occurrences) write(w *listWriter, word uint32) {
	all := o.of(word)
	var pos []byte
	for len(all) > 0 {
		doc, last, times := all[0].doc, uint32(0), 0
		pos = pos[:0]
		for ; len(all) > 0 && all[0].doc == doc; all = all[1:] {
			if times > 0 && all[0].pos == last { // a chain may have a word twice
				continue
			}
			pos = binary.AppendUvarint(pos, uint64(all[0].pos-last))
			last = all[0].pos
			times++
		}
		w.add(doc, times, pos)
	}
}

// union counts the documents of two lists.
func union(a, b []occurrence) (n int) {
	for len(a) > 0 || len(b) > 0 {
		doc := ^uint32(0)
		if len(a) > 0 {
			doc = a[0].doc
		}
		if len(b) > 0 {
			doc = min(doc, b[0].doc)
		}
		for len(a) > 0 && a[0].doc == doc {
			a = a[1:]
		}
		for len(b) > 0 && b[0].doc == doc {
			b = b[1:]
		}
		n++
	}
	return n
}

// isWord reports whether a key is a word with forms, and not a filter or a piece of a run.
func isWord(key string) bool { return key != "" && key[0] >= firstOfWords && !prompt.IsRun(key) }

// stemTable returns which words have which stem.
func (s *segment) stemTable() []stemmed {
	s.once.Do(func() {
		if s.stems != nil { // read from a snapshot
			return
		}
		s.stems = make([]stemmed, 0, s.stemCount())
		for i := range s.words() {
			key := string(s.key(i))
			for _, l := range s.languagesOf(i) {
				s.stems = append(s.stems, stemmed{stemHash(l, l.stem(key)), uint32(i)})
			}
		}
		slices.SortFunc(s.stems, func(a, b stemmed) int {
			return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.word, b.word))
		})
	})
	return s.stems
}

// languagesOf returns the languages in which a word has stems.
func (s *segment) languagesOf(word int) []language {
	key := string(s.key(word))
	switch {
	case !isWord(key):
		return nil
	case cyrillic(key):
		return []language{inRussian}
	}
	var all []language
	for _, l := range latin {
		if s.written[word]&l != 0 {
			all = append(all, l)
		}
	}
	return all
}

// stemCount returns how many entries the table of stems has.
func (s *segment) stemCount() (n int) {
	for i, l := range s.written {
		if key := s.key(i); len(key) > 0 && key[0] >= firstOfWords {
			n += max(bits.OnesCount8(uint8(l)), 1)
		}
	}
	return n
}

func stemHash(l language, stem string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte{byte(l)}) // a hash takes everything
	_, _ = h.Write([]byte(stem))
	return h.Sum32()
}

// withStem calls do with each word that has a stem of a language.
func (s *segment) withStem(l language, stem string, do func(word int)) {
	hash, table := stemHash(l, stem), s.stemTable()
	i, _ := slices.BinarySearchFunc(table, hash, func(x stemmed, hash uint32) int { return cmp.Compare(x.hash, hash) })
	for ; i < len(table) && table[i].hash == hash; i++ {
		if word := int(table[i].word); l.stem(string(s.key(word))) == stem {
			do(word)
		}
	}
}

// A shape is what addSlips compares first of a word without accents: its length in the highest
// eight bits, 0 for one whose place no other word may take, and a bit for each letter that it has;
// some share one.
type shape uint64

const shapeBits = 56

func shapeOf(word string) shape {
	if !replaceable(word) {
		return 0
	}
	var letters uint64
	n := 0
	for _, r := range folded(word) {
		letters |= 1 << (uint(r) % shapeBits)
		n++
	}
	return shape(uint64(n)<<shapeBits | letters)
}

func (s shape) length() int { return int(s >> shapeBits) }

// mayBe reports whether two words may differ by no more edits than that. Each edit changes the
// length by one at most, and takes one letter away and brings another at most. Of nearly all words
// this says that they differ by more, so that a look at each is quick.
func (s shape) mayBe(other shape, edits int) bool {
	longer := s.length() - other.length()
	return -edits <= longer && longer <= edits && bits.OnesCount64(uint64(s^other)<<(64-shapeBits)) <= 2*edits
}

const (
	oneEdit  = 4 // characters from which a word may differ from a known one by an edit
	twoEdits = 8 // and by two
)

// replaceable reports whether another word may take the place of one: one of letters alone, since
// a number with another digit is another number.
func replaceable(word string) bool {
	return utf8.RuneCountInString(word) >= oneEdit-1 && !prompt.IsRun(word) &&
		!strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) })
}
