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
	repackBytes  = 8 << 20  // of one that also remembers the texts of its rows
	compactFill  = 0.9      // of a page; rows that come later find some room
	compactGrow  = 1 << 20  // by which the new file grows, instead of 16 MB
	compactTemp  = ".compact"
)

// Compact writes the file at path anew, with packed keys, shared texts and pages that are nearly
// full, and without those that nothing is in, and puts it in place of the old one once it is whole
// and on the disk: whatever stops it before that leaves the old one as it was. It needs room for
// both, and fails where another process has the file open. It tells progress how many MB it has
// copied. shared is as Open takes it.
func Compact(path string, progress func(mb int), shared ...string) (err error) {
	s, err := OpenExisting(path, time.Now, shared...) // which refuses a file that this program does not know
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }() // nobody else opens the old file before it has been replaced
	c := copying{names: s.names.Load(), progress: progress}
	if err := c.replace(path, s.db); err != nil {
		return errors.Join(fmt.Errorf("compact %s: %w", path, err), removeLeft(path))
	}
	return SyncDir(filepath.Dir(path)) // the lock is of the old file: what is left beside the new one may be another's
}

// replace puts a copy of the file at path in its place.
func (c *copying) replace(path string, from *bbolt.DB) error {
	temp := path + compactTemp
	if err := c.compact(temp, from); err != nil {
		return err
	}
	if err := sameOwner(temp, path); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

// removeLeft removes what a Compact that did not end well has written. Only who holds the lock of
// the file at path may do so: another process may be writing it.
func removeLeft(path string) error {
	for _, left := range []string{path + compactTemp, path + compactTemp + compactTemp} {
		if err := os.Remove(left); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// A copying is how far a file was copied.
type copying struct {
	to       *bbolt.DB
	names    *dictionary
	progress func(mb int)
	copied   int  // bytes
	repacks  bool // rows of an older program
}

// compact copies a file into a new one. Where rows are repacked, texts that they share are counted
// by one transaction after the other, which leaves free pages between them: it copies once more.
func (c *copying) compact(path string, from *bbolt.DB) error {
	if err := c.into(path, from); err != nil || !c.repacks {
		return err
	}
	loose, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true, NoStatistics: true})
	if err != nil {
		return err
	}
	next := path + compactTemp
	if err := errors.Join(c.into(next, loose), loose.Close()); err != nil {
		return err
	}
	return os.Rename(next, path)
}

// into copies a file into a new one and syncs that.
func (c *copying) into(path string, from *bbolt.DB) (err error) {
	c.to, err = bbolt.Open(path, 0o600, &bbolt.Options{NoSync: true, FreelistType: bbolt.FreelistMapType, NoStatistics: true})
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

func (c *copying) all(tx *bbolt.Tx) error {
	if err := c.bucket(sharedBucket, tx.Bucket(sharedBucket)); err != nil { // to which rows refer that are packed now
		return err
	}
	return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
		if bytes.Equal(name, sharedBucket) {
			return nil
		}
		return c.bucket(name, b)
	})
}

func (c *copying) bucket(name []byte, b *bbolt.Bucket) error {
	var repack *lookup
	if of, ok := strings.CutPrefix(string(name), plainPrefix); ok {
		name, repack, c.repacks = packed.bucket(of), &lookup{tx: b.Tx()}, true
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
			k, v, err = c.some(tx.Bucket(name), rows, k, v, repack)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// some copies rows from k on, as many as a transaction takes, and returns the next one. Where it is
// to repack them, it is told where the texts are that they share.
func (c *copying) some(to *bbolt.Bucket, rows *bbolt.Cursor, k, v []byte, repack *lookup) (next, value []byte, err error) {
	to.FillPercent = compactFill
	shared, most := newSharing(to.Tx()), compactBytes
	if repack != nil {
		most = repackBytes
	}
	for size := 0; k != nil && size+shared.bytes < most; k, v = rows.Next() {
		key, value := k, v
		if repack != nil {
			key, value = c.repacked(k, v, repack, shared)
		}
		if err := to.Put(key, value); err != nil {
			return nil, nil, err
		}
		size += len(k) + len(v)
		before := c.copied
		if c.copied += len(k) + len(v); c.copied/1e6 > before/1e6 {
			c.progress(c.copied / 1e6)
		}
	}
	return k, v, shared.flush()
}

// repacked returns what is stored of a row that has a plain key, under a packed one. A damaged row
// stays as it is.
func (c *copying) repacked(k, v []byte, texts *lookup, shared *sharing) (key, value []byte) {
	if bytes.IndexByte(k, 0) < 0 {
		return k, v
	}
	key = packed.stored(k)
	row, err := c.names.decode(k, v, texts)
	if err != nil {
		return key, v
	}
	stamp, err := hex.DecodeString(row.ETag)
	if err != nil || len(stamp) != stampLen {
		return key, v
	}
	value, refs := c.names.encode(row.Key, row.Props)
	value = bytes.Clone(shared.replace(row.Key, c.names.referred(row.Key, v), value, refs)) // which has room for more, until the commit
	seal(value, binary.BigEndian.Uint64(stamp))
	return key, value
}
