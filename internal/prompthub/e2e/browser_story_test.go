package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"prompthub/internal/testing/browsertest"
	"prompthub/internal/testing/functiontest"
)

// The pages of "handler local", on all real prompts: on a desktop with scripts, and in all variants
// where E2E_FULL is set.
func TestBrowser(t *testing.T) {
	work(t)
	t.Parallel()
	b := startBrowser(t)
	a := startLocal(t, "embedded")
	file, total, good := importFile(t, 0)
	runImport(t, a, file, good, 0, total-good)
	for i, v := range variants {
		if full() || i == 0 { // another is seen under the host
			t.Run(v.Name, func(t *testing.T) { pages(t, b, a.url(), v) })
		}
	}
	t.Run("keyboard", func(t *testing.T) { keyboard(t, b, a.url()) })
	t.Run("writing", func(t *testing.T) { writes(t, b, a.url()) })
	t.Run("first day", func(t *testing.T) { firstDay(t, b, a.url()) })
	t.Run("beginning", func(t *testing.T) { begins(t, b) })
	t.Run("importing", func(t *testing.T) { importsMuch(t, b, a.url()) })
	t.Run("offline", func(t *testing.T) { offline(t, b, a.url()) })
	t.Run("first view", func(t *testing.T) { firstView(t, b, a.url()) })
	t.Run("long words", func(t *testing.T) { longWords(t, b, a.url()) })
	t.Run("accessible", func(t *testing.T) { accessible(t, b, a.url()) })
}

// The same pages under the host, which rebuilds every request and answer: on a phone without
// scripts, and in all variants where E2E_FULL is set.
func TestBrowserUnderTheHost(t *testing.T) {
	t.Parallel()
	work(t)
	b := startBrowser(t)
	h := startHosted(t, functiontest.Faults{})
	file, total, good := importFile(t, 60)
	runImport(t, h, file, good, 0, total-good)
	for i, v := range variants {
		if full() || i == 3 {
			t.Run(v.Name, func(t *testing.T) { pages(t, b, h.url(), v) })
		}
	}
	t.Run("triggers stay inside", func(t *testing.T) { outside(t, h.url()) })
}

// outside sends what the host would send to a trigger: no spelling of a path below the pages leads
// there.
func outside(t *testing.T, base string) {
	for _, path := range []string{
		"/anti-entropy", "/app/anti-entropy", "/app/../anti-entropy",
		"/app/..%5Canti-entropy", "/app/%2e%2e/anti-entropy", "/app/%2e%2e%5cpurge", "/%61nti-entropy",
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base,
			strings.NewReader(`{"Data":{},"Metadata":{}}`))
		require.NoError(t, err)
		r.URL.Opaque = path
		r.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultTransport.RoundTrip(r)
		require.NoError(t, err)
		body := readAll(resp.Body)
		require.NoError(t, resp.Body.Close())
		require.GreaterOrEqual(t, resp.StatusCode, 400, "%s: %s", path, body)
		require.NotContains(t, body, "Outputs", path)
	}
}

// pages is the story of two users and a moderator.
func pages(t *testing.T, b browser, base string, v browsertest.Variant) {
	ann := b.visit(t, base, v).signIn("Ann", false)
	ann.goTo("/").sees("location.pathname === '/app'")
	browse(ann)
	title := "Letter of " + v.Name
	page := write(ann, title)

	bob := b.visit(t, base, v).signIn("Bob", false)
	if v.Script {
		news(bob)
	}
	bob.write("#q", title)
	if !v.Script {
		bob.press(kb.Enter)
	}
	bob.sees("document.querySelectorAll('.card').length === 1").click(".card h2 a").reads("Dear")
	read(bob)

	account(bob, page)
	twoTabs(ann, page)
	fork(bob, ann, page)
	moderate(b.visit(t, base, v).signIn("Root", true), ann, bob, page)
	takeBack(ann, bob, page)
	carry(bob)
	suggested(bob)
	for _, p := range []*tab{ann, bob} {
		p.Calm()
	}
}

// suggested asks for tags where a prompt is written, and takes one.
func suggested(p *tab) {
	p.T.Helper()
	p.goTo("/app/prompts/new").write("#title", "On writing").click("#suggest").reads("These fit best:").sees(
		"document.activeElement.id === 'suggest'")
	p.click(".suggested label:has([value=writing])").sees(
		"document.querySelector('.suggested [value=writing]').checked")
	p.sees("document.querySelector('#title').value === 'On writing'").shot("suggested tags")
	p.write("#text", "Write to {{who}}.").click("form#write .primary").reads("The prompt is saved").sees(
		"document.querySelector('.tag[href*=\"tag=writing\"]')")
}

