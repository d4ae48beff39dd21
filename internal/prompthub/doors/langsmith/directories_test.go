package langsmith_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

const tool = "/v1/platform/hub/repos/-/tool/directories"

// A pulled is a directory as a client reads it.
type pulled struct {
	ID    string `json:"commit_id"`
	Hash  string `json:"commit_hash"`
	Files map[string]struct{ Type, Content string }
}

func (w *world) pulled(token, path string) (p pulled) {
	w.t.Helper()
	a := w.do(token, "GET", path, "")
	require.Equal(w.t, 200, a.Code, a.Body)
	require.NoError(w.t, json.Unmarshal(a.Body.Bytes(), &p))
	return p
}

// push commits files, none for those that are null, and returns the hash of the commit.
func (w *world) push(token, parent string, files map[string]any) string {
	w.t.Helper()
	status, body := w.pushed(token, parent, files)
	require.Equal(w.t, 200, status, body)
	var made struct {
		Commit struct {
			ID        string
			Hash      string `json:"commit_hash"`
			CreatedAt string `json:"created_at"`
		}
	}
	require.NoError(w.t, json.Unmarshal([]byte(body), &made))
	require.NotEmpty(w.t, made.Commit.CreatedAt)
	return made.Commit.Hash
}

func (w *world) pushed(token, parent string, files map[string]any) (int, string) {
	w.t.Helper()
	b, err := json.Marshal(map[string]any{"files": files, "parent_commit": parent})
	require.NoError(w.t, err)
	a := w.do(token, "POST", tool+"/commits", string(b))
	return a.Code, a.Body.String()
}

func text(content string) any { return map[string]any{"type": "file", "content": content} }

const toolMD = "---\nname: tool\ndescription: A tool.\nlicense: MIT\n---\n\nRun it.\n"

// A story of a skill: reserved, pushed, pulled by commits and tags, changed in parts, deleted.
func TestDirectories(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, ann := w.token("ann", library.TokenDraft{})
	require.Equal(t, 200, w.do(ann, "POST", "/repos/",
		`{"repo_handle":"tool","repo_type":"skill","description":"Before."}`).Code)
	require.Equal(t, 404, w.do(ann, "GET", tool, "").Code, "nothing was pushed yet")
	first := w.push(ann, "", map[string]any{
		"SKILL.md": text(toolMD),
		"run.sh":   text("#!/bin/sh\r\n"), "sub/ü": text(""),
	})
	p := w.pulled(ann, tool+"?repo_type=skill")
	require.Equal(t, first, p.Hash)
	require.Len(t, p.ID, 36)
	require.Len(t, p.Files, 3)
	require.Equal(t, toolMD, p.Files["SKILL.md"].Content)
	require.Equal(t, "#!/bin/sh\r\n", p.Files["run.sh"].Content)
	require.Equal(t, "file", p.Files["sub/ü"].Type)
	require.Contains(t, w.do(ann, "GET", "/repos/-/tool", "").Body.String(), `"description":"A tool."`)
	require.Equal(t, first, w.push(ann, "", map[string]any{"run.sh": text("#!/bin/sh\r\n"), "none": nil}),
		"the same files are the same commit")

	// whether a file may be run is not told here, and stays
	v, err := w.service.GetByName(t.Context(), user("ann"), "ann", "tool", library.WantedVersion{})
	require.NoError(t, err)
	runnable := library.FilesChange{
		Set: []library.SentFile{{Path: "run.sh", SHA256: file(v, "run.sh").SHA256, Executable: true}},
	}
	_, err = w.service.PatchFiles(t.Context(), user("ann"), v.ID, library.Match{Any: true},
		runnable, func(*prompt.Draft) {})
	require.NoError(t, err)
	second := w.pulled(ann, tool).Hash
	third := w.push(ann, second, map[string]any{
		"sub/ü": nil, "run.sh": text("#!/bin/sh\necho\n"), "new.md": text("new"),
	})
	v, err = w.service.GetByName(t.Context(), user("ann"), "ann", "tool", library.WantedVersion{})
	require.NoError(t, err)
	require.True(t, file(v, "run.sh").Executable)
	require.Len(t, v.Files, 3)
	require.Len(t, w.pulled(ann, tool+"?commit="+first[:8]).Files, 3)
	require.Equal(t, "#!/bin/sh\r\n", w.pulled(ann, tool+"?commit="+first).Files["run.sh"].Content)
	require.Equal(t, 200, w.do(ann, "POST", "/repos/-/tool/tags",
		`{"tag_name":"production","commit_id":"`+first+`"}`).Code)
	require.Equal(t, first, w.pulled(ann, tool+"?commit=production").Hash)
	require.Equal(t, third, w.pulled(ann, tool).Hash)

	// a parent that is not the latest is refused, unless only the description is another
	status, body := w.pushed(ann, first, map[string]any{"a.txt": text("a")})
	require.Equal(t, 409, status, body)
	require.Equal(t, 200, w.do(ann, "PATCH", "/repos/-/tool", `{"description":"Another."}`).Code)
	fourth := w.push(ann, third, map[string]any{"a.txt": text("a")})
	require.Contains(t, w.pulled(ann, tool).Files["SKILL.md"].Content, `description: "Another."`)
	require.Equal(t, fourth, w.pulled(ann, tool).Hash)

	require.NoError(t, w.service.Recall(t.Context(), user("ann"), v.ID, w.latest(v.ID), "It is evil"))
	require.Equal(t, "00000005", w.pulled(ann, tool).Hash[:8], "the one before it")
	require.Contains(t, w.do(ann, "GET", tool+"?commit="+fourth, "").Body.String(), "It is evil")

	require.Equal(t, 200, w.do(ann, "DELETE", tool, "").Code)
	require.Equal(t, 404, w.do(ann, "GET", tool, "").Code)
}

