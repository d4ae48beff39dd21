package format

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"prompthub/internal/fault"
	"prompthub/internal/jsonsize"
	"prompthub/internal/prompthub/prompt"
)

// A Format is a kind of file.
type Format string

// A codec is a kind of file: the names of its files, their structure, and how one prompt is read
// and written. Each format has one in its own file.
type codec struct {
	name Format
	path string   // of a file that Write must name, * the name
	ends []string // of the names of its files, in lower case; the longest end that fits decides
	// which of the files with such an end are meant; nil for those that no other format means
	means func(file string) bool
	// whether a file with such an end is of the format, by its content; nil for formats that are told
	// otherwise
	says func(b []byte) bool
	// whether an object of JSON is a prompt of the format; nil for formats that are told by the name
	holds func(object) bool

	unnamed bool // the name of a file does not name the prompt
	many    bool // a file is one of many prompts, be it with one in it
	list    bool // a prompt stands in a list
	front   bool // a file begins with front matter
	// comments may stand before that
	comments bool

	// What read leaves of a file's members is the extra of the document, which write puts back.
	read  func(*input) (Document, object, error)
	write func(Document, object) ([]byte, error)
	// The members of a document that come back as they were. A format loses the others, and
	// says so.
	keeps []string
}

var codecs = make(map[Format]codec)

// register makes a format known.
func register(c codec) { codecs[c.name] = c }

// An input is a file that is being read. It collects what the author of the file should know.
type input struct {
	path     string
	file     []byte
	comments bool // may stand before front matter
	warnings []Warning
}

// A Warning says what was made of a place in a file that is not as its format wants it, and how to
// write it well.
type Warning struct {
	Line int    `json:"line,omitempty"` // of the file, 0 where there is none
	Text string `json:"text"`

	note bool // of what the library makes of the file, which is written as it must be
}

// IsNote reports whether the file is as its format wants it, and the warning says what the library
// makes of it.
func (w Warning) IsNote() bool { return w.note }

// Formats returns all formats, by name.
func Formats() []Format { return slices.Sorted(maps.Keys(codecs)) }

// Names returns the names of formats, for people.
func Names(of []Format) string {
	names := make([]string, len(of))
	for i, f := range of {
		names[i] = string(f)
	}
	return strings.Join(names, ", ")
}

// Singles returns the formats whose files hold one prompt, by name.
func Singles() []Format { return slices.DeleteFunc(Formats(), Format.IsMany) }

// IsMany reports whether a file of the format is one of many prompts, be it with one in it.
func (f Format) IsMany() bool { return codecs[f].many }

// Parse returns the format of a name.
func Parse(s string) (Format, error) {
	if _, ok := codecs[Format(s)]; !ok {
		return "", fmt.Errorf("%.40q is no format: use %s", s, Names(Formats()))
	}
	return Format(s), nil
}

// MediaType returns the type of files of the format.
func (f Format) MediaType() string {
	switch path.Ext(codecs[f].path) {
	case ".md":
		return "text/markdown; charset=utf-8"
	case ".json":
		return "application/json"
	case ".yml", ".yaml":
		return "application/yaml"
	case ".csv":
		return "text/csv; charset=utf-8"
	case ".jsonl":
		return "application/jsonl"
	}
	return "text/plain; charset=utf-8"
}

// MediaTypeOf returns the type of a file of the format, which may be YAML where others are JSON.
func (f Format) MediaTypeOf(b []byte) string {
	if f == LangChain && isSaved(b) {
		return SemanticKernel.MediaType()
	}
	return f.MediaType()
}

// isJSON reports whether files of the format are JSON, or have JSON on each line.
func (f Format) isJSON() bool {
	return slices.Contains([]string{".json", ".jsonl"}, path.Ext(codecs[f].path))
}

// Loses returns the members of a document that a format cannot hold. Members of a member are named
// where the format holds that.
func (f Format) Loses() (lost []string) {
	for _, member := range everything {
		of, _, isPart := strings.Cut(member, ".")
		if member == fieldMessages { // without them the kind is lost
			continue
		}
		if !slices.Contains(codecs[f].keeps, member) && (!isPart || slices.Contains(codecs[f].keeps, of)) {
			lost = append(lost, member)
		}
	}
	return lost
}

