package web

import (
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"prompthub/internal/fault"
	"prompthub/internal/http/pages"
	"prompthub/internal/prompthub/files/archive"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/transfer"
)

func (s *web) files() {
	all := Prefix + "/prompts/{id}/files"
	s.handle("GET "+all, reader, s.showFiles)
	s.handle("GET "+all+"/content", reader, s.downloadFile)
	s.handle("GET "+Prefix+"/prompts/{id}/archive", reader, s.downloadArchive)
	s.register("POST "+all, s.action(user, maxForm+3*maxEdited, s.changeFile)) // each byte may be sent as %XX
	s.register("POST "+all+"/upload", s.action(user, maxFilesUpload, s.uploadFiles))
	s.register("POST "+Prefix+"/prompts/new/files", s.action(user, maxFilesUpload, s.createSkill))
}

// A filesPage is the files of a version of a prompt, or one of them.
type filesPage struct {
	library.FileList
	holding
	Prompt string // the address
	Number string // of the version, if the address names one
	Tree   []*branch
	File   *fileView
	Form   fileForm // of the file, or of a new one
	Wrong  string
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

// nameVersion names the version in the addresses of a page that does not show the latest.
func (p *filesPage) nameVersion() {
	if p.Version != p.Latest {
		p.Number = strconv.FormatInt(p.Version, 10)
	}
}

// Recalled returns the recall of the version, nil for none.
func (p filesPage) Recalled() *recalled {
	if p.ShownVersion.Recall == nil {
		return nil
	}
	return &recalled{Recall: *p.ShownVersion.Recall}
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
	text    string
}

// Bytes returns the size of the file.
func (f fileView) Bytes() int64 { return int64(f.Size) }

// Markdown reports whether the text is shown rendered too.
func (f fileView) Markdown() bool { return !f.Binary && f.Lines == nil }

func (s *web) viewFile(r *request, p filesPage, f prompt.File, b []byte) *fileView {
	v := &fileView{File: f, Binary: !prompt.IsText(b)}
	if v.Binary {
		return v
	}
	text := string(b)
	v.text = text
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

// filesOf returns the page of files that an address asks for, without what it shows of them.
func filesOf(r *request) (p filesPage, id prompt.ID, want library.WantedVersion, err error) {
	id, err = idOf(r)
	p, want = filesPage{Prompt: addressOf(id), Number: r.URL.Query().Get("version")}, library.LatestNotRecalled
	if p.Number != "" {
		n := versionNumber(p.Number)
		if err == nil && n < 0 {
			err = errNoVersion()
		}
		p.Number, want = strconv.FormatInt(n, 10), library.WantedVersion{Number: n, History: true}
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
		p.nameVersion()
		p.Tree = treeOf(p, p.Files, 0)
		return s.renderFiles(r, http.StatusOK, p)
	}
	folder, err := s.Service.ReadFolder(r.Context(), r.who, id, want, file)
	if err != nil {
		return err
	}
	p.FileList = folder.FileList
	p.nameVersion()
	f, _ := p.Files.Find(file)
	p.File = s.viewFile(r, p, f, folder.Contents[0].Bytes)
	return s.renderFiles(r, http.StatusOK, p)
}

func (s *web) renderFiles(r *request, status int, p filesPage) error {
	v := p.View
	var err error
	if p.File != nil && p.Form.Path == "" {
		p.Form = fileForm{
			Path: p.File.Path, Name: p.File.Path, Text: p.File.text,
			Textual: !p.File.Binary && editable(p.File.text), Executable: p.File.Executable,
		}
	}
	if p.holding, err = s.holdingOf(r,
		owned{v.AuthorID, v.Names(), v.Visibility, v.IsOwn() && !v.Deleted(), v.Open}); err != nil {
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

const (
	maxEdited = maxShownText // bytes of a text that the page changes
	// bytes of a form with files or an archive of them
	maxFilesUpload = 12 << 20
)

// A fileForm is a file as somebody adds or changes it.
type fileForm struct {
	Path       string // "" for a new file
	Name       string // the path that it gets
	Text       string
	Textual    bool // whether the text is in the form
	Executable bool
	Message    string
}

// Most returns how many bytes an upload may have.
func (filesPage) Most() int { return maxFilesUpload }

// Edits reports whether the reader may change the files shown.
func (p filesPage) Edits() bool { return p.Edit && p.Version == p.Latest && !p.Deleted() }

// editable reports whether a text comes back from a form as it was, but for ends of lines that are
// all alike.
func editable(text string) bool {
	alike := strings.ReplaceAll(text, "\r\n", "")
	return len(text) <= maxEdited && !strings.Contains(alike, "\r") &&
		(len(alike) == len(text) || !strings.Contains(alike, "\n"))
}

// written returns the files of a prompt as a change sends those that it keeps.
func written(files prompt.Files) []library.SentFile {
	list := []library.SentFile{}
	for _, f := range files.Written() {
		list = append(list, library.SentFile{Path: f.Path, SHA256: f.SHA256, Executable: f.Executable})
	}
	return list
}

// revisionOf returns what a form says that it is based on.
func revisionOf(r *request) (int64, error) {
	n, err := strconv.ParseInt(r.PostForm.Get("revision"), 10, 64)
	if err != nil {
		return 0, fault.Wrap(fault.Malformed, "the form does not say what it is based on", err)
	}
	return n, nil
}

// changeFile adds, changes, renames or removes a file, as a new version.
func (s *web) changeFile(r *request) error {
	v, err := s.mineToEdit(r)
	if err != nil {
		return err
	}
	get := r.PostForm.Get
	f := fileForm{
		Path: get("path"), Name: strings.TrimSpace(get("name")), Text: lf(get("text")), Textual: r.PostForm.Has("text"),
		Executable: get("executable") != "", Message: lf(get("message")),
	}
	files := written(v.Files)
	at := slices.IndexFunc(files, func(sent library.SentFile) bool { return sent.Path == f.Path })
	done := "file-saved"
	switch {
	case f.Path != "" && at < 0:
		err = fault.New(fault.Conflict, "the prompt has no such file any more; save again to add it")
		f.Path = ""
	case get("do") == "remove" && at >= 0:
		files, done = slices.Delete(files, at, at+1), "file-removed"
	default:
		if at < 0 {
			files, at = append(files, library.SentFile{}), len(files)
		}
		files[at].Path, files[at].Executable = f.Name, f.Executable
		if f.Textual {
			files[at].Bytes, err = s.fileText(r, v, f)
			files[at].SHA256 = ""
		}
	}
	if err == nil {
		done, err = s.saveFiles(r, v, files, f.Message, done)
	}
	if correctable(err) || needsRole(err) {
		return s.filesAgain(r, v, f, err)
	}
	if err != nil {
		return err
	}
	p := filesPage{Prompt: addressOf(v.ID)}
	if done == "file-removed" {
		goOn(r, p.At("")+"?done="+done)
		return nil
	}
	goOn(r, p.At(f.Name)+"&done="+done)
	return nil
}

// fileText returns the bytes of a file with the text of a form. They have the ends of lines that it
// had, as browsers send every one as CR LF.
func (s *web) fileText(r *request, v library.View, f fileForm) ([]byte, error) {
	if f.Path == "" {
		return []byte(f.Text), nil
	}
	was, err := s.Service.FolderOf(r.Context(), v, f.Path)
	if err != nil {
		return nil, err
	}
	text := string(was.Contents[0].Bytes)
	switch {
	case lf(text) == f.Text:
		return was.Contents[0].Bytes, nil
	case strings.Contains(text, "\r\n"):
		return []byte(strings.ReplaceAll(f.Text, "\n", "\r\n")), nil
	}
	return []byte(f.Text), nil
}

// saveFiles puts files in place of those that a prompt has, if it is as the form of a request knew
// it, and returns the word for what became of it.
func (s *web) saveFiles(r *request, was library.View, files []library.SentFile, message, done string) (string, error) {
	revision, err := revisionOf(r)
	if err != nil {
		return "", err
	}
	m := library.Match{Revisions: []int64{revision}}
	now, err := s.Service.PatchWithFiles(r.Context(), r.who, was.ID, m, files, func(d *prompt.Draft) {
		d.Message = message
	})
	if err == nil && now.Version == was.Version {
		done = "same"
	}
	return done, err
}

// filesAgain shows a page of files again with what a form sent, and why it was not saved. If
// another tab was faster, the form is then based on what that saved.
func (s *web) filesAgain(r *request, v library.View, f fileForm, wrong error) error {
	text, _ := describe(wrong)
	status := http.StatusUnprocessableEntity
	if fault.Of(wrong) == fault.Stale {
		status = http.StatusPreconditionFailed
		text = "this prompt was saved in another tab or window after you opened it here. Nothing is lost: look at what it has now, and save again to put yours into it"
	}
	v, err := s.Service.GetVersion(r.Context(), r.who, v.ID, library.WantedVersion{Label: prompt.Latest, History: true})
	if err != nil {
		return err
	}
	p := filesPage{Prompt: addressOf(v.ID), Wrong: pages.Sentence(text), Form: f}
	if _, there := v.Files.Find(f.Path); !there {
		if p.Files, _, err = library.FilesOf(v.Prompt); err != nil {
			return err
		}
		p.View, p.Form.Path = v, ""
		p.Tree = treeOf(p, p.Files, 0)
		return s.renderFiles(r, status, p)
	}
	folder, err := s.Service.FolderOf(r.Context(), v, f.Path)
	if err != nil {
		return err
	}
	p.FileList = folder.FileList
	file, _ := p.Files.Find(f.Path)
	p.File = s.viewFile(r, p, file, folder.Contents[0].Bytes)
	return s.renderFiles(r, status, p)
}

// uploadFiles puts files into a prompt, or those of a ZIP in place of all that it has.
func (s *web) uploadFiles(r *request) error {
	leave, err := s.Admission.EnterFile(r.caller)
	if err != nil {
		return err
	}
	defer leave()
	v, err := s.mineToEdit(r)
	if err != nil {
		return err
	}
	if err := r.ParseMultipartForm(maxFilesUpload); err != nil {
		return fault.Wrap(fault.Malformed, "the form cannot be read", err)
	}
	done := "files-saved"
	var files []library.SentFile
	if r.PostForm.Get("do") == "replace" {
		var out []string
		if files, out, err = readArchive(r); len(out) > 0 {
			done = "files-part"
		}
	} else {
		files, err = readFiles(r, written(v.Files))
	}
	if err == nil {
		done, err = s.saveFiles(r, v, files, lf(r.PostForm.Get("message")), done)
	}
	if correctable(err) || needsRole(err) {
		return s.filesAgain(r, v, fileForm{}, err)
	}
	if err != nil {
		return err
	}
	goOn(r, addressOf(v.ID)+"/files?done="+done)
	return nil
}

// uploads returns the files of a form that were chosen, without the empty one of a field where none
// was.
func uploads(r *request) []*multipart.FileHeader {
	return slices.DeleteFunc(slices.Clone(r.MultipartForm.File["file"]), func(h *multipart.FileHeader) bool {
		return h.Filename == ""
	})
}

func readUpload(h *multipart.FileHeader) ([]byte, error) {
	f, err := h.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// readFiles puts the files of a form among others: into the folder that it names, over those of the
// same paths.
func readFiles(r *request, files []library.SentFile) ([]library.SentFile, error) {
	list := uploads(r)
	if len(list) == 0 {
		return nil, fault.New(fault.Invalid, "choose a file")
	}
	folder := strings.Trim(strings.TrimSpace(r.PostForm.Get("folder")), "/")
	for _, h := range list {
		b, err := readUpload(h)
		if err != nil {
			return nil, err
		}
		name := norm.NFC.String(h.Filename)
		if folder != "" {
			name = folder + "/" + name
		}
		at := slices.IndexFunc(files, func(f library.SentFile) bool { return f.Path == name })
		if at < 0 {
			files, at = append(files, library.SentFile{Path: name}), len(files)
		}
		files[at].Bytes, files[at].SHA256 = b, ""
	}
	return files, nil
}

// readArchive returns the files of the ZIP of a form, and what of it was left out.
func readArchive(r *request) (files []library.SentFile, leftOut []string, err error) {
	list := uploads(r)
	if len(list) == 0 {
		return nil, nil, fault.New(fault.Invalid, "choose a ZIP")
	}
	b, err := readUpload(list[0])
	if err != nil {
		return nil, nil, err
	}
	folder, err := archive.Read(b)
	if err != nil {
		return nil, nil, err
	}
	files = []library.SentFile{}
	for _, f := range folder.Files {
		files = append(files, library.SentFile{Path: f.Path, Bytes: f.Bytes, Executable: f.Executable})
	}
	return files, folder.LeftOut, nil
}

// createSkill makes a new prompt of the ZIP of a skill.
func (s *web) createSkill(r *request) error {
	leave, err := s.Admission.EnterFile(r.caller)
	if err != nil {
		return err
	}
	defer leave()
	if err := r.ParseMultipartForm(maxFilesUpload); err != nil {
		return fault.Wrap(fault.Malformed, "the form cannot be read", err)
	}
	d := prompt.Draft{Kind: prompt.KindText, Visibility: prompt.Private}
	if r.PostForm.Get("public") != "" {
		d.Visibility = prompt.Public
	}
	files, out, err := readArchive(r)
	if err == nil && !slices.ContainsFunc(files, func(f library.SentFile) bool { return f.Path == prompt.SkillFile }) {
		err = fault.New(fault.Invalid, "the ZIP has no SKILL.md at its root, or in the one folder that holds all: put one there that begins with --- and the lines name:, description: and ---")
	}
	if err == nil {
		d, err = library.WithFiles(d, files, nil)
	}
	as := r.who
	if owner := r.PostForm.Get("owner"); err == nil && owner != "" {
		as, err = s.Service.In(r.Context(), r.who, owner)
	}
	var v library.View
	if err == nil {
		v, _, err = s.Service.Create(r.Context(), as, d, onceOnly(r.PostForm.Get("key")+d.Files.Digest(), d))
	}
	if correctable(err) || needsRole(err) {
		text, _ := describe(err)
		return s.showNew(r, http.StatusUnprocessableEntity, prompt.Draft{Visibility: d.Visibility},
			fault.New(fault.Invalid, text))
	}
	if err != nil {
		return err
	}
	done := "created"
	if len(out) > 0 {
		done = "created-part"
	}
	goOn(r, addressOf(v.ID)+"?done="+done)
	return nil
}
