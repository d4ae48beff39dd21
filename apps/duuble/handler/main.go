// Command handler is Duuble: the custom handler of a function app, and the same in one process on
// a machine of one's own. "handler help" lists its commands.
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

	release "prompthub/apps/duuble"
	"prompthub/apps/duuble/internal/api"
	"prompthub/apps/duuble/internal/assets"
	"prompthub/apps/duuble/internal/ballot"
	"prompthub/apps/duuble/internal/discussions"
	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/pictures"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/apps/duuble/internal/stream"
	"prompthub/apps/duuble/internal/web"
	"prompthub/internal/delivery/acs"
	"prompthub/internal/delivery/sms"
	"prompthub/internal/host/command"
	"prompthub/internal/host/function"
	"prompthub/internal/http/auth"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/storage/azure"
	"prompthub/internal/storage/backup"
	"prompthub/internal/storage/belong"
	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/blob/picture"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
	"prompthub/internal/telemetry"
)

// heapLimit is from where on the heap is collected as often as it takes to stay below, in bytes: a
// decoded picture is large, and its memory is free as soon as it is small.
const heapLimit = 256 << 20

func main() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(heapLimit)
	}
	program().Main()
}

// settings are all that can be set.
type settings struct {
	command.Settings
	schema.Tables `ignored:"true"`

	// SecretKeys seal phone numbers and sign tokens: 32 random bytes in base64, several by commas.
	// The first seals, each opens, and stored numbers are named with the last. Under the Functions
	// host they must be set; "local" makes them once.
	SecretKeys string `envconfig:"SECRET_KEYS"`

	// VoteKeys seal the votes that are not counted yet, likewise. They must be kept apart from the
	// data and its copies.
	VoteKeys string `envconfig:"VOTE_KEYS"`

	// SMSSender is how codes are sent: acs by Azure Communication Services, or printed, which
	// writes them to the terminal of "local" and is refused under the Functions host. Not set:
	// printed.
	SMSSender string `envconfig:"SMS_SENDER" default:"printed"`

	// ACSEndpoint is the address of the Communication Services resource, which must know the identity
	// of the application, and ACSFrom one of its numbers.
	ACSEndpoint string `envconfig:"ACS_ENDPOINT"`
	ACSFrom     string `envconfig:"ACS_FROM"`

	// CodeLasts is how long a code is good: 1s to 10m.
	CodeLasts time.Duration `envconfig:"OTP_LASTS" default:"5m"`

	// PerPhone is how many codes for a number an address, or a device that has signed in to the number
	// before, may ask for in 15 minutes, and PerAddress an address for all numbers in an hour. -1: no
	// limit, and no 30 seconds between two codes for a number.
	PerPhone   int `envconfig:"OTP_PER_PHONE" default:"5"`
	PerAddress int `envconfig:"OTP_PER_ADDRESS" default:"30"`

	// PerNetwork is how many codes in an hour go to new devices in a network of IPv6 (/48), PerCountry
	// to those with numbers of a country, by its calling code, and PerHour to all. -1: no limit.
	PerNetwork int `envconfig:"OTP_PER_NETWORK" default:"60"`
	PerCountry int `envconfig:"OTP_PER_COUNTRY" default:"500"`
	PerHour    int `envconfig:"OTP_PER_HOUR" default:"1000"`

	// DevCodes has programs on the same machine ask for codes, at /api/v1/dev/otp/ID. It is for
	// development: a loopback address, and printed codes.
	DevCodes bool `envconfig:"DEV_CODES"`

	// PublicURL is the address by which browsers find the service, without a path. It goes before
	// the links of invitations, which are paths without it.
	PublicURL string `envconfig:"PUBLIC_URL"`

	// AdminPhones are the numbers of the people who manage the service, such as +34600000001,
	// several by commas. Not set: no one.
	AdminPhones []string `envconfig:"ADMIN_PHONES"`

	// PostsADay is how many posts and shares a person may make in a day, and VotesAnHour how often
	// a person may vote in an hour. -1: no limit.
	PostsADay    int `envconfig:"POSTS_PER_DAY" default:"100"`
	CommentsADay int `envconfig:"COMMENTS_PER_DAY" default:"1000"`
	MessagesADay int `envconfig:"MESSAGES_PER_DAY" default:"1000"`
	VotesAnHour  int `envconfig:"VOTES_PER_HOUR" default:"300"`

	// AssetsADay is how many pictures a person may upload in a day. -1: no limit.
	AssetsADay int `envconfig:"ASSETS_PER_DAY" default:"100"`

	// KeepDeleted is how long what was deleted can come back, from 1s. Then it is removed for good.
	KeepDeleted time.Duration `envconfig:"KEEP_DELETED" default:"720h"`

	// NotifyPoll is how often a stream of notifications asks the storage for new ones, from 10ms.
	// Not set: 5s, and 250ms in "local".
	NotifyPoll time.Duration `envconfig:"NOTIFY_POLL"`

	// VoteMin is how many votes are counted together at least: 3 to 50.
	VoteMin int `envconfig:"VOTE_MIN" default:"3"`

	// TablePrefix goes before the name of every table.
	TablePrefix string `envconfig:"TABLE_PREFIX"`

	// ContainerPrefix goes before the names of the containers of pictures and of exports, so that
	// several applications can share an account.
	ContainerPrefix string `envconfig:"CONTAINER_PREFIX"`

	// ExportEvery is after what time a storage account gets another export, from 1h.
	ExportEvery time.Duration `envconfig:"EXPORT_EVERY" default:"24h"`

	// SettleAfter is how old votes are, from 1s, when those that are left over from groups are
	// counted with others.
	SettleAfter time.Duration `envconfig:"SETTLE_AFTER" default:"24h"`
}

