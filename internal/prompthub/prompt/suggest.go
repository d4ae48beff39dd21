package prompt

import (
	"cmp"
	"encoding/json"
	"hash/fnv"
	"maps"
	"math"
	"slices"
)

// Tags are suggested by the words of public prompts that have them: naive Bayes, each tag against
// all others. Where that was not learned, or finds no more than what a title and a text name
// themselves, tags are suggested that these name.

// Suggested is how many tags are suggested at most.
const Suggested = 3

const (
	titleWeight  = 6         // of a word of the title; a word of the text alone has one
	minExamples  = 5         // prompts with a tag that is learned
	maxLearned   = 100       // tags: those that most prompts have
	maxTagWords  = 3000      // words: those that most prompts have
	maxWordsText = 256 << 10 // of TagWords as JSON, which is one row
	maxTried     = 500       // prompts by which what was learned is tried
)

// A wordHash stands for a word, so that the counts hold nothing that can be read.
type wordHash uint32

func hashWord(word string) wordHash {
	h := fnv.New32a()
	_, _ = h.Write([]byte(word)) // a hash takes everything
	return wordHash(h.Sum32())
}

// A weighted word counts as often as it weighs.
type weighted struct {
	word   wordHash
	weight int32
}

// An Example is a prompt with tags, by whose words they are learned.
type Example struct {
	words []weighted // sorted, each once
	tags  []Tag
}

// NewExample returns a prompt as an example.
func NewExample(title, text string, tags []Tag) Example {
	weights := map[wordHash]int32{}
	for _, w := range TextWords(text) {
		weights[hashWord(w)] = 1
	}
	for _, w := range TextWords(title) {
		weights[hashWord(w)] = titleWeight
	}
	words := make([]weighted, 0, len(weights))
	for _, w := range slices.Sorted(maps.Keys(weights)) {
		words = append(words, weighted{w, weights[w]})
	}
	return Example{words, tags}
}

// TagWords are the words of public prompts, and how often those of each tag have them. The zero
// value knows none.
type TagWords struct {
	prompts int
	tags    []Tag
	with    []int32 // prompts that have the tag of this place
	words   map[wordHash][]int32

	total  int32   // of all counts
	totals []int32 // of the counts of each tag
}

// stored is how TagWords are kept. Of each word there is how often all prompts have it, then places
// of tags and how often those have it.
type stored struct {
	Prompts int                  `json:"prompts"`
	Tags    []Tag                `json:"tags"`
	With    []int32              `json:"with"`
	Words   map[wordHash][]int32 `json:"words"`
}

// A Trial says how often one of the three tags suggested for a prompt was one that it has, where
// that prompt itself was left out: by the learned counts, and by tags named in title and text.
type Trial struct {
	Prompts, Learned, Named int
}

// LearnTags learns from prompts. It returns nothing where what it learned suggests no better than
// the words alone.
func LearnTags(examples []Example) (TagWords, Trial) {
	examples = slices.DeleteFunc(slices.Clone(examples), func(x Example) bool { return len(x.tags) == 0 })
	m := learn(examples)
	var trial Trial
	step := max((len(examples)+maxTried-1)/maxTried, 1)
	for i := 0; i < len(examples); i += step {
		x := examples[i]
		trial.Prompts++
		best := m.best(x, true)
		if slices.ContainsFunc(best[:min(len(best), Suggested)], x.has) {
			trial.Learned++
		}
		if slices.ContainsFunc(x.named(m.tags), x.has) {
			trial.Named++
		}
	}
	if trial.Learned <= trial.Named {
		return TagWords{}, trial
	}
	return m, trial
}

func (x Example) has(tag Tag) bool { return slices.Contains(x.tags, tag) }

// named returns the tags whose names stand in the example, those in its title first.
func (x Example) named(tags []Tag) []Tag {
	var title, text []Tag
	for _, tag := range tags {
		switch least := x.least(string(tag)); {
		case least >= titleWeight:
			title = append(title, tag)
		case least > 0:
			text = append(text, tag)
		}
	}
	found := append(title, text...)
	return found[:min(len(found), Suggested)]
}

// least returns what that word of a name counts that counts least, 0 where one is missing.
func (x Example) least(name string) int32 {
	words := TextWords(name)
	if len(words) == 0 {
		return 0
	}
	least := int32(titleWeight)
	for _, w := range words {
		i, found := slices.BinarySearchFunc(x.words, hashWord(w), func(a weighted, b wordHash) int { return cmp.Compare(a.word, b) })
		if !found {
			return 0
		}
		least = min(least, x.words[i].weight)
	}
	return least
}

