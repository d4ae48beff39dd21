package searchindex

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"

	"prompthub/internal/prompthub/prompt"
)

// A model is what an index must be: prompts, all of which are looked at for each search.
type model struct {
	docs    map[prompt.ID]Doc
	removed map[prompt.ID]int64
}

func newModel() *model { return &model{map[prompt.ID]Doc{}, map[prompt.ID]int64{}} }

func (m *model) add(d Doc) {
	if gone, ok := m.removed[d.ID]; ok && gone >= d.Revision {
		return
	}
	if old, ok := m.docs[d.ID]; !ok || d.Revision >= old.Revision {
		m.docs[d.ID] = d
	}
}

func (m *model) remove(id prompt.ID, revision int64) {
	if old, ok := m.docs[id]; ok && old.Revision > revision {
		return
	}
	delete(m.docs, id)
	m.removed[id] = max(revision, m.removed[id])
}

// A page is the words of a title or a text, with the places where they stand.
type page struct {
	at  map[string][]int
	len int
}

func pageOf(terms []string) page {
	p := page{at: map[string][]int{}}
	for _, t := range terms {
		words := prompt.AppendWords(nil, t)
		for _, w := range words {
			if at := p.at[w]; len(at) == 0 || at[len(at)-1] != p.len {
				p.at[w] = append(at, p.len)
			}
			if prompt.IsRun(t) {
				p.len++
			}
		}
		if !prompt.IsRun(t) && len(words) > 0 {
			p.len++
		}
	}
	return p
}

type modelDoc struct {
	Doc
	scope       int
	id          ulid.ULID
	title, text page
	language    language
}

// asked is a search of the model.
type asked struct {
	Query
	docs                []modelDoc
	slots               []slot
	titleMean, textMean float64
}

// ask returns what a search finds in some models, the best first, by the definitions alone.
func ask(q Query, models ...*model) (hits []Hit) {
	a := asked{Query: q, slots: slotsOf(q)}
	var titles, texts uint64
	vocabulary := map[string]bool{}
	for scope, m := range models {
		for _, d := range m.docs {
			x := modelDoc{
				Doc: d, scope: scope, id: ulid.MustParse(string(d.ID)), title: pageOf(d.Title),
				text: pageOf(d.Text), language: languageOf(d.Title, d.Text),
			}
			a.docs = append(a.docs, x)
			titles, texts = titles+uint64(x.title.len), texts+uint64(x.text.len)
			for _, p := range [...]page{x.title, x.text} {
				for w := range p.at {
					vocabulary[w] = true
				}
			}
		}
	}
	a.titleMean, a.textMean = average(titles, len(a.docs)), average(texts, len(a.docs))
	for i := range a.slots {
		a.expand(i, vocabulary)
	}
	var first []Hit
	for _, d := range a.docs {
		if h, ok := a.hit(d); ok {
			first = append(first, h)
		}
	}
	order := func(a, b Hit) int { return a.compare(b.candidate) }
	slices.SortFunc(first, order)
	if !q.Newest {
		n := min(len(first), nearest)
		for i, h := range first[:n] {
			at := slices.IndexFunc(a.docs, func(d modelDoc) bool { return d.ID == h.ID && d.scope == h.Scope })
			first[i].score += a.nearness(a.docs[at])
			first[i].Score = first[i].score
		}
		slices.SortFunc(first[:n], order)
	}
	return first
}

// times returns how often a document has a form in its title and its text.
func (a *asked) times(d modelDoc, f form) (titles, texts int) {
	t, x := a.where(d, f)
	return len(t), len(x)
}

func (a *asked) where(d modelDoc, f form) (titles, texts []int) {
	switch {
	case d.language&f.in == 0:
		return nil, nil
	case f.next != "":
		for _, at := range d.title.at[f.word] {
			if slices.Contains(d.title.at[f.next], at+1) {
				titles = append(titles, at)
			}
		}
		return titles, nil
	case a.InTitle:
		return d.title.at[f.word], nil
	}
	return d.title.at[f.word], d.text.at[f.word]
}

func (a *asked) count(f form) (n int) {
	for _, d := range a.docs {
		if t, x := a.times(d, f); t+x > 0 {
			n++
		}
	}
	return n
}

func isBegun(begin, word string) bool { return strings.HasPrefix(word, begin) && word != begin }

