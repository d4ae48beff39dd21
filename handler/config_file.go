package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
)

const defaultURL = "http://127.0.0.1:7071"

// A clientConfig is the file of the commands that call a service: JSON with these members.
type clientConfig struct {
	URL   string `json:"url,omitempty"`
	Token string `json:"token,omitempty"`
	User  string `json:"user,omitempty"` // in dev mode
}

// configPath returns where the file is.
func configPath() (string, error) {
	if path := os.Getenv("PROMPTHUB_CONFIG"); path != "" {
		return path, nil
	}
	dir, err := os.UserConfigDir()
	return filepath.Join(dir, "prompthub", "config.json"), err
}

// readClientConfig reads the file. One with a token that others can read is refused, as ssh does.
func readClientConfig() (clientConfig, error) {
	var c clientConfig
	path, err := configPath()
	if err != nil {
		return c, nil //nolint:nilerr // a user without a home has no file there
	}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && os.Getenv("PROMPTHUB_CONFIG") == "" {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	// a misspelt url would be the default one
	if err := json.Unmarshal(b, &c, json.RejectUnknownMembers(true), json.MatchCaseInsensitiveNames(true)); err != nil {
		return c, fmt.Errorf("%s: want {\"url\": …, \"token\": …} or {\"url\": …, \"user\": …}: %w", path, err)
	}
	info, err := os.Stat(path)
	if err == nil && c.Token != "" && info.Mode().Perm()&0o077 != 0 {
		return c, fmt.Errorf("%s holds a token and others can read it: chmod 600 %s", path, path)
	}
	return c, err
}

// complete gives the caller what the flags leave open: from the environment, else from the file.
// The token of the file goes to the address of the file and to no other.
func (c *caller) complete() error {
	file, err := readClientConfig()
	if err != nil {
		return err
	}
	c.url = cmp.Or(c.url, os.Getenv("PROMPTHUB_URL"), file.URL, defaultURL)
	if c.token != "" || c.user != "" {
		return nil
	}
	c.token = os.Getenv("PROMPTHUB_TOKEN")
	if c.token == "" && strings.TrimRight(c.url, "/") == strings.TrimRight(cmp.Or(file.URL, defaultURL), "/") {
		c.token = file.Token
	}
	if c.token == "" {
		c.user = cmp.Or(os.Getenv("PROMPTHUB_USER"), file.User)
	}
	return nil
}
