package web_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/doors/web"
)

// A billing is a workspace with a member of each role, and an outsider.
type billing struct {
	*world
	root, pam, art, rea, out person // administrator, publisher, author, reader, outsider
}

func newBilling(t *testing.T) billing {
	t.Helper()
	w := newWorld(t)
	b := billing{w, w.as("Adam"), w.as("Pam"), w.as("Art"), w.as("Rea"), w.as("Out")}
	for _, p := range []person{b.root, b.pam, b.art, b.rea, b.out} {
		p.write("My own", "text", "private") // everybody has a handle
	}
	b.root.post("/app/w", "handle", "billing", "name", "Billing").to("/app/w/billing?done=workspace")
	for handle, role := range map[string]string{"pam": "publisher", "art": "author", "rea": "reader"} {
		b.root.post("/app/w/billing/members", "principal", handle, "role", role).to(
			"/app/w/billing/members?done=member")
	}
	return b
}

// put writes a prompt of the workspace, and returns the address of its page.
func (b billing) put(p person, title, text, visibility string) string {
	b.t.Helper()
	b.clock.Advance(time.Second)
	to := p.post("/app/prompts/new", "owner", "billing", "title", title, "text", text, "visibility",
		visibility).to("/app/prompts/")
	page, _, _ := strings.Cut(to, "?")
	return page
}

func TestMakeWorkspace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	ann.get("/app").has(`href="/app/w">Workspaces</a>`)
	w.nobody().get("/app/signin").lacks("Workspaces")
	ann.get("/app/w").is(200).has("You are no member of a workspace yet.", `action="/app/w"`,
		`your handle: <code>ann</code>`)
	ann.post("/app/w", "name", "Billing <x>", "handle", "Not One").is(422).has(`id="handle-wrong"`,
		`value="Not One"`, `value="Billing &lt;x&gt;"`)
	ann.post("/app/w", "name", "Billing").is(422).has("Choose a handle")
	ann.post("/app/w", "name", "Billing", "handle", "billing", "about", "Of the\r\nteam").to(
		"/app/w/billing?done=workspace")
	ann.get("/app/w/billing?done=workspace").is(200).has("The workspace is there.", "You are an administrator.",
		"Of the\nteam", "This workspace has no prompt yet.", `href="/app/prompts/new?owner=billing"`)
	list := ann.get("/app/w").is(200).has(`href="/app/w/billing"`, `<span class="badge">administrator</span>`,
		`your handle: <code>ann</code>`)
	list.lacks("You are no member")
	w.as("Bob").post("/app/w", "handle", "billing").is(422).has("somebody has this one")
	w.nobody().get("/app/w").is(401)
	w.nobody().get("/app/w/billing").is(401).lacks("Billing")
}

// TestCopyOnPages: an author of a workspace copies a prompt into it, by its name or by the
// address of its page.
func TestCopyOnPages(t *testing.T) {
	t.Parallel()
	b := newBilling(t)
	const list, copies = "/app/w/billing", "/app/w/billing/copies"
	b.rea.get(list).lacks(`action="/app/w/billing/copies"`)
	b.art.get(list).has(`action="/app/w/billing/copies"`)
	b.art.get(b.art.post(copies, "prompt", " my-own ").to("/app/prompts/")).is(200).has(
		"The copy is there, private.", "My own")
	require.Equal(t, []string{"My own"}, b.pam.get(list).titles())
	b.rule(b.root, "production", "*", "1", "")
	page := b.art.write("Another", "text", "private")
	b.art.post(page+"/labels", "label", "production", "version", "1").to(page)
	b.art.get(b.art.post(copies, "prompt", "https://prompts.example.org"+page).to("/app/prompts/")).has(
		"but for the labels")
	b.art.post(copies, "prompt", "no such").is(404)
	b.rea.post(copies, "prompt", "my-own").is(403)
	b.out.post(copies, "prompt", "my-own").is(404)
}

