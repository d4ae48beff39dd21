package api_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/api"
	"prompthub/apps/duuble/internal/stream"
	"prompthub/apps/duuble/internal/web"
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
	w := newWorld(t)
	long := func(n int) string { return strings.Repeat("字", n) }
	send := func(method, path, token string, body any) map[string]any {
		t.Helper()
		b, err := json.Marshal(body)
		require.NoError(t, err)
		status, answer := w.ask(method, path, token, string(b))
		require.Less(t, status, 300, "%s %s: %.300v", method, path, answer)
		return answer
	}
	annID, ann, _ := w.person(number(1), "Ann")
	face := w.picture(ann, "profile")
	send("PATCH", "/users/me/profile", ann,
		map[string]string{"fullName": "Ann " + long(96), "bio": long(500), "profileAssetId": face})
	var mine []string
	for i := range 20 {
		h := send("POST", "/hubs", ann,
			map[string]string{
				"name": fmt.Sprintf("Tea %02d ", i) + long(93), "description": long(2000),
				"customLink": []string{"tea", ""}[min(i, 1)], "profileAssetId": w.picture(ann, "hub"),
			})
		mine = append(mine, h["hubId"].(string))
	}
	for i := range 80 {
		send("POST", "/hubs", ann, map[string]string{
			"name":        fmt.Sprintf("Tea more %02d ", i) + long(88),
			"description": long(2000), "profileAssetId": w.picture(ann, "hub"),
		})
	}
	hub := mine[0]
	whole := func(hubs ...string) map[string]any {
		p := map[string]any{
			"visibility": "public", "thoughtText": long(250),
			"slider": map[string]string{"text": long(260), "leftLabel": long(50), "rightLabel": long(50)},
			"article": map[string]string{
				"kind": "mixed", "text": long(60_000),
				"linkUrl": "https://example.com/" + strings.Repeat("x", 1980), "linkTitle": long(200),
				"linkDescription": long(500),
			},
		}
		if len(hubs) > 0 {
			p["visibility"], p["hubIds"] = "public_hub", hubs
		}
		return p
	}
	source := send("POST", "/posts", ann, whole())["postId"].(string)
	post := send("POST", "/posts", ann, whole(mine...))["postId"].(string)
	comment := send("POST", "/posts/"+post+"/comments", ann,
		map[string]string{"text": long(2000)})["commentId"].(string)
	talk := "/hubs/" + hub + "/discussions/" + send("POST", "/hubs/"+hub+"/discussions", ann,
		map[string]string{"postId": post})["discussionId"].(string)
	message := send("POST", talk+"/messages", ann, map[string]string{"text": long(2000)})["messageId"].(string)
	var manager, token string
	_, manager, _ = w.person(number(0), "Manager")
	link := send("POST", "/hubs/"+hub+"/links", ann, map[string]any{})["token"].(string)
	for i := range 100 {
		id, other, _ := w.person(number(100+i), fmt.Sprintf("Other%03d", i))
		send("PATCH", "/users/me/profile", other,
			map[string]string{"fullName": fmt.Sprintf("Other %03d ", i) + long(90), "bio": long(500)})
		w.enrol(ann, hub, number(100+i), other)
		send("PUT", "/users/"+annID+"/follow", other, nil)
		send("PUT", "/users/"+id+"/follow", ann, nil)
		made := send("POST", "/posts", other, whole(hub))
		send("POST", "/posts", other, whole())
		send("POST", "/posts/"+source+"/repost", other,
			map[string]any{"thoughtText": long(250), "slider": map[string]string{"text": long(260)}})
		send("POST", "/posts/"+post+"/share", other, map[string]string{"note": long(500)})
		send("POST", "/posts/"+post+"/comments", other, map[string]string{"text": long(2000)})
		send("POST", "/posts/"+post+"/comments", other,
			map[string]string{"text": long(2000), "parentCommentId": comment})
		send("POST", talk+"/messages", other, map[string]string{"text": long(2000)})
		send("POST", talk+"/messages", other, map[string]string{"text": long(2000), "parentMessageId": message})
		send("POST", "/posts/"+post+"/vote", other, map[string]string{"position": "left"})
		send("POST", "/posts/"+made["postId"].(string)+"/vote", ann, map[string]string{"position": "left"})
		about := send("POST", "/hubs/"+hub+"/discussions", ann, map[string]string{"postId": made["postId"].(string)})
		send("PUT", "/hubs/"+hub+"/discussions/"+about["discussionId"].(string)+"/saved", ann, nil)
		send("POST", "/reports", other, map[string]string{"postId": post, "reason": "spam", "details": long(2000)})
		token = w.invite(ann, hub, number(300+i))
		blocked, _, _ := w.person(number(500+i), fmt.Sprintf("Blocked%03d", i))
		send("PUT", "/users/"+blocked+"/block", ann, nil)
		_, asks, _ := w.person(number(700+i), fmt.Sprintf("Asks%03d", i))
		send("POST", "/join/"+link, asks, nil)
		if i < 40 {
			send("POST", "/posts", ann, whole())
		}
		if i < 20 {
			send("PUT", "/admin/default-feed/"+id, manager, map[string]any{"displayOrder": i + 1, "isActive": true})
		}
	}
	w.rest()
	_, discussion, _ := strings.Cut(strings.TrimPrefix(talk, "/hubs/"), "/discussions/")
	values := map[string][]string{
		"id": {post, source, hub, annID, face}, "username": {"ann"}, "link": {"tea"}, "comment": {comment},
		"token": {token, link}, "discussion": {discussion}, "message": {message},
	}
	get := func(path, token string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, api.Prefix+path, nil)
		r.RemoteAddr, r.Host = "127.0.0.1:1", "localhost"
		r.Header.Set("Authorization", "Bearer "+token)
		rec := httptest.NewRecorder()
		w.ServeHTTP(rec, r)
		return rec
	}
	for _, o := range openapitest.New(t, w).Operations() {
		path := strings.TrimPrefix(o.Path, api.Prefix)
		if o.Method != http.MethodGet ||
			slices.Contains([]string{
				"/openapi.json", "/dev/otp/{id}", "/notifications/stream",
				"/users/username-availability",
			}, path) {
			continue // it reads no rows, or waits
		}
		found := false
		for _, page := range heap.Filled(path, values) {
			largest := []string{page + "?limit=100", page}
			switch {
			case strings.HasSuffix(path, "/search"):
				largest = []string{page + "?limit=100&q=other", page + "?limit=100&q=tea"}
			case path == "/posts":
				largest = append(largest, page+"?limit=100&hubId="+hub)
			}
			who := ann
			if strings.HasPrefix(path, "/admin/") {
				who = manager
			}
			for _, page := range largest {
				rec := get(page, who)
				if rec.Code != http.StatusOK {
					continue // of another kind of thing, or without pages
				}
				found = true
				var list struct{ Items []json.RawMessage }
				_ = json.Unmarshal(rec.Body.Bytes(), &list)
				if len(list.Items) > 1 {
					require.LessOrEqual(t, rec.Body.Len(), openapi.MaxPage+4<<10, page)
				}
				heap.Check(t, fmt.Sprintf("%s: %d things, %d KiB", path, len(list.Items), rec.Body.Len()>>10),
					func(int) { get(page, who) })
			}
		}
		require.True(t, found, "nothing was found by GET %s: have this test make some", path)
	}

	site := web.New(web.Config{
		People: w.people, Hubs: w.hubs, Posts: w.posts, Discussions: w.talks, Pictures: w.pictures,
		Streams: stream.New(stream.Config{Posts: w.posts}), VoteMin: 3, Now: time.Now,
		Admission: httpjson.NewAdmission(httpjson.Limits{Writes: -1, Reads: -1, AtWork: 1000}.Complete(false),
			time.Now), Log: slog.New(slog.DiscardHandler),
	})
	values["name"], values["kind"], values["rest"] = []string{"Ann"}, []string{"post", "hub"}, []string{"nothing"}
	var patterns, rowless []string
	for _, pattern := range web.Patterns() {
		if !strings.HasSuffix(pattern, "/stream") { // which waits
			patterns = append(patterns, pattern)
		}
	}
	for _, path := range []string{"/sign-in", "/come-back", "/welcome", "/{rest...}"} {
		rowless = append(rowless, web.Prefix+path)
	}
	heap.CheckPages(t, patterns, values, rowless, func(page string) (status int, answer string) {
		who := ann
		if strings.HasPrefix(page, web.Prefix+"/admin") || strings.HasPrefix(page, web.Prefix+"/join/") {
			who = manager
		}
		if strings.HasSuffix(page, "/search") {
			page += "?q=other"
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, page, nil)
		r.AddCookie(&http.Cookie{Name: "duuble-session", Value: who + "~x"})
		rec := httptest.NewRecorder()
		site.ServeHTTP(rec, r)
		return rec.Code, rec.Body.String()
	})
}
