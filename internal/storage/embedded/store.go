// Package embedded keeps tables and queues in one bbolt file, and blobs in a folder next to it
// (blobs.go). They belong to one process. It is durable: a write answers after the transaction that
// holds it has been synced to disk, and writes that wait at the same time share one transaction and
// one sync.
//
// The file holds these buckets:
//
//	meta      "format" → version of this layout; its sequence counts the times the file was opened
//	names     number                 → name of a property (names.go)
//	r/{name}  key of a row           → version, stamp, properties (keys.go, codec.go)
//	shared    ULID, number           → how many rows refer to a text, text (shared.go)
//	q/{name}  visible at + stamp     → version, message (message.go)
//
// Keys are ordered by the bytes of their UTF-8. Table Storage compares UTF-16 code units,
// which differs only between characters above U+FFFF and those from U+E000 to U+FFFF.
package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"prompthub/internal/storage/transact"
)

// format is the version of the layout of the file. A file of another one is refused, but for one of
// sumlessFormat, whose rows have no checksums: it becomes one of format when it is opened.
const (
	format        = 6
	sumlessFormat = 5
)

// lockTimeout is for how long an open waits for another process to let the file go.
const lockTimeout = time.Second

// growBy is by how many bytes more than it needs the file grows: by 16 MiB if it were for bbolt.
const growBy = 4 << 20

var (
	metaBucket = []byte("meta")
	formatKey  = []byte("format")

	namesBucket = []byte("names")
)

var _ transact.Func = (*Store)(nil).Transact

var errClosed = errors.New("the store is closed")

// ErrForeign refuses a file that no Open made.
var ErrForeign = errors.New("no store: it is empty, or another application's")

// ErrInUse refuses a file that another process has open.
var ErrInUse = errors.New("is in use by another process")

// errDamagedFile refuses a file that bbolt panics over, or that ends before its last page.
var errDamagedFile = errors.New("the file is damaged or cut short; restore a backup into an empty directory")

// A Store is an open file with its folder of blobs. Tables, Queues and Blobs are the contracts it
// keeps; all may be used from many goroutines.
type Store struct {
	Tables *Tables
	Queues *Queues
	Blobs  *Blobs

	db      *bbolt.DB
	now     func() time.Time
	changes chan *change  // to the writer
	closing chan struct{} // closed by Close
	stopped chan struct{} // closed when the writer has ended
	close   func() error  // stop, but once
	filling bool          // by rows that come in their order; set before the first write
	names   atomic.Pointer[dictionary]
	stamp   uint64   // the last number given out; only Open and the writer touch it
	shared  *sharing // of the transaction; only the writer touches it
}

// Open opens the file at path, which it creates where it does not exist, and frees the
// messages that an earlier process had received and not deleted. It fails within about a
// second where another process has the file open. now is the clock of the queues, and shared are
// the names of properties whose texts are the same in many rows that end with one ULID.
//
// The list of free pages is synced with each commit, although leaving it out would save
// a page or two: without it, opening reads the whole file, seconds at a million rows.
func Open(path string, now func() time.Time, shared ...string) (*Store, error) {
	return openStore(path, now, true, shared)
}

// OpenExisting is Open for callers that must not take a missing file for an empty store: it fails
// if the file does not exist.
func OpenExisting(path string, now func() time.Time, shared ...string) (*Store, error) {
	return openStore(path, now, false, shared)
}

// openStore opens a file, and may create it.
func openStore(path string, now func() time.Time, create bool, shared []string) (*Store, error) {
	db, err := openFile(path, create)
	if err != nil {
		return nil, err
	}
	if err := removeLeft(path); err != nil {
		return nil, errors.Join(fmt.Errorf("remove what a compact that was killed has left: %w", err), db.Close())
	}
	s := &Store{
		db:      db,
		now:     now,
		changes: make(chan *change),
		closing: make(chan struct{}),
		stopped: make(chan struct{}),
	}
	s.Tables, s.Queues = &Tables{s}, &Queues{s}
	if s.Blobs, err = openBlobs(path, now); err != nil {
		return nil, errors.Join(fmt.Errorf("remove what a put of a blob that was killed has left: %w", err), db.Close())
	}
	s.close = sync.OnceValue(s.stop)
	err = caught(func() error {
		return db.Update(func(tx *bbolt.Tx) error {
			if !mayStart(tx, create) {
				return ErrForeign
			}
			return s.start(tx, shared)
		})
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), db.Close())
	}
	// Also of a file that was there: the process that made it may have been killed before this.
	if err := SyncDir(filepath.Dir(path)); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	go s.writer()
	return s, nil
}

