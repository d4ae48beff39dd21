package embedded

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"go.etcd.io/bbolt"
	"golang.org/x/sync/errgroup"

	"prompthub/internal/storage/table"
	"prompthub/internal/storage/transact"
)

const (
	loadTemp  = ".load"
	loadBytes = 16 << 20 // of rows that are sorted in memory
	runBuffer = 64 << 10 // of a run that is read
)

// Load writes the rows that do puts: a transact.Loader. Rows in no order change a page of the file
// each. So they are sorted, in runs that a file next to the store keeps, and then written in the
// order in which they lie.
func (s *Store) Load(ctx context.Context, do func(put func(transact.Row) error) error) error {
	return s.load(ctx, loadBytes, do)
}

// load is Load with runs of some bytes.
func (s *Store) load(ctx context.Context, run int, do func(put func(transact.Row) error) error) (err error) {
	path := s.db.Path() + loadTemp
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	l := &loading{
		s: s, file: file, tables: map[string]loadedTable{}, run: run,
		rows: newLoaded(run), spare: newLoaded(run),
	}
	l.sorting.SetLimit(1)
	defer func() { err = errors.Join(err, l.sorting.Wait(), file.Close(), os.Remove(path)) }()
	if err := do(func(r transact.Row) error { return l.put(ctx, r) }); err != nil {
		return err
	}
	if err := errors.Join(l.spill(ctx), l.sorting.Wait()); err != nil {
		return err
	}
	return l.merge(ctx)
}

// A loading is rows on their way into the file of a store.
type loading struct {
	s       *Store
	run     int      // how many bytes a run has
	names   []string // of the tables
	tables  map[string]loadedTable
	rows    *loaded
	spare   *loaded // those of the run that is written
	scratch []byte

	sorting errgroup.Group // of that run
	file    *os.File
	written int64
	runs    []*io.SectionReader // of the file
}

// A loadedTable has its place in names, and may have had rows before.
type loadedTable struct {
	number byte
	filled bool
}

// loaded are rows in memory: few things for the garbage collector.
type loaded struct {
	bytes []byte // a key, with the number of the table before it, and a value for each
	rows  []loadedRow
	texts []loadedTexts
}

// A loadedRow says where a row is. Most rows are sorted by what their keys begin with.
type loadedRow struct {
	first           uint64
	key, value, end uint32
}

// loadedTexts are the texts that a row shares or, if it was there before, shared.
type loadedTexts struct {
	row  int
	key  table.Key
	refs []reference
}

func newLoaded(run int) *loaded { return &loaded{bytes: make([]byte, 0, run+run/16)} }

func (l *loaded) keyOf(r loadedRow) []byte   { return l.bytes[r.key:r.value:r.value] }
func (l *loaded) valueOf(r loadedRow) []byte { return l.bytes[r.value:r.end:r.end] }

// put adds a row.
func (l *loading) put(ctx context.Context, r transact.Row) error {
	op := table.Op{Kind: table.Upsert, Row: r.Row}
	op.Row.ETag = ""
	if err := table.CheckOp(op); err != nil {
		return fmt.Errorf("load into %s: %w", r.Table, err)
	}
	to, err := l.table(r.Table)
	if err != nil {
		return err
	}
	names := l.s.names.Load()
	if err := l.s.learnNames(ctx, names, names.lacks(nil, r.Props)); err != nil {
		return err
	}
	value, refs := l.s.names.Load().encodeIn(l.scratch[:0], r.Key, r.Props)
	l.scratch = value
	rows := l.rows
	row := loadedRow{key: uint32(len(rows.bytes))}
	rows.bytes = appendPackedKey(append(rows.bytes, to.number), r.Key)
	row.value = uint32(len(rows.bytes))
	rows.bytes = append(rows.bytes, value...)
	row.end = uint32(len(rows.bytes))
	var first [8]byte
	copy(first[:], rows.keyOf(row))
	row.first = binary.BigEndian.Uint64(first[:])
	if refs != nil || to.filled {
		rows.texts = append(rows.texts, loadedTexts{len(rows.rows), r.Key, refs})
	}
	if rows.rows = append(rows.rows, row); len(rows.bytes) < l.run {
		return nil
	}
	return l.spill(ctx)
}

func (l *loading) table(name string) (loadedTable, error) {
	t, ok := l.tables[name]
	if ok {
		return t, nil
	}
	err := l.s.db.View(func(tx *bbolt.Tx) error {
		rows, err := rowsOf(tx, name)
		if err == nil {
			first, _ := rows.Cursor().First()
			t = loadedTable{number: byte(len(l.names)), filled: first != nil}
		}
		return err
	})
	if err == nil {
		l.names, l.tables[name] = append(l.names, name), t
	}
	return t, err
}

// spill stores the texts that rows share, and begins to write the rows as a run.
func (l *loading) spill(ctx context.Context) error {
	rows := l.rows
	if len(rows.rows) == 0 {
		return nil
	}
	err := l.s.update(ctx, len(rows.rows), func(tx *bbolt.Tx) (func() error, error) {
		return func() error { return l.complete(tx, rows) }, nil
	})
	if err != nil {
		return fmt.Errorf("load: %w", err)
	}
	if err := l.sorting.Wait(); err != nil {
		return err
	}
	l.rows, l.spare = l.spare, rows
	l.rows.bytes, l.rows.rows, l.rows.texts = l.rows.bytes[:0], l.rows.rows[:0], l.rows.texts[:0]
	l.sorting.Go(func() error { return l.sort(rows) })
	return nil
}

