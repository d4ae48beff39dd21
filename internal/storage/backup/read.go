package backup

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
	"prompthub/internal/storage/transact"
)

// A Checked is a backup that was read through.
type Checked struct {
	Count
	void map[stored]int // the line up to which what is there of a partition is void
}

// stored names a partition of a table.
type stored struct{ table, partition string }

// Check reads the lines of a backup through. It refuses those of another application or version,
// those that have no end, and files that belong to no row; also rows that name files which the
// backup does not have, unless it may be incomplete.
func (c Contents) Check(lines io.Reader, incomplete bool) (Checked, error) {
	w := walk{Contents: c, incomplete: incomplete, found: Checked{void: map[stored]int{}}, checks: true}
	err := w.run(lines)
	return w.found, err
}

// A walk goes through the lines of a backup.
type walk struct {
	Contents
	incomplete bool
	found      Checked
	checks     bool // this is the first walk, which finds what is void

	row  func(Table, table.Row) error
	blob func(Blob, []byte) error

	n     int    // of the line
	in    stored // the partition that the lines are of
	of    Table
	named map[Blob]bool // by that partition, and whether they have come
}

func (w *walk) run(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 1<<16), maxLine)
	ended := false
	for lines.Scan() {
		if ended {
			return errors.New("something follows the last line of the backup")
		}
		w.n++
		end, err := w.line(lines.Bytes())
		if err != nil {
			return fmt.Errorf("line %d of the backup: %w", w.n, err)
		}
		ended = end
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if !ended {
		return errors.New("the backup is cut short: it has no last line")
	}
	return nil
}

func (w *walk) line(text []byte) (end bool, err error) {
	var l line
	switch err := json.Unmarshal(text, &l); {
	case w.n == 1:
		return false, w.header(l, err)
	case err != nil:
		return false, errors.New("it is none of a backup")
	case l.End != nil:
		if err := w.endPartition(); err != nil {
			return false, err
		}
		if *l.End != w.found.Count {
			return false, fmt.Errorf("it says that there are %d rows and %d files, and there are %d and %d", l.End.Rows,
				l.End.Blobs, w.found.Rows, w.found.Blobs)
		}
		return true, nil
	case l.Container != "":
		return false, w.file(Blob{l.Container, l.Blob}, l.Body)
	}
	return false, w.rowLine(l)
}

func (w *walk) header(l line, err error) error {
	switch {
	case err != nil || l.Backup == "":
		return fmt.Errorf("it does not begin a backup of %s", w.Application)
	case l.Backup != w.Application:
		return fmt.Errorf("it begins a backup of %s, and this is %s", l.Backup, w.Application)
	case l.Version > version:
		return fmt.Errorf("the backup is of version %d, which is newer than this program, which reads %d: use the version of %s that wrote it", l.Version, version, w.Application)
	case l.Version != version:
		return fmt.Errorf("the backup is of version %d, and this program reads %d", l.Version, version)
	}
	return nil
}

func (w *walk) rowLine(l line) error {
	at := slices.IndexFunc(w.Tables, func(t Table) bool {
		return t.Name == l.Table && t.Out == "" && !slices.Contains(t.Without, l.Partition)
	})
	if at < 0 {
		return fmt.Errorf("it is of a table %q or a partition of it that no backup of %s has", l.Table, w.Application)
	}
	in := stored{l.Table, l.Partition}
	if l.Again {
		if w.in != in {
			return errors.New("it repeats a partition that does not stand before it")
		}
		if w.checks {
			w.found.void[in] = w.n
		}
		w.named = nil
		return nil
	}
	if w.in != in {
		if err := w.endPartition(); err != nil {
			return err
		}
		w.in, w.of, w.named = in, w.Tables[at], nil
	}
	row := table.Row{Key: table.Key{Partition: l.Partition, Row: l.Row}}
	for name, text := range l.Properties {
		value, err := decode(text)
		if err != nil {
			return err
		}
		row.Props = append(row.Props, table.Prop{Name: name, Value: value})
	}
	if w.of.Names != nil {
		for _, b := range w.of.Names(row) {
			if w.named == nil {
				w.named = map[Blob]bool{}
			}
			w.named[b] = false
		}
	}
	w.found.Rows++
	if w.checks || w.isVoid() {
		return nil
	}
	return w.row(w.of, row)
}

