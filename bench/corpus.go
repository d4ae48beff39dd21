package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
)

// A corpus is a set of prompts that follows from its size and its time: a year old, three tags at
// most, titles of three to five words, fifty prompts of each author or, in a large one, a thousand
// authors. A thousand of its prompts are popular: each has the likes of some readers, and each
// reader likes likesEach of them. Some readers have a private prompt with a name besides. What a
// request finds does not depend on the size. The score that every prompt has besides is a tally
// without votes, so that Verify would complain.
type corpus struct {
	Prompts int           `json:"prompts"`
	Until   time.Time     `json:"until"` // when the last prompt was made
	Rows    int           `json:"rows"`
	Took    time.Duration `json:"took"` // to fill the store
}

// corpusVersion changes with what a library holds.
const corpusVersion = 4

const (
	span      = 365 * 24 * time.Hour
	popular   = 1000 // prompts that are asked for by id
	readers   = 1000
	likesEach = 25
	namers    = 100 // readers who have a prompt that programs ask for by name
	// one prompt in this number has two tags that go together, and a word that goes with them
	often = 10
)

// namedPrompt is the name of the prompts of namers.
const namedPrompt = "measured"

func reader(i int) string { return fmt.Sprintf("reader-%04d", i%readers) }

// popular returns the number of one of the popular prompts.
func (l corpus) popular(i int) int { return i % popular * (l.Prompts / popular) }

// author returns the name of a prompt's author, which is the user id as well in development mode.
func (l corpus) author(i int) string {
	return fmt.Sprintf("author-%03d", i%min(max(l.Prompts/50, 1), 1000))
}

// id returns the id of a prompt. They are in order of time.
func (l corpus) id(i int) prompt.ID {
	at := l.Until.Add(-span).Add(time.Duration(float64(span) * float64(i+1) / float64(l.Prompts)))
	id, err := prompt.NewID(at, seeded{rand.New(rand.NewPCG(uint64(i), 1))})
	if err != nil {
		panic(err) // unreachable: the time is of this century, and the reader gives what is asked for
	}
	return id
}

// seeded is a reader of numbers that follow from a seed.
type seeded struct{ r *rand.Rand }

func (s seeded) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(s.r.Uint32())
	}
	return len(b), nil
}

func (l corpus) prompt(i int, tags []prompt.TagInfo) prompt.Prompt {
	r := rand.New(rand.NewPCG(uint64(i), 2))
	id := l.id(i)
	d := prompt.Draft{Title: title(r), Text: text(r), Visibility: prompt.Public}
	if i%often == 0 {
		d.Tags = []prompt.Tag{"text", "development"}
		d.Title = "Better " + d.Title
	}
	for range 1 + r.IntN(3-len(d.Tags)) {
		tag := tags[min(r.IntN(len(tags)), r.IntN(len(tags)))].Tag // the first are the most popular
		if !slices.Contains(d.Tags, tag) {
			d.Tags = append(d.Tags, tag)
		}
	}
	score := int32(r.ExpFloat64() * 12)
	return prompt.Prompt{
		ID: id, AuthorID: prompt.UserID(l.author(i)), AuthorName: l.author(i), Draft: d, CreatedAt: id.Time(),
		UpdatedAt: id.Time(), Revision: 1,
		Tally: prompt.Tally{Likes: score + 2, Dislikes: int32(r.IntN(3))},
	}
}

const (
	onsets = "b c d f g h l m n p r s t v br cl dr fl gr pl pr st tr"
	vowels = "a e i o u ai ea io ou"
)

// word returns one of about forty thousand made-up words, the first of them far more often.
func word(r *rand.Rand) string {
	of := func(s string) string {
		all := strings.Fields(s)
		return all[min(r.IntN(len(all)), r.IntN(len(all)))]
	}
	return of(onsets) + of(vowels) + of(onsets) + of(vowels)
}

func title(r *rand.Rand) string {
	words := make([]string, 3+r.IntN(3))
	for i := range words {
		words[i] = word(r)
	}
	return strings.Join(words, " ")
}

func text(r *rand.Rand) string {
	words := make([]string, 60+r.IntN(120))
	for i := range words {
		words[i] = word(r)
	}
	return strings.Join(words, " ") + "."
}

// likers returns who likes a prompt.
func (l corpus) likers(i int) []prompt.UserID {
	n := i / (l.Prompts / popular)
	if l.popular(n) != i {
		return nil
	}
	all := make([]prompt.UserID, likesEach)
	for k := range all {
		all[k] = prompt.UserID(reader(n*likesEach + k))
	}
	return all
}

func (l corpus) all() iter.Seq2[prompt.Prompt, []prompt.UserID] {
	return func(yield func(prompt.Prompt, []prompt.UserID) bool) {
		tags := prompt.DefaultTags()
		for i := range l.Prompts {
			if !yield(l.prompt(i, tags), l.likers(i)) {
				return
			}
		}
	}
}

// fill writes the library into a new store.
func (l *corpus) fill(ctx context.Context, tables table.DB, queues queue.Queues, parallel int) error {
	db := promptdb.New(promptdb.Config{
		Store: tables, Queues: queues, Tables: promptdb.DefaultTables(), Now: time.Now,
		Log:        slog.New(slog.DiscardHandler),
		Background: func(f func()) { f() },
		Sleep:      func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	if err := db.Create(ctx); err != nil {
		return err
	}
	began := time.Now()
	var err error
	l.Rows, err = db.BulkLoad(ctx, l.all(), parallel)
	l.Took = time.Since(began)
	return errors.Join(err, name(ctx, library.New(db, prompt.Rules{}, time.Now)))
}

// name gives namers a prompt each, whose first version has a label.
func name(ctx context.Context, hub *library.Service) error {
	for i := range namers {
		who := auth.User{ID: reader(i), Name: reader(i)}
		for _, labels := range [][]string{{prompt.Production}, nil} {
			d := library.NamedDraft{
				Name:    namedPrompt,
				Content: prompt.Content{Text: text(rand.New(rand.NewPCG(uint64(i), 3)))}, Labels: labels,
			}
			if _, err := hub.SaveNamed(ctx, who, d); err != nil {
				return err
			}
		}
	}
	return nil
}
