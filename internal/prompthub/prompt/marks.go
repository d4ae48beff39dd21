package prompt

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Span is a part of a text, in bytes.
type Span struct{ From, To int }

// Marks returns the parts of a text that the words, their other forms and the phrases of a query
// find, in order. Of a word it is the whole word, if only its beginning was typed too; where words
// are not parted by spaces it is what was typed. Stop words are marked only in a query that has no
// other words.
func (q Query) Marks(text string) []Span {
	if len(q.terms) == 0 {
		return nil
	}
	places := placesIn(text)
	all := make([]term, len(places))
	for i, p := range places {
		all[i] = p.term
	}
	loose := slices.DeleteFunc(slices.Clone(q.loose), term.stop)
	if len(loose) == 0 && len(q.phrases) == 0 {
		loose = q.loose
	}
	rows := slices.Clone(q.phrases)
	for _, forms := range q.others {
		for _, f := range forms {
			rows = append(rows, phrase(f))
		}
	}
	var spans []Span
	for i, p := range places {
		for _, t := range loose {
			if strings.Contains(string(p.term), string(t)) && t.in(p.term) {
				spans = p.found(spans, t)
			}
		}
		for _, x := range rows {
			if x.at(all, i) {
				spans = append(spans, spanOf(x, places[i:]))
			}
		}
	}
	return merged(spans)
}

// spanOf returns the part of a text in which a phrase stands that begins at the first place.
func spanOf(x phrase, places []placed) Span {
	first, last := places[0], places[len(x)-1]
	if len(x) == 1 {
		part := first.found(nil, x[0])
		return part[0]
	}
	span := Span{first.From, last.To}
	if first.exact {
		span.From = first.To - len(x[0])
	}
	if last.exact {
		span.To = last.From + len(x[len(x)-1])
	}
	return span
}

// merged sorts spans and joins those that overlap.
func merged(spans []Span) []Span {
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	var all []Span
	for _, s := range spans {
		if last := len(all) - 1; last >= 0 && s.From <= all[last].To {
			all[last].To = max(all[last].To, s.To)
			continue
		}
		all = append(all, s)
	}
	return all
}

// A placed is a term of a text, and where it stands there as it was written. It is exact if each
// byte of the term is one of the text.
type placed struct {
	term
	Span
	exact bool
}

// found appends the parts of a place that t, of a query, finds.
func (p placed) found(spans []Span, t term) []Span {
	switch {
	case !p.exact:
		return append(spans, p.Span)
	case t.run():
		return p.parts(spans, t)
	case !t.plain() || p.plain():
		return append(spans, p.Span)
	}
	at := p.From
	for word := range strings.FieldsFuncSeq(string(p.term), func(r rune) bool {
		return strings.ContainsRune(joiners, r)
	}) {
		at = p.From + strings.Index(string(p.term[at-p.From:]), word) + at - p.From
		if word == string(t) || !single(string(t)) && strings.HasPrefix(word, string(t)) {
			spans = append(spans, Span{at, at + len(word)})
		}
		at += len(word)
	}
	return spans
}

// parts appends where a run stands in another one.
func (p placed) parts(spans []Span, t term) []Span {
	for from := 0; ; {
		at := strings.Index(string(p.term[from:]), string(t))
		if at < 0 {
			return spans
		}
		from += at + len(t)
		spans = append(spans, Span{p.From + from - len(t), p.From + from})
	}
}

// placesIn cuts a text into its terms, each with its place. The text is cut at what separates terms
// first, since folding a whole text moves what follows.
func placesIn(text string) []placed {
	var all []placed
	for from := 0; from < len(text); {
		r, size := utf8.DecodeRuneInString(text[from:])
		kind := kindOf(r)
		end := from + size
		if kind == separates {
			from = end
			continue
		}
		for end < len(text) {
			r, size := utf8.DecodeRuneInString(text[end:])
			if next := kindOf(r); next != kind && next != continues {
				break
			}
			end += size
		}
		all = appendPlaces(all, text[from:end], from)
		from = end
	}
	return all
}

// The kinds of characters that placesIn tells apart.
const (
	separates = iota
	ofRuns
	ofChains
	continues // the run or chain before it
)

func kindOf(r rune) int {
	switch {
	case unspaced(r):
		return ofRuns
	case r < utf8.RuneSelf && strings.ContainsRune(joiners, r), spaced(r):
		return ofChains
	case mark(r), invisible(r):
		return continues
	}
	return separates
}

// appendPlaces appends the terms of a part of a text.
func appendPlaces(all []placed, part string, from int) []placed {
	normalized := folded(NormalizeTitle(part))
	exact, at := len(normalized) == len(part), 0
	for _, t := range foldedTerms(normalized) {
		p := placed{t, Span{from, from + len(part)}, exact}
		if exact {
			at += strings.Index(normalized[at:], string(t))
			p.Span = Span{from + at, from + at + len(t)}
			at += len(t)
		}
		all = append(all, p)
	}
	return all
}

// firstPhrase returns where in a line the first of the phrases stands, -1 if none does.
func (q Query) firstPhrase(line string) int {
	if len(q.phrases) == 0 {
		return -1
	}
	if spans := (Query{terms: q.terms, phrases: q.phrases}).Marks(line); len(spans) > 0 {
		return spans[0].From
	}
	return -1
}
