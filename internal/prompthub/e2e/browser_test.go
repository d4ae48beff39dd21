package e2e

import (
	"testing"

	"github.com/chromedp/cdproto/cdp"

	"prompthub/internal/testing/browsertest"
)

var variants = []browsertest.Variant{
	{Name: "desktop with script", Width: 1280, Height: 850, Script: true},
	{Name: "phone with script", Width: 390, Height: 844, Phone: true, Script: true},
	{Name: "desktop without script", Width: 1280, Height: 850},
	{Name: "phone without script", Width: 390, Height: 844, Phone: true},
}

// A browser is a running browser, or one of its profiles.
type browser struct{ browsertest.Browser }

func startBrowser(t testing.TB) browser {
	t.Helper()
	return browser{browsertest.Start(t)}
}

// visit opens a tab of a browser that has no cookies yet.
func (b browser) visit(t testing.TB, base string, v browsertest.Variant) *tab {
	t.Helper()
	return &tab{b.Visit(t, base, v)}
}

// A tab is a page of PromptHub that somebody looks at. Its methods go on where those of
// browsertest.Tab end.
type tab struct{ *browsertest.Tab }

func (p *tab) another() *tab                 { p.T.Helper(); return &tab{p.Another()} }
func (p *tab) goTo(path string) *tab         { p.T.Helper(); p.GoTo(path); return p }
func (p *tab) visitAddress(url string) *tab  { p.T.Helper(); p.VisitAddress(url); return p }
func (p *tab) sees(expression string) *tab   { p.T.Helper(); p.Sees(expression); return p }
func (p *tab) reads(text string) *tab        { p.T.Helper(); p.Reads(text); return p }
func (p *tab) click(selector string) *tab    { p.T.Helper(); p.Click(selector); return p }
func (p *tab) ready(selector string) *tab    { p.T.Helper(); p.Ready(selector); return p }
func (p *tab) press(keys string) *tab        { p.T.Helper(); p.Press(keys); return p }
func (p *tab) shot(name string) *tab         { p.T.Helper(); p.Shot(name); return p }
func (p *tab) write(selector, s string) *tab { p.T.Helper(); p.Write(selector, s); return p }

// eval returns what an expression is on the page.
func eval[T any](p *tab, expression string) T {
	p.T.Helper()
	return browsertest.Eval[T](p.Tab, expression)
}

// call sends a command of the protocol of the browser.
func call[P, R any](p *tab, command cdp.Command[P, R], params P) {
	p.T.Helper()
	browsertest.Call(p.Tab, command, params)
}

// signIn continues as somebody.
func (p *tab) signIn(name string, admin bool) *tab {
	p.T.Helper()
	// a browser under load gives the field the focus late, and complains where it is there already
	p.goTo("/app").reads("Sign in").sees("document.activeElement.id === 'name'").write("#name", name)
	if admin {
		p.click("[name=admin]")
	}
	return p.click("main button").sees("document.querySelector('#results')")
}

// signInOf signs somebody in as one of a group of the directory.
func (p *tab) signInOf(group, name string) *tab {
	p.T.Helper()
	p.goTo("/app").reads("Sign in").sees("document.activeElement.id === 'name'").write("#name", name)
	p.click("main details summary").write("#groups", "others, "+group)
	return p.click("main button").sees("document.querySelector('#results')")
}
