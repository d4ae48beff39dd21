// Command handler is the smallest application on the foundation: notes of people who sign in, by an
// API and by pages, with a queue, a timer and a backup. It is there to be read, and to begin a
// sibling with.
package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	mathrand "math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	release "prompthub/apps/example"
	"prompthub/apps/example/internal/api"
	"prompthub/apps/example/internal/notes"
	"prompthub/apps/example/internal/web"
	"prompthub/internal/host/command"
	"prompthub/internal/http/auth/password"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/storage/backup"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/telemetry"
)

func main() { program().Main() }

// settings are all that can be set.
type settings struct {
	command.Settings
	notes.Tables `ignored:"true"`

	// TablePrefix goes before the name of every table.
	TablePrefix string `envconfig:"TABLE_PREFIX"`

	// ContainerPrefix goes before the name of the container of exports, so that several applications
	// can share an account.
	ContainerPrefix string `envconfig:"CONTAINER_PREFIX"`

	// ExportEvery is after what time a storage account gets another export, from 1h.
	ExportEvery time.Duration `envconfig:"EXPORT_EVERY" default:"24h"`
}

// settles is how long rows may differ while a change is under way.
const settles = 2 * time.Minute

func program() command.Program {
	s := command.Service{
		Name: "example", Release: release.Files, Title: "Example",
		About:  "Example. Its pages are at " + web.Prefix + ", its API at " + api.Prefix + "/openapi.json.",
		Health: api.Prefix + "/health", Ready: api.Prefix + "/ready", Pages: web.Prefix,
		SignIn: command.OwnAccounts, Blobs: true, Read: read,
		Try: func(_ command.Settings, url string) string { return "Sign up:\n  " + url + web.Prefix + "\n" },
	}
	asks := []command.Command{s.StatusCommand(), s.Doctor(), s.CheckSettings(), s.HealthCheck(), s.Version()}
	return command.Program{
		Service: s, Commands: slices.Concat([]command.Command{s.Local()}, s.KeepingCommands(), asks),
		Intro: "Example, the smallest application.\n\nUsage:\n  %[1]s COMMAND [flags]\n\nCommands:\n",
	}
}

// read reads the settings, with which the application can be built.
func read() (command.Settings, command.Build, error) {
	var s settings
	err := command.ReadSettings(&s)
	s.Tables = rowstore.PrefixedTables[notes.Tables](s.TablePrefix)
	if err == nil {
		err = cmp.Or(command.CheckTables(rowstore.TableNames(s.Tables)...),
			command.CheckContainers(s.ContainerPrefix+backup.Container), command.CheckExportEvery(s.ExportEvery))
	}
	return s.Settings, s.build, err
}

// build builds the application over a store.
func (s settings) build(
	general command.Settings, st command.Store, log *slog.Logger, t *telemetry.Telemetry,
) command.App {
	var following sync.WaitGroup // work that follows answers
	st.Tables, st.Queues = t.Tables(st.Tables), t.Queues(st.Queues)
	book := s.book(st, log, following.Go)
	a := command.App{
		Create: book.Create, Triggers: book.Triggers(), Wait: following.Wait,
		Contents: s.Contents(), Repair: book.Repair,
		Settles: settles, Tables: rowstore.TableNames(s.Tables),
		Verify: func(ctx context.Context, v command.View, found func(any), progress func(int)) (int, error) {
			of := s.book(command.Store{Tables: v.Tables, Queues: v.Queues}, log, func(do func()) { do() })
			count, err := of.Verify(ctx, found)
			progress(count)
			return count, err
		},
		Doors: func(command.Serving) http.Handler {
			version, _ := command.Built()
			admission := httpjson.NewAdmission(general.Complete(false), time.Now)
			return general.Clients(httpjson.Mount(web.Prefix,
				api.New(api.Config{
					Book: book, Admission: admission, Origins: general.Origins, Log: log, Now: time.Now, Telemetry: t,
					Version: version,
				}),
				web.New(web.Config{Book: book, Admission: admission, Log: log, Now: time.Now, Telemetry: t})))
		},
	}
	a.Contents.Prefix = s.ContainerPrefix
	if command.OnAzure() {
		export := backup.Exporter{Contents: *a.Contents, Blobs: t.Blobs(st.Blobs), Every: s.ExportEvery, Now: time.Now}
		a.Triggers = append(a.Triggers, command.ExportTrigger(export, backup.From{Tables: st.Tables}, log))
	}
	return a
}

func (s settings) book(st command.Store, log *slog.Logger, background func(func())) *notes.Book {
	return notes.New(notes.Config{
		Store: &rowstore.Store{
			DB: st.Tables, Now: time.Now, Log: log, Sleep: command.Sleep, Background: background,
			Random: func(most time.Duration) time.Duration { return mathrand.N(most + 1) },
		},
		Tables: s.Tables, Queues: st.Queues, Entropy: rand.Reader, Passwords: password.NewHasher(),
	})
}
