package main

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"prompthub/internal/host/command"
	"prompthub/internal/http/auth"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/prompt"
)

// A everyDoor asks all doors of a program for the files of a prompt.
type everyDoor struct {
	t   require.TestingT
	ask func(method, path, body string, header ...string) *httptest.ResponseRecorder
}

// get requires an answer of success.
func (d everyDoor) get(path string, header ...string) []byte {
	a := d.ask("GET", path, "", header...)
	require.Equal(d.t, 200, a.Code, "%s: %s", path, a.Body)
	return a.Body.Bytes()
}

func (d everyDoor) into(v any, b []byte) { require.NoError(d.t, json.Unmarshal(b, v), string(b)) }

// message sends one of the Model Context Protocol.
func (d everyDoor) message(v any, method, uri string) {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"uri":%q}}`, method, uri)
	a := d.ask("POST", "/mcp", body, "Accept", "application/json, text/event-stream")
	require.Equal(d.t, 200, a.Code, a.Body)
	var m struct{ Result, Error json.RawMessage }
	d.into(&m, a.Body.Bytes())
	require.Empty(d.t, m.Error, method)
	d.into(v, m.Result)
}

// unzipped returns the files of an archive, which are in a folder.
func (d everyDoor) unzipped(b []byte, folder string) (files []prompt.FileBytes) {
	r, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	require.NoError(d.t, err)
	for _, f := range r.File {
		path, inside := strings.CutPrefix(f.Name, folder)
		if !inside {
			continue
		}
		in, err := f.Open()
		require.NoError(d.t, err)
		content, err := io.ReadAll(in)
		require.NoError(d.t, err)
		files = append(files, prompt.FileBytes{Path: path, Bytes: content, Executable: f.Mode()&0o111 != 0})
	}
	return files
}

// someFolder returns a SKILL.md of a name and other files, of all kinds.
func someFolder(t *rapid.T, name string) []prompt.FileBytes {
	part := rapid.SampledFrom([]string{"a", "b.txt", "ü", "c d", "#", "%41", ".x", "SKILL.md", "日本.png"})
	list := []prompt.FileBytes{{
		Path: prompt.SkillFile,
		Bytes: []byte("---\nname: " + name + "\ndescription: It \"does\" it.\nmetadata: {a: [1, true, x]}\n---\n\n" +
			rapid.SampledFrom([]string{"Run it.", "Läuft.\r\n\r\n", "{{a}} ${b}"}).Draw(t, "text") + "\n"),
	}}
	for range rapid.IntRange(0, 6).Draw(t, "files") {
		next := prompt.FileBytes{
			Path: strings.Join(rapid.SliceOfN(part, 1, 3).Draw(t, "path"), "/"),
			Bytes: []byte(rapid.SampledFrom(
				[]string{
					"", "text\n", "\ufeffa\r\n", "#!/bin/sh\n", "\x01\"\\<&>\u2028", "\x00", "\xff\xfe",
					"\x89PNG\r\n",
				}).Draw(t, "bytes")),
			Executable: rapid.Bool().Draw(t, "executable"),
		}
		if _, err := prompt.NewFiles(append(slices.Clone(list), next)); err == nil {
			list = append(list, next)
		}
	}
	slices.SortFunc(list, func(a, b prompt.FileBytes) int { return strings.Compare(a.Path, b.Path) })
	return list
}

// TestSameBytesInAllDoors: the API, its archive, assistants, installers of skills and of plugins,
// and the clients of Langfuse and LangSmith get the same bytes of all files of a version, or are
// told that they do not.
func TestSameBytesInAllDoors(t *testing.T) {
	t.Parallel()
	a := testApp()
	a.settings.PublicRead = true
	const many = 1 << 20
	a.settings.Limits = httpjson.Limits{Reads: many, ReadBurst: many, Writes: many, WriteBurst: many}
	require.NoError(t, a.db.Create(t.Context()))
	doors := a.doors(command.Serving{Identify: auth.Dev()})
	d := everyDoor{t: t, ask: func(method, path, body string, header ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, "http://localhost"+path, strings.NewReader(body))
		for i, all := 0, append([]string{"Content-Type", "application/json"}, header...); i < len(all); i += 2 {
			r.Header.Set(all[i], all[i+1])
		}
		w := httptest.NewRecorder()
		doors.ServeHTTP(w, r)
		return w
	}}
	ann := []string{auth.DevUserHeader, "ann"}
	require.Equal(t, 200, d.ask("PUT", "/api/v1/me/profile", `{"handle":"ann"}`, ann...).Code)
	n, binaries := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		d := d
		d.t = t
		name := fmt.Sprint("skill-", n)
		files := someFolder(t, name)
		if slices.ContainsFunc(files, func(f prompt.FileBytes) bool { return !prompt.IsText(f.Bytes) }) {
			binaries++
		}
		d.same(name, files)
	})
	require.Positive(t, binaries)
}

func (d everyDoor) same(name string, files []prompt.FileBytes) {
	t := d.t
	var sent []map[string]any
	want := make(map[string]prompt.FileBytes)
	text := true
	for _, f := range files {
		want[f.Path] = f
		text = text && prompt.IsText(f.Bytes)
		file := map[string]any{"path": f.Path, "executable": f.Executable}
		if prompt.IsText(f.Bytes) {
			file["content"] = string(f.Bytes)
		} else {
			file["base64"] = f.Bytes
		}
		sent = append(sent, file)
	}
	body, err := json.Marshal(map[string]any{"files": sent, "visibility": "public", "labels": []string{"production"}})
	require.NoError(t, err)
	a := d.ask("POST", "/api/v1/prompts", string(body), auth.DevUserHeader, "ann")
	require.Equal(t, 201, a.Code, a.Body)
	var made struct {
		ID    string
		Files struct{ Digest string }
	}
	d.into(&made, a.Body.Bytes())
	listed, err := prompt.NewFiles(files)
	require.NoError(t, err)
	require.Equal(t, listed.Digest(), made.Files.Digest)

	of := "/api/v1/prompts/" + made.ID
	var list struct {
		Items []struct {
			Path, SHA256 string
			Executable   bool
		}
	}
	d.into(&list, d.get(of+"/files"))
	require.Len(t, list.Items, len(files))
	for i, f := range list.Items {
		require.Equal(t, []any{files[i].Path, listed[i].SHA256, files[i].Executable},
			[]any{f.Path, f.SHA256, f.Executable})
		require.True(t, bytes.Equal(files[i].Bytes, d.get(of+"/files/content?path="+url.QueryEscape(f.Path))), f.Path)
	}
	archive := d.get(of + "/archive")
	require.Equal(t, plainFiles(files), plainFiles(d.unzipped(archive, "")))

	// assistants
	root := "skill://" + strings.ToLower(made.ID) + "/" + name
	var got struct {
		Skill struct {
			FrontMatter map[string]any
			Resources   []struct {
				URI, Digest string
				Size        int
			}
		}
	}
	d.message(&got, "skills/get", root+"/SKILL.md")
	require.Equal(t, `It "does" it.`, got.Skill.FrontMatter["description"])
	require.Len(t, got.Skill.Resources, len(files))
	for i, r := range got.Skill.Resources {
		require.Equal(t, []any{"sha256:" + listed[i].SHA256, listed[i].Size}, []any{r.Digest, r.Size})
		var read struct {
			Contents []struct {
				Text string
				Blob []byte
			}
		}
		d.message(&read, "resources/read", r.URI)
		require.True(t, bytes.Equal(files[i].Bytes, append(read.Contents[0].Blob, read.Contents[0].Text...)),
			files[i].Path)
	}

	// installers
	const at = "/u/ann/.well-known/agent-skills/"
	require.True(t, bytes.Equal(want[prompt.SkillFile].Bytes, d.get(at+name+"/SKILL.md")))
	require.True(t, bytes.Equal(archive, d.get(at+name+"/archive.zip")))
	var catalogue struct {
		Plugins []struct {
			Name   string
			Source struct{ URL, SHA256 string }
		}
	}
	d.into(&catalogue, d.get("/marketplace/u/ann/marketplace.json"))
	i := slices.IndexFunc(catalogue.Plugins, func(p struct {
		Name   string
		Source struct{ URL, SHA256 string }
	},
	) bool {
		return p.Name == name
	})
	require.GreaterOrEqual(t, i, 0)
	pack := d.get(strings.TrimPrefix(catalogue.Plugins[i].Source.URL, "http://localhost"))
	require.Equal(t, catalogue.Plugins[i].Source.SHA256, prompt.NewFile(prompt.FileBytes{Bytes: pack}).SHA256)
	require.Equal(t, plainFiles(files), plainFiles(d.unzipped(pack, "skills/"+name+"/")))

	// the clients of Langfuse, which take texts alone
	var version struct {
		Files []struct {
			Path   string
			SHA256 string `json:"sha256Hash"`
		}
	}
	ann := []string{auth.DevUserHeader, "ann"}
	d.into(&version, d.get("/lf/api/public/unstable/skills/"+name, ann...))
	require.Len(t, version.Files, len(files))
	for i, f := range version.Files {
		sum, err := base64.StdEncoding.DecodeString(f.SHA256)
		require.NoError(t, err)
		require.Equal(t, []string{files[i].Path, listed[i].SHA256}, []string{f.Path, hex.EncodeToString(sum)})
		a := d.ask("GET", "/lf/api/public/unstable/skills/files/content?sha256Hashes="+url.QueryEscape(f.SHA256),
			"", ann...)
		if !prompt.IsText(files[i].Bytes) {
			require.Equal(t, 400, a.Code, a.Body)
			require.Contains(t, a.Body.String(), strings.ToLower(made.ID)+"/archive")
			continue
		}
		require.Equal(t, 200, a.Code, a.Body)
		var contents struct{ Data []struct{ Content string } }
		d.into(&contents, a.Body.Bytes())
		require.Equal(t, string(files[i].Bytes), contents.Data[0].Content, f.Path)
	}

	// and those of LangSmith, which take texts alone
	a = d.ask("GET", "/ls/v1/platform/hub/repos/-/"+name+"/directories?repo_type=skill", "", ann...)
	if !text {
		require.Equal(t, 422, a.Code, a.Body)
		require.Contains(t, a.Body.String(), strings.ToLower(made.ID)+"/archive")
		return
	}
	require.Equal(t, 200, a.Code, a.Body)
	var directory struct {
		Files map[string]struct{ Content string }
	}
	d.into(&directory, a.Body.Bytes())
	require.Len(t, directory.Files, len(files))
	for path, f := range want {
		require.Equal(t, string(f.Bytes), directory.Files[path].Content, path)
	}
}

// plainFiles returns files as texts that can be compared.
func plainFiles(files []prompt.FileBytes) (list []string) {
	for _, f := range files {
		list = append(list, fmt.Sprintf("%q %q %t", f.Path, f.Bytes, f.Executable))
	}
	return list
}
