package api_test

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/api"
	"prompthub/apps/harmony/internal/chat"
	"prompthub/apps/harmony/internal/chats"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/population"
	"prompthub/internal/http/openapi"
	"prompthub/internal/testing/golden"
)

const (
	anEvent = `{"title":"Concert","description":"","startDate":"2026-12-31T20:00:00Z","endDate":"2026-12-31T23:00:00Z","location":"","category":"concert","visibility":"secretTeaser","isPublished":true}`
	aTopic  = `{"sectionId":"music","title":"A title","content":"Enough content"}`
	anItem  = `{"title":"LP","description":"","price":{"amountMinor":250000,"currency":"RUB"},"category":"music","stockQuantity":3,"isAvailable":true,"externalPurchaseUrl":"https://shop.example.com/lp"}`
	aPost   = `{"title":"The album","excerpt":"","content":"It is ready","tags":["album"],"isPublished":true}`
)

// A request is one that costs something.
type request struct {
	id, method, path, token, body string
	status                        int
}

// A cost is what a request has cost: calls of the storage of which each waits for the one before,
// all calls, and the bytes of the rows that they carry.
type cost struct {
	steps, calls, bytes int
}

// A story is a community in which all requests are made once at least. Bob is its admin, anna
// becomes a moderator, carol is a member.
type story struct {
	*world
	bobID, bob, id, access, refresh, reset, carolID, carolAccess string
	one, two                                                     string // anna's pictures
	// events, one with one place, and the chat of the first
	concert, over, draft, tight, room string
	talk, said, report, shown         string

	pair, message, thing, text, about, response, filed, sent string // as the last answer named them
}

// newStory makes what the requests are about.
func newStory(t *testing.T, w *world) *story {
	t.Helper()
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
	carolID, carolAccess, _ := w.account("carol")
	concert, over, draft := w.event(bob, anEvent), w.event(bob, anEvent),
		w.event(bob, strings.Replace(anEvent, "true", "false", 1))
	tight := w.event(bob, strings.NewReplacer("secretTeaser", "public", `"location"`,
		`"capacity":1,"location"`).Replace(anEvent))
	room := chat.OfEvent(concert)
	_, first = w.ask("POST", "/admin/events/"+concert+"/invites", bob, `{"code":"first"}`)
	require.Equal(t, "FIRST", first["code"])
	_, first = w.ask("POST", "/admin/events/"+over+"/invites", bob, `{"code":"first"}`)
	require.Equal(t, "FIRST", first["code"])
	status, first = w.ask("POST", "/events/"+over+"/register", access, `{"inviteCode":"first"}`)
	require.Equal(t, 201, status, first)
	status, first = w.ask("PUT", "/admin/events/"+over, bob,
		strings.Replace(anEvent, "2026-12-31T20", "2026-10-31T20", 1))
	require.Equal(t, 200, status, first)
	status, first = w.ask("POST", "/admin/forum/sections", bob,
		`{"sectionId":"music","name":"Music","description":"","orderIndex":0}`)
	require.Equal(t, 201, status, first)
	status, first = w.ask("POST", "/forum/topics", access, aTopic)
	require.Equal(t, 201, status, first)
	talk := first["topicId"].(string)
	status, first = w.ask("POST", "/forum/topics/"+talk+"/replies", bob, `{"content":"Perhaps"}`)
	require.Equal(t, 201, status, first)
	said := first["replyId"].(string)
	status, first = w.ask("POST", "/reports", carolAccess, `{"kind":"topic","topicId":"`+talk+`","reason":"spam"}`)
	require.Equal(t, 201, status, first)
	report := first["reportId"].(string)
	time.Sleep(time.Minute) // in a bubble; the next reply moves the topic
	status, first = w.ask("POST", "/admin/store/items", bob, anItem)
	require.Equal(t, 201, status, first)
	shown := first["itemId"].(string)
	status, first = w.ask("PUT", "/admin/store/items/"+shown+"/image", bob, pixel)
	require.Equal(t, 200, status, first)
	return &story{
		world: w, bobID: bobID, bob: bob, id: id, access: access, refresh: refresh, reset: reset, carolID: carolID,
		carolAccess: carolAccess, one: one, two: two,
		concert: concert, over: over, draft: draft, tight: tight, room: room, talk: talk, said: said,
		report: report, shown: shown,
	}
}