// browse pages, filters and searches, and votes on what it finds.
func browse(p *tab) {
	p.T.Helper()
	p.sees("document.querySelectorAll('.card').length === 20").shot("catalog")
	first := eval[string](p, "document.querySelector('.cards > li').id")
	require.Regexp(p.T, "^1–20( of [0-9]+)?$", eval[string](p, "document.querySelector('#place').textContent"))
	p.click(".next a")
	p.sees(fmt.Sprintf("document.querySelector('#place').textContent.startsWith(%q)",
		map[bool]string{true: "1–40", false: "21–40"}[p.V.Script]))
	if p.V.Script {
		p.sees("document.querySelectorAll('.card').length === 40").sees(
			"document.activeElement.closest('.cards > li:nth-child(21)')")
		require.Equal(p.T, 40, eval[int](p,
			"new Set([...document.querySelectorAll('.cards > li')].map(li => li.id)).size"))
		eval[bool](p, "window.left = true, location.reload(), true")
		p.sees("!window.left && document.querySelectorAll('.card').length === 40").sees(
			fmt.Sprintf("document.getElementById(%q)", first))
	} else {
		p.sees("new URL(location).searchParams.has('cursor')").sees(
			"document.querySelectorAll('.card').length === 20").sees(fmt.Sprintf("!document.getElementById(%q)", first))
		p.click(".start a").sees("!new URL(location).searchParams.has('cursor')")
	}

	for i, order := range []string{"most-liked", "hot", "best", "trending"} {
		p.goTo("/app").click(fmt.Sprintf(".choices a:nth-child(%d)", i+2)).sees(fmt.Sprintf("new URL(location).searchParams.get('sort') === %q && document.querySelector('.choices [aria-current]').search.includes(%[1]q)", order))
		p.sees("document.querySelectorAll('.card').length === 20").shot("order " + order)
	}
	p.goTo("/app").click(p.narrowing()).sees(
		"document.querySelector('.tag.on') && new URL(location).searchParams.get('tag')")
	tag := eval[string](p, "new URL(location).searchParams.get('tag')")
	p.sees(fmt.Sprintf("document.querySelector('link[rel=alternate]').getAttribute('href') === '/app/feed.atom?tag=%s'",
		tag))
	var tagged struct{ Items []shown }
	user{t: p.T, url: p.Base, name: "Ann"}.do(200, "GET", "/prompts?limit=20&tag="+tag, nil, &tagged)
	var ids []string
	for _, item := range tagged.Items {
		ids = append(ids, "p-"+item.ID)
	}
	require.Equal(p.T, ids, eval[[]string](p, "[...document.querySelectorAll('.cards > li')].map(li => li.id)"),
		"those with the tag")
	p.click(".choices a:nth-child(2)").sees("new URL(location).searchParams.get('sort') === 'most-liked' && document.querySelector('.choices a:nth-child(2)[aria-current]')")
	require.Equal(p.T, tag, eval[string](p, "new URL(location).searchParams.get('tag')"), "the address keeps the rest")
	p.goTo(eval[string](p, "location.pathname + location.search")).sees(
		"document.querySelector('.tag.on')").shot("filtered")

	was := eval[int](p, "+document.querySelector('.ballot').dataset.likes")
	p.click(".ballot [data-vote=like]").sees("document.querySelector('.ballot [data-vote=like][aria-pressed=true]')")
	page := eval[string](p, "new URL(document.querySelector('.card h2 a')).pathname")
	p.sees(fmt.Sprintf("!%t || +document.querySelector('.ballot').dataset.likes === %d", p.V.Script, was+1))
	if p.V.Script {
		p.sees("document.getElementById('live').textContent === 'Liked'")
	}
	p.goTo(page).sees("document.querySelector('.ballot [data-vote=like][aria-pressed=true]')")
	p.goTo("/app/votes").sees(fmt.Sprintf(
		"[...document.querySelectorAll('.card h2 a')].some(a => a.pathname === %q)", page))
	p.goTo(page).click(".ballot [data-vote=like]").sees(
		"document.querySelector('.ballot [data-vote=like][aria-pressed=false]')")
	if p.V.Script {
		p.sees("document.getElementById('live').textContent === 'Vote taken back'")
		comeBack(p)
	}
}

