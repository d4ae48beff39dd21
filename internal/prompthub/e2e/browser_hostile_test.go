package e2e

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/stretchr/testify/require"

	"prompthub/internal/legible"
)

// payloads try to become more than text. FIRE is put in the place of what they would run.
var payloads = []string{
	`<script>FIRE</script>`,
	`</script><script>FIRE</script>`,
	`<img src=x onerror="FIRE">`,
	`<svg onload="FIRE">`,
	`<svg><script>FIRE</script></svg>`,
	`"><img src=x onerror=FIRE>`,
	`' onfocus='FIRE' autofocus='`,
	`" onfocus="FIRE" autofocus x="`,
	`</title><script>FIRE</script>`,
	`</textarea><script>FIRE</script>`,
	`</pre><img src=x onerror=FIRE>`,
	`<iframe srcdoc="<script>parent.FIRE</script>"></iframe>`,
	`<iframe src="javascript:FIRE"></iframe>`,
	`<object data="javascript:FIRE"></object>`,
	`<embed src="data:text/html,<script>FIRE</script>">`,
	`<form action="javascript:FIRE"><button>x</button></form>`,
	`<base href="https://evil.example/">`,
	`<meta http-equiv="refresh" content="0;url=https://evil.example/">`,
	`<link rel="stylesheet" href="https://evil.example/x.css">`,
	`<style>@import "https://evil.example/x.css"; body{display:none}</style>`,
	`<details open ontoggle="FIRE">`,
	`<a href="javascript:FIRE">x</a>`,
	`[x](javascript:FIRE)`,
	`[x](JaVaScRiPt:FIRE)`,
	`[x](java&#115;cript:FIRE)`,
	`[x](data:text/html,<script>FIRE</script>)`,
	`[x](vbscript:FIRE)`,
	"[x](java\tscript:FIRE)",
	`![x](javascript:FIRE)`,
	`![x](https://evil.example/pixel.png)`,
	`![x](x"onerror="FIRE)`,
	`<javascript:FIRE>`,
	`<https://evil.example/"onmouseover="FIRE>`,
	`https://evil.example/"onmouseover="FIRE"`,
	`{{constructor.constructor('FIRE')()}}`,
	"${FIRE:<img src=x onerror=FIRE>}",
	`{{<script>FIRE</script>}}`,
	"`</code><script>FIRE</script>`",
	`&lt;script&gt;FIRE&lt;/script&gt;`,
	"\u202eFIRE\u202c <!--><script>FIRE</script>-->",
}

// shapes put a payload into a text.
var shapes = []string{"%s", "a %s b", "# %s", "- %s\n\n> %s", "```\n%s\n```\n\n|%s|x|\n|-|-|\n|%s|y|"}

const fire = `alert(document.domain)`

// An attack is a prompt that tries to break out: in its title, its text and the name of its author.
type attack struct{ title, text, author string }

// hostile returns 200 attacks.
func hostile() (all []attack) {
	for i, p := range payloads {
		for j, shape := range shapes {
			armed := strings.ReplaceAll(p, "FIRE", fire)
			author := strings.ReplaceAll(payloads[(i+j)%len(payloads)], "FIRE", "alert(1)")
			all = append(all, attack{
				title:  legible.Clean(line(fmt.Sprintf("%d.%d %s", i, j, armed))),
				text:   strings.ReplaceAll(shape, "%s", armed),
				author: line(author),
			})
		}
	}
	return all
}

// line returns a text as titles and names may have it.
func line(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\t", " ")) }

// witness runs in every page before it: it hears what would run, and what the policy had to stop.
const witness = `
window.fired = [];
for (const name of ['alert', 'confirm', 'prompt']) window[name] = () => window.fired.push(name);
document.addEventListener('securitypolicyviolation', (e) => window.fired.push(e.violatedDirective + ' ' + e.blockedURI));
`

// inert is a function that finds what is in a document and was not put there by the templates.
const inert = `((doc) => {
	const found = [];
	for (const e of doc.querySelectorAll('*')) {
		for (const a of e.attributes) if (/^on|^style$|^srcdoc$/i.test(a.name)) found.push(e.outerHTML.slice(0, 200));
		if (/^(iframe|object|embed|img|base|style|video|audio|math|frame)$/i.test(e.localName)) found.push(e.outerHTML.slice(0, 200));
		if (e.localName === 'script' && !/^\/app\/static\//.test(e.getAttribute('src')) || e.localName === 'meta' && e.httpEquiv) found.push(e.outerHTML);
		if (e.localName === 'form' && !/^\/app/.test(e.getAttribute('action')) && !e.closest('dialog#keys')) found.push(e.outerHTML.slice(0, 200));
		if (e.localName === 'svg' && !e.closest('.ballot, #favorite, header > .brand')) found.push(e.outerHTML.slice(0, 200));
	}
	for (const a of doc.links) {
		if (a.closest('details.use') && a.href.startsWith('vscode:mcp/install?%7B')) continue;
		if (!/^(https?|mailto):$/.test(a.protocol)) found.push(a.outerHTML);
		if (a.host !== location.host && a.rel !== 'nofollow noreferrer') found.push(a.outerHTML);
	}
	return found;
})`

// parsed is a function that fetches a page as scripts do and returns what is in it, as the browser
// takes its markup apart. Nothing runs there and nothing is painted.
const parsed = `(async (address, selectors) => {
	const doc = new DOMParser().parseFromString(await (await fetch(address, {cache: 'no-store'})).text(), 'text/html');
	return {
		Found: ` + inert + `(doc), Texts: ` + texts + `(doc, selectors),
		Page: doc.querySelector('main')?.dataset.page, Next: doc.querySelector('.next a')?.getAttribute('href'),
	};
})`

// texts is a function that returns what elements of a document show.
const texts = `((doc, selectors) => selectors.map((s) => doc.querySelector(s)).map((e) => e.value ?? e.textContent))`

// Prompts that try to run something are text on every page. The browser takes the markup of all of
// these pages apart, and opens those of each payload in one of its shapes; with E2E_FULL, which
// "make browser" sets, it opens all of them.
func TestBrowserHostilePrompts(t *testing.T) {
	t.Parallel()
	b := startBrowser(t)
	a := startLocal(t, "embedded")
	corpus := hostile()
	require.Len(t, corpus, 200)
	work(t)
	p := suspicious(b.visit(t, a.url(), variants[0])).goTo("/app")
	for n, h := range corpus {
		hostilePages(p, h, n)
	}
	p.as("reader")
	everyList(p)
	hostileAddresses(p, a.url())
	p.Calm()
}

// suspicious makes a tab hear what runs in its pages.
func suspicious(p *tab) *tab {
	p.T.Helper()
	call(p, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: witness})
	return p
}

