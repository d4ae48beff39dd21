package client

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// A Problem is how the service refuses a request.
type Problem struct {
	Status    int    `json:"status"`
	Title     string `json:"title"`
	Code      string `json:"code"`
	Detail    string `json:"detail"`
	RequestID string `json:"requestId"`
	Errors    []Rule `json:"errors"`
}

// A Rule is one that a request broke.
type Rule struct {
	Location string `json:"location"`
	Message  string `json:"message"`
	Code     string `json:"code"`
	Value    any    `json:"value"`
}

// Error returns the rules that were broken or, where none are named, the whole refusal.
func (p *Problem) Error() string {
	if len(p.Errors) == 0 {
		text := fmt.Sprintf("%s (status %d", cmp.Or(p.Detail, p.Title), p.Status)
		if p.RequestID != "" && p.Status >= http.StatusInternalServerError {
			text += ", request " + p.RequestID
		}
		return text + ")"
	}
	rules := make([]string, len(p.Errors))
	for i, e := range p.Errors {
		where := e.Location // without its part of the request, of which a command line has none
		for _, part := range []string{"body.", "path.", "query."} {
			where = strings.TrimPrefix(where, part)
		}
		tag, named := e.Value.(string)
		switch name, isValue := strings.CutPrefix(where, "values."); {
		case isValue: // of a variable, whom the message is about
			rules[i] = fmt.Sprintf("%q %s", name, e.Message)
		case named && strings.HasPrefix(where, "tags["): // who wrote them did not count them
			rules[i] = fmt.Sprintf("tag %q: %s", tag, e.Message)
		case where != "":
			rules[i] = where + ": " + e.Message
		default:
			rules[i] = e.Message
		}
	}
	return strings.Join(rules, "; ")
}

// problem reads a refusal. It may come from a proxy in front of the service, which knows no
// problem documents.
func (a answer) problem() error {
	p := &Problem{}
	if err := json.Unmarshal(a.body, p); err != nil || p.Title == "" && p.Detail == "" {
		*p = Problem{Title: cmp.Or(http.StatusText(a.status), "refused")}
	}
	if a.status >= 300 && a.status < 400 {
		p.Detail = "the service is elsewhere: " + a.location
	}
	p.Status = a.status
	return p
}

// isElsewhere reports whether what answered has no API at this address: it is not the service, or
// the address has a path too many.
func (a answer) isElsewhere() bool {
	var p Problem
	return a.status == http.StatusNotFound && (json.Unmarshal(a.body, &p) != nil || p.Title == "" || p.Code == noRoute)
}

// The codes of the service that this client decides by.
const (
	noRoute           = "NO_SUCH_ROUTE" // in the API, or below the pages if an address was copied from a browser
	textTooLong       = "TEXT_TOO_LONG"
	includeUnresolved = "INCLUDE_UNRESOLVED"
)

// counted is a number in a reason that differs from row to row.
var counted = regexp.MustCompile(`, it has [0-9]+`)

// Reason returns why a row was rejected, the same for all rows that were rejected for the same
// reason.
func Reason(err error) string { return counted.ReplaceAllString(err.Error(), "") }

// TooLong reports whether a row was rejected because its text is too long.
func TooLong(err error) bool {
	var p *Problem
	return errors.As(err, &p) && slices.ContainsFunc(p.Errors, func(r Rule) bool {
		return r.Code == textTooLong
	})
}

// MissesInclude reports whether a prompt was refused for what it includes, which others may bring.
func MissesInclude(err error) bool {
	var p *Problem
	return errors.As(err, &p) && slices.ContainsFunc(p.Errors, func(r Rule) bool {
		return r.Code == includeUnresolved
	})
}
