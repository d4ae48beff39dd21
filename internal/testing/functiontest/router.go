package functiontest

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A route is a template as ASP.NET Core reads it, as far as it is modelled: literals,
// {name}, {name?}, {name=default}, {*name} and the constraints below.
type route struct {
	template string
	segments []segment
}

type segment struct {
	literal  string // where name is empty
	name     string
	rest     bool    // takes all that follows, slashes included
	optional bool    // may be missing
	value    *string // when it is missing
	checks   []func(string) bool
}

var (
	guids = regexp.MustCompile(`(?i)^(?:[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\{[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\}|\([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\))$`)
	alpha = regexp.MustCompile(`(?i)^[a-z]*$`)
	limit = regexp.MustCompile(`^maxlength\((\d{1,6})\)$`)
)

// parseRoute reads the template of a function, to which the prefix is added.
func parseRoute(prefix, template string) (*route, error) {
	template = strings.Trim(template, "/")
	for _, reserved := range []string{"admin", "runtime"} {
		// By its letters, so that administrators is refused too.
		if strings.HasPrefix(strings.ToLower(template), reserved) {
			return nil, fmt.Errorf("route %s: starts with %s, which is the host's", template, reserved)
		}
	}
	r := &route{template: strings.Trim(prefix+"/"+template, "/")}
	if r.template == "" {
		return r, nil
	}
	for s := range strings.SplitSeq(r.template, "/") {
		seg, err := parseSegment(s)
		if err != nil {
			return nil, fmt.Errorf("route %s: %w", template, err)
		}
		if n := len(r.segments); n > 0 && (r.segments[n-1].rest || r.segments[n-1].optional) {
			return nil, fmt.Errorf("route %s: %s comes after the end", template, s)
		}
		r.segments = append(r.segments, seg)
	}
	return r, nil
}

func parseSegment(s string) (segment, error) {
	inner, ok := strings.CutPrefix(s, "{")
	if !ok && !strings.ContainsAny(s, "{}*?") && s != "" {
		return segment{literal: s}, nil
	}
	inner, closed := strings.CutSuffix(inner, "}")
	if !ok || !closed || strings.ContainsAny(inner, "{}") {
		return segment{}, fmt.Errorf("segment %q is not modelled", s)
	}
	var seg segment
	if i := strings.IndexByte(inner, '='); i >= 0 {
		value := inner[i+1:]
		inner, seg.value = inner[:i], &value
	}
	inner, seg.optional = strings.CutSuffix(inner, "?")
	name := strings.TrimLeft(inner, "*")
	seg.rest = name != inner
	parts := strings.Split(name, ":")
	if seg.name = parts[0]; seg.name == "" {
		return segment{}, fmt.Errorf("segment %q has no name", s)
	}
	for _, p := range parts[1:] {
		check, err := constraint(p)
		if err != nil {
			return segment{}, err
		}
		seg.checks = append(seg.checks, check)
	}
	return seg, nil
}

func constraint(s string) (func(string) bool, error) {
	switch m := limit.FindStringSubmatch(s); {
	case m != nil:
		n, _ := strconv.Atoi(m[1]) // digits, by the pattern
		return func(v string) bool { return len([]rune(v)) <= n }, nil
	case s == "int":
		return func(v string) bool {
			_, err := strconv.ParseInt(strings.TrimSpace(v), 10, 32)
			return err == nil
		}, nil
	case s == "guid":
		return guids.MatchString, nil
	case s == "alpha":
		return alpha.MatchString, nil
	}
	return nil, fmt.Errorf("constraint %q is not modelled", s)
}

// match reports whether a decoded path is one of the route's.
func (r *route) match(path string) bool {
	rest := strings.TrimPrefix(path, "/")
	if rest != "/" {
		rest = strings.TrimSuffix(rest, "/")
	}
	more := rest != ""
	for _, seg := range r.segments {
		var value string
		switch {
		case seg.rest:
			if more && (rest == "" || rest[0] == '/') { // an empty segment right after the literals
				return false
			}
			value, more = rest, false
		case !more:
			if !seg.optional && seg.value == nil {
				return false
			}
		default:
			value, rest, more = strings.Cut(rest, "/")
			if value == "" { // as in a//b
				return false
			}
		}
		if !seg.takes(value) {
			return false
		}
	}
	return !more
}

func (s *segment) takes(value string) bool {
	if s.name == "" {
		return strings.EqualFold(value, s.literal)
	}
	if value == "" && s.value != nil {
		value = *s.value
	}
	if value == "" {
		return s.optional || s.rest
	}
	for _, check := range s.checks {
		if !check(value) {
			return false
		}
	}
	return true
}

// route finds the function for a request: the first by name whose route and methods match. A
// method that no function takes is not told from a path that no function has.
func (a *app) route(method, path string) *function {
	for _, f := range a.functions {
		if f.route == nil {
			continue
		}
		takes := len(f.trigger.Methods) == 0 || slices.ContainsFunc(f.trigger.Methods, func(m string) bool {
			return strings.EqualFold(m, method)
		})
		if takes && f.route.match(path) {
			return f
		}
	}
	return nil
}
