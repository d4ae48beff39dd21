package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/api"
	"prompthub/apps/duuble/internal/duubletest"
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

// titleStays holds that the title of a discussion is at the upper edge of the window, and the way
// back in it, however far one has scrolled.
const titleStays = "scrollY > 100 && document.querySelector('.over').getBoundingClientRect().top === 0 && document.elementFromPoint(20, 20).closest('.back')"

// seesPicture holds that all pictures of the page are there, and one at least that is not a face.
const seesPicture = "document.querySelector('img[alt=Picture]') && [...document.images].every(i => { i.loading = 'eager'; return i.complete && i.naturalWidth > 0 })"

// at waits until the window shows a path.
func at(p *browsertest.Tab, path string) *browsertest.Tab {
	p.T.Helper()
	return p.Sees("location.pathname === '" + path + "' && document.readyState === 'complete'")
}

// signIn signs in by a code and chooses a username.
func signIn(p *browsertest.Tab, api, number, name string) {
	p.T.Helper()
	p.GoTo("/app/sign-in")
	p.Write("[name=destination]", number).Sends("form.card .primary")
	at(p, "/app/sign-in/code").Reads("Enter the code")
	challenge := browsertest.Eval[string](p, "document.querySelector('[name=challenge]').value")
	p.Write("[name=code]", printed(p.T.(*testing.T), api)(challenge)).Sends("form.card .primary")
	at(p, "/app/welcome").Reads("Choose your name")
	p.Write("[name=username]", name).Write("[name=fullName]", strings.ToUpper(name)).Click(
		"[name=terms]").Sends("form.card .primary")
	at(p, "/app").Reads("Welcome.")
}

// vote votes on the post that the window shows.
func vote(p *browsertest.Tab, position string) {
	p.T.Helper()
	p.Click("[name=position][value='" + position + "']").Sends(".vote .primary").Reads("Your vote is cast.")
}

// voteByProgram has another person vote on the post of a page.
func voteByProgram(t *testing.T, at, number, name, post string) {
	t.Helper()
	in := enter(t, at, number, printed(t, at))
	settle(t, at, in, name)
	ask[api.VoteCast](t, 201, "POST", at+strings.TrimPrefix(post, "/app")+"/vote", in.AccessToken,
		api.NewVote{Position: "neutral"})
}

