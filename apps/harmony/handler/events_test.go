package main

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/api"
	"prompthub/internal/host/command"
	"prompthub/internal/testing/browsertest"
)

// content is where the first thing of a page begins, from the top of the screen.
const content = "document.querySelector('main > :not([hidden])').getBoundingClientRect().top"

// TestEventsInBrowser: an admin makes an event by the clocks of its zone and is told of a time that
// they show twice; readers in two zones and without a script read it by these clocks; guests see
// coming events on the first page; it is a file for calendars, and can be cancelled.
func TestEventsInBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a browser")
	}
	b, axe := browsertest.Start(t), browsertest.Axe(t)
	data := t.TempDir()
	url, stop := local(t, data)
	at := up(t, url)
	anna := newcomer("anna")
	anna.Language = "en"
	ask[api.Session](t, 201, "POST", at+"/auth/register", "", anna)
	require.Equal(t, command.OK, stop())
	does(t, command.OK, "role", "anna@example.com", "admin", "--data", data)
	url, _ = local(t, data)
	at = up(t, url)

	token := ask[api.Session](t, 200, "POST", at+"/auth/login", "",
		map[string]any{"email": "anna@example.com", "password": "tea under seven lamps"}).AccessToken

	admin := signIn(b.Visit(t, url, phone), "anna", "/app/admin/events/new").Ready("[name=timeZone]")
	require.Equal(t, "Europe/Moscow",
		browsertest.Eval[string](admin, "document.querySelector('[name=timeZone]').value"))
	set := func(name, value string) {
		t.Helper()
		browsertest.Eval[bool](admin,
			fmt.Sprintf("(document.querySelector('[name=%s]').value = %q, true)", name, value))
	}
	set("title", "The long night")
	set("timeZone", "Europe/Berlin")
	set("startDate", "2126-10-27T02:30")
	set("category", "concert")
	set("visibility", "public")
	admin.Sends("form.card .primary").Reads("This time comes twice").Ready("[name=startDateTurn]")
	browsertest.Accessible(admin, axe, "a time that comes twice")
	admin.Shots("time twice")
	set("startDateTurn", "second")
	admin.Sends("form.card .primary").Reads("Saved.")
	require.Equal(t, "2126-10-27T02:30 second",
		browsertest.Eval[string](admin,
			"['startDate', 'startDateTurn'].map((n) => document.querySelector(`[name=${n}]`).value).join(' ')"))
	id := browsertest.Eval[string](admin, "location.pathname.split('/').pop()")
	require.Equal(t, "2126-10-27T01:30:00.000Z", ask[api.Event](t, 200, "GET", at+"/events/"+id, token, nil).StartDate)
	set("startDate", "2126-12-31T20:00")
	set("endDate", "2126-12-31T23:00")
	set("startDateTurn", "")
	set("place", "Berlin, Columbiadamm 9")
	admin.Sends("form.card .primary").Reads("Saved.").Sees("!document.querySelector('[name=startDateTurn]')")

	elsewhere := "(e => e.hidden ? '' : e.innerText)(document.querySelector('[data-elsewhere]'))"
	for _, reader := range []struct {
		zone, own string
		variant   browsertest.Variant
	}{
		{"Europe/Moscow", "По вашим часам: с\u00a031 декабря 2126 г. в 22:00 до\u00a01 января 2127 г. в 01:00", phone},
		{"Europe/Berlin", "", desktop},
	} {
		guest := b.Visit(t, url, reader.variant)
		browsertest.Call(guest, emulation.SetTimezoneOverride,
			emulation.SetTimezoneOverrideParams{TimezoneID: reader.zone})
		guest.GoTo("/app").Sees("document.querySelectorAll('.cards time[title]').length === 2")
		guest.Reads("The long night").Reads("(Берлин, UTC+1)").Sees(content + " < 200")
		browsertest.Accessible(guest, axe, "the first page of a guest")
		guest.Shots("guests see what comes")
		guest.GoTo("/app/events/" + id).Sees("document.querySelectorAll('time[title]').length === 4").Sees(
			content + " < 200")
		guest.Sees("document.querySelector('time').textContent.endsWith('20:00') || document.querySelector('time').textContent.endsWith('08:00 PM')")
		require.Equal(t, reader.own, browsertest.Eval[string](guest, elsewhere))
		browsertest.Accessible(guest, axe, "an event")
		guest.Shots("event")
		guest.Calm()
	}
	still := b.Visit(t, url, plain).GoTo("/app/events/" + id).Reads(
		"с\u00a02126-12-31 20:00 до\u00a023:00 (Берлин, UTC+1)")
	require.Equal(t, "/api/v1/events/"+id+"/calendar.ics",
		browsertest.Eval[string](still, "document.querySelector('a[href$=\".ics\"]').getAttribute('href')"))
	still.Calm()

	// A guest who has no account makes one, and goes on to the event.
	carl := b.Visit(t, url, plain).GoTo("/app/events/" + id).Sends("main a[href*=sign-in]").Sends("main a[href*=sign-up]")
	carl.Write("[name=email]", "carl@example.com").Write("[name=password]", "tea under seven lamps").Write(
		"[name=name]", "Carl")
	choose(carl, "birthDate", "2000-02-29")
	carl.Sends("form.card .primary").Reads("Выберите вариант из списка.")
	choose(carl, "gender", "male")
	carl.Write("[name=password]", "tea under seven lamps").Sends("form.card .primary").Reads("Аккаунт создан.")
	carl.Sends("form.card .primary").Reads("Сохранено.").Sends("main a[href*=events]").Ready(
		"form[action$=register]")
	carl.Calm()

	// A form that is sent twice makes one thing.
	for _, form := range []struct{ at, list, more string }{
		{"/app/admin/blog/new", "/app/admin/blog", "postText=Once"},
		{
			"/app/admin/store/new", "/app/store",
			"price=1&itemCategory=music&externalPurchaseUrl=https://shop.example.com/lp",
		},
		{"/app/admin/events/new", "/app/admin/events", "startDate=2126-12-30T20:00&category=concert&visibility=public"},
	} {
		admin.GoTo(form.at).Ready("[name=key]")
		for range 2 {
			require.True(t, browsertest.Eval[bool](admin, fmt.Sprintf(`(async () => {
				const form = document.querySelector("form.card"), sent = new URLSearchParams(new FormData(form));
				for (const [name, value] of new URLSearchParams("title=Once&%s")) sent.set(name, value);
				return (await fetch(form.action, { method: "POST", body: sent })).url.includes("done=saved");
			})()`, form.more)))
		}
		admin.GoTo(form.list).Sees("[...document.querySelectorAll('.cards li')].filter((one) => one.innerText.includes('Once')).length === 1")
	}
	// A hidden event with one place: a member finds it by its code, without a script too, and waits.
	one := 1
	hidden := ask[api.Event](t, 201, "POST", at+"/admin/events", token, map[string]any{
		"title": "A secret night", "description": "", "startDate": "2126-11-30T20:00:00Z", "location": "",
		"category": "concert", "visibility": "secretHidden", "isPublished": true, "capacity": one,
	})
	browsertest.Call(admin, page.AddScriptToEvaluateOnNewDocument,
		page.AddScriptToEvaluateOnNewDocumentParams{
			Source: "navigator.share = async (what) => { window.shared = what.url }",
		})
	admin.GoTo("/app/admin/events/"+hidden.EventID).Write("[name=code]", "lampa-7").Sends(
		"#invites ~ form .primary").Reads("Saved.")
	admin.Click("[data-share]")
	link := "/app/events/" + hidden.EventID + "?invite=LAMPA-7"
	require.Equal(t, url+link, browsertest.Eval[string](admin, "window.shared"))
	browsertest.Accessible(admin, axe, "an event and its invites")
	ask[api.Registration](t, 201, "POST", at+"/events/"+hidden.EventID+"/register", token, map[string]any{})
	bob := newcomer("bob")
	ask[api.Session](t, 201, "POST", at+"/auth/register", "", bob)
	for _, v := range []browsertest.Variant{plain, phone} {
		reader := signIn(b.Visit(t, url, v), "bob", "/app/events")
		reader.Click("details.code summary").Write("[name=invite]", "lampa-8").Sends(
			"details.code .primary").Reads("Этот код не подходит")
		if v.Script {
			browsertest.Accessible(reader, axe, "a code that is wrong")
		}
		reader.Write("[name=invite]", "lampa-7").Sends("details.code .primary").Reads(
			"A secret night").Reads("Все места заняты")
		reader.Sends("form[action$=wait] .primary").Reads("Ваш номер в очереди: 1")
		if !v.Script {
			surely(reader, "form[action$=wait-no-more]").Reads("Вы больше не ждёте места.").Calm()
			continue
		}
		browsertest.Accessible(reader, axe, "waiting for a place")
		ask[any](t, 204, "DELETE", at+"/events/"+hidden.EventID+"/register", token, nil)
		reader.GoTo("/app").Reads("Ваше место на событии: A secret night").Sees(
			"document.querySelector('[data-new=events] span').textContent.includes('1')")
		reader.Click(".cards a").Reads("Место освободилось, и теперь оно ваше").Sees(
			"!!document.querySelector('form[action$=leave]')")
		browsertest.Accessible(reader, axe, "a place that was given")
		reader.GoTo("/app").Sees("!document.body.innerText.includes('Ваше место на событии')").Calm()
	}

	// It is cancelled once one says so twice, and a change of anything else leaves it so.
	admin.GoTo("/app/admin/events/" + id).Click("details.code summary").Reads("All who see the event see at once")
	browsertest.Accessible(admin, axe, "to cancel an event")
	admin.Sends("form[action$=cancel] .primary").Reads("Saved.").Reads("The event is cancelled.")
	admin.Sends("form.card .primary").Reads("Saved.").Reads("The event is cancelled.")
	cancelled := signIn(b.Visit(t, url, phone), "anna", "/app/events/"+id).Reads(
		"The event is cancelled.").Reads("Other events")
	require.False(t, browsertest.Eval[bool](cancelled,
		"!!document.querySelector('form[action$=register], a[href*=calendar]')"))
	browsertest.Accessible(cancelled, axe, "an event that is cancelled")
	cancelled.GoTo("/app").Reads("The event is cancelled.")
	for _, p := range []*browsertest.Tab{admin, cancelled} {
		p.Calm()
	}
}
