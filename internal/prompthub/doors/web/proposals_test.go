package web_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A ruled is a workspace in which production asks for an approval of somebody who did not write it,
// with a prompt of two versions of the author's, neither of which is live.
type ruled struct {
	billing
	page string
}

func newRuled(t *testing.T) ruled {
	t.Helper()
	b := newBilling(t)
	b.rule(b.root, "production", "*", "1", "")
	r := ruled{b, b.put(b.art, "Greeting", "Hello.\n\nYours", "private")}
	r.save(b.art, "Good day.\n\nYours")
	return r
}

// rule sets one rule by the form of the settings.
func (b billing) rule(p person, label, names, approvals, authors string) {
	b.t.Helper()
	b.clock.Advance(time.Second)
	revision := p.get("/app/w/billing/settings").is(200).find(`name="revision" value="(\d+)"`)
	pairs := []string{"revision", revision, "label1", label, "names1", names, "approvals1", approvals}
	if authors != "" {
		pairs = append(pairs, "authors1", authors)
	}
	p.post("/app/w/billing/rules", pairs...).to("/app/w/billing/settings?done=rules")
}

// save makes a version of the prompt by the form.
func (r ruled) save(p person, text string) {
	r.t.Helper()
	r.clock.Advance(time.Second)
	revision := p.get(r.page + "/edit").is(200).find(`name="revision" value="(\d+)"`)
	p.post(r.page+"/edit", "title", "Greeting", "text", text, "visibility", "private", "revision", revision).to(r.page)
}

// propose opens a proposal by the form on the page of the prompt, and returns its address.
func (r ruled) propose(p person, version string) string {
	r.t.Helper()
	r.clock.Advance(time.Second)
	to := p.post(r.page+"/proposals", "label", "production", "version", version, "message",
		"Kinder").to(r.page + "/proposals/")
	at, _, _ := strings.Cut(to, "?")
	return at
}

// read returns the version and the digest that the form of a proposal sends.
func (p person) read(at string) []string {
	p.w.t.Helper()
	s := p.get(at).is(200)
	return []string{
		"version", s.find(`action="[^"]*/reviews"><input type="hidden" name="version" value="(\d+)"`),
		"digest", s.find(`name="digest" value="([^"]+)"`),
	}
}

// say sends a verdict on what a page had shown.
func (p person) say(at, verdict, text string, read []string) shown {
	p.w.t.Helper()
	p.w.clock.Advance(time.Second)
	return p.post(at+"/reviews", append([]string{"verdict", verdict, "text", text}, read...)...)
}

// TestProposeOnPages: where a label moves by proposals, the pages that move it offer to propose a
// version, and a move without one is refused in place.
func TestProposeOnPages(t *testing.T) {
	t.Parallel()
	r := newRuled(t)
	const form = "Propose version 2 for production"
	asks := "moves by a proposal, with the approval of a publisher who is not one of its authors"
	for _, p := range []person{r.root, r.pam, r.art} {
		p.get(r.page).is(200).has(form, asks, "live: nothing", "Programs that name no version get nothing").lacks(
			`id="release"`, "Each save is live")
		p.get(r.page+"/versions").has(form, "Propose version 1 for production", asks)
		p.get(r.page + "/versions/1").has("Propose version 1 for production")
		p.get(r.page + "/labels").has(asks)
	}
	r.rea.get(r.page).has("live: nothing").lacks("Propose")
	r.rea.get(r.page+"/versions").lacks("Propose", "Set label")
	r.pam.get(r.page + "/versions").has("Set label").lacks(`value="production"> <button>Set`)

	refused := r.pam.post(r.page+"/labels", "label", "production", "version", "2", "back", r.page).is(403)
	refused.has("The label production moves only by a proposal", form)
	r.art.post(r.page+"/labels/remove", "label", "production").is(403)
	r.rea.post(r.page+"/labels", "label", "production", "version", "2").is(403).has(`role="alert"`).lacks(form)
	r.rea.post(r.page+"/proposals", "label", "production", "version", "2").is(403).has("needs the role author")

	r.art.post(r.page+"/proposals", "label", "production", "version", "x", "message", "kept").is(422).has(
		"Name the version by its number", "kept")
	r.art.post(r.page+"/proposals", "label", "production", "version", "9", "message", "kept").is(422).has("kept")
	r.art.post(r.page+"/proposals", "label", "production", "version", "2", "message", strings.Repeat("x", 501)).is(
		422).has(`id="message-wrong"`)
	at := r.propose(r.art, "2")
	r.pam.get(r.page).has(`href="` + at + `">Proposal 1 is open</a>`).lacks(form)
	r.pam.get(r.page + "/versions").has(`href="` + at + `">Proposal 1 for production is open</a>`)
	r.art.post(r.page+"/proposals", "label", "production", "version", "1").is(409).has(
		"Proposal 1 for the label production is open")
	r.rea.get(r.page+"/proposals").is(200).has("Proposal 1: version 2 for production", "1 approval is missing",
		"Kinder", `href="/app/u/art"`).lacks("<textarea")

	free := r.put(r.art, "Free <b>", "x", "private")
	r.rule(r.root, "production", "billing/*", "1", "")
	r.pam.get(free).has(`id="release"`, "Each save is live").lacks("Propose")
	r.pam.get(free + "/proposals").has("No rule of the workspace is for a label of this prompt")
	r.rule(r.root, "production", "*", "0", "")
	r.pam.get(free).has(`id="release"`, "live: nothing").lacks("Propose")
	r.art.get(free).lacks("Propose", `id="release"`)
	r.pam.post(free+"/labels", "label", "production", "version", "1", "back", free).to(free + "?done=released")
	own := r.pam.write("Alone", "text", "private")
	r.pam.get(own + "/proposals").is(404)
}

