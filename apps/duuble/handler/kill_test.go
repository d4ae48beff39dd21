package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/api"
	"prompthub/apps/duuble/internal/duubletest"
	"prompthub/internal/host/command"
	"prompthub/internal/testing/apptest"
)

// asHandler has the binary of the tests be the handler.
const asHandler = "DUUBLE_TEST_AS_HANDLER"

func TestMain(m *testing.M) {
	if os.Getenv(asHandler) != "" {
		main()
	}
	os.Exit(m.Run())
}

// process returns the application as a process of its own over new data, which takes as much of a
// person as comes.
func process(t *testing.T) apptest.Process {
	return apptest.Process{T: t, Data: t.TempDir(), Up: up, As: asHandler, Settings: []string{
		"OTP_PER_PHONE=-1", "OTP_PER_ADDRESS=-1", "OTP_PER_COUNTRY=-1", "OTP_PER_HOUR=-1", "ASSETS_PER_DAY=-1",
		"POSTS_PER_DAY=-1", "COMMENTS_PER_DAY=-1", "MESSAGES_PER_DAY=-1", "VOTES_PER_HOUR=-1", "DEV_CODES=true",
	}}
}

// TestKilledUnderLoad: of a service that is killed again and again while people vote and comment
// with pictures no vote and no picture is lost that was acknowledged, and no vote is there twice.
// Right after each kill verify finds nothing wrong, only work that is on its way, and at the end
// nothing at all.
func TestKilledUnderLoad(t *testing.T) {
	const persons, posts, rounds = 12, 10, 5
	p := process(t)
	kill := p.Start()
	at := p.URL
	var tokens, ids []string
	for i := range persons {
		in := enter(t, at, fmt.Sprintf("+3460000010%d", 10+i), printed(t, at))
		settle(t, at, in, fmt.Sprintf("Person%d", i))
		tokens = append(tokens, in.AccessToken)
	}
	for range posts * rounds {
		ids = append(ids, ask[api.Card](t, 201, "POST", at+"/posts", tokens[0],
			api.NewPost{Slider: &api.Slider{Text: "Tea?"}}).PostID)
	}
	vote := func(post, token string) int { // 0 if no answer came
		status, _ := p.Try(http.MethodPost, "/posts/"+post+"/vote", `{"position":"left"}`, asJSON(token)...)
		return status
	}
	verify := func() string {
		var out bytes.Buffer
		require.Zero(t, program().Run(t.Context(), []string{"verify", "--data", p.Data},
			command.Streams{Out: &out, Err: &out}), "%s", &out)
		return out.String()
	}
	var pictures []string
	paint := func() (id string, alive bool) { // a comment with a picture; alive until no answer comes
		status, answer := p.Try(http.MethodPost, "/assets",
			fmt.Sprintf(`{"purpose":"comment","contentType":"image/png","fileSizeBytes":%d}`, len(duubletest.PNG)),
			asJSON(tokens[0])...)
		var a api.Asset
		if status == http.StatusCreated {
			require.NoError(t, json.Unmarshal([]byte(answer), &a))
			status, _ = p.Try(http.MethodPut, "/assets/"+a.AssetID+"/content", string(duubletest.PNG), "Content-Type",
				"image/png", "Authorization", "Bearer "+tokens[0])
		}
		if status == http.StatusOK {
			status, _ = p.Try(http.MethodPost, "/posts/"+ids[0]+"/comments",
				`{"assetId":"`+a.AssetID+`"}`, asJSON(tokens[0])...)
		}
		if status == http.StatusCreated {
			return a.AssetID, true
		}
		return "", status != 0
	}
	acknowledged := map[string]bool{}
	for round := range rounds {
		hot := ids[round*posts : (round+1)*posts]
		answers := make(chan string)
		var voters sync.WaitGroup
		for _, token := range tokens {
			voters.Go(func() {
				for _, post := range hot {
					if vote(post, token) == http.StatusCreated {
						answers <- post + token
					}
				}
			})
		}
		var painter sync.WaitGroup
		painter.Go(func() {
			for id, alive := paint(); alive; id, alive = paint() {
				if id != "" {
					pictures = append(pictures, id)
				}
			}
		})
		go func() { voters.Wait(); close(answers) }()
		most := persons * posts * (1 + round) / (2 + rounds) // it dies in the middle of the others
		for name := range answers {
			acknowledged[name] = true
			if most--; most == 0 {
				go kill()
			}
		}
		kill()
		painter.Wait()
		verify()
		kill = p.Start()
		at = p.URL
	}
	require.NotEmpty(t, pictures)
	for _, id := range pictures {
		shown(t, at, tokens[0], id)
	}
	again := 0
	for _, post := range ids {
		for _, token := range tokens {
			status := vote(post, token)
			if acknowledged[post+token] {
				require.Equal(t, http.StatusConflict, status, "a vote that was acknowledged is lost")
				continue
			}
			require.Contains(t, []int{http.StatusCreated, http.StatusConflict}, status)
			again++
		}
		summary := ask[api.Summary](t, 200, "GET", at+"/posts/"+post+"/vote/summary", tokens[0], nil)
		require.EqualValues(t, persons, summary.TotalVotes)
	}
	require.Positive(t, again, "no kill came in the middle")
	require.NotEmpty(t, acknowledged)
	me := func(token string) int64 {
		return ask[api.Me](t, 200, "GET", at+"/users/me", token, nil).Counts.VotesCast
	}
	for _, token := range tokens { // messages bring the rest of votes before a kill
		require.Eventually(t, func() bool { return me(token) == posts*rounds }, 3*time.Minute, 100*time.Millisecond)
	}
	for end := time.Now().Add(3 * time.Minute); ; {
		kill()
		said := verify()
		if !strings.Contains(said, "on its way") {
			return
		}
		require.True(t, time.Now().Before(end), said)
		kill = p.Start()
		time.Sleep(time.Second) // activities come by messages likewise, and only while it runs
	}
}
