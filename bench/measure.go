package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"prompthub/internal/testing/load"
)

// A measured is everything that was measured with one library.
type measured struct {
	store
	starts      []time.Duration // until the first answer, sorted
	idle, after load.Footprint
	loads       []loaded
	votes       []result
	minutes     []minute
	tops        []top
	restless    []string // measured although jobs were left
}

// A loaded is one kind of request under all loads.
type loaded struct {
	kind   string
	closed []result
	open   []result
}

// A minute is a part of a long load.
type minute struct {
	result
	memory load.Footprint // the most in it
}

// A top is where the time of one kind of request goes.
type top struct {
	result
	lines []string
}

const starts = 5

// measure starts the program on the store and puts every kind of request under load.
func (m *measured) measure(ctx context.Context, o options, binary string) error {
	for range starts - 1 {
		p, err := start(ctx, binary, m.store)
		if err != nil {
			return err
		}
		m.starts = append(m.starts, p.start)
		if err := p.Stop(); err != nil {
			return err
		}
	}
	p, err := start(ctx, binary, m.store)
	if err != nil {
		return err
	}
	m.starts = append(m.starts, p.start)
	slices.Sort(m.starts)
	return errors.Join(m.load(ctx, o, p), p.Stop())
}

func (m *measured) load(ctx context.Context, o options, p *program) error {
	if err := m.quiet(ctx, p, "at rest"); err != nil {
		return err
	}
	var err error
	if m.idle, err = p.Memory(); err != nil {
		return err
	}
	ks, err := p.kinds(ctx, m.corpus)
	if err != nil {
		return err
	}
	for _, k := range only(ks, o.only) {
		load.Progress("%d prompts: %s", m.Prompts, k.name)
		one, err := m.under(ctx, o, p, k)
		if err != nil {
			return err
		}
		m.loads = append(m.loads, one)
	}
	if err := p.tidy(ctx, m.corpus); err != nil {
		return err
	}
	for _, n := range []int{1, 10_000} {
		for _, k := range only([]kind{votesOn(m.corpus, n)}, o.only) {
			load.Progress("%d prompts: %s", m.Prompts, k.name)
			one, err := m.closed(ctx, p, k, slices.Max(o.connections), 2*o.each)
			if err != nil {
				return err
			}
			m.votes = append(m.votes, one)
		}
	}
	m.after, err = p.Memory()
	return err
}

// tidy brings back what was deleted or hidden.
func (p *program) tidy(ctx context.Context, l corpus) error {
	for i := range 2 * taken {
		path := "/prompts/" + string(l.id(i))
		for _, c := range []call{
			{method: http.MethodPost, path: path + "/restore", user: l.author(i)},
			{method: http.MethodDelete, path: path + "/hidden", user: "moderator", header: admin},
		} {
			if status := load.Send(ctx, http.DefaultClient, p.URL, c.request); status/100 != 2 {
				return fmt.Errorf("%s %s: %d", c.method, c.path, status)
			}
		}
	}
	return nil
}

// quiet waits until the program has no jobs left, and takes note where they go on for too long.
func (m *measured) quiet(ctx context.Context, p *program, before string) error {
	quiet, err := p.Quiet(ctx)
	if err == nil && !quiet {
		m.restless = append(m.restless, before)
	}
	return err
}

// closed is a closed loop of one kind of request. Of those that write, the processor time has the
// jobs that they leave.
func (m *measured) closed(ctx context.Context, p *program, k kind, connections int,
	each time.Duration,
) (result, error) {
	if !k.write {
		return closed(ctx, p, k, connections, each)
	}
	before, err := p.CPU()
	if err = errors.Join(err, m.use()); err != nil {
		return result{}, err
	}
	one, err := closed(ctx, p, k, connections, each)
	if err = errors.Join(err, m.quiet(ctx, p, "after "+k.name)); err != nil {
		return one, err
	}
	after, err := p.CPU()
	one.CPU = after - before
	return one, err
}

// kinds returns what is measured with a library.
func (p *program) kinds(ctx context.Context, l corpus) ([]kind, error) {
	cursors := make(map[string][]string)
	for name, query := range map[string]string{"newest": "", "most-liked": "&sort=most-liked", "tag": "&tag=text"} {
		var err error
		if cursors[name], err = p.walk(ctx, query); err != nil {
			return nil, err
		}
	}
	return kinds(l, cursors), nil
}

// warmUp is the connections of a load before the first of a kind that only reads: rows that are
// read for the first time come from the disk.
const warmUp = 8

// under puts one kind of request under all loads.
func (m *measured) under(ctx context.Context, o options, p *program, k kind) (l loaded, err error) {
	l.kind = k.name
	reached := 0.0
	if !k.write {
		if _, err := closed(ctx, p, k, warmUp, o.each); err != nil {
			return l, err
		}
	}
	for _, c := range o.connections {
		one, err := m.closed(ctx, p, k, c, o.each)
		if err != nil {
			return l, err
		}
		reached = max(reached, one.PerSecond())
		l.closed = append(l.closed, one)
	}
	for _, share := range o.rates {
		one, err := open(ctx, p, k, share*reached, o.each)
		if err == nil && k.write {
			err = m.quiet(ctx, p, "after "+k.name)
		}
		if err != nil {
			return l, err
		}
		l.open = append(l.open, one)
	}
	return l, ctx.Err()
}

