package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"prompthub/internal/testing/azurite"
)

const (
	settingsFile = "local.settings.json"
	azuriteData  = ".data/azurite"
)

// defaults are where UseDevelopmentStorage=true looks for Azurite.
var defaults = azurite.Ports{Blob: 10000, Queue: 10001, Table: 10002}

// errNoFunc says how to get what is missing.
func errNoFunc(dir string) error {
	return fmt.Errorf(`the application is staged in %s, but "func" is not installed.
Azure Functions Core Tools 4 provide it:
  npm install --global azure-functions-core-tools@4
or see https://learn.microsoft.com/azure/azure-functions/functions-run-local
Without it "make run" serves the same API, queues and timers in one process`, dir)
}

// startFunc stages for this machine and runs "func start" there until it ends, with an Azurite
// where the settings ask for one.
func startFunc(ctx context.Context, dir string) (err error) {
	if err := stage(ctx, ".", dir, thisMachine()); err != nil {
		return err
	}
	develop, err := writeSettings(".", dir)
	if err != nil {
		return err
	}
	tool, err := exec.LookPath("func")
	if err != nil {
		return errNoFunc(dir)
	}
	if develop {
		stop, err := startAzurite(ctx)
		if err != nil {
			return err
		}
		defer stop()
	}
	// Not bound to ctx: the terminal interrupts it as it does this process, which waits.
	cmd := exec.Command(tool, "start")
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("func start: %w", err)
	}
	return nil
}

// writeSettings puts the developer's local settings into dir, or the example where there are none,
// and reports whether they ask for Azurite.
func writeSettings(root, dir string) (develop bool, err error) {
	data, err := os.ReadFile(filepath.Join(root, settingsFile))
	if errors.Is(err, fs.ErrNotExist) {
		data, err = os.ReadFile(filepath.Join(root, settingsFile+".example"))
	}
	if err != nil {
		return false, err
	}
	var settings struct{ Values map[string]string }
	if err := json.Unmarshal(data, &settings); err != nil {
		return false, fmt.Errorf("%s: %w", settingsFile, err)
	}
	// The settings may hold keys.
	err = os.WriteFile(filepath.Join(dir, settingsFile), data, 0o600)
	return settings.Values["AzureWebJobsStorage"] == "UseDevelopmentStorage=true", err
}

// startAzurite starts Azurite on its usual ports, unless one is running there.
func startAzurite(ctx context.Context) (stop func(), err error) {
	conn, err := net.DialTimeout("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(defaults.Table)), time.Second)
	if err == nil {
		return func() {}, conn.Close()
	}
	if err := os.MkdirAll(azuriteData, 0o700); err != nil {
		return nil, err
	}
	server, err := azurite.Run(ctx, azurite.Options{Dir: azuriteData, Ports: defaults, Blob: true})
	if err != nil {
		return nil, err
	}
	return func() {
		if err := server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stage:", err)
		}
	}, nil
}
