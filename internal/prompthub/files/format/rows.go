package format

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"unicode/utf16"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A Row is one prompt of a file.
type Row struct {
	Number int    // from 1; the header of a CSV file is not counted
	Line   int    // of the file, where the row begins
	Path   string // of the file, where it is one of many
	Document
	Contributor string // the first one, "" where none is named
	Err         error  // why the row is no prompt
}

// Units returns how long the text is, as limits count.
func (r Row) Units() int { return len(utf16.Encode([]rune(r.words()))) }

// Place says where the row is.
func (r Row) Place() string { return placeOf(r.Path, r.Line) }

// Rows returns the rows of a file, which its name or else what is in it says the format of. A row
// that cannot be read has its Err set and others follow; where the rest of the file cannot be
// trusted either, the last thing returned is an error. In files of many prompts the names are in
// the column or member key, or name where that is empty.
func Rows(path string, file []byte, key string) iter.Seq2[Row, error] {
	return read(Parts(path, file, key))
}

// RowsOf returns the rows of files, in their order. A file that is broken says so in a row.
func RowsOf(files []File, key string) iter.Seq2[Row, error] { return read(PartsOf(files, key)) }

// read reads parts, one at a time.
func read(parts iter.Seq2[Part, error]) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for part, err := range parts {
			if err != nil {
				yield(Row{}, err)
				return
			}
			if !yield(part.Row(), nil) {
				return
			}
		}
	}
}

var bom = []byte("\ufeff")

// readValue reads one prompt of a file of many.
func readValue(path string, line int, v jsontext.Value, key string) (Document, error) {
	f := JSONLines
	if o, err := parseObject(v); err == nil {
		f = formatOf(o)
	}
	in := &input{path: path, file: v}
	d, extra, err := codecs[f].read(in)
	if err != nil {
		return Document{}, fmt.Errorf("not the JSON of a prompt: %w", whyNoJSON(v, line, mistyped(err)))
	}
	if key != fieldName {
		d.Name = extra.text(key)
	}
	d.Warnings = in.warnings
	d.Extra, d.Source = Extra{f, extra}, &Source{Format: f, Data: v}
	return d.normal(), nil
}

// mistyped says which member is of the wrong type, and of which, where err is about that.
func mistyped(err error) error {
	var wrong *json.SemanticError
	if !errors.As(err, &wrong) || wrong.JSONKind == 0 {
		return err
	}
	want := "something else"
	if wrong.GoType != nil {
		want = cmp.Or(kinds[wrong.GoType.Kind()], want)
	}
	is := cmp.Or(map[jsontext.Kind]string{
		'[': "an array", '{': "an object", '0': "a number",
		'"': "a string",
	}[wrong.JSONKind], wrong.JSONKind.String())
	return fmt.Errorf("%s is %s: want %s", cmp.Or(string(wrong.JSONPointer), "it"), is, want)
}

// kinds says what JSON a member is that is read into a kind of Go's types.
var kinds = map[reflect.Kind]string{
	reflect.String: "a string", reflect.Bool: "true or false", reflect.Int64: "a number", reflect.Float64: "a number",
	reflect.Slice: "an array", reflect.Struct: "an object", reflect.Map: "an object",
}

// contributor returns the first of those who contributed a prompt.
func (e Extra) contributor() string {
	first, _, _ := strings.Cut(e.Members.text(colContributor), ",")
	return strings.TrimSpace(first)
}
