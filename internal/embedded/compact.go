package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"
)

const (
	compactBytes = 64 << 20 // of a transaction, and so about of memory
	compactFill  = 0.9      // of a page; rows that come later find some room
	compactGrow  = 1 << 20  // by which the new file grows, instead of 16 MB
	compactTemp  = ".compact"
)

// Compact writes the file at path anew, with pages that are nearly full and without those that
// nothing is in, and puts it in place of the old one once it is whole and on the disk: whatever
// stops it before that leaves the old one as it was. It needs room for both, and fails where
// another process has the file open. It tells progress how many MB it has copied.
func Compact(path string, progress func(mb int)) (err error) {
	s, err := OpenExisting(path, time.Now) // which refuses a file that this program does not know
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }() // nobody else opens the old file before it has been replaced
	temp := path + compactTemp
	if err := os.Remove(temp); err != nil && !errors.Is(err, os.ErrNotExist) { // of one that was stopped
		return err
	}
	defer os.Remove(temp) // it has gone where all went well
	if err := copyInto(temp, s.db, progress); err != nil {
		return fmt.Errorf("compact %s: %w", path, err)
	}
	if err := sameOwner(temp, path); err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// copyInto copies a file into a new one and syncs that.
func copyInto(path string, from *bbolt.DB, progress func(mb int)) (err error) {
	to, err := bbolt.Open(path, 0o600, &bbolt.Options{NoSync: true, FreelistType: bbolt.FreelistMapType, NoStatistics: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	to.AllocSize = compactGrow
	c := copying{to: to, progress: progress}
	if err := from.View(c.all); err != nil {
		return err
	}
	return to.Sync()
}

// A copying is how far a file was copied.
type copying struct {
	to       *bbolt.DB
	progress func(mb int)
	copied   int // bytes
}

func (c *copying) all(tx *bbolt.Tx) error {
	return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
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
	})
}

// some copies rows from k on, as many as a transaction takes, and returns the next one.
func (c *copying) some(to *bbolt.Bucket, rows *bbolt.Cursor, k, v []byte) ([]byte, []byte, error) {
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
