package langfuse_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/doors/langfuse"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// A skillObject is a version of a skill as a client reads it.
type skillObject struct {
	ID, ProjectID, CreatedBy, Name, Description string
	CreatedAt, UpdatedAt                        time.Time
	FrontMatter                                 json.RawMessage
	Version                                     int
	Tags, Labels                                []string
	CommitMessage                               *string
	Files                                       []struct {
		ID, Path, BlobID, ContentType string
		SHA256                        string `json:"sha256Hash"`
		ContentLength                 int
	}
}

type file = map[string]any

// files makes a version of a skill.
func (c client) files(files ...file) skillObject {
	c.t.Helper()
	var s skillObject
	c.send(c.request(fields{"files": files})).is(http.StatusCreated).into(&s)
	return s
}

func (c client) request(body any) *http.Request {
	c.t.Helper()
	c.wait(time.Millisecond)
	b, err := json.Marshal(body)
	require.NoError(c.t, err)
	r, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, "http://localhost"+skills, bytes.NewReader(b))
	require.NoError(c.t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", c.header)
	return r
}

func (c client) gotSkill(name, query string) (s skillObject) {
	c.t.Helper()
	c.do(http.MethodGet, skills+"/"+name+query, "").is(http.StatusOK).into(&s)
	return s
}

func (c client) contents(hashes ...string) answer {
	return c.do(http.MethodGet, skills+"/files/content?sha256Hashes="+url.QueryEscape(strings.Join(hashes, ",")), "")
}

const md = "---\nname: pdf-forms\ndescription: Fills forms.\nlicense: MIT\nmetadata: {a: [1, true]}\n---\n\nRun it.\n"