// TestRuleOfAFormerName: a rule that fits a name which still leads to a prompt is shown like any
// other, as it counts for the prompt.
func TestRuleOfAFormerName(t *testing.T) {
	t.Parallel()
	r := newRuled(t)
	r.rule(r.root, "production", "billing/*", "1", "")
	const form = "Propose version 2 for production"
	r.pam.get(r.page).is(200).lacks(form)
	for _, name := range []string{"billing/hello", "hello"} {
		r.clock.Advance(time.Second)
		revision := r.pam.get(r.page + "/edit").is(200).find(`name="revision" value="(\d+)"`)
		r.pam.post(r.page+"/edit", "title", "Greeting", "name", name, "text", "Good day.\n\nYours", "visibility",
			"private", "revision", revision).to(r.page)
		for _, page := range []string{r.page, r.page + "/versions", r.page + "/versions/2"} {
			r.pam.get(page).is(200).has(form)
		}
	}
	r.pam.post(r.page+"/labels", "label", "production", "version", "2", "back", r.page).is(403)
	r.propose(r.art, "2")
	r.pam.get("/app/w/billing/review").is(200).has("1 approval is missing")
	r.pam.get("/app/w/billing/review?for=me").is(200).has("1 approval is missing")
}

// TestReviewOnPages: the page of a proposal shows what would go live before anything else, each
// reader the buttons that they may press and no others, and an approval counts for the version
// that the page had shown.
func TestReviewOnPages(t *testing.T) {
	t.Parallel()
	r := newRuled(t)
	at := r.propose(r.art, "1")
	r.pam.get(at + "?view=split").is(200).has("<ins>Hello.</ins>")
	first := r.pam.get(at).is(200).lacks(`class="gone"`).has("All of version 1: production was on none",
		"<ins>Hello.</ins>", "Kinder", "1 approval is missing", `href="/app/u/art"`)
	require.Less(t, strings.Index(first.body, "<ins>"), strings.Index(first.body, "<h2>Reviews</h2>"))
	const approve, changes, comment, withdraw, reject, instead = `value="approve"`, `value="changes"`,
		`value="comment"`, "Withdraw this", "Reject this", "Propose version 2 instead"
	first.has(approve, changes, comment, reject, instead).lacks(withdraw)
	r.root.get(at).has(approve, changes, comment, reject, instead).lacks(withdraw)
	r.art.get(at).has(comment, withdraw, instead).lacks(approve, changes, reject)
	r.rea.get(at).has(comment).lacks(approve, changes, withdraw, reject, instead)

	shown := r.pam.read(at)
	r.pam.say(at, "comment", "", shown).is(422).has(`id="text-wrong"`, "Write the comment")
	r.rea.say(at, "comment", "Is <b>this</b> right?", nil).to(at + "?done=review-comment")
	r.rea.say(at, "approve", "kept words", shown).is(403).has("needs the role publisher", "kept words")
	r.art.say(at, "approve", "", shown).is(403)
	r.pam.say(at, "changes", "Too short", shown).to(at + "?done=review-changes")
	r.art.get(at).has("Is &lt;b&gt;this&lt;/b&gt; right?", "<b>asked for changes</b> of version 1", "Too short")

	r.art.post(at+"/version", "version", "2").to(at + "?done=proposed-again")
	r.pam.say(at, "approve", "late", shown).is(409).has("version 2 with another digest than you read",
		"late", `name="version" value="2"`)
	r.pam.get(at).has("of an earlier version", "1 approval is missing")
	r.pam.say(at, "approve", "", r.pam.read(at)).to(at + "?done=approved")
	r.pam.get(at+"?done=approved").has("the label is on this version now", "It was approved by",
		"The rule then").lacks(approve, comment, reject)
	r.rea.get(r.page).has("live: <span class=\"wide\">version </span>2")
	r.pam.say(at, "comment", "x", nil).is(409).has("The proposal was merged")

	// two approvals: the first is kept and told, and its giver does not approve again
	r.rule(r.root, "production", "*", "2", "yes")
	r.save(r.art, "Dear all.\n\nYours")
	at = r.propose(r.pam, "3")
	r.pam.get(at).has("From version 2 to version 3", "2 approvals are missing", approve,
		withdraw).lacks(reject, instead)
	r.pam.say(at, "approve", "", r.pam.read(at)).to(at + "?done=review-approve")
	r.pam.get(at).has("1 approval is missing", "You approve it.", changes).lacks(approve)
	r.root.post(at + "/close").to(at + "?done=proposal-rejected")
	r.art.get(at).has("It was rejected by", `href="/app/u/adam"`)
	at = r.propose(r.art, "3")
	r.art.post(at + "/close").to(at + "?done=proposal-withdrawn")
	r.rea.post(at + "/close").is(403)
	r.pam.post(at + "/close").is(409).has("The proposal was withdrawn")

	r.rea.get(r.page + "/proposals/9").is(404)
	r.rea.get(r.page + "/proposals/x").is(404)
	require.Equal(t, 404, r.out.get(at).status)
	r.pam.post(r.page+"/visibility", "to", "public").to(r.page)
	for _, p := range []person{r.out, r.admin()} { // a public prompt has none for them
		p.get(r.page).is(200).lacks("roposal")
		p.get(at).is(404).lacks("Kinder")
		p.get(r.page + "/proposals").is(404)
		p.post(at+"/reviews", "verdict", "comment", "text", "x").is(403)
		p.post(r.page+"/proposals", "label", "production", "version", "1").is(403)
	}
}

