package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/doors/langfuse"
	"prompthub/internal/prompthub/doors/langsmith"
	"prompthub/internal/prompthub/prompt"
)

// A request is one kind of request or job, and what it may cost. Most of them are answered by an
// instance that has been at work for a while: it has read the tag catalog and knows who wrote the
// prompt.
type request struct {
	name  string
	cold  bool          // by an instance that has just started
	again bool          // the same request was made a moment ago
	token bool          // with an access token
	setup func(*lab)    // before, not counted
	pause time.Duration // since the instance was made ready

	call   call // with {id} and {cursor} in its path
	unmet  bool // by a user who has not asked this instance for anything
	status int  // of its answer; 0: any success
	// or the function that a trigger runs, for the vote of a stranger where it is about one
	job string

	steps          int   // calls one after another until the answer
	tables, queues int64 // calls, with those that need not end before the answer
	behind         int64 // the latter
	budget         *budget
}

// A budget is what the design allows.
type budget struct {
	steps int
	calls int64
}

// make makes the request, and returns how long the answer is.
func (r request) make(l *lab) int {
	l.t.Helper()
	if r.job != "" {
		l.run(r.job, l.message("stranger 0"))
		return 0
	}
	c := r.call
	c.path, c.body = l.path(c.path), l.path(c.body)
	if r.token {
		c.header = http.Header{"Authorization": {"Bearer " + l.token.Secret}}
	}
	w := serve(l.t, l.doors, c)
	if r.status == 0 {
		require.Equal(l.t, 2, w.Code/100, "%s %s: %s", c.method, c.path, w.Body)
	} else {
		require.Equal(l.t, r.status, w.Code, "%s %s: %s", c.method, c.path, w.Body)
	}
	return w.Body.Len()
}

func requests() []request {
	return slices.Concat(reads(), lists(), votes(), changes(), moderation(), pages(), assistants(),
		langfuses(), langsmiths(), jobs())
}

func get(path, user string) call { return call{method: http.MethodGet, path: path, user: user} }

func put(path, user, body string) call {
	return call{method: http.MethodPut, path: path, user: user, body: body}
}

func by(role string, c call) call {
	c.header = http.Header{"X-Dev-Roles": {role}}
	return c
}