// complete gives rows their references to texts, and their stamps.
func (l *loading) complete(tx *bbolt.Tx, rows *loaded) error {
	s := l.s
	names := s.names.Load()
	for _, t := range rows.texts {
		r := &rows.rows[t.row]
		key := rows.keyOf(*r)
		there, err := rowsOf(tx, l.names[key[0]])
		if err != nil {
			return err
		}
		value := s.shared.replace(t.key, names.referred(t.key, there.Get(key[1:])), rows.valueOf(*r), t.refs)
		if len(value) == int(r.end-r.value) {
			continue // it was changed where it is
		}
		moved := append([]byte{}, key...)
		r.key = uint32(len(rows.bytes))
		rows.bytes = append(append(rows.bytes, moved...), value...)
		r.value, r.end = r.key+uint32(len(moved)), uint32(len(rows.bytes))
	}
	for _, r := range rows.rows {
		setStamp(rows.keyOf(r)[1:], rows.valueOf(r), s.nextStamp())
	}
	return nil
}

// sort writes rows as a run.
func (l *loading) sort(rows *loaded) error {
	slices.SortFunc(rows.rows, func(a, b loadedRow) int {
		if c := cmp.Compare(a.first, b.first); c != 0 {
			return c
		}
		return bytes.Compare(rows.keyOf(a), rows.keyOf(b))
	})
	start, out := l.written, bufio.NewWriterSize(l.file, 1<<20)
	var head []byte
	for _, r := range rows.rows {
		head = binary.AppendUvarint(binary.AppendUvarint(head[:0], uint64(r.value-r.key)), uint64(r.end-r.value))
		for _, part := range [][]byte{head, rows.bytes[r.key:r.end]} {
			n, err := out.Write(part)
			if l.written += int64(n); err != nil {
				return err
			}
		}
	}
	l.runs = append(l.runs, io.NewSectionReader(l.file, start, l.written-start))
	return out.Flush()
}

// merge writes the rows of all runs, a transaction for each batch, while the next one is read.
func (l *loading) merge(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	batches := make(chan mergedBatch, 1)
	g.Go(func() error {
		defer close(batches)
		return l.batches(ctx, batches)
	})
	g.Go(func() error {
		for b := range batches {
			err := l.s.update(ctx, maxGroup, func(tx *bbolt.Tx) (func() error, error) {
				return func() error { return l.write(tx, b) }, nil
			})
			if err != nil {
				return fmt.Errorf("load: %w", err)
			}
		}
		return nil
	})
	return g.Wait()
}

// A mergedBatch is rows of all runs, in the order of their keys: as many as a transaction takes.
type mergedBatch []mergedRow

// A mergedRow has the number of its table before its key. bbolt has the value until the transaction
// ends.
type mergedRow struct{ key, value []byte }

// batches sends the rows of all runs.
func (l *loading) batches(ctx context.Context, to chan<- mergedBatch) error {
	var m merging
	for _, section := range l.runs {
		r := &run{in: bufio.NewReaderSize(section, runBuffer)}
		if err := r.next(); err != nil {
			return err
		}
		m = append(m, r)
	}
	heap.Init(&m)
	var last []byte
	most := 0 // rows of a batch
	for len(m) > 0 {
		b := make(mergedBatch, 0, most)
		for size := 0; len(m) > 0 && size < compactBytes; {
			r := m[0]
			if bytes.Equal(r.at.key, last) {
				return fmt.Errorf("load: %w: a row is there twice", table.ErrInvalid)
			}
			last = r.at.key
			b = append(b, r.at)
			size += len(r.at.key) + len(r.at.value)
			switch err := r.next(); {
			case errors.Is(err, io.EOF):
				heap.Pop(&m)
			case err != nil:
				return err
			default:
				heap.Fix(&m, 0)
			}
		}
		most = max(most, len(b)+len(b)/8)
		select {
		case to <- b:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (l *loading) write(tx *bbolt.Tx, b mergedBatch) error {
	var to *bbolt.Bucket
	for i, r := range b {
		if i == 0 || r.key[0] != b[i-1].key[0] {
			var err error
			if to, err = rowsOf(tx, l.names[r.key[0]]); err != nil {
				return err
			}
			to.FillPercent = compactFill
		}
		if err := to.Put(r.key[1:], r.value); err != nil {
			return err
		}
	}
	return nil
}

// A run is sorted rows that are read. It is at one of them.
type run struct {
	in *bufio.Reader
	at mergedRow
}

// next goes on to the next row. It returns io.EOF after the last one.
func (r *run) next() error {
	key, err := binary.ReadUvarint(r.in)
	if err != nil {
		return err
	}
	value, err := binary.ReadUvarint(r.in)
	if err != nil {
		return unexpected(err)
	}
	row := make([]byte, key+value)
	if _, err := io.ReadFull(r.in, row); err != nil {
		return unexpected(err)
	}
	r.at = mergedRow{key: row[:key:key], value: row[key:]}
	return nil
}

// unexpected is for the end of a file that must not be there.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// A merging is the runs in which there are rows left: a heap, the least row first.
type merging []*run

func (m merging) Len() int           { return len(m) }
func (m merging) Less(i, j int) bool { return bytes.Compare(m[i].at.key, m[j].at.key) < 0 }
func (m merging) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }
func (m *merging) Push(r any)        { *m = append(*m, r.(*run)) }
func (m *merging) Pop() any {
	last := len(*m) - 1
	r := (*m)[last]
	*m = (*m)[:last]
	return r
}
