// Command handler is Duuble: the custom handler of a function app, and the same in one process on a
// machine of one's own. "handler help" lists its commands.
package main

import (
	"context"
	"crypto/rand"
	"log/slog"
	mathrand "math/rand/v2"
	"net/http"
	"os"
	"sync"
	"time"

	// Where there are no certificate authorities, as in a container from scratch, these are used.
	_ "golang.org/x/crypto/x509roots/fallback"

	"prompthub/apps/duuble/internal/api"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/apps/duuble/internal/sms"
	"prompthub/apps/duuble/internal/web"
	"prompthub/internal/host/command"
	"prompthub/internal/host/function"
	"prompthub/internal/http/auth"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
	"prompthub/internal/telemetry"
)

func main() { program().Main() }

// settings are all that can be set.
type settings struct {
	command.Settings
	schema.Tables

	// SecretKeys seal phone numbers and sign tokens: 32 random bytes in base64, several by commas. The
	// first seals, each opens, and stored numbers are named with the last. Under the Functions host
	// they must be set; "local" makes them once.
	SecretKeys string `envconfig:"SECRET_KEYS"`

	// VoteKeys seal the votes that are not counted yet, likewise. They must be kept apart from the data
	// and its copies.
	VoteKeys string `envconfig:"VOTE_KEYS"`

	// SMSSender is how codes are sent: acs by Azure Communication Services, or printed, which writes
	// them to the terminal of "local" and is refused under the Functions host. Not set: printed.
	SMSSender string `envconfig:"SMS_SENDER" default:"printed"`

	// ACSEndpoint is the address of the Communication Services resource, ACSFrom one of its numbers and
	// ACSKey one of its access keys.
	ACSEndpoint string `envconfig:"ACS_ENDPOINT"`
	ACSFrom     string `envconfig:"ACS_FROM"`
	ACSKey      string `envconfig:"ACS_KEY"`

	// CodeLasts is how long a code is good: 1s to 10m.
	CodeLasts time.Duration `envconfig:"OTP_LASTS" default:"5m"`

	// PerPhone is how many codes a number may ask for in 15 minutes, and PerAddress an address in an
	// hour. -1: no limit, and no 30 seconds between two codes for a number.
	PerPhone   int `envconfig:"OTP_PER_PHONE" default:"5"`
	PerAddress int `envconfig:"OTP_PER_ADDRESS" default:"30"`
}

// underHost reports whether the Functions host has started the process.
func (s settings) underHost() bool { return s.Port != 0 }

func refusal(setting, reason string) error { return &auth.Refusal{Setting: setting, Reason: reason} }

func service() command.Service {
	return command.Service{
		Name: "duuble", Title: "Duuble", About: "Duuble. Its pages are at " + web.Prefix + ", its API at " + api.Prefix + "/openapi.json.",
		Health: api.Prefix + "/health", Ready: api.Prefix + "/ready", Pages: web.Prefix, SignIn: command.OwnAccounts, Read: read,
		Try: func(_ command.Settings, url string) string {
			return "Sign in with any number, such as +34600000001; the code is printed here:\n  " + url + web.Prefix + "\n"
		},
	}
}

func program() command.Program {
	s := service()
	return command.Program{
		Service: s, Commands: []command.Command{s.Local(), s.HealthCheck(), s.Version()},
		Intro: "Duuble: posts with an opinion slider, and votes that cannot be read back.\n\nUsage:\n  %[1]s COMMAND [flags]\n\nCommands:\n",
	}
}

// readSettings reads the settings of the environment.
func readSettings() (settings, error) {
	var s settings
	err := command.ReadSettings(&s)
	s.Tables = s.Tables.Prefixed()
	if err == nil {
		err = command.CheckTables(s.All()...)
	}
	if err == nil {
		err = s.check()
	}
	return s, err
}

const leastLasts, mostLasts = time.Second, 10 * time.Minute

