package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/openapi/openapitest"
)

// hub makes a hub, and returns its id.
func (w *world) hub(token, name string) string {
	w.t.Helper()
	status, h := w.ask("POST", "/hubs", token, `{"name":"`+name+`","profileAssetId":"`+w.picture(token, "hub")+`"}`)
	require.Equal(w.t, 201, status, h)
	return h["hubId"].(string)
}

// invite invites a number, and returns the token.
func (w *world) invite(token, hub, number string) string {
	w.t.Helper()
	status, v := w.ask("POST", "/hubs/"+hub+"/invitations", token, `{"phones":["`+number+`"]}`)
	require.Equal(w.t, 201, status, v)
	return v["items"].([]any)[0].(map[string]any)["token"].(string)
}

// enrol makes a person a member.
func (w *world) enrol(admin, hub, number, token string) {
	w.t.Helper()
	status, out := w.ask("POST", "/invitations/"+w.invite(admin, hub, number)+"/accept", token, "")
	require.Equal(w.t, 200, status, out)
	require.Equal(w.t, "accepted_active", out["status"])
}

func items(answer map[string]any) []map[string]any {
	var all []map[string]any
	for _, one := range answer["items"].([]any) {
		all = append(all, one.(map[string]any))
	}
	return all
}

// TestBlocked: if one of two people blocks the other, neither finds anything of the other, and both
// see the posts of others without the comments of each other.
func TestBlocked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Handler = openapitest.New(t, w).Enforce(t, w.Handler)
	annID, ann, _ := w.person(number(1), "Ann")
	bobID, bob, _ := w.person(number(2), "Bob")
	_, cid, _ := w.person(number(3), "Cid")
	of := map[string]string{ann: w.post(ann), bob: w.post(bob)}
	post := w.post(cid)
	said := map[string]string{ann: w.comment(ann, post, ""), bob: w.comment(bob, post, "")}
	w.comment(cid, post, said[ann])
	status, f := w.ask("PUT", "/users/"+annID+"/follow", bob, "")
	require.Equal(t, 200, status, f)
	w.background.Wait()
	status, b := w.ask("PUT", "/users/"+bobID+"/block", ann, "")
	require.Equal(t, 200, status, b)
	ids := map[string]string{ann: annID, bob: bobID}
	for _, pair := range [][2]string{{ann, bob}, {bob, ann}} {
		me, other := pair[0], pair[1]
		for _, path := range []string{
			"/users/" + ids[other], "/users/" + ids[other] + "/posts",
			"/users/" + ids[other] + "/followers", "/posts/" + of[other], "/posts/" + of[other] + "/comments",
			"/posts/" + of[other] + "/vote/summary", "/posts/" + post + "/comments/" + said[other] + "/replies",
		} {
			status, p := w.ask("GET", path, me, "")
			require.Equal(t, 404, status, path)
			status, q := w.ask("GET", strings.NewReplacer(ids[other], "nothing", of[other], "nothing", said[other],
				"nothing").Replace(path), me, "")
			require.Equal(t, 404, status, path)
			require.Equal(t, []any{q["code"], q["detail"]}, []any{p["code"], p["detail"]}, path)
		}
		status, p := w.ask("POST", "/posts/"+of[other]+"/vote", me, `{"position":"left"}`)
		require.Equal(t, 404, status, p)
		status, p = w.ask("POST", "/posts/"+post+"/comments", me, `{"text":"x","parentCommentId":"`+said[other]+`"}`)
		require.Equal(t, 422, status, p)
		_, list := w.ask("GET", "/posts", me, "")
		require.Len(t, list["items"], 2)
		_, list = w.ask("GET", "/posts/"+post+"/comments", me, "")
		require.Len(t, list["items"], 1)
	}
	for _, who := range []string{cid, ""} {
		_, list := w.ask("GET", "/posts", who, "")
		require.Len(t, list["items"], 3)
		_, list = w.ask("GET", "/posts/"+post+"/comments", who, "")
		require.Len(t, list["items"], 2)
		_, list = w.ask("GET", "/users/"+annID+"/followers", who, "")
		require.Empty(t, list["items"])
	}
	status, list := w.ask("GET", "/users/me/blocks", ann, "")
	require.Equal(t, 200, status)
	require.Equal(t, bobID, items(list)[0]["userId"])
}