// account goes where the menu under the own name leads.
func account(p *tab, page string) {
	p.T.Helper()
	for path, reads := range map[string]string{
		"/app/me": "Your profile", "/app/me/tokens": "Access tokens",
		"/app/import": "Import", "/app/me#your-data": "Your data", "/app/mine?show=deleted": "Nothing is deleted.",
	} {
		p.click(".menu summary").click(".menu a[href='" + path + "']").reads(reads).sees(
			"!document.querySelector('.menu[open]')")
	}
	p.click(".menu summary").sees("document.querySelector('.menu[open]')").shot("menu")
	if p.V.Script { // it closes when its user goes on
		p.click("h1").sees("!document.querySelector('.menu[open]')").click(".menu summary").press(kb.Tab).sees(
			"document.activeElement.matches('.menu a')")
		p.press(kb.Escape).sees(
			"!document.querySelector('.menu[open]') && document.activeElement.matches('.menu summary')")
	}
	p.goTo(page)
}

// news marks prompts that are newer than the last visit of the user, and none on the first visit.
func news(p *tab) {
	p.T.Helper()
	p.goTo("/app").sees("document.querySelectorAll('.card').length === 20")
	require.Zero(p.T, eval[int](p, "document.querySelectorAll('.new').length"), "on the first visit")
	const visit = `((at, before) => { for (const k of Object.keys(localStorage)) if (k.startsWith('visit')) localStorage.setItem(k, JSON.stringify({at, before})); return true })`
	eval[bool](p, visit+"(Date.now(), Date.parse(document.querySelectorAll('.card time')[2].dateTime) - 1)")
	p.goTo("/app").sees("document.querySelector('.new')").shot("news")
	n := eval[int](p, "document.querySelectorAll('.cards > .new').length")
	require.GreaterOrEqual(p.T, n, 3)
	require.Regexp(p.T, fmt.Sprintf("^%d new · 1–20", n),
		eval[string](p, "document.querySelector('#place').textContent"))
	p.goTo("/app").sees(fmt.Sprintf("document.querySelectorAll('.new').length === %d", n)) // of the same visit
	eval[bool](p, visit+"(Date.now() - 31 * 60_000, 0)")                                   // all of these came since
	p.goTo("/app").sees("document.querySelectorAll('.new').length === 20")
}

// narrowing finds the first tag that narrows the catalog down: next to the list where there is
// room.
func (p *tab) narrowing() string {
	if p.V.Phone {
		return ".found > .tags .tag"
	}
	return ".rail [data-live]"
}

// allTags finds the link to the catalog of tags.
func (p *tab) allTags() string {
	if p.V.Phone {
		return ".found .more-tags"
	}
	return ".rail .more-tags"
}

// comeBack goes from a list to a prompt, votes there, and comes back to a list that knows it.
func comeBack(p *tab) {
	p.T.Helper()
	p.goTo("/app").click(".next a").sees("document.querySelectorAll('.card').length === 40")
	const ballot = ".cards > li:nth-child(35) .ballot"
	was := eval[int](p, "+document.querySelector('"+ballot+"').dataset.likes")
	p.click(".cards > li:nth-child(35) h2 a").click(".deeds .ballot [data-vote=like]").sees(
		"document.getElementById('live').textContent === 'Liked'")
	p.Back()
	p.sees(
		fmt.Sprintf("(b => b?.querySelector('[aria-pressed=true]') && +b.dataset.likes === %d)(document.querySelector('%s'))", was+1, ballot))
	p.sees(
		fmt.Sprintf("(r => r.top > 0 && r.bottom < innerHeight)(document.querySelector('%s').getBoundingClientRect())",
			ballot))
	p.click(ballot + " [data-vote=like]").sees("document.getElementById('live').textContent === 'Vote taken back'")
}

const letter = "# Dear {{name}}\n\nThank you for **${gift:the socks}**.\n\n<rules>\nBe kind.\n</rules>\n"

// choicesBySave is true if both choices of its visibility are in view, and under nothing, as long
// as Save is: else one saves without a look at them.
const choicesBySave = `[...document.querySelectorAll("#write > .send .primary, [name=visibility]")].filter((e) => {
	const r = e.getBoundingClientRect();
	return document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2) === e;
}).length === 3`

