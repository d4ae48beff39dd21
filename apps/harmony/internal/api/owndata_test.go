package api_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/chats"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/http/openapi/openapitest"
)

// TestOwnData: a member gets the own data, each message of their chats once over all parts, without
// secrets and without what others keep to themselves, once an hour. A guest gets nothing.
func TestOwnData(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorldOfToday(t)
		w.Handler = openapitest.New(t, w).Enforce(t, w.Handler)
		annaID, anna, _ := w.account("anna")
		bobID, bob, _ := w.account("bob")
		_, carol, _ := w.account("carol")
		doraID, dora, _ := w.account("dora")
		w.ask("POST", "/likes", carol, `{"toUserId":"`+annaID+`","anonymous":true}`)
		w.ask("POST", "/likes", anna, `{"toUserId":"`+bobID+`"}`)
		_, like := w.ask("POST", "/likes", bob, `{"toUserId":"`+annaID+`"}`)
		w.ask("POST", "/likes", anna, `{"toUserId":"`+doraID+`"}`)
		_, second := w.ask("POST", "/likes", dora, `{"toUserId":"`+annaID+`"}`)
		claim, err := meet.ParseAccess(bob)
		require.NoError(t, err)
		rooms := chats.New(w.service, w.events)
		send := func(text string) {
			_, _, err := rooms.Send(t.Context(), claim, like["chatId"].(string), text, "")
			require.NoError(t, err)
			w.background.Wait()
		}
		for n := range 2100 {
			send(fmt.Sprint("message ", n))
		}
		time.Sleep(time.Minute)
		status, answer := w.ask("POST", "/chats/"+second["chatId"].(string)+"/messages", dora, `{"content":"Hello"}`)
		require.Equal(t, 201, status, answer)
		w.background.Wait()
		status, answer = w.ask("GET", "/auth/me/data", "", "")
		require.Equal(t, 401, status, answer)
		seen, path := map[string]bool{}, "/auth/me/data"
		for parts := 1; path != ""; parts++ {
			status, answer = w.ask("GET", path, anna, "")
			require.Equal(t, 200, status, answer)
			require.Equal(t, "anna@example.com", answer["account"].(map[string]any)["email"])
			require.NotContains(t, fmt.Sprint(answer), "argon2id")
			require.NotContains(t, fmt.Sprint(answer), "carol")
			require.Len(t, answer["matches"], 2)
			require.Len(t, answer["likesSent"], 2)
			for _, c := range answer["chats"].([]any) {
				with := c.(map[string]any)["with"].(string)
				require.Contains(t, []string{bobID, doraID}, with)
				for _, m := range c.(map[string]any)["messages"].([]any) {
					content := with + m.(map[string]any)["content"].(string)
					require.False(t, seen[content], content)
					seen[content] = true
				}
			}
			if path = ""; answer["nextCursor"] != nil {
				path = "/auth/me/data?cursor=" + answer["nextCursor"].(string)
				require.Equal(t, 1, parts)
				time.Sleep(time.Minute)
				send("this moves the chat up, in the middle of which the next part begins")
			}
		}
		require.Len(t, seen, 2103, "all, and that each two match")
		status, answer = w.ask("GET", "/auth/me/data", anna, "")
		require.Equal(t, 429, status)
		require.Equal(t, "DATA_TOO_OFTEN", answer["code"])
		time.Sleep(time.Hour)
		_, in := w.ask("POST", "/auth/login", "", `{"email":"anna@example.com","password":"tea under seven lamps"}`)
		status, _ = w.ask("GET", "/auth/me/data", in["accessToken"].(string), "")
		require.Equal(t, 200, status)
	})
}

// TestOwnDataTellsNoBlock: the data of a member is the same after another one has blocked them, and
// after that one has deleted the account.
func TestOwnDataTellsNoBlock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	told := map[string]map[string]any{}
	for _, how := range []string{"blocked", "deleted"} {
		id, token, _ := w.account(how)
		other, others, _ := w.account("match-" + how)
		w.ask("POST", "/likes", token, `{"toUserId":"`+other+`"}`)
		status, answer := w.ask("POST", "/likes", others, `{"toUserId":"`+id+`"}`)
		require.Equal(t, 201, status, answer)
		if how == "blocked" {
			status, answer = w.ask("POST", "/users/"+id+"/block", others, "")
			require.Equal(t, 204, status, answer)
		} else {
			status, answer = w.ask("DELETE", "/auth/me", others, `{"password":"tea under seven lamps"}`)
			require.Equal(t, 202, status, answer)
		}
		w.background.Wait()
		_, told[how] = w.ask("GET", "/auth/me/data", token, "")
	}
	for _, list := range []string{"likesSent", "matches", "blocked"} {
		require.Empty(t, told["blocked"][list], list)
		require.Empty(t, told["deleted"][list], list)
	}
	require.Len(t, told["deleted"]["chats"], len(told["blocked"]["chats"].([]any)))
}
