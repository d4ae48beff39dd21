package web_test

import (
	"archive/zip"
	"html"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

// edit changes the text of a prompt through the form.
func (p person) edit(page, text, visibility string) {
	p.w.t.Helper()
	form := p.get(page + "/edit").is(200)
	p.post(page+"/edit", "title", form.find(`id="title" name="title" value="([^"]*)"`), "text",
		text, "visibility", visibility,
		"revision", form.find(`name="revision" value="(\d+)"`)).to(page)
}

func TestVersions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, bob := w.as("Ann"), w.as("Bob")
	page := ann.write("Review", "Secret start", "private")
	ann.edit(page, "Read the code.\nName *two* risks.", "private")
	ann.edit(page, "Read the code.\nName *three* <b>risks</b>.", "public")

	ann.get(page).is(200).has(`<a href="`+page+`/versions">Version 3</a>`, "Labels</a>")
	ann.get(page+"/versions").is(200).has("<title>Versions of Review", `dir="auto">Review</a></p>`,
		"Version 3</a> <span class=\"badge\">latest</span>", "Version 1</a>",
		page+"/compare?from=2&amp;to=3", "Compare",
		`dir="auto">Ann</a> <time`, `action="`+page+`/versions/1/restore"><button`,
		`for="label3"`).lacks("versions/3/restore")
	ann.get(page+"/versions/1").is(200).has("Secret start", "Restore version 1", "Delete version 1",
		"Compare with version 3, the latest")
	ann.get(page + "/versions/2").has("<em>two</em>")
	ann.get(page+"/compare?from=2&to=3").is(200).has(
		`<span class="unseen">removed</span></td><td dir="auto">Name *<del>two</del>* risks.</td></tr>`,
		`<span class="unseen">added</span></td><td dir="auto">Name *<ins>three</ins>* <ins>&lt;b&gt;</ins>risks<ins>&lt;/b&gt;</ins>.</td></tr>`, `<tr><td></td><td dir="auto">Read the code.</td></tr>`)
	ann.get(page+"/compare").is(200).has("<title>Version 2 and 3", "compare?from=3&amp;to=2")
	ann.get(page+"/compare?from=2&to=3&view=split").is(200).has(
		"<td dir=\"auto\">Read the code.</td>",
		`<td dir="auto">Name *<del>two</del>* risks.</td><td dir="auto">Name *<ins>three</ins>*`)
	long := ann.write("Long", strings.Repeat("Line\n", 20)+"first", "public")
	ann.edit(long, "New\n"+strings.Repeat("Line\n", 20)+"last", "public")
	ann.get(long+"/compare?from=1&to=2&view=split").has(
		`<tr><td dir="auto" class="none"></td><td dir="auto"><ins>New</ins></td></tr>`, "14 lines are the same",
		`<tr><td dir="auto"><del>first</del></td><td dir="auto"><ins>last</ins></td></tr>`)
	ann.edit(long, "New\n"+strings.Repeat("Line\n", 20)+"last\n\nand more", "public")
	ann.get(long+"/compare?from=2&to=3&view=split").has(`<td dir="auto">last</td><td dir="auto">last</td></tr>`,
		`<tr><td dir="auto" class="none"></td><td dir="auto"></td></tr>`)
	ann.get(page + "/compare?from=3&to=3").has("one and the same version")

	t.Run("what was private stays so", func(*testing.T) {
		bob.get(page+"/versions").is(200).has("Version 3").has(`dir="auto">Ann</a> <time`).lacks("Version 2<",
			"Version 1<", "Compare</button>", "Restore", "Set label")
		bob.get(page+"/versions/3").is(200).lacks("Restore", "Delete", "Put on this version")
		for _, path := range []string{
			"/versions/1", "/versions/2", "/versions/9", "/versions/0", "/versions/x",
			"/versions/99999999999999999999", "/compare?from=2&to=3", "/compare?from=3", "/compare?from=3&to=-1",
		} {
			bob.get(page + path).is(404).has("no such version").lacks("Secret")
		}
		for _, form := range []string{
			"/versions/3/restore", "/versions/3/delete", "/labels",
			"/labels/remove", "/labels/undo",
		} {
			bob.post(page+form, "label", "production", "version", "3").is(403)
		}
		bob.post(page + "/versions/1/restore").is(404).lacks("Secret")
	})
	t.Run("restore and delete", func(*testing.T) {
		ann.get(ann.post(page+"/versions/2/restore").to(page+"?done=version")).has("<em>two</em>", ">Version 4</a>",
			"The prompt has the content of that version now")
		for _, same := range []string{"2", "4"} {
			ann.get(ann.post(page+"/versions/"+same+"/restore").to(page+"?done=same")).has(
				">Version 4</a>", "no new version was needed")
		}
		ann.get(page + "/versions/4").has("Restores version 2")
		ann.post(page + "/versions/1/delete").to(page + "/versions?done=version-deleted")
		ann.get(page + "/versions/1").is(404)
		ann.post(page + "/versions/1/delete").is(404)
		ann.get(page + "/versions").has("Version 2<").lacks("Version 1<")
	})
	t.Run("what changed across pages", func(*testing.T) {
		many := ann.write("Many", "1", "public")
		for n := range 22 {
			ann.edit(many, strconv.Itoa(n+2), "public")
		}
		ann.post(many + "/versions/3/delete").to(many + "/versions?done=version-deleted")
		last := ann.get(many + "/versions").is(200).has("Version 4</a>").lacks("Version 2</a>").has("from=2&amp;to=4")
		ann.get(html.UnescapeString(last.find(`href="([^"]*from=2&amp;to=4)"`))).is(200)
		ann.get(html.UnescapeString(last.find(`rel="next" href="([^"]*)"`))).is(200).has(
			"from=1&amp;to=2").lacks("to=1\"")
	})
	hidden := ann.write("Hidden", "text", "private")
	for _, path := range []string{"/versions", "/versions/1", "/compare?from=1&to=1", "/labels", "/labels?label=x"} {
		bob.get(hidden + path).is(404).has("There is no such prompt.")
	}
}

