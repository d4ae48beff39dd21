package httpjson

import (
	"net/http"
	"net/url"
	"strings"

	"prompthub/internal/fault"
)

// JoinQuery joins the values of a query key that is given several times with commas, as the
// Functions host does, so that an API answers the same with and without the host. A query that
// cannot be decoded is refused.
func JoinQuery(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery == "" {
			next.ServeHTTP(w, r)
			return
		}
		// A semicolon is a character like others, to us and to the host.
		values, err := url.ParseQuery(strings.ReplaceAll(r.URL.RawQuery, ";", "%3B"))
		if err != nil {
			Refuse(w, r, fault.New(fault.Malformed, "the query cannot be decoded; encode it as a URL asks for"))
			return
		}
		for key, all := range values {
			values[key] = []string{strings.Join(all, ",")}
		}
		u := *r.URL
		u.RawQuery = values.Encode()
		r = r.WithContext(r.Context()) // a copy: the caller's request stays as it is
		r.URL = &u
		next.ServeHTTP(w, r)
	})
}
