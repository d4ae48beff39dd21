package functiontest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"prompthub/internal/host/function/queuetrigger"
)

// An app is an application as its root directory and the environment describe it.
type app struct {
	root      string
	env       environment
	config    config
	functions []*function // by name, which is the order in which routes are tried
	prefix    string      // of routes
	initTime  time.Duration
	runTime   time.Duration // of one invocation
	queues    queuetrigger.Settings
	base64    bool // messages are encoded on the wire
}

func readApp(root string, env []string) (*app, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	a := &app{root: root}
	if a.env, err = readEnvironment(root, env); err != nil {
		return nil, err
	}
	if a.config, err = readConfig(root, a.env); err != nil {
		return nil, err
	}
	if err := a.readSettings(); err != nil {
		return nil, err
	}
	return a, a.readFunctions()
}

func (a *app) readSettings() error {
	c := a.config
	a.prefix = strings.Trim(c.text("extensions:http:routeprefix", "api"), "/")
	encoding := c.text("extensions:queues:messageencoding", "base64")
	a.base64 = strings.EqualFold(encoding, "base64")
	if !a.base64 && !strings.EqualFold(encoding, "none") {
		return fmt.Errorf("host.json: messageEncoding is %q, want base64 or none", encoding)
	}
	a.queues = queuetrigger.Defaults()
	if strings.EqualFold(a.env["AZURE_FUNCTIONS_ENVIRONMENT"], "Development") {
		a.queues.MaxPoll = 2 * time.Second
	}
	return errors.Join(
		a.duration(&a.initTime, "customhandler:initializationtimeout", 30*time.Second),
		a.duration(&a.runTime, "functiontimeout", 30*time.Minute),
		a.duration(&a.queues.MaxPoll, "extensions:queues:maxpollinginterval", a.queues.MaxPoll),
		a.duration(&a.queues.RetryDelay, "extensions:queues:visibilitytimeout", 0),
		a.number(&a.queues.BatchSize, "extensions:queues:batchsize", a.queues.BatchSize, 1, 32),
		a.number(&a.queues.MaxDequeue, "extensions:queues:maxdequeuecount", a.queues.MaxDequeue, 1, 1000),
		// After the batch size, on which its default depends.
		a.threshold(),
	)
}

func (a *app) threshold() error {
	return a.number(&a.queues.NewBatchThreshold, "extensions:queues:newbatchthreshold", a.queues.BatchSize/2, 0, 1000)
}

func (a *app) duration(to *time.Duration, path string, otherwise time.Duration) (err error) {
	*to, err = a.config.duration(path, otherwise)
	return err
}

func (a *app) number(to *int, path string, otherwise, least, most int) (err error) {
	*to, err = a.config.number(path, otherwise)
	if err == nil && (*to < least || *to > most) {
		err = fmt.Errorf("host.json: %s is %d, want %d to %d", path, *to, least, most)
	}
	return err
}

// readFunctions reads the function.json of each direct child of the root. The host would go on
// without a function that is broken; here it is an error.
func (a *app) readFunctions() error {
	entries, err := os.ReadDir(a.root)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		f, err := a.readFunction(e.Name())
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("function %s: %w", e.Name(), err)
		}
		a.functions = append(a.functions, f)
	}
	if len(a.functions) == 0 {
		return errors.New("no functions, so the host would not start the handler")
	}
	slices.SortFunc(a.functions, func(f, g *function) int {
		return strings.Compare(strings.ToUpper(f.name), strings.ToUpper(g.name))
	})
	return a.checkTogether()
}

// checkTogether looks for what only shows when all functions are known.
func (a *app) checkTogether() error {
	for i, f := range a.functions {
		if f.trigger.Type == queueTrigger && a.config["extensionbundle:id"] == "" {
			return errors.New("host.json: queue triggers need the extensionBundle")
		}
		if f.trigger.Type == httpTrigger && !a.config.flag("customhandler:enableforwardinghttprequest") {
			return errors.New("host.json: HTTP triggers without enableForwardingHttpRequest are not modelled")
		}
		for _, g := range a.functions[:i] {
			if strings.EqualFold(f.name, g.name) {
				return fmt.Errorf("functions %s and %s: same name", f.name, g.name)
			}
			if f.route != nil && g.route != nil && strings.EqualFold(f.route.template, g.route.template) &&
				overlap(f.trigger.Methods, g.trigger.Methods) {
				return fmt.Errorf("functions %s and %s: same route and method", f.name, g.name)
			}
		}
	}
	return nil
}

// overlap reports whether a request can have a method of both; no methods are all methods.
func overlap(a, b []string) bool {
	if len(a) == 0 || len(b) == 0 {
		return true
	}
	return slices.ContainsFunc(a, func(m string) bool {
		return slices.ContainsFunc(b, func(n string) bool { return strings.EqualFold(m, n) })
	})
}

func (a *app) find(name string) *function {
	for _, f := range a.functions {
		if f.name == name {
			return f
		}
	}
	return nil
}
