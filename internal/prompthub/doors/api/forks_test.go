package api_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/doors/api"
)

// TestForkStory forks a prompt, follows what it comes from, and is told what clashes.
func TestForkStory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, bob := w.as("Ann"), w.as("Bob")
	theirs := ann.do("POST", prompts, `{"title":"Review","text":"Be kind.\nFind defects.\nName them.\n","tags":["text"],"ownTags":["ann's"],"visibility":"public"}`).is(201).prompt()
	there := prompts + "/" + theirs.ID
	write := func(p person, at, text string) {
		p.do("PATCH", at, `{"text":"`+text+`"}`, "If-Match", "*", "Content-Type",
			"application/merge-patch+json").is(200)
	}

	made := bob.do("POST", there+"/fork", "", "Idempotency-Key", "k").is(201)
	mine := made.prompt()
	here := prompts + "/" + mine.ID
	require.Equal(t, "/api/v1"+here[len("/api/v1"):], made.header.Get("Location"))
	require.Equal(t, mine, bob.do("POST", there+"/fork", "", "Idempotency-Key", "k").is(200).prompt())
	require.Equal(t, &api.Origin{ID: theirs.ID, Version: 1}, mine.Origin)
	require.Equal(t, []any{
		"private", "Review", theirs.Text,
		[]string{"text"},
		[]string(nil), int64(1),
		`Forked from version 1 of "Review"`,
	},
		[]any{mine.Visibility, mine.Title, mine.Text, mine.Tags, mine.OwnTags, mine.Version, mine.Message})
	ann.get(here).problem(404)

	upstream := func() (u api.Upstream) {
		bob.get(here + "/upstream").is(200).into(&u)
		return u
	}
	require.Equal(t, api.Upstream{
		ID: theirs.ID, Version: 1, Latest: 1, Title: "Review", AuthorID: theirs.AuthorID,
		AuthorName: "Ann", Runs: []api.Run{},
	}, upstream())
	require.EqualValues(t, 1, bob.do("POST", here+"/upstream/merge", "").is(200).prompt().Version,
		"there is nothing to merge")

	// Both change something else.
	write(bob, here, `Be kind.\nFind defects.\nName them in order.\n`)
	write(ann, there, `Be very kind.\nFind defects.\nName them.\n`)
	u := upstream()
	require.True(t, u.Changed)
	require.Contains(t, u.Runs, api.Run{Op: "insert", Text: " very"})
	require.Contains(t, bob.get(here+"/upstream", "Accept", "text/plain").is(200).body, "+Be very kind.\n")
	merged := bob.do("POST", here+"/upstream/merge", "").is(200).prompt()
	require.Equal(t, []any{
		"Be very kind.\nFind defects.\nName them in order.\n", int64(3),
		&api.Origin{ID: theirs.ID, Version: 2}, `Merges version 2 of "Review"`,
	},
		[]any{merged.Text, merged.Version, merged.Origin, merged.Message})
	require.False(t, upstream().Changed)

	// Both change the same: nothing is overwritten, and each is told.
	write(ann, there, `Be very kind.\nFind defects.\nName all.\n`)
	refusal := bob.do("POST", here+"/upstream/merge", "").problem(409)
	require.Equal(t, []string{"body.text"}, refusal.locations())
	require.Equal(t, `line 3: yours is "Name them in order.", theirs is "Name all."`, refusal.Errors[0].Message)
	require.Equal(t, merged.Text, bob.get(here).is(200).prompt().Text)
	kept := bob.do("POST", here+"/upstream/merge?take=mine", "").is(200).prompt()
	require.Equal(t, []any{merged.Text, int64(3), int64(3)}, []any{kept.Text, kept.Version, kept.Origin.Version})
	write(ann, there, `New.`)
	taken := bob.do("POST", here+"/upstream/merge?take=theirs", "").is(200).prompt()
	require.Equal(t, []any{"New.", int64(4)}, []any{taken.Text, taken.Version})

	// A user who may not read it any more follows it no more.
	ann.do("PATCH", there, `{"visibility":"private","text":"Secret."}`, "If-Match", "*", "Content-Type",
		"application/merge-patch+json").is(200)
	require.Equal(t, api.Upstream{ID: theirs.ID, Version: 4, Runs: []api.Run{}}, upstream())
	bob.do("POST", here+"/upstream/merge", "").problem(409)
	bob.do("POST", here+"/upstream/merge?take=theirs", "").problem(409)
	bob.do("POST", there+"/fork", "").problem(404)
	require.Equal(t, "this prompt is no fork", ann.get(there+"/upstream").problem(409).Detail)
	ann.do("PATCH", there, `{"visibility":"public"}`, "If-Match", "*", "Content-Type",
		"application/merge-patch+json").is(200)
	require.Equal(t, int64(5), upstream().Latest)
	require.False(t, upstream().Changed, "what both come from lies below what is public")
	require.Contains(t, bob.do("POST", here+"/upstream/merge", "").problem(409).Detail, "choose mine or theirs")
	bob.do("POST", there+"/fork?version=4", "").problem(404)
	bob.do("POST", there+"/fork?version=5", "").is(201)
}

// TestForkOfIncludes: names in a text are those of its author, so what another's prompt includes
// stands in its place in a fork.
func TestForkOfIncludes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, bob := w.as("Ann"), w.as("Bob")
	part := prompts + "/" + ann.do("POST", prompts, `{"title":"Part","text":"Be kind.","visibility":"public"}`).is(
		201).prompt().ID
	there := prompts + "/" + ann.do("POST", prompts, `{"title":"Whole","text":"@@@langfusePrompt:name=part|label=latest@@@\nFind defects.\nName them.\n","visibility":"public"}`).is(201).prompt().ID
	change := func(p person, at, body string) answer {
		return p.do("PATCH", at, body, "If-Match", "*", "Content-Type", "application/merge-patch+json")
	}
	mine := bob.do("POST", there+"/fork", "").is(201).prompt()
	require.Equal(t, "Be kind.\nFind defects.\nName them.\n", mine.Text)
	own := ann.do("POST", there+"/fork", "").is(201).prompt()
	require.Contains(t, own.Text, "name=part", "one's own names stay")

	here := prompts + "/" + mine.ID
	change(bob, here, `{"text":"Be kind.\nFind defects.\nName them in order.\n"}`).is(200)
	change(ann, there, `{"text":"@@@langfusePrompt:name=part|label=latest@@@\nFind all defects.\nName them.\n"}`).is(
		200)
	merged := bob.do("POST", here+"/upstream/merge", "").is(200).prompt()
	require.Equal(t, "Be kind.\nFind all defects.\nName them in order.\n", merged.Text)
	change(ann, there, `{"text":"@@@langfusePrompt:name=part|label=latest@@@\nAll.\n"}`).is(200)
	require.Equal(t, "Be kind.\nAll.\n", bob.do("POST", here+"/upstream/merge?take=theirs", "").is(200).prompt().Text)

	change(ann, part, `{"visibility":"private","text":"Secret."}`).is(200)
	require.Contains(t, bob.do("POST", there+"/fork", "").problem(409).Detail, "which you may not read")
	change(ann, there, `{"text":"@@@langfusePrompt:name=part|label=latest@@@\nEverything.\n"}`).is(200)
	require.NotContains(t, bob.do("POST", here+"/upstream/merge?take=theirs", "").problem(409).Detail, "Secret")
	require.Equal(t, "Be kind.\nAll.\n", bob.get(here).is(200).prompt().Text)
	bob.do("POST", here+"/upstream/merge?take=mine", "").is(200)
}