// isVoid reports whether the partition follows once more.
func (w *walk) isVoid() bool { return w.n < w.found.void[w.in] }

func (w *walk) file(b Blob, body []byte) error {
	if came, named := w.named[b]; !named || came {
		return fmt.Errorf("the file %s belongs to no row", b)
	}
	w.named[b] = true
	w.found.Blobs++
	if w.checks || w.isVoid() {
		return nil
	}
	return w.blob(b, body)
}

// endPartition looks whether all files of a partition have come.
func (w *walk) endPartition() error {
	if w.incomplete {
		return nil
	}
	for b, came := range w.named {
		if !came {
			return fmt.Errorf("before it, a row of %s %s names the file %s, which the backup does not have",
				w.in.table, w.in.partition, b)
		}
	}
	return nil
}

// A To is a store into which a backup is read.
type To struct {
	Tables table.DB
	Blobs  blob.Store
	Load   transact.Loader // nil where the storage has none
}

// Empty refuses a store with rows that a backup would have, or with blobs other than one of each
// container.
func (c Contents) Empty(ctx context.Context, to To, but string) error {
	for _, t := range c.Tables {
		for row, err := range table.All(ctx, to.Tables, t.Stored, table.Range{}) {
			if errors.Is(err, table.NoTableError(t.Stored)) {
				break
			}
			if d := (*table.DamagedError)(nil); err != nil && !errors.As(err, &d) {
				return err
			}
			if t.Out == "" && !slices.Contains(t.Without, row.Partition) {
				return fmt.Errorf("the store is not empty: the table %s has rows; restore into another one", t.Stored)
			}
		}
	}
	if to.Blobs == nil {
		return nil
	}
	blobs := blob.Prefixed(to.Blobs, c.Prefix)
	for _, name := range c.Containers {
		page, err := blobs.List(ctx, name, "", 2, "")
		if errors.Is(err, blob.ErrNoContainer) {
			continue
		}
		if err != nil {
			return err
		}
		if slices.ContainsFunc(page.Items, func(i blob.Item) bool { return i.Name != but }) {
			return fmt.Errorf("the store has no rows, but files in %s: they are another store's; move them away, or restore into another directory", c.Prefix+name)
		}
	}
	return nil
}

// writesAtOnce bounds the writes that are under way, and so the blobs in memory.
const writesAtOnce = 8

// maxSends is how often a write to a service is sent. The first pause takes sendAgain, and each
// further one twice as long as the one before. A service may be away for half a minute.
const (
	maxSends  = 5
	sendAgain = time.Second
)

// Load reads the lines of a backup that was checked into a store that must be empty. What it has
// written before an error stays. When it returns, no write of it can land any more.
func (c Contents) Load(ctx context.Context, lines io.Reader, checked Checked, to To, progress func(Count)) error {
	l := c.loading(ctx, to, table.Upsert)
	w := walk{Contents: c, incomplete: true, found: Checked{void: checked.void}, blob: l.put}
	told := func(err error) error { progress(w.found.Count); return err }
	if to.Load == nil {
		w.row = func(t Table, row table.Row) error { return told(l.add(t, row)) }
		return errors.Join(w.run(lines), l.end())
	}
	return errors.Join(to.Load(ctx, func(put func(transact.Row) error) error {
		w.row = func(t Table, row table.Row) error { return told(put(transact.Row{Table: t.Stored, Row: row})) }
		return w.run(lines)
	}), l.end())
}

// Unload removes what a Load has written of a backup, after an error.
func (c Contents) Unload(ctx context.Context, lines io.Reader, checked Checked, to To) error {
	l := c.loading(ctx, to, table.Delete)
	w := walk{Contents: c, incomplete: true, found: Checked{void: checked.void}, row: l.add, blob: l.remove}
	return errors.Join(w.run(lines), l.end())
}

