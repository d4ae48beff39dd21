package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
)

// writes are the stories of an author who writes.
func writes(t *testing.T, b browser, base string) {
	p := b.visit(t, base, variants[0]).signIn("Wanda", false)
	marked(p)
	completed(p)
	previewed(p)
	closedTab(p)
	bothKept(p)
	savedOffline(p)
	p.Calm()
}

// marked holds that the form marks what the server takes for variables, and names those beyond the
// most that there may be.
func marked(p *tab) {
	p.T.Helper()
	many := make([]string, prompt.MaxVariables+4)
	for i := range many {
		many[i] = fmt.Sprintf("{{v%d}}", i)
	}
	for _, text := range []string{
		"Dear {{name}}, ${team:the team} and {{tone:warm|cold}}.\n\n{{ first name }} {{first_name}}\n",
		"{{}} {{ }} {{1st}} {{a b  c}} {{a-b.c}} {{ä_ö}} {{日本}} {{a\nb}} {{\ta}} {a} $ {a} ${a} $${b} {{{c}}} {{d} {{e}}} ${{f}} {{g:{h}}} ${i",
		"{{" + strings.Repeat("x", 64) + "}} {{" + strings.Repeat("x", 65) +
			"}} {{🚀}} {{n٣}} {{é}} {{:x}} {{x:}} ${y:z|z} {{{{k}}}}",
		strings.Join(many, " "),
	} {
		template := prompt.ParseTemplate(nil, text)
		var places, lost []string
		for _, part := range template.Parts()[0] {
			if part.Variable >= 0 {
				places = append(places, part.Text)
			}
		}
		for _, name := range template.Lost {
			lost = append(lost, "{{"+name+"}}")
		}
		p.goTo("/app/prompts/new").write("#text", text)
		require.Equal(p.T, array(p.T, places),
			eval[string](p,
				"JSON.stringify([...document.querySelectorAll('.editor mark:not(.lost)')].map(m => m.textContent))"),
			text)
		require.Equal(p.T, array(p.T, lost),
			eval[string](p,
				"JSON.stringify([...document.querySelectorAll('.editor mark.lost')].map(m => m.textContent))"), text)
		require.Equal(p.T, text+"\n", eval[string](p, "document.querySelector('.editor > pre').textContent"),
			"what lies below is the text")
		require.Equal(p.T, len(lost) > 0, eval[bool](p, "!document.querySelector('#lost').hidden && document.querySelector('#lost').textContent.includes('v103')"))
		p.discard()
	}
	p.sees("(([a, b]) => a.width === b.width && a.height === b.height)([...document.querySelectorAll('.editor > *')].map(e => e.getBoundingClientRect()))")
}

// completed writes a variable that the text has already, and picks a tag, by keys alone.
func completed(p *tab) {
	p.T.Helper()
	p.goTo("/app/prompts/new").write("#text", "Dear {{first_name}} {{family_name}}")
	for _, key := range "\r{{f" {
		p.press(string(key))
	}
	p.sees("document.querySelectorAll('#complete li').length === 2").press(kb.ArrowDown).shot("completing")
	p.sees("document.querySelector('#text').getAttribute('aria-activedescendant') === 'complete-1'").press(kb.Tab)
	p.sees(`document.querySelector('#text').value === "Dear {{first_name}} {{family_name}}\n{{family_name}}"`)
	for _, key := range " {{f" {
		p.press(string(key))
	}
	p.sees("document.querySelector('#complete').matches(':popover-open')").press(kb.Escape).sees(
		"!document.querySelector('#complete').matches(':popover-open')")
	p.press(kb.Enter).sees(`document.querySelector('#text').value.endsWith(" {{f\n")`)
	p.write("#findtag", "writ").press(kb.Enter).sees("document.querySelector('[name=tag][value=writing]').checked && document.querySelector('#findtag').value === ''")
	p.write("#findtag", "lega").sees("document.querySelector('#more-tags').open").press(kb.Enter).sees(
		"document.querySelector('#more-tags [value=legal]').checked")
	p.click("#more-tags summary").sees(
		"!document.querySelector('#more-tags').open && document.querySelector('.chosen [value=legal]').checked")
	p.discard()
}

// previewed writes a text and sees next to it how readers will see it, also that of a chat.
func previewed(p *tab) {
	p.T.Helper()
	p.goTo("/app/prompts/new").write("#text", "# Dear {{name:you}}\n\n**Thanks**").sees("document.querySelector('#live-preview strong')?.textContent === 'Thanks' && document.querySelector('#live-preview h3').textContent === 'Dear you'")
	require.False(p.T, eval[bool](p, "document.querySelector('#preview').checkVisibility()"), "it needs no button")
	p.shot("live preview").click("[value=chat]").sees("document.querySelector('#content0')").write("#content0",
		"*Go* on.").sees("document.querySelector('#live-preview em')?.textContent === 'Go'")
	p.discard()
}

