package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// binary is the name that host.json has for the handler.
const binary = "handler"

// A platform is what the handler is built for.
type platform struct{ os, arch string }

// stage makes the directory out from the repository in root.
func stage(ctx context.Context, root, out string, p platform) error {
	if err := empty(out, "host.json"); err != nil {
		return err
	}
	if err := copyFile(filepath.Join(root, "host.json"), filepath.Join(out, "host.json")); err != nil {
		return err
	}
	if err := copyFunctions(filepath.Join(root, "functions"), out); err != nil {
		return err
	}
	return build(ctx, root, filepath.Join(out, binary), p)
}

// empty empties out, unless it holds files of others: a directory that this program made has the
// file mark.
func empty(out, mark string) error {
	entries, err := os.ReadDir(out)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := os.Stat(filepath.Join(out, mark)); len(entries) > 0 && err != nil {
		return fmt.Errorf("%s is not empty and was not staged: remove it yourself", out)
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	return os.MkdirAll(out, 0o755)
}

// copyFunctions copies the function.json of every folder. A folder without one is a mistake that
// the host would pass over.
func copyFunctions(from, out string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() {
			return fmt.Errorf("%s in %s is no folder of a function", e.Name(), from)
		}
		if err := os.Mkdir(filepath.Join(out, e.Name()), 0o755); err != nil {
			return err
		}
		name := filepath.Join(e.Name(), "function.json")
		if err := copyFile(filepath.Join(from, name), filepath.Join(out, name)); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}

// build builds the handler without C and without the paths of this machine, so that the same
// commit gives the same bytes. More flags for the linker may follow its own.
func build(ctx context.Context, root, out string, p platform, linker ...string) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	flags := strings.Join(append([]string{"-ldflags=-s -w"}, linker...), " ")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", flags, "-o", out, "./handler")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.os, "GOARCH="+p.arch)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build the handler: %w", err)
	}
	return os.Chmod(out, 0o755) // whatever the umask is: the host must be able to start it
}