// expand finds the forms of a slot, and how rare it is.
func (a *asked) expand(i int, vocabulary map[string]bool) {
	x := &a.slots[i]
	n := a.count(form{word: x.word, in: inAny})
	if !x.quoted && !x.run {
		if !a.Verbatim {
			if most := a.forms(i, vocabulary); n == 0 {
				n = most
			}
		}
		begun := 0
		for _, d := range a.docs {
			for w := range d.title.at {
				if isBegun(x.word, w) {
					begun++
				}
			}
		}
		if utf8.RuneCountInString(x.word) > 1 && (a.InTitle || !a.Verbatim && (x.last || n == 0)) {
			x.begins = begun > 0
			if n == 0 {
				n = begun
			}
		}
		if n == 0 && !x.stop && !a.Verbatim {
			n = a.slips(x, vocabulary)
		}
	}
	if n > 0 {
		n = min(n, len(a.docs))
		x.rarity = int32(math.Round(1024 * math.Log(1+(float64(len(a.docs)-n)+0.5)/(float64(n)+0.5))))
		if x.stop {
			x.rarity = x.rarity * ofStop / 100
		}
		x.rarity = max(x.rarity, 1)
	}
}

func (a *asked) forms(i int, vocabulary map[string]bool) (most int) {
	x := &a.slots[i]
	found := map[form]language{}
	for _, l := range languagesOf(x.word) {
		for w := range vocabulary {
			if !isWord(w) || cyrillic(w) != (l == inRussian) {
				continue
			}
			stem := l.stem(w)
			if !x.stop && w != x.word && stem == l.stem(x.word) {
				found[form{word: w, per: asForm}] |= l
			}
			for j := max(i-1, 0); j <= i && j+1 < len(a.slots); j++ {
				b, c := a.slots[j], a.slots[j+1]
				if !b.run && !c.run && !b.quoted && !c.quoted && (!b.stop || !c.stop) && w != b.word && w != c.word &&
					stem == l.stem(b.word+c.word) {
					found[form{word: w, per: asForm}] |= l
				}
			}
			for at := range x.word {
				if at > 0 && !x.stop && utf8.RuneCountInString(x.word) >= minSplit && replaceable(x.word) &&
					vocabulary[x.word[:at]] && stem == l.stem(x.word[at:]) {
					found[form{word: x.word[:at], next: w, per: asForm}] |= l
				}
			}
		}
	}
	for f, in := range found {
		if f.in = in; cyrillic(f.word) {
			f.in = inAny
		}
		if n := a.count(f); n > 0 {
			x.forms = append(x.forms, f)
			most = max(most, n)
		}
	}
	slices.SortFunc(x.forms, func(a, b form) int {
		return cmp.Or(strings.Compare(a.word, b.word), strings.Compare(a.next, b.next))
	})
	return most
}

func (a *asked) slips(x *slot, vocabulary map[string]bool) (most int) {
	length := utf8.RuneCountInString(folded(x.word))
	if !replaceable(x.word) || length < oneEdit {
		return 0
	}
	for n, per := range [...]int{1: asSlip, 2: asSlips} {
		if n == 0 || n == 2 && (length < twoEdits || len(x.forms) > 0) {
			continue
		}
		var near []form
		for w := range vocabulary {
			if f := (form{word: w, per: per, in: inAny}); replaceable(w) &&
				edits([]rune(folded(x.word)), []rune(folded(w)), 2) == n && a.count(f) > 0 {
				near = append(near, f)
			}
		}
		if len(near) == 0 {
			continue
		}
		slices.SortFunc(near, func(b, c form) int {
			return cmp.Or(cmp.Compare(sameBeginning(c.word, x.word), sameBeginning(b.word, x.word)),
				cmp.Compare(a.count(c), a.count(b)), strings.Compare(b.word, c.word))
		})
		x.forms = near[:min(len(near), maxSlips)]
		for _, f := range x.forms {
			most = max(most, a.count(f))
		}
	}
	return most
}

