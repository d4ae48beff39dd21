// Package table is the contract of a store of partitioned, ordered, versioned
// rows: what Azure Table Storage gives, and no more. A row is addressed by
// table, partition key and row key; rows are ordered by partition key, then row
// key; a batch of writes is atomic inside one partition of one table; nothing is
// atomic beyond that.
//
// The implementations are azure (Table Storage and Azurite), embedded (one
// bbolt file) and memory (for tests). tabletest holds the suite that all pass.
package table

import (
	"context"
	"errors"
	"fmt"
	"iter"
)

// The limits that every implementation enforces, those of Table Storage and of
// its emulator, whichever is lower.
const (
	MaxKeyLen     = 512     // characters (UTF-16 code units) of a partition or row key
	MaxBatch      = 100     // operations in one Write
	MaxBatchBytes = 4 << 20 // bytes of one Write, with the overhead of the wire format
	MaxString     = 32768   // UTF-16 code units of one string property
	MaxProps      = 252     // properties of a row
	MaxPage       = 1000    // rows of one page
)

// The errors a caller branches on. Any other error means that the outcome of a
// write is unknown: it may have landed, may land within 30 s, or never.
var (
	// Get, or Replace, Merge or Delete of a missing row
	ErrNotFound = errors.New("row not found")
	ErrExists   = errors.New("row exists")      // Insert of an existing row
	ErrConflict = errors.New("row was changed") // the ETag given is not the row's
	// the request was refused before it did anything: back off, then send it again
	ErrBusy = errors.New("storage is throttling")
	// a limit above is broken, or the request makes no sense: a defect of the caller
	ErrInvalid = errors.New("invalid row or batch")
	// the stored bytes are no row, as after a fault of the disk: a person must see to it
	ErrDamaged = errors.New("a damaged row")
)

// A DamagedError is a row, met by a List, that cannot be read. It wraps ErrDamaged. Like that of an
// OpError its text names no key.
type DamagedError struct {
	Key  Key
	Next string // where the next page begins; empty where no row follows
}

// Error says no more than ErrDamaged.
func (e *DamagedError) Error() string { return ErrDamaged.Error() }

// Unwrap returns ErrDamaged.
func (e *DamagedError) Unwrap() error { return ErrDamaged }

// A NoTableError is a request to a table of this name, which was never created: a defect of the
// caller or of the settings, not a missing row.
type NoTableError string

// Error names the table.
func (e NoTableError) Error() string { return "table " + string(e) + " does not exist" }

// Any as an ETag matches every version of a row that exists.
const Any = "*"

// A Key addresses a row inside a table.
type Key struct {
	Partition string
	Row       string
}

// String returns both parts of the key.
func (k Key) String() string { return k.Partition + " / " + k.Row }

// A Row is a set of named values under a key.
type Row struct {
	Key
	ETag  string // set by the store; opaque, changed by every write, never reused for the key
	Props Props
}

// A Range is a set of keys of one table. Partition names one partition; where it is empty,
// FromPartition ≤ partition < ToPartition, an empty bound being open. In every partition of the
// range From ≤ row key (or After < row key) and row key < To, an empty bound being open.
//
// If Filter is set, a row that does not match comes with its key alone: a store need not read the
// properties of rows that the caller leaves out. A store calls Filter once for each row of a page.
// Filter must not block, and its argument is valid until it returns.
//
// If FilterProps is set, Filter sees only the properties that it names. A store need not look up
// others for rows that come with their keys alone, nor notice that those are damaged.
//
// If MaxMatches is set, a page may end after that many rows that match.
//
// If Select is set, rows come with only the properties that it names, and Filter sees no others.
// FilterProps must not be set then.
type Range struct {
	Partition                  string
	FromPartition, ToPartition string
	From, After, To            string
	Filter                     func(Props) bool
	FilterProps                []string
	MaxMatches                 int
	Select                     []string
}

// Selected returns which of p a row of the range comes with. It leaves p as it is.
func (r Range) Selected(p Props) Props {
	return p.of(r.Select)
}

