package format

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"prompthub/internal/fault"
	"prompthub/internal/jsonsize"
)

// CSV is the prompts.csv of prompts.chat. Line ends in texts become single line feeds.
const CSV Format = "csv"

func init() {
	register(codec{
		name: CSV, path: "*.csv", ends: []string{".csv", ".tsv"}, many: true, unnamed: true,
		read: readOneCSV, write: writeCSV,
		keeps: []string{fieldName, fieldTitle, fieldDescription},
	})
}

// The columns of a CSV file. The first two are needed.
const (
	colTitle       = "act"
	colText        = "prompt"
	colForDevs     = "for_devs"
	colType        = "type"
	colContributor = "contributor"
)

// Names that the needed columns may have; the first of them that the file has counts.
var (
	titleColumns = []string{colTitle, "title", "name", "prompt name", "prompt_name", "prompt title"}
	textColumns  = []string{
		colText, "text", "content", "prompt text", "prompt_text",
		"template", "instructions", "body",
	}
)

// maxHeader is how many bytes of a first line are kept with each row.
const maxHeader = 4096

// forDevs is the tag of prompts for developers.
const forDevs = "development"

// separators of columns, the usual one first.
var separators = []rune{',', ';', '\t'}

var errEmpty = errors.New("the file is empty")

// A csvReader reads rows of a bounded number of fields: each takes 24 bytes and more, and may have
// one in the file.
type csvReader struct {
	*csv.Reader
	file   []byte
	before int // bytes of the file before what the Reader reads
	lines  int // of these
	fields int // of the first line; 0 while that is read
	read   int // the line with which the last row begins
}

// over has the Reader read the rest of the file, after some bytes of it.
func (r *csvReader) over(at int) {
	comma, spaces := r.Comma, r.TrimLeadingSpace
	r.Reader = csv.NewReader(bytes.NewReader(r.file[at:]))
	r.before, r.lines = at, r.lines+bytes.Count(r.file[r.before:at], newline)
	r.Comma, r.TrimLeadingSpace, r.FieldsPerRecord, r.ReuseRecord = comma, spaces, -1, true
}

// InputOffset returns where in the file the next row begins.
func (r *csvReader) InputOffset() int { return r.before + int(r.Reader.InputOffset()) }

// Read reads the next row. A quote in the middle of a cell is a part of it, if the row is one line.
func (r *csvReader) Read() ([]string, error) {
	at := r.InputOffset()
	if fields(r.file[at:], byte(r.Comma)) > maxMembers {
		return nil, errFields
	}
	record, err := r.Reader.Read()
	var broken *csv.ParseError
	if errors.As(err, &broken) && r.fields > 0 && broken.StartLine == broken.Line {
		return r.line(at, broken)
	}
	if err == nil {
		line, _ := r.FieldPos(0)
		r.read = r.lines + line
	} else if broken != nil {
		broken.Line, broken.StartLine = broken.Line+r.lines, broken.StartLine+r.lines
	}
	return record, err
}

// line reads a line whose quotes are not as they must be. One with a quote that nothing closes may
// be the beginning of a text of several lines.
func (r *csvReader) line(at int, broken *csv.ParseError) ([]string, error) {
	for at < len(r.file) && (r.file[at] == '\n' || r.file[at] == '\r') {
		at++
	}
	n := bytes.IndexByte(r.file[at:], '\n') + 1
	if n == 0 {
		n = len(r.file) - at
	}
	text := r.file[at : at+n]
	lazy := csv.NewReader(bytes.NewReader(text))
	lazy.Comma, lazy.TrimLeadingSpace, lazy.FieldsPerRecord, lazy.LazyQuotes = r.Comma, r.TrimLeadingSpace, -1, true
	record, err := lazy.Read()
	if err != nil || len(record) != r.fields ||
		!errors.Is(broken.Err, csv.ErrBareQuote) && bytes.Count(text, []byte(`"`))%2 == 1 {
		broken.Line, broken.StartLine = broken.Line+r.lines, broken.StartLine+r.lines
		return nil, broken
	}
	r.read = r.lines + bytes.Count(r.file[r.before:at], newline) + 1
	r.over(at + n)
	return record, nil
}

