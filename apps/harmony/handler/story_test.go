package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/api"
	"prompthub/internal/host/command"
	"prompthub/internal/testing/browsertest"
)

// signUp makes an account on the page, and gives it a photo.
func signUp(p *browsertest.Tab, name, gender string) {
	p.T.Helper()
	p.GoTo("/app/sign-up").Write("[name=email]", name+"@example.com").Write("[name=password]",
		"tea under seven lamps").Write("[name=name]", name)
	choose(p, "gender", gender)
	choose(p, "birthDate", "2000-02-29")
	p.Sends("form .primary").Sees("location.pathname === '/app/me' && document.querySelector('#photo')")
	upload(p, "green.png", photo(p.T))
	p.Sends(".upload .primary").Sees("document.querySelectorAll('.photos img').length === 1")
}

// signIn signs somebody in, and goes to a page.
func signIn(p *browsertest.Tab, name, back string) *browsertest.Tab {
	p.T.Helper()
	p.GoTo("/app/sign-in?back=" + back)
	p.Write("[name=email]", name+"@example.com").Write("[name=password]",
		"tea under seven lamps").Sends("form.card .primary")
	return p.Sees(at(back))
}

// at is true on one of our pages, once it is complete.
func at(path string) string {
	return fmt.Sprintf("location.pathname === %q && document.readyState === 'complete'", path)
}

// last is true when the newest message of a chat has a text.
func last(text string) string {
	return fmt.Sprintf("[...document.querySelectorAll('.messages li')].at(-1)?.innerText.includes(%q)", text)
}

// submit does what sends a form of a chat, and waits for the page that follows: each has another
// key. The old page polls, so it may show first what the form does.
func submit(p *browsertest.Tab, do func()) {
	p.T.Helper()
	const key = "document.querySelector('#write [name=key]')"
	p.Ready("#write")
	was := browsertest.Eval[string](p, key+".value")
	do()
	p.Sees(fmt.Sprintf("%[1]s && %[1]s.value !== %[2]q && document.readyState === 'complete'", key, was))
}

// say writes a message.
func say(p *browsertest.Tab, text string) {
	p.T.Helper()
	submit(p, func() { p.Write("[name=content]", text).Click("#write .primary") })
	p.Sees(last(text))
}

// still waits until the messages of a chat change no more by themselves: all of one's own have been
// read, and one has read all. A click misses a thing that changes meanwhile.
func still(p *browsertest.Tab) {
	p.T.Helper()
	p.Sees("document.querySelector('.messages').dataset.unread === '0' && [...document.querySelectorAll('.mine')].every(m => m.innerText.includes('прочитано'))")
}

