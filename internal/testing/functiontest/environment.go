package functiontest

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// An environment is that of the host: app settings and environment variables are the same thing.
type environment map[string]string

// readEnvironment adds the values of local.settings.json, if there is one, to env; what env
// has wins.
func readEnvironment(root string, env []string) (environment, error) {
	if env == nil {
		env = os.Environ()
	}
	all := make(environment)
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		all[name] = value
	}
	var local struct{ Values map[string]*string }
	err := readJSON(filepath.Join(root, "local.settings.json"), &local)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for name, value := range local.Values {
		if _, ok := all[name]; !ok && value != nil {
			all[name] = *value
		}
	}
	return all, nil
}

// list returns the environment in the form of os.Environ, in a fixed order.
func (e environment) list() []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(e)) {
		all = append(all, name+"="+e[name])
	}
	return all
}

var reference = regexp.MustCompile(`%[^%\s]+%`)

// expand replaces %NAME%; an unknown name becomes nothing.
func (e environment) expand(s string) string {
	return reference.ReplaceAllStringFunc(s, func(ref string) string { return e[strings.Trim(ref, "%")] })
}

// resolve replaces %NAME% in a binding, where the host refuses a function whose setting is not
// there or empty.
func (e environment) resolve(s string) (string, error) {
	for _, ref := range reference.FindAllString(s, -1) {
		if e[strings.Trim(ref, "%")] == "" {
			return "", fmt.Errorf("%s does not resolve to a value", ref)
		}
	}
	return e.expand(s), nil
}

// disabled reports whether an app setting switches a function off.
func (e environment) disabled(function string) bool {
	for _, name := range []string{"AzureWebJobs." + function + ".Disabled", "AzureWebJobs_" + function + "_Disabled"} {
		if v := e[name]; strings.EqualFold(v, "true") || v == "1" {
			return true
		}
	}
	return false
}
