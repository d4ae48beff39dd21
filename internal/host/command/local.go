package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime/pprof"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/host/devhost"
	"prompthub/internal/host/function/queuetrigger"
	"prompthub/internal/loopback"
	"prompthub/internal/telemetry"
)

// Local runs the service without the Functions host.
func (s Service) Local() Command {
	who, where := ` AUTH_MODE is dev unless
set: the header X-Dev-User says who is calling.`, "; but in oidc and jwt mode a loopback address"
	switch s.SignIn {
	case ByAuthMode:
	case NoSignIn:
		who, where = "", "; a loopback address"
	case OwnAccounts:
		who, where = "", ""
	}
	return Command{
		Name: "local", Short: "run everything in this process, for work on one machine",
		Long: `Runs the API, the queue functions and the timers in one process. Data is kept in the embedded store,
or in the storage account of AzureWebJobsStorage where that is set (Azurite too).` + who + ` Ends on an interrupt, after what is running.`,
		Setup: func(flags *flag.FlagSet) Action {
			addr := flags.String("addr", "127.0.0.1:7071", "`address` to listen on"+where)
			data := DataFlag(flags)
			var plan backupPlan
			plan.setup(flags)
			adopt := new(bool)
			if s.Files {
				flags.BoolVar(adopt, "adopt", false,
					"take files that belong to another store, or that this one is missing, for its own as they are")
			}
			profile := flags.String("cpuprofile", "",
				"`file` to write a profile of the processor time to, for go tool pprof, when it ends")
			return func(ctx context.Context, std Streams, _ []string) error {
				return s.local(ctx, std, *addr, *data, *adopt, plan, *profile)
			}
		},
	}
}

// profileTo profiles the process until stop is called.
func profileTo(file string) (stop func(), err error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600) // it tells of requests
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(0o600); err != nil { // one that was there
		return nil, errors.Join(err, f.Close())
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() {
		pprof.StopCPUProfile()
		f.Close()
	}, nil
}

func (s Service) local(ctx context.Context, std Streams, addr, data string, adopt bool, plan backupPlan,
	profile string,
) (err error) {
	set, build, err := s.read()
	if err != nil {
		return err
	}
	set.Local = s.SignIn != OwnAccounts
	identify, sessions, err := s.signing(ctx, set)
	if err != nil {
		return err
	}
	if err := s.mayListen(set, addr); err != nil {
		return err
	}
	l, err := s.listen(addr)
	if err != nil {
		return err
	}
	defer l.Close()
	metrics, err := listenForMetrics(set.Metrics)
	if err != nil {
		return err
	}
	if metrics != nil {
		defer metrics.Close()
	}
	st, err := s.OpenStore(data, set.QueuePrefix)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	st.Adopt = adopt
	if profile != "" {
		stop, err := profileTo(profile)
		if err != nil {
			return err
		}
		defer stop()
	}
	log := slog.New(set.LogFormat.handler(std.Err, set.LogLevel))
	t := s.startTelemetry(ctx, log, telemetry.Options{Prometheus: set.Metrics != ""})
	defer func() { _ = t.Stop(ctx) }() // what cannot be sent now never can
	a := s.open(ctx, set, build, st, log, t)
	defer a.Wait()
	if err := plan.check(st, a.backup()); err != nil {
		return err
	}
	if err := a.Create(ctx); err != nil {
		if ctx.Err() != nil {
			return nil // it should end before it had begun
		}
		return err
	}
	url := "http://" + l.Addr().String()
	if sessions != nil || set.Invited() && set.Public != "" {
		url = set.Public
	}
	fmt.Fprintf(std.Err, "%s listens on %s\nData is in %s. Press Ctrl+C to stop.\n\n%s\n", s.Title,
		url, st.Where, s.Try(set, url))
	if a.Welcome != nil {
		text, err := a.Welcome(ctx, url)
		if err != nil {
			return err
		}
		fmt.Fprint(std.Err, text)
	}
	if metrics != nil {
		fmt.Fprintf(std.Err, "Metrics for Prometheus are at http://%s/metrics\n", metrics.Addr())
	}
	write := newBackups(data, st, a.backup())
	r := running{
		service: s, app: a, store: st, started: time.Now(), backups: write,
		plan: schedule{plan, write, s.Name, log},
	}
	if err := t.Watch(r.gauges()...); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.serveCommands(ctx, data, r, log) })
	g.Go(func() error { return r.plan.run(ctx) })
	g.Go(func() error { r.warnOfRoom(ctx, log); return nil })
	g.Go(func() error { return serveMetrics(ctx, metrics, t, log) })
	if st.File != "" {
		p := &pulse{notify: notifySystemd(log)}
		g.Go(func() error { p.beat(ctx, st.Tables); return nil })
		g.Go(func() error {
			guard(ctx, p.moves, stillAfter, func() {
				hung(log, "the store has answered nothing for "+stillAfter.String())
			})
			return nil
		})
	}
	g.Go(func() error {
		return a.runLocal(ctx, l, set.Traces(s.withFront(a.Doors(Serving{identify, sessions, r.facts}))), st, log)
	})
	return g.Wait()
}

