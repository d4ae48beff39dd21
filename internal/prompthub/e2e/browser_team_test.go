package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/testing/browsertest"
)

// TestBrowserTeam is the story of two people. Ann makes a workspace and adds Bob as an author. Bob
// writes there and is named, and Ann releases his version. On a phone and on a desktop the pages
// are accessible.
func TestBrowserTeam(t *testing.T) {
	t.Parallel()
	work(t)
	b := startBrowser(t)
	a := startLocal(t, "embedded")
	for i, v := range variants {
		if full() || i == 0 || i == 3 {
			t.Run(v.Name, func(t *testing.T) {
				team(t, b, a.url(), v, []string{"billing", "phones", "support", "sales"}[i])
			})
		}
	}
}

// fits requires that a page is not wider than the window.
func fits(p *tab, name string) {
	p.T.Helper()
	eval[bool](p, "scrollTo(0, 0), true")
	require.LessOrEqual(p.T, eval[float64](p, "document.documentElement.scrollWidth - innerWidth"), 0.0,
		"%s: wider than the window", name)
}

func team(t *testing.T, b browser, base string, v browsertest.Variant, handle string) {
	shown := shower(t, v)
	bob := b.visit(t, base, v).signIn("Bob", false)
	bob.goTo("/app/prompts/new").write("#title", "Mine").write("#text", "text").click(
		"form#write .primary").reads("Mine")

	ann := b.visit(t, base, v).signIn("Ann", false)
	if v.Phone {
		ann.click(".menu summary").sees("document.querySelector('.menu[open]')").click(".menu a[href='/app/w']")
	} else {
		ann.click("header nav a[href='/app/w']")
	}
	ann.reads("New workspace")
	shown(ann, "no workspaces")
	ann.write("#name", "Billing").write("#handle", handle).write("#about",
		"Letters to customers, and what goes with them.").click("main .stack .primary").reads("The workspace is there.")
	shown(ann, "empty workspace")
	ann.goTo("/app/w/"+handle+"/members").write("#principal", "bob").click("main .stack .primary").reads(
		"The member has this role now.").reads("bob")
	shown(ann, "members")
	ann.write("#principal", "nobody-there").click("main .stack .primary").reads("There is no such user")
	shown(ann, "members, wrong")

	bob.goTo("/app/w").reads("author").click("main .tokens a[href$='/" + handle + "']").sees(
		"location.pathname === '/app/w/" + handle + "'").reads("You are an author.")
	bob.click("main .bar .button").sees("document.querySelector('#owner').value === '" + handle + "'")
	bob.write("#title", "Dunning letter").write("#text", "Dear {{customer}},\n\nplease pay **{{amount}}** by {{day}}.")
	shown(bob, "editor")
	bob.click("form#write .primary").reads("The prompt is saved.").reads("of Billing").reads("by bob").sees(
		"!document.querySelector('#release') && !document.querySelector('.manage')")
	shown(bob, "prompt of the author")
	page := eval[string](bob, "location.pathname")
	bob.goTo(page+"/edit").sees("!document.querySelector('[value=public]')").write("#text",
		"Dear {{customer}},\n\nplease pay **{{amount}}** soon.").write("#message", "Softer").click(
		"form#write .primary").reads("Your changes are saved.")

	ann.goTo("/app/w/" + handle).reads("Dunning letter")
	shown(ann, "workspace")
	ann.click(".card h2 a").reads("Version 2 by bob").reads("Release version 2")
	shown(ann, "prompt of the administrator")
	ann.click("#release button").reads("Programs and assistants get this version now.")
	bob.goTo(page + "/labels?label=production").reads("Put on version 2 by ann").sees(
		"!document.querySelector('main form')")
	shown(bob, "labels")
	bob.goTo(page + "/versions").reads("Softer").sees(
		"document.querySelector('.editions .author').textContent === 'bob'")
	shown(bob, "versions")
	ann.goTo("/app/w/"+handle+"/settings").write("#name", "Nightly job").click(
		"form[action$='/tokens'] .primary").reads("The new token")
	shown(ann, "settings")

	out := b.visit(t, base, v).signIn("Eve", false)
	out.goTo("/app/w/" + handle).reads("There is no such workspace, or you are no member of it.")
	ann.goTo("/app/w/" + handle + "/settings").click("main details:has(form[action$='/delete']) summary").click(
		"form[action$='/delete'] button").reads("The workspace is deleted.")
	shown(ann, "deleted workspace")
	bob.goTo(page).reads("There is no such prompt")
	ann.click("form[action$='/restore'] button").reads("The workspace is restored.").reads("Dunning letter")
	for _, p := range []*tab{ann, bob} {
		p.Calm()
	}
}