func reads() []request {
	return []request{
		{name: "get, author known", call: get("/prompts/{id}", "Vera"), steps: 1, tables: 4, budget: &budget{1, 4}},
		{
			name: "get, author not known", cold: true, call: get("/prompts/{id}", "Vera"), steps: 2,
			tables: 4, budget: &budget{2, 5},
		},
		{
			name: "get without identity, author known", call: get("/prompts/{id}", ""), steps: 1,
			tables: 3, budget: &budget{1, 4},
		},
		{
			name: "rank, author known", call: get("/prompts/{id}/rank", "Vera"), steps: 1,
			tables: 4, budget: &budget{1, 4},
		},
		{
			name: "get an unknown id", status: http.StatusNotFound,
			call: get("/prompts/01BX5ZZKBKACTAV9WEVGEMMVRZ", "Vera"), steps: 2, tables: 4,
		},
		{
			name: "text, author known", call: get("/prompts/{id}/text", "Vera"), steps: 1,
			tables: 4, budget: &budget{1, 4},
		},
		{
			name: "export, author known", call: get("/prompts/{id}/export?format=skill", "Vera"), steps: 2,
			tables: 5, budget: &budget{2, 5},
		},
		{
			name: "files of a text, author known", call: get("/prompts/{id}/files", "Vera"), steps: 1,
			tables: 4, budget: &budget{2, 4},
		},
		{
			name: "files, author known", setup: filed, call: get("/prompts/{id}/files", "Vera"), steps: 1,
			tables: 4, budget: &budget{2, 4},
		},
		{
			name: "a file, author known", setup: filed, call: get("/prompts/{id}/files/content?path=a.txt", "Vera"),
			steps: 2, tables: 5, budget: &budget{3, 5},
		},
		{
			name: "an archive of three files, author known", setup: filed, call: get("/prompts/{id}/archive", "Vera"),
			steps: 2, tables: 7, budget: &budget{3, 7},
		},
		{
			name:  "render, author known",
			call:  call{method: http.MethodPost, path: "/prompts/{id}/render", user: "Vera", body: `{"values":{}}`},
			steps: 1, tables: 4, budget: &budget{1, 4},
		},
		{
			name: "suggestions, by an instance that knows none",
			call: call{
				method: http.MethodPost, path: "/suggestions", user: "Vera",
				body: `{"title":"Poetry","text":"Write a poem."}`,
			}, steps: 1, tables: 5,
		},
		{
			name: "get a version, author known", call: get("/prompts/{id}?version=1", "Vera"), steps: 1,
			tables: 4, budget: &budget{2, 4},
		},
		{
			name: "get by label, author known", call: get("/prompts/{id}?label=latest", "Vera"), steps: 1,
			tables: 4, budget: &budget{2, 5},
		},
		{
			name: "get mine by name and label", setup: labelled,
			call: get("/users/me/prompts/write-better-short-mystery-novels?label=production", ann), steps: 2,
			tables: 6, budget: &budget{2, 6},
		},
		{
			name: "versions, author known", call: get("/prompts/{id}/versions", "Vera"), steps: 1,
			tables: 3, budget: &budget{1, 3},
		},
		{name: "one of the versions, author known", call: get("/prompts/{id}/versions/1", "Vera"), steps: 2, tables: 5},
		{
			name: "diff, author known", setup: labelled, call: get("/prompts/{id}/versions/1/diff/2", ann), steps: 1,
			tables: 3, budget: &budget{2, 3},
		},
		{
			name: "recall the version in production", setup: labelledTwice,
			call: call{
				method: http.MethodPost, path: "/prompts/{id}/versions/2/recall", user: ann,
				body: `{"reason":"because"}`,
			}, steps: 6, tables: 31, queues: 2, behind: 1,
		},
		{
			name: "take a recall back", setup: recalled,
			call: call{method: http.MethodDelete, path: "/prompts/{id}/versions/2/recall", user: ann}, steps: 5,
			tables: 30, queues: 2, behind: 1,
		},
		{name: "what programs fetched", call: get("/prompts/{id}/fetches", ann), steps: 2, tables: 5},
		{
			name: "labels, author known", call: get("/prompts/{id}/labels", "Vera"), steps: 1,
			tables: 2, budget: &budget{1, 2},
		},
		{
			name: "history of a label", setup: labelled, call: get("/prompts/{id}/labels/production/history", ann),
			steps: 2, tables: 2,
		},
		{
			name: "who includes a prompt of mine", setup: included, call: get("/prompts/{id}/used-by", ann), steps: 3,
			tables: 5,
		},
		{
			name: "text with another that it includes, author known", setup: including,
			call: get("/prompts/{id}/text", "Vera"), steps: 3, tables: 7,
		},
		{
			name: "what a fork comes from, author known", setup: forked, call: get("/prompts/{id}/upstream", "Vera"),
			steps: 4, tables: 11,
		},
		{
			name: "get mine by name", call: get("/users/me/prompts/write-better-short-mystery-novels", ann), steps: 2,
			tables: 5, budget: &budget{2, 5},
		},
		{name: "make a favorite", call: put("/prompts/{id}/favorite", "Vera", ""), steps: 2, tables: 4},
		{
			name: "take a favorite back", setup: favored,
			call: call{method: http.MethodDelete, path: "/prompts/{id}/favorite", user: "Vera"}, steps: 1, tables: 1,
		},
		{name: "get my vote", call: get("/prompts/{id}/vote", "Vera"), steps: 1, tables: 2},
		{name: "tags, once in ten seconds", cold: true, call: get("/tags", "Vera"), steps: 1, tables: 2},
		{name: "tags", call: get("/tags", "Vera")},
		{name: "me, once a minute", call: get("/me", "Vera"), steps: 1, tables: 8, behind: 1},
		{
			name: "me, by a user whom the instance meets", unmet: true, call: get("/me", "Vera"),
			steps: 2, tables: 9, behind: 1,
		},
		{name: "me", again: true, call: get("/me", "Vera")},
		{
			name: "me, by an access token", token: true, setup: (*lab).makeToken, call: get("/me", ""),
			steps: 1, tables: 3, behind: 1,
		},
		{
			name: "me, by an access token, used a moment ago", token: true, again: true,
			setup: (*lab).makeToken, call: get("/me", ""),
		},
		{name: "my access tokens", setup: (*lab).makeToken, call: get("/me/tokens", ann), steps: 1, tables: 1},
		{
			name: "make an access token",
			call: call{
				method: http.MethodPost, path: "/me/tokens", user: ann,
				body: `{"name":"CI","scopes":["read"]}`,
			},
			steps: 3, tables: 3,
		},
		{
			name: "revoke an access token", setup: (*lab).makeToken,
			call: call{method: http.MethodDelete, path: "/me/tokens/{token}", user: ann}, steps: 3, tables: 3,
		},
		{
			name: "make an invitation", setup: (*lab).makeShelf,
			call: call{
				method: http.MethodPost, path: "/invites", user: ann,
				body: `{"workspaces":[{"handle":"shelf","role":"reader"}]}`,
			}, steps: 11, tables: 11,
		},
		{name: "my invitations", setup: (*lab).makeInvite, call: get("/invites", ann), steps: 4, tables: 4},
		{
			name: "withdraw an invitation", setup: (*lab).makeInvite,
			call: call{method: http.MethodDelete, path: "/invites/{invite}", user: ann}, steps: 4, tables: 4,
		},
		{
			name: "accept an invitation", setup: (*lab).makeInvite,
			call:  call{method: http.MethodPost, path: "/invites/accept", user: "Vera", body: `{"secret":"{secret}"}`},
			steps: 13, tables: 18, behind: 1,
		},
		{
			name: "make an account by an invitation", setup: (*lab).makeAdminInvite,
			call: call{
				method: http.MethodPost, path: "/invites/accept",
				body: `{"secret":"{secret}","handle":"carl","password":"` + aPassword + `"}`,
			}, steps: 21, tables: 21,
		},
		{
			name: "sign in with a password", setup: (*lab).makeAccount,
			call: call{
				method: http.MethodPost, path: "/session",
				body: `{"name":"chief","password":"` + aPassword + `"}`,
			}, steps: 4, tables: 4,
		},
		{name: "sign out", call: call{method: http.MethodDelete, path: "/session", user: ann}},
		{
			name: "make a link to set a new password", setup: (*lab).makeAccount,
			call:  by("admin", call{method: http.MethodPost, path: "/resets", user: ann, body: `{"name":"chief"}`}),
			steps: 3, tables: 3,
		},
		{
			name: "set a new password", setup: (*lab).makeReset,
			call: call{
				method: http.MethodPost, path: "/resets/accept",
				body: `{"secret":"{secret}","password":"` + aPassword + ` 2"}`,
			}, steps: 6, tables: 7,
		},
		{
			name: "change one's password", setup: (*lab).makeSession, token: true,
			call: call{
				method: http.MethodPut, path: "/me/password",
				body: `{"current":"` + aPassword + `","password":"` + aPassword + ` 2"}`,
			},
			steps: 10, tables: 13, behind: 1,
		},
		{
			name: "sign in a command line", setup: (*lab).allowLogin,
			call: call{method: http.MethodPost, path: "/logins", body: `{"code":"{secret}","secret":"x"}`}, steps: 6,
			tables: 6,
		},
		{
			name: "make a collection of one",
			call: call{
				method: http.MethodPost, path: "/collections", user: ann,
				body: `{"slug":"support","items":["{id}"]}`,
			}, steps: 5, tables: 10,
		},
		{name: "my collections", setup: collected, call: get("/collections", ann), steps: 2, tables: 2},
		{name: "a collection of one", setup: collected, call: get("/collections/me/support", ann), steps: 3, tables: 6},
		{
			name: "a public collection of one, anonymous", setup: collected,
			call: get("/collections/anna/support", ""), steps: 4, tables: 6,
		},
		{
			name: "change the skills of a collection", setup: collected,
			call: edit("/collections/me/support", ann, "*", `{"items":[]}`), steps: 7, tables: 10,
		},
		{
			name: "delete a collection", setup: collected,
			call: call{method: http.MethodDelete, path: "/collections/me/support", user: ann}, steps: 3, tables: 3,
		},
		{name: "make a workspace", call: call{
			method: http.MethodPost, path: "/workspaces", user: ann,
			body: `{"handle":"another"}`,
		}, steps: 9, tables: 9},
		{name: "my workspaces", setup: (*lab).makeShelf, call: get("/workspaces", ann), steps: 3, tables: 3},
		{
			name: "a workspace of mine", setup: (*lab).makeShelf, call: get("/workspaces/shelf", ann), steps: 2,
			tables: 2,
		},
		{
			name: "rename a workspace", setup: (*lab).makeShelf,
			call: edit("/workspaces/shelf", ann, "*", `{"name":"Shelf"}`), steps: 4, tables: 4,
		},
		{
			name: "prompts of a workspace", setup: (*lab).makeShelf,
			call: get("/workspaces/shelf/prompts", ann), steps: 3,
			tables: 3,
		},
		{
			name: "copy a prompt into a workspace", setup: (*lab).makeShelf,
			call: call{
				method: http.MethodPost, path: "/workspaces/shelf/copies",
				user: ann, body: `{"prompt":"{id}"}`,
			},
			steps: 11, tables: 21, queues: 2, behind: 1,
		},
		{
			name: "members of a workspace", setup: (*lab).makeShelf,
			call: get("/workspaces/shelf/members", ann), steps: 4,
			tables: 4,
		},
		{
			name: "make a member", setup: (*lab).makeShelf,
			call: put("/workspaces/shelf/members/role/cooks", ann, `{"role":"reader"}`), steps: 5, tables: 5,
		},
		{
			name: "end a membership", setup: (*lab).makeShelf,
			call: call{method: http.MethodDelete, path: "/workspaces/shelf/members/role/readers", user: ann}, steps: 5,
			tables: 5,
		},
		{
			name: "access tokens of a workspace", setup: (*lab).makeShelf,
			call: get("/workspaces/shelf/tokens", ann), steps: 3, tables: 3,
		},
		{
			name: "make an access token of a workspace", setup: (*lab).makeShelf,
			call: call{
				method: http.MethodPost, path: "/workspaces/shelf/tokens", user: ann,
				body: `{"name":"CI","scopes":["read"]}`,
			}, steps: 6, tables: 6,
		},
		{
			name: "revoke an access token of a workspace", setup: (*lab).makeShelf,
			call: call{method: http.MethodDelete, path: "/workspaces/shelf/tokens/{token}", user: ann}, steps: 6,
			tables: 6,
		},
		{
			name: "set rules", setup: (*lab).makeShelf,
			call: call{
				method: http.MethodPut, path: "/workspaces/shelf/rules", user: ann,
				header: http.Header{"If-Match": {"*"}}, body: `{"rules":[{"label":"production","approvals":1}]}`,
			},
			steps: 4, tables: 4,
		},
		{
			name: "events of a workspace", setup: (*lab).makeShelf,
			call: get("/workspaces/shelf/events", ann), steps: 3,
			tables: 3,
		},
		{
			name: "open proposals of a workspace", setup: (*lab).makeProposal,
			call: get("/workspaces/shelf/proposals", ann), steps: 5, tables: 7,
		},
		{
			name: "proposals of a prompt", setup: (*lab).makeProposal,
			call: get("/prompts/{id}/proposals", ann), steps: 4,
			tables: 6,
		},
		{
			name: "a proposal", setup: (*lab).makeProposal, call: get("/prompts/{id}/proposals/1", ann), steps: 3,
			tables: 7,
		},
		{
			name: "propose a version", setup: (*lab).makeRuled,
			call: call{
				method: http.MethodPost, path: "/prompts/{id}/proposals", user: ann,
				body: `{"label":"production","version":1}`,
			}, steps: 6, tables: 14, queues: 2, behind: 1,
		},
		{
			name: "propose another version", setup: (*lab).makeProposal,
			call: put("/prompts/{id}/proposals/1", ann, `{"version":1}`), steps: 7, tables: 15, queues: 2, behind: 1,
		},
		{
			name: "comment on a proposal", setup: (*lab).makeProposal,
			call: call{
				method: http.MethodPost, path: "/prompts/{id}/proposals/1/reviews", user: ann,
				body: `{"verdict":"comment","text":"So."}`,
			}, steps: 6, tables: 13, queues: 2, behind: 1,
		},
		{
			name: "reject a proposal", setup: (*lab).makeProposal,
			call: call{method: http.MethodDelete, path: "/prompts/{id}/proposals/1", user: ann}, steps: 6,
			tables: 13, queues: 2, behind: 1,
		},
		{
			name: "delete a workspace", setup: (*lab).makeShelf,
			call: call{method: http.MethodDelete, path: "/workspaces/shelf", user: ann}, steps: 9, tables: 9,
		},
		{
			name: "restore a workspace", setup: (*lab).deleteShelf,
			call: call{method: http.MethodPost, path: "/workspaces/shelf/restore", user: ann}, steps: 7, tables: 7,
		},
		{
			name: "get a prompt of a workspace", setup: (*lab).promptOfShelf,
			call: get("/prompts/{id}", ann), steps: 2, tables: 6,
		},
		{
			name: "get a prompt of a workspace, read a moment ago", setup: (*lab).promptOfShelf, again: true,
			call: get("/prompts/{id}", ann), steps: 1, tables: 5,
		},
		{
			name: "edit a prompt of a workspace", setup: (*lab).promptOfShelf,
			call: edit("/prompts/{id}", ann, "*", `{"text":"Changed."}`), steps: 5, tables: 12, queues: 2, behind: 1,
		},
		{name: "my profile", call: get("/me/profile", ann), steps: 2, tables: 2},
		{name: "ask to be erased", call: call{method: http.MethodDelete, path: "/me", user: ann}, steps: 3, tables: 3},
		{
			name: "ask to be erased, again", setup: toBeErased,
			call: call{method: http.MethodDelete, path: "/me", user: ann}, steps: 1, tables: 1,
		},
		{name: "export me, the first part", call: get("/me/export", ann), steps: 52, tables: 202},
		{name: "import of one", call: call{
			method: http.MethodPost, path: "/import?file=x.md", user: ann,
			body: "A text.",
		}, steps: 5, tables: 6, queues: 2, behind: 1},
		{
			name: "import of one, again", setup: importedOnce,
			call: call{method: http.MethodPost, path: "/import?file=x.md", user: ann, body: "A text."}, steps: 3,
			tables: 6,
		},
		{
			name: "keep my account", setup: toBeErased,
			call: call{method: http.MethodPost, path: "/me/restore", user: ann}, steps: 3, tables: 3,
		},
		{name: "choose a handle", call: put("/me/profile", ann, `{"handle":"ann-lee"}`), steps: 5, tables: 5},
		{name: "a user", setup: withHandle, call: get("/users/ann-lee", "Vera"), steps: 2, tables: 2},
		{
			name: "prompts of a user", setup: withHandle,
			call: get("/users/ann-lee/prompts?limit=20", "Vera"), steps: 3,
			tables: 3,
		},
		{
			name: "get another's by name", setup: withHandle,
			call: get("/users/ann-lee/prompts/write-better-short-mystery-novels", "Vera"), steps: 3, tables: 6,
		},
		{name: "health", call: get("/health", "")},
		{name: "ready", call: get("/ready", ""), steps: 1, tables: 1},
		{name: "the OpenAPI document", call: get("/openapi.json", "")},
		{name: "the page that shows it", call: get("/docs", "")},
		{name: "a file of that page", call: get("/docs/swagger-ui-bundle.js", "")},
	}
}

