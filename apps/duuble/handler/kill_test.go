package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/api"
	"prompthub/internal/host/command"
	"prompthub/internal/testing/apptest"
)

// killedIn is the variable by which a test has this binary run the application on a folder, so that
// it can be killed.
const killedIn = "DUUBLE_KILLED_IN"

func TestMain(m *testing.M) {
	if data := os.Getenv(killedIn); data != "" {
		std := command.Streams{In: bytes.NewReader(nil), Out: os.Stdout, Err: os.Stderr}
		os.Exit(program().Run(context.Background(), []string{"local", "--addr", "127.0.0.1:0", "--data", data}, std))
	}
	os.Exit(m.Run())
}

// begin starts the application as another process, and returns its address and a function that
// kills it.
func begin(t *testing.T, data string) (at string, kill func()) {
	t.Helper()
	var out apptest.Output
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = apptest.Environ(killedIn+"="+data, "OTP_PER_PHONE=-1", "OTP_PER_ADDRESS=-1", "OTP_PER_COUNTRY=-1", "OTP_PER_HOUR=-1", "DEV_CODES=true")
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	kill = sync.OnceFunc(func() {
		_ = cmd.Process.Kill() // SIGKILL
		_ = cmd.Wait()         // which says that it was killed
	})
	t.Cleanup(kill)
	var found []string
	require.Eventually(t, func() bool {
		found = regexp.MustCompile(`listens on (http://\S+)\n`).FindStringSubmatch(out.String())
		return found != nil
	}, 60*time.Second, 5*time.Millisecond, "it does not start: %s", &out)
	return up(t, found[1]), kill
}

// TestKilledUnderLoad: of a service that is killed again and again while people vote no vote is
// lost that was acknowledged, none is there twice, and verify finds no difference.
func TestKilledUnderLoad(t *testing.T) {
	const persons, posts, rounds = 12, 10, 5
	data := t.TempDir()
	at, kill := begin(t, data)
	var tokens, ids []string
	for i := range persons {
		in := enter(t, at, fmt.Sprintf("+3460000010%d", 10+i), printed(t, at))
		settle(t, at, in, fmt.Sprintf("Person%d", i))
		tokens = append(tokens, in.AccessToken)
	}
	for range posts * rounds {
		ids = append(ids, ask[api.Card](t, 201, "POST", at+"/posts", tokens[0], api.NewPost{Slider: &api.Slider{Text: "Tea?"}}).PostID)
	}
	vote := func(at, post, token string) int { // 0 if no answer came
		body, err := json.Marshal(api.NewVote{Position: "left"})
		require.NoError(t, err)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at+"/posts/"+post+"/vote", bytes.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			return 0
		}
		defer resp.Body.Close()
		return resp.StatusCode
	}
	acknowledged := map[string]bool{}
	for round := range rounds {
		hot := ids[round*posts : (round+1)*posts]
		answers := make(chan string)
		var voters sync.WaitGroup
		for _, token := range tokens {
			voters.Go(func() {
				for _, post := range hot {
					if vote(at, post, token) == http.StatusCreated {
						answers <- post + token
					}
				}
			})
		}
		go func() { voters.Wait(); close(answers) }()
		most := persons * posts * (1 + round) / (2 + rounds) // it dies in the middle of the others
		for name := range answers {
			acknowledged[name] = true
			if most--; most == 0 {
				go kill()
			}
		}
		kill()
		at, kill = begin(t, data)
	}
	again := 0
	for _, post := range ids {
		for _, token := range tokens {
			status := vote(at, post, token)
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
		var out bytes.Buffer
		if program().Run(t.Context(), []string{"verify", "--data", data}, command.Streams{Out: &out, Err: &out}) == 0 {
			return
		}
		require.True(t, time.Now().Before(end), "%s", &out)
		_, kill = begin(t, data)
		time.Sleep(time.Second) // activities come by messages likewise, and only while it runs
	}
}