// TestBrowser is the story of a post: people sign in on phones, with script and without, one of
// them posts, all vote, and results appear in steps. axe-core finds nothing on any page.
func TestBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a browser")
	}
	b, axe := browsertest.Start(t), browsertest.Axe(t)
	t.Setenv("ADMIN_PHONES", "+34600000001")
	url, _ := local(t, t.TempDir())
	api := up(t, url)

	ann := b.Visit(t, url, phone).GoTo("/")
	at(ann, "/app").Reads("Newest posts").Reads("No posts yet.")
	browsertest.Accessible(ann, axe, "home of a guest")
	browsertest.Installable(ann)
	browsertest.Accessible(ann.GoTo("/app/terms"), axe, "terms")
	ann.GoTo("/app/compose")
	at(ann, "/app/sign-in").Reads("Phone number")
	browsertest.Accessible(ann, axe, "sign in")
	ann.Write("[name=destination]", "600 000 001").Sends("form.card .primary").Reads(
		"Give a phone number with its country")
	browsertest.Accessible(ann, axe, "a number that is none")
	ann.Write("[name=destination]", "+34 600-000-001").Sends("form.card .primary")
	at(ann, "/app/sign-in/code").Reads("Enter the code")
	browsertest.Accessible(ann, axe, "code")
	challenge := browsertest.Eval[string](ann, "document.querySelector('[name=challenge]').value")
	code := printed(t, api)(challenge)
	wrong := "0" + code[1:]
	if code[0] == '0' {
		wrong = "1" + code[1:]
	}
	ann.Write("[name=code]", wrong).Sends("form.card .primary").Reads("The code is wrong")
	ann.Write("[name=code]", code).Sends("form.card .primary")
	at(ann, "/app/welcome").Reads("Choose your name")
	browsertest.Accessible(ann, axe, "welcome")
	ann.Write("[name=username]", "1").Write("[name=fullName]", "Ann").Sends(
		"form.card .primary").Reads("Accept the terms to go on.")
	ann.Click("[name=terms]").Sends("form.card .primary").Reads("Give 3 to 100 characters.")
	browsertest.Accessible(ann, axe, "welcome refused")
	require.Equal(t, "Ann", browsertest.Eval[string](ann, "document.querySelector('#fullName').value"),
		"what was typed stays")
	ann.Write("[name=username]", "Ann_1").Click("[name=terms]").Sends("form.card .primary")
	at(ann, "/app").Reads("Welcome.").Click(".bar summary").Sees(
		"document.querySelector('.bar a[href$=\"/users/Ann_1\"]').checkVisibility()")
	browsertest.Accessible(ann, axe, "menu of a member")
	ann.Press(kb.Escape).Sees("!document.querySelector('.bar [open]')")

	ann.Sends("nav a[href$=compose]")
	at(ann, "/app/compose").Reads("New post")
	browsertest.Accessible(ann, axe, "compose")
	ann.Sends("form.card .primary").Reads("Give a thought, a slider or an article.")
	ann.Write("[name=thoughtText]", "<b>I had four cups</b>").Click(".asks summary").Sees(
		"document.querySelectorAll('.compose [open]').length === 1 && document.querySelector('.compose .full')").Write(
		"[name='slider.text']", "Is tea better than coffee?").Write("[name='slider.leftLabel']",
		"Tea").Write("[name='slider.rightLabel']", "Coffee")
	ann.Click(".article summary").Write("[name='article.text']", "In 1657 tea came to London.").Write(
		"[name='article.linkUrl']", "javascript:alert(1)").Sends("form.card .primary").Reads(
		"Give an address that begins with").Sees("document.querySelectorAll('.compose [open]').length === 3")
	browsertest.Accessible(ann, axe, "compose refused")
	ann.Write("[name='article.linkUrl']", "https://example.com/tea").Sends("form.card .primary").Reads(
		"Your post is public now.").Reads("<b>I had four cups</b>")
	post := browsertest.Eval[string](ann, "location.pathname")
	browsertest.Accessible(ann, axe, "a post before the vote")
	vote(ann, "0")
	ann.Reads("1 vote. Results appear from 9 votes on.")
	browsertest.Accessible(ann, axe, "a post after the vote")

	// Bob has no script, and no way to vote but the form.
	bob := b.Visit(t, url, plain).GoTo(post)
	bob.Reads("Sign in to vote")
	signIn(bob, api, "+34600000002", "bob")
	bob.GoTo("/app").Reads("Is tea better than coffee?").Reads("Nothing chosen yet")
	vote(bob, "4")
	at(bob, "/app").Reads("2 votes. Results appear from 9 votes on.").Sees(
		"document.querySelector(':target .tally')").Shot("without script")
	bob.Sends(".open")
	at(bob, post)

	// They talk about it: Bob comments, which the page of Ann that is open tells, Ann replies, and Bob
	// takes his comment back.
	ann.GoTo("/app/notifications").Sees("document.querySelector('#news').innerText.includes('voted')")
	browsertest.Eval[bool](ann, "window.open = true")
	bob.Reads("No comments yet.").Write("[name=text]", "<i>Coffee</i>").Sends(".comment .primary").Reads(
		"Your comment is there.").Reads("<i>Coffee</i>").Reads("1 comment")
	ann.Sees("document.querySelector('#news').innerText.includes('commented on: Is tea better than coffee?')").Sees(
		"/^News [12]$/.test(document.querySelector('[data-new=notifications]').textContent)")
	require.True(t, browsertest.Eval[bool](ann, "window.open === true"), "news come to the page that is open")
	browsertest.Accessible(ann, axe, "news that came")
	require.False(t, browsertest.Eval[bool](ann.GoTo("/app/notifications"),
		"!document.querySelector('#news > :first-child').innerText.includes('commented')"),
		"the list is in the same order when the page is loaded")
	ann.GoTo(post).Reads("<i>Coffee</i>")
	browsertest.Accessible(ann, axe, "a post with a comment")
	ann.Sends("a[href*='/comments/']").Reads("Back to the post").Reads("No replies yet.").Sends(
		".comment .primary").Reads("Give 1 to 2000 characters")
	browsertest.Accessible(ann, axe, "a reply refused")
	ann.Write("[name=text]", "Tea").Sends(".comment .primary").Reads("Your comment is there.").Reads("Back to the post")
	browsertest.Accessible(ann, axe, "a reply")
	bob.GoTo(post).Reads("1 reply").Click("section .menu summary").Sends("section [action$='/delete'] button").Reads(
		"The comment is deleted.").Reads("1 comment").Reads("Tea")

	carol := b.Visit(t, url, phone)
	signIn(carol, api, "+34600000003", "carol")
	late := carol.Another().GoTo("/app/newest").Reads("Nothing chosen yet")
	carol.GoTo("/app/newest").Reads("Nothing chosen yet")
	browsertest.Eval[bool](carol,
		"(s => { s.focus(); return window.open = true })(document.querySelector('.steps input'))")
	browsertest.Accessible(carol.Press(kb.ArrowLeft), axe, "a slider")
	require.Equal(t, "4", browsertest.Eval[string](carol, "document.querySelector('[name=position]:checked').value"),
		"keys slide")
	carol.Click(".vote .primary").Reads("You have voted. 3 votes. Results appear from 9 votes on.")
	require.True(t, browsertest.Eval[bool](carol, "window.open === true && document.activeElement.matches('.ballot')"),
		"the list stays where it is")
	browsertest.Accessible(carol, axe, "a vote in a list")
	late.Click("[name=position][value='0']").Sends(".vote .primary").Reads(
		"You have voted on this post; a vote is for ever.")
	for i, name := range []string{"dave", "erin", "fred", "gina", "hank", "ivan"} {
		voteByProgram(t, api, fmt.Sprint("+3460000000", 4+i), name, post)
	}
	carol.GoTo(post).Reads("of 9 votes are counted")
	counted := browsertest.Eval[int](carol,
		"[...document.querySelectorAll('.bars strong')].reduce((sum, e) => sum + +e.textContent, 0)")
	require.True(t, counted >= 3 && counted <= 6, "%d", counted)
	browsertest.Accessible(carol, axe, "results")
	ann.GoTo(post).Reads("until more people vote.")

	ann.GoTo("/app/me/votes").Until("the list of votes follows", func() bool {
		return browsertest.Eval[bool](ann.GoTo("/app/me/votes"), "document.querySelector('.plain').innerText.includes('Is tea better than coffee?')")
	})
	browsertest.Accessible(ann, axe, "votes")
	ann.GoTo("/app/me").Reads("+34•••••01").Reads("Chrome on Linux (this browser)")
	browsertest.Accessible(ann, axe, "account")
	ann.Write("[name=bio]", "I like tea").Sends("form.card .primary").Reads("Saved.")
	ann.GoTo("/app/users/ann_1").Reads("I like tea").Reads("1 public post")
	browsertest.Accessible(ann, axe, "profile")

	// Ann took part, so her home shows what others do there. She manages the service, and has guests
	// see her posts.
	ann.Until("her home follows", func() bool {
		return browsertest.Eval[bool](ann.GoTo("/app"), "document.body.innerText.includes('voted')")
	})
	browsertest.Accessible(ann.Reads("Home"), axe, "home")
	ann.Sends("nav a[href$=notifications]").Reads("voted on your post").Reads("New ·")
	browsertest.Accessible(ann, axe, "notifications")
	ann.Sends(".read button").Reads("All news is marked as read.")
	browsertest.Accessible(ann.GoTo("/app/newest").Reads("Newest posts"), axe, "newest")
	ann.GoTo("/app/me").Sends("a[href$='/admin']").Reads("Default feed").Write("[name=username]",
		"nobody").Sends(".default .primary").Reads("There is no such person.")
	browsertest.Accessible(ann, axe, "manage refused")
	ann.Write("[name=username]", "ann_1").Sends(".default .primary").Reads("Saved.").Reads("@Ann_1")
	browsertest.Accessible(ann, axe, "manage")
	guest := b.Visit(t, url, plain).GoTo("/app").Reads("Chosen by the managers").Reads("Is tea better than coffee?")
	guest.GoTo("/app/admin")
	at(guest, "/app/sign-in").Reads("Phone number")
	bob.GoTo("/app/admin").Reads("Only the people who manage this service can do this.")

	// Bob reports the post, and Ann decides it.
	bob.GoTo(post).Click(".menu summary").Reads("Report this post").Sends("a[href*='/report/post/']").Reads(
		"What is it?").Sends(".report .primary").Reads("Give one of spam")
	bob.Click("[name=reason][value=spam]").Write("[name=details]", "<i>again</i>").Sends(
		".report .primary").Reads("You have reported this.")
	browsertest.Accessible(ann.GoTo("/app/report/user/bob").Reads("@bob").Reads("What is it?"), axe, "report")
	ann.GoTo("/app/admin").Reads("BOB").Reads("<i>again</i>")
	browsertest.Accessible(ann, axe, "reports")
	ann.Sends(".remove button").Reads("Its author cannot bring it back.")
	browsertest.Accessible(ann, axe, "a post that a manager has deleted")
	bob.GoTo(post).Reads("There is no such post")
	ann.Sends("main form button").Reads("Your deletion of the post is taken back.").Reads("<i>again</i>")
	ann.Sends(".decide button[value=resolved]").Reads("Your decision is saved.").Reads("None.")

	// Bob follows Ann, and Ann blocks Bob: he finds nothing of her, and when the block ends he does
	// not follow her.
	bob.GoTo("/app/users/ann_1").Reads("0 followers").Sends("[action$='/follow'] .primary").Reads(
		"You follow this person now.").Reads("You began to follow")
	ann.Sees("document.querySelector('[data-new=notifications] span').textContent !== ''")
	bob.Until("the count follows", func() bool {
		return browsertest.Eval[bool](bob.GoTo("/app/users/ann_1"), "document.body.innerText.includes('1 follower')")
	})
	bob.Until("his home follows", func() bool {
		return browsertest.Eval[bool](bob.GoTo("/app"), "document.body.innerText.includes('voted')")
	})
	ann.GoTo("/app/users/ann_1/followers").Reads("Who follows Ann").Reads("BOB")
	browsertest.Accessible(ann, axe, "followers")
	browsertest.Accessible(ann.GoTo("/app/users/bob").Reads("Follows you."), axe, "a profile of another person")
	ann.Click(".menu summary").Sends("[action$='/block'] button").Reads(
		"Neither of you sees what the other writes any more.").Reads("BOB")
	browsertest.Accessible(ann, axe, "blocks")
	bob.GoTo(post).Reads("There is no such post")
	bob.GoTo("/app/users/ann_1").Reads("There is no such person")
	bob.GoTo("/app/search?q=ann").Reads("There is no one and no hub of this name.")
	ann.Sends("[action$='/end'] button").Reads("The block has ended.").Reads("No one.")
	bob.GoTo("/app/users/ann_1").Reads("0 followers").Sends("[action$='/follow'] .primary").Reads(
		"You began to follow").Sends("[action$='/follow'] button").Reads("You do not follow this person any more.")

	// Carol reposts it, which shows the original.
	carol.GoTo(post).Reads("of 9 votes are counted").Sends("a[href$='/repost']").Reads(
		"A repost has votes of its own").Reads("Is tea better than coffee?")
	browsertest.Accessible(carol, axe, "repost")
	carol.Click(".thinks summary").Write("[name=thoughtText]", "Coffee, please").Sends("form.card .primary").Reads(
		"Your post is public now.").Reads("Coffee, please").Reads("Is tea better than coffee?")
	browsertest.Accessible(carol, axe, "a repost")
	carol.Until("it is listed", func() bool {
		return browsertest.Eval[bool](carol.GoTo(post+"/reposts"), "document.body.innerText.includes('Coffee, please')")
	})
	browsertest.Accessible(carol, axe, "reposts")
	carol.GoTo(post).Reads("of 9 votes are counted").Sends("a[href$='/share']").Reads("Where to")
	browsertest.Accessible(carol, axe, "share")
	carol.Write("[name=note]", "Read this").Sends("form.card .primary").Reads("You have shared this post.").Sends(
		"a[href$='/shares']").Reads("Back to the post").Reads("Read this")
	browsertest.Accessible(carol, axe, "shares")
	browsertest.Accessible(carol.GoTo("/app/users/carol").Reads("Shared by"), axe, "a profile with a share")
	browsertest.Accessible(carol.Click(".bar summary").Sends("nav a[href$=search]").Reads("A person or a hub"), axe, "search")
	carol.Write("[name=q]", "ANN").Sends("main .primary").Reads("@Ann_1")
	browsertest.Accessible(carol, axe, "what a search found")

	// Ann deletes the post and brings it back with all that it had.
	ann.GoTo(post).Click(".menu summary").Reads("Delete this post").Sends(".whole button").Reads(
		"Your post is deleted").Reads("Bring it back")
	browsertest.Accessible(ann, axe, "a post that is deleted")
	carol.GoTo(post).Reads("There is no such post")
	ann.Sends("main a[href$='/me/deleted']").Reads("Is tea better than coffee?")
	browsertest.Accessible(ann, axe, "deleted posts")
	ann.Sends("[action$='/restore'] button").Reads("Your post is there again.").Reads(
		"of 9 votes are counted").Reads("1 comment")
	ann.Resize(desktop)
	for _, path := range []string{
		"/app", "/app/newest", "/app/notifications", "/app/admin", post, "/app/compose",
		"/app/me", "/app/me/votes", "/app/users/ann_1", "/app/users/ann_1/following", "/app/me/blocks",
		"/app/terms", "/app/nothing",
	} {
		browsertest.Accessible(ann.GoTo(path), axe, "wide "+strings.ReplaceAll(path[1:], "/", " "))
	}

	// Carol leaves: her votes stay counted, and no one finds her. She signs in and comes back.
	carol.GoTo(post).Reads("Your comment").Write("[name=text]", "I was here").Sends(
		".comment .primary").Reads("Your comment is there.")
	carol.GoTo("/app/me").Sends("a[href$='/me/leave']").Reads("you have everything back")
	browsertest.Accessible(carol, axe, "leave")
	carol.Sends("[action$='/me/leave'] button").Reads("You have left Duuble.")
	ann.GoTo("/app/users/carol").Reads("There is no such person")
	ann.GoTo(post).Reads("I was here").Reads("Deleted user").Reads("of 9 votes are counted")
	browsertest.Accessible(ann, axe, "a comment of a deleted user")
	carol.GoTo("/app/sign-in").Write("[name=destination]", "+34600000003").Sends("form.card .primary")
	at(carol, "/app/sign-in/code").Reads("Enter the code")
	challenge = browsertest.Eval[string](carol, "document.querySelector('[name=challenge]').value")
	carol.Write("[name=code]", printed(t, api)(challenge)).Sends("form.card .primary")
	at(carol, "/app/come-back").Reads("You can come back")
	browsertest.Accessible(carol, axe, "come back")
	carol.GoTo("/app/me")
	at(carol, "/app/come-back").Sends("[action$='/come-back'] button").Reads("Welcome back.")
	ann.GoTo("/app/users/carol").Reads("CAROL")
	ann.GoTo("/app/me").Sends("[action$='/me/sign-out'] button")
	at(ann, "/app").Reads("Sign in with your phone")
	ann.GoTo("/app/me")
	at(ann, "/app/sign-in").Reads("Phone number")
	ann.Calm()
	carol.Calm()
	bob.Click(".bar summary").Sends(".bar button").Reads("Sign in with your phone")
	bob.Calm()
}

