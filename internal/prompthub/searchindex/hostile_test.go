package searchindex

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
)

// hostileTexts returns queries that make no sense, or are as long as they may be.
func hostileTexts() map[string]string {
	longWords := make([]string, 20)
	for i := range longWords {
		longWords[i] = fmt.Sprintf("%.8s%c", "abcdefghij"[i%3:], 'a'+i)
	}
	texts := map[string]string{
		"nothing": "", "spaces": "     ",
		"twenty long words":          strings.Join(longWords, " "),
		"a word twenty times":        strings.TrimSpace(strings.Repeat("javascript ", 18)),
		"a word longer than counts":  strings.Repeat("longer", 33),
		"one of just what counts":    strings.Repeat("a", prompt.LongestWord),
		"one of one letter more":     strings.Repeat("a", prompt.LongestWord+1),
		"a chain of all":             strings.TrimSuffix(strings.Repeat("a.b-", 19), "-"),
		"joiners alone":              "\u200d\u200c\u200d \u2060\ufeff \u200d",
		"marks alone":                "\u0301\u0308 \u0323 \u20dd \u0e31\u0e47",
		"a mark before a word":       "\u0301resume \u200dcode",
		"signs alone":                "... --- '' ++ # & / . - _ *",
		"signs of words":             "c++ c# .net a.b a-b a'b a_b",
		"emoji":                      "👩‍💻 👨‍👩‍👧‍👦 🇩🇪 ❤️",
		"Chinese":                    "中文搜索引擎没有空格的文字",
		"Japanese":                   "東京都の天気を教えてください",
		"Thai":                       "ภาษาไทยไม่มีช่องว่างระหว่างคำ",
		"Khmer and Lao":              "ភាសាខ្មែរ ພາສາລາວ",
		"a script among Latin words": "python入門 code東京review",
		"from right to left":         "שלום עולם مرحبا بالعالم \u202eabc\u202c",
		"stop words alone":           "the of to a and in is for with that",
		"stop words of one letter":   "a i s t d m",
		"wide and small letters":     "ＪａｖａＳｃｒｉｐｔ ﬁle ſtop İstanbul ẞ",
		"letters with many marks":    "e" + strings.Repeat("\u0301", 60),
		"digits":                     "0 00 1 ١٢٣ ½ ² 10000000000000000000000",
		"quotes":                     `"the of" "javascript code" "東京都"`,
		"a phrase that nothing has":  `"` + strings.Repeat("zz ", 15) + `"`,
		"filters alone":              "tag:a -the author:lee name:name-1",
		"what is left out alone":     "-javascript -東京 -the",
	}
	for _, letter := range []string{"a", "z", "i", "é", "я", "中", "ก", "1", "+", "."} {
		texts["one sign "+letter] = letter
	}
	return texts
}

// TestHostileQueries asks each of hostileTexts in each way, of documents made of them and of words,
// and compares what comes with the model.
func TestHostileQueries(t *testing.T) {
	t.Parallel()
	texts := hostileTexts()
	r := rand.New(rand.NewPCG(61, 3))
	indexes, models := []*Index{New(), New()}, []*model{newModel(), newModel()}
	add := func(n int, title, text string) {
		d := someDoc(r, n)
		d.Title, d.Text = prompt.Terms(title), prompt.Terms(text)
		indexes[n%2].Add(d)
		models[n%2].add(d)
	}
	n := 0
	for _, text := range texts {
		add(n, text, someWords(r, 10))
		add(n+1, someWords(r, 5), someWords(r, 10)+" "+text+" "+text)
		n += 2
	}
	for range 20 {
		add(n, someWords(r, 5), someWords(r, 30))
		n++
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			words, err := prompt.ParseQuery(text)
			require.NoError(t, err)
			for _, q := range []Query{
				{},
				{InTitle: true},
				{Verbatim: true},
				{All: true},
				{Newest: true},
				{Loose: true},
				{InTitle: true, Verbatim: true, Loose: true},
			} {
				q.Words = words
				same(t, r, q, models, indexes)
			}
		})
	}
}

// A longText is a text of as many characters as a prompt may have, and what it is asked by.
type longText struct {
	name, text string
	ask        []string
}

func longTexts() []longText {
	repeated := func(some string) string {
		n := prompt.LimitMaxText/utf8.RuneCountInString(some) + 1
		return string([]rune(strings.Repeat(some, n))[:prompt.LimitMaxText])
	}
	var numbered strings.Builder
	for i := 0; numbered.Len() < prompt.LimitMaxText; i++ {
		numbered.WriteString(strconv.FormatInt(int64(i), 36) + " ")
	}
	return []longText{
		{"one word", repeated("a"), []string{
			"aaaaaaa", strings.Repeat("a", prompt.LongestWord),
			strings.Repeat("a", 199),
		}},
		{"a word as often as it can", repeated("b "), []string{"b", "long b", "b words", "bb"}},
		{
			"as many words as there are", numbered.String()[:prompt.LimitMaxText],
			[]string{"10 11 12 zz zzz", "100 102", "abba"},
		},
		{"one chain", repeated("c.d-"), []string{"c.d", "d c some words", "cd dc", "cdcd"}},
		{"one run", repeated("東京"), []string{"東京", "京東京 long", "東"}},
		{"marks", repeated("e\u0301"), []string{"é", strings.Repeat("é", prompt.LongestWord)}},
		{"joiners", repeated("\u200d"), []string{"long", "\u200d"}},
	}
}

