package web_test

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/doors/web"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

func TestWriteAndRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, bob := w.as("Ann"), w.as("Bob")
	ann.get("/app").is(200).has("Nobody has shared a prompt yet", `href="/app/import"`)
	ann.get("/app/prompts/new").is(200).has(`name="key"`, "</span> of 200 characters", "</span> of 3000 characters",
		" Development</label>", `value="private" checked`)

	page := ann.write("Review <my> code", "Look at\r\n**this** & `that`.\r\n", "public", "code-review", "development")
	ann.get(page+"?done=created").is(200).has("The prompt is saved.", "Review &lt;my&gt; code", "<strong>this</strong>",
		"Look at\n**this** &amp; `that`.\n</pre>", "Make private", "Delete this prompt", ">Edit<")
	bob.get(page).is(200).has("Review &lt;my&gt; code", ">Ann<").lacks("Make private", "Delete", "Edit")
	bob.get("/app").is(200).has("Look at this &amp; that.", `href="/app?tag=code-review"`, "just now")
	require.Equal(t, []string{"Review <my> code"}, bob.get("/app?q=rev&tag=development,code-review").titles())
	bob.get("/app?q=nothing").is(200).has("No prompt has these words").lacks("New prompt</a></p>")
	bob.get("/app?tag=data").has("No public prompt has all of these tags")
	bob.get("/app?tag=data&q=nothing").has("take a tag away")
	bob.get("/app/votes").has("Browse prompts</a>").lacks("New prompt</a></p>")
	bob.get(page+"?view=source").has(`<div id="rendered" class="reading" hidden>`, `<div id="source" class="reading">`)
}

func TestNobodyIsAskedToSignIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.as("Ann").write("Hers", "text", "public")
	for _, path := range []string{
		"/app", page, "/app/mine", "/app/votes", "/app/prompts/new",
		"/app/admin/tags", "/app/tags",
	} {
		s := w.nobody().get(path).is(401).has("Sign in").lacks("Hers")
		require.Contains(t, s.body, `name="back" value="`+path+`"`)
		require.Empty(t, s.header.Get("WWW-Authenticate"))
	}
	open := newWorld(t, func(c *web.Config) { c.PublicRead = true })
	page = open.as("Ann").write("Hers", "text", "public")
	open.nobody().get("/app").is(200).has("Hers", "Sign in").lacks("data-vote", "My prompts")
	open.nobody().get(page).is(200).has("Hers").lacks("data-vote", `class="score"`)
	open.as("Bob").post(page+"/vote", "value", "like").to("/app")
	open.nobody().get(page).has("<b>1</b> <span>score</span>")
	private := open.as("Ann").write("Private", "text", "private")
	open.as("Ann").get(private).lacks("data-vote", `class="score"`)
	open.nobody().get("/app/mine").is(401)
	open.nobody().post(page+"/vote", "value", "like").is(401)
}

func TestAuthorSearch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	ann.write("A letter", "text", "public", "writing")
	ann.write("A note", "text", "public", "writing", "text")
	ann.write("A letter in secret", "text", "private", "writing")
	author := "/app/u/" + w.service.AuthorKey("Ann")
	bob := w.as("Bob")
	bob.get(author).is(200).has(`id="search"`, `action="`+author+`"`, `href="`+author+`?tag=writing"`)
	require.Equal(t, []string{"A letter"}, bob.get(author+"?q=let").titles())
	require.Equal(t, []string{"A note"}, bob.get(author+"?tag=text").titles())
	bob.get(author+"?tag=text").has("Remove the tag ", `name="tag" value="text" form="search"`)
	bob.get(author + "?tag=text&q=let").has("None of these prompts matches")
	bob.get(author + "?tag=two%20words").is(400)
}

// TestLookForSimilar: an author may ask for similar prompts, and saves all the same.
func TestLookForSimilar(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const text = "I want you to act as a chef who cooks for many guests, and who tells what to buy, in which order to cook it, and what can be done the day before."
	page := w.as("Ann").write("Chef", text, "public")
	w.as("Ann").write("Secret chef", text, "private")
	bob := w.as("Bob")
	ask := func(text string) shown {
		return bob.post("/app/prompts/new", "do", "similar", "title", "Mine", "text", text, "visibility",
			"private").is(200).lacks("Secret chef")
	}
	ask(text+" Please.").has("This exists:", `href="`+page+`"`, `value="Mine"`)
	ask("Something else").has("No similar prompt.")
	mine := bob.write("Mine", text, "public")
	bob.post(mine+"/edit", "do", "similar", "title", "Mine", "text", text, "visibility", "public", "revision",
		"1").is(200).has("This exists:", `href="`+page+`"`)
}

