// Command hook is what azd runs around a deployment, with the values of its environment:
//
//	hook preprovision    checks the variables, asks the program whether it would start with them, and
//	                     creates the app registration if ENTRA_SIGN_IN=create asks for one
//	hook variables       checks the variables of an application in apps, in its folder
//	hook postprovision   tells that registration the address of the application and the identity
//	                     that it signs in with
//	hook postdeploy      waits until the application answers, and its storage
//	hook postdown        deletes the registration that preprovision created
//
// It calls az, as the user who is logged in there, and azd. Every step may be repeated: the next
// run goes on where one was cut short.
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	h := hook{
		root: ".", lookup: os.LookupEnv, out: os.Stdout, run: execute, program: program, wait: wait, get: get,
		now: time.Now, random: rand.Text,
	}
	if err := h.do(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "hook:", err)
		os.Exit(1)
	}
}

// A hook runs for one azd environment, in the folder of azure.yaml.
type hook struct {
	root    string
	lookup  func(string) (string, bool)
	out     io.Writer
	run     func(ctx context.Context, name string, args ...string) (string, error)
	program func(ctx context.Context, settings map[string]string) error
	get     func(ctx context.Context, url, token string) (answer, error)
	wait    func(context.Context, time.Duration) error
	now     func() time.Time
	random  func() string
}

func (h hook) getenv(name string) string {
	value, _ := h.lookup(name)
	return value
}

func (h hook) do(ctx context.Context, args []string) error {
	create := h.getenv("ENTRA_SIGN_IN") == "create"
	switch strings.Join(args, " ") {
	case "preprovision":
		if err := h.check(ctx); err != nil || !create {
			return err // a user who brings a registration, or needs none, has nothing to create
		}
		return h.register(ctx)
	case "variables":
		_, err := h.values()
		return err
	case "postprovision":
		if !create {
			return nil
		}
		return h.callback(ctx)
	case "postdeploy":
		return h.healthy(ctx)
	case "postdown":
		if !create {
			return nil
		}
		return h.remove(ctx)
	}
	return errors.New("usage: hook preprovision | variables | postprovision | postdeploy | postdown")
}

// execute runs a command and returns what it printed. What it complained of is part of the error.
func execute(ctx context.Context, name string, args ...string) (string, error) {
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, args[0], err, strings.TrimSpace(said.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

// get asks a URL, with a bearer token if there is one.
func get(ctx context.Context, url, token string) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return answer{}, err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	return answer{resp.StatusCode, string(body)}, err
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

const (
	attempts = 36 // as the Azure CLI does, while what was created spreads through the directory
	pause    = 5 * time.Second
)

// retry does a step until it succeeds, is refused for good or was tried often enough.
func (h hook) retry(ctx context.Context, what string, step func() error) error {
	for tried := 1; ; tried++ {
		err := step()
		if err == nil {
			return nil
		}
		if final(err) || tried == attempts {
			return fmt.Errorf("%s: %w", what, err)
		}
		fmt.Fprintf(h.out, "%s: not yet (%d of %d): %v\n", what, tried, attempts, err)
		if err := h.wait(ctx, pause); err != nil {
			return err
		}
	}
}

// final reports an error that no further try takes away: the user lacks a right, a login or a
// program.
func final(err error) bool {
	for _, sign := range []string{
		"Authorization_RequestDenied", "Insufficient privileges", "Forbidden", "az login",
		"executable file not found",
	} {
		if strings.Contains(err.Error(), sign) {
			return true
		}
	}
	return errors.Is(err, context.Canceled) || errors.Is(err, errNotConfigured)
}
