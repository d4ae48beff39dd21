package prompt

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"prompthub/internal/fault"
)

const (
	maxQuery       = 200 // UTF-16 code units of a query
	maxQueryWords  = 20
	maxQueryTokens = 20
)

// A Query is what a user types to find prompts. These parts of it, in any order and parted by
// spaces, say which prompts are wanted. A prompt must fit all of them, but by relevance it may lack
// words:
//
//	words            each in the title or in the text
//	"quoted words"   one after the other in the title, or in the text
//	-word            not in the title and not in the text
//	-"quoted words"  the same of a phrase, not of each of its words
//	tag:TAG          with the tag
//	author:WHO       by the author with this handle, key or name; author:"Ann Lee"
//	name:NAME        with this name or slug
//
// A quoted word is a whole word. A quotation mark without a second one, a hyphen that stands alone
// and a qualifier without a value are passed over, as any punctuation.
//
// Words are normalised, folded and cut as Tokens says of a title. Of a title, they find this:
//
//   - a word finds each title with a word that begins with it; a word of one
//     character only a title with exactly that word;
//   - a chain (c++, c+, .ne, node.j) finds each title with a joined form that begins with it;
//     a dot at its end is a full stop, so node. is the word node;
//   - a run finds each title with a run that contains it; a run of one character
//     only a title with exactly that run.
//
// So a title of up to 20 words, taken as a query, finds itself, unless it has more tokens than
// MaxTokens: no query finds those beyond them. The zero Query is empty.
type Query struct {
	terms   []term // each once, sorted, those of phrases too
	typed   []term // as they were typed
	quoted  []bool // which of typed stand in a phrase
	loose   []term // those outside of phrases, each once, sorted
	nothing bool
	phrases []phrase
	without []phrase
	tags    []Tag
	author  string
	name    string
	others  map[term][]form // as which a term is shown too; see With
}

// ParseQuery reads a query as a user types it: at most 200 characters (UTF-16
// code units), at most 20 words and runs, no control characters. The error is
// a *fault.Error of the kind Malformed.
func ParseQuery(q string) (Query, error) {
	if err := checkQuery(q); err != nil {
		return Query{}, err
	}
	cut, message := cutQuery(q)
	if message != "" {
		return Query{}, badQuery(q, message)
	}
	query := Query{tags: cut.tags, author: cut.author, name: cut.name}
	plain := "" // words between two phrases, which are cut into terms together
	loose := func() {
		ts := terms(NormalizeTitle(plain))
		query.append(ts, false)
		query.loose, plain = append(query.loose, ts...), ""
	}
	for _, w := range cut.words {
		if !w.quoted {
			plain += w.text + " "
			continue
		}
		loose()
		if p := phrase(terms(NormalizeTitle(w.text))); len(p) > 0 {
			query.append(p, true)
			query.phrases = append(query.phrases, p)
		}
	}
	loose()
	n := len(query.typed)
	for _, w := range cut.without {
		if p := phrase(terms(NormalizeTitle(w))); len(p) > 0 {
			query.without = append(query.without, p)
			n += len(p)
		}
	}
	if n > maxQueryWords {
		return Query{}, badQuery(q, fmt.Sprintf("search for at most %d words, these are %d", maxQueryWords, n))
	}
	query.terms, query.loose = once(query.typed), once(query.loose)
	query.nothing = strings.TrimSpace(q) != "" && len(query.terms) == 0 && !query.Qualified()
	return query, nil
}

func (q *Query) append(ts []term, quoted bool) {
	q.typed = append(q.typed, ts...)
	q.quoted = append(q.quoted, slices.Repeat([]bool{quoted}, len(ts))...)
}

// once returns terms sorted, each once.
func once(ts []term) []term { return slices.Compact(slices.Sorted(slices.Values(ts))) }

func checkQuery(q string) error {
	switch n := units(q); {
	case !utf8.ValidString(q):
		return badQuery(q, "send the query as valid UTF-8")
	case n > maxQuery:
		return badQuery(q, fmt.Sprintf("shorten the query to at most %d characters, it has %d", maxQuery, n))
	case strings.ContainsFunc(q, unicode.IsControl):
		return badQuery(q, "remove line breaks and other control characters from the query")
	default:
		return nil
	}
}

func badQuery(q, message string) error {
	return &fault.Error{
		Kind:   fault.Malformed,
		Text:   "the query cannot be used",
		Fields: []fault.Field{{Name: "q", Message: message, Value: short(q)}},
	}
}

// Empty reports whether the query has no words to find, as a blank one: it finds every title.
func (q Query) Empty() bool { return len(q.terms) == 0 && !q.nothing }

// Nothing reports whether the query was not blank and yet holds no word, as one
// of emoji or punctuation alone: it finds no title.
func (q Query) Nothing() bool { return q.nothing }

