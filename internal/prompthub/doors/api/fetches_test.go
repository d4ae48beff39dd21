package api_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/doors/api"
)

// TestWhoIsBehind: two tokens of ann's, one of bob's, and programs without a token fetch a prompt,
// before and after a release.
func TestWhoIsBehind(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withTokens, func(c *api.Config) { c.PublicRead = true })
	ann, bob, nobody := w.as("Ann"), w.as("Bob"), w.as("")
	p := ann.do("POST", prompts,
		`{"name":"review","title":"Reviewer","text":"one","visibility":"public","labels":["production"]}`).is(
		201).prompt()
	one := prompts + "/" + p.ID
	token := func(of person, name string) (header []string, revoke func()) {
		var made api.ShownToken
		of.do("POST", "/api/v1/me/tokens", fmt.Sprintf(`{"name":%q,"scopes":["read"]}`, name)).is(201).into(&made)
		return bearerOf(made), func() { of.do("DELETE", "/api/v1/me/tokens/"+made.ID, "").is(204) }
	}
	fetch := func(path string, header ...string) { nobody.get(one+path, header...).is(200) }
	behind := func(on *world) api.FetchList {
		var f api.FetchList
		on.as("Ann").get(one + "/fetches").is(200).into(&f)
		return f
	}
	ci, _ := token(ann, "CI")
	build, revokeBuild := token(ann, "Build")
	other, revokeOther := token(bob, "Secret name")
	require.Equal(t, api.FetchList{Items: []api.Fetch{}}, behind(w))
	day := w.clock.Now().UTC().Format(time.DateOnly)

	fetch("?label=production", ci...)
	fetch("/text", build...)
	fetch("/text", other...)
	fetch("/text")
	nobody.do("POST", one+"/render", `{"values":{}}`).is(200)
	ann.get(one + "/text").is(200) // a person is no program
	fetch("")                      // and this is no fetch: the prompt as it is, with all that an editor needs
	ann.do("PATCH", one, `{"text":"two","labels":["production"]}`, "If-Match", "*", "Content-Type",
		"application/merge-patch+json").is(200)
	fetch("/archive", build...)

	want := api.FetchList{Items: []api.Fetch{{"CI", 1, day}, {"", 1, day}, {"Build", 2, day}}, WithoutToken: 2}
	require.Equal(t, want, behind(w))
	bob.get(one + "/fetches").problem(403)
	nobody.get(one+"/fetches", ci...).problem(403)

	// Another instance reads what was written: the first fetch, and the next after an hour.
	second := w.instance(withTokens, func(c *api.Config) { c.PublicRead = true })
	require.Equal(t, api.FetchList{
		Items:        []api.Fetch{{"CI", 1, day}, {"Build", 1, day}, {"", 1, day}},
		WithoutToken: 1,
	}, behind(second))
	w.clock.Advance(time.Hour)
	for range 2 { // of any program: each writes two fetches that are due
		fetch("/text", ci...)
	}
	day = w.clock.Now().UTC().Format(time.DateOnly)
	f := behind(second)
	require.EqualValues(t, 2, f.WithoutToken)
	require.Equal(t, f, behind(w))
	for _, x := range f.Items {
		require.Equal(t, x.Token != "", x.Version == 2, "%v", f)
	}

	// A revoked token is not told any more, and nothing is after thirty days.
	revokeBuild()
	revokeOther()
	w.clock.Advance(10 * time.Second)
	require.Equal(t, []api.Fetch{{"CI", 2, day}}, behind(second).Items)
	w.clock.Advance(32 * 24 * time.Hour)
	require.Equal(t, api.FetchList{Items: []api.Fetch{}}, behind(w))
}
