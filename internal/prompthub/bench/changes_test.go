package main

import (
	"context"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub"
	"prompthub/internal/prompthub/prompt"
)

func changes() []request {
	private, public := prompt.Private, prompt.Public
	text, word := "Another text.", "Write better short mystery poems"
	patch := func(p prompthub.Patch) func(context.Context, *lab) error {
		return func(_ context.Context, l *lab) error { return l.patch(p) }
	}
	before := func(do func(context.Context, *lab) error) func(*lab) {
		return func(l *lab) { l.must(do(l.t.Context(), l)) }
	}
	unpublish := patch(prompthub.Patch{Visibility: &private})
	// An edit: the truth row is read, written, and freed; its tally and the author's vote are read for the answer.
	const edited = 3 + 2
	return []request{
		{name: "create", do: create(""), steps: 4, tables: 2 + indexRows, queues: 2, behind: 1, budget: &budget{4, 4 + indexRows}},
		{name: "create by a new instance", cold: true, do: create(""), steps: 5, tables: 3 + indexRows, queues: 2, behind: 1},
		{name: "create with a key", do: create("key"), steps: 4, tables: 3 + indexRows, queues: 2, behind: 1},
		{name: "create with a key, again", setup: before(create("key")), do: create("key"), steps: 4, tables: 2 + 3, queues: 2, behind: 1},
		{name: "edit the text", do: patch(prompthub.Patch{Text: &text}), steps: 4, tables: edited + indexRows, queues: 2, behind: 1},
		{name: "edit a word of the title", do: patch(prompthub.Patch{Title: &word}), steps: 4, tables: edited + indexRows + 4, queues: 2, behind: 1},
		{name: "edit nothing", do: patch(prompthub.Patch{}), steps: 2, tables: 3, queues: 2, behind: 1},
		{name: "edit an old revision", refused: fault.Stale, do: stale, steps: 2, tables: 4, queues: 2, behind: 1},
		{name: "edit what is not mine", refused: fault.Forbidden, do: foreign, steps: 2, tables: 4, queues: 2, behind: 1},
		{name: "un-publish", do: unpublish, steps: 4, tables: edited + indexRows, queues: 2, behind: 1},
		{name: "publish", setup: before(unpublish), do: patch(prompthub.Patch{Visibility: &public}), steps: 4, tables: edited + indexRows, queues: 2, behind: 1},
		{name: "delete", do: remove, steps: 4, tables: 3 + indexRows + 1, queues: 2, behind: 1},
		{name: "delete again", setup: before(remove), do: remove, steps: 2, tables: 2, queues: 2, behind: 1},
		{name: "restore", setup: before(remove), do: restore, steps: 4, tables: edited + indexRows + 1, queues: 2, behind: 1},
		{name: "hide", do: hide, steps: 4, tables: 3 + indexRows + 1, queues: 2, behind: 1},
		{name: "undo hide", setup: before(hide), do: unhide, steps: 4, tables: 3 + indexRows + 1, queues: 2, behind: 1},
		{name: "change a tag of the catalog", do: putTag, steps: 1, tables: 1},
	}
}

func create(key string) func(context.Context, *lab) error {
	return func(ctx context.Context, l *lab) error {
		_, _, err := l.hub.Create(ctx, ann, l.draft(typicalTitle, typicalTags...), key)
		return err
	}
}

func stale(ctx context.Context, l *lab) error {
	text := "Another text."
	_, err := l.hub.Patch(ctx, ann, l.prompt.ID, prompthub.Match{Revisions: []int64{17}}, prompthub.Patch{Text: &text})
	return err
}

func foreign(ctx context.Context, l *lab) error {
	text := "Another text."
	_, err := l.hub.Patch(ctx, vera, l.prompt.ID, prompthub.Match{Any: true}, prompthub.Patch{Text: &text})
	return err
}

func remove(ctx context.Context, l *lab) error { return l.hub.Delete(ctx, ann, l.prompt.ID) }

func restore(ctx context.Context, l *lab) error {
	_, err := l.hub.Restore(ctx, ann, l.prompt.ID)
	return err
}

func hide(ctx context.Context, l *lab) error { return l.hub.Hide(ctx, mod, l.prompt.ID, "a reason") }

func unhide(ctx context.Context, l *lab) error { return l.hub.Unhide(ctx, mod, l.prompt.ID) }

func putTag(ctx context.Context, l *lab) error {
	_, err := l.hub.PutTag(ctx, mod, prompt.TagInfo{Tag: "poetry", DisplayName: "Poetry", Active: true})
	return err
}

// jobs are what queues and timers start. The host's own calls for their messages are not among those counted.
func jobs() []request {
	move := func(ctx context.Context, l *lab) error { return l.db.Move(ctx, l.message("stranger 0")) }
	// Truth row, tally, commit, the tally again, and clearing Pending; the voter's row and the vote row, which agree.
	const moved = 5 + 2
	return []request{
		{
			name: "move inside a bucket", setup: func(l *lab) { l.likes(1) }, do: move, steps: 4, tables: moved + indexRows,
			budget: &budget{5, 5 + indexRows + 2},
		},
		{
			name: "move across buckets", setup: func(l *lab) { l.likes(10) }, do: move, steps: 5, tables: moved + indexRows + 1,
			budget: &budget{5, 6 + indexRows + 2},
		},
		{name: "move, nothing to do", setup: nothingToMove, do: move, steps: 2, tables: 4},
		{name: "repair, nothing to do", steps: 1, tables: 2, do: func(ctx context.Context, l *lab) error {
			return l.db.Repair(ctx, l.message(""))
		}},
		{name: "purge, nothing to do", steps: 1, tables: 1, do: func(ctx context.Context, l *lab) error {
			_, err := l.db.Purge(ctx)
			return err
		}},
		{name: "anti-entropy, after a full pass", setup: swept, steps: 9, tables: 9, do: sweep},
	}
}

func nothingToMove(l *lab) {
	l.vote(vera, prompt.Like)
	l.likes(1)
	l.must(l.db.Move(l.t.Context(), l.message("stranger 0")))
	time.Sleep(time.Minute)
}

func swept(l *lab) {
	for range 20 {
		l.must(sweep(l.t.Context(), l))
	}
}

func sweep(ctx context.Context, l *lab) error {
	_, _, err := l.db.Sweep(ctx)
	return err
}
