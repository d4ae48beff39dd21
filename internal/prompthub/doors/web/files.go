package web

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/transfer"
)

func (s *web) files() {
	all := Prefix + "/prompts/{id}/files"
	s.handle("GET "+all, reader, s.showFiles)
	s.handle("GET "+all+"/content", reader, s.downloadFile)
	s.handle("GET "+Prefix+"/prompts/{id}/archive", reader, s.downloadArchive)
}

// A filesPage is the files of a version of a prompt, or one of them.
type filesPage struct {
	library.FileList
	holding
	Prompt string // the address
	Number string // of the version, if the address names one
	Tree   []*branch
	File   *fileView
}

// At returns the address of the page of a file, and with no path that of all.
func (p filesPage) At(file string) string { return p.address("/files", file) }

// Content returns the address that a file is downloaded from.
func (p filesPage) Content(file string) string { return p.address("/files/content", file) }

// Archive returns the address of the ZIP of all files.
func (p filesPage) Archive() string { return p.address("/archive", "") }

func (p filesPage) address(below, file string) string {
	values := url.Values{}
	for name, value := range map[string]string{"version": p.Number, "path": file} {
		if value != "" {
			values.Set(name, value)
		}
	}
	return address(p.Prompt+below, values)
}

// Bytes returns how many bytes the files have.
func (p filesPage) Bytes() int64 { return int64(p.Files.Size()) }

// Warned returns how many scripts readers are told to read before they install the skill.
func (p filesPage) Warned() int { return warned(p.View.Prompt, p.Files) }

// warned returns how many scripts a prompt has that strangers may install.
func warned(p prompt.Prompt, files prompt.Files) int {
	if p.Visibility != prompt.Public {
		return 0
	}
	return files.Scripts()
}

// A branch is a folder of the tree of files, or a file.
type branch struct {
	Name string
	At   string // the address of a file
	prompt.File
	Inside []*branch // of a folder
}

// Bytes returns the size of a file.
func (b branch) Bytes() int64 { return int64(b.Size) }

// treeOf returns files as a tree: the files of a folder before the folders in it.
func treeOf(p filesPage, files prompt.Files, depth int) []*branch {
	var here, folders []*branch
	for len(files) > 0 {
		parts := strings.Split(files[0].Path, "/")
		if depth == len(parts)-1 {
			here = append(here, &branch{Name: parts[depth], At: p.At(files[0].Path), File: files[0]})
			files = files[1:]
			continue
		}
		inside := strings.Join(parts[:depth+1], "/") + "/"
		n := 1
		for n < len(files) && strings.HasPrefix(files[n].Path, inside) {
			n++
		}
		folders = append(folders, &branch{Name: parts[depth], Inside: treeOf(p, files[:n], depth+1)})
		files = files[n:]
	}
	return append(here, folders...)
}

// What of a text a page shows. More of it is in the file.
const (
	maxShownText  = 256 << 10 // bytes
	maxShownLines = 10_000
)

// A fileView is a file as its page shows it.
type fileView struct {
	prompt.File
	Binary  bool
	Reading reading  // of Markdown, which has passages, and else what shows lines
	Lines   []string // of another text
	Cut     bool     // whether the text goes on
}

// Bytes returns the size of the file.
func (f fileView) Bytes() int64 { return int64(f.Size) }

// Markdown reports whether the text is shown rendered too.
func (f fileView) Markdown() bool { return !f.Binary && f.Lines == nil }

