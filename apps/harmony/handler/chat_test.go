package main

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/api"
	"prompthub/internal/testing/browsertest"
)

// seen is true when the message of a text is on the screen, between the title and the form.
func seen(text string) string {
	return fmt.Sprintf(`(() => {
		const m = [...document.querySelectorAll(".messages li")].find((m) => m.querySelector(".text")?.textContent === %q);
		const r = m?.getBoundingClientRect();
		return !!r && r.top >= document.querySelector(".over").getBoundingClientRect().bottom && r.bottom <= document.querySelector("#write").getBoundingClientRect().top;
	})()`, text)
}

// atEnd is true when the end of the page is on the screen.
const atEnd = "document.documentElement.scrollHeight - innerHeight - scrollY < 2"

// breakLine presses Shift+Enter.
func breakLine(p *browsertest.Tab) {
	p.T.Helper()
	require.NoError(p.T, chromedp.Do(p.Context,
		chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierShift))))
}

// TestChatInBrowser: a chat opens at the first message that is new, and messages on the screen are
// read; then it opens at its end and follows, unless its reader is above. A keyboard sends by
// Enter, a phone does not. A text outlives the session in which it was written.
func TestChatInBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a browser")
	}
	b, axe := browsertest.Start(t), browsertest.Axe(t)
	url, _ := local(t, t.TempDir())
	prefix := up(t, url)
	var ids, tokens []string
	for _, name := range []string{"ann", "bob"} {
		who := newcomer(name)
		who.Language = "en"
		s := ask[api.Session](t, 201, "POST", prefix+"/auth/register", "", who)
		ids, tokens = append(ids, s.User.UserID), append(tokens, s.AccessToken)
	}
	ask[api.Like](t, 201, "POST", prefix+"/likes", tokens[0], map[string]any{"toUserId": ids[1]})
	room := *ask[api.Like](t, 201, "POST", prefix+"/likes", tokens[1], map[string]any{"toUserId": ids[0]}).ChatID
	bob := func(text string) {
		t.Helper()
		ask[any](t, 201, "POST", prefix+"/chats/"+room+"/messages", tokens[1], map[string]any{"content": text})
	}
	for n := range 30 {
		bob(fmt.Sprint("message ", n))
	}
	chat := "/app/chats/" + room

	wide := browsertest.Variant{Name: "wide", Width: 1280, Height: 900, Script: true, Steady: true}
	small := browsertest.Variant{
		Name: "small", Width: 390, Height: 844, Phone: true,
		Script: true, Touch: true, Steady: true,
	}
	ann := signIn(b.Visit(t, url, wide), "ann", "/app/chats").Reads("30 new messages")
	ann.Sends(".cards a").Sees(at(chat)).Sees(seen("message 0")).Reads("new messages")
	require.False(t, browsertest.Eval[bool](ann, seen("message 29")))
	browsertest.Accessible(ann, axe, "chat at the first new message")
	ann.GoTo("/app/chats").Reads("new messages").Sees("parseInt(document.querySelector('.count').textContent) < 30")
	ann.GoTo(chat).Sees("document.querySelector('#new')").Click(".fresh").Sees(atEnd).Sees(seen("message 29"))
	ann.Sees("document.querySelector('.fresh').hidden").Sees(
		"document.querySelector('.messages').dataset.unread === '0'")

	// It opens at its end and follows, but for a reader of older messages.
	ann.GoTo(chat).Sees("!document.querySelector('#new')").Sees(atEnd).Sees(seen("message 29"))
	bob("one more")
	ann.Sees(seen("one more"))
	browsertest.Eval[bool](ann, "(scrollTo(0, 0), true)")
	ann.Sees("scrollY === 0")
	bob("and one more")
	ann.Sees("document.querySelector('.fresh').innerText === '1 new message' && scrollY === 0")
	ann.Shots("new message below")
	ann.Click(".fresh").Sees(seen("and one more"))

	// Enter sends, and Shift+Enter breaks the line, unless one has chosen otherwise.
	key := "document.querySelector('#write [name=key]')?.value"
	was := browsertest.Eval[string](ann, key)
	height := "document.querySelector('#content').clientHeight"
	line := browsertest.Eval[int](ann, height)
	ann.Write("#content", "first line")
	breakLine(ann)
	ann.Press("second line")
	require.Equal(t, "first line\nsecond line",
		browsertest.Eval[string](ann, "document.querySelector('#content').value"))
	require.Greater(t, browsertest.Eval[int](ann, height), line, "the field grows")
	ann.Press(kb.Enter).Sees(fmt.Sprintf("%s !== %q", key, was)).Sees(seen("first line\nsecond line"))
	require.Empty(t, browsertest.Eval[string](ann, "document.querySelector('#content').value"),
		"a text that was sent is kept no more")
	ann.Click("[data-enter]").Write("#content", "third").Press(kb.Enter).Press("fourth")
	require.Equal(t, "third\nfourth", browsertest.Eval[string](ann, "document.querySelector('#content').value"))
	ann.GoTo(chat).Sees("document.querySelector('#content').value === 'third\\nfourth' && !document.querySelector('[data-enter]').checked")

	// A menu of a message opens without a script, and stays open when another message comes.
	ann.Click(".mine summary").Sees("document.querySelector('.mine .menu').open")
	browsertest.Accessible(ann, axe, "menu of a message")
	bob("while the menu is open")
	ann.Reads("while the menu is open").Sees("document.querySelector('.mine .menu').open").Press(kb.Escape).Sees(
		"!document.querySelector('.menu[open]')")

	// The session ends; the text and the place stay.
	ask[any](t, 204, "POST", prefix+"/auth/logout",
		ask[api.Session](t, 200, "POST", prefix+"/auth/login", "",
			map[string]any{"email": "ann@example.com", "password": "tea under seven lamps"}).AccessToken,
		map[string]any{"everywhere": true})
	ann.Sends("#write .primary").Sees(at("/app/sign-in"))
	ann.Write("[name=email]", "ann@example.com").Write("[name=password]",
		"tea under seven lamps").Sends("form.card .primary")
	ann.Sees(at(chat)).Sees("document.querySelector('#content').value === 'third\\nfourth'")
	ann.Sends("#write .primary").Sees(seen("third\nfourth")).Sees("document.querySelector('#content').value === ''")

	// On a phone Enter breaks.
	phone := b.Visit(t, url, small)
	signIn(phone, "ann", chat).Sees(atEnd).Sees("document.querySelector('label.check').hidden")
	phone.Write("#content", "by").Press(kb.Enter).Press("thumb")
	require.Equal(t, "by\nthumb", browsertest.Eval[string](phone, "document.querySelector('#content').value"))
	browsertest.Accessible(phone, axe, "chat on a phone")
	phone.Shots("chat")
	phone.Click(".messages li:last-child summary").Shots("menu")
	plain := signIn(b.Visit(t, url, browsertest.Variant{Name: "plain", Width: 390, Height: 844, Phone: true}), "ann",
		"/app/chats")
	plain.Sends(".cards a").Sees(at(chat)).Sees(seen("third\nfourth")).Click(".mine summary").Sees(
		"document.querySelector('.mine .menu').open")
	for _, p := range []*browsertest.Tab{ann, phone, plain} {
		p.Calm()
	}
}
