package api_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/api"
	"prompthub/internal/http/openapi/openapitest"
)

// gets returns the paths of all GET routes with all values for the parameters in them, and searches
// for all values of q.
func (w *world) gets(values map[string][]string) (paths []string) {
	w.t.Helper()
	gets := 0
	for _, o := range openapitest.New(w.t, w).Operations() {
		if o.Method != "GET" || strings.Contains(o.Path, "/openapi") {
			continue
		}
		gets++
		all := []string{strings.TrimPrefix(o.Path, api.Prefix)}
		for _, name := range regexp.MustCompile(`{(\w+)}`).FindAllStringSubmatch(o.Path, -1) {
			require.NotEmpty(w.t, values[name[1]], "what to put for %s of %s", name[1], o.Path)
			var next []string
			for _, path := range all {
				for _, value := range values[name[1]] {
					next = append(next, strings.ReplaceAll(path, name[0], value))
				}
			}
			all = next
		}
		for _, path := range all {
			if !strings.HasSuffix(path, "/search") {
				paths = append(paths, path)
				continue
			}
			for _, query := range values["q"] {
				paths = append(paths, path+"?q="+query)
			}
		}
	}
	require.Greater(w.t, gets, 20)
	return paths
}

// TestWalk asks every GET route about everything that belongs to a locked post, as people who may
// not see it: an outsider, a guest, a member who left, one who was removed, a person that
// blocks the author and one that the author blocks. None of them finds its text, its id, or any
// difference from a post that is not there; and a member who comes back, or is not blocked any
// more, sees it.
func TestWalk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	annID, ann, _ := w.person(number(1), "Ann")
	bobID, bob, _ := w.person(number(2), "Bob")
	leftID, left, _ := w.person(number(3), "Left")
	removedID, removed, _ := w.person(number(4), "Removed")
	_, outsider, _ := w.person(number(5), "Outsider")
	status, h := w.ask("POST", "/hubs", ann,
		`{"name":"Tea","customLink":"tea","profileAssetId":"`+w.picture(ann, "hub")+`"}`)
	require.Equal(t, 201, status, h)
	hub := h["hubId"].(string)
	w.enrol(ann, hub, number(2), bob)
	w.enrol(ann, hub, number(3), left)
	w.enrol(ann, hub, number(4), removed)
	blockedID, blocked, _ := w.person(number(6), "Blocked")
	w.enrol(ann, hub, number(6), blocked)
	_, blocks, _ := w.person(number(7), "Blocks")
	w.enrol(ann, hub, number(7), blocks)
	token := w.invite(ann, hub, number(90))
	_, link := w.ask("POST", "/hubs/"+hub+"/links", ann, "")
	const secret = "the kettle is red"
	post := func(visibility string) string {
		status, c := w.ask("POST", "/posts", bob, `{"visibility":"`+visibility+`","hubIds":["`+hub+`"],"thoughtText":"`+
			secret+`","slider":{"text":"`+secret+`"},"article":{"kind":"text","text":"`+secret+`"}}`)
		require.Equal(t, 201, status, c)
		return c["postId"].(string)
	}
	locked := post("private_locked_hub")
	source := w.post(ann)
	status, made := w.ask("POST", "/posts/"+source+"/repost", bob,
		`{"visibility":"private_locked_hub","hubIds":["`+hub+`"],"thoughtText":"`+secret+`"}`)
	require.Equal(t, 201, status, made)
	repost := made["postId"].(string)
	status, made = w.ask("POST", "/posts/"+source+"/share/hubs", bob, `{"hubIds":["`+hub+`"],"note":"`+secret+`"}`)
	require.Equal(t, 201, status, made)
	w.background.Wait()
	status, root := w.ask("POST", "/posts/"+locked+"/comments", left, `{"text":"`+secret+`"}`)
	require.Equal(t, 201, status, root)
	comment := root["commentId"].(string)
	status, reply := w.ask("POST", "/posts/"+locked+"/comments", bob,
		`{"text":"`+secret+`","parentCommentId":"`+comment+`"}`)
	require.Equal(t, 201, status, reply)
	status, made = w.ask("POST", "/hubs/"+hub+"/discussions", left, `{"postId":"`+locked+`"}`)
	require.Equal(t, 201, status, made)
	discussion := made["discussionId"].(string)
	status, made = w.ask("POST", "/hubs/"+hub+"/discussions/"+discussion+"/messages", left, `{"text":"`+secret+`"}`)
	require.Equal(t, 201, status, made)
	message := made["messageId"].(string)
	status, made = w.ask("POST", "/hubs/"+hub+"/discussions/"+discussion+"/messages", bob,
		`{"text":"`+secret+`","parentMessageId":"`+message+`"}`)
	require.Equal(t, 201, status, made)
	for _, who := range []string{ann, left, removed, blocked, blocks} {
		status, made := w.ask("PUT", "/hubs/"+hub+"/discussions/"+discussion+"/saved", who, "")
		require.Equal(t, 200, status, made)
	}
	for _, who := range []string{ann, left, removed, blocked, blocks} {
		status, v := w.ask("POST", "/posts/"+locked+"/vote", who, `{"position":"left"}`)
		require.Equal(t, 201, status, v)
	}
	for _, who := range []string{ann, left, removed, blocked, blocks} {
		require.Eventually(t, func() bool {
			w.pump()
			_, mine := w.ask("GET", "/users/me/votes", who, "")
			return len(items(mine)) == 1
		}, time.Minute, 5*time.Millisecond, "the lists of votes follow")
	}
	status, _ = w.ask("DELETE", "/hubs/"+hub+"/members/me", left, "")
	require.Equal(t, 204, status)
	status, _ = w.ask("DELETE", "/hubs/"+hub+"/members/"+removedID, ann, "")
	require.Equal(t, 204, status)

	status, _ = w.ask("PUT", "/users/"+blockedID+"/block", bob, "")
	require.Equal(t, 200, status)
	status, _ = w.ask("PUT", "/users/"+bobID+"/block", blocks, "")
	require.Equal(t, 200, status)

	w.chosen(bobID)
	status, _ = w.ask("PUT", "/users/"+bobID+"/follow", outsider, "")
	require.Equal(t, 200, status)
	w.rest()
	values := map[string][]string{
		"id": {locked, repost, source, hub, bobID, annID, leftID}, "username": {"bob", "ann"}, "q": {"bob", "tea"},
		"link": {"tea"}, "comment": {comment}, "token": {token, link["token"].(string)},
		"discussion": {discussion}, "message": {message},
	}
	paths := append(w.gets(values), "/posts?hubId="+hub, "/posts?limit=1", "/users/"+bobID+"/posts?limit=1")
	found := func(who string) (seen []string) {
		for _, path := range paths {
			status, answer := w.ask("GET", path, who, "")
			text := fmt.Sprint(answer)
			if strings.Contains(text, secret) || strings.Contains(text, locked) || strings.Contains(text, repost) ||
				strings.Contains(text, comment) || strings.Contains(text, discussion) ||
				strings.Contains(text, message) {
				seen = append(seen, path)
			}
			if strings.Contains(path, "/posts/"+locked) || strings.Contains(path, "/posts/"+repost) {
				_, nothing := w.ask("GET",
					strings.NewReplacer(locked, "01KA0000000000000000000003", repost,
						"01KA0000000000000000000003").Replace(path), who, "")
				if status != 404 || answer["detail"] != nothing["detail"] || answer["code"] != nothing["code"] {
					if status != 401 {
						seen = append(seen, path)
					}
				}
			}
		}
		return seen
	}
	everything := []string{
		"/posts/" + locked, "/posts/" + locked + "/comments", "/posts/" + locked + "/comments/" + comment + "/replies",
		"/posts/" + locked + "/vote/distribution", "/posts/" + locked + "/vote/hubs",
		"/posts/" + locked + "/vote/summary",
		"/posts/" + repost, "/posts/" + source + "/reposts", "/posts/" + source + "/shares", "/posts?hubId=" + hub,
		"/users/" + bobID + "/posts", "/users/" + bobID + "/posts?limit=1", "/users/me/votes",
		"/feed/home", "/notifications",
		"/users/me/saved-discussions", "/hubs/" + hub + "/discussions", "/hubs/" + hub + "/discussions/" + discussion,
		"/hubs/" + hub + "/discussions/" + discussion + "/messages",
		"/hubs/" + hub + "/discussions/" + discussion + "/messages/" + message + "/replies",
	}
	all := found(ann)
	for _, path := range everything {
		require.Contains(t, all, path, "a member sees it, so that the walk would find it")
	}
	// profile returns Bob's profile as a person sees it, and the homes in which Bob is.
	profile := func(who string) string {
		_, p := w.ask("GET", "/users/"+bobID, who, "")
		_, posts := w.ask("GET", "/users/"+bobID+"/posts?limit=1", who, "")
		_, home := w.ask("GET", "/feed/home", who, "")
		_, told := w.ask("GET", "/notifications?limit=1", who, "")
		_, unread := w.ask("GET", "/notifications/unread-count", who, "")
		_, chosen := w.ask("GET", "/feed/default", who, "")
		for _, answer := range []map[string]any{p, posts, home, chosen, told, unread} {
			delete(answer, "requestId")
		}
		return fmt.Sprint(p, posts, home, chosen, told, unread)
	}
	before := map[string]string{}
	hidden := map[string]string{
		"a guest": "", "an outsider": outsider, "who left": left, "who was removed": removed,
		"who is blocked": blocked, "who blocks": blocks,
	}
	for name, who := range hidden {
		require.Empty(t, found(who), name)
		before[name] = profile(who)
	}
	for range 3 { // nor does anything that they see tell that there are more
		post("private_locked_hub")
	}
	w.rest()
	for name, who := range hidden {
		require.Equal(t, before[name], profile(who), name)
		_, card := w.ask("GET", "/posts/"+source, who, "")
		require.Equal(t, 0.0, card["counts"].(map[string]any)["reposts"], name)
		for path, body := range map[string]string{
			"/repost": `{"thoughtText":"x"}`, "/share": `{}`,
			"/share/hubs": `{"hubIds":["` + hub + `"]}`,
		} {
			status, _ := w.ask("POST", "/posts/"+locked+path, who, body)
			require.Equal(t, map[bool]int{true: 401, false: 404}[who == ""], status, path)
		}
		status, p := w.ask("POST", "/posts/"+locked+"/vote", who, `{"position":"left"}`)
		require.Equal(t, map[bool]int{true: 401, false: 404}[who == ""], status, p)
		for path, body := range map[string]string{
			"":                             `{"postId":"` + locked + `"}`,
			"/" + discussion + "/messages": `{"text":"x"}`,
		} {
			want := 403
			switch who {
			case "":
				want = 401
			case blocked, blocks:
				want = 404
			}
			status, p := w.ask("POST", "/hubs/"+hub+"/discussions"+path, who, body)
			require.Equal(t, want, status, p)
		}
		for _, do := range []string{"POST", "DELETE"} { // also one's own comments
			path, body := "/posts/"+locked+"/comments", `{"text":"x"}`
			if do == "DELETE" {
				path, body = path+"/"+comment, ""
			}
			status, p := w.ask(do, path, who, body)
			require.Equal(t, map[bool]int{true: 401, false: 404}[who == ""], status, p)
		}
	}
	w.enrol(ann, hub, number(3), left)
	status, _ = w.ask("DELETE", "/users/"+blockedID+"/block", bob, "")
	require.Equal(t, 204, status)
	status, _ = w.ask("DELETE", "/users/"+bobID+"/block", blocks, "")
	require.Equal(t, 204, status)
	for _, who := range []string{left, blocked, blocks} {
		again := found(who)
		for _, path := range everything {
			require.Contains(t, again, path, "who comes back sees it again")
		}
	}

	// A post of a hub that is not locked is seen by everybody who has its id, and in no public
	// list.
	open := post("public_hub")
	for _, who := range []string{"", outsider} {
		status, c := w.ask("GET", "/posts/"+open, who, "")
		require.Equal(t, 200, status)
		require.Empty(t, c["hubs"])
		_, list := w.ask("GET", "/posts", who, "")
		require.Len(t, list["items"], 1)
		require.Equal(t, source, items(list)[0]["postId"])
		_, list = w.ask("GET", "/users/"+bobID+"/posts", who, "")
		require.Len(t, list["items"], 1)
	}
}

