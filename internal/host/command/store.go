package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"prompthub/internal/http/auth"
	"prompthub/internal/storage/azure"
	"prompthub/internal/storage/backup"
	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/embedded"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
	"prompthub/internal/storage/transact"
)

// A Store is the tables, queues and blobs that a command works on.
type Store struct {
	Tables table.DB
	Queues queue.Queues
	Blobs  blob.Store // nil unless Service.Blobs is set

	// Transact changes both together; nil where the storage cannot.
	Transact transact.Func

	// Load writes many rows at once; nil where the storage cannot.
	Load transact.Loader

	// Snapshot has do read the store as it is at one moment; nil where the storage cannot.
	Snapshot func(do func(View) error) error

	// Rebuild has do fill an empty store that takes the place of this one if do succeeds; nil where
	// the storage cannot. Nothing may be asked of this one but Close after it.
	Rebuild func(do func(Store) error) error

	Where    string // for the user to read
	Endpoint string // of the table service of an account, "" for another
	File     string // of the embedded store, "" for another
	Dir      string // of "local" and of commands: where files go that are no rows, such as keys
	Close    func() error

	Existing bool // the files in Dir must be there: none is made
	Adopt    bool // blobs of another store become those of this one
}

// A View is a store that is read.
type View struct {
	backup.From
	Queues queue.Queues
}

// now returns the store as it is.
func (st Store) now() View {
	return View{backup.From{Tables: st.Tables, Blobs: st.Blobs, Still: st.File != ""}, st.Queues}
}

// DataFlag is the flag for the directory that OpenStore and OpenExisting take.
func DataFlag(flags *flag.FlagSet) *string {
	return flags.String("data", ".data", "`directory` of the embedded store; unused where AzureWebJobsStorage is set")
}

// storeFile returns where in dir the embedded store is.
func (s Service) storeFile(dir string) string { return filepath.Join(dir, s.Name+".db") }

// OnAzure reports whether the environment names a storage account.
func OnAzure() bool {
	for _, part := range []string{"", "__accountName", "__tableServiceUri", "__queueServiceUri"} {
		if os.Getenv("AzureWebJobsStorage"+part) != "" {
			return true
		}
	}
	return false
}

// openAzure opens the storage account that the environment names. It sends nothing. The error
// is an *auth.Refusal.
func (s Service) openAzure(queuePrefix string) (Store, error) {
	cfg, err := azure.FromEnv(os.Getenv)
	if err != nil {
		return Store{}, &auth.Refusal{
			Setting: "AzureWebJobsStorage",
			Reason:  "does not name a storage account: " + err.Error(),
		}
	}
	cfg.Blobs = s.Blobs
	account, err := azure.New(cfg)
	if err != nil {
		return Store{}, &auth.Refusal{
			Setting: "AzureWebJobsStorage",
			Reason:  "does not open a storage account: " + err.Error(),
		}
	}
	st := Store{
		Tables: account.Tables, Queues: queue.Prefixed(account.Queues, queuePrefix),
		Where: "the storage account of AzureWebJobsStorage, " + account.Endpoint, Endpoint: account.Endpoint,
		Close: func() error { return nil },
	}
	if s.Blobs {
		st.Blobs = account.Blobs
	}
	return st, nil
}

// openAzureFor is openAzure for a process that has a directory, too.
func (s Service) openAzureFor(dir, queuePrefix string) (Store, error) {
	st, err := s.openAzure(queuePrefix)
	st.Dir = dir
	return st, err
}

// OpenStore opens the storage account where one is set, else the embedded store in dir, which
// it creates.
func (s Service) OpenStore(dir, queuePrefix string) (Store, error) {
	if OnAzure() {
		return s.openAzureFor(dir, queuePrefix)
	}
	if err := makeDir(dir); err != nil {
		return Store{}, err
	}
	return s.openFile(dir, queuePrefix, embedded.Open)
}

// makeDir makes a directory that lasts, and those above it.
func makeDir(dir string) error {
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err // a file is refused when the store is opened
	}
	above := filepath.Dir(dir)
	if err := makeDir(above); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return SyncDir(above)
}

