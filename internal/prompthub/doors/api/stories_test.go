package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/doors/api"
)

const prompts = "/api/v1/prompts"

func TestCreateAndGet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, bob := w.as("Ann"), w.as("Bob")

	body := `{"title":"  A title ","text":" \u0001 text\r\n\u2028🚀 ","tags":["Development","text"],"visibility":"public"}`
	made := ann.do(http.MethodPost, prompts, body).is(201)
	p := made.prompt()
	require.Equal(t, api.Prompt{
		ID: p.ID, AuthorID: w.db.AuthorKey("Ann"), AuthorName: "Ann", Name: "a-title", Slug: "a-title",
		Title: "A title", Description: "text 🚀", Version: 1, Kind: "text", Text: " \x01 text\r\n\u2028🚀 ",
		Tags: []string{"development", "text"}, Visibility: "public",
		CreatedAt: "2026-03-31T23:30:00.000Z", UpdatedAt: "2026-03-31T23:30:00.000Z", Revision: 1, MyVote: "none",
	}, p)
	require.Len(t, p.ID, 26)
	require.Equal(t, prompts+"/"+p.ID, made.header.Get("Location"))
	require.Equal(t, `"1-0-0-n"`, made.header.Get("ETag"))
	require.Equal(t, "application/json", made.header.Get("Content-Type"))
	require.Equal(t, "private, no-cache", made.header.Get("Cache-Control"))
	require.Equal(t, "nosniff", made.header.Get("X-Content-Type-Options"))

	for _, path := range []string{made.header.Get("Location"), prompts + "/" + strings.ToLower(p.ID)} {
		got := bob.get(path).is(200)
		require.Equal(t, p, got.prompt())
		require.Equal(t, `"1-0-0-n"`, got.header.Get("ETag"))
	}
	require.Equal(t, p, w.as("").get(prompts+"/"+p.ID).is(200).prompt(), "nobody may read")

	private := ann.do(http.MethodPost, prompts, `{"title":"P","text":"T"}`).is(201).prompt()
	require.Equal(t, "private", private.Visibility)
	require.Contains(t, ann.do(http.MethodPost, prompts, `{"title":"P","text":"T","tags":null}`).is(201).body,
		`"tags":[]`)
	bob.get(prompts + "/" + private.ID).problem(404)
}

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	first := ann.do(http.MethodPost, prompts, draft("A"), "Idempotency-Key", "k1").is(201)
	again := ann.do(http.MethodPost, prompts, draft("A"), "Idempotency-Key", "k1").is(200)
	require.Equal(t, first.body, again.body)
	require.Equal(t, first.header.Get("Location"), again.header.Get("Location"))
	require.Equal(t, first.header.Get("ETag"), again.header.Get("ETag"))
	require.Equal(t, []string{"header.Idempotency-Key"},
		ann.do(http.MethodPost, prompts, draft("B"), "Idempotency-Key", "k1").problem(422).locations())
	for _, more := range []string{
		`"name":"n"`, `"description":"d"`, `"message":"m"`,
		`"ownTags":["o"]`, `"config":{"a":1}`,
	} {
		ann.do(http.MethodPost, prompts, strings.Replace(draft("A"), "{", "{"+more+",", 1),
			"Idempotency-Key", "k1").problem(422)
	}
	other := w.as("Bob").do(http.MethodPost, prompts, draft("A"), "Idempotency-Key", "k1").is(201)
	require.NotEqual(t, first.prompt().ID, other.prompt().ID)
	ann.do(http.MethodPost, prompts, draft("A"), "Idempotency-Key", strings.Repeat("~", 128)).is(201)
}