// TestAdminsMakeWorkspaces: where admins alone make workspaces, others have no form, and the way in
// is refused too.
func TestAdminsMakeWorkspaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *web.Config) { c.Service = c.Service.WithAdminsMaking(true) })
	w.as("Ann").get("/app/w").is(200).has("Admins of this service make workspaces").lacks("Make the workspace")
	w.as("Ann").post("/app/w", "handle", "billing").is(403).has("Admins of this service alone make workspaces")
	w.admin().get("/app/w").has("Make the workspace")
	w.admin().post("/app/w", "handle", "billing").to("/app/w/billing")
}

// TestWorkspaceOfOthers: an outsider is answered as if there were no workspace, on each of its
// pages and by each of its forms, to the byte.
func TestWorkspaceOfOthers(t *testing.T) {
	t.Parallel()
	b := newBilling(t)
	page := b.put(b.art, "Dunning", "Pay **now**.", "private")
	b.rule(b.root, "production", "*", "1", "")
	b.art.post(page+"/proposals", "label", "production", "version", "1").to(page + "/proposals/1")
	id := page[strings.LastIndex(page, "/")+1:]
	missing := strings.Replace(page, id, "01JZ8Q4N2R6V0T3X5Y7B9D1F2G", 1)
	number := func(s shown) string { return s.header.Get("X-Request-Id") }
	tried := 0
	for _, pattern := range web.Patterns() {
		method, path, _ := strings.Cut(pattern, " ")
		var here, there string
		switch {
		case strings.HasPrefix(path, "/app/w/"):
			here, there = strings.Replace(path, "{workspace}", "billing", 1),
				strings.Replace(path, "{workspace}", "nosuch", 1)
		case strings.HasPrefix(path, "/app/prompts/{id}") && path != "/app/prompts/{id}/fill":
			here, there = strings.Replace(path, "/app/prompts/{id}", page, 1),
				strings.Replace(path, "/app/prompts/{id}", missing, 1)
		default:
			continue
		}
		ask := func(path string) shown {
			path = strings.NewReplacer("{version}", "1", "{number}", "1", "{token}", "abc").Replace(path)
			if method == http.MethodGet {
				return b.out.get(path)
			}
			return b.out.post(path, "principal", "pam", "role", "reader", "name", "X", "handle", "x", "value", "like",
				"version", "1", "label", "a",
				"to", "public", "title", "T", "text", "x", "visibility", "private", "revision", "1", "scope",
				"read", "days", "7", "reason", "x",
				"message", "m", "verdict", "comment", "digest", "d", "label1", "a", "names1", "*", "approvals1", "1")
		}
		got, want := ask(here), ask(there)
		require.Contains(t, []int{403, 404}, want.status, pattern)
		require.Equal(t, want.status, got.status, pattern)
		plain := func(s shown, is, was string) string {
			return strings.NewReplacer(number(s), "", is, was).Replace(s.body)
		}
		require.Equal(t, plain(want, "", ""),
			strings.ReplaceAll(strings.ReplaceAll(plain(got, "", ""), id, "01JZ8Q4N2R6V0T3X5Y7B9D1F2G"),
				"/app/w/billing", "/app/w/nosuch"), pattern)
		tried++
	}
	require.Greater(t, tried, 30)
	b.out.get("/app/u/billing").is(404)
	require.Empty(t, b.out.get("/app?q=dunning").titles())
	b.out.get("/app/w").lacks("/app/w/billing")
	b.admin().get("/app/admin/users").is(200).has("pam").lacks("Billing")
	b.out.post("/app/prompts/new", "owner", "billing", "title", "T", "text", "x", "visibility", "private").is(404)
}