// write writes a prompt and returns the address of its page.
func write(p *tab, title string) string {
	p.T.Helper()
	p.goTo("/app").click("header .primary").sees("document.querySelector('h1')?.textContent === 'New prompt'").sees(
		choicesBySave)
	p.write("#title", title).write("#text", letter).click("[name=tag][value=writing]").click(
		"[name=visibility][value=public]")
	if p.V.Script {
		p.sees(fmt.Sprintf("document.querySelector('[data-count=title]').textContent === '%d'", len(title)))
		p.sees("document.querySelector('[data-count=tags]').textContent === '1'")
		p.write("#title", strings.Repeat("x", 201)).sees(
			"document.querySelector('#title-count.over') && !document.querySelector('#title').validity.valid")
		p.write("#title", title).sees("!document.querySelector('.over')")
	} else {
		// a form that is refused stays where the browser left it
		p.write("#text", strings.Repeat("x", 500_000)).click("form#write .primary").reads("The form is too long").sees(
			"!document.querySelector('main a[href$=\"/new\"]')")
		p.Back()
		p.sees("document.querySelector('#text').value.length === 500000 && document.querySelector('[name=tag][value=writing]').checked").write("#text", letter)
	}
	if p.V.Phone {
		require.Less(p.T, eval[float64](p, "[...document.querySelectorAll('#write *')].filter(e => getComputedStyle(e).position === 'sticky').reduce((sum, e) => sum + e.offsetHeight, 0)"), 90.0, "what stays in view leaves room to write")
	}
	p.shot("writing").click("form#write .primary").reads("The prompt is saved.").shot("prompt")
	page := eval[string](p, "location.pathname")
	p.goTo(page + "/versions/1")
	require.Equal(p.T, letter, eval[string](p, "document.querySelector('#source pre').textContent"),
		"as it was written")
	p.goTo(page)
	return page
}

// read reads a prompt, fills it in and dislikes it.
func read(p *tab) {
	p.T.Helper()
	p.sees("document.querySelector('#rendered .text h3').textContent === 'Dear {{name}}' && document.querySelector('#rendered strong')").reads("<rules>")
	if p.V.Phone {
		require.Less(p.T, eval[float64](p, "document.querySelector('#rendered').getBoundingClientRect().top + scrollY"),
			520.0, "the text is what is seen first")
		p.click("#fill-is summary") // it is open next to the text if there is room
	}
	if p.V.Script {
		p.sees("[...document.querySelectorAll('[data-empty]')].every(e => e.textContent === '1 empty') && document.querySelectorAll('#source mark.open').length === 1")
	}
	p.write("#v0", "Bob & <Co>")
	if p.V.Script {
		p.sees("!document.querySelector('[data-empty]:not(:empty)') && !document.querySelector('mark.open')")
	} else {
		p.click("#fill button")
	}
	const filled = "# Dear Bob & <Co>\n\nThank you for **the socks**.\n\n<rules>\nBe kind.\n</rules>\n"
	p.sees(fmt.Sprintf("document.querySelector('#source pre').textContent === %q", filled)).shot("filled")
	p.sees("document.querySelector('#rendered .text h3').textContent === 'Dear Bob & <Co>'")
	if p.V.Script {
		eval[bool](p, "navigator.clipboard.writeText = async (text) => { window.copied = text }, true")
		p.click("[data-copy=source]").sees(fmt.Sprintf("window.copied === %q", filled))
		eval[bool](p, "window.copied = '', document.activeElement.blur(), true")
		p.press("c").sees(fmt.Sprintf("window.copied === %q", filled))
	}
	keepIt(p)
	searchAuthor(p)
	p.click("[data-view=source]").sees(
		"!document.getElementById('source').hidden && document.getElementById('rendered').hidden")
	p.click("[data-view=rendered]").sees(
		"document.getElementById('source').hidden && !document.getElementById('rendered').hidden")
	p.click(".ballot [data-vote=dislike]").sees("document.querySelector('[data-vote=dislike][aria-pressed=true]') && document.querySelector('.score b').textContent === '−1'")
}

// keepIt makes the prompt that is shown a favorite, finds it among those, takes that back, and
// reads how it is shared.
func keepIt(p *tab) {
	p.T.Helper()
	page := eval[string](p, "location.pathname.replace(/\\/fill$/, '')")
	p.click("#favorite button").sees("document.querySelector('#favorite [aria-pressed=true]')")
	p.goTo("/app/favorites").sees(fmt.Sprintf("document.querySelector('.card h2 a').pathname === %q", page)).shot(
		"favorites").click(".card h2 a")
	p.click("#favorite [aria-pressed=true]").sees("document.querySelector('#favorite [aria-pressed=false]')")
	p.goTo("/app/favorites").reads("There is no favorite of yours to show").goTo(page)
	const place = "(r => [r.x, r.y].join())(document.querySelector('#share summary').getBoundingClientRect())"
	was := eval[string](p, place)
	p.click("#share summary").sees("document.querySelector('#share').open")
	require.Equal(p.T, was, eval[string](p, place), "it stays under the pointer")
	p.sees(fmt.Sprintf("document.querySelector('#link').textContent === %q", p.Base+page)).shot("shared")
	if p.V.Script {
		eval[bool](p, "navigator.clipboard.writeText = async (text) => { window.copied = text }, true")
		p.click("[data-copy=link]").sees(fmt.Sprintf("window.copied === %q", p.Base+page))
	}
}

