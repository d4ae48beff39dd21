package main

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/pairs"
	"prompthub/apps/harmony/internal/population"
	"prompthub/internal/http/auth/password"
	"prompthub/internal/storage/blob/picture"
	"prompthub/internal/storage/embedded"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/testing/load"
)

// fillers is how many write at once: as many batches as the store writes together.
const fillers = 256

// fill makes a store in which each member matches the one next to them. It adds their tokens to the
// members.
func fill(ctx context.Context, file string, members []population.Member) (err error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	tables := rowstore.DefaultTables[meet.Tables]()
	store, err := embedded.Open(file, time.Now)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	s := meet.New(meet.Config{
		Store: &rowstore.Store{
			DB: store.Tables, Now: time.Now, Log: slog.New(slog.DiscardHandler), Background: func(do func()) { do() },
			Sleep:  func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
			Random: func(time.Duration) time.Duration { return 0 },
		},
		Tables: tables, Queues: store.Queues, Entropy: rand.Reader, Passwords: password.NewHasher(), Blobs: store.Blobs,
		Pictures:  picture.NewMaker(),
		LikesADay: -1, EraseAfter: time.Hour,
	})
	if err := s.Create(ctx); err != nil {
		return err
	}
	all, err := population.Fill(ctx, s, len(members), fillers)
	if err != nil {
		return err
	}
	copy(members, all)
	return rowstore.Each(ctx, len(members)/2, fillers, func(ctx context.Context, i int) error {
		_, err := population.Match(ctx, s, members[2*i], members[2*i+1])
		return err
	})
}

// asHarmony says how Harmony is asked.
func (s *side) asHarmony(members []population.Member) {
	as := func(member int, method, path string, body any) load.Request {
		return load.Call(method, "/api/v1"+path, "Bearer "+members[member].Access, body)
	}
	s.like = func(from, to int) load.Request {
		return as(from, http.MethodPost, "/likes", map[string]any{"toUserId": members[to].ID, "anonymous": false})
	}
	s.message = func(n, from int) load.Request {
		chat := pairs.Of(members[from].ID, members[from^1].ID).ChatID()
		return as(from, http.MethodPost, "/chats/"+chat+"/messages", map[string]any{"content": text(n)})
	}
	s.deck = func(of int) load.Request { return as(of, http.MethodGet, "/users?limit=10", nil) }
}