// TestRolesOnPages: a page shows each role the buttons that it may press and no others. A request
// without the button is refused, too.
func TestRolesOnPages(t *testing.T) {
	t.Parallel()
	b := newBilling(t)
	private := b.put(b.art, "Private one", "first", "private")
	b.art.post(private+"/edit", "title", "Private one", "text", "second", "visibility",
		"private", "revision", "1").to(private)
	public := b.put(b.pam, "Public one", "first", "public")
	b.pam.post(public+"/edit", "title", "Public one", "text", "second", "visibility",
		"public", "revision", "1").to(public)
	b.root.post(public+"/labels", "label", "staging", "version", "1").to(public)
	const edit, release, remove, label = ">Edit</a>", `id="release"`, "Delete this prompt",
		`name="version" type="number"`
	for _, tt := range []struct {
		name                    string
		who                     person
		editPrivate, editPublic bool
		publishes, manages      bool
	}{
		{"reader", b.rea, false, false, false, false},
		{"author", b.art, true, false, false, false},
		{"publisher", b.pam, true, true, true, false},
		{"administrator", b.root, true, true, true, true},
	} {
		show := func(is bool, s shown, texts ...string) {
			t.Helper()
			for _, text := range texts {
				require.Equal(t, is, strings.Contains(s.body, text), "%s: %s", tt.name, text)
			}
		}
		for page, may := range map[string]bool{private: tt.editPrivate, public: tt.editPublic} {
			own := tt.who.get(page).is(200).has(
				`of <a class="author" href="/app/w/billing" dir="auto">Billing</a>`, "live: ")
			show(may, own, edit)
			show(tt.publishes, own, release, remove, `name="to"`)
			versions := tt.who.get(page + "/versions").is(200)
			show(may, versions, "/versions/1/restore")
			show(tt.publishes, versions, "Set label")
			old := tt.who.get(page + "/versions/1").is(200)
			show(may, old, "Restore version 1")
			show(tt.publishes, old, "Delete version 1", "Put on this version")
			show(tt.publishes, tt.who.get(page+"/labels?label=staging").is(200), label)
			form := tt.who.get(page + "/edit")
			if require.Equal(t, may, form.status == 200, tt.name); !may {
				form.is(403)
				tt.who.post(page+"/edit", "title", "X", "text", "x", "visibility", "private", "revision", "2").is(403)
				tt.who.post(page + "/versions/1/restore").is(403)
			}
			if !tt.publishes {
				tt.who.post(page + "/delete").is(403)
				tt.who.post(page+"/visibility", "to",
					map[string]string{private: "public", public: "private"}[page]).is(403)
				tt.who.post(page + "/versions/1/delete").is(403)
			}
		}
		list := tt.who.get("/app/w/billing").is(200)
		require.Equal(t, []string{"Public one", "Private one"}, list.titles(), tt.name)
		show(tt.editPrivate, list, `href="`+private+`/edit"`, "New prompt here", `?owner=billing"`)
		show(tt.editPublic, list, `href="`+public+`/edit"`)
		show(tt.manages, list, "/app/w/billing/settings")
		show(tt.editPrivate, tt.who.get("/app/prompts/new"), `<option value="billing">Billing</option>`)
		members := tt.who.get("/app/w/billing/members").is(200).has(`href="/app/u/art" dir="auto">art</a>`, "Leave…",
			`<span class="badge">you</span>`)
		show(tt.manages, members, `<select name="role"`, "Remove…", "Add a member", `<option value="group"`)
		settings := tt.who.get("/app/w/billing/settings")
		if !tt.manages {
			settings.is(403).lacks("New token")
			tt.who.post("/app/w/billing/members", "principal", "out", "role", "reader").is(403)
			tt.who.post("/app/w/billing/members/remove", "principal", "art").is(
				map[bool]int{true: 303, false: 403}[tt.name == "author"])
			if tt.name == "author" { // they have left, by their own handle
				b.root.post("/app/w/billing/members", "principal", "art", "role", "author").to("/app/w/billing/members")
			}
			for _, path := range []string{"settings", "tokens", "delete", "restore", "tokens/x/revoke"} {
				tt.who.post("/app/w/billing/"+path, "name", "X", "scope", "read", "days", "7").is(403)
			}
			continue
		}
		settings.is(200).has("New token", "Delete this workspace")
	}
	form := b.art.get(private + "/edit").has("only members").lacks(`value="public"`)
	form.has(`of <a class="author" href="/app/w/billing"`)
	b.pam.get(private + "/edit").has(`value="public"`)
	again := b.art.post("/app/prompts/new", "owner", "billing", "title", "Loud", "text", "kept text",
		"visibility", "public").is(422)
	again.has("kept text", "needs the role publisher", `<option value="billing" selected>`)
	require.Equal(t, []string{"My own"}, b.art.get("/app/mine").titles())
}

