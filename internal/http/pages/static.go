package pages

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"

	"prompthub/internal/http/httpjson"
)

// An asset is a file that pages load. Its name holds a hash of its bytes, so it never changes.
type asset struct {
	mime  string
	plain []byte
	gzip  func() []byte // made for the first who takes it
}

// manifestExt ends the name of a file by which a browser installs an application.
const manifestExt = ".webmanifest"

// A Static is all assets of an application.
type Static struct {
	prefix    string
	addresses map[string]string // by the name in the source
	assets    map[string]asset  // by the name with the hash
}

// NewStatic returns the files of the folder static, which are served below a prefix. Edit changes a
// file before, unless it is nil. A script imports those before it in the order of names, as
// "./NAME", "./times.js", which writes times for readers, "./news.js", which writes numbers of
// news, and "./share.js", by which links are sent and copied. So does a manifest its icons. Pages
// load "bar.css" for their top and their Bar, and "talk.js", with "talk.css", for messages and
// forms that answer them. Scripts that change how a page looks are loaded with blocking="render",
// as parts that were painted before them would move.
func NewStatic(prefix string, files fs.FS, edit func(name string, body []byte) []byte) *Static {
	s := &Static{prefix, map[string]string{}, map[string]asset{}}
	s.add(timesName, timesScript)
	s.add(newsName, newsScript)
	s.add("share.js", shareScript)
	s.add("talk.js", talkScript)
	s.add("talk.css", talkLooks)
	s.add("bar.css", barLooks)
	err := fs.WalkDir(files, "static", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		if edit != nil {
			body = edit(name, body)
		}
		if ext := path.Ext(name); ext == ".js" || ext == manifestExt {
			for of, address := range s.addresses {
				body = bytes.ReplaceAll(body, []byte(`"./`+of+`"`), []byte(`"`+address+`"`))
			}
		}
		s.add(path.Base(name), body)
		return nil
	})
	if err != nil {
		panic(fmt.Errorf("read embedded files: %w", err)) // unreachable: they are part of the program
	}
	return s
}

func (s *Static) add(name string, body []byte) {
	sum := sha256.Sum256(body)
	ext := path.Ext(name)
	hashed := strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:6]) + ext
	s.addresses[name] = s.prefix + hashed
	kind := mime.TypeByExtension(ext)
	if ext == manifestExt {
		kind = "application/manifest+json" // few systems know it
	}
	s.assets[hashed] = asset{kind, body, sync.OnceValue(func() []byte { return Compress(body, gzip.BestCompression) })}
}

// Address returns where a file is served. It panics for a file that is not there: tests render
// every page.
func (s *Static) Address(name string) string {
	a, ok := s.addresses[name]
	if !ok {
		panic("no static file " + name)
	}
	return a
}

// Handler serves the files. They need no sign-in, so requests count by their address.
func (s *Static) Handler(admission *httpjson.Admission) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := admission.Open(w, r); err != nil {
			httpjson.Refuse(w, r, err)
			return
		}
		a, ok := s.assets[strings.TrimPrefix(r.URL.Path, s.prefix)]
		if !ok {
			w.Header().Set("Cache-Control", "no-store") // of a version that another instance serves
			http.Error(w, "there is no such file", http.StatusNotFound)
			return
		}
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		w.Header().Set("Content-Type", a.mime)
		Send(w, r, http.StatusOK, a.plain, a.gzip)
	})
}

// Send answers with a body, compressed where the client takes that. Compression together with texts
// of others could tell secrets by the length: nothing sent so may hold one.
func Send(w http.ResponseWriter, r *http.Request, status int, body []byte, zipped func() []byte) {
	h := w.Header()
	h.Add("Vary", "Accept-Encoding")
	if httpjson.TakesGzip(r.Header.Values("Accept-Encoding")) {
		body = zipped()
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the client has gone away
	}
}

// writers are reused: each holds half a megabyte.
var writers = sync.Pool{New: func() any { return gzip.NewWriter(io.Discard) }}

// Compress compresses a body, by gzip.DefaultCompression or another level of gzip.
func Compress(body []byte, level int) []byte {
	var b bytes.Buffer
	if level == gzip.DefaultCompression {
		z := writers.Get().(*gzip.Writer)
		defer writers.Put(z)
		z.Reset(&b)
		_, _ = z.Write(body) // a buffer takes everything
		_ = z.Close()
		return b.Bytes()
	}
	z, err := gzip.NewWriterLevel(&b, level)
	if err != nil {
		panic(err) // unreachable: the levels are constants
	}
	_, _ = z.Write(body)
	_ = z.Close()
	return b.Bytes()
}
