package api_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/doors/api"
)

// TestLibraryStory saves, labels, pins, compares and rolls back a prompt by its name.
func TestLibraryStory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, bob := w.as("Ann"), w.as("Bob")
	p := ann.do("POST", prompts, `{"name":"team/review","title":"Code reviewer","text":"Review the code.","visibility":"public","message":"First","labels":["production"]}`).is(201).prompt()
	require.Equal(t, []any{"team/review", "team-review", "Review the code.", int64(1), "First"},
		[]any{p.Name, p.Slug, p.Description, p.Version, p.Message})
	one := prompts + "/" + p.ID
	two := ann.do("PATCH", one, `{"text":"Review the code strictly.","message":"Stricter"}`, "If-Match", "*",
		"Content-Type", "application/merge-patch+json").is(200).prompt()
	require.EqualValues(t, 2, two.Version)

	// By name, slug, label and number, each with an ETag of its own.
	mine := "/api/v1/users/me/prompts/"
	require.Equal(t, "Review the code strictly.", ann.get(mine+"team%2Freview").is(200).prompt().Text)
	pinned := ann.get(mine + "team-review?label=production").is(200)
	require.Equal(t, "Review the code.", pinned.prompt().Text)
	require.Regexp(t, `^"v1-[0-9a-f]{16}"$`, pinned.header.Get("ETag"))
	bob.get(mine + "team-review").problem(404)
	require.EqualValues(t, 1, bob.get(one+"?version=1").is(200).prompt().Version)
	require.Equal(t, "the prompt has no such version", bob.get(one+"?version=3").problem(404).Detail)
	for _, path := range []string{
		one + "?label=nope", one + "/text?label=nope",
		one + "/export?format=markdown&label=nope", mine + "team-review?label=nope",
	} {
		require.Equal(t, "the prompt has no such label; it has latest, production",
			ann.get(path).problem(404).Detail, path)
	}
	require.Equal(t, "query.label", ann.get(one + "?version=1&label=production").problem(422).Errors[0].Location)

	// A moved label is never a 304.
	tag := ann.get(one + "?label=production").is(200).header.Get("ETag")
	ann.get(one+"?label=production", "If-None-Match", tag).is(304)
	ann.do("PUT", one+"/labels/production", `{"version":2}`).is(200)
	require.Equal(t, "Review the code strictly.",
		ann.get(one+"?label=production", "If-None-Match", tag).is(200).prompt().Text)

	// History, difference, back.
	var versions api.VersionList
	bob.get(one + "/versions").is(200).into(&versions)
	require.Len(t, versions.Items, 2)
	require.Equal(t, []any{int64(2), "Stricter", []string{"latest", "production"}, ""},
		[]any{versions.Items[0].Version, versions.Items[0].Message, versions.Items[0].Labels, versions.Items[0].Text})
	var first api.VersionList
	bob.get(one + "/versions?limit=1").is(200).into(&first)
	var rest api.VersionList
	bob.get(one + "/versions?limit=1&cursor=" + first.NextCursor).is(200).into(&rest)
	require.Equal(t, versions.Items, append(first.Items, rest.Items...))
	var d api.Diff
	bob.get(one + "/versions/1/diff/2").is(200).into(&d)
	require.Equal(t, api.Diff{
		From: 1, To: 2,
		Runs: []api.Run{
			{Op: "equal", Text: "Review the code"},
			{Op: "insert", Text: " strictly"},
			{Op: "equal", Text: "."},
		},
	}, d)
	require.Contains(t, bob.get(one+"/versions/1/diff/2", "Accept", "text/plain").is(200).body, "-Review the code.\n")
	ann.do("POST", one+"/labels/production/undo", "").is(204)
	var moves api.MoveList
	ann.get(one + "/labels/production/history").is(200).into(&moves)
	require.Len(t, moves.Items, 2)
	require.NotEmpty(t, moves.Items[0].UndoneAt)
	back := ann.do("POST", one+"/versions/1/restore", "").is(200).prompt()
	require.Equal(t, []any{int64(3), "Review the code.", "Restores version 1"},
		[]any{back.Version, back.Text, back.Message})
	ann.do("DELETE", one+"/versions/2", "").is(204)
	ann.get(one + "/versions/2").problem(404)

	// Names: one prompt each, and the old one goes on leading to it.
	require.Equal(t, "body.name",
		ann.do("POST", prompts, `{"name":"team/review","title":"T","text":"x"}`).problem(409).Errors[0].Location)
	ann.do("PATCH", one, `{"name":"team/strict"}`, "If-Match", "*", "Content-Type",
		"application/merge-patch+json").is(200)
	require.Equal(t, p.ID, ann.get(mine+"team%2Freview").is(200).prompt().ID)
	list := ann.get("/api/v1/me/prompts?name=team%2Fstrict").is(200).list()
	require.Len(t, list.Items, 1)
	require.Equal(t, []any{"team/strict", "Review the code.", int64(3)},
		[]any{list.Items[0].Name, list.Items[0].Excerpt, list.Items[0].Version})
	for name, message := range map[string]string{
		"a|b": "remove | from the name",
		"/a":  "use / only between parts of the name, one at a time",
		"new": "choose another name: this one is reserved",
	} {
		f := ann.do("POST", prompts, `{"name":"`+name+`","title":"T","text":"x"}`).problem(422).Errors[0]
		require.Equal(t, []string{"body.name", message}, []string{f.Location, f.Message})
	}

	require.Equal(t, "path.label", ann.do("PUT", one+"/labels/latest", `{"version":1}`).problem(422).Errors[0].Location)
	number := ann.do("PUT", one+"/labels/3", `{"version":1}`)
	require.Contains(t, number.body, `"code":"LABEL_IS_NUMBER","detail"`, "NAME@3 is version 3")
	require.Contains(t, number.problem(422).Errors[0].Message, "add a letter, as in v3")
	require.Contains(t, ann.do("POST", prompts, `{"title":"T","text":"x","labels":["0"]}`).is(422).body,
		"LABEL_IS_NUMBER")
	ann.do("DELETE", one+"/labels/3", "").problem(404)
	require.Equal(t, "body.labels[0]",
		ann.do("POST", prompts, `{"title":"T","text":"x","labels":["Bad Label"]}`).problem(422).Errors[0].Location)
}

