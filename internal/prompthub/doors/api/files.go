package api

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/doors"
	"prompthub/internal/prompthub/files/archive"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/transfer"
)

const zipType = "application/zip"

// anyBody lets huma take what readBody has let pass.
const anyBody = 2 * doors.MaxFilesBody

func (a *api) files() {
	tags := []string{"files"}
	route(a, user, takesZIP(answers[Prompt](a, http.StatusOK, "The prompt as it is now", huma.Operation{
		OperationID: "replace-files", Method: http.MethodPut, Path: "/prompts/{id}/files",
		Tags: tags, MaxBodyBytes: anyBody,
		Summary:     "Put files in place of those that a prompt has, as a new version; its author may",
		Errors:      fails(badBody, 403, 404, 409, 412, 428),
		Description: "The same files make no version. A file that the latest version has may be named by its sha256 alone. " + filesDoc,
	})), a.replaceFiles)
	route(a, reader, huma.Operation{
		OperationID: "list-files", Method: http.MethodGet, Path: "/prompts/{id}/files", Tags: tags,
		Summary: "The files of a version of a prompt", Errors: []int{404, 410, 422},
		Description: "Those of the latest version, or of another. A prompt of a text alone has one file, a SKILL.md that is made of it; one that includes others is no skill and has none (404).",
	}, a.listFiles)
	route(a, reader, huma.Operation{
		OperationID: "get-file", Method: http.MethodGet, Path: "/prompts/{id}/files/content", Tags: tags,
		Summary: "The bytes of a file of a version", Errors: []int{404, 410, 422},
		Description: "As text/plain if they are UTF-8 without U+0000, else as application/octet-stream; never as a type that a browser runs. ETag is the SHA-256 of the bytes.",
		Responses: map[string]*huma.Response{
			"200": {
				Description: "The bytes",
				Content: map[string]*huma.MediaType{
					textType: {Schema: &huma.Schema{Type: huma.TypeString}, Example: "#!/bin/sh\n"},
					fileType: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}},
				},
			},
		},
	}, a.getFile)
	route(a, reader, huma.Operation{
		OperationID: "get-archive", Method: http.MethodGet, Path: "/prompts/{id}/archive", Tags: tags,
		Summary: "All files of a version as a ZIP archive, SKILL.md at its root", Errors: []int{404, 410, 422},
		Description: "A version with files gives the same bytes on every instance and release; that of a text alone has a SKILL.md which another release may make otherwise. ETag is the SHA-256 of the bytes.",
		Responses: map[string]*huma.Response{
			"200": {
				Description: "The archive",
				Content: map[string]*huma.MediaType{
					zipType: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}},
				},
			},
		},
	}, a.getArchive)
}

const filesDoc = "A version has at most 256 files, a file 4 MiB and SKILL.md 256 KiB, all together 8 MiB, those of all versions of a prompt 64 MiB; the body has at most 12 MiB. " +
	"A path has at most 200 bytes in 8 parts, in the normal form C of Unicode, and names that every system takes for a file. " +
	"SKILL.md begins with a head of YAML that has name, the slug of the prompt, and description; the prompt takes its text and description from it, and a change of these changes the file. Without a SKILL.md one is made of the text. " +
	"A body of the type application/zip is an archive of the folder, of at most 1,000 entries, without links: one folder that holds everything is taken off, and .git, __MACOSX, .DS_Store, Thumbs.db and desktop.ini are left out; what else a prompt says stands in the query then."