// A walk goes so far down a list, or goes on for so long.
const (
	deepPages  = 200
	walkAtMost = 10 * time.Second
)

// walk returns the cursors of the pages of a list.
func (p *program) walk(ctx context.Context, query string) ([]string, error) {
	var all []string
	cursor := ""
	for end := time.Now().Add(walkAtMost); len(all) < deepPages && time.Now().Before(end); {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL+"/api/v1/prompts?limit=20"+query+cursor, nil)
		if err != nil {
			return nil, err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return nil, err
		}
		var page struct {
			NextCursor string `json:"nextCursor"`
		}
		if err := errors.Join(json.NewDecoder(resp.Body).Decode(&page), resp.Body.Close()); err != nil {
			return nil, err
		}
		if page.NextCursor == "" {
			break
		}
		all = append(all, url.QueryEscape(page.NextCursor))
		cursor = "&cursor=" + all[len(all)-1]
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("the list %q has one page", query)
	}
	return all, nil
}

// shares says how often the requests of many users are of each kind; those that are not named are
// not in the mixture.
var shares = map[string]int{
	"list newest": 6, "list newest, nobody": 2, "list newest, deep": 2,
	"list most liked": 3, "list most liked, deep": 1,
	"one tag": 3, "one tag, deep": 1, "two tags": 1, "one word": 3, "a tag and a word": 2, "get": 10, "get my vote": 1,
	"my prompts": 2, "my votes": 1, "tags": 1, "vote": 6, "edit": 1, "create": 1,
}

// mixture is requests of all kinds.
func mixture(ks []kind) kind {
	var all []kind
	for _, k := range ks {
		for range shares[k.name] {
			all = append(all, k)
		}
	}
	return kind{name: "all kinds", make: func(r *rand.Rand) call { return all[r.IntN(len(all))].make(r) }}
}

// hold loads a new program for long with a mixture of requests.
func (m *measured) hold(ctx context.Context, o options, binary string) (err error) {
	if o.hold == 0 {
		return nil
	}
	if err := m.use(); err != nil {
		return err
	}
	p, err := start(ctx, binary, m.store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Stop()) }()
	ks, err := p.kinds(ctx, m.corpus)
	if err != nil {
		return err
	}
	for left := o.hold; left > 0 && ctx.Err() == nil; left -= time.Minute {
		load.Progress("all kinds, %v left", left)
		watched, most := p.watch(ctx)
		one, err := closed(ctx, p, mixture(ks), slices.Max(o.connections), min(left, time.Minute))
		if err = errors.Join(err, watched()); err != nil {
			return err
		}
		m.minutes = append(m.minutes, minute{one, *most})
	}
	return ctx.Err()
}

// watch looks at the memory every second until stop is called. Then most is the most of each kind
// that it saw.
func (p *program) watch(ctx context.Context) (stop func() error, most *load.Footprint) {
	most = new(load.Footprint)
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			now, err := p.Memory()
			if err != nil {
				done <- err
				return
			}
			most.Own, most.File, most.Most = max(most.Own, now.Own), max(most.File, now.File), now.Most
			select {
			case <-tick.C:
			case <-ctx.Done():
				done <- nil
				return
			}
		}
	}()
	return func() error {
		cancel()
		return <-done
	}, most
}

// profiles loads a new program with each kind of request alone and reads its processor profile.
func (m *measured) profiles(ctx context.Context, o options, binary string) error {
	if !o.profile {
		return nil
	}
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p, err := start(ctx, binary, m.store)
	if err != nil {
		return err
	}
	ks, err := p.kinds(ctx, m.corpus)
	if err = errors.Join(err, m.use(), m.quiet(ctx, p, "profiles"), p.Stop()); err != nil {
		return err
	}
	for i, k := range only(ks, o.only) {
		load.Progress("profile of %s", k.name)
		file := filepath.Join(dir, strconv.Itoa(i))
		p, err := start(ctx, binary, m.store, "--cpuprofile", file)
		if err != nil {
			return err
		}
		one, err := m.closed(ctx, p, k, slices.Max(o.connections), 2*o.each)
		if err = errors.Join(err, p.Stop()); err != nil {
			return err
		}
		out, err := exec.CommandContext(ctx, "go", "tool", "pprof", "-top", "-nodecount=10", binary, file).Output()
		if err != nil {
			return err
		}
		m.tops = append(m.tops, top{one, topLines(string(out))})
	}
	return nil
}

// topLines returns functions with their own share of the time, as "runtime.futex 12.3 %".
func topLines(text string) []string {
	_, text, _ = strings.Cut(text, "cum%\n")
	var all []string
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) > 5 {
			name := f[5][strings.LastIndex(f[5], "/")+1:] // without the path of its package
			all = append(all, name+" "+strings.TrimSuffix(f[1], "%")+" %")
		}
	}
	return all
}
