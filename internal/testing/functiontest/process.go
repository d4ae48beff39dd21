package functiontest

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// pingEvery is how often a handler that starts is asked whether it is there.
const pingEvery = 25 * time.Millisecond

// A process is how the handler is started.
type process struct {
	path string
	args []string
	dir  string
	env  []string
}

func newProcess(a *app, port string) process {
	const section = "customhandler:description:"
	p := process{
		path: a.env.expand(a.config[section+"defaultexecutablepath"]),
		dir:  a.config[section+"workingdirectory"],
	}
	// Relative to the application, with any working directory; a missing program is left
	// to the search path.
	if at := filepath.Join(a.root, p.path); !filepath.IsAbs(p.path) && isFile(at) {
		p.path = at
	}
	if !filepath.IsAbs(p.dir) {
		p.dir = filepath.Join(a.root, p.dir)
	}
	// Joined without quotes: an argument with a space becomes two.
	p.args = strings.Fields(a.env.expand(strings.Join(a.config.list(section+"arguments"), " ")))
	id := newGUID()
	p.env = append(a.env.list(),
		"FUNCTIONS_CUSTOMHANDLER_PORT="+port, "FUNCTIONS_HTTPWORKER_PORT="+port,
		"FUNCTIONS_CUSTOMHANDLER_WORKER_ID="+id, "FUNCTIONS_HTTPWORKER_ID="+id,
		"FUNCTIONS_APP_ROOT_PATH="+a.root)
	return p
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// runOnce runs the handler until it ends. meant tells that the host ended it.
func (w *worker) runOnce() (code int, meant bool, err error) {
	cmd := exec.Command(w.process.path, w.process.args...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = w.process.dir, w.process.env, dieWithParent()
	out, errs := &stream{logs: w.logs, level: stdout}, &stream{logs: w.logs, level: stderr}
	cmd.Stdout, cmd.Stderr = out, errs
	cmd.WaitDelay = time.Second // for children of the handler that keep its outputs open
	r, err := w.launch(cmd)
	if err != nil || r == nil {
		return -1, r == nil && err == nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), w.app.initTime)
	pinged := make(chan error, 1)
	go func() { pinged <- w.ping(ctx) }()
	err = cmd.Wait()
	cancel()
	late := <-pinged
	out.flush()
	errs.flush()
	meant = w.bury(r)
	code = cmd.ProcessState.ExitCode()
	switch {
	case late != nil:
		err = late
	case code == 0:
		err = nil // whatever became of its outputs
	}
	return code, meant, err
}

// bury takes note of the end of a run. From here on invocations wait for the next.
func (w *worker) bury(r *run) (meant bool) {
	w.enter(starting)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.current = nil
	close(r.dead)
	return r.meant
}

// launch starts the process, unless the worker has been stopped.
func (w *worker) launch(cmd *exec.Cmd) (*run, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.state == stopped {
		return nil, nil
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the handler: %w", err)
	}
	w.current = &run{process: cmd.Process, dead: make(chan struct{})}
	return w.current, nil
}

// ping asks for / until something answers, whatever it is. A handler that has not answered
// in time is killed, which is the error; the end of the process is none.
func (w *worker) ping(ctx context.Context) error {
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+w.addr+"/", http.NoBody)
		if err != nil {
			return fmt.Errorf("ping: %w", err)
		}
		if res, err := w.transport.RoundTrip(req); err == nil {
			_ = res.Body.Close() // the answer alone counts
			w.enter(ready)
			return nil
		}
		select {
		case <-time.After(pingEvery):
		case <-ctx.Done():
			return w.giveUp(ctx)
		}
	}
}

// giveUp kills a handler that took too long to start.
func (w *worker) giveUp(ctx context.Context) error {
	if ctx.Err() != context.DeadlineExceeded {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.current != nil {
		_ = w.current.process.Kill() // or it is dead already
	}
	return fmt.Errorf("the handler did not answer within %s", w.app.initTime)
}
