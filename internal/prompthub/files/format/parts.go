package format

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"prompthub/internal/fault"
	"prompthub/internal/jsonsize"
	"prompthub/internal/prompthub/prompt"
)

// A Part is the place of one prompt in a file. It holds nothing but that, so that a program can
// look through a file and read its prompts one at a time.
type Part struct {
	Number int    // from 1; the header of a CSV file is not counted
	Line   int    // of the file, where the part begins
	Path   string // of the file, where it is one of many
	Bytes  []byte // those of the file itself

	format Format
	file   string    // its name
	whole  []byte    // the whole file, where the part is the only one in it
	name   string    // in its column, of CSV
	table  *csvTable // of CSV
	key    string    // what the member with the name is called, of JSON
	err    error     // why the part is no prompt
	called string    // what the prompt must be called where another file has its name
	folder *skillFolder

	warnings []Warning // of the file, which concern the part
}

// Parts returns where the prompts of a file stand, as Rows returns them.
func Parts(file string, b []byte, key string) iter.Seq2[Part, error] {
	key = cmp.Or(key, fieldName)
	if len(b) > MaxFile {
		return broken(fault.Coded(fault.Invalid, FileTooLarge,
			fmt.Sprintf("the file has more than %d bytes: split it", MaxFile)))
	}
	f := Detect(file, b)
	text, warnings, err := decoded(b, f == JSONLines)
	switch {
	case errors.Is(err, errBinary) && endOf(file) == "":
		return broken(unread(file, b, err))
	case errors.Is(err, errNoUTF8) && f.IsMany(): // which rows and lines tell of themselves
		text, err = b, nil
	case err != nil && f.IsMany():
		return broken(err)
	}
	if endOf(file) == "" && err == nil {
		f = Detect(file, text)
	}
	switch f {
	case CSV:
		return sole(file, b, func(yield func(Part, error) bool) {
			concerned := func(part Part, err error) bool {
				if bytes.ContainsFunc(part.Bytes, func(r rune) bool { return r >= utf8.RuneSelf }) {
					part.warnings = warnings
				}
				return yield(part, err)
			}
			if err := partsOfCSV(file, bytes.TrimPrefix(text, bom), key, concerned); err != nil {
				yield(Part{}, err)
			}
		})
	case JSONLines:
		if jsonsize.Parts(text) > MaxParts {
			return broken(fault.Coded(fault.Invalid, jsonsize.TooManyParts,
				fmt.Sprintf("the JSON of the file has more than %d elements and members: split it", MaxParts)))
		}
		return sole(file, b, partsOfJSON(bytes.TrimPrefix(text, bom), key))
	default:
		part := Part{Number: 1, Line: 1, Bytes: b, format: f, file: file}
		return func(yield func(Part, error) bool) { yield(part, nil) }
	}
}

func broken(err error) iter.Seq2[Part, error] {
	return func(yield func(Part, error) bool) { yield(Part{}, err) }
}

// PartsOf returns the parts of files, in their order. A file that is broken says so when its
// part is read.
func PartsOf(files []File, key string) iter.Seq2[Part, error] {
	return func(yield func(Part, error) bool) {
		n := 0
		called := Called(files, nil)
		for _, f := range files {
			for part, err := range Parts(f.Path, f.Bytes, key) {
				n++
				part.Number, part.Path, part.called = n, f.Path, called[f.Path]
				part.folder = f.folder
				part.err = cmp.Or(err, part.err)
				if !yield(part, nil) {
					return
				}
			}
		}
	}
}

// Called returns what prompts must be called whose files say the name of another one, by their
// paths: with the folder that tells the two apart. The first has the name, and before it those that
// are known for it, and then skills with other files, which are called as their SKILL.md says.
// Where no folder does, a number tells them apart, but only of files of which none is known: any
// other may be one that was moved.
func Called(files []File, known func(path string) bool) map[string]string {
	called, taken := make(map[string]string), make(map[string]string)
	name := func(f File) string {
		as := Detect(f.Path, f.Bytes)
		if as.IsMany() {
			return ""
		}
		return Part{format: as, file: f.Path, Bytes: f.Bytes}.Name()
	}
	id := func(name string) string { return cmp.Or(prompt.Slug(name), name) }
	var others []File
	rank := func(f File) int {
		switch {
		case known != nil && known(f.Path):
			return 0
		case f.isTogether:
			return 1
		}
		return 2
	}
	for turn := range 3 {
		for _, f := range files {
			if rank(f) != turn {
				continue
			}
			if key := id(name(f)); key == "" {
				continue
			} else if taken[key] != "" {
				others = append(others, f)
			} else {
				taken[key] = f.Path
			}
		}
	}
	for _, f := range others {
		own := name(f)
		other := apart(own, f.Path, taken[id(own)], func(name string) bool { return taken[id(name)] == "" })
		for n := 2; taken[id(other)] != "" && known == nil; n++ {
			other = fmt.Sprintf("%s-%d", own, n)
		}
		if taken[id(other)] != "" {
			continue
		}
		called[f.Path], taken[id(other)] = other, f.Path
	}
	return called
}

