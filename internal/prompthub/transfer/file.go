package transfer

import (
	"context"
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

// FileOf returns a prompt in a format: the file that its version was made of, byte for byte, where
// that is of the format and still says what the prompt is; else one that is written anew, with what
// only the format knows put back.
func FileOf(ctx context.Context, s *prompthub.Service, who auth.User, v prompthub.View, name string) (File, error) {
	f, err := format.Parse(name)
	if err != nil {
		return File{}, invalidFormat(name, err)
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
	b, loss, err := encode(f, d, v, made)
	if err != nil {
		return File{}, invalidFormat(name, err)
	}
	return File{b, f.MediaType(), Attachment(path.Base(f.Path(d))), loss}, nil
}

// encode writes a document of a view, with what is known of the file that it was made of, if any.
func encode(f format.Format, d format.Document, v prompthub.View, made *promptdb.SourceOf) (file []byte, loss []string, err error) {
	if made == nil {
		return format.Write(f, d)
	}
	was, err := format.Read(format.Format(made.Format), made.File, made.Bytes)
	if err != nil { // a later version of the application refuses it
		return format.Write(f, d)
	}
	d.Extra = was.Extra
	switch {
	case was.Extra.Format != f:
	case made.Version == v.Version && made.State == v.State(d.Labels) && was.SameContent(d):
		return made.Bytes, nil, nil
	case was.Name == d.Name:
		return format.Rewrite(f, made.File, made.Bytes, d.As(was))
	}
	return format.Write(f, d)
}

func invalidFormat(name string, err error) error {
	return &fault.Error{Kind: fault.Invalid, Text: err.Error(), Fields: []fault.Field{{Name: "query.format", Message: err.Error(), Value: name}}}
}

// Attachment returns a Content-Disposition with which browsers save a file under a name.
func Attachment(name string) string {
	return mime.FormatMediaType("attachment", map[string]string{"filename": name})
}
