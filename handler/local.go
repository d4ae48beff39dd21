package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime/pprof"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/devhost"
	"prompthub/internal/function/queuetrigger"
)

func localCommand() command {
	return command{
		name: "local", short: "run everything in this process, for work on one machine",
		long: `Runs the API, the queue functions and the timers in one process. Data is kept in the embedded store,
or in the storage account of AzureWebJobsStorage where that is set (Azurite too). AUTH_MODE is dev unless
set: the header X-Dev-User says who is calling. Ends on an interrupt, after what is running.`,
		setup: func(flags *flag.FlagSet) action {
			addr := flags.String("addr", "127.0.0.1:7071", "`address` to listen on; but in oidc and jwt mode a loopback address")
			data := dataFlag(flags)
			profile := flags.String("cpuprofile", "", "`file` to write a profile of the processor time to, for go tool pprof, when it ends")
			return func(ctx context.Context, std streams, _ []string) error {
				return local(ctx, std, *addr, *data, *profile)
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

func local(ctx context.Context, std streams, addr, data, profile string) (err error) {
	s, err := readSettings()
	if err != nil {
		return err
	}
	s.Local = true
	identify, sessions, err := signing(ctx, s)
	if err != nil {
		return err
	}
	if err := mayListen(s, addr); err != nil {
		return err
	}
	l, err := net.Listen("tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("--addr %s: another program listens there, perhaps a PromptHub: end it, or name another port, or 0 for any that is free (%w)", addr, err)
	}
	if err != nil {
		return err
	}
	defer l.Close()
	st, err := openStore(data, s.QueuePrefix)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.close()) }()
	if profile != "" {
		stop, err := profileTo(profile)
		if err != nil {
			return err
		}
		defer stop()
	}
	log := slog.New(slog.NewTextHandler(std.err, &slog.HandlerOptions{Level: s.LogLevel}))
	t := startTelemetry(ctx, log)
	defer func() { _ = t.Stop(ctx) }() // what cannot be sent now never can
	a := newApp(s, st, log, t)
	a.watchQueues(ctx, st.queues)
	defer a.behind.Wait()
	if err := a.db.Create(ctx); err != nil {
		if ctx.Err() != nil {
			return nil // it was to end before it had begun
		}
		return err
	}
	url := "http://" + l.Addr().String()
	if sessions != nil {
		url = s.Public
	}
	greet(std.err, s, url, st.where)
	g, ctx := errgroup.WithContext(ctx)
	// No trigger endpoints: the triggers are called, not posted to.
	g.Go(func() error { return serve(ctx, l, withFront(a.doors(identify, sessions)), log) })
	g.Go(func() error {
		return devhost.Run(ctx, st.queues, a.triggers(), devhost.Options{
			Log: log, Queues: localQueues(), Grace: stopTime,
			TimersFirst: true, // it may never run at the hour of the purge
		})
	})
	return g.Wait()
}

// localQueues are the settings of host.json, with shorter pauses, as polling costs nothing here.
func localQueues() queuetrigger.Settings {
	return queuetrigger.Settings{
		BatchSize: 16, NewBatchThreshold: 8, Lock: 10 * time.Minute,
		RetryDelay: 20 * time.Second, MaxDequeue: 5, MaxPoll: time.Second,
	}
}

// mayListen refuses to let strangers say who they are: in dev mode, and in mode easyauth, where no
// platform stands before this process that takes its headers from them.
func mayListen(s settings, addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return usageError(fmt.Sprintf("local: --addr: %v", err))
	}
	ip := net.ParseIP(host)
	if s.Mode == "jwt" || s.Mode == "oidc" || host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	mode := s.Mode
	if s.Dev() {
		mode = "dev"
	}
	return fmt.Errorf("--addr %s can be reached by others, and in %s mode anybody may claim to be anybody: use a loopback address such as 127.0.0.1:7071", addr, mode)
}

func greet(w io.Writer, s settings, url, where string) {
	who, browser := `-H "X-Dev-User: ann" `, fmt.Sprintf("Open %s/app in a browser.", url)
	if !s.Dev() {
		who = `-H "Authorization: Bearer $TOKEN" `
	}
	switch s.Mode {
	case "jwt":
		browser = "TOKEN is from your identity provider; browsers cannot sign in here."
	case "oidc":
		browser += fmt.Sprintf(" TOKEN is an access token, which you make at %s/app/me/tokens.", url)
	}
	fmt.Fprintf(w, `PromptHub listens on %[1]s
Data is in %[3]s. Press Ctrl+C to stop.

Try:
  curl %[2]s-H "Content-Type: application/json" -d '{"title":"Hello","text":"Say hello.","tags":["text"],"visibility":"public"}' %[1]s/api/v1/prompts
  curl %[2]s"%[1]s/api/v1/prompts?sort=newest&limit=5"
%[4]s The API is described at %[1]s/api/v1/docs

`, url, who, where, browser)
}