// labelledTwice has the label go on to the second version.
func labelledTwice(l *lab) {
	labelled(l)
	l.ask(put(l.path("/prompts/{id}/labels/production"), ann, `{"version":2}`), nil)
}

// recalled recalls that version.
func recalled(l *lab) {
	labelledTwice(l)
	l.ask(call{
		method: http.MethodPost, path: l.path("/prompts/{id}/versions/2/recall"), user: ann,
		body: `{"reason":"because"}`,
	}, nil)
}

// labelled gives the prompt a second version, and the first one a label.
func labelled(l *lab) {
	c := edit("/prompts/{id}", ann, "*", `{"text":"Another text."}`)
	c.path = l.path(c.path)
	l.ask(c, nil)
	l.ask(put(l.path("/prompts/{id}/labels/production"), ann, `{"version":1}`), nil)
	l.settle()
}

// threeFiles are a body with files; a SKILL.md is made for them.
const threeFiles = `{"files":[{"path":"a.txt","content":"one"},{"path":"b/c.txt","content":"two"}]}`

// filed gives the typical prompt files.
func filed(l *lab) {
	c := put("/prompts/{id}/files", ann, threeFiles)
	c.header = http.Header{"If-Match": {"*"}}
	c.path = l.path(c.path)
	l.ask(c, nil)
	l.settle()
}