// TestDescriptionsOfVersions: a changed description is a version, which has it, and the difference
// of two versions tells both.
func TestDescriptionsOfVersions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	p := ann.do("POST", prompts,
		`{"title":"Code reviewer","text":"Review the code.","description":"Reviews","visibility":"public"}`).is(
		201).prompt()
	one := prompts + "/" + p.ID
	two := ann.do("PATCH", one, `{"description":"Reviews code"}`, "If-Match", "*", "Content-Type",
		"application/merge-patch+json").is(200).prompt()
	require.EqualValues(t, 2, two.Version)
	require.Equal(t, "Reviews", ann.get(one+"?version=1").is(200).prompt().Description)
	var list [2]api.Version
	for i := range list {
		ann.get(fmt.Sprintf("%s/versions/%d", one, i+1)).is(200).into(&list[i])
	}
	require.Equal(t, []string{"Reviews", "Reviews code"}, []string{*list[0].Description, *list[1].Description})
	require.NotEqual(t, list[0].Hash, list[1].Hash)
	var d api.Diff
	ann.get(one + "/versions/1/diff/2").is(200).into(&d)
	require.Equal(t, &api.DescriptionsDiff{From: "Reviews", To: "Reviews code"}, d.Description)
	require.Equal(t, []api.Run{{Op: "equal", Text: "Review the code."}}, d.Runs)
	require.Contains(t, ann.get(one+"/versions/1/diff/2", "Accept", "text/plain").is(200).body,
		"+++ version 2, description\n@@ -1 +1 @@\n-Reviews\n")
	long := strings.Repeat("word ", 100)
	ann.do("PATCH", one, `{"description":"`+long+`"}`, "If-Match", "*", "Content-Type",
		"application/merge-patch+json").is(200)
	require.Equal(t, strings.TrimSpace(long), ann.get(one).is(200).prompt().Description)
	brief := ann.get("/api/v1/me/prompts").is(200).list().Items[0].Description
	require.Regexp(t, "^word .*…$", brief)
	require.LessOrEqual(t, utf8.RuneCountInString(brief), 160)
}

