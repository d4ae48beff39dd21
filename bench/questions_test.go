package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/prompt/prompttest"
)

// BenchmarkQuestions asks what people type, made of the titles and texts of real prompts, of
// libraries of 1, 10 and 100 times these prompts, by relevance and newest first. It reports how
// many rows an answer takes, and how much of the processors, which other work on the machine does
// not change. The copies of a prompt are newer than it, and differ in a number at the end of the
// title: no library of people is as hard.
func BenchmarkQuestions(b *testing.B) {
	ds := prompttest.Real(b)
	for _, copies := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("prompts=%d", copies*len(ds)), func(b *testing.B) {
			h, m, db := inProcess(b)
			_, err := db.BulkLoad(b.Context(), copiesOf(ds, copies), embeddedParallel)
			require.NoError(b, err)
			_, err = db.CountTags(b.Context())
			require.NoError(b, err)
			for _, kind := range questionsOf(ds) {
				for _, order := range []string{"relevance", "newest"} {
					b.Run(kind.name+"/"+order, func(b *testing.B) {
						b.ReportAllocs()
						rows, before := m.scanned.Load(), processorTime(b)
						for i := 0; b.Loop(); i++ {
							answer(b, h, call{method: http.MethodGet, path: "/prompts?limit=20&sort=" + order + "&q=" +
								url.QueryEscape(kind.of[i%len(kind.of)])})
						}
						b.ReportMetric(float64((processorTime(b)-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
						b.ReportMetric(float64(m.scanned.Load()-rows)/float64(b.N), "rows/op")
					})
				}
			}
		})
	}
}

// copiesOf yields some prompts, and then copies of them, each with up to five likes.
func copiesOf(ds []prompt.Draft, copies int) func(yield func(prompt.Prompt, []prompt.UserID) bool) {
	l := corpus{Prompts: copies * len(ds), Until: time.Now()}
	return func(yield func(prompt.Prompt, []prompt.UserID) bool) {
		for i := range l.Prompts {
			d, id, author := ds[i%len(ds)], l.id(i), hubUser(i%comparedVoters)
			if n := i / len(ds); n > 0 {
				d.Title = fmt.Sprintf("%s %d", d.Title, n)
			}
			var likers []prompt.UserID
			for n := range i % 6 {
				likers = append(likers, prompt.UserID(hubUser(n)))
			}
			p := prompt.Prompt{
				ID: id, AuthorID: prompt.UserID(author), AuthorName: author, CreatedAt: id.Time(),
				UpdatedAt: id.Time(), Revision: 1, Draft: d,
			}
			if !yield(p, likers) {
				return
			}
		}
	}
}

type questions struct {
	name string
	of   []string
}

// questionsOf returns a thousand questions of each kind.
func questionsOf(ds []prompt.Draft) []questions {
	r := rand.New(rand.NewPCG(1, 2))
	slip := prompttest.Ways(ds)[1]
	some := func(text string, n int) string {
		words := prompttest.Words(text)
		at := r.IntN(max(len(words)-n+1, 1))
		return strings.Join(words[at:min(at+n, len(words))], " ")
	}
	kinds := []questions{
		{name: "a-title"},
		{name: "a-word-of-a-title"},
		{name: "two-words-of-a-title"},
		{name: "a-word-of-a-text"},
		{name: "a-title-with-a-slip"},
	}
	for i := range kinds {
		for len(kinds[i].of) < 1000 {
			d := ds[r.IntN(len(ds))]
			typed, ok := strings.Join(prompttest.Words(d.Title), " "), true
			switch i {
			case 1:
				typed = some(d.Title, 1)
			case 2:
				typed = some(d.Title, 2)
			case 3:
				typed = some(d.Text, 1)
			case 4:
				typed, ok = slip.Type(d.Title)
			}
			if ok && asks(typed) {
				kinds[i].of = append(kinds[i].of, typed)
			}
		}
	}
	return kinds
}