// lsRefs asks for the refs of a repository.
func lsRefs(repository string) call {
	return call{
		method: http.MethodPost, path: repository + "/git-upload-pack", body: "0014command=ls-refs\n00010009peel\n0000",
		header: http.Header{"Content-Type": {"application/x-git-upload-pack-request"}},
	}
}

// packaged has the package of such a skill asked for.
func packaged(l *lab) {
	withHandle(l)
	filed(l)
	var catalogue struct {
		Plugins []struct{ Source struct{ URL string } }
	}
	l.ask(get("/marketplace/u/ann-lee/marketplace.json", ""), &catalogue)
	for _, p := range catalogue.Plugins {
		if _, path, _ := strings.Cut(p.Source.URL, "://"); strings.Contains(path, strings.ToLower(string(l.prompt))) {
			l.packed = path[strings.Index(path, "/packages/")+len("/packages/"):]
		}
	}
}

// including has a prompt asked for that includes the typical one.
func including(l *lab) {
	var made struct{ ID prompt.ID }
	l.ask(call{
		method: http.MethodPost, path: "/prompts", user: ann,
		body: `{"title":"Including","text":"@@@langfusePrompt:name=write-better-short-mystery-novels|version=1@@@","visibility":"public"}`,
	}, &made)
	l.prompt = made.ID
	l.settle()
}