// Path returns what to call the file of a document, so that a reader takes it for what it is.
func (f Format) Path(d Document) string {
	name := cmp.Or(prompt.Slug(d.Titled().Name), prompt.Slug(d.Titled().Title), "prompt")
	if isReserved(name) || strings.HasSuffix(codecs[f].path, "*.md") && isTaken(name) {
		name += mark
	}
	return strings.Replace(codecs[f].path, "*", name, 1)
}

// mark ends the name of a file that would be something else without it: a Markdown file of no
// prompt, or on Windows a device. No slug has it, so no other prompt has such a file.
const mark = "_"

// isReserved reports whether Windows has no file of a name, whatever it ends in.
func isReserved(name string) bool {
	name = strings.ToLower(name)
	if n := len(name); n == 4 && (name[:3] == "com" || name[:3] == "lpt") {
		return name[3] >= '1' && name[3] <= '9'
	}
	return slices.Contains([]string{"con", "prn", "aux", "nul"}, name)
}

// isTaken reports whether a Markdown file of the name is no prompt, or one of another format.
func isTaken(name string) bool {
	return slices.Contains(aboutFolders, name) || name == "skill" || name == "system"
}

// unmarked returns the name of a prompt whose file, or folder, has a name.
func unmarked(name string, isMarkdown bool) string {
	if rest, ok := strings.CutSuffix(name, mark); ok &&
		(isReserved(path.Base(rest)) || isMarkdown && isTaken(path.Base(rest))) {
		return rest
	}
	return name
}

// Read reads a file with one prompt. A prompt without a name has that of the file.
func Read(f Format, file string, b []byte) (Document, error) {
	if len(b) > MaxOne {
		return Document{}, fault.Coded(fault.Invalid, FileTooLarge,
			fmt.Sprintf("the file has more than %d bytes, which is the most for one prompt: shorten it", MaxOne))
	}
	b, warnings, err := decoded(b, f.isJSON())
	if err != nil {
		return Document{}, err
	}
	if f.isJSON() {
		b = bytes.TrimPrefix(b, bom)
	}
	if one, err := single(b); codecs[f].list && err != nil {
		return Document{}, err
	} else if codecs[f].list {
		b = one
	}
	in := &input{path: file, file: b, comments: codecs[f].comments, warnings: warnings}
	d, extra, err := codecs[f].read(in)
	if err != nil {
		return Document{}, mistyped(err)
	}
	if d.Name == "" && !codecs[f].unnamed {
		d.Name = nameOf(file)
	}
	if d.Extra = (Extra{Format: f}); len(extra) > 0 {
		d.Extra.Members = extra
	}
	d.Source, d.Warnings = nil, in.warnings
	return d.normal(), nil
}

// single returns the only value of a list, or a file that is no list as it is.
func single(b []byte) ([]byte, error) {
	list := listIn(b)
	switch {
	case list == nil:
		return b, nil
	case len(list) != 1:
		return nil, fmt.Errorf("the file has %d prompts: want 1", len(list))
	}
	return list[0].json, nil
}

// nameOf returns the name of a file without what it ends in.
func nameOf(file string) string {
	name := path.Base(file)
	if end := endOf(name); strings.Count(end, ".") > 1 {
		return unmarked(name[:len(name)-len(end)], false)
	}
	if name == "." || name == "/" {
		return ""
	}
	if rest, ok := strings.CutSuffix(name, ".md"); ok {
		return unmarked(rest, true)
	}
	return unmarked(strings.TrimSuffix(name, path.Ext(name)), false)
}

// Write returns a document as a file, and what the format could not hold of it: members of the
// document, and members that only the format that it was read from knows.
func Write(f Format, d Document) (file []byte, loss []string, err error) {
	file, _, loss, err = write(f, f.Path(d), d)
	return file, loss, err
}

