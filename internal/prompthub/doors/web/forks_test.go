package web_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestForkAndMerge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, bob := w.as("Ann"), w.as("Bob")
	page := ann.write("Review", "First.\nSecond.\nThird.", "public", "data")
	key := bob.get(page).has(">Fork</button>").find(`name="key" value="([^"]*)"`)
	to := bob.post(page+"/fork", "key", key).to("/app/prompts/")
	require.Equal(t, to, bob.post(page+"/fork", "key", key).to("/app/prompts/"), "sent twice it is one fork")
	fork := to[:len(page)]
	bob.get(to).is(200).has("This is your copy now.", "Second.", `Forked from version 1 of <a href="`+page+`"`,
		"by <bdi>Ann</bdi>", "private", ">Data</a>", "What changed there").lacks("changed since")
	bob.get(fork + "/upstream").is(200).has("Nothing changed there since.")
	ann.get(fork).is(404)

	ann.edit(page, "First!\nSecond.\nThird.", "public")
	bob.get(fork).has("This is a copy of version", "which has changed since")
	bob.get(fork+"/upstream").has("First<del>.</del>", "First<ins>!</ins>", "It is at version 2 now.", ">Merge<")
	bob.get(fork + "/upstream?view=split").has(`<td dir="auto">First<del>.</del></td>`)
	bob.edit(fork, "First.\nSecond.\nThird?", "private")
	bob.post(fork + "/upstream").to(fork + "?done=merged")
	bob.get(fork).has("First!\nSecond.\nThird?", "Forked from version 2").lacks("changed since")
	bob.get(bob.post(fork+"/upstream").to(fork+"?done=same")).has("no new version was needed", ">Version 3<")

	ann.edit(page, "First!\nSecond.\nThe third.", "public")
	bob.post(fork+"/upstream").is(409).has("Both changed the same", "line 3: yours is", "Keep mine", "Take theirs")
	bob.post(fork + "/upstream").has(`href="` + fork + `/upstream/edit"`)
	both := bob.get(fork+"/upstream/edit").is(200).has("What it was forked from, as it is now", "The third.", "Third?",
		"Take theirs", `name="upstream" value="3"`, "Merges version 3 of &#34;Review&#34;").lacks(
		"Saved meanwhile", "Tags</h3>", "Title</h3>")
	send := []string{
		"title", "Review", "text", "First!\nSecond.\nThe third?", "visibility", "private", "upstream", "3",
		"revision", both.find(`name="revision" value="(\d+)"`), "version", both.find(`name="version" value="(\d+)"`),
	}
	bob.post(fork+"/edit", append(send, "do", "preview")...).is(200).has(`name="upstream" value="3"`)
	bob.get(bob.post(fork+"/edit", send...).to(fork+"?done=merged")).has("The third?", "Forked from version 3",
		"The changes are merged").lacks("changed since")
	bob.get(fork + "/upstream/edit").to(fork + "/upstream")
	ann.get(fork + "/upstream/edit").is(404)
	ann.edit(page, "First!\nSecond.\nThe third!", "public")
	bob.get(fork).has("changed since")
	both = bob.get(fork + "/upstream/edit")
	ann.edit(page, "First!\nSecond.\nThe very third!", "public") // while he edits
	send = []string{
		"title", "Review", "text", "First!\nSecond.\nThe third?!", "visibility", "private", "upstream", "4",
		"revision", both.find(`name="revision" value="(\d+)"`), "version", "1",
	}
	bob.get(bob.post(fork+"/edit", send...).to(fork + "?done=merged")).has("changed since")
	ann.post(page+"/edit", "title", "Review", "text", "First!\nSecond.\nThe very third!", "description",
		"Reviews what others wrote", "visibility", "public", "revision",
		ann.get(page+"/edit").find(`name="revision" value="(\d+)"`))
	bob.get(fork+"/upstream/edit").is(200).has("Description</h3>", "Reviews what others wrote")
	bob.post(fork+"/upstream", "take", "ours").is(422)
	bob.post(fork+"/upstream", "take", "theirs").to(fork)
	bob.get(fork).has("The very third!")

	ann.post(page+"/visibility", "to", "private").to(page)
	bob.get(fork).is(200).has("Forked from version 6").lacks("changed since")
	bob.get(fork+"/upstream").is(200).has("does not exist any more, or you may not read it").lacks("Review", "Merge<")
	bob.post(fork + "/upstream").is(409)
	bob.post(page+"/fork", "key", "x").is(404)
	bob.get(page + "/upstream").is(404)
	ann.get(page + "/upstream").is(409).has("This prompt is no fork.")

	bob.post(fork+"/visibility", "to", "public").to(fork)
	ann.get(fork).is(200).has("Forked from version 6").lacks("/upstream")
	ann.get(fork + "/upstream").is(403)
	ann.post(fork + "/upstream").is(403)
	w.nobody().post(page + "/fork").is(401)
}