// requests are all requests, in their order.
func (s *story) requests() []request {
	return []request{
		{"get-health", "GET", "/health", "", "", 200},
		{"get-openapi", "GET", "/openapi.json", "", "", 200},
		{"get-ready", "GET", "/ready", "", "", 200},
		{"register", "POST", "/auth/register", "", `{"email":"dave@example.com","password":"tea under seven lamps","name":"Carol","birthDate":"2000-02-29","gender":"female"}`, 201},
		{"login", "POST", "/auth/login", "", `{"email":"bob@example.com","password":"tea under seven lamps"}`, 200},
		{"login", "POST", "/auth/login", "", `{"email":"unknown@example.com","password":"tea under seven lamps"}`, 401},
		{"get-me", "GET", "/auth/me", s.access, "", 200},
		{"get-person", "GET", "/users/" + s.id, s.bob, "", 200},
		{
			"put-person", "PUT", "/users/" + s.id, s.access,
			`{"name":"Анна","bio":"","location":"","gender":"female","position":{"lat":55.7,"lon":37.6}}`, 200,
		},
		{"get-settings", "GET", "/settings", s.access, "", 200},
		{
			"put-preferences", "PUT", "/settings/preferences", s.access,
			`{"ageRangeMin":18,"ageRangeMax":99,"maxDistanceKm":0,"showMe":"men"}`, 200,
		},
		{"put-privacy", "PUT", "/settings/privacy", s.access, `{"profileVisibility":"friends","anonymousLikes":true,"language":"en","notificationsEnabled":true,"emailNotifications":true}`, 200},
		{"put-privacy", "PUT", "/settings/privacy", s.access, `{"profileVisibility":"public","anonymousLikes":true,"language":"en","notificationsEnabled":true,"emailNotifications":true}`, 200},
		{"put-role", "PUT", "/admin/users/" + s.id + "/role", s.bob, `{"role":"moderator"}`, 204},
		{"list-deck", "GET", "/users", s.carolAccess, "", 200},
		{"add-image", "POST", "/users/" + s.carolID + "/images", s.carolAccess, pixel, 201},
		{"get-image", "GET", "/images/profile/" + s.id + "/" + s.two + "_320.jpg", s.bob, "", 200},
		{
			"order-images", "PUT", "/users/" + s.id + "/images/order", s.access,
			`{"imageIds":["` + s.two + `","` + s.one + `"]}`, 200,
		},
		{"delete-image", "DELETE", "/users/" + s.id + "/images/" + s.two, s.access, "", 204},
		{"like", "POST", "/likes", s.access, `{"toUserId":"` + s.bobID + `"}`, 201},
		{"list-likes-received", "GET", "/likes/received", s.bob, "", 200},
		{"unlike", "DELETE", "/likes/" + s.bobID, s.access, "", 204},
		{"pass", "POST", "/passes", s.access, `{"userId":"` + s.bobID + `"}`, 204},
		{"like", "POST", "/likes", s.access, `{"toUserId":"` + s.bobID + `"}`, 201},
		{"like", "POST", "/likes", s.bob, `{"toUserId":"` + s.id + `","anonymous":true}`, 201},
		{"list-likes-sent", "GET", "/likes/sent", s.access, "", 200},
		{"list-matches", "GET", "/matches", s.access, "", 200},
		{"list-chats", "GET", "/chats", s.access, "", 200},
		{"get-chat", "GET", "/chats/CHAT", s.access, "", 200},
		{"send-message", "POST", "/chats/CHAT/messages", s.access, `{"content":"Ты на концерте?"}`, 201},
		{
			"report", "POST", "/reports", s.bob,
			`{"kind":"message","chatId":"CHAT","messageId":"MESSAGE","reason":"spam"}`, 201,
		},
		{"list-messages", "GET", "/chats/CHAT/messages", s.bob, "", 200},
		{"edit-message", "PUT", "/chats/CHAT/messages/MESSAGE", s.access, `{"content":"Ты там?"}`, 200},
		{"read-chat", "POST", "/chats/CHAT/read", s.bob, `{"upTo":"MESSAGE"}`, 200},
		{"delete-message", "DELETE", "/chats/CHAT/messages/MESSAGE", s.access, "", 204},
		{"send-image", "POST", "/chats/CHAT/images", s.access, pixel, 201},
		{"get-image", "GET", "PICTURE", s.bob, "", 200},
		{"unmatch", "DELETE", "/matches/" + s.bobID, s.access, "", 204},
		{"block", "POST", "/users/" + s.bobID + "/block", s.access, "", 204},
		{"list-blocks", "GET", "/blocks", s.access, "", 200},
		{"unblock", "DELETE", "/users/" + s.bobID + "/block", s.access, "", 204},
		{"new-event", "POST", "/admin/events", s.bob, anEvent, 201},
		{
			"put-event", "PUT", "/admin/events/" + s.concert, s.bob,
			strings.NewReplacer("concert", "party", "2026-12-31T23", "2026-12-31T22").Replace(anEvent), 200,
		},
		{"put-event", "PUT", "/admin/events/" + s.draft, s.bob, anEvent, 200},
		{"put-event-image", "PUT", "/admin/events/" + s.concert + "/image", s.bob, pixel, 200},
		{"list-events", "GET", "/events", s.access, "", 200},
		{"list-all-events", "GET", "/admin/events", s.bob, "", 200},
		{
			"new-invite", "POST", "/admin/events/" + s.concert + "/invites", s.bob,
			`{"code":"second","rotate":true}`, 201,
		},
		{"get-event", "GET", "/events/" + s.concert + "?invite=second", s.access, "", 200},
		{"get-event-calendar", "GET", "/events/" + s.concert + "/calendar.ics?invite=second", s.access, "", 200},
		{"register-for-event", "POST", "/events/" + s.concert + "/register", s.access, `{"inviteCode":"second"}`, 201},
		{"list-attendees", "GET", "/events/" + s.concert + "/attendees", s.access, "", 200},
		{"list-events", "GET", "/events?mine=true", s.access, "", 200},
		{"list-events", "GET", "/events?invite=second", s.carolAccess, "", 200},
		{
			"new-event-topic", "POST", "/admin/events/" + s.concert + "/topics", s.bob,
			`{"title":"A title","content":"Enough content","visibility":"public"}`, 201,
		},
		{"list-topics", "GET", "/forum/sections/event-" + s.concert + "/topics", s.access, "", 200},
		{"put-audience", "PUT", "/admin/topics/TOPIC", s.bob, `{"visibility":"attendeesOnly"}`, 200},
		{"get-topic", "GET", "/forum/topics/TOPIC", s.access, "", 200},
		{"wait a minute", "", "", "", "", 0},
		// notes that the caller is there
		{"list-topics", "GET", "/forum/sections/event-" + s.concert + "/topics", s.access, "", 200},
		{"list-topics", "GET", "/forum/sections/event-" + s.concert + "/topics", s.carolAccess, "", 200},
		{"reply", "POST", "/forum/topics/TOPIC/replies", s.access, `{"content":"Yes"}`, 201},
		{"list-replies", "GET", "/forum/topics/TOPIC/replies", s.bob, "", 200},
		{"put-reply", "PUT", "/forum/topics/TOPIC/replies/REPLY", s.access, `{"content":"No"}`, 200},
		{"delete-reply", "DELETE", "/forum/topics/TOPIC/replies/REPLY", s.access, "", 204},
		{"put-topic", "PUT", "/forum/topics/TOPIC", s.bob, `{"isPinned":true}`, 200},
		{"delete-topic", "DELETE", "/forum/topics/TOPIC", s.bob, "", 204},
		{"send-message", "POST", "/chats/" + s.room + "/messages", s.access, `{"content":"Ты на концерте?"}`, 201},
		{"list-chats", "GET", "/chats", s.access, "", 200},
		{"send-image", "POST", "/chats/" + s.room + "/images", s.access, pixel, 201},
		{"get-image", "GET", "PICTURE", s.bob, "", 200},
		{"send-message", "POST", "/chats/" + s.room + "/messages", s.access, `{"content":"Ты на концерте?"}`, 201},
		{"get-chat", "GET", "/chats/" + s.room, s.access, "", 200},
		{"list-messages", "GET", "/chats/" + s.room + "/messages", s.bob, "", 200},
		{"edit-message", "PUT", "/chats/" + s.room + "/messages/MESSAGE", s.access, `{"content":"Ты там?"}`, 200},
		{"read-chat", "POST", "/chats/" + s.room + "/read", s.bob, `{"upTo":"MESSAGE"}`, 200},
		{"delete-message", "DELETE", "/chats/" + s.room + "/messages/MESSAGE", s.access, "", 204},
		{"send-message", "POST", "/chats/" + s.room + "/messages", s.access, `{"content":"Buy this"}`, 201},
		{"report", "POST", "/reports", s.bob, `{"kind":"message","chatId":"` + s.room +
			`","messageId":"MESSAGE","reason":"spam"}`, 201},
		{"close-report", "PUT", "/admin/reports/FILED", s.bob, `{"action":"remove"}`, 200},
		{"report", "POST", "/reports", s.bob, `{"kind":"image","userId":"` + s.id + `","imageId":"` +
			s.one + `","reason":"spam"}`, 201},
		{"close-report", "PUT", "/admin/reports/FILED", s.bob, `{"action":"remove"}`, 200},
		{"list-invites", "GET", "/admin/events/" + s.concert + "/invites", s.bob, "", 200},
		{"revoke-invite", "DELETE", "/admin/events/" + s.concert + "/invites/second", s.bob, "", 204},
		{"register-for-event", "POST", "/events/" + s.tight + "/register", s.bob, "{}", 201},
		{"wait-for-event", "POST", "/events/" + s.tight + "/wait", s.carolAccess, "{}", 201},
		{"leave-waiting", "DELETE", "/events/" + s.tight + "/wait", s.carolAccess, "", 204},
		{"wait-for-event", "POST", "/events/" + s.tight + "/wait", s.access, "{}", 201},
		{"leave-event", "DELETE", "/events/" + s.tight + "/register", s.bob, "", 204},
		{"put-attendee", "PUT", "/admin/events/" + s.over + "/attendees/" + s.id, s.bob, `{"attended":true}`, 200},
		{"leave-event", "DELETE", "/events/" + s.concert + "/register", s.access, "", 204},
		{"remove-attendee", "DELETE", "/admin/events/" + s.over + "/attendees/" + s.id, s.bob, "", 204},
		{"delete-event", "DELETE", "/admin/events/" + s.concert, s.bob, "", 204},
		{"report", "POST", "/reports", s.carolAccess, `{"kind":"user","userId":"` + s.id + `","reason":"fake"}`, 201},
		{"list-reports", "GET", "/admin/reports", s.bob, "", 200},
		{"close-report", "PUT", "/admin/reports/" + s.report, s.bob, `{"action":"suspend","days":1}`, 200},
		{"unsuspend", "DELETE", "/admin/users/" + s.id + "/suspension", s.bob, "", 204},
		{"list-accounts", "GET", "/admin/users", s.bob, "", 200},
		{"list-accounts", "GET", "/admin/users?email=anna@example.com", s.bob, "", 200},
		{"suspend", "POST", "/admin/users/" + s.id + "/suspension", s.bob, `{"days":1,"reason":"Spam"}`, 204},
		{"unsuspend", "DELETE", "/admin/users/" + s.id + "/suspension", s.bob, "", 204},
		{
			"new-section", "POST", "/admin/forum/sections", s.bob,
			`{"sectionId":"tours","name":"Tours","description":"","orderIndex":1}`, 201,
		},
		{
			"put-section", "PUT", "/admin/forum/sections/tours", s.bob,
			`{"name":"Tours","description":"","orderIndex":2}`, 200,
		},
		{"delete-section", "DELETE", "/admin/forum/sections/tours", s.bob, "", 204},
		{"list-sections", "GET", "/forum/sections", s.access, "", 200},
		{"new-topic", "POST", "/forum/topics", s.access, aTopic, 201},
		{"get-topic", "GET", "/forum/topics/" + s.talk, s.bob, "", 200},
		{"reply", "POST", "/forum/topics/" + s.talk + "/replies", s.bob, `{"content":"Yes"}`, 201},
		{"list-topics", "GET", "/forum/sections/music/topics", s.access, "", 200},
		{"list-found-topics", "GET", "/forum/search?q=Enough", s.access, "", 200},
		{"list-replies", "GET", "/forum/topics/" + s.talk + "/replies", s.access, "", 200},
		{"put-reply", "PUT", "/forum/topics/" + s.talk + "/replies/" + s.said, s.bob, `{"content":"No"}`, 200},
		{"delete-reply", "DELETE", "/forum/topics/" + s.talk + "/replies/" + s.said, s.bob, "", 204},
		{"put-topic", "PUT", "/forum/topics/" + s.talk, s.bob, `{"isPinned":true}`, 200},
		{"delete-topic", "DELETE", "/forum/topics/" + s.talk, s.bob, "", 204},
		{"refresh", "POST", "/auth/refresh", "", `{"refreshToken":"` + s.refresh + `"}`, 200},
		{
			"reset-password", "POST", "/auth/reset", "",
			`{"token":"` + s.reset + `","password":"eleven lamps s.over tea"}`, 204,
		},
		{
			"change-password", "POST", "/auth/change-password", s.bob,
			`{"currentPassword":"tea under seven lamps","newPassword":"eleven lamps s.over tea"}`, 204,
		},
		{"new-item", "POST", "/admin/store/items", s.bob, anItem, 201},
		{"list-items", "GET", "/store/items", "", "", 200},
		{"get-item", "GET", "/store/items/ITEM", "", "", 200},
		{"put-item", "PUT", "/admin/store/items/ITEM", s.bob, anItem, 200},
		{"put-item-image", "PUT", "/admin/store/items/" + s.shown + "/image", s.bob, pixel, 200},
		{"delete-item", "DELETE", "/admin/store/items/" + s.shown, s.bob, "", 204},
		{"new-post", "POST", "/admin/blog/posts", s.bob, aPost, 201},
		{"list-posts", "GET", "/blog/posts", "", "", 200},
		{"list-all-posts", "GET", "/admin/blog/posts", s.bob, "", 200},
		{"get-post", "GET", "/blog/posts/POST", s.bob, "", 200},
		{"put-post-image", "PUT", "/admin/blog/posts/POST/image", s.bob, pixel, 200},
		{
			"put-post", "PUT", "/admin/blog/posts/POST", s.bob,
			strings.Replace(aPost, "true", "true,\"publishedAt\":\"2026-10-01T12:00:00Z\"", 1), 200,
		},
		{"delete-post", "DELETE", "/admin/blog/posts/POST", s.bob, "", 204},
		{"delete-me", "DELETE", "/auth/me", s.carolAccess, `{"password":"tea under seven lamps"}`, 202},
		{
			"restore", "POST", "/auth/restore", "",
			`{"email":"carol@example.com","password":"tea under seven lamps"}`, 200,
		},
		{"pass", "POST", "/passes", s.bob, `{"userId":"` + s.carolID + `"}`, 204},
		{"unpass", "DELETE", "/passes/" + s.carolID, s.bob, "", 204},
		{
			"change-email", "POST", "/auth/change-email", s.bob,
			`{"password":"eleven lamps s.over tea","email":"robert@example.com"}`, 204,
		},
		{"confirm", "POST", "/auth/confirm", "", `{"token":"` + unknownJoin + `","password":"x"}`, 401},
		{"confirm-email", "POST", "/auth/confirm-email", "", `{"token":"` + unknownMove + `"}`, 401},
		{"forgot-password", "POST", "/auth/forgot", "", `{"email":"carol@example.com"}`, 409},
		{"list-my-data", "GET", "/auth/me/data", "", "", 401},
		{"list-my-data", "GET", "/auth/me/data", s.bob, "", 200},
		{"logout", "POST", "/auth/logout", s.bob, `{"everywhere":true}`, 204},
	}
}