// TestStaleProposal: one whose label or version is no longer where it was says why, nothing
// approves it, and it can be proposed again.
func TestStaleProposal(t *testing.T) {
	t.Parallel()
	r := newRuled(t)
	at := r.propose(r.art, "2")
	shown := r.pam.read(at)
	r.rule(r.root, "production", "*", "0", "")
	r.pam.get(at).has("No rule asks for approvals for production any more").lacks(`value="approve"`, "Propose version")
	r.pam.post(r.page+"/labels", "label", "production", "version", "1").to(r.page)
	r.rule(r.root, "production", "*", "1", "")
	stale := r.pam.get(at).is(200).has("is on version 1 now", "and was on none when this was proposed",
		"Propose version 2 again")
	stale.lacks(`value="approve"`, `value="changes"`).has(`value="comment"`)
	r.rea.get(at).has("until somebody proposes a version again").lacks("Propose version 2 again")
	r.pam.say(at, "approve", "", shown).is(409).has("no longer where it was")
	r.rea.get("/app/w/billing/review").has(">stale<")
	r.art.post(at+"/version", "version", "2").to(at)
	r.pam.get(at).has("From version 1 to version 2", "<del>Hello</del>", `value="approve"`)
	r.pam.post(r.page + "/versions/1/delete").to(r.page)
	r.pam.get(at).has(">stale<").lacks(`value="approve"`)
	r.save(r.art, "Third")
	r.art.post(at+"/version", "version", "3").to(at)
	r.pam.post(r.page + "/versions/3/delete").to(r.page) // that the label is not on
	r.pam.get(at).has(">stale<", "Version 3 was deleted.", "does not exist any more")
}

