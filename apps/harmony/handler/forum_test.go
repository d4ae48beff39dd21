package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/api"
	"prompthub/internal/host/command"
	"prompthub/internal/testing/browsertest"
)

// TestForumInABrowser: an admin fills the store, the blog and the forum; guests read them; a member
// begins a topic, and writes in it without a script; the admin locks it and has a reply removed.
func TestForumInABrowser(t *testing.T) {
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

	anna := signIn(b.Visit(t, url, phone), "anna", "/app/admin/events")
	bob := signIn(b.Visit(t, url, phone), "bob", "/app/forum")
	still := signIn(b.Visit(t, url, plain), "bob", "/app/forum") // the same member without a script

	anna.GoTo("/app/admin/store/new").Ready("[name=itemCategory]")
	anna.Write("[name=title]", "Семь ламп, LP").Write("[name=price]", "2500").Write("[name=itemCategory]",
		"music").Write("[name=externalPurchaseUrl]", "http://shop.example.com")
	anna.Sends("form.card .primary").Reads("начинается с https://")
	browsertest.Accessible(anna, axe, "an item refused")
	anna.Write("[name=externalPurchaseUrl]", "https://shop.example.com/lp").Sends("form.card .primary").Reads(
		"Сохранено.").Reads("2\u00a0500\u00a0₽")
	browsertest.Accessible(anna, axe, "the store")
	anna.Click(".cards a[href*='/admin/store/']").Ready("#photo")
	browsertest.Accessible(anna, axe, "an item that is there")
	anna.Sends(".upload button").Reads("Нужна картинка JPEG, PNG, WebP или GIF")
	browsertest.Accessible(anna, axe, "no picture")
	guest := b.Visit(t, url, desktop).GoTo("/app/store").Reads("Семь ламп, LP")
	require.Equal(t, "noopener noreferrer",
		browsertest.Eval[string](guest, "document.querySelector(\"a[href='https://shop.example.com/lp']\").rel"))
	anna.Write("[name=stockQuantity]", "0").Sends("form.card .primary").Reads("Нет в наличии.")
	guest.GoTo("/app/store").Reads("Нет в наличии.").Sees(
		"!document.querySelector(\"a[href='https://shop.example.com/lp']\")")
	guest.Calm()

	anna.GoTo("/app/admin/blog/new").Ready("[name=postText]")
	anna.Write("[name=title]", "Альбом готов").Write("[name=tags]", "альбом, новости").Sends(
		"form.card .primary").Reads("От 1 до 30000 знаков.")
	browsertest.Accessible(anna, axe, "a post refused")
	anna.Write("[name=postText]", "Слушайте <b>здесь</b>: https://example.com/album.").Sends(
		"form.card .primary").Reads("Сохранено.").Reads("Все записи блога")
	browsertest.Accessible(anna, axe, "all posts")
	reader := b.Visit(t, url, phone).GoTo("/app/blog").Reads("Альбом готов")
	browsertest.Accessible(reader, axe, "the blog of a guest")
	reader.Click(".cards a").Reads("<b>здесь</b>").Sees(
		"document.querySelector(\"article a[href='https://example.com/album']\")")
	browsertest.Accessible(reader, axe, "a post")
	reader.Calm()

	anna.GoTo("/app/forum").Ready("[name=sectionId]")
	anna.Write("[name=sectionId]", "music").Write("[name=sectionName]", "Музыка").Click(
		"form.card .primary").Reads("Сохранено.").Reads("Музыка")
	browsertest.Accessible(anna, axe, "forum")
	bob.GoTo("/app/forum").Reads("Музыка").Click(".cards a").Ready("[name=content]")
	bob.Write("[name=title]", "Which").Click("form.card .primary").Reads("Give 10 to 5,000 characters.")
	browsertest.Accessible(bob, axe, "a section")
	bob.Write("[name=content]", "Which album is the best? <b>All</b>").Click("form.card .primary").Reads(
		"0 replies").Reads("<b>All</b>").Ready("[name=reply]")
	path := browsertest.Eval[string](bob, "location.pathname")
	bob.GoTo("/app/forum/music").Ready("[name=content]")
	browsertest.Eval[bool](bob, `((async () => {
		const form = document.querySelector("form.card"), body = new URLSearchParams(new FormData(form));
		body.set("title", "Sent twice");
		body.set("content", "By a finger that trembles");
		await Promise.all([1, 2].map(() => fetch(form.action, { method: "POST", body })));
		window.sent = true;
	})(), true)`)
	bob.Sees("window.sent").GoTo("/app/forum/music").Reads("Sent twice")
	require.Equal(t, 1, browsertest.Eval[int](bob,
		"[...document.querySelectorAll('.cards li')].filter((li) => li.innerText.includes('Sent twice')).length"))
	bob.GoTo("/app/forum").Reads("2 topics").Write("[name=q]", "alb best").Sends(".search button").Reads("Which").Sees(
		"document.querySelectorAll('.cards .card').length === 1")
	browsertest.Accessible(bob, axe, "a search")
	still.GoTo("/app/forum").Write("[name=q]", "?!").Sends(".search button").Reads("with a letter or a digit")
	still.GoTo(path).Ready("[name=reply]").Write("[name=reply]", "I mean all of them").Click(
		".replying .primary").Reads("1 reply").Reads("I mean all of them")
	browsertest.Accessible(bob.GoTo(path).Reads("I mean all of them"), axe, "a topic")
	anna.GoTo(path).Reads("I mean all of them").Click("[action$='/lock'] button").Reads(
		"Тема закрыта").Reads("Сохранено.")
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
	surely(anna, "[action$='/delete']").Reads("Удалено.")
	bob.GoTo(path).Reads("There is no such topic.")
	bob.Calm()
	still.Calm()
	anna.Calm()
}
