package pages_test

import (
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"testing/fstest"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/stretchr/testify/require"

	"prompthub/internal/http/pages"
	"prompthub/internal/testing/browsertest"
)

// TestTime: an instant is written in UTC, and as one that a script knows.
func TestTime(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 12, 7, 22, 0, 0, 0, time.FixedZone("", 3*60*60))
	require.Equal(t, template.HTML(`<time datetime="2026-12-07T19:00:00Z">&lt;19:00&gt;</time>`),
		pages.Time(at, pages.Near, "<19:00>"))
	require.Equal(t, template.HTML(`<time datetime="2026-12-07T19:00:00Z" data-form="date">19:00 UTC</time>`),
		pages.Time(at, pages.Date, "19:00 UTC"))
}

// TestTimesInBrowser: readers in Moscow and Los Angeles read one instant in their zones and in
// their words, in what a page gets later, too; without a script the page says UTC.
func TestTimesInBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a browser")
	}
	static := pages.NewStatic("/static/", fstest.MapFS{"static/x.css": {}}, nil)
	mux := http.NewServeMux()
	mux.Handle("GET /static/{file}", static.Handler(admission()))
	now := time.Now()
	at := time.Date(now.Year()+1, 12, 7, 22, 30, 0, 0, time.UTC)
	island, err := time.LoadLocation("Pacific/Kiritimati") // where a year begins first
	require.NoError(t, err)
	newYear := time.Date(now.In(island).Year()+1, 1, 1, 0, 0, 0, 0, island)
	mux.HandleFunc("GET /{lang}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprintf(w,
			`<!doctype html><html lang="%s"><title>x</title><script type="module" src="%s"></script><body>`,
			r.PathValue("lang"), static.Address("times.js"))
		for _, x := range []template.HTML{
			pages.Time(at, pages.Near, "in UTC"), pages.Time(at, pages.Date, "in UTC"),
			pages.Time(at, pages.Hour, "in UTC"),
			pages.Time(now.Add(-5*time.Minute-30*time.Second), pages.Near, "in UTC"),
			pages.Time(now.Add(-30*time.Hour), pages.Date, "in UTC"),
			pages.TimeIn(newYear, pages.Date, island.String(), "in UTC"),
		} {
			_, _ = io.WriteString(w, "<p>"+string(x)+"</p>")
		}
	})
	site := httptest.NewServer(mux)
	defer site.Close()
	b := browsertest.Start(t)
	read := func(p *browsertest.Tab, n int) string {
		return browsertest.Eval[string](p, fmt.Sprintf("document.querySelectorAll('time')[%d].textContent", n))
	}
	year := now.Year() + 1
	for _, reader := range []struct{ zone, lang, long, hour, ago string }{
		{"Europe/Moscow", "en", fmt.Sprintf("December 8, %d at 01:30 AM", year), "01:30 AM", "5 minutes ago"},
		{"Europe/Moscow", "ru", fmt.Sprintf("8 декабря %d г. в 01:30", year), "01:30", "5 минут назад"},
		{"America/Los_Angeles", "en", fmt.Sprintf("December 7, %d at 02:30 PM", year), "02:30 PM", "5 minutes ago"},
	} {
		p := b.Visit(t, site.URL, browsertest.Variant{
			Name: "phone", Width: 390,
			Height: 844, Phone: true, Script: true,
		})
		browsertest.Call(p, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: reader.zone})
		p.GoTo("/" + reader.lang).Sees("document.querySelectorAll('time[title]').length === 6")
		require.Equal(t, reader.long, read(p, 0))
		require.Equal(t, reader.long, read(p, 1))
		require.Equal(t, reader.hour, read(p, 2))
		require.Equal(t, reader.ago, read(p, 3))
		require.NotContains(t, read(p, 4), "UTC")
		require.Contains(t, read(p, 5), strconv.Itoa(newYear.Year()), "the year of its zone, which has not begun here")
		browsertest.Eval[bool](p, `(document.body.insertAdjacentHTML("beforeend", '<p><time datetime="2020-01-02T03:04:05Z">later</time></p>'), true)`)
		p.Sees("document.querySelectorAll('time[title]').length === 7 && !document.body.innerText.includes('later')")
	}
	plain := b.Visit(t, site.URL, browsertest.Variant{Name: "plain", Width: 390, Height: 844, Phone: true}).GoTo(
		"/en").Reads("in UTC")
	require.Equal(t, "in UTC", read(plain, 0))
}