// TestNamesOfPeople: versions, labels and the page of a prompt of a workspace name the person, by
// the name that they go by. Each is looked up once.
func TestNamesOfPeople(t *testing.T) {
	t.Parallel()
	b := newBilling(t)
	b.art.post("/app/me", "name", "Art <B>").to("/app/me")
	page := b.put(b.art, "Dunning", "first", "private")
	b.pam.post(page+"/edit", "title", "Dunning", "text", "second", "visibility", "private", "revision", "1").to(page)
	b.pam.post(page+"/labels", "label", "production", "version", "1").to(page)
	b.root.post(page+"/labels", "label", "production", "version", "2").to(page)
	b.pam.post(page+"/labels/undo", "label", "production").to(page)
	art, pam, root := `<a class="author" href="/app/u/art" dir="auto">Art &lt;B&gt;</a>`,
		`<a class="author" href="/app/u/pam" dir="auto">pam</a>`,
		`<a class="author" href="/app/u/adam" dir="auto">adam</a>`
	b.rea.get(page).has("Version 2</a> by " + pam)
	b.rea.get(page + "/versions/1").has(art).lacks(pam)
	versions := b.rea.get(page+"/versions").has(art, pam).lacks(">Billing<")
	require.Less(t, strings.Index(versions.body, pam), strings.Index(versions.body, art))
	moves := b.rea.get(page+"/labels?label=production").has(pam, root)
	require.Less(t, strings.Index(moves.body, root), strings.LastIndex(moves.body, pam))
	moves.has("undone by " + pam)
	for _, p := range []person{b.rea, b.root} {
		p.get("/app/w/billing/members").has(art)
	}

	before := b.store.calls.Load()
	b.rea.get(page + "/versions").is(200)
	first := b.store.calls.Load() - before
	for range 5 { // versions of the same people
		b.art.post(page + "/versions/1/restore").to(page)
		b.pam.post(page + "/versions/2/restore").to(page)
	}
	before = b.store.calls.Load()
	b.rea.get(page + "/versions").is(200)
	require.Equal(t, first, b.store.calls.Load()-before, "each person once")

	token := b.root.post("/app/w/billing/tokens", "name", "Job", "scope", "read", "scope", "write", "days",
		"7").is(200).find(`<code id="token">(ph_[^<]*)</code>`)
	b.config.Identify = b.service.WithTokens(b.config.Identify, true, b.config.Admission.Guess)
	b.pages = web.New(b.config)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost:7071"+page+"/edit",
		strings.NewReader("title=Dunning&text=job&visibility=private&revision=12"))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Authorization", "Bearer "+token)
	b.nobody().send(r).to(page)
	b.rea.get(page).has("by <bdi>an access token</bdi>")
}