// searchAuthor looks for the prompt among those of its author, by word and by tag, and comes back.
func searchAuthor(p *tab) {
	p.T.Helper()
	page := eval[string](p, "location.pathname")
	p.click(".meta .author").sees("location.pathname.startsWith('/app/u/') && document.querySelector('.card')").write(
		"#q", "letter "+p.V.Name)
	if !p.V.Script {
		p.press(kb.Enter)
	}
	p.sees("new URL(location).searchParams.get('q')").sees(
		fmt.Sprintf("document.querySelectorAll('.card').length === 1 && document.querySelector('.card h2 a').pathname === %q", page))
	p.click(".found > .tags .tag").sees(
		"new URL(location).searchParams.get('tag') === 'writing' && document.querySelector('.tag.on')").shot(
		"author searched")
	p.click(".card h2 a").sees(fmt.Sprintf("location.pathname === %q", page))
}

// twoTabs edits a prompt in two tabs: the second one is told.
func twoTabs(p *tab, page string) {
	p.T.Helper()
	other := p.another().goTo(page + "/edit")
	p.goTo(page).click("a[href$='/edit']").reads("Edit prompt").sees(choicesBySave)
	other.write("#text", "From the other tab").click("form#write .primary").reads("Your changes are saved.")
	p.write("#text", "From this tab: {{name}}, Dear").click("form#write .primary").reads("saved in another tab").reads(
		"From the other tab").shot("conflict")
	require.Equal(p.T, "From this tab: {{name}}, Dear", eval[string](p, "document.getElementById('text').value"),
		"nothing is lost")
	p.click("form#write .primary").reads("Your changes are saved.").reads("From this tab")
	versions(p, page)
}

// versions compares what the tabs saved, restores it, and moves a label.
func versions(p *tab, page string) {
	p.T.Helper()
	p.click("a[href$='/versions']").reads("Version 3").shot("versions")
	p.click(".compare button").sees(
		"document.querySelector('del').textContent && document.querySelector('ins').textContent").shot("compared")
	p.click(".choices a:nth-child(2)").sees(
		"document.querySelector('.split del') && document.querySelector('.split ins')").shot("side by side")
	p.goTo(page+"/versions/2").reads("From the other tab").write("#label", "production").click(
		"form[action$='/labels'] button").reads("Put on version 2")
	p.write("#version", "3").click(".put button").reads("Moved from version 2 to version 3").click(
		"form[action$='/undo'] button").reads("undone").shot("labels")
	p.goTo(page).reads("production → version 2").goTo(page + "/versions/2").click(".manage details summary").click(
		"form[action$='/restore'] button")
	p.reads("The prompt has the content of that version now").reads("From the other tab").goTo(
		page + "/versions/3").click(".manage details summary")
	p.click("form[action$='/restore'] button").reads("The prompt has the content of that version now").reads(
		"From this tab")
}

// fork makes a copy of a prompt, and merges what its author changes meanwhile.
func fork(bob, ann *tab, page string) {
	bob.T.Helper()
	bob.goTo(page).click("#share summary").click("form[action$='/fork'] button").reads(
		"This is your copy now.").reads("Forked from version")
	copied := eval[string](bob, "location.pathname")
	ann.goTo(page+"/edit").write("#text", "From this tab: {{name}}, Dear friend").click(
		"form#write .primary").reads("Your changes are saved.")
	bob.goTo(copied).reads("which has changed since").shot("changed upstream").click("a[href$='/upstream']").sees(
		"document.querySelector('ins')").shot("upstream")
	bob.click("form[action$='/upstream'] button").reads("The changes are merged").reads("Dear friend")
}

// moderate hides a prompt, which then only its author sees, and shows it again.
func moderate(root, ann, bob *tab, page string) {
	root.T.Helper()
	root.goTo(page).click(".manage:last-of-type summary").write("#reason", "Too friendly").click(
		"form[action$='/hide'] button").reads("The prompt is hidden.").reads("Too friendly").shot("hidden")
	bob.goTo(page).reads("Not found")
	ann.goTo(page).reads("Too friendly")
	root.click("form[action='" + page + "/unhide'] button").reads("The prompt is shown again.")
	bob.goTo(page).reads("From this tab")
	root.Calm()
}

