package marketplace_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/doors/marketplace"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/testing/heap"
)

func TestCatalogue(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prompt.Rules{}, true)
	greet := w.public("greet", "Say hello to {{name}}.")
	w.public("part", "A part.")
	w.public("whole", "With @@@langfusePrompt:name=part|version=1@@@") // includes another: no skill
	w.write(user("ann"), prompt.Draft{Name: "secret", Title: "Secret", Text: "Private.", Visibility: prompt.Private})
	skillFile := "---\nname: pdf-forms\nlicense: MIT # ours\ndescription: Fills PDF forms.\n---\n\nRun scripts/fill.py\n"
	d, err := library.WithFiles(prompt.Draft{Visibility: prompt.Public}, []library.SentFile{
		{
			Path:  "SKILL.md",
			Bytes: []byte(skillFile),
		}, {Path: "scripts/fill.py", Bytes: []byte("print(1)\n"), Executable: true},
	}, nil)
	require.NoError(t, err)
	fills := w.write(user("ann"), d)

	c := w.catalogue("", "/u/ann")
	require.Equal(t, "prompthub-ann", c.Name)
	require.NotEmpty(t, c.Owner.Name)
	names := map[string]plugin{}
	for _, p := range c.Plugins {
		require.Equal(t, "archive", p.Source.Source)
		require.NotContains(t, p.Source.URL, "?", "a public package is at one address for everybody")
		names[p.Name] = p
	}
	require.NotContains(t, names, "whole")
	require.Len(t, names, 3)
	require.Equal(t, "About greet", names["greet"].Description)
	files := w.install(names["greet"])
	require.Contains(t, files["skills/greet/SKILL.md"], "Say hello to {{name}}.")
	require.Contains(t, files["plugin.json"], `"version": "1.0.0"`)
	files = w.install(names["pdf-forms"])
	require.Equal(t, skillFile, files["skills/pdf-forms/SKILL.md"])
	require.Contains(t, files["plugin.json"], `"license": "MIT"`)
	require.Equal(t, "print(1)\n", files["skills/pdf-forms/scripts/fill.py*"])

	// a release, and back
	w.edit(fills.ID, func(d *prompt.Draft) { d.Text = "Run it twice." })
	label := func(n int64) {
		t.Helper()
		w.now = w.now.Add(time.Second)
		require.NoError(t, w.hub.SetLabel(t.Context(), user("ann"), fills.ID, prompt.Production, n))
		w.settle()
	}
	version := func() string {
		for _, p := range w.catalogue("", "/u/ann").Plugins {
			if p.Name == "pdf-forms" {
				w.install(p)
				return p.Version
			}
		}
		return ""
	}
	require.Equal(t, "2.0.0", version())
	label(1)
	require.Equal(t, "1.0.0", version())
	label(2)
	require.Equal(t, "2.0.0", version())

	// a prompt that is private again is gone from list and address at once
	w.edit(greet.ID, func(d *prompt.Draft) { d.Visibility = prompt.Private })
	w.refused(w.get("", names["greet"].Source.URL), http.StatusNotFound, "NOT_FOUND")
	require.Len(t, w.catalogue("", "/u/ann").Plugins, 2)

	for _, path := range []string{
		"/u/nobody/marketplace.json", "/u/me/marketplace.json", "/u/a%20b/marketplace.json",
		"/w/none/marketplace.json", "/packages/x/1/y.zip",
	} {
		require.Contains(t, []int{401, 404}, w.get("", marketplace.Prefix+path).Code, path)
	}
	url := names["pdf-forms"].Source.URL
	w.refused(
		w.get("", strings.Replace(url, names["pdf-forms"].Source.SHA256, strings.Repeat("0", 64), 1)),
		http.StatusNotFound,
		"PACKAGE_CHANGED",
	)
	w.refused(w.get("", strings.Replace(url, "/1/", "/9/", 1)), http.StatusNotFound, "NOT_FOUND")
}

