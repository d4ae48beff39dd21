package searchindex

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
)

// TestWordOfNoPrompt holds that a word that no living prompt has takes no part of a query: a prompt
// with the other words is found, however little they tell.
func TestWordOfNoPrompt(t *testing.T) {
	t.Parallel()
	ask := func(x *Index, text string, as Query) int {
		var err error
		as.Words, err = prompt.ParseQuery(text)
		require.NoError(t, err)
		s := Ask(as, x)
		require.Len(t, s.Next(1000), s.Len())
		return s.Len()
	}
	one := New()
	one.Add(Doc{ID: testID(0), Title: prompt.Terms("word0")})
	require.Equal(t, 1, ask(one, "unheard word0", Query{}))

	const many = 100
	for _, flushed := range []bool{false, true} {
		x := New()
		for i := range many {
			x.Add(Doc{ID: testID(i), Title: prompt.Terms(fmt.Sprint("word0 number", i))})
		}
		for _, as := range []Query{{}, {All: true}, {Newest: true}, {Loose: true}, {Verbatim: true}, {InTitle: true}} {
			require.Equal(t, many, ask(x, "unheard word0", as), "%+v", as)
		}
		x.Add(Doc{ID: testID(many), Title: prompt.Terms("unheard")})
		require.Equal(t, 1, ask(x, "unheard word0", Query{}),
			"word0 is too small a share where a prompt has the other word")
		require.Equal(t, 0, ask(x, "unheard word0", Query{All: true}))
		x.Remove(testID(many), 1)
		if flushed {
			x.Flush()
		}
		for _, as := range []Query{{}, {All: true}, {Newest: true}, {Loose: true}, {Verbatim: true}, {InTitle: true}} {
			require.Equal(t, many, ask(x, "unheard word0", as), "%+v", as)
		}
	}
}
