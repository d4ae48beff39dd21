package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"prompthub/internal/testing/browsertest"
)

// firstDay has somebody release a version, take that back, and put a prompt into a program, with
// scripts and without.
func firstDay(t *testing.T, b browser, base string) {
	for _, v := range variants {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			name := "newcomer-" + strings.ReplaceAll(v.Name, " ", "-")
			u := user{t: t, url: base, name: name}
			var made shown
			u.do(201, "POST", "/prompts",
				map[string]any{
					"title": "Weekly report", "description": "For the team.",
					"text": "Report {{week}} to {{reader}}.", "visibility": "private",
				}, &made)
			p := b.visit(t, base, v).signIn(name, false)
			page := "/app/prompts/" + made.ID
			p.goTo(page).reads("Each save is live at once").reads("Release version 1").sees(
				"!document.querySelector('.state.draft')")
			p.click("#release button").reads("Programs and assistants get this version now.")
			u.do(200, "PATCH", "/prompts/"+made.ID, map[string]any{"text": "Report {{week}}."}, nil, "If-Match", "*",
				"Content-Type", "application/merge-patch+json")

			p.goTo(page).sees("document.querySelector('.state.live').innerText.endsWith('1') && document.querySelector('.state.draft').innerText.endsWith('2')")
			p.reads("Version 2 no longer takes reader")
			require.Less(t, top(p, ".head .about"), top(p, "#rendered"), "the description stands above the text")
			title := top(p, "h1")
			p.click("#release button").reads("Programs and assistants get this version now.").sees(
				"!document.querySelector('.state.draft')")
			if v.Script {
				require.Equal(t, title, top(p, "h1"), "what is told moves nothing") //nolint:testifylint // the same place
			}
			p.shot("released").click(".done button").reads("Programs and assistants get what they got before.").reads(
				"Release version 2")
			p.click(".state.draft").sees("location.pathname.endsWith('/compare')").goTo(page)
			p.click("form[action$='/visibility'] button").reads("The prompt is public now.").click(
				".done button").reads("The prompt is private now")
			p.click("details:has(form[action$='/delete']) summary").click(
				"form[action$='/delete'] button").reads("The prompt is deleted.")
			p.click(".done button").reads("The prompt is restored.").sees(fmt.Sprintf("location.pathname === %q", page))

			programs(p, page)
			folds(p, u)
			mergesBoth(p, user{t: t, url: base, name: "upstream-" + name})
			writesFirst(p)
			if v.Phone {
				p.goTo("/app")
				require.Less(t, eval[float64](p, "document.querySelector('header').offsetHeight"),
					66.0, "the header has one row")
				require.Less(t, top(p, ".card"), 260.0, "the first prompt is near")
				p.click(".menu summary").sees("document.querySelector('.menu').open").click(
					".menu a[href$='/votes']").sees("location.pathname === '/app/votes'")
			}
			p.Calm()
		})
	}
}

// top returns where the first element that a selector finds begins in the page.
func top(p *tab, selector string) float64 {
	p.T.Helper()
	p.ready(selector)
	return eval[float64](p, fmt.Sprintf("document.querySelector(%q).getBoundingClientRect().top + scrollY", selector))
}