// apart returns a name with the nearest folder of a file that another one is not in, at the same
// distance, and with which the name is free; the name as it is if there is none.
func apart(name, file, other string, free func(name string) bool) string {
	for dir, than := path.Dir(file), path.Dir(other); dir != "."; dir, than = path.Dir(dir), path.Dir(than) {
		last := strings.Trim(path.Base(dir), ". ")
		if with := last + "/" + name; path.Base(dir) != path.Base(than) && last != "" && free(with) {
			return with
		}
	}
	return name
}

// sole gives the only part of a file the whole file, for it to be the source where its format reads
// that.
func sole(file string, b []byte, parts iter.Seq2[Part, error]) iter.Seq2[Part, error] {
	return func(yield func(Part, error) bool) {
		var first *Part // while it may be the only one
		n := 0
		for part, err := range parts {
			part.file = file
			if n++; n == 1 && err == nil {
				first = &part
				continue
			}
			if first != nil && !yield(*first, nil) || !yield(part, err) {
				return
			}
			first = nil
		}
		if first != nil {
			first.whole = b
			yield(*first, nil)
		}
	}
}

// Place says where the part is.
func (p Part) Place() string { return placeOf(p.Path, p.Line) }

func placeOf(file string, line int) string {
	if file != "" && line == 0 {
		return file
	}
	if file != "" {
		return fmt.Sprintf("%s, line %d", file, line)
	}
	return fmt.Sprintf("line %d", line)
}

// Row reads the prompt.
func (p Part) Row() Row {
	row := Row{Number: p.Number, Line: p.Line, Path: p.Path, Err: p.err}
	switch {
	case p.err != nil:
		return row
	case p.table != nil:
		p.table.read(p.Bytes, &row)
	case p.format == JSONLines:
		row.Document, row.Err = readValue(p.file, p.Line, p.Bytes, p.key)
		if s := row.Source; p.whole != nil && s != nil && row.Name == "" &&
			p.key == fieldName && !codecs[s.Format].many {
			row.Name = nameOf(p.file)
		}
	default:
		row.Document, row.Err = Read(p.format, p.file, p.Bytes)
		row.Source = &Source{Format: p.format, Data: p.Bytes}
	}
	row.Warnings = append(slices.Clone(p.warnings), row.Warnings...)
	if p.called != "" {
		row.Warnings = append(row.Warnings,
			Warning{Text: fmt.Sprintf("another file is called %.100q, and this one is called %.100q here",
				row.Name, p.called), note: true})
		row.Name = p.called
	}
	if p.folder != nil && row.Err == nil {
		row.Files, row.Err = p.folder.with(p.Bytes), p.folder.err
	}
	if s := row.Source; s != nil {
		s.File = p.file
		if p.whole != nil {
			if _, err := Read(s.Format, p.file, p.whole); err == nil {
				s.Data = p.whole
			}
		}
	}
	return row
}

// Size returns how many bytes the part has, with those of files that come with it.
func (p Part) Size() int {
	if p.folder == nil {
		return len(p.Bytes)
	}
	return len(p.Bytes) + p.folder.size
}

// Weight tells what reading the part costs most: how many of its bytes are YAML, and how many parts
// its YAML or JSON has, or fields if it is a row of CSV.
func (p Part) Weight() (yaml, parts int) {
	if p.table != nil {
		return 0, len(p.table.header)
	}
	return weightOf(p.format, p.Bytes)
}

// IsJSON reports whether the part is JSON.
func (p Part) IsJSON() bool { return p.table == nil && p.format.isJSON() }

// Check refuses a part whose JSON has more than is read of a caller.
func (p Part) Check() error {
	if p.IsJSON() {
		return jsonsize.Check(p.Bytes)
	}
	return nil
}

// yamlName is the name that front matter, or a file of YAML, gives in a line of its own.
var yamlName = regexp.MustCompile(`^name:[ \t]*(?:"([^"\n]*)"|'([^'\n]*)'|([^\s#"'][^\n#]*))`)

