// Package load starts programs, puts them under load over HTTP, and says what that took of the
// machine. Applications measure themselves with it, also in turns with another program.
package load

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

// A Program is one at work.
type Program struct {
	URL string
	cmd *exec.Cmd
}

// Start starts a program that listens on an address of this machine. It ends with ctx.
func Start(addr string, cmd *exec.Cmd) (*Program, error) {
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	return &Program{URL: "http://" + addr, cmd: cmd}, cmd.Start()
}

// StartPeer starts a program of others at an address. It returns the first line that the program
// prints, once it answers.
func StartPeer(ctx context.Context, addr string, cmd *exec.Cmd) (*Program, []byte, error) {
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	p, err := Start(addr, cmd)
	if err != nil {
		return nil, nil, err
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = p.Answers(ctx, "/api/health")
	}
	if err != nil {
		return nil, nil, errors.Join(err, p.Stop())
	}
	return p, line, nil
}

// Answers waits until a program has its port open, and asks it for a path.
func (p *Program) Answers(ctx context.Context, path string) error {
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		err := Ask(ctx, http.DefaultClient, p.URL, Get(path), nil)
		if err == nil || !errors.Is(err, syscall.ECONNREFUSED) || time.Now().After(end) {
			return err
		}
	}
}

// Build compiles a program, from the folder of its module.
func Build(ctx context.Context, module, pkg, binary string) error {
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, pkg)
	build.Dir = module
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// FreeAddress returns an address of this machine that no program listens on.
func FreeAddress(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// Stop interrupts the program and waits for its end.
func (p *Program) Stop() error {
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	return p.cmd.Wait()
}

// ClockTick is the unit of /proc/<pid>/stat.
const ClockTick = time.Second / 100

// CPU returns the processor time that the program has taken, in the kernel too.
func (p *Program) CPU() (time.Duration, error) {
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
	return time.Duration(user+system) * ClockTick, errors.Join(err1, err2)
}

// Quiet waits until the program has done the jobs of earlier requests, and reports whether it did.
// Jobs of PromptHub that find a prompt projected a moment ago come again four to five seconds
// later.
func (p *Program) Quiet(ctx context.Context) (bool, error) {
	const look, looks, most = 1500 * time.Millisecond, 4, 2 * time.Minute
	still := 0
	for end := time.Now().Add(most); still < looks && time.Now().Before(end) && ctx.Err() == nil; {
		before, err := p.CPU()
		if err != nil {
			return false, err
		}
		time.Sleep(look)
		after, err := p.CPU()
		if err != nil {
			return false, err
		}
		if still++; after-before > 3*ClockTick {
			still = 0
		}
	}
	return still == looks, ctx.Err()
}

// A Footprint is what a process holds, in MB.
type Footprint struct {
	Own  float64 // its heap, stacks and the like
	File float64 // pages of files that are mapped: the store, and the program itself
	Most float64 // the highest sum so far
}

// Memory returns what the program holds.
func (p *Program) Memory() (m Footprint, err error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return m, err
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		name, value, _ := strings.Cut(s.Text(), ":")
		to := map[string]*float64{"RssAnon": &m.Own, "RssFile": &m.File, "VmHWM": &m.Most}[name]
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

// SizeOf returns the size of all files of a directory, in MB.
func SizeOf(dir string) (mb float64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			mb += float64(info.Size()) / 1e6
		}
		return err
	})
	return mb, err
}

// A Request makes a request to the program at a URL.
type Request func(ctx context.Context, url string) (*http.Request, error)

// Get asks for a path.
func Get(path string) Request {
	return func(ctx context.Context, url string) (*http.Request, error) {
		return http.NewRequestWithContext(ctx, http.MethodGet, url+path, http.NoBody)
	}
}

// Call makes a request with a body in JSON, or without one.
func Call(method, path, authorization string, body any) Request {
	return func(ctx context.Context, url string) (*http.Request, error) {
		var sent []byte
		if body != nil {
			var err error
			if sent, err = json.Marshal(body); err != nil {
				return nil, err
			}
		}
		req, err := http.NewRequestWithContext(ctx, method, url+path, bytes.NewReader(sent))
		if err == nil {
			req.Header.Set("Authorization", authorization)
			req.Header.Set("Content-Type", "application/json")
		}
		return req, err
	}
}

// Ask sends a request that must succeed, and reads its answer.
func Ask(ctx context.Context, client *http.Client, url string, r Request, answer any) error {
	req, err := r(ctx, url)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode/100 != 2 {
		return errors.Join(err, fmt.Errorf("%s %s: %s %s", req.Method, req.URL.Path, resp.Status, body))
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(body, answer)
}