// TestReviewQueue: the queue has what waits, and for me what I may approve. Its count stands in the
// tabs of the workspace, and costs nothing where no label has a rule.
func TestReviewQueue(t *testing.T) {
	t.Parallel()
	b := newBilling(t)
	const queue = "/app/w/billing/review"
	before := b.store.calls.Load()
	b.rea.get("/app/w/billing/members").is(200)
	plain := b.store.calls.Load() - before
	b.rea.get(queue).is(200).has("No proposal waits for a review.", "No label has a rule").lacks("settings#rules")
	b.root.get(queue).has("settings#rules")

	b.rule(b.root, "production", "*", "1", "")
	before = b.store.calls.Load()
	b.rea.get("/app/w/billing/members").is(200).lacks(`class="badge">1`)
	require.Equal(t, plain+1, b.store.calls.Load()-before, "a call for the count")
	r := ruled{b, b.put(b.art, "Greeting <i>", "Hello.", "private")}
	at := r.propose(b.art, "1")
	for _, page := range []string{"", "/members", "/review", "/events"} {
		b.rea.get("/app/w/billing" + page).is(200).has(
			`Review <span class="badge">1<span class="unseen"> waits</span></span>`)
	}
	b.root.get("/app/w/billing/settings").has(`Review <span class="badge">1`)
	b.rea.get(queue).has(`href="`+at+`"`, "Greeting &lt;i&gt;", "version 1 for production", "1 approval is missing",
		"of <code>*</code> moves by a proposal, with")
	b.pam.get(queue + "?for=me").has(at)
	for _, p := range []person{b.art, b.rea} {
		p.get(queue + "?for=me").has("No proposal waits for your approval.").lacks(at)
	}
	b.rea.get(queue + "?cursor=damaged").is(400).has("does not belong")
	b.pam.say(at, "approve", "", b.pam.read(at)).to(at)
	b.rea.get(queue).has("No proposal waits for a review.").lacks(`class="badge">1`)
	b.out.get(queue).is(404)
}

// TestRulesForm: administrators set the rules of labels by a form, and are told what is wrong at
// its row.
func TestRulesForm(t *testing.T) {
	t.Parallel()
	b := newBilling(t)
	const settings = "/app/w/billing/settings"
	revision := b.root.get(settings).is(200).has(`name="label2"`).lacks(`name="label3"`).find(
		`name="revision" value="(\d+)"`)
	wrong := b.root.post("/app/w/billing/rules", "revision", revision, "label1", "Not One",
		"names1", "*", "approvals1", "9",
		"label2", "staging", "names2", `"><b>`, "approvals2", "1").is(422)
	wrong.has(`id="rule-wrong1"`, "Ask for 0 to 3 approvals", `value="Not One"`,
		`value="&#34;&gt;&lt;b&gt;"`).lacks(`id="rule-wrong2"`)
	b.root.post("/app/w/billing/rules", "revision", revision, "label2", "production", "names2", "billing/*",
		"approvals2", "2", "authors2", "yes",
		"label1", "", "names1", "kept by nobody", "approvals1", "1").to(settings + "?done=rules")
	saved := b.root.get(settings).has(`value="production"`, `value="billing/*"`, `value="2"`,
		`name="authors1" value="yes" checked`, `name="label3"`)
	b.rea.get("/app/w/billing/review").has("moves by a proposal, with the approvals of 2 publishers.",
		"<code>billing/*</code>")
	b.root.post("/app/w/billing/rules", "revision", revision, "label1", "staging", "names1", "*", "approvals1",
		"1").is(422).has("changed after you opened this page", `value="staging"`)
	b.pam.post("/app/w/billing/rules", "revision", saved.find(`name="revision" value="(\d+)"`), "label1", "x", "names1",
		"*", "approvals1", "0").is(403)
	b.root.post("/app/w/billing/rules", "revision", saved.find(`name="revision" value="(\d+)"`)).to(settings)
	b.rea.get("/app/w/billing/review").has("No label has a rule")
}

