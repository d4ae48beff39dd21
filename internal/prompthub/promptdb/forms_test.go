package promptdb_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
)

// kinds are words in all of their forms: each line is one word.
var kinds = strings.Fields(`prompt,prompts translator,translators,translate resume,résumé nodejs,node.js javascript codereview email
	study,studies terminal gardener quick java code script review`)

// kindOf returns the first form of a word, or of two words written as one. A slip may happen to be
// another form: of a word that is not listed the English stem decides.
func kindOf(word string) string {
	for _, same := range []func(form string) bool{
		func(form string) bool { return form == word },
		func(form string) bool {
			return englishStem(strings.ReplaceAll(form, ".", "")) == englishStem(word)
		},
	} {
		for _, k := range kinds {
			if forms := strings.Split(k, ","); slices.ContainsFunc(forms, same) {
				return forms[0]
			}
		}
	}
	return "the stem " + englishStem(word)
}

func englishStem(word string) string {
	env := snowballstem.NewEnv(word)
	if len(word) > 3 {
		english.Stem(env)
	}
	return env.Current()
}

// A plainSearch finds by a look at every prompt, by the rules of words and their forms as
// docs/limits.md tells them. It knows words by kinds alone, and titles and texts that are parted by
// spaces.
type plainSearch struct {
	prompts []prompt.Prompt
	words   map[string]int  // words of titles and parts of chains, with how many titles have them
	pairs   map[string]bool // two words that follow one another in a title
}

func newPlainSearch(all []prompt.Prompt) *plainSearch {
	s := &plainSearch{all, map[string]int{}, map[string]bool{}}
	for _, p := range all {
		seen := map[string]bool{}
		title := strings.Fields(p.Title)
		for i, word := range title {
			for _, part := range append(strings.Split(word, "."), word) {
				if !seen[part] && len(part) > 1 {
					seen[part] = true
					s.words[part]++
				}
			}
			if i > 0 && !strings.Contains(title[i-1]+word, ".") {
				s.pairs[title[i-1]+" "+word] = true
			}
		}
	}
	return s
}

// parts returns a word of a text, and its parts before and after a dot.
func parts(word string) []string {
	_, last, chain := strings.Cut(word, ".")
	if !chain {
		return []string{word}
	}
	first, _, _ := strings.Cut(word, ".")
	return []string{word, first, last}
}

// A wanted word is one of a question with its other forms.
type wantedWord struct {
	word   string
	others []string
}

func (s *plainSearch) formsOf(words []string) (all []wantedWord) {
	for i, word := range words {
		w := wantedWord{word: word}
		for other := range s.words {
			joined := i > 0 && kindOf(words[i-1]+word) == kindOf(other) || i+1 < len(words) && kindOf(word+words[i+1]) == kindOf(other)
			if other != word && (kindOf(other) == kindOf(word) || joined) {
				w.others = append(w.others, other)
			}
		}
		for pair := range s.pairs {
			if kindOf(strings.ReplaceAll(pair, " ", "")) == kindOf(word) {
				w.others = append(w.others, pair)
			}
		}
		all = append(all, w)
	}
	return all
}

// where says how a prompt has a word: "title", "form" of it in the title, "text", also of another
// form of it, or "". It says too whether the prompt has the word as it is.
func (w wantedWord) where(p prompt.Prompt) (place string, exact bool) {
	title, text := strings.Fields(p.Title), strings.Fields(p.Text)
	for _, word := range title {
		if slices.ContainsFunc(parts(word), func(part string) bool { return part == w.word || len(w.word) > 1 && strings.HasPrefix(part, w.word) }) {
			return "title", true
		}
	}
	has := func(in []string, whole string) bool {
		return slices.ContainsFunc(in, func(word string) bool { return slices.Contains(parts(word), whole) })
	}
	exact = has(text, w.word)
	for _, other := range w.others {
		if strings.Contains(other, " ") && strings.Contains(" "+p.Title+" ", " "+other+" ") || has(title, other) {
			return "form", exact
		}
	}
	if exact || slices.ContainsFunc(w.others, func(form string) bool { return has(text, form) }) {
		return "text", exact
	}
	return "", false
}

// find returns the prompts that have all words, the newest first, each with where it is found.
func (s *plainSearch) find(words []wantedWord) (ids []prompt.ID, where map[prompt.ID]string) {
	where = map[prompt.ID]string{}
	ps := slices.Clone(s.prompts)
	slices.SortFunc(ps, newer)
	for _, p := range ps {
		has, folded := map[string]bool{}, false
		for _, w := range words {
			place, exact := w.where(p)
			has[place], folded = true, folded || !exact
		}
		switch {
		case has[""]:
			continue
		case has["text"] && folded:
			where[p.ID] = "text form"
		case has["text"]:
			where[p.ID] = "text"
		case has["form"]:
			where[p.ID] = "title form"
		default:
			where[p.ID] = "title"
		}
		ids = append(ids, p.ID)
	}
	return ids, where
}

