package azurite

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"sync"
	"time"
)

// preload makes a service tell its port and end, its data written, when its standard input
// closes: by stop, or with this process, however that ends.
//
//go:embed service.js
var preload string

// A service is a process of Azurite.
type service struct {
	port  int
	stdin io.Closer
	cmd   *exec.Cmd
	out   *output
	gone  chan struct{} // closed when the process has ended
}

// startService starts a service of Azurite with its data in dir, or in a directory that goes
// with it where dir is empty, and returns when it takes requests.
func startService(ctx context.Context, inst install, name, dir, accounts string, args ...string) (*service, error) {
	env := append(os.Environ(), "AZURITE_ACCOUNTS="+accounts)
	if dir == "" {
		temp, err := os.MkdirTemp("", "azurite-"+name+"-*")
		if err != nil {
			return nil, err
		}
		dir, env = temp, append(env, "AZURITE_TEMP="+temp)
	}
	s := &service{out: newOutput(), gone: make(chan struct{})}
	s.cmd = exec.Command(inst.node, append([]string{"-e", preload, inst.script(name)}, args...)...)
	s.cmd.Dir, s.cmd.Env, s.cmd.Stdout, s.cmd.Stderr = dir, env, s.out, s.out
	stdin, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	s.stdin = stdin
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(s.gone)
		_ = s.cmd.Wait() // how it ended shows in its output
	}()
	select {
	case s.port = <-s.out.port:
		return s, nil
	case <-s.gone:
		return nil, fmt.Errorf("it ended: %s", s.out)
	case <-ctx.Done():
		return nil, errors.Join(fmt.Errorf("%w before it took requests: %s", ctx.Err(), s.out), s.stop())
	}
}

// stop ends the process and waits for that.
func (s *service) stop() error {
	_ = s.stdin.Close()
	select {
	case <-s.gone:
		return nil
	case <-time.After(20 * time.Second):
		err := s.cmd.Process.Kill()
		<-s.gone
		return errors.Join(errors.New("a service of Azurite did not end and was killed"), err)
	}
}

// An output reads what a service prints: its port, and the beginning for a report of failure.
type output struct {
	port chan int // receives the port once

	mu   sync.Mutex
	text bytes.Buffer
	told bool
}

func newOutput() *output { return &output{port: make(chan int, 1)} }

var portLine = regexp.MustCompile(`port=(\d+)\.`)

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.text.Len() < 4<<10 {
		o.text.Write(p)
	}
	if m := portLine.FindSubmatch(o.text.Bytes()); m != nil && !o.told {
		o.told = true
		n, err := strconv.Atoi(string(m[1]))
		if err != nil {
			return 0, err
		}
		o.port <- n
	}
	return len(p), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