func (w *world) latest(id prompt.ID) int64 {
	w.t.Helper()
	v, err := w.service.Get(w.t.Context(), user("ann"), id)
	require.NoError(w.t, err)
	return v.Version
}

func file(v library.View, path string) prompt.File {
	f, _ := v.Files.Find(path)
	return f
}

// A broken skill is refused with the reason, and nothing is stored; a binary file keeps a directory
// from being served with less than it has.
func TestDirectoriesThatAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, ann := w.token("ann", library.TokenDraft{})
	require.Equal(t, 200, w.do(ann, "POST", "/repos/", `{"repo_handle":"tool","repo_type":"skill"}`).Code)
	for want, files := range map[string]map[string]any{
		"needs a SKILL.md":           {"a.txt": text("a")},
		"needs its SKILL.md":         {"SKILL.md": nil},
		"does not begin with a head": {"SKILL.md": text("no head")},
		"is named \\\"other\\\"":     {"SKILL.md": text(strings.ReplaceAll(toolMD, "tool", "other"))},
		"is a link to another": {
			"SKILL.md": text(toolMD),
			"sub":      map[string]any{"type": "skill", "repo_handle": "x"},
		},
		"has no content": {"SKILL.md": text(toolMD), "a": map[string]any{"type": "file"}},
		"BAD_PATH":       {"SKILL.md": text(toolMD), "../a": text("a")},
	} {
		status, body := w.pushed(ann, "", files)
		require.Equal(t, 422, status, body)
		require.Contains(t, body, want)
	}
	require.Equal(t, 404, w.do(ann, "GET", tool, "").Code)
	w.push(ann, "", map[string]any{"SKILL.md": text(toolMD)})
	v, err := w.service.GetByName(t.Context(), user("ann"), "ann", "tool", library.WantedVersion{})
	require.NoError(t, err)
	set := func(path string, b []byte) {
		c := library.FilesChange{Set: []library.SentFile{{Path: path, Bytes: b}}}
		_, err = w.service.PatchFiles(t.Context(), user("ann"), v.ID,
			library.Match{Any: true}, c, func(*prompt.Draft) {})
		require.NoError(t, err)
	}
	set("logo.png", []byte("\x00\xff"))
	a := w.do(ann, "GET", tool, "")
	require.Equal(t, 422, a.Code)
	require.Contains(t, a.Body.String(), "/api/v1/prompts/"+strings.ToLower(string(v.ID))+"/archive?version=3")
	w.push(ann, "", map[string]any{"a.txt": text("a")})
	v, err = w.service.GetByName(t.Context(), user("ann"), "ann", "tool", library.WantedVersion{})
	require.NoError(t, err)
	require.Equal(t, 2, file(v, "logo.png").Size, "a push leaves it where it is")
	w.push(ann, "", map[string]any{"logo.png": nil})
	set("long.txt", bytes.Repeat([]byte("\x01"), 2<<20))
	require.Contains(t, w.do(ann, "GET", tool, "").Body.String(), "bytes as JSON: take the archive")

	plain := prompt.Draft{Name: "plain", Title: "Plain", Text: "Text.", Visibility: prompt.Private}
	_, _, err = w.service.Create(t.Context(), user("ann"), plain, "")
	require.NoError(t, err)
	const of = "/v1/platform/hub/repos/-/plain/directories"
	for method, path := range map[string]string{"GET": of, "DELETE": of, "POST": of + "/commits"} {
		require.Equal(t, 404, w.do(ann, method, path, `{"files":{}}`).Code, method)
	}
	require.Equal(t, 404, w.do(ann, "GET", tool+"?repo_type=agent", "").Code)
	require.Equal(t, 200, w.do(ann, "GET", "/repos/-/plain", "").Code)
}