// underHost reports whether the Functions host has started the process.
func (s settings) underHost() bool { return s.Port != 0 }

func refusal(setting, reason string) error { return &auth.Refusal{Setting: setting, Reason: reason} }

func service() command.Service {
	return command.Service{
		Name: "duuble", Release: release.Files, Title: "Duuble",
		About:  "Duuble. Its pages are at " + web.Prefix + ", its API at " + api.Prefix + "/openapi.json.",
		Health: api.Prefix + "/health", Ready: api.Prefix + "/ready", Pages: web.Prefix, SignIn: command.OwnAccounts,
		Blobs: true, Files: true, Read: read,
		Try: func(_ command.Settings, url string) string {
			return "Sign in with any number, such as +34600000001; the code is printed here:\n  " + url +
				web.Prefix + "\n"
		},
	}
}

func program() command.Program {
	s := service()
	return command.Program{
		Service: s, Commands: slices.Concat([]command.Command{s.Local()}, s.KeepingCommands(), []command.Command{
			settleCommand(), purgeCommand(), eraseCommand(), promoteCommand(), rekeyCommand(), s.StatusCommand(),
			s.Doctor(), s.CheckSettings(), s.HealthCheck(), s.Version(),
		}),
		Intro: "Duuble: posts with an opinion slider, and votes that cannot be read back.\n\nUsage:\n  %[1]s COMMAND [flags]\n\nCommands:\n",
	}
}

// readSettings reads the settings of the environment.
func readSettings() (settings, error) {
	var s settings
	err := command.ReadSettings(&s)
	s.Tables = rowstore.PrefixedTables[schema.Tables](s.TablePrefix)
	if s.DevCodes {
		s.ForThisMachine = "DEV_CODES"
	}
	if err == nil {
		err = command.CheckTables(s.All()...)
	}
	if err == nil {
		err = command.CheckContainers(s.ContainerPrefix+assets.Container, s.ContainerPrefix+backup.Container)
	}
	if err == nil {
		err = s.check()
	}
	return s, err
}

// settles is how long rows may differ while messages are under way.
const settles = 2 * time.Minute

const leastLasts, mostLasts, leastSettle, leastKeep = time.Second, 10 * time.Minute, time.Second, time.Second

