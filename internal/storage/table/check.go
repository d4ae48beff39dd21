package table

import (
	"fmt"
	"time"
	"unicode/utf8"
)

// Check returns an error that wraps ErrInvalid where a Write with these operations breaks a
// limit of the contract. Implementations call it before anything else, so that
// none is more lenient than the service.
func Check(ops []Op) error {
	if len(ops) == 0 || len(ops) > MaxBatch {
		return fmt.Errorf("%w: %d operations, want 1 to %d", ErrInvalid, len(ops), MaxBatch)
	}
	var size int
	for i, op := range ops {
		if op.Row.Partition != ops[0].Row.Partition {
			return fmt.Errorf("%w: operation %d is of another partition than the first", ErrInvalid, i)
		}
		for _, other := range ops[:i] {
			if other.Row.Row == op.Row.Row {
				return fmt.Errorf("%w: operation %d on the row of another one of the batch", ErrInvalid, i)
			}
		}
		if err := CheckOp(op); err != nil {
			return fmt.Errorf("operation %d: %w", i, err)
		}
		size += Size(op)
	}
	if size > MaxBatchBytes {
		return fmt.Errorf("%w: a batch of about %d bytes, want at most %d", ErrInvalid, size, MaxBatchBytes)
	}
	return nil
}

// Size returns how much of MaxBatchBytes an operation takes.
func Size(op Op) int {
	size := 600 // headers and framing of one part of a batch
	for _, p := range op.Row.Props {
		size += 2*len(p.Name) + 40 + 3*len(p.Value.s)
	}
	return size
}

// Size returns about how many bytes of memory a row takes.
func (r Row) Size() int {
	size := len(r.Partition) + len(r.Key.Row) + len(r.ETag)
	for _, p := range r.Props {
		size += len(p.Name) + len(p.Value.s) + 64
	}
	return size
}

// CheckOp is Check for one operation, whatever else is written with it.
func CheckOp(op Op) error {
	if err := CheckKey(op.Row.Key); err != nil {
		return err
	}
	switch op.Kind {
	case Insert, Upsert:
		if op.Row.ETag != "" {
			return fmt.Errorf("%w: %s takes no ETag", ErrInvalid, op.Kind)
		}
	case Replace, Merge, Delete:
		if op.Row.ETag == "" {
			return fmt.Errorf("%w: %s needs an ETag", ErrInvalid, op.Kind)
		}
	default:
		return fmt.Errorf("%w: %s", ErrInvalid, op.Kind)
	}
	if op.Kind == Delete {
		return nil
	}
	if len(op.Row.Props) > MaxProps {
		return fmt.Errorf("%w: %d properties, want at most %d", ErrInvalid, len(op.Row.Props), MaxProps)
	}
	for i, p := range op.Row.Props {
		for _, other := range op.Row.Props[:i] {
			if other.Name == p.Name {
				return fmt.Errorf("%w: property %s twice", ErrInvalid, p.Name)
			}
		}
		if err := checkProp(p); err != nil {
			return err
		}
	}
	return nil
}

// minTicks is the first time that Edm.DateTime has.
var minTicks = Ticks(time.Date(1601, 1, 1, 0, 0, 0, 0, time.UTC))

func checkProp(p Prop) error {
	if !identifier(p.Name) {
		return fmt.Errorf("%w: property name %q", ErrInvalid, p.Name)
	}
	switch p.Value.t {
	case TypeString:
		if !utf8.ValidString(p.Value.s) {
			return fmt.Errorf("%w: property %s is not UTF-8", ErrInvalid, p.Name)
		}
		if longer(p.Value.s, MaxString) {
			return fmt.Errorf("%w: property %s has %d characters, want at most %d", ErrInvalid,
				p.Name, Units(p.Value.s), MaxString)
		}
	case TypeTime:
		if p.Value.n < minTicks || p.Value.n > MaxTicks {
			return fmt.Errorf("%w: property %s is outside the years 1601 to 9999", ErrInvalid, p.Name)
		}
	case TypeInt32, TypeInt64, TypeBool:
	default:
		return fmt.Errorf("%w: property %s has no value", ErrInvalid, p.Name)
	}
	return nil
}

// identifier keeps names to the part of the rule that needs no Unicode tables, and off
// the names that the service gives meaning to.
func identifier(s string) bool {
	if s == "" || len(s) > 255 || s == "PartitionKey" || s == "RowKey" || s == "Timestamp" {
		return false
	}
	for i, c := range []byte(s) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// CheckKey returns an error that wraps ErrInvalid where the service, its emulator or its SDK would
// refuse or mangle the key: too long, empty partition, / \ # ? ', controls, line and paragraph
// separators, not UTF-8.
func CheckKey(k Key) error {
	if k.Partition == "" {
		return fmt.Errorf("%w: empty partition key", ErrInvalid)
	}
	for _, s := range []string{k.Partition, k.Row} {
		if longer(s, MaxKeyLen) {
			return fmt.Errorf("%w: a key of %d characters, want at most %d", ErrInvalid, Units(s), MaxKeyLen)
		}
		for _, r := range s {
			if r < ' ' || r >= 0x7f && r <= 0x9f || r == '/' || r == '\\' || r == '#' || r == '?' || r == '\'' ||
				r == '\u2028' || r == '\u2029' || r == utf8.RuneError {
				return fmt.Errorf("%w: character %q in a key", ErrInvalid, r)
			}
		}
	}
	return nil
}

// CheckList returns an error that wraps ErrInvalid where List cannot be called so.
func CheckList(r Range, limit int) error {
	if limit < 1 || limit > MaxPage {
		return fmt.Errorf("%w: a page of %d rows, want 1 to %d", ErrInvalid, limit, MaxPage)
	}
	if r.Partition != "" && (r.FromPartition != "" || r.ToPartition != "") {
		return fmt.Errorf("%w: a range with a partition and with bounds of partitions", ErrInvalid)
	}
	if r.MaxMatches < 0 {
		return fmt.Errorf("%w: a range of which %d rows are enough", ErrInvalid, r.MaxMatches)
	}
	if r.FilterProps != nil && r.Select != nil {
		return fmt.Errorf("%w: a range that asks about some properties and selects some", ErrInvalid)
	}
	for _, name := range r.Select {
		if !identifier(name) {
			return fmt.Errorf("%w: a range that selects %q", ErrInvalid, name)
		}
	}
	if r.From != "" && r.After != "" {
		return fmt.Errorf("%w: a range with two lower bounds", ErrInvalid)
	}
	return nil
}

// longer reports whether s has more than n UTF-16 code units, which are never more than its bytes.
func longer(s string, n int) bool { return len(s) > n && Units(s) > n }

// Units returns the length of s in UTF-16 code units, the characters that the service counts.
func Units(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}
