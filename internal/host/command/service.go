package command

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/host/function"
	"prompthub/internal/http/auth"
	"prompthub/internal/storage/backup"
	"prompthub/internal/storage/queue"
	"prompthub/internal/telemetry"
)

// A Service is an application as the Functions host and "local" run it.
type Service struct {
	// Name is what the installed program is called, in lower case. The file of the embedded store,
	// what telemetry says and the names of the cookies of sessions begin with it.
	Name  string
	Title string // as people write it
	About string // what GET / answers, one line

	// Shared names properties whose texts are the same in many rows of one thing, of which the
	// embedded store keeps them once.
	Shared []string

	Health string // the path that answers while the process is up
	Ready  string // the path that answers 200 where the storage does

	// Posts is a path that is sent to the handler with POST. Empty: that of Health is.
	Posts string

	// Release has host.json and the folder functions as the program was built with them.
	Release fs.FS

	// Pages is where browsers find the pages, and Callback, below it, where the provider sends those
	// who sign in. Both are empty where there are none.
	Pages, Callback string

	SignIn SignIn // how callers are identified

	Blobs bool // the application keeps blobs: without, Store.Blobs is nil

	// Files says that rows name blobs, so that a store and its blobs belong together: "local" can be
	// told to adopt others.
	Files bool

	// Read reads the settings of the environment and says how to build the application. The error is
	// an *auth.Refusal; the settings hold then what could be read.
	Read func() (Settings, Build, error)

	// Try tells who has started "local" what to try at the address url.
	Try func(s Settings, url string) string
}

// A SignIn says how callers are identified.
type SignIn int

// The ways to sign in.
const (
	ByAuthMode  SignIn = iota // as the setting AUTH_MODE says
	NoSignIn                  // not at all, all are anonymous; AUTH_MODE has no meaning
	OwnAccounts               // by the application itself; AUTH_MODE and its headers have no meaning
)

// A Build builds an application over a store, which it asks for nothing yet. Measured calls to the
// store go through the telemetry, which may be nil.
type Build func(Settings, Store, *slog.Logger, *telemetry.Telemetry) App

// An App is an application over a store.
type App struct {
	Create   func(context.Context) error // makes what is missing of tables and queues
	Triggers []function.Trigger
	Doors    func(Serving) http.Handler
	Wait     func() // until the work that follows answers has ended
	Verify   Verify // nil where there is none

	// Contents say what a backup has, or else Backup writes one. Neither: there is none.
	Contents *backup.Contents
	Backup   Backup

	// Repair does the work of the messages that no backup has, in a store into which a backup was
	// read. Nil: there is no such work.
	Repair func(context.Context) error

	// Settles is how long rows may differ while a change is under way: those that differ in a running
	// service are looked at again after it.
	Settles time.Duration

	// Welcome returns more text for the person that started "local"; the service is at the address
	// url. It is nil where there is nothing to tell.
	Welcome func(ctx context.Context, url string) (string, error)

	// Refused is why the application can do nothing with its settings and the store.
	Refused error

	// Asked is the work that a running process does on its embedded store for commands that ask it,
	// by their names. It begins without delay and ends when its context does.
	Asked map[string]Action

	RowsVersion int      // of the rows that it writes, 0 where they have none
	Tables      []string // all that it has

	// Containers are those that it has besides those in Contents.
	Containers []string

	// Swept returns since when anti-entropy has seen every row, the zero time before that. It is nil
	// where there is no anti-entropy.
	Swept func(context.Context) (time.Time, error)
}

// A Serving is what the doors of an application get from the program that serves them.
type Serving struct {
	Identify auth.Identify
	Sessions *auth.Sessions                        // nil but in mode oidc
	Status   func(context.Context) ([]Fact, error) // the state of the service
}

// backup returns what writes a backup, nil where there is none.
func (a App) backup() Backup {
	if a.Contents == nil {
		return a.Backup
	}
	return func(ctx context.Context, v View, w io.Writer, r backup.Reports) (backup.Count, error) {
		return a.Contents.Write(ctx, v.From, w, r)
	}
}

