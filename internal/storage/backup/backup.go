// Package backup writes all rows of tables, and the blobs that they name, as JSON Lines, and reads
// them into empty ones. It knows no table: an application says by Contents what a backup of it has.
//
// The first line is a header, the last one says how many rows and blobs lie between. The rows of a
// partition follow one another, and after them come the blobs that they name. If a blob was deleted
// while a store was read that others change, a line "again" follows, and after it the partition as
// it is now: the lines of that partition before it are void.
//
// A property is written so that its type comes back: texts and truth values as in JSON, and in an
// object with one member int32, int64 or time.
//
// A file of a backup has sums of its parts between these lines (sealed.go). An export is the same
// lines in a folder of blobs, whose manifest has the sums (export.go).
package backup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/table"
)

const version = 2

// Contents say what a backup of an application has.
type Contents struct {
	Application string
	Tables      []Table

	// Containers are those of the blobs that rows name, and Prefix goes before their names in the
	// store.
	Containers []string
	Prefix     string

	// Sums reports whether a row is a sum over others of its partition. Nil: none is.
	Sums func(row string) bool
}

// A Table is one that an application has: its name in the backup, and in the store.
type Table struct {
	Name, Stored string

	// Out says why no backup has the table; "" if each has it. Without are partitions of it that none
	// has.
	Out     string
	Without []string

	// Names returns the blobs that a row names. Rows of one partition alone name a blob. Nil: no row
	// names any.
	Names func(table.Row) []Blob
}

// A Blob is where a blob is.
type Blob struct{ Container, Name string }

// String returns the name.
func (b Blob) String() string { return b.Container + "/" + b.Name }

// A Count is how much a backup has.
type Count struct {
	Rows  int `json:"rows"`
	Blobs int `json:"blobs"`
}

// IsSum is Contents.Sums of rows whose keys begin with one of some prefixes.
func IsSum(prefixes ...string) func(row string) bool {
	return func(row string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(row, p) })
	}
}

type line struct {
	Backup  string   `json:"backup,omitempty"` // the application, in the header
	Version int      `json:"version,omitempty"`
	Without []string `json:"without,omitempty"` // tables that the backup does not have, in the header

	Table      string                     `json:"table,omitempty"`
	Partition  string                     `json:"partition,omitempty"`
	Again      bool                       `json:"again,omitempty"` // the partition follows once more
	Row        string                     `json:"row,omitempty"`
	Properties map[string]json.RawMessage `json:"properties,omitempty"`

	Container string `json:"container,omitempty"`
	Blob      string `json:"blob,omitempty"`
	Body      []byte `json:"body,omitempty"`

	End *Count `json:"end,omitempty"` // in the last line
}

// typed is a property of a type that JSON does not have.
type typed struct {
	Int32 *int32     `json:"int32,omitempty"`
	Int64 *int64     `json:"int64,omitempty"`
	Time  *time.Time `json:"time,omitempty"`
}

func encode(v table.Value) (json.RawMessage, error) {
	switch n := v.Int(); v.Type() {
	case table.TypeString:
		return unescaped(v.Str())
	case table.TypeBool:
		return json.Marshal(v.Bool())
	case table.TypeInt32:
		short := int32(n)
		return json.Marshal(typed{Int32: &short})
	case table.TypeInt64:
		return json.Marshal(typed{Int64: &n})
	case table.TypeTime:
		at := v.Time()
		return json.Marshal(typed{Time: &at})
	}
	return nil, errors.New("a value without a type")
}

// unescaped returns a text as JSON that a person can read.
func unescaped(s string) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(s)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func decode(b json.RawMessage) (table.Value, error) {
	var s string
	if json.Unmarshal(b, &s) == nil {
		return table.String(s), nil
	}
	var is bool
	if json.Unmarshal(b, &is) == nil {
		return table.Bool(is), nil
	}
	var t typed
	err := json.Unmarshal(b, &t)
	switch {
	case err != nil:
	case t.Int32 != nil:
		return table.Int32(*t.Int32), nil
	case t.Int64 != nil:
		return table.Int64(*t.Int64), nil
	case t.Time != nil:
		return table.Time(*t.Time), nil
	}
	return table.Value{}, errors.New("a property without a value")
}

