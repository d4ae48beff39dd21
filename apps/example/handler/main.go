// Command handler is the smallest application on the foundation: notes, of which a queue function
// measures the length. It is there for tests, and to begin a sibling with.
package main

import (
	"log/slog"
	"net/http"
	"time"

	release "prompthub/apps/example"
	"prompthub/apps/example/internal/notes"
	"prompthub/internal/host/command"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/telemetry"
)

func main() { program().Main() }

// settings are all that can be set.
type settings struct {
	command.Settings
	notes.Tables
}

func program() command.Program {
	s := command.Service{
		Name: "example", Release: release.Files, Title: "Example", About: "Example. Its notes are at /api/notes/{name}.",
		Health: "/api/health", Ready: "/api/ready", Read: read,
		Try: func(_ command.Settings, url string) string {
			return "Try:\n  curl -H \"X-Dev-User: ann\" -d \"Buy milk\" " + url + "/api/notes/today\n"
		},
	}
	return command.Program{
		Service: s, Commands: []command.Command{s.Local(), s.Doctor(), s.CheckSettings(), s.HealthCheck(), s.Version()},
		Intro: "Example, the smallest application.\n\nUsage:\n  %[1]s COMMAND [flags]\n\nCommands:\n",
	}
}

// read reads the settings, with which the application can be built.
func read() (command.Settings, command.Build, error) {
	var s settings
	err := command.ReadSettings(&s)
	if err == nil {
		err = command.CheckTables(s.All()...)
	}
	return s.Settings, func(general command.Settings, st command.Store, log *slog.Logger, t *telemetry.Telemetry) command.App {
		b := notes.Book{Tables: s.Tables, Store: t.Tables(st.Tables), Queues: t.Queues(st.Queues)}
		doors := func(s command.Serving) http.Handler {
			return general.Clients(httpjson.Observer{Log: log, Now: time.Now, Telemetry: t}.Observe(httpjson.Secure(httpjson.Single(b.Routes(s.Identify)))))
		}
		return command.App{Create: b.Create, Triggers: b.Triggers(), Doors: doors, Wait: func() {}, Tables: s.All()}
	}, err
}