// TestPrivatePackages: addresses of a catalogue of a token are good without it, to the end of the
// next day, while the token is good and sees the prompt.
func TestPrivatePackages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prompt.Rules{}, true)
	secret := w.write(
		user("ann"),
		prompt.Draft{Name: "secret", Title: "Secret", Text: "Private.", Visibility: prompt.Private},
	)
	w.write(user("ann"), prompt.Draft{Name: "other", Title: "Other", Text: "Private too.", Visibility: prompt.Private})
	token, text := w.token("ann", auth.ScopeRead)
	_, others := w.token("bob", auth.ScopeRead)
	_, writes := w.token("ann", auth.ScopeWrite)

	w.refused(w.get("", "/marketplace/me/marketplace.json"), http.StatusUnauthorized, "UNAUTHENTICATED")
	require.Equal(t, http.StatusForbidden, w.get(writes, "/marketplace/me/marketplace.json").Code)
	w.refused(
		w.get("", "/marketplace/me/marketplace.json", auth.DevUserHeader, "ann"),
		http.StatusUnauthorized,
		"UNAUTHENTICATED",
	)
	require.Empty(t, w.catalogue(others, "/me").Plugins)

	list := w.catalogue(text, "/me").Plugins
	require.Len(t, list, 2)
	other, p := list[0], list[1]
	require.Contains(t, w.install(p)["skills/secret/SKILL.md"], "Private.")

	changed := func(from, to string) { // address
		t.Helper()
		require.Contains(t, p.Source.URL, from)
		w.refused(w.get("", strings.Replace(p.Source.URL, from, to, 1)), http.StatusUnauthorized, "UNAUTHENTICATED")
	}
	path := func(p plugin) string { path, _, _ := strings.Cut(p.Source.URL, "?"); return path }
	changed(path(p), path(other))
	changed("until=2026-04-01", "until=2026-04-02")
	changed("signature=", "signature=A")
	changed("token="+token.ID, "token=aaaaaaaaaaaaaaaa")
	changed("token="+token.ID, "token=")
	w.refused(w.get("", path(p)), http.StatusNotFound, "NOT_FOUND")
	require.Equal(t, http.StatusOK, w.get(text, path(p)).Code, "the token itself will do")
	require.Equal(t, http.StatusNotFound, w.get(others, path(p)).Code)

	// the same all day
	again := func() string {
		a := w.get(text, "/marketplace/me/marketplace.json")
		require.Equal(
			t,
			http.StatusNotModified,
			w.get(text, "/marketplace/me/marketplace.json", "If-None-Match", a.Header().Get("ETag")).Code,
		)
		return a.Body.String()
	}
	first := again()
	w.now = time.Date(2026, 3, 31, 23, 59, 59, 0, time.UTC)
	require.Equal(t, first, again())
	w.now = time.Date(2026, 4, 1, 23, 59, 59, 0, time.UTC)
	require.NotEqual(t, first, again())
	w.install(p)
	w.now = w.now.Add(time.Second)
	w.refused(w.get("", p.Source.URL), http.StatusForbidden, "ADDRESS_EXPIRED")
	p = w.catalogue(text, "/me").Plugins[1]
	w.install(p)

	require.NoError(t, w.hub.Delete(t.Context(), user("ann"), secret.ID, library.Match{Any: true}))
	w.refused(w.get("", p.Source.URL), http.StatusNotFound, "NOT_FOUND")
	other = w.catalogue(text, "/me").Plugins[0]
	w.install(other)
	require.NoError(t, w.hub.RevokeToken(t.Context(), user("ann"), token.ID))
	w.refused(w.get("", other.Source.URL), http.StatusUnauthorized, "UNAUTHENTICATED")
}

// TestWorkspaceShelf: a member's token brings the skills of a workspace while they are a member.
func TestWorkspaceShelf(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prompt.Rules{}, false)
	_, err := w.hub.CreateWorkspace(t.Context(), user("ann"), prompt.Profile{Handle: "team-a"})
	require.NoError(t, err)
	as, err := w.hub.In(t.Context(), user("ann"), "team-a")
	require.NoError(t, err)
	w.write(as, prompt.Draft{Name: "plan", Title: "Plan", Text: "A plan.", Visibility: prompt.Private})
	_, ann := w.token("ann", auth.ScopeRead)
	_, bob := w.token("bob", auth.ScopeRead)
	require.Equal(t, http.StatusNotFound, w.get(bob, "/marketplace/w/team-a/marketplace.json").Code)
	require.Equal(t, http.StatusUnauthorized, w.get("", "/marketplace/w/team-a/marketplace.json").Code)
	p := w.catalogue(ann, "/w/team-a").Plugins[0]
	require.Contains(t, w.install(p)["skills/plan/SKILL.md"], "A plan.")
	require.NoError(t, w.hub.DeleteWorkspace(t.Context(), user("ann"), "team-a"))
	w.refused(w.get("", p.Source.URL), http.StatusNotFound, "NOT_FOUND")
}