// TestStory is all of it once, in Russian on phones. Two people sign up, add photos, find one
// another in the deck and like each other, one of them secretly; they chat, also without script. An
// admin makes a secret event and an invite; one of the two registers by it and talks in its topic
// and its chat, and reports a message of the other, whom a moderator suspends; the match ends, and
// one leaves. In between each page is looked at once in English, wide and in the dark.
func TestStory(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a browser")
	}
	b, axe := browsertest.Start(t), browsertest.Axe(t)
	data := t.TempDir()
	url, stop := local(t, data)
	prefix := up(t, url)
	staff := map[string]string{} // tokens
	var max string
	for _, name := range []string{"vera", "max"} {
		s := ask[api.Session](t, 201, "POST", prefix+"/auth/register", "", newcomer(name))
		staff[name], max = s.AccessToken, s.User.UserID
	}
	require.Equal(t, command.OK, stop())
	does(t, command.OK, "role", "vera@example.com", "admin", "--data", data)
	url, _ = local(t, data)
	prefix = up(t, url)
	tell := func(status int, method, path string, body map[string]any) map[string]any {
		t.Helper()
		return ask[map[string]any](t, status, method, prefix+path, staff["vera"], body)
	}
	ask[any](t, 204, "PUT", prefix+"/admin/users/"+max+"/role", staff["vera"], map[string]any{"role": "moderator"})
	shows := map[string]any{
		"profileVisibility": "private", "anonymousLikes": false, "language": "ru",
		"notificationsEnabled": false, "emailNotifications": false,
	}
	for _, token := range staff { // so that decks have the two alone
		ask[any](t, 200, "PUT", prefix+"/settings/privacy", token, shows)
	}

	ann, bob := b.Visit(t, url, phone), b.Visit(t, url, phone)
	signUp(ann, "Ann", "female")
	signUp(bob, "Bob", "male")

	bob.GoTo("/app/me") // he has two photos, and she passes him by mistake
	upload(bob, "green.png", photo(t))
	bob.Sends(".upload .primary").Sees("document.querySelectorAll('.photos img').length === 2")
	ann.GoTo("/app/people").Reads("Bob, ").Sees("document.querySelector('.deal img').complete").Sees(
		"document.querySelectorAll('.slides img').length === 2")
	browsertest.Accessible(ann, axe, "deck")
	ann.Click(".dots a:last-child").Sees("document.querySelector('.slides').scrollLeft > 100")
	ann.Sends("[action$='/pass'] button").Reads("не встретится 90 дней").Sends("[action$='/unpass'] button").Reads(
		"снова может вам встретиться").Reads("Bob, ")
	ann.GoTo("/app/people").Reads("Bob, ")
	ann.Sends("[action$='/secret'] button").Reads("Тайный лайк отправлен").Reads("Пока больше никого нет")
	browsertest.Accessible(ann, axe, "deck at its end")
	ann.GoTo("/app/chats").Reads("Чат появится")
	browsertest.Accessible(ann, axe, "no chats")

	bob.GoTo("/app/people").Reads("Ann, ").Sends("[action$='/like'] button").Reads(
		"Вы и Ann понравились друг другу!").Sends("a.primary").Ready("#write").Reads("Вы понравились друг другу.")
	chat := browsertest.Eval[string](bob, "location.pathname")
	submit(bob, func() { bob.Click("#write .primary") })
	bob.Reads("Нужно от 1 до 4000 символов.")
	browsertest.Accessible(bob, axe, "message refused")
	say(bob, "Ты <b>придёшь</b>?")

	ann.GoTo("/app/chats").Reads("1 новое сообщение").Reads("Bob")
	browsertest.Accessible(ann, axe, "chats")
	ann.Sends(".cards a").Sees(at(chat)).Sees(last("<b>придёшь</b>"))
	browsertest.Accessible(ann, axe, "chat")
	still(bob) // the page polls, and what the other sees they have read
	say(ann, "Да, на оба дня")
	bob.Sees(last("Да, на оба дня"))
	say(bob, "До встречи")
	ann.Sees(last("До встречи"))
	still(bob)
	bob.Click(".mine:last-child summary").Click(".mine:last-child a").Sees(
		"document.querySelector('#content')?.value === 'До встречи'")
	say(bob, "До встречи у входа")
	bob.Reads("изменено")
	ann.Sees(last("До встречи у входа"))
	still(ann)
	submit(ann, func() { ann.Click(".mine summary").Click(".mine .sure > summary").Click(".mine form button") })
	ann.Reads("Сообщение удалено.")
	bob.Reads("Сообщение удалено.")
	browsertest.Accessible(bob, axe, "chat with a deleted message")

	// Ann goes on in a browser without script.
	slow := signIn(b.Visit(t, url, plain), "ann", chat).Reads("До встречи у входа")
	say(slow, "Без скрипта")
	bob.Sees(last("Без скрипта"))
	say(bob, "Можно и так")
	ann.GoTo("/app/me").Sees(at("/app/me")) // so that only the browser without script reads on
	say(bob, "И ещё раз")
	slow.GoTo(chat).Sees(last("И ещё раз")).Sends("[action$='/read'] button").Sees(
		"!document.querySelector(\"[action$='/read']\") && document.querySelector('#write')")
	slow.GoTo("/app/chats").Reads("И ещё раз").Sees("!document.querySelector('.count')")

	// Vera announces a secret event, and makes an invite.
	vera := signIn(b.Visit(t, url, phone), "vera", "/app/admin/events").Reads("Пока ничего нет.")
	browsertest.Accessible(vera, axe, "no events")
	vera.GoTo("/app/admin/events/new").Ready("[name=title]")
	browsertest.Accessible(vera, axe, "new event")
	vera.Write("[name=title]", "Тайный концерт").Write("[name=description]", "Адрес узнаете от друзей").Write(
		"[name=price]", "2500,50").Write("[name=capacity]", "0")
	choose(vera, "category", "concert")
	choose(vera, "visibility", "secretTeaser")
	choose(vera, "startDate", "2126-12-31T20:00")
	vera.Sends("form.card .primary").Reads("Укажите от 1 до 100000 мест.")
	require.Equal(t, "Тайный концерт 2126-12-31T20:00",
		browsertest.Eval[string](vera, "['title', 'startDate'].map(n => document.getElementById(n).value).join(' ')"),
		"what was typed stays")
	browsertest.Accessible(vera, axe, "new event refused")
	vera.Write("[name=capacity]", "1").Sends("form.card .primary").Reads("Сохранено.").Ready("#invites")
	require.Equal(t, "2500.50", browsertest.Eval[string](vera, "document.getElementById('price').value"))
	vera.Write("[name=code]", "aloe-1").Sends("#invites ~ form .primary").Reads("ALOE-1").Reads("0 регистраций")
	browsertest.Accessible(vera, axe, "an event of staff")
	upload(vera, "event.png", photo(t))
	vera.Sends(".upload button").Reads("Сохранено.").Ready("#invites")
	vera.GoTo("/app/admin/events").Reads("Тайный концерт").Reads("Декабрь 2126")

	// Ann registers by it, and talks with those who attend.
	guest := b.Visit(t, url, phone).GoTo("/app/events").Reads("Тайный концерт")
	guest.Sends(".cards a").Ready("main a[href*=sign-in]")
	require.NotContains(t, browsertest.Eval[string](guest, "document.body.textContent"), "Адрес")
	event := browsertest.Eval[string](guest, "location.pathname")
	guest.Sends("main a[href*=sign-in]").Ready("[name=password]")
	ann.GoTo(event).Reads("Это тайное событие.").Ready("[name=inviteCode]")
	ann.Sees("document.querySelector(\"main img[src*='/images/event/']\")?.naturalWidth === 640")
	browsertest.Accessible(ann, axe, "a teaser")
	ann.Sends("[action$=register] button").Reads("Нужен код приглашения.")
	ann.Write("[name=inviteCode]", "aloe-2").Sends("[action$=register] button").Reads("Этот код не подходит")
	browsertest.Accessible(ann, axe, "a wrong code")
	slow.GoTo(event).Ready("[name=inviteCode]").Write("[name=inviteCode]", "aloe-1").Sends("[action$=register] button")
	slow.Reads("Вы участвуете.").Reads("Адрес узнаете от друзей").Reads("2\u00a0500,50\u00a0₽").Reads("участников: 1")
	browsertest.Accessible(ann.GoTo(event).Reads("Вы участвуете."), axe, "attending")
	browsertest.Accessible(ann.GoTo("/app/events?mine=1").Reads("Вы участвуете."), axe, "my events")
	vera.GoTo("/app/admin" + strings.TrimPrefix(event, "/app") + "/topics").Ready("[name=audience]")
	vera.Write("[name=title]", "Кто везёт чай").Write("[name=content]", "Нужны семь ламп и чай")
	choose(vera, "audience", "specificUsers")
	vera.Sends("form.card .primary").Reads("Назовите от 1 до 200 участников")
	browsertest.Accessible(vera, axe, "a topic of an event refused")
	choose(vera, "audience", "attendeesOnly")
	vera.Sends("form.card .primary").Ready("[name=reply]").Reads("участники события")
	browsertest.Accessible(vera, axe, "a topic of an event")
	about := browsertest.Eval[string](vera, "location.pathname")
	slow.GoTo(event).Reads("Темы события").Sends("main a[href='" + about + "']").Ready(
		"[name=reply]").Reads("Нужны семь ламп и чай")
	slow.Write("[name=reply]", "Чай везу я").Sends(".replying .primary").Reads("1 ответ").Reads("Чай везу я")
	browsertest.Accessible(ann.GoTo(event).Reads("Темы события"), axe, "an event with topics")
	slow.GoTo(event).Sends("main [href*='/chats/']").Reads("Чат участников события. В чате: 1.").Ready(
		"[name=content]")
	slow.Write("[name=content]", "Всем привет").Sends("#write .primary").Reads("Всем привет")
	room := browsertest.Eval[string](slow, "location.pathname")
	vera.GoTo(room).Reads("Всем привет").Sees("document.querySelector('.messages a[href*=people]')")
	browsertest.Accessible(vera, axe, "the chat of an event")
	browsertest.Accessible(ann.GoTo("/app/chats").Reads("Тайный концерт"), axe, "chats with that of an event")

	// Ann reports a message of Bob. Max sees the last ones with it, and suspends him.
	say(bob, "Купи мои лампы, дёшево")
	slow.GoTo(chat).Reads("Купи мои лампы, дёшево").Click(".messages li:last-child summary").Sends(
		".messages li:last-child [href*='kind=message']").Reads(
		"Пожаловаться на сообщение").Ready("[name=reportReason]")
	choose(slow, "reportReason", "spam")
	slow.Sends("form.card .primary").Reads("Спасибо. Модераторы посмотрят.")

	section := tell(201, "POST", "/admin/forum/sections",
		map[string]any{"sectionId": "music", "name": "Music", "description": "", "orderIndex": 1})["sectionId"]
	item := tell(201, "POST", "/admin/store/items",
		map[string]any{
			"title": "LP", "description": "", "price": map[string]any{"amountMinor": 100, "currency": "RUB"},
			"category": "music", "stockQuantity": 1, "isAvailable": true,
			"externalPurchaseUrl": "https://shop.example.com/lp",
		})["itemId"]
	post := tell(201, "POST", "/admin/blog/posts",
		map[string]any{
			"title": "News", "excerpt": "", "content": "An album", "tags": []string{"album"},
			"isPublished": true,
		})["postId"]
	person := browsertest.Eval[string](vera, "document.querySelector('.messages a[href*=people]').getAttribute('href')")
	shows["language"] = "en"
	tell(200, "PUT", "/settings/privacy", shows)
	wide := func(p *browsertest.Tab, paths ...string) {
		t.Helper()
		browsertest.Call(p, network.SetExtraHTTPHeaders,
			network.SetExtraHTTPHeadersParams{Headers: network.Headers{"Accept-Language": "en"}})
		p.Resize(desktop)
		for _, path := range paths {
			p.GoTo(path).Sees("document.documentElement.lang === 'en' && document.querySelector('h1')")
			browsertest.AccessibleIn(p, axe, "wide "+path, "dark")
		}
	}
	admin := "/app/admin" + strings.TrimPrefix(event, "/app")
	wide(vera, "/app", "/app/me", "/app/settings", "/app/people", person, "/app/likes", "/app/matches", "/app/chats",
		room, "/app/report?kind=user&userId="+strings.TrimPrefix(person, "/app/people/"),
		"/app/events", event, "/app/forum", fmt.Sprint("/app/forum/", section), about, "/app/store", "/app/blog",
		fmt.Sprint("/app/blog/", post),
		"/app/admin/events", "/app/admin/events/new", admin, admin+"/topics",
		"/app/admin"+strings.TrimPrefix(about, "/app"),
		"/app/admin/store/new", fmt.Sprint("/app/admin/store/", item), "/app/admin/blog", "/app/admin/blog/new",
		fmt.Sprint("/app/admin/blog/", post), "/app/admin/reports")
	wide(guest, "/app", "/app/sign-up", "/app/sign-in", "/app/reset", "/app/restore", "/app/nothing")

	moderator := signIn(b.Visit(t, url, phone), "max", "/app/admin/reports").Reads(
		"Купи мои лампы, дёшево").Reads("И ещё раз")
	moderator.Sends("[value=suspend]").Reads("Сохранено.").Reads("Пока ничего нет.")
	bob.GoTo("/app/chats").Reads("Ваш аккаунт заблокирован модераторами.").Reads("Блокировка закончится:")
	browsertest.Accessible(bob, axe, "suspended")
	slow.GoTo("/app/chats").Reads("Участник, которого вы не видите")

	// He is let in again, and the match ends, and with it the chat.
	moderator.GoTo("/app/admin/reports?state=done").Reads("Заблокировать на 7 дней").Sends("a[href*='/people/']").Sends(
		"[action$=unsuspend] button").Reads("Сохранено.")
	bob.GoTo(chat).Sees(at(chat)).Ready("#write")
	ann.GoTo(chat).Sees(at(chat)).Sends("h1 a").Ready("[action$='/unmatch']")
	surely(ann, "[action$='/unmatch']").Ready("[action$='/secret'] button")
	bob.Write("[name=content]", "Алло?").Sends("#write .primary").Reads("больше не принимает сообщений").Sees(
		"!document.querySelector('#write')")
	browsertest.Accessible(bob, axe, "closed chat")

	english := ask[api.Session](t, 200, "POST", prefix+"/auth/login", "",
		map[string]any{"email": "bob@example.com", "password": "tea under seven lamps"})
	shows["profileVisibility"] = "public"
	ask[any](t, 200, "PUT", prefix+"/settings/privacy", english.AccessToken, shows)
	wide(bob, chat)

	// Ann gives her place back, and leaves.
	slow.GoTo(event).Reads("Вы участвуете.")
	surely(slow, "[action$=leave]").Reads(
		"Вы больше не участвуете.").Reads("подробности по приглашению")
	ann.GoTo("/app/settings").Write("[name=leavingPassword]", "tea under seven lamps").Sends(
		"[action$='/delete'] > button").Sees(at("/app/restore")).Reads("Аккаунт удалён.")
	bob.GoTo(person).Reads("There is no such member.")
	for _, p := range []*browsertest.Tab{ann, bob, slow, vera, guest, moderator} {
		p.Calm()
	}
}
