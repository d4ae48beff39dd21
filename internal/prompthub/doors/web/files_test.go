package web_test

import (
	"archive/zip"
	"bytes"
	"io"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

const skillText = "---\nname: pdf-forms\ndescription: Fills PDF forms.\n---\n\n# How\n\nRun scripts/fill.py <b>now</b>.\n"

// hostileFiles are files of a skill that mean harm to the one who looks at them.
func hostileFiles() []library.SentFile {
	file := func(path, text string) library.SentFile { return library.SentFile{Path: path, Bytes: []byte(text)} }
	return []library.SentFile{
		file("SKILL.md", skillText),
		{Path: "scripts/fill.py", Bytes: []byte(
			"#!/usr/bin/env python3\nprint(\"<script>alert(1)</script>\")\nx = 1 # \u202etxet\n"), Executable: true},
		file("page.html", "<script>alert(1)</script>"), file("pic.svg", `<svg onload="alert(1)"/>`),
		file("notes/a&b'c #%20.md", "# Hi\n\n<img src=x onerror=alert(1)> [x](javascript:alert(1))\n"),
		file("data.bin", "\x00\x01"), file("long.txt", strings.Repeat("a line\n", 10_050)), file("empty.txt", ""),
	}
}

// writeFiles stores a skill of Ann's and returns the address of its page.
func (w *world) writeFiles(visibility prompt.Visibility, files []library.SentFile) string {
	w.t.Helper()
	w.clock.Advance(time.Second)
	d, err := library.WithFiles(prompt.Draft{Kind: prompt.KindText, Visibility: visibility}, files, nil)
	require.NoError(w.t, err)
	v, _, err := w.service.Create(w.t.Context(), auth.User{ID: "Ann", Name: "Ann"}, d, "")
	require.NoError(w.t, err)
	return "/app/prompts/" + string(v.ID)
}

// TestFilesPage: the tree of a skill and each of its files are shown, escaped, and downloaded as
// what no browser runs.
func TestFilesPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, bob := w.as("Ann"), w.as("Bob")
	page := w.writeFiles("public", hostileFiles())
	bob.get(page).has(`href="`+page+`/files">Files (8)</a>`, `href="`+page+`/archive"`,
		"contains 1 script; read it before you install it")
	tree := bob.get(page+"/files").is(200).has(">8 files, 69 KiB<", "contains 1 script",
		`class="folder" dir="auto">scripts/`, "script</span>", "executable</span>", "a&amp;b&#39;c #%20.md", "2 bytes")
	require.Less(t, strings.Index(tree.body, "SKILL.md"), strings.Index(tree.body, "notes/"))
	open := func(name string) shown { return bob.get(tree.find(`href="([^"]*/files\?path=` + name + `)"`)).is(200) }
	open("SKILL.md").has(`<div id="rendered"`, `&amp;view=source"`, "&lt;b&gt;now").lacks("<b>now")
	bob.get(page + "/files?path=SKILL.md&view=source").has(`<div id="rendered" class="reading" hidden>`)
	open("scripts[^\"]*").has("<span>#!/usr/bin/env python3\n</span>", "&lt;script&gt;", "U+202E",
		"1 character that cannot be seen", "contains 1 script").lacks("<script>alert")
	open("page.html").has("&lt;script&gt;alert(1)").lacks("<script>alert")
	open("pic.svg").has("&lt;svg onload=").lacks("<svg onload")
	open("notes[^\"]*").has("&lt;img src=x").lacks("<img src=x", `href="javascript`)
	open("data.bin").has("A binary file", "<dd>2 bytes</dd>",
		"b413f47d13ee2fe6c845b2ee141af81de858df4ec549a58b7970bb96645bc8d2")
	require.Equal(t, 10_000, strings.Count(open("long.txt").has("this is how it begins").body, "<span>a line"))
	open("empty.txt").has("The file is empty.")
	for _, name := range []string{"page.html", "pic.svg", "scripts%2Ffill.py", "SKILL.md"} {
		got := bob.get(page + "/files/content?path=" + name).is(200)
		require.Equal(t, "application/octet-stream", got.header.Get("Content-Type"))
		require.Contains(t, got.header.Get("Content-Disposition"), "attachment")
		require.Equal(t, "sandbox; default-src 'none'", got.header.Get("Content-Security-Policy"))
		require.Equal(t, "nosniff", got.header.Get("X-Content-Type-Options"))
	}
	require.Equal(t, skillText, bob.get(page+"/files/content?path=SKILL.md").body)
	zip := bob.get(page + "/archive?version=1").is(200)
	require.Equal(t, "attachment; filename=pdf-forms.zip", zip.header.Get("Content-Disposition"))
	require.True(t, strings.HasPrefix(zip.body, "PK"))
	for _, lost := range []string{
		"/files?path=none", "/files?version=2", "/files?version=x",
		"/files/content?path=none", "/files/content", "/archive?version=2",
	} {
		bob.get(page + lost).is(404)
	}

	own := w.writeFiles("private",
		[]library.SentFile{
			{Path: "a.sh", Bytes: []byte("x")},
			{Path: "SKILL.md", Bytes: []byte("---\nname: own\ndescription: Mine.\n---\nText.\n")},
		})
	ann.get(own+"/files?version=1").is(200).has(`href="`+own+`/files?path=a.sh&amp;version=1"`,
		`href="`+own+`/archive?version=1"`).lacks("before you install it")
	for _, hidden := range []string{"/files", "/files?path=a.sh", "/files/content?path=a.sh", "/archive"} {
		bob.get(own + hidden).is(404)
	}
	text := ann.write("Text alone", "Hello.", "private")
	ann.get(text).has(`href="` + text + `/files">Files</a>`).lacks("Files (")
	ann.get(text+"/files").is(200).has("SKILL.md", "made of the text")
}

