package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/testing/load"
)

// A searcher finds prompts.
type searcher struct {
	name   string
	titles func(ctx context.Context, q string, limit int) ([]string, error)
	cpu    func() (time.Duration, error) // the processor time that its process has taken

	// of a program of its own
	program *program
	ask     func(q string, limit int) call
}

// over returns a program as a searcher, which ask asks. The answer is hits, or an object with them
// as its items.
func over(name string, p *program, ask func(q string, limit int) call) *searcher {
	client := load.NewClient(1)
	client.Timeout = 10 * time.Minute // a busy machine may answer late, and no measure is the time of an answer
	titles := func(ctx context.Context, q string, limit int) (titles []string, err error) {
		var answer json.RawMessage
		if err := load.Ask(ctx, client, p.URL, ask(q, limit).request, &answer); err != nil {
			return nil, err
		}
		var page struct{ Items json.RawMessage }
		if err := json.Unmarshal(answer, &page); err == nil && page.Items != nil {
			answer = page.Items
		}
		var hits []struct{ Title string }
		if err := json.Unmarshal(answer, &hits); err != nil {
			return nil, err
		}
		for _, h := range hits {
			titles = append(titles, h.Title)
		}
		return titles, nil
	}
	return &searcher{name: name, titles: titles, cpu: p.CPU, program: p, ask: ask}
}

// query makes the query of a URL that asks for the first prompts.
func query(q string, limit int) string {
	return "?" + url.Values{"q": {q}, "limit": {fmt.Sprint(limit)}}.Encode()
}

// inBench returns a function of this program as a searcher.
func inBench(name string, find func(q string, limit int) []string) *searcher {
	return &searcher{
		name:   name,
		titles: func(_ context.Context, q string, limit int) ([]string, error) { return find(q, limit), nil },
		cpu: func() (time.Duration, error) {
			var u syscall.Rusage
			err := syscall.Getrusage(syscall.RUSAGE_SELF, &u)
			return time.Duration(u.Utime.Nano() + u.Stime.Nano()), err
		},
	}
}

// newSearchingHub fills a PromptHub, and starts it again: at its start it learns the words that it
// takes in place of slips, as else once an hour.
func newSearchingHub(ctx context.Context, binary, dir string, ds []prompt.Draft) (*searcher, error) {
	load.Progress("filling PromptHub with %d prompts", len(ds))
	begin := func() (*program, error) {
		return startWith(ctx, binary, store{data: dir}, io.Discard,
			[]string{fmt.Sprint("MAX_TEXT=", prompt.LimitMaxText)})
	}
	p, err := begin()
	if err != nil {
		return nil, err
	}
	err = p.createAll(ctx, ds, "public", func(i int) string { return hubUser(i % comparedVoters) })
	if err = errors.Join(err, p.Stop()); err != nil {
		return nil, err
	}
	if p, err = begin(); err != nil {
		return nil, err
	}
	if _, err := p.Quiet(ctx); err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	return over("PromptHub", p, func(q string, limit int) call {
		return call{method: http.MethodGet, path: "/prompts" + query(q, limit)}
	}), nil
}

// owner has the prompts as private ones.
const owner = "owner"

// ownLibrary gives one user of PromptHub the prompts besides, as private ones, and returns the
// search of own prompts by their owner.
func (s *searcher) ownLibrary(ctx context.Context, ds []prompt.Draft) (*searcher, error) {
	load.Progress("filling a private library with %d prompts", len(ds))
	if err := s.program.createAll(ctx, ds, "private", func(int) string { return owner }); err != nil {
		return nil, err
	}
	return over("PromptHub, own prompts", s.program, func(q string, limit int) call {
		return call{method: http.MethodGet, user: owner, path: "/prompts" + query(q, limit) + "&scope=mine"}
	}), nil
}

// createAll makes prompts, and waits until the program is at rest.
func (p *program) createAll(
	ctx context.Context, ds []prompt.Draft, visibility string, author func(i int) string,
) error {
	client := load.NewClient(fillers)
	defer client.CloseIdleConnections()
	var g errgroup.Group
	g.SetLimit(fillers)
	for i, d := range ds {
		g.Go(func() error {
			made := map[string]any{"title": d.Title, "text": d.Text, "tags": d.Tags, "visibility": visibility}
			create := call{method: http.MethodPost, path: "/prompts", user: author(i), body: body(made)}
			return load.Ask(ctx, client, p.URL, create.request, nil)
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	_, err := p.Quiet(ctx)
	return err
}

func newSearchPeer(ctx context.Context, binary, engine, dir string, ds []prompt.Draft) (*searcher, error) {
	load.Progress("filling %s with %d prompts", engine, len(ds))
	addr, err := load.FreeAddress(ctx)
	if err != nil {
		return nil, err
	}
	var lines strings.Builder
	for _, d := range ds {
		lines.WriteString(body(map[string]string{"title": d.Title, "text": d.Text}) + "\n")
	}
	cmd := exec.CommandContext(ctx, binary, engine, dir, addr)
	cmd.Stdin, cmd.Stderr = strings.NewReader(lines.String()), os.Stderr
	peer, _, err := load.StartPeer(ctx, addr, cmd)
	if err != nil {
		return nil, err
	}
	return over(engine, &program{Program: peer}, func(q string, limit int) call {
		return call{method: http.MethodGet, path: "/api/search" + query(q, limit)}
	}), nil
}
