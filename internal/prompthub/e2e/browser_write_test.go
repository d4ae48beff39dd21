package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
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
	closedTab(p)
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
		"{{" + strings.Repeat("x", 64) + "}} {{" + strings.Repeat("x", 65) + "}} {{🚀}} {{n٣}} {{é}} {{:x}} {{x:}} ${y:z|z} {{{{k}}}}",
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
		require.Equal(p.T, array(p.T, places), eval[string](p, "JSON.stringify([...document.querySelectorAll('.editor mark:not(.lost)')].map(m => m.textContent))"), text)
		require.Equal(p.T, array(p.T, lost), eval[string](p, "JSON.stringify([...document.querySelectorAll('.editor mark.lost')].map(m => m.textContent))"), text)
		require.Equal(p.T, text+"\n", eval[string](p, "document.querySelector('.editor > pre').textContent"), "what lies below is the text")
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
	p.sees("document.querySelector('#complete').matches(':popover-open')").press(kb.Escape).sees("!document.querySelector('#complete').matches(':popover-open')")
	p.press(kb.Enter).sees(`document.querySelector('#text').value.endsWith(" {{f\n")`)
	p.write("#findtag", "writ").press(kb.Enter).sees("document.querySelector('[name=tag][value=writing]').checked && document.querySelector('#findtag').value === ''")
	p.discard()
}

// closedTab writes, loses the tab, and is asked in another one whether to go on. The draft is
// offered to its author on its page alone, and is gone once it is saved.
func closedTab(p *tab) {
	p.T.Helper()
	lost := p.another().goTo("/app/prompts/new").write("#title", "Survivor").write("#text", "All of {{it}}").click("[name=tag][value=text]")
	eval[bool](lost, leave) // or the browser asks
	call(lost, page.Close, cdp.Empty{})
	p.goTo("/app/prompts/new").reads("did not save it").sees("document.querySelector('#title').value === '' && document.querySelector('#text').value === ''").shot("a draft is offered")

	// An author who writes something else first loses neither.
	p.write("#title", "Another").goToAnyway("/app/prompts/new").reads("did not save it").click("#draft button").reads("is back").sees("document.querySelector('#title').value === 'Another'")
	p.click("#draft button").reads("did not save it").click("#draft button:nth-of-type(1)")
	p.reads("is back").sees("document.querySelector('#title').value === 'Survivor' && document.querySelector('#text').value === 'All of {{it}}' && document.querySelector('[data-count=tags]').textContent === '1'")
	p.sees("document.querySelector('.editor mark').textContent === '{{it}}'")
	p.click("form#write > .send .primary").reads("The prompt is saved.").sees("!new URL(location).searchParams.has('done')")
	p.goTo("/app/prompts/new").sees("document.querySelector('.editor') && !document.querySelector('#draft') && !Object.keys(localStorage).some(k => k.startsWith('draft'))")
}

// leave lets the browser leave a form that is not saved.
const leave = "document.querySelector('#write').dispatchEvent(new SubmitEvent('submit', {bubbles: true}))"

// goToAnyway opens an address and leaves a form that is not saved.
func (p *tab) goToAnyway(path string) *tab {
	p.T.Helper()
	eval[bool](p, leave)
	return p.goTo(path)
}