// zipped returns a ZIP with files; paths and texts alternate.
func zipped(t testing.TB, files ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		f, err := z.Create(files[i])
		require.NoError(t, err)
		_, err = io.WriteString(f, files[i+1])
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return b.String()
}

// TestUploadSkill: a ZIP becomes a prompt, and another its next version.
func TestUploadSkill(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	form := ann.get("/app/prompts/new").has(`action="/app/prompts/new/files"`, `enctype="multipart/form-data"`)
	key := form.find(`action="/app/prompts/new/files".*\n.*name="key" value="([^"]*)"`)
	file := zipped(t, "pdf/SKILL.md", skillText, "pdf/run.sh", "#!/bin/sh\r\necho <b>\r\n", "pdf/.DS_Store", "x")
	to := ann.upload("/app/prompts/new/files", "pdf.zip", file, "key", key).to("/app/prompts/")
	ann.get(to).has("The prompt is saved, without the files that systems and git put into folders.", "Files (2)",
		"pdf-forms")
	page, _, _ := strings.Cut(to, "?")
	require.Equal(t, to, ann.upload("/app/prompts/new/files", "pdf.zip", file, "key", key).to("/app/prompts/"),
		"sent twice it is one")
	for _, bad := range [][2]string{
		{"", "Choose a ZIP."},
		{"no zip", "no ZIP archive"},
		{zipped(t, "a.md", "x"), "no SKILL.md"},
		{zipped(t, "SKILL.md", "x"), "SKILL.md"},
		{file, "another"},
		{zipped(t, "SKILL.md", skillText, "a", "x", "A", "y"), "case does not count"},
	} {
		name := "x.zip"
		if bad[0] == "" {
			name = ""
		}
		ann.upload("/app/prompts/new/files", name, bad[0]).is(422).has(bad[1], `id="upload"`)
	}
	ann.post("/app/prompts/new/files", "public", "yes").is(400)
	ann.get(ann.upload("/app/prompts/new/files", "x.zip",
		zipped(t, "SKILL.md", strings.Replace(skillText, "pdf-forms", "open", 1)), "public",
		"yes").to("/app/prompts/")).has(`class="badge">public`)
	w.nobody().upload("/app/prompts/new/files", "pdf.zip", file).is(401)

	upload := func(name, content string, pairs ...string) shown {
		revision := ann.get(page + "/files").find(`name="revision" value="(\d+)"`)
		return ann.upload(page+"/files/upload", name, content, append(pairs, "revision", revision)...)
	}
	next := zipped(t, "SKILL.md", strings.Replace(skillText, "now", "then", 1), "b.txt", "B")
	ann.get(upload("x.zip", next, "do", "replace", "message", "new set").to(page+"/files?done=files-saved")).has(
		">2 files,", "version 2", "b.txt").lacks("run.sh")
	ann.get(page + "/versions").has("new set")
	ann.get(upload("x.zip", next, "do", "replace").to(page + "/files?done=same")).has("version 2")
	ann.get(upload("c.py", "C", "do", "add", "folder", "/scripts/").to(page+"/files?done=files-saved")).has(
		"version 3", "scripts/", "c.py", "b.txt")
	ann.get(upload("b.txt", "BB", "do", "add").to(page+"/files?done=files-saved")).has("version 4", ">3 files,")
	upload("con", "x", "do", "add").is(422).has("Windows takes it for a device")
	upload("x.zip", zipped(t, "SKILL.md", strings.Replace(skillText, "pdf-forms", "other", 1)), "do",
		"replace").is(422).has("is named")
	w.as("Bob").upload(page+"/files/upload", "b.txt", "x", "do", "add", "revision", "4").is(404)
}