// gives returns what a document has of a slot, and how much that counts.
func (a *asked) gives(d modelDoc, x slot) (found string, most int32) {
	look := func(shown string, titles, texts, per int) {
		n := 0.0
		if titles > 0 {
			n = inTitle * float64(titles) * float64(normOf(titleLength, uint32(d.title.len), a.titleMean))
		}
		if texts > 0 {
			n += float64(texts) * float64(normOf(textLength, uint32(d.text.len), a.textMean))
		}
		if n > 0 && found == "" {
			found = shown
		}
		most = max(most, int32(float64(x.rarity)*fraction*float64(per)/100*n/(saturation+n)))
	}
	t, n := a.times(d, form{word: x.word, in: inAny})
	look(x.word, t, n, asTyped)
	if x.begins {
		var begun []string
		for w := range d.title.at {
			if isBegun(x.word, w) {
				begun = append(begun, w)
			}
		}
		slices.Sort(begun)
		for _, w := range begun {
			look(w, len(d.title.at[w]), 0, asBegin)
		}
	}
	for _, f := range x.forms {
		t, n := a.times(d, f)
		if f.next != "" {
			t = min(t, 1)
		}
		look(strings.TrimSpace(f.word+" "+f.next), t, n, f.per)
	}
	return found, most
}

func (a *asked) hit(d modelDoc) (h Hit, ok bool) {
	wanted := a.Words.Wanted()
	h = Hit{
		ID: d.ID, Author: d.Author, Scope: d.scope, Found: make([]string, len(wanted)),
		candidate: candidate{id: d.id},
	}
	missing := make([]bool, len(wanted))
	var asks, has int32
	words, alone := false, !slices.ContainsFunc(a.slots, func(x slot) bool { return !x.stop })
	exact := len(a.slots) > 0 && len(a.slots) < maxSlots && d.title.len == len(a.slots)
	for i, x := range a.slots {
		found, n := a.gives(d, x)
		h.score += int64(n)
		asks += x.rarity
		exact = exact && slices.Contains(d.title.at[x.word], i)
		if found == "" {
			if missing[x.term] = true; x.quoted || (a.All || a.Newest) && (!x.stop || alone) && x.rarity > 0 {
				return h, false
			}
			continue
		}
		has += x.rarity
		words = words || !x.stop || alone
		if h.Found[x.term] = found; x.run {
			h.Found[x.term] = wanted[x.term].Term
		}
	}
	for i, m := range missing {
		if m {
			h.Found[i] = ""
		}
	}
	if exact {
		h.score += exactTitle
	}
	if a.Newest {
		h.score = 0
	}
	h.Score = h.score
	all := a.All || a.Newest
	return h, (words || len(a.slots) == 0) && (all || a.Loose || int64(has)*100 >= int64(asks)*share) && a.lets(d)
}

// lets reports whether the filters let a document through.
func (a *asked) lets(d modelDoc) bool {
	for _, tag := range append(slices.Clone(a.Tags), a.Words.Tags()...) {
		if !slices.Contains(d.Tags, tag) {
			return false
		}
	}
	for _, without := range a.Words.Without() {
		if w := prompt.AppendWords(nil, without[0])[0]; len(without) == 1 && !prompt.IsRun(without[0]) &&
			len(d.title.at[w])+len(d.text.at[w]) > 0 {
			return false
		}
	}
	if a.Author != "" && d.Author != a.Author || a.By != "" && d.Author != a.By {
		return false
	}
	if name := a.Words.Name(); name != "" && !strings.EqualFold(name, d.Name) && !strings.EqualFold(name, d.Slug) {
		return false
	}
	return a.Author != "" || a.Words.Author() == "" || a.Words.MatchAuthor(d.AuthorName)
}

func (a *asked) nearness(d modelDoc) (n int64) {
	places := func(x slot) (titles, texts []int) {
		titles, texts = a.where(d, form{word: x.word, in: inAny})
		titles, texts = slices.Clone(titles), slices.Clone(texts)
		for _, f := range x.forms {
			t, s := a.where(d, f)
			titles, texts = append(titles, t...), append(texts, s...)
		}
		if x.begins {
			for w, at := range d.title.at {
				if isBegun(x.word, w) {
					titles = append(titles, at...)
				}
			}
		}
		return titles, texts
	}
	for i := 1; i < len(a.slots); i++ {
		apart := far
		t, s := places(a.slots[i-1])
		u, v := places(a.slots[i])
		for _, pair := range [...][2][]int{{t, u}, {s, v}} {
			for _, p := range pair[0] {
				if apart == 1 { // no two are nearer
					break
				}
				for _, q := range pair[1] {
					apart = min(apart, max(p-q, q-p, 1))
				}
			}
		}
		if apart != far {
			n += int64(min(a.slots[i-1].rarity, a.slots[i].rarity)) * fraction / 2 / int64(apart)
		}
	}
	return n
}
