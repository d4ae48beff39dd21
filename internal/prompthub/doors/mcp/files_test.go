package mcp_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/doors/mcp"
	"prompthub/internal/prompthub/files/skill"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// folder stores a prompt of Ann's with files.
func (w *world) folder(visibility prompt.Visibility, files ...library.SentFile) library.View {
	w.t.Helper()
	d, err := library.WithFiles(prompt.Draft{Title: "A folder", Text: "Made.", Visibility: visibility}, files, nil)
	require.NoError(w.t, err)
	return w.write("ann", d)
}

func sent(path, content string) library.SentFile {
	return library.SentFile{Path: path, Bytes: []byte(content)}
}

// pdf is a skill with a front matter of many kinds of values.
func pdf() []library.SentFile {
	return []library.SentFile{
		sent("SKILL.md", "---\nname: pdf-forms\ndescription: >\n  Fills PDF forms.\n  Use for forms.\nlicense: Apache-2.0\nmetadata: {author: Ann, version: \"1.0\", since: 2026-01-31}\n"+
			"allowed-tools: [Bash, Read]\nCount: 3\nready: yes\nnothing:\n---\n\nRun scripts/fill.py.\n"),
		{Path: "scripts/fill.py", Bytes: []byte("#!/usr/bin/env python3\n"), Executable: true},
		{Path: "assets/logo.png", Bytes: []byte("\x89PNG\r\n\x1a\n\x00\xff")},
		sent("assets/ü #1%.txt", "ü\r\n"), sent("assets/sub/empty", ""), sent("ascii.md", "# A\n"),
	}
}

type resource struct {
	URI, Name, Description, MIMEType string
	Size                             int
}

// readBytes reads a resource.
func (c caller) readBytes(uri string) []byte {
	c.w.t.Helper()
	var read struct {
		Contents []struct {
			URI  string
			Text *string
			Blob *[]byte
		}
	}
	c.call("resources/read", object{"uri": uri}).into(&read)
	require.Len(c.w.t, read.Contents, 1)
	require.Equal(c.w.t, uri, read.Contents[0].URI)
	if read.Contents[0].Text != nil {
		return []byte(*read.Contents[0].Text)
	}
	require.NotNil(c.w.t, read.Contents[0].Blob, "one or the other")
	return *read.Contents[0].Blob
}

// children reads a folder.
func (c caller) children(uri string) []resource {
	c.w.t.Helper()
	var l struct {
		Resources  []resource
		ResultType string
	}
	c.call("resources/directory/read", object{"uri": uri}).into(&l)
	require.Equal(c.w.t, "complete", l.ResultType)
	return l.Resources
}

