package rowstore

import (
	"iter"
	"reflect"
)

// The tables of an application are a struct: each field holds the name of one in the store, and has
// its usual name in the tag table.

// DefaultTables returns the tables under their usual names.
func DefaultTables[T any]() T { return PrefixedTables[T]("") }

// PrefixedTables returns the tables with a prefix before their usual names.
func PrefixedTables[T any](prefix string) (t T) {
	for usual, name := range tableNames(&t) {
		*name = prefix + usual
	}
	return t
}

// TableNames returns the name of every table.
func TableNames[T any](t T) (all []string) {
	for _, name := range tableNames(&t) {
		all = append(all, *name)
	}
	return all
}

// tableNames returns the fields by the usual names of their tables.
func tableNames[T any](t *T) iter.Seq2[string, *string] {
	return func(yield func(string, *string) bool) {
		v := reflect.ValueOf(t).Elem()
		for i := range v.NumField() {
			if !yield(v.Type().Field(i).Tag.Get("table"), v.Field(i).Addr().Interface().(*string)) {
				return
			}
		}
	}
}
