package functiontest

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"prompthub/internal/storage/queue"
)

// version is what the modelled host calls itself.
const version = "4.1037.0.0"

// Options describe the application and its world.
type Options struct {
	// AppRoot is the directory of host.json. Its direct children are the functions.
	AppRoot string

	// Env is the environment of the host, which the handler inherits, in the form of
	// os.Environ; nil stands for that. AzureFunctionsJobHost__a__b=x in it overrides a.b of
	// host.json, and it wins over the Values of local.settings.json.
	Env []string

	// Queues hold the messages as they are on the wire, that is, in base64 unless host.json
	// says otherwise. Where it is nil queue triggers are idle.
	Queues queue.Queues

	// Lock is how long a delivered message stays hidden unless renewed. Zero stands for the
	// 10 minutes of the host.
	Lock time.Duration

	// Older makes a host from before 4.1041, which knows no proxying: it forwards requests, whatever
	// enableProxyingHttpRequest of host.json says. OLDER_HOST=true in the environment of a test makes
	// all its hosts so.
	Older bool

	// FrontEnd puts the platform's front end before the host: it marks requests with its
	// headers and turns %2F in a path into a separator.
	FrontEnd bool

	// Faults are done on purpose.
	Faults Faults
}

// A Host runs one application. Its methods may be called at once from many goroutines.
type Host struct {
	app       *app
	worker    *worker
	transport *http.Transport
	fresh     *http.Transport // keeps no connection
	timers    lastRuns
	queues    queue.Queues
	options   Options
	faults    *faults
	logs      *logs
	records   *records
	proxying  bool
	fail      func(format string, args ...any) // reports what must fail the test

	front    atomic.Pointer[front]
	stopPoll context.CancelFunc
	stopWork context.CancelFunc
	running  sync.WaitGroup
	stopped  sync.Once
}

// Start starts the application and returns when its handler is ready. The test fails at once
// where that does not happen, and later where the handler answers an invocation in a way that
// leaves the real host hanging. The application is stopped at the end of the test, whose log
// gets the lines of the handler if it fails.
func Start(tb testing.TB, o Options) *Host {
	tb.Helper()
	if o.Env == nil {
		o.Env = os.Environ()
	}
	o.Env = append(slices.Clone(o.Env), "TMPDIR="+tb.TempDir()) // the same for each process of the handler
	h, err := newHost(o, tb.Errorf)
	if err != nil {
		tb.Fatalf("functiontest: %v", err)
	}
	tb.Cleanup(func() {
		h.Stop()
		if tb.Failed() {
			h.logs.dump(tb)
		}
	})
	if err := h.start(); err != nil {
		tb.Fatalf("functiontest: %v", err)
	}
	return h
}

// newHost reads the application.
func newHost(o Options, fail func(string, ...any)) (*Host, error) {
	app, err := readApp(o.AppRoot, o.Env)
	if err != nil {
		return nil, fmt.Errorf("application in %s: %w", o.AppRoot, err)
	}
	h := &Host{
		app: app, queues: o.Queues, options: o, faults: newFaults(o.Faults), logs: &logs{},
		records: &records{}, fail: fail,
		// The host neither decompresses nor uses a proxy.
		transport: &http.Transport{DisableCompression: true},
		fresh:     &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: -1},
		stopPoll:  func() {}, stopWork: func() {},
	}
	older := o.Older || os.Getenv("OLDER_HOST") == "true"
	h.proxying = !older && app.config.flag("customhandler:enableproxyinghttprequest")
	h.worker = newWorker(app, h.transport, h.logs)
	h.worker.failed = h.shut
	return h, nil
}

// start starts the handler, waits for it, and opens the doors.
func (h *Host) start() error {
	if err := h.worker.start(); err != nil {
		return err
	}
	if err := h.worker.await(context.Background()); err != nil {
		return err
	}
	if err := h.open(); err != nil {
		return err
	}
	poll, stopPoll := context.WithCancel(context.Background())
	work, stopWork := context.WithCancel(context.Background())
	h.stopPoll, h.stopWork = stopPoll, stopWork
	if h.queues != nil {
		h.listen(poll, work)
	}
	return nil
}

// open lets in clients from outside.
func (h *Host) open() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("open the front: %w", err)
	}
	f := newFront(h, l)
	h.front.Store(f)
	h.running.Go(f.serve)
	return nil
}

// shut closes the door to the outside, and ends the connections there are.
func (h *Host) shut() {
	if f := h.front.Load(); f != nil {
		f.shut()
	}
}

// URL is where clients from outside find the application, without a slash at the end.
func (h *Host) URL() string { return "http://" + h.front.Load().Addr().String() }

// Handler is where the handler itself listens, without a slash at the end.
func (h *Host) Handler() string { return "http://" + h.worker.addr }

// Kill ends the handler by SIGKILL, as in the middle of whatever it does, and returns when it
// is dead. The host starts it again; invocations wait for that. Unlike a crash of the
// handler's own, any number of kills is forgiven.
func (h *Host) Kill() { h.worker.kill() }

// Signal sends a signal to the handler and returns when that has ended. What the host does then
// depends on its exit code.
func (h *Host) Signal(s os.Signal) { h.worker.signal(s) }

// Logs returns what the handler has written so far.
func (h *Host) Logs() []Line { return h.logs.all() }

// Invocations returns all invocations so far in the order of their start, running ones
// included.
func (h *Host) Invocations() []Invocation { return h.records.all() }

// Stop ends the application as the host does when it goes down: no message is taken any more,
// and the handler is killed. Only the first call does something.
func (h *Host) Stop() {
	h.stopped.Do(func() {
		h.stopPoll()
		h.worker.stop()
		h.stopWork()
		h.shut()
		h.running.Wait()
		h.transport.CloseIdleConnections()
	})
}