var errFields = fault.Coded(fault.Invalid, jsonsize.TooManyParts,
	fmt.Sprintf("a row has more than %d fields: put quotes around texts with separators", maxMembers))

// fields returns how many fields the first row of a CSV file has, if its quotes are as they must
// be.
func fields(file []byte, separator byte) int {
	n, quoted, empty := 1, false, true
	for _, c := range file {
		switch {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == separator:
			n++
		case c == '\n' && !empty:
			return n
		}
		empty = empty && (c == '\n' || c == '\r')
	}
	return n
}

// excelSeparator is the line by which Excel is told what parts the columns of a file.
var excelSeparator = regexp.MustCompile(`^(?i:sep)=([,;\t|])\r?\n`)

// unixLines returns a file whose lines end with a carriage return alone, as those of old programs
// do, with line feeds.
func unixLines(file []byte) []byte {
	if bytes.IndexByte(file, '\n') < 0 && bytes.IndexByte(file, '\r') >= 0 {
		return bytes.ReplaceAll(file, []byte("\r"), newline)
	}
	return file
}

// A noColumns says that a file has not the columns of prompts.
type noColumns struct{ error }

// newCSV returns a reader after the first line, and the names of the columns in lower case.
func newCSV(file []byte) (*csvReader, []string, error) {
	var first []string
	all, begin := separators, 0
	if m := excelSeparator.FindSubmatch(file); m != nil {
		all, begin = []rune{rune(m[1][0])}, len(m[0])
	}
	for _, separator := range all {
		r := &csvReader{
			Reader: &csv.Reader{Comma: separator, TrimLeadingSpace: hasSpaces(file[begin:], separator)},
			file:   file,
		}
		r.over(begin)
		header, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil, nil, errEmpty
		}
		if err != nil {
			return nil, nil, malformed(err)
		}
		header = slices.Clone(header)
		if first == nil {
			first = slices.Clone(header)
		}
		for i, name := range header {
			header[i] = strings.ToLower(strings.TrimSpace(unescaped(name)))
		}
		rename(header, titleColumns)
		rename(header, textColumns)
		if slices.Contains(header, colTitle) && slices.Contains(header, colText) {
			r.fields = len(header)
			return r, header, nil
		}
	}
	return nil, nil, noColumns{fmt.Errorf("the first line is %.200q: want the columns %s and %s (or title and text, or name and content), and optionally %s, %s, %s, %s, %s",
		strings.Join(first, ","), colTitle, colText, fieldDescription, fieldTags, colForDevs, colType, colContributor)}
}

// rename gives the first column that has one of some names the first of these.
func rename(header, names []string) {
	for _, name := range names {
		if i := slices.Index(header, name); i >= 0 {
			header[i] = names[0]
			return
		}
	}
}

// hasSpaces reports whether a file has spaces between separators and quotes, and is no CSV unless
// these are left out.
func hasSpaces(file []byte, separator rune) bool {
	if !bytes.Contains(file, []byte(string(separator)+` "`)) {
		return false
	}
	r := csvReader{Reader: &csv.Reader{Comma: separator}, file: file}
	r.over(0)
	for {
		if _, err := r.Read(); err != nil {
			return errors.Is(err, csv.ErrBareQuote) || errors.Is(err, csv.ErrQuote)
		}
	}
}

// unread says why a file is no CSV, or what else its name says it is.
func unread(name string, file []byte, err error) error {
	ext := strings.ToLower(path.Ext(name))
	switch {
	case errors.Is(err, errEmpty):
		return err
	case ext == ".zip":
		return errors.New("the file is no ZIP archive, or a broken one: make it again")
	case ext == ".json":
		why := syntaxOfJSON(file)
		if errors.Is(why, io.EOF) {
			return errors.New("the file holds no prompts: want an object, or a list of objects")
		}
		return fmt.Errorf("the file is no JSON: %w", whyNoJSON(file, 1, why))
	case ext != "" && ext != ".csv" && ext != ".tsv":
		return fmt.Errorf("no format has files that end in %.20q: take a ZIP archive, or a file that ends in .md, .markdown, .txt, .prompt, .prompty, .yml, .yaml, .json, .jsonl, .ndjson, .csv or .tsv", ext)
	}
	return err
}

