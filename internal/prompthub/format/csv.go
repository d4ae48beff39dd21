package format

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"prompthub/internal/prompthub/prompt"
)

// The columns of a CSV file. The first two are needed.
const (
	colTitle       = "act"
	colText        = "prompt"
	colForDevs     = "for_devs"
	colType        = "type"
	colContributor = "contributor"
)

// otherwise are names that a needed column may have where the file has none of that name.
var otherwise = map[string]string{"title": colTitle, "text": colText}

// maxHeader is how many bytes of a first line are kept with each row.
const maxHeader = 4096

// forDevs is the tag of prompts for developers.
const forDevs = "development"

// separators of columns, the usual one first.
var separators = []rune{',', ';', '\t'}

var errEmpty = errors.New("the file is empty")

// newCSV returns a reader behind the first line, and the names of the columns in lower case.
func newCSV(file []byte) (*csv.Reader, []string, error) {
	var first []string
	for _, separator := range separators {
		r := csv.NewReader(bytes.NewReader(file))
		r.Comma = separator
		header, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil, nil, errEmpty
		}
		if err != nil {
			return nil, nil, malformed(err)
		}
		if len(header) > maxMembers {
			return nil, nil, fmt.Errorf("the first line has more than %d columns", maxMembers)
		}
		if first == nil {
			first = slices.Clone(header)
		}
		for i, name := range header {
			header[i] = strings.ToLower(strings.TrimSpace(name))
		}
		for i, name := range header {
			if usual, ok := otherwise[name]; ok && !slices.Contains(header, usual) {
				header[i] = usual
			}
		}
		if slices.Contains(header, colTitle) && slices.Contains(header, colText) {
			return r, header, nil
		}
	}
	return nil, nil, fmt.Errorf("the first line is %.200q: want the columns %s and %s (or title and text), and optionally %s, %s, %s",
		strings.Join(first, ","), colTitle, colText, colForDevs, colType, colContributor)
}

// readCSV reads a CSV file. What looks like nothing else is taken for one, so where it is none its
// name, if there is one, says what it was to be.
func readCSV(name string, file []byte, key string, yield func(Row, error) bool) error {
	r, header, err := newCSV(file)
	if err != nil {
		return unread(name, err)
	}
	begin := file[:r.InputOffset()]
	for n := 1; ; n++ {
		at := r.InputOffset()
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
			row.fill(header, record, strings.ToLower(key))
			if len(begin) <= maxHeader {
				row.Source = &Source{Format: CSV, Data: slices.Concat(begin, file[at:r.InputOffset()])}
			}
		}
		if !yield(row, nil) {
			return nil
		}
	}
}

// unread says why a file is no CSV, or what else its name says it is.
func unread(name string, err error) error {
	ext := strings.ToLower(path.Ext(name))
	switch {
	case errors.Is(err, errEmpty):
		return err
	case ext == ".zip":
		return errors.New("the file is no ZIP archive, or a broken one: make it again")
	case ext == ".json":
		return errors.New("the file is no JSON")
	case ext != "" && ext != ".csv" && ext != ".tsv":
		return fmt.Errorf("no format has files that end in %.20q: take a ZIP archive, or a file that ends in .md, .markdown, .txt, .prompt, .prompty, .yml, .yaml, .json, .jsonl, .ndjson, .csv or .tsv", ext)
	}
	return err
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
	r.Visibility = string(prompt.Public)
	r.Extra.Format = CSV
	for i, value := range record {
		if !utf8.ValidString(value) {
			r.Err = fmt.Errorf("%s: is not valid UTF-8", header[i])
			return
		}
		switch header[i] {
		case colTitle:
			r.Title = strings.TrimSpace(value)
		case colText:
			r.Text = value
		case colForDevs:
			if strings.EqualFold(strings.TrimSpace(value), "true") {
				r.Tags = append([]string{forDevs}, r.Tags...)
			}
		case colType:
			if tag := strings.ToLower(strings.TrimSpace(value)); tag != "" {
				r.Tags = append(r.Tags, tag)
			}
		case key:
			r.Name = strings.TrimSpace(value)
		default:
			r.Extra.Members.put(header[i], value)
		}
	}
	r.Contributor = r.Extra.contributor()
}

// readOneCSV reads a file with one row.
func readOneCSV(_ string, file []byte) (d Document, extra object, err error) {
	n := 0
	err = readCSV("", bytes.TrimPrefix(file, bom), fieldName, func(row Row, _ error) bool {
		n++
		d, extra, err = row.Document, row.Extra.Members, row.Err
		return true
	})
	if err == nil && n != 1 {
		err = fmt.Errorf("the file has %d prompts: want 1", n)
	}
	d.Extra = Extra{}
	return d, extra, err
}

// writeCSV writes the first line and one row.
func writeCSV(d Document, extra object) ([]byte, error) {
	tags := slices.Clone(d.Tags)
	devs := slices.Contains(tags, forDevs)
	tags = slices.DeleteFunc(tags, func(tag string) bool { return tag == forDevs })
	kind := ""
	if len(tags) > 0 {
		kind = strings.ToUpper(tags[0])
	}
	header := []string{colTitle, colText, colForDevs, colType}
	record := []string{d.Titled().Title, d.words(), strings.ToUpper(fmt.Sprint(devs)), kind}
	if d.Name != "" {
		header, record = append(header, fieldName), append(record, d.Name)
	}
	for _, m := range extra {
		header, record = append(header, m.name), append(record, extra.text(m.name))
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	err := w.WriteAll([][]string{header, record})
	return b.Bytes(), err
}
