// Command handler is AloeVera Harmony Meet: the custom handler of a function app, and the same in
// one process on a machine of one's own. "handler help" lists its commands.
package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	// Where there are no certificate authorities, as in a container from scratch, these are used.
	_ "golang.org/x/crypto/x509roots/fallback"

	release "prompthub/apps/harmony"
	"prompthub/apps/harmony/internal/api"
	"prompthub/apps/harmony/internal/blog"
	"prompthub/apps/harmony/internal/chats"
	"prompthub/apps/harmony/internal/erase"
	"prompthub/apps/harmony/internal/events"
	"prompthub/apps/harmony/internal/forum"
	"prompthub/apps/harmony/internal/gallery"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/reports"
	"prompthub/apps/harmony/internal/shop"
	"prompthub/apps/harmony/internal/tidy"
	"prompthub/apps/harmony/internal/topic"
	"prompthub/apps/harmony/internal/verify"
	"prompthub/apps/harmony/internal/web"
	"prompthub/internal/delivery/acs"
	"prompthub/internal/delivery/mail"
	"prompthub/internal/host/command"
	"prompthub/internal/host/function"
	"prompthub/internal/http/auth"
	"prompthub/internal/http/auth/password"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/storage/azure"
	"prompthub/internal/storage/backup"
	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/blob/picture"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/telemetry"
)

// heapLimit is from where on the heap is collected as often as it takes to stay below, in bytes: a
// decoded picture is large, and its memory is free as soon as it is small.
const heapLimit = 400 << 20

func main() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(heapLimit)
	}
	program().Main()
}

// The tables of rooms, by their names here.
type (
	EventTables  = events.Tables
	ForumTables  = topic.Tables
	ReportTables = reports.Tables
	ShopTables   = shop.Tables
	BlogTables   = blog.Tables
)

// settings are all that can be set.
type settings struct {
	command.Settings
	meet.Tables  `ignored:"true"`
	EventTables  `ignored:"true"`
	ForumTables  `ignored:"true"`
	ReportTables `ignored:"true"`
	ShopTables   `ignored:"true"`
	BlogTables   `ignored:"true"`

	// TablePrefix goes before the name of every table.
	TablePrefix string `envconfig:"TABLE_PREFIX"`

	// ContainerPrefix goes before the names of the containers, so that several applications can share
	// a storage account.
	ContainerPrefix string `envconfig:"CONTAINER_PREFIX"`

	// LikesADay is how many likes a member may send on a day (UTC). -1: no limit.
	LikesADay int `envconfig:"LIKES_A_DAY" default:"200"`

	// ExportEvery is after what time a storage account gets another export, from 1h.
	ExportEvery time.Duration `envconfig:"EXPORT_EVERY" default:"24h"`

	// SignUpsAnHour is how many accounts one address of the internet may make in an hour; a network of
	// IPv6 twice as many. -1: no limit.
	SignUpsAnHour int `envconfig:"SIGN_UPS_AN_HOUR" default:"5"`

	// MailSender is how mails are sent: smtp, acs by Azure Communication Services, or printed, which
	// writes them to the terminal of "local" and is refused under the Functions host. Not set: none
	// are sent.
	MailSender string `envconfig:"MAIL_SENDER"`

	// MailFrom is the address that they come from. SMTPURL is that of the server of smtp, and
	// ACSEndpoint that of the resource of acs, which must know the identity of the application.
	MailFrom    string `envconfig:"MAIL_FROM"`
	SMTPURL     string `envconfig:"SMTP_URL"`
	ACSEndpoint string `envconfig:"ACS_ENDPOINT"`

	// PublicURL is the address by which browsers find the service, without a path. Links in mails
	// begin with it. Not set: that which Azure gave to the function app.
	PublicURL string `envconfig:"PUBLIC_URL"`

	// MailsADay is how many mails are sent on a day (UTC). -1: no limit.
	MailsADay int `envconfig:"MAILS_A_DAY" default:"2000"`

	// EraseAfterDays is how long a deleted account can be restored before it is erased. -1: for ever.
	EraseAfterDays int `envconfig:"ERASE_AFTER_DAYS" default:"30"`
}

// settles is how long rows may differ while a change is under way, or its message waits.
const settles = 2 * time.Minute

func service() command.Service {
	return command.Service{
		Name: "harmony", Release: release.Files, Title: "AloeVera Harmony Meet",
		About: "AloeVera Harmony Meet. Its pages are at " + web.Prefix + ", its API at " +
			api.Prefix + "/openapi.json.",
		Health: api.Prefix + "/health", Ready: api.Prefix + "/ready", Pages: web.Prefix, SignIn: command.OwnAccounts,
		Blobs: true, Files: true, Read: read,
		Try: func(_ command.Settings, url string) string { return "Sign up:\n  " + url + web.Prefix + "\n" },
	}
}