func TestIdempotencyKeyOutlivesTag(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	with := func(title, key string) answer {
		return ann.do(http.MethodPost, prompts, draft(title, "text", "writing"), "Idempotency-Key", key)
	}
	first := with("A", "k1").is(201)
	w.admin().do(http.MethodDelete, "/api/v1/tags/writing", "").is(204)

	again := with("A", "k1").is(200)
	require.Equal(t, first.body, again.body)
	require.Equal(t, first.header.Get("Location"), again.header.Get("Location"))
	require.Equal(t, first.header.Get("ETag"), again.header.Get("ETag"))
	require.Equal(t, []string{"header.Idempotency-Key"}, with("B", "k1").problem(422).locations())

	require.Equal(t, []string{"body.tags[1]"}, with("A", "k2").problem(422).locations(),
		"the first request with this key")
	require.Equal(t, []string{"body.tags[1]"},
		ann.do(http.MethodPost, prompts, draft("A", "text", "writing")).problem(422).locations(), "no key")
	require.Equal(t, []string{"body.tags[1]"},
		w.as("Bob").do(http.MethodPost, prompts, draft("A", "text", "writing"), "Idempotency-Key",
			"k1").problem(422).locations(), "somebody else's key")
	require.Equal(t, []string{"A"}, ann.get(prompts).is(200).titles())

	ann.do(http.MethodDelete, first.header.Get("Location"), "").is(204)
	require.Equal(t, []string{"body.tags[1]"}, with("A", "k1").problem(422).locations(),
		"a new prompt would take the place of the deleted one")
}

func TestListByCursorAndLink(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	var want []string
	for i := range 7 {
		want = append([]string{fmt.Sprintf("P%d", i)}, want...)
		ann.create(fmt.Sprintf("P%d", i))
		w.clock.Advance(10 * 24 * time.Hour) // over months
	}
	var byCursor, byLink []string
	for cursor, more := "", true; more; {
		a := ann.get(prompts + "?limit=2&cursor=" + cursor).is(200)
		require.NotContains(t, a.body, `"text":`)
		byCursor = append(byCursor, a.titles()...)
		cursor = a.list().NextCursor
		more = cursor != ""
	}
	require.Equal(t, want, byCursor)

	next := prompts + "?sort=newest&limit=3&tag=&tag="
	for pages := 0; next != ""; pages++ {
		require.Less(t, pages, 3)
		a := ann.get(next).is(200)
		byLink = append(byLink, a.titles()...)
		next = ""
		if link := a.header.Get("Link"); link != "" {
			target, rel, ok := strings.Cut(strings.TrimPrefix(link, "<"), ">; ")
			require.True(t, ok)
			require.Equal(t, `rel="next"`, rel)
			u, err := url.Parse(target)
			require.NoError(t, err)
			require.Equal(t, a.list().NextCursor, u.Query().Get("cursor"))
			require.Equal(t, "3", u.Query().Get("limit"))
			require.Empty(t, u.Query().Get("tag")) // the Functions host drops empty values
			next = target
		} else {
			require.Empty(t, a.list().NextCursor)
		}
	}
	require.Equal(t, want, byLink)

	cursor := ann.get(prompts + "?limit=2").list().NextCursor
	ann.get(prompts + "?limit=2&sort=most-liked&cursor=" + cursor).problem(400)
	ann.get("/api/v1/me/prompts?limit=2&cursor=" + cursor).problem(400)
	require.JSONEq(t, `{"items":[]}`, newWorld(t).as("Ann").get(prompts).is(200).body)
}

func TestVotes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, bob := w.as("Ann"), w.as("Bob")
	older, newer := ann.create("older"), ann.create("newer")
	require.Equal(t, []string{"newer", "older"}, bob.get(prompts+"?sort=most-liked").titles())

	vote := prompts + "/" + older.ID + "/vote"
	require.JSONEq(t, `{"value":"none","likes":0,"dislikes":0,"score":0}`, bob.get(vote).is(200).body)
	for range 2 { // a vote is set, not toggled
		require.JSONEq(t, `{"value":"like","likes":1,"dislikes":0,"score":1}`,
			bob.do(http.MethodPut, vote, `{"value":"like"}`).is(200).body)
	}
	require.JSONEq(t, `{"value":"dislike","likes":1,"dislikes":1,"score":0}`,
		ann.do(http.MethodPut, vote, `{"value":"dislike"}`).is(200).body)
	require.JSONEq(t, `{"value":"none","likes":1,"dislikes":0,"score":1}`,
		ann.do(http.MethodDelete, vote, "").is(200).body)
	w.drain()

	require.Equal(t, []string{"older", "newer"}, bob.get(prompts+"?sort=most-liked").titles(), "the order follows")
	top := bob.get(prompts + "?sort=most-liked&limit=1").list().Items[0]
	require.Equal(t, int32(1), top.Likes)
	require.Equal(t, int32(1), top.Score)
	require.Equal(t, "like", top.MyVote)

	got := bob.get(prompts + "/" + older.ID).is(200)
	require.Equal(t, `"1-1-0-l"`, got.header.Get("ETag"))
	require.Equal(t, older.UpdatedAt, got.prompt().UpdatedAt)
	require.Equal(t, []string{"older"}, bob.get("/api/v1/me/votes?value=like").titles())
	require.Empty(t, bob.get("/api/v1/me/votes?value=dislike").titles())
	require.Empty(t, ann.get("/api/v1/me/votes").titles())
	_ = newer
}

