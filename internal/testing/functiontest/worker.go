package functiontest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"
)

// How the host deals with a handler that dies.
const (
	restartCode = 200              // an exit code that asks for a restart
	maxErrors   = 3                // errors that end the host
	errorWindow = 30 * time.Minute // between two of them, else they count anew
)

var (
	errStopped = errors.New("the host has stopped the application")
	errExited  = errors.New("the handler exited with code 0 and is not started again")
)

type state int

const (
	starting state = iota // invocations wait
	ready
	exited  // by itself with code 0: invocations find no process
	stopped // for good
)

// A worker keeps the handler's process running, as the host does.
type worker struct {
	app       *app
	transport *http.Transport
	logs      *logs
	addr      string // of the handler, the same after each restart
	process   process
	failed    func()        // called when the third failure ends the host
	ended     chan struct{} // the supervisor has

	mu      sync.Mutex
	state   state
	changed chan struct{} // closed at the next change of state
	current *run
}

// A run is the life of one process.
type run struct {
	process *os.Process
	meant   bool          // its death is not held against it
	dead    chan struct{} // closed when it is
}

func newWorker(a *app, t *http.Transport, l *logs) *worker {
	return &worker{app: a, transport: t, logs: l, changed: make(chan struct{}), ended: make(chan struct{})}
}

// start begins to run the handler. await tells when it is ready.
func (w *worker) start() error {
	port, err := UnusedPort()
	if err != nil {
		return fmt.Errorf("find a free port: %w", err)
	}
	w.addr = fmt.Sprintf("127.0.0.1:%d", port)
	w.process = newProcess(w.app, strconv.Itoa(port))
	go w.supervise()
	return nil
}

// supervise starts the handler again until it may not.
func (w *worker) supervise() {
	// The kernel kills the handler when the thread that started it ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(w.ended)
	var errs []time.Time
	for w.enter(starting) {
		code, meant, err := w.runOnce()
		w.transport.CloseIdleConnections()
		switch {
		case meant || code == restartCode:
		case code == 0 && err == nil:
			w.enter(exited)
			return
		default:
			w.logs.add(stderr(""), fmt.Sprintf("host: handler failed: code %d, %v", code, err))
			if n := len(errs); n > 0 && time.Since(errs[n-1]) > errorWindow {
				errs = nil
			}
			if errs = append(errs, time.Now()); len(errs) == maxErrors {
				w.enter(stopped)
				w.failed()
				return
			}
		}
	}
}

// enter changes the state. It reports false where the worker has been stopped.
func (w *worker) enter(s state) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.state == stopped {
		return false
	}
	w.state = s
	close(w.changed)
	w.changed = make(chan struct{})
	return true
}

// await waits while the handler starts. It returns nil when it is ready, else errExited or
// errStopped.
func (w *worker) await(ctx context.Context) error {
	for {
		w.mu.Lock()
		s, changed := w.state, w.changed
		w.mu.Unlock()
		switch s {
		case ready:
			return nil
		case exited:
			return errExited
		case stopped:
			return errStopped
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// kill kills the running process, if there is one, and waits for its death.
func (w *worker) kill() {
	w.mu.Lock()
	r := w.current
	if r != nil {
		r.meant = true
		_ = r.process.Kill() // or it is dead already
	}
	w.mu.Unlock()
	if r != nil {
		<-r.dead
	}
}

// signal signals the running process, if there is one, and waits for its death.
func (w *worker) signal(s os.Signal) {
	w.mu.Lock()
	r := w.current
	if r != nil {
		_ = r.process.Signal(s) // or it is dead already
	}
	w.mu.Unlock()
	if r != nil {
		<-r.dead
	}
}

// stop ends the handler for good.
func (w *worker) stop() {
	w.enter(stopped)
	w.kill()
	if w.addr != "" {
		<-w.ended
	}
}
