package web_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/doors/web"
	"prompthub/internal/prompthub/prompt"
)

// TestCollections: a person makes a collection, puts skills into it, moves and removes them,
// without the script; others see what they may.
func TestCollections(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, bob := w.as("Ann"), w.as("Bob")
	first, second := ann.write("First <b>", "One.", "public"), ann.write("Second", "Two.", "private")
	ann.get("/app/mine").has(`href="/app/c/me"`)
	ann.get("/app/c/me").is(200).has("There is no collection yet.", `action="/app/c/ann"`, `value="public"`)
	ann.post("/app/c/me", "name", "").is(422).has(`id="slug-wrong"`)
	ann.post("/app/c/me", "name", "Help <i>", "slug", "Not One").is(422).has(`id="slug-wrong"`,
		`value="Help &lt;i&gt;"`, `value="Not One"`)
	at := ann.post("/app/c/me", "name", "Help <i>", "about", "For\r\nus", "visibility", "public").to(
		"/app/c/ann/help-i?done=collection")
	ann.get(at).is(200).has("The collection is there.", "Help &lt;i&gt;", "For\nus",
		"There is no skill in it yet.", "0 of 8,000 characters")
	ann.post("/app/c/me", "name", "Help i").is(409).has("Choose a name that no other collection of the owner has")

	// by the page of a prompt
	ann.get(first).has(`href="` + first + `/collect"`)
	ann.get(first).has("of 8,000 characters")
	ann.get(first+"/collect").is(200).has(`action="/app/c/ann/help-i"`,
		"Add to Help &lt;i&gt;", `href="/app/c/ann?add=`)
	id := first[strings.LastIndex(first, "/")+1:]
	ann.post("/app/c/ann/help-i", "do", "add", "prompt", id).to("/app/c/ann/help-i?done=collected")
	ann.get(first + "/collect").has("is in it")
	// by its name, and the address of its page
	ann.post("/app/c/ann/help-i", "do", "add", "prompt", "second").to("/app/c/ann/help-i")
	ann.post("/app/c/ann/help-i", "do", "add", "prompt", "http://localhost"+second).to("/app/c/ann/help-i")
	page := ann.get("/app/c/ann/help-i").is(200).has("First &lt;b&gt;", "Second", "Move Second up",
		"Move First &lt;b&gt; down", "version 3")
	page.lacks("Move First &lt;b&gt; up", "Move Second down")
	require.Less(t, strings.Index(page.body, "First &lt;b&gt;"), strings.Index(page.body, ">Second<"))
	ann.post("/app/c/ann/help-i", "do", "add", "prompt", "no-such").is(422).has("There is no such prompt.")

	seen := bob.get("/app/c/ann/help-i").is(200).has("First &lt;b&gt;")
	seen.lacks("Second", "Remove", "Add a skill", "Save")
	bob.get("/app/u/ann").has(`href="/app/c/ann/help-i"`)
	bob.get("/app/c/ann").has(`href="/app/c/ann/help-i"`).lacks("New collection")
	bob.post("/app/c/ann", "name", "Mine").is(403)
	for _, do := range []string{"add", "remove", "up", "save", "delete"} {
		bob.post("/app/c/ann/help-i", "do", do, "id", id, "prompt", id, "name", "x", "version", "3").is(403)
	}

	last := second[strings.LastIndex(second, "/")+1:]
	ann.post("/app/c/ann/help-i", "do", "up", "id", last).to("/app/c/ann/help-i?done=collection-saved")
	page = ann.get("/app/c/ann/help-i")
	require.Greater(t, strings.Index(page.body, "First &lt;b&gt;"), strings.Index(page.body, ">Second<"))
	for _, do := range []string{"up", "remove", "remove"} {
		ann.post("/app/c/ann/help-i", "do", do, "id", last).to("/app/c/ann/help-i")
	}
	ann.get("/app/c/ann/help-i").lacks(">Second<")
	ann.post("/app/c/ann/help-i", "do", "else").is(422)

	ann.post("/app/c/ann/help-i", "do", "save", "name", "Help", "visibility", "private", "version",
		"1").is(422).has("was changed since")
	version := ann.get("/app/c/ann/help-i").find(`name="version" value="(\d+)"`)
	ann.post("/app/c/ann/help-i", "do", "save", "name", strings.Repeat("x", 101), "version",
		version).is(422).has(`id="name-wrong"`)
	ann.post("/app/c/ann/help-i", "do", "save", "name", "Help", "visibility", "private", "version",
		version).to("/app/c/ann/help-i?done=collection-saved")
	bob.get("/app/c/ann/help-i").is(404)
	bob.get("/app/c/ann").is(200).has("There is no public collection here.").lacks("Help")
	w.nobody().get("/app/c/ann").is(401)
	ann.post("/app/c/ann/help-i", "do", "delete").to("/app/c/ann?done=collection-deleted")
	ann.get("/app/c/ann/help-i").is(404)
	ann.get("/app/c/nosuch").is(404)
	ann.post("/app/c/ann", "name", "With one", "add", id).to("/app/c/ann/with-one")
	ann.get("/app/c/ann/with-one").has("First &lt;b&gt;")
}