func TestEditConflict(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, bob := w.as("Ann"), w.as("Bob")
	p := ann.create("One", "text")
	path := prompts + "/" + p.ID

	bob.do(http.MethodPut, path+"/vote", `{"value":"like"}`).is(200)
	ann.do(http.MethodPut, path, draft("Two")).problem(428)
	for _, unknown := range []string{"01BX5ZZKBKACTAV9WEVGEMMVRZ", "x"} { // whatever the request lacks
		ann.do(http.MethodPut, prompts+"/"+unknown, draft("Two")).problem(404)
		ann.do(http.MethodPatch, prompts+"/"+unknown, `{"title":"Two"}`).problem(404)
	}
	ann.do(http.MethodPatch, path, `{"title":"Two"}`).problem(428)
	ann.do(http.MethodPut, path, draft("Two"), "If-Match", `"7-0-0-n"`).problem(412)

	w.clock.Advance(time.Minute)
	edited := ann.do(http.MethodPut, path, draft("Two"), "If-Match", `"1-0-0-n"`).is(200)
	require.Equal(t, `"2-1-0-n"`, edited.header.Get("ETag"), "a vote breaks no edit")
	require.Equal(t, "Two", edited.prompt().Title)
	require.Empty(t, edited.prompt().Tags)
	require.NotEqual(t, p.UpdatedAt, edited.prompt().UpdatedAt)
	again := ann.do(http.MethodPut, path, draft("Two"), "If-Match", `"1-0-0-n"`).is(200)
	require.Equal(t, edited.body, again.body, "the same request again is the same edit")

	late := ann.do(http.MethodPatch, path, `{"title":"Three"}`, "If-Match", `"1-0-0-n"`)
	require.Equal(t, edited.prompt(), *late.problem(412).Current)
	require.Equal(t, `"2-1-0-n"`, late.header.Get("ETag"))
	for _, match := range []string{
		`garbage`, `""`, `"x-1"`, `"-2"`, `"+2"`, `"2`, `2`,
		`"1", "3"`, `"99999999999999999999"`,
	} {
		ann.do(http.MethodPatch, path, `{"title":"Three"}`, "If-Match", match).problem(412)
	}
	revision := 2
	for _, match := range []string{`*`, `"%d-1-0-n"`, `W/"%d-9-9-l"`, `"1-0-0-n", "%d-0-0-n"`, `"%d"`} {
		if strings.Contains(match, "%d") {
			match = fmt.Sprintf(match, revision)
		}
		revision++
		got := ann.do(http.MethodPatch, path, fmt.Sprintf(`{"title":"Title %d"}`, revision), "If-Match", match).is(200)
		require.Equal(t, int64(revision), got.prompt().Revision)
	}
	bob.do(http.MethodPut, path, draft("Bob's"), "If-Match", "*").problem(403)
	bob.do(http.MethodPut, path, draft(strings.Repeat("x", 300)), "If-Match", "*").problem(403)
	bob.do(http.MethodDelete, path, "").problem(403)
	bob.do(http.MethodPost, path+"/restore", "").problem(403)
}

func TestMergePatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	p := ann.create("One", "text", "image")
	patch := func(contentType, body string) api.Prompt {
		return ann.do(http.MethodPatch, prompts+"/"+p.ID, body, "If-Match", "*", "Content-Type",
			contentType).is(200).prompt()
	}
	got := patch("application/merge-patch+json", `{}`)
	require.Equal(t, p, got)
	got = patch("Application/JSON; Charset=UTF-8", `{"title":" Two "}`)
	require.Equal(t, "Two", got.Title)
	require.Equal(t, p.Text, got.Text)
	require.Equal(t, []string{"text", "image"}, got.Tags)
	require.Equal(t, "public", got.Visibility)
	got = patch("application/json", `{"tags":["image"],"text":"new"}`)
	require.Equal(t, []string{"image"}, got.Tags)
	require.Equal(t, "new", got.Text)
	got = patch("application/merge-patch+json; charset=utf-8", `{"tags":null,"visibility":"private"}`)
	require.Empty(t, got.Tags)
	require.Equal(t, "private", got.Visibility)
	require.Equal(t, "Two", got.Title)
	require.Empty(t, w.as("Bob").get(prompts).titles())
}

