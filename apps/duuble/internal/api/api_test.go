package api_test

import (
	"fmt"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/api"
	"prompthub/apps/duuble/internal/duubletest"
	"prompthub/internal/http/openapi/openapitest"
	"prompthub/internal/testing/golden"
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
		path := regexp.MustCompile(`{\w+}`).ReplaceAllString(strings.TrimPrefix(o.Path, api.Prefix), "x")
		if security, _ := op["security"].([]any); len(security) != 1 {
			open[op["operationId"].(string)] = true
			continue
		}
		for _, token := range []string{"", "x", "eyJhbGciOiJub25lIn0.e30."} {
			status, p := w.ask(strings.ToUpper(o.Method), path, token,
				map[bool]string{true: `{"x":`}[op["requestBody"] != nil])
			require.Equal(t, 401, status, "%s %s", o.Method, path)
			require.Equal(t, map[bool]string{true: "UNAUTHENTICATED", false: "INVALID_TOKEN"}[token == ""],
				p["code"], path)
		}
	}
	require.Equal(t, map[string]bool{
		"request-code": true, "verify-code": true, "get-dev-code": true, "refresh": true, "get-health": true,
		"get-ready": true, "get-openapi": true,
		"get-profile": true, "get-profile-by-name": true, "list-posts": true, "get-post": true, "list-reposts": true,
		"list-shares": true, "list-user-posts": true, "get-vote-summary": true, "get-vote-distribution": true,
		"get-default-feed": true, "list-followers": true, "list-following": true, "list-comments": true,
		"list-replies": true, "get-hub": true, "get-hub-by-link": true, "get-invitation": true,
		"get-link": true, "get-asset-content": true,
	}, open)
}

// ids hides ids, and keys made of them, in calls.
var ids = regexp.MustCompile(`(?i)[0-9A-HJKMNP-TV-Z]{26}(-[0-9a-f]{16})?`)

// A step is a request of a story.
type step struct {
	id, method, path, token, body string
	status                        int
	key                           string
}

// newAsset says what file follows.
var newAsset = fmt.Sprintf(`{"purpose":"profile","contentType":"image/png","fileSizeBytes":%d}`, len(duubletest.PNG))

