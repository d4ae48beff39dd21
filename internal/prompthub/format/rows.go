package format

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"
	"strings"
	"unicode/utf16"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"prompthub/internal/prompthub/prompt"
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
func (r Row) Place() string {
	if r.Path != "" {
		return fmt.Sprintf("%s, line %d", r.Path, r.Line)
	}
	return fmt.Sprintf("line %d", r.Line)
}

// Rows returns the rows of a file, which its name or else what is in it says the format of. A row
// that cannot be read has its Err set and others follow; where the rest of the file cannot be
// trusted either, the last thing returned is an error. In files of many prompts the names are in
// the column or member key, or name where that is empty.
func Rows(path string, file []byte, key string) iter.Seq2[Row, error] {
	key = cmp.Or(key, fieldName)
	if len(file) > MaxFile {
		return broken(fmt.Errorf("the file has more than %d bytes: split it", MaxFile))
	}
	if bytes.HasPrefix(file, []byte("\xff\xfe")) || bytes.HasPrefix(file, []byte("\xfe\xff")) {
		return broken(errors.New("the file is in UTF-16: save it as UTF-8"))
	}
	switch f := Detect(path, file); f {
	case CSV:
		return sole(path, file, func(yield func(Row, error) bool) {
			if err := readCSV(path, bytes.TrimPrefix(file, bom), key, yield); err != nil {
				yield(Row{}, err)
			}
		})
	case JSONLines:
		return sole(path, file, rowsOfJSON(path, bytes.TrimPrefix(file, bom), key))
	default:
		d, err := Read(f, path, file)
		d.Source = &Source{Format: f, File: path, Data: file}
		row := Row{Number: 1, Line: 1, Document: d, Err: err}
		return func(yield func(Row, error) bool) { yield(row, nil) }
	}
}

var bom = []byte("\ufeff")

// sole gives the only row of a file all of the file for its source, where its format reads that.
// The others have the part that says what they do.
func sole(path string, file []byte, rows iter.Seq2[Row, error]) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		var first *Row // while it may be the only one
		n := 0
		for row, err := range rows {
			if row.Source != nil {
				row.Source.File = path
			}
			if n++; n == 1 && err == nil {
				first = &row
				continue
			}
			if first != nil && !yield(*first, nil) || !yield(row, err) {
				return
			}
			first = nil
		}
		if first == nil {
			return
		}
		if s := first.Source; s != nil {
			if _, err := Read(s.Format, path, file); err == nil {
				s.Data = file
			}
		}
		yield(*first, nil)
	}
}

func broken(err error) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) { yield(Row{}, err) }
}

// rowsOfJSON reads objects, one on each line or not, or a list of them.
func rowsOfJSON(path string, file []byte, key string) iter.Seq2[Row, error] {
	list := listIn(file)
	if first, _, _ := bytes.Cut(bytes.TrimSpace(file), newline); list == nil && !jsontext.Value(bytes.TrimSpace(first)).IsValid() {
		list = objects(file)
	}
	switch {
	case len(list) > MaxRows:
		return broken(fmt.Errorf("there are more than %d prompts in the list: take a part of them", MaxRows))
	case list != nil:
		return rowsOfList(path, list, key)
	}
	return func(yield func(Row, error) bool) {
		row := Row{}
		for line := range bytes.Lines(file) {
			row.Line++
			if len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			row.Number++
			row.Document, row.Err = readValue(path, line, key)
			if !yield(row, nil) {
				return
			}
		}
	}
}

func rowsOfList(path string, list []value, key string) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for i, v := range list {
			row := Row{Number: i + 1, Line: v.line}
			row.Document, row.Err = readValue(path, v.json, key)
			if !yield(row, nil) {
				return
			}
		}
	}
}

// A value is one of a file.
type value struct {
	json jsontext.Value
	line int
}

// listIn returns the values of a list, or of that in the only member prompts or data of an object;
// nil where the file is something else.
func listIn(file []byte) []value {
	list := jsontext.Value(file)
	if list.Kind() == '{' && list.IsValid() {
		o, err := parseObject(list)
		if err != nil {
			return nil
		}
		for _, name := range []string{"prompts", "data"} {
			if v, ok := o.raw(name); ok && v.Kind() == '[' {
				return elements(v, file)
			}
		}
		return nil
	}
	if list.Kind() != '[' || !list.IsValid() {
		return nil
	}
	return elements(list, file)
}

// elements returns those of a list that stands in a file, and not all where they are too many.
func elements(list jsontext.Value, file []byte) []value {
	d := jsontext.NewDecoder(bytes.NewReader(list))
	if _, err := d.ReadToken(); err != nil {
		return nil
	}
	all := []value{}
	line, at := 1+bytes.Count(file[:max(bytes.Index(file, list), 0)], newline), 0
	for d.PeekKind() != ']' && len(all) <= MaxRows {
		v, err := d.ReadValue()
		if err != nil {
			return nil
		}
		begin := int(d.InputOffset()) - len(v)
		line, at = line+bytes.Count(list[at:begin], newline), begin
		all = append(all, value{bytes.Clone(v), line})
	}
	return all
}

var newline = []byte("\n")

// objects returns the values that stand one after another in a file, and not all where they are too
// many; nil where one is broken.
func objects(file []byte) (all []value) {
	d := jsontext.NewDecoder(bytes.NewReader(file))
	line, at := 1, 0
	for len(all) <= MaxRows {
		v, err := d.ReadValue()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			return nil
		}
		begin := int(d.InputOffset()) - len(v)
		line, at = line+bytes.Count(file[at:begin], newline), begin
		all = append(all, value{bytes.Clone(v), line})
	}
	return all
}

// readValue reads one prompt of a file of many.
func readValue(path string, v jsontext.Value, key string) (Document, error) {
	f := JSONLines
	if o, err := parseObject(v); err == nil {
		f = formatOf(o)
	}
	d, extra, err := codecs[f].read(path, v)
	if err != nil {
		return Document{}, fmt.Errorf("not the JSON of a prompt: %w", mistyped(err))
	}
	if key != fieldName {
		d.Name = extra.text(key)
	}
	if f == JSONLines {
		d.Visibility = cmp.Or(d.Visibility, string(prompt.Private))
	}
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
	is := cmp.Or(map[jsontext.Kind]string{'[': "an array", '{': "an object", '0': "a number", '"': "a string"}[wrong.JSONKind], wrong.JSONKind.String())
	return fmt.Errorf("%s is %s: want %s", cmp.Or(string(wrong.JSONPointer), "it"), is, want)
}

// kinds says what JSON a member is that is read into a kind of Go's types.
var kinds = map[reflect.Kind]string{
	reflect.String: "a string", reflect.Bool: "true or false", reflect.Int64: "a number", reflect.Float64: "a number",
	reflect.Slice: "an array", reflect.Struct: "an object", reflect.Map: "an object",
}

// formatOf returns the format of an object by its members.
func formatOf(o object) Format {
	switch {
	case o.has("lc"):
		return LangChain
	case o.has("command") && o.has("content"):
		return OpenWebUI
	case o.has("prompt"):
		return Langfuse
	case o.has("content") && !o.has("text"):
		return PromptsChat
	}
	return JSONLines
}

// contributor returns the first of those who contributed a prompt.
func (e Extra) contributor() string {
	first, _, _ := strings.Cut(e.Members.text(colContributor), ",")
	return strings.TrimSpace(first)
}