// A SentFile is a file of a version in a request.
type SentFile struct {
	Path       string  `json:"path" doc:"In the folder of the skill, with slashes" example:"scripts/fill.py"`
	Content    *string `json:"content,omitempty" doc:"Its text" example:"#!/usr/bin/env python3\n"`
	Base64     []byte  `json:"base64,omitempty" doc:"In place of content: its bytes" example:"iVBORw0KGgo="`
	SHA256     string  `json:"sha256,omitempty" pattern:"^[0-9a-f]{64}$" patternDescription:"64 of 0-9 a-f" doc:"In place of content: the SHA-256, in hex, of bytes that the latest version has" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	Executable bool    `json:"executable,omitempty" doc:"Whether it may be run" example:"true"`
}

func sent(list []SentFile) []library.SentFile {
	if list == nil {
		return nil
	}
	all := make([]library.SentFile, len(list))
	for i, f := range list {
		all[i] = library.SentFile{Path: f.Path, Bytes: f.Base64, SHA256: f.SHA256, Executable: f.Executable}
		if f.Content != nil {
			all[i].Bytes, all[i].SHA256 = []byte(*f.Content), ""
		} else if f.Base64 != nil {
			all[i].SHA256 = ""
		}
	}
	return all
}

// A FilesSummary says what files a prompt has.
type FilesSummary struct {
	Count   int      `json:"count" doc:"How many, SKILL.md among them" example:"3"`
	Bytes   int      `json:"bytes" doc:"All together" example:"5120"`
	Scripts int      `json:"scripts" doc:"How many of them somebody may run: executable, or by their beginning or name" example:"1"`
	Digest  string   `json:"digest" doc:"sha256: and the SHA-256, in hex, of what sha256sum prints for them, sorted by path, with * in place of the second space before an executable one" example:"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	Tree    string   `json:"tree" doc:"The id of the folder as a tree of git" example:"4b825dc642cb6eb9a060e54bf8d69288fbee4904"`
	LeftOut []string `json:"leftOut,omitempty" doc:"In the answer to an archive alone: what of it was left out" example:"[\"__MACOSX/\"]"`
}

func summaryOf(files prompt.Files) *FilesSummary {
	return &FilesSummary{
		Count: len(files), Bytes: files.Size(), Scripts: files.Scripts(),
		Digest: files.Digest(), Tree: files.Tree(),
	}
}

// A FileList is the files of a version.
type FileList struct {
	Version int64  `json:"version" doc:"Of the prompt" example:"2"`
	Digest  string `json:"digest" doc:"As in the files of a prompt" example:"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	Tree    string `json:"tree" doc:"The id of the folder as a tree of git" example:"4b825dc642cb6eb9a060e54bf8d69288fbee4904"`
	Bytes   int    `json:"bytes" doc:"All together" example:"6144"`
	Items   []File `json:"items" nullable:"false" doc:"By path"`
}

// A File is a file of a version.
type File struct {
	Path       string `json:"path" doc:"In the folder of the skill" example:"SKILL.md"`
	Size       int    `json:"size" doc:"In bytes" example:"812"`
	SHA256     string `json:"sha256" doc:"Of its bytes, in hex" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	Executable bool   `json:"executable" doc:"Whether it may be run" example:"false"`
	Script     bool   `json:"script" doc:"Whether somebody may run it: it is executable, or begins with #!, or is called like a program" example:"false"`
	Made       bool   `json:"made" doc:"Whether the service makes it of the text, as a SKILL.md that no author wrote" example:"false"`
}

// takesZIP says that the body of an operation may be an archive too.
func takesZIP(op huma.Operation) huma.Operation {
	if op.RequestBody == nil {
		op.RequestBody = &huma.RequestBody{Content: map[string]*huma.MediaType{}}
	}
	op.RequestBody.Content[zipType] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
	return op
}

// Zipped is what the query says of a prompt whose body is an archive.
type Zipped struct {
	Name       string   `query:"name" doc:"With an archive: as in the body" example:"pdf-forms"`
	Title      string   `query:"title" doc:"With an archive: as in the body" example:"Fill PDF forms"`
	Visibility string   `query:"visibility" enum:"private,public" doc:"With an archive: as in the body" example:"private"`
	Workspace  string   `query:"workspace" doc:"With an archive: as in the body" example:"billing"`
	Tags       []string `query:"tags" doc:"With an archive: as in the body, separated by commas" example:"[\"development\"]"`
	ZippedChange
}

// ZippedChange is the part of it that a change of files takes.
type ZippedChange struct {
	Message string   `query:"message" doc:"With an archive: as in the body" example:"Fills checkboxes too"`
	Labels  []string `query:"labels" doc:"With an archive: as in the body, separated by commas" example:"[\"staging\"]"`
}

