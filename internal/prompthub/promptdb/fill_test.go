package promptdb_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
)

func TestFillLeavesEverythingAtRest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var all []prompt.Prompt
	for i := range 300 {
		w.clock.Advance(time.Millisecond)
		all = append(all, w.made(fmt.Sprint("author ", i%7), draft(fmt.Sprintf("Number %03d of many", i), "text")))
	}
	rows, err := w.Fill(t.Context(), slices.Values(all))
	require.NoError(t, err)
	require.Greater(t, rows, 300*10)
	w.check()
	require.Len(t, w.newest(20), 300)
	require.Equal(t, "Number 299 of many", w.newest(20)[0])
	_, err = w.Fill(t.Context(), slices.Values(all[:1]))
	require.Error(t, err, "what is there already is not overwritten")
}

func TestFillWritesTallies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.made("ann", draft("liked", "text"))
	p.Tally = prompt.Tally{Likes: 17, Dislikes: 4}
	_, err := w.Fill(t.Context(), slices.Values([]prompt.Prompt{p}))
	require.NoError(t, err)
	got, err := w.Get(t.Context(), "vera", p.ID)
	require.NoError(t, err)
	require.Equal(t, p.Tally, got.Tally)
	page, err := w.MostLiked(t.Context(), "", 20)
	require.NoError(t, err)
	require.Equal(t, p.Tally, page.Items[0].Tally)
}