// TestSuggestTags: an author may ask for tags. They stand before the others, each once, and are
// taken by a click.
func TestSuggestTags(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	for i := range 6 {
		ann.write(fmt.Sprint("Soup ", i), "Carrots and lettuce", "public", "health")
		ann.write(fmt.Sprint("Treaty ", i), "Contracts of parties", "public", "legal")
	}
	box := func(tag string) string { return `name="tag" value="` + tag + `"` }
	bob := w.as("Bob")
	bob.get("/app/prompts/new").is(200).has("Suggest tags").lacks("These fit best")
	page := bob.post("/app/prompts/new", "do", "suggest", "title", "Mine", "text", "Read contracts", "visibility",
		"private", "tag", "writing").is(200)
	page.has("These fit best:", `value="Mine"`, box("writing")+" checked", box("legal"))
	before, after, _ := strings.Cut(page.body, "More tags</summary>")
	require.Contains(t, before, box("writing"))
	require.Contains(t, after, box("data"), "neither chosen nor suggested")
	require.Contains(t, before, box("legal"))
	require.Equal(t, 1, strings.Count(page.body, box("legal")))
	bob.post("/app/prompts/new", "do", "suggest", "title", "", "text", "", "visibility", "private").is(200).has(
		"Write a title or a text first.")
	mine := bob.write("Mine", "Read contracts", "private", "legal")
	bob.post(mine+"/edit", "do", "suggest", "title", "Mine", "text", "Read contracts", "visibility", "private",
		"revision", "1", "tag", "legal").
		is(200).has(box("legal") + " checked").lacks("These fit best:")
}

// TestMoreTags: a form shows the tags that its author chose and the first of the catalog. The
// others are in a closed part.
func TestMoreTags(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	parts := func(s shown) (first, more []string) {
		before, after, found := strings.Cut(s.is(200).body, `<details id="more-tags"><summary>More tags</summary>`)
		require.True(t, found)
		after, _, _ = strings.Cut(after, "</details>")
		for i, part := range []string{before, after} {
			for _, m := range regexp.MustCompile(`name="tag" value="([^"]*)"`).FindAllStringSubmatch(part, -1) {
				*[]*[]string{&first, &more}[i] = append(*[]*[]string{&first, &more}[i], m[1])
			}
		}
		return first, more
	}
	first, more := parts(ann.get("/app/prompts/new"))
	require.Len(t, first, 6)
	require.Contains(t, more, "legal")
	page := ann.write("Contract", "Read it.", "private", "legal", "games")
	edited, rest := parts(ann.get(page+"/edit").has(`value="legal" checked`, `value="games" checked`))
	require.Contains(t, edited, "legal")
	require.Contains(t, edited, "games")
	require.ElementsMatch(t, append(first, more...), append(edited, rest...), "each once")
}

func TestFavorite(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *web.Config) { c.PublicRead = true })
	page := w.as("Ann").write("Hers", "text", "public")
	bob := w.as("Bob")
	bob.get(page).has(`value="yes" aria-pressed="false"`, "Public: everyone who has this address may read it")
	bob.get("/app/favorites").has("There is no favorite of yours to show")
	bob.post(page+"/favorite", "favorite", "yes").to(page)
	bob.get(page).has(`value="no" aria-pressed="true"`)
	require.Equal(t, []string{"Hers"}, bob.get("/app/favorites").titles())
	bob.post(page+"/favorite", "favorite", "no").to(page)
	bob.get("/app/favorites").has("There is no favorite of yours to show")
	w.nobody().get(page).is(200).lacks(`id="favorite"`).has(`id="share"`)
	w.nobody().post(page+"/favorite", "favorite", "yes").is(401)
	private := w.as("Ann").write("Private", "text", "private")
	w.as("Ann").get(private).has("Private: only you can read it")
	bob.post(private+"/favorite", "favorite", "yes").is(404)
}

func TestVote(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.as("Ann").write("Votes", "text", "public")
	bob := w.as("Bob")
	list := bob.get("/app").has(`value="like" data-vote="like" aria-label="Like" aria-pressed="false"`)
	back := list.find(`name="back" value="([^"]*)"`)
	require.Equal(t, "/app#p-"+page[len("/app/prompts/"):], back)
	require.Equal(t, back, bob.post(page+"/vote", "value", "like", "back", back).to("/app"))
	bob.get(page).has(`value="none" data-vote="like" aria-label="Like" aria-pressed="true"`, "<b>1</b>",
		`title="1 likes, 0 dislikes"`)
	require.Equal(t, []string{"Votes"}, bob.get("/app/votes?value=like").titles())
	require.Empty(t, bob.get("/app/votes?value=dislike").titles())
	bob.get("/app/votes?value=dislike").has("There is no prompt to show that you disliked.")
	bob.post(page+"/vote", "value", "dislike").to("/app")
	w.as("Ann").get(page).has("<b>−1</b>")
	w.as("Ann").post(page+"/visibility", "to", "private").to(page)
	bob.get("/app/votes").has("There is no prompt to show that you voted on. Those that are private now are left out.")
	w.as("Ann").post(page+"/visibility", "to", "public").to(page)
	bob.post(page+"/vote", "value", "much").is(422)
	bob.post("/app/prompts/nosuch/vote", "value", "like").is(404)
}