// TestReleaseThatRefuses: an author reads which programs a release would break, before it does.
func TestReleaseThatRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	page := ann.write("Report", "{{service}} {{when}} {{who}}", "public")
	ann.post(page+"/labels", "label", "production", "version", "1").to(page)
	ann.edit(page, "{{service}} {{who}} {{where}}", "public")
	ann.get(page).has(`Version 2 no longer takes <b dir="auto">when</b>: a program that sends them is refused once it is released.`)
	ann.edit(page, "{{service}} {{when}} {{who}} {{where}}", "public")
	ann.get(page).has("Release version 3", `>live: <span class="wide">version </span>1</a>`,
		`/compare?from=1&amp;to=3"`).lacks("no longer takes")
}

func TestLabels(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, bob := w.as("Ann"), w.as("Bob")
	page := ann.write("Review", "one", "public")
	ann.edit(page, "two", "public")
	label := func(do string, pairs ...string) shown {
		w.clock.Advance(time.Second)
		return ann.post(page+"/labels"+do, pairs...)
	}
	history := page + "/labels?label=production"
	require.Equal(t, history+"&done=label", label("", "label", "production", "version", "1").to(page))
	label("", "label", "production", "version", "2").to(page)
	label("", "label", "v1.0_beta-2", "version", "1").to(page)
	for _, who := range []person{ann, bob} {
		who.get(page).has(`title="The label production is on version 2">production → version 2</a>`,
			"v1.0_beta-2 → version 1</a>")
		who.get(page+"/versions").has(`>production</a>`, `>v1.0_beta-2</a>`)
		who.get(page + "/versions/1").has(`>v1.0_beta-2</a>`).lacks(`>production</a>`)
		who.get(history).has("Put on version 1", "Moved from version 1 to version 2")
	}
	bob.get(history).lacks("Undo", "Remove", ">Set<")
	ann.get(page).lacks("programs get")
	label("/undo", "label", "production").to(page)
	bob.get(page).has(`Version 2</a>, <a href="` + history +
		`" title="The label production is on version 1">programs get version 1</a>`).lacks("Release version")
	ann.get(page).has(`<a class="state live" href="`+history+`"`, `>live: <span class="wide">version </span>1</a>`,
		`>draft: <span class="wide">version </span>2</a>`).lacks("programs get version 1")
	released := label("", "label", "production", "version", "2", "back", page).to(page)
	require.Equal(t, page+"?done=released", released)
	ann.get(released).has(`>live: <span class="wide">version </span>2</a>`,
		`action="`+page+`/labels/undo"`).lacks(">draft:", "Release version")
	require.Equal(t, page+"?done=unreleased", label("/undo", "label", "production", "back", page).to(page))
	ann.get(page).has(`>live: <span class="wide">version </span>1</a>`, "Release version 2")
	bob.get(released).lacks("Undo")
	label("", "label", "production", "version", "2").to(page)
	label("", "label", "production", "version", "1").to(page)
	ann.get(history).has("undone", "production</a> <a href=\""+page+"/versions/1\">version 1</a>")
	label("/remove", "label", "production").to(page)
	ann.get(history).has("Taken away from version 1").lacks("production</a> <a")
	label("/undo", "label", "production").to(page)
	ann.get(page).has("production → version 1")
	// lists follow labels by a message
	_, err := w.db.Reindex(t.Context(), false, func(promptdb.Difference) {}, func(int) {})
	require.NoError(t, err)
	ann.get("/app/mine").has(">live: 1</span>", ">draft: 2</span>")
	bob.get("/app").lacks("live: 1", "draft: 2")

	label("", "label", "Not a label", "version", "1").is(422).has("A label must be 1 to 36", `value="Not a label"`)
	label("", "label", "latest", "version", "1").is(422)
	label("", "label", "3", "version", "1").is(422).has("A label must not be digits alone", `value="3"`)
	label("", "label", "x", "version", "many").is(422).has("Name the version by its number.")
	label("", "label", "x", "version", "7").is(422).has("The prompt has no such version.", `value="x"`, `value="7"`)
	bob.post(page+"/labels", "label", "x", "version", "7").is(403)
	ann.post(page[:len(page)-1]+"/labels", "label", "x", "version", "1").is(404).lacks(">Set<")
	label("/remove", "label", "nosuch").is(404)
	label("/undo", "label", "nosuch").is(409)
	for i := range 45 {
		label("", "label", "moved", "version", strconv.Itoa(i%2+1)).to(page)
	}
	for range 22 {
		label("/undo", "label", "moved").to(page)
	}
	ann.get(page + "/labels?label=moved").has("Undo the last step")
	for range 23 {
		label("/undo", "label", "moved").to(page)
	}
	label("/undo", "label", "moved").is(409).has("There is nothing left to undo.", "History of", "Earlier steps")
	ann.get(page + "/labels?label=nosuch").is(200).has("Nothing yet.")
	ann.get(page + "/labels?label=x&cursor=damaged").is(400)
}

