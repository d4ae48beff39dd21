// Package browsertest looks at pages as people do: it starts a browser that talks only to the
// pages, opens tabs of a size, with or without scripts, presses and reads, keeps pictures, and asks
// axe-core for parts that are not accessible.
package browsertest

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
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

	"prompthub/internal/testing/inputs"
)

// A Variant is the window of a browser, and whether it runs scripts.
type Variant struct {
	Name          string
	Width, Height int64
	Phone, Script bool
	Touch         bool // fingers press, and no mouse
	Steady        bool // Accessible requires Steady too
}

// Patience is how long a page may take to become what it should.
const Patience = 20 * time.Second

// chromium returns the path of the browser, and skips the test where there is none. The first two
// are the same browser without a window, which a page costs half as much.
func chromium(t testing.TB) string {
	t.Helper()
	for _, name := range []string{
		"chromium-headless-shell", "chrome-headless-shell", "chromium",
		"chromium-browser", "google-chrome",
	} {
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

// A Browser is a running browser, or one of its profiles.
type Browser struct{ ctx context.Context }

// Start starts a browser that talks only to the pages.
func Start(t testing.TB) Browser {
	t.Helper()
	options := append([]chromedp.ExecAllocatorOption{}, chromedp.DefaultExecAllocatorOptions[:]...)
	// The library makes the folder of the profile, and removes it when all processes have ended: some
	// write to it after the first one has.
	options = append(options, chromedp.ExecPath(chromium(t)), chromedp.NoSandbox, chromedp.DisableGPU)
	// Of a page that it has not painted yet the browser drops what is pressed, or so it does without
	// the first of these.
	for _, name := range []string{
		"allow-pre-commit-input", "disable-quic", "no-first-run",
		"disable-background-networking", "disable-component-update", "disable-sync",
	} {
		options = append(options, chromedp.Flag(name, true))
	}
	// A process for each page, one ahead and those of pages to go back to, would cost as much as the
	// pages. A reader who goes back gets them from the cache.
	options = append(options, chromedp.Flag("disable-features",
		"Translate,BackForwardCache,SpareRendererForSitePerProcess"))
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, closeAll := chromedp.NewContext(ctx)
	t.Cleanup(closeAll)
	require.NoError(t, chromedp.Do(ctx), "start the browser")
	return Browser{ctx}
}

// A Tab is a page of a browser that somebody looks at.
type Tab struct {
	T testing.TB
	context.Context
	Base string
	V    Variant
	*Traffic
}

// Traffic is what happened in a tab besides what it shows.
type Traffic struct {
	sync.Mutex
	Requests []string
	Bytes    float64  // as transferred
	trouble  []string // exceptions, complaints of the browser about the page, dialogs
	looks    []look
}

// Visit opens a tab of a browser that has no cookies yet.
func (b Browser) Visit(t testing.TB, base string, v Variant) *Tab {
	t.Helper()
	return b.open(t, base, v, chromedp.WithNewBrowserContext())
}

// Installable requires that the browser can install the application of a page: it takes the
// manifest, and the icons are as large as the manifest says, one of them for a mask.
func Installable(p *Tab) {
	p.T.Helper()
	got, err := chromedp.Call(p.Context, page.GetAppManifest, page.GetAppManifestParams{})
	require.NoError(p.T, err)
	require.Empty(p.T, got.Errors)
	require.NotNil(p.T, got.Manifest, "no manifest")
	require.Equal(p.T, []string{p.Base + "/app", "kStandalone"}, []string{got.Manifest.StartURL, got.Manifest.Display})
	icons := Eval[[]string](p, `(async () => {
		const { icons } = JSON.parse(`+strconv.Quote(got.Data)+`);
		const touch = { src: document.querySelector("link[rel=apple-touch-icon]").href, sizes: "192x192" };
		return Promise.all([...icons, touch].map(async ({ src, sizes, purpose }) => {
			const image = Object.assign(new Image(), { src });
			await image.decode();
			return [sizes === "any" || sizes === image.naturalWidth + "x" + image.naturalHeight ? sizes : "not " + sizes, purpose ?? ""].join(" ");
		}));
	})()`)
	require.Equal(p.T, []string{"any ", "192x192 ", "512x512 ", "512x512 maskable", "192x192 "}, icons)
}

// Another opens a second tab of the same browser.
func (p *Tab) Another() *Tab {
	p.T.Helper()
	return Browser{p.Context}.open(p.T, p.Base, p.V)
}

func (b Browser) open(t testing.TB, base string, v Variant, options ...chromedp.ContextOption) *Tab {
	t.Helper()
	ctx, closeTab := chromedp.NewContext(b.ctx, options...)
	t.Cleanup(closeTab)
	p := &Tab{t, ctx, base, v, new(Traffic)}
	require.NoError(t, chromedp.Do(ctx))
	require.NoError(t, chromedp.Listen(ctx, p.hear))
	p.Resize(v)
	Call(p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !v.Script})
	return p
}

// Resize gives a tab the window of a variant, which runs scripts as the one before does.
func (p *Tab) Resize(v Variant) {
	p.T.Helper()
	Call(p, emulation.SetDeviceMetricsOverride,
		emulation.SetDeviceMetricsOverrideParams{
			Width: v.Width, Height: v.Height,
			DeviceScaleFactor: 1, Mobile: v.Phone,
		})
	Call(p, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: v.Touch})
	p.V = v
}