// as continues as an admin of any name.
func (p *tab) as(name string) {
	p.T.Helper()
	value := url.Values{"name": {name}, "roles": {"admin"}}.Encode()
	call(p, network.SetCookie, network.SetCookieParams{Name: "prompthub-dev", Value: value, URL: p.Base + "/app"})
}

// hostilePages stores a prompt and looks at it. Some go on to be edited, some to be hidden.
func hostilePages(p *tab, h attack, n int) {
	p.T.Helper()
	author := user{t: p.T, url: p.Base, name: h.author}
	var made shown
	author.do(201, "POST", "/prompts",
		map[string]any{"title": h.title, "text": h.text, "tags": []string{"text"}, "visibility": "public"}, &made)
	p.as(h.author)
	shape := n % len(shapes)
	open := shape == n/len(shapes)%len(shapes)
	path := "/app/prompts/" + made.ID
	require.Equal(p.T, []string{h.title, h.text, h.author}, looks(p, open, path, "h1", "#source .text", ".author"))
	switch shape {
	case 0: // the form shows a text the same in every shape
		require.Equal(p.T, []string{h.text}, looks(p, open, path+"/edit", "#text"))
		looks(p, open, "/app/mine")
	case 1:
		user{t: p.T, url: p.Base, name: "reader"}.do(204, "PUT", "/prompts/"+made.ID+"/hidden",
			map[string]string{"reason": h.title}, nil, "X-Dev-Roles", "admin")
		looks(p, open, path)
	}
}

// looks opens a page, or only takes its markup apart, requires that it is inert, and returns what
// elements of it show.
func looks(p *tab, open bool, path string, selectors ...string) []string {
	p.T.Helper()
	if !open && !full() {
		return apart(p, path, selectors...).Texts
	}
	p.goTo(path)
	require.Empty(p.T, eval[[]string](p, "[...window.fired, ..."+inert+"(document)]"), path)
	return eval[[]string](p, fmt.Sprintf("%s(document, %s)", texts, array(p.T, selectors)))
}

// A leaf is a page that was taken apart.
type leaf struct {
	Found, Texts []string
	Page, Next   string
}

// apart takes the markup of a page apart and requires that it is inert.
func apart(p *tab, path string, selectors ...string) leaf {
	p.T.Helper()
	l := eval[leaf](p, fmt.Sprintf("%s(%q, %s)", parsed, path, array(p.T, selectors)))
	require.NotEmpty(p.T, l.Page, "%s is no page", path)
	require.Empty(p.T, l.Found, path)
	return l
}

// array returns strings as an array of JavaScript: none are [] and not null.
func array(t testing.TB, list []string) string {
	t.Helper()
	text, err := json.Marshal(append([]string{}, list...))
	require.NoError(t, err)
	return string(text)
}

// everyList pages through the lists, each page by itself, and has the script append all of them to
// the first.
func everyList(p *tab) {
	p.T.Helper()
	for _, path := range []string{"/app", "/app?q=script", "/app/admin/hidden", "/app/admin/tags"} {
		looks(p, true, path)
		for next := path; next != ""; {
			next = apart(p, next).Next
		}
	}
	p.goTo("/app")
	for eval[bool](p, "!!document.querySelector('.next a')") {
		n := eval[int](p, "document.querySelectorAll('.card').length")
		p.click(".next a").sees(fmt.Sprintf("document.querySelectorAll('.card').length > %d", n))
	}
	require.Greater(p.T, eval[int](p, "document.querySelectorAll('.card').length"), 150)
	require.Empty(p.T, eval[[]string](p, "[...window.fired, ..."+inert+"(document)]"))
}

// hostileAddresses tries what comes from an address or a form and is shown again.
func hostileAddresses(p *tab, base string) {
	p.T.Helper()
	root := user{t: p.T, url: base, name: "root"}
	for i, payload := range payloads {
		armed := strings.ReplaceAll(payload, "FIRE", "alert(1)")
		if len(armed) <= 60 && line(armed) == armed {
			root.do(200, "PUT", fmt.Sprintf("/tags/hostile-%d", i), map[string]any{"displayName": armed}, nil,
				"X-Dev-Roles", "admin")
		}
		q := url.QueryEscape(armed)
		for j, path := range []string{
			"/app?q=" + q + "&sort=" + q + "&tag=x&cursor=" + q + "&done=" + q,
			"/app/mine?show=" + q + "&done=" + q + "&q=" + q, "/app/signin?back=" + q,
		} {
			looks(p, i%6 == 2*j, path)
		}
	}
	for _, path := range []string{"/app/admin/tags", "/app/tags", "/app/prompts/new"} {
		looks(p, true, path)
	}
}