// takeBack makes a prompt private, deletes it and restores it.
func takeBack(ann, bob *tab, page string) {
	ann.T.Helper()
	ann.goTo(page).click("[name=to][value=private]").reads("The prompt is private now")
	bob.goTo(page).reads("Not found")
	ann.click(".manage details summary").click("form[action$='/delete'] button").reads(
		"The prompt is deleted.").shot("deleted")
	ann.click("form[action='" + page + "/restore'] button").reads("The prompt is restored.")
}

// keyboard uses the catalog without a mouse.
func keyboard(t *testing.T, b browser, base string) {
	p := b.visit(t, base, variants[0]).signIn("Kay", false).goTo("/app")
	p.press(kb.Tab).sees(
		"document.activeElement.matches('.skip') && document.activeElement.getBoundingClientRect().width > 50")
	p.press(kb.Enter).sees("location.hash === '#main'")
	p.press(kb.Tab).sees("document.activeElement.id === 'q'").shot("focus")
	for range 60 {
		require.True(t, eval[bool](p, "(f => f.matches(':focus-visible') && (getComputedStyle(f).outlineStyle !== 'none'))(document.activeElement)"), "the focus is to be seen")
		if eval[bool](p, "document.activeElement.dataset.vote === 'like'") {
			break
		}
		p.press(kb.Tab)
	}
	p.press(" ").sees("document.activeElement.matches('[data-vote=like][aria-pressed=true]')")
	p.sees("document.getElementById('live').textContent === 'Liked'")
	p.goTo("/app").sees("document.querySelector('[data-vote=like][aria-pressed=true]')")
	eval[bool](p, "document.querySelector('"+p.allTags()+"').focus(), true")
	p.press(kb.Enter).sees("document.activeElement.closest('#panel')").press(kb.Enter).sees(
		"document.querySelector('.tag.on') && document.activeElement.closest('#results')")
	shortKeys(p)
	wishes(p)
	p.Calm()
	orderTags(b.visit(t, base, variants[0]).signIn("Root", true))
}

// orderTags moves tags by the arrow keys and by the mouse, and saves the order.
func orderTags(p *tab) {
	p.T.Helper()
	list := "[...document.querySelectorAll('.catalog [name=tag]')].map(i => i.value)"
	was := eval[[]string](p.goTo("/app/admin/tags"), list)
	eval[bool](p, "document.querySelectorAll('.grip')[2].focus(), true")
	p.press(kb.ArrowUp).press(kb.ArrowUp).sees(
		fmt.Sprintf("%s[0] === %q && document.activeElement.ariaLabel === %q", list, was[2], "Move "+was[2]))
	p.press(kb.ArrowUp).press(kb.ArrowDown)
	want := append([]string{was[0], was[2], was[1]}, was[3:]...)
	require.Equal(p.T, want, eval[[]string](p, list))
	// the mouse takes the first one below the third
	at := eval[[]float64](p, "[0, 2].flatMap(i => { const r = document.querySelectorAll('.grip')[i].getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2] })")
	for _, m := range []input.DispatchMouseEventParams{
		{Type: "mousePressed", X: at[0], Y: at[1], Button: "left", ClickCount: 1},
		{Type: "mouseMoved", X: at[2], Y: at[3], Button: "left"},
		{Type: "mouseReleased", X: at[2], Y: at[3], Button: "left", ClickCount: 1},
	} {
		call(p, input.DispatchMouseEvent, m)
	}
	want = append([]string{was[2], was[1], was[0]}, was[3:]...)
	p.sees(fmt.Sprintf("%s.slice(0, 3).join() === %q && !document.querySelector('.dragged')", list,
		strings.Join(want[:3], ",")))
	p.shot("tags moved").click(".save button").reads("The tags are saved.").sees(
		fmt.Sprintf("%s.join() === %q", list, strings.Join(want, ",")))
	p.Calm()
}