// A stream of notifications is open for streamFor at most. leastPoll is how often it may look.
const (
	streamFor = 25 * time.Second
	leastPoll = 10 * time.Millisecond
)

// poll returns how often streams of notifications look.
func (s settings) poll() time.Duration {
	switch {
	case s.NotifyPoll != 0:
		return s.NotifyPoll
	case s.underHost():
		return 5 * time.Second
	}
	return 250 * time.Millisecond
}

// check refuses settings that nothing can be built with.
func (s settings) check() error {
	if s.CodeLasts < leastLasts || s.CodeLasts > mostLasts {
		return refusal("OTP_LASTS", "must be from 1s to 10m")
	}
	if s.VoteMin < ballot.MinVoteMin || s.VoteMin > ballot.MaxVoteMin {
		return refusal("VOTE_MIN", fmt.Sprintf(
			"must be from %d to %d: with fewer votes in a group readers could tell what one person chose",
			ballot.MinVoteMin, ballot.MaxVoteMin))
	}
	if s.SettleAfter < leastSettle {
		return refusal("SETTLE_AFTER", "must be 1s or more")
	}
	if s.NotifyPoll != 0 && (s.NotifyPoll < leastPoll || s.NotifyPoll > streamFor) {
		return refusal("NOTIFY_POLL", "must be from 10ms to 25s")
	}
	if s.KeepDeleted < leastKeep {
		return refusal("KEEP_DELETED", "must be 1s or more")
	}
	if err := command.CheckExportEvery(s.ExportEvery); err != nil {
		return err
	}
	for name, n := range map[string]int{
		"OTP_PER_PHONE": s.PerPhone, "OTP_PER_ADDRESS": s.PerAddress,
		"OTP_PER_NETWORK": s.PerNetwork, "OTP_PER_COUNTRY": s.PerCountry, "OTP_PER_HOUR": s.PerHour,
		"POSTS_PER_DAY": s.PostsADay, "COMMENTS_PER_DAY": s.CommentsADay, "MESSAGES_PER_DAY": s.MessagesADay,
		"VOTES_PER_HOUR": s.VotesAnHour, "ASSETS_PER_DAY": s.AssetsADay,
	} {
		if n == 0 || n < -1 {
			return refusal(name, "must be 1 or more, or -1 for no limit")
		}
	}
	for i, phone := range s.AdminPhones {
		var ok bool
		if s.AdminPhones[i], ok = people.Phone(phone); !ok {
			return refusal("ADMIN_PHONES", "must be numbers such as +34600000001, separated by commas")
		}
	}
	if u, err := url.Parse(s.PublicURL); s.PublicURL != "" &&
		(err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.Path != "" || u.RawQuery != "") {
		return refusal("PUBLIC_URL", "must be an address such as https://duuble.example, without a path")
	}
	if s.DevCodes && (s.underHost() || s.SMSSender != "printed") {
		return refusal("DEV_CODES", "has every program on the machine sign in as anybody: it is for \"handler local\" with printed codes only")
	}
	if s.DevCodes && s.PublicURL != "" && !command.IsLoopback(s.PublicURL) {
		return refusal("DEV_CODES", "has every program on the machine sign in as anybody, a proxy among them, and PUBLIC_URL is no loopback address: leave one of the two out")
	}
	if s.SMSSender == "printed" && s.underHost() {
		return refusal("SMS_SENDER",
			"is printed or not set, which is for \"handler local\" only: set acs, ACS_ENDPOINT and ACS_FROM")
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
		identity, err := azure.IdentityFromEnv(os.Getenv)
		if err != nil {
			return nil, err
		}
		resource, err := acs.New(s.ACSEndpoint, identity.Token)
		if err != nil {
			return nil, err
		}
		return sms.NewACS(resource, s.ACSFrom, time.Now)
	}
	return nil, refusal("SMS_SENDER", "must be acs or printed")
}

