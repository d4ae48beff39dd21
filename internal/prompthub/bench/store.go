package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"prompthub/internal/azure"
	"prompthub/internal/azurite"
	"prompthub/internal/embedded"
)

// A store holds a library, for a program to open.
type store struct {
	library
	data  string // the directory of an embedded store
	azure string // or the connection string of Azurite
	stop  func() error
}

// size returns what the library takes on disk, in bytes, or zero.
func (s store) size() int64 {
	info, err := os.Stat(filepath.Join(s.data, storeFile))
	if s.data == "" || err != nil {
		return 0
	}
	return info.Size()
}

const (
	storeFile        = "prompthub.db"
	embeddedParallel = 256 // batches that fill a store at once: as many as it writes together
	azuriteParallel  = 8   // it has one thread
)

// openEmbedded returns the library of n prompts in a directory below dir, which it fills where that was not done yet.
func openEmbedded(ctx context.Context, dir string, n int) (s store, err error) {
	s = store{data: filepath.Join(dir, fmt.Sprint(n)), stop: func() error { return nil }}
	note := filepath.Join(s.data, "library.json")
	b, err := os.ReadFile(note)
	switch {
	case err == nil:
		return s, json.Unmarshal(b, &s.library)
	case !errors.Is(err, fs.ErrNotExist):
		return s, err
	}
	if err := errors.Join(os.RemoveAll(s.data), os.MkdirAll(s.data, 0o700)); err != nil {
		return s, err
	}
	file, err := embedded.Open(filepath.Join(s.data, storeFile), time.Now)
	if err != nil {
		return s, err
	}
	s.library = library{Prompts: n, Until: time.Now().UTC().Truncate(time.Millisecond)}
	progress("filling an embedded store with %d prompts", n)
	if err := errors.Join(s.fill(ctx, file.Tables, file.Queues, embeddedParallel), file.Close()); err != nil {
		return s, err
	}
	if b, err = json.Marshal(s.library); err != nil {
		return s, err
	}
	return s, os.WriteFile(note, b, 0o600)
}

// openAzurite starts Azurite, which keeps its tables in memory, and fills it with n prompts.
func openAzurite(ctx context.Context, n int) (s store, err error) {
	server, err := azurite.Run(ctx, azurite.Options{})
	if err != nil {
		return s, err
	}
	s = store{library: library{Prompts: n, Until: time.Now().UTC().Truncate(time.Millisecond)}, azure: server.ConnectionString(), stop: server.Stop}
	cfg, err := azure.FromEnv(func(name string) string {
		if name == "AzureWebJobsStorage" {
			return s.azure
		}
		return ""
	})
	if err != nil {
		return s, errors.Join(err, s.stop())
	}
	account, err := azure.New(cfg)
	if err != nil {
		return s, errors.Join(err, s.stop())
	}
	progress("filling Azurite with %d prompts", n)
	if err := s.fill(ctx, account.Tables, account.Queues, azuriteParallel); err != nil {
		return s, errors.Join(err, s.stop())
	}
	return s, nil
}