// containers returns the containers of the application.
func (a App) containers() []string {
	all := slices.Clone(a.Containers)
	if a.Contents != nil {
		for _, name := range a.Contents.Containers {
			all = append(all, a.Contents.Prefix+name)
		}
		if slices.ContainsFunc(a.Triggers, func(t function.Trigger) bool { return t.Name == exportTrigger }) {
			all = append(all, a.Contents.Prefix+backup.Container)
		}
	}
	return all
}

// queues returns the queues of the application. Each has one of messages that were set aside.
func (a App) queues() (names []string) {
	for _, t := range a.Triggers {
		if t.Queue != "" {
			names = append(names, t.Queue)
		}
	}
	return names
}

// read reads the settings. With accounts of its own an application gets none of those that
// AUTH_MODE gives a meaning to, so that none of its parts believes that anybody may be anybody.
func (s Service) read() (Settings, Build, error) {
	set, build, err := s.Read()
	if s.SignIn == OwnAccounts {
		set.Config = auth.Config{}
	}
	return set, build, err
}

// signing returns how callers are identified, and the sessions of browsers where there are some. An
// application that needs no setting for that gets what finds every caller anonymous. The error is
// an *auth.Refusal.
func (s Service) signing(ctx context.Context, set Settings) (auth.Identify, *auth.Sessions, error) {
	if s.SignIn != ByAuthMode {
		return func(*http.Request) (auth.User, error) { return auth.User{}, nil }, nil, nil
	}
	identify, err := auth.New(ctx, set.Config)
	if err != nil {
		return nil, nil, err
	}
	sessions, err := set.Sessions(ctx, s.Name, s.Pages, s.Callback)
	return identify, sessions, err
}

// open builds the application, with triggers and queues that are measured.
func (s Service) open(ctx context.Context, set Settings, build Build, st Store, log *slog.Logger,
	t *telemetry.Telemetry,
) App {
	a := build(set, st, log, t)
	for i, trigger := range a.Triggers {
		a.Triggers[i].Run = func(ctx context.Context, in function.Invocation) error {
			if !in.Inserted.IsZero() {
				t.QueueAge(ctx, trigger.Queue, time.Since(in.Inserted))
			}
			return t.Function(ctx, trigger.Name, func(ctx context.Context) error { return trigger.Run(ctx, in) })
		}
	}
	var queues []string
	for _, name := range a.queues() {
		queues = append(queues, name, queue.Poison(name))
	}
	if err := t.WatchQueues(st.Queues, queues...); err != nil {
		log.WarnContext(ctx, "the queues are not measured", slog.String("error", err.Error()))
	}
	return a
}

// startTelemetry starts what the standard variables of OpenTelemetry ask for. Where that cannot be
// had the log says so, and the program does without.
func (s Service) startTelemetry(ctx context.Context, log *slog.Logger, o telemetry.Options) *telemetry.Telemetry {
	version, _ := Built()
	t, err := telemetry.Start(ctx, s.Name, version, log, o)
	if err != nil {
		log.WarnContext(ctx, "no telemetry", slog.String("error", err.Error()))
		return nil
	}
	return t
}

// create makes tables and queues and tries again until it succeeds or ctx ends. Until then ready
// reports that the storage does not answer, and so does what needs a table that is missing. refused
// is why the store is refused for good, where there is a code for it.
func (a App) create(ctx context.Context, log *slog.Logger, refused *atomic.Pointer[fault.Error]) {
	pause := time.Second
	for {
		err := a.Create(ctx)
		var f *fault.Error
		if errors.As(err, &f) && f.Code == "" {
			f = nil
		}
		refused.Store(f)
		if err == nil || ctx.Err() != nil {
			return
		}
		log.WarnContext(ctx, "cannot create tables and queues yet", slog.String("error", err.Error()))
		if Sleep(ctx, pause) != nil {
			return
		}
		pause = min(2*pause, 30*time.Second)
	}
}