// TestIncludes: a prompt stands in another one where that names it, is known by it, and does not go
// before it.
func TestIncludes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, bob := w.as("Ann"), w.as("Bob")
	add := func(name, text string) string {
		body, err := json.Marshal(map[string]any{"name": name, "title": "T", "text": text, "visibility": "public"})
		require.NoError(t, err)
		return prompts + "/" + ann.do("POST", prompts, string(body)).is(201).prompt().ID
	}
	rules := add("rules", "Be polite to {{who}}.")
	review := add("review", "Review. @@@langfusePrompt:name=rules|version=1@@@")
	require.Equal(t, "Review. Be polite to Bob.", bob.get(review+"/text?var.who=Bob").is(200).body)
	require.Equal(t, "Review. Be polite to Bob.",
		bob.do("POST", review+"/render", `{"values":{"who":"Bob"}}`).is(200).prompt().Text)
	require.Contains(t, bob.get(review).is(200).prompt().Text, "@@@langfusePrompt:name=rules")

	var uses api.UseList
	ann.get(rules + "/used-by").is(200).into(&uses)
	require.Equal(t, []api.Use{{
		ID: review[len(prompts)+1:], Name: "review", Title: "T", Version: 1,
		Includes: []api.Included{{Version: 1}},
	}}, uses.Items)
	bob.get(rules + "/used-by").problem(403)
	refusal := ann.do("DELETE", rules, "").problem(409)
	require.Equal(t, `this prompt is included by "review" in version 1; change or delete those first`, refusal.Detail)
	change := func(at, text string) answer {
		return ann.do("PATCH", at, `{"text":"`+text+`"}`, "If-Match", "*")
	}
	change(rules, "Be strict.").is(200)
	require.Equal(t, `version 1 of this prompt is included by "review" in version 1; change or delete those first`,
		ann.do("DELETE", rules+"/versions/1", "").problem(409).Detail)
	ann.do("PUT", rules+"/labels/live", `{"version":2}`).is(200)
	short := add("short", "@@@langfusePrompt:name=rules|label=live@@@")
	for _, remove := range []answer{
		ann.do("DELETE", rules+"/labels/live", ""),
		ann.do("POST", rules+"/labels/live/undo", ""),
	} {
		require.Equal(t, `the label live is included by "short" in version 1; change or delete those first`,
			remove.problem(409).Detail)
	}
	ann.do("PUT", rules+"/labels/live", `{"version":1}`).is(200)
	ann.do("DELETE", short, "").is(204)
	ann.do("DELETE", rules+"/labels/live", "").is(204)

	// An include that would lead in a circle, or nowhere, is not saved; one that became so is told.
	for text, detail := range map[string]string{
		"@@@langfusePrompt:name=review|label=latest@@@": `the prompt includes itself: "rules" > "review" > "rules"`,
		"@@@langfusePrompt:name=nobody|label=latest@@@": `the prompt includes "nobody" with the label latest, but there is no such prompt; a text includes its author's own prompts alone: fork that of another first`,
	} {
		f := change(rules, text).problem(422).Errors[0]
		require.Equal(t, []string{"body.text", detail}, []string{f.Location, f.Message})
	}
	ann.do("PATCH", rules, `{"visibility":"private"}`, "If-Match", "*").is(200)
	require.Equal(t, "Review. Be polite to Bob.", ann.get(review+"/text?var.who=Bob").is(200).body)
	require.Contains(t, bob.get(review+"/text?var.who=Bob").problem(409).Detail, "which you may not read")
	ann.do("PATCH", review, `{"title":"New"}`, "If-Match", "*").is(200)
	ann.do("DELETE", review, "").is(204)
	ann.do("DELETE", rules, "").is(204)
}