// A chat is shown, compared and filled in message by message.
func TestChat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	chat := prompt.Draft{
		Title: "Reviewer", Kind: prompt.KindChat, Visibility: prompt.Private, Name: "team/reviewer",
		Description: "Reviews code.",
		Messages: []prompt.Message{
			{Role: "system", Content: "You are **{{who:an expert}}**."},
			{Placeholder: "history"},
			{Role: "user", Content: "Review:\n{{code}}"},
		},
		Variables: []prompt.Variable{
			{Name: "code", Label: "The code", Type: prompt.Multiline, Required: true, Description: "A <file>"},
		},
	}
	v, _, err := w.service.Create(t.Context(), auth.User{ID: "Ann", Name: "Ann"}, chat, "")
	require.NoError(t, err)
	page := "/app/prompts/" + string(v.ID)
	ann.get(page).is(200).has("Reviews code.", "team/reviewer</code>", `<h3 class="role">system</h3>`,
		`<strong><mark data-v="1">an expert</mark></strong>`,
		"Messages called <code>history</code>", `data-role="user"`, `<mark data-v="0" class="open">{{code}}</mark>`,
		`<textarea id="v0"`, `>The code</label>`, `aria-describedby="d0"`, "A &lt;file&gt;")
	ann.post(page+"/fill", "v0", "x := 1\r\n").is(200).has("<mark data-v=\"0\">x := 1\n</mark>")
	messages := append([]prompt.Message(nil), chat.Messages...)
	messages[0].Content = "You are {{who:a reader}}."
	_, err = w.service.Patch(t.Context(), auth.User{ID: "Ann"}, v.ID, library.Match{Any: true}, func(d *prompt.Draft) {
		d.Messages, d.Variables = messages, nil
	})
	require.NoError(t, err)
	ann.get(page+"/compare?from=1&to=2").is(200).has("system:", "<del>", "who:<del>an expert</del>",
		"who:<ins>a reader</ins>", "<h2>Variables</h2>")
}