// wishes goes by the palette to a prompt, to a page, and does something there.
func wishes(p *tab) {
	p.T.Helper()
	open := func() {
		p.sees("document.readyState === 'complete'") // with the script, where a choice has led to another page
		eval[bool](p, "document.dispatchEvent(new KeyboardEvent('keydown', {key: 'k', ctrlKey: true, bubbles: true, cancelable: true})), true")
		p.sees("document.querySelector('#palette').open && document.activeElement.id === 'wish'")
	}
	selected := "document.querySelector('#wishes [aria-selected=true]')"
	p.goTo("/app")
	title := eval[string](p, "document.querySelectorAll('.card h2')[2].textContent")
	open()
	p.write("#wish", title).sees(
		fmt.Sprintf("[...document.querySelectorAll('#wishes li span')].some(s => s.textContent === %q)", title))
	for range 20 {
		if eval[string](p, selected+".firstChild.textContent") == title {
			break
		}
		p.press(kb.ArrowDown)
	}
	p.sees("document.querySelector('#wish').getAttribute('aria-activedescendant') === " + selected + ".id").press(
		kb.Enter).sees("location.pathname.startsWith('/app/prompts/')")
	open()
	p.write("#wish", "favorite").sees(selected).press(kb.ArrowDown).press(kb.ArrowUp)
	p.sees("[...document.querySelectorAll('#wishes li')].map(li => li.textContent).join().startsWith('Favorites')")
	p.press(kb.ArrowDown).press(kb.Enter).sees(
		"!document.querySelector('#palette').open && document.querySelector('#favorite [aria-pressed=true]')")
	open()
	p.write("#wish", "favorites").sees(selected).press(kb.Enter).sees(
		"location.pathname === '/app/favorites'").reads(title)
	open()
	p.press(kb.Escape).sees("!document.querySelector('#palette').open")
}

// shortKeys goes through a list by single keys, copies from it, and switches them off.
func shortKeys(p *tab) {
	p.T.Helper()
	at := func(n int) string {
		return fmt.Sprintf("document.activeElement === document.querySelectorAll('.cards h2 a')[%d]", n)
	}
	p.goTo("/app").press("j").sees(at(0)).press("j").sees(at(1)).press("k").sees(at(0))
	eval[bool](p, "navigator.clipboard.writeText = async (text) => { window.copied = text }, true")
	p.press("c").sees("window.copied && document.getElementById('live').textContent === 'Copied'")
	copied := eval[string](p, "window.copied")
	p.press(kb.Enter).sees("document.querySelector('#source pre')")
	require.Equal(p.T, copied, eval[string](p, "document.querySelector('#source pre').textContent"))
	p.goTo("/app").press("/").sees("document.activeElement.id === 'q'").press("j").sees(
		"document.querySelector('#q').value.endsWith('j')")
	p.goTo("/app").press("?").sees("document.querySelector('#keys').open").shot("keys").click("#keys-on").click(
		"#keys .primary").sees("!document.querySelector('#keys').open")
	p.press("j").sees("!document.activeElement.closest('.cards')").press("?").sees(
		"document.querySelector('#keys').open").click("#keys-on").press(kb.Escape).sees(
		"!document.querySelector('#keys').open")
	require.True(p.T, eval[bool](p, `(() => {
		const sheet = document.querySelector('#keys');
		sheet.showModal();
		sheet.querySelector('.primary').focus();
		sheet.close();
		document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: '?', bubbles: true }));
		return sheet.open;
	})()`), "a key right after the sheet was closed")
}

// offline loses the connection: votes roll back, lists say so, and all goes on when it is back.
func offline(t *testing.T, b browser, base string) {
	p := b.visit(t, base, variants[1]).signIn("Olga", false)
	cut := func(off bool) {
		call(p, cdp.Command[network.OverrideNetworkStateParams, cdp.Empty]{Method: "Network.emulateNetworkConditions"},
			network.OverrideNetworkStateParams{Offline: off, DownloadThroughput: -1, UploadThroughput: -1})
	}
	score := eval[string](p, "document.querySelector('.score b').textContent")
	cut(true)
	p.reads("You are offline.")
	p.click("[data-vote=like]").reads("Your vote was not counted.").sees(
		"document.querySelector('[data-vote=like][aria-pressed=false]')").shot("offline")
	require.Equal(t, score, eval[string](p, "document.querySelector('.score b').textContent"))
	p.write("#q", "act").sees("!document.getElementById('failed').hidden")
	require.Equal(t, 20, eval[int](p, "document.querySelectorAll('.card').length"), "what was there stays")
	// and not a page of the browser
	p.click(".menu summary").click(".menu form button").reads("You are offline. Nothing was sent").sees(
		"location.pathname === '/app'")
	cut(false)
	p.sees("document.getElementById('offline').hidden").click("#failed button").sees(
		"document.getElementById('failed').hidden && new URL(location).searchParams.get('q') === 'act'")
	p.click("[data-vote=like]").sees("document.getElementById('live').textContent === 'Liked'")
	lostDrafts(p)
	lostSession(p)
}

