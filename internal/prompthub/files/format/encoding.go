package format

import (
	"bytes"
	"errors"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// What a file says of itself that is no UTF-8, and is read all the same.
var windows1252 = Warning{Text: "the file is no UTF-8 and was read as Windows-1252: save it as UTF-8"}

// decoded returns a file as UTF-8: of UTF-16 with a byte order mark, or of Windows-1252, with a
// warning. A file of JSON is never taken for the latter, nor one in which a character of UTF-8
// stands: that is broken.
func decoded(b []byte, isJSON bool) ([]byte, []Warning, error) {
	switch {
	case bytes.HasPrefix(b, []byte("\xff\xfe")), bytes.HasPrefix(b, []byte("\xfe\xff")):
		text, err := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder().Bytes(b)
		if err != nil || len(b)%2 != 0 || bytes.ContainsRune(text, utf8.RuneError) {
			return nil, nil, errors.New("the file is in UTF-16 and is cut off, or broken, in a character: save it as UTF-8")
		}
		if bytes.IndexByte(text, 0) >= 0 {
			return nil, nil, errBinary
		}
		return text, nil, nil
	case bytes.IndexByte(b, 0) >= 0:
		return nil, nil, errBinary
	case utf8.Valid(b):
		return b, nil, nil
	case isJSON || hasUTF8(b):
		return nil, nil, errNoUTF8
	}
	text, err := charmap.Windows1252.NewDecoder().Bytes(b)
	if err != nil || bytes.ContainsRune(text, utf8.RuneError) {
		return nil, nil, errNoUTF8
	}
	return text, []Warning{windows1252}, nil
}

// hasUTF8 reports whether a character of several bytes stands in a file.
func hasUTF8(b []byte) bool {
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if n > 1 && r != utf8.RuneError {
			return true
		}
		b = b[n:]
	}
	return false
}

var errNoUTF8 = errors.New("the file is not valid UTF-8: save it as UTF-8")

var errBinary = errors.New("the file is binary: it holds no text")
