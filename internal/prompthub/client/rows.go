package client

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// A Row is one prompt of a file.
type Row struct {
	Number int // from 1; the header of a CSV file is not counted
	Line   int // of the file, where the row begins
	Draft
	Contributor string // the first one, "" where none is named
	Name        string // what the file calls it, "" for nothing
	Err         error  // why the row is no prompt
}

// Units returns how long the text is, as limits count.
func (r Row) Units() int { return len(utf16.Encode([]rune(r.Text))) }

// Rows returns the rows of a file: JSON Lines where it begins with a brace, else CSV. A row that
// cannot be read has its Err set and others follow; where the rest of the file cannot be trusted
// either, the last thing returned is an error. The names are in the column or member key, or name
// where that is empty.
func Rows(file []byte, key string) iter.Seq2[Row, error] {
	file = bytes.TrimPrefix(file, []byte("\ufeff"))
	key = cmp.Or(key, "name")
	if bytes.HasPrefix(bytes.TrimSpace(file), []byte("{")) {
		return lines(file, key)
	}
	return func(yield func(Row, error) bool) {
		if err := readCSV(file, key, yield); err != nil {
			yield(Row{}, err)
		}
	}
}

// lines reads JSON Lines as export writes them. Members that a draft does not have are ignored.
func lines(file []byte, key string) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		row := Row{}
		for line := range bytes.Lines(file) {
			row.Line++
			if len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			row.Number++
			row.Draft, row.Name, row.Err = decode(line, key)
			if !yield(row, nil) {
				return
			}
		}
	}
}

func decode(line []byte, key string) (d Draft, name string, err error) {
	d.Visibility = "private"
	if err := json.Unmarshal(line, &d); err != nil {
		return Draft{}, "", fmt.Errorf("not the JSON of a prompt: %w", err)
	}
	var all map[string]any
	if err := json.Unmarshal(line, &all); err != nil {
		return Draft{}, "", fmt.Errorf("not the JSON of a prompt: %w", err)
	}
	name, _ = all[key].(string)
	return d, name, nil
}

// The columns of a CSV file. The first two are needed.
const (
	colTitle       = "act"
	colText        = "prompt"
	colForDevs     = "for_devs"
	colType        = "type"
	colContributor = "contributor"
)

func readCSV(file []byte, key string, yield func(Row, error) bool) error {
	r := csv.NewReader(bytes.NewReader(file))
	header, err := r.Read()
	if errors.Is(err, io.EOF) {
		return errors.New("the file is empty")
	}
	if err != nil {
		return malformed(err)
	}
	if !slices.Contains(header, colTitle) || !slices.Contains(header, colText) {
		return fmt.Errorf("the first line is %.200q: want the columns %s and %s, and optionally %s, %s, %s",
			strings.Join(header, ","), colTitle, colText, colForDevs, colType, colContributor)
	}
	for n := 1; ; n++ {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		short := errors.Is(err, csv.ErrFieldCount)
		if err != nil && !short {
			return malformed(err)
		}
		line, _ := r.FieldPos(0)
		row := Row{Number: n, Line: line}
		if short {
			row.Err = fmt.Errorf("has %d fields, the first line has %d", len(record), len(header))
		} else {
			row.fill(header, record, key)
		}
		if !yield(row, nil) {
			return nil
		}
	}
}

// malformed says where quoting is broken: what follows may be the middle of a text.
func malformed(err error) error {
	var p *csv.ParseError
	if errors.As(err, &p) {
		return fmt.Errorf("line %d, column %d: %w, in the row that begins on line %d", p.Line, p.Column, p.Err, p.StartLine)
	}
	return err
}

func (r *Row) fill(header, record []string, key string) {
	r.Visibility = "public"
	for i, value := range record {
		if !utf8.ValidString(value) {
			r.Err = fmt.Errorf("%s: is not valid UTF-8", header[i])
			return
		}
		if header[i] == key {
			r.Name = strings.TrimSpace(value)
		}
		switch header[i] {
		case colTitle:
			r.Title = strings.TrimSpace(value)
		case colText:
			r.Text = value
		case colForDevs:
			if strings.EqualFold(strings.TrimSpace(value), "true") {
				r.Tags = append([]string{"development"}, r.Tags...)
			}
		case colType:
			if tag := strings.ToLower(strings.TrimSpace(value)); tag != "" {
				r.Tags = append(r.Tags, tag)
			}
		case colContributor:
			first, _, _ := strings.Cut(value, ",")
			r.Contributor = strings.TrimSpace(first)
		}
	}
}
