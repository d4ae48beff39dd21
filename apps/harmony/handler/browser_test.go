package main

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/stretchr/testify/require"

	"prompthub/internal/testing/browsertest"
)

// The windows of people.
var (
	phone = browsertest.Variant{
		Name: "phone", Width: 390, Height: 1600, Phone: true,
		Script: true, Touch: true, Steady: true,
	}
	plain   = browsertest.Variant{Name: "plain", Width: 390, Height: 1600, Phone: true}
	desktop = browsertest.Variant{Name: "desktop", Width: 1280, Height: 1200, Script: true, Steady: true}
)

// choose chooses an option, as a keyboard does.
func choose(p *browsertest.Tab, field, value string) {
	p.T.Helper()
	p.Ready("[name=" + field + "]")
	browsertest.Eval[bool](p, "(f => { f.value = '"+value+
		"'; f.dispatchEvent(new Event('change', {bubbles: true})); return true })(document.querySelector('[name="+
		field+"]'))")
}

// upload chooses a file for the form of photos.
func upload(p *browsertest.Tab, name, content string) {
	p.T.Helper()
	p.Chooses("#photo", name, content)
}

// surely presses a button that asks once more, and says yes.
func surely(p *browsertest.Tab, form string) *browsertest.Tab {
	p.T.Helper()
	return p.Click("details.sure:has(" + form + ") > summary").Sends(form + " button")
}