// programs looks at how programs use a prompt: at one after the other with a script, at all
// without. Then it makes a token, with which the texts to copy are whole.
func programs(p *tab, page string) {
	p.T.Helper()
	const shown = "[...document.querySelectorAll('.program')].filter(e => e.checkVisibility()).map(e => e.dataset.tab).join()"
	const all = "Claude Code,VS Code,Cursor,Command line,Shell,Python,JavaScript,C#,Semantic Kernel,Agent Framework"
	p.goTo(page).click("#use > summary").sees("document.querySelector('#use').open")
	if p.V.Script {
		require.Equal(p.T, "Claude Code", eval[string](p, shown))
		// an arrow to the right
		p.click(".tabs [aria-selected=true]").press(kb.ArrowRight).sees(shown + " === 'VS Code'")
		p.click("[aria-controls=use-csharp-is]").sees(shown + " === 'C#'").shot("programs")
		p.goTo(page).click("#use > summary").sees(shown + " === 'C#'")
	} else {
		require.Equal(p.T, all, eval[string](p, shown))
	}
	p.click("#use p a").reads("Weekly report: all that programs need").write("#name", "laptop").click(
		"main .stack button").reads("Your new token")
	token := eval[string](p, "document.querySelector('#token').textContent")
	id, _, _ := strings.Cut(strings.TrimPrefix(token, "ph_"), "_")
	require.Contains(p.T, eval[string](p, "document.querySelector('#use-langfuse').textContent"),
		"LANGFUSE_PUBLIC_KEY="+id+"\nexport LANGFUSE_SECRET_KEY="+token)
	require.NotContains(p.T, eval[string](p, "document.querySelector('main').textContent"), "ph_…")
	got := eval[string](p, `(async () => {
		const [, address, token] = /GetStringAsync\("([^"]*)"|$/.exec(document.querySelector("#use-csharp").textContent);
		const answer = await fetch(address + "?var.week=now&var.reader=all", { headers: { Authorization: "Bearer " + document.querySelector("#token").textContent } });
		return await answer.text();
	})()`)
	require.Equal(p.T, "Report now to all.", got, "the version that was released")
	p.shot("a token")
}

// folds opens a long text.
func folds(p *tab, u user) {
	p.T.Helper()
	var long shown
	u.do(201, "POST", "/prompts", map[string]any{
		"title": "Long", "text": strings.Repeat("A line.\n", 200) + "The end.",
		"visibility": "private",
	}, &long)
	p.goTo("/app/prompts/" + long.ID)
	const height = "document.querySelector('#rendered').offsetHeight"
	if !p.V.Script {
		require.Greater(p.T, eval[float64](p, height), 4000.0)
		return
	}
	folded := eval[float64](p, height)
	require.Less(p.T, folded, 1600.0)
	p.reads("Show all 201 lines").click("#unfold").sees(
		fmt.Sprintf("%s > %f && !document.querySelector('#unfold')", height, 2*folded))
}

// mergesBoth has the reader of a tab fork a prompt of another user, change a line that the other
// changes too, and make one text of both in the editor.
func mergesBoth(p *tab, other user) {
	p.T.Helper()
	var there shown
	other.do(201, "POST", "/prompts",
		map[string]any{"title": "Clerk", "text": "You are a clerk.\nBe short.", "visibility": "public"}, &there)
	p.goTo("/app/prompts/" + there.ID).click("#share summary").click(
		"form[action$='/fork'] button").reads("This is your copy now.")
	page := eval[string](p, "location.pathname")
	p.goTo(page+"/edit").write("#text", "You are a clerk.\nBe kind.").click(
		"form#write > .send .primary").reads("Your changes are saved.")
	other.do(200, "PATCH", "/prompts/"+there.ID, map[string]any{"text": "You are a clerk.\nBe terse."}, nil, "If-Match",
		"*", "Content-Type", "application/merge-patch+json")
	p.goTo(page).click("a[href$='/upstream']").click("form[action$='/upstream']:not(:has([name=take])) button").reads(
		"Edit both together").click("a[href$='/upstream/edit']")
	p.reads("What it was forked from, as it is now").reads("Be terse.").shot("both together")
	p.write("#text", "You are a clerk.\nBe kind and terse.").click("form#write > .send .primary")
	p.sees(fmt.Sprintf("location.pathname === %q", page)).reads("Be kind and terse.") // and not in the editor's preview
	p.goTo(page + "/upstream").reads("Nothing changed there since.")
}

