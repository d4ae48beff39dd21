package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/api"
)

func TestOrdersFollowVotes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	doubted, liked, newest := ann.create("doubted"), ann.create("liked"), ann.create("newest")
	vote := func(id, value string, n int) {
		for i := range n {
			w.as(fmt.Sprint(value, i)).do(http.MethodPut, prompts+"/"+id+"/vote", fmt.Sprintf(`{"value":%q}`, value)).is(200)
		}
	}
	vote(doubted.ID, "like", 12)
	vote(doubted.ID, "dislike", 8)
	vote(liked.ID, "like", 3)
	vote(newest.ID, "like", 1)
	w.drain()
	require.Equal(t, []string{"doubted", "liked", "newest"}, ann.get(prompts+"?sort=most-liked").titles())
	require.Equal(t, []string{"doubted", "liked", "newest"}, ann.get(prompts+"?sort=hot").titles(), "all of one week: the score decides")
	require.Equal(t, []string{"liked", "doubted", "newest"}, ann.get(prompts+"?sort=best").titles(), "3 of 3 beat 12 of 20; 1 says nothing yet")
	page := ann.get(prompts + "?sort=best&limit=2").list()
	require.Equal(t, []string{"newest"}, ann.get(prompts+"?sort=best&limit=2&cursor="+page.NextCursor).titles())
	ann.get(prompts + "?sort=hot&limit=2&cursor=" + page.NextCursor).problem(400)
	require.Equal(t, []string{"liked"}, ann.get(prompts+"?sort=best&q=liked").titles())

	var rank api.Rank
	require.NoError(t, json.Unmarshal([]byte(w.as("").get(prompts+"/"+doubted.ID+"/rank").is(200).body), &rank))
	require.Equal(t, api.RankInputs{Likes: 12, Dislikes: 8, CreatedAt: doubted.CreatedAt}, rank.Inputs)
	require.Equal(t, int32(4), rank.MostLiked)
	require.InDelta(t, 0.386578, rank.Best, 1e-6)
	require.NotZero(t, rank.Hot)
	require.NotEmpty(t, rank.Formulas.Hot)
	private := ann.do(http.MethodPost, prompts, `{"title":"P","text":"T"}`).is(201).prompt().ID
	w.as("Bob").get(prompts + "/" + private + "/rank").problem(404)
	w.as("Bob").get(prompts + "/x/rank").problem(404)
}
