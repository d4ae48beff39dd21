package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/api"
)

// TestSecretLikes: twenty like a member secretly. No answer and no page of that member tells one of
// them from a member that does not like them, to the letter. They learn a number alone.
func TestSecretLikes(t *testing.T) {
	site, _ := local(t, t.TempDir())
	at := up(t, site)
	bob := ask[api.Session](t, 201, "POST", at+"/auth/register", "", newcomer("bob"))
	var others []api.Session
	for i := range 21 {
		others = append(others, ask[api.Session](t, 201, "POST", at+"/auth/register", "",
			newcomer(fmt.Sprint("fan-", 10+i))))
	}
	fans, stranger := others[:20], others[20]
	for i, fan := range fans {
		if i%2 == 0 { // their setting says so
			ask[any](t, 200, "PUT", at+"/settings/privacy", fan.AccessToken,
				map[string]any{
					"profileVisibility": "public", "anonymousLikes": true, "language": "ru",
					"notificationsEnabled": true, "emailNotifications": true,
				})
			ask[api.Like](t, 201, "POST", at+"/likes", fan.AccessToken, map[string]any{"toUserId": bob.User.UserID})
		} else {
			ask[api.Like](t, 201, "POST", at+"/likes", fan.AccessToken,
				map[string]any{"toUserId": bob.User.UserID, "anonymous": true})
		}
	}
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	browser := &http.Client{Jar: jar}
	read := func(resp *http.Response, err error) string {
		t.Helper()
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusOK, resp.StatusCode)
		return string(body)
	}
	page := func(path string) string {
		t.Helper()
		return read(browser.Get(site + path)) //nolint:noctx // it ends with the test
	}
	read(browser.PostForm(site+"/app/sign-in", url.Values{"email": {"bob@example.com"}, "password": {"tea under seven lamps"}})) //nolint:noctx // as above
	answer := func(path string) string {
		t.Helper()
		text, err := json.Marshal(ask[any](t, 200, "GET", at+path, bob.AccessToken, nil))
		require.NoError(t, err)
		return string(text)
	}

	require.Equal(t, 20, ask[api.Received](t, 200, "GET", at+"/likes/received", bob.AccessToken, nil).AnonymousCount)
	require.Contains(t, page("/app/likes"), "20 тайных лайков")
	for _, text := range []string{
		answer("/auth/me"), answer("/likes/received?limit=50"), answer("/likes/sent"), answer("/matches"),
		answer("/chats"), answer("/blocks"), answer("/settings"),
		page("/app"), page("/app/likes"), page("/app/matches"), page("/app/chats"),
		page("/app/settings"), page("/app/me"),
	} {
		for _, fan := range fans {
			require.NotContains(t, text, fan.User.UserID)
			require.NotContains(t, text, fan.User.Name)
		}
	}
	of := func(s api.Session, text string) string {
		return strings.NewReplacer(s.User.UserID, "ID", s.User.Name, "NAME").Replace(text)
	}
	seen, shown := of(stranger, answer("/users/"+stranger.User.UserID)),
		of(stranger, page("/app/people/"+stranger.User.UserID))
	for _, fan := range fans {
		require.Equal(t, seen, of(fan, answer("/users/"+fan.User.UserID)))
		require.Equal(t, shown, of(fan, page("/app/people/"+fan.User.UserID)))
	}
	cards := map[string]int{}
	for next := ""; ; {
		deck := ask[api.List[map[string]any]](t, 200, "GET", at+"/users?limit=20"+next, bob.AccessToken, nil)
		for _, card := range deck.Items {
			delete(card, "userId")
			delete(card, "name")
			text, err := json.Marshal(card)
			require.NoError(t, err)
			cards[string(text)]++
		}
		if deck.NextCursor == "" {
			break
		}
		next = "&cursor=" + url.QueryEscape(deck.NextCursor)
	}
	require.Len(t, cards, 1, "the cards of the deck differ by who it is alone")
	for _, n := range cards {
		require.Equal(t, 21, n)
	}
}
