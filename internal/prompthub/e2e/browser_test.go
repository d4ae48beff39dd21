package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// A variant is the window of a browser, and whether it runs scripts.
type variant struct {
	name          string
	width, height int64
	phone, script bool
}

var variants = []variant{
	{"desktop with script", 1100, 850, false, true},
	{"phone with script", 390, 844, true, true},
	{"desktop without script", 1100, 850, false, false},
	{"phone without script", 390, 844, true, false},
}

// patience is how long a page may take to become what it should.
const patience = 20 * time.Second

// chromium returns the path of the browser, and skips the test where there is none. The first two
// are the same browser without a window, which a page costs half as much.
func chromium(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium-headless-shell", "chrome-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	const missing = "there is no chromium: the pages are not tested in a browser (apt-get install chromium-headless-shell)"
	if os.Getenv("CI") == "true" {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return ""
}

// A browser is a running browser, or one of its profiles.
type browser struct{ ctx context.Context }

// startBrowser starts a browser that talks to nobody but the pages.
func startBrowser(t testing.TB) browser {
	t.Helper()
	options := append([]chromedp.ExecAllocatorOption{}, chromedp.DefaultExecAllocatorOptions[:]...)
	options = append(options, chromedp.ExecPath(chromium(t)), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()))
	// Of a page that it has not painted yet the browser drops what is pressed, or so it does without
	// the first of these.
	for _, name := range []string{"allow-pre-commit-input", "disable-quic", "no-first-run", "disable-background-networking", "disable-component-update", "disable-sync"} {
		options = append(options, chromedp.Flag(name, true))
	}
	// A process for each page, one ahead and those of pages to go back to, would cost as much as the
	// pages. No test goes back.
	options = append(options, chromedp.Flag("disable-features", "Translate,BackForwardCache,SpareRendererForSitePerProcess"))
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, closeAll := chromedp.NewContext(ctx)
	t.Cleanup(closeAll)
	require.NoError(t, chromedp.Do(ctx), "start the browser")
	return browser{ctx}
}

// A tab is a page of a browser that somebody looks at.
type tab struct {
	t    testing.TB
	ctx  context.Context
	base string
	v    variant
	*traffic
}

// traffic is what happened in a tab besides what it shows.
type traffic struct {
	mu       sync.Mutex
	requests []string
	bytes    float64  // as transferred
	trouble  []string // exceptions, complaints of the browser about the page, dialogs
}

// visit opens a tab of a browser that has no cookies yet.
func (b browser) visit(t testing.TB, base string, v variant) *tab {
	t.Helper()
	return b.open(t, base, v, chromedp.WithNewBrowserContext())
}

// another opens a second tab of the same browser.
func (p *tab) another() *tab {
	p.t.Helper()
	return browser{p.ctx}.open(p.t, p.base, p.v)
}

func (b browser) open(t testing.TB, base string, v variant, options ...chromedp.ContextOption) *tab {
	t.Helper()
	ctx, closeTab := chromedp.NewContext(b.ctx, options...)
	t.Cleanup(closeTab)
	p := &tab{t, ctx, base, v, new(traffic)}
	require.NoError(t, chromedp.Do(ctx))
	require.NoError(t, chromedp.Listen(ctx, p.hear))
	call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: v.width, Height: v.height, DeviceScaleFactor: 1, Mobile: v.phone})
	call(p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !v.script})
	return p
}

func (tr *traffic) hear(event any) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		tr.requests = append(tr.requests, e.Request.URL)
	case *network.EventLoadingFinished:
		tr.bytes += e.EncodedDataLength
	case *runtime.EventExceptionThrown:
		tr.trouble = append(tr.trouble, fmt.Sprintf("exception: %s", e.ExceptionDetails.Text))
	case *page.EventJavascriptDialogOpening:
		tr.trouble = append(tr.trouble, "dialog: "+e.Message)
	case *log.EventEntryAdded:
		// of answers that are no success, which are asked for
		if e.Entry.Source != log.EntrySourceNetwork {
			tr.trouble = append(tr.trouble, fmt.Sprintf("%s: %s", e.Entry.Source, e.Entry.Text))
		}
	}
}

// calm requires that nothing went wrong in a tab, and that it asked nobody else for anything.
func (p *tab) calm() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	require.Empty(p.t, p.trouble)
	for _, address := range p.requests {
		require.Regexp(p.t, "^(data:|"+regexp.QuoteMeta(p.base)+"/)", address, "a request to somebody else")
	}
}

