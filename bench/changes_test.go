package main

import (
	"fmt"
	"net/http"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

func changes() []request {
	const one = "/prompts/{id}"
	patch := func(body string) call { return edit(one, ann, "*", body) }
	do := func(c call) func(*lab) { // before
		return func(l *lab) {
			c := c
			c.path = l.path(c.path)
			l.ask(c, nil)
		}
	}
	replace := put(one, ann, `{"title":"Write better short mystery poems","text":"Another text.","tags":[`+
		typicalTags+`],"visibility":"public"}`)
	replace.header = http.Header{"If-Match": {"*"}}
	unpublish, publish := patch(`{"visibility":"private"}`), patch(`{"visibility":"public"}`)
	remove := call{method: http.MethodDelete, path: one, user: ann}
	restore := call{method: http.MethodPost, path: one + "/restore", user: ann}
	draft := func(title string) call {
		return call{method: http.MethodPost, path: "/prompts", user: ann, body: (&lab{}).draft(title, typicalTags)}
	}
	another := func(key string) call {
		c := draft(otherTitle)
		if key != "" {
			c.header = http.Header{"Idempotency-Key": {key}}
		}
		return c
	}
	// An edit: truth row and labels row are read, written with the author's other rows, and freed;
	// the tally and the author's vote are read for the answer.
	const edited = 4 + 2 + 1 // the row of the log that was
	return []request{
		{
			name: "create", call: another(""), steps: 4, tables: 3 + indexRows, queues: 2, behind: 1,
			budget: &budget{4, 5 + indexRows},
		},
		{
			name: "create, with the title of another of mine", call: draft(typicalTitle), steps: 5,
			tables: 4 + indexRows, queues: 2, behind: 1,
		},
		{
			name: "create by a new instance", cold: true, call: another(""), steps: 5,
			tables: 9 + indexRows, queues: 2, behind: 2,
		},
		{name: "create with a key", call: another("key"), steps: 4, tables: 4 + indexRows, queues: 2, behind: 1},
		{
			name: "create with a key, again", setup: do(another("key")), call: another("key"), steps: 4,
			tables: 2 + 3, queues: 2, behind: 1,
		},
		{
			name: "edit the text", call: patch(`{"text":"Another text."}`), steps: 4,
			tables: edited + indexRows, queues: 2, behind: 1,
		},
		{
			name: "edit a word of the title", call: patch(`{"title":"Write better short mystery poems"}`), steps: 4,
			tables: edited + indexRows + 3, queues: 2, behind: 1,
		},
		{
			name: "edit every word of the title", call: patch(`{"title":"Great crime films worth watching"}`), steps: 5,
			tables: edited + indexRows + 16, queues: 2, behind: 1,
		},
		{name: "replace", call: replace, steps: 4, tables: edited + indexRows + 3, queues: 2, behind: 1},
		{
			name: "put files there", call: call{
				method: http.MethodPut, path: one + "/files", user: ann,
				header: http.Header{"If-Match": {"*"}}, body: threeFiles,
			}, steps: 5,
			tables: edited + indexRows + 1, queues: 2, behind: 1,
		},
		{
			name: "edit the text of a prompt with three files", setup: filed, call: patch(`{"text":"Another text."}`),
			steps: 6, tables: edited + indexRows + 3, queues: 2, behind: 1,
		},
		{name: "edit nothing", call: patch(`{}`), steps: 2, tables: 4, queues: 2, behind: 1},
		{
			name: "edit an old revision", call: edit(one, ann, `"17"`, `{"text":"Another text."}`),
			status: http.StatusPreconditionFailed, steps: 2, tables: 5, queues: 2, behind: 1,
		},
		{
			name: "edit what is not mine", call: edit(one, "Vera", "*", `{"text":"Another text."}`),
			status: http.StatusForbidden, steps: 2, tables: 7, queues: 2, behind: 1,
		},
		{
			name: "move a label", setup: labelled, call: put(one+"/labels/staging", ann, `{"version":2}`), steps: 2,
			tables: 3, budget: &budget{2, 3},
		},
		{
			name: "move the label for programs", setup: labelled,
			call: put(one+"/labels/production", ann, `{"version":2}`), steps: 2, tables: 3, queues: 2,
			behind: 1, budget: &budget{2, 5},
		},
		{
			name: "take a label away", setup: labelled,
			call: call{method: http.MethodDelete, path: one + "/labels/production", user: ann}, steps: 3,
			tables: 4, queues: 2, behind: 1,
		},
		{
			name: "undo a label", setup: labelled,
			call: call{method: http.MethodPost, path: one + "/labels/production/undo", user: ann}, steps: 4,
			tables: 5, queues: 2, behind: 1,
		},
		{
			name: "restore a version", setup: labelled,
			call: call{method: http.MethodPost, path: one + "/versions/1/restore", user: ann}, steps: 5,
			tables: 5 + edited + indexRows, queues: 2, behind: 1,
		},
		{
			name: "fork", call: call{method: http.MethodPost, path: one + "/fork", user: "Vera"}, steps: 5,
			tables: 16, queues: 2, behind: 2,
		},
		{
			name: "merge what a fork comes from", setup: forked,
			call: call{method: http.MethodPost, path: one + "/upstream/merge", user: "Vera"}, steps: 7,
			tables: 18, queues: 2, behind: 1,
		},
		{
			name: "delete a version", setup: labelled,
			call: call{method: http.MethodDelete, path: one + "/versions/1", user: ann}, steps: 5,
			tables: 7 + indexRows, queues: 2, behind: 1,
		},
		{name: "un-publish", call: unpublish, steps: 4, tables: edited + indexRows + 1, queues: 2, behind: 1},
		{
			name: "publish", setup: do(unpublish), call: publish, steps: 4,
			tables: edited + indexRows + 1, queues: 2, behind: 1,
		},
		{name: "delete", call: remove, steps: 5, tables: 4 + indexRows + 3, queues: 2, behind: 1},
		{name: "delete again", setup: do(remove), call: remove, steps: 2, tables: 3, queues: 2, behind: 1},
		{
			name: "restore", setup: do(remove), call: restore, steps: 5, tables: edited + indexRows + 2, queues: 2,
			behind: 1,
		},
	}
}

func edit(path, user, match, body string) call {
	return call{
		method: http.MethodPatch, path: path, user: user, body: body,
		header: http.Header{"If-Match": {match}, "Content-Type": {"application/merge-patch+json"}},
	}
}

func moderation() []request {
	hide := by("admin", put("/prompts/{id}/hidden", "Mod", `{"reason":"a reason"}`))
	undo := by("admin", call{method: http.MethodDelete, path: "/prompts/{id}/hidden", user: "Mod"})
	hidden := func(l *lab) {
		c := hide
		c.path = l.path(c.path)
		l.ask(c, nil)
	}
	return []request{
		{name: "hide", call: hide, steps: 4, tables: 4 + indexRows + 3, queues: 2, behind: 1},
		{name: "undo hide", setup: hidden, call: undo, steps: 4, tables: 4 + indexRows + 3, queues: 2, behind: 1},
		{
			name: "hidden prompts", setup: hidden,
			call: by("admin", get("/moderation/hidden?limit=20", "Mod")), steps: 2,
			tables: 2,
		},
		{
			name:  "change a tag of the catalog",
			call:  by("admin", put("/tags/poetry", "Mod", `{"displayName":"Poetry"}`)),
			steps: 1, tables: 1,
		},
		{
			name: "retire a tag", call: by("admin", call{method: http.MethodDelete, path: "/tags/legal", user: "Mod"}),
			steps: 2, tables: 2,
		},
	}
}

// jobs are what queues and timers start. The host's own calls for their messages are not among
// those counted.
func jobs() []request {
	// Truth row, tally, commit, the tally again, and clearing Pending; the voter's row and the vote
	// row, which agree.
	const moved = 5 + 2
	return []request{
		{
			name: "move inside a bucket", setup: fifthLike, job: "score-bucket-moves",
			steps: 4, tables: moved + indexRows,
			budget: &budget{5, 5 + indexRows + 2},
		},
		{
			name: "move across buckets", setup: func(l *lab) { l.likes(10) }, job: "score-bucket-moves", steps: 5,
			tables: moved + indexRows + 4,
			budget: &budget{5, 9 + indexRows + 2}, // of each order: it has votes enough for best now
		},
		{name: "move, nothing to do", setup: nothingToMove, job: "score-bucket-moves", steps: 2, tables: 4},
		{name: "repair of an edit that was cut short", setup: cutShort, job: "index-repairs", steps: 6, tables: 35},
		{name: "repair, nothing to do", job: "index-repairs", steps: 2, tables: 3},
		{name: "purge of a prompt with ten votes", setup: longDeleted, job: "purge", steps: 29, tables: 38},
		{name: "purge, nothing to do", job: "purge", steps: 1, tables: 1},
		// one call is for the counts of authors, which may name the user
		{
			name: "erase an account with one vote", setup: leftLongAgo, job: "erase", steps: 38,
			tables: 39, queues: 2, behind: 1,
		},
		{name: "tag counts of 61 prompts", job: "tag-counts", steps: 3, tables: 3},
		{name: "tag counts of the same words again", setup: learned, job: "tag-counts", steps: 3, tables: 3},
		{name: "erase, nothing to do", job: "erase", steps: 1, tables: 1},
		{name: "backup of 61 prompts", job: "backups", steps: 250, tables: 250},
		{name: "no snapshot of a small library", job: "search-snapshot", steps: 4, tables: 4},
		{name: "anti-entropy, a full pass over 61 prompts", job: "anti-entropy", steps: 307, tables: 3147},
		{name: "anti-entropy, after a full pass", setup: swept, job: "anti-entropy", steps: 19, tables: 19},
	}
}

// fifthLike comes to four others: in no order does it lead to another bucket.
func fifthLike(l *lab) {
	for i := range 4 {
		l.vote(fmt.Sprint("earlier stranger ", i), prompt.Like)
	}
	l.settle()
	l.likes(1)
}

// cutShort edits the title, and not the rows of the newest list.
func cutShort(l *lab) {
	l.meter.refuse = promptdb.DefaultTables().Newest
	c := edit("/prompts/{id}", ann, "*", `{"title":"Write better short mystery poems"}`)
	c.path = l.path(c.path)
	l.ask(c, nil)
	l.meter.refuse = ""
	time.Sleep(2 * time.Minute)
}

func longDeleted(l *lab) {
	l.likes(10)
	l.ask(call{method: http.MethodDelete, path: l.path("/prompts/{id}"), user: ann}, nil)
	l.settle()
	time.Sleep(32 * 24 * time.Hour)
}

// leftLongAgo has somebody ask to be erased who voted.
func leftLongAgo(l *lab) {
	l.vote("Zoe", prompt.Like)
	l.ask(call{method: http.MethodDelete, path: "/me", user: "Zoe"}, nil)
	l.settle()
	time.Sleep(32 * 24 * time.Hour)
}

func nothingToMove(l *lab) {
	l.vote("Vera", prompt.Like)
	l.likes(1)
	l.run("score-bucket-moves", l.message("stranger 0"))
	time.Sleep(time.Minute)
}

func swept(l *lab) {
	for range 20 {
		_, differences, err := l.db.Sweep(l.t.Context())
		require.NoError(l.t, err)
		require.Zero(l.t, differences)
	}
}