// A story of a skill: made, read, changed, labelled, tagged, listed and deleted.
func TestSkills(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.client("ann")
	s := ann.files(file{"path": "SKILL.md", "content": md}, file{"path": "scripts/fill.sh", "content": "#!/bin/sh\r\n"},
		file{"path": "sub/ü", "content": ""})
	require.Equal(t, []any{"pdf-forms", "Fills forms.", 1, []string{"latest"}, []string{}},
		[]any{s.Name, s.Description, s.Version, s.Labels, s.Tags})
	require.JSONEq(t,
		`{"name": "pdf-forms", "description": "Fills forms.", "license": "MIT", "metadata": {"a": [1, true]}}`,
		string(s.FrontMatter))
	require.Equal(t, []string{
		"SKILL.md text/markdown; charset=utf-8", "scripts/fill.sh text/plain; charset=utf-8",
		"sub/ü application/octet-stream",
	},
		[]string{
			s.Files[0].Path + " " + s.Files[0].ContentType, s.Files[1].Path + " " + s.Files[1].ContentType,
			s.Files[2].Path + " " + s.Files[2].ContentType,
		})
	require.Equal(t, hashOf("#!/bin/sh\r\n"), s.Files[1].SHA256)
	require.Equal(t, len("#!/bin/sh\r\n"), s.Files[1].ContentLength)
	require.Nil(t, s.CommitMessage)

	ann.do(http.MethodGet, skills+"/pdf-forms", "").says(http.StatusNotFound,
		"Skill not found: 'pdf-forms' with label 'production'")
	require.Equal(t, s, ann.gotSkill("pdf-forms", "?label=latest"))
	require.Equal(t, s, ann.gotSkill("pdf-forms", "?version=1"))

	var two skillObject
	ann.send(ann.request(fields{"commitMessage": "why", "files": []file{
		{"path": "SKILL.md", "sha256Hash": s.Files[0].SHA256},
		{"path": "run.sh", "sha256Hash": s.Files[1].SHA256},
		{"path": "new.md", "content": "new"},
	}})).is(http.StatusCreated).into(&two)
	require.Equal(t, 2, two.Version)
	require.Equal(t, "why", *two.CommitMessage)
	require.Equal(t, []string{"SKILL.md", "new.md", "run.sh"},
		[]string{two.Files[0].Path, two.Files[1].Path, two.Files[2].Path})
	require.Equal(t, 3, ann.files(file{"path": "SKILL.md", "content": md}, file{"path": "new.md", "content": "new"},
		file{"path": "run.sh", "content": "#!/bin/sh\r\n"}).Version, "the same again is a version")

	label := func(version int, labels string) answer {
		return ann.do(http.MethodPatch, fmt.Sprint(skills, "/pdf-forms/versions/", version), `{"labels":`+labels+`}`)
	}
	var labelled skillObject
	label(1, `["production","staging"]`).is(http.StatusOK).into(&labelled)
	require.Equal(t, []string{"production", "staging"}, labelled.Labels)
	label(1, `["production"]`).is(http.StatusOK).into(&labelled)
	require.Equal(t, []string{"production"}, labelled.Labels, "labels are replaced")
	label(3, `["staging"]`).is(http.StatusOK).into(&labelled)
	require.Equal(t, []string{"staging", "latest"}, labelled.Labels)
	label(1, `["latest"]`).says(http.StatusBadRequest, "Invalid request data")
	label(1, `null`).says(http.StatusBadRequest, "Invalid request data")
	label(9, `[]`).says(http.StatusNotFound, "with version 9")
	require.Equal(t, 1, ann.gotSkill("pdf-forms", "").Version)
	require.Equal(t, 3, ann.gotSkill("pdf-forms", "?label=staging").Version)

	var tagged skillObject
	ann.do(http.MethodPatch, skills+"/pdf-forms", `{"tags":["writing","Mine"]}`).is(http.StatusOK).into(&tagged)
	require.Equal(t, []any{3, []string{"writing", "Mine"}}, []any{tagged.Version, tagged.Tags})
	ann.do(http.MethodPatch, skills+"/pdf-forms", `{}`).says(http.StatusBadRequest, "Invalid request data")

	ann.files(file{"path": "SKILL.md", "content": strings.ReplaceAll(md, "pdf-forms", "other")})
	ann.made(fields{"name": "no-skill", "prompt": "A text."})
	type meta struct {
		Name, Description          string
		Tags                       []string
		LatestVersion              int
		LatestVersionCreatedAt     time.Time
		LatestVersionLastUpdatedAt time.Time
		ProductionVersion          *int
	}
	type list struct {
		Data []meta
		Meta struct {
			Page, Limit, TotalItems, TotalPages int
			HasNextPage                         bool
		}
	}
	listed := func(query string) (l list) {
		ann.do(http.MethodGet, skills+query, "").is(http.StatusOK).into(&l)
		return l
	}
	l := listed("")
	require.Equal(t, []string{"other", "pdf-forms"}, []string{l.Data[0].Name, l.Data[1].Name})
	require.Equal(t, []any{"Fills forms.", 3, 1, []string{"writing", "Mine"}},
		[]any{l.Data[1].Description, l.Data[1].LatestVersion, *l.Data[1].ProductionVersion, l.Data[1].Tags})
	require.Nil(t, l.Data[0].ProductionVersion)
	l = listed("?limit=1&page=2")
	require.Equal(t, []any{"pdf-forms", 2, 2, false},
		[]any{l.Data[0].Name, l.Meta.TotalItems, l.Meta.TotalPages, l.Meta.HasNextPage})
	require.True(t, listed("?limit=1").Meta.HasNextPage)
	for query, want := range map[string]int{
		"?name=other": 1, "?name=no-skill": 0, "?tag=Mine": 1, "?tag=x": 0, "?search=PDF": 1, "?search=fills": 2,
		"?toUpdatedAt=2026-01-01T00:00:00Z": 0, "?fromUpdatedAt=2026-01-01T00:00:00Z": 2,
	} {
		require.Len(t, listed(query).Data, want, query)
	}
	ann.do(http.MethodGet, skills+"?limit=101", "").says(http.StatusBadRequest, "Invalid request data")

	del := func(path string) answer { return ann.do(http.MethodDelete, skills+"/"+path, "") }
	require.JSONEq(t, `{"deleted":true}`, del("pdf-forms/versions/2").is(http.StatusOK).body)
	del("pdf-forms/versions/2").says(http.StatusNotFound, "with version 2")
	del("pdf-forms/versions/x").says(http.StatusBadRequest, "Invalid request data")
	del("other/versions/1").is(http.StatusOK)
	require.Len(t, listed("").Data, 1, "with its only version it is gone")
}