type leftOutKey struct{}

// readZIP makes the JSON body that says what an archive and the query say, and goes on with it.
func (a *api) readZIP(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	b, err := a.Admission.ReadBody(w, r, doors.MaxFilesBody)
	var folder archive.Folder
	if err == nil { // unpacked, it may be a hundred times as large
		var leave func()
		c, _ := ctx.Context().Value(callKey{}).(call)
		if leave, err = a.Admission.EnterFile(c.Key); err == nil {
			defer leave()
			folder, err = archive.Read(b)
		}
	}
	if err != nil {
		httpjson.WriteProblem(w, httpjson.Describe(r.Context(), err))
		return
	}
	body := map[string]any{}
	for name, values := range r.URL.Query() {
		switch name {
		case "tags", "labels":
			body[name] = strings.Split(strings.Join(values, ","), ",")
		default:
			body[name] = values[0]
		}
	}
	files := make([]SentFile, len(folder.Files))
	for i, f := range folder.Files {
		files[i] = SentFile{Path: f.Path, Base64: f.Bytes, Executable: f.Executable}
		if f.Bytes == nil {
			files[i].Base64 = []byte{}
		}
	}
	body["files"] = files
	made, err := json.Marshal(body)
	if err != nil {
		httpjson.WriteProblem(w, httpjson.Describe(r.Context(), err))
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(made))
	r.Header = r.Header.Clone()
	r.Header.Set("Content-Type", jsonType)
	next(huma.WithValue(ctx, leftOutKey{}, folder.LeftOut))
}

func isZIP(r *http.Request) bool {
	name, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return name == zipType
}

type replaceFilesInput struct {
	ByID
	Matching
	ZippedChange
	Body FilesDraft
}

// A FilesDraft is what PUT /prompts/{id}/files takes.
type FilesDraft struct {
	Files   []SentFile `json:"files" nullable:"false" doc:"All files of the next version; none takes them all away"`
	Message string     `json:"message,omitempty" doc:"Why, for the history of versions: at most 500 UTF-16 code units" example:"Fills checkboxes too"`
	Labels  []string   `json:"labels,omitempty" doc:"Labels to put on the version" example:"[\"staging\"]"`
}

func (a *api) replaceFiles(ctx context.Context, c call, in *replaceFilesInput) (*changedOutput, error) {
	id, err := a.based(ctx, c, in.ByID, in.Matching)
	if err != nil {
		return nil, err
	}
	v, err := a.Service.PatchWithFiles(ctx, c.User, id, match(in.IfMatch), sent(in.Body.Files), func(d *prompt.Draft) {
		d.Message, d.Labels = in.Body.Message, in.Body.Labels
	})
	if err != nil {
		return nil, err
	}
	out := a.changed(c, v)
	out.Body = tellLeftOut(ctx, out.Body)
	return out, nil
}

// tellLeftOut adds to the answer what was left out of an archive.
func tellLeftOut(ctx context.Context, body any) any {
	if p, ok := body.(Prompt); ok && p.Files != nil {
		p.Files.LeftOut, _ = ctx.Value(leftOutKey{}).([]string)
	}
	return body
}

// FilesInput names a version of a prompt whose files are wanted.
type FilesInput struct {
	ByID
	Which
}

func (in FilesInput) version() (prompt.ID, library.WantedVersion, error) {
	id, err := in.prompt()
	if err != nil {
		return "", library.WantedVersion{}, err
	}
	want, one, err := in.wanted()
	if !one {
		want = library.LatestNotRecalled
	}
	return id, want, err
}

type filesOutput struct {
	ETag string `header:"ETag" doc:"The digest of the files" example:"\"9f86d081884c7d65\""`
	Body FileList
}

