// Command handler is Async Ricochet Robots: the custom handler of a function app, and the same in
// one process on a machine of one's own. "handler help" lists its commands.
package main

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"slices"
	"time"

	// Where there are no certificate authorities, as in a container from scratch, these are used.
	_ "golang.org/x/crypto/x509roots/fallback"

	release "prompthub/apps/ricochet"
	"prompthub/apps/ricochet/internal/api"
	"prompthub/apps/ricochet/internal/game"
	"prompthub/apps/ricochet/internal/web"
	"prompthub/internal/host/command"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/storage/backup"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/telemetry"
)

func main() { program().Main() }

// settings are all that can be set.
type settings struct {
	command.Settings
	game.Tables `ignored:"true"`

	// TablePrefix goes before the name of every table.
	TablePrefix string `envconfig:"TABLE_PREFIX"`

	// ContainerPrefix goes before the name of the container of exports, so that several applications
	// can share an account.
	ContainerPrefix string `envconfig:"CONTAINER_PREFIX"`

	// ExportEvery is after what time a storage account gets another export, from 1h.
	ExportEvery time.Duration `envconfig:"EXPORT_EVERY" default:"24h"`
}

// settles is how long rows may differ while a change is under way.
const settles = time.Minute

func program() command.Program {
	s := command.Service{
		Name: "ricochet", Release: release.Files, Title: "Async Ricochet Robots",
		About: "Async Ricochet Robots. Its pages are at " + web.Prefix + ", its API at " +
			api.Prefix + "/openapi.json.",
		Health: api.Prefix + "/health", Ready: api.Prefix + "/ready", Pages: web.Prefix,
		SignIn: command.NoSignIn, Blobs: true, Read: read,
		Try: func(_ command.Settings, url string) string { return "Play:\n  " + url + web.Prefix + "\n" },
	}
	return command.Program{
		Service: s, Commands: slices.Concat([]command.Command{s.Local()}, s.KeepingCommands(),
			[]command.Command{s.StatusCommand(), s.Doctor(), s.CheckSettings(), s.HealthCheck(), s.Version()}),
		Intro: "Async Ricochet Robots: a board, a goal, and until the end of the round to find the shortest way.\n\nUsage:\n  %[1]s COMMAND [flags]\n\nCommands:\n",
	}
}

// read reads the settings, with which the application can be built.
func read() (command.Settings, command.Build, error) {
	var s settings
	err := command.ReadSettings(&s)
	s.Tables = rowstore.PrefixedTables[game.Tables](s.TablePrefix)
	if err == nil {
		err = command.CheckTables(s.All()...)
	}
	if err == nil {
		err = command.CheckContainers(s.ContainerPrefix + backup.Container)
	}
	if err == nil {
		err = command.CheckExportEvery(s.ExportEvery)
	}
	return s.Settings, func(general command.Settings, st command.Store, log *slog.Logger,
		t *telemetry.Telemetry,
	) command.App {
		games := &game.Games{
			Tables: s.Tables, Store: t.Tables(st.Tables), Queues: t.Queues(st.Queues), Now: time.Now,
			Random: rand.Reader, Log: log, Solve: game.Search,
		}
		doors := func(command.Serving) http.Handler {
			return general.Clients(pagesAndAPI(general, games, log, t))
		}
		verify := func(ctx context.Context, v command.View, found func(any), progress func(int)) (int, error) {
			of := *games
			of.Store, of.Queues = v.Tables, v.Queues
			rows, err := of.Verify(ctx, func(what string) { found(what) })
			progress(rows)
			return rows, err
		}
		contents := s.Contents()
		contents.Prefix = s.ContainerPrefix
		a := command.App{
			Create: games.Create, Triggers: games.Triggers(), Doors: doors, Wait: func() {},
			Contents: contents, Repair: games.Repair, Verify: verify, Settles: settles, Tables: s.All(),
		}
		if command.OnAzure() {
			export := backup.Exporter{
				Contents: *contents, Blobs: t.Blobs(st.Blobs),
				Every: s.ExportEvery, Now: time.Now,
			}
			a.Triggers = append(a.Triggers, command.ExportTrigger(export, backup.From{Tables: games.Store}, log))
		}
		return a
	}, err
}

// pagesAndAPI serves the pages and the API, by the path.
func pagesAndAPI(s command.Settings, games *game.Games, log *slog.Logger, t *telemetry.Telemetry) http.Handler {
	version, _ := command.Built()
	programs := api.New(api.Config{
		Games: games, Admission: httpjson.NewAdmission(s.Complete(false), time.Now), Origins: s.Origins, Log: log,
		Now: time.Now, Telemetry: t, Version: version,
	})
	pages := httpjson.Observer{Log: log, Now: time.Now, Telemetry: t}.Observe(web.New())
	return httpjson.Mount(web.Prefix, programs, pages)
}
