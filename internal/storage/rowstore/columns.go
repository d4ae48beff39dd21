package rowstore

import (
	"time"

	"prompthub/internal/storage/table"
)

// Columns are the properties of the rows of a T, in one list for those who write and who read them.
type Columns[T any] []Column[T]

// A Column is a property of the rows of a T.
type Column[T any] struct {
	name     string
	value    func(*T) (v table.Value, isSet bool)
	set      func(*T, table.Value) // nil if it follows from others
	optional bool
}

// Optional leaves the property out of rows where it is zero.
func (c Column[T]) Optional() Column[T] {
	c.optional = true
	return c
}

// Props returns the properties of a row.
func (c Columns[T]) Props(of *T) table.Props {
	props := make(table.Props, 0, len(c))
	for _, column := range c {
		if v, isSet := column.value(of); isSet || !column.optional {
			props = append(props, table.Prop{Name: column.name, Value: v})
		}
	}
	return props
}

// Read sets all that the properties of a row say. One that is missing is zero.
func (c Columns[T]) Read(p table.Props, into *T) {
	for _, column := range c {
		if column.set != nil {
			column.set(into, p.Get(column.name))
		}
	}
}

// Text is a column of a text.
func Text[T any, S ~string](name string, field func(*T) *S) Column[T] {
	return plain(name, field, func(s S) table.Value { return table.String(string(s)) },
		func(v table.Value) S { return S(v.Str()) })
}

// Flag is a column of a truth value.
func Flag[T any](name string, field func(*T) *bool) Column[T] {
	return plain(name, field, table.Bool, table.Value.Bool)
}

// Long is a column of a number of 64 bits.
func Long[T any](name string, field func(*T) *int64) Column[T] {
	return plain(name, field, table.Int64, table.Value.Int)
}

// Number is a column of a number of 32 bits.
func Number[T any](name string, field func(*T) *int) Column[T] {
	return plain(name, field, func(n int) table.Value { return table.Int32(int32(n)) },
		func(v table.Value) int { return int(v.Int()) })
}

// Instant is a column of a time.
func Instant[T any](name string, field func(*T) *time.Time) Column[T] {
	return Column[T]{
		name: name, value: func(t *T) (table.Value, bool) { return table.Time(*field(t)), !field(t).IsZero() },
		set: func(t *T, v table.Value) { *field(t) = v.Time() },
	}
}

// Derived is a column that follows from others: it is written and not read.
func Derived[T any](name string, value func(*T) table.Value) Column[T] {
	return Column[T]{name: name, value: func(t *T) (table.Value, bool) { return value(t), true }}
}

func plain[T any, F comparable](name string, field func(*T) *F, write func(F) table.Value,
	read func(table.Value) F,
) Column[T] {
	return Column[T]{
		name: name, set: func(t *T, v table.Value) { *field(t) = read(v) },
		value: func(t *T) (table.Value, bool) {
			var zero F
			return write(*field(t)), *field(t) != zero
		},
	}
}