// story makes a community in which every request is made once at least, and has do make each in
// turn.
func (w *world) story(do func(step)) {
	w.t.Helper()
	annID, ann, refresh := w.person(number(1), "Ann")
	bobID, bob, _ := w.person(number(2), "Bob")
	id := w.post(ann)
	shared := w.post(bob)
	for range 20 {
		w.post(bob)
	}
	newcomer := w.enter(number(3))["accessToken"].(string)
	challenge, code := w.code(number(4))
	known, again := w.code(number(1))
	hub := w.hub(ann, "Tea")
	w.enrol(ann, hub, number(2), bob)
	carolID, carol, _ := w.person(number(5), "Cora")
	_, dora, _ := w.person(number(6), "Dora")
	ermaID, erma, _ := w.person(number(7), "Erma")
	w.enrol(ann, hub, number(7), erma)
	_, fay, _ := w.person(number(8), "Fay")
	_, manager, _ := w.person(number(0), "Manager")
	token, declined := w.invite(ann, hub, number(5)), w.invite(ann, hub, number(6))
	_, sent := w.ask("POST", "/hubs/"+hub+"/invitations", ann, `{"phones":["`+number(8)+`"]}`)
	invitation := items(sent)[0]["invitationId"].(string)
	_, sent = w.ask("POST", "/hubs/"+hub+"/invitations", ann, `{"phones":["`+number(90)+`"]}`)
	cancelled := items(sent)[0]["invitationId"].(string)
	_, other := w.ask("POST", "/hubs/"+w.hub(ann, "Other")+"/invitations", ann, `{"phones":["`+number(8)+`"]}`)
	declining := items(other)[0]["invitationId"].(string)
	_, link := w.ask("POST", "/hubs/"+hub+"/links", ann, "")
	join := "/join/" + link["token"].(string)
	request := func(n int) string {
		_, token, _ := w.person(number(n), fmt.Sprintf("Asks%d", n))
		status, r := w.ask("POST", join, token, "")
		require.Equal(w.t, 202, status, r)
		return "/hubs/" + hub + "/join-requests/" + r["joinRequestId"].(string)
	}
	approved, rejected := request(20), request(21)
	for n := range 20 {
		request(30 + n)
		w.invite(ann, hub, number(60+n))
		w.enrol(ann, w.hub(ann, "One of many"), number(2), bob)
	}
	_, locked := w.ask("POST", "/posts", ann, `{"visibility":"private_locked_hub","hubIds":["`+
		hub+`"],"slider":{"text":"x"}}`)
	lockedID := locked["postId"].(string)
	for range 20 {
		w.ask("POST", "/posts", bob, `{"visibility":"public_hub","hubIds":["`+hub+`"],"slider":{"text":"x"}}`)
	}
	comment := w.comment(ann, id, "")
	for i := range 20 {
		otherID, other, _ := w.person(number(100+i), fmt.Sprintf("Talks%d", i))
		blockedID, _, _ := w.person(number(200+i), fmt.Sprintf("Blocked%d", i))
		for path, who := range map[string]string{
			"/users/" + annID + "/follow":   other,
			"/users/" + otherID + "/follow": bob, "/users/" + blockedID + "/block": bob,
		} {
			status, _ := w.ask("PUT", path, who, "")
			require.Equal(w.t, 200, status)
		}
		w.comment(other, id, "")
		w.comment(other, id, comment)
	}
	reply := w.comment(ann, id, comment)
	said := w.comment(bob, lockedID, "")
	_, inHub := w.ask("GET", "/posts?limit=22&hubId="+hub, ann, "")
	talk := ""
	for i, one := range items(inHub) {
		if one["postId"] == lockedID {
			continue
		}
		_, d := w.ask("POST", "/hubs/"+hub+"/discussions", bob, `{"postId":"`+one["postId"].(string)+`"}`)
		talk = "/hubs/" + hub + "/discussions/" + d["discussionId"].(string)
		status, _ := w.ask("PUT", talk+"/saved", bob, "")
		require.Equal(w.t, 200, status, i)
	}
	_, m := w.ask("POST", talk+"/messages", bob, `{"text":"x"}`)
	message := m["messageId"].(string)
	banned := ""
	for i := range 20 {
		number := number(300 + i)
		memberID, member, _ := w.person(number, fmt.Sprintf("Writes%d", i))
		w.enrol(ann, hub, number, member)
		banned = memberID
		for _, body := range []string{`{"text":"x"}`, `{"text":"x","parentMessageId":"` + message + `"}`} {
			status, m := w.ask("POST", talk+"/messages", member, body)
			require.Equal(w.t, 201, status, m)
		}
	}
	status, begun := w.ask("POST", "/assets", ann, newAsset)
	require.Equal(w.t, 201, status, begun)
	pending := "/assets/" + begun["assetId"].(string)
	face, ofPost, ofComment, ofMessage, ofHub, ofOther := w.picture(ann, "profile"), w.picture(ann, "post"),
		w.picture(bob, "comment"), w.picture(erma, "message"), w.picture(ann, "hub"), w.picture(ann, "hub")
	wordy := "" // a name with as many words as there can be
	for i := range 34 {
		wordy += fmt.Sprintf(" %02d", i)
	}
	wordy = wordy[1:100]
	time.Sleep(2 * time.Minute) // so that the next message moves it
	w.rest()
	for _, c := range []step{
		{"get-health", "GET", "/health", "", "", 200, ""},
		{"get-openapi", "GET", "/openapi.json", "", "", 200, ""},
		{"get-ready", "GET", "/ready", "", "", 200, ""},
		{"request-code", "POST", "/auth/otp/request", "", `{"channel":"sms","destination":"` + number(2) +
			`","purpose":"sign_in"}`, 202, ""},
		{"get-dev-code", "GET", "/dev/otp/" + challenge, "", "", 200, ""},
		{
			"verify-code", "POST", "/auth/otp/verify", "",
			`{"challengeId":"` + challenge + `","code":"` + code + `"}`, 200, "",
		},
		{
			"verify-code", "POST", "/auth/otp/verify", "",
			`{"challengeId":"` + known + `","code":"` + again + `"}`, 200, "",
		},
		{"refresh", "POST", "/auth/refresh", "", `{"refreshToken":"` + refresh + `"}`, 200, ""},
		{"list-sessions", "GET", "/auth/sessions", ann, "", 200, ""},
		{"end-session", "DELETE", "/auth/sessions/x", ann, "", 204, ""},
		{"get-onboarding", "GET", "/onboarding", ann, "", 200, ""},
		{
			"put-basics", "PUT", "/onboarding/profile-basics", newcomer,
			`{"username":"Carol","fullName":"Carol"}`, 200, "",
		},
		{"accept-terms", "POST", "/onboarding/terms", newcomer, `{"termsVersion":"1","privacyVersion":"1"}`, 200, ""},
		{"get-me", "GET", "/users/me", ann, "", 200, ""},
		{"patch-profile", "PATCH", "/users/me/profile", ann, `{"bio":"x"}`, 200, ""},
		{"patch-profile", "PATCH", "/users/me/profile", ann, `{"fullName":"` + wordy + `"}`, 200, ""},
		{"create-asset", "POST", "/assets", ann, newAsset, 201, ""},
		{"put-asset-content", "PUT", pending + "/content", ann, string(duubletest.PNG), 200, ""},
		{"put-asset-content", "PUT", pending + "/content", ann, string(duubletest.PNG), 200, ""},
		{"get-asset", "GET", pending, ann, "", 200, ""},
		{"get-asset-content", "GET", pending + "/content", ann, "", 200, ""},
		{"patch-profile", "PATCH", "/users/me/profile", ann, `{"profileAssetId":"` + face + `"}`, 200, ""},
		{
			"patch-profile", "PATCH", "/users/me/profile", ann,
			`{"profileAssetId":"` + begun["assetId"].(string) + `"}`, 200, "",
		},
		{"get-asset-content", "GET", pending + "/content?size=small", bob, "", 200, ""},
		{"get-profile", "GET", "/users/" + annID, bob, "", 200, ""},
		{"get-profile-by-name", "GET", "/users/by-username/ann", bob, "", 200, ""},
		{"check-name", "GET", "/users/username-availability?username=Dora", ann, "", 200, ""},
		{"create-post", "POST", "/posts", ann, `{"thoughtText":"x"}`, 201, ""},
		{"create-post", "POST", "/posts", ann, `{"thoughtText":"y"}`, 201, "k"},
		{"create-post", "POST", "/posts", ann, `{"thoughtText":"y"}`, 201, "k"},
		{"create-post", "POST", "/posts", ann, `{"visibility":"private_locked_hub","hubIds":["` + hub +
			`"],"article":{"kind":"media","assetId":"` + ofPost + `"}}`, 201, ""},
		{"get-asset-content", "GET", "/assets/" + ofPost + "/content", bob, "", 200, ""},
		{"repost", "POST", "/posts/" + id + "/repost", bob, `{"thoughtText":"x"}`, 201, ""},
		{
			"repost", "POST", "/posts/" + id + "/repost", bob,
			`{"visibility":"public_hub","hubIds":["` + hub + `"],"slider":{"text":"x"}}`, 201, "r1",
		},
		{"list-reposts", "GET", "/posts/" + id + "/reposts", carol, "", 200, ""},
		{"share", "POST", "/posts/" + shared + "/share", bob, `{"note":"x"}`, 201, "s1"},
		{"share-to-hubs", "POST", "/posts/" + shared + "/share/hubs", bob, `{"hubIds":["` + hub + `"]}`, 201, "s2"},
		{"list-shares", "GET", "/posts/" + shared + "/shares", bob, "", 200, ""},
		{"list-posts", "GET", "/posts", ann, "", 200, ""},
		{"get-post", "GET", "/posts/" + id, ann, "", 200, ""},
		{"list-user-posts", "GET", "/users/" + annID + "/posts", bob, "", 200, ""},
		{"vote", "POST", "/posts/" + id + "/vote", ann, `{"position":"left"}`, 201, ""},
		{"get-vote-summary", "GET", "/posts/" + id + "/vote/summary", ann, "", 200, ""},
		{"get-vote-distribution", "GET", "/posts/" + id + "/vote/distribution", ann, "", 200, ""},
		{"get-vote-summary", "GET", "/posts/" + id + "/vote/summary", bob, "", 200, ""},
		{"get-vote-distribution", "GET", "/posts/" + id + "/vote/distribution", bob, "", 200, ""},
		{"list-my-votes", "GET", "/users/me/votes", ann, "", 200, ""},
		{"create-post", "POST", "/posts", ann, `{"visibility":"public_hub","hubIds":["` + hub +
			`"],"slider":{"text":"x"}}`, 201, "h"},
		{"list-posts", "GET", "/posts?hubId=" + hub, ann, "", 200, ""},
		{"get-post", "GET", "/posts/" + lockedID, bob, "", 200, ""},
		{"vote", "POST", "/posts/" + lockedID + "/vote", bob, `{"position":"left"}`, 201, ""},
		{"get-hub-votes", "GET", "/posts/" + lockedID + "/vote/hubs", bob, "", 200, ""},
		{"create-comment", "POST", "/posts/" + id + "/comments", bob, `{"text":"x"}`, 201, ""},
		{"create-comment", "POST", "/posts/" + lockedID + "/comments", bob, `{"text":"x"}`, 201, "c"},
		{
			"create-comment", "POST", "/posts/" + id + "/comments", bob,
			`{"text":"x","parentCommentId":"` + comment + `"}`, 201, "r",
		},
		{"create-comment", "POST", "/posts/" + lockedID + "/comments", bob, `{"assetId":"` + ofComment + `"}`, 201, ""},
		{"get-asset-content", "GET", "/assets/" + ofComment + "/content", ann, "", 200, ""},
		{"list-comments", "GET", "/posts/" + id + "/comments", bob, "", 200, ""},
		{"list-replies", "GET", "/posts/" + id + "/comments/" + comment + "/replies", bob, "", 200, ""},
		{"delete-comment", "DELETE", "/posts/" + id + "/comments/" + reply, ann, "", 204, ""},
		{"delete-comment", "DELETE", "/posts/" + id + "/comments/" + comment, ann, "", 204, ""},
		{"follow", "PUT", "/users/" + annID + "/follow", carol, "", 200, ""},
		{"get-profile", "GET", "/users/" + annID, carol, "", 200, ""},
		{"search-users", "GET", "/users/search?q=Talks", bob, "", 200, ""},
		{"search-hubs", "GET", "/hubs/search?q=many", bob, "", 200, ""},
		{"list-followers", "GET", "/users/" + annID + "/followers", bob, "", 200, ""},
		{"unfollow", "DELETE", "/users/" + annID + "/follow", carol, "", 204, ""},
		{"follow", "PUT", "/users/" + annID + "/follow", carol, "", 200, ""},
		{"follow", "PUT", "/users/" + carolID + "/follow", ann, "", 200, ""},
		{"list-following", "GET", "/users/" + bobID + "/following", carol, "", 200, ""},
		{"block", "PUT", "/users/" + annID + "/block", carol, "", 200, ""},
		{"unblock", "DELETE", "/users/" + annID + "/block", carol, "", 204, ""},
		{"list-blocks", "GET", "/users/me/blocks", bob, "", 200, ""},
		{"get-home", "GET", "/feed/home", erma, "", 200, ""},
		{"get-home", "GET", "/feed/home", newcomer, "", 200, ""},
		{"list-notifications", "GET", "/notifications", ann, "", 200, ""},
		{"list-notifications", "GET", "/notifications?unread=true", erma, "", 200, ""},
		{"stream-notifications", "GET", "/notifications/stream", ann, "", 200, ""},
		{"get-unread-count", "GET", "/notifications/unread-count", ann, "", 200, ""},
		{"read-notification", "POST", "/notifications/", ann, "", 204, ""},
		{"read-all-notifications", "POST", "/notifications/read-all", ann, "", 204, ""},
		{"get-hub-settings", "GET", "/hubs/" + hub + "/notification-settings", erma, "", 200, ""},
		{
			"put-hub-settings", "PUT", "/hubs/" + hub + "/notification-settings", erma,
			`{"contentMuted":true,"mutedUntil":null}`, 200, "",
		},
		{"report", "POST", "/reports", erma, `{"reason":"spam","postId":"` + lockedID + `"}`, 201, ""},
		{"report", "POST", "/reports", erma, `{"reason":"spam","userId":"` + annID + `"}`, 201, ""},
		{"report", "POST", "/reports", erma, `{"reason":"spam","hubId":"` + hub + `"}`, 201, ""},
		{"report", "POST", "/reports", erma, `{"reason":"spam","hubId":"` + hub + `"}`, 200, ""},
		{"report", "POST", "/reports", erma, `{"reason":"spam","postId":"` + lockedID +
			`","commentId":"` + said + `"}`, 201, ""},
		{
			"report", "POST", "/reports", erma,
			strings.NewReplacer("/hubs/", `{"reason":"spam","hubId":"`, "/discussions/", `","discussionId":"`).Replace(
				talk) + `","messageId":"` + message + `"}`, 201, "",
		},
		{"list-reports", "GET", "/admin/reports", manager, "", 200, ""},
		{"delete-reported", "POST", "/admin/reports/", manager, "", 200, ""},
		{"delete-reported", "POST", "/admin/reports/", manager, "", 200, ""},
		{"decide-report", "POST", "/admin/reports/", manager, `{"status":"resolved"}`, 200, ""},
		{"suspend", "PUT", "/admin/users/" + ermaID + "/suspension", manager, `{"days":7,"reason":"spam"}`, 200, ""},
		{"get-suspension", "GET", "/admin/users/" + ermaID + "/suspension", manager, "", 200, ""},
		{"end-suspension", "DELETE", "/admin/users/" + ermaID + "/suspension", manager, "", 204, ""},
		{
			"put-default-user", "PUT", "/admin/default-feed/" + bobID, manager,
			`{"displayOrder":1,"isActive":true}`, 200, "",
		},
		{
			"put-default-user", "PUT", "/admin/default-feed/" + bobID, manager,
			`{"displayOrder":2,"isActive":true}`, 200, "",
		},
		{"list-default-feed", "GET", "/admin/default-feed", manager, "", 200, ""},
		{"get-default-feed", "GET", "/feed/default", carol, "", 200, ""},
		{"get-home", "GET", "/feed/home", newcomer, "", 200, ""},
		{"remove-default-user", "DELETE", "/admin/default-feed/" + bobID, manager, "", 204, ""},
		{"start-discussion", "POST", "/hubs/" + hub + "/discussions", ann, `{"postId":"` + lockedID + `"}`, 201, ""},
		{"start-discussion", "POST", "/hubs/" + hub + "/discussions", erma, `{"postId":"` + lockedID + `"}`, 200, ""},
		{"list-discussions", "GET", "/hubs/" + hub + "/discussions", erma, "", 200, ""},
		{"list-saved-discussions", "GET", "/users/me/saved-discussions", bob, "", 200, ""},
		{"get-discussion", "GET", talk, erma, "", 200, ""},
		{"create-message", "POST", talk + "/messages", erma, `{"text":"x"}`, 201, ""},
		{
			"create-message", "POST", talk + "/messages", erma,
			`{"text":"x","parentMessageId":"` + message + `"}`, 201, "m",
		},
		{"create-message", "POST", talk + "/messages", erma, `{"assetId":"` + ofMessage + `"}`, 201, ""},
		{"get-asset-content", "GET", "/assets/" + ofMessage + "/content", bob, "", 200, ""},
		{"delete-message", "DELETE", talk + "/messages/", erma, "", 204, ""},
		{"list-messages", "GET", talk + "/messages", erma, "", 200, ""},
		{"list-message-replies", "GET", talk + "/messages/" + message + "/replies", erma, "", 200, ""},
		{"save-discussion", "PUT", talk + "/saved", erma, "", 200, ""},
		{"unsave-discussion", "DELETE", talk + "/saved", erma, "", 204, ""},
		{"delete-message", "DELETE", talk + "/messages/" + message, ann, "", 204, ""},
		{"take-out-post", "DELETE", "/hubs/" + hub + "/posts/" + items(inHub)[0]["postId"].(string), ann, "", 204, ""},
		{"put-back-post", "PUT", "/hubs/" + hub + "/posts/" + items(inHub)[0]["postId"].(string), ann, "", 204, ""},
		{"delete-post", "DELETE", "/posts/" + lockedID, ann, "", 204, ""},
		{"list-deleted-posts", "GET", "/users/me/deleted-posts", ann, "", 200, ""},
		{"restore-post", "POST", "/posts/" + lockedID + "/restore", ann, "", 200, ""},
		{"remove-post", "DELETE", "/admin/posts/" + lockedID, manager, "", 204, ""},
		{"restore-any-post", "POST", "/admin/posts/" + lockedID + "/restore", manager, "", 204, ""},
		{
			"create-hub", "POST", "/hubs", ann,
			`{"name":"` + wordy + `","customLink":"tea","profileAssetId":"` + ofHub + `"}`, 201, "",
		},
		{"get-hub", "GET", "/hubs/" + hub, ann, "", 200, ""},
		{
			"patch-hub", "PATCH", "/hubs/" + hub, ann,
			`{"name":"` + wordy + `","customLink":"tea-2","profileAssetId":"` + ofOther + `"}`, 200, "",
		},
		{"get-asset-content", "GET", "/assets/" + ofOther + "/content", "", "", 200, ""},
		{"get-hub-by-link", "GET", "/hubs/by-link/tea-2", ann, "", 200, ""},
		{"list-my-hubs", "GET", "/users/me/hubs", bob, "", 200, ""},
		{"list-members", "GET", "/hubs/" + hub + "/members", bob, "", 200, ""},
		{"ban", "POST", "/hubs/" + hub + "/bans", ann, `{"userId":"` + banned + `"}`, 200, ""},
		{"list-bans", "GET", "/hubs/" + hub + "/bans", ann, "", 200, ""},
		{"end-ban", "DELETE", "/hubs/" + hub + "/bans/", ann, "", 204, ""},
		{"invite", "POST", "/hubs/" + hub + "/invitations", bob, `{"phones":["` + number(91) + `"]}`, 201, ""},
		{"list-invitations", "GET", "/hubs/" + hub + "/invitations", ann, "", 200, ""},
		{"cancel-invitation", "DELETE", "/hubs/" + hub + "/invitations/" + cancelled, ann, "", 204, ""},
		{"get-invitation", "GET", "/invitations/" + token, carol, "", 200, ""},
		{"list-my-invitations", "GET", "/users/me/invitations", carol, "", 200, ""},
		{"accept-invitation", "POST", "/invitations/" + token + "/accept", carol, "", 200, ""},
		{"decline-invitation", "POST", "/invitations/" + declined + "/decline", dora, "", 204, ""},
		{"resend-invitation", "POST", "/hubs/" + hub + "/invitations/" + invitation + "/resend", ann, "", 200, ""},
		{"accept-my-invitation", "POST", "/users/me/invitations/" + invitation + "/accept", fay, "", 200, ""},
		{"decline-my-invitation", "POST", "/users/me/invitations/" + declining + "/decline", fay, "", 204, ""},
		{"create-link", "POST", "/hubs/" + hub + "/links", ann, "", 201, ""},
		{"list-links", "GET", "/hubs/" + hub + "/links", ann, "", 200, ""},
		{"get-link", "GET", join, dora, "", 200, ""},
		{"join", "POST", join, dora, "", 202, ""},
		{"join", "POST", join, dora, "", 202, ""},
		{"list-my-requests", "GET", "/users/me/join-requests", dora, "", 200, ""},
		{"list-requests", "GET", "/hubs/" + hub + "/join-requests", ann, "", 200, ""},
		{"approve-request", "POST", approved + "/approve", ann, "", 200, ""},
		{"reject-request", "POST", rejected + "/reject", ann, "", 200, ""},
		{"cancel-request", "DELETE", "/users/me/join-requests/", dora, "", 204, ""},
		{"end-link", "DELETE", "/hubs/" + hub + "/links/" + link["inviteLinkId"].(string), ann, "", 204, ""},
		{"set-role", "PATCH", "/hubs/" + hub + "/members/" + carolID, ann, `{"role":"super_admin"}`, 200, ""},
		{"remove-member", "DELETE", "/hubs/" + hub + "/members/" + ermaID, carol, "", 204, ""},
		{"leave-hub", "DELETE", "/hubs/" + hub + "/members/me", carol, "", 204, ""},
		{"leave", "DELETE", "/users/me", erma, "", 204, ""},
		{"restore-user", "POST", "/admin/users/" + ermaID + "/restore", manager, "", 200, ""},
		{"leave", "DELETE", "/users/me", "erma again", "", 204, ""},
		{"return", "POST", "/users/me/restore", "erma again", "", 200, ""},
		{"logout", "POST", "/auth/logout", bob, `{"everywhere":true}`, 204, ""},
	} {
		if c.id == "cancel-request" {
			_, mine := w.ask("GET", "/users/me/join-requests", dora, "")
			c.path += items(mine)[0]["joinRequestId"].(string)
		}
		if c.id == "read-notification" {
			_, mine := w.ask("GET", "/notifications", ann, "")
			c.path += items(mine)[0]["notificationId"].(string) + "/read"
		}
		if c.id == "decide-report" || c.id == "delete-reported" {
			_, all := w.ask("GET", "/admin/reports", manager, "")
			at := slices.IndexFunc(items(all), func(r map[string]any) bool { // the newest, or of a comment or a message
				return c.id == "decide-report" || r["commentId"] != nil || r["messageId"] != nil
			})
			c.path += items(all)[at]["reportId"].(string) + map[string]string{
				"decide-report": "/decide", "delete-reported": "/delete",
			}[c.id]
		}
		if strings.HasSuffix(c.path, "/messages/") { // the newest
			_, all := w.ask("GET", strings.TrimSuffix(c.path, "/"), erma, "")
			c.path += items(all)[0]["messageId"].(string)
		}
		if c.id == "end-ban" {
			_, all := w.ask("GET", strings.TrimSuffix(c.path, "/"), ann, "")
			c.path += items(all)[0]["banId"].(string)
		}
		if c.token == "erma again" {
			c.token = w.enter(number(7))["accessToken"].(string)
		}
		do(c)
	}
}