// call sends a command of the protocol of the browser.
func call[P, R any](p *tab, command cdp.Command[P, R], params P) {
	p.t.Helper()
	_, err := chromedp.Call(p.ctx, command, params)
	require.NoError(p.t, err, command.Method)
}

// goTo opens an address of the application, as one who types it.
func (p *tab) goTo(path string) *tab {
	p.t.Helper()
	return p.visitAddress(p.base + path)
}

func (p *tab) visitAddress(address string) *tab {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	eval[bool](p, "window.left = true")
	require.NoError(p.t, chromedp.Do(ctx, chromedp.Navigate(address)), address)
	// The event that Navigate waits for may be the last one of the page that was left.
	return p.sees("!window.left && document.readyState === 'complete'")
}

// eval returns what an expression is on the page.
func eval[T any](p *tab, expression string) T {
	p.t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	require.NoError(p.t, err, expression)
	return v
}

// sees waits until an expression is true. Between two pages there is none to ask.
func (p *tab) sees(expression string) *tab {
	p.t.Helper()
	pause := 10 * time.Millisecond
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(pause) {
		pause = min(pause*3/2, 200*time.Millisecond) // looking is work for the browser too
		if v, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool]("!!("+expression+")")); err == nil && v {
			return p
		}
	}
	p.shot("failed")
	p.t.Fatalf("%s: never true: %s\n%s", p.v.name, expression, eval[string](p, "location.href + '\\n' + document.body.innerText.slice(0, 2000)"))
	return nil
}

// reads waits until the page shows a text.
func (p *tab) reads(text string) *tab {
	p.t.Helper()
	return p.sees(fmt.Sprintf("document.body.innerText.includes(%q)", text))
}

// click clicks what a selector finds, as a mouse does.
func (p *tab) click(selector string) *tab {
	p.t.Helper()
	p.ready(selector)
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	require.NoError(p.t, chromedp.Do(ctx, chromedp.Click(chromedp.CSS(selector))), selector)
	return p
}

// write types a text into a field in place of what was there.
func (p *tab) write(selector, text string) *tab {
	p.t.Helper()
	p.ready(selector)
	eval[bool](p, fmt.Sprintf("(f => { f.focus(); f.select(); return true })(document.querySelector(%q))", selector))
	call(p, input.InsertText, input.InsertTextParams{Text: text})
	return p
}

// ready waits until the page is whole, its scripts have run, and a selector finds something: before
// that a click on it may do nothing.
func (p *tab) ready(selector string) *tab {
	p.t.Helper()
	p.sees(fmt.Sprintf("document.readyState === 'complete' && document.querySelector(%q)", selector))
	if p.v.script {
		p.painted()
	}
	return p
}

// painted waits until the page is painted, before which what is pressed is lost. One that nobody
// sees never is.
func (p *tab) painted() {
	p.t.Helper()
	const twice = `Promise.race([new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => r(true)))), new Promise((r) => setTimeout(r, 1000, true))])`
	require.Eventually(p.t, func() bool {
		_, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool](twice, chromedp.EvalAwaitPromise))
		return err == nil // there is no page between two pages
	}, patience, 10*time.Millisecond)
}

// press presses keys, whatever has the focus.
func (p *tab) press(keys string) *tab {
	p.t.Helper()
	p.ready("body")
	require.NoError(p.t, chromedp.Do(p.ctx, chromedp.KeyEvent(keys)))
	return p
}

// shot keeps a picture of the page with the output of the test, where one asks for that: it takes
// longer than most steps.
func (p *tab) shot(name string) *tab {
	p.t.Helper()
	if keep := flag.Lookup("test.artifacts"); keep == nil || keep.Value.String() != "true" {
		return p
	}
	png, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	require.NoError(p.t, err)
	name = strings.ReplaceAll(p.v.name+" "+name, " ", "-") + ".png"
	require.NoError(p.t, os.WriteFile(filepath.Join(p.t.(*testing.T).ArtifactDir(), name), png, 0o600))
	return p
}

// signIn continues as somebody.
func (p *tab) signIn(name string, admin bool) *tab {
	p.t.Helper()
	p.goTo("/app").reads("Sign in").write("#name", name)
	if admin {
		p.click("[name=admin]")
	}
	return p.click("main button").sees("document.querySelector('#results')")
}

// scheme sets whether the browser prefers light or dark. It is to show that at once.
func (p *tab) scheme(name string) {
	p.t.Helper()
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
}