// TestMembers: an administrator adds people by handle and roles of the directory, gives others
// roles, and removes them. The last one stays.
func TestMembers(t *testing.T) {
	t.Parallel()
	b := newBilling(t)
	const members = "/app/w/billing/members"
	b.root.get(members).is(200).has(`<option selected>publisher</option>`, `aria-label="Role of pam"`, "Leave…")
	b.root.post(members, "principal", "nobody-there", "role", "reader").is(422).has(`id="principal-wrong"`,
		"There is no such user", `value="nobody-there"`, `value="reader" checked`)
	b.root.post(members, "principal", "", "role", "reader").is(422)
	b.root.post(members, "principal", "pam", "role", "chief").is(422).has("Must be one of reader")
	b.root.post(members, "principal", "adam", "role", "reader").is(409).has("the last administrator named")
	b.root.post(members+"/remove", "principal", "me").is(409).has("the last administrator named")
	b.root.post(members, "principal", "pam", "role", "administrator").to(members + "?done=member")
	b.pam.get(members).has("Add a member")
	b.root.post(members+"/remove", "principal", "me").to("/app/w?done=left")
	b.root.get("/app/w?done=left").is(200).has("You are no member of it any more.").lacks("/app/w/billing")
	b.root.get("/app/w/billing").is(404)
	b.pam.post(members+"/remove", "principal", "rea").to(members + "?done=member-removed")
	b.rea.get("/app/w/billing").is(404)

	// no row has such a name
	b.pam.post(members+"/remove", "kind", "role", "principal", strings.Repeat("x", 2000)).to(members)
	b.pam.post(members+"/remove", "kind", "chief", "principal", "x").to(members)
	vera := person{b.world, "name=Vera&roles=finance"}
	vera.get("/app/w/billing").is(404)
	b.pam.post(members, "kind", "role", "principal", "finance", "role", "reader").to(members)
	b.pam.get(members).has("everybody with this role of the directory", "finance")
	vera.get("/app/w/billing").is(200).has("You are a reader.")
	vera.get("/app/w").has(`href="/app/w/billing"`)
	b.pam.post(members+"/remove", "kind", "role", "principal", "finance").to(members)
	vera.get("/app/w/billing").is(404)
	chef := person{b.world, "name=Chef&groups=waiters%2C+6f1c-chefs"}
	b.pam.post(members, "kind", "group", "principal", "6f1c-chefs", "role", "author").to(members)
	b.pam.get(members).has("everybody in this group of the directory", "6f1c-chefs")
	chef.get("/app/w/billing").is(200).has("You are an author.")
	chef.get("/app/w").has(`href="/app/w/billing"`)
	b.pam.get("/app/w/billing/events").has("added everybody in the group 6f1c-chefs of the directory as an author")
	b.pam.post(members+"/remove", "kind", "group", "principal", "6f1c-chefs").to(members)
	chef.get("/app/w/billing").is(404)
}

// TestWorkspaceSettings: name and note, access tokens, and the way out and back.
func TestWorkspaceSettings(t *testing.T) {
	t.Parallel()
	b := newBilling(t)
	const settings = "/app/w/billing/settings"
	page := b.put(b.pam, "Dunning", "text", "public")
	b.root.post(settings, "name", strings.Repeat("x", 101), "about", "kept").is(422).has(
		`id="called-wrong"`, "kept</textarea>")
	b.root.post(settings, "name", "Money", "about", "All of it.").to(settings + "?done=workspace-saved")
	b.rea.get("/app/w/billing").has(`<h1 dir="auto">Money</h1>`, "All of it.")
	b.rea.get(page).has(">Money</a>")

	b.root.get(settings).has("No access tokens yet.")
	b.root.post("/app/w/billing/tokens", "name", "", "days", "400").is(422).has(`id="name-wrong"`,
		"at least one scope", `value="Money"`)
	made := b.root.post("/app/w/billing/tokens", "name", "Job", "scope", "read", "days", "30").is(200)
	require.Equal(t, "no-store", made.header.Get("Cache-Control"))
	token := made.find(`<code id="token">(ph_[^<]*)</code>`)
	revoke := b.root.get(settings).lacks(token).has(">Job</b>").find(`action="([^"]*/revoke)"`)
	b.root.get("/app/me/tokens").lacks(">Job</b>")
	b.root.post(revoke).to(settings + "?done=revoked")
	b.root.post(revoke).is(404)

	b.root.post("/app/w/billing/delete").is(409).has("The workspace has public prompts")
	b.root.post(page+"/visibility", "to", "private").to(page)
	b.root.get(page+"?done=private").has("only members of the workspace see it",
		"Private: only members of the workspace can read it.")
	b.root.post("/app/w/billing/delete").to("/app/w?done=workspace-deleted")
	for _, p := range []person{b.pam, b.rea, b.out} {
		p.get("/app/w/billing").is(404)
		p.get(settings).is(404)
		p.get("/app/w").lacks("Money")
		p.get(page).is(404)
		p.post("/app/w/billing/restore").is(404)
	}
	b.root.get("/app/w").has("deleted", `action="/app/w/billing/restore"`)
	b.root.get(settings).is(200).has("This workspace was deleted", "gone for good").lacks("New token")
	b.root.post("/app/w/billing/restore").to("/app/w/billing?done=workspace-restored")
	require.Equal(t, []string{"Dunning"}, b.pam.get("/app/w/billing").titles())
}