func TestNotModified(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	p := ann.create("One")
	ann.do(http.MethodPut, prompts+"/"+p.ID+"/vote", `{"value":"like"}`).is(200)
	w.drain()
	for _, path := range []string{
		prompts + "/" + p.ID, prompts, prompts + "?limit=1", "/api/v1/me/prompts", "/api/v1/me/votes", "/api/v1/tags",
		"/api/v1/me", "/api/v1/openapi.json", "/api/v1/docs", prompts + "/" + p.ID + "/vote",
	} {
		full := ann.get(path).is(200)
		tag := full.header.Get("ETag")
		require.NotEmpty(t, tag, path)
		for _, match := range []string{tag, "W/" + tag, `"x", ` + tag, `"x",W/` + tag + `, "y"`, "*"} {
			got := ann.get(path, "If-None-Match", match).is(304)
			require.Empty(t, got.body)
			require.Equal(t, tag, got.header.Get("ETag"))
			require.Equal(t, "private, no-cache", got.header.Get("Cache-Control"))
			require.Empty(t, got.header.Get("Content-Type"))
		}
		for _, match := range []string{`"x"`, strings.Trim(tag, `"`), `"x" ` + tag} {
			ann.get(path, "If-None-Match", match).is(200)
		}
		head := ann.do(http.MethodHead, path, "").is(200)
		require.Empty(t, head.body)
		require.Equal(t, tag, head.header.Get("ETag"))
		require.Equal(t, full.header.Get("Content-Length"), head.header.Get("Content-Length"))
		ann.do(http.MethodHead, path, "", "If-None-Match", tag).is(304)
	}
	tag := ann.get(prompts + "/" + p.ID).header.Get("ETag")
	w.as("Bob").get(prompts+"/"+p.ID, "If-None-Match", tag).is(200) // the vote is not his
	ann.get(prompts+"/"+strings.Repeat("0", 26), "If-None-Match", "*").problem(404)
}

func TestDeleteAndRestore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, bob := w.as("Ann"), w.as("Bob")
	p := ann.create("One")
	path := prompts + "/" + p.ID
	bob.do(http.MethodPut, path+"/vote", `{"value":"like"}`).is(200)
	old := ann.get(path).header.Get("ETag")
	ann.do(http.MethodPatch, path, `{"description":"Edited."}`, "If-Match", old).is(200)
	require.Equal(t, "Edited.", ann.do(http.MethodDelete, path, "", "If-Match", old).problem(412).Current.Description)
	tag := ann.get(path).is(200).header.Get("ETag")
	for range 2 {
		require.Empty(t, ann.do(http.MethodDelete, path, "", "If-Match", tag).is(204).body)
		require.Empty(t, ann.do(http.MethodDelete, path, "").is(204).body)
	}
	ann.get(path).problem(404)
	bob.get(path).problem(404)
	ann.do(http.MethodPatch, path, `{"title":"Two"}`, "If-Match", "*").problem(404)
	require.Empty(t, bob.get(prompts).titles())
	require.Empty(t, ann.get("/api/v1/me/prompts").titles())
	deleted := ann.get("/api/v1/me/prompts?deleted=true").is(200).list().Items
	require.Len(t, deleted, 1)
	require.Equal(t, "2026-03-31T23:30:01.000Z", deleted[0].DeletedAt)
	require.Equal(t, "2026-04-30T23:30:01.000Z", deleted[0].PurgeAt)

	got := ann.do(http.MethodPost, path+"/restore", "").is(200)
	require.Equal(t, "One", got.prompt().Title)
	require.Equal(t, int32(1), got.prompt().Likes)
	require.Empty(t, got.prompt().DeletedAt)
	require.Equal(t, `"2-1-0-n"`, got.header.Get("ETag"))
	ann.do(http.MethodPost, path+"/restore", "").is(200)
	require.Equal(t, []string{"One"}, bob.get(prompts).titles())

	ann.do(http.MethodDelete, path, "").is(204)
	w.clock.Advance(30 * 24 * time.Hour)
	ann.do(http.MethodPost, path+"/restore", "").problem(404)
}