// learn counts the words of examples.
func learn(examples []Example) TagWords {
	m := TagWords{prompts: len(examples), words: map[wordHash][]int32{}}
	used, have := map[Tag]int32{}, map[wordHash]int32{}
	for _, x := range examples {
		for _, tag := range x.tags {
			used[tag]++
		}
		for _, w := range x.words {
			have[w.word]++
		}
	}
	maps.DeleteFunc(used, func(_ Tag, n int32) bool { return n < minExamples })
	maps.DeleteFunc(have, func(_ wordHash, n int32) bool { return n < 2 })
	m.tags = most(used, maxLearned)
	words := most(have, maxTagWords)
	kept := make(map[wordHash][]int32, len(words)) // by the places of tags, the total last
	for _, w := range words {
		kept[w] = make([]int32, len(m.tags)+1)
	}
	m.with = make([]int32, len(m.tags))
	for _, x := range examples {
		var places []int
		for i, tag := range m.tags {
			if x.has(tag) {
				places = append(places, i)
				m.with[i]++
			}
		}
		for _, w := range x.words {
			if counts := kept[w.word]; counts != nil {
				counts[len(m.tags)] += w.weight
				for _, i := range places {
					counts[i] += w.weight
				}
			}
		}
	}
	room := maxWordsText - 8<<10 // for the tags
	for _, w := range words {
		counts := kept[w]
		pairs := []int32{counts[len(m.tags)]}
		for i, n := range counts[:len(m.tags)] {
			if n > 0 {
				pairs = append(pairs, int32(i), n)
			}
		}
		text, err := json.Marshal(pairs)
		if room -= len(`"4294967295":,`) + len(text); err != nil || room < 0 {
			break
		}
		m.words[w] = pairs
	}
	m.sum()
	return m
}

// most returns the keys with the highest counts.
func most[K cmp.Ordered](counts map[K]int32, n int) []K {
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b K) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	return keys[:min(len(keys), n)]
}

func (m *TagWords) sum() {
	m.totals = make([]int32, len(m.tags))
	m.total = 0
	for _, pairs := range m.words {
		m.total += pairs[0]
		for i := 1; i < len(pairs); i += 2 {
			m.totals[pairs[i]] += pairs[i+1]
		}
	}
}

// best returns the tags that are learned, that which fits the words of an example best first. An
// example that was learned from can be left out.
func (m *TagWords) best(x Example, without bool) []Tag {
	var left, known int32 // whether it is left out, and the counts of its known words
	own := make([]int32, len(m.tags))
	if without {
		left = 1
	}
	for _, w := range x.words {
		if m.words[w.word] != nil {
			known += w.weight
		}
	}
	scores := make([]float64, len(m.tags))
	sizes := make([]float64, len(m.tags)) // logarithm of what a word of the tag is divided by, less that of others
	for i, tag := range m.tags {
		if without && x.has(tag) {
			own[i] = 1
		}
		with := float64(m.with[i] - own[i])
		scores[i] = math.Log(with/max(float64(m.prompts)-float64(left)-with, 0.5)) / 2
		inside := m.totals[i] - own[i]*known
		outside := m.total - left*known - inside
		sizes[i] = math.Log(float64(inside)+float64(len(m.words))) - math.Log(float64(outside)+float64(len(m.words)))
	}
	counts := make([]int32, len(m.tags))
	for _, w := range x.words {
		pairs := m.words[w.word]
		if pairs == nil {
			continue
		}
		clear(counts)
		for i := 1; i < len(pairs); i += 2 {
			counts[pairs[i]] = pairs[i+1]
		}
		for i := range m.tags {
			inside := counts[i] - own[i]*w.weight
			outside := pairs[0] - left*w.weight - inside
			scores[i] += float64(w.weight) * (math.Log(float64(inside)+1) - math.Log(float64(outside)+1) - sizes[i])
		}
	}
	places := make([]int, len(m.tags))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	tags := make([]Tag, len(places))
	for i, place := range places {
		tags[i] = m.tags[place]
	}
	return tags
}

// Suggest returns at most three tags of a catalog that a prompt could have in addition to those
// that it has, that which fits best first. A tag that was not learned is suggested where the title
// names it, or, if there is room, the text.
func (m *TagWords) Suggest(catalog []TagInfo, title, text string, has []Tag) []TagInfo {
	x := NewExample(title, text, nil)
	var inTitle, inText []TagInfo
	offered := map[Tag]TagInfo{}
	for _, t := range catalog {
		if !t.Active || slices.Contains(has, t.Tag) {
			continue
		}
		offered[t.Tag] = t
		if slices.Contains(m.tags, t.Tag) {
			continue
		}
		switch least := max(x.least(string(t.Tag)), x.least(t.DisplayName)); {
		case least >= titleWeight:
			inTitle = append(inTitle, t)
		case least > 0:
			inText = append(inText, t)
		}
	}
	all := inTitle
	if len(x.words) > 0 {
		for _, tag := range m.best(x, false) {
			if t, ok := offered[tag]; ok {
				all = append(all, t)
			}
		}
	}
	all = append(all, inText...)
	return all[:min(len(all), Suggested)]
}

// MarshalJSON writes what was learned as it is stored.
func (m TagWords) MarshalJSON() ([]byte, error) {
	return json.Marshal(stored{m.prompts, m.tags, m.with, m.words})
}

// UnmarshalJSON reads what MarshalJSON wrote, and takes nothing from what it did not.
func (m *TagWords) UnmarshalJSON(b []byte) error {
	var s stored
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	*m = TagWords{}
	if len(s.With) != len(s.Tags) {
		return nil
	}
	for w, pairs := range s.Words {
		bad := len(pairs)%2 == 0
		for i := 1; i < len(pairs); i += 2 {
			bad = bad || pairs[i] < 0 || int(pairs[i]) >= len(s.Tags)
		}
		if bad {
			delete(s.Words, w)
		}
	}
	*m = TagWords{prompts: s.Prompts, tags: s.Tags, with: s.With, words: s.Words}
	m.sum()
	return nil
}
