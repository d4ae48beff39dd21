package functiontest

import (
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"
)

// received returns a path as the host's web server hands it on: escapes decoded, except that of
// the slash and of bytes that are not UTF-8, and then dot segments removed.
func received(escaped string) string {
	return removeDots(unescape(escaped, func(s string) bool { return s != "/" && utf8.ValidString(s) }))
}

// forwarded returns the escaped path on which the host forwards a request for a received path.
// It writes the path into a URL as it is and reads that again, which loses what the escapes
// were for.
func forwarded(path string) string {
	if i := strings.IndexAny(path, "?#"); i >= 0 {
		path = path[:i]
	}
	path = strings.ReplaceAll(strings.TrimRight(path, " \t\r\n"), `\`, "/")
	path = unescape(path, func(s string) bool { return len(s) == 1 && unreserved(s[0]) })
	return escape(removeDots(path))
}

// unescape decodes each run of escapes that keep lets through; a byte sequence of several
// escapes is asked about as a whole.
func unescape(s string, decode func(string) bool) string {
	var b strings.Builder
	for s != "" {
		n := escapeLength(s)
		if raw, err := url.PathUnescape(s[:n]); n > 1 && err == nil && decode(raw) {
			b.WriteString(raw)
		} else {
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

// escapeLength returns how many bytes at the start of s are one character, escaped or not.
func escapeLength(s string) int {
	if !isEscape(s) {
		return 1
	}
	// As many escapes as the first byte of the UTF-8 sequence asks for.
	first, _ := url.PathUnescape(s[:3])
	for n := 6; n <= 12 && first[0] >= utf8.RuneSelf && len(s) >= n && isEscape(s[n-3:]); n += 3 {
		if raw, err := url.PathUnescape(s[:n]); err == nil && utf8.ValidString(raw) {
			return n
		}
	}
	return 3
}

func isEscape(s string) bool {
	return len(s) >= 3 && s[0] == '%' && isHex(s[1]) && isHex(s[2])
}

func isHex(c byte) bool { return strings.IndexByte("0123456789abcdefABCDEF", c) >= 0 }

func unreserved(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

// escape encodes what may not stand in a path; escapes stay.
func escape(path string) string {
	var b strings.Builder
	for i := range len(path) {
		c := path[i]
		if unreserved(c) || isEscape(path[i:]) || strings.IndexByte("/:@!$&'()*+,;=[]", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// removeDots removes the segments . and .. as RFC 3986 says. Empty segments stay.
func removeDots(path string) string {
	var out []string
	segments := strings.Split(path, "/")
	for i, s := range segments {
		last := i == len(segments)-1
		switch s {
		case ".", "..":
			if s == ".." && len(out) > 1 {
				out = out[:len(out)-1]
			}
			if last {
				out = append(out, "")
			}
		default:
			out = append(out, s)
		}
	}
	return "/" + strings.TrimPrefix(strings.Join(out, "/"), "/")
}
