package openapi

import (
	"reflect"
	"strings"
)

// MaxPage is how large a page of a list is at most, in bytes, unless its first thing is larger.
const MaxPage = 1 << 20

// WithinPage answers with a page of a list that is no larger than MaxPage: one that would be is
// read again, with as many things as fit in the place of the Limit of the input. An answer that is
// no page of a list stays as it is.
func WithinPage[I, O any](in *I, act func() (*O, error)) (*O, error) {
	limit := reflect.ValueOf(in).Elem().FieldByName("Limit")
	for {
		out, err := act()
		if err != nil || out == nil || !limit.IsValid() {
			return out, err
		}
		body := reflect.ValueOf(out).Elem().FieldByName("Body")
		if body.Kind() != reflect.Struct || !body.FieldByName("Items").IsValid() {
			return out, nil
		}
		things := body.FieldByName("Items")
		n := fitting(things)
		if n == things.Len() {
			return out, nil
		}
		limit.SetInt(int64(n))
	}
}

// fitting returns how many of some things fit into a page, at least one if there are any.
func fitting(things reflect.Value) int {
	size := 0
	for i := range things.Len() {
		if size += jsonSize(things.Index(i)); size > MaxPage && i > 0 {
			return i
		}
	}
	return things.Len()
}

// jsonSize returns how many bytes a value takes as JSON at most, if its texts have no control
// characters but tabs and line breaks.
func jsonSize(v reflect.Value) int {
	const number = 24 // an integer, or a truth value, and the marks around it
	size := number
	switch v.Kind() {
	case reflect.String:
		size += textSize(v.String())
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			size = jsonSize(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			size += jsonSize(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			size += len(v.Type().Field(i).Name) + jsonSize(v.Field(i))
		}
	}
	return size
}

// textSize returns how many bytes a text takes at most: some characters become two, and two of
// those that begin with 0xe2 become six.
func textSize(s string) int {
	size := len(s) + 3*strings.Count(s, "\xe2")
	for _, escaped := range []string{`"`, `\`, "\n", "\t", "\r"} {
		size += strings.Count(s, escaped)
	}
	return size
}
