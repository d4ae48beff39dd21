package searchindex

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
)

// FuzzSearch compares two indexes with the model. Each line is a change: of the prompt that its
// first letter names, to a title and, after a bar, a text; a line of that letter alone removes it,
// and an empty one merges what there is. The bits of how say what the query is asked with.
func FuzzSearch(f *testing.F) {
	f.Add("aReview my code|review the code of node.js\nbcodereview\n\nctranslators|übersetzung 入門書\nb",
		"code reviews", uint16(0))
	f.Add("aSing\nbsinging in Rome|e mail\ncemail me", "emial sings", uint16(3))
	f.Add("a東京都の天気|ภาษาไทย\nb京都", "東京", uint16(7))
	f.Add("athe a of|the\nba\ncof the", "the of", uint16(64))
	r := rand.New(rand.NewPCG(61, 61))
	for range 8 {
		var lines []string
		for range 12 {
			line := string(rune('a' + r.IntN(8)))
			if r.IntN(4) > 0 {
				line += someWords(r, 4) + "|" + someWords(r, 8)
			}
			lines = append(lines, line)
		}
		f.Add(strings.Join(lines, "\n"), someWords(r, 4), uint16(r.Uint32()))
	}
	f.Fuzz(func(t *testing.T, changes, query string, how uint16) {
		words, err := prompt.ParseQuery(query)
		if err != nil || !utf8.ValidString(changes) || len(changes) > 2000 {
			t.Skip("it comes no further than here")
		}
		bit := func(i int) bool { return how>>i&1 == 1 }
		indexes, models := []*Index{New(), New()}, []*model{newModel(), newModel()}
		for i, line := range strings.Split(changes, "\n") {
			if line == "" {
				indexes[0].Flush()
				continue
			}
			first, size := utf8.DecodeRuneInString(line)
			at := int(first) % 16
			d := Doc{
				ID: testID(at), Revision: int64(i / 2), Author: prompt.UserID(fmt.Sprint("u", at%2)),
				AuthorName: "ann lee",
				Name:       fmt.Sprint("name-", at%3), Tags: someTags[:at%4],
			}
			x, m := indexes[at%2], models[at%2]
			if line = line[size:]; line == "" {
				x.Remove(d.ID, d.Revision)
				m.remove(d.ID, d.Revision)
				continue
			}
			title, text, _ := strings.Cut(line, "|")
			d.Title, d.Text = prompt.Terms(title), prompt.Terms(text)
			x.Add(d)
			m.add(d)
		}
		q := Query{Words: words, InTitle: bit(0), Verbatim: bit(1), All: bit(2), Newest: bit(3), Loose: bit(4)}
		if bit(5) {
			q.By = "u1"
		}
		if bit(6) {
			q.Tags = someTags[:1]
		}
		same(t, rand.New(rand.NewPCG(uint64(how), 61)), q, models, indexes)
	})
}

// FuzzResume goes on from positions that no search gave. One that is not refused gives hits, each
// once.
func FuzzResume(f *testing.F) {
	words, err := prompt.ParseQuery("the promt translaters")
	if err != nil {
		f.Fatal(err)
	}
	x, err := Decode(snapshotOf(200), testLabel)
	if err != nil {
		f.Fatal(err)
	}
	for _, q := range []Query{{Words: words}, {Words: words, Newest: true}} {
		s := Ask(q, x)
		f.Add(s.After(s.Next(1)[0]), q.Newest)
		f.Add(s.After(s.Next(20)[19]), q.Newest)
	}
	f.Fuzz(func(t *testing.T, after string, newest bool) {
		s, err := Resume(Query{Words: words, Newest: newest}, after, x)
		if err != nil {
			require.ErrorIs(t, err, ErrPosition)
			return
		}
		seen := map[prompt.ID]bool{}
		for _, h := range s.Next(100) {
			require.False(t, seen[h.ID])
			seen[h.ID] = true
			_, ok := parsePosition(s.After(h), len(s.slots))
			require.True(t, ok)
		}
	})
}
