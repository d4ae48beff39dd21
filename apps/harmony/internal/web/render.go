package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"

	"prompthub/apps/harmony/internal/meet"
)

//go:embed templates
var templateFiles embed.FS

//go:embed static
var staticFiles embed.FS

// A page is what the frame around every page shows. Titles are keys of words.
type page struct {
	Name   string // of the template
	Title  string
	Error  string            // why a form was refused, if not for one of its fields
	Errors map[string]string // by fields
	Form   url.Values        // the values of fields
	Body   any

	words
	Me   *meet.Me // nil for a guest
	Here string   // where signing in leads back to
	Done string   // what the form that led here did
}

// parse reads the templates: a set for each page, with the frame and the parts that pages share.
func parse() map[string]*template.Template {
	functions := template.FuncMap{"asset": asset, "prefix": func() string { return Prefix }, "field": newField}
	base := template.Must(template.New("").Funcs(functions).ParseFS(templateFiles, "templates/frame.html"))
	files, err := templateFiles.ReadDir("templates")
	if err != nil {
		panic(err) // unreachable: it is part of the program
	}
	sets := make(map[string]*template.Template)
	for _, file := range files {
		if name, ok := strings.CutSuffix(file.Name(), ".html"); ok && name != "frame" {
			sets[name] = template.Must(template.Must(base.Clone()).ParseFS(templateFiles, "templates/"+file.Name()))
		}
	}
	return sets
}

// A field is one of a form.
type field struct {
	page
	Field, Type string
	Fill        string   // what a browser may fill in: a value of autocomplete
	Options     []string // of a choice
}

// newField returns a field of a page.
func newField(p page, name, kind, fill string, options ...string) field {
	return field{p, name, kind, fill, options}
}

// Value returns what the field holds.
func (f field) Value() string { return f.Form.Get(f.Field) }

// Wrong returns why the field was refused.
func (f field) Wrong() string { return f.Errors[f.Field] }

// Hint returns what to write into the field, if there is something to say.
func (f field) Hint() string {
	if f.Fill == "new-password" {
		return f.T("hint.new")
	}
	if f.Has("hint." + f.Field) {
		return f.T("hint." + f.Field)
	}
	return ""
}

// render answers with a page.
func (s *web) render(r *request, status int, p page) error {
	p.words, p.Me, p.Here = r.words(), r.who, Prefix
	if r.Method == http.MethodGet {
		p.Here = back(r.URL.RequestURI())
	}
	if done := "done." + r.URL.Query().Get("done"); p.Has(done) {
		p.Done = p.T(done)
	}
	if p.Form == nil {
		p.Form = url.Values{}
	}
	var b bytes.Buffer
	if err := s.templates[p.Name].ExecuteTemplate(&b, "frame", p); err != nil {
		return fmt.Errorf("render %s: %w", p.Name, err)
	}
	r.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	r.w.WriteHeader(status)
	_, _ = r.w.Write(b.Bytes()) // the client has gone away
	return nil
}

// words returns the words in the language of a request.
func (r *request) words() words { return words{r.lang} }

// assets are the files that pages load, by names that hold a hash of their bytes, so that a file of
// a name never changes.
var assets, assetNames = func() (files map[string][]byte, names map[string]string) {
	files, names = map[string][]byte{}, map[string]string{}
	all, err := staticFiles.ReadDir("static")
	if err != nil {
		panic(err) // unreachable: it is part of the program
	}
	for _, entry := range all {
		body, err := staticFiles.ReadFile("static/" + entry.Name())
		if err != nil {
			panic(err)
		}
		sum := sha256.Sum256(body)
		ext := path.Ext(entry.Name())
		name := strings.TrimSuffix(entry.Name(), ext) + "." + hex.EncodeToString(sum[:6]) + ext
		files[name], names[entry.Name()] = body, name
	}
	return files, names
}()

func asset(name string) (string, error) {
	hashed, ok := assetNames[name]
	if !ok {
		return "", fmt.Errorf("no static file %s", name)
	}
	return Prefix + "/static/" + hashed, nil
}

func (s *web) static(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	body, ok := assets[name]
	if !ok {
		http.Error(w, "there is no such file", http.StatusNotFound)
		return
	}
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	_, _ = w.Write(body) // the client has gone away
}