// TestCollectionShelf: a collection is one plugin with the skills that its reader may see, and each
// of them is one too.
func TestCollectionShelf(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prompt.Rules{}, true)
	greet := w.public("greet", "Hello.")
	secret := w.write(user("ann"),
		prompt.Draft{Name: "secret", Title: "Secret", Text: "Private.", Visibility: prompt.Private})
	_, err := w.hub.CreateCollection(t.Context(), user("ann"), user("ann"), "start", prompt.CollectionDraft{
		Name: "To start", About: "Begin here", Visibility: prompt.Public, Prompts: []prompt.ID{greet.ID, secret.ID},
	})
	require.NoError(t, err)
	const shelf = "/marketplace/c/ann/start/marketplace.json"
	read := func(token string) (names []string, all map[string]plugin) {
		t.Helper()
		var c catalogue
		decode(t, w.get(token, shelf), &c)
		require.Equal(t, "prompthub-ann--start", c.Name)
		all = map[string]plugin{}
		for _, p := range c.Plugins {
			names, all[p.Name] = append(names, p.Name), p
		}
		return names, all
	}
	names, all := read("")
	require.Equal(t, []string{"start", "greet"}, names)
	require.NotContains(t, all["start"].Source.URL, "?")
	files := w.install(all["start"])
	require.Len(t, files, 2)
	require.Contains(t, files["skills/greet/SKILL.md"], "Hello.")
	require.Contains(t, files["plugin.json"], "Begin here")
	require.Contains(t, files["plugin.json"], all["start"].Version)
	w.install(all["greet"])

	_, ann := w.token("ann", auth.ScopeRead)
	names, own := read(ann)
	require.Equal(t, []string{"start", "greet", "secret"}, names)
	require.Len(t, w.install(own["start"]), 3)
	w.install(own["secret"])
	_, bob := w.token("bob", auth.ScopeRead)
	names, _ = read(bob)
	require.Equal(t, []string{"start", "greet"}, names)
	path, _, _ := strings.Cut(own["start"].Source.URL, "?")
	w.refused(w.get("", path), http.StatusNotFound, "PACKAGE_CHANGED")
	w.refused(w.get(bob, path), http.StatusNotFound, "PACKAGE_CHANGED")
	w.refused(w.get("", strings.Replace(own["start"].Source.URL, path, strings.Replace(path, "start", "other", 1), 1)),
		http.StatusUnauthorized, "UNAUTHENTICATED")

	// a change of a skill is a new version of the plugin, and one that is withdrawn leaves it at once
	w.edit(greet.ID, func(d *prompt.Draft) { d.Text = "Hello again." })
	w.refused(w.get("", all["start"].Source.URL), http.StatusNotFound, "PACKAGE_CHANGED")
	_, now := read("")
	require.NotEqual(t, all["start"].Version, now["start"].Version)
	w.edit(greet.ID, func(d *prompt.Draft) { d.Visibility = prompt.Private })
	names, _ = read("")
	require.Empty(t, names)

	// a private one is for its owner, and a large one has no package of its own
	_, err = w.hub.EditCollection(t.Context(), user("ann"), "ann", "start", library.Match{Any: true},
		func(d *prompt.CollectionDraft) {
			d.Visibility = prompt.Private
			for i := range 3 {
				f := library.SentFile{Path: "a.bin", Bytes: []byte(strings.Repeat("\x00", 3<<20) + fmt.Sprint(i))}
				large, err := library.WithFiles(
					prompt.Draft{
						Name: fmt.Sprint("large-", i), Title: "Large", Text: "Large.",
						Visibility: prompt.Private,
					}, []library.SentFile{f}, nil)
				require.NoError(t, err)
				d.Prompts = append(d.Prompts, w.write(user("ann"), large).ID)
			}
		})
	require.NoError(t, err)
	w.refused(w.get("", shelf), http.StatusNotFound, "NOT_FOUND")
	w.refused(w.get(bob, shelf), http.StatusNotFound, "NOT_FOUND")
	names, _ = read(ann)
	require.Equal(t, []string{"greet", "secret", "large-0", "large-1", "large-2"}, names)
	w.refused(w.get("", own["start"].Source.URL), http.StatusNotFound, "NOT_FOUND")
}

// TestRecalledPackage: the catalogue goes back, and the package of the version that was recalled
// says why it is gone.
func TestRecalledPackage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prompt.Rules{}, true)
	greet := w.public("greet", "Hello.")
	before := w.catalogue("", "/u/ann").Plugins[0]
	w.edit(greet.ID, func(d *prompt.Draft) { d.Text = "Bad." })
	bad := w.catalogue("", "/u/ann").Plugins[0]
	w.install(bad)
	require.NoError(t, w.hub.Recall(t.Context(), user("ann"), greet.ID, 2, "It insults people"))
	now := w.catalogue("", "/u/ann").Plugins[0]
	require.Equal(t, before, now)
	w.install(now)
	gone := w.get("", bad.Source.URL)
	w.refused(gone, http.StatusGone, "VERSION_RECALLED")
	require.Contains(t, gone.Body.String(), "It insults people")
	require.NoError(t, w.hub.Recall(t.Context(), user("ann"), greet.ID, 1, "This one too"))
	require.Empty(t, w.catalogue("", "/u/ann").Plugins)
}