// listenForMetrics opens the address of the metrics, if there is one.
func listenForMetrics(addr MetricsAddr) (net.Listener, error) {
	if addr == "" {
		return nil, nil
	}
	l, err := net.Listen("tcp", string(addr))
	if err != nil {
		return nil, fmt.Errorf("METRICS_ADDR %s: %w", addr, err)
	}
	return l, nil
}

// serveMetrics serves metrics to Prometheus until ctx ends.
func serveMetrics(ctx context.Context, l net.Listener, t *telemetry.Telemetry, log *slog.Logger) error {
	if l == nil {
		return nil
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", t.Metrics())
	return serve(ctx, l, mux, log)
}

// listen opens the address.
func (s Service) listen(addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("--addr %s: another program listens there, perhaps a %s: end it, or name another port, or 0 for any that is free (%w)", addr, s.Title, err)
	}
	return l, err
}

// runLocal serves requests and runs triggers until ctx ends.
func (a App) runLocal(ctx context.Context, l net.Listener, doors http.Handler, st Store, log *slog.Logger) error {
	g, ctx := errgroup.WithContext(ctx)
	// No trigger endpoints: the triggers are called, not posted to.
	g.Go(func() error { return serve(ctx, l, doors, log) })
	g.Go(func() error {
		return devhost.Run(ctx, st.Queues, a.Triggers, devhost.Options{
			Log: log, Queues: LocalQueues(), Grace: stopTime,
			TimersFirst: true, // it may never run at the hour of the purge
		})
	})
	return g.Wait()
}

// LocalQueues are the settings of host.json, with shorter pauses, as polling costs nothing here.
func LocalQueues() queuetrigger.Settings {
	return queuetrigger.Settings{
		BatchSize: 16, NewBatchThreshold: 8, Lock: 10 * time.Minute,
		RetryDelay: 20 * time.Second, MaxDequeue: 5, MaxPoll: time.Second,
	}
}

// IsLoopback reports whether an address of a service, such as http://127.0.0.1:7071, is that of
// this machine alone.
func IsLoopback(address string) bool {
	u, err := url.Parse(address)
	return err == nil && loopback.IsHost(u.Hostname())
}

// mayListen refuses settings that are for this machine alone at an address that others reach. It
// refuses to let strangers say who they are: in dev mode, and in mode easyauth, where no
// platform stands before this process that takes its headers from them. And it refuses passwords
// where no https is before it.
func (s Service) mayListen(set Settings, addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return UsageError(fmt.Sprintf("local: --addr: %v", err))
	}
	if set.ForThisMachine != "" && !loopback.IsHost(host) {
		return fmt.Errorf("--addr %s can be reached by others, and %s is set, which is for a loopback address such as 127.0.0.1:7071", addr, set.ForThisMachine)
	}
	if set.Invited() && !loopback.IsHost(host) && !strings.HasPrefix(set.Public, "https://") {
		return fmt.Errorf("--addr %s can be reached by others, and passwords would cross the wire as they are: put a proxy with https before it and set PUBLIC_URL to its https address, or use a loopback address such as 127.0.0.1:7071", addr)
	}
	if s.SignIn == OwnAccounts || set.Mode == "jwt" || set.Mode == "oidc" || set.Invited() || loopback.IsHost(host) {
		return nil
	}
	mode := set.Mode
	if set.Dev() {
		mode = "dev"
	}
	return fmt.Errorf("--addr %s can be reached by others, and in %s mode anybody may claim to be anybody: use a loopback address such as 127.0.0.1:7071", addr, mode)
}