// TestCollectionsOfAWorkspace: its members see its collections, and change them as their roles let
// them; the others do not.
func TestCollectionsOfAWorkspace(t *testing.T) {
	t.Parallel()
	b := newBilling(t)
	page := b.put(b.art, "Dunning", "Pay now.", "private")
	b.root.get("/app/w/billing").has(`href="/app/c/billing"`)
	b.art.get("/app/c/billing").is(200).has("New collection", `aria-current="page">Collections`).lacks(`value="public"`)
	b.art.post("/app/c/billing", "name", "Team").to("/app/c/billing/team")
	b.art.get(page + "/collect").has(`action="/app/c/billing/team"`)
	b.art.post("/app/c/billing/team", "do", "add", "prompt", page).to("/app/c/billing/team?done=collected")
	b.rea.get("/app/c/billing/team").is(200).has("Dunning").lacks("Remove", "Save")
	b.rea.get("/app/c/billing").is(200).lacks("New collection")
	b.rea.post("/app/c/billing/team", "do", "remove", "id", page[strings.LastIndex(page, "/")+1:]).is(403)
	b.art.get("/app/c/billing/team").has("Add a skill").lacks("Delete the collection")
	b.art.post("/app/c/billing/team", "do", "delete").is(403)
	b.out.get("/app/c/billing/team").is(404)
	b.out.get("/app/c/billing").is(404)
	version := b.pam.get("/app/c/billing/team").is(200).find(`name="version" value="(\d+)"`)
	b.pam.post("/app/c/billing/team", "do", "save", "name", "Team", "visibility", "public", "version",
		version).to("/app/c/billing/team")
	b.art.get("/app/c/billing/team").lacks("Add a skill")
	b.out.get("/app/c/billing/team").is(200).has("There is nothing in it that you may read.").lacks("Dunning")
	b.root.get("/app/w/billing/events").has("made the collection", "changed the collection")
	b.root.post("/app/w/billing/delete", "handle", "billing").has("public prompts or collections")
}

// TestMovesAmongWhatIsSeen: a skill changes places with the one that the reader sees next to it,
// also where an unseen one is between them.
func TestMovesAmongWhatIsSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *web.Config) { c.Public, c.PublicRead = "https://prompts.example.com", true })
	ann, bob := w.as("Ann"), w.as("Bob")
	first, hers, last := ann.write("First", "One.", "public"), bob.write("Hers", "Two.", "public"),
		ann.write("Last", "Three.", "public")
	ann.post("/app/c/me", "name", "All", "visibility", "public").to("/app/c/ann/all")
	for _, page := range []string{first, hers, last} {
		ann.post("/app/c/ann/all", "do", "add", "prompt", page).to("/app/c/ann/all")
	}
	bob.post(hers+"/visibility", "to", "private").to(hers)
	order := func() string {
		page := ann.get("/app/c/ann/all").is(200).main()
		if strings.Index(page, ">Last<") < strings.Index(page, ">First<") {
			return "last first"
		}
		return "first last"
	}
	require.Equal(t, "first last", order())
	ann.get("/app/c/ann/all").lacks("Hers")
	ann.post("/app/c/ann/all", "do", "up", "id", last[strings.LastIndex(last, "/")+1:]).to("/app/c/ann/all")
	require.Equal(t, "last first", order())
	hidden := "1 skill is not shown now"
	ann.get("/app/c/ann/all").has(hidden, "Remove it")
	bob.get("/app/c/ann/all").lacks("not shown")
	for i := range prompt.MaxInCollection - 2 {
		s := ann.post("/app/c/ann/all", "do", "add", "prompt", ann.write("More "+strconv.Itoa(i), "Text.", "public"))
		if i < prompt.MaxInCollection-3 {
			s.to("/app/c/ann/all")
			continue
		}
		s.is(422).has("Keep at most 20 skills, those that are not shown now included", hidden)
	}
	bob.post(hers+"/visibility", "to", "public").to(hers)
	ann.get("/app/c/ann/all").lacks(hidden)
	ann.get("/app/c/ann/all").has("Hers", "claude plugin marketplace add https://prompts.example.com/marketplace/c/ann/all/marketplace.json\nclaude plugin install all@prompthub-ann--all<", "git clone https://prompts.example.com/git/c/ann/all.git<")
	bob.post(hers+"/visibility", "to", "private").to(hers)
	ann.post("/app/c/ann/all", "do", "remove", "id", hers[strings.LastIndex(hers, "/")+1:]).to("/app/c/ann/all")
	ann.get("/app/c/ann/all").lacks("not shown")
}