// The text of files is found by hash, on every instance, while a version that may be seen has it.
func TestContentsOfSkills(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.client("ann")
	s := ann.files(file{"path": "SKILL.md", "content": md}, file{"path": "a.txt", "content": "a\r\n\ufeff"},
		file{"path": "empty", "content": ""})
	ann.skill("other", "x")
	read := func(c client) {
		t.Helper()
		a := c.contents(s.Files[1].SHA256, s.Files[0].SHA256, s.Files[2].SHA256, s.Files[1].SHA256).is(http.StatusOK)
		require.Equal(t, "no-store", a.header.Get("Cache-Control"))
		var got struct {
			Data []struct {
				SHA256  string `json:"sha256Hash"`
				Content string
			}
		}
		a.into(&got)
		require.Len(t, got.Data, 3)
		for _, f := range got.Data {
			require.Equal(t, f.SHA256, hashOf(f.Content))
		}
		require.Equal(t, "a\r\n\ufeff", got.Data[0].Content)
	}
	read(ann)
	w.door = langfuse.New(w.config) // another instance
	read(ann)
	w.client("bob").contents(s.Files[0].SHA256).says(http.StatusNotFound, "Skill file not found")
	ann.contents(hashOf("none")).says(http.StatusNotFound, "Skill file not found")
	for _, bad := range []string{
		"", "x", strings.Repeat("A", 44), s.Files[0].SHA256[:43],
		strings.TrimSuffix(s.Files[0].SHA256, "=") + "==", s.Files[0].SHA256 + ",",
	} {
		ann.contents(bad).says(http.StatusBadRequest, "Invalid request data")
	}
	var many []string
	for i := range 51 {
		many = append(many, hashOf(fmt.Sprint(i)))
	}
	ann.contents(many...).says(http.StatusBadRequest, "Invalid request data")

	// a binary file is listed, and its bytes are elsewhere
	v, err := w.service.OwnSkill(t.Context(), ann.user, "pdf-forms", library.WantedVersion{})
	require.NoError(t, err)
	_, err = w.service.PatchFiles(t.Context(), ann.user, v.ID, library.Match{Any: true},
		library.FilesChange{Set: []library.SentFile{{Path: "logo.png", Bytes: []byte("\x00\xff"), Executable: true}}},
		func(*prompt.Draft) {})
	require.NoError(t, err)
	two := ann.gotSkill("pdf-forms", "?label=latest")
	require.Equal(t, "logo.png application/octet-stream", two.Files[3].Path+" "+two.Files[3].ContentType)
	ann.contents(two.Files[3].SHA256).says(http.StatusBadRequest,
		"/api/v1/prompts/"+strings.ToLower(string(v.ID))+"/archive?version=2")
	// it goes on into the next version, and may still be run
	three := ann.files(file{"path": "SKILL.md", "content": md},
		file{"path": "logo.png", "sha256Hash": two.Files[3].SHA256}, file{"path": "new.txt", "content": "new"})
	require.Equal(t, two.Files[3].SHA256, three.Files[1].SHA256)
	v, err = w.service.OwnSkill(t.Context(), ann.user, "pdf-forms", library.WantedVersion{})
	require.NoError(t, err)
	require.True(t, v.Files[1].Executable)

	// a version that was recalled is served by no hash
	require.NoError(t, w.service.Recall(t.Context(), ann.user, v.ID, 3, "It is evil"))
	ann.contents(three.Files[2].SHA256).says(http.StatusNotFound, "Skill file not found")
	ann.do(http.MethodGet, skills+"/pdf-forms?version=3", "").is(http.StatusGone)
	ann.contents(three.Files[0].SHA256).is(http.StatusOK)
}