// Tokens returns the index partitions to intersect, each once, at most 20: of each word and chain
// the longest prefix that is a token, of each run its pieces. A title that the query finds has a
// row in every one of them. Not every title that does is found: Match decides.
func (q Query) Tokens() []string {
	var first, rest []string
	for _, t := range q.terms {
		if !t.run() {
			length := min(utf8.RuneCountInString(string(t)), LongestPrefix)
			first = append(first, prefix(string(t), ladder[max(rungs(length), 1)-1]))
			continue
		}
		ps := t.pieces()
		first = append(first, ps[0])
		rest = append(rest, ps[1:]...)
	}
	var tokens []string
	// A long run has many pieces. Those beyond the limit are left to Match,
	// but no word goes without a token.
	for _, t := range append(first, rest...) {
		if len(tokens) < maxQueryTokens && !slices.Contains(tokens, t) {
			tokens = append(tokens, t)
		}
	}
	return tokens
}

// Match reports whether the query finds the title.
func (q Query) Match(normalizedTitle string) bool {
	title := newTitle(normalizedTitle)
	return q.match(&title)
}

func (q Query) match(title *title) bool {
	if len(q.terms) == 0 && len(q.without) == 0 {
		return !q.nothing
	}
	for _, t := range q.terms {
		if !title.may(t) {
			return false // as most rows that a search looks at are
		}
	}
	for _, t := range q.terms {
		if !title.has(t) {
			return false
		}
	}
	for _, p := range q.phrases {
		if !p.in(title.all()) {
			return false
		}
	}
	return !title.leftOut(q)
}

// A title is what a query is asked about. It is cut into terms once one of the query may be in it.
type title struct {
	normalized string
	folds      bool
	cut        bool
	terms      []term
	whole      []term // also those that search does not look at
}

func newTitle(normalized string) title {
	return title{normalized: normalized, folds: folds(normalized)}
}

// may reports whether t may find the title: in one that folding leaves as it is, it stands
// somewhere.
func (x *title) may(t term) bool { return x.folds || strings.Contains(x.normalized, string(t)) }

// has reports whether t finds the title.
func (x *title) has(t term) bool {
	if !x.may(t) {
		return false
	}
	x.all()
	return slices.ContainsFunc(x.terms, t.in)
}

// all returns the terms of the title.
func (x *title) all() []term {
	if !x.cut {
		x.cut, x.whole = true, terms(x.normalized)
		x.terms = searchable(x.whole)
	}
	return x.whole
}

// leftOut reports whether the title has what a query leaves out.
func (x *title) leftOut(q Query) bool {
	return slices.ContainsFunc(q.without, func(p phrase) bool { return p.in(x.all()) })
}

// in reports whether t, of a query, finds other, of a title.
func (t term) in(other term) bool {
	q := string(t)
	switch {
	case t.run() != other.run():
		return false
	case t.run():
		return t == other || !single(q) && strings.Contains(string(other), q)
	case other.plain(): // as most are
		return t == other || !single(q) && strings.HasPrefix(string(other), q)
	case single(q):
		return slices.Contains(other.words(), q)
	default:
		return slices.ContainsFunc(other.forms(), func(form string) bool { return strings.HasPrefix(form, q) })
	}
}

// wholeIn reports whether t is all of another term, or a word of it.
func (t term) wholeIn(other term) bool {
	return t == other || (!other.plain() || other.run()) && t.in(other) &&
		(t.run() || slices.Contains(other.words(), string(t)) || slices.Contains(other.forms(), string(t)))
}

// A Wanted is a word, chain or run that a query asks for.
type Wanted struct {
	Term   string
	Quoted bool // it stands in a phrase
}

// Wanted returns what the query asks for, in the order in which it was typed.
func (q Query) Wanted() []Wanted {
	all := make([]Wanted, len(q.typed))
	for i, t := range q.typed {
		all[i] = Wanted{string(t), q.quoted[i]}
	}
	return all
}

// Phrases returns the terms of each phrase to find.
func (q Query) Phrases() [][]string { return phrasesText(q.phrases) }

// Without returns the terms of each word and phrase to leave out.
func (q Query) Without() [][]string { return phrasesText(q.without) }

func phrasesText(ps []phrase) [][]string {
	all := make([][]string, len(ps))
	for i, p := range ps {
		for _, t := range p {
			all[i] = append(all[i], string(t))
		}
	}
	return all
}

// Typed returns the words to find, those of phrases too, in the order in which they were typed.
func (q Query) Typed() string {
	words := make([]string, len(q.typed))
	for i, t := range q.typed {
		words[i] = string(t)
	}
	return strings.Join(words, " ")
}

// String returns the query in canonical form: the same for all orders and
// spellings of the same words, and different for different ones.
func (q Query) String() string {
	if q.nothing {
		return "-" // which parses to the same again
	}
	words := make([]string, len(q.loose))
	for i, t := range q.loose {
		words[i] = string(t)
	}
	return strings.Join(append(words, q.canonical()...), " ")
}