// read reads the settings, with which the application can be built.
func read() (command.Settings, command.Build, error) {
	s, err := readSettings()
	return s.Settings, func(general command.Settings, st command.Store, log *slog.Logger,
		t *telemetry.Telemetry,
	) command.App {
		var following sync.WaitGroup // work that follows answers
		d, err := build(s, st, log, t, following.Go)
		if err != nil {
			return command.App{
				Create: func(context.Context) error { return err }, Wait: following.Wait,
				Contents: contents(s), Tables: s.All(), Refused: err,
			}
		}
		verify := func(ctx context.Context, v command.View, found func(any), progress func(int)) (int, error) {
			st := st
			st.Tables, st.Queues, st.Blobs, st.Transact = v.Tables, v.Queues, v.Blobs, nil
			of, err := build(s, st, log, nil, func(do func()) { do() })
			if err != nil {
				return 0, err
			}
			return of.verify(ctx, found, progress)
		}
		triggers := d.triggers()
		if command.OnAzure() {
			export := backup.Exporter{
				Contents: *contents(s), Blobs: t.Blobs(st.Blobs),
				Every: s.ExportEvery, Now: time.Now,
			}
			triggers = append(triggers,
				command.ExportTrigger(export, backup.From{Tables: d.DB, Blobs: t.Blobs(st.Blobs)}, log))
		}
		return command.App{
			Create:   func(ctx context.Context) error { return cmp.Or(d.create(ctx), d.belongs(st.Adopt).Check(ctx)) },
			Triggers: triggers, Wait: following.Wait, Contents: contents(s), Repair: d.repair, Verify: verify,
			Settles: settles, Tables: d.tables.All(), Asked: d.asked(),
			Doors: func(command.Serving) http.Handler { return general.Clients(d.doors(general, log, t)) },
		}
	}, err
}

// A duuble is the parts of the application over a store.
type duuble struct {
	*rowstore.Store
	tables  schema.Tables
	queues  queue.Queues
	people  *people.Service
	hubs    *hubs.Service
	posts   *posts.Service
	talks   *discussions.Service
	assets  *assets.Service
	shown   *pictures.Service
	site    string // the address before the paths of links that people send
	ballot  *ballot.Store
	min     int  // how many votes are counted together
	printed bool // whether codes are printed in the terminal
	poll    time.Duration
}

