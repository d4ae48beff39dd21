package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/testing/browsertest"
)

const (
	maxWeight = 30_000 // bytes of the first page in all, as transferred
	// A browser under load shows a page while it arrives, and then its last lines move by a few pixels
	// as they become whole: some 0.0005 each. A line that comes late above a list is 0.02 and more.
	maxShift = 0.02
)

// firstView measures the wait of a first visit.
func firstView(t *testing.T, b browser, base string) {
	for _, v := range variants[:2] {
		p := b.visit(t, base, v).signIn("Eve", false)
		page := eval[string](p, "document.querySelector('.card h2 a').pathname")
		p.sees("Object.keys(localStorage).some(k => k.startsWith('visit'))") // the script of this page has noted it
		eval[bool](p, "Object.keys(localStorage).filter(k => k.startsWith('visit')).forEach(k => localStorage.setItem(k, JSON.stringify({at: 1, before: 0}))), true")
		const shifts = `new Promise(done => {
			const all = {sum: 0, told: []}, place = (r) => [r.x, r.y, r.width, r.height].map(Math.round).join(' ');
			const told = (e) => e.sources.map(s => (s.node?.parentElement ?? s.node)?.outerHTML?.slice(0, 200) + ' from ' + place(s.previousRect) + ' to ' + place(s.currentRect));
			new PerformanceObserver(list => { for (const e of list.getEntries()) { all.sum += e.value; all.told.push(e.value + ': ' + told(e)) } }).observe({type: 'layout-shift', buffered: true});
			setTimeout(() => done(all), 300);
		})`
		for path, seen := range map[string]string{
			"/app": "document.querySelectorAll('.card').length === 20 && document.querySelector('.new')",
			page:   "document.querySelector('#rendered')",
		} {
			fresh := p.another()
			fresh.goTo(path).sees(seen)
			shift := eval[struct {
				Sum  float64
				Told []string
			}](fresh, shifts)
			require.Less(t, shift.Sum, maxShift, "%s, %s: the layout shifts: %v", v.Name, path, shift.Told)
			fresh.Calm()
		}

		bare := b.visit(t, base, v) // nothing in a cache
		bare.as("Eve")
		bare.goTo("/app").sees("document.querySelectorAll('.card').length === 20")
		bare.Lock()
		require.Less(t, bare.Bytes, float64(maxWeight), v.Name)
		t.Logf("%s: %d requests, %.0f bytes for the first page", v.Name, len(bare.Requests), bare.Bytes)
		bare.Unlock()
		require.LessOrEqual(t, eval[float64](bare, "document.documentElement.scrollWidth - innerWidth"), 0.0,
			"%s: wider than the window", v.Name)
	}
}

// longWords requires that no word that users write makes a page wider than a small window, and that
// names of formats and files are broken nowhere.
func longWords(t *testing.T, b browser, base string) {
	u := user{t: t, url: base, name: "Long"}
	page := "/app/prompts/" + u.create(strings.Repeat("x", 200)).ID
	u.do(200, "PUT", "/me/profile", map[string]string{"handle": strings.Repeat("h", 64)}, nil)
	p := b.visit(t, base, browsertest.Variant{Name: "narrow", Width: 320, Height: 640, Script: true}).signIn(
		"Long", false)
	for _, path := range []string{
		page, page + "/export", page + "/versions/1", page + "/edit",
		"/app/u/" + strings.Repeat("h", 64), "/app/me",
	} {
		p.goTo(path)
		require.LessOrEqual(t, eval[float64](p, "document.documentElement.scrollWidth - innerWidth"), 0.0,
			"%s is wider than the window", path)
	}
	p.goTo(page + "/export")
	require.Empty(t, eval[[]string](p, "[...document.querySelectorAll('.report td:first-child :is(a, .hint)')].filter(e => e.getClientRects().length > 1 && !/[ -]/.test(e.textContent)).map(e => e.textContent)"), "broken")
}

// stops limits the tour to the stops whose names match. It is for pictures of a few pages:
//
//	E2E_FULL=1 E2E_STOPS='^(catalog|prompt)$' go test -run 'TestBrowser$/accessible' -artifacts -outputdir DIR
var stops = regexp.MustCompile(os.Getenv("E2E_STOPS"))

// A stop is a page on the tour, and how one gets into its states.
type stop struct {
	name, path string
	then       func(p *tab)
}

