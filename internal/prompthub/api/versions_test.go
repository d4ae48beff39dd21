package api_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/api"
)

// TestLibraryStory saves, labels, pins, compares and rolls back a prompt by its name.
func TestLibraryStory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, bob := w.as("Ann"), w.as("Bob")
	p := ann.do("POST", prompts, `{"name":"team/review","title":"Code reviewer","text":"Review the code.","visibility":"public","message":"First","labels":["production"]}`).is(201).prompt()
	require.Equal(t, []any{"team/review", "team-review", "Review the code.", int64(1), "First"}, []any{p.Name, p.Slug, p.Description, p.Version, p.Message})
	one := prompts + "/" + p.ID
	two := ann.do("PATCH", one, `{"text":"Review the code strictly.","message":"Stricter"}`, "If-Match", "*", "Content-Type", "application/merge-patch+json").is(200).prompt()
	require.EqualValues(t, 2, two.Version)

	// By name, slug, label and number, each with an ETag of its own.
	mine := "/api/v1/users/me/prompts/"
	require.Equal(t, "Review the code strictly.", ann.get(mine+"team%2Freview").is(200).prompt().Text)
	pinned := ann.get(mine + "team-review?label=production").is(200)
	require.Equal(t, "Review the code.", pinned.prompt().Text)
	require.Regexp(t, `^"v1-[0-9a-f]{16}"$`, pinned.header.Get("ETag"))
	bob.get(mine + "team-review").problem(404)
	require.EqualValues(t, 1, bob.get(one+"?version=1").is(200).prompt().Version)
	bob.get(one + "?version=3").problem(404)
	require.Equal(t, "query.label", ann.get(one + "?version=1&label=production").problem(422).Errors[0].Location)

	// A moved label is never a 304.
	tag := ann.get(one + "?label=production").is(200).header.Get("ETag")
	ann.get(one+"?label=production", "If-None-Match", tag).is(304)
	ann.do("PUT", one+"/labels/production", `{"version":2}`).is(200)
	require.Equal(t, "Review the code strictly.", ann.get(one+"?label=production", "If-None-Match", tag).is(200).prompt().Text)

	// History, difference, back.
	var versions api.VersionList
	bob.get(one + "/versions").is(200).into(&versions)
	require.Len(t, versions.Items, 2)
	require.Equal(t, []any{int64(2), "Stricter", []string{"latest", "production"}, ""}, []any{versions.Items[0].Version, versions.Items[0].Message, versions.Items[0].Labels, versions.Items[0].Text})
	var first api.VersionList
	bob.get(one + "/versions?limit=1").is(200).into(&first)
	var rest api.VersionList
	bob.get(one + "/versions?limit=1&cursor=" + first.NextCursor).is(200).into(&rest)
	require.Equal(t, versions.Items, append(first.Items, rest.Items...))
	var d api.Diff
	bob.get(one + "/versions/1/diff/2").is(200).into(&d)
	require.Equal(t, api.Diff{From: 1, To: 2, Runs: []api.Run{{Op: "equal", Text: "Review the code"}, {Op: "insert", Text: " strictly"}, {Op: "equal", Text: "."}}}, d)
	require.Contains(t, bob.get(one+"/versions/1/diff/2", "Accept", "text/plain").is(200).body, "-Review the code.\n")
	ann.do("POST", one+"/labels/production/undo", "").is(204)
	var moves api.MoveList
	ann.get(one + "/labels/production/history").is(200).into(&moves)
	require.Len(t, moves.Items, 2)
	require.NotEmpty(t, moves.Items[0].UndoneAt)
	back := ann.do("POST", one+"/versions/1/restore", "").is(200).prompt()
	require.Equal(t, []any{int64(3), "Review the code.", "Restores version 1"}, []any{back.Version, back.Text, back.Message})
	ann.do("DELETE", one+"/versions/2", "").is(204)
	ann.get(one + "/versions/2").problem(404)

	// Names: one prompt each, and the old one goes on leading to it.
	require.Equal(t, "body.name", ann.do("POST", prompts, `{"name":"team/review","title":"T","text":"x"}`).problem(409).Errors[0].Location)
	ann.do("PATCH", one, `{"name":"team/strict"}`, "If-Match", "*", "Content-Type", "application/merge-patch+json").is(200)
	require.Equal(t, p.ID, ann.get(mine+"team%2Freview").is(200).prompt().ID)
	list := ann.get("/api/v1/me/prompts?name=team%2Fstrict").is(200).list()
	require.Len(t, list.Items, 1)
	require.Equal(t, []any{"team/strict", "Review the code.", int64(3)}, []any{list.Items[0].Name, list.Items[0].Excerpt, list.Items[0].Version})
	for name, message := range map[string]string{"a|b": "remove | from the name", "/a": "use / only between parts of the name, one at a time", "new": "choose another name: this one is reserved"} {
		f := ann.do("POST", prompts, `{"name":"`+name+`","title":"T","text":"x"}`).problem(422).Errors[0]
		require.Equal(t, []string{"body.name", message}, []string{f.Location, f.Message})
	}

	require.Equal(t, "path.label", ann.do("PUT", one+"/labels/latest", `{"version":1}`).problem(422).Errors[0].Location)
	require.Equal(t, "body.labels[0]", ann.do("POST", prompts, `{"title":"T","text":"x","labels":["Bad Label"]}`).problem(422).Errors[0].Location)
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
	require.Equal(t, "Review. Be polite to Bob.", bob.do("POST", review+"/render", `{"values":{"who":"Bob"}}`).is(200).prompt().Text)
	require.Contains(t, bob.get(review).is(200).prompt().Text, "@@@langfusePrompt:name=rules")

	var uses api.UseList
	ann.get(rules + "/used-by").is(200).into(&uses)
	require.Equal(t, []api.Use{{ID: review[len(prompts)+1:], Name: "review", Title: "T", Version: 1, Includes: []api.Included{{Version: 1}}}}, uses.Items)
	bob.get(rules + "/used-by").problem(403)
	refusal := ann.do("DELETE", rules, "").problem(409)
	require.Equal(t, `this prompt is included by "review" in version 1; change or delete those first`, refusal.Detail)
	change := func(at, text string) answer {
		return ann.do("PATCH", at, `{"text":"`+text+`"}`, "If-Match", "*")
	}
	change(rules, "Be strict.").is(200)
	require.Equal(t, `version 1 of this prompt is included by "review" in version 1; change or delete those first`, ann.do("DELETE", rules+"/versions/1", "").problem(409).Detail)

	// What would lead in a circle, or nowhere, is not saved; what became so is told.
	for text, detail := range map[string]string{
		"@@@langfusePrompt:name=review|label=latest@@@": `the prompt includes itself: "rules" > "review" > "rules"`,
		"@@@langfusePrompt:name=nobody|label=latest@@@": `the prompt includes "nobody" with the label latest, which does not exist, or which you may not read`,
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