// newWorldOfToday is newWorld in a bubble, which begins in 2000.
func newWorldOfToday(t *testing.T) *world {
	t.Helper()
	time.Sleep(time.Until(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)))
	return newWorld(t)
}

// TestCounts holds what each route costs against its bound: steps until the answer, and all calls.
// The calls are listed in testdata.
func TestCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorldOfToday(t)
		counted, made := map[string]bool{}, ""
		w.story(func(c step) {
			w.background.Wait()
			w.calls.Start(time.Millisecond)
			from := time.Now()
			status, answer := w.ask(c.method, c.path, c.token, c.body, "Idempotency-Key", c.key)
			steps := int(time.Since(from) / time.Millisecond)
			time.Sleep(time.Second) // for all that follows the answer
			synctest.Wait()
			w.calls.Stop()
			require.Equal(t, c.status, status, "%s: %v", c.id, answer)
			bound := api.Bounds()[c.id]
			t.Logf("%s: %d steps, %d calls, bound %v", c.id, steps, w.calls.Count(), bound)
			assert.LessOrEqual(t, steps, bound.Steps, c.id)
			assert.LessOrEqual(t, w.calls.Count(), bound.Calls, c.id)
			counted[c.id] = true
			made += "# " + c.id + "\n" + w.calls.Lines(ids) + "\n"
		})
		golden.Check(t, "testdata/calls.txt", made)
		for id := range api.Bounds() {
			require.True(t, counted[id], "%s is not counted", id)
		}
		time.Sleep(time.Second) // until nothing waits for more votes
	})
}

