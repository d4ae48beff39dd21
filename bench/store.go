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

	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/azure"
	"prompthub/internal/storage/embedded"
	"prompthub/internal/testing/azurite"
	"prompthub/internal/testing/load"
)

// A store holds a library, for a program to open.
type store struct {
	corpus
	data  string // the directory of an embedded store
	size  int64  // of its file, in bytes
	azure string // or the connection string of Azurite
	stop  func() error
}

// A note stands next to a kept store.
type note struct {
	corpus
	Made int  `json:"made"` // by which version of library
	Used bool `json:"used"` // a load has written to it
}

const noteFile = "library.json"

func (n note) keep(dir string) error {
	b, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, noteFile), b, 0o600)
}

// use marks a kept store before something is written to it.
func (s store) use() error {
	if s.data == "" {
		return nil
	}
	return note{s.corpus, corpusVersion, true}.keep(s.data)
}

const (
	storeFile        = "prompthub.db"
	embeddedParallel = 256 // batches that fill a store at once: as many as it writes together
	azuriteParallel  = 8   // it has one thread
)

// openEmbedded returns the library of n prompts in a directory below dir. It fills that where it
// was not done yet, by this version and up to the end, or where a load has written to it.
func openEmbedded(ctx context.Context, dir string, n int) (s store, err error) {
	s = store{data: filepath.Join(dir, fmt.Sprint(n)), stop: func() error { return nil }}
	var kept note
	b, err := os.ReadFile(filepath.Join(s.data, noteFile))
	switch {
	case err == nil:
		err = json.Unmarshal(b, &kept)
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	}
	if err != nil {
		return s, err
	}
	if s.corpus = kept.corpus; kept.Made != corpusVersion || kept.Used {
		if err := s.make(ctx, n); err != nil {
			return s, err
		}
	}
	info, err := os.Stat(filepath.Join(s.data, storeFile))
	if err != nil {
		return s, err
	}
	s.size = info.Size()
	return s, nil
}

// make fills a new file.
func (s *store) make(ctx context.Context, n int) error {
	if err := errors.Join(os.RemoveAll(s.data), os.MkdirAll(s.data, 0o700)); err != nil {
		return err
	}
	file, err := embedded.Open(filepath.Join(s.data, storeFile), time.Now, promptdb.SharedTexts()...)
	if err != nil {
		return err
	}
	s.corpus = corpus{Prompts: n, Until: time.Now().UTC().Truncate(time.Millisecond)}
	load.Progress("filling an embedded store with %d prompts", n)
	if err := errors.Join(s.fill(ctx, file.Tables, file.Queues, embeddedParallel), file.Close()); err != nil {
		return err
	}
	return note{corpus: s.corpus, Made: corpusVersion}.keep(s.data)
}

// openAzurite starts Azurite, which keeps its tables in memory, and fills it with n prompts.
func openAzurite(ctx context.Context, n int) (s store, err error) {
	server, err := azurite.Run(ctx, azurite.Options{})
	if err != nil {
		return s, err
	}
	s = store{
		corpus: corpus{Prompts: n, Until: time.Now().UTC().Truncate(time.Millisecond)},
		azure:  server.ConnectionString(), stop: server.Stop,
	}
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
	load.Progress("filling Azurite with %d prompts", n)
	if err := s.fill(ctx, account.Tables, account.Queues, azuriteParallel); err != nil {
		return s, errors.Join(err, s.stop())
	}
	return s, nil
}
