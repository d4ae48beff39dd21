package main

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"prompthub/internal/auth"
	"prompthub/internal/prompthub"
	"prompthub/internal/prompthub/api"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

// An app is PromptHub over a store.
type app struct {
	settings settings
	log      *slog.Logger
	db       *promptdb.DB
	behind   sync.WaitGroup // work that may follow an answer
}

func newApp(s settings, st store, log *slog.Logger) *app {
	a := &app{settings: s, log: log}
	a.db = promptdb.New(promptdb.Config{
		Store: st.tables, Queues: st.queues, Tables: s.Tables, Tags: s.Tags,
		Now: time.Now, Log: log, Sleep: wait,
		Behind: func(do func()) { a.behind.Go(do) },
	})
	return a
}

// api returns the HTTP API.
func (a *app) api(identify auth.Identify) http.Handler {
	version, _ := built()
	return api.New(api.Config{
		Service:  prompthub.New(a.db, prompt.Rules{MaxText: a.settings.MaxText}, time.Now),
		Identify: identify, PublicRead: a.settings.PublicRead, MaxText: a.settings.MaxText,
		Log: a.log, Now: time.Now, Version: version,
	})
}

// create makes tables and queues and tries again until it succeeds or ctx ends. Until then ready
// reports that the storage does not answer, and so does what needs a table that is missing.
func (a *app) create(ctx context.Context) {
	pause := time.Second
	for {
		err := a.db.Create(ctx)
		if err == nil || ctx.Err() != nil {
			return
		}
		a.log.WarnContext(ctx, "cannot create tables and queues yet", slog.String("error", err.Error()))
		if wait(ctx, pause) != nil {
			return
		}
		pause = min(2*pause, 30*time.Second)
	}
}
