package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/doors/api"
)

const collections = "/api/v1/collections"

func (a answer) collection() (c api.Collection) {
	a.into(&c)
	return c
}

func TestCollections(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, bob := w.as("ann"), w.as("bob")
	ann.do(http.MethodPut, "/api/v1/me/profile", `{"handle":"ann-lee","name":"Ann"}`).is(200)
	public := ann.create("Public").ID
	private := ann.do(http.MethodPost, prompts, `{"title":"Private","text":"x","description":"Does it."}`).is(
		201).prompt().ID
	a := ann.do(http.MethodPost, collections,
		fmt.Sprintf(`{"slug":"support","about":"For us","visibility":"public","items":[%q,%q]}`, private,
			strings.ToLower(public))).is(201)
	require.Equal(t, collections+"/ann-lee/support", a.header.Get("Location"))
	require.Regexp(t, `^"1-[0-9a-f]{16}"$`, a.header.Get("ETag"))
	c := a.collection()
	require.Equal(t, "support", c.Name)
	require.Equal(t, []string{private, public}, []string{c.Items[0].ID, c.Items[1].ID})
	require.Equal(t, "Does it.", c.Items[0].Description)
	require.Equal(t, len("- support:private: Does it."), c.Items[0].Characters)
	require.Equal(t, c.Items[0].Characters+1+c.Items[1].Characters, c.Budget.Characters)
	require.Equal(t, 8000, c.Budget.Limit)

	at := collections + "/ann-lee/support"
	seen := bob.get(at).is(200)
	require.Len(t, seen.collection().Items, 1)
	require.NotContains(t, seen.body, private)
	require.NotEqual(t, seen.header.Get("ETag"), ann.get(at).is(200).header.Get("ETag"))
	bob.do(http.MethodGet, at, "", "If-None-Match", seen.header.Get("ETag")).is(304)

	change := func(who person, tag, body string) answer {
		return who.do(http.MethodPatch, at, body, "If-Match", tag, "Content-Type", "application/merge-patch+json")
	}
	ann.do(http.MethodPatch, at, `{}`, "Content-Type", "application/merge-patch+json").problem(428)
	bob.do(http.MethodPatch, at, `{}`, "Content-Type", "application/merge-patch+json").problem(403)
	change(bob, "*", `{"name":"x"}`).problem(403)
	b := change(ann, a.header.Get("ETag"), `{"name":"Support","items":[`+fmt.Sprintf("%q", public)+`]}`).is(200)
	require.EqualValues(t, 2, b.collection().Version)
	require.EqualValues(t, 2, change(ann, b.header.Get("ETag"), `{"name":"Support"}`).is(200).collection().Version,
		"nothing changed")
	require.Empty(t, change(ann, "*", `{"items":null}`).is(200).collection().Items)
	change(ann, `"7"`, `{"name":"Other"}`).problem(412)
	ann.do(http.MethodDelete, at, "", "If-Match", `"1"`).problem(412)

	for body, code := range map[string]string{
		`{"items":["nonsense"]}`: "UNKNOWN_PROMPT",
		`{"items":[` + strings.TrimSuffix(strings.Repeat(`"`+public+`",`, 21), ",") + `]}`: "TOO_MANY_SKILLS",
		`{"name":"` + strings.Repeat("x", 101) + `"}`:                                      "",
		`{"about":"\u200b"}`:    "NOTHING_VISIBLE",
		`{"about":"\u202eabc"}`: "INVISIBLE_CHARACTERS",
		`{"slug":"other"}`:      "",
		`{"visibility":"x"}`:    "",
	} {
		a := change(ann, "*", body)
		a.problem(422)
		require.Contains(t, a.body, code, body)
	}
	a = ann.do(http.MethodPost, collections, `{"slug":"support"}`)
	a.problem(409)
	require.Contains(t, a.body, "NAME_TAKEN")
	for _, slug := range []string{"", "A", "a--b", strings.Repeat("a", 65), "a/b"} {
		ann.do(http.MethodPost, collections, fmt.Sprintf(`{"slug":%q}`, slug)).problem(422)
	}
	ann.do(http.MethodPost, collections, `{"slug":"x","workspace":"no-such"}`).problem(404)

	ann.do(http.MethodPost, collections, `{"slug":"mine"}`).is(201)
	slugs := func(who person, query string) (slugs []string) {
		var list api.CollectionList
		who.get(collections + query).is(200).into(&list)
		for _, c := range list.Items {
			slugs = append(slugs, c.Slug)
		}
		return slugs
	}
	require.Equal(t, []string{"mine", "support"}, slugs(ann, ""))
	require.Equal(t, []string{"support"}, slugs(bob, "?owner=ann-lee"))
	require.Empty(t, slugs(bob, "?owner=me"))
	bob.get(collections + "?owner=no-such").problem(404)
	unknown := bob.get(collections + "/ann-lee/none").problem(404)
	for _, path := range []string{"/ann-lee/mine", "/no-such/mine", "/ann-lee/MINE"} {
		require.Equal(t, unknown.Detail, bob.get(collections+path).problem(404).Detail)
	}
	for range 2 {
		ann.do(http.MethodDelete, at, "").is(204)
	}
	bob.get(at).problem(404)
}