// A loading writes what a backup has.
type loading struct {
	ctx   context.Context //nolint:containedctx // that of the call
	to    To
	blobs blob.Store
	kind  table.Kind

	writing errgroup.Group
	mu      sync.Mutex
	failed  error
	late    time.Time // when the last write began that may land after its error

	batch []table.Op // of one partition of a table
	in    string     // that table
	size  int
}

func (c Contents) loading(ctx context.Context, to To, kind table.Kind) *loading {
	l := &loading{ctx: ctx, to: to, kind: kind}
	if to.Blobs != nil {
		l.blobs = blob.Prefixed(to.Blobs, c.Prefix)
	}
	l.writing.SetLimit(writesAtOnce)
	return l
}

// begin does a write while the next lines are read. It returns the error of an earlier one.
func (l *loading) begin(write func() error) error {
	l.mu.Lock()
	failed := l.failed
	l.mu.Unlock()
	if failed != nil {
		return failed
	}
	l.writing.Go(func() error {
		err := write()
		if err != nil {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.failed = err
		}
		return err
	})
	return nil
}

// send does a write, which comes to the same however often it lands, until the store has answered.
// An embedded store always answers.
func (l *loading) send(write func() error) error {
	for n := 1; ; n++ {
		began := time.Now()
		err := write()
		refused := errors.Is(err, table.ErrInvalid) || errors.As(err, new(*table.OpError)) ||
			errors.As(err, new(table.NoTableError))
		if err == nil || refused || l.to.Load != nil {
			return err
		}
		l.mu.Lock()
		l.late = began
		l.mu.Unlock()
		if n == maxSends {
			return err
		}
		select {
		case <-l.ctx.Done():
			return err
		case <-time.After(sendAgain << (n - 1)):
		}
	}
}

// put begins to write a blob.
func (l *loading) put(b Blob, body []byte) error {
	return l.begin(func() error {
		return l.send(func() error {
			err := l.blobs.Put(l.ctx, b.Container, b.Name, body)
			if errors.Is(err, blob.ErrExists) { // the call before has landed
				return nil
			}
			return err
		})
	})
}

// remove begins to delete a blob.
func (l *loading) remove(b Blob, _ []byte) error {
	return l.begin(func() error {
		return l.send(func() error { return l.blobs.Delete(l.ctx, b.Container, b.Name) })
	})
}

// add takes a row, or its deletion, into the batch.
func (l *loading) add(t Table, row table.Row) error {
	op := table.Op{Kind: l.kind, Row: row}
	if l.kind == table.Delete {
		op.Row = table.Row{Key: row.Key, ETag: table.Any}
	}
	size := table.Size(op)
	if full := len(l.batch) == table.MaxBatch ||
		l.size+size > table.MaxBatchBytes; len(l.batch) > 0 &&
		(full || l.in != t.Stored || l.batch[0].Row.Partition != row.Partition) {
		if err := l.flush(); err != nil {
			return err
		}
	}
	l.in, l.size, l.batch = t.Stored, l.size+size, append(l.batch, op)
	return nil
}

// flush begins to write the batch.
func (l *loading) flush() error {
	batch, in := l.batch, l.in
	l.batch, l.size = nil, 0
	write := func(ops ...table.Op) error {
		return l.send(func() error {
			_, err := l.to.Tables.Write(l.ctx, in, ops...)
			return err
		})
	}
	return l.begin(func() error {
		err := write(batch...)
		if err != nil && l.kind == table.Delete { // a row that was not written, or is deleted already
			for _, op := range batch {
				if err := write(op); err != nil && !errors.Is(err, table.ErrNotFound) {
					return err
				}
			}
			return nil
		}
		return err
	})
}

// end waits for all writes, those too that may land after their error: the caller changes the rows
// after it.
func (l *loading) end() error {
	var err error
	if len(l.batch) > 0 {
		err = l.flush()
	}
	failed := l.writing.Wait()
	if !l.late.IsZero() {
		time.Sleep(time.Until(l.late.Add(rowstore.LandWithin)))
	}
	if failed != nil {
		return failed // of which err is the consequence
	}
	return err
}