// TestHostileVersions compares texts that make much of little: no page is longer than eight times
// both and 64 KiB.
func TestHostileVersions(t *testing.T) {
	t.Parallel()
	w := newLongWorld(t)
	ann := w.as("Ann")
	const size = prompt.LimitMaxText
	texts := []string{
		strings.Repeat("\n", size-1) + "x", strings.Repeat("x\n", size/2), strings.Repeat("&", size),
		strings.Repeat("a\nb\n", size/4),
		strings.Repeat("a b ", size/4), strings.Repeat("x\ny\n&\n", size/6), strings.Repeat("\"", size),
	}
	page := ann.write("Hostile", "text", "public")
	for _, text := range texts {
		ann.edit(page, text, "public")
	}
	for i := 2; i <= len(texts); i++ {
		for _, view := range []string{"", "&view=split"} {
			s := ann.get(page + "/compare?from=" + string(rune('0'+i)) + "&to=" + string(rune('1'+i)) + view).is(200)
			require.LessOrEqual(t, len(s.body), 8*(len(texts[i-2])+len(texts[i-1]))+64<<10, "%d%s", i, view)
			ann.get(page + "/versions/" + string(rune('0'+i))).is(200)
		}
	}
}

// TestRecallPage recalls a version by a form, with a reason that all can read, and takes it back.
func TestRecallPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, bob := w.as("Ann"), w.as("Bob")
	page := ann.write("Review", "One", "public")
	ann.edit(page, "Two", "public")
	two := page + "/versions/2"

	ann.get(two).is(200).has(`action="`+two+`/recall"`, "Recall version 2")
	bob.get(two).is(200).lacks("/recall")
	bob.post(two+"/recall", "reason", "x").is(403)
	ann.post(two+"/recall", "reason", " ").is(422)
	ann.get(ann.post(two+"/recall", "reason", "It <b>lies</b>").to(two+"?done=recalled")).is(200).has(
		"The version is recalled", "It &lt;b&gt;lies&lt;/b&gt;", `action="`+two+`/reinstate"`).lacks(
		"Put on this version", "Recall version")
	ann.get(page+"/versions").has(`<span class="badge">recalled</span>`, "lies", `for="label1"`).lacks(`for="label2"`)
	bob.get(two).is(200).has("Recalled", "lies", "Two")
	ann.get(page).is(200).has("Version 2 was recalled: programs and assistants get version 1.",
		"live: <span class=\"wide\">version </span>1<").lacks("Release version 2", "draft:")
	bob.get(page).is(200).has("Version 2 was recalled", "programs get version 1")

	ann.post(page+"/versions/1/recall", "reason", "Old").to(page + "/versions/1?done=recalled")
	ann.get(page).has("programs and assistants get none", "live: nothing")

	bob.post(two + "/reinstate").is(403)
	ann.get(ann.post(two+"/reinstate").to(two+"?done=reinstated")).is(200).has("The recall is taken back",
		"Put on this version").lacks("lies")
	ann.get(page).lacks("was recalled")
}

// TestFilesAfterRecall: an address without a version never gives the files of a recalled version;
// the one that names it shows them, with why it was recalled.
func TestFilesAfterRecall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	skill := func(text string) []library.SentFile {
		return []library.SentFile{
			{
				Path:  "SKILL.md",
				Bytes: []byte("---\nname: pdf\ndescription: Fills forms.\n---\n" + text + "\n"),
			},
			{Path: "a.sh", Bytes: []byte(text)},
		}
	}
	page := w.writeFiles("public", skill("Number one"))
	id, _ := prompt.ParseID(strings.TrimPrefix(page, "/app/prompts/"))
	owner := auth.User{ID: "Ann", Name: "Ann"}
	release := func(n int64) { require.NoError(t, w.service.SetLabel(t.Context(), owner, id, prompt.Production, n)) }
	release(1)
	for _, text := range []string{"Number two", "Number three"} {
		_, err := w.service.PatchWithFiles(t.Context(), owner, id, library.Match{Any: true},
			skill(text), func(*prompt.Draft) {})
		require.NoError(t, err)
	}
	zipOf := func(who person, query string) string {
		b := who.get(page + "/archive" + query).is(200).body
		z, err := zip.NewReader(strings.NewReader(b), int64(len(b)))
		require.NoError(t, err)
		f, err := z.Open("a.sh")
		require.NoError(t, err)
		text, err := io.ReadAll(f)
		require.NoError(t, err)
		return string(text)
	}
	ann, bob := w.as("Ann"), w.as("Bob")
	require.Equal(t, "Number three", zipOf(bob, ""))
	release(3)
	require.NoError(t, w.service.Recall(t.Context(), owner, id, 3, "It <b>lies</b>"))
	for _, who := range []person{ann, bob} { // not version 2, which was never released
		require.Equal(t, "Number one", zipOf(who, ""))
		require.Equal(t, "Number one", who.get(page+"/files/content?path=a.sh").is(200).body)
		require.Contains(t, who.get(page+"/export?format=skill").is(200).body, "Number one")
		who.get(page + "/export").is(200).has("the files are those of version 1")
		who.get(page+"/files").is(200).has("version 1<", page+"/archive?version=1").lacks("Recalled", "Write a file")
		who.get(page+"/files?path=a.sh").is(200).has("Number one").lacks("Recalled", "Number three")
		who.get(page).has(`href="` + page + `/files?version=3">Files (2)`)
		who.get(page+"/files?version=3").is(200).has("Recalled", "It &lt;b&gt;lies&lt;/b&gt;")
		who.get(page+"/files?version=3&path=a.sh").is(200).has("Recalled", "Number three")
		require.Equal(t, "Number three", zipOf(who, "?version=3"))
	}
	ann.get(page + "/files?version=3").has("Write a file")
	require.NoError(t, w.service.Recall(t.Context(), owner, id, 1, "Old"))
	bob.get(page + "/archive").is(404)
	bob.get(page + "/export?format=skill").is(404)
}