// A From is a store that is backed up.
type From struct {
	Tables table.DB
	Blobs  blob.Store // nil if no row names any
	Still  bool       // nothing changes it meanwhile
}

// Reports are what a Write tells meanwhile.
type Reports struct {
	Left     func(what string) // what it leaves out, in words for a person
	Progress func(Count)
}

// Write writes all rows, and the blobs that they name. If others change the store, each partition
// is written as one state: if the ETag of a sum is another one after its partition was read, the
// partition is read again.
func (c Contents) Write(ctx context.Context, from From, w io.Writer, r Reports) (Count, error) {
	return c.writeAfter(ctx, place{}, from, w, r, func(place) error { return nil })
}

// A place in a backup is after a partition of a table. The zero place is its beginning.
type place struct {
	Table     string `json:"table"` // its name in the backup
	Partition string `json:"partition"`
	Count
}

// A writing is a backup that is being written.
type writing struct {
	Contents
	Reports
	from    From
	enc     *json.Encoder
	done    Count
	reached func(place) error // is called after each partition
}

// writeAfter is Write from a place on.
func (c Contents) writeAfter(ctx context.Context, begin place, from From, w io.Writer, r Reports,
	reached func(place) error,
) (Count, error) {
	if from.Blobs != nil {
		from.Blobs = blob.Prefixed(from.Blobs, c.Prefix)
	}
	b := &writing{Contents: c, Reports: r, from: from, enc: json.NewEncoder(w), done: begin.Count, reached: reached}
	b.enc.SetEscapeHTML(false)
	tables, in := c.Tables, table.Range{}
	if begin.Table == "" {
		if err := b.enc.Encode(c.header()); err != nil {
			return Count{}, err
		}
	} else {
		at := slices.IndexFunc(tables, func(t Table) bool { return t.Name == begin.Table })
		if at < 0 {
			return Count{}, fmt.Errorf("a backup cannot go on after the table %q, which there is not any more",
				begin.Table)
		}
		tables = tables[at:]
		in.FromPartition = begin.Partition + " " // no key has a character before it
	}
	for _, t := range tables {
		if t.Out == "" {
			if err := b.table(ctx, t, in); err != nil {
				return b.done, fmt.Errorf("back up %s: %w", t.Name, err)
			}
		}
		in = table.Range{}
	}
	return b.done, b.enc.Encode(line{End: &b.done})
}

func (c Contents) header() line {
	l := line{Backup: c.Application, Version: version}
	for _, t := range c.Tables {
		if t.Out != "" {
			l.Without = append(l.Without, t.Name)
		}
	}
	return l
}

// keptRows is how many rows of a partition are kept in memory of a store that nothing changes.
const keptRows = 100

func (b *writing) table(ctx context.Context, t Table, in table.Range) error {
	p := partition{Table: t}
	for row, err := range table.All(ctx, b.from.Tables, t.Stored, in) {
		if d := (*table.DamagedError)(nil); errors.As(err, &d) {
			b.Left(fmt.Sprintf("%s %s: the row is damaged; it was left out", t.Name, d.Key))
			continue
		}
		if err != nil {
			return err
		}
		if p.name != row.Partition {
			if err := b.end(ctx, &p); err != nil {
				return err
			}
			p = partition{Table: t, name: row.Partition}
		}
		if slices.Contains(t.Without, row.Partition) {
			continue
		}
		if p.rows = append(p.rows, row); b.from.Still && len(p.rows) >= keptRows {
			if err := b.rows(&p); err != nil {
				return err
			}
		}
	}
	return b.end(ctx, &p)
}

// A partition is rows of one, and the blobs that they name.
type partition struct {
	Table
	name  string
	rows  []table.Row // that are not written yet
	named []Blob
	any   bool // a row was written
}