// accessible lets axe-core look at every page and state at both sizes. Where E2E_FULL is set, it
// opens them at each, and looks at them light and dark. Else it opens each once: dark on a desktop,
// and then light on a phone, so that every rule is held at each size and every pair of colours in
// each scheme.
func accessible(t *testing.T, b browser, base string) {
	source := browsertest.Axe(t)
	p := b.visit(t, base, variants[0]).signIn("Root", true)
	page := write(p, "Accessible ${name:x}")
	hidden := write(p, "Hidden")
	p.goTo(hidden).click(".manage:last-of-type summary").write("#reason", "A reason").click(
		"form[action$='/hide'] button").reads("The prompt is hidden.")
	edited := write(p, "Edited")
	p.click("#share summary").click("form[action$='/fork'] button").reads("This is your copy now.")
	forked := eval[string](p, "location.pathname")
	p.goTo(edited+"/edit").write("#text", strings.Replace(letter, "Thank you", "Many thanks", 1)+"\nYours").click(
		"form#write .primary").reads("Your changes are saved.")
	p.goTo(edited+"/versions/1").write("#label", "production").click(
		"form[action$='/labels'] button").reads("Put on version 1")
	gone := write(p, "Gone")
	p.goTo(gone).click(".manage details summary").click("form[action$='/delete'] button").reads(
		"The prompt is deleted.")
	more := furnish(user{t: t, url: base, name: "Root"})
	author := eval[string](p.goTo(edited), "document.querySelector('a.author').pathname")
	sizes := variants[:1]
	if full() {
		sizes = variants[:2]
	}
	for _, v := range sizes {
		v.Height = 1600 // a picture must show the most of a page
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			visitor := b.visit(t, base, v)
			left := templates(t)
			delete(left, "reset") // of mode invited alone
			delete(left, look(visitor, stop{"sign in", "/app/signin", nil}, source))
			p := b.visit(t, base, v).signIn("Root", true)
			for _, s := range slices.Concat(tour(page, hidden, edited, forked), more,
				[]stop{{"tokens of an author", author + "/tokens", nil}}) {
				delete(left, look(p, s, source))
			}
			// the other size is on its tour at the same time: neither ends an account that both use
			leaver := b.visit(t, base, v).signIn("Leaver, "+v.Name, false)
			for _, s := range leaving() {
				look(leaver, s, source)
			}
			if stops.String() == "" {
				require.Empty(t, left, "pages that no stop of the tour shows")
			}
		})
	}
}

// leaving is the tour of a user who leaves, and stays.
func leaving() []stop {
	return []stop{
		{"account to be erased", "/app/me", func(p *tab) {
			p.click("details:has(form[action$='/erase']) summary").click("form[action$='/erase'] button").reads(
				"Your account will be erased in 30 days.")
		}},
		{"account kept", "/app/me", func(p *tab) {
			p.click("form[action$='/keep'] button").reads("Your account stays.")
		}},
	}
}

