package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/api"
	"prompthub/internal/host/command"
	"prompthub/internal/testing/browsertest"
)

// TestEventsInABrowser: an admin announces a secret event and makes an invite; a member without a
// script attends by it, writes in its chat, leaves, and begins a topic; the admin locks it and has a reply removed.
func TestEventsInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a browser")
	}
	b, axe := browsertest.Start(t), browsertest.Axe(t)
	data := t.TempDir()
	url, stop := local(t, data)
	at := up(t, url)
	ask[api.Session](t, 201, "POST", at+"/auth/register", "", newcomer("anna"))
	english := newcomer("bob")
	english.Language = "en"
	ask[api.Session](t, 201, "POST", at+"/auth/register", "", english)
	require.Equal(t, command.OK, stop())
	does(t, command.OK, "role", "anna@example.com", "admin", "--data", data)
	url, _ = local(t, data)
	up(t, url)

	anna := b.Visit(t, url, phone).GoTo("/app/sign-in?back=%2Fapp%2Fadmin%2Fevents")
	anna.Write("[name=email]", "anna@example.com").Write("[name=password]", "tea under seven lamps")
	anna.Click("form.card .primary").Reads("Пока ничего нет.")
	browsertest.Accessible(anna, axe, "no events")
	anna.GoTo("/app/admin/events/new").Ready("[name=title]")
	browsertest.Accessible(anna, axe, "new event")
	anna.Write("[name=title]", "Тайный концерт").Write("[name=description]", "Адрес узнаете от друзей").Write("[name=price]", "2500,50").Write("[name=capacity]", "0")
	choose(anna, "category", "concert")
	choose(anna, "visibility", "secretTeaser")
	choose(anna, "startDate", "2126-12-31T20:00")
	anna.Click("form.card .primary").Reads("Укажите от 1 до 100000 мест.")
	require.Equal(t, "Тайный концерт 2126-12-31T20:00", browsertest.Eval[string](anna, "['title', 'startDate'].map(n => document.getElementById(n).value).join(' ')"), "what was typed stays")
	browsertest.Accessible(anna, axe, "new event refused")
	anna.Write("[name=capacity]", "1").Click("form.card .primary").Reads("Сохранено.").Sees("document.querySelector('#invites')")
	require.Equal(t, "2500.50", browsertest.Eval[string](anna, "document.getElementById('price').value"))
	anna.Write("[name=code]", "aloe-1").Click("#invites ~ form .primary").Reads("ALOE-1").Reads("0 регистраций")
	browsertest.Accessible(anna, axe, "an event of staff")
	anna.GoTo("/app/admin/events").Reads("Тайный концерт").Reads("Декабрь 2126")

	bob := b.Visit(t, url, phone).GoTo("/app/events").Reads("Тайный концерт")
	bob.Click(".cards a").Sees("document.querySelector('main a[href*=sign-in]')")
	require.NotContains(t, browsertest.Eval[string](bob, "document.body.textContent"), "Адрес")
	bob.Click("main a[href*=sign-in]").Ready("[name=password]")
	bob.Write("[name=email]", "bob@example.com").Write("[name=password]", "tea under seven lamps")
	bob.Click("form.card .primary").Reads("This is a secret event.").Ready("[name=inviteCode]")
	browsertest.Accessible(bob, axe, "a teaser")
	bob.Click("[action$=register] button").Reads("Give the code of an invite.")
	bob.Write("[name=inviteCode]", "aloe-2").Click("[action$=register] button").Reads("The code does not open this event")
	browsertest.Accessible(bob, axe, "a wrong code")
	path := browsertest.Eval[string](bob, "location.pathname.replace('/register', '')")
	still := b.Visit(t, url, plain).GoTo("/app/sign-in?back=" + path) // the same member without a script
	still.Write("[name=email]", "bob@example.com").Write("[name=password]", "tea under seven lamps")
	still.Click("form.card .primary").Reads("This is a secret event.").Ready("[name=inviteCode]")
	still.Write("[name=inviteCode]", "aloe-1").Click("[action$=register] button").Reads("You attend.").Reads("Адрес узнаете от друзей").Reads("2500.50 RUB").Reads("attendees: 1")
	browsertest.Accessible(bob.GoTo(path).Reads("You attend."), axe, "attending")
	browsertest.Accessible(bob.GoTo("/app/events?mine=1").Reads("You attend."), axe, "my events")
	still.Click("main [href*='/chats/']").Reads("The chat of those who attend the event: 1.").Ready("[name=content]")
	still.Write("[name=content]", "Hello, everyone").Sends("#write .primary").Reads("Hello, everyone")
	room := browsertest.Eval[string](still, "location.pathname")
	anna.GoTo(room).Reads("Hello, everyone").Sees("document.querySelector('.messages a[href*=people]')")
	browsertest.Accessible(anna, axe, "the chat of an event")
	browsertest.Accessible(bob.GoTo("/app/chats").Reads("Тайный концерт"), axe, "chats with that of an event")
	still.GoTo(path).Reads("You attend.")
	still.Click("[action$=leave] button").Reads("You attend no more.").Reads("A secret event: an invite tells more.")
	bob.Resize(desktop)
	browsertest.Accessible(bob.GoTo("/app/events").Reads("A secret event"), axe, "events wide")
	anna.GoTo("/app/events").Reads("Тайный концерт")

	anna.GoTo("/app/admin/store/new").Ready("[name=itemCategory]")
	anna.Write("[name=title]", "Семь ламп, LP").Write("[name=price]", "2500").Write("[name=itemCategory]", "music").Write("[name=externalPurchaseUrl]", "http://shop.example.com")
	anna.Sends("form.card .primary").Reads("начинается с https://")
	browsertest.Accessible(anna, axe, "an item refused")
	anna.Write("[name=externalPurchaseUrl]", "https://shop.example.com/lp").Sends("form.card .primary").Reads("Сохранено.").Reads("2500 RUB")
	browsertest.Accessible(anna, axe, "the store")
	guest := b.Visit(t, url, desktop).GoTo("/app/store").Reads("Семь ламп, LP")
	require.Equal(t, "noopener noreferrer", browsertest.Eval[string](guest, "document.querySelector(\"a[href='https://shop.example.com/lp']\").rel"))
	browsertest.Accessible(guest, axe, "the store of a guest")
	guest.Calm()

	anna.GoTo("/app/forum").Ready("[name=sectionId]")
	anna.Write("[name=sectionId]", "music").Write("[name=name]", "Музыка").Click("form.card .primary").Reads("Сохранено.").Reads("Музыка")
	browsertest.Accessible(anna, axe, "forum")
	bob.Resize(phone)
	bob.GoTo("/app/forum").Reads("Музыка").Click(".cards a").Ready("[name=content]")
	bob.Write("[name=title]", "Which").Click("form.card .primary").Reads("Give 10 to 5,000 characters.")
	browsertest.Accessible(bob, axe, "a section")
	bob.Write("[name=content]", "Which album is the best? <b>All</b>").Click("form.card .primary").Reads("0 replies").Reads("<b>All</b>").Ready("[name=reply]")
	path = browsertest.Eval[string](bob, "location.pathname")
	still.GoTo(path).Ready("[name=reply]").Write("[name=reply]", "I mean all of them").Click(".replying .primary").Reads("1 reply").Reads("I mean all of them")
	browsertest.Accessible(bob.GoTo(path).Reads("I mean all of them"), axe, "a topic")
	anna.GoTo(path).Reads("I mean all of them").Click("[action$='/lock'] button").Reads("Тема закрыта").Reads("Сохранено.")
	bob.GoTo(path).Reads("only staff may reply").Sees("!document.querySelector('[name=reply]')")
	anna.Click("[href*='kind=reply']").Ready("[name=reportReason]")
	browsertest.Accessible(anna, axe, "a report")
	anna.Click("form.card .primary").Reads("Исправьте то, что отмечено ниже.")
	choose(anna, "reportReason", "spam")
	anna.Click("form.card .primary").Reads("Спасибо.")
	anna.GoTo("/app/admin/reports").Reads("I mean all of them").Ready("[value=remove]")
	browsertest.Accessible(anna, axe, "reports")
	anna.Click("[value=remove]").Reads("Сохранено.").Reads("Пока ничего нет.")
	anna.GoTo(path).Reads("Ответ удалён.").Reads("0 ответов")
	browsertest.Accessible(anna, axe, "a locked topic")
	anna.Click("[action$='/delete'] button").Reads("Удалено.")
	bob.GoTo(path).Reads("There is no such topic.")
	bob.Calm()
	still.Calm()
	anna.Calm()
}