// TestHubStory: Ann makes a hub, invites, and posts into it; members vote, their votes count
// in the hub too, and a locked post is for them alone.
func TestHubStory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Handler = openapitest.New(t, w).Enforce(t, w.Handler)
	annID, ann, _ := w.person(number(1), "Ann")
	bobID, bob, _ := w.person(number(2), "Bob")
	_, cid, _ := w.person(number(3), "Cid")
	_, dan, _ := w.person(number(4), "Dan")

	status, h := w.ask("POST", "/hubs", ann,
		`{"name":"Tea","description":"For all","customLink":"Tea-1","profileAssetId":"`+w.picture(ann, "hub")+`"}`)
	require.Equal(t, 201, status, h)
	hub := h["hubId"].(string)
	require.Equal(t, "tea-1", h["customLink"])
	require.Equal(t, "super_admin", h["membership"].(map[string]any)["role"])
	status, p := w.ask("POST", "/hubs", bob,
		`{"name":"Tea","customLink":"tea-1","profileAssetId":"`+w.picture(bob, "hub")+`"}`)
	require.Equal(t, "LINK_TAKEN", p["code"], status)
	status, seen := w.ask("GET", "/hubs/by-link/TEA-1", "", "")
	require.Equal(t, 200, status)
	require.Equal(t, hub, seen["hubId"])
	require.Nil(t, seen["membership"])

	token := w.invite(ann, hub, number(2))
	_, made := w.ask("POST", "/hubs/"+hub+"/invitations", ann, `{"phones":["`+number(9)+`"]}`)
	sent := items(made)[0]
	require.Contains(t, sent["shareText"], "Ann invites you to Tea: ")
	resend := "/hubs/" + hub + "/invitations/" + sent["invitationId"].(string) + "/resend"
	_, sent = w.ask("POST", resend, ann, "")
	require.Contains(t, sent["shareText"], "Ann invites you to Tea: ")
	status, p = w.ask("POST", resend, bob, "")
	require.Equal(t, 403, status)
	require.Equal(t, "NOT_A_MEMBER", p["code"])
	status, _ = w.ask("DELETE", strings.TrimSuffix(resend, "/resend"), ann, "")
	require.Equal(t, 204, status)
	status, p = w.ask("POST", resend, ann, "")
	require.Equal(t, 409, status)
	require.Equal(t, "ALREADY_DECIDED", p["code"])
	status, v := w.ask("GET", "/invitations/"+token, "", "")
	require.Equal(t, 200, status, v)
	require.Equal(t, "Ann", v["inviter"].(map[string]any)["username"])
	status, mine := w.ask("GET", "/users/me/invitations", bob, "")
	require.Equal(t, 200, status)
	require.Equal(t, hub, items(mine)[0]["hub"].(map[string]any)["hubId"])
	status, p = w.ask("POST", "/invitations/"+token+"/accept", cid, "")
	require.Equal(t, 403, status)
	require.Equal(t, "INVITATION_NOT_YOURS", p["code"])
	status, out := w.ask("POST", "/invitations/"+token+"/accept", bob, "")
	require.Equal(t, 200, status, out)
	require.Equal(t, "member", out["membership"].(map[string]any)["role"])
	for _, used := range []string{token, "x"} {
		for _, who := range []string{ann, bob, cid} {
			status, p := w.ask("POST", "/invitations/"+used+"/accept", who, "")
			require.Equal(t, 404, status)
			require.Equal(t, "INVITATION_NOT_FOUND", p["code"])
		}
	}

	// Bob is a member: an admin must decide about each person that he invites.
	status, out = w.ask("POST", "/invitations/"+w.invite(bob, hub, number(3))+"/accept", cid, "")
	require.Equal(t, 200, status, out)
	require.Equal(t, "pending_admin_approval", out["status"])
	request := out["joinRequestId"].(string)
	status, p = w.ask("POST", "/hubs/"+hub+"/join-requests/"+request+"/approve", bob, "")
	require.Equal(t, "FORBIDDEN", p["code"], status)
	status, list := w.ask("GET", "/hubs/"+hub+"/join-requests", ann, "")
	require.Equal(t, 200, status)
	require.Equal(t, request, items(list)[0]["joinRequestId"])
	status, r := w.ask("POST", "/hubs/"+hub+"/join-requests/"+request+"/approve", ann, "")
	require.Equal(t, 200, status, r)
	require.Equal(t, annID, r["decidedBy"])
	status, p = w.ask("POST", "/hubs/"+hub+"/join-requests/"+request+"/reject", ann, "")
	require.Equal(t, 409, status)
	require.Equal(t, "ALREADY_DECIDED", p["code"])

	// A link makes a request, also if an admin made it.
	status, l := w.ask("POST", "/hubs/"+hub+"/links", ann, "")
	require.Equal(t, 201, status, l)
	join := "/join/" + l["token"].(string)
	require.Equal(t, "/app"+join, l["url"])
	status, j := w.ask("POST", join, dan, "")
	require.Equal(t, 202, status, j)
	status, again := w.ask("POST", join, dan, "")
	require.Equal(t, 202, status)
	require.Equal(t, j, again)
	status, _ = w.ask("POST", join, bob, "")
	require.Equal(t, 200, status)
	status, _ = w.ask("DELETE", "/users/me/join-requests/"+j["joinRequestId"].(string), dan, "")
	require.Equal(t, 204, status)
	status, _ = w.ask("DELETE", "/hubs/"+hub+"/links/"+l["inviteLinkId"].(string), ann, "")
	require.Equal(t, 204, status)
	status, p = w.ask("POST", join, dan, "")
	require.Equal(t, 404, status)
	require.Equal(t, "LINK_NOT_FOUND", p["code"])

	status, members := w.ask("GET", "/hubs/"+hub+"/members", bob, "")
	require.Equal(t, 200, status)
	require.Len(t, members["items"], 3)
	_, seen = w.ask("GET", "/hubs/"+hub, "", "")
	require.Equal(t, 3.0, seen["memberCount"])

	// A locked post, and votes that count in the hub.
	status, c := w.ask("POST", "/posts", bob, `{"visibility":"private_locked_hub","hubIds":["`+hub+
		`"],"slider":{"text":"Green tea?"}}`)
	require.Equal(t, 201, status, c)
	post := "/posts/" + c["postId"].(string)
	status, p = w.ask("POST", "/posts", dan, `{"visibility":"public_hub","hubIds":["`+hub+
		`"],"slider":{"text":"Green tea?"}}`)
	require.Equal(t, 403, status)
	require.Equal(t, "NOT_A_MEMBER", p["code"])
	status, feed := w.ask("GET", "/posts?hubId="+hub, cid, "")
	require.Equal(t, 200, status)
	require.Equal(t, "Tea", items(feed)[0]["hubs"].([]any)[0].(map[string]any)["name"])
	for _, who := range []string{"", dan} {
		for _, path := range []string{"", "/vote/summary", "/vote/distribution"} {
			status, p := w.ask("GET", post+path, who, "")
			require.Equal(t, 404, status)
			require.Equal(t, "POST_NOT_FOUND", p["code"])
		}
		_, theirs := w.ask("GET", "/users/"+bobID+"/posts", who, "")
		require.Empty(t, theirs["items"])
		_, profile := w.ask("GET", "/users/"+bobID, who, "")
		require.Equal(t, 0.0, profile["counts"].(map[string]any)["posts"])
	}
	status, p = w.ask("POST", post+"/vote", dan, `{"position":"left"}`)
	require.Equal(t, 404, status, p)
	for i, who := range []string{ann, bob, cid} {
		status, cast := w.ask("POST", post+"/vote", who, `{"position":"`+[]string{"left", "right", "right"}[i]+`"}`)
		require.Equal(t, 201, status, cast)
		require.Equal(t, []any{
			map[string]any{"scopeType": "global", "scopeId": "global"},
			map[string]any{"scopeType": "hub", "scopeId": hub},
		}, cast["scopes"])
	}
	status, votes := w.ask("GET", post+"/vote/hubs", cid, "")
	require.Equal(t, 200, status, votes)
	require.Len(t, items(votes), 1)
	one := items(votes)[0]
	require.Equal(t, []any{"hub", hub, "Tea", 3.0, 0.0, 0.0, nil, nil},
		[]any{
			one["scope"], one["hubId"], one["name"], one["totalVotes"], one["countedVotes"], one["withheldVotes"],
			one["leftCount"], one["rightCount"],
		})
	w.background.Wait()
	w.pump()
	w.pump()
	_, me := w.ask("GET", "/users/me", bob, "")
	require.Equal(t, 1.0, me["counts"].(map[string]any)["posts"], "a locked post counts for its author")

	// A member who leaves sees nothing of it at once; the author goes on to see it.
	status, p = w.ask("DELETE", "/hubs/"+hub+"/members/me", ann, "")
	require.Equal(t, 409, status)
	require.Equal(t, "LAST_SUPER_ADMIN", p["code"])
	for _, who := range []string{bob, cid} {
		status, _ = w.ask("DELETE", "/hubs/"+hub+"/members/me", who, "")
		require.Equal(t, 204, status)
	}
	status, _ = w.ask("GET", post, cid, "")
	require.Equal(t, 404, status)
	_, mine = w.ask("GET", "/users/me/votes", cid, "")
	require.Empty(t, mine["items"])
	status, own := w.ask("GET", post, bob, "")
	require.Equal(t, 200, status)
	require.Empty(t, own["hubs"])
	status, p = w.ask("GET", "/posts?hubId="+hub, cid, "")
	require.Equal(t, "NOT_A_MEMBER", p["code"], status)
	w.enrol(ann, hub, number(3), cid)
	status, _ = w.ask("GET", post, cid, "")
	require.Equal(t, 200, status, "who comes back sees it again")
	_, mine = w.ask("GET", "/users/me/votes", cid, "")
	require.Len(t, mine["items"], 1)

	var differences []string
	_, err := w.hubs.VerifyRows(t.Context(), func(what string) { differences = append(differences, what) })
	require.NoError(t, err)
	_, err = w.posts.VerifyRows(t.Context(), func(what string) { differences = append(differences, what) })
	require.NoError(t, err)
	require.Empty(t, differences)
}