// TestCollectionsByWhom: every operation on collections of a workspace, by members of each role and
// with tokens: each does as much as its rights allow.
func TestCollectionsByWhom(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withTokens)
	staffed(t, w, "billing")
	ann := w.as("ann")
	for _, a := range actors(t, w, "billing") {
		for _, v := range []string{"private", "public"} {
			at := collections + "/billing/" + v
			write := []string{auth.ScopeWrite}
			if v == "public" {
				write = append(write, auth.ScopePublish)
			}
			expect := func(done, outside int, needed []string, method, path, body string) {
				t.Helper()
				want := done
				if a.rights == nil {
					want = outside
				} else if slices.ContainsFunc(needed, func(s string) bool { return !slices.Contains(a.rights, s) }) {
					want = 403
				}
				header := append([]string{"If-Match", "*", "Content-Type", "application/json"}, a.header...)
				got := w.as("").do(method, path, body, header...)
				require.Equal(t, want, got.status, "%s %s by %s: %s", method, path, a.name, got.body)
			}
			read, others := 404, 404 // of an outsider
			if v == "public" {
				read, others = 200, 403
			}
			publish := []string{auth.ScopeWrite, auth.ScopePublish}
			made := fmt.Sprintf(`{"slug":%q,"workspace":"billing","visibility":%q}`, v, v)
			ann.do(http.MethodPost, collections, made).is(201)
			expect(200, read, nil, http.MethodGet, at, "")
			expect(200, others, write, http.MethodPatch, at, `{"about":"x"}`)
			expect(200, others, publish, http.MethodPatch, at, `{"visibility":"public","name":"x"}`)
			ann.do(http.MethodDelete, at, "").is(204)
			ann.do(http.MethodPost, collections, made).is(201)
			expect(204, others, publish, http.MethodDelete, at, "")
			ann.do(http.MethodDelete, at, "").is(204)
			expect(201, 404, write, http.MethodPost, collections, made)
			ann.do(http.MethodDelete, at, "").is(204)
		}
	}
}

// TestCollectionsWithoutRead: a token that writes and does not read is told of a change alone.
func TestCollectionsWithoutRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withTokens)
	token := []string{"Authorization", "Bearer " + w.as("ann").token("write").Secret}
	a := w.as("").do(http.MethodPost, collections, `{"slug":"support","about":"secret"}`, token...).is(201)
	require.JSONEq(t, `{"id":"support","revision":1}`, a.body)
	require.Equal(t, `"1"`, a.header.Get("ETag"))
	a = w.as("").do(http.MethodPatch, collections+"/me/support", `{"name":"x"}`,
		append(token, "If-Match", `"1"`, "Content-Type", "application/merge-patch+json")...).is(200)
	require.JSONEq(t, `{"id":"support","revision":2}`, a.body)
	w.as("").do(http.MethodPatch, collections+"/me/support", `{"visibility":"public"}`,
		append(token, "If-Match", "*", "Content-Type", "application/merge-patch+json")...).problem(403)
	w.as("").do(http.MethodDelete, collections+"/me/support", "", token...).problem(403)
	w.as("").do(http.MethodGet, collections+"/me/support", "", token...).problem(403)
}

// TestCharactersInLists: lists tell on request what each skill takes, in the version for programs.
func TestCharactersInLists(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("ann")
	p := ann.do(http.MethodPost, prompts,
		`{"title":"Greet","text":"x","description":"Says hello.","visibility":"public","labels":["production"]}`).is(
		201).prompt()
	ann.do(http.MethodPatch, prompts+"/"+p.ID, `{"description":"Says a long hello."}`, "If-Match", "*", "Content-Type",
		"application/merge-patch+json").is(200)
	ann.do(http.MethodPost, prompts, `{"title":"Whole","text":"@@@langfusePrompt:name=greet|label=latest@@@"}`).is(201)
	characters := map[string]int{}
	for _, p := range ann.get("/api/v1/me/prompts?fields=skill&limit=100").is(200).list().Items {
		characters[p.Slug] = p.Characters
	}
	require.Equal(t, map[string]int{"greet": len("- greet:greet: Says hello."), "whole": 0}, characters)
	require.NotContains(t, ann.get("/api/v1/me/prompts").body, "characters")
}

// TestWhatACollectionDoesNotShow: a change of the skills that its owner sees leaves those that are
// withdrawn for now, of which the owner is told, until they are removed by their ids.
func TestWhatACollectionDoesNotShow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, bob := w.as("ann"), w.as("bob")
	one, hers, two := ann.create("One").ID, bob.create("Hers").ID, ann.create("Two").ID
	at := collections + "/me/all"
	handle := ann.do(http.MethodPost, collections,
		fmt.Sprintf(`{"slug":"all","visibility":"public","items":[%q,%q,%q]}`, one, hers, two)).is(
		201).header.Get("Location")
	patch := func(who person, path, body string) answer {
		return who.do(http.MethodPatch, path, body, "If-Match", "*", "Content-Type",
			"application/merge-patch+json").is(200)
	}
	hide := func(to string) { patch(bob, prompts+"/"+hers, `{"visibility":"`+to+`"}`) }
	has := func(items, notShown []string) {
		t.Helper()
		c := ann.get(at).is(200).collection()
		var shown []string
		for _, item := range c.Items {
			shown = append(shown, item.ID)
		}
		require.Equal(t, [][]string{items, notShown}, [][]string{shown, c.NotShown})
	}
	has([]string{one, hers, two}, nil)
	hide("private")
	has([]string{one, two}, []string{hers})
	require.NotContains(t, w.as("carl").get(handle).is(200).body, "notShown")
	patch(ann, at, fmt.Sprintf(`{"items":[%q,%q]}`, two, one))
	has([]string{two, one}, []string{hers})
	hide("public")
	has([]string{two, hers, one}, nil)
	hide("private")
	patch(ann, at, fmt.Sprintf(`{"items":[%q],"notShown":[%q]}`, one, hers))
	patch(ann, at, `{"about":"For all"}`)
	has([]string{one}, []string{hers})
	patch(ann, at, `{"notShown":null}`)
	hide("public")
	has([]string{one}, nil)
}
