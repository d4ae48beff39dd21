package httpjson

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"prompthub/internal/jsonsize"
)

// CheckJSON reports what keeps b from being one JSON value that all readers understand alike: UTF-8
// throughout, no name twice in an object, and nothing after it. If it has more parts than a caller
// may send the error has a code, and nothing else was looked at.
func CheckJSON(b []byte) error {
	if err := jsonsize.Check(b); err != nil {
		return err
	}
	d := jsontext.NewDecoder(bytes.NewReader(b))
	if _, err := d.ReadValue(); err != nil {
		return err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the JSON value")
	}
	return nil
}

// BrokenJSON says where JSON is broken, and how.
func BrokenJSON(err error) Field {
	f := Field{Location: "body", Message: err.Error()}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		f.Location, f.Message = Location(syntax.JSONPointer), syntax.Err.Error()
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		f.Message = "the JSON ends early"
	case errors.Is(err, jsontext.ErrDuplicateName):
		f.Message = "the object has this name twice"
	}
	return f
}

// maxLocation is how long a location may be, in bytes: JSON can be nested without an end, by names
// of any length.
const maxLocation = 200

// Location writes a JSON pointer as the locations of problems are written, and only the beginning
// of a long one.
func Location(p jsontext.Pointer) string {
	var b strings.Builder
	b.WriteString("body")
	for token := range p.Tokens() {
		if strings.Trim(token, "0123456789") == "" && token != "" {
			b.WriteString("[" + token + "]")
		} else {
			b.WriteString("." + token)
		}
		if b.Len() > maxLocation {
			return strings.ToValidUTF8(b.String()[:maxLocation], "") + "…"
		}
	}
	return b.String()
}
