package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/api"
	"prompthub/apps/harmony/internal/chat"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/meettest"
	"prompthub/internal/http/openapi/openapitest"
)

// TestGuests: every route that is not open answers a guest 401 to any request.
func TestGuests(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := openapitest.New(t, w)
	w.Handler = c.Enforce(t, w.Handler)
	open := map[string]bool{}
	for _, o := range c.Operations() {
		op := c.At(o.Pointer)
		path := strings.NewReplacer("{userId}", "x", "{imageId}", "x", "{chatId}", "x", "{messageId}", "x", "{eventId}", "x", "{code}", "x", "{sectionId}", "x", "{topicId}", "x", "{replyId}", "x", "{reportId}", "x", "{itemId}", "x", "{postId}", "x").Replace(strings.TrimPrefix(o.Path, api.Prefix))
		if security, _ := op["security"].([]any); len(security) != 1 {
			open[op["operationId"].(string)] = true
			continue
		}
		for _, token := range []string{"", "x", "ha_x"} {
			status, p := w.ask(strings.ToUpper(o.Method), path, token, map[bool]string{true: `{"x":`}[op["requestBody"] != nil])
			require.Equal(t, 401, status, "%s %s", o.Method, path)
			require.Equal(t, map[bool]string{true: "UNAUTHENTICATED", false: "INVALID_TOKEN"}[token == ""], p["code"], path)
		}
	}
	require.Equal(t, map[string]bool{
		"register": true, "login": true, "refresh": true, "reset-password": true, "restore": true, "get-health": true, "get-ready": true, "get-openapi": true, "get-image": true,
		"list-events": true, "get-event": true, "list-items": true, "get-item": true, "list-posts": true, "get-post": true,
	}, open)
}