// included has one that includes the typical one stand next to it.
func included(l *lab) {
	typical := l.prompt
	including(l)
	l.prompt = typical
}

// forked has a fork of the typical prompt asked for, which was changed since.
func forked(l *lab) {
	var made struct{ ID prompt.ID }
	l.ask(call{method: http.MethodPost, path: l.path("/prompts/{id}/fork"), user: "Vera"}, &made)
	labelled(l)
	l.prompt = made.ID
	l.settle()
}

// withHandle gives the author a handle.
func importedOnce(l *lab) {
	l.ask(call{method: http.MethodPost, path: "/import?file=x.md", user: ann, body: "A text."}, nil)
	l.settle()
}

// learned has the words of titles learned, and the counts of tags kept, long enough ago.
func learned(l *lab) {
	_, err := l.db.CountTags(l.t.Context())
	require.NoError(l.t, err)
	time.Sleep(time.Minute)
}

func toBeErased(l *lab) { l.ask(call{method: http.MethodDelete, path: "/me", user: ann}, nil) }

func withHandle(l *lab) { l.ask(put("/me/profile", ann, `{"handle":"ann-lee"}`), nil) }

func lists() []request {
	const (
		newest = "/prompts?limit=20"
		liked  = newest + "&sort=most-liked"
		text   = newest + "&tag=text"
		deeper = "&cursor={cursor}"
	)
	first := func(path string) func(*lab) { // reads the first page
		return func(l *lab) {
			var page struct{ NextCursor string }
			l.ask(get(path, "Vera"), &page)
			l.cursor = url.QueryEscape(page.NextCursor)
		}
	}
	page := budget{2, 2}
	return []request{
		{name: "list newest", call: get(newest, "Vera"), steps: 2, tables: 2, budget: &page},
		{
			name: "list newest, after a vote of a moment ago", setup: (*lab).voteOnce,
			call: get(newest, "Vera"), steps: 3, tables: 3,
		},
		{name: "list newest with texts", call: get(newest+"&fields=text", "Vera"), steps: 4, tables: 22},
		{
			name: "list newest, again within a second", again: true, call: get(newest, "Vera"),
			steps: 1, tables: 1, budget: &page,
		},
		{
			name: "list newest without identity, again within a second", again: true,
			call: get(newest, ""), budget: &budget{1, 1},
		},
		{
			name: "list newest, second page", setup: first(newest), call: get(newest+deeper, "Vera"),
			steps: 2, tables: 2, budget: &page,
		},
		{name: "list newest without identity", call: get(newest, ""), steps: 1, tables: 1, budget: &budget{1, 1}},
		{name: "list newest, once in a minute", cold: true, call: get(newest, ""), steps: 1, tables: 2},
		{
			name: "list newest, on the first day of a month", setup: nextMonth,
			call: get(newest, "Vera"), steps: 3, tables: 3,
		},
		{name: "list most liked", call: get(liked, "Vera"), steps: 2, tables: 2, budget: &page},
		{
			name: "list most liked, again within a second", again: true, call: get(liked, "Vera"),
			steps: 1, tables: 1, budget: &page,
		},
		{
			name: "list most liked, second page", setup: first(liked), call: get(liked+deeper, "Vera"),
			steps: 2, tables: 2, budget: &page,
		},
		{name: "one tag", call: get(text, "Vera"), steps: 2, tables: 2, budget: &page},
		{
			name: "one tag, again within a second", again: true, call: get(text, "Vera"),
			steps: 1, tables: 1, budget: &page,
		},
		{name: "one word of titles", call: get(newest+"&q=words&in=title", "Vera"), steps: 2, tables: 22},
		{
			name: "two tags and a word of titles, one of them scarce",
			call: get(newest+"&tag=text,legal&q=scarce&in=title", "Vera"), steps: 2, tables: 4,
		},
		{
			name: "one word, which titles have", call: get(newest+"&q=words", "Vera"), steps: 2,
			tables: 22, budget: &budget{3, 22},
		},
		{
			name: "one word, the first search", cold: true, call: get(newest+"&q=words", "Vera"),
			steps: 4, tables: 24, behind: 1,
		},
		{
			name: "one word, a second after another search", call: get(newest+"&q=words", "Vera"),
			pause: time.Second, steps: 3, tables: 23,
		},
		{name: "one word with another form", call: get(newest+"&q=word", "Vera"), steps: 2, tables: 22},
		{
			name: "three words, one with a slip, and one that nothing has",
			call: get(newest+"&q=numbr+words+zebra", "Vera"), steps: 2, tables: 22,
		},
		{
			name: "one word, newest first", call: get(newest+"&q=words&sort=newest", "Vera"), steps: 2,
			tables: 22, budget: &budget{3, 22},
		},
		{
			name: "one word, which texts have", call: get(newest+"&q=editor", "Vera"), steps: 2,
			tables: 22, budget: &budget{3, 22},
		},
		{
			name: "two tags and two words, one of them scarce",
			call: get(newest+"&tag=text,legal&q=scarce+editor", "Vera"), steps: 2, tables: 4,
		},
		{name: "one word, which texts have, by most liked", call: get(liked+"&q=editor", "Vera"), steps: 2, tables: 62},
		{name: "one word, of mine", call: get(newest+"&q=editor&scope=mine", ann), steps: 2, tables: 22},
		{name: "one word, of mine and public ones", call: get(newest+"&q=editor&scope=all", ann), steps: 3, tables: 23},
		{
			name: "one word, of mine and public ones, again within seconds", again: true,
			call: get(newest+"&q=editor&scope=all", ann), steps: 2, tables: 22,
		},
		{
			name: "one word, of everything, by a member of a workspace", setup: (*lab).makeShelf,
			call: get(newest+"&q=editor&scope=all", ann), steps: 5, tables: 25, behind: 1,
		},
		{name: "one tag by most liked", call: get(liked+"&tag=text", "Vera"), steps: 2, tables: 2},
		{name: "my prompts", call: get("/me/prompts?limit=20", ann), steps: 2, tables: 2, budget: &page},
		{
			name: "my prompt of a name", call: get("/me/prompts?name=write-better-short-mystery-novels", ann), steps: 3,
			tables: 3,
		},
		{name: "my prompts by title", call: get("/me/prompts?limit=20&sort=title", ann), steps: 2, tables: 2},
		{name: "my votes, 20", call: get("/me/votes?limit=20", "Vera"), steps: 2, tables: 22},
		{name: "my favorites, one", setup: favored, call: get("/me/favorites?limit=20", "Vera"), steps: 3, tables: 3},
	}
}

