package api_test

import (
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/api"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/http/openapi/openapitest"
)

// TestEventChat: attendees and staff find the chat of an event, and every answer is as the OpenAPI
// document says. A poll is told that nothing is new until something is.
func TestEventChat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, admin, _ := w.account("admin")
	_, err := w.service.SetRole(t.Context(), "admin@example.com", meet.Admin)
	require.NoError(t, err)
	id, anna, _ := w.account("anna")
	_, bob, _ := w.account("bob")
	w.Handler = openapitest.New(t, w).Enforce(t, w.Handler)
	event := w.event(admin, `{"title":"Concert","description":"All songs","startDate":"2126-12-31T20:00:00Z","location":"","category":"concert","visibility":"public","isPublished":true}`)
	_, e := w.ask("GET", "/events/"+event, anna, "")
	require.Nil(t, e["chatId"])
	status, _ := w.ask("POST", "/events/"+event+"/register", anna, `{}`)
	require.Equal(t, 201, status)
	_, e = w.ask("GET", "/events/"+event, anna, "")
	chat := "/chats/" + e["chatId"].(string)
	status, p := w.ask("GET", chat, bob, "")
	require.Equal(t, 404, status)
	require.Equal(t, "CHAT_NOT_FOUND", p["code"])
	etag := ""
	poll := func() int {
		r := httptest.NewRequestWithContext(t.Context(), "GET", api.Prefix+chat+"/messages", nil)
		r.Header.Set("Authorization", "Bearer "+anna)
		r.Header.Set("If-None-Match", etag)
		rec := httptest.NewRecorder()
		w.ServeHTTP(rec, r)
		etag = rec.Header().Get("ETag")
		return rec.Code
	}
	require.Equal(t, 200, poll())
	require.Equal(t, 304, poll())
	status, m := w.ask("POST", chat+"/messages", admin, `{"content":"Welcome"}`)
	require.Equal(t, 201, status, m)
	require.Equal(t, 200, poll())
	require.Equal(t, 304, poll())
	status, p = w.ask("POST", chat+"/read", anna, `{"upTo":"`+m["id"].(string)+`"}`)
	require.Equal(t, 200, status)
	require.EqualValues(t, 0, p["unread"])
	require.Equal(t, 200, poll(), "what is unread has changed")
	require.Equal(t, 304, poll())
	status, m = w.ask("POST", chat+"/messages", anna, `{"content":"Hello"}`)
	require.Equal(t, 201, status, m)
	require.Equal(t, []any{id, "Анна", nil}, []any{m["senderId"], m["senderName"], m["isRead"]})
	status, m = w.ask("PUT", chat+"/messages/"+m["id"].(string), anna, `{"content":"Hello!"}`)
	require.Equal(t, 200, status, m)
	status, p = w.ask("GET", chat, admin, "")
	require.Equal(t, 200, status)
	require.Equal(t, []any{"group", "Concert", "All songs", event, nil, float64(1), float64(1), true},
		[]any{
			p["type"], p["name"], p["description"], p["eventId"], p["other"],
			p["participantCount"], p["unread"], p["isActive"],
		})
	require.Equal(t, "Hello!", p["lastMessage"].(map[string]any)["content"])
	status, p = w.ask("GET", "/chats", anna, "")
	require.Equal(t, 200, status)
	require.Len(t, p["items"], 1)
	status, p = w.ask("GET", chat+"/messages?limit=1", anna, "")
	require.Equal(t, 200, status)
	status, p = w.ask("GET", chat+"/messages?limit=1&cursor="+p["nextCursor"].(string), anna, "")
	require.Equal(t, 200, status)
	require.Equal(t, "Welcome", p["items"].([]any)[0].(map[string]any)["content"])
	status, _ = w.ask("DELETE", chat+"/messages/"+m["id"].(string), anna, "")
	require.Equal(t, 204, status)
	// Of a block a poll tells as much as the messages do that vanish: nothing, if there are none.
	_, silent, _ := w.account("carol")
	for _, token := range []string{bob, silent} {
		status, _ = w.ask("POST", "/events/"+event+"/register", token, `{}`)
		require.Equal(t, 201, status)
	}
	status, _ = w.ask("POST", chat+"/messages", bob, `{"content":"See you there"}`)
	require.Equal(t, 201, status)
	require.Equal(t, 200, poll())
	for _, token := range []string{silent, bob} {
		status, _ = w.ask("POST", "/users/"+id+"/block", token, "")
		require.Equal(t, 204, status)
		require.Equal(t, map[string]int{silent: 304, bob: 200}[token], poll())
		require.Equal(t, 304, poll())
	}
	status, _ = w.ask("DELETE", "/events/"+event+"/register", anna, "")
	require.Equal(t, 204, status)
	require.Equal(t, 404, poll())
}