// TestHubsInBrowser is the story of five people in a hub, on small phones: Ann makes it, Bob, Dave
// and Erin accept invitations, Carol asks by a link and is let in. Dave and Erin have no script.
// All vote on a post that is for them alone, see the result, and talk about it. A guest finds none
// of it.
func TestHubsInBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a browser")
	}
	b, axe := browsertest.Start(t), browsertest.Axe(t)
	url, _ := local(t, t.TempDir())
	api := up(t, url)
	small, bare := phone, plain
	small.Name, small.Height = "small", 844
	bare.Name, bare.Height = "bare", 844
	ann, bob, carol := b.Visit(t, url, small), b.Visit(t, url, small), b.Visit(t, url, small)
	dave, erin := b.Visit(t, url, bare), b.Visit(t, url, bare)
	for i, p := range []*browsertest.Tab{ann, bob, carol, dave, erin} {
		signIn(p, api, fmt.Sprint("+3460000000", i+1), []string{"ann", "bob", "carol", "dave", "erin"}[i])
	}

	ann.Sends(".bar a[href$=hubs]").Reads("You are in no hub yet.")
	browsertest.Accessible(ann, axe, "no hubs")
	ann.Sends("a[href$='/hubs/new']").Reads("A hub is a group of people.")
	browsertest.Accessible(ann, axe, "new hub")
	ann.Write("[name=name]", "Tea drinkers").Write("[name=description]", "For all who like tea").Sends(
		"form.card .primary").Reads("Give a picture of the hub")
	browsertest.Accessible(ann, axe, "new hub without a picture")
	ann.Chooses("#file", "tea.png", string(duubletest.Photo)).Sends("form.card .primary").Reads(
		"Your hub is made.").Sees(seesPicture).Sees("!document.body.innerText.includes('0 active')")
	hub := browsertest.Eval[string](ann, "location.pathname")
	browsertest.Accessible(ann, axe, "a hub")

	browsertest.Call(ann, page.AddScriptToEvaluateOnNewDocument,
		page.AddScriptToEvaluateOnNewDocumentParams{
			Source: "navigator.share = async (what) => { window.shared = what.url }",
		})
	ann.Sends("a[href$='/invitations']").Reads("Invite a person").Write("[name=phone]", "+34 600 000 002").Sends(
		"[action$='/invitations'] .primary").Reads("Send this to +34 600 000 002").Reads("invited by ANN")
	browsertest.Accessible(ann, axe, "an invitation to send")
	ann.Click("[data-share]").Sees("window.shared === document.querySelector('#link').href")
	ann.Click("[data-copy]").Sees(
		"['Copied', 'Copy it by hand'].includes(document.querySelector('[data-copy]').innerText)")
	invitation := browsertest.Eval[string](ann, "new URL(document.querySelector('#link').href).pathname")
	for _, p := range []*browsertest.Tab{dave, erin} {
		ann.Write("[name=phone]", map[*browsertest.Tab]string{dave: "+34600000004", erin: "+34600000005"}[p]).Sends(
			"[action$='/invitations'] .primary").Reads("Send this to")
		p.GoTo("/app/hubs").Reads("from ANN").Sends("main .cards .primary").Reads("You are a member now.")
	}
	ann.Sends("[action$='/links'] button").Reads("A link to join by").Reads("Made by you")
	join := browsertest.Eval[string](ann, "new URL(document.querySelector('#link').href).pathname")

	bob.Until("the news follow", func() bool {
		return browsertest.Eval[bool](bob.GoTo("/app/notifications"),
			"document.body.innerText.includes('invites you to Tea drinkers')")
	})
	at(bob.Sends("#news a[href$='/hubs']"), "/app/hubs").Reads("from ANN").Reads("For all who like tea")
	browsertest.Accessible(bob, axe, "invitations")
	bob.GoTo(invitation).Reads("ANN invites you to Tea drinkers")
	browsertest.Accessible(bob, axe, "an invitation")
	bob.Sends("main form .primary").Reads("You are a member now.")
	carol.GoTo(invitation).Reads("There is no such invitation")
	carol.GoTo(hub).Reads("A member can invite you.")
	carol.GoTo(join).Reads("For all who like tea")
	browsertest.Accessible(carol, axe, "join")
	carol.Sends("main form .primary").Reads("A hub admin decides.").Reads("Where you have asked to join")

	ann.GoTo("/app/notifications").Until("the news follow", func() bool {
		return browsertest.Eval[bool](ann.GoTo("/app/notifications"),
			"document.body.innerText.includes('asks to join Tea drinkers')")
	})
	ann.Sends("#news a[href$='/requests']").Reads("CAROL")
	browsertest.Accessible(ann, axe, "requests")
	ann.Sends("main form .primary").Reads("Your decision is saved.").Reads("No one waits.")
	ann.GoTo(hub + "/members").Reads("BOB").Reads("CAROL")
	browsertest.Accessible(ann, axe, "members")

	bob.GoTo(hub).Click(".menu summary").Reads("Mute for a day").Sends(".mute button[value=day]").Reads(
		"The hub is muted.").Reads("You get no news of posts here until")
	browsertest.Accessible(bob, axe, "a hub that is muted")
	bob.Sends(".mute button").Reads("You get news of posts in this hub again.")
	bob.GoTo(hub).Sends("a[href*=compose][href*=private]").Reads("New post").Reads("Only members of Tea drinkers")
	browsertest.Accessible(bob, axe, "compose in a hub")
	bob.Write("[name='slider.text']", "Green tea?").Click(
		"[name='slider.endsWhenAllVoted']").Sends("form.card .primary").Reads("Your post is in the hub now.").Reads(
		"Members only · Tea drinkers")
	post := browsertest.Eval[string](bob, "location.pathname")
	guest := b.Visit(t, url, plain)
	guest.GoTo(post).Reads("There is no such post")
	// Each votes where the post is seen, and nothing is counted before all have.
	for i, p := range []*browsertest.Tab{ann, bob, carol, dave, erin} {
		p.GoTo([]string{hub, post, "/app/users/bob", hub, hub}[i]).Reads("Nothing chosen yet").Click(
			fmt.Sprintf("[name=position][value='%d']", []int{0, 1, 2, 2, 4}[i]))
		if i == 0 {
			p.Shots("a vote in a hub")
		}
		if p.V.Script && p != bob {
			p.Click(".vote .primary")
		} else {
			p.Sends(".vote .primary").Reads("Your vote is cast.")
		}
		p.Reads("You have voted.")
		require.Equal(t, i < 4, browsertest.Eval[bool](p, "!document.querySelector('.bars')"))
	}
	at(erin, hub).Sees("document.querySelector(':target .bars')").Shots("a result without script")
	for _, p := range []*browsertest.Tab{ann, bob, carol, dave, erin} {
		p.GoTo(post).Reads("You have voted. 5 of 5 votes are counted.")
		require.Equal(t, "1 1 2 0 1",
			browsertest.Eval[string](p,
				"[...document.querySelectorAll('.bars strong')].map((e) => e.textContent).join(' ')"),
			"one result, which is exact")
	}
	carol.Shots("the result of a hub")
	browsertest.Accessible(carol, axe, "results in a hub")
	carol.Sends("[action$='/discussions'] button").Reads("No messages yet.")
	talk := browsertest.Eval[string](carol, "location.pathname")
	browsertest.Accessible(carol, axe, "an empty discussion")
	carol.Write("[name=text]", "With mint, please").Sends(".message .primary").Reads("With mint, please")
	bob.Resize(browsertest.Variant{Name: "small", Width: 390, Height: 844, Phone: true, Script: true, Touch: true})
	carol.Resize(desktop) // it has a keyboard
	carol.GoTo(talk)
	bob.GoTo(talk).Reads("With mint, please").Sees(
		"document.querySelector('.fresh').hidden && document.querySelector('label.check').hidden")
	for n := range 12 {
		carol.Write("[name=text]", fmt.Sprint("Cup ", n)).Press(kb.Enter).Sees(fmt.Sprintf("document.readyState === 'complete' && document.querySelector('.mine:last-child')?.innerText.includes('Cup %d') && document.querySelector('#text').value === ''", n))
	}
	bob.Sees("document.querySelector('li:last-child').innerText.includes('Cup 11') && document.documentElement.scrollHeight - innerHeight - scrollY < 2")
	browsertest.Eval[bool](bob, "(scrollTo(0, 0), true)")
	bob.Sees("scrollY === 0").Press(kb.Tab)
	carol.Write("[name=text]", "Last cup").Press(kb.Enter)
	bob.Sees("document.querySelector('.fresh').innerText === '1 new message' && scrollY === 0")
	browsertest.Accessible(bob, axe, "a discussion with a new message")
	bob.GoTo(talk).Sees("document.querySelector('#new')?.innerText.includes('Last cup')").Click("#new summary")
	bob.Sees(titleStays)
	bob.Shots("menu in a discussion")
	carol.Reads("Last cup").Sends("[action$='/saved'] button").Reads(
		"You find it under Me, Saved discussions.").Reads("Remove from saved")
	carol.GoTo("/app/me/saved").Reads("14 messages, the last one")
	browsertest.Accessible(carol, axe, "saved discussions")
	dave.Sends("[action$='/discussions'] button").Reads("With mint, please").Write("[name=text]",
		"And honey").Sends(".message .primary").Reads("And honey")
	erin.Sends("[action$='/discussions'] button").Reads("And honey").Shots("a discussion without script")
	ann.GoTo(hub).Sends("a[href$='/discussions']").Reads("Discussions in Tea drinkers").Reads(
		"15 messages, the last one")
	browsertest.Accessible(ann, axe, "discussions")
	ann.Sends("main .cards a[href*='/discussions/']").Reads("With mint, please")
	browsertest.Accessible(ann, axe, "a discussion")
	ann.Sends("main a[href*='/messages/']").Reads("No replies yet.")
	ann.Write("[name=text]", "And with sugar").Sends(".message .primary").Reads("And with sugar")
	browsertest.Accessible(ann, axe, "replies to a message")
	replies := browsertest.Eval[string](ann, "location.pathname")
	carol.GoTo(hub).Reads("Green tea?").Click(".head .menu summary").Click(".sure summary").Reads(
		"To come back you need an invitation")
	browsertest.Accessible(carol, axe, "leaving a hub")
	carol.Sends("[action$='/leave'] button").Reads("You have left the hub.")
	carol.GoTo(post).Reads("There is no such post")
	carol.GoTo("/app/me/saved").Reads("You have saved no discussions.")
	carol.GoTo(talk).Reads("You are not a member of this hub")
	guest.GoTo("/app/search?q=drink")
	at(guest, "/app/sign-in").Reads("Phone number")
	ann.GoTo(hub+"/edit").Write("[name=description]", "For all who like green tea").Sends(
		"form.card .primary").Reads("Saved.").Reads("green tea")
	ann.GoTo("/app/search?q=drink").Reads("Tea drinkers").Reads("4 members")
	ann.Resize(desktop)
	for _, path := range []string{
		"/app/search?q=drink", "/app/hubs", hub, hub + "/edit", hub + "/invitations",
		hub + "/members", hub + "/requests", hub + "/discussions", talk, replies, post,
	} {
		browsertest.Accessible(ann.GoTo(path), axe, "wide "+strings.ReplaceAll(path[1:], "/", " "))
	}
	for _, p := range []*browsertest.Tab{ann, bob, carol} {
		p.Calm()
	}
}

