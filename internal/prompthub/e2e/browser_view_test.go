package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	maxWeight = 50 << 10 // bytes, as transferred
	// A browser under load shows a page while it arrives, and then its last line moves by a few pixels
	// as it becomes whole: some 0.0005. A line that comes late above a list is 0.02 and more.
	maxShift = 0.01
)

// firstView measures what somebody waits for who comes for the first time.
func firstView(t *testing.T, b browser, base string) {
	for _, v := range variants[:2] {
		p := b.visit(t, base, v).signIn("Eve", false)
		fresh := p.another()
		fresh.goTo("/app").sees("document.querySelectorAll('.card').length === 20")
		const shifts = `new Promise(done => {
			const all = {sum: 0, told: []}, place = (r) => [r.x, r.y, r.width, r.height].map(Math.round).join(' ');
			const told = (e) => e.sources.map(s => (s.node?.parentElement ?? s.node)?.outerHTML?.slice(0, 200) + ' from ' + place(s.previousRect) + ' to ' + place(s.currentRect));
			new PerformanceObserver(list => { for (const e of list.getEntries()) { all.sum += e.value; all.told.push(e.value + ': ' + told(e)) } }).observe({type: 'layout-shift', buffered: true});
			setTimeout(() => done(all), 300);
		})`
		shift := eval[struct {
			Sum  float64
			Told []string
		}](fresh, shifts)
		require.Less(t, shift.Sum, maxShift, "%s: the layout shifts: %v", v.name, shift.Told)
		fresh.calm()

		bare := b.visit(t, base, v) // nothing in a cache
		bare.goTo("/app/signin")
		bare.signIn("Eve", false).sees("document.querySelectorAll('.card').length === 20")
		bare.mu.Lock()
		require.Less(t, bare.bytes, float64(maxWeight), v.name)
		t.Logf("%s: %d requests, %.0f bytes for signing in and the first view", v.name, len(bare.requests), bare.bytes)
		bare.mu.Unlock()
		require.LessOrEqual(t, eval[float64](bare, "document.documentElement.scrollWidth - innerWidth"), 0.0, "%s: wider than the window", v.name)
	}
}

// axe returns the source of axe-core.
func axe(t *testing.T) string {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(root, "internal/tools/web/node_modules/axe-core/axe.min.js"))
	if err != nil {
		const missing = "axe-core is not installed: pages are not checked for accessibility (npm ci --prefix internal/tools/web)"
		if os.Getenv("CI") == "true" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	return string(source)
}

// A stop is a page on the tour, and how one gets into its states.
type stop struct {
	name, path string
	then       func(p *tab)
}

// accessible lets axe-core look at every page and state, light and dark, at both sizes.
func accessible(t *testing.T, b browser, base string) {
	source := axe(t)
	p := b.visit(t, base, variants[0]).signIn("Root", true)
	page := write(p, "Accessible ${name:x}")
	hidden := write(p, "Hidden")
	p.goTo(hidden).click(".manage:last-of-type summary").write("#reason", "A reason").click("form[action$='/hide'] button").reads("The prompt is hidden.")
	edited := write(p, "Edited")
	p.click("form[action$='/fork'] button").reads("This is your copy now.")
	forked := eval[string](p, "location.pathname")
	p.goTo(edited+"/edit").write("#text", strings.Replace(letter, "Thank you", "Many thanks", 1)+"\nYours").click("form#write .primary").reads("Your changes are saved.")
	p.goTo(edited+"/versions/1").write("#label", "production").click("form[action$='/labels'] button").reads("Put on version 1")
	gone := write(p, "Gone")
	p.goTo(gone).click(".manage details summary").click("form[action$='/delete'] button").reads("The prompt is deleted.")
	for _, v := range variants[:2] {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			p := b.visit(t, base, v).signIn("Root", true)
			for _, s := range tour(page, hidden, edited, forked) {
				look(p, s, source)
			}
		})
	}
	visitor := b.visit(t, base, variants[0]).goTo("/app/signin")
	check(visitor, source, "sign in")
}