// malformed says where quoting is broken: the rest of the file may be the middle of a text.
func malformed(err error) error {
	var p *csv.ParseError
	if errors.As(err, &p) {
		return fmt.Errorf("line %d, column %d: %w, in the row that begins on line %d", p.Line,
			p.Column, p.Err, p.StartLine)
	}
	return err
}

// tag adds a tag that the row does not have yet.
func (r *Row) tag(tag string) {
	if tag != "" && !slices.Contains(r.Tags, tag) {
		r.Tags = append(r.Tags, tag)
	}
}

func (r *Row) fill(header, record []string, key string) {
	r.Extra.Format = CSV
	for i, value := range record {
		if !utf8.ValidString(value) {
			r.Err = fmt.Errorf("%s: is not valid UTF-8", header[i])
			return
		}
		switch value = unescaped(value); header[i] {
		case colTitle:
			r.Title = strings.TrimSpace(value)
		case colText:
			r.Text = value
		case colForDevs:
			if strings.EqualFold(strings.TrimSpace(value), "true") {
				r.Tags = append([]string{forDevs},
					slices.DeleteFunc(r.Tags, func(tag string) bool { return tag == forDevs })...)
			}
		case colType:
			r.tag(strings.ToLower(strings.TrimSpace(value)))
		case fieldDescription:
			r.Description = strings.TrimSpace(value)
		case fieldTags:
			for _, tag := range tagsOfLine(value) {
				r.tag(tag)
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
func readOneCSV(in *input) (d Document, extra object, err error) {
	n := 0
	err = partsOfCSV("", bytes.TrimPrefix(in.file, bom), fieldName, func(part Part, _ error) bool {
		if n++; n == 1 {
			row := Row{Err: part.err}
			if part.err == nil {
				part.table.read(part.Bytes, &row)
			}
			d, extra, err = row.Document, row.Extra.Members, row.Err
		}
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
	all := slices.Concat(d.Tags, d.OwnTags)
	tags := slices.Clone(all)
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
	if d.Description != "" {
		header, record = append(header, fieldDescription), append(record, d.Description)
	}
	if len(tags) > 1 || len(d.OwnTags) > 0 { // the type has one, in capitals
		header, record = append(header, fieldTags), append(record, strings.Join(all, ", "))
	}
	for _, m := range extra {
		header, record = append(header, m.name), append(record, extra.text(m.name))
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	for _, line := range [][]string{header, record} {
		for i, cell := range line {
			line[i] = escaped(cell)
		}
		if err := w.Write(line); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// isFormula reports whether a program for tables may compute a cell in place of showing it.
func isFormula(cell string) bool { return cell != "" && strings.Contains("=+-@\t\r", cell[:1]) }

// escaped returns a cell that programs for tables show as it is: with an apostrophe before what
// they would compute. A cell that has apostrophes there already gets one more, so that unescaped is
// the way back for any text.
func escaped(cell string) string {
	if isFormula(strings.TrimLeft(cell, "'")) {
		return "'" + cell
	}
	return cell
}

// unescaped is the other way.
func unescaped(cell string) string {
	if rest, ok := strings.CutPrefix(cell, "'"); ok && isFormula(strings.TrimLeft(rest, "'")) {
		return rest
	}
	return cell
}

// computes reports whether a CSV file has a cell that a program for tables may compute.
func computes(file []byte) bool {
	r, header, err := newCSV(unixLines(bytes.TrimPrefix(file, bom)))
	if err != nil || slices.ContainsFunc(header, isFormula) {
		return true
	}
	for {
		switch record, err := r.Read(); {
		case errors.Is(err, io.EOF):
			return false
		case err != nil, slices.ContainsFunc(record, isFormula):
			return true
		}
	}
}