// A skill with files is its files: each once in lists, with the digest and the size of its bytes;
// the folders below it have them all.
func TestSkillsWithFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.folder(prompt.Private, pdf()...)
	ann := w.as("ann")
	var discovered struct {
		Capabilities struct{ Extensions map[string]map[string]bool }
	}
	ann.new("server/discover", "", object{}).into(&discovered)
	require.True(t, discovered.Capabilities.Extensions["io.modelcontextprotocol/skills"]["directoryRead"])

	var l struct{ Skills []skillEntry }
	ann.call("skills/list", nil).into(&l)
	require.Len(t, l.Skills, 1)
	s := l.Skills[0]
	root := "skill://" + strings.ToLower(string(v.ID)) + "/pdf-forms"
	require.Equal(t, root+"/SKILL.md", s.URI)
	require.JSONEq(t,
		`{"name": "pdf-forms", "description": "Fills PDF forms. Use for forms.\n", "license": "Apache-2.0",
		"metadata": {"author": "Ann", "version": "1.0", "since": "2026-01-31"}, "allowed-tools": ["Bash", "Read"], "Count": 3, "ready": "yes", "nothing": null}`, string(s.FrontMatter))
	var one struct{ Skill skillEntry }
	ann.call("skills/get", object{"uri": s.URI}).into(&one)
	require.Equal(t, s, one.Skill)

	want := map[string][]byte{}
	for _, f := range pdf() {
		want[f.Path] = f.Bytes
	}
	require.Len(t, s.Resources, len(want))
	var all struct{ Resources []resource }
	ann.call("resources/list", object{}).into(&all)
	require.Len(t, all.Resources, len(want))
	paths := map[string]string{} // by address
	var walk func(uri, path string)
	walk = func(uri, path string) {
		for _, r := range ann.children(uri) {
			inside := strings.TrimPrefix(path+"/"+r.Name, "/")
			if r.MIMEType == "inode/directory" {
				walk(r.URI, inside)
				continue
			}
			paths[r.URI] = inside
		}
	}
	walk(root, "")
	for i, r := range s.Resources {
		path, ok := paths[r.URI]
		require.True(t, ok, r.URI)
		delete(paths, r.URI)
		b := ann.readBytes(r.URI)
		require.True(t, bytes.Equal(want[path], b), path)
		require.Equal(t, []any{skill.Digest(b), len(b)}, []any{r.Digest, r.Size}, path)
		require.Equal(t, []any{r.URI, r.Size}, []any{all.Resources[i].URI, all.Resources[i].Size})
	}
	require.Empty(t, paths)

	for _, uri := range []string{
		root + "/", root + "/assets/", root + "/SKILL.md", root + "/none", root + "/asset",
		"skill://" + strings.ToLower(string(v.ID)) + "/other", "skill://x/y",
		root + "/assets/../assets", "", root + "/%zz",
	} {
		ann.call("resources/directory/read", object{"uri": uri}).fails(invalidParams)
	}
	ann.call("resources/directory/read", object{"uri": root, "cursor": "x"}).fails(invalidParams)
	ann.call("skills/get", object{"uri": root + "/ascii.md"}).fails(invalidParams)
	for _, other := range []string{"bob", ""} {
		w.as(other).call("resources/directory/read", object{"uri": root}).fails(invalidParams)
		w.as(other).call("resources/read", object{"uri": s.URI}).fails(invalidParams)
	}
}

// The head of a SKILL.md that is made of the text is what the file says, also next to other files.
func TestFrontMatterOfMadeFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.folder(prompt.Public, sent("a.txt", "a"))
	var l struct{ Skills []skillEntry }
	w.as("").call("skills/list", nil).into(&l)
	require.JSONEq(t, `{"name": "a-folder", "description": "Made.", "metadata": {"prompthub-id": "`+string(v.ID)+
		`", "prompthub-version": "1"}}`, string(l.Skills[0].FrontMatter))
	require.Contains(t, string(w.as("").readBytes(l.Skills[0].URI)), `prompthub-version: "1"`)
	require.Len(t, w.as("").children("skill://"+string(v.ID)+"/a-folder"), 2)
	plain := w.public("plain", "Text.")
	require.Equal(t, []string{"SKILL.md"}, names(w.as("").children("skill://"+string(plain.ID)+"/plain")))
}

func names(all []resource) (list []string) {
	for _, r := range all {
		list = append(list, r.Name)
	}
	return list
}

// Front matters that would make an answer long end its page; all pages together have every skill.
func TestPagesOfLongFrontMatters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const of = 7
	for i := range of {
		w.folder(prompt.Public, sent("SKILL.md",
			fmt.Sprintf("---\nname: long-%d\ndescription: Long.\nx: %s\n---\nText.\n", i,
				strings.Repeat("x", 200<<10))))
		w.public(fmt.Sprint("short-", i), "Short.")
	}
	for _, who := range []string{"ann", ""} {
		seen, cursor, pages := map[string]bool{}, "", 0
		for {
			var l struct {
				Skills     []skillEntry
				NextCursor string
			}
			a := w.as(who).call("skills/list", object{"cursor": cursor})
			require.Less(t, len(a.body), 1<<20)
			a.into(&l)
			pages++
			for _, s := range l.Skills {
				require.False(t, seen[s.URI])
				seen[s.URI] = true
			}
			if cursor = l.NextCursor; cursor == "" {
				break
			}
		}
		require.Len(t, seen, 2*of)
		require.Greater(t, pages, 1)
	}
}