func program() command.Program {
	s := service()
	return command.Program{
		Service: s, Commands: slices.Concat([]command.Command{s.Local()}, s.KeepingCommands(),
			[]command.Command{
				role(), reset(), s.StatusCommand(), s.Doctor(), s.CheckSettings(),
				s.HealthCheck(), s.Version(),
			}),
		Intro: "AloeVera Harmony Meet: the fans of one band find one another.\n\nUsage:\n  %[1]s COMMAND [flags]\n\nCommands:\n",
	}
}

// readSettings reads the settings of the environment.
func readSettings() (settings, error) {
	var s settings
	err := command.ReadSettings(&s)
	s.Tables = rowstore.PrefixedTables[meet.Tables](s.TablePrefix)
	s.EventTables = rowstore.PrefixedTables[EventTables](s.TablePrefix)
	s.ForumTables = rowstore.PrefixedTables[ForumTables](s.TablePrefix)
	s.ReportTables = rowstore.PrefixedTables[ReportTables](s.TablePrefix)
	s.ShopTables = rowstore.PrefixedTables[ShopTables](s.TablePrefix)
	s.BlogTables = rowstore.PrefixedTables[BlogTables](s.TablePrefix)
	if err == nil {
		err = command.CheckTables(s.all()...)
	}
	if err == nil {
		for _, name := range append(slices.Clone(pictures), meet.ContainerRemoved, backup.Container) {
			err = cmp.Or(err, command.CheckContainers(s.ContainerPrefix+name))
		}
	}
	if err == nil && s.EraseAfterDays < -1 {
		err = fmt.Errorf("ERASE_AFTER_DAYS is %d: give days, or -1 for never", s.EraseAfterDays)
	}
	if err == nil {
		_, err = s.mailer()
	}
	return s, cmp.Or(err, command.CheckExportEvery(s.ExportEvery))
}

func refusal(setting, reason string) error { return &auth.Refusal{Setting: setting, Reason: reason} }

// site is what links in mails begin with.
func (s settings) site() string {
	if host := os.Getenv("WEBSITE_HOSTNAME"); s.PublicURL == "" && host != "" {
		return "https://" + host
	}
	return s.PublicURL
}

// mailer returns what sends mails; nil if none are sent.
func (s settings) mailer() (mail.Sender, error) {
	if s.MailSender == "" {
		return nil, nil
	}
	if u, err := url.Parse(s.site()); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" ||
		u.Path != "" || u.RawQuery != "" {
		return nil, refusal("PUBLIC_URL",
			"must be an address such as https://harmony.example, without a path: links in mails begin with it")
	}
	if s.MailsADay == 0 || s.MailsADay < -1 {
		return nil, refusal("MAILS_A_DAY", "must be 1 or more, or -1 for no limit")
	}
	switch s.MailSender {
	case "printed":
		if s.Port != 0 {
			return nil, refusal("MAIL_SENDER", "is printed, which is for \"handler local\" only")
		}
		return mail.Printed{To: os.Stderr}, nil
	case "smtp":
		sender, err := mail.NewSMTP(s.SMTPURL, s.MailFrom)
		return sender, refused(err)
	case "acs":
		identity, err := azure.IdentityFromEnv(os.Getenv)
		if err != nil {
			return nil, refused(err)
		}
		resource, err := acs.New(s.ACSEndpoint, identity.Token)
		if err != nil {
			return nil, refused(err)
		}
		sender, err := mail.NewACS(resource, s.MailFrom)
		return sender, refused(err)
	}
	return nil, refusal("MAIL_SENDER", "must be smtp, acs or printed")
}

// refused returns an error of a sender as one of its setting.
func refused(err error) error {
	if err == nil {
		return nil
	}
	return refusal("MAIL_SENDER", "is not right: "+err.Error())
}

// read reads the settings, with which the application can be built.
func read() (command.Settings, command.Build, error) {
	s, err := readSettings()
	return s.Settings, func(general command.Settings, st command.Store, log *slog.Logger,
		t *telemetry.Telemetry,
	) command.App {
		var following sync.WaitGroup // work that follows answers
		r := newRooms(s, newService(s, st, log, t, following.Go))
		create := func(ctx context.Context) error { return cmp.Or(r.create(ctx), r.belongs(st.Adopt).Check(ctx)) }
		verify := func(ctx context.Context, v command.View, found func(any), progress func(int)) (int, error) {
			at := command.Store{Tables: v.Tables, Queues: v.Queues, Blobs: v.Blobs}
			return newRooms(s, newService(s, at, log, nil, func(do func()) { do() })).verify(ctx, found, progress)
		}
		var jobs []function.Trigger
		if command.OnAzure() {
			export := backup.Exporter{
				Contents: *contents(s), Blobs: t.Blobs(st.Blobs),
				Every: s.ExportEvery, Now: time.Now,
			}
			jobs = append(jobs, command.ExportTrigger(export,
				backup.From{Tables: t.Tables(st.Tables), Blobs: t.Blobs(st.Blobs)}, log))
		}
		return command.App{
			Create: create, Triggers: append(r.triggers(), jobs...), Wait: following.Wait,
			Contents: contents(s), Repair: r.repair, Verify: verify, Settles: settles, Tables: s.all(),
			Asked: r.asked(), Containers: []string{s.ContainerPrefix + meet.ContainerRemoved},
			Doors: func(command.Serving) http.Handler {
				return general.Clients(doors(general, r, log, t))
			},
		}
	}, err
}

