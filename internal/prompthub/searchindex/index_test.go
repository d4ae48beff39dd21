package searchindex

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
)

// words are what random prompts and queries are made of: with other endings, accents, joined and in
// two words, chains, runs, stop words, of several languages, and near to each other.
var words = strings.Fields(`
	translator translators translate résumé resume resumes node.js nodejs node js javascript java script codereview code review
	reviews email e mail c++ c c# .net asp.net net news new übersetzung ubersetzung der die und ist le les une pour avec the of to a
	переводчик переводчики ёлка елка 入門 入門書 東京都 京都 日本 modes coder codes codex interview nurse prepare job helping helper help
	gpt4 gpt3 letter later latter`)

func someWords(r *rand.Rand, n int) string {
	all := make([]string, r.IntN(n+1))
	for i := range all {
		all[i] = words[r.IntN(len(words))]
		if r.IntN(20) == 0 {
			all[i] = slip(r, all[i])
		}
	}
	return strings.Join(all, " ")
}

func slip(r *rand.Rand, word string) string {
	rs := []rune(word)
	i := r.IntN(len(rs))
	switch r.IntN(3) {
	case 0:
		return string(slices.Insert(rs, i, 'x'))
	case 1:
		return string(slices.Delete(rs, i, i+1))
	}
	rs[i] = 'q'
	return string(rs)
}

var someTags = []prompt.Tag{"a", "b", "c"}

func testID(n int) prompt.ID {
	var u ulid.ULID
	// of three, the same time
	_ = u.SetTime(uint64(time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC).UnixMilli()) + uint64(n/3))
	u[15] = byte(n)
	u[14] = byte(n >> 8)
	return prompt.ID(u.String())
}

func someDoc(r *rand.Rand, n int) Doc {
	d := Doc{
		ID: testID(n), Revision: int64(r.IntN(4)), Author: prompt.UserID(fmt.Sprint("u", n%3)),
		AuthorName: []string{"ann lee", "bob", "node.js"}[n%3],
		Title:      prompt.Terms(someWords(r, 5)), Text: prompt.Terms(someWords(r, 30)),
	}
	if r.IntN(3) > 0 {
		d.Name, d.Slug = fmt.Sprint("Name-", n%5), fmt.Sprint("slug-", n%7)
	}
	for _, tag := range someTags {
		if r.IntN(2) == 0 {
			d.Tags = append(d.Tags, tag)
		}
	}
	return d
}

func someQuery(t *testing.T, r *rand.Rand) Query {
	text := someWords(r, 5)
	for _, more := range []string{
		` tag:a`, ` -` + words[r.IntN(len(words))], ` author:lee`, ` name:name-1`,
		` "code review"`, ` "` + words[r.IntN(len(words))] + `"`,
	} {
		if r.IntN(12) == 0 {
			text += more
		}
	}
	if r.IntN(4) == 0 && len(text) > 0 {
		text = strings.TrimSuffix(text, text[len(text)-1:])
	}
	q, err := prompt.ParseQuery(strings.ToValidUTF8(text, ""))
	require.NoError(t, err, text)
	x := Query{
		Words: q, InTitle: r.IntN(5) == 0, Verbatim: r.IntN(5) == 0, All: r.IntN(4) == 0,
		Newest: r.IntN(4) == 0, Loose: r.IntN(4) == 0,
	}
	if r.IntN(8) == 0 {
		x.Tags = []prompt.Tag{"b"}
	}
	if r.IntN(8) == 0 {
		x.Author = "u1"
	}
	if r.IntN(8) == 0 {
		x.By = "u1"
	}
	return x
}

// same compares all hits of a search with those of the model, page by page.
func same(t *testing.T, r *rand.Rand, q Query, models []*model, indexes []*Index) {
	t.Helper()
	want := ask(q, models...)
	s := Ask(q, indexes...)
	var got []Hit
	for {
		hits := s.Next(1 + r.IntN(40))
		if len(hits) == 0 {
			break
		}
		got = append(got, hits...)
		if r.IntN(2) == 0 {
			after := s.After(hits[len(hits)-1])
			resumed, err := Resume(q, after, indexes...)
			require.NoError(t, err)
			s = resumed
		}
	}
	show := func(hits []Hit) []string {
		var all []string
		for _, h := range hits {
			all = append(all, fmt.Sprintf("%s %s %d %d %q", h.ID, h.Author, h.Scope, h.Score, h.Found))
		}
		return all
	}
	require.Equal(t, show(want), show(got), "%q %+v", q.Words.String(), q)
}

// TestAgreesWithTheModel changes indexes and models alike, and asks both.
func TestAgreesWithTheModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 61))
		indexes, models := []*Index{New(), New()}, []*model{newModel(), newModel()}
		for step := range 250 {
			i := r.IntN(2)
			x, m := indexes[i], models[i]
			switch r.IntN(20) {
			case 0, 1, 2:
				id, revision := testID(r.IntN(150)*2+i), int64(r.IntN(4))
				x.Remove(id, revision)
				m.remove(id, revision)
			case 3:
				x.Flush()
			case 4:
				decoded, err := Decode(x.Encode("x"), "x")
				require.NoError(t, err)
				indexes[i] = decoded
				clear(m.removed)
			default:
				docs := make([]Doc, 1+r.IntN(3)*r.IntN(8))
				for k := range docs {
					docs[k] = someDoc(r, r.IntN(150)*2+i)
					m.add(docs[k])
				}
				x.Add(docs...)
			}
			require.Equal(t, len(models[i].docs), indexes[i].Len())
			if step%5 == 0 {
				same(t, r, someQuery(t, r), models, indexes)
			}
		}
	}
}
