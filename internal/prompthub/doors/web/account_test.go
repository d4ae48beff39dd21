package web_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/doors/web"
)

func TestProfileAndAuthor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, bob := w.as("Ann"), w.as("Bob")
	page := ann.write("Shared", "text", "public")
	ann.write("Secret", "text", "private")
	key := "/app/u/" + w.service.AuthorKey("Ann")
	bob.get(page).has(`<a class="author" href="` + key + `"`)
	bob.get("/app").has(`<a class="author" href="` + key + `"`)
	require.Equal(t, []string{"Shared"},
		bob.get(key).is(200).has("<h1 dir=\"auto\">Ann</h1>").lacks("Change your profile", ">Ann<a").titles())

	ann.get("/app/me").is(200).has(`name="name" value="Ann"`, `name="handle" value="ann"`, `href="/app/u/ann"`,
		"Yours was made of your name")
	ann.post("/app/me", "name", "Ann", "handle", "Not One", "about", strings.Repeat("x", 1001)).is(422).has(
		`id="handle-wrong"`, `id="about-wrong"`, `value="Not One"`)
	ann.post("/app/me", "name", "Ann <B>", "handle", "ann-b", "about",
		"Writes\r\n<prompts>.").to("/app/me?done=profile")
	ann.get("/app/me").has("<code>ann-b</code>", `href="/app/u/ann-b"`, "Writes\n&lt;prompts&gt;.</textarea>")
	for _, path := range []string{key, "/app/u/ann-b", "/app/u/ann"} {
		require.Equal(t, []string{"Shared"},
			bob.get(path).is(200).has("Ann &lt;B&gt;", "<code>ann-b</code>", "Writes\n&lt;prompts&gt;.").titles())
	}
	ann.get("/app/u/ann-b").has("Change your profile").lacks("Secret")
	require.Equal(t, "/app/me", ann.get("/app/u/me").to("/app/me"))
	bob.post("/app/me", "handle", "ann-b").is(422).has("somebody has this one")
	ann.post("/app/me", "handle", "other").is(422).has("a handle is chosen once")
	ann.post("/app/me", "name", strings.Repeat("x", 101)).is(422).has(`id="name-wrong"`, "<code>ann-b</code>")
	ann.post("/app/me", "name", "Ann").to("/app/me")
	ann.get("/app/me").has("<code>ann-b</code>").lacks(`id="handle"`)
	bob.post("/app/me", "name", "Bob", "about", "Reads.").to("/app/me")
	bob.post("/app/me", "handle", "bob-r").to("/app/me")
	bob.get("/app/me").has("<code>bob-r</code>", `value="Bob"`, "Reads.</textarea>")
	ann.get("/app/u/ann-b").is(200)

	for _, path := range []string{
		"/app/u/nosuch", "/app/u/Ann", "/app/u/a_x", "/app/u/%2e%2e",
		"/app/u/" + strings.Repeat("x", 300),
	} {
		require.Contains(t, []int{301, 307, 404}, bob.get(path).status, path)
	}
	zoe, hers := w.as("Zoe"), "/app/u/"+w.service.AuthorKey("Zoe")
	zoe.get(hers).is(404)
	zoe.get("/app/me").is(200).has("once there is something saved here").lacks(hers)
	zoe.post("/app/me", "name", "Zoe").to("/app/me")
	zoe.get("/app/me").is(200).has(`href="` + hers + `"`)
	zoe.get(hers).is(200)

	bob.get(key + "?cursor=damaged").is(400).has("does not belong")
	w.nobody().get(key).is(401).lacks("Shared")
	w.nobody().get("/app/me").is(401)
	require.Equal(t, []string{"Shared"}, bob.get(key+"?part=results").titles())
}

func TestTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	ann.get("/app/me/tokens").is(200).has("No access tokens yet.", `value="read" checked`,
		`<option value="90" selected>`)
	made := ann.post("/app/me/tokens", "name", "My <editor>", "scope", "read", "scope", "write", "days", "30").is(200)
	token := made.find(`<code id="token">(ph_[^<]*)</code>`)
	require.Equal(t, "no-store", made.header.Get("Cache-Control"))
	list := ann.get("/app/me/tokens").has("My &lt;editor&gt;",
		`<span class="badge">read</span> <span class="badge">write</span>`, "not used yet", "3 April 2026").lacks(token)
	revoke := list.find(`action="(/app/me/tokens/[^"]*/revoke)"`)

	w.config.Identify = w.service.WithTokens(w.config.Identify, true, w.config.Admission.Guess)
	pages := web.New(w.config)
	bearer := func() int {
		r := httptest.NewRequest(http.MethodGet, "http://localhost:7071/app/mine", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		rec := httptest.NewRecorder()
		pages.ServeHTTP(rec, r)
		return rec.Code
	}
	require.Equal(t, 200, bearer())
	w.as("Bob").get("/app/me/tokens").lacks("editor&gt;")
	w.as("Bob").post(revoke).is(404)
	ann.post(revoke).to("/app/me/tokens?done=revoked")
	w.clock.Advance(10 * time.Second)
	require.Equal(t, 401, bearer())
	ann.get("/app/me/tokens").has("No access tokens yet.")
	ann.post(revoke).is(404)

	ann.post("/app/me/tokens", "name", "", "days", "400").is(422).has(`id="name-wrong"`,
		"at least one scope", "within the next 366 days")
	ann.post("/app/me/tokens", "name", "x", "scope", "admin", "days", "x").is(422).has(
		"Must be one of read, write, publish", `value="x"`)
	w.nobody().post("/app/me/tokens", "name", "x", "scope", "read", "days", "7").is(401)
	ann.post("/app/me/tokens", "name", "Old", "scope", "read", "days", "7").is(200)
	w.clock.Advance(8 * 24 * time.Hour)
	ann.get("/app/me/tokens").has(">expired<")
}

// TestTokensOfOthers: admins see the access tokens of anybody and revoke them; no other user does.
func TestTokensOfOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, root := w.as("Ann"), w.admin()
	ann.write("Shared", "text", "public")
	token := ann.post("/app/me/tokens", "name", "My editor", "scope", "read", "days", "30").is(200).find(
		`<code id="token">(ph_[^<]*)</code>`)
	author := "/app/u/" + w.service.AuthorKey("Ann")
	require.Equal(t, author+"/tokens", root.get(author).is(200).find(`<a href="([^"]*)">Access tokens of this user`))
	list := root.get(author+"/tokens").is(200).has("Access tokens of <span dir=\"auto\">Ann", "My editor",
		"not used yet").lacks(token, "New token")
	revoke := list.find(`action="([^"]*/revoke)"`)
	for _, p := range []person{ann, w.as("Bob")} {
		p.get(author).lacks(author + "/tokens")
		p.get(author + "/tokens").is(403).lacks("editor")
		p.post(revoke).is(403)
	}
	ann.get("/app/me/tokens").has("My editor")
	root.post(revoke).to(author + "/tokens?done=revoked")
	root.get(author + "/tokens").is(200).has("No access tokens yet.")
	root.post(revoke).is(404)
	ann.get("/app/me/tokens").has("No access tokens yet.")
	root.get("/app/u/nosuch/tokens").is(404)
	w.nobody().get(author + "/tokens").is(401)
}

// TestMovedUser: a user who was moved finds everything under the new sign-in; under the old one a
// page says what happened, and lets him sign out.
func TestMovedUser(t *testing.T) {
	w := newWorld(t)
	page := w.as("ann").write("Ann's", "text", "private")
	_, err := w.db.MoveUser(t.Context(), "ann", "anna")
	require.NoError(t, err)
	w.clock.Advance(time.Minute)
	w.as("anna").get(page).is(http.StatusOK).has("Ann&#39;s")
	w.as("ann").get(page).is(http.StatusForbidden).has("moved this account to another sign-in",
		"/app/signout").lacks("Ann&#39;s")
	w.as("ann").post("/app/prompts/new", "title", "T", "text", "x", "visibility", "private").is(http.StatusForbidden)
	w.as("ann").post("/app/signout").is(http.StatusSeeOther)
}