func TestVoteOfScript(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.as("Ann").write("Votes", "text", "public")
	vote := func(path, value string) shown {
		r := httptest.NewRequest(http.MethodPost, "http://localhost"+path+"/vote", strings.NewReader("value="+value))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Accept", "application/json")
		return w.as("Bob").send(r)
	}
	require.JSONEq(t, `{"value":"like","likes":1,"dislikes":0}`, vote(page, "like").is(200).body)
	s := vote("/app/prompts/01ARZ3NDEKTSV4RRFFQ69G5FAV", "like").is(404)
	require.Equal(t, "application/problem+json", s.header.Get("Content-Type"))
}

func TestEdit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	page := ann.write("First", "one", "private", "text", "image", "data")
	form := ann.get(page+"/edit").is(200).has(`name="revision" value="1"`, "one</textarea>", `value="image" checked`)
	require.Equal(t, page+"/edit", form.find(`id="write" class="stack" method="post" action="([^"]*)"`))
	ann.post(page+"/edit", "title", "Second", "text", "two", "tag", "data", "tag", "writing", "tag", "text",
		"visibility", "public", "revision", "1").to(page + "?done=saved")
	s := ann.get(page).has("<h1 dir=\"auto\">Second</h1>", "two")
	var order []string
	for _, m := range regexp.MustCompile(`class="tag" href="/app\?tag=([a-z]*)"`).FindAllStringSubmatch(s.body, -1) {
		order = append(order, m[1])
	}
	require.Equal(t, []string{"text", "data", "writing"}, order, "as the author had them, new ones last")
}

func TestEditOfOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.as("Ann").write("Hers", "text", "public")
	hidden := w.as("Ann").write("Secret", "text", "private")
	bob := w.as("Bob")
	bob.get(page + "/edit").is(403).has("Not allowed")
	for _, path := range []string{hidden, hidden + "/edit"} {
		bob.get(path).is(404).has("There is no such prompt.").lacks("Secret")
	}
	for _, form := range []string{"/edit", "/delete", "/visibility", "/restore"} {
		pairs := []string{"title", "x", "text", "x", "visibility", "public", "revision", "1", "to", "private"}
		bob.post(page+form, pairs...).is(403)
		bob.post(hidden+form, pairs...).is(404)
	}
	w.as("Ann").get(page).has("Hers")
}

// Two tabs: what the second one wrote is kept, and shown next to what the first one saved.
func TestTwoTabs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	page := ann.write("Title", "start", "private")
	ann.post(page+"/edit", "title", "Title", "text", "from the first", "visibility",
		"private", "revision", "1").to(page)
	s := ann.post(page+"/edit", "title", "Title", "text", "from the second", "visibility",
		"public", "revision", "1").is(412)
	s.has("saved in another tab", "<h3>Text</h3>", "from the <del>first</del>", "from the <ins>second</ins>",
		"from the second</textarea>", `name="revision" value="2"`, "data-mine=\"from the second\n\"",
		`value="public" checked`, "Save mine over it")
	ann.post(page+"/edit", "title", "Title", "text", "from both", "visibility", "private", "revision", "2").to(page)
	ann.get(page).has("from both")
	ann.post(page+"/edit", "title", "Title", "text", "x", "visibility", "private", "revision", "none").is(400)
}

// TestTwoTabsDiffer: each change of the first tab that the second would undo is shown, as
// nothing else has it afterwards; equal parts are not.
func TestTwoTabsDiffer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	page := ann.write("Title", "The {{same}} text", "private", "code-review")
	name := ann.get(page + "/edit").find(`name="name" value="([^"]*)"`)
	ann.post(page+"/edit", "title", "Title", "text", "The {{same}} text", "visibility", "private", "tag",
		"code-review", "revision", "1",
		"description", "What it is for", "name", "team/other", "vname", "same", "vtype", "text",
		"vlabel", "Which one").to(page)
	old := []string{
		"title", "Title", "text", "The {{same}} text", "visibility", "private", "tag", "code-review",
		"name", name, "revision", "1",
	}
	theirs := ann.post(page+"/edit", old...).is(412).find(`(?s)class="theirs"(.*?)</section>`)
	for _, shown := range []string{"What it is for", "team/other", "Which one"} {
		require.Contains(t, theirs, shown)
	}
	for _, same := range []string{">Title<", ">Text<", ">Tags<", ">Visibility<"} {
		require.NotContains(t, theirs, same)
	}
	chat := []string{
		"title", "Title", "kind", "chat", "role", "user", "content", "Hi", "visibility",
		"public", "name", "team/other",
	}
	ann.post(page+"/edit", append(chat, "revision", "2", "description", "For a chat")...).to(page)
	theirs = ann.post(page+"/edit", old...).is(412).find(`(?s)class="theirs"(.*?)</section>`)
	for _, shown := range []string{"user:\nHi", "For a chat", "public", "<h3>Tags</h3><p class=\"hint\">None"} {
		require.Contains(t, theirs, shown)
	}
	ann.post(page+"/edit", append(chat, "revision", "1", "description", "For a chat")...).is(412).has(
		"It is the same as what you wrote here.")
}