// run makes requests and tells what each has cost.
func (s *story) run(all []request, tell func(request, cost)) {
	s.t.Helper()
	for _, c := range all {
		if c.method == "" {
			time.Sleep(time.Minute) // in a bubble; the next reply moves the topic
			continue
		}
		names := strings.NewReplacer("CHAT", s.pair, "MESSAGE", s.message, "ITEM", s.thing, "POST", s.text, "TOPIC",
			s.about, "REPLY", s.response, "FILED", s.filed, "PICTURE", strings.TrimPrefix(s.sent, api.Prefix))
		s.background.Wait()
		s.calls.Start(time.Millisecond)
		from := time.Now()
		status, answer := s.ask(c.method, names.Replace(c.path), c.token, names.Replace(c.body))
		spent := cost{steps: int(time.Since(from) / time.Millisecond)}
		s.background.Wait()
		s.calls.Stop()
		spent.calls, spent.bytes = s.calls.Count(), s.calls.Bytes()
		require.Equal(s.t, c.status, status, "%s: %v", c.id, answer)
		for name, is := range map[string]*string{
			"chatId": &s.pair, "itemId": &s.thing, "postId": &s.text,
			"topicId": &s.about, "replyId": &s.response, "reportId": &s.filed, "imageUrl": &s.sent, "id": &s.message,
		} {
			if id, _ := answer[name].(string); id != "" {
				*is = id
			}
		}
		tell(c, spent)
	}
}

