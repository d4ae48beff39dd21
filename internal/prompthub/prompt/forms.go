package prompt

import (
	"slices"
	"strings"
)

// A term of a query may have other forms, under which search finds it too: a word or chain that
// stands in a title or a text as a whole, or two words that follow one another in a title. A title
// or text that has a form of a term has the term.

// A form is a sequence of one or two terms.
type form []term

func formOf(text string) form { return slices.Collect(eachTerm(text)) }

// in reports whether a title has the form.
func (f form) in(x *title) bool {
	if len(f) == 0 || !x.may(f[0]) {
		return false
	}
	x.all()
	if len(f) == 1 {
		return slices.ContainsFunc(x.terms, f[0].wholeIn)
	}
	return within(x.terms, f)
}

// TitleWords returns the words and chains of a normalised title in their order, as search cuts it.
// Runs are left out.
func TitleWords(normalizedTitle string) []string {
	var words []string
	for _, t := range searchable(terms(normalizedTitle)) {
		if !t.run() {
			words = append(words, string(t))
		}
	}
	return words
}

// MaxForms is how many other forms the terms of a query have together: each is one or two lists to
// read.
const MaxForms = 6

// Expand returns the query with other forms of its words. Forms returns those of a word, and joined
// the single words in place of two that follow one another, the likeliest first. Each is a word, a
// chain, or two words with a space between them. Stop words have none, and words of phrases are
// found as they are alone.
func (q Query) Expand(forms func(word string) []string, joined func(first, second string) []string) Query {
	want := map[term][]string{}
	for i, t := range q.typed {
		if t.run() || q.quoted[i] {
			continue
		}
		if i > 0 && !q.quoted[i-1] && !q.typed[i-1].run() && (!t.stop() || !q.typed[i-1].stop()) {
			for _, f := range joined(string(q.typed[i-1]), string(t)) {
				want[q.typed[i-1]] = append(want[q.typed[i-1]], f)
				want[t] = append(want[t], f)
			}
		}
	}
	for _, t := range q.loose {
		if !t.run() && !t.stop() {
			want[t] = append(want[t], forms(string(t))...)
		}
	}
	return q.withForms(want)
}

// withForms adds forms to those that there are: the first of each term, then the second, up to
// MaxForms.
func (q Query) withForms(want map[term][]string) Query {
	others := make(map[term][]form, len(q.others))
	left := MaxForms
	for t, fs := range q.others {
		others[t] = slices.Clone(fs)
		left -= len(fs)
	}
	for i, more := 0, true; more; i++ {
		more = false
		for _, t := range q.loose {
			if i >= len(want[t]) || left <= 0 {
				continue
			}
			more = true
			f := formOf(want[t][i])
			if len(f) == 0 || len(f) > 2 || f[0].run() || len(f) == 1 && f[0].stop() || slices.Equal(f, form{t}) || slices.ContainsFunc(others[t], func(o form) bool { return slices.Equal(o, f) }) {
				continue
			}
			others[t] = append(others[t], f)
			left--
		}
	}
	if len(others) > 0 {
		q.others = others
	}
	return q
}

// Expanded reports whether a term has other forms.
func (q Query) Expanded() bool { return len(q.others) > 0 }

// Plain returns the query without other forms.
func (q Query) Plain() Query {
	q.others = nil
	return q
}

// A Replacement says which known words search takes in place of one that no prompt has, or that it
// leaves a word out.
type Replacement struct {
	Word string
	By   []string // the nearest first; none where the word is left out
}

// Replace returns the query with other words in place of some of its own outside of phrases: the
// nearest in place of each, and the others as forms of it. What else the query asks for stays.
func (q Query) Replace(rs []Replacement) Query {
	want := map[term][]string{}
	for _, r := range rs {
		if len(r.By) > 0 {
			want[term(r.By[0])] = r.By[1:]
		}
	}
	typed, quoted := q.typed, q.quoted
	q.typed, q.quoted = nil, nil
	for i, t := range typed {
		at := slices.IndexFunc(rs, func(r Replacement) bool { return !quoted[i] && r.Word == string(t) })
		switch {
		case at < 0:
		case len(rs[at].By) == 0:
			continue
		default:
			t = term(rs[at].By[0])
		}
		q.typed, q.quoted = append(q.typed, t), append(q.quoted, quoted[i])
	}
	q.terms, q.loose, q.others = once(q.typed), nil, nil
	for i, t := range q.typed {
		if !q.quoted[i] {
			q.loose = append(q.loose, t)
		}
	}
	q.loose = once(q.loose)
	return q.withForms(want)
}

// Weakest returns the word that a search can best do without: of those outside of phrases, that are
// not replaced, the one with the most weight, the first of several. It is "" if nothing
// would be left to search for.
func (q Query) Weakest(rs []Replacement, weight func(word string) int) (word string) {
	most := 0
	for _, t := range q.typed {
		if !slices.Contains(q.loose, t) || t.run() || t.stop() || slices.ContainsFunc(rs, func(r Replacement) bool { return r.Word == string(t) }) {
			continue
		}
		if n := weight(string(t)); word == "" || n > most {
			word, most = string(t), n
		}
	}
	if word == "" || !q.Replace(append(slices.Clone(rs), Replacement{Word: word})).InTexts() {
		return ""
	}
	return word
}

