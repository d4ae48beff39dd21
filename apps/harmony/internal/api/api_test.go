package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/api"
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
		path := strings.NewReplacer("{userId}", "x", "{imageId}", "x", "{chatId}", "x", "{messageId}", "x", "{eventId}",
			"x", "{code}", "x", "{sectionId}", "x", "{topicId}", "x", "{replyId}", "x", "{reportId}", "x", "{itemId}",
			"x", "{postId}", "x").Replace(strings.TrimPrefix(o.Path, api.Prefix))
		if security, _ := op["security"].([]any); len(security) != 1 {
			open[op["operationId"].(string)] = true
			continue
		}
		for _, token := range []string{"", "x", "ha_x"} {
			status, p := w.ask(strings.ToUpper(o.Method), path, token,
				map[bool]string{true: `{"x":`}[op["requestBody"] != nil])
			require.Equal(t, 401, status, "%s %s", o.Method, path)
			require.Equal(t, map[bool]string{true: "UNAUTHENTICATED", false: "INVALID_TOKEN"}[token == ""],
				p["code"], path)
		}
	}
	require.Equal(t, map[string]bool{
		"register": true, "login": true, "refresh": true, "reset-password": true, "restore": true, "confirm": true,
		"confirm-email": true, "forgot-password": true, "get-health": true, "get-ready": true,
		"get-openapi": true, "get-image": true,
		"list-events": true, "get-event": true, "get-event-calendar": true, "list-items": true, "get-item": true,
		"list-posts": true, "get-post": true, "list-my-data": true,
	}, open)
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
		{
			"POST", "/auth/login", `{"email":"` + strings.Repeat("a", 60_000) + `","password":"x"}`, 401,
			"INVALID_CREDENTIALS",
		},
		{"POST", "/auth/refresh", `{"refreshToken":"hr_x"}`, 401, "INVALID_TOKEN"},
		{"POST", "/auth/reset", `{"token":"hx_x","password":"tea under seven lamps"}`, 401, "INVALID_TOKEN"},
		{"POST", "/auth/confirm", `{"token":"hj_x","password":"x"}`, 401, "INVALID_TOKEN"},
		{"POST", "/auth/confirm-email", `{"token":"hj_x"}`, 401, "INVALID_TOKEN"},
		{"POST", "/auth/forgot", `{"email":"anna@example.com"}`, 409, "MAIL_OFF"},
		{"POST", "/auth/change-email", `{"password":"wrong","email":"b@example.com"}`, 401, "INVALID_CREDENTIALS"},
		{
			"POST", "/auth/change-email",
			`{"password":"tea under seven lamps","email":"b@example.com\r\nBcc: c@example.com"}`, 422,
			"VALIDATION_ERROR",
		},
		{"PUT", "/users/" + id, profile(""), 422, "VALIDATION_ERROR"},
		{"PUT", "/users/" + id, profile(`,"position":{"lat":91,"lon":0}`), 422, "VALIDATION_ERROR"},
		{"PUT", "/users/" + id, profile(`,"position":{"lat":1e999,"lon":0}`), 400, "MALFORMED"},
		{"PUT", "/users/" + id, profile(`,"position":{"lat":1,"lon":0,"alt":1}`), 422, "VALIDATION_ERROR"},
		{
			"PUT", "/users/" + id, `{"name":"a\u0000b","bio":"","location":"","gender":"female","position":null}`, 422,
			"VALIDATION_ERROR",
		},
		{"PUT", "/users/" + id, `{"name":"a","bio":"` + strings.Repeat("𝄞", 501) +
			`","location":"","gender":"female","position":null}`, 422, "VALIDATION_ERROR"},
		{"PUT", "/users/" + id, `{"name":"a","bio":"` + strings.Repeat("𝄞", 500) +
			`","location":"","gender":"female","position":null}`, 200, ""},
		{"GET", "/users/" + id + "?x=1", "", 422, "VALIDATION_ERROR"},
		{"GET", "/users/..%2F..%2Fx", "", 404, "USER_NOT_FOUND"},
		{"GET", "/users/0b9d4c7a-2e51-4f83-9a66-d1c0b7e8f925", "", 404, "USER_NOT_FOUND"},
		{"GET", "/users/" + strings.ToUpper(id), "", 404, "USER_NOT_FOUND"},
		{
			"PUT", "/settings/preferences", `{"ageRangeMin":17,"ageRangeMax":99,"maxDistanceKm":0,"showMe":"men"}`, 422,
			"VALIDATION_ERROR",
		},
		{
			"PUT", "/settings/preferences", `{"ageRangeMin":18.5,"ageRangeMax":99,"maxDistanceKm":0,"showMe":"men"}`, 422,
			"VALIDATION_ERROR",
		},
		{
			"PUT", "/settings/preferences", `{"ageRangeMin":18,"ageRangeMax":99,"maxDistanceKm":20001,"showMe":"men"}`,
			422, "VALIDATION_ERROR",
		},
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
		{
			"POST", "/forum/topics", `{"sectionId":"event-x","title":"A title","content":"Enough content"}`, 404,
			"SECTION_NOT_FOUND",
		},
		{
			"POST", "/admin/events/x/topics", `{"title":"A title","content":"Enough content","visibility":"public"}`, 403,
			"ROLE_REQUIRED",
		},
		{
			"POST", "/admin/events/x/topics", `{"title":"A title","content":"Enough content","visibility":"all"}`, 422,
			"VALIDATION_ERROR",
		},
		{"PUT", "/admin/topics/x", `{"visibility":"specificUsers","allowedUserIds":[]}`, 403, "ROLE_REQUIRED"},
		{
			"POST", "/forum/topics", `{"sectionId":"none","title":"A title","content":"Enough content"}`, 404,
			"SECTION_NOT_FOUND",
		},
		{
			"POST", "/forum/topics", `{"sectionId":"none","title":"A","content":"Enough content"}`, 422,
			"VALIDATION_ERROR",
		},
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
		{
			"POST", "/admin/blog/posts", `{"title":"A","excerpt":"","content":"B","tags":null,"isPublished":true}`, 422,
			"VALIDATION_ERROR",
		},
		{
			"POST", "/admin/blog/posts", `{"title":"A","excerpt":"","content":"B","tags":[],"isPublished":true}`, 403,
			"ROLE_REQUIRED",
		},
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
		{"PUT", messages + "/" + ids[0], `{"content":"another"}`},
		{"DELETE", messages + "/" + ids[1], ""},
		{"DELETE", "/matches/" + bob, ""},
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

// TestOpenAPI compares the document with its golden file.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	openapitest.Golden(t, newWorld(t))
}
