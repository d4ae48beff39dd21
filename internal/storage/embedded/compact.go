package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"
)

const (
	compactBytes = 256 << 10 // of a transaction: bbolt sorts each row into all that it holds
	compactFill  = 0.9       // of a page; rows that come later find some room
	compactGrow  = 1 << 20   // by which the new file grows, instead of 16 MB
	compactTemp  = ".compact"
	rebuildTemp  = ".rebuild"
	rebuildOld   = ".rebuild-old" // the blobs that were there before
)

// Compact writes the file at path anew, with pages that are nearly full, and without empty ones,
// and puts it in place of the old one once it is complete and on the disk. If it is stopped before
// that, the old one stays as it was. It needs room for both, and fails where another process has
// the file open. It tells progress how many MB it has copied.
func Compact(path string, progress func(mb int)) (err error) {
	s, err := OpenExisting(path, time.Now) // which refuses a file that this program does not know
	if err != nil {
		return err
	}
	// no other process opens the old file before it has been replaced
	defer func() { err = errors.Join(err, s.Close()) }()
	c := copying{progress: progress}
	if err := c.replace(path, s.db); err != nil {
		return errors.Join(fmt.Errorf("compact %s: %w", path, err), removeLeft(path))
	}
	// the lock is of the old file: a file next to the new one may be another process's
	return SyncDir(filepath.Dir(path))
}

// replace puts a copy of the file at path in its place.
func (c *copying) replace(path string, from *bbolt.DB) error {
	temp := path + compactTemp
	if err := c.into(temp, from); err != nil {
		return err
	}
	if err := sameOwner(temp, path); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

// removeLeft removes the files of a Compact, a Rebuild or a Load that did not end well. Its caller
// must hold the lock of the file at path: another process may be writing them.
func removeLeft(path string) error {
	var errs []error
	for _, temp := range []string{compactTemp, rebuildTemp, loadTemp, rebuildTemp + loadTemp} {
		if err := os.Remove(path + temp); !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, os.RemoveAll(blobsDir(path+rebuildTemp)), os.RemoveAll(path+rebuildOld))...)
}

// Rebuild has do fill a new store, for which no write waits for the disk, and puts it in place of
// the file of s once it is on the disk, and its blobs, if it has containers, in place of those of
// s. It is about as small as Compact makes it if do writes rows in their order, or by Load. If it
// is stopped before, or do fails, the file and the blobs stay as they were. Nothing may be asked of
// s but Close after it.
func (s *Store) Rebuild(do func(*Store) error) error {
	path := s.db.Path()
	if err := removeLeft(path); err != nil {
		return err
	}
	return errors.Join(s.rebuild(path, do), removeLeft(path), SyncDir(filepath.Dir(path)))
}

func (s *Store) rebuild(path string, do func(*Store) error) error {
	temp := path + rebuildTemp
	made, err := Open(temp, s.now, s.names.Load().shared...)
	if err != nil {
		return err
	}
	made.filling, made.db.AllocSize = true, compactGrow
	made.Unsynced()
	err = do(made)
	if err == nil {
		err = errors.Join(made.db.Sync(), syncAll(made.Blobs.dir))
	}
	if err := errors.Join(err, made.Close()); err != nil {
		return err
	}
	if err := sameOwner(temp, path); err != nil {
		return err
	}
	if err := replaceBlobs(path); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

// replaceBlobs puts the blobs of a new store in place of those of the store at path.
func replaceBlobs(path string) error {
	if there, err := isThere(blobsDir(path + rebuildTemp)); err != nil || !there {
		return err
	}
	if err := os.Rename(blobsDir(path), path+rebuildOld); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.Rename(blobsDir(path+rebuildTemp), blobsDir(path))
}

// syncAll returns when the disk has all of a folder, which may be missing.
func syncAll(dir string) error {
	err := filepath.WalkDir(dir, func(path string, at fs.DirEntry, err error) error {
		if err != nil || at.IsDir() {
			return errors.Join(err, SyncDir(path))
		}
		file, err := os.Open(path) //nolint:gosec // only the store writes into its folder
		if err != nil {
			return err
		}
		return errors.Join(file.Sync(), file.Close())
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Unsynced has later writes not wait for the disk. A kill of the process harms nothing; after a
// crash of the machine the file is lost.
func (s *Store) Unsynced() { s.db.NoSync, s.Blobs.unsynced = true, true }

// A copying is how far a file was copied.
type copying struct {
	to       *bbolt.DB
	progress func(mb int)
	copied   int // bytes
}

// into copies a file into a new one and syncs that.
func (c *copying) into(path string, from *bbolt.DB) (err error) {
	c.to, err = bbolt.Open(path, 0o600,
		&bbolt.Options{NoSync: true, FreelistType: bbolt.FreelistMapType, NoStatistics: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.to.Close()) }()
	c.to.AllocSize = compactGrow
	if err := from.View(c.all); err != nil {
		return err
	}
	return c.to.Sync()
}

func (c *copying) all(tx *bbolt.Tx) error { return tx.ForEach(c.bucket) }

func (c *copying) bucket(name []byte, b *bbolt.Bucket) error {
	err := c.to.Update(func(tx *bbolt.Tx) error {
		made, err := tx.CreateBucket(name)
		if err != nil {
			return err
		}
		return made.SetSequence(b.Sequence())
	})
	if err != nil {
		return err
	}
	rows := b.Cursor()
	for k, v := rows.First(); k != nil; {
		err := c.to.Update(func(tx *bbolt.Tx) (err error) {
			k, v, err = c.some(tx.Bucket(name), rows, k, v)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// some copies rows from k on, as many as a transaction takes, and returns the next one.
func (c *copying) some(to *bbolt.Bucket, rows *bbolt.Cursor, k, v []byte) (next, value []byte, err error) {
	to.FillPercent = compactFill
	for size := 0; k != nil && size < compactBytes; k, v = rows.Next() {
		if err := to.Put(k, v); err != nil {
			return nil, nil, err
		}
		size += len(k) + len(v)
		before := c.copied
		if c.copied += len(k) + len(v); c.copied/1e6 > before/1e6 {
			c.progress(c.copied / 1e6)
		}
	}
	return k, v, nil
}