func TestRulesAreToldAtTheirFields(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	s := ann.post("/app/prompts/new", "title", "  ", "text", strings.Repeat("é", 3001), "tag", "nosuch tag",
		"visibility", "all", "key", "k1").is(422)
	s.has(`aria-invalid="true"`, "Give the prompt a title.", "at most 3000 characters, it has 3001", `id="tags-wrong"`,
		"Set the visibility", "3001</span> of 3000", `name="key" value="k1"`)
	ann.post("/app/prompts/new", "title", "t", "text", "x", "tag", "unknown", "visibility", "private").is(422).has("Unknown: is not an active tag of the catalog; take one from the list of tags (the page Tags, GET /tags), or make it a tag of your own.").lacks("/api/v1")
	require.Empty(t, ann.get("/app/mine").titles())
	page := ann.write("Good", "good", "private")
	ann.post(page+"/edit", "title", "", "text", "bad", "visibility", "private", "revision", "1").is(422).has(
		"bad</textarea>", `name="revision" value="1"`)
}

func TestFormSentTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	key := ann.get("/app/prompts/new").find(`name="key" value="([^"]*)"`)
	draft := []string{"title", "Once", "text", "x", "visibility", "private", "key", key}
	first := ann.post("/app/prompts/new", draft...).to("/app/prompts/")
	require.Equal(t, first, ann.post("/app/prompts/new", draft...).to("/app/prompts/"))
	draft[1] = "Another, from the same form"
	require.NotEqual(t, first, ann.post("/app/prompts/new", draft...).to("/app/prompts/"))
	require.Len(t, ann.get("/app/mine").titles(), 2)
}

func TestVisibilityDeleteRestore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, bob := w.as("Ann"), w.as("Bob")
	page := ann.write("Comes and goes", "text", "private")
	bob.get(page).is(404)
	ann.get(page).has("Everyone who may read here can find it")
	ann.post(page+"/visibility", "to", "public").to(page + "?done=public")
	bob.get(page).is(200)
	ann.post(page+"/visibility", "to", "private").to(page + "?done=private")
	bob.get(page).is(404)
	ann.post(page+"/visibility", "to", "nowhere").is(422)

	require.Equal(t, []string{"Comes and goes"}, ann.get("/app/mine?show=private").titles())
	require.Empty(t, ann.get("/app/mine?show=public").titles())
	deleted := "/app/mine?show=deleted&done=deleted&of=" + path.Base(page)
	require.Equal(t, deleted, ann.post(page+"/delete").to("/app/mine"))
	require.Empty(t, ann.get("/app/mine").titles())
	ann.get(page).is(404)
	s := ann.get(deleted).has(`<form method="post" action="`+page+`/restore"><button class="quiet">Undo</button>`,
		"You can restore it here for 30 days.", ">Restore<")
	require.Equal(t, page+"/restore", s.find(`action="([^"]*restore)"`))
	ann.post(page + "/restore").to(page)
	ann.get(page).is(200)
}

// TestTrash shows those first that were deleted last, also to an author of more than can be sorted.
func TestTrash(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	pages := []string{
		ann.write("First", "text", "private"), ann.write("Second", "text", "private"),
		ann.write("Third", "text", "private"),
	}
	for _, i := range []int{1, 2, 0} {
		w.clock.Advance(time.Minute)
		ann.post(pages[i] + "/delete").to("/app/mine")
	}
	require.Equal(t, []string{"First", "Third", "Second"}, ann.get("/app/mine?show=deleted").titles())
}