// distance is the number of edits between two words, as Damerau's restricted distance is defined.
func distance(a, b []rune) int {
	switch {
	case len(a) == 0 || len(b) == 0:
		return len(a) + len(b)
	case a[0] == b[0]:
		return distance(a[1:], b[1:])
	}
	n := 1 + min(distance(a[1:], b), distance(a, b[1:]), distance(a[1:], b[1:]))
	if len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] {
		n = min(n, 1+distance(a[2:], b[2:]))
	}
	return n
}

// nearest returns the known words that are nearest to one.
func (s *plainSearch) nearest(word string) (near []string) {
	plain := func(w string) []rune { return []rune(strings.ReplaceAll(w, "é", "e")) }
	letters := func(w string) bool {
		return !strings.ContainsFunc(w, func(r rune) bool { return !unicode.IsLetter(r) })
	}
	allowed := map[bool]int{true: 1}[len(plain(word)) >= 4] + map[bool]int{true: 1}[len(plain(word)) >= 8]
	for edits := 1; edits <= allowed && len(near) == 0; edits++ {
		for known := range s.words {
			if letters(word) && letters(known) && len(plain(known)) > 2 && max(len(plain(known))-len(plain(word)), len(plain(word))-len(plain(known))) <= edits && distance(plain(word), plain(known)) == edits {
				near = append(near, known)
			}
		}
	}
	slices.SortFunc(near, func(a, b string) int {
		first := func(w string) int { return map[bool]int{false: 1}[w[0] == word[0]] }
		return cmp.Or(cmp.Compare(first(a), first(b)), cmp.Compare(s.words[b], s.words[a]), cmp.Compare(a, b))
	})
	return near[:min(len(near), 4)]
}

// instead returns the words to look for in place of some that find nothing together, and the
// replacements that make them: a word that nothing has is replaced by the known words that are
// nearest, or left out if there are none. Then the word that weighs most is left out, once or, if
// nothing was replaced, twice.
func (s *plainSearch) instead(words []string) (wanted []wantedWord, rs []prompt.Replacement) {
	wanted = s.formsOf(words)
	for _, word := range slices.Compact(slices.Sorted(slices.Values(words))) {
		if ids, _ := s.find([]wantedWord{{word: word}}); len(ids) > 0 {
			continue
		}
		if i := slices.IndexFunc(wanted, func(w wantedWord) bool { return w.word == word }); len(wanted[i].others) == 0 {
			rs = append(rs, prompt.Replacement{Word: word, By: s.nearest(word)})
		}
	}
	if _, left := s.replaced(words, rs); len(left) == 0 {
		rs = nil
	}
	for n := range 2 {
		if n > 0 || len(rs) == 0 {
			weakest, most := "", -1
			for _, word := range words {
				weight := s.words[word]
				if word == "prompt" || word == "prompts" { // which everyone looks for here
					weight = math.MaxInt
				}
				if weight > most && !slices.ContainsFunc(rs, func(r prompt.Replacement) bool { return r.Word == word }) {
					weakest, most = word, weight
				}
			}
			fewer := append(slices.Clone(rs), prompt.Replacement{Word: weakest})
			if _, left := s.replaced(words, fewer); weakest == "" || len(left) == 0 {
				break
			}
			rs = fewer
		}
		if wanted, _ = s.replaced(words, rs); s.finds(wanted) {
			return wanted, rs
		}
	}
	return nil, nil
}

func (s *plainSearch) finds(wanted []wantedWord) bool {
	ids, _ := s.find(wanted)
	return len(ids) > 0
}

// replaced returns the words that a search looks for with replacements.
func (s *plainSearch) replaced(words []string, rs []prompt.Replacement) (wanted []wantedWord, instead []string) {
	more := map[string][]string{}
	for _, word := range words {
		at := slices.IndexFunc(rs, func(r prompt.Replacement) bool { return r.Word == word })
		switch {
		case at < 0:
			instead = append(instead, word)
		case len(rs[at].By) > 0:
			instead = append(instead, rs[at].By[0])
			more[rs[at].By[0]] = rs[at].By[1:]
		}
	}
	wanted = s.formsOf(instead)
	for i, other := range wanted {
		wanted[i].others = append(wanted[i].others, more[other.word]...)
	}
	return wanted, instead
}

