package format

import (
	"bytes"
	"errors"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
)

// decoded returns a file as UTF-8: of UTF-16 with a byte order mark, or of what old programs of
// Windows write, with a warning: GBK in China, Windows-1251 where letters are Cyrillic, and
// Windows-1252 elsewhere. A file of JSON is never taken for these, nor one in which a character of
// UTF-8 stands: that is broken.
func decoded(b []byte, isJSON bool) ([]byte, []Warning, error) {
	switch {
	case bytes.HasPrefix(b, []byte("\xff\xfe")), bytes.HasPrefix(b, []byte("\xfe\xff")):
		text, err := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder().Bytes(b)
		if err != nil || len(b)%2 != 0 || bytes.ContainsRune(text, utf8.RuneError) {
			return nil, nil, errors.New(
				"the file is in UTF-16 and is cut off, or broken, in a character: save it as UTF-8")
		}
		if bytes.IndexByte(text, 0) >= 0 {
			return nil, nil, errBinary
		}
		return text, nil, nil
	case bytes.IndexByte(b, 0) >= 0:
		return nil, nil, errBinary
	case utf8.Valid(b):
		return b, nil, nil
	case isJSON:
		return nil, nil, errNoUTF8
	case looksLikeGBK(b):
		return inCodePage(b, simplifiedchinese.GBK, "GBK")
	case hasUTF8(b):
		return nil, nil, errNoUTF8
	case looksCyrillic(b):
		return inCodePage(b, charmap.Windows1251, "Windows-1251")
	}
	return inCodePage(b, charmap.Windows1252, "Windows-1252")
}

func inCodePage(b []byte, e encoding.Encoding, name string) ([]byte, []Warning, error) {
	text, err := e.NewDecoder().Bytes(b)
	if err != nil || bytes.ContainsRune(text, utf8.RuneError) {
		return nil, nil, errNoUTF8
	}
	return text, []Warning{{Text: "the file is no UTF-8 and was read as " + name + ": save it as UTF-8"}}, nil
}

// looksLikeGBK reports whether all bytes beyond ASCII stand in pairs, of which most are the usual
// characters of Chinese and its punctuation.
func looksLikeGBK(b []byte) bool {
	pairs, usual := 0, 0
	for i := 0; i < len(b); i++ {
		if b[i] < utf8.RuneSelf {
			continue
		}
		if i+1 == len(b) || b[i] < 0xa1 || b[i+1] < 0xa1 {
			return false
		}
		if pairs++; b[i] >= 0xb0 && b[i] <= 0xd7 || b[i] <= 0xa3 {
			usual++
		}
		i++
	}
	return pairs > 1 && usual*4 >= pairs*3
}

// looksCyrillic reports whether most bytes beyond ASCII are letters in a word of such, as those of
// Windows-1251 are; accents stand alone.
func looksCyrillic(b []byte) bool {
	high, inWords, run := 0, 0, 0
	end := func() {
		if high += run; run >= 3 {
			inWords += run
		}
		run = 0
	}
	for _, c := range b {
		if c >= 0xc0 || c == 0xa8 || c == 0xb8 {
			run++
		} else if end(); c >= utf8.RuneSelf {
			high++
		}
	}
	end()
	return inWords*3 > high*2
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