// TestWhichContent: a prompt read as it is names the version in production, which programs get.
func TestWhichContent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	p := ann.do("POST", prompts, `{"title":"T","text":"one","visibility":"public"}`).is(201).prompt()
	one, byName := prompts+"/"+p.ID, "/api/v1/users/me/prompts/t"
	write := func(text string) { ann.do("PATCH", one, `{"text":"`+text+`"}`, "If-Match", "*").is(200) }
	label := func(n string) { ann.do("PUT", one+"/labels/production", `{"version":`+n+`}`).is(200) }
	write("two")
	require.Equal(t, "two", ann.get(one+"/text").is(200).body)
	before := ann.get(one).is(200)
	require.Zero(t, before.prompt().Production)
	label("1")
	after := ann.get(one, "If-None-Match", before.header.Get("ETag")).is(200)
	for _, a := range []answer{after, ann.get(byName).is(200)} {
		require.Equal(t, []any{"two", int64(2), int64(1)},
			[]any{a.prompt().Text, a.prompt().Version, a.prompt().Production})
	}
	ann.do("PATCH", one, `{"title":"New"}`, "If-Match", after.header.Get("ETag")).is(200)
	require.Equal(t, "one", ann.get(one+"/text").is(200).body)
	require.Equal(t, "two", ann.get(one+"/text?label=latest").is(200).body)
	require.Equal(t, "two", ann.get(one+"/text?version=2").is(200).body)
	w.drain() // lists follow labels by a message
	for _, list := range []string{
		prompts + "?sort=newest", prompts + "?q=new", prompts + "?q=two",
		"/api/v1/me/prompts", prompts + "?fields=text",
	} {
		items := ann.get(list).is(200).list().Items
		require.Len(t, items, 1, list)
		require.Equal(t, []int64{2, 1}, []int64{items[0].Version, items[0].Production}, list)
	}
	// A version in production before the first public one is not for others.
	ann.do("PATCH", one, `{"visibility":"private"}`, "If-Match", "*").is(200)
	ann.do("PATCH", one, `{"visibility":"public"}`, "If-Match", "*").is(200)
	bob := w.as("Bob")
	w.drain()
	require.Zero(t, bob.get(one).is(200).prompt().Production)
	require.Zero(t, bob.get(prompts + "?sort=newest").is(200).list().Items[0].Production)
	require.Equal(t, "two", bob.get(one+"/text").is(200).body)
}

// TestListsWithTexts: a page has what each prompt holds where that is asked for, and its kind
// always.
func TestListsWithTexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	p := ann.do("POST", prompts,
		`{"title":"Text","text":"one {{x}}","config":{"a":1},"variables":[{"name":"x"}],"visibility":"public"}`).is(
		201).prompt()
	w.clock.Advance(1e6)
	ann.do("POST", prompts, `{"title":"Chat","messages":[{"role":"user","content":"hi"}],"visibility":"public"}`).is(
		201)
	for _, list := range []string{
		prompts + "?", prompts + "?sort=most-liked&", prompts + "?q=te&",
		"/api/v1/me/prompts?", "/api/v1/me/prompts?name=text&", "/api/v1/users/" + p.AuthorID + "/prompts?",
	} {
		for _, it := range ann.get(list).is(200).list().Items {
			require.Equal(t, map[string]string{"Text": "text", "Chat": "chat"}[it.Title], it.Kind, list)
			require.Empty(t, []any{it.Text, it.Messages, it.Config, it.Variables}[0], list)
		}
		items := ann.get(list + "fields=text&limit=20").is(200).list().Items
		require.NotEmpty(t, items, list)
		for _, it := range items {
			if it.Kind == "chat" {
				require.Equal(t, []api.Message{{Role: "user", Content: "hi"}}, it.Messages, list)
				continue
			}
			require.Equal(t, []any{"one {{x}}", `{"a":1}`, "one {{x}}", 1},
				[]any{it.Text, string(it.Config), it.Excerpt, len(it.Variables)}, list)
		}
		require.Equal(t, []string{"query.limit"}, ann.get(list+"fields=text&limit=21").problem(422).locations(), list)
	}
}