// A model learns which files there are, reads one, and changes some.
func TestToolsForFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.folder(prompt.Private, append(pdf(), sent("large.txt", strings.Repeat("x", 128<<10+1)))...)
	ann := w.as("ann")
	type file struct {
		mcp.File
		Version       int64
		Text, Warning string
	}
	var got struct {
		mcp.FullPrompt
		Files []mcp.File
	}
	ann.tool("get_prompt", object{"id": "pdf-forms"}).gives(&got)
	require.Len(t, got.Files, 7)
	i := slices.IndexFunc(got.Files, func(f mcp.File) bool { return f.Path == "scripts/fill.py" })
	require.True(t, got.Files[i].Executable && got.Files[i].Script)
	var one file
	ann.tool("read_file", object{"id": "pdf-forms", "path": "scripts/fill.py"}).gives(&one)
	require.Equal(t, file{File: got.Files[i], Version: 1, Text: "#!/usr/bin/env python3\n"}, one)
	w.public("plain", "Text.")
	ann.tool("read_file", object{"id": "plain", "path": "SKILL.md"}).gives(&one)
	require.Contains(t, one.Text, "\n\nText.\n")
	require.NotContains(t, ann.tool("get_prompt", object{"id": "plain"}).body, `"files"`)

	logo := ann.tool("read_file", object{"id": "pdf-forms", "path": "assets/logo.png"}).refuses()
	require.Contains(t, logo, "is binary")
	require.Contains(t, logo, "skill://"+strings.ToLower(string(v.ID))+"/pdf-forms/assets/logo.png")
	require.Contains(t, ann.tool("read_file", object{"id": "pdf-forms", "path": "large.txt"}).refuses(), "131073 bytes")
	require.Contains(t, ann.tool("read_file", object{"id": "pdf-forms", "path": "none"}).refuses(),
		"no file at this path")
	require.Contains(t, ann.tool("read_file", object{"id": "pdf-forms", "path": "SKILL.md", "version": 2}).refuses(),
		"no such version")
	require.Contains(t, w.as("bob").tool("read_file", object{"id": v.ID, "path": "SKILL.md"}).refuses(),
		"there is no such prompt")

	image := base64.StdEncoding.EncodeToString([]byte{0, 1})
	ann.tool("update_prompt", object{"id": "pdf-forms", "message": "Files", "files": object{
		"set": []object{
			{"path": "scripts/fill.py", "content": "#!/bin/sh\u200b\n"},
			{"path": "logo.png", "sha256": got.Files[1].SHA256},
			{"path": "image", "base64": image, "executable": true},
		},
		"remove": []string{"assets/logo.png", "large.txt"},
	}}).gives(&struct{}{})
	ann.tool("get_prompt", object{"id": "pdf-forms"}).gives(&got)
	var paths []string
	for _, f := range got.Files {
		paths = append(paths, f.Path)
		require.Equal(t, f.Path == "scripts/fill.py" || f.Path == "image", f.Executable,
			"%s stays as it was where nothing is said", f.Path)
	}
	require.Equal(t, []string{
		"SKILL.md", "ascii.md", "assets/sub/empty", "assets/ü #1%.txt", "image",
		"logo.png", "scripts/fill.py",
	}, paths)
	ann.tool("read_file", object{"id": "pdf-forms", "path": "scripts/fill.py"}).gives(&one)
	require.EqualValues(t, 2, one.Version)
	require.Contains(t, one.Warning, "1 characters that cannot be seen")
	ann.tool("read_file", object{"id": "pdf-forms", "path": "scripts/fill.py", "version": 1}).gives(&one)
	require.Equal(t, "#!/usr/bin/env python3\n", one.Text)

	for want, files := range map[string]object{
		"by content, base64 or sha256": {"set": []object{{"path": "a"}}},
		"illegal base64":               {"set": []object{{"path": "a", "base64": "?"}}},
		"files.set[0].path is missing": {"set": []object{{"content": "a"}}},
		"files.set[0].content must be": {"set": []object{{"path": "a", "content": 5}}},
		`no "put" in files`:            {"put": []object{}},
		"names bytes that no file":     {"set": []object{{"path": "a", "sha256": strings.Repeat("0", 64)}}},
		`no file "none" to take away`:  {"remove": []string{"none"}},
		"file \"../a\"":                {"set": []object{{"path": "../a", "content": ""}}},
		"the SKILL.md is named \"other\"": {
			"set": []object{{"path": "SKILL.md", "content": "---\nname: other\ndescription: x\n---\n"}},
		},
		"files.remove[0] must be a text": {"remove": []any{5}},
		"are one where case": {
			"set": []object{{"path": "A.txt", "content": ""}, {"path": "a.txt", "content": ""}},
		},
	} {
		require.Contains(t, ann.tool("update_prompt", object{"id": "pdf-forms", "files": files}).refuses(), want)
	}
	require.Contains(t, ann.tool("update_prompt",
		object{"id": "pdf-forms@1", "files": object{"remove": []string{"image"}}}).refuses(), "version 2 is newer")
	ann.tool("get_prompt", object{"id": "pdf-forms"}).gives(&got)
	require.EqualValues(t, 2, got.Version, "nothing was stored")
	require.Contains(t, w.as("bob").tool("update_prompt",
		object{"id": v.ID, "files": object{"remove": []string{"image"}}}).refuses(), "there is no such prompt")

	// without its SKILL.md, one is made of the text
	ann.tool("update_prompt", object{"id": "pdf-forms", "files": object{"remove": []string{"SKILL.md"}}}).gives(
		&struct{}{})
	ann.tool("read_file", object{"id": "pdf-forms", "path": "SKILL.md"}).gives(&one)
	require.Contains(t, one.Text, "prompthub-id")
}