// ids hides ids in calls.
var ids = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// TestCounts holds what each route costs against its bound: steps until the answer, and all calls.
// The calls are listed in testdata.
func TestCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStory(t, newWorldOfToday(t))
		ofTwo := map[string]openapi.Bound{ // what a chat of two costs less than that of an event
			"get-chat": {Steps: 3, Calls: 6}, "edit-message": {Steps: 5, Calls: 6}, "read-chat": {Steps: 4, Calls: 5},
			"delete-message": {Steps: 4, Calls: 5},
		}
		ofForum := map[string]openapi.Bound{ // what a topic of the forum costs less than one of an event
			"get-topic": {Steps: 3, Calls: 6}, "reply": {Steps: 5, Calls: 8}, "put-reply": {Steps: 3, Calls: 5},
			"delete-reply": {Steps: 3, Calls: 5},
			"put-topic":    {Steps: 6, Calls: 11}, "delete-topic": {Steps: 5, Calls: 8},
		}
		ofReports := map[string]openapi.Bound{ // reports that cost less than one about a message of an event
			`"user"`: {Steps: 4, Calls: 10}, `"image"`: {Steps: 4, Calls: 10}, `"CHAT"`: {Steps: 4, Calls: 8},
			"suspend": {Steps: 5, Calls: 9},
		}
		// of a message and of a picture, less than of a topic
		removals := []openapi.Bound{{Steps: 6, Calls: 8}, {Steps: 8, Calls: 15}}
		counted, made := map[string]bool{}, ""
		s.run(s.requests(), func(c request, spent cost) {
			bound := api.Bounds()[c.id]
			t.Logf("%s: %d steps, %d calls", c.id, spent.steps, spent.calls)
			require.LessOrEqual(t, spent.steps, bound.Steps, c.id)
			if c.id == "like" && c.token == s.access {
				bound = openapi.Bound{Steps: 5, Calls: 13} // one that makes no match
			}
			if less, ok := ofTwo[c.id]; ok && !strings.Contains(c.path, s.room) {
				bound = less
			} else if less, ok := ofForum[c.id]; ok && strings.Contains(c.path, s.talk) {
				bound = less
			} else if c.id == "put-event" && !strings.Contains(c.path, s.draft) {
				bound = openapi.Bound{Steps: 5, Calls: 20} // one that has its topics
			} else if c.id == "register-for-event" && strings.Contains(c.path, s.tight) {
				bound = openapi.Bound{Steps: 6, Calls: 12} // without an invite
			} else if less := map[string]openapi.Bound{
				"leave-event":     {Steps: 7, Calls: 11},
				"remove-attendee": {Steps: 7, Calls: 11},
			}[c.id]; less.Steps > 0 && !strings.Contains(c.path, s.tight) {
				bound = less // none waits for the place
			} else if c.id == "get-event" {
				bound = openapi.Bound{Steps: 3, Calls: 8} // with two topics
			} else if c.id == "get-image" && strings.Contains(c.path, "/profile/") {
				bound = openapi.Bound{Steps: 3, Calls: 7}
			} else if c.id == "get-image" && !strings.Contains(s.sent, s.room) {
				bound = openapi.Bound{Steps: 4, Calls: 8} // of a chat of two
			} else if c.id == "send-image" && strings.Contains(c.path, s.room) {
				bound = openapi.Bound{Steps: 7, Calls: 10}
			} else if c.id == "send-message" && strings.Contains(c.path, s.room) {
				bound = openapi.Bound{Steps: 4, Calls: 6} // whether the other of two is there is one more
			}
			for what, less := range ofReports {
				if strings.HasSuffix(c.id, "report") && strings.Contains(c.body, what) {
					bound = less
				}
			}
			if c.id == "close-report" && strings.Contains(c.body, "remove") {
				bound, removals = removals[0], removals[1:]
			}
			if !strings.HasPrefix(c.id, "list-") && c.status < 300 { // a list costs by its rows
				require.Equal(t, bound, openapi.Bound{Steps: spent.steps, Calls: spent.calls}, c.id)
			}
			require.LessOrEqual(t, spent.calls, bound.Calls, c.id)
			counted[c.id] = true
			made += "# " + c.id + "\n" + s.calls.Lines(ids) + "\n"
		})
		golden.Check(t, "testdata/calls.txt", made)
		for id := range api.Bounds() {
			require.True(t, counted[id], "%s is not counted", id)
		}
	})
}

