package rowstore

import (
	"cmp"
	"iter"
	"reflect"
)

// The tables of an application are a struct: a field holds the name of one, and has its usual name
// in the tag table, or in the tag default if a setting may change it.

// DefaultTables returns the tables under their usual names.
func DefaultTables[T any]() (t T) {
	for usual, name := range tableNames(&t) {
		*name = usual
	}
	return t
}

// PrefixTables returns the tables with a prefix in their names.
func PrefixTables[T any](t T, prefix string) T {
	for _, name := range tableNames(&t) {
		*name = prefix + *name
	}
	return t
}

// PrefixedTables returns the tables with a prefix before their usual names.
func PrefixedTables[T any](prefix string) T { return PrefixTables(DefaultTables[T](), prefix) }

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
			tag := v.Type().Field(i).Tag
			usual := cmp.Or(tag.Get("table"), tag.Get("default"))
			if usual != "" && !yield(usual, v.Field(i).Addr().Interface().(*string)) {
				return
			}
		}
	}
}