// Meant returns a query as it was typed, with others in place of the words that were replaced, and
// without those that were left out. With these go stop words, which say nothing by themselves.
func (q Query) Meant(rs []Replacement) string {
	fewer := slices.ContainsFunc(rs, func(r Replacement) bool { return len(r.By) == 0 })
	parts := q.meant(rs, fewer)
	if len(parts) == 0 {
		parts = q.meant(rs, false)
	}
	return strings.Join(append(parts, q.besides()...), " ")
}

// meant returns the words and phrases of Meant, on demand without stop words.
func (q Query) meant(rs []Replacement, telling bool) []string {
	var parts []string
	phrases := q.phrases
	for i := 0; i < len(q.typed); i++ {
		if q.quoted[i] {
			parts = append(parts, phrases[0].String())
			i += len(phrases[0]) - 1
			phrases = phrases[1:]
			continue
		}
		word := string(q.typed[i])
		for _, r := range rs {
			if r.Word == word {
				word = strings.Join(r.By, " or ")
				break
			}
		}
		if word != "" && (!telling || !stopWords[word]) {
			parts = append(parts, word)
		}
	}
	return parts
}

// ReplacementsText writes replacements for ParseReplacements. No word has its separators in it.
func ReplacementsText(rs []Replacement) string {
	all := make([]string, len(rs))
	for i, r := range rs {
		all[i] = r.Word + ":" + strings.Join(r.By, ",")
	}
	return strings.Join(all, ";")
}

// ParseReplacements reads replacements of words of the query. It reports false if they are none, or
// more than most, or if nothing is left to search for.
func (q Query) ParseReplacements(text string, most, forms int) (rs []Replacement, ok bool) {
	words := q.Unknown(func(string) bool { return false })
	for one := range strings.SplitSeq(text, ";") {
		word, by, ok := strings.Cut(one, ":")
		r := Replacement{Word: word}
		if by != "" {
			r.By = strings.Split(by, ",")
		}
		if !ok || !slices.Contains(words, word) || len(r.By) > forms || len(rs) == most {
			return nil, false
		}
		for _, w := range r.By {
			if parsed, err := ParseQuery(w); err != nil || parsed.Typed() != w || !slices.Equal(parsed.Unknown(func(string) bool { return false }), []string{w}) {
				return nil, false
			}
		}
		rs = append(rs, r)
	}
	return rs, q.Replace(rs).InTexts()
}

// Unknown returns the words of a query that may be replaced: no stop words, no runs, none in a
// phrase, and none that has other forms.
func (q Query) Unknown(known func(word string) bool) []string {
	var words []string
	for _, t := range q.loose {
		if !t.run() && !t.stop() && len(q.others[t]) == 0 && !known(string(t)) {
			words = append(words, string(t))
		}
	}
	return words
}

// One returns the query for one of its words alone.
func (q Query) One(word string) Query {
	one := []term{term(word)}
	return Query{terms: one, typed: one, quoted: []bool{false}, loose: one}
}

// asTyped returns the terms of a title with each form of a term of the query, outside of what it
// has itself, in place of that term.
func (q Query) asTyped(title []term) []term {
	var out []term
	for i := 0; i < len(title); i++ {
		if slices.Contains(q.typed, title[i]) {
			out = append(out, title[i])
			continue
		}
		found := false
		for j, t := range q.typed {
			n := q.formAt(t, title[i:])
			if n == 0 {
				continue
			}
			out, found = append(out, t), true
			if j+1 < len(q.typed) && q.formAt(q.typed[j+1], title[i:]) == n && n == 1 && q.joins(j, title[i]) {
				out = append(out, q.typed[j+1])
			}
			i += n - 1
			break
		}
		if !found {
			out = append(out, title[i])
		}
	}
	return out
}

// formAt returns how many terms of a title, from its beginning on, are a form of t; 0 for none.
func (q Query) formAt(t term, title []term) int {
	for _, f := range q.others[t] {
		if len(f) <= len(title) && slices.Equal(f, title[:len(f)]) {
			return len(f)
		}
	}
	return 0
}

// joins reports whether a form is one of both a typed term and the next.
func (q Query) joins(j int, whole term) bool {
	has := func(t term) bool {
		return slices.ContainsFunc(q.others[t], func(f form) bool { return len(f) == 1 && f[0] == whole })
	}
	return has(q.typed[j]) && has(q.typed[j+1])
}

// otherIn reports whether the title has another form of t.
func (q Query) otherIn(x *title, t term) bool {
	return slices.ContainsFunc(q.others[t], func(f form) bool { return f.in(x) })
}

// hasTerm reports whether the title has t or another form of it.
func (q Query) hasTerm(x *title, t term) bool { return x.has(t) || q.otherIn(x, t) }

// otherInText reports whether a text has another form of t. Two words are looked for in titles
// alone.
func (q Query) otherInText(t term, inText func(term) bool) bool {
	return slices.ContainsFunc(q.others[t], func(f form) bool { return len(f) == 1 && inText(f[0]) })
}
