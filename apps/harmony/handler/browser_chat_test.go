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
	submit(p, func() { p.Write("[name=content]", text).Click("#write button") })
	p.Sees(last(text))
}

// still waits until the messages of a chat change no more by themselves: all of one's own have been
// read, and one has read all. A click misses a thing that changes meanwhile.
func still(p *browsertest.Tab, read string) {
	p.T.Helper()
	p.Sees(fmt.Sprintf("document.querySelector('.messages').dataset.unread === '0' && [...document.querySelectorAll('.mine')].every(m => m.innerText.includes(%q))", read))
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
	submit(bob, func() { bob.Click("#write button") })
	bob.Reads("Give 1 to 4,000 characters.")
	browsertest.Accessible(bob, axe, "message refused")
	say(bob, "Are you <b>coming</b>?")

	ann.GoTo("/app/chats").Reads("1 новое сообщение").Reads("Bob")
	browsertest.Accessible(ann, axe, "chats")
	ann.Click(".cards a").Sees(at(chat)).Sees(last("<b>coming</b>"))
	browsertest.Accessible(ann, axe, "chat")
	still(bob, "read") // the page polls, and what the other sees they have read
	say(ann, "Да, на оба дня")
	bob.Sees(last("Да, на оба дня"))
	say(bob, "See you there")
	ann.Sees(last("See you there"))
	still(bob, "read")
	bob.Click(".mine:last-child a").Sees("document.querySelector('#content')?.value === 'See you there'")
	say(bob, "See you at the gate")
	bob.Reads("edited")
	browsertest.Accessible(bob, axe, "chat wide")
	ann.Sees(last("See you at the gate"))
	still(ann, "прочитано")
	submit(ann, func() { ann.Click(".mine form button") })
	ann.Reads("Сообщение удалено.")
	bob.Reads("This message was deleted.")
	browsertest.Accessible(bob, axe, "chat with a deleted message")

	// Ann goes on in a browser without script.
	slow := b.Visit(t, url, plain).GoTo("/app/sign-in")
	slow.Write("[name=email]", "ann@example.com").Write("[name=password]", "tea under seven lamps").Click("form.card .primary").Sees(at("/app"))
	slow.GoTo(chat).Reads("See you at the gate")
	say(slow, "Без скрипта")
	bob.Sees(last("Без скрипта"))
	say(bob, "Plain is fine")
	ann.GoTo("/app/me").Sees(at("/app/me")) // so that only the browser without script reads on
	say(bob, "One more")
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