// TestChangeFiles: each save of a file is one version, and leaves all others alone.
func TestChangeFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	page := w.writeFiles("public",
		append(hostileFiles(), library.SentFile{Path: "dos.bat", Bytes: []byte("a\r\nb\r\n")},
			library.SentFile{Path: "mixed.txt", Bytes: []byte("a\rb\n")}))
	all := page + "/files"
	open := func(file string) shown { return ann.get(all + "?path=" + url.QueryEscape(file)).is(200) }
	save := func(pairs ...string) shown {
		return ann.post(all, append(
			[]string{"revision", ann.get(all).find(`name="revision" value="(\d+)"`), "do", "save"}, pairs...)...)
	}
	bytesOf := func(file string) string {
		return ann.get(page + "/files/content?path=" + url.QueryEscape(file)).is(200).body
	}

	ann.get(save("name", "references/a.md", "text", "# A\r\nline", "message", "why A").to(
		all+"?path=references%2Fa.md&done=file-saved")).has("The file is saved, in a new version.", "version 2")
	require.Equal(t, "# A\nline", bytesOf("references/a.md"))
	ann.get(page + "/versions").has("why A")
	open("dos.bat").has("a\r\nb")
	save("path", "dos.bat", "name", "dos.bat", "text", "a\r\nb\r\n").to(all + "?path=dos.bat&done=same")
	save("path", "dos.bat", "name", "dos.cmd", "text", "a\r\nc\r\n").to(all + "?path=dos.cmd&done=file-saved")
	require.Equal(t, "a\r\nc\r\n", bytesOf("dos.cmd"))
	open("mixed.txt").lacks("<textarea").has("Rename…")
	save("path", "mixed.txt", "name", "m.txt").to(all + "?path=m.txt&")
	require.Equal(t, "a\rb\n", bytesOf("m.txt"))
	open("data.bin").lacks("<textarea")
	save("path", "scripts/fill.py", "name", "scripts/fill.py", "text", "#!/bin/sh").to(all)
	open("scripts/fill.py").lacks("executable</span>").has("script</span>")
	save("path", "SKILL.md", "name", "SKILL.md", "text", strings.Replace(skillText, "now", "later", 1)).to(all)
	ann.get(page).has("later")
	save("path", "SKILL.md", "name", "SKILL.md", "text", "no head").is(422).has("no head</textarea>", `id="wrong"`)
	save("name", "a/../b", "text", "kept").is(422).has("without . and ..", "kept</textarea>", `value="a/../b"`)
	save("name", "page.html", "text", "twice").is(422).has("it is here twice")
	ann.get(ann.post(all, "revision", ann.get(all).find(`name="revision" value="(\d+)"`), "do", "remove", "path",
		"pic.svg").to(all + "?done=file-removed")).has("The file is removed").lacks("pic.svg")
	ann.get(all + "?version=1").has("pic.svg").lacks("<form class=\"stack\"")

	// Another tab was faster: nothing is lost, and saving again puts it into what that saved.
	old := open("page.html").find(`name="revision" value="(\d+)"`)
	save("path", "long.txt", "name", "long.txt", "text", "short").to(all)
	again := ann.post(all, "revision", old, "do", "save", "path", "page.html", "name", "page.html", "text",
		"<p>new</p>").is(412).has("Nothing is lost", "&lt;p&gt;new&lt;/p&gt;</textarea>")
	ann.post(all, "revision", again.find(`name="revision" value="(\d+)"`), "do", "save", "path", "page.html", "name",
		"page.html", "text", "<p>new</p>").to(all)
	require.Equal(t, "short", bytesOf("long.txt"))
	require.Equal(t, "<p>new</p>", bytesOf("page.html"))
	save("path", "pic.svg", "name", "pic.svg", "text", "<svg/>").is(422).has(
		"no such file any more", "&lt;svg/&gt;</textarea>")
	ann.post(all, "do", "save", "name", "x").is(400)
	w.as("Bob").get(all).lacks("<textarea")
	w.as("Bob").post(all, "revision", "1", "do", "remove", "path", "SKILL.md").is(403)
	w.nobody().post(all, "revision", "1", "do", "save", "name", "x").is(401)

	// A prompt of a text alone gets its first file.
	text := ann.write("Text alone", "Hello.", "private")
	ann.get(ann.post(text+"/files", "revision", "1", "do", "save", "name", "run.sh", "text",
		"x").to(text + "/files?path=run.sh")).is(200)
	ann.get(text+"/files").has("made of the text", "run.sh")
	ann.get(text + "/files?path=SKILL.md").has("made of the text").lacks("<textarea")
}