// newService returns what members may do over a store.
func newService(s settings, st command.Store, log *slog.Logger, t *telemetry.Telemetry,
	background func(func()),
) *meet.Service {
	sender, err := s.mailer()
	if err != nil {
		panic(err) // readSettings has looked
	}
	return meet.New(meet.Config{
		Store: &rowstore.Store{
			DB: t.Tables(st.Tables), Now: time.Now, Log: log, Sleep: command.Sleep, Background: background,
			Random: func(most time.Duration) time.Duration { return mathrand.N(most + 1) },
		},
		Tables: s.Tables, Queues: t.Queues(st.Queues), Transact: t.Transact(st.Transact), Entropy: rand.Reader,
		Passwords: password.NewHasher(),
		Blobs:     blob.Prefixed(t.Blobs(st.Blobs), s.ContainerPrefix), Pictures: picture.NewMaker(),
		LikesADay: s.LikesADay, SignUpsAnHour: s.SignUpsAnHour,
		Mail: sender, Site: s.site(), MailsADay: s.MailsADay,
		EraseAfter: time.Duration(s.EraseAfterDays) * 24 * time.Hour,
	})
}

// rooms are the parts of the application that do the work for its doors.
type rooms struct {
	members *meet.Service
	events  *events.Service
	chats   *chats.Service
	forum   *forum.Service
	reports *reports.Service
	shop    *shop.Service
	blog    *blog.Service
}

func newRooms(s settings, members *meet.Service) rooms {
	happens := events.New(members, s.EventTables, s.ForumTables)
	talk := forum.New(members, happens, s.ForumTables)
	talks := chats.New(members, happens)
	return rooms{
		members, happens, talks, talk, reports.New(members, talks, talk, s.ReportTables),
		shop.New(members, s.ShopTables), blog.New(members, s.BlogTables),
	}
}

// create makes what is missing in the store. The tables of members come last: Ready asks for one of
// them.
func (r rooms) create(ctx context.Context) error {
	for _, create := range []func(context.Context) error{
		r.events.Create, r.forum.Create, r.reports.Create,
		r.shop.Create, r.blog.Create,
	} {
		if err := create(ctx); err != nil {
			return err
		}
	}
	return r.members.Create(ctx)
}

// compared is what compares the rows of all parts.
func (r rooms) compared() verify.Store {
	return verify.Store{
		Service: r.members,
		Checks:  slices.Concat(r.events.Checks(), r.forum.Checks(), r.blog.Checks(), r.shop.Checks()),
	}
}

// triggers are the jobs of all parts.
func (r rooms) triggers() []function.Trigger {
	tidies := tidy.Job{
		Service: r.members,
		Walks: append(r.compared().Walks(), tidy.Walk{Name: "snapshots", Step: r.reports.Sweep},
			tidy.Walk{Name: "mails", Step: r.members.SweepMails}), Containers: []tidy.Container{
			{Name: meet.ContainerChats, Named: r.chats.Named},
			{Name: gallery.ContainerStore, Named: r.shop.Named},
			{Name: gallery.ContainerEvents, Named: r.events.Named},
			{Name: gallery.ContainerBlog, Named: r.blog.Named},
		},
	}
	erases := erase.Job{
		Service: r.members,
		Traces: slices.Concat(r.members.Traces(), r.events.Traces(), r.chats.Traces(), r.forum.Traces(),
			r.reports.Traces(), r.blog.Traces()),
	}
	return append(r.members.Triggers(slices.Concat(r.events.Settlers(), r.chats.Settlers(), r.forum.Settlers(),
		r.blog.Settlers())...), r.members.NewsTrigger(), tidies.Trigger(), erases.Trigger())
}

// doors serves the pages and the API, by the path.
func doors(s command.Settings, r rooms, log *slog.Logger, t *telemetry.Telemetry) http.Handler {
	version, _ := command.Built()
	admission := httpjson.NewAdmission(s.Complete(false), time.Now)
	programs := api.New(api.Config{
		Service: r.members, Events: r.events, Chats: r.chats, Forum: r.forum, Reports: r.reports, Shop: r.shop,
		Blog: r.blog, Admission: admission, Origins: s.Origins, Log: log, Now: time.Now, Telemetry: t, Version: version,
	})
	pages := web.New(web.Config{
		Service: r.members, Events: r.events, Chats: r.chats, Forum: r.forum,
		Reports: r.reports, Shop: r.shop, Blog: r.blog, Admission: admission, Log: log, Now: time.Now, Telemetry: t,
	})
	return httpjson.Mount(web.Prefix, programs, pages)
}