// TestHostile sends requests that no client should: each is refused with a problem that says why.
func TestHostile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Handler = openapitest.New(t, w).Enforce(t, w.Handler)
	annID, ann, _ := w.person(number(1), "Ann")
	newcomer := w.enter(number(2))["accessToken"].(string)
	gone := w.enter(number(3))["accessToken"].(string)
	status, _ := w.ask("POST", "/auth/logout", gone, "")
	require.Equal(t, 204, status)
	id := w.post(ann)
	status, plain := w.ask("POST", "/posts", ann, `{"thoughtText":"no slider"}`)
	require.Equal(t, 201, status)
	hub := w.hub(ann, "Tea")
	bobID, bob, _ := w.person(number(4), "Robert")
	_, manager, _ := w.person(number(0), "Manager")
	comment := w.comment(ann, id, "")
	_, inHub := w.ask("POST", "/posts", ann, `{"visibility":"public_hub","hubIds":["`+hub+`"],"thoughtText":"x"}`)
	_, begun := w.ask("POST", "/hubs/"+hub+"/discussions", ann, `{"postId":"`+inHub["postId"].(string)+`"}`)
	talk := "/hubs/" + hub + "/discussions/" + begun["discussionId"].(string)
	vote := "/posts/" + id + "/vote"
	for _, tt := range []struct {
		method, path, token, body string
		status                    int
		code                      string
	}{
		{"POST", "/auth/otp/request", "", `{"channel":`, 400, "MALFORMED"},
		{"POST", "/auth/otp/request", "", `{"channel":"sms","channel":"sms"}`, 400, "MALFORMED"},
		{
			"POST", "/auth/otp/request", "", `{"channel":"sms","destination":"600000001","purpose":"sign_in"}`, 422,
			"VALIDATION_ERROR",
		},
		{
			"POST", "/auth/otp/request", "", `{"channel":"mail","destination":"+34600000001","purpose":"sign_in"}`, 422,
			"VALIDATION_ERROR",
		},
		{
			"POST", "/auth/otp/request", "", `{"channel":"sms","destination":"+34600000001","purpose":"sign_in","x":1}`,
			422, "VALIDATION_ERROR",
		},
		{"POST", "/auth/otp/request", "", strings.Repeat(" ", 70<<10), 413, "BODY_TOO_LARGE"},
		{"POST", "/auth/otp/verify", "", `{"challengeId":"x","code":"123456"}`, 401, "OTP_EXPIRED"},
		{
			"POST", "/auth/otp/verify", "", `{"challengeId":"x","code":"123456","device":"a\u0000"}`, 422,
			"VALIDATION_ERROR",
		},
		{"GET", "/dev/otp/x", "", "", 404, "CODE_NOT_FOUND"},
		{"POST", "/auth/refresh", "", `{"refreshToken":"x"}`, 401, "INVALID_TOKEN"},
		{"GET", "/users/me", gone, "", 401, "SESSION_ENDED"},
		{"GET", "/posts", gone, "", 401, "SESSION_ENDED"},
		{"POST", "/posts", newcomer, `{"thoughtText":"x"}`, 403, "ONBOARDING_REQUIRED"},
		{"POST", vote, newcomer, `{"position":"left"}`, 403, "ONBOARDING_REQUIRED"},
		{"GET", "/users/me/votes", newcomer, "", 403, "ONBOARDING_REQUIRED"},
		{"PUT", "/onboarding/profile-basics", newcomer, `{"username":"ANN","fullName":"x"}`, 409, "USERNAME_TAKEN"},
		{"PUT", "/onboarding/profile-basics", newcomer, `{"username":"a b","fullName":"x"}`, 422, "VALIDATION_ERROR"},
		{"PUT", "/onboarding/profile-basics", newcomer, `{"username":"Bob","fullName":" "}`, 422, "VALIDATION_ERROR"},
		{"PUT", "/onboarding/profile-basics", newcomer, `{"username":"Bob","fullName":"` + strings.Repeat("x", 101) +
			`"}`, 422, "VALIDATION_ERROR"},
		{"PATCH", "/users/me/profile", ann, `{"username":"Other"}`, 409, "USERNAME_TAKEN"},
		{"PATCH", "/users/me/profile", ann, `{"userId":"x"}`, 422, "VALIDATION_ERROR"},
		{"POST", "/posts", ann, `{}`, 422, "VALIDATION_ERROR"},
		{"POST", "/posts", ann, `{"thoughtText":"` + strings.Repeat("𝄞", 126) + `"}`, 422, "VALIDATION_ERROR"},
		{"POST", "/posts", ann, `{"thoughtText":"` + strings.Repeat("𝄞", 125) + `"}`, 201, ""},
		{"POST", "/posts", ann, `{"thoughtText":"a\u0007"}`, 422, "VALIDATION_ERROR"},
		{"POST", "/posts", ann, `{"thoughtText":"x","visibility":"private_locked_hub"}`, 422, "VALIDATION_ERROR"},
		{"POST", "/posts", ann, `{"slider":{}}`, 422, "VALIDATION_ERROR"},
		{"POST", "/posts", ann, `{"slider":{"text":" "}}`, 422, "VALIDATION_ERROR"},
		{
			"POST", "/posts", ann, `{"slider":{"text":"x","leftLabel":"` + strings.Repeat("x", 51) + `"}}`, 422,
			"VALIDATION_ERROR",
		},
		{"POST", "/posts", ann, `{"article":{"kind":"media"}}`, 422, "VALIDATION_ERROR"},
		{"POST", "/posts", ann, `{"article":{"kind":"text"}}`, 422, "VALIDATION_ERROR"},
		{"POST", "/posts", ann, `{"article":{"kind":"link","linkUrl":"javascript:alert(1)"}}`, 422, "VALIDATION_ERROR"},
		{
			"POST", "/posts", ann, `{"article":{"kind":"link","linkUrl":"https://u:p@example.com"}}`, 422,
			"VALIDATION_ERROR",
		},
		{
			"POST", "/posts", ann, `{"article":{"kind":"text","text":"` + strings.Repeat("x", 60_001) + `"}}`, 422,
			"VALIDATION_ERROR",
		},
		{"POST", "/posts", ann, strings.Repeat(" ", 600<<10), 413, "BODY_TOO_LARGE"},
		{"GET", "/posts/x", "", "", 404, "POST_NOT_FOUND"},
		{"GET", "/posts/..%2Fx", "", "", 404, "POST_NOT_FOUND"},
		{"GET", "/posts/01KA0000000000000000000003", ann, "", 404, "POST_NOT_FOUND"},
		{"GET", "/posts?limit=101", "", "", 422, "VALIDATION_ERROR"},
		{"GET", "/posts?limit=x", "", "", 422, "VALIDATION_ERROR"},
		{"GET", "/posts?cursor=AQ", "", "", 400, "MALFORMED"},
		{"GET", "/posts?hubId=x", "", "", 401, "UNAUTHENTICATED"},
		{"GET", "/posts?hubId=x", ann, "", 404, "HUB_NOT_FOUND"},
		{"GET", "/posts?hubId=..%2Fx", ann, "", 404, "HUB_NOT_FOUND"},
		{
			"POST", "/posts", ann, `{"thoughtText":"x","visibility":"public_hub","hubIds":["` + hub + `","` + hub + `"]}`,
			422, "VALIDATION_ERROR",
		},
		{
			"POST", "/posts", ann, `{"thoughtText":"x","visibility":"public","hubIds":["` + hub + `"]}`, 422,
			"VALIDATION_ERROR",
		},
		{
			"POST", "/posts", ann, `{"thoughtText":"x","visibility":"public_hub","hubIds":["x|y"]}`, 422,
			"VALIDATION_ERROR",
		},
		{"POST", "/posts", ann, `{"thoughtText":"x","visibility":"public_hub","hubIds":["x"]}`, 403, "NOT_A_MEMBER"},
		{"POST", "/posts", ann, `{"thoughtText":"x","visibility":"public_hub","hubIds":["x"` +
			strings.Repeat(`,"x"`, 20) + `]}`, 422, "VALIDATION_ERROR"},
		{"POST", "/posts/" + id + "/comments", newcomer, `{"text":"x"}`, 403, "ONBOARDING_REQUIRED"},
		{"POST", "/posts/" + id + "/comments", ann, `{}`, 422, "VALIDATION_ERROR"},
		{"POST", "/posts/" + id + "/comments", ann, `{"text":" "}`, 422, "VALIDATION_ERROR"},
		{"POST", "/posts/" + id + "/comments", ann, `{"text":"a\u0007"}`, 422, "VALIDATION_ERROR"},
		{
			"POST", "/posts/" + id + "/comments", ann, `{"text":"` + strings.Repeat("𝄞", 1001) + `"}`, 422,
			"VALIDATION_ERROR",
		},
		{"POST", "/posts/" + id + "/comments", ann, `{"text":"` + strings.Repeat("𝄞", 1000) + `"}`, 201, ""},
		{"POST", "/posts/" + id + "/comments", ann, `{"text":"x","parentCommentId":"x"}`, 422, "VALIDATION_ERROR"},
		{"POST", "/posts/" + id + "/comments", ann, `{"text":"x","parentCommentId":"../x|y"}`, 422, "VALIDATION_ERROR"},
		{
			"POST", "/posts/" + plain["postId"].(string) + "/comments", ann,
			`{"text":"x","parentCommentId":"` + comment + `"}`, 422, "VALIDATION_ERROR",
		},
		{"POST", "/posts/x/comments", ann, `{"text":"x"}`, 404, "POST_NOT_FOUND"},
		{"GET", "/posts/..%2Fx/comments", "", "", 404, "POST_NOT_FOUND"},
		{"DELETE", "/posts/x", ann, "", 404, "POST_NOT_FOUND"},
		{"DELETE", "/posts/..%2Fx", ann, "", 404, "POST_NOT_FOUND"},
		{"DELETE", "/posts/" + id, bob, "", 403, "FORBIDDEN"},
		{"POST", "/posts/" + id + "/restore", bob, "", 403, "FORBIDDEN"},
		{"POST", "/posts/" + id + "/restore", newcomer, "", 403, "ONBOARDING_REQUIRED"},
		{"POST", "/posts/x/restore", ann, "", 404, "POST_NOT_FOUND"},
		{"DELETE", "/posts/" + id, ann, "", 204, ""},
		{"DELETE", "/posts/" + id, ann, "", 204, ""},
		{"DELETE", "/posts/" + id, bob, "", 404, "POST_NOT_FOUND"},
		{"POST", "/posts/" + id + "/restore", bob, "", 404, "POST_NOT_FOUND"},
		{"POST", "/posts/" + id + "/restore", ann, "", 200, ""},
		{"POST", "/posts/" + id + "/restore", ann, "", 200, ""},
		{"GET", "/posts/" + id + "/comments?cursor=AQ", "", "", 400, "MALFORMED"},
		{"GET", "/posts/" + id + "/comments/x/replies", "", "", 404, "COMMENT_NOT_FOUND"},
		{"GET", "/posts/" + id + "/comments/..%2Fx/replies", "", "", 404, "COMMENT_NOT_FOUND"},
		{
			"GET", "/posts/" + plain["postId"].(string) + "/comments/" + comment + "/replies", "",
			"", 404, "COMMENT_NOT_FOUND",
		},
		{"DELETE", "/posts/" + id + "/comments/x", ann, "", 404, "COMMENT_NOT_FOUND"},
		{"DELETE", "/posts/" + id + "/comments/" + comment, bob, "", 403, "FORBIDDEN"},
		{"DELETE", "/posts/" + id + "/comments/" + comment, ann, "", 204, ""},
		{"DELETE", "/posts/" + id + "/comments/" + comment, ann, "", 204, ""},
		{"DELETE", "/posts/" + id + "/comments/" + comment, bob, "", 404, "COMMENT_NOT_FOUND"},
		{"GET", "/posts/" + id + "/comments/" + comment + "/replies", bob, "", 404, "COMMENT_NOT_FOUND"},
		{
			"POST", "/posts/" + id + "/comments", bob, `{"text":"x","parentCommentId":"` + comment + `"}`, 422,
			"VALIDATION_ERROR",
		},
		{"PUT", "/users/" + bobID + "/follow", newcomer, "", 403, "ONBOARDING_REQUIRED"},
		{"PUT", "/users/" + annID + "/follow", ann, "", 422, "VALIDATION_ERROR"},
		{"PUT", "/users/" + annID + "/block", ann, "", 422, "VALIDATION_ERROR"},
		{"PUT", "/users/x/follow", ann, "", 404, "USER_NOT_FOUND"},
		{"PUT", "/users/..%2Fx/block", ann, "", 404, "USER_NOT_FOUND"},
		{"DELETE", "/users/x/follow", ann, "", 404, "USER_NOT_FOUND"},
		{"DELETE", "/users/x/block", ann, "", 404, "USER_NOT_FOUND"},
		{"DELETE", "/users/" + bobID + "/follow", ann, "", 204, ""},
		{"DELETE", "/users/" + bobID + "/block", ann, "", 204, ""},
		{"GET", "/users/x/followers", "", "", 404, "USER_NOT_FOUND"},
		{"GET", "/users/..%2Fx/following", ann, "", 404, "USER_NOT_FOUND"},
		{"GET", "/users/me/blocks", newcomer, "", 403, "ONBOARDING_REQUIRED"},
		{"GET", "/feed/home", newcomer, "", 403, "ONBOARDING_REQUIRED"},
		{"GET", "/feed/home?cursor=AQ", ann, "", 400, "MALFORMED"},
		{"GET", "/feed/default?cursor=AQ", "", "", 400, "MALFORMED"},
		{"GET", "/feed/default?limit=0", "", "", 422, "VALIDATION_ERROR"},
		{"GET", "/notifications", newcomer, "", 403, "ONBOARDING_REQUIRED"},
		{"GET", "/notifications?unread=x", ann, "", 422, "VALIDATION_ERROR"},
		{"GET", "/notifications?cursor=AQ", ann, "", 400, "MALFORMED"},
		{"POST", "/notifications/x/read", ann, "", 404, "NOTIFICATION_NOT_FOUND"},
		{"POST", "/notifications/!read/read", ann, "", 404, "NOTIFICATION_NOT_FOUND"},
		{
			"POST", "/notifications/2516087663999999999-36c92e25aed2a57cacc40610/read", ann, "",
			404, "NOTIFICATION_NOT_FOUND",
		},
		{"GET", "/hubs/x/notification-settings", ann, "", 404, "HUB_NOT_FOUND"},
		{"GET", "/hubs/" + hub + "/notification-settings", bob, "", 403, "NOT_A_MEMBER"},
		{
			"PUT", "/hubs/" + hub + "/notification-settings", bob, `{"contentMuted":true,"mutedUntil":null}`, 403,
			"NOT_A_MEMBER",
		},
		{
			"PUT", "/hubs/" + hub + "/notification-settings", ann, `{"contentMuted":true,"mutedUntil":"tomorrow"}`, 422,
			"VALIDATION_ERROR",
		},
		{
			"PUT", "/hubs/" + hub + "/notification-settings", ann,
			`{"contentMuted":true,"mutedUntil":"2999-01-01T00:00:00Z"}`, 422, "VALIDATION_ERROR",
		},
		{"PUT", "/hubs/" + hub + "/notification-settings", ann, `{}`, 422, "VALIDATION_ERROR"},
		{"POST", "/posts", ann, `{"slider":{"text":"Tea?","endsAt":"tomorrow"}}`, 422, "VALIDATION_ERROR"},
		{"POST", "/posts", ann, `{"slider":{"text":"Tea?","endsAt":"2000-01-01T00:00:00Z"}}`, 422, "VALIDATION_ERROR"},
		{"POST", "/posts", ann, `{"slider":{"text":"Tea?","endsAt":"2999-01-01T00:00:00Z"}}`, 422, "VALIDATION_ERROR"},
		{"POST", "/posts", ann, `{"slider":{"text":"Tea?","endsWhenAllVoted":true}}`, 422, "VALIDATION_ERROR"},
		{"POST", "/posts", ann, `{"visibility":"private_locked_hub","hubIds":["` + hub +
			`"],"slider":{"text":"Tea?","endsWhenAllVoted":true}}`, 409, "HUB_TOO_SMALL"},
		{"POST", "/reports", newcomer, `{"reason":"spam","postId":"` + id + `"}`, 403, "ONBOARDING_REQUIRED"},
		{"POST", "/reports", bob, `{"reason":"dull","postId":"` + id + `"}`, 422, "VALIDATION_ERROR"},
		{"POST", "/reports", bob, `{"reason":"spam"}`, 422, "VALIDATION_ERROR"},
		{
			"POST", "/reports", bob, `{"reason":"spam","postId":"` + id + `","hubId":"` + hub + `"}`, 422,
			"VALIDATION_ERROR",
		},
		{"POST", "/reports", bob, `{"reason":"spam","commentId":"` + comment + `"}`, 422, "VALIDATION_ERROR"},
		{"POST", "/reports", bob, `{"reason":"spam","messageId":"x","hubId":"` + hub + `"}`, 422, "VALIDATION_ERROR"},
		{
			"POST", "/reports", bob, `{"reason":"spam","messageId":"x","discussionId":"x","hubId":"x","postId":"x"}`, 422,
			"VALIDATION_ERROR",
		},
		{"POST", "/reports", bob, `{"reason":"spam","postId":"x","commentId":"x|y"}`, 404, "POST_NOT_FOUND"},
		{
			"POST", "/reports", bob, `{"reason":"spam","postId":"` + id + `","commentId":"01KA0000000000000000000003"}`,
			404, "COMMENT_NOT_FOUND",
		},
		{
			"POST", "/reports", bob, `{"reason":"spam","messageId":"x|y","discussionId":"..","hubId":"` + hub + `"}`,
			404, "DISCUSSION_NOT_FOUND",
		},
		{"POST", "/admin/reports/x/delete", bob, "", 403, "FORBIDDEN"},
		{"POST", "/admin/reports/x%7Cy/delete", manager, "", 404, "REPORT_NOT_FOUND"},
		{"PUT", "/admin/users/" + bobID + "/suspension", ann, `{"days":1,"reason":"x"}`, 403, "FORBIDDEN"},
		{"PUT", "/admin/users/" + bobID + "/suspension", manager, `{"days":0,"reason":"x"}`, 422, "VALIDATION_ERROR"},
		{
			"PUT", "/admin/users/" + bobID + "/suspension", manager, `{"days":3651,"reason":"x"}`, 422,
			"VALIDATION_ERROR",
		},
		{
			"PUT", "/admin/users/" + bobID + "/suspension", manager, `{"days":1,"reason":"x\u0007"}`, 422,
			"VALIDATION_ERROR",
		},
		{"PUT", "/admin/users/x%7Cy/suspension", manager, `{"days":1,"reason":"x"}`, 404, "USER_NOT_FOUND"},
		{"GET", "/admin/users/x/suspension", manager, "", 404, "USER_NOT_FOUND"},
		{"DELETE", "/admin/users/" + bobID + "/suspension", bob, "", 403, "FORBIDDEN"},
		{
			"PUT", "/admin/users/" + bobID + "/suspension", manager,
			`{"days":3650,"reason":"` + strings.Repeat("x", 500) + `"}`, 200, "",
		},
		{"GET", "/users/me", bob, "", 403, "ACCOUNT_SUSPENDED"},
		{"GET", "/posts", bob, "", 403, "ACCOUNT_SUSPENDED"},
		{"POST", "/users/me/restore", bob, "", 200, ""},
		{"DELETE", "/admin/users/" + bobID + "/suspension", manager, "", 204, ""},
		{"DELETE", "/hubs/" + hub + "/posts/x", bob, "", 403, "NOT_A_MEMBER"},
		{"DELETE", "/hubs/" + hub + "/posts/x%7Cy", ann, "", 404, "POST_NOT_FOUND"},
		{"PUT", "/hubs/" + hub + "/posts/" + id, ann, "", 404, "POST_NOT_FOUND"},
		{"DELETE", "/hubs/x/posts/" + id, ann, "", 404, "HUB_NOT_FOUND"},
		{"POST", "/hubs/" + hub + "/bans", bob, `{"userId":"` + annID + `"}`, 403, "NOT_A_MEMBER"},
		{"POST", "/hubs/" + hub + "/bans", ann, `{"userId":"` + annID + `"}`, 422, "VALIDATION_ERROR"},
		{"POST", "/hubs/" + hub + "/bans", ann, `{"userId":"x|y"}`, 404, "USER_NOT_FOUND"},
		{"GET", "/hubs/" + hub + "/bans?cursor=AQ", ann, "", 400, "MALFORMED"},
		{"DELETE", "/hubs/" + hub + "/bans/x%7Cy", ann, "", 404, "BAN_NOT_FOUND"},
		{"DELETE", talk + "/messages/x%7Cy", ann, "", 404, "MESSAGE_NOT_FOUND"},
		{"DELETE", "/hubs/" + hub + "/discussions/x/messages/x", ann, "", 404, "DISCUSSION_NOT_FOUND"},
		{"DELETE", talk + "/messages/x", bob, "", 403, "NOT_A_MEMBER"},
		{"POST", "/reports", bob, `{"reason":"spam","postId":"x|y"}`, 404, "POST_NOT_FOUND"},
		{"POST", "/reports", bob, `{"reason":"spam","userId":"x"}`, 404, "USER_NOT_FOUND"},
		{"POST", "/reports", bob, `{"reason":"spam","hubId":"x"}`, 404, "HUB_NOT_FOUND"},
		{"POST", "/reports", bob, `{"reason":"spam","postId":"` + id + `","details":"` + strings.Repeat("𝄞", 1001) +
			`"}`, 422, "VALIDATION_ERROR"},
		{"POST", "/reports", bob, `{"reason":"spam","postId":"` + id + `","details":"` +
			strings.Repeat("𝄞", 1000) + `"}`, 201, ""},
		{"POST", "/reports", bob, `{"reason":"spam","postId":"` + id + `"}`, 200, ""},
		{"POST", "/admin/users/" + annID + "/restore", bob, "", 403, "FORBIDDEN"},
		{"POST", "/admin/users/x%7Cy/restore", manager, "", 404, "USER_NOT_FOUND"},
		{"POST", "/admin/users/" + annID + "/restore", manager, "", 200, ""},
		{"GET", "/admin/reports", bob, "", 403, "FORBIDDEN"},
		{"POST", "/admin/reports/x/decide", bob, `{"status":"resolved"}`, 403, "FORBIDDEN"},
		{"POST", "/admin/reports/x/decide", manager, `{"status":"resolved"}`, 404, "REPORT_NOT_FOUND"},
		{"POST", "/admin/reports/x/decide", manager, `{"status":"open"}`, 422, "VALIDATION_ERROR"},
		{"DELETE", "/admin/posts/" + id, ann, "", 403, "FORBIDDEN"},
		{"POST", "/admin/posts/" + id + "/restore", ann, "", 403, "FORBIDDEN"},
		{"DELETE", "/admin/posts/x%7Cy", manager, "", 404, "POST_NOT_FOUND"},
		{"POST", "/admin/posts/x/restore", manager, "", 404, "POST_NOT_FOUND"},
		{"GET", "/admin/reports?status=x", manager, "", 422, "VALIDATION_ERROR"},
		{"GET", "/admin/default-feed", ann, "", 403, "FORBIDDEN"},
		{"PUT", "/admin/default-feed/" + annID, ann, `{"displayOrder":1,"isActive":true}`, 403, "FORBIDDEN"},
		{"DELETE", "/admin/default-feed/" + annID, ann, "", 403, "FORBIDDEN"},
		{"PUT", "/admin/default-feed/" + annID, manager, `{"displayOrder":0,"isActive":true}`, 422, "VALIDATION_ERROR"},
		{
			"PUT", "/admin/default-feed/" + annID, manager, `{"displayOrder":1000000,"isActive":true}`, 422,
			"VALIDATION_ERROR",
		},
		{"PUT", "/admin/default-feed/" + annID, manager, `{"displayOrder":999999,"isActive":false}`, 200, ""},
		{"PUT", "/admin/default-feed/x%7Cy", manager, `{"displayOrder":1,"isActive":true}`, 404, "USER_NOT_FOUND"},
		{"DELETE", "/admin/default-feed/x", manager, "", 204, ""},
		{"POST", "/hubs", newcomer, `{"name":"x"}`, 403, "ONBOARDING_REQUIRED"},
		{"POST", "/hubs", ann, `{"name":" "}`, 422, "VALIDATION_ERROR"},
		{"POST", "/hubs", ann, `{"name":"` + strings.Repeat("x", 101) + `"}`, 422, "VALIDATION_ERROR"},
		{
			"POST", "/hubs", ann, `{"name":"x","description":"` + strings.Repeat("x", 2001) + `"}`, 422,
			"VALIDATION_ERROR",
		},
		{"POST", "/hubs", ann, `{"name":"x","customLink":"a b"}`, 422, "VALIDATION_ERROR"},
		{"POST", "/hubs", ann, `{"name":"x","customLink":"ab"}`, 422, "VALIDATION_ERROR"},
		{"POST", "/hubs", ann, `{"name":"x","customLink":"` + strings.Repeat("x", 61) + `"}`, 422, "VALIDATION_ERROR"},
		{"POST", "/hubs", ann, `{"name":"` + strings.Repeat("n", 100) + `","description":"` +
			strings.Repeat("d", 2000) + `","customLink":"` + strings.Repeat("x", 60) + `","profileAssetId":"` +
			w.picture(ann, "hub") + `"}`, 201, ""},
		{"GET", "/hubs/x", "", "", 404, "HUB_NOT_FOUND"},
		{"GET", "/hubs/..%2Fx", "", "", 404, "HUB_NOT_FOUND"},
		{"GET", "/hubs/by-link/members", "", "", 404, "HUB_NOT_FOUND"},
		{"GET", "/hubs/x/members", ann, "", 404, "HUB_NOT_FOUND"},
		{"GET", "/hubs/" + hub + "/members?role=king", ann, "", 422, "VALIDATION_ERROR"},
		{"PATCH", "/hubs/" + hub + "/members/x", ann, `{"role":"admin"}`, 404, "MEMBER_NOT_FOUND"},
		{"PATCH", "/hubs/" + hub + "/members/x%7Cy", ann, `{"role":"admin"}`, 404, "MEMBER_NOT_FOUND"},
		{"DELETE", "/hubs/" + hub + "/members/x", ann, "", 404, "MEMBER_NOT_FOUND"},
		{"POST", "/hubs/" + hub + "/invitations", ann, `{"phones":["600"]}`, 422, "VALIDATION_ERROR"},
		{"POST", "/hubs/" + hub + "/invitations", ann, `{"phones":[]}`, 422, "VALIDATION_ERROR"},
		{
			"POST", "/hubs/" + hub + "/invitations", ann, `{"phones":["+34600000001"],"expiresInMs":999}`, 422,
			"VALIDATION_ERROR",
		},
		{
			"POST", "/hubs/" + hub + "/invitations", ann, `{"phones":["+34600000001"],"expiresInMs":2592000001}`, 422,
			"VALIDATION_ERROR",
		},
		{
			"POST", "/hubs/" + hub + "/invitations", ann, `{"phones":["+34600000001"],"expiresInMs":9223372036854775807}`,
			422, "VALIDATION_ERROR",
		},
		{"POST", "/hubs/" + hub + "/links", ann, `{"expiresInMs":-1}`, 422, "VALIDATION_ERROR"},
		{"DELETE", "/hubs/" + hub + "/invitations/x", ann, "", 404, "INVITATION_NOT_FOUND"},
		{"POST", "/invitations/x/accept", newcomer, "", 403, "ONBOARDING_REQUIRED"},
		{"POST", "/users/me/invitations/x/accept", ann, "", 404, "INVITATION_NOT_FOUND"},
		{"DELETE", "/users/me/join-requests/x", ann, "", 404, "REQUEST_NOT_FOUND"},
		{"POST", "/hubs/" + hub + "/join-requests/x/approve", ann, "", 404, "REQUEST_NOT_FOUND"},
		{"GET", "/join/x", "", "", 404, "LINK_NOT_FOUND"},
		{"POST", "/hubs/" + hub + "/discussions", ann, `{"postId":"` + id + `"}`, 422, "VALIDATION_ERROR"},
		{"POST", "/hubs/" + hub + "/discussions", ann, `{"postId":"x|y"}`, 404, "POST_NOT_FOUND"},
		{"POST", "/hubs/" + hub + "/discussions", bob, `{"postId":"` + id + `"}`, 403, "NOT_A_MEMBER"},
		{"POST", "/hubs/x/discussions", ann, `{"postId":"` + id + `"}`, 404, "HUB_NOT_FOUND"},
		{"GET", "/hubs/" + hub + "/discussions", bob, "", 403, "NOT_A_MEMBER"},
		{"GET", "/hubs/" + hub + "/discussions/x", ann, "", 404, "DISCUSSION_NOT_FOUND"},
		{"GET", "/hubs/" + hub + "/discussions/x%7Cy/messages", ann, "", 404, "DISCUSSION_NOT_FOUND"},
		{"GET", talk + "/messages/x/replies", ann, "", 404, "MESSAGE_NOT_FOUND"},
		{"GET", talk + "/messages/x%7Cy/replies", ann, "", 404, "MESSAGE_NOT_FOUND"},
		{"POST", talk + "/messages", ann, `{"text":""}`, 422, "VALIDATION_ERROR"},
		{"POST", talk + "/messages", ann, `{"text":"` + strings.Repeat("x", 2001) + `"}`, 422, "VALIDATION_ERROR"},
		{"POST", talk + "/messages", ann, `{"text":"x\u0000"}`, 422, "VALIDATION_ERROR"},
		{"POST", talk + "/messages", ann, `{"text":"x","parentMessageId":"x|y"}`, 422, "VALIDATION_ERROR"},
		{"POST", talk + "/messages", ann, `{"text":"` + strings.Repeat("x", 2000) + `"}`, 201, ""},
		{"PUT", talk + "/saved", bob, "", 403, "NOT_A_MEMBER"},
		{"PUT", "/hubs/" + hub + "/discussions/x/saved", ann, "", 404, "DISCUSSION_NOT_FOUND"},
		{"DELETE", "/hubs/" + hub + "/discussions/x%7Cy/saved", ann, "", 204, ""},
		{"GET", "/posts/" + id + "/vote/hubs", newcomer, "", 403, "ONBOARDING_REQUIRED"},
		{"GET", "/users/x", "", "", 404, "USER_NOT_FOUND"},
		{"GET", "/users/x/posts", "", "", 404, "USER_NOT_FOUND"},
		{"GET", "/users/by-username/x", "", "", 404, "USER_NOT_FOUND"},
		{"GET", "/users/by-username/posts", "", "", 404, "USER_NOT_FOUND"},
		{"GET", "/users/by-username/", "", "", 404, "NO_SUCH_ROUTE"},
		{"POST", vote, ann, `{"position":"Left"}`, 422, "VALIDATION_ERROR"},
		{"POST", vote, ann, `{"position":1}`, 422, "VALIDATION_ERROR"},
		{"POST", vote, ann, `{}`, 422, "VALIDATION_ERROR"},
		{"POST", vote, ann, `{"position":"left","pad":"` + strings.Repeat("x", 33) + `"}`, 422, "VALIDATION_ERROR"},
		{"POST", "/posts/x/vote", ann, `{"position":"left"}`, 404, "POST_NOT_FOUND"},
		{"POST", "/posts/" + plain["postId"].(string) + "/vote", ann, `{"position":"left"}`, 409, "NO_SLIDER"},
		{"GET", "/posts/" + plain["postId"].(string) + "/vote/summary", ann, "", 409, "NO_SLIDER"},
		{"GET", "/posts/" + plain["postId"].(string) + "/vote/distribution", "", "", 409, "NO_SLIDER"},
		{"POST", vote, ann, `{"position":"left","pad":"` + strings.Repeat("x", 32) + `"}`, 201, ""},
		{"POST", vote, ann, `{"position":"right"}`, 409, "ALREADY_VOTED"},
		{"DELETE", vote, ann, "", 405, "METHOD_NOT_ALLOWED"},
		{"GET", "/nothing", "", "", 404, "NO_SUCH_ROUTE"},
	} {
		status, p := w.ask(tt.method, tt.path, tt.token, tt.body)
		what := fmt.Sprintf("%s %s %.60s: %v", tt.method, tt.path, tt.body, p)
		require.Equal(t, tt.status, status, what)
		if tt.code != "" {
			require.Equal(t, tt.code, p["code"], what)
			require.NotEmpty(t, p["detail"], what)
		}
	}
}

