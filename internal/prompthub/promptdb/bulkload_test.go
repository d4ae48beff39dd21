package promptdb_test

import (
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

func likedByNobody(prompts []prompt.Prompt) iter.Seq2[prompt.Prompt, []prompt.UserID] {
	return func(yield func(prompt.Prompt, []prompt.UserID) bool) {
		for _, p := range prompts {
			if !yield(p, nil) {
				return
			}
		}
	}
}

func TestFillLeavesEverythingAtRest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var all []prompt.Prompt
	for i := range 300 {
		w.clock.Advance(time.Millisecond)
		all = append(all, w.made(prompt.UserID(fmt.Sprint("author ", i%7)),
			draft(fmt.Sprintf("Number %03d of many", i), "text")))
	}
	rows, err := w.BulkLoad(t.Context(), likedByNobody(all), 8)
	require.NoError(t, err)
	require.Greater(t, rows, 300*10)
	w.check()
	require.Len(t, w.newest(20), 300)
	require.Equal(t, "Number 299 of many", w.newest(20)[0])
	_, err = w.BulkLoad(t.Context(), likedByNobody(all[:1]), 8)
	require.Error(t, err, "what is there already is not overwritten")
}

func TestFillWritesTallies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.made("ann", draft("liked", "text"))
	p.Tally = prompt.Tally{Likes: 17, Dislikes: 4}
	_, err := w.BulkLoad(t.Context(), likedByNobody([]prompt.Prompt{p}), 8)
	require.NoError(t, err)
	got, err := w.Get(t.Context(), "vera", p.ID)
	require.NoError(t, err)
	require.Equal(t, p.Tally, got.Tally)
	page, err := w.Ranked(t.Context(), promptdb.MostLiked, "", 20)
	require.NoError(t, err)
	require.Equal(t, p.Tally, page.Items[0].Tally)
}

func TestFillWritesVotes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.made("ann", draft("liked", "text"))
	var likers []prompt.UserID
	for i := range 12 {
		likers = append(likers, prompt.UserID(fmt.Sprint("voter ", i)))
	}
	_, err := w.BulkLoad(t.Context(), func(yield func(prompt.Prompt, []prompt.UserID) bool) { yield(p, likers) }, 8)
	require.NoError(t, err)
	w.check()
	got, err := w.Get(t.Context(), "voter 3", p.ID)
	require.NoError(t, err)
	require.Equal(t, prompt.Tally{Likes: 12}, got.Unweighed())
	require.Equal(t, prompt.Like, got.MyVote)
	page, err := w.MyVotes(t.Context(), "voter 3", prompt.None, "", 20)
	require.NoError(t, err)
	require.Len(t, page.Items, 1)
}
