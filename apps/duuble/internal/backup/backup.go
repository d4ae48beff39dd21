// Package backup writes all rows of tables as JSON Lines and reads them into empty ones. It knows
// no table: a backup holds rows as they are, and no keys.
//
// The first line is a header, the last one says how many rows lie between. A property is written so
// that its type comes back: texts and truth values as in JSON, and in an object with one member
// int32, int64 or time.
package backup

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"prompthub/internal/storage/table"
)

const version = 1

// A Table is one of those that a backup has: its name in the backup, and in the store.
type Table struct{ Name, Stored string }

type line struct {
	Backup     string                     `json:"backup,omitempty"` // the application, in the header
	Version    int                        `json:"version,omitempty"`
	Table      string                     `json:"table,omitempty"`
	Partition  string                     `json:"partition,omitempty"`
	Row        string                     `json:"row,omitempty"`
	Properties map[string]json.RawMessage `json:"properties,omitempty"`
	End        *int                       `json:"end,omitempty"` // the number of rows, in the last line
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
		return json.Marshal(v.Str())
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

// Sums reports whether a row is a sum over others of its partition.
type Sums func(row string) bool

// tries is how often a partition is read again that others change meanwhile.
const tries = 10

// Write writes all rows of tables, and returns how many. Each partition is written as one state: if
// the ETag of a sum is another one after its partition was read, the partition is read again.
func Write(ctx context.Context, db table.DB, application string, tables []Table, sums Sums, w io.Writer) (int, error) {
	return writeAfter(ctx, place{}, db, application, tables, sums, w, func(place) error { return nil })
}

// A place in a backup is after a partition of a table. The zero place is its beginning.
type place struct {
	Table     string `json:"table"` // its name in the backup
	Partition string `json:"partition"`
	Rows      int    `json:"rows"` // up to there
}

// writeAfter is Write from a place on. It calls reached after each partition.
func writeAfter(ctx context.Context, begin place, db table.DB, application string, tables []Table, sums Sums, w io.Writer, reached func(place) error) (int, error) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	rows, in := begin.Rows, table.Range{}
	if begin.Table == "" {
		if err := enc.Encode(line{Backup: application, Version: version}); err != nil {
			return 0, err
		}
	} else {
		at := slices.IndexFunc(tables, func(t Table) bool { return t.Name == begin.Table })
		if at < 0 {
			return 0, fmt.Errorf("a backup cannot go on after the table %q, which there is not any more", begin.Table)
		}
		tables = tables[at:]
		in.FromPartition = begin.Partition + " " // no key has a character before it
	}
	for _, t := range tables {
		write := func(all []table.Row) error {
			if len(all) == 0 {
				return nil
			}
			here := place{Table: t.Name, Partition: all[0].Partition}
			all, err := settled(ctx, db, t, sums, all)
			for _, row := range all {
				if err == nil {
					err = writeRow(enc, t.Name, row)
				}
				rows++
			}
			if here.Rows = rows; err == nil {
				err = reached(here)
			}
			return err
		}
		var partition []table.Row
		for row, err := range table.All(ctx, db, t.Stored, in) {
			if err == nil && len(partition) > 0 && partition[0].Partition != row.Partition {
				err = write(partition)
				partition = nil
			}
			if err != nil {
				return rows, fmt.Errorf("back up %s: %w", t.Name, err)
			}
			partition = append(partition, row)
		}
		if err := write(partition); err != nil {
			return rows, fmt.Errorf("back up %s: %w", t.Name, err)
		}
		in = table.Range{}
	}
	return rows, enc.Encode(line{End: &rows})
}

// settled returns the rows of a partition, read again if they are not of one state.
func settled(ctx context.Context, db table.DB, t Table, sums Sums, rows []table.Row) ([]table.Row, error) {
	for range tries {
		var before, after []table.Row
		for _, row := range rows {
			if sums(row.Key.Row) {
				before = append(before, row)
			}
		}
		if before == nil {
			return rows, nil
		}
		in := table.Range{Partition: rows[0].Partition}
		for _, sum := range before {
			now, err := db.Get(ctx, t.Stored, sum.Key)
			if err != nil && !errors.Is(err, table.ErrNotFound) {
				return nil, err
			}
			after = append(after, now)
		}
		if slices.EqualFunc(before, after, func(a, b table.Row) bool { return a.ETag == b.ETag }) {
			return rows, nil
		}
		rows = nil
		for row, err := range table.All(ctx, db, t.Stored, in) {
			if err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
		if rows == nil {
			return nil, nil // all of it is gone
		}
	}
	return nil, errors.New("a partition changes all the time; try again when less is going on")
}

func writeRow(enc *json.Encoder, name string, row table.Row) error {
	l := line{Table: name, Partition: row.Partition, Row: row.Key.Row, Properties: map[string]json.RawMessage{}}
	for _, p := range row.Props {
		text, err := encode(p.Value)
		if err != nil {
			return err
		}
		l.Properties[p.Name] = text
	}
	return enc.Encode(l)
}

const (
	maxLine = 8 << 20
	// bytes of one batch as they are here: a Write counts several for each
	maxBatch = 512 << 10
)

// Read reads a backup of an application into tables that must be empty, and returns how many rows
// it had. Rows that were written before an error stay.
func Read(ctx context.Context, db table.DB, application string, tables []Table, r io.Reader) (int, error) {
	stored := map[string]string{}
	for _, t := range tables {
		stored[t.Name] = t.Stored
		page, err := db.List(ctx, t.Stored, table.Range{}, 1, "")
		if err != nil {
			return 0, err
		}
		if len(page.Rows) > 0 {
			return 0, fmt.Errorf("the table %s has rows: restore into an empty store", t.Stored)
		}
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	rows, size := 0, 0
	var batch []table.Op
	in := ""
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		_, err := db.Write(ctx, in, batch...)
		batch, size = nil, 0
		return err
	}
	for n := 1; lines.Scan(); n++ {
		var l line
		err := json.Unmarshal(lines.Bytes(), &l)
		switch {
		case err != nil:
			err = errors.New("is no line of a backup")
		case n == 1:
			if l.Backup != application || l.Version != version {
				err = fmt.Errorf("is not the header of a backup of %s, version %d", application, version)
			}
		case l.End != nil:
			if *l.End != rows {
				err = fmt.Errorf("says that there are %d rows, and there are %d", *l.End, rows)
			}
			return rows, cmp.Or(err, flush())
		case stored[l.Table] == "":
			err = fmt.Errorf("is of a table %q, which there is not", l.Table)
		default:
			op := table.Op{Kind: table.Insert, Row: table.Row{Key: table.Key{Partition: l.Partition, Row: l.Row}}}
			for name, text := range l.Properties {
				value, wrong := decode(text)
				err = cmp.Or(err, wrong)
				op.Row.Props = append(op.Row.Props, table.Prop{Name: name, Value: value})
			}
			if len(batch) == table.MaxBatch || size+len(lines.Bytes()) > maxBatch || len(batch) > 0 && (in != stored[l.Table] || batch[0].Row.Partition != l.Partition) {
				err = cmp.Or(err, flush())
			}
			in, size, rows = stored[l.Table], size+len(lines.Bytes()), rows+1
			batch = append(batch, op)
		}
		if err != nil {
			return rows, fmt.Errorf("line %d: %w", n, err)
		}
	}
	return rows, cmp.Or(lines.Err(), errors.New("the backup ends too early: it was cut off"))
}

// IsSum is Sums of rows whose keys begin with one of some prefixes.
func IsSum(prefixes ...string) Sums {
	return func(row string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(row, p) })
	}
}