func (tr *Traffic) hear(event any) {
	tr.Lock()
	defer tr.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		tr.Requests = append(tr.Requests, e.Request.URL)
	case *network.EventLoadingFinished:
		tr.Bytes += e.EncodedDataLength
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

// Calm requires that nothing went wrong in a tab, and that it asked no other server for anything.
func (p *Tab) Calm() {
	p.T.Helper()
	p.Lock()
	defer p.Unlock()
	require.Empty(p.T, p.trouble)
	for _, address := range p.Requests {
		require.Regexp(p.T, "^(data:|"+regexp.QuoteMeta(p.Base)+"/)", address, "a request to somebody else")
	}
	if len(p.looks) > 0 {
		slices.SortFunc(p.looks, func(a, b look) int { return cmp.Compare(a.First, b.First) })
		p.T.Logf("%s: of %d pages, first content after %.0f ms (median) and %.0f ms (slowest), moved by %.4f at most, content from %.0f px at most",
			p.V.Name, len(p.looks), p.looks[len(p.looks)/2].First, p.looks[len(p.looks)-1].First,
			slices.MaxFunc(p.looks, func(a, b look) int { return cmp.Compare(a.Moved, b.Moved) }).Moved,
			slices.MaxFunc(p.looks, func(a, b look) int { return cmp.Compare(a.Top, b.Top) }).Top)
	}
}

// A look is how a page came up.
type look struct {
	First float64 // when its first content was painted, in milliseconds
	Moved float64 // the sum of its layout shifts
	Top   float64 // where its content begins, after the title
	What  string  // the parts that moved, and how
	Bar   string  // the faults of the bar
}

const looked = `(() => {
	const shifts = new PerformanceObserver(() => {});
	shifts.observe({type: "layout-shift", buffered: true});
	const moves = shifts.takeRecords().filter(e => !e.hadRecentInput);
	shifts.disconnect();
	const first = [...document.querySelectorAll("main > *, main > section > *, main > article > *")].find(e => e.getBoundingClientRect().height > 0 && !e.matches("h1, section, article, .over"));
	return {
		first: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0,
		moved: moves.reduce((sum, e) => sum + e.value, 0),
		top: first ? first.getBoundingClientRect().top + scrollY : 0,
		bar: [...document.querySelectorAll(".bar > *")].flatMap(e => {
			const at = (e.firstElementChild.matches("summary") ? e.firstElementChild : e).getBoundingClientRect();
			const brand = document.querySelector(".brand").getBoundingClientRect();
			const faults = [at.width < 44 ? "narrow" : "", at.height < 44 ? "low" : ""];
			if (innerWidth <= 390) faults.push(at.bottom !== innerHeight ? "not at the lower edge" : "");
			else faults.push(at.top !== brand.top ? "not in the row of the name" : "");
			return faults.filter(Boolean).map(fault => e.textContent.trim() + ": " + fault);
		}).join("\n"),
		what: moves.flatMap(e => e.sources.map(s => (s.node?.outerHTML ?? s.node?.textContent ?? "").slice(0, 150) + " " + JSON.stringify([s.previousRect, s.currentRect]))).join("\n"),
	};
})()`

// Steady requires that nothing has moved on a page since it came up, and that its content begins
// within the first 200 points of a phone, below no more than the title. Its bar is under the thumb
// there, and in the first row elsewhere, and a finger finds each place.
func Steady(p *Tab, name string) {
	p.T.Helper()
	l := Eval[look](p, looked)
	require.LessOrEqual(p.T, l.Moved, 0.02, "%s, %s: moved\n%s", p.V.Name, name, l.What)
	require.Empty(p.T, l.Bar, "%s, %s", p.V.Name, name)
	if p.V.Width <= 390 {
		require.Less(p.T, l.Top, 200.0, "%s, %s: content begins further down", p.V.Name, name)
	}
	p.Lock()
	defer p.Unlock()
	p.looks = append(p.looks, l)
}

// Call sends a command of the protocol of the browser.
func Call[P, R any](p *Tab, command cdp.Command[P, R], params P) {
	p.T.Helper()
	_, err := chromedp.Call(p.Context, command, params)
	require.NoError(p.T, err, command.Method)
}

// GoTo opens an address of the application, as one who types it.
func (p *Tab) GoTo(path string) *Tab {
	p.T.Helper()
	return p.VisitAddress(p.Base + path)
}

// VisitAddress opens any address.
func (p *Tab) VisitAddress(address string) *Tab {
	p.T.Helper()
	ctx, cancel := context.WithTimeout(p.Context, Patience)
	defer cancel()
	Eval[bool](p, "window.left = true")
	require.NoError(p.T, chromedp.Do(ctx, chromedp.Navigate(address)), address)
	// The event that Navigate waits for may be the last one of the page that was left.
	return p.Sees("!window.left && document.readyState === 'complete'")
}

// Back goes back to the page before.
func (p *Tab) Back() {
	p.T.Helper()
	ctx, cancel := context.WithTimeout(p.Context, Patience)
	defer cancel()
	require.NoError(p.T, chromedp.Do(ctx, chromedp.NavigateBack()))
}

// Eval returns what an expression is on the page.
func Eval[T any](p *Tab, expression string) T {
	p.T.Helper()
	v, err := chromedp.Run(p.Context, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	require.NoError(p.T, err, expression)
	return v
}

// Sees waits until the page is whole and an expression is true. Between two pages there is none to
// ask, and of a page that is still arriving a test would read a part.
func (p *Tab) Sees(expression string) *Tab {
	p.T.Helper()
	pause := 10 * time.Millisecond
	for until := time.Now().Add(Patience); time.Now().Before(until); time.Sleep(pause) {
		pause = min(pause*3/2, 200*time.Millisecond) // looking is work for the browser too
		if v, err := chromedp.Run(p.Context,
			chromedp.Evaluate[bool]("document.readyState === 'complete' && !!("+expression+")")); err == nil && v {
			return p
		}
	}
	p.Shot("failed")
	p.T.Fatalf("%s: never true: %s\n%s", p.V.Name, expression,
		Eval[string](p, "location.href + '\\n' + document.body.innerText.slice(0, 2000)"))
	return nil
}

// Until waits until something is so that takes more than one look at the page.
func (p *Tab) Until(what string, so func() bool) {
	p.T.Helper()
	for end := time.Now().Add(Patience); !so(); time.Sleep(100 * time.Millisecond) {
		require.True(p.T, time.Now().Before(end), "never so: %s", what)
	}
}

// Reads waits until the page shows a text.
func (p *Tab) Reads(text string) *Tab {
	p.T.Helper()
	return p.Sees(fmt.Sprintf("document.body.innerText.includes(%q)", text))
}

// Click clicks what a selector finds, as a mouse does.
func (p *Tab) Click(selector string) *Tab {
	p.T.Helper()
	p.Ready(selector)
	ctx, cancel := context.WithTimeout(p.Context, Patience)
	defer cancel()
	require.NoError(p.T, chromedp.Do(ctx, chromedp.Click(chromedp.CSS(selector))), selector)
	return p
}

// Sends clicks what leads to another page, a link or the button of a form, and waits until that
// page is whole. Before that a test could look at, or write into, the page that is left.
func (p *Tab) Sends(selector string) *Tab {
	p.T.Helper()
	p.Ready(selector)
	Eval[bool](p, "window.left = true")
	p.Click(selector)
	return p.Sees("!window.left && document.readyState === 'complete'")
}

// Write types a text into a field in place of its content.
func (p *Tab) Write(selector, text string) *Tab {
	p.T.Helper()
	p.Ready(selector)
	Eval[bool](p, fmt.Sprintf("(f => { f.focus(); f.select(); return true })(document.querySelector(%q))", selector))
	Call(p, input.InsertText, input.InsertTextParams{Text: text})
	return p
}

// Chooses chooses a file with a name and some bytes for a field.
func (p *Tab) Chooses(selector, name, content string) *Tab {
	p.T.Helper()
	path := filepath.Join(p.T.TempDir(), name)
	require.NoError(p.T, os.WriteFile(path, []byte(content), 0o600))
	p.Ready(selector)
	require.NoError(p.T, chromedp.Do(p.Context, chromedp.SetUploadFiles(chromedp.CSS(selector), []string{path})))
	return p
}

// Ready waits until the page is whole, its scripts have run, and a selector finds something: before
// that a click on it may do nothing.
func (p *Tab) Ready(selector string) *Tab {
	p.T.Helper()
	p.Sees(fmt.Sprintf("document.readyState === 'complete' && document.querySelector(%q)", selector))
	if p.V.Script {
		p.painted()
	}
	return p
}

// painted waits until the page is painted, before which keys are lost. One that no test
// Sees never is.
func (p *Tab) painted() {
	p.T.Helper()
	const twice = `Promise.race([new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => r(true)))), new Promise((r) => setTimeout(r, 1000, true))])`
	require.Eventually(p.T, func() bool {
		_, err := chromedp.Run(p.Context, chromedp.Evaluate[bool](twice, chromedp.EvalAwaitPromise))
		return err == nil // there is no page between two pages
	}, Patience, 10*time.Millisecond)
}

// Press presses keys, wherever the focus is.
func (p *Tab) Press(keys string) *Tab {
	p.T.Helper()
	p.Ready("body")
	require.NoError(p.T, chromedp.Do(p.Context, chromedp.KeyEvent(keys)))
	return p
}

// Shot keeps a picture of the page with the output of the test, where one asks for that: it takes
// longer than most steps.
func (p *Tab) Shot(name string) *Tab {
	p.T.Helper()
	if !keepsPictures() {
		return p
	}
	png, err := chromedp.Run(p.Context, chromedp.CaptureScreenshot())
	require.NoError(p.T, err)
	name = strings.NewReplacer(" ", "-", "/", "-", "?", "-").Replace(p.V.Name+" "+name) + ".png"
	require.NoError(p.T, os.WriteFile(filepath.Join(p.T.(*testing.T).ArtifactDir(), name), png, 0o600))
	return p
}

// Shots keeps a picture in each scheme, where one asks for that, and goes on in the dark if so.
func (p *Tab) Shots(name string) {
	p.T.Helper()
	if !keepsPictures() {
		return
	}
	for _, scheme := range []string{"light", "dark"} {
		p.Scheme(scheme)
		p.Shot(name + " " + scheme)
	}
}

func keepsPictures() bool {
	keep := flag.Lookup("test.artifacts")
	return keep != nil && keep.Value.String() == "true"
}

// Scheme sets whether the browser prefers light or dark. It must show that at once.
func (p *Tab) Scheme(name string) {
	p.T.Helper()
	Call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
}

// Axe returns the source of axe-core.
func Axe(t testing.TB) string {
	t.Helper()
	top, err := inputs.Root()
	require.NoError(t, err)
	source, err := os.ReadFile(filepath.Join(top, "internal/tools/web/node_modules/axe-core/axe.min.js"))
	if err != nil {
		const missing = "axe-core is not installed: pages are not checked for accessibility (npm ci --prefix internal/tools/web)"
		if os.Getenv("CI") == "true" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	return string(source)
}

// Every rule of axe-core is held in the light, and in the dark those that look at colours: all
// others find what they found in the light, where the layout is the same.
const (
	everyRule = `{resultTypes: ["violations"]}`
	ofColours = `{resultTypes: ["violations"], runOnly: axe.getRules(["cat.color"]).filter(r => !r.tags.includes("wcag2aaa")).map(r => r.ruleId)}`
)

// layout is all that a page shows but for its colours.
const layout = `JSON.stringify([...document.querySelectorAll("*")].map(e => {
	const r = e.getBoundingClientRect(), s = getComputedStyle(e);
	return [e.localName, r.x, r.y, r.width, r.height, s.display, s.visibility, s.opacity, s.fontSize, s.fontWeight, s.textDecorationLine];
}))`

// Accessible requires that axe-core, whose source Axe returns, finds nothing to complain of on a
// page, light and dark, and keeps pictures of both.
func Accessible(p *Tab, source, name string) {
	p.T.Helper()
	AccessibleIn(p, source, name, "light")
	ColoursDiffer(p, name)
	check(p, source, name+" dark", ofColours, 0)
	p.Shot(name + " dark")
}

// ColoursDiffer requires that nothing but its colours tells a page in the dark from the page in the
// light, and leaves it dark.
func ColoursDiffer(p *Tab, name string) {
	p.T.Helper()
	p.Until(p.V.Name+", "+name+": only colours differ where it is dark", func() bool {
		p.Scheme("light")
		light := Eval[string](p, layout)
		p.Scheme("dark")
		return light == Eval[string](p, layout)
	})
}

// AccessibleIn does it for one scheme, by every rule whatever the other would show.
func AccessibleIn(p *Tab, source, name, scheme string) {
	p.T.Helper()
	if p.V.Steady {
		p.Ready("main")
		Steady(p, name)
	}
	p.Scheme(scheme)
	check(p, source, name+" "+scheme, everyRule, 10)
	p.Shot(name + " " + scheme)
}

// check requires that axe-core finds nothing to complain of on a page by some of its rules, of
// which more than some pass, and that the page is no wider than the window.
func check(p *Tab, source, name, rules string, passes int) {
	p.T.Helper()
	require.True(p.T, p.V.Script, "axe-core never answers where no script runs")
	p.Ready("main")
	// A phone zooms out where a page is too wide, and its window is wider then.
	require.Empty(p.T, Eval[string](p,
		fmt.Sprintf(`document.documentElement.scrollWidth <= %[1]d ? "" : [...document.querySelectorAll("body *")]
		.filter(e => e.getBoundingClientRect().right + scrollX > %[1]d).map(e => e.outerHTML.slice(0, 120)).join("\n")`, p.V.Width)), "%s, %s: wider than the window", p.V.Name, name)
	if !Eval[bool](p, "'axe' in window") {
		Eval[bool](p, source+"; true")
	}
	found := Eval[struct {
		Passes     int
		Violations json.RawMessage
	}](p, `axe.run(`+rules+`).then(r => ({
		passes: r.passes.length,
		violations: r.violations.map(v => ({id: v.id, help: v.help, nodes: v.nodes.map(n => n.html + ' ' + n.failureSummary)})),
	}))`)
	require.Greater(p.T, found.Passes, passes, "axe-core looked at nothing")
	require.JSONEq(p.T, "[]", string(found.Violations), "%s, %s", p.V.Name, name)
}