func (s *web) viewFile(r *request, p filesPage, f prompt.File, b []byte) *fileView {
	v := &fileView{File: f, Binary: !isText(b)}
	if v.Binary {
		return v
	}
	text := string(b)
	if end := strings.ToLower(path.Ext(f.Path)); (end == ".md" || end == ".markdown") && len(text) <= maxShownText {
		v.Reading = readingOf(prompt.Content{Text: text}, nil)
		left := room(len(text))
		left.take(v.Reading.size())
		v.Reading.render(s.markdown, &left)
		v.Reading.show(p.At(f.Path), r)
		return v
	}
	if len(text) > maxShownText {
		text, v.Cut = strings.ToValidUTF8(text[:maxShownText], ""), true
	}
	v.Reading = readingOf(prompt.Content{Text: text}, nil)
	v.Lines = []string{}
	for line := range strings.Lines(text) {
		if len(v.Lines) == maxShownLines {
			v.Cut = true
			break
		}
		v.Lines = append(v.Lines, line)
	}
	return v
}

// isText reports whether bytes are a text.
func isText(b []byte) bool { return utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 }

// filesOf returns the page of files that an address asks for, without what it shows of them.
func filesOf(r *request) (p filesPage, id prompt.ID, want library.WantedVersion, err error) {
	id, err = idOf(r)
	p, want = filesPage{Prompt: addressOf(id), Number: r.URL.Query().Get("version")}, library.WantedVersion{Label: prompt.Latest}
	if p.Number != "" {
		n := versionNumber(p.Number)
		if err == nil && n < 0 {
			err = errNoVersion()
		}
		p.Number, want = strconv.FormatInt(n, 10), library.WantedVersion{Number: n}
	}
	return p, id, want, err
}

// showFiles shows the tree of the files of a version, or the file of a path.
func (s *web) showFiles(r *request) error {
	p, id, want, err := filesOf(r)
	if err != nil {
		return err
	}
	file := r.URL.Query().Get("path")
	if file == "" {
		if p.FileList, err = s.Service.ListFiles(r.Context(), r.who, id, want); err != nil {
			return err
		}
		p.Tree = treeOf(p, p.Files, 0)
		return s.renderFiles(r, http.StatusOK, p)
	}
	folder, err := s.Service.ReadFolder(r.Context(), r.who, id, want, file)
	if err != nil {
		return err
	}
	p.FileList = folder.FileList
	f, _ := p.Files.Find(file)
	p.File = s.viewFile(r, p, f, folder.Contents[0].Bytes)
	return s.renderFiles(r, http.StatusOK, p)
}

func (s *web) renderFiles(r *request, status int, p filesPage) error {
	v := p.View
	var err error
	if p.holding, err = s.holdingOf(r, owned{v.AuthorID, v.Names(), v.Visibility, v.IsOwn() && !v.Deleted(), v.Open}); err != nil {
		return err
	}
	if p.File != nil {
		return s.render(r, status, "file", fmt.Sprintf("%s of %s", p.File.Path, v.Title), p)
	}
	return s.render(r, status, "files", "Files of "+v.Title, p)
}

// downloadFile answers with the bytes of a file. Their type is that of no page and no script,
// whatever the file is called.
func (s *web) downloadFile(r *request) error {
	_, id, want, err := filesOf(r)
	if err != nil {
		return err
	}
	file := r.URL.Query().Get("path")
	if file == "" {
		return fault.New(fault.NotFound, "the address names no file: open it on the page of all files")
	}
	folder, err := s.Service.ReadFolder(r.Context(), r.who, id, want, file)
	if err != nil {
		return err
	}
	return attachFile(r, path.Base(file), folder.Contents[0].Bytes)
}

func (s *web) downloadArchive(r *request) error {
	_, id, want, err := filesOf(r)
	if err != nil {
		return err
	}
	folder, err := s.Service.ReadFolder(r.Context(), r.who, id, want, "")
	if err != nil {
		return err
	}
	return attachFile(r, folder.Slug+".zip", folder.Archive())
}

// attachFile answers with bytes that others wrote, for the disk alone.
func attachFile(r *request, name string, b []byte) error {
	r.w.Header().Set("Content-Security-Policy", "sandbox; default-src 'none'")
	return attach(r.w, "application/octet-stream", transfer.Attachment(name), b)
}