// look checks a stop of the tour, light and dark.
func look(p *tab, s stop, source string) {
	p.t.Helper()
	p.goTo(s.path)
	if s.then != nil {
		s.then(p)
	}
	for _, scheme := range []string{"light", "dark"} {
		p.scheme(scheme)
		check(p, source, s.name+" "+scheme)
		p.shot(s.name + " " + scheme)
	}
}

// check requires that axe-core finds nothing to complain of on a page.
func check(p *tab, source, name string) {
	p.t.Helper()
	p.ready("main")
	if !eval[bool](p, "'axe' in window") {
		eval[bool](p, source+"; true")
	}
	found := eval[struct {
		Passes     int
		Violations json.RawMessage
	}](p, `axe.run().then(r => ({
		passes: r.passes.length,
		violations: r.violations.map(v => ({id: v.id, help: v.help, nodes: v.nodes.map(n => n.html + ' ' + n.failureSummary)})),
	}))`)
	require.Greater(p.t, found.Passes, 10, "axe-core looked at nothing")
	require.JSONEq(p.t, "[]", string(found.Violations), "%s, %s", p.v.name, name)
}

// discard lets the page forget what is written in its form, so that it can be left.
func (p *tab) discard() {
	p.t.Helper()
	p.ready("#write")
	eval[int](p, "sessionStorage.clear(), document.querySelector('#write').dispatchEvent(new SubmitEvent('submit', {bubbles: true})), 1")
}

func tour(page, hidden, versions, forked string) []stop {
	return []stop{
		{"catalog", "/app", nil},
		{"all tags", "/app", func(p *tab) { p.click(".more-tags").sees("document.querySelector('#panel .tag')") }},
		{"tags", "/app/tags", nil},
		{"filtered", "/app?tag=text&q=act", nil},
		{"empty", "/app?q=zzzzzz", nil},
		{"keys", "/app", func(p *tab) { p.click("#keys-show").sees("document.querySelector('#keys').open") }},
		{"wrong", "/app?cursor=x", nil},
		{"voted", "/app", func(p *tab) { p.click("[data-vote=like]").sees("document.getElementById('live').textContent !== ''") }},
		{"prompt", page, nil},
		{"source", page + "?view=source", nil},
		{"manage", page, func(p *tab) {
			eval[int](p, "document.querySelectorAll('details').forEach(d => d.open = true), scrollTo(0, 9999), 1")
		}},
		{"hidden prompt", hidden, nil},
		{"versions", versions + "/versions", nil},
		{"a version", versions + "/versions/1", func(p *tab) {
			eval[int](p, "document.querySelectorAll('details').forEach(d => d.open = true), 1")
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
			eval[int](p, "(f => { f.noValidate = true; f.requestSubmit(); return 1 })(document.querySelector('#write'))")
			p.reads("Give the prompt a title.").discard()
		}},
		{"declaring", page + "/edit", func(p *tab) {
			p.click(".declare summary").click("[value=find-variables]").sees("document.querySelector('#vname0')")
			eval[int](p, "document.querySelector('.declare').scrollIntoView(), 1")
			p.discard()
		}},
		{"writing a chat", "/app/prompts/new", func(p *tab) {
			p.write("#text", "Review {{code}}").click("[value=chat]").sees("document.querySelector('#content0').value === 'Review {{code}}'")
			p.click("[value=add-message]").sees("document.activeElement.id === 'content1'").discard()
		}},
		{"conflict", page + "/edit", func(p *tab) {
			p.write("#title", "Changed "+p.v.name)
			eval[int](p, "document.querySelector('[name=revision]').value = 0, document.querySelector('#write .primary').click(), 1")
			p.reads("saved in another tab").discard()
		}},
		{"mine", "/app/mine", nil},
		{"deleted", "/app/mine?show=deleted", nil},
		{"votes", "/app/votes", nil},
		{"author", "/app", func(p *tab) {
			p.click(".card .author").sees("location.pathname.startsWith('/app/u/') && document.querySelector('.card')")
		}},
		{"profile", "/app/me", nil},
		{"new token", "/app/me/tokens", func(p *tab) {
			p.write("#name", "My editor").click("main .stack .primary").reads("Your new token").reads("not used yet")
		}},
		{"tag catalog", "/app/admin/tags", nil},
		{"moderation", "/app/admin/hidden", nil},
		{"not found", "/app/nosuch", nil},
	}
}