// TestCounts holds what each route costs against its bound: steps until the answer, and all calls.
func TestCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))) // a bubble begins in 2000
		w := newWorld(t)
		bobID, bob, _ := w.account("bob")
		_, err := w.service.SetRole(t.Context(), "bob@example.com", meet.Admin)
		require.NoError(t, err)
		id, access, refresh := w.account("anna")
		reset, err := w.service.NewReset(t.Context(), "anna@example.com")
		require.NoError(t, err)
		status, first := w.ask("POST", "/users/"+id+"/images", access, pixel)
		require.Equal(t, 201, status, first)
		status, second := w.ask("POST", "/users/"+id+"/images", access, pixel)
		require.Equal(t, 201, status)
		one, two := first["imageId"].(string), second["imageId"].(string)
		_, carolAccess, _ := w.account("carol")
		_, carol := w.ask("GET", "/auth/me", carolAccess, "")
		const event = `{"title":"Concert","description":"","startDate":"2026-12-31T20:00:00Z","endDate":"2026-12-31T23:00:00Z","location":"","category":"concert","visibility":"secretTeaser","isPublished":true}`
		concert, over, draft := w.event(bob, event), w.event(bob, event), w.event(bob, strings.Replace(event, "true", "false", 1))
		room := chat.OfEvent(concert)
		ofTwo := map[string]api.Bound{ // what a chat of two costs less than that of an event
			"get-chat": {Steps: 2, Calls: 6}, "edit-message": {Steps: 4, Calls: 6}, "read-chat": {Steps: 3, Calls: 5}, "delete-message": {Steps: 3, Calls: 5},
		}
		ofForum := map[string]api.Bound{ // what a topic of the forum costs less than one of an event
			"get-topic": {Steps: 2, Calls: 6}, "reply": {Steps: 4, Calls: 8}, "put-reply": {Steps: 2, Calls: 5}, "delete-reply": {Steps: 2, Calls: 5},
			"put-topic": {Steps: 5, Calls: 11}, "delete-topic": {Steps: 4, Calls: 7},
		}
		_, first = w.ask("POST", "/admin/events/"+concert+"/invites", bob, `{"code":"first"}`)
		require.Equal(t, "FIRST", first["code"])
		_, first = w.ask("POST", "/admin/events/"+over+"/invites", bob, `{"code":"first"}`)
		require.Equal(t, "FIRST", first["code"])
		status, first = w.ask("POST", "/events/"+over+"/register", access, `{"inviteCode":"first"}`)
		require.Equal(t, 201, status, first)
		status, first = w.ask("PUT", "/admin/events/"+over, bob, strings.Replace(event, "2026-12-31T20", "2026-10-31T20", 1))
		require.Equal(t, 200, status, first)
		const topic = `{"sectionId":"music","title":"A title","content":"Enough content"}`
		status, first = w.ask("POST", "/admin/forum/sections", bob, `{"sectionId":"music","name":"Music","description":"","orderIndex":0}`)
		require.Equal(t, 201, status, first)
		status, first = w.ask("POST", "/forum/topics", access, topic)
		require.Equal(t, 201, status, first)
		talk := first["topicId"].(string)
		status, first = w.ask("POST", "/forum/topics/"+talk+"/replies", bob, `{"content":"Perhaps"}`)
		require.Equal(t, 201, status, first)
		said := first["replyId"].(string)
		status, first = w.ask("POST", "/reports", carolAccess, `{"kind":"topic","topicId":"`+talk+`","reason":"spam"}`)
		require.Equal(t, 201, status, first)
		report := first["reportId"].(string)
		time.Sleep(time.Minute) // in a bubble; the next reply moves the topic
		counted := map[string]bool{}
		const item = `{"title":"LP","description":"","price":{"amountMinor":250000,"currency":"RUB"},"category":"music","stockQuantity":3,"isAvailable":true,"externalPurchaseUrl":"https://shop.example.com/lp"}`
		const post = `{"title":"The album","excerpt":"","content":"It is ready","tags":["album"],"isPublished":true}`
		thing, text := "", ""
		status, first = w.ask("POST", "/admin/store/items", bob, item)
		require.Equal(t, 201, status, first)
		shown := first["itemId"].(string)
		status, first = w.ask("PUT", "/admin/store/items/"+shown+"/image", bob, pixel)
		require.Equal(t, 200, status, first)
		about, response := "", ""
		pair, message := "", "" // as the last answer named them
		for _, c := range []struct {
			id, method, path, token, body string
			status                        int
		}{
			{"get-health", "GET", "/health", "", "", 200},
			{"get-openapi", "GET", "/openapi.json", "", "", 200},
			{"get-ready", "GET", "/ready", "", "", 200},
			{"register", "POST", "/auth/register", "", `{"email":"dave@example.com","password":"tea under seven lamps","name":"Carol","birthDate":"2000-02-29","gender":"female"}`, 201},
			{"login", "POST", "/auth/login", "", `{"email":"bob@example.com","password":"tea under seven lamps"}`, 200},
			{"login", "POST", "/auth/login", "", `{"email":"unknown@example.com","password":"tea under seven lamps"}`, 401},
			{"get-me", "GET", "/auth/me", access, "", 200},
			{"get-person", "GET", "/users/" + id, bob, "", 200},
			{"put-person", "PUT", "/users/" + id, access, `{"name":"Анна","bio":"","location":"","gender":"female","position":{"lat":55.7,"lon":37.6}}`, 200},
			{"get-settings", "GET", "/settings", access, "", 200},
			{"put-preferences", "PUT", "/settings/preferences", access, `{"ageRangeMin":18,"ageRangeMax":99,"maxDistanceKm":0,"showMe":"men"}`, 200},
			{"put-privacy", "PUT", "/settings/privacy", access, `{"profileVisibility":"friends","anonymousLikes":true,"language":"en","notificationsEnabled":true,"emailNotifications":true}`, 200},
			{"put-privacy", "PUT", "/settings/privacy", access, `{"profileVisibility":"public","anonymousLikes":true,"language":"en","notificationsEnabled":true,"emailNotifications":true}`, 200},
			{"put-role", "PUT", "/admin/users/" + id + "/role", bob, `{"role":"moderator"}`, 204},
			{"list-deck", "GET", "/users", carolAccess, "", 200},
			{"add-image", "POST", "/users/" + carol["userId"].(string) + "/images", carolAccess, pixel, 201},
			{"get-image", "GET", "/images/profile/" + id + "/" + two + "_320.jpg", bob, "", 200},
			{"order-images", "PUT", "/users/" + id + "/images/order", access, `{"imageIds":["` + two + `","` + one + `"]}`, 200},
			{"delete-image", "DELETE", "/users/" + id + "/images/" + two, access, "", 204},
			{"like", "POST", "/likes", access, `{"toUserId":"` + bobID + `"}`, 201},
			{"list-likes-received", "GET", "/likes/received", bob, "", 200},
			{"unlike", "DELETE", "/likes/" + bobID, access, "", 204},
			{"pass", "POST", "/passes", access, `{"userId":"` + bobID + `"}`, 204},
			{"like", "POST", "/likes", access, `{"toUserId":"` + bobID + `"}`, 201},
			{"like", "POST", "/likes", bob, `{"toUserId":"` + id + `","anonymous":true}`, 201},
			{"list-likes-sent", "GET", "/likes/sent", access, "", 200},
			{"list-matches", "GET", "/matches", access, "", 200},
			{"list-chats", "GET", "/chats", access, "", 200},
			{"get-chat", "GET", "/chats/CHAT", access, "", 200},
			{"send-message", "POST", "/chats/CHAT/messages", access, `{"content":"Ты на концерте?"}`, 201},
			{"list-messages", "GET", "/chats/CHAT/messages", bob, "", 200},
			{"edit-message", "PUT", "/chats/CHAT/messages/MESSAGE", access, `{"content":"Ты там?"}`, 200},
			{"read-chat", "POST", "/chats/CHAT/read", bob, `{"upTo":"MESSAGE"}`, 200},
			{"delete-message", "DELETE", "/chats/CHAT/messages/MESSAGE", access, "", 204},
			{"unmatch", "DELETE", "/matches/" + bobID, access, "", 204},
			{"block", "POST", "/users/" + bobID + "/block", access, "", 204},
			{"list-blocks", "GET", "/blocks", access, "", 200},
			{"unblock", "DELETE", "/users/" + bobID + "/block", access, "", 204},
			{"new-event", "POST", "/admin/events", bob, event, 201},
			{"put-event", "PUT", "/admin/events/" + concert, bob, strings.NewReplacer("concert", "party", "2026-12-31T23", "2026-12-31T22").Replace(event), 200},
			{"put-event", "PUT", "/admin/events/" + draft, bob, event, 200},
			{"put-event-image", "PUT", "/admin/events/" + concert + "/image", bob, pixel, 200},
			{"list-events", "GET", "/events", access, "", 200},
			{"list-all-events", "GET", "/admin/events", bob, "", 200},
			{"new-invite", "POST", "/admin/events/" + concert + "/invites", bob, `{"code":"second","rotate":true}`, 201},
			{"get-event", "GET", "/events/" + concert + "?invite=second", access, "", 200},
			{"register-for-event", "POST", "/events/" + concert + "/register", access, `{"inviteCode":"second"}`, 201},
			{"list-attendees", "GET", "/events/" + concert + "/attendees", access, "", 200},
			{"list-events", "GET", "/events?mine=true", access, "", 200},
			{"new-event-topic", "POST", "/admin/events/" + concert + "/topics", bob, `{"title":"A title","content":"Enough content","visibility":"public"}`, 201},
			{"list-topics", "GET", "/forum/sections/event-" + concert + "/topics", access, "", 200},
			{"put-audience", "PUT", "/admin/topics/TOPIC", bob, `{"visibility":"attendeesOnly"}`, 200},
			{"get-topic", "GET", "/forum/topics/TOPIC", access, "", 200},
			{"wait a minute", "", "", "", "", 0},
			{"list-topics", "GET", "/forum/sections/event-" + concert + "/topics", access, "", 200}, // notes that the caller is there
			{"list-topics", "GET", "/forum/sections/event-" + concert + "/topics", carolAccess, "", 200},
			{"reply", "POST", "/forum/topics/TOPIC/replies", access, `{"content":"Yes"}`, 201},
			{"list-replies", "GET", "/forum/topics/TOPIC/replies", bob, "", 200},
			{"put-reply", "PUT", "/forum/topics/TOPIC/replies/REPLY", access, `{"content":"No"}`, 200},
			{"delete-reply", "DELETE", "/forum/topics/TOPIC/replies/REPLY", access, "", 204},
			{"put-topic", "PUT", "/forum/topics/TOPIC", bob, `{"isPinned":true}`, 200},
			{"delete-topic", "DELETE", "/forum/topics/TOPIC", bob, "", 204},
			{"send-message", "POST", "/chats/" + room + "/messages", access, `{"content":"Ты на концерте?"}`, 201},
			{"list-chats", "GET", "/chats", access, "", 200},
			{"get-chat", "GET", "/chats/" + room, access, "", 200},
			{"list-messages", "GET", "/chats/" + room + "/messages", bob, "", 200},
			{"edit-message", "PUT", "/chats/" + room + "/messages/MESSAGE", access, `{"content":"Ты там?"}`, 200},
			{"read-chat", "POST", "/chats/" + room + "/read", bob, `{"upTo":"MESSAGE"}`, 200},
			{"delete-message", "DELETE", "/chats/" + room + "/messages/MESSAGE", access, "", 204},
			{"list-invites", "GET", "/admin/events/" + concert + "/invites", bob, "", 200},
			{"revoke-invite", "DELETE", "/admin/events/" + concert + "/invites/second", bob, "", 204},
			{"put-attendee", "PUT", "/admin/events/" + over + "/attendees/" + id, bob, `{"attended":true}`, 200},
			{"leave-event", "DELETE", "/events/" + concert + "/register", access, "", 204},
			{"remove-attendee", "DELETE", "/admin/events/" + over + "/attendees/" + id, bob, "", 204},
			{"delete-event", "DELETE", "/admin/events/" + concert, bob, "", 204},
			{"report", "POST", "/reports", carolAccess, `{"kind":"user","userId":"` + id + `","reason":"fake"}`, 201},
			{"list-reports", "GET", "/admin/reports", bob, "", 200},
			{"close-report", "PUT", "/admin/reports/" + report, bob, `{"action":"suspend","days":1}`, 200},
			{"unsuspend", "DELETE", "/admin/users/" + id + "/suspension", bob, "", 204},
			{"list-accounts", "GET", "/admin/users", bob, "", 200},
			{"list-accounts", "GET", "/admin/users?email=anna@example.com", bob, "", 200},
			{"suspend", "POST", "/admin/users/" + id + "/suspension", bob, `{"days":1,"reason":"Spam"}`, 204},
			{"unsuspend", "DELETE", "/admin/users/" + id + "/suspension", bob, "", 204},
			{"new-section", "POST", "/admin/forum/sections", bob, `{"sectionId":"tours","name":"Tours","description":"","orderIndex":1}`, 201},
			{"put-section", "PUT", "/admin/forum/sections/tours", bob, `{"name":"Tours","description":"","orderIndex":2}`, 200},
			{"delete-section", "DELETE", "/admin/forum/sections/tours", bob, "", 204},
			{"list-sections", "GET", "/forum/sections", access, "", 200},
			{"new-topic", "POST", "/forum/topics", access, topic, 201},
			{"get-topic", "GET", "/forum/topics/" + talk, bob, "", 200},
			{"reply", "POST", "/forum/topics/" + talk + "/replies", bob, `{"content":"Yes"}`, 201},
			{"list-topics", "GET", "/forum/sections/music/topics", access, "", 200},
			{"list-replies", "GET", "/forum/topics/" + talk + "/replies", access, "", 200},
			{"put-reply", "PUT", "/forum/topics/" + talk + "/replies/" + said, bob, `{"content":"No"}`, 200},
			{"delete-reply", "DELETE", "/forum/topics/" + talk + "/replies/" + said, bob, "", 204},
			{"put-topic", "PUT", "/forum/topics/" + talk, bob, `{"isPinned":true}`, 200},
			{"delete-topic", "DELETE", "/forum/topics/" + talk, bob, "", 204},
			{"refresh", "POST", "/auth/refresh", "", `{"refreshToken":"` + refresh + `"}`, 200},
			{"reset-password", "POST", "/auth/reset", "", `{"token":"` + reset + `","password":"eleven lamps over tea"}`, 204},
			{"change-password", "POST", "/auth/change-password", bob, `{"currentPassword":"tea under seven lamps","newPassword":"eleven lamps over tea"}`, 204},
			{"new-item", "POST", "/admin/store/items", bob, item, 201},
			{"list-items", "GET", "/store/items", "", "", 200},
			{"get-item", "GET", "/store/items/ITEM", "", "", 200},
			{"put-item", "PUT", "/admin/store/items/ITEM", bob, item, 200},
			{"put-item-image", "PUT", "/admin/store/items/" + shown + "/image", bob, pixel, 200},
			{"delete-item", "DELETE", "/admin/store/items/" + shown, bob, "", 204},
			{"new-post", "POST", "/admin/blog/posts", bob, post, 201},
			{"list-posts", "GET", "/blog/posts", "", "", 200},
			{"list-all-posts", "GET", "/admin/blog/posts", bob, "", 200},
			{"get-post", "GET", "/blog/posts/POST", bob, "", 200},
			{"put-post-image", "PUT", "/admin/blog/posts/POST/image", bob, pixel, 200},
			{"put-post", "PUT", "/admin/blog/posts/POST", bob, strings.Replace(post, "true", "true,\"publishedAt\":\"2026-10-01T12:00:00Z\"", 1), 200},
			{"delete-post", "DELETE", "/admin/blog/posts/POST", bob, "", 204},
			{"delete-me", "DELETE", "/auth/me", carolAccess, `{"password":"tea under seven lamps"}`, 202},
			{"restore", "POST", "/auth/restore", "", `{"email":"carol@example.com","password":"tea under seven lamps"}`, 200},
			{"logout", "POST", "/auth/logout", bob, `{"everywhere":true}`, 204},
		} {
			if c.method == "" {
				time.Sleep(time.Minute) // in a bubble; the next reply moves the topic
				continue
			}
			w.background.Wait()
			w.meter.n.Store(0)
			w.meter.delay = time.Millisecond
			from := time.Now()
			names := strings.NewReplacer("CHAT", pair, "MESSAGE", message, "ITEM", thing, "POST", text, "TOPIC", about, "REPLY", response)
			status, answer := w.ask(c.method, names.Replace(c.path), c.token, names.Replace(c.body))
			if id, _ := answer["chatId"].(string); id != "" {
				pair = id
			}
			if id, _ := answer["itemId"].(string); id != "" {
				thing = id
			}
			if id, _ := answer["postId"].(string); id != "" {
				text = id
			}
			if id, _ := answer["topicId"].(string); id != "" {
				about = id
			}
			if id, _ := answer["replyId"].(string); id != "" {
				response = id
			}
			if id, _ := answer["id"].(string); id != "" {
				message = id
			}
			steps := int(time.Since(from) / time.Millisecond)
			w.background.Wait()
			w.meter.delay = 0
			require.Equal(t, c.status, status, "%s: %v", c.id, answer)
			bound := api.Bounds()[c.id]
			t.Logf("%s: %d steps, %d calls", c.id, steps, w.meter.n.Load())
			require.LessOrEqual(t, steps, bound.Steps, c.id)
			if c.id == "like" && c.token == access {
				bound = api.Bound{Steps: 4, Calls: 13} // one that makes no match
			}
			if less, ok := ofTwo[c.id]; ok && !strings.Contains(c.path, room) {
				bound = less
			} else if less, ok := ofForum[c.id]; ok && strings.Contains(c.path, talk) {
				bound = less
			} else if c.id == "put-event" && !strings.Contains(c.path, draft) {
				bound = api.Bound{Steps: 4, Calls: 20} // one that has its topics
			} else if c.id == "get-event" {
				bound = api.Bound{Steps: 2, Calls: 8} // with two topics
			} else if c.id == "send-message" && strings.Contains(c.path, room) {
				bound = api.Bound{Steps: 3, Calls: 6} // whether the other of two is there is one more
			}
			if !strings.HasPrefix(c.id, "list-") && c.status < 300 { // a list costs by its rows
				require.Equal(t, bound, api.Bound{Steps: steps, Calls: int(w.meter.n.Load())}, c.id)
			}
			require.LessOrEqual(t, int(w.meter.n.Load()), bound.Calls, c.id)
			counted[c.id] = true
		}
		for id := range api.Bounds() {
			require.True(t, counted[id], "%s is not counted", id)
		}
	})
}