// check refuses settings that nothing can be built with.
func (s settings) check() error {
	if s.CodeLasts < leastLasts || s.CodeLasts > mostLasts {
		return refusal("OTP_LASTS", "must be from 1s to 10m")
	}
	for name, n := range map[string]int{"OTP_PER_PHONE": s.PerPhone, "OTP_PER_ADDRESS": s.PerAddress} {
		if n == 0 || n < -1 {
			return refusal(name, "must be 1 or more, or -1 for no limit")
		}
	}
	if s.SMSSender == "printed" && s.underHost() {
		return refusal("SMS_SENDER", "is printed or not set, which is for \"handler local\" only: set acs, ACS_ENDPOINT, ACS_FROM and ACS_KEY")
	}
	if _, err := s.sender(); err != nil {
		return refusal("SMS_SENDER", "is not right: "+err.Error())
	}
	_, err := readKeys(s)
	return err
}

// sender returns what sends codes.
func (s settings) sender() (sms.Sender, error) {
	switch s.SMSSender {
	case "printed":
		return sms.Printed{To: os.Stderr}, nil
	case "acs":
		return sms.NewACS(s.ACSEndpoint, s.ACSFrom, s.ACSKey, time.Now)
	}
	return nil, refusal("SMS_SENDER", "must be acs or printed")
}

// read reads the settings, with which the application can be built.
func read() (command.Settings, command.Build, error) {
	s, err := readSettings()
	return s.Settings, func(general command.Settings, st command.Store, log *slog.Logger, t *telemetry.Telemetry) command.App {
		var following sync.WaitGroup // work that follows answers
		d, err := build(s, st, log, t, following.Go)
		if err != nil {
			return command.App{Create: func(context.Context) error { return err }, Wait: following.Wait}
		}
		return command.App{
			Create: d.create, Triggers: d.triggers(), Wait: following.Wait,
			Doors: func(auth.Identify, *auth.Sessions) http.Handler { return general.Clients(d.doors(general, log, t)) },
		}
	}, err
}

// A duuble is the parts of the application over a store.
type duuble struct {
	*rowstore.Store
	tables schema.Tables
	people *people.Service
}

// build puts the parts together.
func build(s settings, st command.Store, log *slog.Logger, t *telemetry.Telemetry, background func(func())) (*duuble, error) {
	k, err := readKeys(s)
	if err == nil {
		k, err = k.complete(st.Dir)
	}
	if err != nil {
		return nil, err
	}
	sender, err := s.sender()
	if err != nil {
		return nil, err
	}
	rows := &rowstore.Store{
		DB: t.Tables(st.Tables), Now: time.Now, Log: log, Sleep: command.Sleep, Background: background,
		Random: func(most time.Duration) time.Duration { return mathrand.N(most + 1) },
	}
	d := &duuble{Store: rows, tables: s.Tables}
	d.people = people.New(people.Config{
		Store: rows, Tables: s.Tables, Entropy: rand.Reader, Keys: k.secret, SMS: sender,
		CodeLasts: s.CodeLasts, PerPhone: s.PerPhone, PerAddress: s.PerAddress, KeepCodes: s.SMSSender == "printed",
	})
	return d, nil
}

// create makes what is missing of tables, and refuses keys that are not those of the data.
func (d *duuble) create(ctx context.Context) error {
	if err := d.DB.Create(ctx, d.tables.All()...); err != nil {
		return err
	}
	return d.people.CheckKeys(ctx)
}

// ready asks the storage for something.
func (d *duuble) ready(ctx context.Context) error {
	_, err := d.GetRow(ctx, d.tables.Admin, table.Key{Partition: "ready"}) // the last that is made
	return err
}

// triggers returns the functions that no request starts.
func (d *duuble) triggers() []function.Trigger { return d.people.Triggers() }

// doors serves the pages and the API, by the path.
func (d *duuble) doors(s command.Settings, log *slog.Logger, t *telemetry.Telemetry) http.Handler {
	version, _ := command.Built()
	admission := httpjson.NewAdmission(s.Complete(false), time.Now)
	programs := api.New(api.Config{
		People: d.people, Ready: d.ready, Admission: admission, Origins: s.Origins, Log: log, Now: time.Now, Telemetry: t, Version: version,
	})
	pages := web.New(web.Config{People: d.people, Admission: admission, Log: log, Now: time.Now, Telemetry: t})
	return httpjson.Mount(web.Prefix, programs, pages)
}