// nextMonth leaves the current month with one prompt.
func nextMonth(l *lab) {
	time.Sleep(31 * 24 * time.Hour)
	l.create("First of its month", `"text"`)
}

// favored has Vera keep the prompt.
// collected makes a public collection of the prompt.
func collected(l *lab) {
	l.ask(put("/me/profile", ann, `{"handle":"anna"}`), nil)
	l.ask(call{
		method: http.MethodPost, path: "/collections", user: ann,
		body: l.path(`{"slug":"support","visibility":"public","items":["{id}"]}`),
	}, nil)
	time.Sleep(10 * time.Second)
}

func favored(l *lab) { l.ask(put(l.path("/prompts/{id}/favorite"), "Vera", ""), nil) }

func votes() []request {
	vote := func(v string) call { return put("/prompts/{id}/vote", "Vera", `{"value":"`+v+`"}`) }
	liked := func(l *lab) { l.vote("Vera", prompt.Like) }
	back := call{method: http.MethodDelete, path: "/prompts/{id}/vote", user: "Vera"}
	return []request{
		{name: "vote", call: vote("like"), steps: 3, tables: 4, queues: 2, behind: 1, budget: &budget{3, 6}},
		{name: "vote, author not known", cold: true, call: vote("like"), steps: 3, tables: 4, queues: 2, behind: 1},
		{
			name: "vote otherwise", setup: liked, call: vote("dislike"), steps: 3, tables: 4, queues: 2,
			behind: 1, budget: &budget{3, 6},
		},
		{
			name: "take a vote back", setup: liked, call: vote("none"), steps: 3, tables: 4, queues: 2,
			behind: 1, budget: &budget{3, 6},
		},
		{
			name: "delete a vote", setup: liked, call: back, steps: 3, tables: 4, queues: 2,
			behind: 1, budget: &budget{3, 6},
		},
		{name: "the same vote again", setup: liked, call: vote("like"), steps: 1, tables: 2},
	}
}