// Name returns what the prompt seems to be called, without reading all of it: enough to tell which
// part others wait for.
func (p Part) Name() string {
	switch {
	case p.called != "":
		return p.called
	case p.table != nil:
		return p.name
	case p.format == JSONLines:
		return nameIn(p.Bytes)
	case slices.Contains([]Format{Agent, Instructions, ChatMode, CursorRule}, p.format): // which say a title
		return nameOf(p.file)
	}
	y := yamlOf(p.format, p.Bytes)
	if at := bytes.Index(y, []byte("\nname:")); at >= 0 && !bytes.HasPrefix(y, []byte("name:")) {
		y = y[at+1:]
	}
	if m := yamlName.FindSubmatch(y); m != nil {
		return strings.TrimSpace(string(slices.Concat(m[1:]...)))
	}
	switch p.format {
	case Skill, Fabric:
		return folder(p.file)
	case SemanticKernel:
		if IsKernelText(p.file) {
			return folder(p.file)
		}
	case Command:
		return commandOf(p.file)
	}
	return nameOf(p.file)
}

// nameIn returns what the first member of an object says that names a prompt.
func nameIn(o []byte) (found string) {
	d := decoder(o)
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return ""
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadValue()
		if err != nil {
			return found
		}
		switch string(name) {
		case `"name"`, `"command"`, `"slug"`:
			isName := len(name) == len(`"name"`)
			t, err := d.ReadToken()
			if err != nil || t.Kind() != '"' {
				return found
			}
			if isName {
				return t.String()
			}
			found = cmp.Or(found, strings.TrimPrefix(t.String(), "/"))
		default:
			if err := d.SkipValue(); err != nil {
				return found
			}
		}
	}
	return found
}

// Includes returns the names of what the prompt seems to include, in the same way.
func (p Part) Includes() []string {
	if p.format == JSONLines {
		return IncludesOf(p.Bytes)
	}
	return includesOf(p.Bytes)
}

// IncludesOf returns the names of what the texts in JSON seem to include.
func IncludesOf(text []byte) (names []string) {
	for _, name := range includesOf(text) {
		if b, err := jsontext.AppendUnquote(nil, `"`+name+`"`); err == nil {
			name = string(b)
		}
		names = append(names, name)
	}
	return names
}

func includesOf(text []byte) (names []string) {
	if !bytes.Contains(text, []byte("@@@")) {
		return nil
	}
	for _, i := range (prompt.Content{Text: string(text)}).Includes() {
		names = append(names, i.Name)
	}
	return names
}

// A csvTable is what the rows of a CSV file have in common.
type csvTable struct {
	begin     []byte // the first line
	header    []string
	separator rune
	spaces    bool   // whether spaces before a field are none of it
	key       string // the column of names
}

// partsOfCSV finds the rows of a CSV file. A file that looks like nothing else is taken for CSV, so
// where it is none its name, if there is one, says what it should be.
func partsOfCSV(name string, file []byte, key string, yield func(Part, error) bool) error {
	file = unixLines(file)
	r, header, err := newCSV(file)
	if err != nil {
		return unread(name, file, err)
	}
	table := &csvTable{
		begin: file[:r.InputOffset()], header: header, separator: r.Comma,
		spaces: r.TrimLeadingSpace, key: strings.ToLower(key),
	}
	column := slices.Index(header, table.key)
	for n := 1; ; n++ {
		at := r.InputOffset()
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return malformed(err)
		}
		record, fits := fitted(record, len(header))
		part := Part{Number: n, Line: r.read, Bytes: file[at:r.InputOffset()], format: CSV, table: table}
		switch {
		case !fits:
			part.err = fmt.Errorf(
				"has %d fields, the first line has %d: put quotes around a text that has the separator in it",
				len(record), len(header))
		case column >= 0:
			part.name = strings.Clone(strings.TrimSpace(unescaped(record[column])))
		}
		if !yield(part, nil) {
			return nil
		}
	}
}

// fitted returns a row with as many fields as the first line has: programs for tables leave out
// empty fields at the end, or add some. It reports false for a row with more in it.
func fitted(record []string, n int) ([]string, bool) {
	for len(record) > n && strings.TrimSpace(record[len(record)-1]) == "" {
		record = record[:len(record)-1]
	}
	if short := n - len(record); short > 0 {
		record = append(slices.Clip(record), make([]string, short)...)
	}
	return record, len(record) == n
}

// read reads a row.
func (t *csvTable) read(b []byte, row *Row) {
	r := csv.NewReader(bytes.NewReader(b))
	r.Comma, r.FieldsPerRecord, r.TrimLeadingSpace, r.LazyQuotes = t.separator, -1, t.spaces, true
	record, err := r.Read()
	record, _ = fitted(record, len(t.header))
	if err != nil { // unreachable: it was read before
		row.Err = err
		return
	}
	row.fill(t.header, record, t.key)
	if len(t.begin) <= maxHeader {
		row.Source = &Source{Format: CSV, Data: slices.Concat(t.begin, b)}
	}
}

