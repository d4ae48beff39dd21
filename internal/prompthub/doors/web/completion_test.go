package web_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/promptdb"
)

// TestCompletion offers what is public and begins as somebody types: authors by all words, tags by
// the last. It finds an author by the name, and leads on where nothing was found.
func TestCompletion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("Ann Lee").write("Code reviewer", "Reads code.", "public", "development")
	w.as("Zoe Secret").write("Hidden", "Nothing.", "private", "games")
	_, err := w.db.CountTags(t.Context()) // as the timer would
	require.NoError(t, err)
	_, err = w.db.Reindex(t.Context(), false, func(promptdb.Difference) {}, func(int) {})
	require.NoError(t, err)
	w.clock.Advance(time.Minute) // an instance believes what it read for some seconds
	bob := w.as("Bob")
	bob.get("/app?q=lee").is(200).has(`<small>Author</small> <bdi>Ann Lee</bdi> <small>1</small>`, `href="/app/u/a_`)
	bob.get("/app?q=an+le").is(200).has(`<bdi>Ann Lee</bdi>`)
	bob.get("/app?q=ann+code").is(200).lacks(`<bdi>Ann Lee</bdi>`)
	bob.get("/app?q=secret").is(200).lacks("Zoe Secret")
	bob.get("/app?q=code+dev").is(200).has(
		`href="/app?q=code&amp;tag=development" data-live rel="nofollow"><small>Tag</small>`)
	bob.get("/app?q=dev").is(200).has(`href="/app?tag=development" data-live`)
	bob.get("/app?q=dev&tag=development").is(200).lacks(`<small>Tag</small>`)
	bob.get("/app?q=game").is(200).lacks(`<small>Tag</small>`) // no public prompt has the tag
	bob.get(`/app?q=%22code+dev`).is(200).lacks(`<small>Tag</small>`)
	bob.get("/app").is(200).lacks(`class="offers"`)

	require.Equal(t, []string{"Code reviewer"}, bob.get(`/app?q=author:%22ann+lee%22`).is(200).titles())
	require.Equal(t, []string{"Code reviewer"}, bob.get(`/app?q=tag:development+-poet`).is(200).titles())
	bob.get(`/app?q=%22reviewer+code%22`).is(200).has("Take something away.",
		`href="/app?q=reviewer&#43;code">Search for the words alone</a>`, "All prompts")
	bob.get("/app?q=absent").is(200).has(`>All prompts</a>`)
	bob.get("/app?q=absent+%26+lost").is(200).has(
		`href="/app/prompts/new?title=absent&#43;%26&#43;lost">New prompt “absent &amp; lost”</a>`, `>All prompts</a>`)
	bob.get("/app?q=author:ann+author:zoe").is(400).has("Write author: once")
	bob.get(`/app?q=-tag:a`).is(400).has("Take the - away before tag:")
}
