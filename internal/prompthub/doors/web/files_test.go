package web_test

import (
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
		{Path: "scripts/fill.py", Bytes: []byte("#!/usr/bin/env python3\nprint(\"<script>alert(1)</script>\")\nx = 1 # \u202etxet\n"), Executable: true},
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
	bob.get(page).has(`href="`+page+`/files">Files (8)</a>`, `href="`+page+`/archive"`, "contains 1 script; read it before you install it")
	tree := bob.get(page+"/files").is(200).has(">8 files, 69 KiB<", "contains 1 script", `class="folder" dir="auto">scripts/`, "script</span>", "executable</span>", "a&amp;b&#39;c #%20.md", "2 bytes")
	require.Less(t, strings.Index(tree.body, "SKILL.md"), strings.Index(tree.body, "notes/"))
	open := func(name string) shown { return bob.get(tree.find(`href="([^"]*/files\?path=` + name + `)"`)).is(200) }
	open("SKILL.md").has(`<div id="rendered"`, `&amp;view=source"`, "&lt;b&gt;now").lacks("<b>now")
	bob.get(page + "/files?path=SKILL.md&view=source").has(`<div id="rendered" class="reading" hidden>`)
	open("scripts[^\"]*").has("<span>#!/usr/bin/env python3\n</span>", "&lt;script&gt;", "U+202E", "1 character that cannot be seen", "contains 1 script").lacks("<script>alert")
	open("page.html").has("&lt;script&gt;alert(1)").lacks("<script>alert")
	open("pic.svg").has("&lt;svg onload=").lacks("<svg onload")
	open("notes[^\"]*").has("&lt;img src=x").lacks("<img src=x", `href="javascript`)
	open("data.bin").has("A binary file", "<dd>2 bytes</dd>", "b413f47d13ee2fe6c845b2ee141af81de858df4ec549a58b7970bb96645bc8d2")
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
	for _, lost := range []string{"/files?path=none", "/files?version=2", "/files?version=x", "/files/content?path=none", "/files/content", "/archive?version=2"} {
		bob.get(page + lost).is(404)
	}

	own := w.writeFiles("private", []library.SentFile{{Path: "a.sh", Bytes: []byte("x")}, {Path: "SKILL.md", Bytes: []byte("---\nname: own\ndescription: Mine.\n---\nText.\n")}})
	ann.get(own+"/files?version=1").is(200).has(`href="`+own+`/files?path=a.sh&amp;version=1"`, `href="`+own+`/archive?version=1"`).lacks("before you install it")
	for _, hidden := range []string{"/files", "/files?path=a.sh", "/files/content?path=a.sh", "/archive"} {
		bob.get(own + hidden).is(404)
	}
	text := ann.write("Text alone", "Hello.", "private")
	ann.get(text).has(`href="` + text + `/files">Files</a>`).lacks("Files (")
	ann.get(text+"/files").is(200).has("SKILL.md", "made of the text")
}