func TestAdmin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, root := w.as("Ann"), w.admin()
	page := ann.write("Rude", "rude text", "public")
	ann.get(page).lacks("Moderation")
	ann.post(page+"/hide", "reason", "x").is(403)
	ann.get("/app/admin/tags").is(403)
	ann.get("/app/admin/hidden").is(403)
	ann.post("/app/admin/tags", "tag", "x", "name", "X", "order", "1").is(403)

	root.get(page).has("Moderation", `action="`+page+`/hide"`)
	root.post(page+"/hide", "reason", "").is(422).has("must be 1 to 500 characters")
	root.post(page+"/hide", "reason", "It is <rude>.").to("/app/admin/hidden")
	w.as("Bob").get(page).is(404)
	ann.get(page).is(200).has("It is &lt;rude&gt;.")
	ann.get("/app/mine").has("hidden this prompt", "It is &lt;rude&gt;.")
	ann.get(page).has("Only you can read it, as a moderator has hidden it.", "also when it is shown again").lacks(
		"Make it public to share it", "Takes it out of every list")
	ann.post(page+"/visibility", "to", "private").to(page + "?done=private")
	ann.get(page).has("still only you see it until it is shown again").lacks("Everyone who may read here can find it")
	ann.get(ann.post(page+"/visibility", "to", "public").to(page)).has(
		"The prompt is public now, but a moderator has hidden it")
	root.get(page).is(404)
	root.get("/app/admin/hidden").has("Rude", "It is &lt;rude&gt;.", page+"/unhide")
	root.post(page + "/unhide").to(page)
	w.as("Bob").get(page).is(200)
	root.get("/app/admin/hidden").has("No prompt is hidden.")

	root.post("/app/admin/tags", "tag", "Poems", "name", "Poems & songs", "order", "5",
		"active", "1").to("/app/admin/tags")
	form := root.get("/app/admin/tags").has(`value="Poems &amp; songs"`, `aria-label="Name of poems"`)
	ann.get("/app/tags").has(`href="/app?tag=poems"`)
	require.Equal(t, 1, strings.Count(form.body, ">Save changes<"))
	all := []string{"do", "all"}
	for _, m := range regexp.MustCompile(`name="tag" value="([^"]*)">\s*<input type="hidden" name="was" value="([^"]*)">\s*<p[^>]*>.*\s*<p><input name="name" value="([^"]*)".*\s*<p><input name="order" type="number" min="0" max="1000000" value="([^"]*)"`).FindAllStringSubmatch(form.body, -1) {
		all = append(all, "tag", m[1], "was", html.UnescapeString(m[2]), "name",
			html.UnescapeString(m[3]), "order", m[4])
		if m[1] != "poems" {
			all = append(all, "active", m[1])
		}
	}
	require.Len(t, all, 2+33*8+32*2, "32 tags and the new one")
	before := w.store.calls.Load()
	root.post("/app/admin/tags", all...).to("/app/admin/tags?done=tags")
	require.LessOrEqual(t, w.store.calls.Load()-before, int64(4), "only what differs is written")
	ann.get("/app/tags").lacks(">Poems")
	ann.get("/app").lacks(">Poems")
	all[7] = " "
	root.post("/app/admin/tags", append(all, "active", "poems")...).is(422).has(
		"Poems: Must be 1 to 60", `value="poems" checked`)
	ann.get("/app/tags").lacks(">Poems")
	for _, bad := range [][]string{
		{"tag", "two words", "name", "x", "order", "1"},
		{"tag", "x", "name", "", "order", "1"},
		{"tag", "x", "name", "x", "order", "-1"},
		{"tag", "x", "name", "x", "order", "many"},
	} {
		root.post("/app/admin/tags", bad...).is(422).has(`role="alert"`)
	}
}

// TestFirstPage: a stranger reads what this is, until they look for something; a library without
// prompts offers nothing to narrow down.
func TestFirstPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *web.Config) { c.PublicRead = true })
	const hello = "The prompts of your team"
	w.nobody().get("/app").is(200).has(hello, "Nobody has shared a prompt yet.", `href="/app/signin"`).lacks(
		"Most liked", "All tags", `class="rail"`)
	w.as("Ann").get("/app").has("Begin with 30 example prompts").lacks(hello, "Most liked")
	w.as("Ann").write("One", "Text.", "public", "writing")
	w.nobody().get("/app").has(hello, "Most liked", `class="rail"`, `<p id="place" data-from="1">1 prompt</p>`)
	for _, path := range []string{"/app?q=one", "/app?tag=writing"} {
		w.nobody().get(path).is(200).has("Most liked").lacks(hello)
	}
	w.nobody().get("/app?q=absent").is(200).has("No prompt has these words").lacks(hello, "Most liked")
	w = newWorld(t, func(c *web.Config) { c.PublicRead, c.SignIn = true, web.Nowhere })
	w.nobody().get("/app").has("Nobody has shared a prompt yet.").lacks("Sign in")
}

// TestListSaysItsPlace: a list says which of its prompts are shown, and of how many where that is
// counted; a tag that most prompts have is on no card, nor the usual kind.
func TestListSaysItsPlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	for i := range 25 {
		tags := []string{"text"}
		if i%5 == 0 {
			tags = append(tags, "writing")
		}
		ann.write(fmt.Sprintf("Number %d", i), "Text.", "public", tags...)
	}
	place := func(s shown) string {
		return regexp.MustCompile(`<p id="place"[^>]*>([^<]*)<`).FindStringSubmatch(s.body)[1]
	}
	next := func(s shown) shown {
		return ann.get(html.UnescapeString(
			regexp.MustCompile(`rel="next" href="([^"]+)"`).FindStringSubmatch(s.body)[1]))
	}
	first := ann.get("/app").has(`href="/app?tag=writing" data-tag`).lacks(`href="/app?tag=text" data-tag`)
	require.Equal(t, "1–20", place(first), "nothing is counted yet")
	require.Equal(t, "21–25 of 25", place(next(first)))
	require.Equal(t, "21–25 of 25", place(next(ann.get("/app/mine"))))
	require.Equal(t, "5 prompts", place(ann.get("/app?tag=writing")))
	_, err := w.db.CountTags(t.Context())
	require.NoError(t, err)
	w.clock.Advance(time.Minute)
	first = ann.get("/app").has(`href="/app?tag=text" data-live rel="nofollow">Text</a> <small>25</small>`,
		`dir="auto">Ann</a> <small>25</small>`, `href="/app?tag=writing" data-tag`)
	first.lacks(`href="/app?tag=text" data-tag`)
	require.Equal(t, "1–20 of 25", place(first))
	require.Equal(t, "1–20 of 25", place(ann.get("/app?tag=text&sort=hot")))
	require.Equal(t, "1–20", place(ann.get("/app?q=number").lacks("<small>5</small>")), "words narrow it down")
	ann.get("/app?before=x&cursor=x").is(400)
	require.Equal(t, "1–20 of 25", place(ann.get("/app?before=100")))
}