func (a *api) listFiles(ctx context.Context, c call, in *FilesInput) (*filesOutput, error) {
	id, want, err := in.version()
	if err != nil {
		return nil, err
	}
	l, err := a.Service.ListFiles(ctx, c.User, id, want)
	if err != nil {
		return nil, err
	}
	body := FileList{
		Version: l.Version, Digest: l.Files.Digest(), Tree: l.Files.Tree(), Bytes: l.Files.Size(),
		Items: make([]File, len(l.Files)),
	}
	for i, f := range l.Files {
		body.Items[i] = File{
			Path: f.Path, Size: f.Size, SHA256: f.SHA256, Executable: f.Executable,
			Script: f.Script, Made: f.Made,
		}
	}
	return &filesOutput{ETag: `"` + strings.TrimPrefix(body.Digest, "sha256:") + `"`, Body: body}, nil
}

type fileInput struct {
	FilesInput
	Path string `query:"path" required:"true" doc:"Of the file, as list-files gives it" example:"SKILL.md"`
}

type bytesOutput struct {
	ETag        string `header:"ETag" doc:"The SHA-256 of the bytes, in hex" example:"\"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\""`
	ContentType string `header:"Content-Type" hidden:"true"`
	Disposition string `header:"Content-Disposition" doc:"What to call the file" example:"attachment; filename=SKILL.md"`
	Policy      string `header:"Content-Security-Policy" hidden:"true"`
	Body        []byte
}

func download(b []byte, sum, kind, name string) *bytesOutput {
	return &bytesOutput{
		ETag: `"` + sum + `"`, ContentType: kind, Disposition: transfer.Attachment(name),
		Policy: "sandbox; default-src 'none'", Body: b,
	}
}

func (a *api) getFile(ctx context.Context, c call, in *fileInput) (*bytesOutput, error) {
	id, want, err := in.version()
	if err != nil {
		return nil, err
	}
	f, err := a.Service.ReadFolder(ctx, c.User, id, want, in.Path)
	if err != nil {
		return nil, err
	}
	a.Service.Fetched(ctx, c.User, f.View)
	b := f.Contents[0].Bytes
	kind := fileType
	if prompt.IsText(b) {
		kind = textType + "; charset=utf-8"
	}
	return download(b, prompt.NewFile(f.Contents[0]).SHA256, kind, in.Path[strings.LastIndexByte(in.Path, '/')+1:]), nil
}

func (a *api) getArchive(ctx context.Context, c call, in *FilesInput) (*bytesOutput, error) {
	id, want, err := in.version()
	if err != nil {
		return nil, err
	}
	f, err := a.Service.ReadFolder(ctx, c.User, id, want, "")
	if err != nil {
		return nil, err
	}
	a.Service.Fetched(ctx, c.User, f.View)
	b := f.Archive()
	return download(b, prompt.NewFile(prompt.FileBytes{Bytes: b}).SHA256, zipType, f.Slug+".zip"), nil
}

// A FileDiff is a file that differs between two versions.
type FileDiff struct {
	Path   string       `json:"path" doc:"In the folder of the skill" example:"scripts/fill.py"`
	Change string       `json:"change" enum:"added,removed,changed,mode" doc:"mode: only whether it may be run" example:"changed"`
	From   *FileVersion `json:"from,omitempty" doc:"In the first version; absent if it was added"`
	To     *FileVersion `json:"to,omitempty" doc:"In the second version; absent if it was removed"`
	Diff   string       `json:"diff,omitempty" doc:"Its lines as diff -u writes them, without their heads; absent where no line differs, and where they are not compared" example:"@@ -1 +1 @@\n-a\n+b\n"`
}

// A FileVersion is a file as one version has it.
type FileVersion struct {
	SHA256     string `json:"sha256" doc:"Of its bytes, in hex" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	Size       int    `json:"size" doc:"In bytes" example:"812"`
	Executable bool   `json:"executable" doc:"Whether it may be run" example:"false"`
}

func encodeFileDiffs(diffs []prompt.FileDiff) []FileDiff {
	var all []FileDiff
	of := func(f prompt.File) *FileVersion {
		if f.Path == "" {
			return nil
		}
		return &FileVersion{f.SHA256, f.Size, f.Executable}
	}
	for _, d := range diffs {
		all = append(all, FileDiff{
			Path: d.Path, Change: string(d.Change), From: of(d.From),
			To: of(d.To), Diff: d.Hunks(),
		})
	}
	return all
}
