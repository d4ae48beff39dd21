package main

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/api"
	"prompthub/internal/host/command"
	"prompthub/internal/testing/apptest"
	"prompthub/internal/testing/browsertest"
)

// attach chooses a picture for a chat.
func attach(p *browsertest.Tab) {
	p.T.Helper()
	path := filepath.Join(p.T.TempDir(), "green.png")
	require.NoError(p.T, os.WriteFile(path, []byte(photo(p.T)), 0o600))
	p.Ready(".attach input")
	require.NoError(p.T, chromedp.Do(p.Context, chromedp.SetUploadFiles(chromedp.CSS(".attach input"), []string{path})))
}

// loaded is true when a number of pictures of a chat, or of a report, are loaded.
func loaded(n string) string {
	return "[...document.querySelectorAll('.messages img, blockquote img')].filter((i) => (i.loading = 'eager', i.complete && i.naturalWidth > 0)).length === " + n
}

// TestMatchInBrowser: two people like each other, which is a moment for the second and a number in
// the bar for the first, without a reload; they send pictures, with a script and without; one is
// reported, seen by a moderator and removed.
func TestMatchInBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a browser")
	}
	b, axe := browsertest.Start(t), browsertest.Axe(t)
	data := t.TempDir()
	url, _ := local(t, data)
	prefix := up(t, url)
	var ids, tokens []string
	for _, name := range []string{"ann", "bob", "carol"} {
		who := newcomer(name)
		who.Language = "en"
		s := ask[api.Session](t, 201, "POST", prefix+"/auth/register", "", who)
		ids, tokens = append(ids, s.User.UserID), append(tokens, s.AccessToken)
		status, answer := apptest.Send(t, http.MethodPost, prefix+"/users/"+s.User.UserID+"/images", photo(t),
			"Content-Type", "image/png", "Authorization", "Bearer "+s.AccessToken)
		require.Equal(t, 201, status, answer)
	}
	does(t, command.OK, "role", "carol@example.com", "moderator", "--data", data)
	number := func(of, is string) string {
		return "document.querySelector('[data-new=" + of + "] span').textContent === '" + is + "'"
	}

	small := browsertest.Variant{
		Name: "small", Width: 390, Height: 844, Phone: true,
		Script: true, Touch: true, Steady: true,
	}
	ann := signIn(b.Visit(t, url, small), "ann", "/app/events").Sees(number("liked", "")).Sees(content + " < 200")
	bob := signIn(b.Visit(t, url, desktop), "bob", "/app/blog").Sees(number("liked", ""))
	ask[api.Like](t, 201, "POST", prefix+"/likes", tokens[1], map[string]any{"toUserId": ids[0]})
	ann.Sees(number("liked", " 1")) // it comes to a page that is open
	ann.GoTo("/app").Reads("1 like waits for you").Sees(content + " < 200")
	browsertest.Accessible(ann, axe, "home with a like")
	ann.GoTo("/app/people/" + ids[1]).Sends("[action$='/like'] button").Sees(at("/app/matches/" + ids[1])).Reads(
		"You and bob like each other!").Sees(content + " < 200")
	ann.Sees("document.querySelectorAll('.pair img').length === 2")
	browsertest.Accessible(ann, axe, "the moment of a match")
	ann.Shots("match")
	ann.GoTo("/app/matches").Sees(number("matches", "")).Sees(
		"!document.querySelector('.cards').innerText.includes('new')")

	bob.Sees(number("liked", " 1"))
	bob.GoTo("/app").Reads("1 new match")
	bob.GoTo("/app/matches").Sees("document.querySelector('.cards').innerText.includes('new')").Sees(
		number("matches", ""))
	browsertest.Accessible(bob, axe, "a new match")
	bob.GoTo("/app/matches/" + ids[0]).Reads("You and ann like each other!")
	bob.Shots("match")

	ann.GoTo("/app/matches/" + ids[1]).Sends(".moment .primary").Ready("#write").Reads(
		"You like each other.").Sees(content + " < 200")
	chat := browsertest.Eval[string](ann, "location.pathname")
	ann.Write("#content", "a text that waits")
	attach(ann)
	ann.Sees(loaded("1")).Sees("document.querySelector('#content').value === 'a text that waits'")
	ann.Sees("document.querySelector('.messages img').width === 320 || document.querySelector('.messages img').width < 320")
	browsertest.Accessible(ann, axe, "a chat with a picture")
	ann.Shots("picture")
	still := signIn(b.Visit(t, url, plain), "bob", chat).Sees(loaded("1"))
	attach(still)
	still.Sends("button[form=picture]").Sees(loaded("2"))
	still.Shots("picture")
	ann.Sees(loaded("2")) // and it follows
	still.Sends("button[form=picture]").Reads("JPEG, PNG")

	bob.GoTo(chat).Sees(loaded("2")).Click("li:not(.mine):not(.system) summary").Sends(
		"li:not(.mine) a[href*=report]").Ready("[name=reportReason]")
	choose(bob, "reportReason", "illegal")
	bob.Sends("form.card .primary").Sees(at("/app"))
	carol := signIn(b.Visit(t, url, desktop), "carol", "/app/admin/reports").Sees(loaded("1"))
	browsertest.Accessible(carol, axe, "the report of a picture")
	carol.Shots("report")
	carol.Sends("[name=action][value=remove]").Reads("Saved.")
	ann.Reads("This message was deleted.").Sees(loaded("1"))
	for _, p := range []*browsertest.Tab{ann, bob, still, carol} {
		p.Calm()
	}
}