// TestModerationInBrowser is the story of insults in a hub: the deeds of its admin and of a manager
// of the service, and the pages that their author reads.
func TestModerationInBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a browser")
	}
	b, axe := browsertest.Start(t), browsertest.Axe(t)
	t.Setenv("ADMIN_PHONES", "+34600000003")
	url, _ := local(t, t.TempDir())
	api := up(t, url)
	ann, bob, carol := b.Visit(t, url, phone), b.Visit(t, url, phone), b.Visit(t, url, phone)
	signIn(ann, api, "+34600000001", "ann")
	signIn(bob, api, "+34600000002", "bob")
	signIn(carol, api, "+34600000003", "carol")
	ann.GoTo("/app/hubs/new").Write("[name=name]", "Tea drinkers").Chooses("#file", "tea.png",
		string(duubletest.Photo)).Sends("form.card .primary").Reads("Your hub is made.")
	hub := browsertest.Eval[string](ann, "location.pathname")
	ann.GoTo(hub + "/invitations").Sends("[action$='/links'] button").Reads("A link to join by")
	join := browsertest.Eval[string](ann, "new URL(document.querySelector('#link').href).pathname")
	bob.GoTo(join).Sends("main form .primary").Reads("A hub admin decides.")
	ann.GoTo(hub + "/requests").Sends("main form .primary").Reads("Your decision is saved.")

	// A post is taken out, and put back.
	bob.GoTo(hub).Sends("a[href*=compose][href*=private]").Click(".thinks summary").Write("[name=thoughtText]", "You are all fools").Sends(
		"form.card .primary").Reads("Your post is in the hub now.")
	post := browsertest.Eval[string](bob, "location.pathname")
	ann.GoTo(post).Click(".menu summary").Reads("Take out of Tea drinkers").Sends(
		".take-out button").Reads("The post is out of the hub")
	browsertest.Accessible(ann, axe, "a post that is out of a hub")
	bob.GoTo(post).Reads("An admin has taken this post out of Tea drinkers.")
	browsertest.Accessible(bob, axe, "a post that was taken out, for its author")
	bob.GoTo("/app/notifications").Reads("took your post out of Tea drinkers")
	ann.Sends("main form button").Reads("The post is in the hub again.").Reads("You are all fools")

	// A comment and a message are reported, deleted, and read by a manager as they were.
	bob.GoTo(post).Reads("Your comment").Write("[name=text]", "Fools comment").Sends(
		".comment .primary").Reads("Your comment is there.")
	bob.GoTo(post).Sends("[action$='/discussions'] button").Reads("No messages yet.").Write("[name=text]",
		"Fools message").Sends(".message .primary")
	talk := browsertest.Eval[string](bob, "location.pathname")
	for from, link := range map[string]string{post: "/report/comment/", talk: "/report/message/"} {
		ann.GoTo(from).Click(":is(section, .messages) .menu summary").Sends("a[href*='" + link + "']").Reads(
			"What is it?").Click("[name=reason][value=abuse]").Sends(
			".report .primary").Reads("You have reported this.")
	}
	ann.GoTo(talk).Reads("Fools message").Click(".menu summary").Sends(".erase button").Reads(
		"The message is deleted.").Reads("An admin of the hub has deleted this message.")
	browsertest.Accessible(ann, axe, "a message that is deleted")
	bob.GoTo(talk).Reads("An admin of the hub has deleted this message.")
	carol.GoTo("/app/admin").Reads("Fools comment").Reads("Fools message").Reads("@bob, as it was then")
	browsertest.Accessible(carol, axe, "reports with copies")
	carol.Sends(".delete button").Reads("It is deleted.").Sends(".delete button").Reads("It is deleted.").Reads("None.")
	ann.GoTo(post).Reads("No comments yet.")

	// The account is suspended, which ends.
	ann.GoTo("/app/report/user/bob").Click("[name=reason][value=abuse]").Sends(
		".report .primary").Reads("You have reported this.")
	carol.GoTo("/app/admin").Sends("a[href$='/suspension']").Reads("Suspend BOB").Write("[name=days]",
		"0").Sends(".suspend .primary").Reads("Give 1 to 3,650")
	browsertest.Accessible(carol, axe, "a suspension refused")
	carol.Write("[name=days]", "7").Write("[name=reason]", "Insults").Sends(".suspend .primary").Reads(
		"The account is suspended.").Reads("Suspended until")
	browsertest.Accessible(carol, axe, "a suspension")
	bob.GoTo(post).Reads("Your account is suspended").Reads("Insults").Sees(
		"!document.querySelector('.bar a[href$=sign-in]')")
	browsertest.Accessible(bob, axe, "suspended")
	bob.Sends("a[href$='/me/leave']").Reads("you have everything back")
	bob.GoTo("/app").Sends("main form .primary").Reads("Sign in with your phone")
	carol.Sends("[name=end]").Reads("The suspension has ended.")

	// The person is banned from the hub, asks again, and the ban ends.
	ann.GoTo(hub + "/members").Click(".menu summary").Reads("Remove and ban").Sends(".ban button").Reads(
		"The person is banned.").Reads("BOB")
	browsertest.Accessible(ann, axe, "bans")
	bob.GoTo("/app/sign-in").Write("[name=destination]", "+34600000002").Sends("form.card .primary")
	at(bob, "/app/sign-in/code").Reads("Enter the code")
	challenge := browsertest.Eval[string](bob, "document.querySelector('[name=challenge]').value")
	bob.Write("[name=code]", printed(t, api)(challenge)).Sends("form.card .primary")
	bob.GoTo(join).Sends("main form .primary").Reads("The admins of this hub have banned this person")
	ann.Sends("main form button").Reads("The ban has ended.").Reads("No one.")
	bob.GoTo(join).Sends("main form .primary").Reads("A hub admin decides.")
	ann.Resize(desktop)
	for _, path := range []string{hub + "/bans", hub + "/members", hub + "/requests", post, talk} {
		browsertest.Accessible(ann.GoTo(path), axe, "wide "+strings.ReplaceAll(path[1:], "/", " "))
	}
	for _, p := range []*browsertest.Tab{ann, bob, carol} {
		p.Calm()
	}
}