// newWorldOfToday is newWorld in a bubble, which begins in 2000.
func newWorldOfToday(t *testing.T) *world {
	t.Helper()
	time.Sleep(time.Until(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)))
	return newWorld(t)
}

// TestGrowth holds what routes cost in a community against one that has a tenth of the people, of
// their likes, matches, messages, events, topics, replies, posts and reports: at most a tenth more
// calls, and a tenth more bytes of rows.
//
// GROWTH sets how many people the smaller one has: 1,000 in "make -C apps/harmony growth". With
// fewer the bytes of decks are left out, as a deck reads a small community from end to end.
func TestGrowth(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("makes a thousand people")
	}
	people := 100
	if more := os.Getenv("GROWTH"); more != "" {
		var err error
		people, err = strconv.Atoi(more)
		require.NoError(t, err)
	}
	var spent [2]map[string]cost
	for i := range spent {
		spent[i] = map[string]cost{}
		times := []int{1, 10}[i]
		synctest.Test(t, func(t *testing.T) {
			s := newStory(t, newWorldOfToday(t))
			s.run(append(s.grow(people*times, times), s.requests()...), func(c request, one cost) {
				sum := spent[i][c.id]
				spent[i][c.id] = cost{sum.steps + one.steps, sum.calls + one.calls, sum.bytes + one.bytes}
			})
		})
	}
	require.Len(t, spent[0], len(api.Bounds()))
	for id, small := range spent[0] {
		large := spent[1][id]
		t.Logf("%s: %d and %d calls, %d and %d bytes", id, small.calls, large.calls, small.bytes, large.bytes)
		require.LessOrEqual(t, 10*large.calls, 11*small.calls, "calls of %s", id)
		if id == "list-sections" || id == "list-found-topics" {
			continue // they count 100 topics of a section, and look at 1,000 in one call
		}
		if id != "list-deck" || people >= 1000 {
			require.LessOrEqual(t, 10*large.bytes, 11*small.bytes, "bytes of %s", id)
		}
	}
}