// TestBrowser: people sign up, on a phone without script and with it, write about themselves and
// change their settings.
func TestBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a browser")
	}
	b, axe := browsertest.Start(t), browsertest.Axe(t)
	url, _ := local(t, t.TempDir())
	up(t, url)

	ann := b.Visit(t, url, phone)
	browsertest.Call(ann, network.SetExtraHTTPHeaders,
		network.SetExtraHTTPHeadersParams{Headers: network.Headers{"Accept-Language": "en-GB,en;q=0.9"}})
	ann.GoTo("/")
	ann.Sees("location.pathname === '/app'")
	require.Equal(t, "en", browsertest.Eval[string](ann, "document.documentElement.lang"),
		"the browser asks for English")
	browsertest.Accessible(ann, axe, "home")
	browsertest.Installable(ann)
	ann.Sends(".primary").Sees("location.pathname === '/app/sign-up'")
	browsertest.Accessible(ann, axe, "sign-up")
	ann.Write("[name=email]", "ann@example.com").Write("[name=password]", "short").Write("[name=name]", "Ann")
	ann.Click(".secret button").Sees("document.querySelector('#password').type === 'text'")
	ann.Sends("form .primary").Reads("Give 10 to 128 characters.").Reads(
		"Give a day, from 1900 on.").Reads("Choose one of the list.")
	require.Equal(t, "ann@example.com", browsertest.Eval[string](ann, "document.querySelector('#email').value"),
		"what was typed stays")
	require.Empty(t, browsertest.Eval[string](ann, "document.querySelector('#password').value"), "but for the password")
	browsertest.Accessible(ann, axe, "sign-up refused")
	ann.Write("[name=password]", "tea under seven lamps")
	choose(ann, "gender", "female")
	choose(ann, "birthDate", "2000-02-29")
	ann.Sends("form .primary").Sees("location.pathname === '/app/me'").Reads("Your account is made.")
	browsertest.Accessible(ann, axe, "me")
	ann.Write("[name=bio]", "<b>I sing loudest</b>").Write("[name=location]", "Москва").Click(
		"form details summary").Write(
		"[name=lat]", "55,75").Write("[name=lon]", "40.61")
	ann.Sends("form.card .primary").Reads("Saved.")
	fields := "['bio', 'city', 'lat', 'lon'].map(n => document.getElementById(n).value).join(' ')"
	require.Equal(t, "<b>I sing loudest</b>  55.7 40.6", browsertest.Eval[string](ann, fields))
	ann.Write("[name=city]", "Mosco").Sends("form.card .primary").Reads("Choose a city of the list")
	ann.Write("[name=city]", "москва").Sends("form.card .primary").Reads("Saved.")
	require.Equal(t, "<b>I sing loudest</b> Moscow  ", browsertest.Eval[string](ann, fields))
	ann.Write("[name=city]", "").Click("form details summary").Write("[name=lat]", "north").Sends(
		"form.card .primary").Reads("Give a latitude of")
	browsertest.Accessible(ann, axe, "me refused")

	upload(ann, "green.png", photo(t))
	ann.Sends(".upload .primary").Reads("Saved.").Sees("document.querySelector('.photos img').complete && document.querySelector('.photos img').naturalWidth === 320")
	upload(ann, "green.png", photo(t))
	ann.Sends(".upload .primary").Sees("document.querySelectorAll('.photos img').length === 2")
	upload(ann, "page.html", "<html>")
	ann.Sends(".upload .primary").Reads("Give a JPEG, PNG, WebP or GIF picture")
	browsertest.Accessible(ann, axe, "photos")
	ordered := "[...document.querySelectorAll('.photos img')].map(i => i.src).join()"
	was := browsertest.Eval[string](ann, ordered)
	ann.Sends(".photos [action$=first] button").Reads("Saved.").Sees(ordered + " !== '" + was + "'")
	ann.Sends(".photos [action$=down] button").Reads("Saved.").Sees(ordered + " === '" + was + "'")
	ann.Sends(".photos [action$=up] button").Reads("Saved.").Sees(ordered + " !== '" + was + "'")
	browsertest.Accessible(ann, axe, "photos in order")
	surely(ann, "[action$=delete]").Sees("document.querySelectorAll('.photos img').length === 1")

	ann.GoTo("/app/settings").Reads("Chrome on Linux (this browser)")
	browsertest.Accessible(ann, axe, "settings")
	ann.Write("[name=ageRangeMin]", "17").Sends("[action$=preferences] .primary").Reads("Give ages from 18 to 99")
	ann.Write("[name=ageRangeMin]", "20").Sends("[action$=preferences] .primary").Reads("Saved.")
	ann.Write("[name=currentPassword]", "not this one").Write("[name=newPassword]", "eleven lamps over tea").Sends(
		"[action$=password] .primary").Reads("is wrong")
	choose(ann, "language", "ru")
	ann.Sends("[action$=privacy] .primary").Reads("Сохранено.")
	require.Equal(t, "ru", browsertest.Eval[string](ann, "document.documentElement.lang"),
		"the setting counts from the next page on")
	browsertest.Accessible(ann.Reads("Chrome на Linux"), axe, "settings in Russian")
	ann.Click(".bar summary").Sends(".bar [action$=language] button").Sees(
		"location.pathname === '/app/settings' && document.documentElement.lang === 'en'")
	ann.Click(".bar summary")
	browsertest.Accessible(ann, axe, "menu of a member")
	ann.Sends(".bar [action$=language] button").Reads("Настройки")
	ann.GoTo("/app/me")
	annID := browsertest.Eval[string](ann, "document.querySelector('.photos img').getAttribute('src').split('/')[5]")
	ann.Click(".bar summary").Sends(".bar [action$=sign-out] button").Sees("location.pathname === '/app'")
	ann.GoTo("/app/settings").Sees("location.pathname === '/app/sign-in'")
	browsertest.Accessible(ann, axe, "sign-in")
	ann.Write("[name=email]", "ann@example.com").Write("[name=password]", "not this one").Sends(
		"form.card .primary").Reads("неверны")
	ann.Write("[name=password]", "tea under seven lamps").Sends("form.card .primary").Sees(
		"location.pathname === '/app/settings'")
	for _, page := range []string{
		"reset", "forgot", "confirm?token=x",
		"confirm-email?token=x", "unsubscribe?token=x",
	} {
		browsertest.Accessible(ann.GoTo("/app/"+page), axe, strings.TrimSuffix(page, "?token=x"))
	}
	browsertest.Accessible(ann.GoTo("/app/nothing"), axe, "nothing")

	bob := b.Visit(t, url, plain).GoTo("/app/sign-up").Reads("Регистрация")
	bob.Sends("header [action$=language] button").Reads("Members are 18").Sees(
		"location.pathname === '/app/sign-up' && document.documentElement.lang === 'en'")
	bob.GoTo("/app/events").Reads("Events").Sends("header [action$=language] button").Reads("События").GoTo(
		"/app/sign-up").Reads("Регистрация")
	bob.Write("[name=email]", "bob@example.com").Write("[name=password]",
		"tea under seven lamps").Write("[name=name]", "Bob")
	choose(bob, "gender", "male")
	choose(bob, "birthDate", "1999-01-01")
	bob.Sends("form .primary").Sees("location.pathname === '/app/me'").Reads("Аккаунт создан.")
	bob.Write("[name=bio]", "Bass").Sends("form.card .primary").Reads("Сохранено.").Shot("without script")

	// Bob likes Ann secretly, and without a script; she sees a number, and likes him when he says so.
	bob.GoTo("/app/people/" + annID).Reads("Москва").Sees("document.querySelector('.photos img')")
	bob.Sends("[action$=secret] button").Reads("Вы лайкнули")
	ann.GoTo("/app/likes").Reads("1 тайный лайк ждёт ответа.").Reads("Пока никого.")
	ann.GoTo("/app").Reads("1 лайк ждёт ответа").Sees(
		"document.querySelector('[data-new=liked] span').textContent === ' 1'")
	browsertest.Accessible(ann, axe, "home with news")
	bob.Sends("[action$=unlike] button").Sends("[action$='/like'] button").Reads("Вы лайкнули")
	ann.GoTo("/app/likes").Reads("Bob")
	browsertest.Accessible(ann, axe, "likes")
	ann.Sends(".cards a").Reads("Bass")
	browsertest.Accessible(ann, axe, "a member")
	ann.Sends("[action$='/like'] button").Reads("Вы и Bob понравились друг другу!")
	browsertest.Accessible(ann, axe, "a match")
	ann.Sends(".moment .quiet").Reads("Вы пара").Reads("Сейчас на сайте.")
	bob.GoTo("/app/matches").Reads("Ann").Sends(".cards a").Reads("Вы пара")
	browsertest.Accessible(ann.GoTo("/app/matches"), axe, "matches")
	ann.Sends(".cards a").Ready("details.sure")
	require.False(t, browsertest.Eval[bool](ann, "document.querySelector('[action$=block] button').checkVisibility()"),
		"it is not one press away")
	surely(ann, "[action$=block]").Reads("Участник заблокирован").Reads("Bob")
	browsertest.Accessible(ann, axe, "blocked")
	bob.GoTo("/app/people/" + annID).Reads("Такого участника нет.")
	ann.Sends("[action$=unblock] button").Reads("Участник разблокирован")
	ann.Calm()

	// Bob leaves, and comes back.
	bob.GoTo("/app/settings").Write("[name=leavingPassword]", "not this one").Sends(
		"[action$='/delete'] > button").Reads("неверны")
	bob.Write("[name=leavingPassword]", "tea under seven lamps").Sends("[action$='/delete'] > button").Sees(
		"location.pathname === '/app/restore'").Reads("Аккаунт удалён.")
	browsertest.Accessible(ann.GoTo("/app/restore"), axe, "restore")
	bob.GoTo("/app/sign-in").Write("[name=email]", "bob@example.com").Write("[name=password]",
		"tea under seven lamps").Sends("form.card .primary").Reads("Месяц его можно восстановить.")
	bob.Sends("main a[href$=restore]").Sees("location.pathname === '/app/restore'")
	bob.Write("[name=email]", "bob@example.com").Write("[name=password]", "tea under seven lamps").Sends(
		"form.card .primary").Reads("Аккаунт восстановлен.")
	bob.Click(".bar summary").Sends(".bar [action$=sign-out] button").Reads("Фанаты одной группы")
	bob.Calm()
}