// TestWalkDeleted asks every GET route about what was deleted: a post with its comments and votes,
// comments, and a follow. No one finds any of it, its author neither, and the answers are those for
// things that never were. Posts that come back are found again.
func TestWalkDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	annID, ann, _ := w.person(number(1), "Ann")
	bobID, bob, _ := w.person(number(2), "Bob")
	cidID, cid, _ := w.person(number(3), "Cid")
	hub := w.hub(ann, "Tea")
	token := w.invite(ann, hub, number(2))
	status, _ := w.ask("POST", "/invitations/"+token+"/accept", bob, "")
	require.Equal(t, 200, status)
	open := w.invite(ann, hub, number(90))
	_, link := w.ask("POST", "/hubs/"+hub+"/links", ann, "")
	const secret = "the kettle is red"
	_, c := w.ask("POST", "/posts", ann, `{"thoughtText":"`+secret+`","slider":{"text":"Tea?"}}`)
	public := c["postId"].(string)
	_, c = w.ask("POST", "/posts", bob, `{"visibility":"private_locked_hub","hubIds":["`+hub+`"],"thoughtText":"`+
		secret+`","slider":{"text":"Tea?"}}`)
	locked := c["postId"].(string)
	comment := w.comment(bob, public, "")
	for _, id := range []string{public, locked} {
		for _, who := range []string{ann, bob} {
			status, v := w.ask("POST", "/posts/"+id+"/vote", who, `{"position":"left"}`)
			require.Equal(t, 201, status, v)
		}
	}
	other := w.post(cid)
	reposted := func(of string) string {
		status, c := w.ask("POST", "/posts/"+of+"/repost", bob, `{"thoughtText":"about it"}`)
		require.Equal(t, 201, status, c)
		return c["postId"].(string)
	}
	kept, repost := reposted(public), reposted(other)
	status, made := w.ask("POST", "/posts/"+public+"/share", bob, `{"note":"`+secret+`"}`)
	require.Equal(t, 201, status, made)
	status, made = w.ask("POST", "/posts/"+public+"/share/hubs", bob, `{"hubIds":["`+hub+`"],"note":"`+secret+`"}`)
	require.Equal(t, 201, status, made)
	_, made = w.ask("POST", "/hubs/"+hub+"/discussions", ann, `{"postId":"`+locked+`"}`)
	discussion := made["discussionId"].(string)
	_, made = w.ask("POST", "/hubs/"+hub+"/discussions/"+discussion+"/messages", ann, `{"text":"`+secret+`"}`)
	message := made["messageId"].(string)
	_, made = w.ask("POST", "/hubs/"+hub+"/discussions/"+discussion+"/messages", bob,
		`{"text":"`+secret+`","parentMessageId":"`+message+`"}`)
	require.NotEmpty(t, made["messageId"])
	status, _ = w.ask("PUT", "/hubs/"+hub+"/discussions/"+discussion+"/saved", ann, "")
	require.Equal(t, 200, status)
	_, said := w.ask("POST", "/posts/"+other+"/comments", ann, `{"text":"`+secret+`"}`)
	root := said["commentId"].(string)
	_, said = w.ask("POST", "/posts/"+other+"/comments", cid, `{"text":"`+secret+`","parentCommentId":"`+root+`"}`)
	reply := said["commentId"].(string)
	status, _ = w.ask("PUT", "/users/"+annID+"/follow", cid, "")
	require.Equal(t, 200, status)
	for _, who := range []string{ann, bob} {
		require.Eventually(t, func() bool {
			w.pump()
			_, mine := w.ask("GET", "/users/me/votes", who, "")
			return len(items(mine)) == 2
		}, time.Minute, 5*time.Millisecond, "the lists of votes follow")
	}
	values := map[string][]string{
		"id": {public, locked, kept, repost, other, hub, annID, bobID, cidID}, "username": {"ann", "bob"},
		"q": {"ann", "tea"}, "link": {"tea"}, "comment": {comment, root}, "token": {open, link["token"].(string)},
		"discussion": {discussion}, "message": {message},
	}
	paths := append(w.gets(values), "/posts?hubId="+hub)
	words := []string{secret, public, locked, comment, root, reply, repost, discussion, message}
	found := func(who string) (seen []string) {
		for _, path := range paths {
			_, answer := w.ask("GET", path, who, "")
			text := fmt.Sprint(answer)
			for _, word := range words {
				if strings.Contains(text, word) {
					seen = append(seen, path)
				}
			}
			for _, gone := range words[1:] {
				if strings.Contains(path, gone) {
					_, nothing := w.ask("GET", strings.ReplaceAll(path, gone, "01KA0000000000000000000003"), who, "")
					if answer["code"] != nothing["code"] || answer["detail"] != nothing["detail"] {
						seen = append(seen, path)
					}
				}
			}
		}
		return seen
	}
	w.chosen(annID)
	w.rest()
	everybody := map[string]string{"a guest": "", "Ann": ann, "Bob": bob, "Cid": cid}
	before := map[string][]string{}
	for name, who := range everybody {
		before[name] = found(who)
		require.NotEmpty(t, before[name], name)
	}
	require.Contains(t, before["Bob"], "/users/me/votes")
	require.Contains(t, before["Bob"], "/posts?hubId="+hub)
	require.Contains(t, before["Cid"], "/feed/home")
	require.Contains(t, before["Bob"], "/feed/home")
	require.Contains(t, before["Ann"], "/notifications")
	require.Contains(t, before["Ann"], "/users/me/saved-discussions")
	require.Contains(t, before["Bob"], "/hubs/"+hub+"/discussions/"+discussion+"/messages/"+message+"/replies")
	require.Contains(t, before["a guest"], "/feed/default")
	require.Contains(t, before["a guest"], "/posts")
	require.Contains(t, before["a guest"], "/users/"+annID+"/posts")
	require.Contains(t, before["a guest"], "/posts/"+other+"/comments/"+root+"/replies")

	require.Contains(t, before["a guest"], "/posts/"+kept, "the original is in it")
	require.Contains(t, before["a guest"], "/posts/"+other+"/reposts")
	require.Contains(t, before["a guest"], "/posts/"+public+"/shares")
	require.Contains(t, before["a guest"], "/users/"+bobID+"/posts")

	for path, who := range map[string]string{
		"/posts/" + public: ann, "/posts/" + locked: bob, "/posts/" + repost: bob,
		"/posts/" + other + "/comments/" + root: ann, "/users/" + annID + "/follow": cid,
	} {
		status, _ := w.ask("DELETE", path, who, "")
		require.Equal(t, 204, status, path)
	}
	status, _ = w.ask("DELETE", "/posts/"+other+"/comments/"+reply, cid, "")
	require.Equal(t, 204, status)
	w.background.Wait()
	for name, who := range everybody {
		isOwn := func(path string) bool { return path == "/users/me/deleted-posts" && (who == ann || who == bob) }
		after := found(who)
		require.Equal(t, who == ann || who == bob, slices.ContainsFunc(after, isOwn), name)
		require.Empty(t, slices.DeleteFunc(after, isOwn), name)
		_, p := w.ask("GET", "/users/"+annID, who, "")
		require.Equal(t, map[string]any{"followers": 0.0, "following": 0.0, "posts": 0.0}, p["counts"], name)
		_, fans := w.ask("GET", "/users/"+annID+"/followers", who, "")
		require.Empty(t, fans["items"], name)
		_, card := w.ask("GET", "/posts/"+other, who, "")
		require.Equal(t, map[string]any{"comments": 0.0, "reposts": 0.0, "shares": 0.0}, card["counts"], name)
		_, card = w.ask("GET", "/posts/"+kept, who, "")
		require.Equal(t, []any{true, nil}, []any{card["isRepost"], card["sourcePost"]}, name)
	}
	_, me := w.ask("GET", "/users/me", bob, "")
	require.Equal(t, 1.0, me["counts"].(map[string]any)["posts"])

	for id, who := range map[string]string{public: ann, locked: bob, repost: bob} {
		status, c := w.ask("POST", "/posts/"+id+"/restore", who, "")
		require.Equal(t, 200, status, c)
	}
	status, _ = w.ask("PUT", "/users/"+annID+"/follow", cid, "")
	require.Equal(t, 200, status)
	w.rest()
	words, paths = []string{secret, public, locked, comment, repost, discussion, message},
		slices.DeleteFunc(paths, func(path string) bool { return strings.Contains(path, other) })
	for name, who := range everybody {
		seen := found(who)
		for _, path := range before[name] {
			if !strings.Contains(path, other) {
				require.Contains(t, seen, path, name)
			}
		}
	}
}