func TestModeration(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, bob, root := w.as("Ann"), w.as("Bob"), w.admin()
	p := ann.create("One")
	path := prompts + "/" + p.ID
	bob.do(http.MethodPut, path+"/hidden", `{"reason":"x"}`).problem(403)
	bob.do(http.MethodDelete, path+"/hidden", "").problem(403)
	bob.get("/api/v1/moderation/hidden").problem(403)
	before := ann.get(path).is(200).header.Get("ETag")
	root.do(http.MethodPut, path+"/hidden", `{"reason":"Rude."}`).is(204)
	hiddenTag := ann.get(path, "If-None-Match", before).is(200).header.Get("ETag")
	w.clock.Advance(time.Second)
	root.do(http.MethodPut, path+"/hidden", `{"reason":"Very rude."}`).is(204)
	ann.get(path, "If-None-Match", hiddenTag).is(200)
	ann.do(http.MethodPatch, path, `{"title":"One"}`, "If-Match", hiddenTag).is(200)
	root.do(http.MethodDelete, path+"/hidden", "").is(204)
	ann.get(path, "If-None-Match", before).is(304)
	w.clock.Advance(time.Second)
	root.do(http.MethodPut, path+"/hidden", `{"reason":"Rude."}`).is(204)

	want := &api.Hidden{At: "2026-03-31T23:30:03.000Z", Reason: "Rude."}
	require.Equal(t, want, ann.get(path).is(200).prompt().Hidden)
	require.Equal(t, want, ann.get("/api/v1/me/prompts").list().Items[0].Hidden)
	bob.get(path).problem(404)
	bob.do(http.MethodPut, path+"/hidden", `{"reason":"x"}`).problem(404)
	require.Empty(t, bob.get(prompts).titles())
	hidden := root.get("/api/v1/moderation/hidden").is(200).list().Items
	require.Len(t, hidden, 1)
	require.Equal(t, want, hidden[0].Hidden)

	root.do(http.MethodDelete, path+"/hidden", "").is(204)
	root.do(http.MethodDelete, path+"/hidden", "").is(204)
	require.Nil(t, bob.get(path).is(200).prompt().Hidden)
	require.Empty(t, root.get("/api/v1/moderation/hidden").titles())
}

func TestMine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	first := ann.create("b first", "text")
	w.clock.Advance(time.Second)
	ann.do(http.MethodPost, prompts, `{"title":"A second","text":"T"}`).is(201)
	ann.create("c third", "text", "image")
	w.as("Bob").create("Bob's")
	w.clock.Advance(time.Minute)
	ann.do(http.MethodPatch, prompts+"/"+first.ID, `{"text":"new"}`, "If-Match", "*").is(200)

	mine := func(query string) []string { return ann.get("/api/v1/me/prompts?" + query).is(200).titles() }
	require.Equal(t, []string{"c third", "A second", "b first"}, mine(""))
	require.Equal(t, []string{"b first", "c third", "A second"}, mine("sort=updated"))
	require.Equal(t, []string{"A second", "b first", "c third"}, mine("sort=title"))
	require.Equal(t, []string{"A second"}, mine("visibility=private"))
	require.Equal(t, []string{"c third", "b first"}, mine("tag=text"))
	for _, query := range []string{
		"tag=text,image", "tag=text&tag=image", "tag=&tag=Text&tag=image,,text",
		"tag=image" + strings.Repeat("&tag=TEXT", 20), "q=thi+c",
	} {
		require.Equal(t, []string{"c third"}, mine(query), query)
	}
	require.Empty(t, mine("tag=nosuch"))
	require.Empty(t, mine("q=;"), "a semicolon is a character")
	require.Len(t, mine("deleted"), 3, "a parameter without a value is not given, as under the Functions host")

	require.JSONEq(t, `{"id":"Ann","authorId":"`+w.db.AuthorKey("Ann")+
		`","name":"Ann","roles":[],"storage":{"bytes":4130,"prompts":3,"favorites":0,"maxFavorites":5000}}`,
		ann.get("/api/v1/me").is(200).body)
	require.JSONEq(t, `{"id":"Root","authorId":"`+w.db.AuthorKey("Root")+
		`","name":"Root","roles":["admin"],"storage":{"bytes":0,"prompts":0,"favorites":0,"maxFavorites":5000}}`,
		w.admin().get("/api/v1/me").is(200).body)
}