// partsOfJSON finds objects, one on each line or not, or a list of them.
func partsOfJSON(file []byte, key string) iter.Seq2[Part, error] {
	list := listIn(file)
	if first, _, _ := bytes.Cut(bytes.TrimSpace(file), newline); list == nil &&
		!jsontext.Value(bytes.TrimSpace(first)).IsValid(twice) {
		// no lines of JSON
		if list = objects(file); list == nil &&
			(bytes.HasPrefix(first, []byte("[")) || len(bytes.Trim(first, " \t\r{")) == 0) {
			err := syntaxOfJSON(file)
			return broken(fmt.Errorf("the file is no JSON: %w", whyNoJSON(file, 1, err)))
		}
	}
	if len(list) > MaxRows {
		return broken(fault.Coded(fault.Invalid, TooManyEntries,
			fmt.Sprintf("there are more than %d prompts in the list: take a part of them", MaxRows)))
	}
	return func(yield func(Part, error) bool) {
		part := Part{format: JSONLines, key: key}
		for _, v := range list {
			part.Number++
			part.Line, part.Bytes = v.line, v.json
			if !yield(part, nil) {
				return
			}
		}
		if list != nil {
			return
		}
		for line := range bytes.Lines(file) {
			part.Line++
			if len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			part.Number++
			if part.Bytes = line; !yield(part, nil) {
				return
			}
		}
	}
}

// A value is one of a file, and has the bytes of that.
type value struct {
	json jsontext.Value
	line int
}

// twice lets names stand in an object twice. To look for that takes memory for each name; a part
// that is only looked over is read once more before it becomes a prompt, and then it is an error.
var twice = jsontext.AllowDuplicateNames(true)

// decoder reads a file where it is, without a copy.
func decoder(file []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(file), twice)
}

// listIn returns the values of a list, or of that in the only member prompts or data of an object,
// or one of the other lists; nil where the file is something else.
func listIn(file []byte) []value {
	whole := jsontext.Value(file)
	switch kind := whole.Kind(); {
	case kind != '{' && kind != '[', !whole.IsValid(twice):
		return nil
	case kind == '[':
		return elements(decoder(file), file)
	}
	return listBelow(decoder(file), file, true)
}

// listBelow returns the list in the only member prompts, or else data, of the object that comes
// next in a file, or in the member prompts of the member data of that.
func listBelow(d *jsontext.Decoder, file []byte, outer bool) []value {
	lists := make(map[string][]value)
	_, err := d.ReadToken()
	for n := 0; err == nil && d.PeekKind() != '}'; n++ {
		var t jsontext.Token
		if t, err = d.ReadToken(); err != nil || n == maxMembers {
			return nil
		}
		name := t.String()
		switch kind := d.PeekKind(); {
		case (name == "prompts" || outer && slices.Contains(listMembers, name)) && kind == '[':
			if lists[name] != nil {
				return nil
			}
			if lists[name] = elements(d, file); len(lists[name]) > MaxRows {
				return lists[name]
			}
		case name == "data" && kind == '{' && outer:
			lists[name] = listBelow(d, file, false)
		default:
			err = d.SkipValue()
		}
	}
	if err == nil {
		_, err = d.ReadToken()
	}
	if prompts := lists["prompts"]; prompts != nil && err == nil {
		return prompts
	}
	for _, name := range listMembers[1:] {
		if list := lists[name]; len(list) > 0 && err == nil {
			if o, err := parseObject(list[0].json); err == nil && o.saysPrompt() {
				return list
			}
		}
	}
	return lists["data"]
}

// listMembers are members other than prompts in which programs have lists of prompts. For each
// after the first, the first element tells whether its list has prompts.
var listMembers = []string{"data", "items", "results", "templates", "presets", "groups", "masks"}

// elements returns those of the list that comes next in a file, and no further ones if they are too
// many.
func elements(d *jsontext.Decoder, file []byte) []value {
	if _, err := d.ReadToken(); err != nil {
		return nil
	}
	all := []value{}
	line, at := 1, 0
	for d.PeekKind() != ']' {
		if len(all) > MaxRows {
			return all
		}
		v, err := d.ReadValue()
		if err != nil {
			return nil
		}
		end := int(d.InputOffset())
		begin := end - len(v)
		line, at = line+bytes.Count(file[at:begin], newline), begin
		all = append(all, value{file[begin:end:end], line})
	}
	if _, err := d.ReadToken(); err != nil {
		return nil
	}
	return all
}

var newline = []byte("\n")

// objects returns the values that stand one after another in a file, and not all where they are too
// many; nil where one is broken.
func objects(file []byte) (all []value) {
	d := decoder(file)
	line, at := 1, 0
	for len(all) <= MaxRows {
		v, err := d.ReadValue()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			return nil
		}
		end := int(d.InputOffset())
		begin := end - len(v)
		line, at = line+bytes.Count(file[at:begin], newline), begin
		all = append(all, value{file[begin:end:end], line})
	}
	return all
}
