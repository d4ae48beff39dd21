// Command hook is what azd runs around a deployment, with the values of its environment:
//
//	hook preprovision    checks the variables, and creates the app registration where
//	                     ENTRA_SIGN_IN=create asks for one
//	hook postprovision   tells that registration the address of the application and the identity
//	                     that it signs in with
//	hook postdeploy      waits until the application answers, and its storage
//
// It calls az, as the user who is logged in there, and azd. Every step may be repeated: what was
// cut short is taken up by the next run.
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
	h := hook{getenv: os.Getenv, out: os.Stdout, run: execute, wait: wait, get: get, random: rand.Text}
	if err := h.do(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "hook:", err)
		os.Exit(1)
	}
}

// A hook runs for one azd environment.
type hook struct {
	getenv func(string) string
	out    io.Writer
	run    func(ctx context.Context, name string, args ...string) (string, error)
	get    func(ctx context.Context, url string) (status int, err error)
	wait   func(context.Context, time.Duration) error
	random func() string
}

func (h hook) do(ctx context.Context, args []string) error {
	create := h.getenv("ENTRA_SIGN_IN") == "create"
	switch strings.Join(args, " ") {
	case "preprovision":
		if err := h.check(); err != nil || !create {
			return err // who brings a registration, or needs none, has nothing to create
		}
		return h.register(ctx)
	case "postprovision":
		if !create {
			return nil
		}
		return h.callback(ctx)
	case "postdeploy":
		return h.healthy(ctx)
	}
	return errors.New("usage: hook preprovision | postprovision | postdeploy")
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

// get returns the status that a URL answers with.
func get(ctx context.Context, url string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
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
		fmt.Fprintf(h.out, "%s: not yet (%d of %d)\n", what, tried, attempts)
		if err := h.wait(ctx, pause); err != nil {
			return err
		}
	}
}

// final reports an error that no further try takes away: who runs this lacks a right, a login or a
// program.
func final(err error) bool {
	for _, sign := range []string{"Authorization_RequestDenied", "Insufficient privileges", "Forbidden", "az login", "executable file not found"} {
		if strings.Contains(err.Error(), sign) {
			return true
		}
	}
	return errors.Is(err, context.Canceled)
}
