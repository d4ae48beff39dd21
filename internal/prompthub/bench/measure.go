package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// measure does everything with the library of n prompts.
func measure(ctx context.Context, o options, binary string, n int, r *report) error {
	l, data, err := openLibrary(ctx, o.data, n)
	if err != nil {
		return err
	}
	r.library(l, data)
	p, err := start(ctx, binary, data)
	if err != nil {
		return err
	}
	err = p.load(ctx, o, l, r)
	return errors.Join(err, p.stop())
}

// restFor is how long the program is left alone before its idle memory is looked at.
const restFor = 3 * time.Second

func (p *program) load(ctx context.Context, o options, l library, r *report) error {
	time.Sleep(restFor)
	idle, err := p.memory()
	if err != nil {
		return err
	}
	cursors := make(map[string][]string)
	for name, query := range map[string]string{"newest": "", "most-liked": "&sort=most-liked", "tag": "&tag=text"} {
		if cursors[name], err = p.walk(ctx, query); err != nil {
			return err
		}
	}
	var results []result
	for _, k := range only(kinds(l, cursors), o.only) {
		if k.write {
			if err := p.quiet(ctx); err != nil {
				return err
			}
		}
		some, err := p.loads(ctx, o, k)
		if err != nil {
			return err
		}
		results = append(results, some...)
	}
	r.loads(results)
	results = nil
	for _, n := range []int{1, 10_000} {
		for _, k := range only([]kind{votesOn(l, n)}, o.only) {
			if err := p.quiet(ctx); err != nil {
				return err
			}
			one, err := closed(ctx, p, k, 64, 2*o.each)
			if err != nil {
				return err
			}
			results = append(results, one)
		}
	}
	r.votes(results)
	after, err := p.memory()
	r.program(p.start, idle, after)
	return err
}

// loads puts one kind of request under all loads.
func (p *program) loads(ctx context.Context, o options, k kind) ([]result, error) {
	var all []result
	reached := 0.0
	for _, c := range o.connections {
		one, err := closed(ctx, p, k, c, o.each)
		if err != nil {
			return nil, err
		}
		reached = max(reached, one.perSecond())
		all = append(all, one)
	}
	for _, share := range o.rates {
		one, err := open(ctx, p, k, share*reached, o.each)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, ctx.Err()
}

// deepPages is how far a walk goes.
const deepPages = 200

// walk returns the cursors of the pages of a list.
func (p *program) walk(ctx context.Context, query string) ([]string, error) {
	var all []string
	cursor := ""
	for range deepPages {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+"/api/v1/prompts?limit=20"+query+cursor, nil)
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
		err = errors.Join(json.NewDecoder(resp.Body).Decode(&page), resp.Body.Close())
		if err != nil || page.NextCursor == "" {
			return all, err
		}
		all = append(all, url.QueryEscape(page.NextCursor))
		cursor = "&cursor=" + all[len(all)-1]
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("the list %q has one page", query)
	}
	return all, nil
}