// furnish makes prompts of the kinds that the tour has not met: prompts that include others, chats,
// all types of variables, and forks that clash.
func furnish(u user) []stop {
	u.t.Helper()
	make := func(fields map[string]any) string {
		var p shown
		fields["visibility"] = "public"
		u.do(201, "POST", "/prompts", fields, &p)
		return p.ID
	}
	change := func(id, text string) {
		u.do(200, "PATCH", "/prompts/"+id, map[string]any{"text": text}, nil, "If-Match", "*", "Content-Type",
			"application/merge-patch+json")
	}
	part := make(map[string]any{"title": "House rules", "text": "Be kind to {{name}}, and brief."})
	whole := make(map[string]any{
		"title": "Welcome letter", "name": "letters/welcome",
		"description": "Greets somebody new by the rules of the house.",
		"text":        "Dear {{name}},\n\n@@@langfusePrompt:name=house-rules|label=latest@@@\n\nYours",
	})
	u.do(200, "PUT", "/prompts/"+part+"/labels/gone", map[string]any{"version": 1}, nil)
	broken := make(map[string]any{
		"title": "A broken include",
		"text":  "First:\n@@@langfusePrompt:name=house-rules|label=gone@@@",
	})
	// a label goes if the prompt that includes by it is deleted, and may come back
	u.do(204, "DELETE", "/prompts/"+broken, nil, nil)
	u.do(204, "DELETE", "/prompts/"+part+"/labels/gone", nil, nil)
	u.do(200, "POST", "/prompts/"+broken+"/restore", nil, nil)
	chat := make(map[string]any{"title": "A chat", "kind": "chat", "messages": []map[string]any{
		{"role": "system", "content": "You review **code** for {{team}}."},
		{"placeholder": "history"},
		{"role": "user", "content": "Review this:\n\n{{code}}"},
		{"role": "assistant", "content": "Let me read it."},
	}})
	variables := make(map[string]any{
		"title": "All variables",
		"text":  "{{who}} {{why}} {{many}} {{really}} {{tone}} {{day}}", "variables": []map[string]any{
			{"name": "who", "label": "Who is asked", "required": true},
			{"name": "why", "type": "multiline", "description": "As long as it takes"},
			{"name": "many", "type": "number", "default": "3"},
			{"name": "really", "type": "boolean"},
			{"name": "tone", "type": "choice", "choices": []string{"formal", "friendly"}, "default": "formal"},
			{"name": "day", "type": "date"},
		},
	})
	var fork shown
	upstream := make(map[string]any{"title": "Clashing", "text": "One.\nTwo.\nThree."})
	u.do(201, "POST", "/prompts/"+upstream+"/fork", nil, &fork)
	change(upstream, "One!\nTwo.\nThree.")
	change(fork.ID, "One?\nTwo.\nThree.")
	many := make(map[string]any{"title": "Many versions", "text": "0"})
	for i := range 22 {
		change(many, strings.Repeat("Line\n", i+1))
	}
	u.do(201, "POST", "/workspaces",
		map[string]string{"handle": "letters", "name": "Letters", "about": "For all of us."}, nil)
	u.do(200, "PUT", "/workspaces/letters/members/role/cooks", map[string]string{"role": "author"}, nil)
	var shared shown
	u.do(201, "POST", "/prompts", map[string]any{
		"title": "Shared", "text": "Of all.", "visibility": "private",
		"workspace": "letters",
	}, &shared)
	u.do(200, "PUT", "/workspaces/letters/rules",
		map[string]any{"rules": []map[string]any{
			{"label": "production", "names": "*", "approvals": 1, "authors": true},
		}}, nil, "If-Match", "*")
	u.do(201, "POST", "/prompts/"+shared.ID+"/proposals",
		map[string]any{"label": "production", "version": 1, "message": "The first one"}, nil)
	skill := make(map[string]any{"files": []map[string]any{
		{
			"path":    "SKILL.md",
			"content": "---\nname: pdf-forms\ndescription: Fills PDF forms.\n---\n\n# Forms\n\nRun `scripts/fill.py`.\n",
		},
		{"path": "scripts/fill.py", "content": "#!/usr/bin/env python3\nprint('filled')\n", "executable": true},
		{"path": "assets/logo.png", "base64": "iVBORw0KGgo="},
	}})
	u.do(200, "PUT", "/prompts/"+skill+"/files", map[string]any{"files": []map[string]any{
		{"path": "scripts/fill.py", "content": "#!/usr/bin/env python3\nprint('filled in')\n"},
		{"path": "notes.md", "content": "# Notes\n"},
		{"path": "assets/logo.png", "base64": "iVBORw0KGgoA"},
	}}, nil, "If-Match", "*")
	u.do(201, "POST", "/collections",
		map[string]any{
			"slug": "tools", "name": "Tools", "about": "What all of us use.", "workspace": "letters",
			"items": []string{skill, part, shared.ID},
		}, nil)
	at := func(id string) string { return "/app/prompts/" + id }
	return []stop{
		{"collections", "/app/c/letters", nil},
		{"collection", "/app/c/letters/tools", func(p *tab) { p.click("details summary.bad") }},
		{"moved in a collection", "/app/c/letters/tools", func(p *tab) {
			p.click("li:nth-of-type(2) button[value=up]").reads("The collection is saved.")
		}},
		{"wrong in a collection", "/app/c/letters/tools", func(p *tab) {
			p.write("#add", "no such").click("button[value=add]").reads("There is no such prompt.")
		}},
		{"collect", at(skill) + "/collect", nil},
		{"files", at(skill) + "/files", func(p *tab) { p.click("[aria-labelledby=manage-is] details summary") }},
		{"script", at(skill) + "/files?path=scripts%2Ffill.py", func(p *tab) { p.click(".manage details summary") }},
		{"binary file", at(skill) + "/files?path=assets%2Flogo.png", nil},
		{"compared files", at(skill) + "/compare?from=1&to=2", nil},
		{"workspaces", "/app/w", nil},
		{"workspace", "/app/w/letters", nil},
		{"members", "/app/w/letters/members", nil},
		{"settings of a workspace", "/app/w/letters/settings", nil},
		{"invitation", "/app/join", nil},
		{"invitations", "/app/admin/invites", nil},
		{"command line", "/app/login?port=2000&state=ABCDEFGHIJKLMNOPQR&challenge=" + strings.Repeat("a", 64), nil},
		{"prompt of a workspace", at(shared.ID), nil},
		{"review in a workspace", "/app/w/letters/review", nil},
		{"events of a workspace", "/app/w/letters/events", nil},
		{"proposals", at(shared.ID) + "/proposals", nil},
		{"proposal", at(shared.ID) + "/proposals/1", nil},
		{"includes", at(whole), nil},
		{"included", at(part), nil},
		{"broken include", at(broken), nil},
		{"refused", at(part), func(p *tab) {
			p.click(".manage details summary").click("form[action$='/delete'] button").reads("is included by")
		}},
		{"chat", at(chat), func(p *tab) {
			eval[bool](p, "navigator.clipboard.writeText = async (text) => { window.copied = text }, true")
			p.click("[data-copy=source]").sees(`window.copied.startsWith("system:\nYou review **code** for {{team}}.\n\n[history]\n\nuser:\nReview this:")`)
		}},
		{"editing a chat", at(chat) + "/edit", nil},
		{"all variables", at(variables), nil},
		{"wrong values", at(variables), func(p *tab) {
			eval[int](p, "(f => { f.noValidate = true; f.v0.value = 'x'.repeat(2001); f.submit(); return 1 })(document.querySelector('#fill'))")
			p.sees("document.querySelector('#fill .wrong')")
		}},
		{"clash", at(fork.ID) + "/upstream", func(p *tab) {
			p.click("form[action$='/upstream'] button").reads("Edit both together").reads("Keep mine")
		}},
		{"clash in the editor", at(fork.ID) + "/upstream/edit", nil},
		{"programs", at(variables), func(p *tab) {
			p.click("#use > summary").click("[aria-controls=use-kernel-is]").reads("semantic_kernel")
		}},
		{"token for a prompt", "/app/me/tokens?for=" + variables, func(p *tab) {
			p.write("#name", "laptop").click("main .stack button").reads("Your new token")
		}},
		{"many versions", at(many) + "/versions", nil},
		{"older versions", at(many) + "/versions", func(p *tab) {
			p.click(".next a").reads("Back to the newest versions")
		}},
	}
}