// TestEveryMaximum: a post with everything as long as it may be comes back as it was sent.
func TestEveryMaximum(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Handler = openapitest.New(t, w).Enforce(t, w.Handler)
	_, ann, _ := w.person(number(1), "Ann")
	text := strings.Repeat("𝄞", 30_000)
	link := "https://example.com/" + strings.Repeat("x", 1980)
	sent := `{"visibility":"public","thoughtText":"` + strings.Repeat("t", 250) + `","slider":{"text":"` +
		strings.Repeat("s", 260) + `","leftLabel":"` + strings.Repeat("l", 50) +
		`","rightLabel":"` + strings.Repeat("r", 50) +
		`"},"article":{"kind":"mixed","text":"` + text + `","linkUrl":"` + link + `","linkTitle":"` +
		strings.Repeat("i", 200) + `","linkDescription":"` + strings.Repeat("d", 500) + `"}}`
	status, made := w.ask("POST", "/posts", ann, sent, "Idempotency-Key", strings.Repeat("k", 100))
	require.Equal(t, 201, status, made)
	status, c := w.ask("GET", "/posts/"+made["postId"].(string), "", "")
	require.Equal(t, 200, status)
	require.Equal(t, strings.Repeat("t", 250), c["thoughtText"])
	require.Equal(t, map[string]any{
		"text": strings.Repeat("s", 260), "leftLabel": strings.Repeat("l", 50),
		"rightLabel": strings.Repeat("r", 50),
	}, c["slider"])
	require.Equal(t, map[string]any{
		"kind": "mixed", "text": text, "linkUrl": link,
		"linkTitle": strings.Repeat("i", 200), "linkDescription": strings.Repeat("d", 500), "hasMore": false,
	},
		c["article"])
	status, all := w.ask("GET", "/posts", "", "")
	require.Equal(t, 200, status)
	require.Equal(t, map[string]any{
		"kind": "mixed", "text": strings.Repeat("𝄞", 250), "linkUrl": link,
		"linkTitle": strings.Repeat("i", 200), "linkDescription": strings.Repeat("d", 500), "hasMore": true,
	},
		items(all)[0]["article"])
	status, again := w.ask("POST", "/posts", ann, sent, "Idempotency-Key", strings.Repeat("k", 100))
	require.Equal(t, 201, status)
	require.Equal(t, made["postId"], again["postId"])
	status, p := w.ask("POST", "/posts", ann, `{"thoughtText":"x"}`, "Idempotency-Key", strings.Repeat("k", 100))
	require.Equal(t, 422, status)
	require.Equal(t, "IDEMPOTENCY_MISMATCH", p["code"])
	status, p = w.ask("POST", "/posts", ann, sent, "Idempotency-Key", strings.Repeat("k", 101))
	require.Equal(t, 422, status, p)
}

