package httpjson

import "net/http"

// Secure sets the headers that are right for every answer of an API: nothing guesses its type, shows it in a
// frame or runs anything in it, and nothing keeps it without asking again. A handler may set others.
func Secure(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "private, no-cache")
		next.ServeHTTP(w, r)
	})
}
