// Command register sets up sign-in with Microsoft Entra ID for a deployment by azd, which runs it as a hook
// with the values of its environment:
//
//	register create     creates the app registration where ENTRA_SIGN_IN=create asks for one
//	register callback   tells that registration the address of the application
//
// It calls az, as the user who is logged in there, and azd.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

func main() {
	r := registrar{getenv: os.Getenv, out: os.Stdout, run: execute}
	if err := r.do(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "register:", err)
		os.Exit(1)
	}
}

// execute runs a command and returns what it printed.
func execute(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}

// A registrar works on the registration of one azd environment.
type registrar struct {
	getenv func(string) string
	out    io.Writer
	run    func(ctx context.Context, name string, args ...string) (string, error)
}

func (r registrar) do(ctx context.Context, args []string) error {
	// Who brings a registration, or needs none, has nothing to do with this.
	if r.getenv("ENTRA_SIGN_IN") != "create" {
		return nil
	}
	switch strings.Join(args, " ") {
	case "create":
		return r.create(ctx)
	case "callback":
		return r.callback(ctx)
	}
	return errors.New("usage: register create | register callback")
}

// create makes the registration, once: its id is kept as ENTRA_CLIENT_ID.
func (r registrar) create(ctx context.Context) error {
	if r.getenv("ENTRA_CLIENT_ID") != "" {
		return nil
	}
	environment := r.getenv("AZURE_ENV_NAME")
	if environment == "" {
		return errors.New("AZURE_ENV_NAME is not set: azd runs this as a hook and sets it")
	}
	id, err := r.graph(ctx, "POST", "applications", application("PromptHub "+environment), "appId")
	if err != nil {
		return err
	}
	// Kept at once, so that a failure below does not leave a registration that nobody knows of.
	if _, err := r.run(ctx, "azd", "env", "set", "ENTRA_CLIENT_ID", id); err != nil {
		return fmt.Errorf("the registration %s exists, but azd does not know it: %w", id, err)
	}
	if _, err := r.graph(ctx, "PATCH", byID(id), exposed(id), ""); err != nil {
		return err
	}
	if _, err := r.graph(ctx, "POST", "servicePrincipals", map[string]any{"appId": id}, ""); err != nil {
		return err
	}
	fmt.Fprintln(r.out, "Created the app registration", id)
	return nil
}

// callback allows sign-in with a browser at the address of the application.
func (r registrar) callback(ctx context.Context) error {
	id, url := r.getenv("ENTRA_CLIENT_ID"), r.getenv("FUNCTION_APP_URL")
	if id == "" || url == "" {
		return errors.New("ENTRA_CLIENT_ID or FUNCTION_APP_URL is not set: run azd provision first")
	}
	urls := []string{url + "/.auth/login/aad/callback"}
	if own := r.getenv("CUSTOM_DOMAIN"); own != "" {
		urls = append(urls, "https://"+own+"/.auth/login/aad/callback")
	}
	_, err := r.graph(ctx, "PATCH", byID(id), map[string]any{"web": map[string]any{
		"redirectUris":          urls,
		"implicitGrantSettings": map[string]bool{"enableIdTokenIssuance": true},
	}}, "")
	return err
}