// TestVotes: 200 people vote twice at once: 200 are answered 201 and 200 409, and the totals are
// exact. Neither an answer, nor its length, nor the log tells a position.
func TestVotes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, votesAtOnce) // where nothing takes long
}

func votesAtOnce(t *testing.T) {
	w := newWorld(t)
	_, ann, _ := w.person(number(0), "Ann")
	id := w.post(ann)
	const people = 200
	positions := []string{"strong_left", "left", "neutral", "right", "strong_right"}
	tokens := make([]string, people)
	for i := range tokens {
		_, tokens[i], _ = w.person(number(1+i), fmt.Sprintf("Voter%d", i))
	}
	var mu sync.Mutex
	statuses := map[int]int{}
	var wg sync.WaitGroup
	for i := range 2 * people {
		wg.Go(func() {
			status, _ := w.ask("POST", "/posts/"+id+"/vote", tokens[i%people],
				`{"position":"`+positions[i%people%5]+`"}`)
			mu.Lock()
			defer mu.Unlock()
			statuses[status]++
		})
	}
	wg.Wait()
	require.Equal(t, map[int]int{201: people, 409: people}, statuses)
	time.Sleep(time.Second) // for all that follows the answers
	synctest.Wait()
	require.NoError(t, w.ballot.Settle(t.Context(), id))
	status, s := w.ask("GET", "/posts/"+id+"/vote/distribution", ann, "")
	require.Equal(t, 200, status)
	require.Equal(t, 200.0, s["totalVotes"])
	require.GreaterOrEqual(t, s["countedVotes"], 192.0)
	sum := 0.0
	for i, b := range s["distribution"].([]any) {
		n := b.(map[string]any)["count"].(float64)
		require.Equal(t, positions[i], b.(map[string]any)["position"])
		require.LessOrEqual(t, n, 40.0, "each position as cast but for what waits")
		sum += n
	}
	require.Equal(t, s["countedVotes"], sum)
	for range 20 {
		w.pump()
	}
	status, mine := w.ask("GET", "/users/me/votes", tokens[7], "")
	require.Equal(t, 200, status)
	require.Len(t, mine["items"], 1)
	require.Equal(t, id, mine["items"].([]any)[0].(map[string]any)["postId"])
	_, me := w.ask("GET", "/users/me", tokens[7], "")
	require.Equal(t, 1.0, me["counts"].(map[string]any)["votesCast"])
	time.Sleep(time.Second) // until nothing waits for more votes
}

