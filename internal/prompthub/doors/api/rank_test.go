package api_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/doors/api"
)

func TestOrdersFollowVotes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	doubted, liked, newest := ann.create("doubted"), ann.create("liked"), ann.create("newest")
	vote := func(id, value string, n int) {
		for i := range n {
			w.as(fmt.Sprint(value, i)).do(http.MethodPut, prompts+"/"+id+"/vote",
				fmt.Sprintf(`{"value":%q}`, value)).is(200)
		}
	}
	vote(doubted.ID, "like", 12)
	vote(doubted.ID, "dislike", 8)
	vote(liked.ID, "like", 3)
	vote(newest.ID, "like", 1)
	w.drain()
	require.Equal(t, []string{"doubted", "liked", "newest"}, ann.get(prompts+"?sort=most-liked").titles())
	require.Equal(t, []string{"doubted", "liked", "newest"}, ann.get(prompts+"?sort=hot").titles(),
		"all of one week: the score decides")
	require.Equal(t, []string{"liked", "doubted", "newest"}, ann.get(prompts+"?sort=best").titles(),
		"3 of 3 beat 12 of 20; 1 says nothing yet")
	require.Equal(t, []string{"doubted", "liked", "newest"}, ann.get(prompts+"?sort=trending").titles(),
		"all of one hour: the score decides")
	page := ann.get(prompts + "?sort=best&limit=2").list()
	require.Equal(t, []string{"newest"}, ann.get(prompts+"?sort=best&limit=2&cursor="+page.NextCursor).titles())
	ann.get(prompts + "?sort=hot&limit=2&cursor=" + page.NextCursor).problem(400)
	require.Equal(t, []string{"liked"}, ann.get(prompts+"?sort=best&q=liked").titles())

	var rank api.Rank
	require.NoError(t, json.Unmarshal([]byte(w.as("").get(prompts+"/"+doubted.ID+"/rank").is(200).body), &rank))
	require.Equal(t, api.RankInputs{Likes: 12, Dislikes: 8, Weight: rank.Inputs.Weight, CreatedAt: doubted.CreatedAt},
		rank.Inputs)
	weight, err := strconv.ParseFloat(rank.Inputs.Weight, 64)
	require.NoError(t, err)
	require.InDelta(t, math.Log2(weight), rank.Trending, 2e-6)
	hours := math.Floor(w.clock.Now().Sub(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)).Hours())
	require.InDelta(t, hours/168+2, rank.Trending, 2e-6, "four likes of this hour")
	require.Equal(t, int32(4), rank.MostLiked)
	require.InDelta(t, 0.386578, rank.Best, 1e-6)
	require.NotZero(t, rank.Hot)
	require.NotEmpty(t, rank.Formulas.Hot)
	require.NotEmpty(t, rank.Formulas.Trending)
	private := ann.do(http.MethodPost, prompts, `{"title":"P","text":"T"}`).is(201).prompt().ID
	w.as("Bob").get(prompts + "/" + private + "/rank").problem(404)
	w.as("Bob").get(prompts + "/x/rank").problem(404)

	w.clock.Advance(15 * 24 * time.Hour)
	vote(newest.ID, "like", 5) // one of which was there
	vote(liked.ID, "dislike", 1)
	w.drain()
	require.Equal(t, []string{"newest", "doubted", "liked"}, ann.get(prompts+"?sort=trending").titles(),
		"four likes of today outweigh four of a fortnight ago, and a dislike three")
	require.NoError(t, json.Unmarshal([]byte(ann.get(prompts+"/"+liked.ID+"/rank").is(200).body), &rank))
	require.Negative(t, rank.Trending)
	require.Equal(t, "-", rank.Inputs.Weight[:1])
}
