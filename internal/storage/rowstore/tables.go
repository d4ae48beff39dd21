package rowstore

import (
	"iter"
	"reflect"
)

// The tables of an application are a struct: each field but Prefix holds the name of one, and has
// its usual name in the tag default.

// DefaultTables returns the tables under their usual names.
func DefaultTables[T any]() (t T) {
	for field, name := range tableNames(&t) {
		*name = field.Tag.Get("default")
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

// TableNames returns the name of every table.
func TableNames[T any](t T) (all []string) {
	for _, name := range tableNames(&t) {
		all = append(all, *name)
	}
	return all
}

func tableNames[T any](t *T) iter.Seq2[reflect.StructField, *string] {
	return func(yield func(reflect.StructField, *string) bool) {
		v := reflect.ValueOf(t).Elem()
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.Name != "Prefix" && !yield(field, v.Field(i).Addr().Interface().(*string)) {
				return
			}
		}
	}
}
