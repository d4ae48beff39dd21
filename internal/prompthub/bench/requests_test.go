package main

import (
	"context"
	"slices"
	"time"

	"prompthub/internal/auth"
	"prompthub/internal/fault"
	"prompthub/internal/prompthub"
	"prompthub/internal/prompthub/prompt"
)

// indexRows is how many index rows the typical prompt has: its locator, the newest and the most-liked
// row, three tags, five words of four tokens each.
const indexRows = 3 + 3 + 5*4

// A request is one kind of request or job, and what it may cost. Most of them are answered by an instance that has
// been at work for a while: it has read the tag catalog and knows who wrote the prompt.
type request struct {
	name    string
	cold    bool       // by an instance that has just started
	again   bool       // the same request was made a moment ago
	setup   func(*lab) // before, not counted
	do      func(context.Context, *lab) error
	refused fault.Kind // the error that is right; zero: none

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

func requests() []request {
	return slices.Concat(reads(), lists(), votes(), changes(), jobs())
}

func reads() []request {
	get := func(who auth.User) func(context.Context, *lab) error {
		return func(ctx context.Context, l *lab) error {
			_, err := l.hub.Get(ctx, who, l.prompt.ID)
			return err
		}
	}
	unknown := prompt.ID("01BX5ZZKBKACTAV9WEVGEMMVRZ")
	return []request{
		{name: "get, author known", do: get(vera), steps: 1, tables: 3, budget: &budget{1, 3}},
		{name: "get, author not known", cold: true, do: get(vera), steps: 2, tables: 3, budget: &budget{2, 4}},
		{name: "get without identity, author known", do: get(auth.User{}), steps: 1, tables: 2, budget: &budget{1, 3}},
		{name: "get an unknown id", refused: fault.NotFound, steps: 2, tables: 3, do: func(ctx context.Context, l *lab) error {
			_, err := l.hub.Get(ctx, vera, unknown)
			return err
		}},
		{name: "get my vote", steps: 1, tables: 2, do: func(ctx context.Context, l *lab) error {
			_, err := l.hub.VoteOf(ctx, vera, l.prompt.ID)
			return err
		}},
		{name: "tags, once in ten seconds", cold: true, do: tags, steps: 1, tables: 1},
		{name: "tags", do: tags},
		{name: "ready", steps: 1, tables: 1, do: func(ctx context.Context, l *lab) error { return l.hub.Ready(ctx) }},
	}
}

func tags(ctx context.Context, l *lab) error {
	_, err := l.hub.Tags(ctx, vera, false)
	return err
}

func lists() []request {
	deep := func(q prompthub.Search) func(context.Context, *lab) error { // the second page
		return func(ctx context.Context, l *lab) error {
			q.Cursor, q.Limit = l.cursor, 20
			_, err := l.hub.Search(ctx, vera, q)
			return err
		}
	}
	first := func(q prompthub.Search) func(*lab) {
		return func(l *lab) {
			q.Limit = 20
			page, err := l.hub.Search(l.t.Context(), vera, q)
			l.must(err)
			l.cursor = page.Next
			l.restart()
		}
	}
	words := func(s string) prompt.Query {
		q, err := prompt.ParseQuery(s)
		if err != nil {
			panic(err) // a defect of the table below
		}
		return q
	}
	liked := prompthub.Search{Order: prompthub.MostLiked}
	newest := prompthub.Search{Order: prompthub.Newest}
	three := prompthub.Search{Order: prompthub.Newest, Tags: []prompt.Tag{"text", "legal"}, Words: words("scarce")}
	page := budget{2, 2}
	return []request{
		{name: "list newest", do: search(vera, newest), steps: 2, tables: 2, budget: &page},
		{name: "list newest, again within a second", again: true, do: search(vera, newest), steps: 1, tables: 1, budget: &page},
		{name: "list newest without identity, again within a second", again: true, do: search(auth.User{}, newest)},
		{name: "list newest, second page", setup: first(newest), do: deep(newest), steps: 2, tables: 2, budget: &page},
		{name: "list newest without identity", do: search(auth.User{}, newest), steps: 1, tables: 1, budget: &budget{1, 1}},
		{name: "list newest, on the first day of a month", setup: nextMonth, do: search(vera, newest), steps: 4, tables: 4},
		{name: "list most liked", do: search(vera, liked), steps: 2, tables: 2, budget: &page},
		{name: "list most liked, again within a second", again: true, do: search(vera, liked), steps: 1, tables: 1, budget: &page},
		{name: "list most liked, second page", setup: first(liked), do: deep(liked), steps: 2, tables: 2, budget: &page},
		{name: "one tag", do: search(vera, prompthub.Search{Tags: []prompt.Tag{"text"}}), steps: 2, tables: 2, budget: &page},
		{name: "one tag, again within a second", again: true, do: search(vera, prompthub.Search{Tags: []prompt.Tag{"text"}}), steps: 1, tables: 1, budget: &page},
		{name: "one word", do: search(vera, prompthub.Search{Words: words("words")}), steps: 2, tables: 2, budget: &page},
		{name: "one long word", do: search(vera, prompthub.Search{Words: words("number")}), steps: 2, tables: 2, budget: &page},
		{name: "two tags and a word, one of them scarce", do: search(vera, three), steps: 2, tables: 4, budget: &budget{3, 5}},
		{name: "one tag by most liked", do: search(vera, prompthub.Search{Order: prompthub.MostLiked, Tags: []prompt.Tag{"text"}}), steps: 2, tables: 2},
		{name: "my prompts", do: mine(promptNewest), steps: 2, tables: 2, budget: &page},
		{name: "my prompts by title", do: mine(promptTitle), steps: 2, tables: 2},
		{name: "my votes, 20", steps: 2, tables: 22, do: func(ctx context.Context, l *lab) error {
			_, err := l.hub.MyVotes(ctx, vera, prompt.None, 20, "")
			return err
		}},
		{name: "hidden prompts", steps: 1, tables: 1, do: func(ctx context.Context, l *lab) error {
			_, err := l.hub.Hidden(ctx, mod, 20, "")
			return err
		}},
	}
}

const (
	promptNewest = prompthub.Sort("newest")
	promptTitle  = prompthub.Sort("title")
)

func search(who auth.User, q prompthub.Search) func(context.Context, *lab) error {
	q.Limit = 20
	if q.Order == "" {
		q.Order = prompthub.Newest
	}
	return func(ctx context.Context, l *lab) error {
		_, err := l.hub.Search(ctx, who, q)
		return err
	}
}

func mine(sort prompthub.Sort) func(context.Context, *lab) error {
	return func(ctx context.Context, l *lab) error {
		_, err := l.hub.Mine(ctx, ann, prompthub.MineQuery{Sort: sort, Limit: 20})
		return err
	}
}

// nextMonth leaves the current month with one prompt.
func nextMonth(l *lab) {
	time.Sleep(31 * 24 * time.Hour)
	l.create("First of its month", "text")
}

func votes() []request {
	vote := func(v prompt.Vote) func(context.Context, *lab) error {
		return func(ctx context.Context, l *lab) error {
			_, err := l.hub.Vote(ctx, vera, l.prompt.ID, v)
			return err
		}
	}
	liked := func(l *lab) { l.vote(vera, prompt.Like) }
	return []request{
		{name: "vote", do: vote(prompt.Like), steps: 2, tables: 4, queues: 2, behind: 1, budget: &budget{2, 6}},
		{name: "vote, author not known", cold: true, do: vote(prompt.Like), steps: 3, tables: 5, queues: 2, behind: 1},
		{name: "vote otherwise", setup: liked, do: vote(prompt.Dislike), steps: 2, tables: 4, queues: 2, behind: 1, budget: &budget{2, 6}},
		{name: "take a vote back", setup: liked, do: vote(prompt.None), steps: 2, tables: 4, queues: 2, behind: 1, budget: &budget{2, 6}},
		{name: "the same vote again", setup: liked, do: vote(prompt.Like), steps: 1, tables: 2, queues: 2, behind: 1},
	}
}