// OpenExisting is OpenStore for commands that an empty store would mislead: it creates none.
func (s Service) OpenExisting(dir, queuePrefix string) (Store, error) {
	if OnAzure() {
		st, err := s.openAzureFor(dir, queuePrefix)
		st.Existing = true
		return st, err
	}
	st, err := s.openFile(dir, queuePrefix, embedded.OpenExisting)
	st.Existing = true
	if errors.Is(err, fs.ErrNotExist) {
		return Store{},
			fmt.Errorf("there is no store in %s: name its directory with --data, or set AzureWebJobsStorage", dir)
	}
	return st, err
}

// OpenTemporary opens an empty embedded store in a new folder in dir, or in that of the system for
// "", also if a storage account is set. Close removes it.
func (s Service) OpenTemporary(dir, queuePrefix string) (Store, error) {
	dir, err := os.MkdirTemp(dir, s.Name+"-")
	if err != nil {
		return Store{}, err
	}
	st, err := s.openFile(dir, queuePrefix,
		func(path string, now func() time.Time, shared ...string) (*embedded.Store, error) {
			file, err := embedded.Open(path, now, shared...)
			if err == nil {
				file.Unsynced()
			}
			return file, err
		})
	if err != nil {
		return Store{}, errors.Join(err, os.RemoveAll(dir))
	}
	closeFile := st.Close
	st.Close = func() error { return errors.Join(closeFile(), os.RemoveAll(dir)) }
	return st, nil
}

func (s Service) openFile(dir, queuePrefix string,
	open func(string, func() time.Time, ...string) (*embedded.Store, error),
) (Store, error) {
	path := s.storeFile(dir)
	file, err := open(path, time.Now, s.Shared...)
	if err != nil {
		return Store{}, advised(err)
	}
	st := s.storeOf(file, dir, queuePrefix)
	st.Rebuild = func(do func(Store) error) error {
		return file.Rebuild(func(made *embedded.Store) error { return do(s.storeOf(made, dir, queuePrefix)) })
	}
	return st, nil
}

// storeOf returns a file as a Store of dir.
func (s Service) storeOf(file *embedded.Store, dir, queuePrefix string) Store {
	path := s.storeFile(dir)
	st := Store{
		Tables: file.Tables, Queues: queue.Prefixed(file.Queues, queuePrefix),
		Transact: transact.Prefixed(file.Transact, queuePrefix), Load: file.Load,
		Snapshot: func(do func(View) error) error {
			return file.Snapshot(func(tables table.DB, queues queue.Queues, blobs blob.Store) error {
				v := View{backup.From{Tables: tables, Still: true}, queue.Prefixed(queues, queuePrefix)}
				if s.Blobs {
					v.Blobs = blobs
				}
				return do(v)
			})
		},
		Where: path, File: path, Dir: dir, Close: file.Close,
	}
	if s.Blobs {
		st.Blobs = file.Blobs
	}
	return st
}

// advised says what to do about a file that was not opened.
func advised(err error) error {
	switch {
	case errors.Is(err, embedded.ErrInUse):
		return fmt.Errorf("%w (it belongs to one process: is \"handler local\" running?)", err)
	case errors.Is(err, embedded.ErrForeign):
		return fmt.Errorf("%w; name the directory of the store with --data, or restore a backup into an empty one", err)
	}
	return err
}

// Compact makes the file of the embedded store in dir, which it names on told, as small as it can
// be. It returns its size in MB before and after.
func (s Service) Compact(dir string, told io.Writer, progress func(mb int)) (before, after float64, err error) {
	if OnAzure() {
		return 0, 0,
			errors.New("only the embedded store has a file to compact, and AzureWebJobsStorage names a storage account")
	}
	path := s.storeFile(dir)
	if before, err = sizeOf(path); errors.Is(err, fs.ErrNotExist) {
		return 0, 0, fmt.Errorf("there is no store in %s: name its directory with --data", dir)
	} else if err != nil {
		return 0, 0, err
	}
	fmt.Fprintf(told, "Data is in %s\n", path)
	if err := embedded.Compact(path, progress); err != nil {
		return 0, 0, advised(err)
	}
	after, err = sizeOf(path)
	return before, after, err
}

// sizeOf returns how many MB a file has.
func sizeOf(path string) (mb float64, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return float64(info.Size()) / 1e6, nil
}

// Sleep waits, or returns the context's error.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
