package embedded

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.etcd.io/bbolt"
)

const (
	compactBytes = 64 << 20 // of a transaction, and so about of memory
	compactFill  = 0.9      // of a page; rows that come later find some room
	compactGrow  = 1 << 20  // by which the new file grows, instead of 16 MB
	compactTemp  = ".compact"
)

// Compact writes the file at path anew, with packed keys and pages that are nearly full, and
// without those that nothing is in, and puts it in place of the old one once it is whole and on the
// disk: whatever stops it before that leaves the old one as it was. It needs room for both, and
// fails where another process has the file open. It tells progress how many MB it has copied.
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
	if err := copyInto(temp, s, progress); err != nil {
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
func copyInto(path string, from *Store, progress func(mb int)) (err error) {
	to, err := bbolt.Open(path, 0o600, &bbolt.Options{NoSync: true, FreelistType: bbolt.FreelistMapType, NoStatistics: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	to.AllocSize = compactGrow
	c := copying{to: to, names: from.names.Load(), progress: progress}
	if err := from.db.View(c.all); err != nil {
		return err
	}
	return to.Sync()
}

// A copying is how far a file was copied.
type copying struct {
	to       *bbolt.DB
	names    *dictionary
	progress func(mb int)
	copied   int // bytes
}

func (c *copying) all(tx *bbolt.Tx) error {
	return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
		stored := func(k, v []byte) (key, value []byte) { return k, v }
		if of, ok := strings.CutPrefix(string(name), plainPrefix); ok {
			name, stored = packed.bucket(of), c.repacked
		}
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
				k, v, err = c.some(tx.Bucket(name), rows, k, v, stored)
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// some copies rows from k on, as many as a transaction takes, and returns the next one. What a copy
// has of a row is what stored returns.
func (c *copying) some(to *bbolt.Bucket, rows *bbolt.Cursor, k, v []byte, stored func(k, v []byte) (key, value []byte)) (next, value []byte, err error) {
	to.FillPercent = compactFill
	for size := 0; k != nil && size < compactBytes; k, v = rows.Next() {
		if err := to.Put(stored(k, v)); err != nil {
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

// repacked returns what is stored of a row that has a plain key, under a packed one. A damaged row
// stays as it is.
func (c *copying) repacked(k, v []byte) (key, value []byte) {
	if bytes.IndexByte(k, 0) < 0 {
		return k, v
	}
	key = packed.stored(k)
	row, err := c.names.decode(k, v)
	if err != nil {
		return key, v
	}
	stamp, err := hex.DecodeString(row.ETag)
	if err != nil || len(stamp) != stampLen {
		return key, v
	}
	value = bytes.Clone(c.names.encode(row.Key, row.Props)) // which has room for more, until the commit
	seal(value, binary.BigEndian.Uint64(stamp))
	return key, value
}