// rows writes the rows of a partition that were read.
func (b *writing) rows(p *partition) error {
	for _, row := range p.rows {
		if p.Names != nil {
			p.named = append(p.named, p.Names(row)...)
		}
		l := line{
			Table: p.Table.Name, Partition: row.Partition, Row: row.Key.Row,
			Properties: map[string]json.RawMessage{},
		}
		for _, prop := range row.Props {
			text, err := encode(prop.Value)
			if err != nil {
				return err
			}
			l.Properties[prop.Name] = text
		}
		if err := b.enc.Encode(l); err != nil {
			return err
		}
		b.done.Rows++
		b.Progress(b.done)
	}
	p.any = p.any || len(p.rows) > 0
	p.rows = p.rows[:0]
	return nil
}

// tries is how often a partition is read again that others change meanwhile.
const tries = 10

// end writes what is left of a partition: rows, and the blobs that they name.
func (b *writing) end(ctx context.Context, p *partition) error {
	if !b.from.Still {
		if err := b.settle(ctx, p); err != nil {
			return err
		}
	}
	if err := b.rows(p); err != nil || !p.any {
		return err
	}
	for try := 1; ; try++ {
		changed, err := b.blobs(ctx, p)
		if err != nil {
			return err
		}
		if !changed {
			return b.reached(place{p.Table.Name, p.name, b.done})
		}
		if try == tries {
			return errBusy
		}
		if err := errors.Join(b.enc.Encode(line{Table: p.Table.Name, Partition: p.name, Again: true}),
			b.settle(ctx, p), b.rows(p)); err != nil {
			return err
		}
	}
}

var errBusy = errors.New("a partition changes all the time; try again when less is going on")

// blobs writes the blobs that the rows of a partition name. If one is missing and the rows are
// others by now, they are read, and the partition must be written again.
func (b *writing) blobs(ctx context.Context, p *partition) (changed bool, err error) {
	for _, named := range p.named {
		got, err := b.from.Blobs.Get(ctx, named.Container, named.Name)
		if errors.Is(err, blob.ErrNotFound) && !b.from.Still {
			now := partition{Table: p.Table, name: p.name}
			if err := b.read(ctx, &now); err != nil {
				return false, err
			}
			if !slices.ContainsFunc(now.rows, func(row table.Row) bool {
				return slices.Contains(p.Names(row), named)
			}) {
				p.rows, p.named = now.rows, nil
				return true, nil
			}
		}
		if errors.Is(err, blob.ErrNotFound) {
			b.Left(fmt.Sprintf("%s %s names the file %s, which is missing", p.Table.Name, p.name, named))
			continue
		}
		if err != nil {
			return false, err
		}
		if err := b.enc.Encode(line{Container: named.Container, Blob: named.Name, Body: got.Body}); err != nil {
			return false, err
		}
		b.done.Blobs++
		b.Progress(b.done)
	}
	return false, nil
}

// read reads the rows of a partition.
func (b *writing) read(ctx context.Context, p *partition) error {
	p.rows = nil
	for row, err := range table.All(ctx, b.from.Tables, p.Stored, table.Range{Partition: p.name}) {
		if d := (*table.DamagedError)(nil); errors.As(err, &d) {
			continue // it was told of
		}
		if err != nil {
			return err
		}
		p.rows = append(p.rows, row)
	}
	return nil
}

// settle reads the rows of a partition again while they are not of one state.
func (b *writing) settle(ctx context.Context, p *partition) error {
	if b.Sums == nil {
		return nil
	}
	for range tries {
		same := true
		for _, row := range p.rows {
			if !b.Sums(row.Key.Row) {
				continue
			}
			now, err := b.from.Tables.Get(ctx, p.Stored, row.Key)
			if err != nil && !errors.Is(err, table.ErrNotFound) {
				return err
			}
			same = same && now.ETag == row.ETag
		}
		if same {
			return nil
		}
		if err := b.read(ctx, p); err != nil {
			return err
		}
	}
	return errBusy
}
