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

// TestOwnData: a member gets what is kept of them, each message of their chats once over all parts,
// without secrets and without what others keep to themselves, once an hour. A guest gets nothing.
func TestOwnData(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorldOfToday(t)
		w.Handler = openapitest.New(t, w).Enforce(t, w.Handler)
		annaID, anna, _ := w.account("anna")
		bobID, bob, _ := w.account("bob")
		_, carol, _ := w.account("carol")
		w.ask("POST", "/likes", carol, `{"toUserId":"`+annaID+`","anonymous":true}`)
		w.ask("POST", "/likes", anna, `{"toUserId":"`+bobID+`"}`)
		_, like := w.ask("POST", "/likes", bob, `{"toUserId":"`+annaID+`"}`)
		claim, err := meet.ParseAccess(bob)
		require.NoError(t, err)
		rooms := chats.New(w.service, w.events)
		for n := range 2100 {
			_, _, err := rooms.Send(t.Context(), claim, like["chatId"].(string), fmt.Sprint("message ", n), "")
			require.NoError(t, err)
		}
		status, answer := w.ask("GET", "/auth/me/data", "", "")
		require.Equal(t, 401, status, answer)
		seen, path := map[string]bool{}, "/auth/me/data"
		for parts := 1; path != ""; parts++ {
			status, answer = w.ask("GET", path, anna, "")
			require.Equal(t, 200, status, answer)
			require.Equal(t, "anna@example.com", answer["account"].(map[string]any)["email"])
			require.NotContains(t, fmt.Sprint(answer), "argon2id")
			require.NotContains(t, fmt.Sprint(answer), "carol")
			require.Len(t, answer["matches"], 1)
			for _, c := range answer["chats"].([]any) {
				require.Equal(t, bobID, c.(map[string]any)["with"])
				for _, m := range c.(map[string]any)["messages"].([]any) {
					content := m.(map[string]any)["content"].(string)
					require.False(t, seen[content], content)
					seen[content] = true
				}
			}
			if path = ""; answer["nextCursor"] != nil {
				path = "/auth/me/data?cursor=" + answer["nextCursor"].(string)
				require.Equal(t, 1, parts)
			}
		}
		require.Len(t, seen, 2101, "all, and that the two match")
		status, answer = w.ask("GET", "/auth/me/data", anna, "")
		require.Equal(t, 429, status)
		require.Equal(t, "DATA_TOO_OFTEN", answer["code"])
		time.Sleep(time.Hour)
		_, in := w.ask("POST", "/auth/login", "", `{"email":"anna@example.com","password":"tea under seven lamps"}`)
		status, _ = w.ask("GET", "/auth/me/data", in["accessToken"].(string), "")
		require.Equal(t, 200, status)
	})
}
