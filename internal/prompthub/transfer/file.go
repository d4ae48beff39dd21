package transfer

import (
	"context"
	"fmt"
	"mime"
	"path"
	"slices"
	"strings"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/files/skill"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

// A File is a prompt as a file of another program.
type File struct {
	Bytes       []byte
	Type        string
	Disposition string
	Loss        []string // what of the prompt it cannot hold
}

// FileOf returns a prompt in a format, with its text in a syntax where one is named: the file that
// its version was made of, byte for byte, where that is of the format and still says what the
// prompt is; else one that is written anew, with what only the format knows put back, and with
// placeholders that the program of the format fills in. format.Library leaves these as they are.
func FileOf(ctx context.Context, s *library.Service, v library.View, name, syntax string) (File, error) {
	f, err := format.Parse(name)
	if err != nil {
		return File{}, invalidFormat(name, err)
	}
	to, err := syntaxOf(syntax)
	if err != nil {
		return File{}, err
	}
	p, err := storedOf(ctx, s, v)
	if err != nil {
		return File{}, err
	}
	b, loss, err := p.encode(f, to)
	if f == format.Skill && len(v.Files) > 0 {
		b, err = p.skillFile(ctx, s, to)
	}
	if err != nil {
		return File{}, invalidFormat(name, err)
	}
	return File{b, f.MediaTypeOf(b), Attachment(path.Base(f.Path(p.doc))), loss}, nil
}

// skillFile returns the SKILL.md of a version with files, byte for byte where no syntax is asked
// for.
func (p stored) skillFile(ctx context.Context, s *library.Service, to format.Syntax) ([]byte, error) {
	folder, err := s.FolderOf(ctx, p.View, prompt.SkillFile)
	if err != nil {
		return nil, err
	}
	b := folder.Contents[0].Bytes
	if to == "" || to == format.Library {
		return b, nil
	}
	d, err := p.doc.In(to)
	return skill.WithText(b, d.Text), err
}

// An Offer is a format in which a prompt can be had.
type Offer struct {
	Format  format.Format
	File    string   // how its name ends, such as *.prompty, or all of it
	Loss    []string // what of the prompt such a file cannot hold
	Maybe   bool     // that is what the format cannot hold, of this prompt or another
	Refused string   // why there is no such file
}

// maxOffered is how long a prompt may be, with the file that it was made of, to be written in all
// formats: it takes a millisecond for three thousand characters.
const maxOffered = 32 << 10

// Offers returns all formats, and what a prompt loses in each.
func Offers(ctx context.Context, s *library.Service, v library.View) ([]Offer, error) {
	p, err := storedOf(ctx, s, v)
	if err != nil {
		return nil, err
	}
	var all []Offer
	for _, f := range format.Formats() {
		o := Offer{Format: f, File: strings.Replace(path.Base(f.Path(format.Document{})), "prompt.", "*.", 1)}
		if p.size() > maxOffered {
			o.Loss, o.Maybe = append(f.Loses(), p.otherFiles()...), true
		} else if _, o.Loss, err = p.encode(f, ""); err != nil {
			o.Refused = err.Error()
		}
		all = append(all, o)
	}
	return all, nil
}

// A stored is a view as a document, with the file that it was made of.
type stored struct {
	library.View
	doc  format.Document    // which knows the names alone of what only the format of that file has
	made *promptdb.SourceOf // nil for none
	lost bool               // whether there is one, and it is damaged
}

func storedOf(ctx context.Context, s *library.Service, v library.View) (p stored, err error) {
	p = stored{View: v, doc: format.Of(v.Draft)}
	for label, n := range v.Labels {
		if n == v.Version {
			p.doc.Labels = append(p.doc.Labels, label)
		}
	}
	slices.Sort(p.doc.Labels)
	if p.made, err = s.SourceOf(ctx, v); p.made != nil && p.made.Damaged {
		p.made, p.lost = nil, true
	}
	if err == nil && p.made != nil {
		p.doc.Extra = format.Named(format.Format(p.made.Format), p.made.Extra)
	}
	return p, err
}

// read returns what the file says, or nil if it is not read. A backup may hold a file that costs
// too much to read at each export, and a later version of PromptHub may refuse what this one kept.
func (p stored) read() *format.Document {
	if !format.Kept(&p.made.Source) {
		return nil
	}
	was, err := format.Read(format.Format(p.made.Format), p.made.File, p.made.Bytes)
	if err == nil {
		was, err = was.In(format.Syntax(p.made.Syntax))
	}
	if err != nil {
		return nil
	}
	return &was
}

// size returns about how many bytes a file has.
func (p stored) size() int {
	n := len(p.Content().Words()) + len(p.Config)
	for _, v := range p.Variables {
		n += len(v.Name) + len(v.Label) + len(v.Description) + len(strings.Join(v.Choices, " "))
		if v.Default != nil {
			n += len(*v.Default)
		}
	}
	if p.made != nil {
		n += len(p.made.Bytes) + len(strings.Join(p.made.Extra, " "))
	}
	return n
}

// encode reads the file that the prompt was made of in its own format alone, because anybody may
// ask for it; and one of LangChain to write placeholders anew, because it says how they are
// written.
func (p stored) encode(f format.Format, to format.Syntax) (file []byte, loss []string, err error) {
	file, loss, err = p.content(f, to)
	return file, append(loss, p.otherFiles()...), err
}

// otherFiles returns "files" where the version has more of them than SKILL.md, which no file of a
// prompt holds.
func (p stored) otherFiles() []string {
	if len(p.Files) > 1 {
		return []string{lostFiles}
	}
	return nil
}

const lostFiles = "files"

func (p stored) content(f format.Format, to format.Syntax) (file []byte, loss []string, err error) {
	made, asIs := p.made, to == "" || to == format.Library
	if p.lost {
		file, loss, err = write(f, to, p.doc)
		return file, append(loss, "source"), err
	}
	if made == nil || format.Format(made.Format) != f && (asIs || format.Format(made.Format) != format.LangChain) {
		return write(f, to, p.doc)
	}
	was := p.read()
	if was == nil {
		p.doc.Extra = format.Extra{}
		return write(f, to, p.doc)
	}
	p.doc.Extra = was.Extra
	switch {
	case !asIs: // also in another format
	case made.Version == p.Version && made.State == p.State(p.doc.Labels) &&
		was.SameContent(p.doc) && was.Stays(made.Bytes):
		return made.Bytes, nil, nil
	case was.Name == p.doc.Name && made.Syntax == "":
		d, lost := p.doc, []string(nil)
		if to == "" && !was.SameContent(d) {
			d, lost = forProgram(f, d)
		}
		file, loss, err = was.Rewrite(made.File, made.Bytes, d.As(*was))
		return file, told(loss, lost), err
	}
	return write(f, to, p.doc)
}

// Takes reports whether a file must become a version of a prompt that says the same already: what
// only its format knows of the prompt is not what the library gives away in that format. It returns
// how many bytes it read for that.
func Takes(ctx context.Context, s *library.Service, v library.View,
	made prompt.Source,
) (takes bool, read int, err error) {
	if len(v.Files) > 0 { // with which no file is kept
		return false, 0, nil
	}
	p, err := storedOf(ctx, s, v)
	if err != nil {
		return false, 0, err
	}
	f := format.Format(made.Format)
	isKept := p.made != nil && format.Format(p.made.Format) == f
	if isKept {
		read = len(p.made.Bytes)
	}
	if isKept && format.SameLines(p.made.Bytes, made.Bytes) && p.made.Syntax == made.Syntax {
		return false, read, nil
	}
	given, _, err := p.encode(f, format.Library)
	switch {
	case err != nil: // the format cannot hold all of the prompt
		return isKept, read, nil //nolint:nilerr // as told
	case format.SameLines(given, made.Bytes):
		return false, read, nil
	case isKept && !f.IsMany():
		return true, read, nil
	}
	return !format.SameExtra(f, made.File, given, made.Bytes), read, nil
}

func write(f format.Format, to format.Syntax, d format.Document) (file []byte, loss []string, err error) {
	var lost []string
	if to == "" {
		d, lost = forProgram(f, d)
	} else if d, err = d.In(to); err != nil {
		return nil, nil, &fault.Error{
			Kind: fault.Invalid, Text: err.Error(),
			Fields: []fault.Field{{Name: "query.syntax", Message: err.Error(), Value: string(to)}},
		}
	}
	file, loss, err = format.Write(f, d)
	return file, told(loss, lost), err
}

// forProgram returns the document with the placeholders that the program of a format fills in, and
// the losses of those that were written anew, in a format that holds no variables.
func forProgram(f format.Format, d format.Document) (format.Document, []string) {
	filled, anew := f.ForProgram(d)
	if !anew {
		return d, nil
	}
	_, lost := d.Draft().Content().Bare()
	return filled, prompt.Told(lost)
}

// told returns what a file cannot hold, with the values of defaults in it.
func told(loss, lost []string) []string {
	if slices.Contains(loss, "variables") || slices.Contains(loss, "variables.default") {
		loss = append(loss, lost...)
	}
	return loss
}

// syntaxOf returns the syntax of a name, "" for the text as it is.
func syntaxOf(name string) (format.Syntax, error) {
	if s := format.Syntax(name); s == "" || slices.Contains(format.Syntaxes(), s) {
		return s, nil
	}
	err := fmt.Errorf("%.40q is no syntax: use one of %q", name, format.Syntaxes())
	return "", &fault.Error{
		Kind: fault.Invalid, Text: err.Error(),
		Fields: []fault.Field{{Name: "query.syntax", Message: err.Error(), Value: name}},
	}
}

func invalidFormat(name string, err error) error {
	if fault.Of(err) == fault.Invalid {
		return err
	}
	return &fault.Error{
		Kind: fault.Invalid, Text: err.Error(),
		Fields: []fault.Field{{Name: "query.format", Message: err.Error(), Value: name}},
	}
}

// Attachment returns a Content-Disposition with which browsers save a file under a name.
func Attachment(name string) string {
	return mime.FormatMediaType("attachment", map[string]string{"filename": name})
}
