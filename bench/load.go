package main

import (
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"prompthub/internal/testing/load"
)

type result = load.Result

// isWholePath reports whether the path is all of it: of a page, or of another program's API.
func (c call) isWholePath() bool {
	other := func(prefix string) bool { return strings.HasPrefix(c.path, prefix) }
	return slices.ContainsFunc([]string{
		"/api", "/app", "/lf/", "/ls/", "/mcp", "/u/", "/.well-known",
		"/marketplace", "/git/",
	}, other)
}

// request returns the call as a request to a program: to its API, or for a page.
func (c call) request(ctx context.Context, url string) (*http.Request, error) {
	if !c.isWholePath() {
		url += "/api/v1"
	}
	req, err := http.NewRequestWithContext(ctx, c.method, url+c.path, strings.NewReader(c.body))
	if err != nil {
		return nil, err
	}
	for name, values := range c.header {
		req.Header[name] = values
	}
	if c.user != "" {
		req.Header.Set("X-Dev-User", c.user)
	}
	if c.body != "" && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// requests makes the requests of a kind.
func (k kind) requests(r *rand.Rand) load.Request { return k.make(r).request }

// closed keeps a number of connections busy with requests of a kind.
func closed(ctx context.Context, p *program, k kind, connections int, each time.Duration) (result, error) {
	return p.Closed(ctx, k.name, k.requests, connections, each)
}

// open sends requests of a kind at a rate.
func open(ctx context.Context, p *program, k kind, perSecond float64, each time.Duration) (result, error) {
	return p.Open(ctx, k.name, k.requests, perSecond, each)
}