// TestAdminsSeeEverybody: admins page through users and access tokens, and revoke one of anybody's;
// no other user does.
func TestAdminsSeeEverybody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	root := w.admin()
	for i := range 21 {
		p := w.as(fmt.Sprintf("Author %02d", i))
		p.write("Of an author", "Text.", "private")
		p.post("/app/me/tokens", "name", fmt.Sprintf("Token %02d", i), "scope", "read", "days", "7").is(200)
	}
	w.as("Author 00").post("/app/me", "handle", "first", "name", "The <first>").to("/app/me?done=profile")
	for _, path := range []string{"/app/admin", "/app/admin/status", "/app/admin/users", "/app/admin/tokens"} {
		w.as("Author 00").get(path).is(403)
		w.nobody().get(path).is(401)
	}
	seen := map[string]int{}
	for _, path := range []string{"/app/admin/users", "/app/admin/tokens"} {
		page := root.get(path).is(200)
		next := regexp.MustCompile(`rel="next" href="([^"]+)"`).FindStringSubmatch(page.body)
		require.NotNil(t, next, path)
		rest := root.get(html.UnescapeString(next[1])).is(200).has("Back to the first").lacks(`rel="next"`)
		for _, m := range regexp.MustCompile(`>(Author \d\d|Token \d\d|The &lt;first&gt;)<`).FindAllStringSubmatch(
			page.body+rest.body, -1) {
			seen[m[1]]++
		}
		root.get(path + "?cursor=x").is(400)
	}
	require.Len(t, seen, 43, "21 users, one of whom has another name in the list of tokens, and 21 tokens")
	require.Equal(t, 1, seen["The &lt;first&gt;"])
	require.Equal(t, 1, seen["Author 00"], "as the token calls them")
	require.Equal(t, 2, seen["Author 20"])
	root.get("/app/admin/users?handle=%40first").to("/app/u/first")
	root.get("/app/u/first/tokens").has("Token 00")
	revoke := regexp.MustCompile(`/app/admin/tokens/[^/"]+/revoke`).FindString(root.get("/app/admin/tokens").body)
	w.as("Author 00").post(revoke).is(403)
	root.post(revoke).to("/app/admin/tokens?done=revoked")
	root.post(revoke).is(404)
	root.get("/app/admin").has("Nothing is counted yet.")
	w.facts = []web.Fact{
		{Name: "Queue jobs", Value: "0 waiting, 2 set aside", Alert: "Read the <log>."},
		{Name: "File", Value: "1.0 MB"},
	}
	root.get("/app/admin/status").is(200).has("2 set aside").has("<b>To do:</b> Read the &lt;log&gt;.").has("1.0 MB")
}

// TestTwoAdmins: a form of the tag catalog changes what its admin changed, and nothing that another
// did meanwhile; and a new tag is not one that there is.
func TestTwoAdmins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("Ann").write("Has a tag", "text", "public", "data")
	root := w.admin()
	was := func(s shown, tag string) string {
		return html.UnescapeString(s.find(`name="tag" value="` + tag +
			`">\s*<input type="hidden" name="was" value="([^"]*)"`))
	}
	rows := func(s shown, music, data, text string) shown { // all three are switched on
		all := []string{"do", "all", "active", "music", "active", "data", "active", "text"}
		for _, row := range [][3]string{{"music", music, "70"}, {"data", data, "80"}, {"text", text, "90"}} {
			all = append(all, "tag", row[0], "was", was(s, row[0]), "name", row[1], "order", row[2])
		}
		return root.post("/app/admin/tags", all...)
	}
	for _, tag := range []string{"music", "data", "text"} {
		require.NoError(t, w.db.PutTag(t.Context(),
			prompt.TagInfo{
				Tag: prompt.Tag(tag), DisplayName: tag,
				SortOrder: map[string]int32{"music": 70, "data": 80, "text": 90}[tag], Active: true,
			}))
	}
	page := root.get("/app/admin/tags")
	before := w.store.calls.Load()
	rows(page, "music", "data", "text").to("/app/admin/tags?done=tags")
	require.LessOrEqual(t, w.store.calls.Load()-before, int64(2),
		"nothing is written, though a public prompt has one of them")
	rows(page, "Songs", "data", "text").to("/app/admin/tags?done=tags") // the first admin
	rows(page, "music", "data", "Words").to("/app/admin/tags?done=tags")
	root.get("/app/admin/tags").has(`value="Songs"`, `value="Words"`)

	again := rows(page, "Tunes", "Numbers", "text").is(412).has(
		"Somebody else changed music meanwhile: it is &#34;Songs&#34;, at place 70, on now.", `value="Tunes"`,
		`value="Numbers"`, `value="Words"`)
	root.get("/app/admin/tags").has(`value="Songs"`, `value="Numbers"`, `value="Words"`)
	rows(again, "Tunes", "Numbers", "Words").to("/app/admin/tags?done=tags")
	root.get("/app/admin/tags").has(`value="Tunes"`, `value="Numbers"`, `value="Words"`)

	root.post("/app/admin/tags", "tag", "Music", "name", "Mine", "order", "5").is(422).has(
		"There is such a tag already.", `maxlength="40" pattern="[a-zA-Z0-9][-a-zA-Z0-9.+]*" value="music"`,
		`value="Mine"`, `value="5"`, `value="Tunes"`)
	root.get("/app/admin/tags").has(`value="Tunes"`).lacks(`value="Mine"`)
}