// pages are those that people see most; package web holds the calls of others.
func pages() []request {
	form := func(path, user, body string) call {
		return call{method: http.MethodPost, path: path, user: user, body: body, header: http.Header{
			"Content-Type": {"application/x-www-form-urlencoded"}, "Sec-Fetch-Site": {"same-origin"},
		}}
	}
	written := url.Values{
		"title": {otherTitle}, "text": {"Another text."}, "tag": {"text", "writing", "education"},
		"visibility": {"public"},
	}.Encode()
	return []request{
		{name: "page: newest", call: get("/app", "Vera"), steps: 2, tables: 2},
		{name: "page: newest, without identity", call: get("/app", ""), steps: 1, tables: 1},
		{name: "page: most liked with a tag", call: get("/app?sort=most-liked&tag=text", "Vera"), steps: 2, tables: 2},
		{name: "page: search", call: get("/app?q=words", "Vera"), steps: 4, tables: 24, behind: 1},
		{name: "page: a prompt", call: get("/app/prompts/{id}", "Vera"), steps: 1, tables: 5},
		{name: "page: a fork of mine", setup: forked, call: get("/app/prompts/{id}", "Vera"), steps: 6, tables: 17},
		{name: "page: versions", call: get("/app/prompts/{id}/versions", "Vera"), steps: 1, tables: 3},
		{name: "page: a version", call: get("/app/prompts/{id}/versions/1", "Vera"), steps: 1, tables: 5},
		{name: "page: two versions", call: get("/app/prompts/{id}/compare?from=1&to=1", "Vera"), steps: 1, tables: 3},
		{name: "page: labels", call: get("/app/prompts/{id}/labels?label=production", "Vera"), steps: 3, tables: 6},
		{name: "page: an author", call: get("/app/u/{author}", "Vera"), steps: 5, tables: 8},
		{name: "page: my profile", call: get("/app/me", ann), steps: 2, tables: 3},
		{name: "page: my access tokens", call: get("/app/me/tokens", ann), steps: 1, tables: 1},
		{name: "page: my prompts", call: get("/app/mine", ann), steps: 2, tables: 2},
		{name: "page: my votes", call: get("/app/votes", "Vera"), steps: 2, tables: 22},
		// whether she may write for a workspace
		{name: "page: new prompt", call: get("/app/prompts/new", ann), steps: 1, tables: 1},
		{name: "page: my favorites, one", setup: favored, call: get("/app/favorites", "Vera"), steps: 3, tables: 3},
		{
			name: "page: make a favorite", call: form("/app/prompts/{id}/favorite", "Vera", "favorite=yes"),
			status: http.StatusSeeOther, steps: 2, tables: 4,
		},
		{name: "page: the picture of a prompt", call: get("/app/prompts/{id}/image.png", "Vera"), steps: 1, tables: 4},
		{
			name: "page: vote", call: form("/app/prompts/{id}/vote", "Vera", "value=like"), status: http.StatusSeeOther,
			steps: 3, tables: 4, queues: 2, behind: 1,
		},
		{
			name: "page: create", call: form("/app/prompts/new", ann, written), status: http.StatusSeeOther, steps: 4,
			tables: 3 + indexRows, queues: 2, behind: 1,
		},
	}
}

