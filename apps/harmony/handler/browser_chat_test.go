package main

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/network"

	"prompthub/internal/testing/browsertest"
)

// signUp makes an account on the page, and waits for the profile.
func signUp(p *browsertest.Tab, name, gender string) {
	p.T.Helper()
	p.GoTo("/app/sign-up").Write("[name=email]", name+"@example.com").Write("[name=password]", "tea under seven lamps").Write("[name=name]", name)
	choose(p, "gender", gender)
	choose(p, "birthDate", "2000-02-29")
	p.Click("form .primary").Sees("location.pathname === '/app/me' && document.querySelector('#photo')")
}

// at is true on one of our pages, once it is complete.
func at(path string) string {
	return fmt.Sprintf("location.pathname === %q && document.readyState === 'complete'", path)
}

// last is true when the newest message of a chat has a text.
func last(text string) string {
	return fmt.Sprintf("[...document.querySelectorAll('.messages li')].at(-1)?.innerText.includes(%q)", text)
}

// TestBrowserChat: two people sign up, find one another in the deck, like and chat: one in Russian on
// a phone, one in English on a desktop, and then one of them without script.
func TestBrowserChat(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a browser")
	}
	b, axe := browsertest.Start(t), browsertest.Axe(t)
	url, _ := local(t, t.TempDir())
	up(t, url)

	ann := b.Visit(t, url, phone)
	signUp(ann, "Ann", "female")
	bob := b.Visit(t, url, desktop)
	browsertest.Call(bob, network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: network.Headers{"Accept-Language": "en"}})
	signUp(bob, "Bob", "male")
	upload(bob, "green.png", photo(t))
	bob.Click(".upload .primary").Sees("document.querySelectorAll('.photos img').length === 1")

	ann.GoTo("/app/people").Reads("Bob, ").Sees("document.querySelector('.deal img').complete")
	browsertest.Accessible(ann, axe, "deck")
	ann.Click("[action$='/secret'] button").Reads("Тайный лайк отправлен").Reads("Пока больше никого нет")
	browsertest.Accessible(ann, axe, "deck at its end")
	ann.GoTo("/app/chats").Reads("Чат появится")
	browsertest.Accessible(ann, axe, "no chats")

	bob.GoTo("/app/people").Reads("Ann, ")
	browsertest.Accessible(bob, axe, "deck wide")
	bob.Click("[action$='/like'] button").Reads("You match").Click("a.primary").Sees("document.querySelector('#write')").Reads("Say hello!")
	chat := browsertest.Eval[string](bob, "location.pathname")
	browsertest.Accessible(bob, axe, "empty chat")
	bob.Click("#write button").Reads("Give 1 to 4,000 characters.")
	browsertest.Accessible(bob, axe, "message refused")
	bob.Write("[name=content]", "Are you <b>coming</b>?").Click("#write button").Sees(at(chat)).Sees(last("<b>coming</b>"))

	ann.GoTo("/app/chats").Reads("1 новое сообщение").Reads("Bob")
	browsertest.Accessible(ann, axe, "chats")
	ann.Click(".cards a").Sees(at(chat)).Sees(last("<b>coming</b>"))
	browsertest.Accessible(ann, axe, "chat")
	bob.Reads("read") // the page polls, and what the other sees they have read
	ann.Write("[name=content]", "Да, на оба дня").Click("#write button").Sees(last("Да, на оба дня"))
	bob.Sees(last("Да, на оба дня")).Write("[name=content]", "See you there").Click("#write button").Sees(last("See you there"))
	ann.Sees(last("See you there"))
	bob.Click(".mine:last-child a").Sees("document.querySelector('#content')?.value === 'See you there'")
	bob.Write("[name=content]", "See you at the gate").Click("#write button").Sees(last("See you at the gate")).Reads("edited")
	browsertest.Accessible(bob, axe, "chat wide")
	ann.Sees(last("See you at the gate"))
	ann.Click(".mine:last-of-type form button, .mine form button").Reads("Сообщение удалено.")
	bob.Reads("This message was deleted.")
	browsertest.Accessible(bob, axe, "chat with a deleted message")

	// Ann goes on in a browser without script.
	slow := b.Visit(t, url, plain).GoTo("/app/sign-in")
	slow.Write("[name=email]", "ann@example.com").Write("[name=password]", "tea under seven lamps").Click("form.card .primary").Sees(at("/app"))
	slow.GoTo(chat).Reads("See you at the gate").Write("[name=content]", "Без скрипта").Click("#write button").Sees(last("Без скрипта"))
	bob.Sees(last("Без скрипта")).Write("[name=content]", "Plain is fine").Click("#write button").Sees(last("Plain is fine"))
	ann.GoTo("/app/me").Sees(at("/app/me")) // so that only the browser without script reads on
	bob.Write("[name=content]", "One more").Click("#write button").Sees(last("One more"))
	slow.GoTo(chat).Sees(last("One more")).Click("[action$='/read'] button").Sees("!document.querySelector(\"[action$='/read']\") && document.querySelector('#write')")
	slow.GoTo("/app/chats").Reads("One more").Sees("!document.querySelector('.count')")

	// The match ends, and with it the chat.
	ann.GoTo(chat).Sees(at(chat)).Click("h1 a").Sees("document.querySelector(\"[action$='/unmatch']\")")
	ann.Click("[action$='/unmatch'] button").Sees("document.querySelector(\"[action$='/secret']\")")
	bob.Write("[name=content]", "Hello?").Click("#write button").Reads("takes no messages any more").Sees("!document.querySelector('#write')")
	browsertest.Accessible(bob, axe, "closed chat")
	ann.Calm()
	bob.Calm()
	slow.Calm()
}