// TestSignInToRead: where anonymous callers read nothing, a catalogue of public skills needs a
// token, and the packages are at addresses that it has signed.
func TestSignInToRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prompt.Rules{}, false)
	w.public("greet", "Hello.")
	w.refused(w.get("", "/marketplace/u/ann/marketplace.json"), http.StatusUnauthorized, "UNAUTHENTICATED")
	_, bob := w.token("bob", auth.ScopeRead)
	p := w.catalogue(bob, "/u/ann").Plugins[0]
	w.install(p)
	path, _, _ := strings.Cut(p.Source.URL, "?")
	w.refused(w.get("", path), http.StatusUnauthorized, "UNAUTHENTICATED")
}

// TestLibraryPlugin: the plugin of the library is at one address for everybody, and names the
// endpoint of its shelf.
func TestLibraryPlugin(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prompt.Rules{}, true)
	w.public("greet", "Hello.")
	_, ann := w.token("ann", auth.ScopeRead)
	for shelf, endpoint := range map[string]string{"/u/ann": "/mcp/u/ann\"", "/me": "/mcp\""} {
		var c catalogue
		decode(t, w.get(ann, marketplace.Prefix+shelf+"/marketplace.json"), &c)
		files := w.install(c.Plugins[len(c.Plugins)-1])
		require.Contains(t, files["mcp.json"], origin+endpoint)
		require.Equal(t, files["mcp.json"], files[".mcp.json"])
		require.Equal(t, shelf == "/me", strings.Contains(files["mcp.json"], "Bearer ${PROMPTHUB_TOKEN}"))
	}
	w.public("library", "A prompt of this name is the one that an author means.")
	var c catalogue
	decode(t, w.get("", "/marketplace/u/ann/marketplace.json"), &c)
	require.Len(t, c.Plugins, 2)
}

// TestMemory: sixteen callers of the largest catalogue, and of the largest package, hold no more
// memory than they may.
func TestMemory(t *testing.T) { // alone: others would be measured, too
	if testing.Short() {
		t.Skip("makes many of the largest prompts")
	}
	w := newWorld(t, prompt.Rules{MaxText: prompt.LimitMaxText}, true)
	w.public("greet", "Hello.")
	var last library.View
	var twenty []prompt.ID
	for i := range 600 {
		d := prompt.Draft{
			Name: fmt.Sprintf(
				"prompt-%04d",
				i,
			), Title: strings.Repeat("字", prompt.MaxTitle), Description: strings.Repeat("字", prompt.MaxDescription),
			Text: fmt.Sprintf("number%d ", i) + strings.Repeat("ж", 2000), Visibility: prompt.Public,
		}
		if i == 599 {
			d.Text += strings.Repeat("ж", prompt.LimitMaxText-3000)
		}
		if last = w.write(user("ann"), d); len(twenty) < prompt.MaxInCollection {
			twenty = append(twenty, last.ID)
		}
	}
	_, token := w.token("ann", auth.ScopeRead)
	p := w.catalogue("", "/u/ann").Plugins
	require.LessOrEqual(t, len(p), 500)
	require.Equal(t, last.Slug, p[0].Name)
	path := strings.Split(strings.TrimPrefix(p[0].Source.URL, origin+"/marketplace/packages/"), "/")
	_, err := w.hub.CreateCollection(t.Context(), user("ann"), user("ann"), "many", prompt.CollectionDraft{
		Name: "Many", Visibility: prompt.Public, Prompts: twenty,
	})
	require.NoError(t, err)
	var many catalogue
	decode(t, w.get(token, "/marketplace/c/ann/many/marketplace.json"), &many)
	whole, _, _ := strings.Cut(strings.TrimPrefix(many.Plugins[0].Source.URL, origin+"/marketplace/c/ann/many/"), "?")
	values := map[string][]string{
		"handle":     {"ann"},
		"workspace":  {"team-a"},
		"id":         {path[0]},
		"version":    {path[1]},
		"collection": {"many"}, "package": {path[2], whole},
	}
	_, err = w.hub.CreateWorkspace(t.Context(), user("ann"), prompt.Profile{Handle: "team-a"})
	require.NoError(t, err)
	heap.CheckPages(t, marketplace.Patterns(), values, nil, func(page string) (status int, answer string) {
		a := w.get(token, page)
		return a.Code, a.Body.String()
	})
}
