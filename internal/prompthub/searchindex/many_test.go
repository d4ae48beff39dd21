package searchindex

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
)

// TestManyAgreeWithTheModel asks of prompts that are scored in several windows, and of which not
// all hits are ordered at once.
func TestManyAgreeWithTheModel(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 61))
	x, m := New(), newModel()
	docs := make([]Doc, window+window/4)
	for i := range docs {
		docs[i] = someDoc(r, i)
		m.add(docs[i])
	}
	x.Add(docs...)
	for i := range 100 {
		x.Remove(testID(41*i), 9)
		m.remove(testID(41*i), 9)
	}
	words, err := prompt.ParseQuery("to")
	require.NoError(t, err)
	queries := []Query{{}, {Words: words}, {Words: words, Newest: true}}
	for range 4 {
		queries = append(queries, someQuery(t, r))
	}
	for _, q := range queries {
		same(t, r, q, []*model{m}, []*Index{x})
	}
}

// TestExactTitleIsFirst has a thousand prompts and more with higher scores than the one whose title
// is the query.
func TestExactTitleIsFirst(t *testing.T) {
	t.Parallel()
	x := New()
	docs := make([]Doc, 3*atOnce)
	for i := range docs {
		docs[i] = Doc{ID: testID(i), Title: []string{"nurse", "nurse"}, Text: slices.Repeat([]string{"nurse"}, 20)}
	}
	docs[2000] = Doc{ID: testID(2000), Title: []string{"nurse"}, Text: slices.Repeat([]string{"other"}, 20)}
	x.Add(docs...)
	words, err := prompt.ParseQuery("nurse")
	require.NoError(t, err)
	s := Ask(Query{Words: words}, x)
	require.Equal(t, testID(2000), s.Next(1)[0].ID)
	require.Equal(t, len(docs), s.Len())
	require.Len(t, s.Next(len(docs)), len(docs)-1)
}