// A version that was recalled is in no list and no answer; the files of the one before are.
func TestFilesOfRecalledVersions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.folder(prompt.Public, sent("SKILL.md", "---\nname: tool\ndescription: Good.\n---\nText.\n"),
		sent("a.txt", "good"))
	require.NoError(t, w.hub.SetLabel(t.Context(), user("ann"), v.ID, prompt.Production, 1))
	_, err := w.hub.PatchFiles(t.Context(), user("ann"), v.ID, library.Match{Any: true},
		library.FilesChange{Set: []library.SentFile{sent("evil.txt", "evil")}}, func(d *prompt.Draft) {
			d.Labels = []string{prompt.Production}
		})
	require.NoError(t, err)
	w.settle()
	root := "skill://" + strings.ToLower(string(v.ID)) + "/tool"
	require.Equal(t, "evil", string(w.as("").readBytes(root+"/evil.txt")))
	require.NoError(t, w.hub.Recall(t.Context(), user("ann"), v.ID, 2, "It is evil"))
	w.settle()
	for _, c := range []caller{w.as("ann"), w.as(""), w.as("").at("/mcp/u/" + w.hub.AuthorKey("ann"))} {
		c.call("resources/read", object{"uri": root + "/evil.txt"}).fails(invalidParams)
		require.Equal(t, "good", string(c.readBytes(root+"/a.txt")))
		require.Equal(t, []string{"SKILL.md", "a.txt"}, names(c.children(root)))
		var l struct{ Skills []skillEntry }
		a := c.call("skills/list", nil)
		a.into(&l)
		require.Len(t, l.Skills, 1)
		require.NotContains(t, a.body, "evil")
	}
	require.Contains(t, w.as("").tool("read_file", object{"id": v.ID, "path": "evil.txt", "version": 2}).refuses(),
		"It is evil")
}