// begins has the first user of a library take the examples, and give them back.
func begins(t *testing.T, b browser) {
	a := startLocal(t, "embedded")
	for _, v := range []browsertest.Variant{variants[0], variants[3]} {
		p := b.visit(t, a.url(), v).signIn("First", false)
		p.click("[name=starter] ~ p button").reads("You have 30 example prompts now.").sees(
			"location.pathname === '/app' && document.querySelectorAll('.card').length === 20")
		p.shot("examples").click(".done button").reads("The example prompts are deleted.").sees(
			"document.querySelector('[name=starter]')")
		p.Calm()
	}
}

// writesFirst has somebody begin a chat, and include a prompt in a text.
func writesFirst(p *tab) {
	p.T.Helper()
	p.goTo("/app/prompts/new").sees("getComputedStyle(document.querySelector('#text-count')).visibility === 'hidden'")
	p.click("[value=chat]").sees(
		"document.querySelector('#role0').value === 'system' && document.querySelector('#role1').value === 'user'")
	if p.V.Script {
		p.discard()
	}
	p.goTo("/app/prompts/new").write("#text", "Dear all").sees(
		"getComputedStyle(document.querySelector('#text-count')).visibility === 'visible'")
	p.click("details:has(#include) summary").write("#include", "Weekly")
	if p.V.Script { // it searches while one types
		p.sees("document.querySelector('#include').ariaExpanded === 'true' && document.querySelector('#includes [aria-selected=true]').innerText.includes('weekly-report')").shot("to include")
		p.press(kb.Escape).sees("document.querySelector('#includes').hidden").press(kb.ArrowDown).sees(
			"!document.querySelector('#includes').hidden").press(kb.Enter)
	} else {
		p.click("[value=find-include]").click("[value='include weekly-report']")
	}
	p.sees(`document.querySelector("#text").value === "Dear all\n@@@langfusePrompt:name=weekly-report|label=production@@@\n"`)
	if p.V.Script {
		p.write("#include", "no such prompt at all").sees(
			"document.querySelector('#live').textContent === 'None of your prompts matches.'")
		p.discard()
		p.goTo("/app").click("#palette-show").write("#wish", "anything").press(kb.Escape).sees(
			"!document.querySelector('#palette').open")
	}
}

// importsMuch has a user import more than is told of one by one, and than one request looks at,
// take that back, and choose a file that is too long.
func importsMuch(t *testing.T, b browser, base string) {
	p := b.visit(t, base, browsertest.Variant{Name: "importing", Width: 1280, Height: 850, Script: true}).signIn(
		"Importer", false)
	file := "act,prompt\nBad,\n"
	for i := range 270 {
		file += fmt.Sprintf("Title %d,Text of %d\n", i, i)
	}
	p.goTo("/app/import")
	eval[bool](p, `(d => { d.items.add(new File([new Uint8Array(6 << 20)], "big.csv")); document.querySelector("#file").files = d.files; return document.querySelector("#file").dispatchEvent(new Event("change")) })(new DataTransfer())`)
	p.reads("big.csv has 6 MiB, and this page takes 4 MiB.").click("[value=look]")
	require.Equal(t, "/app/import", eval[string](p, "location.pathname"))
	p.sees("document.querySelector('#file').matches(':invalid') && !document.querySelector('#report')")
	p.drop("many", "many.csv", file).reads("270 would be created. 1 would be rejected. 271 of 271 entries.")
	rows := "[...document.querySelectorAll('#report tr')].filter(r => r.querySelector('td')?.checkVisibility()).length"
	require.Equal(t, 1, eval[int](p, rows))
	p.click("#others summary").sees(rows + " === 271").shot("all looked at")
	p.click("[value=import]").reads("270 created. 1 rejected. 271 of 271 entries.").reads(
		"To my prompts").shot("much imported")
	p.sees("[...document.querySelectorAll('#others td a')].filter(a => a.checkVisibility()).length === 270")
	p.click("form[action$='/import/undo'] button").reads("270 deleted.").shot("import undone")
	p.goTo("/app/mine").sees("document.querySelector('.empty')")
	p.Calm()
}
