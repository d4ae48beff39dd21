package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// build builds the program that is deployed, for this machine, and returns its path in dir.
func build(ctx context.Context, root, dir string) (string, error) {
	path := filepath.Join(dir, "handler.exe") // Windows runs no other name, and other systems any
	cmd := exec.CommandContext(ctx, "go", "build", "-o", path, "./handler")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build ./handler: %w: %s", err, bytes.TrimSpace(out))
	}
	return path, nil
}

// takes asks the program whether it would start with settings, and with nothing else of this
// machine's environment.
func takes(ctx context.Context, program string, settings map[string]string) error {
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, program, "settings")
	cmd.Env, cmd.Stderr = []string{}, &said
	for name, value := range settings {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && said.Len() > 0 {
		_, why, _ := strings.Cut(strings.TrimSpace(said.String()), ": ") // after its name
		return errors.New(why)
	}
	return err
}

// program builds the program and asks it.
func program(ctx context.Context, settings map[string]string) error {
	dir, err := os.MkdirTemp("", "prompthub-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path, err := build(ctx, ".", dir)
	if err != nil {
		return err
	}
	return takes(ctx, path, settings)
}