// pixel is a PNG file.
var pixel = string(meettest.PNG)

// TestHostile sends requests that no client should: each is refused with a problem that says why.
func TestHostile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Handler = openapitest.New(t, w).Enforce(t, w.Handler)
	id, access, _ := w.account("anna")
	profile := func(more string) string {
		return `{"name":"Анна","bio":"","location":"","gender":"female"` + more + `}`
	}
	for _, tt := range []struct {
		method, path, body string
		status             int
		code               string
	}{
		{"POST", "/auth/register", `{"email":`, 400, "MALFORMED"},
		{"POST", "/auth/register", `{"email":"a","email":"b"}`, 400, "MALFORMED"},
		{"POST", "/auth/register", "\"\xff\"", 400, "MALFORMED"},
		{"POST", "/auth/register", `[]`, 422, "VALIDATION_ERROR"},
		{"POST", "/auth/register", `{}`, 422, "VALIDATION_ERROR"},
		{"POST", "/auth/register", `{"email":"b@example.com","password":"tea under seven lamps","name":"B","birthDate":"2000-02-29","gender":"female","role":"admin"}`, 422, "VALIDATION_ERROR"},
		{"POST", "/auth/register", `{"email":"b@example.com","password":"tea under seven lamps","name":"B","birthDate":"2000-02-29","gender":"other"}`, 422, "VALIDATION_ERROR"},
		{"POST", "/auth/register", `{"email":"b@example.com","password":"tea under seven lamps","name":"B","birthDate":"2020-01-01","gender":"female"}`, 422, "UNDERAGE"},
		{"POST", "/auth/register", `{"email":"b@example.com","password":"password12345","name":"B","birthDate":"2000-01-01","gender":"female"}`, 422, "WEAK_PASSWORD"},
		{"POST", "/auth/register", `{"email":"anna@example.com","password":"tea under seven lamps","name":"B","birthDate":"2000-01-01","gender":"female"}`, 409, "EMAIL_TAKEN"},
		{"POST", "/auth/register", strings.Repeat(" ", 400<<10), 413, "BODY_TOO_LARGE"},
		{"POST", "/auth/login", `{"email":"` + strings.Repeat("a", 60_000) + `","password":"x"}`, 401, "INVALID_CREDENTIALS"},
		{"POST", "/auth/refresh", `{"refreshToken":"hr_x"}`, 401, "INVALID_TOKEN"},
		{"POST", "/auth/reset", `{"token":"hx_x","password":"tea under seven lamps"}`, 401, "INVALID_TOKEN"},
		{"PUT", "/users/" + id, profile(""), 422, "VALIDATION_ERROR"},
		{"PUT", "/users/" + id, profile(`,"position":{"lat":91,"lon":0}`), 422, "VALIDATION_ERROR"},
		{"PUT", "/users/" + id, profile(`,"position":{"lat":1e999,"lon":0}`), 400, "MALFORMED"},
		{"PUT", "/users/" + id, profile(`,"position":{"lat":1,"lon":0,"alt":1}`), 422, "VALIDATION_ERROR"},
		{"PUT", "/users/" + id, `{"name":"a\u0000b","bio":"","location":"","gender":"female","position":null}`, 422, "VALIDATION_ERROR"},
		{"PUT", "/users/" + id, `{"name":"a","bio":"` + strings.Repeat("𝄞", 501) + `","location":"","gender":"female","position":null}`, 422, "VALIDATION_ERROR"},
		{"PUT", "/users/" + id, `{"name":"a","bio":"` + strings.Repeat("𝄞", 500) + `","location":"","gender":"female","position":null}`, 200, ""},
		{"GET", "/users/" + id + "?x=1", "", 422, "VALIDATION_ERROR"},
		{"GET", "/users/..%2F..%2Fx", "", 404, "USER_NOT_FOUND"},
		{"GET", "/users/0b9d4c7a-2e51-4f83-9a66-d1c0b7e8f925", "", 404, "USER_NOT_FOUND"},
		{"GET", "/users/" + strings.ToUpper(id), "", 404, "USER_NOT_FOUND"},
		{"PUT", "/settings/preferences", `{"ageRangeMin":17,"ageRangeMax":99,"maxDistanceKm":0,"showMe":"men"}`, 422, "VALIDATION_ERROR"},
		{"PUT", "/settings/preferences", `{"ageRangeMin":18.5,"ageRangeMax":99,"maxDistanceKm":0,"showMe":"men"}`, 422, "VALIDATION_ERROR"},
		{"PUT", "/settings/preferences", `{"ageRangeMin":18,"ageRangeMax":99,"maxDistanceKm":20001,"showMe":"men"}`, 422, "VALIDATION_ERROR"},
		{"PUT", "/settings/privacy", `{"profileVisibility":"all","anonymousLikes":true,"language":"en","notificationsEnabled":true,"emailNotifications":true}`, 422, "VALIDATION_ERROR"},
		{"PUT", "/admin/users/" + id + "/role", `{"role":"admin"}`, 403, "ROLE_REQUIRED"},
		{"POST", "/users/" + id + "/images", "", 400, "MALFORMED"},
		{"POST", "/users/" + id + "/images", "<svg/>", 422, "NOT_AN_IMAGE"},
		{"POST", "/users/" + id + "/images", pixel[:40], 422, "NOT_AN_IMAGE"},
		{"POST", "/users/" + id + "/images", strings.Repeat("x", 9<<20), 413, "BODY_TOO_LARGE"},
		{"POST", "/users/x/images", pixel, 404, "USER_NOT_FOUND"},
		{"DELETE", "/users/" + id + "/images/x", "", 404, "IMAGE_NOT_FOUND"},
		{"PUT", "/users/" + id + "/images/order", `{"imageIds":["x"]}`, 422, "VALIDATION_ERROR"},
		{"GET", "/images/profile/" + id + "/..%2Fx.jpg", "", 404, "IMAGE_NOT_FOUND"},
		{"GET", "/images/event/" + id + "/x.jpg", "", 404, "IMAGE_NOT_FOUND"},
		{"POST", "/likes", `{"toUserId":"` + id + `"}`, 422, "NOT_YOURSELF"},
		{"POST", "/likes", `{"toUserId":"x"}`, 404, "USER_NOT_FOUND"},
		{"DELETE", "/likes/x", "", 404, "LIKE_NOT_FOUND"},
		{"DELETE", "/matches/" + id, "", 404, "MATCH_NOT_FOUND"},
		{"POST", "/passes", `{"userId":"` + id + `"}`, 422, "NOT_YOURSELF"},
		{"POST", "/users/x/block", "", 404, "USER_NOT_FOUND"},
		{"DELETE", "/users/x/block", "", 204, ""},
		{"GET", "/likes/sent?limit=51", "", 422, "VALIDATION_ERROR"},
		{"GET", "/likes/sent?cursor=AQ", "", 400, "MALFORMED"},
		{"GET", "/matches?cursor=x", "", 400, "MALFORMED"},
		{"GET", "/users?limit=21", "", 422, "VALIDATION_ERROR"},
		{"GET", "/users?cursor=AQ", "", 400, "MALFORMED"},
		{"GET", "/users", "", 200, ""},
		{"GET", "/chats/x", "", 404, "CHAT_NOT_FOUND"},
		{"GET", "/chats/" + id + "/messages", "", 404, "CHAT_NOT_FOUND"},
		{"GET", "/chats/" + id + "/messages?after=x", "", 404, "MESSAGE_NOT_FOUND"},
		{"GET", "/chats/" + id + "/messages?cursor=AQ", "", 400, "MALFORMED"},
		{"GET", "/chats?limit=0", "", 422, "VALIDATION_ERROR"},
		{"POST", "/chats/x/messages", `{"content":"hello"}`, 404, "CHAT_NOT_FOUND"},
		{"POST", "/chats/x/messages", `{"content":"hello","type":"image"}`, 422, "VALIDATION_ERROR"},
		{"PUT", "/chats/x/messages/x", `{"content":"hello"}`, 404, "CHAT_NOT_FOUND"},
		{"DELETE", "/chats/x/messages/x", "", 404, "CHAT_NOT_FOUND"},
		{"POST", "/chats/x/read", `{"upTo":"x"}`, 404, "CHAT_NOT_FOUND"},
		{"PATCH", "/users/" + id, "", 405, "METHOD_NOT_ALLOWED"},
		{"GET", "/nothing", "", 404, "NO_SUCH_ROUTE"},
		{"GET", "/events?when=now", "", 422, "VALIDATION_ERROR"},
		{"GET", "/events?category=all", "", 422, "VALIDATION_ERROR"},
		{"GET", "/events?mine=perhaps", "", 422, "VALIDATION_ERROR"},
		{"GET", "/events?cursor=AQ", "", 400, "MALFORMED"},
		{"GET", "/events/x", "", 404, "EVENT_NOT_FOUND"},
		{"GET", "/events/x?invite=", "", 404, "EVENT_NOT_FOUND"},
		{"GET", "/events/" + id + "?invite=" + strings.Repeat("x", 101), "", 422, "VALIDATION_ERROR"},
		{"POST", "/events/x/register", `{}`, 404, "EVENT_NOT_FOUND"},
		{"POST", "/events/x/register", `{"code":"x"}`, 422, "VALIDATION_ERROR"},
		{"DELETE", "/events/x/register", "", 404, "EVENT_NOT_FOUND"},
		{"GET", "/events/x/attendees", "", 404, "EVENT_NOT_FOUND"},
		{"GET", "/admin/events", "", 403, "ROLE_REQUIRED"},
		{"GET", "/forum/sections/event-x/topics", "", 404, "SECTION_NOT_FOUND"},
		{"GET", "/forum/sections/event-/topics", "", 404, "SECTION_NOT_FOUND"},
		{"POST", "/forum/topics", `{"sectionId":"event-x","title":"A title","content":"Enough content"}`, 404, "SECTION_NOT_FOUND"},
		{"POST", "/admin/events/x/topics", `{"title":"A title","content":"Enough content","visibility":"public"}`, 403, "ROLE_REQUIRED"},
		{"POST", "/admin/events/x/topics", `{"title":"A title","content":"Enough content","visibility":"all"}`, 422, "VALIDATION_ERROR"},
		{"PUT", "/admin/topics/x", `{"visibility":"specificUsers","allowedUserIds":[]}`, 403, "ROLE_REQUIRED"},
		{"POST", "/forum/topics", `{"sectionId":"none","title":"A title","content":"Enough content"}`, 404, "SECTION_NOT_FOUND"},
		{"POST", "/forum/topics", `{"sectionId":"none","title":"A","content":"Enough content"}`, 422, "VALIDATION_ERROR"},
		{"GET", "/forum/topics/x", "", 404, "TOPIC_NOT_FOUND"},
		{"PUT", "/forum/topics/x", `{"isLocked":"yes"}`, 422, "VALIDATION_ERROR"},
		{"GET", "/forum/topics/x/replies", "", 404, "TOPIC_NOT_FOUND"},
		{"POST", "/forum/topics/x/replies", `{"content":"x"}`, 404, "TOPIC_NOT_FOUND"},
		{"DELETE", "/forum/topics/x/replies/!topic", "", 404, "TOPIC_NOT_FOUND"},
		{"DELETE", "/admin/forum/sections/x", "", 403, "ROLE_REQUIRED"},
		{"POST", "/admin/users/" + id + "/suspension", `{"days":0,"reason":""}`, 403, "ROLE_REQUIRED"},
		{"DELETE", "/admin/users/x/suspension", "", 403, "ROLE_REQUIRED"},
		{"GET", "/admin/users?email=anna@example.com", "", 403, "ROLE_REQUIRED"},
		{"POST", "/reports", `{"kind":"user","userId":"` + id + `","reason":"spam"}`, 422, "NOT_YOURSELF"},
		{"POST", "/reports", `{"kind":"reply","topicId":"x","reason":"spam"}`, 404, "TOPIC_NOT_FOUND"},
		{"POST", "/reports", `{"kind":"user","reason":"dull"}`, 422, "VALIDATION_ERROR"},
		{"GET", "/admin/reports?state=lost", "", 422, "VALIDATION_ERROR"},
		{"GET", "/admin/reports", "", 403, "ROLE_REQUIRED"},
		{"PUT", "/admin/reports/x", `{"action":"dismiss"}`, 403, "ROLE_REQUIRED"},
		{"DELETE", "/admin/events/x", "", 403, "ROLE_REQUIRED"},
		{"GET", "/store/items/x", "", 404, "ITEM_NOT_FOUND"},
		{"GET", "/store/items?cursor=AQ", "", 400, "MALFORMED"},
		{"GET", "/store/items?category=" + strings.Repeat("x", 41), "", 422, "VALIDATION_ERROR"},
		{"DELETE", "/admin/store/items/x", "", 403, "ROLE_REQUIRED"},
		{"PUT", "/admin/store/items/x/image", pixel, 403, "ROLE_REQUIRED"},
		{"GET", "/images/store/" + id + "/x.jpg", "", 404, "IMAGE_NOT_FOUND"},
		{"GET", "/images/blog/" + id + "/x.jpg", "", 404, "IMAGE_NOT_FOUND"},
		{"GET", "/images/event/x/x.jpg?invite=x", "", 404, "IMAGE_NOT_FOUND"},
		{"PUT", "/admin/events/x/image", pixel, 403, "ROLE_REQUIRED"},
		{"PUT", "/admin/blog/posts/x/image", pixel, 403, "ROLE_REQUIRED"},
		{"GET", "/blog/posts/x", "", 404, "POST_NOT_FOUND"},
		{"GET", "/blog/posts?cursor=AQ", "", 400, "MALFORMED"},
		{"GET", "/admin/blog/posts", "", 403, "ROLE_REQUIRED"},
		{"POST", "/admin/blog/posts", `{"title":"A","excerpt":"","content":"B","tags":null,"isPublished":true}`, 422, "VALIDATION_ERROR"},
		{"POST", "/admin/blog/posts", `{"title":"A","excerpt":"","content":"B","tags":[],"isPublished":true}`, 403, "ROLE_REQUIRED"},
		{"DELETE", "/admin/blog/posts/x", "", 403, "ROLE_REQUIRED"},
	} {
		status, p := w.ask(tt.method, tt.path, access, tt.body)
		what := fmt.Sprintf("%s %s %.60s: %v", tt.method, tt.path, tt.body, p)
		require.Equal(t, tt.status, status, what)
		if tt.code != "" {
			require.Equal(t, tt.code, p["code"], what)
			require.NotEmpty(t, p["detail"], what)
			require.NotContains(t, fmt.Sprint(p), "tea under", "a password is never shown again")
		}
	}
}

