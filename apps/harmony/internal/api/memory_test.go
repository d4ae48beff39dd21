package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/api"
	"prompthub/apps/harmony/internal/web"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/openapi"
	"prompthub/internal/http/openapi/openapitest"
	"prompthub/internal/testing/heap"
)

// TestMemory asks every GET route of the document, and every page, for the largest page of the
// largest things, and fails if sixteen callers of one of them hold more memory than they may, or if
// a page of JSON is larger than it may be. A route whose things are not there fails, so that a new
// one brings its own.
func TestMemory(t *testing.T) { // alone: others would be measured, too
	if testing.Short() {
		t.Skip("makes a hundred of everything")
	}
	synctest.Test(t, holdMemory)
}

func holdMemory(t *testing.T) {
	s := newStory(t, newWorldOfToday(t))
	long := func(n int) string { return strings.Repeat("字", n) }
	send := func(method, path, token string, body any) map[string]any {
		t.Helper()
		b, err := json.Marshal(body)
		require.NoError(t, err)
		status, answer := s.ask(method, path, token, string(b))
		require.Less(t, status, 300, "%s %s: %.300v", method, path, answer)
		return answer
	}
	whole := func(of string, body map[string]any) map[string]any {
		var all map[string]any
		require.NoError(t, json.Unmarshal([]byte(of), &all))
		for name, value := range body {
			all[name] = value
		}
		return all
	}
	send("PUT", "/users/"+s.id, s.access,
		map[string]any{"name": long(50), "bio": long(1000), "location": long(100), "gender": "female", "position": nil})
	post, item, topic := "", "", ""
	for i := range 100 {
		about := map[string]any{"sectionId": "music", "title": long(100), "content": long(5000)}
		topic = send("POST", "/forum/topics", s.access, about)["topicId"].(string)
		send("POST", "/forum/topics/"+s.talk+"/replies", s.access, map[string]any{"content": long(5000)})
		send("POST", "/admin/forum/sections", s.bob,
			map[string]any{
				"sectionId": fmt.Sprint("section-", i), "name": long(50),
				"description": long(1000), "orderIndex": i,
			})
		send("POST", "/admin/events", s.bob,
			whole(anEvent, map[string]any{"title": long(100), "description": long(5000), "location": long(100)}))
		item = send("POST", "/admin/store/items", s.bob,
			whole(anItem, map[string]any{
				"title": long(100), "description": long(5000),
				"externalPurchaseUrl": "https://shop.example.com/" + strings.Repeat("x", 1900),
			}))["itemId"].(string)
		post = send("POST", "/admin/blog/posts", s.bob, whole(aPost, map[string]any{
			"title": long(200), "excerpt": long(500), "content": long(30_000),
		}))["postId"].(string)
		if i < 50 {
			send("POST", "/chats/"+s.room+"/messages", s.bob, map[string]any{"content": long(4000)})
			send("POST", "/admin/events/"+s.concert+"/invites", s.bob, map[string]any{"code": fmt.Sprint("code", i)})
		}
	}
	var people []string
	for i := range 20 {
		id, access, _ := s.account(fmt.Sprint("member", i))
		send("PUT", "/users/"+id, access,
			map[string]any{
				"name": long(50), "bio": long(1000), "location": long(100),
				"gender": "female", "position": nil,
			})
		send("POST", "/likes", access, map[string]any{"toUserId": s.id})
		send("POST", "/reports", access, map[string]any{"kind": "topic", "topicId": s.talk, "reason": "spam"})
		fully := map[string]any{"kind": "topic", "topicId": topic, "reason": "other", "text": long(1000)}
		send("POST", "/reports", access, fully)
		people = append(people, id)
		send("POST", "/events/"+s.concert+"/register", access, map[string]any{"inviteCode": "code1"})
		switch i % 4 {
		case 0:
			send("POST", "/users/"+id+"/block", s.bob, nil)
		case 1:
			send("POST", "/likes", s.access, map[string]any{"toUserId": id})
		}
	}
	secret := send("POST", "/admin/events/"+s.concert+"/topics", s.bob, map[string]any{
		"title": long(100), "content": long(5000), "visibility": "specificUsers", "allowedUserIds": people,
	})["topicId"].(string)
	s.background.Wait()
	values := map[string][]string{
		"userId": {s.id}, "chatId": {s.room}, "topicId": {s.talk}, "sectionId": {"music"}, "eventId": {s.concert},
		"itemId": {item}, "postId": {post}, "kind": {"profile"}, "ownerId": {s.id}, "file": {s.one + "_320.jpg"},
	}
	get := func(path, token string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, api.Prefix+path, nil)
		r.Header.Set("Authorization", "Bearer "+token)
		rec := httptest.NewRecorder()
		s.ServeHTTP(rec, r)
		return rec
	}
	for _, o := range openapitest.New(t, s).Operations() {
		path := strings.TrimPrefix(o.Path, api.Prefix)
		if o.Method != http.MethodGet || path == "/openapi.json" {
			continue
		}
		found := false
		for _, page := range heap.Filled(path, values) {
			and := "?"
			if path == "/forum/search" {
				page, and = page+"?q="+url.QueryEscape(long(3)), "&"
			}
			for _, who := range []string{s.access, s.bob} {
				for _, page := range []string{page + and + "limit=50", page + and + "limit=20", page} {
					rec := get(page, who)
					if rec.Code != http.StatusOK {
						continue // without pages, or not of this size
					}
					found = true
					var list struct{ Items []json.RawMessage }
					_ = json.Unmarshal(rec.Body.Bytes(), &list)
					if len(list.Items) > 1 {
						require.LessOrEqual(t, rec.Body.Len(), openapi.MaxPage+4<<10, page)
					}
					heap.Check(t, fmt.Sprintf("%s: %d things, %d KiB", page, len(list.Items), rec.Body.Len()>>10),
						func(int) { get(page, who) })
					break
				}
			}
		}
		require.True(t, found, "nothing was found by GET %s: have this test make some", path)
	}
	site := s.pages(httpjson.NewAdmission(httpjson.Limits{}, time.Now))
	var ways []heap.Way
	for _, token := range []string{s.access, s.bob} {
		for _, query := range []string{"", "?mine=yes", "?when=past", "?state=done", "?q=" + url.QueryEscape(long(3))} {
			ways = append(ways, func(page string) (status int, answer string) {
				r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, page+query, nil)
				r.AddCookie(&http.Cookie{Name: "harmony-session", Value: token + ".x"})
				rec := httptest.NewRecorder()
				site.ServeHTTP(rec, r)
				return rec.Code, rec.Body.String()
			})
		}
	}
	values["id"], values["section"], values["topic"] = []string{
		s.id, people[1], s.room, s.concert, item, post, s.talk,
		topic,
	}, []string{"music"}, []string{secret}
	heap.CheckPages(t, web.Patterns(), values,
		[]string{
			web.Prefix + "/sign-up", web.Prefix + "/sign-in", web.Prefix + "/{rest...}",
			web.Prefix + "/settings/data",
		}, // leads to GET /auth/me/data, which was asked above
		ways...)
}
