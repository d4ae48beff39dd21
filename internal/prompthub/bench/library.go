package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"prompthub/internal/embedded"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

// A library is a set of prompts that follows from its size and its time: a year old, three tags at most, titles of three to
// five words, fifty prompts of each author or, in a large one, a thousand authors.
type library struct {
	Prompts int           `json:"prompts"`
	Until   time.Time     `json:"until"` // when the last prompt was made
	Rows    int           `json:"rows"`
	Took    time.Duration `json:"took"` // to fill the store
}

const span = 365 * 24 * time.Hour

// author returns the name of a prompt's author, which is the user id as well in development mode.
func (l library) author(i int) string {
	return fmt.Sprintf("author-%03d", i%min(max(l.Prompts/50, 1), 1000))
}

// id returns the id of a prompt. They are in order of time.
func (l library) id(i int) prompt.ID {
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

func (l library) prompt(i int, tags []prompt.TagInfo) prompt.Prompt {
	r := rand.New(rand.NewPCG(uint64(i), 2))
	id := l.id(i)
	d := prompt.Draft{Title: title(r), Text: text(r), Visibility: prompt.Public}
	for range 1 + r.IntN(3) {
		tag := tags[min(r.IntN(len(tags)), r.IntN(len(tags)))].Tag // the first are the most popular
		if len(d.Tags) == 0 || d.Tags[len(d.Tags)-1] != tag && d.Tags[0] != tag {
			d.Tags = append(d.Tags, tag)
		}
	}
	score := int32(r.ExpFloat64() * 12)
	return prompt.Prompt{
		ID: id, AuthorID: l.author(i), AuthorName: l.author(i), Draft: d, CreatedAt: id.Time(), UpdatedAt: id.Time(), Revision: 1,
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

func (l library) all() iter.Seq[prompt.Prompt] {
	return func(yield func(prompt.Prompt) bool) {
		tags := prompt.DefaultTags()
		for i := range l.Prompts {
			if !yield(l.prompt(i, tags)) {
				return
			}
		}
	}
}

// openLibrary returns the library of n prompts in a directory below dir, which it fills where that was not done yet.
func openLibrary(ctx context.Context, dir string, n int) (l library, data string, err error) {
	data = filepath.Join(dir, fmt.Sprint(n))
	note := filepath.Join(data, "library.json")
	b, err := os.ReadFile(note)
	switch {
	case err == nil:
		return l, data, json.Unmarshal(b, &l)
	case !errors.Is(err, fs.ErrNotExist):
		return l, data, err
	}
	if err := errors.Join(os.RemoveAll(data), os.MkdirAll(data, 0o700)); err != nil {
		return l, data, err
	}
	l = library{Prompts: n, Until: time.Now().UTC().Truncate(time.Millisecond)}
	if err := l.fill(ctx, filepath.Join(data, "prompthub.db")); err != nil {
		return l, data, err
	}
	if b, err = json.Marshal(l); err != nil {
		return l, data, err
	}
	return l, data, os.WriteFile(note, b, 0o600)
}

// fill writes the library into a new store.
func (l *library) fill(ctx context.Context, path string) (err error) {
	file, err := embedded.Open(path, time.Now)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	db := promptdb.New(promptdb.Config{
		Store: file.Tables, Queues: file.Queues, Tables: promptdb.DefaultTables(), Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Behind: func(f func()) { f() },
		Sleep:  func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	if err := db.Create(ctx); err != nil {
		return err
	}
	began := time.Now()
	l.Rows, err = db.Fill(ctx, l.all())
	l.Took = time.Since(began)
	return err
}
