package functiontest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// maxRequest is the limit of a request body, past which the client sees 500 and not 413.
const maxRequest = 100 << 20

// home is what the host shows where the application has nothing at /.
const home = `<!DOCTYPE html><html><head><title>Your Azure Function App is up and running.</title></head><body></body></html>`

// ServeHTTP answers a client from outside.
func (h *Host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.options.FrontEnd {
		passFrontEnd(r)
	}
	path := received(r.URL.EscapedPath())
	f := h.app.route(r.Method, path)
	switch {
	case isHosts(path):
		w.WriteHeader(http.StatusNotFound)
	case f == nil && path == "/":
		h.home(w)
	case f == nil || f.disabled:
		w.WriteHeader(http.StatusNotFound)
	default:
		h.serve(w, r, f, path)
	}
}

// isHosts reports whether a path belongs to the host itself. What it serves there is not modelled.
func isHosts(path string) bool {
	first, _, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(path, "/")), "/")
	return first == "admin" || first == "runtime"
}

func (h *Host) home(w http.ResponseWriter) {
	if strings.EqualFold(h.app.env["AzureWebJobsDisableHomepage"], "true") {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	_, _ = io.WriteString(w, home) // a client that is gone needs no page
}

// serve runs an HTTP function. Any error is a 500 without a body.
func (h *Host) serve(w http.ResponseWriter, r *http.Request, f *function, path string) {
	var err error
	if h.proxying {
		err = h.proxy(w, r, f, path)
	} else {
		err = h.forwardWhole(w, r, f, path)
	}
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
	}
}

// forwardWhole forwards a request whose body it has read.
func (h *Host) forwardWhole(w http.ResponseWriter, r *http.Request, f *function, path string) error {
	body, err := readBody(r)
	if err != nil {
		return err
	}
	return h.forward(w, r, f, path, body)
}

// readBody reads a body of known length as a whole before the function runs. One of unknown
// length is lost.
func readBody(r *http.Request) ([]byte, error) {
	if r.ContentLength <= 0 {
		return nil, nil
	}
	if r.ContentLength > maxRequest {
		return nil, errors.New("the request is too long")
	}
	var b bytes.Buffer
	if _, err := io.Copy(&b, r.Body); err != nil {
		return nil, err
	}
	if int64(b.Len()) < r.ContentLength {
		return nil, fmt.Errorf("the body ended after %d of %d bytes", b.Len(), r.ContentLength)
	}
	return b.Bytes(), nil
}

// passFrontEnd changes a request as the platform's front end does on the way to the host.
func passFrontEnd(r *http.Request) {
	h := r.Header
	// Added to the claims of the client, which no proxy removes.
	h.Set("X-Forwarded-For", strings.TrimPrefix(h.Get("X-Forwarded-For")+", "+r.RemoteAddr, ", "))
	h.Set("X-Forwarded-Proto", "https")
	h.Set("X-Forwarded-Tlsversion", "1.3")
	h.Set("X-Arr-Log-Id", newGUID())
	h.Set("X-Arr-Ssl", "2048|256|CN=Microsoft Azure RSA TLS Issuing CA 04|CN=*.azurewebsites.net")
	h.Set("X-Original-Url", r.URL.RequestURI())
	h.Set("Disguised-Host", r.Host)
	h.Set("Client-Ip", r.RemoteAddr)
	h.Set("Was-Default-Hostname", r.Host)
	escaped := strings.NewReplacer("%2F", "/", "%2f", "/").Replace(r.URL.EscapedPath())
	if path, err := url.PathUnescape(escaped); err == nil {
		r.URL.Path, r.URL.RawPath = path, escaped
	}
}