// Bare returns a row with its key alone, as a List returns one that does not match.
func (r Row) Bare() Row { return Row{Key: r.Key} }

// Matches reports whether Filter takes a row with these properties.
func (r Range) Matches(p Props) bool { return r.Filter == nil || r.Filter(p.of(r.FilterProps)) }

// A Page is a part of a range in key order. It may hold fewer rows than asked for, even
// none, while more follow: only an empty Next ends the range.
type Page struct {
	Rows []Row
	Next string // where the next page begins; opaque, valid for the same keys and Select only
}

// A Kind is what an Op does.
type Kind int

// The kinds of Op.
const (
	Insert Kind = iota + 1 // the row must not exist, else ErrExists
	// the row must exist (ErrNotFound) with Row.ETag, or any version if that is Any (ErrConflict); all
	// properties are replaced
	Replace
	Merge  // as Replace, but properties not named keep their value
	Upsert // insert or replace; Row.ETag must be empty
	// the row must exist (ErrNotFound) with Row.ETag or Any (ErrConflict); Props are ignored
	Delete
)

// String returns the name of the kind, in lower case.
func (k Kind) String() string {
	switch k {
	case Insert:
		return "insert"
	case Replace:
		return "replace"
	case Merge:
		return "merge"
	case Upsert:
		return "upsert"
	case Delete:
		return "delete"
	}
	return fmt.Sprintf("kind %d", int(k))
}

// An Op is one write.
type Op struct {
	Kind Kind
	Row  Row
}

// A DB is a store of tables. All methods may be called at once from many goroutines.
// Reads see every write that has answered before they began. An implementation makes no
// second attempt at a write: a caller who gets an error of unknown outcome reads the row.
type DB interface {
	// Get returns the row at key, or ErrNotFound.
	Get(ctx context.Context, table string, key Key) (Row, error)

	// List returns a page of at most limit rows (1 to MaxPage) of a range in key order,
	// from the token next on ("" for the beginning). One page is a snapshot; two are not. Where the
	// next row is damaged the error is a *DamagedError, with the token to go on after it.
	List(ctx context.Context, table string, r Range, limit int, next string) (Page, error)

	// Write applies one to MaxBatch operations on different rows of one partition, all or
	// none, and returns their new ETags ("" for a Delete). If an operation's condition
	// fails nothing is written and the error is a *OpError that wraps ErrExists,
	// ErrNotFound or ErrConflict.
	Write(ctx context.Context, table string, ops ...Op) ([]string, error)

	// Create makes the tables that do not exist yet.
	Create(ctx context.Context, tables ...string) error
}

// An OpError is the condition that failed in a Write.
type OpError struct {
	Index int // of the operation
	Key   Key
	Err   error // ErrExists, ErrNotFound or ErrConflict
}

// Error names no key: keys hold user ids, and errors reach logs.
func (e *OpError) Error() string { return fmt.Sprintf("operation %d: %v", e.Index, e.Err) }

// Unwrap returns the sentinel.
func (e *OpError) Unwrap() error { return e.Err }

// Prefix returns the range of all rows of a partition whose key begins with prefix,
// which must end in a character below U+007F.
func Prefix(partition, prefix string) Range {
	return Range{Partition: partition, From: prefix, To: After(prefix)}
}

// After returns the first key after all keys that begin with prefix, which must end in
// a character below U+007F.
func After(prefix string) string {
	last := len(prefix) - 1
	return prefix[:last] + string(prefix[last]+1)
}

// All yields every row of a range in key order, read page after page. An error comes without a row
// and is the last, but for a *DamagedError, after which it goes on.
func All(ctx context.Context, db DB, table string, r Range) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for next, more := "", true; more; more = next != "" {
			page, err := db.List(ctx, table, r, MaxPage, next)
			if err != nil {
				d := (*DamagedError)(nil)
				if !yield(Row{}, err) || !errors.As(err, &d) {
					return
				}
				next = d.Next
				continue
			}
			for _, row := range page.Rows {
				if !yield(row, nil) {
					return
				}
			}
			next = page.Next
		}
	}
}
