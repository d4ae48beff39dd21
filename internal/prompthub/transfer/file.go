package transfer

import (
	"mime"
	"path"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub"
	"prompthub/internal/prompthub/format"
)

// A File is a prompt as a file of another program.
type File struct {
	Bytes       []byte
	Type        string
	Disposition string
	Loss        []string // what of the prompt it cannot hold
}

// FileOf returns a prompt in a format.
func FileOf(v prompthub.View, name string) (File, error) {
	f, err := format.Parse(name)
	if err != nil {
		return File{}, invalidFormat(name, err)
	}
	d := format.Of(v.Draft)
	b, loss, err := format.Write(f, d)
	if err != nil {
		return File{}, invalidFormat(name, err)
	}
	return File{b, f.MediaType(), Attachment(path.Base(f.Path(d))), loss}, nil
}

func invalidFormat(name string, err error) error {
	return &fault.Error{Kind: fault.Invalid, Text: err.Error(), Fields: []fault.Field{{Name: "query.format", Message: err.Error(), Value: name}}}
}

// Attachment returns a Content-Disposition with which browsers save a file under a name.
func Attachment(name string) string {
	return mime.FormatMediaType("attachment", map[string]string{"filename": name})
}