// templates are the names of all pages.
func templates(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "internal/prompthub/doors/web/templates/*.html"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	names := map[string]bool{}
	for _, f := range files {
		names[strings.TrimSuffix(filepath.Base(f), ".html")] = true
	}
	return names
}

// look checks a stop of the tour, and returns the name of its page.
func look(p *tab, s stop, source string) string {
	p.T.Helper()
	if !stops.MatchString(s.name) {
		return ""
	}
	p.goTo(s.path)
	if s.then != nil {
		s.then(p)
	}
	if full() {
		browsertest.Accessible(p.Tab, source, s.name)
	} else {
		opened, phone := p.V, variants[1]
		phone.Height = opened.Height
		browsertest.ColoursDiffer(p.Tab, s.name)
		browsertest.AccessibleIn(p.Tab, source, s.name, "dark")
		p.Resize(phone)
		browsertest.AccessibleIn(p.Tab, source, s.name, "light")
		require.Empty(p.T, eval[[]string](p, missed), "%s: too small for a finger", s.name)
		p.Resize(opened)
	}
	return eval[string](p, "document.querySelector('main').dataset.page")
}

// missed returns the controls of a page on a phone that a finger misses 21 pixels above or below
// their middle, and does not hit another control there. An open menu covers all others, and an open
// panel those below it.
const missed = `document.querySelector("dialog[open]") ? [] : [...document.querySelectorAll(document.querySelector(".menu[open]") ? ".menu :is(a, button)" : "main :is(.copy, .ballot button, a.tag, .choices a, .button, button, summary), header a")].filter(e => {
  const box = e.getBoundingClientRect();
  if (!box.width || e.closest("[hidden], [aria-hidden=true], dialog, details:not([open]) > :not(summary)")) return false;
  e.scrollIntoView({block: "center", behavior: "instant"});
  const b = e.getBoundingClientRect(), x = b.left + b.width / 2, y = b.top + b.height / 2;
  if ([y - 21, y, y + 21].some(at => document.elementFromPoint(x, at)?.closest(".pop")) && !e.closest(".pop")) return false;
  return [y - 21, y + 21].some(at => {
    const hit = document.elementFromPoint(x, at);
    return at > 0 && at < innerHeight && !(e.contains(hit) || hit?.closest("a, button, summary, label, input, select, textarea"));
  });
}).map(e => e.outerHTML.slice(0, 120))`