// TestConditional: a version that is not the newest changes nothing.
func TestConditional(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, access, _ := w.account("anna")
	const body = `{"name":"Анна","bio":"","location":"","gender":"female","position":null}`
	do := func(method, path, ifMatch, body string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, api.Prefix+path, strings.NewReader(body))
		require.NoError(t, err)
		r.RemoteAddr = "192.0.2.1:1"
		r.Header.Set("Authorization", "Bearer "+access)
		r.Header.Set("Content-Type", "application/json")
		if ifMatch != "" {
			r.Header.Set("If-Match", ifMatch)
		}
		rec := httptest.NewRecorder()
		w.ServeHTTP(rec, r)
		return rec.Code, rec.Header().Get("ETag")
	}
	_, etag := do("GET", "/auth/me", "", "")
	status, next := do("PUT", "/users/"+id, etag, body)
	require.Equal(t, 200, status)
	require.NotEqual(t, etag, next)
	status, _ = do("PUT", "/users/"+id, etag, body)
	require.Equal(t, 412, status)
	status, _ = do("PUT", "/users/"+id, next, body)
	require.Equal(t, 200, status)
	status, _ = do("PUT", "/users/"+id, "*", body)
	require.Equal(t, 200, status)
}

// TestDocument holds that the document tells of every operation what it does, with examples that
// are as it says.
func TestDocument(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := openapitest.New(t, w)
	require.Len(t, c.Operations(), len(api.Bounds()))
	require.Greater(t, c.Examples(t), 80)
	for _, o := range c.Operations() {
		op := c.At(o.Pointer)
		require.Regexp(t, `^[A-Z]`, op["summary"], o.Pointer)
		require.Regexp(t, `^[A-Z].*\.$`, op["description"], o.Pointer)
	}
}