// write returns the document too that the file says, as it is read back.
func write(f Format, name string, d Document) (file []byte, back Document, loss []string, err error) {
	d = d.normal()
	var extra object
	if d.Extra.Format == f {
		extra = d.Extra.Members
	}
	file, err = codecs[f].write(d, extra)
	if err != nil {
		return nil, back, nil, err
	}
	back, err = Read(f, name, file)
	if err != nil {
		return nil, back, nil, fmt.Errorf("%s cannot hold this prompt: %w", f, err)
	}
	loss = Differences(d.Titled(), back.Titled())
	if d.Extra.Format != f {
		loss = append(loss, d.Extra.names()...)
	}
	return file, back, loss, nil
}

// Rewrite returns a file with another document in it. While that says what the file says, as far as
// its format can, the bytes stay the same; else members that only the format knows are kept.
func Rewrite(f Format, name string, file []byte, d Document) (rewritten []byte, loss []string, err error) {
	was, err := Read(f, name, file)
	if err != nil {
		return nil, nil, err
	}
	return was.Rewrite(name, file, d)
}

// Rewrite is the same for a file that the document was read from.
func (was Document) Rewrite(name string, file []byte, d Document) (rewritten []byte, loss []string, err error) {
	d.Extra = was.Extra
	says := func(d Document) bool { // whether the file says that, or the library holds that of it
		return len(Differences(was.Titled(), d.Titled())) == 0 ||
			len(Differences(was.Readable().Fitted().Titled(), d.Titled())) == 0
	}
	if says(d) && was.Stays(file) {
		return file, nil, nil
	}
	rewritten, now, loss, err := write(was.Extra.Format, name, d)
	if err == nil && says(now) && was.Stays(file) {
		return file, loss, nil
	}
	return rewritten, loss, err
}

// Stays reports whether the file that the document was read from may be given away as it is: not a
// CSV file in which a program for tables finds something to compute.
func (was Document) Stays(file []byte) bool { return was.Extra.Format != CSV || !computes(file) }

// endOf returns the longest end that a format has for the name of a file, "" for none.
func endOf(file string) (end string) {
	name := strings.ToLower(path.Base(file))
	for _, c := range codecs {
		for _, e := range c.ends {
			if len(e) > len(end) && strings.HasSuffix(name, e) {
				end = e
			}
		}
	}
	return end
}

// hasMessages finds the member that every file of GitHub Models has.
var hasMessages = regexp.MustCompile(`(?m)^"?messages"?:`)

// Detect returns the format of a file by its name, or else by its content.
func Detect(file string, b []byte) (found Format) {
	end := endOf(file)
	b = bytes.TrimPrefix(b, bom)
	if end == "" {
		found = detectContent(b)
		if kind := jsontext.Value(b).Kind(); found == CSV && kind == '[' && strings.EqualFold(path.Ext(file), ".json") {
			found = JSONLines // which says where it is broken
		}
		return found
	}
	switch {
	case slices.Contains(codecs[JSONLines].ends, end) && isChat(b):
		return Messages
	case IsKernelText(file) && isKernel(b), slices.Contains(codecs[GitHubModels].ends, end) &&
		isKernel(b) && !hasMessages.Match(b):
		return SemanticKernel
	}
	for _, f := range Formats() {
		switch c := codecs[f]; {
		case !slices.Contains(c.ends, end):
		case c.says != nil:
			if c.says(b) {
				return f
			}
		case c.means == nil:
			found = cmp.Or(found, f)
		case c.means(file):
			return f
		}
	}
	return found
}

// detectContent returns the format of a content.
func detectContent(b []byte) Format {
	switch kind := jsontext.Value(b).Kind(); {
	case isChat(b):
		return Messages
	case (kind == '{' || kind == '[') && jsonsize.Parts(b) > jsonsize.Most: // too much for one prompt
		return JSONLines
	case kind == '{':
		if o, err := parseObject(b); err == nil && listIn(b) == nil {
			return formatOf(o)
		}
		return JSONLines
	case kind == '[' && listIn(b) != nil:
		return JSONLines
	case HasFrontMatter(b):
		return Markdown
	}
	return CSV
}

// formatOf returns the format of an object by its members.
func formatOf(o object) Format {
	for f, c := range codecs {
		if c.holds != nil && c.holds(o) {
			return f // no object is of two
		}
	}
	return JSONLines
}