// TestSearchInTexts shows where a word stands that no title has, and leaves texts out where one
// wants that.
func TestSearchInTexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	page := ann.write("Sewing", strings.Repeat("Thread after thread. ", 20)+"A **<needle>** in `the` haystack.",
		"public", "data")
	_, err := w.db.Reindex(t.Context(), false, func(promptdb.Difference) {}, func(int) {}) // as its job would
	require.NoError(t, err)
	found := ann.get("/app?q=needle").is(200).has("Sewing", "in the text",
		"A &lt;<mark>needle</mark>&gt; in the haystack.", "Search titles and texts",
		`href="/app?in=title&amp;q=needle"`)
	require.Len(t, found.titles(), 1)
	ann.get("/app?q=sew").is(200).has("<mark>Sewing</mark>").lacks("in the text")
	found.has(`<li class="filter"><a class="switch" href="/app?in=title`).lacks(`data-live>Titles only`)
	ann.get("/app?q=needle&in=title").is(200).has("No prompt has these words in its title. ",
		`These have some of them: `, `name="in" value="title"`,
		`<li class="filter"><a class="switch on" href="/app?q=needle"`)
	ann.get("/app").lacks("Titles only")
	for _, own := range []string{"/app/mine?q=needle", found.find(`class="author" href="([^"]*)"`) + "?q=needle"} {
		ann.get(own).is(200).has("Sewing", "in the text", `placeholder="Search titles and texts"`)
	}
	ann.post(page+"/favorite", "favorite", "yes").to(page)
	ann.get("/app/favorites?q=needle").is(200).has("Sewing", "A &lt;<mark>needle</mark>&gt; in the haystack.")
	ann.get("/app/favorites?q=absent").is(200).has("None of your favorites matches.").lacks("Sewing")
}

// TestRailOfASearch: next to prompts that words found stand the tags and authors of these prompts
// alone, as others would lead to nothing. Next to those with a tag stand all tags: each takes its
// place.
func TestRailOfASearch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, bob := w.as("Ann"), w.as("Bob")
	ann.write("Linux terminal", "A shell.", "public", "data", "devops")
	bob.write("Love poem", "Roses.", "public", "creative", "writing")
	_, err := w.db.CountTags(t.Context())
	require.NoError(t, err)
	w.clock.Advance(time.Minute)
	rail := func(path string) []string {
		s := ann.get(path).is(200)
		var all []string
		for _, m := range regexp.MustCompile(`<li><a [^>]*>([^<]*)<`).FindAllStringSubmatch(
			s.find(`(?s)(<nav class="rail".*?</nav>)`), -1) {
			all = append(all, strings.TrimSpace(m[1]))
		}
		return all
	}
	require.Equal(t, []string{"Writing", "Data", "DevOps", "Creative", "All tags", "Ann", "Bob"}, rail("/app"))
	require.Equal(t, []string{"Data", "DevOps", "All tags", "Ann"}, rail("/app?q=terminal"))
	require.Equal(t, []string{"Writing", "Data", "DevOps", "Creative", "All tags", "Bob"},
		rail("/app?tag=creative"), "tags stay where they are")
	ann.get("/app?tag=creative").has(`<li><a href="/app?tag=data" data-live rel="nofollow">Data</a>`,
		`<li><a href="/app" data-live rel="nofollow" aria-current="true">Creative`,
		`href="/app?tag=creative%2Cwriting" data-live rel="nofollow"><span aria-hidden="true">+</span><span class="unseen">Add the tag</span> Writing`)
}