// TestVotesTellNothing: answers to votes on all positions are alike to the letter but for ids and
// times, and no log line has a position or the size of a request.
func TestVotesTellNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		_, ann, _ := w.person(number(0), "Ann")
		id := w.post(ann)
		seen := map[string]bool{}
		w.log.Reset()
		for i, position := range []string{"strong_left", "left", "neutral", "right", "strong_right"} {
			_, voter, _ := w.person(number(1+i), fmt.Sprintf("Voter%d", i))
			r := httptest.NewRequestWithContext(t.Context(), "POST", api.Prefix+"/posts/"+id+"/vote",
				strings.NewReader(`{"position":"`+position+`"}`))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Authorization", "Bearer "+voter)
			r.Header.Set("X-Request-Id", "one")
			rec := httptest.NewRecorder()
			w.ServeHTTP(rec, r)
			require.Equal(t, 201, rec.Code, rec.Body)
			rec.Header().Del("X-Request-Id")
			seen[fmt.Sprint(rec.Header(), rec.Body)] = true
		}
		time.Sleep(time.Second) // for all that follows the answers
		synctest.Wait()
		require.Len(t, seen, 1, seen)
		require.NotEmpty(t, w.log.String())
		for _, word := range []string{"left", "neutral", "right", "position"} {
			require.NotContains(t, w.log.String(), word)
		}
		time.Sleep(time.Second) // until nothing waits for more votes
	})
}