// TestOwnTags: words outside the catalog are a prompt's own, for every reader, and no public list
// shows or finds them.
func TestOwnTags(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, bob := w.as("Ann"), w.as("Bob")
	p := ann.do(http.MethodPost, prompts,
		`{"title":"T","text":"x","tags":["text"],"ownTags":[" Küche; später "],"visibility":"public"}`).is(201).prompt()
	one := prompts + "/" + p.ID
	want := []string{"Küche; später"}
	require.Equal(t, want, p.OwnTags)
	require.Equal(t, want, bob.get(one).is(200).prompt().OwnTags)
	require.Equal(t, want, ann.get("/api/v1/me/prompts").is(200).list().Items[0].OwnTags)
	for _, list := range []string{prompts, prompts + "?tag=text", "/api/v1/users/" + p.AuthorID + "/prompts"} {
		l := bob.get(list).is(200).list()
		require.Len(t, l.Items, 1, list)
		require.Empty(t, l.Items[0].OwnTags, list)
	}
	patched := ann.do(http.MethodPatch, one, `{"title":"Other"}`, "If-Match", "*").is(200).prompt()
	require.Equal(t, want, patched.OwnTags, "absent leaves them")
	patched = ann.do(http.MethodPatch, one, `{"ownTags":["a","b"]}`, "If-Match", "*").is(200).prompt()
	require.Equal(t, []string{"a", "b"}, patched.OwnTags)
	require.EqualValues(t, 1, patched.Version, "they are no content")
	require.Empty(t, ann.do(http.MethodPatch, one, `{"ownTags":null}`, "If-Match", "*").is(200).prompt().OwnTags)
	require.Equal(t, []string{"body.ownTags[1]"},
		ann.do(http.MethodPatch, one, `{"ownTags":["a","text"]}`, "If-Match", "*").problem(422).locations())
}

func TestTags(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, root := w.as("Ann"), w.admin()
	list := func(p person, query string) []api.Tag {
		var l api.TagList
		p.get("/api/v1/tags" + query).is(200).into(&l)
		return l.Items
	}
	built := list(ann, "")
	none := 0
	require.Equal(t, api.Tag{
		Tag: "development", DisplayName: "Development", SortOrder: 10,
		Active: true, Prompts: &none,
	}, built[0])

	for _, f := range []func(person) answer{
		func(p person) answer { return p.do(http.MethodPut, "/api/v1/tags/c++", `{"displayName":"C++"}`) },
		func(p person) answer { return p.do(http.MethodDelete, "/api/v1/tags/text", "") },
		func(p person) answer { return p.get("/api/v1/tags?all=true") },
	} {
		f(ann).problem(403)
	}
	w.as("").do(http.MethodPut, "/api/v1/tags/c++", `{"displayName":"C++"}`).problem(401)
	got := root.do(http.MethodPut, "/api/v1/tags/C%2B%2B", `{"displayName":" C++ ","sortOrder":1}`).is(200)
	require.JSONEq(t, `{"tag":"c++","displayName":"C++","sortOrder":1,"active":true}`, got.body)
	require.Equal(t, "c++", list(ann, "")[0].Tag)
	p := ann.create("One", "c++")

	root.do(http.MethodDelete, "/api/v1/tags/c++", "").is(204)
	root.do(http.MethodDelete, "/api/v1/tags/c++", "").is(204)
	root.do(http.MethodDelete, "/api/v1/tags/nosuch", "").problem(404)
	root.do(http.MethodDelete, "/api/v1/tags/-x", "").problem(404)
	require.Equal(t, built, list(ann, ""))
	require.Equal(t, api.Tag{Tag: "c++", DisplayName: "C++", SortOrder: 1, Prompts: &none}, list(root, "?all=true")[0])
	ann.do(http.MethodPatch, prompts+"/"+p.ID, `{"title":"Two"}`, "If-Match", "*").is(200)
	require.Equal(t, []string{"body.tags[0]"},
		ann.do(http.MethodPost, prompts, draft("Three", "c++")).problem(422).locations())
	got = root.do(http.MethodPut, "/api/v1/tags/c++", `{"displayName":"C++","active":false}`).is(200)
	require.Contains(t, got.body, `"active":false`)
}
