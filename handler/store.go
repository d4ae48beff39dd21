package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"prompthub/internal/auth"
	"prompthub/internal/azure"
	"prompthub/internal/embedded"
	"prompthub/internal/queue"
	"prompthub/internal/table"
)

// A store is the tables and queues that a command works on.
type store struct {
	tables table.DB
	queues queue.Queues
	where  string // for the user to read
	close  func() error
}

const (
	dataUsage = "`directory` of the embedded store; unused where AzureWebJobsStorage is set"
	storeFile = "prompthub.db"
)

func dataFlag(flags *flag.FlagSet) *string { return flags.String("data", ".data", dataUsage) }

// azureIsSet reports whether the environment names a storage account.
func azureIsSet() bool {
	for _, part := range []string{"", "__accountName", "__tableServiceUri", "__queueServiceUri"} {
		if os.Getenv("AzureWebJobsStorage"+part) != "" {
			return true
		}
	}
	return false
}

// openAzure opens the storage account that the environment names. It sends nothing. The error
// is an *auth.Refusal.
func openAzure(queuePrefix string) (store, error) {
	cfg, err := azure.FromEnv(os.Getenv)
	if err != nil {
		return store{}, &auth.Refusal{Setting: "AzureWebJobsStorage", Reason: "does not name a storage account: " + err.Error()}
	}
	account, err := azure.New(cfg)
	if err != nil {
		return store{}, &auth.Refusal{Setting: "AzureWebJobsStorage", Reason: "does not open a storage account: " + err.Error()}
	}
	queues := queue.Prefixed(account.Queues, queuePrefix)
	return store{account.Tables, queues, "the storage account of AzureWebJobsStorage", func() error { return nil }}, nil
}

// openStore opens the storage account where one is set, else the embedded store in dir, which
// it creates.
func openStore(dir, queuePrefix string) (store, error) {
	if azureIsSet() {
		return openAzure(queuePrefix)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return store{}, err
	}
	path := filepath.Join(dir, storeFile)
	file, err := embedded.Open(path, time.Now)
	if err != nil {
		return store{}, fmt.Errorf("%w (it belongs to one process: is \"handler local\" running?)", err)
	}
	return store{file.Tables, queue.Prefixed(file.Queues, queuePrefix), path, file.Close}, nil
}

// openExisting is openStore for commands that an empty store would mislead.
func openExisting(dir, queuePrefix string) (store, error) {
	if _, err := os.Stat(filepath.Join(dir, storeFile)); !azureIsSet() && errors.Is(err, fs.ErrNotExist) {
		return store{}, fmt.Errorf("there is no store in %s: name its directory with --data, or set AzureWebJobsStorage", dir)
	}
	return openStore(dir, queuePrefix)
}

// wait waits, or returns the context's error.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