// TestPicturesInBrowser: people give themselves a face, post a picture, and answer with pictures,
// on phones and on a desk, with script and without; a guest sees the public pictures, and a manager
// the reported ones.
func TestPicturesInBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a browser")
	}
	b, axe := browsertest.Start(t), browsertest.Axe(t)
	t.Setenv("ADMIN_PHONES", "+34600000003")
	url, _ := local(t, t.TempDir())
	api := up(t, url)
	ann, bob, carol, guest := b.Visit(t, url, phone), b.Visit(t, url, plain),
		b.Visit(t, url, phone), b.Visit(t, url, plain)
	signIn(ann, api, "+34600000001", "ann")
	signIn(bob, api, "+34600000002", "bob")
	signIn(carol, api, "+34600000003", "carol")
	photo := string(duubletest.Photo)

	ann.GoTo("/app/me").Chooses("#file", "page.html", "<html>").Sends("form.card .primary").Reads(
		"Give a JPEG, PNG, WebP or GIF picture")
	browsertest.Accessible(ann, axe, "a file that is no picture")
	ann.Chooses("#file", "ann.png", photo).Sends("form.card .primary").Reads("Saved.")
	browsertest.Accessible(ann, axe, "an account with a picture")
	guest.GoTo("/app/users/ann").Sees(seesPicture)
	browsertest.Accessible(carol.GoTo("/app/users/ann").Sees(seesPicture), axe, "a profile with a picture")

	ann.GoTo("/app/compose").Click(".thinks summary").Write("[name=thoughtText]", "My cup").Click(".article summary").Chooses("#file", "cup.png",
		photo).Sends("form.card .primary").Reads("Your post is public now.").Sees(seesPicture)
	post := browsertest.Eval[string](ann, "location.pathname")
	browsertest.Accessible(ann, axe, "a post with a picture")
	guest.GoTo(post).Sees(seesPicture)
	bob.GoTo(post).Click(".attach summary").Chooses("#file", "mine.png", photo).Sends(".comment .primary").Reads(
		"Your comment is there.").Sees(seesPicture)
	browsertest.Accessible(carol.GoTo(post).Sees(seesPicture), axe, "a comment with a picture")

	ann.GoTo("/app/hubs/new").Write("[name=name]", "Tea").Chooses("#file", "tea.png", photo).Sends(
		"form.card .primary").Reads("Your hub is made.")
	hub := browsertest.Eval[string](ann, "location.pathname")
	ann.Sends("a[href*=compose][href*=private]").Click(".thinks summary").Write("[name=thoughtText]", "Our cup").Sends(
		"form.card .primary").Reads("Your post is in the hub now.")
	ann.Sends("[action$='/discussions'] button").Reads("No messages yet.")
	talk := browsertest.Eval[string](ann, "location.pathname")
	ann.Click(".attach summary")
	browsertest.Accessible(ann, axe, "a message to which a picture is added")
	ann.Chooses("#file", "ours.png", photo).Sends(".message .primary").Sees(seesPicture)
	browsertest.Accessible(ann, axe, "a message with a picture")
	guest.GoTo(talk)
	at(guest, "/app/sign-in")

	bob.GoTo("/app/report/user/ann").Click("[name=reason][value=abuse]").Sends(
		".report .primary").Reads("You have reported this.")
	carol.GoTo("/app/admin").Sees(seesPicture).Reads("Delete the picture")
	browsertest.Accessible(carol, axe, "a report with a picture")
	carol.Sends(".delete button").Reads("It is deleted.")
	guest.GoTo("/app/users/ann").Sees(
		"document.querySelectorAll('img[alt=Picture]').length === 1 && !document.querySelector('img.face')")

	ann.Resize(desktop)
	for _, path := range []string{"/app/me", "/app/compose", "/app/hubs/new", post, hub, talk} {
		browsertest.Accessible(ann.GoTo(path), axe, "wide with pictures "+strings.ReplaceAll(path[1:], "/", " "))
	}
	for _, p := range []*browsertest.Tab{ann, carol} {
		p.Calm()
	}
}