// TestTextSearchOfForms asks a library for words in all of their forms, and with slips: an answer
// has the prompts that a look at every prompt finds, in each order and in pages of each size. By
// relevance, titles with the words as they are come first, then titles with other forms, then
// texts.
func TestTextSearchOfForms(t *testing.T) {
	var all []string
	for _, k := range kinds {
		all = append(all, strings.Split(k, ",")...)
	}
	all = append(all, "e mail")
	questions, found, replaced := 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorldOn(t, memory.NewShortPages(3))
		some := func(least, most int, name string) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(all), least, most).Draw(rt, name), " ")
		}
		var ps []prompt.Prompt
		for range rapid.IntRange(1, 10).Draw(rt, "prompts") {
			ps = append(ps, w.add("ann", titled(some(1, 3, "title"), "x "+some(0, 4, "text"))))
		}
		w.add("ann", prompt.Draft{Title: "privately gardeners", Text: "terminals"})
		w.run()
		w.learn()
		plain := newPlainSearch(ps)
		for range 5 {
			words := strings.Fields(some(1, 3, "words"))
			if i := rapid.IntRange(0, 2*len(words)).Draw(rt, "slip"); i < len(words) && len(words[i]) > 3 && !strings.ContainsAny(words[i], ".é") {
				at := rapid.IntRange(0, len(words[i])-1).Draw(rt, "at")
				slips := []string{"", "q", "ee"}
				if at == len(words[i])-1 {
					slips = slips[:2] // an ending more may be a stem of the word, or not: the kinds do not say
				}
				words[i] = words[i][:at] + rapid.SampledFrom(slips).Draw(rt, "by") + words[i][at+1:]
			}
			if len(words) > 2 && slices.Contains(words, "e") {
				continue // the kinds do not say which words one letter more makes of its neighbours
			}
			wanted := plain.formsOf(words)
			ids, where := plain.find(wanted)
			var rs []prompt.Replacement
			if len(ids) == 0 {
				if wanted, rs = plain.instead(words); len(rs) > 0 {
					ids, where = plain.find(wanted)
				}
			}
			forms := 0
			for _, other := range wanted {
				forms += len(other.others)
			}
			if forms > prompt.MaxForms {
				continue // a search takes the likeliest of them
			}
			questions, found, replaced = questions+1, found+len(ids), replaced+len(rs)
			limit := rapid.IntRange(1, 30).Draw(rt, "limit")
			about := fmt.Sprintf("%q in pages of %d", words, limit)
			for _, order := range []promptdb.Order{promptdb.Newest, promptdb.MostLiked, promptdb.Relevance} {
				search := promptdb.Search{Words: query(t, strings.Join(words, " ")), Text: true, Order: order}
				got := w.walk(search, limit)
				if order == promptdb.Relevance {
					rank := func(id prompt.ID) int {
						return slices.Index([]string{"title", "title form", "text", "text form"}, where[id])
					}
					require.True(rt, slices.IsSortedFunc(got, func(a, b prompt.ID) int { return cmp.Compare(rank(a), rank(b)) }), about)
					slices.SortFunc(got, func(a, b prompt.ID) int { return strings.Compare(string(b), string(a)) })
				}
				require.Equal(rt, ids, got, "%s, by %s", about, order)
			}
			search := promptdb.Search{Words: query(t, strings.Join(words, " ")), Order: promptdb.Newest}
			page, err := w.Find(t.Context(), promptdb.Search{Words: search.Words, Text: true}, "", 1)
			require.NoError(rt, err)
			require.Equal(rt, rs, page.Replaced, about)
			ids = slices.DeleteFunc(ids, func(id prompt.ID) bool { return strings.HasPrefix(where[id], "text") })
			if len(ids) > 0 && len(rs) == 0 {
				require.Equal(rt, ids, w.walk(search, limit), "%s, of titles", about)
			}
		}
	})
	t.Logf("%d questions, %d answers, %d words replaced", questions, found, replaced)
}

// TestTextsOfOtherForms: of more texts than a page reads, those with the word as it is come first,
// newest first, and then those with another form of it, in pages of any size.
func TestTextsOfOtherForms(t *testing.T) {
	w := newWorld(t)
	w.add("ann", titled("translator", "x"))
	w.add("ann", titled("translators", "x"))
	const each = 150
	var exact, folded []prompt.ID
	for range each {
		exact = append([]prompt.ID{w.add("ann", titled("plain", "a translator here")).ID}, exact...)
		folded = append([]prompt.ID{w.add("ann", titled("plain", "some translators here")).ID}, folded...)
	}
	w.run()
	w.learn()
	for _, limit := range []int{1, 2, 7, 50, 100} {
		got := w.walk(promptdb.Search{Words: query(t, "translator"), Text: true, Order: promptdb.Relevance}, limit)
		require.Len(t, got, 2+2*each)
		require.Equal(t, append(slices.Clone(exact), folded...), got[2:], "pages of %d", limit)
	}
}