// TestSearchWithASlip says which words were searched for, and offers those that were typed.
func TestSearchWithASlip(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	ann.write("Linux terminal", "A shell.", "public", "data")
	_, err := w.db.CountTags(t.Context())
	require.NoError(t, err)
	ann.get("/app?q=linux+terminl").is(200).has(
		`Showing results for <b dir="auto">terminal</b> in place of <span dir="auto">terminl</span>.`, "Linux terminal",
		`href="/app?q=linux&#43;terminl&amp;verbatim=1"`)
	ann.get("/app?q=make+a+linux+terminal").is(200).has("Linux terminal")
	ann.get("/app?q=terminl&verbatim=1").is(200).has("No prompt has these words").lacks("Showing results for")
	ann.get("/app?q=linux+terminal").is(200).has("<mark>Linux</mark> <mark>terminal</mark>").lacks(
		"Showing results for")
	ann.get("/app?q=linux+terminals").is(200).has("<mark>Linux</mark> <mark>terminal</mark>").lacks(
		"Showing results for")
	ann.get(`/app?q=%22linux%22+terminl+tag:data`).is(200).has(
		`Showing results for <b dir="auto">terminal</b> in place of <span dir="auto">terminl</span>.`,
		"<mark>Linux</mark> <mark>terminal</mark>",
		`href="/app?q=%22linux%22&#43;terminl&#43;tag%3Adata&amp;verbatim=1"`)
	ann.get(`/app?q=linux+%22terminl%22`).is(200).has("Take something away.").lacks("Showing results for")
}

func TestPaging(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	for i := range 45 {
		ann.write("Number "+strings.Repeat("i", i+1), "text", "public", "data")
	}
	var all []string
	path := "/app?q=number&tag=data"
	for pages := 1; ; pages++ {
		s := ann.get(path).is(200)
		all = append(all, s.titles()...)
		next := regexp.MustCompile(`rel="next" href="([^"]*)"`).FindStringSubmatch(s.body)
		if next == nil {
			require.Equal(t, 3, pages)
			break
		}
		path = strings.ReplaceAll(next[1], "&amp;", "&")
		u, err := url.Parse(path)
		require.NoError(t, err)
		require.Equal(t, "number", u.Query().Get("q"))
		require.Equal(t, "data", u.Query().Get("tag"))
		part := ann.get(path+"&part=results").is(200).has(`<div id="results"`).lacks("<html", "part=")
		require.NotEmpty(t, part.titles())
	}
	require.Len(t, all, 45)
	require.Equal(t, "Number i", all[44])
	last := ann.get(path).has("Back to the first prompts")
	last.has(`href="/app?q=number&amp;tag=data" data-live>Back`)
}

// What the address of a list says wrong is told in the list, and the list stays usable.
func TestWrongAddresses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	for path, text := range map[string]string{
		"/app?cursor=damaged":                       "This address does not belong to this list any more.",
		"/app?q=" + strings.Repeat("x", 201):        "shorten the query",
		"/app?q=" + strings.Repeat("a+", 25):        "at most 20 words",
		"/app?tag=two%20words":                      "a tag has 1 to 40",
		"/app?tag=a,b,c,d,e,f,g,h,i,j,k":            "no prompt has so many tags",
		"/app/mine?cursor=damaged":                  "does not belong",
		"/app/votes?cursor=damaged":                 "does not belong",
		"/app?part=results&cursor=damaged":          "does not belong",
		"/app/mine?show=deleted&q=%01&part=results": "control characters",
	} {
		s := ann.get(path).is(400)
		require.Contains(t, strings.ToLower(s.body), strings.ToLower(text), path)
	}
	w.admin().get("/app/admin/hidden?cursor=damaged").is(400).has("does not belong")
	ann.get("/app/nosuch").is(404).has("There is no such page.", "All prompts")
	ann.get("/app/prompts/nosuch").is(404)
	require.Equal(t, "/app", ann.get("/app/").is(301).location)
	ann.get("/app?%zz").is(200) // text like other text, as under the host
}

func TestStorageAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	page := ann.write("Safe", "text", "public")
	w.store.fail(http.ErrHandlerTimeout)
	for _, path := range []string{"/app", page, "/app/mine", "/app/votes"} {
		s := ann.get(path).is(503).has("Just a moment", "try again").lacks("handler", "Timeout")
		require.NotEmpty(t, s.header.Get("Retry-After"))
	}
	w.clock.Advance(time.Hour)
	ann.post("/app/prompts/new", "title", "t", "text", "x", "visibility", "private").is(503).has("Nothing was lost",
		"go back with your browser").lacks(`href="/app/prompts/new">Back`)
}

// TestInvisibleCharactersAreTold: the page of a prompt says that its text has characters that
// cannot be seen, and a form that such a title is refused.
func TestInvisibleCharactersAreTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	page := ann.write("Sum up", "Sum up.\U000e0049\U000e0067", "public")
	w.as("Bob").get(page).has("This text has 2 characters that cannot be seen", `data-is="U+E0049 U+E0067"`)
	plain := ann.write("Plain", "A family 👩\u200d👧.", "public")
	w.as("Bob").get(plain).lacks("cannot be seen").lacks("data-is")
	ann.post("/app/prompts/new", "title", "\u202etxt.exe", "text", "x", "visibility", "private").is(422).has(
		"Remove the characters that no reader sees")
}
