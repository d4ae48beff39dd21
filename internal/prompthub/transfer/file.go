package transfer

import (
	"context"
	"fmt"
	"mime"
	"path"
	"slices"

	"prompthub/internal/auth"
	"prompthub/internal/fault"
	"prompthub/internal/prompthub"
	"prompthub/internal/prompthub/format"
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
// prompt is; else one that is written anew, with what only the format knows put back.
func FileOf(ctx context.Context, s *prompthub.Service, who auth.User, v prompthub.View, name, syntax string) (File, error) {
	f, err := format.Parse(name)
	if err != nil {
		return File{}, invalidFormat(name, err)
	}
	to, err := syntaxOf(syntax)
	if err != nil {
		return File{}, err
	}
	made, err := s.SourceOf(ctx, who, v)
	if err != nil {
		return File{}, err
	}
	d := format.Of(v.Draft)
	for label, n := range v.Labels {
		if n == v.Version {
			d.Labels = append(d.Labels, label)
		}
	}
	slices.Sort(d.Labels)
	b, loss, err := encode(f, to, d, v, made)
	if err != nil {
		return File{}, invalidFormat(name, err)
	}
	return File{b, f.MediaType(), Attachment(path.Base(f.Path(d))), loss}, nil
}

// encode writes a document of a view, with what is known of the file that it was made of, if any.
func encode(f format.Format, to format.Syntax, d format.Document, v prompthub.View, made *promptdb.SourceOf) (file []byte, loss []string, err error) {
	if made == nil {
		return write(f, to, d)
	}
	was, err := format.Read(format.Format(made.Format), made.File, made.Bytes)
	if err == nil {
		was, err = was.In(format.Syntax(made.Syntax))
	}
	if err != nil { // a later version of the application refuses it
		return write(f, to, d)
	}
	d.Extra = was.Extra
	switch {
	case was.Extra.Format != f || to != "":
	case made.Version == v.Version && made.State == v.State(d.Labels) && was.SameContent(d):
		return made.Bytes, nil, nil
	case was.Name == d.Name && made.Syntax == "":
		return format.Rewrite(f, made.File, made.Bytes, d.As(was))
	}
	return write(f, to, d)
}

func write(f format.Format, to format.Syntax, d format.Document) (file []byte, loss []string, err error) {
	if d, err = d.In(to); err != nil {
		return nil, nil, &fault.Error{Kind: fault.Invalid, Text: err.Error(), Fields: []fault.Field{{Name: "query.syntax", Message: err.Error(), Value: string(to)}}}
	}
	return format.Write(f, d)
}

// syntaxOf returns the syntax of a name, "" for the text as it is.
func syntaxOf(name string) (format.Syntax, error) {
	if s := format.Syntax(name); s == "" || slices.Contains(format.Syntaxes(), s) {
		return s, nil
	}
	err := fmt.Errorf("%.40q is no syntax: use one of %q", name, format.Syntaxes())
	return "", &fault.Error{Kind: fault.Invalid, Text: err.Error(), Fields: []fault.Field{{Name: "query.syntax", Message: err.Error(), Value: name}}}
}

func invalidFormat(name string, err error) error {
	if fault.Of(err) == fault.Invalid {
		return err
	}
	return &fault.Error{Kind: fault.Invalid, Text: err.Error(), Fields: []fault.Field{{Name: "query.format", Message: err.Error(), Value: name}}}
}

// Attachment returns a Content-Disposition with which browsers save a file under a name.
func Attachment(name string) string {
	return mime.FormatMediaType("attachment", map[string]string{"filename": name})
}