// assistants are messages of the Model Context Protocol.
func assistants() []request {
	send := func(path, user, method, params string) call {
		return call{
			method: http.MethodPost, path: path, user: user, body: `{"jsonrpc":"2.0","id":1,"method":"` + method +
				`","params":` + params + `}`,
			header: http.Header{
				"Content-Type": {"application/json"},
				"Accept":       {"application/json, text/event-stream"},
			},
		}
	}
	const mine = `{"name":"write-better-short-mystery-novels"}`
	return []request{
		{name: "mcp: initialize", call: send("/mcp", "Vera", "initialize",
			`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}`)},
		{name: "mcp: list mine, 50", call: send("/mcp", ann, "prompts/list", "{}"), steps: 1, tables: 1},
		{name: "mcp: list the best, 50", call: send("/mcp", "", "prompts/list", "{}"), steps: 1, tables: 1},
		{name: "mcp: list a tag, 50", call: send("/mcp/t/text", "", "prompts/list", "{}"), steps: 1, tables: 1},
		{name: "mcp: get mine by name", call: send("/mcp", ann, "prompts/get", mine), steps: 2, tables: 5},
		{
			name: "mcp: get mine by name, with a label on an older version", setup: labelled,
			call: send("/mcp", ann, "prompts/get", mine), steps: 2, tables: 6,
		},
		{
			name: "mcp: get by id, author known",
			call: send("/mcp", "Vera", "prompts/get", `{"name":"{id}"}`), steps: 1,
			tables: 4,
		},
		{name: "mcp: list my skills, 50", call: send("/mcp", ann, "skills/list", "{}"), steps: 1, tables: 1},
		// two of them after the answer, to note that it was fetched, as below
		{
			name: "mcp: read a skill, author known",
			call: send("/mcp", "", "resources/read",
				`{"uri":"skill://{id}/write-better-short-mystery-novels/SKILL.md"}`), steps: 1, tables: 5, behind: 1,
		},
		{
			name:  "mcp: search by a tool",
			call:  send("/mcp", "Vera", "tools/call", `{"name":"search_prompts","arguments":{"query":"words"}}`),
			steps: 4, tables: 14, behind: 1,
		},
		{name: "mcp: save by a tool", call: send("/mcp", ann, "tools/call", `{"name":"save_prompt","arguments":{"title":"Better write short mystery novels","content":"Text.","tags":["text"]}}`), steps: 4, tables: 4, queues: 2, behind: 1},
		{name: "skills of the site, 100", call: get("/.well-known/agent-skills/index.json", ""), steps: 1, tables: 1},
		{
			name: "skills of an author, 100", setup: withHandle,
			call: get("/u/ann-lee/.well-known/agent-skills/index.json", ""), steps: 2, tables: 2,
		},
		{
			name: "marketplace of an author, 100", setup: withHandle,
			call: get("/marketplace/u/ann-lee/marketplace.json", ""), steps: 2, tables: 2,
		},
		{
			name: "marketplace: a package of a skill with three files, author known", setup: packaged,
			call: get("/marketplace/packages/{package}", ""), steps: 2, tables: 8, behind: 1,
		},
		{
			name: "git: refs of a prompt", setup: withHandle,
			call: lsRefs("/git/u/ann-lee/write-better-short-mystery-novels"), steps: 5, tables: 9,
		},
		{
			name: "git: refs of an author, the first snapshot", setup: withHandle,
			call: lsRefs("/git/u/ann-lee"), steps: 13, tables: 71,
		},
		{
			name: "git: refs of an author, unchanged", setup: withHandle, again: true,
			call: lsRefs("/git/u/ann-lee"), steps: 2, tables: 5,
		},
		{
			name: "an archive of a skill with three files, author known", setup: filed,
			call: get("/.well-known/agent-skills/{id}/archive.zip", ""), steps: 2, tables: 8, behind: 1,
		},
		{
			name: "mcp: list my skills, one with files", setup: filed, call: send("/mcp", ann, "skills/list", "{}"),
			steps: 3, tables: 3,
		},
		{
			name: "mcp: read the folder of a skill with three files, author known", setup: filed,
			call: send("/mcp", "", "resources/directory/read",
				`{"uri":"skill://{id}/write-better-short-mystery-novels"}`), steps: 1, tables: 5, behind: 1,
		},
		{
			name: "a skill, author known", call: get("/.well-known/agent-skills/{id}/SKILL.md", ""),
			steps: 1, tables: 5, behind: 1,
		},
		{name: "mcp: complete an argument", call: send("/mcp", ann, "completion/complete", `{"ref":{"type":"ref/prompt","name":"write-better-short-mystery-novels"},"argument":{"name":"x","value":""}}`), steps: 2, tables: 5},
	}
}

// route returns which of the routes a request takes.
func (r request) route(l *lab, mux *http.ServeMux) string {
	req := httptest.NewRequestWithContext(l.t.Context(), r.call.method, l.path(r.call.path), nil)
	_, pattern := mux.Handler(req)
	return pattern
}

// routes returns all routes of the OpenAPI document, and those that stand in for other services.
func (l *lab) routes() (mux *http.ServeMux, all []string) {
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	l.ask(get("/openapi.json", ""), &document)
	mux = http.NewServeMux()
	for _, route := range slices.Concat(langfuse.Patterns(), langsmith.Patterns()) {
		mux.Handle(route, http.NotFoundHandler())
		all = append(all, route)
	}
	for path, methods := range document.Paths {
		for method := range methods {
			route := strings.ToUpper(method) + " " + path
			mux.Handle(route, http.NotFoundHandler())
			all = append(all, route)
		}
	}
	return mux, all
}