// grow adds people, and times as much of what people do. It returns requests about it.
func (s *story) grow(people, times int) (all []request) {
	t, ctx := s.t, s.t.Context()
	t.Helper()
	members, err := population.Fill(ctx, s.service, people, 1)
	require.NoError(t, err)
	open := false
	like := func(from, to meet.Claim) meet.Like {
		is, _, err := s.service.Like(ctx, from, to.UserID, &open)
		require.NoError(t, err)
		return is
	}
	rooms := chats.New(s.service, s.events)
	match := func(a, b meet.Claim) {
		like(a, b)
		_, _, err := rooms.Send(ctx, a, like(b, a).ChatID, "Ты на концерте?", "")
		require.NoError(t, err)
	}
	anna, err := meet.ParseAccess(s.access)
	require.NoError(t, err)
	bob, err := meet.ParseAccess(s.bob)
	require.NoError(t, err)
	for i, m := range members {
		next := members[(i+1)%people].Claim()
		if i%2 == 0 {
			match(m.Claim(), next)
		} else {
			like(m.Claim(), next)
		}
		if i < 25 { // more than a page of likes and matches of anna and bob
			like(m.Claim(), anna)
			like(m.Claim(), bob)
			match(anna, members[people-1-i].Claim())
		}
	}
	for i := range 25 * times {
		s.event(s.bob, strings.Replace(anEvent, "secretTeaser", "public", 1))
		status, a := s.ask("POST", "/admin/blog/posts", s.bob, aPost)
		require.Equal(t, 201, status, a)
		m := members[i]
		status, a = s.ask("POST", "/reports", m.Access,
			`{"kind":"user","userId":"`+members[i+1].ID+`","reason":"spam"}`)
		require.Equal(t, 201, status, a)
		for _, m := range members[2*i : 2*i+2] { // each has one, so that pages have as many authors
			status, a = s.ask("POST", "/forum/topics", m.Access, aTopic)
			require.Equal(t, 201, status, a)
			status, a = s.ask("POST", "/forum/topics/"+s.talk+"/replies", m.Access, `{"content":"Yes"}`)
			require.Equal(t, 201, status, a)
		}
	}
	crowded := s.event(s.bob, strings.Replace(anEvent, "secretTeaser", "public", 1))
	for i := range people / 4 {
		_, _, err := s.events.Register(ctx, members[i].Claim(), crowded, "", members[i].ID)
		require.NoError(t, err)
	}
	for i := range 100 { // a page has as many authors in both, and no more are counted as unread
		_, _, err := rooms.Send(ctx, members[i%25].Claim(), chat.OfEvent(crowded), "Кто уже там?", "")
		require.NoError(t, err)
	}
	for _, m := range members[:40] { // decks differ
		all = append(all, request{"list-deck", "GET", "/users", m.Access, "", 200})
	}
	return append(all, []request{
		{"list-attendees", "GET", "/events/" + crowded + "/attendees", s.bob, "", 200},
		{"list-messages", "GET", "/chats/" + chat.OfEvent(crowded) + "/messages", s.bob, "", 200},
		{"send-message", "POST", "/chats/" + chat.OfEvent(crowded) + "/messages", s.bob, `{"content":"Я"}`, 201},
		{"register-for-event", "POST", "/events/" + crowded + "/register", s.carolAccess, "{}", 201},
		{"get-event", "GET", "/events/" + crowded, s.carolAccess, "", 200},
		{"list-events", "GET", "/events", s.carolAccess, "", 200},
		{"list-replies", "GET", "/forum/topics/" + s.talk + "/replies", s.carolAccess, "", 200},
		{"leave-event", "DELETE", "/events/" + crowded + "/register", s.carolAccess, "", 204},
	}...)
}
