package format

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// codePages are those that programs for tables save CSV in. ASCII is the same in each, so what the
// name and the first line of a file say of it needs none of them.
var codePages = map[string]encoding.Encoding{
	"big5":         traditionalchinese.Big5,
	"euc-jp":       japanese.EUCJP,
	"euc-kr":       korean.EUCKR,
	"gb18030":      simplifiedchinese.GB18030,
	"gbk":          simplifiedchinese.GBK,
	"ibm437":       charmap.CodePage437,
	"ibm850":       charmap.CodePage850,
	"ibm852":       charmap.CodePage852,
	"ibm866":       charmap.CodePage866,
	"iso-8859-1":   charmap.ISO8859_1,
	"iso-8859-2":   charmap.ISO8859_2,
	"iso-8859-5":   charmap.ISO8859_5,
	"iso-8859-7":   charmap.ISO8859_7,
	"iso-8859-9":   charmap.ISO8859_9,
	"iso-8859-15":  charmap.ISO8859_15,
	"koi8-r":       charmap.KOI8R,
	"koi8-u":       charmap.KOI8U,
	"macintosh":    charmap.Macintosh,
	"shift_jis":    japanese.ShiftJIS,
	"windows-1250": charmap.Windows1250,
	"windows-1251": charmap.Windows1251,
	"windows-1252": charmap.Windows1252,
	"windows-1253": charmap.Windows1253,
	"windows-1254": charmap.Windows1254,
	"windows-1255": charmap.Windows1255,
	"windows-1256": charmap.Windows1256,
	"windows-1257": charmap.Windows1257,
	"windows-1258": charmap.Windows1258,
	"windows-874":  charmap.Windows874,
}

// CodePages returns the names by which InUTF8 knows code pages.
func CodePages() []string { return slices.Sorted(maps.Keys(codePages)) }

// CodePage returns the name of a code page that is written in any case, or as Windows calls it.
func CodePage(name string) (string, error) {
	known := strings.ReplaceAll(strings.ToLower(name), "shift-jis", "shift_jis")
	if rest, ok := strings.CutPrefix(known, "cp"); ok {
		known = "windows-" + rest
		if _, ok := codePages[known]; !ok {
			known = "ibm" + rest
		}
	}
	if _, ok := codePages[known]; ok {
		return known, nil
	}
	return "", fmt.Errorf("%.40q is no code page: use one of %s; UTF-8 and UTF-16 need none", name,
		strings.Join(CodePages(), ", "))
}

// InUTF8 returns a file that is in a code page as UTF-8. One that is UTF-8, or says by its mark
// that it is UTF-16, stays as it is: in a folder both may lie next to each other.
func InUTF8(b []byte, page string) ([]byte, error) {
	e, known := codePages[page]
	switch {
	case !known:
		_, err := CodePage(page)
		return nil, err
	case utf8.Valid(b), bytes.HasPrefix(b, []byte("\xff\xfe")), bytes.HasPrefix(b, []byte("\xfe\xff")):
		return b, nil
	case bytes.IndexByte(b, 0) >= 0:
		return nil, errBinary
	}
	text, err := e.NewDecoder().Bytes(b)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the file is not in %s", page), err)
	}
	if at := bytes.IndexRune(text, utf8.RuneError); at >= 0 {
		return nil, fmt.Errorf("the file is not in %s, as line %d shows: name the code page that it was saved in", page,
			1+bytes.Count(text[:at], newline))
	}
	return text, nil
}

// FilesInUTF8 returns files as InUTF8 does. One that is in another code page stays as it is, and is
// told as broken where it is read, or read with a warning.
func FilesInUTF8(files []File, page string) []File {
	files = slices.Clone(files)
	for i, f := range files {
		if text, err := InUTF8(f.Bytes, page); err == nil {
			files[i].Bytes = text
		}
	}
	return files
}
