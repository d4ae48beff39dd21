package embedded

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"go.etcd.io/bbolt"

	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
)

// Tables are the tables of a Store: a table.DB.
type Tables struct{ s *Store }

var _ table.DB = (*Tables)(nil)

// rowsBucket returns the name of the bucket that holds the rows of a table.
func rowsBucket(table string) []byte { return []byte("r/" + table) }

// rowsOf returns the rows of a table.
func rowsOf(tx *bbolt.Tx, name string) (*bbolt.Bucket, error) {
	b := tx.Bucket(rowsBucket(name))
	if b == nil {
		return nil, table.NoTableError(name)
	}
	return b, nil
}

// Create makes the tables that do not exist yet.
func (t *Tables) Create(ctx context.Context, tables ...string) error {
	buckets := make([][]byte, len(tables))
	for i, name := range tables {
		buckets[i] = rowsBucket(name)
	}
	if err := t.s.update(ctx, len(buckets), create(buckets)); err != nil {
		return fmt.Errorf("create tables %q: %w", tables, err)
	}
	return nil
}

// create makes the buckets that do not exist yet.
func create(buckets [][]byte) plan {
	return func(tx *bbolt.Tx) (func() error, error) {
		var missing [][]byte
		for _, name := range buckets {
			if tx.Bucket(name) == nil {
				missing = append(missing, name)
			}
		}
		if missing == nil {
			return nil, nil
		}
		return func() error {
			for _, name := range missing {
				if _, err := tx.CreateBucketIfNotExists(name); err != nil {
					return err
				}
			}
			return nil
		}, nil
	}
}

// Get returns the row at key, or table.ErrNotFound.
func (t *Tables) Get(ctx context.Context, name string, key table.Key) (table.Row, error) {
	return t.getIn(ctx, t.s.view, name, key)
}

// A viewing has read do so in a transaction.
type viewing func(ctx context.Context, read func(*bbolt.Tx) error) error

func (t *Tables) getIn(ctx context.Context, view viewing, name string, key table.Key) (table.Row, error) {
	var row table.Row
	err := table.CheckKey(key)
	if err == nil {
		err = view(ctx, func(tx *bbolt.Tx) (err error) {
			row, err = t.s.get(tx, name, key)
			return err
		})
	}
	if err != nil {
		return table.Row{}, fmt.Errorf("get from %s: %w", name, err)
	}
	return row, nil
}

func (s *Store) get(tx *bbolt.Tx, name string, key table.Key) (table.Row, error) {
	b, err := rowsOf(tx, name)
	if err != nil {
		return table.Row{}, err
	}
	packed := packedKey(key)
	v := b.Get(packed)
	if v == nil {
		return table.Row{}, table.ErrNotFound
	}
	if !isIntact(packed, v) {
		return table.Row{}, table.ErrDamaged
	}
	return s.names.Load().decode(plainKey(key), v, &lookup{tx: tx})
}