// TestPolling: the ETag of messages changes with every change of the chat and with nothing else,
// and a cursor goes on where the page ended.
func TestPolling(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Handler = openapitest.New(t, w).Enforce(t, w.Handler)
	anna, annaAccess, _ := w.account("anna")
	bob, bobAccess, _ := w.account("bob")
	w.ask("POST", "/likes", annaAccess, `{"toUserId":"`+bob+`"}`)
	_, like := w.ask("POST", "/likes", bobAccess, `{"toUserId":"`+anna+`"}`)
	messages := "/chats/" + like["chatId"].(string) + "/messages"
	etag := ""
	poll := func() int {
		r := httptest.NewRequestWithContext(t.Context(), "GET", api.Prefix+messages, nil)
		r.Header.Set("Authorization", "Bearer "+bobAccess)
		r.Header.Set("If-None-Match", etag)
		rec := httptest.NewRecorder()
		w.ServeHTTP(rec, r)
		etag = rec.Header().Get("ETag")
		return rec.Code
	}
	require.Equal(t, 200, poll())
	require.Equal(t, 304, poll())
	ids := []string{}
	for n := range 5 {
		status, m := w.ask("POST", messages, annaAccess, fmt.Sprintf(`{"content":"%d"}`, n))
		require.Equal(t, 201, status)
		ids = append(ids, m["id"].(string))
		require.Equal(t, 200, poll())
		require.Equal(t, 304, poll())
	}
	w.background.Wait()
	for _, change := range [][3]string{
		{"PUT", messages + "/" + ids[0], `{"content":"another"}`}, {"DELETE", messages + "/" + ids[1], ""}, {"DELETE", "/matches/" + bob, ""},
	} {
		status, _ := w.ask(change[0], change[1], annaAccess, change[2])
		require.Less(t, status, 300)
		require.Equal(t, 200, poll(), change)
		require.Equal(t, 304, poll())
	}
	status, _ := w.ask("POST", strings.TrimSuffix(messages, "messages")+"read", bobAccess, `{"upTo":"`+ids[3]+`"}`)
	require.Equal(t, 200, status)
	require.Equal(t, 200, poll())
	var seen []string
	for path := messages + "?limit=2&after=" + ids[0]; path != ""; {
		status, p := w.ask("GET", path, bobAccess, "")
		require.Equal(t, 200, status, p)
		for _, m := range p["items"].([]any) {
			seen = append(seen, m.(map[string]any)["content"].(string))
		}
		require.EqualValues(t, 1, p["unread"])
		path = ""
		if next, _ := p["nextCursor"].(string); next != "" {
			path = messages + "?limit=2&cursor=" + next
		}
	}
	require.Equal(t, []string{"4", "3", "2", ""}, seen)
	status, p := w.ask("POST", messages, annaAccess, `{"content":"hello"}`)
	require.Equal(t, 409, status)
	require.Equal(t, "CHAT_CLOSED", p["code"])
}