// TestListsOfLongTexts: a page whose prompts hold more than 1 MiB together ends early, and its
// cursor goes on where it ended.
func TestListsOfLongTexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	config := `{"a":"` + strings.Repeat("\u4e2d", 60000) + `"}`
	config = strings.ReplaceAll(config, "\u4e2d", "中")
	var made []string
	for i := range 12 {
		w.clock.Advance(1e6)
		made = append(made, ann.do("POST", prompts,
			fmt.Sprintf(`{"title":"Long %d","text":"x","config":%s,"visibility":"public"}`, i, config)).is(
			201).prompt().ID)
	}
	slices.Reverse(made)
	for _, list := range []string{
		prompts + "?", prompts + "?q=long&", "/api/v1/me/prompts?",
		"/api/v1/users/me/prompts?",
	} {
		var got []string
		pages := 0
		for cursor := ""; pages == 0 || cursor != ""; pages++ {
			a := ann.get(list + "fields=text&limit=12&cursor=" + url.QueryEscape(cursor)).is(200)
			require.Less(t, len(a.body), 1<<20+200<<10)
			for _, it := range a.list().Items {
				got = append(got, it.ID)
			}
			cursor = a.list().NextCursor
		}
		require.Equal(t, made, got, list)
		require.Equal(t, 2, pages, list)
		require.Len(t, ann.get(list+"limit=12").list().Items, 12, list)
	}
}

// TestOwnVoteIsCounted: before any job has run, a list counts the viewer's own vote.
func TestOwnVoteIsCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, bob := w.as("Ann"), w.as("Bob")
	p := ann.create("T", "text")
	bob.do("PUT", prompts+"/"+p.ID+"/vote", `{"value":"like"}`).is(200)
	for _, list := range []string{prompts, prompts + "?tag=text", "/api/v1/me/votes"} {
		it := bob.get(list).is(200).list().Items[0]
		require.Equal(t, []any{"like", int32(1), int32(1)}, []any{it.MyVote, it.Likes, it.Score}, list)
	}
	require.Zero(t, ann.get(prompts).is(200).list().Items[0].Likes, "others see it later")
	w.clock.Advance(11e9)
	require.Zero(t, bob.get(prompts).is(200).list().Items[0].Likes, "no job has run, which takes seconds")
}

// TestRestoreTellsANewName: a deleted prompt whose name was taken comes back under another, and
// says so.
func TestRestoreTellsANewName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	add := func() string {
		return prompts + "/" + ann.do("POST", prompts, `{"name":"folder/a","title":"T","text":"x"}`).is(201).prompt().ID
	}
	first := add()
	ann.do("DELETE", first, "").is(204)
	require.Empty(t, ann.do("POST", first+"/restore", "").is(200).prompt().FormerName)
	ann.do("DELETE", first, "").is(204)
	add()
	back := ann.do("POST", first+"/restore", "").is(200).prompt()
	require.Equal(t, "folder/a", back.FormerName)
	require.NotEqual(t, "folder/a", back.Name)
	require.Equal(t, first, prompts+"/"+ann.get("/api/v1/users/me/prompts/"+back.Name).is(200).prompt().ID)
}