// TestPromptsOfWorkspace: the list is that of one's own prompts, with a way back for deleted ones;
// outsiders see public ones as prompts of the workspace.
func TestPromptsOfWorkspace(t *testing.T) {
	t.Parallel()
	b := newBilling(t)
	b.put(b.art, "Dunning letter", "Pay now.", "private")
	page := b.put(b.pam, "Greeting", "Hello, dear customer.", "public")
	const list = "/app/w/billing"
	require.Equal(t, []string{"Greeting"}, b.rea.get(list+"?show=public").titles())
	require.Equal(t, []string{"Dunning letter"}, b.rea.get(list+"?q=dunning").titles())
	require.Equal(t, []string{"Greeting"}, b.rea.get(list+"?q=customer&part=results").titles())
	b.rea.get(list+"?q=nothing").has("None of its prompts matches.", "All prompts of the workspace")
	b.rea.get(list + "?cursor=damaged").is(400).has("does not belong")
	require.Equal(t, []string{"Greeting"}, b.out.get("/app").titles())
	everywhere := b.rea.get("/app?q=dunning&part=results")
	require.Equal(t, []string{"Dunning letter"}, everywhere.titles(),
		"the one box, and the palette, find what the member's workspaces have")
	everywhere.has("Only members of the workspace see it", `<a class="author" href="/app/w/a_`)
	b.rea.get(everywhere.find(`href="(/app/w/a_[^"]*)"`)).is(200).has("Dunning letter")
	require.Empty(t, b.out.get("/app?q=dunning").titles())
	b.out.get(page).is(200).has(`of <a class="author" href="/app/u/`).lacks(`href="/app/w/billing"`, ">Edit<", "Delete")
	b.out.post(page+"/vote", "value", "like").to("/app")
	b.rea.post(page+"/vote", "value", "like").to("/app")
	b.rea.get(list).has(`data-value="like" data-likes="2"`)
	b.pam.get(list).has(`data-value="none"`).lacks(`data-value="like"`)

	gone := b.pam.post(page + "/delete").to(list + "?show=deleted&done=deleted&of=")
	b.pam.get(gone).is(200).has(page+"/restore", "Undo", ">Restore</button>")
	b.art.get(gone).is(200).has("Greeting").lacks(">Undo<", ">Restore</button>")
	b.art.post(page + "/restore").is(403)
	b.pam.post(page + "/restore").to(page + "?done=restored")

	find := b.art.post("/app/prompts/new", "do", "find-include", "owner", "billing", "title", "T", "text", "x",
		"visibility", "private").is(200)
	find.has("dunning-letter", `<option value="billing" selected>`, `href="/app/w/billing">Cancel`).lacks("my-own")
	b.art.get("/app/prompts/new?owner=billing").has(`<option value="billing" selected>`)
	b.art.get("/app/prompts/new").has(`<option value="billing">`)
}
