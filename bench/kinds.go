package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"prompthub/internal/prompthub/prompt"
)

// A kind is a kind of request that is measured.
type kind struct {
	name  string
	write bool
	make  func(r *rand.Rand) call
}

// A call is one request.
type call struct {
	method, path, user, body string
	header                   http.Header
}

// kinds returns what is measured with a library. Every request is one of many, as those of many
// users are.
func kinds(l corpus, cursors map[string][]string) []kind {
	one := func(r *rand.Rand) int { return l.popular(r.IntN(popular)) }
	some := func(r *rand.Rand) prompt.ID { return l.id(one(r)) }
	get := func(name, path string, args func(r *rand.Rand) []any) kind {
		return kind{name: name, make: func(r *rand.Rand) call {
			p := path
			if args != nil {
				p = fmt.Sprintf(path, args(r)...)
			}
			return call{method: http.MethodGet, path: p, user: reader(r.IntN(readers))}
		}}
	}
	named := func(name, path string) kind {
		return kind{name: name, make: func(r *rand.Rand) call {
			return call{method: http.MethodGet, path: path, user: reader(r.IntN(namers))}
		}}
	}
	deep := func(list string) func(r *rand.Rand) []any {
		return func(r *rand.Rand) []any { return []any{cursors[list][r.IntN(len(cursors[list]))]} }
	}
	// of many words
	beginning := func(r *rand.Rand) []any { return []any{[]string{"ba", "ca", "be", "da"}[r.IntN(4)]} }
	whole := func(r *rand.Rand) []any { return []any{word(r)} }
	title := func(r *rand.Rand) []any { return []any{url.QueryEscape(l.prompt(one(r), prompt.DefaultTags()).Title)} }
	return []kind{
		{name: "list newest, nobody", make: func(*rand.Rand) call {
			return call{method: http.MethodGet, path: "/prompts?limit=20"}
		}},
		get("list newest", "/prompts?limit=20", nil),
		get("list newest, deep", "/prompts?limit=20&cursor=%s", deep("newest")),
		get("list most liked", "/prompts?limit=20&sort=most-liked", nil),
		get("list most liked, deep", "/prompts?limit=20&sort=most-liked&cursor=%s", deep("most-liked")),
		get("one tag", "/prompts?limit=20&tag=text", nil),
		get("one tag, deep", "/prompts?limit=20&tag=text&cursor=%s", deep("tag")),
		get("two tags", "/prompts?limit=20&tag=text,development", nil),
		get("one word", "/prompts?limit=20&q=%s", beginning),
		get("a word of one title in ten", "/prompts?limit=20&q=better", nil),
		get("a word of one title in ten, newest first", "/prompts?limit=20&q=better&sort=newest", nil),
		get("a whole title", "/prompts?limit=20&q=%s", title),
		get("a phrase", "/prompts?limit=20&q=%%22%s%%22", title),
		get("a tag and a word", "/prompts?limit=20&tag=text&q=better", nil),
		get("two tags, few match", "/prompts?limit=20&tag=image,writing", nil),
		get("a tag and the beginning of a word, few match", "/prompts?limit=20&tag=text&q=%s", beginning),
		get("a tag and a word, few match", "/prompts?limit=20&tag=text&q=%s", whole),
		get("get", "/prompts/%s", func(r *rand.Rand) []any { return []any{some(r)} }),
		named("get by name and label", "/users/me/prompts/"+namedPrompt+"?label=production"),
		named("get by name and label, Langfuse", "/lf/api/public/v2/prompts/"+namedPrompt),
		named("get by name and label, LangSmith", "/ls/commits/-/"+namedPrompt+"/production"),
		get("get my vote", "/prompts/%s/vote", func(r *rand.Rand) []any { return []any{some(r)} }),
		{name: "my prompts", make: func(r *rand.Rand) call {
			return call{method: http.MethodGet, path: "/me/prompts?limit=20", user: l.author(r.IntN(l.Prompts))}
		}},
		get("my votes", "/me/votes?limit=20", nil),
		get("tags", "/tags", nil),
		{name: "create", write: true, make: func(r *rand.Rand) call {
			return call{method: http.MethodPost, path: "/prompts", user: l.author(r.IntN(l.Prompts)), body: draft(r)}
		}},
		{name: "edit", write: true, make: func(r *rand.Rand) call {
			i := one(r)
			return call{
				method: http.MethodPatch, path: "/prompts/" + string(l.id(i)), user: l.author(i),
				body:   fmt.Sprintf(`{"text":%q}`, text(r)),
				header: http.Header{"If-Match": {"*"}, "Content-Type": {"application/merge-patch+json"}},
			}
		}},
		{name: "vote", write: true, make: func(r *rand.Rand) call { return vote(r, some(r)) }},
		{name: "replace", write: true, make: func(r *rand.Rand) call {
			i := one(r)
			return call{
				method: http.MethodPut, path: "/prompts/" + string(l.id(i)), user: l.author(i), body: draft(r),
				header: http.Header{"If-Match": {"*"}},
			}
		}},
		{name: "take a vote back", write: true, make: func(r *rand.Rand) call {
			return call{
				method: http.MethodDelete, path: fmt.Sprintf("/prompts/%s/vote", some(r)),
				user: reader(r.IntN(readers)),
			}
		}},
		// Rows that these leave go with program.tidy.
		{name: "delete or restore", write: true, make: func(r *rand.Rand) call {
			i := r.IntN(taken)
			if r.IntN(2) == 0 {
				return call{method: http.MethodDelete, path: "/prompts/" + string(l.id(i)), user: l.author(i)}
			}
			return call{method: http.MethodPost, path: fmt.Sprintf("/prompts/%s/restore", l.id(i)), user: l.author(i)}
		}},
		{name: "hide or undo", write: true, make: func(r *rand.Rand) call {
			c := call{
				method: http.MethodDelete, path: fmt.Sprintf("/prompts/%s/hidden", l.id(taken+r.IntN(taken))),
				user: "moderator", header: admin,
			}
			if r.IntN(2) == 0 {
				c.method, c.body = http.MethodPut, `{"reason":"A reason."}`
			}
			return c
		}},
		{name: "change a tag", write: true, make: func(r *rand.Rand) call {
			return call{
				method: http.MethodPut, path: fmt.Sprintf("/tags/measured-%d", r.IntN(10)), user: "moderator",
				body: `{"displayName":"Measured"}`, header: admin,
			}
		}},
		{name: "hidden prompts", make: func(*rand.Rand) call {
			return call{method: http.MethodGet, path: "/moderation/hidden?limit=20", user: "moderator", header: admin}
		}},
		get("me", "/me", nil),
		get("health", "/health", nil),
		get("ready", "/ready", nil),
	}
}