// lostDrafts loses the page while the server takes no form: the draft is put back, or is not
// overwritten before it is.
func lostDrafts(p *tab) {
	p.T.Helper()
	call(p, page.AddScriptToEvaluateOnNewDocument,
		page.AddScriptToEvaluateOnNewDocumentParams{Source: `window.fetch = (f => async (a, o) =>
		localStorage.busy && o?.method === 'POST' ? new Response('<main><p>Too many.</p></main>', { status: 429 }) : f(a, o))(fetch)`})
	again := func(busy string) {
		eval[string](p, "document.querySelector('#write').dispatchEvent(new SubmitEvent('submit', { bubbles: true })), localStorage.busy = '"+busy+"'")
		p.goTo("/app/prompts/new")
	}
	p.goTo("/app/prompts/new").write("#title", "Kept").write("#text", "All of it").click("[name=tag][value=text]")
	again("yes")
	p.reads("did not save it").sees("document.querySelector('#title').value === ''").click("#draft button")
	p.reads("is back").sees("document.querySelector('#title').value === 'Kept' && document.querySelector('[data-count=text]').textContent === '9' && document.querySelector('[data-count=tags]').textContent === '1'")
	again("")
	p.click("#draft button").reads("is back").click("[value=chat]").sees("document.querySelector('#content0')")
	again("yes")
	p.click("#draft button").reads("Too many.").click("#title").press("x")
	p.sees("Object.values(localStorage).some(v => v.includes('title=Kept') && v.includes('content=All+of+it'))").shot(
		"draft kept")
	eval[string](p, "localStorage.busy = ''")
	p.click("#draft button").reads("is back").sees("document.querySelector('#title').value === 'Kept' && document.querySelector('#content0').value === 'All of it'").discard()
}

// lostSession writes while the session ends: the draft is there after signing in again.
func lostSession(p *tab) {
	p.T.Helper()
	p.goTo("/app/prompts/new").write("#title", "Written before").write("#text", "Say")
	writtenMeanwhile(p)
	p.click("[value=add-message]").write("#content1", "Said.")
	call(p, network.ClearBrowserCookies, cdp.Empty{})
	p.click("form#write .primary").reads("Sign in").write("#name", "Olga").click("main button").reads(
		"did not save it").click("#draft button").reads("is back").shot("draft is back")
	p.sees("document.querySelector('#title').value === 'Written before' && document.querySelector('#content1').value === 'Said.'")
	p.click("form#write .primary").reads("The prompt is saved.")
	// The script of the page, which runs after its text, forgets the draft and that it is done.
	p.sees("!new URL(location).searchParams.has('done')").goTo("/app/prompts/new")
	p.sees("document.querySelector('#text').value === '' && !Object.keys(localStorage).some(k => k.startsWith('draft')) && !document.querySelector('#draft')")
}

// writtenMeanwhile goes on writing while buttons of the form are answered: nothing of it is lost.
func writtenMeanwhile(p *tab) {
	p.T.Helper()
	const hold = `(f => { window.fetch = async (...a) => { if (a[1]?.body?.get?.("do") === "preview") return f(...a); await new Promise(r => { window.answer = r }); window.fetch = f; return f(...a) } })(fetch), true`
	eval[bool](p, hold)
	p.click("#similar").sees("window.answer").write("#text", "Say {{what}}").click(
		"[name=visibility][value=public]").click("[name=tag][value=text]")
	eval[bool](p, "(f => { f.focus(); f.setSelectionRange(2, 5); window.answer(); return true })(document.querySelector('#text'))")
	p.reads("No similar prompt.").sees("document.activeElement.id === 'text' && document.activeElement.value === 'Say {{what}}' && document.activeElement.selectionStart === 2")
	p.sees("document.querySelector('[value=public]').checked && document.querySelector('[data-count=tags]').textContent === '1' && Object.values(localStorage).some(v => v.includes('what'))")
	eval[bool](p, "window.answer = null, "+hold)
	p.click("[value=chat]").sees("window.answer && document.querySelector('#text').closest('[inert]')").write(
		"#title", "Written before all")
	p.click("#similar") // it waits for its turn, which the answer takes
	eval[bool](p, "window.answer(), true")
	p.sees("document.querySelector('#content0').value === 'Say {{what}}' && document.querySelector('#title').value === 'Written before all'").write("#title", "Written before")
}
