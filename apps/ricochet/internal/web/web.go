// Package web is the page that people play on: it draws the board, slides robots as the rules say,
// and asks the API for everything else. It is the same file for every game; the address says which
// one it shows, and the keys of hosts and players stay in the browser.
package web

import (
	"embed"
	"net/http"

	"prompthub/internal/http/httpjson"
)

// Prefix is the path that the pages begin with.
const Prefix = "/play"

//go:embed static
var files embed.FS

// policy lets the page run scripts from here, and ask no other server.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// types are the files that there are, with their types.
var types = map[string]string{
	"page.html": "text/html; charset=utf-8", "page.css": "text/css; charset=utf-8",
	"page.js": "text/javascript; charset=utf-8", "board.js": "text/javascript; charset=utf-8",
	"server.js": "text/javascript; charset=utf-8",
	"joy.js":    "text/javascript; charset=utf-8",
}

// New returns a handler for everything under Prefix.
func New() http.Handler {
	mux := http.NewServeMux()
	for name := range types {
		mux.HandleFunc("GET "+Prefix+"/static/"+name, file(name))
	}
	mux.HandleFunc("GET "+Prefix, file("page.html"))
	mux.HandleFunc("GET "+Prefix+"/{game}", file("page.html"))
	return httpjson.Secure(httpjson.ETags(httpjson.Routes(mux)))
}

// file serves a file.
func file(name string) http.HandlerFunc {
	body, err := files.ReadFile("static/" + name)
	if err != nil {
		panic(err) // unreachable: it is part of the program
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", types[name])
		w.Header().Set("Content-Security-Policy", policy)
		_, _ = w.Write(body) // a client that is gone needs no answer
	}
}