// TestWalkLeft asks every GET route after a person has left that posted, commented, followed, made
// a hub, a link and invitations, and decided a request: no answer has the id or a name of the
// person, and the answers about the person are those for one who never was. On the return all is as
// before.
func TestWalkLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Handler = openapitest.New(t, w).Enforce(t, w.Handler)
	annID, ann, _ := w.person(number(1), "Annabella")
	bobID, bob, _ := w.person(number(2), "Bob")
	_, cid, _ := w.person(number(3), "Cid")
	hub := w.hub(ann, "Tea")
	w.enrol(ann, hub, number(2), bob)
	status, m := w.ask("PATCH", "/hubs/"+hub+"/members/"+bobID, ann, `{"role":"super_admin"}`)
	require.Equal(t, 200, status, m)
	token := w.invite(ann, hub, number(4))
	_, dan, _ := w.person(number(4), "Dan")
	_, link := w.ask("POST", "/hubs/"+hub+"/links", ann, "")
	status, asked := w.ask("POST", "/join/"+link["token"].(string), cid, "")
	require.Equal(t, 202, status, asked)
	status, _ = w.ask("POST", "/hubs/"+hub+"/join-requests/"+asked["joinRequestId"].(string)+"/approve", ann, "")
	require.Equal(t, 200, status)
	public := w.post(ann)
	status, repost := w.ask("POST", "/posts/"+public+"/repost", bob, `{"thoughtText":"about it"}`)
	require.Equal(t, 201, status, repost)
	bobs := w.post(bob)
	status, shared := w.ask("POST", "/posts/"+bobs+"/share/hubs", ann, `{"hubIds":["`+hub+`"]}`)
	require.Equal(t, 201, status, shared)
	status, shared = w.ask("POST", "/posts/"+bobs+"/share", ann, `{}`)
	require.Equal(t, 201, status, shared)
	comment := w.comment(ann, public, "")
	reply := w.comment(bob, public, comment)
	status, begun := w.ask("POST", "/hubs/"+hub+"/discussions", ann, `{"postId":"`+bobs+`"}`)
	require.Equal(t, 201, status, begun)
	discussion := begun["discussionId"].(string)
	status, written := w.ask("POST", "/hubs/"+hub+"/discussions/"+discussion+"/messages", ann, `{"text":"about it"}`)
	require.Equal(t, 201, status, written)
	for path, who := range map[string]string{"/users/" + bobID + "/follow": ann, "/users/" + annID + "/follow": bob} {
		status, _ := w.ask("PUT", path, who, "")
		require.Equal(t, 200, status)
	}
	w.background.Wait()
	values := map[string][]string{
		"id":       {public, repost["postId"].(string), bobs, hub, annID, bobID, "01KA0000000000000000000003"},
		"username": {"annabella", "bob"}, "q": {"annab", "tea"}, "link": {"tea"}, "comment": {comment, reply},
		"token": {token, link["token"].(string)}, "discussion": {discussion},
		"message": {written["messageId"].(string)},
	}
	paths := append(w.gets(values), "/posts?hubId="+hub, "/hubs/"+hub+"/join-requests?status=approved",
		"/hubs/"+hub+"/invitations?status=accepted_active")
	everybody := map[string]string{"a guest": "", "Bob": bob, "Cid": cid, "Dan": dan}
	answers := func() map[string]string {
		all := map[string]string{}
		for name, who := range everybody {
			for _, path := range paths {
				status, answer := w.ask("GET", path, who, "")
				delete(answer, "requestId")
				delete(answer, "checkedAt") // of the health
				all[name+" "+path] = fmt.Sprint(status, answer)
			}
		}
		return all
	}
	w.chosen(annID)
	w.rest()
	before := answers()
	require.Contains(t, before["a guest /posts"], annID)
	require.Contains(t, before["Bob /feed/home"], annID)
	require.Contains(t, before["Bob /notifications"], annID)
	require.Contains(t, before["Dan /feed/default"], annID)
	require.Contains(t, before["Dan /users/search?q=annab"], annID)
	require.Contains(t, before["Dan /hubs/search?q=tea"], hub)
	require.Contains(t, before["Bob /hubs/"+hub+"/discussions/"+discussion+"/messages"], annID)
	status, _ = w.ask("DELETE", "/users/me", ann, "")
	require.Equal(t, 204, status)
	w.background.Wait()
	left := answers()
	for path, answer := range left {
		require.NotContains(t, answer, annID, path)
		require.NotContains(t, answer, "Annabella", path)
	}
	require.Contains(t, left["a guest /posts"], "Deleted user")
	require.Contains(t, left["a guest /posts/"+public+"/comments"], "Deleted user")
	require.Contains(t, left["Bob /hubs/"+hub+"/members"], "Deleted user")
	for name := range everybody {
		for _, path := range paths {
			if strings.Contains(path, annID) {
				require.Equal(t, left[name+" "+strings.ReplaceAll(path, annID, "01KA0000000000000000000003")],
					left[name+" "+path], path)
			}
		}
	}
	status, _ = w.ask("GET", "/users/me", ann, "")
	require.Equal(t, 401, status)
	in := w.enter(number(1))
	require.NotNil(t, in["deletedAt"])
	again := in["accessToken"].(string)
	for _, path := range w.gets(values) {
		if path == "/users/username-availability" {
			path += "?username=Eve"
		}
		status, p := w.ask("GET", path, again, "")
		if status == 200 {
			require.Contains(t, []string{"/health", "/ready"}, path)
			continue
		}
		require.Contains(t, []any{"ACCOUNT_DELETED", "CODE_NOT_FOUND"}, p["code"], path)
	}
	status, me := w.ask("POST", "/users/me/restore", again, "")
	require.Equal(t, 200, status, me)
	w.background.Wait()
	require.Equal(t, before, answers())
}