// closedTab writes, loses the tab, and is asked in another one whether to go on. The draft is
// offered to its author on its page alone, and is gone once it is saved.
func closedTab(p *tab) {
	p.T.Helper()
	lost := p.another().goTo("/app/prompts/new").write("#title", "Survivor").write("#text",
		"All of {{it}}").click("[name=tag][value=text]")
	eval[bool](lost, leave) // or the browser asks
	call(lost, page.Close, cdp.Empty{})
	p.goTo("/app/prompts/new").reads("did not save it").sees(
		"document.querySelector('#title').value === '' && document.querySelector('#text').value === ''").shot(
		"a draft is offered")

	// An author who writes something else first loses neither.
	p.write("#title", "Another").goToAnyway("/app/prompts/new").reads("did not save it").click("#draft button").reads(
		"is back").sees("document.querySelector('#title').value === 'Another'")
	p.click("#draft button").reads("did not save it").click("#draft button:nth-of-type(1)")
	p.reads("is back").sees("document.querySelector('#title').value === 'Survivor' && document.querySelector('#text').value === 'All of {{it}}' && document.querySelector('[data-count=tags]').textContent === '1'")
	p.sees("document.querySelector('.editor mark').textContent === '{{it}}'")
	p.click("form#write > .send .primary").reads("The prompt is saved.").sees(
		"!new URL(location).searchParams.has('done')")
	p.goTo("/app/prompts/new").sees("document.querySelector('.editor') && !document.querySelector('#draft') && !Object.keys(localStorage).some(k => k.startsWith('draft'))")
}

// bothKept edits a prompt in two tabs. Changes of other lines come together; of the same line the
// author takes what was saved, changes the result, and saves that.
func bothKept(p *tab) {
	p.T.Helper()
	u := user{t: p.T, url: p.Base, name: "Wanda"}
	id := u.create("Of two tabs").ID
	path := "/app/prompts/" + id + "/edit"
	other := p.another()
	meanwhile := func(text string) {
		other.goTo(path).write("#text", text).click("form#write > .send .primary").reads("Your changes are saved.")
	}
	const all = "One.\nTwo.\nThree.\nFour.\nFive.\n"
	meanwhile(all)
	is := func(text string) {
		p.T.Helper()
		p.sees(fmt.Sprintf("document.querySelector('#text').value === %q", text))
	}

	p.goTo(path)
	meanwhile(strings.Replace(all, "Two.", "Two from there.", 1))
	p.write("#text", strings.Replace(all, "Five.", "Five from here.", 1)).click("form#write > .send .primary").reads(
		"the changes of both").shot("merged")
	is("One.\nTwo from there.\nThree.\nFour.\nFive from here.\n")
	p.click("form#write > .send .primary").reads("Your changes are saved.")

	p.goTo(path)
	meanwhile("One.\nTwo, theirs.\nThree.\nFour.\nFive from here.\nSix.\n")
	p.write("#text", "One.\nTwo, mine.\nThree.\nFive from here.\n").click("form#write > .send .primary").reads(
		"Take what was saved").shot("clash of two tabs")
	p.click(".hunks li:nth-child(1) button")
	is("One.\nTwo, theirs.\nThree.\nFive from here.\n")
	p.click(".hunks li:nth-child(3) button")
	is("One.\nTwo, theirs.\nThree.\nFive from here.\nSix.\n")
	p.click(".hunks li:nth-child(1) button").sees("document.querySelector('.hunks [aria-pressed=false]')")
	is("One.\nTwo, mine.\nThree.\nFive from here.\nSix.\n")
	p.write("#text", "One.\nTwo, of both.\nSix.\n").click(".hunks li:nth-child(1) button").reads(
		"You changed these lines")
	p.click("form#write > .send .primary").reads("Your changes are saved.").reads("Two, of both.")
	other.Calm()
}

// savedOffline saves without a connection: the form stays, with all that was written.
func savedOffline(p *tab) {
	p.T.Helper()
	cut := func(off bool) {
		call(p, cdp.Command[network.OverrideNetworkStateParams, cdp.Empty]{Method: "Network.emulateNetworkConditions"},
			network.OverrideNetworkStateParams{Offline: off, DownloadThroughput: -1, UploadThroughput: -1})
	}
	p.goTo("/app/prompts/new").write("#title", "Written in a train").write("#text", "Over land.")
	cut(true)
	p.reads("You are offline.").click("form#write > .send .primary").reads("send it again when you are back")
	p.sees("document.querySelector('.toast').getBoundingClientRect().bottom <= document.querySelector('#write > .send').getBoundingClientRect().top")
	p.sees("Object.values(localStorage).some(v => v.includes('train'))").sees(
		"document.querySelector('#text').value === 'Over land.'")
	cut(false)
	p.sees("document.getElementById('offline').hidden").click("form#write > .send .primary").reads(
		"The prompt is saved.")
}

// leave lets the browser leave a form that is not saved.
const leave = "document.querySelector('#write').dispatchEvent(new SubmitEvent('submit', {bubbles: true}))"

// goToAnyway opens an address and leaves a form that is not saved.
func (p *tab) goToAnyway(path string) *tab {
	p.T.Helper()
	eval[bool](p, leave)
	return p.goTo(path)
}