// TestDifferenceOfFiles: the difference of two versions names the files that differ, with the lines
// of texts, and as text it is that of all files.
func TestDifferenceOfFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	head := `"---\nname: forms\ndescription: Fills forms.\n---\nRun it.\n"`
	one := prompts + "/" + ann.do("POST", prompts, `{"files":[{"path":"SKILL.md","content":`+head+
		`},{"path":"a.sh","content":"x\n"},{"path":"logo","base64":"AAE="},{"path":"old.md","content":"old\n"}]}`).is(
		201).prompt().ID
	ann.do("PUT", one+"/files", `{"files":[{"path":"SKILL.md","content":`+strings.Replace(head, "Run it", "Read it", 1)+`},{"path":"a.sh","content":"x\n","executable":true},{"path":"logo","base64":"AAI="},{"path":"new.md","content":"new\n"}]}`, "If-Match", "*").is(200)
	var d api.Diff
	ann.get(one + "/versions/1/diff/2").is(200).into(&d)
	var told []string
	for _, f := range d.Files {
		told = append(told, fmt.Sprint(f.Path, " ", f.Change, " ", f.From != nil, f.To != nil, " ", f.Diff))
	}
	require.Equal(t, []string{
		"SKILL.md changed true true @@ -2,4 +2,4 @@\n name: forms\n description: Fills forms.\n ---\n-Run it.\n+Read it.\n",
		"a.sh mode true true ", "logo changed true true ", "new.md added false true @@ -0,0 +1 @@\n+new\n",
		"old.md removed true false @@ -1 +0,0 @@\n-old\n",
	}, told)
	require.Equal(t, api.FileVersion{
		SHA256: "73cb3858a687a8494ca3323053016282f3dad39d42cf62ca4e79dda2aac7d9ac",
		Size:   2, Executable: true,
	}, *d.Files[1].To)
	text := ann.get(one+"/versions/1/diff/2", "Accept", "text/plain").is(200).body
	require.Equal(t, 1, strings.Count(text, "-Run it.\n"), "SKILL.md says what text and description say: %s", text)
	for _, part := range []string{
		"old mode 100644\nnew mode 100755\n", "Binary files a/logo and b/logo differ\n",
		"new file mode 100644\n--- /dev/null\n+++ b/new.md\n",
		"deleted file mode 100644\n--- a/old.md\n+++ /dev/null\n",
	} {
		require.Contains(t, text, part)
	}
}

