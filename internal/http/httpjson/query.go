package httpjson

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"
)

// JoinQuery reads a query as the Functions host does before it forwards a request, so that an API
// answers the same with and without the host: the values of a key, whose letters may be of either
// case, are joined by commas without the empty ones, and an escape that is no UTF-8 stays as
// text.
func JoinQuery(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery == "" {
			next.ServeHTTP(w, r)
			return
		}
		u := *r.URL
		u.RawQuery = joined(u.RawQuery).Encode()
		r = r.WithContext(r.Context()) // a copy: the caller's request stays as it is
		r.URL = &u
		next.ServeHTTP(w, r)
	})
}

func joined(query string) url.Values {
	values, spelled := make(url.Values), make(map[string]string)
	for part := range strings.SplitSeq(query, "&") {
		if part == "" {
			continue
		}
		key, value, _ := strings.Cut(part, "=")
		key, value = queryText(key), queryText(value)
		lower := strings.ToLower(key)
		if before, ok := spelled[lower]; ok {
			if was := values.Get(before); was != "" && value != "" {
				value = was + "," + value
			} else {
				value = was + value
			}
			values.Del(before)
		}
		spelled[lower] = key // as it was last
		values.Set(key, value)
	}
	return values
}

// queryText decodes a part of a query.
func queryText(s string) string {
	s = strings.ReplaceAll(s, "+", " ")
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	for s != "" {
		n := 0
		for ; n+3 <= len(s) && s[n] == '%'; n += 3 {
			if _, err := url.PathUnescape(s[n : n+3]); err != nil {
				break
			}
		}
		if n == 0 {
			b.WriteByte(s[0])
			s = s[1:]
			continue
		}
		raw, _ := url.PathUnescape(s[:n]) // escapes only
		for raw != "" {
			c, size := utf8.DecodeRuneInString(raw)
			if c == utf8.RuneError && size == 1 {
				b.WriteString(s[:3])
			} else {
				b.WriteString(raw[:size])
			}
			raw, s = raw[size:], s[3*size:]
		}
	}
	return b.String()
}