// TestEnds: five members of a hub vote on a post that ends as soon as all have, and see all five
// votes then and nothing before.
func TestEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var all []string
	hub := ""
	for i := range 5 {
		_, access, _ := w.person(number(1+i), fmt.Sprintf("Person%d", i))
		all = append(all, access)
		if i == 0 {
			_, made := w.ask("POST", "/hubs", access, `{"name":"Five","profileAssetId":"`+w.picture(access, "hub")+`"}`)
			hub = made["hubId"].(string)
			continue
		}
		w.enrol(all[0], hub, number(1+i), access)
	}
	status, made := w.ask("POST", "/posts", all[1], `{"visibility":"private_locked_hub","hubIds":["`+hub+
		`"],"slider":{"text":"Tea?","endsWhenAllVoted":true}}`)
	require.Equal(t, 201, status, made)
	slider := made["slider"].(map[string]any)
	require.Equal(t, true, slider["endsWhenAllVoted"])
	require.NotEmpty(t, slider["endsAt"], "30 days later at most")
	require.Nil(t, slider["ended"])
	post := "/posts/" + made["postId"].(string)
	for i, who := range all {
		status, votes := w.ask("GET", post+"/vote/hubs", who, "")
		require.Equal(t, 200, status)
		require.Equal(t, []any{float64(i), 0.0, true, []any{}},
			[]any{
				items(votes)[0]["totalVotes"], items(votes)[0]["countedVotes"], items(votes)[0]["hidden"],
				items(votes)[0]["distribution"],
			})
		status, cast := w.ask("POST", post+"/vote", who,
			`{"position":"`+[]string{"strong_left", "left", "neutral", "strong_right", "strong_right"}[i]+`"}`)
		require.Equal(t, 201, status, cast)
	}
	_, votes := w.ask("GET", post+"/vote/hubs", all[0], "")
	var counts []any
	for _, bar := range items(votes)[0]["distribution"].([]any) {
		counts = append(counts, bar.(map[string]any)["count"])
	}
	require.Equal(t, []any{1.0, 1.0, 1.0, 0.0, 2.0}, counts)
	_, card := w.ask("GET", post, all[0], "")
	require.Equal(t, true, card["slider"].(map[string]any)["ended"])
}