// TestRecall withdraws versions. Programs go back along the moves of production, or get none.
func TestRecall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, bob := w.as("Ann"), w.as("Bob")
	p := ann.do("POST", prompts,
		`{"name":"review","title":"Reviewer","text":"one","visibility":"public","labels":["production"]}`).is(
		201).prompt()
	one := prompts + "/" + p.ID
	save := func(text, more string) {
		ann.do("PATCH", one, `{"text":"`+text+`"`+more+`}`, "If-Match", "*", "Content-Type",
			"application/merge-patch+json").is(200)
	}
	save("two", `,"labels":["production","staging"]`)
	save("three", `,"labels":["production"]`)
	render := func() answer { return bob.do("POST", one+"/render", `{"values":{}}`) }
	text := func() string {
		var r api.Rendered
		render().is(200).into(&r)
		return *r.Text
	}
	labels := func() map[string]int64 {
		var l api.LabelList
		ann.get(one + "/labels").is(200).into(&l)
		all := map[string]int64{}
		for _, item := range l.Items {
			all[item.Label] = item.Version
		}
		return all
	}

	// Its author may, with a reason.
	bob.do("POST", one+"/versions/3/recall", `{"reason":"x"}`).problem(403)
	bob.do("DELETE", one+"/versions/3/recall", "").problem(403)
	for _, reason := range []string{"", " ", strings.Repeat("x", 501), `\u0000`, `\u200b`, `\u202eabc`} {
		require.Equal(t, "body.reason",
			ann.do("POST", one+"/versions/3/recall", `{"reason":"`+reason+`"}`).problem(422).Errors[0].Location)
	}
	ann.do("POST", one+"/versions/4/recall", `{"reason":"x"}`).problem(404)
	ann.do("DELETE", one+"/versions/4/recall", "").problem(404)
	ann.do("DELETE", one+"/versions/3/recall", "").is(204) // it was not recalled
	require.Equal(t, "three", text())

	// Back to the version before, which programs and people can see.
	ann.do("POST", one+"/versions/3/recall", `{"reason":"Deletes files"}`).is(204)
	require.Equal(t, "two", text())
	require.Equal(t, map[string]int64{"latest": 3, "production": 2, "staging": 2}, labels())
	require.EqualValues(t, "VERSION_RECALLED",
		ann.do("POST", one+"/versions/3/recall", `{"reason":"again"}`).problem(409).Code)
	require.Equal(t, "two", bob.get(one+"?label=latest").is(200).prompt().Text)
	for _, path := range []string{"?version=3", "/text?version=3", "/archive?version=3", "/files?version=3"} {
		gone := bob.get(one + path).problem(410)
		require.Equal(t, []any{"VERSION_RECALLED", "version 3 was recalled: Deletes files"},
			[]any{gone.Code, gone.Detail}, path)
	}
	for _, caller := range []string{"Ann", "Bob"} {
		require.Contains(t, w.as(caller).get(one+"/export?format=skill").is(200).body, "two")
	}
	bob.get(one + "/export?format=skill&version=3").problem(410)
	require.EqualValues(t, "VERSION_RECALLED",
		ann.do("PUT", one+"/labels/production", `{"version":3}`).problem(409).Code)
	require.EqualValues(t, "VERSION_RECALLED", ann.do("POST", one+"/labels/production/undo", "").problem(409).Code)
	var versions api.VersionList
	bob.get(one + "/versions").is(200).into(&versions)
	require.Equal(t, []any{"Deletes files", versions.Items[0].CreatedBy},
		[]any{versions.Items[0].Recall.Reason, versions.Items[0].Recall.By})
	require.Nil(t, versions.Items[1].Recall)
	var v api.Version
	bob.get(one + "/versions/3").is(200).into(&v)
	require.Equal(t, []any{"three", versions.Items[0].Recall}, []any{v.Text, v.Recall})

	// Past the one that was recalled first, and past none.
	ann.do("POST", one+"/versions/1/recall", `{"reason":"Old"}`).is(204)
	require.Equal(t, "two", text())
	ann.do("POST", one+"/versions/2/recall", `{"reason":"Also"}`).is(204)
	require.EqualValues(t, "VERSION_RECALLED", render().problem(404).Code)
	bob.get(one + "?label=production").problem(404)
	bob.get(one + "?label=latest").problem(404)
	require.EqualValues(t, "VERSION_RECALLED", bob.get(one+"/export?format=skill").problem(404).Code)
	require.Equal(t, map[string]int64{"latest": 3}, labels())

	// A new version is no release: production was withdrawn, and stays so until somebody sets it.
	save("four", "")
	require.EqualValues(t, "VERSION_RECALLED", render().problem(404).Code)
	require.Equal(t, "four", bob.get(one+"?label=latest").is(200).prompt().Text)

	// Taken back, labels return that were not moved since.
	ann.do("DELETE", one+"/versions/2/recall", "").is(204)
	require.Equal(t, "two", text())
	ann.do("DELETE", one+"/versions/3/recall", "").is(204)
	require.Equal(t, "three", text())
	require.Equal(t, map[string]int64{"latest": 4, "production": 3, "staging": 2}, labels())
	ann.do("POST", one+"/versions/3/recall", `{"reason":"Again"}`).is(204)
	require.Equal(t, "two", text())
	ann.do("PUT", one+"/labels/production", `{"version":4}`).is(200)
	ann.do("DELETE", one+"/versions/3/recall", "").is(204)
	require.Equal(t, "four", text())

	// Without the label, programs get the highest version that was not recalled.
	ann.do("DELETE", one+"/labels/production", "").is(204)
	ann.do("POST", one+"/versions/4/recall", `{"reason":"Bad"}`).is(204)
	require.Equal(t, "three", text())
	ann.do("DELETE", one+"/versions/4", "").is(204)
	require.Equal(t, "three", text())
}