// A collection is an endpoint and a source of installers, with those of its skills that the caller
// may see, whoever wrote them.
func TestCollections(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.handle("ann", "ann")
	w.handle("bob", "bob")
	first := w.folder(prompt.Public, sent("SKILL.md", "---\nname: tool\ndescription: Good.\n---\nText.\n"),
		sent("a.txt", "good"))
	of := w.write("bob", prompt.Draft{Name: "other", Title: "Other", Text: "Other {{x}}.", Visibility: prompt.Public})
	private := w.write("ann", prompt.Draft{
		Name: "private", Title: "Private",
		Text: "Private.", Visibility: prompt.Private,
	})
	w.public("outside", "Outside.")
	make := func(slug string, v prompt.Visibility) {
		_, err := w.hub.CreateCollection(t.Context(), user("ann"), user("ann"), slug,
			prompt.CollectionDraft{Name: slug, Visibility: v, Prompts: []prompt.ID{of.ID, first.ID, private.ID}})
		require.NoError(t, err)
	}
	make("kit", prompt.Public)
	make("mine", prompt.Private)
	list := func(c caller) (slugs []string) {
		var l struct{ Skills []skillEntry }
		c.call("skills/list", nil).into(&l)
		for _, s := range l.Skills {
			parts := strings.Split(s.URI, "/")
			slugs = append(slugs, parts[3])
		}
		return slugs
	}
	kit := w.as("").at("/mcp/c/ann/kit")
	require.Equal(t, []string{"other", "tool"}, list(kit))
	require.Equal(t, []string{"other", "tool", "private"}, list(w.as("ann").at("/mcp/c/ann/kit")))
	require.Equal(t, []string{"other", "tool", "private"}, list(w.as("ann").at("/mcp/c/ann/mine")))
	for _, who := range []string{"", "bob"} {
		w.as(who).at("/mcp/c/ann/mine").call("skills/list", nil).fails(invalidParams)
	}
	kit.call("skills/list", object{"cursor": "20.x"}).fails(invalidParams)
	prompts := kit.list(object{})
	require.Equal(t, []string{"other_" + strings.ToLower(string(of.ID)), "tool_" + strings.ToLower(string(first.ID))},
		prompts.names())
	require.Equal(t, "Other x.", kit.get(prompts.Prompts[0].Name, object{"x": "x"}).text())
	require.Equal(t, http.StatusOK,
		kit.send(http.MethodPost, "/mcp/c/ann/kit", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`).status)

	const at = "/c/ann/kit/.well-known/agent-skills/"
	i := w.as("").index("/c/ann/kit")
	require.Equal(t, []string{"other", "tool"}, []string{i.Skills[0].Name, i.Skills[1].Name})
	require.Equal(t, []string{"skill-md", "archive"}, []string{i.Skills[0].Type, i.Skills[1].Type})
	for _, s := range i.Skills {
		a := w.as("").send(http.MethodGet, at+s.URL, "")
		require.Equal(t, s.Digest, skill.Digest([]byte(a.body)))
	}
	require.Equal(t, http.StatusOK, w.as("").send(http.MethodGet, at+"tool/SKILL.md", "").status)
	for _, path := range []string{
		at + "private/SKILL.md", at + "outside/SKILL.md",
		"/c/ann/mine/.well-known/agent-skills/index.json", "/c/ann/none/.well-known/agent-skills/index.json",
		"/c/me/kit/.well-known/agent-skills/index.json",
	} {
		require.Equal(t, http.StatusNotFound, w.as("ann").send(http.MethodGet, path, "").status, path)
	}
	require.NoError(t, w.hub.Hide(t.Context(), auth.User{ID: "root", Roles: []string{auth.RoleAdmin}}, first.ID, "x"))
	require.Equal(t, []string{"other"}, list(kit))
	require.Equal(t, http.StatusNotFound, w.as("").send(http.MethodGet, at+"tool/archive.zip", "").status)
}

func (s *skillEntry) head(t testing.TB) (h skill.FrontMatter) {
	require.NoError(t, json.Unmarshal(s.FrontMatter, &h))
	return h
}