// TestLongDocuments adds the longest texts there may be. Each takes no more memory than a few times
// its characters, is found as the model finds it, and gives it all back when it is removed.
func TestLongDocuments(t *testing.T) {
	t.Parallel()
	for _, long := range longTexts() {
		t.Run(long.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, prompt.LimitMaxText, utf8.RuneCountInString(long.text))
			x, m := New(), newModel()
			for n, d := range []Doc{
				{Title: prompt.Terms("some words")},
				{Title: prompt.Terms("long"), Text: prompt.Terms(long.text)},
				{Title: prompt.Terms("b aaaa")},
			} {
				d.ID = testID(n)
				x.Add(d)
				m.add(d)
			}
			require.Less(t, x.Bytes(), int64(10*prompt.LimitMaxText))
			decoded, err := Decode(x.Encode("x"), "x")
			require.NoError(t, err)
			r := rand.New(rand.NewPCG(61, 4))
			for _, typed := range long.ask {
				words, err := prompt.ParseQuery(typed)
				require.NoError(t, err)
				same(t, r, Query{Words: words}, []*model{m}, []*Index{x})
				same(t, r, Query{Words: words, Newest: true}, []*model{m}, []*Index{decoded})
			}
			x.Remove(testID(1), 1)
			x.Flush()
			require.Less(t, x.Bytes(), int64(2000))
		})
	}
}

// TestTenThousandEdits changes one prompt among others while it is searched. Each search finds it
// once, as it was when the search began or later, and in the end memory is as for one edit.
func TestTenThousandEdits(t *testing.T) { // not parallel: it looks at the heap
	const edits, others = 10_000, 300
	of := func(n int, revision int64) Doc {
		return Doc{
			ID: testID(n), Revision: revision, Author: "ann", Title: prompt.Terms("edited prompt"),
			Text: prompt.Terms(fmt.Sprintf("revision%d of the same text, which has a few more words", revision)),
		}
	}
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	fresh, m := New(), newModel()
	x := New()
	for n := range others {
		d := of(n, 0)
		x.Add(d)
		if n > 0 {
			fresh.Add(d)
			m.add(d)
		}
	}
	x.Flush()
	before := heap()

	words, err := prompt.ParseQuery("edited prompt")
	require.NoError(t, err)
	q := Query{Words: words, Newest: true}
	var done atomic.Bool
	var reached atomic.Int64
	var all sync.WaitGroup
	defer all.Wait()
	defer done.Store(true)
	wrong := make(chan string, 2)
	for range 2 {
		all.Go(func() {
			for !done.Load() {
				least := reached.Load()
				s := Ask(q, x)
				h, ok := s.Find(testID(0))
				if hits := s.Next(2 * others); !ok || h.Revision < least || len(hits) != others {
					wrong <- fmt.Sprintf("%t, revision %d after %d, %d hits", ok, h.Revision, least, len(hits))
					return
				}
			}
		})
	}
	for revision := int64(1); revision <= edits && len(wrong) == 0; revision++ {
		if revision%10 == 0 { // late: the index has a later one
			x.Add(of(0, revision/2))
			x.Remove(testID(0), revision/2)
		}
		x.Add(of(0, revision), of(int(1+revision%(others-1)), revision))
		reached.Store(revision)
	}
	done.Store(true)
	all.Wait()
	require.Empty(t, wrong)

	for n := range others {
		latest := int64(0)
		for revision := int64(edits); revision > edits-others && n > 0; revision-- {
			if 1+revision%(others-1) == int64(n) {
				latest = revision
				break
			}
		}
		if n == 0 {
			latest = edits
		}
		fresh.Add(of(n, latest))
		m.add(of(n, latest))
	}
	r := rand.New(rand.NewPCG(61, 5))
	for _, typed := range []string{"edited prompt", "revision10000", "revision9999", "revision1", "same text", "the"} {
		words, err := prompt.ParseQuery(typed)
		require.NoError(t, err)
		same(t, r, Query{Words: words}, []*model{m}, []*Index{x})
	}
	fresh.Flush()
	require.Less(t, x.Bytes(), 2*fresh.Bytes(), "before the last merges")
	require.Less(t, heap(), before+1<<20)
	x.Flush()
	require.Equal(t, fresh.Bytes(), x.Bytes())
}