// openFile opens a file for this process alone.
func openFile(path string, create bool) (*bbolt.DB, error) {
	inUse := fmt.Errorf("%s %w", path, ErrInUse)
	var file *os.File
	var db *bbolt.DB
	err := caught(func() (err error) {
		db, err = bbolt.Open(path, 0o600, &bbolt.Options{
			Timeout:      lockTimeout,
			FreelistType: bbolt.FreelistMapType, // the default degrades with the number of free pages
			NoStatistics: true,                  // they are not read, and every read would take their lock
			OpenFile: func(name string, flag int, mode os.FileMode) (_ *os.File, err error) {
				if !create {
					flag &^= os.O_CREATE
				}
				if file, err = os.OpenFile(name, flag, mode); err != nil {
					return nil, err
				}
				if err := checkFile(file, create); err != nil {
					return nil, errors.Join(err, file.Close())
				}
				return file, nil
			},
		})
		return err
	})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, inUse
	}
	if errors.Is(err, bolterrors.ErrInvalid) || errors.Is(err, bolterrors.ErrChecksum) {
		err = fmt.Errorf("%w: the file is damaged; put it aside, and restore the newest backup", err)
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	db.AllocSize = growBy
	// While this waited for the lock, Compact may have put another file in this one's place.
	opened, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if now, err := os.Stat(path); err != nil || !os.SameFile(opened, now) {
		return nil, errors.Join(inUse, err, db.Close())
	}
	return db, nil
}

// checkFile refuses a file that bbolt would make a store of, where none will be created, and one
// that ends before its last page, where reading ends the process. One that is created belongs to
// whom its directory belongs to.
func checkFile(file *os.File, create bool) error {
	info, err := file.Stat()
	switch {
	case err != nil:
		return err
	case info.Size() == 0 && create:
		return ownerOfDir(file)
	case info.Size() == 0:
		return ErrForeign
	}
	db, err := bbolt.Open(file.Name(), 0, &bbolt.Options{ReadOnly: true, Timeout: lockTimeout, NoStatistics: true})
	if err != nil {
		return err
	}
	err = db.View(func(tx *bbolt.Tx) error { // which reads the head of the file alone
		info, err := os.Stat(file.Name())
		if err == nil && info.Size() < tx.Size() {
			err = errDamagedFile
		}
		return err
	})
	return errors.Join(err, db.Close())
}

// caught has do work on a file and returns a panic of bbolt, which finds damage so, as an error.
// The file stays locked then until the process ends.
func caught(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errDamagedFile, p)
		}
	}()
	return do()
}

// mayStart reports whether a file is a store or, where one may be created, holds nothing at all.
func mayStart(tx *bbolt.Tx, create bool) bool {
	if meta := tx.Bucket(metaBucket); meta != nil {
		return meta.Get(formatKey) != nil
	}
	first, _ := tx.Cursor().First()
	return create && first == nil
}

// start checks the format, begins a new series of stamps and frees the messages that a
// process which is gone had received.
func (s *Store) start(tx *bbolt.Tx, shared []string) error {
	meta, err := tx.CreateBucketIfNotExists(metaBucket)
	if err != nil {
		return err
	}
	if v := meta.Get(formatKey); v != nil {
		if err := checkFormat(v); err != nil {
			return err
		}
	}
	if err := meta.Put(formatKey, []byte{format}); err != nil {
		return err
	}
	for _, name := range [][]byte{namesBucket, sharedBucket} {
		if _, err := tx.CreateBucketIfNotExists(name); err != nil {
			return err
		}
	}
	names, err := readNames(tx, shared)
	if err != nil {
		return err
	}
	s.names.Store(names)
	opened, err := meta.NextSequence()
	if err != nil {
		return err
	}
	s.stamp = opened << 40
	return s.freeLocked(tx)
}

// checkFormat refuses a file of a format that this program does not read.
func checkFormat(v []byte) error {
	switch {
	case len(v) == 1 && (v[0] == format || v[0] == sumlessFormat):
		return nil
	case len(v) == 1 && v[0] < format:
		return fmt.Errorf(
			"format %d was made by a version before 1.0: export it with that version (`backup`), then `restore`", v[0])
	}
	return fmt.Errorf("format %x, this program knows %d: open it with the newer version that made it", v, format)
}

// nextStamp returns a number that is never given out again for this file. Its upper 24
// bits count how often the file was opened, so that not even a transaction that failed,
// or that a crash took away, makes a number come back.
func (s *Store) nextStamp() uint64 {
	s.stamp++
	return s.stamp
}

// Close waits for the reads and writes that have begun, and closes the file. Later calls fail. A
// second Close does nothing and returns the error of the first.
func (s *Store) Close() error { return s.close() }

func (s *Store) stop() error {
	close(s.closing)
	<-s.stopped
	s.Blobs.close()
	return s.db.Close()
}

// SyncDir makes the entries of new and renamed files durable.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" { // there a directory cannot be synced, and need not be
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
