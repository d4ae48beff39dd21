package prompt

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// MaxTextWords is how many words of a text count in lists that have no index in memory, and where
// tags are suggested.
const MaxTextWords = 150

// firstTextWords is how many of them are the first ones of a longer text. The others are its
// longest: these are rare, and rare words are what people search for.
const firstTextWords = 100

// TextWords returns the words of a text that search finds it by, each once, sorted. The text is
// normalised, folded and cut as Tokens says of a title. A word counts as a whole, of a chain each
// of its words and each joined form, of a run its pieces; stop words and words of more than 40
// characters are left out. Where there are more than MaxTextWords, the first of them and the
// longest stay.
func TextWords(text string) []string { return wordsOfFolded(foldedText(text)) }

func wordsOfFolded(text string) []string {
	seen := make(map[string]bool, 2*MaxTextWords)
	words := make([]string, 0, 2*MaxTextWords)
	least := 0 // characters of a word that is too short to stay in any case
	cut := func() {
		rest := words[firstTextWords:]
		slices.SortStableFunc(rest, func(a, b string) int {
			return cmp.Compare(utf8.RuneCountInString(b), utf8.RuneCountInString(a))
		})
		for _, w := range words[MaxTextWords:] {
			delete(seen, w)
		}
		words = words[:MaxTextWords]
		least = utf8.RuneCountInString(words[MaxTextWords-1])
	}
	var some []string
	for t := range eachTerm(text) {
		some = t.appendInText(some[:0])
		for _, w := range some {
			if utf8.RuneCountInString(w) <= least || seen[w] || !findable(w) {
				continue
			}
			seen[w] = true
			if words = append(words, w); len(words) == 2*MaxTextWords { // so that a long text keeps few
				cut()
			}
		}
	}
	if len(words) > MaxTextWords {
		cut()
	}
	slices.Sort(words)
	return words
}

// Terms returns the words, chains and runs of a text in their order, normalised, folded and cut as
// Tokens says of a title.
func Terms(text string) []string {
	folded := foldedText(text)
	all := make([]string, 0, 1+strings.Count(folded, " "))
	for t := range eachTerm(folded) {
		all = append(all, string(t))
	}
	return all
}

// AppendWords appends the words by which an index finds a term. The first is the term itself, or
// the first piece of a run. A chain has each of its words and joined forms too, and a run its
// pieces. Of a word of more than LongestWord characters the beginning counts.
func AppendWords(words []string, of string) []string {
	t := term(of)
	switch {
	case t.run():
		return append(words, t.pieces()...)
	case len(t) <= LongestWord && t.plain(): // as most are
		return append(words, of)
	}
	begin := len(words)
	words = append(words, prefix(of, LongestWord))
	if t.plain() {
		return words
	}
	for _, w := range t.appendInText(nil) {
		if w = prefix(w, LongestWord); !slices.Contains(words[begin:], w) {
			words = append(words, w)
		}
	}
	return words
}

// IsRun reports whether a term is a run, whose words are not parted by spaces.
func IsRun(of string) bool { return term(of).run() }

// IsStopWord reports whether a word is in nearly every text.
func IsStopWord(w string) bool { return stopWords[w] }

// findable reports whether search finds texts by a word.
func findable(w string) bool { return !stopWords[w] && utf8.RuneCountInString(w) <= maxWhole }

// appendInText appends the words by which search may find a text that has t.
func (t term) appendInText(words []string) []string {
	switch {
	case t.run():
		return append(words, t.pieces()...)
	case !t.plain():
		return append(append(words, t.words()...), t.shortForms()...)
	}
	return append(words, string(t))
}

// stopWords are in nearly every text, so that they tell nothing. Those with less than two letters
// are what an apostrophe leaves.
var stopWords = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`
		a about above after again all also am an and any are as at be because been before being below
		between both but by can could d did do does doing don down during each few for from further had
		has have having he her here hers him his how i if in into is it its just ll m me more most my no
		nor not now of off on once only or other our out over own re s same shall she should so some such
		t than that the their them then there these they this those through to too under until up ve very
		was we were what when where which while who whom why will with would you your yours`) {
		m[w] = true
	}
	return m
}()

// InTexts reports whether the query has words that texts are searched for.
func (q Query) InTexts() bool {
	return slices.ContainsFunc(q.terms, func(t term) bool { return !t.stop() })
}

// stop reports whether t is a stop word.
func (t term) stop() bool { return stopWords[string(t)] }

// textTokens returns the words that a text must have for t to find it.
func (t term) textTokens() []string {
	if t.run() {
		return t.pieces()
	}
	return []string{string(t)}
}

// A Text is a text that queries are asked about.
type Text struct {
	folded func() string
	lead   func() []string
	words  func() []string
	terms  func() []term
}

// NewText returns a text as search knows it. What that takes is done when a query asks for it.
func NewText(text string) Text {
	folded := sync.OnceValue(func() string { return foldedText(text) })
	return Text{
		folded: folded,
		lead:   sync.OnceValue(func() []string { return leadOf(folded()) }),
		words:  sync.OnceValue(func() []string { return wordsOfFolded(folded()) }),
		terms:  sync.OnceValue(func() []term { return foldedTerms(folded()) }),
	}
}

func (x Text) has(t term) bool {
	for _, w := range t.textTokens() {
		if !x.hasWord(w) {
			return false
		}
	}
	return !t.run() || strings.Contains(x.folded(), string(t))
}

