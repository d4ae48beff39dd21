package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/testing/browsertest"
)

// TestBrowserReview is the story of a version that two people of one group bring live. Ann makes
// the group a member and asks for a rule, writes and proposes; Cat asks for changes; Ann proposes a
// new version; Cat approves it, and production moves. An outsider sees nothing of it, and the
// events tell all of it.
func TestBrowserReview(t *testing.T) {
	t.Parallel()
	work(t)
	b := startBrowser(t)
	a := startLocal(t, "embedded")
	for i, v := range variants {
		if full() || i == 0 || i == 3 {
			t.Run(v.Name, func(t *testing.T) {
				review(t, b, a.url(), v, []string{"letters", "notes", "calls", "forms"}[i])
			})
		}
	}
}

// shower returns a function that checks a page as it is shown: where scripts run, by axe in the
// dark on a desktop and in the light on a phone, or both on each where E2E_FULL is set.
func shower(t *testing.T, v browsertest.Variant) func(p *tab, name string) {
	source := ""
	if v.Script {
		source = browsertest.Axe(t)
	}
	accessible := func(p *tab, name, scheme string) {
		if full() {
			browsertest.Accessible(p.Tab, source, name)
		} else {
			browsertest.AccessibleIn(p.Tab, source, name, scheme)
		}
		fits(p, name)
	}
	return func(p *tab, name string) {
		p.T.Helper()
		if !v.Script {
			fits(p, name)
			return
		}
		accessible(p, name, "dark")
		p.Resize(variants[1])
		accessible(p, name, "light")
		require.Empty(p.T, eval[[]string](p, missed), "%s: too small for a finger", name)
		p.Resize(v)
	}
}

func review(t *testing.T, b browser, base string, v browsertest.Variant, handle string) {
	shown := shower(t, v)
	cat := b.visit(t, base, v).signInOf("editors", "Cat")
	cat.goTo("/app/prompts/new").write("#title", "Mine").write("#text", "text").click(
		"form#write .primary").reads("Mine")
	ann := b.visit(t, base, v).signInOf("editors", "Ann")
	ann.goTo("/app/w").write("#name", "Letters <b>שלום</b>").write("#handle", handle).click(
		"main .stack .primary").reads("The workspace is there.")
	ann.goTo("/app/w/"+handle+"/members").click("details:has(#directory) summary").write("#directory", "editors")
	shown(ann, "a group to add")
	ann.sees("document.querySelector('details:has(#directory)').open || (document.querySelector('details:has(#directory)').open = true)")
	ann.sees("(document.querySelector('#directory-role').value = 'publisher')").click(
		"details:has(#directory) button").reads("The member has this role now.")
	ann.reads("everybody in this group of the directory")
	ann.goTo("/app/w/"+handle+"/settings").write("#label1", "production").write("#approvals1", "1")
	shown(ann, "rules, new")
	ann.click(".ruling .primary").reads("The rules are saved.").sees(
		"document.querySelector('#label1').value === 'production'")

	ann.goTo("/app/prompts/new?owner="+handle).write("#title", "Greeting <i>").write("#text",
		"Hello {{name}},\n\nhow can we help?\n\nYours").click("form#write .primary").reads("The prompt is saved.")
	page := eval[string](ann, "location.pathname")
	ann.reads("live: nothing").sees("!document.querySelector('#release')")
	ann.click("#propose > summary").sees("document.querySelector('#propose[open]')")
	shown(ann, "propose on the page of a prompt")
	ann.sees("document.querySelector('#propose[open]') || (document.querySelector('#propose').open = true)")
	ann.write("#propose textarea", "The first one").click("#propose .primary").reads("The version is proposed.").reads(
		"1 approval is missing").reads("You are one of its authors")
	at := eval[string](ann, "location.pathname")
	ann.sees("!document.querySelector('[value=approve]')")
	shown(ann, "proposal of one's own")

	cat.goTo("/app/w/" + handle).sees("/Review\\s+1/.test(document.querySelector('nav.choices').textContent)").click(
		"nav.choices a[href$='/review']").reads("Greeting <i>")
	shown(cat, "queue")
	cat.click("main nav[aria-label='Which proposals'] a:last-child").sees(
		"location.search === '?for=me'").reads("Greeting <i>")
	cat.click(".editions h2 a").sees("location.pathname === '" + at + "'").reads("how can we help?")
	shown(cat, "proposal to review")
	cat.click("#review [value=comment]").sees("document.querySelector('#text-wrong, #text:invalid')")
	cat.write("#text", "Say <b>dear</b>, please.").click("#review [value=changes]").reads(
		"You asked for changes.").reads("Say <b>dear</b>, please.")
	shown(cat, "changes asked for")

	ann.goTo(page+"/edit").write("#text", "Dear {{name}},\n\nhow can we help?\n\nYours").write("#message",
		"Kinder").click("form#write .primary").reads("Your changes are saved.")
	ann.click("#proposed").reads("Say <b>dear</b>, please.").click("form[action$='/version'] button").reads(
		"The proposal is for this version now").reads("of an earlier version")
	shown(ann, "proposed anew")
	cat.click("#review [value=approve]").reads("another digest than you read") // she had the page open
	shown(cat, "the version changed meanwhile")
	cat.click("#review [value=approve]").reads("That was the last approval").reads("It was approved by cat")
	shown(cat, "approved")
	ann.goTo(page).sees("/live:\\s*(version\\s+)?2/.test(document.querySelector('.state.live').textContent)").sees(
		"!document.querySelector('#propose, #proposed')")
	ann.goTo(page + "/labels?label=production").reads("Put on version 2 by cat")
	shown(ann, "labels with a rule")
	ann.write("main .put #label", "production").write("main .put #version", "1").click("main .put button").reads(
		"only by a proposal").reads("Propose version 1 for production")
	shown(ann, "refused in place")
	ann.goTo(page + "/proposals").reads("Proposal 1: version 2 for production")
	shown(ann, "proposals")
	ann.goTo(page + "/versions").sees("document.querySelector('.editions form[action$=\\x27/proposals\\x27]')")
	shown(ann, "versions with a rule")

	out := b.visit(t, base, v).signIn("Eve", false)
	for _, path := range []string{page + "/proposals", at} {
		out.goTo(path).reads("There is no such prompt")
	}
	for _, path := range []string{"/review", "/events"} {
		out.goTo("/app/w/" + handle + path).reads("There is no such workspace, or you are no member of it.")
	}
	ann.goTo("/app/w/" + handle + "/events")
	for _, sentence := range []string{
		"ann made the workspace", "ann added everybody in the group editors of the directory as a publisher",
		"ann changed the rules of labels", "ann wrote greeting",
		"ann proposed version 1 of greeting", "cat asked for changes of version 1", "ann saved version 2 of greeting",
		"ann proposed version 2 of greeting", "cat approved version 2 of greeting",
		"cat put production on version 2 of greeting",
	} {
		ann.reads(sentence)
	}
	shown(ann, "events")
	ann.write("#by", "cat").click("main form.events button").sees(
		"!document.querySelector('main').textContent.includes('ann wrote')").reads("cat approved version 2")
	for _, p := range []*tab{ann, cat} {
		p.Calm()
	}
}
