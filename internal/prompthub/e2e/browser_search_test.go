package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"prompthub/internal/testing/browsertest"
)

// TestBrowserSearch searches as people type: a phrase, an author, Chinese, a word of a private
// prompt, a slip, words that no title has, words that no prompt has. With the keyboard alone it
// takes the completions. axe-core sees each state in light and dark, if scripts run.
func TestBrowserSearch(t *testing.T) {
	t.Parallel()
	b := startBrowser(t)
	a := startLocal(t, "embedded")
	ann := user{t: t, url: a.url(), name: "Ann Lee"}
	for _, p := range []string{
		`{"title":"Code reviewer","text":"Reads code and finds faults.","tags":["development"],"visibility":"public"}`,
		`{"title":"Reviewer of any code","text":"Says what is wrong.","tags":["development"],"visibility":"public"}`,
		`{"title":"Sea poet","text":"You write verse. Of salt, of wind, of what a code reviewer would say of the sea.","visibility":"public"}`,
		`{"title":"翻译助手","text":"把这段文字翻译成英文。","visibility":"public"}`,
	} {
		ann.do(201, "POST", "/prompts", json.RawMessage(p), nil)
	}
	user{t: t, url: a.url(), name: "Bob"}.do(201, "POST", "/prompts",
		json.RawMessage(
			`{"title":"Harbour pilot","text":"Brings ships in, through salt and tides.","visibility":"private"}`), nil)
	offered(t, a.url())
	source := browsertest.Axe(t)
	for _, v := range variants {
		p := b.visit(t, a.url(), v)
		p.signIn("Bob", false)
		looks := func(name string) {
			p.Shots("search " + name)
			require.LessOrEqual(t, eval[float64](p, "document.documentElement.scrollWidth - innerWidth"),
				0.0, "wider than the window")
			if v.Script { // axe-core is one
				browsertest.Accessible(p.Tab, source, "search "+name)
			}
		}
		shows := func(q string, titles ...string) {
			p.goTo("/app?q=" + q)
			p.sees("[...document.querySelectorAll('.card h2')].map(h => h.textContent).sort().join() === " +
				strconv.Quote(strings.Join(titles, ",")))
		}
		shows("%22code+reviewer%22", "Code reviewer", "Sea poet")
		require.Equal(t, []string{"Code reviewer", "code reviewer"},
			eval[[]string](p, "[...document.querySelectorAll('.card mark')].map(m => m.textContent)"))
		require.Equal(t, "in the text",
			eval[string](p, "document.querySelector('.card:has(.badge) .badge').textContent"))
		looks("phrase")
		shows("author:%22ann+lee%22+poet", "Sea poet")
		looks("author")
		shows("%E7%BF%BB%E8%AF%91", "翻译助手")
		require.Equal(t, "翻译", eval[string](p, "document.querySelector('.card h2 mark').textContent"))
		looks("Chinese")
		shows("salt", "Harbour pilot", "Sea poet")
		require.Equal(t, "Harbour pilot",
			eval[string](p, "document.querySelector('.card:has([title=\"Only you see it\"]) h2')?.textContent"))
		looks("private")
		shows("revewer", "Code reviewer", "Reviewer of any code", "Sea poet")
		p.reads("in place of")
		looks("slip")
		shows("code+poet&in=title")
		p.reads("These have some of them")
		looks("near")
		shows("%22reviewer+poet%22")
		p.reads("Search for the words alone")
		looks("nothing")
		p.click(".empty .button").sees("document.querySelector('#results .card h2')?.textContent === 'Sea poet'")
		if v.Script {
			byKeys(p)
			looks("completion")
		}
		p.Calm()
	}
}

// offered waits until a job has counted authors.
func offered(t *testing.T, base string) {
	for path, text := range map[string]string{"/app?q=lee": "<bdi>Ann Lee</bdi>", "/app?q=salt": "Sea poet"} {
		require.Eventually(t, func() bool {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, nil)
			require.NoError(t, err)
			r.AddCookie(&http.Cookie{Name: "prompthub-dev", Value: "name=Bob"})
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				return false
			}
			defer answer.Body.Close()
			page, _ := io.ReadAll(answer.Body)
			return strings.Contains(string(page), text)
		}, 5*time.Minute, 200*time.Millisecond, path)
	}
}

// byKeys completes what is typed with the keyboard alone. Letters may be searched for one by one,
// so before each key it waits until the list is that of all of them.
func byKeys(p *tab) {
	listed := func(query, expression string) string {
		return "location.search === '?" + query + "' && !document.querySelector('#results[aria-busy]') && " + expression
	}
	at := func(text string) string {
		return "document.activeElement.textContent.includes(" + strconv.Quote(text) + ")"
	}
	p.goTo("/app").sees("document.querySelectorAll('.card').length === 4 && document.querySelector('.rail')")
	p.click("#q").press("lee").sees(
		listed("q=lee", "document.querySelector('.offers')?.textContent.includes('Ann Lee')"))
	p.press(kb.ArrowDown).sees(at("Ann Lee")).press(kb.Escape).sees("document.activeElement.id === 'q'")
	p.press(kb.ArrowDown).sees(at("Ann Lee")).press(kb.Enter).sees("document.querySelector('main').dataset.page === 'author' && document.querySelectorAll('.card').length === 4")
	p.goTo("/app").sees("document.querySelectorAll('.card').length === 4 && document.querySelector('.rail')")
	p.click("#q").press("reviewer deve").sees(
		listed("q=reviewer+deve", "document.querySelector('.offers a')?.textContent.includes('Development')"))
	p.press(kb.ArrowDown).sees(at("Development")).press(kb.Enter)
	p.sees(listed("q=reviewer&tag=development", "document.activeElement.id === 'q' && document.activeElement.value === 'reviewer' && document.querySelectorAll('.card').length === 2"))
	p.press(kb.ArrowDown).sees("document.activeElement.closest('.card h2')")
}
