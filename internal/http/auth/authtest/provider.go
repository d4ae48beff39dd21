// Package authtest runs a real OpenID provider for tests: oidc-provider of npm, as
// internal/tools/oidc pins it.
package authtest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"prompthub/internal/testing/inputs"
)

// The client that the provider knows. Its page takes any name with any password.
const (
	ClientID     = "notes"
	ClientSecret = "a secret of the test"
	AdminGroup   = "prompt-admins" // in the claim groups, which the scope groups asks for
)

// Options are what a provider is told.
type Options struct {
	Redirects    []string `json:"redirects"`    // where it may send people after sign-in
	Logouts      []string `json:"logouts"`      // and after they signed out of it
	TokenSeconds int      `json:"tokenSeconds"` // how long an ID token counts
}

// A Provider is a running provider.
type Provider struct {
	Issuer string
	t      testing.TB
}

// Start starts a provider on a loopback address, which ends with the test. Where node or the
// package is missing the test is skipped, or fails under CI=true.
func Start(t testing.TB, o Options) *Provider {
	t.Helper()
	root, err := inputs.Root()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "internal", "tools", "oidc")
	inputs.Files(t, "internal/tools/oidc")
	node, err := exec.LookPath("node")
	if err == nil {
		_, err = os.Stat(filepath.Join(dir, "node_modules", "oidc-provider"))
	}
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(`there is no OpenID provider to test with: install Node.js, then run "make test": `, err)
	}
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, node, filepath.Join(dir, "provider.mjs"), string(text))
	if _, err := cmd.StdinPipe(); err != nil { // it ends when this process does, however that ends
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // it was ended
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal("the provider does not start: ", err)
	}
	return &Provider{strings.TrimSpace(line), t}
}

// A State is what the provider knows and can learn while it runs.
type State struct {
	Admins []string `json:"admins"` // the users in AdminGroup
	Gone   []string `json:"gone"`   // the users that were removed
	Ahead  int      `json:"ahead"`  // seconds, of its clock
}

// Set replaces the state of the provider. An authorization code lasts a minute of its clock.
func (p *Provider) Set(s State) {
	p.t.Helper()
	s.Admins, s.Gone = append([]string{}, s.Admins...), append([]string{}, s.Gone...)
	body, err := json.Marshal(s)
	if err != nil {
		p.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPut,
		p.Issuer+"/test", bytes.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	resp.Body.Close()
}