// TestLists: pages follow one another without gaps, over months, for guests too.
func TestLists(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 8, 20, 12, 0, 0, 0, time.UTC)))
		w := newWorld(t)
		annID, _, refresh := w.person(number(1), "Ann")
		var want []string
		for i := range 13 {
			status, in := w.ask("POST", "/auth/refresh", "", `{"refreshToken":"`+refresh+`"}`)
			require.Equal(t, 200, status, in)
			refresh = in["refreshToken"].(string)
			want = append([]string{w.post(in["accessToken"].(string))}, want...)
			time.Sleep(time.Second)
			if i%3 == 2 {
				time.Sleep(29 * 24 * time.Hour)
			}
		}
		for _, path := range []string{
			"/posts?limit=2", "/posts?limit=5", "/posts?limit=100",
			"/users/" + annID + "/posts?limit=4",
		} {
			var got []string
			cursor := ""
			for range 20 {
				status, page := w.ask("GET", path+cursor, "", "")
				require.Equal(t, 200, status, page)
				for _, c := range page["items"].([]any) {
					got = append(got, c.(map[string]any)["postId"].(string))
				}
				next, more := page["nextCursor"].(string)
				if !more {
					break
				}
				cursor = "&cursor=" + next
			}
			require.Equal(t, want, got, path)
		}
		status, p := w.ask("GET", "/users/"+annID, "", "")
		require.Equal(t, 200, status)
		require.Equal(t, 13.0, p["counts"].(map[string]any)["posts"])
		require.Equal(t, "Ann", p["username"])
	})
}

// TestLimits: a person posts 100 times a day and votes 300 times an hour, and is told when they
// may again. A repeat of one request is not counted, nor one that was refused for another reason.
func TestLimits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)))
		w := newWorld(t)
		_, ann, _ := w.person(number(1), "Ann")
		for range 5 {
			status, _ := w.ask("POST", "/posts", ann, `{}`)
			require.Equal(t, 422, status)
		}
		var ids []string
		for i := range 100 {
			key := []string{"Idempotency-Key", fmt.Sprint(i)}
			status, c := w.ask("POST", "/posts", ann, `{"slider":{"text":"Tea?"}}`, key...)
			require.Equal(t, 201, status, c)
			status, again := w.ask("POST", "/posts", ann, `{"slider":{"text":"Tea?"}}`, key...)
			require.Equal(t, 201, status, c)
			require.Equal(t, c["postId"], again["postId"])
			ids = append(ids, c["postId"].(string))
		}
		status, p := w.ask("POST", "/posts", ann, `{"thoughtText":"x"}`)
		require.Equal(t, 429, status)
		require.Equal(t, "LIMITED", p["code"])
		for _, name := range []string{"Bob", "Carol"} {
			_, other, _ := w.person(number(len(ids)), name)
			for range 100 {
				status, c := w.ask("POST", "/posts", other, `{"slider":{"text":"Tea?"}}`)
				require.Equal(t, 201, status, c)
				ids = append(ids, c["postId"].(string))
			}
		}
		_, dora, _ := w.person(number(900), "Dora")
		status, c := w.ask("POST", "/posts", dora, `{"slider":{"text":"Tea?"}}`)
		require.Equal(t, 201, status, c)
		for _, id := range ids {
			status, v := w.ask("POST", "/posts/"+id+"/vote", dora, `{"position":"left"}`)
			require.Equal(t, 201, status, v)
		}
		status, p = w.ask("POST", "/posts/"+ids[0]+"/vote", dora, `{"position":"left"}`)
		require.Equal(t, "ALREADY_VOTED", p["code"], status)
		status, p = w.ask("POST", "/posts/"+c["postId"].(string)+"/vote", dora, `{"position":"left"}`)
		require.Equal(t, 429, status)
		require.Equal(t, "LIMITED", p["code"])
		time.Sleep(time.Second)
		synctest.Wait()
		time.Sleep(2 * time.Hour)
		dora = w.enter(number(900))["accessToken"].(string)
		status, v := w.ask("POST", "/posts/"+c["postId"].(string)+"/vote", dora, `{"position":"left"}`)
		require.Equal(t, 201, status, v)
		ann = w.enter(number(1))["accessToken"].(string)
		status, _ = w.ask("POST", "/posts", ann, `{"thoughtText":"x"}`)
		require.Equal(t, 429, status)
		time.Sleep(46 * time.Hour)
		ann = w.enter(number(1))["accessToken"].(string)
		status, _ = w.ask("POST", "/posts", ann, `{"thoughtText":"x"}`)
		require.Equal(t, 201, status)
		time.Sleep(time.Second)
		synctest.Wait()
	})
}

// TestDocument holds that the document tells of every operation what it does, with examples that
// are as it says.
func TestDocument(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := openapitest.New(t, w)
	require.Len(t, c.Operations(), len(api.Bounds()))
	require.Greater(t, c.Examples(t), 60)
	for _, o := range c.Operations() {
		op := c.At(o.Pointer)
		require.Regexp(t, `^[A-Z]`, op["summary"], o.Pointer)
		require.Regexp(t, `^[A-Z].*\.$`, op["description"], o.Pointer)
	}
}

// TestOpenAPI compares the document with its golden file.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	openapitest.Golden(t, newWorld(t))
}