// build puts the parts together.
func build(s settings, st command.Store, log *slog.Logger, t *telemetry.Telemetry,
	background func(func()),
) (*duuble, error) {
	k, err := readKeys(s)
	if err == nil {
		k, err = k.complete(st.Dir, !st.Existing)
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
	d := &duuble{
		Store: rows, tables: s.Tables, queues: t.Queues(st.Queues), min: s.VoteMin, site: s.PublicURL,
		poll: s.poll(), printed: s.SMSSender == "printed",
	}
	d.assets = assets.New(assets.Config{
		Store: rows, Tables: s.Tables, Entropy: rand.Reader,
		Blobs: blob.Prefixed(t.Blobs(st.Blobs), s.ContainerPrefix), Pictures: picture.NewMakerOf(assets.MaxPixels),
	})
	d.people = people.New(people.Config{
		Store: rows, Tables: s.Tables, Queues: d.queues, Entropy: rand.Reader, Keys: k.secret,
		SMS: sender, Assets: d.assets,
		Admins: s.AdminPhones, Keep: s.KeepDeleted, CodeLasts: s.CodeLasts, PerPhone: s.PerPhone,
		PerAddress: s.PerAddress, PerNetwork: s.PerNetwork, PerCountry: s.PerCountry, PerHour: s.PerHour,
		KeepCodes: s.DevCodes, Telemetry: t,
	})
	d.hubs = hubs.New(hubs.Config{Store: rows, Tables: s.Tables, Entropy: rand.Reader, People: d.people})
	sealing, err := ballot.NewKeys(k.vote...)
	if err != nil {
		return nil, err
	}
	// Votes go on in goroutines of the ballot, which may begin work after the last request was
	// waited for. None of it must be done: a message comes a minute later by itself.
	voting := *rows
	voting.Background = func(do func()) { go do() }
	d.ballot = ballot.New(ballot.Config{
		Store: &voting, Posts: s.Posts, Due: s.Admin, Queues: d.queues, Transact: t.Transact(st.Transact),
		Keys: sealing, VoteMin: s.VoteMin, SettleAfter: s.SettleAfter,
		Entropy: rand.Reader, Follow: func(ctx context.Context, votes []ballot.Receipt) error {
			return d.posts.FollowVotes(ctx, votes)
		},
	})
	d.posts = posts.New(posts.Config{
		Store: rows, Tables: s.Tables, Queues: d.queues, Entropy: rand.Reader, People: d.people, Hubs: d.hubs,
		Ballot: d.ballot, PostsADay: s.PostsADay, CommentsADay: s.CommentsADay,
		MessagesADay: s.MessagesADay, VotesAnHour: s.VotesAnHour,
	})
	d.talks = discussions.New(d.posts)
	d.shown = &pictures.Service{Assets: d.assets, Posts: d.posts, ADay: s.AssetsADay}
	return d, nil
}

// create makes what is missing of queues and tables, and refuses keys that are not those of the
// data.
func (d *duuble) create(ctx context.Context) error {
	if err := d.make(ctx); err != nil {
		return err
	}
	return d.people.CheckKeys(ctx)
}

// make makes what is missing of queues and tables.
func (d *duuble) make(ctx context.Context) error {
	for _, name := range append(posts.Queues(), people.Queues()...) {
		if err := d.queues.Create(ctx, name, queue.Poison(name)); err != nil {
			return err
		}
	}
	if err := d.assets.Blobs.Create(ctx, assets.Container); err != nil {
		return err
	}
	return d.DB.Create(ctx, d.tables.All()...)
}

// belongs has the store and its pictures know each other.
func (d *duuble) belongs(adopt bool) belong.Store {
	return belong.Store{
		Tables: d.DB, Table: d.tables.Admin, Blobs: d.assets.Blobs, Containers: []string{assets.Container},
		Adopt: adopt,
		Old: func(ctx context.Context) (bool, error) {
			page, err := d.DB.List(ctx, d.tables.Users, table.Range{}, 1, "")
			return len(page.Rows) > 0, err
		},
	}
}

// ready asks the storage for something.
func (d *duuble) ready(ctx context.Context) error {
	_, err := d.GetRow(ctx, d.tables.Admin, table.Key{Partition: "ready"}) // the last that is made
	return err
}

// triggers returns the functions that no request starts.
func (d *duuble) triggers() []function.Trigger {
	verify := function.Trigger{
		Name: "verify", Schedule: "0 25 4 * * *",
		Run: func(ctx context.Context, _ function.Invocation) error { return d.verifyNow(ctx) },
	}
	return append(append(d.people.Triggers(d.hubs.Expire, d.shown.Sweep), d.posts.Triggers()...), verify)
}

// doors serves the pages and the API, by the path.
func (d *duuble) doors(s command.Settings, log *slog.Logger, t *telemetry.Telemetry) http.Handler {
	version, _ := command.Built()
	admission := httpjson.NewAdmission(s.Complete(false), time.Now)
	streams := stream.New(stream.Config{Posts: d.posts, Poll: d.poll, For: streamFor})
	programs := api.New(api.Config{
		People: d.people, Posts: d.posts, Hubs: d.hubs, Discussions: d.talks, Pictures: d.shown, Site: d.site,
		VoteMin: d.min, Ready: d.ready, Admission: admission, Origins: s.Origins, Log: log, Now: time.Now,
		Telemetry: t, Version: version,
		Streams: streams,
	})
	pages := web.New(web.Config{
		People: d.people, Posts: d.posts, Hubs: d.hubs, Discussions: d.talks, Pictures: d.shown,
		Streams: streams, Site: d.site, VoteMin: d.min, Printed: d.printed, Admission: admission, Log: log,
		Now: time.Now, Telemetry: t,
	})
	return httpjson.Mount(web.Prefix, programs, pages)
}