// discard lets the page forget what is written in its form, so that it can be left.
func (p *tab) discard() {
	p.T.Helper()
	p.ready("#write")
	eval[int](p, "localStorage.clear(), document.querySelector('#write').dispatchEvent(new SubmitEvent('submit', {bubbles: true})), 1")
}

func tour(page, hidden, versions, forked string) []stop {
	return []stop{
		{"catalog", "/app", nil},
		{"all tags", "/app", func(p *tab) { p.click(p.allTags()).sees("document.querySelector('#panel .tag')") }},
		{"tags", "/app/tags", nil},
		{"filtered", "/app?tag=text&q=act", nil},
		{"empty", "/app?q=zzzzzz", nil},
		{"keys", "/app", func(p *tab) { p.press("?").sees("document.querySelector('#keys').open") }},
		{"palette", "/app", func(p *tab) {
			p.click("#palette-show").sees("document.querySelectorAll('#wishes li').length > 4")
			p.write("#wish", "act").sees("document.querySelectorAll('#wishes li').length > 7")
		}},
		{"palette without a match", "/app", func(p *tab) {
			p.click("#palette-show").write("#wish", "zzzz").sees("!document.querySelector('#nowish').hidden")
		}},
		{"author, filtered", "/app", func(p *tab) {
			p.click(".card .author").sees("location.pathname.startsWith('/app/u/')").click(".found > .tags .tag").sees(
				"document.querySelector('.tag.on')")
		}},
		{"wrong", "/app?cursor=x", nil},
		{"voted", "/app", func(p *tab) {
			p.click("[data-vote=like]").sees("document.getElementById('live').textContent !== ''")
		}},
		{"prompt", page, nil},
		{"source", page + "?view=source", nil},
		{"export", page + "/export", nil},
		{"manage", page, func(p *tab) {
			eval[int](p, "document.querySelectorAll('main details:not(#share)').forEach(d => d.open = true), scrollTo(0, 9999), 1")
		}},
		{"hidden prompt", hidden, nil},
		{"versions", versions + "/versions", nil},
		{"a version", versions + "/versions/1", func(p *tab) {
			eval[int](p, "document.querySelectorAll('main details').forEach(d => d.open = true), 1")
		}},
		{"compared", versions + "/compare?from=1&to=2", nil},
		{"side by side", versions + "/compare?from=1&to=2&view=split", nil},
		{"labels", versions + "/labels?label=production", nil},
		{"labelled", versions, nil},
		{"a fork", forked, nil},
		{"upstream", forked + "/upstream", nil},
		{"new", "/app/prompts/new", nil},
		{"invalid", "/app/prompts/new", func(p *tab) {
			p.write("#text", "x")
			eval[int](p,
				"(f => { f.noValidate = true; f.requestSubmit(); return 1 })(document.querySelector('#write'))")
			p.reads("Give the prompt a title.").discard()
		}},
		{"declaring", page + "/edit", func(p *tab) {
			p.click(".declare:has([value=find-variables]) summary").click("[value=find-variables]").sees(
				"document.querySelector('#vname0')")
			eval[int](p, "document.querySelector('[value=find-variables]').scrollIntoView(), 1")
			p.discard()
		}},
		{"writing a chat", "/app/prompts/new", func(p *tab) {
			p.write("#text", "Review {{code}}").click("[value=chat]").sees(
				"document.querySelector('#content0').value === 'Review {{code}}'")
			p.click("[value=add-message]").sees("document.activeElement.id === 'content1'").discard()
		}},
		{"similar prompts", "/app/prompts/new", func(p *tab) {
			p.write("#text", "Like nothing else").click("#similar").reads("No similar prompt.").sees(
				"document.activeElement.id === 'similar'").discard()
		}},
		{"suggested tags", "/app/prompts/new", func(p *tab) {
			p.write("#title", "Writing").click("#suggest").reads("These fit best:").sees(
				"document.activeElement.id === 'suggest'")
			p.click(".suggested [value=writing]").sees(
				"document.querySelector('[data-count=tags]').textContent === '1'").discard()
		}},
		{"conflict", page + "/edit", func(p *tab) {
			p.write("#title", "Changed "+p.V.Name)
			eval[int](p, "document.querySelector('[name=revision]').value = 0, document.querySelector('#write .primary').click(), 1")
			p.reads("saved in another tab").discard()
		}},
		{"clash of two tabs", page + "/edit", func(p *tab) {
			p.write("#text", eval[string](p, "document.querySelector('#text').value")+"One more line of "+p.V.Name)
			eval[int](p, "document.querySelector('[name=revision]').value = 0, document.querySelector('#write > .send .primary').click(), 1")
			p.reads("Take what was saved").discard()
		}},
		{"preview", "/app/prompts/new", func(p *tab) {
			p.write("#text", "# Dear {{name}}\n\n**Thank you** for ${gift:the socks}.")
			if p.V.Phone {
				p.click("#preview")
			}
			p.sees("document.querySelector('.preview strong')").discard()
		}},
		{"prompts to include", "/app/prompts/new", func(p *tab) {
			p.click("details:has(#include) summary").click("#include").sees(
				"document.querySelector('#includes li')").discard()
		}},
		{"a draft is offered", "/app/prompts/new", func(p *tab) {
			p.write("#title", "Not saved").goToAnyway("/app/prompts/new").reads("did not save it")
			eval[int](p, "localStorage.clear(), 1")
		}},
		{"mine", "/app/mine", nil},
		{"deleted", "/app/mine?show=deleted", nil},
		{"votes", "/app/votes", nil},
		{"favorite", page, func(p *tab) {
			if eval[bool](p, "!!document.querySelector('#favorite [aria-pressed=false]')") {
				p.click("#favorite button")
			}
			p.sees("document.querySelector('#favorite [aria-pressed=true]')").click("#share summary").sees(
				"document.querySelector('#share').open")
		}},
		{"favorites", "/app/favorites", nil},
		{"author", "/app", func(p *tab) {
			p.click(".card .author").sees("location.pathname.startsWith('/app/u/') && document.querySelector('.card')")
		}},
		{"profile", "/app/me", nil},
		{"new token", "/app/me/tokens", func(p *tab) {
			p.write("#name", "My editor").click("main .stack .primary").reads("Your new token").reads("not used yet")
		}},
		{"import", "/app/import", nil},
		{"import, looked at", "/app/import", func(p *tab) {
			eval[int](p, `(files => {
				files.items.add(new File(['{"title":"New here","text":"Hello {{name}}","visibility":"private"}\n{"title":"Empty","text":""}\n'], "prompts.jsonl"));
				document.querySelector('#file').files = files.files;
				return 1;
			})(new DataTransfer())`)
			p.click("[value=look]").reads("What an import would do").reads(
				"rejected: text: write the text of the prompt")
		}},
		{"import, undone", "/app/import", func(p *tab) {
			p.choose("prompts.jsonl", `{"title":"Not for long","text":"Hello","visibility":"private"}`).click(
				"[value=look]").click("[value=import]")
			p.click("form[action$='/import/undo'] button").reads("1 deleted.")
		}},
		{"menu", "/app", func(p *tab) { p.click(".menu summary").sees("document.querySelector('.menu[open]')") }},
		{"statistics", "/app/admin", nil},
		{"state", "/app/admin/status", func(p *tab) { p.reads("Running for") }},
		{"users", "/app/admin/users", nil},
		{"all tokens", "/app/admin/tokens", nil},
		{"tag catalog", "/app/admin/tags", nil},
		{"moderation", "/app/admin/hidden", nil},
		{"not found", "/app/nosuch", nil},
	}
}
