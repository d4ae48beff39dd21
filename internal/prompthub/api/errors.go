package api

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"prompthub/internal/fault"
	"prompthub/internal/httpjson"
	"prompthub/internal/prompthub"
)

// problem makes an error of an action what the caller is told.
func problem(ctx context.Context, err error) *httpjson.Problem {
	p := httpjson.Describe(ctx, err)
	var f *fault.Error
	if !errors.As(err, &f) {
		return p
	}
	for i := range p.Errors {
		p.Errors[i].Location = located(p.Errors[i].Location)
	}
	if v, ok := f.Current.(prompthub.View); ok {
		p.Current = encode(v)
		p.SetHeader("ETag", etag(v))
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

// problems turns what huma found wrong with a request into a problem like all others.
func problems(ctx huma.Context, _ string, v any) (any, error) {
	m, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	p := httpjson.NewProblem(ctx.Context(), m.Status, m.Detail)
	if m.Status == http.StatusUnprocessableEntity {
		p.Detail = brokenRules
	}
	for _, e := range m.Errors[:min(len(m.Errors), maxErrors)] {
		p.Errors = append(p.Errors, field(*e))
	}
	return p, nil
}

// maxErrors is how many broken rules one answer names: enough to see what is wrong, and no answer
// larger than the request.
const maxErrors = 20

// field locates a missing property at itself, where huma names the object around it.
func field(e huma.ErrorDetail) httpjson.Field {
	where, _ := httpjson.Short(e.Location).(string) // it may end with a name that the client made up
	before, after, _ := strings.Cut(validation.MsgExpectedRequiredProperty, "%s")
	name, isMissing := strings.CutPrefix(e.Message, before)
	name, hasEnd := strings.CutSuffix(name, after)
	if isMissing && hasEnd {
		return httpjson.Field{Location: where + "." + name, Message: "is required"}
	}
	return httpjson.Field{Location: where, Message: e.Message, Value: httpjson.Short(e.Value)}
}

const brokenRules = "the request breaks the rules named here"

// invalid reports one broken rule.
func invalid(location, message string, value any) error {
	return &fault.Error{
		Kind: fault.Invalid, Text: brokenRules,
		Fields: []fault.Field{{Name: location, Message: message, Value: value}},
	}
}
