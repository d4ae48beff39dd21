package api_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/http/openapi/openapitest"
)

// TestBlockedLooksAsDeleted: a member that Anna has blocked gets each answer, to the letter,
// that a member gets after a match has deleted the account.
func TestBlockedLooksAsDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, admin, _ := w.account("admin")
	_, err := w.service.SetRole(t.Context(), "admin@example.com", meet.Admin)
	require.NoError(t, err)
	w.Handler = openapitest.New(t, w).Enforce(t, w.Handler)
	status, p := w.ask("POST", "/admin/forum/sections", admin,
		`{"sectionId":"music","name":"Music","description":"","orderIndex":0}`)
	require.Equal(t, 201, status, p)
	// A side is a member, and another one that this member looks at.
	type side struct{ token, of, ofToken, id, image, topic, chat, message string }
	made := func(name string) side {
		var s side
		s.id, s.token, _ = w.account(name)
		s.of, s.ofToken, _ = w.account("match-" + name)
		_, p := w.ask("POST", "/users/"+s.of+"/images", s.ofToken, pixel)
		s.image = p["imageId"].(string)
		_, p = w.ask("POST", "/forum/topics", s.ofToken,
			`{"sectionId":"music","title":"A title","content":"Enough content"}`)
		s.topic = p["topicId"].(string)
		w.ask("POST", "/likes", s.token, `{"toUserId":"`+s.of+`"}`)
		_, p = w.ask("POST", "/likes", s.ofToken, `{"toUserId":"`+s.id+`"}`)
		s.chat = p["chatId"].(string)
		_, p = w.ask("POST", "/chats/"+s.chat+"/messages", s.token, `{"content":"Are you there?"}`)
		s.message = p["id"].(string)
		return s
	}
	blocked, deleted := made("bob"), made("carol")
	ids := regexp.MustCompile(
		`[0-9a-f]{8}-[0-9a-f-]{27}|[0-9]{19}_|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z|"requestId":"[^"]*"`)
	letter := func(s side, method, path, body string) string {
		names := strings.NewReplacer("OF", s.of, "IMAGE", s.image, "TOPIC", s.topic, "CHAT",
			s.chat, "MESSAGE", s.message)
		status, p := w.ask(method, names.Replace(path), s.token, names.Replace(body))
		text, err := json.Marshal(p)
		require.NoError(t, err)
		return strings.Join([]string{method, path, ids.ReplaceAllString(string(text), "x")}, " ") + " " +
			string(rune('0'+status/100)) + string(rune('0'+status%100/10)) + string(rune('0'+status%10))
	}
	before := letter(blocked, "GET", "/users/OF", "")
	require.Equal(t, before, letter(deleted, "GET", "/users/OF", ""))
	status, p = w.ask("POST", "/users/"+blocked.id+"/block", blocked.ofToken, "")
	require.Equal(t, 204, status, p)
	status, p = w.ask("DELETE", "/auth/me", deleted.ofToken, `{"password":"tea under seven lamps"}`)
	require.Equal(t, 202, status, p)
	require.NotNil(t, p["restorableUntil"])
	w.background.Wait()
	require.NotEqual(t, before, letter(blocked, "GET", "/users/OF", ""))
	for _, r := range []struct{ method, path, body string }{
		{"GET", "/users/OF", ""},
		{"PUT", "/users/OF", `{"name":"x","bio":"","location":"","gender":"male","position":null}`},
		{"GET", "/images/profile/OF/IMAGE.jpg", ""},
		{"DELETE", "/users/OF/images/IMAGE", ""},
		{"POST", "/likes", `{"toUserId":"OF"}`},
		{"DELETE", "/likes/OF", ""},
		{"DELETE", "/matches/OF", ""},
		{"POST", "/passes", `{"userId":"OF"}`},
		{"GET", "/likes/sent", ""},
		{"GET", "/likes/received", ""},
		{"GET", "/matches", ""},
		{"GET", "/blocks", ""},
		{"GET", "/chats", ""},
		{"GET", "/chats/CHAT", ""},
		{"GET", "/chats/CHAT/messages", ""},
		{"POST", "/chats/CHAT/messages", `{"content":"Hello?"}`},
		{"PUT", "/chats/CHAT/messages/MESSAGE", `{"content":"Hello?"}`},
		{"GET", "/forum/topics/TOPIC", ""},
		{"POST", "/reports", `{"kind":"user","userId":"OF","reason":"spam"}`},
		{"DELETE", "/chats/CHAT/messages/MESSAGE", ""},
		{"POST", "/users/OF/block", ""},
		{"GET", "/blocks", ""}, // else it would tell who is there
		{"DELETE", "/users/OF/block", ""},
	} {
		require.Equal(t, letter(deleted, r.method, r.path, r.body), letter(blocked, r.method, r.path, r.body))
	}
	// Staff still see both.
	for _, s := range []side{blocked, deleted} {
		status, _ := w.ask("GET", "/users/"+s.of, admin, "")
		require.Equal(t, 200, status)
	}
	status, p = w.ask("POST", "/auth/restore", "",
		`{"email":"match-carol@example.com","password":"tea under seven lamps"}`)
	require.Equal(t, 200, status, p)
	status, p = w.ask("POST", "/auth/restore", "",
		`{"email":"match-carol@example.com","password":"tea under seven lamps"}`)
	require.Equal(t, 409, status)
	require.Equal(t, "NOT_DELETED", p["code"])
}
