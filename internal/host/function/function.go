// Package function is the handler's side of the Azure Functions custom-handler protocol for
// queue and timer triggers: the envelope of an invocation in, a function run, a reply out that
// the host understands. It also keeps everybody but the host away from the triggers.
//
// The protocol in short. The host posts an invocation to /{function name} on 127.0.0.1. It takes
// a 2xx answer with a JSON object for success and everything else for a failure, which it tries
// again later; an answer without a JSON object makes it wait until its own timeout. Requests from
// outside arrive on the same port, forwarded, which is why Handler is careful about who asks.
package function

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// A Func is the work of one trigger. The host runs it at least once for each message, possibly
// twice at the same time, and again later where it returns an error.
type Func func(ctx context.Context, in Invocation) error

// An Invocation is what the host tells a function.
type Invocation struct {
	Function string // the name of the trigger
	ID       string // the host's id of this invocation, for logs
	Text     string // the text of the message, for a queue trigger
	// deliveries of the message, this one included; 0 where unknown, and for logs only
	Dequeued int
	Inserted time.Time // when the message was sent; zero where unknown, and for measurements only
	Timer    bool      // a timer fired
	PastDue  bool      // and did so later than planned
}

// A Trigger says when the host runs a function. Exactly one of Queue and Schedule is set.
type Trigger struct {
	Name     string // the function, as its folder is spelled
	Queue    string // the queue whose messages it works on
	Schedule string // six cron fields, seconds first, in UTC
	Run      Func
}

// names is the host's own rule for the name of a function.
var names = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,127}$`)

// Check reports the first trigger that no host could run.
func Check(triggers []Trigger) error {
	seen := make(map[string]bool)
	for _, t := range triggers {
		// The host compares names without regard to case.
		name := strings.ToLower(t.Name)
		if seen[name] {
			return fmt.Errorf("trigger %q: the name is taken", t.Name)
		}
		seen[name] = true
		if err := t.check(); err != nil {
			return fmt.Errorf("trigger %q: %w", t.Name, err)
		}
	}
	return nil
}

func (t Trigger) check() error {
	switch {
	case !names.MatchString(t.Name) || strings.EqualFold(t.Name, "host"):
		return errors.New("not a name the host accepts")
	case (t.Queue == "") == (t.Schedule == ""):
		return errors.New("needs either a queue or a schedule")
	case t.Run == nil:
		return errors.New("has nothing to run")
	}
	return nil
}