// view runs a reading transaction. What read takes out of it must be copies.
func (s *Store) view(ctx context.Context, read func(*bbolt.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.db.View(read)
}

// Snapshot has do read the tables, the queues and the blobs that rows name as they are now, also
// while others write. The file uses no page again that is freed until do returns, files of blobs
// that are deleted stay, and a write waits by which the file must be mapped anew.
func (s *Store) Snapshot(do func(table.DB, queue.Queues, blob.Store) error) error {
	return s.Blobs.snapshot(func(blobs blob.Store) error { // before, as files come before rows, and go after them
		return s.db.View(func(tx *bbolt.Tx) error {
			at := &snapshot{s: s, tx: tx}
			return do(at, snapshotQueues{at}, blobs)
		})
	})
}

// A snapshot is the tables at one moment. It takes no writes.
type snapshot struct {
	s  *Store
	mu sync.Mutex // a transaction is for one at a time
	tx *bbolt.Tx
}

var errSnapshot = errors.New("a snapshot takes no writes")

func (s *snapshot) Create(context.Context, ...string) error { return errSnapshot }

func (s *snapshot) Write(context.Context, string, ...table.Op) ([]string, error) {
	return nil, errSnapshot
}

func (s *snapshot) Get(ctx context.Context, name string, key table.Key) (table.Row, error) {
	return (&Tables{s.s}).getIn(ctx, s.view, name, key)
}

func (s *snapshot) List(ctx context.Context, name string, r table.Range, limit int, next string) (table.Page, error) {
	return (&Tables{s.s}).listIn(ctx, s.view, name, r, limit, next)
}

// snapshotQueues are the queues at one moment.
type snapshotQueues struct{ *snapshot }

func (s snapshotQueues) Send(context.Context, string, string, time.Duration) (queue.Receipt, error) {
	return queue.Receipt{}, errSnapshot
}

func (s snapshotQueues) Receive(context.Context, string, int, time.Duration) ([]queue.Message, error) {
	return nil, errSnapshot
}

func (s snapshotQueues) Hide(context.Context, string, queue.Receipt, time.Duration) (queue.Receipt, error) {
	return queue.Receipt{}, errSnapshot
}

func (s snapshotQueues) Delete(context.Context, string, queue.Receipt) error { return errSnapshot }

func (s snapshotQueues) Peek(ctx context.Context, name string) ([]string, error) {
	return peek(ctx, s.view, name)
}

func (s snapshotQueues) Len(ctx context.Context, name string) (int, error) {
	return length(ctx, s.view, name)
}

func (s *snapshot) view(ctx context.Context, read func(*bbolt.Tx) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	return read(s.tx)
}

// List returns a page of a range. Its token is the last place that was read. The row of that place
// may be gone by the time the token is used.
func (t *Tables) List(ctx context.Context, name string, r table.Range, limit int, next string) (table.Page, error) {
	return t.listIn(ctx, t.s.view, name, r, limit, next)
}

func (t *Tables) listIn(ctx context.Context, view viewing, name string, r table.Range, limit int,
	next string,
) (table.Page, error) {
	var page table.Page
	err := table.CheckList(r, limit)
	if err == nil {
		err = view(ctx, func(tx *bbolt.Tx) (err error) {
			page, err = t.s.list(ctx, tx, name, r, limit, next)
			return err
		})
	}
	if err != nil {
		return table.Page{}, fmt.Errorf("list %s: %w", name, err)
	}
	return page, nil
}

const (
	manyRows = 64   // of a page, after which it has room for all that it may have
	keysRoom = 4096 // bytes for keys of rows that do not match
)

func (s *Store) list(ctx context.Context, tx *bbolt.Tx, name string, r table.Range, limit int,
	next string,
) (table.Page, error) {
	b, err := rowsOf(tx, name)
	if err != nil {
		return table.Page{}, err
	}
	place, passed, ok := placeOf(next)
	if !ok {
		return table.Page{}, fmt.Errorf("%w: token %q", table.ErrInvalid, next)
	}
	var page table.Page
	w := newWalk(b, r, place, s.names.Load())
	kept := 0
	for k, v := w.next(); k != nil; k, v = w.next() {
		if len(page.Rows) == limit || r.MaxMatches > 0 && kept == r.MaxMatches {
			page.Next = w.token()
			break
		}
		row, err := w.row(k, v)
		if errors.Is(err, table.ErrDamaged) {
			if w.passed < passed && !w.isPlace(k, v) {
				w.passed++
				continue
			}
			return w.damaged(page, k, v)
		}
		if err != nil {
			return table.Page{}, err
		}
		w.last, w.passed, passed = k, 0, 0
		if row.Props != nil {
			kept++
		}
		if len(page.Rows) == manyRows {
			page.Rows = slices.Grow(page.Rows, limit-manyRows)
		}
		page.Rows = append(page.Rows, row)
		if err := ctx.Err(); err != nil {
			return table.Page{}, err
		}
	}
	return page, nil
}

const tokenVersion = 1

// token returns the token of the page that goes on here: the last place, and the number of damaged
// rows after it, as their keys may lead anywhere.
func (w *walk) token() string {
	at := binary.AppendUvarint([]byte{tokenVersion}, w.passed)
	return base64.RawURLEncoding.EncodeToString(append(at, w.last...))
}

// placeOf returns what a token is for.
func placeOf(token string) (place []byte, passed uint64, ok bool) {
	if token == "" {
		return nil, 0, true
	}
	at, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(at) == 0 || at[0] != tokenVersion {
		return nil, 0, false
	}
	passed, n := binary.Uvarint(at[1:])
	if n <= 0 {
		return nil, 0, false
	}
	place = at[1+n:]
	return place, passed, bytes.IndexByte(place, 0) > 0 || len(place) == 0 && passed > 0
}

// damaged returns what a page is that has come to a damaged row: what it has so far, or else the
// error that says how to go on.
func (w *walk) damaged(page table.Page, k, v []byte) (table.Page, error) {
	if len(page.Rows) > 0 {
		page.Next = w.token()
		return page, nil
	}
	if w.isPlace(k, v) {
		w.last, w.passed = k, 0
	} else {
		w.passed++
	}
	plain, _ := appendPlain(nil, k) // or what it begins with
	d := &table.DamagedError{Key: keyOf(string(plain))}
	if next, _ := w.next(); next != nil {
		d.Next = w.token()
	}
	return table.Page{}, d
}

// isPlace reports whether the key of a row, which may be damaged otherwise, is as it was written.
func (w *walk) isPlace(k, v []byte) bool {
	_, ok := appendPlain(nil, k)
	return ok && !w.stray && isIntact(k, v)
}

// A walk visits the rows of a range in key order. It seeks over what lies outside, so
// that a page costs the rows it returns and one seek for each partition it passes.
type walk struct {
	cursor *bbolt.Cursor
	r      table.Range
	low    []byte // the least row of the range, in every partition, packed
	to     []byte // the least key after it, nil if it has no end
	start  []byte // where to begin
	begun  bool
	last   []byte // the last place that was read, nil before it
	passed uint64 // damaged rows since: their keys are no places
	stray  bool   // the key that next returned is out of order
	sought []byte // by seek, the furthest place: a stray may lead back from there
	plain  []byte // the key of a row, until the next is looked at
	names  *dictionary
	texts  *lookup
	viewer viewer // for Filter and Select
	keys   keys   // of rows that do not match
}

// Keys are copies of many keys in few pieces of memory.
type keys struct{ room []byte }

func (k *keys) keep(plain []byte) table.Key {
	if cap(k.room)-len(k.room) < len(plain) {
		k.room = make([]byte, 0, max(keysRoom, len(plain)))
	}
	from := len(k.room)
	k.room = append(k.room, plain...)
	return keyOf(alias(k.room[from:]))
}

// row returns the row stored under k, or only its key where the range does not want more.
func (w *walk) row(k, v []byte) (row table.Row, err error) {
	var ok bool
	if w.plain, ok = appendPlain(w.plain[:0], k); !ok || w.stray {
		return row, table.ErrDamaged
	}
	if !isIntact(k, v) {
		return row, table.ErrDamaged
	}
	var props table.Props
	if w.r.Filter != nil || w.r.Select != nil {
		if props, err = w.viewer.view(w.plain, v); err != nil {
			return row, err
		}
		if w.r.Filter != nil && !w.r.Filter(props) {
			row.Key = w.keys.keep(w.plain)
			return row, nil
		}
	}
	if w.r.Select == nil {
		return w.names.decode(w.plain, v, w.texts)
	}
	row.Key = keyOf(string(w.plain))
	etag, _, err := header(v)
	if err != nil {
		return row, err
	}
	row.ETag = string(etag[:])
	row.Props = owned(slices.Clone(props))
	return row, nil
}

// owned makes properties that view returned valid for good.
func owned(props table.Props) table.Props {
	for i, p := range props {
		props[i].Name = strings.Clone(p.Name)
		if p.Value.Type() == table.TypeString {
			props[i].Value = table.String(strings.Clone(p.Value.Str()))
		}
	}
	return props
}

func newWalk(b *bbolt.Bucket, r table.Range, place []byte, names *dictionary) *walk {
	w := &walk{cursor: b.Cursor(), r: r, names: names, texts: &lookup{tx: b.Tx()}}
	if w.viewer = names.viewer(w.texts, r.Select); r.Select == nil {
		w.viewer = names.viewer(w.texts, r.FilterProps)
		w.viewer.enough = true // a caller that keeps a row decodes all of it
	}
	switch {
	case r.After != "":
		w.low = appendPacked(nil, r.After+"\x00") // keys hold no controls: the least that is greater
	case r.From != "":
		w.low = appendPacked(nil, r.From)
	}
	if r.To != "" {
		w.to = appendPacked(nil, r.To)
	}
	w.start = startOf(max(r.Partition, r.FromPartition), w.low) // one of them is empty
	if bytes.Compare(place, w.start) >= 0 {
		w.last = place
	}
	return w
}

// startOf returns a key from the two parts of it.
func startOf(partition string, row []byte) []byte {
	return append(append([]byte(partition), 0), row...)
}

// next returns the next row of the range, nil at its end. A key that is not above the last place,
// or that would end the range and is above the key after it, is a stray.
func (w *walk) next() (k, v []byte) {
	switch {
	case w.begun:
		k, v = w.cursor.Next()
	case w.last == nil:
		k, v = w.cursor.Seek(w.start)
	default:
		k, v = w.resume()
	}
	w.begun = true
	for k != nil {
		if w.stray = w.last != nil && bytes.Compare(k, w.last) <= 0; w.stray {
			return k, v
		}
		partition, row, _ := bytes.Cut(k, []byte{0})
		ends := w.r.Partition != "" && string(partition) != w.r.Partition ||
			w.r.ToPartition != "" && string(partition) >= w.r.ToPartition
		switch {
		case bytes.Compare(k, w.start) < 0:
			k, v = w.cursor.Next()
		case !ends && bytes.Compare(row, w.low) < 0:
			k, v = w.seek(startOf(string(partition), w.low))
		case !ends && (w.to == nil || bytes.Compare(row, w.to) < 0):
			return k, v
		default:
			if after, _ := w.cursor.Next(); after != nil {
				w.stray = bytes.Compare(after, k) <= 0
				w.cursor.Prev()
			}
			if w.stray {
				return k, v
			}
			if ends {
				return nil, nil
			}
			k, v = w.seek(append(bytes.Clone(partition), 1)) // the next partition
		}
	}
	return nil, nil
}

// seek goes to a place, or to the next key if it has looked for that place before.
func (w *walk) seek(place []byte) (k, v []byte) {
	if bytes.Compare(place, w.sought) <= 0 {
		return w.cursor.Next()
	}
	w.sought = place
	return w.cursor.Seek(place)
}

// resume returns the key after the last place. Where a stray misleads the search, or the row is
// gone, intact rows tell where it was.
func (w *walk) resume() (k, v []byte) {
	before := func() []byte {
		k, v := w.cursor.Seek(w.last)
		if k == nil {
			k, v = w.cursor.Last()
		}
		for k != nil && (bytes.Compare(k, w.last) > 0 || !isIntact(k, v)) {
			k, v = w.cursor.Prev()
		}
		return k
	}
	from := before()
	after := w.cursor.Next
	if from == nil {
		after = func() ([]byte, []byte) {
			after = w.cursor.Next
			return w.cursor.First()
		}
	}
	if bytes.Equal(from, w.last) {
		return after()
	}
	first, steps, last := after, 0, 0
	for k, v = after(); k != nil; k, v = after() {
		steps++
		if !isIntact(k, v) {
			continue
		}
		if bytes.Compare(k, w.last) > 0 {
			break
		}
		last = steps
	}
	before()
	after = first
	for range last {
		after()
	}
	return after()
}
