package openapi

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"prompthub/internal/http/httpjson"
)

// CheckQuery refuses parameters that the route does not have: a request for ?tags=x must not be
// answered with the whole library.
func CheckQuery(ctx huma.Context, next func(huma.Context)) {
	var known []string
	for _, p := range ctx.Operation().Parameters {
		if p.In == "query" {
			known = append(known, p.Name)
		}
	}
	url := ctx.URL()
	var wrong []httpjson.Field
	for _, name := range slices.Sorted(maps.Keys(url.Query())) {
		if !slices.ContainsFunc(known, func(k string) bool { return named(name, k) }) && len(wrong) < maxErrors {
			short, _ := httpjson.Short(name).(string)
			wrong = append(wrong, httpjson.Field{Location: "query." + short, Message: unknown(short, known)})
		}
	}
	if wrong == nil {
		next(ctx)
		return
	}
	r, w := humago.Unwrap(ctx)
	p := httpjson.NewProblem(r.Context(), http.StatusUnprocessableEntity, BrokenRules)
	p.Errors = wrong
	httpjson.Refuse(w, r, p)
}

// named reports whether a parameter is the one that the document calls known: NAME at its end
// stands for any name.
func named(name, known string) bool {
	prefix, open := strings.CutSuffix(known, "NAME")
	return name == known || open && strings.HasPrefix(name, prefix)
}

// unknown says that there is no such parameter, and which one may be meant.
func unknown(name string, known []string) string {
	if len(known) == 0 {
		return "this route takes no parameters"
	}
	text, distance := "there is no such parameter", (len(name)+2)/3+1
	for _, k := range known {
		if d := edits(strings.ToLower(name), k); d < distance {
			text, distance = fmt.Sprintf("there is no such parameter; is %s meant?", k), d
		}
	}
	return text + "; the parameters are " + strings.Join(known, ", ")
}

// edits returns how many bytes to insert, delete or replace to make b of a.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost = 1 + min(before, row[j], row[j+1])
			}
			before, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
