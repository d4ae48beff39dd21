package api

import (
	"context"
	"errors"
	"strings"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/library"
)

// problem makes an error of an action what the caller is told.
func (a *api) problem(ctx context.Context, c call, err error) *httpjson.Problem {
	p := httpjson.Describe(ctx, err)
	var f *fault.Error
	if !errors.As(err, &f) {
		return p
	}
	for i := range p.Errors {
		p.Errors[i].Location = located(p.Errors[i].Location)
	}
	if v, ok := f.Current.(library.View); ok {
		if c.May(auth.ScopeRead) {
			p.Current = a.encode(v)
		}
		p.SetHeader("ETag", changedTag(c, v))
	}
	return p
}

// elsewhere is where requests have the fields that do not stand in a body.
var elsewhere = map[string]string{
	"cursor":         "query.cursor",
	"idempotencyKey": "header.Idempotency-Key",
	"label":          "path.label",
	"q":              "query.q",
	"sort":           "query.sort",
}

// located returns where a request has a field that the domain names. A route that has it at another
// place gives the place itself, which begins with that part of the request.
func located(name string) string {
	if place, ok := elsewhere[name]; ok {
		return place
	}
	switch part, _, _ := strings.Cut(name, "."); part {
	case "path", "query", "header", "body":
		return name
	}
	return "body." + name
}