// hasWord reports whether w is among the words that search finds the text by. That is plain without
// knowing all of them if w is not in the text, or is among the first.
func (x Text) hasWord(w string) bool {
	text := x.folded()
	if !findable(w) || !strings.Contains(text, w) {
		return false
	}
	if slices.Contains(x.lead(), w) {
		return true
	}
	if len(x.lead()) < firstTextWords {
		return false
	}
	_, found := slices.BinarySearch(x.words(), w)
	return found
}

// leadOf returns the first words of a folded text, some of which may be the same. Of a run it makes
// no more pieces than there may be first words: a text may be one run.
func leadOf(text string) []string {
	var words []string
	for t := range eachTerm(text) {
		if t.run() {
			t = term(prefix(string(t), firstTextWords+1))
		}
		if words = t.appendInText(words); len(words) >= firstTextWords {
			return words[:firstTextWords]
		}
	}
	return words
}

// Where says where a query finds a prompt.
type Where int

// Where a query finds a prompt.
const (
	Nowhere Where = iota
	InTitle
	InText // at least one of its words is not in the title
)

// String returns where it is as programs are told, "" for Nowhere.
func (w Where) String() string { return [...]string{"", "title", "text"}[w] }

// MatchText says where the query finds a prompt: each of its words in the title, as Match has it,
// or as a whole in the text; each phrase in the title or in the text. Stop words are passed over
// where there are others.
func (q Query) MatchText(normalizedTitle string, text Text) Where {
	title := newTitle(normalizedTitle)
	where := q.matchText(&title, text.has, text.row)
	if where != Nowhere && q.LeavesOut(normalizedTitle, text) {
		return Nowhere
	}
	return where
}

// MatchTitle reports whether MatchText finds the prompt by its title alone, unless the text has
// what the query leaves out.
func (q Query) MatchTitle(normalizedTitle string) bool {
	title := newTitle(normalizedTitle)
	return q.matchTitle(&title)
}

func (q Query) matchTitle(title *title) bool {
	return q.matchText(title, func(term) bool { return false }, func(phrase) bool { return false }) == InTitle
}

func (q Query) matchText(title *title, inText func(term) bool, inRow func(phrase) bool) Where {
	if len(q.terms) == 0 {
		return Nowhere
	}
	where, stops := InTitle, 0
	for _, t := range q.terms {
		switch {
		case title.has(t):
		case t.stop():
			stops++
		case inText(t):
			where = InText
		default:
			return Nowhere
		}
	}
	if stops > 0 && !slices.ContainsFunc(q.terms, func(t term) bool { return !t.stop() }) {
		return Nowhere
	}
	for _, p := range q.phrases {
		switch {
		case p.in(title.all()):
		case inRow(p):
			where = InText
		default:
			return Nowhere
		}
	}
	if title.leftOut(q) {
		return Nowhere
	}
	return where
}

// maxSnippet is how much of a text a snippet shows, in characters, and beforeFound how much of that
// stands before what was found.
const (
	maxSnippet  = 160
	beforeFound = 50
)

// Snippet returns the part of a text in which a query finds the first of its phrases, or of its
// words if no phrase is there, in one line; "" where it finds none, or only in what folding
// changes.
func (q Query) Snippet(text string) string {
	line := strings.Join(strings.Fields(text), " ")
	begin := q.firstPhrase(line)
	lower := strings.ToLower(line)
	sought := slices.Clone(q.terms)
	for _, forms := range q.others {
		for _, f := range forms {
			sought = append(sought, f...)
		}
	}
	if ascii(line) { // nearly every one: a character is a byte
		return snippet(sought, begin, []byte(line), []byte(lower), func(s string) []byte {
			return []byte(s)
		}, func(b []byte) string { return string(b) })
	}
	if begin > 0 {
		begin = utf8.RuneCountInString(line[:begin])
	}
	return snippet(sought, begin, []rune(line), []rune(lower), func(s string) []rune {
		return []rune(s)
	}, func(rs []rune) string { return string(rs) })
}

// snippet cuts a line from a character on, or if that is -1 from the first of the terms on.
func snippet[R byte | rune](terms []term, begin int, line, lower []R, of func(string) []R,
	text func([]R) string,
) string {
	if begin < 0 && len(lower) == len(line) {
		begin = firstOf(terms, lower, of)
	}
	if begin < 0 {
		return ""
	}
	from, before, after := max(begin-beforeFound, 0), "", ""
	for ; from > 0 && from < begin && line[from-1] != ' '; from++ {
	}
	to := min(from+maxSnippet, len(line))
	if from > 0 {
		before = "…"
	}
	if to < len(line) {
		after = "…"
	}
	return before + strings.TrimSpace(text(line[from:to])) + after
}

// firstOf returns where the first of some terms stands that is no stop word, -1 if none does.
func firstOf[R byte | rune](terms []term, lower []R, of func(string) []R) int {
	begin := -1
	for _, t := range terms {
		if t.stop() {
			continue
		}
		if at := wordAt(lower, of(string(t))); at >= 0 && (begin < 0 || at < begin) {
			begin = at
		}
	}
	return begin
}

// wordAt returns where a word begins in a text, -1 where it does not stand alone anywhere.
func wordAt[R byte | rune](text, word []R) int {
	for i := 0; i+len(word) <= len(text); i++ {
		if text[i] != word[0] || !slices.Equal(text[i:i+len(word)], word) {
			continue
		}
		end := i + len(word)
		if unspaced(rune(word[0])) ||
			(i == 0 || !spaced(rune(text[i-1]))) && (end == len(text) || !spaced(rune(text[end]))) {
			return i
		}
	}
	return -1
}
