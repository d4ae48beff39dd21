package httpjson

import (
	"cmp"
	"fmt"
	"net/http"
	"time"
)

// Secure sets the headers that are right for every answer of an API: nothing guesses its type,
// shows it in a frame or runs anything in it, and nothing keeps it without asking again. A handler
// may set others.
func Secure(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "private, no-cache")
		StrictTransport(h, r)
		next.ServeHTTP(w, r)
	})
}

// Keep says how long an answer may be kept without asking again: by everybody if anybody may read
// it, else by its caller alone. A shared cache gives a public answer to others, although the
// request that it is of was signed in.
func Keep(h http.Header, anybody bool, age time.Duration) {
	who := "private"
	if anybody {
		who = "public"
	}
	h.Set("Cache-Control", fmt.Sprintf("%s, max-age=%d", who, int(age.Seconds())))
}

// StrictTransport has browsers use https for a year, if that is what they use now.
func StrictTransport(h http.Header, r *http.Request) {
	if Encrypted(r) {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

// Encrypted reports whether the client uses https, to us or to the front end before us.
func Encrypted(r *http.Request) bool {
	return r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https"
}

// Origin returns the URL of this service, without a path: the public one, or where there is none
// the one that a request names.
func Origin(r *http.Request, public string) string {
	scheme := "http://"
	if Encrypted(r) {
		scheme = "https://"
	}
	return cmp.Or(public, scheme+r.Host)
}
