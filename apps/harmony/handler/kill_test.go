package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/api"
	"prompthub/internal/host/command"
	"prompthub/internal/testing/apptest"
)

// asHandler has the binary of the tests be the handler.
const asHandler = "HARMONY_TEST_AS_HANDLER"

func TestMain(m *testing.M) {
	if os.Getenv(asHandler) != "" {
		main()
	}
	if err := os.Setenv("SIGN_UPS_AN_HOUR", "-1"); err != nil { // all come from one address
		panic(err)
	}
	os.Exit(m.Run())
}

// process returns the application as a process of its own over new data.
func process(t *testing.T) apptest.Process {
	return apptest.Process{T: t, Data: t.TempDir(), Up: up, As: asHandler, Settings: []string{"LIMIT_AT_WORK=-1"}}
}

// A killed service is a process that is killed, and started again, over the same data.
type killed struct {
	apptest.Process

	mu    sync.Mutex
	kept  map[string]bool // all that was acknowledged
	count map[string]int  // how much of it, by kinds
}

// ack takes down that something was acknowledged, if it was.
func (k *killed) ack(kind, what, method, path, token, body string) bool {
	status, _ := k.Try(method, path, body, "Content-Type", "application/json", "Authorization", "Bearer "+token)
	if status != http.StatusCreated {
		return status != 0
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kept[kind+" "+what] = true
	k.count[kind]++
	return true
}

// TestKilled kills the service three times while people register, like, write and attend. Each
// account, like, message and place that was acknowledged is there, once, and there are no more
// attendees than places. Within the minute of the messages all rows are as they must be.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes, and waits for what their messages finish")
	}
	t.Parallel() // it waits most of its time
	k := &killed{Process: process(t), kept: map[string]bool{}, count: map[string]int{}}
	kill := k.Start()
	const people, places = 10, 5
	all := make([]api.Session, people)
	for i := range all {
		all[i] = ask[api.Session](t, 201, "POST", k.URL+"/auth/register", "", newcomer(fmt.Sprint("member", i)))
	}
	kill()
	does(t, command.OK, "role", "member0@example.com", "admin", "--data", k.Data)
	kill = k.Start()
	event := ask[api.Event](t, 201, "POST", k.URL+"/admin/events", all[0].AccessToken, map[string]any{
		"title": "Concert", "description": "", "startDate": "2126-12-31T20:00:00Z", "location": "", "capacity": places,
		"category": "concert", "visibility": "public", "isPublished": true,
	}).EventID
	ask[api.Like](t, 201, "POST", k.URL+"/likes", all[0].AccessToken, map[string]any{"toUserId": all[1].User.UserID})
	room := *ask[api.Like](t, 201, "POST", k.URL+"/likes", all[1].AccessToken,
		map[string]any{"toUserId": all[0].User.UserID}).ChatID

	const rounds = 3
	for round := range rounds {
		before := map[string]int{}
		k.mu.Lock()
		for kind, n := range k.count {
			before[kind] = n
		}
		k.mu.Unlock()
		var work sync.WaitGroup
		work.Go(func() { // pairs of distances of their own, so that each like is a new one
			for from := range people {
				for _, far := range []int{1 + 3*round, 2 + 3*round, 3 + 3*round} {
					to := (from + far) % people
					if from > 1 && !k.ack("like", fmt.Sprint(from, " ", to), "POST", "/likes", all[from].AccessToken,
						fmt.Sprintf(`{"toUserId":%q,"anonymous":false}`, all[to].User.UserID)) {
						return
					}
				}
			}
		})
		work.Go(func() {
			for n := 0; k.ack("message", fmt.Sprintf("text %d.%d", round, n), "POST", "/chats/"+room+"/messages",
				all[n%2].AccessToken, fmt.Sprintf(`{"content":"text %d.%d"}`, round, n)); n++ {
			}
		})
		work.Go(func() {
			for n := 0; ; n++ {
				name := fmt.Sprintf("late%d.%d", round, n)
				body := fmt.Sprintf(`{"email":"%s@example.com","password":"tea under seven lamps","name":"x","birthDate":"2000-02-29","gender":"female","language":"ru"}`, name)
				if !k.ack("account", name, "POST", "/auth/register", "", body) {
					return
				}
			}
		})
		work.Go(func() {
			for n := range people {
				member := (n + 3*round) % people
				if !k.ack("place", all[member].User.UserID, "POST", "/events/"+event+"/register",
					all[member].AccessToken, `{}`) {
					return
				}
			}
		})
		require.Eventually(t, func() bool {
			k.mu.Lock()
			defer k.mu.Unlock()
			return k.count["like"] > before["like"]+4 && k.count["message"] > before["message"]+4 &&
				k.count["account"] > before["account"]
		}, time.Minute, time.Millisecond)
		kill()
		work.Wait()
		kill = k.Start()
	}

	sent := map[string]int{}
	for from, one := range all {
		for _, l := range ask[api.List[api.SentLike]](t, 200, "GET", k.URL+"/likes/sent?limit=50",
			one.AccessToken, nil).Items {
			for to, other := range all {
				if other.User.UserID == l.User.UserID {
					sent[fmt.Sprint("like ", from, " ", to)]++
				}
			}
		}
	}
	for path := "/chats/" + room + "/messages?limit=50"; path != ""; {
		page := ask[api.List[api.Message]](t, 200, "GET", k.URL+path, all[0].AccessToken, nil)
		for _, m := range page.Items {
			sent["message "+m.Content]++
		}
		path = ""
		if page.NextCursor != "" {
			path = "/chats/" + room + "/messages?limit=50&cursor=" + page.NextCursor
		}
	}
	attendees := ask[api.List[api.Attendee]](t, 200, "GET", k.URL+"/events/"+event+"/attendees?limit=50",
		all[0].AccessToken, nil).Items
	require.LessOrEqual(t, len(attendees), places)
	for _, a := range attendees {
		if a.User != nil && a.User.UserID != nil {
			sent["place "+*a.User.UserID]++
		}
	}
	for what := range k.kept {
		if name, is := strings.CutPrefix(what, "account "); is {
			ask[api.Session](t, 200, "POST", k.URL+"/auth/login", "",
				api.Credentials{Email: name + "@example.com", Password: "tea under seven lamps"})
			continue
		}
		require.Equal(t, 1, sent[what], what)
	}
	for what, n := range sent {
		require.Equal(t, 1, n, what)
	}

	// verify needs the file for itself, so the service stops for each look.
	for end := time.Now().Add(3 * time.Minute); ; {
		kill()
		var out, errs apptest.Output
		if program().Run(t.Context(), []string{"verify", "--data", k.Data},
			command.Streams{Out: &out, Err: &errs}) == command.OK {
			break
		}
		require.True(t, time.Now().Before(end), "%s%s", &out, &errs)
		kill = k.Start()
		time.Sleep(10 * time.Second) // messages are seen 30 s after they were sent
	}
}