// TestCompareFiles: the difference of two versions shows each file that differs, escaped.
func TestCompareFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	page := w.writeFiles("public", hostileFiles())
	first := hostileFiles()
	first[0].Bytes = []byte(strings.Replace(skillText, "now", "later", 1))
	first[1].Executable = false
	first[2].Bytes = []byte("<script>alert(2)</script>")
	first[5].Bytes = []byte{0, 2, 3}
	first[7] = library.SentFile{Path: "new.js", Bytes: []byte("<img onerror=x>\n")}
	id, _ := prompt.ParseID(strings.TrimPrefix(page, "/app/prompts/"))
	_, err := w.service.PatchWithFiles(t.Context(), auth.User{ID: "Ann"}, id, library.Match{Any: true},
		first, func(*prompt.Draft) {})
	require.NoError(t, err)
	for _, view := range []string{"", "&view=split"} {
		s := ann.get(page+"/compare?from=1&to=2"+view).is(200).has(
			"SKILL.md</span> <span class=\"badge\">changed", "It is not executable any more.",
			`page.html</span> <span class="badge">changed`, "2 bytes before, 3 bytes now",
			`new.js</span> <span class="badge">added</span> <span class="badge script-mark">script`,
			"&lt;img onerror=x&gt;", `empty.txt</span> <span class="badge">removed`,
		).lacks("<script>alert", "<img onerror", "These two versions", "long.txt", `aria-label="Text"`)
		_, added, _ := strings.Cut(s.body, "new.js</span>")
		added, _, _ = strings.Cut(added, "</section>")
		require.Equal(t, 1, strings.Count(added, "<ins>"))
		require.NotContains(t, added, "removed</span>", "a version without a file has no empty line of it")
		require.Equal(t, 1, strings.Count(s.body, ">later<"), "what changed in SKILL.md is shown once")
	}
	ann.get(page + "/compare?from=2&to=2").has("one and the same version")
}
