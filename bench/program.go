package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// build compiles the handler.
func build(ctx context.Context) (binary string, clean func(), err error) {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return "", nil, err
	}
	binary = filepath.Join(dir, "handler")
	out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "prompthub/handler").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("go build: %w\n%s", err, out)
	}
	return binary, func() { os.RemoveAll(dir) }, err
}

// A program is a handler at work.
type program struct {
	cmd   *exec.Cmd
	url   string
	start time.Duration // until its first answer
}

// start runs a handler on a store and waits for its first answer, a page of prompts.
func start(ctx context.Context, binary string, s store, args ...string) (*program, error) {
	return startWith(ctx, binary, s, io.Discard, nil, args...)
}

// startWith does so with settings of its own, and says where what the handler logs goes.
func startWith(ctx context.Context, binary string, s store, log io.Writer, env []string, args ...string) (*program, error) {
	addr, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	p := &program{url: "http://" + addr, cmd: exec.CommandContext(ctx, binary, append([]string{"local", "--addr", addr, "--data", s.data}, args...)...)}
	p.cmd.Env = append(os.Environ(), "AzureWebJobsStorage="+s.azure, "PUBLIC_READ=true", "LOG_LEVEL=warn", "AUTH_MODE=dev")
	p.cmd.Env = append(p.cmd.Env, env...)
	p.cmd.Stderr = log
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(os.Interrupt) }
	p.cmd.WaitDelay = 20 * time.Second
	began := time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	for {
		resp, err := http.Get(p.url + "/api/v1/prompts?limit=20") //nolint:noctx // the loop ends by time
		if err == nil {
			defer resp.Body.Close()
			p.start = time.Since(began)
			body, err := io.ReadAll(resp.Body)
			if err == nil && resp.StatusCode != http.StatusOK {
				err = fmt.Errorf("the first answer is %s: %s", resp.Status, body)
			}
			if err != nil {
				return nil, errors.Join(err, p.stop())
			}
			return p, nil
		}
		if !errors.Is(err, syscall.ECONNREFUSED) || time.Since(began) > time.Minute {
			return nil, errors.Join(err, p.stop())
		}
		time.Sleep(time.Millisecond)
	}
}

// freeAddress returns an address of this machine that no program listens on.
func freeAddress(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func (p *program) stop() error {
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	return p.cmd.Wait()
}

// clockTick is the unit of /proc/<pid>/stat.
const clockTick = time.Second / 100

// cpu returns the processor time that the program has taken, in the kernel too.
func (p *program) cpu() (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(b), ") ") // after the name, which may hold spaces
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/stat has %d fields", len(fields))
	}
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	return time.Duration(user+system) * clockTick, errors.Join(err1, err2)
}

// quiet waits until the program has done the jobs of earlier requests, and reports whether it did.
// Jobs that find a prompt projected a moment ago come again four to five seconds later.
func (p *program) quiet(ctx context.Context) (bool, error) {
	const look, looks, most = 1500 * time.Millisecond, 4, 2 * time.Minute
	still := 0
	for end := time.Now().Add(most); still < looks && time.Now().Before(end) && ctx.Err() == nil; {
		before, err := p.cpu()
		if err != nil {
			return false, err
		}
		time.Sleep(look)
		after, err := p.cpu()
		if err != nil {
			return false, err
		}
		if still++; after-before > 3*clockTick {
			still = 0
		}
	}
	return still == looks, ctx.Err()
}

// A footprint is what a process holds, in MB.
type footprint struct {
	own  float64 // its heap, stacks and the like
	file float64 // pages of files that are mapped: the store, and the program itself
	most float64 // the highest sum so far
}

func (p *program) memory() (m footprint, err error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return m, err
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		name, value, _ := strings.Cut(s.Text(), ":")
		to := map[string]*float64{"RssAnon": &m.own, "RssFile": &m.file, "VmHWM": &m.most}[name]
		if to == nil {
			continue
		}
		kb, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 64)
		if err != nil {
			return m, err
		}
		*to = kb * 1024 / 1e6
	}
	return m, nil
}