// TestWhoFetchesPage: the owner reads on the page of the versions which tokens fetch which.
func TestWhoFetchesPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, bob := w.as("Ann"), w.as("Bob")
	page := ann.write("Review", "One", "public")
	ann.edit(page, "Two", "public")
	ann.get(page+"/versions").has("Who fetches", "No access token fetched this prompt")
	id, _ := prompt.ParseID(strings.TrimPrefix(page, "/app/prompts/"))
	owner := auth.User{ID: "Ann", Name: "Ann"}
	ci, _, err := w.service.CreateToken(t.Context(), owner,
		library.TokenDraft{Name: "<CI>", Scopes: []string{auth.ScopeRead}})
	require.NoError(t, err)
	other, _, err := w.service.CreateToken(t.Context(), auth.User{ID: "Bob", Name: "Bob"},
		library.TokenDraft{Name: "Secret name", Scopes: []string{auth.ScopeRead}})
	require.NoError(t, err)
	old, err := w.service.GetVersion(t.Context(), owner, id, library.WantedVersion{Number: 1})
	require.NoError(t, err)
	now, err := w.service.Get(t.Context(), owner, id)
	require.NoError(t, err)
	w.service.FetchedBy(t.Context(), ci.ID, old)
	w.service.FetchedBy(t.Context(), other.ID, now)
	w.service.FetchedBy(t.Context(), "", now)
	ann.get(page+"/versions").is(200).has("1 of 2 tokens still fetches version 1", "&lt;CI&gt;",
		"1 of 2 tokens fetches version 2", "without a token fetched it 1 time").lacks("Secret name")
	bob.get(page + "/versions").is(200).lacks("Who fetches")
}

// TestWhoFetchesAfterRecall: three tokens over a release, recalls of it and of all, and the way
// back.
func TestWhoFetchesAfterRecall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	page := ann.write("Review", "One", "public")
	ann.edit(page, "Two", "public")
	ann.edit(page, "Three", "public")
	id, _ := prompt.ParseID(strings.TrimPrefix(page, "/app/prompts/"))
	owner := auth.User{ID: "Ann", Name: "Ann"}
	for i, name := range []string{"a", "b", "c"} {
		token, _, err := w.service.CreateToken(t.Context(), owner,
			library.TokenDraft{Name: name, Scopes: []string{auth.ScopeRead}})
		require.NoError(t, err)
		v, err := w.service.GetVersion(t.Context(), owner, id, library.WantedVersion{Number: int64(i + 1)})
		require.NoError(t, err)
		w.service.FetchedBy(t.Context(), token.ID, v)
	}
	told := func(which ...string) {
		t.Helper()
		shown := ann.get(page + "/versions").is(200)
		for i, how := range which {
			shown.has(strings.Replace("1 of 3 tokens "+how, "#", strconv.Itoa(i+1)+", ", 1))
		}
	}
	const has, still, recalled = "fetches version #<time", "still fetches version #<time",
		"still fetches version #which was recalled, <time"
	release := func(n int64) { require.NoError(t, w.service.SetLabel(t.Context(), owner, id, prompt.Production, n)) }
	recall := func(n int64) { require.NoError(t, w.service.Recall(t.Context(), owner, id, n, "Bad")) }
	told(still, still, has) // without the label, the latest
	recall(3)
	told(still, has, recalled)
	require.NoError(t, w.service.Reinstate(t.Context(), owner, id, 3))
	release(2)
	told(still, has, still)
	release(3)
	told(still, still, has)
	recall(3)
	told(still, has, recalled)
	recall(2) // production was on no other version before: it is withdrawn
	told(still, recalled, recalled)
	release(1)
	told(has, recalled, recalled)
}