// A broken skill is refused with the reason, and nothing is stored.
func TestSkillsThatAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.client("ann")
	ann.made(fields{"name": "plain", "prompt": "A text."})
	for want, files := range map[string][]file{
		"is missing: send it":  {{"path": "a.md", "content": "a"}},
		"Invalid request data": {{"path": "SKILL.md"}},
		"a text but no files": {
			{"path": "SKILL.md", "content": strings.ReplaceAll(md, "pdf-forms", "plain")},
		},
		"does not begin with a head": {{"path": "SKILL.md", "content": "text"}},
		"has no description": {
			{"path": "SKILL.md", "content": "---\nname: a\n---\nText.\n"},
		},
		`"path":["files","a"],"message":"send its content"`: {
			{"path": "SKILL.md", "content": md},
			{"path": "a", "sha256Hash": hashOf("none")},
		},
		"Invalid request data ": {
			{"path": "SKILL.md", "content": md},
			{"path": "a", "sha256Hash": "none"},
		},
		"Invalid request data  ": {
			{"path": "SKILL.md", "content": md},
			{"path": "../a", "content": ""},
		},
		"Invalid request data   ": {
			{"path": "SKILL.md", "content": md},
			{"path": "a", "content": ""},
			{"path": "a", "content": "b"},
		},
		"Invalid request data    ": {
			{"path": "SKILL.md", "content": md, "sha256Hash": hashOf(md)},
		},
	} {
		a := ann.send(ann.request(fields{"files": files}))
		require.Contains(t, []int{http.StatusBadRequest, http.StatusConflict}, a.status, want)
		require.Contains(t, a.body, strings.TrimSpace(want))
	}
	ann.do(http.MethodGet, skills+"/pdf-forms?label=latest", "").is(http.StatusNotFound)
	ann.do(http.MethodGet, skills+"/plain?label=latest", "").says(http.StatusNotFound, "Skill not found")
	require.Equal(t, "A text.", ann.got("plain", "?label=latest").Prompt)
	for path, status := range map[string]int{"/": 404, "/a/b": 404, "/a/versions/1/b": 404, "/files/content/x": 404} {
		require.Equal(t, status, ann.do(http.MethodGet, skills+path, "").status, path)
	}
	ann.do(http.MethodPut, skills, "").says(http.StatusMethodNotAllowed, "no such route for this method")
	large := file{"path": "a.txt", "content": strings.Repeat("x", 12<<20)}
	require.Equal(t, http.StatusRequestEntityTooLarge, ann.send(ann.request(fields{"files": []file{large}})).status)
	most := file{"path": "a.txt", "content": strings.Repeat("x", prompt.MaxFile)}
	s := ann.files(file{"path": "SKILL.md", "content": md}, most,
		file{"path": "b.txt", "content": strings.Repeat("y", 1<<20)})
	ann.contents(s.Files[1].SHA256).is(http.StatusOK)
	ann.contents(s.Files[1].SHA256, s.Files[2].SHA256).says(http.StatusBadRequest, "ask for fewer at a time")
	v, err := w.service.OwnSkill(t.Context(), ann.user, "pdf-forms", library.WantedVersion{})
	require.NoError(t, err)
	escaped := library.SentFile{Path: "a.txt", Bytes: bytes.Repeat([]byte("\x01"), prompt.MaxFile)}
	v, err = w.service.PatchFiles(t.Context(), ann.user, v.ID, library.Match{Any: true},
		library.FilesChange{Set: []library.SentFile{escaped}}, func(*prompt.Draft) {})
	require.NoError(t, err)
	ann.contents(hashOf(string(escaped.Bytes))).says(http.StatusBadRequest,
		"bytes as JSON: ask for fewer at a time, or GET /api/v1/prompts/"+strings.ToLower(string(v.ID)))
}

// With a token of a workspace the skills are the workspace's.
func TestSkillsOfWorkspaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.client("ann")
	_, err := w.service.CreateWorkspace(t.Context(), ann.user, prompt.Profile{Handle: "a-team", Name: "Team"})
	require.NoError(t, err)
	token, text, err := w.service.CreateWorkspaceToken(t.Context(), ann.user, "a-team",
		library.TokenDraft{Name: "CI", Scopes: auth.Scopes(), Claimed: true})
	require.NoError(t, err)
	team := w.with(ann.user, token.ID, text)
	s := team.files(file{"path": "SKILL.md", "content": md})
	require.Equal(t, 1, team.gotSkill("pdf-forms", "?label=latest").Version)
	w.door = langfuse.New(w.config)
	team.contents(s.Files[0].SHA256).is(http.StatusOK)
	ann.do(http.MethodGet, skills+"/pdf-forms?label=latest", "").is(http.StatusNotFound)
	ann.contents(s.Files[0].SHA256).is(http.StatusNotFound)
	b, err := base64.StdEncoding.DecodeString(s.Files[0].SHA256)
	require.NoError(t, err)
	require.Len(t, b, 32)
}
