package promptdb_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/prompt/prompttest"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
)

// TestThousandRealPrompts asks 300 questions made of the prompts' own titles and compares the
// answers with a linear scan.
func TestThousandRealPrompts(t *testing.T) {
	w := newWorldOn(t, memory.NewShortPages(3))
	rnd := rand.New(rand.NewPCG(1, 1))
	var all []prompt.Prompt
	for _, d := range prompttest.Real(t) {
		p := w.add("ann", d)
		for v := range rnd.IntN(4) {
			w.vote(prompt.UserID(numbered(v)), p.ID, prompt.Like)
		}
		all = append(all, p)
	}
	require.Len(t, all, 859)
	w.run()
	w.check()
	all = w.truth(all)
	matches := 0
	for i := range 300 {
		about := all[rnd.IntN(len(all))]
		want := promptdb.Search{Words: query(t, question(rnd, about.Title)), Order: []promptdb.Order{promptdb.MostLiked, promptdb.Hot, promptdb.Best, promptdb.Trending, promptdb.Newest}[i%5]}
		if i%3 == 0 {
			want.Tags = about.Tags
		}
		var titles []string
		for _, p := range inOrder(all, want) {
			if want.Words.Match(prompt.NormalizeTitle(p.Title)) && hasAll(p.Tags, want.Tags) {
				titles = append(titles, p.Title)
			}
		}
		require.Equal(t, titles, w.find(t, want, 1+rnd.IntN(30)), "%+v", want)
		require.Contains(t, titles, about.Title)
		matches += len(titles)
	}
	t.Logf("300 questions, %d answers", matches)
}

func sorted(ps []prompt.Prompt, order promptdb.Order) []prompt.Prompt {
	ps = slices.Clone(ps)
	by := map[promptdb.Order]func(a, b prompt.Prompt) int{promptdb.MostLiked: liked, promptdb.Hot: hotter, promptdb.Best: better, promptdb.Trending: trendier}[order]
	if by == nil {
		by = newer
	}
	slices.SortFunc(ps, by)
	return ps
}

func hasAll(tags, want []prompt.Tag) bool {
	return !slices.ContainsFunc(want, func(tag prompt.Tag) bool { return !slices.Contains(tags, tag) })
}

// question makes a query of one to three words of a title, whole or cut to 3 to 8 characters.
func question(rnd *rand.Rand, title string) string {
	words := strings.FieldsFunc(title, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) })
	if len(words) == 0 {
		return title
	}
	rnd.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	words = words[:min(len(words), 1+rnd.IntN(3))]
	for i, word := range words {
		if runes := []rune(word); rnd.IntN(2) == 0 && len(runes) > 3 {
			words[i] = string(runes[:min(len(runes), 3+rnd.IntN(6))])
		}
	}
	return strings.Join(words, " ")
}