var admin = http.Header{"X-Dev-Roles": {"admin"}}

// taken is how many prompts, the oldest ones, are deleted and restored, and how many after these
// are hidden.
const taken = 100

func vote(r *rand.Rand, id prompt.ID) call {
	value := []string{"like", "like", "dislike", "none"}[r.IntN(4)]
	return call{
		method: http.MethodPut, path: "/prompts/" + string(id) + "/vote", user: reader(r.IntN(readers)),
		body: fmt.Sprintf(`{"value":%q}`, value),
	}
}

func draft(r *rand.Rand) string {
	b, err := json.Marshal(map[string]any{
		"title": title(r), "text": text(r),
		"tags": []string{"text", "writing"}, "visibility": "public",
	})
	if err != nil {
		panic(err) // unreachable: strings only
	}
	return string(b)
}

// votesOn votes on the newest n prompts.
func votesOn(l corpus, n int) kind {
	n = min(n, l.Prompts)
	name := fmt.Sprintf("votes on %d prompts", n)
	if n == 1 {
		name = "votes on one prompt"
	}
	return kind{name: name, write: true, make: func(r *rand.Rand) call { return vote(r, l.id(l.Prompts-1-r.IntN(n))) }}
}

// only leaves those kinds whose name contains one of some parts.
func only(ks []kind, parts []string) []kind {
	return slices.DeleteFunc(ks, func(k kind) bool { return !hasPart(k.name, parts) })
}

// hasPart reports whether a name contains one of some parts.
func hasPart(name string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(name, part) })
}
