// Package pages is what the pages of all applications have in common: what a browser may do on
// them, the files that they load, their templates and forms, and addresses to come back to. An
// application brings its routes, templates and looks.
package pages

import (
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"

	"prompthub/internal/fault"
	"prompthub/internal/http/httpjson"
)

// policy is what a browser may do on a page: nothing inline runs, and nothing comes from elsewhere.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Handler serves pages by a mux. Forms need no secret against forgery: a browser says where a form
// comes from, and deny answers those of other sites.
func Handler(mux *http.ServeMux, watch httpjson.Observer, deny http.HandlerFunc) http.Handler {
	same := http.NewCrossOriginProtection()
	same.SetDenyHandler(deny)
	h := same.Handler(httpjson.Buffered(httpjson.Routes(mux)))
	return watch.Observe(secure(httpjson.Single(httpjson.JoinQuery(h))))
}

// secure sets the headers of every page. Referrers stay inside, as an address holds what was
// searched for. A handler may set others.
func secure(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", policy)
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "private, no-cache")
		httpjson.StrictTransport(h, r)
		next.ServeHTTP(w, r)
	})
}

// Templates parses the folder templates: a set for each page, by the name of its file without
// .html, with the frame and the parts that pages share, which are in the folder templates/shared,
// and with "bar", which writes a Bar.
func Templates(files fs.FS, functions template.FuncMap) map[string]*template.Template {
	base := template.Must(template.Must(template.New("").Parse(barTemplate)).Funcs(functions).ParseFS(
		files, "templates/shared/*.html"))
	all, err := fs.Glob(files, "templates/*.html")
	if err != nil {
		panic(err) // unreachable: the pattern is a constant
	}
	sets := make(map[string]*template.Template)
	for _, file := range all {
		name := strings.TrimSuffix(path.Base(file), ".html")
		sets[name] = template.Must(template.Must(base.Clone()).ParseFS(files, file))
	}
	return sets
}

// ReadForm reads a form of up to most bytes.
func ReadForm(admission *httpjson.Admission, w http.ResponseWriter, r *http.Request, most int64) error {
	_, err := admission.ReadBody(w, r, most)
	if p := (*httpjson.Problem)(nil); errors.As(err, &p) && p.Status == http.StatusRequestEntityTooLarge {
		has := "more"
		if r.ContentLength > most {
			has = fmt.Sprintf("%d KiB", (r.ContentLength+1<<10-1)>>10)
		}
		return fault.New(fault.Invalid, fmt.Sprintf(
			"the form is too long: this page takes %d KiB, and it has %s; shorten the text, or send it by the API",
			most>>10, has))
	}
	if err != nil {
		return err
	}
	err = r.ParseForm()
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); err == nil && kind == "multipart/form-data" {
		err = r.ParseMultipartForm(most) //nolint:gosec // it was read within its bound, and stays in memory
	}
	if err != nil {
		return fault.Wrap(fault.Malformed, "the form cannot be read", err)
	}
	return nil
}

// SentFile returns the file of a field of a form that was read, nil if none was chosen.
func SentFile(r *http.Request, field string) ([]byte, error) {
	sent, head, err := r.FormFile(field)
	if err != nil || head.Size == 0 {
		return nil, nil
	}
	defer sent.Close()
	return io.ReadAll(sent)
}

// Back returns an address to go back to, also if a form or a link names another: one of a page
// below prefix, which it is itself otherwise. A path that is another one without its dots and
// double slashes, spelled out or encoded, could lead anywhere. It never begins with signIn.
func Back(prefix, signIn, address string) string {
	u, err := url.Parse(address)
	if err != nil || u.IsAbs() || u.Host != "" || u.Path != prefix && !strings.HasPrefix(u.Path, prefix+"/") ||
		strings.HasPrefix(u.Path, signIn) ||
		path.Clean(u.Path) != u.Path || strings.ContainsAny(address, "\\\r\n\t") || strings.ContainsAny(u.Path, "\\%") {
		return prefix
	}
	return address
}
