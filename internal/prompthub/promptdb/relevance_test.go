package promptdb_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// inOrder sorts prompts as the answer to a search that finds all of them.
func inOrder(ps []prompt.Prompt, want promptdb.Search) []prompt.Prompt {
	if want.Order != promptdb.Relevance || want.Words.Empty() {
		return sorted(ps, want.Order)
	}
	ps = slices.Clone(ps)
	slices.SortFunc(ps, func(a, b prompt.Prompt) int {
		fitsA, fitsB := fits(want, a), fits(want, b)
		if fitsA != fitsB {
			return cmp.Compare(fitsA, fitsB)
		}
		if fitsA < inTextAlone {
			return liked(a, b)
		}
		return newer(a, b)
	})
	return ps
}

const inTextAlone = 4

// typedWords returns the words of a title as a query of them has them. A title can have more words
// than a query, which is read a few at a time then.
func typedWords(title string) string {
	q, err := prompt.ParseQuery(title)
	if err == nil {
		return q.Typed()
	}
	fields := strings.Fields(title)
	half := len(fields) / 2
	if half == 0 {
		panic(err) // no title of these tests is one such word
	}
	return typedWords(strings.Join(fields[:half], " ")) + " " + typedWords(strings.Join(fields[half:], " "))
}

// fits is how well a search fits a prompt that it finds, as the reader's guide tells it: by the
// words of the title, which are told apart here in another way than the program does.
func fits(want promptdb.Search, p prompt.Prompt) int {
	typed := typedWords(p.Title)
	texts := want.Text && len(want.Words.Words(prompt.LongestPrefix)) > 0
	has := " " + typed + " "
	switch normalized := prompt.NormalizeTitle(p.Title); {
	case texts && !want.Words.MatchTitle(normalized):
		return inTextAlone
	case typed == want.Words.Typed():
		return 0
	case strings.Contains(has, " "+want.Words.Typed()+" "):
		return 1
	}
	stop := func(word string) bool {
		q, err := prompt.ParseQuery(word)
		return err == nil && len(q.Words(prompt.LongestPrefix)) == 0
	}
	for _, word := range strings.Fields(want.Words.String()) {
		whole := slices.ContainsFunc(strings.Fields(typed), func(chain string) bool {
			q, err := prompt.ParseQuery(word)
			if err != nil || !q.Match(chain) {
				return false
			}
			if strings.Trim(chain, "abcdefghijklmnopqrstuvwxyz0123456789.+#") != "" && len([]rune(chain)) > 1 && isRun(chain) {
				return true // of a script without spaces any part counts
			}
			for i := range chain {
				begins := i == 0 || strings.ContainsRune(".+#", rune(chain[i-1])) || chain[i] == '.'
				if end, ok := strings.CutPrefix(chain[i:], word); ok && begins && (end == "" || strings.ContainsRune(".+#", rune(end[0])) && !strings.ContainsAny(word, ".+#")) {
					return true
				}
			}
			return false
		})
		if !whole && !stop(word) {
			return 3
		}
	}
	return 2
}

// isRun reports whether a word is of a script that does not part words by spaces.
func isRun(word string) bool {
	return strings.ContainsAny(word, "提示词翻译助手にほんごカタカナー프롬프트ภาษาไทย")
}

// TestRelevance holds the order of one search: the exact title, though it is the oldest and has no
// vote, then the phrase, whole words, beginnings, and the text alone.
func TestRelevance(t *testing.T) {
	w := newWorld(t)
	add := func(title, text string, likes int) {
		p := w.add("ann", prompt.Draft{Title: title, Text: text, Visibility: prompt.Public})
		for v := range likes {
			w.vote(prompt.UserID(fmt.Sprint("v", v)), p.ID, prompt.Like)
		}
	}
	add("Code reviewer", "x", 0)
	add("Reviewer of any code", "x", 2)
	add("Reviewer of old code", "x", 1)
	add("Act as a code reviewer", "x", 3)
	add("Reviewers who code", "x", 4)
	add("Poet", "no code for a reviewer", 5)
	w.run()
	want := []string{"Code reviewer", "Act as a code reviewer", "Reviewer of any code", "Reviewer of old code", "Reviewers who code", "Poet"}
	for limit := range 7 {
		search := promptdb.Search{Words: query(t, "code reviewer"), Text: true, Order: promptdb.Relevance}
		require.Equal(t, want, w.find(t, search, limit+1), "pages of %d", limit+1)
		search.Text = false
		require.Equal(t, want[:5], w.find(t, search, limit+1), "titles alone, pages of %d", limit+1)
	}
}

// TestRelevanceOfMany walks a search that finds more titles than are sorted: each comes once, the
// newest of them sorted, and then the older ones, newest first.
func TestRelevanceOfMany(t *testing.T) {
	w := newWorld(t)
	const n = 1010
	for i := range n {
		w.add("ann", draft(fmt.Sprintf("many words %d", i)))
	}
	w.run()
	for _, text := range []bool{false, true} {
		found := w.find(t, promptdb.Search{Words: query(t, "many"), Text: text, Order: promptdb.Relevance}, 100)
		require.Len(t, found, n)
		for i, title := range found {
			require.Equal(t, fmt.Sprintf("many words %d", n-1-i), title)
		}
	}
}

// TestTitlesThatFillThePage: titles that fill a page end the reading of the lists of texts, which
// are read once, next to the titles.
func TestTitlesThatFillThePage(t *testing.T) {
	store := &counted{DB: memory.NewTables()}
	w := newWorldOn(t, store)
	const n, limit = 400, 20
	w.seed(n, func(k table.Key) bool { return strings.HasPrefix(k.Partition, "q|") }, func(i int) prompt.Prompt {
		return w.made("ann", draft(fmt.Sprintf("walk%d slowly", i%10)))
	})
	want := promptdb.Search{Words: query(t, "walk3 slowly"), Text: true, Order: promptdb.Relevance}
	_, err := w.Find(t.Context(), want, "", limit) // which reads what an instance remembers
	require.NoError(t, err)
	store.reset()
	page, err := w.Find(t.Context(), want, "", limit)
	require.NoError(t, err)
	require.Len(t, page.Items, limit)
	titles := n/10 + table.MaxPage/4 // one list to its end, and a sample of the other
	require.LessOrEqual(t, store.rows, titles+2*4*(limit+1))
}

// TestRelevanceRefusesForgedPositions asks for pages after positions that no page ends with.
func TestRelevanceRefusesForgedPositions(t *testing.T) {
	w := newWorld(t)
	for _, after := range []string{"x", "t", "t123", "t10000000000", "r", "r~", "rx ", "r~ x", "r "} {
		_, err := w.Find(t.Context(), promptdb.Search{Words: query(t, "a"), Text: true, Order: promptdb.Relevance}, after, 10)
		require.Error(t, err, "%q", after)
	}
}