// TestEventsOnPages: events are sentences with the names that people go by, chosen by prompt,
// person and type, and a feed.
func TestEventsOnPages(t *testing.T) {
	t.Parallel()
	r := newRuled(t)
	r.art.post("/app/me", "name", "Art <b>\u202e").is(422) // no such name
	r.art.post("/app/me", "name", "Art <b> שלום").to("/app/me")
	at := r.propose(r.art, "2")
	r.pam.say(at, "changes", "no", r.pam.read(at)).to(at)
	r.rea.say(at, "comment", "well", nil).to(at)
	r.pam.say(at, "approve", "", r.pam.read(at)).to(at)
	r.pam.post(r.page+"/labels", "label", "staging", "version", "1").to(r.page)
	r.pam.post(r.page+"/labels", "label", "staging", "version", "2").to(r.page)
	r.pam.post(r.page+"/labels/remove", "label", "staging").to(r.page)
	r.pam.post(r.page+"/visibility", "to", "public").to(r.page)
	r.admin().post(r.page+"/hide", "reason", "x").to("/app/admin/hidden")
	r.clock.Advance(time.Second)
	r.pam.post(r.page+"/visibility", "to", "private").to(r.page)
	r.pam.post(r.page + "/delete").to("/app/w/billing")
	r.pam.post(r.page + "/restore").to(r.page)
	b := r.billing
	b.root.post("/app/w/billing/members", "principal", "rea", "role", "author").to("/app/w/billing/members")
	b.root.post("/app/w/billing/members", "kind", "role", "principal", "cooks", "role",
		"reader").to("/app/w/billing/members")
	b.rea.post("/app/w/billing/members/remove", "principal", "me").to("/app/w")
	const events = "/app/w/billing/events"
	first := b.pam.get(events).is(200)
	all := first.text()
	for _, sentence := range []string{
		"adam made the workspace", "adam added pam as a publisher", "adam changed the rules of labels",
		"Art <b> שלום wrote greeting", "Art <b> שלום saved version 2 of greeting",
		"Art <b> שלום proposed version 2 of greeting for production (proposal 1)",
		"pam asked for changes of version 2 of greeting (proposal 1)", "rea commented on proposal 1 of greeting",
		"pam approved version 2 of greeting for production (proposal 1)",
		"pam gave the last approval: proposal 1 of greeting put production on version 2",
		"pam put production on version 2 of greeting", "pam put staging on version 1 of greeting",
		"pam moved staging from version 1 to version 2 of greeting",
		"pam took staging away from version 2 of greeting", "pam made greeting public",
		"A moderator hid greeting", "pam made greeting private",
		"pam deleted greeting", "pam restored greeting",
		"adam made rea an author", "adam added everybody with the role cooks of the directory as a reader",
		"rea left the workspace",
	} {
		require.Contains(t, all, sentence)
	}
	require.Less(t, strings.Index(all, "rea left the workspace"), strings.Index(all, "adam made the workspace"))
	first.has(`href="/app/w/billing/events.atom"`)
	b.pam.get(events+"?by=art").has(`href="`+at+`"`, `href="`+r.page+`/versions/2"`, `Art &lt;b&gt; שלום</a>`,
		`<a href="/app/u/art" dir="auto">`)
	id := r.page[strings.LastIndex(r.page, "/")+1:]
	of := b.pam.get(events+"?prompt="+id).is(200).has("What happened to", "proposed").text()
	require.NotContains(t, of, "adam added")
	by := b.pam.get(events + "?by=rea").is(200).text()
	require.Contains(t, by, "rea commented")
	require.NotContains(t, by, "pam approved")
	b.pam.get(events+"?type=label.moved").is(200).has("took ", `value="label.moved" selected`).lacks("commented on")
	b.pam.get(events + "?by=nobody-there").is(400).has("There is no such person.")
	b.pam.get(events + "?type=x").is(400)
	b.pam.get(events + "?prompt=x").is(400)
	b.pam.get(events + "?cursor=damaged").is(400)
	b.out.get(events).is(404)
	b.rea.get(events).is(404)

	for i := range 25 { // more than a page, of which the next has the filter still
		r.save(r.art, "Text "+strconv.Itoa(i))
		b.pam.post(r.page+"/labels", "label", "staging", "version", strconv.Itoa(3+i)).to(r.page)
	}
	next := b.pam.get(events + "?by=pam").is(200).find(`rel="next" href="([^"]*)"`)
	require.Contains(t, next, "by=pam")
	older := b.pam.get(next).is(200).has("Back to the newest").text()
	require.Contains(t, older, "pam asked for changes of version 2")

	feed := b.pam.get("/app/w/billing/events.atom?by=pam").is(200)
	require.Equal(t, "application/atom+xml; charset=utf-8", feed.header.Get("Content-Type"))
	feed.has("<title>PromptHub: Billing</title>", "pam put", "http://localhost:7071/app/w/billing/events?by=pam")
	require.Equal(t, 30, strings.Count(feed.body, "<entry>"))
	b.out.get("/app/w/billing/events.atom").is(404)
	b.nobody().get("/app/w/billing/events.atom").is(401)
}
