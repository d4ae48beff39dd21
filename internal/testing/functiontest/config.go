package functiontest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// overrides is what the name of an environment variable that overrides host.json begins with.
const overrides = "azurefunctionsjobhost__"

// A config is host.json with its overrides, as the host sees it: values by their path, which
// is joined by colons and in lower case.
type config map[string]string

func readConfig(root string, env environment) (config, error) {
	var tree map[string]any
	if err := readJSON(filepath.Join(root, "host.json"), &tree); err != nil {
		return nil, err
	}
	c := make(config)
	c.flatten("", tree)
	for _, kv := range env.list() {
		name, value, _ := strings.Cut(kv, "=")
		if path, ok := strings.CutPrefix(strings.ToLower(name), overrides); ok {
			c[strings.ReplaceAll(path, "__", ":")] = value
		}
	}
	return c, c.check()
}

func (c config) flatten(path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			c.flatten(strings.TrimPrefix(path+":"+strings.ToLower(k), ":"), e)
		}
	case []any:
		for i, e := range v {
			c.flatten(path+":"+strconv.Itoa(i), e)
		}
	case nil:
	default:
		c[path] = fmt.Sprint(v)
	}
}

// check refuses settings that the host refuses and those that this package does not model.
func (c config) check() error {
	switch {
	case c["version"] != "2.0":
		return fmt.Errorf("host.json: version is %q, want 2.0", c["version"])
	case c["customhandler:description:defaultexecutablepath"] == "":
		return fmt.Errorf("host.json: customHandler.description.defaultExecutablePath is missing")
	}
	for _, key := range []string{
		"customhandler:http:routes:0:route", "configurationprofile", "customhandler:port",
		"httpworker:description:defaultexecutablepath",
	} {
		if _, ok := c[key]; ok {
			return fmt.Errorf("host.json: %s is not modelled", key)
		}
	}
	return nil
}

func (c config) text(path, otherwise string) string {
	if v, ok := c[path]; ok {
		return v
	}
	return otherwise
}

func (c config) flag(path string) bool { return strings.EqualFold(c[path], "true") }

func (c config) number(path string, otherwise int) (int, error) {
	v, ok := c[path]
	if !ok {
		return otherwise, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		return 0, fmt.Errorf("host.json: %s is %q, want a number", path, v)
	}
	return n, nil
}

// duration reads a .NET TimeSpan.
func (c config) duration(path string, otherwise time.Duration) (time.Duration, error) {
	v, ok := c[path]
	if !ok {
		return otherwise, nil
	}
	d, err := timeSpan(v)
	if err != nil {
		return 0, fmt.Errorf("host.json: %s: %w", path, err)
	}
	return d, nil
}

// list returns the elements of an array.
func (c config) list(path string) []string {
	var all []string
	for i := 0; ; i++ {
		v, ok := c[path+":"+strconv.Itoa(i)]
		if !ok {
			return all
		}
		all = append(all, v)
	}
}

var span = regexp.MustCompile(`^(?:(\d{1,4})\.)?(\d\d?):(\d\d?):(\d\d?(?:\.\d{1,7})?)$`)

func timeSpan(s string) (time.Duration, error) {
	m := span.FindStringSubmatch(s)
	if m == nil {
		return 0, fmt.Errorf("%q is no [days.]hours:minutes:seconds", s)
	}
	if m[1] == "" {
		m[1] = "0"
	}
	// The pattern lets through nothing that these could refuse.
	days, _ := strconv.Atoi(m[1])
	rest, _ := time.ParseDuration(m[2] + "h" + m[3] + "m" + m[4] + "s")
	return time.Duration(days)*24*time.Hour + rest, nil
}

func readJSON(path string, v any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return nil
}
