package main

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"prompthub/internal/function"
	"prompthub/internal/prompthub"
	"prompthub/internal/prompthub/api"
	"prompthub/internal/prompthub/door"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/prompthub/worker"
	"prompthub/internal/queue"
	"prompthub/internal/telemetry"
)

// An app is PromptHub over a store.
type app struct {
	settings  settings
	log       *slog.Logger
	telemetry *telemetry.Telemetry
	db        *promptdb.DB
	behind    sync.WaitGroup // work that may follow an answer
}

// newApp returns an app that is measured by t, which may be nil.
func newApp(s settings, st store, log *slog.Logger, t *telemetry.Telemetry) *app {
	a := &app{settings: s, log: log, telemetry: t}
	a.db = promptdb.New(promptdb.Config{
		Store: t.Tables(st.tables), Queues: t.Queues(st.queues), Tables: s.Tables, Tags: s.Tags,
		Now: time.Now, Log: log, Sleep: wait,
		Background: func(do func()) { a.behind.Go(do) }, Count: t.Count,
	})
	return a
}

// service returns what users may do.
func (a *app) service() *prompthub.Service {
	return prompthub.New(a.db, prompt.Rules{MaxText: a.settings.MaxText}, time.Now)
}

// api returns the HTTP API.
func (a *app) api(d door.Door) http.Handler {
	version, _ := built()
	return api.New(api.Config{
		Service: a.service(), Identify: d.Identify, Claimed: a.settings.Dev(), PublicRead: d.PublicRead, MaxText: a.settings.MaxText,
		Admission: d.Admission, Origins: a.settings.Origins,
		Log: a.log, Now: time.Now, Telemetry: a.telemetry, Version: version,
	})
}

// triggers returns the functions that no request starts, measured.
func (a *app) triggers() []function.Trigger {
	all := worker.Triggers(a.db)
	for i, t := range all {
		all[i].Run = func(ctx context.Context, in function.Invocation) error {
			if !in.Inserted.IsZero() {
				a.telemetry.QueueAge(ctx, t.Queue, time.Since(in.Inserted))
			}
			return a.telemetry.Function(ctx, t.Name, func(ctx context.Context) error { return t.Run(ctx, in) })
		}
	}
	return all
}

// startTelemetry starts what the standard variables of OpenTelemetry ask for. Where that cannot be
// had the log says so, and the program does without.
func startTelemetry(ctx context.Context, log *slog.Logger) *telemetry.Telemetry {
	version, _ := built()
	t, err := telemetry.Start(ctx, "prompthub", version, log)
	if err != nil {
		log.WarnContext(ctx, "no telemetry", slog.String("error", err.Error()))
		return nil
	}
	return t
}

// watchQueues measures how long the queues are, those of messages that failed too often too.
func (a *app) watchQueues(ctx context.Context, q queue.Queues) {
	names := []string{promptdb.QueueMoves, promptdb.QueueRepairs, queue.Poison(promptdb.QueueMoves), queue.Poison(promptdb.QueueRepairs)}
	if err := a.telemetry.WatchQueues(q, names...); err != nil {
		a.log.WarnContext(ctx, "the queues are not measured", slog.String("error", err.Error()))
	}
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
