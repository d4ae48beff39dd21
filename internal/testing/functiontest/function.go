package functiontest

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/robfig/cron/v3"
)

// The triggers that are modelled.
const (
	httpTrigger  = "httptrigger"
	queueTrigger = "queuetrigger"
	timerTrigger = "timertrigger"
)

// A function is one folder with a function.json.
type function struct {
	name     string
	trigger  binding
	output   bool          // it has an HTTP output binding
	route    *route        // of an HTTP trigger
	schedule cron.Schedule // of a timer trigger
	disabled bool
}

// A binding of function.json, with the properties that the modelled bindings have.
type binding struct {
	Type, Direction, Name string
	DataType              string
	Methods               []string
	Route                 *string
	QueueName             string
	Schedule              string
	UseMonitor            *bool
}

var (
	functionNames = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,127}$`)
	sixFields     = cron.NewParser(cron.Second | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)
)

// readFunction reads one function. An error that is fs.ErrNotExist means that the folder is none.
func (a *app) readFunction(name string) (*function, error) {
	var file struct{ Bindings []binding }
	if err := readJSON(filepath.Join(a.root, name, "function.json"), &file); err != nil {
		return nil, err
	}
	if !functionNames.MatchString(name) || strings.EqualFold(name, "host") {
		return nil, errors.New("not a name for a function")
	}
	f := &function{name: name, disabled: a.env.disabled(name)}
	seen := make(map[string]bool)
	for _, b := range file.Bindings {
		if b.Name == "" || seen[strings.ToLower(b.Name)] {
			return nil, fmt.Errorf("binding %q: name is missing or taken", b.Name)
		}
		seen[strings.ToLower(b.Name)] = true
		if err := f.add(b); err != nil {
			return nil, fmt.Errorf("binding %s: %w", b.Name, err)
		}
	}
	if f.trigger.Type == "" {
		return nil, errors.New("no trigger")
	}
	return f, f.complete(a)
}

func (f *function) add(b binding) error {
	b.Type, b.Direction = strings.ToLower(b.Type), strings.ToLower(b.Direction)
	switch b.Type {
	case httpTrigger, queueTrigger, timerTrigger:
		if f.trigger.Type != "" {
			return errors.New("a second trigger")
		}
		// The host takes a missing direction for in.
		if b.Direction != "" && b.Direction != "in" {
			return fmt.Errorf("direction of a trigger is %s", b.Direction)
		}
		f.trigger = b
	case "http":
		if b.Direction != "out" || f.output {
			return errors.New("want one http binding with direction out")
		}
		f.output = true
	default:
		return fmt.Errorf("type %q is not modelled", b.Type)
	}
	return nil
}

// binary reports whether messages come as bytes.
func (f *function) binary() bool {
	return f.trigger.Type == queueTrigger && strings.EqualFold(f.trigger.DataType, "binary")
}

// complete reads the properties of the trigger.
func (f *function) complete(a *app) (err error) {
	t := &f.trigger
	if t.DataType != "" && !f.binary() {
		return fmt.Errorf("dataType %q is not modelled", t.DataType)
	}
	// Without one the host puts a request into an envelope, which is not modelled.
	if f.output != (t.Type == httpTrigger) {
		return errors.New("an HTTP trigger and an http output go together")
	}
	switch t.Type {
	case queueTrigger:
		name, err := a.env.resolve(t.QueueName)
		if err != nil || name == "" {
			return fmt.Errorf("queueName %q: %w", t.QueueName, cmp.Or(err, errors.New("is missing")))
		}
		t.QueueName = strings.ToLower(name)
	case timerTrigger:
		if f.schedule, err = sixFields.Parse(a.env.expand(t.Schedule)); err != nil {
			return fmt.Errorf("schedule: %w", err)
		}
	case httpTrigger:
		template := f.name
		if t.Route != nil {
			template = *t.Route
		}
		f.route, err = parseRoute(a.prefix, template)
	}
	return err
}
