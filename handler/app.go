package main

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"prompthub/internal/host/command"
	"prompthub/internal/http/auth/password"
	"prompthub/internal/prompthub/doors"
	"prompthub/internal/prompthub/doors/api"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	backups "prompthub/internal/storage/backup"
	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
	"prompthub/internal/telemetry"
)

// An app is PromptHub over a store.
type app struct {
	settings  settings
	log       *slog.Logger
	telemetry *telemetry.Telemetry
	db        *promptdb.DB
	rebuild   func(func(command.Store) error) error // of the store
	behind    sync.WaitGroup                        // work that may follow an answer
	url       string                                // where "local" listens
	passwords *library.Passwords                    // nil but in mode invited
}

// newApp returns an app that is measured by t, which may be nil.
func newApp(s settings, st command.Store, log *slog.Logger, t *telemetry.Telemetry) *app {
	a := &app{settings: s, log: log, telemetry: t, rebuild: st.Rebuild}
	if s.Invited() {
		a.passwords = library.NewPasswords(password.NewHasher(), time.Now, command.Sleep)
	}
	var blobs blob.Store // one server keeps its backups as files: command.Service.Local
	if command.OnAzure() {
		blobs = blob.Prefixed(t.Blobs(st.Blobs), s.ContainerPrefix)
	}
	a.db = promptdb.New(promptdb.Config{
		Store: t.Tables(st.Tables), Queues: t.Queues(st.Queues), Blobs: blobs,
		Transact: t.Transact(st.Transact), Load: st.Load,
		Tables: s.Tables, Tags: s.Tags, SearchMemory: s.SearchMemory,
		Quota:     promptdb.Quota{Bytes: max(s.QuotaBytes, 0), Prompts: max(s.QuotaPrompts, 0)},
		EventsFor: time.Duration(s.EventsDays) * 24 * time.Hour,
		Now:       time.Now, Log: log, Sleep: command.Sleep,
		Background: func(do func()) { a.behind.Go(do) }, Count: t.Count,
	})
	return a
}

// backup backs up a store, which may be that of a moment ago.
func (a *app) backup(ctx context.Context, v command.View, w io.Writer, r backups.Reports) (n backups.Count, err error) {
	n.Rows, err = a.over(v.Tables, nil).Backup(ctx, w, func(d promptdb.Difference) {
		r.Left(d.String())
	}, func(rows int) { r.Progress(backups.Count{Rows: rows}) })
	return n, err
}

// verify verifies a store, which may be that of a moment ago. What it finds is a differenceLine.
func (a *app) verify(ctx context.Context, v command.View, found func(any), progress func(int)) (rows int, err error) {
	return a.over(v.Tables, v.Queues).Verify(ctx, func(d promptdb.Difference) { found(foundLine(d)) }, progress)
}

// over returns a database over other tables of the application, of which it reads.
func (a *app) over(tables table.DB, queues queue.Queues) *promptdb.DB {
	return promptdb.New(promptdb.Config{
		Store: tables, Queues: queues, Tables: a.settings.Tables, Now: time.Now,
		Log: a.log, Sleep: command.Sleep,
	})
}

// service returns what users may do.
func (a *app) service() *library.Service {
	return library.New(a.db, prompt.Rules{MaxText: a.settings.MaxText}, time.Now).WithPasswords(
		a.passwords).WithAdminsMaking(a.settings.Workspaces == adminsMake)
}

// api returns the HTTP API.
func (a *app) api(d doors.Door) http.Handler {
	version, _ := command.Built()
	return api.New(api.Config{
		Service: a.service(), Identify: d.Identify, Claimed: a.settings.Dev(), PublicRead: d.PublicRead,
		Public: a.settings.Public, MaxText: a.settings.MaxText,
		Admission: d.Admission, Origins: a.settings.Origins,
		Log: a.log, Now: time.Now, Telemetry: a.telemetry, Version: version,
	})
}
